"""The closed forms against figures worked out by hand and numbers printed elsewhere."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from hopcast import theory
from hopcast.theory import Standard


@pytest.mark.parametrize(
    ("standard", "rate", "octets", "short_preamble", "micros"),
    [
        ("802.11", 1e6, 14, False, 304),
        ("802.11", 2e6, 14, True, 248),  # clause 15 has no short preamble
        ("802.11b", 11e6, 1536, False, 1310),
        ("802.11b", 11e6, 1536, True, 1214),
        ("802.11b", 11e6, 1375, False, 1192),  # exactly 1000 µs of data
        ("802.11b", 5.5e6, 14, True, 117),
        ("802.11b", 1e6, 14, True, 304),
        ("802.11a", 54e6, 1536, False, 248),
        ("802.11a", 24e6, 14, False, 28),
        ("802.11a", 6e6, 14, False, 44),
        ("802.11g", 54e6, 1536, False, 254),
        ("802.11g", 11e6, 1536, False, 1310),
    ],
)
def test_airtime(standard: Standard, rate: float, octets: int, short_preamble: bool, micros: int) -> None:
    assert theory.airtime(standard, rate, octets, short_preamble=short_preamble) == pytest.approx(micros * 1e-6)


@pytest.mark.parametrize(
    ("payload", "rts", "megabits"), [(1472, False, 29.9), (1472, True, 24.5), (1024, False, 24.9), (1024, True, 19.6)]
)
def test_saturated_802_11a_link(payload: int, rts: bool, megabits: float) -> None:
    goodput = theory.saturated_link_goodput("802.11a", 54e6, 24e6, payload=payload, rts=rts)
    assert goodput / 1e6 == pytest.approx(megabits, abs=0.05)


def test_cycle_is_that_worked_out_by_hand() -> None:
    # 34 + 7.5 * 9 + 184 + 16 + 28 µs.
    assert theory.saturated_link_cycle("802.11a", 54e6, 24e6, payload=1024) == pytest.approx(329.5e-6)
    # 50 + 15.5 * 20 + 1310 + 10 + 248 µs.
    assert theory.saturated_link_cycle("802.11b", 11e6) == pytest.approx(1928e-6)


def test_a_fragmented_datagram_is_several_exchanges() -> None:
    # 3008 octets of UDP are 1480, 1480 and 48 in IP.
    whole = theory.saturated_link_cycle("802.11a", 54e6, payload=3000)
    parts = [theory.saturated_link_cycle("802.11a", 54e6, payload=part - 8) for part in (1480, 1480, 48)]
    assert whole == pytest.approx(sum(parts))
    assert theory.saturated_link_cycle("802.11a", 54e6, payload=3000, mtu=None) < whole


def test_default_control_rate_is_the_highest_basic_rate() -> None:
    rates: list[tuple[Standard, float, float]] = [
        ("802.11b", 11e6, 2e6),
        ("802.11a", 54e6, 24e6),
        ("802.11a", 18e6, 12e6),
        ("802.11g", 5.5e6, 2e6),
        ("802.11", 1e6, 1e6),
    ]
    for standard, data_rate, basic_rate in rates:
        explicit = theory.saturated_link_cycle(standard, data_rate, basic_rate)
        assert theory.saturated_link_cycle(standard, data_rate) == explicit


# Throughputs in Mb/s that ns-3 prints in src/wifi/examples/wifi-bianchi.cc (DIFS after a collision): frames of 1536
# octets of which 1500 count, the slot after a success reserved. Their tau is from a grid of 1e-4, hence the tolerance.
@pytest.mark.parametrize(
    ("standard", "rate", "control", "n", "megabits"),
    [
        ("802.11b", 11e6, 2e6, 5, 6.4734),
        ("802.11b", 11e6, 2e6, 10, 6.1774),
        ("802.11b", 11e6, 2e6, 20, 5.7819),
        ("802.11b", 11e6, 2e6, 50, 5.1745),
        ("802.11b", 1e6, 1e6, 5, 0.8437),
        ("802.11b", 1e6, 1e6, 50, 0.6336),
        ("802.11a", 54e6, 24e6, 5, 29.8324),
        ("802.11a", 54e6, 24e6, 10, 28.1519),
        ("802.11a", 54e6, 24e6, 50, 23.5618),
        ("802.11a", 6e6, 6e6, 20, 3.9899),
    ],
)
def test_bianchi_gives_the_numbers_that_ns3_prints(
    standard: Standard, rate: float, control: float, n: int, megabits: float
) -> None:
    cell = theory.bianchi(n, standard, rate, control, reserved_slot=True)
    assert cell.goodput * 1500 / 1472 / 1e6 == pytest.approx(megabits, rel=1e-3)


@pytest.mark.parametrize(("n", "megabits"), [(5, 0.8418), (10, 0.7831), (50, 0.6285)])
def test_bianchi_with_eifs_gives_the_numbers_that_ns3_prints(n: int, megabits: float) -> None:
    cell = theory.bianchi(n, "802.11b", 1e6, 1e6, after_collision="eifs", reserved_slot=True)
    assert cell.goodput * 1500 / 1472 / 1e6 == pytest.approx(megabits, rel=1e-3)


def test_one_station_is_the_saturated_link() -> None:
    for rts in (False, True):
        alone = theory.bianchi(1, "802.11a", 54e6, rts=rts)
        assert alone.collision_probability == 0
        assert alone.goodput == pytest.approx(theory.saturated_link_goodput("802.11a", 54e6, rts=rts))


def test_without_doubling_tau_does_not_depend_on_collisions() -> None:
    # Bianchi (2000), equation 8.
    for n in (2, 10, 50):
        p, tau = theory.fixed_point(n, 32, 0)
        assert tau == pytest.approx(2 / 33)
        assert p == pytest.approx(1 - (1 - tau) ** (n - 1))


def test_fixed_point_satisfies_both_equations() -> None:
    p, tau = theory.fixed_point(10, 32, 5)
    assert p == pytest.approx(1 - (1 - tau) ** 9)
    # Equation 7 as printed.
    assert tau == pytest.approx(2 * (1 - 2 * p) / ((1 - 2 * p) * 33 + p * 32 * (1 - (2 * p) ** 5)))


def test_retry_limit() -> None:
    # With one attempt the window never grows; with very many there is no limit.
    assert theory.fixed_point(10, 32, 5, 1) == pytest.approx(theory.fixed_point(10, 32, 0))
    assert theory.fixed_point(10, 32, 5, 200) == pytest.approx(theory.fixed_point(10, 32, 5), rel=1e-9)
    # Giving up starts again with a small window, so that stations collide more.
    assert theory.fixed_point(50, 32, 5, 4)[0] > theory.fixed_point(50, 32, 5)[0]


def test_rts_pays_in_a_crowd() -> None:
    crowd = [theory.bianchi(50, "802.11b", 2e6, 2e6, rts=rts).goodput for rts in (False, True)]
    pair = [theory.bianchi(2, "802.11b", 2e6, 2e6, rts=rts).goodput for rts in (False, True)]
    assert crowd[1] > crowd[0]
    assert pair[0] > pair[1]


def test_eifs_and_delay_cost_throughput() -> None:
    plain = theory.bianchi(10, "802.11a", 54e6).goodput
    assert theory.bianchi(10, "802.11a", 54e6, after_collision="eifs").goodput < plain
    assert theory.bianchi(10, "802.11a", 54e6, propagation_delay=1e-6).goodput < plain


@pytest.mark.parametrize(
    "call",
    [
        lambda: theory.airtime("802.11n", 54e6, 100),  # type: ignore[arg-type]
        lambda: theory.airtime("802.11b", 54e6, 100),
        lambda: theory.saturated_link_goodput("802.11a", 54),
        lambda: theory.saturated_link_goodput("802.11a", 54e6, 11e6),
        lambda: theory.saturated_link_goodput("802.11a", 54e6, payload=-1),
        lambda: theory.saturated_link_goodput("802.11a", 54e6, mtu=20),
        lambda: theory.bianchi(5, "802.11a", 54e6, payload=1473),
        lambda: theory.bianchi(0, "802.11a", 54e6),
        lambda: theory.bianchi(5, "802.11a", 54e6, after_collision="sifs"),  # type: ignore[arg-type]
        lambda: theory.bianchi(5, "802.11a", 54e6, retry_limit=0),
        lambda: theory.jain([]),
        lambda: theory.jain([1, -1]),
    ],
)
def test_wrong_input_is_refused(call: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"=|needs"):
        call()


def test_jain() -> None:
    assert theory.jain([3, 3, 3]) == pytest.approx(1)
    assert theory.jain([5, 0, 0, 0]) == pytest.approx(1 / 4)
    # Jain's own form: (1 + 2 + 3)² / (3 * 14).
    assert theory.jain([1, 2, 3]) == pytest.approx(36 / 42)
    assert theory.jain([1e-200, 1e-200]) == pytest.approx(1)
    assert math.isnan(theory.jain([0, 0]))
