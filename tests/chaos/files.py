"""Faults on the commands that compute and write files: run, study, sweep, report, view."""

from __future__ import annotations

import functools
import io
import signal
import socket
import sqlite3
import subprocess
import tempfile
import time
import urllib.request
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

from case import CLOCK, MOUNTS, Trial, case, check
from hopcast import open_sweep
from hopcast.sweep.parts import Parts
from world import (
    PATIENCE_S,
    Place,
    SteppedClock,
    address_space,
    check_whole,
    contents,
    finished,
    hopcast,
    memory,
    names,
    pause,
    peak_address_space,
    started,
    succeeds,
    told,
    wait_until,
)

SCENARIO = """
duration = "2 s"
seed = 7

[radio]
standard = "802.11a"
data_rate = "54 Mb/s"
rts_threshold = "off"

[[nodes]]
name = "n"
count = 3
placement = { shape = "line", spacing = "5 m" }

[[flows]]
name = "units"
from = "n0"
to = "n1"
transport = { protocol = "udp" }
application = { kind = "adu", size = "1024 B", wait = "1 ms" }

[[flows]]
name = "bulk"
from = "n2"
to = "n1"
start = "10 ms"
transport = { protocol = "tcp", window = 8 }
application = { kind = "bulk" }
"""
SWEEP = """
scenario = "scenario.toml"
replications = 6

[grid]
"flows.bulk.transport.window" = [2, 8]
radio.data_rate = ["6 Mb/s", "54 Mb/s"]
"""
STUDY = "A1"
"""A study with several runs that takes a few seconds."""
NO_SPACE = "No space left on device"
WRITES = "named files are whole; the next run gives the same bytes"
RESUMES = "no finished run is lost; resumed, the tables are the same bytes"
TELLS = "status 1 or 2 and the name of the file or folder; named files are whole; with room again, the same bytes"
MEMORY = "named files are whole; a failure is told; without the limit, the same bytes"
STEP = "the same bytes as without steps"
STEPS = ["-30y", "+30y", "-1h", "+1h", "+0"]


# --- what an unharmed command gives --------------------------------------------------------------------------------


def scenario(folder: Path, duration: str) -> Path:
    """The scenario as a file."""
    path = folder / "scenario.toml"
    path.write_text(SCENARIO.replace('"2 s"', f'"{duration}"'))
    return path


def run_command(folder: Path, out: Path) -> list[str]:
    """A run with tables, captures and recordings."""
    arguments = ("--replications", 6, "--pcap-node", "n1", "--pcap-addressed", "--record", "--out", out)
    return hopcast("run", scenario(folder, "4 s"), *arguments)


def run_without_captures(folder: Path, out: Path) -> list[str]:
    """A run with tables and recordings: hopcast finds out beforehand whether there is room for captures alone."""
    return hopcast("run", scenario(folder, "4 s"), "--replications", 6, "--record", "--out", out)


def sweep_command(folder: Path, out: Path) -> list[str]:
    """A sweep of 24 runs."""
    scenario(folder, "10 s")
    (folder / "sweep.toml").write_text(SWEEP)
    return hopcast("sweep", folder / "sweep.toml", "--out", out)


def study_command(folder: Path, out: Path) -> list[str]:
    """A study of a paper, in its quick form."""
    return hopcast("study", STUDY, "--out", out)


def tables(folder: Path) -> Any:
    """What a folder of results says."""
    if not (folder / "sweep.json").exists():
        # Of a study, runs.sqlite is how it is kept. Pages and figures are drawn from the rest; a film's run has a cost.
        return {name: of for name, of in contents(folder).items() if not name.endswith((".sqlite", ".html"))}
    result, buffer = open_sweep(folder), io.BytesIO()
    for table in (result.flows, result.nodes, result.totals):
        table.write_ipc(buffer)
    return buffer.getvalue()


@functools.cache
def unharmed(make: Any) -> tuple[Any, float]:
    """The tables of a command that is left alone, and how long it takes."""
    with tempfile.TemporaryDirectory(prefix="hopcast-chaos-") as folder:
        out = Path(folder) / "out"
        seconds = succeeds(make(Path(folder), out))
        return tables(out), seconds


@functools.cache
def most_memory(make: Any) -> int:
    """The address space that a command takes, in bytes."""
    with tempfile.TemporaryDirectory(prefix="hopcast-chaos-") as folder:
        return peak_address_space(make(Path(folder), Path(folder) / "out"))


def check_same(make: Any, out: Path) -> None:
    """The folder says what it would say without a fault."""
    expected, found = unharmed(make)[0], tables(out)
    if isinstance(expected, dict):
        different = sorted(name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name))
        check(not different, f"after the fault, {different} differ from those of an unharmed command")
    check(found == expected, "after the fault, the table differs from that of an unharmed command")


def recover(trial: Trial, make: Any, out: Path) -> None:
    """The same command once more gives all that an unharmed one gives."""
    trial.recovered(succeeds(make(trial.folder, out)))
    check_whole(out)
    check_same(make, out)


# --- the faults ----------------------------------------------------------------------------------------------------


def killed(trial: Trial, make: Any, times: int = 1) -> None:
    """Kills a command at random instants of its time, each time on what the one before left, and starts it once more."""
    out, kept = trial.folder / "out", 0
    command = make(trial.folder, out)
    for _ in range(times):
        with started(command):
            time.sleep(trial.draws.uniform(0.05, unharmed(make)[1]))
        check_whole(out)
        now = kept_runs(make, out)
        check(now >= kept, f"{kept} runs were kept, {now} are")
        kept = now
    if make is not run_command:
        trial.lost = "nothing that had finished"
    recover(trial, make, out)


def kept_runs(make: Any, out: Path) -> int:
    """How many finished runs a folder has, of a command that keeps them."""
    if make is sweep_command and out.exists():
        return len(Parts(out).finished())
    if make is study_command and (out / "runs.sqlite").exists():
        with closing(sqlite3.connect(out / "runs.sqlite")) as store, suppress(sqlite3.OperationalError):
            # Killed before the table was made, the store has none.
            (count,) = store.execute("SELECT count(*) FROM runs").fetchone()
            return int(count)
    return 0


def stopped(trial: Trial, make: Any) -> None:
    """Stops a command for some seconds."""
    out = trial.folder / "out"
    with started(make(trial.folder, out)) as process:
        time.sleep(trial.draws.uniform(0.05, unharmed(make)[1]))
        pause(process, trial.draws.uniform(0.5, 2.0))
        begin, text = time.monotonic(), told(process)
        check(process.returncode == 0, "after SIGCONT", text)
        trial.recovered(time.monotonic() - begin)
    check_same(make, out)


def disk_is_full(trial: Trial, make: Any) -> None:
    """Lets a disk run full at a random size below what is needed, and gives it room again."""
    with tempfile.TemporaryDirectory(prefix="hopcast-chaos-") as folder:
        succeeds(make(Path(folder), Path(folder) / "out"))
        needed = sum(path.stat().st_size for path in (Path(folder) / "out").rglob("*") if path.is_file())
    with Place() as place:
        disk = trial.folder / "disk"
        command = place.command(make(trial.folder, disk / "out"))
        place.small_disk(disk, max(8192, int(trial.draws.uniform(0.02, 0.7) * needed)))
        done = finished(command)
        check(done.returncode in (1, 2), f"on a full disk it ends with {done.returncode}", done.stderr)
        is_told = NO_SPACE in done.stderr or "are free in" in done.stderr
        check(is_told and str(disk) in done.stderr, "it does not say where", done.stderr)
        check("Traceback" not in done.stderr, done.stderr)
        check_whole(place.outside(disk) / "out")
        place.enlarge(disk)
        trial.recovered(succeeds(command))
        check_same(make, place.outside(disk) / "out")


def memory_is_short(trial: Trial, make: Any) -> None:
    """Gives a command less address space than it takes."""
    out = trial.folder / "out"
    limit = int(trial.draws.uniform(0.3, 1.0) * most_memory(make))
    done = finished(make(trial.folder, out), preexec_fn=address_space(limit))
    check(done.returncode == 0 or done.stderr.strip(), f"it ends with {done.returncode} and says nothing")
    check_whole(out)
    recover(trial, make, out)


def clock_steps(trial: Trial, make: Any) -> None:
    """Steps the clock of the day several times."""
    out, clock = trial.folder / "out", SteppedClock(trial.folder)
    with started(make(trial.folder, out), env=clock.environment()) as process:
        while process.poll() is None:
            clock.step(trial.draws.choice(STEPS))
            time.sleep(trial.draws.uniform(0.05, 0.3))
        check(process.returncode == 0, "with steps of the clock", told(process))
    check_same(make, out)


def two_write(trial: Trial, make: Any, *, is_shared: bool) -> None:
    """Starts two at once on one folder."""
    out = trial.folder / "out"
    command = make(trial.folder, out)
    with started(command) as first:
        time.sleep(trial.draws.uniform(0.0, unharmed(make)[1]))
        with started(command) as second:
            texts = [told(first), told(second)]
            found = sorted([first.returncode, second.returncode])
    check(found == [0, 0] or (not is_shared and found == [0, 2]), found, *texts)
    if found == [0, 2]:
        check(any("wait for it, or name another folder" in text for text in texts), *texts)
    check_whole(out)
    check_same(make, out)


# --- run -----------------------------------------------------------------------------------------------------------


@case("run", "kill -9", WRITES, trials=12)
def run_killed(trial: Trial) -> None:
    killed(trial, run_command, trial.draws.choice([1, 2, 3]))


@case("run", "SIGSTOP, then SIGCONT", "the same bytes as without", trials=3)
def run_stopped(trial: Trial) -> None:
    stopped(trial, run_command)


@case("run", "full disk", TELLS, needs=MOUNTS, trials=5)
def run_disk(trial: Trial) -> None:
    disk_is_full(trial, trial.draws.choice([run_command, run_without_captures]))


@case("run", "too little memory", MEMORY, needs=("linux",), trials=5)
def run_memory(trial: Trial) -> None:
    memory_is_short(trial, run_command)


@case("run", "steps of the clock", STEP, needs=CLOCK, trials=3)
def run_clock(trial: Trial) -> None:
    clock_steps(trial, run_command)


@case("run", "two at once on one folder", "one of them ends with 2 and says why, or both end with 0; the files are of one run", trials=5)  # fmt: skip
def run_two(trial: Trial) -> None:
    two_write(trial, run_command, is_shared=False)


# --- study ---------------------------------------------------------------------------------------------------------


@case("study", "kill -9", RESUMES, trials=4)
def study_killed(trial: Trial) -> None:
    killed(trial, study_command, 2)


@case("study", "SIGSTOP, then SIGCONT", "the same bytes as without", trials=2)
def study_stopped(trial: Trial) -> None:
    stopped(trial, study_command)


@case("study", "full disk", TELLS, needs=MOUNTS, trials=3)
def study_disk(trial: Trial) -> None:
    disk_is_full(trial, study_command)


@case("study", "too little memory", MEMORY, needs=("linux",), trials=3)
def study_memory(trial: Trial) -> None:
    memory_is_short(trial, study_command)


@case("study", "steps of the clock", STEP, needs=CLOCK, trials=2)
def study_clock(trial: Trial) -> None:
    clock_steps(trial, study_command)


@case("study", "two at once on one folder", "one of them ends with 2 and says why, or both end with 0; the files are of one study", trials=2)  # fmt: skip
def study_two(trial: Trial) -> None:
    two_write(trial, study_command, is_shared=False)


# --- sweep ---------------------------------------------------------------------------------------------------------


@case("sweep", "kill -9, several times", RESUMES, trials=5)
def sweep_killed(trial: Trial) -> None:
    killed(trial, sweep_command, 4)


@case("sweep", "SIGSTOP, then SIGCONT", "the same bytes as without", trials=2)
def sweep_stopped(trial: Trial) -> None:
    stopped(trial, sweep_command)


@case("sweep", "full disk", TELLS, needs=MOUNTS, trials=4)
def sweep_disk(trial: Trial) -> None:
    disk_is_full(trial, sweep_command)


@case("sweep", "too little memory", MEMORY, needs=("linux",), trials=4)
def sweep_memory(trial: Trial) -> None:
    memory_is_short(trial, sweep_command)


@case("sweep", "steps of the clock", STEP, needs=CLOCK, trials=2)
def sweep_clock(trial: Trial) -> None:
    clock_steps(trial, sweep_command)


@case("sweep", "two at once on one folder", "both end with 0; the tables are the same bytes", trials=3)
def sweep_two(trial: Trial) -> None:
    two_write(trial, sweep_command, is_shared=True)


@case("sweep", "two at once on one folder, one of them killed", "the other one finishes; the tables are the same bytes", trials=3)  # fmt: skip
def sweep_two_killed(trial: Trial) -> None:
    out = trial.folder / "out"
    command = sweep_command(trial.folder, out)
    with started(command) as first, started(command) as second:
        time.sleep(trial.draws.uniform(0.1, unharmed(sweep_command)[1]))
        first.kill()
        begin, text = time.monotonic(), told(second)
        check(second.returncode == 0, "the other one", text)
        trial.recovered(time.monotonic() - begin)
    check_same(sweep_command, out)


# --- report and view -----------------------------------------------------------------------------------------------


def recorded(folder: Path) -> Path:
    """The folder of a recorded run."""
    out = folder / "out"
    succeeds(hopcast("run", scenario(folder, "1 s"), "--record", "--out", out))
    return out


def page_killed(trial: Trial, command: list[str], page: Path) -> None:
    """Kills a command that writes a page, twice; the page is whole or not there, and the next one is the whole page."""
    seconds = succeeds(command)
    expected = page.read_bytes()
    page.unlink()
    for _ in range(3):
        with started(command):
            time.sleep(trial.draws.uniform(0.05, seconds))
        check_whole(page.parent)
        check(not page.exists() or page.read_bytes() == expected, f"{page} is another one")
    trial.recovered(succeeds(command))
    check(page.read_bytes() == expected, f"{page} is another one")


def page_disk(trial: Trial, make: Any) -> None:
    """Lets the disk run full on which a page is written."""
    out = recorded(trial.folder)
    with Place() as place:
        disk = trial.folder / "disk"
        place.small_disk(disk, 1 << 26)
        copied = finished(place.command(["cp", "-r", str(out), str(disk)]))
        check(copied.returncode == 0, copied.stderr)
        fill = f"dd if=/dev/zero of={disk}/rest bs=4096 2>/dev/null; truncate -s -{trial.draws.choice([0, 4096, 20_000])} {disk}/rest"
        finished(place.command(["sh", "-c", fill]))
        command = place.command(make(disk / "out"))
        done = finished(command)
        check(done.returncode == 1, f"on a full disk it ends with {done.returncode}", done.stderr)
        check(NO_SPACE in done.stderr and ".html" in done.stderr, done.stderr)
        inside = place.outside(disk) / "out"
        check_whole(inside)
        check("run.json" in names(inside), "the results are gone")
        finished(place.command(["rm", f"{disk}/rest"]))
        trial.recovered(succeeds(command))
        check_whole(inside)


def report_command(out: Path) -> list[str]:
    return hopcast("report", out)


def view_command(out: Path) -> list[str]:
    return hopcast("view", out, "--out", out / "page.html")


@case("report", "kill -9", "the page is whole or not there; the next one is the same bytes", trials=3)
def report_killed(trial: Trial) -> None:
    out = recorded(trial.folder)
    page_killed(trial, report_command(out), out / "report.html")


@case("report", "full disk", "status 1 and the name of the file; the results stay; with room again, the page is whole", needs=MOUNTS, trials=2)  # fmt: skip
def report_disk(trial: Trial) -> None:
    page_disk(trial, report_command)


@case("view --out", "kill -9", "the page is whole or not there; the next one is the same bytes", trials=3)
def view_killed(trial: Trial) -> None:
    out = recorded(trial.folder)
    page_killed(trial, view_command(out), out / "page.html")


@case("view --out", "full disk", "status 1 and the name of the file; the recording stays; with room again, the page is whole", needs=MOUNTS, trials=2)  # fmt: skip
def view_disk(trial: Trial) -> None:
    page_disk(trial, view_command)


@case("view", "garbage over HTTP, connections that say nothing, SIGSTOP", "it serves the page afterwards; memory grows by 16 MB at most", needs=("linux",), trials=2)  # fmt: skip
def view_garbage(trial: Trial) -> None:
    out = recorded(trial.folder)
    command = hopcast("view", out, "--no-browser")
    log = trial.folder / "log"
    with log.open("w") as said, started(command, stdout=subprocess.PIPE, stderr=said) as process, ExitStack() as stack:
        assert process.stdout is not None
        page = process.stdout.readline().split()[0]
        port = int(page.rstrip("/").split(":")[-1].split("/")[0])
        expected = get(page)
        before = memory(process)
        silent = [stack.enter_context(socket.create_connection(("127.0.0.1", port), 5.0)) for _ in range(50)]
        for _ in range(300):
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), 5.0) as connection:
                start = trial.draws.choice([b"", b"GET ", b"GET / HTTP/1.1\r\n", b"POST /events HTTP/1.1\r\nRange: "])
                connection.sendall(start + trial.draws.randbytes(trial.draws.choice([1, 100, 5000])))
        pause(process, 1.0)
        begin = time.monotonic()
        check(get(page) == expected, "the page is another one")
        trial.recovered(time.monotonic() - begin)
        grown = memory(process) - before
        check(grown < 1 << 24, f"memory has grown by {grown} bytes")
        check("ConnectionResetError" not in log.read_text(), log.read_text())
        check(len(silent) == 50)
        process.send_signal(signal.SIGINT)
        wait_until("it ends by SIGINT", PATIENCE_S, lambda: process.poll() is not None)
        check(process.returncode in (0, 130), f"it ends with {process.returncode}")


def get(address: str) -> bytes:
    """A page over HTTP."""
    with urllib.request.urlopen(address, timeout=30.0) as answer:
        octets: bytes = answer.read()
    return octets
