//! Forward error correction at programs: repair packets after the source's packets, and recovery at the sink.

use crate::host::Context;
use crate::host::packet::{Coded, Datagram, Tag};
use crate::host::socket::Unit;
use crate::id::FlowId;
use hopcast_protocols::fec::{Adu, Config, Counting, Decoder, Encoder};
use hopcast_protocols::time::Instant;
use hopcast_wire::fec::{INFORMATION_LEN, PAYLOAD_ID_LEN};
use std::sync::Arc;

/// Largest number of bytes that FEC adds to a datagram of a flow: in its repair packets.
pub(crate) const FEC_HEADER: u32 = (PAYLOAD_ID_LEN + INFORMATION_LEN) as u32;

/// Bytes that FEC adds to each datagram of an application.
pub(crate) const FEC_SOURCE_TRAILER: u32 = PAYLOAD_ID_LEN as u32;

/// The encoder of a source, and the packet that is to leave next.
#[derive(Debug)]
pub(in crate::host) struct Protection {
    encoder: Encoder<Counting<Datagram>>,
    next: Option<Coded>,
    /// When the latest datagram, and hence a block that ends with it, is not worth sending any more.
    expires: Option<Instant>,
}

impl Protection {
    pub(in crate::host) fn new(config: &Config) -> Self {
        Self { encoder: Encoder::new(config, Counting::new()), next: None, expires: None }
    }

    /// The application writes a datagram, now that nothing waits to leave: its source packet.
    pub(in crate::host) fn protect(&mut self, datagram: Unit, now: Instant) -> Unit {
        let Unit { seq, created, expires, octets, .. } = datagram;
        // The builder refuses datagrams that are larger.
        let adu = Adu { len: octets as u16, content: Datagram { seq, created } };
        self.encoder.handle_adu(adu, now);
        self.expires = expires;
        let coded = self.encoder.poll_output().map(Arc::new);
        Unit { octets: octets + FEC_SOURCE_TRAILER, coded, ..datagram }
    }

    /// Time has come to `now`, when the stream has ended or not.
    pub(in crate::host) fn advance(&mut self, has_ended: bool, now: Instant) {
        match has_ended {
            true => self.encoder.handle_end(),
            false => self.encoder.handle_timeout(now),
        }
    }

    /// Bytes of the repair packet that waits to leave.
    pub(in crate::host) fn waiting(&mut self) -> Option<u32> {
        self.next = self.next.take().or_else(|| self.encoder.poll_output());
        self.next.as_ref().map(|coded| coded.octets(&Counting::new()) as u32)
    }

    /// Takes the repair packet that waits to leave.
    pub(in crate::host) fn take_repair(&mut self, flow: FlowId, cx: &mut Context<'_>) -> Option<Unit> {
        let octets = self.waiting()?;
        let coded = self.next.take().map(Arc::new);
        let seq = Tag::FIRST_REPAIR + cx.flows[flow].handle_repair_sent(octets);
        Some(Unit { seq, created: cx.now, expires: self.expires, octets, coded })
    }

    /// When [`Self::advance`] is next due.
    pub(in crate::host) fn poll_timeout(&self) -> Option<Instant> {
        self.encoder.poll_timeout()
    }
}

/// The decoder of a sink.
pub(in crate::host) type Correction = Decoder<Counting<Datagram>>;
