"""Running a scenario, and what comes of it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hopcast import _core
from hopcast.aggregate import aggregate
from hopcast.errors import Interrupted, RunError

if TYPE_CHECKING:
    import polars
    from matplotlib.figure import Figure

    from hopcast.scenario import Scenario

Progress = Callable[[float, float], None]
"""Told about ten times a second how many simulated seconds are done, and of how many. If it is an object with a method
`preparation`, that is told instead, before anything is simulated, how many steps of setting up links and routes are done, and
of how many."""


def run(
    scenario: Scenario,
    *,
    seed: int | None = None,
    replications: int = 1,
    out: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    pcap: bool = False,
    progress: Progress | None = None,
) -> Result:
    """Simulate a scenario, `replications` times with the seeds `seed`, `seed` + 1, …, side by side on `threads`.

    With `out`, everything is also written to that folder: `run.json`, `flows.parquet`, `nodes.parquet`,
    `series.parquet` and, with `pcap`, a capture for each node. Those of an earlier run are replaced, and its other
    captures removed; files of others are left alone. The result depends neither on `threads` nor on `out`. Raises
    `OutputError` before anything runs where `out` can't be written, `RunError` where a run fails, and `Interrupted` on
    Ctrl-C. The latter two carry what had finished, which is also in `out`.
    """
    if replications < 1:
        raise ValueError(f"replications = {replications}: at least 1 is needed")
    if pcap and out is None:
        raise ValueError("pcap needs out, a folder for the captures")
    first = scenario.seed if seed is None else seed
    if not 0 <= first <= 2**64 - replications:
        raise ValueError(f"seed = {first}: the seeds must be from 0 to 2^64 - 1")
    seeds = list(range(first, first + replications))
    threads = available_cores() if threads is None else threads
    if threads < 1:
        raise ValueError(f"threads = {threads}: at least 1 is needed")
    if out is None:
        return _run(scenario, seeds, threads, None, pcap, progress)
    from hopcast.output import prepared

    folder = os.fspath(out)
    with prepared(folder):
        return _run(scenario, seeds, threads, folder, pcap, progress)


def _run(
    scenario: Scenario, seeds: list[int], threads: int, folder: str | None, pcap: bool, progress: Progress | None
) -> Result:
    failure: Interrupted | RunError | None = None
    try:
        finished = _core.run(scenario._core_of_a_run(), seeds, threads, folder, pcap, progress)
    except (Interrupted, RunError) as stopped:
        finished, failure = stopped.finished, stopped
        if not finished:
            raise
    result = Result(scenario, finished)
    try:
        result._write(folder)
    except KeyboardInterrupt:
        result._write(folder)
        failure = failure or Interrupted(finished, len(seeds))
    except RunError as error:
        message = str(error) if failure is None else f"{failure}; {error}"
        failure = RunError(message, finished, len(seeds))
    if failure is not None:
        failure.result = result
        raise failure
    return result


def available_cores() -> int:
    """Cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Result:
    """What one or more replications of a scenario measured."""

    def __init__(self, scenario: Scenario, replications: list[_core.RunResult]) -> None:
        self.scenario = scenario
        self._replications = replications
        self._document: dict[str, Any] | None = None
        self._tables: dict[str, polars.DataFrame] = {}

    @property
    def flows(self) -> polars.DataFrame:
        """A row for each flow and replication."""
        return self._table("flows")

    @property
    def nodes(self) -> polars.DataFrame:
        """A row for each node and replication: what it sent, received and dropped, by cause."""
        return self._table("nodes")

    @property
    def series(self) -> polars.DataFrame:
        """What was recorded over time: of each flow rate, delay, jitter and TCP's windows, of each node its queue."""
        return self._table("series")

    def jitter(self, flow: str, start_s: float, stop_s: float) -> polars.DataFrame:
        """The jitter of a flow over a part of the run, a row for each replication: `jitter_count`, `jitter_mean_s`,
        `jitter_variance_s2` (of the sample) and `jitter_max_s` of the packets that arrived from `start_s` to `stop_s`,
        each against the one before it. Exact where both are ends of intervals of `series`; otherwise of all intervals
        within. What there is none of is null."""
        import polars

        rows = self.series.filter(polars.col("flow") == flow)
        if rows.is_empty():
            raise ValueError(f"flow={flow!r}: the scenario has no such flow, or ended before its first interval")
        interval = float(rows["time_s"].min())  # type: ignore[arg-type]
        slack = 1e-6 * interval
        time, count = polars.col("time_s"), polars.col("jitter_count")
        within = (time - interval >= start_s - slack) & (time <= stop_s + slack) & (count > 0)
        mean = (polars.col("jitter_mean_s") * count).sum() / count.sum()
        squares = polars.col("jitter_variance_s2") * (count - 1.0) + count * (polars.col("jitter_mean_s") - mean) ** 2
        measured = (
            rows.filter(within)
            .group_by("seed")
            .agg(
                count.sum(),
                mean.alias("jitter_mean_s"),
                polars.when(count.sum() > 1).then(squares.sum() / (count.sum() - 1.0)).alias("jitter_variance_s2"),
                polars.col("jitter_s").max().alias("jitter_max_s"),
            )
        )
        seeds = rows.select("seed").unique(maintain_order=True)
        joined = seeds.join(measured, on="seed", how="left", maintain_order="left")
        return joined.with_columns(polars.col("jitter_count").fill_null(0))

    def json(self) -> dict[str, Any]:
        """The object that `hopcast run --json` prints. Beyond one replication, each number is the mean and
        `<field>_ci95`, half the width of its 95 % confidence interval, stands beside it."""
        if self._document is None:
            self._document = aggregate([replication.to_json() for replication in self._replications])
        return self._document

    def costs(self) -> list[dict[str, Any]]:
        """What each replication took: the `cost` of its own object."""
        return [json.loads(replication.to_json())["cost"] for replication in self._replications]

    def plot(self, what: str = "goodput") -> Figure:
        """A figure: `"goodput"` or `"delays"` of each flow, or what was recorded over time: `"rate"`, `"delay"`,
        `"jitter"`, `"cwnd"`, `"ssthresh"`, `"srtt"` of each flow, `"queue"` of each node."""
        from hopcast import plots

        return plots.plot(self, what)

    def __len__(self) -> int:
        return len(self._replications)

    def __repr__(self) -> str:
        names = ", ".join(f"{flow['name']} {_rate(flow['goodput_bps'])}" for flow in self.json()["flows"])
        return f"Result({self.scenario.name!r}, {len(self)} replications: {names})"

    def _repr_html_(self) -> str:
        from hopcast.tables import flow_table

        return flow_table(self.json())

    def _table(self, name: str) -> polars.DataFrame:
        import polars

        if name not in self._tables:
            tables = [polars.DataFrame(getattr(replication, name)()) for replication in self._replications]
            self._tables[name] = polars.concat(tables, rechunk=False)
        # One of the caller's own, with the same columns, so that what is done to it stays there.
        return self._tables[name].clone()

    def _write(self, folder: str | None) -> None:
        """Write `run.json`. The tables and captures are there already, written by the extension module."""
        if folder is None:
            return
        from hopcast.output import write_json

        write_json(os.path.join(folder, "run.json"), self.json())


def _rate(bits_per_second: float | None) -> str:
    return "nothing" if bits_per_second is None else f"{bits_per_second / 1e6:.3f} Mb/s"
