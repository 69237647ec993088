"""Running a scenario, and what comes of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hopcast import _core
from hopcast.aggregate import aggregate
from hopcast.errors import Interrupted

if TYPE_CHECKING:
    import polars
    from matplotlib.figure import Figure

    from hopcast.scenario import Scenario

Progress = Callable[[float, float], None]
"""Told about ten times a second how many simulated seconds are done, and of how many."""


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
    `series.parquet` and, with `pcap`, a capture for each node. The result depends neither on `threads` nor on
    `out`. Raises `OutputError` before anything runs where `out` can't be written, `RunError` where a run fails, and
    `Interrupted`, which carries what had finished, on Ctrl-C.
    """
    if replications < 1:
        raise ValueError(f"replications = {replications}: at least 1 is needed")
    if pcap and out is None:
        raise ValueError("pcap needs out, a folder for the captures")
    first = scenario.seed if seed is None else seed
    seeds = list(range(first, first + replications))
    folder = None if out is None else os.fspath(out)
    if folder is not None:
        from hopcast.output import prepare

        prepare(folder)
    try:
        finished = _core.run(scenario._core, seeds, threads or available_cores(), folder, pcap, progress)
    except Interrupted as interrupted:
        if interrupted.finished:
            interrupted.result = Result(scenario, interrupted.finished)
            interrupted.result._write(folder)
        raise
    result = Result(scenario, finished)
    result._write(folder)
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
        """What was recorded over time: congestion windows, rates, queues."""
        return self._table("series")

    def json(self) -> dict[str, Any]:
        """The object that `hopcast run --json` prints. Beyond one replication, each number is the mean and
        `<field>_ci95`, half the width of its 95 % confidence interval, stands beside it."""
        if self._document is None:
            self._document = aggregate([replication.to_json() for replication in self._replications])
        return self._document

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
        from hopcast.report.html import flow_table

        return flow_table(self.json())

    def _table(self, name: str) -> polars.DataFrame:
        import polars

        tables = [polars.DataFrame(getattr(replication, name)()) for replication in self._replications]
        return polars.concat(tables, rechunk=False)

    def _write(self, folder: str | None) -> None:
        """Write `run.json`. The tables and captures are there already, written by the extension module."""
        if folder is None:
            return
        from hopcast.output import write_json

        write_json(os.path.join(folder, "run.json"), self.json())


def _rate(bits_per_second: float | None) -> str:
    return "nothing" if bits_per_second is None else f"{bits_per_second / 1e6:.3f} Mb/s"
