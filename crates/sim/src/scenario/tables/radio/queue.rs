//! The interface queue: `radio.queue`.

use hopcast_radio::mac::Config;
use hopcast_radio::queue::{self, CoDelConfig, FqCoDelConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::{Resolver, word};
use super::bytes;
use crate::scenario::declare::is;
use crate::scenario::quantity::{Size, Time};

/// An interface queue.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Queue {
    /// Places.
    #[schemars(extend("minimum" = 1, "maximum" = 1_000_000, "x-default" = is(Config::DEFAULT_QUEUE_PACKETS, "as in ns-2 (ifqlen 50), which most published studies kept")))]
    pub(super) packets: u32,
    /// What is dropped, and when.
    #[schemars(extend("x-default" = is("drop-tail", "what most published studies had")))]
    discipline: Discipline,
    /// Of `codel` and `fq-codel`: the wait in the queue that is acceptable.
    #[schemars(extend("minimum" = 1e-6, "maximum" = 10, "x-default" = is("5 ms", "TARGET (RFC 8289, section 4)")))]
    target: Option<Time>,
    /// Of `codel` and `fq-codel`: for how long packets must have waited for more than `target` before one is dropped.
    #[schemars(extend("minimum" = 1e-6, "maximum" = 100, "x-default" = is("100 ms", "INTERVAL (RFC 8289, section 4)")))]
    interval: Option<Time>,
    /// Of `fq-codel`: what each flow may send in its turn, IP headers included.
    #[schemars(extend("minimum" = 1, "maximum" = 1_000_000, "x-default" = is("1514 B", "quantum (RFC 8290, section 5.2)")))]
    quantum: Option<Size>,
}

/// How an interface queue is managed.
#[derive(Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Discipline {
    /// What finds the queue full.
    DropTail,
    /// As ns-2.35's `PriQueue`: messages of routing protocols go before all others, the newest first; of a full queue the last.
    Priority,
    /// Controlled delay, RFC 8289: also the oldest, while packets wait for too long.
    Codel,
    /// Flow queues under controlled delay, RFC 8290: flows take turns, and each is kept short.
    FqCodel,
}

impl Resolver<'_> {
    /// How the interface queue is managed; `mtu` in bytes, if there is one.
    pub(super) fn queue_discipline(&mut self, queue: &Queue, mtu: Option<u32>) -> queue::Discipline {
        let (controlled, fair) = match queue.discipline {
            Discipline::DropTail | Discipline::Priority => (false, false),
            Discipline::Codel => (true, false),
            Discipline::FqCodel => (true, true),
        };
        for (key, is_given, in_use, of) in [
            ("target", queue.target.is_some(), controlled, "\"codel\" or \"fq-codel\""),
            ("interval", queue.interval.is_some(), controlled, "\"codel\" or \"fq-codel\""),
            ("quantum", queue.quantum.is_some(), fair, "\"fq-codel\""),
        ] {
            if is_given && !in_use {
                let problem = format!("is no parameter of {}", word(&queue.discipline));
                self.report(&["radio", "queue", key], problem, format!("discipline = {of}"));
            }
        }
        match queue.discipline {
            Discipline::DropTail => queue::Discipline::DropTail,
            Discipline::Priority => queue::Discipline::Priority,
            Discipline::Codel => queue::Discipline::CoDel(self.controlled_delay(mtu)),
            Discipline::FqCodel => {
                let codel = self.controlled_delay(mtu);
                let quantum: Size = self.ledger.read(&["radio", "queue", "quantum"]);
                queue::Discipline::FqCoDel(FqCoDelConfig { codel, quantum: bytes(quantum), ..FqCoDelConfig::default() })
            }
        }
    }

    fn controlled_delay(&mut self, mtu: Option<u32>) -> CoDelConfig {
        let [target, interval]: [Time; 2] =
            ["target", "interval"].map(|key| self.ledger.read(&["radio", "queue", key]));
        if target.0 >= interval.0 {
            let problem = format!("is not less than interval ({interval})");
            self.report(&["radio", "queue", "target"], problem, "about a twentieth of it (RFC 8289, section 4)");
        }
        let mtu = mtu.unwrap_or_else(|| CoDelConfig::default().mtu);
        CoDelConfig { target: target.into(), interval: interval.into(), mtu }
    }
}
