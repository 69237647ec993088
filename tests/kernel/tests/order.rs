//! The same losses, and both TCPs send the same segments in the same order.
//!
//! Every segment is acknowledged at once and no timer is near, so that acknowledgements alone say what is sent when. Only RACK
//! knows the time: a run in which the machine had other things to do for a good part of its wait is made again. Losses go
//! by the number of the packet, from 0. Ten segments are sent at first.
#![cfg(target_os = "linux")]
#![expect(clippy::print_stdout, reason = "a skipped test says so")]

use std::{io, thread};

use hopcast_protocols::time::Duration;
use hopcast_protocols::transport::tcp::{Config, Variant};
use kernel_peer::{Bottleneck, Kernel, Losses, Own, Role, Settings, Trace, Until, available, carry};

/// Segments in a transfer, and bytes in a segment.
const SEGMENTS: u32 = 240;
const MSS: u32 = 1460;

/// Far beyond what a busy machine holds a run up.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Whether the kernel can be a peer here; says so if not.
fn has_kernel() -> bool {
    match available() {
        Ok(()) => true,
        Err(error) => {
            let required = std::env::var_os("HOPCAST_REQUIRE_TOOLS").is_some();
            assert!(!(required && error.program), "{error}");
            println!("skipped: {error}");
            false
        }
    }
}

/// The loss recovery that is compared.
#[derive(Clone, Copy)]
enum Recovery {
    /// RFC 6582, and the kernel's without SACK.
    NewReno,
    /// RFC 6675, and the kernel's RACK.
    Sack,
}

/// 20 Mb/s, 80 ms there and back, and room for all that is in flight.
fn path(lost: &[u64]) -> Bottleneck {
    let losses = Losses::Numbers(lost.to_vec());
    Bottleneck { rate: 20_000_000, delay: Duration::from_millis(40), queue: 1000, losses }
}

/// Half of the quarter of a round trip that RACK waits for segments out of order (RFC 8985, section 6.2).
const LATE: Duration = Duration::from_millis(10);

fn config(recovery: Recovery) -> Config {
    Config {
        variant: match recovery {
            Recovery::NewReno => Variant::NewReno,
            Recovery::Sack => Variant::Sack,
        },
        initial_window: Some(10),
        min_rto: TIMEOUT,
        delayed_ack: None,
        send_buffer: 1 << 22,
        receive_buffer: 1 << 22,
        ..Config::default()
    }
}

fn settings(recovery: Recovery) -> Settings {
    Settings {
        congestion: "reno",
        sack: matches!(recovery, Recovery::Sack),
        early_retransmit: 0,
        min_rto: TIMEOUT,
        quick_ack: true,
        ..Settings::default()
    }
}

const UNTIL: Until = Until::Acknowledged(SEGMENTS * MSS, Duration::from_secs(60));
const SENDS: Role = Role::Sends((SEGMENTS * MSS) as u64);

fn from_own(lost: &[u64], recovery: Recovery) -> Trace {
    let (mut sender, mut receiver) = (Own::new(config(recovery), SENDS), Own::new(config(recovery), Role::Receives));
    carry(&mut sender, &mut receiver, &path(lost), UNTIL).expect("nothing real is in the way")
}

/// Of hopcast to the kernel, of the kernel to hopcast, of the kernel to the kernel.
fn with_kernel(lost: &[u64], recovery: Recovery) -> [Trace; 3] {
    let own = |role| Own::new(config(recovery), role);
    let kernel = |role| Kernel::open(&settings(recovery), role).expect("the kernel can be a peer");
    let path = path(lost);
    thread::scope(|scope| {
        [
            scope.spawn(|| in_time(|| carry(&mut own(SENDS), &mut kernel(Role::Receives), &path, UNTIL))),
            scope.spawn(|| in_time(|| carry(&mut kernel(SENDS), &mut own(Role::Receives), &path, UNTIL))),
            scope.spawn(|| in_time(|| carry(&mut kernel(SENDS), &mut kernel(Role::Receives), &path, UNTIL))),
        ]
        .map(|run| run.join().expect("it panics if a run fails"))
    })
}

/// A run that was not held up, if one of five is not.
fn in_time(run: impl Fn() -> io::Result<Trace>) -> Trace {
    let runs = (0..5).map(|_| run().expect("the run goes on"));
    let mut last = None;
    for trace in runs {
        let is_late = trace.lateness > LATE;
        last = Some(trace);
        if !is_late {
            break;
        }
    }
    last.expect("there is one")
}

/// [`assert_same`] for each of several patterns, at once.
fn assert_all_same(patterns: &[&[u64]], recovery: Recovery) {
    thread::scope(|scope| {
        for lost in patterns {
            scope.spawn(|| assert_same(lost, recovery));
        }
    });
}

/// All four pairings send in the same order, and lose what they are to lose.
#[track_caller]
fn assert_same(lost: &[u64], recovery: Recovery) {
    let own = from_own(lost, recovery);
    assert_eq!(own.retransmissions(), lost.len(), "{}", own.describe(MSS));
    for (trace, pairing) in
        with_kernel(lost, recovery).iter().zip(["to the kernel", "from the kernel", "in the kernel"])
    {
        assert_eq!(own.describe(MSS), trace.describe(MSS), "losses {lost:?}, {pairing}");
        assert_eq!(own.order(), trace.order(), "losses {lost:?}, {pairing}");
    }
}

/// hopcast sends the same to either receiver, the kernel the same to either; between the two, the order of what is sent
/// for the first time is the same, and each retransmission comes at most `apart` segments earlier or later.
#[track_caller]
fn assert_apart(lost: &[u64], recovery: Recovery, apart: usize) {
    let own = from_own(lost, recovery);
    let [to_kernel, from_kernel, in_kernel] = with_kernel(lost, recovery);
    assert_eq!(own.describe(MSS), to_kernel.describe(MSS), "losses {lost:?}");
    assert_eq!(from_kernel.describe(MSS), in_kernel.describe(MSS), "losses {lost:?}");
    let (ours, theirs) = (retransmissions(&own), retransmissions(&from_kernel));
    let segments = |found: &[(usize, u32)]| found.iter().map(|&(_, offset)| offset).collect::<Vec<_>>();
    assert_eq!(segments(&ours), segments(&theirs), "losses {lost:?}");
    let most = ours.iter().zip(&theirs).map(|(ours, theirs)| ours.0.abs_diff(theirs.0)).max();
    assert_eq!(most, Some(apart), "losses {lost:?}:{}\n{}", own.describe(MSS), from_kernel.describe(MSS));
}

/// Place in the order, and offset, of each segment that was sent before.
fn retransmissions(trace: &Trace) -> Vec<(usize, u32)> {
    let mut reach = 0;
    let mut found = Vec::new();
    for (place, (offset, len)) in trace.order().into_iter().enumerate() {
        if offset < reach {
            found.push((place, offset));
        }
        reach = reach.max(offset + u32::from(len));
    }
    found
}

#[test]
fn a_transfer_without_loss_is_the_same_segment_by_segment() {
    if has_kernel() {
        assert_same(&[], Recovery::NewReno);
        assert_same(&[], Recovery::Sack);
    }
}

#[test]
fn newreno_repairs_losses_in_the_same_order() {
    if has_kernel() {
        // In the first flight; its last segment; in slow start; two neighbours; three in one flight; one, and another after
        // recovery.
        let patterns: [&[u64]; 7] = [&[5], &[9], &[12], &[30], &[30, 31], &[30, 33, 36], &[20, 90]];
        assert_all_same(&patterns, Recovery::NewReno);
    }
}

#[test]
fn sack_repairs_losses_in_the_same_order() {
    if has_kernel() {
        let patterns: [&[u64]; 4] = [&[30], &[30, 33, 36], &[60, 61, 62, 63], &[15, 60, 150]];
        assert_all_same(&patterns, Recovery::Sack);
    }
}

#[test]
fn where_newreno_differs_it_is_by_a_segment() {
    if has_kernel() {
        thread::scope(|scope| {
            // Proportional rate reduction: the kernel spreads over the recovery what RFC 6582 lets out with duplicates and
            // takes back with partial acknowledgements.
            scope.spawn(|| assert_apart(&[60, 61, 62, 63], Recovery::NewReno, 1));
            // Half of 25 segments is 12 in the kernel, which counts segments. Here the threshold is 12.5, and the window
            // after recovery 12 (option 1 of RFC 6582, section 3.2, step 3): one acknowledgement more counts as slow
            // start's.
            scope.spawn(|| assert_apart(&[15, 60, 150], Recovery::NewReno, 1));
        });
    }
}
