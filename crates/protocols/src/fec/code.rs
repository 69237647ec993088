//! What packets hold, and what is computed of it.

use core::fmt::Debug;
use std::sync::Arc;

use hopcast_wire::fec::{INFORMATION_LEN, information, parse_information};

use super::field::interpolate;

/// The only flow.
const FLOW: u8 = 0;

/// What the symbols of a block are made of. Which of them there are is the machines' affair.
pub trait Code {
    /// An application data unit: what a source packet carries.
    type Adu: Clone + Debug + PartialEq;
    /// A repair symbol.
    type Repair: Clone + Debug + PartialEq;

    /// Length of an ADU in bytes: at most 65535.
    fn adu_len(&self, adu: &Self::Adu) -> usize;

    /// Length of a repair symbol in bytes.
    fn repair_len(&self, repair: &Self::Repair) -> usize;

    /// The first `repair` repair symbols of a block. The ADUs are at least one, and not more than 255 with the repair symbols.
    fn encode(&self, adus: &[Self::Adu], repair: u8) -> Vec<Self::Repair>;

    /// The missing ADUs of a block, with their places, from those that are there and from repair symbols with their numbers,
    /// the first of which is that of the block's length. There are as many of both as the block has ADUs. `None`
    /// if they do not belong together.
    fn decode(&self, adus: &[Option<Self::Adu>], repair: &[(u8, Self::Repair)]) -> Option<Vec<(u8, Self::Adu)>>;
}

/// Bytes, in the code of RFC 5510, section 8, over the information on the ADUs (RFC 6865).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Octets;

impl Code for Octets {
    type Adu = Vec<u8>;
    type Repair = Vec<u8>;

    fn adu_len(&self, adu: &Vec<u8>) -> usize {
        adu.len()
    }

    fn repair_len(&self, repair: &Vec<u8>) -> usize {
        repair.len()
    }

    fn encode(&self, adus: &[Vec<u8>], repair: u8) -> Vec<Vec<u8>> {
        let longest = adus.iter().map(Vec::len).max().unwrap_or(0);
        let len = INFORMATION_LEN + longest;
        let symbols: Vec<_> = adus.iter().map(|adu| information(FLOW, adu)).collect();
        // What a symbol lacks counts as zeros.
        let known: Vec<(u8, &[u8])> = (0..).zip(&symbols).map(|(number, symbol)| (number, &symbol[..])).collect();
        let first = adus.len() as u8;
        interpolate(&known, &(first..first + repair).collect::<Vec<_>>(), len)
    }

    fn decode(&self, adus: &[Option<Vec<u8>>], repair: &[(u8, Vec<u8>)]) -> Option<Vec<(u8, Vec<u8>)>> {
        let len = repair.first()?.1.len();
        let symbols: Vec<_> = adus.iter().map(|adu| adu.as_ref().map(|adu| information(FLOW, adu))).collect();
        let present = (0..).zip(&symbols).filter_map(|(number, symbol)| Some((number, &symbol.as_ref()?[..])));
        let known: Vec<(u8, &[u8])> =
            present.chain(repair.iter().map(|(number, symbol)| (*number, &symbol[..]))).collect();
        if known.iter().any(|(_, symbol)| symbol.len() > len) || repair.iter().any(|(_, symbol)| symbol.len() != len) {
            return None;
        }
        let missing: Vec<u8> = (0..).zip(adus).filter_map(|(number, adu)| adu.is_none().then_some(number)).collect();
        let symbols = interpolate(&known, &missing, len);
        let adu = |symbol: &[u8]| match parse_information(symbol) {
            // Behind the ADU there are zeros alone.
            Ok((FLOW, adu)) if symbol[INFORMATION_LEN + adu.len()..].iter().all(|&octet| octet == 0) => {
                Some(adu.to_vec())
            }
            _ => None,
        };
        missing.iter().zip(&symbols).map(|(&number, symbol)| Some((number, adu(symbol)?))).collect()
    }
}

/// Lengths and names in place of bytes. A repair symbol names the whole block, and as an erasure code would, gives back
/// nothing until there are enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counting<T>(core::marker::PhantomData<fn() -> T>);

impl<T> Counting<T> {
    /// The code of ADUs that `T` names.
    pub fn new() -> Self {
        Self(core::marker::PhantomData)
    }
}

impl<T> Default for Counting<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// An ADU without its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adu<T> {
    /// Length in bytes.
    pub len: u16,
    /// What it is.
    pub content: T,
}

impl<T: Clone + Debug + PartialEq> Code for Counting<T> {
    type Adu = Adu<T>;
    type Repair = Arc<[Adu<T>]>;

    fn adu_len(&self, adu: &Adu<T>) -> usize {
        adu.len.into()
    }

    fn repair_len(&self, repair: &Arc<[Adu<T>]>) -> usize {
        INFORMATION_LEN + repair.iter().map(|adu| usize::from(adu.len)).max().unwrap_or(0)
    }

    fn encode(&self, adus: &[Adu<T>], repair: u8) -> Vec<Arc<[Adu<T>]>> {
        vec![adus.into(); repair.into()]
    }

    fn decode(&self, adus: &[Option<Adu<T>>], repair: &[(u8, Arc<[Adu<T>]>)]) -> Option<Vec<(u8, Adu<T>)>> {
        let block = &repair.first()?.1;
        let missing = (0..).zip(adus.iter().zip(block.iter())).filter(|(_, (adu, _))| adu.is_none());
        (block.len() == adus.len()).then(|| missing.map(|(number, (_, adu))| (number, adu.clone())).collect())
    }
}
