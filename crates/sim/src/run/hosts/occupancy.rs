//! Occupancy of interface queues, for judging the causes of losses.

use hopcast_radio::mac::edca::{AccessCategory, UserPriority};

use crate::engine::{Attachment, Port, Ports};

/// Packets that interfaces hold, by queue. What cards stand before is not among them: their own queues do the waiting there.
#[derive(Clone, Debug)]
pub(super) struct Occupancy {
    /// By host and interface.
    interfaces: Vec<Vec<Queues>>,
}

/// The queues of an interface: one, or under EDCA one for each access category of a radio.
#[derive(Clone, Debug)]
struct Queues {
    /// Of each.
    places: u32,
    has_categories: bool,
    held: [u32; AccessCategory::ALL.len()],
}

impl Queues {
    fn held_mut(&mut self, priority: UserPriority) -> &mut u32 {
        let category = if self.has_categories { AccessCategory::of_user_priority(priority) as usize } else { 0 };
        &mut self.held[category]
    }
}

impl Occupancy {
    /// That of empty queues: `places` of an interface by its port, in each queue.
    pub(super) fn new(ports: &Ports, has_edca: bool, places: impl Fn(Port) -> u32) -> Self {
        let queues = |(interface, attachment): (u32, &Attachment), host: u32| Queues {
            places: places(Port { host, interface }),
            has_categories: has_edca && matches!(attachment, Attachment::Station(_)),
            held: Default::default(),
        };
        let of_host = |host: usize| {
            let attachments = (0..).zip(ports.attachments(host));
            attachments.map(|attachment| queues(attachment, host as u32)).collect()
        };
        Self { interfaces: (0..ports.hosts()).map(of_host).collect() }
    }

    /// An interface is given a packet of this priority.
    pub(super) fn handle_given(&mut self, port: Port, priority: UserPriority) {
        *self.of(port).held_mut(priority) += 1;
    }

    /// An interface is done with a packet of this priority.
    pub(super) fn handle_done(&mut self, port: Port, priority: UserPriority) {
        *self.of(port).held_mut(priority) -= 1;
    }

    /// Whether any queue is more than half full. One packet of each is in hand, and waits no more.
    pub(super) fn is_any_large(&self) -> bool {
        let mut all = self.interfaces.iter().flatten();
        all.any(|queues| {
            queues.held.iter().any(|held| 2 * u64::from(held.saturating_sub(1)) > u64::from(queues.places))
        })
    }

    fn of(&mut self, port: Port) -> &mut Queues {
        &mut self.interfaces[port.host as usize][port.interface as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Port = Port { host: 0, interface: 0 };

    fn filled(has_edca: bool, packets: &[(u8, u32)]) -> Occupancy {
        let mut occupancy = Occupancy::new(&Ports::one_each(2), has_edca, |_| 50);
        for &(priority, count) in packets {
            (0..count).for_each(|_| occupancy.handle_given(HERE, UserPriority::new(priority)));
        }
        occupancy
    }

    #[test]
    fn more_than_half_beside_the_packet_in_hand_is_large() {
        let mut occupancy = filled(false, &[(0, 26)]);
        assert!(!occupancy.is_any_large());
        occupancy.handle_given(HERE, UserPriority::new(5));
        assert!(occupancy.is_any_large());
        occupancy.handle_done(HERE, UserPriority::new(0));
        assert!(!occupancy.is_any_large());
    }

    #[test]
    fn under_edca_each_category_has_its_own_places() {
        assert!(!filled(true, &[(0, 20), (1, 20), (5, 20), (6, 20)]).is_any_large());
        assert!(filled(true, &[(4, 13), (5, 14)]).is_any_large(), "both are video");
    }
}
