"""Models written in Python, by kind and by the names that scenarios use.

Each kind has a base class that says what a model is told and what it says: `hopcast.application.Application`,
`hopcast.congestion.CongestionControl`, `hopcast.error_model.ErrorModel`, `hopcast.mobility.Mobility`,
`hopcast.propagation.Propagation`, `hopcast.routing.Routing`. What it does must follow from what it is told, so that a run can be
repeated: no clock, no random numbers but those of the streams that it is handed, nothing that objects share. To check the parameters
of a scenario, objects are made when the scenario is, which no run uses.
Replications that run side by side take turns in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from importlib import import_module
from typing import TYPE_CHECKING, Any

from hopcast.files import PythonFileError, execute

if TYPE_CHECKING:
    from hopcast.application import Application
    from hopcast.congestion import CongestionControl
    from hopcast.error_model import ErrorModel
    from hopcast.mobility import Mobility
    from hopcast.propagation import Propagation
    from hopcast.routing import Routing

Entry = tuple[str, str, Callable[..., Any]]
"""The kind of a class of models, the name that scenarios use, and the class."""


@dataclass(frozen=True, kw_only=True)
class Extensions:
    """Classes of models by the names that a scenario uses, each kind under the key of the scenario that names its models."""

    application: Mapping[str, Callable[..., Application]] = field(default_factory=dict)
    """`flows.application = { kind = "custom", name = NAME, parameters = { … } }`"""
    congestion: Mapping[str, Callable[..., CongestionControl]] = field(default_factory=dict)
    """`flows.transport.congestion = { name = NAME, parameters = { … } }`"""
    errors: Mapping[str, Callable[..., ErrorModel]] = field(default_factory=dict)
    """`radio.errors = { model = "custom", name = NAME, parameters = { … } }`"""
    mobility: Mapping[str, Callable[..., Mobility]] = field(default_factory=dict)
    """`nodes.mobility = { model = "custom", name = NAME, parameters = { … } }`"""
    propagation: Mapping[str, Callable[..., Propagation]] = field(default_factory=dict)
    """`radio.propagation = { model = "custom", name = NAME, parameters = { … } }`"""
    routing: Mapping[str, Callable[..., Routing]] = field(default_factory=dict)
    """`nodes.routing = { protocol = "custom", name = NAME, parameters = { … } }`"""

    def entries(self) -> tuple[Entry, ...]:
        """All classes, with their kinds and names."""
        return tuple(
            (kind.name, name, made) for kind in fields(self) for name, made in getattr(self, kind.name).items()
        )

    def __or__(self, other: Extensions) -> Extensions:
        """The classes of both; where two have the same kind and name, that of `other`."""
        return Extensions(
            **{kind.name: {**getattr(self, kind.name), **getattr(other, kind.name)} for kind in fields(self)}
        )


def load(source: str) -> Extensions:
    """The `EXTENSIONS` of a Python file (`models.py`), which is executed, or of a module that Python finds (`package.models`). Raises
    `PythonFileError`."""
    if source.endswith(".py"):
        module = execute(source, "extension")
    else:
        try:
            module = import_module(source)
        except Exception as error:
            raise PythonFileError(f"{source}: {type(error).__name__}: {error}") from error
    found = getattr(module, "EXTENSIONS", None)
    if not isinstance(found, Extensions):
        raise PythonFileError(f"{source}: EXTENSIONS is {found!r}; expected a hopcast.Extensions")
    return found
