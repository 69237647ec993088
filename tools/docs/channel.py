"""Figures of the models of the channel, each next to what it must agree with."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from hopcast import _core
from hopcast.figures import COLOURS, HEIGHT, ROOM, STYLE, WIDTH, legend_columns, picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FOOT = 0.3048
OFDM = (6, 9, 12, 18, 24, 36, 48, 54)
"""Mb/s: the rates of 802.11a and of OFDM in 802.11g."""

# Shares of frames of 1458 octets lost in link simulations with soft decisions in white noise, as published with ns-3
# (AwgnErrorTableBcc1458), by the rate of 802.11a with the same constellation and code.
LINK_SIMULATIONS: dict[int, list[tuple[float, float]]] = {
    6: [(0, 0.8185), (0.5, 0.2908), (1, 0.0663), (1.5, 0.0112), (2, 0.0015)],
    12: [(3, 0.7944), (3.5, 0.3008), (4, 0.0728), (4.5, 0.012), (5, 0.0015)],
    18: [(5.5, 0.7578), (6, 0.301), (6.5, 0.0676), (7, 0.0122), (7.5, 0.0023)],
    24: [(8.5, 0.8405), (9, 0.4341), (9.5, 0.1419), (10, 0.0374), (10.5, 0.0086), (11, 0.0019)],
    36: [(11.5, 0.9269), (12, 0.5139), (12.5, 0.1826), (13, 0.0465), (13.5, 0.011), (14, 0.0026)],
    48: [(15.5, 0.9479), (16, 0.6625), (16.5, 0.2978), (17, 0.1058), (17.5, 0.0334), (18, 0.0091), (18.5, 0.0023)],
    54: [(17, 0.8796), (17.5, 0.5139), (18, 0.2091), (18.5, 0.0639), (19, 0.0186), (19.5, 0.0046), (20, 0.0013)],
}


def figures() -> dict[str, str]:
    """Every figure: name and text."""
    return {
        "figures/channel-frames.svg": drawn(1, frames),
        "figures/channel-laptops.svg": drawn(1, laptops),
        "figures/channel-fading.svg": drawn(2, fading),
        "figures/channel-shadowing.svg": drawn(2, shadowing),
        "figures/channel-gilbert-elliott.svg": drawn(1, gilbert_elliott),
    }


def frames(axes: Axes) -> None:
    """Frames lost against the signal-to-noise ratio."""
    decibels = np.arange(-2.0, 21.0, 0.05)
    for index, (rate, points) in enumerate(LINK_SIMULATIONS.items()):
        colour = COLOURS[index % len(COLOURS)]
        lost = _core.frame_error_rates("802.11a", rate * 1e6, 1458, list(decibels))
        axes.plot(decibels, lost, color=colour, label=f"{rate:g} Mb/s", linestyle="-" if index < len(COLOURS) else "--")
        axes.plot(*zip(*points, strict=True), "o", color=colour, markersize=3.5)
    axes.set_yscale("log")
    axes.set(xlabel="signal-to-noise ratio, dB", ylabel="frames lost", ylim=(1e-3, 1.2), xlim=(-1.0, 20.5))
    legend(axes)


def laptops(axes: Axes) -> None:
    """What arrives between two laptops at 5.2 GHz, compared with ITU-R P.525 and P.1238 and the far field of two
    rays.
    """
    feet = np.geomspace(5.0, 1000.0, 2000)
    metres = list(feet * FOOT)
    height = 28.0 / 12.0 * FOOT
    for index, (label, gains) in enumerate(
        (
            ("free space", _core.log_distance_gains(5.2e9, 2.0, 1.0, metres)),
            ("corridor", _core.log_distance_gains(5.2e9, 1.8, 1.0, metres)),
            ("field, horizontal", _core.two_ray_interference_gains(5.2e9, height, 15.0, True, metres)),
            ("field, vertical", _core.two_ray_interference_gains(5.2e9, height, 15.0, False, metres)),
        )
    ):
        axes.plot(feet, gains, color=COLOURS[index], label=label)
    spots = np.geomspace(6.0, 950.0, 14)
    decades = np.log10(spots * FOOT)
    axes.plot(spots, -(32.44 + 20 * math.log10(5_200) + 20 * (decades - 3)), "o", color=COLOURS[0], markersize=3.5)
    axes.plot(spots, -(20 * math.log10(5_200) - 28 + 18 * decades), "o", color=COLOURS[1], markersize=3.5)
    # Two rays far away: h^4/d^4, whatever the ground.
    axes.plot(spots[-4:], 40 * (math.log10(height) - decades[-4:]), "o", color=COLOURS[3], markersize=3.5)
    axes.set_xscale("log")
    axes.set_xticks([5, 10, 20, 50, 100, 200, 500, 1000], ["5", "10", "20", "50", "100", "200", "500", "1000"])
    axes.minorticks_off()
    axes.set(xlabel="distance, feet", ylabel="gain, dB", ylim=(-110.0, -45.0))
    legend(axes)


def fading(left: Axes, right: Axes) -> None:
    """Distributions of draws and correlation in time, with closed forms as lines."""
    # From so low that what lies below counts for nothing.
    power = np.geomspace(1e-8, 10.0, 800)
    cases: list[tuple[str, str, float, Callable[[Any], Any]]] = [
        ("Rayleigh", "rayleigh", 0.0, lambda p: np.exp(-p)),
        (
            "Rician, K = 6 dB",
            "rician",
            10**0.6,
            lambda p: (
                (1 + 10**0.6) * np.exp(-(10**0.6) - (1 + 10**0.6) * p) * np.i0(2 * np.sqrt(10**0.6 * (1 + 10**0.6) * p))
            ),
        ),
        ("Nakagami, m = 3", "nakagami", 3.0, lambda p: 27 / 2 * p**2 * np.exp(-3 * p)),
    ]
    for index, (label, name, parameter, density) in enumerate(cases):
        draws = np.sort(_core.frame_fading(name, parameter, 1, 20_000))
        marks = np.unique(np.geomspace(1, len(draws) - 1, 25).astype(int))
        left.plot(10 * np.log10(draws[marks]), (marks + 0.5) / len(draws), "o", color=COLOURS[index], markersize=3.5)
        steps = np.concatenate(([0.0], density(power[1:] / 2 + power[:-1] / 2) * np.diff(power)))
        left.plot(10 * np.log10(power), np.cumsum(steps), color=COLOURS[index], label=label)
    left.set_yscale("log")
    left.set(xlabel="power, dB to its mean", ylabel="share of draws below", xlim=(-35, 10), ylim=(1e-4, 1.5))
    legend(left)

    lags = np.arange(0.0, 2.01, 0.05)
    paths = np.array([_core.path_fading("rayleigh", 0.0, 1, path, path + 1, list(lags)) for path in range(20_000)])
    # Powers of mean 1 and variance 1, at all times.
    measured = ((paths[:, :1] - 1.0) * (paths - 1.0)).mean(axis=0)
    right.plot(lags, measured, "o", color=COLOURS[0], markersize=3.5, label="20 000 paths")
    fine = np.linspace(0.0, 2.0, 400)
    right.plot(fine, bessel(2 * math.pi * fine) ** 2, color=COLOURS[1], label="J₀²(2πfτ)")
    right.set(xlabel="lag, periods of the Doppler frequency", ylabel="correlation of powers")
    legend(right)


def shadowing(left: Axes, right: Axes) -> None:
    """Distribution of the dB values of links, and their correlation when an end moves."""
    links = [(131.0 * i, 17.0 * i, -97.0, 173.0 * i) for i in range(500)]
    values = np.sort(np.concatenate([_core.link_shadowing(seed, 8.0, 10.0, links) for seed in range(20)]))
    marks = np.linspace(20, len(values) - 20, 30).astype(int)
    left.plot(values[marks], (marks + 0.5) / len(values), "o", color=COLOURS[0], markersize=3.5, label="10 000 links")
    fine = np.linspace(-28.0, 28.0, 200)
    left.plot(
        fine, [0.5 * math.erfc(-x / 8.0 / math.sqrt(2)) for x in fine], color=COLOURS[1], label="normal, σ = 8 dB"
    )
    left.set(xlabel="shadowing, dB", ylabel="share of links below")
    legend(left)

    steps = np.arange(0.0, 41.0, 2.0)
    one, both = [], []
    for step in steps:
        still, near, far = [], [], []
        for seed in range(60):
            places = [(0.0, 211.0 * i, 500.0, 211.0 * i + 30.0) for i in range(100)]
            still += _core.link_shadowing(seed, 1.0, 10.0, places)
            near += _core.link_shadowing(seed, 1.0, 10.0, [(x + step, y, u, v) for x, y, u, v in places])
            far += _core.link_shadowing(seed, 1.0, 10.0, [(x + step, y, u, v + step) for x, y, u, v in places])
        one.append(float(np.mean(np.array(still) * np.array(near))))
        both.append(float(np.mean(np.array(still) * np.array(far))))
    for index, (label, measured, exponent) in enumerate((("one end moves", one, 1.0), ("both ends move", both, 2.0))):
        right.plot(steps, measured, "o", color=COLOURS[index], markersize=3.5, label=label)
        right.plot(steps, np.exp(-exponent * steps / 10.0), color=COLOURS[index])
    right.set(xlabel="move, m (decorrelation distance 10 m)", ylabel="correlation")
    legend(right)


def gilbert_elliott(axes: Axes) -> None:
    """How long states last, against exponential distributions."""
    # Of one node for 2000 s; the first stay began before the run, the last one is cut off.
    stays = _core.gilbert_elliott_states(0.1, 0.0333, 1, 0, 2_000.0)[1:-1]
    for index, (label, bad, mean) in enumerate(
        (("good, mean 100 ms", False, 0.1), ("bad, mean 33.3 ms", True, 0.0333))
    ):
        lengths = np.sort([length for length, state in stays if state == bad])
        marks = np.unique((len(lengths) * (1 - np.geomspace(1.0, 5 / len(lengths), 30))).astype(int))
        axes.plot(1e3 * lengths[marks], 1 - (marks + 0.5) / len(lengths), "o", color=COLOURS[index], markersize=3.5)
        fine = np.linspace(0.0, 8 * mean, 200)
        axes.plot(1e3 * fine, np.exp(-fine / mean), color=COLOURS[index], label=label)
    axes.set_yscale("log")
    axes.set(xlabel="length of a stay, ms", ylabel="share of stays that last longer", ylim=(1e-3, 1.2))
    legend(axes)


def bessel(x: Any) -> Any:
    """J₀ as the mean of cos(x·sin θ)."""
    angles = (np.arange(200) + 0.5) * math.pi / 200
    return np.cos(np.multiply.outer(x, np.sin(angles))).mean(axis=-1)


def drawn(panels: int, draw: Callable[..., None]) -> str:
    """A figure with this number of panels, as text."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH if panels == 1 else 8.4, HEIGHT), layout="constrained")
        draw(*(figure.add_subplot(1, panels, panel + 1) for panel in range(panels)))
    # A picture on its own has no page whose ink it could take.
    return picture(figure)


def legend(axes: Axes) -> None:
    """Above the axes, where no curve can run through it."""
    size = 8.0
    handles, labels = axes.get_legend_handles_labels()
    room = axes.figure.get_figwidth() / len(axes.figure.axes) - (WIDTH - ROOM)
    columns = legend_columns(labels, room * STYLE["font.size"] / size)
    axes.legend(handles, labels, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=columns, fontsize=size)
