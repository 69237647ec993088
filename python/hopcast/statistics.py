"""Means and confidence intervals over replications."""

from __future__ import annotations

import math
from functools import lru_cache


def mean(values: list[float]) -> float:
    """Arithmetic mean of at least one value, summed without intermediate rounding."""
    return math.fsum(values) / len(values)


def ci95(values: list[float]) -> float | None:
    """Half the width of Student's 95 % confidence interval of the mean; `None` for fewer than two values."""
    n = len(values)
    if n < 2:
        return None
    centre = mean(values)
    variance = math.fsum((value - centre) ** 2 for value in values) / (n - 1)
    return student_quantile(n - 1) * math.sqrt(variance / n)


@lru_cache(maxsize=256)
def student_quantile(degrees: int, level: float = 0.95) -> float:
    """The value t such that a Student variable with `degrees` degrees of freedom lies within ±t with probability
    `level`.

    Bisects the distribution function, which is strictly increasing.
    """
    if degrees < 1 or not 0.0 < level < 1.0:
        raise ValueError(f"no quantile for {degrees} degrees of freedom at level {level}")
    low, high = 0.0, 1.0
    while _within(high, degrees) < level:
        high *= 2.0
    while True:
        middle = (low + high) / 2.0
        if middle in (low, high):
            return middle
        if _within(middle, degrees) < level:
            low = middle
        else:
            high = middle


def _within(t: float, degrees: int) -> float:
    """P(|T| < t): the finite series for whole degrees of freedom (Abramowitz and Stegun, 26.7.3 and 26.7.4)."""
    theta = math.atan(t / math.sqrt(degrees))
    cosine, sine = math.cos(theta), math.sin(theta)
    odd = degrees % 2 == 1
    term = cosine if odd else 1.0
    total = 0.0
    for k in range(1 if odd else 0, degrees - 1, 2):
        total += term
        term *= cosine * cosine * (k + 1) / (k + 2)
    return 2.0 / math.pi * (theta + sine * total) if odd else sine * total
