"""The rules of the house that no compiler checks: who may depend on whom, what the core must not contain."""

from __future__ import annotations

import ast
import functools
import json
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Who may import whom: imports point down only (ARCHITECTURE.md).
ARROWS = {
    "hopcast-wire": set(),
    "hopcast-protocols": {"hopcast-wire"},
    "hopcast-radio": {"hopcast-wire", "hopcast-protocols"},
    "hopcast-sim": {"hopcast-wire", "hopcast-protocols", "hopcast-radio"},
    "hopcast-live": {"hopcast-wire", "hopcast-protocols", "hopcast-sim"},
    "hopcast-py": {"hopcast-live", "hopcast-protocols", "hopcast-radio", "hopcast-sim"},
    # hopcast's TCP against the kernel's: tests and a measurement, which need a clock and sockets.
    "kernel-peer": {"hopcast-wire", "hopcast-protocols"},
    "hopcast-fuzz": {"hopcast-wire", "hopcast-protocols", "hopcast-radio", "hopcast-sim", "hopcast-live"},
    # Examples of crates of a user's own.
    "aimd": {"hopcast-protocols", "hopcast-sim"},
    "walls": {"hopcast-radio", "hopcast-sim"},
    "collection-tree": {"hopcast-live", "hopcast-protocols", "hopcast-sim"},
    "talkspurts": {"hopcast-live", "hopcast-protocols", "hopcast-sim"},
    "bursts": {"hopcast-protocols", "hopcast-radio", "hopcast-sim"},
}
CORE = ["hopcast-wire", "hopcast-protocols", "hopcast-radio", "hopcast-sim"]

# What brings sockets, clocks, randomness of the platform or an asynchronous runtime into a program.
BANNED = {
    *("tokio", "async-std", "async-io", "smol", "futures-executor", "mio", "polling", "io-uring"),
    *("socket2", "nix", "rustix", "tun", "tun-tap", "rtnetlink", "netlink-sys", "pcap"),
    *("chrono", "time", "jiff", "coarsetime", "quanta", "web-time", "instant", "minstant"),
    *("getrandom", "fastrand", "oorandom", "ahash"),
}
# Libraries that write tables once a run has ended. They know calendars and hash keys for columns that hopcast does not
# have; no simulated event reaches them.
TABLES = ("arrow", "parquet")


@functools.cache
def metadata() -> dict[str, Any]:
    """What Cargo knows of the workspace and of everything that it depends on."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def normal_dependencies() -> dict[str, set[str]]:
    """Package id to the ids of its normal dependencies, those for tests and build scripts left out."""
    return {
        node["id"]: {
            dependency["pkg"]
            for dependency in node["deps"]
            if any(kind["kind"] is None for kind in dependency["dep_kinds"])
        }
        for node in metadata()["resolve"]["nodes"]
    }


def members() -> dict[str, str]:
    """Name to id of each crate of the workspace."""
    ids = set(metadata()["workspace_members"])
    return {package["name"]: package["id"] for package in metadata()["packages"] if package["id"] in ids}


def manifest(crate: str) -> Path:
    """The Cargo.toml of a crate of the workspace."""
    (path,) = (package["manifest_path"] for package in metadata()["packages"] if package["id"] == members()[crate])
    return Path(path)


def tree(crate: str, beside: tuple[str, ...] = ()) -> set[str]:
    """Names of all packages that a crate needs to run, itself included, without those reached through `beside` alone."""
    names = {package["id"]: package["name"] for package in metadata()["packages"]}
    edges = normal_dependencies()
    seen: set[str] = set()
    waiting = [members()[crate]]
    while waiting:
        package = waiting.pop()
        if package not in seen and not names[package].startswith(beside or "\0"):
            seen.add(package)
            waiting.extend(edges[package])
    return {names[package] for package in seen}


def tracked_files() -> list[Path]:
    """The files that are or will be committed."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in result.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_every_crate_has_its_place() -> None:
    assert set(members()) - set(ARROWS) == set(), "name new crates in ARROWS, and draw them in ARCHITECTURE.md"
    assert set(CORE) <= set(members())


@pytest.mark.parametrize("crate", ARROWS)
def test_imports_point_down_only(crate: str) -> None:
    if crate not in members():
        pytest.fail(f"{crate} is not a crate of the workspace")
    named = {
        dependency["name"]
        for package in metadata()["packages"]
        if package["id"] == members()[crate]
        for dependency in package["dependencies"]
    }
    # A crate may ask for a feature of its own in its tests: hopcast-protocols does, for its testkit.
    assert (named & set(members())) - ARROWS[crate] - {crate} == set()


@pytest.mark.parametrize("crate", CORE)
def test_the_core_reaches_no_platform(crate: str) -> None:
    assert tree(crate, beside=TABLES) & BANNED == set()


def test_the_tree_is_walked_to_its_end() -> None:
    """Guards the test above: a walk that stopped early would find nothing."""
    assert {"hopcast-wire", "hopcast-protocols", "hopcast-radio", "libm", "serde", "itoa"} <= tree(
        "hopcast-sim", beside=TABLES
    )
    assert "arrow-array" in tree("hopcast-sim"), "the exception is for something"


@pytest.mark.parametrize("crate", CORE)
def test_the_core_forbids_unsafe_code(crate: str) -> None:
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text())
    assert workspace["workspace"]["lints"]["rust"]["unsafe_code"] == "forbid"
    assert tomllib.loads(manifest(crate).read_text()).get("lints") == {"workspace": True}


@pytest.mark.parametrize("crate", CORE)
def test_the_core_is_exempt_from_no_ban(crate: str) -> None:
    """Clocks, hash maps and the platform's mathematics are banned by clippy.toml; the core has no excuse to use them."""
    exempted = [
        path.relative_to(ROOT)
        for path in sorted((manifest(crate).parent / "src").rglob("*.rs"))
        if re.search(r"clippy::disallowed_(methods|types)", path.read_text())
    ]
    assert exempted == []


def imported(folder: Path) -> set[tuple[Path, str]]:
    """Each file of a folder with the names that it imports, in functions and for annotations too."""
    found = set()
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {(path, alias.name) for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                found |= {(path, f"{node.module}.{alias.name}") for alias in node.names}
    return found


def test_hopcast_knows_nothing_of_the_papers() -> None:
    """It finds their package by entry point."""
    names = imported(ROOT / "python" / "hopcast")
    assert {path for path, name in names if name.startswith("hopcast_papers")} == set()
    # And a wheel does not carry them.
    with (ROOT / "pyproject.toml").open("rb") as file:
        maturin = tomllib.load(file)["tool"]["maturin"]
    assert maturin["python-source"] == "python"
    assert not any("papers" in str(each) for each in maturin["include"])


@pytest.mark.parametrize("folder", ["python/hopcast/lab", "papers/hopcast_papers"])
def test_studies_use_the_public_api_alone(folder: str) -> None:
    names = imported(ROOT / folder)
    assert any(name == "hopcast.scenario.Scenario" for _, name in names), "the walk finds imports"
    private = {
        (path.name, name)
        for path, name in names
        if name.startswith("hopcast") and any(part.startswith("_") for part in name.split(".") if part != "__version__")
    }
    assert private == set()
    reached = re.compile(r"\b(?:scenario|result)\._|\bhopcast\._(?!_version__)")
    assert [path.name for path in sorted((ROOT / folder).rglob("*.py")) if reached.search(path.read_text())] == []


ROUTING = ROOT / "crates/protocols/src/routing"


@pytest.mark.parametrize("protocol", sorted(path.parent.name for path in ROUTING.glob("*/config.rs")))
def test_the_folders_of_all_routing_protocols_have_one_shape(protocol: str) -> None:
    names = {path.stem for path in (ROUTING / protocol).iterdir()}
    assert names >= {"mod", "config", "table", "neighbours", "messages", "timers", "tests"}
    assert names <= {"mod", "config", "table", "neighbours", "messages", "timers", "tests"} | {
        "discovery",
        "forwarding",
        "maintenance",
        "header",
    }


def test_every_ban_bites(tmp_path: Path) -> None:
    """A path that clippy does not know bans nothing: each banned item is used once and must be reported."""
    bans = tomllib.loads((ROOT / "clippy.toml").read_text())
    types = [ban["path"] for ban in bans["disallowed-types"]]
    # What comes with another crate is not there to be used; the bans on it hold where it is.
    methods = [ban["path"] for ban in bans["disallowed-methods"] if not ban.get("allow-invalid", False)]
    shutil.copy(ROOT / "clippy.toml", tmp_path)
    (tmp_path / "src").mkdir()
    (tmp_path / "Cargo.toml").write_text('[package]\nname = "banned"\nedition = "2024"\n[workspace]\n')
    uses = [f"pub use {path} as Type{index};" for index, path in enumerate(types)]
    uses += [f"pub fn method{index}() {{ let _ = {path}; }}" for index, path in enumerate(methods)]
    (tmp_path / "src/lib.rs").write_text("\n".join(uses))

    command = ["cargo", "clippy", "--quiet", "--offline", "--message-format", "json"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    messages = [json.loads(line)["message"]["message"] for line in result.stdout.splitlines() if '"message"' in line]
    reported = {found[1] for text in messages if (found := re.search(r"disallowed (?:method|type) `(.*)`", text))}
    assert reported == {*types, *methods}, result.stderr


def test_a_crate_of_a_user_s_own_needs_no_workspace_of_hopcast(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "adding-a-protocol.md").read_text()
    manifest = page.split("## In your own workspace")[1].split("```toml\n")[1].split("```")[0]
    crate = tmp_path / "collection-tree"
    shutil.copytree(ROOT / "examples" / "adding-a-protocol", crate)
    (crate / "Cargo.toml").write_text(manifest.replace("../hopcast", str(ROOT)))

    command = ["cargo", "metadata", "--offline", "--no-deps", "--format-version", "1"]
    told = json.loads(subprocess.run(command, cwd=crate, capture_output=True, check=True).stdout)

    wanted = {dependency["name"] for dependency in told["packages"][0]["dependencies"]}
    with (ROOT / "examples" / "adding-a-protocol" / "Cargo.toml").open("rb") as ours:
        assert wanted == set(tomllib.load(ours)["dependencies"])


def test_what_is_distributed_names_the_licence_of_its_traces() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        pyproject = tomllib.load(file)
    assert "traces/README.md" in pyproject["project"]["license-files"]
    # A crate that compiles traces in, and all that contain it.
    ships = {"hopcast-sim", "hopcast-live", "hopcast-py"}
    for package in metadata()["packages"]:
        if package["name"] in ARROWS:
            assert ("CC-BY-3.0" in package["license"]) == (package["name"] in ships), package["name"]
    assert "CC-BY-3.0" in pyproject["project"]["license"]


@pytest.mark.parametrize("unit", sorted((ROOT / "packaging").glob("*.service")), ids=lambda unit: unit.name)
def test_systemd_understands_the_unit(unit: Path, tmp_path: Path) -> None:
    """All of its keys and values, with a program in place of the one that is to be installed."""
    if shutil.which("systemd-analyze") is None:
        assert "HOPCAST_REQUIRE_TOOLS" not in os.environ, "systemd-analyze isn't installed"
        pytest.skip("systemd-analyze isn't installed")
    copy = tmp_path / unit.name
    copy.write_text(unit.read_text().replace("/usr/local/bin/hopcast-live", str(shutil.which("true"))))

    result = subprocess.run(["systemd-analyze", "verify", copy], capture_output=True, text=True, check=False)

    # What it doesn't understand it tells, and goes on.
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_the_citation_has_the_version_and_what_its_schema_requires() -> None:
    """Keys that the schema of the Citation File Format 1.2.0 requires, each at the start of a line."""
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    keys = dict(re.findall(r"^([\w-]+):[ ]?(.*)$", citation, re.MULTILINE))
    version = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]["version"]
    assert {"authors", "message", "title"} <= keys.keys()
    assert (keys["cff-version"], keys["version"]) == ("1.2.0", version)


def test_no_text_names_a_place_on_one_machine() -> None:
    place = re.compile(r"(?<![\w.~$}-])/(?:root|home|work|Users)(?![\w-])")
    found = []
    for path in tracked_files():
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError:
            continue
        found += [
            f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
            for number, line in enumerate(lines, 1)
            if place.search(line)
        ]
    assert found == []
