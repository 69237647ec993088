"""R1: TCP over one to four hops of the Rice TFA mesh.

J. Camp, J. Robinson, C. Steger, E. Knightly: "Measurement driven deployment of a two-tier urban mesh access network",
ACM MobiSys 2006; the measurements that the authors published with it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hopcast.channel import frame_error_rates, log_distance_gains
from hopcast.lab.experiment import Amount, Case, Experiment, Measured, Parameter, Table
from hopcast.lab.rows import FACTOR, Row, value
from hopcast.numbers import significant
from hopcast.scenario import Scenario
from hopcast.statistics import mean
from hopcast.theory import saturated_link_cycle
from hopcast_papers.h2o.places import number
from hopcast_papers.measured_networks.files import CHAIN_LINKS, CHAIN_TCP, chain_table, missing
from hopcast_papers.notes import capitalized
from hopcast_papers.register import REGISTER
from hopcast_papers.strings_and_meshes.string import hops_text, kbps

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hopcast.types import Flow

HOPS = (1, 2, 3, 4)
DIRECTIONS = ("up", "down")
"""The rows of both files, in this order, from one hop (the link at the gateway) to four."""
RATE, BASIC = 11e6, 2e6
"""b/s: the cards' fastest, and the faster of the two that are mandatory in 802.11-1997."""
PAYLOAD = 1470
"""Bytes: iperf's default UDP datagram."""
MPDU = PAYLOAD + 28 + 8 + 28
"""Bytes, with the headers of UDP and IPv4, of LLC/SNAP and of the MAC, and its FCS."""
ATTEMPTS, CW_MIN, CW_MAX, SLOT = 7, 31, 1023, 20e-6
"""IEEE 802.11-2020, 10.3.4.3 and 16.3.3."""
POWER_DBM = 24.0
"""200 mW cards (the note with the data). Only distances depend on it here."""
NOISE_DBM = -94.80
"""Thermal noise in the bandwidth of DSSS, raised by hopcast's 7 dB (docs/models/errors.md)."""
FREQUENCY = 2.437e9
START = 10.0
"""Seconds that DSDV has to spread its routes."""


@dataclass(frozen=True)
class Ground:
    """Path loss model."""

    name: str
    exponent: float


CHOSEN = Ground("exponent 3.3", 3.3)
BESIDE = (Ground("exponent 3", 3.0), Ground("exponent 4", 4.0))
GROUNDS = (CHOSEN, *BESIDE)


def frame_loss(kbit: float) -> float:
    """The share of lost frames at which a saturated UDP flow over the link carries this much; 0 if it is as fast as
    the standard.
    """
    low, high = 0.0, 0.99
    if 8.0 * PAYLOAD / _cycle(0.0) <= 1e3 * kbit:
        return 0.0
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (middle, high) if 8.0 * PAYLOAD / _cycle(middle) > 1e3 * kbit else (low, middle)
    return low


def _cycle(loss: float) -> float:
    """Mean seconds for each datagram that arrives: each attempt takes a cycle, and after a lost one backoff
    doubles.
    """
    once = saturated_link_cycle("802.11b", RATE, BASIC, payload=PAYLOAD)
    spent = 0.0
    for attempt in range(ATTEMPTS):
        window = min((CW_MIN + 1) * 2**attempt - 1, CW_MAX)
        spent += loss**attempt * (once + (window - CW_MIN) / 2.0 * SLOT)
    return spent / (1.0 - loss**ATTEMPTS)


def metres(loss: float, exponent: float) -> float:
    """Distance between two nodes that lose this share of full frames."""
    low, high = -5.0, 30.0
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (middle, high) if frame_error_rates("802.11b", RATE, MPDU, [middle])[0] > loss else (low, middle)
    (gain,) = log_distance_gains(FREQUENCY, exponent, 1.0, [1.0])
    return math.exp((POWER_DBM + gain - NOISE_DBM - low) / (10.0 * exponent) * math.log(10.0))


WHOLE = 1e-3
"""Least share that a link loses, so that its length is not zero."""


def scenario(name: str, ground: Ground, flow: Flow, seconds: float) -> Scenario:
    """The chain: node 0 is the gateway."""
    places = [0.0]
    for capacity in capacities():
        places.append(places[-1] + metres(max(frame_loss(capacity), WHOLE), ground.exponent))
    return Scenario(
        name=name,
        duration=START + seconds,
        seed=1,
        radio={
            "standard": "802.11b",
            "data_rate": RATE,
            "basic_rate": BASIC,
            "rts_threshold": "off",
            "tx_power": f"{POWER_DBM:g} dBm",
            "propagation": {"model": "log-distance", "exponent": ground.exponent, "frequency": FREQUENCY},
        },
        nodes=[
            {
                "name": "n",
                "count": len(places),
                "placement": {"shape": "points", "at": [[place, 0.0] for place in places]},
                "routing": {"protocol": "dsdv", "link_layer_notification": False},
            }
        ],
        flows=[flow],
    )


def capacities() -> list[float]:
    """kb/s of each link from the gateway on: the mean of its trials in both directions."""
    table = chain_table(CHAIN_LINKS, 2 * len(HOPS))
    return [mean(table[link] + table[link + len(HOPS)]) for link in range(len(HOPS))]


def _tcp(hops: int, direction: str) -> Flow:
    source, sink = (hops, 0) if direction == "up" else (0, hops)
    return {
        "name": "stream0",
        "from": f"n{source}",
        "to": f"n{sink}",
        "start": START,
        "transport": {
            "protocol": "tcp",
            "variant": "sack",
            "timestamps": True,
            "segment": 1460,
            "window": 44,
            "min_rto": "0.2 s",
        },
        "application": {"kind": "bulk"},
    }


def _udp(link: int) -> Flow:
    return {
        "name": "stream0",
        "from": f"n{link + 1}",
        "to": f"n{link}",
        "start": START,
        "transport": {"protocol": "udp"},
        "application": {"kind": "bulk", "packet": PAYLOAD},
    }


def _setup(amount: Amount) -> list[Parameter]:
    return [
        Parameter("data", "six trials of iperf over each link (UDP) and over one to four hops (TCP)", "rice-tfa"),
        Parameter(
            "which link",
            "rows 1 to 4 and 5 to 8 are links 1 to 4 in both directions; their mean",
            "rows of satcp.tsv; those of link.tsv are not labelled",
        ),
        Parameter("radio", "802.11b at 11 Mb/s, control frames at 2 Mb/s, long preamble, no RTS", "the note with the data"),
        Parameter(
            "link rates as measured",
            "each link is as long as makes it lose the share of frames with which UDP has the measured rate",
            "fitted to link.tsv alone; retries cost the rest",
        ),
        Parameter("exponent", "3.3; 3 and 4 beside", "the authors' (R2)"),
        Parameter("power", "24 dBm", "the note with the data; sets distances only"),
        Parameter("TCP", "SACK with timestamps, window 64 kB, least timeout 0.2 s", "Linux 2.4, not stated"),
        Parameter("routing", "DSDV, to which only links of the chain are good enough", "not stated; no effect but its messages"),
        Parameter("run", f"{_seconds(amount):g} s, {len(_seeds(amount))} seeds", "20 s (the note with the data)"),
    ]  # fmt: skip


def _seconds(amount: Amount) -> float:
    return amount.pick(quick=10.0, full=20.0)


def _seeds(amount: Amount) -> tuple[int, ...]:
    return tuple(range(1, amount.pick(quick=4, full=11)))


def _tcp_kbps() -> dict[tuple[int, str], float]:
    table = chain_table(CHAIN_TCP, 2 * len(HOPS))
    keys = [(hops, direction) for direction in DIRECTIONS for hops in HOPS]
    return {key: mean(row) for key, row in zip(keys, table, strict=True)}


def _cases(amount: Amount) -> Mapping[str, Case]:
    flows = {_over(hops, direction): _tcp(hops, direction) for direction in DIRECTIONS for hops in HOPS}
    made = {
        _named(case, ground): Case(scenario(_named(case, ground), ground, flow, _seconds(amount)), _seeds(amount))
        for ground in GROUNDS
        for case, flow in flows.items()
    }
    for link in range(len(HOPS)):
        made[_link(link)] = Case(scenario(_link(link), CHOSEN, _udp(link), _seconds(amount)), _seeds(amount))
    return made


def _rows(measured: Measured) -> list[Row]:
    rows = []
    for link, capacity in enumerate(capacities()):
        note = f"The fit: {100.0 * frame_loss(capacity):.0f} % of full frames lost, {metres(max(frame_loss(capacity), WHOLE), CHOSEN.exponent):.0f} m"
        rows.append(value("R1", _link(link), "UDP", "kb/s", kbps(measured, _link(link)), paper=capacity, note=note))
    for (hops, direction), paper in _tcp_kbps().items():
        case = _over(hops, direction)
        rows.append(value("R1", case, "TCP", "kb/s", kbps(measured, case), paper=paper, note="Mean of six trials"))
        for ground in BESIDE:
            rows.append(value("R1", _named(case, ground), "TCP", "kb/s", kbps(measured, _named(case, ground))))
    ratios = {
        f"{hops_text(hops)} / {hops_text(hops - 1)}, {direction}": kbps(measured, _over(hops, direction))
        / kbps(measured, _over(hops - 1, direction))
        for direction in DIRECTIONS
        for hops in HOPS[1:]
    }
    return rows + REGISTER.rows("R1.hops", "", "TCP ratio", "", ratios)


def _notes(table: Table) -> list[str]:
    def rates(direction: str, ground: Ground = CHOSEN) -> str:
        found = (number(table, _named(_over(hops, direction), ground), "TCP") for hops in HOPS)
        return ", ".join(significant(each) for each in found)

    def others(direction: str) -> str:
        found = (table[_over(hops, direction), "TCP"].paper or math.nan for hops in HOPS)
        return ", ".join(significant(each) for each in found)

    link, tcp = (table[_link(0), "UDP"].paper or math.nan, table[_over(1, "up"), "TCP"].paper or math.nan)
    standard = 8.0 * PAYLOAD / _cycle(0.0) / 1e3
    agree = {
        ground.name: sum(
            paper / FACTOR <= number(table, _named(_over(hops, direction), ground), "TCP") <= paper * FACTOR
            for hops in HOPS
            for direction in DIRECTIONS
            for paper in (table[_over(hops, direction), "TCP"].paper or math.nan,)
        )
        for ground in GROUNDS
    }
    return [
        f"From one hop to four TCP has up {rates('up')} kb/s, and {others('up')} kb/s measured there. Down it has {rates('down')} kb/s, and {others('down')} kb/s there.",
        f"Over one hop TCP had {significant(tcp)} kb/s there. UDP had {significant(link)} kb/s over the same link, though TCP's "
        f"acknowledgements take air. What held UDP back was not the air alone, of which 802.11b at 11 Mb/s makes {significant(standard)} kb/s. "
        "Where it is treated as lost frames, as here, TCP over one hop falls below its measured rate.",
        "Of the eight rates agree within a factor of 1.5: "
        + ", ".join(f"{n} {name}" for name, n in agree.items())
        + ". The exponent decides how far beyond its neighbours a node is heard. "
        + " ".join(f"{capitalized(ground.name)}: up {rates('up', ground)} kb/s." for ground in BESIDE),
    ]


def _figures(table: Table) -> list[tuple[str, Figure]]:
    from hopcast.figures import Group, bars

    def group(label: str, direction: str, grounds: Sequence[Ground]) -> list[Group]:
        made = [Group(label, [table[_over(hops, direction), "TCP"].paper or 0.0 for hops in HOPS], [0.0] * len(HOPS))]
        for ground in grounds:
            rows = [table[_named(_over(hops, direction), ground), "TCP"] for hops in HOPS]
            made.append(Group(ground.name, [row.measured or 0.0 for row in rows], [row.ci95 or 0.0 for row in rows]))
        return made

    return [
        (
            f"TCP over one to four hops, {direction}",
            bars([hops_text(hops) for hops in HOPS], group("testbed", direction, GROUNDS), y="goodput, kb/s"),
        )
        for direction in DIRECTIONS
    ]


def _over(hops: int, direction: str) -> str:
    return f"{hops_text(hops)}, {direction}"


def _link(link: int) -> str:
    return f"link {link + 1}"


def _named(case: str, ground: Ground) -> str:
    return case if ground is CHOSEN else f"{case}, {ground.name}"


EXPERIMENTS = (
    Experiment(
        "R1",
        "TCP over one to four hops of a mesh outdoors",
        "Rice TFA, Houston, 2005: 802.11b, a chain of four hops. The rate of each link is fitted to what UDP had on it; TCP over one to four "
        "hops is predicted.",
        _setup,
        _cases,
        _rows,
        _figures,
        _notes,
        missing(CHAIN_TCP, CHAIN_LINKS),
    ),
)
