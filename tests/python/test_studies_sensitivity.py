"""What the papers leave unsaid: findings, tallies, and trials of other values."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
from pathlib import Path
from typing import Any

import pytest

from hopcast import lab
from hopcast.lab import AMOUNTS, run_experiments, trials
from hopcast.lab.rows import Row, Sample, claim
from hopcast.lab.sensitivity import (
    FEW,
    Alternative,
    Sensitivity,
    Trial,
    compare,
)
from hopcast.lab.tally import Tally, findings
from hopcast.report.page import write_report
from hopcast.scenario import Scenario
from hopcast_papers import EXPERIMENTS
from hopcast_papers import wireless_house as house
from hopcast_papers.unsaid import UNSAID, later_least_rto, staggered

QUICK, FULL = AMOUNTS["quick"], AMOUNTS["full"]


def row(verdict: Any, kind: Any = "claim", note: str = "sentence", case: str = "") -> Row:
    return Row("X", case, "metric", "", kind, None, None, None, 1.0, None, 1, verdict, note)


def test_claims_and_all_values_are_the_findings() -> None:
    rows = [row("holds", note="a"), row("holds", note="a"), row("fails", note="a"), row("fails", note="b")]
    rows += [row("holds", note=""), row("differs", "value"), row("within", "value"), row("measured", "value")]
    assert findings(rows) == {"a": "holds", "b": "fails", "metric": "holds", "values": "differs"}


def test_a_tally_counts_claims_and_experiments() -> None:
    tally = Tally.of(
        [
            [row("holds"), row("holds"), row("fails"), row("within", "value")],
            [row("inconclusive"), row("differs", "value")],
            [claim("Y", "", "", "", Sample((x,)), low=1.0, note="n") for x in (2.0, 0.0, 3.0, math.nan)],
        ]
    )
    assert tally.claims == {"holds": 4, "fails": 2, "inconclusive": 2}
    assert tally.experiments == {"within": 1, "differs": 1}
    assert tally.sentences() == [
        "Sentences of the papers: 4 of 8 hold (50 %), 2 fail, 2 are open.",
        "Experiments with values of a paper, by the median value: 1 of 2 are within (50 %), 1 differ, 0 are open.",
    ]
    assert Tally.of([[row("measured", "value")]]).sentences()[0] == "Sentences of the papers: none."


def trial(**changes: Any) -> Trial:
    return Trial(EXPERIMENTS["H4"], "RTS/CTS", "off", dataclasses.replace(Alternative("on", "why"), **changes))


@pytest.mark.parametrize(
    ("before", "after", "answer"),
    [
        ("holds", "fails", "depends"),
        ("fails", "holds", "depends"),
        ("holds", "inconclusive", "open"),
        ("inconclusive", "fails", "open"),
        ("holds", "holds", "does not"),
        ("inconclusive", "inconclusive", "does not"),
    ],
)
def test_a_finding_depends_where_it_turns(before: str, after: str, answer: str) -> None:
    found = compare(trial(), [row(before), row("within", "value")], [row(after), row("within", "value")])
    assert found.answer == answer
    assert found.turned == ([f"sentence: {before} → {after}"] if answer == "depends" else [])
    assert (found.rows, found.agree_chosen, found.agree) == (2, 1 + (before == "holds"), 1 + (after == "holds"))


def test_cases_beside_stand_in_for_others() -> None:
    measured = lab.Measured({"a": [{"n": 1}], "a, slow": [{"n": 2}], "b": [{"n": 3}]})
    assert trial(beside=", slow").variant is None
    assert trial(beside=", slow").substituted(measured).documents == {
        "a": [{"n": 2}],
        "a, slow": [{"n": 2}],
        "b": [{"n": 3}],
    }


def test_a_trial_of_cases_beside_compares_as_many_replications() -> None:
    measured = lab.Measured({"a": [{"n": 1}, {"n": 2}, {"n": 3}], "a, slow": [{"n": 4}, {"n": 5}], "b": [{"n": 6}] * 3})
    slow = trial(beside=", slow")
    assert {name: len(found) for name, found in slow.common(measured).documents.items()} == {
        "a": 2,
        "a, slow": 2,
        "b": 2,
    }
    assert slow.substituted(measured).documents["a"] == [{"n": 4}, {"n": 5}]
    assert {len(found) for found in dataclasses.replace(slow, most=1).common(measured).documents.values()} == {1}


def test_the_quick_trials_rest_on_as_many_replications_as_said() -> None:
    beside = [one for one in trials(EXPERIMENTS, UNSAID, QUICK) if one.alternative.beside]
    assert {one.experiment.id for one in beside} == {"A3", "P2", "P3", "P4"}
    for one in beside:
        seeds = {name: case.seeds for name, case in one.experiment.cases(QUICK).items()}
        pairs = [
            (seeds[name], seeds[name + one.alternative.beside])
            for name in seeds
            if name + one.alternative.beside in seeds
        ]
        assert {found[:FEW] for pair in pairs for found in pair} == {tuple(range(1, FEW + 1))}


def test_cases_beside_observe_what_those_that_they_stand_in_for_do() -> None:
    cases_of = functools.cache(lambda id_: EXPERIMENTS[id_].cases(FULL))
    for one in trials(EXPERIMENTS, UNSAID, FULL):
        cases, beside = cases_of(one.experiment.id), one.alternative.beside
        for name, case in cases.items():
            if beside and name + beside in cases:
                assert cases[name + beside].observe is case.observe, (one.experiment.id, name, beside)


def test_a_trial_of_few_replications_is_compared_with_as_many() -> None:
    short = dataclasses.replace(trial(values={"radio.rts_threshold": "0 B"}), most=2)
    assert short.variant is not None
    assert {case.seeds for case in short.variant.cases(QUICK).values()} == {(1, 2)}
    measured = lab.Measured({"a": [{"n": 1}, {"n": 2}, {"n": 3}]})
    assert short.common(measured).documents == {"a": [{"n": 1}, {"n": 2}]}
    assert trial().common(measured).documents == measured.documents


def test_flows_start_one_after_another() -> None:
    scenario = lab.load("H4").scenario("UDP, 1 KB")
    values = {key: value for key, value, _ in staggered(0.25)(scenario).explain()}
    assert [values[f"flows.stream{index}.start"] for index in range(3)] == ["0 s", "0.25 s", "0.5 s"]


def least_rtos(scenario: Scenario) -> list[str]:
    """Of the flows over TCP."""
    values = {key: value for key, value, _ in scenario.explain()}
    ends = "protocol", "min_rto"
    return [
        values[key.removesuffix(ends[0]) + ends[1]]
        for key, value in values.items()
        if key.endswith(f".transport.{ends[0]}") and value.strip('"') == "tcp"
    ]


@pytest.mark.parametrize(
    ("id_", "case", "least"),
    [
        ("P1", "1 hop, 200 B, window 1, no RTS, ideal", ["1 s"]),
        ("P4", "500 B, window 1", ["1 s"]),
        ("P5", "200 B, RTS, ideal, window 20", ["1 s"] * 8),
        ("P6", "200 B, 23.3 kb/s, ideal", ["1 s"] * 12),
        ("M3", "mobility: 10 m/s, TCP with ELFN", ["1 s"]),
        ("M3", "mobility: 10 m/s, ADTFRC", []),
        ("M4", "5 m/s, 2 % errors, TCP with ELFN", ["1 s"]),
        ("M5", "2 ADTFRC, 2 TCP with ELFN", ["1 s"] * 2),
        ("W1", house.REGULAR, ["0.2 s"]),
    ],
)
def test_tcp_waits_at_least_as_long_as_in_the_ns2_of_its_paper(id_: str, case: str, least: list[str]) -> None:
    """The default became 0.2 s in October 2004, after papers M and P and before W."""
    experiment = EXPERIMENTS[id_]
    scenario = experiment.cases(QUICK)[case].scenario
    assert least_rtos(scenario) == least
    told = [one for one in experiment.setup(QUICK) if one.name == "TCP's timeout"]
    assert [one.value.startswith("1 s at least") for one in told] == ([] if id_ == "W1" else [True])
    assert least_rtos(later_least_rto(scenario)) == ["0.2 s"] * len(least)
    tried = [one.experiment.id for one in trials(EXPERIMENTS, UNSAID, FULL) if one.parameter == "least RTO of TCP"]
    assert sorted(tried) == ["M3", "M4", "M5", "P1", "P4", "P5", "P6"]


def test_a_house_without_rts_has_as_many_attempts_at_data_as_with_it() -> None:
    (tried,) = (
        one
        for one in trials({"W6": EXPERIMENTS["W6"]}, UNSAID, QUICK)
        if one.parameter == "RTS/CTS" and one.alternative.value.startswith("off")
    )
    assert tried.variant is not None
    limits = {}
    for name, case in tried.variant.cases(QUICK).items():
        values = {key: value for key, value, _ in case.scenario.explain()}
        assert values["radio.rts_threshold"] == "off"
        limits[name] = values["radio.retry_limit.short"]
    assert {limits[house.TUNED], limits[house.REGULAR]} == {"3", "4"}


def test_every_trial_changes_every_experiment_that_it_names(
    measurements: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOPCAST_TRACES", str(measurements))
    made = trials(EXPERIMENTS, UNSAID, FULL)
    assert len(made) == sum(len(unsaid.experiments) * len(unsaid.alternatives) for unsaid in UNSAID)
    assert len(trials(EXPERIMENTS, UNSAID, QUICK)) < len(made)
    cases_of = functools.cache(lambda id_: EXPERIMENTS[id_].cases(QUICK))
    for one in made:
        assert one.alternative.why
        if one.experiment.id == "P1":
            # Three hundred cases, which take long to make: what they have in common with P5 is tried there.
            continue
        cases = cases_of(one.experiment.id)
        if one.variant is None:
            assert any(name + one.alternative.beside in cases for name in cases), one.alternative
        else:
            other = one.variant.cases(QUICK)
            changed = [name for name in cases if other[name].scenario.sha256 != cases[name].scenario.sha256]
            assert changed, (one.experiment.id, one.alternative)


def test_trials_run_with_their_experiments_and_are_reported(tmp_path: Path) -> None:
    h3 = EXPERIMENTS["H3"]
    fewer = Alternative("IP fragments of 1000 B", "made up", {"radio.mtu": "1000 B"})
    same = Alternative("200 packets", "made up", {"radio.queue.packets": 200})
    tried = [Trial(h3, "MTU", "1500 B", fewer), Trial(h3, "queue", "50 packets", same)]
    alone = run_experiments([], QUICK, trials=tried)
    assert alone.rows == []
    assert [one.answer for one in alone.sensitivity] == ["depends", "does not"]
    assert "the values: within → differs" in alone.sensitivity[0].turned
    both = run_experiments([h3], QUICK, trials=tried)
    assert both.sensitivity == alone.sensitivity
    both.write(tmp_path)
    written = json.loads((tmp_path / "rows.json").read_text())["sensitivity"]
    assert [Sensitivity(**fields) for fields in written] == both.sensitivity
    page = Path(write_report(tmp_path)).read_text()
    assert '<section id="sensitivity">' in page
    assert "the values: within → differs" in page
    alone.write(tmp_path)
    assert "the values: within → differs" in Path(write_report(tmp_path)).read_text()
