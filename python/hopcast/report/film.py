"""The demonstration: a video stream and a download from one box, over 802.11a."""

from __future__ import annotations

import os

from hopcast.results import run
from hopcast.scenario import Scenario

SEED = 1


def scenario() -> Scenario:
    """The scenario of `examples/film.toml`, in Python."""
    return Scenario(
        name="a film and a download",
        duration="60 s",
        seed=SEED,
        radio={"standard": "802.11a", "data_rate": "54 Mb/s", "rts_threshold": "off", "queue": {"packets": 50}},
        nodes=[
            {"name": "box", "placement": {"shape": "points", "at": [["0 m", "0 m"]]}},
            {"name": "screen", "placement": {"shape": "points", "at": [["8 m", "0 m"]]}},
            {"name": "laptop", "placement": {"shape": "points", "at": [["0 m", "6 m"]]}},
        ],
        flows=[
            {
                "name": "film",
                "from": "box",
                "to": "screen",
                "transport": {"protocol": "udp"},
                "application": {"kind": "video-trace", "file": "big-buck-bunny"},
            },
            {
                "name": "download",
                "from": "box",
                "to": "laptop",
                "start": "20 s",
                "stop": "40 s",
                "transport": {"protocol": "tcp", "variant": "newreno"},
                "application": {"kind": "bulk"},
            },
        ],
    )


def demonstrate(folder: str | os.PathLike[str]) -> None:
    """Run the demonstration, and write its results to the folder."""
    run(scenario(), out=folder)
