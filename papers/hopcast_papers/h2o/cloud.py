"""H12: a cloud of devices that reserve paths, and know their neighbours by statistics: what the paper leaves to the future.

The paper has no numbers of it. Scenes a and b: how many streams fit, and a link that is now and then slow. Scene c is in `feet`, d in `load`, e in
`shortening`, f in `placement`, g in `caches`, h in `walks`, i in `crossing`, k in `order`, l in `batches`, m in `lies`, n in `vehicles`, and failures are in
`losses` and `kills`. Real hosts, scene j of a proposal, are H15 (`live_cloud`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal

from hopcast.lab.experiment import Amount, Case, Document, Experiment, Measured, Parameter, Table
from hopcast.lab.rows import Row, Sample, value
from hopcast.scenario import Scenario
from hopcast_papers.h2o import (
    batches,
    by_distance,
    caches,
    calibration,
    crossing,
    feet,
    homes,
    kills,
    lies,
    load,
    losses,
    order,
    parts,
    placement,
    shortening,
    vehicles,
    walks,
)
from hopcast_papers.h2o.homes import DURATION, INTERVAL, SPREAD, STALLS_PER_HOUR
from hopcast_papers.h2o.places import number
from hopcast_papers.notes import finding, outcome
from hopcast_papers.register import REGISTER

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hopcast.types import Cloud, Requests

RATE = 4e6
"""b/s of a clip: the paper's yardstick (section I)."""
CARD = 22e6
"""b/s of media that a link carries alone: what the paper saw at 192 feet (section VI). 802.11a at 36 Mb/s has 22.05, by clause
17: 332 µs for a frame of 1396 B, 44 for SIFS and ACK, 101.5 for DIFS and backoff, for 1316 B of media.
"""
SHARE = 0.85
"""Share of time that streams may reserve: `cloud.max_airtime`."""
HOPS = (1, 2, 3, 4)
Rule = Literal["statistical", "airtime", "hops", "mean", "all"]
RULES: tuple[Rule, ...] = ("statistical", "airtime", "hops", "mean", "all")
"""The rule under test, and the baselines: airtime alone, hop count (T1), mean bandwidth (T2), admit all."""

# --- a: how many streams fit -----------------------------------------------------------------------------------------


def fitting(hops: int) -> int:
    """Streams over this number of hops in one range for which there is airtime."""
    return math.floor(SHARE * CARD / (RATE * hops))


def too_many(hops: int) -> int:
    """The least number of streams that need more than all of the time."""
    return math.floor(CARD / (RATE * hops)) + 1


def _capacity(rule: Rule, hops: int, amount: Amount) -> Scenario:
    """A row of devices that all sense each other: the last one asks the first one for a clip, again and again."""
    length = amount.pick(quick=60.0, full=300.0)
    asked = too_many(hops) + (0 if rule == "all" else 1)
    requests: list[Requests] = [
        {"from": f"home{hops}", "clip": f"film{number}", "start": f"{60 + 5 * number} s"} for number in range(asked)
    ]
    return Scenario(
        name=_capacity_case(rule, hops),
        duration=60 + 5 * asked + 3 * length,
        seed=1,
        radio=homes.radio(carrier_sense="200 m"),
        nodes=[{"name": "home", "count": hops + 1, "placement": {"shape": "line", "spacing": "20 m"}}],
        cloud={
            "admission": rule,
            "clips": [{"name": "film", "count": asked, "rate": RATE, "length": length, "at": ["home0"]}],
            "requests": requests,
        },
    )


def _capacity_case(rule: str, hops: int) -> str:
    return f"a, {rule}, {hops} hop{'s' if hops > 1 else ''}"


# --- b: a link that is now and then slow -------------------------------------------------------------------------------

SLOW = 1.69e6
"""b/s of media in slow times: 2 Mb/s DSSS, measured with ADUs of 1332 B over UDP behind a wall of 13 dB."""
LENGTH = 300.0
"""Seconds of a clip."""
PREFETCHED = (1, 2, 4, 8)
"""Seconds."""


def closed_form(prefetch: float) -> float:
    """Probability that a clip stalls: slow times are a Poisson process, and find a full buffer."""
    longest = prefetch / (1 - SLOW / RATE)
    deviate = (math.log(longest / DURATION) + SPREAD**2 / 2) / SPREAD
    return 1 - math.exp(-LENGTH / INTERVAL * (1 - NormalDist().cdf(deviate)))


def closed_form_prefetch(stalls_per_hour: float) -> float:
    """Seconds of media with which a clip stalls as often as that."""
    each = stalls_per_hour * INTERVAL / 3600
    deviate = NormalDist().inv_cdf(1 - each)
    return (1 - SLOW / RATE) * DURATION * math.exp(SPREAD * deviate - SPREAD**2 / 2)


def _link(name: str, amount: Amount, keys: Cloud) -> Scenario:
    """Two devices, 120 m apart; people who pass through take 13 dB, and the rate is the best for the power."""
    clips = amount.pick(quick=6, full=12)
    requests: list[Requests] = [
        {"from": "home1", "clip": "film", "start": f"{620 + 400 * number} s"} for number in range(clips)
    ]
    return Scenario(
        name=name,
        duration=620 + 400 * clips,
        seed=1,
        radio={
            "standard": "802.11g",
            "data_rate": "ideal",
            "rts_threshold": "off",
            "tx_power": "1 dBm",
            "propagation": {"model": "free-space"},
            "obstacles": {
                "blockage": {
                    "interval": INTERVAL,
                    "duration": DURATION,
                    "spread": SPREAD,
                    "attenuation": ["13 dB", "13 dB"],
                }
            },
        },
        nodes=[{"name": "home", "count": 2, "placement": {"shape": "line", "spacing": "120 m"}}],
        cloud={
            **keys,
            "clips": [{"name": "film", "rate": RATE, "length": LENGTH, "at": ["home0"]}],
            "requests": requests,
        },
    )


def _buffered(prefetch: float) -> str:
    return f"b, all, {prefetch} s"


CHOSEN = f"b, statistical, {STALLS_PER_HOUR:g} per hour"
STRICT = "b, statistical, 0.1 per hour"
MEAN = "b, mean"

# --- the experiment ------------------------------------------------------------------------------------------------------


def _seeds(amount: Amount) -> tuple[int, ...]:
    """Other seeds than those with which the machines were tried."""
    return amount.pick(quick=tuple(range(2201, 2205)), full=tuple(range(2201, 2231)))


def _capacity_seeds(amount: Amount) -> tuple[int, ...]:
    return amount.pick(quick=(2201, 2202), full=tuple(range(2201, 2211)))


def _setup(amount: Amount) -> list[Parameter]:
    return [
        Parameter("clips", "4 Mb/s, constant; packets of 1316 B", "the paper's yardstick (section I)"),
        Parameter("a: card", "802.11a at 36 Mb/s: 22.05 Mb/s of media", "22 Mb/s (section VI); clause 17"),
        Parameter(
            "a: places", "20 m apart, reach 25 m, all sense each other", "k participants “in the same radio range”"
        ),
        Parameter("b: link", f"21.9 and {SLOW / 1e6:g} Mb/s of media", "22 and 2 Mb/s (section VI)"),
        Parameter(
            "b: slow times",
            f"each {INTERVAL:g} s in the mean, {DURATION:g} s long in the mean, log-normal with {SPREAD:g}",
            "not stated",
        ),
        Parameter("b: profile", "ten minutes before the first request", "not stated"),
        Parameter("b: rate control", "the best rate for the power at the receiver", "not stated"),
        *feet.setup(amount),
        *load.setup(),
        *parts.setup(),
        *shortening.setup(amount),
        *placement.setup(),
        *caches.setup(),
        *walks.setup(),
        *crossing.setup(),
        *order.setup(),
        *batches.setup(),
        *lies.setup(),
        *vehicles.setup(),
        *losses.setup(),
        *kills.setup(),
        Parameter("runs", f"{len(_seeds(amount))} seeds in b, {len(_capacity_seeds(amount))} in a", "not stated"),
    ]


def _cases(amount: Amount) -> Mapping[str, Case]:
    found = {
        _capacity_case(rule, hops): Case(_capacity(rule, hops, amount), _capacity_seeds(amount))
        for rule in RULES
        for hops in HOPS
    }
    links = {_buffered(x): _link(_buffered(x), amount, {"admission": "all", "prefetch": x}) for x in PREFETCHED}
    links[CHOSEN] = _link(CHOSEN, amount, {"admission": "statistical", "stalls_per_hour": STALLS_PER_HOUR})
    links[STRICT] = _link(STRICT, amount, {"admission": "statistical"})
    links[MEAN] = _link(MEAN, amount, {"admission": "mean"})
    found |= {name: Case(scenario, _seeds(amount)) for name, scenario in links.items()}
    found |= feet.cases(amount)
    found |= load.cases(amount)
    found |= shortening.cases(amount)
    found |= placement.cases(amount)
    found |= caches.cases(amount)
    found |= walks.cases(amount)
    found |= crossing.cases(amount)
    found |= losses.cases(amount)
    found |= parts.cases(amount)
    found |= kills.cases(amount)
    return {**found, **order.cases(amount), **batches.cases(amount), **lies.cases(amount), **vehicles.cases(amount)}


def _streams(document: Document) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = document["cloud"]["streams"]
    return found


def _admitted(document: Document) -> list[dict[str, Any]]:
    return [stream for stream in _streams(document) if stream["start_up_s"] is not None]


def _starved(document: Document) -> float:
    """Share of the streams that were shown and stalled; zero of none."""
    shown = _admitted(document)
    return sum(stream["hiccups"] > 0 for stream in shown) / len(shown) if shown else 0.0


def _all_streams(measured: Measured, case: str) -> list[dict[str, Any]]:
    return [stream for document in measured.documents[case] for stream in _admitted(document)]


def _calibration(measured: Measured, case: str) -> tuple[float, float, int]:
    """Mean predicted probability of a stall, share of streams that stalled, and how many there were."""
    told = [stream for stream in _all_streams(measured, case) if stream["predicted_stall"] is not None]
    count = max(len(told), 1)
    return (
        sum(stream["predicted_stall"] for stream in told) / count,
        sum(stream["hiccups"] > 0 for stream in told) / count,
        len(told),
    )


def _apart(predicted: float, stalled: float, count: int) -> float:
    """Distance of the two, divided by half the width of the 95 % interval of a binomial share."""
    variance = max(predicted * (1 - predicted), 1 / max(count, 1))
    return abs(predicted - stalled) / (1.96 * math.sqrt(variance / max(count, 1)))


def _rows(measured: Measured) -> list[Row]:
    return [
        *_capacity_rows(measured),
        *_link_rows(measured),
        *feet.rows(measured),
        *load.rows(measured),
        *by_distance.rows(measured),
        *parts.rows(measured),
        *shortening.rows(measured),
        *placement.rows(),
        *placement.contended_rows(measured),
        *caches.rows(measured),
        *walks.rows(measured),
        *crossing.rows(measured),
        *order.rows(measured),
        *batches.rows(measured),
        *lies.rows(measured),
        *vehicles.rows(measured),
        *losses.rows(measured),
        *kills.rows(measured),
    ]


def _capacity_rows(measured: Measured) -> list[Row]:
    rows = []
    for rule in RULES:
        for hops in HOPS:
            case = _capacity_case(rule, hops)
            rows.append(value("H12", case, "admitted", "streams", measured.sample(case, homes.total("admitted"))))
            rows.append(
                value("H12", case, "starved of those", "%", measured.sample(case, lambda one: 100 * _starved(one)))
            )
    ours = {hops: _capacity_case("statistical", hops) for hops in HOPS}
    admitted = {
        case: measured.sample(case, lambda one, hops=hops: homes.total("admitted")(one) / fitting(hops))  # type: ignore[misc]
        for hops, case in ours.items()
    }
    rows += REGISTER.rows("H12.reserved", "a, statistical", "admitted / fitting", "", admitted)
    hiccups = {case: measured.sample(case, homes.total("hiccups")) for case in ours.values()}
    rows += REGISTER.rows("H12.hiccup-free", "a, statistical", "hiccups", "", hiccups)
    everybody = {
        _capacity_case("all", hops): measured.sample(_capacity_case("all", hops), lambda one: 1 - _starved(one))
        for hops in HOPS
    }
    rows += REGISTER.rows("H12.starve", "a, all, one too many", "streams without a hiccup / admitted", "", everybody)
    return rows


def _link_rows(measured: Measured) -> list[Row]:
    rows = []
    cells = {}
    for prefetch in PREFETCHED:
        case = _buffered(prefetch)
        predicted, stalled, count = _calibration(measured, case)
        rows.append(value("H12", case, "stalled, closed form", "%", Sample((100 * closed_form(prefetch),))))
        rows.append(value("H12", case, "stalled, predicted", "%", Sample((100 * predicted,))))
        rows.append(value("H12", case, "stalled, observed", "%", Sample((100 * stalled,))))
        cells[case] = Sample((_apart(predicted, stalled, count),))
    rows += REGISTER.rows("H12.profile", "b", "predicted − observed / half-width", "", cells)
    rows += calibration.rows([stream for x in PREFETCHED for stream in _all_streams(measured, _buffered(x))])
    for case in (CHOSEN, STRICT, MEAN):
        rows.append(value("H12", case, "admitted", "streams", measured.sample(case, homes.total("admitted"))))
        rows.append(value("H12", case, "starved of those", "%", measured.sample(case, lambda one: 100 * _starved(one))))
    chosen = [stream["prefetch_s"] for stream in _all_streams(measured, CHOSEN)]
    ratio = Sample((_median(chosen) / closed_form_prefetch(STALLS_PER_HOUR),))
    rows.append(REGISTER.row("H12.prefetched", CHOSEN, "prefetch / closed form", "", ratio))
    starved, baseline = measured.sample(STRICT, _starved), measured.sample(MEAN, _starved)
    rows.append(
        REGISTER.row("H12.minimize", "b", "starved, statistical / mean", "", Sample((_share(starved, baseline),)))
    )
    return rows


def _share(one: Sample, other: Sample) -> float:
    return one.mean / other.mean if other.mean > 0 else 1.0


def _median(values: Sequence[float]) -> float:
    ordered = sorted(values)
    return ordered[len(ordered) // 2] if ordered else 0.0


def _notes(table: Table) -> list[str]:
    def admitted(rule: str) -> str:
        return ", ".join(f"{table[_capacity_case(rule, hops), 'admitted'].measured:g}" for hops in HOPS)

    def stalled(of: str) -> str:
        return ", ".join(f"{number(table, _buffered(prefetch), f'stalled, {of}'):.0f}" for prefetch in PREFETCHED)

    return [
        "a: admitted over one to four hops: "
        + "; ".join(f"{rule} {admitted(rule)}" for rule in RULES)
        + f". By airtime {', '.join(str(fitting(hops)) for hops in HOPS)} fit.",
        f"b: the closed form buffers {closed_form_prefetch(STALLS_PER_HOUR):.1f} s for {STALLS_PER_HOUR:g} stalls per hour, and "
        f"{closed_form_prefetch(0.1):.1f} s for 0.1.",
        f"b: with {', '.join(map(str, PREFETCHED))} s of prefetch {stalled('observed')} % of the clips stall over a link that is now and then slow. The closed form "
        f"gives {stalled('closed form')} %, and profiles of ten minutes {stalled('predicted')} %. With 0.1 stalls per hour as the limit "
        f"{number(table, STRICT, 'starved of those'):.0f} % of the admitted clips stall: ten minutes hold no sample of a slow time that comes once in ten hours.",
        "c: at 192 ft a clip of 4 Mb/s comes over 802.11a or does not, as its lowest rate is 6 Mb/s. Of the admitted clips "
        + " and ".join(
            f"{number(table, feet.case(rule), 'starved of the admitted'):.1f} % ({rule})"
            for rule in ("statistical", "mean")
        )
        + f" stall, {finding('H12.places', table)} times as many by the profile, and the sentence {outcome('H12.places', table)}.",
        *load.notes(table),
        *by_distance.notes(table),
        *parts.notes(table),
        *shortening.notes(table),
        "f: under the assumptions of the 2004 paper first, then where displays contend for the air of 802.11a. A string that needs N − H copies saves little of a short clip.",
        *placement.notes(table),
        *kills.notes(table),
        "e and h: the display's watch over its first path was added after a run of e with another seed. The seeds of both ran before and after that. "
        "c ran first with the power in watts instead of dBm, and again with the unit mended.",
        "d: the quick form had one load and two seeds at first. Three more loads, two more seeds, the oracle, and 802.11e were added after those runs. The sentences on admitting all are judged by the two seeds.",
        "Scenes with reserved airtime ran again when devices began to tell at once what is reserved. Before, streams that reserved within two seconds of each other could take the same "
        "airtime, which runs of d with another seed showed. Scenes o and p had run once before, and none of their verdicts changed.",
        "d and n: TCP per hop, and carriers that expect to meet the display, were added last, after all other runs. No sentence is judged by them.",
        "Scenes a to i, k to p, and failures; real hosts are H15. In the quick form a case has less than 100 hours of display, so that rates of hiccups below 0.03 per hour can't be told from zero.",
    ]


def _figures(table: Table) -> list[tuple[str, Figure]]:
    from hopcast.figures import Group, bars

    cases = [_buffered(prefetch) for prefetch in PREFETCHED]
    groups = [
        Group.of(of, [table[case, f"stalled, {of}"] for case in cases])
        for of in ("predicted", "observed", "closed form")
    ]
    streams = [_capacity_case(rule, 1) for rule in RULES]
    return [
        ("Clips that stall over a link that is now and then slow", bars(cases, groups, y="clips, %")),
        (
            "Streams admitted over one hop",
            bars(streams, [Group.of("admitted", [table[case, "admitted"] for case in streams])], y="streams"),
        ),
        *calibration.figures(table),
        *load.figures(table),
        *by_distance.figures(table),
        *parts.figures(table),
        *feet.figures(table),
        *shortening.figures(table),
        *caches.figures(table),
        *walks.figures(table),
        *crossing.figures(table),
        *order.figures(table),
        *vehicles.figures(table),
        *losses.figures(table),
        *kills.figures(table),
    ]


EXPERIMENTS = (
    Experiment(
        "H12",
        "A cloud that admits streams by statistics",
        "Devices keep profiles of their neighbours, reserve airtime along a path, and admit a stream if it seldom stalls; next to admission by "
        "hops, mean bandwidth, airtime alone, and none. The paper names this as future work and has no numbers. "
        "a: streams of 4 Mb/s over one to four hops in one range. b: a link that is now and then slow. c: places at 192 ft. d: displays that come at random. e: people come and go, and a path could be "
        "shorter. f: where copies are stored, with the numbers of a paper of 2004. g: homes that keep what they display. h: devices that people carry. i: traffic that reserves "
        "nothing. k: which of a producer's streams sends next. l: long runs in batches. m: a device that lies. n: vehicles. o: without one part of a device each. p: one parameter changed.",
        _setup,
        _cases,
        _rows,
        _figures,
        _notes,
    ),
)
