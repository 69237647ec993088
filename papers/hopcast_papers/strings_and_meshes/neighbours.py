"""P5: a TCP between each pair of neighbours of a string, and one over the whole of it.

M. Petrovic, M. Aboelaze: "Performance of TCP/UDP under Ad Hoc IEEE802.11", section 4.3.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING

from hopcast.lab.experiment import Amount, Case, Experiment, Measured, Parameter, Table
from hopcast.lab.rows import Row, Sample, average, value
from hopcast.numbers import significant
from hopcast.theory import jain
from hopcast_papers.h2o.places import number
from hopcast_papers.notes import capitalized, outcome
from hopcast_papers.register import REGISTER
from hopcast_papers.strings_and_meshes.string import (
    CHANNELS,
    ERRORS,
    FEC,
    IDEAL,
    LEFT_BER,
    NODES,
    NS2_WINDOW,
    SEGMENTS,
    START,
    Channel,
    kbps,
    one_tcp,
    one_tcp_name,
    parameters,
    rts_text,
    scenario,
    seeds,
    tcp,
    with_ber,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NEIGHBOURS = tuple(f"{node}-{node + 1}" for node in range(NODES - 1))
LONG = f"0-{NODES - 1}"
CONNECTIONS = (*NEIGHBOURS, LONG)
"""Streams, in this order."""
MIDDLE = ("2-3", "3-4")
"""Nodes that section 4.3 calls the middle ones."""
LONG_KBPS = 1.0
"""kb/s: "a very low rate (about 1 kbps)"."""
RESIDUAL = f"1000 B, no RTS, {LEFT_BER:g} of the bits wrong"
DELIVERED = "segments delivered in a run"
FIRST = f"{LONG} first"
AHEAD = 1.0
"""Seconds by which the connection over all hops begins before the others, in one alternative."""
WINDOWS = (NS2_WINDOW, 1)
"""Segments: the chosen size, and alternatives."""

Key = tuple[int, bool, Channel, int]
"""Segment, RTS, channel, window."""
KEYS: tuple[Key, ...] = tuple(product(SEGMENTS, (False, True), CHANNELS, WINDOWS))


def _setup(amount: Amount) -> list[Parameter]:
    return [
        *parameters(amount, f"{NODES} nodes in a row", "with and without", seconds=_seconds(amount)),
        Parameter(
            "connections",
            "from each node to the next one, and from node 0 to node 7",
            "section 4.3: between every two neighbours, and the first and the last; directions are not stated",
        ),
        Parameter("segments", "200 and 1000 B", "not stated for Fig. 4: those of Figs. 2 and 3"),
        Parameter(
            "bit errors with FEC",
            f"none; beside, {LEFT_BER:g} at all times, at the rate without FEC",
            "section 3 has 10⁻⁶, far less than matters; varied",
        ),
        Parameter(FIRST, f"beside, with RTS: by {AHEAD:g} s", "the order is not stated; all at once otherwise"),
        Parameter("one connection alone", "as in P1, over one hop", "what those over one hop are compared with"),
        Parameter("window", f"{NS2_WINDOW} segments; 1 beside", "not stated: ns-2's default; Fig. 1"),
        Parameter(f"seeds with {NS2_WINDOW} segments", f"{len(_many(amount))}", "what arrives there is chance"),
    ]


def _many(amount: Amount) -> tuple[int, ...]:
    """Seeds of the cases that are compared with the paper's: in a short run the throughput of a connection over many
    hops depends on chance.
    """
    return amount.pick(quick=tuple(range(1, 13)), full=seeds(amount))


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
            scenario(name, flows, rts=rts, channel=channel, seconds=_seconds(amount)),
            _many(amount) if window == NS2_WINDOW else seeds(amount),
            beside=window != NS2_WINDOW,
        )  # fmt: skip
    for segment, rts, channel in product(SEGMENTS, (False, True), CHANNELS):
        name = _alone(segment, rts, channel)
        # As in P1, so that it is simulated once.
        made[name] = one_tcp(name, 1, segment, NS2_WINDOW, rts, channel, amount)
    for segment, channel in product(SEGMENTS, CHANNELS):
        plain = made[_case(segment, True, channel, NS2_WINDOW)].scenario
        earlier = plain.set(f"flows.stream{CONNECTIONS.index(LONG)}.start", START - AHEAD)
        made[_first(segment, channel)] = Case(earlier, seeds(amount), beside=True)
    left = with_ber(made[_case(1000, False, ERRORS, NS2_WINDOW)].scenario, LEFT_BER)
    return made | {RESIDUAL: Case(left, seeds(amount), beside=True)}


def _middle(short: Sequence[Sample]) -> Sample:
    """Mean of the middle connections, as a part of the mean over one hop; `short` goes by `NEIGHBOURS`."""
    return average(short[NEIGHBOURS.index(name)] for name in MIDDLE) / average(short)


def _segments(measured: Measured, case: str, segment: int) -> Sample:
    """Number of segments that the connection over all hops delivered in a run."""
    octets = measured.flow(case, f"stream{CONNECTIONS.index(LONG)}", "received_bytes")
    return Sample.of(lambda received: received / segment, octets)


def _rows(measured: Measured) -> list[Row]:
    rows = []
    rate = {(key, name): kbps(measured, _case(*key), at) for key in KEYS for at, name in enumerate(CONNECTIONS)}
    short = {key: [rate[key, name] for name in NEIGHBOURS] for key in KEYS}
    total = {key: Sample.of(lambda *each: math.fsum(each), *short[key], rate[key, LONG]) for key in KEYS}
    mean = {key: average(short[key]) for key in KEYS}
    fair = {key: Sample.of(lambda *each: jain(each) if any(each) else math.nan, *short[key]) for key in KEYS}
    middle = {key: _middle(short[key]) for key in KEYS}
    for key in KEYS:
        case = _case(*key)
        for name in NEIGHBOURS:
            rows.append(value("P5", f"{case}, {name}", "goodput", "kb/s", rate[key, name]))
        paper = LONG_KBPS if key[3] == NS2_WINDOW else None
        rows.append(value("P5", f"{case}, {LONG}", "goodput", "kb/s", rate[key, LONG], paper=paper))
        rows.append(value("P5", case, "total", "kb/s", total[key]))
        rows.append(value("P5", case, "Jain's index over one hop", "", fair[key]))
        rows.append(value("P5", case, "middle / mean over one hop", "", middle[key]))
    residual = _middle([kbps(measured, RESIDUAL, at) for at in range(len(NEIGHBOURS))])
    rows.append(value("P5", RESIDUAL, "middle / mean over one hop", "", residual))
    chosen = [key for key in KEYS if key[3] == NS2_WINDOW]
    rates = [rate[key, LONG] for key in chosen]
    rows.append(value("P5", f"{LONG}, the mean of {len(rates)}", "goodput", "kb/s", average(rates)))
    passed = {f"{_short(*key)}, {LONG}": _segments(measured, _case(*key), key[0]) for key in chosen}
    rows += REGISTER.rows("P5.passes-data", LONG, DELIVERED, "", passed)
    for segment, channel in product(SEGMENTS, CHANNELS):
        case = _first(segment, channel)
        rows.append(value("P5", f"{case}, {LONG}", DELIVERED, "", _segments(measured, case, segment)))
    shares = {f"{_short(*key)}, window {NS2_WINDOW}": rate[key, LONG] / mean[key] for key in chosen}
    rows += REGISTER.rows("P5.multihop-fails", "", f"{LONG} / mean over one hop", "", shares)
    affected = {}
    for segment, rts, channel, window in chosen:
        alone = kbps(measured, _alone(segment, rts, channel))
        # There are more replications of those together than of one alone, whose mean stands for it.
        affected[f"{_short(segment, rts, channel, window)}, the most / alone"] = REGISTER.picked(
            "P5.single-hops",
            [
                Sample.of(lambda rate, of=alone.mean: rate / of if of else math.nan, each)
                for each in short[segment, rts, channel, window]
            ],
        )
    rows += REGISTER.rows("P5.single-hops", "one hop", "goodput ratio", "", affected)
    larger = {
        f"no RTS, {channel}, 1000 B / 200 B": total[1000, False, channel, NS2_WINDOW]
        / total[200, False, channel, NS2_WINDOW]
        for channel in CHANNELS
    }
    rows += REGISTER.rows("P5.segments", "1000 B / 200 B", "total ratio", "", larger)
    lower, unfair = {}, {}
    for segment, channel in product(SEGMENTS, CHANNELS):
        off, on = (segment, False, channel, NS2_WINDOW), (segment, True, channel, NS2_WINDOW)
        lower[f"{segment} B, {channel}, RTS / no RTS"] = total[on] / total[off]
        unfair[f"{segment} B, {channel}, RTS − no RTS"] = fair[on] - fair[off]
    rows += REGISTER.rows("P5.rts-throughput", "RTS / no RTS", "total ratio", "", lower)
    rows += REGISTER.rows("P5.rts-fairness", "RTS − no RTS", "Jain's index", "", unfair)
    gains = {
        f"{segment} B, no RTS, FEC − {other}": middle[segment, False, FEC, NS2_WINDOW]
        - middle[segment, False, other, NS2_WINDOW]
        for segment, other in product(SEGMENTS, (IDEAL, ERRORS))
    }
    plain = [(segment, False, NS2_WINDOW) for segment in SEGMENTS]
    less = {
        f"{segment} B, no RTS, errors / ideal": total[segment, rts, ERRORS, window] / total[segment, rts, IDEAL, window]
        for segment, rts, window in plain
    }
    rows += REGISTER.rows("P5.errors-throughput", "errors / ideal", "total ratio", "", less)
    fairer = {
        f"{segment} B, no RTS, errors − ideal": fair[segment, rts, ERRORS, window] - fair[segment, rts, IDEAL, window]
        for segment, rts, window in plain
    }
    rows += REGISTER.rows("P5.errors-fairness", "errors − ideal", "Jain's index", "", fairer)
    return rows + REGISTER.rows("P5.fec-middle", "FEC", "middle / mean over one hop, more", "", gains)


def _notes(table: Table) -> list[str]:
    def of(metric: str, segment: int, rts: bool, channel: Channel, window: int = NS2_WINDOW) -> float:
        return number(table, _case(segment, rts, channel, window), metric)

    def long(channel: Channel, window: int) -> str:
        return " and ".join(
            significant(number(table, f"{_case(segment, False, channel, window)}, {LONG}", "goodput"))
            for segment in SEGMENTS
        )

    cells = {_short(*key): table[f"{_short(*key)}, {LONG}", DELIVERED] for key in KEYS if key[3] == NS2_WINDOW}
    silent = [case for case, row in cells.items() if not row.measured]
    runs = max(row.replications for row in cells.values())
    fair, middle = "Jain's index over one hop", "middle / mean over one hop"
    return [
        "What the connection over seven hops has without RTS, with segments of 200 and 1000 B. "
        + " ".join(
            f"{capitalized(channel)}: {long(channel, NS2_WINDOW)} kb/s, and with a window of one segment, as in Fig. 1, {long(channel, 1)} kb/s."
            for channel in CHANNELS
        )
        + " Each of its segments waits behind those of the connection over one hop in the queue of every node. "
        + (
            f"Nothing arrives in any of {runs} runs with " + " and ".join(silent)
            if silent
            else "Something arrives in each of the cases"
        )
        + f", for a window of {NS2_WINDOW} segments.",
        "The order of the starts decides. These are the segments that the connection over seven hops delivers with RTS if it begins "
        f"{AHEAD:g} s before the others. "
        + " ".join(
            f"Of {segment} B ({channel}): {significant(number(table, f'{_first(segment, channel)}, {LONG}', DELIVERED))} in place of "
            f"{significant(number(table, f'{_short(segment, True, channel, NS2_WINDOW)}, {LONG}', DELIVERED))}."
            for segment, channel in product(SEGMENTS, CHANNELS)
        )
        + f" That it is able to transfer data in all cases {outcome('P5.passes-data', table)}.",
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
        + ". FEC makes the channel whole here, so that the middle has as little as on the ideal one. With errors no node holds the air for long, as the paper "
        "says of them in the same section. What it has of FEC would then come from errors that are left. With "
        f"{LEFT_BER:g} of the bits wrong at all times the middle has {number(table, RESIDUAL, middle):.2f} of the mean, more than the "
        f"{of(middle, 1000, False, IDEAL):.2f} of the ideal channel. As many make P4's large segments collapse as they do in the paper. That FEC "
        f"is fairer than errors alone does not follow from them, and {outcome('P5.fec-middle', table)}.",
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


def _first(segment: int, channel: Channel) -> str:
    return f"{_short(segment, True, channel, NS2_WINDOW)}, {FIRST}"


def _alone(segment: int, rts: bool, channel: Channel) -> str:
    return one_tcp_name(1, segment, NS2_WINDOW, rts, channel)


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
