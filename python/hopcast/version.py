"""The version of hopcast, and which build of it runs."""

from __future__ import annotations

import functools

from hopcast import _core
from hopcast.scenario import digest


@functools.cache
def build() -> str:
    """The version, and a digest of the extension module: there are many builds between two versions."""
    return f"{_core.__version__} {digest(str(_core.__file__))}"
