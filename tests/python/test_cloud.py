"""A streaming cloud in Python: its table, its sums over replications, and what the command line prints."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

import hopcast
from conftest import ROOT, Hopcast
from hopcast.errors import HopcastError
from hopcast.fields import FIELDS
from hopcast.placement import Clip, place, string

if TYPE_CHECKING:
    from hopcast.types import Cloud, Requests

CLOUD = ROOT / "examples" / "cloud.toml"
SHORT = ("duration=80 s",)


def test_the_table_has_the_requests_of_the_object() -> None:
    result = hopcast.run(hopcast.Scenario.from_toml(CLOUD, overrides=SHORT))
    streams = result.json()["cloud"]["streams"]
    assert len(streams) > 3
    assert result.streams.drop("seed").rows(named=True) == streams
    assert set(result.streams.columns) == set(FIELDS["streams"])


def test_of_several_replications_the_sums_are_means_and_the_table_has_all_requests() -> None:
    result = hopcast.run(hopcast.Scenario.from_toml(CLOUD, overrides=SHORT), replications=2)
    counts = result.streams.group_by("seed").len().sort("seed")["len"].to_list()
    totals = result.json()["cloud"]["totals"]
    assert totals["offered"] == sum(counts) / 2
    assert "offered_ci95" in totals
    assert "streams" not in result.json()["cloud"]


def test_a_folder_has_the_table_and_one_without_a_cloud_says_so(tmp_path: Path) -> None:
    made = hopcast.run(hopcast.Scenario.from_toml(CLOUD, overrides=SHORT), out=tmp_path)
    assert hopcast.open_run(tmp_path).streams.equals(made.streams)
    hopcast.run(
        hopcast.Scenario.from_toml(ROOT / "examples" / "smallest.toml", overrides=["duration=1 s"]), out=tmp_path
    )
    with pytest.raises(HopcastError, match="only scenarios with `cloud` have requests"):
        hopcast.open_run(tmp_path).streams  # noqa: B018


def test_python_objects_spell_the_same_scenario() -> None:
    scenario = hopcast.Scenario(
        duration="40 s",
        radio={"standard": "802.11a", "data_rate": "54 Mb/s"},
        nodes=[{"name": "home", "count": 2, "placement": {"shape": "line", "spacing": "5 m"}}],
        cloud={
            "admission": "airtime",
            "clips": [{"name": "film", "rate": "1 Mb/s", "length": "5 s", "at": ["home0"]}],
            "requests": [{"from": "home1", "clip": "film", "start": "30 s"}],
        },
    )
    (stream,) = hopcast.run(scenario).streams.rows(named=True)
    assert (stream["source"], stream["outcome"], stream["hiccups"]) == ("home0", "completed", 0)


def placed(**keys: Any) -> hopcast.Scenario:
    """Four homes in a row; the first and the last one ask for a clip in four blocks of 2 s."""
    ends = ("home0", "home3")
    requests: list[Requests] = [
        {"from": name, "clip": "film", "start": f"{30 + 20 * at} s"} for at, name in enumerate(ends)
    ]
    cloud: Cloud = {
        "admission": "all",
        "catch_up": 10,
        "clips": [{"name": "film", "rate": "1 Mb/s", "length": "8 s", "block": "2 s"}],
        "requests": requests,
    }
    return hopcast.Scenario(
        duration="70 s",
        radio={
            "standard": "802.11a",
            "data_rate": "54 Mb/s",
            "propagation": {"model": "range", "receive": "25 m", "carrier_sense": "55 m"},
        },
        nodes=[{"name": "home", "count": 4, "placement": {"shape": "line", "spacing": "20 m"}}],
        cloud=cast("Cloud", cloud | keys),
    )


def test_blocks_lie_where_the_rule_says_and_displays_start_at_once() -> None:
    result = hopcast.run(placed(placement="near", hop_time="1 s"))
    for stream in result.streams.rows(named=True):
        assert (stream["outcome"], stream["start_up_s"], stream["hiccups"], stream["played_s"]) == (
            "completed",
            0,
            0,
            8,
        )
    # H is 0, 2, 4, 6: block 1 at four homes, the others at one. 250 kB each.
    totals = result.json()["cloud"]["totals"]
    assert totals["stored_bytes"] == (4 + 3) * 250_000
    assert totals["saved_storage"] == pytest.approx(1 - 7 / 16)
    expected = place("near", [Clip(1e6, 8.0, 2.0)], string(4), hop_time=1.0)
    assert totals["saved_storage"] == pytest.approx(expected.saved)


def test_whole_clips_are_placed_too() -> None:
    full = hopcast.run(placed(placement="full")).json()["cloud"]
    assert [stream["source"] for stream in full["streams"]] == ["home0", "home3"]
    assert full["totals"]["saved_storage"] == 0
    one = hopcast.run(placed(placement="uniform", copies=1)).json()["cloud"]
    assert one["totals"]["saved_storage"] == 0.75
    assert {stream["outcome"] for stream in one["streams"]} == {"completed"}
    whole = [{"name": "film", "rate": "1 Mb/s", "length": "8 s"}]
    assert (
        hopcast.run(placed(placement="uniform", copies=3, clips=whole)).json()["cloud"]["totals"]["saved_storage"]
        == 0.25
    )


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({}, "cloud.clips.film.at: is missing"),
        ({"placement": "near"}, "needs cloud.hop_time as well"),
        ({"placement": "full", "copies": 2}, "cloud.copies = 2: has no effect"),
        (
            {
                "placement": "proportional",
                "copies": 1,
                "clips": [{"name": "film", "count": 2, "rate": 1e6, "length": 8}],
            },
            "less than",
        ),
        (
            {"placement": "full", "clips": [{"name": "film", "rate": 1e6, "length": 8, "at": ["home"]}]},
            "contradicts cloud.placement",
        ),
        (
            {"placement": "full", "clips": [{"name": "film", "count": 20, "rate": 1e6, "length": 864, "block": 0.1}]},
            "blocks together",
        ),
    ],
)
def test_a_placement_that_makes_no_sense_is_refused(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(hopcast.ScenarioError) as refused:
        placed(**keys)
    assert message in "\n".join([str(refused.value), *map(str, refused.value.others)])


def test_the_command_line_prints_a_row_of_sums(hopcast: Hopcast) -> None:
    done = hopcast("run", CLOUD, "--set", SHORT[0])
    assert "admitted" in done.stdout
    assert "goodput" not in done.stdout
