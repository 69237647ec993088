//! From the payload of datagrams to media in order: correction, reordering, and what a viewer would see.

use hopcast_protocols::application::{JitterBufferConfig, Player, PlayerConfig, PlayerReport};
use hopcast_protocols::fec::{self, Decoder, Octets};
use hopcast_protocols::time::{Duration, Instant};
use hopcast_protocols::transport::rtp::{InterarrivalJitter, LONGEST_STEP, clock_rate};
use hopcast_wire::{rtcp, rtp};

use super::jitter::{Frames, Jitter};
use super::reorder::{Counts, Reorder};
use super::session::REPAIR_TYPE;

/// The media of one receiver, connection after connection.
#[derive(Debug)]
pub(super) struct Media {
    reorder: Reorder,
    display: Display,
    /// Takes the place of the two, if there is one.
    jitter: Option<Box<Jitter>>,
    interarrival: InterarrivalJitter,
    /// Of the connection at hand, if it has correction.
    decoder: Option<Decoder<Octets>>,
    /// Packets that correction gave back, on earlier connections.
    recovered: u64,
    /// Payload that was neither RTP nor FEC.
    malformed: u64,
}

/// Statistics of the media so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MediaReport {
    /// Results of RTP packets.
    pub packets: Counts,
    /// Bytes of the RTP packets that were delivered.
    pub octets: u64,
    /// Packets that forward error correction recovered, among those delivered or late.
    pub recovered: u64,
    /// Datagrams of the peer whose payload was neither RTP nor a repair packet.
    pub malformed: u64,
    /// Interarrival jitter of the last source (RFC 3550, 6.4.1).
    pub jitter: Duration,
    /// Frames of a jitter buffer; `None` without one.
    pub frames: Option<Frames>,
    /// Quality for a viewer with this playout buffer or jitter buffer, over all streams. The start-up delay is that of the last one, from
    /// its connection on.
    pub player: PlayerReport,
}

impl Media {
    /// `playout` is the playout buffer of the viewer, and how long a gap is waited for. With `jitter` there is a jitter buffer instead.
    pub(super) fn new(playout: Duration, jitter: Option<JitterBufferConfig>, now: Instant) -> Self {
        Self {
            jitter: jitter.map(|config| Box::new(Jitter::new(config, now))),
            interarrival: InterarrivalJitter::default(),
            reorder: Reorder::new(playout),
            display: Display::new(PlayerConfig { start_up: playout, resume: playout }, now),
            decoder: None,
            recovered: 0,
            malformed: 0,
        }
    }

    /// A connection begins, with correction or without: that of a stream, or the next one of a stream that has lost its own.
    pub(super) fn handle_connection(&mut self, with_correction: bool, now: Instant, deliver: &mut impl FnMut(&[u8])) {
        if let Some(jitter) = &mut self.jitter {
            let octets = &mut self.display.octets;
            jitter.handle_connection(now, &mut counted(octets, deliver));
        }
        self.display.handle_connection(now);
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
        self.interarrival.handle_packet(&packet, now);
        self.order(packet, octets, now, deliver);
    }

    /// A packet that was missing, after it was sent again. How late it is tells nothing of the jitter.
    pub(super) fn handle_repaired(&mut self, octets: &[u8], now: Instant, deliver: &mut impl FnMut(&[u8])) {
        if let Ok(packet) = rtp::Packet::new_checked(octets) {
            self.order(packet, octets, now, deliver);
        }
    }

    /// Puts a packet into its place.
    fn order(&mut self, packet: rtp::Packet<&[u8]>, octets: &[u8], now: Instant, deliver: &mut impl FnMut(&[u8])) {
        let display = &mut self.display;
        if let Some(jitter) = &mut self.jitter {
            jitter.handle_packet(packet, octets, now, &mut counted(&mut display.octets, deliver));
            return;
        }
        let is_another = display.clock.is_some_and(|clock| clock.source != packet.source());
        if let Some(connected) = display.connected.take().filter(|_| is_another) {
            // What is held of the stream before comes too late to be seen.
            self.reorder.handle_end(&mut |octets| {
                if rtp::Packet::new_unchecked(octets).is_padding() {
                    display.padding += 1;
                    return;
                }
                display.octets += octets.len() as u64;
                deliver(octets);
            });
            display.begin(connected);
        }
        self.reorder.handle_packet(packet, octets, now, &mut |octets| {
            if display.handle_packet(octets, now) {
                deliver(octets);
            }
        });
    }

    /// Time has come to `now`: gaps are given up, displays stand still.
    pub(super) fn handle_timeout(&mut self, now: Instant, deliver: &mut impl FnMut(&[u8])) {
        let display = &mut self.display;
        if let Some(jitter) = &mut self.jitter {
            jitter.handle_timeout(now, &mut counted(&mut display.octets, deliver));
            return;
        }
        if display.player.poll_timeout().is_some_and(|due| due <= now) {
            display.player.handle_timeout(now);
        }
        self.reorder.handle_timeout(now, &mut |octets| {
            if display.handle_packet(octets, now) {
                deliver(octets);
            }
        });
    }

    /// The stream has ended as its sender wished.
    pub(super) fn handle_end(&mut self, now: Instant, deliver: &mut impl FnMut(&[u8])) {
        let display = &mut self.display;
        if let Some(jitter) = &mut self.jitter {
            jitter.handle_end(now, &mut counted(&mut display.octets, deliver));
            return;
        }
        self.reorder.handle_end(&mut |octets| {
            if display.handle_packet(octets, now) {
                deliver(octets);
            }
        });
        display.handle_end(now);
    }

    /// When [`handle_timeout`](Self::handle_timeout) is to be called next.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        let jitter = self.jitter.as_ref().and_then(|jitter| jitter.poll_timeout());
        [jitter, self.reorder.poll_timeout(), self.display.player.poll_timeout()].into_iter().flatten().min()
    }

    pub(super) fn report(&self, now: Instant) -> MediaReport {
        let recovered = self.decoder.as_ref().map_or(0, |decoder| decoder.statistics().recovered);
        let (player, frames, packets) = match &self.jitter {
            Some(jitter) => {
                let (player, frames) = jitter.report(now);
                (player, Some(frames), jitter.counts())
            }
            None => {
                let counts = self.reorder.counts();
                let delivered = counts.delivered - self.display.padding;
                (self.display.report(now), None, Counts { delivered, ..counts })
            }
        };
        MediaReport {
            packets,
            octets: self.display.octets,
            recovered: self.recovered + recovered,
            malformed: self.malformed,
            jitter: self.interarrival.jitter(),
            frames,
            player,
        }
    }
}

/// `deliver`, with a count of the bytes.
fn counted<'a>(octets: &'a mut u64, deliver: &'a mut impl FnMut(&[u8])) -> impl FnMut(&[u8]) + 'a {
    move |packet| {
        *octets += packet.len() as u64;
        deliver(packet);
    }
}

/// The viewer: a playout buffer whose media is as long as the RTP timestamps say.
#[derive(Debug)]
struct Display {
    config: PlayerConfig,
    /// Of the stream at hand.
    player: Player,
    /// `None` before its first packet.
    clock: Option<MediaClock>,
    /// Whether it has come to its end.
    is_over: bool,
    /// When a connection began of which nothing has come yet, whose media may be that of the stream at hand.
    connected: Option<Instant>,
    /// What became of the streams before it.
    before: PlayerReport,
    octets: u64,
    /// Packets of padding alone, which the output does not get.
    padding: u64,
}

/// Where the media has come by the timestamps of its source.
#[derive(Clone, Copy, Debug)]
struct MediaClock {
    source: u32,
    timestamp: u32,
    position: Duration,
}

impl Display {
    fn new(config: PlayerConfig, now: Instant) -> Self {
        Self {
            config,
            player: Player::new(config, now),
            clock: None,
            is_over: false,
            connected: None,
            before: PlayerReport::default(),
            octets: 0,
            padding: 0,
        }
    }

    /// A stream begins, or one that has not come to its end may go on: its media will tell.
    fn handle_connection(&mut self, now: Instant) {
        if self.clock.is_some() && !self.is_over {
            self.connected = Some(now);
        } else {
            self.begin(now);
        }
    }

    /// A viewer asks for a stream at `now`. Of the one before, all is shown that it has left in the buffer.
    fn begin(&mut self, now: Instant) {
        self.before = sum(&self.before, &self.player.report_at_end());
        self.player = Player::new(self.config, now);
        (self.clock, self.is_over) = (None, false);
    }

    fn handle_end(&mut self, now: Instant) {
        if let Some(connected) = self.connected.take() {
            // Nothing came of this stream.
            self.begin(connected);
        }
        self.is_over = true;
        self.player.handle_end(now);
    }

    fn report(&self, now: Instant) -> PlayerReport {
        sum(&self.before, &self.player.report(now))
    }

    /// A packet is delivered; whether it is media.
    fn handle_packet(&mut self, octets: &[u8], now: Instant) -> bool {
        let packet = rtp::Packet::new_unchecked(octets);
        if packet.is_padding() {
            self.padding += 1;
            return false;
        }
        self.octets += octets.len() as u64;
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
        true
    }
}

/// What a viewer of one stream after the other had to suffer.
fn sum(before: &PlayerReport, last: &PlayerReport) -> PlayerReport {
    PlayerReport {
        start_up_delay: last.start_up_delay,
        hiccups: before.hiccups + last.hiccups,
        stalled: before.stalled + last.stalled,
        longest: before.longest.max(last.longest),
        played: before.played + last.played,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    fn at(millis: u64) -> Instant {
        Instant::START + ms(millis)
    }

    /// A viewer who waits until 300 ms of media are there.
    fn media() -> Media {
        Media::new(ms(300), None, Instant::START)
    }

    /// The packet of this number, 100 ms of media after the one before.
    fn packet(source: u32, nth: u16) -> Vec<u8> {
        let repr = rtp::Repr {
            marker: false,
            payload_type: 33,
            sequence: nth,
            timestamp: u32::from(nth) * 9000,
            source,
            contributors: rtp::Contributors::NONE,
            extension: None,
            payload_len: 0,
            padding_len: 0,
        };
        let mut octets = vec![0; rtp::HEADER_LEN];
        repr.emit(&mut rtp::Packet::new_unchecked(&mut octets[..]));
        octets
    }

    /// It comes at `millis`.
    fn show(media: &mut Media, source: u32, nth: u16, millis: u64) {
        media.handle_payload(&packet(source, nth), at(millis), &mut |_| {});
    }

    /// All timers up to `millis` come.
    fn run_until(media: &mut Media, millis: u64) {
        while let Some(due) = media.poll_timeout().filter(|&due| due <= at(millis)) {
            media.handle_timeout(due, &mut |_| {});
        }
    }

    /// 400 ms of media from `millis` on, each packet in its time, then a pause of 500 ms, of which the buffer hides 300, and 300 ms
    /// of media at once.
    fn show_with_a_pause(media: &mut Media, source: u32, millis: u64) {
        (0..=4).for_each(|nth| show(media, source, nth, millis + 100 * u64::from(nth)));
        run_until(media, millis + 900);
        (5..=7).for_each(|nth| show(media, source, nth, millis + 900));
    }

    #[test]
    fn each_stream_has_its_own_start_and_all_are_summed() {
        let mut media = media();
        assert_eq!(media.report(at(60_000)).player, PlayerReport::default());
        // A minute without a sender is none of the stream's.
        media.handle_connection(false, at(60_000), &mut |_| {});
        show_with_a_pause(&mut media, 1, 60_050);
        media.handle_end(at(60_950), &mut |_| {});
        run_until(&mut media, 61_250);
        // It begins at 60 350, stands at 400 ms from 60 750 on, and shows the rest from 60 950 on.
        let first = PlayerReport {
            start_up_delay: Some(ms(350)),
            hiccups: 1,
            stalled: ms(200),
            longest: ms(200),
            played: ms(700),
        };
        assert_eq!(media.report(at(70_000)).player, first);
        media.handle_connection(false, at(70_000), &mut |_| {});
        assert_eq!(media.report(at(70_000)).player, PlayerReport { start_up_delay: None, ..first });
        show_with_a_pause(&mut media, 2, 70_000);
        let both = PlayerReport {
            start_up_delay: Some(ms(300)),
            hiccups: 2,
            stalled: ms(400),
            longest: ms(200),
            played: ms(700 + 400 + 100),
        };
        assert_eq!(media.report(at(71_000)).player, both);
    }

    #[test]
    fn a_stream_without_media_is_not_shown() {
        let mut media = media();
        media.handle_connection(false, at(1000), &mut |_| {});
        media.handle_end(at(2000), &mut |_| {});
        assert_eq!(media.report(at(3000)).player, PlayerReport::default());
    }

    #[test]
    fn what_a_stream_has_left_in_the_buffer_is_shown_though_the_next_begins() {
        let mut media = media();
        media.handle_connection(false, at(0), &mut |_| {});
        (0..=20).for_each(|nth| show(&mut media, 1, nth, 0));
        media.handle_end(at(0), &mut |_| {});
        assert_eq!(media.report(at(100)).player.played, ms(100));
        media.handle_connection(false, at(100), &mut |_| {});
        let player = media.report(at(100)).player;
        assert_eq!((player.played, player.hiccups, media.poll_timeout()), (ms(2000), 0, None));
    }

    #[test]
    fn another_stream_after_one_without_an_end_has_a_viewer_of_its_own() {
        let mut media = media();
        media.handle_connection(false, at(1000), &mut |_| {});
        (0..=4).for_each(|nth| show(&mut media, 1, nth, 1000));
        // A packet is missing; what came behind it is shown too late.
        show(&mut media, 1, 6, 1000);
        // The sender is killed; the viewer stands still from 1600 on.
        run_until(&mut media, 20_000);
        assert_eq!(media.report(at(20_000)).player.stalled, ms(18_400));
        media.handle_connection(false, at(20_000), &mut |_| {});
        show_with_a_pause(&mut media, 2, 20_050);
        let expected = PlayerReport {
            start_up_delay: Some(ms(350)),
            hiccups: 1,
            stalled: ms(200),
            longest: ms(200),
            played: ms(600 + 400 + 100),
        };
        assert_eq!(media.report(at(21_050)).player, expected);
        // One of which nothing comes changes nothing of that, but has no start.
        run_until(&mut media, 60_000);
        media.handle_connection(false, at(60_000), &mut |_| {});
        media.handle_end(at(70_000), &mut |_| {});
        let ended = PlayerReport { start_up_delay: None, played: ms(600 + 700), ..expected };
        assert_eq!(media.report(at(80_000)).player, ended);
    }

    #[test]
    fn what_is_held_of_a_stream_before_is_delivered_and_not_shown() {
        let mut media = Media::new(ms(60_000), None, Instant::START);
        let mut delivered = Vec::new();
        media.handle_connection(false, at(0), &mut |_| {});
        for (source, nth) in [(1, 0), (1, 2), (1, 4), (2, 7)] {
            if source == 2 {
                media.handle_connection(false, at(5000), &mut |_| {});
            }
            let octets = packet(source, nth);
            media.handle_payload(&octets, at(5000), &mut |octets| delivered.push(octets.to_vec()));
        }
        assert_eq!(delivered, [packet(1, 0), packet(1, 2), packet(1, 4), packet(2, 7)]);
        let report = media.report(at(5000));
        assert_eq!((report.octets, report.packets.lost), (4 * rtp::HEADER_LEN as u64, 2));
        assert_eq!(media.display.player.buffered(at(5000)), Duration::ZERO);
    }

    #[test]
    fn a_stream_that_goes_on_over_another_connection_keeps_its_viewer() {
        let mut media = media();
        media.handle_connection(false, at(1000), &mut |_| {});
        (0..=4).for_each(|nth| show(&mut media, 1, nth, 1000));
        run_until(&mut media, 2000);
        media.handle_connection(false, at(2000), &mut |_| {});
        (5..=8).for_each(|nth| show(&mut media, 1, nth, 2000));
        let expected = PlayerReport {
            start_up_delay: Some(Duration::ZERO),
            hiccups: 1,
            stalled: ms(600),
            longest: ms(600),
            played: ms(500),
        };
        assert_eq!(media.report(at(2100)).player, expected);
    }
}
