"""Q1 to Q3: queues of an access point with near and far stations, compared with what was published for Linux.

The lines of each experiment stand in `LINES`. Nothing here counts towards the tally of the papers.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hopcast.lab.experiment import Amount, Case, Cells, Document, Experiment, Measured, Parameter, Table
from hopcast.lab.rows import Row, Sample, value, word_by_line
from hopcast.numbers import significant, with_interval
from hopcast.results import Result
from hopcast.scenario import Scenario
from hopcast_papers.h2o.places import number
from hopcast_papers.media_suite import jain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAPER = "T. Høiland-Jørgensen et al., Ending the Anomaly, USENIX ATC 2017"
COMMIT = "Linux, commit 63fefa050477, ath9k: Introduce airtime fairness scheduling between stations"

ABOVE: Mapping[str, Mapping[str, Any]] = {
    "FIFO": {"discipline": "drop-tail", "packets": 1000},
    "FQ-CoDel": {"discipline": "fq-codel", "packets": 10_240},
}
"""Queues above the MAC."""
DRIVER: Mapping[str, Any] = {"driver_packets": 123}
"""What ath9k held behind them for each access category (ATH_MAX_QDEPTH)."""
QUEUES: Mapping[str, Mapping[str, Any]] = {
    **{name: {**queue, **DRIVER} for name, queue in ABOVE.items()},
    "FQ-MAC": {"discipline": "mac80211", "airtime_fairness": False, "airtime_limit": False},
    "airtime": {"discipline": "mac80211", "airtime_limit": False},
    "AQL": {"discipline": "mac80211"},
}
"""The queues of the access point, by the paper's names; AQL came later."""
BARE: Mapping[str, Mapping[str, Any]] = {f"{name}, no driver": queue for name, queue in ABOVE.items()}
"""Without a driver's queue. These cases have no lines."""
FAIR = ("airtime", "AQL")
THREE = ("fast0", "fast1", "slow")
NEAR, FAR = 3.0, 30.0
"""Metres. By `ideal` and with the noise below, both streams carry 144.4 Mb/s at 3 m; one stream carries 7.2 Mb/s at 30 m."""
PAYLOAD = 1472
RADIO: Mapping[str, Any] = {
    "standard": "802.11n",
    "band": "5 GHz",
    "channel": {"number": 36, "width": "20 MHz"},
    "spatial_streams": 2,
    "guard_interval": "0.4 us",
    "data_rate": "ideal",
    "noise_figure": "25 dB",
    "preamble_detection": "-6 dB",
    "propagation": {"model": "log-distance", "exponent": 3.0},
}
WIRE: Any = {"between": ["server", "ap"], "rate": "1 Gb/s", "delay": "0.5 ms", "queue": {"packets": 10_000}}


# --- Scenarios -------------------------------------------------------------------------------------------------------


def station(name: str, at: tuple[float, float], **radio: Any) -> Any:
    """A station at a place in metres."""
    placement = {"shape": "points", "at": [[f"{x:g} m", f"{y:g} m"] for x, y in [at]]}
    return {"name": name, "role": "station", "placement": placement, "radios": [radio]}


def cell(duration: float, queue: str, stations: Sequence[Any], flows: Sequence[Any], **radio: Any) -> Scenario:
    """An access point with these stations, and a server behind it."""
    access_point = {"name": "ap", "role": "access-point", "placement": {"shape": "points", "at": [["0 m", "0 m"]]}}
    # The receive buffers of Linux grow to 6 MB (net.ipv4.tcp_rmem).
    nodes = [{"name": "server", "role": "wired"}, access_point, *stations]
    nodes = [{**node, "socket_buffer": "6 MB"} for node in nodes]
    known: Any = {**RADIO, **radio, "queue": {**QUEUES, **BARE}[queue]}
    return Scenario(duration=duration, radio=known, nodes=nodes, links=[WIRE], flows=list(flows))


def of_three() -> list[Any]:
    """Two near stations, and a far one with a single stream."""
    return [
        station("fast0", (NEAR, 0.0)),
        station("fast1", (0.0, NEAR)),
        station("slow", (FAR, 0.0), spatial_streams=1),
    ]


def udp(to: str) -> Any:
    """More than the air carries; packets come at uneven times, so that none of the flows always finds the queue full."""
    application = {"kind": "cbr", "rate": "120 Mb/s", "packet": PAYLOAD, "jitter": "98 us"}
    return {"name": to, "from": "server", "to": to, "transport": {"protocol": "udp"}, "application": application}


def download(to: str) -> Any:
    """An endless download by CUBIC, as Linux has it."""
    transport = {"protocol": "tcp", "variant": "cubic", "segment": 1448, "timestamps": True, "min_rto": "0.2 s"}
    return {"name": to, "from": "server", "to": to, "transport": transport, "application": {"kind": "bulk"}}


def upload(source: str) -> Any:
    """The same from a station."""
    return {**download(source), "name": f"{source} up", "from": source, "to": "server"}


def ping(to: str) -> Any:
    """Ten packets of 64 bytes a second, one in each interval of the series."""
    application = {"kind": "cbr", "rate": 8 * 64 * 10, "packet": 64, "jitter": "20 ms"}
    return {
        "name": f"ping {to}",
        "from": "server",
        "to": to,
        "start": "2 s",
        "transport": {"protocol": "udp"},
        "application": application,
    }


def voice(to: str) -> Any:
    """A call of 64 kb/s."""
    return {
        "name": "voice",
        "from": "server",
        "to": to,
        "start": "2 s",
        "transport": {"protocol": "udp"},
        "application": {"kind": "audio"},
    }


def observe(result: Result) -> Document:
    """Delays of the pings in s, a packet in each interval."""
    found: dict[str, list[float]] = {}
    columns = (result.series[name].to_list() for name in ("flow", "packets", "delay_s"))
    for flow, packets, delay in zip(*columns, strict=True):
        if flow is not None and flow.startswith("ping") and packets:
            found.setdefault(flow, []).append(delay)
    return {"pings": found}


BEFORE_AND_AFTER = ("FQ-MAC", "airtime")
"""Of the commit."""
SMALL, ALONE, UPLOADS, SINGLE = "aggregates of 7.8 kB", "downloads alone", "uploads too", "single frames"
"""Cases without lines, which were added after the first run to find causes of misses."""


def _seeds(amount: Amount) -> tuple[int, ...]:
    return tuple(range(1, amount.pick(quick=4, full=30) + 1))


def _udp_cases(amount: Amount) -> Mapping[str, Case]:
    flows = [udp(name) for name in THREE]
    duration = amount.pick(quick=4.0, full=30.0)
    cases = {queue: Case(cell(duration, queue, of_three(), flows), _seeds(amount)) for queue in (*QUEUES, *BARE)}
    small = {"aggregation": {"ampdu": "7833 B"}}
    return cases | {f"FIFO, {SMALL}": Case(cell(duration, "FIFO", of_three(), flows, **small), _seeds(amount))}


def _tcp_cases(amount: Amount) -> Mapping[str, Case]:
    flows = [*(download(name) for name in THREE), ping("fast0"), ping("slow"), voice("slow")]
    duration = amount.pick(quick=12.0, full=30.0)
    queues = (*QUEUES, *BARE)
    cases = {queue: Case(cell(duration, queue, of_three(), flows), _seeds(amount), observe) for queue in queues}
    alone = flows[: len(THREE)]
    for queue in BEFORE_AND_AFTER:
        for others, of in ((ALONE, alone), (UPLOADS, [*alone, *(upload(name) for name in THREE)])):
            cases[f"{queue}, {others}"] = Case(cell(duration, queue, of_three(), of), _seeds(amount))
    return cases


MANY = 29
"""Fast stations of Q3."""
BAND: Mapping[str, Any] = {"band": "2.4 GHz", "channel": {"number": 1, "width": "20 MHz"}}


def _many_cases(amount: Amount) -> Mapping[str, Case]:
    angles = [2.0 * math.pi * index / MANY for index in range(MANY)]
    stations = [station(f"fast{index}", (NEAR * math.cos(a), NEAR * math.sin(a))) for index, a in enumerate(angles)]
    stations.append(station("slow", (1.0, 1.0), standard="802.11b", data_rate="1 Mb/s"))
    flows = [download(node["name"]) for node in stations]
    duration = amount.pick(quick=12.0, full=60.0)
    seeds = _seeds(amount)[: amount.pick(quick=3, full=10)]
    cases = {
        queue: Case(cell(duration, queue, stations, flows, **BAND), seeds) for queue in ("FIFO", *BEFORE_AND_AFTER)
    }
    single = {**BAND, "aggregation": {"ampdu": "off", "block_ack": "off"}}
    for queue in BEFORE_AND_AFTER:
        cases[f"{queue}, {SINGLE}"] = Case(cell(duration, queue, stations, flows, **single), seeds)
    return cases


# --- The model of the paper, section 2.2.1 -----------------------------------------------------------------------------

SIFS, SLOT = 16e-6, 9e-6
AIFS = SIFS + 3 * SLOT
WAIT = AIFS + 7.5 * SLOT
"""AIFS of best effort and the mean backoff."""
MPDU = PAYLOAD + 8 + 20 + 8 + 26 + 4
"""UDP, IP, LLC/SNAP, the MAC header with QoS, and the FCS."""


@dataclass(frozen=True)
class Link:
    """How frames to a station are sent (802.11n, 20 MHz, guard interval of 0.4 µs)."""

    streams: int
    data_bits: int
    """Of a symbol (IEEE 802.11-2020, tables 19-27 and 19-28)."""
    response: float
    """Mb/s of the block acknowledgment."""

    def time(self, count: float) -> float:
        """Seconds of an aggregate on the air with its answer and the wait for access; `count` may be a mean."""
        octets = count * (4 + MPDU + -MPDU % 4)
        symbols = (16 + 8 * octets + 6) / self.data_bits
        return (32 + 4 * self.streams) * 1e-6 + math.ceil(symbols) * 3.6e-6 + SIFS + self.answer() + WAIT

    def answer(self) -> float:
        """Seconds of a compressed block acknowledgment, of 32 bytes."""
        return 20e-6 + 4e-6 * math.ceil((16 + 8 * 32 + 6) / (4 * self.response))

    def rate(self, count: float) -> float:
        """Payload in b/s if all of the time were this station's."""
        return 8 * PAYLOAD * count / self.time(count)


LINKS = {"fast0": Link(2, 520, 24.0), "fast1": Link(2, 520, 24.0), "slow": Link(1, 26, 6.0)}


def packets_of_an_aggregate(document: Document, name: str) -> float:
    """Mean number of packets of the aggregates that a station answered."""
    (node,) = (node for node in document["nodes"] if node["name"] == name)
    (flow,) = (flow for flow in document["flows"] if flow["name"] == name)
    answers = node["block_ack_sent"] + node["ack_sent"]
    return float(flow["received_packets"]) / answers if answers else math.nan


def airtimes(document: Document) -> dict[str, float]:
    """Seconds on the air of each station, by the model, from the number of its answers and its aggregates."""
    found = {}
    for name, link in LINKS.items():
        (node,) = (node for node in document["nodes"] if node["name"] == name)
        answers = node["block_ack_sent"] + node["ack_sent"]
        found[name] = answers * link.time(packets_of_an_aggregate(document, name)) if answers else 0.0
    return found


def predicted(queue: str, name: str, document: Document) -> float:
    """The model's rate of a station in b/s: with airtime fairness each has a third of the time, else each has equally many aggregates.

    The sizes of aggregates are the measured means, as in the paper.
    """
    sizes = {of: packets_of_an_aggregate(document, of) for of in LINKS}
    times = {of: link.time(sizes[of]) for of, link in LINKS.items()}
    share = 1.0 / len(LINKS) if queue in FAIR else times[name] / sum(times.values())
    return share * LINKS[name].rate(sizes[name])


def of_equals(document: Document) -> float:
    """The model's total in Mb/s if all stations have one rate, as a queue gives them that takes packets in the order of arrival."""
    slowness = math.fsum(1.0 / link.rate(packets_of_an_aggregate(document, name)) for name, link in LINKS.items())
    return 1e-6 * len(LINKS) / slowness if slowness else math.nan


# --- Lines -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Line:
    """What a number is judged by."""

    case: str
    metric: str
    low: float | None
    high: float | None
    published: str
    """What was published, for the table."""

    def text(self) -> str:
        """The range."""
        if self.low is None:
            return f"≤ {significant(self.high or 0.0)}"
        return (
            f"≥ {significant(self.low)}" if self.high is None else f"{significant(self.low)} … {significant(self.high)}"
        )


def _near(case: str, metric: str, published: float, by: float = 0.1) -> Line:
    return Line(case, metric, (1.0 - by) * published, (1.0 + by) * published, significant(published))


def _models(queue: str) -> list[Line]:
    return [Line(queue, f"{name}, simulated / model", 0.95, 1.05, "1") for name in THREE]


LINES: Mapping[str, Sequence[Line]] = {
    "Q1": (
        *(line for queue in ("FIFO", "FQ-MAC", "airtime") for line in _models(queue)),
        Line("airtime", "Jain's index of airtime", 0.98, None, "nearly perfect"),
        Line("AQL", "Jain's index of airtime", 0.98, None, "nearly perfect"),
        # From the published shares of airtime, 10, 11 and 79 %.
        _near("FIFO", "Jain's index of airtime", 0.516),
        _near("FIFO", "slow, share of airtime", 79.0),
        # Of the two fast stations, the mean.
        _near("FIFO", "fast, goodput", 6.7),
        _near("FIFO", "slow, goodput", 5.3),
        _near("FIFO", "total", 18.7),
        _near("airtime", "fast, goodput", 37.2),
        _near("airtime", "slow, goodput", 2.0),
        _near("airtime", "total", 76.4),
        _near("airtime", "total / model's total as published", 1.0),
    ),
    "Q2": (
        _near("FQ-MAC", "total", 41.58),
        _near("FQ-MAC", "fast, share of the total", 100.0 * 19.5 / 41.58),
        _near("FQ-MAC", "slow, share of the total", 100.0 * 2.58 / 41.58),
        _near("airtime", "total", 52.07),
        _near("airtime", "fast, share of the total", 100.0 * 25.15 / 52.07),
        _near("airtime", "slow, share of the total", 100.0 * 1.77 / 52.07),
        _near("airtime", "total / FQ-MAC's total", 52.07 / 41.58),
        # An order of magnitude.
        Line("FIFO", "median of ping fast0 / AQL's", 10.0, None, "an order of magnitude"),
        Line("FIFO", "median of ping slow / AQL's", 10.0, None, "an order of magnitude"),
    ),
    "Q3": (
        _near("FQ-MAC", "total", 2.14),
        _near("airtime", "total", 17.76),
        _near("airtime", "total / FQ-MAC's total", 17.76 / 2.14),
    ),
}
"""Closed form: within 5 %. Published numbers: within 10 %. Set before the first run."""


# --- Rows ------------------------------------------------------------------------------------------------------------


def _mbps(measured: Measured, case: str, *names: str) -> Sample:
    rates = [measured.flow(case, name, "goodput_bps") for name in names]
    return Sample.of(lambda *each: 1e-6 * math.fsum(each), *rates)


def _half(sample: Sample) -> Sample:
    return Sample.of(lambda both: both / 2.0, sample)


def _rates(id_: str, measured: Measured, case: str, fast: Sequence[str]) -> list[Row]:
    total = _mbps(measured, case, *fast, "slow")
    each = Sample.of(lambda rate: rate / len(fast), _mbps(measured, case, *fast))
    slow = _mbps(measured, case, "slow")
    rows = [value(id_, case, "fast, goodput", "Mb/s", each), value(id_, case, "slow, goodput", "Mb/s", slow)]
    rows.append(value(id_, case, "total", "Mb/s", total))
    for name, rate in (("fast", each), ("slow", slow)):
        share = Sample.of(lambda part, whole: 100.0 * part / whole if whole else math.nan, rate, total)
        rows.append(value(id_, case, f"{name}, share of the total", "%", share))
    return rows


def _over(id_: str, measured: Measured, case: str, other: str, names: Sequence[str]) -> Row:
    ratio = _mbps(measured, case, *names) / _mbps(measured, other, *names)
    return value(id_, case, f"total / {other}'s total", "", ratio)


def _share(name: str, document: Document) -> float:
    times = airtimes(document)
    return 100.0 * times[name] / math.fsum(times.values())


def _udp_rows(measured: Measured) -> list[Row]:
    rows = []
    for queue in measured.documents:
        rows += _rates("Q1", measured, queue, THREE[:2])
        for name in THREE:
            packets = measured.sample(queue, functools.partial(_flipped, packets_of_an_aggregate, name))
            model = measured.sample(queue, functools.partial(predicted, queue, name))
            rows.append(value("Q1", queue, f"{name}, packets of an aggregate", "", packets))
            ratio = measured.flow(queue, name, "goodput_bps") / model
            rows.append(value("Q1", queue, f"{name}, simulated / model", "", ratio))
            share = measured.sample(queue, functools.partial(_share, name))
            rows.append(value("Q1", queue, f"{name}, share of airtime", "%", share))
        index = measured.sample(queue, lambda document: jain(airtimes(document).values()))
        rows.append(value("Q1", queue, "Jain's index of airtime", "", index))
        same = Sample.of(
            lambda total, model: total / model, _mbps(measured, queue, *THREE), measured.sample(queue, of_equals)
        )
        rows.append(value("Q1", queue, "total / model with equal rates", "", same))
        published = Sample.of(lambda total: total / 86.8, _mbps(measured, queue, *THREE))
        rows.append(value("Q1", queue, "total / model's total as published", "", published))
    return rows


def _flipped(function: Callable[[Document, str], float], name: str, document: Document) -> float:
    return function(document, name)


def percentile(delays: Sequence[float], share: float) -> float:
    """The smallest delay that this share of packets does not exceed; NaN without packets."""
    ordered = sorted(delays)
    return ordered[min(len(ordered), max(1, math.ceil(share * len(ordered)))) - 1] if ordered else math.nan


def _ping(flow: str, share: float, document: Document) -> float:
    return 1e3 * percentile(document["pings"].get(flow, []), share)


def mean_opinion(delay: float, loss: float) -> float:
    """MOS of speech by G.711 with this mouth-to-ear delay in s and loss ratio.

    The E-model (ITU-T G.107) as R. Cole and J. Rosenbluth simplified it (2001), with Bpl = 25.1 (G.113, G.711 with concealment).
    """
    ms = 1e3 * delay
    rating = 93.2 - 0.024 * ms - 0.11 * max(0.0, ms - 177.3) - 95.0 * 100.0 * loss / (100.0 * loss + 25.1)
    rating = min(100.0, max(0.0, rating))
    return 1.0 + 0.035 * rating + 7e-6 * rating * (rating - 60.0) * (100.0 - rating)


def _mos(measured: Measured, case: str) -> Sample:
    # A packet takes 20 ms to speak. The jitter buffer waits for 99 % of the packets.
    delay, loss = (measured.flow(case, "voice", of) for of in ("delay_p99_s", "loss_ratio"))
    return Sample.of(lambda wait, lost: mean_opinion(0.02 + wait, lost), delay, loss)


PERCENTILES = (0.05, 0.25, 0.5, 0.75, 0.95, 0.99)


def _tcp_rows(measured: Measured) -> list[Row]:
    rows = []
    for queue in (*QUEUES, *BARE):
        rows += _rates("Q2", measured, queue, THREE[:2])
        for flow in ("ping fast0", "ping slow"):
            for share in PERCENTILES:
                delay = measured.sample(queue, functools.partial(_ping, flow, share))
                rows.append(value("Q2", queue, f"{flow}, {100 * share:.0f} %", "ms", delay))
        rows.append(value("Q2", queue, "MOS of the call", "", _mos(measured, queue)))
    for case in measured.documents:
        if case not in QUEUES and case not in BARE:
            rows += _rates("Q2", measured, case, THREE[:2])
    rows.append(_over("Q2", measured, "airtime", "FQ-MAC", THREE))
    for flow in ("ping fast0", "ping slow"):
        median = functools.partial(_ping, flow, 0.5)
        fall = measured.sample("FIFO", median) / measured.sample("AQL", median)
        rows.append(value("Q2", "FIFO", f"median of {flow} / AQL's", "", fall))
    return rows


def _many_rows(measured: Measured) -> list[Row]:
    fast = [f"fast{index}" for index in range(MANY)]
    rows = [row for queue in measured.documents for row in _rates("Q3", measured, queue, fast)]
    return [*rows, _over("Q3", measured, "airtime", "FQ-MAC", [*fast, "slow"])]


# --- Tables, figures, notes --------------------------------------------------------------------------------------------


def verdict(row: Row, line: Line) -> str:
    """`holds`, `fails`, or `open` where the interval crosses the line."""
    return word_by_line(row, line.low, line.high)


def _tables(id_: str, table: Table) -> list[Cells]:
    lines = []
    for line in LINES[id_]:
        row = table[line.case, line.metric]
        shown = "–" if row.measured is None else with_interval(row.measured, row.ci95)
        unit = f", {row.unit}" if row.unit else ""
        lines.append([f"{line.case}: {line.metric}{unit}", line.published, shown, line.text(), verdict(row, line)])
    return [
        Cells("What was published, and what hopcast has", ["what", "published", "hopcast", "line", "verdict"], lines)
    ]


def _shares(table: Table) -> list[tuple[str, Figure]]:
    return [("Shares of airtime and goodput of three stations under UDP", shares(table))]


def shares(table: Table) -> Figure:
    """Shares of airtime as stacked bars, and goodput, by queue."""
    from matplotlib.figure import Figure

    from hopcast.figures import COLOURS

    figure = Figure(figsize=(9.0, 3.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    places = range(len(QUEUES))
    base = [0.0] * len(QUEUES)
    labels = ("fast 1", "fast 2", "slow")
    for name, label, colour in zip(THREE, labels, COLOURS, strict=False):
        heights = [number(table, queue, f"{name}, share of airtime") for queue in QUEUES]
        left.bar(places, heights, 0.62, base, color=colour, label=label)
        base = [low + height for low, height in zip(base, heights, strict=True)]
    left.axhline(100.0 / 3.0, color="0.3", linestyle="--", linewidth=0.8)
    left.axhline(200.0 / 3.0, color="0.3", linestyle="--", linewidth=0.8)
    left.set_ylim(0.0, 112.0)
    left.legend(loc="upper center", ncols=3, frameon=False)
    for shift, (group, label, colour) in zip(
        (-0.2, 0.2), (("fast", "a fast station", COLOURS[0]), ("slow", "the slow station", COLOURS[2])), strict=True
    ):
        heights = [number(table, queue, f"{group}, goodput") for queue in QUEUES]
        bars = right.bar([place + shift for place in places], heights, 0.38, color=colour, label=label)
        right.bar_label(bars, fmt="%.1f", fontsize="small")
    right.legend(loc="upper left", frameon=False)
    for axes, title, y in ((left, "Airtime", "share, %"), (right, "Goodput", "Mb/s")):
        axes.set_title(title, loc="left", fontweight="bold")
        axes.set_xticks(places, list(QUEUES))
        axes.set_ylabel(y)
    right.set_ylim(0.0, 1.12 * right.get_ylim()[1])
    return figure


def _delays(table: Table) -> list[tuple[str, Figure]]:
    return [("Delay of a ping next to three downloads", delays(table))]


def delays(table: Table) -> Figure:
    """Cumulative distribution of the pings' delays, by queue: to a fast station and to the slow one."""
    from matplotlib.figure import Figure

    from hopcast.figures import COLOURS, MARKERS

    figure = Figure(figsize=(9.0, 3.8), layout="constrained")
    for axes, (flow, title) in zip(
        figure.subplots(1, 2, sharey=True),
        (("ping fast0", "To a fast station"), ("ping slow", "To the slow station")),
        strict=True,
    ):
        for queue, colour, marker in zip(QUEUES, COLOURS, MARKERS, strict=False):
            at = [number(table, queue, f"{flow}, {100 * share:.0f} %") for share in PERCENTILES]
            axes.plot(at, [100.0 * share for share in PERCENTILES], color=colour, marker=marker, label=queue)
        axes.set_xscale("log")
        axes.set_title(title, loc="left", fontweight="bold")
        axes.set_xlabel("one-way delay, ms")
        axes.set_ylabel("packets, %")
        axes.grid(alpha=0.3)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(QUEUES), frameon=False)
    return figure


def _notes(id_: str, table: Table) -> list[str]:
    found = [verdict(table[line.case, line.metric], line) for line in LINES[id_]]
    counted = ", ".join(f"{found.count(word)} {word}" for word in ("holds", "fails", "open") if word in found)
    return [f"Of {len(found)} lines: {counted}. The papers' tally does not count them."]


# --- Parameters --------------------------------------------------------------------------------------------------------

_COMMON = (
    Parameter("radio", "802.11n, channel 36, 20 MHz, guard interval 0.4 µs, two streams", "rates of the paper: 144.4 and 7.2 Mb/s"),
    Parameter("fast stations", f"{NEAR:g} m: MCS 15, 144.4 Mb/s", PAPER),
    Parameter("slow station", f"{FAR:g} m, one stream: MCS 0, 7.2 Mb/s", PAPER),
    Parameter("noise", "noise figure 25 dB, preambles detected from -6 dB", "ours: the far station needs MCS 0, and still senses the others"),
    Parameter("server", "behind a wire of 1 Gb/s and 0.5 ms", "the paper's Gigabit Ethernet; the delay is ours"),
    Parameter("FIFO", "drop-tail, 1000 packets", "pfifo_fast with Linux's txqueuelen"),
    Parameter("FQ-CoDel", "10 240 packets, 5 ms, 100 ms, quantum 1514 B, above the MAC", "Linux, sch_fq_codel.c"),
    Parameter("driver behind FIFO and FQ-CoDel", "123 packets", "ath9k, ATH_MAX_QDEPTH"),
    Parameter("FQ-MAC, airtime, AQL", "8192 packets, 20 ms, 100 ms, quantum 300 B, aggregates of 32 packets or 4 ms", "docs/models/queues.md, from Linux and ath9k"),
    Parameter("queues of stations", "as at the access point", "ours"),
    Parameter("agreements", "in force from the start", "ours"),
)  # fmt: skip
_TCP = Parameter(
    "TCP",
    "CUBIC, segments of 1448 B with timestamps, min_rto 0.2 s, buffers of 6 MB",
    "Linux; the commit does not name the traffic",
)


def _setup(id_: str, amount: Amount) -> list[Parameter]:
    own = {
        "Q1": [Parameter("load", f"120 Mb/s of UDP to each station, {PAYLOAD} B", "ours: more than the air carries")],
        "Q2": [
            _TCP,
            Parameter("pings", "64 B, ten a second, one way", "ours; the paper has ICMP both ways"),
            Parameter("call", "64 kb/s each 20 ms, best effort, to the slow station", "G.711; MOS by the E-model (Cole, Rosenbluth 2001)"),
        ],
        "Q3": [
            _TCP,
            Parameter("band", "2.4 GHz, channel 1", "ours: 1 Mb/s exists nowhere else"),
            Parameter("fast stations", f"{MANY}, all at {NEAR:g} m: MCS 15", "ours: the commit does not state their rates"),
            Parameter("slow station", "802.11b at 1 Mb/s", "the commit: limited to 1 Mb/s"),
            Parameter("protection", "CTS-to-self", "IEEE 802.11-2020, 10.27.2: a station of 802.11b is there"),
        ],
    }[id_]  # fmt: skip
    common = [known for known in _COMMON if known.name not in {parameter.name for parameter in own}]
    return [*common, *own, Parameter("seeds", str(len(_seeds(amount))), "ours; the paper has 30 runs of 30 s")]


def _experiment(
    id_: str,
    title: str,
    paper: str,
    cases: Callable[[Amount], Mapping[str, Case]],
    rows: Callable[[Measured], list[Row]],
    figures: Callable[[Table], Sequence[tuple[str, Figure]]] = lambda table: (),
) -> Experiment:
    return Experiment(
        id_,
        title,
        paper,
        functools.partial(_setup, id_),
        cases,
        rows,
        figures,
        functools.partial(_notes, id_),
        tables=functools.partial(_tables, id_),
    )


EXPERIMENTS = (
    _experiment(
        "Q1",
        "Queues: UDP to two fast stations and a slow one",
        f"{PAPER}: the model of section 2.2.1 and Table 1.",
        _udp_cases,
        _udp_rows,
        _shares,
    ),
    _experiment(
        "Q2",
        "Queues: downloads of two fast stations and a slow one, and latency next to them",
        f"{COMMIT}: throughput before and after. {PAPER}: an order of magnitude less latency under load.",
        _tcp_cases,
        _tcp_rows,
        _delays,
    ),
    _experiment("Q3", "Queues: thirty stations, one of them at 1 Mb/s", f"{COMMIT}: total.", _many_cases, _many_rows),
)
