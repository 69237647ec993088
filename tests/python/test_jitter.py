"""Jitter over parts of a run, put together from the intervals of its series."""

from __future__ import annotations

import math

import pytest

import hopcast

GAME = """
duration = "20 s"
[radio]
standard = "802.11b"
[[nodes]]
name = "n"
count = 2
placement = { shape = "line", spacing = "5 m" }
[[flows]]
name = "game"
from = "n0"
to = "n1"
transport = { protocol = "udp" }
application = { kind = "game", direction = "server" }
[[flows]]
name = "late"
from = "n0"
to = "n1"
start = "10 s"
transport = { protocol = "tcp" }
application = { kind = "bulk" }
"""


@pytest.fixture(scope="module")
def result() -> hopcast.Result:
    return hopcast.run(hopcast.Scenario.from_toml(GAME), replications=2)


def test_jitter_of_the_whole_run_is_that_of_the_flow(result: hopcast.Result) -> None:
    whole = result.jitter("game", 0, 20)
    flows = result.flows.filter(result.flows["name"] == "game")
    assert whole["seed"].to_list() == flows["seed"].to_list()
    for field in ("jitter_mean_s", "jitter_variance_s2", "jitter_max_s"):
        assert whole[field].to_list() == pytest.approx(flows[field].to_list(), rel=1e-9)
    assert whole["jitter_count"].to_list() == [count - 1 for count in flows["received_packets"]]


def test_jitter_of_a_part(result: hopcast.Result) -> None:
    before, after = result.jitter("game", 0, 10), result.jitter("game", 10, 20)
    whole = result.jitter("game", 0, 20)
    for row, total in enumerate(whole["jitter_count"]):
        n, m = before["jitter_count"][row], after["jitter_count"][row]
        assert n + m == total
        # By the definition of the mean and the variance of two samples together.
        mean = (n * before["jitter_mean_s"][row] + m * after["jitter_mean_s"][row]) / total
        assert mean == pytest.approx(whole["jitter_mean_s"][row])
        squares = sum(
            (part["jitter_count"][row] - 1) * part["jitter_variance_s2"][row]
            + part["jitter_count"][row] * (part["jitter_mean_s"][row] - mean) ** 2
            for part in (before, after)
        )
        assert math.isclose(squares / (total - 1), whole["jitter_variance_s2"][row], rel_tol=1e-9)
        # TCP fills the queue in the second half.
        assert after["jitter_mean_s"][row] > 2 * before["jitter_mean_s"][row]


def test_there_may_be_none(result: hopcast.Result) -> None:
    nothing = result.jitter("late", 0, 10)
    assert nothing["jitter_count"].to_list() == [0, 0]
    assert nothing["jitter_mean_s"].to_list() == [None, None]
    with pytest.raises(ValueError, match="no such flow"):
        result.jitter("film", 0, 20)
