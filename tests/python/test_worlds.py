"""Random worlds by Python, on the command line and in other processes: their results are those of the simulator in Rust."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import subprocess
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from conftest import Hopcast
from hopcast import Scenario, run

ROOT = Path(__file__).parents[2]
SELECTION = ["--workspace", "--exclude", "hopcast-py", "--locked", "--test", "integration"]
"""What `make test` has compiled."""
WRITE = ["cargo", "test", *SELECTION, "worlds_are_written", "--", "--ignored"]
COMMAND_LINE_EACH = 4
"""One world of this number also runs on the command line, which starts Python each time."""

# All in the process that draws the worlds.
pytestmark = pytest.mark.xdist_group("worlds")


@dataclass
class World:
    """A scenario as objects and as text, and its result."""

    objects: dict[str, Any]
    toml: str
    result: dict[str, Any]


def result(run: dict[str, Any]) -> dict[str, Any]:
    """A result without what the machine took, and without what made it."""
    return {key: value for key, value in run.items() if key not in ("cost", "provenance")}


def simulate(objects: dict[str, Any]) -> dict[str, Any]:
    """The result of a world given as objects."""
    return result(run(Scenario(**objects)).json())


@pytest.fixture(scope="module", params=[40, pytest.param(1000, marks=pytest.mark.slow)])
def worlds(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[World]:
    """Those that the simulator's own test draws, with their results there."""
    if shutil.which("cargo") is None:
        assert "HOPCAST_REQUIRE_TOOLS" not in os.environ
        pytest.skip("cargo is not installed")
    folder = tmp_path_factory.mktemp("worlds")
    variables = os.environ | {"HOPCAST_WORLDS": str(request.param), "HOPCAST_WORLDS_TO": str(folder)}
    subprocess.run(WRITE, cwd=ROOT, env=variables, check=True, capture_output=True)
    texts = [json.loads(path.read_text()) for path in sorted(folder.iterdir(), key=lambda path: int(path.stem))]
    assert len(texts) > 0.7 * request.param
    return [World(text["world"], text["toml"], result(text["result"])) for text in texts]


def test_worlds_as_objects_have_the_results_of_the_simulator(worlds: list[World]) -> None:
    for world in worlds:
        assert simulate(world.objects) == world.result, world.toml


def test_worlds_have_the_same_results_in_several_processes(worlds: list[World]) -> None:
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        found = pool.map(simulate, [world.objects for world in worlds])
        for world, one in zip(worlds, found, strict=True):
            assert one == world.result, world.toml


def test_worlds_have_the_same_results_on_the_command_line(
    worlds: list[World], tmp_path: Path, hopcast: Hopcast
) -> None:
    path = tmp_path / "world.toml"
    for world in worlds[::COMMAND_LINE_EACH]:
        path.write_text(world.toml)
        done = hopcast("run", path, "--json")
        assert done.returncode == 0, done.stderr + world.toml
        assert result(json.loads(done.stdout)) == world.result, world.toml
