"""The oracle of H12: it admits a stream if a run of the simulator shows that this stream and all admitted before it stay without a hiccup.

No device can do that. It bounds what a rule of admission can do that decides at each request and knows nothing of later ones. A rule that
knew all requests beforehand could refuse long paths for the sake of short ones, and serve more.

The machines of the devices are unchanged and admit all streams; only those requests that the oracle admits are made.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hopcast.lab.experiment import Document
from hopcast.results import Result, run

if TYPE_CHECKING:
    from hopcast.scenario import Scenario

AHEAD = 40.0
"""Seconds from a request up to which the oracle looks: two lengths of a clip. A clip that has not ended by then is refused."""
Stream = dict[str, Any]


def observe(result: Result) -> Document:
    """The cloud of the same requests if the oracle decides. The run itself says who asks for what, and when."""
    document = result.json()
    seed: int = document["provenance"]["seed"]
    asked = sorted(document["cloud"]["streams"], key=lambda one: one["asked_s"])
    stored = [one for one in asked if is_stored(one)]
    admitted: list[Stream] = []
    for one in asked:
        if is_stored(one):
            continue
        trial = [*admitted, one]
        if all(map(is_fine, _streams(result.scenario, trial, one["asked_s"] + AHEAD, seed))):
            admitted = trial
    made = _document(result.scenario, [*admitted, *stored], result.scenario.duration_s, seed)
    totals = made["cloud"]["totals"] | {"offered": len(asked), "refused": len(asked) - len(stored) - len(admitted)}
    return {"cloud": made["cloud"] | {"totals": totals}}


def is_stored(stream: Stream) -> bool:
    """Whether the display stores the clip, so that nothing is asked of the cloud."""
    return bool(stream["source"] == stream["display"])


def is_fine(stream: Stream) -> bool:
    """Whether a clip was shown to its end and never stood still."""
    return bool(stream["outcome"] == "completed" and stream["hiccups"] == 0)


def _streams(scenario: Scenario, requests: Sequence[Stream], duration: float, seed: int) -> list[Stream]:
    found: list[Stream] = _document(scenario, requests, duration, seed)["cloud"]["streams"]
    return found


def _document(scenario: Scenario, requests: Sequence[Stream], duration: float, seed: int) -> Document:
    """What a run says in which only these requests are made."""
    made = [{"from": one["display"], "clip": one["clip"], "start": one["asked_s"]} for one in requests]
    changed = scenario.set_all({"cloud.requests": made, "duration": duration})
    document: Document = run(changed, seed=seed, threads=1).json()
    return document
