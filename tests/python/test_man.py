"""The manual pages that the wheel installs."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib

import pytest

from conftest import ROOT, command
from hopcast.cli import hopcast

FOLDER = ROOT / "packaging" / "wheel" / "data" / "share" / "man" / "man1"
COMMANDS = hopcast.list_commands(None)  # type: ignore[arg-type]


def test_the_wheel_carries_them() -> None:
    data = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["maturin"]["data"]
    # maturin puts DATA/data/share into the share of the environment.
    assert ROOT / data / "data" / "share" / "man" / "man1" == FOLDER
    assert {f"hopcast-{name}.1" for name in COMMANDS} | {"hopcast.1"} <= {path.name for path in FOLDER.iterdir()}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_page_has_every_option_of_its_command(name: str) -> None:
    done = subprocess.run([*command(), name, "--help"], capture_output=True, text=True, check=True)
    options = set(re.findall(r"^ +(?:-\w, )?(--[a-z][a-z-]*)", done.stdout, re.MULTILINE)) - {"--help"}
    page = (FOLDER / f"hopcast-{name}.1").read_text(encoding="utf-8").replace("\\", "")
    assert not [option for option in options if option not in page]
    assert f"hopcast-{name}" in (FOLDER / "hopcast.1").read_text(encoding="utf-8")


def test_roff_complains_of_nothing() -> None:
    if shutil.which("groff") is None:
        pytest.skip("groff is missing")
    for page in sorted(FOLDER.iterdir()):
        done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z", page], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, ""), page.name
