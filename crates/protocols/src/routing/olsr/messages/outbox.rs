//! Messages on their way out, bundled into packets (RFC 3626, 3.3, 3.5).

use std::net::Ipv4Addr;

use hopcast_wire::olsr::{self, HEADER_LEN, MessageRepr};

use crate::routing::{Message, NextHop, Output};

/// The most bytes of messages that wait to be passed on; further ones are dropped.
pub(in crate::routing::olsr) const MAX_WAITING: usize = 65536;

/// What waits to be passed on, and the numbers of packets.
#[derive(Debug)]
pub(in crate::routing::olsr) struct Outbox {
    /// The most bytes that messages of one packet have together; a longer message has one by itself.
    payload: usize,
    /// Messages to be passed on, one behind the other, and where each ends.
    waiting: (Vec<u8>, Vec<usize>),
    /// By interface: number of the last packet.
    sequences: Vec<u16>,
}

impl Outbox {
    pub(in crate::routing::olsr) fn new(payload: usize, sequences: Vec<u16>) -> Self {
        Self { payload, waiting: (Vec::new(), Vec::new()), sequences }
    }

    /// A message is to be passed on with the next packet.
    pub(in crate::routing::olsr) fn push(&mut self, header: MessageRepr, body: &[u8]) {
        let (octets, ends) = &mut self.waiting;
        if octets.len() + header.buffer_len() + body.len() <= MAX_WAITING {
            header.push(octets, body);
            ends.push(octets.len());
        }
    }

    /// Number of interfaces.
    pub(in crate::routing::olsr) fn interfaces(&self) -> u32 {
        self.sequences.len() as u32
    }

    #[cfg(test)]
    pub(in crate::routing::olsr) fn len(&self) -> usize {
        self.waiting.0.len()
    }

    /// Sends own messages, in lists by interface, and behind them all that waits.
    pub(in crate::routing::olsr) fn send(&mut self, own: &[Vec<Vec<u8>>], mut output: impl FnMut(Output)) {
        let (octets, ends) = core::mem::take(&mut self.waiting);
        let is_single = self.sequences.len() == 1;
        for ((interface, sequence), own) in (0..).zip(&mut self.sequences).zip(own) {
            let starts = core::iter::once(0).chain(ends.iter().copied());
            let waiting = starts.zip(&ends).map(|(start, &end)| &octets[start..end]);
            let mut packet = vec![0; HEADER_LEN];
            let mut send = |mut packet: Vec<u8>| {
                *sequence = sequence.wrapping_add(1);
                let repr = olsr::Repr { sequence: *sequence, payload_len: (packet.len() - HEADER_LEN) as u16 };
                repr.emit(&mut olsr::Packet::new_unchecked(&mut packet));
                // With one interface, that is the same, and more common.
                let hop = (!is_single).then_some(NextHop { interface, address: Ipv4Addr::BROADCAST });
                output(Output::Send(Message { hop, ..Message::to_neighbours(packet) }));
            };
            for message in own.iter().map(Vec::as_slice).chain(waiting) {
                if packet.len() > HEADER_LEN && packet.len() - HEADER_LEN + message.len() > self.payload {
                    send(core::mem::replace(&mut packet, vec![0; HEADER_LEN]));
                }
                packet.extend(message);
            }
            if packet.len() > HEADER_LEN {
                send(packet);
            }
        }
    }
}
