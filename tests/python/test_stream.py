"""`hopcast.stream`: both ends in one event loop, over loopback."""

from __future__ import annotations

import asyncio
import contextlib
import math
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from hopcast import _core
from hopcast.stream import Receiver, Sender, StreamError, rtp_packet

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="live commands need Linux")


def packets(count: int) -> list[bytes]:
    return [rtp_packet(bytes([n % 256]) * 188, sequence=65_500 + n, timestamp=n * 900, source=7) for n in range(count)]


async def carry(sent: list[bytes], **options: object) -> tuple[list[bytes], dict[str, object], dict[str, object]]:
    """Sends packets from one end to the other: what arrived, and the statistics of both ends."""
    common = {name: value for name, value in options.items() if name in ("variant", "key")}
    async with Receiver("127.0.0.1:0", **common) as receiver:  # type: ignore[arg-type]
        host, port = receiver.address

        async def take() -> list[bytes]:
            return [packet async for packet in receiver]

        taken = asyncio.create_task(take())
        async with Sender(f"{host}:{port}", **options) as sender:  # type: ignore[arg-type]
            for packet in sent:
                await sender.send(packet)
                await asyncio.sleep(0.001)
            statistics = sender.statistics
        return await asyncio.wait_for(taken, 20), statistics, receiver.statistics


@pytest.mark.parametrize("variant", ["adtfrc", "tfrc", "udp"])
def test_packets_arrive_as_they_were_and_in_order(variant: str) -> None:
    sent = packets(150)
    found, sender, receiver = asyncio.run(carry(sent, variant=variant))
    assert found == sent
    assert sender["packets_offered"] == 150
    assert (receiver["packets_delivered"], receiver["packets_lost"], receiver["packets_overrun"]) == (150, 0, 0)
    assert (sender["allowed_rate_bps"] is None) == (variant == "udp")


def test_a_key_and_correction_change_nothing_for_the_user(tmp_path: Path) -> None:
    key = tmp_path / "key"
    subprocess.run([sys.executable, "-m", "hopcast", "key", str(key)], check=True)
    sent = packets(100)
    found, _, receiver = asyncio.run(carry(sent, key=key, correction=(10, 2)))
    assert found == sent
    sealing = receiver["sealing"]
    assert isinstance(sealing, dict)
    assert sealing["unauthentic"] == 0


def test_wrong_arguments_are_named() -> None:
    for address in ("nowhere:port", "nowhere:", "nowhere:65536", ":1", "[::1", "[::1]6511", "[::1]:", "[]:1"):
        with pytest.raises(ValueError, match="expected HOST or HOST:PORT"):
            Sender(address)

    async def enter(end: Sender | Receiver) -> None:
        async with end:
            pass

    with pytest.raises(ValueError, match="adtfrc, tfrc or udp"):
        asyncio.run(enter(Sender("127.0.0.1", variant="fast")))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="key file /nowhere"):
        asyncio.run(enter(Receiver("127.0.0.1:0", key="/nowhere")))
    with pytest.raises(RuntimeError, match="async with"):
        Sender("127.0.0.1").send_now(b"")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"variant": "udp", "correction": (20, 4)}, "over udp"),
        ({"correction": (0, 4)}, "at least one of each"),
        ({"correction": (20, 0)}, "at least one of each"),
        ({"correction": (200, 100)}, "255 in all"),
        ({"correction": (300, 4)}, "255 in all"),
        ({"correction": (-1, 4)}, "at least one of each"),
        ({"patience": -1.0}, "patience -1"),
        ({"patience": math.nan}, "patience NaN"),
    ],
)
def test_what_the_command_refuses_is_refused_here_too(options: dict[str, Any], problem: str) -> None:
    async def enter() -> None:
        async with Sender("127.0.0.1", **options):
            pass

    with pytest.raises(ValueError, match=problem):
        asyncio.run(enter())


def test_a_buffer_of_less_than_nothing_is_refused() -> None:
    async def enter() -> None:
        async with Receiver("127.0.0.1:0", playout=-0.1):
            pass

    with pytest.raises(ValueError, match=r"playout -0\.1"):
        asyncio.run(enter())


def test_a_packet_that_cannot_be_carried_is_refused() -> None:
    async def run() -> None:
        async with Receiver("127.0.0.1:0") as receiver:
            host, port = receiver.address
            async with Sender(f"{host}:{port}") as sender:
                with pytest.raises(ValueError, match="0 octets"):
                    await sender.send(b"")
                await asyncio.wait_for(sender.connected(), 5)

    asyncio.run(run())


def test_an_exception_gives_the_stream_up_at_once() -> None:
    async def run() -> None:
        with contextlib.suppress(KeyError):
            async with Sender("127.0.0.1:9") as sender:
                assert sender.send_now(packets(1)[0])
                raise KeyError

    asyncio.run(asyncio.wait_for(run(), 5))


def test_a_sender_whom_nobody_answers_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        async with Sender("127.0.0.1:9") as sender:
            waits = asyncio.create_task(sender.connected())
            while sender.send_now(packets(1)[0]):
                pass
            fills = asyncio.create_task(sender.send(packets(1)[0]))
            await asyncio.sleep(0.1)
            assert not waits.done()
            assert not fills.done()
            # More than three minutes later.
            start = time.monotonic_ns
            monkeypatch.setattr("hopcast.stream.time.monotonic_ns", lambda: start() + 181 * 10**9)
            for task in (waits, fills):
                with pytest.raises(StreamError, match="does not answer"):
                    await task

    with pytest.raises(StreamError, match="does not answer"):
        asyncio.run(asyncio.wait_for(run(), 10))


@pytest.mark.parametrize("variant", ["adtfrc", "udp"])
@pytest.mark.parametrize("is_given_up", [True, False])
def test_who_hands_over_while_the_block_ends_is_told(variant: Any, is_given_up: bool) -> None:
    async def run() -> None:
        async with Receiver("127.0.0.1:0", variant=variant) as receiver:
            host, port = receiver.address
            tasks: list[asyncio.Task[None]] = []

            async def hand_over(sender: Sender) -> None:
                while True:
                    await sender.send(packets(1)[0])
                    await asyncio.sleep(0.0)

            with contextlib.suppress(KeyError):
                async with Sender(f"{host}:{port}", variant=variant) as sender:
                    if variant == "udp":
                        tasks.append(asyncio.create_task(sender.connected()))
                    else:
                        await sender.connected()
                    tasks.append(asyncio.create_task(hand_over(sender)))
                    await asyncio.sleep(0.05)
                    if is_given_up:
                        raise KeyError
            for task in tasks:
                with pytest.raises(StreamError, match="the stream is over"):
                    await task

    asyncio.run(asyncio.wait_for(run(), 10))


def test_who_iterates_while_the_block_ends_gets_what_came_and_an_end() -> None:
    async def run() -> None:
        async with Receiver("127.0.0.1:0") as receiver:
            waits = asyncio.create_task(anext(receiver, None))
            await asyncio.sleep(0.05)
        assert await waits is None
        async with Receiver("127.0.0.1:0") as receiver:
            host, port = receiver.address
            sender = Sender(f"{host}:{port}")
            await sender.__aenter__()
            for packet in packets(20):
                await sender.send(packet)
            while receiver.statistics["packets_delivered"] < 20:
                await asyncio.sleep(0.01)
        assert [packet async for packet in receiver] == packets(20)
        await sender.__aexit__(KeyError, None, None)

    asyncio.run(asyncio.wait_for(run(), 10))


def test_errors_are_hopcasts() -> None:
    from hopcast import HopcastError

    assert issubclass(StreamError, HopcastError)


def test_where_the_socket_takes_nothing_senders_wait_and_others_have_their_turn() -> None:
    async def run() -> None:
        async with Receiver("127.0.0.1:0", variant="udp") as receiver:
            host, port = receiver.address
            async with Sender(f"{host}:{port}", variant="udp") as sender:
                await sender.send(packets(1)[0])
                # What asyncio says where a network is slower than its sender.
                machine = sender._open()
                machine.pause_writing()
                assert not sender.send_now(packets(1)[0])
                waiting = asyncio.create_task(sender.send(packets(1)[0]))
                await asyncio.sleep(0.05)
                assert not waiting.done()
                assert sender.statistics["packets_offered"] == 1
                machine.resume_writing()
                await asyncio.wait_for(waiting, 5)
                assert sender.send_now(packets(1)[0])
                assert sender.statistics["packets_offered"] == 3
                machine.pause_writing()
                waiting = asyncio.create_task(sender.send(packets(1)[0]))
                await asyncio.sleep(0.05)
            with pytest.raises(StreamError):
                await asyncio.wait_for(waiting, 5)

    asyncio.run(run())


def test_who_is_link_local_is_answered_where_it_is() -> None:
    request = _core.StreamSender("adtfrc", None, None, None, 0).poll_output(0)
    assert request is not None
    receiver = _core.StreamReceiver("adtfrc", 0.3, None, 0)
    for peer in (("fe80::1", 5000, 0, 3), ("fe80::1", 5000, 0, 4), ("192.0.2.1", 5000, 0, 0)):
        receiver.handle_datagram(request[1] or b"", 0, *peer)
        answer = receiver.poll_output(0)
        assert answer is not None
        assert answer[0] == "transmit"
        assert answer[2] == peer
