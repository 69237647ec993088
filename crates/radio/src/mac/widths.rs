//! Width of frames where secondary channels may be busy (IEEE 802.11-2020, 10.23.2.5 and 11.15.9).
//!
//! ```text
//!  secondary ───────┬───────┐ PIFS │
//!                   │ busy  │      │
//!            ───────┴───────┴──────┼──────────
//!    primary  backoff of the TXOP  │ PPDU: over the secondary channel if that has been idle for PIFS
//! ```
//!
//! The backoff counts on the primary channel alone. When it ends, a station with static bandwidth whose frame is wider than what is idle
//! begins another backoff, and one with dynamic bandwidth sends a narrower frame. No later frame of the TXOP is wider than the first. RTS
//! and answers are repeated on each channel of 20 MHz of the exchange. The receiver of an RTS answers over what was idle for PIFS
//! before it: with static bandwidth if that is all of the RTS, with dynamic bandwidth on less as well, and the data keep to that.

use hopcast_protocols::time::Instant;

use super::config::Bandwidth;
use super::{Config, Dcf};
use crate::frame::{FrameKind, Header, Payload};
use crate::phy::{ChannelWidth, ModulationClass, TxVector};
use crate::reception::IdleWidths;

/// What a station that tells its primary channel from the secondary ones knows of their state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Widths {
    is_dynamic: bool,
    idle: IdleWidths,
    /// Width of the TXOP.
    txop: ChannelWidth,
}

impl Widths {
    pub(super) fn new(config: &Config) -> Option<Self> {
        let all = ChannelWidth::Mhz160;
        let widths = |is_dynamic| Self { is_dynamic, idle: IdleWidths { now: all, before: all }, txop: all };
        match config.bandwidth {
            Bandwidth::Whole => None,
            Bandwidth::Static => Some(widths(false)),
            Bandwidth::Dynamic => Some(widths(true)),
        }
    }

    /// The rate, of those that are `known`, of a frame that follows in the TXOP, and would have this one.
    pub(super) fn fit(&self, known: &[TxVector], rate: TxVector) -> TxVector {
        narrowed(known, rate, self.txop)
    }
}

impl<P: Payload> Dcf<P> {
    /// Whether [`Self::handle_idle_widths`] is to be called.
    #[inline]
    pub fn senses_widths(&self) -> bool {
        self.widths.is_some()
    }

    /// Widths of which the secondary channels have been idle for PIFS: before each [`Self::handle_timeout`].
    pub fn handle_idle_widths(&mut self, idle: IdleWidths) {
        if let Some(widths) = &mut self.widths {
            widths.idle = idle;
        }
    }

    /// Begins a TXOP with the frame in hand, over what is idle. Returns whether the frame is to wait for another access.
    #[cold]
    #[inline(never)]
    pub(super) fn fit_first(&mut self, now: Instant) -> bool {
        let Some(widths) = &mut self.widths else { return false };
        let Some(outgoing) = self.access_function.current_mut() else { return false };
        widths.txop = outgoing.rate.width().min(widths.idle.now);
        if widths.txop < outgoing.rate.width() && !widths.is_dynamic {
            self.access_function.backoff.on_postponed(now, &mut self.random);
            return true;
        }
        outgoing.rate = narrowed(self.config.phy.vectors(), outgoing.rate, widths.txop);
        false
    }

    /// The rate of a frame that follows in the TXOP, and would have this one.
    #[inline]
    pub(super) fn fit(&self, rate: TxVector) -> TxVector {
        match &self.widths {
            Some(widths) => widths.fit(self.config.phy.vectors(), rate),
            None => rate,
        }
    }

    /// How a control frame of an exchange of this width goes: repeated on each channel of it.
    #[inline]
    pub(super) fn repeated_over(&self, vector: TxVector, width: ChannelWidth) -> TxVector {
        if self.widths.is_some() && vector.modulation_class() == ModulationClass::Ofdm {
            vector.with_width(width)
        } else {
            vector
        }
    }

    /// Whether a CTS that is due can't go, as what its RTS is repeated on was not idle. If it can go on less, it does.
    pub(super) fn withholds_cts(&mut self) -> bool {
        let (Some(widths), Some(response)) = (&self.widths, &mut self.response) else { return false };
        if response.kind != FrameKind::Cts || response.receiver == Some(self.station) {
            return false;
        }
        let idle = widths.idle.before;
        if idle >= response.vector.width() {
            return false;
        }
        if widths.is_dynamic {
            response.vector = response.vector.with_width(idle);
            return false;
        }
        self.response = None;
        true
    }

    /// A CTS has come, perhaps on less than its RTS: data keep to that, and to the time that is reserved.
    pub(super) fn fit_to_cts(&mut self, cts: &Header, now: Instant) {
        let Some(widths) = &mut self.widths else { return };
        let Some(outgoing) = self.access_function.current_mut() else { return };
        if cts.vector.width() >= outgoing.rate.width() {
            return;
        }
        widths.txop = cts.vector.width();
        outgoing.rate = narrowed(self.config.phy.vectors(), outgoing.rate, widths.txop);
        if self.block_acks.is_some() {
            self.assemble(now + self.sifs(), Some(now + cts.duration), now);
        }
    }
}

/// The scheme of a rate in a channel that is no wider than `width`: the same, or the next one below that the standard has there.
fn narrowed(known: &[TxVector], rate: TxVector, width: ChannelWidth) -> TxVector {
    if rate.width() <= width || !rate.format().has_shape() {
        return rate;
    }
    let below = (0..=rate.mcs()).rev().map(|mcs| rate.with_width(width).with_mcs(mcs));
    below.filter(|&rate| known.contains(&rate)).find(|found| found.streams() == rate.streams()).unwrap_or(rate)
}
