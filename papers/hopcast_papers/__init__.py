"""The experiments of five papers, of other people's measurements, and of two RFCs, repeated with hopcast.

`hopcast study` finds them by the entry point of this package. One module or folder has one paper:

* `aodv_testbed` (A): AODV on a testbed of laptops with WaveLAN cards;
* `h2o` (H): streams over 802.11a between laptops, one hop to four;
* `adtfrc` (M): rate control that identifies the state of the network;
* `strings_and_meshes` (P): voice and TCP over strings and meshes with errors;
* `wireless_house` (W): TCP, a film and a game behind one access point;
* `measured_networks` (R): measurements of others, which hopcast may not contain;
* `modern_radios` (N): findings of papers H and P on radios of today;
* `media_radios` (N): congestion controls of media in the scenes of papers M and W;
* `media_suite` (V): the test cases of RFC 8867 and RFC 8869 for congestion control of media;
* `fair_queues` (Q): queues of an access point, compared with what was published for Linux;
* `media_queues` (Q): congestion controls of media behind these queues.
"""

from __future__ import annotations

from hopcast.lab.experiment import Experiment
from hopcast.lab.installed import Collection
from hopcast_papers import (
    adtfrc,
    adtfrc_live,
    fair_queues,
    media_queues,
    media_radios,
    media_suite,
    modern_radios,
    wireless_house,
)
from hopcast_papers.aodv_testbed import hop, live, routes
from hopcast_papers.h2o import (
    at_range,
    cards,
    cloud,
    distance,
    exposed,
    live_cloud,
    streams,
    turbo,
    unfairness,
    waits,
    yardstick,
)
from hopcast_papers.measured_networks import orbit_frames, tfa_chain, tfa_links
from hopcast_papers.register import REGISTER
from hopcast_papers.strings_and_meshes import calls, conclusion, mesh, neighbours, string
from hopcast_papers.unsaid import UNSAID

MODULES = (
    hop,
    routes,
    live,
    streams,
    waits,
    cards,
    distance,
    exposed,
    unfairness,
    turbo,
    cloud,
    live_cloud,
    at_range,
    yardstick,
    string,
    calls,
    neighbours,
    mesh,
    conclusion,
    wireless_house,
    adtfrc,
    adtfrc_live,
    tfa_chain,
    tfa_links,
    orbit_frames,
    modern_radios,
    media_radios,
    media_suite,
    fair_queues,
    media_queues,
)
EXPERIMENTS: dict[str, Experiment] = {
    experiment.id: experiment
    for experiment in sorted(
        (experiment for module in MODULES for experiment in module.EXPERIMENTS),
        key=lambda experiment: (experiment.id[0], int(experiment.id[1:])),
    )
}
"""Every experiment by its id, in the order of the report."""
PAPERS = {
    "A": (
        "S. Desilva, S. R. Das: Experimental Evaluation of a Wireless Ad Hoc Network, 2000",
        "AODV on a testbed of laptops with WaveLAN cards: route discovery, UDP and FTP over one to four hops",
    ),
    "H": (
        "S. Bararia, S. Ghandeharizadeh, S. Kapadia: Evaluation of 802.11a for Streaming Data in Ad-hoc Networks, 2004",
        "laptops that stream over 802.11a: unit sizes, competing and relayed streams, exposed nodes, unfairness, Turbo",
    ),
    "M": (
        "Z. Fu, X. Meng, S. Lu: A Transport Protocol for Supporting Multimedia Streaming in Mobile Ad Hoc Networks, 2003",
        "simulations of ADTFRC, which tells congestion, channel errors and route changes apart",
    ),
    "P": (
        "M. Petrovic, M. Aboelaze: Performance of TCP/UDP under Ad Hoc IEEE802.11, 2003",
        "simulations of TCP and voice over strings and meshes with bursts of errors, with and without error correction",
    ),
    "W": (
        "C. E. Palazzi, G. Pau, M. Roccetti, M. Gerla: Digital Entertainment Delivery in a Wireless House: Time for a MAC Tuning, 2006",
        "simulations of film, game, video chat and FTP in one 802.11g house: retry limits and buffers",
    ),
}
"""By the letter of its experiments: each paper in full, and what its experiment was. The README lists them, too."""
STUDIES = Collection(tuple(EXPERIMENTS.values()), UNSAID, REGISTER, PAPERS)
"""What the entry point names."""
