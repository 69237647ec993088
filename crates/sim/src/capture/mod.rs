//! Captures: for each node a pcapng file with every frame that it sends or receives without error, as a monitoring
//! interface on that node would see them. Payload octets are zeros.

mod address;
mod encode;
mod names;
mod spool;

pub use address::{BSSID, ip_address, mac_address};
pub use names::Names;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use hopcast_protocols::time::Instant;
use hopcast_radio::mac::{Frame, StationId};
use hopcast_radio::medium::Link;
use hopcast_wire::pcapng;

use crate::engine::Tap;
use crate::host::packet::Packet;
use crate::results::OutputError;
use crate::results::output::{Part, commit_all};
use crate::scenario::model::Scenario;
use encode::Encoder;
use spool::Spool;

/// The captures of one run. Given up before [`Self::commit`], it leaves nothing behind.
pub struct Capture {
    files: Arc<Mutex<Files>>,
}

impl Capture {
    /// Begins a file for each node of `scenario` in `folder`, which must be there: `<node>.pcapng`, or
    /// `<node>.seed-<seed>.pcapng` for one of several replications. No two are the same, as names have no dots.
    ///
    /// # Errors
    /// The first file that could not be begun.
    pub fn create(folder: &Path, scenario: &Scenario, seed: Option<u64>) -> Result<Self, OutputError> {
        let names = scenario.groups.iter().flat_map(|group| &group.node_names);
        let nodes: Result<Vec<Node>, OutputError> =
            names.map(|name| Node::create(&folder.join(names::of(name, seed)), name)).collect();
        let files = Files { encoder: Encoder::new(&scenario.radio), nodes: nodes?, error: None };
        Ok(Self { files: Arc::new(Mutex::new(files)) })
    }

    /// What writes into these files; for [`crate::run::Simulation::set_tap`].
    pub fn tap(&self) -> impl Tap<Packet> + Send + 'static {
        CaptureTap { files: Arc::clone(&self.files) }
    }

    /// Whether all could be written so far.
    ///
    /// # Errors
    /// The first file that could not be written; nothing is captured any more.
    pub fn check(&self) -> Result<(), OutputError> {
        self.lock().error.take().map_or(Ok(()), Err)
    }

    /// The run is over: completes all files, then gives them their names.
    ///
    /// # Errors
    /// The first file that could not be written.
    pub fn commit(self) -> Result<(), OutputError> {
        self.check()?;
        let nodes = core::mem::take(&mut self.lock().nodes);
        let parts: Result<Vec<_>, OutputError> = nodes.into_iter().map(Node::finish).collect();
        commit_all(parts?)
    }

    fn lock(&self) -> MutexGuard<'_, Files> {
        self.files.lock().expect("a panic while a frame is written ends the run")
    }
}

/// Sees the frames of a run.
struct CaptureTap {
    files: Arc<Mutex<Files>>,
}

impl Tap<Packet> for CaptureTap {
    fn on_frame(&mut self, station: StationId, frame: &Frame<Packet>, start: Instant, received: Option<&Link>) {
        let mut files = self.files.lock().expect("a panic while a frame is written ends the run");
        files.write(station, frame, start, received);
    }
}

struct Files {
    encoder: Encoder,
    /// By station; empty once they are complete.
    nodes: Vec<Node>,
    error: Option<OutputError>,
}

impl Files {
    fn write(&mut self, station: StationId, frame: &Frame<Packet>, start: Instant, received: Option<&Link>) {
        let Some(node) = self.nodes.get_mut(station.0 as usize).filter(|_| self.error.is_none()) else { return };
        let octets = self.encoder.encode(frame, start, received);
        // The instant that the radiotap header tells as well: that of the first octet behind preamble and PLCP header.
        let at = (start + frame.header).as_nanos();
        self.error = node.write(at, octets).err();
    }
}

struct Node {
    writer: pcapng::Writer<Spool>,
    path: PathBuf,
}

impl Node {
    fn create(path: &Path, name: &str) -> Result<Self, OutputError> {
        let spool = Spool::create(path)?;
        let writer = pcapng::Writer::new(spool, name).map_err(|error| OutputError { path: path.into(), error })?;
        Ok(Self { writer, path: path.into() })
    }

    fn write(&mut self, at: u64, octets: &[u8]) -> Result<(), OutputError> {
        self.writer.write(at, octets).map_err(|error| OutputError { path: self.path.clone(), error })
    }

    fn finish(self) -> Result<Part, OutputError> {
        self.writer.into_inner().finish()
    }
}
