"""TFRC beside TCP on a dumbbell of wires, and alone over a wire that loses at random, in hopcast and in ns-2.35.

n flows of TFRC and n of TCP (SACK) share a wire of 15 Mb/s with a drop-tail queue, as in figure 6 of S. Floyd, M. Handley,
J. Padhye, J. Widmer, "Equation-based congestion control for unicast applications", ACM SIGCOMM 2000; round trips and starts are
drawn here, for both simulators. Two flows share a narrow wire, with ADTFRC in the place of TFRC too. `dumbbell.json` keeps each run: what it has already is not run again.

    .venv/bin/python benches/transport/dumbbell.py             # both; ns-2 is Debian's package ns2
    .venv/bin/python benches/transport/dumbbell.py --again hopcast    # after a change of results
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import hopcast

Simulator = Literal["hopcast", "ns-2"]
Run = dict[str, Any]

HERE = Path(__file__).parent
RESULTS = Path(__file__).with_suffix(".json")
RATE = 15e6
"""bit/s of the wire that is shared (figure 6 of the paper)."""
ACCESS = 1e9
"""bit/s of the wires at both ends of a flow."""
SEGMENT = 1000
"""Octets of payload."""
HEADERS = {"tfrc": 36, "tcp": 40}
"""Octets with IP: 16 of DCCP with long numbers, 20 of TCP. ns-2 is told the same."""
ROUND_TRIPS = (0.05, 0.1)
"""Seconds between which they are drawn, without queues."""
QUEUE = 135
"""Packets: as many as the wire carries in the mean round trip, 15 Mb/s · 75 ms / 1040 octets."""
FROM, STOP = 30.0, 90.0
"""Seconds between which throughput is measured."""
LATEST = 10.0
"""Seconds within which all flows have started."""
NARROW_RATE = 2e6
"""bit/s of the wire that two flows share."""
NARROW_TRIPS = (0.04, 0.044)
"""Seconds: alike, but for what decides whose packets find the queue full."""
NARROW_QUEUES = (20, 50)
NARROW_STOP = 150.0
NARROW_LATEST = 1.0
PAIRS = (1, 2, 4, 8, 16)
LOSSES = (0.001, 0.003, 0.01, 0.03, 0.05)
TRIPS = (0.01, 0.05, 0.1, 0.2)
"""Seconds, for flows that are alone."""
LOST = 1000
"""Packets that a flow alone loses about, while it is measured."""
TCP_LOSSES, TCP_TRIP = (0.003, 0.01, 0.03), 0.1
"""For a flow of TCP that is alone: where eight and sixteen pairs have their share, and one beyond."""
DELAYED: dict[Simulator, dict[str, Any]] = {"hopcast": {"tcp.delayed_ack": "200 ms"}, "ns-2": {"delack": 0.2}}
TIMEOUT = 1.0
"""t_RTO in seconds: max(4R, 1 s) for all of `TRIPS` (RFC 5348, section 3.1)."""

SENDERS = {
    "tfrc": {"protocol": "tfrc"},
    "tcp": {
        "protocol": "tcp",
        "variant": "sack",
        "segment": SEGMENT,
        "window": 10000,
        # As in ns-2: its TCP knows no other initial window, and its least timeout is 0.2 s. The equation is that of a TCP
        # whose acknowledgements are not delayed.
        "initial_window": 2,
        "min_rto": "0.2 s",
        "delayed_ack": "off",
    },
}


@dataclass(frozen=True)
class Case:
    """A dumbbell in a simulator. `changes` are of hopcast keys of `SENDERS`, of ns-2 options of `dumbbell.tcl`."""

    simulator: Simulator
    pairs: int = 0
    """Flows of TFRC, and as many of TCP; 0 is one flow alone."""
    loss: float = 0.0
    """Share of the packets that the shared wire loses, either way."""
    trip: float = 0.0
    """Seconds: the round trip of a flow alone."""
    narrow: int = 0
    """Places of the queue, where the wire is the narrow one."""
    alone: str = "tfrc"
    """Whose a flow alone is."""
    changes: tuple[tuple[str, Any], ...] = ()

    @property
    def span(self) -> tuple[float, float]:
        """Seconds between which throughput is measured."""
        if self.pairs:
            return FROM, NARROW_STOP if self.narrow else STOP
        seconds = 8.0 * SEGMENT * LOST / self.loss / throughput(self.loss, self.trip, TIMEOUT)
        return 20.0, 20.0 + round(seconds)

    @property
    def rate(self) -> float:
        """bit/s of the wire that is shared, or loses."""
        return NARROW_RATE if self.narrow else RATE if self.pairs else ACCESS

    @property
    def queue(self) -> int:
        """Its places."""
        return self.narrow or QUEUE


NARROW: dict[Simulator, tuple[dict[str, Any], ...]] = {
    "hopcast": (
        {"tfrc.variant": "rfc3448"},
        {"tfrc.variant": "ns-2"},
        {"tfrc.protocol": "adtfrc"},
        {"tfrc.protocol": "adtfrc", "tfrc.metric": "idd"},
        {"tfrc.protocol": "adtfrc", "tfrc.metric": "stt"},
    ),
    # Times drawn: between packets of TFRC, up to half longer or shorter; before each of TCP up to 8 ms, two packets' on the wire.
    "ns-2": ({"tfrc_min_rto": 1}, {"tfrc_overhead": 0.5, "tcp_overhead": 0.008}),
}
"""What is changed on the narrow wire: other senders in the place of TFRC, and packets that are no clockwork."""
CHANGES: dict[Simulator, tuple[dict[str, Any], ...]] = {
    "hopcast": (
        {"tfrc.variant": "rfc3448"},
        {"tfrc.variant": "ns-2"},
        {"tcp.min_rto": "1 s"},
        DELAYED["hopcast"],
    ),
    "ns-2": (
        {"tfrc_min_rto": 1},
        {"tfrc_min_rto": 1, "tfrc_reordering": 3},
        {"tfrc_min_rto": 1, "tfrc_weight": 0.9, "tfrc_discount": 0.25},
        DELAYED["ns-2"],
    ),
}
"""What may cause a difference."""
ALONE: dict[Simulator, int] = {"hopcast": 2, "ns-2": 1}
"""Changes of a flow that is alone: so many of the first."""


def throughput(loss: float, trip: float, timeout: float) -> float:
    """bit/s of payload by RFC 5348, section 3.1, of the share of packets that are lost, the round trip and t_RTO in seconds."""
    window = 1.0 / (2.0 * loss / 3.0) ** 0.5
    waiting = timeout * 3.0 * (3.0 * loss / 8.0) ** 0.5 * loss * (1.0 + 32.0 * loss**2)
    return 8.0 * SEGMENT / (trip / window + waiting)


def cases() -> Iterator[Case]:
    """What is measured: the flows beside each other, those alone, and the suspected causes."""
    for simulator, suspects in CHANGES.items():
        for changes in ({}, *suspects):
            for pairs in PAIRS:
                yield Case(simulator, pairs, changes=tuple(changes.items()))
    for narrow in NARROW_QUEUES:
        for simulator, others in NARROW.items():
            for changes in ({}, *others):
                yield Case(simulator, 1, narrow=narrow, changes=tuple(changes.items()))
    for simulator, suspects in CHANGES.items():
        for changes in ({}, *suspects[: ALONE[simulator]]):
            for trip in TRIPS:
                for loss in LOSSES:
                    yield Case(simulator, loss=loss, trip=trip, changes=tuple(changes.items()))
    for simulator, delayed in DELAYED.items():
        for changes in ({}, delayed):
            for loss in TCP_LOSSES:
                yield Case(simulator, loss=loss, trip=TCP_TRIP, alone="tcp", changes=tuple(changes.items()))


def flows(case: Case, seed: int) -> Iterator[tuple[str, float, float]]:
    """Protocol, round trip and start of each flow in seconds."""
    if not case.pairs:
        yield case.alone, case.trip, 0.0
        return
    draws = random.Random(f"flows of {seed}")
    trips, latest = (NARROW_TRIPS, NARROW_LATEST) if case.narrow else (ROUND_TRIPS, LATEST)
    for _ in range(case.pairs):
        for protocol in SENDERS:
            yield protocol, draws.uniform(*trips), draws.uniform(0.0, latest)


def scenario(case: Case, seed: int) -> hopcast.Scenario:
    """The dumbbell for hopcast. The wires of a flow to the routers have its whole delay, that between them has none."""
    changes = dict(case.changes)
    senders: dict[str, Any] = {
        protocol: settings
        | {key.removeprefix(f"{protocol}."): value for key, value in changes.items() if key.startswith(f"{protocol}.")}
        for protocol, settings in SENDERS.items()
    }
    links: list[Any] = [
        {"between": ["left", "right"], "rate": case.rate, "queue": {"packets": case.queue}, "loss": case.loss},
    ]
    nodes, made = ["left", "right"], []
    for index, (protocol, trip, start) in enumerate(flows(case, seed)):
        source, sink = f"source{index}", f"sink{index}"
        nodes += [source, sink]
        wire = {"rate": ACCESS, "delay": trip / 4.0, "queue": {"packets": 10000}}
        links += [{"between": [source, "left"]} | wire, {"between": ["right", sink]} | wire]
        made.append(
            {
                "name": f"{protocol}{index}",
                "from": source,
                "to": sink,
                "start": start,
                "transport": senders[protocol],
                "application": {"kind": "bulk", "packet": SEGMENT},
            }
        )
    return hopcast.Scenario(
        name="dumbbell",
        duration=case.span[1],
        seed=seed,
        radio={},
        nodes=[{"name": name, "role": "wired"} for name in nodes],
        links=links,
        flows=made,
    )


def measure(case: Case, seed: int) -> Run:
    """One run: of each flow bit/s of payload within the span, of all of a protocol the share of packets that were lost, and how many
    losses ADTFRC took for congestion, of those that were scored."""
    return (_hopcast if case.simulator == "hopcast" else _ns2)(case, seed)


def _hopcast(case: Case, seed: int) -> Run:
    result = hopcast.run(scenario(case, seed), threads=1)
    start, stop = case.span
    series = result.series
    within = series.filter((series["time_s"] > start + 1e-6) & (series["time_s"] <= stop + 1e-6))
    rates = [float(within.filter(within["flow"] == name)["rate_bps"].mean()) for name in result.flows["name"]]
    nodes = {node["name"]: node for node in result.nodes.iter_rows(named=True)}
    sent, lost = dict.fromkeys(SENDERS, 0), dict.fromkeys(SENDERS, 0)
    for index, flow in enumerate(result.flows.iter_rows(named=True)):
        protocol = flow["name"].rstrip("0123456789")
        sent[protocol] += nodes[f"source{index}"]["originated"]
        lost["tfrc"] += flow["lost_packets"] if protocol == "tfrc" else 0
    lost["tcp"] = nodes["left"]["drop_queue_full"] + nodes["left"]["drop_link_loss"] - lost["tfrc"]
    run = _run(seed, rates, sent, lost)
    if identified := result.json()["flows"][0].get("identification"):
        # All of them are at the full queue.
        by_cause = identified[dict(case.changes).get("tfrc.metric", "joint")]["by_cause"]
        taken = [row["congestion"] for row in by_cause.values()]
        scored = [count for row in by_cause.values() for count in row.values()]
        run["congestion"] = [sum(taken), sum(scored)]
    return run


def _ns2(case: Case, seed: int) -> Run:
    start, stop = case.span
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "flows.txt"
        lines = [f"{protocol} {trip / 4.0!r} {at!r}" for protocol, trip, at in flows(case, seed)]
        table.write_text("\n".join(lines) + "\n", encoding="utf-8")
        options = {
            "flows": table,
            "seed": seed,
            "from": start,
            "stop": stop,
            "rate": case.rate,
            "queue": case.queue,
            "access": ACCESS,
            "loss": case.loss,
            "segment": SEGMENT,
            "tfrc_header": HEADERS["tfrc"],
        } | dict(case.changes)
        arguments = [text for key, value in options.items() for text in (f"-{key}", str(value))]
        done = subprocess.run(["ns", HERE / "dumbbell.tcl", *arguments], check=True, capture_output=True, text=True)
    told = json.loads(done.stdout)
    octets = [after - before for before, after in zip(told["before"], told["after"], strict=True)]
    sent = dict.fromkeys(SENDERS, 0)
    for (protocol, _, _), packets in zip(flows(case, seed), told["sent"], strict=True):
        sent[protocol] += packets
    lost = dict(zip(SENDERS, told["lost"], strict=True))
    if case.alone == "tcp":
        # ns-2 counts what a queue drops, not what a wire loses.
        sent.clear()
    return _run(seed, [8.0 * arrived / (stop - start) for arrived in octets], sent, lost)


def _run(seed: int, rates: list[float], sent: dict[str, int], lost: dict[str, int]) -> Run:
    shares = {protocol: round(lost[protocol] / packets, 6) for protocol, packets in sent.items() if packets}
    return {"seed": seed, "bps": [round(rate) for rate in rates], "lost": shares}


def read(path: Path = RESULTS) -> dict[Case, list[Run]]:
    """The runs of each case that was measured."""
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    return {
        Case(**(one["case"] | {"changes": tuple((key, value) for key, value in one["case"]["changes"])})): one["runs"]
        for one in kept
    }


def write(measured: dict[Case, list[Run]], path: Path = RESULTS) -> None:
    """Keeps the runs, one in a line, in the order of `cases`."""
    blocks = []
    for case in (case for case in cases() if case in measured):
        lines = ",\n  ".join(json.dumps(run) for run in measured[case])
        blocks.append(f'{{"case": {json.dumps(asdict(case))}, "runs": [\n  {lines}\n]}}')
    path.write_text("[\n" + ",\n".join(blocks) + "\n]\n", encoding="utf-8")


def main() -> None:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20, help="runs of each case")
    parser.add_argument("--alone", type=int, default=5, help="runs of each case of TFRC alone")
    parser.add_argument("--again", choices=list(CHANGES), help="forget the runs of this simulator")
    given = parser.parse_args()
    measured = {case: runs for case, runs in read().items() if case.simulator != given.again}
    for case in cases():
        runs = measured.setdefault(case, [])
        wanted = given.alone if case.loss and case.alone == "tfrc" else given.seeds
        if len(runs) < wanted:
            runs += [measure(case, seed) for seed in range(len(runs) + 1, wanted + 1)]
            write(measured)
            print(case, flush=True)


if __name__ == "__main__":
    main()
