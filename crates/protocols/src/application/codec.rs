//! A video encoder that follows a target rate (RFC 8593).

use std::sync::Arc;

use super::{Application, Encoder};
use crate::random::Stream;
use crate::time::{Duration, Instant};

/// Least time between two reactions of the encoder to a new target (RFC 8593, section 5.1, tau_v).
const REACTION: Duration = Duration::from_millis(200);
/// Frames of a burst, and bytes of its first one (section 5.2, K_d and K_B).
const BURST_FRAMES: u32 = 8;
const BURST_BYTES: f64 = 13_500.0;
/// The least that later frames of a burst keep of their usual size, and the change of the rate, as a share of the one before, beyond
/// which there is a burst. The RFC leaves both open; these are those of its authors' code (cisco/syncodecs).
const BURST_LEAST: f64 = 0.2;
const ABRUPT: f64 = 0.5;
/// Width of the Laplace distributions of intervals and sizes (section 5.3, SCALE_t and SCALE_B).
const SCALE: f64 = 0.15;
/// Deviations are cut here on both sides, so that intervals and sizes stay positive and keep their means.
const WIDEST: f64 = 0.9;
/// Content sharing, as the RFC's authors have it (cisco/syncodecs): the most bytes of a frame without a change, the probability of a
/// change, and the range of how much larger its frame is.
const NO_CHANGE_BYTES: f64 = 1_000.0;
const CHANGE: f64 = 0.05;
const CHANGE_RATIO: [f64; 2] = [20.0, 200.0];

/// How an encoder behaves.
#[derive(Clone, Debug, PartialEq)]
pub enum CodecModel {
    /// Frames vary in size and interval around the target rate.
    Steady,
    /// Likewise, and an abrupt change of the target rate costs a burst: one large frame, then smaller ones.
    Transient,
    /// A shared screen: small frames, and now and then a large one.
    ContentSharing,
    /// Frames as those of traces, at even intervals (section 6).
    Trace(Ladder),
    /// Likewise, with the burst of [`Self::Transient`] (section 7).
    Hybrid(Ladder),
}

/// Traces of one film, each encoded at another rate: the frames at any rate.
#[derive(Clone, Debug, PartialEq)]
pub struct Ladder(Arc<[Rung]>);

/// One trace.
#[derive(Clone, Debug, PartialEq)]
struct Rung {
    /// Its mean rate in bytes a frame.
    mean: f64,
    frames: Arc<[u32]>,
}

impl Ladder {
    /// Of the sizes of frames in bytes.
    ///
    /// # Panics
    /// If there is no trace, or one whose frames are all empty.
    pub fn new(traces: impl IntoIterator<Item = Arc<[u32]>>) -> Self {
        let rung = |frames: Arc<[u32]>| {
            let bytes: f64 = frames.iter().map(|&size| f64::from(size)).sum();
            assert!(bytes > 0.0, "a trace has frames");
            Rung { mean: bytes / frames.len() as f64, frames }
        };
        let mut rungs: Vec<Rung> = traces.into_iter().map(rung).collect();
        assert!(!rungs.is_empty(), "a ladder has traces");
        rungs.sort_by(|one, other| one.mean.total_cmp(&other.mean));
        Self(rungs.into())
    }

    /// Bytes of a frame, by its number, where the mean is to be `usual` bytes: between two traces a mean of both, and beyond them the
    /// nearest one, larger or smaller. A trace begins again at its end.
    fn size(&self, number: usize, usual: f64) -> f64 {
        let of = |rung: &Rung| f64::from(rung.frames[number % rung.frames.len()]);
        let above = self.0.partition_point(|rung| rung.mean < usual);
        match (above.checked_sub(1).map(|below| &self.0[below]), self.0.get(above)) {
            (Some(below), Some(above)) => {
                let share = (usual - below.mean) / (above.mean - below.mean);
                (1.0 - share) * of(below) + share * of(above)
            }
            (Some(nearest), None) | (None, Some(nearest)) => of(nearest) * usual / nearest.mean,
            (None, None) => unreachable!("a ladder has traces"),
        }
    }
}

/// Parameters of an encoder.
#[derive(Clone, Debug, PartialEq)]
pub struct CodecConfig {
    /// How it behaves.
    pub model: CodecModel,
    /// What it can do.
    pub encoder: Encoder,
    /// The most bytes of a packet.
    pub packet: u32,
}

/// Writes the frames of an encoder, cut into packets; never blocks. Before it is told a target rate, its target is the least one.
#[derive(Clone, Debug)]
pub struct CodecSource {
    config: CodecConfig,
    random: Stream,
    /// What it was told last, and what it follows, in b/s.
    target: f64,
    rate: f64,
    /// When it may react to a new target.
    reacts: Instant,
    /// Frames of the burst that are left.
    burst: u32,
    /// Frames that were encoded.
    frames: usize,
    /// When the present frame is due, its bytes, and those that are written.
    due: Instant,
    size: u32,
    offset: u32,
}

impl CodecSource {
    /// From `start`. `random` draws sizes and intervals.
    pub fn new(config: CodecConfig, start: Instant, random: Stream) -> Self {
        let rate = config.encoder.min_rate;
        let mut source = Self {
            config,
            random,
            target: rate,
            rate,
            reacts: start,
            burst: 0,
            frames: 0,
            due: start,
            size: 0,
            offset: 0,
        };
        source.size = source.encode();
        source
    }

    /// Bytes of the next frame.
    fn encode(&mut self) -> u32 {
        let usual = self.rate / (8.0 * self.config.encoder.frame_rate);
        let burst = self.burst;
        self.burst = burst.saturating_sub(1);
        self.frames += 1;
        let of_burst = || match burst {
            BURST_FRAMES => BURST_BYTES,
            // All frames of the burst together are as large as usual, if that is possible.
            _ => {
                ((f64::from(BURST_FRAMES) * usual - BURST_BYTES) / f64::from(BURST_FRAMES - 1)).max(BURST_LEAST * usual)
            }
        };
        let size = match &self.config.model {
            _ if burst > 0 => of_burst(),
            CodecModel::Trace(ladder) | CodecModel::Hybrid(ladder) => ladder.size(self.frames - 1, usual),
            CodecModel::Steady | CodecModel::Transient => usual * (1.0 + self.deviation()),
            CodecModel::ContentSharing => {
                let [least, most] = CHANGE_RATIO;
                let has_changed = self.random.unit() < CHANGE;
                let ratio = if has_changed { least + (most - least) * self.random.unit() } else { 1.0 };
                ratio * usual.min(NO_CHANGE_BYTES)
            }
        };
        // A packet has at least one byte.
        libm::round(size.clamp(1.0, f64::from(u32::MAX))) as u32
    }

    /// Reacts to the target rate, if it is time.
    fn react(&mut self, now: Instant) {
        if now < self.reacts || self.target == self.rate {
            return;
        }
        let is_abrupt = libm::fabs(self.target - self.rate) > ABRUPT * self.rate;
        let is_transient = matches!(self.config.model, CodecModel::Transient | CodecModel::Hybrid(_));
        if is_transient && is_abrupt {
            self.burst = BURST_FRAMES;
        }
        self.rate = self.target;
        self.reacts = now + REACTION;
    }

    /// A draw of the Laplace distribution with mean zero, cut.
    fn deviation(&mut self) -> f64 {
        let place = self.random.unit() - 0.5;
        let width = -SCALE * libm::log(1.0 - 2.0 * libm::fabs(place));
        libm::copysign(width.min(WIDEST), place)
    }
}

impl Application for CodecSource {
    fn poll_write(&self, now: Instant) -> Option<u32> {
        (now >= self.due).then(|| (self.size - self.offset).min(self.config.packet))
    }

    fn handle_written(&mut self, _now: Instant) {
        self.offset += (self.size - self.offset).min(self.config.packet);
        if self.offset < self.size {
            return;
        }
        let varies = matches!(self.config.model, CodecModel::Steady | CodecModel::Transient);
        let deviation = if varies { self.deviation() } else { 0.0 };
        self.due += Duration::from_secs_f64((1.0 + deviation) / self.config.encoder.frame_rate);
        self.react(self.due);
        (self.size, self.offset) = (self.encode(), 0);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        Some(self.due)
    }

    fn handle_target_rate(&mut self, rate: u64, _now: Instant) {
        self.target = (rate as f64).clamp(self.config.encoder.min_rate, self.config.encoder.max_rate);
    }

    fn encoder(&self) -> Option<Encoder> {
        Some(self.config.encoder)
    }

    fn largest_write(&self) -> u32 {
        self.config.packet
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Purpose;

    fn source(model: CodecModel, max_rate: f64) -> CodecSource {
        let encoder = Encoder { min_rate: 150e3, max_rate, frame_rate: 25.0 };
        let config = CodecConfig { model, encoder, packet: 1000 };
        CodecSource::new(config, Instant::START, Stream::new(1, Purpose::Application, 0, 0))
    }

    /// The next frame: when, and the packets that it comes in.
    fn frame(source: &mut CodecSource) -> (Instant, Vec<u32>) {
        let due = source.due;
        let mut packets = Vec::new();
        while let Some(octets) = source.poll_write(due) {
            packets.push(octets);
            source.handle_written(due);
        }
        (due, packets)
    }

    fn sizes(source: &mut CodecSource, count: usize) -> Vec<u32> {
        (0..count).map(|_| frame(source).1.iter().sum()).collect()
    }

    /// Two traces of 100 and 300 bytes a frame: in between a mean of both, beyond them more or less of the nearest.
    #[test]
    fn a_ladder_has_frames_at_any_rate() {
        let [low, high] = [[50, 150, 100, 100], [600, 200, 300, 100]].map(|frames: [u32; 4]| Arc::from(&frames[..]));
        // In any order.
        let ladder = Ladder::new([high, low]);
        for (usual, sizes) in [
            (100.0, [50.0, 150.0, 100.0, 100.0]),
            (300.0, [600.0, 200.0, 300.0, 100.0]),
            (200.0, [325.0, 175.0, 200.0, 100.0]),
            (50.0, [25.0, 75.0, 50.0, 50.0]),
            (600.0, [1200.0, 400.0, 600.0, 200.0]),
        ] {
            for round in [0, 4, 400] {
                assert_eq!([0, 1, 2, 3].map(|frame| ladder.size(round + frame, usual)), sizes, "{usual}");
            }
        }
    }

    /// Of 25 frames a second; 150 kb/s are 750 bytes a frame. A hybrid has the burst besides.
    #[test]
    fn traces_are_followed_at_even_intervals() {
        let ladder = || Ladder::new([Arc::from(&[500_u32, 1500, 1000][..])]);
        let mut plain = source(CodecModel::Trace(ladder()), 40e6);
        assert_eq!(sizes(&mut plain, 4), [375, 1125, 750, 375]);
        assert_eq!(plain.due, Instant::START + Duration::from_millis(160));
        for (model, expected) in
            [(CodecModel::Trace(ladder()), [2000, 6000, 4000]), (CodecModel::Hybrid(ladder()), [13_500, 2643, 2643])]
        {
            let mut source = source(model, 40e6);
            source.handle_target_rate(800_000, Instant::START);
            // The first frame was encoded before.
            let next = sizes(&mut source, 12);
            let begin = next.iter().position(|&size| size == expected[0]).expect("the new rate");
            assert_eq!(next[begin..begin + 3], expected);
        }
    }

    #[test]
    fn frames_come_in_packets() {
        let mut source = source(CodecModel::Steady, 1e6);
        for _ in 0..100 {
            let (_, packets) = frame(&mut source);
            let (last, full) = packets.split_last().unwrap();
            assert!(full.iter().all(|&octets| octets == 1000) && (1..=1000).contains(last));
        }
    }

    /// A Laplace distribution of width b, cut at c: the deviations have mean 0 and variance 2b² − e^(−c/b)(2b² + 2bc), 0.0443 here.
    #[test]
    fn steady_frames_deviate_around_the_rate() {
        let mut source = source(CodecModel::Steady, 1e6);
        source.handle_target_rate(1_000_000, Instant::START);
        sizes(&mut source, 50);
        let begin = source.due;
        let count = 20_000;
        let sizes = sizes(&mut source, count);
        // 5000 bytes each 40 ms.
        let deviations: Vec<f64> = sizes.iter().map(|&size| f64::from(size) / 5000.0 - 1.0).collect();
        let mean = deviations.iter().sum::<f64>() / count as f64;
        let variance = deviations.iter().map(|deviation| deviation * deviation).sum::<f64>() / count as f64;
        // Deviation 0.21 / √20000 = 0.0015 of the mean; of the variance, with a kurtosis of about 6, 0.0007.
        assert!(mean.abs() < 0.006 && (variance - 0.0443).abs() < 0.003, "{mean} {variance}");
        let elapsed = (source.due - begin).as_secs_f64() / count as f64;
        assert!((elapsed / 0.04 - 1.0).abs() < 0.006, "{elapsed}");
    }

    /// A change is taken up at the next frame, and then none for 200 ms: five frames of 40 ms, give or take their deviations.
    #[test]
    fn the_rate_changes_at_most_each_200_ms() {
        let mut source = source(CodecModel::ContentSharing, 40e6);
        source.handle_target_rate(200_000, Instant::START);
        frame(&mut source);
        assert_eq!(source.rate, 200e3);
        for (frames, rate) in [(4, 200e3), (1, 300e3)] {
            source.handle_target_rate(300_000, source.due);
            sizes(&mut source, frames);
            assert_eq!(source.rate, rate);
        }
        source.handle_target_rate(1, source.due);
        sizes(&mut source, 5);
        assert_eq!(source.rate, 150e3, "its least");
    }

    /// From 150 to 800 kb/s: frames of 4000 bytes. The first of eight has 13 500, the other seven share what is left of 32 000.
    #[test]
    fn an_abrupt_change_costs_a_burst() {
        let mut source = source(CodecModel::Transient, 40e6);
        source.handle_target_rate(800_000, Instant::START);
        frame(&mut source);
        assert_eq!(sizes(&mut source, 8), [13_500, 2643, 2643, 2643, 2643, 2643, 2643, 2643]);
        // 1 Mb/s is no more than half as much again.
        source.handle_target_rate(1_000_000, source.due);
        sizes(&mut source, 1);
        assert_eq!((source.rate, source.burst), (1e6, 0));
        // Where the burst alone is too much, the others keep a fifth of their size.
        source.reacts = source.due;
        source.handle_target_rate(300_000, source.due);
        sizes(&mut source, 1);
        assert_eq!(sizes(&mut source, 3), [13_500, 300, 300]);
    }

    /// One frame in twenty is 20 to 200 times as large: 6.45 times a small one on average.
    #[test]
    fn a_shared_screen_changes_now_and_then() {
        let mut source = source(CodecModel::ContentSharing, 40e6);
        source.handle_target_rate(1_000_000, Instant::START);
        sizes(&mut source, 10);
        let sizes = sizes(&mut source, 20_000);
        let large: Vec<u32> = sizes.iter().copied().filter(|&size| size > 1000).collect();
        assert!(sizes.iter().all(|&size| size == 1000 || (20_000..=200_000).contains(&size)));
        // Of 1000 expected, the deviation is 31.
        assert!((870..1130).contains(&large.len()), "{}", large.len());
        let mean = large.iter().map(|&size| f64::from(size)).sum::<f64>() / large.len() as f64;
        assert!((mean / 110e3 - 1.0).abs() < 0.06, "{mean}");
    }
}
