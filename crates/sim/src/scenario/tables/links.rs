//! Wired links: `links`.

use std::collections::BTreeMap;

use hopcast_protocols::time::Duration;
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::declare::{computed, nothing};
use super::super::model;
use super::super::quantity::{Rates, Shares, Times};
use super::super::read::Later;
use super::Resolver;
use super::directory::Directory;
use super::way::{Direction, Otherwise, Queue, Trace, Way};
use crate::id::NodeId;
use crate::wired::{Capacity, SLOT_BITS, Steps};

/// A wire between two nodes. Both directions have the same properties, except for what `back` gives.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Link {
    /// Names of the two nodes that the wire connects.
    #[schemars(extend("minItems" = 2, "maxItems" = 2))]
    between: Vec<String>,
    /// Whether the directions are apart, or share the cable by CSMA/CD, as half-duplex Ethernet does.
    #[schemars(extend("x-default" = computed("full; half for the links of a hub")))]
    duplex: Option<Duplex>,
    /// Capacity in each direction, in bits of IP packets per second, or a list of `[time, rate]`, each in force from its time on. Of a
    /// half-duplex link: bits of Ethernet per second, at most 100 Mb/s.
    #[schemars(extend("minimum" = 1, "maximum" = 1e12, "x-default" = computed("required, unless `trace` gives it")))]
    rate: Option<Rates>,
    /// Propagation delay of the wire, or a list of `[time, delay]`.
    #[schemars(extend("minimum" = 0, "maximum" = 86_400, "x-default" = computed("0 s: none, unless `trace` gives it")))]
    delay: Option<Times>,
    /// Queue of each direction.
    queue: Queue,
    /// Share of packets that the wire loses in each direction, or a list of `[time, share]`.
    #[schemars(extend("x-default" = computed("0: none, unless `trace` gives it")))]
    loss: Option<Shares>,
    /// File that says how the capacity, the delay or the loss changes in time.
    #[schemars(extend("x-default" = nothing("none", "")))]
    trace: Option<Trace>,
    /// What differs in the direction from the second node to the first.
    #[schemars(extend("x-default" = nothing("nothing", "both directions are the same")))]
    back: Option<Direction>,
}

/// Whether a link can carry packets in both directions at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, serde::Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Duplex {
    /// Each direction has a transmitter and a cable.
    Full,
    /// Both directions share one cable by CSMA/CD (IEEE 802.3).
    Half,
}

/// Largest rate of a half-duplex link: beyond it, slots are longer.
const HALF_DUPLEX_MAX_BPS: f64 = 100e6;

impl Resolver<'_> {
    /// The links whose ends are known. Reports what is wrong with the others.
    pub(super) fn links(&mut self, links: &Later<Vec<Link>>, groups: &[model::Group]) -> Vec<model::WiredLink> {
        let nodes = Directory::new(groups);
        let mut hubs = BTreeMap::new();
        self.each(links, &["links"], |resolver, index, link| resolver.link(index, &link, &nodes, &mut hubs))
    }

    /// `hubs` has the rate and the delay of the first and the longest links of each hub so far.
    fn link(
        &mut self,
        index: &str,
        link: &Link,
        nodes: &Directory<'_>,
        hubs: &mut BTreeMap<NodeId, Hub>,
    ) -> Option<model::WiredLink> {
        let mut ends = Vec::new();
        for (name, place) in link.between.iter().zip(["0", "1"]) {
            match nodes.find(name) {
                Some(node) => ends.push(node),
                None => {
                    let (problem, expected) = nodes.why_unknown(name);
                    self.report(&["links", index, "between", place], problem, expected);
                }
            }
        }
        let way = Way {
            rate: link.rate.clone(),
            delay: link.delay.clone(),
            loss: link.loss.clone(),
            trace: link.trace.clone(),
        };
        let otherwise = Otherwise {
            capacity: None,
            delay: Steps::constant(Duration::ZERO),
            loss: Steps::constant(0.0),
            told: ["", "0 s", "0"],
            source: "default: none",
        };
        let queue = self.wire_queue(&["links", index], &link.queue);
        let forth = self.way(&["links", index], &way, queue, otherwise);
        let (mtu, source) = self.ledger.layer.wired_mtu;
        let told = mtu.map_or("none".into(), |mtu| format!("{mtu} B"));
        self.ledger.note(&["links", index, "mtu"], &told, source);
        let &[a, b] = ends.as_slice() else { return None };
        if a == b {
            self.report(&["links", index, "between"], "names one node twice", "two different nodes");
            return None;
        }
        let forth = forth?;
        let back = match &link.back {
            None => forth.clone(),
            Some(back) => self.direction(&["links", index, "back"], back, &forth)?,
        };
        let mut configs = [forth, back];
        let hub = [a, b].into_iter().position(|end| nodes.group(end).is_hub);
        let duplex = self.ledger.pick(&["links", index, "duplex"], link.duplex, || match hub {
            None => (Duplex::Full, "default: each direction has its cable".into()),
            Some(_) => (Duplex::Half, "role hub".into()),
        });
        let half_duplex = match duplex {
            Duplex::Full if hub.is_some() => {
                self.report(&["links", index, "duplex"], "is not possible for the link of a hub", "\"half\"");
                return None;
            }
            Duplex::Full => None,
            Duplex::Half => Some(self.half_duplex(index, link)?),
        };
        if let (Some(end), Some(half)) = (hub, half_duplex) {
            let other = [a, b][1 - end];
            if nodes.group(other).is_hub {
                self.report(&["links", index, "between"], "joins two hubs", "one hub, with the links of both");
                return None;
            }
            // A hub repeats what it hears: the medium has already carried it.
            configs[end].capacity = Capacity::unlimited();
            self.check_hub_link(index, half, hubs.entry([a, b][end]).or_default())?;
        }
        Some(model::WiredLink { between: [a, b], configs, mtu, half_duplex })
    }

    /// The cable of a half-duplex link. Reports what a shared cable can't have.
    fn half_duplex(&mut self, index: &str, link: &Link) -> Option<model::HalfDuplex> {
        let back = link.back.as_ref();
        let steps = "one value: a shared cable does not change";
        let problems = [
            (&["links", index, "trace"][..], link.trace.is_some(), "does not fit half duplex", steps),
            (&["links", index, "rate"], link.rate.as_ref().is_some_and(|rate| rate.0.len() > 1), "is a list", steps),
            (
                &["links", index, "delay"],
                link.delay.as_ref().is_some_and(|delay| delay.0.len() > 1),
                "is a list",
                steps,
            ),
            (
                &["links", index, "back"],
                back.is_some_and(Direction::has_capacity_or_delay),
                "has a rate, a delay or a trace, but both directions share the cable",
                "queue and loss only, or duplex = \"full\"",
            ),
        ];
        let wrong: Vec<_> = problems.into_iter().filter(|&(_, is_wrong, ..)| is_wrong).collect();
        for (path, _, problem, expected) in &wrong {
            self.report(path, *problem, *expected);
        }
        let rate = link.rate.as_ref()?.0.first()?.1.0;
        if rate > HALF_DUPLEX_MAX_BPS {
            let problem = "is too fast for half duplex";
            self.report(&["links", index, "rate"], problem, "at most \"100 Mb/s\", or duplex = \"full\"");
            return None;
        }
        let delay =
            link.delay.as_ref().and_then(|delay| delay.0.first()).map_or(Duration::ZERO, |&(_, delay)| delay.into());
        wrong.is_empty().then_some(())?;
        self.check_span(index, rate, delay)?;
        Some(model::HalfDuplex { rate, delay })
    }

    /// Whether the links of a hub go together: at one rate, and none so long that a collision would come after a slot.
    fn check_hub_link(&mut self, index: &str, half: model::HalfDuplex, hub: &mut Hub) -> Option<()> {
        let rate = *hub.rate.get_or_insert(half.rate);
        if rate != half.rate {
            let expected = format!("{rate} b/s, as the other links of this hub");
            self.report(&["links", index, "rate"], "differs from that of another link of the hub", expected);
            return None;
        }
        let span = hub.longest.map(|longest| half.delay + longest);
        hub.longest = hub.longest.max(Some(half.delay));
        span.map_or(Some(()), |span| self.check_span(index, rate, span))
    }

    /// Reports a cable whose ends are so far apart that one could have sent a slot before it hears of a collision.
    fn check_span(&mut self, index: &str, rate: f64, delay: Duration) -> Option<()> {
        let slot = Duration::from_secs_f64(f64::from(SLOT_BITS) / rate);
        if delay + delay < slot {
            return Some(());
        }
        let problem = format!("puts two ends {delay} apart, too far for half duplex");
        let expected = format!("less than half a slot of {SLOT_BITS} bits, {slot}, between any two ends");
        self.report(&["links", index, "delay"], problem, expected);
        None
    }
}

/// What is known of a hub's links.
#[derive(Default)]
struct Hub {
    rate: Option<f64>,
    longest: Option<Duration>,
}
