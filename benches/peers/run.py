#!/usr/bin/env python3
"""Run one scenario in ns-2, ns-3 and hopcast in turn, several rounds, and compare user CPU per transmitted frame.

The tools run one after the other within a round, so that what disturbs the machine disturbs all of them alike; ratios are
taken round by round. For stations that aggregate, cost is compared per packet that arrives: ns-3 counts each MPDU of an A-MPDU
as a frame, hopcast the A-MPDU. Each tool simulates as long as it takes to use about `--seconds` of CPU: cost is compared per frame,
and start-up must not show. The last column compares it per simulated second, which also counts how many frames a tool needs
for the same work. Nodes that roam have ever other routes to find, and do so for the same time in each tool. Goodput is
printed to show that they simulate the same thing; `validate.py` compares it.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from roam import LATEST, write_scene
from tools import HERE, Absent, Hopcast, Ns2, Ns3, Options, Report, RunFailed, cell_scenario


@dataclass(frozen=True)
class Given:
    """What the three tools are given for a run."""

    scenario: Path
    """hopcast's."""
    options: Options
    """Of the peers' program."""


@dataclass(frozen=True)
class Scenario:
    """One scenario in the three tools; the flows start at `start` seconds."""

    program: str
    give: Callable[[Path, float], Given]
    """For a folder to write in and a duration in seconds."""
    start: float
    stop: float | None = None
    """Where what is to be done changes as time goes on: how long it is simulated in each tool, in seconds."""
    packet: int | None = None
    """Payload of a packet in bytes, where cost is compared per packet that arrives and not per frame."""


def _file(program: str, options: Options, start: float, packet: int | None = None) -> Scenario:
    given = Given(HERE / f"{program}.toml", options)
    return Scenario(program, lambda directory, duration: given, start, packet=packet)


def _cell(program: str, stations: int, options: Options | None = None, packet: int | None = None) -> Scenario:
    def give(directory: Path, duration: float) -> Given:
        return Given(cell_scenario(program, stations, directory), {"stations": stations, **(options or {})})

    return Scenario(program, give, 1, packet=packet)


def _roam(nodes: int) -> Scenario:
    def give(directory: Path, duration: float) -> Given:
        scene = write_scene(nodes, duration, directory)
        return Given(scene / "roam.toml", {"nodes": nodes, "scene": str(scene)})

    return Scenario("roam", give, LATEST, stop=100.0)


SCENARIOS = {
    "string": _file("string", {"hops": 7, "window": 32, "rts": 0}, 10),
    "cell-20": _cell("cell", 20),
    "cell-50": _cell("cell", 50),
    "grid": _file("grid", {"side": 6, "window": 8, "rts": 1}, 10),
    "house": _file("house", {}, 20),
    "roam-100": _roam(100),
    # ns-3.37 aborts where several long A-MPDUs without RTS collide.
    "he-20": _cell("ht_cell", 20, {"rts-threshold": 0}, packet=1472),
    "vht-string": _file("ht_string", {"hops": 7}, 1, packet=1448),
}

Runner = Callable[[float], Report]
"""Runs one scenario in one tool until this simulated second."""


def main() -> int:
    """Run what is asked for and print a table each; 1 if no tool could run."""
    arguments = parse_arguments()
    names = list(SCENARIOS) if arguments.scenario == "all" else [arguments.scenario]
    ran = False
    with tempfile.TemporaryDirectory() as directory:
        for name in names:
            ran = compare(name, arguments, Path(directory)) or ran
    return 0 if ran else 1


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenario", choices=(*SCENARIOS, "all"), default="all")
    parser.add_argument("--rounds", type=int, help="default 5; 2 with --quick")
    parser.add_argument("--seconds", type=float, help="CPU of one run, about; default 6; 1.5 with --quick")
    parser.add_argument("--quick", action="store_true", help="few short rounds: start-up may show")
    parser.add_argument("--build", type=Path, default=HERE / "build", help="where the ns-3 programs are built")
    parser.add_argument("--hopcast", help="hopcast's executable")
    arguments = parser.parse_args()
    arguments.rounds = arguments.rounds or (2 if arguments.quick else 5)
    arguments.seconds = arguments.seconds or (1.5 if arguments.quick else 6.0)
    return arguments


def compare(name: str, arguments: argparse.Namespace, directory: Path) -> bool:
    """Run the rounds of one scenario and print its table; whether any tool ran."""
    scenario = SCENARIOS[name]
    long = f"about {arguments.seconds:g} s of CPU" if scenario.stop is None else f"{scenario.stop:g} simulated seconds"
    print(f"\n{name}: {arguments.rounds} rounds, {long} a run", flush=True)
    runners: dict[str, tuple[Runner, float]] = {}
    for tool, runner in open_runners(scenario, arguments, directory).items():
        try:
            runners[tool] = runner, scenario.stop or calibrate(runner, scenario.start, arguments.seconds)
        except RunFailed as failed:
            print(f"  {tool} is left out: {failed}")
    reports: dict[str, list[Report]] = {tool: [] for tool in runners}
    for _ in range(arguments.rounds):
        for tool, (runner, duration) in list(runners.items()):
            try:
                reports[tool].append(runner(duration))
            except RunFailed as failed:
                print(f"  {tool} is left out: {failed}")
                del runners[tool], reports[tool]
    print_table(reports, scenario)
    return bool(reports)


def open_runners(scenario: Scenario, arguments: argparse.Namespace, directory: Path) -> dict[str, Runner]:
    """A runner for each tool on this machine, in the order of a round; says which ones are absent."""

    def peer_options(duration: float) -> Options:
        return {**scenario.give(directory, duration).options, "start": scenario.start, "stop": duration}

    def ns2() -> Runner:
        tool = Ns2()
        if not (HERE / "ns2" / f"{scenario.program}.tcl").exists():
            raise Absent("it has no radios of 802.11n, 802.11ac or 802.11ax")
        frames: dict[float, int | None] = {}

        def run(duration: float) -> Report:
            options = peer_options(duration)
            # Counting frames slows ns-2 down. The same seed gives the same run, so that one count serves all rounds.
            if duration not in frames:
                frames[duration] = tool.run(scenario.program, {**options, "count": 1}).frames_sent
            return replace(tool.run(scenario.program, options), frames_sent=frames[duration])

        return run

    def ns3() -> Runner:
        tool = Ns3(arguments.build)
        return lambda duration: tool.run(scenario.program, peer_options(duration))

    def hopcast() -> Runner:
        tool = Hopcast(arguments.hopcast)

        def run(duration: float) -> Report:
            given = scenario.give(directory, duration)
            return tool.run(given.scenario, {"duration": f"{duration:g} s"}, seed=1)

        return run

    runners = {}
    for name, opener in ((Ns2.name, ns2), (Ns3.name, ns3), (Hopcast.name, hopcast)):
        try:
            runners[name] = opener()
        except (Absent, RunFailed) as reason:
            print(f"  {name} is left out: {reason}")
    return runners


def calibrate(runner: Runner, start: float, seconds: float) -> float:
    """Simulated duration that costs about `seconds` of user CPU, from two short runs of growing length."""
    base = runner(start + 0.01)
    span = 1.0
    while True:
        cost = runner(start + span).user_s - base.user_s
        if cost >= 0.1 * seconds:
            return float(round(start + max(1.0, span * seconds / cost)))
        # At most tenfold, because the resolution of a short run's cost is coarse.
        span *= min(10.0, max(2.0, 0.2 * seconds / max(cost, 0.001)))


def print_table(reports: dict[str, list[Report]], scenario: Scenario) -> None:
    """One line a tool: medians over the rounds, and the ratio to hopcast round by round."""
    unit = "frame" if scenario.packet is None else "packet"
    header = ("tool", "simulated s", "goodput Mb/s", f"{unit}s", f"{unit}s/s sim.", "user s", f"us/{unit}", "(min–max)")

    def count(report: Report) -> float:
        """Frames that were sent, or packets that arrived between the start of the flows and the end."""
        if scenario.packet is None:
            return report.frames_sent or math.nan
        return report.total_goodput_bps * (report.simulated_s - scenario.start) / (8 * scenario.packet)

    print("  " + line((*header, "x hopcast", "(min–max)", "x per second")))
    hopcast = reports.get(Hopcast.name, [])
    for tool, rounds in reports.items():
        costs = [1e6 * report.user_s / count(report) for report in rounds]
        ratios = [cost * count(own) / (1e6 * own.user_s) for cost, own in zip(costs, hopcast, strict=False)]
        speeds = [
            report.user_s / report.simulated_s * own.simulated_s / own.user_s
            for report, own in zip(rounds, hopcast, strict=False)
        ]
        first = rounds[0]
        counted = count(first)
        cells = (
            tool,
            f"{first.simulated_s:g}",
            f"{first.total_goodput_bps / 1e6:.3f}",
            f"{counted:.0f}",
            f"{counted / first.simulated_s:.0f}",
            f"{statistics.median(report.user_s for report in rounds):.2f}",
            f"{statistics.median(costs):.3f}",
            extremes(costs),
            f"{statistics.median(ratios):.1f}" if ratios else "–",
            extremes(ratios) if ratios else "–",
            f"{statistics.median(speeds):.1f}" if speeds else "–",
        )
        print("  " + line(cells))


def extremes(values: Sequence[float]) -> str:
    """Smallest and largest."""
    return f"({min(values):.3g}–{max(values):.3g})"


def line(cells: Sequence[str]) -> str:
    """Cells in columns, the tool's name first."""
    return cells[0].ljust(10) + "".join(cell.rjust(15) for cell in cells[1:])


if __name__ == "__main__":
    sys.exit(main())
