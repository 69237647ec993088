//! The radio and its medium access: `radio`.

mod aggregation;
mod association;
mod errors;
mod mixed;
mod nodes;
mod obstacles;
mod propagation;
mod queue;
mod rates;
mod reception;
mod shape;
mod standard;

use hopcast_protocols::time::Duration;
use hopcast_radio::errors::DEFAULT_NOISE_FIGURE;
use hopcast_radio::mac::edca::Edition;
use hopcast_radio::mac::{AccessRules, Config, controlled_rates};
use hopcast_radio::phy::{Band, Capability, ChannelWidth, Standard, WideChannel};
use hopcast_radio::rate::Algorithm;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::declare::{computed, is, nothing};
use super::super::model;
use super::super::profile::Profile;
use super::super::quantity::{Frequency, Level, LevelOrOff, Power, Rate, RateChoice, RtsThreshold, SizeOrNone, Time};
use super::super::read::Later;
use super::{Resolver, bytes};
use aggregation::Aggregation;
use association::Association;
pub(super) use nodes::NodeRadio;
use obstacles::Obstacles;
use queue::Queue;
use rates::Protection;
use reception::{Reception, Surroundings};
use shape::{BandwidthName, Channel, CodeName};
use standard::StandardName;

/// The radio and its medium access.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Radio {
    /// Source of the defaults; any key given in the table overrides it.
    #[schemars(extend("x-default" = is("standard", "IEEE 802.11-2020 and the RFCs")))]
    #[expect(dead_code, reason = "the layer under all keys is known before they are read")]
    profile: Profile,
    /// Physical layer.
    #[schemars(extend("x-default" = is("802.11", "the first physical layer of the standard")))]
    standard: StandardName,
    /// Preamble of 802.11b and 802.11g frames at 2, 5.5 and 11 Mb/s.
    #[schemars(extend("x-default" = is("long", "the preamble that every station of IEEE 802.11-2020, clause 16, understands")))]
    preamble: Preamble,
    /// Band of 802.11n and 802.11ax: 2.4 GHz or 5 GHz.
    #[schemars(extend("minimum" = 1e9, "maximum" = 1e11, "x-default" = computed("5 GHz, the band that 802.11n, 802.11ac and 802.11ax share")))]
    band: Option<Frequency>,
    /// Channel number in the standard's band, or a table with the number of the primary channel and the width. Its centre
    /// is the default of the propagation model's frequency.
    #[schemars(extend("x-default" = computed(&shape::default_channels())))]
    channel: Option<Channel>,
    /// What becomes of frames in a channel wider than 20 MHz of which a part is busy. Needs `reception = "sinr"`.
    #[schemars(extend("x-default" = computed("`whole`: the channel is one for all stations")))]
    bandwidth: Option<BandwidthName>,
    /// Spatial streams of stations of 802.11n (up to four), 802.11ac and 802.11ax. The power is shared among the streams of a
    /// frame, as many antennas collect it, and the streams don't disturb each other.
    #[schemars(extend("minimum" = 1, "maximum" = 8, "x-default" = computed("those of the scheme that `data_rate` names under 802.11n; else 1")))]
    spatial_streams: Option<u8>,
    /// Guard interval of 802.11n and 802.11ac, 0.4 or 0.8 us, or of 802.11ax, 0.8, 1.6 or 3.2 us.
    #[schemars(extend("minimum" = 0, "maximum" = 1, "x-default" = computed("0.8 us, the one that every station has")))]
    guard_interval: Option<Time>,
    /// Code of the frames of 802.11n and later.
    #[schemars(extend("x-default" = computed("`bcc`; `ldpc` for `802.11ax`, which asks for it above 20 MHz")))]
    coding: Option<CodeName>,
    /// Data rate of unicast data frames, or the algorithm that chooses it for each receiver. `mcs N` names a modulation
    /// and coding scheme: 0 to 31 of 802.11n, which count the streams; 0 to 9 of 802.11ac and 0 to 11 of 802.11ax, over all streams.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e12, "x-default" = computed("the highest rate of the standard; under profile `ns-2` the 2 Mb/s of its `bandwidth_` if the standard has that rate")))]
    data_rate: Option<RateChoice>,
    /// Basic rate: that of broadcast frames, and the highest rate of RTS, CTS and ACK frames. hopcast ignores a basic
    /// rate above the data rate.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e12, "x-default" = computed("the highest mandatory rate up to `data_rate`, of 802.11b with `protection` or a station of 802.11b; under profile `ns-2` the 2 Mb/s of its `bandwidth_` if the standard has that rate and `data_rate` is not lower")))]
    basic_rate: Option<Rate>,
    /// Frame length above which RTS/CTS precede a unicast frame: in bytes (the whole MAC frame counts, or the A-MPDU), or as a
    /// time on the air. `0 B`: they precede all unicast frames. `wavelan` has no RTS.
    #[schemars(extend("minimum" = 0, "maximum" = 6_500_631, "x-default" = is("off", "dot11RTSThreshold larger than any frame")))]
    rts_threshold: Option<RtsThreshold>,
    /// Medium access with four categories (EDCA), and the edition of IEEE 802.11 with its default parameters. A flow's
    /// `priority` selects its category. 802.11n and later always have them.
    #[schemars(extend("x-default" = computed("`off`: DCF; `2012` for 802.11n and later, as access points configure it")))]
    edca: Option<Edca>,
    /// TXOP limit of each access category: the time for which a station may send after one access. It bounds a frame, and
    /// under aggregation several frames may follow each other. Zero: one frame.
    #[schemars(extend("minimum" = 0, "maximum" = 0.008_16, "x-default" = computed("that of each category in the edition of `edca`")))]
    txop: Option<Time>,
    /// What data frames of 802.11n and later aggregate.
    aggregation: Aggregation,
    /// Protection of frames that older stations of the network don't understand: of OFDM frames from stations of 802.11b,
    /// with which the slot is long, or of newer frames from other stations. With association over the air the access point
    /// learns whether stations of 802.11b belong; else protection holds throughout the run.
    #[schemars(extend("x-default" = computed("`none`; `cts-to-self` with a station whose `standard` is 802.11b, and with association over the air if `basic_rate` is one of 802.11b")))]
    protection: Option<Protection>,
    /// Association of stations with access points.
    #[schemars(extend("x-default" = is("implicit", "stations belong to the nearest access point from the start")))]
    association: Association,
    /// Time between two beacons of an access point, in steps of 1.024 ms; used with association over the air.
    #[schemars(extend("minimum" = 0.001024, "maximum" = 67.10784, "x-default" = is("102.4 ms", "100 time units, the usual default of access points")))]
    beacon_interval: Option<Time>,
    /// Number of attempts at a frame before the station drops it.
    retry_limit: RetryLimit,
    /// Interface queue of each node.
    queue: Queue,
    /// Largest IP datagram; IP sends larger ones in fragments.
    #[schemars(extend("minimum" = 68, "maximum" = 2296, "x-default" = is("1500 B", "MTU of Ethernet, which Linux also gives to 802.11")))]
    mtu: SizeOrNone,
    /// Rule by which a receiver decides whether it decodes a frame.
    #[schemars(extend("x-default" = computed("`threshold` with propagation `range`, under profile `ns-2`, and where `receive_threshold` or `carrier_sense_threshold` is given; else `sinr`")))]
    reception: Option<Reception>,
    /// Transmit power; not used with propagation `range`.
    #[schemars(extend("minimum" = 1e-20, "maximum" = 15.84893192461115, "x-default" = is("16.0206 dBm", "40 mW, the power of a typical card and of ns-3 (TxPowerStart)")))]
    #[expect(dead_code, reason = "noted among the powers")]
    tx_power: Option<Power>,
    /// Least power at which a receiver decodes a frame; not used with propagation `range`.
    #[schemars(extend("minimum" = 1e-33, "maximum" = 1e6, "x-default" = computed("the standard's minimum sensitivity at the frame's rate; -64.37 dBm under profile `ns-2`; none with reception `sinr`, where noise decides")))]
    receive_threshold: Option<Power>,
    /// Least power that makes the medium busy; not used with propagation `range`.
    #[schemars(extend("minimum" = 1e-33, "maximum" = 1e6, "x-default" = computed("the minimum sensitivity of the most robust rate (-78.07 dBm under profile `ns-2`), or `receive_threshold` if that is lower")))]
    carrier_sense_threshold: Option<Power>,
    /// Level by which a frame must exceed overlapping frames to survive; with reception `sinr`, to draw a receiver away
    /// from another frame. Not used with propagation `range`.
    #[schemars(extend("minimum" = 0, "maximum" = 200, "x-default" = is("10 dB", "ns-2 (CPThresh_ 10.0)")))]
    #[expect(dead_code, reason = "noted among the powers")]
    capture: Option<Level>,
    /// Noise figure: the level by which a receiver raises thermal noise; used with reception `sinr`.
    #[schemars(extend("minimum" = 0, "maximum" = 60, "x-default" = is(Level(DEFAULT_NOISE_FIGURE), "ns-3 (RxNoiseFigure)")))]
    noise_figure: Option<Level>,
    /// Ratio of signal to noise and interference at which a receiver detects a preamble; used with reception `sinr`.
    #[schemars(extend("minimum" = -40, "maximum" = 60, "x-default" = computed("4 dB for OFDM; -6.4 dB for DSSS, which is 4 dB less the gain of eleven chips")))]
    preamble_detection: Option<Level>,
    /// Power below which a node ignores a transmission; not used with propagation `range`.
    #[schemars(extend("minimum" = 1e-33, "maximum" = 1e6, "x-default" = computed("with reception `sinr`, 20 dB below thermal noise; with thresholds, 20 dB below the power that could just destroy the weakest frame (the lowest receive threshold less `capture`), but at most the carrier-sense threshold; under profile `ns-2` the carrier-sense threshold")))]
    interference_floor: Option<Power>,
    /// Level by which a receiver weakens transmissions on the adjacent channel, the first one that does not overlap its
    /// own. It weakens those on channels farther away by 16 dB more (IEEE 802.11-2020, Table 17-18), and those on
    /// overlapping channels less. They interfere, and the receiver never decodes them. `off`: channels do not disturb
    /// each other. Not used with propagation `range`.
    // A receiver passes 17.3.10.3 if interference on the adjacent channel at -63 dBm (sensitivity + 3 dB + rejection, the same at
    // each rate) does no more than the noise that 17.3.10.2 allows it, thermal noise and 10 dB: -91 dBm.
    #[schemars(extend("minimum" = 0, "maximum" = 200, "x-default" = is("28 dB", "the least that IEEE 802.11-2020, 17.3.10.3, requires of a receiver")))]
    adjacent_channel_rejection: LevelOrOff,
    /// Path loss: the fall of received power with distance.
    #[schemars(extend("x-default" = is("free-space", "the only model that needs no parameters")))]
    propagation: Later<propagation::Kinds>,
    /// Obstacles between nodes: walls, buildings, people and vehicles that pass through links, and slow changes.
    #[schemars(extend("x-default" = nothing("none", "")))]
    obstacles: Option<Later<Obstacles>>,
    /// Losses in addition to those of `reception`.
    #[schemars(extend("x-default" = is("none", "")))]
    errors: Later<errors::Kinds>,
}

/// Edition of EDCA's default parameters.
#[derive(Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
enum Edca {
    /// Without EDCA: DCF.
    #[serde(rename = "off")]
    Off,
    /// 802.11e-2005 to 802.11-2012, and WMM.
    #[serde(rename = "2012")]
    Ieee2012,
    /// 802.11-2020, with other TXOP limits.
    #[serde(rename = "2020")]
    Ieee2020,
}

/// Preamble of HR/DSSS.
#[derive(Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Preamble {
    /// 144 bits.
    Long,
    /// 72 bits.
    Short,
}

/// Number of attempts at a frame.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RetryLimit {
    /// Number of attempts at a frame up to the RTS threshold, and at an RTS.
    #[schemars(extend("minimum" = 1, "maximum" = 255, "x-default" = is(Config::DEFAULT_SHORT_RETRY_LIMIT, "dot11ShortRetryLimit (IEEE 802.11-2020, Annex C)")))]
    short: u32,
    /// Number of attempts at a frame longer than the RTS threshold.
    #[schemars(extend("minimum" = 1, "maximum" = 255, "x-default" = is(Config::DEFAULT_LONG_RETRY_LIMIT, "dot11LongRetryLimit (IEEE 802.11-2020, Annex C)")))]
    long: u32,
}

impl From<Edca> for Option<Edition> {
    fn from(edca: Edca) -> Self {
        match edca {
            Edca::Off => None,
            Edca::Ieee2012 => Some(Edition::Ieee2012),
            Edca::Ieee2020 => Some(Edition::Ieee2020),
        }
    }
}

impl Resolver<'_> {
    /// The radio and the MTU.
    pub(super) fn radio(&mut self, radio: &Later<Radio>) -> (model::Radio, Option<u32>) {
        let radio = &radio.read(&mut self.ledger, &["radio"]);
        let StandardName(standard) = radio.standard;
        let short_preamble = self.short_preamble(radio, standard);
        let (phy, shape, channel) = self.shaped_phy(radio, standard, short_preamble);
        let phy = &phy;
        let capability = Capability::new(standard, shape, short_preamble);
        let older: Vec<Capability> =
            self.older_standards().into_iter().filter_map(|older| mixed::older(capability, older)).collect();
        let phy_among = capability.phy_among(&older);
        let (data_rate, rate_control, basic_rate) = self.rates(radio, (phy, &phy_among), shape, &older);
        let association = self.association(radio, standard);
        let protection = self.protection(radio, (phy, &older), basic_rate, association.is_some());
        let (rts_threshold, rts_duration) = self.rts_threshold(radio, standard);
        let mtu = radio.mtu.0.map(bytes);
        let aggregation = self.aggregation(radio.aggregation, standard);
        let queue_discipline = self.queue_discipline(&radio.queue, mtu, aggregation);
        let edca = self.edca(radio, standard);
        let queue_packets = self.queue_packets(&radio.queue, aggregation);
        let propagation::Resolved { propagation, shadowing, fading } =
            self.propagation(&radio.propagation, standard, channel.map(|channel| channel.centre));
        let used = match rate_control {
            Algorithm::Fixed(_) => &[data_rate, basic_rate],
            _ => phy.vectors(),
        };
        let by_range = matches!(propagation, model::Propagation::Range(_));
        let around = Surroundings { phy, used, by_range };
        let (tx_power, reception) = self.reception(radio, around);
        let bandwidth = self.bandwidth(radio, standard, reception.rules == model::Rules::Sinr);
        let controlled = controlled_rates(phy, shape, rate_control);
        let candidates = if controlled.is_empty() { phy.vectors() } else { &controlled };
        let candidates = self.candidates(rate_control, candidates, (&phy_among, basic_rate), by_range, &reception);
        let mac = Config {
            candidates,
            rts_threshold,
            rts_duration,
            short_retry_limit: radio.retry_limit.short,
            long_retry_limit: radio.retry_limit.long,
            queue_packets,
            queue_discipline,
            driver_packets: radio.queue.driver_packets,
            aggregation,
            bandwidth,
            rates: controlled,
            rules: self.access_rules(),
            ..Config::new(*phy, data_rate)
        };
        let WideChannel { primary, centre, .. } = channel.unwrap_or_else(|| {
            let first = standard.channels_in(shape.map_or(Band::High, |shape| shape.band)).default_channel().frequency;
            WideChannel { primary: first, centre: first, width: ChannelWidth::Mhz20 }
        });
        let radio = model::Radio {
            standard,
            channel: centre,
            primary,
            shape,
            txop: radio.txop.map(Into::into),
            adjacent_channel_rejection: radio.adjacent_channel_rejection.0.map(|level| level.0),
            short_preamble,
            data_rate,
            rate_control,
            edca,
            legacy_edca: edca.filter(|_| radio.edca.is_some()),
            protection,
            association,
            basic_rate,
            mac,
            tx_power,
            propagation,
            shadowing,
            obstacles: self.obstacles(radio.obstacles.as_ref(), by_range),
            fading,
            reception,
            errors: self.errors(&radio.errors),
        };
        (radio, mtu)
    }

    fn short_preamble(&mut self, radio: &Radio, standard: Standard) -> bool {
        let is_short = radio.preamble == Preamble::Short;
        if is_short && !standard.has_short_preamble() {
            self.report(&["radio", "preamble"], format!("{standard} has no short preamble"), "\"long\", or 802.11b");
        }
        is_short
    }

    /// The RTS threshold in bytes, or as a time; neither if RTS is off.
    fn rts_threshold(&mut self, radio: &Radio, standard: Standard) -> (Option<u32>, Option<Duration>) {
        let path = ["radio", "rts_threshold"];
        let threshold: RtsThreshold = if standard.acknowledges() {
            self.ledger.read(&path)
        } else {
            let source = format!("default: {standard} has no RTS");
            self.ledger.pick(&path, radio.rts_threshold, || (RtsThreshold::Off, source))
        };
        if threshold != RtsThreshold::Off && !standard.acknowledges() {
            self.report(
                &path,
                format!("{standard} has no RTS: its stations answer no frame"),
                "\"off\", or another standard",
            );
        }
        match threshold {
            RtsThreshold::Length(size) => (Some(bytes(size)), None),
            RtsThreshold::Duration(time) => (None, Some(time.into())),
            RtsThreshold::Off => (None, None),
        }
    }

    /// The edition of the access categories' parameters; `None`: DCF.
    fn edca(&mut self, radio: &Radio, standard: Standard) -> Option<Edition> {
        let path = ["radio", "edca"];
        let edca = self.ledger.layered(&path, radio.edca, || match standard.has_shape() {
            true => (Edca::Ieee2012, format!("default: {standard} has QoS, and access points configure this edition")),
            false => (Edca::Off, "default: DCF".into()),
        });
        if edca == Edca::Off && standard.has_shape() {
            self.report(&path, format!("{standard} has no stations without QoS"), "\"2012\" or \"2020\"");
        }
        match radio.txop {
            Some(_) if edca == Edca::Off => {
                self.report(
                    &["radio", "txop"],
                    "has no effect without access categories",
                    "edca = \"2012\" or \"2020\"",
                );
            }
            _ => self.ledger.note_given(&["radio", "txop"]),
        }
        edca.into()
    }

    /// Source of the rules of medium access, which no key sets.
    fn access_rules(&mut self) -> AccessRules {
        let (rules, told) = self.ledger.layer.access_rules;
        let source = format!("profile {} (not a separate key)", self.ledger.layer.name);
        self.ledger.note(&["radio", "access_rules"], told, &source);
        rules
    }
}
