"""Runs of a sweep on a Dask cluster: `hopcast sweep --scheduler ADDRESS`.

The client sends each run to the scheduler as a task; a worker simulates it and keeps it in the folder of the sweep itself, as a process
of the local machine does. So the workers need that folder under the same name. A worker that does not see it, or that has
another build of hopcast, refuses the task.

A process that ends abruptly loses its unfinished runs, and nothing else. The scheduler gives the tasks of a lost worker to others. If client
or scheduler are lost, the same command goes on from the folder.
"""

from __future__ import annotations

import json
import logging
import math
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from hopcast.errors import RunError
from hopcast.lab.executor import TICK_S, Key, Run
from hopcast.version import build

if TYPE_CHECKING:
    from distributed import Client, Future

    from hopcast.results import Progress

AHEAD = 4
"""Runs that the scheduler has for each thread of its workers: what it knows of each takes memory, there and here."""
LEAST_AHEAD = 1000
"""Runs that it may always have, as workers may join."""
CONNECT_S = 10.0
"""How long to wait for an answer of the scheduler."""


class NoCluster(ValueError):
    """There is no Dask, or no scheduler answers at the address. Nothing was run."""


@dataclass(frozen=True)
class Task:
    """A run with what its worker must have."""

    one: Run
    folder: str
    token: str
    """Name of a file that the client has put into the folder."""
    build: str

    def __call__(self) -> str:
        """Simulate the run at a worker; return what the client is to know."""
        if build() != self.build:
            return json.dumps({"refused": f"has hopcast {build()}, and this process {self.build}"})
        if not os.path.exists(os.path.join(self.folder, self.token)):
            return json.dumps({"refused": f"does not see {self.folder}, which all workers must share"})
        return self.one.simulate(None)


class Cluster:
    """A connection to a scheduler, for one sweep."""

    def __init__(self, address: str) -> None:
        """Connect to the scheduler at `address`, such as `"tcp://10.0.0.1:8786"`. Raises `NoCluster`."""
        try:
            from distributed import Client
        except ImportError:
            raise NoCluster("a scheduler needs Dask: pip install 'hopcast[dask]'") from None
        # What it says of lost connections is told here, once.
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        self.address = address
        try:
            self.client: Client = Client(address, timeout=CONNECT_S, set_as_default=False)
        except (OSError, ValueError, TypeError, RuntimeError) as error:
            raise NoCluster(
                f"no Dask scheduler answers at {address} ({told(error)}); expected an address such as tcp://10.0.0.1:8786"
            ) from None

    def workers(self) -> int:
        """Runs at a time: threads of all workers, at least one."""
        with suppress(Exception):
            threads: dict[str, int] = self.client.nthreads()
            return max(sum(threads.values()), 1)
        return 1

    def executor(self, folder: str) -> DaskExecutor:
        """Executes some of the runs of the sweep in this folder."""
        return DaskExecutor(self, folder)

    def close(self) -> None:
        """Leave the cluster as it is."""
        with suppress(Exception):
            self.client.close(timeout=1)


class DaskExecutor:
    """The workers of a cluster, for some of the runs of a sweep."""

    def __init__(self, cluster: Cluster, folder: str) -> None:
        self._cluster = cluster
        self._folder = folder
        self._token = f".cluster-{secrets.token_hex(8)}"
        self._total = 0.0
        self._most = 0
        self._waiting: Iterator[tuple[Key, Run]] = iter(())
        self._running: dict[Future[str], tuple[Key, float]] = {}
        # Each future tells once that it is done: to ask all of them again and again takes time and memory that grow with the square of their number.
        self._done: SimpleQueue[Future[str]] = SimpleQueue()

    def start(self, runs: Mapping[Key, Run]) -> None:
        """Send the first runs to the scheduler. The others follow as these finish."""
        with open(os.path.join(self._folder, self._token), "x"):
            pass
        self._total = math.fsum(one.scenario.duration_s for one in runs.values())
        self._waiting = iter(list(runs.items()))
        self._most = max(AHEAD * self._cluster.workers(), LEAST_AHEAD)
        self._submit()

    def _submit(self) -> None:
        """Send as many more as the scheduler may have."""
        room = self._most - len(self._running)
        with _Said(self._cluster):
            for key, one in islice(self._waiting, room):
                task = Task(one, self._folder, self._token, build())
                # Finished runs are known by their files, not by Dask's keys: a run that is asked for again is to run again.
                future = self._cluster.client.submit(task, pure=False)
                self._running[future] = (key, one.scenario.duration_s)
                future.add_done_callback(self._done.put)

    def results(self, progress: Progress | None) -> Iterator[tuple[Key, str]]:
        """Yield each key with the text of its document, as runs finish."""
        done = 0.0
        while self._running:
            with _Said(self._cluster):
                finished = self._wait()
            # Where one failed, nothing that finished at the same time gets lost.
            for future in sorted(finished, key=lambda future: future.status != "finished"):
                key, seconds = self._running.pop(future)
                with _Said(self._cluster):
                    text = future.result()
                future.release()
                if (refused := json.loads(text).get("refused")) is not None:
                    raise RunError(f"a worker of the Dask scheduler at {self._cluster.address} {refused}")
                done += seconds
                self._submit()
                yield key, text
            if progress is not None:
                progress(done, self._total)

    def stop(self) -> Iterator[tuple[Key, str]]:
        """Drop runs that have not begun. Those that have begun go on to their end, and are kept."""
        with suppress(Exception):
            self._cluster.client.cancel(list(self._running), force=True)
        with suppress(OSError):
            os.unlink(os.path.join(self._folder, self._token))
        return iter(())

    def _wait(self) -> set[Future[str]]:
        """Runs that have finished, a moment from now at the latest."""
        found: set[Future[str]] = set()
        with suppress(Empty):
            found.add(self._done.get(timeout=TICK_S))
            while True:
                found.add(self._done.get_nowait())
        if not found and self._cluster.client.status != "running":
            raise RunError(f"the Dask scheduler at {self._cluster.address} is gone")
        return found


class _Said:
    """Turns what Dask raises into a `RunError` that names the scheduler."""

    def __init__(self, cluster: Cluster) -> None:
        self._address = cluster.address

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, RunError):
            raise RunError(f"the Dask scheduler at {self._address}: {told(error)}") from error


def told(error: BaseException) -> str:
    """The first line of an error."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0].strip()
