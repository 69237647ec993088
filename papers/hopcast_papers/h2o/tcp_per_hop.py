"""TCP per hop for scene d of H12: the requests of a run as flows that all begin, each over a TCP connection between neighbours on its path.

Programs on the devices on the path pass the media on. There is no search, no hello and no reservation: sources and shortest paths are known. A source
reads from its disk: what TCP does not take yet waits in a buffer that is as large as a clip.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hopcast.lab.experiment import Document
from hopcast.results import Result, run
from hopcast.scenario import Scenario
from hopcast_papers.h2o import oracle

if TYPE_CHECKING:
    from hopcast.types import Flow, Nodes, Radio, Requests

PACKET = 1316
"""Bytes of media in a packet, as the cloud has it."""
APART = 5.0
"""Seconds after one clip ends and the next is asked for, in a run that tells where clips are."""


@dataclass(frozen=True)
class Scene:
    """Homes in a grid, which all store clips of one kind."""

    radio: Radio
    homes: Nodes
    side: int
    """Homes in a row."""
    begin: float
    """Seconds after which links are known."""
    clips: int
    rate: float
    """b/s."""
    length: float
    """Seconds of a clip."""
    prefetch: float
    """Seconds of media with which a display begins, and goes on after a hiccup."""


def observe(result: Result, scene: Scene) -> Document:
    """What the requests of a run of the cloud come to over TCP per hop, in the form of the cloud's results."""
    document = result.json()
    seed: int = document["provenance"]["seed"]
    asked = sorted(document["cloud"]["streams"], key=lambda one: one["asked_s"])
    others = [one for one in asked if not oracle.is_stored(one)]
    sources = _sources(result.scenario, scene, seed)
    flows = [_flow(f"display{number}", sources[one["clip"]], one, scene) for number, one in enumerate(others)]
    homes: Nodes = {**scene.homes}
    homes["relay"] = "application"
    # As from a disk: what TCP does not take yet waits.
    homes["socket_buffer"] = _octets(scene)
    over_tcp = Scenario(
        name=f"{result.scenario.name}, as flows",
        duration=result.scenario.duration_s,
        seed=1,
        radio=scene.radio,
        nodes=[homes],
        flows=flows,
    )
    made = run(over_tcp, seed=seed, threads=1).json()["flows"]
    streams = [_stream(one, flow, scene) for one, flow in zip(others, made, strict=True)]
    totals = {
        "offered": len(asked),
        "local": len(asked) - len(others),
        "admitted": len(others),
        "completed_without_hiccup": sum(map(oracle.is_fine, streams)),
        "hiccups": sum(one["hiccups"] for one in streams),
        "played_s": sum(one["played_s"] for one in streams),
    }
    return {"cloud": {"streams": streams, "totals": totals}}


def path(source: str, display: str, side: int) -> list[str]:
    """The homes between two: along the row of the source, then along the column of the display."""
    (row, column), last = (divmod(int(name.removeprefix("home")), side) for name in (source, display))
    way = []
    while (row, column) != last:
        if column != last[1]:
            column += 1 if last[1] > column else -1
        else:
            row += 1 if last[0] > row else -1
        way.append(f"home{row * side + column}")
    return way[:-1]


def _sources(scenario: Scenario, scene: Scene, seed: int) -> dict[str, str]:
    """Where each clip is: one home asks for all of them, one after the other. What it asks does not change what is stored where."""
    asks: list[Requests] = [
        {"from": "home0", "clip": f"clip{number}", "start": scene.begin + number * (scene.length + APART)}
        for number in range(scene.clips)
    ]
    duration = scene.begin + scene.clips * (scene.length + APART)
    told = run(scenario.set_all({"cloud.requests": asks, "duration": duration}), seed=seed, threads=1).json()
    return {one["clip"]: one["source"] for one in told["cloud"]["streams"]}


def _flow(name: str, source: str, asked: oracle.Stream, scene: Scene) -> Flow:
    return {
        "name": name,
        "from": source,
        "to": asked["display"],
        "via": path(source, asked["display"], scene.side),
        "start": asked["asked_s"],
        "stop": asked["asked_s"] + scene.length,
        "transport": {"protocol": "tcp"},
        "application": {"kind": "cbr", "rate": scene.rate, "packet": PACKET},
        "player": {"start_up_delay": scene.prefetch},
    }


def _octets(scene: Scene) -> int:
    """Bytes of a clip, up to whole packets."""
    return (int(scene.rate * scene.length / 8) // PACKET + 1) * PACKET


def _stream(asked: oracle.Stream, flow: Document, scene: Scene) -> oracle.Stream:
    # The last packet has more media than the clip.
    is_whole = flow["played_s"] >= scene.length
    return {
        "display": asked["display"],
        "clip": asked["clip"],
        "source": flow["from"],
        "outcome": "completed" if is_whole else "playing",
        "hiccups": flow["hiccups"],
        "played_s": min(flow["played_s"], scene.length),
        "rate_mean_bps": None,
    }
