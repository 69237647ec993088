"""R: measurements of others, how they are read and fitted, and what happens without them."""

from __future__ import annotations

import gzip
import json
import math
import os
import random
from pathlib import Path

import pytest

from conftest import Hopcast, environment
from hopcast.lab import AMOUNTS, find, run_experiments
from hopcast_papers import EXPERIMENTS
from hopcast_papers.measured_networks import files as measurements_of
from hopcast_papers.measured_networks import orbit_frames, tfa_chain, tfa_links
from hopcast_papers.measured_networks.files import Link, MeasurementError
from hopcast_papers.measured_networks.orbit_frames import Bursts, Chain

QUICK = AMOUNTS["quick"]


def test_experiments_without_their_data_are_skipped_and_others_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOPCAST_TRACES", str(tmp_path))
    study = run_experiments([EXPERIMENTS["H3"], *find("R")], QUICK)
    assert set(study.verdicts()) == {"H3"}
    assert list(study.skipped) == ["R1", "R2", "R3"]
    assert "rice-tfa/satcp.tsv" in study.skipped["R1"]
    assert study.document()["skipped"] == study.skipped


def test_the_command_says_what_is_missing(hopcast: Hopcast, tmp_path: Path, measurements: Path) -> None:
    done = hopcast("study", "R2", env=environment(HOPCAST_TRACES=str(tmp_path)))
    assert done.returncode == 2
    assert "no rice-tfa/single_hop.csv in the folders of --traces and HOPCAST_TRACES" in done.stderr
    done = hopcast("study", "R2", "--json", "--traces", measurements, env=environment(HOPCAST_TRACES=str(tmp_path)))
    assert done.returncode == 0
    assert {row["experiment"] for row in json.loads(done.stdout)["rows"]} == {"R2"}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("rice-tfa/link.tsv", "4000\t1\n4000\tx\n", "link.tsv, line 2, column 2: 'x', expected a number"),
        ("rice-tfa/link.tsv", "4000\n", "link.tsv: 1 rows, where 8 are expected"),
        ("rice-tfa/single_hop.csv", "a,b\n", "line 1: 2 columns, where 7 are expected"),
        ("rice-tfa/single_hop.csv", "a,b,c,d,e,f,g\nx,0,-9,1,udp,1,1\n", "line 2, column 2: 0 m, expected more than 0"),
        ("rice-tfa/single_hop.csv", "a,b,c,d,e,f,g\nx,9,nan,1,udp,1,1\n", "line 2, column 3: 'nan'"),
        (
            "orbit-rssi/rutgers_orbit_rssi.csv.gz",
            "a,b,c,d,e,f\n0,d,1,2,1,999:3\n",
            "column 6: frame 999, expected a whole",
        ),
        (
            "orbit-rssi/rutgers_orbit_rssi.csv.gz",
            "a,b,c,d,e,f\n0,d,1,2,1,1.5:3\n",
            "column 6: frame 1.5, expected a whole",
        ),
    ],
)
def test_a_wrong_file_is_an_error_that_names_the_place(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, text: str, message: str
) -> None:
    path = tmp_path / name
    path.parent.mkdir()
    path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    monkeypatch.setenv("HOPCAST_TRACES", str(tmp_path))
    readers = {
        "rice-tfa/link.tsv": lambda: measurements_of.chain_table(name, 8),
        "rice-tfa/single_hop.csv": measurements_of.links,
        "orbit-rssi/rutgers_orbit_rssi.csv.gz": measurements_of.receptions,
    }
    with pytest.raises(MeasurementError) as caught:
        readers[name]()
    assert message in str(caught.value)


@pytest.mark.parametrize("octets", [b"\xff\xfe", gzip.compress(b"a" * 999, mtime=0)[:-9], b""])
def test_what_cannot_be_read_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, octets: bytes) -> None:
    (tmp_path / "orbit-rssi").mkdir()
    (tmp_path / "orbit-rssi" / "rutgers_orbit_rssi.csv.gz").write_bytes(octets)
    monkeypatch.setenv("HOPCAST_TRACES", str(tmp_path))
    if octets:
        with pytest.raises(MeasurementError, match="can't be read"):
            measurements_of.receptions()
    else:
        assert measurements_of.receptions() == []


def test_a_lossy_link_is_as_slow_as_asked() -> None:
    assert tfa_chain.frame_loss(1e9) == 0.0
    assert 0.0 < tfa_chain.frame_loss(5000.0) < tfa_chain.frame_loss(2000.0) < 1.0
    # Over a longer way more is lost, and the farther the lower the exponent.
    assert tfa_chain.metres(0.5, 3.3) > tfa_chain.metres(0.1, 3.3) > tfa_chain.metres(0.1, 4.0)


def test_a_fit_finds_the_law_that_made_the_readings() -> None:
    draw = random.Random(3)
    places = [draw.uniform(60.0, 500.0) for _ in range(2000)]
    made = [Link(metres, 40.0 - 29.0 * math.log10(metres) + draw.gauss(0.0, 5.0), "", math.nan) for metres in places]
    fit = tfa_links.free("", made)
    # Standard errors of the slope and of the deviation are 0.05 and 0.08.
    assert fit.exponent == pytest.approx(2.9, abs=0.2)
    assert fit.deviation == pytest.approx(5.0, abs=0.3)


def sequences(chain: Chain, links: int, frames: int) -> list[list[bool]]:
    draw = random.Random(5)
    made = []
    for _ in range(links):
        bad = draw.random() < chain.leave_good / (chain.leave_good + chain.leave_bad)
        sequence = []
        for _ in range(frames):
            sequence.append(draw.random() >= (chain.loss_bad if bad else chain.loss_good))
            if draw.random() < (chain.leave_bad if bad else chain.leave_good):
                bad = not bad
        made.append(sequence)
    return made


def test_greatest_likelihood_finds_the_chain_that_made_the_losses() -> None:
    chain = Chain(0.02, 0.05, 0.03, 0.8)
    found = orbit_frames.fit(sequences(chain, 300, 301), elliott=True)
    assert found.leave_good == pytest.approx(0.02, rel=0.15)
    assert found.leave_bad == pytest.approx(0.05, rel=0.15)
    assert found.loss_good == pytest.approx(0.03, rel=0.15)
    assert found.loss_bad == pytest.approx(0.8, rel=0.05)
    simple = Chain(0.1, 0.3, 0.0, 1.0)
    counted = orbit_frames.fit(sequences(simple, 300, 301), elliott=False)
    assert (counted.leave_good, counted.leave_bad) == pytest.approx((0.1, 0.3), rel=0.05)


def test_times_in_the_states_are_those_of_the_chain() -> None:
    good, bad = Chain(0.02, 0.05, 0.0, 1.0).times
    # Seen each 100 ms: the long-run share of bad time, and the correlation from one frame to the next.
    assert bad / (good + bad) == pytest.approx(0.02 / 0.07)
    assert math.exp(-0.1 * (1.0 / good + 1.0 / bad)) == pytest.approx(1.0 - 0.07)


def test_bursts_are_counted_within_a_sequence() -> None:
    # Two bursts in the first (one frame, two at its end), a single one of eleven in the second.
    first = [True, False, True, True, True, True, True, True, True, False, False]
    found = Bursts.of([first, [False] * 11])
    assert found.loss == pytest.approx(100.0 * 14 / 22)
    assert found.once == pytest.approx(100.0 / 3.0)
    assert found.lengthy == pytest.approx(100.0 / 3.0)
    assert found.mean == pytest.approx(14 / 3)


def test_the_chain_in_a_scenario_has_its_loss(monkeypatch: pytest.MonkeyPatch, measurements: Path) -> None:
    monkeypatch.setenv("HOPCAST_TRACES", str(measurements))
    from hopcast.results import run

    # Short stays, so that 20 links of 301 frames settle: a third of the time bad.
    scenario = orbit_frames._scenario("", Chain(0.2, 0.4, 0.05, 0.9))
    observed = orbit_frames.observe(run(scenario))["frames"]
    assert observed["loss"] == pytest.approx(100.0 * (0.05 * 2 + 0.9) / 3.0, abs=3.0)


@pytest.mark.skipif(
    not os.path.isdir(os.path.join(os.environ.get("HOPCAST_TRACES") or "/nowhere", "rice-tfa")),
    reason="HOPCAST_TRACES has no rice-tfa; docs/traces.md says where the measurements are to be had",
)
def test_the_mesh_that_others_measured() -> None:
    study = run_experiments([EXPERIMENTS["R1"]], QUICK)
    values = [row for row in study.rows if row.kind == "value" and row.paper is not None]
    assert len(values) == 12
    assert [row for row in values if row.verdict != "within"] == []
