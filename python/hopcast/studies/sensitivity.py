"""How findings depend on parameters that the papers leave unstated.

Where a paper does not state a parameter, an experiment runs with one value, which its parameters name with a source.
This module tries other plausible values, one at a time, with everything else unchanged. An experiment may already
have cases with such values: they then replace the others.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from hopcast.scenario import Scenario
from hopcast.studies.change import Change, changed, with_values
from hopcast.studies.experiment import Amount, Case, Experiment, Measured
from hopcast.studies.ns2 import LATER_MIN_RTO, MIN_RTO
from hopcast.studies.rows import RANK, Row, Verdict, experiment_verdict
from hopcast.studies.tally import VALUES, findings

Answer = Literal["depends", "does not", "open"]

FEW = 3
"""Replications of a trial in the quick form, compared with the same number with the chosen value."""


@dataclass(frozen=True)
class Alternative:
    """Another value of a parameter, and why it is plausible.

    It consists of the `values` of keys (as in `Variant.with_`), of a `change` to a scenario, or of the cases of the
    experiment that have the names of others with `beside` at the end. Slow ones are not tried in the quick form.
    """

    value: str
    why: str
    values: Mapping[str, object] = field(default_factory=dict)
    change: Change | None = None
    beside: str = ""
    long: bool = False


@dataclass(frozen=True)
class Unsaid:
    """A parameter that a paper does not state, for some of its experiments."""

    parameter: str
    chosen: str
    experiments: tuple[str, ...]
    alternatives: tuple[Alternative, ...]


@dataclass(frozen=True)
class Trial:
    """One experiment with one value of one parameter."""

    experiment: Experiment
    parameter: str
    chosen: str
    alternative: Alternative
    most: int | None = None
    """Number of replications of each case, if not all."""

    @property
    def variant(self) -> Experiment | None:
        """The simulations; `None` if the experiment itself has the cases."""
        alternative = self.alternative
        if alternative.beside:
            return None
        if alternative.change is not None:
            made = changed(self.experiment, alternative.change)
        else:
            made = changed(self.experiment, lambda scenario: with_values(scenario, alternative.values))
        cases = made.cases

        def few(amount: Amount) -> dict[str, Case]:
            found = cases(amount).items()
            return {name: dataclasses.replace(case, seeds=case.seeds[: self.most]) for name, case in found}

        return dataclasses.replace(made, cases=few)

    def common(self, measured: Measured) -> Measured:
        """The experiment's measurements in the replications of the trial. Cases that replace others have the same
        number of replications.
        """
        every, suffix = measured.documents, self.alternative.beside
        places = [name for name in every if suffix and name + suffix in every]
        counts = [len(every[name]) for case in places for name in (case, case + suffix)]
        fewest = min([*counts, *([] if self.most is None else [self.most])], default=None)
        return Measured({name: found[:fewest] for name, found in every.items()})

    def substituted(self, measured: Measured) -> Measured:
        """The cases of the experiment, with the alternatives in place of the cases that they belong to."""
        documents = self.common(measured).documents
        suffix = self.alternative.beside
        return Measured({name: documents.get(name + suffix, found) for name, found in documents.items()})


@dataclass(frozen=True)
class Sensitivity:
    """The change of an experiment's findings under another value."""

    experiment: str
    parameter: str
    chosen: str
    alternative: str
    why: str
    verdict_chosen: Verdict
    verdict: Verdict
    agree_chosen: int
    """Number of rows with a statement of the paper that hold or are within, out of `rows`."""
    agree: int
    rows: int
    turned: list[str]
    """Findings that hold (or are within) under one of the two, and fail (or differ) under the other, with both
    verdicts.
    """
    answer: Answer

    def as_dict(self) -> dict[str, Any]:
        """The change, for JSON."""
        return dataclasses.asdict(self)


def compare(trial: Trial, chosen: Sequence[Row], other: Sequence[Row]) -> Sensitivity:
    """An experiment's rows under the chosen value and under another."""
    one, two = findings(chosen), findings(other)
    turned = [
        f"{'the values' if name == VALUES else name}: {verdict} → {two[name]}"
        for name, verdict in one.items()
        if name in two and abs(RANK[verdict] - RANK[two[name]]) == RANK["holds"]
    ]
    opened = any(name in two and RANK[verdict] != RANK[two[name]] for name, verdict in one.items())
    return Sensitivity(
        experiment=trial.experiment.id,
        parameter=trial.parameter,
        chosen=trial.chosen,
        alternative=trial.alternative.value,
        why=trial.alternative.why,
        verdict_chosen=experiment_verdict(chosen),
        verdict=experiment_verdict(other),
        agree_chosen=_agreeing(chosen),
        agree=_agreeing(other),
        rows=sum(row.verdict in RANK for row in chosen),
        turned=turned,
        answer="depends" if turned else "open" if opened else "does not",
    )


def _agreeing(rows: Sequence[Row]) -> int:
    return sum(RANK.get(row.verdict) == RANK["holds"] for row in rows)


def trials(experiments: Mapping[str, Experiment], amount: Amount) -> list[Trial]:
    """All trials of these experiments."""
    return [
        Trial(experiments[name], unsaid.parameter, unsaid.chosen, alternative, amount.pick(quick=FEW, full=None))
        for name in experiments
        for unsaid in UNSAID
        if name in unsaid.experiments
        for alternative in unsaid.alternatives
        if not (alternative.long and amount.name == "quick")
    ]


def staggered(seconds: float) -> Change:
    """Start each flow this much later than the one before it."""

    def change(scenario: Scenario) -> Scenario:
        starts = [
            (key, value)
            for key, value, _ in scenario.explain()
            if key.startswith("flows.") and key.endswith(".start") and key.count(".") == 2
        ]
        for index, (key, value) in enumerate(starts):
            scenario = scenario.set(key, float(value.removesuffix(" s")) + index * seconds)
        return scenario

    return change


def without_rts(scenario: Scenario) -> Scenario:
    """No RTS before data, and as many attempts at a data frame as with RTS. Otherwise data would count against the
    limit of short frames (IEEE 802.11-2020, 10.3.4.4), and an experiment that varies the limit of long frames would
    vary nothing.
    """
    attempts = {key: value for key, value, _ in scenario.explain()}["radio.retry_limit.long"]
    return with_values(scenario, {"radio.rts_threshold": "off", "radio.retry_limit.short": int(attempts)})


def later_least_rto(scenario: Scenario) -> Scenario:
    """TCP connections have the minimum timeout of ns-2 since 2004; other flows stay the same."""
    connections = [
        key.removesuffix(".protocol")
        for key, value, _ in scenario.explain()
        if key.startswith("flows.") and key.endswith(".transport.protocol") and value.strip('"') == "tcp"
    ]
    return with_values(scenario, {f"{connection}.min_rto": LATER_MIN_RTO for connection in connections})


UNSAID = (
    Unsaid(
        "RTS/CTS",
        "off",
        ("H4", "H5", "H6"),
        (
            Alternative(
                "before every frame", "the paper argues from it (sections II, III)", {"radio.rts_threshold": "0 B"}
            ),
        ),
    ),
    Unsaid(
        "socket buffers",
        "8 KiB, Windows XP's default",
        ("H2", "H4", "H5", "H6"),
        (
            Alternative(
                "64 KiB",
                "the most that TCP can use without scaling its window (RFC 7323), which programs ask for",
                {"nodes.*.socket_buffer": "64 KiB"},
            ),
        ),
    ),
    Unsaid(
        "interface queue",
        "50 packets",
        ("H5", "H6"),
        (Alternative("200 packets", "that of Windows' driver is not published", {"radio.queue.packets": 200}),),
    ),
    Unsaid(
        "rate of acknowledgements",
        "24 Mb/s",
        ("H2", "H4", "H5"),
        (
            Alternative(
                "6 Mb/s",
                "where it alone is a basic rate (IEEE 802.11-2020, 10.6.6.5)",
                {"radio.basic_rate": "6 Mb/s"},
            ),
        ),
    ),
    Unsaid(
        "attempts at a frame",
        "7",
        ("H5", "H9"),
        (Alternative("4", "the standard's other limit, aLongRetryLimit", {"radio.retry_limit.short": 4}),),
    ),
    Unsaid(
        "start of the streams",
        "all at once",
        ("H4", "H9", "P5"),
        (Alternative("one after another, by 0.2 s", "a person or a script starts them", change=staggered(0.2)),),
    ),
    Unsaid(
        "carrier sense",
        "550 m, ns-2's default",
        ("P1", "P5", "P6"),
        (
            Alternative(
                "250 m, as far as frames are received",
                "the paper says only that neighbours reach each other (section 3)",
                {"radio.carrier_sense_threshold": "-64.4 dBm"},
            ),
        ),
    ),
    Unsaid(
        "TCP's window",
        "20 segments, ns-2's default",
        ("P5",),
        (
            Alternative("1 segment", "that of Fig. 1", {"flows.*.transport.window": 1}),
            Alternative("4 segments", "the largest of Table 4", {"flows.*.transport.window": 4}),
        ),
    ),
    Unsaid(
        "least RTO of TCP",
        f"{MIN_RTO}, ns-2's until 2004/10/14",
        ("P1", "P5", "P6", "M3", "M4", "M5"),
        (Alternative(LATER_MIN_RTO, "as ns-2 has since 2004/10/14", change=later_least_rto),),
    ),
    Unsaid(
        "least RTO of TCP",
        f"{MIN_RTO}, ns-2's until 2004/10/14",
        ("P4",),
        (Alternative(LATER_MIN_RTO, "as ns-2 has since 2004/10/14", change=later_least_rto, long=True),),
    ),
    Unsaid(
        "delayed acknowledgements",
        "none, as ns-2's TCPSink",
        ("P5", "P6"),
        (Alternative("200 ms", "as on real hosts", {"flows.*.transport.delayed_ack": "200 ms"}, long=True),),
    ),
    Unsaid(
        "interface queue",
        "50 packets, ns-2's default",
        ("P5",),
        (Alternative("10 packets", "a card's", {"radio.queue.packets": 10}, long=True),),
    ),
    Unsaid(
        "DSDV on a frame that is given up",
        "keeps the neighbour, ns-2's default",
        ("P5", "P6"),
        (
            Alternative(
                "loses it",
                "ns-2's `use_mac_` 1; section 5 speaks of it",
                {"nodes.*.routing.link_layer_notification": True},
            ),
        ),
    ),
    Unsaid(
        "start of the calls",
        "with the simulation, before DSDV has routes",
        ("P2", "P3", "P4"),
        (
            Alternative(
                "once all routes are known", "as the other experiments of the paper here", beside=", routes known"
            ),
        ),
    ),
    Unsaid(
        "what DSDV tells at once",
        "nothing new: all settles, as in ns-2.35",
        ("P2",),
        (Alternative("new destinations", "section 3.3 of DSDV's own paper", beside=", DSDV that tells at once"),),
    ),
    Unsaid(
        "length of a call",
        "900 s",
        ("P2",),
        (Alternative("200 s", "not stated", {"duration": 200.0}, long=True),),
    ),
    Unsaid(
        "DSDV on a frame that is given up",
        "keeps the neighbour, ns-2's default",
        ("P2", "P3", "P4"),
        (
            Alternative(
                "loses it",
                "ns-2's `use_mac_` 1; section 5 speaks of it",
                {"nodes.*.routing.link_layer_notification": True},
                long=True,
            ),
        ),
    ),
    Unsaid(
        "channel of the calls",
        "errors with FEC",
        ("P2", "P3", "P4"),
        (
            Alternative(
                "ideal",
                "sections 3 and 4 have three kinds",
                {"*.errors.fec": "none", "*.errors.good_ber": 0.0, "*.errors.bad_ber": 0.0},
                long=True,
            ),
            Alternative("errors without FEC", "sections 3 and 4 have three kinds", {"*.errors.fec": "none"}, long=True),
        ),
    ),
    Unsaid(
        "RTS/CTS",
        "on, ns-2's default",
        ("P2", "P3", "P4"),
        (
            Alternative(
                "off", "the paper finds that it doesn't help (section 4.1)", {"radio.rts_threshold": "off"}, long=True
            ),
        ),
    ),
    Unsaid(
        "rate of a call",
        "8 kb/s (G.729)",
        ("P2", "P3", "P4"),
        (Alternative("64 kb/s (G.711)", "the other coder of the time", {"flows.*.application.rate": 64e3}, long=True),),
    ),
    Unsaid(
        "delay limit of a call",
        "150 ms (ITU-T G.114)",
        ("P2", "P3", "P4"),
        (Alternative("400 ms", "the most that G.114 accepts", {"flows.*.application.deadline": "400 ms"}, long=True),),
    ),
    Unsaid(
        "MTU",
        "none, as ns-2",
        ("P4",),
        (Alternative("1500 B", "that of real hosts", {"radio.mtu": "1500 B"}, long=True),),
    ),
    Unsaid(
        "TCP's window",
        "212 segments, hopcast's default socket buffer",
        ("W1", "W2", "W6"),
        (
            Alternative("20 segments", "ns-2's default", {"flows.download.transport.window": 20}),
            Alternative("10 000 segments", "what nothing here fills", {"flows.download.transport.window": 10_000}),
        ),
    ),
    Unsaid(
        "rate of control frames",
        "24 Mb/s",
        ("W1", "W2"),
        (Alternative("6 Mb/s", "where it alone is a basic rate", {"radio.basic_rate": "6 Mb/s"}),),
    ),
    Unsaid(
        "RTS/CTS",
        "before every frame, ns-2's default",
        ("W1", "W2", "W6"),
        (Alternative("off, with as many attempts at data", "as access points ship", change=without_rts),),
    ),
    Unsaid(
        "times of the packets",
        "late by up to 10 ms, the clock tick of Linux 2.2",
        ("A3",),
        (
            Alternative("even", "a program that never sleeps", beside=", even times"),
            Alternative("late by up to an interval", "any phase", beside=", up to an interval late"),
        ),
    ),
    Unsaid(
        "frames that overlap",
        "are lost",
        ("A3",),
        (
            Alternative(
                "one of two equally strong is received",
                "despreading eleven chips leaves room for it",
                beside=", one of two frames survives",
            ),
            Alternative(
                "likewise, and packets late by up to an interval",
                "both",
                beside=", one of two frames survives, up to an interval late",
            ),
        ),
    ),
    Unsaid(
        "carrier sense",
        "70 m, two hops",
        ("A4", "A5"),
        (
            Alternative(
                "100 m, three hops",
                "two hops are the least that section 4.3 says",
                {"radio.propagation.carrier_sense": "100 m"},
            ),
        ),
    ),
    Unsaid(
        "TCP's window",
        "22 segments, Linux 2.2's 32 kB",
        ("A4", "A5"),
        (
            Alternative("8 segments", "a third of it", {"flows.*.transport.window": 8}),
            Alternative("44 segments", "64 kB", {"flows.*.transport.window": 44}),
        ),
    ),
    Unsaid(
        "packets that wait for a route",
        "3, Linux 2.2's unres_qlen",
        ("A2", "A3"),
        (Alternative("64", "as in ns-2 and RFC 3561's implementations", {"nodes.*.route_queue": 64}),),
    ),
    Unsaid(
        "packets of the CBR flows",
        "512 B",
        ("M1",),
        (Alternative("1000 B", "those of the streams", {"flows.burst*.application.packet": "1000 B"}),),
    ),
    Unsaid(
        "errors of packets",
        "above the MAC's attempts",
        ("M4", "M5"),
        (Alternative("below them", "the paper does not say where they sit", {"radio.errors.level": "frame"}),),
    ),
    Unsaid(
        "RTS/CTS",
        "before every frame, ns-2's default",
        ("M4", "M5"),
        (Alternative("off", "not stated", {"radio.rts_threshold": "off"}, long=True),),
    ),
    Unsaid(
        "carrier sense",
        "550 m, ns-2's default",
        ("M4", "M5"),
        (
            Alternative(
                "250 m, as far as frames are received",
                "not stated",
                {"radio.carrier_sense_threshold": "-64.4 dBm"},
                long=True,
            ),
        ),
    ),
)
"""The trials. Parameters that a paper states are not here."""
