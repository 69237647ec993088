//! The vocabulary of scenario files. Reading, checking, the reference page and the JSON Schema all follow from these types.
//!
//! Everything that has a default is an `Option` here; [`super::resolve`] fills it in. Limits stand in SI units (watts for
//! powers), as in the JSON Schema.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quantity::{Frequency, Length, Level, Power, Rate, Size, SizeOrNone, SizeOrOff, Time, TimeOrOff};

/// A scenario: what is simulated, for how long.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "Scenario")]
pub(super) struct Document {
    /// A title for people. Default: the name of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("maxLength" = 200))]
    pub name: Option<String>,
    /// Simulated time of the run.
    #[schemars(extend("minimum" = 1e-9, "maximum" = 315_576_000))]
    pub duration: Time,
    /// Seed of every random draw. Default: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The radio of every node. Default: all of its defaults.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub radio: Option<Radio>,
    /// Nodes, and groups of nodes.
    #[schemars(extend("minItems" = 1))]
    pub nodes: Vec<Nodes>,
    /// Streams of data between nodes. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flows: Option<Vec<Flow>>,
}

/// The radio and its medium access.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Radio {
    /// Where the defaults come from; any key beside it wins. Default: `standard`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// Physical layer. Default: `802.11`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standard: Option<StandardName>,
    /// Preamble of 802.11b and 802.11g frames at 2, 5.5 and 11 Mb/s. Default: `long`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preamble: Option<Preamble>,
    /// Channel number of the standard's band: the default of the propagation's frequency. Default: 1 (802.11, 802.11b,
    /// 802.11g), 36 (802.11a).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("minimum" = 1, "maximum" = 200))]
    pub channel: Option<u32>,
    /// Rate of unicast data frames. Default: the highest of the standard; under profile `ns-2` its 2 Mb/s where the
    /// standard has that.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e12))]
    pub data_rate: Option<Rate>,
    /// Rate of RTS, CTS, ACK and broadcast frames where it does not exceed the data rate. Default: the highest mandatory
    /// rate that does not exceed `data_rate`; under profile `ns-2` its 2 Mb/s where that is a rate of the standard and no more than `data_rate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e12))]
    pub basic_rate: Option<Rate>,
    /// RTS/CTS precede unicast frames longer than this (the whole MAC frame counts); `0 B`: all of them. Default: `off`;
    /// `0 B` under profile `ns-2`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("minimum" = 0, "maximum" = 65_536))]
    pub rts_threshold: Option<SizeOrOff>,
    /// Attempts at a frame before it is dropped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_limit: Option<RetryLimit>,
    /// Interface queue of each node, drop-tail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<Queue>,
    /// Largest IP datagram; larger ones are sent in fragments. Default: 1500 B; `none` under profile `ns-2`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("minimum" = 68, "maximum" = 2296))]
    pub mtu: Option<SizeOrNone>,
    /// How a receiver decides. Default: `threshold`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reception: Option<Reception>,
    /// Transmit power; not used with propagation `range`. Default: 16.0206 dBm (40 mW); 24.5 dBm under profile `ns-2`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("minimum" = 1e-20, "maximum" = 1e6))]
    pub tx_power: Option<Power>,
    /// Least power to decode a frame; not used with propagation `range`. Default: the standard's minimum sensitivity at
    /// the frame's rate; -64.37 dBm under profile `ns-2`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("minimum" = 1e-33, "maximum" = 1e6))]
    pub receive_threshold: Option<Power>,
    /// Least power that makes the medium busy; not used with propagation `range`. Default: the standard's threshold of
    /// clear channel assessment (-78.07 dBm under profile `ns-2`), or `receive_threshold` if that is lower.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("minimum" = 1e-33, "maximum" = 1e6))]
    pub carrier_sense_threshold: Option<Power>,
    /// How much stronger than what overlaps it a frame must be to survive; not used with propagation `range`. Default:
    /// 10 dB.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("minimum" = 0, "maximum" = 200))]
    pub capture: Option<Level>,
    /// Transmissions that arrive weaker than this are left out at that node; not used with propagation `range`. Default:
    /// 20 dB below what could just destroy the weakest frame, which is the lowest receive threshold less `capture`, and
    /// never above the carrier-sense threshold; under profile `ns-2` the carrier-sense threshold.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("minimum" = 1e-33, "maximum" = 1e6))]
    pub interference_floor: Option<Power>,
    /// How power falls with distance. Default: `free-space`; `two-ray-ground` under profile `ns-2`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub propagation: Option<Propagation>,
    /// Losses on top of what `reception` decides. Default: `none`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errors: Option<Errors>,
}

/// Where defaults come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(super) enum Profile {
    /// IEEE 802.11-2020 and the RFCs.
    #[serde(rename = "standard")]
    Standard,
    /// What ns-2.35 does: RTS always, pairwise capture, first come first served, 250 m and 550 m, no MTU.
    #[serde(rename = "ns-2")]
    Ns2,
}

/// A physical layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(super) enum StandardName {
    /// DSSS at 1 and 2 Mb/s, 2.4 GHz.
    #[serde(rename = "802.11")]
    Dsss,
    /// HR/DSSS at 1, 2, 5.5 and 11 Mb/s, 2.4 GHz.
    #[serde(rename = "802.11b")]
    HrDsss,
    /// OFDM at 6 to 54 Mb/s, 5 GHz.
    #[serde(rename = "802.11a")]
    Ofdm,
    /// ERP-OFDM at 6 to 54 Mb/s and the rates of 802.11b, 2.4 GHz.
    #[serde(rename = "802.11g")]
    Erp,
}

/// Preamble of HR/DSSS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Preamble {
    /// 144 bits.
    Long,
    /// 72 bits.
    Short,
}

/// Attempts at a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RetryLimit {
    /// At a frame no longer than the RTS threshold, and at an RTS. Default: 7.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("minimum" = 1, "maximum" = 255))]
    pub short: Option<u32>,
    /// At a frame longer than the RTS threshold. Default: 4.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("minimum" = 1, "maximum" = 255))]
    pub long: Option<u32>,
}

/// A drop-tail queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Queue {
    /// Places. Default: 50.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("minimum" = 1, "maximum" = 1_000_000))]
    pub packets: Option<u32>,
}

/// How a receiver decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Reception {
    /// A frame above `receive_threshold` (or within `receive`) is decoded unless something overlaps it that it does not
    /// exceed by `capture`.
    Threshold,
}

/// How power falls with distance.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "model", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Propagation {
    /// No power: frames are heard up to a distance. Any overlapping transmission within `carrier_sense` of the receiver
    /// destroys a frame, without capture.
    Range {
        /// Frames are decoded up to here.
        #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e7))]
        receive: Length,
        /// Frames are sensed, and destroy others, up to here.
        #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e7))]
        carrier_sense: Length,
    },
    /// Friis' equation.
    FreeSpace {
        /// Carrier frequency. Default: that of `radio.channel`; 914 MHz under profile `ns-2`.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(extend("minimum" = 1e6, "maximum" = 1e12))]
        frequency: Option<Frequency>,
    },
    /// Free space up to the crossover distance, reflection from the ground beyond.
    TwoRayGround {
        /// Carrier frequency. Default: that of `radio.channel`; 914 MHz under profile `ns-2`.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(extend("minimum" = 1e6, "maximum" = 1e12))]
        frequency: Option<Frequency>,
        /// Height of both antennas. Default: 1.5 m.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e5))]
        antenna_height: Option<Length>,
    },
}

/// Losses on top of what `reception` decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "model", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Errors {
    /// None.
    None {},
}

/// A node, or with `count` a group of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Nodes {
    /// Name of the node; with `count`, the nodes are name0, name1, …
    #[schemars(extend("x-name" = true))]
    pub name: String,
    /// Number of nodes in the group. Default: a single node, without a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("minimum" = 1, "maximum" = 10_000))]
    pub count: Option<u32>,
    /// What the nodes are. Default: `ad-hoc`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// Where they stand.
    pub placement: Placement,
    /// How they move. Default: `static`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mobility: Option<Mobility>,
    /// How they find routes. Default: `static`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routing: Option<Routing>,
    /// Who passes on what is for others. Default: `os`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relay: Option<Relay>,
    /// Send and receive buffer of each UDP socket, and each direction of a TCP connection without `window`. Default:
    /// 212992 B.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("minimum" = 1, "maximum" = 1_073_741_824))]
    pub socket_buffer: Option<Size>,
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Role {
    /// A wireless node without infrastructure.
    AdHoc,
}

/// Where the nodes of a group stand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "shape", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Placement {
    /// Along the x axis, from the origin.
    Line {
        /// Between neighbours.
        #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e7))]
        spacing: Length,
    },
    /// Row by row, from the origin.
    Grid {
        /// Nodes in a row.
        #[schemars(extend("minimum" = 1, "maximum" = 10_000))]
        columns: u32,
        /// Between neighbours, along both axes.
        #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e7))]
        spacing: Length,
    },
    /// Evenly around the origin.
    Circle {
        /// From the origin.
        #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e7))]
        radius: Length,
    },
    /// One by one.
    Points {
        /// As many [x, y] as there are nodes.
        #[schemars(extend("minItems" = 1, "x-items" = { "minimum": -1e7, "maximum": 1e7 }))]
        at: Vec<[Length; 2]>,
    },
    /// Drawn for each seed, in a rectangle with a corner in the origin.
    Uniform {
        /// Along x.
        #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e7))]
        width: Length,
        /// Along y.
        #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e7))]
        height: Length,
    },
}

/// How nodes move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "model", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Mobility {
    /// Not at all.
    Static {},
}

/// How nodes find routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "protocol", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Routing {
    /// Shortest paths, known from the start.
    Static {},
}

/// Who passes on what is for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Relay {
    /// IP forwarding.
    Os,
    /// A program that receives a data unit on one socket and sends it on with a blocking call on another.
    Application,
}

/// A stream of data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Flow {
    /// Name of the flow.
    #[schemars(extend("x-name" = true))]
    pub name: String,
    /// Name of the node that sends.
    pub from: String,
    /// Name of the node that receives.
    pub to: String,
    /// Names of nodes that the flow passes through, in this order, on the shortest paths between them. Default: none, the
    /// shortest path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub via: Option<Vec<String>>,
    /// When the application starts. Default: 0 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("minimum" = 0, "maximum" = 315_576_000))]
    pub start: Option<Time>,
    /// When the application stops. Default: with the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("minimum" = 1e-9, "maximum" = 315_576_000))]
    pub stop: Option<Time>,
    /// How the data are carried.
    pub transport: Transport,
    /// What is sent.
    pub application: Application,
}

/// How a flow is carried.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "protocol", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Transport {
    /// RFC 768.
    Udp {},
    /// RFC 9293.
    Tcp {
        /// Congestion control. Default: `newreno`.
        #[serde(skip_serializing_if = "Option::is_none")]
        variant: Option<Variant>,
        /// Payload of a full segment. Default: `radio.mtu` less 40 B; 1000 B under profile `ns-2`; 1460 B if there is no MTU.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(extend("minimum" = 1, "maximum" = 65_495))]
        segment: Option<Size>,
        /// Largest amount in flight, in segments. Default: what the socket buffers hold; 20 under profile `ns-2`.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(extend("minimum" = 1, "maximum" = 1_000_000))]
        window: Option<u32>,
        /// First congestion window, in segments. Default: 2 to 4 by the segment's size (RFC 5681, section 3.1); 2 under
        /// profile `ns-2`.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(extend("minimum" = 1, "maximum" = 1000))]
        initial_window: Option<u32>,
        /// Least retransmission timeout. Default: 1 s; 0.2 s under profile `ns-2`.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(extend("minimum" = 0.001, "maximum" = 60))]
        min_rto: Option<Time>,
        /// Longest time that an acknowledgement is held back. Default: 200 ms; `off` under profile `ns-2`.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(extend("minimum" = 1e-9, "maximum" = 0.5))]
        delayed_ack: Option<TimeOrOff>,
    },
}

/// Congestion control of TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Variant {
    /// RFC 6582.
    Newreno,
}

/// What a flow sends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Application {
    /// As fast as the transport takes it.
    Bulk {
        /// In all. Default: until stopped.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(extend("minimum" = 1, "maximum" = 1e15))]
        bytes: Option<Size>,
        /// Payload of one UDP datagram, or one write to TCP. Default: `radio.mtu` less 28 B, 1472 B if there is no MTU (UDP);
        /// the segment (TCP).
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(extend("minimum" = 1, "maximum" = 65_507))]
        packet: Option<Size>,
    },
    /// Application data units, each sent with a blocking call.
    Adu {
        /// Of one unit; over UDP one datagram, so at most 65507 B.
        #[schemars(extend("minimum" = 1, "maximum" = 1_073_741_824))]
        size: Size,
        /// Between the return of one call and the next. Default: 0 s.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(extend("minimum" = 0, "maximum" = 315_576_000))]
        wait: Option<Time>,
        /// In all; the last unit is cut short. Default: until stopped.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(extend("minimum" = 1, "maximum" = 1e15))]
        bytes: Option<Size>,
    },
    /// One packet at a time, evenly, never blocking.
    Cbr {
        /// Payload rate.
        #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e12))]
        rate: Rate,
        /// Payload of one packet. Default: `radio.mtu` less 28 B, 1472 B if there is no MTU (UDP); the segment (TCP).
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(extend("minimum" = 1, "maximum" = 65_507))]
        packet: Option<Size>,
    },
    /// The frames of a film, one each frame interval, repeated without end, never blocking.
    VideoTrace {
        /// A file beside the scenario, a bundled trace, or a trace in one of the trace directories. Default: `big-buck-bunny`.
        #[serde(skip_serializing_if = "Option::is_none")]
        file: Option<String>,
        /// Largest payload of one packet; a larger frame is several packets. Default: `radio.mtu` less 28 B, 1472 B if there is
        /// no MTU (UDP); the segment (TCP).
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(extend("minimum" = 1, "maximum" = 65_507))]
        packet: Option<Size>,
    },
}
