"""Error models written in Python, for prototypes.

A class of such models gets a name with the scenario, and `radio.errors` uses it under that name::

    import hopcast
    from hopcast.error_model import ErrorModel, ReceivedFrame
    from hopcast.random import Streams

    class Jammer(ErrorModel):
        # For `length` seconds of each `period`, frames longer than `longest` bytes are lost.
        def __init__(self, streams: Streams, *, period: float, length: float, longest: int) -> None:
            self.period, self.length, self.longest = period, length, longest

        def loss(self, frame: ReceivedFrame) -> float:
            return float(frame.length > self.longest and frame.end % self.period < self.length)

    scenario = hopcast.Scenario.from_toml("string.toml", extensions=hopcast.Extensions(errors={"jammer": Jammer}))
    parameters = {"period": 0.1, "length": 0.02, "longest": 100}
    hopcast.run(scenario.set("radio.errors", {"model": "custom", "name": "jammer", "parameters": parameters}))

Each replication has a model of its own. It is asked once for each frame and each station that would otherwise receive it. A call takes
about a microsecond.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal, NamedTuple


class ReceivedFrame(NamedTuple):
    """A frame that a station has received, if no error model loses it."""

    kind: Literal["data", "management", "rts", "cts", "ack"]
    """What kind of frame it is."""
    transmitter: int
    """The number of the radio that sent it. Radios are counted from zero, in the order of the nodes, and of a node's radios."""
    receiver: int
    """The number of the radio that received it, whomever it is for."""
    length: int
    """Length of the MPDU with FCS, in bytes."""
    data_rate: float
    """Rate at which these bytes were sent, in b/s."""
    power: float
    """Received power in dBm. Without meaning where propagation is `range`."""
    start: float
    """When preamble and PLCP header had arrived, in seconds since the start of the run."""
    end: float
    """When the whole frame had arrived, in seconds since the start of the run."""


class ErrorModel(ABC):
    """How likely frames are lost that were received: the base of custom models.

    The constructor gets streams of random numbers (`hopcast.random.Streams`), and the parameters of the scenario as keyword arguments;
    one that it does not take is an error of the scenario. An exception ends the run: it is the cause of the `RunError` that
    `hopcast.run` raises.
    """

    @abstractmethod
    def loss(self, frame: ReceivedFrame) -> float:
        """The probability, from 0 to 1, that the frame is lost at its receiver. hopcast draws for each frame and receiver, so that the
        order of frames does not matter. A model with states keeps to this if these move with time, and each draws from a stream of its
        own."""
