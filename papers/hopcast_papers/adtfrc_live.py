"""M6: ADTFRC between real hosts, and with a conventional TFRC at either end."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import partial

from hopcast.lab.experiment import Amount, Case, Document, Experiment, Measured, Parameter, Table
from hopcast.lab.rows import Row, value
from hopcast.numbers import significant
from hopcast.results import Result
from hopcast.scenario import Scenario
from hopcast_papers import real_hosts
from hopcast_papers.h2o.places import mbps, number
from hopcast_papers.notes import finding
from hopcast_papers.register import REGISTER

PAIRS = (("adtfrc", "adtfrc"), ("adtfrc", "tfrc"), ("tfrc", "adtfrc"), ("tfrc", "tfrc"))
"""Variants of the sender and of the receiver."""
NAMES = {"adtfrc": "ADTFRC", "tfrc": "TFRC"}
SECONDS, COUNTED_FROM = 24.0, 6.0
LOSS = 0.02
"""Per packet, not by congestion: it makes the two variants differ."""
WIRE = f"""
[[nodes]]
name = "n"
count = 2
role = "wired"
real = true

[[links]]
between = ["n0", "n1"]
rate = "10 Mb/s"
delay = "20 ms"
loss = {LOSS}
"""
PACKETS, PACKET = 100_000, 188
"""Of the transport stream, more than can be sent, and bytes of each."""


def _count(amount: Amount) -> int:
    return amount.pick(quick=2, full=10)


def _setup(amount: Amount) -> list[Parameter]:
    return [
        Parameter("hosts", "two network namespaces, joined by an emulated wire", "hopcast's own choice"),
        Parameter("wire", f"10 Mb/s, 20 ms, {LOSS:.0%} of the packets lost", "hopcast's own choice: losses that are no congestion"),
        Parameter("stream", f"`hopcast stream`, as fast as the rate allows, from {COUNTED_FROM:g} to {SECONDS:g} s", "DCCP in UDP"),
        Parameter("simulated", "a flow of each variant over the same wire, ten seeds", "both ends of the same variant"),
        Parameter("repetitions", str(_count(amount)), "not stated"),
    ]  # fmt: skip


def _named(scenario: str, seconds: float) -> str:
    return f'name = "a stream over a wire"\nduration = "{seconds} s"\nseed = 1\n{scenario}'


def _cases(amount: Amount) -> Mapping[str, Case]:
    cases = {}
    for variant in NAMES:
        flow = (
            f'\n[[flows]]\nname = "stream0"\nfrom = "n0"\nto = "n1"\nstart = "1 s"\ntransport = {{ protocol = "{variant}" }}\n'
            'application = { kind = "bulk", packet = "1328 B" }\n'
        )
        scenario = Scenario.from_toml(_named(WIRE + flow, SECONDS))
        cases[f"{NAMES[variant]}, simulated"] = Case(scenario, tuple(range(1, 11)))
    still = Scenario.from_toml(_named(WIRE, 0.001))
    repeated = tuple(range(1, 1 + _count(amount)))
    return cases | {_pair(*pair): Case(still, repeated, MEASURE[pair]) for pair in PAIRS}


def _pair(sender: str, receiver: str) -> str:
    return f"{NAMES[sender]} to {NAMES[receiver]}"


def streamed(sender: str, receiver: str, result: Result) -> Document:
    """Stream between real hosts, and read what the two ends report."""
    with real_hosts.scratch() as folder:
        media = folder / "media.ts"
        # Private data without a clock: the rate alone decides when a packet leaves.
        media.write_bytes(
            b"".join(bytes([0x47, 0x01, 0x00, 0x10 | index % 16]) + bytes(PACKET - 4) for index in range(PACKETS))
        )
        receive = (
            f"{real_hosts.HOPCAST} stream receive --variant {receiver} --output /dev/null --json > {folder}/received"
        )
        send = (
            f"sleep 1; {real_hosts.HOPCAST} stream send --variant {sender} --to {real_hosts.address(1)} --input {media} "
            f"--pace allowed --json > {folder}/sent"
        )
        real_hosts.emulated(_named(WIRE, SECONDS + 2.0), [("n1", receive), ("n0", send)], {}, folder)
        lines = [json.loads(line) for line in (folder / "received").read_text(encoding="utf-8").splitlines()]
        sent = [json.loads(line) for line in (folder / "sent").read_text(encoding="utf-8").splitlines()]
    counted = [line for line in lines if line["event"] == "statistics" and COUNTED_FROM <= line["time_s"] <= SECONDS]
    if len(counted) < 2:
        return {"rate_bps": math.nan, "arrived": math.nan}
    first, last = counted[0], counted[-1]
    octets, seconds = last["octets_delivered"] - first["octets_delivered"], last["time_s"] - first["time_s"]
    total = max((line.get("packets_sent", 0) for line in sent), default=0)
    arrived = max((line.get("packets_delivered", 0) for line in lines), default=0)
    return {"rate_bps": 8.0 * octets / seconds, "arrived": 100.0 * arrived / total if total else math.nan}


MEASURE = {pair: partial(streamed, *pair) for pair in PAIRS}


def _rows(measured: Measured) -> list[Row]:
    rows = []
    for name in NAMES.values():
        case = f"{name}, simulated"
        rows.append(value("M6", case, "rate", "Mb/s", mbps(measured, case)))
    rate = {pair: measured.sample(_pair(*pair), lambda document: float(document["rate_bps"]) / 1e6) for pair in PAIRS}
    arrived = {pair: measured.sample(_pair(*pair), lambda document: float(document["arrived"])) for pair in PAIRS}
    for pair in PAIRS:
        rows.append(value("M6", _pair(*pair), "rate", "Mb/s", rate[pair]))
        rows.append(value("M6", _pair(*pair), "arrived", "%", arrived[pair]))
    mixed = {f"{_pair(*pair)}, mixed": arrived[pair] for pair in PAIRS if pair[0] != pair[1]}
    rows += REGISTER.rows("M6.work-with-tfrc", "", "arrived", "%", mixed)
    plain = rate["tfrc", "tfrc"]
    for key, pair in (("M6.falls-back", ("adtfrc", "tfrc")), ("M6.ignores", ("tfrc", "adtfrc"))):
        rows.append(
            REGISTER.row(key, f"{_pair(*pair)} / {_pair('tfrc', 'tfrc')}", "rate ratio", "", rate[pair] / plain)
        )
    return rows


def _notes(table: Table) -> list[str]:
    rates = "; ".join(f"{_pair(*pair)} {significant(number(table, _pair(*pair), 'rate'), 3)}" for pair in PAIRS)
    back, ignored = (finding(id_, table) for id_ in ("M6.falls-back", "M6.ignores"))
    both = ", ".join(f"{significant(number(table, f'{name}, simulated', 'rate'), 3)} {name}" for name in NAMES.values())
    return [
        f"Mb/s that arrive: {rates}. Simulated: {both}.",
        f"Compared with TFRC at both ends an ADTFRC sender with a TFRC receiver has {back} times the rate. A TFRC sender ignores what an ADTFRC receiver adds, and "
        f"has {ignored} times the rate.",
        "An ADTFRC sender is by itself TFRC as of RFC 3448, whose t_RTO is 4R; `--variant tfrc` is RFC 5348, whose t_RTO is at least 1 s. At these losses "
        "and this round trip the first has about twice the rate of the second, by the throughput equation alone. So a sender that falls back "
        "doesn't have to have the rate of the other.",
    ]


EXPERIMENTS = (
    Experiment(
        "M6",
        "ADTFRC between real hosts",
        "ADTFRC works with a conventional TFRC at either end, and falls back to it (section IV). `hopcast stream` between real Linux hosts in each of "
        "the four pairings, next to the simulator.",
        _setup,
        _cases,
        _rows,
        notes=_notes,
        missing=real_hosts.missing,
        live=True,
    ),
)
