"""H12, scene b: a link that is now and then slow, and whether profiles of it tell how often clips stall."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from hopcast.lab.experiment import Amount, Case, Measured, Parameter, Table
from hopcast.lab.rows import Row, Sample, value
from hopcast.scenario import Scenario
from hopcast_papers.h2o import calibration, homes, limits
from hopcast_papers.h2o.capacity import RATE
from hopcast_papers.h2o.places import number
from hopcast_papers.register import REGISTER

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hopcast.types import Blockage, Cloud, Obstacles, Requests

INTERVAL, DURATION, SPREAD = 60.0, 3.0, 0.8
"""Seconds from one slow time to the next, and their mean length, which is log-normal."""
STALLS_PER_HOUR = 6.0
"""Many enough that ten minutes of a link, some ten slow times, can tell of them."""
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


def people(loss: float) -> Obstacles:
    """People who pass through links, and take this loss in dB each."""
    blockage: Blockage = {
        "interval": INTERVAL,
        "duration": DURATION,
        "spread": SPREAD,
        "attenuation": [f"{loss:g} dB", f"{loss:g} dB"],
    }
    return {"blockage": blockage}


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
            "obstacles": people(13.0),
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


def _seeds(amount: Amount) -> tuple[int, ...]:
    """Other seeds than those with which the machines were tried."""
    return amount.pick(quick=tuple(range(2201, 2205)), full=tuple(range(2201, 2231)))


def setup(amount: Amount) -> list[Parameter]:
    """The parameters of the scene."""
    return [
        Parameter("b: link", f"21.9 and {SLOW / 1e6:g} Mb/s of media", "22 and 2 Mb/s (section VI)"),
        Parameter(
            "b: slow times",
            f"each {INTERVAL:g} s in the mean, {DURATION:g} s long in the mean, log-normal with {SPREAD:g}",
            "not stated",
        ),
        Parameter("b: profile", "ten minutes before the first request", "not stated"),
        Parameter("b: rate control", "the best rate for the power at the receiver", "not stated"),
        Parameter("b: runs", f"{len(_seeds(amount))} seeds", "not stated"),
    ]


def cases(amount: Amount) -> Mapping[str, Case]:
    """The cases."""
    links = {_buffered(x): _link(_buffered(x), amount, {"admission": "all", "prefetch": x}) for x in PREFETCHED}
    links[CHOSEN] = _link(CHOSEN, amount, {"admission": "statistical", "stalls_per_hour": STALLS_PER_HOUR})
    links[STRICT] = _link(STRICT, amount, {"admission": "statistical"})
    links[MEAN] = _link(MEAN, amount, {"admission": "mean"})
    return {name: Case(scenario, _seeds(amount)) for name, scenario in links.items()}


def _all_streams(measured: Measured, case: str) -> list[dict[str, Any]]:
    return [stream for document in measured.documents[case] for stream in homes.shown(document)]


def _clips(measured: Measured, prefetch: int) -> list[limits.Clip]:
    """The clips with this buffer of which the profiles had predicted something."""
    closed = closed_form(prefetch)
    told = [one for one in _all_streams(measured, _buffered(prefetch)) if one["predicted_stall"] is not None]
    estimates = [{limits.PROFILES: one["predicted_stall"], limits.CLOSED_FORM: closed} for one in told]
    return [limits.Clip(said, one["hiccups"] > 0) for said, one in zip(estimates, told, strict=True)]


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


def rows(measured: Measured) -> list[Row]:
    """The rows of the scene."""
    found: list[Row] = []
    cells = {}
    for prefetch in PREFETCHED:
        case = _buffered(prefetch)
        predicted, stalled, count = _calibration(measured, case)
        found.append(value("H12", case, "stalled, closed form", "%", Sample((100 * closed_form(prefetch),))))
        found.append(value("H12", case, "stalled, predicted", "%", Sample((100 * predicted,))))
        found.append(value("H12", case, "stalled, observed", "%", Sample((100 * stalled,))))
        cells[case] = Sample((_apart(predicted, stalled, count),))
    found += REGISTER.rows("H12.profile", "b", "predicted − observed / half-width", "", cells)
    found += calibration.rows([stream for x in PREFETCHED for stream in _all_streams(measured, _buffered(x))])
    found += limits.rows([clip for x in PREFETCHED for clip in _clips(measured, x)], LENGTH)
    for case in (CHOSEN, STRICT, MEAN):
        found.append(value("H12", case, "admitted", "streams", measured.sample(case, homes.total("admitted"))))
        found.append(
            value("H12", case, "starved of those", "%", measured.sample(case, lambda one: 100 * homes.starved(one)))
        )
    chosen = [stream["prefetch_s"] for stream in _all_streams(measured, CHOSEN)]
    ratio = Sample((_median(chosen) / closed_form_prefetch(STALLS_PER_HOUR),))
    found.append(REGISTER.row("H12.prefetched", CHOSEN, "prefetch / closed form", "", ratio))
    starved, baseline = measured.sample(STRICT, homes.starved), measured.sample(MEAN, homes.starved)
    found.append(
        REGISTER.row("H12.minimize", "b", "starved, statistical / mean", "", Sample((_share(starved, baseline),)))
    )
    return found


def _share(one: Sample, other: Sample) -> float:
    return one.mean / other.mean if other.mean > 0 else 1.0


def _median(values: Sequence[float]) -> float:
    ordered = sorted(values)
    return ordered[len(ordered) // 2] if ordered else 0.0


def notes(table: Table) -> list[str]:
    """How often clips stall, and what profiles and the closed form say of it."""

    def stalled(of: str) -> str:
        return ", ".join(f"{number(table, _buffered(prefetch), f'stalled, {of}'):.0f}" for prefetch in PREFETCHED)

    return [
        f"b: the closed form buffers {closed_form_prefetch(STALLS_PER_HOUR):.1f} s for {STALLS_PER_HOUR:g} stalls per hour, and "
        f"{closed_form_prefetch(0.1):.1f} s for 0.1.",
        f"b: with {', '.join(map(str, PREFETCHED))} s of prefetch {stalled('observed')} % of the clips stall over a link that is now and then slow. The closed form "
        f"gives {stalled('closed form')} %, and profiles of ten minutes {stalled('predicted')} %. With 0.1 stalls per hour as the limit "
        f"{number(table, STRICT, 'starved of those'):.0f} % of the admitted clips stall: ten minutes hold no sample of a slow time that comes once in ten hours.",
    ]


def figures(table: Table) -> list[tuple[str, Figure]]:
    """Clips that stall by their buffers, and by what was predicted for them."""
    from hopcast.figures import Group, bars

    cases = [_buffered(prefetch) for prefetch in PREFETCHED]
    groups = [
        Group.of(of, [table[case, f"stalled, {of}"] for case in cases])
        for of in ("predicted", "observed", "closed form")
    ]
    title = "b: clips that stall over a link that is now and then slow"
    labels = [f"{prefetch} s" for prefetch in PREFETCHED]
    return [
        (title, bars(labels, groups, x="buffer", y="clips, %")),
        *calibration.figures(table),
        *limits.figures(table),
    ]
