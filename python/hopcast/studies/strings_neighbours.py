"""P5: a TCP between every two neighbours of a string, and one over the whole of it.

M. Petrovic, M. Aboelaze: "Performance of TCP/UDP under Ad Hoc IEEE802.11", section 4.3.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import product
from typing import TYPE_CHECKING

from hopcast.numbers import significant
from hopcast.studies.experiment import Amount, Case, Experiment, Measured, Parameter, Table
from hopcast.studies.h2o_places import number
from hopcast.studies.rows import Row, Sample, claim, value
from hopcast.studies.strings import (
    CHANNELS,
    ERRORS,
    FEC,
    IDEAL,
    NODES,
    NS2_WINDOW,
    SEGMENTS,
    Channel,
    kbps,
    parameters,
    rts_text,
    scenario,
    seeds,
    tcp,
)
from hopcast.theory import jain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NEIGHBOURS = tuple(f"{node}-{node + 1}" for node in range(NODES - 1))
LONG = f"0-{NODES - 1}"
CONNECTIONS = (*NEIGHBOURS, LONG)
"""Streams, in this order."""
MIDDLE = ("2-3", "3-4")
"""Which section 4.3 calls the middle ones."""
LONG_KBPS = 1.0
"""kb/s: "a very low rate (about 1 kbps)"."""
FAILS = 0.05
"""A connection over many hops "fails" beside those over one: at most so much of their mean."""
WINDOWS = (NS2_WINDOW, 1)
"""Segments: chosen, and beside it."""

Key = tuple[int, bool, Channel, int]
"""Segment, RTS, channel, window."""
KEYS: tuple[Key, ...] = tuple(product(SEGMENTS, (False, True), CHANNELS, WINDOWS))


def _setup(amount: Amount) -> list[Parameter]:
    return [
        *parameters(amount, _seconds(amount), f"{NODES} nodes in a row", "with and without"),
        Parameter(
            "connections",
            "from each node to the next one, and from node 0 to node 7",
            "section 4.3: between every two neighbours, and the first and the last; directions are not stated",
        ),
        Parameter("segments", "200 and 1000 B", "not stated for Fig. 4: those of Figs. 2 and 3"),
        Parameter("window", f"{NS2_WINDOW} segments; 1 beside", "not stated: ns-2's default; Fig. 1"),
    ]


def _seconds(amount: Amount) -> float:
    return amount.pick(quick=30.0, full=200.0)


def _cases(amount: Amount) -> Mapping[str, Case]:
    made = {}
    for key in KEYS:
        segment, rts, channel, window = key
        ends = [*((node, node + 1) for node in range(NODES - 1)), (0, NODES - 1)]
        flows = [tcp(f"stream{stream}", a, b, segment, window) for stream, (a, b) in enumerate(ends)]
        name = _case(*key)
        made[name] = Case(
            scenario(name, flows, rts=rts, channel=channel, seconds=_seconds(amount)), seeds(amount)
        )  # fmt: skip
    return made


def _rows(measured: Measured) -> list[Row]:
    rows = []
    rate = {(key, name): kbps(measured, _case(*key), at) for key in KEYS for at, name in enumerate(CONNECTIONS)}
    short = {key: [rate[key, name] for name in NEIGHBOURS] for key in KEYS}
    total = {key: Sample.of(lambda *each: math.fsum(each), *short[key], rate[key, LONG]) for key in KEYS}
    mean = {key: Sample.of(lambda *each: math.fsum(each) / len(each), *short[key]) for key in KEYS}
    fair = {key: Sample.of(lambda *each: jain(each) if any(each) else math.nan, *short[key]) for key in KEYS}
    middle = {
        key: Sample.of(lambda a, b, m: (a + b) / 2.0 / m if m else math.nan, *(rate[key, n] for n in MIDDLE), mean[key])
        for key in KEYS
    }
    for key in KEYS:
        case = _case(*key)
        for name in NEIGHBOURS:
            rows.append(value("P5", f"{case}, {name}", "goodput", "kb/s", rate[key, name]))
        if key[3] == NS2_WINDOW:
            note = "“About 1 kbps”, in all cases"
            rows.append(value("P5", f"{case}, {LONG}", "goodput", "kb/s", rate[key, LONG], paper=LONG_KBPS, note=note))
        else:
            rows.append(value("P5", f"{case}, {LONG}", "goodput", "kb/s", rate[key, LONG]))
        rows.append(value("P5", case, "total", "kb/s", total[key]))
        rows.append(value("P5", case, "Jain's index over one hop", "", fair[key]))
        rows.append(value("P5", case, "middle / mean over one hop", "", middle[key]))
    for segment, rts, channel in product(SEGMENTS, (False, True), CHANNELS):
        key = (segment, rts, channel, NS2_WINDOW)
        share = rate[key, LONG] / mean[key]
        note = f"“A multihop connection fails in the presence of many single hop transfers”: at most {FAILS:.0%} of their mean"
        rows.append(claim("P5", _short(*key), f"{LONG} / mean over one hop", "", share, high=FAILS, note=note))
    for channel in CHANNELS:
        ratio = total[1000, False, channel, NS2_WINDOW] / total[200, False, channel, NS2_WINDOW]
        note = "Without RTS/CTS larger packets raise the total (Figs. 4(a), (c))"
        rows.append(claim("P5", f"no RTS, {channel}, 1000 B / 200 B", "total ratio", "", ratio, low=1.0, note=note))
    for segment, channel in product(SEGMENTS, CHANNELS):
        off, on = (segment, False, channel, NS2_WINDOW), (segment, True, channel, NS2_WINDOW)
        case = f"{segment} B, {channel}"
        note = "RTS/CTS lowers throughput"
        rows.append(
            claim("P5", f"{case}, RTS / no RTS", "total ratio", "", total[on] / total[off], high=1.0, note=note)
        )
        note = "RTS/CTS “does not improve fairness”"
        rows.append(
            claim("P5", f"{case}, RTS − no RTS", "Jain's index", "", fair[on] - fair[off], high=0.0, note=note)
        )  # fmt: skip
    for segment, other in product(SEGMENTS, (IDEAL, ERRORS)):
        gain = middle[segment, False, FEC, NS2_WINDOW] - middle[segment, False, other, NS2_WINDOW]
        note = "FEC is fairer to the middle connections than with or without errors (Figs. 4(a), (c))"
        case = f"{segment} B, no RTS, FEC − {other}"
        rows.append(claim("P5", case, "middle / mean over one hop", "", gain, low=0.0, note=note))
    return rows


def _notes(table: Table) -> list[str]:
    def of(metric: str, segment: int, rts: bool, channel: Channel, window: int = NS2_WINDOW) -> float:
        return number(table, _case(segment, rts, channel, window), metric)

    def long(channel: Channel, window: int) -> str:
        return " and ".join(
            significant(number(table, f"{_case(segment, False, channel, window)}, {LONG}", "goodput"))
            for segment in SEGMENTS
        )

    fair, middle = "Jain's index over one hop", "middle / mean over one hop"
    return [
        "The connection over seven hops, no RTS, segments of 200 and 1000 B, has "
        + "; ".join(f"{long(channel, NS2_WINDOW)} kb/s ({channel})" for channel in CHANNELS)
        + f". With a window of one segment, as in Fig. 1: {'; '.join(f'{long(channel, 1)} kb/s ({channel})' for channel in CHANNELS)}. "
        "Each of its segments waits behind those of the connection over one hop in the queue of every node.",
        "Totals without RTS, segments of 1000 B: "
        + ", ".join(f"{significant(of('total', 1000, False, channel))} kb/s ({channel})" for channel in CHANNELS)
        + "; with RTS "
        + ", ".join(significant(of("total", 1000, True, channel)) for channel in CHANNELS)
        + ".",
        "Jain's index over the seven connections of one hop, 1000 B: "
        + ", ".join(
            f"{of(fair, 1000, False, channel):.2f} without and {of(fair, 1000, True, channel):.2f} with RTS ({channel})"
            for channel in CHANNELS
        )
        + ". The middle connections have "
        + ", ".join(f"{of(middle, 1000, False, channel):.2f} ({channel})" for channel in CHANNELS)
        + " of the mean without RTS. With a window of one segment: "
        + ", ".join(f"{of(middle, 1000, False, channel, 1):.2f} ({channel})" for channel in CHANNELS)
        + ". FEC makes the channel whole here, so that the middle fares as on the ideal one. With errors nobody holds the air for long, as the paper "
        "says of them in the same section.",
    ]


def _figures(table: Table) -> list[tuple[str, Figure]]:
    from hopcast.figures import Group, bars

    def drawn(segment: int, rts: bool) -> Figure:
        groups = []
        for channel in CHANNELS:
            found = [table[f"{_case(segment, rts, channel, NS2_WINDOW)}, {name}", "goodput"] for name in CONNECTIONS]
            groups.append(Group.of(channel, found))
        return bars(CONNECTIONS, groups, y="goodput, kb/s")

    return [
        (f"Goodput of each connection, {segment} B, {rts_text(rts)}", drawn(segment, rts))
        for segment, rts in product(SEGMENTS, (False, True))
    ]


def _case(segment: int, rts: bool, channel: Channel, window: int) -> str:
    return f"{_short(segment, rts, channel, window)}, window {window}"


def _short(segment: int, rts: bool, channel: Channel, _window: int) -> str:
    return f"{segment} B, {rts_text(rts)}, {channel}"


EXPERIMENTS = (
    Experiment(
        "P5",
        "A TCP between every two neighbours and one over all of a string",
        "Seven bulk TCPs over one hop and one over seven (Fig. 4): the one over seven hops gets about 1 kb/s; larger packets raise the total; "
        "FEC is fairer to the middle; RTS/CTS lowers throughput and does not help fairness.",
        _setup,
        _cases,
        _rows,
        _figures,
        _notes,
    ),
)
