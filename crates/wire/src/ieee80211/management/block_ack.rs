//! Action frames of block acknowledgement: they make and end an agreement (IEEE Std 802.11-2020, 9.6.4).

use super::{LAYER, Reason, Status};
use crate::ParseError;
use crate::bytes::{array, put};

/// Category of these action frames (Table 9-51).
const CATEGORY: u8 = 3;
const ADDBA_REQUEST: u8 = 0;
const ADDBA_RESPONSE: u8 = 1;
const DELBA: u8 = 2;

/// Bits of the Block Ack parameter set (9.4.1.13), and of the DELBA parameter set (9.4.1.15).
const AMSDU: u16 = 1;
const IMMEDIATE: u16 = 1 << 1;
const TID_SHIFT: u32 = 2;
const SIZE_SHIFT: u32 = 6;
const INITIATOR: u16 = 1 << 11;
const DELETED_TID_SHIFT: u32 = 12;

/// Parameters of an agreement with immediate acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Agreement {
    /// Whether MPDUs may carry A-MSDUs.
    pub amsdu: bool,
    /// Traffic identifier, 0 to 15.
    pub tid: u8,
    /// MPDUs that the recipient holds, 1 to 1023; 0: it decides.
    pub buffer_size: u16,
    /// Idle time after which the agreement ends, in time units of 1024 µs; 0: never.
    pub timeout: u16,
}

/// The body of an action frame of block acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockAckAction {
    /// ADDBA request (9.6.4.2).
    AddRequest {
        /// Pairs request and response.
        dialog_token: u8,
        /// What is asked for.
        agreement: Agreement,
        /// Sequence number of the first MPDU under the agreement, 0 to 4095.
        start: u16,
    },
    /// ADDBA response (9.6.4.3).
    AddResponse {
        /// That of the request.
        dialog_token: u8,
        /// Whether the agreement holds now.
        status: Status,
        /// What is agreed.
        agreement: Agreement,
    },
    /// DELBA (9.6.4.4).
    Delete {
        /// Whether the originator of the data ends it, instead of the recipient.
        by_originator: bool,
        /// Traffic identifier, 0 to 15.
        tid: u8,
        /// Why.
        reason: Reason,
    },
}

impl BlockAckAction {
    /// Parses a body.
    ///
    /// # Errors
    /// It is cut short, of another category or action, or asks for delayed acknowledgement.
    pub(super) fn parse(body: &[u8]) -> Result<Self, ParseError> {
        LAYER.require(body.len() >= 2, "body length", 0, body.len(), "at least 2")?;
        LAYER.require(body[0] == CATEGORY, "category", 0, body[0], "3 (Block Ack)")?;
        LAYER.require(body[1] <= DELBA, "Block Ack action", 1, body[1], "0 to 2")?;
        let length = fixed_len(body[1]);
        LAYER.require(body.len() >= length, "body length", 0, body.len(), "at least that of the fixed fields")?;
        let number = |at: usize| u16::from_le_bytes(array(body, at));
        let agreement = |at: usize| {
            let set = number(at);
            LAYER.require(set & IMMEDIATE != 0, "Block Ack policy", at, 0, "1 (immediate)")?;
            Ok(Agreement {
                amsdu: set & AMSDU != 0,
                tid: (set >> TID_SHIFT & 0x0f) as u8,
                buffer_size: set >> SIZE_SHIFT,
                timeout: number(at + 2),
            })
        };
        Ok(match body[1] {
            ADDBA_REQUEST => {
                Self::AddRequest { dialog_token: body[2], agreement: agreement(3)?, start: number(7) >> 4 }
            }
            ADDBA_RESPONSE => {
                Self::AddResponse { dialog_token: body[2], status: number(3).into(), agreement: agreement(5)? }
            }
            _ => Self::Delete {
                by_originator: number(2) & INITIATOR != 0,
                tid: (number(2) >> DELETED_TID_SHIFT) as u8,
                reason: number(4).into(),
            },
        })
    }

    /// Length of the body, in bytes.
    pub(super) fn buffer_len(&self) -> usize {
        fixed_len(self.action())
    }

    /// Writes the body.
    pub(super) fn emit(&self, body: &mut [u8]) {
        body[0] = CATEGORY;
        body[1] = self.action();
        let mut number = |at: usize, number: u16| put(body, at, number.to_le_bytes());
        let set = |agreement: Agreement| {
            (if agreement.amsdu { AMSDU } else { 0 })
                | IMMEDIATE
                | u16::from(agreement.tid & 0x0f) << TID_SHIFT
                | agreement.buffer_size << SIZE_SHIFT
        };
        match *self {
            Self::AddRequest { dialog_token, agreement, start } => {
                number(3, set(agreement));
                number(5, agreement.timeout);
                number(7, start << 4);
                body[2] = dialog_token;
            }
            Self::AddResponse { dialog_token, status, agreement } => {
                number(3, status.into());
                number(5, set(agreement));
                number(7, agreement.timeout);
                body[2] = dialog_token;
            }
            Self::Delete { by_originator, tid, reason } => {
                let initiator = if by_originator { INITIATOR } else { 0 };
                number(2, initiator | u16::from(tid) << DELETED_TID_SHIFT);
                number(4, reason.into());
            }
        }
    }

    fn action(&self) -> u8 {
        match self {
            Self::AddRequest { .. } => ADDBA_REQUEST,
            Self::AddResponse { .. } => ADDBA_RESPONSE,
            Self::Delete { .. } => DELBA,
        }
    }
}

/// Length of the fixed fields of an action, in bytes.
const fn fixed_len(action: u8) -> usize {
    match action {
        ADDBA_REQUEST | ADDBA_RESPONSE => 9,
        _ => 6,
    }
}
