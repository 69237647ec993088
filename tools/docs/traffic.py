"""Figures of applications, wires and infrastructure: simulated links compared with the closed forms that they must
agree with.
"""

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from channel import OFDM, drawn, legend

from hopcast import Scenario, run, theory
from hopcast.figures import COLOURS, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BASIC = 2e6
"""Bit/s: what stations of 802.11b understand."""


def figures() -> dict[str, str]:
    """Every figure: name and text."""
    return {
        "figures/applications-units.svg": drawn(1, units),
        "figures/wired-window.svg": drawn(1, window),
        "figures/infrastructure-protection.svg": drawn(1, protection),
        "figures/infrastructure-roaming.svg": drawn(1, roaming),
        "figures/fec-residual.svg": drawn(1, residual),
    }


def units(axes: Axes) -> None:
    """What a program sends that waits after each unit: the wait's rate, up to the link's."""
    for index, size in enumerate((400, 1000, 1472)):
        cycle = theory.saturated_link_cycle("802.11b", 11e6, 2e6, payload=size)
        waits = np.geomspace(0.3e-3, 20e-3, 13)
        application = {"kind": "adu", "size": f"{size} B"}
        radio = {"standard": "802.11b", "basic_rate": "2 Mb/s"}
        measured = [goodput(pair(radio), application | {"wait": float(wait)}) for wait in waits]
        fine = np.geomspace(waits[0], waits[-1], 300)
        axes.plot(1e3 * waits, measured, "o", color=COLOURS[index], markersize=3.5)
        axes.plot(1e3 * fine, 8e-6 * size / np.maximum(fine, cycle), color=COLOURS[index], label=f"{size} B")
    axes.set_xscale("log")
    axes.set_xticks([0.5, 1, 2, 5, 10, 20], ["0.5", "1", "2", "5", "10", "20"])
    axes.minorticks_off()
    axes.set(xlabel="wait after each unit, ms", ylabel="goodput, Mb/s", ylim=(0, None))
    legend(axes)


def window(axes: Axes) -> None:
    """TCP with a window over a wire: a window in each round-trip time, up to the rate of the wire."""
    delays = np.geomspace(0.2e-3, 100e-3, 13)
    for index, segments in enumerate((4, 16, 64)):

        def wire(delay: float) -> dict[str, Any]:
            nodes = [{"name": "a", "role": "wired"}, {"name": "b", "role": "wired"}]
            link = {"between": ["a", "b"], "rate": "10 Mb/s", "delay": float(delay), "queue": {"packets": 100}}
            return {"radio": {}, "nodes": nodes, "links": [link]}

        transport = {"protocol": "tcp", "segment": "1460 B", "window": segments, "delayed_ack": "off"}
        measured = [goodput(wire(delay), {"kind": "bulk"}, transport, 20.0) for delay in delays]
        fine = np.geomspace(delays[0], delays[-1], 300)
        # Headers of 40 octets; an acknowledgement is nothing but those.
        round_trip = 2 * fine + 8 * (1500 + 40) / 10e6
        axes.plot(1e3 * delays, measured, "o", color=COLOURS[index], markersize=3.5)
        rate = np.minimum(8e-6 * 1460 * segments / round_trip, 10 * 1460 / 1500)
        axes.plot(1e3 * fine, rate, color=COLOURS[index], label=f"{segments} segments")
    axes.set_xscale("log")
    axes.set_xticks([0.2, 1, 5, 20, 100], ["0.2", "1", "5", "20", "100"])
    axes.minorticks_off()
    axes.set(xlabel="delay of the wire, ms", ylabel="goodput, Mb/s", ylim=(0, None))
    legend(axes)


def protection(axes: Axes) -> None:
    """What protecting OFDM from stations of 802.11b costs a saturated link."""
    for index, kind in enumerate(("none", "cts-to-self", "rts-cts")):
        measured, expected = [], []
        for rate in OFDM:
            radio = {"standard": "802.11g", "data_rate": f"{rate} Mb/s", "basic_rate": "2 Mb/s", "protection": kind}
            measured.append(goodput(pair(radio), {"kind": "bulk", "packet": "1472 B"}))
            expected.append(8 * 1472 / protected_cycle(kind, rate * 1e6))
        axes.plot(OFDM, measured, "o", color=COLOURS[index], markersize=3.5)
        axes.plot(OFDM, np.array(expected) * 1e-6, color=COLOURS[index], label=kind)
    axes.set(xlabel="data rate, Mb/s", ylabel="goodput, Mb/s", xticks=OFDM, ylim=(0, None))
    legend(axes)


def residual(axes: Axes) -> None:
    """What is left of a loss by FEC: a packet is lost for good if fewer than k of the n - 1 others of its block arrive."""
    losses = np.array([0.01, 0.02, 0.05, 0.1, 0.2, 0.3])
    fine = np.geomspace(losses[0], losses[-1], 100)
    nodes = [{"name": "a", "role": "wired"}, {"name": "b", "role": "wired"}]
    flow = {"name": "f", "from": "a", "to": "b", "transport": {"protocol": "udp"}}
    flow |= {"application": {"kind": "cbr", "rate": "64 kb/s", "packet": "160 B"}}
    for index, (source, repair) in enumerate(((8, 1), (8, 2), (8, 4), (20, 10))):
        measured = []
        for loss in losses:
            link = {"between": ["a", "b"], "rate": "1 Mb/s", "delay": "10 ms", "loss": float(loss)}
            fec = {"source": source, "repair": repair, "block_timeout": "10 s"}
            scenario = Scenario(duration=2000.0, radio={}, nodes=nodes, links=[link], flows=[flow | {"fec": fec}])
            measured.append(float(run(scenario).flows["loss_ratio"][0]))
        others = source + repair - 1
        few = sum(
            math.comb(others, arrived) * (1 - fine) ** arrived * fine ** (others - arrived) for arrived in range(source)
        )
        overhead = (repair * (160 + 9) + source * 6) / (source * 160)
        label = f"{source} + {repair}, {100 * overhead:.0f} % more"
        axes.plot(100 * losses, np.maximum(measured, 1e-9), "o", color=COLOURS[index], markersize=3.5)
        axes.plot(100 * fine, fine * few, color=COLOURS[index], label=label)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks([1, 2, 5, 10, 20, 30], ["1", "2", "5", "10", "20", "30"])
    axes.minorticks_off()
    axes.set(xlabel="packets that the wire loses, %", ylabel="packets lost for good", ylim=(1e-5, 1))
    legend(axes)


def protected_cycle(kind: str, rate: float) -> float:
    """Seconds from one datagram of 1472 B to the next: IEEE 802.11-2020, 10.3.2.13, with the long slot where anything protects."""
    slot = 9e-6 if kind == "none" else 20e-6
    sifs, window = 10e-6, 15
    answer = max(basic for basic in (6e6, 12e6, 24e6) if basic <= rate)
    cycle = sifs + 2 * slot + slot * window / 2
    cycle += theory.airtime("802.11g", rate, 1536) + sifs + theory.airtime("802.11g", answer, 14)
    if kind != "none":
        cycle += theory.airtime("802.11g", BASIC, 14) + sifs
    if kind == "rts-cts":
        cycle += theory.airtime("802.11g", BASIC, 20) + sifs
    return cycle


def pair(radio: dict[str, Any]) -> dict[str, Any]:
    """Two nodes that hear each other without a loss."""
    propagation = {"model": "range", "receive": "100 m", "carrier_sense": "200 m"}
    return {"radio": radio | {"propagation": propagation}, "nodes": ends(1.0)}


def ends(metres: float, **keys: Any) -> list[dict[str, Any]]:
    """Two nodes, a and b, so far apart, both with these keys."""
    return [
        {"name": name, "placement": {"shape": "points", "at": [[x, 0.0]]}} | keys
        for name, x in (("a", 0.0), ("b", metres))
    ]


def goodput(
    network: dict[str, Any], application: dict[str, Any], transport: dict[str, Any] | None = None, duration: float = 5.0
) -> float:
    """Mb/s of one flow from a to b."""
    flow = {"name": "f", "from": "a", "to": "b", "transport": transport or {"protocol": "udp"}}
    result = run(Scenario(duration=duration, **network, flows=[flow | {"application": application}]))
    return float(result.flows["goodput_bps"][0]) * 1e-6


BEACON = 102.4e-3
"""Seconds between beacons."""
SCAN = {"active": 30.303e-3, "passive": 1.1 * BEACON}
"""Seconds of listening (docs/models/infrastructure.md)."""
EVERY = 2e-3
"""Seconds between packets whose losses measure the time without data."""


def roaming(axes: Axes) -> None:
    """How long a station that walks from one access point to the next is without data, over 60 runs."""
    for index, kind in enumerate(SCAN):
        gaps = np.sort(without_data(kind))
        axes.step(
            1e3 * gaps,
            np.arange(1, len(gaps) + 1) / len(gaps),
            where="post",
            color=COLOURS[index],
            label=f"{kind} scan",
        )
        # The last beacon that was heard came up to an interval before the station was out of reach.
        shortest = 6 * BEACON + SCAN[kind]
        axes.plot(1e3 * np.array([shortest, shortest + BEACON]), [0, 1], ":", color=COLOURS[index])
    axes.plot([], [], ":", color=INK, label="seven intervals from the last beacon, and the scan")
    axes.set(xlabel="without data, ms", ylabel="share of runs with less", ylim=(0, 1))
    legend(axes)


def without_data(kind: str) -> list[float]:
    """Seconds, a run each: a station goes from 10 m to 190 m at 20 m/s, and access points at 0 and 200 m reach it up to 120 m."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "walk.movements"
        file.write_text("0 10 0 9 190 0\n", encoding="utf-8")
        propagation = {"model": "range", "receive": "120 m", "carrier_sense": "400 m"}
        access_points = [
            {"name": name, "role": "access-point", "placement": {"shape": "points", "at": [[place, 0.0]]}}
            for name, place in (("near", 0.0), ("far", 200.0))
        ]
        walker = {"name": "walker", "role": "station", "mobility": {"model": "trace", "file": str(file)}}
        links = [{"between": ["host", name], "rate": "100 Mb/s"} for name in ("near", "far")]
        application = {"kind": "cbr", "rate": 8 * 40 / EVERY, "packet": "40 B"}
        flow = {"name": "f", "from": "host", "to": "walker", "start": "3 s", "transport": {"protocol": "udp"}}
        scenario = Scenario(
            duration=8.0,
            radio={"standard": "802.11b", "association": kind, "propagation": propagation},
            nodes=[*access_points, walker, {"name": "host", "role": "wired"}],
            links=links,
            flows=[flow | {"application": application}],
        )
        return [EVERY * lost for lost in run(scenario, replications=60).flows["lost_packets"]]
