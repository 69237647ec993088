"""Stations of several standards in one cell: what is refused, what `--explain` says, and captures as tshark reads them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from hopcast import Scenario, run


def cell(radio: dict[str, Any], older: str | None, **more: Any) -> dict[str, Any]:
    """Two stations of `radio`, of which one sends to the other and to an older one."""
    old: dict[str, Any] = {} if older is None else {"standard": older}
    flow = {"transport": {"protocol": "udp"}, "application": {"kind": "cbr", "rate": "2 Mb/s", "packet": 1472}}
    return {
        "duration": 0.5,
        "radio": radio,
        "nodes": [
            {"name": "n", "count": 2, "placement": {"shape": "line", "spacing": "1 m"}},
            {"name": "old", "placement": {"shape": "points", "at": [["0 m", "1 m"]]}, "radios": [{**old, **more}]},
        ],
        "flows": [{"name": to, "from": "n0", "to": to, **flow} for to in ("n1", "old")],
    }


@pytest.mark.parametrize(
    ("radio", "older", "said"),
    [
        ({"standard": "802.11g"}, "802.11ax", "802.11ax is newer than radio.standard"),
        (
            {"standard": "802.11n"},
            "802.11b",
            'share no channel with those of 802.11n at 5 GHz; expected one of "802.11a"',
        ),
        ({"standard": "802.11ac"}, "802.11g", 'one of "802.11a", "802.11n"'),
        ({"standard": "802.11ax", "band": "2.4 GHz"}, "802.11ac", "share no channel"),
        ({"standard": "802.11a"}, "802.11b", "stations of 802.11b and 802.11a share no channel"),
        ({"standard": "802.11g"}, "wavelan", "share no channel"),
    ],
)
def test_stations_that_share_no_channel_are_refused(radio: dict[str, Any], older: str, said: str) -> None:
    with pytest.raises(ValueError, match=r"nodes\.old\.radios\.0\.standard") as refused:
        Scenario(**cell(radio, older)).explain()
    assert said in str(refused.value)


def test_a_station_with_fewer_streams_gets_frames_of_as_many() -> None:
    """Both streams carry 130 Mb/s to one station, and one stream 65 Mb/s to the other."""
    radio = {"standard": "802.11n", "spatial_streams": 2, "data_rate": "mcs 15"}
    for more, least, most in (({}, 110e6, 130e6), ({"spatial_streams": 1}, 55e6, 65e6)):
        made = Scenario(**cell(radio, None, **more)).set("flows.old.application", {"kind": "bulk", "packet": 1472})
        flows = {flow["name"]: flow for flow in run(made.set("flows.n1.application.rate", "1 kb/s")).json()["flows"]}
        assert least < flows["old"]["goodput_bps"] < most, more


@pytest.mark.parametrize(
    ("radio", "older", "streams", "said"),
    [
        ({"standard": "802.11n"}, None, 2, r"is more than stations of 802\.11n have here \(1\)"),
        ({"standard": "802.11n", "spatial_streams": 2}, "802.11a", 1, r"802\.11a has no spatial streams"),
        ({"standard": "802.11a"}, None, 1, r"802\.11a has no spatial streams"),
    ],
)
def test_streams_that_a_station_cannot_have_are_refused(
    radio: dict[str, Any], older: str | None, streams: int, said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        Scenario(**cell(radio, older, spatial_streams=streams)).explain()


def test_a_rate_must_be_one_of_the_older_standard() -> None:
    Scenario(**cell({"standard": "802.11n", "band": "2.4 GHz"}, "802.11b", data_rate="5.5 Mb/s")).explain()
    with pytest.raises(ValueError, match=r"is not a rate of 802\.11b"):
        Scenario(**cell({"standard": "802.11n", "band": "2.4 GHz"}, "802.11b", data_rate="54 Mb/s")).explain()


@pytest.mark.parametrize(
    ("older", "protection", "basic_rate"),
    [("802.11b", "cts-to-self", "2 Mb/s"), ("802.11g", "none", "24 Mb/s"), (None, "none", "24 Mb/s")],
)
def test_explain_names_protection_and_basic_rate(older: str | None, protection: str, basic_rate: str) -> None:
    scenario = Scenario(**cell({"standard": "802.11n", "band": "2.4 GHz"}, older))
    rows = {key: value for key, value, *_ in scenario.explain()}
    assert (rows["radio.protection"], rows["radio.basic_rate"]) == (protection, basic_rate)


@pytest.mark.skipif(shutil.which("tshark") is None, reason="needs tshark")
@pytest.mark.parametrize(("older", "quality_of_service"), [("802.11b", False), ("802.11g", False), ("802.11n", True)])
def test_tshark_reads_every_frame(older: str, quality_of_service: bool, tmp_path: Path) -> None:
    """Data for the older station have its format, in QoS frames if it has QoS."""
    radio = {"standard": "802.11ax", "band": "2.4 GHz"}
    result = run(Scenario(**cell(radio, older)), out=tmp_path, pcap=True, threads=1).json()
    assert [flow["lost_packets"] for flow in result["flows"]] == [0, 0]

    def count(filtered: str) -> int:
        command = ["tshark", "-r", str(tmp_path / "n0.pcapng"), "-Y", filtered]
        return len(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines())

    assert count("_ws.malformed or _ws.expert.severity == error") == 0
    plain = count("wlan.fc.type_subtype == 0x20 and udp")
    assert (plain == 0) == quality_of_service
    assert count("radiotap.present.he and wlan.fc.type == 2") > 0
    assert (count("wlan.fc.type_subtype == 0x1c") > 0) == (older == "802.11b")
