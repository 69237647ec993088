"""The wireless house of paper W: what is taken from series, by hand, and its main claims on short runs."""

from __future__ import annotations

import math
from pathlib import Path

import polars
import pytest

from hopcast import lab, run
from hopcast.lab.experiment import Table
from hopcast_papers import wireless_house as house
from hopcast_papers.h2o.places import number


def test_correlation_by_hand() -> None:
    assert house.correlation([1.0, 2.0, 3.0], [2.0, 4.0, 6.0]) == pytest.approx(1.0)
    assert house.correlation([1.0, 2.0, 3.0], [3.0, 2.0, 1.0]) == pytest.approx(-1.0)
    # Deviations (-1, 0, 1) and (-1, 1, 0): 1 / sqrt(2 * 2).
    assert house.correlation([1.0, 2.0, 3.0], [1.0, 3.0, 2.0]) == pytest.approx(0.5)
    assert house.correlation([1.0, math.nan, 2.0, 3.0], [1.0, 99.0, 3.0, 2.0]) == pytest.approx(0.5)
    assert math.isnan(house.correlation([1.0, 1.0], [1.0, 2.0]))


def test_the_mean_at_peaks_by_hand() -> None:
    # Of ten intervals the last has the most jitter: 10 over a mean of 5.5.
    steps = [float(step) for step in range(1, 11)]
    assert house.at_peaks(steps, steps) == pytest.approx(10.0 / 5.5)
    assert house.at_peaks(steps, steps[::-1]) == pytest.approx(1.0 / 5.5)
    assert math.isnan(house.at_peaks([], []))


def test_the_film_is_the_papers_where_its_trace_is_at_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPCAST_TRACES", str(tmp_path))
    without = house.scenario(10, 4, 50)
    (tmp_path / house.STAR_WARS).write_text("1 I 0 919\n2 P 120 1161\n3 B 40 302\n")
    assert house.scenario(10, 4, 50) != without
    monkeypatch.delenv("HOPCAST_TRACES")
    assert house.scenario(10, 4, 50) == without


def test_what_is_observed_is_what_the_tables_of_a_run_say() -> None:
    result = run(house.scenario(10, 4, 50))
    found = house.observe(result)["house"]
    jitter = result.jitter("game", 135, 180).row(0, named=True)
    assert found["numbers"]["game after maximum"] == pytest.approx(1e3 * jitter["jitter_max_s"])
    assert found["numbers"]["game after mean"] == pytest.approx(1e3 * jitter["jitter_mean_s"])
    assert found["numbers"]["game after variance"] == pytest.approx(1e6 * jitter["jitter_variance_s2"])
    chat = result.jitter("chat", 135, 180).row(0, named=True)
    assert found["numbers"]["chat after maximum"] == pytest.approx(1e3 * chat["jitter_max_s"])
    # Beside the download the game's packets wait: its mean over the whole flow, two thirds of which lie before, is between the two.
    before, after = (found["numbers"][f"game {period} delay"] for period in ("before", "after"))
    assert before < 1e3 * result.json()["flows"][1]["delay_mean_s"] < after
    assert (len(found["bins"]["movie"]), len(found["bins"]["game"])) == (36, 27)
    assert max(found["bins"]["game"][18:]) == pytest.approx(found["numbers"]["game after maximum"])
    assert len({len(track) for track in found["tracks"].values()}) == 1


def test_a_mean_delay_is_that_of_the_packets_of_a_part() -> None:
    series = polars.DataFrame(
        {"time_s": [1.0, 2.0, 3.0, 4.0], "packets": [9, 1, 3, 0], "delay_s": [9.0, 0.1, 0.3, None]}
    )
    assert house.mean_delay(series, 1.0, 4.0) == pytest.approx((0.1 + 3 * 0.3) / 4)
    assert math.isnan(house.mean_delay(series, 3.0, 4.0))


@pytest.mark.slow
def test_the_download_makes_the_jitter_and_later_means_take_it_away() -> None:
    found = [lab.load(name).with_seeds(1, 2, 3).run().study.rows for name in ("W1", "W7")]
    table = Table([row for rows in found for row in rows])
    for flow in ("movie", "game"):
        for period in ("before", "after"):
            assert (number(table, f"{flow}, {period} 135 s", "jitter, maximum") < 10.0) == (period == "before")
    for means in ("EDCA", "FQ-CoDel"):
        ratio = table[f"{means} / {house.TUNED}", "jitter, mean, ratio"].measured
        assert ratio is not None
        assert ratio < 0.5


@pytest.mark.slow
def test_at_10_m_attempts_cost_goodput_and_at_5_m_they_do_not() -> None:
    rows = lab.load("W3").with_seeds(1, 2, 3).run().study.rows
    claims = [row for row in rows if row.kind == "claim"]
    assert len(claims) == 3
    assert all(row.verdict != "fails" for row in claims)
    assert sum(row.verdict == "holds" for row in claims) >= 2


def test_a_queue_is_filled_if_it_was_in_the_first_seconds_of_the_download() -> None:
    tracks = {"time": [135.25, 140.0, 140.25], "queue": [10.0, 45.0, 50.0]}
    assert house._filled(50, 140.0, tracks) == 0.9
    assert math.isnan(house._filled(50, 140.0, {"time": [141.0], "queue": [50.0]}))


def test_two_settings_together_are_compared_with_each_alone() -> None:
    assert {house.COMBINED, house.TUNED, "EDCA"} <= set(house._w7_scenarios())
    combined, alone = (house._w7_scenarios()[name] for name in (house.COMBINED, "EDCA"))
    assert combined.set("radio.retry_limit.long", 4).set("name", "x") == alone.set("name", "x")
