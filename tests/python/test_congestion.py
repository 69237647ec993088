"""Congestion controls written in Python."""

from __future__ import annotations

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import hopcast
from hopcast.congestion import CongestionControl
from hopcast.lab import AMOUNTS, Case, Experiment, StudyFailed, run_experiments
from hopcast.lab import executor as module

TOML = """
duration = "60 s"
nodes = [{ name = "a", role = "wired" }, { name = "b", role = "wired" }]
links = [{ between = ["a", "b"], rate = "2 Mb/s", delay = "40 ms", queue = { packets = 20 }, loss = 0.01 }]
[[flows]]
name = "f"
from = "a"
to = "b"
transport = { protocol = "tcp", variant = "newreno" }
application = { kind = "bulk" }
"""


class Reno(CongestionControl):
    """The window of RFC 5681, section 3.1, counting bytes."""

    def on_established(self, segment: int, initial_window: int) -> None:
        self.segment = segment
        self.initial_window = self.window = initial_window
        self.acked = 0

    def on_ack(self, acked: int, flight: int, rtt: float | None, now: float) -> None:
        if self.window < self.slow_start_threshold:
            self.window += min(acked, self.segment)
            return
        self.acked += acked
        if self.acked >= self.window:
            self.acked = min(self.acked - self.window, self.window)
            self.window += self.segment

    def on_loss(self, flight: int, now: float) -> None:
        self.halve(flight)
        self.window = self.slow_start_threshold

    def on_recovered(self, limit: int, now: float) -> None:
        self.window = min(self.slow_start_threshold, limit)

    def on_timeout(self, flight: int, first: bool, now: float) -> None:
        if first:
            self.halve(flight)
        self.window = self.segment

    def on_idle(self) -> None:
        self.window = min(self.window, self.initial_window)

    def halve(self, flight: int) -> None:
        self.slow_start_threshold = max(flight // 2, 2 * self.segment)
        self.acked = 0


def with_law(law: type[CongestionControl], **parameters: object) -> hopcast.Scenario:
    named = {"name": "mine", "parameters": parameters} if parameters else {"name": "mine"}
    scenario = hopcast.Scenario.from_toml(TOML, congestion={"mine": law})
    return scenario.set("flows.f.transport.congestion", named)


def test_reno_in_python_is_reno() -> None:
    ours = hopcast.run(hopcast.Scenario.from_toml(TOML), replications=2)
    theirs = hopcast.run(with_law(Reno), replications=2, threads=2)
    # At each instant of the series, and so of the run.
    assert theirs.series.equals(ours.series)
    assert theirs.flows.equals(ours.flows)
    assert ours.flows["fast_retransmits"].min() > 5  # type: ignore[operator]
    assert ours.series["cwnd_bytes"].n_unique() > 20


class Fixed(CongestionControl):
    """Always this number of segments."""

    def __init__(self, *, segments: int = 4) -> None:
        self.segments = segments

    def on_established(self, segment: int, initial_window: int) -> None:
        self.window = self.segments * segment


def test_parameters_reach_the_law_and_wrong_ones_are_told() -> None:
    quiet = {"overrides": ["links.0.loss=0"], "congestion": {"mine": Fixed}}
    scenario = hopcast.Scenario.from_toml(TOML, **quiet)  # type: ignore[arg-type]
    rates = [
        hopcast.run(scenario.set("flows.f.transport.congestion", law)).flows["goodput_bps"][0]
        for law in ({"name": "mine"}, {"name": "mine", "parameters": {"segments": 8}})
    ]
    assert rates[1] / rates[0] == pytest.approx(1.9, abs=0.15)
    with pytest.raises(hopcast.ScenarioError) as refused:
        with_law(Fixed, packets=8)
    assert refused.value.field == "flows.f.transport.congestion.parameters"
    assert "packets" in str(refused.value)
    with pytest.raises(hopcast.ScenarioError) as unknown:
        scenario.set("flows.f.transport.congestion", {"name": "mime"})
    assert 'did you mean "mine"' in str(unknown.value)


def test_both_spellings_take_laws() -> None:
    made = hopcast.Scenario(
        duration="1 s",
        radio={},
        nodes=[{"name": "a", "role": "wired"}, {"name": "b", "role": "wired"}],
        links=[{"between": ["a", "b"], "rate": "2 Mb/s", "delay": "4 ms"}],
        flows=[
            {
                "name": "f",
                "from": "a",
                "to": "b",
                "transport": {"protocol": "tcp", "congestion": {"name": "mine", "parameters": {"segments": 2}}},
                "application": {"kind": "bulk"},
            }
        ],
        congestion={"mine": Fixed},
    )
    assert hopcast.run(made).series["cwnd_bytes"].max() == 2 * 1460


class Failing(Reno):
    """Raises after a while."""

    def on_loss(self, flight: int, now: float) -> None:
        raise ArithmeticError(f"at {now:.1f} s")


class Nothing(Reno):
    """A window of nothing."""

    def on_loss(self, flight: int, now: float) -> None:
        self.window = 0


@pytest.mark.parametrize(
    ("law", "cause", "told"), [(Failing, ArithmeticError, "at "), (Nothing, ValueError, "window is 0")]
)
def test_an_exception_ends_the_run_and_is_its_cause(
    law: type[CongestionControl], cause: type[Exception], told: str
) -> None:
    with pytest.raises(hopcast.RunError, match=f"raised {cause.__name__}") as failed:
        hopcast.run(with_law(law), replications=3)
    assert isinstance(failed.value.__cause__, cause)
    assert told in str(failed.value.__cause__)
    assert failed.value.result is None
    # The same scenario can be run again, and fails again.
    with pytest.raises(hopcast.RunError):
        hopcast.run(with_law(law).set("duration", "20 s"))


def raising_once() -> tuple[hopcast.Scenario, threading.Event]:
    """Two flows, one of which raises at the first loss of all, in whichever run that is. The event is set when it has; that run then
    waits until another one has begun."""
    raises, raised, begun = (threading.Event() for _ in range(3))

    class Once(Reno):
        def on_established(self, segment: int, initial_window: int) -> None:
            super().on_established(segment, initial_window)
            if raised.is_set():
                begun.set()

        def on_ack(self, acked: int, flight: int, rtt: float | None, now: float) -> None:
            super().on_ack(acked, flight, rtt, now)
            # Of the other flow: who raised is asked no more.
            if raises.is_set():
                raised.set()
                assert begun.wait(30.0)

        def on_loss(self, flight: int, now: float) -> None:
            super().on_loss(flight, now)
            if not raises.is_set():
                raises.set()
                raise ArithmeticError(f"at {now:.1f} s")

    other = TOML[TOML.index("[[flows]]") :].replace('name = "f"', 'name = "g"')
    scenario = hopcast.Scenario.from_toml(TOML + other, congestion={"mine": Once})
    for flow in ("f", "g"):
        scenario = scenario.set(f"flows.{flow}.transport.congestion", {"name": "mine"})
    return scenario, raised


def test_an_exception_ends_its_own_run_of_a_scenario_and_no_other() -> None:
    scenario, raised = raising_once()
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(hopcast.run, scenario, seed=1, threads=1)
        assert raised.wait(30.0)
        second = pool.submit(hopcast.run, scenario, seed=2, threads=1)
        with pytest.raises(hopcast.RunError, match="raised ArithmeticError"):
            first.result()
        assert second.result().flows["goodput_bps"].min() > 0  # type: ignore[operator]


def test_a_study_keeps_no_run_whose_law_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    scenario, raised = raising_once()

    def run(scenario: hopcast.Scenario, *, seed: int, **rest: Any) -> hopcast.Result:
        if seed != 1:
            assert raised.wait(30.0)
        return hopcast.run(scenario, seed=seed, **rest)

    monkeypatch.setattr(module, "run", run)
    experiment = Experiment(
        "X", "", "", lambda amount: [], lambda amount: {"": Case(scenario, (1, 2))}, lambda measured: []
    )
    with pytest.raises(StudyFailed, match=r"raised ArithmeticError: at .*; 0 of 1 experiment finished"):
        run_experiments([experiment], AMOUNTS["quick"], threads=2)


def test_a_program_ends_with_status_1_and_the_traceback(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    here = Path(__file__).parent
    program.write_text(
        f"import sys\nsys.path.insert(0, {str(here)!r})\nimport hopcast\nimport test_congestion as t\n"
        "hopcast.run(t.with_law(t.Failing))\n",
        encoding="utf-8",
    )
    done = subprocess.run([sys.executable, str(program)], check=False, capture_output=True, text=True)
    assert done.returncode == 1
    assert "in on_loss" in done.stderr
    assert "ArithmeticError: at " in done.stderr
    assert done.stderr.strip().splitlines()[-1].startswith("hopcast.errors.RunError: ")


def test_the_law_of_the_page_runs_and_is_that_of_the_crate() -> None:
    page = (Path(__file__).parents[2] / "docs" / "adding-a-congestion-control.md").read_text(encoding="utf-8")
    block = page.split("```python\n")[1].split("```")[0]
    space: dict[str, Any] = {}
    exec(block.split("scenario = ")[0], space)
    aimd = space["Aimd"]

    # As many segments in a round trip as are friendly to TCP, and none of the growth is lost.
    law = aimd(decrease=0.125)
    law.on_established(1460, 500_000)
    law.slow_start_threshold = 1
    for _ in range(1000):
        law.on_ack(1460, 500_000, 0.1, 1.0)
    assert law.window == pytest.approx(500_000 + 1000 * 0.2 * 1460**2 / 500_000, abs=2)
    law.on_idle()
    assert law.window == 500_000

    congestion = {"name": "aimd", "parameters": {"decrease": 0.125}}
    scenario = hopcast.Scenario.from_toml(TOML, congestion={"aimd": aimd})
    run = hopcast.run(scenario.set("flows.f.transport.congestion", congestion))
    assert run.flows["goodput_bps"][0] > 500e3
