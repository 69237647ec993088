"""Q4: a call behind the queues of an access point, next to a download of a slow station.

The cell and the queues are those of Q1 to Q3. The study judges nothing, and nothing of it counts towards the papers' tally.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from hopcast.lab.experiment import Amount, Case, Cells, Document, Experiment, Measured, Parameter, Table
from hopcast.lab.rows import Row, value
from hopcast.numbers import significant
from hopcast_papers import fair_queues
from hopcast_papers.fair_queues import FAR, NEAR
from hopcast_papers.h2o.places import number
from hopcast_papers.media_suite import CONTROLS, MAX_RATE, media

QUEUES = ("FIFO", "FQ-CoDel", "AQL")
"""Of `fair_queues.QUEUES`: one queue for all, fair queues above the MAC, and those of mac80211 in it."""
CALL = "call"
DOWNLOAD = "slow"


def _case(queue: str, control: str) -> str:
    return f"{queue}, {control}"


def _seeds(amount: Amount) -> tuple[int, ...]:
    return tuple(range(1, amount.pick(quick=3, full=10) + 1))


def _duration(amount: Amount) -> float:
    return amount.pick(quick=20.0, full=60.0)


def _cases(amount: Amount) -> Mapping[str, Case]:
    def of(queue: str, control: str) -> Case:
        flows = [media(CALL, ("server", "fast0"), control, start=2.0), fair_queues.download(DOWNLOAD)]
        return Case(fair_queues.cell(_duration(amount), queue, fair_queues.of_three(), flows), _seeds(amount))

    return {_case(queue, control): of(queue, control) for queue in QUEUES for control in CONTROLS}


def _flow(document: Document, name: str) -> Document:
    return next(flow for flow in document["flows"] if flow["name"] == name)


def _rate(document: Document) -> float:
    return 1e-6 * float(_flow(document, CALL)["goodput_bps"] or 0.0)


def _delay(document: Document) -> float:
    """95th percentile in ms; none where nothing arrived."""
    delay = _flow(document, CALL)["delay_p95_s"]
    return math.nan if delay is None else 1e3 * float(delay)


def _freezes(document: Document) -> float:
    """A minute of the time for which the display had a picture; none where it never had one."""
    call = _flow(document, CALL)
    shown = (call["played_s"] or 0.0) + (call["hiccup_time_s"] or 0.0)
    return 60.0 * float(call["hiccups"]) / shown if shown else math.nan


def _download(document: Document) -> float:
    return 1e-6 * float(_flow(document, DOWNLOAD)["goodput_bps"] or 0.0)


METRICS: Mapping[str, tuple[str, Callable[[Document], float]]] = {
    "rate": ("Mb/s", _rate),
    "delay, 95 %": ("ms", _delay),
    "freezes a minute": ("", _freezes),
    "download": ("Mb/s", _download),
}


def _rows(measured: Measured) -> list[Row]:
    return [
        value("Q4", case, metric, unit, measured.sample(case, found))
        for case in measured.documents
        for metric, (unit, found) in METRICS.items()
    ]


def _tables(table: Table) -> list[Cells]:
    def cell(queue: str, control: str) -> str:
        rate, delay, freezes, download = (number(table, _case(queue, control), metric) for metric in METRICS)
        late = "–" if math.isnan(delay) else f"{delay:.0f}"
        return f"{significant(rate, 2)}, {late}, {freezes:.1f}, {significant(download, 2)}"

    lines = [[queue, *(cell(queue, control) for control in CONTROLS)] for queue in QUEUES]
    title = "Rate of the call in Mb/s, 95th percentile of its delay in ms, freezes a minute, the download in Mb/s"
    return [Cells(title, ["queue", *CONTROLS], lines)]


def _setup(amount: Amount) -> list[Parameter]:
    return [
        Parameter("cell", f"the one of Q1: 802.11n, 20 MHz, stations at {NEAR:g} and {FAR:g} m", "docs/studies.md, Q"),
        Parameter("call", f"to a near station from 2 s on: RTP, an encoder of 150 kb/s to {MAX_RATE / 1e6:g} Mb/s, an adaptive jitter buffer", "as in V; RFC 8593"),
        Parameter("download", "CUBIC to the far station, as in Q2", "ours: it needs most of the airtime"),
        Parameter("queues", "FIFO of 1000 packets, FQ-CoDel above the MAC, mac80211's with airtime limits", "as in Q1"),
        Parameter("run", f"{_duration(amount):g} s", "ours"),
        Parameter("seeds", str(len(_seeds(amount))), "ours"),
    ]  # fmt: skip


def _notes(table: Table) -> Sequence[str]:
    return ["Nothing here is judged or counted."]


EXPERIMENTS = (
    Experiment(
        "Q4",
        "Queues: a call next to the download of a slow station",
        "Five congestion controls of media behind the queues of Q1 to Q3.",
        _setup,
        _cases,
        _rows,
        lambda table: (),
        _notes,
        tables=_tables,
    ),
)
