"""A saturated link of 802.11n, 802.11ac or 802.11ax against the closed form, and captures as tshark reads them.

The closed form is computed here from the tables of IEEE 802.11-2020 (clauses 19 and 21) and IEEE 802.11ax-2021 (clause 27), and
shares nothing with the simulator.
"""

from __future__ import annotations

import math
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, cast

import pytest

from hopcast import Scenario, run

PAYLOAD = 1472
"""Bytes of a datagram; its MPDU has 8 of UDP, 20 of IP, 8 of LLC/SNAP, 26 of header and 4 of FCS more."""
MPDU = PAYLOAD + 8 + 20 + 8 + 26 + 4
SIFS, SLOT = 16e-6, 9e-6
AIFS = SIFS + 3 * SLOT
SUBCARRIERS = {
    "802.11n": {20: 52, 40: 108},
    "802.11ac": {20: 52, 40: 108, 80: 234, 160: 468},
    "802.11ax": {20: 234, 40: 468, 80: 980, 160: 1960},
}
SCHEMES = [
    (1, 1 / 2),
    (2, 1 / 2),
    (2, 3 / 4),
    (4, 1 / 2),
    (4, 3 / 4),
    (6, 2 / 3),
    (6, 3 / 4),
    (6, 5 / 6),
    (8, 3 / 4),
    (8, 5 / 6),
    (10, 3 / 4),
    (10, 5 / 6),
]
TRAINING = [1, 2, 4, 4, 6, 6, 8, 8]
LARGEST = {"802.11n": (65_535, 64), "802.11ac": (1_048_575, 64), "802.11ax": (6_500_631, 256)}
INTERVALS = {"802.11n": (0.4, 0.8), "802.11ac": (0.4, 0.8), "802.11ax": (0.8, 1.6, 3.2)}
RESPONSES = [6, 12, 12, 24, 24, 24, 24, 24, 24, 24, 24, 24]
"""Mb/s of the answer to each scheme, with OFDM's basic rates of 6, 12 and 24 Mb/s."""


class Link(NamedTuple):
    """How frames are sent; width in MHz, guard interval in µs."""

    standard: str
    mcs: int
    streams: int
    width: int
    interval: float

    def data_bits(self) -> int:
        """Of a symbol (N_DBPS)."""
        bits, rate = SCHEMES[self.mcs]
        return math.floor(SUBCARRIERS[self.standard][self.width] * bits * self.streams * rate + 1e-9)

    def is_allowed(self) -> bool:
        """Whether the tables of 21.5 have it."""
        excluded = {(20, 9): set(range(1, 9)) - {3, 6}, (80, 6): {3, 7}, (80, 9): {6}, (160, 9): {3}}
        return self.standard != "802.11ac" or self.streams not in excluded.get((self.width, self.mcs), set())

    def preamble(self) -> float:
        """Seconds (Tables 19-6, 21-5 and 27-12, with HE-LTFs of 8 µs)."""
        fixed, each = {"802.11n": (32, 4), "802.11ac": (36, 4), "802.11ax": (36, 8)}[self.standard]
        return (fixed + each * TRAINING[self.streams - 1]) * 1e-6

    def duration(self, octets: int) -> float:
        """Seconds of a frame."""
        long_symbol = 12.8 if self.standard == "802.11ax" else 3.2
        rate = self.data_bits() / (long_symbol + 0.8)
        if self.standard == "802.11ax":
            tail = 0
        else:
            tail = 6 * math.ceil(rate / (300 if self.standard == "802.11n" else 540) - 1e-9)
        symbols = math.ceil((16 + 8 * octets + tail) / self.data_bits())
        return self.preamble() + symbols * (long_symbol + self.interval) * 1e-6

    def goodput(self) -> float:
        """Bit/s of payload, by the closed form: A-MPDUs as large as limits admit, a block acknowledgment, AIFS, 7.5 slots."""
        most, window = LARGEST[self.standard]

        def octets(count: int) -> int:
            return (count - 1) * (4 + MPDU + -MPDU % 4) + 4 + MPDU

        count = max(
            n for n in range(1, window + 1) if octets(n) <= most and (n == 1 or self.duration(octets(n)) <= 5484e-6)
        )
        alone = MPDU if self.standard == "802.11n" else octets(1)
        time = self.duration(octets(count) if count > 1 else alone)
        answer = ofdm(RESPONSES[self.mcs], 14 if count == 1 else 32 if window <= 64 else 56)
        return 8 * PAYLOAD * count / (time + SIFS + answer + AIFS + 7.5 * SLOT)

    def measured(self, seconds: float) -> float:
        """Bit/s of payload in the simulator."""
        is_ht = self.standard == "802.11n"
        radio = {
            "standard": self.standard,
            "data_rate": f"mcs {self.mcs + 8 * (self.streams - 1) if is_ht else self.mcs}",
            "spatial_streams": self.streams,
            "channel": {"number": 36, "width": f"{self.width} MHz"},
            "guard_interval": f"{self.interval} us",
        }
        flow = {
            "name": "f",
            "from": "n0",
            "to": "n1",
            "transport": {"protocol": "udp"},
            "application": {"kind": "bulk", "packet": PAYLOAD},
        }
        scenario = Scenario(
            duration=seconds,
            radio=cast(Any, radio),
            # A window of 256 needs a socket that holds as much, which the default does not.
            nodes=[
                {"name": "n", "count": 2, "socket_buffer": "4 MB", "placement": {"shape": "line", "spacing": "1 m"}},
            ],
            flows=[cast(Any, flow)],
        )
        found = run(scenario, threads=1).json()["flows"][0]
        assert found["lost_packets"] == 0
        return float(found["goodput_bps"])


def ofdm(rate: int, octets: int) -> float:
    """Seconds of a frame of 802.11a at a rate in Mb/s (17.4.3)."""
    return 20e-6 + 4e-6 * math.ceil((16 + 8 * octets + 6) / (4 * rate))


def links() -> Iterator[Link]:
    """All schemes, streams, widths and guard intervals."""
    for standard, widths in SUBCARRIERS.items():
        streams = 4 if standard == "802.11n" else 8
        schemes = {"802.11n": 8, "802.11ac": 10, "802.11ax": 12}[standard]
        for width in widths:
            for count in range(1, streams + 1):
                for mcs in range(schemes):
                    for interval in INTERVALS[standard]:
                        link = Link(standard, mcs, count, width, interval)
                        if link.is_allowed():
                            yield link


@pytest.mark.parametrize(
    "link",
    [
        Link("802.11n", 0, 1, 20, 0.8),
        Link("802.11n", 7, 1, 20, 0.8),
        Link("802.11n", 7, 2, 40, 0.4),
        Link("802.11n", 3, 4, 40, 0.8),
        Link("802.11ac", 8, 1, 20, 0.8),
        Link("802.11ac", 9, 2, 80, 0.4),
        Link("802.11ac", 5, 8, 160, 0.8),
        Link("802.11ax", 0, 1, 20, 3.2),
        Link("802.11ax", 11, 1, 20, 0.8),
        Link("802.11ax", 9, 2, 80, 0.8),
        Link("802.11ax", 11, 8, 160, 1.6),
    ],
    ids=lambda link: "-".join(map(str, link)),
)
def test_a_saturated_link_carries_what_the_closed_form_says(link: Link) -> None:
    assert link.measured(4.0) == pytest.approx(link.goodput(), rel=0.005)


@pytest.mark.slow
def test_all_links_carry_what_the_closed_form_says() -> None:
    found = [(link, link.measured(2.0) / link.goodput() - 1) for link in links()]
    assert [(link, error) for link, error in found if abs(error) > 0.005] == []


@pytest.mark.parametrize(
    ("aggregation", "lowest", "highest"),
    [
        ({"ampdu": "65535 B"}, 59, 60),
        ({"ampdu": "off"}, 30, 31),
        ({"ampdu": "off", "amsdu": "7935 B"}, 51, 52),
    ],
    ids=["ampdu", "none", "amsdu"],
)
def test_aggregation_carries_what_ns_3_asserts(aggregation: dict[str, str], lowest: float, highest: float) -> None:
    """The ranges of ns-3's example `wifi-aggregation`, for MCS 7 in 20 MHz."""
    scenario = Scenario(**two_stations("802.11n", aggregation=aggregation))
    goodput = run(scenario, threads=1).json()["flows"][0]["goodput_bps"] / 1e6
    assert lowest <= goodput <= highest


@pytest.mark.parametrize(
    ("stations", "eifs", "difs"), [(5, 34.1710, 34.9671), (10, 31.9398, 33.0739), (20, 29.5261, 30.9282)]
)
def test_a_cell_of_802_11ax_lies_between_the_reference_values(stations: int, eifs: float, difs: float) -> None:
    """Mb/s of packets of 1500 bytes at MCS 7 in 20 MHz without aggregation: ns-3's `wifi-bianchi` with EIFS and with DIFS."""
    document = two_stations("802.11ax", aggregation={"ampdu": "off"})
    document["duration"] = 20
    document["nodes"] = [
        {"name": "ap", "placement": {"shape": "points", "at": [["0 m", "0 m"]]}},
        {"name": "n", "count": stations, "placement": {"shape": "circle", "radius": "1 m"}},
    ]
    flow = document["flows"][0]
    document["flows"] = [{**flow, "name": f"f{n}", "from": f"n{n}", "to": "ap"} for n in range(stations)]
    result = run(Scenario(**document), threads=1).json()
    packets = sum(flow["received_packets"] for flow in result["flows"])
    carried = packets * 8 * 1500 / 20 / 1e6
    assert eifs * 0.97 <= carried <= difs * 1.03


def test_rts_goes_before_frames_that_last_longer_than_its_threshold() -> None:
    """An A-MPDU of 42 MPDUs lasts 8 ms at MCS 7, an MPDU alone 0.24 ms; 5.484 ms is the longest frame."""
    for threshold, share in [("300 us", 1), ("6 ms", 0)]:
        document = two_stations("802.11n", rts_threshold=threshold)
        sender = run(Scenario(**document), threads=1).json()["nodes"][0]
        assert sender["ampdus_sent"] > 100
        assert sender["rts_sent"] == pytest.approx(share * sender["ampdus_sent"], rel=0.02)


def test_each_station_may_have_a_scheme() -> None:
    """Two stations that send in turn, at MCS 0 and MCS 7: each A-MPDU of 65535 bytes or 5.484 ms."""
    document = two_stations("802.11n")
    document["duration"] = 20
    document["nodes"] = [
        {"name": "ap", "placement": {"shape": "points", "at": [["0 m", "0 m"]]}},
        {"name": "slow", "placement": {"shape": "points", "at": [["1 m", "0 m"]]}, "radios": [{"data_rate": "mcs 0"}]},
        {"name": "fast", "placement": {"shape": "points", "at": [["0 m", "1 m"]]}},
    ]
    flow = document["flows"][0]
    document["flows"] = [{**flow, "name": name, "from": name, "to": "ap"} for name in ("slow", "fast")]
    slow, fast = (flow["goodput_bps"] for flow in run(Scenario(**document), threads=1).json()["flows"])
    # Both send one frame in turn: by what a frame of 5.484 ms holds at 6.5 Mb/s, and one of 65535 bytes at 65 Mb/s.
    packets = [Link("802.11n", mcs, 1, 20, 0.8) for mcs in (0, 7)]
    counts = [
        max(n for n in range(1, 65) if n * 1544 <= 65_535 and link.duration(n * 1544 - 2) <= 5484e-6)
        for link in packets
    ]
    assert fast / slow == pytest.approx(counts[1] / counts[0], rel=0.1)


def test_what_a_standard_lacks_is_refused() -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"data_rate": "mcs 9"}, "mcs N"),
        ({"data_rate": "mcs 99"}, "is not a scheme"),
        ({"guard_interval": "1.6 us"}, "is not a guard interval of 802.11ac"),
        ({"channel": {"number": 144, "width": "160 MHz"}}, "has no channel 144 of that width"),
        ({"channel": 37}, "has no such channel"),
        ({"band": "2.4 GHz"}, "no channels at 2.4 GHz"),
        ({"edca": "off"}, "without QoS"),
        ({"aggregation": {"block_ack": 65}}, "at most 64"),
        ({"aggregation": {"block_ack": "off", "ampdu": "65535 B"}}, "needs block acknowledgments"),
        ({"aggregation": {"amsdu": "11425 B"}}, "too large"),
    ]
    for radio, said in cases:
        document = two_stations("802.11ac", **radio)
        with pytest.raises(ValueError, match=said):
            Scenario(**document).explain()


def two_stations(standard: str, **radio: Any) -> dict[str, Any]:
    """A scenario of two stations, of which one sends all it can."""
    return {
        "duration": 4,
        "radio": {"standard": standard, "data_rate": "mcs 7", **radio},
        "nodes": [{"name": "n", "count": 2, "placement": {"shape": "line", "spacing": "1 m"}}],
        "flows": [
            {
                "name": "f",
                "from": "n0",
                "to": "n1",
                "transport": {"protocol": "udp"},
                "application": {"kind": "bulk", "packet": PAYLOAD},
            }
        ],
    }


@pytest.mark.skipif(shutil.which("tshark") is None, reason="needs tshark")
@pytest.mark.parametrize("standard", ["802.11n", "802.11ac", "802.11ax"])
def test_tshark_reads_every_frame(standard: str, tmp_path: Path) -> None:
    """With lost MPDUs, A-MSDUs, block acknowledgments and requests for them."""
    document = two_stations(
        standard,
        aggregation={"amsdu": "3839 B", "attempts": 2},
        errors={"model": "packet", "rate": 0.2},
    )
    document["duration"] = 0.2
    result = run(Scenario(**document), out=tmp_path, pcap=True, threads=1)
    sent = result.json()["nodes"][0]

    def count(filtered: str) -> int:
        command = ["tshark", "-r", str(tmp_path / "n0.pcapng"), "-Y", filtered]
        return len(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines())

    assert count("_ws.malformed or _ws.expert.severity == error") == 0
    assert count("wlan.fc.type_subtype == 0x28 and wlan.ta != 00:00:00:00:00:00") == sent["data_sent"]
    assert count("wlan.fc.type_subtype == 0x18") == sent["block_ack_requests_sent"] > 0
    assert count("wlan.fc.type_subtype == 0x19") > 0
    assert count("wlan_aggregate or wlan.qos.amsdupresent == 1") > 0
    field = {
        "802.11n": "radiotap.mcs.index",
        "802.11ac": "radiotap.vht.mcs.0",
        "802.11ax": "radiotap.he.data_3.data_mcs",
    }
    assert count(f"{field[standard]} == 7") == sent["data_sent"]
    assert count("radiotap.ampdu.reference") > 0
