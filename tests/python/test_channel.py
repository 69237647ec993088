"""The models of the channel as the module shows them, against numbers worked out by hand or published."""

from __future__ import annotations

import math

import pytest

from hopcast import _core

# 10 % of frames of 1458 octets in link simulations, published with ns-3 (AwgnErrorTableBcc1458), in dB.
PUBLISHED = {6e6: 0.86, 12e6: 3.89, 18e6: 6.37, 24e6: 9.63, 36e6: 12.72, 48e6: 17.02, 54e6: 18.31}


@pytest.mark.parametrize("rate", PUBLISHED)
def test_a_tenth_is_lost_where_it_was_published(rate: float) -> None:
    decibels = PUBLISHED[rate]
    before, after = _core.frame_error_rates("802.11a", rate, 1458, [decibels - 0.25, decibels + 0.25])
    assert before > 0.1 > after


def test_a_rate_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="7000000"):
        _core.frame_error_rates("802.11a", 7e6, 100, [10.0])
    with pytest.raises(ValueError, match=r"802\.11b has no rate of 54000000"):
        _core.frame_error_rates("802.11b", 54e6, 100, [10.0])


def test_a_standard_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match=r"802\.11z"):
        _core.frame_error_rates("802.11z", 6e6, 100, [10.0])


def test_turbo_mode_needs_what_half_its_rate_needs() -> None:
    decibels = [0.0, 2.0, 4.0]
    turbo = _core.frame_error_rates("802.11a-turbo", 24e6, 100, decibels)
    assert turbo == _core.frame_error_rates("802.11a", 12e6, 100, decibels)
    assert turbo != _core.frame_error_rates("802.11a", 24e6, 100, decibels)


def test_a_corridor_of_100_feet() -> None:
    # 46.77 dB at 1 m and 5.2 GHz, 18 dB a decade.
    (gain,) = _core.log_distance_gains(5.2e9, 1.8, 1.0, [30.48])
    assert gain == pytest.approx(-(46.77 + 18 * math.log10(30.48)), abs=0.01)


def test_two_rays_at_ten_metres() -> None:
    # Worked out in propagation/two_ray_interference.rs: 1.8908 times free space.
    (gain,) = _core.two_ray_interference_gains(5.2e9, 0.7112, 15.0, True, [10.0])
    assert gain == pytest.approx(-66.77 + 10 * math.log10(1.8908), abs=0.02)


def test_shadowing_is_the_same_both_ways() -> None:
    there, back = _core.link_shadowing(1, 8.0, 10.0, [(0.0, 1.0, 20.0, 3.0), (20.0, 3.0, 0.0, 1.0)])
    assert there == back != 0.0


@pytest.mark.parametrize(("name", "parameter"), [("rayleigh", 0.0), ("rician", 4.0), ("nakagami", 2.0)])
def test_fading_has_mean_one(name: str, parameter: float) -> None:
    frames = _core.frame_fading(name, parameter, 1, 20_000)
    assert sum(frames) / len(frames) == pytest.approx(1.0, abs=0.03)
    assert _core.path_fading(name, parameter, 1, 2, 3, [0.7]) == _core.path_fading(name, parameter, 1, 3, 2, [0.7])


def test_a_fading_that_does_not_exist_names_those_that_do() -> None:
    with pytest.raises(ValueError, match="rayleigh, rician or nakagami"):
        _core.frame_fading("weibull", 1.0, 1, 1)


def test_a_quarter_of_the_time_is_bad() -> None:
    stays = _core.gilbert_elliott_states(0.1, 0.0333, 1, 0, 1_000.0)
    assert sum(length for length, _ in stays) == pytest.approx(1_000.0)
    assert sum(length for length, bad in stays if bad) / 1_000.0 == pytest.approx(0.25, abs=0.01)
