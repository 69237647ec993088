"""Small scenarios, in both spellings, and a way to call the command line."""

from __future__ import annotations

import copy
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hopcast import Scenario

ROOT = Path(__file__).parents[2]

TOML = """
name = "two laptops"
duration = "300 ms"
seed = 7

[radio]
standard = "802.11a"
data_rate = "54 Mb/s"
rts_threshold = "off"

[[nodes]]
name = "n"
count = 3
placement = { shape = "line", spacing = "5 m" }

[[flows]]
name = "units"
from = "n0"
to = "n1"
transport = { protocol = "udp" }
application = { kind = "adu", size = "1024 B", wait = "1 ms" }

[[flows]]
name = "bulk"
from = "n2"
to = "n1"
start = "10 ms"
transport = { protocol = "tcp", window = 8 }
application = { kind = "bulk" }
"""

OBJECTS: dict[str, Any] = {
    "name": "two laptops",
    "duration": 0.3,
    "seed": 7,
    "radio": {"standard": "802.11a", "data_rate": 54_000_000, "rts_threshold": "off"},
    "nodes": [{"name": "n", "count": 3, "placement": {"shape": "line", "spacing": 5}}],
    "flows": [
        {
            "name": "units",
            "from": "n0",
            "to": "n1",
            "transport": {"protocol": "udp"},
            "application": {"kind": "adu", "size": 1024, "wait": 0.001},
        },
        {
            "name": "bulk",
            "from": "n2",
            "to": "n1",
            "start": 0.01,
            "transport": {"protocol": "tcp", "window": 8},
            "application": {"kind": "bulk"},
        },
    ],
}

Hopcast = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def objects() -> dict[str, Any]:
    """The scenario as Python objects, to change at will."""
    return copy.deepcopy(OBJECTS)


@pytest.fixture(params=["toml", "objects"])
def scenario(request: pytest.FixtureRequest) -> Scenario:
    """The scenario through both doors."""
    return Scenario.from_toml(TOML) if request.param == "toml" else Scenario(**OBJECTS)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The scenario as a file."""
    path = tmp_path / "two.toml"
    path.write_text(TOML)
    return path


@pytest.fixture
def hopcast() -> Hopcast:
    """The command line, in a process of its own."""

    def call(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command(*arguments), capture_output="stdout" not in options, text=True, timeout=60, check=False, **options
        )

    return call


def command(*arguments: object) -> list[str]:
    """The command line as the arguments of a process."""
    return [sys.executable, "-m", "hopcast", *map(str, arguments)]


def environment(**changes: str) -> dict[str, str]:
    """The environment of this process, with changes."""
    return os.environ | changes
