"""Sweeps on a Dask cluster of several processes: the same table as on this machine, whatever process is killed."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from conftest import PATIENCE_S, Hopcast, command
from hopcast import Sweep, open_sweep
from hopcast.lab.executor import Run
from hopcast.sweep import NoCluster, dask
from hopcast.sweep.dask import Cluster, DaskExecutor, Task
from hopcast.sweep.parts import Parts
from hopcast.version import build
from test_sweep import RULE, SWEEP, asked, longer, octets, started

__all__ = ["asked"]

pytest.importorskip("distributed")


class Processes:
    """A scheduler and workers on this machine, each a process."""

    def __init__(self, folder: Path, workers: int) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.folder = folder
        self.scheduler = self.start_scheduler()
        self.workers = [self.start_worker() for _ in range(workers)]

    def start_scheduler(self) -> subprocess.Popen[bytes]:
        return self._start("scheduler", "--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard", "--no-show")

    def start_worker(self) -> subprocess.Popen[bytes]:
        limits = ("--nworkers", "1", "--nthreads", "1", "--no-nanny", "--no-dashboard", "--memory-limit", "0")
        return self._start(
            "worker", self.address, *limits, "--local-directory", os.fspath(self.folder), "--death-timeout", "60"
        )

    def _start(self, *arguments: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "dask", *arguments],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def kill_all(self) -> None:
        for process in (self.scheduler, *self.workers):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Processes]:
    folder = tmp_path / "dask"
    folder.mkdir()
    processes = Processes(folder, 2)
    yield processes
    processes.kill_all()


def wait_for(processes: Processes, workers: int) -> None:
    """Until the scheduler knows this number of workers."""
    from distributed import Client

    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            with Client(processes.address, timeout=1.0, set_as_default=False) as client:
                client.wait_for_workers(workers, timeout=PATIENCE_S)
                return
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.1)


@pytest.mark.parametrize("text", [SWEEP, RULE], ids=["fixed", "rule"])
def test_the_table_is_that_of_this_machine(asked: Path, text: str, hopcast: Hopcast, cluster: Processes) -> None:
    asked.write_text(text)
    wait_for(cluster, 2)
    out = asked.parent / "out"
    done = hopcast("sweep", asked, "--out", out, "--scheduler", cluster.address, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    assert document["complete"]
    assert document["cost"]["workers"] == 2
    Sweep.from_toml(asked).run(asked.parent / "alone")
    assert octets(out) == octets(asked.parent / "alone")
    # Nothing is left of the cluster, and there is nothing more to do.
    assert not [path.name for path in out.iterdir() if path.name.startswith(".cluster")]
    again = Sweep.from_toml(asked).run(out, scheduler=cluster.address, verify=1.0)
    assert again.document["cost"]["simulating_s"] == 0.0
    assert again.document["verified"]["differ"] == 0 < again.document["verified"]["runs"]


def test_a_killed_worker_loses_no_run(asked: Path, cluster: Processes) -> None:
    longer(asked)
    wait_for(cluster, 2)
    out = asked.parent / "out"
    process = subprocess.Popen(command("sweep", asked, "--out", out, "--scheduler", cluster.address))
    started(out, 3)
    os.killpg(cluster.workers[0].pid, signal.SIGKILL)
    assert process.wait(timeout=PATIENCE_S) == 0
    Sweep.from_toml(asked).run(asked.parent / "alone")
    assert octets(out) == octets(asked.parent / "alone")


def test_a_killed_scheduler_is_told_and_the_sweep_goes_on(asked: Path, cluster: Processes) -> None:
    longer(asked)
    wait_for(cluster, 2)
    out = asked.parent / "out"
    process = subprocess.Popen(
        command("sweep", asked, "--out", out, "--scheduler", cluster.address), stderr=subprocess.PIPE, text=True
    )
    started(out, 3)
    os.killpg(cluster.scheduler.pid, signal.SIGKILL)
    _, told = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1
    assert f"the Dask scheduler at {cluster.address}" in told
    assert "runs of the sweep are in the folder" in told
    assert Parts(out).finished()
    Sweep.from_toml(asked).run(out)
    Sweep.from_toml(asked).run(asked.parent / "alone")
    assert octets(out) == octets(asked.parent / "alone")


def test_ctrl_c_ends_with_130(asked: Path, cluster: Processes) -> None:
    longer(asked)
    asked.write_text(SWEEP.replace("replications = 2", "replications = 40"))
    wait_for(cluster, 2)
    out = asked.parent / "out"
    process = subprocess.Popen(
        command("sweep", asked, "--out", out, "--scheduler", cluster.address), stderr=subprocess.PIPE, text=True
    )
    started(out, 4)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130
    assert "of 320 runs" in told
    assert 4 <= open_sweep(out).document["counts"]["finished"] < 320


@pytest.mark.slow
def test_any_process_killed_twenty_times(asked: Path, tmp_path: Path) -> None:
    longer(asked)
    asked.write_text(SWEEP.replace("replications = 2", "replications = 10"))
    kill_at_random(asked, tmp_path, 20)


def test_any_process_killed_three_times(asked: Path, tmp_path: Path) -> None:
    longer(asked)
    kill_at_random(asked, tmp_path, 3)


def kill_at_random(asked: Path, tmp_path: Path, times: int) -> None:
    """Kill a worker, the scheduler or all at random instants; each time the sweep begins again on a whole cluster."""
    chance, out = random.Random(7), asked.parent / "out"
    for time_of_killing in range(times):
        folder = tmp_path / f"dask{time_of_killing}"
        folder.mkdir()
        cluster = Processes(folder, 2)
        try:
            wait_for(cluster, 2)
            arguments = command("sweep", asked, "--out", out, "--scheduler", cluster.address)
            sweep = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            before = len(Parts(out).finished())
            deadline = time.monotonic() + PATIENCE_S
            while sweep.poll() is None and len(Parts(out).finished()) <= before and time.monotonic() < deadline:
                time.sleep(0.01)
            time.sleep(chance.uniform(0.0, 0.2))
            finished = Parts(out).finished()
            victim = chance.choice(["worker", "scheduler", "all"])
            if victim == "worker":
                os.killpg(cluster.workers[chance.randrange(2)].pid, signal.SIGKILL)
                time.sleep(0.5)
            elif victim == "scheduler":
                os.killpg(cluster.scheduler.pid, signal.SIGKILL)
                sweep.wait(timeout=PATIENCE_S)
            sweep.kill()
            sweep.wait()
            assert finished <= Parts(out).finished()
        finally:
            cluster.kill_all()
    Sweep.from_toml(asked).run(out)
    Sweep.from_toml(asked).run(asked.parent / "alone")
    assert octets(out) == octets(asked.parent / "alone")


def test_a_worker_without_the_folder_or_with_another_build_refuses(asked: Path) -> None:
    one = Run(Sweep.from_toml(asked).scenario_at(0), 1)
    (asked.parent / "there").touch()
    folder = os.fspath(asked.parent)
    assert "does not see" in json.loads(Task(one, folder, "missing", build())())["refused"]
    assert "has hopcast" in json.loads(Task(one, folder, "there", "another")())["refused"]
    assert json.loads(Task(one, folder, "there", build())())["flows"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--scheduler", "127.0.0.1:1"], "no Dask scheduler answers at 127.0.0.1:1"),
        (["--scheduler", "nonsense://x"], "no Dask scheduler answers at nonsense://x"),
        (["--scheduler", "127.0.0.1:1", "--workers", "2"], "--scheduler and --workers exclude each other"),
        (["--scheduler", "127.0.0.1:1", "--shard", "1/2"], "--scheduler and --shard exclude each other"),
    ],
)
def test_a_wrong_address_is_refused_before_anything_runs(
    asked: Path, arguments: list[str], told: str, hopcast: Hopcast
) -> None:
    out = asked.parent / "out"
    done = hopcast("sweep", asked, "--out", out, *arguments)
    assert done.returncode == 2
    assert told in done.stderr
    assert not out.exists()


def test_without_dask_the_message_names_what_to_install(asked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(NoCluster, match=r"pip install 'hopcast\[dask\]'"):
        Sweep.from_toml(asked).run(asked.parent / "out", scheduler="127.0.0.1:8786")


def test_a_scheduler_excludes_other_ways(asked: Path) -> None:
    with pytest.raises(ValueError, match="scheduler"):
        Sweep.from_toml(asked).run(scheduler="127.0.0.1:8786", workers=2)


class Done:
    """A future that has finished, until it is released."""

    status = "finished"

    def __init__(self, known: list[Done]) -> None:
        self._known = known
        known.append(self)

    def add_done_callback(self, call: Callable[[Done], None]) -> None:
        call(self)

    def result(self) -> str:
        return "{}"

    def release(self) -> None:
        self._known.remove(self)


def test_a_scheduler_knows_of_no_more_runs_than_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each run is sent once, and its successor once it has finished."""
    monkeypatch.setattr(dask, "LEAST_AHEAD", 5)
    known: list[Done] = []
    most = 0

    def submit(_task: Task, *, pure: bool) -> Done:
        nonlocal most
        assert not pure
        done = Done(known)
        most = max(most, len(known))
        return done

    client = SimpleNamespace(submit=submit, status="running")
    cluster = SimpleNamespace(client=client, address="tcp://nowhere", workers=lambda: 2)
    executor = DaskExecutor(cast("Cluster", cluster), str(tmp_path))
    runs: dict[Any, Any] = {f"{n:02}": SimpleNamespace(scenario=SimpleNamespace(duration_s=1.0)) for n in range(100)}
    executor.start(runs)
    keys: list[Any] = [key for key, _ in executor.results(None)]
    assert sorted(keys) == list(runs)
    assert (most, known) == (8, [])
