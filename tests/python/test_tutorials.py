"""The first steps and the tutorials do what they say, for a reader who follows them by their text alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import PATIENCE_S, ROOT, environment
from walk import WIDTH, walk

DOCS = ROOT / "docs"


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


@pytest.mark.parametrize("name", ["first-steps", "tutorials/mesh", "tutorials/lecture", "tutorials/protocol"])
def test_a_page_does_what_it_says(name: str, tmp_path: Path) -> None:
    walk(page(name), tmp_path, lambda command: as_this_user(tmp_path, command=command))
