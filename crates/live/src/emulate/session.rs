//! A run with real hosts, independent of what they are and of its speed: incoming frames change it, outgoing frames enter
//! a digest.

use hopcast_protocols::time::{Duration, Instant};
use hopcast_sim::id::NodeId;
use hopcast_sim::record::{Feed, Recording};
use hopcast_sim::results::{OutputError, Replication};
use hopcast_sim::run::{Delivery, Simulation};
use hopcast_sim::scenario::model::Scenario;
use hopcast_sim::traffic::TrafficError;
use sha2::{Digest, Sha256};

use super::view::View;

/// A frame that a real host sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Input {
    pub(super) at: Instant,
    pub(super) node: NodeId,
    /// Place among the interfaces of the node.
    pub(super) interface: u32,
    /// The Ethernet frame.
    pub(super) octets: Vec<u8>,
}

/// What has come out: equal for two sessions that delivered the same bytes to the same interfaces at the same instants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outputs {
    pub(super) frames: u64,
    /// Hexadecimal SHA-256 of instants, nodes, interfaces, lengths and bytes.
    pub(super) digest: String,
}

/// Time between two writes of what has happened.
const WRITE_INTERVAL: Duration = Duration::from_millis(100);

/// What happens in the run, on its way to files and to browsers.
struct Events<'a> {
    recording: Option<Recording<'a>>,
    following: Option<Following<'a>>,
    /// When it is to be written next.
    due: Instant,
    /// Why it can't be written.
    problem: Option<OutputError>,
}

/// What browsers follow.
pub(super) struct Following<'a> {
    feed: Feed<'a>,
    view: View,
}

impl Following<'_> {
    /// Tells the rest: the run has ended at `end`, and its recording is committed.
    pub(super) fn finish(mut self, end: Instant) -> View {
        self.view.tell(self.feed.finish(end));
        self.view
    }
}

impl Events<'_> {
    /// Passes on what has happened.
    fn collect(&mut self, simulation: &mut Simulation) {
        if let Some(recording) = self.recording.as_ref().filter(|_| self.problem.is_none()) {
            self.problem = recording.collect(simulation).err();
        }
        if let Some(Following { feed, view }) = &mut self.following
            && let Ok(news) = feed.collect(simulation)
        {
            view.tell(news);
        }
    }
}

/// A run with real hosts.
pub(super) struct Session<'a> {
    pub(super) replication: Replication<'a>,
    /// Frames of real hosts that were sent.
    pub(super) accepted: u64,
    /// Frames of real hosts to addresses that no node has.
    pub(super) refused: u64,
    delivered: u64,
    digest: Sha256,
    events: Option<Events<'a>>,
}

impl<'a> Session<'a> {
    /// At the start. Fails as [`Replication::emulated`] does.
    pub(super) fn new(scenario: &'a Scenario, seed: u64) -> Result<Self, TrafficError> {
        let replication = Replication::emulated(scenario, seed)?;
        Ok(Self { replication, accepted: 0, refused: 0, delivered: 0, digest: Sha256::new(), events: None })
    }

    /// Records from now on, the start, what happens: to files, for browsers, or for both.
    pub(super) fn set_events(&mut self, recording: Option<Recording<'a>>, following: Option<(Feed<'a>, View)>) {
        let simulation = self.replication.simulation_mut();
        match (&recording, &following) {
            (Some(recording), _) => recording.attach(simulation),
            (None, Some((feed, _))) => feed.attach(simulation),
            (None, None) => return,
        }
        let following = following.map(|(feed, view)| Following { feed, view });
        self.events = Some(Events { recording, following, due: Instant::START + WRITE_INTERVAL, problem: None });
    }

    /// Ends the run now. Returns its recording, of which all events are written, and what browsers follow.
    ///
    /// # Errors
    /// Instead of the recording: the first event that could not be written.
    pub(super) fn finish(&mut self) -> (Result<Option<Recording<'a>>, OutputError>, Option<Following<'a>>) {
        self.replication.simulation_mut().finish();
        let Some(mut events) = self.events.take() else { return (Ok(None), None) };
        events.collect(self.replication.simulation_mut());
        (events.problem.map_or(Ok(events.recording), Err), events.following)
    }

    pub(super) fn now(&self) -> Instant {
        self.replication.simulation().now()
    }

    pub(super) fn end(&self) -> Instant {
        self.replication.simulation().end()
    }

    /// When the next event is due.
    pub(super) fn next_event(&self) -> Instant {
        self.replication.simulation().next_event()
    }

    pub(super) fn run_until(&mut self, until: Instant) {
        self.replication.run_until(until);
        if let Some(events) = self.events.as_mut().filter(|events| until >= events.due) {
            events.due = until + WRITE_INTERVAL;
            events.collect(self.replication.simulation_mut());
        }
    }

    /// A real host sends a frame, now. One that no station could send goes nowhere, and is counted.
    pub(super) fn handle_frame(&mut self, node: NodeId, interface: u32, octets: &[u8]) {
        match self.replication.simulation_mut().handle_frame(node, interface, octets) {
            Ok(()) => self.accepted += 1,
            Err(_) => self.refused += 1,
        }
    }

    /// The next frame for a real host.
    pub(super) fn poll_delivery(&mut self) -> Option<Delivery> {
        let delivery = self.replication.simulation_mut().poll_delivery()?;
        self.delivered += 1;
        self.digest.update(delivery.at.as_nanos().to_be_bytes());
        self.digest.update(delivery.node.0.to_be_bytes());
        self.digest.update(delivery.interface.to_be_bytes());
        self.digest.update((delivery.octets.len() as u64).to_be_bytes());
        self.digest.update(&delivery.octets);
        Some(delivery)
    }

    /// All that has come out so far.
    pub(super) fn outputs(&self) -> Outputs {
        let digest = self.digest.clone().finalize();
        Outputs { frames: self.delivered, digest: digest.iter().map(|octet| format!("{octet:02x}")).collect() }
    }
}
