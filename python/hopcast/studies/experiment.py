"""Experiments, and how their runs are distributed over the cores."""

from __future__ import annotations

import json
import math
import operator
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from hopcast import _core
from hopcast.errors import HopcastError, RunError, ScenarioError
from hopcast.results import Result, available_cores
from hopcast.scenario import Scenario
from hopcast.studies.raised import told
from hopcast.studies.rows import Row, Sample

if TYPE_CHECKING:
    import polars
    from matplotlib.figure import Figure

    from hopcast.extensions import Entry
    from hopcast.results import Progress
    from hopcast.studies.kept import KeptRuns

T = TypeVar("T")

Document = dict[str, Any]
"""The object of `hopcast run --json` for one replication."""


@dataclass(frozen=True)
class Amount:
    """Amount of work: `quick` to check that it works, `full` as much as the papers did."""

    name: Literal["quick", "full"]

    def pick(self, *, quick: T, full: T) -> T:
        """One of two."""
        return quick if self.name == "quick" else full


@dataclass(frozen=True)
class Parameter:
    """A parameter of an experiment, and the source of its value."""

    name: str
    value: str
    source: str


@dataclass(frozen=True)
class Case:
    """One scenario, simulated once with each of the seeds.

    `observe` reads from a replication what its document lacks, such as a series; its result is merged into the
    document. Raises `TypeError` and `ValueError`.
    """

    scenario: Scenario
    seeds: tuple[int, ...]
    observe: Callable[[Result], Document] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.scenario, Scenario):
            raise TypeError(f"scenario = {self.scenario!r}: must be a hopcast.Scenario")
        object.__setattr__(self, "seeds", checked_seeds(self.seeds))


def checked_seeds(seeds: Iterable[int]) -> tuple[int, ...]:
    """Check the seeds of a case. A repeated seed would count as two measurements that never differ. Raises
    `ValueError`.
    """
    try:
        found = tuple(map(operator.index, seeds))
    except TypeError:
        found = ()
    if not found or len(set(found)) < len(found) or min(found) < 0 or max(found) >= 2**64:
        raise ValueError(
            f"seeds = {seeds!r}: must be whole numbers from 0 to 2^64 - 1, at least one and none of them twice"
        )
    return found


def column(series: polars.DataFrame, name: str) -> list[float]:
    """A column of a run's series, as lists; values that were not measured are NaN."""
    import polars

    found: list[float] = series[name].cast(polars.Float64).fill_null(math.nan).to_list()
    return found


@dataclass(frozen=True)
class Measured:
    """Results of the cases of an experiment, by the keys of its cases."""

    documents: Mapping[str, Sequence[Document]]

    def sample(self, case: str, number: Callable[[Document], float]) -> Sample:
        """One number of a case, from each replication."""
        return Sample(tuple(number(document) for document in self.documents[case]))

    def flow(self, case: str, flow: str, of: str) -> Sample:
        """One field of a flow; NaN if it could not be measured (`null`)."""

        def number(document: Document) -> float:
            records = {record["name"]: record for record in document["flows"]}
            if flow not in records:
                raise ValueError(f"case {case!r} has no flow {flow!r}; there are {', '.join(records)}")
            found = records[flow][of]
            return float("nan") if found is None else float(found)

        return self.sample(case, number)


@dataclass(frozen=True)
class Table:
    """The rows of one experiment by case and metric, for its figures."""

    rows: Sequence[Row]
    _index: dict[tuple[str, str], Row] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_index", {(row.case, row.metric): row for row in self.rows})

    def __getitem__(self, key: tuple[str, str]) -> Row:
        return self._index[key]

    def __contains__(self, key: tuple[str, str]) -> bool:
        return key in self._index


@dataclass(frozen=True)
class Cells:
    """Numbers to compare in a table of texts, whose first column names the lines."""

    title: str
    head: Sequence[str]
    lines: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Experiment:
    """One experiment of a paper.

    `cases` defines the simulations, `rows` compares measurements with the paper, `figures` draws the rows, and
    `notes` explains, from the rows, what agrees and what does not. `tables` arranges some of the rows. `missing`
    names the data that `cases` and `rows` need but can't find; the experiment is then skipped.
    """

    id: str
    title: str
    paper: str
    setup: Callable[[Amount], Sequence[Parameter]]
    cases: Callable[[Amount], Mapping[str, Case]]
    rows: Callable[[Measured], list[Row]]
    figures: Callable[[Table], Sequence[tuple[str, Figure]]] = lambda table: ()
    notes: Callable[[Table], Sequence[str]] = lambda table: ()
    missing: Callable[[], str | None] = lambda: None
    tables: Callable[[Table], Sequence[Cells]] = lambda table: ()


@dataclass(frozen=True)
class Key:
    """Identifies a run."""

    sha256: str
    """Digest of the scenario, which does not cover the fields below."""
    folders: tuple[str, ...]
    traces: tuple[str, ...]
    extensions: tuple[Entry, ...]
    seed: int
    observe: Callable[[Result], Document] | None
    """Function that reads more from the run than its document."""


@dataclass(frozen=True)
class Unit:
    """A run, for the first case that needs it."""

    case: Case
    place: str
    """The experiment, the name of the case, and the seed."""


TICK_S = 0.1
"""Seconds between two updates of progress."""


def _keys(case: Case) -> list[Key]:
    """Duration of a run with each seed."""
    scenario = case.scenario
    sha256, folders, traces = scenario.sha256, scenario.folders(), scenario.digests()
    return [Key(sha256, folders, traces, scenario.extensions(), seed, case.observe) for seed in case.seeds]


class Cancelled(Exception):
    """A run was stopped because another failed, or on Ctrl-C."""


class MissingFailed(HopcastError):
    """The function that names an experiment's missing data failed; nothing was run."""


def lacking(experiment: Experiment) -> str | None:
    """Return the data that an experiment lacks, if any. Raises `MissingFailed`; lets errors pass that already name
    their position.
    """
    try:
        missing = experiment.missing()
        if missing is not None and not isinstance(missing, str):
            raise TypeError(f"gave {missing!r}; expected a text or None")
    except (HopcastError, OSError):
        raise
    except Exception as error:
        raise MissingFailed(f"{experiment.id}: its missing: {told(error, experiment.missing)}") from error
    return missing


class CasesFailed(HopcastError):
    """The function that makes an experiment's cases failed; nothing was run."""


def simulate(
    experiments: Sequence[Experiment],
    amount: Amount,
    *,
    threads: int | None,
    progress: Progress | None,
    kept: KeptRuns | None,
    on_finished: Callable[[Experiment, Mapping[str, Case], Measured], None],
) -> None:
    """Run the cases of all experiments, one replication at a time on each core. Equal cases run once, and `kept` runs
    are not repeated; each finished run is kept at once.

    Calls `on_finished` with an experiment's cases and results, in the order of `experiments`, as soon as it and those
    before it are complete. On Ctrl-C it stops the active runs and lets the interruption pass.
    """
    cases = [_cases(experiment, amount) for experiment in experiments]
    keys = [{name: _keys(case) for name, case in of_experiment.items()} for of_experiment in cases]
    units: dict[Key, Unit] = {}
    for experiment, of_experiment, of_cases in zip(experiments, cases, keys, strict=True):
        for name, of_case in of_cases.items():
            for key in of_case:
                place = f"{experiment.id}: case {name!r}, seed {key.seed}"
                units.setdefault(key, Unit(of_experiment[name], place))
    documents: dict[Key, Document] = {}
    if kept is not None:
        for key, unit in units.items():
            if (text := kept.find(unit.case.scenario, key.seed, key.observe)) is not None:
                documents[key] = json.loads(text)
    unreported = list(zip(experiments, cases, keys, strict=True))

    def report() -> None:
        while unreported:
            experiment, of_experiment, of_cases = unreported[0]
            if any(key not in documents for of_case in of_cases.values() for key in of_case):
                return
            del unreported[0]
            found = {name: [documents[key] for key in of_case] for name, of_case in of_cases.items()}
            on_finished(experiment, of_experiment, Measured(found))

    def keep(key: Key, text: str) -> None:
        if kept is not None:
            kept.put(units[key].case.scenario, key.seed, key.observe, text)

    workers = _Workers(units, documents, threads or available_cores())
    try:
        workers.start()
        report()
        for key, text in workers.results(progress):
            keep(key, text)
            documents[key] = json.loads(text)
            report()
    finally:
        workers.stop()
        for key, text in workers.finished():
            if key not in documents:
                keep(key, text)


def _cases(experiment: Experiment, amount: Amount) -> Mapping[str, Case]:
    """The cases of an experiment. Errors that already name their position pass; others, and an exit of the program,
    become such an error.
    """
    try:
        cases = experiment.cases(amount)
        if not isinstance(cases, Mapping):
            raise TypeError(f"gave {cases!r}; expected a dictionary")
        for name, case in cases.items():
            if not isinstance(case, Case):
                raise TypeError(f"gave {case!r} as {name!r}; expected a Case")
    except (HopcastError, OSError):
        raise
    except (Exception, SystemExit) as error:
        raise CasesFailed(f"{experiment.id}: its cases: {told(error, experiment.cases)}") from error
    return cases


class _Workers:
    """Threads that simulate: the extension module releases the interpreter meanwhile."""

    def __init__(self, units: Mapping[Key, Unit], found: Collection[Key], threads: int) -> None:
        """`found` are runs that are done already."""
        self._cancelled = threading.Event()
        self._lock = threading.Lock()
        self._done: dict[Key, float] = {key: units[key].case.scenario.duration_s for key in found}
        self._total = math.fsum(unit.case.scenario.duration_s for unit in units.values())
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="study")
        self._units = {key: unit for key, unit in units.items() if key not in found}
        self._running: dict[Future[str], Key] = {}

    def start(self) -> None:
        """Start. This is separate from the constructor, so that an interruption in between has something to stop."""
        for key, unit in self._units.items():
            self._running[self._pool.submit(self._simulate, key, unit)] = key

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

    def finished(self) -> Iterator[tuple[Key, str]]:
        """Each key and text of the runs that have finished so far."""
        for future, key in self._running.items():
            if future.done() and not future.cancelled() and future.exception() is None:
                yield key, future.result()

    def stop(self) -> None:
        """Stop active runs and drop those that have not begun."""
        self._cancelled.set()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _tell(self, progress: Progress | None) -> None:
        if progress is not None:
            with self._lock:
                done = math.fsum(self._done.values())
            progress(done, self._total)

    def _simulate(self, key: Key, unit: Unit) -> str:
        def progress(done: float, _total: float) -> None:
            if self._cancelled.is_set():
                raise Cancelled
            with self._lock:
                self._done[key] = done

        scenario = unit.case.scenario
        try:
            (result,) = _core.run(scenario._core_of_a_run(), [key.seed], 1, None, False, progress)
        except ScenarioError as error:
            # Of this seed alone: with another one there may be a path, say.
            raise RunError(f"{unit.place}: {error}") from error
        with self._lock:
            self._done[key] = scenario.duration_s
        return _document(unit, result)


def _document(unit: Unit, result: _core.RunResult) -> str:
    """The text that is kept of a run, so that kept and new results are equal."""
    text, observe = result.to_json(), unit.case.observe
    if observe is None:
        return text
    try:
        return json.dumps(json.loads(text) | observe(Result(unit.case.scenario, [result])))
    except (Exception, SystemExit) as error:
        raise RunError(f"{unit.place}: its observe: {told(error, observe)}") from error
