"""Congestion controls of TCP written in Python, for prototypes.

A class of such objects gets a name with the scenario, and a flow uses it under that name::

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

Each end of each connection of each replication has an object of its own. What an object does must follow from what it is
told, so that a run can be repeated: no clock, no random numbers but from a generator with a fixed seed, nothing that
objects share. A call takes about a microsecond, and replications that run side by side take turns in Python.
"""

from __future__ import annotations

UNLIMITED = 2**32 - 1
"""A slow start threshold before the first loss."""


class CongestionControl:
    """Congestion control of TCP: subclass it, and change the window as the connection reports events.

    When something is lost is decided by the connection, as is what duplicate acknowledgements add to the window during
    fast recovery. All amounts are bytes, all times seconds. `window` and `slow_start_threshold` are read after each
    call. The parameters of the scenario are keyword arguments of the constructor; one that it does not take is an error of
    the scenario. An exception ends the run: it is the cause of the `RunError` that `hopcast.run` raises.
    """

    window: int = 1
    """The congestion window; at least 1, and for data to flow at least a segment."""

    slow_start_threshold: int = UNLIMITED
    """For the results only."""

    def on_established(self, segment: int, initial_window: int) -> None:
        """The handshake is done: size of a full segment, and what may be sent at once."""
        self.window = initial_window

    def on_ack(self, acked: int, flight: int, rtt: float | None, now: float) -> None:
        """`acked` bytes were acknowledged for the first time outside of fast recovery; before that, `flight` were in flight.

        `rtt` is the smoothed round-trip time, once measured.
        """

    def on_loss(self, flight: int, now: float) -> None:
        """A loss was found with `flight` bytes outstanding, at most `window`: fast recovery begins."""

    def on_recovered(self, limit: int, now: float) -> None:
        """Fast recovery ends: the window is to be the slow start threshold, or `limit` if that is less."""

    def on_timeout(self, flight: int, first: bool, now: float) -> None:
        """The retransmission timer ran out with `flight` bytes outstanding; `first` unless it did so for the same data."""

    def on_idle(self) -> None:
        """Sending is about to start again after longer than a retransmission timeout."""
