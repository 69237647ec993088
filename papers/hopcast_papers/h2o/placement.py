"""H12, scene f: copies of a clip's blocks with which a display starts at once, under the assumptions of the 2004 paper.

The paper: Ghandeharizadeh, Krishnamachari and Song, "Placement of continuous media in wireless peer-to-peer networks", IEEE Transactions on
Multimedia 6(2), 2004. The full text was not at hand. The sentence is that of its abstract, the formulas and numbers those of slides that
present it (slideplayer.com/slide/4995242), as the comment next to each says. Nothing contends in this model: a block over d hops comes d · h after the request.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

from hopcast.lab.experiment import Amount, Case, Document, Measured, Parameter, Table
from hopcast.lab.rows import Row, Sample, value
from hopcast.placement import Clip, Map, Placement, Policy, grid, place, string
from hopcast.scenario import Scenario
from hopcast_papers.h2o import homes
from hopcast_papers.h2o.places import number
from hopcast_papers.notes import finding, outcome
from hopcast_papers.register import REGISTER

if TYPE_CHECKING:
    from hopcast.types import Cloud, Requests

DEVICES = 1000
"""Slide 8: N = 1000."""
RATE = 4e6
"""b/s. Slide 8: 4 Mb/s; slide 10: 2 minutes are 60 MB."""
STRING_HOP, GRID_HOP = 0.5, 0.75
"""Seconds that a block takes over one hop: slide 8 of the string, slide 10 of the grid."""
BLOCK = 1.0
"""Seconds of media in a block, 500 kB: not in the slides, as far as they can be read."""
FILM, SHORT = 7200.0, 120.0
"""Seconds: a film, and the clip of slide 10."""
BLOCKS = (0.5, 1.0, 2.0, 4.0)
"""Seconds of media in a block, of which the paper draws the storage."""


@dataclass(frozen=True)
class Scene:
    """Devices with one clip."""

    name: str
    policy: Policy
    on_string: bool
    hop: float
    length: float
    block: float = BLOCK

    @property
    def clip(self) -> Clip:
        """The clip."""
        return Clip(RATE, self.length, self.block)

    @property
    def devices(self) -> Map:
        """A string, or a grid of 25 by 40."""
        return string(DEVICES) if self.on_string else grid(25, DEVICES // 25)


SCENES = (
    Scene("f, string, N − H copies", "anywhere", True, STRING_HOP, FILM),
    Scene("f, string, within H hops", "near", True, STRING_HOP, FILM),
    Scene("f, grid, within H hops", "near", False, GRID_HOP, FILM),
    Scene("f, grid, clip of 2 min", "near", False, GRID_HOP, SHORT),
)
"""The topologies with a formula in the slides, and on the string the least number of copies besides."""
SHORT_ON_STRING = Scene("f, string, clip of 2 min, N − H copies", "anywhere", True, STRING_HOP, SHORT)
SIZES = tuple(
    Scene(f"f, grid, clip of 2 min, blocks of {block:g} s", "near", False, GRID_HOP, SHORT, block) for block in BLOCKS
)


@cache
def placed(scene: Scene) -> Placement:
    """The placement of a scene."""
    return place(scene.policy, [scene.clip], scene.devices, hop_time=scene.hop)


@cache
def seen(scene: Scene) -> tuple[float, int]:
    """The longest start-up in seconds, and the hiccups of displays at all devices."""
    displays = placed(scene).displays(0, hop_time=scene.hop)
    reached = [display for display in displays if display is not None]
    assert len(reached) == DEVICES
    return max(display.start_up for display in reached), sum(display.hiccups for display in reached)


def closed_form(scene: Scene) -> float:
    """Share of storage that N − H copies of each block save."""
    clip = scene.clip
    copies = (max(1, DEVICES - int(block * clip.block_time / scene.hop)) for block in range(clip.blocks))
    return 1 - sum(copies) / (DEVICES * clip.blocks)


def setup() -> list[Parameter]:
    """The parameters of the scene."""
    slides = "slides about the paper of 2004"
    return [
        Parameter(
            "f: devices", f"{DEVICES}, in a string or a grid of 25 by 40", f"1000 ({slides}); the grid: a square"
        ),
        Parameter("f: clips", "4 Mb/s; 2 h, 2 min", f"4 Mb/s, 2 min ({slides}); the film is not stated"),
        Parameter("f: blocks", f"{BLOCK:g} s, which is 500 kB", "not stated"),
        Parameter("f: h", f"{STRING_HOP:g} s on the string, {GRID_HOP:g} s on the grid", slides),
        Parameter(
            "f, contended", "16 homes, 4 by 4, 20 m apart; reach 25 m, carrier sense 55 m; 802.11a at 36 Mb/s", "none"
        ),
        Parameter(
            "f, contended: clips", "16 of 2 min, in blocks of 1 s; displays of different ones begin at once", "none"
        ),
    ]


SIDE = 4
"""Homes in a row of the contended grid, and rows."""
ORDER = (0, 15, 3, 12, 5, 10, 6, 9)
"""Homes that display, the first ones first: corners, then the middle."""
LOADS = (1, 2, 4, 8)
START = 30.0
"""Seconds: links are known by then."""
Rule = Literal["near", "uniform"]


def contended_case(rule: Rule, displays: int) -> str:
    """The name of a case."""
    copies = "within H hops" if rule == "near" else "one copy"
    return f"f, contended, {copies}, {displays} display{'s' if displays > 1 else ''}"


def contended(rule: Rule, displays: int, amount: Amount) -> Scenario:
    """Homes in a grid, of which some ask for a clip each at the same time."""
    requests: list[Requests] = [
        {"from": f"home{home}", "clip": f"film{home}", "start": START} for home in ORDER[:displays]
    ]
    cloud: Cloud = {
        "admission": "all",
        "catch_up": 10,
        "placement": rule,
        "clips": [{"name": "film", "count": SIDE * SIDE, "rate": RATE, "length": SHORT, "block": BLOCK}],
        "requests": requests,
    }
    if rule == "near":
        cloud["hop_time"] = GRID_HOP
    else:
        cloud["copies"] = 1
    return Scenario(
        name=contended_case(rule, displays),
        # Half as long again as the clip, for displays that stall.
        duration=START + 1.5 * SHORT,
        seed=1,
        radio=homes.radio(),
        nodes=[
            {
                "name": "home",
                "count": SIDE * SIDE,
                "placement": {"shape": "grid", "columns": SIDE, "spacing": "20 m"},
            }
        ],
        cloud=cloud,
    )


CONTENDED: tuple[tuple[Rule, int], ...] = (*(("near", load) for load in LOADS), ("uniform", 1), ("uniform", 8))


def cases(amount: Amount) -> Mapping[str, Case]:
    """The cases over a MAC."""
    seeds = tuple(range(1, amount.pick(quick=2, full=6)))
    return {contended_case(*one): Case(contended(*one, amount), seeds) for one in CONTENDED}


def _stalled(document: Document) -> float:
    """Share of displays with a hiccup, per cent; those that did not begin count."""
    streams = document["cloud"]["streams"]
    return 100.0 * sum(bool(one["hiccups"] > 0) or one["start_up_s"] is None for one in streams) / len(streams)


def _whole(document: Document) -> float:
    """Share of displays that showed the whole clip, with hiccups or without, per cent."""
    streams = document["cloud"]["streams"]
    return float(100 * sum(one["outcome"] == "completed" for one in streams) / len(streams))


def _late(document: Document) -> float:
    """Hiccups, and displays that did not begin at once."""
    streams = document["cloud"]["streams"]
    return float(sum(one["hiccups"] + (one["start_up_s"] != 0) for one in streams))


def _standing(document: Document) -> float:
    """Seconds that a display stood still after its start, in the mean."""
    streams = document["cloud"]["streams"]
    return float(sum(one["stalled_s"] for one in streams) / len(streams))


def contended_rows(measured: Measured) -> list[Row]:
    """The rows over a MAC."""
    found: list[Row] = []
    for one in CONTENDED:
        case = contended_case(*one)
        found.append(value("H12", case, "displays with a hiccup", "%", measured.sample(case, _stalled)))
        found.append(value("H12", case, "displays of the whole clip", "%", measured.sample(case, _whole)))
        found.append(value("H12", case, "stood still", "s", measured.sample(case, _standing)))
    for rule in ("near", "uniform"):
        case = contended_case(rule, 8)
        saved = measured.sample(case, lambda document: 100 * float(document["cloud"]["totals"]["saved_storage"]))
        found.append(value("H12", case, "storage saved", "%", saved))
    alone = contended_case("near", 1)
    late = {alone: measured.sample(alone, _late)}
    found += REGISTER.rows("H12.placement-alone", "f, contended", "hiccups and late starts", "", late)
    return found


def notes(table: Table) -> list[str]:
    """What the placement saves and keeps, by the slides' assumptions and over a MAC."""

    def saved(scene: Scene) -> str:
        return f"{number(table, scene.name, 'storage saved'):.1f} %"

    alone, all_of_them = contended_case("near", LOADS[0]), contended_case("near", LOADS[-1])
    return [
        "f: the sentence of 2004 says “on average”, and does not say over what. Its number of copies for the worst topology, a string, saves "
        f"{saved(SCENES[0])} of a film of two hours, and {saved(SHORT_ON_STRING)} of a clip of two minutes. On a grid of {DEVICES} devices {saved(SCENES[-1])} of "
        f"the short clip is saved. The sentence {outcome('H12.placement-saves', table)} (median: {finding('H12.placement-saves', table)}).",
        f"f: over the MAC of 802.11a a display that is alone in sixteen homes stands still for {number(table, alone, 'stood still'):.1f} s, since its own blocks contend for the "
        f"air. Of {LOADS[-1]} displays {number(table, all_of_them, 'displays of the whole clip'):.0f} % are shown whole. That the display which is alone has no hiccup "
        f"{outcome('H12.placement-alone', table)}.",
    ]


def rows() -> list[Row]:
    """The rows of the scene."""

    def saved(scene: Scene) -> Sample:
        return Sample((100 * placed(scene).saved,))

    found = REGISTER.rows(
        "H12.placement-saves", "f", "storage saved", "%", {scene.name: saved(scene) for scene in SCENES}
    )
    starts = {scene.name: Sample((seen(scene)[0],)) for scene in SCENES}
    found += REGISTER.rows("H12.placement-at-once", "f", "longest start-up", "s", starts)
    hiccups = {scene.name: Sample((float(seen(scene)[1]),)) for scene in SCENES}
    found += REGISTER.rows("H12.placement-hiccup-free", "f", "hiccups of all displays", "", hiccups)
    for scene in (SCENES[0], SHORT_ON_STRING):
        found.append(value("H12", scene.name, "storage saved, closed form", "%", Sample((100 * closed_form(scene),))))
    found += [value("H12", scene.name, "storage saved", "%", saved(scene)) for scene in (SHORT_ON_STRING, *SIZES)]
    return found
