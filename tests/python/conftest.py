"""Small scenarios, in both spellings, and a way to call the command line."""

from __future__ import annotations

import copy
import gzip
import importlib.util
import math
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import settings

from hopcast import Scenario

ROOT = Path(__file__).parents[2]
PATIENCE_S = 300.0
"""A command takes longer only if it hangs: on a busy machine one of ten seconds took over a minute."""

# How long an example takes depends on what else the machine does.
settings.register_profile("hopcast", deadline=None)
settings.load_profile("hopcast")

# Tests interrupt programs, which ignore what they are started with ignored: Ctrl-C in the background of a shell, SIGHUP under nohup.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

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
APART = TOML.replace('to = "n1"', 'to = "x"', 1) + '[[nodes]]\nname = "x"\nrole = "wired"\n'
"""No wire leads to `x`, where a flow goes."""

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
    """The command line, in a separate process."""

    def call(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command(*arguments),
            capture_output="stdout" not in options,
            text=True,
            timeout=PATIENCE_S,
            check=False,
            **options,
        )

    return call


@pytest.fixture(scope="session")
def measurements(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with made-up measurements in the forms of those that can't be passed on."""
    folder = tmp_path_factory.mktemp("traces")
    draw = random.Random(1)
    mesh, grid = folder / "rice-tfa", folder / "orbit-rssi"
    mesh.mkdir()
    grid.mkdir()
    rates = [[draw.gauss(4000.0, 100.0) for _ in range(6)] for _ in range(8)]
    for name in ("link.tsv", "satcp.tsv"):
        (mesh / name).write_text("".join("\t".join(f"{rate:.0f}" for rate in row) + "\n" for row in rates))
    lines = ["date,distance_m,signal_reading_dbm,signal_spread,transport,throughput_kbps,throughput_spread"]
    for index in range(120):
        metres = draw.uniform(60.0, 400.0)
        reading = 60.0 - 33.0 * math.log10(metres) + draw.gauss(0.0, 6.0)
        measured = ("udp,2000.0,80.0", ",,")[index // 2 % 2]
        lines.append(f"2005-04-07,{metres:.1f},{reading:.1f},1.0,{measured}")
    (mesh / "single_hop.csv").write_text("\n".join(lines) + "\n")
    with gzip.open(grid / "rutgers_orbit_rssi.csv.gz", "wt") as file:
        file.write("noise_dbm,day,src,dst,received,seq_rssi\n")
        for noise in (-20, -15, -10, -5, 0):
            for link in range(12):
                share = (0.0, 1.0, 0.4)[link // 2 % 3]
                frames = [frame for frame in range(302) if draw.random() >= share]
                text = " ".join(f"{frame}:30" for frame in frames)
                file.write(f"{noise},Sat,1-1,1-{link + 2},{len(frames)},{text}\n")
    return folder


def documentation_tool(name: str) -> ModuleType:
    """A module of `tools/docs`."""
    spec = importlib.util.spec_from_file_location(f"tools_docs_{name}", ROOT / "tools" / "docs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    # A dataclass looks for its module there.
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def command(*arguments: object) -> list[str]:
    """The command line as the arguments of a process."""
    return [sys.executable, "-m", "hopcast", *map(str, arguments)]


def environment(**changes: str) -> dict[str, str]:
    """The environment of this process, with changes."""
    return os.environ | changes
