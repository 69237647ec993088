"""Applications written in Python, for prototypes.

Pass a class to the scenario under a name; `flows.application` uses it under that name::

    import hopcast
    from hopcast.application import Application
    from hopcast.random import Stream

    class Bursts(Application):
        # `count` packets of `packet` bytes at once, then a pause of random length with the mean `pause` in seconds.
        def __init__(self, start: float, random: Stream, *, count: int, packet: int, pause: float) -> None:
            self.largest_write, self.count, self.pause = packet, count, pause
            self.random, self.next, self.left = random, start, count

        def poll_write(self, now: float) -> int:
            return self.largest_write

        def handle_written(self, now: float) -> None:
            self.left -= 1
            if self.left == 0:
                self.left = self.count
                self.next = now + 2 * self.pause * self.random.unit()

        def poll_timeout(self) -> float:
            return self.next

    scenario = hopcast.Scenario.from_toml("string.toml", extensions=hopcast.Extensions(application={"bursts": Bursts}))
    parameters = {"count": 5, "packet": 500, "pause": 0.1}
    hopcast.run(scenario.set("flows.f.application", {"kind": "custom", "name": "bursts", "parameters": parameters}))

`examples/sensor_poll.py` is a complete example, in which two applications answer each other. Each flow of each
replication gets a separate application, and hopcast may create more than one object for it. All times are seconds
since the start of the run. A call takes about a microsecond, and a write four calls.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Constant:
    """Media with writes of equal length, such as audio."""

    interval: float
    """Playing time of each write, in seconds."""


@dataclass(frozen=True, slots=True)
class Film:
    """Media of frames at even intervals, repeated without end. Each frame is cut into packets, one per write."""

    frames: Sequence[int]
    """Sizes of the frames in bytes. A frame of 0 bytes is not written, and the player shows the frame before for
    longer.
    """
    interval: float
    """Time for which a frame is shown, in seconds."""
    packet: int
    """Largest packet in bytes; the last packet of a frame is shorter."""


Timeline = Constant | Film
"""Playing time of each write."""


class Application(ABC):
    """Base of custom applications: writes data into one flow.

    The constructor gets the start of the flow in seconds since the start of the run, a stream of random numbers, and
    the parameters of the scenario as keyword arguments; an unknown one is an error of the scenario. Over UDP and DCCP
    each write is a datagram, over TCP bytes of the stream. At the time of `poll_timeout`, hopcast asks `poll_write`
    how much to write, writes it, and calls `handle_written`. An exception ends the run: it is the cause of the
    `RunError` that `hopcast.run` raises.
    """

    largest_write: int
    """Size limit of writes in bytes, at least 1. The class or its constructor must set this and the other attributes,
    and never change them.
    """
    is_blocking: bool = False
    """Whether a write waits until the transport has room, as with `bulk`. Otherwise data that does not fit is lost,
    as with `cbr`.
    """
    is_finite: bool = False
    """Whether the application ends after a certain amount; goodput then counts up to its arrival."""
    timeline: Timeline | None = None
    """Playing time of each write, for media that a `player` can show."""

    @abstractmethod
    def poll_write(self, now: float) -> int | None:
        """Return the bytes of the write that is due: from 1 to `largest_write`. Called at the time of `poll_timeout`;
        `None` is then an error. Changes nothing.
        """

    @abstractmethod
    def handle_written(self, now: float) -> None:
        """Called when the write is done: accepted, or, if the application does not block, lost for lack of room. A
        blocking write may return later than it was due.
        """

    @abstractmethod
    def poll_timeout(self) -> float | None:
        """Return the time of the next write; at once if it has passed. `None`: never, the application has ended.
        Infinite: it waits for data that it may receive. Called after the constructor, `handle_written` and
        `handle_received`.
        """

    def handle_received(self, octets: int, now: float) -> None:  # noqa: B027 - few applications listen
        """Called when `octets` bytes have arrived on the flow that `listens_to` names: a datagram, or, over TCP, the
        bytes that could be read at once.

        hopcast calls this from the start of the flow to its end or stop. It may change the next write and its time,
        unless that write is due already.
        """

    def expires(self) -> float | None:
        """Return the time after which the pending write is no longer worth sending; `None`: never. Called before
        `handle_written`; it has an effect over UDP only.
        """
        return None
