//! Two stations with an agreement on a link of no length, whose MPDUs and answers get lost as the test says.

use core::ops::{Deref, DerefMut};

use proptest::prelude::*;

use super::super::*;
use super::bench::{micros, us};
use crate::testkit::{self, Loss, config};

/// Of which the first station sends to the second.
struct Pair(testkit::Pair);

impl Deref for Pair {
    type Target = testkit::Pair;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Pair {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl Pair {
    fn new(config: &Config) -> Self {
        Self(testkit::Pair::new([config; 2]))
    }

    /// Gives the first station a packet, which goes at once, and while it is on the air those that follow.
    fn offer_behind_one(&mut self, end: u32) {
        self.offer(0..1);
        self.run(us(60));
        self.offer(1..end);
    }

    /// Gives the first station packets of 1500 bytes for the second.
    fn offer(&mut self, ids: core::ops::Range<u32>) {
        self.0.offer(0, ids, 0);
    }

    fn lose(&mut self, places: &[usize]) {
        self.losses.push_back(Loss { places: places.to_vec(), whole: false });
    }

    fn lose_whole(&mut self) {
        self.losses.push_back(Loss { places: Vec::new(), whole: true });
    }

    fn keep(&mut self) {
        self.losses.push_back(Loss::default());
    }

    fn kinds(&self) -> Vec<FrameKind> {
        self.sent.iter().map(|sent| sent.frame.kind).collect()
    }

    fn delivered(&self) -> Vec<u32> {
        self.fates[0].delivered.iter().map(|&(_, id)| id).collect()
    }
}

/// The first packet goes alone, as nothing waits behind it; the others in one frame: three MPDUs of 1538 bytes, with delimiters and
/// padding 4630, which take 36 + 4·143 µs.
#[test]
fn what_waits_goes_in_one_frame() {
    let mut pair = Pair::new(&config(|_| {}));
    pair.offer_behind_one(4);
    pair.run(us(5_000));
    assert_eq!(pair.kinds(), [FrameKind::Data, FrameKind::Ack, FrameKind::Data, FrameKind::BlockAck]);
    assert_eq!((pair.sent[0].frame.octets, pair.sent[2].frame.octets), (1_538, 2 * 1_544 + 1_542));
    assert_eq!((pair.sent[2].mpdus.clone(), pair.delivered()), (vec![1, 2, 3], vec![0, 1, 2, 3]));
    assert_eq!(pair.sent[2].frame.airtime, micros(36 + 4 * 143));
    assert_eq!(pair.sent[2].frame.duration, micros(16 + 32));
    assert_eq!(pair.sent[3].at, pair.sent[2].at + pair.sent[2].frame.airtime + micros(16));
    assert_eq!((pair.sent[3].frame.octets, pair.sent[3].frame.airtime), (32, micros(32)));
    assert_eq!(pair.fates[0].outcomes, (0..4).map(|id| (id, None)).collect::<Vec<_>>());
}

/// What is lost goes first in the next frame, with its number; packets that came behind it wait at the recipient.
#[test]
fn what_is_lost_goes_again() {
    let mut pair = Pair::new(&config(|_| {}));
    pair.offer_behind_one(6);
    pair.keep();
    pair.keep();
    pair.lose(&[1, 3]);
    pair.run(us(1_700));
    assert_eq!(pair.delivered(), [0, 1]);
    pair.run(us(5_000));
    assert_eq!(pair.sent[2].mpdus, [1, 2, 3, 4, 5]);
    assert_eq!(pair.sent[4].mpdus, [2, 4]);
    assert_eq!(pair.delivered(), [0, 1, 2, 3, 4, 5]);
}

/// Without a block acknowledgment all goes again, and the recipient delivers nothing twice.
#[test]
fn a_lost_block_ack_repeats_the_frame() {
    let mut pair = Pair::new(&config(|_| {}));
    pair.offer_behind_one(4);
    for _ in 0..3 {
        pair.keep();
    }
    pair.lose_whole();
    pair.run(us(9_000));
    assert_eq!((pair.sent[2].mpdus.clone(), pair.sent[4].mpdus.clone()), (vec![1, 2, 3], vec![1, 2, 3]));
    assert_eq!(pair.delivered(), [0, 1, 2, 3]);
    assert_eq!(pair.stations[1].counters().duplicates, 3);
    assert_eq!(pair.stations[0].counters().ack_timeouts, 1);
}

/// An MPDU that has had its attempts leaves a gap, which a request closes at once: the recipient waits for nothing.
#[test]
fn a_request_follows_what_is_given_up() {
    let mut pair = Pair::new(&config(|aggregation| aggregation.attempts = Some(2)));
    pair.offer_behind_one(4);
    pair.keep();
    pair.keep();
    pair.lose(&[0]);
    pair.keep();
    pair.lose_whole();
    pair.run(us(9_000));
    use FrameKind::{Ack, BlockAck, BlockAckRequest, Data};
    assert_eq!(pair.kinds(), [Data, Ack, Data, BlockAck, Data, BlockAckRequest, BlockAck]);
    assert_eq!((pair.sent[2].mpdus.clone(), pair.sent[4].mpdus.clone()), (vec![1, 2, 3], vec![1]));
    assert_eq!(pair.delivered(), [0, 2, 3]);
    let lost: Vec<_> = pair.fates[0].outcomes.iter().filter(|outcome| outcome.1.is_some()).collect();
    assert_eq!(lost, [&(1, Some(DropCause::LongRetryLimit))]);
    // SIFS after the request, which takes 32 µs at 24 Mb/s.
    assert_eq!(pair.sent[5].frame.octets, 24);
    assert_eq!(pair.sent[6].at, pair.sent[5].at + micros(32 + 16));
}

/// 10.25.6.5: never more than the window is outstanding from the first MPDU on.
#[test]
fn the_window_bounds_what_is_outstanding() {
    let mut pair = Pair::new(&config(|aggregation| aggregation.window = 4));
    pair.offer_behind_one(12);
    pair.keep();
    pair.keep();
    pair.lose(&[0]);
    pair.run(us(9_000));
    assert_eq!(pair.sent[2].mpdus, [1, 2, 3, 4]);
    assert_eq!(pair.sent[4].mpdus, [1]);
    assert_eq!(pair.delivered(), (0..12).collect::<Vec<_>>());
}

/// Two packets of 1500 bytes make an A-MSDU of 2·(14 + 8 + 1500) and padding of 2, and an MPDU of 3076.
#[test]
fn packets_share_an_mpdu() {
    let mut pair = Pair::new(&config(|aggregation| (aggregation.ampdu, aggregation.amsdu) = (0, 3_839)));
    pair.offer_behind_one(5);
    pair.run(us(9_000));
    let data: Vec<u32> =
        pair.sent.iter().filter(|sent| sent.frame.kind == FrameKind::Data).map(|s| s.frame.octets).collect();
    assert_eq!(data, [1_538, 3_076, 3_076]);
    assert_eq!(pair.delivered(), [0, 1, 2, 3, 4]);
    assert_eq!(pair.fates[0].outcomes.len(), 5);
}

/// A TXOP of 3.008 ms: frames of video follow each other by SIFS.
#[test]
fn a_txop_holds_several_frames() {
    let mut config = config(|aggregation| aggregation.ampdu = 8_000);
    let edca = config.edca.as_mut().expect("EDCA");
    edca[1].txop_limit = micros(3_008);
    let mut pair = Pair::new(&config);
    pair.offer_behind_one(16);
    pair.run(us(20_000));
    let starts: Vec<Instant> = pair.sent.iter().map(|sent| sent.at).collect();
    let ends: Vec<Instant> = pair.sent.iter().map(|sent| sent.at + sent.frame.airtime).collect();
    assert_eq!(pair.sent[2].mpdus, [1, 2, 3, 4, 5]);
    assert_eq!(starts[4], ends[3] + micros(16), "SIFS after the block acknowledgment");
    assert_eq!(
        (starts[6], pair.sent[6].mpdus.len()),
        (ends[5] + micros(16), 4),
        "as much as the rest of the time holds"
    );
    assert!(ends[7] <= starts[2] + micros(3_008));
    assert!(starts[8] > ends[7] + micros(16), "the time is over");
    assert_eq!(pair.delivered(), (0..16).collect::<Vec<_>>());
}

#[test]
fn a_packet_that_comes_during_a_request_follows_it() {
    let mut pair = Pair::new(&config(|aggregation| aggregation.attempts = Some(1)));
    pair.lose_whole();
    pair.offer(0..1);
    pair.run(us(448));
    pair.offer(1..2);
    pair.run(us(9_000));
    use FrameKind::{Ack, BlockAck, BlockAckRequest, Data};
    assert_eq!(pair.kinds(), [Data, BlockAckRequest, BlockAck, Data, Ack]);
    assert_eq!(pair.delivered(), [1]);
}

/// The lifetime ends what no answer ever comes for, after the attempts of the station's limit.
#[test]
fn a_silent_receiver_costs_the_attempts_of_a_frame() {
    let mut pair = Pair::new(&config(|_| {}));
    pair.offer(0..2);
    for _ in 0..40 {
        pair.lose_whole();
    }
    pair.run(us(100_000));
    assert_eq!(pair.fates[0].outcomes[0], (0, Some(DropCause::ShortRetryLimit)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever gets lost: nothing is delivered twice or out of order, and each packet has one outcome, after which it was delivered
    /// if it was acknowledged.
    #[test]
    fn no_packet_is_lost_or_doubled(
        losses in prop::collection::vec((prop::collection::vec(0_usize..70, 0..30), 0_u8..10), 0..60),
        (ampdu, amsdu) in prop::sample::select(vec![(65_535, 0), (0, 3_839), (20_000, 3_839), (8_000, 0)]),
        window in 1_u32..=64, attempts in prop::option::of(1_u32..5),
        bursts in prop::collection::vec((0_u64..20_000, 1_u32..90), 1..6),
    ) {
        let config = config(|aggregation| {
            *aggregation = Aggregation { ampdu, amsdu, window, attempts, ..*aggregation };
        });
        let mut pair = Pair::new(&config);
        for (places, kind) in losses {
            pair.losses.push_back(Loss { places, whole: kind == 0 });
        }
        let mut count = 0;
        for (wait, packets) in bursts {
            let now = pair.now + micros(wait);
            pair.run(now);
            pair.offer(count..count + packets);
            count += packets;
        }
        let end = pair.now + Duration::from_secs(3);
        pair.run(end);
        prop_assert!(pair.delivered().is_sorted_by(|a, b| a < b), "{:?}", pair.delivered());
        let mut outcomes = pair.fates[0].outcomes.clone();
        outcomes.sort_unstable_by_key(|outcome| outcome.0);
        prop_assert!(outcomes.iter().map(|outcome| outcome.0).eq(0..count), "each has one outcome: {:?}", outcomes);
        for (id, cause) in outcomes {
            let arrived = pair.delivered().contains(&id) || pair.fates[0].late.contains(&id);
            prop_assert!(cause.is_some() || arrived, "{} was acknowledged", id);
        }
        prop_assert_eq!(pair.stations[0].held().count(), 0);
    }
}
