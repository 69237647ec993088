"""How many replications: a fixed number, or as many as bring a confidence interval below a target."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from hopcast.statistics import ci95, mean

AT_LEAST = 10
"""Replications before the first look: with fewer, the interval covers the true mean clearly less often than in 95 % of
cases (A. M. Law, "Simulation Modeling and Analysis", section 9.4.1).
"""


@dataclass(frozen=True)
class Precision:
    """Replicate until half the width of the 95 % interval of `metric` is at most `relative` times its mean.

    The rule is the sequential procedure of A. M. Law, "Simulation Modeling and Analysis", section 9.4.1: after
    `at_least` replications and after each further one, stop if the half-width of Student's interval divided by the
    absolute value of the mean is at most γ/(1 + γ), with γ = `relative`; the smaller threshold makes up for dividing by
    the estimated mean instead of the true one. Stop at `at_most` replications in any case.

    Replications count in the order of their seeds, so that the rule depends on their results alone, not on when or
    where they ran. One that could not measure the metric counts, but has no part in mean and interval.
    """

    metric: str
    """`flows.NAME.FIELD`, `nodes.NAME.FIELD` or `totals.FIELD`, with the fields of `run.json`."""
    relative: float
    at_most: int
    at_least: int = AT_LEAST

    @property
    def least(self) -> int:
        """Replications before the first look."""
        return min(self.at_least, self.at_most)

    def enough(self, values: Sequence[float | None]) -> int | None:
        """Number of replications after which the rule stops, or `None` if it needs more than these, which are those
        of the first seeds in order.
        """
        for count in range(self.least, len(values) + 1):
            if count == self.at_most or self._is_narrow([value for value in values[:count] if value is not None]):
                return count
        return None

    def _is_narrow(self, values: list[float]) -> bool:
        half = ci95(values)
        return half is not None and half <= self.relative / (1.0 + self.relative) * abs(mean(values))


def parts_of(metric: str) -> tuple[str, str, str] | None:
    """Table, name and field of a metric; a name may have dots. `None` if it is not in this form."""
    table, _, rest = metric.partition(".")
    if table == "totals":
        return (table, "", rest) if rest else None
    for end in (rest.rfind(".drops."), rest.rfind(".")):
        if end > 0 and table in ("flows", "nodes"):
            name, field = rest[:end], rest[end + 1 :]
            return table, name, field.replace("drops.", "drop_", 1) if table == "nodes" else field
    return None


def is_number(value: object) -> bool:
    """Whether a value is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
