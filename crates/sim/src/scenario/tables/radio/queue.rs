//! The interface queue: `radio.queue`.

use hopcast_protocols::time::Duration;
use hopcast_radio::mac::{Aggregation, Config};
use hopcast_radio::queue::{self, CoDelConfig, DualPi2Config, FqCoDelConfig, Mac80211Config, PieConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::{Resolver, bytes, word};
use crate::scenario::declare::{computed, is};
use crate::scenario::quantity::{Size, Time};

/// Source of the acceptable wait of CoDel.
const CODEL: &str = "default: TARGET (RFC 8289, section 4)";

/// Packets that mac80211's queues hold (the limit of fq_init).
const MAC80211_PACKETS: u32 = 8192;

/// An interface queue.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Queue {
    /// Number of packets that the queue holds.
    #[schemars(extend("minimum" = 1, "maximum" = 1_000_000, "x-default" = computed("50, as in ns-2 (ifqlen 50) and most published studies; with aggregation twice `aggregation.block_ack`, so that a whole aggregate waits while one is on the air; 8192 for `mac80211`, for each access category (fq_init of Linux)")))]
    pub(super) packets: Option<u32>,
    /// Queue discipline: the packet that is dropped, and when.
    #[schemars(extend("x-default" = is("drop-tail", "the discipline of most published studies")))]
    discipline: Discipline,
    /// Whether the queue marks packets that can be marked (ECN, RFC 3168) instead of dropping them, for `codel`, `fq-codel` and
    /// `pie`. With `drop-tail`, packets that have waited for `target` are marked. `dualpi2` and `mac80211` always mark.
    #[schemars(extend("x-default" = is(false, "a queue that only drops")))]
    ecn: bool,
    /// Acceptable wait in the queue, for all disciplines but `priority`, and for `drop-tail` with `ecn`.
    #[schemars(extend("minimum" = 1e-6, "maximum" = 10, "x-default" = computed("5 ms: TARGET (RFC 8289, section 4); 15 ms for `pie` (RFC 8033, section 4.2) and `dualpi2` (RFC 9332, appendix A.1); 20 ms for `mac80211` (ieee80211_txq_setup_flows of Linux)")))]
    target: Option<Time>,
    /// Time for which packets must have waited longer than `target` before the queue drops one, for `codel`, `fq-codel` and
    /// `mac80211`.
    #[schemars(extend("minimum" = 1e-6, "maximum" = 100, "x-default" = is("100 ms", "INTERVAL (RFC 8289, section 4)")))]
    interval: Option<Time>,
    /// Amount that each flow may send in its turn, IP headers included, for `fq-codel` and `mac80211`.
    #[schemars(extend("minimum" = 1, "maximum" = 1_000_000, "x-default" = computed("1514 B: quantum (RFC 8290, section 5.2); 300 B for `mac80211` (fq_init of Linux)")))]
    quantum: Option<Size>,
    /// Number of packets that the driver takes out of the queue and holds in a FIFO for each receiver and priority, for all disciplines but
    /// `mac80211`; with EDCA, for each access category. FIFOs take turns by frames, with all that is aggregated in them. 123 is what ath9k
    /// held before it had mac80211's queues (ATH_MAX_QDEPTH).
    #[schemars(extend("minimum" = 0, "maximum" = 1_000_000, "x-default" = is(0, "the medium access takes packets out of the queue itself")))]
    pub(super) driver_packets: u32,
    /// Whether receivers take turns by their airtime, for `mac80211`. `false`: by aggregates, one each, as ath9k did before commit 63fefa050477.
    #[schemars(extend("x-default" = computed("true: airtime fairness of Linux (ath9k since commit 63fefa050477)")))]
    airtime_fairness: Option<bool>,
    /// Whether the airtime that waits in the hardware for a receiver is limited (AQL), for `mac80211`.
    #[schemars(extend("x-default" = computed("true: airtime queue limits of Linux")))]
    airtime_limit: Option<bool>,
}

/// Queue discipline.
#[derive(Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Discipline {
    /// A packet that finds the queue full is dropped.
    DropTail,
    /// `PriQueue` of ns-2.35: messages of routing protocols go before all others, the newest first; a full queue drops
    /// its last packet.
    Priority,
    /// Controlled delay, RFC 8289: the queue also drops its oldest packet while packets wait too long.
    Codel,
    /// Flow queues with controlled delay, RFC 8290: flows take turns, and each queue is kept short.
    FqCodel,
    /// Proportional integral controller, RFC 8033: packets are dropped as they come, with a probability that follows the wait.
    Pie,
    /// Two queues with coupled marking, RFC 9332: one for scalable transports (L4S), which is served first, one for all others.
    Dualpi2,
    /// Fair queues as in Linux's mac80211: flow queues with controlled delay for each receiver, and receivers take turns by their
    /// airtime.
    Mac80211,
}

impl Resolver<'_> {
    /// The number of packets that an interface queue holds.
    pub(super) fn queue_packets(&mut self, queue: &Queue, aggregation: Option<Aggregation>) -> u32 {
        let is_fair = matches!(queue.discipline, Discipline::Mac80211);
        self.ledger.layered(&["radio", "queue", "packets"], queue.packets, || match aggregation {
            _ if is_fair => (MAC80211_PACKETS, "default: fq_init of Linux's mac80211".into()),
            Some(limits) if limits.window > 1 => (
                2 * limits.window,
                "default: two windows of block acknowledgments: one on the air, one that waits".into(),
            ),
            _ => {
                let source = "default: ns-2 (ifqlen 50), the value of most published studies";
                (Config::DEFAULT_QUEUE_PACKETS, source.into())
            }
        })
    }

    /// The queue discipline; `mtu` in bytes, if there is one.
    pub(super) fn queue_discipline(
        &mut self,
        queue: &Queue,
        mtu: Option<u32>,
        aggregation: Option<Aggregation>,
    ) -> queue::Discipline {
        let (controlled, fair) = match queue.discipline {
            Discipline::DropTail | Discipline::Priority | Discipline::Pie | Discipline::Dualpi2 => (false, false),
            Discipline::Codel => (true, false),
            Discipline::FqCodel | Discipline::Mac80211 => (true, true),
        };
        let is_proportional = matches!(queue.discipline, Discipline::Pie | Discipline::Dualpi2);
        let by_airtime = matches!(queue.discipline, Discipline::Mac80211);
        let steps = queue.ecn && matches!(queue.discipline, Discipline::DropTail);
        if queue.ecn && matches!(queue.discipline, Discipline::Priority) {
            let problem = "is not possible with \"priority\"";
            self.report(&["radio", "queue", "ecn"], problem, "another discipline");
        }
        if queue.driver_packets > 0 && by_airtime {
            let problem = "is not possible with \"mac80211\"";
            self.report(&["radio", "queue", "driver_packets"], problem, "another discipline");
        }
        for (key, is_given, in_use, of) in [
            (
                "target",
                queue.target.is_some(),
                controlled || steps || is_proportional,
                "\"codel\", \"fq-codel\", \"pie\", \"dualpi2\" or \"mac80211\", or ecn",
            ),
            ("interval", queue.interval.is_some(), controlled, "\"codel\", \"fq-codel\" or \"mac80211\""),
            ("quantum", queue.quantum.is_some(), fair, "\"fq-codel\" or \"mac80211\""),
            ("airtime_fairness", queue.airtime_fairness.is_some(), by_airtime, "\"mac80211\""),
            ("airtime_limit", queue.airtime_limit.is_some(), by_airtime, "\"mac80211\""),
        ] {
            if is_given && !in_use {
                let problem = format!("is not a parameter of {}", word(&queue.discipline));
                self.report(&["radio", "queue", key], problem, format!("discipline = {of}"));
            }
        }
        match queue.discipline {
            Discipline::DropTail if steps => {
                queue::Discipline::Step(self.target(queue, CoDelConfig::default().target, CODEL).into())
            }
            Discipline::DropTail => queue::Discipline::DropTail,
            Discipline::Priority => queue::Discipline::Priority,
            Discipline::Pie => {
                let default = PieConfig::default();
                let target = self.target(queue, default.target, "default: RFC 8033, section 4.2");
                queue::Discipline::Pie(PieConfig { target: target.into(), ecn: queue.ecn, ..default })
            }
            Discipline::Dualpi2 => {
                let source = "default: RFC 9332, appendix A.1";
                let target = self.target(queue, DualPi2Config::default().target, source);
                queue::Discipline::DualPi2(DualPi2Config { target: target.into() })
            }
            Discipline::Codel => queue::Discipline::CoDel(self.controlled_delay(queue, mtu)),
            Discipline::FqCodel => {
                let default = FqCoDelConfig::default();
                let codel = self.controlled_delay(queue, mtu);
                let quantum = self.quantum(queue, default.quantum, "default: quantum (RFC 8290, section 5.2)");
                queue::Discipline::FqCoDel(FqCoDelConfig { codel, quantum, ..default })
            }
            Discipline::Mac80211 => {
                let default = Mac80211Config::default();
                let source = "default: ieee80211_txq_setup_flows of Linux's mac80211";
                let (target, interval) = self.target_and_interval(queue, default.codel.target, source);
                let codel = CoDelConfig { target: target.into(), interval: interval.into(), ..default.codel };
                let quantum = self.quantum(queue, default.quantum, "default: fq_init of Linux's mac80211");
                let (fairness, limit) = (queue.airtime_fairness, queue.airtime_limit);
                let airtime_fairness = self.ledger.pick(&["radio", "queue", "airtime_fairness"], fairness, || {
                    (default.airtime_fairness, "default: airtime fairness of Linux's mac80211".into())
                });
                let airtime_limit = self.ledger.pick(&["radio", "queue", "airtime_limit"], limit, || {
                    (default.airtime_limit, "default: airtime queue limits of Linux's mac80211".into())
                });
                let config = Mac80211Config { codel, quantum, airtime_fairness, airtime_limit, ..default };
                queue::Discipline::Mac80211(match aggregation {
                    Some(limits) if limits.window > 1 => config.with_window(limits.window),
                    _ => config.without_aggregation(),
                })
            }
        }
    }

    /// The acceptable wait, or this default with its source.
    fn target(&mut self, queue: &Queue, default: Duration, source: &str) -> Time {
        let given = queue.target;
        self.ledger.pick(&["radio", "queue", "target"], given, || (Time(default.as_secs_f64()), source.into()))
    }

    fn quantum(&mut self, queue: &Queue, default: u32, source: &str) -> u32 {
        let given = queue.quantum;
        let quantum = self.ledger.pick(&["radio", "queue", "quantum"], given, || (Size(default.into()), source.into()));
        bytes(quantum)
    }

    fn controlled_delay(&mut self, queue: &Queue, mtu: Option<u32>) -> CoDelConfig {
        let (target, interval) = self.target_and_interval(queue, CoDelConfig::default().target, CODEL);
        let mtu = mtu.unwrap_or_else(|| CoDelConfig::default().mtu);
        CoDelConfig { target: target.into(), interval: interval.into(), mtu, ecn: queue.ecn }
    }

    /// The wait and the interval of CoDel, which fit together.
    fn target_and_interval(&mut self, queue: &Queue, default: Duration, source: &str) -> (Time, Time) {
        let target = self.target(queue, default, source);
        let interval: Time = self.ledger.read(&["radio", "queue", "interval"]);
        if target.0 >= interval.0 {
            let problem = format!("is not less than interval ({interval})");
            self.report(&["radio", "queue", "target"], problem, "about a twentieth of interval (RFC 8289, section 4)");
        }
        (target, interval)
    }
}
