"""Scenarios from TOML and from Python objects."""

from __future__ import annotations

import os
import pickle
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hopcast
from conftest import ROOT, TOML
from hopcast import HopcastError, Scenario, ScenarioError
from hopcast.congestion import CongestionControl
from hopcast.types import Nodes


def test_both_spellings_are_one_scenario(objects: dict[str, Any]) -> None:
    from_text, from_objects = Scenario.from_toml(TOML), Scenario(**objects)
    assert from_text.sha256 == from_objects.sha256
    assert from_text == from_objects
    assert hash(from_text) == hash(from_objects)
    assert _without_cost(hopcast.run(from_text)) == _without_cost(hopcast.run(from_objects))


def test_an_object_needs_the_keys_that_a_file_needs() -> None:
    text = 'duration = "5 s"\n[[nodes]]\nname = "n"\ncount = 2\nplacement = { shape = "line", spacing = "10 m" }\n'
    nodes: Nodes = {"name": "n", "count": 2, "placement": {"shape": "line", "spacing": "10 m"}}
    assert Scenario(duration="5 s", nodes=[nodes]).sha256 == Scenario.from_toml(text).sha256


def test_numbers_are_the_same_to_the_last_bit() -> None:
    numbers = random.Random(1)
    spacings = [45.711500672885236, *(numbers.uniform(1.0, 1000.0) for _ in range(100))]
    for spacing in spacings:
        nodes: Nodes = {"name": "n", "count": 2, "placement": {"shape": "line", "spacing": spacing}}
        text = f'duration = "5 s"\n[[nodes]]\nname = "n"\ncount = 2\nplacement = {{ shape = "line", spacing = {spacing!r} }}\n'
        assert Scenario(duration="5 s", nodes=[nodes]).sha256 == Scenario.from_toml(text).sha256, spacing


def test_whole_seconds_are_whole(scenario: Scenario) -> None:
    assert all(scenario.set("duration", seconds).duration_s == seconds for seconds in range(1, 600))
    assert hopcast.run(scenario.set("duration", "15 s")).json()["cost"]["simulated_s"] == 15.0


def test_what_a_scenario_says_of_itself(scenario: Scenario) -> None:
    assert (scenario.name, scenario.seed) == ("two laptops", 7)
    assert scenario.duration_s == pytest.approx(0.3)
    assert len(scenario.sha256) == 64
    assert "two laptops" in repr(scenario)


def test_set_changes_a_copy(scenario: Scenario) -> None:
    changed = scenario.set("flows.bulk.transport.window", 4).set("radio.data_rate", "6 Mb/s")
    assert changed.sha256 != scenario.sha256
    assert changed != scenario
    values = {key: value for key, value, _ in changed.explain()}
    assert values["flows.bulk.transport.window"] == "4"
    assert values["radio.data_rate"] == "6 Mb/s"
    assert changed.set("radio.data_rate", "54 Mb/s").set("flows.bulk.transport.window", 8).sha256 == scenario.sha256


def test_set_takes_lists_and_tables(scenario: Scenario) -> None:
    placed = scenario.set("nodes.n.placement", {"shape": "points", "at": [[0, 0], ["5 m", 0], [10.0, "0 m"]]})
    assert placed.sha256 != scenario.sha256
    assert hopcast.run(placed).json()["flows"][0]["goodput_bps"] > 0


def test_set_refuses_no_value(scenario: Scenario) -> None:
    for key, value, field in (
        ("name", None, "name"),
        ("nodes.n.radios", [None], "nodes.n.radios[0]"),
        ("nodes.n.placement", {"shape": "points", "at": [[0, None]]}, "nodes.n.placement.at[0][1]"),
    ):
        with pytest.raises(ScenarioError, match="is no value") as caught:
            scenario.set(key, value)
        assert (caught.value.file, caught.value.field) == ("<python>", field)
    placement = {"shape": "line", "spacing": "6 m"}
    assert scenario.set("nodes.n.placement", placement | {"axis": None}) == scenario.set("nodes.n.placement", placement)


def test_set_takes_every_character(scenario: Scenario) -> None:
    name = "".join(map(chr, range(0x20, 0xA1))) + "\0\t\n\x1f\u2028\ufeff\U0001f600"
    assert scenario.set("name", name).name == name
    with pytest.raises(ScenarioError, match="unknown key"):
        scenario.set("nodes.n.placement", {"shape": "line", "\x7f\U0001f600": 1})


def test_the_seed_is_not_part_of_the_digest(scenario: Scenario) -> None:
    other = scenario.set("seed", 8)
    assert (other.seed, other.sha256) == (8, scenario.sha256)
    assert other != scenario


def test_explain_names_sources(scenario: Scenario) -> None:
    sources = {key: source for key, _, source in scenario.explain()}
    assert sources["radio.standard"] != sources["radio.queue.packets"]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="can't be read: No such file") as caught:
        Scenario.from_toml(tmp_path / "no.toml")
    assert caught.value.file == str(tmp_path / "no.toml")


def test_a_file_that_is_not_text(tmp_path: Path) -> None:
    path = tmp_path / "binary.toml"
    path.write_bytes(b"name = '\xff'\n")
    with pytest.raises(ScenarioError, match="not UTF-8"):
        Scenario.from_toml(path)


def test_errors_carry_what_is_wrong_and_are_value_errors() -> None:
    with pytest.raises(ValueError, match="window") as caught:
        Scenario.from_toml(TOML.replace("window = 8", "window = -8"))
    error = caught.value
    assert isinstance(error, ScenarioError)
    assert isinstance(error, HopcastError)
    assert (error.file, error.field, error.value) == ("<text>", "flows.bulk.transport.window", "-8")
    assert error.line is not None
    assert str(error.line) in str(error)


def test_all_errors_of_one_pass_are_told() -> None:
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_toml(TOML.replace("window = 8", "window = -8").replace('"54 Mb/s"', '"54 MHz"'))
    error = caught.value
    told = [error, *error.others]
    assert {e.field for e in told} == {"radio.data_rate", "flows.bulk.transport.window"}
    assert len(str(error).splitlines()) == 2


def test_an_unknown_key_gets_the_nearest_name() -> None:
    with pytest.raises(ScenarioError, match="data_rate"):
        Scenario.from_toml(TOML.replace("data_rate", "data_rat"))


CHANGES: list[tuple[Callable[[dict[str, Any]], object], str]] = [
    (lambda o: o["radio"].update(tx_power=float("nan")), "radio.tx_power"),
    (lambda o: o["flows"][1].update(start=float("inf")), "flows[1].start"),
    (lambda o: o["nodes"][0].update(placement=object()), "nodes[0].placement"),
    (lambda o: o["radio"].update(data_rate=b"54 Mb/s"), "radio.data_rate"),
    (lambda o: o["flows"][1].update(name="a\ud800"), "flows[1].name"),
    (lambda o: o["radio"].update({"\ud800": 1}), "radio"),
]


@pytest.mark.parametrize(("change", "field"), CHANGES)
def test_objects_that_no_file_could_hold(
    objects: dict[str, Any], change: Callable[[dict[str, Any]], object], field: str
) -> None:
    change(objects)
    with pytest.raises(ScenarioError) as caught:
        Scenario(**objects)
    assert (caught.value.file, caught.value.field) == ("<python>", field)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: Scenario.from_toml(TOML + "# \ud800"), "<text>:30: '\\ud800' is no character"),
        (lambda: Scenario.from_toml(TOML, overrides=["name=\udcff"]), "--set: name: '\\udcff' is no character"),
        (lambda: Scenario.from_toml(TOML).set("n\ud800", 1), "--set: n\ufffd: '\\ud800' is no character"),
        (
            lambda: Scenario.from_toml(TOML, congestion={"\ud800": CongestionControl}),
            "<text>: '\\ud800' is no character",
        ),
        (lambda: Scenario.from_toml(TOML, traces=["\ud800"]), "<text>: '\\ud800' is no character"),
        (lambda: Scenario.from_toml("\ud800.toml"), "\ufffd.toml: can't be read: no file can have that name"),
        (lambda: Scenario.from_toml("\0.toml"), "\0.toml: can't be read: no file can have that name"),
    ],
)
def test_text_that_is_none_is_told(make: Callable[[], object], told: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        make()
    assert str(caught.value) == told


def test_traces_are_found_by_argument_and_by_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = "".join(f"{i}\t{'IBB'[i % 3]}\t{40 * i}\t{500 + i}\n" for i in range(12))
    (tmp_path / "own.dat").write_text(trace)
    text = TOML.replace('kind = "adu", size = "1024 B", wait = "1 ms"', 'kind = "video-trace", file = "own"')
    monkeypatch.delenv("HOPCAST_TRACES", raising=False)
    with pytest.raises(ScenarioError, match="HOPCAST_TRACES"):
        Scenario.from_toml(text)
    by_argument = Scenario.from_toml(text, traces=[tmp_path])
    monkeypatch.setenv("HOPCAST_TRACES", str(tmp_path))
    assert Scenario.from_toml(text) == by_argument


def test_the_ending_of_a_trace_is_needed_beside_the_scenario_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HOPCAST_TRACES", raising=False)
    text = TOML.replace('kind = "adu", size = "1024 B", wait = "1 ms"', 'kind = "video-trace", file = "own"')
    folders = [tmp_path / name for name in ("beside", "argument", "first", "second")]
    beside, argument, first, second = folders
    for folder in folders:
        folder.mkdir()
        (folder / "own.dat").write_text("0 I 0 500\n1 I 40 300\n")
    (beside / "scenario.toml").write_text(text)
    with pytest.raises(ScenarioError, match="there is no such trace"):
        Scenario.from_toml(beside / "scenario.toml")
    monkeypatch.setenv("HOPCAST_TRACES", os.pathsep.join(map(str, (first, second))))
    found = Scenario.from_toml(beside / "scenario.toml", traces=[argument])
    assert found.files() == [str(folder / "own.dat") for folder in (argument, first, second)]
    for folder in (argument, first):
        (folder / "own.dat").unlink()
    found = Scenario.from_toml(beside / "scenario.toml", traces=[argument])
    assert found.files() == [str(second / "own.dat")]


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.toml")), ids=lambda path: path.stem)
def test_every_example_is_a_scenario(path: Path) -> None:
    assert Scenario.from_toml(path).duration_s > 0


def test_the_error_survives_pickling() -> None:
    error = ScenarioError("f", "k", "v", "m", 3)
    assert str(pickle.loads(pickle.dumps(error))) == str(error) == "f:3: k = v: m"


def _without_cost(result: hopcast.Result) -> dict[str, Any]:
    return {key: value for key, value in result.json().items() if key != "cost"}
