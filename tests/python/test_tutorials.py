"""The first steps and the tutorials do what they say, for a reader who follows them by their text alone."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from conftest import PATIENCE_S, ROOT, environment
from ordinary_user import as_ordinary_user, closed_folders, skip_unless_possible
from walk import WIDTH, walk

DOCS = ROOT / "docs"
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pages are written for a shell of Unix")


def page(name: str) -> str:
    return (DOCS / f"{name}.md").read_text(encoding="utf-8")


def as_this_user(folder: Path, *, command: list[str]) -> subprocess.CompletedProcess[str]:
    """Runs a command as a reader with a terminal of the width that pages show, who has hopcast in the path."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        command,
        cwd=folder,
        env=environment(PATH=path, COLUMNS=str(WIDTH), PYTHONIOENCODING="utf-8", PYTHONUNBUFFERED="1"),
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE_S,
        check=False,
    )


@pytest.mark.parametrize(
    "name", ["first-steps", "recipes", "tutorials/mesh", "tutorials/lecture", "tutorials/protocol"]
)
def test_a_page_about_simulations_does_what_it_says(name: str, tmp_path: Path) -> None:
    walk(page(name), tmp_path, lambda command: as_this_user(tmp_path, command=command))


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that all users may read and write. It is not pytest's folder, which only its owner may enter."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        for closed in closed_folders(folder):
            closed.chmod(0o755)
        folder.chmod(0o777)
        yield folder


@pytest.mark.xdist_group("network")
def test_the_router_does_what_its_tutorial_says(open_folder: Path) -> None:
    """As an ordinary user, in the shell that the tutorial opens."""
    skip_unless_possible()
    skip_without_programs("ping")
    shell = re.search(r"^(unshare .*) bash$", page("tutorials/router"), re.MULTILINE)
    assert shell
    walk(
        page("tutorials/router"),
        open_folder,
        lambda command: as_ordinary_user([*shlex.split(shell[1]), *command], cwd=open_folder, timeout=PATIENCE_S),
    )


@pytest.mark.slow
@pytest.mark.xdist_group("network")
def test_the_call_does_what_its_tutorial_says(open_folder: Path) -> None:
    """As an ordinary user. Four calls of ten seconds."""
    skip_unless_possible()
    if importlib.util.find_spec("aiortc") is None:
        assert "HOPCAST_REQUIRE_TOOLS" not in os.environ, "aiortc is not installed"
        pytest.skip("aiortc is not installed")
    walk(
        page("tutorials/webrtc"),
        open_folder,
        lambda command: as_ordinary_user(command, cwd=open_folder, timeout=PATIENCE_S),
    )


def skip_without_programs(*programs: str) -> None:
    """Skips a test where a program is missing, and says which."""
    if missing := [program for program in programs if shutil.which(program) is None]:
        assert "HOPCAST_REQUIRE_TOOLS" not in os.environ, f"{missing[0]} is not installed"
        pytest.skip(f"{missing[0]} is not installed")
