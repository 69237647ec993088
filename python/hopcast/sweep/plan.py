"""The points of a sweep: every combination of its grid, its lists side by side, and its sample."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hopcast.errors import ScenarioError
from hopcast.nearest import nearest
from hopcast.sweep import sample
from hopcast.sweep.precision import AT_LEAST, Precision, is_number, parts_of

MOST_RUNS = 100_000_000
"""Limit of points times replications."""
MOST_POINTS = 1_000_000
MOST_REPLICATIONS = 1_000_000
TOP = ("scenario", "seed", "replications", "grid", "zip", "sample")
RULE = ("metric", "relative", "at_most", "at_least")
DIGITS = 10
"""Significant digits of a sampled number."""
QUANTITY = re.compile(r"\s*([-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*([^\s\d].*?)\s*")
"""A number and its unit."""


class SweepError(ScenarioError):
    """A sweep is wrong. Nothing was run. `field` is the key in the file of the sweep."""


@dataclass(frozen=True)
class Plan:
    """The varied keys, and for each point their values in the same order."""

    keys: tuple[str, ...]
    points: tuple[tuple[object, ...], ...]


def expand(
    grid: Mapping[str, Any] | None,
    zipped: Mapping[str, Any] | None,
    sampled: Mapping[str, Any] | None,
    seed: int,
    file: str,
) -> Plan:
    """All combinations of the grid, in the order of the file with the last key changing fastest; for each one all
    places of the lists side by side; for each of those all points of the sample. Raises `SweepError`.
    """
    every = _lists(grid or {}, "grid", file)
    for key, values in every.items():
        for index, value in enumerate(values):
            if value in values[:index] and type(value) in map(type, values[:index]):
                raise SweepError(file, f"grid.{key}", shown(value), "is in the list twice; expected different values")
    side = _lists(zipped or {}, "zip", file)
    lengths = {key: len(values) for key, values in side.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{key} has {length}" for key, length in lengths.items())
        raise SweepError(file, "zip", None, f"the lists need one length; {told} values")
    drawn_keys, drawn = _sample(sampled, seed, file)
    keys = [*every, *side, *drawn_keys]
    for key, section in [*((key, "zip") for key in side), *((key, "sample") for key in drawn_keys)]:
        if keys.count(key) > 1:
            raise SweepError(file, f"{section}.{key}", None, "is varied twice; expected each key in one section")
    count = math.prod(map(len, every.values())) * (len(next(iter(side.values()))) if side else 1) * len(drawn)
    if count > MOST_POINTS:
        raise SweepError(file, "", None, f"has {count} points; expected at most {MOST_POINTS}")
    rows = list(zip(*side.values(), strict=True)) if side else [()]
    points = itertools.product(itertools.product(*every.values()), rows, drawn)
    return Plan(tuple(keys), tuple((*a, *b, *c) for a, b, c in points))


def _lists(section: Mapping[str, Any], name: str, file: str) -> dict[str, list[object]]:
    found = {}
    for key, values in flat(section, name, file):
        field = f"{name}.{key}"
        if not isinstance(values, Sequence) or isinstance(values, str) or not values:
            raise SweepError(file, field, shown(values), "expected a list of values, such as [1, 2, 4]")
        for value in values:
            _check_value(value, field, file)
        found[key] = list(values)
    return found


def flat(section: object, name: str, file: str) -> Iterable[tuple[str, Any]]:
    """The keys of a section, whether they are quoted or written as tables in tables."""
    if not isinstance(section, Mapping):
        raise SweepError(file, name, shown(section), "expected a table of keys, each with its values")
    for key, value in section.items():
        if isinstance(value, Mapping):
            for inner, values in flat(value, f"{name}.{key}", file):
                yield f"{key}.{inner}", values
            continue
        if key in ("seed", "name") and "." not in name:
            right = (
                "`seed` and `replications` at the top set seeds" if key == "seed" else "it names a scenario for people"
            )
            raise SweepError(file, f"{name}.{key}", None, f"can't be varied; {right}")
        yield str(key), value


def _check_value(value: object, field: str, file: str) -> None:
    if isinstance(value, Mapping):
        for inner in value.values():
            _check_value(inner, field, file)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for inner in value:
            _check_value(inner, field, file)
    elif not isinstance(value, str | bool | int) and not is_number(value):
        raise SweepError(
            file, field, shown(value), "expected a string, a finite number, a truth value, a list or a table"
        )


# --- samples -------------------------------------------------------------------------------------------------------


def _sample(sampled: Mapping[str, Any] | None, seed: int, file: str) -> tuple[list[str], list[tuple[object, ...]]]:
    """The keys of the sample and its points; a single empty point without a sample."""
    if sampled is None:
        return [], [()]
    if not isinstance(sampled, Mapping):
        raise SweepError(
            file, "sample", shown(sampled), "expected a table with method, size, and [low, high] for each key"
        )
    method, size = sampled.get("method", sample.METHODS[0]), sampled.get("size")
    if method not in sample.METHODS:
        known = " or ".join(map(shown, sample.METHODS))
        raise SweepError(
            file, "sample.method", shown(method), f"expected {known}{suggestion(str(method), sample.METHODS)}"
        )
    size = whole(size, "sample.size", 1, MOST_POINTS, file)
    ranges = dict(flat({key: of for key, of in sampled.items() if key not in ("method", "size")}, "sample", file))
    if not ranges:
        raise SweepError(file, "sample", None, "names no key; expected [low, high] for each key to sample")
    if method == "sobol" and len(ranges) > sample.MOST:
        raise SweepError(file, "sample", None, f"has {len(ranges)} keys; sobol has at most {sample.MOST}")
    scales = [_Scale.of(key, given, file) for key, given in ranges.items()]
    cube = sample.points(method, size, list(ranges), seed)
    return list(ranges), [tuple(scale.at(u) for scale, u in zip(scales, point, strict=True)) for point in cube]


@dataclass(frozen=True)
class _Scale:
    """The values between two bounds: whole numbers between whole numbers and between numbers of bytes."""

    low: float
    high: float
    unit: str
    is_whole: bool

    @staticmethod
    def of(key: str, given: object, file: str) -> _Scale:
        field, right = f"sample.{key}", 'expected [low, high], such as [1, 64] or ["10 m", "100 m"]'
        if not isinstance(given, Sequence) or isinstance(given, str) or len(given) != 2:
            raise SweepError(file, field, shown(given), right)
        ends = [split(value) for value in given]
        if None in ends:
            raise SweepError(file, field, shown(given), f"is no pair of numbers or quantities; {right}")
        (low, unit), (high, other) = (end for end in ends if end is not None)
        if unit != other:
            raise SweepError(file, field, shown(given), "has two units; expected one, the same for low and high")
        if not low < high:
            raise SweepError(file, field, shown(given), "needs a low end below its high end")
        are_whole = all(isinstance(value, int) for value in given)
        if unit == "B" and not (low.is_integer() and high.is_integer()):
            raise SweepError(file, field, shown(given), "expected whole numbers of bytes")
        return _Scale(low, high, unit, are_whole or unit == "B")

    def at(self, u: float) -> object:
        """The value at 0 ≤ `u` < 1: every whole number is equally likely."""
        if self.is_whole:
            low, high = int(self.low), int(self.high)
            value: float = min(low + math.floor(u * (high - low + 1)), high)
        else:
            value = float(f"{self.low + u * (self.high - self.low):.{DIGITS}g}")
        return f"{value!r} {self.unit}" if self.unit else value


def split(value: object) -> tuple[float, str] | None:
    """A number and its unit, which is empty for a plain number; `None` for anything else."""
    if is_number(value):
        return float(value), ""  # type: ignore[arg-type]
    if isinstance(value, str) and (found := QUANTITY.fullmatch(value)) is not None:
        return float(found[1]), found[2]
    return None


# --- the rest of the file ------------------------------------------------------------------------------------------


def replications_of(given: object, file: str) -> int | Precision:
    """The number of replications, or the rule that finds it. Raises `SweepError`."""
    if isinstance(given, Precision):
        given = {
            "metric": given.metric,
            "relative": given.relative,
            "at_most": given.at_most,
            "at_least": given.at_least,
        }
    if not isinstance(given, Mapping):
        return whole(given, "replications", 1, MOST_REPLICATIONS, file)
    for key in given:
        if key not in RULE:
            known = "metric, relative, at_most or at_least"
            raise SweepError(
                file, f"replications.{key}", None, f"is unknown{suggestion(str(key), RULE)}; expected {known}"
            )
    for key in RULE[:3]:
        if key not in given:
            raise SweepError(file, f"replications.{key}", None, "is missing; a rule has metric, relative and at_most")
    metric, relative = given["metric"], given["relative"]
    if not isinstance(metric, str) or parts_of(metric) is None:
        right = "expected flows.NAME.FIELD, nodes.NAME.FIELD or totals.FIELD"
        raise SweepError(file, "replications.metric", shown(metric), right)
    if not is_number(relative) or not 0.0 < relative < 1.0:
        raise SweepError(file, "replications.relative", shown(relative), "expected a number between 0 and 1")
    at_most = whole(given["at_most"], "replications.at_most", 2, MOST_REPLICATIONS, file)
    at_least = whole(given.get("at_least", min(AT_LEAST, at_most)), "replications.at_least", 2, at_most, file)
    return Precision(metric, float(relative), at_most, at_least)


def whole(value: object, field: str, least: int, most: int, file: str) -> int:
    """A whole number within limits. Raises `SweepError`."""
    if value is None:
        raise SweepError(file, field, None, f"is missing; expected a whole number from {least} to {most}")
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise SweepError(file, field, shown(value), f"expected a whole number from {least} to {most}")
    return value


def suggestion(word: str, known: Iterable[str]) -> str:
    """`; did you mean …?` with the nearest known word, or nothing."""
    found = nearest(word, known)
    return "" if found is None else f'; did you mean "{found}"?'


def shown(value: object) -> str:
    """A value as in a TOML file."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {shown(item)}" for key, item in value.items()) + " }"
    if isinstance(value, Sequence):
        return "[" + ", ".join(map(shown, value)) + "]"
    return str(value)
