//! The options of a packet that has arrived (RFC 4340, section 5.8).

use hopcast_wire::dccp::{self, OptionKind, OptionRepr, PacketType, ResetCode, TimestampEcho};

use super::super::NetworkState;
use super::super::features::Refusal;
use super::Connection;

/// Loss intervals that are told at the most (RFC 4342, section 8.6): those that make the mean.
pub(super) const MAX_INTERVALS: usize = 9;
use crate::time::Instant;

/// What the options of a packet said.
#[derive(Clone, Debug, Default)]
pub(super) struct Read {
    pub(super) without_data: u64,
    pub(super) timestamp: Option<u32>,
    /// In units of 10 µs.
    pub(super) elapsed: u32,
    pub(super) loss_event_rate: Option<u32>,
    pub(super) receive_rate: Option<u32>,
    /// Lengths in packets, the open interval first; `None` for the one before the first loss.
    pub(super) intervals: Option<Vec<Option<f64>>>,
    pub(super) state: Option<NetworkState>,
}

impl Connection {
    /// What the options say that matters later. Feature options are dealt with at once, if the packet is the newest.
    pub(super) fn read_options(
        &mut self,
        view: &dccp::Packet<&[u8]>,
        newest: bool,
        now: Instant,
    ) -> Result<Read, Refusal> {
        let mut read = Read::default();
        let is_data = view.packet_type() == PacketType::Data;
        let mut mandatory = false;
        if newest && !is_data {
            self.features.begin();
        }
        for option in view.options().iter() {
            let Ok(option) = option else {
                self.statistics.option_errors += 1;
                break;
            };
            if is_data && !option.may_be_in_data() {
                continue;
            }
            match option {
                OptionRepr::Mandatory => {
                    if core::mem::replace(&mut mandatory, true) {
                        // Two in a row (section 5.8.2).
                        return Err((ResetCode::OptionError, [OptionKind::Mandatory.into(), 0, 0]));
                    }
                    continue;
                }
                OptionRepr::NdpCount(count) => read.without_data = count,
                OptionRepr::Timestamp(time) => {
                    read.timestamp = Some(time);
                    if newest {
                        self.timestamp = Some((time, now));
                    }
                }
                OptionRepr::TimestampEcho(TimestampEcho { elapsed: Some(elapsed), .. }) if read.elapsed == 0 => {
                    read.elapsed = elapsed;
                }
                OptionRepr::ElapsedTime(elapsed) => read.elapsed = elapsed,
                OptionRepr::LossEventRate(inverse) => read.loss_event_rate = Some(inverse),
                OptionRepr::ReceiveRate(rate) => read.receive_rate = Some(rate),
                OptionRepr::LossIntervals(intervals) => {
                    // The interval before the first loss has no lossy part, and no length that counts.
                    let length = |one: dccp::LossInterval| (one.lossy > 0).then_some(f64::from(one.data));
                    read.intervals = Some(intervals.iter().take(MAX_INTERVALS).map(length).collect());
                }
                OptionRepr::NetworkState(state) => read.state = Some(state),
                OptionRepr::Other(kind, _) if mandatory => {
                    return Err((ResetCode::MandatoryError, [kind.into(), 0, 0]));
                }
                _ if newest => self.features.on_option(&option, mandatory)?,
                _ => {}
            }
            mandatory = false;
        }
        if let Some(window) = self.features.peer_window {
            self.peer.window = window;
        }
        if self.features.window_confirmed {
            self.own.window = self.config.sequence_window;
        }
        // Wishes that come after the handshake.
        if self.features.unsent && self.carries_data() {
            self.acknowledge = true;
        }
        Ok(read)
    }
}
