"""H12, scene n: vehicles on a grid of streets, and how long a passenger waits for a clip that no vehicle near by has.

A vehicle may keep what it has displayed, and give it to others. A carrier also fetches what others look for without success: for all, or for those that it
expects to meet in time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hopcast.lab.experiment import Amount, Case, Document, Measured, Parameter, Table
from hopcast.lab.rows import Row, value
from hopcast.scenario import Scenario
from hopcast_papers.h2o import homes, oracle

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hopcast.types import Caches

VEHICLES, SIDE, BLOCK = 20, 2000.0, 200.0
"""Vehicles, metres of a side of the area, and metres between streets."""
SPEED = 50 / 3.6
"""m/s."""
REACH = 120.0
RATE, LENGTH = 250e3, 30.0
EVERY, PATIENCE = 600.0, 600.0
"""Seconds from one request of a vehicle to its next, in the mean, and for which a passenger waits."""
SOON = 60.0
"""Seconds within which a clip comes soon."""
CACHE: Caches = {"at": ["vehicle"], "size": "10 MB"}
"""Ten clips, of as many as there are vehicles."""
WAYS: Mapping[str, list[Caches]] = {
    "nothing kept": [],
    "kept": [CACHE],
    "carried": [{**CACHE, "carry": f"{PATIENCE:g} s"}],
    "carried to whom it expects to meet": [{**CACHE, "carry": f"{PATIENCE:g} s", "carry_for": "expected"}],
}


def case(way: str) -> str:
    """The name of a case."""
    return f"n, {way}"


def _scenario(way: str, amount: Amount) -> Scenario:
    duration = amount.pick(quick=3600.0, full=36000.0)
    made = Scenario(
        name=case(way),
        duration=duration,
        seed=1,
        radio={
            "standard": "802.11a",
            "data_rate": "6 Mb/s",
            "rts_threshold": "off",
            "propagation": {"model": "range", "receive": REACH, "carrier_sense": 2.2 * REACH},
        },
        nodes=[
            {
                "name": "vehicle",
                "count": VEHICLES,
                "placement": {"shape": "uniform", "width": SIDE, "height": SIDE},
                "mobility": {"model": "streets", "block": [BLOCK, BLOCK], "speed": SPEED},
            }
        ],
        cloud={
            "admission": "airtime",
            "prefetch": "4 s",
            # Vehicles meet for some seconds.
            "catch_up": 10.0,
            "placement": "uniform",
            "copies": 1,
            "clips": [{"name": "clip", "count": VEHICLES, "rate": RATE, "length": LENGTH}],
            "requests": [
                {
                    "from": "vehicle",
                    "clip": "clip",
                    "start": "30 s",
                    "every": EVERY,
                    "stop": duration - PATIENCE - LENGTH,
                    "patience": PATIENCE,
                }
            ],
        },
    )
    return made.set("cloud.caches", WAYS[way]) if WAYS[way] else made


def setup() -> list[Parameter]:
    """The parameters of the scene."""
    return [
        Parameter(
            "n: vehicles",
            f"{VEHICLES} on streets {BLOCK:g} m apart in a square of {SIDE / 1e3:g} km, 50 km/h, reach {REACH:g} m; each asks for another clip of "
            f"{RATE / 1e3:g} kb/s and {LENGTH:g} s each {EVERY:g} s in the mean, and waits {PATIENCE:g} s for it; one copy each",
            "“mobile nodes” (section VI)",
        )
    ]


def cases(amount: Amount) -> Mapping[str, Case]:
    """The cases."""
    seeds = amount.pick(quick=(3401, 3402, 3403), full=tuple(range(3401, 3411)))
    return {case(way): Case(_scenario(way, amount), seeds) for way in WAYS}


def _waits(document: Document) -> list[float]:
    """Seconds from each request to its display; as long as patience lasts if it never began."""
    asked = document["cloud"]["streams"]
    return [PATIENCE if one["start_up_s"] is None else min(one["start_up_s"], PATIENCE) for one in asked]


def _begun(document: Document, within: float) -> float:
    """Displays that began within this number of seconds, per cent."""
    waits = _waits(document)
    return 100.0 * sum(wait < within for wait in waits) / max(len(waits), 1)


def _wait(document: Document) -> float:
    """Mean wait, s: at most that of the patience."""
    waits = _waits(document)
    return sum(waits) / max(len(waits), 1)


def _whole(document: Document) -> float:
    """Displays that were whole and never stood still, of those that began, per cent."""
    begun = [one for one in document["cloud"]["streams"] if one["start_up_s"] is not None]
    return 100.0 * sum(map(oracle.is_fine, begun)) / max(len(begun), 1)


def _packets(document: Document) -> float:
    """Packets of media that were sent for each display that began."""
    begun = sum(wait < PATIENCE for wait in _waits(document))
    return float(document["cloud"]["totals"]["media_packets"] / max(begun, 1))


def rows(measured: Measured) -> list[Row]:
    """The rows of the scene."""
    found: list[Row] = []
    for way in WAYS:
        name = case(way)
        found.append(
            value("H12", name, f"begun within {SOON:g} s", "%", measured.sample(name, lambda one: _begun(one, SOON)))
        )
        found.append(value("H12", name, "begun", "%", measured.sample(name, lambda one: _begun(one, PATIENCE))))
        found.append(value("H12", name, "wait", "s", measured.sample(name, _wait)))
        found.append(value("H12", name, "whole without a hiccup, of those begun", "%", measured.sample(name, _whole)))
        found.append(value("H12", name, "packets of media for a display", "", measured.sample(name, _packets)))
        found.append(value("H12", name, "carried", "clips", measured.sample(name, homes.total("carried"))))
    return found


def figures(table: Table) -> list[tuple[str, Figure]]:
    """How many displays begin, by what vehicles keep and carry."""
    from hopcast.figures import Group, bars

    groups = [
        Group.of(metric, [table[case(way), metric] for way in WAYS]) for metric in (f"begun within {SOON:g} s", "begun")
    ]
    return [("n: displays in vehicles", bars(list(WAYS), groups, y="requests, %"))]
