"""The command line: every exit status, and what it says."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars
import pytest

import hopcast as package
from conftest import APART, ROOT, TOML, Hopcast, command, environment
from hopcast import cli, film
from hopcast.cli import Commands
from hopcast_papers import EXPERIMENTS


def test_version(hopcast: Hopcast) -> None:
    done = hopcast("--version")
    assert (done.returncode, done.stdout) == (0, f"hopcast {package.__version__}\n")


@pytest.mark.parametrize(
    ("words", "expected"), [("hopcast ru", "plain,run\n"), ("hopcast run --repl", "plain,--replications\n")]
)
def test_a_shell_gets_completions_and_nothing_else(hopcast: Hopcast, words: str, expected: str) -> None:
    asked = {"_HOPCAST_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    done = hopcast(env=environment(**asked))
    assert (done.returncode, done.stdout, done.stderr) == (0, expected, "")


@pytest.mark.skipif(sys.platform != "linux", reason="live commands need Linux")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("hopcast probe re", "plain,relay\nplain,receive\n"),
        ("hopcast cloud play --js", "plain,--json\n"),
        ("hopcast emulate --vi", "plain,--view\nplain,--view-port\n"),
        ("hopcast probe send fi", "file,fi\n"),
    ],
)
def test_live_commands_complete_too(hopcast: Hopcast, words: str, expected: str) -> None:
    asked = {"_HOPCAST_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    done = hopcast(env=environment(**asked))
    assert (done.returncode, done.stdout, done.stderr) == (0, expected, "")


def test_help_lists_the_commands(hopcast: Hopcast) -> None:
    done = hopcast("--help")
    assert done.returncode == 0
    assert all(name in done.stdout for name in ("run", "study", "report", "schema"))


@pytest.mark.parametrize("columns", [50, 80, 200])
def test_help_describes_each_command_in_a_whole_sentence(hopcast: Hopcast, columns: int) -> None:
    told = hopcast("--help", env=environment(COLUMNS=str(columns))).stdout.partition("\nCommands:\n")[2]
    assert max(map(len, told.splitlines())) <= columns
    descriptions = re.findall(r"^  (\w+) +(.*(?:\n {4,}.*)*)", told, re.MULTILINE)
    sentences = {name: " ".join(description.split()) for name, description in descriptions}
    assert sentences["study"] == "Run experiments of papers, and compare the results with those published."
    assert sentences.keys() == set(Commands.names)
    assert [sentence for sentence in sentences.values() if not re.fullmatch(r".*\w\.", sentence)] == []


def test_study_takes_several_names_and_runs_each_experiment_once(hopcast: Hopcast) -> None:
    done = hopcast("study", "H10", "H3", "h10", "--json")
    rows = json.loads(done.stdout)["rows"]
    assert done.returncode == 0
    assert list(dict.fromkeys(row["experiment"] for row in rows)) == ["H10", "H3"]
    alone = json.loads(hopcast("study", "H3", "--json").stdout)["rows"]
    assert [row for row in rows if row["experiment"] == "H3"] == alone


MISTAKES = {
    "command": (["rum"], "there is no command rum; did you mean run?", ""),
    "option": (["run", "s.toml", "--reps", "3"], "there is no option --reps; did you mean --replications?", "run"),
    "unlike any option": (["run", "s.toml", "-x"], "there is no option -x", "run"),
    "missing argument": (["run"], "SCENARIO.toml is missing", "run"),
    "missing option": (["sweep", "s.toml"], "--out is missing", "sweep"),
    "one too many": (["run", "a", "b"], "b: is one argument too many", "run"),
    "value": (["run", "s.toml", "--threads", "x"], "--threads: x is not a whole number from 1 to 4096", None),
    "missing value": (["run", "s.toml", "--out"], "--out: a value is missing", None),
    "value of a flag": (["run", "s.toml", "--json=3"], "--json: takes no value", None),
    "scenario as a study": (["study", "s.toml"], "s.toml: is a scenario; `hopcast run s.toml` simulates it", None),
    "experiment": (["study", "H1", "H99"], "there is no experiment 'H99'; did you mean H9?", None),
    "picture": (
        ["compare", "a", "b", "--out", "x.gif"],
        "--out: x.gif is in no format that hopcast writes: .svg, .png, .pdf",
        None,
    ),
    "results": (["report", "nowhere"], "nowhere: there is no such folder", None),
}


@pytest.mark.parametrize(("arguments", "wrong", "command"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_one_line_and_at_most_another_on_help(
    hopcast: Hopcast, tmp_path: Path, arguments: list[str], wrong: str, command: str | None
) -> None:
    done = hopcast(*arguments, cwd=tmp_path)
    path = "hopcast" if not command else f"hopcast {command}"
    hint = "" if command is None else f"`{path} --help` shows what it takes\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"hopcast: {wrong}\n{hint}")


def test_a_scenario_by_standard_input(hopcast: Hopcast, file: Path) -> None:
    piped = hopcast("run", "-", "--json", input=file.read_text())
    assert (piped.returncode, piped.stderr) == (0, "")
    assert json.loads(piped.stdout)["flows"] == json.loads(hopcast("run", file, "--json").stdout)["flows"]
    wrong = hopcast("run", "-", input="duration = 3")
    assert (wrong.returncode, wrong.stdout) == (2, "")


def test_a_folder_of_traces_that_is_not_there_is_told(hopcast: Hopcast, file: Path) -> None:
    done = hopcast("run", file, "--traces", "/nowhere", "--json")
    assert (done.returncode, done.stderr) == (0, "hopcast: warning: --traces /nowhere: there is no such folder\n")


def test_json_is_one_object_and_nothing_else(hopcast: Hopcast, file: Path) -> None:
    done = hopcast("run", file, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    assert set(document) == {"flows", "nodes", "totals", "cost", "provenance"}
    assert {"frames_sent", "receptions", "collisions"} <= set(document["totals"])
    assert {"events", "wall_s", "user_s", "simulated_s", "peak_rss_bytes"} <= set(document["cost"])
    assert document["provenance"]["seed"] == 7
    assert document["provenance"]["version"] == package.__version__
    fields = "name from to protocol sent_packets sent_bytes received_packets received_bytes lost_packets loss_ratio"
    fields += " goodput_bps delay_mean_s delay_p99_s jitter_mean_s jitter_variance_s2 jitter_max_s"
    assert set(fields.split()) <= set(document["flows"][0])


def test_replications_print_means_and_intervals(hopcast: Hopcast, file: Path) -> None:
    document = json.loads(hopcast("run", file, "--json", "--replications", 3, "--seed", 11).stdout)
    assert document["provenance"]["seeds"] == [11, 12, 13]
    assert document["flows"][0]["goodput_bps_ci95"] >= 0


def test_the_same_bytes_each_time_and_on_any_number_of_threads(hopcast: Hopcast, file: Path) -> None:
    def run(threads: int) -> dict[str, object]:
        document = json.loads(hopcast("run", file, "--json", "--replications", 3, "--threads", threads).stdout)
        del document["cost"]
        return dict(document)

    assert run(1) == run(1) == run(3)


def test_set_and_seed(hopcast: Hopcast, file: Path) -> None:
    done = hopcast(
        "run", file, "--json", "--seed", 3, "--set", "flows.bulk.transport.window=2", "--set", "duration=100 ms"
    )
    document = json.loads(done.stdout)
    assert document["provenance"]["seed"] == 3
    assert document["cost"]["simulated_s"] == pytest.approx(0.1)


def test_a_table_for_people(hopcast: Hopcast, file: Path, tmp_path: Path) -> None:
    done = hopcast("run", file, "--out", tmp_path / "out")
    assert (done.returncode, done.stderr) == (0, "")
    assert "units" in done.stdout
    assert str(tmp_path / "out") in done.stdout


def test_explain(hopcast: Hopcast, file: Path) -> None:
    done = hopcast("run", file, "--explain")
    assert done.returncode == 0
    line = next(line for line in done.stdout.splitlines() if line.startswith("radio.data_rate"))
    assert "54 Mb/s" in line
    values = json.loads(hopcast("run", file, "--explain", "--json").stdout)["values"]
    assert {"key", "value", "source"} == set(values[0])


def test_explain_tells_the_seed_of_the_command_line(hopcast: Hopcast, file: Path) -> None:
    lines = [line.split() for line in hopcast("run", file, "--seed", 9, "--explain").stdout.splitlines()]
    assert [line for line in lines if line[0] == "seed"] == [["seed", "9", "--seed"]]
    document = json.loads(hopcast("run", file, "--seed", 9, "--explain", "--json").stdout)
    seeds = [row for row in document["values"] if row["key"] == "seed"]
    assert seeds == [{"key": "seed", "value": "9", "source": "--seed"}]
    plain = json.loads(hopcast("run", file, "--explain", "--json").stdout)
    assert document["scenario_sha256"] == plain["scenario_sha256"], "the seed is no part of it"


def test_schema_is_a_json_schema(hopcast: Hopcast) -> None:
    schema = json.loads(hopcast("schema").stdout)
    assert {"duration", "nodes", "flows"} <= set(schema["properties"])


WRONG_SCENARIOS = {
    "unknown key": (("data_rate", "data_rat"), ("data_rat", "data_rate")),
    "wrong unit": (('"54 Mb/s"', '"54 m"'), ("radio.data_rate", "54 m")),
    "negative": (("window = 8", "window = -8"), ("flows.bulk.transport.window", "-8")),
    "zero": (("window = 8", "window = 0"), ("flows.bulk.transport.window", "0")),
    "not a number": (('wait = "1 ms"', "wait = nan"), ("application.wait", "nan")),
    "absurdly large": (('"1024 B"', '"1e30 B"'), ("flows.units.application.size", "1e30")),
    "no such node": (('to = "n1"', 'to = "n9"'), ("flows.units.to", "n9")),
    "unreachable": ((TOML, APART), ("flows.units.to: no path leads from n0 to x",)),
    "two flows of one name": (('name = "bulk"', 'name = "units"'), ("flows", "units")),
    "not TOML": (("[radio]", "[radio"), ("two.toml",)),
    "missing trace": (
        ('kind = "adu", size = "1024 B", wait = "1 ms"', 'kind = "video-trace", file = "lost"'),
        ("flows.units.application.file", "lost"),
    ),
}


@pytest.mark.parametrize(("change", "told"), WRONG_SCENARIOS.values(), ids=WRONG_SCENARIOS)
def test_wrong_scenarios(hopcast: Hopcast, file: Path, change: tuple[str, str], told: tuple[str, ...]) -> None:
    assert change[0] in TOML
    file.write_text(TOML.replace(*change))
    done = hopcast("run", file, "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert all(word in done.stderr for word in told), done.stderr
    assert "Traceback" not in done.stderr


WRONG_ARGUMENTS = {
    "no such file": ["run", "nowhere.toml"],
    "a folder": ["run", "."],
    "no scenario": ["run"],
    "unknown option": ["run", "{file}", "--sed", "1"],
    "unknown command": ["walk"],
    "no command": [],
    "replications": ["run", "{file}", "--replications", "0"],
    "seed": ["run", "{file}", "--seed", "-1"],
    "last seed": ["run", "{file}", "--seed", str(2**64 - 1), "--replications", "2"],
    "override without a value": ["run", "{file}", "--set", "seed"],
    "override of nothing": ["run", "{file}", "--set", "flows.nobody.start=1 s"],
    "captures to nowhere": ["run", "{file}", "--pcap"],
    "unknown experiment": ["study", "H99"],
    "nothing to report": ["report", "{folder}"],
}


@pytest.mark.parametrize("arguments", WRONG_ARGUMENTS.values(), ids=WRONG_ARGUMENTS)
def test_wrong_arguments(hopcast: Hopcast, file: Path, arguments: list[str]) -> None:
    done = hopcast(*(argument.format(file=file, folder=file.parent) for argument in arguments), cwd=file.parent)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("place", ["taken", "taken/below", "/proc/hopcast"])
def test_an_output_folder_that_cannot_be_written(hopcast: Hopcast, file: Path, place: str) -> None:
    (file.parent / "taken").write_text("mine")
    for arguments in (("run", file), ("study", "H3")):
        done = hopcast(*arguments, "--out", place, cwd=file.parent)
        assert (done.returncode, done.stdout) == (2, "")
        assert place in done.stderr
        assert "Traceback" not in done.stderr
    assert (file.parent / "taken").read_text() == "mine"


def test_a_full_disk_leaves_no_broken_file(hopcast: Hopcast, file: Path, tmp_path: Path) -> None:
    def no_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))

    out = tmp_path / "out"
    done = hopcast("run", file, "--out", out, preexec_fn=no_room)
    assert done.returncode == 1
    message = f"hopcast: {out}/flows.parquet: can't be written: File too large"
    assert done.stderr == f"{message}; {out}/run.json: can't be written: File too large\n"
    assert "units" in done.stdout, "what was measured is told all the same"
    assert not out.exists()


def test_a_full_disk_behind_standard_output(hopcast: Hopcast, file: Path) -> None:
    with open("/dev/full", "w") as full:
        done = hopcast("run", file, "--json", stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_reader_that_leaves_is_no_error() -> None:
    process = subprocess.Popen(command("schema"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert (process.wait(timeout=30), process.stderr.read()) == (0, "")
    process.stderr.close()


@pytest.mark.parametrize("is_ignored", [True, False])
def test_nohup_holds_for_live_commands(is_ignored: bool) -> None:
    """`nohup` starts a program with SIGHUP ignored (POSIX.1-2024, utilities, nohup)."""
    trap = "trap '' HUP; " if is_ignored else ""
    words = ["sh", "-c", f'{trap}exec "$@"', "sh", *command("probe", "receive", "--listen", "127.0.0.1:0")]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            assert process.stderr.readline()
            process.send_signal(signal.SIGHUP)
            if is_ignored:
                with pytest.raises(subprocess.TimeoutExpired):
                    process.wait(1.0)
                process.send_signal(signal.SIGTERM)
            assert process.wait(10) == 128 + (signal.SIGTERM if is_ignored else signal.SIGHUP)
        finally:
            process.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_keeps_what_had_finished(file: Path, tmp_path: Path, number: signal.Signals) -> None:
    out = tmp_path / "out"
    arguments = ("run", file, "--replications", 100_000, "--threads", 2, "--out", out, "--json")
    process = subprocess.Popen(command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(2.0)
    process.send_signal(number)
    time.sleep(0.05)
    process.send_signal(number)
    stdout, stderr = process.communicate(timeout=30)
    assert process.returncode == 128 + number
    assert "Traceback" not in stderr
    document = json.loads((out / "run.json").read_text())
    seeds = document["provenance"]["seeds"]
    assert 1 < len(seeds) < 100_000
    assert f"interrupted: {len(seeds)} of 100000 replications finished" in stderr
    assert json.loads(stdout) == document
    flows = polars.read_parquet(out / "flows.parquet")
    assert sorted(set(flows["seed"])) == sorted(seeds)
    assert document["flows"][0]["goodput_bps"] == pytest.approx(
        flows.filter(polars.col("name") == "units")["goodput_bps"].mean()
    )
    assert not [path for path in out.iterdir() if path.name.startswith(".")]


def test_ctrl_c_before_anything_finished(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ("run", file, "--set", "duration=1000000 s", "--out", out)
    process = subprocess.Popen(command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=30)
    assert (process.returncode, stdout) == (130, "")
    assert "interrupted: 0 of 1 replication finished" in stderr
    assert not out.exists()


def test_a_short_run_imports_nothing_heavy(hopcast: Hopcast, file: Path) -> None:
    done = hopcast("run", file, "--json", env=environment(PYTHONPROFILEIMPORTTIME="1"))
    assert done.returncode == 0
    heavy = {"polars", "matplotlib", "rich", "numpy", "asyncio", "concurrent"}
    imported = {line.rsplit("|", 1)[-1].strip() for line in done.stderr.splitlines() if "|" in line}
    assert "hopcast" in imported
    assert not imported & heavy


def test_no_bar_where_nobody_sees_it(hopcast: Hopcast, file: Path) -> None:
    assert hopcast("run", file, "--replications", 50).stderr == ""


def test_a_bar_on_a_terminal(file: Path) -> None:
    ours, theirs = os.openpty()
    arguments = ("run", file, "--json", "--set", "duration=1000000 s")
    process = subprocess.Popen(command(*arguments), stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    time.sleep(2.0)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) == 130
    shown = b""
    try:
        while chunk := os.read(ours, 65536):
            shown += chunk
    except OSError:
        pass
    os.close(ours)
    assert " left" in shown.decode()


def test_study_and_report(hopcast: Hopcast, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = hopcast("study", "h3", "--json", "--out", out)
    assert (done.returncode, done.stderr) == (0, "")
    rows = json.loads(done.stdout)["rows"]
    assert {row["experiment"] for row in rows} == {"H3"}
    columns = "experiment case metric unit kind paper paper_low paper_high measured ci95 replications verdict note"
    assert set(rows[0]) == set(columns.split())
    assert polars.read_parquet(out / "rows.parquet").height == len(rows)
    first = (out / "report.html").read_bytes()
    (out / "report.html").unlink()
    done = hopcast("report", out)
    assert done.returncode == 0
    assert (out / "report.html").read_bytes() == first


def test_the_film_runs_with_all_experiments_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hopcast.lab.find", lambda name: [EXPERIMENTS["H3"]])
    monkeypatch.setattr("hopcast.lab.trials", lambda *_: [])
    for name in ("H3", "all"):
        out = tmp_path / name
        assert cli._invoke(["study", name, "--out", str(out)]) == 0
        is_all = name == "all"
        assert [(out / folder).exists() for folder in film.FOLDERS.values()] == [is_all] * 2
        assert ('<section id="film">' in (out / "report.html").read_text()) is is_all


def test_report_of_a_run(hopcast: Hopcast, file: Path, tmp_path: Path) -> None:
    assert hopcast("run", file, "--out", tmp_path / "out").returncode == 0
    assert hopcast("report", tmp_path / "out").returncode == 0
    assert "units" in (tmp_path / "out" / "report.html").read_text()


@pytest.mark.parametrize("change", ["no flows", "no interval"])
def test_report_of_a_run_with_nothing_to_draw(change: str, hopcast: Hopcast, file: Path, tmp_path: Path) -> None:
    text = file.read_text().replace('"two laptops"', '"two [/b] laptops"')
    file.write_text(text[: text.index("[[flows]]")] if change == "no flows" else text.replace('"300 ms"', '"20 ms"'))
    done = hopcast("run", file, "--out", tmp_path / "out")
    assert (done.returncode, done.stderr) == (0, "")
    assert "two [/b] laptops" in done.stdout
    done = hopcast("report", tmp_path / "out")
    assert (done.returncode, done.stderr) == (0, "")


def test_report_of_flows_whose_names_look_like_formulas(hopcast: Hopcast, file: Path, tmp_path: Path) -> None:
    file.write_text(TOML.replace('"units"', '"$^$"').replace('"bulk"', '"_x"', 1))
    assert hopcast("run", file, "--out", tmp_path / "out").returncode == 0
    done = hopcast("report", tmp_path / "out")
    assert (done.returncode, done.stderr) == (0, "")
    result = package.run(package.Scenario.from_toml(file))
    for what in ("rate", "delay"):
        legend = result.plot(what).axes[0].get_legend()
        assert legend is not None
        assert [text.get_text() for text in legend.get_texts()] == ["$^$", "_x"]


def test_report_of_a_broken_file(hopcast: Hopcast, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("{")
    done = hopcast("report", tmp_path)
    assert done.returncode == 2
    assert "run.json" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_film_is_an_example_too() -> None:
    assert package.Scenario.from_toml(ROOT / "examples" / "film.toml") == film.scenario()
