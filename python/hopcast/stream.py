"""Media over ADTFRC between real hosts, for asyncio.

The two ends of `hopcast stream`, for programs that have RTP packets instead of files::

    import hopcast.stream

    async with hopcast.stream.Sender("192.0.2.7:6511") as sender:
        for packet in packets:
            await sender.send(packet)

    async with hopcast.stream.Receiver("0.0.0.0:6511") as receiver:
        async for packet in receiver:
            ...

A Rust state machine implements the protocol, the same as in the command; sockets and timers are asyncio's. Linux
only.
"""

from __future__ import annotations

import asyncio
import json
import struct
import time
from collections import deque
from collections.abc import Callable
from os import PathLike, fspath
from types import TracebackType
from typing import Any, Literal, Self, cast

from hopcast import _core
from hopcast.errors import HopcastError

__all__ = ["Receiver", "Sender", "StreamError", "rtp_packet"]

PORT = 6511
"""Default UDP port of DCCP (RFC 6773, section 3.8)."""

Variant = Literal["adtfrc", "tfrc", "udp"]

_Peer = tuple[str, int, int, int]
"""Host, port, and the flow information and scope of IPv6."""


class StreamError(HopcastError):
    """A stream ended unexpectedly."""


def rtp_packet(
    payload: bytes, *, sequence: int, timestamp: int, source: int, payload_type: int = 33, marker: bool = False
) -> bytes:
    """An RTP packet (RFC 3550, section 5.1) without extension and contributing sources.

    `sequence` counts modulo 2^16, `timestamp` modulo 2^32 in ticks of the payload type's clock. Payload type 33 is an
    MPEG transport stream, whose `payload` holds whole packets of 188 bytes.
    """
    kind = (0x80 if marker else 0) | payload_type & 0x7F
    return struct.pack("!BBHII", 0x80, kind, sequence & 0xFFFF, timestamp & 0xFFFFFFFF, source & 0xFFFFFFFF) + payload


class _Machine(asyncio.DatagramProtocol):
    """Connects a state machine to its socket and its clock."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._start = time.monotonic_ns()
        self._timer: asyncio.TimerHandle | None = None
        self._transport: asyncio.DatagramTransport | None = None

    def _now(self) -> int:
        return time.monotonic_ns() - self._start

    def _settle(self, machine: _core.StreamSender | _core.StreamReceiver) -> None:
        """Do everything that the machine asks for, and set its timer."""
        while (wish := machine.poll_output(self._now())) is not None:
            self._take(*wish)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        due = machine.poll_timeout()
        if due is not None:
            self._timer = self._loop.call_later(max(0.0, (due - self._now()) / 1e9), self._expire, machine)

    def _expire(self, machine: _core.StreamSender | _core.StreamReceiver) -> None:
        self._timer = None
        machine.handle_timeout(self._now())
        self._settle(machine)

    def _take(self, what: str, octets: bytes | None, peer: _Peer | None, reason: str | None) -> None:
        raise NotImplementedError

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by asyncio."""
        self._transport = cast("asyncio.DatagramTransport", transport)

    def error_received(self, exc: Exception) -> None:
        """Called by asyncio: the network refuses, which may be temporary."""

    def _close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._transport is not None:
            self._transport.close()


class _SendingMachine(_Machine):
    def __init__(self, machine: _core.StreamSender) -> None:
        super().__init__()
        self.machine = machine
        self.connected = asyncio.Event()
        self.room = asyncio.Event()
        # The socket takes what it is given: not too much waits before it.
        self.flowing = True
        self.ending = False
        self.finished = asyncio.Event()
        self.reason: str | None = None

    def datagram_received(self, data: bytes, addr: tuple[str | Any, int]) -> None:
        self.machine.handle_datagram(data, self._now())
        self.settle()

    def has_room(self) -> bool:
        """Whether `send` accepts a packet."""
        return self.flowing and self.machine.room() > 0

    def tell_room(self) -> None:
        """Wake a writer that waits for room, if there is some."""
        if self.has_room():
            self.room.set()

    def pause_writing(self) -> None:
        """Called by asyncio: too many datagrams wait at the socket."""
        self.flowing = False

    def resume_writing(self) -> None:
        """Called by asyncio: the datagrams have been sent."""
        self.flowing = True
        self.tell_room()

    def settle(self) -> None:
        self._settle(self.machine)
        self.tell_room()

    def _expire(self, machine: _core.StreamSender | _core.StreamReceiver) -> None:
        super()._expire(machine)
        self.tell_room()

    def _take(self, what: str, octets: bytes | None, peer: _Peer | None, reason: str | None) -> None:
        if what == "transmit" and self._transport is not None and octets is not None:
            self._transport.sendto(octets)
        elif what == "connected":
            self.connected.set()
        elif what == "lost":
            self.connected.clear()
        elif what == "finished":
            self.reason = reason
            self.finish()

    def end(self) -> None:
        """Accept no further packets."""
        self.ending = True
        self.room.set()

    def finish(self) -> None:
        """Stop: nothing more happens."""
        self.end()
        self.finished.set()
        # Whoever waits for it waits for nothing.
        self.connected.set()

    def check(self) -> None:
        """Raise StreamError if the stream accepts no further packets."""
        if self.ending:
            raise self.over()

    def over(self) -> StreamError:
        return StreamError(self.reason or "the stream is over")

    def now(self) -> int:
        return self._now()

    def close(self) -> None:
        self._close()


class Sender:
    """Sends a stream of RTP packets to a receiver at `to`, HOST or HOST:PORT; the default port is 6511.

    * `correction` is the number of packets in a block and that of repair packets for it, for example `(20, 4)`.
    * `patience` is the age in seconds at which an unsent packet expires; by default it never does.
    * `key` is a file that `hopcast key` has made.

    The end of the `async with` block sends waiting packets and closes the stream; an exception aborts it. If there is
    no connection within 3 min, all waiting calls raise StreamError.

    Raises ValueError if an argument is wrong, OSError if no socket is available.
    """

    def __init__(
        self,
        to: str,
        *,
        variant: Variant = "adtfrc",
        correction: tuple[int, int] | None = None,
        patience: float | None = None,
        key: str | PathLike[str] | None = None,
    ) -> None:
        self._peer = _address(to)
        path = None if key is None else fspath(key)
        self._make: Callable[[], _core.StreamSender] = lambda: _core.StreamSender(
            variant, correction, patience, path, 0
        )
        self._protocol: _SendingMachine | None = None

    async def __aenter__(self) -> Self:
        protocol = _SendingMachine(self._make())
        loop = asyncio.get_running_loop()
        await loop.create_datagram_endpoint(lambda: protocol, remote_addr=self._peer)
        self._protocol = protocol
        protocol.settle()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        protocol = self._open()
        protocol.end()
        try:
            if kind is None:
                protocol.machine.handle_end(protocol.now())
                protocol.settle()
                await protocol.finished.wait()
            else:
                protocol.machine.handle_stop(protocol.now())
                protocol.settle()
        finally:
            protocol.close()
            protocol.finish()
        if kind is None and protocol.reason is not None:
            raise StreamError(protocol.reason)

    async def connected(self) -> None:
        """Wait until the receiver has accepted the stream; over UDP this never happens.

        Raises StreamError if the stream ends before that.
        """
        protocol = self._open()
        await protocol.connected.wait()
        if protocol.finished.is_set():
            raise protocol.over()

    async def send(self, packet: bytes) -> None:
        """Send an RTP packet, or a packet of RTCP that belongs to it; wait until there is room.

        Raises ValueError for a packet that is empty or longer than 64000 bytes, and StreamError once the stream or
        its block has ended.
        """
        protocol = self._open()
        protocol.check()
        while not protocol.has_room():
            protocol.room.clear()
            await protocol.room.wait()
            protocol.check()
        if not protocol.machine.handle_packet(packet, protocol.now()):
            raise ValueError(f"a packet of {len(packet)} octets can't be carried")
        protocol.settle()

    def send_now(self, packet: bytes) -> bool:
        """Send a packet if there is room, for media that cannot wait. Returns False if the packet was dropped."""
        protocol = self._open()
        if not protocol.flowing:
            return False
        taken = protocol.machine.handle_packet(packet, protocol.now())
        protocol.settle()
        return taken

    @property
    def statistics(self) -> dict[str, Any]:
        """The status that `hopcast stream send --json` shows, for example `allowed_rate_bps`, which encoders need."""
        protocol = self._open()
        found: dict[str, Any] = json.loads(protocol.machine.statistics(protocol.now()))
        return found

    def _open(self) -> _SendingMachine:
        if self._protocol is None:
            raise RuntimeError("a Sender is used in an `async with` block")
        return self._protocol


class _ReceivingMachine(_Machine):
    def __init__(self, machine: _core.StreamReceiver, capacity: int) -> None:
        super().__init__()
        self.machine = machine
        self.capacity = capacity
        self.packets: deque[bytes] = deque()
        self.overrun = 0
        self.news = asyncio.Event()
        self.finished = False

    def datagram_received(self, data: bytes, addr: tuple[str | Any, int]) -> None:
        # Of IPv6 there are four parts: a link-local address means nothing without its scope.
        self.machine.handle_datagram(data, self._now(), *addr)
        self._settle(self.machine)

    def _take(self, what: str, octets: bytes | None, peer: _Peer | None, reason: str | None) -> None:
        if what == "transmit" and self._transport is not None and octets is not None:
            self._transport.sendto(octets, peer if peer is None or ":" in peer[0] else peer[:2])
        elif what == "deliver" and octets is not None:
            if len(self.packets) == self.capacity:
                self.packets.popleft()
                self.overrun += 1
            self.packets.append(octets)
            self.news.set()
        elif what == "connected":
            self.finished = False
        elif what == "finished":
            self.finished = True
            self.news.set()

    def local(self) -> tuple[str, int]:
        if self._transport is None:
            raise RuntimeError("there is no socket")
        host, port, *_ = self._transport.get_extra_info("sockname")
        return host, port

    def now(self) -> int:
        return self._now()

    def stop(self) -> None:
        self.machine.handle_stop(self._now())
        self._settle(self.machine)
        self._close()
        # No stream ends it any more.
        self.finished = True
        self.news.set()


class Receiver:
    """Receives a stream of RTP packets at `listen`, ADDRESS or ADDRESS:PORT; the default port is 6511.

    Iterate over it to get the packets in order. Iteration ends with the stream, or with the `async with` block, after
    which it still returns packets that had arrived. `playout` is the time in seconds to wait for a missing packet,
    and the length of the viewer's buffer, for which hopcast counts stalls. `key` is a file that `hopcast key` has
    made. Of packets that the program has not read, hopcast keeps the latest `capacity`.

    Raises ValueError if an argument is wrong, OSError if the address is not available.
    """

    def __init__(
        self,
        listen: str = "0.0.0.0",
        *,
        variant: Variant = "adtfrc",
        playout: float = 0.3,
        key: str | PathLike[str] | None = None,
        capacity: int = 4096,
    ) -> None:
        self._local = _address(listen)
        path = None if key is None else fspath(key)
        self._make: Callable[[], _core.StreamReceiver] = lambda: _core.StreamReceiver(variant, playout, path, 0)
        self._capacity = max(1, capacity)
        self._protocol: _ReceivingMachine | None = None

    async def __aenter__(self) -> Self:
        protocol = _ReceivingMachine(self._make(), self._capacity)
        loop = asyncio.get_running_loop()
        await loop.create_datagram_endpoint(lambda: protocol, local_addr=self._local)
        self._protocol = protocol
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open().stop()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        protocol = self._open()
        while not protocol.packets:
            if protocol.finished:
                raise StopAsyncIteration
            protocol.news.clear()
            await protocol.news.wait()
        return protocol.packets.popleft()

    @property
    def address(self) -> tuple[str, int]:
        """Address at which it listens."""
        return self._open().local()

    @property
    def statistics(self) -> dict[str, Any]:
        """The status that `hopcast stream receive --json` shows: lost packets, hiccups, the metrics of ADTFRC."""
        protocol = self._open()
        found: dict[str, Any] = json.loads(protocol.machine.statistics(protocol.now()))
        return {**found, "packets_overrun": protocol.overrun}

    def _open(self) -> _ReceivingMachine:
        if self._protocol is None:
            raise RuntimeError("a Receiver is used in an `async with` block")
        return self._protocol


def _address(text: str) -> tuple[str, int]:
    """Split HOST, HOST:PORT, or [HOST]:PORT."""
    found = _core.split_address(text)
    if found is None:
        raise ValueError(f"{text}: expected HOST or HOST:PORT")
    host, port = found
    return host, PORT if port is None else port
