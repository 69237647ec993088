"""`make wheel`: what it builds, installed where there is no compiler."""

from __future__ import annotations

import json
import subprocess
import tarfile
import time
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

from conftest import ROOT, environment

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def dist() -> Path:
    """The folder with wheel and source distribution, built now."""
    folder = ROOT / "dist"
    for old in (*folder.glob("*.whl"), *folder.glob("*.tar.gz")):
        old.unlink()
    subprocess.run(["make", "-s", "wheel"], cwd=ROOT, check=True)
    return folder


def test_a_wheel_gives_the_first_figure_within_a_minute_without_a_compiler(dist: Path, tmp_path: Path) -> None:
    (wheel,) = dist.glob("*.whl")
    assert "-abi3-manylinux_" in wheel.name
    assert wheel.stat().st_size < 15e6
    venv.create(tmp_path / "venv", with_pip=True)
    programs = tmp_path / "venv" / "bin"
    bare = environment(PATH=str(programs))
    bare.pop("PYTHONPATH", None)

    def call(*arguments: str) -> str:
        program, *rest = arguments
        done = subprocess.run(
            [programs / program, *rest], cwd=tmp_path, env=bare, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    began = time.monotonic()
    call("pip", "install", "--quiet", "--only-binary", ":all:", str(wheel))
    call("hopcast", "init", "film")
    told = call("hopcast", "run", "film.toml", "--out", "result")
    call("hopcast", "report", "result")
    assert time.monotonic() - began < 60.0
    assert (tmp_path / "venv" / "share" / "man" / "man1" / "hopcast-run.1").is_file()
    # The README's example, with the README's numbers.
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (lost,) = [line for line in readme.splitlines() if line.startswith("│ film ")]
    assert lost in told
    assert "<svg" in (tmp_path / "result" / "report.html").read_text(encoding="utf-8")


def test_a_wheel_names_what_it_is_made_of(dist: Path) -> None:
    (wheel,) = dist.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if ".dist-info/sboms/" in name]
        bill = json.loads(archive.read(name))
    assert bill["bomFormat"] == "CycloneDX"
    named = {(part["name"], part["version"]) for part in bill["components"]}
    crates = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    locked = {(crate["name"], crate["version"]) for crate in crates}
    assert named <= locked
    # One of each kind: of the project, from crates.io, and one that only another crate needs.
    for wanted in ("hopcast-radio", "pyo3", "signal-hook-registry"):
        assert wanted in {name for name, _ in named}


def test_the_source_distribution_compiles(dist: Path, tmp_path: Path) -> None:
    (packed,) = dist.glob("*.tar.gz")
    with tarfile.open(packed) as archive:
        archive.extractall(tmp_path, filter="data")
    (unpacked,) = tmp_path.iterdir()
    manifest = unpacked / "crates" / "py" / "Cargo.toml"
    shared = environment(CARGO_TARGET_DIR=str(ROOT / "target"))
    subprocess.run(["cargo", "check", "-q", "--manifest-path", manifest], env=shared, check=True)
