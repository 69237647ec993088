"""The demonstration: a video stream and a download from one box, over radios of two generations."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hopcast.results import run
from hopcast.scenario import Scenario

if TYPE_CHECKING:
    from hopcast.types import Radio

SEED = 1
RADIOS: dict[str, Radio] = {
    "802.11a": {"standard": "802.11a", "data_rate": "54 Mb/s", "rts_threshold": "off", "queue": {"packets": 50}},
    "802.11ax": {
        "standard": "802.11ax",
        "band": "5 GHz",
        "channel": {"number": 36, "width": "80 MHz"},
        "spatial_streams": 2,
        "data_rate": "minstrel-ht",
        "rts_threshold": "off",
    },
}
"""Cards of 2003 and of today, the latter with the queues and the rate control of Linux."""
FOLDERS = {"802.11a": "film", "802.11ax": "film-802.11ax"}
"""Where the results of each are, next to the rows of a study."""
TOLD = {
    "802.11a": "54 Mb/s, and a queue of 50 packets.",
    "802.11ax": "80 MHz, two streams, Minstrel-HT, A-MPDUs, and a queue of 512 packets.",
}
"""What a reader has to know of each."""


def scenario(radio: str = "802.11a") -> Scenario:
    """The scenario of `examples/film.toml`, over one of `RADIOS`."""
    return Scenario(
        name="a film and a download",
        duration="60 s",
        seed=SEED,
        radio=RADIOS[radio],
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


def demonstrate(root: str | os.PathLike[str]) -> None:
    """Run the demonstration, and write its results to `FOLDERS` below `root`."""
    for radio, folder in FOLDERS.items():
        run(scenario(radio), out=os.path.join(root, folder))
