"""Executes a set of runs: on every core, with progress, cancellation, and results kept from earlier ones.

A study executes the runs of its experiments this way. Nothing here knows of experiments: a run is a scenario and a
seed, so that anything with many runs can use it::

    runs = runs_of(scenario, seeds=range(10))
    with closing(execute(runs, Threads())) as finished:
        for key, document in finished:
            print(key.seed, document["flows"][0]["goodput_bps"])
"""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Generator, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Protocol

from hopcast.errors import RunError, ScenarioError
from hopcast.lab.kept import KeptRuns, Observe
from hopcast.lab.raised import told
from hopcast.results import Document, Result, available_cores, run
from hopcast.scenario import Scenario

if TYPE_CHECKING:
    from hopcast.extensions import Entry
    from hopcast.results import Progress

TICK_S = 0.1
"""Seconds between two updates of progress."""


@dataclass(frozen=True)
class Key:
    """Identifies a run: two runs with equal keys have equal results."""

    sha256: str
    """Digest of the scenario, which does not cover the fields below."""
    folders: tuple[str, ...]
    traces: tuple[str, ...]
    extensions: tuple[Entry, ...]
    seed: int
    observe: Observe | None
    """Function that reads more from the run than its document."""


@dataclass(frozen=True)
class Run:
    """One replication of a scenario."""

    scenario: Scenario
    seed: int
    observe: Observe | None = None
    """Function whose result is merged into the document."""
    place: str = ""
    """Name of the run in messages."""

    def simulate(self, progress: Progress | None) -> str:
        """Simulate it in this thread, and return the JSON text of its document. Raises `RunError`."""
        return _document(self, self.result(progress))

    def result(self, progress: Progress | None) -> Result:
        """Simulate it in this thread. Raises `RunError`."""
        try:
            return run(self.scenario, seed=self.seed, threads=1, progress=progress)
        except ScenarioError as error:
            # Of this seed alone: with another one there may be a path, say.
            raise RunError(f"{self.place}: {error}") from error


def runs_of(
    scenario: Scenario, seeds: Iterable[int], observe: Observe | None = None, place: str = ""
) -> dict[Key, Run]:
    """The replications of a scenario, by key. `place` and the seed name each of them in messages."""
    sha256, folders, traces, extensions = scenario.sha256, scenario.folders(), scenario.digests(), scenario.extensions()
    where = f"{place}, " if place else ""
    return {
        Key(sha256, folders, traces, extensions, seed, observe): Run(scenario, seed, observe, f"{where}seed {seed}")
        for seed in seeds
    }


class Cancelled(Exception):
    """A run was stopped because another failed, or on Ctrl-C."""


class Executor(Protocol):
    """Where runs are executed. `Threads` are those of this process."""

    def start(self, runs: Mapping[Key, Run]) -> None:
        """Begin with these runs. An interruption in between leaves something to stop."""

    def results(self, progress: Progress | None) -> Iterator[tuple[Key, str]]:
        """Yield each key with the JSON text of its document, as runs finish. Raises `RunError` if one fails."""

    def stop(self) -> Iterator[tuple[Key, str]]:
        """Stop active runs, drop those that have not begun, and return what has finished so far."""


def execute(
    runs: Mapping[Key, Run], executor: Executor, *, progress: Progress | None = None, kept: KeptRuns | None = None
) -> Generator[tuple[Key, Document]]:
    """Yield each key with the document of its run: first those that are `kept`, which are not repeated, then others
    as they finish. Keeps each finished run at once.

    Closing the iterator stops active runs, and so does any exception; runs that have finished by then are kept, too.
    Raises `RunError` if a run or its `observe` fails.
    """
    known: dict[Key, Document] = {}
    if kept is not None:
        for key, one in runs.items():
            if (text := kept.find(one.scenario, key.seed, key.observe)) is not None:
                known[key] = json.loads(text)
    left = {key: one for key, one in runs.items() if key not in known}
    unkept = dict(left)

    def keep(key: Key, text: str) -> None:
        if key not in unkept:
            return
        if kept is not None:
            one = unkept[key]
            kept.put(one.scenario, key.seed, key.observe, text)
        # Not before: what an interruption stops here is kept in the end.
        del unkept[key]

    try:
        executor.start(left)
        yield from known.items()
        for key, text in executor.results(_beyond(progress, (runs[key].scenario.duration_s for key in known))):
            keep(key, text)
            yield key, json.loads(text)
    finally:
        for key, text in executor.stop():
            keep(key, text)


def _beyond(progress: Progress | None, done: Iterable[float]) -> Progress | None:
    """Progress that counts the simulated seconds of earlier runs as done."""
    if progress is None:
        return None
    seconds, tell = math.fsum(done), progress
    return lambda done, total: tell(seconds + done, seconds + total)


class Threads:
    """Threads that simulate: the extension module releases the interpreter meanwhile."""

    def __init__(self, count: int | None = None) -> None:
        """By default as many as this process has cores."""
        self._cancelled = threading.Event()
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(count or available_cores(), thread_name_prefix="run")
        self._done: dict[Key, float] = {}
        self._total = 0.0
        self._running: dict[Future[str], Key] = {}

    def start(self, runs: Mapping[Key, Run]) -> None:
        """Begin with these runs."""
        self._total = math.fsum(one.scenario.duration_s for one in runs.values())
        for key, one in runs.items():
            self._running[self._pool.submit(self._simulate, key, one)] = key

    def results(self, progress: Progress | None) -> Iterator[tuple[Key, str]]:
        """Yield each key with the text of its document, as runs finish."""
        done: SimpleQueue[Future[str]] = SimpleQueue()
        for future in self._running:
            future.add_done_callback(done.put)
        waiting = len(self._running)
        self._tell(progress)
        while waiting:
            finished: list[Future[str]] = []
            with suppress(Empty):
                finished.append(done.get(timeout=TICK_S))
                while True:
                    finished.append(done.get_nowait())
            waiting -= len(finished)
            # Where one failed, nothing that finished at the same time gets lost.
            for future in sorted(finished, key=lambda future: future.exception() is not None):
                yield self._running[future], future.result()
            self._tell(progress)

    def stop(self) -> Iterator[tuple[Key, str]]:
        """Stop active runs and drop those that have not begun; return what has finished."""
        self._cancelled.set()
        self._pool.shutdown(wait=True, cancel_futures=True)
        return (
            (key, future.result())
            for future, key in self._running.items()
            if future.done() and not future.cancelled() and future.exception() is None
        )

    def _tell(self, progress: Progress | None) -> None:
        if progress is not None:
            with self._lock:
                done = math.fsum(self._done.values())
            progress(done, self._total)

    def _simulate(self, key: Key, one: Run) -> str:
        def progress(done: float, _total: float) -> None:
            if self._cancelled.is_set():
                raise Cancelled
            with self._lock:
                self._done[key] = done

        text = one.simulate(progress)
        with self._lock:
            self._done[key] = one.scenario.duration_s
        return text


def _document(one: Run, result: Result) -> str:
    """The text that is kept of a run, so that kept and new results are equal."""
    document = result.json()
    if one.observe is None:
        return json.dumps(document)
    try:
        return json.dumps(document | one.observe(result))
    except (Exception, SystemExit) as error:
        raise RunError(f"{one.place}: its observe: {told(error, one.observe)}") from error
