"""R3: Gilbert–Elliott channels fitted to the reception of frames on ORBIT, on half of its links, and tested on the
others.

S. K. Kaul, M. Gruteser, I. Seskar: data set rutgers/noise, CRAWDAD, 2007.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from hopcast.lab.experiment import Amount, Case, Document, Experiment, Measured, Parameter, Table
from hopcast.lab.rows import Row, Sample, value
from hopcast.numbers import significant
from hopcast.scenario import Scenario
from hopcast_papers.h2o.places import number
from hopcast_papers.measured_networks.files import FRAME_INTERVAL, FRAMES, FRAMES_SENT, missing, receptions
from hopcast_papers.notes import capitalized

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hopcast.results import Result

NOISES = (-20, -15, -10, -5, 0)
"""dBm of injected noise."""
RECEIVERS = 20
"""Links of one run: nodes that one node sends to, each with a separate channel."""
START = 1.0
PAYLOAD = 100
"""Bytes; the length of the frames is not stated, and only their loss is fitted."""
FRAME_BITS = 8 * (PAYLOAD + 28 + 8 + 28)
"""With the headers of UDP and IPv4, of LLC/SNAP and of the MAC, and its FCS."""
LONGEST = 1e6
"""Seconds: the longest stay in a state that a scenario accepts."""
LONG = 10
"""Frames: bursts of at least this length count as long."""
ITERATIONS = 25
"""Rounds of expectation maximisation."""
ONCE, LENGTHY, MEAN, LOSS = "bursts of one frame", f"bursts of {LONG} or more", "mean burst", "loss"


@dataclass(frozen=True)
class Chain:
    """A Gilbert–Elliott channel, sampled each `FRAME_INTERVAL`: probabilities to leave a state, and of a loss in
    it.
    """

    leave_good: float
    leave_bad: float
    loss_good: float
    loss_bad: float

    @property
    def times(self) -> tuple[float, float]:
        """Mean seconds in the good and in the bad state, in continuous time; at most what a scenario accepts."""
        leaving = self.leave_good + self.leave_bad
        if leaving == 0.0:
            return LONGEST, LONGEST
        rate = -math.log1p(-min(leaving, 1.0 - 1e-9)) / FRAME_INTERVAL
        good, bad = (rate * share / leaving for share in (self.leave_good, self.leave_bad))
        return 1.0 / max(good, 1.0 / LONGEST), 1.0 / max(bad, 1.0 / LONGEST)


def fit(sequences: Sequence[Sequence[bool]], *, elliott: bool) -> Chain:
    """The chain of greatest likelihood (Baum–Welch) for frames received and lost; without `elliott` Gilbert's, which
    loses nothing in its good state and everything in its bad one.
    """
    import numpy as np

    lost = ~np.array(sequences, dtype=bool)
    links, frames = lost.shape
    pairs = lost[:, :-1], lost[:, 1:]
    good_to_bad = (float((~pairs[0] & pairs[1]).sum()) + 0.5) / (float((~pairs[0]).sum()) + 1.0)
    bad_to_good = (float((pairs[0] & ~pairs[1]).sum()) + 0.5) / (float(pairs[0].sum()) + 1.0)
    if not elliott:
        return Chain(good_to_bad, bad_to_good, 0.0, 1.0)
    move = np.array([[1.0 - good_to_bad, good_to_bad], [bad_to_good, 1.0 - bad_to_good]])
    loss = np.array([0.01, 0.95])
    start = np.array([bad_to_good, good_to_bad]) / (good_to_bad + bad_to_good)
    for _ in range(ITERATIONS):
        seen = np.where(lost[:, :, None], loss, 1.0 - loss)
        ahead = np.empty((frames, links, 2))
        scale = np.empty((frames, links, 1))
        current = start * seen[:, 0]
        for frame in range(frames):
            if frame:
                current = (ahead[frame - 1] @ move) * seen[:, frame]
            scale[frame] = current.sum(axis=1, keepdims=True)
            ahead[frame] = current / scale[frame]
        behind = np.ones((links, 2))
        moves = np.zeros((2, 2))
        held, held_lost, first = np.zeros(2), np.zeros(2), np.zeros(2)
        for frame in reversed(range(frames)):
            belief = ahead[frame] * behind
            held += belief.sum(axis=0)
            held_lost += (belief * lost[:, frame, None]).sum(axis=0)
            if frame == 0:
                first = belief.sum(axis=0)
                break
            weighted = seen[:, frame] * behind / scale[frame]
            moves += move * (ahead[frame - 1].T @ weighted)
            behind = weighted @ move.T
        move = moves / moves.sum(axis=1, keepdims=True)
        loss = held_lost / held
        start = first / links
    order = (0, 1) if loss[0] <= loss[1] else (1, 0)
    good, bad = order
    return Chain(float(move[good, bad]), float(move[bad, good]), float(loss[good]), float(loss[bad]))


@dataclass(frozen=True)
class Bursts:
    """Compared properties of sequences of frames: the loss and the lengths of bursts of losses within each."""

    loss: float
    once: float
    lengthy: float
    mean: float

    @staticmethod
    def of(sequences: Sequence[Sequence[bool]]) -> Bursts:
        """Shares in per cent, the mean in frames."""
        lengths = []
        for sequence in sequences:
            run = 0
            for received in (*sequence, True):
                if not received:
                    run += 1
                elif run:
                    lengths.append(run)
                    run = 0
        lost, count = sum(lengths), len(lengths)
        return Bursts(
            100.0 * lost / sum(len(sequence) for sequence in sequences),
            100.0 * sum(length == 1 for length in lengths) / count if count else math.nan,
            100.0 * sum(length >= LONG for length in lengths) / count if count else math.nan,
            lost / count if count else math.nan,
        )

    def document(self) -> Document:
        """Properties as an observation of a run."""
        return {LOSS: self.loss, ONCE: self.once, LENGTHY: self.lengthy, MEAN: self.mean}


MODELS = ("Elliott", "Gilbert", "Elliott, links that change")
"""Fitted to all links; without losses in the good state; fitted and tested on links that neither lose all frames nor
deliver all.
"""
ALIVE = (0.01, 0.99)
"""Shares of lost frames between which a link counts as one that changes."""


def _halves(noise: int, alive: bool) -> tuple[list[tuple[bool, ...]], list[tuple[bool, ...]]]:
    """Every other link of a level of noise, in the order of the file, is for the fit."""
    found = [each.received for each in receptions() if each.noise_dbm == noise]
    if alive:
        found = [each for each in found if ALIVE[0] < 1.0 - sum(each) / len(each) < ALIVE[1]]
    return found[::2], found[1::2]


def _chain(noise: int, model: str) -> Chain:
    return _fitted(tuple(_halves(noise, model == MODELS[2])[0]), model != MODELS[1])


@cache
def _fitted(sequences: tuple[tuple[bool, ...], ...], elliott: bool) -> Chain:
    return fit(sequences, elliott=elliott)


def _setup(amount: Amount) -> list[Parameter]:
    return [
        Parameter("data", "812 links at each of five levels of noise, 301 frames, one each 100 ms", "orbit-rssi"),
        Parameter("halves", "every other link in the order of the file", "ours"),
        Parameter("Elliott", "four parameters, greatest likelihood (Baum–Welch), all links as one", "as one channel a level"),
        Parameter("Gilbert", "two: whole when good, dead when bad; transitions counted", "beside"),
        Parameter(MODELS[2], "Elliott, only links that lose more than 1 and less than 99 %", "beside"),
        Parameter(
            "in hopcast",
            "`radio.errors` gilbert-elliott at each receiver; one attempt at a frame",
            "the bit error rate with which a frame is lost as fitted; times from the transitions in 100 ms",
        ),
        Parameter("run", f"{RECEIVERS} links of {FRAMES_SENT} frames, {len(_seeds(amount))} seeds", "ours"),
    ]  # fmt: skip


def _seeds(amount: Amount) -> tuple[int, ...]:
    return tuple(range(1, amount.pick(quick=11, full=101)))


def _cases(amount: Amount) -> Mapping[str, Case]:
    return {
        _case(noise, model): Case(_scenario(_case(noise, model), _chain(noise, model)), _seeds(amount), observe)
        for noise in NOISES
        for model in MODELS
    }


def _scenario(name: str, chain: Chain) -> Scenario:
    good, bad = chain.times
    spread = FRAME_INTERVAL / RECEIVERS
    return Scenario(
        name=name,
        duration=START + FRAME_INTERVAL * (FRAMES_SENT + 1),
        seed=1,
        radio={
            "standard": "802.11b",
            "data_rate": "11 Mb/s",
            "basic_rate": "2 Mb/s",
            "rts_threshold": "off",
            "retry_limit": {"short": 1, "long": 1},
            "propagation": {"model": "range", "receive": "20 m", "carrier_sense": "40 m"},
            "errors": {
                "model": "gilbert-elliott",
                "good_ber": _bit_error_rate(chain.loss_good),
                "bad_ber": _bit_error_rate(chain.loss_bad),
                "good_mean": good,
                "bad_mean": bad,
            },
        },
        nodes=[
            {"name": "sender", "placement": {"shape": "points", "at": [[0, 0]]}},
            {"name": "n", "count": RECEIVERS, "placement": {"shape": "circle", "radius": "5 m"}},
        ],
        flows=[
            {
                "name": f"stream{index}",
                "from": "sender",
                "to": f"n{index}",
                # Each in the same place of its interval: so the series has one frame of it in each.
                "start": START + (index + 0.25) * spread,
                "stop": START + (index + 0.25) * spread + FRAME_INTERVAL * (FRAMES_SENT - 0.5),
                "transport": {"protocol": "udp"},
                "application": {"kind": "cbr", "packet": PAYLOAD, "rate": 8.0 * PAYLOAD / FRAME_INTERVAL},
            }
            for index in range(RECEIVERS)
        ],
    )


def _bit_error_rate(loss: float) -> float:
    return min(-math.expm1(math.log1p(-min(loss, 1.0 - 1e-12)) / FRAME_BITS), 0.5)


def observe(result: Result) -> Document:
    """Bursts of losses, from the arrivals in each interval of the series, which is that of the frames."""
    rows: Any = result.series
    first = round(START / FRAME_INTERVAL)
    sequences = []
    for index in range(RECEIVERS):
        arrived = rows.filter(rows["flow"] == f"stream{index}")["packets"].to_list()
        sequences.append([bool(count) for count in arrived[first : first + FRAMES_SENT]])
    return {"frames": Bursts.of(sequences).document()}


UNITS = {LOSS: "%", ONCE: "%", LENGTHY: "%", MEAN: "frames"}


def _rows(measured: Measured) -> list[Row]:
    rows = []
    for noise in NOISES:
        for model in MODELS:
            case = _case(noise, model)
            others = Bursts.of(_halves(noise, model == MODELS[2])[1]).document()
            chain = _chain(noise, model)
            for metric, unit in UNITS.items():
                sample = _seen(measured, case, metric)
                paper = others[metric]
                note = "Links that were not fitted; beside them, as the measured, the chain in hopcast"
                if model == MODELS[1]:
                    rows.append(value("R3", case, metric, unit, sample))
                else:
                    rows.append(value("R3", case, metric, unit, sample, paper=paper, note=note))
            good, bad = chain.times
            for metric, unit, found in (
                ("mean time good", "s", good),
                ("mean time bad", "s", bad),
                ("loss when good", "%", 100.0 * chain.loss_good),
                ("loss when bad", "%", 100.0 * chain.loss_bad),
            ):
                rows.append(value("R3", case, metric, unit, Sample((found,))))
        held = _halves(noise, False)[1]
        extreme = 100.0 * sum(not ALIVE[0] < 1.0 - sum(each) / len(each) < ALIVE[1] for each in held) / len(held)
        rows.append(value("R3", f"{noise} dBm", "links dead or whole", "%", Sample((extreme,))))
    return rows


def _seen(measured: Measured, case: str, metric: str) -> Sample:
    """The sample without the replications in which nothing was lost, if others have losses."""
    sample = measured.sample(case, lambda document: document["frames"][metric])
    return Sample(tuple(each for each in sample.values if not math.isnan(each)) or sample.values)


def _notes(table: Table) -> list[str]:
    def each(metric: str, model: str) -> str:
        return ", ".join(significant(number(table, _case(noise, model), metric), 3) for noise in NOISES)

    def others(metric: str, model: str) -> str:
        return ", ".join(significant(table[_case(noise, model), metric].paper or 0.0, 3) for noise in NOISES)

    extreme = ", ".join(significant(number(table, f"{noise} dBm", "links dead or whole"), 3) for noise in NOISES)
    return [
        f"From −20 to 0 dBm {extreme} % of the links are dead or whole (lose over 99 % or under 1 %). One chain for all of them must make "
        f"links of two kinds out of the states of one. It stays in its bad state for {each('mean time bad', MODELS[0])} s on average.",
        f"Loss of links that were not fitted, in per cent: {others(LOSS, MODELS[0])} measured there, {each(LOSS, MODELS[0])} here (Elliott). "
        "States last as long as a measurement of 30 s, so that hardly any link shows the share of bad time that the chain has in the long run.",
        f"Bursts of one frame are {others(ONCE, MODELS[0])} % of all bursts there. With Elliott's chain they are {each(ONCE, MODELS[0])} %, and "
        f"with Gilbert's, whose bursts are geometric, {each(ONCE, MODELS[1])} %. {LENGTHY.capitalize()} are {others(LENGTHY, MODELS[0])} % there, and "
        f"{each(LENGTHY, MODELS[0])} % with Elliott's chain. The mean burst has {others(MEAN, MODELS[0])} frames, with Elliott's chain {each(MEAN, MODELS[0])}.",
        f"Among links that change alone, bursts of one frame are {others(ONCE, MODELS[2])} % there and {each(ONCE, MODELS[2])} % here. The mean "
        f"burst has {others(MEAN, MODELS[2])} and {each(MEAN, MODELS[2])} frames. One chain can't show that links differ.",
    ]


def _figures(table: Table) -> list[tuple[str, Figure]]:
    from hopcast.figures import Group, bars

    def drawn(metric: str, model: str) -> Figure:
        found = [table[_case(noise, model), metric] for noise in NOISES]
        groups = [
            Group("measured there", [row.paper or 0.0 for row in found], [0.0] * len(found)),
            Group("hopcast", [row.measured or 0.0 for row in found], [row.ci95 or 0.0 for row in found]),
        ]
        return bars([f"{noise} dBm" for noise in NOISES], groups, y=f"{metric}, {UNITS[metric]}")

    return [
        (f"{capitalized(metric)}, {model}", drawn(metric, model))
        for model in (MODELS[0], MODELS[2])
        for metric in (LOSS, ONCE, MEAN)
    ]


def _case(noise: int, model: str) -> str:
    return f"{noise} dBm, {model}"


EXPERIMENTS = (
    Experiment(
        "R3",
        "Losses of frames indoors at five levels of noise",
        "ORBIT, 2005: whether each of 301 frames was received, on 812 links at each of five levels of injected noise. A Gilbert–Elliott channel "
        "for each level, fitted to half of the links, must show the loss and the bursts of the others.",
        _setup,
        _cases,
        _rows,
        _figures,
        _notes,
        missing(FRAMES),
    ),
)
