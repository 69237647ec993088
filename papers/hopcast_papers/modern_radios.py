"""N1: what findings of papers H and P become on 802.11ax, with and without aggregation.

The cells of each finding are those of its paper's experiment, on the paper's radio and on others. The line is the
paper's too, from the register. Nothing here counts: the papers say nothing about 802.11ax.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from hopcast.lab.experiment import Amount, Case, Cells, Experiment, Measured, Parameter, Table
from hopcast.lab.register import Sentence
from hopcast.lab.rows import Row, Sample, average, typical, value, word_by_line
from hopcast.numbers import with_interval
from hopcast.scenario import Scenario
from hopcast_papers.h2o import exposed, places, streams
from hopcast_papers.h2o.streams import ADU_KB, PROTOCOLS, THREE_HOPS, off_fair
from hopcast_papers.register import REGISTER
from hopcast_papers.strings_and_meshes import string

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LINUX_BUFFER = 212_992
"""Bytes of `net.core.wmem_default` and `rmem_default` of Linux on 64-bit machines."""
AX: Mapping[str, Any] = {
    "standard": "802.11ax",
    "band": "5 GHz",
    "channel": {"number": 36, "width": "80 MHz"},
    "spatial_streams": 2,
    "guard_interval": "0.8 us",
}
SINGLE: Mapping[str, Any] = {"aggregation": {"ampdu": "off", "amsdu": "off"}}
HOPS = string.HOPS
WINDOWS = (1, string.NS2_WINDOW)
CHANNELS = (string.IDEAL, string.ERRORS)


@dataclass(frozen=True)
class Kind:
    """Radios and sockets that a finding is tried on."""

    name: str
    radio: Mapping[str, Any] | None
    """Keys of `[radio]` in place of the paper's; `None`: the paper's."""
    buffer: int | None = None
    """Bytes of the socket buffers in place of the paper's; `None`: the paper's."""


PAPERS = Kind("the paper's radio", None)
SOCKETS = Kind("its radio, larger sockets", None, LINUX_BUFFER)
FRAMES = Kind("802.11ax, single frames", {**AX, **SINGLE}, LINUX_BUFFER)
AGGREGATES = Kind("802.11ax, A-MPDU", AX, LINUX_BUFFER)
OF_H = (PAPERS, SOCKETS, FRAMES, AGGREGATES)
OF_P = (PAPERS, FRAMES, AGGREGATES)
"""P gives TCP's window in segments, so that sockets do not limit it."""


@dataclass(frozen=True)
class Finding:
    """A judged sentence of a paper, and its cells on one kind of radios."""

    key: str
    short: str
    """What the sentence says, for a table."""
    kinds: Sequence[Kind]
    cells: Callable[[Measured, Kind], Mapping[str, Sample]]

    @property
    def said(self) -> Sentence:
        """The sentence of the register."""
        return REGISTER[self.key]


# --- Cases -----------------------------------------------------------------------------------------------------------


def _laptops(kind: Kind, hops: Sequence[tuple[int, int]], protocol: streams.Protocol, adu: int, amount: Amount) -> Case:
    """A case of H2, H4 or H5."""
    nodes = max(sink for _, sink in hops) + 1
    made = streams.scenario(nodes, hops, protocol, adu, amount)
    if kind.radio is not None:
        made = made.set("radio", {**kind.radio, "data_rate": "ideal"})
    return Case(_with_buffer(made, kind), streams.seeds(amount))


def _with_buffer(made: Scenario, kind: Kind) -> Scenario:
    return made if kind.buffer is None else made.set("nodes.n.socket_buffer", kind.buffer)


def _pairs(kind: Kind, feet: int, ground: str, amount: Amount) -> Case:
    """A case of H8."""
    propagation = places.field() if ground == "" else places.scattering()
    radio: Any = places.radio(places.RATED, propagation)
    if kind.radio is not None:
        radio = {**radio, **kind.radio, "data_rate": "ideal"}
    at = [0.0, exposed.WIDTH, exposed.WIDTH + feet, 2 * exposed.WIDTH + feet]
    made = places.scenario(
        f"two pairs, {feet} ft apart", at, [(1, 0, "udp"), (2, 3, "udp")], radio, exposed.size(amount)
    )
    return Case(_with_buffer(made, kind), streams.seeds(amount))


def _string(
    kind: Kind, hops: int, segment: int, window: int, rts: bool, channel: string.Channel, amount: Amount
) -> Case:
    """A case of P1."""
    # Told of no frame that is given up, as under profile ns-2.
    notified = None if kind.radio is None else False
    made = string.one_tcp("", hops, segment, window, rts, channel, amount, notified).scenario
    if kind.radio is not None:
        errors = {"errors": string.GILBERT_ELLIOTT} if channel == string.ERRORS else {}
        # The distances of profile ns-2.
        propagation = {"model": "range", "receive": "250 m", "carrier_sense": "550 m"}
        rate = {"data_rate": "mcs 9", "rts_threshold": "0 B" if rts else "off", "propagation": propagation}
        made = made.set("radio", {**kind.radio, **rate, **errors})
        made = made.set("duration", string.START + amount.pick(quick=2.0, full=20.0))
    return Case(made, string.seeds(amount))


def _strings() -> Iterator[tuple[int, int, int, bool, string.Channel]]:
    """The part of P1's cells that are run: with RTS one segment at a time alone."""
    for hops, segment, channel in product(HOPS, string.SEGMENTS, CHANNELS):
        for window, rts in ((1, False), (1, True), (string.NS2_WINDOW, False)):
            yield hops, segment, window, rts, channel


def _of_laptops(kind: Kind, topology: str, protocol: str, adu: int) -> str:
    return f"{kind.name}, {topology}, {protocol.upper()}, {adu} KB"


def _of_pairs(kind: Kind, feet: int, ground: str) -> str:
    return f"{kind.name}, two pairs{', ' + ground if ground else ''}, {feet} ft"


def _of_string(kind: Kind, hops: int, segment: int, window: int, rts: bool, channel: string.Channel) -> str:
    return f"{kind.name}, {string.one_tcp_name(hops, segment, window, rts, channel)}"


TOPOLOGIES = {"1:1": [(0, 1)], "3:1": THREE_HOPS, "1:3": [(0, 3)]}
GROUNDS = ("", exposed.SCATTERED)


def _cases(amount: Amount) -> Mapping[str, Case]:
    cases = {}
    for kind in OF_H:
        for (topology, hops), protocol, adu in product(TOPOLOGIES.items(), PROTOCOLS, ADU_KB):
            cases[_of_laptops(kind, topology, protocol, adu)] = _laptops(kind, hops, protocol, adu, amount)
        for feet, ground in product(exposed.FEET, GROUNDS):
            cases[_of_pairs(kind, feet, ground)] = _pairs(kind, feet, ground, amount)
    for kind, key in product(OF_P, _strings()):
        cases[_of_string(kind, *key)] = _string(kind, *key, amount)
    return cases


# --- Findings --------------------------------------------------------------------------------------------------------


def _bandwidth(measured: Measured, kind: Kind, topology: str, protocol: str, adu: int) -> Sample:
    """Mean of the streams in Mb/s."""
    case = _of_laptops(kind, topology, protocol, adu)
    each = [places.mbps(measured, case, stream) for stream in range(len(TOPOLOGIES[topology]))]
    return Sample.of(lambda *rates: sum(rates) / len(rates), *each)


def _over(measured: Measured, kind: Kind, protocol: str, sizes: Sequence[int], size: int) -> dict[str, Sample]:
    least = _bandwidth(measured, kind, "1:1", protocol, size)
    return {
        f"{protocol}, {adu} KB / {size} KB": _bandwidth(measured, kind, "1:1", protocol, adu) / least for adu in sizes
    }


def _rise(measured: Measured, kind: Kind) -> Mapping[str, Sample]:
    return {
        protocol: typical([ratio for size in (1, 2) for ratio in _over(measured, kind, protocol, (4,), size).values()])
        for protocol in PROTOCOLS
    }


def _level(measured: Measured, kind: Kind) -> Mapping[str, Sample]:
    return {
        case: ratio
        for protocol in PROTOCOLS
        for case, ratio in _over(measured, kind, protocol, (8, 16), 4).items()
    }  # fmt: skip


def _tcp_to_udp(topology: str, *, inverse: bool = False) -> Callable[[Measured, Kind], Mapping[str, Sample]]:
    def cells(measured: Measured, kind: Kind) -> Mapping[str, Sample]:
        found = {}
        for adu in ADU_KB:
            udp, tcp = (_bandwidth(measured, kind, topology, protocol, adu) for protocol in ("udp", "tcp"))
            found[f"{adu} KB"] = udp / tcp if inverse else tcp / udp
        return found

    return cells


def _uneven(measured: Measured, kind: Kind) -> Mapping[str, Sample]:
    found = {}
    for protocol, adu in product(PROTOCOLS, ADU_KB):
        case = _of_laptops(kind, "3:1", protocol, adu)
        each = [places.mbps(measured, case, stream) for stream in range(3)]
        found[f"{protocol}, {adu} KB"] = Sample.of(off_fair, *each)
    return found


def _chain(measured: Measured, kind: Kind) -> Mapping[str, Sample]:
    return {
        f"{protocol}, {adu} KB": _bandwidth(measured, kind, "1:3", protocol, adu)
        / _bandwidth(measured, kind, "3:1", protocol, adu)
        for protocol, adu in product(PROTOCOLS, ADU_KB)
    }


def _thirds(measured: Measured, kind: Kind) -> Mapping[str, Sample]:
    return {
        f"{adu} KB": Sample.of(
            lambda three, one: 3.0 * three / one,
            _bandwidth(measured, kind, "1:3", "tcp", adu),
            _bandwidth(measured, kind, "1:1", "tcp", adu),
        )
        for adu in ADU_KB
    }


def _total(measured: Measured, kind: Kind, feet: int, ground: str) -> Sample:
    case = _of_pairs(kind, feet, ground)
    return Sample.of(lambda a, b: a + b, places.mbps(measured, case, 0), places.mbps(measured, case, 1))


def _totals(over: int, *feet: int) -> Callable[[Measured, Kind], Mapping[str, Sample]]:
    """Totals at these distances, divided by that at another."""

    def cells(measured: Measured, kind: Kind) -> Mapping[str, Sample]:
        return {
            f"{at} ft {ground}": _total(measured, kind, at, ground) / _total(measured, kind, over, ground)
            for at, ground in product(feet, GROUNDS)
        }

    return cells


def _losses(measured: Measured, kind: Kind) -> Mapping[str, Sample]:
    return {
        ground: Sample.of(
            lambda *parts: max(parts) - min(parts),
            *(places.loss(measured, _of_pairs(kind, feet, ground), (0, 1)) for feet in exposed.FEET),
        )
        for ground in GROUNDS
    }


def _each_of_two(function: Callable[..., float]) -> Callable[[Measured, Kind], Mapping[str, Sample]]:
    def cells(measured: Measured, kind: Kind) -> Mapping[str, Sample]:
        found = {}
        for feet, ground in product(exposed.FEET, GROUNDS):
            case = _of_pairs(kind, feet, ground)
            found[case] = Sample.of(function, places.mbps(measured, case, 0), places.mbps(measured, case, 1))
        return found

    return cells


def _goodput(measured: Measured, kind: Kind, *key: Any) -> Sample:
    return string.kbps(measured, _of_string(kind, *key))


def _segments(measured: Measured, kind: Kind) -> Mapping[str, Sample]:
    return {
        str(key): string.over(_goodput(measured, kind, key[0], 1000, *key[1:]), _goodput(measured, kind, key[0], 200, *key[1:]))
        for key in product(HOPS, (1,), (False, True), CHANNELS)
    }  # fmt: skip


def _rts(measured: Measured, kind: Kind) -> Mapping[str, Sample]:
    return {
        str(key): string.over(_goodput(measured, kind, *key[:3], True, key[3]), _goodput(measured, kind, *key[:3], False, key[3]))
        for key in product(HOPS, string.SEGMENTS, (1,), CHANNELS)
    }  # fmt: skip


def _wide(measured: Measured, kind: Kind) -> Mapping[str, Sample]:
    found = {}
    for segment, channel in product(string.SEGMENTS, CHANNELS):
        near, far = (
            string.over(
                _goodput(measured, kind, hops, segment, string.NS2_WINDOW, False, channel),
                _goodput(measured, kind, hops, segment, 1, False, channel),
            )
            for hops in (1, HOPS[-1])
        )
        found[f"{segment} B, {channel}"] = far - near
    return found


def _errors(measured: Measured, kind: Kind) -> Mapping[str, Sample]:
    return {
        str(key): _goodput(measured, kind, *key[:2], 1, key[2], string.ERRORS)
        / _goodput(measured, kind, *key[:2], 1, key[2], string.IDEAL)
        for key in product(string.FAR, string.SEGMENTS, (False, True))
    }


def _bigger(measured: Measured, kind: Kind) -> Mapping[str, Sample]:
    found = {}
    for segment, (window, rts), channel in product(
        string.SEGMENTS, ((1, False), (1, True), (string.NS2_WINDOW, False)), CHANNELS
    ):
        few, many = (
            average(_goodput(measured, kind, hops, segment, window, rts, channel) for hops in group)
            for group in (string.FEW_HOPS, string.MANY_HOPS)
        )
        found[f"{segment} B, {window}, {rts}, {channel}"] = string.over(many, few)
    return found


FINDINGS = (
    Finding("H2.rise", "bandwidth rises up to units of 4 KB", OF_H, _rise),
    Finding("H2.level", "beyond 4 KB it levels off", OF_H, _level),
    Finding("H2.tcp-below-udp", "TCP stays below UDP", OF_H, _tcp_to_udp("1:1")),
    Finding("H4.fair", "three streams share fairly", OF_H, _uneven),
    Finding("H4.udp-above-tcp", "of three streams, those of UDP get more than TCP's", OF_H, _tcp_to_udp("3:1", inverse=True)),
    Finding("H5.lower", "a stream over three hops gets less than each of three", OF_H, _chain),
    Finding("H5.a-third-each", "over three hops TCP gets a third", OF_H, _thirds),
    Finding("H8.beyond-250", "beyond 250 ft two pairs get more", OF_H, _totals(exposed.SHARED, exposed.FAR)),
    Finding("H8.one-range-at-250", "at 250 ft they share as at 50 ft", OF_H, _totals(exposed.FEET[0], exposed.SHARED)),
    Finding("H8.starts-at-300", "up to 300 ft nothing changes", OF_H, _totals(exposed.RELATIVE, 150, 200, 250, 300)),
    Finding("H8.loss-unaffected", "loss does not depend on the distance", OF_H, _losses),
    Finding("H8.almost-even", "two pairs share evenly", OF_H, _each_of_two(off_fair)),
    Finding("H8.clip", "each pair carries a film of 4 Mb/s", OF_H, _each_of_two(min)),
    Finding("P1.segments", "larger segments carry more", OF_P, _segments),
    Finding("P1.rts", "TCP is faster without RTS", OF_P, _rts),
    Finding("P1.windows", "a larger window helps more over more hops", OF_P, _wide),
    Finding("P1.errors", "errors let little pass beyond 4 hops", OF_P, _errors),
    Finding("P1.bigger-network", "more than 3 hops carry at most half", OF_P, _bigger),
)  # fmt: skip
"""Left out: H8's 44 Mb/s, which is about 802.11a, and P1's sentence about windows with errors, which needs windows of 4."""


# --- Rows, table, figure ---------------------------------------------------------------------------------------------


def _rows(measured: Measured) -> list[Row]:
    rows = []
    for finding in FINDINGS:
        for kind in finding.kinds:
            sample = REGISTER.picked(finding.key, list(finding.cells(measured, kind).values()))
            rows.append(
                value(
                    "N1", kind.name, finding.key, "", sample, note=f"line {finding.said.line()}: {finding.said.text()}"
                )
            )
    for kind, adu in product(OF_H, ADU_KB):
        name = f"{kind.name}, {adu} KB"
        rows.append(value("N1", name, "one hop, UDP", "Mb/s", _bandwidth(measured, kind, "1:1", "udp", adu)))
        rows.append(value("N1", name, "one hop, TCP", "Mb/s", _bandwidth(measured, kind, "1:1", "tcp", adu)))
        rows.append(value("N1", name, "each of three, UDP", "Mb/s", _bandwidth(measured, kind, "3:1", "udp", adu)))
        rows.append(value("N1", name, "three hops, UDP", "Mb/s", _bandwidth(measured, kind, "1:3", "udp", adu)))
        lost = places.loss(measured, _of_laptops(kind, "1:3", "udp", adu))
        rows.append(value("N1", name, "loss over three hops, UDP", "%", lost))
    for kind, ground, feet in product(OF_H, GROUNDS, exposed.FEET):
        rows.append(value("N1", _of_pairs(kind, feet, ground), "total", "Mb/s", _total(measured, kind, feet, ground)))
    for kind, hops, window in product(OF_P, HOPS, WINDOWS):
        sample = Sample.of(lambda rate: rate * 1e-3, _goodput(measured, kind, hops, 1000, window, False, string.IDEAL))
        rows.append(value("N1", _window(kind, hops, window), "goodput", "Mb/s", sample))
    return rows  # fmt: skip


def _window(kind: Kind, hops: int, window: int) -> str:
    return f"{kind.name}, {string.hops_text(hops)}, window {window}"


def holds(row: Row, said: Sentence) -> str:
    """`holds`, `fails`, or `open` where the interval crosses the line."""
    return word_by_line(row, said.low, said.high)


def _tables(table: Table) -> list[Cells]:
    def cell(finding: Finding, kind: Kind) -> str:
        if kind not in finding.kinds:
            return ""
        row = table[kind.name, finding.key]
        shown = "–" if row.measured is None else with_interval(row.measured, row.ci95)
        return f"{shown}: {holds(row, finding.said)}"

    lines = [
        [
            f"{finding.key.split('.')[0]}: {finding.short} ({finding.said.line()})",
            *(cell(finding, kind) for kind in OF_H),
        ]
        for finding in FINDINGS
    ]
    return [
        Cells(
            "Findings by radio, each by the line of its paper's study",
            ["finding", *(kind.name for kind in OF_H)],
            lines,
        )
    ]


def _figures(table: Table) -> list[tuple[str, Figure]]:
    return [("Findings of papers H and P by radio", panels(table))]


def panels(table: Table) -> Figure:
    """Relative to each radio's own: units of data, three hops, two pairs, and a string."""
    from matplotlib.figure import Figure

    from hopcast.figures import COLOURS, MARKERS

    figure = Figure(figsize=(9.0, 6.4), layout="constrained")
    (units, chain), (pairs, long) = figure.subplots(2, 2)

    def measured(case: str, metric: str) -> float:
        found = table[case, metric].measured
        return float("nan") if found is None else found

    def draw(axes: Any, kind: Kind, at: Sequence[float], values: Sequence[float]) -> None:
        place = OF_H.index(kind)
        axes.plot(at, values, label=kind.name, color=COLOURS[place], marker=MARKERS[place])

    for kind in OF_H:
        one = [measured(f"{kind.name}, {adu} KB", "one hop, UDP") for adu in ADU_KB]
        three = [measured(f"{kind.name}, {adu} KB", "three hops, UDP") for adu in ADU_KB]
        draw(units, kind, ADU_KB, [rate / one[-1] for rate in one])
        draw(chain, kind, ADU_KB, [rate / whole for rate, whole in zip(three, one, strict=True)])
        totals = [measured(_of_pairs(kind, feet, ""), "total") for feet in exposed.FEET]
        draw(pairs, kind, exposed.FEET, [total / totals[0] for total in totals])
    for kind in OF_P:
        rates = [measured(_window(kind, hops, string.NS2_WINDOW), "goodput") for hops in HOPS]
        draw(long, kind, HOPS, [rate / rates[0] for rate in rates])
    long.plot(HOPS, [1.0 / hops for hops in HOPS], color="0.5", linestyle="--", label="1 / hops")
    titles = (
        (units, "One hop, UDP", "unit, KB", "of that with 16 KB"),
        (chain, "Three hops, UDP", "unit, KB", "of one hop"),
        (pairs, "Two pairs over the lawn", "distance, ft", "of the total at 50 ft"),
        (long, f"TCP on a string, window {string.NS2_WINDOW}", "hops", "of one hop"),
    )
    for axes, title, x, y in titles:
        axes.set_title(title, loc="left", fontweight="bold")
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        axes.set_ylim(0.0, 1.04 * axes.get_ylim()[1])
    for axes in (units, chain):
        axes.set_xscale("log", base=2)
        axes.set_xticks(ADU_KB, [str(adu) for adu in ADU_KB])
    units.legend(loc="lower right", frameon=False)
    long.legend(loc="upper right", frameon=False)
    return figure


def _setup(amount: Amount) -> list[Parameter]:
    return [
        Parameter("cases", "those of H2, H4, H5, H8 and P1, in part", "the papers; of P1 windows 1 and 20, RTS with window 1"),
        Parameter("802.11ax", "5 GHz, 80 MHz, two streams, guard interval 0.8 µs", "a card of today, such as Intel's AX200"),
        Parameter("its rate", "H: the best for the SNR (`ideal`); P: MCS 9", "H's is fixed at its highest; P's places know no power"),
        Parameter("sockets", f"{LINUX_BUFFER} B on 802.11ax", "Linux: net.core.wmem_default; 8 KiB hold five frames, fewer than an A-MPDU"),
        Parameter("places of P", "250 m range, sensed up to 550 m, profile `standard`", "ns-2's defaults; profile ns-2 is DCF's"),
        Parameter("DSDV of P", "not told of frames that are given up", "as under profile ns-2; set after a first look at N1, see docs/studies.md"),
        Parameter("run of P on 802.11ax", f"{amount.pick(quick=2, full=20)} s", "likewise"),
    ]  # fmt: skip


def _notes(table: Table) -> list[str]:
    turned = [
        f"{finding.key} ({finding.short})"
        for finding in FINDINGS
        if {holds(table[AGGREGATES.name, finding.key], finding.said), holds(table[PAPERS.name, finding.key], finding.said)}
        == {"holds", "fails"}
    ]  # fmt: skip
    return [
        "The lines are those of the papers' studies. Nothing counts here, as the papers say nothing about 802.11ax.",
        "Findings that turn between the paper's radio and 802.11ax with A-MPDU: " + ("; ".join(turned) or "none") + ".",
    ]


EXPERIMENTS = (
    Experiment(
        "N1",
        "The findings of papers H and P on 802.11ax",
        "What aggregation does to findings of 2003 to 2005: sentences of H2, H4, H5, H8 and P1, judged by the same lines on the papers' radios, on "
        "802.11ax with one frame at a time, and with A-MPDU.",
        _setup,
        _cases,
        _rows,
        _figures,
        _notes,
        tables=_tables,
    ),
)
