//! A wire between two namespaces that loses and delays packets: a TUN device at each end, and this program between.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};

use hopcast_live::platform::clock::Clock;
use hopcast_live::platform::wait;
use hopcast_protocols::random::{Purpose, Stream};
use hopcast_protocols::time::{Duration, Instant};
use nix::sched::{CloneFlags, setns};
use tun_rs::{DeviceBuilder, Layer, SyncDevice};

/// What a wire does to packets.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Quality {
    /// Share of the datagrams of UDP that get lost on the way there. Segments of TCP don't, so that nothing waits.
    pub(crate) loss: f64,
    /// How long each packet takes, in either direction.
    pub(crate) delay: Duration,
}

/// As a wire of virtual Ethernet.
const MTU: u16 = 1500;

/// The wire, until it is dropped.
pub(crate) struct Wire {
    ended: Arc<AtomicBool>,
    lost: Arc<AtomicU64>,
    threads: Vec<JoinHandle<()>>,
}

impl Wire {
    /// Lays a wire from the device `names[0]` in the namespace `spaces[0]` to the others. Both still need their addresses.
    pub(crate) fn lay(spaces: [&str; 2], names: [&str; 2], quality: Quality) -> io::Result<Self> {
        let [near, far] = [device(spaces[0], names[0])?, device(spaces[1], names[1])?].map(Arc::new);
        let (ended, lost) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let ways = [(&near, &far, quality.loss), (&far, &near, 0.0)];
        let threads = ways.map(|(from, to, loss)| {
            let (from, to, ended, lost) = (Arc::clone(from), Arc::clone(to), Arc::clone(&ended), Arc::clone(&lost));
            thread::spawn(move || carry(&from, &to, loss, quality.delay, &ended, &lost))
        });
        Ok(Self { ended, lost, threads: threads.into() })
    }

    /// Datagrams that it has lost.
    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Ordering::SeqCst)
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::SeqCst);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Makes a TUN device in a namespace, in a separate thread, since a namespace belongs to a thread.
fn device(space: &str, name: &str) -> io::Result<SyncDevice> {
    let (space, name) = (format!("/run/netns/{space}"), name.to_owned());
    let maker = thread::spawn(move || {
        setns(File::open(space)?, CloneFlags::CLONE_NEWNET)?;
        let device = DeviceBuilder::new().name(name).layer(Layer::L3).mtu(MTU).build_sync()?;
        device.set_nonblocking(true)?;
        Ok(device)
    });
    maker.join().expect("it returns its error")
}

fn carry(from: &SyncDevice, to: &SyncDevice, loss: f64, delay: Duration, ended: &AtomicBool, lost: &AtomicU64) {
    const UDP: u8 = 17;
    let clock = Clock::new();
    let mut draws = Stream::new(1, Purpose::LinkLoss, 0, 0);
    let mut waiting: VecDeque<(Instant, Vec<u8>)> = VecDeque::new();
    let mut octets = vec![0; usize::from(MTU)];
    while !ended.load(Ordering::SeqCst) {
        while waiting.front().is_some_and(|(due, _)| *due <= clock.now()) {
            let Some((_, packet)) = waiting.pop_front() else { break };
            // A device that is full has lost it.
            let _ = to.send(&packet);
        }
        match from.recv(&mut octets) {
            // The protocol of an IPv4 packet (RFC 791, 3.1).
            Ok(length) if length > 9 && octets[9] == UDP && draws.unit() < loss => {
                lost.fetch_add(1, Ordering::SeqCst);
            }
            Ok(length) => waiting.push_back((clock.now() + delay, octets[..length].to_vec())),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                let most = std::time::Duration::from_millis(50);
                let due = clock.wait(waiting.front().map(|(due, _)| *due));
                wait::readable(from, due.unwrap_or(most).min(most));
            }
            Err(_) => return,
        }
    }
}
