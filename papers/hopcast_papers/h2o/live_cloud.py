"""H15: a cloud of real hosts, next to the simulated one: three films, one request too many, and people who walk through a beam."""

from __future__ import annotations

import json
import math
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import Any

from hopcast.lab.experiment import Amount, Case, Document, Experiment, Measured, Parameter, Table
from hopcast.lab.rows import Row, Sample, value
from hopcast.numbers import significant
from hopcast.results import Result
from hopcast.scenario import Scenario
from hopcast_papers import real_hosts
from hopcast_papers.h2o.places import number
from hopcast_papers.notes import capitalized, outcome
from hopcast_papers.register import REGISTER

START, APART, LENGTH = 35.0, 5.0, 180.0
"""Seconds until the first request, by when links are known; from one request to the next; of a film."""
SECONDS = START + LENGTH + 20.0
RATE, LARGE = 700e3, 2.5e6
"""b/s of three films, which take half of the time, and of a fourth one, which would take as much again."""
FILMS = {"film": ("home0", "home2"), "news": ("home3", "home4"), "concert": ("home1", "home3")}
"""Where each is stored, and who asks for it. Only the first one's ends have a partition between them."""
TOO_MANY = "opera"
REQUESTS = {**FILMS, TOO_MANY: ("home4", "home0")}
PLACES = ((0.0, 0.0), (5.0, 5.0), (10.0, 0.0), (0.0, 10.0), (10.0, 10.0))
# 12.5 dB above noise through the partition, of which a preamble needs 4; 42.5 dB and more elsewhere.
RADIO = """
[radio]
standard = "802.11a"
data_rate = "6 Mb/s"
rts_threshold = "off"
tx_power = "34.4 dBm"
propagation = { model = "log-distance", exponent = 4 }

[radio.obstacles]
walls = [{ from = ["5 m", "-1 m"], to = ["5 m", "1 m"], attenuation = "30 dB" }]
blockage = { interval = "60 s", duration = "30 s", attenuation = ["9 dB", "9 dB"] }
"""
SIMULATED, LIVE = "simulated", "between real hosts"
METRICS: Mapping[str, tuple[str, str]] = {
    "start_up_s": ("start-up", "s"),
    "stalled_s": ("stood still", "s"),
    "hiccups": ("hiccups", ""),
    "shortened": ("shorter paths taken", ""),
    "returned": ("returns to the longer path", ""),
    "held_s": ("second path reserved", "s"),
}
"""Of a film, as results name it, and as the rows do."""
SEEDS = tuple(range(3301, 3311))
Fates = Mapping[str, Mapping[str, Any]]
"""What became of each request."""


def _count(amount: Amount) -> int:
    return amount.pick(quick=2, full=len(SEEDS))


def _rate(name: str) -> float:
    return LARGE if name == TOO_MANY else RATE


def _scenario(seed: int, keys: str) -> str:
    places = ", ".join(f'["{x} m", "{y} m"]' for x, y in PLACES)
    return (
        f'name = "a cloud of five homes"\nduration = "{SECONDS} s"\nseed = {seed}\n{RADIO}\n[[nodes]]\nname = "home"\n'
        f'count = {len(PLACES)}\nplacement = {{ shape = "points", at = [{places}] }}\n{keys}'
    )


def _cloud() -> str:
    keys = '\n[cloud]\nprefetch = "1 s"\nshortening = {}\n'
    for place, (name, (source, display)) in enumerate(REQUESTS.items()):
        keys += (
            f'\n[[cloud.clips]]\nname = "{name}"\nrate = {_rate(name)}\nlength = {LENGTH}\nat = ["{source}"]\n'
            f'\n[[cloud.requests]]\nfrom = "{display}"\nclip = "{name}"\nstart = {START + APART * place}\n'
        )
    return keys


def _setup(amount: Amount) -> list[Parameter]:
    return [
        Parameter("hosts", "five network namespaces over the emulated radio, `hopcast cloud serve --shorten` with a key", "hopcast's own choice"),
        Parameter("places", "as in H12 e: two homes 10 m apart, a partition of 30 dB between them, and a relay with a view of both; two more homes", "a cubicle (section III)"),
        Parameter("people", "each 9 dB, so that one cuts the link through the partition; one comes each 60 s in the mean, and stays for 30 s", "“appear and disappear quickly” (section VI)"),
        Parameter("films", f"three of {RATE / 1e3:g} kb/s and {LENGTH:g} s, buffer of 1 s; 802.11a at 6 Mb/s", "not stated"),
        Parameter("one too many", f"a request for {LARGE / 1e6:g} Mb/s, {APART:g} s after the third film's", "not stated"),
        Parameter("simulated", "the same scenario and seeds: people come at the same times", "ten seeds"),
        Parameter("repetitions", str(_count(amount)), "not stated"),
    ]  # fmt: skip


def _cases(amount: Amount) -> Mapping[str, Case]:
    return {
        SIMULATED: Case(Scenario.from_toml(_scenario(1, _cloud())), SEEDS, simulated),
        LIVE: Case(
            Scenario.from_toml(_scenario(1, "")).set("duration", 0.001), SEEDS[: _count(amount)], between_real_hosts
        ),
    }


def simulated(result: Result) -> Document:
    """The fates of the simulated requests."""
    streams = result.json()["cloud"]["streams"]
    return {"fates": {stream["clip"]: stream for stream in streams}}


def between_real_hosts(result: Result) -> Document:
    """Run the requests between real hosts, while people come as in the simulation with this seed."""
    seed = result.json()["provenance"]["seed"]
    with real_hosts.scratch() as folder:
        key = folder / "key"
        subprocess.run([sys.executable, "-m", "hopcast", "key", str(key)], check=True, capture_output=True)
        programs = []
        for device in (f"home{home}" for home in range(len(PLACES))):
            stored = [name for name, (source, _) in REQUESTS.items() if source == device]
            for name in stored:
                # Bytes that differ from film to film: a clip is known by their SHA-256.
                pattern = name.encode().ljust(16)
                (folder / name).write_bytes(pattern * (int(_rate(name) * LENGTH / 8) // len(pattern)))
            offered = " ".join(shlex.quote(f"{_rate(name)} b/s={folder / name}") for name in stored)
            serve = (
                f"{real_hosts.HOPCAST} cloud serve --interface wlan0 --key {key} --shorten --prefetch '1 s' --log error "
                f"{f'--offer {offered}' if offered else ''}"
            )
            programs.append((device, f"exec {serve}"))
        for place, (name, (_, display)) in enumerate(REQUESTS.items()):
            play = f"{real_hosts.HOPCAST} cloud play {name} --output {folder / f'{name}.copy'} --json"
            programs.append((display, f"sleep {START + APART * place}; {play} > {folder / f'{name}.json'}"))
        real_hosts.emulated(_scenario(seed, "real = true\n"), programs, {}, folder)
        return {"fates": {name: _played((folder / f"{name}.json").read_text(encoding="utf-8")) for name in REQUESTS}}


def _played(text: str) -> Document:
    """What `hopcast cloud play` said, by the names that results of a run have."""
    played: Document = json.loads(text)
    return played | {"hiccups": played["stalls"]}


def _of_films(metric: str) -> Callable[[Document], float]:
    """Reads the sum over the films, and the mean of start-up times."""

    def read(document: Document) -> float:
        found = [document["fates"][name][metric] for name in FILMS]
        if any(one is None for one in found):
            return math.nan
        return float(sum(found)) / (len(FILMS) if metric == "start_up_s" else 1)

    return read


def _agree(live: Fates, simulated: Fates) -> float:
    """Share of the requests, per cent, that have the outcome of the simulated ones."""
    same = sum(bool(live[name]["outcome"] == simulated[name]["outcome"]) for name in REQUESTS)
    return 100.0 * same / len(REQUESTS)


def half_width(live: Sample, simulated: Sample) -> float:
    """Half the width of the 95 % interval for the difference between the mean of as many more simulated runs and that of these."""
    return (simulated.ci95 or 0.0) * math.sqrt(1 + len(simulated.values) / len(live.values))


def _rows(measured: Measured) -> list[Row]:
    rows = []
    found = {
        case: {metric: measured.sample(case, _of_films(metric)) for metric in METRICS} for case in (SIMULATED, LIVE)
    }
    for case in (SIMULATED, LIVE):
        for metric, (name, unit) in METRICS.items():
            rows.append(value("H15", case, name, unit, found[case][metric]))
    for metric, (name, unit) in METRICS.items():
        live, simulated = (found[case][metric] for case in (LIVE, SIMULATED))
        rows.append(value("H15", LIVE, f"{name}, less the simulated", unit, Sample((live.mean - simulated.mean,))))
        rows.append(value("H15", LIVE, f"{name}, half-width by chance", unit, Sample((half_width(live, simulated),))))
    pairs = zip(measured.documents[LIVE], measured.documents[SIMULATED], strict=False)
    agreed = Sample(tuple(_agree(one["fates"], other["fates"]) for one, other in pairs))
    rows.append(REGISTER.row("H15.admitted", "", "requests with the fate of the simulated one", "%", agreed))
    rows.append(REGISTER.row("H15.hiccup-free", "", "hiccups of three films", "", found[LIVE]["hiccups"]))
    rows.append(REGISTER.row("H15.shorter", "", "shorter paths taken", "", found[LIVE]["shortened"]))
    rows.append(REGISTER.row("H15.returned", "", "returns to the longer path", "", found[LIVE]["returned"]))
    return rows


def _notes(table: Table) -> list[str]:
    def line(name: str, unit: str) -> str:
        mean, less, half = (
            significant(number(table, LIVE, f"{name}{rest}"), 3)
            for rest in ("", ", less the simulated", ", half-width by chance")
        )
        return f"{name} {mean}{f' {unit}' if unit else ''} ({less}, by chance ±{half})"

    return [
        "Between real hosts, and in brackets how much less or more than simulated. "
        + " ".join(f"{capitalized(name)}." for name in (line(*names) for names in METRICS.values()))
        + " Start-up is the mean of the three films, all else their sum.",
        "Hiccups come from people in the beam of a display while no second path is held, as in H12's scene e; the simulation has the same people. That films have no hiccup "
        f"{outcome('H15.hiccup-free', table)}. That a film returns to the longer path {outcome('H15.returned', table)}.",
        "Real hosts measure links by packet pairs, and simulated ones by the station dump.",
    ]


EXPERIMENTS = (
    Experiment(
        "H15",
        "A cloud of real hosts",
        "What H12 simulates, with `hopcast cloud` between real hosts over the emulated radio: three films, a request too many, and people who walk "
        "through a beam.",
        _setup,
        _cases,
        _rows,
        notes=_notes,
        missing=real_hosts.missing,
        live=True,
    ),
)
