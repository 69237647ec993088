"""Measure which share of the cores' time a campaign of SEM, the execution manager for ns-3, spends in simulation.

    python benches/sweep_sem.py PROGRAM [RUNS [SECONDS]]

PROGRAM is `benches/peers/build/string` (`make -C benches/peers/ns3 BUILD=../build ../build/string`; it needs the Debian package `libns3-dev`), RUNS by
default 300, and SECONDS of simulated time 30. Runs in an environment that has SEM (`pip install sem setuptools`), which hopcast does not need.

SEM expects a folder of ns-3. The one that this program makes has a build script that builds nothing, and names PROGRAM. The first row is that of a
loop that starts the program again and again. Two shares are printed: of the processes, as SEM takes their times, and of their simulations alone, as
they tell them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import sem  # type: ignore[import-not-found,unused-ignore]


def line(name: str, wall_s: float, processes_s: float, simulating_s: float, workers: int) -> None:
    """Print a row of the table."""
    shares = [100.0 * time_s / (wall_s * workers) for time_s in (processes_s, simulating_s)]
    print(f"{name:12} {wall_s:8.2f} {processes_s:14.2f} {shares[0]:7.2f} % {shares[1]:13.2f} %", flush=True)


def main() -> None:
    """Print a row for the loop and for SEM."""
    program = Path(sys.argv[1]).resolve()
    runs, seconds = (int(text) for text in (*sys.argv[2:4], *("300", "30")[len(sys.argv[2:4]) :]))
    cores = len(os.sched_getaffinity(0))
    print(
        f"{runs} runs, {cores} cores\n\n{'':12} {'wall, s':>8} {'in processes, s':>14} {'share':>9} {'simulating':>15}"
    )
    start, few, simulating = time.perf_counter(), max(runs // 10, 1), 0.0
    for seed in range(1, few + 1):
        told = subprocess.run([program, f"--seed={seed}", f"--stop={seconds}"], capture_output=True, check=True)
        simulating += json.loads(told.stdout)["wall_s"]
    loop = time.perf_counter() - start
    line(f"loop of {few}", loop, loop, simulating, 1)
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder, "ns-3")
        tree.mkdir()
        (tree / "ns3").write_text("print('nothing to build')\n")
        (tree / f".lock-ns3_{sys.platform}_build").write_text(f"ns3_runnable_programs = [{str(program)!r}]\n")
        campaign = sem.CampaignManager.new(
            str(tree),
            program.name,
            str(Path(folder, "campaign")),
            runner_type="ParallelRunner",
            check_repo=False,
            skip_configuration=True,
            max_parallel_processes=cores,
        )
        # SEM names all options, and takes the default of this one for a number with a fraction.
        asked = [{"seed": seed, "stop": seconds, "control-rate": 1, "RngRun": 1} for seed in range(1, runs + 1)]
        start = time.perf_counter()
        campaign.run_simulations(asked, show_progress=False)
        wall = time.perf_counter() - start
        processes, simulating = 0.0, 0.0
        for result in campaign.db.get_results():
            processes += result["meta"]["elapsed_time"]
            told = Path(campaign.db.get_result_files(result)["stdout"]).read_text()
            simulating += json.loads(told)["wall_s"]
    line("SEM", wall, processes, simulating, cores)


if __name__ == "__main__":
    main()
