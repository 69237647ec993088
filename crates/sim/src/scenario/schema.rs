//! The vocabulary of scenario files. Reading, checking, the reference page and the JSON Schema all follow from these types.
//!
//! Everything that has a default is an `Option` here. A default that depends on nothing is declared with its source beside the limits of
//! its key (`x-default`), profiles lay their own over it ([`super::profile`]), and [`super::resolve`] works out the others, which
//! the docstring tells. Limits stand in SI units (watts for powers), as in the JSON Schema.

mod routing;

use hopcast_radio::errors::DEFAULT_NOISE_FIGURE;
use hopcast_radio::mac::Config;
use hopcast_radio::propagation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quantity::{
    Frequency, Length, Level, LevelOrOff, Power, Rate, RateChoice, Shares, Size, SizeOrNone, SizeOrOff, Speed,
    SpeedRange, Time, TimeOrOff, TimeRange,
};

/// Declares the default of a key with its source, from which the reference page, the JSON Schema, `--explain` and the resolver take it.
fn is(value: impl Serialize, source: &str) -> serde_json::Value {
    serde_json::json!({ "value": value, "source": source })
}

pub(super) use routing::{
    Aodv, AodvProfile, Dsdv, Dsr, DsrAcknowledgement, DsrCache, DsrProfile, LinkDetection, LocalRepair, Olsr, Routing,
};

/// A scenario: what is simulated, for how long.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "Scenario")]
pub(super) struct Document {
    /// A title for people. Default: the name of the file.
    #[schemars(extend("maxLength" = 200))]
    pub name: Option<String>,
    /// Simulated time of the run. Nothing more happens at its end.
    #[schemars(extend("minimum" = 1e-9, "maximum" = 315_576_000))]
    pub duration: Time,
    /// Seed of every random draw. Default: 1.
    pub seed: Option<u64>,
    /// The radio of every node. Default: all of its defaults.
    pub radio: Option<Radio>,
    /// Nodes, and groups of nodes.
    #[schemars(extend("minItems" = 1))]
    pub nodes: Vec<Nodes>,
    /// Wires between nodes. Default: none.
    pub links: Option<Vec<Link>>,
    /// Streams of data between nodes. Default: none.
    pub flows: Option<Vec<Flow>>,
    /// What holds where real hosts take part (`hopcast emulate`).
    pub emulation: Option<Emulation>,
}

/// Real hosts in real time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Emulation {
    /// 99 of 100 frames must leave for their real hosts at most so long after their instants; else the emulation counts as
    /// failed. Default: 10 ms.
    #[schemars(extend("minimum" = 1e-6, "maximum" = 3600))]
    pub lag_limit: Option<Time>,
    /// What runs at real nodes. Default: nothing.
    pub programs: Option<Vec<Program>>,
}

/// A program at a real node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Program {
    /// Name of the node, which is real.
    pub node: String,
    /// A line for the shell (`sh -c`).
    #[schemars(extend("maxLength" = 4096))]
    pub command: String,
    /// When it starts. Default: 0 s.
    #[schemars(extend("minimum" = 0, "maximum" = 315_576_000))]
    pub start: Option<Time>,
}

/// The radio and its medium access.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Radio {
    /// Where the defaults come from; any key beside it wins.
    #[schemars(extend("x-default" = is("standard", "what the standard and the RFCs say")))]
    pub profile: Option<Profile>,
    /// Physical layer.
    #[schemars(extend("x-default" = is("802.11", "the first physical layer of the standard")))]
    pub standard: Option<StandardName>,
    /// Preamble of 802.11b and 802.11g frames at 2, 5.5 and 11 Mb/s.
    #[schemars(extend("x-default" = is("long", "the one that every station of IEEE 802.11-2020, clause 16, understands")))]
    pub preamble: Option<Preamble>,
    /// Channel number of the standard's band: the default of the propagation's frequency. Default: 1 (802.11, 802.11b,
    /// 802.11g, WaveLAN), 36 (802.11a), 42 (802.11a-turbo).
    #[schemars(extend("minimum" = 1, "maximum" = 200))]
    pub channel: Option<u32>,
    /// Rate of unicast data frames, or what chooses it for each receiver. Default: the highest of the standard; under profile
    /// `ns-2` the 2 Mb/s of its `bandwidth_` where the standard has that.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e12))]
    pub data_rate: Option<RateChoice>,
    /// Rate of broadcast frames, and the highest one of RTS, CTS and ACK; one above the data rate is as if it were not given. Default:
    /// the highest mandatory rate that does not exceed `data_rate`, of 802.11b with `protection`; under profile `ns-2` the 2 Mb/s of its `bandwidth_` where that is a rate of the standard and no more than `data_rate`.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e12))]
    pub basic_rate: Option<Rate>,
    /// RTS/CTS precede unicast frames longer than this (the whole MAC frame counts); `0 B`: all of them. `wavelan`
    /// has no RTS.
    #[schemars(extend("minimum" = 0, "maximum" = 65_536, "x-default" = is("off", "dot11RTSThreshold beyond any frame")))]
    pub rts_threshold: Option<SizeOrOff>,
    /// Medium access by four categories (EDCA), with the default parameters of an edition of IEEE 802.11; a flow's
    /// `priority` names its category.
    #[schemars(extend("x-default" = is("off", "DCF")))]
    pub edca: Option<Edca>,
    /// What goes before OFDM frames of 802.11g while stations of 802.11b belong to the network; the slot is then long. With
    /// association over the air that is found out from who joins; else it holds throughout. Default: `none`; over the air, where
    /// `basic_rate` is one of 802.11b, `cts-to-self`.
    pub protection: Option<Protection>,
    /// How stations come to their access points.
    #[schemars(extend("x-default" = is("implicit", "stations belong to the nearest access point from the start")))]
    pub association: Option<Association>,
    /// Between two beacons of an access point, in steps of 1.024 ms; used with association over the air.
    #[schemars(extend("minimum" = 0.001024, "maximum" = 67.10784, "x-default" = is("102.4 ms", "100 time units, what access points come with")))]
    pub beacon_interval: Option<Time>,
    /// Attempts at a frame before it is dropped.
    pub retry_limit: Option<RetryLimit>,
    /// Interface queue of each node.
    pub queue: Option<Queue>,
    /// Largest IP datagram; larger ones are sent in fragments.
    #[schemars(extend("minimum" = 68, "maximum" = 2296, "x-default" = is("1500 B", "that of Ethernet, as Linux gives it to 802.11")))]
    pub mtu: Option<SizeOrNone>,
    /// How a receiver decides. Default: `threshold` with propagation `range`, under profile `ns-2`, and where
    /// `receive_threshold` or `carrier_sense_threshold` is given; else `sinr`.
    pub reception: Option<Reception>,
    /// Transmit power; not used with propagation `range`.
    #[schemars(extend("minimum" = 1e-20, "maximum" = 15.84893192461115, "x-default" = is("16.0206 dBm", "40 mW, as a typical card and as in ns-3 (TxPowerStart)")))]
    pub tx_power: Option<Power>,
    /// Least power to decode a frame; not used with propagation `range`. Default: the standard's minimum sensitivity at
    /// the frame's rate; -64.37 dBm under profile `ns-2`; none with reception `sinr`, where noise decides.
    #[schemars(extend("minimum" = 1e-33, "maximum" = 1e6))]
    pub receive_threshold: Option<Power>,
    /// Least power that makes the medium busy; not used with propagation `range`. Default: the minimum sensitivity of the most robust
    /// rate (-78.07 dBm under profile `ns-2`), or `receive_threshold` if that is lower.
    #[schemars(extend("minimum" = 1e-33, "maximum" = 1e6))]
    pub carrier_sense_threshold: Option<Power>,
    /// How much stronger than what overlaps it a frame must be to survive; with reception `sinr`, to draw a receiver
    /// away from another frame. Not used with propagation `range`.
    #[schemars(extend("minimum" = 0, "maximum" = 200, "x-default" = is("10 dB", "as in ns-2 (CPThresh_ 10.0)")))]
    pub capture: Option<Level>,
    /// How much a receiver adds to thermal noise; used with reception `sinr`.
    #[schemars(extend("minimum" = 0, "maximum" = 60, "x-default" = is(Level(DEFAULT_NOISE_FIGURE), "as in ns-3 (RxNoiseFigure)")))]
    pub noise_figure: Option<Level>,
    /// Signal over noise and interference at which a receiver finds a preamble; used with reception `sinr`. Default: 4 dB
    /// for OFDM; -6.4 dB for DSSS, which is 4 dB less the gain of eleven chips.
    #[schemars(extend("minimum" = -40, "maximum" = 60))]
    pub preamble_detection: Option<Level>,
    /// Transmissions that arrive weaker than this are left out at that node; not used with propagation `range`. Default:
    /// with reception `sinr` 20 dB below the thermal noise, by thresholds 20 dB below what could just destroy the weakest frame,
    /// which is the lowest receive threshold less `capture`, and never above the carrier-sense threshold; under profile `ns-2` the
    /// carrier-sense threshold.
    #[schemars(extend("minimum" = 1e-33, "maximum" = 1e6))]
    pub interference_floor: Option<Power>,
    /// How much weaker a receiver hears transmissions on the adjacent channel, one that does not overlap its own;
    /// those beyond it hears 16 dB weaker still (IEEE 802.11-2020, Table 17-18), those that overlap its own less.
    /// They interfere, and are never decoded. `off`: channels don't disturb each other. Not used with propagation
    /// `range`.
    // A receiver passes 17.3.10.3 if interference on the adjacent channel at -63 dBm (sensitivity + 3 dB + rejection, the same at
    // each rate) does no more than the noise that 17.3.10.2 allows it, thermal noise and 10 dB: -91 dBm.
    #[schemars(extend("minimum" = 0, "maximum" = 200, "x-default" = is("28 dB", "the least that IEEE 802.11-2020, 17.3.10.3, asks of a receiver")))]
    pub adjacent_channel_rejection: Option<LevelOrOff>,
    /// How power falls with distance.
    #[schemars(extend("x-default" = is("free-space", "the only model without a parameter of its own")))]
    pub propagation: Option<Propagation>,
    /// Losses on top of what `reception` decides.
    #[schemars(extend("x-default" = is("none", "")))]
    pub errors: Option<Errors>,
}

/// Where defaults come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(super) enum Profile {
    /// IEEE 802.11-2020 and the RFCs.
    #[serde(rename = "standard")]
    Standard,
    /// What ns-2.35 does: RTS always, pairwise capture, first come first served, its medium access, 250 m and 550 m, no MTU.
    #[serde(rename = "ns-2")]
    Ns2,
    /// The radios before 802.11 (study A): 2 Mb/s, carrier sense with a random wait, no RTS, no acknowledgement.
    #[serde(rename = "wavelan")]
    Wavelan,
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
    /// Atheros' turbo mode of 802.11a: OFDM at 12 to 108 Mb/s in 40 MHz, 5 GHz.
    #[serde(rename = "802.11a-turbo")]
    OfdmTurbo,
    /// WaveLAN as it was before 802.11: 2 Mb/s, 2.4 GHz.
    #[serde(rename = "wavelan")]
    Wavelan,
}

/// Whose default parameters of EDCA.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(super) enum Edca {
    /// None: DCF.
    #[serde(rename = "off")]
    Off,
    /// 802.11e-2005 to 802.11-2012, and WMM.
    #[serde(rename = "2012")]
    Ieee2012,
    /// 802.11-2020, with other TXOP limits.
    #[serde(rename = "2020")]
    Ieee2020,
}

/// What goes before OFDM frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Protection {
    /// Nothing.
    None,
    /// A CTS to the station itself, at the basic rate.
    CtsToSelf,
    /// RTS and CTS at the basic rate.
    RtsCts,
}

/// How stations come to their access points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Association {
    /// Each belongs to the nearest one from the start, without a frame.
    Implicit,
    /// Over the air: they wait for beacons.
    Passive,
    /// Over the air: they send probe requests.
    Active,
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
    /// At a frame no longer than the RTS threshold, and at an RTS.
    #[schemars(extend("minimum" = 1, "maximum" = 255, "x-default" = is(Config::DEFAULT_SHORT_RETRY_LIMIT, "dot11ShortRetryLimit (IEEE 802.11-2020, Annex C)")))]
    pub short: Option<u32>,
    /// At a frame longer than the RTS threshold.
    #[schemars(extend("minimum" = 1, "maximum" = 255, "x-default" = is(Config::DEFAULT_LONG_RETRY_LIMIT, "dot11LongRetryLimit (IEEE 802.11-2020, Annex C)")))]
    pub long: Option<u32>,
}

/// An interface queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Queue {
    /// Places.
    #[schemars(extend("minimum" = 1, "maximum" = 1_000_000, "x-default" = is(Config::DEFAULT_QUEUE_PACKETS, "as in ns-2 (ifqlen 50), which most published studies kept")))]
    pub packets: Option<u32>,
    /// What is dropped, and when.
    #[schemars(extend("x-default" = is("drop-tail", "what most published studies had")))]
    pub discipline: Option<Discipline>,
    /// Of `codel` and `fq-codel`: the wait in the queue that is acceptable.
    #[schemars(extend("minimum" = 1e-6, "maximum" = 10, "x-default" = is("5 ms", "TARGET (RFC 8289, section 4)")))]
    pub target: Option<Time>,
    /// Of `codel` and `fq-codel`: for how long packets must have waited for more than `target` before one is dropped.
    #[schemars(extend("minimum" = 1e-6, "maximum" = 100, "x-default" = is("100 ms", "INTERVAL (RFC 8289, section 4)")))]
    pub interval: Option<Time>,
    /// Of `fq-codel`: what each flow may send in its turn, IP headers included.
    #[schemars(extend("minimum" = 1, "maximum" = 1_000_000, "x-default" = is("1514 B", "quantum (RFC 8290, section 5.2)")))]
    pub quantum: Option<Size>,
}

/// How an interface queue is managed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Discipline {
    /// What finds the queue full.
    DropTail,
    /// As ns-2.35's `PriQueue`: messages of routing protocols go before all others, the newest first; of a full queue the last.
    Priority,
    /// Controlled delay, RFC 8289: also the oldest, while packets wait for too long.
    Codel,
    /// Flow queues under controlled delay, RFC 8290: flows take turns, and each is kept short.
    FqCodel,
}

/// How a receiver decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Reception {
    /// A frame above `receive_threshold` (or within `receive`) is decoded unless something overlaps it that it does not
    /// exceed by `capture`.
    Threshold,
    /// By signal over thermal noise and the sum of interference, bit by bit.
    Sinr,
}

/// How power falls with distance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    FreeSpace(FreeSpace),
    /// Free space up to the crossover distance, reflection from the ground beyond.
    TwoRayGround(TwoRayGround),
    /// The sum of the direct ray and the one that the ground reflects, with their phases: power rises and falls with
    /// distance.
    TwoRayInterference(TwoRayInterference),
    /// Power falls with a power of the distance.
    LogDistance(LogDistance),
    /// A model that a program has added to hopcast.
    Custom(CustomPropagation),
}

/// Friis' equation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct FreeSpace {
    /// Carrier frequency. Default: that of `radio.channel`; 914 MHz under profile `ns-2`.
    #[schemars(extend("minimum" = 1e6, "maximum" = 1e12))]
    pub frequency: Option<Frequency>,
    #[serde(flatten)]
    pub variation: Variation,
}

/// Free space, then reflection from the ground.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct TwoRayGround {
    /// Carrier frequency. Default: that of `radio.channel`; 914 MHz under profile `ns-2`.
    #[schemars(extend("minimum" = 1e6, "maximum" = 1e12))]
    pub frequency: Option<Frequency>,
    /// Height of both antennas.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e5, "x-default" = is("1.5 m", "a device carried by a person, and ns-2's Z_ 1.5")))]
    pub antenna_height: Option<Length>,
    #[serde(flatten)]
    pub variation: Variation,
}

/// Two rays with phases.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct TwoRayInterference {
    /// Carrier frequency. Default: that of `radio.channel`; 914 MHz under profile `ns-2`.
    #[schemars(extend("minimum" = 1e6, "maximum" = 1e12))]
    pub frequency: Option<Frequency>,
    /// Height of both antennas.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e5, "x-default" = is("1.5 m", "a device carried by a person, and ns-2's Z_ 1.5")))]
    pub antenna_height: Option<Length>,
    /// Relative permittivity of the ground.
    #[schemars(extend("minimum" = 1, "maximum" = 100, "x-default" = is(5.0, "dry ground and concrete at some GHz (ITU-R P.2040)")))]
    pub permittivity: Option<f64>,
    /// Direction of the electric field.
    #[schemars(extend("x-default" = is("vertical", "upright antennas")))]
    pub polarization: Option<Polarization>,
    #[serde(flatten)]
    pub variation: Variation,
}

/// Direction of the electric field over the ground.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Polarization {
    /// Along the ground.
    Horizontal,
    /// Upright.
    Vertical,
}

/// A power law.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct LogDistance {
    /// The power of the distance with which power falls: 2 in free space, about 3 to 5 within buildings.
    #[schemars(extend("minimum" = 0, "maximum" = 20))]
    pub exponent: f64,
    /// Up to here power falls as in free space.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e5, "x-default" = is(Length(propagation::LogDistance::DEFAULT_REFERENCE_DISTANCE), "as in ns-2 (Propagation/Shadowing dist0_ 1.0) and ns-3")))]
    pub reference_distance: Option<Length>,
    /// Carrier frequency. Default: that of `radio.channel`; 914 MHz under profile `ns-2`.
    #[schemars(extend("minimum" = 1e6, "maximum" = 1e12))]
    pub frequency: Option<Frequency>,
    #[serde(flatten)]
    pub variation: Variation,
}

/// A model of the user's program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct CustomPropagation {
    /// The name under which the program added it.
    pub name: String,
    /// Parameters of the model. Default: none.
    #[schemars(extend("x-free" = true))]
    pub parameters: Option<serde_json::Map<String, serde_json::Value>>,
    /// Carrier frequency. Default: that of `radio.channel`; 914 MHz under profile `ns-2`.
    #[schemars(extend("minimum" = 1e6, "maximum" = 1e12))]
    pub frequency: Option<Frequency>,
    #[serde(flatten)]
    pub variation: Variation,
}

/// What makes power differ from the mean at that distance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct Variation {
    /// Standard deviation of log-normal shadowing.
    #[schemars(extend("minimum" = 0, "maximum" = 40, "x-default" = is("0 dB", "none")))]
    pub shadowing: Option<Level>,
    /// What shadowing is drawn for.
    #[schemars(extend("x-default" = is("link", "what stands in the way stays there")))]
    pub shadowing_per: Option<ShadowingPer>,
    /// Distance over which the correlation of a link's shadowing falls to 1/e; with `shadowing_per = "link"`.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e7, "x-default" = is("20 m", "measured between low antennas in streets (Wang, Tameh, Nix 2008)")))]
    pub decorrelation_distance: Option<Length>,
    /// Distribution of power over many paths.
    #[schemars(extend("x-default" = is("none", "none")))]
    pub fading: Option<FadingName>,
    /// Of `rician` fading: power of the steady wave over that of the scattered ones, a plain ratio.
    #[schemars(extend("minimum" = 0, "maximum" = 1e6, "x-default" = is(6.0, "7.8 dB, a clear path among others")))]
    pub k: Option<f64>,
    /// Of `nakagami` fading: its shape; 1 is Rayleigh.
    #[schemars(extend("minimum" = 0.5, "maximum" = 1e6, "x-default" = is(1.0, "Rayleigh")))]
    pub m: Option<f64>,
    /// Largest Doppler frequency: fading is then a function of time, the same in both directions of a link. Default: each
    /// frame has a fading of its own at each receiver.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e6))]
    pub doppler: Option<Frequency>,
}

/// What shadowing is drawn for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ShadowingPer {
    /// The places of both ends: the same in both directions, at all times, and alike for places close by.
    Link,
    /// Each frame and receiver, as ns-2 has it.
    Frame,
}

/// Distribution of power over many paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum FadingName {
    /// None.
    None,
    /// Scattered waves alone.
    Rayleigh,
    /// One steady wave among scattered ones.
    Rician,
    /// Gamma-distributed power.
    Nakagami,
}

/// Losses on top of what `reception` decides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "model", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Errors {
    /// None.
    None {},
    /// Independent losses at a given rate.
    Packet {
        /// Share of packets that are lost, or a list of `[time, share]`: from that time on.
        rate: Shares,
        /// What is lost.
        #[schemars(extend("x-default" = is("frame", "the radio loses frames, which the MAC repeats")))]
        level: Option<LossLevel>,
    },
    /// A channel of two states at each node; bits of frames that arrive there err by its state.
    GilbertElliott {
        /// Bit error rate in the good state.
        #[schemars(extend("minimum" = 0, "maximum" = 0.5))]
        good_ber: f64,
        /// Bit error rate in the bad state.
        #[schemars(extend("minimum" = 0, "maximum" = 0.5))]
        bad_ber: f64,
        /// Mean time in the good state; times are exponential.
        #[schemars(extend("minimum" = 1e-6, "maximum" = 1e6))]
        good_mean: Time,
        /// Mean time in the bad state.
        #[schemars(extend("minimum" = 1e-6, "maximum" = 1e6))]
        bad_mean: Time,
        /// Correction of errors.
        #[schemars(extend("x-default" = is("none", "none")))]
        fec: Option<Fec>,
        /// Whether bits of the preamble and header of the physical layer err, too.
        #[schemars(extend("x-default" = is(false, "errors are those of the octets that a frame carries")))]
        headers: Option<bool>,
    },
}

/// What an error model loses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum LossLevel {
    /// Frames of all kinds at a receiver, below the MAC's acknowledgement and repetition.
    Frame,
    /// Packets that the MAC hands up: their frames are acknowledged and not repeated.
    Network,
}

/// Correction of errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Fec {
    /// None.
    None,
    /// RS(255, 153) over every frame: 60 % of its octets are data, and up to 51 wrong ones in each block of 255 are put right.
    ReedSolomon,
}

/// A node, or with `count` a group of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Nodes {
    /// Name of the node; with `count`, the nodes are name0, name1, …
    #[schemars(extend("x-name" = true))]
    pub name: String,
    /// Number of nodes in the group. Default: a single node, without a number.
    #[schemars(extend("minimum" = 1, "maximum" = 10_000))]
    pub count: Option<u32>,
    /// What the nodes are. Default: `ad-hoc`.
    pub role: Option<Role>,
    /// Their radios. Default: one, as `radio` says; none for role `wired`.
    #[schemars(extend("minItems" = 1, "maxItems" = 16))]
    pub radios: Option<Vec<NodeRadio>>,
    /// The cards that the radios are on, which packets are copied to and from. Default: none, copying takes no time.
    pub card: Option<Card>,
    /// Where they stand, at the start if they move. Needed by all but role `wired` and mobility `trace`.
    pub placement: Option<Placement>,
    /// How they move.
    #[schemars(extend("x-default" = is("static", "nodes stay where they stand")))]
    pub mobility: Option<Mobility>,
    /// How they find routes.
    #[schemars(extend("x-default" = is("static", "")))]
    pub routing: Option<Routing>,
    /// Packets of a node that may wait for a route, with a routing protocol; the oldest gives way. Default: 64, as ns-2.35; 3 with
    /// AODV of profile `draft-5-in-arp`.
    #[schemars(extend("minimum" = 1, "maximum" = 1_000_000))]
    pub route_queue: Option<u32>,
    /// How they find the hardware addresses of neighbours' radios: by ARP (RFC 826). Default: none, they know them from the start.
    pub arp: Option<Arp>,
    /// Who passes on what is for others. Default: `os`.
    pub relay: Option<Relay>,
    /// Send and receive buffer of each UDP socket, and each direction of a TCP connection without `window`; what TFRC and ADTFRC hold of
    /// applications that don't wait. Default: 212992 B.
    #[schemars(extend("minimum" = 1, "maximum" = 1_073_741_824))]
    pub socket_buffer: Option<Size>,
    /// In an emulation real hosts, each with a network namespace of its own; in the simulator nodes like all others. Default: false.
    pub real: Option<bool>,
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Role {
    /// A wireless node without infrastructure.
    AdHoc,
    /// A wireless node that passes on what its stations send each other and the wires.
    AccessPoint,
    /// A wireless node that talks to one access point only, the one that it hears strongest.
    Station,
    /// A node without radio.
    Wired,
}

/// A radio of a node, where it differs from `radio`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct NodeRadio {
    /// Name of the network: radios of one network on one channel are neighbours, all radios on one channel hear each other.
    /// Default: one network for all radios that name none.
    #[schemars(extend("maxLength" = 64))]
    pub network: Option<String>,
    /// Channel number of the standard's band. Default: `radio.channel`.
    #[schemars(extend("minimum" = 1, "maximum" = 200))]
    pub channel: Option<u32>,
    /// Rate of unicast data frames. A station of 802.11g for which it is one of 802.11b is a station of 802.11b. Default: `radio.data_rate`.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e12))]
    pub data_rate: Option<Rate>,
    /// Rate of broadcast frames, and the highest one of RTS, CTS and ACK; one above the data rate is as if it were not given.
    /// Default: `radio.basic_rate`, or the highest mandatory rate that does not exceed
    /// `data_rate` where that is lower, or one of 802.11b and `radio.basic_rate` one of OFDM.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e12))]
    pub basic_rate: Option<Rate>,
    /// Transmit power; not used with propagation `range`. Default: `radio.tx_power`.
    #[schemars(extend("minimum" = 1e-20, "maximum" = 15.84893192461115))]
    pub tx_power: Option<Power>,
}

/// A card between a host and a radio. The processor copies one packet at a time, to a card or from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Card {
    /// Where the defaults come from. Default: `pcmcia`.
    pub model: Option<CardModel>,
    /// Packets that the card holds to be sent: with 1, copying and sending take turns. Default: 1 (`pcmcia`), 10 (`isa`).
    #[schemars(extend("minimum" = 1, "maximum" = 1_000_000))]
    pub transmit_buffers: Option<u32>,
    /// Packets that the card holds for the host; what arrives beyond is lost. Default: 5 (`pcmcia`), 31 (`isa`).
    #[schemars(extend("minimum" = 1, "maximum" = 1_000_000))]
    pub receive_buffers: Option<u32>,
    /// Time to copy 1500 B to the card; other packets in proportion. Default: 3.46 ms (`pcmcia`), 0.96 ms (`isa`).
    #[schemars(extend("minimum" = 0, "maximum" = 1))]
    pub copy_out: Option<Time>,
    /// Time to copy 1500 B from the card. Default: 2.057 ms (`pcmcia`), 0.955 ms (`isa`).
    #[schemars(extend("minimum" = 0, "maximum" = 1))]
    pub copy_in: Option<Time>,
}

/// A card of the first WaveLAN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum CardModel {
    /// In a laptop's PCMCIA slot.
    Pcmcia,
    /// In a desktop's ISA slot.
    Isa,
}

/// Address resolution, RFC 826, over radios. An empty table has all defaults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Arp {
    /// Whose defaults hold for all that is not given. Default: `rfc-1122`; `ns-2` under the radio profile of that name.
    pub profile: Option<ArpProfile>,
    /// How long an address is believed after it was last told; `off`: for ever. Default: 60 s (`rfc-1122`), `off` (`ns-2`).
    #[schemars(extend("minimum" = 1e-3, "maximum" = 315_576_000))]
    pub timeout: Option<TimeOrOff>,
    /// Least time between two requests for one address, and the wait for an answer to the last one; `off`: each packet makes a
    /// request, and no answer is waited for. Default: 1 s (`rfc-1122`), `off` (`ns-2`).
    #[schemars(extend("minimum" = 1e-3, "maximum" = 3600))]
    pub request_interval: Option<TimeOrOff>,
    /// Requests for one address without an answer, after which it is given up. Default: 3.
    #[schemars(extend("minimum" = 1, "maximum" = 1000))]
    pub requests: Option<u32>,
    /// Packets that may wait for one address; the oldest gives way. Default: 3 (`rfc-1122`), 1 (`ns-2`).
    #[schemars(extend("minimum" = 1, "maximum" = 1_000_000))]
    pub queue: Option<u32>,
}

/// Whose ARP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ArpProfile {
    /// RFC 1122, section 2.3.2, and Linux where that leaves a number open.
    #[serde(rename = "rfc-1122")]
    Rfc1122,
    /// ns-2.35: a request with each packet, of which one waits; addresses don't age, and are learned from all ARP packets.
    #[serde(rename = "ns-2")]
    Ns2,
}

/// A wire between two nodes, the same in both directions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Link {
    /// Names of the two nodes.
    #[schemars(extend("minItems" = 2, "maxItems" = 2))]
    pub between: Vec<String>,
    /// Bits of IP packets a second, in each direction.
    #[schemars(extend("minimum" = 1, "maximum" = 1e12))]
    pub rate: Rate,
    /// Time that a bit travels. Default: 0 s.
    #[schemars(extend("minimum" = 0, "maximum" = 86_400))]
    pub delay: Option<Time>,
    /// Queue of each direction, drop-tail.
    pub queue: Option<LinkQueue>,
    /// Share of packets that get lost in each direction. Default: 0.
    #[schemars(extend("minimum" = 0, "maximum" = 1))]
    pub loss: Option<f64>,
}

/// The drop-tail queue of a wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct LinkQueue {
    /// Places, besides the packet that is sent. Default: 50.
    #[schemars(extend("minimum" = 1, "maximum" = 1_000_000))]
    pub packets: Option<u32>,
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "model", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Mobility {
    /// Not at all.
    Static {},
    /// Straight from one place to the next, each drawn evenly in the area, with a pause between two trips.
    RandomWaypoint {
        /// Of a trip: drawn evenly between the two.
        #[schemars(extend("minimum" = 0, "maximum" = 1e5))]
        speed: SpeedRange,
        /// Between two trips: drawn evenly between the two. Default: 0 s.
        #[schemars(extend("minimum" = 0, "maximum" = 315_576_000))]
        pause: Option<TimeRange>,
        /// What the nodes do at the start. Default: `steady-state` with placement `uniform` and a least speed above 0; else
        /// `classical`.
        start: Option<WaypointStart>,
        /// Where the places lie. Default: the rectangle around the placement.
        area: Option<Area>,
    },
    /// Speed and direction that change a little with each step.
    GaussMarkov {
        /// Mean speed.
        #[schemars(extend("minimum" = 0, "maximum" = 1e5))]
        speed: Speed,
        /// Standard deviation of the speed. Default: 1 m/s.
        #[schemars(extend("minimum" = 0, "maximum" = 1e5))]
        speed_deviation: Option<Speed>,
        /// Mean direction at the start, in degrees counterclockwise from the x axis. Default: each node draws its own.
        #[schemars(extend("minimum" = -360, "maximum" = 360))]
        direction: Option<f64>,
        /// Standard deviation of the direction, in degrees. Default: 57.29577951308232, one radian.
        #[schemars(extend("minimum" = 0, "maximum" = 360))]
        direction_deviation: Option<f64>,
        /// Memory: how much of speed and direction stays from one step to the next. Default: 0.75.
        #[schemars(extend("minimum" = 0, "maximum" = 1))]
        alpha: Option<f64>,
        /// Time between two changes. Default: 1 s.
        #[schemars(extend("minimum" = 1e-3, "maximum" = 1e6))]
        step: Option<Time>,
        /// So near an edge of the area the mean direction leads away from it. Default: a tenth of the area's shorter side.
        #[schemars(extend("minimum" = 0, "maximum" = 1e7))]
        edge: Option<Length>,
        /// Where the nodes stay. Default: the rectangle around the placement.
        area: Option<Area>,
    },
    /// As a file says: of ns-2 (`setdest`) or of BonnMotion (`.movements`). It also says where they start.
    Trace {
        /// A file beside the scenario, or in one of the trace directories. Its nodes, in the order of their numbers or lines, are
        /// those of the group; what it has beyond them is left out.
        file: String,
    },
    /// A model that a program has added to hopcast.
    Custom {
        /// The name under which the program added it.
        name: String,
        /// Parameters of the model. Default: none.
        #[schemars(extend("x-free" = true))]
        parameters: Option<serde_json::Map<String, serde_json::Value>>,
    },
}

/// How random waypoint starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum WaypointStart {
    /// As after a long time: places, speeds and pauses are drawn from the stationary distribution.
    SteadyState,
    /// Where the nodes were placed, with a pause: they then slow down, and gather in the middle.
    Classical,
}

/// A rectangle.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Area {
    /// Along x.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e7))]
    pub width: Length,
    /// Along y.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e7))]
    pub height: Length,
    /// Where it begins along x. Default: 0 m.
    #[schemars(extend("minimum" = -1e7, "maximum" = 1e7))]
    pub x: Option<Length>,
    /// Where it begins along y. Default: 0 m.
    #[schemars(extend("minimum" = -1e7, "maximum" = 1e7))]
    pub y: Option<Length>,
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
    pub via: Option<Vec<String>>,
    /// Access category of its packets where `radio.edca` is on. Default: `best-effort`.
    pub priority: Option<Priority>,
    /// When the application starts; if not before the end of the run, it sends nothing. Default: 0 s.
    #[schemars(extend("minimum" = 0, "maximum" = 315_576_000))]
    pub start: Option<Time>,
    /// When the application stops. Default: with the run.
    #[schemars(extend("minimum" = 1e-9, "maximum" = 315_576_000))]
    pub stop: Option<Time>,
    /// How the data are carried.
    pub transport: Transport,
    /// What is sent.
    pub application: Application,
    /// Forward error correction: repair packets from which the receiver recovers what is lost (RFC 6865); over UDP, TFRC and ADTFRC.
    /// Default: none.
    pub fec: Option<FlowFec>,
    /// A player at the receiving end that shows what comes, with a buffer; of `audio`, `cbr` and `video-trace`. Default: none.
    pub player: Option<Player>,
}

/// Forward error correction of a flow: Reed–Solomon over blocks of packets (RFC 6865).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct FlowFec {
    /// Packets of the application in a block. Default: 20.
    #[schemars(extend("minimum" = 1, "maximum" = 255))]
    pub source: Option<u8>,
    /// Repair packets behind a full block: as many of its packets may be lost. With `source` at most 255. Default: 4.
    #[schemars(extend("minimum" = 0, "maximum" = 254))]
    pub repair: Option<u8>,
    /// From a block's first packet to its repair packets, at the latest: a block that is not full by then has fewer of both.
    /// Default: 200 ms.
    #[schemars(extend("minimum" = 1e-6, "maximum" = 3600))]
    pub block_timeout: Option<Time>,
}

/// A player of media.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Player {
    /// As much of the media is buffered before the display begins. Default: 1 s.
    #[schemars(extend("minimum" = 0, "maximum" = 315_576_000))]
    pub start_up_delay: Option<Time>,
    /// As much is buffered before it goes on after a hiccup. Default: `start_up_delay`.
    #[schemars(extend("minimum" = 0, "maximum" = 315_576_000))]
    pub resume_delay: Option<Time>,
}

/// An access category (IEEE 802.11-2020, Table 10-1), with the user priority that its packets get.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Priority {
    /// 1.
    Background,
    /// 0.
    BestEffort,
    /// 5.
    Video,
    /// 6.
    Voice,
}

/// How a flow is carried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "protocol", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Transport {
    /// RFC 768.
    Udp {},
    /// RFC 9293.
    Tcp {
        /// Loss recovery and congestion control. Default: `newreno`.
        variant: Option<Variant>,
        /// A law of the congestion window that a program has added to hopcast, in place of the variant's. Default: none.
        congestion: Option<Congestion>,
        /// Whether segments carry timestamps (RFC 7323), in 12 B of their payload. Default: false.
        timestamps: Option<bool>,
        /// Payload of a full segment. Default: `radio.mtu` less 40 B; 1000 B under profile `ns-2`; 1460 B if there is no MTU.
        #[schemars(extend("minimum" = 1, "maximum" = 65_495))]
        segment: Option<Size>,
        /// Largest amount in flight, in segments. Default: what the socket buffers hold; 20 under profile `ns-2`.
        #[schemars(extend("minimum" = 1, "maximum" = 1_000_000))]
        window: Option<u32>,
        /// First congestion window, in segments. Default: 2 to 4 by the segment's size (RFC 5681, section 3.1); 2 under
        /// profile `ns-2`.
        #[schemars(extend("minimum" = 1, "maximum" = 1000))]
        initial_window: Option<u32>,
        /// Least retransmission timeout. Default: 1 s; 0.2 s under profile `ns-2`.
        #[schemars(extend("minimum" = 0.001, "maximum" = 60))]
        min_rto: Option<Time>,
        /// Longest time that an acknowledgement is held back. Default: 200 ms; `off` under profile `ns-2`.
        #[schemars(extend("minimum" = 1e-9, "maximum" = 0.5))]
        delayed_ack: Option<TimeOrOff>,
        /// Explicit link failure notification (Holland and Vaidya, 1999): the routing protocol of the sender says when it has no
        /// route any more, and TCP probes instead of timing out. Default: false.
        elfn: Option<bool>,
    },
    /// DCCP (RFC 4340) at a rate that is fair to TCP: CCID 3 (RFC 4342).
    Tfrc {
        /// How the rate is found. Default: `rfc5348`.
        variant: Option<TfrcVariant>,
        /// Payload of a full packet. Default: `radio.mtu` less 52 B; 1000 B under profile `ns-2`; 1448 B if there is no MTU.
        #[schemars(extend("minimum" = 1, "maximum" = 64_495))]
        segment: Option<Size>,
    },
    /// The same, telling congestion from channel errors, route changes and disconnection (Fu, Meng, Lu, 2003).
    Adtfrc {
        /// What the congestion is told by that the flow acts on; each way of telling is measured, whichever it is. Default: `joint`.
        metric: Option<Metric>,
        /// Payload of a full packet. Default: `radio.mtu` less 52 B; 1000 B under profile `ns-2`; 1448 B if there is no MTU.
        #[schemars(extend("minimum" = 1, "maximum" = 64_495))]
        segment: Option<Size>,
    },
}

/// A law of the congestion window of a user's own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Congestion {
    /// Under which it was added.
    pub name: String,
    /// What it may be told. Default: nothing.
    #[schemars(extend("x-free" = true))]
    pub parameters: Option<serde_json::Map<String, serde_json::Value>>,
}

/// How TFRC finds its rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum TfrcVariant {
    /// The standard of 2008.
    Rfc5348,
    /// That of 2003, as papers of the time used it.
    Rfc3448,
    /// For small packets (CCID 4): as much as TCP with packets of 1460 B, less their headers.
    Rfc4828,
}

/// What ADTFRC tells congestion by (Fu, Meng, Lu, section III-D).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Metric {
    /// A delay that grows and a low throughput, together.
    Joint,
    /// A delay that grows, alone: inter-packet delay difference.
    Idd,
    /// A low throughput, alone: short-term throughput.
    Stt,
    /// Nothing: the flow is TFRC, of which only the identification is measured.
    None,
}

/// Congestion control of TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Variant {
    /// Fast retransmit and fast recovery (RFC 5681).
    Reno,
    /// The same, until all is repaired that was outstanding (RFC 6582).
    Newreno,
    /// Selective acknowledgements (RFC 2018, RFC 6675).
    Sack,
    /// Selective acknowledgements, and the window of CUBIC (RFC 9438).
    Cubic,
}

/// What a flow sends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Application {
    /// As fast as the transport takes it.
    Bulk {
        /// In all. Default: until stopped.
        #[schemars(extend("minimum" = 1, "maximum" = 1e15))]
        bytes: Option<Size>,
        /// Payload of one datagram, or one write to TCP. Default: `radio.mtu` less 28 B, 1472 B if there is no MTU (UDP);
        /// the segment (others).
        #[schemars(extend("minimum" = 1, "maximum" = 65_507))]
        packet: Option<Size>,
    },
    /// Application data units, each sent with a blocking call.
    Adu {
        /// Of one unit; one datagram where it is not TCP, so at most 65507 B over UDP and 64495 B over DCCP.
        #[schemars(extend("minimum" = 1, "maximum" = 1_073_741_824))]
        size: Size,
        /// Between the return of one call and the next. Default: 0 s.
        #[schemars(extend("minimum" = 0, "maximum" = 315_576_000))]
        wait: Option<Time>,
        /// In all; the last unit is cut short. Default: until stopped.
        #[schemars(extend("minimum" = 1, "maximum" = 1e15))]
        bytes: Option<Size>,
    },
    /// One packet at a time, evenly but for jitter, never blocking.
    Cbr {
        /// Payload rate.
        #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e12))]
        rate: Rate,
        /// Payload of one packet. Default: `radio.mtu` less 28 B, 1472 B if there is no MTU (UDP); the segment (others).
        #[schemars(extend("minimum" = 1, "maximum" = 65_507))]
        packet: Option<Size>,
        /// Each packet is written later than at its even instant by up to this time, drawn evenly for each. Default: 0 s.
        #[schemars(extend("minimum" = 0, "maximum" = 3600))]
        jitter: Option<Time>,
    },
    /// Packets of a voice at even intervals, never blocking. Any two of rate, packet and interval give the third.
    Audio {
        /// Payload rate. Default: 64 kb/s, or what `packet` and `interval` give.
        #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e12))]
        rate: Option<Rate>,
        /// Payload of one packet. Default: what `rate` gives in an `interval`, up to whole bytes.
        #[schemars(extend("minimum" = 1, "maximum" = 65_507))]
        packet: Option<Size>,
        /// Between two packets. Default: 20 ms, or what `rate` and `packet` give.
        #[schemars(extend("minimum" = 1e-6, "maximum" = 1000))]
        interval: Option<Time>,
        /// So long after it was written a packet is not worth sending any more: whoever holds it then drops it. Over UDP.
        /// Default: `off`.
        #[schemars(extend("minimum" = 1e-9, "maximum" = 1000))]
        deadline: Option<TimeOrOff>,
    },
    /// What a client and the server of a networked game send each other, never blocking: small packets of random sizes, those
    /// of the server also at random intervals.
    Game {
        /// Whose parameters. Default: `faerber`.
        model: Option<GameModel>,
        /// Who sends. Default: `server`.
        direction: Option<GameDirection>,
    },
    /// A file, as fast as the transport takes it, or one after another.
    File {
        /// Of one file.
        #[schemars(extend("minimum" = 1, "maximum" = 1e15))]
        bytes: Size,
        /// Between the return of a file's last write and the next file. Default: `off`, there is no next.
        #[schemars(extend("minimum" = 0, "maximum" = 315_576_000))]
        think: Option<TimeOrOff>,
        /// Payload of one datagram, or one write to TCP. Default: `radio.mtu` less 28 B, 1472 B if there is no MTU (UDP);
        /// the segment (others).
        #[schemars(extend("minimum" = 1, "maximum" = 65_507))]
        packet: Option<Size>,
    },
    /// The frames of a film, each at its time, repeated without end, never blocking.
    VideoTrace {
        /// A file beside the scenario, a bundled trace, or a trace in one of the trace directories. Default: `big-buck-bunny`.
        file: Option<String>,
        /// Largest payload of one packet; a larger frame is several packets. Default: `radio.mtu` less 28 B, 1472 B if there is
        /// no MTU (UDP); the segment (others).
        #[schemars(extend("minimum" = 1, "maximum" = 65_507))]
        packet: Option<Size>,
    },
}

/// Whose model of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum GameModel {
    /// J. Färber, Counter-Strike.
    Faerber,
    /// Its derivative in the methodology of NGMN and 3GPP, where the packets of clients are 35 B smaller.
    Ngmn,
}

/// Who sends the packets of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum GameDirection {
    /// The server, to one client.
    Server,
    /// A client, to the server.
    Client,
}
