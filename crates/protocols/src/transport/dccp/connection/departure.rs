//! Departure of packets.

use std::sync::Arc;

use hopcast_wire::dccp::{self, Body, OptionList, OptionRepr};

use super::super::sent::Departure;
use super::super::sequence::number;
use super::super::{Packet, Payload};
use super::handshake::{FIRST_REQUEST, Greeting, REQUEST_LIMIT};
use super::{Connection, Reply, State, TIME_UNIT, Timers};
use crate::time::Instant;

/// Packets without data that are told at the most: 48 bits (section 7.7).
const MAX_NDP_COUNT: u64 = (1 << 48) - 1;

impl Connection {
    pub(super) fn emit_reply(&mut self, reply: Reply, now: Instant) -> Packet {
        let mut options = OptionList::new();
        let service_code = self.config.service_code;
        let acknowledgement = number(self.peer.greatest);
        let body = match reply {
            Reply::Request => {
                self.features.write_changes(&mut options);
                if self.timers.repeat.is_none() {
                    self.timers = Timers::start(FIRST_REQUEST, REQUEST_LIMIT, now);
                }
                Body::Request { service_code }
            }
            Reply::Response => {
                self.features.write_confirms(&mut options);
                self.features.write_changes(&mut options);
                Body::Response { acknowledgement, service_code }
            }
            Reply::CloseReq => Body::CloseReq { acknowledgement },
            Reply::Close => Body::Close { acknowledgement },
            Reply::Sync { about } => {
                self.statistics.syncs_sent += 1;
                Body::Sync { acknowledgement: number(about) }
            }
            Reply::SyncAck { about } => Body::SyncAck { acknowledgement: number(about) },
            Reply::Reset { about, code, data } => Body::Reset { acknowledgement: number(about), code, data },
        };
        let packet = self.emit(body, &mut options, Payload::default(), 0);
        if matches!(reply, Reply::Request | Reply::Response) {
            self.greeting = Some(Greeting { number: self.own.greatest(), at: now, heard: self.peer.greatest });
        }
        packet
    }

    /// Data, or an acknowledgement, if either is due.
    pub(super) fn poll_packet(&mut self, now: Instant) -> Option<Packet> {
        if !self.carries_data() {
            return None;
        }
        let mut options = OptionList::new();
        let mut acknowledge = core::mem::take(&mut self.acknowledge);
        if let Some((report, state)) = self.receiver.poll_report(now) {
            self.write_report(&mut options, &report, state, now);
            acknowledge = true;
        }
        // In PARTOPEN everything acknowledges the Response (section 8.1.5).
        let part_open = self.state == State::PartOpen;
        let due = self.departure().is_some_and(|at| at <= now) || self.probe;
        let unit = if due && self.sends_data() { self.queue.pop_front() } else { None };
        if unit.is_none() && !acknowledge {
            return None;
        }
        acknowledge |= part_open;
        if acknowledge && (part_open || self.features.unsent) {
            self.features.write_confirms(&mut options);
            self.features.write_changes(&mut options);
        }
        let acknowledgement = number(self.peer.greatest);
        let Some((payload, offered)) = unit else {
            return Some(self.emit(Body::Ack { acknowledgement }, &mut options, Payload::default(), 0));
        };
        if self.sender.stamps() {
            // The clock wraps by intent: only differences mean something (section 13.1).
            options.push(&OptionRepr::Timestamp((now.as_nanos() / TIME_UNIT) as u32));
        }
        let rtt = self.sender.tfrc().rtt();
        let counter = self.counter.stamp(rtt, now);
        let body = if acknowledge { Body::DataAck { acknowledgement } } else { Body::Data };
        let packet = self.emit(body, &mut options, payload, counter);
        self.probe = false;
        self.sent.push(Departure { number: self.own.greatest(), at: now, counter });
        self.sender.on_sent(payload.len, offered, !self.queue.is_empty(), now);
        self.statistics.data_packets_sent += 1;
        self.statistics.bytes_sent += u64::from(payload.len);
        self.events.writable |= core::mem::take(&mut self.blocked);
        if self.closing {
            self.finish(now);
        }
        Some(packet)
    }

    /// A packet with the next number.
    fn emit(&mut self, body: Body, options: &mut OptionList, payload: Payload, ccval: u8) -> Packet {
        let is_data = matches!(body, Body::Data | Body::DataAck { .. });
        if self.features.sends_ndp_count && self.silent > 0 {
            options.push(&OptionRepr::NdpCount(self.silent.min(MAX_NDP_COUNT)));
        }
        self.silent = if is_data { 0 } else { self.silent + 1 };
        let repr = dccp::Repr {
            source_port: self.config.local_port,
            destination_port: self.config.remote_port,
            ccval,
            checksum_coverage: 0,
            extended: true,
            sequence: number(self.own.next()),
            body,
            options: options.as_options(),
            payload_len: 0,
        };
        self.statistics.packets_sent += 1;
        Packet { header: octets(&repr), payload }
    }
}

/// The header's bytes.
pub(super) fn octets(repr: &dccp::Repr) -> Arc<[u8]> {
    // The fixed part of a header is at most 28 octets, an option list 192.
    let mut buffer = [0; 28 + 192];
    let len = repr.buffer_len();
    repr.emit(&mut dccp::Packet::new_unchecked(&mut buffer[..len]));
    Arc::from(&buffer[..len])
}
