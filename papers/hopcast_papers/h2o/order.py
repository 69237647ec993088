"""H12, scene k: a producer's streams, and which of them sends next, while others begin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from hopcast.lab.experiment import Amount, Case, Document, Measured, Parameter, Table
from hopcast.lab.rows import Row, value
from hopcast.scenario import Scenario
from hopcast_papers.h2o import homes
from hopcast_papers.register import REGISTER

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hopcast.types import Cloud

Order = Literal["fifo", "round-robin", "earliest-deadline", "earliest-hiccup"]
ORDERS: tuple[Order, ...] = ("fifo", "round-robin", "earliest-deadline", "earliest-hiccup")
NONE = "k, each at its pace"
DISPLAYS, APART, LENGTH = 8, 3.0, 15.0
"""Displays, and seconds from one to the next and of a clip: five at a time, which need 0.91 of the time of the card."""


def case(order: Order) -> str:
    """The name of a case."""
    return f"k, {order}"


def _scenario(name: str, keys: Cloud, amount: Amount) -> Scenario:
    displays = amount.pick(quick=DISPLAYS, full=5 * DISPLAYS)
    return Scenario(
        name=name,
        duration=30 + APART * displays + 3 * LENGTH,
        seed=1,
        radio=homes.radio(),
        nodes=[
            {"name": "producer", "placement": {"shape": "points", "at": [["0 m", "0 m"]]}},
            {"name": "home", "count": DISPLAYS, "placement": {"shape": "circle", "radius": "10 m"}},
        ],
        cloud={
            "admission": "all",
            # A newcomer fills its buffer as fast as the link carries.
            "catch_up": 10,
            **keys,
            "clips": [{"name": "film", "count": DISPLAYS, "rate": 4e6, "length": LENGTH, "at": ["producer"]}],
            "requests": [
                {"from": f"home{number % DISPLAYS}", "clip": f"film{number % DISPLAYS}", "start": 30 + APART * number}
                for number in range(displays)
            ],
        },
    )


def setup() -> list[Parameter]:
    """The parameters of the scene."""
    return [
        Parameter(
            "k: streams",
            f"4 Mb/s for {LENGTH:g} s, a new one each {APART:g} s: five at a time of a card of 22 Mb/s; buffer of 1 s",
            "not stated",
        )
    ]


def cases(amount: Amount) -> Mapping[str, Case]:
    """The cases."""
    seeds = amount.pick(quick=(2401, 2402), full=tuple(range(2401, 2411)))
    found = {case(order): Case(_scenario(case(order), {"schedule": order}, amount), seeds) for order in ORDERS}
    return {NONE: Case(_scenario(NONE, {}, amount), seeds), **found}


_hiccups = homes.total("hiccups")


def _start_up(document: Document) -> float:
    """Mean time from a request to its first picture; of one without a picture, the length of the clip."""
    streams = document["cloud"]["streams"]
    times = [LENGTH if one["start_up_s"] is None else one["start_up_s"] for one in streams]
    return float(sum(times) / len(times))


def rows(measured: Measured) -> list[Row]:
    """The rows of the scene."""
    found: list[Row] = []
    for name in (NONE, *map(case, ORDERS)):
        found.append(value("H12", name, "hiccups", "", measured.sample(name, _hiccups)))
        found.append(value("H12", name, "stood still", "s", measured.sample(name, homes.total("stalled_s"))))
        found.append(value("H12", name, "start-up", "s", measured.sample(name, _start_up)))
    fifo, ours = measured.sample(case("fifo"), _hiccups).mean, case("earliest-hiccup")
    more = measured.sample(ours, lambda one: _hiccups(one) - fifo)
    found.append(REGISTER.row("H12.scheduled", "k", "hiccups, earliest hiccup − FIFO", "", more))
    return found


def figures(table: Table) -> list[tuple[str, Figure]]:
    """Hiccups and start-up with each order of a producer's streams."""
    from hopcast.figures import Group, panels

    names = {NONE: "no order", **{case(order): order.replace("-", " ") for order in ORDERS}}
    drawn = [
        (y, [Group.of(metric, [table[name, metric] for name in names])])
        for y, metric in (("hiccups", "hiccups"), ("start-up, s", "start-up"))
    ]
    return [("k: order of a producer's streams", panels(list(names.values()), drawn))]
