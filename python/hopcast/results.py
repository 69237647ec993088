"""Run a scenario, and read its results."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hopcast import _core
from hopcast.aggregate import aggregate
from hopcast.captures import Captures, arguments_of
from hopcast.errors import Interrupted, RunError

if TYPE_CHECKING:
    import polars
    from matplotlib.figure import Figure

    from hopcast.scenario import Scenario

Document = dict[str, Any]
"""The object of `hopcast run --json`."""
Progress = Callable[[float, float], None]
"""Callback for progress: about ten times a second, hopcast calls it with the simulated seconds that are done and with
their total. If the object has a method `preparation`, hopcast calls that method before the simulation with the number
of set-up steps of links and routes that are done, and with their total.
"""


def run(
    scenario: Scenario,
    *,
    seed: int | None = None,
    replications: int = 1,
    out: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    pcap: bool | Captures = False,
    record: bool = False,
    progress: Progress | None = None,
) -> Result:
    """Simulate a scenario `replications` times with the seeds `seed`, `seed` + 1, …, on `threads` in parallel.

    With `out`, hopcast also writes results to that folder: `run.json`, `flows.parquet`, `nodes.parquet`,
    `series.parquet`, `layout.json` (names and places of the nodes, for drawings), with `cloud` in the scenario `streams.parquet`, with `pcap` a capture for each node or those
    that a `Captures` asks for, and with `record` a recording for each seed (`open_recording`). It replaces those of an earlier run, removes the earlier run's other captures and recordings,
    and leaves other files alone. The result depends on none of `threads`, `out`, `pcap` and `record`.
    Raises `OutputError` before anything runs if `out` can't be written, `RunError` if a run fails, and `Interrupted`
    on Ctrl-C. The latter two carry the finished replications, which are also in `out`.
    """
    if replications < 1:
        raise ValueError(f"replications = {replications}: at least 1 is needed")
    if pcap and out is None:
        raise ValueError("pcap needs out, a folder for the captures")
    if record and out is None:
        raise ValueError("record needs out, a folder for the recordings")
    first = scenario.seed if seed is None else seed
    if not 0 <= first <= 2**64 - replications:
        raise ValueError(f"seed = {first}: the seeds must be from 0 to 2^64 - 1")
    seeds = list(range(first, first + replications))
    threads = available_cores() if threads is None else threads
    if threads < 1:
        raise ValueError(f"threads = {threads}: at least 1 is needed")
    if out is None:
        return _run(scenario, seeds, threads, None, pcap, record, progress)
    from hopcast.output import alone, prepared

    folder = os.fspath(out)
    with prepared(folder), alone(folder):
        return _run(scenario, seeds, threads, folder, pcap, record, progress)


def _run(
    scenario: Scenario,
    seeds: list[int],
    threads: int,
    folder: str | None,
    pcap: bool | Captures,
    record: bool,
    progress: Progress | None,
) -> Result:
    failure: Interrupted | RunError | None = None
    try:
        finished = _core.run(scenario._core_of_a_run(), seeds, threads, folder, arguments_of(pcap), record, progress)
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
    """Number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Result:
    """Measurements of one or more replications of a scenario."""

    def __init__(self, scenario: Scenario, replications: list[_core.RunResult]) -> None:
        self.scenario = scenario
        self._replications = replications
        self._document: dict[str, Any] | None = None
        self._tables: dict[str, polars.DataFrame] = {}

    @property
    def flows(self) -> polars.DataFrame:
        """Table with a row for each flow and replication."""
        return self._table("flows")

    @property
    def nodes(self) -> polars.DataFrame:
        """Table with a row for each node and replication: packets and frames sent, received and dropped, by cause."""
        return self._table("nodes")

    @property
    def series(self) -> polars.DataFrame:
        """Table of series over time: rate, delay, jitter and TCP's windows of each flow, and the queue of each
        node.
        """
        return self._table("series")

    @property
    def streams(self) -> polars.DataFrame:
        """Table with a row for each request in a streaming cloud and replication: who asked for which clip, what became of it, and
        how often the display stopped. Without `cloud` in the scenario it is empty.
        """
        return self._table("streams")

    @property
    def conversations(self) -> polars.DataFrame:
        """Table with a row for each conversation between real nodes: packets, rate, delay, jitter, and losses by cause. Only
        emulations have any (`hopcast.open_run`); of a simulation the table is empty.
        """
        return self._table("conversations")

    @property
    def rtp(self) -> polars.DataFrame:
        """Table with a row for each stream of RTP in a conversation: loss, jitter, pictures and freezes."""
        return self._table("rtp")

    @property
    def conversation_series(self) -> polars.DataFrame:
        """Table of conversations over time: rate, delay, loss and freezes in each interval."""
        return self._table("conversation_series")

    def jitter(self, flow: str, start_s: float, stop_s: float) -> polars.DataFrame:
        """Jitter of a flow over a part of the run, as a row for each replication: `jitter_count`, `jitter_mean_s`,
        `jitter_variance_s2` (of the sample) and `jitter_max_s` of the packets that arrived from `start_s` to
        `stop_s`, each compared with the packet before it. The result is exact if both times are ends of intervals of
        `series`; otherwise it covers the whole intervals between them. Missing values are null.
        """
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
        """The object that `hopcast run --json` prints. With several replications, each number is the mean, and
        `<field>_ci95` next to it is half the width of its 95 % confidence interval.
        """
        if self._document is None:
            self._document = aggregate([replication.to_json() for replication in self._replications])
        return self._document

    def costs(self) -> list[dict[str, Any]]:
        """Cost of each replication: the `cost` of its object."""
        return [json.loads(replication.to_json())["cost"] for replication in self._replications]

    def plot(self, what: str = "goodput") -> Figure:
        """Draw a figure: `"goodput"` or `"delays"` of each flow, or a series over time: `"rate"`, `"delay"`,
        `"jitter"`, `"cwnd"`, `"ssthresh"`, `"srtt"` of each flow, `"queue"` of each node.
        """
        from hopcast import plots

        return plots.plot(self, what)

    def __len__(self) -> int:
        return len(self._replications)

    def __repr__(self) -> str:
        names = ", ".join(f"{flow['name']} {_rate(flow['goodput_bps'])}" for flow in self.json()["flows"])
        count = f"{len(self)} replication{'' if len(self) == 1 else 's'}"
        return f"Result({self._name!r}, {count}: {names})"

    @property
    def _name(self) -> str:
        return self.scenario.name

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
        """Write `run.json`. The extension module has already written the tables and captures."""
        if folder is None:
            return
        from hopcast.output import write_json

        write_json(os.path.join(folder, "run.json"), self.json())


def _rate(bits_per_second: float | None) -> str:
    return "nothing" if bits_per_second is None else f"{bits_per_second / 1e6:.3f} Mb/s"
