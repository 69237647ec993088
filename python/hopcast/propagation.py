"""Propagation models written in Python, for prototypes.

A class of such models gets a name with the scenario, and `radio.propagation` uses it under that name::

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

Each replication has a model of its own. Between nodes at rest it is asked once for each pair; where nodes move, for each frame and
each node in reach of its sender. A call takes about two microseconds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import sqrt
from typing import NamedTuple


class Position(NamedTuple):
    """A place, in metres: `x` to the east and `y` to the north on the ground, `z` above it."""

    x: float
    y: float
    z: float = 0.0

    def distance(self, other: Position) -> float:
        """The distance to another place in metres."""
        x, y, z = other.x - self.x, other.y - self.y, other.z - self.z
        return sqrt(x * x + y * y + z * z)


class Propagation(ABC):
    """How much of the power that is sent arrives: the base of custom models.

    The constructor gets the carrier frequency in hertz, and the parameters of the scenario as keyword arguments; one that it does not
    take is an error of the scenario. Shadowing and fading apply to what the model says as to the built-in models. An exception ends
    the run: it is the cause of the `RunError` that `hopcast.run` raises.
    """

    @abstractmethod
    def gain(self, sender: Position, receiver: Position) -> float:
        """Power received over power sent, from 0 to 1, between the antennas of two nodes. The same in both directions and at all times."""

    @abstractmethod
    def reach(self, gain: float) -> float:
        """A distance in metres beyond which the gain between nodes is below `gain` for good: infinite for 0, and 0 above the largest
        gain. Receivers are looked for no farther away: one that is too large costs time, one that is too small loses links."""
