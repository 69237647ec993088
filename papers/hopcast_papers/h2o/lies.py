"""H12, scene m: what a device that lies about its links costs the others.

The homes and requests of scene d, in which the home in the middle tells ten times the rates that it measures, or a tenth. It is next to four
homes, and all others hear of what it reserves. So it does as much harm as any could.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from hopcast.lab.experiment import Amount, Case, Document, Measured, Parameter
from hopcast.lab.rows import Row, value
from hopcast_papers.h2o import homes, load, oracle

LIAR = f"home{load.SIDE**2 // 2}"
FACTORS: Mapping[str, float] = {"ten times the rates": 10.0, "a tenth of the rates": 0.1}
RULE: load.Rule = "statistical"
LOADS = (0.25, 1.0)
"""One at which all streams of others fit, and one at which they compete."""


def case(lie: str, offered: float) -> str:
    """The name of a case."""
    return f"m, {LIAR} tells {lie}, load {offered:g}"


def setup() -> list[Parameter]:
    """The parameters of the scene."""
    return [Parameter("m: the liar", f"{LIAR}, in the middle of scene d; `{RULE}`", "“lying profiles” of a proposal")]


def cases(amount: Amount) -> Mapping[str, Case]:
    """The cases."""
    seeds = amount.pick(quick=load.QUICK, full=load.FULL)
    return {
        case(lie, offered): Case(
            load.scenario(RULE, offered, amount).set("cloud.lies", [{"at": [LIAR], "factor": factor}]), seeds
        )
        for lie, factor in FACTORS.items()
        for offered in LOADS
    }


def _of_others(document: Document) -> list[oracle.Stream]:
    """Requests of other homes for clips that they don't store."""
    streams = document["cloud"]["streams"]
    return [one for one in streams if one["display"] != LIAR and not oracle.is_stored(one)]


def _fine(document: Document) -> float:
    """Displays of others that were whole and never stood still, per cent of those asked for."""
    asked = _of_others(document)
    return 100 * sum(map(oracle.is_fine, asked)) / len(asked) if asked else math.nan


def _hiccups(document: Document) -> float:
    """Hiccups of others per hour of display."""
    asked = _of_others(document)
    return float(3600 * sum(one["hiccups"] for one in asked) / max(sum(one["played_s"] for one in asked), 1.0))


def rows(measured: Measured) -> list[Row]:
    """The rows of the scene: others without a liar, and differences by seed with one."""
    found: list[Row] = []
    for metric, unit, read in (("whole without a hiccup", "%", _fine), ("hiccups", "1/h", _hiccups)):
        for offered in LOADS:
            honest = load.case(RULE, offered)
            found.append(
                value(
                    "H12",
                    f"m, all tell the truth, load {offered:g}",
                    f"{metric}, others",
                    unit,
                    measured.sample(honest, read),
                )
            )
            for lie in FACTORS:
                name = case(lie, offered)
                cost = homes.differences(measured, name, honest, read)
                found.append(value("H12", name, f"{metric}, others, less without the lie", unit, cost))
    return found
