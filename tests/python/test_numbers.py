"""Numbers as people read them."""

from __future__ import annotations

import pytest

from hopcast.numbers import significant, with_interval


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (24.876, "24.88"),
        (1303.2, "1\u202f303"),
        (123456.0, "123\u202f456"),
        (0.013021, "0.01302"),
        (-2.5, "-2.5"),
        (100.0, "100"),
    ],
)
def test_significant_digits(value: float, text: str) -> None:
    assert significant(value) == text


@pytest.mark.parametrize(
    ("value", "half", "text"),
    [
        (24.8764, 0.0312, "24.876 ± 0.031"),
        (14.27, 1.04, "14.3 ± 1.0"),
        (937.2, 12.0, "937 ± 12"),
        (1.0017702, 0.0000023, "1.00177 ± 0.000002"),
        (5.0, 0.0, "5 ± 0"),
        (5.0, None, "5"),
        (0.0, 0.25, "0.00 ± 0.25"),
    ],
)
def test_a_value_is_shown_as_finely_as_it_is_known(value: float, half: float | None, text: str) -> None:
    assert with_interval(value, half) == text
