"""What decides how much of a film gets lost next to a download? SALib computes Sobol' indices.

Run:      pip install hopcast salib && python sensitivity.py
Look at:  the total index ST of each parameter: the share of the variance that would vanish if the parameter were known. Retries hardly count
          on a link this short.
Change:   RANGES, or the metric.

The points of the sample are lists side by side (`zip`) of one sweep, which keeps its runs in the folder `sample`.
"""

import sys
from pathlib import Path

from SALib.analyze import sobol as analyze
from SALib.sample import sobol

import hopcast

SCENARIO = hopcast.Scenario.from_toml(Path(__file__).with_name("film.toml"))
RANGES = {
    "flows.download.transport.window": (2, 64),
    "radio.queue.packets": (10, 100),
    "radio.retry_limit.short": (3, 10),
}
SEEDS = 2


def indices(size: int, folder: str | Path) -> dict[str, tuple[float, float]]:
    """First-order and total index of each parameter for the film's loss, from `size` (a power of two) times (parameters + 2) points."""
    problem = {"num_vars": len(RANGES), "names": list(RANGES), "bounds": [list(bounds) for bounds in RANGES.values()]}
    points = sobol.sample(problem, size, calc_second_order=False, seed=1)
    # All three are whole numbers.
    lists = {key: [round(value) for value in points[:, at]] for at, key in enumerate(RANGES)}
    flows = hopcast.Sweep(SCENARIO, zip=lists, replications=SEEDS).run(folder).flows.filter(name="film")
    # Rows have the order of the points, then of the seeds.
    losses = flows["loss_ratio"].to_numpy().reshape(len(points), SEEDS).mean(axis=1)
    found = analyze.analyze(problem, losses, calc_second_order=False, seed=1)
    return {key: (float(found["S1"][at]), float(found["ST"][at])) for at, key in enumerate(RANGES)}


if __name__ == "__main__":
    for key, (first, total) in indices(int(sys.argv[1]) if len(sys.argv) > 1 else 64, "sample").items():
        print(f"{key:35} S1 {first:5.2f}   ST {total:5.2f}")
