"""H14: what the paper measures by: typical bandwidths, clips of 4 Mb/s, and congestion control."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from hopcast.lab.experiment import Amount, Case, Experiment, Measured, Parameter, Table
from hopcast.lab.rows import Row, Sample, value
from hopcast_papers.h2o.places import loss, mbps, number
from hopcast_papers.h2o.streams import ADU_KB, KB, PROTOCOLS, THREE_HOPS, Protocol, scenario, seeds, setup, total
from hopcast_papers.register import REGISTER

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CLIP_MBPS = 4.0
"""Display bandwidth of a DVD-quality clip (sections I and IV)."""
TYPICAL = {"802.11b": (4.0, 5.0), "802.11a": (20.0, 25.0)}
"""Mb/s (Table I)."""
RAW = {"802.11b": "11 Mb/s", "802.11a": "54 Mb/s"}
"""Table I."""
ARRANGEMENTS = {
    "1:1-hop": [(0, 1)],
    "3:1-hop": THREE_HOPS,
    "1:3-hop": [(0, 3)],
    "2:2-hop": [(0, 2), (2, 4)],
}
"""Streams by their nodes. Section III analysed m and k above one as well, and shows nothing of them."""
HYBRID = "2:2-hop"
UNIT_KB = 4
"""The unit from which on bandwidth levels off (section III-A)."""
LOST = 0.1
"""Loss of section III-A's sentence."""


def _setup(amount: Amount) -> list[Parameter]:
    return [
        *setup(amount),
        Parameter("clip", f"{CLIP_MBPS:g} Mb/s, units of {UNIT_KB} KB", "sections I and IV"),
        Parameter("802.11b", "11 Mb/s, long preambles; a TCP connection in units of 4 KB", "Table I has 11 Mb/s"),
        Parameter(
            "10 % loss", "of packets, above the MAC's retries, both ways, over one hop", "section III-A: what TCP would lose"
        ),
    ]  # fmt: skip


def _case(arrangement: str, protocol: Protocol, adu_kb: int = UNIT_KB) -> str:
    return f"{arrangement}, {protocol.upper()}, {adu_kb} KB"


LOSSY = f"1:1-hop, TCP, {UNIT_KB} KB, {100 * LOST:g} % loss"
LOSSY_BYTES = 1 << 20
"""Bytes: at some hundred kb/s a connection needs a minute for them."""


def _typical(standard: str) -> str:
    return f"{standard}, TCP, {UNIT_KB} KB"


def _cases(amount: Amount) -> Mapping[str, Case]:
    made = {
        _case(name, protocol): Case(
            scenario(max(max(way) for way in ways) + 1, ways, protocol, UNIT_KB, amount), seeds(amount)
        )
        for name, ways in ARRANGEMENTS.items()
        for protocol in PROTOCOLS
    }
    for adu in ADU_KB:
        made[_case("1:3-hop", "udp", adu)] = Case(scenario(4, [(0, 3)], "udp", adu, amount), seeds(amount))
    one = scenario(2, [(0, 1)], "tcp", UNIT_KB, amount)
    for standard, rate in RAW.items():
        found = one if standard == "802.11a" else one.set("radio", {"standard": standard, "data_rate": rate})
        made[_typical(standard)] = Case(found, seeds(amount))
    few = min(total(amount), LOSSY_BYTES) // (UNIT_KB * KB) * UNIT_KB * KB
    lossy = one.set("radio.errors", {"model": "packet", "rate": LOST, "level": "network"})
    made[LOSSY] = Case(lossy.set("flows.stream0.application.bytes", few).set("duration", 3600.0), seeds(amount))
    return made


def _rows(measured: Measured) -> list[Row]:
    rows = []
    for name, ways in ARRANGEMENTS.items():
        for protocol in PROTOCOLS:
            case = _case(name, protocol)
            each = [mbps(measured, case, stream) for stream in range(len(ways))]
            clips = Sample.of(lambda *rates: float(sum(math.floor(rate / CLIP_MBPS) for rate in rates)), *each)
            rows.append(value("H14", case, f"clips of {CLIP_MBPS:g} Mb/s", "", clips))
            for stream, rate in enumerate(each) if name == HYBRID else ():
                named = f"{case}, stream {stream + 1}"
                rows.append(value("H14", named, "bandwidth", "Mb/s", rate))
                rows.append(value("H14", named, "loss", "%", loss(measured, case, (stream,))))
    for standard, (low, high) in TYPICAL.items():
        case = _typical(standard)
        rows.append(value("H14", case, "bandwidth", "Mb/s", mbps(measured, case), low=low, high=high, note="Table I"))
    lost = {_case("1:3-hop", "udp", adu): loss(measured, _case("1:3-hop", "udp", adu)) for adu in ADU_KB}
    rows += REGISTER.rows("H14.high-loss", "UDP over three hops", "loss", "%", lost)
    return [*rows, REGISTER.row("H14.order-of-kbps", LOSSY, "bandwidth", "Mb/s", mbps(measured, LOSSY))]


def _notes(table: Table) -> list[str]:
    def clips(protocol: Protocol) -> str:
        counts = (
            f"{number(table, _case(name, protocol), f'clips of {CLIP_MBPS:g} Mb/s'):g} ({name})"
            for name in ARRANGEMENTS
        )
        return ", ".join(counts)

    lost = ", ".join(f"{number(table, _case('1:3-hop', 'udp', adu), 'loss'):.1f}" for adu in ADU_KB)
    return [
        f"Clips of {CLIP_MBPS:g} Mb/s that fit: {clips('udp')} over UDP; {clips('tcp')} over TCP.",
        f"Over three hops UDP loses {lost} % in units of {', '.join(map(str, ADU_KB))} KB; TCP delivers everything.",
        f"TCP that loses 10 % of its packets carries {number(table, LOSSY, 'bandwidth'):.2f} Mb/s over one hop.",
    ]


def _figures(table: Table) -> list[tuple[str, Figure]]:
    from hopcast.figures import Group, bars

    metric = f"clips of {CLIP_MBPS:g} Mb/s"
    groups = [
        Group.of(protocol.upper(), [table[_case(name, protocol), metric] for name in ARRANGEMENTS])
        for protocol in PROTOCOLS
    ]
    return [(f"Clips of {CLIP_MBPS:g} Mb/s that fit", bars(list(ARRANGEMENTS), groups, y="clips"))]


EXPERIMENTS = (
    Experiment(
        "H14",
        "What the paper measures by",
        "Table I has typical bandwidths. A clip of DVD quality needs 4 Mb/s. Without congestion control a stream over several hops "
        "loses much, and a TCP that lost as much would carry kb/s (abstract, section III-A).",
        _setup,
        _cases,
        _rows,
        _figures,
        _notes,
    ),
)
