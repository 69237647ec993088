"""The scenarios of `examples/` show what their comments promise, and `hopcast init` writes them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

import hopcast as package
from conftest import ROOT, Hopcast, environment
from hopcast import _core
from hopcast.statistics import mean

EXAMPLES = ROOT / "examples"
OF_SCRIPTS = {"cloud-over-hops", "film-over-hops"}
"""Scenarios that a script runs."""
KINDS = sorted({path.stem for path in EXAMPLES.glob("*.toml")} - OF_SCRIPTS)


def flows(kind: str, *overrides: str) -> dict[str, Any]:
    """The flows of an example by their names, with values that are changed as `--set` does."""
    scenario = package.Scenario.from_toml(EXAMPLES / f"{kind}.toml", overrides=overrides)
    return {flow["name"]: flow for flow in package.run(scenario).json()["flows"]}


def values(kind: str, field: str, *overrides: str) -> list[float]:
    """A field of all flows of an example, in their order."""
    return [flow[field] for flow in flows(kind, *overrides).values()]


def test_at_least_twelve_examples_are_known_to_init() -> None:
    assert len(KINDS) >= 12
    listed = [name for name, _ in _core.examples()]
    assert sorted(Path(name).stem for name in listed if name.endswith(".toml")) == KINDS
    for name, text in _core.examples():
        assert text == (EXAMPLES / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", KINDS)
def test_each_example_says_what_it_shows_and_what_to_change(kind: str) -> None:
    lines = (EXAMPLES / f"{kind}.toml").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "#:schema ../schema/scenario.schema.json"
    comment = "\n".join(line for line in lines[1 : lines.index("")] if line.startswith("#"))
    assert re.search(r"^# Run: .*hopcast (run|emulate) " + kind, comment, re.MULTILINE)
    assert "# Look at:" in comment
    assert "# Change:" in comment


def changes(kind: str) -> list[list[str]]:
    """The `--set` of each change that the comment of an example proposes."""
    text = (EXAMPLES / f"{kind}.toml").read_text(encoding="utf-8")
    found = re.findall(r"^# +(?:Change: +)?(--set .*?)(?:\s{3,}|$)", text, re.MULTILINE)
    return [[word for word in shlex.split(change) if word != "--set"] for change in found]


@pytest.mark.parametrize("kind", KINDS)
def test_each_example_and_each_change_of_it_runs(kind: str) -> None:
    assert changes(kind)
    for overrides in ([], *changes(kind)):
        scenario = package.Scenario.from_toml(EXAMPLES / f"{kind}.toml", overrides=overrides)
        results = package.run(scenario.set("duration", min(scenario.duration_s, 5.0))).json()
        sent = sum(flow["sent_packets"] for flow in results["flows"])
        messages = results.get("cloud", {"totals": {"control_messages": 0}})["totals"]["control_messages"]
        assert sent + messages > 0, overrides


def cloud(*overrides: str) -> dict[str, Any]:
    """Sums over the devices of the example `cloud`."""
    scenario = package.Scenario.from_toml(EXAMPLES / "cloud.toml", overrides=overrides)
    totals: dict[str, Any] = package.run(scenario).json()["cloud"]["totals"]
    return totals


def test_cloud_who_is_admitted_does_not_stall_and_without_admission_nearly_all_do() -> None:
    admitted = cloud()
    assert admitted["completed_without_hiccup"] == admitted["admitted"] >= 6
    assert admitted["refused"] > 0
    assert admitted["orphaned_bookings"] == 0
    everybody = cloud("cloud.admission=all")
    assert everybody["admitted"] > admitted["admitted"]
    assert everybody["completed_without_hiccup"] < admitted["completed_without_hiccup"]
    assert everybody["hiccups_per_hour"] > 100


def test_smallest_a_larger_share_of_a_low_rate_arrives() -> None:
    assert 5.5e6 < values("smallest", "goodput_bps")[0] < 6.5e6
    assert 0.85e6 < values("smallest", "goodput_bps", "radio.data_rate=1 Mb/s")[0] < 0.95e6


def test_film_the_download_costs_the_film_packets_and_a_small_window_none() -> None:
    assert flows("film")["film"]["loss_ratio"] > 0.01
    assert flows("film", "flows.download.transport.window=8")["film"]["loss_ratio"] == 0


def test_video_a_larger_buffer_or_no_download_leaves_no_hiccup() -> None:
    assert flows("video")["film"]["hiccups"] > 0
    assert flows("video", "flows.film.player.start_up_delay=1 s")["film"]["hiccups"] == 0
    assert flows("video", "flows.download.application.bytes=1 B")["film"]["hiccups"] == 0


def test_hidden_terminals_lose_over_half_and_nothing_with_rts() -> None:
    assert min(values("hidden-terminals", "loss_ratio")) > 0.5
    assert values("hidden-terminals", "loss_ratio", "radio.rts_threshold=0 B") == [0, 0]
    assert max(values("hidden-terminals", "loss_ratio", "radio.propagation.carrier_sense=550 m")) < 0.01


def test_exposed_terminals_get_half_of_what_they_would_get_on_another_channel() -> None:
    together, apart = (
        values("exposed-terminals", "goodput_bps", *overrides)
        for overrides in ([], ["nodes.right.radios=[{ channel = 6 }]"])
    )
    assert all(0.45 < one / other < 0.6 for one, other in zip(together, apart, strict=True))


def test_cell_a_slow_station_makes_all_slow_and_turns_of_equal_time_do_not() -> None:
    slow, fast = values("cell", "goodput_bps"), values("cell", "goodput_bps", *changes("cell")[0])
    assert max(slow) < 1.3 * min(slow)
    assert min(fast) > 2 * max(slow)
    by_time = flows("cell", "radio.edca=2020")
    assert by_time["fast0"]["goodput_bps"] > 5 * by_time["slow"]["goodput_bps"]


def test_edca_the_call_waits_less_in_the_voice_category() -> None:
    voice, dcf, background = (
        flows("edca", *overrides)["call"] for overrides in ([], ["radio.edca=off"], ["flows.call.priority=background"])
    )
    assert voice["delay_p99_s"] < 0.2 * dcf["delay_p99_s"]
    assert background["loss_ratio"] > 0.05 > voice["loss_ratio"]


def test_mixed_an_old_station_costs_most_without_aggregates() -> None:
    printer = "nodes.printer.radios.0.standard=802.11g"
    alone = "radio.aggregation.ampdu=off"
    old, new, old_alone, new_alone = (
        flows("mixed", *overrides)["download"]["goodput_bps"]
        for overrides in ([], [printer], [alone], [alone, printer])
    )
    assert 0.9 * new < old < 0.97 * new
    assert old_alone < 0.55 * new_alone


def test_rates_control_gives_more_than_a_rate_that_is_too_high_or_too_low() -> None:
    chosen, high, low = (
        values("rates", "goodput_bps", *overrides)[0]
        for overrides in ([], ["radio.data_rate=54 Mb/s"], ["radio.data_rate=6 Mb/s"])
    )
    assert chosen > 1.2 * high > low


def test_walk_minstrel_finds_a_rate_for_each_distance() -> None:
    assert flows("walk")["download"]["loss_ratio"] < 0.001
    assert flows("walk", "radio.data_rate=54 Mb/s")["download"]["loss_ratio"] > 0.02
    assert flows("walk", "radio.data_rate=6 Mb/s")["download"]["loss_ratio"] < 0.001


def test_house_the_download_delays_the_game_but_with_flow_queues() -> None:
    busy, idle, queued = (
        flows("house", *overrides)["game"]["delay_p99_s"]
        for overrides in ([], ["flows.download.application.bytes=1 B"], ["radio.queue.discipline=fq-codel"])
    )
    assert busy > 3 * idle
    assert queued < 1.5 * idle


def test_wires_a_short_queue_shortens_the_delay_of_the_call() -> None:
    assert flows("wires")["call"]["delay_mean_s"] > 0.1
    short = flows("wires", "links.1.queue.packets=20")
    assert short["call"]["delay_mean_s"] < 0.05
    assert short["download"]["goodput_bps"] > 9e6


def test_access_the_call_waits_in_the_queue_of_the_access() -> None:
    falls = flows("access")["call"]["delay_mean_s"]
    assert falls > 0.2
    assert flows("access", "nodes.phone.access.down.queue.packets=20")["call"]["delay_mean_s"] < 0.5 * falls
    assert flows("access", "nodes.phone.access.down.rate=8 Mb/s")["call"]["delay_mean_s"] < 0.5 * falls


def test_call_fair_queues_spare_the_call_the_wait() -> None:
    busy = flows("call")
    assert busy["call"]["goodput_bps"] > 2.3e6
    fair = flows("call", 'radio.queue.discipline="mac80211"')
    assert fair["call"]["delay_p99_s"] < 0.3 * busy["call"]["delay_p99_s"]
    assert fair["download"]["goodput_bps"] > 0.9 * busy["download"]["goodput_bps"]
    assert flows("call", 'flows.call.transport.congestion="nada"')["call"]["goodput_bps"] < 2.2e6


def test_string_tfrc_shares_with_tcp_and_adtfrc_starves_it() -> None:
    rates = flows("string")
    assert 0.3 < rates["tfrc"]["goodput_bps"] / rates["tcp"]["goodput_bps"] < 3
    alone = flows("string", "flows.tfrc.transport.protocol=adtfrc")
    assert alone["tcp"]["goodput_bps"] < 0.1 * alone["tfrc"]["goodput_bps"]


def test_mesh_the_losses_are_those_of_the_download() -> None:
    # The shadowing on the call's way differs from seed to seed.
    def lost(*overrides: str) -> float:
        return mean([flows("mesh", f"seed={seed}", *overrides)["call"]["loss_ratio"] for seed in range(1, 11)])

    assert lost() > 0.05
    assert lost("flows.download.application.bytes=1 B") < 0.01


def test_waypoint_aodv_notices_broken_links_sooner_than_olsr() -> None:
    assert flows("waypoint")["call"]["loss_ratio"] < 0.01
    assert flows("waypoint", "nodes.n.routing.protocol=olsr")["call"]["loss_ratio"] > 0.1


def test_crossing_buildings_hide_cars_and_more_cars_help() -> None:
    assert flows("crossing")["video"]["loss_ratio"] > 0.02
    assert flows("crossing", "radio.obstacles.buildings=[]")["video"]["loss_ratio"] == 0
    assert flows("crossing", "nodes.car.count=40")["video"]["loss_ratio"] < 0.01


def test_fec_repairs_nearly_all_losses() -> None:
    loss = flows("fec")
    assert 0.04 < loss["plain"]["loss_ratio"] < 0.06
    assert loss["protected"]["loss_ratio"] < 0.01
    assert flows("fec", "flows.protected.fec.repair=8")["protected"]["loss_ratio"] == 0


def test_pair_has_the_rate_in_the_simulator_that_its_comment_names() -> None:
    assert 14.2e6 < values("pair", "goodput_bps")[0] < 15.2e6


def test_wifi_carries_all_of_the_simulated_stations() -> None:
    assert max(values("wifi", "loss_ratio")) < 0.001


@pytest.mark.parametrize("kind", KINDS)
def test_init_writes_a_scenario_that_runs(hopcast: Hopcast, tmp_path: Path, kind: str) -> None:
    done = hopcast("init", kind, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"Written to {kind}.toml" in done.stdout
    written = package.Scenario.from_toml(tmp_path / f"{kind}.toml")
    assert written == package.Scenario.from_toml(EXAMPLES / f"{kind}.toml")
    assert hopcast("run", f"{kind}.toml", "--explain", cwd=tmp_path).returncode == 0


def test_init_lists_the_kinds(hopcast: Hopcast) -> None:
    done = hopcast("init")
    assert done.returncode == 0
    assert [line.split()[0] for line in done.stdout.splitlines()] == [
        Path(name).stem for name, _ in _core.examples() if name.endswith(".toml")
    ]
    assert all(len(line.split()) > 3 for line in done.stdout.splitlines())


def test_init_takes_another_name_and_names_it_in_the_comment(hopcast: Hopcast, tmp_path: Path) -> None:
    assert hopcast("init", "walk", "--out", "stroll.toml", cwd=tmp_path).returncode == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["stroll.toml", "walk.movements"]
    assert "hopcast run stroll.toml" in (tmp_path / "stroll.toml").read_text(encoding="utf-8")
    assert hopcast("run", "stroll.toml", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["mush"], 'did you mean "mesh"?'),
        (["q"], "expected one of smallest, "),
        (["../mesh"], "is no kind of scenario"),
        (["mesh", "--out", "no/such/mesh.toml"], "hopcast: no/such/mesh.toml: can't be written"),
        (["mesh", "--out", ""], "'': can't be written"),
        (["mesh", "--out", "."], ".: is already there"),
        (["--out", "x.toml"], "--out needs a KIND"),
        (["mesh", "film"], "film: is one argument too many"),
    ],
)
def test_init_refuses_what_it_cannot_do(hopcast: Hopcast, tmp_path: Path, arguments: list[str], told: str) -> None:
    done = hopcast("init", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert told in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_init_replaces_nothing_and_leaves_nothing_by_halves(hopcast: Hopcast, tmp_path: Path) -> None:
    (tmp_path / "walk.movements").write_text("mine")
    done = hopcast("init", "walk", cwd=tmp_path)
    assert done.returncode == 2
    assert "walk.movements: is already there" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["walk.movements"]
    assert (tmp_path / "walk.movements").read_text() == "mine"


@pytest.mark.parametrize(("begun", "expected"), [("me", {"mesh"}), ("hopcast", set())])
def test_a_shell_completes_the_kinds(hopcast: Hopcast, begun: str, expected: set[str]) -> None:
    asked = {"_HOPCAST_COMPLETE": "bash_complete", "COMP_WORDS": f"hopcast init {begun}", "COMP_CWORD": "2"}
    done = hopcast(env=environment(**asked))
    assert {line.partition(",")[2] for line in done.stdout.split()} == expected
