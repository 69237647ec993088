"""M: streaming at a rate that distinguishes congestion from other losses in a network of mobile nodes.

Z. Fu, X. Meng, S. Lu: "A Transport Protocol For Supporting Multimedia Streaming in Mobile Ad Hoc Networks" (2003), sections III
and V. Experiments M1 to M5 and M7: thirty nodes, DSR, 2 Mb/s.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Literal, TypeAlias

from hopcast.lab.experiment import Amount, Case, Document, Experiment, Measured, Parameter, Table, column
from hopcast.lab.rows import WHICH, Row, Sample, value
from hopcast.numbers import significant
from hopcast.scenario import Scenario
from hopcast.statistics import mean
from hopcast_papers.h2o.places import number
from hopcast_papers.notes import capitalized, finding, outcome
from hopcast_papers.ns2 import LEAST_RTO, MIN_RTO
from hopcast_papers.register import REGISTER

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hopcast.results import Result
    from hopcast.types import Flow, Nodes, Quantity, Transport

Protocol = Literal["adtfrc", "tfrc", "tcp"]
Level = Literal["network", "frame"]
Errors: TypeAlias = "float | Sequence[tuple[Quantity, float]]"

NODES, WIDTH, HEIGHT = 30, 800.0, 400.0
"""Number of nodes, and metres of their area (section III-C)."""
SECONDS = 300.0
PACKET, WINDOW = 1000, 8
"""Bytes of payload, and segments of TCP (sections III-C, V-A)."""
BURSTS = ((50.0, 250.0), (100.0, 200.0), (130.0, 170.0))
"""Seconds between which each of the three CBR flows sends (section III-C)."""
BURST_RATE, BURST_PACKET = 180e3, 512
"""bit/s (section III-C), and bytes, which the paper does not give."""
HALF = 25
"""Packets: half of a queue; above it the network counts as congested (section III-C.1)."""
EXTREME = 0.3
"""Share of the samples that are HIGH, and that are LOW (section III-C.1)."""
STEPS = ((0.0, 0.0), (75.0, 0.02), (150.0, 0.05), (225.0, 0.1))
"""Seconds, and the packet error rate from then on (Fig. 2, right)."""
TFRC: Literal["ns-2"] = "ns-2"
"""ns-2's TFRC as of 2002. The paper was received in October 2002, and ran ns-2 (section III-C)."""
NAMES: Mapping[Protocol, str] = {"adtfrc": "ADTFRC", "tfrc": "TFRC", "tcp": "TCP with ELFN"}
METRICS = ("joint", "idd", "stt")
"""Metric that detects congestion."""


def transport(protocol: Protocol, metric: str = "joint") -> Transport:
    """Transport as in section V-A. TFRC is ns-2's of that time, with which the paper ran, and ADTFRC is built on it."""
    if protocol == "tcp":
        return {
            "protocol": "tcp",
            "variant": "newreno",
            "segment": PACKET,
            "window": WINDOW,
            "min_rto": MIN_RTO,
            "elfn": True,
        }
    if protocol == "tfrc":
        return {"protocol": "tfrc", "variant": TFRC, "segment": PACKET}
    return {"protocol": "adtfrc", "variant": TFRC, "metric": metric, "segment": PACKET}  # type: ignore[typeddict-item]


def observed() -> Transport:
    """A TFRC flow whose receiver identifies the state of the network, without any reaction: as in Figs. 2 and 3. "One
    TFRC flow" is the stream of sections III-C and III-D; the protocol that reacts appears in section IV.
    """
    return transport("adtfrc", "none")


def stream(name: str, source: str, sink: str, by: Transport, rate: float | None = None) -> Flow:
    """An application that sends as much as the transport accepts, or `rate` bit/s."""
    made: Flow = {"name": name, "from": source, "to": sink, "transport": by, "application": {"kind": "bulk"}}
    if rate is not None:
        made["application"] = {"kind": "cbr", "rate": rate, "packet": PACKET}
    return made


def edges(count: int) -> list[Nodes]:
    """This number of nodes at rest on each of the short edges: `source0`, … and `sink0`, …"""
    rows = [HEIGHT * (2 * place + 1) / (2 * count) for place in range(count)]
    return [
        {
            "name": f"{group}{place}",
            "placement": {"shape": "points", "at": [[x, y]]},
            "routing": {"protocol": "dsr"},
        }
        for group, x in (("source", 0.0), ("sink", WIDTH))
        for place, y in enumerate(rows)
    ]


def bursts(count: int) -> list[Flow]:
    """The first of the CBR flows, up to this number."""
    return [
        {
            "name": f"burst{place}",
            "from": f"n{2 * place + 2}",
            "to": f"n{2 * place + 3}",
            "start": start,
            "stop": stop,
            "transport": {"protocol": "udp"},
            "application": {"kind": "cbr", "rate": BURST_RATE, "packet": BURST_PACKET},
        }
        for place, (start, stop) in enumerate(BURSTS[:count])
    ]


def scene(
    name: str,
    speed: float,
    flows: Sequence[Flow],
    *,
    errors: Errors = 0.0,
    level: Level = "network",
    ends: int = 0,
) -> Scenario:
    """The default scene of section III-C, with nodes that move at `speed` m/s, except `ends` nodes on each short
    edge.
    """
    steps = errors if isinstance(errors, float) else list(errors)
    nodes: Nodes = {
        "name": "n",
        "count": NODES - 2 * ends,
        "placement": {"shape": "uniform", "width": WIDTH, "height": HEIGHT},
        "routing": {"protocol": "dsr"},
    }
    if speed > 0.0:
        nodes["mobility"] = {"model": "random-waypoint", "speed": [speed, speed], "pause": 0.0}
    return Scenario(
        name=name,
        duration=SECONDS,
        seed=1,
        radio={
            "profile": "ns-2",
            "queue": {"packets": 2 * HALF},
            "errors": {"model": "packet", "rate": steps, "level": level},
        },
        nodes=[nodes, *edges(ends)],
        flows=flows,
    )


def _setup(amount: Amount, more: Iterable[Parameter] = ()) -> list[Parameter]:
    return [
        Parameter("nodes", f"{NODES} in {WIDTH:g} m x {HEIGHT:g} m, random waypoint without pause", "section III-C"),
        Parameter("radio", "802.11 at 2 Mb/s, 250 m, profile ns-2, queue of 50 packets", "section III-C, footnote 3"),
        Parameter("routes", "DSR, as ns-2 has it", "section III-C"),
        Parameter(
            "streams", f"packets of {PACKET} B, from n0 to n1, places by the seed", "section III-C; ends not stated"
        ),
        Parameter("TFRC", "ns-2's as of 2002, also as ADTFRC's base", "ns-2 (section III-C); received in October 2002"),
        Parameter("run", f"{SECONDS:g} s", "section III-C"),
        *more,
    ]


BACKGROUND = Parameter(
    "CBR",
    "180 kb/s each, in [50, 250], [100, 200], [130, 170] s, packets of 512 B",
    "section III-C; the packet is not stated",
)
WATCHED = Parameter(
    "protocol",
    "TFRC, whose receiver identifies the state and nobody reacts; beside it ADTFRC",
    "“one TFRC flow” (sections III-C, III-D)",
)
ERRORS = Parameter(
    "errors", "of packets, above the MAC's retries, in each hop", "section III-C.2: PLR follows their rate"
)
TCP = Parameter("TCP", f"NewReno, window {WINDOW}, ELFN", "section V-A")


# --- what is taken from a run ---------------------------------------------------------------------------------------


def observe(result: Result) -> Document:
    """The first stream over time, under `tracks`: one number for each interval of the series."""
    import polars

    series = result.series
    of_stream = series.filter(polars.col("flow") == "stream0").sort("time_s")
    queues = series.filter(polars.col("node").is_not_null())
    largest = dict(queues.group_by("time_s").agg(polars.col("queue_packets").max()).iter_rows())
    times = column(of_stream, "time_s")
    names = {
        "rate": "rate_bps",
        "idd": "idd_s",
        "stt": "stt_packets_per_s",
        "por": "por",
        "por_max": "por_max",
        "plr": "plr",
        "route_changes": "route_changes",
    }
    tracks = {"time": times} | {name: column(of_stream, of) for name, of in names.items()}
    return {"tracks": tracks | {"queue": [float(largest.get(time, 0)) for time in times]}}


def _tracks(document: Document) -> dict[str, list[float]]:
    tracks: dict[str, list[float]] = document["tracks"]
    return tracks


def _known(sample: Sample) -> Sample:
    """The sample without the replications that had nothing to measure."""
    found = tuple(value for value in sample.values if math.isfinite(value))
    return Sample(found or (math.nan,))


def _difference(key: str, case: str, metric: str, unit: str, pair: tuple[Sample, Sample]) -> Row:
    """A sentence about the first of a pair minus the second, seed by seed, where both are known."""
    first, second = pair
    return REGISTER.row(key, case, metric, unit, _known(first - second))


def _goodput(measured: Measured, case: str, *flows: str) -> Sample:
    """kb/s of all these flows together."""
    return Sample.of(lambda *rates: math.fsum(rates) / 1e3, *(measured.flow(case, f, "goodput_bps") for f in flows))


def _ratio(a: Sample, b: Sample) -> Sample:
    """Ratio of the means, since a replication may have had no path. Its interval is that of a ratio estimator
    (Cochran, "Sampling techniques", section 6.4), from the deviation of each replication from the common ratio.
    """
    if not b.mean:
        return Sample((math.nan,))
    ratio, below = a.mean / b.mean, b.mean
    return Sample.of(lambda x, y: ratio + (x - ratio * y) / below, a, b)


# --- M1: the metrics ------------------------------------------------------------------------------------------------

QUIET, MOVING, ALONE = "static, 3 CBR", "5 m/s, 5 % errors, 3 CBR", "5 m/s, alone"
STILL = "static, alone"
QUIET_FAR = "static from edge to edge, 3 CBR"
"""Fig. 2 compares small with large queues in one run. At rest, random ends are mostly one hop apart. There the
stream's own queue is beyond half nearly all the time, so that there is nothing to compare. Ends that roam are near
and far in each run.
"""
JUDGED = (QUIET_FAR, MOVING)
ITSELF = f"{MOVING}, ADTFRC"
"""Not in the paper's section III: the stream reacts to what it identifies."""
LIMITED = "static, 50 kb/s from edge to edge, 3 CBR"
"""Not in the paper: a stream that does not fill queues itself, so that congestion is there for a small part of the
time.
"""
LIMIT, M2_LIMIT = 50e3, 100e3
"""bit/s of this stream in M1 and in M2."""


def _stepped(level: Level) -> str:
    return f"static, alone, errors of {'packets' if level == 'network' else 'frames'}"


BESIDE_RUNS = 3
"""Replications, in the quick form, of cases without a claim."""


def _m1_seeds(amount: Amount, case: str) -> tuple[int, ...]:
    """Random places differ much, so cases with claims have more replications."""
    few = {QUIET_FAR: 6, MOVING: 12, _stepped("network"): 8, ALONE: 4, STILL: 4}.get(case, BESIDE_RUNS)
    return tuple(range(1, amount.pick(quick=few, full=20) + 1))


def _limited(rate: float) -> Flow:
    return stream("stream0", "source0", "sink0", observed(), rate)


def _m1_cases(amount: Amount) -> Mapping[str, Case]:
    one = [stream("stream0", "n0", "n1", observed())]
    itself = [stream("stream0", "n0", "n1", transport("adtfrc"))]
    levels: tuple[Level, ...] = ("network", "frame")
    made = {
        QUIET: scene(QUIET, 0.0, [*one, *bursts(3)]),
        QUIET_FAR: scene(QUIET_FAR, 0.0, [stream("stream0", "source0", "sink0", observed()), *bursts(3)], ends=1),
        MOVING: scene(MOVING, 5.0, [*one, *bursts(3)], errors=0.05),
        ITSELF: scene(ITSELF, 5.0, [*itself, *bursts(3)], errors=0.05),
        ALONE: scene(ALONE, 5.0, one),
        STILL: scene(STILL, 0.0, one),
        LIMITED: scene(LIMITED, 0.0, [_limited(LIMIT), *bursts(3)], ends=1),
    } | {_stepped(level): scene(_stepped(level), 0.0, one, errors=STEPS, level=level) for level in levels}
    return {
        name: Case(found, _m1_seeds(amount, name), observe, beside=name in (QUIET, ITSELF, LIMITED))
        for name, found in made.items()
    }


def extreme(values: Sequence[float], *, high: bool) -> list[bool]:
    """Mark each value that is among the top (or bottom) 30 % of the known values, and no more values."""
    known = sorted((value for value in values if math.isfinite(value)), reverse=high)
    bound = math.floor(EXTREME * len(known))
    # Of equal values none is extreme unless all of them are.
    if bound == 0:
        return [False] * len(values)
    limit = known[bound - 1] if bound == len(known) or known[bound] != known[bound - 1] else math.nan
    if math.isnan(limit):
        beyond = [value for value in known if (value > known[bound] if high else value < known[bound])]
        if not beyond:
            return [False] * len(values)
        limit = beyond[-1]
    return [value >= limit if high else value <= limit for value in values]


def share(chosen: Iterable[bool], among: Iterable[bool]) -> float:
    """Percentage of those `among` that are `chosen`."""
    found = [one for one, counts in zip(chosen, among, strict=True) if counts]
    return 100.0 * sum(found) / len(found) if found else math.nan


def _extreme_where(metric: Literal["idd", "stt"], *, large: bool, growing: bool = False) -> Callable[[Document], float]:
    """Percentage of the intervals of the series with arrivals whose metric is extreme while the largest queue is
    beyond half, or while it is not. IDD is the mean of an interval, STT that at its last arrival.
    """

    def found(document: Document) -> float:
        tracks = _tracks(document)
        queue = tracks["queue"]
        grows = [False, *(later > earlier for earlier, later in pairwise(queue))]
        among = [
            (length > HALF) == large and (grown or not growing) and math.isfinite(metric)
            for length, grown, metric in zip(queue, grows, tracks[metric], strict=True)
        ]
        return share(extreme(tracks[metric], high=metric == "idd"), among)

    return found


def _beyond(document: Document) -> float:
    """Percentage of the time in which the largest queue is beyond half."""
    queue = _tracks(document)["queue"]
    return 100.0 * sum(length > HALF for length in queue) / len(queue) if queue else math.nan


def _during(document: Document, step: int, track: Literal["plr", "por"]) -> list[float]:
    """Known values of a track during the errors of a step."""
    since, until = STEPS[step][0], STEPS[step + 1][0] if step + 1 < len(STEPS) else SECONDS
    tracks = _tracks(document)
    return [
        ratio
        for time, ratio in zip(tracks["time"], tracks[track], strict=True)
        if since < time <= until and math.isfinite(ratio)
    ]


def _step(step: int) -> Callable[[Document], float]:
    """Mean PLR in per cent during the errors of a step."""

    def found(document: Document) -> float:
        known = _during(document, step, "plr")
        return 100.0 * mean(known) if known else math.nan

    return found


def _share_reordered(ratios: Sequence[float]) -> float:
    """Percentage of the intervals at whose end some packets of the last round trip were out of order."""
    return 100.0 * sum(ratio > 0.0 for ratio in ratios) / len(ratios) if ratios else math.nan


def _reordered(document: Document) -> float:
    """`_share_reordered` of the whole run."""
    return _share_reordered([ratio for ratio in _tracks(document)["por"] if math.isfinite(ratio)])


def _reordered_in(step: int) -> Callable[[Document], float]:
    """`_share_reordered` during the errors of a step."""
    return lambda document: _share_reordered(_during(document, step, "por"))


WINDOW_SECONDS = 3.0
"""Seconds over which route changes are compared with POR: a hundredth of the run, about what its figure resolves."""


def correlation(a: Sequence[float], b: Sequence[float]) -> float:
    """Pearson's correlation; NaN if either does not vary."""
    if not a:
        return math.nan
    x, y = mean(list(a)), mean(list(b))
    over = math.sqrt(mean([(p - x) ** 2 for p in a]) * mean([(q - y) ** 2 for q in b]))
    return mean([(p - x) * (q - y) for p, q in zip(a, b, strict=True)]) / over if over else math.nan


def _reordered_with_changes(document: Document) -> float:
    """Correlation of the changes of the stream's route with the mean of the largest PORs, over windows with arrivals."""
    tracks = _tracks(document)
    windows: dict[int, list[tuple[float, float]]] = {}
    for time, changes, reordered in zip(tracks["time"], tracks["route_changes"], tracks["por_max"], strict=True):
        # Intervals end at their times.
        windows.setdefault(math.ceil(time / WINDOW_SECONDS - 1e-9), []).append((changes, reordered))
    pairs = []
    for intervals in windows.values():
        known = [reordered for _, reordered in intervals if math.isfinite(reordered)]
        if known:
            pairs.append((math.fsum(changes for changes, _ in intervals), mean(known)))
    return correlation([changes for changes, _ in pairs], [reordered for _, reordered in pairs])


def _with_losses(document: Document) -> float:
    """Percentage of the intervals at whose end packets of the last round trip were missing."""
    known = [ratio for ratio in _tracks(document)["plr"] if math.isfinite(ratio)]
    return 100.0 * sum(ratio > 0.0 for ratio in known) / len(known) if known else math.nan


def _m1_rows(measured: Measured) -> list[Row]:
    rows = []
    clearly: dict[str, Sample] = {}
    for case in (*JUDGED, QUIET, ITSELF, LIMITED):
        paper = 100.0 if case in JUDGED else None
        beyond = measured.sample(case, _beyond)
        rows.append(value("M1", case, "time with a queue beyond half", "%", _known(beyond)))
        for metric, word in (("idd", "IDD HIGH"), ("stt", "STT LOW")):
            of: Literal["idd", "stt"] = "idd" if metric == "idd" else "stt"
            large = measured.sample(case, _extreme_where(of, large=True))
            small = measured.sample(case, _extreme_where(of, large=False))
            note = "“Clearly”: nearly always (P1 ≈ P2 ≈ 1, section III-C.1); 30 % by definition where it tells nothing"
            rows.append(value("M1", case, f"{word}, queue beyond half", "%", _known(large), paper=paper, note=note))
            rows.append(value("M1", case, f"{word}, queue below", "%", _known(small)))
            more = _known(large - small)
            rows.append(value("M1", case, f"{word}, beyond half − below", "%", more))
            if case in JUDGED:
                clearly[f"{case}, {word}"] = more
        growing = measured.sample(case, _extreme_where("idd", large=True, growing=True))
        note = "IDD is the growth of the delay: HIGH while a queue grows, not while it is long"
        rows.append(value("M1", case, "IDD HIGH, queue beyond half and growing", "%", _known(growing), note=note))
    hard = REGISTER.picked("M1.congestion", clearly.values())
    rows.append(REGISTER.row("M1.congestion", f"the hardest of {len(clearly)}", "beyond half − below", "%", hard))
    bursty, calm = (measured.sample(case, _reordered) for case in (ALONE, STILL))
    for case, found in ((ALONE, bursty), (STILL, calm)):
        rows.append(value("M1", case, "intervals with POR above 0", "%", _known(found)))
    rows.append(value("M1", "5 m/s − static", "intervals with POR above 0", "%", _known(bursty - calm)))
    for case in (ALONE, STILL):
        changes = measured.flow(case, "stream0", "route_changes")
        rows.append(value("M1", case, "changes of the route", "", changes))
    together = _known(measured.sample(ALONE, _reordered_with_changes))
    rows.append(REGISTER.row("M1.por", ALONE, f"correlation with route changes in {WINDOW_SECONDS:g} s", "", together))
    lossy = _known(measured.sample(ALONE, _with_losses))
    rows.append(REGISTER.row("M1.plr-stable", ALONE, "intervals with PLR above 0", "%", lossy))
    levels: tuple[Level, ...] = ("network", "frame")
    for level in levels:
        case = _stepped(level)
        ratios = [measured.sample(case, _step(step)) for step in range(len(STEPS))]
        # The paper gives no PLR: it is "proportional to the channel error rate", and paths are of several hops.
        for (_, rate), ratio in zip(STEPS, ratios, strict=True):
            rows.append(value("M1", case, f"PLR at {100.0 * rate:g} % errors", "%", _known(ratio)))
        steps = {
            f"{case}, {100.0 * after:g} % − {100.0 * before:g} %": high - low
            for (low, high), ((_, before), (_, after)) in zip(pairwise(ratios), pairwise(STEPS), strict=True)
        }
        rows += [value("M1", name, "PLR", "%", _known(step)) for name, step in steps.items()]
        if level == "frame":
            more = _known(
                measured.sample(case, _reordered_in(len(STEPS) - 1)) - measured.sample(case, _reordered_in(0))
            )
            name = f"{case}, {100.0 * STEPS[-1][1]:g} % − none"
            rows.append(REGISTER.row("M1.errors-reorder", name, "intervals with POR above 0", "%", more))
            continue
        (_, least), first = STEPS[1], ratios[1]
        by_rate = {
            f"{case}, {100.0 * rate:g} % / {100.0 * least:g} %": _known(
                Sample.of(
                    lambda found, at_least, less=least / rate: found / at_least * less if at_least else math.nan,
                    ratio,
                    first,
                )
            )
            for (_, rate), ratio in zip(STEPS[2:], ratios[2:], strict=True)
        }
        rows += REGISTER.rows("M1.plr-proportional", f"{case}, by the rate", "PLR / rate, ratio", "", by_rate)
        found = _known(REGISTER.picked("M1.plr", steps.values()))
        rows.append(REGISTER.row("M1.plr", f"{case}, the median of {len(steps)} steps", "PLR", "%", found))
    return rows


def _m1_notes(table: Table) -> list[str]:
    def of(case: str, metric: str) -> str:
        found = table[case, metric].measured
        return "none" if found is None else f"{found:.0f} %"

    top = 100.0 * STEPS[-1][1]
    return [
        "Shares are of the intervals of 0.3 s in which packets of the stream arrived, by the mean of IDD in each and STT at its last arrival. Beyond half a queue, "
        f"static: IDD is HIGH in {of(QUIET_FAR, 'IDD HIGH, queue beyond half')} of them, STT LOW in "
        f"{of(QUIET_FAR, 'STT LOW, queue beyond half')}; with moving nodes and errors {of(MOVING, 'IDD HIGH, queue beyond half')} and "
        f"{of(MOVING, 'STT LOW, queue beyond half')}. 30 % would tell nothing; in the paper it is nearly always. Below half STT is LOW in "
        f"{of(QUIET_FAR, 'STT LOW, queue below')} and {of(MOVING, 'STT LOW, queue below')}. Whether both metrics show a queue beyond half in the hardest "
        f"case {outcome('M1.congestion', table)}. Where the queue is beyond half and still grows, IDD is "
        f"HIGH in {of(QUIET_FAR, 'IDD HIGH, queue beyond half and growing')} and {of(MOVING, 'IDD HIGH, queue beyond half and growing')}: "
        "it is a difference of delays, which a queue that stays long does not have.",
        "HIGH and LOW are the extreme 30 % of all samples, so that they can mark congestion only if it is there for less than 30 % "
        f"of the time. Here it is there for {of(QUIET_FAR, 'time with a queue beyond half')} and {of(MOVING, 'time with a queue beyond half')} of it.",
        f"At rest between random ends, mostly one hop apart, the queue is beyond half for {of(QUIET, 'time with a queue beyond half')} of the time: the stream fills "
        f"the queue of the node it starts at. There IDD is HIGH in {of(QUIET, 'IDD HIGH, queue beyond half')} and STT LOW in {of(QUIET, 'STT LOW, queue beyond half')} of the intervals "
        "beyond half, which tells nothing. A stream of 50 kb/s does not fill it: the queue is beyond half for "
        f"{of(LIMITED, 'time with a queue beyond half')} of the time. Then IDD is HIGH in "
        f"{of(LIMITED, 'IDD HIGH, queue beyond half')} and STT LOW in {of(LIMITED, 'STT LOW, queue beyond half')} of the intervals beyond half.",
        "The stream of Fig. 2 is “a TFRC flow”: it counts every loss, whatever its receiver identifies. Moving, with errors, its queue is beyond half for "
        f"{of(MOVING, 'time with a queue beyond half')} of the time. An ADTFRC flow there brings its own congestion: "
        f"{of(ITSELF, 'time with a queue beyond half')}, and IDD is HIGH in {of(ITSELF, 'IDD HIGH, queue beyond half')} of the intervals beyond half, STT LOW in "
        f"{of(ITSELF, 'STT LOW, queue beyond half')}.",
        f"At {top:g} % of errors PLR is {of(_stepped('network'), f'PLR at {top:g} % errors')} if packets are lost above the MAC's "
        f"retries, and {of(_stepped('frame'), f'PLR at {top:g} % errors')} if frames are. The paper's PLR follows the rate. So its "
        "errors are above the retries, and so are those of M2 to M5. Over several hops a packet meets them several times.",
        f"At 5 m/s the stream alone changes its route {significant(number(table, ALONE, 'changes of the route'))} times in a run, and "
        f"packets come out of order in {of(ALONE, 'intervals with POR above 0')} of the intervals. Over 3 s each, POR and route changes have a correlation of "
        f"{finding('M1.por', table)}. Until route changes were counted, the study compared moving nodes with nodes at rest.",
    ]


def _m1_figures(table: Table) -> list[tuple[str, Figure]]:
    from hopcast.figures import Group, Line, bars, lines

    cases = (*JUDGED, QUIET, ITSELF, LIMITED)
    groups = [
        Group.of(metric, [table[case, metric] for case in cases])
        for word in ("IDD HIGH", "STT LOW")
        for metric in (f"{word}, queue beyond half", f"{word}, queue below")
    ]
    levels: tuple[Level, ...] = ("network", "frame")
    ratios = [
        Line(
            f"errors of {'packets' if level == 'network' else 'frames'}",
            [(100.0 * rate, table[_stepped(level), f"PLR at {100.0 * rate:g} % errors"]) for _, rate in STEPS],
        )
        for level in levels
    ]
    return [
        ("Intervals of 0.3 s with an extreme metric", bars(cases, groups, y="intervals, %")),
        ("PLR against the rate of errors", lines(ratios, x="errors, %", y="PLR, %")),
    ]


# --- M2: identification ---------------------------------------------------------------------------------------------


def _m2_speeds(amount: Amount) -> tuple[float, ...]:
    return amount.pick(quick=(0.0, 10.0), full=(0.0, 5.0, 10.0, 15.0, 20.0))


def _m2_seeds(amount: Amount) -> tuple[int, ...]:
    return amount.pick(quick=tuple(range(1, 8)), full=tuple(range(1, 51)))


REACTING = "joint by ADTFRC"
"""Not in the paper's section III: the stream reacts to what it identifies."""


def _m2_beside(amount: Amount) -> tuple[int, ...]:
    return amount.pick(quick=_m2_seeds(amount)[:BESIDE_RUNS], full=_m2_seeds(amount))


def _m2_case(udp: int, speed: float) -> str:
    return f"{'congested' if udp else 'alone'}, {speed:g} m/s"


def _m2_limited(speed: float) -> str:
    return f"100 kb/s from edge to edge, two UDP flows, {speed:g} m/s, joint"


def _m2_row(case: str, told_by: str) -> str:
    """The name in rows, where each metric is a separate case."""
    return f"{case}, {told_by}"


def _m2_cases(amount: Amount) -> Mapping[str, Case]:
    made = {}
    for udp in (0, 2):
        for speed in _m2_speeds(amount):
            name = _m2_case(udp, speed)
            flows = [stream("stream0", "n0", "n1", observed()), *bursts(udp)]
            made[name] = Case(scene(name, speed, flows, errors=0.01), _m2_seeds(amount))
            name = _m2_row(name, REACTING)
            flows = [stream("stream0", "n0", "n1", transport("adtfrc")), *bursts(udp)]
            made[name] = Case(scene(name, speed, flows, errors=0.01), _m2_beside(amount))
    for speed in _m2_speeds(amount):
        name = _m2_limited(speed)
        limited = scene(name, speed, [_limited(M2_LIMIT), *bursts(2)], errors=0.01, ends=1)
        made[name] = Case(limited, _m2_beside(amount))
    return made


def scores(document: Document, metric: str, of: str) -> dict[str, float]:
    """Losses of the first stream in per cent of all, by the metric's judgement: right, wrongly treated as congestion,
    and wrongly treated as other losses.
    """
    matrix: dict[str, dict[str, int]] = document["flows"][0]["identification"][metric][of]
    congested = matrix["congestion"]
    losses = sum(sum(row.values()) for row in matrix.values())
    missed = sum(congested.values()) - congested["congestion"]
    alarms = sum(row["congestion"] for truth, row in matrix.items() if truth != "congestion")
    counts = {"missed": missed, "alarms": alarms, "wrong": missed + alarms, "congested": sum(congested.values())}
    return {name: 100.0 * count / losses if losses else math.nan for name, count in counts.items()}


def _score(measured: Measured, case: str, name: str, metric: str = "joint", of: str = "by_state") -> Sample:
    return measured.sample(case, lambda document: scores(document, metric, of)[name])


INACCURATE: Mapping[tuple[int, str], tuple[float, float]] = {
    (0, "joint"): (10.0, 30.0),
    (0, "idd"): (15.0, 45.0),
    (2, "joint"): (0.0, 5.0),
    (2, "idd"): (20.0, 30.0),
    (2, "stt"): (20.0, 30.0),
}
"""Percentage of the losses, by UDP flows and metric (section III-D; IDD alone also section III-B)."""


def _m2_speeds_of(measured: Measured) -> list[float]:
    parts = (part for case in measured.documents for part in case.split(", "))
    return sorted({float(part.removesuffix(" m/s")) for part in parts if part.endswith(" m/s")})


def _m2_rows(measured: Measured) -> list[Row]:
    rows = []
    better: dict[str, Sample] = {}
    for udp in (0, 2):
        for speed in _m2_speeds_of(measured):
            one = _m2_case(udp, speed)
            told = [(_m2_row(one, metric), one, metric) for metric in METRICS]
            for case, run, metric in (*told, (_m2_row(one, REACTING), _m2_row(one, REACTING), "joint")):
                low, high = INACCURATE.get((udp, metric), (None, None)) if run == one else (None, None)
                wrong = _score(measured, run, "wrong", metric)
                rows.append(value("M2", case, "wrong", "%", _known(wrong), low=low, high=high))
                most = 2.0 if run == one and metric == "joint" else None
                note = "Congestion taken for something else; under 2 % in the paper (section III-D)" if most else ""
                missed = _known(_score(measured, run, "missed", metric))
                rows.append(value("M2", case, "incompatible", "%", missed, high=most, note=note))
                congested = _known(_score(measured, run, "congested", metric))
                rows.append(value("M2", case, "lost in congestion", "%", congested))
                by_cause = _score(measured, run, "wrong", metric, "by_cause")
                rows.append(value("M2", case, "wrong, by the cause of each loss", "%", _known(by_cause)))
            joint = _score(measured, one, "wrong", "joint")
            for metric in METRICS[1:]:
                better[_m2_row(one, f"{metric} − joint")] = _score(measured, one, "wrong", metric) - joint
    rows += [value("M2", case, "wrong", "%", _known(gain)) for case, gain in better.items()]
    found = _known(REGISTER.picked("M2.joint-better", better.values()))
    rows.append(REGISTER.row("M2.joint-better", f"single − joint, the median of {len(better)}", "wrong", "%", found))
    rows += _m2_states(measured) + _m2_slowed(measured)
    for speed in _m2_speeds_of(measured):
        case = _m2_limited(speed)
        for metric, of in (("wrong", "wrong"), ("incompatible", "missed"), ("lost in congestion", "congested")):
            rows.append(value("M2", case, metric, "%", _known(_score(measured, case, of))))
    return rows


STATES: Mapping[str, str] = {
    "congestion": "congestion",
    "route_change": "route change",
    "channel_error": "channel error",
    "disconnection": "disconnection",
}
"""The four states that a loss shows (section III-A), as the results name them, and for people."""


TAKEN = "route change, identified as channel error"
"""Name of the rows about route changes that are identified as channel errors."""


def right(document: Document, metric: str) -> dict[str, float]:
    """Percentage of the first stream's losses in each true state that a metric identifies as this state, and of all."""
    matrix: dict[str, dict[str, int]] = document["flows"][0]["identification"][metric]["by_state"]
    hits = {truth: matrix[truth][truth] for truth in STATES}
    losses = {truth: sum(matrix[truth].values()) for truth in STATES}
    found = {truth: 100.0 * hits[truth] / losses[truth] if losses[truth] else math.nan for truth in STATES}
    every, lost = sum(losses.values()), losses["route_change"]
    found[TAKEN] = 100.0 * matrix["route_change"]["channel_error"] / lost if lost else math.nan
    return found | {"all": 100.0 * sum(hits.values()) / every if every else math.nan}


def _right(measured: Measured, case: str, truth: str, metric: str = "joint") -> Sample:
    return measured.sample(case, lambda document: right(document, metric)[truth])


def _m2_states(measured: Measured) -> list[Row]:
    """How many losses in each of the four states are identified as such."""
    rows = []
    every: dict[str, Sample] = {}
    for udp in (0, 2):
        for speed in _m2_speeds_of(measured):
            case = _m2_case(udp, speed)
            for truth, word in STATES.items():
                found = _known(_right(measured, case, truth))
                rows.append(value("M2", _m2_row(case, "joint"), f"{word}, identified", "%", found))
            taken = _known(_right(measured, case, TAKEN))
            rows.append(value("M2", _m2_row(case, "joint"), TAKEN, "%", taken))
            every[_m2_row(case, "joint")] = _known(_right(measured, case, "all"))
    return rows + REGISTER.rows("M2.above-80", "joint", "all four states, identified", "%", every)


def _m2_slowed(measured: Measured) -> list[Row]:
    """What motion costs single metrics, alone."""
    slowest, *_, fastest = _m2_speeds_of(measured)
    worse = {}
    for metric in METRICS[1:]:
        wrong = {v: _score(measured, _m2_case(0, v), "wrong", metric) for v in (slowest, fastest)}
        name = f"alone, {metric}, {fastest:g} − {slowest:g} m/s"
        worse[name] = _known(
            Sample.of(lambda at, rest: (at - rest) / (fastest - slowest), wrong[fastest], wrong[slowest])
        )
    return REGISTER.rows("M2.single-metrics-and-speed", "alone", "wrong, for each m/s", "%", worse)


def _m2_notes(table: Table) -> list[str]:
    speeds = sorted(
        {row.case.split(", ")[-2] for row in table.rows if " m/s, " in row.case},
        key=lambda text: float(text.split()[0]),
    )

    def of(udp: int, speed: str, metric: str, what: str) -> str:
        found = table[_m2_row(_m2_case(udp, float(speed.split()[0])), metric), what].measured
        return "–" if found is None else f"{found:.0f}"

    def by_speed(metric: str) -> str:
        row = next(
            row
            for row in table.rows
            if row.case.startswith(f"alone, {metric}, ") and row.metric == "wrong, for each m/s"
        )
        return row.measured_text().removesuffix(" %")

    found = []
    for udp in (0, 2):
        parts = "; ".join(
            f"{speed}: joint {of(udp, speed, 'joint', 'wrong')}, IDD {of(udp, speed, 'idd', 'wrong')}, STT "
            f"{of(udp, speed, 'stt', 'wrong')}, {of(udp, speed, 'joint', 'lost in congestion')} in congestion"
            for speed in speeds
        )
        found.append(
            f"Per cent of the losses that were identified wrongly {'with two UDP flows' if udp else 'alone'}. {parts}."
        )
    found.append(
        "The stream is “a single TFRC flow”, which counts every loss whatever is identified, so that all metrics judge the same losses. Where an ADTFRC "
        "flow acts on what it identifies it brings more congestion than it finds. "
        + " ".join(
            f"{'Two UDP flows' if udp else 'Alone'}, {speed}: {of(udp, speed, REACTING, 'wrong')} % wrong in place of {of(udp, speed, 'joint', 'wrong')}, "
            f"{of(udp, speed, REACTING, 'lost in congestion')} % in congestion in place of {of(udp, speed, 'joint', 'lost in congestion')}."
            for udp in (0, 2)
            for speed in speeds
        )
    )
    found.append(
        "Losses that the joint identification names rightly by their true state, alone and with two UDP flows (above 80 % in the paper). "
        + ". ".join(
            f"{speed}: all four states {of(0, speed, 'joint', 'all four states, identified')} and {of(2, speed, 'joint', 'all four states, identified')} %, "
            + ", ".join(
                f"{word} {of(0, speed, 'joint', f'{word}, identified')} and {of(2, speed, 'joint', f'{word}, identified')} %"
                for word in STATES.values()
            )
            for speed in speeds
        )
        + ". At a packet that shows a loss PLR is nearly always HIGH. So what is not identified as congestion is identified as a channel "
        "error unless POR is HIGH as well."
    )
    found.append(
        "Losses in route changes that are identified as channel errors: "
        + ", ".join(
            f"{of(udp, speed, 'joint', TAKEN)} % {'with two UDP flows' if udp else 'alone'} ({speed})"
            for speed in speeds
            for udp in (0, 2)
        )
        + ". Those packets are lost, and the ones behind them arrive in order. Source and sink were always connected where there is no number for disconnection."
    )
    found.append(
        "A joint identification is an AND: of losses in congestion it can only miss more than either metric alone. The paper's "
        "5 % where the network is congested needs HIGH and LOW to be nearly certain there, which M1 shows they are not. "
        f"Single metrics are wrong for {finding('M2.joint-better', table)} of the losses more than the joint identification (the median)."
    )
    found.append(
        "With speed a single metric is wrong more often, by 1.5 points for each m/s in the paper. Here IDD is by "
        f"{by_speed('idd')} and STT by {by_speed('stt')} points, from rest to the fastest case. The sentence {outcome('M2.single-metrics-and-speed', table)}."
    )
    limited = "; ".join(
        f"{speed}: {significant(number(table, _m2_limited(float(speed.split()[0])), 'wrong'))} % wrong, "
        f"{significant(number(table, _m2_limited(float(speed.split()[0])), 'lost in congestion'))} % in congestion"
        for speed in speeds
        if table[_m2_limited(float(speed.split()[0])), "wrong"].measured is not None
    )
    found.append(
        f"A stream of 100 kb/s, which does not fill its own queue, between the edges, with two UDP flows. {limited}."
    )
    return found


def _m2_figures(table: Table) -> list[tuple[str, Figure]]:
    from hopcast.figures import Group, bars

    joint = [row.case for row in table.rows if row.metric == "wrong" and row.case.endswith(", joint")]
    scenes = [case.removesuffix(", joint") for case in joint]
    # The stream of a limited rate, which is not the paper's, goes by both metrics alone.
    scenes = [scene for scene in scenes if all((f"{scene}, {metric}", "wrong") in table for metric in METRICS)]
    names = {"joint": "joint", "idd": "IDD", "stt": "STT"}
    groups = [Group.of(names[metric], [table[f"{scene}, {metric}", "wrong"] for scene in scenes]) for metric in METRICS]
    return [("Losses identified wrongly", bars(scenes, groups, y="wrong, % of all losses"))]


# --- M3: throughput -------------------------------------------------------------------------------------------------

SETTINGS: Mapping[str, tuple[float, int, bool]] = {
    "mobility": (0.0, 0, False),
    "mobility, 5 % errors": (0.05, 0, False),
    "mobility, 5 % errors, 3 CBR": (0.05, 3, False),
    "edge to edge, mobility": (0.0, 0, True),
    "edge to edge, mobility, 5 % errors": (0.05, 0, True),
}
"""Errors, CBR flows, and whether the ends are at rest on the two short edges, as in M5; the latter two are not in the
paper.
"""
PROTOCOLS: tuple[Protocol, ...] = ("adtfrc", "tfrc", "tcp")
OF_FRAMES = "5 % errors of frames"
"""The other reading of “channel error”: below the MAC's retries, which repair nearly all of them."""
LEADS: tuple[Protocol, ...] = ("adtfrc", "tcp")
"""Between which the paper's gap is."""


def _m3_speeds(amount: Amount) -> tuple[float, ...]:
    return amount.pick(quick=(10.0,), full=(0.0, 5.0, 10.0, 15.0, 20.0))


def _m3_seeds(amount: Amount, *, is_far: bool) -> tuple[int, ...]:
    """Claims concern streams between random nodes, whose paths differ much."""
    return tuple(range(1, amount.pick(quick=BESIDE_RUNS if is_far else 8, full=20) + 1))


def _m3_case(setting: str, speed: float, protocol: Protocol) -> str:
    return f"{setting}: {speed:g} m/s, {NAMES[protocol]}"


def _m3_cases(amount: Amount) -> Mapping[str, Case]:
    made = {}
    for setting, (errors, cbr, far) in SETTINGS.items():
        source, sink = ("source0", "sink0") if far else ("n0", "n1")
        for speed in _m3_speeds(amount):
            for protocol in PROTOCOLS:
                name = _m3_case(setting, speed, protocol)
                flows = [stream("stream0", source, sink, transport(protocol)), *bursts(cbr)]
                made[name] = Case(
                    scene(name, speed, flows, errors=errors, ends=int(far)),
                    _m3_seeds(amount, is_far=far),
                    beside=far,
                )
    for speed in _m3_speeds(amount):
        for protocol in LEADS:
            name = _m3_case(OF_FRAMES, speed, protocol)
            flows = [stream("stream0", "n0", "n1", transport(protocol))]
            made[name] = Case(
                scene(name, speed, flows, errors=0.05, level="frame"), _m3_seeds(amount, is_far=False), beside=True
            )
    for protocol in PROTOCOLS[:2]:
        # Under the name that it has among the speeds, so that it is simulated once.
        flows = [stream("stream0", "n0", "n1", transport(protocol))]
        made[_at_rest(protocol)] = Case(
            scene(_m3_case("mobility", 0.0, protocol), 0.0, flows), _m3_seeds(amount, is_far=False)
        )
    return made


def _at_rest(protocol: Protocol) -> str:
    return f"at rest, {NAMES[protocol]}"


def _m3_speeds_of(measured: Measured) -> list[float]:
    return sorted({float(case.split(": ")[1].split(" m/s")[0]) for case in measured.documents if ": " in case})


def _m3_rows(measured: Measured) -> list[Row]:
    rows = []
    over: dict[Protocol, dict[str, Sample]] = {"tfrc": {}, "tcp": {}}
    lead: dict[tuple[str, float], Sample] = {}
    for setting in SETTINGS:
        for speed in _m3_speeds_of(measured):
            rates = {p: _goodput(measured, _m3_case(setting, speed, p), "stream0") for p in PROTOCOLS}
            for protocol, rate in rates.items():
                rows.append(value("M3", _m3_case(setting, speed, protocol), "throughput", "kb/s", _known(rate)))
            lead[setting, speed] = rates["adtfrc"] - rates["tcp"]
            case = f"{setting}: {speed:g} m/s, ADTFRC / TFRC"
            ratio = _ratio(rates["adtfrc"], rates["tfrc"])
            is_far = SETTINGS[setting][2]
            if speed > 0.0 and not is_far:
                note = "100 to 800 % more when nodes are mobile (section V-A)"
                rows.append(value("M3", case, "throughput ratio", "", _known(ratio), low=2.0, high=9.0, note=note))
            else:
                rows.append(value("M3", case, "throughput ratio", "", _known(ratio)))
            over_tcp = _ratio(rates["adtfrc"], rates["tcp"])
            if not is_far:
                over["tfrc"][case], over["tcp"][case] = ratio, over_tcp
            case = f"{setting}: {speed:g} m/s, ADTFRC / TCP with ELFN"
            rows.append(value("M3", case, "throughput ratio", "", _known(over_tcp)))
    keys: dict[Protocol, str] = {"tfrc": "M3.above-tfrc", "tcp": "M3.above-tcp"}
    for other, key in keys.items():
        cells = over[other]
        case = f"ADTFRC / {NAMES[other]}, {WHICH['hardest']} of {len(cells)}"
        rows.append(REGISTER.row(key, case, "throughput ratio", "", REGISTER.picked(key, cells.values())))
    return rows + _m3_gaps(measured, lead) + _m3_sensitive(measured)


def _m3_gaps(measured: Measured, lead: Mapping[tuple[str, float], Sample]) -> list[Row]:
    """ADTFRC's advantage over TCP, in the paper's three settings: each has less of it than the one before."""
    rows = []
    for (more, less), key in zip(
        pairwise(setting for setting, (*_, far) in SETTINGS.items() if not far),
        ("M3.gap-with-errors", "M3.gap-with-cbr"),
        strict=True,
    ):
        cells = {f"{less} − {more}: {v:g} m/s": lead[less, v] - lead[more, v] for v in _m3_speeds_of(measured)}
        rows += REGISTER.rows(key, f"{less} − {more}", "lead of ADTFRC over TCP", "kb/s", cells)
    for speed in _m3_speeds_of(measured):
        ours, tcp = (_goodput(measured, _m3_case(OF_FRAMES, speed, p), "stream0") for p in LEADS)
        for protocol, rate in zip(LEADS, (ours, tcp), strict=True):
            rows.append(value("M3", _m3_case(OF_FRAMES, speed, protocol), "throughput", "kb/s", _known(rate)))
        change = ours - tcp - lead["mobility", speed]
        rows.append(value("M3", f"{OF_FRAMES} − mobility: {speed:g} m/s", "lead of ADTFRC over TCP", "kb/s", change))
    return rows


def _m3_sensitive(measured: Measured) -> list[Row]:
    fastest = max(_m3_speeds_of(measured))
    rest = {p: _goodput(measured, _at_rest(p), "stream0") for p in PROTOCOLS[:2]}
    kept = {p: _ratio(_goodput(measured, _m3_case("mobility", fastest, p), "stream0"), rest[p]) for p in rest}
    rows = [value("M3", _at_rest(p), "throughput", "kb/s", _known(rate)) for p, rate in rest.items()]
    rows += [
        value("M3", f"{NAMES[p]}, {fastest:g} m/s / at rest", "throughput ratio", "", _known(ratio))
        for p, ratio in kept.items()
    ]
    case, pair = f"TFRC − ADTFRC, {fastest:g} m/s / at rest", (kept["tfrc"], kept["adtfrc"])
    return [*rows, _difference("M3.sensitive", case, "throughput ratio", "", pair)]


def _m3_notes(table: Table) -> list[str]:
    found = []
    for setting in SETTINGS:
        speeds = dict.fromkeys(row.case.split(": ")[1].split(",")[0] for row in table.rows if ": " in row.case)
        parts = "; ".join(
            f"{speed} "
            + ", ".join(
                f"{NAMES[p]} {significant(number(table, f'{setting}: {speed}, {NAMES[p]}', 'throughput'))}"
                for p in PROTOCOLS
            )
            for speed in speeds
        )
        found.append(f"{capitalized(setting)}, kb/s: {parts}.")
    fastest = max(float(row.case.split(": ")[1].split(" m/s")[0]) for row in table.rows if ": " in row.case)

    def gain(setting: str, metric: str) -> str:
        return significant(number(table, f"{setting}: {fastest:g} m/s, ADTFRC / TFRC", metric))

    found.append(
        "Between two random nodes paths are of one or two hops for most of the time (the paper's footnote 7). The round trip is so "
        "short that the equation allows more than the radio carries, whatever is counted as congestion. At "
        f"{fastest:g} m/s ADTFRC has {gain('mobility', 'throughput ratio')} times the throughput of TFRC, and "
        f"{gain('mobility, 5 % errors', 'throughput ratio')} times with errors. From edge to edge, where the equation is the limit, it "
        f"has {gain('edge to edge, mobility', 'throughput ratio')} times as much without errors, and "
        f"{gain('edge to edge, mobility, 5 % errors', 'throughput ratio')} times with them. The paper has 2 to 9 times. That it "
        f"has more in all cases {outcome('M3.above-tfrc', table)}."
    )

    def lead(protocol: Protocol) -> tuple[float, float]:
        """Advantage over TCP, without errors and with them."""
        plain, errors = (
            number(table, _m3_case(setting, fastest, protocol), "throughput")
            - number(table, _m3_case(setting, fastest, "tcp"), "throughput")
            for setting in ("mobility", "mobility, 5 % errors")
        )
        return plain, errors

    def with_errors(protocol: Protocol) -> str:
        """What errors leave of the throughput."""
        clean, errors = (
            number(table, _m3_case(setting, fastest, protocol), "throughput")
            for setting in ("mobility", "mobility, 5 % errors")
        )
        return f"{errors / clean:.2f}" if clean else "–"

    ours, plain = lead("adtfrc"), lead("tfrc")
    found.append(
        f"ADTFRC's lead over TCP with ELFN is {significant(ours[0])} kb/s at {fastest:g} m/s, and {significant(ours[1])} kb/s with errors, which the paper says make it "
        f"smaller. ADTFRC keeps {with_errors('adtfrc')} of its throughput with them, TCP {with_errors('tcp')}. With three CBR flows the lead changes by {finding('M3.gap-with-cbr', table)}, in the paper it is smaller. That of TFRC, which identifies nothing, is {significant(plain[0])} and {significant(plain[1])} kb/s."
    )
    change = table[f"{OF_FRAMES} − mobility: {fastest:g} m/s", "lead of ADTFRC over TCP"].measured_text()
    found.append(
        f"If errors hit frames, so that the MAC repeats them, the lead changes by {change}, where it changes by {finding('M3.gap-with-errors', table)} if they hit packets. The paper does "
        "not say which. That section III-C.2 has losses that follow the rate of errors speaks for packets."
    )
    found.append(
        "Of what they have at rest TFRC keeps "
        + " and ADTFRC ".join(
            f"{number(table, f'{NAMES[p]}, {fastest:g} m/s / at rest', 'throughput ratio'):.2f}"
            for p in ("tfrc", "adtfrc")
        )
        + f" at {fastest:g} m/s. That TFRC is more sensitive to motion {outcome('M3.sensitive', table)}."
    )
    found.append(
        "TCP is told of a broken route when DSR has none left at the source; Holland and Vaidya's was told of each route error, also "
        "where the cache had another route."
    )
    return found


def _m3_figures(table: Table) -> list[tuple[str, Figure]]:
    from hopcast.figures import Group, Line, bars, lines

    made = []
    speeds = sorted({float(r.case.split(": ")[1].split(" m/s")[0]) for r in table.rows if ": " in r.case})
    if len(speeds) == 1:
        of_each = [
            Group.of(NAMES[p], [table[_m3_case(setting, speeds[0], p), "throughput"] for setting in SETTINGS])
            for p in PROTOCOLS
        ]
        return [(f"Throughput at {speeds[0]:g} m/s", bars(list(SETTINGS), of_each, y="throughput, kb/s"))]
    for setting in SETTINGS:
        drawn = [
            Line(NAMES[p], [(speed, table[_m3_case(setting, speed, p), "throughput"]) for speed in speeds])
            for p in PROTOCOLS
        ]
        made.append((f"Throughput: {setting}", lines(drawn, x="speed, m/s", y="throughput, kb/s")))
    return made


# --- M4: how even the rate is ---------------------------------------------------------------------------------------

SCENES: Mapping[str, float] = {"static, 2 % errors": 0.0, "5 m/s, 2 % errors": 5.0}
FAR_SCENE = "edge to edge, 5 m/s, 2 % errors"
"""Not in the paper: paths of several hops, which random ends hardly ever have (its footnote 7)."""
FAR_STILL = "edge to edge, static, 2 % errors"
"""Not in the paper, either: TCP alone."""
BLOCK = 3
"""Intervals of 0.3 s in one point of the rate."""


def _m4_case(name: str, protocol: Protocol) -> str:
    return f"{name}, {NAMES[protocol]}"


def _m4_seeds(amount: Amount) -> tuple[int, ...]:
    """As in M3, and rates vary by little more than by chance."""
    return amount.pick(quick=tuple(range(1, 13)), full=tuple(range(1, 21)))


def _m4_cases(amount: Amount) -> Mapping[str, Case]:
    far = {}
    for protocol in PROTOCOLS:
        name = _m4_case(FAR_SCENE, protocol)
        made = scene(name, 5.0, [stream("stream0", "source0", "sink0", transport(protocol))], errors=0.02, ends=1)
        far[name] = Case(made, amount.pick(quick=(1, 2, 3, 4), full=_m4_seeds(amount)), observe, beside=True)
    still = _m4_case(FAR_STILL, "tcp")
    made = scene(still, 0.0, [stream("stream0", "source0", "sink0", transport("tcp"))], errors=0.02, ends=1)
    far[still] = Case(made, amount.pick(quick=(1, 2, 3, 4), full=_m4_seeds(amount)), observe, beside=True)
    return far | {
        _m4_case(name, protocol): Case(
            scene(_m4_case(name, protocol), speed, [stream("stream0", "n0", "n1", transport(protocol))], errors=0.02),
            _m4_seeds(amount),
            observe,
        )
        for name, speed in SCENES.items()
        for protocol in PROTOCOLS
    }


def blocks(rates: Sequence[float]) -> list[float]:
    """Means of this number of intervals each."""
    return [mean(list(rates[start : start + BLOCK])) for start in range(0, len(rates) - BLOCK + 1, BLOCK)]


def variation(rates: Sequence[float]) -> float:
    """Standard deviation divided by mean; NaN if there is no rate."""
    centre = mean(list(rates))
    return math.sqrt(mean([(rate - centre) ** 2 for rate in rates])) / centre if centre else math.nan


def silences(rates: Sequence[float]) -> list[int]:
    """Lengths of the gaps between arrivals."""
    runs = [(silent, len(list(run))) for silent, run in groupby(rates, lambda rate: rate == 0.0)]
    # What stands before the first arrival is no interruption.
    return [length for silent, length in runs[1:] if silent]


def _m4_number(of: str) -> Callable[[Document], float]:
    def found(document: Document) -> float:
        tracks = _tracks(document)
        rates, each = blocks(tracks["rate"]), BLOCK * (tracks["time"][1] - tracks["time"][0])
        match of:
            case "variation":
                return variation(rates)
            case "longest":
                return each * max(silences(rates), default=0)
            case _:
                return float(len(silences(rates)))

    return found


def _m4_rows(measured: Measured) -> list[Row]:
    rows = []
    varies: dict[str, Sample] = {}
    for name in (*SCENES, FAR_SCENE):
        found: dict[tuple[Protocol, str], Sample] = {}
        for protocol in PROTOCOLS:
            case = _m4_case(name, protocol)
            for metric, unit, of in (
                ("coefficient of variation of the rate", "", "variation"),
                ("interruptions", "", "count"),
                ("longest interruption", "s", "longest"),
            ):
                found[protocol, of] = measured.sample(case, _m4_number(of))
                rows.append(value("M4", case, metric, unit, _known(found[protocol, of])))
        if name == FAR_SCENE:
            for other in PROTOCOLS[1:]:
                more = found["adtfrc", "count"] - found[other, "count"]
                rows.append(value("M4", f"{name}, ADTFRC − {NAMES[other]}", "interruptions", "", _known(more)))
            continue
        varies[name] = found["adtfrc", "variation"]
        for other in PROTOCOLS[1:]:
            case = f"{name}, ADTFRC − {NAMES[other]}"
            less = found["adtfrc", "variation"] - found[other, "variation"]
            rows.append(value("M4", case, "coefficient of variation of the rate", "", _known(less)))
        if SCENES[name]:
            case = f"{name}, ADTFRC − TFRC"
            pair = (found["adtfrc", "longest"], found["tfrc", "longest"])
            rows.append(_difference("M4.tfrc-silent-longer", case, "longest interruption", "s", pair))
            pair = (found["adtfrc", "count"], found["tcp", "count"])
            other_case = f"{name}, ADTFRC − TCP with ELFN"
            rows.append(_difference("M4.tcp-interrupted-more", other_case, "interruptions", "", pair))
            pair = (found["adtfrc", "count"], found["tfrc", "count"])
            rows.append(_difference("M4.tfrc-interrupted-more", case, "interruptions", "", pair))
            pair = (found["tcp", "longest"], found["tfrc", "longest"])
            rows.append(_difference("M4.tcp-short", f"{name}, TCP with ELFN − TFRC", "longest interruption", "s", pair))
        else:
            wider = _known(_ratio(found["tfrc", "variation"], found["adtfrc", "variation"]))
            case = f"{name}, TFRC / ADTFRC"
            rows.append(REGISTER.row("M4.rate-range", case, "variation of the rate, ratio", "", wider))
            cut = _known(found["tcp", "count"])
            rows.append(
                REGISTER.row("M4.tcp-interrupted-at-rest", f"{name}, TCP with ELFN alone", "interruptions", "", cut)
            )
    metric = "coefficient of variation of the rate"
    still = _m4_case(FAR_STILL, "tcp")
    rows.append(value("M4", still, "interruptions", "", _known(measured.sample(still, _m4_number("count")))))
    rest, moving = SCENES
    pair = (varies[moving], varies[rest])
    return [*rows, _difference("M4.adtfrc-varies", f"ADTFRC, {moving} − {rest}", metric, "", pair)]


def _m4_notes(table: Table) -> list[str]:
    metric = "coefficient of variation of the rate"

    def cuts(name: str) -> str:
        return ", ".join(
            f"{NAMES[p]} {significant(number(table, _m4_case(name, p), 'interruptions'), 2)}" for p in PROTOCOLS
        )

    moving = next(name for name, speed in SCENES.items() if speed)
    far = (
        f"Interruptions of nodes that move: between random ends, one or two hops apart for most of the time, {cuts(moving)}. From edge to edge: "
        f"{cuts(FAR_SCENE)}. In the paper TCP's and TFRC's are more. At rest TCP with ELFN is interrupted "
        f"{significant(number(table, _m4_case(next(iter(SCENES)), 'tcp'), 'interruptions'), 2)} times between random ends and "
        f"{significant(number(table, _m4_case(FAR_STILL, 'tcp'), 'interruptions'), 2)} times from edge to edge. "
        f"That TFRC is silent for longer {outcome('M4.tfrc-silent-longer', table)} between random ends, and that it is interrupted more often "
        f"{outcome('M4.tfrc-interrupted-more', table)}. That TFRC's rate varies much more at rest {outcome('M4.rate-range', table)}: it varies "
        f"{finding('M4.rate-range', table)} times as much as ADTFRC's."
    )
    return [
        f"{name}: the rate's coefficient of variation is "
        + ", ".join(f"{number(table, _m4_case(name, p), metric):.2f} with {NAMES[p]}" for p in PROTOCOLS)
        + "; the longest interruption "
        + ", ".join(f"{number(table, _m4_case(name, p), 'longest interruption'):.0f} s" for p in PROTOCOLS)
        + "."
        for name in (*SCENES, FAR_SCENE)
    ] + [far]


def _m4_figures(table: Table) -> list[tuple[str, Figure]]:
    from hopcast.figures import Group, bars

    def drawn(metric: str, y: str) -> Figure:
        groups = [Group.of(NAMES[p], [table[_m4_case(name, p), metric] for name in SCENES]) for p in PROTOCOLS]
        return bars(list(SCENES), groups, y=y)

    return [
        ("How much the rate varies", drawn("coefficient of variation of the rate", "standard deviation / mean")),
        ("Longest interruption", drawn("longest interruption", "longest interruption, s")),
    ]


# --- M5: friendliness -----------------------------------------------------------------------------------------------

PLAIN, BESIDE, BY_IDD, CLEAN = "4 TFRC", "2 ADTFRC, 2 TFRC", "2 ADTFRC by IDD alone, 2 TFRC", ", no errors"
MIXES: Mapping[str, tuple[Protocol, Protocol, str, float]] = {
    PLAIN: ("tfrc", "tfrc", "joint", 0.05),
    BESIDE: ("adtfrc", "tfrc", "joint", 0.05),
    "2 TFRC, 2 TCP with ELFN": ("tfrc", "tcp", "joint", 0.05),
    "2 ADTFRC, 2 TCP with ELFN": ("adtfrc", "tcp", "joint", 0.05),
    "4 ADTFRC": ("adtfrc", "adtfrc", "joint", 0.05),
    BY_IDD: ("adtfrc", "tfrc", "idd", 0.05),
    PLAIN + CLEAN: ("tfrc", "tfrc", "joint", 0.0),
    BESIDE + CLEAN: ("adtfrc", "tfrc", "joint", 0.0),
    BY_IDD + CLEAN: ("adtfrc", "tfrc", "idd", 0.0),
}
"""The protocols of the first two and the last two of four streams, ADTFRC's metric, and the errors. TFRC with TCP is
not in the paper: it is the reference for ADTFRC with TCP. The last four are not in the paper either: they look for
reasons.
"""
STREAMS = ("stream0", "stream1", "stream2", "stream3")


def _m5_seeds(amount: Amount) -> tuple[int, ...]:
    return amount.pick(quick=tuple(range(1, 7)), full=tuple(range(1, 21)))


def _m5_cases(amount: Amount) -> Mapping[str, Case]:
    made = {}
    for name, (first, last, metric, errors) in MIXES.items():
        flows = [
            stream(flow, f"source{place}", f"sink{place}", transport((first, last)[place // 2], metric))
            for place, flow in enumerate(STREAMS)
        ]
        beside = name == BY_IDD or name.endswith(CLEAN)
        made[name] = Case(scene(name, 5.0, flows, errors=errors, ends=len(STREAMS)), _m5_seeds(amount), beside=beside)
    return made


def _m5_rows(measured: Measured) -> list[Row]:
    rows = []
    pairs: dict[tuple[str, int], Sample] = {}
    for name, (first, last, _, _) in MIXES.items():
        for half, kind in enumerate((first, last)):
            pairs[name, half] = _goodput(measured, name, *STREAMS[2 * half : 2 * half + 2])
            metric = f"streams {2 * half + 1} and {2 * half + 2}, {NAMES[kind]}"
            rows.append(value("M5", name, metric, "kb/s", _known(pairs[name, half])))
        rows.append(value("M5", name, "all", "kb/s", _known(_goodput(measured, name, *STREAMS))))
    for key, plain, beside, base in (
        ("M5.two-tfrc", "two TFRC", BESIDE, PLAIN),
        ("M5.two-tcp", "two TCP with ELFN", "2 ADTFRC, 2 TCP with ELFN", "2 TFRC, 2 TCP with ELFN"),
    ):
        ratio = _ratio(pairs[beside, 1], pairs[base, 1])
        rows.append(REGISTER.row(key, f"{plain}: beside ADTFRC / beside TFRC", "throughput ratio", "", ratio))
    for beside, base in ((BY_IDD, PLAIN), (BESIDE + CLEAN, PLAIN + CLEAN), (BY_IDD + CLEAN, PLAIN + CLEAN)):
        ratio = _ratio(pairs[beside, 1], pairs[base, 1])
        rows.append(value("M5", f"two TFRC of {beside} / {base}", "throughput ratio", "", _known(ratio)))
    ratio = _ratio(_goodput(measured, "4 ADTFRC", *STREAMS), _goodput(measured, PLAIN, *STREAMS))
    rows.append(REGISTER.row("M5.network", "4 ADTFRC / 4 TFRC", "throughput ratio", "", ratio))
    return rows


def _m5_notes(table: Table) -> list[str]:
    totals = " ".join(f"{name}: {significant(number(table, name, 'all'))} kb/s." for name in MIXES)

    def ratio(case: str) -> str:
        return significant(number(table, case, "throughput ratio"))

    return [
        f"All four streams. {totals}",
        f"Four ADTFRC have {finding('M5.network', table)} times the throughput of four TFRC.",
        f"Two TFRC together with two ADTFRC keep {finding('M5.two-tfrc', table)} of what they have together with TFRC. Where ADTFRC uses IDD alone, "
        f"which finds more of the congestion (M2), it is {ratio(f'two TFRC of {BY_IDD} / {PLAIN}')}. Without errors it is "
        f"{ratio(f'two TFRC of {BESIDE}{CLEAN} / {PLAIN}{CLEAN}')} jointly and "
        f"{ratio(f'two TFRC of {BY_IDD}{CLEAN} / {PLAIN}{CLEAN}')} by IDD alone. ADTFRC does not yield to congestion that it does not see. Plain TFRC treats "
        "errors as congestion too, and yields to both.",
        f"Two TCP with ELFN keep {finding('M5.two-tcp', table)} of what they have: that they keep it {outcome('M5.two-tcp', table)}.",
    ]


def _m5_figures(table: Table) -> list[tuple[str, Figure]]:
    from hopcast.figures import Group, bars

    def drawn(mixes: Sequence[str]) -> Figure:
        groups = []
        for half in range(2):
            kinds = [MIXES[name][1] if half else MIXES[name][0] for name in mixes]
            metrics = [f"streams {2 * half + 1} and {2 * half + 2}, {NAMES[kind]}" for kind in kinds]
            rows = [table[name, metric] for name, metric in zip(mixes, metrics, strict=True)]
            groups.append(Group.of(f"streams {2 * half + 1} and {2 * half + 2}", rows))
        return bars([name.removesuffix(CLEAN) for name in mixes], groups, y="throughput, kb/s")

    clean = [name for name in MIXES if name.endswith(CLEAN)]
    return [
        ("Four streams, 5 % errors", drawn([name for name in MIXES if name not in clean])),
        ("Four streams, no errors", drawn(clean)),
    ]


# --- M7: what the design rests on -------------------------------------------------------------------------------------

RATES = (100e3, 50e3)
"""bit/s of a stream that fills no queue, before and after a change of its rate."""
LOSSES = 0.05


def _m7_case(rate: float, errors: float) -> str:
    return f"{rate / 1e3:g} kb/s, alone, static, {100.0 * errors:g} % errors"


def _m7_seeds(amount: Amount) -> tuple[int, ...]:
    return amount.pick(quick=(1, 2, 3, 4), full=tuple(range(1, 21)))


QUOTED = ("mobility", "mobility, 5 % errors", "mobility, 5 % errors, 3 CBR")
"""M3's settings that the paper has."""


def _m7_cases(amount: Amount) -> Mapping[str, Case]:
    """Light streams for Fig. 1; the rest are cases of M1 and M3, which are simulated once."""
    made = {}
    for rate, errors in ((RATES[0], 0.0), (RATES[0], LOSSES), (RATES[1], 0.0)):
        name = _m7_case(rate, errors)
        flows = [stream("stream0", "n0", "n1", observed(), rate)]
        made[name] = Case(scene(name, 0.0, flows, errors=errors), _m7_seeds(amount))
    m1, m3 = _m1_cases(amount), _m3_cases(amount)
    shared = [_m3_case(setting, speed, p) for setting in QUOTED for speed in _m3_speeds(amount) for p in PROTOCOLS]
    return made | {name: m1[name] for name in JUDGED} | {name: m3[name] for name in shared}


def _m7_spread(measured: Measured, case: str, metric: str) -> Sample:
    """Root mean square of IDD or IAD over the packets that arrived, in ms."""

    def found(document: Document) -> float:
        spread = document["flows"][0]["arrivals"][metric]
        centre, deviation = spread["mean_s"], spread["deviation_s"]
        return math.nan if deviation is None else 1e3 * math.hypot(centre, deviation)

    return measured.sample(case, found)


def signals(document: Document, state: str) -> dict[str, float]:
    """Of the packets of the first stream that arrived in a state of the network: percentages with IDD HIGH, STT LOW and
    both, and the correlation (phi) of the two. NaN without a packet, or where one of them never varies.
    """
    counts: dict[str, int] = document["flows"][0]["arrivals"][state]
    total = counts["packets"]
    if not total:
        return dict.fromkeys(("idd", "stt", "both", "phi"), math.nan)
    idd, stt, both = (counts[name] / total for name in ("idd_high", "stt_low", "both"))
    over = math.sqrt(idd * (1.0 - idd) * stt * (1.0 - stt))
    phi = (both - idd * stt) / over if over else math.nan
    return {"idd": 100.0 * idd, "stt": 100.0 * stt, "both": 100.0 * both, "phi": phi}


def _m7_signal(measured: Measured, case: str, state: str, of: str) -> Sample:
    return _known(measured.sample(case, lambda document: signals(document, state)[of]))


def _answers(document: Document) -> float:
    """Packets that the sink sends for each that it gets."""
    flow = document["flows"][0]
    return flow["feedback_packets"] / flow["received_packets"] if flow["received_packets"] else math.nan


def _m7_rows(measured: Measured) -> list[Row]:
    rows = []
    plain = _m7_case(RATES[0], 0.0)
    for key, moved in (
        ("M7.losses-move-iad", _m7_case(RATES[0], LOSSES)),
        ("M7.rate-moves-iad", _m7_case(RATES[1], 0.0)),
    ):
        by = {}
        for metric in ("iad", "idd"):
            before, after = (_m7_spread(measured, case, metric) for case in (plain, moved))
            rows.append(value("M7", moved, f"{metric.upper()}, root mean square", "ms", _known(after)))
            by[metric] = after - before
        part = _known(Sample.of(lambda idd, iad: idd / iad if iad else math.nan, by["idd"], by["iad"]))
        rows.append(REGISTER.row(key, f"{moved} − {plain}", "change of IDD / of IAD", "", part))
    for metric in ("iad", "idd"):
        sample = _known(_m7_spread(measured, plain, metric))
        rows.append(value("M7", plain, f"{metric.upper()}, root mean square", "ms", sample))
    for case in JUDGED:
        for state, word in (("normal", "no queue beyond half"), ("congestion", "a queue beyond half")):
            for of, name in (("idd", "IDD HIGH"), ("stt", "STT LOW"), ("both", "both")):
                rows.append(
                    value("M7", case, f"packets with {name}, {word}", "%", _m7_signal(measured, case, state, of))
                )
        together = _m7_signal(measured, case, "congestion", "phi")
        rows.append(value("M7", case, "correlation of IDD HIGH and STT LOW, a queue beyond half", "", together))
    noise = {case: _m7_signal(measured, case, "normal", "phi") for case in JUDGED}
    rows += REGISTER.rows(
        "M7.noises-independent", "", "correlation of IDD HIGH and STT LOW, no queue beyond half", "", noise
    )
    heavier = {}
    for setting in QUOTED:
        for speed in _m3_speeds_of(measured):
            sent = {p: measured.sample(_m3_case(setting, speed, p), _answers) for p in PROTOCOLS}
            for protocol, sample in sent.items():
                case = _m3_case(setting, speed, protocol)
                rows.append(value("M7", case, "packets that the sink sends for each that it gets", "", _known(sample)))
            heavier[f"{setting}: {speed:g} m/s, TCP with ELFN / ADTFRC"] = _known(
                Sample.of(lambda tcp, ours: tcp / ours if ours else math.nan, sent["tcp"], sent["adtfrc"])
            )
    return rows + REGISTER.rows(
        "M7.acknowledgements", "TCP with ELFN / ADTFRC", "packets of the sink, ratio", "", heavier
    )


def _m7_notes(table: Table) -> list[str]:
    def ms(rate: float, errors: float, metric: str) -> str:
        return significant(number(table, _m7_case(rate, errors), f"{metric}, root mean square"))

    def of(case: str, metric: str) -> str:
        found = table[case, metric].measured
        return "none" if found is None else f"{found:.0f} %"

    def drawn(word: str) -> str:
        return " ".join(
            f"{capitalized(case)}: IDD HIGH {of(case, f'packets with IDD HIGH, {word}')}, STT LOW {of(case, f'packets with STT LOW, {word}')}, "
            f"both {of(case, f'packets with both, {word}')}."
            for case in JUDGED
        )

    correlated = " and ".join(
        f"{number(table, case, 'correlation of IDD HIGH and STT LOW, a queue beyond half'):.2f}" for case in JUDGED
    )

    return [
        f"A stream of {RATES[0] / 1e3:g} kb/s alone has a root mean square of IAD of {ms(RATES[0], 0.0, 'IAD')} ms and of IDD of "
        f"{ms(RATES[0], 0.0, 'IDD')} ms. With {100.0 * LOSSES:g} % of errors in each hop they are {ms(RATES[0], LOSSES, 'IAD')} and "
        f"{ms(RATES[0], LOSSES, 'IDD')} ms, and at {RATES[1] / 1e3:g} kb/s {ms(RATES[1], 0.0, 'IAD')} and {ms(RATES[1], 0.0, 'IDD')} ms.",
        f"Packet by packet, while no queue is beyond half. {drawn('no queue beyond half')}",
        f"While one is beyond half. {drawn('a queue beyond half')} The paper has P1 ≈ P2 ≈ 1 there.",
        "The two metrics have a correlation of at most "
        f"{finding('M7.noises-independent', table)} while no queue is beyond half, and of {correlated} while one is. A joint identification of "
        "independent metrics misses what either of them misses.",
        f"The sink of TCP with ELFN sends {finding('M7.acknowledgements', table)} times as many packets as that of ADTFRC, or more (the hardest case).",
    ]


def _m7_figures(table: Table) -> list[tuple[str, Figure]]:
    from hopcast.figures import Group, bars

    words = ("no queue beyond half", "a queue beyond half")
    groups = [
        Group.of(f"{name}, {word}", [table[case, f"packets with {name}, {word}"] for case in JUDGED])
        for word in words
        for name in ("IDD HIGH", "STT LOW", "both")
    ]
    return [("Packets with an extreme metric", bars(list(JUDGED), groups, y="packets, %"))]


EXPERIMENTS = (
    Experiment(
        "M1",
        "Four metrics of the path",
        "IDD and STT against the largest queue in the network, POR of moving nodes, PLR against errors in steps (Fig. 2).",
        lambda amount: _setup(
            amount,
            [
                WATCHED,
                BACKGROUND,
                Parameter(
                    "ends at rest",
                    "beside the CBR flows on the two short edges, beside it random",
                    "not stated; Fig. 2 has small and large queues in one run",
                ),
                Parameter("errors", "0, 2, 5, 10 % for 75 s each", "Fig. 2, right"),
            ],
        ),
        _m1_cases,
        _m1_rows,
        _m1_figures,
        _m1_notes,
    ),
    Experiment(
        "M2",
        "Identification of congestion",
        "What each loss was taken for, beside what a monitor of the whole network knows of it, jointly and by single metrics "
        "(Fig. 3).",
        lambda amount: _setup(
            amount,
            [
                WATCHED,
                BACKGROUND,
                ERRORS,
                Parameter(
                    "congestion",
                    "a queue of any node beyond half, or overflown",
                    "section III-C.1; the monitor is not described",
                ),
                Parameter("runs", f"{len(_m2_seeds(amount))} seeds", "50 (section III-D)"),
            ],
        ),
        _m2_cases,
        _m2_rows,
        _m2_figures,
        _m2_notes,
    ),
    Experiment(
        "M3",
        "Throughput of a moving network",
        "ADTFRC, TFRC, and TCP NewReno with ELFN, against speed: alone, with errors, with errors and three CBR flows (Fig. 5).",
        lambda amount: _setup(amount, [BACKGROUND, ERRORS, TCP, LEAST_RTO]),
        _m3_cases,
        _m3_rows,
        _m3_figures,
        _m3_notes,
    ),
    Experiment(
        "M4",
        "How even the rate is",
        "The rate that arrives over time, nodes at rest and at 5 m/s, 2 % of errors (Fig. 6).",
        lambda amount: _setup(
            amount, [ERRORS, TCP, LEAST_RTO, Parameter("rate", "means of 0.9 s", "the figure's steps are not stated")]
        ),
        _m4_cases,
        _m4_rows,
        _m4_figures,
        _m4_notes,
    ),
    Experiment(
        "M5",
        "Friendliness",
        "Four streams from edge to edge of a network that moves: of TFRC, TCP with ELFN, and ADTFRC beside them (Fig. 7).",
        lambda amount: _setup(
            amount,
            [
                ERRORS,
                TCP,
                LEAST_RTO,
                Parameter("ends", "at rest, on the two short edges", "section V-C; the places are not stated"),
            ],
        ),
        _m5_cases,
        _m5_rows,
        _m5_figures,
        _m5_notes,
    ),
    Experiment(
        "M7",
        "What the design rests on",
        "Losses and another rate move the time between arrivals (IAD) and not IDD (Fig. 1); the noises of IDD and STT are independent (section III-C.1); "
        "TCP's acknowledgements are more than ADTFRC's feedback (section V-A).",
        lambda amount: _setup(
            amount,
            [
                WATCHED,
                Parameter("light streams", "100 and 50 kb/s, alone at rest", "Fig. 1: the network is not congested"),
                Parameter(
                    "noise", "packets that arrive while no queue is beyond half, in M1's two scenes", "section III-C.1"
                ),
                Parameter("acknowledgements", "in M3's settings", "section V-A"),
                TCP,
            ],
        ),
        _m7_cases,
        _m7_rows,
        _m7_figures,
        _m7_notes,
    ),
)
