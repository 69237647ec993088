//! Aggregation: `radio.aggregation`.

use hopcast_radio::mac::{Aggregation as Limits, Agreements as Making};
use hopcast_radio::phy::Standard;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::Resolver;
use super::bytes;
use crate::scenario::declare::{computed, is};
use crate::scenario::quantity::{CountOrOff, Size, SizeOrOff, Time, TimeOrOff};

/// Aggregation of 802.11n and later.
#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Aggregation {
    /// Largest A-MPDU: MPDUs to one receiver that share a preamble and a block acknowledgment. No frame lasts longer than
    /// 5.484 ms, whatever its size.
    #[schemars(extend("minimum" = 1, "maximum" = 6_500_631, "x-default" = computed("the standard's: 65535 B for `802.11n`, 1048575 B for `802.11ac`, 6500631 B for `802.11ax`")))]
    pub(super) ampdu: Option<SizeOrOff>,
    /// Largest A-MSDU: packets to one receiver that share an MPDU.
    #[schemars(extend("minimum" = 1, "maximum" = 11_424, "x-default" = computed("`off`: a packet in each MPDU, as A-MPDUs lose less to an error")))]
    pub(super) amsdu: Option<SizeOrOff>,
    /// MPDUs that may be outstanding with a receiver: the window of block acknowledgments. `off`: each data frame has one MPDU,
    /// which an ACK answers.
    #[schemars(extend("minimum" = 1, "maximum" = 256, "x-default" = computed("64; 256 for `802.11ax`")))]
    pub(super) block_ack: Option<CountOrOff>,
    /// Time after which the station gives an MPDU up, from when it leaves the interface queue.
    #[schemars(extend("minimum" = 1e-3, "maximum" = 100, "x-default" = computed("512 ms, dot11EDCATableMSDULifetime (IEEE 802.11-2020, Annex C)")))]
    pub(super) lifetime: Option<TimeOrOff>,
    /// Number of attempts after which the station gives an MPDU up, though other MPDUs of the same frames arrived. Linux counts
    /// like this. `retry_limit` counts frames that nothing answers.
    #[schemars(extend("minimum" = 1, "maximum" = 255, "x-default" = is("off", "IEEE 802.11-2020, 10.25.6.5: the lifetime alone limits attempts")))]
    pub(super) attempts: Option<CountOrOff>,
    /// How agreements about block acknowledgments come into force.
    #[schemars(extend("x-default" = is("implicit", "for all stations and priorities from the start, so that results show aggregation alone")))]
    pub(super) agreements: Option<Agreements>,
    /// Time without data after which a negotiated agreement ends, in steps of 1.024 ms (Block Ack Timeout Value).
    #[schemars(extend("minimum" = 0.001_024, "maximum" = 67.107_84, "x-default" = is("off", "Linux's mac80211 sets no timeout")))]
    pub(super) inactivity: Option<TimeOrOff>,
}

/// How agreements about block acknowledgments come into force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Agreements {
    /// All are in force from the start, and no frame is sent for them.
    Implicit,
    /// Over the air: a station sends an ADDBA request with the first packet for a receiver and priority. Until it has the response,
    /// MPDUs go one at a time, each with an ACK. A DELBA ends an agreement.
    Negotiated,
}

/// A time unit of 802.11, in seconds (IEEE 802.11-2020, 3.1).
const TIME_UNIT: f64 = 0.001_024;

impl Resolver<'_> {
    /// What stations aggregate; `None` before 802.11n.
    pub(super) fn aggregation(&mut self, given: Aggregation, standard: Standard) -> Option<Limits> {
        let path = |key| ["radio", "aggregation", key];
        if !standard.has_shape() {
            for (key, is_given) in [
                ("ampdu", given.ampdu.is_some()),
                ("amsdu", given.amsdu.is_some()),
                ("block_ack", given.block_ack.is_some()),
                ("lifetime", given.lifetime.is_some()),
                ("attempts", given.attempts.is_some()),
                ("agreements", given.agreements.is_some()),
                ("inactivity", given.inactivity.is_some()),
            ] {
                if is_given {
                    let problem = format!("{standard} does not aggregate");
                    self.report(&path(key), problem, "standard = 802.11n, 802.11ac or 802.11ax");
                }
            }
            return None;
        }
        let most = Limits::of(standard);
        let block_ack = self.ledger.pick(&path("block_ack"), given.block_ack, || {
            (CountOrOff(Some(most.window)), format!("default: the largest window of {standard}"))
        });
        let has_agreements = block_ack.0.is_some();
        let window = block_ack.0.unwrap_or(1);
        if window > most.window {
            let problem = format!("{standard} has windows of at most {}", most.window);
            self.report(&path("block_ack"), problem, format!("1 to {}", most.window));
        }
        let ampdu = self.ledger.pick(&path("ampdu"), given.ampdu, || match has_agreements {
            true => (SizeOrOff(Some(Size::from(most.ampdu))), format!("default: the largest of {standard}")),
            false => (SizeOrOff(None), "default without block acknowledgments".into()),
        });
        if ampdu.0.is_some() && !has_agreements {
            self.report(&path("ampdu"), "needs block acknowledgments", "\"off\", or a block_ack");
        }
        let ampdu = ampdu.0.map_or(0, bytes);
        if ampdu > most.ampdu {
            let problem = format!("is more than the largest A-MPDU of {standard}");
            self.report(&path("ampdu"), problem, format!("at most {} B", most.ampdu));
        }
        let amsdu = self.ledger.pick(&path("amsdu"), given.amsdu, || {
            (SizeOrOff(None), "default: a packet in each MPDU, as A-MPDUs lose less to an error".into())
        });
        let amsdu = amsdu.0.map_or(0, bytes);
        let longest = Limits::longest_amsdu(standard, ampdu > 0);
        if amsdu > longest {
            let problem = match (standard, ampdu > 0) {
                (Standard::Ht, true) => "is more than an MPDU of 802.11n has within an A-MPDU".into(),
                _ => format!("is more than the largest A-MSDU of {standard}"),
            };
            self.report(&path("amsdu"), problem, format!("at most {longest} B"));
        }
        let lifetime = self.ledger.pick(&path("lifetime"), given.lifetime, || match has_agreements {
            true => (
                TimeOrOff::from(Some(Limits::DEFAULT_LIFETIME)),
                "default: dot11EDCATableMSDULifetime (IEEE 802.11-2020, Annex C)".into(),
            ),
            false => (TimeOrOff::from(None), "default without block acknowledgments: retry_limit counts".into()),
        });
        let attempts = self.ledger.pick(&path("attempts"), given.attempts, || {
            (CountOrOff(None), "default: the lifetime alone limits attempts (IEEE 802.11-2020, 10.25.6.5)".into())
        });
        let agreements = self.agreements(given, has_agreements);
        let (window, lifetime) = (window.min(most.window), lifetime.into());
        Some(Limits { ampdu, amsdu, window, lifetime, attempts: attempts.0, agreements })
    }

    /// How agreements come into force, and end.
    fn agreements(&mut self, given: Aggregation, has_agreements: bool) -> Making {
        let path = |key| ["radio", "aggregation", key];
        let agreements = self.ledger.pick(&path("agreements"), given.agreements, || {
            (Agreements::Implicit, "default: in force from the start, so that results show aggregation alone".into())
        });
        let is_negotiated = agreements == Agreements::Negotiated;
        if is_negotiated && !has_agreements {
            self.report(&path("agreements"), "needs block acknowledgments", "\"implicit\", or a block_ack");
        }
        let inactivity = self.ledger.pick(&path("inactivity"), given.inactivity, || {
            (TimeOrOff(None), "default: as in Linux's mac80211, which sets no timeout".into())
        });
        let seconds = inactivity.0.map_or(0.0, |time| time.0);
        let units = libm::round(seconds / TIME_UNIT);
        if inactivity.0.is_some() && !is_negotiated {
            let problem = "has no effect: agreements are in force throughout the run";
            self.report(&path("inactivity"), problem, "agreements = \"negotiated\"");
        } else if libm::fabs(units * TIME_UNIT - seconds) > 1e-9 {
            let expected = format!("a multiple of it, such as {}", Time(units.max(1.0) * TIME_UNIT));
            self.report(&path("inactivity"), "is not a whole number of time units of 1.024 ms", expected);
        }
        // A float to integer cast saturates.
        if is_negotiated { Making::Negotiated { inactivity: units as u16 } } else { Making::Implicit }
    }
}
