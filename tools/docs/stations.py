"""Figures of stations: timing, access by category, interface queues and cards, each next to what it must agree
with.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np
from channel import drawn, legend
from receivers import means
from traffic import ends, goodput, pair

from hopcast import Scenario, run, theory
from hopcast.figures import COLOURS, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SEEDS = 4

# Goodput of n senders of voice and n of best effort in Mb/s, by voice's TXOP limit: ns-3.37, benches/peers/ns3/edca_cell.cc, means of
# four seeds of 30 s.
NS_3 = {
    "1.504 ms": {1: (35.062, 0.264), 2: (31.799, 1.387), 5: (30.649, 0.151)},
    "one frame": {1: (32.390, 0.983), 2: (23.456, 4.163), 5: (21.115, 0.433)},
}
# The same of hopcast where voice has no TXOP, which no scenario says: of each of four seeds of 30 s,
# cargo test -p hopcast-sim --test edca two_categories -- --nocapture.
ONE_FRAME: dict[int, tuple[list[float], list[float]]] = {
    1: ([32.282, 32.351, 32.402, 32.461], [1.042, 1.005, 0.949, 0.960]),
    2: ([23.525, 23.315, 23.310, 23.528], [4.067, 4.275, 4.260, 4.045]),
    5: ([21.185, 21.072, 21.120, 21.174], [0.426, 0.477, 0.426, 0.429]),
}

# Table 1 of Desilva and Das: Mb/s from a card that sends packets of 1500 B.
MEASURED = {"pcmcia": 1.2, "isa": 1.8}
COPY_OUT = {"pcmcia": (3.46e-3, 1.13e-3), "isa": (0.96e-3, 0.067e-3)}
"""Seconds for 1500 B and 68 B to the card, of the same table."""


def figures() -> dict[str, str]:
    """Every figure: name and text."""
    return {
        "figures/timing-links.svg": drawn(1, timing),
        "figures/edca-ns-3.svg": drawn(2, edca),
        "figures/queues-control.svg": drawn(2, queues),
        "figures/card-bandwidth.svg": drawn(1, cards),
    }


def timing(axes: Axes) -> None:
    """Goodput of a saturated link against the size of a datagram, one fragment."""
    sizes = np.array([50, 150, 300, 500, 750, 1000, 1250, 1472])
    fine = np.arange(20, 1473, 4)
    for index, (standard, rate, rts) in enumerate(
        (
            ("802.11", 2, False),
            ("802.11b", 11, False),
            ("802.11g", 54, False),
            ("802.11a", 54, True),
            ("802.11a", 24, False),
        )
    ):
        radio = {"standard": standard, "data_rate": f"{rate} Mb/s", "rts_threshold": "0 B" if rts else "off"}
        measured = [goodput(pair(radio), {"kind": "bulk", "packet": int(size)}) for size in sizes]
        expected = [
            1e-6 * theory.saturated_link_goodput(standard, rate * 1e6, payload=int(size), rts=rts) for size in fine
        ]
        axes.plot(sizes, measured, "o", color=COLOURS[index], markersize=3.5)
        label = f"{standard}, {rate} Mb/s" + (", RTS" if rts else "")
        axes.plot(fine, expected, color=COLOURS[index], label=label)
    axes.set_yscale("log")
    axes.set_yticks([0.2, 0.5, 1, 2, 5, 10, 20], ["0.2", "0.5", "1", "2", "5", "10", "20"])
    axes.minorticks_off()
    axes.set(xlabel="payload of a datagram, B", ylabel="goodput, Mb/s")
    legend(axes)


def edca(left: Axes, right: Axes) -> None:
    """Shares of two categories in a saturated cell, compared with ns-3."""
    found = {limit: {senders: cell(senders) for senders in NS_3[limit]} for limit in ("1.504 ms",)} | {
        "one frame": ONE_FRAME
    }
    for category, (axes, name) in enumerate(((left, "voice"), (right, "best effort"))):
        for index, (limit, cells) in enumerate(found.items()):
            places = np.arange(len(cells)) + 0.3 * index - 0.2
            means(
                axes,
                places,
                [both[category] for both in cells.values()],
                fmt="os"[index],
                color=COLOURS[index],
                markersize=4,
                label=f"TXOP: {limit}",
            )
            peers = [both[category] for both in NS_3[limit].values()]
            axes.plot(places + 0.1, peers, "D", color=COLOURS[index], markersize=5, markerfacecolor="none")
        axes.plot([], [], "D", color=INK, markersize=5, markerfacecolor="none", label="ns-3.37")
        axes.set_xticks(range(3), [f"{senders} + {senders}" for senders in ONE_FRAME])
        axes.set(xlabel="senders of voice + best effort", ylabel=f"goodput of {name}, Mb/s", xlim=(-0.5, 2.5))
    left.set_ylim(0, 40)
    right.set_yscale("log")
    right.set_yticks([0.1, 0.2, 0.5, 1, 2, 5], ["0.1", "0.2", "0.5", "1", "2", "5"])
    right.minorticks_off()
    legend(left)


def cell(senders: int) -> tuple[list[float], list[float]]:
    """Goodput of voice and of best effort in Mb/s, a run each."""
    count = 2 * senders
    nodes: list[dict[str, Any]] = [{"name": "sink", "placement": {"shape": "points", "at": [[0.0, 0.0]]}}]
    flows = []
    for index in range(count):
        angle = 2 * math.pi * index / count
        at = [[math.cos(angle), math.sin(angle)]]
        nodes.append({"name": f"s{index}", "placement": {"shape": "points", "at": at}})
        flow = {"name": f"f{index}", "from": f"s{index}", "to": "sink", "transport": {"protocol": "udp"}}
        flow |= {"priority": "voice" if index < senders else "best-effort", "start": 731e-6 * index}
        flows.append(flow | {"application": {"kind": "bulk", "packet": "1472 B"}})
    propagation = {"model": "range", "receive": "100 m", "carrier_sense": "200 m"}
    radio = {"standard": "802.11a", "edca": "2012", "propagation": propagation}
    found = run(Scenario(duration=10.0, radio=radio, nodes=nodes, flows=flows), replications=SEEDS).flows
    rates = np.array(found["goodput_bps"]).reshape(SEEDS, count) * 1e-6
    return list(rates[:, :senders].sum(axis=1)), list(rates[:, senders:].sum(axis=1))


def queues(left: Axes, right: Axes) -> None:
    """CoDel's drops compared with its control law, and FQ-CoDel's shares of each flow compared with fair shares."""
    control_law(left)
    fair_shares(right)


OFFERED, LINK = 12e6, {"standard": "802.11b", "basic_rate": "2 Mb/s"}
"""Bit/s into a link of 11 Mb/s, which carries half of it: what waits is above CoDel's target all the time."""


def control_law(axes: Axes) -> None:
    """Packets dropped by an instant: each run ends at another one, and all of them begin alike."""
    times = np.array([0.12, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0])
    served = 8 * 1472 / theory.saturated_link_cycle("802.11b", 11e6, 2e6, payload=1472)
    for index, interval in enumerate((0.05, 0.1, 0.2)):
        dropped = [drops(interval, float(time)) for time in times]
        axes.plot(times, dropped, "o", color=COLOURS[index], markersize=3.5)
        # The first one so long after what waits has come up to the target, 5 ms.
        first = 5e-3 / (OFFERED / served - 1) + interval
        law = list(
            itertools.takewhile(lambda at: at <= times[-1], itertools.accumulate(law_steps(interval), initial=first))
        )
        axes.step(
            law, np.arange(1, len(law) + 1), where="post", color=COLOURS[index], label=f"interval {1e3 * interval:g} ms"
        )
    axes.set(xlabel="time, s", ylabel="packets dropped", ylim=(0, None))
    legend(axes)


def law_steps(interval: float) -> Any:
    """Seconds from each drop to the next one: RFC 8289, section 3.2."""
    return (interval / math.sqrt(count) for count in itertools.count(1))


def drops(interval: float, duration: float) -> int:
    """Packets that CoDel has dropped by an instant."""
    network = pair(LINK | {"queue": {"packets": 10_000, "discipline": "codel", "interval": interval}})
    for node in network["nodes"]:
        node["socket_buffer"] = "1 GiB"
    application = {"kind": "cbr", "rate": OFFERED, "packet": "1472 B"}
    flow = {"name": "f", "from": "a", "to": "b", "transport": {"protocol": "udp"}, "application": application}
    node = run(Scenario(duration=duration, **network, flows=[flow])).json()["nodes"][0]
    return int(node["drops"]["queue_management"])


def fair_shares(axes: Axes) -> None:
    """Goodput of each of eight flows that offer more and more, compared with max-min fair shares."""
    rates = np.array([0.1, 0.2, 0.4, 0.8, 1.2, 2.4, 4.8, 9.6])
    carried = 8e-6 * 1472 / theory.saturated_link_cycle("802.11b", 11e6, 2e6, payload=1472)
    axes.plot(rates, np.minimum(rates, fair(rates, carried)), color=COLOURS[0], label="max-min fair")
    for index, discipline in enumerate(("fq-codel", "drop-tail")):
        network = pair(LINK | {"queue": {"packets": 400, "discipline": discipline}})
        for node in network["nodes"]:
            node["socket_buffer"] = "1 GiB"
        flows = []
        for flow, rate in enumerate(rates):
            application = {"kind": "cbr", "rate": rate * 1e6, "packet": "1472 B", "jitter": 8 * 1472e-6 / rate}
            flows.append({"name": f"f{flow}", "from": "a", "to": "b", "transport": {"protocol": "udp"}})
            flows[-1]["application"] = application
        found = run(Scenario(duration=10.0, **network, flows=flows), replications=SEEDS).flows
        shares = np.array(found["goodput_bps"]).reshape(SEEDS, len(rates)).T * 1e-6
        look: dict[str, Any] = {"fmt": ("o", "s:")[index], "color": COLOURS[index], "linewidth": 0.8, "markersize": 4}
        label = ("FQ-CoDel", "drop-tail")[index]
        means(axes, rates, shares, label=label, **look)
    axes.set_xscale("log")
    axes.set_yscale("log")
    ticks = [0.1, 0.2, 0.5, 1, 2, 5, 10]
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_ticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set(xlabel="offered by a flow, Mb/s", ylabel="goodput of the flow, Mb/s", ylim=(0.02, 5))
    legend(axes)


def fair(rates: Any, carried: float) -> float:
    """The most that a flow gets where all of them together get so much (D. Bertsekas, R. Gallager, Data Networks, section 6.5.2)."""
    left = carried
    for index, rate in enumerate(rates):
        share = left / (len(rates) - index)
        if rate > share:
            return float(share)
        left -= rate
    return float(rates[-1])


def cards(axes: Axes) -> None:
    """Bandwidth of the cards of a testbed against the size of a packet, compared with measurements."""
    sizes = np.array([100, 200, 400, 600, 800, 1000, 1250, 1500])
    fine = np.arange(60, 1501, 10)
    for index, model in enumerate(("pcmcia", "isa")):
        measured = [through(model, int(size)) for size in sizes]
        axes.plot(sizes, measured, "o", color=COLOURS[index], markersize=3.5)
        long, small = COPY_OUT[model]
        copy, air = small + (long - small) * (fine - 68) / (1500 - 68), 300e-6 + 4e-6 * fine
        waits = 50e-6 + 20e-6 * np.arange(32)
        if model == "pcmcia":
            # One buffer is filled and emptied in turn; the backoff after a frame goes on while the next one is copied.
            cycle = np.maximum.outer(waits, copy).mean(axis=0) + air
        else:
            cycle = np.maximum(copy, air + waits.mean())
        axes.plot(fine, 8e-6 * fine / cycle, color=COLOURS[index], label=f"{model.upper()}")
        axes.plot(1500, MEASURED[model], "D", color=COLOURS[index], markersize=6, markerfacecolor="none")
    axes.plot([], [], "D", color=INK, markersize=6, markerfacecolor="none", label="measured by Desilva and Das")
    axes.set(xlabel="packet, B", ylabel="bandwidth, Mb/s of IP packets", ylim=(0, 2))
    legend(axes)


def through(model: str, packet: int) -> float:
    """Mb/s of IP packets of this size from a card to one like it, offered more than it sends."""
    network = {"radio": {"profile": "wavelan"}, "nodes": ends(5.0, card={"model": model})}
    return goodput(network, {"kind": "bulk", "packet": packet - 28}, None, 10.0) * packet / (packet - 28)
