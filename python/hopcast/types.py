"""The vocabulary of a scenario, as types for Python objects: plain dictionaries that a type checker can check.

A quantity is a string with its unit (`"2 Mb/s"`, `"200 m"`, `"10 ms"`, `"1000 B"`, `"24.5 dBm"`) or a number in SI
units: bit/s, metres, seconds, bytes, hertz, watts; decibels where a ratio is meant. `hopcast schema` prints the same
vocabulary as a JSON Schema, from which `tools/docs/scenario_types.py` writes this file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

Quantity = str | int | float
"""A number with its unit, or a bare one in SI units."""


class Adaptation(TypedDict, total=False):
    """How displays choose the rate of clips that have `lower_rates`, segment by segment."""

    buffer: Quantity
    reserve: Literal["highest", "lowest"]
    rule: Literal["bba", "bola", "robust-mpc"]
    segment: Quantity


class Caches(TypedDict, total=False):
    """Room on devices for clips or blocks that they have displayed."""

    at: Sequence[str]
    carry: Quantity
    carry_for: Literal["all", "expected"]
    policy: Literal["lru", "lfu", "greedy-dual-frequency"]
    size: Quantity


class Clip(TypedDict, total=False):
    """A clip, or with `count` a group of clips."""

    at: Sequence[str]
    block: Quantity
    count: int
    length: Quantity
    lower_rates: Sequence[Quantity]
    name: str
    popularity: float
    rate: Quantity
    trace: str


class Failures(TypedDict, total=False):
    """The program of a device is killed, and starts again."""

    at: Sequence[str]
    duration: Quantity
    start: Quantity


class Lies(TypedDict, total=False):
    """Devices that lie about their links."""

    at: Sequence[str]
    factor: float


Requests = TypedDict(
    "Requests",
    {
        "clip": str,
        "every": Quantity,
        "from": str,
        "patience": Quantity,
        "start": Quantity,
        "stop": Quantity,
    },
    total=False,
)
"""Requests for a clip."""


class Shortening(TypedDict, total=False):
    """Streams that are under way take shorter paths when links allow it, and return when these fail."""

    after: Quantity
    flaps: int
    hold: Quantity
    margin: float


class Cloud(TypedDict, total=False):
    """Devices that store clips and stream them to each other."""

    adaptation: Adaptation
    admission: Literal["all", "hops", "mean", "airtime", "profile", "statistical"]
    batch: int
    caches: Sequence[Caches]
    catch_up: float
    clips: Sequence[Clip]
    copies: int
    devices: Sequence[str]
    estimator: Literal["gaussian", "bootstrap", "quantile"]
    failures: Sequence[Failures]
    half_life: Quantity
    hop_time: Quantity
    lies: Sequence[Lies]
    max_airtime: float
    measurement_interval: Quantity
    nominal_rate: Quantity
    placement: Literal["given", "full", "uniform", "proportional", "square-root", "near", "anywhere"]
    prefetch: Quantity
    requests: Sequence[Requests]
    schedule: Literal["fifo", "round-robin", "earliest-deadline", "earliest-hiccup"]
    sensing_hops: int
    shortening: Shortening
    stalls_per_hour: float


class Program(TypedDict, total=False):
    """A program that hopcast starts at a real node."""

    command: str
    node: str
    start: Quantity


class Emulation(TypedDict, total=False):
    """Settings for real hosts (`hopcast emulate`)."""

    lag_limit: Quantity
    programs: Sequence[Program]


class Application(TypedDict, total=False):
    """Data that the application sends."""

    bytes: Quantity
    kind: Literal["bulk", "adu", "cbr", "codec", "audio", "game", "file", "video-trace", "custom"]
    packet: Quantity
    size: Quantity
    wait: Quantity
    jitter: Quantity
    rate: Quantity
    frame_rate: float
    max_rate: Quantity
    min_rate: Quantity
    model: Literal["steady", "transient", "content-sharing", "trace", "hybrid", "faerber", "ngmn"]
    traces: Sequence[str]
    deadline: Quantity
    interval: Quantity
    direction: Literal["server", "client"]
    think: Quantity
    file: str
    name: str
    parameters: Mapping[str, Any]


class FlowFec(TypedDict, total=False):
    """Forward error correction: repair packets from which the receiver recovers lost packets (RFC 6865); over UDP,
    RTP, TFRC and ADTFRC.
    """

    block_timeout: Quantity
    repair: int
    source: int


class JitterBuffer(TypedDict, total=False):
    """A jitter buffer for live media, which shows each frame at its time and waits for none; for `codec` too."""

    delay: Quantity
    kind: Literal["fixed", "adaptive"]
    max_delay: Quantity
    min_delay: Quantity


class Player(TypedDict, total=False):
    """A media player at the receiving end, with a buffer; for `audio`, `cbr`, `video-trace`, and custom media; with
    a jitter buffer for `codec` too.
    """

    jitter_buffer: JitterBuffer
    resume_delay: Quantity
    start_up_delay: Quantity


class Congestion(TypedDict, total=False):
    """Custom congestion control, added to hopcast by a program, that replaces the variant's."""

    name: str
    parameters: Mapping[str, Any]


class Transport(TypedDict, total=False):
    """Transport protocol of the flow."""

    protocol: Literal["udp", "tcp", "tfrc", "adtfrc", "rtp"]
    congestion: Congestion | str
    deadline: Quantity
    delayed_ack: Quantity
    ecn: bool
    elfn: bool
    initial_window: int
    min_rto: Quantity
    segment: Quantity
    timestamps: bool
    variant: Literal["reno", "newreno", "sack", "cubic", "prague", "rfc5348", "rfc3448", "rfc4828", "ns-2"]
    window: int
    metric: Literal["joint", "idd", "stt", "none"]
    feedback: Literal["ccfb", "twcc"]
    parameters: Mapping[str, Any]
    retransmission: Quantity
    weight: float


Flow = TypedDict(
    "Flow",
    {
        "application": Application,
        "fec": FlowFec,
        "from": str,
        "listens_to": str,
        "name": str,
        "player": Player,
        "port": int,
        "priority": Literal["background", "best-effort", "video", "voice"],
        "start": Quantity,
        "stop": Quantity,
        "to": str,
        "transport": Transport,
        "via": Sequence[str],
    },
    total=False,
)
"""Streams of data between nodes."""


class LinkQueue(TypedDict, total=False):
    """Queue."""

    discipline: Literal["drop-tail", "codel", "fq-codel", "pie", "dualpi2"]
    ecn: bool
    interval: Quantity
    packets: int
    quantum: Quantity
    target: Quantity


class Trace(TypedDict, total=False):
    """File that says how the capacity, the delay or the loss changes in time."""

    end: Literal["stay", "repeat"]
    file: str


class Back(TypedDict, total=False):
    """What differs in the direction from the second node to the first."""

    delay: Quantity | Sequence[tuple[Quantity, Quantity]]
    loss: float | Sequence[tuple[Quantity, float]]
    queue: LinkQueue
    rate: Quantity | Sequence[tuple[Quantity, Quantity]]
    trace: Trace


class Link(TypedDict, total=False):
    """Wires between nodes."""

    back: Back
    between: Sequence[str]
    delay: Quantity | Sequence[tuple[Quantity, Quantity]]
    duplex: Literal["full", "half"]
    loss: float | Sequence[tuple[Quantity, float]]
    queue: LinkQueue
    rate: Quantity | Sequence[tuple[Quantity, Quantity]]
    trace: Trace


class Down(TypedDict, total=False):
    """What differs in what the node receives."""

    delay: Quantity | Sequence[tuple[Quantity, Quantity]]
    loss: float | Sequence[tuple[Quantity, float]]
    queue: LinkQueue
    rate: Quantity | Sequence[tuple[Quantity, Quantity]]
    trace: Trace


class Up(TypedDict, total=False):
    """What differs in what the node sends."""

    delay: Quantity | Sequence[tuple[Quantity, Quantity]]
    loss: float | Sequence[tuple[Quantity, float]]
    queue: LinkQueue
    rate: Quantity | Sequence[tuple[Quantity, Quantity]]
    trace: Trace


class Access(TypedDict, total=False):
    """Capacity, delay and loss of everything that each node sends and receives."""

    delay: Quantity | Sequence[tuple[Quantity, Quantity]]
    down: Down
    loss: float | Sequence[tuple[Quantity, float]]
    queue: LinkQueue
    rate: Quantity | Sequence[tuple[Quantity, Quantity]]
    trace: Trace
    up: Up


class Arp(TypedDict, total=False):
    """Address resolution: how the nodes find the hardware addresses of neighbours' radios, by ARP (RFC 826)."""

    profile: Literal["rfc-1122", "ns-2"]
    queue: int
    request_interval: Quantity
    requests: int
    timeout: Quantity


class Card(TypedDict, total=False):
    """Network card of each radio, to and from which the processor copies packets."""

    copy_in: Quantity
    copy_in_fixed: Quantity
    copy_out: Quantity
    copy_out_fixed: Quantity
    model: Literal["pcmcia", "isa"]
    receive_buffers: int
    transmit_buffers: int


class Area(TypedDict, total=False):
    """Area of the streets, of which the outermost lie on its edges: a whole number of blocks along either side."""

    height: Quantity
    width: Quantity
    x: Quantity
    y: Quantity


class Mobility(TypedDict, total=False):
    """Movement of the nodes."""

    model: Literal["static", "random-waypoint", "gauss-markov", "streets", "trace", "custom"]
    area: Area
    pause: Quantity | Sequence[Quantity]
    speed: Quantity | Sequence[Quantity] | Quantity
    start: Literal["steady-state", "classical"]
    alpha: float
    direction: float
    direction_deviation: float
    edge: Quantity
    speed_deviation: Quantity
    step: Quantity
    block: Sequence[Quantity]
    stop: float
    turn: float
    file: str
    name: str
    parameters: Mapping[str, Any]


class Placement(TypedDict, total=False):
    """Positions of the nodes, at the start if they move. Required, except for roles `wired` and `hub` and mobility
    `trace`.
    """

    shape: Literal["line", "grid", "circle", "points", "uniform"]
    spacing: Quantity
    columns: int
    radius: Quantity
    at: Sequence[Sequence[Quantity]]
    height: Quantity
    width: Quantity


class Channel(TypedDict, total=False):
    """Channel number in the standard's band, or a table with the number of the primary channel and the width. Its
    centre is the default of the propagation model's frequency.
    """

    number: int
    width: Quantity


class NodeRadio(TypedDict, total=False):
    """Radios of the nodes, where they differ from `radio`."""

    basic_rate: Quantity
    channel: int | Channel
    data_rate: Quantity
    network: str
    spatial_streams: int
    standard: Literal[
        "802.11", "802.11b", "802.11a", "802.11g", "802.11a-turbo", "wavelan", "802.11n", "802.11ac", "802.11ax"
    ]
    tx_power: Quantity


class Routing(TypedDict, total=False):
    """Routing protocol of the nodes."""

    protocol: Literal["static", "none", "aodv", "dsdv", "dsr", "olsr", "custom"]
    active_route_timeout: Quantity
    allowed_hello_loss: int
    broadcast_jitter: Quantity
    destination_only: bool
    error_without_route: bool
    gratuitous_reply: bool
    hello_always: bool
    hello_interval: Quantity
    hello_suppression: bool
    link_detection: Literal["hello", "link-layer", "both"]
    local_add_ttl: int
    local_repair: Literal["never", "near", "nearer-than-source"]
    net_diameter: int
    node_traversal_time: Quantity
    profile: Literal["rfc-3561", "ns-2", "draft-5", "draft-5-in-arp", "rfc-4728"]
    reply_acknowledgement: bool
    rerr_ratelimit: int
    rreq_ratelimit: int
    rreq_retries: int
    timeout_buffer: int
    ttl_increment: int
    ttl_start: int
    ttl_threshold: int
    allowed_loss: int
    first_settling: Quantity
    link_layer_notification: bool
    period: Quantity
    sequence_number_triggers: bool
    settle_everything: bool
    settling_weight: float
    startup_jitter: Quantity
    triggered_interval: Quantity
    acknowledgement: Literal["link-layer", "passive", "network-layer"]
    cache: Literal["link", "path"]
    discovery_hop_limit: int
    grat_reply_holdoff: Quantity
    maint_holdoff_time: Quantity
    max_maint_rexmt: int
    max_request_period: Quantity
    max_request_rexmt: int
    max_salvage_count: int
    nonprop_request_timeout: Quantity
    promiscuous: bool
    request_period: Quantity
    route_cache_timeout: Quantity
    duplicate_hold: Quantity
    hysteresis: bool
    mpr_coverage: int
    tc_interval: Quantity
    tc_redundancy: int
    willingness: int
    name: str
    parameters: Mapping[str, Any]


class Nodes(TypedDict, total=False):
    """Nodes, and groups of nodes."""

    access: Access
    arp: Arp
    card: Card
    count: int
    hold_threshold: Quantity
    mobility: Mobility
    name: str
    placement: Placement
    radios: Sequence[NodeRadio]
    real: bool
    relay: Literal["os", "application"]
    role: Literal["ad-hoc", "access-point", "station", "wired", "hub"]
    route_queue: int
    routing: Routing
    socket_buffer: Quantity


class Aggregation(TypedDict, total=False):
    """What data frames of 802.11n and later aggregate."""

    agreements: Literal["implicit", "negotiated"]
    ampdu: Quantity
    amsdu: Quantity
    attempts: int | Literal["off"]
    block_ack: int | Literal["off"]
    inactivity: Quantity
    lifetime: Quantity


class Errors(TypedDict, total=False):
    """Losses in addition to those of `reception`."""

    model: Literal["none", "packet", "gilbert-elliott", "custom"]
    level: Literal["frame", "network"]
    rate: float | Sequence[tuple[Quantity, float]]
    bad_ber: float
    bad_mean: Quantity
    clock: Literal["time", "frames"]
    fec: Literal["none", "reed-solomon"]
    fec_frames: Literal["all", "individually-addressed"]
    good_ber: float
    good_mean: Quantity
    headers: bool
    name: str
    parameters: Mapping[str, Any]


class Blockage(TypedDict, total=False):
    """People or vehicles that pass through links, each link independently, and alike in both directions."""

    attenuation: Quantity | Sequence[Quantity]
    duration: Quantity
    interval: Quantity
    spread: float


class Buildings(TypedDict, total=False):
    """A rectangular building."""

    attenuation: Quantity
    height: Quantity
    per_metre: Quantity
    width: Quantity
    x: Quantity
    y: Quantity


class Drift(TypedDict, total=False):
    """Slow changes of each link's power in time, the same in both directions: log-normal, with an exponential
    correlation.
    """

    decorrelation_time: Quantity
    deviation: Quantity


Walls = TypedDict(
    "Walls",
    {
        "attenuation": Quantity,
        "from": Sequence[Quantity],
        "to": Sequence[Quantity],
    },
    total=False,
)
"""A straight wall."""


class Obstacles(TypedDict, total=False):
    """Obstacles between nodes: walls, buildings, people and vehicles that pass through links, and slow changes."""

    blockage: Blockage
    buildings: Sequence[Buildings]
    drift: Drift
    walls: Sequence[Walls]


class Propagation(TypedDict, total=False):
    """Path loss: the fall of received power with distance."""

    carrier_sense: Quantity
    model: Literal["range", "free-space", "two-ray-ground", "two-ray-interference", "log-distance", "custom"]
    receive: Quantity
    decorrelation_distance: Quantity
    doppler: Quantity
    fading: Literal["none", "rayleigh", "rician", "nakagami"]
    frequency: Quantity
    k: float
    m: float
    shadowing: Quantity
    shadowing_per: Literal["link", "frame"]
    antenna_height: Quantity
    permittivity: float
    polarization: Literal["horizontal", "vertical"]
    exponent: float
    reference_distance: Quantity
    name: str
    parameters: Mapping[str, Any]


class Queue(TypedDict, total=False):
    """Interface queue of each node."""

    airtime_fairness: bool
    airtime_limit: bool
    discipline: Literal["drop-tail", "priority", "codel", "fq-codel", "pie", "dualpi2", "mac80211"]
    driver_packets: int
    ecn: bool
    interval: Quantity
    packets: int
    quantum: Quantity
    target: Quantity


class RetryLimit(TypedDict, total=False):
    """Number of attempts at a frame before the station drops it."""

    long: int
    short: int


class Radio(TypedDict, total=False):
    """Defaults for the radio of every node."""

    adjacent_channel_rejection: Quantity
    aggregation: Aggregation
    association: Literal["implicit", "passive", "active"]
    band: Quantity
    bandwidth: Literal["whole", "static", "dynamic"]
    basic_rate: Quantity
    beacon_interval: Quantity
    capture: Quantity
    carrier_sense_threshold: Quantity
    channel: int | Channel
    coding: Literal["bcc", "ldpc"]
    data_rate: Quantity
    edca: Literal["off", "2012", "2020"]
    errors: Errors
    guard_interval: Quantity
    interference_floor: Quantity
    mtu: Quantity
    noise_figure: Quantity
    obstacles: Obstacles
    preamble: Literal["long", "short"]
    preamble_detection: Quantity
    profile: Literal["standard", "ns-2", "wavelan"]
    propagation: Propagation
    protection: Literal["none", "cts-to-self", "rts-cts"]
    queue: Queue
    receive_threshold: Quantity
    reception: Literal["threshold", "sinr"]
    retry_limit: RetryLimit
    rts_threshold: Quantity
    spatial_streams: int
    standard: Literal[
        "802.11", "802.11b", "802.11a", "802.11g", "802.11a-turbo", "wavelan", "802.11n", "802.11ac", "802.11ax"
    ]
    tx_power: Quantity
    txop: Quantity
