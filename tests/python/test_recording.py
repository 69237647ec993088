"""Recordings of runs: as many events of each kind as the results count, and how they are viewed."""

from __future__ import annotations

import base64
import bisect
import gzip
import http.client
import json
import math
import os
import re
import signal
import socket
import struct
import subprocess
import threading
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import hopcast
from conftest import ROOT, command
from hopcast.view import NothingToView, Server, TooLarge, find, page, write_page

EXAMPLES = sorted(path.stem for path in (ROOT / "examples").glob("*.toml"))


def recorded(name: str, folder: Path, *overrides: str) -> tuple[dict[str, Any], hopcast.Recording]:
    scenario = hopcast.Scenario.from_toml(ROOT / "examples" / f"{name}.toml", overrides=["duration=3 s", *overrides])
    result = hopcast.run(scenario, out=folder, record=True, threads=1)
    return result.json(), hopcast.open_recording(folder)


def without_cost(result: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in result.items() if key != "cost"}


@pytest.mark.parametrize("name", EXAMPLES)
def test_events_are_as_many_as_the_results_count(name: str, tmp_path: Path) -> None:
    result, recording = recorded(name, tmp_path)
    events = recording.events()
    counts = recording.about["counts"]
    assert events.height == recording.about["events"] == sum(counts.values())
    assert recording.missing_events() == 0
    assert events["time_ns"].is_sorted()
    by_kind = dict(events["kind"].value_counts().iter_rows())
    assert {kind: count for kind, count in counts.items() if count} == by_kind
    totals = result["totals"]
    assert counts["transmit"] == totals["frames_sent"]
    assert counts["collision"] == totals["collisions"]
    assert counts["drop"] == totals["packets_dropped"] + sum(
        node.get("send_buffer_full", 0) for node in result["nodes"]
    )
    for flow in result["flows"]:
        of_flow = events.filter(pl.col("flow") == flow["name"])
        if flow["protocol"] in ("udp", "rtp", "tfrc", "adtfrc"):
            assert of_flow.filter(pl.col("kind") == "deliver").height == flow["received_packets"], flow["name"]
            assert of_flow.filter(pl.col("kind") == "send").height == flow["sent_packets"], flow["name"]


TWO_NODES = """
name = "two nodes"
duration = "3 s"
[radio]
standard = "802.11g"
data_rate = "12 Mb/s"
channel = 1
tx_power = "10 dBm"
noise_figure = "7 dB"
propagation = { model = "free-space" }
[[nodes]]
name = "n"
count = 2
placement = { shape = "line", spacing = "100 m" }
[[flows]]
name = "f"
from = "n0"
to = "n1"
transport = { protocol = "udp" }
application = { kind = "cbr", packet = "500 B", rate = "200 kb/s" }
"""


def two_nodes(folder: Path, *overrides: str) -> tuple[dict[str, Any], pl.DataFrame]:
    result = hopcast.run(hopcast.Scenario.from_toml(TWO_NODES, overrides=overrides), out=folder, record=True)
    return result.json(), hopcast.open_recording(folder).events()


def test_busy_is_when_a_signal_is_there(tmp_path: Path) -> None:
    """Each of two nodes senses every frame of the other one, and nothing else."""
    _, events = two_nodes(tmp_path)
    for node in ("n0", "n1"):
        of_node = events.filter(pl.col("node") == node)
        spans = [
            of_node.filter(pl.col("kind") == kind).select("time_ns", "duration_ns").rows()
            for kind in ("busy", "receive")
        ]
        assert len(spans[0]) > 100
        assert spans[0] == spans[1]


def test_no_node_senses_while_it_transmits(tmp_path: Path) -> None:
    for name in ("mesh", "cell", "hidden-terminals"):
        _, recording = recorded(name, tmp_path / name)
        events = recording.events()
        busy = events.filter(pl.col("kind") == "busy")
        assert busy.height > 500
        for node in busy["node"].unique():
            own = events.filter((pl.col("node") == node) & (pl.col("kind") == "transmit"))
            starts = own["time_ns"].to_list()
            ends = (own["time_ns"] + own["duration_ns"]).to_list()
            rows = busy.filter(pl.col("node") == node).select("time_ns", "duration_ns").iter_rows()
            before = 0
            for start, length in rows:
                assert before <= start, (name, node, start)
                before = start + length
                place = bisect.bisect_left(ends, start + 1)
                assert place == len(starts) or starts[place] >= start + length, (name, node, start)


def test_the_ratio_of_a_reception_is_that_of_its_path(tmp_path: Path) -> None:
    """Free space over 100 m at channel 1: the closed form of Friis over noise of kTB at 290 K, with the noise figure."""
    _, events = two_nodes(tmp_path)
    data = events.filter((pl.col("kind") == "receive") & (pl.col("node") == "n1") & (pl.col("size_bytes") > 400))
    assert data.height > 100
    power = 10 - 20 * math.log10(4 * math.pi * 100 / (299_792_458 / 2.412e9))
    # 52 subcarriers of 312.5 kHz.
    noise = 10 * math.log10(1.380649e-23 * 290 * 52 * 312.5e3 * 1e3) + 7
    assert data["value"].unique().to_list() == [pytest.approx((power - noise) * 100, abs=2)]


def test_frames_that_interference_destroys_have_the_lower_ratios(tmp_path: Path) -> None:
    _, recording = recorded("cell", tmp_path)
    fates = recording.events().filter(pl.col("value").is_not_null())
    means = dict(
        fates.filter(pl.col("kind").is_in(["receive", "collision"])).group_by("kind").agg(pl.col("value").mean()).rows()
    )
    assert means["receive"] > means["collision"] + 500, "5 dB"


@pytest.mark.parametrize("changes", [(), ("flows.film.start=10 s", "flows.film.stop=30 s")])
def test_stalls_are_those_of_the_player(changes: tuple[str, ...], tmp_path: Path) -> None:
    scenario = hopcast.Scenario.from_toml(ROOT / "examples" / "video.toml", overrides=changes)
    result = hopcast.run(scenario, out=tmp_path, record=True, threads=1).json()
    events = hopcast.open_recording(tmp_path).events()
    film = result["flows"][0]
    stalls = events.filter(pl.col("kind") == "stall")
    assert (stalls["fate"] == "begins").sum() == film["hiccups"] > 0
    assert sum(stalls["duration_ns"]) / 1e9 == pytest.approx(film["hiccup_time_s"], abs=1e-6)
    assert stalls["node"].unique().to_list() == ["screen"]
    media = events.filter(pl.col("kind") == "media")
    assert set(media["fate"]) == {"on time", "late"}, "TCP loses nothing"
    assert media["value"].to_list() == list(range(media.height))


def test_media_are_on_time_late_or_lost(tmp_path: Path) -> None:
    """Each packet is a frame: what is lost was not there when the display passed it, the rest arrived at that instant."""
    result, events = two_nodes(
        tmp_path,
        "flows.f.player.start_up_delay=100 ms",
        'radio.errors={ model = "packet", level = "network", rate = 0.2 }',
    )
    of_flow = events.filter(pl.col("flow") == "f")
    sent = of_flow.filter(pl.col("kind") == "send").select("time_ns", "value").rows()
    times = of_flow.filter(pl.col("kind") == "deliver").select("time_ns", "value").rows()
    # A delivery has its delay in us; a packet leaves each 20 ms.
    arrived = {min(sent, key=lambda one: abs(one[0] - (time - delay * 1000)))[1]: time for time, delay in times}
    media = of_flow.filter(pl.col("kind") == "media")
    assert set(media["fate"]) >= {"on time", "lost"}
    assert media["value"].is_unique().all()
    for number, fate, time in media.select("value", "fate", "time_ns").iter_rows():
        if fate == "lost":
            assert arrived.get(number, time + 1) > time
        else:
            assert arrived[number] == time
    lost = media.filter(pl.col("fate") == "lost").height
    assert result["flows"][0]["lost_packets"] - 5 <= lost <= result["flows"][0]["lost_packets"]


def test_a_packet_leaves_its_application_before_it_enters_a_queue(tmp_path: Path) -> None:
    _, recording = recorded("smallest", tmp_path)
    events = recording.events().with_row_index()
    sent = events.filter(pl.col("kind") == "send")
    queued = events.filter((pl.col("kind") == "enqueue") & pl.col("flow").is_not_null())
    both = sent.join(queued, on=["time_ns", "node", "flow"], suffix="_queued")
    assert both.height > 50
    assert (both["index"] < both["index_queued"]).all()


def test_recording_changes_no_result(tmp_path: Path) -> None:
    for name in ("mesh", "hidden-terminals", "wifi", "crossing"):
        with_recording, _ = recorded(name, tmp_path / name)
        scenario = hopcast.Scenario.from_toml(ROOT / "examples" / f"{name}.toml", overrides=["duration=3 s"])
        assert without_cost(with_recording) == without_cost(hopcast.run(scenario, threads=1).json())


def test_a_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    paths = [recorded("mesh", tmp_path / name)[1].path for name in ("one", "other")]
    for file in ("events.bin", "samples.bin", "positions.bin", "levels.bin", "recording.json"):
        assert (paths[0] / file).read_bytes() == (paths[1] / file).read_bytes(), file


def test_a_reception_has_its_transmission_before_it(tmp_path: Path) -> None:
    _, recording = recorded("mesh", tmp_path)
    events = recording.events()
    sent = events.filter(pl.col("kind") == "transmit").select("frame", "node", "frame_type", start="time_ns")
    fates = events.filter(pl.col("kind").is_in(["receive", "collision", "noise"]))
    assert fates.height > 1000
    joined = fates.join(sent, on="frame", how="left", suffix="_sent")
    assert joined["start"].null_count() == 0
    assert (joined["peer"] == joined["node_sent"]).all()
    assert (joined["frame_type"] == joined["frame_type_sent"]).all()
    # At most 10 km away.
    assert joined.select((pl.col("time_ns") - pl.col("start")).is_between(0, 33_400).all()).item()


def test_backoff_and_nav_are_as_the_standard_has_them(tmp_path: Path) -> None:
    """802.11g without stations of 802.11b: slots of 9 us. A countdown that is stopped has whole slots and a part of the next, and energy
    that comes within the turnaround time of a slot does not stop it. A station sends nothing within its countdown.
    """
    _, recording = recorded("cell", tmp_path)
    events = recording.events()
    backoff = events.filter(pl.col("kind") == "backoff")
    assert backoff.height > 1000
    for length, slots in backoff.select("duration_ns", "value").iter_rows():
        assert 9_000 * slots - 5_000 <= length < 9_000 * (slots + 1), (length, slots)
    for node in events["node"].unique():
        of_node = events.filter(pl.col("node") == node)
        starts = of_node.filter(pl.col("kind") == "transmit")["time_ns"].to_list()
        for begin, length in of_node.filter(pl.col("kind") == "backoff").select("time_ns", "duration_ns").iter_rows():
            place = bisect.bisect_right(starts, begin)
            assert place == len(starts) or starts[place] >= begin + length, (node, begin)
    nav = events.filter(pl.col("kind") == "nav")
    # Reservations of one exchange, of the longest frame at 6 Mb/s, and no more than the field holds.
    assert nav.height > 100
    assert nav["duration_ns"].is_between(1, 32_767_000).all()


def test_levels_are_shares_of_the_events(tmp_path: Path) -> None:
    _, recording = recorded("hidden-terminals", tmp_path)
    level = recording.about["levels"][-1]
    nodes, bins, width = len(recording.about["nodes"]), level["bins"], level["bin_ns"]
    data = (recording.path / "levels.bin").read_bytes()[level["offset"] :]
    assert len(data) == nodes * bins * 5
    names = [node["name"] for node in recording.about["nodes"]]
    sent = recording.events().filter(pl.col("kind") == "transmit")
    for number, name in enumerate(names):
        busy = sum(
            min(start + length, (place + 1) * width) - max(start, place * width)
            for start, length in sent.filter(pl.col("node") == name).select("time_ns", "duration_ns").iter_rows()
            for place in range(start // width, (start + length - 1) // width + 1)
        )
        shares = sum(data[(number * bins + place) * 5] for place in range(bins))
        # Each share is rounded up.
        assert busy / width * 255 <= shares + 1e-9 <= busy / width * 255 + bins


def test_a_cut_file_holds_what_was_before_the_cut(tmp_path: Path) -> None:
    _, recording = recorded("smallest", tmp_path)
    whole = recording.events()
    file = recording.path / "events.bin"
    file.write_bytes(file.read_bytes()[: 32 * 100 + 17])
    cut = hopcast.open_recording(tmp_path)
    assert cut.events().equals(whole[:100])
    assert cut.missing_events() == whole.height - 100


def test_tables_have_names(tmp_path: Path) -> None:
    _, recording = recorded("crossing", tmp_path)
    positions = recording.positions()
    assert positions.columns == ["time_ns", "node", "x_m", "y_m"]
    assert set(positions["node"]) == {f"car{number}" for number in range(20)}
    assert positions["x_m"].is_between(0, 200).all()
    samples = recording.samples()
    assert samples.columns == ["time_ns", "series", "flow", "node", "unit", "value"]
    assert samples["series"].null_count() == 0
    assert set(recording.events()["frame_type"].drop_nulls()) >= {"data", "ack"}


def test_each_seed_has_a_recording_and_a_later_run_removes_it(tmp_path: Path) -> None:
    scenario = hopcast.Scenario.from_toml(ROOT / "examples" / "smallest.toml", overrides=["duration=1 s"])
    hopcast.run(scenario, seed=4, replications=3, out=tmp_path, record=True)
    assert [hopcast.open_recording(tmp_path, seed).seed for seed in (4, 5, 6)] == [4, 5, 6]
    assert find(tmp_path)[1] == [4, 5, 6]
    with pytest.raises(NothingToView, match="no recording of seed 7, only of 4, 5, 6"):
        find(tmp_path, 7)
    (tmp_path / "recording" / "mine.txt").write_text("stays")
    hopcast.run(scenario, out=tmp_path)
    assert sorted(path.name for path in (tmp_path / "recording").iterdir()) == ["mine.txt"]
    with pytest.raises(NothingToView, match="run the scenario again with --record"):
        find(tmp_path)


def test_a_recording_needs_a_folder(tmp_path: Path) -> None:
    scenario = hopcast.Scenario.from_toml(ROOT / "examples" / "smallest.toml")
    with pytest.raises(ValueError, match="record"):
        hopcast.run(scenario, record=True)
    done = subprocess.run(
        [*command(), "run", str(ROOT / "examples" / "smallest.toml"), "--record"], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "--record needs --out" in done.stderr


def test_the_page_holds_the_recording(tmp_path: Path) -> None:
    _, recording = recorded("hidden-terminals", tmp_path)
    recording.about["scenario"] = "</script><b>"
    write_page(recording.folder, tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    about = re.search(r'<script id="recording" type="application/json">(.*)</script>\n', text)
    assert about is not None
    assert json.loads(about[1])["counts"] == recording.about["counts"]
    assert "</script><b>" not in text
    parts = dict(re.findall(r'<script class="part" data-name="([a-z.]+)" type="text/plain">([^<]*)</script>', text))
    assert len(parts) == 4
    for name, part in parts.items():
        assert gzip.decompress(base64.b64decode(part, validate=True)) == (recording.path / name).read_bytes()


def test_too_much_for_a_page_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, recording = recorded("smallest", tmp_path)
    monkeypatch.setattr(page, "MOST_BYTES", 1000)
    with pytest.raises(TooLarge, match="View it without --out"):
        write_page(recording.folder, tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


def test_the_server_has_the_page_and_the_recording_alone(tmp_path: Path) -> None:
    _, recording = recorded("smallest", tmp_path)
    (recording.path / "secret.txt").write_text("no")
    with Server(recording.folder) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        assert server.server_address[0] == "127.0.0.1"

        def get(path: str, host: str | None = None) -> tuple[int, bytes]:
            connection = http.client.HTTPConnection("127.0.0.1", server.server_port)
            connection.request("GET", path, headers={"Host": host} if host else {})
            answer = connection.getresponse()
            return answer.status, answer.read()

        assert b"<!-- recording -->" in get("/")[1]
        assert get("/events.bin") == (200, (recording.path / "events.bin").read_bytes())
        assert json.loads(get("/recording.json")[1])["format"] == 1
        for path in ("/secret.txt", "/../run.json", "/%2e%2e/run.json", "//etc/passwd", "/recording"):
            assert get(path)[0] == 404, path
        assert get("/events.bin", "evil.example")[0] == 403
        server.shutdown()


def test_connections_that_break_off_are_not_told(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    _, recording = recorded("smallest", tmp_path)
    with Server(recording.folder) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = ("127.0.0.1", server.server_port)
        silent = [socket.create_connection(address, 5.0) for _ in range(100)]
        for _ in range(5):
            with socket.create_connection(address, 5.0) as connection:
                connection.sendall(b"GET / HTTP/1.1\r\n")
                # Closes with a reset (socket(7), SO_LINGER).
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        page = http.client.HTTPConnection(*address, timeout=10.0)
        page.request("GET", "/")
        assert page.getresponse().status == 200
        page.close()
        for held in silent:
            held.close()
        server.shutdown()
    assert capfd.readouterr().err == ""


def test_the_command_serves_until_it_is_interrupted(tmp_path: Path) -> None:
    recorded("smallest", tmp_path)
    arguments = [*command(), "view", str(tmp_path), "--no-browser"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        assert "http://127.0.0.1:" in program.stdout.readline()
        # Workers of pytest ignore SIGINT, and so do their children.
        program.send_signal(signal.SIGTERM)
        assert program.wait(20) == 143


def test_the_command_writes_pages_and_traces(tmp_path: Path) -> None:
    _, recording = recorded("hidden-terminals", tmp_path)
    targets = [str(tmp_path / name) for name in ("page.html", "trace.json")]
    arguments = ["view", str(tmp_path), "--out", targets[0], "--perfetto", targets[1]]
    done = subprocess.run([*command(), *arguments], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert os.path.getsize(targets[0]) > 10_000
    trace = json.loads(Path(targets[1]).read_text(encoding="utf-8"))["traceEvents"]
    events = [event for event in trace if event["ph"] != "M"]
    assert len(events) == recording.about["events"]
    assert {event["args"]["name"] for event in trace if event["name"] == "process_name"} == {
        node["name"] for node in recording.about["nodes"]
    }
    sent = [event for event in events if event["cat"] == "transmit"]
    assert len(sent) == recording.about["counts"]["transmit"]
    assert all(event["ph"] == "X" and event["dur"] > 0 for event in sent)
    for wrong, message in [("nowhere", "there is no such folder"), (str(ROOT / "docs"), "holds no recording")]:
        done = subprocess.run([*command(), "view", wrong], capture_output=True, text=True)
        assert done.returncode == 2
        assert message in done.stderr
