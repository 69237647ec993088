"""Means and intervals against numbers from printed tables and by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopcast.statistics import ci95, mean, student_quantile


# Two-sided 95 %: R. A. Fisher and F. Yates, "Statistical Tables", table III.
@pytest.mark.parametrize(
    ("degrees", "t"),
    [
        (1, 12.706),
        (2, 4.303),
        (3, 3.182),
        (4, 2.776),
        (5, 2.571),
        (9, 2.262),
        (10, 2.228),
        (29, 2.045),
        (30, 2.042),
        (100, 1.984),
        (999, 1.962),
    ],
)
def test_quantiles_are_those_of_the_table(degrees: int, t: float) -> None:
    assert student_quantile(degrees) == pytest.approx(t, abs=5e-4)


def test_other_levels() -> None:
    assert student_quantile(4, 0.99) == pytest.approx(4.604, abs=5e-4)
    # One degree of freedom is Cauchy's distribution: half of it lies within 1.
    assert student_quantile(1, 0.5) == pytest.approx(1.0)


@pytest.mark.parametrize(("degrees", "level"), [(0, 0.95), (3, 0.0), (3, 1.0)])
def test_a_quantile_that_does_not_exist_is_refused(degrees: int, level: float) -> None:
    with pytest.raises(ValueError, match="no quantile"):
        student_quantile(degrees, level)


def test_an_interval_by_hand() -> None:
    # 10, 12, 14: mean 12, sample deviation 2, t(2) = 4.3027, so 4.3027 x 2 / sqrt(3).
    assert mean([10.0, 12.0, 14.0]) == 12.0
    assert ci95([10.0, 12.0, 14.0]) == pytest.approx(4.968, abs=1e-3)


def test_one_value_has_no_interval_and_equal_values_have_a_point() -> None:
    assert ci95([3.0]) is None
    assert ci95([3.0, 3.0, 3.0]) == 0.0


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=20), st.floats(-1e6, 1e6))
def test_an_interval_does_not_move_with_its_values(values: list[float], shift: float) -> None:
    moved = ci95([value + shift for value in values])
    half = ci95(values)
    assert half is not None
    assert moved is not None
    assert math.isclose(half, moved, rel_tol=1e-6, abs_tol=1e-3)
