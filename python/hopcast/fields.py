"""The dictionary of results: what each field and column means, its unit, its divisor, and where it is counted.

The declarations are in hopcast's source, next to the code that measures. `docs/results.md` and `hopcast schema --results`
show the same dictionary::

    from hopcast.fields import FIELDS

    print(", ".join(FIELDS["flows"]))
    print(FIELDS["flows"]["goodput_bps"])
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hopcast import _core
from hopcast.errors import UnknownField
from hopcast.nearest import nearest


@dataclass(frozen=True)
class Field:
    """A field of a JSON object, or a column of a table."""

    name: str
    """Its name; a field of a table below another one has both names: `drops.queue_full`, `flows[].goodput_bps`."""
    meaning: str
    unit: str | None
    """`None` for text, tables and numbers that only name something, such as ports."""
    divisor: str | None
    """What the number is divided by, if it is a share, a rate or a mean."""
    counted: str | None
    """Where it is counted or measured."""

    def __str__(self) -> str:
        parts = [f"{self.name}: {self.meaning}"]
        parts += [f"Unit: {self.unit}."] if self.unit else []
        parts += [f"Divided by: {self.divisor}."] if self.divisor else []
        parts += [f"Counted {self.counted}."] if self.counted else []
        return " ".join(parts)


class Dictionary(Mapping[str, Mapping[str, Field]]):
    """Fields by name, for each document: `run` is `run.json`; `flows`, `nodes`, `series`, `conversations`, `rtp`,
    `conversation_series` and `streams` are tables. On Linux `emulate` and `probe` have what these commands add to `run`, `node` is the status of a
    router, and `stream_send`, `stream_receive` and `stream_event` are lines of `hopcast stream --json`.
    """

    @cached_property
    def _documents(self) -> dict[str, dict[str, Field]]:
        return {name: described(schema) for name, schema in schemas().items()}

    def __getitem__(self, document: str) -> Mapping[str, Field]:
        return self._documents[document]

    def __iter__(self) -> Iterator[str]:
        return iter(self._documents)

    def __len__(self) -> int:
        return len(self._documents)


FIELDS = Dictionary()
"""All fields of results. `FIELDS["flows"]` are those of a flow."""


def schemas() -> dict[str, dict[str, Any]]:
    """The JSON Schema of each document."""
    found: dict[str, dict[str, Any]] = json.loads(_core.results_schema())["$defs"]
    return found


def described(schema: dict[str, Any]) -> dict[str, Field]:
    """The fields of a JSON Schema by name."""
    return dict(_fields(schema))


def field(document: str, name: str) -> Field:
    """Return a field of a document by its name. Raises `UnknownField`, which suggests the nearest name."""
    try:
        return FIELDS[document][name]
    except KeyError:
        raise unknown(document, name, FIELDS[document]) from None


def unknown(what: str, name: str, known: Mapping[str, object]) -> UnknownField:
    """Return the error for a field that `what` does not have among its `known` ones."""
    near = nearest(name, known)
    hint = f"there are {', '.join(known)}" if near is None else f"did you mean {near!r}?"
    return UnknownField(name, f"{what} has no field {name!r}; {hint}")


def _fields(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, Field]]:
    """All fields of a schema, those of tables and lists below it included."""
    for key in schema.get("x-order", ()):
        entry, name = schema["properties"][key], f"{path}{key}"
        unit = entry.get("x-unit")
        yield (
            name,
            Field(
                name,
                entry.get("description", ""),
                None if unit == "none" else unit,
                entry.get("x-divisor"),
                entry.get("x-counted"),
            ),
        )
        yield from _fields(entry, f"{name}.")
        yield from _fields(entry.get("items", {}), f"{name}[].")
