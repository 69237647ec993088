"""R: other people's measurements, which may not be redistributed: finding and reading them."""

from __future__ import annotations

import gzip
import math
import os
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from hopcast.errors import HopcastError
from hopcast.scenario import trace_folders

CHAIN_TCP, CHAIN_LINKS = "rice-tfa/satcp.tsv", "rice-tfa/link.tsv"
LINKS = "rice-tfa/single_hop.csv"
FRAMES = "orbit-rssi/rutgers_orbit_rssi.csv.gz"
"""Below a folder of HOPCAST_TRACES (docs/traces.md)."""
FRAMES_SENT = 301
"""Frames that each node of ORBIT sent, numbered from 0, one each `FRAME_INTERVAL`."""
FRAME_INTERVAL = 0.1
"""Seconds."""


class MeasurementError(HopcastError):
    """A file of measurements has the wrong format."""


def missing(*names: str) -> Callable[[], str | None]:
    """A function that names those of these files that can't be found, if any."""

    def lacking() -> str | None:
        absent = [name for name in names if _find(name) is None]
        if not absent:
            return None
        return f"no {' and no '.join(absent)} in the folders of --traces and HOPCAST_TRACES (docs/traces.md)"

    return lacking


def chain_table(name: str, rows: int) -> list[list[float]]:
    """Kilobits per second: the first rows of a table of the four-hop chain, with a column for each trial."""
    return _chain_table(_path(name), rows)


@cache
def _chain_table(path: str, rows: int) -> list[list[float]]:
    table = [
        [_number(path, at, column, text) for column, text in enumerate(line.split("\t"), start=1)]
        for at, line in enumerate(_lines(path), start=1)
    ]
    if len(table) < rows:
        raise MeasurementError(f"{path}: {len(table)} rows, where {rows} are expected")
    return table[:rows]


@dataclass(frozen=True)
class Link:
    """One measurement between two places."""

    metres: float
    reading: float
    """Reading of the card, in dB relative to an unknown level."""
    transport: str
    """`tcp`, `udp`, or `None` if only the signal was measured."""
    kbps: float
    """NaN if it wasn't measured."""


def links() -> list[Link]:
    """The single links of the mesh, in the order of the file."""
    return _links(_path(LINKS))


@cache
def _links(path: str) -> list[Link]:
    found = []
    for at, line in enumerate(_lines(path), start=1):
        cells = line.split(",")
        if len(cells) != 7:
            raise MeasurementError(f"{path}, line {at}: {len(cells)} columns, where 7 are expected")
        if at == 1:
            continue
        metres, reading = _number(path, at, 2, cells[1]), _number(path, at, 3, cells[2])
        if metres <= 0.0:
            raise MeasurementError(f"{path}, line {at}, column 2: {metres:g} m, expected more than 0")
        kbps = _number(path, at, 6, cells[5]) if cells[5] else math.nan
        found.append(Link(metres, reading, cells[4], kbps))
    return found


@dataclass(frozen=True)
class Reception:
    """Frames that one node received from another."""

    noise_dbm: int
    received: tuple[bool, ...]
    """For each of `FRAMES_SENT` frames, whether it arrived."""


def receptions() -> list[Reception]:
    """The links of ORBIT at each level of noise, in the order of the file."""
    return _receptions(_path(FRAMES))


@cache
def _receptions(path: str) -> list[Reception]:
    found = []
    for at, line in enumerate(_lines(path), start=1):
        cells = line.split(",")
        if len(cells) != 6:
            raise MeasurementError(f"{path}, line {at}: {len(cells)} columns, where 6 are expected")
        if at == 1:
            continue
        received = [False] * FRAMES_SENT
        for frame in cells[5].split():
            number = _number(path, at, 6, frame.partition(":")[0])
            if number == FRAMES_SENT:
                # Some nodes sent one more.
                continue
            if number not in range(FRAMES_SENT):
                raise MeasurementError(
                    f"{path}, line {at}, column 6: frame {number:g}, expected a whole number from 0 to {FRAMES_SENT - 1}"
                )
            received[int(number)] = True
        found.append(Reception(int(_number(path, at, 1, cells[0])), tuple(received)))
    return found


def _find(name: str) -> str | None:
    paths = (os.path.join(folder, *name.split("/")) for folder in trace_folders())
    return next((path for path in paths if os.path.isfile(path)), None)


def _path(name: str) -> str:
    path = _find(name)
    if path is None:
        raise MeasurementError(missing(name)() or name)
    return path


def _lines(path: str) -> list[str]:
    """The lines of a text file, compressed or not."""
    try:
        if path.endswith(".gz"):
            with gzip.open(path, "rt", encoding="utf-8") as file:
                return file.read().splitlines()
        with open(path, encoding="utf-8") as file:
            return file.read().splitlines()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise MeasurementError(f"{path}: can't be read: {error}") from None


def _number(path: str, line: int, column: int, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise MeasurementError(f"{path}, line {line}, column {column}: {text!r}, expected a number")
    return number
