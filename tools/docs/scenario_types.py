"""Write `python/hopcast/types.py` from the JSON Schema of scenarios, or check that it is not stale.

`python tools/docs/scenario_types.py` writes it, `python tools/docs/scenario_types.py --check` exits with 1 if it differs.
It reads `schema/scenario.schema.json` and needs no build of hopcast.
"""

from __future__ import annotations

import json
import keyword
import sys
import textwrap
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SCHEMA = ROOT / "schema" / "scenario.schema.json"
TYPES = ROOT / "python" / "hopcast" / "types.py"
WIDTH = 120

HEAD = '''"""The vocabulary of a scenario, as types for Python objects: plain dictionaries that a type checker can check.

A quantity is a string with its unit (`"2 Mb/s"`, `"200 m"`, `"10 ms"`, `"1000 B"`, `"24.5 dBm"`) or a number in SI
units: bit/s, metres, seconds, bytes, hertz, watts; decibels where a ratio is meant. `hopcast schema` prints the same
vocabulary as a JSON Schema, from which `tools/docs/scenario_types.py` writes this file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

Quantity = str | int | float
"""A number with its unit, or a bare one in SI units."""
'''

NAMES = {
    "nodes.radios": "NodeRadio",
    "links": "Link",
    "links.queue": "LinkQueue",
    "links.back.queue": "LinkQueue",
    "nodes.access.queue": "LinkQueue",
    "nodes.access.up.queue": "LinkQueue",
    "nodes.access.down.queue": "LinkQueue",
    "flows": "Flow",
    "flows.fec": "FlowFec",
    "cloud.clips": "Clip",
    "emulation.programs": "Program",
}
"""The types of tables that are not called after the last step of their path."""


def text() -> str:
    """The whole file."""
    classes: dict[str, str] = {}
    root = json.loads(SCHEMA.read_text(encoding="utf-8"))
    for key, entry in sorted(root["properties"].items()):
        if tables(entry):
            declare(key, entry, classes)
    return HEAD + "".join(f"\n\n{body}" for body in classes.values())


def declare(path: str, entry: dict[str, Any], classes: dict[str, str]) -> str:
    """Add the type of the table at `path`, after those of the tables in it, and return its name."""
    name = NAMES.get(path, path.rpartition(".")[2].title().replace("_", ""))
    keys: dict[str, list[dict[str, Any]]] = {}
    for variant in tables(entry):
        for key, of in variant["properties"].items():
            keys.setdefault(key, []).append(of)
    hints = {key: union([hint(f"{path}.{key}", of, classes) for of in found]) for key, found in keys.items()}
    classes[name] = definition(name, about(entry), hints)
    return name


def definition(name: str, meaning: str, hints: dict[str, str]) -> str:
    """A typed dictionary; in the form of a call where a key is a reserved word of Python."""
    if any(keyword.iskeyword(key) for key in hints):
        rows = "".join(f'        "{key}": {hint},\n' for key, hint in hints.items())
        return f'{name} = TypedDict(\n    "{name}",\n    {{\n{rows}    }},\n    total=False,\n)\n"""{meaning}"""\n'
    body = "".join(row(key, hint) for key, hint in hints.items())
    return f'class {name}(TypedDict, total=False):\n    """{meaning}"""\n\n{body}'


def row(key: str, hint: str) -> str:
    """A key of a typed dictionary; a long list of words on a separate line."""
    line = f"    {key}: {hint}\n"
    head, bracket, words = hint.partition("[")
    if len(line) <= WIDTH + 1 or head != "Literal":
        return line
    return f"    {key}: {head}{bracket}\n        {words.removesuffix(']')}\n    ]\n"


def hint(path: str, entry: dict[str, Any], classes: dict[str, str]) -> str:
    """The type of a key."""
    if entry.get("type") == "array" and "x-quantity" not in entry:
        return f"Sequence[{hint(path, entry['items'], classes)}]"
    if entry.get("x-free"):
        return "Mapping[str, Any]"
    if tables(entry):
        name = declare(path, entry, classes)
        return f"int | {name}" if "x-short" in entry else name
    if words(entry):
        return f"Literal[{', '.join(json.dumps(word) for word in words(entry))}]"
    if "x-steps" in entry:
        one = "Quantity" if "x-quantity" in entry else "float"
        return f"{one} | Sequence[tuple[Quantity, {one}]]"
    if "x-quantity" in entry:
        return "Quantity | Sequence[Quantity]" if "items" in entry else "Quantity"
    plain = {"integer": "int", "number": "float", "boolean": "bool", "string": "str"}
    if "x-or" in entry:
        return f"int | Literal[{', '.join(json.dumps(word) for word in entry['x-or'])}]"
    return plain[entry["type"]]


def union(hints: list[str]) -> str:
    """One type for a key that several kinds of a table have: the words of all of them, or what they have in common."""
    alike = list(dict.fromkeys(hints))
    if all(hint.startswith("Literal[") for hint in alike):
        found = [word for hint in alike for word in hint.removeprefix("Literal[").removesuffix("]").split(", ")]
        return f"Literal[{', '.join(dict.fromkeys(found))}]"
    return " | ".join(alike)


def tables(entry: dict[str, Any]) -> list[dict[str, Any]]:
    """The kinds of a table, or of the tables in a list; none for what is no table."""
    if entry.get("type") == "array":
        entry = entry.get("items", {})
    kinds = entry.get("oneOf", [entry])
    return [kind for kind in kinds if (kind.get("type") == "object" or "x-short" in kind) and not kind.get("x-free")]


def words(entry: dict[str, Any]) -> list[str]:
    """The words of a choice."""
    if "const" in entry:
        return [entry["const"]]
    found = [word for kind in entry.get("oneOf", []) for word in words(kind)]
    return found or list(entry.get("enum", []))


def about(entry: dict[str, Any]) -> str:
    """What a table is, without its default: the text of a docstring."""
    said = " ".join(entry["description"].split()).partition(" Default: ")[0]
    lines = textwrap.wrap(said, WIDTH - 10)
    return lines[0] if len(lines) == 1 else "\n    ".join([*lines, ""])


def main() -> None:
    """Write or check."""
    wanted = text()
    if sys.argv[1:] != ["--check"]:
        TYPES.write_text(wanted, encoding="utf-8")
    elif TYPES.read_text(encoding="utf-8") != wanted:
        sys.exit(f"stale: {TYPES.relative_to(ROOT)}; write it with `python tools/docs/scenario_types.py`")


main()
