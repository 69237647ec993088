"""What the runs of `dumbbell.json` say, for the page and its figures."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from statistics import quantiles
from typing import Any

from dumbbell import (
    CHANGES,
    DELAYED,
    HEADERS,
    LOSSES,
    NARROW,
    NARROW_QUEUES,
    PAIRS,
    SEGMENT,
    SENDERS,
    TCP_LOSSES,
    TCP_TRIP,
    TIMEOUT,
    TRIPS,
    Case,
    Run,
    Simulator,
    throughput,
)

from hopcast.statistics import ci95, mean

sys.path.insert(0, str(Path(__file__).parents[1]))

from page import interval

Runs = dict[Case, list[Run]]

NAMES = {
    "tfrc.variant": "TFRC",
    "tcp.min_rto": "TCP's minimum RTO",
    "tcp.delayed_ack": "delayed acknowledgements",
    "tfrc_min_rto": "minimum t_RTO",
    "tfrc_reordering": "higher numbers before a loss",
    "tfrc_weight": "weight of past round trips",
    "tfrc_discount": "minimum discount",
    "delack": "delayed acknowledgements",
    "tfrc_overhead": "random time between packets, ±",
    "tcp_overhead": "random delay before segments, up to",
}
UNITS = {"tfrc_min_rto": " s", "delack": " s", "tcp_overhead": " s"}


def shares(runs: Runs, case: Case, protocol: str) -> list[list[float]]:
    """Run by run, of each flow of a protocol, its octets with headers over those of an even share of the wire."""
    first = list(SENDERS).index(protocol)
    length = (SEGMENT + HEADERS[protocol]) / SEGMENT
    even = [case.rate / len(run["bps"]) for run in runs[case]]
    return [
        [length * bps / share for bps in run["bps"][first :: len(SENDERS)]]
        for run, share in zip(runs[case], even, strict=True)
    ]


def mean_shares(runs: Runs, case: Case, protocol: str) -> list[float]:
    """The mean over the flows, run by run."""
    return [mean(of) for of in shares(runs, case, protocol)]


def ratio(above: list[float], below: list[float]) -> tuple[float, float]:
    """Of the means of two samples, and half of its 95 % interval: relative errors add up as squares."""
    relative = [(ci95(values) or 0.0) / mean(values) for values in (above, below)]
    found = mean(above) / mean(below)
    return found, found * sum(error**2 for error in relative) ** 0.5


def goodputs(runs: list[Run]) -> list[float]:
    """bit/s of a flow alone, run by run."""
    return [run["bps"][0] for run in runs]


def of_the_equation(runs: list[Run], loss: float, trip: float, timeout: float) -> str:
    """Of a flow alone: its goodput over that of the equation at the share of packets that the wire loses."""
    return interval([goodput / throughput(loss, trip, timeout) for goodput in goodputs(runs)], 2)


def suspected(simulator: Simulator, nth: int | None, **scene: Any) -> Case:
    """A case of a simulator, with its nth suspect."""
    return Case(simulator, **scene, changes=() if nth is None else tuple(CHANGES[simulator][nth].items()))


def tables(runs: Runs) -> dict[str, str]:
    """The tables of the page: name and text."""
    return {
        "beside TCP": table(["n", *columns()], beside(runs)),
        "spread": table(["n", *spreads()], spread(runs)),
        "changed": table(["simulator", "changed", *(f"n = {pairs}" for pairs in PAIRS)], suspects(runs)),
        "TCP alone": table(
            ["loss", *(f"{name}{how}" for how in ("", ", delayed") for name in TCP_HEADS)], tcp_alone(runs)
        ),
        "narrow": table(["queue", "sender, changed", *NARROW_HEADS], narrow(runs, adaptive=False)),
        "alone": table(
            [
                "round trip",
                "loss",
                "equation, Mb/s",
                "hopcast",
                "ns-2, t_RTO ≥ 1 s",
                "hopcast / ns-2",
                "hopcast, RFC 3448",
                "hopcast, ns-2's rules",
                "ns-2",
                "hopcast / ns-2, same rules",
            ],
            alone(runs),
        ),
    }


TCP_HEADS = ["hopcast", "ns-2", "ns-2 / hopcast"]
NARROW_HEADS = ["its share", "lowest and highest", "TCP", "lost"]


def adaptive_tables(runs: Runs) -> dict[str, str]:
    """Those of ADTFRC's page."""
    heads = ["queue", "metric", *NARROW_HEADS, "identified as congestion"]
    return {"narrow": table(heads, narrow(runs, adaptive=True))}


def table(heads: list[str], rows: Iterator[list[str]]) -> str:
    """In Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def columns() -> Iterator[str]:
    """Heads of `beside`."""
    for simulator in CHANGES:
        yield from (f"TFRC, {simulator}", f"TCP, {simulator}", f"lost, TFRC and TCP, {simulator}")
    yield "TFRC, hopcast − ns-2"


def beside(runs: Runs) -> Iterator[list[str]]:
    """A line for each number of flows."""
    for pairs in PAIRS:
        line, tfrc = [str(pairs)], []
        for simulator in CHANGES:
            case = Case(simulator, pairs)
            tfrc.append(mean_shares(runs, case, "tfrc"))
            line += [interval(mean_shares(runs, case, protocol), 2) for protocol in SENDERS]
            lost = [mean([run["lost"][protocol] for run in runs[case]]) for protocol in SENDERS]
            line.append(", ".join(f"{100.0 * share:.2f}" for share in lost) + " %")
        line.append(interval([a - b for a, b in zip(*tfrc, strict=True)], 2))
        yield line


def spreads() -> Iterator[str]:
    """Heads of `spread`."""
    for simulator in CHANGES:
        yield from (f"TFRC, {simulator}", f"TCP, {simulator}", f"runs within two, {simulator}")


def spread(runs: Runs) -> Iterator[list[str]]:
    """A line for each number of flows: between what nine in ten single flows are, and in how many runs neither protocol has more
    than twice what the other has."""
    for pairs in PAIRS:
        line = [str(pairs)]
        for simulator in CHANGES:
            case = Case(simulator, pairs)
            for protocol in SENDERS:
                twentieths = quantiles(chain(*shares(runs, case, protocol)), n=20, method="inclusive")
                line.append(f"{twentieths[0]:.2f} to {twentieths[-1]:.2f}")
            means = list(zip(*(mean_shares(runs, case, protocol) for protocol in SENDERS), strict=True))
            line.append(f"{sum(0.5 < tfrc / tcp < 2.0 for tfrc, tcp in means)} of {len(means)}")
        yield line


def named(change: dict[str, Any]) -> str:
    """What is changed, for people."""
    return ", ".join(f"{NAMES[key]}: {value}{UNITS.get(key, '')}" for key, value in change.items()) or "nothing"


def suspects(runs: Runs) -> Iterator[list[str]]:
    """A line for each change of a simulator: what TFRC has."""
    for simulator, changes in CHANGES.items():
        for change in ({}, *changes):
            kept = (Case(simulator, pairs, changes=tuple(change.items())) for pairs in PAIRS)
            yield [simulator, named(change), *(interval(mean_shares(runs, case, "tfrc"), 2) for case in kept)]


def narrow(runs: Runs, adaptive: bool) -> Iterator[list[str]]:
    """A line for each queue of the narrow wire and each sender: TFRC as both simulators have it, or ADTFRC."""
    for places in NARROW_QUEUES:
        for simulator, others in NARROW.items():
            for change in ({}, *others):
                if adaptive != (change.get("tfrc.protocol") == "adtfrc"):
                    continue
                case = Case(simulator, 1, narrow=places, changes=tuple(change.items()))
                first = mean_shares(runs, case, "tfrc")
                line = [
                    str(places),
                    change.get("tfrc.metric", "joint") if adaptive else f"{simulator}, {named(change)}",
                    interval(first, 2),
                    f"{min(first):.2f} to {max(first):.2f}",
                    interval(mean_shares(runs, case, "tcp"), 2),
                    interval([100.0 * run["lost"]["tfrc"] for run in runs[case]], 1) + " %",
                ]
                if adaptive:
                    taken, scored = (sum(run["congestion"][nth] for run in runs[case]) for nth in (0, 1))
                    line.append(f"{100.0 * taken / scored:.1f} %")
                yield line


def alone(runs: Runs) -> Iterator[list[str]]:
    """A line for each round trip and loss."""
    for trip in TRIPS:
        for loss in LOSSES:
            scene = {"loss": loss, "trip": trip}
            ours, theirs = (runs[suspected(*which, **scene)] for which in (("hopcast", None), ("ns-2", 0)))
            older, as_it_is = (runs[suspected(*which, **scene)] for which in (("hopcast", 0), ("ns-2", None)))
            same_rules = runs[suspected("hopcast", 1, **scene)]
            yield [
                f"{1e3 * trip:g} ms",
                f"{100.0 * loss:g} %",
                f"{1e-6 * throughput(loss, trip, TIMEOUT):.3g}",
                of_the_equation(ours, loss, trip, TIMEOUT),
                of_the_equation(theirs, loss, trip, TIMEOUT),
                "{:.2f} ± {:.2f}".format(*ratio(goodputs(ours), goodputs(theirs))),
                of_the_equation(older, loss, trip, 4.0 * trip),
                of_the_equation(same_rules, loss, trip, ticks(trip)),
                of_the_equation(as_it_is, loss, trip, ticks(trip)),
                "{:.2f} ± {:.2f}".format(*ratio(goodputs(same_rules), goodputs(as_it_is))),
            ]


def tcp_alone(runs: Runs) -> Iterator[list[str]]:
    """A line for each loss: Mb/s without and with delayed acknowledgements."""
    for loss in TCP_LOSSES:
        line = [f"{100.0 * loss:g} %"]
        for late in (False, True):
            ours, theirs = (
                goodputs(runs[Case(simulator, loss=loss, trip=TCP_TRIP, alone="tcp", changes=changes)])
                for simulator, changes in ((name, tuple(of.items()) if late else ()) for name, of in DELAYED.items())
            )
            line += [interval([1e-6 * bps for bps in of], 3) for of in (ours, theirs)]
            line.append("{:.2f} ± {:.2f}".format(*ratio(theirs, ours)))
        yield line


def ticks(trip: float) -> float:
    """t_RTO of ns-2's TFRC in seconds over an even round trip: `update_rtt` counts in ticks of 0.1 s."""
    whole = max(1, int(trip / 0.1 + 0.5))
    # The mean deviation starts at half the round trip, and integers keep what is left of it: 2 or 3 quarters of a tick.
    deviation = min(2 * whole, 3)
    return 0.1 * ((8 * deviation + 8 * whole) >> 3)
