"""Error models written in Python, for prototypes.

Pass a class to the scenario under a name; `radio.errors` uses it under that name::

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

Each replication gets a separate model. hopcast calls it once for each frame and each station that would otherwise
receive the frame. A call takes about a microsecond.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal, NamedTuple


class ReceivedFrame(NamedTuple):
    """A frame that a station has received, unless the error model loses it."""

    kind: Literal["data", "management", "rts", "cts", "ack"]
    """Kind of frame."""
    transmitter: int
    """Number of the radio that sent it. Radios are counted from zero, in the order of nodes, and of the radios of a
    node.
    """
    receiver: int
    """Number of the radio that received it, regardless of its destination."""
    length: int
    """Length of the MPDU with FCS, in bytes."""
    data_rate: float
    """Rate at which these bytes were sent, in b/s."""
    power: float
    """Received power in dBm. Not meaningful with propagation `range`."""
    start: float
    """Time at which preamble and PLCP header had arrived, in seconds since the start of the run."""
    end: float
    """Time at which the whole frame had arrived, in seconds since the start of the run."""


class ErrorModel(ABC):
    """Base of custom error models: the probability that received frames are lost.

    The constructor gets streams of random numbers (`hopcast.random.Streams`), and the parameters of the scenario as
    keyword arguments; an unknown one is an error of the scenario. An exception ends the run: it is the cause of the
    `RunError` that `hopcast.run` raises.
    """

    @abstractmethod
    def loss(self, frame: ReceivedFrame) -> float:
        """Return the probability, from 0 to 1, that the receiver loses the frame. hopcast draws separately for each
        frame and receiver, so that the order of frames does not matter. This also holds for a model with states if
        each state changes with time and draws from a separate stream.
        """
