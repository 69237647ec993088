"""H: the cards, the corridor and the field of the experiments with distances (H1, H8, H9, H11)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from hopcast.lab.experiment import Document, Measured, Parameter, Table
from hopcast.lab.rows import Sample
from hopcast.results import run
from hopcast.scenario import Scenario
from hopcast_papers.h2o.streams import KB, SOCKET_BUFFER, Protocol

if TYPE_CHECKING:
    from hopcast.types import Flow, Propagation, Radio, Transport

FOOT = 0.3048
"""Metres."""
HEIGHT = 28 * 0.0254
"""Metres: laptops stand on a stand of 28 inches (section II)."""
CHANNEL = 40
"""5.2 GHz, in the lower bands of 802.11a (17.3.8.4.3), which PC cards of the time used."""
FREQUENCY = 5.2e9
CORRIDOR_EXPONENT = 1.8
"""ITU-R P.1238, section 3: corridors in line of sight have a distance power loss coefficient of 18."""
DOPPLER = 6.0
"""Hz at 5.25 GHz: objects in a building move at 1.2 km/h (TGn channel models, IEEE 802.11-03/940r4)."""
K_FACTORS = {"A to C": 1.0, "D": 2.0, "E, F": 4.0}
"""K-factors of the line of sight's tap: 0, 3 and 6 dB in small, typical and large offices (the same models)."""
K_OFFICE = K_FACTORS["D"]
SENSITIVITY_DBM = -73.0
"""At 54 Mb/s, 5.150 to 5.725 GHz, 802.11a cards with Atheros' chips (LANCOM Reference Manual LCOS 3.50, section 11.5.3, 2004)."""
NOISE_FLOOR_DBM = -101.87
"""Thermal noise in 16.25 MHz at 290 K."""
SNR_54_DB = 18.2
"""At it, frames of 1000 bytes at 54 Mb/s have an error rate of 10 %, by the curves of the simulator."""
NOISE_FIGURE_DB = SENSITIVITY_DBM - NOISE_FLOOR_DBM - SNR_54_DB
"""With the losses of a receiver's circuits."""


@dataclass(frozen=True)
class Card:
    """A card: transmit power less the losses of the antennas at both ends."""

    name: str
    power_dbm: float
    source: str


def free_space_loss_db(metres: float, frequency: float = FREQUENCY) -> float:
    """From a card to one at this distance, at a frequency in Hz."""
    return 20.0 * math.log10(4.0 * math.pi * metres * frequency / 299_792_458.0)


FULL = Card("40 mW", 10.0 * math.log10(40.0), "the most that IEEE 802.11a-1999, 17.3.9.1, allows in 5.15 to 5.25 GHz")
RATED = Card(
    "as rated",
    SENSITIVITY_DBM + free_space_loss_db(100 * FOOT),
    "Intel: 100 ft outdoors at 54 Mb/s (section I), taken as free space; the cards face away from each other",
)
CARDS = (FULL, RATED)


@dataclass(frozen=True)
class Ground:
    """The ground of an open place, and the direction of the antennas."""

    name: str
    permittivity: float
    polarization: Literal["horizontal", "vertical"]


LAWN = Ground("lawn", 15.0, "vertical")
"""Medium dry ground (ITU-R P.527)."""
GROUNDS = (
    LAWN,
    Ground("lawn, horizontal", 15.0, "horizontal"),
    Ground("dry sand", 3.0, "vertical"),
    Ground("dry sand, horizontal", 3.0, "horizontal"),
    Ground("wet ground", 30.0, "vertical"),
    Ground("wet ground, horizontal", 30.0, "horizontal"),
)


def corridor(k: float, doppler: float | None = DOPPLER) -> Propagation:
    """A corridor that guides and scatters waves; each frame fades independently if `doppler` is `None`."""
    found: Propagation = {"model": "log-distance", "exponent": CORRIDOR_EXPONENT, "fading": "rician", "k": k}
    if doppler is not None:
        found["doppler"] = doppler
    return found


def field(ground: Ground = LAWN, k: float | None = None) -> Propagation:
    """An open place: the direct ray and the one that the ground reflects, and scattered waves if `k` is given."""
    found: Propagation = {
        "model": "two-ray-interference",
        "antenna_height": HEIGHT,
        "permittivity": ground.permittivity,
        "polarization": ground.polarization,
    }
    if k is not None:
        found |= {"fading": "rician", "k": k, "doppler": DOPPLER}
    return found


K_OPEN = K_FACTORS["E, F"]
"""For an open place that scatters: model F is that of large spaces, indoors and outdoors (the same models)."""
STEADY_FT = 55
"""Feet up to which open places are similar and steady; over longer links "there is a large variance and the results
are not reproducible" (section II). hopcast has two open places, at every distance: a smooth plane, where two rays
interfere and vary with nothing but the distance, and a ground that scatters. H1, H8 and H9 judge both alike.
"""


def scattering(k: float = K_OPEN) -> Propagation:
    """An open place whose ground reflects no single ray: the direct ray, and scattered waves."""
    return {"model": "free-space", "fading": "rician", "k": k, "doppler": DOPPLER}


def radio(card: Card, propagation: Propagation, *, rts: bool = False) -> Radio:
    """802.11a at a fixed 54 Mb/s."""
    return {
        "standard": "802.11a",
        "channel": CHANNEL,
        "data_rate": "54 Mb/s",
        "reception": "sinr",
        "noise_figure": f"{NOISE_FIGURE_DB:.2f} dB",
        "tx_power": f"{card.power_dbm:.2f} dBm",
        "rts_threshold": "0 B" if rts else "off",
        "propagation": propagation,
    }


def scenario(
    name: str,
    feet: Sequence[float],
    flows: Sequence[tuple[int, int, Protocol]],
    radio: Radio,
    size: int,
    *,
    window: int | None = None,
) -> Scenario:
    """Laptops in a row at these distances in feet from its end, with streams of ADUs of 1 KB, `size` bytes each, by
    their indices.

    The application of each node in between forwards a stream to a node that is not the next one.
    """
    streams: list[Flow] = [
        {
            "name": f"stream{index}",
            "from": f"n{source}",
            "to": f"n{sink}",
            "via": [f"n{relay}" for relay in range(source + 1, sink)],
            "transport": _transport(protocol, window),
            "application": {"kind": "adu", "size": KB, "bytes": size},
        }
        for index, (source, sink, protocol) in enumerate(flows)
    ]
    return Scenario(
        name=name,
        # Long enough for 1 Mb/s; a run is over when its finite streams are.
        duration=size * 8 / 1e6,
        seed=1,
        radio=radio,
        nodes=[
            {
                "name": "n",
                "count": len(feet),
                "placement": {"shape": "points", "at": [[place * FOOT, 0.0] for place in feet]},
                "relay": "application",
                "socket_buffer": SOCKET_BUFFER,
            }
        ],
        flows=streams,
    )


def has_path(scenario: Scenario) -> bool:
    """Whether static routing finds a path for every flow over usable links, which lose at most a tenth of full
    frames.
    """
    return _has_path(scenario.set("duration", "1 us"))


@lru_cache(maxsize=4096)
def _has_path(scenario: Scenario) -> bool:
    return "warnings" not in run(scenario, seed=1, threads=1).json()


def card_parameters() -> list[Parameter]:
    """Text of a report about cards and their reception."""
    return [
        Parameter("radio", "802.11a at a fixed 54 Mb/s, 5.2 GHz, reception sinr", "section I"),
        Parameter(
            "receiver",
            f"noise figure {NOISE_FIGURE_DB:.1f} dB",
            f"{SENSITIVITY_DBM:g} dBm at 54 Mb/s: LANCOM Reference Manual LCOS 3.50 (2004), section 11.5.3; Intel's is not published",
        ),
        *(Parameter(f"power, {card.name}", f"{card.power_dbm:.1f} dBm", card.source) for card in CARDS),
        Parameter("height", "28 in (0.711 m)", "section II"),
    ]


def field_parameter() -> Parameter:
    """Text of a report about the open place."""
    return Parameter(
        "field",
        "two-ray-interference, permittivity 15, vertical polarization",
        "medium dry ground (ITU-R P.527); the polarization is not stated",
    )


def scattering_parameter() -> Parameter:
    """Text of a report about the other open place."""
    return Parameter(
        "the other field",
        f"the ground scatters, at every distance: free space, Rician with K = {K_OPEN:g}, {DOPPLER:g} Hz; sentences have to hold over both",
        "not stated: “many different environments” (section II); TGn channel model F, large spaces indoors and outdoors (IEEE 802.11-03/940r4)",
    )


def mbps(measured: Measured, case: str, stream: int = 0) -> Sample:
    """Bandwidth of a stream in Mb/s: 0 if nothing arrived."""

    def number(document: Document) -> float:
        flow = _stream(document, stream)
        return float(flow["goodput_bps"]) / 1e6 if flow["goodput_bps"] else 0.0

    return measured.sample(case, number)


def loss(measured: Measured, case: str, streams: Sequence[int] = (0,)) -> Sample:
    """Loss of some streams together, in per cent."""

    def number(document: Document) -> float:
        found = [_stream(document, stream) for stream in streams]
        sent = sum(flow["sent_packets"] for flow in found)
        return 100.0 * sum(flow["lost_packets"] for flow in found) / sent if sent else math.nan

    return measured.sample(case, number)


def number(table: Table, case: str, metric: str) -> float:
    """The measured value of a row."""
    found = table[case, metric].measured
    return math.nan if found is None else found


def _transport(protocol: Protocol, window: int | None) -> Transport:
    found: Transport = {"protocol": protocol}
    if window is not None and protocol == "tcp":
        found["window"] = window
    return found


def _stream(document: Document, stream: int) -> Mapping[str, float]:
    found: Mapping[str, float] = next(flow for flow in document["flows"] if flow["name"] == f"stream{stream}")
    return found
