"""The short form of `make chaos`: a trial of each kind of fault, always the same one, and that the checks can fail."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import chaos
import hopcast
from case import CASES, Broken, Case, Trial
from world import check_whole

SHORT = [
    "run_killed",
    "run_disk",
    "run_memory",
    "run_clock",
    "run_two",
    "sweep_two_killed",
    "view_garbage",
]
"""Cases that take a second or two."""
LIVE = ["node_garbage_key", "stream_receiver_killed", "probe_garbage", "emulate_killed"]
"""Cases between network namespaces."""

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="faults are those of POSIX")


def named(name: str) -> Case:
    return next(case for case in CASES if case.name == name)


def try_once(name: str) -> None:
    case = named(name)
    if reason := case.hindrance():
        assert "HOPCAST_REQUIRE_TOOLS" not in os.environ, reason
        pytest.skip(reason)
    case.trial(seed=1, number=0)


@pytest.mark.parametrize("name", SHORT)
def test_files_survive(name: str) -> None:
    try_once(name)


@pytest.mark.xdist_group("network")
@pytest.mark.parametrize("name", LIVE)
def test_hosts_go_on(name: str) -> None:
    try_once(name)


def test_draws_follow_from_the_seed() -> None:
    drawn = []

    def draw(trial: Trial) -> None:
        drawn.append(trial.draws.random())

    case = Case("run", "nothing", "nothing", (), 1, draw)
    for seed, number in ((1, 0), (1, 0), (1, 1), (2, 0)):
        case.trial(seed, number)
    assert drawn[0] == drawn[1]
    assert len(set(drawn)) == 3


@pytest.mark.parametrize("name", ["run.json", "flows.parquet", "n1.pcapng", "report.html"])
def test_a_file_that_is_cut_is_found(name: str, tmp_path: Path) -> None:
    scenario = hopcast.Scenario.from_toml("""duration = "10 ms"
        [[nodes]]
        name = "n"
        count = 2
        placement = { shape = "line", spacing = "5 m" }
        [[flows]]
        name = "f"
        from = "n0"
        to = "n1"
        transport = { protocol = "udp" }
        application = { kind = "bulk" }
    """)
    hopcast.run(scenario, out=tmp_path, pcap=True)
    (tmp_path / "report.html").write_text("<html></html>\n")
    check_whole(tmp_path)
    whole = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(whole[:-9])
    with pytest.raises(Broken, match=name):
        check_whole(tmp_path)


def test_what_does_not_hold_is_in_the_table() -> None:
    def fail(trial: Trial) -> None:
        raise Broken("a file is cut")

    row = chaos.row(Case("run", "a fault", "a promise", (), 2, fail), 1, 2)
    assert "**2 of 2 do not hold**" in str(row)
    assert "2 did not hold" in chaos.page([row], [], "make chaos", 60.0)


def test_rows_of_a_second_run_take_the_place_of_those_of_the_first() -> None:
    def nothing(trial: Trial) -> None:
        pass

    cases = [Case("run", fault, "a promise", (), 2, nothing) for fault in ("one", "another")]
    first = chaos.page([chaos.Row(case, 2, broken=["a file is cut"]) for case in cases], [], "make chaos", 60.0)
    both = chaos.renewed(first, [chaos.Row(cases[0], 3)], "make chaos CHAOS=one")
    assert "make chaos\nmake chaos CHAOS=one\n```" in both
    assert "In 5 trials of 2 cases, 1 did not hold. hopcast " in both
    assert str(chaos.Row(cases[0], 3)) in both
    assert "| another | a promise | 2 | **1 of 2 do not hold** |" in both


def test_a_row_that_a_page_lacks_follows_the_case_before_it() -> None:
    first, new, last = CASES[:3]
    old = chaos.page([chaos.Row(first, 1), chaos.Row(last, 1)], [], "make chaos", 60.0)
    both = chaos.renewed(old, [chaos.Row(new, 1)], f"make chaos CHAOS={new.name}")
    assert "\n".join(str(chaos.Row(case, 1)) for case in (first, new, last)) in both
    assert "In 3 trials of 3 cases" in both
