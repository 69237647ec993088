//! A frame as it travels between stations, without its bytes.

use std::rc::Rc;

use hopcast_protocols::time::{Duration, Instant};
use hopcast_wire::ecn::Ecn;
use hopcast_wire::ieee80211::management::BlockAckAction;

use crate::phy::TxVector;

/// A radio on the medium. Its MAC address is derived from this index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StationId(pub u32);

/// A user priority of IEEE 802.1D, 0 to 7.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UserPriority(u8);

impl UserPriority {
    /// 0: packets without a priority.
    pub const BEST_EFFORT: Self = Self(0);
    /// Network control (IEEE 802.1D-2004, Table G-1).
    pub const NETWORK_CONTROL: Self = Self(7);

    /// The priority in the low three bits.
    pub const fn new(priority: u8) -> Self {
        Self(priority & 7)
    }

    /// 0 to 7.
    pub const fn get(self) -> u8 {
        self.0
    }
}

/// What a station carries for the layer above: its network-layer packet.
pub trait Payload: Clone {
    /// Length of the packet in bytes, without LLC and MAC headers.
    fn octets(&self) -> u32;

    /// Number of packets of this length that it stands for. They go to the receiver one after the other, each with its own acknowledgement,
    /// but what becomes of them is decided once.
    fn packets(&self) -> u32 {
        1
    }

    /// Flow of the packet: equal for packets whose order matters, such as those of one connection. Queues that treat
    /// flows fairly sort by it; without it all packets are one flow.
    fn flow(&self) -> u64 {
        0
    }

    /// Time after which the packet is no longer worth sending; `None`: never. Stations then drop it instead of sending
    /// it.
    fn expires(&self) -> Option<Instant> {
        None
    }

    /// Whether it is no longer worth sending.
    fn is_expired(&self, now: Instant) -> bool {
        self.expires().is_some_and(|expires| now >= expires)
    }

    /// Its ECN field (RFC 3168, section 5). Only queues that mark look at it.
    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }

    /// Marks it: congestion experienced.
    fn mark(&mut self) {}

    /// Whether it is the body of a management frame, which is sent at the basic rate, ahead of the packets in the
    /// interface queue.
    fn is_management(&self) -> bool {
        false
    }

    /// The action frame of block acknowledgment whose body it is.
    fn block_ack_action(&self) -> Option<&BlockAckAction> {
        None
    }

    /// Its user priority, which decides its access category under EDCA.
    fn priority(&self) -> UserPriority {
        UserPriority::BEST_EFFORT
    }
}

/// A packet that several hold: it is the same for all of them.
impl<P: Payload> Payload for Rc<P> {
    fn octets(&self) -> u32 {
        (**self).octets()
    }

    fn packets(&self) -> u32 {
        (**self).packets()
    }

    fn flow(&self) -> u64 {
        (**self).flow()
    }

    fn expires(&self) -> Option<Instant> {
        (**self).expires()
    }

    fn ecn(&self) -> Ecn {
        (**self).ecn()
    }

    /// The others that hold it see no mark.
    fn mark(&mut self) {
        Self::make_mut(self).mark();
    }

    fn is_management(&self) -> bool {
        (**self).is_management()
    }

    fn block_ack_action(&self) -> Option<&BlockAckAction> {
        (**self).block_ack_action()
    }

    fn priority(&self) -> UserPriority {
        (**self).priority()
    }
}

/// Kind of a frame (IEEE 802.11-2020, Table 9-1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// Request to send.
    Rts,
    /// Clear to send.
    Cts,
    /// Acknowledgment.
    Ack,
    /// Data.
    Data,
    /// Management.
    Management,
    /// Block acknowledgment.
    BlockAck,
    /// Request for a block acknowledgment.
    BlockAckRequest,
}

impl FrameKind {
    /// Length of an RTS: 20 bytes with FCS (9.3.1.2).
    pub const RTS_OCTETS: u32 = 20;
    /// Length of a CTS or an ACK: 14 bytes with FCS (9.3.1.3, 9.3.1.4).
    pub const RESPONSE_OCTETS: u32 = 14;
    /// Bytes that a data frame adds to a network-layer packet: MAC header 24, LLC/SNAP 8, FCS 4 (9.3.2.1).
    pub const DATA_OVERHEAD_OCTETS: u32 = 36;
    /// Bytes that a management frame adds to its body: MAC header 24, FCS 4 (9.3.3.1).
    pub const MANAGEMENT_OVERHEAD_OCTETS: u32 = 28;
    /// Bytes that a QoS data frame adds to those of a data frame: QoS Control (9.2.4.5).
    pub const QOS_CONTROL_OCTETS: u32 = 2;

    /// Length of a request for a block acknowledgment with FCS (9.3.1.7).
    pub const BLOCK_ACK_REQUEST_OCTETS: u32 = 24;

    /// Length of a compressed block acknowledgment for a window of this number of MPDUs, with FCS (9.3.1.8.2): 64 or 256 bits.
    pub const fn block_ack_octets(window: u32) -> u32 {
        if window <= 64 { 32 } else { 56 }
    }

    /// Whether it answers a frame, rather than to carry something.
    pub(crate) const fn is_answer(self) -> bool {
        matches!(self, Self::Cts | Self::Ack | Self::BlockAck)
    }
}

/// One frame on the air.
#[derive(Clone, Copy, Debug)]
pub struct Frame<P> {
    /// Kind.
    pub kind: FrameKind,
    /// Address 2; also kept for CTS and ACK, whose bytes do not name it.
    pub transmitter: StationId,
    /// Address 1; `None` is the broadcast address.
    pub receiver: Option<StationId>,
    /// Duration field: time for which the medium is reserved after the end of this frame, in whole microseconds.
    pub duration: Duration,
    /// Number of the frame among those of its transmitter, of data and management frames only. Its lowest 12 bits are the
    /// Sequence Number field (IEEE 802.11-2020, 9.2.4.4.2): it keeps counting, so that a receiver never treats a frame as
    /// a repetition of one thousands of frames before, as a real one might.
    pub sequence: u32,
    /// Retry bit; of data and management frames only.
    pub retry: bool,
    /// User priority of a QoS data frame, its TID; `None` for other frames.
    pub priority: Option<UserPriority>,
    /// Length of the MPDU with FCS, in bytes.
    pub octets: u32,
    /// Transmission parameters.
    pub vector: TxVector,
    /// From the first bit of the preamble to the last of the frame.
    pub airtime: Duration,
    /// Duration of preamble and PLCP header; at their end a receiver's PHY reports the start of a frame.
    pub header: Duration,
    /// The packet of a data frame, or the body of a management frame.
    pub payload: Option<P>,
}

/// A frame without its packet; `P` says whether it has one.
pub type Header = Frame<()>;

impl<P> Frame<P> {
    /// The same with another packet.
    #[inline]
    pub fn with_payload<Q>(&self, payload: Option<Q>) -> Frame<Q> {
        let Self {
            kind,
            transmitter,
            receiver,
            duration,
            sequence,
            retry,
            priority,
            octets,
            vector,
            airtime,
            header,
            ..
        } = *self;
        Frame {
            kind,
            transmitter,
            receiver,
            duration,
            sequence,
            retry,
            priority,
            octets,
            vector,
            airtime,
            header,
            payload,
        }
    }
}
