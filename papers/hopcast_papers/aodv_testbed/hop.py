"""A1: one hop by type of card.

S. Desilva, S. R. Das: "Experimental evaluation of a wireless ad hoc network" (2000), Table 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from hopcast.lab.experiment import Amount, Case, Experiment, Measured, Parameter, Table
from hopcast.lab.rows import Row, Sample, value
from hopcast.scenario import Scenario
from hopcast_papers.h2o.places import mbps, number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hopcast.types import Card, Nodes

Model = Literal["pcmcia", "isa"]

MODELS: tuple[Model, ...] = ("pcmcia", "isa")
UDP_IP = 28
"""Bytes of the headers of UDP and IPv4 (RFC 768, RFC 791)."""
MTU, RREQ = "MTU", "RREQ"
PACKETS = {MTU: 1500, RREQ: 68}
"""Bytes: the caption of Table 1."""
BANDWIDTH: dict[tuple[Model, Model], float] = {
    ("pcmcia", "pcmcia"): 1.2,
    ("pcmcia", "isa"): 1.2,
    ("isa", "pcmcia"): 1.8,
    ("isa", "isa"): 1.8,
}
"""Mb/s from a card to a card: each sends at most this, and both receive 1.8."""
COPY_OUT_MS = 3.46
"""Of 1500 bytes, to a PCMCIA card."""
TRANSMIT_MS = {("pcmcia", MTU): 6.26, ("pcmcia", RREQ): 0.47, ("isa", MTU): 6.33, ("isa", RREQ): 0.571}
MANY_BUFFERS = "PCMCIA with ISA's 10 transmit buffers"
FAST_COPY = "PCMCIA with ISA's 0.96 ms to the card"
VARIANTS: dict[str, Card] = {
    MANY_BUFFERS: {"model": "pcmcia", "transmit_buffers": 10},
    FAST_COPY: {"model": "pcmcia", "copy_out": "0.96 ms"},
}
BARE = "no cards"


def scenario(name: str, source: Card | None, sink: Card | None, packet: int, rate: float, seconds: float) -> Scenario:
    """Two hosts 5 m apart; `packet` is the whole IP packet, `rate` in b/s counts UDP's payload."""
    nodes: list[Nodes] = []
    for node, card, place in (("source", source, 0.0), ("sink", sink, 5.0)):
        made: Nodes = {"name": node, "placement": {"shape": "points", "at": [[place, 0.0]]}}
        if card is not None:
            made["card"] = card
        nodes.append(made)
    return Scenario(
        name=name,
        duration=seconds,
        seed=1,
        radio={"profile": "wavelan"},
        nodes=nodes,
        flows=[
            {
                "name": "stream0",
                "from": "source",
                "to": "sink",
                "transport": {"protocol": "udp"},
                "application": {"kind": "cbr", "packet": packet - UDP_IP, "rate": rate},
            }
        ],
    )


def _setup(amount: Amount) -> list[Parameter]:
    return [
        Parameter("radio", "WaveLAN at 2 Mb/s, no RTS, no acknowledgements", "section 2"),
        Parameter(
            "time of a frame", "0.30 ms and 4 µs an octet of the packet", "Table 1, ISA card: 6.33 ms and 0.571 ms"
        ),
        Parameter("slot and spaces", "those of 802.11 DSSS", "WaveLAN's are not published"),
        Parameter("transmit buffers", "PCMCIA 1, ISA 10", "Table 1"),
        Parameter("receive buffers", "PCMCIA 5, ISA 31", "Table 1"),
        Parameter("copy of 1500 B to the card", "PCMCIA 3.46 ms, ISA 0.96 ms", "Table 1"),
        Parameter("copy of 1500 B from the card", "PCMCIA 2.057 ms, ISA 0.955 ms", "Table 1"),
        Parameter("copy of 68 B to the card", "PCMCIA 1.13 ms, ISA 0.067 ms", "Table 1"),
        Parameter("copy of 68 B from the card", "PCMCIA 0.139 ms, ISA 0.048 ms", "Table 1"),
        Parameter("copy of other packets", "on the line through the two", "Table 1 has no other sizes"),
        Parameter(
            "bandwidth",
            f"packets of 1500 B at 2 Mb/s for {_seconds(amount):g} s",
            "more than any card sends; duration not stated",
        ),
        Parameter("times", "packets alone on the air, one a second", "not stated how they were measured"),
        Parameter("places", "5 m apart, no fading", "not stated"),
        Parameter("iterations", f"{len(_seeds(amount))} seeds", "not stated"),
    ]


def _seconds(amount: Amount) -> float:
    return amount.pick(quick=30.0, full=300.0)


def _seeds(amount: Amount) -> tuple[int, ...]:
    return amount.pick(quick=(1, 2, 3, 4), full=tuple(range(1, 11)))


def _between(source: Model, sink: Model) -> str:
    return f"{source.upper()} to {sink.upper()}"


def _alone(kind: str, direction: str, model: Model | None = None) -> str:
    return f"one {kind} packet, " + (f"{direction} {model.upper()}" if model else BARE)


def _cases(amount: Amount) -> Mapping[str, Case]:
    made: dict[str, Scenario] = {}

    def full(name: str, source: Card | None, sink: Card | None) -> None:
        made[name] = scenario(name, source, sink, PACKETS[MTU], 2e6, _seconds(amount))

    def alone(name: str, source: Card | None, sink: Card | None, packet: int) -> None:
        made[name] = scenario(name, source, sink, packet, 8.0 * (packet - UDP_IP), _seconds(amount))

    for source, sink in BANDWIDTH:
        full(_between(source, sink), {"model": source}, {"model": sink})
    for name, card in VARIANTS.items():
        full(name, card, {"model": "isa"})
    full(BARE, None, None)
    for kind, packet in PACKETS.items():
        alone(_alone(kind, ""), None, None, packet)
        for model in MODELS:
            alone(_alone(kind, "to", model), {"model": model}, None, packet)
            alone(_alone(kind, "from", model), None, {"model": model}, packet)
    return {name: Case(found, _seeds(amount)) for name, found in made.items()}


def _rows(measured: Measured) -> list[Row]:
    rows = []
    for (source, sink), paper in BANDWIDTH.items():
        case = _between(source, sink)
        note = "Payload of UDP" + ("; the paper: 1.8 Mb/s received by either card" if source == "isa" else "")
        rows.append(value("A1", case, "bandwidth", "Mb/s", mbps(measured, case), paper=paper, note=note))
    pcmcia = mbps(measured, _between("pcmcia", "isa"))
    for case in (*VARIANTS, BARE):
        rows.append(value("A1", case, "bandwidth", "Mb/s", mbps(measured, case)))
    more = {case: mbps(measured, case) / pcmcia for case in VARIANTS}
    note = "A PCMCIA card without one of its costs; that it sends more follows from that"
    rows += [value("A1", case, "to PCMCIA", "", ratio, note=note) for case, ratio in more.items()]
    for kind in PACKETS:
        bare = _delay_ms(measured, _alone(kind, ""))
        for model in MODELS:
            name = f"{model.upper()}, {kind}"
            note = "Delay of a packet alone, between hosts without cards; one radio for both cards"
            rows.append(value("A1", name, "transmit", "ms", bare, paper=TRANSMIT_MS[model, kind], note=note))
            for metric, direction in (("copy to card", "to"), ("copy from card", "from")):
                copy = _delay_ms(measured, _alone(kind, direction, model)) - bare
                # What is a parameter here is no result.
                note = "Delay of a packet alone, less that without a card; the parameter itself"
                rows.append(value("A1", name, metric, "ms", copy, note=note))
    return rows


def _delay_ms(measured: Measured, case: str) -> Sample:
    return Sample.of(lambda seconds: seconds * 1e3, measured.flow(case, "stream0", "delay_mean_s"))


def _notes(table: Table) -> list[str]:
    rate = {(a, b): number(table, _between(a, b), "bandwidth") for a, b in BANDWIDTH}
    bare = number(table, BARE, "bandwidth")
    many, fast = (number(table, name, "bandwidth") for name in VARIANTS)
    return [
        f"From a PCMCIA card {rate['pcmcia', 'isa']:.2f} Mb/s, from an ISA card {rate['isa', 'isa']:.2f} Mb/s (1.2 and 1.8 in the paper). The times of "
        "copies and the buffers are parameters, and so is the ISA card's time on the air; the bandwidths follow from them. "
        f"{PACKETS[MTU] * 8e-3 / (COPY_OUT_MS + TRANSMIT_MS['pcmcia', MTU]):.2f} and "
        f"{PACKETS[MTU] * 8e-3 / TRANSMIT_MS['isa', MTU]:.2f} Mb/s are the bounds by the table's own times, headers included.",
        f"Without cards the radio carries {bare:.2f} Mb/s: "
        + (
            "an ISA card is limited by the air alone."
            if abs(rate["isa", "isa"] / bare - 1) < 0.01
            else f"an ISA card has {rate['isa', 'isa'] / bare:.2f} of that."
        ),
        f"A PCMCIA card with ten transmit buffers would send {many:.2f} Mb/s, with ISA's copy and its single buffer {fast:.2f} Mb/s. "
        + (
            "The paper names both causes; the single buffer costs more."
            if many > fast
            else "The paper names both causes; the slow copy costs more."
        ),
    ]


def _figures(table: Table) -> list[tuple[str, Figure]]:
    from hopcast.figures import Group, bars

    pairs = [_between(source, sink) for source in MODELS for sink in MODELS]
    return [
        (
            "Bandwidth of one hop",
            bars(pairs, [Group.of("UDP", [table[pair, "bandwidth"] for pair in pairs])], y="bandwidth, Mb/s"),
        )
    ]


EXPERIMENTS = (
    Experiment(
        "A1",
        "One hop by type of card",
        "UDP over one hop between WaveLAN cards (Table 1): 1.2 Mb/s from a PCMCIA card, whose single transmit buffer is filled slowly, 1.8 Mb/s "
        "from an ISA card; either receives 1.8 Mb/s.",
        _setup,
        _cases,
        _rows,
        _figures,
        _notes,
    ),
)
