"""No circle between modules: what stands side by side imports in one direction only.

At every level, the modules of one folder (each with all that is below it) are the rooms of a floor plan. A module and those
below it may know each other: a parent hands out what its children share. Tests inside a module may import what they like.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

Module = tuple[str, ...]
"""Its path from the crate or the package: `("mac", "frame")`, and `()` for the root."""
Imports = dict[Module, set[Module]]
"""What each module names, by the longest path that is a module."""


def rust_modules(source: Path) -> dict[Module, Path]:
    """The files of a crate that are compiled into it without its tests."""
    found = {}
    for path in sorted(source.rglob("*.rs")):
        *folders, name = path.relative_to(source).with_suffix("").parts
        module = tuple(folders) if name in ("mod", "lib", "main") else (*folders, name)
        if "tests" not in module and "bin" not in module:
            found[module] = path
    return found


def code(text: str) -> str:
    """Rust without comments, strings and the modules of tests at its end."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)
    text = re.sub(r'"(?:\\.|[^"\\])*"', '""', text, flags=re.DOTALL)
    return re.split(r"#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([^)]*\))? )?mod \w+ \{", text)[0]


def branches(tree: str) -> Iterator[str]:
    """Every path of a tree of imports: `a::{b, c::D}` has `a::b` and `a::c::D`."""
    head, brace, rest = tree.partition("{")
    if not brace:
        yield head.split(" as ")[0].strip()
        return
    depth, part = 0, ""
    for letter in rest.rpartition("}")[0] + ",":
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            if part.strip():
                yield from (head.strip() + branch for branch in branches(part.strip()))
            part = ""
        else:
            part += letter


def rust_imports(source: Path) -> Imports:
    """Who names whom in a crate."""
    files = rust_modules(source)
    imports: Imports = {}
    for module, path in files.items():
        text = re.sub(r"\s+", " ", code(path.read_text(encoding="utf-8")))
        uses = re.findall(r"\buse ([^;]+);", text)
        paths = [branch for tree in uses for branch in branches(tree)]
        paths += re.findall(r"\b(?:crate|self|super)(?:::(?:super|\w+))+", re.sub(r"\buse [^;]+;", "", text))
        named = (absolute(module, files, path.replace(" ", "").split("::")) for path in paths)
        imports[module] = {longest(files, path) for path in named if path is not None}
    return imports


def absolute(module: Module, files: dict[Module, Path], path: list[str]) -> Module | None:
    """A path as written in `module`, from the root of the crate; nothing for one into another crate."""
    first, *rest = path
    if first == "crate":
        return tuple(rest)
    if first in ("self", "super"):
        at = module if first == "self" else module[:-1]
        while rest and rest[0] == "super":
            at, rest = at[:-1], rest[1:]
        return (*at, *rest)
    return (*module, *path) if (*module, first) in files else None


def longest(modules: dict[Module, Path], path: Module) -> Module:
    """The module that a path leads into."""
    return next(path[:length] for length in range(len(path), -1, -1) if path[:length] in modules or not length)


def python_imports(package: Path) -> Imports:
    """Who imports whom in a package, inside of functions as well; annotations alone make no circle."""
    files = {}
    for path in sorted(package.rglob("*.py")):
        *folders, name = path.relative_to(package).with_suffix("").parts
        files[tuple(folders) if name == "__init__" else (*folders, name)] = path
    imports: Imports = {}
    for module, path in files.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        annotations = {
            inner
            for node in ast.walk(tree)
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
            for inner in ast.walk(node)
        }
        named: set[str] = set()
        for node in set(ast.walk(tree)) - annotations:
            if isinstance(node, ast.Import):
                named.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{path}: imports are absolute"
                named.update(f"{node.module}.{alias.name}" for alias in node.names)
        ours = (name.split(".")[1:] for name in named if name.split(".")[0] == package.name)
        imports[module] = {longest(files, tuple(name)) for name in ours}
    return imports


def floors(imports: Imports) -> dict[Module, dict[str, set[str]]]:
    """For each module, its children and which of their siblings each names, with all that is below it."""
    plan: dict[Module, dict[str, set[str]]] = {}
    for module, named in imports.items():
        for other in named:
            shared = len(
                [None for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(module, other, strict=False))]
            )
            if len(module) > shared and len(other) > shared:
                plan.setdefault(module[:shared], {}).setdefault(module[shared], set()).add(other[shared])
    return plan


def circles(imports: Imports) -> list[str]:
    """The groups of siblings that reach each other, as text."""
    found = []
    for parent, edges in sorted(floors(imports).items()):
        reached = {room: reachable(edges, room) for room in edges}
        groups = {
            frozenset({room} | {other for other in reached[room] if room in reached.get(other, ())}) for room in edges
        }
        found += ["::".join([*parent, "{" + ", ".join(sorted(group)) + "}"]) for group in groups if len(group) > 1]
    return sorted(found)


def reachable(edges: dict[str, set[str]], start: str) -> set[str]:
    """All that can be reached from a room."""
    seen: set[str] = set()
    waiting = list(edges[start])
    while waiting:
        room = waiting.pop()
        if room not in seen:
            seen.add(room)
            waiting.extend(edges.get(room, ()))
    return seen


@pytest.mark.parametrize("crate", ["wire", "protocols", "radio", "sim", "live", "py"])
def test_no_circle_in_a_crate(crate: str) -> None:
    assert circles(rust_imports(ROOT / "crates" / crate / "src")) == []


@pytest.mark.parametrize("package", ["python/hopcast", "papers/hopcast_papers"])
def test_no_circle_in_a_python_package(package: str) -> None:
    assert circles(python_imports(ROOT / package)) == []


def test_a_circle_of_two_modules_is_found() -> None:
    imports: Imports = {("a",): {("b", "c")}, ("b", "c"): {("a",)}, ("d",): {("a",)}}
    assert circles(imports) == ["{a, b}"]
