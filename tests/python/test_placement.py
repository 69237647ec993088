"""Where copies of clips' blocks go: `hopcast.placement`, and scene f of study H12."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopcast.placement import Clip, Display, Map, PlacementError, grid, place, string
from hopcast_papers.h2o import placement as study


def test_a_clip_has_equal_blocks() -> None:
    clip = Clip(rate=4e6, length=10.0, block=3.0)
    assert (clip.blocks, clip.block_time) == (4, 2.5)
    # 4 Mb/s for 2.5 s are 1.25 MB, four times at each of three devices.
    assert place("full", [clip], string(3)).stored == [5_000_000] * 3


def test_copies_of_each_block_by_hand() -> None:
    # D = 1 s, h = 0.5 s: H is 0, 2, 4, 6, 8, 10.
    clip = [Clip(rate=8e3, length=6.0, block=1.0)]
    anywhere = place("anywhere", clip, string(10), hop_time=0.5)
    assert [len(block) for block in anywhere.holders(0)] == [10, 8, 6, 4, 2, 1]
    near = place("near", clip, string(10), hop_time=0.5)
    assert [len(block) for block in near.holders(0)] == [10, 2, 2, 1, 1, 1]
    # 17 copies of 1 kB instead of 60.
    assert sum(near.stored) == 17_000
    assert near.saved == pytest.approx(1 - 17 / 60)


def test_a_display_that_has_to_wait() -> None:
    # One copy of two blocks, at one of two devices: over one hop of 3 s both come at once, after 3 s.
    placement = place("uniform", [Clip(rate=8e3, length=2.0, block=1.0)], string(2), copies=1)
    (holder,) = placement.holders(0)[0]
    seen = placement.displays(0, hop_time=3.0)
    assert seen[holder] == Display(0.0, 0, 0.0)
    assert seen[1 - holder] == Display(3.0, 0, 0.0)
    # With a hop twice as slow as planned somebody waits, if H hops are used to the full.
    late = place("near", [Clip(rate=8e3, length=6.0, block=1.0)], string(10), hop_time=0.5)
    assert all(one == Display(0.0, 0, 0.0) for one in late.displays(0, hop_time=0.5))
    assert any(one is not None and one.hiccups > 0 for one in late.displays(0, hop_time=1.0))
    islands = place("uniform", [Clip(rate=8e3, length=2.0, block=1.0)], Map(2, []), copies=1)
    assert islands.displays(0, hop_time=1.0).count(None) == 1


def test_the_seed_moves_random_copies_only() -> None:
    clips = [Clip(rate=8e3, length=2.0, block=1.0)]
    assert place("uniform", clips, string(50), copies=5, seed=1).holders(0) != place(
        "uniform", clips, string(50), copies=5, seed=2
    ).holders(0)
    assert place("near", clips, string(50), hop_time=0.5, seed=1).holders(0) == place(
        "near", clips, string(50), hop_time=0.5, seed=2
    ).holders(0)


@given(st.integers(1, 12), st.integers(1, 12), st.floats(0.1, 9), st.floats(0.1, 9), st.floats(0.5, 30))
def test_each_device_of_a_grid_has_each_block_near_enough(
    columns: int, rows: int, hop: float, block: float, length: float
) -> None:
    clip = Clip(1e6, length, block)
    placement = place("near", [clip], grid(columns, rows), hop_time=hop)
    for number, holders in enumerate(placement.holders(0)):
        # A block that is due at a whole number of hops: rounding to nanoseconds may decide.
        limit = math.floor(number * clip.block_time / hop + 1e-6)
        for device in range(columns * rows):
            x, y = device % columns, device // columns
            assert min(abs(at % columns - x) + abs(at // columns - y) for at in holders) <= limit


@pytest.mark.parametrize(
    ("policy", "changed", "message"),
    [
        ("nearby", {}, "policy"),
        ("near", {}, "hop_time: is missing"),
        ("near", {"hop_time": -1.0}, "hop_time: -1.0"),
        ("near", {"hop_time": math.nan}, "hop_time: nan"),
        ("full", {"copies": 1}, "copies: has no effect"),
        ("uniform", {"copies": 0}, "copies: 0"),
        ("proportional", {"copies": 1}, "too few copies for 2 clips"),
    ],
)
def test_what_does_not_fit_a_policy_is_refused(policy: Any, changed: dict[str, Any], message: str) -> None:
    with pytest.raises(PlacementError, match=message):
        place(policy, [Clip(1e6, 2.0, 1.0)] * 2, string(3), **changed)


def test_wrong_clips_maps_and_numbers_are_refused() -> None:
    for make in (
        lambda: Clip(0.0, 1.0, 1.0),
        lambda: Clip(1.0, math.inf, 1.0),
        lambda: Map(0, []),
        lambda: Map(2, [(0, 2)]),
    ):
        with pytest.raises(PlacementError):
            make()
    with pytest.raises(PlacementError, match="clip: 1"):
        place("full", [Clip(1e6, 2.0, 1.0)], string(3)).holders(1)


def test_the_study_agrees_with_the_closed_form_of_the_slides() -> None:
    for scene in (study.SCENES[0], study.SHORT_ON_STRING):
        assert study.placed(scene).saved == pytest.approx(study.closed_form(scene), abs=1e-12)
    # 60 MB a clip of 2 minutes at 4 Mb/s.
    assert sum(place("full", [study.SCENES[3].clip], string(1)).stored) == 60_000_000
