"""Applications written in Python, for prototypes.

A class of such applications gets a name with the scenario, and `flows.application` uses it under that name::

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

`examples/sensor_poll.py` is a whole one, in which two applications answer each other. Each flow of each replication has an application
of its own, and hopcast may make more than one object for it. All times are seconds since the start of the run. A call takes about a
microsecond, and a write four calls.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Constant:
    """Media of which each write is as long as the others, such as audio."""

    interval: float
    """How long each write lasts, in seconds."""


@dataclass(frozen=True, slots=True)
class Film:
    """Media of frames at even intervals, each cut into packets of which one is a write. It repeats without end."""

    frames: Sequence[int]
    """The sizes of the frames, in bytes. A frame without bytes is not written, and the one before is shown for longer."""
    interval: float
    """How long a frame is shown, in seconds."""
    packet: int
    """The largest packet, in bytes; the last one of a frame is shorter."""


Timeline = Constant | Film
"""How far each write takes the media."""


class Application(ABC):
    """What writes data into one flow: the base of custom applications.

    The constructor gets the start of the flow, in seconds since the start of the run, and a stream of random numbers for it, and the
    parameters of the scenario as keyword arguments; one that it does not take is an error of the scenario. Over UDP and DCCP each write
    is a datagram, over TCP bytes of the stream. When the time of `poll_timeout` has come, hopcast asks `poll_write` how much to write,
    writes it, and calls `handle_written`. An exception ends the run: it is the cause of the `RunError` that `hopcast.run` raises.
    """

    largest_write: int
    """Bytes that no write exceeds, at least 1. Like the other attributes it must be set by the class or its constructor, and never
    changes."""
    is_blocking: bool = False
    """Whether a write waits until the transport has room, as those of `bulk` do. Otherwise what there is no room for is lost, as with
    `cbr`."""
    is_finite: bool = False
    """Whether the application ends with a certain amount; goodput then counts up to its arrival."""
    timeline: Timeline | None = None
    """How far each write takes the media, if it is media that a `player` can show."""

    @abstractmethod
    def poll_write(self, now: float) -> int | None:
        """Bytes of the write that is due: from 1 to `largest_write`. Asked when the time of `poll_timeout` has come; `None` is an error
        then. Changes nothing."""

    @abstractmethod
    def handle_written(self, now: float) -> None:
        """The write is done: accepted, or, if the application does not block, lost for lack of room. A blocking write may return later
        than it was due."""

    @abstractmethod
    def poll_timeout(self) -> float | None:
        """When the next write is due; at once, if that has passed. `None`: never, the application has ended. Infinite: it waits for
        what it may receive. Read after the constructor, `handle_written` and `handle_received`."""

    def handle_received(self, octets: int, now: float) -> None:  # noqa: B027 - few applications listen
        """`octets` bytes have arrived of the flow that `listens_to` names: a datagram, or, over TCP, what could be read at once.

        Called from the start of the flow to its end or stop. May change the next write and when it is due, unless that is due already.
        """

    def expires(self) -> float | None:
        """When the write that is due is not worth sending any more; `None`: never. Asked before `handle_written`, of use over UDP
        only."""
        return None
