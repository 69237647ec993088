"""What functions of a study raise, in a line that says where, and what they give, if it is what it should be."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from hopcast.files import line

T = TypeVar("T")


def listed(given: object, kind: type[T]) -> list[T]:
    """What a function gives, where that should be several of a kind. Raises `TypeError`."""
    if not isinstance(given, Iterable):
        raise TypeError(f"gave {given!r}; expected a list")
    items = list(given)
    for place, item in enumerate(items):
        if not isinstance(item, kind):
            raise TypeError(f"gave {item!r} at [{place}]; expected a {kind.__name__}")
    return items


def told(error: BaseException, function: Callable[..., Any]) -> str:
    """An exception of a function, with its file and line if they can be told."""
    code = getattr(function, "__code__", None)
    place = f"{code.co_filename}{line(error, code.co_filename)}: " if code is not None else ""
    return f"{place}{type(error).__name__}: {error}"
