//! One machine, to which others speak in a small language: addresses are written by their last byte, and what the machine puts
//! out is compared as text.

use std::net::Ipv4Addr;

use hopcast_wire::aodv::{ErrorRepr, Extensions, ReplyFlags, ReplyRepr, Repr, RequestFlags, RequestRepr, Unreachable};

use super::super::{Aodv, Config};
use crate::random::{Purpose, Stream};
use crate::routing::{LinkEvent, Message, NextHop, Node, Output, Packet, Routing, Verdict};
use crate::time::{Duration, Instant};

/// The node under test.
pub(super) const OWN: u8 = 1;

pub(super) fn address(number: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, number)
}

pub(super) fn hop(number: u8) -> NextHop {
    NextHop { interface: 0, address: address(number) }
}

pub(super) fn at(millis: u64) -> Instant {
    Instant::START + Duration::from_millis(millis)
}

pub(super) fn node() -> Node {
    Node { address: address(OWN), interfaces: 1, random: Stream::new(1, Purpose::Routing, 0, 0) }
}

pub(super) struct Bench {
    pub(super) aodv: Aodv,
    now: Instant,
    said: Vec<String>,
}

impl Bench {
    pub(super) fn new(config: &Config) -> Self {
        Self::of(Aodv::new(config.clone(), node(), Instant::START))
    }

    pub(super) fn of(aodv: Aodv) -> Self {
        Self { aodv, now: Instant::START, said: Vec::new() }
    }

    pub(super) fn now(&self) -> Instant {
        self.now
    }

    /// Lets time pass up to `millis`; nothing may be due before then.
    #[track_caller]
    pub(super) fn quietly_to(&mut self, millis: u64) -> &mut Self {
        let said = self.to(millis);
        assert_eq!(said, Vec::<String>::new(), "nothing is put out before {millis} ms");
        self
    }

    /// Lets time pass up to `millis`, timer by timer; what is put out, with its time in milliseconds.
    pub(super) fn to(&mut self, millis: u64) -> Vec<String> {
        let end = at(millis);
        assert!(end >= self.now, "time does not run backwards");
        let mut said = Vec::new();
        while let Some(due) = self.aodv.poll_timeout().filter(|&due| due <= end) {
            assert!(due >= self.now, "a timer was due before");
            self.drain();
            self.now = due;
            self.aodv.handle_timeout(due);
            let when = due.as_nanos() as f64 / 1e6;
            said.extend(self.said().into_iter().map(|line| format!("{when} {line}")));
            assert!(self.aodv.poll_timeout().is_none_or(|next| next > due), "a timer stays due");
        }
        self.now = end;
        said
    }

    /// What the machine has put out since the last call.
    pub(super) fn said(&mut self) -> Vec<String> {
        self.drain();
        core::mem::take(&mut self.said)
    }

    fn drain(&mut self) {
        self.said.extend(core::iter::from_fn(|| self.aodv.poll_output()).map(|output| text(&output)));
    }

    #[track_caller]
    pub(super) fn says<const N: usize>(&mut self, expected: [&str; N]) -> &mut Self {
        assert_eq!(self.said(), expected);
        self
    }

    /// A message from a neighbour, to this node or, with `ttl`, to all.
    pub(super) fn hear(&mut self, from: u8, ttl: Option<u8>, message: Repr<'_>) -> &mut Self {
        let octets = message.to_octets();
        self.hear_octets(from, ttl, &octets)
    }

    pub(super) fn hear_octets(&mut self, from: u8, ttl: Option<u8>, octets: &[u8]) -> &mut Self {
        let destination = if ttl.is_some() { Ipv4Addr::BROADCAST } else { address(OWN) };
        self.drain();
        self.aodv.handle_message(&Packet::message(hop(from), destination, ttl.unwrap_or(1), octets), self.now);
        self
    }

    /// A packet with data: of this node if `from` is `None`.
    pub(super) fn packet(&mut self, source: u8, destination: u8, from: Option<u8>) -> Verdict {
        self.aodv.handle_packet(&data(source, destination, from), self.now)
    }

    /// The neighbour to which this node sends its own packets.
    #[track_caller]
    pub(super) fn forwards(&mut self, destination: u8, to: u8) -> &mut Self {
        let verdict = self.packet(OWN, destination, None);
        assert!(matches!(&verdict, Verdict::Forward(forward) if forward.hop == hop(to)), "{verdict:?}");
        self
    }

    #[track_caller]
    pub(super) fn waits(&mut self, destination: u8) -> &mut Self {
        assert_eq!(self.packet(OWN, destination, None), Verdict::Wait);
        self
    }

    pub(super) fn event(&mut self, event: &LinkEvent<'_>) -> Verdict {
        self.aodv.handle_link_event(event, self.now)
    }

    /// The link layer has given up a packet for the neighbour `to`.
    pub(super) fn dropped(&mut self, to: u8, packet: Packet<'_>) -> Verdict {
        self.event(&LinkEvent::FrameDropped { hop: hop(to), packet })
    }

    /// The link layer has given up a packet from `source` to `destination` for the neighbour `to`.
    pub(super) fn data_dropped(&mut self, to: u8, source: u8, destination: u8) -> Verdict {
        self.dropped(to, data(source, destination, None))
    }

    /// The interface gives a packet back that waited for the neighbour `to`.
    pub(super) fn purged(&mut self, to: u8, packet: Packet<'_>) -> Verdict {
        self.event(&LinkEvent::QueuePurged { hop: hop(to), packet })
    }

    /// The link layer has given up a message for the neighbour `to`.
    pub(super) fn message_dropped(&mut self, to: u8, message: Repr<'_>) -> &mut Self {
        let octets = message.to_octets();
        let (source, destination) = (address(OWN), address(to));
        let packet = Packet {
            source,
            destination,
            ttl: 1,
            from: None,
            octets: &octets,
            has_data: false,
            protocol: 0,
            identification: 0,
            fragment_offset: 0,
        };
        assert_eq!(self.dropped(to, packet), Verdict::Drop);
        self
    }

    /// The next hop to a destination now.
    pub(super) fn next(&self, destination: u8) -> Option<u8> {
        self.aodv.next_hop(address(destination), self.now).map(|hop| hop.address.octets()[3])
    }
}

pub(super) fn data(source: u8, destination: u8, from: Option<u8>) -> Packet<'static> {
    Packet {
        source: address(source),
        destination: address(destination),
        ttl: 64,
        from: from.map(hop),
        octets: &[],
        has_data: true,
        protocol: 17,
        identification: 0,
        fragment_offset: 0,
    }
}

/// A packet with data, which has come this number of hops.
pub(super) fn passed_on(source: u8, destination: u8, hops: u8) -> Packet<'static> {
    let packet = data(source, destination, None);
    Packet { ttl: packet.ttl - hops, ..packet }
}

/// A request of `originator` for `destination`; its number is 7 and more can be changed in what is returned.
pub(super) fn request(
    originator: (u8, u32),
    destination: (u8, Option<u32>),
    hop_count: u8,
    id: u32,
) -> RequestRepr<'static> {
    RequestRepr {
        flags: if destination.1.is_none() { RequestFlags::UNKNOWN_SEQUENCE } else { RequestFlags::NONE },
        hop_count,
        id,
        destination: address(destination.0),
        destination_sequence: destination.1.unwrap_or_default(),
        originator: address(originator.0),
        originator_sequence: originator.1,
        extensions: Extensions::NONE,
    }
}

/// A reply to `originator` about `destination` with its number.
pub(super) fn reply(destination: (u8, u32), hop_count: u8, originator: u8, lifetime: u32) -> ReplyRepr<'static> {
    ReplyRepr {
        flags: ReplyFlags::NONE,
        prefix_size: 0,
        hop_count,
        destination: address(destination.0),
        destination_sequence: destination.1,
        originator: address(originator),
        lifetime,
        extensions: Extensions::NONE,
    }
}

/// A hello of this node with this number.
pub(super) fn hello(own: u8, sequence: u32) -> Repr<'static> {
    Repr::Reply(reply((own, sequence), 0, own, 2000))
}

/// Bytes of an error about these destinations with their numbers.
pub(super) fn error(no_delete: bool, destinations: &[(u8, u32)]) -> Vec<u8> {
    let all = destinations.iter().map(|&(number, sequence)| Unreachable { destination: address(number), sequence });
    let all: Vec<_> = all.collect();
    Repr::Error(ErrorRepr { no_delete, unreachable: all[..].into() }).to_octets()
}

fn last(address: Ipv4Addr) -> u8 {
    address.octets()[3]
}

fn text(output: &Output) -> String {
    match output {
        Output::Send(message) => sent(message),
        Output::Found(destination) => format!("found {}", last(*destination)),
        Output::NotFound(destination) => format!("not found {}", last(*destination)),
        Output::Purge(hop) => format!("purge {}", last(hop.address)),
        other => panic!("AODV holds no packets: {other:?}"),
    }
}

/// `TO TTL: KIND …`, the numbers behind addresses being sequence numbers.
pub(super) fn sent(message: &Message) -> String {
    let to = message.hop.map_or("all".to_owned(), |hop| last(hop.address).to_string());
    let said = match Repr::parse(&message.octets).expect("what is sent is right") {
        Repr::Request(request) => {
            let flags = [
                (RequestFlags::GRATUITOUS, "G"),
                (RequestFlags::DESTINATION_ONLY, "D"),
                (RequestFlags::UNKNOWN_SEQUENCE, "U"),
            ];
            let flags: String =
                flags.iter().filter(|(flag, _)| request.flags.contains(*flag)).map(|(_, name)| *name).collect();
            let RequestRepr { hop_count, id, destination_sequence, originator_sequence, .. } = request;
            let (destination, originator) = (last(request.destination), last(request.originator));
            format!(
                "RREQ {id} {originator}/{originator_sequence} for {destination}/{destination_sequence} \
                 hops {hop_count} {flags}"
            )
        }
        Repr::Reply(reply) => {
            let ReplyRepr { hop_count, destination_sequence, lifetime, .. } = reply;
            let flags = if reply.flags.contains(ReplyFlags::ACKNOWLEDGE) { " A" } else { "" };
            let interval = reply.extensions.hello_interval().map_or(String::new(), |millis| format!(" every {millis}"));
            let (destination, originator) = (last(reply.destination), last(reply.originator));
            format!(
                "RREP {destination}/{destination_sequence} for {originator} hops {hop_count} \
                 for {lifetime} ms{flags}{interval}"
            )
        }
        Repr::Error(error) => {
            let all = error.unreachable.iter().map(|lost| format!(" {}/{}", last(lost.destination), lost.sequence));
            format!("RERR{}{}", if error.no_delete { " N" } else { "" }, all.collect::<String>())
        }
        Repr::Acknowledgement => "RREP-ACK".to_owned(),
    };
    format!("{to} {}: {}", message.ttl, said.trim_end())
}
