//! Wired links.

use hopcast_protocols::time::Duration;

use super::super::model;
use super::super::quantity::{Size, Time};
use super::super::schema::Link;
use super::flows::Directory;
use super::{Resolver, exact, show};
use crate::wired;

impl Resolver<'_> {
    /// Those whose ends are known; what is wrong with the others is reported.
    pub(super) fn links(&mut self, links: &[Link], groups: &[model::Group]) -> Vec<model::WiredLink> {
        let nodes = Directory::new(groups);
        let link = |(place, link): (usize, &Link)| self.link(&place.to_string(), link, &nodes);
        links.iter().enumerate().filter_map(link).collect()
    }

    fn link(&mut self, index: &str, link: &Link, nodes: &Directory<'_>) -> Option<model::WiredLink> {
        let at = |key| ["links", index, key];
        self.ledger.note_given(&at("between"));
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
        self.ledger.note_given(&at("rate"));
        let delay = self.ledger.pick(&at("delay"), link.delay, show, || (Time(0.0), "default: none".into()));
        let packets = self.ledger.pick(
            &["links", index, "queue", "packets"],
            link.queue.and_then(|queue| queue.packets),
            show,
            || (50, "default: as in ns-2 (Queue limit_ 50)".into()),
        );
        let loss = self.ledger.pick(&at("loss"), link.loss, show, || (0.0, "default: none".into()));
        let (mtu, source) = self.ledger.layer.wired_mtu;
        let told = mtu.map_or("none".into(), |mtu| exact(&Size(f64::from(mtu))));
        self.ledger.note(&at("mtu"), &told, source);
        let &[a, b] = ends.as_slice() else { return None };
        if a == b {
            self.report(&at("between"), "has one node twice", "two nodes");
            return None;
        }
        let config =
            wired::Config { rate: link.rate.0, delay: Duration::from_secs_f64(delay.0), queue_packets: packets, loss };
        Some(model::WiredLink { between: [a, b], config, mtu })
    }
}
