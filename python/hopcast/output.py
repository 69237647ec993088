"""Files that appear whole or not at all."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from hopcast.errors import OutputError, RunError


def prepare(folder: str | os.PathLike[str]) -> None:
    """Make the folder, and see that a file can be made in it. Raises `OutputError`: nothing has run yet."""
    try:
        os.makedirs(folder, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise OutputError(error.errno, f"can't write results there: {error.strerror}", os.fspath(folder)) from None


def write_json(path: str | os.PathLike[str], document: Any) -> None:
    """Write a JSON document, indented, with a line break at its end."""
    text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    write_text(path, text)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write UTF-8 text."""
    write(path, lambda file: file.write(text.encode()))


def write(path: str | os.PathLike[str], fill: Callable[[IO[bytes]], object]) -> None:
    """Write what `fill` puts into a file, under another name until it is whole. Raises `RunError`."""
    target = Path(path)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        try:
            with open(temporary, "wb") as file:
                fill(file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise RunError(f"{target}: can't be written: {error.strerror or error}") from None
