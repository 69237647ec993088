"""A cloud of real hosts over emulated radios has the fate of the simulated one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "examples" / "cloud-over-hops.sh"


@pytest.mark.slow
@pytest.mark.xdist_group("network")
@pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0 or not Path("/dev/net/tun").exists(),
    reason="root's rights or /dev/net/tun are missing",
)
def test_a_film_over_two_real_hops_starts_and_plays_as_in_the_simulation() -> None:
    if shutil.which("ffmpeg") is None:
        assert "HOPCAST_REQUIRE_TOOLS" not in os.environ, "ffmpeg isn't installed"
        pytest.skip("ffmpeg isn't installed")
    program = Path(sys.executable).with_name("hopcast")
    done = subprocess.run(
        ["sh", str(SCRIPT)], env=os.environ | {"HOPCAST": str(program)}, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    said, _, _, *rows = done.stdout.splitlines()
    assert said == "the film has arrived whole"
    live, simulated = ([cell.strip() for cell in row.strip("|").split("|")] for row in rows)
    assert live[0] == "live"
    assert simulated[0] == "simulated"
    # Outcome, hops, stalls.
    assert live[1:3] == simulated[1:3] == ["completed", "2"]
    assert live[4] == simulated[4] == "0"
    # A search takes 0.5 s and the buffer holds 1 s; a busy machine delays a message by some of its 100 ms.
    starts = [float(row[3].removesuffix(" s")) for row in (live, simulated)]
    assert abs(starts[0] - starts[1]) < 0.5, starts
