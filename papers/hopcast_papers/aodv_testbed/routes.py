"""A2 to A5: AODV, UDP and TCP over a line of laptops.

S. Desilva, S. R. Das: "Experimental evaluation of a wireless ad hoc network" (2000), sections 4.2 and 4.3.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from hopcast.channel import log_distance_gains
from hopcast.lab.experiment import Amount, Case, Document, Experiment, Measured, Parameter, Table
from hopcast.lab.rows import Row, Sample, percent, value
from hopcast.numbers import significant
from hopcast.scenario import Scenario
from hopcast_papers.aodv_testbed import capture
from hopcast_papers.h2o.places import number
from hopcast_papers.notes import capitalized, finding, outcome
from hopcast_papers.register import REGISTER

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hopcast.types import Flow, Nodes, Radio, Routing

HOPS = (1, 2, 3, 4)
SPACING, REACH, SENSED_TWO_AWAY = 30.0, 40.0, 70.0
"""Metres between neighbours, up to which a frame is received, and up to which it is sensed in A4 and A5."""
START = 5.0
"""Seconds: by then hellos have been exchanged."""
MTU_PAYLOAD, SMALL = 1472, 64
"""Bytes of UDP payload: a packet of 1500 bytes (section 4.2), and a small one."""
SEGMENT, WINDOW = 1460, 22
"""Bytes, and segments: about the 32 kB that Linux 2.2 gives a connection."""
FILE = 14_000_000
"""Bytes (section 4.3)."""

TICK = 0.010
"""Seconds: the tick of Linux 2.2 on a PC (HZ is 100). A program that sleeps until a packet is due wakes with a tick,
so up to one tick late.
"""
EVEN, INTERVAL = ", even times", ", up to an interval late"
"""Names of alternative times of A3's packets: exactly even, as only a program that never sleeps could send them, or
late by up to a time that makes their phase random.
"""
CAPTURE = ", one of two frames survives"
"""Name of A3's receivers that keep one of two equally strong overlapping frames. WaveLAN radios spread each bit over
eleven chips; after despreading, a signal is 10.4 dB (a factor of eleven) above equally strong interference.
"""
SILENT = ", no errors for packets without a route"
"""Name of A3's nodes that drop a packet without a route in silence. "It will drop all incoming packets for that destination"
(section 3.4); whether it tells the source is not said.
"""
POWER, EXPONENT = 20.0, 4.0
"""dBm, and path loss, where power must decide which frame survives: only the ranges that follow from them matter."""
BUSY = (0.4, 0.5, 0.6, 0.7)
"""Mb/s at which even times leave about half over three hops."""
LOADS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
"""Mb/s."""
RECEIVED: dict[int, tuple[float, ...]] = {
    3: (100.00, 97.49, 91.67, 81.50, 86.48, 76.67, 64.22, 56.84, 63.04),
    4: (100.0, 98.23, 91.70, 81.16, 58.49, 37.47, 36.17, 31.94, 26.28),
}
"""Per cent, by hops: Tables 4 and 5."""
LOST: dict[int, tuple[tuple[float, ...], ...]] = {
    3: (
        (0.00, 0.00, 0.00, 0.00, 0.00, 0.00),
        (0.00, 2.12, 0.00, 0.18, 0.00, 0.22),
        (0.64, 7.28, 0.05, 0.14, 0.00, 0.21),
        (0.00, 18.02, 0.04, 0.29, 0.07, 0.08),
        (1.56, 10.07, 1.25, 0.24, 0.00, 0.40),
        (0.00, 22.70, 0.03, 0.53, 0.03, 0.03),
        (3.34, 10.27, 7.77, 14.28, 0.00, 0.11),
        (8.90, 10.67, 5.25, 18.24, 0.02, 0.08),
        (2.63, 12.30, 9.79, 12.12, 0.00, 0.13),
    ),
    4: (
        (0.00, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.00),
        (0.43, 0.3, 0.0, 0.2, 0.0, 0.5, 0.0, 0.27),
        (1.6, 2.0, 0.0, 2.7, 0.0, 1.5, 0.0, 0.24),
        (5.3, 5.6, 0.7, 3.8, 0.0, 3.2, 0.0, 0.04),
        (14.0, 6.3, 7.7, 13.0, 0.0, 0.19, 0.0, 0.02),
        (25.0, 3.2, 13.0, 19.0, 0.0, 0.14, 0.0, 0.04),
        (15.0, 4.4, 11.0, 31.0, 0.0, 0.14, 0.0, 0.03),
        (18.0, 0.4, 7.0, 42.0, 0.0, 0.09, 0.0, 0.02),
        (2.3, 22.0, 6.9, 42.0, 0.0, 0.03, 0.0, 0.05),
    ),
}
"""Per cent of the sent packets, by hops and load: at node 1, between 1 and 2, at node 2, … (Tables 4 and 5)."""
FTP_KB = {1: 210.0, 2: 70.0, 3: 47.0, 4: 18.0}
"""KB/s by hops (Fig. 3)."""
"""Per cent: limits for almost ideal, free of errors, and small."""
BACKGROUND = (0.0, 0.2, 0.4, 0.6)
"""Mb/s of the traffic during the discoveries of A2."""
LOW, HIGH = 0.2, 0.4
"""Mb/s: up to the first, section 4.2 has no errors, and beyond the second its losses are significant."""


def line(
    name: str,
    nodes: int,
    sensed: float,
    seconds: float,
    flows: Sequence[Flow],
    *,
    capture: bool = False,
    silent: bool = False,
) -> Scenario:
    """A desktop with an ISA card, then laptops with PCMCIA cards, each in range of its neighbours; sensed up to
    `sensed` m.

    Overlapping frames are lost, or with `capture` one of two that are equally strong is received. With `silent`, packets without a route
    are dropped without an error.
    """
    routing: Routing = {"protocol": "aodv", "profile": "draft-5-in-arp"}
    if silent:
        routing["error_without_route"] = False
    made: list[Nodes] = [
        {
            "name": f"n{node}",
            "card": {"model": "isa" if node == 0 else "pcmcia"},
            "placement": {"shape": "points", "at": [[node * SPACING, 0.0]]},
            "routing": routing,
        }
        for node in range(nodes)
    ]
    return Scenario(
        name=name,
        duration=seconds,
        seed=1,
        radio=_capturing(sensed) if capture else _ranges(sensed),
        nodes=made,
        flows=flows,
    )


def _ranges(sensed: float) -> Radio:
    return {
        "profile": "wavelan",
        "propagation": {"model": "range", "receive": REACH, "carrier_sense": sensed},
    }


def _capturing(sensed: float) -> Radio:
    """The same ranges, by power."""
    frequency, reference = 915e6, 1.0
    gains = log_distance_gains(frequency, EXPONENT, reference, [REACH, sensed])
    received, heard = (f"{POWER + gain:.6f} dBm" for gain in gains)
    return {
        "profile": "wavelan",
        "reception": "threshold",
        "tx_power": f"{POWER} dBm",
        "receive_threshold": received,
        "carrier_sense_threshold": heard,
        "capture": "0 dB",
        "propagation": {
            "model": "log-distance",
            "frequency": frequency,
            "exponent": EXPONENT,
            "reference_distance": reference,
        },
    }


def _testbed(amount: Amount) -> list[Parameter]:
    return [
        Parameter("cards", "node 1 ISA, the others PCMCIA, as in A1", "sections 2, 4.2"),
        Parameter("radio", "WaveLAN at 2 Mb/s, no RTS, no acknowledgements", "section 2"),
        Parameter(
            "routes",
            "AODV of draft 5: hello every second whatever else is sent, a neighbour lost after 2 s, no local repair",
            "section 3",
        ),
        Parameter("messages", "in ARP packets; a request has 68 B", "section 3.2; Table 1"),
        Parameter(
            "packets that wait for a route", "3", "the ARP queue (section 4.2) of Linux 2.2.12: arp(7), unres_qlen"
        ),
        Parameter("iterations", f"{len(_seeds(amount))} seeds", "“several runs”"),
    ]


def _seeds(amount: Amount) -> tuple[int, ...]:
    return tuple(range(1, amount.pick(quick=7, full=11)))


def _udp(name: str, source: int, sink: int, rate: float, packet: int = MTU_PAYLOAD, jitter: float = 0.0) -> Flow:
    return {
        "name": name,
        "from": f"n{source}",
        "to": f"n{sink}",
        "start": START,
        "transport": {"protocol": "udp"},
        "application": {"kind": "cbr", "rate": rate, "packet": packet, "jitter": jitter},
    }


def _hops(hops: int) -> str:
    return "1 hop" if hops == 1 else f"{hops} hops"


# A2: discovery latency.

PROBE_INTERVAL = 11.0
"""Seconds from one probe to the next: longer than an unused route lives."""


def _a2_setup(amount: Amount) -> list[Parameter]:
    return [
        *_testbed(amount),
        Parameter("places", "30 m apart; received and sensed up to 40 m", "nodes two hops apart don't hear each other"),
        Parameter(
            "stream0",
            f"a packet of {SMALL} B every {PROBE_INTERVAL:g} s from node 1",
            "section 4.1 is missing from the text",
        ),
        Parameter("background", "UDP from node 2 to node 3, packets of 1500 B", "section 4.1 is missing from the text"),
        Parameter("run", f"{_a2_seconds(amount):g} s", "not stated"),
    ]


def _a2_seconds(amount: Amount) -> float:
    return amount.pick(quick=1000.0, full=3000.0)


def _a2_case(hops: int, load: float) -> str:
    return f"{_hops(hops)}, {load:g} Mb/s beside"


def _a2_cases(amount: Amount) -> Mapping[str, Case]:
    made = {}
    for hops in HOPS[1:]:
        for load in BACKGROUND:
            name = _a2_case(hops, load)
            flows = [_udp("stream0", 0, hops, 8.0 * SMALL / PROBE_INTERVAL, SMALL)]
            if load:
                flows.append(_udp("stream1", 1, 2, load * 1e6))
            found = line(name, 5, REACH, _a2_seconds(amount), flows)
            # The longest of some discoveries differs much from run to run, and their ratio at low load is near its line.
            few = amount.pick(quick=tuple(range(1, 13)), full=_seeds(amount))
            made[name] = Case(found, tuple(range(1, 37)) if load <= LOW else few)
    return made


def _ms(measured: Measured, case: str, flow: str, of: str) -> Sample:
    return Sample.of(lambda seconds: seconds * 1e3, measured.flow(case, flow, of))


def _a2_rows(measured: Measured) -> list[Row]:
    rows = []
    for hops in HOPS[1:]:
        for load in BACKGROUND:
            case = _a2_case(hops, load)
            note = "Delay of a packet that needs a route first, so with the discovery"
            rows.append(value("A2", case, "latency", "ms", _ms(measured, case, "stream0", "delay_mean_s"), note=note))
            rows.append(value("A2", case, "latency, 99 %", "ms", _ms(measured, case, "stream0", "delay_p99_s")))
    for key, metric, of in (
        ("A2.high-load-large", "latency", "delay_mean_s"),
        ("A2.high-load-variable", "latency, 99 %", "delay_p99_s"),
    ):
        ratios = {}
        for hops in HOPS[1:]:
            quiet, busy = (
                measured.flow(_a2_case(hops, load), "stream0", of) for load in (BACKGROUND[0], BACKGROUND[-1])
            )
            ratios[f"{_hops(hops)}, {BACKGROUND[-1]:g} Mb/s / none"] = busy / quiet.first(len(busy.values))
        rows += REGISTER.rows(key, "", f"{metric} ratio", "", ratios)
    latency = {
        (hops, load): measured.flow(_a2_case(hops, load), "stream0", "delay_mean_s")
        for hops in HOPS[1:]
        for load in BACKGROUND
    }
    low = {f"{_hops(hops)}, {LOW:g} Mb/s / none": latency[hops, LOW] / latency[hops, 0.0] for hops in HOPS[1:]}
    rows += REGISTER.rows("A2.low-load-small", "low load", "latency ratio", "", low)
    few = min(len(sample.values) for sample in latency.values())
    longer = {
        f"{_hops(hops)} / {_hops(hops - 1)}, {load:g} Mb/s beside": (
            latency[hops, load].first(few) / latency[hops - 1, load].first(few)
        )
        for hops in HOPS[2:]
        for load in BACKGROUND
    }
    return rows + REGISTER.rows("A2.more-hops", "more / fewer hops", "latency ratio", "", longer)


def _a2_notes(table: Table) -> list[str]:
    quiet, busy = (number(table, _a2_case(4, load), "latency") for load in (BACKGROUND[0], BACKGROUND[-1]))
    return [
        "Section 4.1 is missing from the text of the paper that is known. Only its conclusions say what it found. Hops, loads and times are ours.",
        f"Next to {LOW:g} Mb/s discovery takes "
        + ", ".join(f"{number(table, f'{_hops(hops)}, {LOW:g} Mb/s / none', 'latency ratio'):.1f}" for hops in HOPS[1:])
        + f" times as long as on an idle network, over {', '.join(map(str, HOPS[1:]))} hops. The sentence is about all numbers of hops, and "
        f"{outcome('A2.low-load-small', table)}.",
        f"Over four hops a packet without a route arrives after {significant(quiet)} ms on an idle network, and after "
        f"{significant(busy)} ms next to {BACKGROUND[-1]:g} Mb/s.",
    ]


def _a2_figures(table: Table) -> list[tuple[str, Figure]]:
    from hopcast.figures import Line, lines

    def drawn(metric: str) -> Figure:
        return lines(
            [
                Line(_hops(hops), [(load, table[_a2_case(hops, load), metric]) for load in BACKGROUND])
                for hops in HOPS[1:]
            ],
            x="traffic beside, Mb/s",
            y="latency, ms",
        )

    return [("Latency with the discovery, mean", drawn("latency")), ("Latency, 99 %", drawn("latency, 99 %"))]


# A3: UDP over several hops.


def _a3_setup(amount: Amount) -> list[Parameter]:
    return [
        *_testbed(amount),
        Parameter(
            "places", "30 m apart; received and sensed up to 40 m", "nodes 1 and 3 don't hear each other (section 4.2)"
        ),
        Parameter("load", "packets of 1500 B, 0.1 to 0.9 Mb/s of UDP payload", "section 4.2, Fig. 2"),
        Parameter(
            "times",
            "each packet late by up to 10 ms; over three and four hops also even, and late by up to an interval",
            "not stated; 10 ms is the tick of Linux 2.2 (section 2) with which a program that sleeps wakes",
        ),
        Parameter(
            "frames that overlap",
            "both are lost; over three and four hops also with one of two that are equally strong received",
            "not stated; 0 dB is what despreading eleven chips leaves ample room for",
        ),
        Parameter(
            "packets without a route",
            "answered by an error; over three and four hops also dropped in silence",
            "section 3.4 says that they are dropped, and not whether the source is told",
        ),
        Parameter("run", f"{_a3_seconds(amount):g} s", "300 s (section 4.2)"),
    ]


def _a3_seconds(amount: Amount) -> float:
    return amount.pick(quick=60.0, full=300.0)


def _a3_case(hops: int, load: float, setting: str = "") -> str:
    return f"{_hops(hops)}, {load:g} Mb/s{setting}"


BESIDE_A3 = (EVEN, INTERVAL, CAPTURE, CAPTURE + INTERVAL)


def _late(load: float, setting: str) -> float:
    """Largest delay of a packet in seconds."""
    times = setting.removeprefix(CAPTURE).removesuffix(SILENT)
    return {"": TICK, EVEN: 0.0, INTERVAL: MTU_PAYLOAD * 8.0 / (load * 1e6)}[times]


def _a3_cases(amount: Amount) -> Mapping[str, Case]:
    return {
        _a3_case(hops, load, setting): Case(
            line(
                _a3_case(hops, load, setting),
                hops + 1,
                REACH,
                START + _a3_seconds(amount),
                [_udp("stream0", 0, hops, load * 1e6, jitter=_late(load, setting))],
                capture=setting.startswith(CAPTURE),
                silent=setting == SILENT,
            ),
            # Losses at 0.3 Mb/s are near their line.
            _seeds(amount)
            if setting or hops not in RECEIVED
            else amount.pick(quick=tuple(range(1, 13)), full=_seeds(amount)),
            beside=bool(setting),
        )
        for hops in HOPS
        for load in LOADS
        for setting in ("", *BESIDE_A3, SILENT)
        if not setting or hops in RECEIVED
    }


def _received(document: Document) -> float:
    """Percentage of the sent datagrams."""
    flow = document["flows"][0]
    arrived: float = 100.0 * flow["received_packets"] / flow["sent_packets"]
    return arrived


def _bandwidth(measured: Measured, hops: int, load: float) -> Sample:
    """Mb/s that arrived."""
    return Sample.of(lambda share: share * load / 100.0, measured.sample(_a3_case(hops, load), _received))


def losses(document: Document) -> list[float]:
    """Percentage of the datagrams that were lost at node 1, between nodes 1 and 2, at node 2, …"""
    flow = document["flows"][0]
    nodes = document["nodes"]
    lost: list[float] = []
    for node in nodes[:-1]:
        unheard = node["drops"]["unheard"]
        lost += [sum(node["drops"].values()) - unheard, unheard]
    return [100.0 * count / flow["sent_packets"] for count in lost]


def _lost_at(place: int) -> Callable[[Document], float]:
    return lambda document: losses(document)[place]


def _lost(place: int) -> str:
    """The metric of the losses at a place of ``LOST``."""
    node = place // 2 + 1
    return f"lost between {node} and {node + 1}" if place % 2 else f"lost at node {node}"


def _a3_rows(measured: Measured) -> list[Row]:
    rows = []
    for hops in HOPS:
        for index, load in enumerate(LOADS):
            case = _a3_case(hops, load)
            paper = RECEIVED[hops][index] if hops in RECEIVED else None
            rows.append(value("A3", case, "received", "%", measured.sample(case, _received), paper=paper))
            if hops not in LOST:
                continue
            for place, lost in enumerate(LOST[hops][index]):
                found = measured.sample(case, _lost_at(place))
                rows.append(value("A3", case, _lost(place), "%", found, paper=lost))
    for hops in RECEIVED:
        for load in LOADS:
            for setting in (*BESIDE_A3, SILENT):
                case = _a3_case(hops, load, setting)
                rows.append(value("A3", case, "received", "%", measured.sample(case, _received)))
                late = measured.sample(case, lambda document: math.fsum(losses(document)[4:]))
                rows.append(value("A3", case, "lost from node 3 on", "%", late))
    rows += _a3_claims(measured)
    for hops, most in ((3, 0.6), (4, 0.4)):
        best = Sample.of(max, *(_bandwidth(measured, hops, load) for load in LOADS))
        note = "" if hops == 3 else "The paper's own Table 5 peaks at 0.325 Mb/s"
        rows.append(value("A3", f"{_hops(hops)}, the most", "received bandwidth", "Mb/s", best, paper=most, note=note))
    return rows


def _a3_claims(measured: Measured) -> list[Row]:
    """The sentences of section 4.2 without a number."""

    def received(hops: int, load: float) -> Sample:
        return measured.sample(_a3_case(hops, load), _received)

    def lost(hops: int, load: float, places: Iterable[int]) -> Sample:
        return measured.sample(_a3_case(hops, load), lambda document: math.fsum(losses(document)[at] for at in places))

    high = [load for load in LOADS if load > HIGH]
    ideal = {
        f"{_hops(hops)}, {load:g} Mb/s, alone": received(hops, load)
        for hops in HOPS
        if hops not in RECEIVED
        for load in LOADS
    }
    drops = {f"{_hops(hops)}, {load:g} Mb/s, high load": received(hops, load) for hops in RECEIVED for load in high}
    free = {
        f"{_hops(hops)}, {load:g} Mb/s, low load": received(hops, load)
        for hops in HOPS
        for load in LOADS
        if load <= LOW
    }
    noticeable = {f"{_hops(3)}, {load:g} Mb/s, noticeable": received(3, load) for load in LOADS if LOW < load <= HIGH}

    def more_of_four(place: int) -> dict[str, Sample]:
        return {
            f"{_hops(4)} − {_hops(3)}, {load:g} Mb/s": lost(4, load, (place,)) - lost(3, load, (place,))
            for load in high
        }

    def asked(hops: int, load: float) -> Sample:
        return measured.sample(_a3_case(hops, load), lambda document: float(document["nodes"][0]["route_requests"]))

    again = {
        f"{_hops(hops)}, {load:g} − {LOADS[0]:g} Mb/s": asked(hops, load) - asked(hops, LOADS[0])
        for hops in RECEIVED
        for load in high
    }
    down = _bandwidth(measured, 4, LOADS[-1]) / _bandwidth(measured, 4, HIGH)
    early, late = {}, {}
    for load in high:
        every = lost(3, load, range(6))
        early[f"{_hops(3)}, {load:g} Mb/s, nodes 1 and 2 and in between"] = percent(lost(3, load, range(3)), every)
        late[f"{_hops(3)}, {load:g} Mb/s, from node 3 on"] = lost(3, load, (4, 5))
    return [
        *REGISTER.rows("A3.almost-ideal", "one and two hops", "received", "%", ideal),
        *REGISTER.rows("A3.drops-considerably", "three and four hops", "received", "%", drops),
        *REGISTER.rows("A3.error-free", "up to 0.2 Mb/s", "received", "%", free),
        *REGISTER.rows("A3.first-nodes", "three hops", "share of the losses", "%", early),
        *REGISTER.rows("A3.beyond-node-3", "three hops", "lost", "%", late),
        *REGISTER.rows("A3.noticeable", "three hops, beyond 0.2 Mb/s", "received", "%", noticeable),
        *REGISTER.rows("A3.between-2-and-3", "between 2 and 3, four − three hops", "lost between 2 and 3", "points", more_of_four(3)),
        *REGISTER.rows("A3.at-node-1", "at node 1, four − three hops", "lost at node 1", "points", more_of_four(0)),
        REGISTER.row("A3.going-down", f"{_hops(4)}, {LOADS[-1]:g} / {HIGH:g} Mb/s", "received bandwidth ratio", "", down),
        *REGISTER.rows("A3.needless-discoveries", "high − low load", "route requests of node 1", "", again),
    ]  # fmt: skip


def _a3_notes(table: Table) -> list[str]:
    def received(hops: int, load: float) -> float:
        return number(table, _a3_case(hops, load), "received")

    def apart(hops: Sequence[int], loads: Sequence[float], setting: str = "") -> list[float]:
        return [
            abs(number(table, _a3_case(far, load, setting), "received") - RECEIVED[far][LOADS.index(load)])
            for far in hops
            for load in loads
        ]

    def within(setting: str = "") -> int:
        return sum(points <= 5.0 for points in apart((3, 4), LOADS, setting))

    def shares(setting: str) -> str:
        return ", ".join(f"{number(table, _a3_case(3, load, setting), 'received'):.0f}" for load in LOADS)

    both = CAPTURE + INTERVAL
    settings = ("", *BESIDE_A3)
    off = {hops: [statistics.fmean(apart((hops,), LOADS, setting)) for setting in settings] for hops in RECEIVED}
    busy = [number(table, _a3_case(3, load, EVEN), "received") for load in BUSY]

    downs = [
        f"{LOADS[-1] * number(table, _a3_case(4, LOADS[-1], setting), 'received') / (HIGH * number(table, _a3_case(4, HIGH, setting), 'received')):.2f}"
        for setting in settings
    ]

    def late(setting: str) -> str:
        found = (number(table, _a3_case(3, load, setting), "lost from node 3 on") for load in LOADS if load > 0.4)
        return significant(max(found), 2)

    def at_nodes(lost: Iterable[Sequence[float]]) -> float:
        """Losses at nodes in per cent of those at nodes and between them, which alternate."""
        each = [(math.fsum(one[0::2]), math.fsum(one)) for one in lost]
        whole = math.fsum(of_all for _, of_all in each)
        return 100.0 * math.fsum(part for part, _ in each) / whole if whole else math.nan

    ours = [[number(table, _a3_case(3, load), _lost(place)) for place in range(len(LOST[3][0]))] for load in LOADS]

    def cause(hops: int) -> str:
        plain, explained = off[hops][0], off[hops][settings.index(both)]
        return "The two explain most of it" if explained < 0.5 * plain else "The two don't explain it"

    return [
        f"Over one hop {received(1, 0.9):.0f} % of 0.9 Mb/s arrive, over two {received(2, 0.9):.0f} %, over three "
        f"{received(3, 0.9):.0f} % (63 in the paper), over four {received(4, 0.9):.0f} % (26).",
        "In the cells that are compared with the paper, packets leave node 1 late by up to 10 ms, the tick with which a sleeping program wakes under "
        f"Linux 2.2. Frames that overlap are all lost. At exactly even times, which need a program that never sleeps, {min(busy):.0f} to "
        f"{max(busy):.0f} % arrive over three hops from 0.4 to 0.7 Mb/s. Node 3 does not hear node 1, and sends over every second frame of node 1 at node 2.",
        "Two causes were suspected and tried: times of any phase, and a receiver that keeps one of two equally strong frames, as a radio that spreads bits "
        "over eleven chips can. From 0.1 to 0.9 Mb/s over three hops the paper has "
        + ", ".join(f"{share:.0f}" for share in RECEIVED[3])
        + f" %. Packets late by up to 10 ms, drawn for each one, give {shares('')} %. Even times give {shares(EVEN)} %. Late by up to an interval they give "
        f"{shares(INTERVAL)} %. Up to 10 ms, with one of two equally strong frames received, gives {shares(CAPTURE)} %. Likewise and up to an interval late "
        f"gives {shares(both)} %.",
        "The mean distance from the paper, in this order: "
        + " ".join(
            f"{capitalized(_hops(hops))}: {', '.join(f'{points:.0f}' for points in off[hops])} points. {cause(hops)}."
            for hops in RECEIVED
        )
        + f" Of 18 cells {', '.join(str(within(setting)) for setting in settings)} are within 5 points.",
        "From node 3 on, over three hops and beyond 0.4 Mb/s, the paper loses 0.4 %. Here it is at most "
        + significant(
            max(number(table, f"{_hops(3)}, {load:g} Mb/s, from node 3 on", "lost") for load in LOADS if load > 0.4), 2
        )
        + f" %. At even times it is {late(EVEN)} %. With one of two equally strong frames received it is {late(CAPTURE)} %, with times that are late by up to "
        f"an interval {late(INTERVAL)} %, and with both {late(both)} %.",
        f"Over four hops {LOADS[-1]:g} Mb/s brings {downs[0]} times what {HIGH:g} Mb/s does, {LOADS[-1] * RECEIVED[4][-1] / (HIGH * RECEIVED[4][LOADS.index(HIGH)]):.2f} in the paper. "
        f"In the other settings it is {', '.join(downs[1:])} times, in the same order.",
        f"At 0.3 Mb/s and more over three hops the paper has noticeable losses, and the sentence {outcome('A3.noticeable', table)}. "
        f"{received(3, 0.3):.1f} % of 0.3 Mb/s arrive, and less than {REGISTER.limit('A3.noticeable'):g} would count as noticeable losses.",
        f"Over three hops the paper has {at_nodes(LOST[3]):.0f} % of the losses at nodes, the others between them. Here it is "
        f"{at_nodes(ours):.0f} %. Section 3.4 says that a node without a route drops packets, and not whether it tells the source. Nodes that drop in silence were tried. "
        "Then up to "
        + significant(max(number(table, _a3_case(4, load, SILENT), "lost from node 3 on") for load in LOADS), 2)
        + f" % are lost from node 3 on over four hops ({significant(max(math.fsum(lost[4:]) for lost in LOST[4]), 2)} in the paper): the error that "
        "tells of a lost neighbour collides itself, and the source goes on. Silence was part of a first run with more hellos. The error stayed after that "
        "run was seen, as the paper does not exclude it.",
        "Node 1 sends on an ISA card, the others on PCMCIA cards that hold one packet. A node that relays can send 1.2 Mb/s at most. While it sends, it "
        "hears nothing of what node 1 sends.",
    ]


def _a3_figures(table: Table) -> list[tuple[str, Figure]]:
    from hopcast.figures import Line, lines

    drawn = [Line(_hops(hops), [(load, table[_a3_case(hops, load), "received"]) for load in LOADS]) for hops in HOPS]
    return [("Received against offered load", lines(drawn, x="offered load, Mb/s", y="received, %"))]


# A4 and A5: one FTP.


def _ftp_setup(amount: Amount) -> list[Parameter]:
    return [
        *_testbed(amount),
        Parameter(
            "places",
            "30 m apart; received up to 40 m, sensed up to 70 m",
            "two hops away sensed, no link (section 4.3)",
        ),
        Parameter(
            "TCP",
            f"SACK, segments of {SEGMENT} B, a window of {WINDOW} segments",
            "Reno with SACK (section 4.3); the window of Linux 2.2, 32 kB",
        ),
        Parameter("file", f"{_ftp_octets(amount) / 1e6:g} MB", "14 MB (section 4.3)"),
    ]


def _ftp_octets(amount: Amount) -> int:
    return amount.pick(quick=4_000_000, full=FILE)


def _ftp_cases(amount: Amount) -> Mapping[str, Case]:
    made = {}
    for hops in HOPS:
        flow: Flow = {
            "name": "stream0",
            "from": "n0",
            "to": f"n{hops}",
            "start": START,
            "transport": {"protocol": "tcp", "variant": "sack", "segment": SEGMENT, "window": WINDOW},
            "application": {"kind": "bulk", "bytes": _ftp_octets(amount)},
        }
        # Long enough for a tenth of the slowest rate of the paper.
        seconds = START + _ftp_octets(amount) / 1e3 / FTP_KB[4] * 10.0
        made[_hops(hops)] = Case(line(_hops(hops), hops + 1, SENSED_TWO_AWAY, seconds, [flow]), _seeds(amount))
    return made


SHOWN = 17
"""Segments in the 25 kB of Fig. 4."""
PAUSE = "pause between bursts"
"""Value of the source's segments, the median of a run."""
HELD = "largest change of the delay"
"""From write to arrival, between segments that arrive one after the other: a wait for a timer makes the delay of a
segment longer.
"""
ONE_SEGMENT, TWO_SEGMENTS = "1 hop, window 1", "1 hop, window 2"
"""Alternatives to A5: with one segment in flight, or two that one acknowledgement answers, data and acknowledgements
never contend.
"""


def _a5_setup(amount: Amount) -> list[Parameter]:
    captured = Parameter(
        "capture", "at node 1, of packets of its own and for it", "tcpdump in non-promiscuous mode (section 4.3)"
    )
    return [*_ftp_setup(amount), captured]


def _a5_cases(amount: Amount) -> Mapping[str, Case]:
    made = {name: dataclasses.replace(case, observe=capture.observe) for name, case in _ftp_cases(amount).items()}
    one_hop = made[_hops(1)].scenario
    for window, name in enumerate((ONE_SEGMENT, TWO_SEGMENTS), start=1):
        made[name] = Case(one_hop.set("flows.stream0.transport.window", window), _seeds(amount))
    return made


HIDDEN_HOPS = (3, 4)
"""Alternatives to A4 without the adjustment of section 4.3: "large number of nodes"."""


def _a4_cases(amount: Amount) -> Mapping[str, Case]:
    made = dict(_ftp_cases(amount))
    for hops in HIDDEN_HOPS:
        case = made[_hops(hops)]
        made[_hidden(hops)] = dataclasses.replace(
            case, scenario=case.scenario.set("radio.propagation.carrier_sense", REACH)
        )
    return made


def _hidden(hops: int) -> str:
    return f"{_hops(hops)}, two hops away not sensed"


def _a4_rows(measured: Measured) -> list[Row]:
    rows = []
    for hops in HOPS:
        rate = Sample.of(lambda bits: bits / 8e3, measured.flow(_hops(hops), "stream0", "goodput_bps"))
        rows.append(value("A4", _hops(hops), "rate", "KB/s", rate, paper=FTP_KB[hops]))
    ratios = {
        f"{_hops(hops)} / {_hops(hops - 1)}": measured.flow(_hops(hops), "stream0", "goodput_bps")
        / measured.flow(_hops(hops - 1), "stream0", "goodput_bps")
        for hops in HOPS[1:]
    }
    rows += REGISTER.rows("A4.progressively-slower", "", "rate ratio", "", ratios)
    hidden = {
        f"{_hidden(hops)} / sensed": measured.flow(_hidden(hops), "stream0", "goodput_bps")
        / measured.flow(_hops(hops), "stream0", "goodput_bps")
        for hops in HIDDEN_HOPS
    }
    rows += REGISTER.rows("A4.carrier-sense", "not sensed / sensed", "rate ratio", "", hidden)
    unfinished = {_hidden(hops): measured.sample(_hidden(hops), _unfinished) for hops in HIDDEN_HOPS}
    return rows + REGISTER.rows("A4.hang", "not sensed", "runs with an incomplete file", "", unfinished)


def _unfinished(document: Document) -> float:
    """1 if the file is incomplete at the end of the run, else 0."""
    flow = document["flows"][0]
    return float(flow["received_bytes"] < flow["sent_bytes"])


def _a4_notes(table: Table) -> list[str]:
    rates = ", ".join(f"{number(table, _hops(hops), 'rate'):.0f}" for hops in HOPS)
    apart = [number(table, f"{_hidden(hops)} / sensed", "rate ratio") for hops in (3, 4)]
    hung = sum(number(table, _hidden(hops), "runs with an incomplete file") for hops in (3, 4))
    return [
        f"From one hop to four {rates} KB/s; 210, 70, 47 and 18 in the paper. There every data segment and acknowledgement "
        "passes a radio without link-layer acknowledgements. What collides is lost, and TCP alone repairs it.",
        f"Where nodes do not sense each other two hops away, the rate is {apart[0]:.2f} times as high over three hops, and {apart[1]:.2f} times over four. "
        + (
            "The file arrives whole in every run. On the testbed such transfers hung, and the paper does not say what stopped them."
            if hung == 0.0
            else "In some runs the file does not arrive whole. On the testbed such transfers hung."
        ),
    ]


def _a4_figures(table: Table) -> list[tuple[str, Figure]]:
    from hopcast.figures import Line, lines

    drawn = [Line("FTP", [(hops, table[_hops(hops), "rate"]) for hops in HOPS])]
    return [("Rate of the transfer", lines(drawn, x="hops", y="rate, KB/s"))]


def _a5_rows(measured: Measured) -> list[Row]:
    rows = []

    def per_megabyte(case: str, of: str) -> Sample:
        octets = measured.flow(case, "stream0", "received_bytes")
        return Sample.of(
            lambda count, sent: count / sent * 1e6 if sent else math.nan,
            measured.flow(case, "stream0", of),
            octets,
        )

    for case in (*map(_hops, HOPS), ONE_SEGMENT, TWO_SEGMENTS):
        again = per_megabyte(case, "retransmitted_segments")
        rows.append(value("A5", case, "segments sent again", "1/MB", again))
        rows.append(value("A5", case, "timeouts", "1/MB", per_megabyte(case, "timeouts")))
        rows.append(value("A5", case, HELD, "ms", _ms(measured, case, "stream0", "jitter_max_s")))
    pause = {
        hops: measured.sample(_hops(hops), lambda document: 1e3 * float(document["source"]["pause_s"])) for hops in HOPS
    }
    for hops, sample in pause.items():
        rows.append(value("A5", _hops(hops), PAUSE, "ms", sample))
        burst = measured.sample(_hops(hops), lambda document: float(document["source"]["burst"]))
        rows.append(value("A5", _hops(hops), "segments a burst", "", burst))
    shown = SHOWN * SEGMENT / 1e6
    smooth, rough = (
        Sample.of(lambda count: count * shown, per_megabyte(_hops(hops), "retransmitted_segments")) for hops in (1, 4)
    )
    metric = f"segments sent again in {SHOWN}"
    rows.append(REGISTER.row("A5.smooth", _hops(1), metric, "", smooth))
    rows.append(REGISTER.row("A5.several-retransmissions", _hops(4), metric, "", rough))
    longer = {f"{_hops(hops)} / {_hops(hops - 1)}": pause[hops] / pause[hops - 1] for hops in HOPS[2:]}
    rows += REGISTER.rows("A5.progressive-delay", "", f"{PAUSE}, ratio", "", longer)
    for hops in HOPS[2:]:
        held, less = (measured.flow(_hops(of), "stream0", "jitter_max_s") for of in (hops, hops - 1))
        rows.append(value("A5", f"{_hops(hops)} / {_hops(hops - 1)}", f"{HELD}, ratio", "", held / less))
    rows += _a5_acknowledgements(measured)
    answered = measured.sample(_hops(1), acknowledgements)
    paired = measured.sample(TWO_SEGMENTS, acknowledgements)
    rows.append(value("A5", TWO_SEGMENTS, "acknowledgements a segment", "", paired))
    rows.append(REGISTER.row("A5.alternate-acknowledgements", _hops(1), "acknowledgements a segment", "", answered))
    irregular = {
        f"{_hops(hops)} / {_hops(hops - 1)}": measured.flow(_hops(hops), "stream0", "jitter_mean_s")
        / measured.flow(_hops(hops - 1), "stream0", "jitter_mean_s")
        for hops in HOPS[1:]
    }
    return rows + REGISTER.rows("A5.irregular", "", "mean jitter, ratio", "", irregular)


KINDS = {
    "one": "acknowledgements of one segment",
    "two": "acknowledgements of two segments",
    "more": "acknowledgements of more than two segments",
}
DUPLICATES = f"duplicate acknowledgements for {SHOWN} segments"


def _a5_acknowledgements(measured: Measured) -> list[Row]:
    """What the acknowledgements that the source receives acknowledge, as shares of those with new data."""

    def share(kind: str, document: Document) -> float:
        counts = document["source"]["acknowledgements"]
        new = sum(counts[each] for each in KINDS)
        return float(counts[kind]) / new if new else math.nan

    def duplicates(document: Document) -> float:
        segments = document["flows"][0]["received_bytes"] / SEGMENT
        found: float = document["source"]["acknowledgements"]["duplicate"]
        return SHOWN * found / segments if segments else math.nan

    rows = []
    shares = {
        (hops, kind): measured.sample(_hops(hops), functools.partial(share, kind)) for hops in HOPS for kind in KINDS
    }
    for hops in HOPS:
        rows.append(value("A5", _hops(hops), KINDS["two"], "", shares[hops, "two"]))
    for key, kind in (("A5.cumulative", "more"), ("A5.one-by-one", "one")):
        rows.append(value("A5", _hops(1), KINDS[kind], "", shares[1, kind]))
        several = {_hops(hops): shares[hops, kind] for hops in HOPS[1:]}
        rows += REGISTER.rows(key, "2 to 4 hops", KINDS[kind], "", several)
    for hops in HOPS[:-1]:
        rows.append(value("A5", _hops(hops), DUPLICATES, "", measured.sample(_hops(hops), duplicates)))
    last = measured.sample(_hops(HOPS[-1]), duplicates)
    return [*rows, REGISTER.row("A5.duplicates", _hops(HOPS[-1]), DUPLICATES, "", last)]


def acknowledgements(document: Document) -> float:
    """Packets other than routing messages that the sink of one hop created, per segment that arrived."""
    sink = document["nodes"][1]
    made: float = sink["originated"] - sink["routing_packets"]
    segments: float = document["flows"][0]["received_bytes"] / SEGMENT
    return made / segments


def _a5_notes(table: Table) -> list[str]:
    def of_each(metric: str) -> str:
        return ", ".join(f"{number(table, _hops(hops), metric):.2f}" for hops in HOPS)

    again = ", ".join(significant(number(table, _hops(hops), "segments sent again")) for hops in HOPS)
    once = number(table, _hops(1), "segments sent again")
    return [
        f"Segments sent again for each megabyte, from one hop to four: {again}. The paper shows the segments of 25 kB around "
        "2 MB; these counts are of the whole transfer.",
        "The paper's “small delay after 2 or 4 packets” is a pause of the source, which waits for an acknowledgement to move its window, or for its timer. "
        "In a capture at the source a burst begins with what either allows. From one hop to four it has "
        + ", ".join(f"{number(table, _hops(hops), 'segments a burst'):.1f}" for hops in HOPS)
        + " segments. The median pause before the next burst is "
        + ", ".join(significant(number(table, _hops(hops), PAUSE), 2) for hops in HOPS)
        + " ms, a segment's own time on the air included.",
        "The longest wait is another matter: the largest change, from one segment that arrives to the next, of the time since its write is "
        + ", ".join(significant(number(table, _hops(hops), HELD) / 1e3, 2) for hops in HOPS)
        + " s. It is that of the segment behind the most timeouts in a row, with each of which the timer doubles.",
        "What is sent again over one hop collided with an acknowledgement that chose the same slot. Without link-layer acknowledgements TCP has to repair "
        "that. With one segment in flight, which never contends with one, "
        f"{significant(number(table, ONE_SEGMENT, 'segments sent again'))} are sent again in place of {significant(once)}.",
        f"That is one segment in {1e6 / SEGMENT / once if once else math.inf:.0f}, so that {SHOWN} in a row, as in the paper's figure, have none of "
        f"them with a chance of {100.0 * math.exp(-SHOWN * once * SEGMENT / 1e6):.0f} %. The paper's claims are judged by {SHOWN} segments.",
        f"Over one hop a segment is answered by {number(table, _hops(1), 'acknowledgements a segment'):.2f} acknowledgements: those that come behind a lost "
        "one are answered one by one. With two segments in flight, of which "
        f"{significant(number(table, TWO_SEGMENTS, 'segments sent again'))} a megabyte are sent again, it is "
        f"{number(table, TWO_SEGMENTS, 'acknowledgements a segment'):.2f}.",
        f"Acknowledgements of more than two segments are {of_each('acknowledgements of more than two segments')} of all from one hop to four. Those of one "
        f"segment are {of_each('acknowledgements of one segment')}, as the receiver answers every second one: the sentence on them "
        f"{outcome('A5.one-by-one', table)}. That on duplicates {outcome('A5.duplicates', table)}.",
    ]


def _a5_figures(table: Table) -> list[tuple[str, Figure]]:
    from hopcast.figures import Line, lines

    def drawn(metrics: Sequence[str], y: str) -> Figure:
        return lines([Line(m, [(hops, table[_hops(hops), m]) for hops in HOPS]) for m in metrics], x="hops", y=y)

    return [
        ("Segments sent again and timeouts", drawn(("segments sent again", "timeouts"), "events per megabyte")),
        ("Pause between the source's bursts, median", drawn((PAUSE,), "median pause, ms")),
    ]


# A7: newer hardware.

NEWER, NO_HELLOS = ", 802.11", ", 802.11 without hellos"
"""Settings of A7, next to the first generation of cards of A3."""
A7_LOADS = (0.5, 0.7, 0.9)
"""Mb/s: beyond 0.4, where section 4.2 finds considerable losses."""


def _a7_setup(amount: Amount) -> list[Parameter]:
    return [
        *_a3_setup(amount),
        Parameter(
            "newer hardware",
            "802.11 at 2 Mb/s with link acknowledgements, RTS/CTS before each packet; else as before",
            "section 5; the cards' copy times and buffers are those of A3, so that medium access alone differs",
        ),
        Parameter(
            "links",
            "by hellos and by packets that the card gives up; beside it without hellos",
            "section 5; RFC 3561, section 6.10",
        ),
    ]


def _newer(made: Scenario, *, hellos: bool) -> Scenario:
    """The same line with cards of the next generation."""
    document = made.set("radio.standard", "802.11").set("radio.data_rate", "2 Mb/s").set("radio.rts_threshold", "0 B")
    document = document.set("radio.profile", "standard")
    for node in range(5):
        where = f"nodes.n{node}.routing"
        if any(key.startswith(where) for key, _, _ in document.explain()):
            document = document.set(f"{where}.link_detection", "both" if hellos else "link-layer")
            document = document.set(f"{where}.hello_always", hellos)
    return document


def _a7_cases(amount: Amount) -> Mapping[str, Case]:
    first = _a3_cases(amount)
    made = {}
    for hops in RECEIVED:
        for load in A7_LOADS:
            name = _a3_case(hops, load)
            made[name] = first[name]
            for setting, hellos in ((NEWER, True), (NO_HELLOS, False)):
                made[name + setting] = Case(_newer(first[name].scenario, hellos=hellos), _seeds(amount))
    return made


def _a7_rows(measured: Measured) -> list[Row]:
    rows = []
    more, without = {}, {}
    for hops in RECEIVED:
        for load in A7_LOADS:
            name = _a3_case(hops, load)
            old, new, silent = (measured.sample(name + kind, _received) for kind in ("", NEWER, NO_HELLOS))
            for setting, found in (("", old), (NEWER, new), (NO_HELLOS, silent)):
                rows.append(value("A7", name + setting, "received", "%", found))
            more[f"{name}{NEWER} − WaveLAN"] = new - old.first(len(new.values))
            without[f"{name}, without / with hellos"] = silent / new
    rows += REGISTER.rows("A7.impact", "802.11 − WaveLAN", "received", "points", more)
    return rows + REGISTER.rows("A7.without-hellos", "without / with hellos", "received, ratio", "", without)


def _a7_notes(table: Table) -> list[str]:
    def of(hops: int, setting: str) -> str:
        return ", ".join(f"{number(table, _a3_case(hops, load) + setting, 'received'):.0f}" for load in A7_LOADS)

    return [
        *(
            f"Over {_hops(hops)} {of(hops, '')} % of {', '.join(f'{load:g}' for load in A7_LOADS)} Mb/s arrive with cards of the first "
            f"generation. With link acknowledgements and RTS/CTS it is {of(hops, NEWER)} %, and without hellos, too, {of(hops, NO_HELLOS)} %."
            for hops in RECEIVED
        ),
        f"The sentence on newer cards is judged over all loads (median: {finding('A7.impact', table)} more), and {outcome('A7.impact', table)}. "
        f"Without hellos {finding('A7.without-hellos', table)} times as much arrives as with them, in the hardest case.",
        "Link acknowledgements, RTS and CTS prevent collisions, and take time on the air. Which of the two counts for more depends on the load.",
    ]


def _a7_figures(table: Table) -> list[tuple[str, Figure]]:
    from hopcast.figures import Line, lines

    drawn = [
        Line(
            _hops(hops) + (setting or ", WaveLAN"),
            [(load, table[_a3_case(hops, load) + setting, "received"]) for load in A7_LOADS],
        )
        for hops in RECEIVED
        for setting in ("", NEWER, NO_HELLOS)
    ]
    return [("Received against offered load", lines(drawn, x="offered load, Mb/s", y="received, %"))]


EXPERIMENTS = (
    Experiment(
        "A2",
        "Route discovery latency",
        "How long AODV takes to find a route over several hops, beside other traffic: small and steady at low load, large and "
        "variable at high load (section 5; section 4.1 is missing from the text).",
        _a2_setup,
        _a2_cases,
        _a2_rows,
        _a2_figures,
        _a2_notes,
    ),
    Experiment(
        "A3",
        "UDP over one to four hops",
        "UDP of 0.1 to 0.9 Mb/s over a line of which neighbours but one don't hear each other (Fig. 2, Tables 4, 5): almost "
        "ideal over one and two hops, at most 0.6 Mb/s over three and 0.4 over four, lost to hidden terminals and to routes "
        "that break because hellos collide.",
        _a3_setup,
        _a3_cases,
        _a3_rows,
        _a3_figures,
        _a3_notes,
    ),
    Experiment(
        "A4",
        "One FTP over one to four hops",
        "A file of 14 MB, with nodes so that two hops away is sensed (Fig. 3): 210, 70, 47 and 18 KB/s.",
        _ftp_setup,
        _a4_cases,
        _a4_rows,
        _a4_figures,
        _a4_notes,
    ),
    Experiment(
        "A5",
        "The FTP's segments",
        "The segments at the source around 2 MB (Fig. 4): smooth over one hop; pauses, duplicate acknowledgements and "
        "retransmissions grow with the hops.",
        _a5_setup,
        _a5_cases,
        _a5_rows,
        _a5_figures,
        _a5_notes,
    ),
    Experiment(
        "A7",
        "UDP with newer hardware",
        "The paper expects that link acknowledgements, RTS/CTS and AODV without hellos reduce the losses of A3 (section 5).",
        _a7_setup,
        _a7_cases,
        _a7_rows,
        _a7_figures,
        _a7_notes,
    ),
)
