"""Keeps finished runs in a file, so that a study that was interrupted does not repeat them.

The file is an SQLite database: it holds each run completely or not at all, however the process ends. The key of a run
is the SHA-256 of its scenario, of the traces that the scenario names, its seed, the build of hopcast, the function
that observed it, and the models written in Python with their modules. If one of these changes, the run is repeated.
Traces and the files of studies count as they were read, even if they have changed since.
"""

from __future__ import annotations

import errno
import functools
import hashlib
import inspect
import json
import os
import sqlite3
import sys
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopcast.errors import OutputError
from hopcast.files import DIGEST
from hopcast.scenario import digest
from hopcast.version import build

if TYPE_CHECKING:
    from hopcast.results import Result
    from hopcast.scenario import Scenario

Observe = Callable[["Result"], dict[str, Any]]
"""Reads from a run what its document lacks."""
NAME = "runs.sqlite"
"""Name of the file in the folder of a study."""
BUSY_S = 30.0
"""Time to wait for another process that writes to the same file."""
LOADED_NS = time.time_ns()
"""Time when this module was loaded, in ns since 1970."""


class KeptRuns:
    """Runs in the folder of a study, of this study or an earlier one. Raises `OutputError` if the file is something
    else.

    An error of the file does not stop a study: `failure` then has the reason, and nothing more is kept.
    """

    def __init__(self, folder: str | os.PathLike[str], *, fresh: bool = False) -> None:
        """`fresh` removes earlier runs."""
        self.failure: str | None = None
        self._path = os.path.join(os.fspath(folder), NAME)
        self._connection: sqlite3.Connection | None = None
        try:
            if fresh:
                for name in (self._path, f"{self._path}-journal"):
                    Path(name).unlink(missing_ok=True)
            if os.path.lexists(self._path):
                self._open()
        except (OSError, sqlite3.Error) as error:
            raise OutputError(
                errno.EINVAL, f"runs can't be kept there: {error}; `--fresh` begins it anew", self._path
            ) from None

    def find(self, scenario: Scenario, seed: int, observe: Observe | None) -> str | None:
        """The document of a run as JSON text, if there is one."""
        name = _name(scenario, seed, observe)
        if self._connection is None or name is None:
            return None
        try:
            row = self._connection.execute("SELECT document FROM runs WHERE name = ?", (name,)).fetchone()
            if row is None:
                return None
            text = zlib.decompress(row[0]).decode()
            return text if isinstance(json.loads(text), dict) else None
        except (sqlite3.Error, zlib.error, ValueError, TypeError):
            return None

    def put(self, scenario: Scenario, seed: int, observe: Observe | None, document: str) -> None:
        """Keep a run that has finished."""
        name = _name(scenario, seed, observe)
        if self.failure is not None or name is None:
            return
        try:
            connection = self._connection or self._open()
            with connection:
                connection.execute(
                    "INSERT OR REPLACE INTO runs VALUES (?, ?)", (name, zlib.compress(document.encode(), 1))
                )
        except (OSError, sqlite3.Error) as error:
            self.failure = f"{self._path}: runs can't be kept: {error}"

    def close(self) -> None:
        """Close the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=BUSY_S)
        try:
            # A crash of the machine may cost the last runs, never the file.
            connection.execute("PRAGMA synchronous = NORMAL")
            with connection:
                connection.execute(
                    "CREATE TABLE IF NOT EXISTS runs (name TEXT PRIMARY KEY, document BLOB) WITHOUT ROWID"
                )
        except sqlite3.Error:
            connection.close()
            raise
        self._connection = connection
        return connection


def _name(scenario: Scenario, seed: int, observe: Observe | None) -> str | None:
    """The key of a run; `None` if its observer or a model can't be identified."""
    of_all = identity(scenario, observe)
    return None if of_all is None else name_of(of_all, seed)


def identity(scenario: Scenario, observe: Observe | None = None) -> str | None:
    """Digest of all that decides the results of a scenario, except the seed; `None` if its observer or a model can't be
    identified.
    """
    code = ["" if observe is None else _code(observe), *(_code(model) for _, _, model in scenario.extensions())]
    if None in code:
        return None
    names = [entry[:2] for entry in scenario.extensions()]
    parts = [build(), scenario.sha256, scenario.digests(), names, code]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def name_of(identity: str, seed: int) -> str:
    """The name of the run with this seed: runs with equal names have equal results."""
    return hashlib.sha256(f"{identity} {seed}".encode()).hexdigest()


@functools.cache
def _code(made: Callable[..., Any]) -> str | None:
    """A function or class as its name and the text of its module; `None` if another object has that name there, or if
    the text may no longer be the loaded one.
    """
    if not _stands_in_its_module(made):
        return None
    sha256: str | None = getattr(sys.modules[made.__module__], DIGEST, None)
    if sha256 is None:
        try:
            file = inspect.getsourcefile(made)
            if file is None or os.stat(file).st_mtime_ns > LOADED_NS:
                return None
            sha256 = digest(file)
        except (TypeError, OSError):
            return None
    return f"{made.__qualname__} {sha256}"


def _stands_in_its_module(made: Callable[..., Any]) -> bool:
    """Whether a function or class is the object that its name refers to. A name does not identify the object of a
    bound method, the state of an object, or the function inside a decorator.
    """
    if inspect.isfunction(made):
        if made.__code__.co_qualname != made.__qualname__:
            return False
    elif not inspect.isclass(made):
        return False
    found: object = sys.modules.get(made.__module__)
    for name in made.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is made
