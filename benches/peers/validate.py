#!/usr/bin/env python3
"""Compare hopcast's throughput with ns-2's and ns-3's over a grid of cases, as tables in Markdown.

The peers are slow, so that what they gave is kept in a file (`--cache`) and not run again; hopcast runs afresh. Each case
is a mean over seeds with its 95 % interval. A case of the cell is right within 5 % of ns-3. A case of a string is right
within 10 % of the peer up to three hops; beyond, where seeds differ widely, if the intervals overlap. A case of two links is
right within 10 % in each link, or if the intervals overlap.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from tools import HERE, Absent, Estimate, Hopcast, Ns2, Ns3, Options, Report, RunFailed, cell_scenario

CELL_STATIONS = (1, 2, 5, 10, 20, 50)
AX_STATIONS = (5, 10, 20, 50)
HOPS = range(1, 8)
WINDOWS = (4, 32)

NS3_TCP: Options = {"iw": 4, "delack": 2, "delack-time": 0.2, "min-rto": 1, "limited-transmit": 0}
"""ns-3's TCP by RFC 5681 and 6298: what hopcast does by default."""
STANDARD_TCP: Options = {
    "flows.bulk.transport.initial_window": 4,
    "flows.bulk.transport.delayed_ack": "200 ms",
    "flows.bulk.transport.min_rto": "1 s",
}
"""The same in hopcast."""
NS3_RADIO: Options = {"control-rate": 2}
"""ns-3 answers data at 2 Mb/s with an ACK at 2 Mb/s, whatever the rate of RTS: so all control frames go at 2 Mb/s."""
NS3_LIKE: Options = {"radio.basic_rate": "2 Mb/s"}
"""The same in hopcast."""
NS3_SINR: Options = {"radio.reception": "sinr", "radio.capture": "200 dB"}
"""ns-3 decides by signal to interference and noise."""
NS3_REPAIRED: Options = {"capture": 10, "host-delay": 20e-6}
"""hopcast's rules in ns-3, where its own differ: see docs/validation.md."""
NS3_COHERENT: Options = {"errors": "coherent", "noise-figure": 5.75, "host-delay": 20e-6}
"""hopcast's rules in ns-3: coherent detection; noise in 16.5 MHz instead of 22 (10 log 16.5/22 = -1.25 dB); packets that
come after a reception and not as it ends."""
NS3_PREAMBLE: Options = {"radio.preamble_detection": "4 dB"}
"""ns-3 finds preambles of DSSS without the gain of the eleven chips."""
NS2_TCP: Options = {"iw": 2, "delack": 0, "min_rto": 0.2, "tick": 0.01, "limited_transmit": 1}
"""ns-2's own defaults."""
NS2_PROFILE_TCP: Options = {
    "flows.bulk.transport.initial_window": 2,
    "flows.bulk.transport.delayed_ack": "off",
    "flows.bulk.transport.min_rto": "0.2 s",
}
"""The same in hopcast."""


@dataclass(frozen=True)
class Pairing:
    """A peer under one set of rules, and hopcast under the like ones."""

    name: str
    """For the command line and the file of references."""
    title: str
    tool: str
    peer_options: Options
    hopcast_settings: Options
    judged: bool = True
    """Whether hopcast should agree; if not, the table only shows what the peer gives."""
    seeds: int = 10
    hopcast_with_rts: Options = field(default_factory=dict)
    """More settings of hopcast where RTS is on."""

    def settings(self, case: Case) -> Options:
        """hopcast's settings in a case."""
        more = self.hopcast_with_rts if case.peer_options.get("rts") else {}
        return {**case.hopcast_settings, **self.hopcast_settings, **more}


STRING_PAIRINGS = (
    Pairing(
        "ns-3",
        "ns-3 as it is and hopcast (`standard`)",
        Ns3.name,
        {**NS3_TCP, "reception": "sinr", **NS3_RADIO},
        {**NS3_LIKE, **STANDARD_TCP},
    ),
    Pairing(
        "ns-3-sinr",
        "ns-3 as it is and hopcast (`standard`, reception `sinr`)",
        Ns3.name,
        {**NS3_TCP, "reception": "sinr", **NS3_RADIO},
        {**NS3_SINR, **NS3_LIKE, **STANDARD_TCP},
        # ns-3.37 repeats an RTS without limit where every frame has one.
        hopcast_with_rts={"radio.retry_limit.short": 255},
    ),
    Pairing(
        "ns-3-sinr-like",
        "ns-3 (coherent detection, a host's delay) and hopcast (`standard`, reception `sinr`, preambles at 4 dB)",
        Ns3.name,
        {**NS3_TCP, "reception": "sinr", **NS3_RADIO, **NS3_COHERENT},
        {**NS3_SINR, **NS3_PREAMBLE, **NS3_LIKE, **STANDARD_TCP},
        # ns-3.37 repeats an RTS without limit where every frame has one.
        hopcast_with_rts={"radio.retry_limit.short": 255},
    ),
    Pairing(
        "ns-3-like",
        "ns-3 (10 dB, a host's delay) and hopcast (`standard`)",
        Ns3.name,
        {**NS3_TCP, "reception": "sinr", **NS3_RADIO, **NS3_REPAIRED},
        {**NS3_LIKE, **STANDARD_TCP},
        # ns-3.37 repeats an RTS without limit where every frame has one.
        hopcast_with_rts={"radio.retry_limit.short": 255},
    ),
    Pairing(
        "ns-3-equal-power",
        "ns-3 as it is and hopcast (`standard`, capture 0 dB), for information",
        Ns3.name,
        {**NS3_TCP, "reception": "sinr", **NS3_RADIO},
        # A frame at 2 Mb/s mostly survives another one of the same power there: docs/notes/ns3.md.
        {"radio.capture": "0 dB", **NS3_LIKE, **STANDARD_TCP},
        judged=False,
    ),
    Pairing(
        "ns-2", "ns-2 (AODV) and hopcast (`ns-2`)", Ns2.name, NS2_TCP, {"radio.profile": "ns-2", **NS2_PROFILE_TCP}
    ),
    Pairing(
        "ns-2-persistent",
        "ns-2 (AODV) and hopcast (`ns-2`), 255 attempts at each frame",
        Ns2.name,
        {**NS2_TCP, "retries": 255},
        {
            "radio.profile": "ns-2",
            "radio.retry_limit.short": 255,
            "radio.retry_limit.long": 255,
            **NS2_PROFILE_TCP,
        },
    ),
)
CELL_PAIRINGS = (
    Pairing("cell-ns-3", "ns-3 and hopcast (`standard`)", Ns3.name, {}, {}, seeds=3),
    # ns-2's stations never collide in pairs, and its frames know no symbols: see docs/notes/ns2.md.
    Pairing("cell-ns-2", "ns-2 and hopcast (`standard`), for information", Ns2.name, {}, {}, judged=False, seeds=3),
)
# A BlockAckReq after each missed block acknowledgment, which the standard leaves to the station and hopcast does not send,
# costs a cell of five 7 % where long A-MPDUs collide.
AX_PAIRINGS = (Pairing("ax-ns-3", "ns-3 and hopcast (`standard`)", Ns3.name, {"explicit-bar": 0}, {}, seeds=3),)
HT_STRING_PAIRINGS = (
    Pairing("ht-string-ns-3", "ns-3 and hopcast (`standard`)", Ns3.name, NS3_TCP, {}, seeds=5),
    Pairing(
        "ht-string-ns-3-persistent",
        "ns-3 and hopcast (`standard`), 100 attempts at each frame",
        Ns3.name,
        {**NS3_TCP, "ns3::WifiRemoteStationManager::MaxSsrc": 100, "ns3::WifiRemoteStationManager::MaxSlrc": 100},
        {"radio.retry_limit.short": 100, "radio.retry_limit.long": 100},
        seeds=5,
    ),
)
LINKS_PAIRINGS = (Pairing("links-ns-3", "ns-3 and hopcast (`standard`)", Ns3.name, {}, {}, seeds=5),)


@dataclass(frozen=True)
class Case:
    """One line of a table: what is run, in the peer and in hopcast, whatever the pairing."""

    program: str
    label: tuple[str, ...]
    peer_options: Options
    hopcast_settings: Options
    tolerance: float
    """Relative difference of the means that is right."""
    overlap_will_do: bool
    """Whether overlapping intervals are right, too."""
    scene: str = ""
    """The scenario for hopcast, if it has another name than the peer's program."""
    flow: int | None = None
    """The flow whose goodput counts; else all of them."""

    def scenario(self, directory: Path) -> Path:
        """The scenario for hopcast, written to `directory` where it is not one of ours."""
        if "stations" in self.peer_options:
            return cell_scenario(self.program, int(self.peer_options["stations"]), directory)
        return HERE / f"{self.scene or self.program}.toml"

    def goodput(self, report: Report) -> float:
        """What counts of a run, in bit/s."""
        return report.total_goodput_bps if self.flow is None else report.goodput_bps[self.flow]


def cell_cases() -> list[Case]:
    """Saturated cells of growing size."""
    return [Case("cell", (str(n),), {"stations": n, "start": 1, "stop": 11}, {}, 0.05, False) for n in CELL_STATIONS]


def ax_cases() -> list[Case]:
    """Saturated cells of 802.11ax. ns-3.37 aborts where A-MPDUs without RTS collide in cells of more than a few."""
    rules = [(6500631, 1, AX_STATIONS), (6500631, 0, (1, 2, 5)), (0, 0, AX_STATIONS)]
    cases = []
    for ampdu, rts, sizes in rules:
        settings: Options = {
            "radio.aggregation.ampdu": f"{ampdu} B" if ampdu else "off",
            "radio.rts_threshold": "0 B" if rts else "off",
        }
        for n in sizes:
            options = {"stations": n, "ampdu": ampdu, "rts-threshold": 0 if rts else 4692480, "start": 1, "stop": 5}
            label = (str(ampdu) if ampdu else "off", "on" if rts else "off", str(n))
            cases.append(Case("ht_cell", label, options, {**settings, "duration": "5 s"}, 0.05, False))
    return cases


def string_cases(hops: Sequence[int]) -> list[Case]:
    """TCP over a string, window by window, with and without RTS."""
    cases = []
    for window in WINDOWS:
        for rts in (0, 1):
            for k in hops:
                settings: dict[str, str | int | float] = {
                    "flows.bulk.to": f"n{k}",
                    "flows.bulk.transport.window": window,
                    "radio.rts_threshold": "0 B" if rts else "off",
                }
                options: Options = {"hops": k, "window": window, "rts": rts, "start": 10, "stop": 110}
                label = (str(window), "on" if rts else "off", str(k))
                cases.append(Case("string", label, options, settings, 0.1, k > 3))
    return cases


def ht_string_cases(hops: Sequence[int]) -> list[Case]:
    """TCP over a string of 802.11n and one of 802.11ac, with A-MPDU, without RTS."""
    # Width of the channel in MHz, the longest A-MPDU in bytes, and the spacing in m: in half the width, the noise is half
    # as strong, and 25.2 m give the SNR of 20 m. So no frame reaches beyond the neighbour in either string.
    standards: dict[str, tuple[int, int, float]] = {"n": (40, 65535, 25.2), "ac": (80, 1048575, 20)}
    cases = []
    for standard, (width, ampdu, spacing) in standards.items():
        for k in hops:
            settings: Options = {
                "flows.bulk.to": f"n{k}",
                "radio.standard": f"802.11{standard}",
                "radio.channel.width": f"{width} MHz",
                "radio.aggregation.ampdu": f"{ampdu} B",
                "nodes.n.placement.spacing": f"{spacing} m",
            }
            radio: Options = {"standard": standard, "width": width, "ampdu": ampdu, "spacing": spacing}
            options: Options = {**radio, "hops": k, "window": 32, "start": 1, "stop": 11}
            cases.append(Case("ht_string", (f"802.11{standard}", str(k)), options, settings, 0.1, k > 3))
    return cases


def links_cases() -> list[Case]:
    """Two saturated links: of hidden stations with and without RTS, of a station of 802.11n and one of 802.11a, and of networks of
    802.11ac on overlapping channels.
    """
    span: Options = {"start": 1, "stop": 6}
    cases = []
    for ampdu in (0, 8000):
        for rts in (0, 1):
            options: Options = {
                **span,
                "scene": "hidden",
                "standard": "n",
                "width": 20,
                "mcs": 2,
                "streams": 1,
                "distance": 9,
                "exponent": 5,
                "ampdu": ampdu,
                "rts-threshold": 0 if rts else 4692480,
            }
            settings: Options = {
                "radio.aggregation.ampdu": f"{ampdu} B" if ampdu else "off",
                "radio.rts_threshold": "0 B" if rts else "off",
            }
            name = f"hidden, A-MPDU {ampdu or 'off'}, RTS {'on' if rts else 'off'}"
            cases.append(Case("links", (name, "both"), options, settings, 0.1, True, "hidden"))
    legacy: Options = {"scene": "legacy", "standard": "n", "width": 20, "mcs": 7, "streams": 1, "distance": 2}
    for flow, label in enumerate(("802.11n", "802.11a")):
        options = {**span, **legacy, "ampdu": 65535}
        cases.append(Case("links", ("legacy", label), options, {}, 0.1, True, "legacy", flow))
    # Number and width of the second link's channel, the place of its primary channel, and the length of the links in metres, of which
    # their distance is twice as much; the first link has number 36 of 80 MHz.
    for number, width, primary, length in [
        (36, 80, 0, 2),
        (40, 80, 1, 2),
        (44, 80, 2, 2),
        *((number, width, 0, length) for length in (2, 6) for number, width in ((40, 20), (44, 20), (44, 40))),
    ]:
        centre = {20: number, 40: number + 2, 80: 42}[width]
        common: Options = {
            "scene": "overlap",
            "standard": "ac",
            "width": 80,
            "mcs": 7,
            "streams": 1,
            "distance": length,
        }
        options = {**span, **common, "ampdu": 1048575, "neighbour": f"{{{centre},{width},BAND_5GHZ,{primary}}}"}
        settings = {
            "nodes.a.placement.at": f"[[0, 0], [{length}, 0]]",
            "nodes.b.placement.at": f"[[0, {2 * length}], [{length}, {2 * length}]]",
            "nodes.b.radios.0.channel": f'{{ number = {number}, width = "{width} MHz" }}',
        }
        for flow, label in enumerate(("first", "second")):
            name = f"second on {number}, {width} MHz, {2 * length} m"
            cases.append(Case("links", (name, label), options, settings, 0.1, True, "overlap", flow))
    return cases


class Cache:
    """Reports of the peers' runs in a JSON file, by tool, program and options. A failed run is kept as its message."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._entries: dict[str, dict[str, object]] = json.loads(path.read_text()) if path.exists() else {}

    def get(self, key: str) -> Report | None:
        """The report, or `None` where it has not been run."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        if "failed" in entry:
            raise RunFailed(str(entry["failed"]))
        return Report.from_json(entry)

    def put(self, key: str, report: Report | RunFailed) -> None:
        """Enter it; the file is whole at any moment."""
        with self._lock:
            self._entries[key] = {"failed": str(report)} if isinstance(report, RunFailed) else report.to_json()
            self._path.parent.mkdir(parents=True, exist_ok=True)
            temporary = self._path.with_suffix(".new")
            temporary.write_text(json.dumps(self._entries, indent=1, sort_keys=True))
            os.replace(temporary, self._path)


class Bench:
    """The tools that this machine has, and the runs under way."""

    def __init__(self, arguments: argparse.Namespace, directory: Path, pool: ThreadPoolExecutor) -> None:
        self._cache = Cache(arguments.cache)
        self._directory = directory
        self._pool = pool
        self._peers: dict[str, Ns2 | Ns3] = {}
        self._hopcast: Hopcast | None = None
        openers: dict[str, Callable[[], Ns2 | Ns3]] = {
            Ns2.name: lambda: Ns2(arguments.nice),
            Ns3.name: lambda: Ns3(arguments.build, arguments.nice),
        }
        for name, opener in openers.items():
            try:
                self._peers[name] = opener()
            except Absent as absent:
                print(f"{name} is left out, but for what the cache holds: {absent}", file=sys.stderr)
        if not arguments.peers_only:
            try:
                self._hopcast = Hopcast(arguments.hopcast, arguments.nice)
            except Absent as absent:
                print(f"hopcast is left out: {absent}", file=sys.stderr)

    def peer(self, pairing: Pairing, case: Case, seed: int) -> Future[float | None]:
        """Total goodput in bit/s of one run of the peer."""
        return self._pool.submit(self._peer, pairing, case, seed)

    def hopcast(self, pairing: Pairing, case: Case, seed: int) -> Future[float | None]:
        """Total goodput in bit/s of one run of hopcast."""
        return self._pool.submit(self._own, pairing, case, seed)

    def _peer(self, pairing: Pairing, case: Case, seed: int) -> float | None:
        options = {**case.peer_options, **pairing.peer_options, "seed": seed}
        key = " ".join([pairing.tool, case.program, *(f"{name}={options[name]}" for name in sorted(options))])
        try:
            report = self._cache.get(key)
            if report is None:
                if pairing.tool not in self._peers:
                    return None
                report = self._peers[pairing.tool].run(case.program, options)
                self._cache.put(key, report)
        except RunFailed as failed:
            self._cache.put(key, failed)
            print(failed, file=sys.stderr)
            return None
        return case.goodput(report)

    def _own(self, pairing: Pairing, case: Case, seed: int) -> float | None:
        if self._hopcast is None:
            return None
        try:
            return case.goodput(self._hopcast.run(case.scenario(self._directory), pairing.settings(case), seed))
        except RunFailed as failed:
            print(failed, file=sys.stderr)
            return None


def main() -> int:
    """Run the grids and print the tables; 1 if a case is not right."""
    arguments = parse_arguments()
    for file in filter(None, (arguments.reference, arguments.out)):
        file.parent.mkdir(parents=True, exist_ok=True)
    right = True
    with tempfile.TemporaryDirectory() as directory, ThreadPoolExecutor(arguments.workers) as pool:
        bench = Bench(arguments, Path(directory), pool)
        lines: list[str] = []
        references: dict[str, object] = {}
        for heading, columns, cases, pairings in grids(arguments):
            lines += [f"## {heading}", ""]
            for pairing in pairings:
                if arguments.pairing and pairing.name not in arguments.pairing:
                    continue
                seeds = range(1, (arguments.seeds or pairing.seeds) + 1)
                table, all_right, means = compare(bench, pairing, cases, seeds, columns)
                references[pairing.name] = {
                    "title": pairing.title,
                    "tool": pairing.tool,
                    "options": dict(pairing.peer_options),
                    "columns": list(columns),
                    "cases": means,
                }
                right = right and all_right
                lines += [f"### {pairing.title}", "", *table, ""]
    if arguments.reference is not None:
        about = (
            "Goodput in bit/s that ns-2.35 and ns-3.37 (Debian) gave: mean over seeds, half width of the 95 % interval."
        )
        document = {"about": about, "command": "benches/peers/validate.py --peers-only --reference FILE", **references}
        arguments.reference.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    text = "\n".join(lines)
    if arguments.out is None:
        print(text)
    else:
        arguments.out.write_text(text + "\n", encoding="utf-8")
    return 0 if right else 1


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--grid", choices=("cell", "ax", "string", "ht-string", "links", "all"), default="all")
    names = [
        pairing.name for pairing in CELL_PAIRINGS + AX_PAIRINGS + STRING_PAIRINGS + HT_STRING_PAIRINGS + LINKS_PAIRINGS
    ]
    parser.add_argument("--pairing", choices=names, nargs="+", help="only these; default: all")
    parser.add_argument("--hops", type=int, nargs="+", default=list(HOPS), help="hops of the string's flow")
    parser.add_argument("--seeds", type=int, help="seeds a case; default: the pairing's own number")
    parser.add_argument("--cache", type=Path, default=HERE / "build" / "reference.json", help="what the peers gave")
    parser.add_argument("--build", type=Path, default=HERE / "build", help="where the ns-3 programs are built")
    parser.add_argument("--hopcast", help="hopcast's executable")
    parser.add_argument("--peers-only", action="store_true", help="fill the cache, without hopcast")
    parser.add_argument("--workers", type=int, default=2, help="processes at a time")
    parser.add_argument("--nice", type=int, default=0, help="niceness of the runs")
    parser.add_argument("--reference", type=Path, help="write the means here as JSON, too")
    parser.add_argument("--out", type=Path, help="write the tables here instead of printing them")
    return parser.parse_args()


Grid = tuple[str, tuple[str, ...], list[Case], tuple[Pairing, ...]]


def grids(arguments: argparse.Namespace) -> Iterator[Grid]:
    """Heading, columns, cases and pairings of each grid asked for."""
    if arguments.grid in ("cell", "all"):
        heading = "Saturated 802.11a cell, 54 Mb/s, 1472 B, no RTS: Mb/s in all"
        yield heading, ("stations",), cell_cases(), CELL_PAIRINGS
    if arguments.grid in ("ax", "all"):
        heading = "Saturated 802.11ax cell, 80 MHz, MCS 9, two streams, 1472 B: Mb/s in all"
        yield heading, ("A-MPDU, B", "RTS", "stations"), ax_cases(), AX_PAIRINGS
    if arguments.grid in ("string", "all"):
        heading = "TCP NewReno over a string, 2 Mb/s, 1000 B: Mb/s"
        yield heading, ("window", "RTS", "hops"), string_cases(arguments.hops), STRING_PAIRINGS
    if arguments.grid in ("ht-string", "all"):
        heading = "TCP NewReno over a string of 802.11n (40 MHz) and 802.11ac (80 MHz), MCS 3, one stream, 1448 B: Mb/s"
        yield heading, ("standard", "hops"), ht_string_cases(arguments.hops), HT_STRING_PAIRINGS
    if arguments.grid in ("links", "all"):
        heading = "Two saturated links of 802.11n or 802.11ac, 1472 B: Mb/s"
        yield heading, ("scene", "link"), links_cases(), LINKS_PAIRINGS


def compare(
    bench: Bench, pairing: Pairing, cases: Sequence[Case], seeds: range, columns: tuple[str, ...]
) -> tuple[list[str], bool, dict[str, object]]:
    """Lines of the table of one pairing, whether every case is right, and the means by case."""
    runs = [
        ([bench.peer(pairing, case, seed) for seed in seeds], [bench.hopcast(pairing, case, seed) for seed in seeds])
        for case in cases
    ]
    header = [*columns, pairing.tool, "± 95 %", "seeds", "hopcast", "± 95 %", "hopcast / peer", "right"]
    table = [row(header), row(["---:"] * len(header))]
    all_right = True
    means: dict[str, object] = {}
    for case, (peer_runs, own_runs) in zip(cases, runs, strict=True):
        peer, own = estimate(peer_runs), estimate(own_runs)
        ratio, verdict = "–", "–"
        if peer is not None:
            means[" ".join(case.label)] = as_json(peer) | ({} if own is None else {"hopcast": as_json(own)})
        if peer is not None and own is not None:
            ratio = f"{own.mean / peer.mean:.3f}" if peer.mean > 0 else "–"
            if pairing.judged:
                is_right = is_close(case, peer, own)
                verdict = "yes" if is_right else "**no**"
                all_right = all_right and is_right
        count = "–" if peer is None else str(peer.count)
        table.append(row([*case.label, *in_mbps(peer), count, *in_mbps(own), ratio, verdict]))
    return table, all_right, means


def is_close(case: Case, peer: Estimate, own: Estimate) -> bool:
    """Whether hopcast's figure is right by the case's measure."""
    if abs(own.mean - peer.mean) <= case.tolerance * peer.mean:
        return True
    return case.overlap_will_do and own.overlaps(peer)


def estimate(runs: Sequence[Future[float | None]]) -> Estimate | None:
    """Mean over the runs that gave a figure; `None` if none did."""
    values = [value for value in (run.result() for run in runs) if value is not None]
    return Estimate.of(values) if values else None


def as_json(estimated: Estimate) -> dict[str, object]:
    """Mean and half width in bit/s."""
    ci95 = None if math.isnan(estimated.half_width) else round(estimated.half_width, 1)
    return {"mean": round(estimated.mean, 1), "ci95": ci95, "seeds": estimated.count}


def in_mbps(estimated: Estimate | None) -> tuple[str, str]:
    """Mean and half width in Mb/s."""
    if estimated is None:
        return "–", "–"
    width = "–" if math.isnan(estimated.half_width) else f"{estimated.half_width / 1e6:.4f}"
    return f"{estimated.mean / 1e6:.4f}", width


def row(cells: Sequence[str]) -> str:
    """A line of a Markdown table."""
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
