"""What goes wrong around a run: disks, folders, pipes, signals. Nothing that was measured is lost, nothing else touched."""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import polars
import pytest

import hopcast as package
from conftest import APART, ROOT, TOML, Hopcast, command
from hopcast.lab.experiment import Amount
from hopcast.lab.runner import Study
from hopcast.output import alone

RUN_FILES = ["flows.parquet", "layout.json", "nodes.parquet", "run.json", "series.parquet"]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def limit(octets: int) -> Callable[[], None]:
    """No file may have more: as on a disk that is nearly full."""

    def set_limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (octets, octets))

    return set_limit


def test_a_table_that_cannot_be_written_loses_no_result(hopcast: Hopcast, file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ("run", file, "--replications", 100, "--json")
    assert hopcast(*arguments, "--out", tmp_path / "large").returncode == 0
    sizes = {name: (tmp_path / "large" / name).stat().st_size for name in RUN_FILES}
    room = sizes["run.json"] + 500
    assert room < sizes["series.parquet"]
    done = hopcast(*arguments, "--out", out, preexec_fn=limit(room))
    assert done.returncode == 1
    assert ".parquet: can't be written: File too large\n" in done.stderr
    document = json.loads(done.stdout)
    assert document["provenance"]["seeds"] == list(range(7, 107))
    assert names(out) == ["run.json"]
    assert json.loads((out / "run.json").read_text()) == document


def test_a_capture_that_cannot_be_written_keeps_what_had_finished(hopcast: Hopcast, file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    # One that is twice as long has captures twice as large.
    arguments = ("run", file, "--out", out, "--pcap", "--threads", 1)
    assert hopcast(*arguments).returncode == 0
    largest = max(path.stat().st_size for path in out.glob("*.pcapng"))
    done = hopcast(*arguments, "--set", "duration=600 ms", preexec_fn=limit(largest * 3 // 2))
    assert done.returncode == 1
    assert ".pcapng: can't be written: File too large" in done.stderr
    assert len(names(out)) == 8, "the results of the earlier run are still whole"
    assert not [name for name in names(out) if name.startswith(".")]


UNEVEN = (
    TOML.replace("[radio]", '[radio]\nreception = "threshold"').replace(
        'shape = "line", spacing = "5 m"', 'shape = "uniform", width = "100 m", height = "100 m"'
    )
    + """
[[flows]]
name = "round"
from = "n0"
to = "n1"
via = ["n2"]
transport = { protocol = "udp" }
application = { kind = "bulk" }
"""
)
"""By where the nodes come to lie, two flows want two ways from `n0` to `n1`."""


def test_a_replication_that_fails_leaves_what_finished(hopcast: Hopcast, file: Path, tmp_path: Path) -> None:
    file.write_text(UNEVEN)
    reached = [hopcast("run", file, "--seed", seed).returncode == 0 for seed in range(20)]
    first = next(seed for seed in range(19) if reached[seed] and not reached[seed + 1])
    out = tmp_path / "out"
    done = hopcast("run", file, "--seed", first, "--replications", 2, "--threads", 1, "--out", out, "--json")
    assert done.returncode == 1
    assert f"seed {first + 1}: flow" in done.stderr
    document = json.loads(done.stdout)
    assert document["provenance"]["seed"] == first
    assert json.loads((out / "run.json").read_text()) == document
    assert names(out) == RUN_FILES
    assert polars.read_parquet(out / "flows.parquet")["seed"].unique().to_list() == [first]


def test_an_interruption_tells_what_had_finished(file: Path) -> None:
    arguments = ("run", file, "--replications", 100_000)
    process = subprocess.Popen(command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "units" in stdout
    assert " of 100000 replications finished" in stderr


def test_an_interruption_is_not_lost_to_a_scenario_that_cannot_run(monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = package.Scenario.from_toml(APART)
    interruptions = []
    # Python itself drops what is raised within a finalizer or a callback of its garbage collection, and tells it here.
    dropped: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", dropped.append)

    def run_again_and_again(first: float) -> None:
        # And once a second, so that a lost one fails the test instead of stopping it.
        signal.setitimer(signal.ITIMER_REAL, first, 1.0)
        while True:
            with pytest.raises(package.ScenarioError):
                package.run(scenario)

    def interrupt(number: int, _frame: object) -> None:
        interruptions.append(number)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for trial in range(50):
            with pytest.raises(KeyboardInterrupt):
                run_again_and_again(1e-3 * (1 + trial % 5))
            signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert len(interruptions) == 50 + len(dropped)


def test_python_gets_what_had_finished() -> None:
    scenario = package.Scenario.from_toml(TOML)
    calls = 0

    def interrupt(done: float, _total: float) -> None:
        nonlocal calls
        calls += 1
        if done > 1.0:
            raise KeyboardInterrupt

    with pytest.raises(package.Interrupted) as caught:
        package.run(scenario, replications=100_000, progress=interrupt)
    stopped = caught.value
    assert stopped.result is not None
    assert 1 <= len(stopped.result) == len(stopped.finished) < stopped.wanted == 100_000
    assert str(stopped) == f"interrupted: {len(stopped.finished)} of 100000 replications finished"


@pytest.mark.parametrize("seed", range(12))
def test_a_signal_at_any_moment(file: Path, tmp_path: Path, seed: int) -> None:
    draws = random.Random(seed)
    out = tmp_path / "out"
    number = draws.choice([signal.SIGINT, signal.SIGTERM])
    arguments = ("run", file, "--replications", draws.choice([1, 30, 1000]), "--out", out, "--json")
    process = subprocess.Popen(command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    # Before, the interpreter itself is not ready to hear of it.
    time.sleep(0.15 + 0.5 * draws.random())
    process.send_signal(number)
    stdout, stderr = process.communicate(timeout=30)
    assert process.returncode in (0, 128 + number), stderr
    assert "Traceback" not in stderr
    if out.exists():
        assert names(out) == RUN_FILES
        assert json.loads((out / "run.json").read_text()) == json.loads(stdout)
    else:
        assert stdout == ""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("asked", ["run", "emulate"])
def test_the_set_up_of_a_huge_network_is_interrupted(asked: str, number: signal.Signals) -> None:
    if asked == "emulate" and sys.platform != "linux":
        pytest.skip("emulation needs Linux")
    huge = ("--set", "nodes.n.count=3000", "--set", "nodes.n.placement.spacing=0.001")
    asking = command(asked, ROOT / "examples" / "pair.toml", *huge)
    process = subprocess.Popen(asking, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(1.0)
    assert process.poll() is None, "its routes take far longer"
    begin = time.monotonic()
    process.send_signal(number)
    _stdout, stderr = process.communicate(timeout=30)
    assert process.returncode == 128 + number, stderr
    assert time.monotonic() - begin < 5.0


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "huge"])
def test_a_scenario_that_is_no_file_or_has_no_end(hopcast: Hopcast, tmp_path: Path, kind: str) -> None:
    path = tmp_path / kind
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path = Path("/dev/zero")
    elif kind == "folder":
        path.mkdir()
    else:
        path.touch()
        os.truncate(path, 1 << 40)
    done = hopcast("run", path)
    assert (done.returncode, done.stdout) == (2, "")
    assert str(path) in done.stderr
    assert "expected" in done.stderr
    assert "Traceback" not in done.stderr


TRACES = {
    "huge": (None, "too large"),
    "truncated": (b"1 I 0 100\n2 P 4", "line 2"),
    "garbage": (bytes(range(256)) * 40, "not text"),
    "empty": (b"", "no frames"),
    "one frame": (b"1 I 0 100\n", "frame rate"),
}


@pytest.mark.parametrize(("octets", "told"), TRACES.values(), ids=TRACES)
def test_a_trace_that_is_none(hopcast: Hopcast, file: Path, octets: bytes | None, told: str) -> None:
    trace = file.parent / "film.dat"
    trace.write_bytes(octets or b"")
    if octets is None:
        os.truncate(trace, 1 << 40)
    played = """{ kind = "video-trace", file = "film.dat" }"""
    done = hopcast("run", file, "--set", f"flows.units.application={played}")
    assert (done.returncode, done.stdout) == (2, "")
    assert "film.dat" in done.stderr
    assert told in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", [*RUN_FILES, "n1.seed-8.pcapng"])
def test_a_folder_in_the_way_is_found_before_the_run(hopcast: Hopcast, file: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "out" / name / "mine").mkdir(parents=True)
    arguments = ("run", file, "--replications", 2, "--out", tmp_path / "out")
    # Of a run without an end; of captures, one that the disk has room for.
    captures = (
        ("--pcap-node", "n1", "--set", "duration=100 s") if name.endswith(".pcapng") else ("--set", "duration=1e6")
    )
    done = hopcast(*arguments, *captures)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1] == f"hopcast: {tmp_path}/out/{name}: can't be written: a folder is there"
    assert names(tmp_path / "out") == [name]
    if name.endswith(".pcapng"):
        assert hopcast(*arguments).returncode == 0, "without captures it is in nobody's way"


@pytest.mark.parametrize(("name", "is_file"), [("rows.json", False), ("report.html", False), ("film", True)])
def test_what_is_in_the_way_of_a_study(hopcast: Hopcast, tmp_path: Path, name: str, is_file: bool) -> None:
    out = tmp_path / "out"
    out.mkdir()
    if is_file:
        (out / name).write_text("mine")
    else:
        (out / name).mkdir()
    # Only with all experiments does the film run.
    done = hopcast("study", "all" if name == "film" else "H3", "--out", out)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{out}/{name}" in done.stderr
    assert names(out) == [name]


def test_a_study_whose_rows_cannot_be_written_tells_them(hopcast: Hopcast, tmp_path: Path) -> None:
    done = hopcast("study", "H3", "--json", "--out", tmp_path / "out", preexec_fn=limit(64))
    assert done.returncode == 1
    assert {row["experiment"] for row in json.loads(done.stdout)["rows"]} == {"H3"}
    assert "rows.json: can't be written: File too large" in done.stderr


def test_a_table_of_rows_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    study = Study(Amount("quick"), [], {})
    study.write(tmp_path)
    room = (tmp_path / "rows.json").stat().st_size + 100
    assert room < (tmp_path / "rows.parquet").stat().st_size
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        with pytest.raises(package.RunError, match=r"rows\.parquet: can't be written: File too large"):
            study.write(tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert names(tmp_path) == ["rows.json", "rows.parquet"]


@pytest.mark.parametrize("arguments", [("run", "two.toml"), ("study", "H3")])
def test_an_output_folder_without_a_name(hopcast: Hopcast, file: Path, arguments: tuple[str, ...]) -> None:
    done = hopcast(*arguments, "--out", "", cwd=file.parent)
    assert (done.returncode, done.stdout) == (2, "")
    assert "a folder has a name" in done.stderr


def test_a_scenario_that_cannot_run_leaves_no_folder(hopcast: Hopcast, file: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "out"
    file.write_text(APART)
    done = hopcast("run", file, "--out", out)
    assert done.returncode == 2
    assert not out.parent.exists()
    (tmp_path / "mine").mkdir()
    assert hopcast("run", file, "--out", tmp_path / "mine").returncode == 2
    assert (tmp_path / "mine").exists(), "what was there before stays"


def test_a_second_run_replaces_the_first_and_nothing_else(hopcast: Hopcast, file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert hopcast("run", file, "--out", out, "--pcap", "--replications", 2).returncode == 0
    assert len(names(out)) == 11
    for name in ("notes.txt", "mine.pcapng", "n0.seed-99.pcapng"):
        (out / name).write_text("mine")
    (out / "copy.pcapng").write_bytes((out / "n0.seed-7.pcapng").read_bytes())
    kept = ["copy.pcapng", "mine.pcapng", "n0.seed-99.pcapng", "notes.txt"]
    assert hopcast("run", file, "--out", out, "--pcap", "--seed", 3).returncode == 0
    assert names(out) == sorted([*RUN_FILES, *kept, "n0.pcapng", "n1.pcapng", "n2.pcapng"])
    assert hopcast("run", file, "--out", out, "--seed", 4).returncode == 0
    assert names(out) == sorted([*RUN_FILES, *kept])
    assert json.loads((out / "run.json").read_text())["provenance"]["seed"] == 4
    assert polars.read_parquet(out / "flows.parquet")["seed"].unique().to_list() == [4]


@pytest.mark.parametrize("value", ["1e3", "-1", str(2**64), "9" * 5000])
def test_a_seed_that_is_none(hopcast: Hopcast, file: Path, value: str) -> None:
    done = hopcast("run", file, "--seed", value)
    assert (done.returncode, done.stdout) == (2, "")
    assert "is not a whole number from 0 to 18446744073709551615" in done.stderr
    assert len(done.stderr) < 500
    done = hopcast("run", file, "--set", f"seed={value[:100]}")
    assert done.returncode == 2
    assert "seed" in done.stderr


@pytest.mark.parametrize("options", [{"seed": -1}, {"seed": 2**64}, {"threads": 0}, {"replications": 0}])
def test_numbers_that_python_passes(options: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        package.run(package.Scenario.from_toml(TOML), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("option", ["--json", "--explain", "--replications=2"])
def test_a_reader_that_leaves_early(file: Path, option: str) -> None:
    process = subprocess.Popen(command("run", file, option), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert (process.wait(timeout=30), process.stderr.read()) == (0, "")
    process.stderr.close()


@pytest.mark.parametrize("closed", [1, 2])
def test_a_stream_that_is_closed(file: Path, closed: int) -> None:
    other = {1: "stderr", 2: "stdout"}[closed]
    for option in ("--json", "--explain", "--threads=1"):
        done = subprocess.run(
            ["sh", "-c", f'exec "$@" {closed}>&-', "sh", *command("run", file, option)],
            **{other: subprocess.PIPE},  # type: ignore[call-overload]
            check=False,
        )
        assert done.returncode == 0
        assert b"Traceback" not in getattr(done, other)


def test_a_terminal_without_our_characters(hopcast: Hopcast, file: Path) -> None:
    ascii_only = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = hopcast("run", file, "--replications", 2, env=ascii_only)
    assert (done.returncode, done.stderr) == (0, "")
    file.write_text(TOML.replace('"units"', '"Übertragung"'), encoding="utf-8")
    done = hopcast("run", file, "--json", env=ascii_only, encoding="utf-8")
    assert json.loads(done.stdout)["flows"][0]["name"] == "Übertragung"


def test_paths_that_are_no_text(hopcast: Hopcast, file: Path, tmp_path: Path) -> None:
    odd = tmp_path / os.fsdecode(b"caf\xe9")
    odd.mkdir()
    (odd / "film.dat").write_text("1 I 0 100\n2 P 40 100\n")
    moved = file.rename(odd / os.fsdecode(b"\xff.toml"))
    played = """flows.units.application={ kind = "video-trace", file = "film.dat" }"""
    done = hopcast("run", moved, "--set", played, "--out", odd / "out", "--traces", odd)
    assert (done.returncode, done.stderr) == (0, "")
    assert names(odd / "out") == RUN_FILES
    for change in ("duration=0", os.fsdecode(b'duration="\xff"')):
        done = hopcast("run", moved, "--set", change)
        assert done.returncode == 2
        assert "duration" in done.stderr
        assert "Traceback" not in done.stderr


def test_the_summary_says_what_is_a_mean(hopcast: Hopcast, file: Path) -> None:
    one = hopcast("run", file).stdout
    assert "mean of" not in one
    wide = os.environ | {"COLUMNS": "200"}
    several = hopcast("run", file, "--replications", 3, env=wide).stdout.splitlines()
    document = json.loads(hopcast("run", file, "--replications", 3, "--json").stdout)
    seeds = [json.loads(hopcast("run", file, "--seed", seed, "--json").stdout) for seed in (7, 8, 9)]
    mean = sum(seed["totals"]["frames_sent"] for seed in seeds) / 3
    assert document["totals"]["frames_sent"] == pytest.approx(mean)
    summary = next(line for line in several if line.startswith("mean of a replication: "))
    frames, events = summary.removeprefix("mean of a replication: ").split(" frames sent")[0], summary.split("; ")[1]
    assert number(frames.split(" ± ")[0]) == pytest.approx(mean, rel=0.05)
    assert number(events.split(" ± ")[0]) == pytest.approx(sum(seed["cost"]["events"] for seed in seeds) / 3, rel=0.05)
    assert summary.count(" ± ") == 4


def number(text: str) -> float:
    return float(text.replace("\u202f", ""))


def test_signals_during_imports_leave_no_trace() -> None:
    program = "import signal\nfrom hopcast import start\nimport builtins\nold = builtins.__import__\n"
    program += "def trip(name, *rest, **more):\n"
    program += "    if name == 'hopcast.cli': signal.raise_signal(signal.SIGINT)\n"
    program += "    return old(name, *rest, **more)\n"
    program += "builtins.__import__ = trip\nstart.main()\n"
    done = subprocess.run([*command()[:1], "-c", program], capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "hopcast: interrupted\n")


def test_a_second_run_into_a_folder_is_refused_while_the_first_one_writes(
    hopcast: Hopcast, file: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    long = ("run", file, "--out", out, "--set", "duration=1e6")
    first = subprocess.Popen(command(*long), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        holder = f"process {first.pid}" if sys.platform == "linux" else "another run"
        message = f"hopcast: {out}: {holder} is writing results there; wait for it, or name another folder\n"
        deadline = time.monotonic() + 30
        refused = None
        while time.monotonic() < deadline and (refused is None or refused.returncode == 0):
            refused = hopcast("run", file, "--out", out) if out.exists() else None
        assert refused is not None
        assert (refused.returncode, refused.stderr) == (2, message)
    finally:
        first.kill()
        first.wait()
    # A killed process holds nothing.
    assert hopcast("run", file, "--out", out).returncode == 0
    assert names(out) == RUN_FILES
    with pytest.raises(package.OutputError, match="another run is writing results there"), alone(out):
        package.run(package.Scenario.from_toml(file), out=out)


ENDLESS = """
import hopcast
from hopcast.application import Application

class Endless(Application):
    largest_write = 100

    def __init__(self, start, random):
        self.start = start

    def poll_write(self, now):
        while now >= 1:
            try:
                pass
            except Exception:
                pass
        return 100

    def handle_written(self, now):
        self.start += 0.3

    def poll_timeout(self):
        return self.start

EXTENSIONS = hopcast.Extensions(application={"endless": Endless})
"""
STANDING_STILL = """
duration = "10 s"
[[nodes]]
name = "n"
count = 2
placement = { shape = "line", spacing = "5 m" }
[[flows]]
name = "f"
from = "n0"
to = "n1"
transport = { protocol = "udp" }
application = { kind = "custom", name = "endless" }
"""
OF_A_SWEEP = 'scenario = "still.toml"\nreplications = 1\n[grid]\n"flows.f.start" = ["0 s", "20 ms"]\n'


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("name", ["run", "sweep"])
def test_a_run_that_stands_still_in_a_model_ends_on_a_signal(number: int, name: str, tmp_path: Path) -> None:
    (tmp_path / "models.py").write_text(ENDLESS)
    (tmp_path / "still.toml").write_text(STANDING_STILL)
    (tmp_path / "sweep.toml").write_text(OF_A_SWEEP)
    file = tmp_path / ("still.toml" if name == "run" else "sweep.toml")
    arguments = (name, file, "--extension", tmp_path / "models.py", "--out", tmp_path / "out")
    process = subprocess.Popen(command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(4)
        process.send_signal(number)
        _, stderr = process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode == 128 + number
    assert "interrupted: 0 of " in stderr
    assert "Traceback" not in stderr


def test_a_program_whose_run_stands_still_in_a_model_catches_the_interruption(tmp_path: Path) -> None:
    (tmp_path / "models.py").write_text(ENDLESS)
    program = (
        "import signal, hopcast, models\n"
        "signal.signal(signal.SIGALRM, signal.default_int_handler)\n"
        f"scenario = hopcast.Scenario.from_toml({STANDING_STILL!r}, extensions=models.EXTENSIONS)\n"
        "for _ in range(2):\n"
        "    signal.alarm(2)\n"
        "    try:\n"
        "        hopcast.run(scenario)\n"
        "    except hopcast.Interrupted as interrupted:\n"
        "        print(interrupted)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "interrupted: 0 of 1 replication finished\n" * 2
    assert done.stderr == ""


OF_MEMORY = 'scenario = "small.toml"\nreplications = 1\n[grid]\nduration = ["10 ms", "20 ms"]\n'


@pytest.mark.skipif(sys.platform != "linux", reason="a limit on the address space")
@pytest.mark.parametrize("name", ["study", "sweep"])
@pytest.mark.parametrize("megabytes", [60, 100, 130, 300, 600])
def test_a_lack_of_memory_is_told_without_a_traceback(megabytes: int, name: str, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(TOML)
    (tmp_path / "sweep.toml").write_text(OF_MEMORY)
    arguments = ("study", "H3") if name == "study" else ("sweep", tmp_path / "sweep.toml")
    octets = megabytes * 1_000_000
    done = subprocess.run(
        command(*arguments, "--out", tmp_path / "out"),
        capture_output=True,
        text=True,
        timeout=120,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (octets, octets)),
    )
    # A library in Rust that gets no memory aborts. So does the larger module of PROFILE=dev, at lower limits.
    may_abort = megabytes >= 300 or os.environ.get("PROFILE") == "dev"
    expected = {1} | ({0} if megabytes >= 300 else set()) | ({-signal.SIGABRT} if may_abort else set())
    assert done.returncode in expected, done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode == 0 or "emory" in done.stderr


@pytest.mark.skipif(not Path("/proc/kmsg").exists(), reason="/proc/kmsg blocks, and so needs Linux and root")
def test_a_file_of_the_kernel_is_no_trace(tmp_path: Path) -> None:
    (tmp_path / "kernel.toml").write_text(
        'duration = "1 s"\n[[nodes]]\nname = "n"\ncount = 2\nplacement = { shape = "line", spacing = "5 m" }\n'
        'mobility = { model = "trace", file = "/proc/kmsg" }\n'
    )
    process = subprocess.Popen(command("run", tmp_path / "kernel.toml"), stderr=subprocess.PIPE, text=True)
    try:
        _, stderr = process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode == 2
    assert "/proc/kmsg" in stderr
