"""Sweeps: the same table however they are run, interrupted and continued, and wrong input refused before anything runs."""

from __future__ import annotations

import io
import json
import os
import random
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import qmc

import hopcast as package
from conftest import PATIENCE_S, TOML, Hopcast, command
from hopcast import Scenario, Sweep, open_sweep, run
from hopcast.lab.executor import Run
from hopcast.statistics import ci95, mean
from hopcast.sweep import NoSweep, Precision, SweepError, SweepFailed, plots, sample
from hopcast.sweep.parts import Parts
from hopcast.sweep.plan import expand, split
from hopcast.sweep.precision import parts_of

WINDOW, RATE, SPACING = "flows.bulk.transport.window", "radio.data_rate", "nodes.n.placement.spacing"
SWEEP = f"""
scenario = "two.toml"
seed = 11
replications = 2

[grid]
"{WINDOW}" = [2, 8]
radio.data_rate = ["6 Mb/s", "54 Mb/s"]

[zip]
"{SPACING}" = ["5 m", "7 m"]
"radio.queue.packets" = [10, 20]
"""
RULE = SWEEP.replace(
    "replications = 2",
    'replications = { metric = "flows.units.delay_mean_s", relative = 0.2, at_most = 14, at_least = 4 }',
)


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    """A sweep of eight points with two seeds, next to its scenario."""
    (tmp_path / "two.toml").write_text(TOML.replace("300 ms", "100 ms"))
    path = tmp_path / "sweep.toml"
    path.write_text(SWEEP)
    return path


def octets(folder: Path) -> bytes:
    """The tables of a sweep, as bytes."""
    result, buffer = open_sweep(folder), io.BytesIO()
    for table in (result.flows, result.nodes, result.totals):
        table.write_ipc(buffer)
    return buffer.getvalue()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# --- the table -----------------------------------------------------------------------------------------------------


def test_the_table_has_what_each_run_gives(asked: Path, hopcast: Hopcast) -> None:
    out = asked.parent / "out"
    done = hopcast("sweep", asked, "--out", out)
    assert (done.returncode, done.stderr) == (0, "")
    assert "8 points, 16 runs" in done.stdout
    flows, nodes = open_sweep(out).flows, open_sweep(out).nodes
    keys = [WINDOW, RATE, SPACING, "radio.queue.packets"]
    result = run(Scenario.from_toml(TOML))
    assert flows.columns == [*keys, *result.flows.columns]
    assert result.json()["flows"][0].keys() <= set(flows.columns)
    assert (flows.height, nodes.height) == (8 * 2 * 2, 8 * 2 * 3)
    assert flows.schema[WINDOW] == polars.Int64
    for point in ((2, "6 Mb/s", "7 m", 20), (8, "54 Mb/s", "5 m", 10)):
        scenario = Scenario.from_toml(asked.parent / "two.toml").set_all(dict(zip(keys, point, strict=True)))
        expected = run(scenario, seed=11, replications=2)
        found = flows.filter(*(polars.col(key) == value for key, value in zip(keys, point, strict=True)))
        assert found.drop(keys).equals(expected.flows)
        found = nodes.filter(*(polars.col(key) == value for key, value in zip(keys, point, strict=True)))
        assert found.drop(keys).equals(expected.nodes)


def test_points_are_in_the_order_of_the_file(asked: Path) -> None:
    points = Sweep.from_toml(asked).points
    assert [point[WINDOW] for point in points] == [2] * 4 + [8] * 4
    assert [point[RATE] for point in points] == ["6 Mb/s", "6 Mb/s", "54 Mb/s", "54 Mb/s"] * 2
    assert [(point[SPACING], point["radio.queue.packets"]) for point in points] == [("5 m", 10), ("7 m", 20)] * 4


def test_all_points_have_the_same_seeds(asked: Path) -> None:
    flows = Sweep.from_toml(asked).run().flows
    seeds = flows.group_by(WINDOW, RATE, SPACING).agg(polars.col("seed").unique().sort())["seed"].to_list()
    assert seeds == [[11, 12]] * 8


def test_sweep_json_says_what_was_asked(asked: Path, hopcast: Hopcast) -> None:
    out = asked.parent / "out"
    printed = json.loads(hopcast("sweep", asked, "--out", out, "--json").stdout)
    document = json.loads((out / "sweep.json").read_text())
    assert printed == {key: of for key, of in document.items() if key != "points"}
    assert document["counts"] == {"points": 8, "runs": 16, "finished": 16}
    assert document["complete"]
    assert document["asked"]["replications"] == 2
    assert document["asked"]["zip"] == {SPACING: ["5 m", "7 m"], "radio.queue.packets": [10, 20]}
    assert document["provenance"]["version"] == package.__version__
    assert document["provenance"]["seed"] == 11
    assert len(document["points"]) == 8


def test_python_objects_make_the_same_sweep(asked: Path) -> None:
    scenario = asked.parent / "two.toml"
    grid = {WINDOW: [2, 8], RATE: ["6 Mb/s", "54 Mb/s"]}
    lists = {SPACING: ["5 m", "7 m"], "radio.queue.packets": [10, 20]}
    sweep = Sweep(Scenario.from_toml(scenario), grid=grid, zip=lists, seed=11, replications=2)
    result = sweep.run(asked.parent / "python")
    assert result.complete
    Sweep.from_toml(asked).run(asked.parent / "file")
    assert octets(asked.parent / "python") == octets(asked.parent / "file")


def test_values_of_several_kinds_are_columns(asked: Path) -> None:
    scenario = asked.parent / "two.toml"
    errors = [{"model": "none"}, {"model": "packet", "rate": 0.1}]
    grid = {"radio.errors": errors, "radio.rts_threshold": ["off", 0], "flows.units.start": [0, 0.05]}
    flows = Sweep(scenario, grid=grid).run().flows
    assert flows["radio.errors"].unique().sort().to_list() == ['{ model = "none" }', '{ model = "packet", rate = 0.1 }']
    assert flows["radio.rts_threshold"].unique().sort().to_list() == ["0", "off"]
    assert flows["flows.units.start"].unique().sort().to_list() == [0.0, 0.05]


def test_a_sweep_without_keys_is_one_point(asked: Path) -> None:
    flows = Sweep(asked.parent / "two.toml", replications=3).run().flows
    assert flows["seed"].unique().to_list() == [7, 8, 9]


# --- the same bytes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [SWEEP, RULE], ids=["fixed", "rule"])
def test_the_table_does_not_depend_on_workers_shards_or_interruptions(asked: Path, text: str, hopcast: Hopcast) -> None:
    asked.write_text(text)
    folder = asked.parent
    assert hopcast("sweep", asked, "--out", folder / "one", "--workers", 1).returncode == 0
    assert hopcast("sweep", asked, "--out", folder / "many", "--workers", 5).returncode == 0
    shards = [hopcast("sweep", asked, "--out", folder / "shards", "--shard", f"{k}/3") for k in (3, 1, 2)]
    assert [done.returncode for done in shards] == [0, 0, 0]
    assert open_sweep(folder / "shards").complete
    expected = octets(folder / "one")
    assert [octets(folder / name) for name in ("many", "shards")] == [expected] * 2


def test_the_first_shard_of_two_leaves_the_other_half(asked: Path, hopcast: Hopcast) -> None:
    out = asked.parent / "out"
    done = hopcast("sweep", asked, "--out", out, "--shard", "1/2")
    assert (done.returncode, "8 of 16 runs" in done.stdout) == (0, True)
    result = open_sweep(out)
    assert (result.complete, result.flows.height) == (False, 8 * 2)
    # Job arrays that count from zero: 0/2 is 2/2.
    assert hopcast("sweep", asked, "--out", out, "--shard", "0/2").returncode == 0
    assert open_sweep(out).complete


def test_nothing_is_computed_twice(asked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    computed: list[int] = []
    original = Run.result

    def counted(self: Run, progress: Any) -> Any:
        computed.append(self.seed)
        return original(self, progress)

    monkeypatch.setattr(Run, "result", counted)
    out = asked.parent / "out"
    Sweep.from_toml(asked).run(out)
    Sweep.from_toml(asked).run(out)
    assert len(computed) == 16
    # Only what is new, and only with another value.
    asked.write_text(SWEEP.replace("[2, 8]", "[2, 4, 8]"))
    Sweep.from_toml(asked).run(out)
    assert len(computed) == 24
    assert open_sweep(out).flows.height == 48
    # A change of the scenario that matters repeats them, and a comment does not.
    scenario = asked.parent / "two.toml"
    scenario.write_text(scenario.read_text() + "# a comment\n")
    Sweep.from_toml(asked).run(out)
    assert len(computed) == 24
    scenario.write_text(scenario.read_text().replace("100 ms", "101 ms"))
    Sweep.from_toml(asked).run(out)
    assert len(computed) == 48


def test_two_processes_share_a_folder(asked: Path) -> None:
    folder = asked.parent
    both = [subprocess.Popen(command("sweep", asked, "--out", folder / "out"), stdout=subprocess.DEVNULL) for _ in "ab"]
    assert [process.wait(60) for process in both] == [0, 0]
    Sweep.from_toml(asked).run(folder / "alone")
    assert octets(folder / "out") == octets(folder / "alone")
    assert open_sweep(folder / "out").complete
    assert not [name for name in names(folder / "out") if name.endswith(".part")]


def longer(asked: Path) -> None:
    """Runs of about a tenth of a second, so that signals come in the middle."""
    scenario = asked.parent / "two.toml"
    scenario.write_text(scenario.read_text().replace("100 ms", "3 s"))


def test_ctrl_c_keeps_what_has_finished(asked: Path) -> None:
    longer(asked)
    asked.write_text(SWEEP.replace("replications = 2", "replications = 40"))
    out = asked.parent / "out"
    process = subprocess.Popen(command("sweep", asked, "--out", out), stderr=subprocess.PIPE, text=True)
    started(out, 4)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=PATIENCE_S)
    result = open_sweep(out)
    finished = result.document["counts"]["finished"]
    assert process.returncode == 130
    assert 4 <= finished < 320
    assert f"{finished} of 320 runs" in told
    assert result.flows.height == 2 * finished


def test_kill_9_loses_no_finished_run(asked: Path) -> None:
    longer(asked)
    folder, chance = asked.parent, random.Random(4)
    out = folder / "out"
    kept = 0
    for _ in range(6):
        process = subprocess.Popen(command("sweep", asked, "--out", out), stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 60.0
        while process.poll() is None and len(Parts(out).finished()) < kept + 1 and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(chance.uniform(0.0, 0.1))
        before = Parts(out).finished()
        process.kill()
        process.wait()
        assert before <= Parts(out).finished()
        kept = len(before)
    Sweep.from_toml(asked).run(out)
    Sweep.from_toml(asked).run(folder / "alone")
    assert octets(out) == octets(folder / "alone")


def started(out: Path, runs: int) -> None:
    deadline = time.monotonic() + 60.0
    while len(Parts(out).finished()) < runs:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_damaged_file_is_put_aside_and_its_runs_are_repeated(asked: Path) -> None:
    out = asked.parent / "out"
    Sweep.from_toml(asked).run(out)
    expected = octets(out)
    (part,) = out.glob("part-*.parquet")
    part.write_bytes(part.read_bytes()[:-100])
    with pytest.raises(NoSweep, match=r"part-.*is damaged.*repeats its runs"):
        _ = open_sweep(out).flows
    # A run that a crash of the machine cut off.
    (out / f"run-{'0' * 64}.parquet").write_bytes(b"PAR1")
    Sweep.from_toml(asked).run(out)
    assert octets(out) == expected
    assert len(list(out.glob("*.damaged"))) == 2


def test_a_run_that_fails_does_not_stop_the_others(asked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = Run.result

    def failing(self: Run, progress: Any) -> Any:
        if self.seed == 12 and f"{WINDOW} = 8" in self.place:
            raise package.RunError(f"{self.place}: the model raised")
        return original(self, progress)

    monkeypatch.setattr(Run, "result", failing)
    out = asked.parent / "out"
    for text, finished in ((SWEEP, 12), (RULE, 4)):
        asked.write_text(text)
        with pytest.raises(
            SweepFailed, match=rf"4 runs failed; .*{WINDOW} = 8, .*, seed 12: the model raised"
        ) as raised:
            Sweep.from_toml(asked).run(out)
        assert raised.value.sweep.document["counts"]["finished"] >= finished
        assert not open_sweep(out).complete
    # The next call tries them again.
    monkeypatch.setattr(Run, "result", original)
    asked.write_text(SWEEP)
    assert Sweep.from_toml(asked).run(out).complete


# --- wrong input ---------------------------------------------------------------------------------------------------

WRONG = {
    "unknown key": (SWEEP.replace("[grid]", "[gridd]"), ["gridd", 'did you mean "grid"']),
    "no scenario": (SWEEP.replace('scenario = "two.toml"', ""), ["scenario", "expected the name of a scenario"]),
    "missing scenario": (SWEEP.replace("two.toml", "three.toml"), ["scenario", "three.toml", "there is no file"]),
    "replications": (SWEEP.replace("replications = 2", "replications = 0"), ["replications = 0", "from 1 to"]),
    "seed": (SWEEP.replace("seed = 11", "seed = -1"), ["seed = -1", "from 0 to"]),
    "last seed": (SWEEP.replace("seed = 11", "seed = 9223372036854775807000"), ["seed = 9", "from 0 to"]),
    "no list": (SWEEP.replace("[2, 8]", "2"), [f"grid.{WINDOW} = 2", "expected a list"]),
    "empty list": (SWEEP.replace("[2, 8]", "[]"), [f"grid.{WINDOW} = []", "expected a list"]),
    "twice in a list": (SWEEP.replace("[2, 8]", "[2, 2]"), [f"grid.{WINDOW} = 2", "twice"]),
    "lengths": (SWEEP.replace("[10, 20]", "[10]"), ["zip", "one length", f"{SPACING} has 2"]),
    "key of the scenario": (
        SWEEP.replace("transport.window", "transport.windw"),
        ["grid", "windw", 'did you mean "window"'],
    ),
    "flow": (SWEEP.replace("flows.bulk", "flows.bluk"), ["bluk", "bulk"]),
    "value": (SWEEP.replace('"54 Mb/s"', '"55 Mb/s"'), ["grid.radio.data_rate", "55 Mb/s"]),
    "both sections": (SWEEP.replace('"radio.queue.packets"', f'"{WINDOW}"'), [f"zip.{WINDOW}", "varied twice"]),
    "seeds as a grid": (SWEEP + "[grid2]", ["grid2", 'did you mean "grid"']),
    "grid of seeds": (SWEEP.replace("[grid]", "[grid]\nseed = [1, 2]"), ["grid.seed", "`seed` and `replications`"]),
    "no TOML": (SWEEP.replace("[grid]", "[grid"), ["is not TOML", "line"]),
    "metric": (RULE.replace("delay_mean_s", "delay_maen_s"), ["replications.metric", 'did you mean "delay_mean_s"']),
    "flow of the metric": (
        RULE.replace('"flows.units', '"flows.unit'),
        ["replications.metric", 'did you mean "units"'],
    ),
    "form of the metric": (
        RULE.replace("flows.units.delay_mean_s", "delay"),
        ["replications.metric", "flows.NAME.FIELD"],
    ),
    "relative": (RULE.replace("relative = 0.2", "relative = 2"), ["replications.relative = 2", "between 0 and 1"]),
    "at_most": (RULE.replace("at_most = 14", "at_most = 1"), ["replications.at_most = 1", "from 2"]),
    "key of the rule": (RULE.replace("at_most", "at_mots"), ["replications.at_mots", 'did you mean "at_most"']),
    "rule without": (RULE.replace("relative = 0.2,", ""), ["replications.relative", "is missing"]),
    "method": (
        SWEEP + '[sample]\nmethod = "sobl"\nsize = 4\n"duration" = [1, 2]',
        ["sample.method", 'did you mean "sobol"'],
    ),
    "size": (SWEEP + '[sample]\nsize = 0\n"duration" = [1, 2]', ["sample.size = 0", "from 1"]),
    "no size": (SWEEP + '[sample]\n"duration" = [1, 2]', ["sample.size", "is missing"]),
    "bounds": (SWEEP + '[sample]\nsize = 4\n"duration" = [2, 1]', ["sample.duration = [2, 1]", "low end below"]),
    "units": (SWEEP + '[sample]\nsize = 4\n"duration" = ["2 ms", "1 s"]', ["sample.duration", "two units"]),
    "no bounds": (SWEEP + '[sample]\nsize = 4\n"duration" = [1, 2, 3]', ["sample.duration", "expected [low, high]"]),
    "date": (SWEEP.replace("[2, 8]", "[2026-01-01]"), [f"grid.{WINDOW}", "expected a string"]),
    "infinite": (SWEEP.replace("[2, 8]", "[inf]"), [f"grid.{WINDOW}", "expected a string"]),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_input_is_refused_before_anything_runs(asked: Path, name: str, hopcast: Hopcast) -> None:
    text, parts = WRONG[name]
    asked.write_text(text)
    out = asked.parent / "out"
    done = hopcast("sweep", asked, "--out", out)
    assert (done.returncode, done.stdout) == (2, "")
    assert str(asked) in done.stderr
    assert [part for part in parts if part not in done.stderr] == []
    assert not out.exists()


@pytest.mark.parametrize("shard", ["3/2", "1", "1/0", "a/b", "-1/2", "1/2/3"])
def test_a_wrong_shard_is_refused(asked: Path, shard: str, hopcast: Hopcast) -> None:
    done = hopcast("sweep", asked, "--out", asked.parent / "out", f"--shard={shard}")
    assert done.returncode == 2
    assert "expected K/N" in done.stderr


def test_a_folder_that_cannot_be_written_is_refused(asked: Path, hopcast: Hopcast) -> None:
    done = hopcast("sweep", asked, "--out", asked)
    assert (done.returncode, "can't write results there" in done.stderr) == (2, True)
    assert hopcast("sweep", asked).returncode == 2


@pytest.mark.parametrize("text", [None, "{", "[]", "{}", '{"asked": {}, "keys": 3}'])
def test_a_folder_without_a_sweep_is_refused(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "sweep.json").write_text(text)
    with pytest.raises(NoSweep, match=r"sweep\.json"):
        open_sweep(tmp_path)


@settings(max_examples=60)
@given(st.recursive(st.none() | st.booleans() | st.floats() | st.integers() | st.text(), lambda of: st.lists(of) | st.dictionaries(st.text(), of), max_leaves=8))  # fmt: skip
def test_any_section_is_read_or_refused(section: Any) -> None:
    for place in range(3):
        sections: list[Any] = [None, None, None]
        sections[place] = section
        with suppress(SweepError):
            expand(sections[0], sections[1], sections[2], 1, "sweep.toml")


# --- the rule ------------------------------------------------------------------------------------------------------


def test_the_rule_stops_at_the_first_narrow_interval() -> None:
    draw = random.Random(3)
    values: list[float | None] = [draw.gauss(10.0, 2.0) for _ in range(400)]
    rule = Precision("flows.a.goodput_bps", 0.05, 300)
    count = rule.enough(values)
    assert count is not None
    assert 10 < count < 300

    def ratio(n: int) -> float:
        of = [value for value in values[:n] if value is not None]
        return (ci95(of) or 0.0) / mean(of)

    # Law's threshold for 5 %: γ/(1 + γ).
    assert ratio(count) <= 0.05 / 1.05 < min(ratio(n) for n in range(10, count))
    assert rule.enough(values[: count - 1]) is None


def test_the_rule_stops_at_most_there_and_skips_what_was_not_measured() -> None:
    rule = Precision("flows.a.delay_mean_s", 0.05, 12)
    assert rule.enough([1.0, 9.0] * 6) == 12
    assert rule.enough([None] * 12) == 12
    assert rule.enough([None] * 11) is None
    assert rule.enough([None, 1.0, 1.0] * 4) == 10
    assert Precision("flows.a.delay_mean_s", 0.5, 5).enough([1.0] * 5) == 5
    assert rule.enough([0.0] * 10) == 10


def test_a_point_has_as_many_seeds_as_its_interval_needs(asked: Path, hopcast: Hopcast) -> None:
    asked.write_text(RULE)
    out = asked.parent / "out"
    assert hopcast("sweep", asked, "--out", out).returncode == 0
    of_units = open_sweep(out).flows.filter(name="units")
    keys = [WINDOW, RATE, SPACING]
    counts = []
    for _, group in of_units.group_by(keys):
        values = group.sort("seed")["delay_mean_s"].to_list()
        assert group["seed"].sort().to_list() == list(range(11, 11 + len(values)))
        half = ci95(values)
        assert half is not None
        assert len(values) == 14 or half <= 0.2 * mean(values)
        counts.append(len(values))
    assert len(counts) == 8
    assert min(counts) >= 4
    assert len(set(counts)) > 1


@pytest.mark.parametrize(
    ("metric", "parts"),
    [
        ("flows.film.delay_mean_s", ("flows", "film", "delay_mean_s")),
        ("flows.a.b.loss_ratio", ("flows", "a.b", "loss_ratio")),
        ("nodes.n0.drops.queue_full", ("nodes", "n0", "drop_queue_full")),
        ("totals.collisions", ("totals", "", "collisions")),
        ("flows.film", None),
        ("others.a.b", None),
        ("", None),
    ],
)
def test_a_metric_names_table_record_and_field(metric: str, parts: tuple[str, str, str] | None) -> None:
    assert parts_of(metric) == parts


@pytest.mark.parametrize("metric", ["totals.frames_sent", "nodes.n1.drops.queue_full", "nodes.n1.received"])
def test_a_metric_may_be_of_a_node_or_of_the_network(asked: Path, metric: str) -> None:
    rule = {"metric": metric, "relative": 0.5, "at_most": 4, "at_least": 2}
    assert Sweep(asked.parent / "two.toml", replications=rule).run().complete


# --- samples -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", sample.METHODS)
@pytest.mark.parametrize("seed", [0, 1, 2**64 - 1])
def test_a_sample_has_a_point_in_each_interval_of_each_dimension(method: str, seed: int) -> None:
    keys = [f"key{index}" for index in range(sample.MOST)]
    points = sample.points(method, 64, keys, seed)
    for values in zip(*points, strict=True):
        assert sorted(int(64 * value) for value in values) == list(range(64))
    assert sample.points(method, 64, keys, seed) == points
    assert sample.points(method, 64, keys, seed ^ 1) != points


def test_two_dimensions_of_sobol_points_are_a_net() -> None:
    # Every elementary interval of area 1/64 has one of 64 points: the first two dimensions have t = 0 (Sobol', 1967).
    points = sample.sobol(64, ["a", "b"], 5)
    for k in range(7):
        boxes = sorted((int(2**k * a), int(2 ** (6 - k) * b)) for a, b in points)
        assert boxes == [(i, j) for i in range(2**k) for j in range(2 ** (6 - k))]


def test_sobol_points_are_those_of_joe_and_kuo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample, "_draw", lambda *_: 0)
    expected = qmc.Sobol(sample.MOST, scramble=False, bits=32).random(256)
    assert sample.sobol(256, [str(at) for at in range(sample.MOST)], 0) == [tuple(row) for row in expected.tolist()]


def test_sampled_values_lie_between_their_bounds_in_their_unit(asked: Path) -> None:
    ranges: dict[str, list[Any]] = {WINDOW: [2, 9], SPACING: ["3 m", "20 m"], "flows.units.start": [0.0, 0.05], "flows.units.application.size": ["100 B", "900 B"]}  # fmt: skip
    for method in sample.METHODS:
        sweep = Sweep(asked.parent / "two.toml", sample={"method": method, "size": 32, **ranges}, seed=5)
        for key, ends in ranges.items():
            values = [split(point[key]) for point in sweep.points]
            (low, unit), (high, _) = split(ends[0]) or (0.0, ""), split(ends[1]) or (0.0, "")
            assert all(value is not None and low <= value[0] <= high and value[1] == unit for value in values)
            assert len(set(values)) > 7
        assert {type(point[WINDOW]) for point in sweep.points} == {int}
        assert {point[WINDOW] for point in sweep.points} == set(range(2, 10))


# --- figures -------------------------------------------------------------------------------------------------------

GRIDS: dict[str, dict[str, Any]] = {
    "one": {"grid": {WINDOW: [2, 4, 8]}},
    "two": {"grid": {WINDOW: [8, 2], RATE: ["6 Mb/s", "54 Mb/s"]}},
    "texts": {"grid": {"radio.rts_threshold": ["off", "0 B"], "flows.bulk.transport.variant": ["reno", "cubic"]}},
    "side by side": {"zip": {WINDOW: [2, 4, 8], RATE: ["6 Mb/s", "24 Mb/s", "54 Mb/s"]}},
    "many": {"sample": {"size": 8, WINDOW: [2, 9], SPACING: ["3 m", "20 m"], "flows.units.start": [0.0, 0.05]}},
    "none": {},
}


@pytest.mark.parametrize("name", GRIDS)
def test_a_report_has_figures_for_each_number_of_parameters(asked: Path, name: str, hopcast: Hopcast) -> None:
    out = asked.parent / "out"
    result = Sweep(asked.parent / "two.toml", replications=2, **GRIDS[name]).run(out)
    assert hopcast("report", out).returncode == 0
    page = (out / "report.html").read_text()
    drawn = {"one": 1, "two": 4, "texts": 4, "side by side": 1, "many": 6, "none": 0}[name]
    assert page.count("<figure>") == 2 * drawn
    assert [axis.keys for axis in plots.axes_of(result)] == {
        "one": [(WINDOW,)],
        "two": [(WINDOW,), (RATE,)],
        "texts": [("radio.rts_threshold",), ("flows.bulk.transport.variant",)],
        "side by side": [(WINDOW, RATE)],
        "many": [(WINDOW,), (SPACING,), ("flows.units.start",)],
        "none": [],
    }[name]
    assert hopcast("report", out).returncode == 0
    assert (out / "report.html").read_text() == page


def test_a_figure_has_the_means_of_the_table(asked: Path) -> None:
    result = Sweep(asked.parent / "two.toml", replications=3, grid={WINDOW: [8, 2], RATE: ["6 Mb/s", "54 Mb/s"]}).run()
    axes = plots.axes_of(result)
    (point,) = (one for one in plots.points_of(result, axes, "goodput_bps") if one.places == (8.0, 6.0))
    values = result.flows.filter(polars.col(WINDOW) == 8, polars.col(RATE) == "6 Mb/s", name="bulk")["goodput_bps"]
    value, half = point.means["bulk"]
    assert value == pytest.approx(1e-6 * mean(values.to_list()))
    assert half == pytest.approx(1e-6 * (ci95(values.to_list()) or 0.0))


def test_a_report_of_a_sweep_that_has_begun(asked: Path, hopcast: Hopcast) -> None:
    out = asked.parent / "out"
    assert hopcast("sweep", asked, "--out", out, "--shard", "1/5").returncode == 0
    assert hopcast("report", out).returncode == 0
    assert "The sweep is not complete" in (out / "report.html").read_text()
    (out / "sweep.json").write_text("{}")
    done = hopcast("report", out)
    assert (done.returncode, "is not a file that" in done.stderr) == (2, True)


# --- pickles and failures -------------------------------------------------------------------------------------------


def test_a_scenario_survives_a_pickle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pickle

    (tmp_path / "two.toml").write_text(TOML)
    monkeypatch.chdir(tmp_path)
    scenario = Scenario.from_toml("two.toml").set(WINDOW, 3)
    made = pickle.dumps(scenario)
    monkeypatch.chdir(os.sep)
    again = pickle.loads(made)
    assert again == scenario
    assert again.folders()[0] == str(tmp_path)


def test_failures_are_told_in_python(asked: Path) -> None:
    (asked.parent / "out").mkdir()
    sweep = Sweep.from_toml(asked)
    original = Parts.put

    def full(self: Parts, run: str, frame: polars.DataFrame) -> None:
        if len(self.finished()) >= 3:
            raise package.RunError(f"{self.path(run)}: can't be written: No space left on device")
        original(self, run, frame)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Parts, "put", full)
        with pytest.raises(SweepFailed, match="No space left on device; 3 of 16 runs") as raised:
            sweep.run(asked.parent / "out", workers=1)
    assert raised.value.sweep.flows.height == 6
