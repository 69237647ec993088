"""Runs that are kept: a study that was interrupted goes on where it was."""

from __future__ import annotations

import functools
import importlib
import os
import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from conftest import TOML, Hopcast, command
from hopcast import OutputError, Result, Scenario, ScenarioError, run
from hopcast.congestion import CongestionControl
from hopcast.lab import AMOUNTS, StudyInterrupted, load_file, run_experiments
from hopcast.lab import executor as module
from hopcast.lab.experiment import Case, Experiment, Measured
from hopcast.lab.kept import NAME, KeptRuns, Observe
from hopcast.lab.rows import Row
from hopcast_papers import EXPERIMENTS

QUICK = AMOUNTS["quick"]
H3 = EXPERIMENTS["H3"]
RUNS = sum(len(case.seeds) for case in H3.cases(QUICK).values())
OUTPUT = ("report.html", "rows.json", "rows.parquet")


def counted(folder: Path) -> int:
    """How many runs are kept in a folder."""
    if not (folder / NAME).exists():
        return 0
    with sqlite3.connect(folder / NAME, timeout=10.0) as connection:
        try:
            found: int = connection.execute("SELECT count(*) FROM runs").fetchone()[0]
        except sqlite3.OperationalError:
            return 0
    return found


class Watched:
    """`hopcast.run`, with a list of what it simulated; it interrupts after this number of runs."""

    def __init__(self, runs: int | None = None) -> None:
        self.ran: list[tuple[str, int]] = []
        self.runs = runs

    def __call__(self, scenario: Scenario, *, seed: int, **rest: Any) -> Result:
        if len(self.ran) == self.runs:
            raise KeyboardInterrupt
        self.ran.append((scenario.sha256, seed))
        return run(scenario, seed=seed, **rest)


SIGNALLED = """
import os, signal, sys, time
from hopcast import run
from hopcast.lab import executor

number, ran = int(sys.argv.pop(1)), 0

def signalled(scenario, **rest):
    global ran
    if ran == 5:
        # Who is killed can keep nothing more.
        time.sleep(0.5 if number == signal.SIGKILL else 0.0)
        os.kill(os.getpid(), number)
        time.sleep(1.0)
    ran += 1
    return run(scenario, **rest)

executor.run = signalled
from hopcast.start import main
main()
"""
"""The command line, with a signal to itself when five runs have been simulated, and a second to take it."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a study that nothing interrupted."""
    folder = tmp_path_factory.mktemp("whole")
    subprocess.run(command("study", "H3", "--out", folder), check=True, capture_output=True)
    return folder


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_an_interrupted_study_goes_on_to_the_same_report(
    number: signal.Signals, whole: Path, hopcast: Hopcast, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    program = [sys.executable, "-c", SIGNALLED, str(number.value), "study", "H3", "--threads", "1", "--out", str(out)]
    subprocess.run(program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    finished = counted(out)
    assert 5 <= finished < RUNS
    watched = Watched()
    monkeypatch.setattr(module, "run", watched)
    kept = KeptRuns(out)
    told: list[float] = []
    run_experiments([H3], QUICK, kept=kept, progress=lambda done, total: told.append(done / total))
    kept.close()
    assert len(watched.ran) == RUNS - finished
    assert told[0] == pytest.approx(finished / RUNS, abs=0.3), "what was found counts as done"
    assert hopcast("study", "H3", "--out", out).returncode == 0
    assert [(out / name).read_bytes() for name in OUTPUT] == [(whole / name).read_bytes() for name in OUTPUT]


def test_two_studies_give_the_same_bytes(whole: Path, hopcast: Hopcast, tmp_path: Path) -> None:
    assert hopcast("study", "H3", "--threads", 1, "--out", tmp_path).returncode == 0
    assert [(tmp_path / name).read_bytes() for name in OUTPUT] == [(whole / name).read_bytes() for name in OUTPUT]


def test_ctrl_c_keeps_what_had_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "run", Watched(5))
    kept = KeptRuns(tmp_path)
    with pytest.raises(StudyInterrupted, match="0 of 1 experiment finished"):
        run_experiments([H3], QUICK, threads=1, kept=kept)
    kept.close()
    assert counted(tmp_path) == 5


IMPORTING = """
import os, signal, sys, time

wanted = sys.argv.pop(1)

class Signalled:
    @staticmethod
    def find_spec(name, *_):
        if name == wanted:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.1)
            os.write(2, b"goes on")

sys.meta_path.insert(0, Signalled)
from hopcast.start import main
main()
"""
"""The command line, with Ctrl-C when it imports a module."""


@pytest.mark.parametrize(
    ("imported", "told", "is_reported"),
    # The first figures are drawn as soon as an experiment is complete, when others may still run.
    [("polars", "interrupted", False), ("matplotlib", "interrupted: 1 of 1 experiment finished", True)],
)
def test_ctrl_c_after_the_last_run_waits_until_the_rows_are_written(
    imported: str, told: str, is_reported: bool, whole: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    program = [sys.executable, "-c", IMPORTING, imported, "study", "H3", "--out", str(out)]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, f"goes on\nhopcast: {told}\n")
    assert "H3: " in done.stdout
    rows = ("rows.json", "rows.parquet")
    assert [(out / name).read_bytes() for name in rows] == [(whole / name).read_bytes() for name in rows]
    assert (out / "report.html").exists() == is_reported


STEPPING = """
import signal, sys
from hopcast.report import page

left, write_report = int(sys.argv.pop(1)), page.write_report

def step(frame, event, _):
    global left
    left -= event == "line"
    if left == 0:
        sys.settrace(None)
        signal.raise_signal(signal.SIGINT)
    return step

def written(*arguments):
    path, frame = write_report(*arguments), sys._getframe().f_back
    while frame is not None:
        frame.f_trace, frame = step, frame.f_back
    sys.settrace(step)
    return path

page.write_report = written
from hopcast.start import main
main()
"""
"""The command line, with Ctrl-C this number of lines of Python after the report is written."""


@pytest.mark.parametrize("lines", [1, 3, 5, 10, 20, 50])
def test_ctrl_c_after_the_report_waits_until_the_rows_are_told(lines: int, whole: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    program = [sys.executable, "-c", STEPPING, str(lines), "study", "H3", "--out", str(out)]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "\nhopcast: interrupted\n")
    assert "H3: " in done.stdout
    assert [(out / name).read_bytes() for name in OUTPUT] == [(whole / name).read_bytes() for name in OUTPUT]


def test_ctrl_c_while_the_runs_are_handed_out_stops_them(monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched()
    monkeypatch.setattr(module, "run", watched)
    submit, given = ThreadPoolExecutor.submit, []

    def interrupted(pool: ThreadPoolExecutor, *work: Any) -> Any:
        given.append(submit(pool, *work))
        if len(given) == RUNS:
            raise KeyboardInterrupt
        return given[-1]

    monkeypatch.setattr(ThreadPoolExecutor, "submit", interrupted)
    with pytest.raises(StudyInterrupted):
        run_experiments([H3], QUICK, threads=1)
    assert all(future.done() for future in given)
    assert len(watched.ran) < RUNS


def test_ctrl_c_while_a_run_is_kept_keeps_it(scenario: Scenario, tmp_path: Path) -> None:
    class Interrupting(KeptRuns):
        asked = 0

        def put(self, scenario: Scenario, seed: int, observe: Observe | None, document: str) -> None:
            self.asked += 1
            if self.asked == 1:
                raise KeyboardInterrupt
            super().put(scenario, seed, observe, document)

    kept = Interrupting(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        list(module.execute(module.runs_of(scenario, [1]), module.Threads(1), kept=kept))
    assert kept.find(scenario, 1, None) is not None
    kept.close()


def test_fresh_runs_all_anew(whole: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes((whole / NAME).read_bytes())
    for fresh, expected in ((False, 0), (True, RUNS)):
        watched = Watched()
        monkeypatch.setattr(module, "run", watched)
        kept = KeptRuns(tmp_path, fresh=fresh)
        run_experiments([H3], QUICK, kept=kept)
        kept.close()
        assert len(watched.ran) == expected


def test_a_run_is_told_from_others(scenario: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = KeptRuns(tmp_path)
    kept.put(scenario, 7, None, '{"flows": []}')
    assert kept.find(scenario, 7, None) == '{"flows": []}'
    assert kept.find(scenario, 8, None) is None
    assert kept.find(scenario.set("flows.bulk.transport.window", 4), 7, None) is None
    assert kept.find(scenario, 7, observed) is None
    monkeypatch.setattr("hopcast.lab.kept.build", lambda: "another build")
    assert kept.find(scenario, 7, None) is None


@pytest.mark.parametrize("name", ["film.dat", "film"])
def test_a_run_over_another_trace_is_another(name: str, objects: dict[str, Any], tmp_path: Path) -> None:
    objects["flows"][0]["application"] = {"kind": "video-trace", "file": name}
    for folder, sizes in (("a", (500, 300)), ("b", (500, 301))):
        (tmp_path / folder).mkdir()
        lines = [f"{index} I {40 * index} {size}" for index, size in enumerate(sizes)]
        (tmp_path / folder / "film.dat").write_text("\n".join(lines) + "\n")
    one, other = (Scenario(**objects, traces=[tmp_path / folder]) for folder in ("a", "b"))
    assert one.sha256 == other.sha256
    assert one.files() == [str(tmp_path / "a" / "film.dat")]
    kept = KeptRuns(tmp_path)
    kept.put(one, 7, None, '{"flows": []}')
    assert kept.find(one, 7, None) == '{"flows": []}'
    assert kept.find(other, 7, None) is None


MINE = """
from hopcast import Scenario
from hopcast.lab import Case, Experiment, value

def observe(result):
    return {{"x": {x}}}

def cases(amount):
    return {{"a": Case(Scenario.from_toml({toml!r}), (1,), observe)}}

def rows(measured):
    return [value("MINE", "a", "x", "", measured.sample("a", lambda document: document["x"]))]

EXPERIMENTS = [Experiment("MINE", "", "", lambda amount: [], cases, rows)]
"""


def test_a_file_that_was_edited_in_a_session_is_another(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"

    def loaded(x: float) -> list[Experiment]:
        file.write_text(MINE.format(x=x, toml=TOML))
        return load_file(file)

    def measured(experiments: list[Experiment]) -> float | None:
        kept = KeptRuns(tmp_path)
        found = run_experiments(experiments, QUICK, kept=kept).rows[0].measured
        kept.close()
        return found

    assert [measured(loaded(x)) for x in (1.0, 2.0, 1.0)] == [1.0, 2.0, 1.0]
    assert counted(tmp_path) == 2, "what was measured before is found again"
    old = loaded(3.0)
    file.write_text(MINE.format(x=4.0, toml=TOML))
    assert measured(old) == 3.0
    assert measured(load_file(file)) == 4.0, "it is what was executed that counts, not what stands in the file then"


@pytest.mark.parametrize(("is_older", "runs"), [(True, 1), (False, 0)])
def test_a_module_that_may_have_been_edited_is_not_vouched_for(
    is_older: bool, runs: int, scenario: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"helper_{runs}"
    file = tmp_path / f"{name}.py"
    file.write_text("def observe(result):\n    return {}\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, name, raising=False)
    observe = importlib.import_module(name).observe
    if is_older:
        os.utime(file, (0.0, 0.0))
    kept = KeptRuns(tmp_path)
    kept.put(scenario, 7, observe, '{"flows": []}')
    kept.close()
    assert counted(tmp_path) == runs


def test_a_trace_that_was_rewritten_in_a_session_is_another(objects: dict[str, Any], tmp_path: Path) -> None:
    objects["flows"] = [objects["flows"][0] | {"application": {"kind": "video-trace", "file": "film.dat"}}]

    def played(size: int) -> Scenario:
        """A film of eight frames."""
        (tmp_path / "film.dat").write_text(f"0 I 0 {size}\n1 I 40 {size}\n")
        return Scenario(**objects, directory=tmp_path)

    def sent(*scenarios: Scenario) -> list[float]:
        found: list[float] = []

        def rows(measured: Measured) -> list[Row]:
            found.extend(measured.flow(name, "units", "sent_bytes").mean for name in measured.documents)
            return []

        cases = {str(place): Case(scenario, (1,)) for place, scenario in enumerate(scenarios)}
        kept = KeptRuns(tmp_path)
        run_experiments([Experiment("X", "", "", lambda amount: [], lambda amount: cases, rows)], QUICK, kept=kept)
        kept.close()
        return found

    small = played(500)
    assert sent(small) == [8 * 500]
    large = played(700)
    assert sent(large) == [8 * 700]
    assert sent(small, large) == [8 * 500, 8 * 700], "in one study, too"
    assert counted(tmp_path) == 2


class One(CongestionControl):
    """A window of one segment."""

    def on_established(self, segment: int, initial_window: int) -> None:
        self.window = segment


class Eight(CongestionControl):
    """A window of eight."""

    def on_established(self, segment: int, initial_window: int) -> None:
        self.window = 8 * segment


def test_a_run_that_is_made_anew_plays_no_other_trace(objects: dict[str, Any], tmp_path: Path) -> None:
    film = tmp_path / "film.dat"
    film.write_text("0 I 0 500\n1 I 40 500\n")
    objects["flows"][0]["application"] = {"kind": "video-trace", "file": film.name}
    objects["flows"][1]["transport"] = {"protocol": "tcp", "congestion": {"name": "law"}}
    scenario = Scenario(**objects, directory=tmp_path, congestion={"law": One})
    assert run(scenario, seed=1).flows["sent_bytes"][0] == 8 * 500
    film.write_text("0 I 0 700\n1 I 40 700\n")
    with pytest.raises(ScenarioError, match=r"film\.dat\) was changed since the scenario was made"):
        run(scenario, seed=1)


def test_runs_under_other_laws_of_one_name_are_others(objects: dict[str, Any], tmp_path: Path) -> None:
    objects["flows"] = [objects["flows"][1]]
    objects["flows"][0]["transport"] = {"protocol": "tcp", "congestion": {"name": "law"}}
    one, eight = (Scenario(**objects, congestion={"law": law}) for law in (One, Eight))
    assert one.sha256 == eight.sha256
    kept = KeptRuns(tmp_path)
    kept.put(one, 7, None, '{"flows": []}')
    assert kept.find(one, 7, None) == '{"flows": []}'
    assert kept.find(eight, 7, None) is None

    class Local(One):
        pass

    kept.put(Scenario(**objects, congestion={"law": Local}), 7, None, '{"flows": []}')
    kept.close()
    assert counted(tmp_path) == 1, "which class of that name it was can't be told"
    goodputs: dict[str, float] = {}

    def rows(measured: Measured) -> list[Row]:
        goodputs.update({name: measured.flow(name, "bulk", "goodput_bps").mean for name in ("one", "eight")})
        return []

    cases = {"one": Case(one, (1,)), "eight": Case(eight, (1,))}
    run_experiments([Experiment("X", "", "", lambda amount: [], lambda amount: cases, rows)], QUICK)
    assert goodputs["eight"] > 1.2 * goodputs["one"]


def observed(result: Result) -> dict[str, Any]:
    return {"packets": result.flows["sent_packets"].sum()}


class Scaled:
    """Observers that differ by more than their names."""

    scale = 1.0

    def __init__(self, scale: float) -> None:
        self.scale = scale

    def __call__(self, result: Result) -> dict[str, Any]:
        return {"packets": self.scale * observed(result)["packets"]}

    def bound(self, result: Result) -> dict[str, Any]:
        return self(result)

    @classmethod
    def inherited(cls, result: Result) -> dict[str, Any]:
        return cls(cls.scale)(result)

    @staticmethod
    def alone(result: Result) -> dict[str, Any]:
        return observed(result)


class Double(Scaled):
    """Has its method from another class."""

    scale = 2.0


def scaled(scale: float) -> Observe:
    """An observer under the name of another one."""

    @functools.wraps(observed)
    def wrapped(result: Result) -> dict[str, Any]:
        return {"packets": scale * observed(result)["packets"]}

    return wrapped


@functools.wraps(observed)
def renamed(result: Result) -> dict[str, Any]:
    return {}


def twice(function: Observe) -> Observe:
    """A decorator, as another module may have it."""

    @functools.wraps(function)
    def wrapped(result: Result) -> dict[str, Any]:
        return {name: 2 * value for name, value in function(result).items()}

    return wrapped


@twice
def decorated(result: Result) -> dict[str, Any]:
    return observed(result)


STATEFUL: dict[str, Observe] = {
    "nested": lambda result: {},
    "bound": Scaled(3.0).bound,
    "of a class": Scaled.inherited,
    "inherited": Double.inherited,
    "object": Scaled(3.0),
    "partial": functools.partial(Scaled.bound, Scaled(3.0)),
    "wrapped": scaled(3.0),
    "renamed": renamed,
    "decorated": decorated,
}


@pytest.mark.parametrize("observe", STATEFUL.values(), ids=STATEFUL)
def test_what_cannot_be_told_apart_is_not_kept(scenario: Scenario, tmp_path: Path, observe: Observe) -> None:
    kept = KeptRuns(tmp_path)
    kept.put(scenario, 7, observed, '{"flows": []}')
    kept.put(scenario, 7, Scaled.alone, "document of a static method")
    kept.put(scenario, 7, observe, "another document")
    assert kept.find(scenario, 7, observe) is None
    kept.close()
    assert counted(tmp_path) == 2


class Maker:
    """Makes laws with a window of this number of segments."""

    def __init__(self, segments: int) -> None:
        self.segments = segments

    def law(self) -> CongestionControl:
        return One() if self.segments == 1 else Eight()


def test_runs_under_laws_of_a_bound_method_are_not_kept(objects: dict[str, Any], tmp_path: Path) -> None:
    objects["flows"] = [objects["flows"][1]]
    objects["flows"][0]["transport"] = {"protocol": "tcp", "congestion": {"name": "law"}}
    one, eight = (Scenario(**objects, congestion={"law": Maker(segments).law}) for segments in (1, 8))
    kept = KeptRuns(tmp_path)
    kept.put(one, 7, None, '{"flows": []}')
    assert kept.find(eight, 7, None) is None
    kept.close()
    assert counted(tmp_path) == 0


@pytest.mark.parametrize("content", [b"not a database, but long enough to be taken for one" * 9, b"", b"short"])
def test_another_file_is_in_the_way(hopcast: Hopcast, tmp_path: Path, content: bytes) -> None:
    (tmp_path / NAME).write_bytes(content)
    if not content:
        assert counted(tmp_path) == 0
        KeptRuns(tmp_path).close()
        return
    with pytest.raises(OutputError, match="--fresh"):
        KeptRuns(tmp_path)
    done = hopcast("study", "H3", "--out", tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{tmp_path}/{NAME}" in done.stderr
    KeptRuns(tmp_path, fresh=True).close()


def test_a_document_that_is_damaged_runs_anew(scenario: Scenario, tmp_path: Path) -> None:
    kept = KeptRuns(tmp_path)
    kept.put(scenario, 7, None, '{"flows": []}')
    kept.close()
    with sqlite3.connect(tmp_path / NAME) as connection:
        connection.execute("UPDATE runs SET document = x'00ff'")
    kept = KeptRuns(tmp_path)
    assert kept.find(scenario, 7, None) is None
    kept.close()


def test_a_kept_run_that_is_no_json_is_repeated(scenario: Scenario, tmp_path: Path) -> None:
    kept = KeptRuns(tmp_path)
    for seed, document in enumerate(["{", "[]", "NaN", ""]):
        kept.put(scenario, seed, None, document)
        assert kept.find(scenario, seed, None) is None
    kept.put(scenario, 7, None, '{"flows": []}')
    assert kept.find(scenario, 7, None) == '{"flows": []}'
    kept.close()


def test_what_cannot_be_written_does_not_stop_a_study(scenario: Scenario, tmp_path: Path) -> None:
    kept = KeptRuns(tmp_path / "no such folder")
    kept.put(scenario, 7, None, '{"flows": []}')
    assert kept.failure is not None
    assert "runs can't be kept" in kept.failure
    kept.put(scenario, 8, None, '{"flows": []}')
    assert kept.find(scenario, 8, None) is None
