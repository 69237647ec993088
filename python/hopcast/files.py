"""Execute Python files of users, such as studies and models, and read what they define."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import sys
import traceback
from pathlib import Path
from types import ModuleType

from hopcast.errors import HopcastError

DIGEST = "__sha256__"
"""Attribute of a file's module with the SHA-256 of the executed text, in case the file changes later."""


class PythonFileError(HopcastError):
    """A Python file can't be executed, or does not define what it should. Nothing was run."""


def execute(path: str | os.PathLike[str], kind: str) -> ModuleType:
    """Execute a file, and return its module, whose name begins with its kind, so that objects of the file can be
    found again by name. Raises `PythonFileError`.
    """
    file = Path(path)
    if not file.is_file():
        raise PythonFileError(f"{file}: there is no such file")
    name = f"hopcast_{kind}_{re.sub(r'[^A-Za-z0-9_]', '_', file.stem)}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise PythonFileError(f"{file}: is not a Python file")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        # What a cache holds of the module may be older than the file, and the digest is to be that of what runs.
        source = file.read_bytes()
        setattr(module, DIGEST, hashlib.sha256(source).hexdigest())
        exec(compile(source, spec.origin or file, "exec", dont_inherit=True), module.__dict__)
    except (Exception, SystemExit) as error:
        raise PythonFileError(f"{file}{line(error, spec.origin)}: {type(error).__name__}: {error}") from error
    return module


def line(error: BaseException, file: str | None) -> str:
    """Position in a file where an exception arose, after a colon, if known."""
    if isinstance(error, SyntaxError) and error.lineno is not None:
        return f":{error.lineno}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return f":{lines[-1]}" if lines else ""
