"""H12, failures of devices: the program of a relay, a source or a display is killed while a clip is shown, and starts again.

Each clip loses one device. The longest time without media is the time of recovery. What is reserved for a display that is gone must end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hopcast.lab.experiment import Amount, Case, Document, Measured, Parameter, Table
from hopcast.lab.rows import Row, value
from hopcast.numbers import significant
from hopcast.scenario import Scenario
from hopcast_papers.h2o import homes
from hopcast_papers.h2o.places import number
from hopcast_papers.notes import outcome
from hopcast_papers.register import REGISTER

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hopcast.types import Cloud, Failures

RATE, LENGTH, APART = 250e3, 60.0, 90.0
"""b/s and seconds of a clip, and seconds from one request to the next."""
KILLED, PHASES = 20.0, 10
"""Seconds from a request to the first kill, and number of kills in 5 s, the time between two refreshments: each is half a second later than the one before."""
ROW = ((0.0, 0.0), (20.0, 0.0), (40.0, 0.0), (60.0, 0.0))
DETOUR = ((0.0, 0.0), (20.0, 0.0), (40.0, 0.0), (10.0, 20.0), (30.0, 20.0))
"""Places of homes in metres; each reaches 25 m. In the second one the last two are a way around home1 with three links."""


@dataclass(frozen=True)
class Scene:
    """Which device is killed, and for how long."""

    name: str
    places: Sequence[tuple[float, float]]
    at: tuple[str, ...]
    """Devices that store the clip."""
    display: str
    killed: str
    down: float
    """Seconds."""
    recovers: bool = True
    """Whether the display is expected to find a path again."""
    shortening: bool = False


SCENES = (
    Scene("relay killed, a way around", DETOUR, ("home0",), "home2", "home1", 40.0),
    Scene("relay killed, a way around, shortening", DETOUR, ("home0",), "home2", "home1", 40.0, shortening=True),
    Scene("source killed, another copy", ROW, ("home0", "home3"), "home1", "home0", 40.0),
    Scene("only relay back after 3 s", ROW[:3], ("home0",), "home2", "home1", 3.0),
    Scene("only relay back after 20 s", ROW[:3], ("home0",), "home2", "home1", 20.0, recovers=False),
    Scene("display back after 3 s", ROW[:3], ("home0",), "home2", "home2", 3.0, recovers=False),
)
LOSSES = (0.0, 0.1)
"""Share of the packets of all kinds that each receiver loses."""


def case(scene: Scene, loss: float) -> str:
    """The name of a case."""
    return f"kills, {scene.name}{f', {100 * loss:g} % of packets lost' if loss else ''}"


def _scenario(scene: Scene, loss: float, amount: Amount) -> Scenario:
    clips = amount.pick(quick=PHASES, full=10 * PHASES)
    asked = [30 + APART * number for number in range(clips)]
    failures: list[Failures] = [
        {"at": [scene.killed], "start": at + KILLED + 0.5 * (number % PHASES), "duration": scene.down}
        for number, at in enumerate(asked)
    ]
    cloud: Cloud = {
        "admission": "all",
        "clips": [{"name": "clip", "rate": RATE, "length": LENGTH, "at": list(scene.at)}],
        "requests": [{"from": scene.display, "clip": "clip", "start": at} for at in asked],
        "failures": failures,
    }
    if scene.shortening:
        cloud["shortening"] = {}
    return Scenario(
        name=case(scene, loss),
        # The last clip has ended, or was given up, and what was left has expired.
        duration=asked[-1] + APART + 2 * homes.EXPIRY,
        seed=1,
        radio=homes.lossy(loss),
        nodes=[
            {
                "name": "home",
                "count": len(scene.places),
                "placement": {"shape": "points", "at": [list(place) for place in scene.places]},
            }
        ],
        cloud=cloud,
    )


def setup() -> list[Parameter]:
    """The parameters of the scene."""
    return [
        Parameter(
            "kills: devices",
            f"a clip of {RATE / 1e3:g} kb/s and {LENGTH:g} s each {APART:g} s; {KILLED:g} to {KILLED + 5:g} s after each request a program is killed",
            "not stated",
        ),
        Parameter("kills: losses", "0 and 10 % of the packets at each receiver", "not stated"),
    ]


def cases(amount: Amount) -> Mapping[str, Case]:
    """The cases."""
    seeds = amount.pick(quick=tuple(range(3101, 3105)), full=tuple(range(3101, 3111)))
    return {case(scene, loss): Case(_scenario(scene, loss, amount), seeds) for scene in SCENES for loss in LOSSES}


def _mean(field: str) -> Callable[[Document], float]:
    """What reads the mean of a field over the displays that found a path again and showed the clip to the end; NaN without any."""

    def read(document: Document) -> float:
        streams = document["cloud"]["streams"]
        found = [one[field] for one in streams if one["outcome"] == "completed" and one["reroutes"]]
        return float(sum(found) / len(found)) if found else math.nan

    return read


def _completed(document: Document) -> float:
    """Displays that were shown to the end, per cent of those whose path was reserved; NaN without any."""
    admitted = homes.total("admitted")(document)
    return 100 * homes.total("completed")(document) / admitted if admitted else math.nan


def rows(measured: Measured) -> list[Row]:
    """The rows of the scene."""
    found: list[Row] = []
    for scene in SCENES:
        for loss in LOSSES:
            name = case(scene, loss)
            found.append(value("H12", name, "shown to the end", "%", measured.sample(name, _completed)))
            if scene.recovers:
                for metric, field in (("recovery", "longest_gap_s"), ("stood still", "stalled_s")):
                    found.append(value("H12", name, metric, "s", measured.sample(name, _mean(field))))
    left = {
        case(scene, loss): measured.sample(case(scene, loss), homes.total("orphaned_bookings"))
        for scene in SCENES
        for loss in LOSSES
    }
    found += REGISTER.rows("H12.no-leak-killed", "kills", "bookings without a stream", "", left)
    return found


def notes(table: Table) -> list[str]:
    """How long a display stands without media after a device was killed."""

    def recovery(scene: Scene) -> str:
        return f"{significant(number(table, case(scene, 0.0), 'recovery'), 2)} s"

    relay, shortening, source, back = SCENES[:4]
    return [
        f"A display whose relay is killed has no media for {recovery(relay)}, and {recovery(source)} if its source is: its neighbours have to miss the device. "
        f"If the relay restarts within 3 s it is {recovery(back)}, until the relay says that it has forgotten the stream. With shorter paths a display watches "
        f"its buffer, and finds a way around in {recovery(shortening)}. That nothing stays reserved {outcome('H12.no-leak-killed', table)}.",
    ]


def figures(table: Table) -> list[tuple[str, Figure]]:
    """How long no media come after a device was killed."""
    from hopcast.figures import Group, bars

    scenes = [scene for scene in SCENES if scene.recovers]
    groups = [
        Group.of(f"{100 * loss:g} % of packets lost", [table[case(scene, loss), "recovery"] for scene in scenes])
        for loss in LOSSES
    ]
    title = "Failures: time without media after a device was killed"
    return [(title, bars([scene.name for scene in scenes], groups, y="recovery, s"))]
