"""Figures of receivers and of rate control: simulated links compared with data sheets and closed forms."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from channel import OFDM, drawn, legend
from traffic import ends

from hopcast import Scenario, ScenarioError, _core, run, theory
from hopcast.figures import COLOURS, INK
from hopcast.statistics import ci95

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CCK = (1, 2, 5.5, 11)
"""Mb/s: the rates of 802.11b."""
FREQUENCY = {"802.11a": 5.18e9, "802.11b": 2.412e9}
BANDWIDTH = {"802.11a": 16.25e6, "802.11b": 16.5e6}
"""Hz: the default channels, and the bandwidths of noise (docs/models/errors.md)."""
METRES = 10.0
"""Between the two ends of a link."""

# Least powers in dBm. IEEE 802.11-2020, Table 17-18, 15.4.6 and 16.3.8.2; LANCOM Reference Manual LCOS 3.50, section 11.5.3,
# up to 5.725 GHz; Acer MPCI-101 and Compal PA307, user's manuals, section 3.3.2.
STANDARD = {6: -82, 9: -81, 12: -79, 18: -77, 24: -74, 36: -70, 48: -66, 54: -65, 2: -80, 11: -76}
CARDS = {12: -88, 18: -87, 24: -85, 36: -81, 48: -76, 54: -73, 1: -91, 2: -88, 5.5: -85, 11: -82}

RETRIES = 7


def figures() -> dict[str, str]:
    """Every figure: name and text."""
    return {
        "figures/reception-sensitivity.svg": drawn(2, reception),
        "figures/rate-control-snr.svg": drawn(2, rate_control),
    }


def reception(left: Axes, right: Axes) -> None:
    """The least power that each rate needs; and which of two frames that overlap is received."""
    sensitivity(left)
    capture(right)


def sensitivity(axes: Axes) -> None:
    """Least powers: ours, those that the standard asks for, those of cards."""
    rates = [*CCK, *OFDM]
    ours = [least_power(rate) for rate in rates]
    places = np.arange(len(rates))
    axes.plot(places, ours, "o", color=COLOURS[0], markersize=4, label="hopcast, noise figure 7 dB")
    for look, colour, label, levels in (
        ("D", COLOURS[1], "cards of 2002 to 2004", CARDS),
        ("_", INK, "the standard's minimum", STANDARD),
    ):
        known = [(place, levels[rate]) for place, rate in zip(places, rates, strict=True) if rate in levels]
        axes.plot(
            *zip(*known, strict=True),
            look,
            color=colour,
            markersize=5,
            markerfacecolor="none",
            linestyle="none",
            label=label,
        )
    axes.axvline(len(CCK) - 0.5, color=INK, linewidth=0.6)
    axes.set_xticks(places, [f"{rate:g}" for rate in rates])
    axes.set(xlabel="rate, Mb/s (802.11b, 802.11a)", ylabel="least power, dBm")
    legend(axes)


def least_power(rate: float) -> float:
    """dBm at which a tenth of frames of 1000 bytes is lost at OFDM's rates, 8 % of 1024 at those of DSSS and CCK: to
    0.05 dB, by halving the way between a power that loses all and one that loses nothing.
    """
    standard, octets, share = ("802.11a", 1000, 0.1) if rate in OFDM else ("802.11b", 1024, 0.08)
    low, high = noise(standard) - 10.0, noise(standard) + 25.0
    while high - low > 0.05:
        middle = (low + high) / 2
        low, high = (middle, high) if lost_share(standard, rate, octets, middle) > share else (low, middle)
    return (low + high) / 2


def lost_share(standard: str, rate: float, octets: int, power: float) -> float:
    """Of 3000 frames of this size, each sent once, at a power in dBm."""
    try:
        found = run(link(standard, power, {"data_rate": rate * 1e6, "retry_limit": {"short": 1}}, octets, 3000))
    except ScenarioError:
        # Where not one frame in a thousand passes, there is no path.
        return 1.0
    return float(found.flows["loss_ratio"][0])


def capture(axes: Axes) -> None:
    """Frames received of a sender whose frames meet those of another one, by the ratio of their powers."""
    fine = np.arange(-2.0, 22.0, 0.05)
    for index, (rate, first) in enumerate(((6, True), (6, False), (54, True), (54, False))):
        ratios = np.array(RATIOS[rate]) + (0.0 if first else 0.25)
        colour = COLOURS[index]
        label = f"{rate} Mb/s, {'first' if first else 'later'}"
        received = [survivors(rate, first, ratio) for ratio in ratios]
        means(axes, ratios, received, fmt="o" if first else "s", color=colour, markersize=3.5, elinewidth=0.8)
        axes.plot(fine, overlapped(rate, first, fine), color=colour, label=label, linestyle="-" if first else "--")
    axes.set(xlabel="power over that of the other frame, dB", ylabel="share of frames received", ylim=(-0.03, 1.05))
    legend(axes)


OVERLAP = {6: 340e-6, 54: 60e-6}
"""Seconds between the starts of two frames, by their rate in Mb/s: the first one's header is over."""
ALONE_DB = 45.0
"""Signal-to-noise ratio of a frame that meets no other: high enough that noise does not count."""
RATIOS = {
    6: (-1.5, -0.5, 0, 0.5, 1.5, 3, 5, 7, 9.5, 10, 12, 14, 16),
    54: (0, 4, 8, 12, 15, 16, 16.5, 17, 17.5, 18, 19, 20, 21),
}
"""dB between the two, by the rate in Mb/s: more of them where the share changes."""
SEEDS, MEETINGS = 4, 100
"""Runs for each point, and frames of each."""


def survivors(rate: int, first: bool, ratio: float) -> list[float]:
    """Shares of frames of 1000 bytes received from one of two senders that can't hear each other, a run each."""
    power = noise("802.11a") + ALONE_DB
    # Twice as far apart as from the receiver, with so steep a loss beyond it, they are 60 dB weaker to each other.
    nodes: list[dict[str, Any]] = [{"name": "sink", "placement": {"shape": "points", "at": [[0.0, 0.0]]}}]
    flows: list[dict[str, Any]] = []
    for name, place, level in (("wanted", -METRES, 0.0), ("other", METRES, -ratio)):
        radios = [{"tx_power": f"{power + level - gain('802.11a'):.9f} dBm"}]
        nodes.append({"name": name, "radios": radios, "placement": {"shape": "points", "at": [[place, 0.0]]}})
        late = OVERLAP[rate] if (name == "wanted") != first else 0.0
        application = {"kind": "cbr", "rate": 8 * (1000 - HEADERS) / 10e-3, "packet": 1000 - HEADERS}
        flow = {"name": name, "from": name, "to": "sink", "start": 0.1 + late, "stop": 0.0995 + 10e-3 * MEETINGS}
        flows.append(flow | {"transport": {"protocol": "udp"}, "application": application})
    propagation = {"model": "log-distance", "exponent": 20, "reference_distance": f"{METRES} m"}
    radio = {
        "standard": "802.11a",
        "data_rate": f"{rate} Mb/s",
        "retry_limit": {"short": 1},
        "propagation": propagation,
    }
    scenario = Scenario(duration=0.2 + 10e-3 * MEETINGS, radio=radio | {"reception": "sinr"}, nodes=nodes, flows=flows)
    found = run(scenario, replications=SEEDS).flows
    return [1.0 - float(share) for share in found.filter(found["name"] == "wanted")["loss_ratio"]]


def overlapped(rate: int, first: bool, ratios: Any) -> Any:
    """The same by a closed form: bits that meet the other frame see its power and the noise, and a frame that comes later needs
    the capture ratio of 10 dB to be looked at."""
    noisy = -10 * np.log10(10 ** (-ratios / 10) + 10 ** (-ALONE_DB / 10))
    lost = np.array(_core.frame_error_rates("802.11a", rate * 1e6, 1000, list(noisy)))
    # Of the payload's symbols, all but those before the other frame begins, or after it has ended.
    payload = theory.airtime("802.11a", rate * 1e6, 1000) - 20e-6
    met = (payload + 20e-6 - OVERLAP[rate]) if first else (payload - OVERLAP[rate])
    survives = (1 - lost) ** (met / payload)
    return survives if first else np.where(noisy >= 10.0, survives, 0.0)


def rate_control(left: Axes, right: Axes) -> None:
    """Goodput of rate control compared with the best fixed rate, in noise alone and with independent fading of every
    frame.
    """
    for axes, fading, title in (
        (left, "none", "noise alone"),
        (right, "rayleigh", "each frame fades by itself (Rayleigh)"),
    ):
        fine = np.arange(4.0, 26.1, 0.25)
        fixed = np.array([[fixed_goodput(rate, snr, fading) for snr in fine] for rate in OFDM])
        axes.plot(fine, fixed.T, color=INK, linewidth=0.5, alpha=0.6)
        axes.plot(fine, fixed.max(axis=0), color=INK, label="best fixed rate")
        for index, algorithm in enumerate(("arf", "aarf", "minstrel")):
            # Beside each other, so that each can be seen.
            ratios = np.arange(5.0, 25.1, 2.5) + 0.25 * (index - 1)
            means(
                axes,
                ratios,
                [chosen(algorithm, snr, fading) for snr in ratios],
                fmt="os^"[index],
                color=COLOURS[index],
                markersize=3.5,
                elinewidth=0.8,
                label=algorithm.upper() if index < 2 else "Minstrel",
            )
        axes.text(0.03, 0.94, title, transform=axes.transAxes)
        axes.set(xlabel="signal-to-noise ratio, dB", ylabel="goodput, Mb/s", ylim=(0, 33))
    legend(left)


def chosen(algorithm: str, snr: float, fading: str) -> list[float]:
    """Mb/s of a saturated link of 802.11a with rate control, a run each."""
    radio = {"data_rate": algorithm}
    scenario = link("802.11a", noise("802.11a") + snr, radio, 1536, None, fading)
    return [1e-6 * (rate or 0.0) for rate in run(scenario, replications=SEEDS).flows["goodput_bps"]]


def fixed_goodput(rate: int, snr: float, fading: str) -> float:
    """Mb/s of a saturated link at a fixed rate, of datagrams of 1472 B: attempts fail by themselves with one probability, the
    window doubles with each, and after the last one the frame is given up (IEEE 802.11-2020, 10.3.3 and 10.3.4.4)."""
    answer = max(basic for basic in (6, 12, 24) if basic <= rate)
    fails = 1 - (1 - frame_loss(rate, 1536, snr, fading)) * (1 - frame_loss(answer, 14, snr, fading))
    data, ack = theory.airtime("802.11a", rate * 1e6, 1536), theory.airtime("802.11a", answer * 1e6, 14)
    slot, sifs, difs = 9e-6, 16e-6, 34e-6
    # The timeout of SIFS, slot and preamble ends within the second slot after DIFS, and counting goes on with the third.
    missing = difs + slot * math.ceil((sifs + slot + 20e-6 - difs) / slot)
    seconds = 0.0
    for attempt in range(RETRIES):
        window = min(16 * 2**attempt - 1, 1023)
        spent = slot * window / 2 + data + (1 - fails) * (sifs + ack + difs) + fails * missing
        seconds += fails**attempt * spent
    return 8e-6 * 1472 * (1 - fails**RETRIES) / seconds


def frame_loss(rate: int, octets: int, snr: float, fading: str) -> float:
    """Chance that a frame is lost: its bits, or its preamble, which is found from 4 dB on."""
    if fading == "none":
        return float(_core.frame_error_rates("802.11a", rate * 1e6, octets, [snr])[0]) if snr >= 4.0 else 1.0
    # Of an exponential power, by quantiles.
    levels = snr + QUANTILES_DB
    lost = np.array(_core.frame_error_rates("802.11a", rate * 1e6, octets, list(levels)))
    return float(np.where(levels >= 4.0, lost, 1.0).mean())


QUANTILES_DB = 10 * np.log10(-np.log1p(-(np.arange(400) + 0.5) / 400))


def link(
    standard: str, power: float, radio: dict[str, Any], octets: int, frames: int | None, fading: str = "none"
) -> Scenario:
    """Two nodes and UDP in MPDUs of this size, which arrive with a power in dBm: this number of them, or as many as
    fit in 4 s.
    """
    size = octets - HEADERS
    application: dict[str, Any] = {"kind": "adu", "size": size} | ({} if frames is None else {"bytes": frames * size})
    common = {"standard": standard, "reception": "sinr", "tx_power": f"{power - gain(standard):.9f} dBm"}
    propagation = {"model": "free-space", "fading": fading}
    flow = {"name": "f", "from": "a", "to": "b", "transport": {"protocol": "udp"}, "application": application}
    duration = 4.0 if frames is None else 60.0
    radio = common | radio | {"propagation": propagation}
    return Scenario(duration=duration, radio=radio, nodes=ends(METRES), flows=[flow])


HEADERS = 24 + 8 + 20 + 8 + 4
"""Bytes of an MPDU around a datagram's payload: MAC, LLC/SNAP, IPv4, UDP, FCS."""


def gain(standard: str) -> float:
    """dB over the length of a link, in free space."""
    return float(_core.log_distance_gains(FREQUENCY[standard], 2.0, 1.0, [METRES])[0])


def noise(standard: str) -> float:
    """dBm: kTB at 290 K and a noise figure of 7 dB."""
    return 10 * math.log10(1.380649e-23 * 290 * BANDWIDTH[standard] * 1e3) + 7.0


def means(axes: Axes, places: Any, samples: Any, **look: Any) -> None:
    """The mean of each place's samples, with Student's 95 % interval."""
    half_widths = [ci95(list(row)) or 0.0 for row in samples]
    axes.errorbar(places, np.mean(samples, axis=1), yerr=half_widths, **look)
