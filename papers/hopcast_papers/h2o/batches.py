"""H12, scene l: how much the fast form of long runs differs from one in which each packet is simulated.

Scene d once more with `cloud.batch`, and the same seeds. The differences are values: they say what the form is good for.
"""

from __future__ import annotations

from collections.abc import Mapping

from hopcast.lab.experiment import Amount, Case, Measured, Parameter
from hopcast.lab.rows import Row, value
from hopcast_papers.h2o import homes, load

BATCH = 8
"""Most packets that are simulated together. 100 ms of a clip are nine, and no display asks for more at a time."""
RULES: tuple[load.Rule, ...] = ("statistical", "airtime", "hops", "all")
LOADS = (1.0, 2.0)
"""Where streams compete: at lower loads there is less that could differ."""


def case(rule: str, offered: float) -> str:
    """The name of a case."""
    return f"l, {rule}, load {offered:g}, in batches"


def setup() -> list[Parameter]:
    """The parameters of the scene."""
    return [Parameter("l: packets in a batch", str(BATCH), "ours")]


def cases(amount: Amount) -> Mapping[str, Case]:
    """The cases."""
    seeds = amount.pick(quick=load.QUICK, full=load.FULL)
    return {
        case(rule, offered): Case(load.scenario(rule, offered, amount).set("cloud.batch", BATCH), seeds)
        for rule in RULES
        for offered in LOADS
    }


def rows(measured: Measured) -> list[Row]:
    """The rows of the scene: differences by seed."""
    found: list[Row] = []
    for rule in RULES:
        for offered in LOADS:
            name = case(rule, offered)
            for metric, unit, read in load.METRICS:
                differences = homes.differences(measured, name, load.case(rule, offered), read)
                found.append(value("H12", name, f"{metric}, batches − packets", unit, differences))
    return found
