//! Agreements over the air between two stations (10.25.2, 10.25.5, 11.5), instant by instant; losses as the test says.

use hopcast_protocols::testkit::Choices;
use hopcast_wire::ieee80211::management::{BlockAckAction, Reason, Status};
use proptest::prelude::*;

use super::super::agreement::{BURST_RETRIES, MAX_RETRIES, RESPONSE_TIMEOUT, RETRIES_PERIOD};
use super::super::*;
use super::bench::{micros, us};
use crate::phy::Standard;
use crate::testkit::{Loss, Pair, STATIONS, any_config, config};

use FrameKind::{Ack, BlockAck, Data, Management};

/// Agreements over the air, with windows of 64 and this inactivity timeout in time units.
fn over_the_air(inactivity: u16) -> Config {
    config(|limits| limits.agreements = Agreements::Negotiated { inactivity })
}

/// Two stations that have heard an idle medium for long: the first packet goes at once, at 1 ms.
fn pair(inactivity: u16) -> Pair {
    let config = over_the_air(inactivity);
    let mut pair = Pair::new([&config; 2]);
    pair.run(us(1_000));
    pair
}

impl Pair {
    fn lose(&mut self, wholes: &[bool]) {
        self.losses.extend(wholes.iter().map(|&whole| Loss { places: Vec::new(), whole }));
    }

    fn kinds(&self) -> Vec<FrameKind> {
        self.sent.iter().map(|sent| sent.frame.kind).collect()
    }

    /// The action frames that were sent, with their senders and times.
    fn actions(&self) -> Vec<(Instant, u32, BlockAckAction)> {
        self.sent.iter().filter_map(|sent| Some((sent.at, sent.frame.transmitter.0, sent.action?))).collect()
    }

    /// Numbers of the MPDUs of each data frame.
    fn data(&self) -> Vec<Vec<u32>> {
        self.sent.iter().filter(|sent| sent.frame.kind == Data).map(|sent| sent.mpdus.clone()).collect()
    }

    fn delivered(&self) -> Vec<u32> {
        self.fates[0].delivered.iter().map(|&(_, id)| id).collect()
    }
}

fn is_request(action: &BlockAckAction) -> bool {
    matches!(action, BlockAckAction::AddRequest { .. })
}

/// The request goes first, in the category voice, and the first packet alone, outside of the agreement. The response follows AIFS of
/// 34 µs after the ACK or later; all others then share a frame.
#[test]
fn an_agreement_precedes_the_first_aggregate() {
    let mut pair = pair(0);
    pair.offer(0, 0..6, 0);
    pair.run(us(20_000));
    let actions = pair.actions();
    let [(request_at, 0, request), (response_at, 1, response)] = actions[..] else { panic!("{actions:?}") };
    let BlockAckAction::AddRequest { dialog_token, agreement, start } = request else { panic!("{request:?}") };
    assert_eq!((agreement.tid, agreement.buffer_size, agreement.timeout, agreement.amsdu), (0, 64, 0, false));
    // 10.25.2: the Starting Sequence Number is that of the first MPDU under the agreement, which is not sent yet.
    assert_eq!((start, dialog_token), (1, 1));
    assert_eq!(response, BlockAckAction::AddResponse { dialog_token, status: Status::Success, agreement });
    let kinds = pair.kinds();
    assert_eq!(kinds[..2], [Management, Ack]);
    // 24 bytes of header, 9 of body and 4 of FCS.
    let [request, ack, ..] = &pair.sent[..] else { panic!("nothing is sent") };
    assert_eq!((request.frame.octets, request.frame.receiver), (37, Some(STATIONS[1])));
    // AIFS and 108 slots since the start.
    assert_eq!((request_at, ack.at), (us(34 + 108 * 9), request_at + request.frame.airtime + micros(16)));
    assert!(response_at >= ack.at + ack.frame.airtime + micros(34), "AIFS of voice");
    assert_eq!(pair.fates[0].outcomes, (0..6).map(|id| (id, None)).collect::<Vec<_>>());
    assert_eq!(pair.delivered(), (0..6).collect::<Vec<_>>());
    // One MPDU at a time until then, and none under the agreement before the response is there.
    let data = pair.data();
    let (last, alone) = data.split_last().expect("some are sent");
    assert!(alone.iter().all(|mpdus| mpdus.len() == 1), "{data:?}");
    let acknowledged = pair.sent.iter().find(|sent| sent.frame.kind == BlockAck).expect("one is sent");
    assert!(last.len() > 1 && acknowledged.at > response_at, "{data:?}");
    assert_eq!(pair.stations.each_ref().map(|station| station.counters().management_sent), [1, 1]);
}

/// A request that is lost on the air is repeated as any management frame, at once.
#[test]
fn a_lost_request_goes_again() {
    let mut pair = pair(0);
    pair.lose(&[true]);
    pair.offer(0, 0..20, 0);
    pair.run(us(40_000));
    assert_eq!(pair.stations.each_ref().map(|station| station.counters().management_sent), [2, 1]);
    assert_eq!(pair.actions()[0].2, pair.actions()[1].2);
    assert!(pair.data().iter().any(|mpdus| mpdus.len() > 10), "it is in force: {:?}", pair.data());
    assert_eq!(pair.delivered(), (0..20).collect::<Vec<_>>());
}

/// No attempt at a response comes. The originator goes on with one MPDU at a time, gives the request up after a second, says so, and asks
/// with the next packet.
#[test]
fn a_response_that_never_comes_ends_the_request() {
    let mut pair = pair(0);
    pair.loses = |sent| matches!(sent.action, Some(BlockAckAction::AddResponse { dialog_token: 1, .. }));
    pair.offer(0, 0..5, 0);
    let deadline = us(1_000) + RESPONSE_TIMEOUT;
    pair.run(deadline - micros(1));
    // dot11ShortRetryLimit: seven attempts.
    assert_eq!(pair.stations.each_ref().map(|station| station.counters().management_sent), [1, 7]);
    assert_eq!(pair.data(), [[0], [1], [2], [3], [4]].map(|mpdu| mpdu.to_vec()));
    pair.run(deadline + micros(5_000));
    let (at, from, action) = *pair.actions().last().expect("DELBA");
    let delete = BlockAckAction::Delete { by_originator: true, tid: 0, reason: Reason::EndOfAgreement };
    assert_eq!((from, action), (0, delete));
    assert!((deadline..deadline + micros(200)).contains(&at), "{at:?}");
    pair.offer(0, 5..30, 0);
    pair.run(us(1_100_000));
    let second =
        pair.actions().into_iter().filter(|(_, _, action)| is_request(action)).nth(1).expect("another request");
    let BlockAckAction::AddRequest { dialog_token: 2, start: 6, .. } = second.2 else { panic!("{second:?}") };
    assert!(pair.data().iter().any(|mpdus| mpdus.len() > 10));
    assert_eq!(pair.delivered(), (0..30).collect::<Vec<_>>());
}

/// A recipient without agreements over the air: the bodies come, and it declines. Four requests go with the next packets, then one each
/// 15 s, and 16 in all, as in mac80211.
#[test]
fn requests_that_are_declined_are_spread_in_time() {
    let mut machine = agreement::Negotiations::default();
    let key = (STATIONS[1], edca::UserPriority::new(0));
    let terms = agreement::Terms { window: 64, amsdu: false, inactivity: 0 };
    let (mut requests, mut now) = (Vec::new(), us(0));
    for number in 0..4_000 {
        let mut sent = None;
        assert!(!machine.handle_mpdu(key, number + 1, terms, now, |action| sent = Some(action)));
        if let Some(BlockAckAction::AddRequest { dialog_token, agreement, .. }) = sent {
            requests.push(now);
            let response = BlockAckAction::AddResponse { dialog_token, status: Status::Declined, agreement };
            assert_eq!(machine.handle_action(key.0, &response, Some(terms), now, |_| panic!("no answer")), None);
        }
        now += Duration::from_millis(100);
    }
    assert_eq!(requests.len() as u32, MAX_RETRIES + 1);
    let gaps: Vec<Duration> = requests.windows(2).map(|pair| pair[1].saturating_since(pair[0])).collect();
    let burst = BURST_RETRIES as usize;
    assert!(gaps[..burst].iter().all(|&gap| gap == Duration::from_millis(100)), "{gaps:?}");
    assert!(gaps[burst..].iter().all(|&gap| gap == RETRIES_PERIOD), "{gaps:?}");
}

#[test]
fn a_station_without_agreements_declines() {
    let mut machine = agreement::Negotiations::default();
    let terms = agreement::Terms { window: 64, amsdu: true, inactivity: 7 };
    let key = (STATIONS[1], edca::UserPriority::new(3));
    let mut request = None;
    machine.handle_mpdu(key, 5_000, terms, us(0), |action| request = Some(action));
    let request = request.expect("it asks");
    let BlockAckAction::AddRequest { agreement, start, .. } = request else { panic!("{request:?}") };
    assert_eq!((agreement.tid, agreement.timeout, agreement.amsdu, start), (3, 7, true, 5_000 - 4_096));
    let mut answer = None;
    let change = agreement::Negotiations::default()
        .handle_action(STATIONS[0], &request, None, us(0), |action| answer = Some(action));
    assert_eq!(change, None);
    assert!(matches!(answer, Some(BlockAckAction::AddResponse { status: Status::Declined, .. })), "{answer:?}");
}

/// Buffer Size is the smaller one of both stations (9.4.1.13): no more is outstanding.
#[test]
fn the_smaller_buffer_counts() {
    for (own, other) in [(64, 8), (8, 64)] {
        let [first, second] = [own, other].map(|window| {
            config(|limits| (limits.window, limits.agreements) = (window, Agreements::Negotiated { inactivity: 0 }))
        });
        let mut pair = Pair::new([&first, &second]);
        pair.offer(0, 0..60, 0);
        pair.run(us(60_000));
        let longest = pair.data().iter().map(Vec::len).max();
        assert_eq!(longest, Some(8), "{own} and {other}");
        assert_eq!(pair.delivered(), (0..60).collect::<Vec<_>>());
    }
}

/// Each priority has a separate agreement, and the other direction too.
#[test]
fn each_priority_and_direction_has_an_agreement() {
    let mut pair = pair(0);
    pair.offer(0, 0..10, 0);
    pair.offer(0, 10..20, 5);
    pair.offer(1, 0..10, 0);
    pair.run(us(60_000));
    let asked = pair.actions().into_iter().filter_map(|(_, from, action)| match action {
        BlockAckAction::AddRequest { agreement, .. } => Some((from, agreement.tid)),
        _ => None,
    });
    let mut asked: Vec<_> = asked.collect();
    asked.sort_unstable();
    asked.dedup();
    assert_eq!(asked, [(0, 0), (0, 5), (1, 0)]);
    assert_eq!(pair.fates.each_ref().map(|fates| fates.delivered.len()), [20, 10]);
}

/// A recipient that has lost the agreement (its association has ended, and the originator does not know) answers no A-MPDU. Its DELBA ends
/// the agreement at the originator, which goes on with one MPDU at a time and asks for another one. In the category video, several of them
/// share a TXOP: what is outstanding comes before what waits in the queue.
#[test]
fn a_recipient_without_the_agreement_ends_it() {
    for tid in [0, 5] {
        let mut pair = pair(0);
        pair.offer(0, 0..6, tid);
        pair.run(us(20_000));
        pair.leave(1);
        let before = pair.sent.len();
        pair.offer(0, 6..40, tid);
        pair.run(us(100_000));
        let after = &pair.sent[before..];
        let unknown = BlockAckAction::Delete { by_originator: false, tid, reason: Reason::UnknownAgreement };
        let delete = after.iter().position(|sent| sent.action == Some(unknown)).expect("DELBA");
        let aggregate = after.iter().position(|sent| sent.mpdus.len() > 1).expect("an A-MPDU");
        assert!(aggregate < delete);
        assert!(
            after[..delete].iter().all(|sent| sent.frame.kind != BlockAck),
            "what has no agreement is not answered"
        );
        assert_eq!(after.iter().filter(|sent| sent.action == Some(unknown)).count(), 1);
        let again = after.iter().position(|sent| sent.action.is_some_and(|action| is_request(&action)));
        assert!(again.is_some_and(|again| again > delete), "it asks again");
        assert_eq!(pair.delivered(), (0..40).collect::<Vec<_>>());
        assert_eq!(pair.fates[0].outcomes.iter().filter(|outcome| outcome.1.is_some()).count(), 0);
        // In the category video, attempts may collide with the DELBA.
        let timeouts = pair.stations[0].counters().ack_timeouts;
        assert!(timeouts == 1 || tid == 5 && timeouts > 1, "{timeouts}");
    }
}

/// DELBA of the recipient while MPDUs are outstanding: those that are missing go again, one at a time. What waited for them has been
/// delivered then, so that they are late: acknowledged and not delivered.
#[test]
fn what_is_outstanding_goes_on_alone() {
    let mut pair = pair(0);
    pair.offer(0, 0..1, 0);
    pair.run(us(20_000));
    pair.offer(0, 1..2, 0);
    pair.run(us(20_050));
    pair.offer(0, 2..6, 0);
    // The single MPDU and its ACK, then an A-MPDU whose second and third MPDUs are lost, and its BlockAck.
    pair.lose(&[false, false]);
    pair.losses.push_back(Loss { places: vec![1, 2], whole: false });
    pair.run(us(22_000));
    assert_eq!(pair.data().last(), Some(&vec![3, 4]));
    assert_eq!(pair.delivered(), [0, 1, 2, 3, 4, 5]);
    let mut other = self::pair(0);
    other.offer(0, 0..1, 0);
    other.run(us(20_000));
    other.offer(0, 1..2, 0);
    other.run(us(20_050));
    other.offer(0, 2..6, 0);
    other.lose(&[false, false]);
    other.losses.push_back(Loss { places: vec![1, 2], whole: false });
    while !other.sent.iter().any(|sent| sent.frame.kind == BlockAck) {
        let next = other.now + micros(10);
        other.run(next);
    }
    let next = other.now + micros(20);
    other.run(next);
    other.leave(0);
    other.leave(1);
    assert_eq!(other.delivered(), [0, 1, 2, 5]);
    other.run(us(60_000));
    assert_eq!(other.data()[3..], [vec![3], vec![4]]);
    assert_eq!((other.delivered(), other.fates[0].late.clone()), (vec![0, 1, 2, 5], vec![3, 4]));
    assert_eq!(other.fates[0].outcomes.len(), 6);
}

/// 100 time units without data end the agreement. The recipient has heard the last MPDU before the originator hears that it has come, so
/// its DELBA is first; the next packet asks for another agreement.
#[test]
fn an_idle_agreement_ends() {
    let mut pair = pair(100);
    pair.offer(0, 0..20, 0);
    pair.run(us(103_000));
    assert_eq!(pair.actions().len(), 2);
    let last = pair.sent.iter().rfind(|sent| sent.frame.kind == Data).expect("an A-MPDU");
    let limit = last.at + last.frame.airtime + micros(100 * 1_024);
    pair.run(us(140_000));
    let ends = pair.actions()[2..].to_vec();
    let delete = BlockAckAction::Delete { by_originator: false, tid: 0, reason: Reason::Timeout };
    assert_eq!(ends.iter().map(|end| (end.1, end.2)).collect::<Vec<_>>(), [(1, delete)]);
    assert!((limit..limit + micros(200)).contains(&ends[0].0), "{ends:?}");
    pair.offer(0, 20..60, 0);
    pair.run(us(200_000));
    assert_eq!(pair.actions().iter().filter(|(_, _, action)| is_request(action)).count(), 2);
    assert_eq!(pair.delivered(), (0..60).collect::<Vec<_>>());
}

/// The timers of both ends by hand: an answer at 5 ms and an MPDU at 6 ms put the ends at 10 and 11 TU behind them.
#[test]
fn idle_times_count_from_the_last_use() {
    let key = (STATIONS[1], edca::UserPriority::new(0));
    let terms = agreement::Terms { window: 64, amsdu: false, inactivity: 10 };
    let (mut machine, mut request) = (agreement::Negotiations::default(), None);
    machine.handle_mpdu(key, 1, terms, us(0), |action| request = Some(action));
    let Some(BlockAckAction::AddRequest { dialog_token, mut agreement, .. }) = request else { panic!("{request:?}") };
    let response = BlockAckAction::AddResponse { dialog_token, status: Status::Success, agreement };
    machine.handle_action(key.0, &response, Some(terms), us(0), |_| panic!("no answer"));
    agreement.timeout = 11;
    let other = BlockAckAction::AddRequest { dialog_token: 9, agreement, start: 0 };
    let opened = machine.handle_action(key.0, &other, Some(terms), us(0), |_| {});
    assert_eq!(opened, Some(agreement::Change::Opened { priority: key.1, window: 64, start: 0 }));
    machine.handle_answer(key, us(5_000));
    machine.handle_use(key, us(6_000));
    let (mut sent, mut closed) = (Vec::new(), Vec::new());
    while let Some(now) = machine.poll_timeout() {
        machine.handle_timeout(now, |_, action| sent.push((now, action)), |_, priority| closed.push((now, priority)));
    }
    let delete = |by_originator| BlockAckAction::Delete { by_originator, tid: 0, reason: Reason::Timeout };
    let ends = [us(5_000 + 10 * 1_024), us(6_000 + 11 * 1_024)];
    assert_eq!(sent, [(ends[0], delete(true)), (ends[1], delete(false))]);
    assert_eq!(closed, [(ends[1], key.1)]);
    assert_eq!(machine.window(key), None);
}

/// With data each 50 time units an agreement of 100 does not end.
#[test]
fn data_keep_an_agreement() {
    let mut pair = pair(100);
    for burst in 0..10 {
        pair.offer(0, 4 * burst..4 * burst + 4, 0);
        let next = pair.now + micros(50 * 1_024);
        pair.run(next);
    }
    assert_eq!(pair.actions().len(), 2);
    assert_eq!(pair.delivered().len(), 40);
}

/// A packet that is given up between request and response leaves a gap under the agreement, which the recipient is told of before the
/// first MPDU under it: nothing waits for the reordering timeout of 100 ms.
#[test]
fn a_gap_before_the_agreement_is_told() {
    let mut machine = agreement::Negotiations::default();
    let key = (STATIONS[1], edca::UserPriority::new(0));
    let terms = agreement::Terms { window: 64, amsdu: false, inactivity: 0 };
    let mut request = None;
    machine.handle_mpdu(key, 1, terms, us(0), |action| request = Some(action));
    let gap = originator::Request {
        receiver: key.0,
        priority: key.1,
        start: 3,
        rate: Standard::Ht.phy(false).fastest(),
        unanswered: 0,
    };
    // The MPDU before the agreement leaves none.
    assert_eq!(machine.handle_given_up(key, 0, gap), None);
    assert_eq!(machine.take_gap(key), None);
    assert_eq!(machine.handle_given_up(key, 2, gap), None);
    let Some(BlockAckAction::AddRequest { dialog_token, agreement, .. }) = request else { panic!("{request:?}") };
    let response = BlockAckAction::AddResponse { dialog_token, status: Status::Success, agreement };
    machine.handle_action(key.0, &response, Some(terms), us(10), |_| panic!("no answer"));
    assert!(machine.handle_mpdu(key, 4, terms, us(20), |_| panic!("it is in force")));
    assert_eq!(machine.take_gap(key), Some(gap));
    assert_eq!(machine.take_gap(key), None);
    assert_eq!(machine.handle_given_up(key, 4, gap), Some(gap));
}

/// Only the response to the request that waits for one counts.
#[test]
fn another_response_changes_nothing() {
    let mut machine = agreement::Negotiations::default();
    let key = (STATIONS[1], edca::UserPriority::new(0));
    let terms = agreement::Terms { window: 64, amsdu: false, inactivity: 0 };
    let mut request = None;
    machine.handle_mpdu(key, 1, terms, us(0), |action| request = Some(action));
    let Some(BlockAckAction::AddRequest { dialog_token, agreement, .. }) = request else { panic!("{request:?}") };
    let response = |dialog_token| BlockAckAction::AddResponse { dialog_token, status: Status::Success, agreement };
    machine.handle_action(key.0, &response(dialog_token + 1), Some(terms), us(10), |_| panic!("no answer"));
    assert_eq!(machine.window(key), None);
    machine.handle_action(STATIONS[0], &response(dialog_token), Some(terms), us(10), |_| panic!("no answer"));
    assert_eq!(machine.window(key), None);
    assert_eq!(machine.poll_timeout(), Some(us(0) + RESPONSE_TIMEOUT));
    machine.handle_timeout(us(0) + RESPONSE_TIMEOUT, |_, _| {}, |_, _| {});
    machine.handle_action(key.0, &response(dialog_token), Some(terms), us(1_000_100), |_| panic!("no answer"));
    assert_eq!(machine.window(key), None, "it comes too late");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Whatever gets lost, whichever station leaves and whatever action frame comes: no packet is delivered twice or out of order, and each has one
    /// outcome, after which it was delivered or came too late if it was acknowledged.
    #[test]
    fn no_packet_is_lost_or_doubled(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let mut choices = Choices::new(&bytes);
        let configs = [any_config(&mut choices, true), any_config(&mut choices, true)];
        Pair::new([&configs[0], &configs[1]]).disorder(&mut choices);
    }
}
