//! From the payload of datagrams to media in their order: correction, order, and what a viewer would see.

use hopcast_protocols::application::{Player, PlayerConfig, PlayerReport};
use hopcast_protocols::fec::{self, Decoder, Octets};
use hopcast_protocols::time::{Duration, Instant};
use hopcast_wire::{rtcp, rtp};

use super::reorder::{Counts, Reorder};
use super::session::REPAIR_TYPE;

/// A jump of timestamps beyond this is a new clock, in seconds: a program clock comes at least each 0.1 s (ISO/IEC 13818-1,
/// 2.7.2), and pauses of a stream are shorter than this.
const LONGEST_STEP: u64 = 10;

/// The media of one receiver, connection after connection.
#[derive(Debug)]
pub(super) struct Media {
    reorder: Reorder,
    display: Display,
    /// Of the connection at hand, if it has correction.
    decoder: Option<Decoder<Octets>>,
    /// Packets that correction gave back, on earlier connections.
    recovered: u64,
    /// Payload that was neither RTP nor FEC.
    malformed: u64,
}

/// What became of the media so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MediaReport {
    /// What became of each RTP packet.
    pub packets: Counts,
    /// Octets of the RTP packets that were delivered.
    pub octets: u64,
    /// Packets that forward error correction gave back, among those delivered or late.
    pub recovered: u64,
    /// Datagrams of the peer whose payload was neither RTP nor a repair packet.
    pub malformed: u64,
    /// What a viewer with this playout buffer had to suffer.
    pub player: PlayerReport,
}

impl Media {
    /// `playout` is the playout buffer of the viewer, and how long a gap is waited for.
    pub(super) fn new(playout: Duration, now: Instant) -> Self {
        Self {
            reorder: Reorder::new(playout),
            display: Display {
                player: Player::new(PlayerConfig { start_up: playout, resume: playout }, now),
                clock: None,
                octets: 0,
            },
            decoder: None,
            recovered: 0,
            malformed: 0,
        }
    }

    /// A connection begins, with correction or without.
    pub(super) fn handle_connection(&mut self, with_correction: bool) {
        if let Some(decoder) = self.decoder.take() {
            self.recovered += decoder.statistics().recovered;
        }
        self.decoder = with_correction.then(|| Decoder::new(&fec::Config::default(), Octets));
    }

    /// Payload of a datagram has come. What may be delivered by it goes to `deliver`.
    pub(super) fn handle_payload(&mut self, payload: &[u8], now: Instant, deliver: &mut impl FnMut(&[u8])) {
        if self.decoder.is_none() {
            self.handle_packet(payload, now, deliver);
            return;
        }
        let taken = self.decode(payload, now);
        self.malformed += u64::from(!taken);
        while let Some(fec::Output { adu, .. }) = self.decoder.as_mut().and_then(Decoder::poll_output) {
            self.handle_packet(&adu, now, deliver);
        }
    }

    fn decode(&mut self, payload: &[u8], now: Instant) -> bool {
        let Some(decoder) = &mut self.decoder else { return false };
        match rtp::Packet::new_checked(payload) {
            Ok(packet) if packet.payload_type() == REPAIR_TYPE => {
                decoder.handle_repair_octets(packet.payload(), now).is_ok()
            }
            _ => decoder.handle_source_octets(payload, now).is_ok(),
        }
    }

    fn handle_packet(&mut self, octets: &[u8], now: Instant, deliver: &mut impl FnMut(&[u8])) {
        if rtcp::is_control(octets) {
            // It has no place in the order of the media.
            deliver(octets);
            return;
        }
        let Ok(packet) = rtp::Packet::new_checked(octets) else {
            self.malformed += 1;
            return;
        };
        let display = &mut self.display;
        self.reorder.handle_packet(packet, octets, now, &mut |octets| {
            display.handle_packet(octets, now);
            deliver(octets);
        });
    }

    /// Time has come to `now`: gaps are given up, displays stand still.
    pub(super) fn handle_timeout(&mut self, now: Instant, deliver: &mut impl FnMut(&[u8])) {
        let display = &mut self.display;
        if display.player.poll_timeout().is_some_and(|due| due <= now) {
            display.player.handle_timeout(now);
        }
        self.reorder.handle_timeout(now, &mut |octets| {
            display.handle_packet(octets, now);
            deliver(octets);
        });
    }

    /// The stream has ended as its sender wished.
    pub(super) fn handle_end(&mut self, now: Instant, deliver: &mut impl FnMut(&[u8])) {
        let display = &mut self.display;
        self.reorder.handle_end(&mut |octets| {
            display.handle_packet(octets, now);
            deliver(octets);
        });
        display.player.handle_end(now);
    }

    /// When [`handle_timeout`](Self::handle_timeout) is to be called next.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        [self.reorder.poll_timeout(), self.display.player.poll_timeout()].into_iter().flatten().min()
    }

    pub(super) fn report(&self, now: Instant) -> MediaReport {
        let recovered = self.decoder.as_ref().map_or(0, |decoder| decoder.statistics().recovered);
        MediaReport {
            packets: self.reorder.counts(),
            octets: self.display.octets,
            recovered: self.recovered + recovered,
            malformed: self.malformed,
            player: self.display.player.report(now),
        }
    }
}

/// The viewer: a playout buffer whose media is as long as the RTP timestamps say.
#[derive(Debug)]
struct Display {
    player: Player,
    clock: Option<MediaClock>,
    octets: u64,
}

/// Where the media has come by the timestamps of its source.
#[derive(Clone, Copy, Debug)]
struct MediaClock {
    source: u32,
    timestamp: u32,
    position: Duration,
}

impl Display {
    fn handle_packet(&mut self, octets: &[u8], now: Instant) {
        self.octets += octets.len() as u64;
        let packet = rtp::Packet::new_unchecked(octets);
        let (source, timestamp) = (packet.source(), packet.timestamp());
        let clock = self.clock.get_or_insert(MediaClock { source, timestamp, position: Duration::ZERO });
        let rate = u64::from(clock_rate(packet.payload_type()));
        let ticks = u64::from(timestamp.wrapping_sub(clock.timestamp));
        let continues = source == clock.source && ticks <= LONGEST_STEP * rate;
        let is_behind = source == clock.source && ticks >= (1 << 32) - LONGEST_STEP * rate;
        if !is_behind {
            let step = if continues { ticks * 1_000_000_000 / rate } else { 0 };
            let position = clock.position.saturating_add(Duration::from_nanos(step));
            *clock = MediaClock { source, timestamp, position };
        }
        self.player.handle_media(clock.position, now);
    }
}

/// Ticks of a payload type's timestamps in a second: for static types, those of RFC 3551, tables 4 and 5; for dynamic ones that
/// of video.
fn clock_rate(payload_type: u8) -> u32 {
    match payload_type {
        6 => 16_000,
        10 | 11 => 44_100,
        14 => 90_000,
        16 => 11_025,
        17 => 22_050,
        0..=18 => 8_000,
        _ => 90_000,
    }
}
