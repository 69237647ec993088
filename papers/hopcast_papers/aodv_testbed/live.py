"""A6: AODV between real Linux hosts: discovery, break and repair of a route, next to the simulator's."""

from __future__ import annotations

import math
import subprocess
import time
from collections.abc import Mapping, Sequence

from hopcast.lab.experiment import Amount, Case, Document, Experiment, Measured, Parameter, Table
from hopcast.lab.rows import Row, Sample, value
from hopcast.numbers import significant
from hopcast.results import Result
from hopcast.scenario import Scenario
from hopcast_papers import real_hosts
from hopcast_papers.h2o.places import number

HOPS = (1, 2, 3, 4)
START = 6.0
"""Seconds: by then hellos have been exchanged."""
GAP, LASTS = 0.05, 15.0
"""Seconds between pings, and in which they are sent, in the measurement of a break."""
BREAK = 4.0
"""Seconds from the first ping to the break."""

RADIO = """
[radio]
standard = "802.11b"
data_rate = "11 Mb/s"
propagation = { model = "range", receive = "120 m", carrier_sense = "250 m" }
"""
LINE = (
    RADIO
    + """
[[nodes]]
name = "n"
count = 5
real = true
placement = { shape = "line", spacing = "100 m" }
routing = { protocol = "aodv" }
"""
)
PLACES = ((0.0, 0.0), (100.0, 0.0), (200.0, 0.0), (40.0, 90.0), (150.0, 90.0))
"""Metres: n0 reaches n2 over n1, or over n3 and n4."""
LEAVES = f"""$node_(0) set X_ {PLACES[1][0]}
$node_(0) set Y_ {PLACES[1][1]}
$ns_ at {START + BREAK} "$node_(0) setdest {PLACES[1][0]} -1000.0 200.0"
"""
"""n1's movement: out of reach within a third of a second."""
DETOUR_LINKS = ((0, 1), (1, 2), (0, 3), (3, 4), (4, 2))
RATES = {"over veth": "veth", "over the emulated radio": "radio"}


def _detour(folder: str) -> str:
    nodes = ""
    for node, (x, y) in enumerate(PLACES):
        moves = f'mobility = {{ model = "trace", file = "{folder}/leaves.movements" }}\n' if node == 1 else ""
        place = "" if node == 1 else f'placement = {{ shape = "points", at = [["{x} m", "{y} m"]] }}\n'
        nodes += f'\n[[nodes]]\nname = "n{node}"\nreal = true\n{place}{moves}routing = {{ protocol = "aodv" }}\n'
    return RADIO + nodes


def _named(scenario: str, name: str, seconds: float) -> str:
    return f'name = "{name}"\nduration = "{seconds} s"\nseed = 1\n{scenario}'


def _flow(sink: int, application: str) -> str:
    return f"""
[[flows]]
name = "stream0"
from = "n0"
to = "n{sink}"
start = "{START} s"
transport = {{ protocol = "udp" }}
application = {application}
"""


def _count(amount: Amount) -> int:
    return amount.pick(quick=2, full=10)


def _setup(amount: Amount) -> list[Parameter]:
    return [
        Parameter("router", "`hopcast node`, AODV as in RFC 3561", "the testbed's was in its kernel's ARP (section 2)"),
        Parameter(
            "hosts", "five network namespaces, joined by veth, or by the emulated radio at 11 Mb/s", "hopcast's own choice"
        ),
        Parameter("discovery", "the first ping from the first host over one to four hops: there and back", "section 4.1 is missing"),
        Parameter(
            "break",
            f"pings each {GAP:g} s over two hops, whose relay goes away; the way round has three hops",
            "hopcast's own choice",
        ),
        Parameter("simulated", "the same places, one packet one way; a stream of packets each 50 ms one way", "hopcast's own choice"),
        Parameter("repetitions", f"{_count(amount)}; of the simulation 10 seeds", "not stated"),
    ]  # fmt: skip


def _cases(amount: Amount) -> Mapping[str, Case]:
    cases = {}
    simulated, repeated = tuple(range(1, 11)), tuple(range(1, 1 + _count(amount)))
    for hops in HOPS:
        one = _flow(hops, '{ kind = "cbr", packet = "64 B", rate = "512 b/s" }').replace(
            f'start = "{START} s"', f'start = "{START} s"\nstop = "{START + 0.5} s"'
        )
        cases[_discovery(hops, "simulated")] = Case(
            Scenario.from_toml(_named(LINE + one, f"discovery over {hops} hops", START + 5.0)), simulated
        )
    with real_hosts.scratch() as folder:
        (folder / "leaves.movements").write_text(LEAVES, encoding="utf-8")
        packets = f'{{ kind = "cbr", packet = "64 B", rate = "{64 * 8 / GAP} b/s" }}'
        for name, detection in (("simulated", "both"), ("simulated, by hellos alone", "hello")):
            made = Scenario.from_toml(
                _named(_detour(str(folder)) + _flow(2, packets), "a relay goes away", START + LASTS)
            )
            for node in range(len(PLACES)):
                made = made.set(f"nodes.n{node}.routing.link_detection", detection)
            cases[_break(name)] = Case(made, simulated)
    still = Scenario.from_toml(_named(LINE, "real hosts", 0.001))
    for name, measure in (("over veth", over_veth), ("over the emulated radio", over_radio)):
        cases[name] = Case(still, repeated, measure)
    return cases


def _discovery(hops: int, where: str) -> str:
    return f"{hops} hop{'' if hops == 1 else 's'}, {where}"


def _break(where: str) -> str:
    return f"a relay goes away, {where}"


def over_veth(result: Result) -> Document:
    """Measure real routers over veth."""
    found: Document = {"discovery_s": {}}
    for hops in HOPS:
        with real_hosts.routed([(node, node + 1) for node in range(4)]) as names:
            ping = f"ping -c 5 -i 0.2 -W 3 {real_hosts.address(hops)}"
            found["discovery_s"][str(hops)] = _first(_output(real_hosts.within(names[0], ping)))
    with real_hosts.routed(DETOUR_LINKS) as names:
        sent = int(LASTS / GAP)
        ping = f"ping -c {sent} -i {GAP} -W 1 {real_hosts.address(2)}"
        with subprocess.Popen(real_hosts.within(names[0], ping), stdout=subprocess.PIPE, text=True) as pinging:
            time.sleep(BREAK)
            for link in ("to0", "to2"):
                subprocess.run(["ip", "-n", names[1], "link", "set", link, "down"], check=True)
            text, _ = pinging.communicate()
        found |= _outage(text, sent)
    return found


def over_radio(result: Result) -> Document:
    """Measure real routers over the emulated radio."""
    found: Document = {"discovery_s": {}}
    with real_hosts.scratch() as folder:
        for hops in HOPS:
            ping = f"sleep {START}; ping -c 5 -i 0.2 -W 3 {real_hosts.address(hops)} > {folder}/ping"
            programs = [*_routers(5), ("n0", ping)]
            scenario = _named(LINE, "real hosts", START + 5.0)
            real_hosts.emulated(scenario, programs, {"nodes.n.routing.protocol": '"none"'}, folder)
            found["discovery_s"][str(hops)] = _first((folder / "ping").read_text(encoding="utf-8"))
        (folder / "leaves.movements").write_text(LEAVES, encoding="utf-8")
        sent = int(LASTS / GAP)
        ping = f"sleep {START}; ping -c {sent} -i {GAP} -W 1 {real_hosts.address(2)} > {folder}/ping"
        changes = {f"nodes.n{node}.routing.protocol": '"none"' for node in range(5)}
        scenario = _named(_detour(str(folder)), "real hosts", START + LASTS + 2.0)
        real_hosts.emulated(scenario, [*_routers(5), ("n0", ping)], changes, folder)
        found |= _outage((folder / "ping").read_text(encoding="utf-8"), sent)
    return found


def _routers(count: int) -> list[tuple[str, str]]:
    return [(f"n{node}", f"exec {real_hosts.router(node, ['wlan0'])}") for node in range(count)]


def _output(command: Sequence[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def _first(text: str) -> float:
    """Seconds until the first ping was answered."""
    return real_hosts.pinged(text).get(1, math.nan)


def _outage(text: str, sent: int) -> Document:
    """Pings without an answer, as a time, and the 99th percentile of the time to an answer: what waits for a new route
    is late and not lost.
    """
    answered = real_hosts.pinged(text)
    lost = sum(1 for index in range(1, sent + 1) if index not in answered)
    late = sorted(answered.values())
    return {"outage_s": GAP * lost, "p99_s": late[int(0.99 * (len(late) - 1))] if late else math.nan}


def _rows(measured: Measured) -> list[Row]:
    rows = []
    simulated = {}
    for hops in HOPS:
        case = _discovery(hops, "simulated")
        simulated[hops] = measured.flow(case, "stream0", "delay_mean_s")
        rows.append(value("A6", case, "discovery", "ms", _milliseconds(simulated[hops]), note="One way"))
    for where in RATES:
        for hops in HOPS:
            found = measured.sample(where, lambda document, hops=hops: float(document["discovery_s"][str(hops)]))  # type: ignore[misc]
            rows.append(
                value("A6", _discovery(hops, where), "discovery", "ms", _milliseconds(found), note="There and back")
            )
            ratio = Sample.of(lambda live, hops=hops: live / simulated[hops].mean, found)
            rows.append(value("A6", _discovery(hops, where), "live / simulated", "", ratio))
        lost = measured.sample(where, lambda document: float(document["outage_s"]))
        rows.append(value("A6", _break(where), "outage", "s", lost, note="Time of the packets that were lost"))
        late = measured.sample(where, lambda document: float(document["p99_s"]))
        rows.append(value("A6", _break(where), "delay, 99th percentile", "s", late, note="There and back"))
    for where in ("simulated", "simulated, by hellos alone"):
        lost = measured.flow(_break(where), "stream0", "lost_packets")
        rows.append(value("A6", _break(where), "outage", "s", Sample.of(lambda count: GAP * count, lost)))
        late = measured.flow(_break(where), "stream0", "delay_p99_s")
        rows.append(value("A6", _break(where), "delay, 99th percentile", "s", late, note="One way"))
    return rows


def _milliseconds(found: Sample) -> Sample:
    return Sample.of(lambda seconds: 1e3 * seconds, found)


def _notes(table: Table) -> list[str]:
    def line(metric: str, cases: Sequence[str]) -> str:
        return ", ".join(significant(number(table, case, metric), 3) for case in cases)

    return [
        "First packet over one to four hops, in ms: "
        + "; ".join(
            f"{line('discovery', [_discovery(hops, where) for hops in HOPS])} {where}"
            for where in ("simulated", *RATES)
        )
        + ". The waits are AODV's. A search within one hop that finds nothing takes 240 ms, one within three 400 ms "
        "(RING_TRAVERSAL_TIME). So two hops wait for one of them and four for two.",
        "Outage after the relay went away, in s: "
        + "; ".join(
            f"{line('outage', [_break(where)])} {where}"
            for where in ("simulated", "simulated, by hellos alone", *RATES)
        )
        + ". Over veth the interfaces go down, which the routers see at once, and packets wait for the new route. Radios don't tell a program of frames that they gave up: over the "
        "emulated radio the router misses hellos for 2 s, or learns that ARP finds no answer.",
    ]


EXPERIMENTS = (
    Experiment(
        "A6",
        "AODV between real hosts",
        "The paper measures AODV between real laptops; its section on route discovery is missing from the text. `hopcast node` between real Linux "
        "hosts, next to the simulator: discovery over one to four hops, and break and repair of a route.",
        _setup,
        _cases,
        _rows,
        notes=_notes,
        missing=real_hosts.missing,
        live=True,
    ),
)
