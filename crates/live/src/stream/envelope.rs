//! What is around a datagram on its way: nothing, or the network's key.

use hopcast_protocols::time::Instant;

/// Why a datagram was not opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rejected;

/// Seals what leaves and opens what comes.
#[derive(Debug)]
pub(super) enum Envelope {
    /// There is no key: datagrams are as they are.
    Open,
}

impl Envelope {
    /// Appends the datagram that carries `parts`, one behind the other, to `datagram`.
    pub(super) fn seal(&mut self, parts: [&[u8]; 3], datagram: &mut Vec<u8>) {
        parts.iter().for_each(|part| datagram.extend_from_slice(part));
    }

    /// What a datagram carries; `buffer` is where it is opened.
    pub(super) fn open<'a>(
        &mut self,
        datagram: &'a [u8],
        buffer: &'a mut Vec<u8>,
        _now: Instant,
    ) -> Result<&'a [u8], Rejected> {
        buffer.clear();
        Ok(datagram)
    }
}
