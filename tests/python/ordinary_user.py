"""Commands as an ordinary user, also where root runs the tests, with a `/dev/net/tun` as most distributions have it."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT, environment

TUN = Path("/dev/net/tun")
TOOLS = ("ip", "iperf3", "setpriv", "unshare")

# In a mount namespace, so that nothing of it is seen outside: opens the device, and what leads to Python and to the tests, to
# all users. A folder that only root may enter is covered by an empty one, in which the paths below it appear again.
SET_UP = """
set -e
mount -t tmpfs tmpfs /mnt
mknod -m "$1" /mnt/tun c 10 200
mount --bind /mnt/tun /dev/net/tun
eval "$2"
closed=$3
shift 3
if [ -n "$closed" ]; then
    mkdir /mnt/closed
    mount --bind "$closed" /mnt/closed
    mount -t tmpfs -o mode=755 tmpfs "$closed"
    while [ "$1" != -- ]; do
        mkdir -p "$closed/$1"
        mount --bind "/mnt/closed/$1" "$closed/$1"
        shift
    done
fi
while [ "$1" != -- ]; do shift; done
shift
exec setpriv --reuid=65534 --regid=65534 --clear-groups -- "$@"
"""


@functools.cache
def hindrance() -> str | None:
    """Why no ordinary user can emulate here."""
    if sys.platform != "linux":
        return "no Linux"
    if missing := [tool for tool in TOOLS if shutil.which(tool) is None]:
        return f"{missing[0]} is not installed"
    if not TUN.exists():
        return f"no {TUN}"
    if os.geteuid() != 0 and not os.access(TUN, os.R_OK | os.W_OK):
        return f"an ordinary user can't open {TUN}"
    spaces = ["unshare", "--user", "--map-root-user", "--mount", "--net", "--pid", "--mount-proc", "--fork", "true"]
    tried = as_ordinary_user(spaces)
    return tried.stderr.strip() if tried.returncode else None


def skip_unless_possible() -> None:
    """Skips a test where no ordinary user can emulate, and says why."""
    if reason := hindrance():
        assert "HOPCAST_REQUIRE_TOOLS" not in os.environ, reason
        pytest.skip(reason)


def as_ordinary_user(
    command: list[Any], mode: str = "666", before: str = ":", **options: Any
) -> subprocess.CompletedProcess[str]:
    """Runs a command as this user, or as `nobody` if this is root.

    Root also sets the mode of `/dev/net/tun`, and runs the shell line `before` in the mount namespace of the command.
    """
    if os.geteuid() == 0:
        readable = [Path(sys.prefix), Path(sys.base_prefix), ROOT]
        closed = next((folder for path in readable for folder in closed_folders(path)), None)
        below = [str(path.relative_to(closed)) for path in readable if closed and path.is_relative_to(closed)]
        command = ["unshare", "--mount", "sh", "-c", SET_UP, "sh", mode, before, closed or "", *below, "--", *command]
    return subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        timeout=options.pop("timeout", 120),
        check=False,
        env=environment(
            PATH=f"{Path(sys.executable).parent}:{os.environ['PATH']}", HOME="/", PYTHONDONTWRITEBYTECODE="1"
        ),
        **options,
    )


def closed_folders(path: Path) -> list[Path]:
    """Folders on the way to a path that only their owner may enter, the outermost first."""
    return [folder for folder in reversed([path, *path.parents]) if not folder.stat().st_mode & 0o001]
