"""The classical scene in ns-2.35, the successor of the simulator that the papers used: prints a line of JSON for each run.

`ns2.py > classical-ns2.jsonl` is what `claims.py` reads.
Movement is drawn here, by the rules of the papers; sources, destinations and starts are those of `classical.py`.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from classical import HEIGHT, NODES, SECONDS, SPEED, WIDTH, streams

HERE = Path(__file__).parent


def write_scene(folder: Path, pause: float, seed: int, sources: int) -> None:
    """Movement in the format of ns-2's `setdest`, and the flows."""
    lines = [line for node in range(NODES) for line in _way(node, pause, seed)]
    (folder / "movement.tcl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    flows = [f"{source} {sink} {start:.6f}" for source, sink, start in streams(sources)]
    (folder / "flows.txt").write_text("\n".join(flows) + "\n", encoding="utf-8")


def _way(node: int, pause: float, seed: int) -> Iterator[str]:
    draws = random.Random(f"way of {node} in {seed}")
    # ns-2 accepts no place on the edge of its field.
    x, y = draws.uniform(1.0, WIDTH), draws.uniform(1.0, HEIGHT)
    yield from (f"$node_({node}) set {axis} {value:.6f}" for axis, value in (("X_", x), ("Y_", y), ("Z_", 0.0)))
    now = pause
    while now < SECONDS:
        to_x, to_y, speed = draws.uniform(1.0, WIDTH), draws.uniform(1.0, HEIGHT), draws.uniform(1e-3, SPEED)
        yield f'$ns_ at {now:.6f} "$node_({node}) setdest {to_x:.6f} {to_y:.6f} {speed:.6f}"'
        now += math.dist((x, y), (to_x, to_y)) / speed + pause
        x, y = to_x, to_y


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--protocols", nargs="+", default=["AODV", "DSR", "DSDV"])
    parser.add_argument("--pauses", type=float, nargs="+", default=[0.0])
    parser.add_argument("--packet", type=int, default=64, help="octets")
    parser.add_argument("--sources", type=int, default=20)
    parser.add_argument("--rate", type=float, default=4.0, help="datagrams of a source in a second")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument(
        "--patience", type=float, default=1800.0, help="seconds; ns-2's DSDV may circle in processUpdate for ever"
    )
    given = parser.parse_args()
    for pause in given.pauses:
        for seed in given.seeds:
            with tempfile.TemporaryDirectory() as folder:
                write_scene(Path(folder), pause, seed, given.sources)
                for protocol in given.protocols:
                    options = {
                        "seed": seed,
                        "scene": folder,
                        "stop": SECONDS,
                        "routing": protocol,
                        "payload": given.packet,
                        "interval": 1.0 / given.rate,
                    }
                    arguments = [text for key, value in options.items() for text in (f"-{key}", str(value))]
                    program = ["ns", str(HERE / "classical.tcl"), *arguments]
                    try:
                        done = subprocess.run(
                            program, check=True, capture_output=True, text=True, timeout=given.patience
                        )
                    except subprocess.TimeoutExpired:
                        print(f"{protocol}, seed {seed}: given up", file=sys.stderr)
                        continue
                    report = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))
                    case = {"protocol": protocol, "pause": pause, "packet": given.packet, "sources": given.sources}
                    print(json.dumps(case | {"seed": seed} | report), flush=True)


if __name__ == "__main__":
    main()
