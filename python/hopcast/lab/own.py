"""Custom studies: experiments that a Python file defines."""

from __future__ import annotations

import dataclasses
import os
import re
from pathlib import Path

from hopcast.files import PythonFileError, execute
from hopcast.lab.experiment import Experiment

ID = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
"""Pattern of an experiment's id, which is also an anchor in the report."""
TEXTS = ("id", "title", "paper")
"""Texts of an experiment; its other fields are functions, but for `live`."""


class StudyFileError(PythonFileError):
    """A file that should define experiments doesn't; nothing was run."""


def load_file(path: str | os.PathLike[str], taken: frozenset[str] = frozenset()) -> list[Experiment]:
    """Return the experiments in the list `EXPERIMENTS` of a Python file, which hopcast executes. `taken` are ids of
    other experiments. Raises `StudyFileError`.
    """
    file = Path(path)
    try:
        module = execute(file, "study")
    except PythonFileError as error:
        raise StudyFileError(str(error)) from error.__cause__
    experiments = getattr(module, "EXPERIMENTS", None)
    if not isinstance(experiments, list | tuple) or not experiments:
        raise StudyFileError(f"{file}: defines no EXPERIMENTS, a list of hopcast.lab.Experiment")
    for place, experiment in enumerate(experiments):
        if not isinstance(experiment, Experiment):
            raise StudyFileError(f"{file}: EXPERIMENTS[{place}] is {experiment!r}, not a hopcast.lab.Experiment")
        for field in (field for field in dataclasses.fields(Experiment) if field.name != "live"):
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
