//! A cloud of devices that store clips and stream them to each other: `cloud`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use hopcast_protocols::streaming::admission::{Estimator, Policy};
use hopcast_protocols::streaming::delivery::IP_PACKET;
use hopcast_protocols::streaming::device::Blocks;
use hopcast_protocols::streaming::schedule::Discipline;
use hopcast_protocols::streaming::variable_rate::Index;
use hopcast_protocols::streaming::{
    adaptation, cache, carrier, device, path, placement, prefetch, profile, reservation,
};
use hopcast_protocols::time::Duration;
use hopcast_radio::mac::FrameKind;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::super::declare::{computed, is, nothing};
use super::super::model;
use super::super::quantity::{Rate, Size, Time};
use super::super::read::Later;
use super::super::traces::Traces;
use super::directory::Directory;
use super::{Resolver, instant};
use crate::id::NodeId;
use crate::video_trace::VideoTrace;

/// Devices that store clips, pass streams on, and display what their users ask for (`docs/models/cloud.md`).
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Cloud {
    /// Names of nodes and groups that are devices. Each needs role `ad-hoc`, and streams over its first radio.
    #[schemars(extend("minItems" = 1, "x-default" = computed("all nodes")))]
    devices: Option<Vec<String>>,
    /// Rule that decides whether a stream is admitted to a path.
    #[schemars(extend("x-default" = is("statistical", "")))]
    admission: Admission,
    /// How devices estimate the probability that a stream stalls, from the profiles of their links.
    #[schemars(extend("x-default" = is("bootstrap", "")))]
    estimator: Estimate,
    /// Stalls per hour of display that a stream may have, with `admission = "statistical"` and `"profile"`.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 3600, "x-default" = is(0.1, "a choice of hopcast")))]
    stalls_per_hour: f64,
    /// Share of time that streams may reserve around a device, with `admission = "statistical"` and `"airtime"`. The rest is for
    /// messages, and for catching up.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1, "x-default" = is(0.85, "a choice of hopcast")))]
    max_airtime: f64,
    /// Rate of every link by which `admission = "hops"` judges.
    #[schemars(extend("minimum" = 1_000, "maximum" = 1e10, "x-default" = is("25 Mb/s", "the paper's Table I, the highest for 802.11a")))]
    nominal_rate: Rate,
    /// Hops over which a device senses transmissions: reserved airtime counts up to there.
    #[schemars(extend("minimum" = 1, "maximum" = 2, "x-default" = is(2, "carrier sense reaches about twice as far as reception")))]
    sensing_hops: u8,
    /// Length of media that a display buffers before it starts, and after a stall.
    #[schemars(extend("minimum" = 0.1, "maximum" = 60, "x-default" = nothing("as long as the profiles ask for, from 1 s to 60 s, with `admission = \"statistical\"` and `\"profile\"`; otherwise 1 s", "")))]
    prefetch: Option<Time>,
    /// Highest rate at which a device sends a clip, as a multiple of the clip's rate: to fill the buffer.
    #[schemars(extend("minimum" = 1, "maximum" = 10, "x-default" = is(1.5, "a choice of hopcast")))]
    catch_up: f64,
    /// Time between two measurements of a device. Each sends two packets to the next neighbour in turn whose profile is older.
    #[schemars(extend("minimum" = 0.1, "maximum" = 3600, "x-default" = is("1 s", "")))]
    measurement_interval: Time,
    /// Most packets of media that are simulated together, which makes long runs faster. The first one contends for the medium; the others follow as one frame,
    /// which takes the time that they would take one after the other, and arrives or gets lost as one. It needs DCF without RTS,
    /// and devices that all sense each other.
    #[schemars(extend("minimum" = 1, "maximum" = 32, "x-default" = is(1, "each packet is simulated")))]
    batch: u32,
    /// Age at which a sample of a profile counts half.
    #[schemars(extend("minimum" = 1, "maximum" = 1e6, "x-default" = is("60 s", "a choice of hopcast")))]
    half_life: Time,
    /// Streams that are under way take shorter paths when links allow it, and return when these fail.
    #[schemars(extend("x-default" = nothing("a stream keeps its path until it breaks", "")))]
    shortening: Option<Later<Shortening>>,
    /// How displays choose the rate of clips that have `lower_rates`, segment by segment.
    #[schemars(extend("x-default" = nothing("displays take the highest rate", "")))]
    adaptation: Option<Later<Adaptation>>,
    /// Order in which a device sends packets of several streams of its clips.
    #[schemars(extend("x-default" = nothing("each stream at its own pace", "")))]
    schedule: Option<Order>,
    /// Room on devices for clips or blocks that they have displayed, in addition to what they store from the start.
    #[schemars(extend("minItems" = 1, "x-default" = nothing("devices keep nothing that they display", "")))]
    caches: Option<Later<Vec<CacheKeys>>>,
    /// Where clips are stored. Rules other than `given` know which devices reach each other at the start of the run.
    #[schemars(extend("x-default" = is("given", "")))]
    placement: ClipPlacement,
    /// Copies of each clip, with `placement = "uniform"`; of all clips together, with `"proportional"` and `"square-root"`.
    #[schemars(extend("minimum" = 1, "maximum" = 1_000_000, "x-default" = nothing("no number of copies", "")))]
    copies: Option<u32>,
    /// Time that a block is assumed to take over a hop, with `placement = "near"` and `"anywhere"`.
    #[schemars(extend("minimum" = 0.001, "maximum" = 3600, "x-default" = nothing("no time", "")))]
    hop_time: Option<Time>,
    /// Clips that devices store.
    #[schemars(extend("minItems" = 1))]
    clips: Later<Vec<Clip>>,
    /// Requests of users.
    #[schemars(extend("minItems" = 1))]
    requests: Later<Vec<Requests>>,
    /// Times at which the programs of devices are killed, and start again.
    #[schemars(extend("minItems" = 1, "x-default" = nothing("no device fails", "")))]
    failures: Option<Later<Vec<Failure>>>,
    /// Devices that lie about their links.
    #[schemars(extend("minItems" = 1, "x-default" = nothing("no device lies", "")))]
    lies: Option<Later<Vec<Lie>>>,
}

/// Streams that are under way take shorter paths when links allow it, and return when these fail.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Shortening {
    /// Time for which a link that makes the path shorter must have been fast enough: its rates in nine of ten periods of 10 s. With `0 s` its
    /// last second decides.
    #[schemars(extend("minimum" = 0, "maximum" = 86_400, "x-default" = is("10 s", "a choice of hopcast")))]
    after: Time,
    /// Rate of a link that is fast enough, as a multiple of the stream's.
    #[schemars(extend("minimum" = 1, "maximum" = 100, "x-default" = is(1.2, "a choice of hopcast")))]
    margin: f64,
    /// Time for which the longer path stays reserved after the change.
    #[schemars(extend("minimum" = 0, "maximum" = 86_400, "x-default" = is("60 s", "a choice of hopcast")))]
    hold: Time,
    /// Returns to the longer path within a minute, above which both paths stay reserved, and media that the shorter one does not bring in time come over
    /// the longer one.
    #[schemars(extend("minimum" = 0, "maximum" = 60, "x-default" = is(2, "a choice of hopcast")))]
    flaps: u32,
}

/// How displays choose the rate of clips that have `lower_rates`, segment by segment.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Adaptation {
    /// Rule by which a display chooses the rate of the next segment.
    rule: AdaptationRule,
    /// Playing time of a segment, in whole milliseconds.
    #[schemars(extend("minimum" = 0.1, "maximum" = 60, "x-default" = is("4 s", "Yin and others, SIGCOMM 2015")))]
    segment: Time,
    /// Media that a display buffers at most, at least two segments. It begins with `prefetch`, or with three segments if that is less.
    #[schemars(extend("minimum" = 0.2, "maximum" = 3600, "x-default" = is("30 s", "Yin and others, SIGCOMM 2015")))]
    buffer: Time,
    /// Rate by which a stream is admitted, and that it reserves.
    #[schemars(extend("x-default" = is("highest", "")))]
    reserve: Reserve,
}

/// Rate by which a stream is admitted, and that it reserves.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Reserve {
    /// The clip's `rate`.
    Highest,
    /// The lowest of `lower_rates`: more comes where there is room.
    Lowest,
}

alike!(Reserve, adaptation::Reserve: Highest, Lowest);

/// Rule by which a display chooses the rate of the next segment.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum AdaptationRule {
    /// By what the buffer holds (Huang and others, SIGCOMM 2014).
    Bba,
    /// By Lyapunov's drift and a penalty (BOLA-U; Spiteri and others, INFOCOM 2016).
    Bola,
    /// By the best plan for the next five segments, with a cautious prediction of the throughput (Yin and others, SIGCOMM 2015).
    RobustMpc,
}

alike!(AdaptationRule, adaptation::Rule: Bba, Bola, RobustMpc);

/// Room on devices for clips or blocks that they have displayed.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CacheKeys {
    /// Names of the devices and groups that have it, each of this size.
    #[schemars(extend("minItems" = 1))]
    at: Vec<String>,
    /// Room.
    #[schemars(extend("minimum" = 1, "maximum" = 1e15))]
    size: Size,
    /// What a device drops first if there is no room. What it sends or shows stays.
    #[schemars(extend("x-default" = is("lru", "")))]
    policy: CachePolicy,
    /// Time for which the device remembers clips that others look for without success. It looks for them, too, keeps them and gives them to others.
    #[schemars(extend("minimum" = 1, "maximum" = 86_400, "x-default" = nothing("it keeps only what it displays", "")))]
    carry: Option<Time>,
    /// For whom a carrier fetches clips; without effect without `carry`.
    #[schemars(extend("x-default" = is("all", "")))]
    carry_for: Beneficiaries,
}

/// For whom a carrier fetches clips.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Beneficiaries {
    /// For all who look for them.
    All,
    /// For those that it expects to meet before it forgets their search, by how often it has met them.
    Expected,
}

alike!(Beneficiaries, carrier::Beneficiaries: All, Expected);

/// Order in which a device sends packets of several streams of its clips.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Order {
    /// The packet that has waited longest.
    Fifo,
    /// Each stream in turn.
    RoundRobin,
    /// The packet that is shown first.
    EarliestDeadline,
    /// The stream whose display would stand still first if nothing came.
    EarliestHiccup,
}

/// What a cache drops first.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum CachePolicy {
    /// What was used longest ago.
    Lru,
    /// What was used least often.
    Lfu,
    /// What has the lowest sum of age and of uses for each byte (GreedyDual-Frequency).
    GreedyDualFrequency,
}

alike!(Order, Discipline: Fifo, RoundRobin, EarliestDeadline, EarliestHiccup);
alike!(CachePolicy, cache::Policy: Lru, Lfu, GreedyDualFrequency);

/// A clip, or with `count` a group of clips.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Clip {
    /// Name of the clip; with `count`, the clips are name0, name1, …
    #[schemars(extend("x-name" = true))]
    name: String,
    /// Number of clips in the group.
    #[schemars(extend("minimum" = 1, "maximum" = 100_000, "x-default" = computed("one clip, whose name gets no number")))]
    count: Option<u32>,
    /// Mean rate of the media; constant without `trace`.
    #[schemars(extend("minimum" = 1_000, "maximum" = 1e9, "x-default" = computed("required, unless `trace` gives it")))]
    rate: Option<Rate>,
    /// Video trace that says how the rate varies, repeated up to `length`: a file next to the scenario, a bundled trace, or a trace in one of the trace
    /// directories. Its frames are scaled to the mean rate `rate`. The stream reserves the least constant rate at which nothing
    /// comes late with `prefetch`, or 1 s, in the buffer.
    #[schemars(extend("x-default" = nothing("the rate is constant", "")))]
    trace: Option<String>,
    /// Lower rates in which it is stored as well, the lowest first: up to seven, among which `cloud.adaptation` chooses.
    #[schemars(extend("minItems" = 1, "maxItems" = 7, "x-default" = nothing("it is stored in one rate", "")))]
    lower_rates: Option<Vec<Rate>>,
    /// Playing time.
    #[schemars(extend("minimum" = 1, "maximum" = 86_400))]
    length: Time,
    /// Longest playing time of a block. The clip is stored and fetched in equal blocks.
    #[schemars(extend("minimum" = 0.1, "maximum" = 86_400, "x-default" = nothing("the clip is stored as a whole", "")))]
    block: Option<Time>,
    /// Names of the devices and groups that store the clip; of a group of clips, all of them.
    #[schemars(extend("minItems" = 1, "x-default" = nothing("what `cloud.placement` says", "")))]
    at: Option<Vec<String>>,
    /// Exponent of Zipf's law for requests of the group: the n-th clip is chosen with a probability in proportion to 1/n to this power.
    #[schemars(extend("minimum" = 0, "maximum" = 10, "x-default" = is(0.729, "rentals of films: Dan, Sitaram, Shahabuddin, ACM Multimedia 1994")))]
    popularity: f64,
}

/// Requests for a clip.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Requests {
    /// Name of the device whose user asks; the name of a group: each device asks independently.
    from: String,
    /// Name of the clip; the name of a group of clips: one is drawn for each request.
    clip: String,
    /// Time of the first request; with `every`, the time from which requests arrive.
    #[schemars(extend("minimum" = 0, "maximum" = 315_576_000, "x-default" = is("0 s", "at the start of the run")))]
    start: Time,
    /// Mean time between two requests of a device. Requests are a Poisson process.
    #[schemars(extend("minimum" = 0.1, "maximum" = 315_576_000, "x-default" = nothing("one request", "")))]
    every: Option<Time>,
    /// Time from which no more requests arrive.
    #[schemars(extend("minimum" = 0, "maximum" = 315_576_000, "x-default" = nothing("end of the run", "")))]
    stop: Option<Time>,
    /// Time for which a user waits for a device that has the clip, and for a path that admits the stream. The display searches again after 5 s.
    #[schemars(extend("minimum" = 0, "maximum" = 86_400, "x-default" = is("0 s", "three searches")))]
    patience: Time,
}

/// The program of a device is killed, and starts again.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Failure {
    /// Names of the devices and groups whose programs are killed.
    #[schemars(extend("minItems" = 1))]
    at: Vec<String>,
    /// Time at which they are killed. The radio and the IP layer of their nodes go on.
    #[schemars(extend("minimum" = 0, "maximum" = 315_576_000))]
    start: Time,
    /// Time after which they start again, with the clips that they stored at the start of the run, and without any other memory. Requests of their users
    /// in between are not made.
    #[schemars(extend("minimum" = 0.001, "maximum" = 315_576_000, "x-default" = nothing("they don't start again", "")))]
    duration: Option<Time>,
}

/// Devices that lie about their links.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Lie {
    /// Names of the devices and groups that lie.
    #[schemars(extend("minItems" = 1))]
    at: Vec<String>,
    /// Rates that they tell, and by which they judge, divided by those that they measure.
    #[schemars(extend("minimum" = 0.01, "maximum" = 100))]
    factor: f64,
}

/// Rule of admission.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Admission {
    /// Every stream is admitted.
    All,
    /// The rates of the streams around a device, each counted once for each hop there, stay below `nominal_rate`.
    Hops,
    /// The measured mean rate of each link of the path is at least the stream's.
    Mean,
    /// The airtime of the streams around a device, from measured mean rates, stays below `max_airtime`.
    Airtime,
    /// The stream stalls less often than `stalls_per_hour`, as if no other stream took airtime.
    Profile,
    /// As `airtime`; and the stream stalls less often than `stalls_per_hour` in the airtime that others leave.
    Statistical,
}

/// Rule by which clips are placed on devices.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum ClipPlacement {
    /// Each clip names its devices (`at`).
    Given,
    /// Each device stores all clips.
    Full,
    /// `copies` of each clip, at random devices.
    Uniform,
    /// `copies` of all clips together, in proportion to popularity, at random devices.
    Proportional,
    /// The same, in proportion to the square root of popularity.
    SquareRoot,
    /// Block i of each clip within H hops of each device, with H the largest number of hops that take no more than the i − 1 blocks before it.
    Near,
    /// N − H copies of block i at random devices, of N devices; at least one.
    Anywhere,
}

/// Bytes of a frame with a packet of media.
const MEDIA_FRAME: u32 = IP_PACKET + FrameKind::DATA_OVERHEAD_OCTETS;

/// Most blocks of all clips.
const MAX_BLOCKS: usize = 100_000;

/// Estimate of the probability of a stall.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Estimate {
    /// From mean, variance and autocorrelation of the rate in each second, as of a Gaussian process.
    Gaussian,
    /// Streams over the recorded rates of each second, in blocks in random order.
    Bootstrap,
    /// No stall if 90 % of all periods of 10 s are fast enough.
    Quantile,
}

alike!(Admission, Policy: All, Hops, Mean, Airtime, Profile, Statistical);
alike!(Estimate, Estimator: Gaussian, Bootstrap, Quantile);

/// Clips by the names of single ones and groups.
type Catalogue = BTreeMap<String, core::ops::Range<usize>>;

impl Resolver<'_> {
    /// `radio`: of all devices; stations that aggregate are refused, as their frames are not those of one packet.
    pub(super) fn cloud(
        &mut self,
        given: Option<&Later<Cloud>>,
        groups: &[model::Group],
        radio: &model::Radio,
    ) -> Option<model::Cloud> {
        let keys = given?.read(&mut self.ledger, &["cloud"]);
        let nodes = Directory::new(groups);
        if radio.mac.aggregation.is_some() {
            let problem = "needs stations that send each packet in its own frame";
            self.report(&["cloud"], problem, "radio.aggregation = { ampdu = \"off\", amsdu = \"off\" }");
        }
        let names: Vec<String> = match &keys.devices {
            Some(names) => names.clone(),
            None => {
                self.ledger.note(&["cloud", "devices"], "all nodes", "default");
                groups.iter().map(|group| group.name.clone()).collect()
            }
        };
        let mut devices = BTreeSet::new();
        for (place, name) in names.iter().enumerate() {
            let place = place.to_string();
            let path: &[&str] =
                if keys.devices.is_some() { &["cloud", "devices", &place] } else { &["cloud", "devices"] };
            for node in self.named(path, name, &nodes) {
                let group = nodes.group(node);
                if group.role != model::Role::AdHoc || group.is_real {
                    let problem = format!("{name:?} is no simulated node of role \"ad-hoc\"");
                    self.report(path, problem, "nodes with role = \"ad-hoc\" and real = false");
                    break;
                }
                devices.insert(node);
            }
        }
        let (clips, catalogue) = self.clips(&keys, &nodes, &devices);
        let placement = self.clip_placement(&keys, clips.len(), devices.len());
        let requests = self.requests(&keys.requests, &nodes, &devices, &clips, &catalogue);
        let failures = self.failures(keys.failures.as_ref(), &nodes, &devices);
        let shortening = keys.shortening.as_ref().map(|keys| {
            let keys = keys.read(&mut self.ledger, &["cloud", "shortening"]);
            let (after, hold) = (keys.after.into(), keys.hold.into());
            path::Config { after, margin: keys.margin, hold, flaps: keys.flaps }
        });
        let phy = radio.phy();
        let parameters = phy.parameters();
        // Before a frame: DIFS, and half of the smallest contention window.
        let gap = phy.difs() + parameters.slot * u64::from(parameters.cw_min) / 2;
        let second = Duration::from_secs(1);
        let config = device::Config {
            rules: reservation::Rules {
                policy: keys.admission.into(),
                estimator: keys.estimator.into(),
                nominal_rate: keys.nominal_rate.0,
                max_airtime: keys.max_airtime,
                stalls_per_hour: keys.stalls_per_hour,
                pace: keys.catch_up,
                refresh: second * 5,
                expiry: second * 15,
                repeat: second,
            },
            prefetch: keys.prefetch.map(Duration::from),
            slack: Duration::ZERO,
            sensing_hops: keys.sensing_hops,
            measurement: keys.measurement_interval.into(),
            profile: profile::Config { half_life: keys.half_life.into(), ..profile::Config::default() },
            gap,
            shortening,
            schedule: keys.schedule.map(Into::into),
            adaptation: self.adaptation(keys.adaptation.as_ref(), &clips),
            cache: None,
            batch: keys.batch,
        };
        if keys.batch > 1 {
            let is_behind_rts = radio.mac.rts_threshold.is_some_and(|threshold| threshold < MEDIA_FRAME);
            if is_behind_rts || radio.mac.rts_duration.is_some() {
                let problem = "needs media without RTS and CTS, which each packet would have";
                self.report(&["cloud", "batch"], problem, "radio.rts_threshold = \"off\"");
            }
            if radio.edca.is_some() {
                let problem = "needs DCF: under EDCA a transmission opportunity has several packets";
                self.report(&["cloud", "batch"], problem, "no radio.edca");
            }
        }
        let caches = self.of_devices(keys.caches.as_ref(), "caches", &nodes, &devices, |keys| {
            // A float to integer cast saturates.
            (
                &keys.at,
                cache::Config {
                    policy: keys.policy.into(),
                    capacity: keys.size.0 as u64,
                    carry: keys.carry.map(|lifetime| carrier::Config {
                        lifetime: lifetime.into(),
                        beneficiaries: keys.carry_for.into(),
                    }),
                },
            )
        });
        let lies = self.of_devices(keys.lies.as_ref(), "lies", &nodes, &devices, |keys| (&keys.at, keys.factor));
        Some(model::Cloud {
            devices: devices.into_iter().collect(),
            config,
            caches,
            placement,
            clips,
            requests,
            failures,
            lies,
        })
    }

    fn adaptation(&mut self, given: Option<&Later<Adaptation>>, clips: &[model::Clip]) -> Option<adaptation::Config> {
        let keys = given?.read(&mut self.ledger, &["cloud", "adaptation"]);
        if clips.iter().all(|clip| clip.lower_rates.is_empty()) {
            let problem = "has no effect, as each clip has one rate";
            self.report(&["cloud", "adaptation"], problem, "cloud.clips.lower_rates = [\"1 Mb/s\", \"2 Mb/s\"]");
        }
        let (segment, buffer) = (Duration::from(keys.segment), Duration::from(keys.buffer));
        if segment.as_nanos() % 1_000_000 != 0 {
            let problem = format!("{} is not a whole number of milliseconds", keys.segment);
            self.report(&["cloud", "adaptation", "segment"], problem, "\"2 s\"");
        }
        if buffer < segment * 2 {
            let problem = format!("{} is less than two segments of {}", keys.buffer, keys.segment);
            self.report(&["cloud", "adaptation", "buffer"], problem, "at least twice cloud.adaptation.segment");
        }
        Some(adaptation::Config { rule: keys.rule.into(), segment, buffer, reserve: keys.reserve.into() })
    }

    /// The rule of placement, with what belongs to it. `clips` and `devices` are their numbers.
    fn clip_placement(&mut self, keys: &Cloud, clips: usize, devices: usize) -> Option<placement::Policy> {
        let has_copies =
            matches!(keys.placement, ClipPlacement::Uniform | ClipPlacement::Proportional | ClipPlacement::SquareRoot);
        let has_time = matches!(keys.placement, ClipPlacement::Near | ClipPlacement::Anywhere);
        for (key, is_given, is_wanted, example) in [
            ("copies", keys.copies.is_some(), has_copies, "cloud.copies = 3"),
            ("hop_time", keys.hop_time.is_some(), has_time, "cloud.hop_time = \"0.5 s\""),
        ] {
            match (is_given, is_wanted) {
                (true, false) => self.report(&["cloud", key], "has no effect with this placement", ""),
                (false, true) => {
                    self.report(&["cloud", "placement"], format!("needs cloud.{key} as well"), example);
                }
                _ => {}
            }
        }
        let copies = keys.copies.unwrap_or(1);
        let needs_all = matches!(keys.placement, ClipPlacement::Proportional | ClipPlacement::SquareRoot);
        if needs_all && keys.copies.is_some_and(|copies| (copies as usize) < clips) {
            let problem = format!("is less than the number of clips, {clips}");
            self.report(&["cloud", "copies"], problem, "at least one copy of each clip");
        }
        if keys.placement != ClipPlacement::Given && devices > placement::MAX_DEVICES {
            let problem = format!("there are {devices} devices");
            self.report(&["cloud", "placement"], problem, "at most 4096 devices, or \"given\"");
        }
        let hop_time = keys.hop_time.map_or(Duration::ZERO, Duration::from);
        match keys.placement {
            ClipPlacement::Given => None,
            ClipPlacement::Full => Some(placement::Policy::Full),
            ClipPlacement::Uniform => Some(placement::Policy::Uniform(copies)),
            ClipPlacement::Proportional => Some(placement::Policy::Proportional(copies)),
            ClipPlacement::SquareRoot => Some(placement::Policy::SquareRoot(copies)),
            ClipPlacement::Near => Some(placement::Policy::Near(hop_time)),
            ClipPlacement::Anywhere => Some(placement::Policy::Anywhere(hop_time)),
        }
    }

    /// The nodes that a name of a node or a group stands for. Reports an unknown one.
    fn named(&mut self, path: &[&str], name: &str, nodes: &Directory<'_>) -> Vec<NodeId> {
        let found = nodes.find_all(name);
        if found.is_empty() {
            let (problem, expected) = nodes.why_unknown(name);
            self.report(path, problem, expected);
        }
        found
    }

    /// The same of devices.
    fn named_devices(
        &mut self,
        path: &[&str],
        name: &str,
        nodes: &Directory<'_>,
        devices: &BTreeSet<NodeId>,
    ) -> Vec<NodeId> {
        let found = self.named(path, name, nodes);
        if found.iter().any(|node| !devices.contains(node)) {
            self.report(path, format!("{name:?} is not among the devices of the cloud"), "one of cloud.devices");
        }
        found
    }

    /// What a list of tables says of devices, each of which it names at most once. `read` gives the names of a table, and what it says.
    fn of_devices<Keys: DeserializeOwned, T: Clone>(
        &mut self,
        given: Option<&Later<Vec<Keys>>>,
        list: &str,
        nodes: &Directory<'_>,
        devices: &BTreeSet<NodeId>,
        read: impl Fn(&Keys) -> (&[String], T),
    ) -> BTreeMap<NodeId, T> {
        let mut found = BTreeMap::new();
        let Some(given) = given else { return found };
        self.each(given, &["cloud", list], |resolver, index, keys| {
            let (names, said) = read(&keys);
            for (place, name) in names.iter().enumerate() {
                let path = ["cloud", list, index, "at", &place.to_string()];
                for node in resolver.named_devices(&path, name, nodes, devices) {
                    if found.insert(node, said.clone()).is_some() {
                        resolver.report(&path, format!("{name:?} is named twice"), "each device once");
                        return None;
                    }
                }
            }
            Some(())
        });
        found
    }

    /// When programs of devices are killed. Each runs again before it is killed again.
    fn failures(
        &mut self,
        given: Option<&Later<Vec<Failure>>>,
        nodes: &Directory<'_>,
        devices: &BTreeSet<NodeId>,
    ) -> Vec<model::Failure> {
        let Some(given) = given else { return Vec::new() };
        let mut all: Vec<model::Failure> = Vec::new();
        self.each(given, &["cloud", "failures"], |resolver, index, keys| {
            let at = instant(keys.start);
            let until = keys.duration.map(|duration| at + Duration::from(duration));
            for (place, name) in keys.at.iter().enumerate() {
                let path = ["cloud", "failures", index, "at", &place.to_string()];
                for device in resolver.named_devices(&path, name, nodes, devices) {
                    let overlaps = |other: &model::Failure| {
                        other.device == device
                            && other.until.is_none_or(|end| at <= end)
                            && until.is_none_or(|end| other.at <= end)
                    };
                    if all.iter().any(overlaps) {
                        resolver.report(&path, format!("{name:?} is already down then"), "times that do not overlap");
                        return None;
                    }
                    all.push(model::Failure { device, at, until });
                }
            }
            Some(())
        });
        all.sort_by_key(|failure| (failure.at, failure.device));
        all
    }

    fn clips(
        &mut self,
        keys: &Cloud,
        nodes: &Directory<'_>,
        devices: &BTreeSet<NodeId>,
    ) -> (Vec<model::Clip>, Catalogue) {
        let Cloud { placement, prefetch, .. } = *keys;
        let prefetch = prefetch.map_or(prefetch::LEAST, Duration::from);
        let mut traces = Traces::new(self.source);
        let mut clips: Vec<model::Clip> = Vec::new();
        let mut catalogue = Catalogue::new();
        self.each(&keys.clips, &["cloud", "clips"], |resolver, index, clip| {
            let count = resolver.ledger.pick(&["cloud", "clips", index, "count"], clip.count, || (1, "default".into()));
            let names: Vec<String> = match clip.count {
                Some(count) => (0..count).map(|n| format!("{}{n}", clip.name)).collect(),
                None => vec![clip.name.clone()],
            };
            let first = clips.len();
            let mut at = BTreeSet::new();
            if clip.at.is_some() != (placement == ClipPlacement::Given) {
                let (problem, expected) = match placement {
                    ClipPlacement::Given => ("is missing", "the names of devices, or a rule as cloud.placement"),
                    _ => ("contradicts cloud.placement, which says where clips are", "cloud.placement = \"given\""),
                };
                resolver.report(&["cloud", "clips", index, "at"], problem, expected);
            }
            for (place, name) in clip.at.iter().flatten().enumerate() {
                let path = ["cloud", "clips", index, "at", &place.to_string()];
                at.extend(resolver.named_devices(&path, name, nodes, devices));
            }
            let at: Vec<NodeId> = at.into_iter().collect();
            let group = (clip.name.clone(), first..first + count as usize);
            let single = names.iter().cloned().zip((first..).map(|place| place..place + 1));
            for (name, places) in single.chain(clip.count.map(|_| group)) {
                if catalogue.insert(name.clone(), places).is_some() {
                    let problem = format!("there is already a clip {name:?}");
                    resolver.report(&["cloud", "clips", index, "name"], problem, "a different name for each clip");
                    return None;
                }
            }
            let (rate, variable) = match &clip.trace {
                None => (resolver.constant_rate(index, &clip)?, None),
                Some(trace) => {
                    let trace = resolver.trace_of(index, &clip, trace, &mut traces)?;
                    let (rate, varying) = resolver.variable_rate(index, &clip, &trace, prefetch);
                    (rate, Some(varying))
                }
            };
            let lower_rates: Vec<u32> = clip.lower_rates.iter().flatten().map(|rate| rate.0 as u32).collect();
            let path = ["cloud", "clips", index, "lower_rates"];
            if clip.block.is_some() && !lower_rates.is_empty() {
                resolver.report(&path, "has no effect on a clip in blocks", "no cloud.clips.block");
            }
            if !lower_rates.iter().chain([&rate]).is_sorted_by(|lower, higher| lower < higher) {
                let problem = format!("don't rise up to the rate of the clip ({})", Rate(rate.into()));
                resolver.report(&path, problem, "rates below cloud.clips.rate, the lowest first");
            } else if lower_rates.first().is_some_and(|&lowest| lowest < 1_000) {
                resolver.report(&path, "has a rate below 1 kb/s", "rates from 1 kb/s on");
            }
            let length = Duration::from(clip.length);
            let blocks = clip.block.map(|block| length.as_nanos().div_ceil(Duration::from(block).as_nanos().max(1)));
            let blocks = blocks.map(|count| Blocks { first: 0, count: u32::try_from(count).unwrap_or(u32::MAX) });
            let weight = |rank: u32| libm::pow(f64::from(rank), -clip.popularity);
            let all: f64 = (1..=count).map(weight).sum();
            clips.extend(names.into_iter().zip(1..).map(|(name, rank)| model::Clip {
                name,
                rate,
                index: variable.clone(),
                lower_rates: lower_rates.clone(),
                length,
                blocks,
                at: at.clone(),
                popularity: clip.popularity,
                share: weight(rank) / all,
            }));
            Some(())
        });
        let all: usize = clips.iter().filter_map(|clip| clip.blocks).map(|blocks| blocks.count as usize).sum();
        if all > MAX_BLOCKS {
            let problem = format!("have {all} blocks together");
            self.report(&["cloud", "clips"], problem, "at most 100000 blocks: fewer clips or longer blocks");
        }
        // Blocks have the numbers after those of clips.
        let mut first = clips.len() as u32;
        for blocks in clips.iter_mut().filter_map(|clip| clip.blocks.as_mut()) {
            blocks.first = first;
            first = first.saturating_add(blocks.count);
        }
        (clips, catalogue)
    }

    /// The rate of a clip without a trace, in b/s.
    fn constant_rate(&mut self, index: &str, clip: &Clip) -> Option<u32> {
        if clip.rate.is_none() {
            let path = ["cloud", "clips", index, "rate"];
            self.report(&path, "is missing", "a rate such as \"2 Mb/s\", or cloud.clips.trace = \"big-buck-bunny\"");
        }
        // A float to integer cast saturates, and the schema keeps rates below 1 Gb/s.
        clip.rate.map(|rate| rate.0 as u32)
    }

    /// The trace with this name, of a clip.
    fn trace_of(&mut self, index: &str, clip: &Clip, name: &str, traces: &mut Traces<'_>) -> Option<VideoTrace> {
        let at = |key| ["cloud", "clips", index, key];
        for (is_given, key) in [(clip.block.is_some(), "block"), (clip.lower_rates.is_some(), "lower_rates")] {
            if is_given {
                self.report(&at(key), "does not fit a clip whose rate varies", "no cloud.clips.trace");
            }
        }
        match traces.find(name) {
            Ok(trace) => Some(trace),
            Err((problem, expected)) => {
                self.report(&at("trace"), problem, expected);
                None
            }
        }
    }

    /// The mean rate of a clip with a trace in b/s, and how it varies.
    fn variable_rate(&mut self, index: &str, clip: &Clip, trace: &VideoTrace, prefetch: Duration) -> (u32, Arc<Index>) {
        // Wishes have lengths in whole milliseconds.
        let millis = (Duration::from(clip.length).as_nanos() / 1_000_000) as u32;
        let length = Duration::from_millis(millis.into());
        let rates = trace.rates(length);
        let seconds = |second: usize| (length.as_secs_f64() - second as f64).min(1.0);
        let bits: f64 = rates.iter().enumerate().map(|(second, rate)| rate * seconds(second)).sum();
        let mean = bits / length.as_secs_f64();
        let rate = clip.rate.map_or(mean, |rate| rate.0);
        if clip.rate.is_none() {
            let path = ["cloud", "clips", index, "rate"];
            self.ledger.note(&path, &Rate(libm::round(mean)).to_string(), "trace");
        }
        // A float to integer cast saturates.
        let rates: Vec<u32> = rates.into_iter().map(|found| libm::round(found * rate / mean) as u32).collect();
        (libm::round(rate) as u32, Arc::new(Index::new(rates.into(), millis, prefetch)))
    }

    fn requests(
        &mut self,
        given: &Later<Vec<Requests>>,
        nodes: &Directory<'_>,
        devices: &BTreeSet<NodeId>,
        stored: &[model::Clip],
        catalogue: &Catalogue,
    ) -> Vec<model::Requests> {
        self.each(given, &["cloud", "requests"], |resolver, index, keys| {
            let from = resolver.named_devices(&["cloud", "requests", index, "from"], &keys.from, nodes, devices);
            if keys.stop.is_some_and(|stop| stop.0 <= keys.start.0) {
                let problem = format!("is not after the start ({})", keys.start);
                resolver.report(&["cloud", "requests", index, "stop"], problem, "");
            }
            if keys.stop.is_some() && keys.every.is_none() {
                let problem = "has no effect on one request";
                resolver.report(&["cloud", "requests", index, "stop"], problem, "cloud.requests.every as well");
            }
            let Some(clips) = catalogue.get(&keys.clip) else {
                let known: Vec<&str> = catalogue.keys().map(String::as_str).collect();
                let problem =
                    format!("there is no clip {:?}{}", keys.clip, super::super::nearest::hint(&keys.clip, &known));
                resolver.report(
                    &["cloud", "requests", index, "clip"],
                    problem,
                    "the name of a clip or of a group of clips",
                );
                return None;
            };
            // A clip with an error has a place in the catalogue, but is not stored.
            let has_blocks =
                stored.get(clips.clone()).is_some_and(|clips| clips.iter().any(|clip| clip.blocks.is_some()));
            if keys.patience.0 > 0.0 && has_blocks {
                let problem = "has no effect on a clip in blocks: a block that no device has ends the display";
                resolver.report(&["cloud", "requests", index, "patience"], problem, "no cloud.clips.block");
            }
            Some(model::Requests {
                from,
                clips: clips.clone(),
                start: instant(keys.start),
                every: keys.every.map(Duration::from),
                stop: keys.stop.map(instant),
                patience: keys.patience.into(),
            })
        })
    }
}
