"""Propagation models written in Python, for prototypes.

Pass a class to the scenario under a name; `radio.propagation` uses it under that name::

    import hopcast
    from hopcast.propagation import Position, Propagation

    class Power(Propagation):
        # A gain that falls with a power of the distance.
        def __init__(self, frequency: float, *, exponent: float) -> None:
            self.exponent = exponent

        def gain(self, sender: Position, receiver: Position) -> float:
            return 1e-4 * max(1.0, sender.distance(receiver)) ** -self.exponent

        def reach(self, gain: float) -> float:
            return (1e-4 / gain) ** (1 / self.exponent) if 0 < gain <= 1e-4 else 0.0 if gain else float("inf")

    scenario = hopcast.Scenario.from_toml("string.toml", extensions=hopcast.Extensions(propagation={"power": Power}))
    power = {"model": "custom", "name": "power", "parameters": {"exponent": 3}}
    hopcast.run(scenario.set("radio.propagation", power))

Each replication gets a separate model. Between nodes at rest hopcast calls it once for each pair; if nodes move, for
each frame and each node in range of its sender. A call takes about two microseconds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import sqrt
from typing import NamedTuple


class Position(NamedTuple):
    """A position in metres: `x` to the east and `y` to the north on the ground, `z` above it."""

    x: float
    y: float
    z: float = 0.0

    def distance(self, other: Position) -> float:
        """Distance to another position in metres."""
        x, y, z = other.x - self.x, other.y - self.y, other.z - self.z
        return sqrt(x * x + y * y + z * z)


class Propagation(ABC):
    """Base of custom propagation models: the share of sent power that arrives.

    The constructor gets the carrier frequency in hertz, and the parameters of the scenario as keyword arguments; an
    unknown one is an error of the scenario. hopcast applies shadowing and fading to the result, as with built-in
    models. An exception ends the run: it is the cause of the `RunError` that `hopcast.run` raises.
    """

    @abstractmethod
    def gain(self, sender: Position, receiver: Position) -> float:
        """Return received power divided by sent power, from 0 to 1, between the antennas of two nodes. It must be the
        same in both directions and at all times.
        """

    @abstractmethod
    def reach(self, gain: float) -> float:
        """Return a distance in metres beyond which the gain between nodes always is below `gain`: infinite for 0, and
        0 above the largest gain. hopcast looks for receivers only up to it: too large a distance costs time, too
        small a distance loses links.
        """
