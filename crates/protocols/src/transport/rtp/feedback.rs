//! Feedback about arrivals in its two formats, written and read.

use std::sync::Arc;

use hopcast_wire::ParseError;
use hopcast_wire::ecn::Ecn;
use hopcast_wire::rtcp::{ccfb, twcc};

use super::arrivals::{Arrivals, Received};
use super::{Config, Format, clock, unwrap};
use crate::time::{Duration, Instant};
use crate::transport::media::Arrival;

/// Ticks per second of a report's timestamp, and of the times before it (RFC 8888, section 3.1).
const TIMESTAMP: u64 = 1 << 16;
const OFFSET: u64 = 1 << 10;
/// The greatest time before the timestamp that can be told.
const LAST_OFFSET: u64 = 0x1ffd;
/// Ticks per second of TWCC's deltas, and their number in a tick of its reference time (section 3.1 of the draft).
const DELTA: u64 = 4_000;
const REFERENCE: u64 = 256;

/// What a report tells of consecutive packets.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Block {
    /// Of packets that are sent again, as far as the format tells them apart.
    pub(super) is_retransmission: bool,
    /// The first number, as far as it is on the wire.
    pub(super) first: u16,
    pub(super) arrivals: Vec<Option<Arrival>>,
    /// The latest arrival, and how long the report was held back after it, as far as the format tells.
    pub(super) latest: Option<(usize, Duration)>,
}

/// A report at `now`, the `count`-th of its receiver: on arrivals of media, and of packets that were sent again, where the format has
/// numbers of each source.
pub(super) fn write(config: &Config, [media, again]: [&Arrivals; 2], count: u8, now: Instant) -> Arc<[u8]> {
    let (sender, source) = (config.source.wrapping_add(1), config.source);
    match config.format {
        Format::Ccfb => {
            let block = |source, arrivals: &Arrivals| {
                let (first, packets) = arrivals.report();
                let reports: Vec<_> = packets.map(|packet| packet.map(|packet| told(packet, now))).collect();
                (!reports.is_empty()).then_some(ccfb::Block { source, begin: first as u16, reports })
            };
            let blocks = [block(source, media), block(config.retransmission_source(), again)];
            let timestamp = clock::ticks(now, TIMESTAMP) as u32;
            let feedback = ccfb::Feedback { sender, blocks: blocks.into_iter().flatten().collect(), timestamp };
            let mut octets = vec![0; feedback.buffer_len()];
            feedback.emit(&mut octets);
            octets.into()
        }
        Format::Twcc => {
            let (first, packets) = media.report();
            let begin = first as u16;
            let times: Vec<Option<i64>> =
                packets.map(|packet| Some(clock::ticks(packet?.time, DELTA) as i64)).collect();
            let reference = times.iter().flatten().next().map_or(0, |first| first / REFERENCE as i64);
            let mut before = reference * REFERENCE as i64;
            let deltas = times.into_iter().map(|time| {
                let delta = time? - core::mem::replace(&mut before, time?);
                Some(delta.clamp(i16::MIN.into(), i16::MAX.into()) as i16)
            });
            let packets = deltas.collect();
            // Of 24 bits, with a sign.
            let reference = (reference as i32) << 8 >> 8;
            let feedback = twcc::Feedback { sender, source, base: begin, reference, count, packets };
            let mut octets = vec![0; feedback.buffer_len()];
            feedback.emit(&mut octets);
            octets.into()
        }
    }
}

fn told(packet: Received, now: Instant) -> ccfb::Report {
    let ticks = clock::ticks(Instant::START + now.saturating_since(packet.time), OFFSET);
    let offset = if ticks > LAST_OFFSET { ccfb::Offset::TooOld } else { ccfb::Offset::Before(ticks as u16) };
    ccfb::Report { ecn: packet.ecn, offset }
}

/// Reads a report about the media of `config`; nothing if it is about other media. `near` is the newest time of the receiver's clock that
/// earlier reports told.
pub(super) fn read(config: &Config, octets: &[u8], near: Instant) -> Result<Vec<Block>, ParseError> {
    match config.format {
        Format::Ccfb => {
            let feedback = ccfb::Feedback::parse(octets)?;
            let ticks = unwrap(feedback.timestamp, 32, clock::ticks(near, TIMESTAMP));
            let reported = clock::instant(ticks, TIMESTAMP);
            let sources = [config.source, config.retransmission_source()];
            let of_session = |block: ccfb::Block| {
                let is_retransmission = config.retransmission.is_some() && block.source == sources[1];
                (block.source == sources[0] || is_retransmission).then_some((is_retransmission, block))
            };
            let blocks = feedback.blocks.into_iter().filter_map(of_session).map(|(is_retransmission, block)| {
                let arrival = |report: Option<ccfb::Report>| {
                    let ccfb::Report { ecn, offset } = report?;
                    let held = match offset {
                        ccfb::Offset::Before(ticks) => u64::from(ticks),
                        ccfb::Offset::TooOld | ccfb::Offset::Unknown => LAST_OFFSET,
                    };
                    let held = clock::instant(held, OFFSET) - Instant::START;
                    Some((
                        Arrival { time: Instant::START + (reported - Instant::START).saturating_sub(held), ecn },
                        held,
                    ))
                };
                let arrivals: Vec<_> = block.reports.into_iter().map(arrival).collect();
                let held = |(place, arrival): (usize, &Option<(Arrival, Duration)>)| Some((place, arrival.as_ref()?.1));
                // Of equal times the packet that was sent last.
                let latest = arrivals
                    .iter()
                    .enumerate()
                    .filter_map(held)
                    .min_by_key(|&(place, held)| (held, usize::MAX - place));
                let arrivals = arrivals.iter().map(|arrival| arrival.map(|(arrival, _)| arrival)).collect();
                Block { is_retransmission, first: block.begin, arrivals, latest }
            });
            Ok(blocks.collect())
        }
        Format::Twcc => {
            let feedback = twcc::Feedback::parse(octets)?;
            // Numbers are those of all sources. pion names the source of the last packet.
            if ![config.source, config.retransmission_source()].contains(&feedback.source) {
                return Ok(Vec::new());
            }
            let reference = unwrap(feedback.reference as u32 & 0xff_ffff, 24, clock::ticks(near, DELTA) / REFERENCE);
            let mut ticks = reference * REFERENCE;
            let arrival = |delta: Option<i16>| {
                ticks = ticks.saturating_add_signed(delta?.into());
                Some(Arrival { time: clock::instant(ticks, DELTA), ecn: Ecn::NotEct })
            };
            let arrivals: Vec<Option<Arrival>> = feedback.packets.into_iter().map(arrival).collect();
            let time = |(place, arrival): (usize, &Option<Arrival>)| Some((arrival.as_ref()?.time, place));
            let latest = arrivals.iter().enumerate().filter_map(time).max();
            let latest = latest.map(|(_, place)| (place, Duration::ZERO));
            Ok(vec![Block { is_retransmission: false, first: feedback.base, arrivals, latest }])
        }
    }
}
