"""The five uses for which hopcast is made, step by step, as somebody who is new to it tries them by the docs alone.

Each page in `walks` is a transcript in the form of `walk.py`. It names the pages of docs by which its reader knows the commands, and every
option that it types is on one of them.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from conftest import ROOT
from ordinary_user import as_ordinary_user, closed_folders, skip_unless_possible
from test_tutorials import as_this_user, skip_without_programs
from walk import Step, steps, walk

WALKS = Path(__file__).parent / "walks"
NAMES = ("thesis", "webrtc", "mesh-on-hosts", "lecture", "extension")
PATIENCE_S = 600.0
FIRST_RESULT_S = 60.0
"""A first result is there within this time, as the README promises of a smaller first step; measured on idle machines it takes seconds."""


def page(name: str) -> str:
    return (WALKS / f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_every_option_of_a_walk_is_on_a_page_that_it_names(name: str) -> None:
    text = page(name)
    named = re.findall(r"\]\((\.\./\.\./\.\./[^)#]+)(?:#[^)]*)?\)", text)
    assert len(named) > 3
    docs = "".join((WALKS / target).resolve().read_text(encoding="utf-8") for target in named)
    for step in steps(text):
        if not isinstance(step, Step):
            continue
        for command in re.findall(r"hopcast ((?:[a-z]+ ?)*.*?)(?:[;&|]|$)", step.command):
            for option in re.findall(r"(?<![\w-])(--[a-z][a-z-]+)", command):
                assert option in docs, f"{option} of {step.command!r} is on no page that {name}.md names"


@pytest.mark.parametrize("name", ["thesis", "lecture", "extension"])
@pytest.mark.slow
def test_a_walk_in_the_simulator(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCES", str(ROOT))
    if name == "lecture":
        skip_without_programs("tshark")
    walk(page(name), tmp_path, lambda command: as_this_user(tmp_path, command=command))


@pytest.mark.parametrize("kind", ["mesh", "hidden-terminals", "string"])
def test_the_first_result_is_there_within_a_minute(kind: str, tmp_path: Path) -> None:
    begun = time.monotonic()
    done = as_this_user(tmp_path, command=["bash", "-c", f"hopcast init {kind} && hopcast run {kind}.toml"])
    assert done.returncode == 0, done.stderr
    assert "goodput" in done.stdout
    assert time.monotonic() - begun < FIRST_RESULT_S


@pytest.fixture
def open_folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that all users may read and write."""
    monkeypatch.setenv("SOURCES", str(ROOT))
    with TemporaryDirectory() as name:
        folder = Path(name)
        for closed in closed_folders(folder):
            closed.chmod(0o755)
        folder.chmod(0o777)
        yield folder


def as_user(folder: Path, command: list[str]) -> subprocess.CompletedProcess[str]:
    return as_ordinary_user(command, cwd=folder, timeout=PATIENCE_S)


@pytest.mark.slow
@pytest.mark.xdist_group("network")
def test_a_walk_with_media_over_wifi(open_folder: Path) -> None:
    skip_unless_possible()
    skip_without_programs("ffmpeg", "curl", "tshark", "iperf3")
    walk(page("webrtc"), open_folder, lambda command: as_user(open_folder, command))


@pytest.mark.slow
@pytest.mark.xdist_group("network")
def test_a_walk_with_five_hosts_in_a_ring(open_folder: Path) -> None:
    skip_unless_possible()
    skip_without_programs("ping", "ffmpeg", "curl")
    tutorial = (ROOT / "docs" / "tutorials" / "router.md").read_text(encoding="utf-8")
    shell = re.search(r"^(unshare .*) bash$", tutorial, re.MULTILINE)
    assert shell
    walk(
        page("mesh-on-hosts"),
        open_folder,
        lambda command: as_user(open_folder, [*shlex.split(shell[1]), *command]),
    )


def test_walks_are_complete() -> None:
    assert sorted(path.stem for path in WALKS.glob("*.md")) == sorted(NAMES)
    assert os.access(WALKS, os.R_OK)
