//! Frames of IEEE 802.11 (IEEE Std 802.11-2020, clause 9), least significant byte first.
//!
//! A frame here is without its frame check sequence: [`fcs`] checks and strips it, or appends it.

pub mod amsdu;
pub mod block_ack;
pub mod fcs;
mod frame_control;
pub mod management;

use crate::bytes::{array, put};
use crate::error::Layer;
use crate::{MacAddress, ParseError};

pub use frame_control::{ControlSubtype, DataSubtype, Flags, FrameControl, FrameType, ManagementSubtype};

const LAYER: Layer = Layer("IEEE 802.11");

mod field {
    pub(super) const FRAME_CONTROL: usize = 0;
    pub(super) const DURATION: usize = 2;
    pub(super) const ADDRESS_1: usize = 4;
    pub(super) const ADDRESS_2: usize = 10;
    pub(super) const ADDRESS_3: usize = 16;
    pub(super) const SEQUENCE_CONTROL: usize = 22;
    pub(super) const ADDRESS_4: usize = 24;
}

/// Lengths of headers, in bytes (9.2.3, 9.3.1.2, 9.3.1.3, 9.3.1.4, 9.3.2.1, 9.3.3.1).
const ONE_ADDRESS_LEN: usize = 10;
const TWO_ADDRESSES_LEN: usize = 16;
const THREE_ADDRESSES_LEN: usize = 24;
const ADDRESS_LEN: usize = 6;
const QOS_CONTROL_LEN: usize = 2;
const HT_CONTROL_LEN: usize = 4;

/// Frame that this is a part of (9.2.4.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct SequenceControl {
    /// Sequence number: 0 to 4095.
    pub sequence: u16,
    /// Fragment number: 0 to 15.
    pub fragment: u8,
}

impl From<u16> for SequenceControl {
    fn from(bits: u16) -> Self {
        Self { sequence: bits >> 4, fragment: (bits & 0x0f) as u8 }
    }
}

impl From<SequenceControl> for u16 {
    fn from(control: SequenceControl) -> Self {
        control.sequence << 4 | u16::from(control.fragment & 0x0f)
    }
}

/// A view of an 802.11 header and the frame body.
///
/// ```text
/// octets  2       2         6         6         6         2         6         2       4
/// +-------+---------+---------+---------+---------+---------+---------+---------+---------+------+
/// | Frame |Duration/| Address | Address | Address |Sequence | Address |   QoS   |   HT    | Body |
/// |control|   ID    |    1    |    2    |    3    | control |    4    | control | control |      |
/// +-------+---------+---------+---------+---------+---------+---------+---------+---------+------+
/// |<------ every frame ------>| CTS and ACK end here
/// |<--------- RTS, Block Ack ---------->|
/// |<-------------- management and data ------------------->| to and |   QoS   | if the  |
///                                                          |from DS |  data   |order bit|
/// ```
///
/// IEEE Std 802.11-2020, 9.2.3. The frame check sequence is not a part of the buffer. Of a frame of another type only the
/// first three fields are known; all behind them is the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet<T: AsRef<[u8]>> {
    buffer: T,
}

impl<T: AsRef<[u8]>> Packet<T> {
    /// A view of `buffer` as it is. Accessors panic if it is too short.
    pub fn new_unchecked(buffer: T) -> Self {
        Self { buffer }
    }

    /// A view of `buffer`, which holds a whole header of protocol version 0.
    pub fn new_checked(buffer: T) -> Result<Self, ParseError> {
        let length = buffer.as_ref().len();
        LAYER.require(length >= ONE_ADDRESS_LEN, "length", 0, length, "at least 10")?;
        let packet = Self { buffer };
        LAYER.require(packet.version() == 0, "protocol version", field::FRAME_CONTROL, packet.version(), "0")?;
        LAYER.require(
            length >= packet.header_len(),
            "length",
            0,
            length,
            "at least that of the frame type's header",
        )?;
        Ok(packet)
    }

    /// The protocol version: 0.
    pub(crate) fn version(&self) -> u8 {
        self.buffer.as_ref()[field::FRAME_CONTROL] & 0x03
    }

    /// Type, subtype and flags.
    pub(crate) fn frame_control(&self) -> FrameControl {
        u16::from_le_bytes(array(self.buffer.as_ref(), field::FRAME_CONTROL)).into()
    }

    /// Duration/ID: time for which the medium is reserved after this frame, in µs, up to 32767. In a PS-Poll the
    /// association identifier (9.2.4.2).
    pub fn duration(&self) -> u16 {
        u16::from_le_bytes(array(self.buffer.as_ref(), field::DURATION))
    }

    /// Length of the header, in bytes.
    pub(crate) fn header_len(&self) -> usize {
        Shape::of(self.frame_control()).header_len()
    }

    /// The first address: the receiver.
    pub fn address_1(&self) -> MacAddress {
        MacAddress(array(self.buffer.as_ref(), field::ADDRESS_1))
    }

    fn address(&self, at: usize) -> MacAddress {
        MacAddress(array(self.buffer.as_ref(), at))
    }

    /// The second address: the transmitter, in frames that name it.
    pub fn address_2(&self) -> Option<MacAddress> {
        (self.header_len() >= TWO_ADDRESSES_LEN).then(|| self.address(field::ADDRESS_2))
    }

    /// The third address, in management and data frames.
    pub fn address_3(&self) -> Option<MacAddress> {
        (self.header_len() >= THREE_ADDRESSES_LEN).then(|| self.address(field::ADDRESS_3))
    }

    /// The fourth address, in data frames between access points.
    pub fn address_4(&self) -> Option<MacAddress> {
        Shape::of(self.frame_control()).address_4.then(|| self.address(field::ADDRESS_4))
    }

    /// Sequence and fragment number, in management and data frames.
    pub fn sequence_control(&self) -> Option<SequenceControl> {
        let octets = self.buffer.as_ref();
        (self.header_len() >= THREE_ADDRESSES_LEN)
            .then(|| u16::from_le_bytes(array(octets, field::SEQUENCE_CONTROL)).into())
    }

    /// The QoS control field, in QoS data frames (9.2.4.5).
    pub fn qos_control(&self) -> Option<u16> {
        let at = Shape::of(self.frame_control()).qos_control_at()?;
        Some(u16::from_le_bytes(array(self.buffer.as_ref(), at)))
    }

    /// The HT control field, in QoS data and management frames with the order bit (9.2.4.6).
    pub fn ht_control(&self) -> Option<u32> {
        let at = Shape::of(self.frame_control()).ht_control_at()?;
        Some(u32::from_le_bytes(array(self.buffer.as_ref(), at)))
    }

    /// The frame body.
    pub fn payload(&self) -> &[u8] {
        &self.buffer.as_ref()[self.header_len()..]
    }
}

/// Which fields a header has.
#[derive(Clone, Copy)]
struct Shape {
    /// Length of what is before address 4.
    base: usize,
    address_4: bool,
    qos_control: bool,
    ht_control: bool,
}

impl Shape {
    fn of(control: FrameControl) -> Self {
        let plain = |base| Self { base, address_4: false, qos_control: false, ht_control: false };
        match control.frame_type {
            FrameType::Control(ControlSubtype::Rts | ControlSubtype::BlockAckRequest | ControlSubtype::BlockAck) => {
                plain(TWO_ADDRESSES_LEN)
            }
            FrameType::Control(_) | FrameType::Extension(_) => plain(ONE_ADDRESS_LEN),
            FrameType::Management(_) => Self { ht_control: control.flags.order, ..plain(THREE_ADDRESSES_LEN) },
            FrameType::Data(subtype) => Self {
                base: THREE_ADDRESSES_LEN,
                address_4: control.to_ds && control.from_ds,
                qos_control: subtype.is_qos(),
                ht_control: subtype.is_qos() && control.flags.order,
            },
        }
    }

    fn qos_control_at(self) -> Option<usize> {
        self.qos_control.then_some(self.base + if self.address_4 { ADDRESS_LEN } else { 0 })
    }

    fn ht_control_at(self) -> Option<usize> {
        self.ht_control.then_some(self.header_len() - HT_CONTROL_LEN)
    }

    fn header_len(self) -> usize {
        self.base
            + if self.address_4 { ADDRESS_LEN } else { 0 }
            + if self.qos_control { QOS_CONTROL_LEN } else { 0 }
            + if self.ht_control { HT_CONTROL_LEN } else { 0 }
    }
}

/// Addresses of a data frame: sender, receiver, and the stations for which they act (9.3.2.1, Table 9-30).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Addressing {
    /// From station to station of an ad hoc network: neither to nor from a distribution system.
    AdHoc {
        /// The receiver.
        destination: MacAddress,
        /// The transmitter.
        source: MacAddress,
        /// The network.
        bssid: MacAddress,
    },
    /// From an access point.
    FromAccessPoint {
        /// The receiver.
        destination: MacAddress,
        /// The access point, which transmits.
        bssid: MacAddress,
        /// Who sent the payload first.
        source: MacAddress,
    },
    /// To an access point.
    ToAccessPoint {
        /// The access point, which receives.
        bssid: MacAddress,
        /// The transmitter.
        source: MacAddress,
        /// Whom the payload is for in the end.
        destination: MacAddress,
    },
    /// Between access points, or between the stations of a mesh.
    Relayed {
        /// The receiver of this hop.
        receiver: MacAddress,
        /// The transmitter of this hop.
        transmitter: MacAddress,
        /// Whom the payload is for in the end.
        destination: MacAddress,
        /// Who sent the payload first.
        source: MacAddress,
    },
}

/// The fields of a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repr {
    /// Request to send (9.3.1.2).
    Rts {
        /// Flags of the frame.
        flags: Flags,
        /// Duration, in µs.
        duration: u16,
        /// Who is asked.
        receiver: MacAddress,
        /// Who asks.
        transmitter: MacAddress,
    },
    /// Clear to send (9.3.1.3).
    Cts {
        /// Flags of the frame.
        flags: Flags,
        /// Duration, in µs.
        duration: u16,
        /// Who asked.
        receiver: MacAddress,
    },
    /// Acknowledgement (9.3.1.4).
    Ack {
        /// Flags of the frame.
        flags: Flags,
        /// Duration, in µs.
        duration: u16,
        /// Who sent what is acknowledged.
        receiver: MacAddress,
    },
    /// Block acknowledgement request (9.3.1.7): what it says is in the body, a [`block_ack::Request`].
    BlockAckRequest {
        /// Flags of the frame.
        flags: Flags,
        /// Duration, in µs.
        duration: u16,
        /// Who is asked.
        receiver: MacAddress,
        /// Who asks.
        transmitter: MacAddress,
    },
    /// Block acknowledgement (9.3.1.8): what it says is in the body, a [`block_ack::Response`].
    BlockAck {
        /// Flags of the frame.
        flags: Flags,
        /// Duration, in µs.
        duration: u16,
        /// Who sent what is acknowledged.
        receiver: MacAddress,
        /// Who received it.
        transmitter: MacAddress,
    },
    /// Data (9.3.2.1).
    Data {
        /// Flags of the frame. `order` is ignored in QoS data, where it follows from `ht_control`.
        flags: Flags,
        /// Duration, in µs.
        duration: u16,
        /// The kind of data.
        subtype: DataSubtype,
        /// Who sends to whom.
        addressing: Addressing,
        /// Sequence and fragment number.
        sequence_control: SequenceControl,
        /// QoS control, sent in QoS data alone (9.2.4.5); 0 in the rest.
        qos_control: u16,
        /// HT control, sent in QoS data alone (9.2.4.6); `None` in the rest.
        ht_control: Option<u32>,
    },
    /// Management (9.3.3.1): what it says is in the body.
    Management {
        /// Flags of the frame. `order` is ignored: it follows from `ht_control`.
        flags: Flags,
        /// Duration, in µs.
        duration: u16,
        /// The kind of management frame.
        subtype: ManagementSubtype,
        /// The receiver.
        destination: MacAddress,
        /// The transmitter.
        source: MacAddress,
        /// The network.
        bssid: MacAddress,
        /// Sequence and fragment number.
        sequence_control: SequenceControl,
        /// HT control (9.2.4.6).
        ht_control: Option<u32>,
    },
    /// A frame of another type, or whose flags contradict its type. The bytes after the receiver's address are the body.
    Unknown {
        /// Type, subtype and flags as they stand.
        frame_control: FrameControl,
        /// Duration/ID as it stands.
        duration: u16,
        /// The first address.
        receiver: MacAddress,
    },
}

impl Repr {
    /// Parses a header.
    pub fn parse<T: AsRef<[u8]>>(packet: &Packet<T>) -> Result<Self, ParseError> {
        LAYER.require(packet.version() == 0, "protocol version", field::FRAME_CONTROL, packet.version(), "0")?;
        let frame_control = packet.frame_control();
        let FrameControl { frame_type, to_ds, from_ds, flags } = frame_control;
        let (duration, receiver) = (packet.duration(), packet.address_1());
        let unknown = Self::Unknown { frame_control, duration, receiver };
        let within_cell = !to_ds && !from_ds;
        // The order bit of frames that can have an HT control field says whether they do.
        let unordered = Flags { order: false, ..flags };
        Ok(match frame_type {
            FrameType::Control(ControlSubtype::Rts) if within_cell => {
                Self::Rts { flags, duration, receiver, transmitter: packet.address(field::ADDRESS_2) }
            }
            FrameType::Control(ControlSubtype::Cts) if within_cell => Self::Cts { flags, duration, receiver },
            FrameType::Control(ControlSubtype::Ack) if within_cell => Self::Ack { flags, duration, receiver },
            FrameType::Control(ControlSubtype::BlockAckRequest) if within_cell => {
                Self::BlockAckRequest { flags, duration, receiver, transmitter: packet.address(field::ADDRESS_2) }
            }
            FrameType::Control(ControlSubtype::BlockAck) if within_cell => {
                Self::BlockAck { flags, duration, receiver, transmitter: packet.address(field::ADDRESS_2) }
            }
            FrameType::Management(subtype) if within_cell => Self::Management {
                flags: unordered,
                duration,
                subtype,
                destination: receiver,
                source: packet.address(field::ADDRESS_2),
                bssid: packet.address(field::ADDRESS_3),
                sequence_control: packet.sequence_control().unwrap_or_default(),
                ht_control: packet.ht_control(),
            },
            FrameType::Data(subtype) => Self::Data {
                flags: if subtype.is_qos() { unordered } else { flags },
                duration,
                subtype,
                addressing: Self::parse_addressing(packet, to_ds, from_ds),
                sequence_control: packet.sequence_control().unwrap_or_default(),
                qos_control: packet.qos_control().unwrap_or(0),
                ht_control: packet.ht_control(),
            },
            FrameType::Control(_) | FrameType::Management(_) | FrameType::Extension(_) => unknown,
        })
    }

    fn parse_addressing<T: AsRef<[u8]>>(packet: &Packet<T>, to_ds: bool, from_ds: bool) -> Addressing {
        let [first, second, third] =
            [field::ADDRESS_1, field::ADDRESS_2, field::ADDRESS_3].map(|at| packet.address(at));
        match (to_ds, from_ds) {
            (false, false) => Addressing::AdHoc { destination: first, source: second, bssid: third },
            (false, true) => Addressing::FromAccessPoint { destination: first, bssid: second, source: third },
            (true, false) => Addressing::ToAccessPoint { bssid: first, source: second, destination: third },
            (true, true) => Addressing::Relayed {
                receiver: first,
                transmitter: second,
                destination: third,
                source: packet.address(field::ADDRESS_4),
            },
        }
    }

    /// Type, subtype and flags of the frame.
    pub(crate) fn frame_control(&self) -> FrameControl {
        let control = |subtype, flags| FrameControl::new(FrameType::Control(subtype), flags);
        match *self {
            Self::Rts { flags, .. } => control(ControlSubtype::Rts, flags),
            Self::Cts { flags, .. } => control(ControlSubtype::Cts, flags),
            Self::Ack { flags, .. } => control(ControlSubtype::Ack, flags),
            Self::BlockAckRequest { flags, .. } => control(ControlSubtype::BlockAckRequest, flags),
            Self::BlockAck { flags, .. } => control(ControlSubtype::BlockAck, flags),
            Self::Data { flags, subtype, addressing, ht_control, .. } => {
                let (to_ds, from_ds) = match addressing {
                    Addressing::AdHoc { .. } => (false, false),
                    Addressing::FromAccessPoint { .. } => (false, true),
                    Addressing::ToAccessPoint { .. } => (true, false),
                    Addressing::Relayed { .. } => (true, true),
                };
                let order = if subtype.is_qos() { ht_control.is_some() } else { flags.order };
                FrameControl { frame_type: FrameType::Data(subtype), to_ds, from_ds, flags: Flags { order, ..flags } }
            }
            Self::Management { flags, subtype, ht_control, .. } => {
                FrameControl::new(FrameType::Management(subtype), Flags { order: ht_control.is_some(), ..flags })
            }
            Self::Unknown { frame_control, .. } => frame_control,
        }
    }

    /// Length of the header, in bytes. The body follows it, and then the frame check sequence.
    pub fn buffer_len(&self) -> usize {
        match self {
            Self::Unknown { .. } => ONE_ADDRESS_LEN,
            _ => Shape::of(self.frame_control()).header_len(),
        }
    }

    /// Writes the header.
    pub fn emit<T: AsRef<[u8]> + AsMut<[u8]>>(&self, packet: &mut Packet<T>) {
        let control = self.frame_control();
        let octets = packet.buffer.as_mut();
        put(octets, field::FRAME_CONTROL, u16::from(control).to_le_bytes());
        let mut head = |duration: u16, addresses: &[MacAddress]| {
            put(octets, field::DURATION, duration.to_le_bytes());
            for (nth, address) in addresses.iter().enumerate() {
                put(octets, field::ADDRESS_1 + nth * ADDRESS_LEN, address.0);
            }
        };
        match *self {
            Self::Cts { duration, receiver, .. }
            | Self::Ack { duration, receiver, .. }
            | Self::Unknown { duration, receiver, .. } => head(duration, &[receiver]),
            Self::Rts { duration, receiver, transmitter, .. }
            | Self::BlockAckRequest { duration, receiver, transmitter, .. }
            | Self::BlockAck { duration, receiver, transmitter, .. } => head(duration, &[receiver, transmitter]),
            Self::Management { duration, destination, source, bssid, sequence_control, ht_control, .. } => {
                head(duration, &[destination, source, bssid]);
                put(octets, field::SEQUENCE_CONTROL, u16::from(sequence_control).to_le_bytes());
                Self::emit_ht_control(octets, control, ht_control);
            }
            Self::Data { duration, addressing, sequence_control, qos_control, ht_control, .. } => {
                match addressing {
                    Addressing::AdHoc { destination, source, bssid } => head(duration, &[destination, source, bssid]),
                    Addressing::FromAccessPoint { destination, bssid, source } => {
                        head(duration, &[destination, bssid, source]);
                    }
                    Addressing::ToAccessPoint { bssid, source, destination } => {
                        head(duration, &[bssid, source, destination]);
                    }
                    Addressing::Relayed { receiver, transmitter, destination, source } => {
                        head(duration, &[receiver, transmitter, destination]);
                        put(octets, field::ADDRESS_4, source.0);
                    }
                }
                put(octets, field::SEQUENCE_CONTROL, u16::from(sequence_control).to_le_bytes());
                if let Some(at) = Shape::of(control).qos_control_at() {
                    put(octets, at, qos_control.to_le_bytes());
                }
                Self::emit_ht_control(octets, control, ht_control);
            }
        }
    }

    fn emit_ht_control(octets: &mut [u8], control: FrameControl, ht_control: Option<u32>) {
        if let (Some(at), Some(ht_control)) = (Shape::of(control).ht_control_at(), ht_control) {
            put(octets, at, ht_control.to_le_bytes());
        }
    }
}

#[cfg(test)]
mod tests;
