//! Two ends and the path between them, run.

use std::collections::BTreeMap;
use std::io;

use hopcast_protocols::time::{Duration, Instant};
use hopcast_wire::tcp::Flags;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;

use crate::bottleneck::{Bottleneck, Link};
use crate::trace::{Fate, Sent, Trace};
use crate::{Kernel, Own, packet};

/// When a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// The sender knows that this number of bytes has arrived, or this much time has passed.
    Acknowledged(u32, Duration),
    /// So much time has passed.
    Elapsed(Duration),
}

/// One end.
pub(crate) enum End<'a> {
    Own(&'a mut Own),
    Kernel(&'a mut Kernel),
}

impl<'a> From<&'a mut Own> for End<'a> {
    fn from(own: &'a mut Own) -> Self {
        End::Own(own)
    }
}

impl<'a> From<&'a mut Kernel> for End<'a> {
    fn from(kernel: &'a mut Kernel) -> Self {
        End::Kernel(kernel)
    }
}

/// Ends are hopcast's or the kernel's.
#[expect(private_bounds, reason = "nobody else makes ends")]
pub trait Peer<'a>: Into<End<'a>> {}
impl<'a, T: Into<End<'a>>> Peer<'a> for T {}

/// Carries what `sender` writes over `path` to `receiver`.
pub fn carry<'a>(sender: impl Peer<'a>, receiver: impl Peer<'a>, path: &Bottleneck, until: Until) -> io::Result<Trace> {
    let ends = [sender.into(), receiver.into()];
    let is_real = ends.iter().any(|end| matches!(end, End::Kernel(_)));
    let clock = if is_real { Clock::real() } else { Clock::Virtual(Instant::START) };
    let mut run =
        Run { ends, link: Link::new(path), clock, air: BTreeMap::new(), order: 0, isn: None, trace: Trace::default() };
    run.run(until)?;
    Ok(run.trace)
}

#[expect(clippy::disallowed_types, reason = "the kernel keeps to the clock")]
enum Clock {
    Real(std::time::Instant),
    Virtual(Instant),
}

impl Clock {
    #[expect(clippy::disallowed_types, reason = "the kernel keeps to the clock")]
    fn real() -> Self {
        Self::Real(std::time::Instant::now())
    }

    fn now(&self) -> Instant {
        match self {
            Self::Real(start) => Instant::from_nanos(start.elapsed().as_nanos() as u64),
            Self::Virtual(now) => *now,
        }
    }
}

struct Run<'a> {
    /// The sender, then the receiver.
    ends: [End<'a>; 2],
    link: Link<'a>,
    clock: Clock,
    /// Packets on their way, by when they arrive: at which end.
    air: BTreeMap<(Instant, u64), (usize, Vec<u8>)>,
    order: u64,
    /// The sender's initial sequence number.
    isn: Option<u32>,
    trace: Trace,
}

impl Run<'_> {
    fn run(&mut self, until: Until) -> io::Result<()> {
        let (bytes, most) = match until {
            Until::Acknowledged(bytes, most) => (Some(bytes), most),
            Until::Elapsed(most) => (None, most),
        };
        loop {
            let now = self.clock.now();
            self.settle(now)?;
            let done = bytes.is_some_and(|bytes| self.trace.acknowledged.iter().any(|&(_, acked)| acked >= bytes));
            if done || now >= Instant::START + most {
                return Ok(());
            }
            self.wait(Instant::START + most)?;
        }
    }

    /// Does all that is due at `now`.
    fn settle(&mut self, now: Instant) -> io::Result<()> {
        while let Some(entry) = self.air.first_entry().filter(|entry| entry.key().0 <= now) {
            let late = now - entry.key().0;
            self.trace.lateness = self.trace.lateness.max(late);
            self.trace.total_lateness += late;
            self.trace.delivered += 1;
            let (side, octets) = entry.remove();
            if side == 0 {
                self.record_acknowledgement(&octets, now);
            }
            match &mut self.ends[side] {
                End::Own(own) => own.handle_packet(&octets, now),
                End::Kernel(kernel) => kernel.handle_packet(&octets)?,
            }
            self.drain(now)?;
        }
        for end in &mut self.ends {
            if let End::Own(own) = end {
                own.handle_timeout(now);
            }
        }
        self.drain(now)
    }

    fn drain(&mut self, now: Instant) -> io::Result<()> {
        for side in 0..2 {
            loop {
                let packet = match &mut self.ends[side] {
                    End::Own(own) => own.poll_packet(now),
                    End::Kernel(kernel) => kernel.poll_packet()?,
                };
                let Some(octets) = packet else { break };
                let arrival = if side == 0 { self.forward(&octets, now) } else { Some(self.link.back(now)) };
                if let Some(arrival) = arrival {
                    self.order += 1;
                    self.air.insert((arrival, self.order), (1 - side, octets));
                }
            }
        }
        Ok(())
    }

    /// A packet of the sender's comes to the bottleneck: when it arrives, if it does.
    fn forward(&mut self, octets: &[u8], now: Instant) -> Option<Instant> {
        let header = packet::parse(octets)?;
        if header.flags.contains(Flags::SYN) {
            self.isn = Some(header.sequence);
        }
        let (fate, arrival) = self.link.accept(octets.len(), header.payload_len > 0, now);
        if let (Some(isn), true) = (self.isn, header.payload_len > 0) {
            let offset = header.sequence.wrapping_sub(isn).wrapping_sub(1);
            self.trace.sent.push(Sent { at: now, offset, len: header.payload_len, fate });
        }
        (fate == Fate::Delivered).then_some(arrival)
    }

    fn record_acknowledgement(&mut self, octets: &[u8], now: Instant) {
        let Some(header) = packet::parse(octets) else { return };
        if let (Some(isn), true) = (self.isn, header.flags.contains(Flags::ACK)) {
            let bytes = header.acknowledgement.wrapping_sub(isn).wrapping_sub(1);
            self.trace.acknowledged.push((now, bytes));
        }
    }

    /// Until something is due, the kernel has a packet, or `end`.
    fn wait(&mut self, end: Instant) -> io::Result<()> {
        let timers = self.ends.iter().filter_map(|end| match end {
            End::Own(own) => own.poll_timeout(),
            End::Kernel(_) => None,
        });
        let next = timers.chain(self.air.keys().next().map(|key| key.0)).min().unwrap_or(end).min(end);
        if let Clock::Virtual(now) = &mut self.clock {
            *now = next;
            return Ok(());
        }
        let wait = next.saturating_since(self.clock.now()).as_nanos();
        let mut waited_for = Vec::new();
        for end in &self.ends {
            if let End::Kernel(kernel) = end {
                waited_for.push(PollFd::new(kernel.device(), PollFlags::POLLIN));
                waited_for.extend(kernel.writable().map(|socket| PollFd::new(socket, PollFlags::POLLOUT)));
            }
        }
        let timeout = TimeSpec::new((wait / 1_000_000_000) as i64, (wait % 1_000_000_000) as i64);
        match ppoll(&mut waited_for, Some(timeout), None) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
