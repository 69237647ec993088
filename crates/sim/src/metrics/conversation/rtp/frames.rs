//! Pictures of a video stream that have arrived completely.

/// Packets that are remembered: a picture with more of them is never whole.
const MEMORY: u64 = 512;

/// The latest packets of a source.
///
/// A picture is the packets with one timestamp, up to the one with the marker (RFC 3551, section 5). It is whole when all of them have
/// arrived, and the packet before the first of them: without that, a first one might be missing.
#[derive(Clone, Debug, Default)]
pub(super) struct Frames {
    /// By number modulo [`MEMORY`].
    packets: Vec<Option<Packet>>,
    /// The number of the first packet that arrived: what was before it is not asked for.
    first: u64,
    /// The last packet of the latest picture that was whole.
    shown: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Packet {
    number: u64,
    timestamp: u32,
    is_last: bool,
}

impl Frames {
    /// A packet arrived. Returns how many pictures are whole with it, of which no later one was before: its own, and the one behind it, of
    /// which it was the packet before the first.
    pub(super) fn handle_packet(&mut self, number: u64, timestamp: u32, is_last: bool) -> usize {
        if self.packets.is_empty() {
            self.packets.resize(MEMORY as usize, None);
            self.first = number;
        }
        self.packets[(number % MEMORY) as usize] = Some(Packet { number, timestamp, is_last });
        let next = self.packet(number + 1).filter(|next| next.timestamp != timestamp);
        let own = self.show(number, timestamp);
        usize::from(own) + usize::from(next.is_some_and(|next| self.show(next.number, next.timestamp)))
    }

    /// Shows the picture of a packet, if it is whole and no later one has been shown.
    fn show(&mut self, number: u64, timestamp: u32) -> bool {
        let is_of_it = |packet: &Packet| packet.timestamp == timestamp;
        let Some(end) = self.from(number).take_while(is_of_it).find(|packet| packet.is_last) else { return false };
        let mut begin = number;
        while let Some(packet) = self.packet(begin - 1).filter(is_of_it) {
            begin = packet.number;
        }
        let is_whole = begin == self.first || self.packet(begin - 1).is_some();
        let is_shown = is_whole && self.shown.is_none_or(|shown| end.number > shown);
        if is_shown {
            self.shown = Some(end.number);
        }
        is_shown
    }

    fn packet(&self, number: u64) -> Option<Packet> {
        self.packets[(number % MEMORY) as usize].filter(|packet| packet.number == number)
    }

    /// The packets from this one on, up to one that has not arrived.
    fn from(&self, number: u64) -> impl Iterator<Item = Packet> + '_ {
        (number..number + MEMORY).map_while(|number| self.packet(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which packets, by number, timestamp and marker, made pictures whole: the packet once for each.
    fn whole(packets: &[(u64, u32, bool)]) -> Vec<u64> {
        let mut frames = Frames::default();
        let shown = |&(number, timestamp, last): &(u64, u32, bool)| {
            std::iter::repeat_n(number, frames.handle_packet(number, timestamp, last))
        };
        packets.iter().flat_map(shown).collect()
    }

    #[test]
    fn a_picture_is_whole_with_its_last_missing_packet() {
        assert_eq!(whole(&[(10, 0, false), (11, 0, true), (12, 90, true)]), [11, 12]);
        // Packets of the second picture change places.
        assert_eq!(whole(&[(10, 0, true), (12, 90, true), (11, 90, false), (13, 180, true)]), [10, 11, 13]);
    }

    #[test]
    fn a_picture_without_a_packet_is_not_whole() {
        // In its middle.
        assert_eq!(whole(&[(10, 0, true), (11, 90, false), (13, 90, true), (14, 180, true)]), [10, 14]);
        // Its last one; whether the next picture has lost its first one nobody knows.
        assert_eq!(whole(&[(10, 0, true), (11, 90, false), (13, 180, true), (14, 270, true)]), [10, 14]);
    }

    #[test]
    fn a_picture_that_is_whole_after_a_later_one_comes_too_late() {
        // The one behind it waited for it.
        assert_eq!(
            whole(&[(10, 0, true), (11, 90, false), (13, 180, false), (14, 180, true), (12, 90, true)]),
            [10, 12, 12]
        );
        let late = [(10, 0, true), (11, 90, false), (13, 90, true), (14, 180, true), (12, 90, false), (15, 270, true)];
        assert_eq!(whole(&late), [10, 14, 15]);
    }

    #[test]
    fn what_is_longer_than_the_memory_is_never_whole() {
        let mut frames = Frames::default();
        assert_eq!(frames.handle_packet(1, 0, true), 1);
        assert!((2..600).all(|number| frames.handle_packet(number, 90, number == 599) == 0));
    }
}
