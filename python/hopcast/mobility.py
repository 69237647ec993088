"""Mobility models written in Python, for prototypes.

Pass a class to the scenario under a name; groups of nodes use it under that name::

    import math

    import hopcast
    from hopcast.mobility import Leg, Mobility, Position
    from hopcast.random import Stream

    class Patrol(Mobility):
        # Back and forth, with a pause of random length at each end.
        def __init__(self, place: Position, random: Stream, *, length: float, speed: float) -> None:
            self.ends = [place, Position(place.x + length, place.y)]
            self.random, self.speed, self.legs = random, speed, 0

        def next_leg(self) -> Leg:
            self.legs += 1
            if self.legs % 2:
                return Leg(self.ends[self.legs // 2 % 2], 10 * self.random.unit())
            here, there = self.ends[self.legs // 2 % 2 - 1], self.ends[self.legs // 2 % 2]
            return Leg.trip(here, there, self.speed)

    scenario = hopcast.Scenario.from_toml("string.toml", extensions=hopcast.Extensions(mobility={"patrol": Patrol}))
    patrol = {"model": "custom", "name": "patrol", "parameters": {"length": 50, "speed": 1.5}}
    hopcast.run(scenario.set("nodes.n.mobility", patrol))

A path is a sequence of legs, each straight and at constant speed, or at rest. Each node of each replication gets a
separate model, and a replication may create more than one for a node, so the behaviour must depend only on the
inputs. A call takes about two microseconds, and hopcast asks for each leg once, shortly before it begins.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import inf
from typing import NamedTuple

from hopcast.propagation import Position

__all__ = ["Leg", "Mobility", "Position"]


class Leg(NamedTuple):
    """A straight part of a path at constant speed, from the end of the previous part."""

    to: Position
    """Position of its end."""
    duration: float
    """Duration in seconds: infinite for a node that stays for ever; hopcast treats 0 as a nanosecond."""

    @classmethod
    def trip(cls, here: Position, to: Position, speed: float) -> Leg:
        """Return the leg from one position to another at a speed in m/s; with speed 0, the node stays for ever."""
        return cls(to, here.distance(to) / speed) if speed > 0 else cls(here, inf)


class Mobility(ABC):
    """Base of custom mobility models: the path of one node.

    The constructor gets the node's position at the start, a stream of random numbers, and the parameters of the
    scenario as keyword arguments; an unknown one is an error of the scenario. An exception ends the run: it is the
    cause of the `RunError` that `hopcast.run` raises.
    """

    @abstractmethod
    def next_leg(self) -> Leg:
        """Return the next leg of the path. The first leg begins at the node's placement, at the start of the run."""
