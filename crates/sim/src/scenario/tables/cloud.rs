//! A cloud of devices that store clips and stream them to each other: `cloud`.

use std::collections::{BTreeMap, BTreeSet};

use hopcast_protocols::streaming::admission::{Estimator, Policy};
use hopcast_protocols::streaming::{device, profile, reservation};
use hopcast_protocols::time::Duration;
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::declare::{computed, is, nothing};
use super::super::model;
use super::super::quantity::{Rate, Time};
use super::super::read::Later;
use super::directory::Directory;
use super::{Resolver, instant};
use crate::id::NodeId;

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
    /// Stalls per hour of display that a stream may have, with `admission = "statistical"`.
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
    #[schemars(extend("minimum" = 0.1, "maximum" = 60, "x-default" = nothing("as long as the profiles ask for, from 1 s to 60 s, with `admission = \"statistical\"`; otherwise 1 s", "")))]
    prefetch: Option<Time>,
    /// Highest rate at which a device sends a clip, as a multiple of the clip's rate: to fill the buffer.
    #[schemars(extend("minimum" = 1, "maximum" = 10, "x-default" = is(1.5, "a choice of hopcast")))]
    catch_up: f64,
    /// Time between two measurements of a device. Each sends two packets to the next neighbour in turn whose profile is older.
    #[schemars(extend("minimum" = 0.1, "maximum" = 3600, "x-default" = is("1 s", "")))]
    measurement_interval: Time,
    /// Age at which a sample of a profile counts half.
    #[schemars(extend("minimum" = 1, "maximum" = 1e6, "x-default" = is("60 s", "a choice of hopcast")))]
    half_life: Time,
    /// Clips that devices store.
    #[schemars(extend("minItems" = 1))]
    clips: Later<Vec<Clip>>,
    /// Requests of users.
    #[schemars(extend("minItems" = 1))]
    requests: Later<Vec<Requests>>,
}

/// A clip, or with `count` a group of clips, of constant rate.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Clip {
    /// Name of the clip; with `count`, the clips are name0, name1, …
    #[schemars(extend("x-name" = true))]
    name: String,
    /// Number of clips in the group.
    #[schemars(extend("minimum" = 1, "maximum" = 100_000, "x-default" = computed("one clip, whose name gets no number")))]
    count: Option<u32>,
    /// Rate of the media.
    #[schemars(extend("minimum" = 1_000, "maximum" = 1e9))]
    rate: Rate,
    /// Playing time.
    #[schemars(extend("minimum" = 1, "maximum" = 86_400))]
    length: Time,
    /// Names of the devices and groups that store the clip; of a group of clips, all of them.
    #[schemars(extend("minItems" = 1))]
    at: Vec<String>,
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
    /// As `airtime`; and the stream stalls less often than `stalls_per_hour`.
    Statistical,
}

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

alike!(Admission, Policy: All, Hops, Mean, Airtime, Statistical);
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
        let (clips, catalogue) = self.clips(&keys.clips, &nodes, &devices);
        let requests = self.requests(&keys.requests, &nodes, &devices, &catalogue);
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
                refresh: second * 5,
                expiry: second * 15,
                repeat: second,
            },
            prefetch: keys.prefetch.map(Duration::from),
            pace: keys.catch_up,
            sensing_hops: keys.sensing_hops,
            measurement: keys.measurement_interval.into(),
            profile: profile::Config { half_life: keys.half_life.into(), ..profile::Config::default() },
            gap,
        };
        Some(model::Cloud { devices: devices.into_iter().collect(), config, clips, requests })
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

    fn clips(
        &mut self,
        given: &Later<Vec<Clip>>,
        nodes: &Directory<'_>,
        devices: &BTreeSet<NodeId>,
    ) -> (Vec<model::Clip>, Catalogue) {
        let mut clips = Vec::new();
        let mut catalogue = Catalogue::new();
        self.each(given, &["cloud", "clips"], |resolver, index, clip| {
            let count = resolver.ledger.pick(&["cloud", "clips", index, "count"], clip.count, || (1, "default".into()));
            let names: Vec<String> = match clip.count {
                Some(count) => (0..count).map(|n| format!("{}{n}", clip.name)).collect(),
                None => vec![clip.name.clone()],
            };
            let first = clips.len();
            let mut at = BTreeSet::new();
            for (place, name) in clip.at.iter().enumerate() {
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
            // A float to integer cast saturates, and the schema keeps rates below 1 Gb/s.
            let rate = clip.rate.0 as u32;
            clips.extend(names.into_iter().map(|name| model::Clip {
                name,
                rate,
                length: clip.length.into(),
                at: at.clone(),
                popularity: clip.popularity,
            }));
            Some(())
        });
        (clips, catalogue)
    }

    fn requests(
        &mut self,
        given: &Later<Vec<Requests>>,
        nodes: &Directory<'_>,
        devices: &BTreeSet<NodeId>,
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
            Some(model::Requests {
                from,
                clips: clips.clone(),
                start: instant(keys.start),
                every: keys.every.map(Duration::from),
                stop: keys.stop.map(instant),
            })
        })
    }
}
