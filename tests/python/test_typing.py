"""The types that people see, checked by mypy. `make lint` compares the stub of the extension module with the module."""

from __future__ import annotations

import subprocess
import sys

import pytest

# One process asks mypy for all of these tests.
pytestmark = pytest.mark.xdist_group("typing")

GOOD = """
import hopcast
from hopcast.types import Flow, Radio
import polars
from matplotlib.figure import Figure

radio: Radio = {"standard": "802.11a", "data_rate": "54 Mb/s", "retry_limit": {"short": 7}}
flow: Flow = {"name": "f", "from": "a", "to": "b", "transport": {"protocol": "tcp", "window": 4},
              "application": {"kind": "bulk"}}
scenario = hopcast.Scenario(duration=1.0, radio=radio, flows=[flow], nodes=[
    {"name": "a", "placement": {"shape": "points", "at": [[0, "0 m"]]}},
    {"name": "b", "placement": {"shape": "points", "at": [[5, 0]]}},
])
result: hopcast.Result = hopcast.run(scenario.set("seed", 2), replications=2)
table: polars.DataFrame = result.flows
figure: Figure = result.plot("cwnd")
"""

BAD = {
    "unknown key": ('"data_rate"', '"data_rat"'),
    "unknown word": ('"802.11a"', '"802.11x"'),
    "wrong type": ('"window": 4', '"window": "4"'),
    "wrong argument": ("replications=2", "replication=2"),
}


@pytest.fixture(scope="module")
def complaints(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What mypy says of each program, by its name. One run reads the types of hopcast and of its libraries once."""
    folder = tmp_path_factory.mktemp("programs")
    programs = {"good": GOOD} | {name: GOOD.replace(*change) for name, change in BAD.items()}
    paths = {name: folder / f"{name.replace(' ', '_')}.py" for name in programs}
    for name, path in paths.items():
        path.write_text(programs[name])
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--cache-dir",
        str(folder / "cache"),
        *map(str, paths.values()),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 1, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    return {name: "\n".join(line for line in lines if line.startswith(path.name)) for name, path in paths.items()}


def test_the_public_interface_is_typed(complaints: dict[str, str]) -> None:
    assert complaints["good"] == ""


@pytest.mark.parametrize("name", BAD)
def test_mistakes_are_found(name: str, complaints: dict[str, str]) -> None:
    assert BAD[name][0] in GOOD
    assert "error:" in complaints[name]
