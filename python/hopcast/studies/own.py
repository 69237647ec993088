"""Studies of one's own: experiments that a Python file defines."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.util
import os
import re
import sys
from pathlib import Path

from hopcast.errors import HopcastError
from hopcast.studies.experiment import Experiment
from hopcast.studies.raised import line

ID = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
"""Of an experiment: it is also a place in the report."""
TEXTS = ("id", "title", "paper")
"""Of an experiment; all else of it are functions."""
DIGEST = "__sha256__"
"""In the module of a file: the SHA-256 of the text that was executed, whatever stands in the file later."""


class StudyFileError(HopcastError):
    """A file that should define experiments doesn't; nothing was run."""


def load_file(path: str | os.PathLike[str], taken: frozenset[str] = frozenset()) -> list[Experiment]:
    """The experiments in the list `EXPERIMENTS` of a Python file, which is executed. `taken` are ids of others. Raises
    `StudyFileError`."""
    file = Path(path)
    if not file.is_file():
        raise StudyFileError(f"{file}: there is no such file")
    # Under a name of its own, by which what it defines is found again.
    name = f"hopcast_study_{re.sub(r'[^A-Za-z0-9_]', '_', file.stem)}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise StudyFileError(f"{file}: is not a Python file")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        # What a cache holds of the module may be older than the file, and the digest is to be that of what runs.
        source = file.read_bytes()
        setattr(module, DIGEST, hashlib.sha256(source).hexdigest())
        exec(compile(source, spec.origin or file, "exec", dont_inherit=True), module.__dict__)
    except (Exception, SystemExit) as error:
        raise StudyFileError(f"{file}{line(error, spec.origin)}: {type(error).__name__}: {error}") from error
    experiments = getattr(module, "EXPERIMENTS", None)
    if not isinstance(experiments, list | tuple) or not experiments:
        raise StudyFileError(f"{file}: defines no EXPERIMENTS, a list of hopcast.studies.Experiment")
    for place, experiment in enumerate(experiments):
        if not isinstance(experiment, Experiment):
            raise StudyFileError(f"{file}: EXPERIMENTS[{place}] is {experiment!r}, not a hopcast.studies.Experiment")
        for field in dataclasses.fields(Experiment):
            given, text = getattr(experiment, field.name), field.name in TEXTS
            if not (isinstance(given, str) if text else callable(given)):
                expected = "a text" if text else "a function"
                raise StudyFileError(f"{file}: EXPERIMENTS[{place}].{field.name} is {given!r}; expected {expected}")
        if not ID.fullmatch(experiment.id):
            raise StudyFileError(
                f"{file}: EXPERIMENTS[{place}].id is {experiment.id!r}; expected a letter, then letters, digits, - or _"
            )
        if experiment.id in {*taken, *(other.id for other in experiments[:place])}:
            raise StudyFileError(f"{file}: EXPERIMENTS[{place}].id is {experiment.id!r}, which another experiment has")
    return list(experiments)
