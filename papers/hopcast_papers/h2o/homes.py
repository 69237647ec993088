"""What scenes of H12 share: homes whose radio reaches 25 m, and what a run says of their displays."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from hopcast.lab.experiment import Document, Measured
from hopcast.lab.rows import Sample

if TYPE_CHECKING:
    from hopcast.types import Radio


EXPIRY = 15.0
"""Seconds after which a booking without refreshment ends."""


def radio(data_rate: str = "36 Mb/s", carrier_sense: str = "55 m") -> Radio:
    """802.11a without RTS/CTS, with a reach of 25 m."""
    return {
        "standard": "802.11a",
        "data_rate": data_rate,
        "rts_threshold": "off",
        "propagation": {"model": "range", "receive": "25 m", "carrier_sense": carrier_sense},
    }


def lossy(loss: float) -> Radio:
    """The same with this share of the packets of all kinds lost at each receiver, after the medium access has delivered them."""
    return {**radio(), **({"errors": {"model": "packet", "rate": loss, "level": "network"}} if loss else {})}


def total(field: str) -> Callable[[Document], float]:
    """What reads a field of the totals of the cloud."""
    return lambda document: float(document["cloud"]["totals"][field])


def hiccups_per_hour(document: Document) -> float:
    """Hiccups per hour of display."""
    totals = document["cloud"]["totals"]
    return float(totals["hiccups"] * 3600 / max(totals["played_s"], 1.0))


def admitted_of_others(document: Document) -> float:
    """Displays of others' clips that were admitted, per cent of those asked for."""
    totals = document["cloud"]["totals"]
    asked = totals["offered"] - totals["local"]
    return float(100 * totals["admitted"] / asked) if asked else math.nan


def hours_displayed(documents: Iterable[Document]) -> Sample:
    """Hours of display in all of these runs together."""
    return Sample((sum(document["cloud"]["totals"]["played_s"] for document in documents) / 3600,))


def start_up(document: Document) -> float:
    """Mean start-up of displays that began, s; NaN of none."""
    times = [one["start_up_s"] for one in document["cloud"]["streams"] if one["start_up_s"] is not None]
    return sum(times) / len(times) if times else math.nan


def shown(document: Document) -> list[dict[str, Any]]:
    """Streams that were shown."""
    return [stream for stream in document["cloud"]["streams"] if stream["start_up_s"] is not None]


def starved(document: Document) -> float:
    """Share of the streams that were shown and stalled; zero of none."""
    streams = shown(document)
    return sum(stream["hiccups"] > 0 for stream in streams) / len(streams) if streams else 0.0


def differences(measured: Measured, case: str, other: str, read: Callable[[Document], float]) -> Sample:
    """What one case has more than another, by seed."""
    pairs = zip(measured.documents[case], measured.documents[other], strict=True)
    return Sample(tuple(read(one) - read(base) for one, base in pairs))
