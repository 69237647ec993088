//! One link: what is known of it and how long that holds (RFC 3626, 4.2.1, 7.1, 13 and 14).

use std::net::Ipv4Addr;

use hopcast_wire::olsr::hello::LinkType;

use super::super::config::Hysteresis;
use crate::time::{Duration, Instant};

/// A tuple of the link set. A time that isn't in the future has passed.
#[derive(Clone, Debug)]
pub(in crate::routing::olsr) struct Link {
    /// Main address of the neighbour.
    pub(in crate::routing::olsr) neighbour: Ipv4Addr,
    /// L_SYM_time.
    symmetric_until: Instant,
    /// L_ASYM_time.
    heard_until: Instant,
    /// L_time.
    until: Instant,
    /// L_LOST_LINK_TIME.
    lost_until: Instant,
    quality: Option<Quality>,
}

/// What hysteresis adds (14.1).
#[derive(Clone, Debug)]
struct Quality {
    config: Hysteresis,
    /// L_link_quality.
    value: f64,
    /// L_link_pending.
    is_pending: bool,
    /// Number of the last packet.
    sequence: u16,
    /// How many packets have been counted as lost since, for the silence.
    missed: u16,
    /// Htime of the last HELLO.
    interval: Duration,
    /// When the next packet counts as lost.
    expected_by: Instant,
}

/// The sequence number and the time of a packet, and the time to the next one.
#[derive(Clone, Copy, Debug)]
pub(in crate::routing::olsr) struct Arrival {
    pub(in crate::routing::olsr) sequence: u16,
    pub(in crate::routing::olsr) interval: Duration,
    pub(in crate::routing::olsr) at: Instant,
}

impl Link {
    /// A link over which a HELLO was heard for the first time (7.1.1, 14.3).
    pub(in crate::routing::olsr) fn new(neighbour: Ipv4Addr, hysteresis: Option<Hysteresis>, arrival: Arrival) -> Self {
        let now = arrival.at;
        let quality = hysteresis.map(|config| Quality {
            config,
            value: config.scaling,
            is_pending: true,
            sequence: arrival.sequence,
            missed: 0,
            interval: arrival.interval,
            expected_by: now + arrival.interval,
        });
        Self { neighbour, symmetric_until: now, heard_until: now, until: now, lost_until: now, quality }
    }

    /// A HELLO has come that holds until `until`, and says `link` of this node (7.1.1). `hold` is NEIGHB_HOLD_TIME.
    pub(in crate::routing::olsr) fn handle_hello(
        &mut self,
        link: Option<LinkType>,
        interval: Duration,
        until: Instant,
        hold: Duration,
        now: Instant,
    ) {
        self.heard_until = until;
        match link {
            Some(LinkType::Lost) => self.symmetric_until = now,
            Some(LinkType::Symmetric | LinkType::Asymmetric) => {
                self.symmetric_until = until;
                self.until = until + hold;
            }
            _ => {}
        }
        self.until = self.until.max(self.heard_until);
        if let Some(quality) = &mut self.quality {
            quality.interval = interval;
            quality.expected_by = now + interval;
        }
    }

    /// A packet has come (14.3).
    pub(in crate::routing::olsr) fn handle_packet(&mut self, sequence: u16, hold: Duration, now: Instant) {
        let Some(quality) = &mut self.quality else { return };
        // A packet that was missed for the silence isn't missed again for its number.
        let gap = sequence.wrapping_sub(quality.sequence).wrapping_sub(1).saturating_sub(quality.missed);
        // After so many, nothing is left; and a number that goes back is that of a node that was started anew.
        let lost = if gap < 0x8000 { gap.min(16) } else { 0 };
        for _ in 0..lost {
            quality.value *= 1.0 - quality.config.scaling;
        }
        quality.value = (1.0 - quality.config.scaling) * quality.value + quality.config.scaling;
        quality.sequence = sequence;
        quality.missed = 0;
        quality.expected_by = now + quality.interval;
        self.judge(hold, now);
    }

    /// Counts packets that should have come.
    pub(in crate::routing::olsr) fn handle_timeout(&mut self, hold: Duration, now: Instant) {
        if let Some(quality) = &mut self.quality
            && quality.expected_by <= now
        {
            quality.value *= 1.0 - quality.config.scaling;
            quality.missed = quality.missed.saturating_add(1);
            quality.expected_by = now + quality.interval;
            self.judge(hold, now);
        }
    }

    /// Compares the quality with its thresholds (14.3).
    fn judge(&mut self, hold: Duration, now: Instant) {
        let Some(quality) = &mut self.quality else { return };
        if quality.value > quality.config.high {
            if quality.is_pending {
                self.lost_until = now;
            }
            quality.is_pending = false;
        } else if quality.value < quality.config.low && !quality.is_pending {
            quality.is_pending = true;
            self.lost_until = self.until.min(now + hold);
        }
    }

    /// The interface has given up a frame (13).
    pub(in crate::routing::olsr) fn lose(&mut self, hold: Duration, now: Instant) {
        self.lost_until = now + hold;
        self.until = now + hold;
    }

    /// Whether packets go both ways (14.2).
    pub(in crate::routing::olsr) fn is_symmetric(&self, now: Instant) -> bool {
        self.lost_until <= now && !self.is_pending() && self.symmetric_until > now
    }

    /// Whether the link is to be forgotten.
    pub(in crate::routing::olsr) fn is_over(&self, now: Instant) -> bool {
        self.until <= now
    }

    /// What a HELLO says of it; `None`: nothing (6.2, 14.2).
    pub(in crate::routing::olsr) fn link_type(&self, now: Instant) -> Option<LinkType> {
        if self.lost_until > now {
            Some(LinkType::Lost)
        } else if self.is_pending() {
            None
        } else if self.symmetric_until > now {
            Some(LinkType::Symmetric)
        } else if self.heard_until > now {
            Some(LinkType::Asymmetric)
        } else {
            Some(LinkType::Lost)
        }
    }

    /// When it may change by itself.
    pub(in crate::routing::olsr) fn poll_timeout(&self, now: Instant) -> Instant {
        let expected_by = self.quality.as_ref().map_or(Instant::MAX, |quality| quality.expected_by);
        let times = [self.symmetric_until, self.lost_until, self.until, expected_by];
        times.into_iter().filter(|&time| time > now).min().unwrap_or(self.until)
    }

    #[cfg(test)]
    pub(in crate::routing::olsr) fn quality(&self) -> Option<f64> {
        self.quality.as_ref().map(|quality| quality.value)
    }

    fn is_pending(&self) -> bool {
        self.quality.as_ref().is_some_and(|quality| quality.is_pending)
    }
}
