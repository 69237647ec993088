//! Which clips there are in the neighbourhood of a real host, so that a user can ask for one by its name.
//!
//! Each device tells its neighbours of the clips that it stores, and of those that others have told it of, in rounds. An offer carries
//! the time since a device that stores the clip has said so. Only that device can make it younger, so that the offers of a device that
//! is gone end everywhere after [`LIFETIME`]. They go no further than a stream may.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use hopcast_wire::cloud::{DIGEST_LEN, Message, Offer};

use super::delivery::PACKET;
use super::reservation::MAX_HOPS;
use crate::time::{Duration, Instant};

/// Most clips that a device knows.
pub const MAX_CLIPS: usize = 1_024;
/// Age at which an offer ends: three rounds may be lost.
pub const LIFETIME: Duration = Duration::from_secs(65);
/// Time between two rounds.
const ROUND: Duration = Duration::from_secs(20);
/// An offer from farther away counts if it is younger by this time: the nearer device may be gone.
const FRESHER: Duration = Duration::from_secs(30);
/// Time between two messages of a round.
const GAP: Duration = Duration::from_millis(50);

/// The SHA-256 of a clip.
pub type Digest = [u8; DIGEST_LEN];

/// The clips that a device knows of.
#[derive(Clone, Debug)]
pub struct Catalogue {
    known: BTreeMap<Digest, Known>,
    /// Clips to be told, in this order.
    queue: VecDeque<Digest>,
    queued: BTreeSet<Digest>,
    next_message: Instant,
    next_round: Instant,
}

#[derive(Clone, Debug)]
struct Known {
    offer: Offer,
    is_own: bool,
    /// When a device that stores the clip said so.
    said: Instant,
}

impl Catalogue {
    /// That of a device that stores the clips in `own`.
    pub fn new(own: impl IntoIterator<Item = Offer>, now: Instant) -> Self {
        let known = own.into_iter().map(|offer| {
            let offer = Offer { hops: 0, age: 0, ..offer };
            (offer.digest, Known { offer, is_own: true, said: now })
        });
        let known = known.collect();
        Self { known, queue: VecDeque::new(), queued: BTreeSet::new(), next_message: now, next_round: now }
    }

    /// The device no longer stores a clip.
    pub fn handle_withdrawn(&mut self, digest: &Digest) {
        self.known.remove(digest);
    }

    /// There is a new neighbour: it should know soon what there is.
    pub fn handle_new_neighbour(&mut self, now: Instant) {
        self.next_round = now;
    }

    /// A neighbour tells what it knows.
    pub fn handle_offers(&mut self, offers: Vec<Offer>, now: Instant) {
        self.expire(now);
        for offer in offers {
            let (digest, hops) = (offer.digest, offer.hops.saturating_add(1));
            let age = Duration::from_secs(offer.age.into());
            if usize::from(hops) > MAX_HOPS || age >= LIFETIME || offer.rate == 0 || offer.length == 0 {
                continue;
            }
            let said = now.saturating_before(age);
            let is_better = match self.known.get(&digest) {
                Some(known) if known.is_own => false,
                Some(known) => {
                    let other = known.offer.hops;
                    hops < other || hops == other && said > known.said || said >= known.said + FRESHER
                }
                None => self.known.len() < MAX_CLIPS,
            };
            if is_better {
                let offer = Offer { hops, ..offer };
                let before = self.known.insert(digest, Known { offer, is_own: false, said });
                // What is new, or nearer, is told at once; the rest in the next round.
                if before.is_none_or(|before| before.offer.hops > hops) {
                    self.tell(digest);
                }
            }
        }
    }

    /// The time of [`Self::poll_timeout`] has come.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.expire(now);
        if self.next_round <= now {
            self.next_round = now + ROUND;
            let all: Vec<Digest> = self.known.keys().copied().collect();
            all.into_iter().for_each(|digest| self.tell(digest));
        }
    }

    /// The time of the next [`Self::handle_timeout`] or [`Self::poll_message`].
    pub fn poll_timeout(&self) -> Instant {
        let message = if self.queue.is_empty() { self.next_round } else { self.next_message };
        message.min(self.next_round)
    }

    /// Takes out the message for all neighbours that is due.
    pub fn poll_message(&mut self, now: Instant) -> Option<Message> {
        if self.next_message > now {
            return None;
        }
        let mut offers = Vec::new();
        let mut room = PACKET as usize;
        while let Some(digest) = self.queue.front() {
            let offer = self.known.get(digest).and_then(|known| told(known, now));
            let Some(offer) = offer.filter(|offer| usize::from(offer.hops) < MAX_HOPS) else {
                self.drop_first();
                continue;
            };
            match room.checked_sub(offer.wire_len()) {
                None => break,
                Some(left) => room = left,
            }
            offers.push(offer);
            self.drop_first();
        }
        if offers.is_empty() {
            return None;
        }
        self.next_message = now + GAP;
        Some(Message::Offers { offers })
    }

    /// All clips, as they are known at `now`, and whether the device itself stores them.
    pub fn offers(&self, now: Instant) -> impl Iterator<Item = (Offer, bool)> + '_ {
        self.known.values().filter_map(move |known| Some((told(known, now)?, known.is_own)))
    }

    /// The clip with this digest.
    pub fn find(&self, digest: &Digest, now: Instant) -> Option<Offer> {
        self.known.get(digest).and_then(|known| told(known, now))
    }

    fn tell(&mut self, digest: Digest) {
        if self.queued.insert(digest) {
            self.queue.push_back(digest);
        }
    }

    fn drop_first(&mut self) {
        if let Some(digest) = self.queue.pop_front() {
            self.queued.remove(&digest);
        }
    }

    fn expire(&mut self, now: Instant) {
        self.known.retain(|_, known| told(known, now).is_some());
    }
}

/// An offer with its age at `now`; `None`: it has ended.
fn told(known: &Known, now: Instant) -> Option<Offer> {
    let age = if known.is_own { Duration::ZERO } else { now.saturating_since(known.said) };
    // Rounded up: an offer never becomes younger on its way.
    let seconds = age.as_nanos().div_ceil(1_000_000_000) as u8;
    (age < LIFETIME).then(|| Offer { age: seconds, ..known.offer.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(n: u64) -> Instant {
        Instant::START + Duration::from_secs(n)
    }

    fn offer(n: u16) -> Offer {
        let mut digest = [0; DIGEST_LEN];
        digest[..2].copy_from_slice(&n.to_be_bytes());
        Offer { digest, size: 1, rate: 1_000_000, length: 1_000, hops: 0, age: 0, name: format!("clip {n}") }
    }

    /// What a device says within a second.
    fn say(catalogue: &mut Catalogue, mut now: Instant) -> Vec<Vec<Offer>> {
        let mut said = Vec::new();
        let end = now + Duration::from_secs(1);
        while now < end {
            catalogue.handle_timeout(now);
            while let Some(Message::Offers { offers }) = catalogue.poll_message(now) {
                said.push(offers);
            }
            now = catalogue.poll_timeout();
        }
        said
    }

    #[test]
    fn a_clip_is_known_as_far_away_as_a_stream_may_go() {
        let mut devices: Vec<Catalogue> = (0..10).map(|_| Catalogue::new([], seconds(1))).collect();
        devices[0] = Catalogue::new([offer(1)], seconds(1));
        for place in 0..9 {
            for offers in say(&mut devices[place], seconds(1)) {
                devices[place + 1].handle_offers(offers, seconds(1));
            }
        }
        let hops: Vec<Option<u8>> =
            devices.iter().map(|device| device.offers(seconds(1)).next().map(|(offer, _)| offer.hops)).collect();
        assert_eq!(hops[..9], [0, 1, 2, 3, 4, 5, 6, 7, 8].map(Some));
        assert_eq!(hops[9], None);
    }

    #[test]
    fn the_offers_of_a_device_that_is_gone_end_though_others_repeat_them() {
        let [mut near, mut far] = [(); 2].map(|()| Catalogue::new([], seconds(0)));
        near.handle_offers(vec![offer(1)], seconds(0));
        // Each tells the other what it knows, for as long as it does.
        for second in 0..70 {
            for offers in say(&mut near, seconds(second)) {
                far.handle_offers(offers, seconds(second));
            }
            for offers in say(&mut far, seconds(second)) {
                near.handle_offers(offers, seconds(second));
            }
            let lives = near.offers(seconds(second)).count();
            assert_eq!(lives, usize::from(second < 65), "after {second} s");
        }
        assert_eq!(far.offers(seconds(70)).count(), 0);
    }

    #[test]
    fn what_is_new_is_told_at_once_and_all_of_it_every_20_s() {
        let mut catalogue = Catalogue::new((0..100).map(offer), seconds(0));
        let said = say(&mut catalogue, seconds(0));
        assert_eq!(said.iter().map(Vec::len).sum::<usize>(), 100);
        let length = |offers: &Vec<Offer>| Message::Offers { offers: offers.clone() }.emit().len();
        assert!(said.iter().all(|offers| length(offers) <= 5 + PACKET as usize), "a message fits into a packet");
        assert!(said.len() <= 6, "and is full: {}", said.len());
        assert!(say(&mut catalogue, seconds(10)).is_empty());
        catalogue.handle_offers(vec![offer(500)], seconds(12));
        let said = say(&mut catalogue, seconds(12));
        assert_eq!(
            said.concat().iter().map(|offer| (&offer.name[..], offer.hops)).collect::<Vec<_>>(),
            [("clip 500", 1)]
        );
        assert_eq!(say(&mut catalogue, seconds(20)).concat().len(), 101);
        catalogue.handle_new_neighbour(seconds(25));
        assert_eq!(say(&mut catalogue, seconds(25)).concat().len(), 101);
    }

    #[test]
    fn nobody_can_fill_the_memory_or_replace_a_clip_that_is_stored_here() {
        let mut catalogue = Catalogue::new([offer(1)], seconds(0));
        catalogue.handle_offers(vec![Offer { name: "another name".into(), ..offer(1) }], seconds(0));
        for n in 0..3_000 {
            catalogue.handle_offers(vec![offer(n)], seconds(0));
        }
        assert_eq!(catalogue.offers(seconds(0)).count(), MAX_CLIPS);
        let own: Vec<String> =
            catalogue.offers(seconds(0)).filter(|(_, is_own)| *is_own).map(|(offer, _)| offer.name).collect();
        assert_eq!(own, ["clip 1"]);
        assert!(say(&mut catalogue, seconds(0)).concat().len() <= MAX_CLIPS);
    }
}
