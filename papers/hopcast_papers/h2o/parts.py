"""H12, scenes o and p: what each part of a device brings, and how much hangs on its parameters.

The homes of scene d again, over links that people make slow or cut off for some seconds. In o a part is left out, and all others stay. In p one parameter
of a device with all parts is halved or doubled, or the probability of a stall is estimated in another way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from hopcast.lab.experiment import Amount, Case, Measured, Parameter, Table
from hopcast.lab.rows import Row, value
from hopcast.scenario import Scenario
from hopcast_papers.h2o import homes, load
from hopcast_papers.h2o.places import number
from hopcast_papers.h2o.slow_link import DURATION, INTERVAL, SPREAD, STALLS_PER_HOUR, people
from hopcast_papers.notes import outcome
from hopcast_papers.register import REGISTER

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hopcast.types import Cloud, Radio

CARD = 5.77e6
"""b/s of media over a link of 802.11b at 11 Mb/s, by clause 16 with the long preamble."""
RATE = CARD * 4 / 22
LENGTH = 60.0
"""Seconds of a clip."""
START = 620.0
"""Seconds after which profiles of ten minutes are full, as in b."""
PERSON = 9.0
"""dB of a passage, as in e."""
POWER = 9.0
"""dBm: the least whole number with which homes of a diagonal, 28 m apart, have 11 Mb/s."""
REACH = -93.7
"""dBm that a receiver needs: 10.5 dB less than from a home 20 m away. So a person slows a link of 20 m and cuts off a diagonal, and 40 m are too far."""
RADIO: Final[Radio] = {
    "standard": "802.11b",
    "data_rate": "ideal",
    "rts_threshold": "off",
    "tx_power": f"{POWER:g} dBm",
    "reception": "sinr",
    "receive_threshold": f"{REACH:g} dBm",
    "propagation": {"model": "log-distance", "exponent": 4},
}
LINKS = (40 + 2 * 32) / 72
"""Mean links of a shortest path between two of nine homes, if neighbours by a row, a column or a diagonal reach each other."""
ALL: Final[Cloud] = {
    "admission": "statistical",
    "stalls_per_hour": STALLS_PER_HOUR,
    "schedule": "earliest-deadline",
    "shortening": {},
}
"""All parts. The least buffer is chosen by the profiles."""
WHOLE = "o, all parts"
WITHOUT: Final[Mapping[str, Cloud]] = {
    "measured rates": {"admission": "hops", "nominal_rate": CARD * 25 / 22},
    "variation of rates": {"admission": "airtime"},
    "airtime": {"admission": "profile"},
    "chosen buffer": {"prefetch": "1 s"},
    "shorter paths": {},
    "patience with shorter paths": {"shortening": {"after": "0 s", "hold": "0 s"}},
    "order of streams": {},
    "what others reserve two hops away": {"sensing_hops": 1},
}
"""Parts, and what a device has in their place."""
GONE: Final[Mapping[str, str]] = {"shorter paths": "shortening", "order of streams": "schedule"}
"""Parts that are a key, which is left out."""
VARIED: Final[Mapping[str, Cloud]] = {
    "3 stalls per hour": {"stalls_per_hour": STALLS_PER_HOUR / 2},
    "12 stalls per hour": {"stalls_per_hour": STALLS_PER_HOUR * 2},
    "half-life 30 s": {"half_life": "30 s"},
    "half-life 120 s": {"half_life": "120 s"},
    "airtime up to 0.7": {"max_airtime": 0.7},
    "airtime up to 1": {"max_airtime": 1.0},
    "measured each 0.5 s": {"measurement_interval": "0.5 s"},
    "measured each 2 s": {"measurement_interval": "2 s"},
    "Gaussian estimate": {"estimator": "gaussian"},
    "estimate by a quantile": {"estimator": "quantile"},
}
"""Parameters of scene p. The share of airtime, which can't be doubled, comes as near to one as it can, and as much below."""
OFFERED = 1.0
"""The load: all requests together need as much time as there is."""


def without(part: str) -> str:
    """The name of a case of scene o."""
    return f"o, without {part}"


def varied(parameter: str) -> str:
    """The name of a case of scene p."""
    return f"p, {parameter}"


def interval() -> float:
    """Seconds from one request of a home to its next."""
    return load.SIDE**2 * RATE / CARD * LINKS * LENGTH * (1 - 1 / load.SIDE**2) / OFFERED


def _scenario(name: str, keys: Cloud, amount: Amount) -> Scenario:
    length = amount.pick(quick=900.0, full=21600.0)
    return Scenario(
        name=name,
        duration=START + length + 2 * LENGTH,
        seed=1,
        radio={**RADIO, "obstacles": people(PERSON)},
        nodes=[load.HOMES],
        cloud={
            **keys,
            "placement": "uniform",
            "copies": 1,
            "clips": [{"name": "clip", "count": load.SIDE**2, "rate": RATE, "length": LENGTH}],
            "requests": [{"from": "home", "clip": "clip", "start": START, "every": interval(), "stop": START + length}],
        },
    )


def setup() -> list[Parameter]:
    """The parameters of the scenes."""
    return [
        Parameter(
            "o and p: homes",
            f"9 in a grid, 20 m apart; 802.11b at the best rate for {POWER:g} dBm, exponent 4; diagonals reach each other",
            "as in d",
        ),
        Parameter(
            "o and p: people",
            f"each takes {PERSON:g} dB of a link: each {INTERVAL:g} s in the mean, for {DURATION:g} s in the mean, log-normal with {SPREAD:g}",
            "as in b and e",
        ),
        Parameter(
            "o and p: clips",
            f"{RATE / 1e6:.3g} Mb/s for {LENGTH:g} s over a card of {CARD / 1e6:g} Mb/s; load {OFFERED:g}",
            "4 of 22 Mb/s",
        ),
        Parameter("o and p: stalls", f"up to {STALLS_PER_HOUR:g} per hour", "as in b"),
    ]


def cases(amount: Amount) -> Mapping[str, Case]:
    """The cases."""
    seeds = amount.pick(quick=(3301, 3302, 3303), full=tuple(range(3301, 3311)))
    devices: dict[str, Cloud] = {WHOLE: ALL}
    for part, instead in WITHOUT.items():
        kept: Cloud = {**ALL, **instead}
        if part in GONE:
            kept.pop(GONE[part])  # type: ignore[misc]
        devices[without(part)] = kept
    for parameter, keys in VARIED.items():
        devices[varied(parameter)] = {**ALL, **keys}
    return {name: Case(_scenario(name, keys, amount), seeds) for name, keys in devices.items()}


def rows(measured: Measured) -> list[Row]:
    """The rows of the scenes: what a device with all parts does, and by seed how much others differ from it."""
    found: list[Row] = []
    for name in (WHOLE, *map(without, WITHOUT), *map(varied, VARIED)):
        for metric, unit, read in load.METRICS:
            found.append(value("H12", name, metric, unit, measured.sample(name, read)))
        hours = homes.hours_displayed(measured.documents[name])
        found.append(value("H12", name, "time displayed in all runs", "h", hours))
    for part in WITHOUT:
        more = homes.differences(measured, without(part), WHOLE, homes.hiccups_per_hour)
        found.append(value("H12", without(part), "hiccups, more than with all parts", "1/h", more))
    brought = {without(part): homes.differences(measured, WHOLE, without(part), load.fine) for part in WITHOUT}
    found += REGISTER.rows("H12.parts", "o", "whole without a hiccup, all parts − without", "%", brought)
    kept = measured.sample(WHOLE, homes.hiccups_per_hour)
    found.append(REGISTER.row("H12.aim", WHOLE, "hiccups per hour", "1/h", kept))
    base = measured.sample(WHOLE, load.fine).mean
    shares = {
        varied(parameter): measured.sample(varied(parameter), lambda one: load.fine(one) / base if base else 0.0)
        for parameter in VARIED
    }
    found += REGISTER.rows("H12.edge", "p", "whole without a hiccup / with the defaults", "", shares)
    return found


def notes(table: Table) -> list[str]:
    """What parts bring, and how much hangs on parameters."""
    served = {part: number(table, without(part), "whole without a hiccup") for part in WITHOUT}
    least, most = min(served, key=served.__getitem__), max(served, key=served.__getitem__)
    return [
        f"o: with all parts {number(table, WHOLE, 'whole without a hiccup'):.0f} % of the displays are whole and without a hiccup, with "
        f"{number(table, WHOLE, 'hiccups'):.1f} hiccups per hour, where up to {STALLS_PER_HOUR:g} are tolerated: the sentence {outcome('H12.aim', table)}. Without "
        f"{least} it is {served[least]:.0f} %, and without {most} {served[most]:.0f} %. That no part costs whole displays {outcome('H12.parts', table)}.",
        f"p: that no parameter decides about a fifth of the whole displays {outcome('H12.edge', table)}.",
    ]


def figures(table: Table) -> list[tuple[str, Figure]]:
    """Displays that were whole, and hiccups, of devices with parts left out and parameters changed."""
    parts = {"all parts": WHOLE} | {f"without {part}": without(part) for part in WITHOUT}
    parameters = {"defaults": WHOLE} | {parameter: varied(parameter) for parameter in VARIED}
    return [
        ("o: displays and hiccups without one part of a device", _bars(table, parts)),
        ("p: displays and hiccups with one parameter changed", _bars(table, parameters)),
    ]


def _bars(table: Table, cases: Mapping[str, str]) -> Figure:
    """Bars from left to right, so that long names fit, in a panel for each quantity."""
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.ticker import FixedLocator, FuncFormatter

    from hopcast.figures import COLOURS, STYLE, intervals

    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(9.0, 0.8 + 0.3 * len(cases)), layout="constrained")
        panels = figure.subplots(1, 2, sharey=True)
        labels = {"whole without a hiccup": "whole without a hiccup, %", "hiccups": "hiccups per hour"}
        for axes, (metric, label) in zip(panels, labels.items(), strict=True):
            found = [table[case, metric] for case in cases.values()]
            widths, half = [row.measured or 0.0 for row in found], [row.ci95 or 0.0 for row in found]
            axes.barh(
                list(cases),
                widths,
                xerr=intervals(widths, half, label),
                color=COLOURS[0],
                alpha=0.5,
                capsize=2.0,
                error_kw={"elinewidth": 1.0},
            )
            axes.set_xlabel(label)
            axes.set_xlim(left=0.0)
        panels[0].invert_yaxis()
        if max(table[case, "hiccups"].measured or 0.0 for case in cases.values()) > 100:
            panels[1].set_xscale("symlog", linthresh=10.0)
            panels[1].set_xlim(0.0, 3000.0)
            panels[1].xaxis.set_major_locator(FixedLocator([0, 10, 100, 1000]))
            panels[1].xaxis.set_major_formatter(FuncFormatter(lambda width, _: f"{width:g}"))
    return figure
