"""H12, scene d: displays that come at random, by each rule of admission, at twice the load that the air carries, in the full form also at half of it.

The card is scaled, so that a full medium has few frames: 802.11a at 6 Mb/s carries 5.14 Mb/s of media, and a clip has 4/22 of that, as the paper's
yardstick has of its card. The quick form has too little display for rates of hiccups: its claims are about large differences.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

from hopcast.lab.experiment import Amount, Case, Document, Measured, Parameter
from hopcast.lab.rows import Row, value
from hopcast.scenario import Scenario
from hopcast_papers.h2o import homes
from hopcast_papers.register import REGISTER

CARD = 5.14e6
"""b/s of media over one link alone, by clause 17: 1888 µs for a frame of 1396 B, 60 for SIFS and ACK, 101.5 for DIFS and backoff."""
RATE = CARD * 4 / 22
SIDE, LENGTH = 3, 20.0
"""Homes in a row of the grid and rows; seconds of a clip."""
LINKS = 2.0
"""Mean links of a shortest path between two of nine homes in a grid: 2 · (3 − 1/3) / 3 · 9/8."""
Rule = Literal["statistical", "airtime", "hops", "mean", "all"]
RULES: tuple[Rule, ...] = ("statistical", "airtime", "hops", "mean", "all")
QUICK, FULL = (2.0,), (0.5, 2.0)
"""Share of the time that all requests would need."""
START = 60.0
"""Seconds after which links are known."""


def case(rule: Rule, load: float) -> str:
    """The name of a case."""
    return f"d, {rule}, load {load:g}"


def interval(load: float) -> float:
    """Seconds from one request of a home to its next, so that all of them together need this share of the time."""
    airtime = RATE / CARD * LINKS * LENGTH * (1 - 1 / SIDE**2)
    return SIDE**2 * airtime / load


def _scenario(rule: Rule, load: float, amount: Amount) -> Scenario:
    length = amount.pick(quick=240.0, full=3600.0)
    return Scenario(
        name=case(rule, load),
        duration=START + length + 2 * LENGTH,
        seed=1,
        radio=homes.radio("6 Mb/s", "70 m"),
        nodes=[
            {"name": "home", "count": SIDE**2, "placement": {"shape": "grid", "columns": SIDE, "spacing": "20 m"}},
        ],
        cloud={
            "admission": rule,
            # As 25 of 22 Mb/s.
            "nominal_rate": CARD * 25 / 22,
            "prefetch": "2 s",
            "placement": "uniform",
            "copies": 1,
            "clips": [{"name": "clip", "count": SIDE**2, "rate": RATE, "length": LENGTH}],
            "requests": [
                {"from": "home", "clip": "clip", "start": START, "every": interval(load), "stop": START + length}
            ],
        },
    )


def setup() -> list[Parameter]:
    """The parameters of the scene."""
    return [
        Parameter(
            "d: homes", "9 in a grid, 20 m apart, reach 25 m, all sense each other", "“20 nodes” of a proposal, scaled"
        ),
        Parameter(
            "d: clips",
            f"{RATE / 1e6:.3g} Mb/s for {LENGTH:g} s over a card of 5.14 Mb/s; one copy each",
            "4 of 22 Mb/s",
        ),
        Parameter(
            "d: requests",
            "Poisson, Zipf 0.729; clips need twice the time that there is over shortest paths; in the full form also half of it",
            "not stated",
        ),
    ]


def cases(amount: Amount) -> Mapping[str, Case]:
    """The cases."""
    seeds = amount.pick(quick=(2701, 2702), full=tuple(range(2701, 2711)))
    return {
        case(rule, load): Case(_scenario(rule, load, amount), seeds)
        for rule in RULES
        for load in amount.pick(quick=QUICK, full=FULL)
    }


def _fine(document: Document) -> float:
    """Displays of others' clips that were whole and never stood still, per cent of those asked for."""
    totals = document["cloud"]["totals"]
    asked = totals["offered"] - totals["local"]
    return float(100 * totals["completed_without_hiccup"] / asked) if asked else math.nan


def rows(measured: Measured) -> list[Row]:
    """The rows of the scene."""
    found: list[Row] = []
    loads = [load for load in FULL if case("all", load) in measured.documents]
    for load in loads:
        for rule in RULES:
            name = case(rule, load)
            found.append(value("H12", name, "admitted", "%", measured.sample(name, homes.admitted_of_others)))
            found.append(value("H12", name, "whole without a hiccup", "%", measured.sample(name, _fine)))
            found.append(value("H12", name, "hiccups", "1/h", measured.sample(name, homes.hiccups_per_hour)))
    high = loads[-1]
    ours, none = case("statistical", high), case("all", high)
    base = measured.sample(none, homes.hiccups_per_hour).mean
    fewer = measured.sample(ours, lambda one: homes.hiccups_per_hour(one) / base if base else 1.0)
    found.append(REGISTER.row("H12.load-starve", "d", "hiccups per hour, statistical / all", "", fewer))
    fine = measured.sample(none, _fine).mean
    more = measured.sample(ours, lambda one: _fine(one) - fine)
    found.append(REGISTER.row("H12.load-whole", "d", "whole without a hiccup, statistical − all", "%", more))
    return found
