"""Format numbers for people."""

from __future__ import annotations

import math

ROUNDING = 1e-9
"""Relative width below which an interval comes only from the rounding of equal numbers."""


def significant(value: float, digits: int = 4) -> str:
    """Format `value` with this number of significant digits, never with an exponent, with a thin space between
    thousands.
    """
    if not math.isfinite(value):
        return "–"
    if value == 0.0:
        return "0"
    places = max(digits - 1 - math.floor(math.log10(abs(value))), 0)
    text = f"{round(value, places):,.{places}f}".replace(",", "\u202f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def with_interval(value: float, half_width: float | None, digits: int = 4) -> str:
    """Format `value ± half_width`; the value has no digits beyond the interval's second digit."""
    if half_width is None:
        return significant(value, digits)
    if half_width < ROUNDING * abs(value):
        half_width = 0.0
    if half_width == 0.0 or not math.isfinite(half_width):
        return f"{significant(value, digits)} ± {significant(half_width)}"
    # Never more than six digits of the value, however narrow the interval.
    finest = 5 - math.floor(math.log10(abs(value))) if value else 6
    places = max(min(1 - math.floor(math.log10(half_width)), finest), 0)
    if round(half_width, places) == 0.0:
        return f"{significant(value, 6)} ± {significant(half_width, 1)}"
    return f"{value:,.{places}f} ± {half_width:,.{places}f}".replace(",", "\u202f")
