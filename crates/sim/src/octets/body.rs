//! Frames under block acknowledgment agreements as bytes: each MPDU of an A-MPDU, and what acknowledges them.

use std::rc::Rc;

use hopcast_protocols::time::Instant;
use hopcast_radio::aggregate::{BlockAck, Body, Mpdu};
use hopcast_radio::mac::edca::UserPriority;
use hopcast_radio::mac::{Frame, FrameKind, Header};
use hopcast_radio::medium::Link;
use hopcast_radio::phy::{ChannelWidth, Coding, GuardInterval, Standard, TxVector};
use hopcast_wire::ieee80211::{Flags, amsdu, block_ack, fcs};
use hopcast_wire::radiotap::{AmpduStatus, Bandwidth, He, HeGuardInterval, Mcs, Modulation, Vht};
use hopcast_wire::{MacAddress, ieee80211};

use super::{Encoder, destination};
use crate::address::mac_address;
use crate::host::Sdu;

impl Encoder {
    /// The bytes of an MPDU of `frame`, whose first bit left or arrived at `start`.
    pub(crate) fn encode_mpdu(
        &mut self,
        frame: &Header,
        mpdu: &Mpdu<Rc<Sdu>>,
        ampdu: Option<AmpduStatus>,
        start: Instant,
        received: Option<&Link>,
    ) -> &[u8] {
        let payload = Some(Rc::clone(&mpdu.packet));
        let frame: Frame<Rc<Sdu>> = frame.with_payload(payload);
        let frame = Frame { sequence: mpdu.sequence, retry: mpdu.retry, octets: mpdu.octets, ..frame };
        self.octets.clear();
        self.push_radiotap(&frame, ampdu, start, received);
        let frame_start = self.octets.len();
        self.push_header(&frame, !mpdu.more.is_empty());
        if mpdu.more.is_empty() {
            self.push_sdu(&mpdu.packet, &frame);
        } else {
            self.push_amsdu(mpdu, &frame);
        }
        self.finish(frame_start, frame.octets)
    }

    /// The bytes of a frame that acknowledges MPDUs, or asks for that.
    pub(crate) fn encode_control(
        &mut self,
        frame: &Header,
        body: &Body<Rc<Sdu>>,
        start: Instant,
        received: Option<&Link>,
    ) -> &[u8] {
        let frame: Frame<Rc<Sdu>> = frame.with_payload(None);
        self.octets.clear();
        self.push_radiotap(&frame, None, start, received);
        let frame_start = self.octets.len();
        self.push_header(&frame, false);
        let tid = frame.priority.map_or(0, UserPriority::get);
        match body {
            Body::BlockAckRequest(start) => {
                let request = block_ack::Request { tid, start: sequence_number(*start) };
                request.emit(self.grow(block_ack::Request::LEN));
            }
            Body::BlockAck(ack) => {
                let is_long = frame.octets > FrameKind::block_ack_octets(1);
                let response =
                    block_ack::Response { tid, start: sequence_number(ack.start), bitmap: bitmap(ack, is_long) };
                response.emit(self.grow(response.buffer_len()));
            }
            Body::Mpdus(_) => {}
        }
        self.finish(frame_start, frame.octets)
    }

    /// The subframes of an A-MSDU, each with the addresses of the frame.
    fn push_amsdu(&mut self, mpdu: &Mpdu<Rc<Sdu>>, frame: &Frame<Rc<Sdu>>) {
        let (destination, source) = (destination(frame), mac_address(frame.transmitter));
        let mut body = Vec::new();
        for sdu in mpdu.packets() {
            let msdu_start = self.octets.len();
            self.push_sdu(sdu, frame);
            amsdu::Subframe { destination, source, msdu: &self.octets[msdu_start..] }.append(&mut body);
            self.octets.truncate(msdu_start);
        }
        self.octets.append(&mut body);
    }

    /// Appends the frame check sequence of the frame that begins at `frame_start`, and hands out all.
    pub(super) fn finish(&mut self, frame_start: usize, octets: u32) -> &[u8] {
        self.octets.extend([0; fcs::LEN]);
        fcs::fill(&mut self.octets[frame_start..]);
        debug_assert_eq!((self.octets.len() - frame_start) as u32, octets, "the air counted other octets");
        &self.octets
    }
}

/// The header of a control frame about MPDUs.
pub(super) fn control_header(kind: FrameKind, flags: Flags, duration: u16, ends: [MacAddress; 2]) -> ieee80211::Repr {
    let [receiver, transmitter] = ends;
    match kind {
        FrameKind::BlockAckRequest => ieee80211::Repr::BlockAckRequest { flags, duration, receiver, transmitter },
        _ => ieee80211::Repr::BlockAck { flags, duration, receiver, transmitter },
    }
}

/// How radiotap tells the vector of a frame of HT, VHT or HE.
pub(super) fn modulation(vector: TxVector) -> Option<Modulation> {
    let (index, streams, ldpc) = (vector.mcs(), vector.streams(), vector.coding() == Coding::Ldpc);
    let short_guard_interval = vector.guard_interval() == GuardInterval::Ns400;
    let bandwidth = match vector.width() {
        ChannelWidth::Mhz40 => Bandwidth::Mhz40,
        ChannelWidth::Mhz80 => Bandwidth::Mhz80,
        ChannelWidth::Mhz160 => Bandwidth::Mhz160,
        _ => Bandwidth::Mhz20,
    };
    match vector.format() {
        Standard::Ht => {
            Some(Modulation::Ht(Mcs { index, is_40_mhz: bandwidth == Bandwidth::Mhz40, short_guard_interval, ldpc }))
        }
        Standard::Vht => Some(Modulation::Vht(Vht { index, streams, bandwidth, short_guard_interval, ldpc })),
        Standard::He => {
            let guard_interval = match vector.guard_interval() {
                GuardInterval::Ns1600 => HeGuardInterval::Ns1600,
                GuardInterval::Ns3200 => HeGuardInterval::Ns3200,
                _ => HeGuardInterval::Ns800,
            };
            Some(Modulation::He(He { index, streams, bandwidth, guard_interval, ldpc }))
        }
        _ => None,
    }
}

/// Of a compressed block acknowledgment: 64 bits, or 256.
fn bitmap(ack: &BlockAck, is_long: bool) -> block_ack::Bitmap {
    let mut octets = [0; 32];
    for (word, bits) in ack.bitmap.words().into_iter().enumerate() {
        octets[8 * word..8 * (word + 1)].copy_from_slice(&bits.to_le_bytes());
    }
    if is_long {
        return block_ack::Bitmap::Of256(octets);
    }
    let mut first = [0; 8];
    first.copy_from_slice(&octets[..8]);
    block_ack::Bitmap::Of64(first)
}

/// The Sequence Number field.
fn sequence_number(number: u32) -> u16 {
    (number & 0xfff) as u16
}

#[cfg(test)]
mod tests {
    use hopcast_radio::aggregate::MpduSet;

    use super::*;

    #[test]
    fn a_bitmap_begins_with_the_first_mpdu() {
        let mut set = MpduSet::default();
        set.insert(0);
        set.insert(9);
        set.insert(255);
        let ack = BlockAck { start: 7, bitmap: set };
        let (short, long) = (bitmap(&ack, false), bitmap(&ack, true));
        assert_eq!([0, 1, 9, 255].map(|place| short.has(place)), [true, false, true, false]);
        assert_eq!([0, 1, 9, 255].map(|place| long.has(place)), [true, false, true, true]);
    }
}
