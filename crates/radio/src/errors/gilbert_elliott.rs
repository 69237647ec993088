//! A channel that alternates between a good and a bad state.

use std::collections::VecDeque;

use hopcast_protocols::random::{Purpose, Stream};
use hopcast_protocols::time::{Duration, Instant};

use super::{ErrorModel, ReceivedFrame};
use crate::phy::{FrameCode, ReedSolomon};
use crate::variate;

/// The two states of a channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct States {
    /// Bit error rate in the good state, 0 to 0.5.
    pub good_ber: f64,
    /// Bit error rate in the bad state, 0 to 0.5.
    pub bad_ber: f64,
    /// Mean time in the good state.
    pub good_mean: Duration,
    /// Mean time in the bad state.
    pub bad_mean: Duration,
}

impl States {
    /// The share of time in the bad state, bad_mean/(good_mean + bad_mean).
    pub fn bad_share(&self) -> f64 {
        let (good, bad) = (self.good_mean.as_nanos() as f64, self.bad_mean.as_nanos() as f64);
        if good + bad > 0.0 { bad / (good + bad) } else { 0.0 }
    }
}

/// What moves the states of a channel on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clock {
    /// Time, whether frames pass or not.
    #[default]
    Time,
    /// The time of the frames that a node receives: between them the state stands still. The error models of ns-2 in units of bytes
    /// and packets do this (`TwoStateErrorModel` in errmodel.cc, where `remainLen_` goes down with each packet).
    Frames,
}

/// The time of a channel that stands still while nothing is received.
#[derive(Clone, Copy, Debug, Default)]
struct Used {
    /// When the last frame ended.
    until: Instant,
    /// The channel's time then.
    at: Instant,
}

impl Used {
    /// The channel's time at the start and at the end of a frame, which end in order. Frames that overlap share it.
    fn span(&mut self, start: Instant, end: Instant) -> (Instant, Instant) {
        let from = self.at.saturating_before(self.until.saturating_since(start));
        let to = from + end.saturating_since(start);
        if end > self.until {
            *self = Self { until: end, at: to };
        }
        (from, to)
    }
}

/// One node's channel: a Markov chain of two states in continuous time.
///
/// E. N. Gilbert, "Capacity of a burst-noise channel", Bell System Technical Journal 39(5), 1960, and E. O. Elliott,
/// "Estimates of error rates for codes on burst-noise channels", same journal 42(5), 1963, with exponential times. The
/// chain moves on with time, whether frames pass or not; its first state is drawn from the stationary distribution. A
/// frame is divided exactly at changes of state, with bits spread evenly over its time.
///
/// Limits: within a state bits err independently. Frames may overlap, but are judged in order of their ends; a state that
/// ended longer than [`GilbertElliott::MEMORY`] before the latest end, and before the frame that ends then, is forgotten:
/// a longer frame that is judged later begins in the oldest state that is remembered.
#[derive(Clone, Debug)]
pub struct GilbertElliott {
    states: States,
    stream: Stream,
    /// When each stay ends, oldest first; never empty.
    stays: VecDeque<Instant>,
    /// Whether the oldest stay that is remembered is a bad one.
    oldest_is_bad: bool,
}

impl GilbertElliott {
    /// Time for which states are remembered: longer than any frame of 802.11.
    pub const MEMORY: Duration = Duration::from_millis(100);

    /// The channel of `node` in the run with `seed`.
    pub fn new(seed: u64, node: u32, states: States) -> Self {
        let mut stream = Stream::new(seed, Purpose::GilbertElliott, u64::from(node), 0);
        let oldest_is_bad = stream.unit() < states.bad_share();
        let mut chain = Self { states, stream, stays: VecDeque::with_capacity(8), oldest_is_bad };
        chain.stay(Instant::from_nanos(0), oldest_is_bad);
        chain
    }

    /// Whether the state is the bad one at an instant, which is at most [`GilbertElliott::MEMORY`] before the latest one
    /// asked for.
    pub fn is_bad(&mut self, now: Instant) -> bool {
        self.advance(now, now);
        let passed = self.stays.partition_point(|&end| end <= now);
        self.oldest_is_bad ^ (passed % 2 == 1)
    }

    /// Lengths of time and their bit error rates from `start` to `end`, in order.
    pub fn pieces(&mut self, start: Instant, end: Instant) -> impl Iterator<Item = (Duration, f64)> + Clone + '_ {
        self.advance(start, end);
        let States { good_ber, bad_ber, .. } = self.states;
        let passed = self.stays.partition_point(|&until| until <= start);
        let first_is_bad = self.oldest_is_bad ^ (passed % 2 == 1);
        let stays = self.stays.range(passed..).enumerate();
        stays
            .scan(start, move |from, (i, &until)| {
                let until = until.min(end);
                let length = until.saturating_since(*from);
                *from = until.max(*from);
                Some((length, if first_is_bad ^ (i % 2 == 1) { bad_ber } else { good_ber }))
            })
            .take_while(|&(length, _)| length > Duration::ZERO)
    }

    /// ln of the probability that a frame of `bits` bits between two instants has no wrong bit.
    pub fn ln_success(&mut self, start: Instant, end: Instant, bits: f64) -> f64 {
        let length = end.saturating_since(start).as_nanos() as f64;
        self.pieces(start, end)
            .map(|(piece, rate)| bits * (piece.as_nanos() as f64 / length) * libm::log1p(-rate))
            .sum()
    }

    /// The probability that a coded frame with this many bytes of data is received between two instants.
    pub fn coded_success(&mut self, code: ReedSolomon, start: Instant, end: Instant, octets: u32) -> f64 {
        code.success(octets, self.pieces(start, end).map(|(piece, rate)| (piece.as_nanos() as f64, rate)))
    }

    /// Draws states until `to` lies within one, and forgets those before `from` and before what overlapping frames need.
    fn advance(&mut self, from: Instant, to: Instant) {
        let horizon = from.min(to.saturating_before(Self::MEMORY));
        loop {
            let last = *self.stays.back().expect("a stay is always under way");
            if last > to {
                return;
            }
            let next_is_bad = self.oldest_is_bad ^ (self.stays.len() % 2 == 1);
            self.stay(last, next_is_bad);
            while self.stays.front().is_some_and(|&end| end <= horizon) && self.stays.len() > 1 {
                self.stays.pop_front();
                self.oldest_is_bad = !self.oldest_is_bad;
            }
        }
    }

    fn stay(&mut self, from: Instant, is_bad: bool) {
        let mean = if is_bad { self.states.bad_mean } else { self.states.good_mean };
        let length = Duration::from_secs_f64(variate::exponential(&mut self.stream) * mean.as_secs_f64());
        // Time moves on even through states that last no nanosecond.
        self.stays.push_back(from + length.max(Duration::from_nanos(1)));
    }
}

/// Errors by the state of the receiver's channel: each station has a separate [`GilbertElliott`].
#[derive(Clone, Debug)]
pub struct GilbertElliottErrors {
    seed: u64,
    states: States,
    /// What corrects errors.
    code: Option<FrameCode>,
    /// Whether preambles and headers err as well.
    headers: bool,
    clock: Clock,
    /// By station, of those asked about so far.
    chains: Vec<(GilbertElliott, Used)>,
}

impl GilbertElliottErrors {
    /// The channels of a run with `seed`. `code` corrects errors; bits of preambles and PLCP headers err only with
    /// `headers`.
    pub fn new(seed: u64, states: States, code: Option<FrameCode>, headers: bool) -> Self {
        Self { seed, states, code, headers, clock: Clock::Time, chains: Vec::new() }
    }

    /// The same with states that `clock` moves on.
    #[must_use]
    pub fn with_clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    fn chain(&mut self, station: u32) -> &mut (GilbertElliott, Used) {
        let known = self.chains.len() as u32;
        let new = |station| (GilbertElliott::new(self.seed, station, self.states), Used::default());
        self.chains.extend((known..=station).map(new));
        &mut self.chains[station as usize]
    }
}

impl ErrorModel for GilbertElliottErrors {
    fn loss(&mut self, &ReceivedFrame { frame, receiver, start, end, .. }: &ReceivedFrame<'_>) -> f64 {
        let before = if self.headers { frame.vector.framing().header_bits } else { 0 };
        let begin = if before == 0 { start } else { start.saturating_before(frame.header) };
        let code = self.code.and_then(|code| code.of(frame.receiver.is_none()));
        let clock = self.clock;
        let (chain, used) = self.chain(receiver.0);
        let (begin, start, end) = match clock {
            Clock::Time => (begin, start, end),
            Clock::Frames => {
                let (from, to) = used.span(begin, end);
                (from, from + start.saturating_since(begin), to)
            }
        };
        match code {
            // The code spans the header's octets too.
            Some(code) => 1.0 - chain.coded_success(code, begin, end, frame.octets + before / 8),
            None => {
                let header = if before == 0 { 0.0 } else { chain.ln_success(begin, start, f64::from(before)) };
                1.0 - libm::exp(header + chain.ln_success(start, end, 8.0 * f64::from(frame.octets)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::frame::{FrameKind, Header, StationId};
    use crate::phy::{Standard, TxVector};
    use crate::units::Power;
    use crate::variate::tests::{CRITICAL, kolmogorov_smirnov};

    /// Of Petrovic and Aboelaze.
    const PAPER: States = States {
        good_ber: 1e-6,
        bad_ber: 1e-2,
        good_mean: Duration::from_millis(100),
        bad_mean: Duration::from_nanos(33_300_000),
    };

    fn micros(micros: u64) -> Instant {
        Instant::from_nanos(micros * 1_000)
    }

    /// Closed form: 33.3/133.3 of the time; a cycle has a deviation of about its mean, so 7500 cycles give 1 % or so.
    #[test]
    fn occupancy_is_the_closed_form() {
        let mut chain = GilbertElliott::new(1, 0, PAPER);
        let mut times = [0.0; 2];
        for i in 0..100_000_u64 {
            for (length, rate) in chain.pieces(micros(10_000 * i), micros(10_000 * (i + 1))) {
                times[usize::from(rate > 1e-3)] += length.as_secs_f64();
            }
        }
        assert!((times[0] + times[1] - 1_000.0).abs() < 1e-6, "all of the time is accounted for");
        let share = times[1] / 1_000.0;
        assert!((share / PAPER.bad_share() - 1.0).abs() < 0.04, "{share} for {}", PAPER.bad_share());
    }

    #[test]
    fn stays_are_exponential() {
        let mut chain = GilbertElliott::new(3, 7, PAPER);
        let mut stays = [vec![], vec![]];
        let (mut from, mut state) = (Instant::from_nanos(0), None);
        for i in 0..400_000_u64 {
            // Pieces of 1 ms, put together where the state goes on.
            let mut at = micros(1_000 * i);
            let pieces: Vec<_> = chain.pieces(at, micros(1_000 * (i + 1))).collect();
            for (length, rate) in pieces {
                let is_bad = rate > 1e-3;
                if state != Some(is_bad) {
                    if let Some(was_bad) = state {
                        stays[usize::from(was_bad)].push(at.saturating_since(from).as_secs_f64());
                    }
                    (from, state) = (at, Some(is_bad));
                }
                at += length;
            }
        }
        for (lengths, mean) in stays.into_iter().zip([0.1, 0.0333]) {
            assert!(lengths.len() > 2_500);
            let distance = kolmogorov_smirnov(lengths, |length| -libm::expm1(-length / mean));
            assert!(distance < CRITICAL, "mean {mean}: {distance}");
        }
    }

    /// The fault of ns-2: a chain that moves only with packets is as bad after a pause as before it. Here the state after a
    /// pause τ is bad with π + (1 − π)·e^(−τ(1/g + 1/b)) if it was bad before: 0.25 after a second, not 1.
    #[test]
    fn states_move_on_while_nothing_is_sent() {
        for (pause, tolerance) in [(10_000, 0.03), (50_000, 0.03), (1_000_000, 0.03)] {
            let (mut still_bad, mut bad) = (0.0, 0.0);
            for node in 0..60 {
                let mut chain = GilbertElliott::new(9, node, PAPER);
                for i in 0..400_u64 {
                    // A packet of 1 ms, the pause, and the next packet; a second until the next pair.
                    let at = i * (pause + 1_000_000);
                    if chain.is_bad(micros(at)) {
                        bad += 1.0;
                        still_bad += f64::from(u8::from(chain.is_bad(micros(at + pause))));
                    }
                }
            }
            let share = PAPER.bad_share();
            let relaxed = libm::exp(-(pause as f64 * 1e-6) * (1.0 / 0.1 + 1.0 / 0.0333));
            let expected = share + (1.0 - share) * relaxed;
            assert!((still_bad / bad - expected).abs() < tolerance, "{pause} µs: {} for {expected}", still_bad / bad);
        }
    }

    /// The other half of that fault: who sends more does not see the states go by faster.
    #[test]
    fn frames_do_not_move_the_states() {
        let (mut busy, mut idle) = (GilbertElliott::new(2, 5, PAPER), GilbertElliott::new(2, 5, PAPER));
        for i in 0..200_000_u64 {
            busy.ln_success(micros(50 * i), micros(50 * i + 40), 320.0);
        }
        assert_eq!(busy.is_bad(micros(10_000_000)), idle.is_bad(micros(10_000_000)));
        let later = (micros(10_000_000), micros(20_000_000));
        assert_eq!(
            busy.pieces(later.0, later.1).collect::<Vec<_>>(),
            idle.pieces(later.0, later.1).collect::<Vec<_>>()
        );
    }

    /// The variant with that fault: by hand, frames of 4 ms and pauses of a second take 4 ms each of the channel's time, and one that
    /// begins before the last one has ended shares the rest of it.
    #[test]
    fn a_channel_that_frames_move_stands_still_between_them() {
        let mut used = Used::default();
        let seen = [(1_000_000, 1_004_000), (2_000_000, 2_004_000), (2_003_000, 2_007_000), (2_005_000, 2_006_500)];
        let spans = seen.map(|(start, end)| used.span(micros(start), micros(end)));
        assert_eq!(
            spans,
            [(0, 4_000), (4_000, 8_000), (7_000, 11_000), (9_000, 10_500)].map(|(a, b)| (micros(a), micros(b)))
        );
        assert_eq!(used.at, micros(11_000));
    }

    /// The consequence that the paper names: "states lasted for very long time". With frames of 1 ms each 100 ms the state after a pause
    /// is the one before but for a hundredth of the time, so that nearly all frames that follow a bad one are bad, too.
    #[test]
    fn states_that_frames_move_outlast_pauses() {
        let after_bad = |clock| {
            let (mut bad, mut still) = (0_u32, 0_u32);
            for station in 0..20 {
                let mut errors = GilbertElliottErrors::new(9, PAPER, None, false).with_clock(clock);
                let mut was_bad = false;
                for i in 0..3_000_u64 {
                    let frame = frame(Duration::ZERO, Duration::from_millis(1));
                    let (start, end) = (micros(100_000 * i), micros(100_000 * i + 1_000));
                    let received =
                        ReceivedFrame { frame: &frame, receiver: StationId(station), power: Power::MAX, start, end };
                    let is_bad = errors.loss(&received) > 0.5;
                    bad += u32::from(was_bad);
                    still += u32::from(was_bad && is_bad);
                    was_bad = is_bad;
                }
            }
            f64::from(still) / f64::from(bad)
        };
        // Frames of 20 bytes in 1 ms: bad above half a chance, which takes 0.43 ms or more of a bad state.
        let (time, frames) = (after_bad(Clock::Time), after_bad(Clock::Frames));
        assert!((time - 0.27).abs() < 0.04, "{time}");
        assert!((frames - 0.97).abs() < 0.02, "{frames}");
    }

    /// By hand: 1000 bytes at 2 Mb/s take 4 ms, 8000 bits; wholly good 0.9920, wholly bad 1.2e-35.
    #[test]
    fn a_frame_in_one_state_has_that_states_rate() {
        let good = States { bad_mean: Duration::ZERO, ..PAPER };
        let bad = States { good_mean: Duration::ZERO, bad_mean: Duration::from_secs(1_000), ..PAPER };
        let of = |states| GilbertElliott::new(1, 0, states).ln_success(micros(0), micros(4_000), 8_000.0);
        assert!((libm::exp(of(good)) - 0.992_03).abs() < 1e-3);
        assert!((of(bad) - 8_000.0 * libm::log1p(-1e-2)).abs() < 1.0);
    }

    /// Over many frames: a frame of 4.3 ms survives if it meets no bad spell, 0.75·e^(−0.043) = 0.72, with its own 8000 good
    /// bits; with RS(255, 153) nearly all do.
    #[test]
    fn frames_survive_as_reckoned_by_hand() {
        let mut chain = GilbertElliott::new(4, 1, PAPER);
        let code = ReedSolomon::with_rate(0.6);
        let (mut plain, mut coded, frames) = (0.0, 0.0, 40_000_u64);
        for i in 0..frames {
            let (start, end) = (micros(37_000 * i), micros(37_000 * i + 4_300));
            plain += libm::exp(chain.ln_success(start, end, 8_000.0));
            coded += chain.coded_success(code, start, end, 1_000);
        }
        let plain = plain / frames as f64;
        // A spell that begins within the last bits of the frame may yet leave it whole: 1/80 of 0.75·0.043 each side.
        let expected = (1.0 - PAPER.bad_share()) * libm::exp(-0.043) * 0.992;
        assert!((plain - expected).abs() < 0.02, "{plain} for {expected}");
        assert!(coded / frames as f64 > 0.999_999, "{coded} of {frames}");
    }

    /// A frame of 20 bytes.
    fn frame(header: Duration, airtime: Duration) -> Header {
        Header {
            kind: FrameKind::Rts,
            transmitter: StationId(1),
            receiver: Some(StationId(0)),
            duration: Duration::ZERO,
            sequence: 0,
            retry: false,
            priority: None,
            octets: 20,
            vector: TxVector::new(Standard::Dsss, 0),
            airtime,
            header,
            payload: None,
        }
    }

    /// How likely a frame of 20 bytes at 1 Mb/s to this receiver, or to all, is lost where each hundredth bit errs.
    fn lost(headers: bool, code: Option<FrameCode>, to: Option<StationId>) -> f64 {
        let mean = Duration::from_secs(1);
        let states = States { good_ber: 1e-2, bad_ber: 1e-2, good_mean: mean, bad_mean: mean };
        let header = Duration::from_micros(192);
        let airtime = header + Duration::from_micros(160);
        let frame = Header { receiver: to, ..frame(header, airtime) };
        let (start, end) = (Instant::START + header, Instant::START + airtime);
        let received = ReceivedFrame { frame: &frame, receiver: StationId(0), power: Power::MAX, start, end };
        GilbertElliottErrors::new(1, states, code, headers).loss(&received)
    }

    /// 0.99 to the power of 160 bits, and of 192 more.
    #[test]
    fn bits_of_the_header_err_where_they_are_to() {
        let of = |bits: f64| 1.0 - libm::pow(0.99, bits);
        assert!((lost(false, None, Some(StationId(0))) - of(160.0)).abs() < 1e-12);
        assert!((lost(true, None, Some(StationId(0))) - of(352.0)).abs() < 1e-12);
    }

    #[test]
    fn correction_spans_the_header() {
        assert!(lost(true, Some(code(true)), Some(StationId(0))) < 1e-12);
    }

    fn code(protects_groups: bool) -> FrameCode {
        FrameCode { code: ReedSolomon::with_rate(0.6), protects_groups }
    }

    #[test]
    fn frames_to_all_are_corrected_only_where_the_code_protects_them() {
        let plain = lost(false, None, None);
        for to in [None, Some(StationId(0))] {
            assert!(lost(false, Some(code(true)), to) < 1e-12);
            let expected = if to.is_none() { plain } else { 0.0 };
            assert!((lost(false, Some(code(false)), to) - expected).abs() < 1e-12);
        }
    }

    proptest! {
        #[test]
        fn pieces_cover_the_frame(seed: u64, start in 0u64..5_000_000, length in 1u64..60_000, back in 0u64..40_000) {
            let mut chain = GilbertElliott::new(seed, 0, PAPER);
            let (from, to) = (micros(start), micros(start + length));
            let first: Vec<_> = chain.pieces(from, to).collect();
            let sum: u64 = first.iter().map(|(piece, _)| piece.as_nanos()).sum();
            prop_assert_eq!(sum, length * 1_000);
            // An overlapping frame that ends later leaves what was found as it was.
            let later = micros(start + length + back);
            prop_assert!(chain.pieces(from, later).count() >= first.len());
            prop_assert_eq!(chain.pieces(from, to).collect::<Vec<_>>(), first);
        }

        #[test]
        fn any_states_come_to_an_end(good in 0u64..3, bad in 0u64..3) {
            let states = States { good_mean: Duration::from_nanos(good), bad_mean: Duration::from_nanos(bad), ..PAPER };
            let mut chain = GilbertElliott::new(1, 0, states);
            let sum: u64 = chain.pieces(micros(3), micros(5)).map(|(piece, _)| piece.as_nanos()).sum();
            prop_assert_eq!(sum, 2_000);
        }
    }
}
