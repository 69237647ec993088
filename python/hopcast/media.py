"""Congestion controls of media over RTP written in Python, for prototypes.

Pass a class to the scenario under a name; flows over RTP use it under that name::

    import hopcast
    from hopcast.media import MediaCongestionControl, PacketResult, Source

    class HalfOnLoss(MediaCongestionControl):
        # Half the rate after feedback that tells losses, and a little more after any other.
        def on_start(self, source: Source) -> None:
            self.least, self.most = source.min_rate, source.max_rate
            self.set_rate(source.min_rate)

        def on_feedback(
            self, packets: list[PacketResult], rtt: float | None, in_flight: int, now: float
        ) -> None:
            is_lossy = any(packet.arrival is None for packet in packets)
            self.set_rate(self.target_rate / 2 if is_lossy else self.target_rate * 1.02)

        def set_rate(self, rate: float) -> None:
            self.target_rate = min(max(rate, self.least), self.most)
            self.pacing_rate = 1.5 * self.target_rate

    scenario = hopcast.Scenario.from_toml(
        "call.toml", extensions=hopcast.Extensions(media={"half-on-loss": HalfOnLoss})
    )
    scenario = scenario.set("flows.call.transport", {"protocol": "rtp", "congestion": "half-on-loss"})
    hopcast.run(scenario)

The sender of each session of each replication gets a separate object. Its behaviour must depend only on its inputs, so
that a run can be repeated: no clock, no random numbers except from a generator with a fixed seed, no state shared
between objects.
"""

from __future__ import annotations

from typing import Literal, NamedTuple


class Source(NamedTuple):
    """What the source of a session can do."""

    min_rate: int
    """Least target rate that is useful to it, in b/s."""
    max_rate: int
    """Greatest target rate, in b/s."""
    frame_period: float
    """Time between two frames, in seconds."""
    headers: int
    """Bytes of the headers of a packet: RTP, UDP and IP."""
    packet: int
    """Bytes of a full packet, headers included."""
    is_markable: bool
    """Whether the scenario lets queues mark packets (`ecn = true`)."""
    weight: float = 1.0
    """How its share of a bottleneck compares with that of others (`weight` in the scenario)."""


class PacketResult(NamedTuple):
    """The fate of a packet."""

    number: int
    """Its number, counted from 0 on; padding and probes are counted as well."""
    size: int
    """Its bytes, headers included."""
    sent: float
    """When it left."""
    arrival: float | None
    """When it arrived by the receiver's clock, of which only differences mean something; `None` if it counts as lost."""
    is_marked: bool
    """Whether a queue marked it (ECN)."""
    probe: int | None
    """The probe that it belongs to."""


class Probe(NamedTuple):
    """A burst that measures what the path carries. The session sends it as soon as it can, and pads it."""

    id: int
    """What `PacketResult.probe` of its packets will be, from 0 to 2³² − 1."""
    rate: float
    """Rate of its packets in b/s, above 0."""
    packets: int
    """Least number of packets."""
    bytes: int
    """Least number of bytes."""


class MediaCongestionControl:
    """Congestion control of media: subclass it, and change the attributes as the session reports events.

    All sizes are in bytes, all times in seconds, all rates in b/s. hopcast reads the attributes after each call, and
    sets `probe` back to `None` when it has taken it. Parameters of the scenario are keyword arguments of the
    constructor; an unknown one is an error of the scenario. An exception ends the run: it is the cause of the
    `RunError` that `hopcast.run` raises.
    """

    target_rate: float = 0
    """What the encoder is to produce, headers not counted; at least 0."""

    pacing_rate: float | None = None
    """How fast packets may leave, headers counted; above 0. `None`: at once."""

    window: int | None = None
    """How many bytes may be in flight, headers counted; at least 0. `None`: any number."""

    timeout: float | None = None
    """When `on_timeout` is to be called. `None`: never."""

    probe: Probe | None = None
    """A probe that is due."""

    ecn: Literal["not-ect", "ect0", "ect1"] = "not-ect"
    """The ECN field with which packets leave."""

    def on_start(self, source: Source) -> None:
        """Called once, before everything else."""
        self.target_rate = source.max_rate

    def on_sent(self, number: int, size: int, in_flight: int, now: float) -> None:
        """Called when a packet leaves; then `in_flight` bytes are on their way, this packet included."""

    def on_frame(self, size: int, queued: int, queue_delay: float, now: float) -> None:
        """Called when the encoder hands over a frame: `queued` bytes wait for the pacer before it, the oldest of them
        for `queue_delay`.
        """

    def on_feedback(self, packets: list[PacketResult], rtt: float | None, in_flight: int, now: float) -> None:
        """Called when feedback arrives that tells the fate of `packets` for the first time, in the order of their
        numbers; `in_flight` bytes are still on their way.

        `rtt` is the round-trip time of the packet that arrived last, without the time for which the receiver held
        the feedback back; `None` if none of them arrived.
        """

    def on_timeout(self, now: float) -> None:
        """Called when `timeout` has come: set another one, or `None`."""
