"""Measure which share of the workers' time a sweep spends in simulation: on threads of this process, and on a Dask cluster.

`python benches/sweep.py [RUNS [SECONDS [threads | Dask]]]`; by default 300 runs of 1000 s of `examples/string.toml`, each on one core, on both. A
plain loop over some of the seeds comes first, and says how long a run takes. `benches/sweep_sem.py` does the same with SEM and ns-3.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from distributed import LocalCluster

import hopcast
from hopcast.results import available_cores

SCENARIO = hopcast.Scenario.from_toml(Path(__file__).resolve().parents[1] / "examples" / "string.toml")


def line(name: str, wall_s: float, simulating_s: float, workers: int) -> None:
    """Print a row of the table."""
    print(
        f"{name:12} {wall_s:8.2f} {simulating_s:14.2f} {100.0 * simulating_s / (wall_s * workers):7.2f} %", flush=True
    )


@contextmanager
def cluster(workers: int) -> Iterator[str]:
    """Start a Dask cluster of this machine, and yield the address of its scheduler."""
    with LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None) as started:
        yield started.scheduler_address


ENGINES = {"threads": lambda _: nullcontext(), "Dask": cluster}


def main() -> None:
    """Print a row for the loop, the threads and the cluster."""
    runs, seconds = (int(text) for text in (*sys.argv[1:3], *("300", "1000")[len(sys.argv[1:3]) :]))
    engines = sys.argv[3:] or ["threads", "Dask"]
    cores, scenario = available_cores(), SCENARIO.set("duration", seconds)
    sweep = hopcast.Sweep(scenario, replications=runs)
    print(f"{runs} runs, {cores} cores\n\n{'':12} {'wall, s':>8} {'simulating, s':>14} {'share':>9}")
    start, few = time.perf_counter(), min(max(runs // 10, 1), 40)
    for seed in range(few):
        hopcast.run(scenario, seed=1 + seed, threads=1)
    loop = time.perf_counter() - start
    line(f"loop of {few}", loop, loop, 1)
    for engine in engines:
        with tempfile.TemporaryDirectory() as folder, ENGINES[engine](cores) as scheduler:
            cost = sweep.run(folder, scheduler=scheduler).document["cost"]
            line(engine, cost["wall_s"], cost["simulating_s"], cost["workers"])


if __name__ == "__main__":
    main()
