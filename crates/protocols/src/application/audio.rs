//! A source of audio: packets at even intervals, each of use for a while only.

use super::{Application, CbrSource, Timeline};
use crate::time::{Duration, Instant};

/// Writes packets of constant bit rate that expire. The sender drops packets that it has not sent by then, wherever they
/// wait: the source gives the time, the host puts it on the packet, and any part that holds the packet compares.
#[derive(Clone, Debug)]
pub struct AudioSource {
    packets: CbrSource,
    deadline: Option<Duration>,
}

impl AudioSource {
    /// From `start`, packets of `packet` bytes so that the payload amounts to `rate` bit/s (see [`CbrSource::new`]); each
    /// is worth sending for less than `deadline` after it is written, or for ever.
    pub fn new(start: Instant, rate: f64, packet: u32, deadline: Option<Duration>) -> Self {
        Self { packets: CbrSource::new(start, rate, packet), deadline }
    }
}

impl Application for AudioSource {
    fn poll_write(&self, now: Instant) -> Option<u32> {
        self.packets.poll_write(now)
    }

    fn handle_written(&mut self, now: Instant) {
        self.packets.handle_written(now);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.packets.poll_timeout()
    }

    fn expires(&self) -> Option<Instant> {
        let deadline = self.deadline?.as_nanos();
        Some(Instant::from_nanos(self.packets.due().as_nanos().saturating_add(deadline)))
    }

    fn largest_write(&self) -> u32 {
        self.packets.largest_write()
    }

    fn timeline(&self) -> Option<Timeline> {
        self.packets.timeline()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    /// 64 kb/s in packets of 160 bytes: one each 20 ms.
    #[test]
    fn each_packet_expires_after_its_deadline() {
        let mut source = AudioSource::new(ms(5), 64_000.0, 160, Some(Duration::from_millis(100)));
        for due in [5, 25, 45] {
            assert_eq!((source.poll_timeout(), source.poll_write(ms(due))), (Some(ms(due)), Some(160)));
            assert_eq!(source.expires(), Some(ms(due + 100)));
            source.handle_written(Instant::START);
        }
    }

    #[test]
    fn without_a_deadline_nothing_expires() {
        assert_eq!(AudioSource::new(ms(0), 64_000.0, 160, None).expires(), None);
    }
}
