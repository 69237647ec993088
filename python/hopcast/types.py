"""The vocabulary of a scenario, as types for Python objects: plain dictionaries that a type checker can check.

A quantity is a string with its unit (`"2 Mb/s"`, `"200 m"`, `"10 ms"`, `"1000 B"`, `"24.5 dBm"`) or a number in SI
units: bit/s, metres, seconds, bytes, hertz, watts; decibels where a ratio is meant. `hopcast schema` prints the same vocabulary as a JSON Schema.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

Quantity = str | int | float
"""A number with its unit, or a bare one in SI units."""


class Propagation(TypedDict, total=False):
    """How power falls with distance."""

    model: Literal["range", "free-space", "two-ray-ground", "two-ray-interference", "log-distance"]
    receive: Quantity
    carrier_sense: Quantity
    frequency: Quantity
    antenna_height: Quantity
    permittivity: float
    polarization: Literal["horizontal", "vertical"]
    exponent: float
    reference_distance: Quantity
    shadowing: Quantity
    shadowing_per: Literal["link", "frame"]
    decorrelation_distance: Quantity
    fading: Literal["none", "rayleigh", "rician", "nakagami"]
    k: float
    m: float
    doppler: Quantity


class RetryLimit(TypedDict, total=False):
    """Attempts at a frame, for frames up to and beyond the RTS threshold."""

    short: int
    long: int


class Queue(TypedDict, total=False):
    """The interface queue."""

    packets: int
    discipline: Literal["drop-tail", "priority", "codel", "fq-codel"]
    target: Quantity
    interval: Quantity
    quantum: Quantity


class Errors(TypedDict, total=False):
    """Losses on top of what reception decides."""

    model: Literal["none", "packet", "gilbert-elliott"]
    rate: float | list[tuple[Quantity, float]]
    level: Literal["frame", "network"]
    good_ber: float
    bad_ber: float
    good_mean: Quantity
    bad_mean: Quantity
    fec: Literal["none", "reed-solomon"]
    headers: bool


class Radio(TypedDict, total=False):
    """The radio of every node."""

    profile: Literal["standard", "ns-2", "wavelan"]
    standard: Literal["802.11", "802.11b", "802.11a", "802.11g", "802.11a-turbo", "wavelan"]
    preamble: Literal["long", "short"]
    channel: int
    data_rate: Quantity
    basic_rate: Quantity
    edca: Literal["off", "2012", "2020"]
    protection: Literal["none", "cts-to-self", "rts-cts"]
    association: Literal["implicit", "passive", "active"]
    beacon_interval: Quantity
    rts_threshold: Quantity
    retry_limit: RetryLimit
    queue: Queue
    mtu: Quantity
    reception: Literal["threshold", "sinr"]
    tx_power: Quantity
    receive_threshold: Quantity
    carrier_sense_threshold: Quantity
    noise_figure: Quantity
    preamble_detection: Quantity
    interference_floor: Quantity
    capture: Quantity
    adjacent_channel_rejection: Quantity
    propagation: Propagation
    errors: Errors


class Placement(TypedDict, total=False):
    """Where the nodes of a group stand."""

    shape: Literal["line", "grid", "circle", "points", "uniform"]
    spacing: Quantity
    columns: int
    radius: Quantity
    at: list[list[Quantity]]
    width: Quantity
    height: Quantity


class Area(TypedDict, total=False):
    """A rectangle."""

    width: Quantity
    height: Quantity
    x: Quantity
    y: Quantity


class Mobility(TypedDict, total=False):
    """How nodes move."""

    model: Literal["static", "random-waypoint", "gauss-markov", "trace"]
    speed: Quantity | Sequence[Quantity]
    pause: Quantity | Sequence[Quantity]
    start: Literal["steady-state", "classical"]
    area: Area
    speed_deviation: Quantity
    direction: float
    direction_deviation: float
    alpha: float
    step: Quantity
    edge: Quantity
    file: str


class Routing(TypedDict, total=False):
    """How routes are found; the keys beside `protocol` are those of one protocol each (docs/scenario.md)."""

    protocol: Literal["static", "none", "aodv", "dsdv", "dsr", "olsr", "custom"]
    name: str
    parameters: Mapping[str, Any]
    profile: Literal["rfc-3561", "ns-2", "draft-5", "draft-5-in-arp", "rfc-4728"]
    active_route_timeout: Quantity
    allowed_hello_loss: int
    hello_interval: Quantity
    local_add_ttl: int
    net_diameter: int
    node_traversal_time: Quantity
    rerr_ratelimit: int
    rreq_ratelimit: int
    rreq_retries: int
    timeout_buffer: int
    ttl_start: int
    ttl_increment: int
    ttl_threshold: int
    broadcast_jitter: Quantity
    link_detection: Literal["hello", "link-layer", "both"]
    hello_always: bool
    local_repair: Literal["never", "near", "nearer-than-source"]
    gratuitous_reply: bool
    destination_only: bool
    reply_acknowledgement: bool
    period: Quantity
    allowed_loss: int
    settling_weight: float
    first_settling: Quantity
    triggered_interval: Quantity
    startup_jitter: Quantity
    cache: Literal["link", "path"]
    route_cache_timeout: Quantity
    acknowledgement: Literal["link-layer", "passive", "network-layer"]
    promiscuous: bool
    discovery_hop_limit: int
    max_request_rexmt: int
    request_period: Quantity
    max_request_period: Quantity
    nonprop_request_timeout: Quantity
    maint_holdoff_time: Quantity
    max_maint_rexmt: int
    grat_reply_holdoff: Quantity
    max_salvage_count: int
    tc_interval: Quantity
    duplicate_hold: Quantity
    willingness: int
    tc_redundancy: int
    mpr_coverage: int
    hysteresis: bool
    link_layer_notification: bool
    sequence_number_triggers: bool
    settle_everything: bool


class NodeRadio(TypedDict, total=False):
    """A radio of a node, where it differs from the common one."""

    network: str
    channel: int
    data_rate: Quantity
    basic_rate: Quantity
    tx_power: Quantity


class Card(TypedDict, total=False):
    """A card between a host and a radio."""

    model: Literal["pcmcia", "isa"]
    transmit_buffers: int
    receive_buffers: int
    copy_out: Quantity
    copy_in: Quantity


class Arp(TypedDict, total=False):
    """How hardware addresses of neighbours' radios are found."""

    profile: Literal["rfc-1122", "ns-2"]
    timeout: Quantity
    request_interval: Quantity
    requests: int
    queue: int


class LinkQueue(TypedDict, total=False):
    """The drop-tail queue of a wire."""

    packets: int


class Link(TypedDict, total=False):
    """A wire between two nodes."""

    between: Sequence[str]
    rate: Quantity
    delay: Quantity
    queue: LinkQueue
    loss: float


class Nodes(TypedDict, total=False):
    """A group of `count` nodes, named `name0`, `name1`, …; or, without `count`, a single node of that name."""

    name: str
    count: int
    role: Literal["ad-hoc", "access-point", "station", "wired"]
    radios: Sequence[NodeRadio]
    card: Card
    placement: Placement
    mobility: Mobility
    routing: Routing
    route_queue: int
    arp: Arp
    relay: Literal["os", "application"]
    socket_buffer: Quantity
    real: bool


class Congestion(TypedDict, total=False):
    """A congestion control of one's own."""

    name: str
    parameters: Mapping[str, object]


class Transport(TypedDict, total=False):
    """How a flow is carried."""

    protocol: Literal["udp", "tcp", "tfrc", "adtfrc"]
    variant: Literal["reno", "newreno", "sack", "cubic", "rfc5348", "rfc3448", "rfc4828"]
    congestion: Congestion
    metric: Literal["joint", "idd", "stt", "none"]
    timestamps: bool
    segment: Quantity
    window: int
    initial_window: int
    min_rto: Quantity
    delayed_ack: Quantity
    elfn: bool


class Application(TypedDict, total=False):
    """What a flow sends."""

    kind: Literal["bulk", "adu", "cbr", "audio", "game", "file", "video-trace"]
    bytes: Quantity
    packet: Quantity
    size: Quantity
    wait: Quantity
    rate: Quantity
    jitter: Quantity
    interval: Quantity
    deadline: Quantity
    model: Literal["faerber", "ngmn"]
    direction: Literal["server", "client"]
    think: Quantity
    file: str


class FlowFec(TypedDict, total=False):
    """Forward error correction of a flow."""

    source: int
    repair: int
    block_timeout: Quantity


class Player(TypedDict, total=False):
    """What shows the media of a flow at its end."""

    start_up_delay: Quantity
    resume_delay: Quantity


Flow = TypedDict(
    "Flow",
    {
        "name": str,
        "from": str,
        "to": str,
        "via": list[str],
        "priority": Literal["background", "best-effort", "video", "voice"],
        "start": Quantity,
        "stop": Quantity,
        "transport": Transport,
        "application": Application,
        "fec": FlowFec,
        "player": Player,
    },
    total=False,
)
"""One stream of data from a node to another."""


class Program(TypedDict, total=False):
    """A program at a real node."""

    node: str
    command: str
    start: Quantity


class Emulation(TypedDict, total=False):
    """What holds where real hosts take part, in `hopcast emulate`."""

    lag_limit: Quantity
    programs: Sequence[Program]
