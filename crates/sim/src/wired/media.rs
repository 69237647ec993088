//! The shared media of a run, and which wires lead onto them.

use hopcast_protocols::random::Stream;
use hopcast_protocols::time::{Duration, Instant};
use hopcast_radio::mac::Payload;

use super::{SharedMedium, Wire};

/// All media that wires share, none in most runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedMedia {
    media: Vec<(SharedMedium, Vec<u32>)>,
    /// By wire: its medium, and its station there.
    of_wire: Vec<Option<(u32, u32)>>,
}

/// What leads onto a medium.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    /// The wire.
    pub wire: u32,
    /// Time that its signals take to the middle of the medium.
    pub delay: Duration,
    /// Draws its backoff.
    pub random: Stream,
}

impl SharedMedia {
    /// Adds a medium of `rate` bits per second.
    pub(crate) fn add(&mut self, rate: f64, members: Vec<Member>) {
        let number = self.media.len() as u32;
        let wires: Vec<u32> = members.iter().map(|member| member.wire).collect();
        for (&wire, station) in wires.iter().zip(0..) {
            let wire = wire as usize;
            if self.of_wire.len() <= wire {
                self.of_wire.resize(wire + 1, None);
            }
            self.of_wire[wire] = Some((number, station));
        }
        let stations = members.into_iter().map(|member| (member.delay, member.random));
        self.media.push((SharedMedium::new(rate, stations), wires));
    }

    /// Whether a wire leads onto a medium.
    pub(crate) fn is_shared(&self, wire: usize) -> bool {
        self.place(wire).is_some()
    }

    /// Frames of a wire that collided, each as often as it did; `None`: it leads onto no medium.
    pub(crate) fn collisions(&self, wire: usize) -> Option<u64> {
        let (medium, station) = self.place(wire)?;
        Some(self.media[medium].0.collisions(station))
    }

    /// The packet that a wire wants to send goes to its medium.
    pub(crate) fn pass_on<P: Payload>(&mut self, index: usize, wire: &mut Wire<P>, now: Instant) {
        if let Some((medium, station)) = self.place(index)
            && let Some(octets) = wire.poll_frame()
        {
            self.media[medium].0.handle_frame(station, octets, now);
        }
    }

    /// The wire whose timer is that of the medium as well, onto which this wire leads: the first one there.
    pub(crate) fn leader(&self, wire: usize) -> Option<usize> {
        let (medium, _) = self.place(wire)?;
        Some(self.media[medium].1[0] as usize)
    }

    /// When the medium onto which a wire leads has something to do.
    pub(crate) fn poll_timeout(&self, wire: usize) -> Option<Instant> {
        let (medium, _) = self.place(wire)?;
        self.media[medium].0.poll_timeout()
    }

    /// Lets the medium onto which a wire leads do what is due.
    pub(crate) fn handle_timeout(&mut self, wire: usize, now: Instant) {
        if let Some((medium, _)) = self.place(wire) {
            self.media[medium].0.handle_timeout(now);
        }
    }

    /// The next wire whose packet the medium onto which `wire` leads is done with, and whether it was sent.
    pub(crate) fn poll_output(&mut self, wire: usize) -> Option<(usize, bool)> {
        let (medium, _) = self.place(wire)?;
        let (medium, wires) = &mut self.media[medium];
        let outcome = medium.poll_output()?;
        Some((wires[outcome.station as usize] as usize, outcome.is_sent))
    }

    fn place(&self, wire: usize) -> Option<(usize, u32)> {
        let (medium, station) = (*self.of_wire.get(wire)?)?;
        Some((medium as usize, station))
    }
}
