"""Checks the results of a study's functions, and describes their exceptions in a line with the position."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from hopcast.files import line

T = TypeVar("T")


def listed(given: object, kind: type[T]) -> list[T]:
    """Return a function's result if it is a sequence of the right kind. Raises `TypeError`."""
    if not isinstance(given, Iterable):
        raise TypeError(f"gave {given!r}; expected a list")
    items = list(given)
    for place, item in enumerate(items):
        if not isinstance(item, kind):
            raise TypeError(f"gave {item!r} at [{place}]; expected a {kind.__name__}")
    return items


def told(error: BaseException, function: Callable[..., Any]) -> str:
    """Describe an exception of a function, with its file and line if known."""
    code = getattr(function, "__code__", None)
    place = f"{code.co_filename}{line(error, code.co_filename)}: " if code is not None else ""
    return f"{place}{type(error).__name__}: {error}"
