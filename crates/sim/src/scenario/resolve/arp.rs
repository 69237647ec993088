//! Address resolution of a group of nodes.

use hopcast_protocols::arp::Config;
use hopcast_protocols::time::Duration;

use super::super::model;
use super::super::quantity::{Time, TimeOrOff};
use super::super::schema::{Arp, ArpProfile};
use super::{Resolver, show, word};

impl Resolver<'_> {
    pub(super) fn arp(&mut self, index: &str, given: Option<Arp>, role: model::Role) -> Option<Config> {
        let path = ["nodes", index, "arp"];
        let Some(given) = given else {
            self.ledger.note(&path, "none", "default: hardware addresses are known from the start");
            return None;
        };
        match role {
            model::Role::AdHoc => {}
            model::Role::Wired => {
                self.report(&path, "says nothing: a node of role wired has no radio", "another role");
            }
            model::Role::AccessPoint | model::Role::Station => {
                let problem = "would send requests to all, which access points are not modelled to pass on";
                self.report(&path, problem, "role = \"ad-hoc\"");
            }
        }
        let at = |key| ["nodes", index, "arp", key];
        let name = self
            .ledger
            .layered(&at("profile"), given.profile, word, || (ArpProfile::Rfc1122, "default: the standard".into()));
        let (default, [said, unsaid]) = match name {
            ArpProfile::Rfc1122 => {
                (Config::RFC_1122, ["default: RFC 1122, section 2.3.2", "default: as Linux; RFC 1122 does not say"])
            }
            ArpProfile::Ns2 => (Config::NS_2, ["default: as ns-2.35"; 2]),
        };
        let shown = |time: Option<Duration>| TimeOrOff(time.map(|time| Time(time.as_nanos() as f64 / 1e9)));
        let meant = |time: TimeOrOff| time.0.map(|time| Duration::from_secs_f64(time.0));
        let timeout = self.ledger.pick(&at("timeout"), given.timeout, show, || (shown(default.timeout), said.into()));
        let request_interval = self.ledger.pick(&at("request_interval"), given.request_interval, show, || {
            (shown(default.request_interval), said.into())
        });
        let requests = self.ledger.pick(&at("requests"), given.requests, show, || (default.requests, unsaid.into()));
        let queue = self.ledger.pick(&at("queue"), given.queue, show, || (default.queue_packets as u32, unsaid.into()));
        Some(Config {
            timeout: meant(timeout),
            request_interval: meant(request_interval),
            requests,
            queue_packets: queue as usize,
            ..default
        })
    }
}
