"""H12, scene h: devices that people carry, at three speeds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from hopcast.lab.experiment import Amount, Case, Document, Measured, Parameter, Table
from hopcast.lab.rows import Row, value
from hopcast.scenario import Scenario
from hopcast_papers.h2o import homes
from hopcast_papers.register import REGISTER

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hopcast.types import Cloud, Nodes

DEVICES, SIDE = 12, 60.0
"""Devices, and metres of a side of their square."""
RATE, LENGTH = 250e3, 30.0
SPEEDS = (0.0, 1.0, 5.0)
"""m/s."""
WAYS: Mapping[str, Cloud] = {"kept": {}, "shortened": {"shortening": {}}}


def case(way: str, speed: float) -> str:
    """The name of a case."""
    return f"h, paths {way}, {speed:g} m/s"


def _scenario(way: str, speed: float, amount: Amount) -> Scenario:
    duration = amount.pick(quick=600.0, full=6000.0)
    node: Nodes = {"name": "person", "count": DEVICES, "placement": {"shape": "uniform", "width": SIDE, "height": SIDE}}
    if speed:
        node["mobility"] = {"model": "random-waypoint", "speed": speed}
    return Scenario(
        name=case(way, speed),
        duration=duration,
        seed=1,
        radio=homes.radio("6 Mb/s"),
        nodes=[node],
        cloud={
            "admission": "airtime",
            "prefetch": "4 s",
            **WAYS[way],
            "placement": "uniform",
            "copies": 2,
            "clips": [{"name": "clip", "count": DEVICES, "rate": RATE, "length": LENGTH}],
            "requests": [{"from": "person", "clip": "clip", "start": "30 s", "every": "150 s", "stop": duration - 90}],
        },
    )


def setup() -> list[Parameter]:
    """The parameters of the scene."""
    return [
        Parameter(
            "h: devices",
            f"{DEVICES} in a square of {SIDE:g} m, random waypoint, reach 25 m; two copies of each clip; buffer of 4 s",
            "“mobile nodes” (section VI)",
        )
    ]


def cases(amount: Amount) -> Mapping[str, Case]:
    """The cases."""
    seeds = amount.pick(quick=(2901, 2902, 2903), full=tuple(range(2901, 2911)))
    return {case(way, speed): Case(_scenario(way, speed, amount), seeds) for way in WAYS for speed in SPEEDS}


def _whole(document: Document) -> float:
    """Admitted clips that were whole and never stood still, per cent."""
    totals = document["cloud"]["totals"]
    return float(100 * totals["completed_without_hiccup"] / totals["admitted"]) if totals["admitted"] else math.nan


def _lost(document: Document) -> float:
    """Paths that were lost, for each admitted clip."""
    totals = document["cloud"]["totals"]
    return float(sum(one["reroutes"] for one in document["cloud"]["streams"]) / max(totals["admitted"], 1))


def rows(measured: Measured) -> list[Row]:
    """The rows of the scene."""
    found: list[Row] = []
    for way in WAYS:
        for speed in SPEEDS:
            name = case(way, speed)
            found.append(value("H12", name, "admitted", "%", measured.sample(name, homes.admitted_of_others)))
            found.append(value("H12", name, "whole without a hiccup", "%", measured.sample(name, _whole)))
            found.append(value("H12", name, "hiccups", "1/h", measured.sample(name, homes.hiccups_per_hour)))
            found.append(value("H12", name, "lost paths", "", measured.sample(name, _lost)))
    walking = SPEEDS[1]
    kept = measured.sample(case("kept", walking), homes.hiccups_per_hour).mean
    less = measured.sample(case("shortened", walking), lambda one: homes.hiccups_per_hour(one) / kept if kept else 1.0)
    found.append(REGISTER.row("H12.walking", "h", "hiccups at 1 m/s, shortened / kept", "", less))
    return found


def figures(table: Table) -> list[tuple[str, Figure]]:
    """Hiccups and lost paths against the speed of the devices."""
    from hopcast.figures import Line, lines

    def drawn(metric: str) -> list[Line]:
        return [Line(f"paths {way}", [(speed, table[case(way, speed), metric]) for speed in SPEEDS]) for way in WAYS]

    return [
        (
            "h: hiccups of displays that people carry",
            lines(drawn("hiccups"), x="speed, m/s", y="hiccups per hour of display"),
        ),
        ("h: lost paths", lines(drawn("lost paths"), x="speed, m/s", y="lost paths for each clip")),
    ]
