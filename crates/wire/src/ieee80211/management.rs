//! Bodies of management frames (IEEE Std 802.11-2020, 9.3.3): fixed fields (9.4.1), then elements (9.4.2).
//!
//! The subtype in the header determines the fields of a body, so there is no view of all layouts: [`Repr::parse`] reads
//! the bytes after the header.

mod block_ack;
mod elements;

use crate::bit_set::bit_set;
use crate::bytes::{array, put};
use crate::code_point::code_points;
use crate::{MacAddress, ParseError};

use super::{LAYER, ManagementSubtype};
pub use block_ack::{Agreement, BlockAckAction};
pub use elements::{
    AccessCategoryParameters, EdcaParameterSet, Elements, ErpInformation, Rates, Ssid, TrafficIndication,
};

/// Lengths of the fixed fields before the elements, in bytes (9.3.3.2, 9.3.3.5 to 9.3.3.12).
const BEACON_LEN: usize = 12;
const ASSOCIATION_REQUEST_LEN: usize = 4;
const REASSOCIATION_REQUEST_LEN: usize = 10;
const ASSOCIATION_RESPONSE_LEN: usize = 6;
const AUTHENTICATION_LEN: usize = 6;
const REASON_LEN: usize = 2;

/// The two most significant bits of an association identifier are set (9.4.1.8).
const AID_BITS: u16 = 0xc000;

/// Capabilities of a network or a station (9.4.1.4): bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Capability(pub u16);

bit_set!(Capability);

impl Capability {
    /// Sent by an access point.
    pub const ESS: Self = Self(1);
    /// Sent by a station of an ad hoc network.
    pub const IBSS: Self = Self(1 << 1);
    /// Data are encrypted.
    pub const PRIVACY: Self = Self(1 << 4);
    /// Short preambles may be used.
    pub const SHORT_PREAMBLE: Self = Self(1 << 5);
    /// EDCA is in use.
    pub const QOS: Self = Self(1 << 9);
    /// The slot is short; of a station: may be.
    pub const SHORT_SLOT_TIME: Self = Self(1 << 10);
}

code_points! {
    /// What came of a request (9.4.1.9, Table 9-50).
    Status(u16) {
        /// It was granted.
        Success = 0,
        /// Refused, without a reason.
        Refused = 1,
        /// Capabilities that the network does not have.
        UnsupportedCapabilities = 10,
        /// Reassociation of a station whose association can't be confirmed.
        NoAssociation = 11,
        /// An authentication algorithm that is not supported.
        UnsupportedAlgorithm = 13,
        /// An authentication frame out of its sequence.
        OutOfSequence = 14,
        /// The access point has no room for another station.
        AccessPointFull = 17,
        /// The station lacks one of the basic rates.
        UnsupportedRates = 18,
        /// The request was declined.
        Declined = 37,
    }
}

code_points! {
    /// Why an association or authentication ends (9.4.1.7, Table 9-49).
    Reason(u16) {
        /// Without a reason.
        Unspecified = 1,
        /// The authentication is no longer valid.
        InvalidAuthentication = 2,
        /// The sender of the deauthentication leaves, or has left.
        LeavingNetwork = 3,
        /// The station was silent for too long.
        Inactivity = 4,
        /// The access point has too many stations.
        NoMoreStations = 5,
        /// A frame of class 2 from a station that is not authenticated.
        ClassTwoFrame = 6,
        /// A frame of class 3 from a station that is not associated.
        ClassThreeFrame = 7,
        /// The sender of the disassociation leaves, or has left.
        LeavingCell = 8,
        /// The station asks for association and is not authenticated.
        NotAuthenticated = 9,
        /// The station no longer uses the agreement.
        EndOfAgreement = 37,
        /// Frames came under an agreement that the station does not have.
        UnknownAgreement = 38,
        /// Nothing came for too long.
        Timeout = 39,
    }
}

/// A network's description of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bss {
    /// The timing synchronization function's timer as the first bit of this field is sent, in µs (9.4.1.10, 11.1.3.1).
    pub timestamp: u64,
    /// Time between two beacons, in time units of 1024 µs (9.4.1.3).
    pub beacon_interval: u16,
    /// Capabilities of the network.
    pub capability: Capability,
    /// The rest.
    pub elements: Elements,
}

/// The fields of the body of a management frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repr {
    /// 9.3.3.2.
    Beacon(Bss),
    /// 9.3.3.9.
    ProbeRequest(Elements),
    /// 9.3.3.10: without a traffic indication map.
    ProbeResponse(Bss),
    /// 9.3.3.5 and 9.3.3.7.
    AssociationRequest {
        /// What the station can do.
        capability: Capability,
        /// How often the station wakes, in beacon intervals (9.4.1.6).
        listen_interval: u16,
        /// The access point that a station with an association comes from: the request is one for reassociation.
        current_access_point: Option<MacAddress>,
        /// The rest.
        elements: Elements,
    },
    /// 9.3.3.6 and 9.3.3.8.
    AssociationResponse {
        /// The answer to a request for reassociation.
        reassociation: bool,
        /// Capabilities of the network.
        capability: Capability,
        /// Whether the station is associated now.
        status: Status,
        /// Association identifier: 1 to 2007, or 0 (9.4.1.8). On the air its two highest bits are set.
        aid: u16,
        /// The rest.
        elements: Elements,
    },
    /// 9.3.3.11, of an algorithm without elements.
    Authentication {
        /// Authentication algorithm: 0 is open system (9.4.1.1).
        algorithm: u16,
        /// Place in the exchange, from 1 (9.4.1.2).
        transaction: u16,
        /// Of answers.
        status: Status,
    },
    /// 9.3.3.4.
    Disassociation(Reason),
    /// 9.3.3.12.
    Deauthentication(Reason),
    /// 9.3.3.13, of block acknowledgement.
    BlockAck(BlockAckAction),
}

impl Repr {
    /// The meaning of a body. Elements that have no place in [`Elements`] are left out.
    ///
    /// # Errors
    /// The body is cut short, or an element is longer or shorter than it can be; or frames of this subtype have no
    /// meaning here ([`ManagementSubtype::Atim`], those without a name, and actions that are not of block acknowledgement).
    pub fn parse(subtype: ManagementSubtype, body: &[u8]) -> Result<Self, ParseError> {
        if subtype == ManagementSubtype::Action {
            return BlockAckAction::parse(body).map(Self::BlockAck);
        }
        let fixed = fixed_len(subtype);
        let expected = "one that has to do with association";
        LAYER.require(fixed.is_some(), "subtype", 0, u8::from(subtype), expected)?;
        let fixed = fixed.unwrap_or(0);
        LAYER.require(body.len() >= fixed, "body length", 0, body.len(), "at least that of the fixed fields")?;
        let number = |at: usize| u16::from_le_bytes(array(body, at));
        let elements = || Elements::parse(body, fixed);
        let bss = || -> Result<Bss, ParseError> {
            Ok(Bss {
                timestamp: u64::from_le_bytes(array(body, 0)),
                beacon_interval: number(8),
                capability: Capability(number(10)),
                elements: elements()?,
            })
        };
        Ok(match subtype {
            ManagementSubtype::Beacon => Self::Beacon(bss()?),
            ManagementSubtype::ProbeResponse => Self::ProbeResponse(bss()?),
            ManagementSubtype::ProbeRequest => Self::ProbeRequest(elements()?),
            ManagementSubtype::AssociationRequest | ManagementSubtype::ReassociationRequest => {
                let again = subtype == ManagementSubtype::ReassociationRequest;
                Self::AssociationRequest {
                    capability: Capability(number(0)),
                    listen_interval: number(2),
                    current_access_point: again.then(|| MacAddress(array(body, 4))),
                    elements: elements()?,
                }
            }
            ManagementSubtype::AssociationResponse | ManagementSubtype::ReassociationResponse => {
                Self::AssociationResponse {
                    reassociation: subtype == ManagementSubtype::ReassociationResponse,
                    capability: Capability(number(0)),
                    status: number(2).into(),
                    aid: number(4) & !AID_BITS,
                    elements: elements()?,
                }
            }
            ManagementSubtype::Authentication => {
                Self::Authentication { algorithm: number(0), transaction: number(2), status: number(4).into() }
            }
            ManagementSubtype::Disassociation => Self::Disassociation(number(0).into()),
            // What else has a length above.
            _ => Self::Deauthentication(number(0).into()),
        })
    }

    /// The subtype that the header tells.
    pub fn subtype(&self) -> ManagementSubtype {
        match self {
            Self::Beacon(_) => ManagementSubtype::Beacon,
            Self::ProbeRequest(_) => ManagementSubtype::ProbeRequest,
            Self::ProbeResponse(_) => ManagementSubtype::ProbeResponse,
            Self::AssociationRequest { current_access_point: None, .. } => ManagementSubtype::AssociationRequest,
            Self::AssociationRequest { .. } => ManagementSubtype::ReassociationRequest,
            Self::AssociationResponse { reassociation: false, .. } => ManagementSubtype::AssociationResponse,
            Self::AssociationResponse { .. } => ManagementSubtype::ReassociationResponse,
            Self::Authentication { .. } => ManagementSubtype::Authentication,
            Self::Disassociation(_) => ManagementSubtype::Disassociation,
            Self::Deauthentication(_) => ManagementSubtype::Deauthentication,
            Self::BlockAck(_) => ManagementSubtype::Action,
        }
    }

    fn elements(&self) -> (usize, Option<&Elements>) {
        match self {
            Self::Beacon(bss) | Self::ProbeResponse(bss) => (BEACON_LEN, Some(&bss.elements)),
            Self::ProbeRequest(elements) => (0, Some(elements)),
            Self::AssociationRequest { current_access_point: None, elements, .. } => {
                (ASSOCIATION_REQUEST_LEN, Some(elements))
            }
            Self::AssociationRequest { elements, .. } => (REASSOCIATION_REQUEST_LEN, Some(elements)),
            Self::AssociationResponse { elements, .. } => (ASSOCIATION_RESPONSE_LEN, Some(elements)),
            Self::Authentication { .. } => (AUTHENTICATION_LEN, None),
            Self::Disassociation(_) | Self::Deauthentication(_) => (REASON_LEN, None),
            Self::BlockAck(action) => (action.buffer_len(), None),
        }
    }

    /// Length of the body, in bytes.
    pub fn buffer_len(&self) -> usize {
        let (fixed, elements) = self.elements();
        fixed + elements.map_or(0, Elements::buffer_len)
    }

    /// Writes the body.
    pub fn emit(&self, body: &mut [u8]) {
        let mut number = |at: usize, number: u16| put(body, at, number.to_le_bytes());
        match *self {
            Self::Beacon(Bss { timestamp, beacon_interval, capability, .. })
            | Self::ProbeResponse(Bss { timestamp, beacon_interval, capability, .. }) => {
                number(8, beacon_interval);
                number(10, capability.0);
                put(body, 0, timestamp.to_le_bytes());
            }
            Self::ProbeRequest(_) => {}
            Self::AssociationRequest { capability, listen_interval, current_access_point, .. } => {
                number(0, capability.0);
                number(2, listen_interval);
                if let Some(address) = current_access_point {
                    put(body, 4, address.0);
                }
            }
            Self::AssociationResponse { capability, status, aid, .. } => {
                number(0, capability.0);
                number(2, status.into());
                number(4, aid | AID_BITS);
            }
            Self::Authentication { algorithm, transaction, status } => {
                number(0, algorithm);
                number(2, transaction);
                number(4, status.into());
            }
            Self::Disassociation(reason) | Self::Deauthentication(reason) => number(0, reason.into()),
            Self::BlockAck(action) => action.emit(body),
        }
        if let (fixed, Some(elements)) = self.elements() {
            elements.emit(&mut body[fixed..]);
        }
    }
}

/// Length of the fixed fields of a body, in bytes; `None` of those without a meaning here.
fn fixed_len(subtype: ManagementSubtype) -> Option<usize> {
    match subtype {
        ManagementSubtype::Beacon | ManagementSubtype::ProbeResponse => Some(BEACON_LEN),
        ManagementSubtype::ProbeRequest => Some(0),
        ManagementSubtype::AssociationRequest => Some(ASSOCIATION_REQUEST_LEN),
        ManagementSubtype::ReassociationRequest => Some(REASSOCIATION_REQUEST_LEN),
        ManagementSubtype::AssociationResponse | ManagementSubtype::ReassociationResponse => {
            Some(ASSOCIATION_RESPONSE_LEN)
        }
        ManagementSubtype::Authentication => Some(AUTHENTICATION_LEN),
        ManagementSubtype::Disassociation | ManagementSubtype::Deauthentication => Some(REASON_LEN),
        ManagementSubtype::Atim | ManagementSubtype::Action | ManagementSubtype::Unknown(_) => None,
    }
}

#[cfg(test)]
mod tests;
