"""N2: congestion controls of media in the scenes of papers M and W, on the papers' radios and on 802.11ax.

What is compared, for each control, scene and radio: the payload that arrives, the time for which displays stand still, the 99th percentile
of the delay, and how even the rates of two streams are. The study judges nothing, and nothing of it counts towards the papers' tally.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hopcast.lab.experiment import Amount, Case, Cells, Document, Experiment, Measured, Parameter, Table
from hopcast.lab.rows import Row, value
from hopcast.numbers import significant
from hopcast.scenario import Scenario
from hopcast_papers import adtfrc, wireless_house
from hopcast_papers.h2o.places import number
from hopcast_papers.media_suite import CONTROLS, jain, media
from hopcast_papers.modern_radios import AX
from hopcast_papers.ns2 import MIN_RTO

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TCP = "tcp"
PROTOCOLS = (*CONTROLS, TCP)
TCP_RATE = 500e3
"""b/s of the film over TCP, which has no target rate that an encoder could follow."""
STREAMS = ("stream 1", "stream 2")
SPEED = 10.0
"""m/s: the paper's middle speed."""
HOUSE = wireless_house.REGULARS[50]
PAPERS, MODERN = "the paper's radio", "802.11ax"
RADIOS = (PAPERS, MODERN)
AD_HOC: Mapping[str, Any] = {
    **AX,
    "data_rate": "mcs 9",
    "propagation": {"model": "range", "receive": "250 m", "carrier_sense": "550 m"},
}
"""With the distances of profile ns-2, as N1 has them on paper P's string."""


@dataclass(frozen=True)
class Scene:
    """A paper's scene with two streams."""

    name: str
    make: Callable[[str, str, Amount], Scenario]
    """Of a protocol and a radio."""


def stream(name: str, ends: tuple[str, str], protocol: str, **more: Any) -> Any:
    """A stream of media under one of the controls, or a film of a constant rate over TCP."""
    if protocol != TCP:
        return {**media(name, ends, protocol), **more}
    return {
        "name": name,
        "from": ends[0],
        "to": ends[1],
        "transport": {"protocol": "tcp", "variant": "newreno", "segment": adtfrc.PACKET, "min_rto": MIN_RTO},
        "application": {"kind": "cbr", "rate": TCP_RATE, "packet": adtfrc.PACKET},
        "player": {"jitter_buffer": {"kind": "adaptive"}},
        **more,
    }


def ad_hoc(errors: float, protocol: str, radio: str, amount: Amount) -> Scenario:
    """Paper M's thirty nodes, of which the ends of two streams rest on the short edges, as in M5."""
    flows = [stream(name, (f"source{n}", f"sink{n}"), protocol) for n, name in enumerate(STREAMS)]
    made = adtfrc.scene("", SPEED, flows, errors=errors, ends=2).set("duration", amount.pick(quick=40.0, full=300.0))
    if radio == MODERN:
        kept = {"errors": {"model": "packet", "rate": errors, "level": "network"}}
        made = made.set("radio", {**AD_HOC, **kept})
    return made


def house(protocol: str, radio: str, amount: Amount) -> Scenario:
    """Paper W's house: two streams in place of movie and chat, the game, and the download throughout."""
    streams = [stream(STREAMS[0], ("w2", "sta0"), protocol), stream(STREAMS[1], ("w2", "sta2"), protocol)]
    newreno = {
        "protocol": "tcp",
        "variant": "newreno",
        "segment": wireless_house.SEGMENT,
        "window": wireless_house.WINDOW,
    }
    server = {"kind": "game", "direction": "server"}
    game = {"name": "game", "from": "w1", "to": "sta1", "transport": {"protocol": "udp"}, "application": server}
    download = {"name": "download", "from": "w3", "to": "sta3", "transport": newreno, "application": {"kind": "bulk"}}
    made = wireless_house.scenario(10, 4, 50).set("flows", [*streams, game, download])
    made = made.set("duration", amount.pick(quick=20.0, full=180.0))
    if radio == MODERN:
        propagation = {"model": "log-distance", "exponent": 4.0, "shadowing": "9 dB", "shadowing_per": "link"}
        made = made.set("radio", {**AX, "data_rate": "minstrel-ht", "propagation": propagation})
    return made


SCENES = (
    Scene("M, moving nodes", functools.partial(ad_hoc, 0.0)),
    Scene("M, moving nodes, 5 % errors", functools.partial(ad_hoc, 0.05)),
    Scene("W, a house", house),
)


def _case(scene: Scene, radio: str, protocol: str) -> str:
    return f"{scene.name}, {radio}, {protocol}"


def _seeds(amount: Amount) -> tuple[int, ...]:
    return tuple(range(1, amount.pick(quick=3, full=20) + 1))


def _cases(amount: Amount) -> Mapping[str, Case]:
    return {
        _case(scene, radio, protocol): Case(scene.make(protocol, radio, amount), _seeds(amount))
        for scene in SCENES
        for radio in RADIOS
        for protocol in PROTOCOLS
    }


# --- Rows ------------------------------------------------------------------------------------------------------------


def _of_streams(document: Document) -> list[Document]:
    return [flow for flow in document["flows"] if flow["name"] in STREAMS]


def _rate(document: Document) -> float:
    """Mb/s of payload of a stream, the mean of both."""
    return 1e-6 * math.fsum(flow["goodput_bps"] or 0.0 for flow in _of_streams(document)) / len(STREAMS)


def _stalled(document: Document) -> float:
    """Per cent of the time for which displays stood still; all of it without a picture."""
    shares = []
    for flow in _of_streams(document):
        shown = (flow["played_s"] or 0.0) + (flow["hiccup_time_s"] or 0.0)
        shares.append((flow["hiccup_time_s"] or 0.0) / shown if shown else 1.0)
    return 100.0 * math.fsum(shares) / len(shares)


def _delay(document: Document) -> float:
    """99th percentile in ms, the mean of the streams that have one."""
    known = [flow["delay_p99_s"] for flow in _of_streams(document) if flow["delay_p99_s"] is not None]
    return 1e3 * math.fsum(known) / len(known) if known else math.nan


def _even(document: Document) -> float:
    """Jain's index of the two rates."""
    return jain(flow["goodput_bps"] or 0.0 for flow in _of_streams(document))


METRICS: Mapping[str, tuple[str, Callable[[Document], float]]] = {
    "rate of a stream": ("Mb/s", _rate),
    "time stalled": ("%", _stalled),
    "delay, 99 %": ("ms", _delay),
    "Jain's index": ("", _even),
}


def _rows(measured: Measured) -> list[Row]:
    rows = []
    for case in measured.documents:
        for metric, (unit, found) in METRICS.items():
            rows.append(value("N2", case, metric, unit, measured.sample(case, found)))
        if case.startswith("W"):
            download = measured.flow(case, "download", "goodput_bps")
            rows.append(value("N2", case, "download", "Mb/s", download.of(lambda rate: 1e-6 * rate, download)))
            game = measured.flow(case, "game", "delay_p99_s")
            rows.append(value("N2", case, "game, delay, 99 %", "ms", game.of(lambda delay: 1e3 * delay, game)))
    return rows


def _tables(table: Table) -> list[Cells]:
    def cell(scene: Scene, radio: str, protocol: str) -> str:
        case = _case(scene, radio, protocol)
        rate, stalled, delay, index = (number(table, case, metric) for metric in METRICS)
        late = "–" if math.isnan(delay) else f"{delay:.0f}"
        even = "–" if math.isnan(index) else f"{index:.2f}"
        return f"{significant(rate, 2)}, {stalled:.1f}, {late}, {even}"

    lines = [
        [f"{scene.name}, {radio}", *(cell(scene, radio, protocol) for protocol in PROTOCOLS)]
        for scene in SCENES
        for radio in RADIOS
    ]
    title = "Rate of a stream in Mb/s, time stalled in %, 99th percentile of the delay in ms, Jain's index"
    return [Cells(title, ["scene", *PROTOCOLS], lines)]


def _figures(table: Table) -> list[tuple[str, Figure]]:
    return [("Rate of a stream against the time for which its display stands still", panels(table))]


def panels(table: Table) -> Figure:
    """Rate against time stalled: a panel for each scene and radio."""
    from matplotlib.figure import Figure

    from hopcast.figures import COLOURS, MARKERS

    figure = Figure(figsize=(9.6, 5.6), layout="constrained")
    axes = figure.subplots(len(RADIOS), len(SCENES), squeeze=False)
    for line, radio in zip(axes, RADIOS, strict=True):
        for one, scene in zip(line, SCENES, strict=True):
            for place, protocol in enumerate(PROTOCOLS):
                case = _case(scene, radio, protocol)
                rate, stalled = table[case, "rate of a stream"], table[case, "time stalled"]
                one.errorbar(
                    number(table, case, "time stalled"),
                    number(table, case, "rate of a stream"),
                    xerr=stalled.ci95,
                    yerr=rate.ci95,
                    color=COLOURS[place % len(COLOURS)],
                    marker=MARKERS[place % len(MARKERS)],
                    linestyle="none",
                    elinewidth=0.8,
                    label=protocol,
                )
            one.set_title(f"{scene.name},\n{radio}", loc="left", fontsize="medium")
            one.set_xlim(left=0.0)
            one.set_ylim(0.0, 1.6)
            one.set_xlabel("time stalled, %")
            one.grid(alpha=0.3)
        line[0].set_ylabel("rate, Mb/s")
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(PROTOCOLS), frameon=False)
    return figure


def _setup(amount: Amount) -> list[Parameter]:
    return [
        Parameter("ad hoc", f"paper M's scene at {SPEED:g} m/s, two streams from edge to edge (M5)", "docs/studies.md, M"),
        Parameter("house", f"paper W's, {HOUSE}; two streams, the game and the download throughout", "docs/studies.md, W"),
        Parameter("streams", "RTP, encoder of 150 kb/s to 1.5 Mb/s, an adaptive jitter buffer", "as in V; RFC 8593"),
        Parameter("TCP", f"NewReno, a film of {TCP_RATE / 1e3:g} kb/s, likewise", "ours: TCP has no target rate for an encoder"),
        Parameter("802.11ax", "5 GHz, 80 MHz, two streams; M: MCS 9, 250 m; W: Minstrel-HT, shadowing by link", "as in N1; shadowing by frame would change the rate within a burst"),
        Parameter("run", f"M {amount.pick(quick=40, full=300)} s, W {amount.pick(quick=20, full=180)} s", "the papers' in the full form"),
        Parameter("seeds", str(len(_seeds(amount))), "ours"),
    ]  # fmt: skip


def _best(table: Table, scene: Scene, radio: str) -> str:
    """The control with the highest rate among those that stall for at most a percent more than the least."""
    stalled = {protocol: number(table, _case(scene, radio, protocol), "time stalled") for protocol in CONTROLS}
    least = min(stalled.values())
    near = [protocol for protocol in CONTROLS if stalled[protocol] <= least + 1.0]
    return max(near, key=lambda protocol: number(table, _case(scene, radio, protocol), "rate of a stream"))


def _notes(table: Table) -> Sequence[str]:
    best = " ".join(f"{scene.name}, {radio}: {_best(table, scene, radio)}." for scene in SCENES for radio in RADIOS)
    return [
        "Nothing here is judged or counted. TCP carries a constant film, so that its rate is at most that of the film.",
        f"Highest rate among the controls that stall for at most one percentage point more than the least. {best}",
    ]


EXPERIMENTS = (
    Experiment(
        "N2",
        "Congestion controls of media in the scenes of papers M and W",
        "Five congestion controls of media, and TCP, over paper M's mobile network and in paper W's house, on the papers' radios and on 802.11ax.",
        _setup,
        _cases,
        _rows,
        _figures,
        _notes,
        tables=_tables,
    ),
)
