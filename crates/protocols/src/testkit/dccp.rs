//! DCCP as a peer of a pair. Its events are its outputs but for packets.

use hopcast_wire::dccp::{self as wire, Body, Feature, NetworkState, OptionList, OptionRepr};

use super::{Choices, Datagram, Output, Peer, Subject};
use crate::time::Instant;
use crate::transport::dccp::{self, Connection, Packet, Payload};

/// Bytes of the header of IPv4.
const IP_HEADER: u32 = 20;
/// Numbers of packets have 48 bits.
const NUMBERS: u64 = 1 << 48;

impl Datagram for Packet {
    fn link_len(&self) -> u32 {
        IP_HEADER + self.header.len() as u32 + self.payload.len
    }

    fn corrupt(&mut self, at: u32, mask: u8) {
        let mut header = self.header.to_vec();
        header.corrupt(at, mask);
        self.header = header.into();
    }
}

impl Peer for Connection {
    type Datagram = Packet;
    type Event = dccp::Output;

    fn handle_datagram(&mut self, packet: &Packet, now: Instant) {
        self.handle_packet(packet, now);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.handle_timeout(now);
    }

    fn poll_output(&mut self, now: Instant) -> Option<Output<Packet, dccp::Output>> {
        self.poll_output(now).map(|output| match output {
            dccp::Output::Transmit(packet) => {
                let view = wire::Packet::new_checked(&packet.header[..]).expect("what is sent is a packet");
                assert!(
                    view.options().iter().all(|option| option.is_ok()),
                    "what is sent has options that can be read"
                );
                Output::Transmit(packet)
            }
            event => Output::Event(event),
        })
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.poll_timeout()
    }
}

impl Subject for Connection {
    fn handle_request(&mut self, choices: &mut Choices<'_>, now: Instant) {
        match choices.byte() % 16 {
            0..=11 => {
                self.handle_write(Payload { unit: 0, len: choices.u16().into() }, now);
            }
            12 => {
                self.handle_write(Payload { unit: 0, len: choices.u32() }, now);
            }
            13 => {
                self.handle_flush(now);
            }
            14 => self.handle_close(now),
            _ => {
                if choices.bool() {
                    self.handle_abort(now);
                }
            }
        }
    }

    /// A header of some type with numbers near to those of the last packet and options that mean something, or any bytes.
    fn handle_forgery(&mut self, choices: &mut Choices<'_>, last: Option<&Packet>, now: Instant) {
        if choices.byte().is_multiple_of(8) {
            // Whether these are a packet is the question.
            let _ = self.handle_datagram(choices.bytes(100), now);
            return;
        }
        let view = last.and_then(|last| wire::Packet::new_checked(&last.header[..]).ok());
        let sequence = choices.near(view.as_ref().map_or(0, wire::Packet::sequence)) % NUMBERS;
        let acknowledgement = view.as_ref().and_then(wire::Packet::acknowledgement).unwrap_or(0);
        let acknowledgement = choices.near(acknowledgement) % NUMBERS;
        let body = match choices.byte() % 12 {
            0 => Body::Request { service_code: 0 },
            1 => Body::Response { acknowledgement, service_code: 0 },
            2 => Body::Data,
            3 | 10 => Body::Ack { acknowledgement },
            4 | 11 => Body::DataAck { acknowledgement },
            5 => Body::CloseReq { acknowledgement },
            6 => Body::Close { acknowledgement },
            7 => Body::Reset { acknowledgement, code: choices.byte().into(), data: [0; 3] },
            8 => Body::Sync { acknowledgement },
            _ => Body::SyncAck { acknowledgement },
        };
        let options = forged_options(choices);
        let repr = wire::Repr {
            source_port: 0,
            destination_port: 0,
            ccval: choices.byte() & 0x0f,
            checksum_coverage: 0,
            extended: true,
            sequence,
            body,
            options: options.as_options(),
            payload_len: 0,
        };
        let mut header = vec![0; repr.buffer_len()];
        repr.emit(&mut wire::Packet::new_unchecked(&mut header));
        let payload = Payload { unit: 0, len: u32::from(choices.u16()) % 2000 };
        self.handle_packet(&Packet { header: header.into(), payload }, now);
    }

    fn check(&self) {
        let rate = self.sender().tfrc().rate();
        assert!(rate.is_finite() && rate > 0.0, "a rate of {rate}");
        assert!(self.queued() <= self.config().queue, "the queue is bounded");
        assert!(self.receiver().intervals().1.len() <= 9, "RFC 5348, section 5.3: eight intervals and the open one");
    }
}

fn forged_options(choices: &mut Choices<'_>) -> OptionList {
    let mut list = OptionList::new();
    for _ in 0..choices.byte() % 8 {
        let (number, small) = (choices.u32(), choices.byte());
        let (feature, values) = (Feature::from(small & 0x0f), [small >> 4, small & 3]);
        // An option for which there is no more room is left out.
        list.push(&match choices.byte() % 12 {
            0 => OptionRepr::ReceiveRate(number),
            1 => OptionRepr::LossEventRate(number >> (small & 31)),
            2 => OptionRepr::ElapsedTime(number >> (small & 31)),
            3 => OptionRepr::Timestamp(number),
            4 => OptionRepr::NdpCount(u64::from(number) << (small & 15)),
            5 => OptionRepr::ChangeL(feature, &values),
            6 => OptionRepr::ChangeR(feature, &values),
            7 => OptionRepr::ConfirmL(feature, &values),
            8 => OptionRepr::ConfirmR(feature, &values),
            9 => OptionRepr::NetworkState(NetworkState(small)),
            10 => OptionRepr::Other(small.into(), &[]),
            _ => OptionRepr::LossEventRate(u32::MAX),
        });
    }
    list
}
