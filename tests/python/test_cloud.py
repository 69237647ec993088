"""A streaming cloud in Python: its table, its sums over replications, and what the command line prints."""

from __future__ import annotations

from pathlib import Path

import pytest

import hopcast
from conftest import ROOT, Hopcast
from hopcast.errors import HopcastError
from hopcast.fields import FIELDS

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


def test_the_command_line_prints_a_row_of_sums(hopcast: Hopcast) -> None:
    done = hopcast("run", CLOUD, "--set", SHORT[0])
    assert "admitted" in done.stdout
    assert "goodput" not in done.stdout
