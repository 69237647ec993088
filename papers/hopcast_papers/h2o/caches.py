"""H12, scene g: seven homes that keep some of what they have displayed."""

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

HOMES, CLIPS, ROOM = 7, 21, 3
"""Homes, clips, and clips for which a home has room besides those that it stores from the start."""
RATE, LENGTH, BLOCK = 250e3, 20.0, 5.0
"""b/s of a clip, its seconds, and those of a block."""
SIZE = int(RATE * LENGTH / 8)
"""Bytes of a clip."""
Policy = Literal["lru", "lfu", "greedy-dual-frequency"]
POLICIES: tuple[Policy, ...] = ("lru", "lfu", "greedy-dual-frequency")
NONE = "g, no caches"
BLOCKS, NO_BLOCKS = "g, lru, blocks", "g, no caches, blocks"


def case(policy: Policy) -> str:
    """The name of a case."""
    return f"g, {policy}"


def _scenario(name: str, policy: Policy | None, blocks: bool, amount: Amount) -> Scenario:
    duration = amount.pick(quick=1800.0, full=18_000.0)
    cloud: Cloud = {
        "admission": "all",
        "placement": "uniform",
        "copies": 1,
        "clips": [
            {"name": "clip", "count": CLIPS, "rate": RATE, "length": LENGTH, **({"block": BLOCK} if blocks else {})}
        ],
        "requests": [{"from": "home", "clip": "clip", "start": "30 s", "every": "60 s", "stop": duration - 60}],
    }
    if policy is not None:
        cloud["caches"] = [{"at": ["home"], "size": ROOM * SIZE, "policy": policy}]
    return Scenario(
        name=name,
        duration=duration,
        seed=1,
        radio=homes.radio(),
        nodes=[{"name": "home", "count": HOMES, "placement": {"shape": "line", "spacing": "20 m"}}],
        cloud=cloud,
    )


def setup() -> list[Parameter]:
    """The parameters of the scene."""
    return [
        Parameter(
            "g: homes",
            f"{HOMES} in a row, each with room for {ROOM} of {CLIPS} clips, which have one copy each",
            "not stated",
        ),
        Parameter(
            "g: requests",
            "one a minute of each home, by Zipf's law with 0.729",
            "rentals of films (the default of clips)",
        ),
    ]


def cases(amount: Amount) -> Mapping[str, Case]:
    """The cases."""
    seeds = amount.pick(quick=(2501, 2502), full=tuple(range(2501, 2511)))
    kinds: dict[str, tuple[Policy | None, bool]] = {
        NONE: (None, False),
        **{case(one): (one, False) for one in POLICIES},
    }
    kinds |= {NO_BLOCKS: (None, True), BLOCKS: ("lru", True)}
    return {name: Case(_scenario(name, *kind, amount), seeds) for name, kind in kinds.items()}


def _near(document: Document) -> float:
    """Displays of what is stored there or one hop away, per cent."""
    streams = document["cloud"]["streams"]
    return float(100 * sum(one["source"] is not None and one["hops"] <= 1 for one in streams) / max(len(streams), 1))


def _local(document: Document) -> float:
    """Displays of what is stored there, per cent."""
    totals = document["cloud"]["totals"]
    return float(100 * totals["local"] / max(totals["offered"], 1))


def _packets(document: Document) -> float:
    """Transmissions of media for each display."""
    totals = document["cloud"]["totals"]
    return float(totals["media_packets"] / max(totals["offered"], 1))


def rows(measured: Measured) -> list[Row]:
    """The rows of the scene."""
    found: list[Row] = []
    for name in (NONE, *map(case, POLICIES), NO_BLOCKS, BLOCKS):
        found.append(value("H12", name, "from storage of the display", "%", measured.sample(name, _local)))
        found.append(value("H12", name, "at most one hop away", "%", measured.sample(name, _near)))
        found.append(value("H12", name, "start-up", "s", measured.sample(name, homes.start_up)))
        found.append(value("H12", name, "media packets sent for a display", "packets", measured.sample(name, _packets)))
    without = measured.sample(NONE, _near).mean
    nearer = {case(one): measured.sample(case(one), lambda document: _near(document) / without) for one in POLICIES}
    found += REGISTER.rows("H12.nearby", "g", "at most one hop away / without caches", "", nearer)
    return found


def figures(table: Table) -> list[tuple[str, Figure]]:
    """Where displayed clips come from, with each policy of the caches."""
    from hopcast.figures import Group, panels

    names = {
        NONE: "no cache",
        **{case(one): one.replace("-", " ") for one in POLICIES},
        NO_BLOCKS: "no cache, blocks",
        BLOCKS: "lru, blocks",
    }

    def group(label: str, metric: str) -> Group:
        return Group.of(label, [table[name, metric] for name in names])

    near = [
        group("stored at the display", "from storage of the display"),
        group("at most one hop away", "at most one hop away"),
    ]
    drawn = [
        ("displays, %", near),
        ("start-up, s", [group("start-up", "start-up")]),
        ("packets per display", [group("packets", "media packets sent for a display")]),
    ]
    return [("g: seven homes that keep what they display", panels(list(names.values()), drawn))]
