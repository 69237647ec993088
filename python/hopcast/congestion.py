"""Congestion controls of TCP written in Python, for prototypes.

Pass a class to the scenario under a name; flows use it under that name::

    import hopcast
    from hopcast.congestion import CongestionControl

    class Fixed(CongestionControl):
        # A window that is always the same.
        def __init__(self, *, segments: int = 10) -> None:
            self.segments = segments

        def on_established(self, segment: int, initial_window: int) -> None:
            self.window = self.segments * segment

    scenario = hopcast.Scenario.from_toml("string.toml", congestion={"fixed": Fixed})
    scenario = scenario.set("flows.bulk.transport.congestion", {"name": "fixed", "parameters": {"segments": 4}})
    hopcast.run(scenario)

Each end of each connection of each replication gets a separate object. Its behaviour must depend only on its inputs,
so that a run can be repeated: no clock, no random numbers except from a generator with a fixed seed, no state shared
between objects. A call takes about a microsecond, and replications that run in parallel take turns in Python.
"""

from __future__ import annotations

UNLIMITED = 2**32 - 1
"""Slow start threshold before the first loss."""


class CongestionControl:
    """Congestion control of TCP: subclass it, and change the window as the connection reports events.

    The connection detects losses, and adjusts the window for duplicate acknowledgements during fast recovery. All
    amounts are in bytes, all times in seconds. hopcast reads `window` and `slow_start_threshold` after each call.
    Parameters of the scenario are keyword arguments of the constructor; an unknown one is an error of the scenario.
    An exception ends the run: it is the cause of the `RunError` that `hopcast.run` raises.
    """

    window: int = 1
    """Congestion window; at least 1, and at least a segment for data to flow."""

    slow_start_threshold: int = UNLIMITED
    """Slow start threshold, for the results only."""

    def on_established(self, segment: int, initial_window: int) -> None:
        """Called after the handshake with the size of a full segment and the initial window."""
        self.window = initial_window

    def on_ack(self, acked: int, flight: int, rtt: float | None, now: float) -> None:
        """Called when `acked` bytes were acknowledged for the first time outside of fast recovery; before that,
        `flight` bytes were in flight.

        `rtt` is the smoothed round-trip time, or `None` before the first measurement.
        """

    def on_loss(self, flight: int, now: float) -> None:
        """Called when a loss was found with `flight` bytes outstanding, at most `window`: fast recovery begins."""

    def on_recovered(self, limit: int, now: float) -> None:
        """Called when fast recovery ends: set the window to the slow start threshold, or to `limit` if that is
        less.
        """

    def on_timeout(self, flight: int, first: bool, now: float) -> None:
        """Called when the retransmission timer expired with `flight` bytes outstanding; `first` is false if it has
        expired for the same data before.
        """

    def on_idle(self) -> None:
        """Called before sending starts again after a pause longer than a retransmission timeout."""
