"""P: TCP and UDP on strings of 802.11 nodes.

M. Petrovic, M. Aboelaze: "Performance of TCP/UDP under Ad Hoc IEEE802.11", University of Toronto and York University.
Shared parts of its experiments, and P1: one bulk TCP over a string.
"""

from __future__ import annotations

import dataclasses
import math
import statistics
from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Literal

from hopcast.lab.experiment import Amount, Case, Experiment, Measured, Parameter, Table
from hopcast.lab.rows import Row, Sample, average, value
from hopcast.numbers import significant
from hopcast.scenario import Scenario
from hopcast_papers.h2o.places import mbps, number
from hopcast_papers.ns2 import LEAST_RTO, MIN_RTO
from hopcast_papers.register import REGISTER

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hopcast.types import Application, Errors, Flow, Nodes, Placement, Radio, Routing

Channel = Literal["ideal", "errors", "errors + FEC"]
IDEAL: Channel = "ideal"
ERRORS: Channel = "errors"
FEC: Channel = "errors + FEC"
CHANNELS: tuple[Channel, ...] = (IDEAL, ERRORS, FEC)

NODES = 8
START = 150.0
"""Seconds that DSDV has to spread its routes: ns-2's needs up to 100 s for a string of eight."""
GILBERT_ELLIOTT: Errors = {
    "model": "gilbert-elliott",
    "good_ber": 1e-6,
    "bad_ber": 1e-2,
    "good_mean": "0.1 s",
    "bad_mean": "33.3 ms",
}
"""Section 3. Each node has a separate channel, whose state changes with time."""
LEFT_BER = 5e-5
"""Share of bits that FEC might leave wrong, varied: the paper's code leaves 10⁻⁶, and hopcast's none."""
NS2_WINDOW = 20
"""Segments: ns-2's `window_`."""
HOPS = (1, 2, 3, 4, 5, 6)
SEGMENTS = (200, 1000)
WINDOWS = (1, 2, 4, NS2_WINDOW)
"""Segments. 1, 2 and 4 are those of the paper's Table 4; its figures have lost theirs."""
FAR = (5, 6)
"""Hops: "more than 4 hops away"."""
FEW_HOPS, MANY_HOPS = (2, 3), (4, 5, 6)
"""Hops: a size that section 6 calls suitable, and one that it calls a bigger network."""


def scenario(
    name: str,
    flows: Sequence[Flow],
    *,
    rts: bool,
    channel: Channel,
    seconds: float,
    places: Placement | None = None,
    nodes: int = NODES,
    start: float = START,
    notified: bool | None = None,
    settles: bool = True,
    mtu: str | None = None,
    protects_updates: bool = True,
) -> Scenario:
    """A string of eight nodes, or at other `places`, in which only neighbours reach each other; hopcast measures
    `seconds` from `start` on.

    * `notified`: whether DSDV loses a neighbour with a frame that the interface gives up; `None` is as in ns-2, not.
    * `settles`: whether it advertises new destinations and numbers late, as ns-2's does.
    * `mtu`: IP fragments larger packets; `None` is as in ns-2, which does not fragment.
    * `protects_updates`: whether FEC protects frames to all, such as DSDV's updates.
    """
    radio: Radio = {
        "profile": "ns-2",
        "standard": "802.11",
        "data_rate": "2 Mb/s",
        "rts_threshold": "0 B" if rts else "off",
    }
    if mtu is not None:
        radio["mtu"] = mtu
    if channel == ERRORS:
        radio["errors"] = GILBERT_ELLIOTT
    elif channel == FEC:
        radio["errors"] = {**GILBERT_ELLIOTT, "fec": "reed-solomon"}
        if not protects_updates:
            radio["errors"]["fec_frames"] = "individually-addressed"
    routing: Routing = {"protocol": "dsdv", "settle_everything": settles}
    if notified is not None:
        routing["link_layer_notification"] = notified
    group: Nodes = {
        "name": "n",
        "count": nodes,
        "placement": places or {"shape": "line", "spacing": "200 m"},
        "routing": routing,
    }
    return Scenario(name=name, duration=start + seconds, seed=1, radio=radio, nodes=[group], flows=flows)


def with_ber(made: Scenario, rate: float) -> Scenario:
    """A channel with this bit error rate, whatever its state."""
    return made.set("radio.errors.good_ber", rate).set("radio.errors.bad_ber", rate)


def tcp(
    name: str,
    source: int,
    sink: int,
    segment: int,
    window: int,
    application: Application | None = None,
    start: float = START,
) -> Flow:
    """A TCP connection from node to node, by default as fast as possible."""
    return {
        "name": name,
        "from": f"n{source}",
        "to": f"n{sink}",
        "start": start,
        "transport": {
            "protocol": "tcp",
            "variant": "newreno",
            "segment": segment,
            "window": window,
            "min_rto": MIN_RTO,
        },
        "application": application or {"kind": "bulk"},
    }


def parameters(
    amount: Amount, places: str, rts: str, *run: Parameter, seconds: float = 0.0, count: int = 0
) -> list[Parameter]:
    """Parameters that all experiments of the paper share, with their sources. `run`: start and length, if not
    `seconds` from `START` on, with `count` seeds if not those of every experiment.
    """
    return [
        Parameter("rules", "profile ns-2", "section 3: ns-2 with the CMU extension"),
        Parameter("radio", "802.11 DSSS at 2 Mb/s", "that extension's; the paper gives no rate"),
        Parameter(
            "places", f"{places}, 200 m apart; 250 m range, sensed up to 550 m", "neighbours only (section 3); ns-2's defaults"
        ),
        Parameter("RTS/CTS", rts, "Figs. 1 and 4; where the paper is silent, ns-2's default"),
        Parameter(
            "errors",
            "Gilbert–Elliott at each node: bit error rate 10⁻⁶ for 0.1 s and 10⁻² for 33.3 ms on average, exponential",
            "section 3",
        ),
        Parameter(
            "bits that err",
            "those of the PLCP preamble and header, too",
            "ns-2: they are octets of a frame (`PLCP_HDR_LEN`), of which an error model takes the number",
        ),
        Parameter(
            "FEC", "RS(255, 153) over every frame, which is 5/3 as long", "section 3: Reed–Solomon, 40 % overhead"
        ),
        Parameter("attempts at a frame", "4 where RTS goes before it, else 7", "ns-2's defaults"),
        Parameter(
            "routing",
            "DSDV as in ns-2.35: a frame that is given up is lost, and no neighbour with it; new destinations and numbers settle before "
            "they are told",
            "section 3; `use_mac_` 0 in ns-2's tcl/mobility/dsdv.tcl; `DSDV_Agent::processUpdate`",
        ),
        LEAST_RTO,
        *(
            run
            or (
                Parameter("start of the traffic", f"{START:g} s", "not stated; every node knows every route by then"),
                Parameter("run", f"{seconds:g} s, {count or len(seeds(amount))} seeds", "not stated"),
            )
        ),
    ]  # fmt: skip


def seeds(amount: Amount) -> tuple[int, ...]:
    """Seeds of every experiment of the paper."""
    return tuple(range(1, amount.pick(quick=4, full=11)))


def kbps(measured: Measured, case: str, stream: int = 0) -> Sample:
    """Goodput of a stream in kb/s: 0 if nothing arrived."""
    return Sample.of(lambda rate: rate * 1e3, mbps(measured, case, stream))


def hops_text(hops: int) -> str:
    """Text for people."""
    return "1 hop" if hops == 1 else f"{hops} hops"


def rts_text(rts: bool) -> str:
    """Text for people."""
    return "RTS" if rts else "no RTS"


# P1: one bulk TCP.

NOTIFIED = "DSDV told of lost frames"
PAUSED = "states that change only with frames"
PAUSED_HOPS = (1, 3, 6)


def _setup(amount: Amount) -> list[Parameter]:
    return [
        *parameters(amount, f"{NODES} nodes in a row", "with and without", seconds=_seconds(amount)),
        Parameter(
            "TCP",
            "NewReno, segments of 200 and 1000 B, windows of 1, 2, 4 and 20 segments",
            "Figs. 2, 3; windows by Table 4, and ns-2's default",
        ),
        Parameter(
            "seeds over 5 and 6 hops", f"{len(_many(amount))} on the ideal channel and with errors", "what arrives there is chance"
        ),
        Parameter(
            PAUSED,
            "beside, with errors at 1000 B without RTS",
            "ns-2's fault that the authors mended: no “state transitions when the channel was idle” (section 3)",
        ),
        Parameter(NOTIFIED, "beside, at 1000 B without RTS", "varied: ns-2's `use_mac_` 1, under which “performance suffers”"),
    ]  # fmt: skip


def _seconds(amount: Amount) -> float:
    return amount.pick(quick=20.0, full=200.0)


def _many(amount: Amount) -> tuple[int, ...]:
    """Seeds of connections that hardly deliver anything, and of those compared with them: in a short run chance
    decides.
    """
    return amount.pick(quick=tuple(range(1, 10)), full=seeds(amount))


def _cases(amount: Amount) -> Mapping[str, Case]:
    made = {}
    for hops, segment, window, rts, channel in product(HOPS, SEGMENTS, WINDOWS, (False, True), CHANNELS):
        name = one_tcp_name(hops, segment, window, rts, channel)
        made[name] = one_tcp(name, hops, segment, window, rts, channel, amount)
    for hops, window, channel in product((1, HOPS[-1]), (1, NS2_WINDOW), CHANNELS):
        name = _notified(hops, window, channel)
        found = one_tcp(name, hops, 1000, window, False, channel, amount, notified=True)
        made[name] = dataclasses.replace(found, beside=True)
    for hops, window in product(PAUSED_HOPS, (1, NS2_WINDOW)):
        name = _paused(hops, window)
        plain = one_tcp(name, hops, 1000, window, False, ERRORS, amount)
        made[name] = Case(plain.scenario.set("radio.errors.clock", "frames"), plain.seeds, beside=True)
    return made


def one_tcp(
    name: str,
    hops: int,
    segment: int,
    window: int,
    rts: bool,
    channel: Channel,
    amount: Amount,
    notified: bool | None = None,
) -> Case:
    """One bulk TCP from node 0 over this number of hops."""
    flow = tcp("stream0", 0, hops, segment, window)
    made = scenario(name, [flow], rts=rts, channel=channel, seconds=_seconds(amount), notified=notified)
    return Case(made, _many(amount) if hops in FAR and channel != FEC else seeds(amount))


def _rows(measured: Measured) -> list[Row]:
    every = {
        key: kbps(measured, one_tcp_name(*key))
        for key in product(HOPS, SEGMENTS, WINDOWS, (False, True), CHANNELS)
    }  # fmt: skip
    # What all have in common; some ran with more seeds.
    few = min(len(sample.values) for sample in every.values())
    goodput = {key: sample.first(few) for key, sample in every.items()}
    rows = [value("P1", one_tcp_name(*key), "goodput", "kb/s", sample) for key, sample in every.items()]
    for key in product((1, HOPS[-1]), (1, NS2_WINDOW), CHANNELS):
        rows.append(value("P1", _notified(*key), "goodput", "kb/s", kbps(measured, _notified(*key))))
    for hops, window in product(PAUSED_HOPS, (1, NS2_WINDOW)):
        paused = kbps(measured, _paused(hops, window))
        rows.append(value("P1", _paused(hops, window), "goodput", "kb/s", paused))
        ratio = over(paused, every[hops, 1000, window, False, ERRORS])
        rows.append(value("P1", f"{_paused(hops, window)} / with time", "goodput ratio", "", _finite(ratio)))
    longer = {
        f"{hops_text(hops)}, window 1, {rts_text(rts)}, {channel}, 1000 B / 200 B": over(
            goodput[hops, 1000, 1, rts, channel], goodput[hops, 200, 1, rts, channel]
        )
        for hops, rts, channel in product(HOPS, (False, True), CHANNELS)
    }
    rows.extend(_tendency("P1.segments", "segments", longer))
    guarded = {
        f"{hops_text(hops)}, {segment} B, window 1, {channel}, RTS / no RTS": over(
            goodput[hops, segment, 1, True, channel], goodput[hops, segment, 1, False, channel]
        )
        for hops, segment, channel in product(HOPS, SEGMENTS, CHANNELS)
    }
    rows.extend(_tendency("P1.rts", "RTS/CTS", guarded))
    far = HOPS[-1]
    gains = {}
    for segment, rts, channel, window in product(SEGMENTS, (False, True), CHANNELS, WINDOWS[1:]):
        near, wide = (
            over(goodput[hops, segment, window, rts, channel], goodput[hops, segment, 1, rts, channel])
            for hops in (1, far)
        )
        case = f"{segment} B, {rts_text(rts)}, {channel}, window {window}"
        rows.append(value("P1", f"{hops_text(far)}, {case} / 1", "goodput ratio", "", _finite(wide)))
        gains[f"6 hops − 1 hop, {case} / 1"] = wide - near
    rows.extend(_tendency("P1.windows", "windows", gains, "gain of the window"))
    shares = {
        f"{hops_text(hops)}, {segment} B, window 1, {rts_text(rts)}, errors / ideal": every[
            hops, segment, 1, rts, ERRORS
        ]
        / every[hops, segment, 1, rts, IDEAL]
        for hops, segment, rts in product(FAR, SEGMENTS, (False, True))
    }
    rows.extend(_tendency("P1.errors", "errors", shares))
    shares = {
        f"{hops_text(hops)}, 1000 B, window {window}, {rts_text(rts)}, errors / ideal with window 1": every[
            hops, 1000, window, rts, ERRORS
        ]
        / every[hops, 1000, 1, rts, IDEAL]
        for hops, window, rts in product(FAR, (4, NS2_WINDOW), (False, True))
    }
    rows.extend(_tendency("P1.errors-large", "errors, large windows", shares))
    bigger = {}
    for segment, window, rts, channel in product(SEGMENTS, WINDOWS, (False, True), CHANNELS):
        few_hops, many_hops = (
            average(goodput[hops, segment, window, rts, channel] for hops in group) for group in (FEW_HOPS, MANY_HOPS)
        )
        bigger[_bigger(segment, window, rts, channel)] = over(many_hops, few_hops)
    rows.extend(_tendency("P1.bigger-network", "4 to 6 / 2 and 3 hops", bigger))
    for segment, rts in product(SEGMENTS, (False, True)):
        ratio = goodput[1, segment, 1, rts, FEC] / goodput[1, segment, 1, rts, IDEAL]
        case = f"1 hop, {segment} B, window 1, {rts_text(rts)}, FEC / ideal"
        note = "FEC decreases “the efficiency of the TCP by 40 %” (section 3)"
        rows.append(value("P1", case, "goodput ratio", "", ratio, paper=0.6, note=note))
    return rows


def over(sample: Sample, other: Sample) -> Sample:
    """A ratio of goodputs: infinite if only the other is zero, and unknown if both are."""
    return Sample.of(lambda a, b: a / b if b else math.inf if a else math.nan, sample, other)


def _finite(ratio: Sample) -> Sample:
    """Ratio for a separate row: known if every replication has something to compare with."""
    return ratio if all(map(math.isfinite, ratio.values)) else Sample((math.nan,) * len(ratio.values))


def _tendency(key: str, case: str, cells: Mapping[str, Sample], metric: str = "goodput ratio") -> list[Row]:
    """A sentence about all these cells, in which some connections with errors may have delivered nothing."""
    return REGISTER.rows(key, case, metric, "", cells, shown=_finite)


def _notes(table: Table) -> list[str]:
    def goodput(hops: int, segment: int, window: int, rts: bool, channel: Channel = IDEAL) -> float:
        return number(table, one_tcp_name(hops, segment, window, rts, channel), "goodput")

    def notified(hops: int, window: int, channel: Channel) -> str:
        return (
            f"it would be {significant(number(table, _notified(hops, window, channel), 'goodput'))} kb/s in place of "
            f"{significant(goodput(hops, 1000, window, False, channel))}"
        )

    def bigger(channel: Channel) -> float:
        return statistics.median(
            number(table, _bigger(*key, channel), "goodput ratio") for key in product(SEGMENTS, WINDOWS, (False, True))
        )

    def paused(hops: int, window: int) -> str:
        return (
            f"With a window of {window} over {hops_text(hops)} it is {table[_paused(hops, window), 'goodput'].measured_text()} in place of "
            f"{significant(goodput(hops, 1000, window, False, ERRORS))}."
        )

    best = {hops: max(WINDOWS, key=lambda window: goodput(hops, 1000, window, False)) for hops in HOPS}
    one, six = goodput(1, 1000, 1, False), goodput(6, 1000, 1, False)
    return [
        f"With one segment of 1000 B in flight, goodput falls from {significant(one)} kb/s over one hop to "
        f"{significant(six)} kb/s over six, {one / six:.1f} times: nothing overlaps, and each hop costs its time.",
        "The window that carries most (1000 B, no RTS, ideal channel), from one hop to six: "
        + ", ".join(str(best[hops]) for hops in HOPS)
        + f". Over six hops, compared with one segment, a window of 4 carries {goodput(6, 1000, 4, False) / six:.2f} times as much, and of 20 "
        f"{goodput(6, 1000, 20, False) / six:.2f} times. The ends of a long string do not sense each other (550 m), so that two "
        "segments can be on the air at once. Over one hop a larger window only adds collisions of segments with acknowledgements.",
        "With errors and one segment of 1000 B in flight, no RTS, goodput is "
        + ", ".join(significant(goodput(hops, 1000, 1, False, ERRORS)) for hops in HOPS)
        + " kb/s from one hop to six. With FEC it is "
        + ", ".join(significant(goodput(hops, 1000, 1, False, FEC)) for hops in HOPS)
        + ". A bad spell of 33 ms outlasts seven attempts at a frame now and then, and each such loss costs a timeout.",
        f"Over one hop FEC keeps {number(table, f'1 hop, 1000 B, window 1, {rts_text(False)}, FEC / ideal', 'goodput ratio'):.2f} of the ideal "
        f"channel's goodput with segments of 1000 B, {number(table, f'1 hop, 200 B, window 1, {rts_text(False)}, FEC / ideal', 'goodput ratio'):.2f} "
        "with 200 B. Preambles, spaces and backoff are not coded, and blocks of 255 bytes have the same 102 of correction however "
        "little they carry.",
        "Beyond three hops goodput is a part of that over two and three (the median of segments, windows, with and without RTS): "
        + ", ".join(f"{bigger(channel):.2f} ({channel})" for channel in CHANNELS)
        + ". On channels that lose nothing further hops cost their time and no more. Errors make a bigger network much worse.",
        "The authors mended ns-2's errors, whose states stood still while the channel was idle, so that they lasted for “very long time”. These are "
        "goodputs with that fault (1000 B, no RTS). "
        + " ".join(paused(hops, window) for window in (1, NS2_WINDOW) for hops in PAUSED_HOPS)
        + " Runs differ much: a node whose channel is bad stays cut off, as nothing moves its channel on.",
        "DSDV could treat each frame that is given up as a lost neighbour, as hopcast's does outside of the profile ns-2 (no RTS, 1000 B). Over "
        f"one hop with errors {notified(1, 1, ERRORS)}. Over six hops with a window of 20 on the ideal channel {notified(6, 20, IDEAL)}. "
        f"With FEC {notified(6, 20, FEC)}.",
    ]


def _figures(table: Table) -> list[tuple[str, Figure]]:
    from hopcast.figures import Line, lines

    def drawn(cases: Mapping[str, tuple[int, int, bool, Channel]]) -> Figure:
        made = [
            Line(label, [(hops, table[one_tcp_name(hops, *case), "goodput"]) for hops in HOPS])
            for label, case in cases.items()
        ]
        return lines(made, x="hops", y="goodput, kb/s")

    kinds = [
        (
            f"Window 1, segments of {segment} B, {rts_text(rts)}",
            drawn({channel: (segment, 1, rts, channel) for channel in CHANNELS}),
        )
        for segment, rts in product(SEGMENTS, (False, True))
    ]
    windows = [
        (
            f"Segments of {segment} B, no RTS, {channel}",
            drawn({f"window {window}": (segment, window, False, channel) for window in WINDOWS}),
        )
        for segment, channel in product(SEGMENTS, CHANNELS)
    ]
    return kinds + windows


def one_tcp_name(hops: int, segment: int, window: int, rts: bool, channel: Channel) -> str:
    """Name of the case, and of its scenario."""
    return f"{hops_text(hops)}, {segment} B, window {window}, {rts_text(rts)}, {channel}"


def _bigger(segment: int, window: int, rts: bool, channel: Channel) -> str:
    return f"{segment} B, window {window}, {rts_text(rts)}, {channel}, 4 to 6 / 2 and 3 hops"


def _paused(hops: int, window: int) -> str:
    return f"{one_tcp_name(hops, 1000, window, False, ERRORS)}, {PAUSED}"


def _notified(hops: int, window: int, channel: Channel) -> str:
    return f"{one_tcp_name(hops, 1000, window, False, channel)}, {NOTIFIED}"


EXPERIMENTS = (
    Experiment(
        "P1",
        "One bulk TCP on a string",
        "A string of eight nodes of which only neighbours reach each other, one bulk TCP from node 0 to node 1 … 6, segments "
        "of 200 and 1000 B, window 1 and larger, with and without RTS/CTS, on an ideal channel, with errors, and with errors and FEC "
        "(Figs. 1–3). Larger segments win, RTS/CTS does not help, larger windows help more as hops grow; with errors and without FEC "
        "TCP hardly gets beyond 4 hops.",
        _setup,
        _cases,
        _rows,
        _figures,
        _notes,
    ),
)
