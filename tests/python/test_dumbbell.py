"""TFRC with TCP: the shares that both have of a wire, compared with those of ns-2.35, and the page that says so."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from hopcast.statistics import ci95, mean

ROOT = Path(__file__).parents[2]
BENCHES = [str(ROOT / "benches" / "transport"), str(ROOT / "benches")]

sys.path[:0] = BENCHES
try:
    import dumbbell  # type: ignore[import-not-found]
    import page  # type: ignore[import-not-found]
    import tables  # type: ignore[import-not-found]
finally:
    del sys.path[: len(BENCHES)]

KEPT = dumbbell.read()


def test_the_kept_runs_are_those_of_the_bench() -> None:
    assert set(KEPT) == set(dumbbell.cases())
    assert all([run["seed"] for run in runs] == list(range(1, len(runs) + 1)) for runs in KEPT.values())


def test_the_pages_have_the_tables_of_the_kept_runs() -> None:
    for name, made in (("tfrc", tables.tables), ("adtfrc", tables.adaptive_tables)):
        text = (ROOT / "docs" / "models" / f"{name}.md").read_text(encoding="utf-8")
        assert page.written(text, made(KEPT)) == text


@pytest.mark.parametrize(
    "case",
    [
        dumbbell.Case("hopcast", 16),
        *(
            case
            for case in dumbbell.cases()
            if case.simulator == "hopcast" and (case.narrow == 20 or case.loss == 0.03)
        ),
    ],
    ids=str,
)
def test_the_kept_runs_are_what_hopcast_gives(case: dumbbell.Case) -> None:
    """If this fails, results have changed: `dumbbell.py --again hopcast`, then `make docs`."""
    assert dumbbell.measure(case, 2) == KEPT[case][1]


@pytest.mark.parametrize("case", [dumbbell.Case("ns-2", 4), dumbbell.Case("ns-2", loss=0.03, trip=0.1)], ids=str)
def test_the_kept_runs_are_what_ns_2_gives(case: dumbbell.Case) -> None:
    if shutil.which("ns") is None:
        assert "HOPCAST_REQUIRE_TOOLS" not in os.environ, "ns is not installed"
        pytest.skip("ns is not installed")
    assert dumbbell.measure(case, 2) == KEPT[case][1]


@pytest.mark.parametrize("pairs", dumbbell.PAIRS)
def test_tfrc_and_tcp_share_a_wire(pairs: int) -> None:
    """RFC 5348, section 1, calls a flow reasonably fair that has generally within a factor of two of what TCP has."""
    case = dumbbell.Case("hopcast", pairs)
    tfrc, tcp = (mean(tables.mean_shares(KEPT, case, protocol)) for protocol in ("tfrc", "tcp"))
    assert 0.5 < tfrc / tcp < 2.0
    assert 0.95 < (tfrc + tcp) / 2.0 <= 1.0, "the wire is used"


@pytest.mark.parametrize("pairs", dumbbell.PAIRS)
def test_tfrc_has_the_share_that_it_has_in_ns_2(pairs: int) -> None:
    """Draw by draw, to a tenth of an even share, or to where the interval reaches."""
    ours, theirs = (
        tables.mean_shares(KEPT, dumbbell.Case(simulator, pairs), "tfrc") for simulator in ("hopcast", "ns-2")
    )
    differences = [a - b for a, b in zip(ours, theirs, strict=True)]
    half = ci95(differences)
    assert half is not None
    assert half < 0.15
    assert abs(mean(differences)) < max(0.1, half)


@pytest.mark.parametrize("places", dumbbell.NARROW_QUEUES)
def test_two_flows_on_a_narrow_wire_share_it_as_in_ns_2(places: int) -> None:
    """Who meets the full queue varies by draw, in both simulators alike."""
    ours, theirs = (
        tables.mean_shares(KEPT, dumbbell.Case(simulator, 1, narrow=places), "tfrc")
        for simulator in ("hopcast", "ns-2")
    )
    differences = [a - b for a, b in zip(ours, theirs, strict=True)]
    assert abs(mean(differences)) < 0.15
    assert 0.5 < (max(ours) - min(ours)) / (max(theirs) - min(theirs)) < 2.0


@pytest.mark.parametrize("places", dumbbell.NARROW_QUEUES)
def test_adtfrc_drives_tcp_out_and_takes_a_full_queue_for_none(places: int) -> None:
    case = dumbbell.Case("hopcast", 1, narrow=places, changes=(("tfrc.protocol", "adtfrc"),))
    assert mean(tables.mean_shares(KEPT, case, "tcp")) < 0.1
    assert sum(run["congestion"][0] for run in KEPT[case]) < 0.05 * sum(run["congestion"][1] for run in KEPT[case])


@pytest.mark.parametrize("trip", dumbbell.TRIPS)
@pytest.mark.parametrize("loss", dumbbell.LOSSES)
def test_tfrc_alone_has_the_rate_that_it_has_in_ns_2(trip: float, loss: float) -> None:
    """With the same t_RTO in both, to a tenth beyond the interval."""
    ours, theirs = (
        tables.goodputs(KEPT[tables.suspected(simulator, suspect, loss=loss, trip=trip)])
        for simulator, suspect in (("hopcast", None), ("ns-2", 0))
    )
    found, half = tables.ratio(ours, theirs)
    assert abs(found - 1.0) < 0.1 + half
    assert half < 0.1


@pytest.mark.parametrize("trip", dumbbell.TRIPS)
@pytest.mark.parametrize("loss", dumbbell.LOSSES)
def test_by_ns_2_s_rules_tfrc_alone_has_the_rate_of_ns_2(trip: float, loss: float) -> None:
    """As both are, to a twentieth beyond the interval."""
    ours, theirs = (
        tables.goodputs(KEPT[tables.suspected(simulator, suspect, loss=loss, trip=trip)])
        for simulator, suspect in (("hopcast", 1), ("ns-2", None))
    )
    found, half = tables.ratio(ours, theirs)
    assert abs(found - 1.0) < 0.05 + half
    assert half < 0.05


def test_cases_survive_the_file(tmp_path: Path) -> None:
    case = next(case for case in dumbbell.cases() if case.changes)
    dumbbell.write({case: KEPT[case]}, tmp_path / "kept.json")
    assert dumbbell.read(tmp_path / "kept.json") == {case: KEPT[case]}
