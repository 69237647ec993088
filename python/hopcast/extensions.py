"""Custom models written in Python, by kind and by the names that scenarios use.

Each kind has a base class, which documents the calls: `hopcast.application.Application`, `hopcast.congestion.CongestionControl`,
`hopcast.error_model.ErrorModel`, `hopcast.media.MediaCongestionControl`, `hopcast.mobility.Mobility`, `hopcast.propagation.Propagation`,
`hopcast.routing.Routing`. The behaviour of a model must depend only on its inputs, so that a run can be repeated: no
clock, no random numbers except from the streams that it gets, no state shared between objects. When a scenario is
made, hopcast creates extra objects to check the parameters; no run uses them. Replications that run in parallel take
turns in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import reduce
from importlib import import_module
from operator import or_
from typing import TYPE_CHECKING, Any

from hopcast.files import PythonFileError, execute

if TYPE_CHECKING:
    from hopcast.application import Application
    from hopcast.congestion import CongestionControl
    from hopcast.error_model import ErrorModel
    from hopcast.media import MediaCongestionControl
    from hopcast.mobility import Mobility
    from hopcast.propagation import Propagation
    from hopcast.routing import Routing

Entry = tuple[str, str, Callable[..., Any]]
"""The kind of a class of models, the name that scenarios use, and the class."""


@dataclass(frozen=True, kw_only=True)
class Extensions:
    """Classes of models by the names that a scenario uses. Each kind is a field, named like the key of the scenario
    that selects its models.
    """

    application: Mapping[str, Callable[..., Application]] = field(default_factory=dict)
    """`flows.application = { kind = "custom", name = NAME, parameters = { … } }`"""
    congestion: Mapping[str, Callable[..., CongestionControl]] = field(default_factory=dict)
    """`flows.transport.congestion = { name = NAME, parameters = { … } }`"""
    errors: Mapping[str, Callable[..., ErrorModel]] = field(default_factory=dict)
    """`radio.errors = { model = "custom", name = NAME, parameters = { … } }`"""
    media: Mapping[str, Callable[..., MediaCongestionControl]] = field(default_factory=dict)
    """`flows.transport = { protocol = "rtp", congestion = NAME, parameters = { … } }`"""
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
        """Combine both; the class in `other` wins where two have the same kind and name."""
        return Extensions(
            **{kind.name: {**getattr(self, kind.name), **getattr(other, kind.name)} for kind in fields(self)}
        )


def load_all(sources: Iterable[str]) -> Extensions:
    """Return the models of all these files and modules; the later one wins where two have the same kind and name.
    Raises `PythonFileError`.
    """
    return reduce(or_, map(load, sources), Extensions())


def load(source: str) -> Extensions:
    """Return the `EXTENSIONS` of a Python file (`models.py`), which hopcast executes, or of a module that Python can
    import (`package.models`). Raises `PythonFileError`.
    """
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
