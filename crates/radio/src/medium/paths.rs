//! Links that transmissions travel along.

use core::fmt;

use hopcast_protocols::time::Instant;

use super::Link;
use crate::frame::StationId;

/// Links between moving stations.
pub trait Geometry: fmt::Debug + Send {
    /// Fills `links`, which is empty, with the paths from `transmitter` as they are `now`, sorted by delay, then
    /// receiver. `now` never goes back.
    fn links(&mut self, transmitter: StationId, now: Instant, links: &mut Vec<Link>);
}

/// All links that fronts may stand on, in one row.
#[derive(Debug)]
pub(super) struct Paths {
    /// Where stations rest, those of all transmitters, each transmitter's sorted by delay and receiver. Where they move, those
    /// of what is on the air.
    pub(super) links: Vec<Link>,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// Where a transmitter's links begin; one more entry than stations.
    Fixed(Vec<u32>),
    Moving(Box<Moving>),
}

/// A transmission keeps its links as they were when it began, in a stretch of the row: as many places as a power of two.
#[derive(Debug)]
struct Moving {
    geometry: Box<dyn Geometry>,
    /// Of the transmission that begins.
    fresh: Vec<Link>,
    /// Unused ranges, by the logarithm of their length.
    free: [Vec<u32>; 32],
}

impl Paths {
    /// `links[i]` are the paths from station `i`.
    pub(super) fn fixed(links: Vec<Vec<Link>>) -> Self {
        let mut first_link = Vec::with_capacity(links.len() + 1);
        let mut all = Vec::with_capacity(links.iter().map(Vec::len).sum());
        for mut own in links {
            own.sort_by_key(Link::order);
            first_link.push(all.len() as u32);
            all.extend(own);
        }
        first_link.push(all.len() as u32);
        Self { links: all, kind: Kind::Fixed(first_link) }
    }

    pub(super) fn moving(geometry: Box<dyn Geometry>) -> Self {
        let moving = Moving { geometry, fresh: Vec::new(), free: Default::default() };
        Self { links: Vec::new(), kind: Kind::Moving(Box::new(moving)) }
    }

    /// The links of a transmission that begins `now`: the first, and one beyond the last. Where there are any, they are to be
    /// [released](Self::release).
    #[inline]
    pub(super) fn claim(&mut self, transmitter: StationId, now: Instant) -> (u32, u32) {
        let transmitter_index = transmitter.0 as usize;
        match &mut self.kind {
            Kind::Fixed(first_link) => (first_link[transmitter_index], first_link[transmitter_index + 1]),
            Kind::Moving(moving) => moving.claim(transmitter, now, &mut self.links),
        }
    }

    /// The links of a transmission that has ended are no longer needed.
    #[inline]
    pub(super) fn release(&mut self, first: u32, end: u32) {
        if let Kind::Moving(moving) = &mut self.kind {
            moving.free[class(end - first)].push(first);
        }
    }
}

impl Moving {
    fn claim(&mut self, transmitter: StationId, now: Instant, links: &mut Vec<Link>) -> (u32, u32) {
        self.fresh.clear();
        self.geometry.links(transmitter, now, &mut self.fresh);
        debug_assert!(self.fresh.is_sorted_by_key(Link::order), "links come sorted by delay and receiver");
        let Some(&any) = self.fresh.first() else { return (0, 0) };
        let count = self.fresh.len();
        let class = class(count as u32);
        let first = self.free[class].pop().unwrap_or_else(|| {
            let first = links.len();
            links.resize(first + (1 << class), any);
            first as u32
        });
        links[first as usize..][..count].copy_from_slice(&self.fresh);
        (first, first + count as u32)
    }
}

/// The logarithm of the length of a range for this number of links, which is at least one.
fn class(links: u32) -> usize {
    links.next_power_of_two().trailing_zeros() as usize
}
