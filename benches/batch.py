"""Measure what `cloud.batch` saves, and where it errs: processor time and stalls of three scenes, packet by packet and in batches.

`python benches/batch.py [HOURS]`; by default a day of twenty homes, which takes some minutes.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import hopcast

if TYPE_CHECKING:
    from hopcast.types import Cloud, Nodes, Radio

RADIO: Radio = {
    "standard": "802.11a",
    "data_rate": "36 Mb/s",
    "rts_threshold": "off",
    "propagation": {"model": "range", "receive": "25 m", "carrier_sense": "55 m"},
}


def line(name: str, scenario: hopcast.Scenario, batches: tuple[int, ...]) -> None:
    """Print a row for each size of batches."""
    for batch in batches:
        start = time.process_time()
        totals = hopcast.run(scenario.set("cloud.batch", batch), seed=9001, threads=1).json()["cloud"]["totals"]
        took = time.process_time() - start
        print(f"{name:28} {batch:5} {took:8.2f} {totals['played_s']:10.0f} {totals['stalled_s']:10.1f}", flush=True)


def homes(name: str, seconds: float, node: Nodes, cloud: Cloud) -> hopcast.Scenario:
    """A scenario with a cloud of homes."""
    return hopcast.Scenario(name=name, duration=seconds, seed=1, radio=RADIO, nodes=[node], cloud=cloud)


def main() -> None:
    """Print the table."""
    hours = float(sys.argv[1]) if len(sys.argv) > 1 else 24.0
    print(f"{'':28} {'batch':>5} {'CPU, s':>8} {'played, s':>10} {'stalled, s':>10}")
    pair = homes(
        "four streams over a link",
        700,
        {"name": "home", "count": 2, "placement": {"shape": "line", "spacing": "20 m"}},
        {
            "clips": [{"name": "film", "count": 4, "rate": "4 Mb/s", "length": "300 s", "at": ["home0"]}],
            "requests": [{"from": "home1", "clip": f"film{n}", "start": f"{60 + 5 * n} s"} for n in range(4)],
        },
    )
    line("four streams over a link", pair, (1, 8, 16, 32))
    # It needs 1.12 of the time.
    string = homes(
        "one stream over three hops",
        200,
        {"name": "home", "count": 4, "placement": {"shape": "line", "spacing": "15 m"}},
        {
            "admission": "all",
            "clips": [{"name": "film", "rate": "8.2 Mb/s", "length": "60 s", "at": ["home0"]}],
            "requests": [{"from": "home3", "clip": "film", "start": "30 s"}],
        },
    )
    line("one stream over three hops", string, (1, 8, 16, 32))
    # 27 % of the time for each film over 1.5 links, as often as all requests need all of it.
    day = homes(
        "twenty homes",
        3600 * hours,
        {"name": "home", "count": 20, "placement": {"shape": "grid", "columns": 5, "spacing": "10 m"}},
        {
            "placement": "uniform",
            "copies": 1,
            "clips": [{"name": "film", "count": 20, "rate": "4 Mb/s", "length": "2 h"}],
            "requests": [{"from": "home", "clip": "film", "start": "600 s", "every": "37224 s"}],
        },
    )
    line(f"twenty homes, {hours:g} h", day, (1, 16, 32))


if __name__ == "__main__":
    main()
