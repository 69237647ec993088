"""Custom studies, and studies taken apart."""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import sys
from pathlib import Path

import polars
import pytest

from conftest import APART, ROOT, TOML, Hopcast, environment
from hopcast import Scenario, ScenarioError, lab
from hopcast.lab import AMOUNTS, Case, StudyFileError, load_file, run_experiments
from hopcast.lab.change import with_values
from hopcast.lab.experiment import MissingFailed
from hopcast.report.page import Ahead, NothingToReport, write_report
from hopcast_papers import EXPERIMENTS

EXAMPLE = ROOT / "examples" / "hidden_terminal.py"
GUIDE = ROOT / "docs" / "your-own-study.md"


def blocks(language: str) -> list[str]:
    """The code blocks of the guide in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", GUIDE.read_text(), flags=re.DOTALL | re.MULTILINE)


def test_the_guide_has_the_example_whole_in_thirty_lines() -> None:
    assert blocks("python")[0] == EXAMPLE.read_text()
    assert sum(bool(line.strip()) for line in EXAMPLE.read_text().splitlines()) <= 30


def test_a_study_of_ones_own(hopcast: Hopcast, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = hopcast("study", EXAMPLE, "--json", "--out", out)
    assert (done.returncode, done.stderr) == (0, "")
    rows = json.loads(done.stdout)["rows"]
    assert {row["case"]: row["verdict"] for row in rows if row["kind"] == "claim"}["1400 B, RTS − no RTS"] == "holds"
    assert not (out / "film").exists(), "the demonstration is of hopcast's own studies"
    page = (out / "report.html").read_text()
    assert "Goodput of one of the two" in page
    assert "together more than half" in page
    done = hopcast("report", out)
    assert done.returncode == 2
    assert "HIDDEN" in done.stderr
    assert "--study FILE.py" in done.stderr
    (out / "report.html").unlink()
    assert hopcast("report", out, "--study", EXAMPLE, "--figures").returncode == 0
    assert sorted(path.name for path in (out / "figures").iterdir()) == ["HIDDEN-1.pdf", "HIDDEN-1.svg"]
    assert (out / "figures" / "HIDDEN-1.pdf").read_bytes().startswith(b"%PDF-")
    assert "currentColor" not in (out / "figures" / "HIDDEN-1.svg").read_text()
    assert (out / "report.html").read_text() == page


def test_parquet_has_the_rows_of_json(hopcast: Hopcast, tmp_path: Path) -> None:
    done = hopcast("study", EXAMPLE, "--json", "--out", tmp_path)
    assert polars.read_parquet(tmp_path / "rows.parquet").to_dicts() == json.loads(done.stdout)["rows"]


def test_the_guide_takes_it_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    names: dict[str, lab.Outcome] = {}
    exec(blocks("python")[1], names)
    assert (tmp_path / "near.svg").stat().st_size > 1000
    # Who hears the other needs no RTS.
    assert names["outcome"].verdict == "fails"


def test_one_parameter_changed_in_every_scenario() -> None:
    study = lab.load("h4")
    assert study.with_({"radio.rts_threshold": "0 B"}).scenario("UDP, 1 KB") == study.scenario("UDP, 1 KB, RTS")
    assert study.scenario("UDP, 1 KB") == EXPERIMENTS["H4"].cases(AMOUNTS["quick"])["UDP, 1 KB"].scenario
    wide = study.with_({"flows.*.transport.window": 4, "radio.queue.packets": 9})
    values = {key: value for key, value, _ in wide.scenario("TCP, 2 KB").explain()}
    assert [values[f"flows.stream{index}.transport.window"] for index in range(3)] == ["4"] * 3
    assert values["radio.queue.packets"] == "9"
    assert wide.scenario("UDP, 2 KB") == study.scenario("UDP, 2 KB").set("radio.queue.packets", 9)
    assert study.with_({}).scenario("UDP, 1 KB") == study.scenario("UDP, 1 KB")


def test_a_change_of_ones_own_and_other_seeds() -> None:
    study = lab.load("H3").changed(lambda scenario: scenario.set("duration", "9 s")).with_seeds(8, 9)
    assert {case.scenario.duration_s for case in study.cases.values()} == {9.0}
    assert {case.seeds for case in study.cases.values()} == {(8, 9)}


def test_the_package_has_its_studies() -> None:
    import hopcast

    assert hopcast.lab is lab


def test_what_cannot_be_changed() -> None:
    study = lab.load("H3")
    with pytest.raises(ValueError, match=r"no scenario of H3 has a key 'flows\.\*\.transport\.window'"):
        study.with_({"flows.*.transport.window": 4})
    with pytest.raises(ScenarioError, match="rts_treshold"):
        study.with_({"radio.rts_treshold": "0 B"}).scenario("UDP, 1 KB")
    with pytest.raises(KeyError, match="UDP, 16 KB"):
        study.scenario("UDP, 3 KB")
    with pytest.raises(KeyError, match="H99"):
        lab.load("H99")


def test_an_outcome_has_rows_notes_and_figures() -> None:
    outcome = lab.load("H3").with_seeds(1).run(threads=1)
    assert outcome.rows.height == len(outcome.table.rows)
    assert outcome.verdict == "within"
    assert outcome.notes
    assert outcome.plot(0).axes
    with pytest.raises(IndexError, match="0: Fragmentation"):
        outcome.plot(1)


def test_a_pattern_fits_part_by_part() -> None:
    scenario = lab.load("H4").scenario("TCP, 1 KB")
    changed = with_values(scenario, {"flows.*1.start": "1 s"})
    assert changed == scenario.set("flows.stream1.start", "1 s")
    assert with_values(scenario, {"*.start": "1 s"}) == scenario


MINE = "from hopcast.lab import Experiment\nEXPERIMENTS = [Experiment({}, '', '', list, dict, list)]\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("EXPERIMENTS = [", ":1: SyntaxError"),
        ("\n\nimport nothing_of_that_name", ":3: ModuleNotFoundError"),
        ("raise SystemExit('no data')", ":1: SystemExit: no data"),
        ("", "defines no EXPERIMENTS"),
        ("EXPERIMENTS = []", "defines no EXPERIMENTS"),
        ("EXPERIMENTS = [7]", r"EXPERIMENTS\[0\] is 7"),
        (MINE.format("'1 2'"), "expected a letter"),
        (MINE.format(5), r"EXPERIMENTS\[0\].id is 5; expected a text"),
        (MINE.format("'X'").replace("'', ''", "'', __doc__"), r"EXPERIMENTS\[0\].paper is None; expected a text"),
        (MINE.format("'X'").replace("dict", "{}"), r"EXPERIMENTS\[0\].cases is {}; expected a function"),
        (MINE.format("'H2'"), "which another experiment has"),
        (MINE.format("'X'").replace("[E", "2 * [E"), "which another experiment has"),
    ],
)
def test_files_that_are_wrong(text: str, message: str, tmp_path: Path, hopcast: Hopcast) -> None:
    file = tmp_path / "mine.py"
    file.write_text(text)
    with pytest.raises(StudyFileError, match=message):
        load_file(file, frozenset(EXPERIMENTS))
    done = hopcast("study", file)
    assert (done.returncode, done.stdout) == (2, "")
    assert str(file) in done.stderr
    assert "Traceback" not in done.stderr


def test_a_file_that_is_not_there(hopcast: Hopcast, tmp_path: Path) -> None:
    done = hopcast("study", tmp_path / "mine.py")
    assert done.returncode == 2
    assert "there is no such file" in done.stderr


def test_a_report_of_rows_that_nobody_knows(tmp_path: Path) -> None:
    outcome = lab.load(str(EXAMPLE)).with_seeds(1, 2).run()
    outcome.study.write(tmp_path)
    with pytest.raises(NothingToReport, match="HIDDEN"):
        write_report(tmp_path)
    assert "HIDDEN" in Path(write_report(tmp_path, [outcome.experiment])).read_text()


def test_a_section_made_ahead_counts_only_with_the_rows_of_the_page(tmp_path: Path) -> None:
    outcome = lab.load(str(EXAMPLE)).with_seeds(1, 2).run()
    outcome.study.write(tmp_path)
    page = Path(write_report(tmp_path, [outcome.experiment])).read_text()
    whole, other = Ahead(AMOUNTS["quick"]), Ahead(AMOUNTS["quick"])
    whole.make(outcome.experiment, outcome.table.rows)
    assert whole.section(outcome.experiment, outcome.table.rows)
    assert Path(write_report(tmp_path, [outcome.experiment], whole)).read_text() == page
    other.make(outcome.experiment, [dataclasses.replace(row, measured=0.5) for row in outcome.table.rows])
    assert other.section(outcome.experiment, outcome.table.rows) is None
    assert Path(write_report(tmp_path, [outcome.experiment], other)).read_text() == page
    # One that can't be made is told of when the page is written.
    other.make(outcome.experiment, [])
    assert other.section(outcome.experiment, []) is None


def test_a_folder_film_beside_a_study_of_ones_own_is_the_users(hopcast: Hopcast, file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert hopcast("run", file, "--out", out / "film").returncode == 0
    study = tmp_path / "mine.py"
    study.write_text(ENDS.format(toml=TOML, setup=NO_PARAMETERS, rest=""))
    for arguments in (("study", study, "--out", out), ("report", out, "--study", study)):
        done = hopcast(*arguments)
        assert (done.returncode, done.stderr) == (0, "")
        page = (out / "report.html").read_text()
        assert '<section id="FINE">' in page
        assert '<section id="film">' not in page


FINE_AND_NOT = """
from hopcast import Scenario
from hopcast.lab import Case, Experiment, claim

def cases(amount):
    {cases}
    return {{"a [b] [/b]": Case(Scenario.from_toml({toml!r}), (1, 2))}}

def fine(measured):
    return [claim("FINE", "a [b] [/b]", "goodput [b]", "b/s", measured.flow("a [b] [/b]", "bulk", "goodput_bps"), low=1)]

def rows(measured):
    {rows}

EXPERIMENTS = [
    Experiment("FINE", "", "", lambda amount: [], cases, fine),
    Experiment("ROWS", "", "", lambda amount: [], cases, rows),
]
"""


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("return fine(measured)", "ROWS: its rows name 'FINE' as their experiment"),
        (
            "return measured.flow('a [b] [/b]', 'blk', 'loss_ratio')",
            "mine.py:13: ValueError: case 'a [b] [/b]' has no flow 'blk'; there are units, bulk",
        ),
        ("raise OSError('no data')", "ROWS: its rows: "),
        (
            "return [claim('ROWS', 'a', 'm', '', measured.flow('a [b] [/b]', 'bulk', 'goodput_bps'), low=float('inf'))]",
            "mine.py:13: ValueError: row ROWS, 'a', 'm': paper_low = inf: must be a finite number or None; 1 of 2",
        ),
        ("return None", "mine.py: TypeError: gave None; expected a list; 1 of 2"),
        ("return [5]", "mine.py: TypeError: gave 5 at [0]; expected a Row; 1 of 2"),
        ("raise SystemExit('no data')", "mine.py:13: SystemExit: no data; 1 of 2 experiments finished"),
    ],
)
def test_rows_that_fail_leave_what_had_finished(rows: str, message: str, hopcast: Hopcast, tmp_path: Path) -> None:
    file, out = tmp_path / "mine.py", tmp_path / "out"
    file.write_text(FINE_AND_NOT.format(toml=TOML, cases="", rows=rows))
    done = hopcast("study", file, "--json", "--out", out)
    assert done.returncode == 1
    assert message in done.stderr
    assert "1 of 2 experiments finished" in done.stderr
    assert "Traceback" not in done.stderr
    assert [row["verdict"] for row in json.loads(done.stdout)["rows"]] == ["holds"]
    assert json.loads((out / "rows.json").read_text())["rows"] == json.loads(done.stdout)["rows"]
    done = hopcast("study", file, "--out", out)
    assert "a [b] [/b]" in done.stdout, "names are no markup"
    assert "≥ 1 b/s" in done.stdout


def test_cases_that_fail_name_the_file_that_is_missing(hopcast: Hopcast, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(FINE_AND_NOT.format(toml=TOML, cases="open('no/such.csv')", rows="return []"))
    done = hopcast("study", file)
    assert (done.returncode, done.stderr) == (1, "hopcast: no/such.csv: No such file or directory\n")


def test_cases_that_end_the_program_say_why(hopcast: Hopcast, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(FINE_AND_NOT.format(toml=TOML, cases="raise SystemExit('no data')", rows="return []"))
    done = hopcast("study", file)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"hopcast: FINE: its cases: {file}:6: SystemExit: no data\n"


@pytest.mark.parametrize(
    ("cases", "message"),
    [
        ("return None", "mine.py: TypeError: gave None; expected a dictionary"),
        ("return {'a': 5}", "mine.py: TypeError: gave 5 as 'a'; expected a Case"),
        (
            "return {'a': Case('two.toml', (1, 2))}",
            "mine.py:6: TypeError: scenario = 'two.toml': must be a hopcast.Scenario",
        ),
        ("1 / 0", "mine.py:6: ZeroDivisionError: division by zero"),
    ],
)
def test_cases_that_are_none(cases: str, message: str, hopcast: Hopcast, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(FINE_AND_NOT.format(toml=TOML, cases=cases, rows="return []"))
    done = hopcast("study", file, "--out", tmp_path / "out")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"hopcast: FINE: its cases: {tmp_path}/{message}\n"


@pytest.mark.parametrize("seeds", ["(1, 2, 1)", "(-1,)", "(2**64,)", "5", "()", "(1.5,)", "'x'"])
def test_seeds_that_no_run_or_two_could_have(seeds: str, hopcast: Hopcast, tmp_path: Path) -> None:
    wrong = eval(seeds)
    told = f"seeds = {wrong!r}: must be whole numbers from 0 to 2^64 - 1, at least one and none of them twice"
    with pytest.raises(ValueError, match=re.escape(told)):
        Case(Scenario.from_toml(TOML), wrong)
    file = tmp_path / "mine.py"
    file.write_text(FINE_AND_NOT.format(toml=TOML, cases="", rows="return []").replace("(1, 2)", seeds))
    done = hopcast("study", file)
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(rf"hopcast: FINE: its cases: .*mine\.py:\d+: ValueError: {re.escape(told)}\n", done.stderr)


@pytest.mark.parametrize("seeds", [(-1,), (1, 1), ()])
def test_other_seeds_that_are_none(seeds: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="must be whole numbers from 0"):
        lab.load("H3").with_seeds(*seeds)


def test_what_comes_one_by_one_is_a_list_too(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        FINE_AND_NOT.format(toml=TOML, cases="", rows="yield from fine(measured)").replace('"FINE"', '"ROWS"', 1)
    )
    _, experiment = load_file(file)
    assert [row.verdict for row in run_experiments([experiment], AMOUNTS["quick"]).rows] == ["holds"]


ENDS = """
import sys
from hopcast import Scenario
from hopcast.lab import Case, Experiment, claim

def end(*_):
    sys.exit("no data")

def cases(amount):
    return {{"a": Case(Scenario.from_toml({toml!r}), (1, 2))}}

def rows(measured):
    return [claim("FINE", "a", "goodput", "b/s", measured.flow("a", "bulk", "goodput_bps"), low=1)]

EXPERIMENTS = [Experiment("FINE", "", "", {setup}, cases, rows, {rest})]
"""
"""A study of which one function ends the program."""
NO_PARAMETERS = "lambda amount: []"


@pytest.mark.parametrize(
    ("status", "told"),
    [
        ("'no data'", "no data"),
        ("3", "a file of one's own has ended the program: SystemExit(3)"),
        ("", "a file of one's own has ended the program: SystemExit()"),
    ],
)
def test_data_that_are_asked_for_may_end_the_program(status: str, told: str, hopcast: Hopcast, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(ENDS.replace('"no data"', status).format(toml=TOML, setup=NO_PARAMETERS, rest="missing=end"))
    done = hopcast("study", file, "--out", tmp_path / "out")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"hopcast: {told}\n")
    assert not (tmp_path / "out").exists()


def test_ctrl_c_in_a_text_that_is_executed_ends_with_the_usual_status(hopcast: Hopcast, tmp_path: Path) -> None:
    # The interpreter notes such an interruption even if it is caught: `python -m` then ended by SIGINT, not with 130.
    file = tmp_path / "mine.py"
    file.write_text("""exec("import os, signal; os.kill(os.getpid(), signal.SIGINT)")""")
    done = hopcast("study", file, "--out", tmp_path / "out")
    assert (done.returncode, done.stderr.strip()) == (130, "hopcast: interrupted")


@pytest.mark.parametrize(
    ("missing", "told"),
    [
        ("lambda: 1 / 0", "mine.py:15: ZeroDivisionError: division by zero"),
        ("lambda: 5", "mine.py: TypeError: gave 5; expected a text or None"),
    ],
)
def test_data_that_can_not_be_asked_for_are_told_in_a_line(
    missing: str, told: str, hopcast: Hopcast, tmp_path: Path
) -> None:
    file = tmp_path / "mine.py"
    file.write_text(ENDS.format(toml=TOML, setup=NO_PARAMETERS, rest=f"missing={missing}"))
    done = hopcast("study", file, "--out", tmp_path / "out")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"hopcast: FINE: its missing: {tmp_path}/{told}\n"
    with pytest.raises(MissingFailed, match=re.escape(told)):
        run_experiments(load_file(file), AMOUNTS["quick"])


@pytest.mark.parametrize(("setup", "rest"), [("end", ""), (NO_PARAMETERS, "figures=end"), (NO_PARAMETERS, "notes=end")])
def test_a_report_that_ends_the_program_loses_no_rows(setup: str, rest: str, hopcast: Hopcast, tmp_path: Path) -> None:
    file, out = tmp_path / "mine.py", tmp_path / "out"
    file.write_text(ENDS.format(toml=TOML, setup=setup, rest=rest))
    done = hopcast("study", file, "--json", "--out", out)
    assert (done.returncode, done.stderr) == (1, "hopcast: no data\n")
    assert [row["verdict"] for row in json.loads(done.stdout)["rows"]] == ["holds"]
    assert json.loads((out / "rows.json").read_text())["rows"] == json.loads(done.stdout)["rows"]
    done = hopcast("report", out, "--study", file)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "hopcast: no data\n")
    assert not (out / "report.html").exists()


@pytest.mark.parametrize(
    ("setup", "rest", "message"),
    [
        ("lambda amount: None", "", "setup: .*mine.py: TypeError: gave None; expected a list"),
        ("lambda amount: ['load']", "", r"setup: .*mine.py: TypeError: gave 'load' at \[0\]; expected a Parameter"),
        (
            "lambda amount: amount.load",
            "",
            "setup: .*mine.py:15: AttributeError: 'Amount' object has no attribute 'load'",
        ),
        (NO_PARAMETERS, "figures=lambda table: [5]", "figures: .*mine.py: TypeError: cannot unpack .*"),
        (NO_PARAMETERS, "notes=lambda table: [5]", r"notes: .*mine.py: TypeError: gave 5 at \[0\]; expected a str"),
        (NO_PARAMETERS, "tables=lambda table: None", "tables: .*mine.py: TypeError: gave None; expected a list"),
    ],
)
def test_what_can_not_be_reported_loses_no_rows(
    setup: str, rest: str, message: str, hopcast: Hopcast, tmp_path: Path
) -> None:
    file, out = tmp_path / "mine.py", tmp_path / "out"
    file.write_text(ENDS.format(toml=TOML, setup=setup, rest=rest))
    done = hopcast("study", file, "--json", "--out", out)
    assert done.returncode == 1
    assert re.fullmatch(f"hopcast: FINE: can't be reported: its {message}\n", done.stderr), done.stderr
    assert json.loads((out / "rows.json").read_text())["rows"] == json.loads(done.stdout)["rows"]
    assert not (out / "report.html").exists()


RUNS_THAT_FAIL = """
from hopcast import Scenario
from hopcast.lab import Case, Experiment, claim

NEAR = Scenario.from_toml({toml!r})
FAR = Scenario.from_toml({apart!r})

def fine(measured):
    return [claim("FINE", "near", "goodput", "b/s", measured.flow("near", "bulk", "goodput_bps"), low=1)]

def observe(result):
    {observe}

EXPERIMENTS = [
    Experiment("FINE", "", "", lambda amount: [], lambda amount: {{"near": Case(NEAR, (1, 2))}}, fine),
    Experiment("RUNS", "", "", lambda amount: [], lambda amount: {{"other": {case}}}, lambda measured: []),
]
"""


@pytest.mark.parametrize(
    ("case", "observe", "message"),
    [
        ("Case(FAR, (7, 8))", "", r"seed 7: <text>: flows\.units\.to: no path leads from n0 to x; .*"),
        (
            "Case(NEAR, (1, 2), observe)",
            "return {'x': result.series['x']}",
            r"seed 1: its observe: .*mine\.py:12: ColumnNotFoundError: .*",
        ),
        (
            "Case(NEAR, (1, 2), observe)",
            "return {'x': result}",
            r"seed 1: its observe: .*mine\.py: TypeError: .* not JSON serializable",
        ),
        (
            "Case(NEAR, (1, 2), observe)",
            "raise SystemExit('no data')",
            r"seed 1: its observe: .*mine\.py:12: SystemExit: no data",
        ),
    ],
)
def test_runs_that_fail_leave_what_had_finished(
    case: str, observe: str, message: str, hopcast: Hopcast, tmp_path: Path
) -> None:
    file, out = tmp_path / "mine.py", tmp_path / "out"
    file.write_text(RUNS_THAT_FAIL.format(toml=TOML, apart=APART, case=case, observe=observe or "pass"))
    done = hopcast("study", file, "--json", "--threads", 1, "--out", out)
    assert done.returncode == 1
    told = rf"hopcast: RUNS: case 'other', {message}; 1 of 2 experiments finished\n"
    assert re.fullmatch(told, done.stderr), done.stderr
    assert [row["verdict"] for row in json.loads(done.stdout)["rows"]] == ["holds"]
    assert json.loads((out / "rows.json").read_text())["rows"] == json.loads(done.stdout)["rows"]


def test_a_file_finds_traces_as_it_is_executed(hopcast: Hopcast, tmp_path: Path) -> None:
    traces = tmp_path / "traces"
    traces.mkdir()
    (traces / "film.dat").write_text("0 I 0 500\n1 I 40 300\n")
    unit = 'kind = "adu", size = "1024 B", wait = "1 ms"'
    assert unit in TOML
    toml = TOML.replace(unit, 'kind = "video-trace", file = "film.dat"')
    file = tmp_path / "mine.py"
    file.write_text(RUNS_THAT_FAIL.format(toml=toml, apart=APART, case="Case(NEAR, (1,))", observe="pass"))
    out = tmp_path / "out"
    done = hopcast("study", file, "--traces", traces, "--out", out)
    assert (done.returncode, done.stderr) == (0, "")
    page = (out / "report.html").read_bytes()
    (out / "report.html").unlink()
    done = hopcast("report", out, "--study", file)
    assert done.returncode == 2
    assert "film.dat" in done.stderr
    done = hopcast("report", out, "--study", file, "--traces", traces)
    assert (done.returncode, done.stderr) == (0, "")
    assert (out / "report.html").read_bytes() == page


WITHOUT = """
import importlib.metadata, sys

importlib.metadata.entry_points = lambda **_: ()
from hopcast.start import main
main()
"""
"""The command line where no package with studies is installed."""


@pytest.mark.parametrize("which", ["H4", "all", "sensitivity"])
def test_without_the_papers_package_the_command_says_what_to_install(which: str) -> None:
    program = [sys.executable, "-c", WITHOUT, "study", which]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "no studies are installed" in done.stderr
    assert "pip install ./papers" in done.stderr


def test_without_the_papers_package_a_file_is_a_study(tmp_path: Path) -> None:
    program = [sys.executable, "-c", WITHOUT, "study", str(EXAMPLE), "--out", str(tmp_path)]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "HIDDEN" in (tmp_path / "report.html").read_text()


def installed(folder: Path, text: str) -> dict[str, str]:
    """The environment in which a package with this text is installed, whose entry point is `STUDIES`."""
    (folder / "elsewhere.py").write_text(text)
    info = folder / "elsewhere-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: elsewhere\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[hopcast.studies]\nelsewhere = elsewhere:STUDIES\n")
    return environment(PYTHONPATH=str(folder))


ELSEWHERE = """
from hopcast import Scenario
from hopcast.lab import Case, Collection, Experiment, value

def cases(amount):
    nodes = [{"name": "n", "count": 2, "placement": {"shape": "line", "spacing": "5 m"}}]
    flow = {"name": "f", "from": "n0", "to": "n1", "transport": {"protocol": "udp"}}
    flow["application"] = {"kind": "cbr", "rate": "1 Mb/s", "packet": "500 B"}
    return {"one": Case(Scenario(duration="0.1 s", radio={"standard": "802.11a"}, nodes=nodes, flows=[flow]), (1,))}

def rows(measured):
    return [value(ID, "one", "goodput", "b/s", measured.flow("one", "f", "goodput_bps"))]

STUDIES = Collection([Experiment(ID, "", "", lambda amount: [], cases, rows)])
"""


def test_an_installed_package_adds_studies(tmp_path: Path, hopcast: Hopcast) -> None:
    env = installed(tmp_path, f"ID = 'E1'\n{ELSEWHERE}")
    done = hopcast("study", "E1", "--json", env=env)
    assert done.returncode == 0, done.stderr
    assert [row["experiment"] for row in json.loads(done.stdout)["rows"]] == ["E1"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("STUDIES = 5", "the studies elsewhere (elsewhere:STUDIES) are 5, not a Collection"),
        ("1 / 0", "the studies elsewhere (elsewhere:STUDIES) can't be loaded: ZeroDivisionError"),
        (f"ID = 'H4'\n{ELSEWHERE}", "papers and elsewhere both have a study H4"),
    ],
)
def test_an_installed_package_with_wrong_studies_is_named(
    text: str, message: str, tmp_path: Path, hopcast: Hopcast
) -> None:
    done = hopcast("study", "H4", env=installed(tmp_path, text))
    assert done.returncode == 2
    assert message in " ".join(done.stderr.replace("│", " ").split())
