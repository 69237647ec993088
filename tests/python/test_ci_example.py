"""The example of a test for continuous integration runs as an ordinary user, and fails where it should."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from conftest import ROOT, command
from ordinary_user import as_ordinary_user, closed_folders, skip_unless_possible

EXAMPLE = ROOT / "examples" / "ci" / "test_call.py"
SCENARIO = ROOT / "examples" / "wifi.toml"
pytestmark = pytest.mark.xdist_group("network")


@pytest.fixture
def copy() -> Iterator[Path]:
    """A folder that all users may read, with the example and its scenario. The machine may be slow, since other tests run. It is not
    pytest's folder, which each session of pytest closes to other users when it begins.
    """
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "ci").mkdir()
        (folder / "ci" / EXAMPLE.name).write_text(EXAMPLE.read_text(encoding="utf-8"))
        text = SCENARIO.read_text(encoding="utf-8")
        (folder / "wifi.toml").write_text(text.replace("[radio]", 'emulation = { lag_limit = "1 s" }\n[radio]', 1))
        (folder / "wifi.movements").write_text(SCENARIO.with_suffix(".movements").read_text(encoding="utf-8"))
        for closed in closed_folders(folder):
            closed.chmod(0o755)
        yield folder


def run(folder: Path) -> subprocess.CompletedProcess[str]:
    skip_unless_possible()
    return as_ordinary_user(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", folder, folder / "ci"], cwd=folder
    )


def test_the_example_passes_as_an_ordinary_user(copy: Path) -> None:
    done = run(copy)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


def test_the_example_fails_if_one_packet_of_twenty_is_lost(copy: Path) -> None:
    scenario = copy / "wifi.toml"
    losses = 'errors = { model = "packet", level = "network", rate = 0.05 }'
    scenario.write_text(scenario.read_text().replace("[radio]", f"[radio]\n{losses}", 1))
    for _ in range(4):
        done = run(copy)
        assert done.returncode == 1
        # iperf3 gives up where its first datagram is lost or the answer, which is one time in ten here.
        if "a program failed" not in done.stdout:
            break
    assert 'assert call["loss_ratio"] < 0.01' in done.stdout


def test_the_page_shows_the_example() -> None:
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    assert f"```python\n{EXAMPLE.read_text(encoding='utf-8')}```\n" in page


AS_ROOT = pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="only root can take permissions away")


@AS_ROOT
@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (
            {"mode": "600"},
            "/dev/net/tun: Permission denied; root permits it to everybody with `chmod 666 /dev/net/tun`\n",
        ),
        # Containers cover parts of /proc, and then the kernel permits no new one.
        ({"before": "mount -t tmpfs tmpfs /proc/fs"}, "needs a new /proc, which the container forbids"),
    ],
)
def test_a_message_names_what_is_missing(copy: Path, changed: dict[str, str], told: str) -> None:
    skip_unless_possible()
    done = as_ordinary_user(command("emulate", copy / "wifi.toml", "--rootless"), **changed)
    assert done.returncode == 2
    assert done.stderr.startswith("hopcast: ")
    assert told in done.stderr
