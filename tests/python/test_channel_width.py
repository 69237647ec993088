"""Primary and secondary channels: two networks of 802.11ac on overlapping channels of several widths, against closed forms."""

from __future__ import annotations

import math
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from hopcast import Scenario, run

PAYLOAD, MPDU = 1472, 1538
BITS = {"20 MHz": 260, "40 MHz": 540, "80 MHz": 1170}
"""N_DBPS of MCS 7 over one stream (IEEE 802.11-2020, 21.5)."""
ANSWER = 16 + 32
"""SIFS and the block acknowledgment at 24 Mb/s, in microseconds, as all times here."""
PIFS, AIFS, BACKOFF = 25, 43, 7.5 * 9


def frame(mpdus: int, width: str) -> int:
    """TXTIME of an A-MPDU (21.4.3): a preamble of 40, and symbols of 4 with SERVICE and tail."""
    octets = (mpdus - 1) * (MPDU + 6) + MPDU + 4
    return 40 + 4 * math.ceil((16 + 8 * octets + 6) / BITS[width])


def fullest(width: str) -> int:
    """MPDUs of the longest A-MPDU: a window of 64, and aPPDUMaxTime."""
    return max(mpdus for mpdus in range(1, 65) if frame(mpdus, width) <= 5484)


def alone(width: str) -> float:
    """Bit/s of a saturated link that has the channel to itself."""
    mpdus = fullest(width)
    return 8e6 * PAYLOAD * mpdus / (frame(mpdus, width) + ANSWER + AIFS + BACKOFF)


def flow(name: str) -> dict[str, Any]:
    application = {"kind": "bulk", "packet": PAYLOAD}
    return {
        "name": name,
        "from": f"{name}0",
        "to": f"{name}1",
        "transport": {"protocol": "udp"},
        "application": application,
    }


def networks(bandwidth: str, channel: int | None, width: str = "20 MHz", **radio: Any) -> Scenario:
    """A saturated link in 80 MHz around channel 36, and one on another channel of this width."""
    nodes = [{"name": "w", "count": 2, "placement": {"shape": "line", "spacing": "2 m"}, "radios": [{"network": "w"}]}]
    nodes[0]["socket_buffer"] = "1 MB"
    if channel is not None:
        placement = {"shape": "points", "at": [[0, 4], [2, 4]]}
        radios = [{"network": "n", "channel": {"number": channel, "width": width}}]
        nodes.append({"name": "n", "count": 2, "placement": placement, "radios": radios, "socket_buffer": "1 MB"})
    whole = {"standard": "802.11ac", "channel": {"number": 36, "width": "80 MHz"}, "data_rate": "mcs 7"}
    flows: Any = [flow(str(group["name"])) for group in nodes]
    return Scenario(duration=4, radio={**whole, "bandwidth": bandwidth, **radio}, nodes=nodes, flows=flows)  # type: ignore[arg-type]


def goodputs(scenario: Scenario) -> list[float]:
    """Bit/s of the wide network and of the other one."""
    return [flow["goodput_bps"] for flow in run(scenario, seed=1, replications=2).json()["flows"]]


@pytest.mark.parametrize("bandwidth", ["whole", "static", "dynamic"])
def test_a_link_without_neighbours_has_all_of_its_channel(bandwidth: str) -> None:
    assert goodputs(networks(bandwidth, None)) == [pytest.approx(alone("80 MHz"), rel=0.005)]


@pytest.mark.parametrize("channel", [44, 48])
def test_dynamic_bandwidth_carries_what_is_left(channel: int) -> None:
    """A neighbour on a secondary channel leaves gaps of AIFS and its backoff. An access of the wide network that is later than PIFS
    in one of them takes all of the channel, and the neighbour waits for that frame and its answer, and for AIFS once more.
    """
    own = frame(fullest("20 MHz"), "20 MHz") + ANSWER + AIFS + BACKOFF
    whole = (AIFS + BACKOFF - PIFS) / own
    left = "40 MHz"
    narrow, wide = fullest(left), fullest("80 MHz")
    mpdus = (1 - whole) * narrow + whole * wide
    taken = [frame(narrow, left), frame(wide, "80 MHz")]
    time = (1 - whole) * taken[0] + whole * taken[1] + ANSWER + AIFS + BACKOFF
    waits = whole * (taken[1] + ANSWER + AIFS) / time
    expected = [8e6 * PAYLOAD * mpdus / time, alone("20 MHz") * (1 - waits)]
    assert goodputs(networks("dynamic", channel)) == pytest.approx(expected, rel=0.01)


def test_next_to_the_primary_channel_20_mhz_are_left() -> None:
    """Here the cycles of both networks are equally long, so that the share of accesses in gaps depends on where the run begins."""
    assert goodputs(networks("dynamic", 40)) == pytest.approx([alone("20 MHz")] * 2, rel=0.03)


@pytest.mark.parametrize("channel", [40, 44, 48])
def test_static_bandwidth_takes_the_gaps_alone(channel: int) -> None:
    """The wide network has only the gaps of the neighbour, which has to wait for each of its frames."""
    static, dynamic = (goodputs(networks(bandwidth, channel)) for bandwidth in ("static", "dynamic"))
    assert static[1] < 0.8 * dynamic[1]
    assert channel == 40 or static[0] < 0.8 * dynamic[0]


@pytest.mark.parametrize("bandwidth", ["static", "dynamic"])
def test_networks_next_to_each_other_keep_their_channels(bandwidth: str) -> None:
    """Channel 52 is next to channels 36 to 48. What leaks is far below -62 dBm, and leaves the schemes their ratio."""
    assert goodputs(networks(bandwidth, 52)) == pytest.approx([alone("80 MHz"), alone("20 MHz")], rel=0.005)


@pytest.mark.parametrize("channel", [40, 44, 48])
def test_equal_channels_are_shared_whichever_the_primary_channel_is(channel: int) -> None:
    """A frame of one network covers the primary channel of the other one, which decodes it and heeds its reservation."""
    shared = goodputs(networks("dynamic", channel, "80 MHz"))
    assert shared == goodputs(networks("dynamic", 36, "80 MHz"))
    assert sum(shared) < alone("80 MHz")


def test_an_rts_reserves_the_narrower_channel() -> None:
    """RTS and CTS of 28 each, and two SIFS, go before each frame."""
    without, with_rts = (goodputs(networks("dynamic", 44, rts_threshold=rts)) for rts in ("off", "0 B"))
    narrow = frame(fullest("40 MHz"), "40 MHz") + ANSWER + AIFS + BACKOFF
    assert with_rts[0] / without[0] == pytest.approx(narrow / (narrow + 28 + 16 + 28 + 16), rel=0.01)
    assert with_rts[1] == pytest.approx(without[1], rel=0.02)


def test_a_station_with_a_narrower_channel_belongs_to_the_network() -> None:
    """It gets and sends frames of its width; others have theirs."""
    radios: list[Any] = [{}, {"channel": {"number": 36, "width": "40 MHz"}}, {}]
    nodes = [
        {"name": name, "radios": [radio], "placement": {"shape": "points", "at": [[place, 0]]}}
        for place, (name, radio) in enumerate(zip(("ap", "old", "new"), radios, strict=True))
    ]
    flows = [
        {
            **flow("x"),
            "name": f"{one} {other}",
            "from": one,
            "to": other,
            "application": {"kind": "cbr", "rate": "5 Mb/s"},
        }
        for one, other in [("ap", "old"), ("old", "ap"), ("ap", "new"), ("new", "ap")]
    ]
    radio = {"standard": "802.11ax", "channel": {"number": 36, "width": "80 MHz"}, "bandwidth": "dynamic"}
    result = run(Scenario(duration=2, radio=radio, nodes=nodes, flows=flows), threads=1).json()  # type: ignore[arg-type]
    assert [flow["lost_packets"] for flow in result["flows"]] == [0] * 4


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"radio.bandwidth": "dynamic", "radio.reception": "threshold"}, "needs power in each part of a channel"),
        ({"radio.standard": "802.11a"}, "is not a parameter of 802.11a"),
        ({"radio.bandwidth": "whole", "nodes.w.radios.0.channel": {"number": 36, "width": "20 MHz"}}, "dynamic"),
        ({"radio.bandwidth": "dynamic", "nodes.w.radios.0.channel": {"number": 36, "width": "160 MHz"}}, "80 MHz"),
    ],
)
def test_what_contradicts_is_refused(settings: dict[str, Any], said: str) -> None:
    scenario = networks("dynamic", None)
    *first, (key, value) = settings.items()
    for name, given in first:
        scenario = scenario.set(name, given)
    with pytest.raises(ValueError, match=said):
        scenario.set(key, value)


@pytest.mark.skipif(shutil.which("tshark") is None, reason="needs tshark")
def test_tshark_reads_the_width_of_each_frame(tmp_path: Path) -> None:
    """1: 40 MHz, 4: 80 MHz (radiotap's VHT field)."""
    scenario = networks("dynamic", 44, rts_threshold="0 B").set("duration", "0.3 s")
    run(scenario, out=tmp_path, pcap=True, threads=1)

    def count(filtered: str) -> int:
        command = ["tshark", "-r", str(tmp_path / "w0.pcapng"), "-Y", filtered]
        return len(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines())

    assert count("_ws.malformed or _ws.expert.severity == error") == 0
    assert count("radiotap.vht.bw == 1") > 100
    assert count("radiotap.vht.bw == 4") > 0
