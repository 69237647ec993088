//! An application relay: a program that receives a unit, then sends it on with a blocking call.

/// Store and forward by a single thread: while a unit is being sent, nothing is received, and what arrives waits in the
/// receive buffer of the socket. `U` describes a unit.
#[derive(Clone, Debug)]
pub struct Relay<U> {
    held: Option<U>,
}

impl<U> Relay<U> {
    /// A relay that waits for its first unit.
    pub fn new() -> Self {
        Self { held: None }
    }

    /// Whether the relay is in its receiving call.
    pub fn is_receiving(&self) -> bool {
        self.held.is_none()
    }

    /// A unit is received; only while [`Self::is_receiving`], or the unit held before would be lost.
    pub fn handle_unit(&mut self, unit: U) {
        debug_assert!(self.held.is_none(), "a relay receives one unit at a time");
        self.held = Some(unit);
    }

    /// The unit that the relay wants to send; the same until [`Self::handle_sent`].
    pub fn poll_unit(&self) -> Option<&U> {
        self.held.as_ref()
    }

    /// The blocking send has returned.
    pub fn handle_sent(&mut self) {
        self.held = None;
    }
}

impl<U> Default for Relay<U> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_unit_is_in_hand_until_its_send_returns() {
        let mut relay = Relay::new();
        assert!(relay.is_receiving());
        relay.handle_unit('a');
        assert!(!relay.is_receiving());
        assert_eq!(relay.poll_unit(), Some(&'a'));
        relay.handle_sent();
        assert!(relay.is_receiving());
    }
}
