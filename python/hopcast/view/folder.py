"""Recordings in the folder of a run."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DESCRIPTION = "recording.json"
PARTS = ("events.bin", "samples.bin", "positions.bin", "levels.bin")
FORMAT = 1
EVENT = (
    ("time_ns", "<u8"),
    ("duration_ns", "<u4"),
    ("node", "<u2"),
    ("peer", "<u2"),
    ("kind", "u1"),
    ("code", "u1"),
    ("flow", "<u2"),
    ("size_bytes", "<u4"),
    ("frame", "<u4"),
    ("value", "<i4"),
)
"""The fields of a record of `events.bin`, as NumPy names their types."""
EVENT_BYTES = 32
NO_INDEX, NO_FRAME, NO_VALUE = 0xFFFF, 0xFFFFFFFF, -(2**31)
"""No node or flow, no transmission, no value."""


class NothingToView(Exception):
    """A folder has no recording that can be viewed; says why."""


@dataclass(frozen=True)
class Folder:
    """The recording of one seed."""

    path: Path
    about: dict[str, Any]
    """What `recording.json` says."""

    @property
    def seed(self) -> int:
        """The seed of the run."""
        return int(self.about["seed"])

    def missing_events(self) -> int:
        """Number of events that `events.bin` lacks, if it was cut."""
        held = (self.path / "events.bin").stat().st_size // EVENT_BYTES
        return max(int(self.about["events"]) - held, 0)


def find(folder: str | os.PathLike[str], seed: int | None = None) -> tuple[Folder, list[int]]:
    """The recording with this seed in the folder of a run, by default the first, and the seeds of all. The folder of a
    recording itself will do. Raises `NothingToView`.
    """
    path = Path(folder)
    if not path.is_dir():
        raise NothingToView(f"{path}: {'is a file; expected a folder' if path.exists() else 'there is no such folder'}")
    described = [path / DESCRIPTION, *(path / "recording").glob(f"*/{DESCRIPTION}")]
    found = sorted((_read(file.parent) for file in described if file.is_file()), key=lambda one: one.seed)
    if not found:
        raise NothingToView(f"{path} holds no recording: run the scenario again with --record")
    seeds = [recording.seed for recording in found]
    if seed is None:
        return found[0], seeds
    for recording in found:
        if recording.seed == seed:
            return recording, seeds
    raise NothingToView(f"{path} holds no recording of seed {seed}, only of {', '.join(map(str, seeds))}")


def _read(path: Path) -> Folder:
    file = path / DESCRIPTION
    try:
        about = json.loads(file.read_text(encoding="utf-8"))
        version = about["format"]
        recording = Folder(path, about)
        _ = recording.seed, int(about["events"])
    except OSError as error:
        raise NothingToView(f"{file}: can't be read: {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError):
        raise NothingToView(f"{file}: is not the description of a recording") from None
    if version != FORMAT:
        raise NothingToView(f"{file}: has format {version}; this hopcast reads format {FORMAT}")
    if not (path / "events.bin").is_file():
        raise NothingToView(f"{path}: events.bin is missing")
    return recording
