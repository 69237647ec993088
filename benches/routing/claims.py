"""Compares the papers' claims about the classical scene with the runs of `classical.json`, and writes the tables of the page.

A claim about every pause covers the pauses that were measured.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from classical import (
    BASIC,
    CAUSES,
    CROWD,
    HELLO,
    NUMBERS,
    PAUSES,
    PROFILE,
    PROTOCOLS,
    QUEUE,
    REPAIR,
    SWITCH,
    TC,
    Case,
    Changes,
    read,
)

from hopcast.statistics import ci95, mean

sys.path.insert(0, str(Path(__file__).parents[1]))

from page import interval, written

Run = dict[str, Any]
Metric = Callable[[Run], float]
PUBLISHED = json.loads(Path(__file__).with_name("published.json").read_text(encoding="utf-8"))
NS2 = Path(__file__).with_name("classical-ns2.jsonl")
PAGE = Path(__file__).parents[2] / "docs" / "models" / "routing.md"
CONVERGES = 300.0
"""Seconds: the pause below which DSDV-SQ does not converge (Broch and others)."""
BROKEN = ("retry_limit_short", "retry_limit_long", "arp_timeout", "arp_queue_full")
"""What befalls a packet sent to a neighbour that has gone."""
NAMES = {
    SWITCH: "link-layer notification",
    NUMBERS: "updates by sequence numbers",
    QUEUE: "places in the queue for a route",
    HELLO: "HELLO interval",
    TC: "TC interval",
    "nodes.n.routing.hysteresis": "hysteresis",
    "nodes.n.routing.period": "period",
    BASIC: "basic rate",
    REPAIR: "local repair",
    PROFILE: "rules and parameters",
}


def delivered(run: Run) -> float:
    """Percent of the datagrams."""
    return 100.0 * run["received"] / run["sent"]


def delay(run: Run) -> float:
    """Mean of those that arrived, in milliseconds."""
    return 1e3 * run["delay_s"]


def messages(run: Run) -> float:
    """Routing messages, once for each hop."""
    return run["routing_packets"]


def load(run: Run) -> float:
    """Routing messages for each datagram that arrived: the normalised routing load."""
    return run["routing_packets"] / max(run["received"], 1)


def octets(run: Run) -> float:
    """Of routing messages, with 20 of IP each as ns-2 counts a packet's size, and of headers before data."""
    return run["routing_bytes"] + 20 * run["routing_packets"]


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper, what the runs say to it, and with which numbers."""

    paper: str
    says: str
    verdict: str
    found: str


HOLDS, DIFFERS, UNDECIDED = "holds", "**differs**", "undecided"


class Runs:
    """The runs of all cases, which share places and movement seed by seed."""

    def __init__(self, runs: dict[Case, list[Run]]) -> None:
        self.runs = runs

    def mean(self, case: Case, metric: Metric) -> float:
        """Over the seeds."""
        return mean([metric(run) for run in self.runs[case]])

    def sign(self, one: Case, other: Case, metric: Metric) -> int:
        """Of the 95 % interval of the difference between both, seed by seed as far as both were run; 0 if it has zero in it."""
        pairs = zip(self.runs[one], self.runs[other], strict=False)
        differences = [metric(a) - metric(b) for a, b in pairs]
        half, middle = ci95(differences) or 0.0, mean(differences)
        return (middle > half) - (middle < -half)

    def order(self, pairs: Iterable[tuple[Case, Case]], metric: Metric) -> str:
        """Whether the first of each pair has less."""
        signs = [self.sign(low, high, metric) for low, high in pairs]
        return HOLDS if set(signs) == {-1} else DIFFERS if 1 in signs else UNDECIDED

    def near(self, point: dict[str, Any], values: list[float]) -> tuple[str, str]:
        """Whether the mean lies as near a paper's value as that is known, or its 95 % interval reaches there; and both."""
        half, middle = ci95(values) or 0.0, mean(values)
        off = abs(middle - point["value"]) - point["within"]
        return HOLDS if off <= 0.0 else UNDECIDED if off <= half else DIFFERS, f"{middle:.3g} ± {half:.2g}"

    def pauses(self, packet: int) -> list[float]:
        """Those that all protocols were measured at."""
        return [pause for pause in PAUSES if all(Case(protocol, pause, packet) in self.runs for protocol in PROTOCOLS)]

    def curve(self, protocol: str, packet: int, metric: Metric) -> list[float]:
        """Means at these pauses."""
        return [self.mean(Case(protocol, pause, packet), metric) for pause in self.pauses(packet)]

    def both(self, one: Case, other: Case, metric: Metric, digits: int) -> str:
        """The means of two cases."""
        return ", ".join(f"{case.protocol} {self.mean(case, metric):.{digits}f}" for case in (one, other))


def published(paper: str, metric: str, **which: Any) -> dict[str, Any]:
    """The point of a paper with these fields."""
    points = PUBLISHED[paper]["points"]
    return next(point for point in points if point["metric"] == metric and which.items() <= point.items())


def ratios(above: list[Run], below: list[Run], metric: Metric) -> list[float]:
    """Seed by seed."""
    return [metric(a) / metric(b) for a, b in zip(above, below, strict=False)]


def claims(runs: Runs) -> Iterator[Claim]:
    """Every claim on the order of the protocols, and the numbers that go with them."""
    for says, verdict, found in broch(runs):
        yield Claim("Broch 1998", says, verdict, found)
    for says, verdict, found in perkins(runs):
        yield Claim("Perkins 2001", says, verdict, found)


def broch(runs: Runs) -> Iterator[tuple[str, str, str]]:
    """With 64 B: what is said, the verdict, the numbers."""
    pauses = runs.pauses(64)
    moving = [pause for pause in pauses if pause < CONVERGES]
    for protocol in ("DSR", "AODV"):
        worst = min(runs.curve(protocol, 64, delivered))
        low = published("broch-1998", "delivered_percent", protocol=protocol)["low"]
        yield (
            f"{protocol} delivers over {low} % at every pause",
            HOLDS if worst > low else DIFFERS,
            f"at least {worst:.1f} %",
        )
    behind = [(Case("DSDV", pause), Case(other, pause)) for pause in moving for other in ("DSR", "AODV")]
    most = max(runs.mean(Case("DSDV", pause), delivered) for pause in moving)
    yield (
        "DSDV delivers less than DSR and AODV at pauses below 300 s",
        runs.order(behind, delivered),
        f"DSDV at most {most:.1f} %",
    )
    for pause in (pause for pause in (0.0, CONVERGES) if pause in pauses):
        point = published("broch-1998", "delivered_percent", protocol="DSDV", pause=int(pause))
        verdict, found = runs.near(point, [delivered(run) for run in runs.runs[Case("DSDV", pause)]])
        yield f"DSDV delivers {point['value']} % (± {point['within']}) at a pause of {pause:g} s", verdict, f"{found} %"
    share = 100.0 * runs.mean(Case("DSDV", 0.0), to_nobody)
    yield (
        "nearly all of DSDV's losses went over a broken link (over 90 %)",
        HOLDS if share > 90.0 else DIFFERS,
        f"{share:.1f} % of them at a pause of 0",
    )
    fewest = [(Case("DSR", pause), Case(other, pause)) for pause in pauses for other in ("AODV", "DSDV")]
    fewer = sum(runs.sign(low, high, messages) < 0 for low, high in fewest)
    yield (
        "DSR sends the fewest routing messages at every pause",
        runs.order(fewest, messages),
        f"fewer in {fewer} of {len(fewest)} comparisons",
    )
    point = published("broch-1998", "routing_packets_aodv_over_dsr")
    verdict, found = runs.near(point, ratios(runs.runs[Case("AODV", 0.0)], runs.runs[Case("DSR", 0.0)], messages))
    yield (
        f"AODV sends {point['value']} times (± {point['within']}) DSR's messages at a pause of 0",
        verdict,
        f"{found} times",
    )
    point = published("broch-1998", "routing_packets", protocol="DSDV")
    curve = runs.curve("DSDV", 64, messages)
    yield (
        f"DSDV sends {point['value']} messages (± {point['within']}) at every pause",
        HOLDS if all(abs(found - point["value"]) <= point["within"] for found in curve) else DIFFERS,
        f"{min(curve):.0f} to {max(curve):.0f}",
    )
    for protocol in ("DSR", "AODV"):
        curve = runs.curve(protocol, 64, messages)
        falls = [(Case(protocol, longer), Case(protocol, shorter)) for shorter, longer in pairwise(pauses)]
        yield (
            f"{protocol}'s messages decrease with every longer pause, to a tenth at the end",
            runs.order(falls, messages) if curve[-1] < 0.1 * curve[0] else DIFFERS,
            f"{curve[0]:.0f} to {curve[-1]:.0f}",
        )
    for pause, low, high in ((0.0, "DSR", "AODV"), (pauses[-1], "AODV", "DSR")):
        small, large = Case(low, pause), Case(high, pause)
        yield (
            f"in bytes, including source routes, {high} costs more than {low} at a pause of {pause:g} s",
            runs.order([(small, large)], octets),
            runs.both(large, small, lambda run: octets(run) / 1e6, 2) + " MB",
        )


def to_nobody(run: Run) -> float:
    """The part of a run's losses that went to a neighbour that was not there."""
    drops = run["drops"]
    return sum(drops.get(cause, 0) for cause in BROKEN) / max(sum(drops.values()), 1)


def perkins(runs: Runs) -> Iterator[tuple[str, str, str]]:
    """The same with 512 B."""
    pauses = runs.pauses(512)
    pairs = [(Case("DSR", pause, 512), Case("AODV", pause, 512)) for pause in pauses]
    gap = max(abs(runs.mean(dsr, delivered) - runs.mean(aodv, delivered)) for dsr, aodv in pairs)
    yield (
        "20 sources: AODV and DSR deliver nearly the same (within 5 points)",
        HOLDS if gap <= 5.0 else DIFFERS,
        f"at most {gap:.1f} points apart",
    )
    unlike = sum(runs.sign(dsr, aodv, delay) != 0 for dsr, aodv in pairs)
    yield (
        "20 sources: AODV and DSR have the same delay",
        HOLDS if unlike == 0 else DIFFERS,
        f"different at {unlike} of {len(pauses)} pauses; at 0 {runs.both(*pairs[0], delay, 0)} ms",
    )
    yield (
        "20 sources: DSR has the lower routing load at every pause",
        runs.order(pairs, load),
        f"at 0 {runs.both(*pairs[0], load, 2)}",
    )
    dsr, aodv = (Case(protocol, **CROWD) for protocol in ("DSR", "AODV"))
    for says, pair, metric, digits in (
        ("AODV delivers more than DSR", (dsr, aodv), delivered, 1),
        ("AODV has the shorter delay", (aodv, dsr), delay, 0),
        ("DSR has the lower routing load", (dsr, aodv), load, 2),
    ):
        unit = {delivered: " %", delay: " ms"}.get(metric, "")
        yield (
            f"40 sources, pause 0: {says}",
            runs.order([pair], metric),
            runs.both(*pair, metric, digits) + unit,
        )
    point = published("perkins-2001", "delivered_aodv_over_dsr")
    verdict, found = runs.near(point, ratios(runs.runs[aodv], runs.runs[dsr], delivered))
    yield (
        f"40 sources, pause 0: AODV delivers {point['value']:.2f} times (± {point['within']}) what DSR does",
        verdict,
        f"{found} times",
    )


def row(first: str, runs: list[Run]) -> str:
    """A line of a table: delivered, delay, messages, load."""
    columns = ((delivered, 1), (delay, 0), (messages, 0), (load, 2))
    return (
        f"| {first} | "
        + " | ".join(interval([metric(run) for run in runs], digits) for metric, digits in columns)
        + " |"
    )


def table(head: str, rows: list[str]) -> str:
    """In Markdown."""
    heads = [*head.split(", "), "delivered, %", "delay, ms", "routing messages", "per datagram"]
    return "\n".join(["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads), *rows]) + "\n"


def tables(measured: dict[Case, list[Run]]) -> dict[str, str]:
    """The tables of the page: name and text."""
    runs = Runs(measured)
    made = {
        f"{packet} B": table(
            "protocol, pause (s)",
            [
                row(f"{protocol} | {pause:g}", measured[Case(protocol, pause, packet)])
                for protocol in PROTOCOLS
                for pause in runs.pauses(packet)
            ],
        )
        for packet in (64, 512)
    }
    lines = ["| paper | says | here | found |", "|---|---|---|---|"]
    for claim in claims(runs):
        lines.append(f"| {claim.paper} | {claim.says} | {claim.verdict} | {claim.found} |")
    made["claims"] = "\n".join(lines) + "\n"
    for title, (scene, suspected) in CAUSES.items():
        made[f"causes, {title}"] = table("protocol, changed", list(changed(measured, suspected, scene)))
    made["local repair"] = repaired(measured)
    rows = [
        row(f"{protocol} | {packet} B | {sources} | {pause:g}", of)
        for (protocol, packet, sources, pause), of in ns2_runs().items()
    ]
    made["ns-2"] = table("protocol, packet, sources, pause (s)", rows)
    return made


def changed(measured: dict[Case, list[Run]], suspected: dict[str, Changes], scene: dict[str, Any]) -> Iterator[str]:
    """What each change of a scene brings."""
    for protocol, suspects in suspected.items():
        yield row(f"{protocol} | nothing", measured[Case(protocol, **scene)])
        for changes in suspects:
            case = Case(protocol, **scene, changes=tuple(changes.items()))
            if case not in measured:
                continue
            named = ", ".join(f"{NAMES[key]}: {shown(value)}" for key, value in changes.items())
            yield row(f"{protocol} | {named}", measured[case])


def repaired(measured: dict[Case, list[Run]]) -> str:
    """AODV in each scene that has local repair as a suspect: what it has of AODV with RFC 3561's rule, and of DSR."""
    lines = [
        "| scene | delivered | delay | routing messages | delivered / DSR's | delay / DSR's | routing messages / DSR's |",
        "|---|---|---|---|---|---|---|",
    ]
    for title, (scene, suspected) in CAUSES.items():
        if {REPAIR: "near"} not in suspected.get("AODV", []):
            continue
        near = measured[Case("AODV", **scene, changes=((REPAIR, "near"),))]
        aodv, dsr = (measured[Case(protocol, **scene)] for protocol in ("AODV", "DSR"))
        pairs = ((near, delivered), (near, delay), (near, messages), (dsr, delivered), (dsr, delay), (dsr, messages))
        lines.append(
            f"| {title} | " + " | ".join(interval(ratios(aodv, runs, metric), 2) for runs, metric in pairs) + " |"
        )
    return "\n".join(lines) + "\n"


def shown(value: Any) -> str:
    """A value of the scenario, for people."""
    return {True: "on", False: "off"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def ns2_runs() -> dict[tuple[str, int, int, float], list[Run]]:
    """The runs of ns-2.35 by protocol, packet, sources and pause."""
    kept: dict[tuple[str, int, int, float], list[Run]] = {}
    for line in NS2.read_text(encoding="utf-8").splitlines():
        run = json.loads(line)
        kept.setdefault((run["protocol"], run["packet"], run["sources"], run["pause"]), []).append(run)
    return kept


def main() -> None:
    """Write."""
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), tables(read())), encoding="utf-8")


if __name__ == "__main__":
    main()
