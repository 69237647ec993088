"""P6: bulk TCP down the columns of a mesh, TCP at constant rates along its rows.

M. Petrovic, M. Aboelaze: "Performance of TCP/UDP under Ad Hoc IEEE802.11", section 5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import product
from typing import TYPE_CHECKING

from hopcast.lab.experiment import Amount, Case, Document, Experiment, Measured, Parameter, Table
from hopcast.lab.rows import WHICH, Row, Sample, average, ratio_of_means, value
from hopcast.numbers import significant
from hopcast.scenario import Scenario
from hopcast_papers.h2o.places import number
from hopcast_papers.notes import outcome
from hopcast_papers.register import REGISTER
from hopcast_papers.strings_and_meshes.string import (
    CHANNELS,
    ERRORS,
    FEC,
    IDEAL,
    NS2_WINDOW,
    SEGMENTS,
    START,
    Channel,
    kbps,
    parameters,
    scenario,
    tcp,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIDE = 6
PLCP_OCTETS = 24
"""144 bits of preamble and 48 of header, of each frame."""
RATES = (23.3, 233.3)
"""kb/s of each constant-rate source. The intervals that the text gives contradict them; see the notes."""
CBR_PACKET = 1000
"""Bytes."""
BULK = range(SIDE)
"""Streams: bulk connections 1 to 6, from the top row to the bottom row; those at constant rates follow."""
MIDDLE = range(1, SIDE - 1)
MORE = f"{RATES[1]:g} kb/s, FEC / ideal"
"""The paper's "some cases" with more throughput than without errors."""
CHANCE = f"{RATES[1]:g} kb/s, other runs of the ideal channel, less by FEC's share / ideal"
"""The ideal channel in FEC's place, as a control."""
RUNS = "runs with a connection that has more"

Key = tuple[int, float, Channel]
"""Segment of the bulk connections, rate of the others, channel."""
KEYS: tuple[Key, ...] = tuple(product(SEGMENTS, RATES, CHANNELS))
SHORT_RUNS = (10.0, 20.0, 40.0)
"""Seconds: the paper gives no length of a run, and a connection that starves for as long looks as if it had failed."""
NOTIFIED = "DSDV told of lost frames"
SAFE = "headers safe"
"""Kind of errors: no bit of a preamble or header is wrong."""
ARP = "ARP as in ns-2"
BESIDE: Mapping[str, Callable[[Scenario], Scenario]] = {
    NOTIFIED: lambda made: made.set("nodes.n.routing.link_layer_notification", True),
    SAFE: lambda made: made.set("radio.errors.headers", False),
    ARP: lambda made: made.set("nodes.n.arp.profile", "ns-2"),
}
"""Alternatives to the cases with errors."""


def _setup(amount: Amount) -> list[Parameter]:
    return [
        *parameters(amount, f"{SIDE} rows of {SIDE} nodes", "with", seconds=_seconds(amount), count=len(seeds(amount))),
        Parameter("bulk", "TCP from each node of the top row down its column, 5 hops", "section 5; “6 hops” there"),
        Parameter(
            "segments of the bulk",
            "200 and 1000 B",
            "“fixed to 1000 bytes”, and yet “larger packet sizes show better throughput”: those of Figs. 2 and 3",
        ),
        Parameter("constant rate", "TCP from the left end of each row to the right, packets of 1000 B", "section 5"),
        Parameter("rates", "23.3 and 233.3 kb/s", "section 5; “every 1.5 seconds” and “0.05 seconds” there"),
        Parameter("window", f"{NS2_WINDOW} segments", "not stated: ns-2's default"),
        Parameter(NOTIFIED, "beside, with errors", "varied: ns-2's `use_mac_` 1"),
        Parameter(SAFE, "beside, with errors", "varied: what is left if only the octets that a frame carries err"),
        Parameter(
            "addresses", f"known; with errors, beside, {ARP}", "varied: ns-2's nodes ask for them, and one packet waits"
        ),
    ]


def _seconds(amount: Amount) -> float:
    """Longer than TCP's longest timeout (60 s, RFC 6298, section 2.5, and ns-2's `maxrto_`): a connection that waits
    for one does not count as dead.
    """
    return amount.pick(quick=100.0, full=200.0)


def seeds(amount: Amount) -> tuple[int, ...]:
    """The throughput of a connection over five hops depends on chance."""
    return tuple(range(1, amount.pick(quick=11, full=21)))


def _cases(amount: Amount) -> Mapping[str, Case]:
    made = {}
    for key in KEYS:
        name = case_name(*key)
        plain = mesh(name, key, amount)
        made[name] = Case(plain, seeds(amount))
        if key[2] == ERRORS:
            made |= {
                _beside(key, setting): Case(change(plain), seeds(amount), beside=True)
                for setting, change in BESIDE.items()
            }
    return made


def mesh(name: str, key: Key, amount: Amount) -> Scenario:
    """The mesh with its twelve connections."""
    segment, rate, channel = key
    down = [tcp(f"stream{at}", SIDE * (SIDE - 1) + at, at, segment, NS2_WINDOW) for at in BULK]
    along = [
        tcp(
            f"stream{SIDE + row}",
            SIDE * row,
            SIDE * row + SIDE - 1,
            CBR_PACKET,
            NS2_WINDOW,
            {"kind": "cbr", "rate": f"{rate:g} kb/s", "packet": CBR_PACKET},
        )
        for row in range(SIDE)
    ]
    return scenario(
        name,
        [*down, *along],
        rts=True,
        channel=channel,
        seconds=_seconds(amount),
        places={"shape": "grid", "columns": SIDE, "spacing": "200 m"},
        nodes=SIDE * SIDE,
    )


def _rows(measured: Measured) -> list[Row]:
    rows = []
    bulk = {(key, at): kbps(measured, case_name(*key), at) for key in KEYS for at in BULK}
    mean = {key: average(bulk[key, at] for at in BULK) for key in KEYS}
    constant = {key: average(kbps(measured, case_name(*key), SIDE + row) for row in range(SIDE)) for key in KEYS}
    for key in KEYS:
        case = case_name(*key)
        for at in BULK:
            rows.append(value("P6", f"{case}, bulk {at + 1}", "goodput", "kb/s", bulk[key, at]))
        rows.append(value("P6", case, "bulk, mean", "kb/s", mean[key]))
        rows.append(value("P6", case, "constant rate, mean", "kb/s", constant[key]))
        rows.append(value("P6", case, "bulk connections without a packet", "", _failed(bulk, key)))
    little, percents, silent = {}, {}, {}
    for segment, rate in product(SEGMENTS, RATES):
        ideal, errors, fec = ((segment, rate, channel) for channel in (IDEAL, ERRORS, FEC))
        case = f"{segment} B, {rate:g} kb/s"
        for setting in BESIDE:
            share = average(kbps(measured, _beside(errors, setting), at) for at in BULK)
            rows.append(value("P6", f"{case}, errors, {setting} / ideal", "bulk, mean, ratio", "", share / mean[ideal]))
        little[f"{case}, errors / ideal"] = mean[errors] / mean[ideal]
        percents[f"{case}, FEC / ideal"] = Sample.of(lambda ratio: 100.0 * ratio, mean[fec] / mean[ideal])
        silent[f"{case}, FEC, silent"] = _failed(bulk, fec)
    rows += REGISTER.rows("P6.barely", "errors / ideal", "bulk, mean, ratio", "", little)
    rows += [value("P6", case, "bulk, mean", "%", percent) for case, percent in percents.items()]
    note = "“About 20 % to 50 % on average of the throughput without any errors”"
    rows.append(
        value("P6", f"FEC / ideal, the mean of {len(percents)}", "bulk, mean", "%", average(percents.values()), low=20.0, high=50.0, note=note)
    )  # fmt: skip
    rows += REGISTER.rows("P6.fec-all", "FEC", "bulk connections without a packet", "", silent)  # fmt: skip
    larger = {
        f"{rate:g} kb/s, {channel}, 1000 B / 200 B": mean[1000, rate, channel] / mean[200, rate, channel]
        for rate, channel in product(RATES, CHANNELS)
    }
    rows += REGISTER.rows("P6.segments", "1000 B / 200 B", "bulk, mean, ratio", "", larger)
    low, high = (_failed(bulk, (200, rate, ERRORS), MIDDLE) for rate in RATES)
    case = "200 B, errors, middle"
    rows.append(value("P6", f"{case}, 23.3 kb/s", "connections without a packet", "", low))
    for setting in BESIDE:
        rates = [kbps(measured, _beside((200, RATES[1], ERRORS), setting), at) for at in MIDDLE]
        silent_then = Sample.of(lambda *each: float(sum(rate == 0.0 for rate in each)), *rates)
        rows.append(value("P6", f"{case}, 233.3 kb/s, {setting}", "connections without a packet", "", silent_then))
    for rate, seconds in product(RATES, SHORT_RUNS):
        found = measured.sample(case_name(200, rate, ERRORS), _silent_for(seconds))
        rows.append(value("P6", f"{case}, {rate:g} kb/s, in {seconds:g} s", "connections without a packet", "", found))
    rows.append(REGISTER.row("P6.middle-fails", f"{case}, 233.3 kb/s", "connections without a packet", "", high))
    interfering = {
        f"{segment} B, {rate:g} kb/s, FEC / ideal": constant[segment, rate, FEC] / constant[segment, rate, IDEAL]
        for segment, rate in product(SEGMENTS, RATES)
    }
    rows += REGISTER.rows("P6.interfering", "FEC / ideal", "constant rate, mean, ratio", "", interfering)
    for segment in SEGMENTS:
        for channel in (IDEAL, FEC):
            ratio = mean[segment, RATES[0], channel] / mean[segment, RATES[1], IDEAL]
            rows.append(value("P6", _relieved(segment, channel), "bulk, mean, ratio", "", ratio))
    return rows + _more(
        {(segment, at): bulk[(segment, RATES[1], FEC), at] for segment, at in product(SEGMENTS, BULK)},
        {(segment, at): bulk[(segment, RATES[1], IDEAL), at] for segment, at in product(SEGMENTS, BULK)},
    )


def _more(fec: Mapping[tuple[int, int], Sample], ideal: Mapping[tuple[int, int], Sample]) -> list[Row]:
    """Throughput of connections with FEC compared with that without errors, by segment and place.

    The paper says "in some cases" of connections: this judges the one with the largest ratio of means. A single run
    says nothing about them, since they starve in turns: in one run of twelve a connection has more than in another,
    whatever FEC does. The table also shows in how many runs one has more, and in how many with other runs of the
    ideal channel in FEC's place. If all true ratios were 1, the largest would pass in 5 % of studies in the quick
    form, and as often in the full one (600 of each, both channels drawn from the runs of the ideal one).
    """
    ratios = {
        f"{segment} B, {MORE}, {at + 1}": ratio_of_means(fec[segment, at], ideal[segment, at]) for segment, at in fec
    }
    rows = REGISTER.rows("P6.fec-above-ideal", MORE, "goodput ratio", "", ratios)
    share = {
        segment: ratio_of_means(*(average(of[segment, at] for at in BULK) for of in (fec, ideal))).mean
        for segment in SEGMENTS
    }
    other = {
        (segment, at): Sample(tuple(share[segment] * rate for rate in (*found.values[1:], *found.values[:1])))
        for (segment, at), found in ideal.items()
    }
    for case, some in ((MORE, fec), (CHANCE, other)):
        gains = [some[key] - ideal[key] for key in ideal]
        rows.append(value("P6", case, RUNS, "", Sample.of(lambda *each: float(max(each) > 0.0), *gains)))
    return rows


def _silent_for(seconds: float) -> Callable[[Document], float]:
    """Number of middle connections of which nothing has arrived this long after their start."""

    def found(document: Document) -> float:
        firsts = [document["flows"][at]["first_arrival_s"] for at in MIDDLE]
        return float(sum(first is None or first > START + seconds for first in firsts))

    return found


def _failed(bulk: Mapping[tuple[Key, int], Sample], key: Key, of: range = BULK) -> Sample:
    """Number of connections that have delivered nothing."""
    return Sample.of(lambda *each: float(sum(rate == 0.0 for rate in each)), *(bulk[key, at] for at in of))


def _notes(table: Table) -> list[str]:
    def mean(segment: int, rate: float, channel: Channel, metric: str = "bulk, mean") -> str:
        return significant(number(table, case_name(segment, rate, channel), metric))

    def kept(case: str) -> str:
        return ", ".join(
            f"{number(table, f'{segment} B, {rate:g} kb/s, {case}', 'bulk, mean, ratio'):.3f}"
            for segment, rate in product(SEGMENTS, RATES)
        )

    def fails(setting: str) -> str:
        return significant(
            number(table, f"200 B, errors, middle, {RATES[1]:g} kb/s{setting}", "connections without a packet"), 2
        )

    return [
        f"A packet of 1000 B every 0.05 s would be {8 * CBR_PACKET / 0.05 / 1e3:g} kb/s, and every 1.5 s "
        f"{8 * CBR_PACKET / 1.5 / 1e3:.1f} kb/s; 233.3 kb/s is one every {8 * CBR_PACKET / 233.3:.0f} ms and 23.3 kb/s one every "
        f"{8 * CBR_PACKET / 23.3:.0f} ms. The rates are kept.",
        "What a bulk connection has on average (ideal, errors, FEC). "
        + " ".join(
            f"With {segment} B: {', '.join(mean(segment, rate, channel) for channel in CHANNELS)} kb/s next to {rate:g} kb/s."
            for segment in (1000, 200)
            for rate in RATES
        ),
        "With errors and without FEC the bulk connections keep "
        + kept("errors / ideal")
        + f" of what the ideal channel carries. An RTS survives a bad spell more often if its preamble and header, {PLCP_OCTETS} bytes in ns-2, "
        f"are not counted. They would keep {kept(f'errors, {SAFE} / ideal')}. Section 5 says that DSDV may treat errors as a node out of reach. "
        f"Where it does so with each frame that is given up, they keep {kept(f'errors, {NOTIFIED} / ideal')}. The paper has “close to zero”.",
        f"The paper gives no length of a run. In shorter ones nothing has arrived for some of the four middle connections, with errors and segments of 200 B. Next to {' and '.join(f'{rate:g}' for rate in RATES)} kb/s these are "
        + "; ".join(
            f"in {seconds:g} s "
            + " and ".join(
                significant(
                    number(
                        table, f"200 B, errors, middle, {rate:g} kb/s, in {seconds:g} s", "connections without a packet"
                    ),
                    2,
                )
                for rate in RATES
            )
            for seconds in SHORT_RUNS
        )
        + ".",
        f"Next to {RATES[1]:g} kb/s with segments of 200 B {fails('')} of the four connections in the middle fail completely, and the sentence "
        f"{outcome('P6.middle-fails', table)}. Where nodes ask for addresses as ns-2's do, connections that begin at one instant lose the first packet and wait for a "
        f"timeout. Then {fails(f', {ARP}')} fail. Where DSDV is told of lost frames {fails(f', {NOTIFIED}')} do.",
        "The connections at constant rates keep "
        + "; ".join(
            f"{', '.join(mean(1000, rate, channel, 'constant rate, mean') for channel in CHANNELS)} of {rate:g} kb/s"
            for rate in RATES
        )
        + " next to bulk segments of 1000 B (ideal, errors, FEC).",
        _more_in_words(table),
    ]


def _more_in_words(table: Table) -> str:
    """Whether FEC gives some connections more than they have without errors, and the paper's reason for it."""

    def both(ratios: Iterable[float]) -> str:
        return " and ".join(f"{ratio:.2f}" for ratio in ratios)

    def relieved(channel: Channel) -> list[float]:
        return [number(table, _relieved(segment, channel), "bulk, mean, ratio") for segment in SEGMENTS]

    ratios = [
        number(table, f"{segment} B, {MORE}, {at + 1}", "goodput ratio") for segment, at in product(SEGMENTS, BULK)
    ]
    more = sum(ratio > 1.0 for ratio in ratios)
    largest = table[f"{MORE}, {WHICH['best']} of {len(ratios)}", "goodput ratio"]
    chance, found = (f"{100.0 * number(table, case, RUNS):.0f} %" for case in (CHANCE, MORE))
    return (
        f"By the means of all runs {more or 'none'} of {len(ratios)} bulk connections {'have' if more > 1 else 'has'} more with FEC than on the "
        f"ideal channel, next to {RATES[1]:g} kb/s. The largest ratio is {largest.measured_text()}. In {found} of single runs one of "
        f"them has more. It is {chance} where other runs of the ideal channel, as much less as FEC carries on average, replace FEC: they "
        "starve by turns. The paper's reason, less interference, exists. The connections at constant rates keep "
        + both(number(table, f"{segment} B, {MORE}", "constant rate, mean, ratio") for segment in SEGMENTS)
        + " of what they have without errors (next to segments of 200 and 1000 B). Where they are to carry a tenth, bulk connections have "
        f"{both(relieved(IDEAL))} times as much on the ideal channel. But with FEC they have even then {both(relieved(FEC))} of what they have without "
        "errors next to all of that load: "
        + (
            "less interference does not make up for what FEC costs and leaves."
            if max(relieved(FEC)) < 1.0
            else "less interference can make up for what FEC costs and leaves."
        )
    )


def _figures(table: Table) -> list[tuple[str, Figure]]:
    from hopcast.figures import Group, bars

    def drawn(segment: int, rate: float) -> Figure:
        groups = []
        for channel in CHANNELS:
            found = [table[f"{case_name(segment, rate, channel)}, bulk {at + 1}", "goodput"] for at in BULK]
            groups.append(Group.of(channel, found))
        return bars([str(at + 1) for at in BULK], groups, x="connection", y="goodput, kb/s")

    return [
        (f"Goodput of the bulk connections, {segment} B, beside {rate:g} kb/s", drawn(segment, rate))
        for segment, rate in product(SEGMENTS, RATES)
    ]


def case_name(segment: int, rate: float, channel: Channel) -> str:
    return f"{segment} B, {rate:g} kb/s, {channel}"


def _relieved(segment: int, channel: Channel) -> str:
    """Bulk connections compared with a tenth of the load."""
    return f"{segment} B, {RATES[0]:g} kb/s, {channel} / {RATES[1]:g} kb/s, {IDEAL}"


def _beside(key: Key, setting: str) -> str:
    return f"{case_name(*key)}, {setting}"


EXPERIMENTS = (
    Experiment(
        "P6",
        "A mesh of six by six",
        "Bulk TCP down every column, TCP at a constant rate along every row (Fig. 5): with errors and without FEC nearly nothing arrives, with FEC "
        "20 to 50 % of what the ideal channel carries; larger packets are better; without FEC more load makes middle connections fail.",
        _setup,
        _cases,
        _rows,
        _figures,
        _notes,
    ),
)
