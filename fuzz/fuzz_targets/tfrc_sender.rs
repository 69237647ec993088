//! TFRC's sender under any operations: never a rate above the allowed one.

#![no_main]

use hopcast_protocols::time::{Duration, Instant};
use hopcast_protocols::transport::tfrc::{Config, Edition, Feedback, Response, Sender};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;

/// A hundred years, after which a run ends: timers of four round trips that each lasted as long as all before come to the end of
/// time soon.
const LATE: Instant = Instant::from_nanos(100 * 365 * 86_400 * 1_000_000_000);

#[derive(Arbitrary, Debug)]
struct Run {
    segment: u16,
    old: bool,
    small_packets: bool,
    oscillation_control: bool,
    operations: Vec<Operation>,
}

#[derive(Arbitrary, Debug)]
enum Operation {
    /// The driver sends packets as soon as they are due, for so long in nanoseconds.
    Send(u32, u16),
    Wait(u64),
    /// Whatever a peer may claim.
    Feedback {
        age: Option<u32>,
        delay: u32,
        receive_rate: f64,
        loss_event_rate: f64,
        response: u8,
    },
    Timeout,
    Handshake(u32),
    Suspend,
    Resume,
}

fuzz_target!(|run: Run| {
    let mut sender = Sender::new(Config {
        segment: run.segment.into(),
        edition: if run.old { Edition::Rfc3448 } else { Edition::Rfc5348 },
        small_packets: run.small_packets,
        oscillation_control: run.oscillation_control,
        ..Config::default()
    });
    let mut now = Instant::START;
    // The packet before: when it was to leave, and its length.
    let mut last: Option<(Instant, u32)> = None;
    for operation in run.operations {
        match operation {
            Operation::Send(nanos, len) => {
                let (offered, len) = (now, u32::from(len));
                let until = now + Duration::from_nanos(nanos.into());
                for _ in 0..200 {
                    let departure = sender.departure(offered);
                    if departure >= until {
                        break;
                    }
                    now = now.max(departure);
                    if let Some((at, len)) = last {
                        // The allowed rate fills the time since the packet before, to the rounding of a nanosecond.
                        let allowed = sender.payload_rate() * (departure.saturating_since(at).as_secs_f64() + 2e-9);
                        assert!(allowed * (1.0 + 1e-9) >= f64::from(len), "{allowed} of {len}");
                    }
                    sender.on_sent(len, offered, true, now);
                    last = Some((departure.min(now), len));
                }
                now = until;
            }
            Operation::Wait(nanos) => now += Duration::from_nanos(nanos % 1_000_000_000_000),
            Operation::Feedback { age, delay, receive_rate, loss_event_rate, response } => {
                let sent = age.map(|age| now.saturating_before(Duration::from_nanos(age.into())));
                let delay = Duration::from_nanos(delay.into());
                let response = [Response::Adapt, Response::Limit, Response::Hold][usize::from(response % 3)];
                let before = sender.rate();
                sender.handle_feedback(&Feedback { sent, delay, receive_rate, loss_event_rate }, response, now);
                assert!(response != Response::Hold || sender.rate() == before);
            }
            Operation::Timeout => {
                if let Some(due) = sender.poll_timeout() {
                    now = now.max(due);
                    if now > LATE {
                        return;
                    }
                    sender.handle_timeout(now);
                    assert!(sender.poll_timeout().is_none_or(|due| due > now));
                }
            }
            Operation::Handshake(nanos) => sender.on_handshake(Duration::from_nanos(nanos.into())),
            Operation::Suspend => sender.suspend(),
            Operation::Resume => sender.resume(now),
        }
        assert!(sender.rate().is_finite() && sender.rate() > 0.0);
        assert!(sender.payload_rate().is_finite() && sender.payload_rate() > 0.0);
    }
});
