//! A modelled encoder as the source of media (RFC 8593): that of simulated flows, by the machine's clock.

use hopcast_protocols::application::{Application, CodecConfig, CodecModel, CodecSource, Encoder};
use hopcast_protocols::random::{Purpose, Stream};
use hopcast_protocols::time::Instant;
use hopcast_protocols::transport::rtp::timestamp;
use hopcast_wire::rtp::{self, Contributors};

use super::rate::FRAME_PERIOD;
use super::session::TRANSPORT_LEN;

/// What stands before the name of a model as `--input`.
const SCHEME: &str = "encoder:";
const MODELS: [(&str, CodecModel); 3] = [
    ("steady", CodecModel::Steady),
    ("transient", CodecModel::Transient),
    ("content-sharing", CodecModel::ContentSharing),
];
/// The first dynamic payload type (RFC 3551, section 3): no decoder knows what is in it.
const PAYLOAD_TYPE: u8 = 96;

/// Reads `encoder:MODEL`; `None` if it is no encoder.
pub(super) fn parse(text: &str) -> Option<Result<CodecModel, String>> {
    let name = text.strip_prefix(SCHEME)?;
    let model = MODELS.into_iter().find_map(|(other, model)| (other == name).then_some(model));
    Some(model.ok_or_else(|| "encoder:steady, encoder:transient or encoder:content-sharing is wanted".into()))
}

/// Frames of zeros, cut into RTP packets.
#[derive(Debug)]
pub(super) struct ModelledEncoder {
    source: CodecSource,
    /// The source of the media, its next number, and what its timestamps begin with.
    ssrc: u32,
    sequence: u16,
    timestamp: u32,
    octets: Vec<u8>,
}

impl ModelledEncoder {
    /// From `now` on, between two rates in b/s. The random values come from `seed`.
    pub(super) fn new(model: CodecModel, [min_rate, max_rate]: [u64; 2], seed: u64, now: Instant) -> Self {
        let mut random = Stream::new(seed, Purpose::Application, 0, 0);
        let [first, second] = [random.next_u64(), random.next_u64()];
        let frame_rate = 1.0 / FRAME_PERIOD.as_secs_f64();
        let encoder = Encoder { min_rate: min_rate as f64, max_rate: max_rate as f64, frame_rate };
        let config = CodecConfig { model, encoder, packet: (TRANSPORT_LEN - rtp::HEADER_LEN) as u32 };
        Self {
            source: CodecSource::new(config, now, random),
            ssrc: first as u32,
            sequence: (first >> 32) as u16,
            timestamp: second as u32,
            octets: Vec::new(),
        }
    }

    /// When the next packet is due.
    pub(super) fn due(&self) -> Option<Instant> {
        self.source.poll_timeout()
    }

    /// The next packet, if it is due at `now`, and whether it is the last one of its frame. The encoder is to follow `target`, in b/s.
    pub(super) fn poll_packet(&mut self, target: u64, now: Instant) -> Option<(&[u8], bool)> {
        let len = self.source.poll_write(now)?;
        let due = self.source.poll_timeout();
        self.source.handle_target_rate(target, now);
        self.source.handle_written(now);
        let is_last = self.source.poll_timeout() != due;
        let repr = rtp::Repr {
            marker: is_last,
            payload_type: PAYLOAD_TYPE,
            sequence: self.sequence,
            timestamp: self.timestamp.wrapping_add(timestamp(due.unwrap_or(now))),
            source: self.ssrc,
            contributors: Contributors::NONE,
            extension: None,
            payload_len: len as usize,
            padding_len: 0,
        };
        self.sequence = self.sequence.wrapping_add(1);
        self.octets.clear();
        self.octets.resize(rtp::HEADER_LEN + len as usize, 0);
        repr.emit(&mut rtp::Packet::new_unchecked(&mut self.octets[..]));
        Some((&self.octets, is_last))
    }
}

#[cfg(test)]
mod tests {
    use hopcast_protocols::time::Duration;

    use super::*;

    #[test]
    fn frames_have_their_times_and_follow_the_target_rate() {
        let start = Instant::START + Duration::from_secs(5);
        let model = parse("encoder:steady").expect("it is an encoder").expect("the model is known");
        let mut encoder = ModelledEncoder::new(model, [150_000, 3_000_000], 7, start);
        let mut frames: Vec<(Instant, u32, usize)> = Vec::new();
        let (mut begins, mut expected) = (true, encoder.sequence);
        while let Some(due) = encoder.due().filter(|&due| due < start + Duration::from_secs(60)) {
            assert!(encoder.poll_packet(2_000_000, due - Duration::from_nanos(1)).is_none() || due == start);
            while let Some((octets, is_last)) = encoder.poll_packet(2_000_000, due) {
                let packet = rtp::Packet::new_checked(octets).expect("RTP");
                assert!(packet.payload().len() <= 1316 && packet.marker() == is_last);
                assert_eq!((packet.payload_type(), packet.sequence()), (96, expected));
                expected = expected.wrapping_add(1);
                if begins {
                    frames.push((due, packet.timestamp(), 0));
                }
                frames.last_mut().expect("a frame has begun").2 += packet.payload().len();
                begins = is_last;
            }
        }
        for pair in frames.windows(2) {
            let elapsed = (pair[1].0 - pair[0].0).as_secs_f64() * 90e3;
            assert!((f64::from(pair[1].1.wrapping_sub(pair[0].1)) - elapsed).abs() <= 1.0);
        }
        // 25 frames a second, of the least rate at first. The width of 0.15 varies a mean of 1500 by half a per cent, in size and time.
        let octets: usize = frames[20..].iter().map(|frame| frame.2).sum();
        let rate = 8.0 * octets as f64 / (60.0 - (frames[20].0 - start).as_secs_f64());
        assert!((1450..=1550).contains(&frames.len()) && (1.9e6..=2.1e6).contains(&rate), "{} {rate}", frames.len());
        assert!((300..1500).contains(&frames[0].2), "{:?}", frames[0]);
    }

    #[test]
    fn other_models_are_told_what_there_is() {
        assert!(parse("film.ts").is_none());
        let wrong = parse("encoder:fast").expect("it is an encoder").expect_err("the model is unknown");
        assert!(MODELS.iter().all(|(name, _)| wrong.contains(name)), "{wrong}");
    }
}
