"""V1 to V13: the test cases of RFC 8867 and RFC 8869 for congestion control of media, with the metrics of RFC 8868."""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hopcast.lab.experiment import Amount, Case, Document, Experiment, Measured, Parameter, Table
from hopcast.lab.rows import Row, value
from hopcast.results import Result
from hopcast.scenario import Scenario

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CONTROLS = ("gcc", "scream", "nada", "tfrc", "adtfrc")
"""The congestion controls, in the order of tables and figures."""
MAX_RATE = 1.5e6
"""The encoder's greatest rate in b/s; its least is 150 kb/s, where it starts (RFC 8593, 5.4)."""
PACKET = 1000
"""Payload of a packet in bytes."""
HEADERS = 40
"""Bytes of IP, UDP and RTP."""
DELAY = 0.05
"""One-way delay of the path in seconds, unless a case says otherwise."""
QUEUE = 0.3
"""Seconds for which a full queue holds packets at the bottleneck's first capacity."""
BIN = 2.5
"""Seconds of an interval of the figures."""
WEIGHTED = ("nada",)
"""The congestion controls that have weights."""
WEIGHT = 2.0
"""That of the preferred flow of V13, next to one of 1."""
SUITE = "ns3-rmcat's test suite; not compared with the RFC's text"

Flow = Any
"""A flow as `hopcast.types.Flow`, of which this module reads keys."""
Steps = Sequence[tuple[float, float]]
"""Pairs of a time in seconds and a capacity in b/s, in force from then on."""


@dataclass(frozen=True)
class Load:
    """What a case offers: the flows of media, those next to them, and what the media may get."""

    duration: float
    flows: Sequence[Flow]
    capacity: Steps
    """Capacity for the media of one direction, and for what competes with it; none where the air limits."""
    delay: float = DELAY
    """One-way delay of the path, or of its bottleneck."""
    further: Mapping[str, float] = field(default_factory=dict)
    """What the path of a flow has beyond that, by the flow's name."""

    def of_path(self, flow: str) -> float:
        """The one-way delay of a flow's path."""
        return self.delay + self.further.get(flow, 0.0)


def media(name: str, ends: tuple[str, str], control: str, **times: float) -> Flow:
    """A flow of media, from `start` to `stop`."""
    return {
        "name": name,
        "from": ends[0],
        "to": ends[1],
        "transport": {"protocol": "rtp", "congestion": control},
        "application": {"kind": "codec", "packet": PACKET},
        "player": {"jitter_buffer": {"kind": "adaptive"}},
        **times,
    }


def tcp(name: str, ends: tuple[str, str], octets: float | None = None, **times: float) -> Flow:
    """A flow of NewReno: of some bytes, or endless."""
    return {
        "name": name,
        "from": ends[0],
        "to": ends[1],
        "transport": {"protocol": "tcp", "variant": "newreno", "segment": PACKET, "delayed_ack": "off"},
        "application": {"kind": "bulk"} if octets is None else {"kind": "file", "bytes": octets},
        **times,
    }


def cbr(name: str, ends: tuple[str, str], rate: float, **times: float) -> Flow:
    """A flow of UDP with a constant rate in b/s."""
    application = {"kind": "cbr", "rate": rate, "packet": PACKET}
    return {
        "name": name,
        "from": ends[0],
        "to": ends[1],
        "transport": {"protocol": "udp"},
        "application": application,
    } | times


def places(capacity: float, seconds: float = QUEUE) -> int:
    """Packets that leave in this time."""
    return max(2, round(capacity * seconds / 8.0 / (PACKET + HEADERS)))


def wire(a: str, b: str, rate: Any = 100e6, delay: float = 0.0, packets: int = 10_000, **keys: Any) -> Any:
    """A wire; without a rate one that limits nothing."""
    return {"between": [a, b], "rate": rate, "delay": delay, "queue": {"packets": packets, **keys}}


def dumbbell(
    load: Load, *, back: Steps | None = None, queue: float = QUEUE, access: Sequence[float] = (), **discipline: Any
) -> Scenario:
    """Sources and sinks of the flows at the two ends of one bottleneck. `access` has a further delay for each pair."""
    pairs = sorted({int(end[1:]) for flow in load.flows for end in (flow["from"], flow["to"])})
    nodes: list[Any] = [{"name": name, "role": "wired"} for name in ("left", "right")]
    nodes += [{"name": f"{side}{pair}", "role": "wired"} for pair in pairs for side in "ab"]
    bottleneck = wire(
        "left",
        "right",
        [list(step) for step in load.capacity],
        load.delay,
        places(load.capacity[0][1], queue),
        **discipline,
    )
    if back is not None:
        bottleneck["back"] = {"rate": [list(step) for step in back], "queue": {"packets": places(back[0][1], queue)}}
    links = [bottleneck]
    for index, pair in enumerate(pairs):
        links.append(wire(f"a{pair}", "left", delay=access[index] if access else 0.0))
        links.append(wire("right", f"b{pair}"))
    return Scenario(duration=load.duration, nodes=nodes, links=links, flows=list(load.flows))


def forth(pair: int) -> tuple[str, str]:
    """From the left end of a pair to the right one."""
    return f"a{pair}", f"b{pair}"


def reverse(pair: int) -> tuple[str, str]:
    """In the other direction."""
    return f"b{pair}", f"a{pair}"


# --- What is measured ------------------------------------------------------------------------------------------------


def observe(result: Result) -> Document:
    """For each flow of media, the rate in b/s and the mean delay in s of each interval of `BIN` seconds."""
    import polars

    found: dict[str, dict[str, list[float]]] = {}
    since: dict[str, float] = {}
    media = [flow["name"] for flow in result.json()["flows"] if flow["protocol"] == "rtp"]
    series = result.series.filter(polars.col("flow").is_in(media))
    columns = (series[name].to_list() for name in ("flow", "time_s", "rate_bps", "packets", "delay_s"))
    for flow, time, rate, packets, delay in zip(*columns, strict=True):
        kept = found.setdefault(flow, {"bits": [], "packets": [], "delays": []})
        place = math.ceil(time / BIN - 1e-9) - 1
        for values in kept.values():
            values.extend([0.0] * (place + 1 - len(values)))
        kept["bits"][place] += rate * (time - since.get(flow, 0.0))
        kept["packets"][place] += packets
        kept["delays"][place] += packets * (delay or 0.0)
        since[flow] = time
    return {"bins": {flow: _means(**kept) for flow, kept in found.items()}}


def _means(bits: Sequence[float], packets: Sequence[float], delays: Sequence[float]) -> dict[str, list[float]]:
    pairs = zip(delays, packets, strict=True)
    return {
        "rate": [sent / BIN for sent in bits],
        "delay": [sum_ / count if count else math.nan for sum_, count in pairs],
    }


def capacity_at(steps: Steps, time: float) -> float:
    """The capacity in force at a time."""
    return [rate for since, rate in steps if since <= time][-1]


def _is_media(flow: Flow) -> bool:
    return bool(flow["transport"]["protocol"] == "rtp")


def _active(flow: Flow, time: float) -> bool:
    return bool(flow.get("start", 0.0) <= time < flow.get("stop", math.inf))


def available(load: Load, flows: Sequence[Flow]) -> float:
    """Bytes that these flows of media could carry: the capacity, or what their encoders produce at most."""
    total = 0.0
    for step in range(math.ceil(load.duration / BIN)):
        time = step * BIN
        wanted = MAX_RATE * sum(_active(flow, time) for flow in flows)
        total += BIN / 8.0 * min(wanted, capacity_at(load.capacity, time) if load.capacity else wanted)
    return total


def jain(rates: Iterable[float]) -> float:
    """Jain's index of fairness, 1 if all are equal."""
    known = list(rates)
    squares = sum(rate * rate for rate in known)
    return sum(known) ** 2 / (len(known) * squares) if squares else math.nan


def _records(flows: Sequence[Flow], document: Document) -> list[Document]:
    names = {flow["name"] for flow in flows}
    return [record for record in document["flows"] if record["name"] in names]


def utilisation(load: Load, flows: Sequence[Flow], document: Document) -> float:
    """Payload that arrived, in per cent of what was available."""
    return 100.0 * sum(float(record["received_bytes"]) for record in _records(flows, document)) / available(load, flows)


def _queueing(load: Load, flows: Sequence[Flow], percentile: str, document: Document) -> float:
    """Mean over the flows of a percentile of the delay beyond that of the path, in ms."""
    known = [
        record[percentile] - load.of_path(record["name"])
        for record in _records(flows, document)
        if record[percentile] is not None
    ]
    return 1e3 * sum(known) / len(known) if known else math.nan


def _lost(flows: Sequence[Flow], document: Document) -> float:
    records = _records(flows, document)
    sent = sum(record["sent_packets"] for record in records)
    return 100.0 * sum(record["lost_packets"] for record in records) / sent if sent else math.nan


def _untimely(flows: Sequence[Flow], document: Document) -> float:
    """Frames that came late or never, in per cent of those whose turn has passed."""
    records = _records(flows, document)
    bad = sum(record["frames_late"] + record["frames_lost"] for record in records)
    total = bad + sum(record["frames_on_time"] for record in records)
    return 100.0 * bad / total if total else math.nan


def _stalled(flows: Sequence[Flow], document: Document) -> float:
    """Time for which displays stood still, in per cent of their time."""
    records = _records(flows, document)
    stalled = sum(record["hiccup_time_s"] for record in records)
    shown = stalled + sum(record["played_s"] for record in records)
    return 100.0 * stalled / shown if shown else math.nan


def _last_rates(load: Load, flows: Sequence[Flow], document: Document) -> list[float]:
    """The rates in the last quarter of the case, summed over its intervals."""
    last = range(int(0.75 * load.duration / BIN), int((load.duration - 1.0) / BIN))
    rates = [document["bins"][flow["name"]]["rate"] for flow in flows if _active(flow, load.duration - BIN - 1.0)]
    return [sum(rate[step] for step in last) for rate in rates]


def _fairness(load: Load, flows: Sequence[Flow], document: Document) -> float:
    """Jain's index of the rates in the last quarter of the case."""
    return jain(_last_rates(load, flows, document))


def _ratio(load: Load, flows: Sequence[Flow], document: Document) -> float:
    """The first flow's rate over the second one's, in the last quarter of the case."""
    first, second = _last_rates(load, flows, document)
    return first / second if second else math.nan


def _rate(load: Load, flows: Sequence[Flow], document: Document) -> float:
    """Payload that arrived of all these flows, in Mb/s, from the first start to the last stop."""
    start = min(flow.get("start", 0.0) for flow in flows)
    stop = max(flow.get("stop", load.duration) for flow in flows)
    return 8e-6 * sum(float(record["received_bytes"]) for record in _records(flows, document)) / float(stop - start)


# --- The cases -------------------------------------------------------------------------------------------------------

Made = Mapping[str, tuple[Load, Scenario]]
"""A load with its scenario, by the name of a variant."""


def variable_single(control: str, amount: Amount) -> Made:
    """5.1: one flow under a capacity that changes."""
    load = Load(100.0, [media("call", forth(1), control)], [(0, 1e6), (40, 2.5e6), (60, 0.6e6), (80, 1e6)])
    return {"": (load, dumbbell(load))}


def variable_two(control: str, amount: Amount) -> Made:
    """5.2: two flows under a capacity that changes."""
    flows = [media(f"call {pair}", forth(pair), control) for pair in (1, 2)]
    load = Load(125.0, flows, [(0, 4e6), (25, 2e6), (50, 3.5e6), (75, 1e6), (100, 2e6)])
    return {"": (load, dumbbell(load))}


def congested_feedback(control: str, amount: Amount) -> Made:
    """5.3: a flow in each direction; reports share the way with media."""
    flows = [media("forth", forth(1), control), media("back", reverse(2), control)]
    steps = [(0, 2e6), (20, 1e6), (40, 0.5e6), (60, 2e6)]
    load = Load(100.0, flows, steps)
    return {"": (load, dumbbell(load, back=[(0, 2e6), (35, 0.8e6), (70, 2e6)]))}


def competing(control: str, amount: Amount) -> Made:
    """5.4: three flows that start one after another."""
    flows = [media(f"call {pair}", forth(pair), control, start=20.0 * (pair - 1), stop=119.0) for pair in (1, 2, 3)]
    load = Load(120.0, flows, [(0, 3.5e6)])
    return {"": (load, dumbbell(load))}


def round_trips(control: str, amount: Amount) -> Made:
    """5.5: five flows with one-way delays of 10 to 150 ms."""
    delays = (10, 25, 50, 100, 150)
    flows = [
        media(f"{ms} ms", forth(pair), control, start=10.0 * (pair - 1), stop=299.0)
        for pair, ms in enumerate(delays, 1)
    ]
    further = {f"{ms} ms": (ms - 10) / 1e3 for ms in delays}
    load = Load(300.0, flows, [(0, 4e6)], 0.01, further)
    return {"": (load, dumbbell(load, access=list(further.values())))}


def long_tcp(control: str, amount: Amount) -> Made:
    """5.6: one flow next to an endless one of TCP."""
    flows = [media("call", forth(1), control, start=5.0, stop=119.0), tcp("tcp", forth(2))]
    load = Load(120.0, flows, [(0, 2e6)])
    return {f"queue of {queue:g} s": (load, dumbbell(load, queue=queue)) for queue in (0.3, 1.0)}


def short_tcp(control: str, amount: Amount) -> Made:
    """5.7: two flows next to files of 30 to 50 kB over ten pairs of hosts, on average each 10 s."""
    draw = random.Random(8867)
    flows = [media(f"call {pair}", forth(pair), control, start=5.0, stop=299.0) for pair in (1, 2)]
    for pair in range(3, 13):
        time = 0.0 if pair < 5 else draw.expovariate(0.1)
        while time < 295.0:
            flows.append(tcp(f"file {pair}, {len(flows)}", forth(pair), draw.randint(30_000, 50_000), start=time))
            time += draw.expovariate(0.1)
    load = Load(300.0, flows, [(0, 2e6)])
    return {"": (load, dumbbell(load))}


def pause(control: str, amount: Amount) -> Made:
    """5.8: one of three flows pauses from 40 to 60 s; it starts again as a new session."""
    flows = [
        media("call 1", forth(1), control, stop=40.0),
        media("call 1 again", forth(1), control, start=60.0, stop=119.0),
    ]
    flows += [media(f"call {pair}", forth(pair), control, stop=119.0) for pair in (2, 3)]
    load = Load(120.0, flows, [(0, 3.5e6)])
    return {"": (load, dumbbell(load))}


def priorities(control: str, amount: Amount) -> Made:
    """6.1: two flows, of which the first has twice the weight of the second where the congestion control has weights."""
    flows = [media(f"call {pair}", forth(pair), control, stop=119.0) for pair in (1, 2)]
    if control in WEIGHTED:
        flows[0]["transport"]["weight"] = WEIGHT
    load = Load(120.0, flows, [(0, 2e6)])
    return {"": (load, dumbbell(load))}


def marking(control: str, amount: Amount) -> Made:
    """6.2: one flow over a queue that marks: DualPI2, and CoDel."""
    made = {}
    for name, discipline in (("DualPI2", {"discipline": "dualpi2"}), ("CoDel", {"discipline": "codel", "ecn": True})):
        flow = media("call", forth(1), control)
        flow["transport"]["ecn"] = control in ("scream", "nada")
        load = Load(100.0, [flow], [(0, 1e6), (40, 2.5e6), (60, 0.6e6), (80, 1e6)])
        made[name] = (load, dumbbell(load, **discipline))
    return made


def bottlenecks(control: str, amount: Amount) -> Made:
    """6.3: a flow over three bottlenecks, and one over each of them."""
    flows = [media("all three", ("a0", "b0"), control)]
    flows += [media(f"hop {hop}", (f"a{hop}", f"b{hop}"), control) for hop in (1, 2, 3)]
    load = Load(120.0, flows, [(0, 2e6)], 0.02, {"all three": 0.04})
    nodes: list[Any] = [{"name": f"r{router}", "role": "wired"} for router in range(4)]
    nodes += [{"name": f"{side}{pair}", "role": "wired"} for pair in range(4) for side in "ab"]
    links = [wire(f"r{hop - 1}", f"r{hop}", 2e6, 0.02, places(2e6)) for hop in (1, 2, 3)]
    links += [wire("a0", "r0"), wire("b0", "r3")]
    links += [wire(f"a{hop}", f"r{hop - 1}") for hop in (1, 2, 3)] + [wire(f"b{hop}", f"r{hop}") for hop in (1, 2, 3)]
    return {"": (load, Scenario(duration=load.duration, nodes=nodes, links=links, flows=flows))}


def cell(load: Load, rate: float, stations: int, queue: int) -> Scenario:
    """Stations 1 m from their access point, which a wire connects with a server."""
    radio: Any = {
        "standard": "802.11n",
        "band": "5 GHz",
        "channel": {"number": 36, "width": "20 MHz"},
        "data_rate": "mcs 11",
        "propagation": {"model": "log-distance", "exponent": 3.0},
        "queue": {"packets": 1000},
    }
    nodes: list[Any] = [
        {"name": "server", "role": "wired"},
        {"name": "ap", "role": "access-point", "placement": {"shape": "points", "at": [[0.0, 0.0]]}},
        {
            "name": "s",
            "role": "station",
            "count": stations,
            "placement": {"shape": "circle", "radius": "1 m"},
        },
    ]
    links = [wire("server", "ap", rate, DELAY, queue)]
    return Scenario(duration=load.duration, radio=radio, nodes=nodes, links=links, flows=list(load.flows))


def station(number: int, stations: int) -> str:
    """The name of a station."""
    return f"s{number}" if stations > 1 else "s"


def wired_bottleneck(control: str, amount: Amount) -> Made:
    """RFC 8869, 4.1: a wire of 1 Mb/s behind the access point limits."""
    stations = 4

    def down(which: int) -> tuple[str, str]:
        return "server", station(which, stations)

    def up(which: int) -> tuple[str, str]:
        return station(which, stations), "server"

    both = [media("down", down(0), control), media("up", up(1), control)]
    loads: dict[str, list[Flow]] = {
        "a: down": both[:1],
        "b: up": both[1:],
        "c: down and up": both,
        "d: c, CBR down": [*both, cbr("cbr", down(2), 300e3)],
        "e: c, CBR up": [*both, cbr("cbr", up(2), 300e3)],
        "f: c, TCP down": [*both, tcp("tcp", down(2), start=40.0, stop=80.0)],
        "g: c, TCP up": [*both, tcp("tcp", up(2), start=40.0, stop=80.0)],
    }
    made = {}
    for name, flows in loads.items():
        load = Load(120.0, flows, [(0, 1e6)])
        made[name] = (load, cell(load, 1e6, stations, places(1e6)))
    return made


def wireless_bottleneck(control: str, amount: Amount) -> Made:
    """RFC 8869, 4.2: many flows share the air."""
    half = amount.pick(quick=8, full=12)
    duration = amount.pick(quick=40.0, full=120.0)
    start, stop = duration / 3.0, duration * 2.0 / 3.0
    stations = 2 * half + 4

    def down(which: int) -> tuple[str, str]:
        return "server", station(which, stations)

    def up(which: int) -> tuple[str, str]:
        return station(which, stations), "server"

    mixed = [media(f"down {n}", down(n), control) for n in range(half)]
    mixed += [media(f"up {n}", up(half + n), control) for n in range(half)]
    extra = range(2 * half, 2 * half + 4)
    loads: dict[str, list[Flow]] = {
        "a: down": [media(f"down {n}", down(n), control) for n in range(2 * half)],
        "b: up": [media(f"up {n}", up(n), control) for n in range(2 * half)],
        "c: down and up": mixed,
        "d: c, CBR up": mixed + [cbr(f"cbr {n}", up(n), 600e3, start=start, stop=stop) for n in extra],
        "e: c, TCP up": mixed + [tcp(f"tcp {n}", up(n), start=start, stop=stop) for n in extra],
    }
    made = {}
    for name, flows in loads.items():
        load = Load(duration, flows, [])
        made[name] = (load, cell(load, 100e6, stations, 1000))
    return made


@dataclass(frozen=True)
class Test:
    """One test case of the RFCs."""

    id: str
    title: str
    section: str
    make: Callable[[str, Amount], Made]
    parameters: Sequence[Parameter]


def _name(variant: str, control: str) -> str:
    return f"{variant}, {control}" if variant else control


def _seeds(amount: Amount) -> tuple[int, ...]:
    return tuple(range(1, amount.pick(quick=4, full=10) + 1))


def _setup(test: Test, amount: Amount) -> list[Parameter]:
    return [
        *test.parameters,
        Parameter("encoder", "150 kb/s to 1.5 Mb/s, 30 frames/s, `transient`", "RFC 8593, sections 5.2 to 5.4"),
        Parameter("packets", f"{PACKET} B of payload", SUITE),
        Parameter("player", "an adaptive jitter buffer", "libwebrtc's NetEq, by its public description"),
        Parameter("jitter of the path", "none", "RFC 8867 has some, which is not modelled"),
        Parameter("seeds", f"{len(_seeds(amount))}", "ours"),
    ]


def _cases(test: Test, amount: Amount) -> dict[str, Case]:
    return {
        _name(variant, control): Case(scenario, _seeds(amount), observe)
        for control in CONTROLS
        for variant, (_, scenario) in test.make(control, amount).items()
    }


def _rows(test: Test, measured: Measured) -> list[Row]:
    # The quick form and the full one differ in the number of flows alone, so the names of cases tell which it is.
    rows: list[Row] = []
    for control in CONTROLS:
        for variant in _variants(test):
            case = _name(variant, control)
            rows += _metrics(test, case, _load(test, variant, control, measured.documents[case][0]), measured)
    return rows


@functools.cache
def _variants(test: Test) -> tuple[str, ...]:
    return tuple(test.make(CONTROLS[0], Amount("quick")))


def _load(test: Test, variant: str, control: str, document: Document) -> Load:
    """The load that a document is the result of."""
    names = {record["name"] for record in document["flows"]}
    for amount in (Amount("quick"), Amount("full")):
        load, _ = test.make(control, amount)[variant]
        if {flow["name"] for flow in load.flows} == names:
            return load
    raise ValueError(f"{test.id}: {variant!r} has the flows of neither form")


def _metrics(test: Test, case: str, load: Load, measured: Measured) -> list[Row]:
    flows = [flow for flow in load.flows if _is_media(flow)]
    others = [flow for flow in load.flows if not _is_media(flow)]
    # Of two directions with capacities of their own, the first one's is known.
    limited = [flow for flow in flows if flow["name"] != "back"] if test.id == "V3" else flows
    numbers: list[tuple[str, str, Callable[[Document], float]]] = [
        ("queueing delay, median", "ms", functools.partial(_queueing, load, flows, "delay_p50_s")),
        ("queueing delay, 95 %", "ms", functools.partial(_queueing, load, flows, "delay_p95_s")),
        ("queueing delay, 99 %", "ms", functools.partial(_queueing, load, flows, "delay_p99_s")),
        ("loss", "%", functools.partial(_lost, flows)),
        ("frames late or lost", "%", functools.partial(_untimely, flows)),
        ("time stalled", "%", functools.partial(_stalled, flows)),
    ]
    # Flows that share nothing but a part of their ways can get more than one bottleneck carries.
    is_shared = test.id != "V10" and not (test.id == "V11" and len(flows) > 1)
    if is_shared:
        numbers.insert(0, ("utilisation", "%", functools.partial(utilisation, load, limited)))
    else:
        numbers.insert(0, ("rate of the media", "Mb/s", functools.partial(_rate, load, flows)))
    if len(flows) > 1 and test.id != "V3":
        numbers.append(("Jain's index", "", functools.partial(_fairness, load, flows)))
    if test.id == "V13":
        numbers.append(("first rate over second", "", functools.partial(_ratio, load, flows)))
    if others:
        numbers.append(("others", "Mb/s", functools.partial(_rate, load, others)))
    rows = [value(test.id, case, metric, unit, measured.sample(case, number)) for metric, unit, number in numbers]
    if test.id == "V1":
        for step in range(round(load.duration / BIN)):
            at = f"{case}, {step * BIN:g} s"
            rows.append(
                value("V1", at, "rate", "Mb/s", measured.sample(case, functools.partial(_bin, "rate", step, 0.0, 1e-6)))
            )
            rows.append(
                value(
                    "V1",
                    at,
                    "queueing delay",
                    "ms",
                    measured.sample(case, functools.partial(_bin, "delay", step, DELAY, 1e3)),
                )
            )
    return rows


def _bin(field: str, step: int, less: float, factor: float, document: Document) -> float:
    return factor * (float(document["bins"]["call"][field][step]) - less)


# --- Tables and figures ----------------------------------------------------------------------------------------------


def _figures(test: Test, table: Table) -> list[tuple[str, Figure]]:
    return [("Rate and queueing delay over the capacity", over_time(table))] if test.id == "V1" else []


def over_time(table: Table) -> Figure:
    """The rate against the capacity, and the queueing delay: a row for each congestion control."""
    from matplotlib.figure import Figure

    from hopcast.figures import COLOURS

    load = variable_single(CONTROLS[0], Amount("quick"))[""][0]
    times = [step * BIN for step in range(round(load.duration / BIN))]
    figure = Figure(figsize=(9.0, 9.0), layout="constrained")
    axes = figure.subplots(len(CONTROLS), 2, sharex=True, sharey="col", squeeze=False)
    for (left, right), control in zip(axes, CONTROLS, strict=True):
        found = {
            metric: [row.measured if row.measured is not None else math.nan for row in rows]
            for metric in ("rate", "queueing delay")
            for rows in [[table[f"{control}, {time:g} s", metric] for time in times]]
        }
        edges = [*times, load.duration]
        capacity = [capacity_at(load.capacity, time) / 1e6 for time in times]
        left.stairs(capacity, edges, baseline=None, color="0.5", linestyle="--", label="capacity")
        left.stairs(found["rate"], edges, baseline=None, color=COLOURS[0], linewidth=1.6, label="rate")
        right.stairs(found["queueing delay"], edges, baseline=None, color=COLOURS[1], linewidth=1.6)
        left.set_title(control, loc="left", fontweight="bold")
        left.set_ylabel("rate, Mb/s")
        right.set_ylabel("delay, ms")
        for one in (left, right):
            one.grid(alpha=0.3)
    for top in axes[0]:
        top.set_ylim(bottom=0.0)
    axes[0][0].legend(loc="upper right", frameon=False, ncols=2)
    axes[0][1].set_title("queueing delay", loc="left")
    for bottom in axes[-1]:
        bottom.set_xlabel("time, s")
    return figure


def _notes(test: Test, table: Table) -> Sequence[str]:
    return [
        "Nothing here is judged: the RFCs name what to look at, and no numbers. Delays are those beyond the path's own; "
        "a packet that its sender discards after 2 s counts as lost."
    ]


def _experiment(test: Test) -> Experiment:
    return Experiment(
        test.id,
        test.title,
        f"{test.section}. Each congestion control by itself, with the metrics of RFC 8868.",
        functools.partial(_setup, test),
        functools.partial(_cases, test),
        functools.partial(_rows, test),
        functools.partial(_figures, test),
        functools.partial(_notes, test),
    )


_WIRED = (
    Parameter("one-way delay", f"{1e3 * DELAY:g} ms", SUITE),
    Parameter("queue", f"drop-tail, {1e3 * QUEUE:g} ms at the first capacity", SUITE),
)
_CELL = (
    Parameter("radios", "802.11n, 20 MHz at 5 GHz, MCS 11, a long guard interval, stations 1 m away", SUITE),
    Parameter("queues", "1000 packets at each radio; 300 ms at the wire of 1 Mb/s", SUITE),
    Parameter("wire", f"{1e3 * DELAY:g} ms", SUITE),
)
_WEIGHTS = Parameter(
    "weights", f"{WEIGHT:g} and 1 with NADA; none with the others", "ours; not compared with the RFC's text"
)
TESTS = (
    Test("V1", "Media: variable capacity, one flow", "RFC 8867, 5.1", variable_single, _WIRED),
    Test("V2", "Media: variable capacity, two flows", "RFC 8867, 5.2", variable_two, _WIRED),
    Test("V3", "Media: congested feedback", "RFC 8867, 5.3", congested_feedback, _WIRED),
    Test("V4", "Media: three flows of a kind", "RFC 8867, 5.4", competing, _WIRED),
    Test("V5", "Media: fairness between round trips", "RFC 8867, 5.5", round_trips, _WIRED[1:]),
    Test("V6", "Media next to a long TCP flow", "RFC 8867, 5.6", long_tcp, _WIRED),
    Test("V7", "Media next to short TCP flows", "RFC 8867, 5.7", short_tcp, _WIRED),
    Test("V8", "Media: pause and resume", "RFC 8867, 5.8", pause, _WIRED),
    Test("V9", "Media: marks instead of losses", "RFC 8867, 6.2", marking, _WIRED),
    Test("V10", "Media: several bottlenecks", "RFC 8867, 6.3", bottlenecks, _WIRED[1:]),
    Test("V11", "Media over Wi-Fi, limited by a wire", "RFC 8869, 4.1", wired_bottleneck, _CELL),
    Test("V12", "Media over Wi-Fi, limited by the air", "RFC 8869, 4.2", wireless_bottleneck, _CELL),
    Test("V13", "Media: two flows with weights", "RFC 8867, 6.1", priorities, (*_WIRED, _WEIGHTS)),
)
EXPERIMENTS = tuple(_experiment(test) for test in TESTS)
