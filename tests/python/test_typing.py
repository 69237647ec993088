"""The types that people see: checked by mypy, and the stub of the extension module against the module."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

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


def mypy(path: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(path.parent / "cache"), str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=path.parent)


def test_the_public_interface_is_typed(tmp_path: Path) -> None:
    path = tmp_path / "good.py"
    path.write_text(GOOD)
    done = mypy(path)
    assert done.returncode == 0, done.stdout


def test_mistakes_are_found(tmp_path: Path) -> None:
    for name, change in BAD.items():
        path = tmp_path / f"{name.replace(' ', '_')}.py"
        assert change[0] in GOOD
        path.write_text(GOOD.replace(*change))
        assert mypy(path).returncode == 1, name


@pytest.mark.parametrize("module", ["hopcast._core"])
def test_the_stub_is_that_of_the_module(module: str) -> None:
    done = subprocess.run([sys.executable, "-m", "mypy.stubtest", module], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
