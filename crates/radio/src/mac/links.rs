//! What a station has sent to each receiver, as a station dump of Linux tells it (`nl80211`).

use hopcast_protocols::time::Duration;

use crate::frame::StationId;

/// What was sent to one receiver. Management frames count as others do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkStatistics {
    /// The receiver.
    pub receiver: StationId,
    /// Bytes of packets that it has acknowledged (`NL80211_STA_INFO_TX_BYTES64`, without headers of the MAC).
    pub octets: u64,
    /// These packets (`NL80211_STA_INFO_TX_PACKETS` less `TX_FAILED`).
    pub packets: u64,
    /// Time of all attempts, each with the time that it reserves for its answer (`NL80211_STA_INFO_TX_DURATION`).
    pub airtime: Duration,
    /// Data frames put on the air, repetitions included (`NL80211_STA_INFO_TX_PACKETS` and `TX_RETRIES`).
    pub attempts: u64,
}

/// Those of all receivers, the lowest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Links(Vec<LinkStatistics>);

impl Links {
    /// This number of data frames was on the air, for `airtime` together.
    pub(super) fn on_attempts(&mut self, receiver: StationId, airtime: Duration, attempts: u32) {
        let link = self.at(receiver);
        link.attempts += u64::from(attempts);
        link.airtime += airtime;
    }

    /// A frame before a data frame was on the air.
    pub(super) fn on_protected(&mut self, receiver: StationId, airtime: Duration) {
        self.at(receiver).airtime += airtime;
    }

    /// This number of packets of `octets` was acknowledged.
    pub(super) fn on_delivered(&mut self, receiver: StationId, octets: u32, packets: u32) {
        let link = self.at(receiver);
        link.octets += u64::from(octets) * u64::from(packets);
        link.packets += u64::from(packets);
    }

    pub(super) fn all(&self) -> &[LinkStatistics] {
        &self.0
    }

    fn at(&mut self, receiver: StationId) -> &mut LinkStatistics {
        let place = match self.0.binary_search_by_key(&receiver.0, |link| link.receiver.0) {
            Ok(place) => place,
            Err(place) => {
                let airtime = Duration::ZERO;
                self.0.insert(place, LinkStatistics { receiver, octets: 0, packets: 0, airtime, attempts: 0 });
                place
            }
        };
        &mut self.0[place]
    }
}
