"""The types for Python objects name what the schema names."""

from __future__ import annotations

import json
import typing
from typing import Any

import pytest

from hopcast import _core, types

SCHEMA: dict[str, Any] = json.loads(_core.json_schema())

TABLES = {
    "radio": types.Radio,
    "radio.retry_limit": types.RetryLimit,
    "radio.queue": types.Queue,
    "radio.propagation": types.Propagation,
    "radio.errors": types.Errors,
    "nodes": types.Nodes,
    "nodes.mobility": types.Mobility,
    "nodes.placement": types.Placement,
    "nodes.routing": types.Routing,
    "flows": types.Flow,
    "flows.transport": types.Transport,
    "flows.application": types.Application,
    "flows.player": types.Player,
    "flows.player.jitter_buffer": types.JitterBuffer,
    "emulation": types.Emulation,
    "emulation.programs": types.Program,
}


@pytest.mark.parametrize(("path", "table"), TABLES.items(), ids=TABLES)
def test_keys_and_words(path: str, table: Any) -> None:
    variants = schemas(path)
    keys = {key for variant in variants for key in variant["properties"]}
    hints = typing.get_type_hints(table)
    assert set(hints) == keys
    for key, hint in hints.items():
        if typing.get_origin(hint) is typing.Literal:
            found = [word for variant in variants for word in words(variant["properties"].get(key, {}))]
            assert set(typing.get_args(hint)) == set(found), key


def schemas(path: str) -> list[dict[str, Any]]:
    """The variants of the table at a path: one, or those that a tag tells apart."""
    at = [resolve(SCHEMA)]
    for step in path.split("."):
        properties = [table["properties"][step] for table in at if step in table["properties"]]
        at = [variant for entry in properties for variant in spread(entry)]
    return at


def spread(entry: dict[str, Any]) -> list[dict[str, Any]]:
    entry = resolve(entry)
    entry = resolve(entry["items"]) if entry.get("type") == "array" else entry
    return [resolve(variant) for variant in entry["oneOf"]] if "oneOf" in entry else [entry]


def words(entry: dict[str, Any]) -> list[str]:
    entry = resolve(entry)
    if "const" in entry:
        return [entry["const"]]
    if "oneOf" in entry:
        return [word for variant in entry["oneOf"] for word in words(variant)]
    return list(entry.get("enum", []))


def resolve(entry: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in entry:
        definition = SCHEMA
        for step in entry["$ref"].removeprefix("#/").split("/"):
            definition = definition[step]
        entry = definition | {key: value for key, value in entry.items() if key != "$ref"}
    return entry
