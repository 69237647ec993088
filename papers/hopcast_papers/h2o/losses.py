"""H12, failures: packets of all kinds are lost, messages too, over a path of two hops, and what stays reserved."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from hopcast.lab.experiment import Amount, Case, Document, Measured, Parameter, Table
from hopcast.lab.rows import Row, Sample, value
from hopcast.scenario import Scenario
from hopcast_papers.h2o import homes
from hopcast_papers.register import REGISTER

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOSSES = (0.0, 0.1, 0.3, 0.5)
"""Share of the packets that each receiver loses, after the medium access has delivered them."""
RATE, LENGTH, APART = 250e3, 10.0, 60.0
"""b/s and seconds of a clip, and seconds from one request to the next."""


def case(loss: float) -> str:
    """The name of a case."""
    return f"failures, {100 * loss:g} % of packets lost"


def _scenario(loss: float, amount: Amount) -> Scenario:
    clips = amount.pick(quick=10, full=100)
    return Scenario(
        name=case(loss),
        # The last clip has ended, or was given up, and what was left has expired.
        duration=30 + APART * clips + 4 * homes.EXPIRY,
        seed=1,
        radio=homes.lossy(loss),
        nodes=[{"name": "home", "count": 3, "placement": {"shape": "line", "spacing": "20 m"}}],
        cloud={
            "admission": "all",
            "clips": [{"name": "clip", "rate": RATE, "length": LENGTH, "at": ["home0"]}],
            "requests": [{"from": "home2", "clip": "clip", "start": 30 + APART * number} for number in range(clips)],
        },
    )


def setup() -> list[Parameter]:
    """The parameters of the scene."""
    return [
        Parameter("failures: losses", "0 to 50 % of the packets at each receiver, over two hops", "not stated"),
    ]


def cases(amount: Amount) -> Mapping[str, Case]:
    """The cases."""
    seeds = amount.pick(quick=(3001, 3002, 3003), full=tuple(range(3001, 3011)))
    return {case(loss): Case(_scenario(loss, amount), seeds) for loss in LOSSES}


def _share(field: str) -> Callable[[Document], float]:
    """What reads a field of the totals as per cent of the requests."""
    count, offered = homes.total(field), homes.total("offered")
    return lambda document: 100 * count(document) / max(offered(document), 1.0)


def rows(measured: Measured) -> list[Row]:
    """The rows of the scene."""
    found: list[Row] = []
    for loss in LOSSES:
        name = case(loss)
        found.append(value("H12", name, "admitted", "%", measured.sample(name, _share("admitted"))))
        found.append(value("H12", name, "whole", "%", measured.sample(name, _share("completed"))))
        known = tuple(time for time in measured.sample(name, homes.start_up).values if not math.isnan(time))
        if known:
            found.append(value("H12", name, "start-up, of runs with a display", "s", Sample(known)))
    left = {case(loss): measured.sample(case(loss), homes.total("orphaned_bookings")) for loss in LOSSES}
    found += REGISTER.rows("H12.no-leak", "failures", "bookings without a stream", "", left)
    return found


def figures(table: Table) -> list[tuple[str, Figure]]:
    """What becomes of requests while packets are lost."""
    from hopcast.figures import Line, lines

    drawn = [
        Line(metric, [(100 * loss, table[case(loss), metric]) for loss in LOSSES]) for metric in ("admitted", "whole")
    ]
    return [("Failures: requests while packets are lost", lines(drawn, x="packets lost, %", y="requests, %"))]
