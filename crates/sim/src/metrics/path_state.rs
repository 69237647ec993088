//! State of a path, as the ends of a rate-controlled flow see it.

use hopcast_protocols::time::Duration;
use hopcast_protocols::transport::adtfrc::States;

/// States of a path that ADTFRC distinguishes (Fu, Meng, Lu, section III-A).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PathState {
    /// No problem.
    #[default]
    Normal,
    /// The load exceeds the capacity of the network.
    Congestion,
    /// Packets come over more than one path, or over another one.
    RouteChange,
    /// Packets are lost at random.
    ChannelError,
    /// There is no path.
    Disconnection,
}

impl PathState {
    /// All states.
    pub const ALL: [Self; 5] =
        [Self::Normal, Self::Congestion, Self::RouteChange, Self::ChannelError, Self::Disconnection];

    /// The stable name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Congestion => "congestion",
            Self::RouteChange => "route_change",
            Self::ChannelError => "channel_error",
            Self::Disconnection => "disconnection",
        }
    }

    /// The state that a sender sees: whether it probes, and its receiver's report. Of a route change together with
    /// channel errors it uses the former (algorithm 1).
    pub(crate) fn of_sender(is_probing: bool, told: Option<States>) -> Self {
        if is_probing { Self::Disconnection } else { told.map_or(Self::Normal, Self::of_receiver) }
    }

    /// The state that a receiver sees.
    pub(crate) fn of_receiver(states: States) -> Self {
        match states {
            States { congestion: true, .. } => Self::Congestion,
            States { route_change: true, .. } => Self::RouteChange,
            States { channel_error: true, .. } => Self::ChannelError,
            _ => Self::Normal,
        }
    }
}

/// The state of a sender with TFRC or ADTFRC.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateControl {
    /// The allowed rate in bits of payload per second; of media over RTP the target rate.
    pub rate: f64,
    /// Loss events per packet, as of the last feedback; `None` of other congestion controls of media.
    pub loss_event_rate: Option<f64>,
    /// Round-trip time; zero before the first measurement.
    pub rtt: Duration,
    /// The state of the path in the sender's view; `None` with plain TFRC.
    pub state: Option<PathState>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_what_the_sender_acts_upon() {
        let states = |congestion, route_change, channel_error| States { congestion, route_change, channel_error };
        assert_eq!(PathState::of_sender(true, Some(states(true, false, false))), PathState::Disconnection);
        assert_eq!(PathState::of_sender(false, None), PathState::Normal);
        assert_eq!(PathState::of_sender(false, Some(states(false, true, true))), PathState::RouteChange);
        assert_eq!(PathState::of_receiver(states(true, false, false)), PathState::Congestion);
        assert_eq!(PathState::of_receiver(states(false, false, true)), PathState::ChannelError);
        assert_eq!(PathState::of_receiver(states(false, false, false)), PathState::Normal);
    }

    #[test]
    fn the_list_is_in_the_order_of_the_indices() {
        assert!(PathState::ALL.into_iter().enumerate().all(|(index, state)| state as usize == index));
    }
}
