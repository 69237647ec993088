//! The interface queue: `radio.queue`.

use hopcast_protocols::time::Duration;
use hopcast_radio::mac::{Aggregation, Config};
use hopcast_radio::queue::{self, CoDelConfig, DualPi2Config, FqCoDelConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::{Resolver, word};
use super::bytes;
use crate::scenario::declare::{computed, is};
use crate::scenario::quantity::{Size, Time};

/// Source of the acceptable wait of CoDel.
const CODEL: &str = "default: TARGET (RFC 8289, section 4)";

/// An interface queue.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Queue {
    /// Number of packets that the queue holds.
    #[schemars(extend("minimum" = 1, "maximum" = 1_000_000, "x-default" = computed("50, as in ns-2 (ifqlen 50) and most published studies; with aggregation twice `aggregation.block_ack`, so that a whole aggregate waits while one is on the air")))]
    pub(super) packets: Option<u32>,
    /// Queue discipline: the packet that is dropped, and when.
    #[schemars(extend("x-default" = is("drop-tail", "the discipline of most published studies")))]
    discipline: Discipline,
    /// Whether the queue marks packets that can be marked (ECN, RFC 3168) instead of dropping them, for `codel` and `fq-codel`.
    /// With `drop-tail`, packets that have waited for `target` are marked. `dualpi2` always marks.
    #[schemars(extend("x-default" = is(false, "a queue that only drops")))]
    ecn: bool,
    /// Acceptable wait in the queue, for `codel`, `fq-codel`, `dualpi2`, and `drop-tail` with `ecn`.
    #[schemars(extend("minimum" = 1e-6, "maximum" = 10, "x-default" = computed("5 ms: TARGET (RFC 8289, section 4); 15 ms for `dualpi2` (RFC 9332, appendix A.1)")))]
    target: Option<Time>,
    /// Time for which packets must have waited longer than `target` before the queue drops one, for `codel` and
    /// `fq-codel`.
    #[schemars(extend("minimum" = 1e-6, "maximum" = 100, "x-default" = is("100 ms", "INTERVAL (RFC 8289, section 4)")))]
    interval: Option<Time>,
    /// Amount that each flow may send in its turn, IP headers included, for `fq-codel`.
    #[schemars(extend("minimum" = 1, "maximum" = 1_000_000, "x-default" = is("1514 B", "quantum (RFC 8290, section 5.2)")))]
    quantum: Option<Size>,
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
    /// Two queues with coupled marking, RFC 9332: one for scalable transports (L4S), which is served first, one for all others.
    Dualpi2,
}

impl Resolver<'_> {
    /// The number of packets that an interface queue holds.
    pub(super) fn queue_packets(&mut self, queue: &Queue, aggregation: Option<Aggregation>) -> u32 {
        self.ledger.layered(&["radio", "queue", "packets"], queue.packets, || match aggregation {
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
    pub(super) fn queue_discipline(&mut self, queue: &Queue, mtu: Option<u32>) -> queue::Discipline {
        let (controlled, fair) = match queue.discipline {
            Discipline::DropTail | Discipline::Priority | Discipline::Dualpi2 => (false, false),
            Discipline::Codel => (true, false),
            Discipline::FqCodel => (true, true),
        };
        let is_dual = matches!(queue.discipline, Discipline::Dualpi2);
        let steps = queue.ecn && matches!(queue.discipline, Discipline::DropTail);
        if queue.ecn && matches!(queue.discipline, Discipline::Priority) {
            let problem = "is not possible with \"priority\"";
            self.report(&["radio", "queue", "ecn"], problem, "discipline = \"drop-tail\", \"codel\" or \"fq-codel\"");
        }
        for (key, is_given, in_use, of) in [
            (
                "target",
                queue.target.is_some(),
                controlled || steps || is_dual,
                "\"codel\", \"fq-codel\" or \"dualpi2\", or ecn",
            ),
            ("interval", queue.interval.is_some(), controlled, "\"codel\" or \"fq-codel\""),
            ("quantum", queue.quantum.is_some(), fair, "\"fq-codel\""),
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
            Discipline::Dualpi2 => {
                let source = "default: RFC 9332, appendix A.1";
                let target = self.target(queue, DualPi2Config::default().target, source);
                queue::Discipline::DualPi2(DualPi2Config { target: target.into() })
            }
            Discipline::Codel => queue::Discipline::CoDel(self.controlled_delay(queue, mtu)),
            Discipline::FqCodel => {
                let codel = self.controlled_delay(queue, mtu);
                let quantum: Size = self.ledger.read(&["radio", "queue", "quantum"]);
                queue::Discipline::FqCoDel(FqCoDelConfig { codel, quantum: bytes(quantum), ..FqCoDelConfig::default() })
            }
        }
    }

    /// The acceptable wait, or this default with its source.
    fn target(&mut self, queue: &Queue, default: Duration, source: &str) -> Time {
        let given = queue.target;
        self.ledger.pick(&["radio", "queue", "target"], given, || (Time(default.as_secs_f64()), source.into()))
    }

    fn controlled_delay(&mut self, queue: &Queue, mtu: Option<u32>) -> CoDelConfig {
        let target = self.target(queue, CoDelConfig::default().target, CODEL);
        let interval: Time = self.ledger.read(&["radio", "queue", "interval"]);
        if target.0 >= interval.0 {
            let problem = format!("is not less than interval ({interval})");
            self.report(&["radio", "queue", "target"], problem, "about a twentieth of interval (RFC 8289, section 4)");
        }
        let mtu = mtu.unwrap_or_else(|| CoDelConfig::default().mtu);
        CoDelConfig { target: target.into(), interval: interval.into(), mtu, ecn: queue.ecn }
    }
}
