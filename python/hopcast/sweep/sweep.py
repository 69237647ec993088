"""A sweep: one scenario with other values, each with several seeds."""

from __future__ import annotations

import json
import math
import os
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hopcast._core import __version__
from hopcast.errors import RunError, ScenarioError
from hopcast.lab.executor import Executor, Key, Run, Threads, execute
from hopcast.lab.kept import identity, name_of
from hopcast.output import prepared, write_json
from hopcast.results import available_cores
from hopcast.scenario import Scenario, read_text
from hopcast.sweep.parts import Parts, frame_of
from hopcast.sweep.plan import (
    MOST_RUNS,
    TOP,
    Plan,
    SweepError,
    expand,
    replications_of,
    shown,
    suggestion,
    whole,
)
from hopcast.sweep.precision import Precision, parts_of
from hopcast.sweep.result import NAME, Asked, NoSweep, SweepResult, metric_of, prefix_of
from hopcast.sweep.verify import Repeated, differences, drawn
from hopcast.version import build

if TYPE_CHECKING:
    from hopcast.extensions import Extensions
    from hopcast.results import Progress, Result

FROM_PYTHON = "<python>"
AHEAD = 4
"""A rule asks for a quarter of a point's replications at a time, so that cores don't wait for each other."""
PER_WORKER = 2
"""Runs for each worker that a rule asks for at a time, if its limit allows."""
RECOUNTS = 10
"""How often counts are written again because other processes have finished runs meanwhile."""


class SweepInterrupted(KeyboardInterrupt):
    """Ctrl-C interrupted a sweep; `result` has the finished runs, which are in the folder."""

    def __init__(self, result: SweepResult, message: str) -> None:
        super().__init__(message)
        self.result = result


class SweepFailed(RunError):
    """Runs of a sweep failed, or could not be kept; `result` has the finished runs, which are in the folder."""

    def __init__(self, sweep: SweepResult, message: str) -> None:
        super().__init__(message)
        self.sweep = sweep


@dataclass(frozen=True)
class SweepRun(Run):
    """A run that its worker keeps in the folder of the sweep, before it counts as finished."""

    name: str = ""
    folder: str = ""

    def simulate(self, progress: Progress | None) -> str:
        """Simulate it and keep it, if no other process has done so; return what it took, or why it failed."""
        parts = Parts(self.folder)
        if parts.has_file(self.name):
            return json.dumps({"wall_s": 0.0})
        start = time.perf_counter()
        try:
            result = self.result(progress)
        except RunError as error:
            return json.dumps({"failure": str(error)})
        wall_s = time.perf_counter() - start
        parts.put(self.name, frame_of(self.name, self.seed, result))
        return json.dumps({"wall_s": wall_s})


class Sweep:
    """A scenario with varied values. Raises `SweepError` if a key or value is wrong; nothing is run before.

    * `scenario`: a `Scenario` or the name of its file.
    * `grid`: values by key; every combination is a point.
    * `zip`: lists of one length by key, side by side.
    * `sample`: `method` (`"sobol"` or `"latin-hypercube"`), `size`, and `[low, high]` by key.
    * `seed`: the first seed, by default the scenario's. All points have the same seeds (common random numbers).
    * `replications`: a number, or a rule with `metric`, `relative` and `at_most` (see `Precision`).

    Keys are those of `Scenario.set`::

        sweep = hopcast.Sweep("film.toml", grid={"flows.film.transport.window": [2, 4, 8]}, replications=10)
        print(sweep.run("out").flows)
    """

    def __init__(
        self,
        scenario: Scenario | str | os.PathLike[str],
        *,
        grid: Mapping[str, Any] | None = None,
        zip: Mapping[str, Any] | None = None,  # noqa: A002 - the name of the section in the file
        sample: Mapping[str, Any] | None = None,
        seed: int | None = None,
        replications: int | Mapping[str, Any] | Precision = 1,
    ) -> None:
        given = scenario if isinstance(scenario, Scenario) else Scenario.from_toml(os.fspath(scenario))
        label = given.name if isinstance(scenario, Scenario) else os.fspath(scenario)
        self._take(given, label, grid, zip, sample, seed, replications, FROM_PYTHON)

    @classmethod
    def from_toml(
        cls,
        path: str | os.PathLike[str],
        *,
        traces: Iterable[str | os.PathLike[str]] = (),
        extensions: Extensions | None = None,
    ) -> Sweep:
        """Read `SWEEP.toml`, and the scenario that it names, from the folder of that file."""
        file = os.fspath(path)
        try:
            document = tomllib.loads(read_text(file))
        except tomllib.TOMLDecodeError as error:
            raise SweepError(file, "", None, f"is not TOML: {error}") from None
        if "scenario" not in document and "nodes" in document:
            raise SweepError(file, "", None, f"is a scenario; `hopcast run {file}` simulates it")
        for key in document:
            if key not in TOP:
                known = ", ".join(TOP)
                raise SweepError(file, key, None, f"is unknown{suggestion(key, TOP)}; expected one of {known}")
        named = document.get("scenario")
        if not isinstance(named, str) or not named:
            told = None if named is None else shown(named)
            raise SweepError(file, "scenario", told, "expected the name of a scenario file, relative to this file")
        where = os.path.join(os.path.dirname(file), named)
        if not os.path.isfile(where):
            raise SweepError(file, "scenario", shown(named), f"there is no file {where}")
        sweep = cls.__new__(cls)
        sweep._take(
            Scenario.from_toml(where, traces=traces, extensions=extensions),
            named,
            document.get("grid"),
            document.get("zip"),
            document.get("sample"),
            document.get("seed"),
            document.get("replications", 1),
            file,
        )
        return sweep

    def _take(
        self,
        scenario: Scenario,
        label: str,
        grid: Any,
        zipped: Any,
        sample: Any,
        seed: Any,
        replications: Any,
        file: str,
    ) -> None:
        for name, section in (("grid", grid), ("zip", zipped)):
            if section is not None and not isinstance(section, Mapping):
                raise SweepError(file, name, shown(section), "expected a table of keys, each with a list of values")
        self.scenario = scenario
        self.replications = replications_of(replications, file)
        most = self.replications.at_most if isinstance(self.replications, Precision) else self.replications
        self.seed = scenario.seed if seed is None else whole(seed, "seed", 0, 2**64 - most, file)
        self._plan: Plan = expand(grid, zipped, sample, self.seed, file)
        if len(self._plan.points) * most > MOST_RUNS:
            runs = len(self._plan.points) * most
            raise SweepError(file, "replications", None, f"makes {runs} runs; expected at most {MOST_RUNS}")
        self._file = file
        self._asked = {
            "scenario": label,
            "seed": self.seed,
            "replications": _plain(self.replications),
            **{name: of for name, of in (("grid", grid), ("zip", zipped), ("sample", sample)) if of is not None},
        }
        self._scenarios = [self._scenario(values) for values in self._plan.points]
        identities = [identity(scenario) for scenario in self._scenarios]
        known = tuple(one for one in identities if one is not None)
        if len(known) < len(identities):
            raise SweepError(
                file,
                "",
                None,
                "a model in Python can't be told from others; expected classes and functions of a module",
            )
        self._runs = Asked(self._plan.keys, self._plan.points, known, self.seed, self.replications)
        if isinstance(self.replications, Precision):
            self._check_metric(self.replications.metric)

    @property
    def keys(self) -> tuple[str, ...]:
        """The varied keys."""
        return self._plan.keys

    @property
    def points(self) -> list[dict[str, object]]:
        """The values of each point, by key."""
        return [dict(zip(self.keys, values, strict=True)) for values in self._plan.points]

    def scenario_at(self, point: int) -> Scenario:
        """The scenario of a point."""
        return self._scenarios[point]

    def __repr__(self) -> str:
        return (
            f"Sweep({self._asked['scenario']!r}, {len(self._plan.points)} points of {', '.join(self.keys) or 'no key'})"
        )

    def run(
        self,
        out: str | os.PathLike[str] | None = None,
        *,
        workers: int | None = None,
        shard: tuple[int, int] | None = None,
        scheduler: str | None = None,
        verify: float | None = None,
        executor: Executor | None = None,
        progress: Progress | None = None,
    ) -> SweepResult:
        """Simulate all runs that the folder `out` does not have yet, on `workers` (by default, one per core), and keep
        each one there as soon as it has finished. Without `out`, nothing is kept.

        With `scheduler`, the address of a Dask scheduler, its workers simulate instead: they must have the same hopcast and see
        the same folder. Raises `NoCluster` if none answers there.

        With `verify`, a share such as 0.01, hopcast then repeats that share of the kept runs, chosen at random, at least one. Raises
        `SweepFailed` if one is not the same.

        `shard` is `(k, n)`: only the k-th of n parts of the runs, with k from 1 to n. Shards of a sweep may run at the
        same time, on different machines, with the same folder. Raises `OutputError` before anything runs if the folder
        can't be written, `SweepFailed`, and `SweepInterrupted` on Ctrl-C.
        """
        if shard is not None and not (shard[1] >= 1 and 0 <= shard[0] <= shard[1]):
            raise ValueError(f"shard = {shard}: expected (k, n) with k from 1 to n")
        if verify is not None and not 0.0 < verify <= 1.0:
            raise ValueError(f"verify = {verify}: expected a share of the runs above 0, at most 1")
        if scheduler is not None and (workers, shard, executor) != (None, None, None):
            raise ValueError("scheduler: workers, shard and executor are of this machine; expected one of them")
        if out is None:
            with tempfile.TemporaryDirectory(prefix="hopcast-sweep-") as folder:
                result = self.run(
                    folder,
                    workers=workers,
                    shard=shard,
                    scheduler=scheduler,
                    verify=verify,
                    executor=executor,
                    progress=progress,
                )
                # Read before the folder is gone.
                _ = result.flows, result.nodes, result.totals
                return result
        folder = os.path.abspath(os.fspath(out)) if os.fspath(out) else ""
        if scheduler is None:
            count = workers or available_cores()
            with prepared(folder, (NAME,)):
                session = _Session(self, folder, count, shard, lambda: executor or Threads(count))
                return session.run(progress, verify)
        from hopcast.sweep.dask import Cluster

        with closing(Cluster(scheduler)) as cluster, prepared(folder, (NAME,)):
            session = _Session(self, folder, cluster.workers(), None, lambda: cluster.executor(folder))
            return session.run(progress, verify)

    def result(self, folder: str | os.PathLike[str]) -> SweepResult:
        """What the folder has of this sweep."""
        return SweepResult(folder, self._document(0, complete=False), self._runs)

    def _scenario(self, values: Sequence[object]) -> Scenario:
        changes = dict(zip(self._plan.keys, values, strict=True))
        try:
            return self.scenario.set_all(changes) if changes else self.scenario
        except ScenarioError as error:
            # Of several wrong values the first is enough: the same one is in many points.
            key = next((key for key in changes if error.field == key or error.field.startswith(f"{key}.")), None)
            section = next((name for name in ("grid", "zip", "sample") if key and _has(self._asked.get(name), key)), "")
            field = f"{section}.{error.field}" if section else error.field
            told = ", ".join(f"{key} = {shown(value)}" for key, value in changes.items())
            among = f" (in the point {told})" if len(changes) > 1 else ""
            raise SweepError(self._file, field, error.value, f"{error.message}{among}") from None

    def _check_metric(self, metric: str) -> None:
        """Refuse a metric that no run will have."""
        table, name, field = parts_of(metric) or ("", "", "")
        tried = _tried()
        if table == "totals":
            fields = [key for key, value in tried.json()["totals"].items() if isinstance(value, int | float)]
        else:
            schema = getattr(tried, table).drop("seed").schema
            fields = [key for key, kind in schema.items() if kind.is_numeric()]
        if field not in fields:
            message = (
                f"{table} have no number {field!r}{suggestion(field, fields)}; expected one of {', '.join(fields)}"
            )
            raise SweepError(self._file, "replications.metric", shown(metric), message)
        for scenario in dict.fromkeys(self._scenarios):
            names = _names(scenario, table)
            if table != "totals" and name not in names:
                known = ", ".join(names) if len(names) <= 20 else f"{', '.join(names[:20])}, …"
                message = f"there is no {table[:-1]} {name!r}{suggestion(name, names)}; expected one of {known}"
                raise SweepError(self._file, "replications.metric", shown(metric), message)

    def _document(self, finished: int, *, complete: bool) -> dict[str, Any]:
        fixed = not isinstance(self.replications, Precision)
        runs = len(self._plan.points) * self._runs.most if fixed else None
        return {
            "asked": self._asked,
            "keys": list(self.keys),
            "counts": {"points": len(self._plan.points), "runs": runs, "finished": finished},
            "complete": complete,
            "provenance": {
                "version": __version__,
                "build": build(),
                "scenario_sha256": self.scenario.sha256,
                "seed": self.seed,
            },
            "points": [
                {"values": list(values), "identity": of}
                for values, of in zip(self._plan.points, self._runs.identities, strict=True)
            ],
        }


def _tried() -> Result:
    """A short run, which shows what fields a run has."""
    flow: Any = {
        "name": "f",
        "from": "n0",
        "to": "n1",
        "transport": {"protocol": "udp"},
        "application": {"kind": "cbr", "rate": 1000, "packet": 10},
    }
    nodes: Any = [{"name": "n", "count": 2, "placement": {"shape": "line", "spacing": 1}}]
    return Run(Scenario(duration=0.001, nodes=nodes, flows=[flow]), 0).result(None)


def _plain(replications: int | Precision) -> object:
    if not isinstance(replications, Precision):
        return replications
    return {
        "metric": replications.metric,
        "relative": replications.relative,
        "at_most": replications.at_most,
        "at_least": replications.at_least,
    }


def _has(section: Any, key: str) -> bool:
    """Whether a section has a key, quoted or as tables in tables."""
    if not isinstance(section, Mapping):
        return False
    return key in section or any(
        key.startswith(f"{name}.") and _has(inner, key.removeprefix(f"{name}.")) for name, inner in section.items()
    )


def _names(scenario: Scenario, table: str) -> list[str]:
    """Names of the flows or of the nodes of a scenario."""
    values = {key: value for key, value, _ in scenario.explain()}
    names = []
    for key, name in values.items():
        if key.startswith(f"{table}.") and key == f"{table}.{name}.name":
            count = values.get(f"{table}.{name}.count")
            names += [name] if count is None else [f"{name}{index}" for index in range(int(count))]
    return names


class _Session:
    """One process's work on a sweep."""

    def __init__(
        self,
        sweep: Sweep,
        folder: str,
        workers: int,
        shard: tuple[int, int] | None,
        executor: Callable[[], Executor],
    ) -> None:
        self._sweep = sweep
        self._folder = folder
        self._workers = workers
        self._shard = shard
        self._executor = executor
        self._parts = Parts(folder)
        self._failures: dict[tuple[int, int], str] = {}
        self._simulating_s = 0.0
        self._measured: dict[str, float | None] = {}
        self._verified: dict[str, int] = {}

    def run(self, progress: Progress | None, verify: float | None) -> SweepResult:
        """Simulate what is missing, then say in `sweep.json` what is there. Repeat a share of it if asked."""
        self._parts.clean()
        self._count()
        began = time.perf_counter()
        failure: BaseException | None = None
        try:
            while wave := self._missing():
                self._simulate(wave, progress)
        except (KeyboardInterrupt, RunError) as stopped:
            failure = stopped
        elapsed = time.perf_counter() - began
        if not isinstance(failure, RunError):
            self._parts.compact()
        differ: list[str] = []
        if verify is not None and failure is None and not self._failures:
            try:
                differ = self._repeat(verify, progress)
            except (KeyboardInterrupt, RunError) as stopped:
                failure = stopped
        result = self._count(elapsed)
        if isinstance(failure, KeyboardInterrupt):
            raise SweepInterrupted(result, f"interrupted: {told(result)}") from None
        if failure is not None:
            raise SweepFailed(result, f"{failure}; {told(result)}") from failure
        if self._failures:
            first = next(iter(self._failures.values()))
            count = len(self._failures)
            raise SweepFailed(
                result, f"{count} run{'' if count == 1 else 's'} failed; {told(result)}. The first to fail: {first}"
            )
        if differ:
            raise SweepFailed(
                result,
                f"{len(differ)} of {self._verified['runs']} repeated runs differ from those in {self._folder}; "
                f"expected the same bytes. The first one: {differ[0]}",
            )
        return result

    def _repeat(self, share: float, progress: Progress | None) -> list[str]:
        """Repeat a random share of this process's runs that are there; return how they differ."""
        runs = self._sweep._runs
        kept: dict[str, tuple[int, int]] = {}
        finished = self._parts.finished()
        for point in range(len(runs.points)):
            for index, name in enumerate(runs.names(point)):
                at = point if isinstance(self._sweep.replications, Precision) else point * runs.most + index
                if name in finished and self._is_mine(at):
                    kept[name] = (point, runs.seed + index)
        chosen = drawn(set(kept), share)
        repeated = {
            name: Repeated(self._sweep.scenario_at(point), seed, None, self._place(point, seed), name)
            for name, (point, seed) in kept.items()
            if name in chosen
        }
        differ = differences(repeated, self._parts, self._executor, progress)
        self._verified = {"runs": len(repeated), "differ": len(differ)}
        return differ

    def _missing(self) -> list[tuple[int, int]]:
        """Point and seed of the runs to do next; none if there is nothing left for this process."""
        runs = self._sweep._runs
        finished = self._parts.finished()
        if isinstance(self._sweep.replications, Precision):
            wanted = self._by_rule(self._sweep.replications, finished)
        else:
            every = ((point, index) for point in range(len(runs.points)) for index in range(runs.most))
            wanted = [pair for at, pair in enumerate(every) if self._is_mine(at)]
        pairs = [(point, runs.seed + index) for point, index in wanted]
        return [
            pair
            for pair in pairs
            if pair not in self._failures and name_of(runs.identities[pair[0]], pair[1]) not in finished
        ]

    def _by_rule(self, rule: Precision, finished: set[str]) -> list[tuple[int, int]]:
        """The next replications of every point at which the rule has not stopped. A shard has whole points."""
        runs = self._sweep._runs
        mine = [point for point in range(len(runs.points)) if self._is_mine(point)]
        names = {point: runs.names(point) for point in mine}
        fresh = {name for of in names.values() for name in of if name in finished and name not in self._measured}
        self._measure(fresh, rule)
        failed = {point for point, _ in self._failures}
        prefixes = {point: prefix_of(of, self._measured) for point, of in names.items() if point not in failed}
        undecided = {point: found for point, found in prefixes.items() if rule.enough(found) is None}
        share = math.ceil(PER_WORKER * self._workers / max(len(undecided), 1))
        wanted = []
        for point, found in undecided.items():
            more = max(rule.least - len(found), math.ceil(len(found) / AHEAD), share)
            wanted += [(point, index) for index in range(len(found), min(len(found) + more, rule.at_most))]
        return wanted

    def _measure(self, names: set[str], rule: Precision) -> None:
        """Read the metric of these runs."""
        if names and (found := self._parts.load(names)) is not None:
            try:
                self._measured |= metric_of(found, rule.metric)
            except NoSweep as error:
                raise RunError(str(error)) from None

    def _place(self, point: int, seed: int) -> str:
        """The name of a run in messages."""
        values = ", ".join(f"{key} = {shown(value)}" for key, value in self._sweep.points[point].items())
        return f"{values}, seed {seed}" if values else f"seed {seed}"

    def _is_mine(self, at: int) -> bool:
        return self._shard is None or at % self._shard[1] == self._shard[0] % self._shard[1]

    def _simulate(self, wave: Sequence[tuple[int, int]], progress: Progress | None) -> None:
        sweep = self._sweep
        runs: dict[Key, Run] = {}
        pairs: dict[Key, tuple[int, int]] = {}
        for point, seed in wave:
            name, scenario = name_of(sweep._runs.identities[point], seed), sweep.scenario_at(point)
            # Equal runs of two points are one.
            key = Key(name, (), (), (), seed, None)
            runs[key] = SweepRun(scenario, seed, None, self._place(point, seed), name, self._folder)
            pairs[key] = (point, seed)
        with closing(execute(runs, self._executor(), progress=progress)) as finished:
            for key, document in finished:
                if (failure := document.get("failure")) is not None:
                    self._failures[pairs[key]] = failure
                else:
                    self._simulating_s += document["wall_s"]

    def _count(self, elapsed: float | None = None) -> SweepResult:
        """Write `sweep.json` with what the folder has. Other processes write it too: the last one must count all."""
        path = os.path.join(self._folder, NAME)
        finished = -1
        for _ in range(RECOUNTS):
            count, complete = self._finished()
            if count == finished:
                break
            finished = count
            document = self._sweep._document(count, complete=complete)
            if elapsed is not None:
                document["cost"] = {
                    "wall_s": elapsed,
                    "workers": self._workers,
                    "simulating_s": self._simulating_s,
                    "share": self._simulating_s / (elapsed * self._workers) if elapsed > 0.0 else 0.0,
                }
            if self._verified:
                document["verified"] = self._verified
            write_json(path, document)
        return SweepResult(self._folder, document, self._sweep._runs)

    def _finished(self) -> tuple[int, bool]:
        """Number of runs of the sweep that are there, and whether that is all."""
        runs = self._sweep._runs
        there = self._parts.finished()
        rule = self._sweep.replications
        if not isinstance(rule, Precision):
            counts = [sum(name in there for name in runs.names(point)) for point in range(len(runs.points))]
            return sum(counts), all(count == rule for count in counts)
        names = [runs.names(point) for point in range(len(runs.points))]
        fresh = {name for of in names for name in of if name in there and name not in self._measured}
        self._measure(fresh, rule)
        total, complete = 0, True
        for of in names:
            prefix = prefix_of(of, self._measured)
            enough = rule.enough(prefix)
            total += enough or len(prefix)
            complete = complete and enough is not None
        return total, complete


def told(result: SweepResult) -> str:
    """How many runs are there, for people."""
    counts = result.document["counts"]
    of = "" if counts["runs"] is None else f" of {counts['runs']}"
    return f"{counts['finished']}{of} run{'' if counts['finished'] == 1 and not of else 's'} of the sweep are in the folder"
