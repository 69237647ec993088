"""Mobility models written in Python, for prototypes.

A class of such models gets a name with the scenario, and groups of nodes use it under that name::

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

A way is a row of legs, each straight and at an even speed, or at rest. Each node of each replication has a model of its own, and a
replication may make more than one for a node: what a model does must follow from what it is given. A call takes about two
microseconds, and a leg is asked for once, a little before it begins.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import inf
from typing import NamedTuple

from hopcast.propagation import Position

__all__ = ["Leg", "Mobility", "Position"]


class Leg(NamedTuple):
    """A straight piece of a way, at an even speed, from where the one before has ended."""

    to: Position
    """Where it ends."""
    duration: float
    """How long it takes, in seconds: infinite for a node that stays for ever; 0 is taken to last a nanosecond."""

    @classmethod
    def trip(cls, here: Position, to: Position, speed: float) -> Leg:
        """From one place to another at a speed in m/s; without speed, the place is never left."""
        return cls(to, here.distance(to) / speed) if speed > 0 else cls(here, inf)


class Mobility(ABC):
    """The way of one node: the base of custom models.

    The constructor gets where the node is placed and a stream of random numbers for it, and the parameters of the scenario as keyword
    arguments; one that it does not take is an error of the scenario. An exception ends the run: it is the cause of the `RunError` that
    `hopcast.run` raises.
    """

    @abstractmethod
    def next_leg(self) -> Leg:
        """The next leg of the way. The first begins where the node is placed, at the start of the run."""
