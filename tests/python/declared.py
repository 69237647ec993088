"""Compares documents with the dictionary of results."""

from __future__ import annotations

from typing import Any

KINDS: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "array": list,
    "object": dict,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
}


def check(value: Any, schema: dict[str, Any], path: str = "") -> None:
    """Compare a value with its JSON Schema, which has to declare all of it."""
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if value is None:
        assert "null" in kinds, path
        return
    if isinstance(value, float) and value.is_integer():
        # JSON has no integers: 1.0 is one.
        value = int(value)
    assert any(isinstance(value, KINDS[kind]) for kind in kinds if kind != "null"), f"{path}: {value!r}, not {kinds}"
    if isinstance(value, list):
        for element in value:
            check(element, schema["items"], f"{path}[]")
    elif isinstance(value, dict):
        for name, below in value.items():
            of, suffix = name.removesuffix("_ci95"), name.endswith("_ci95") and "patternProperties" in schema
            assert (of if suffix else name) in schema["properties"], f"{path}.{name} is not in the dictionary"
            check(
                below, schema["patternProperties"]["_ci95$"] if suffix else schema["properties"][name], f"{path}.{name}"
            )
