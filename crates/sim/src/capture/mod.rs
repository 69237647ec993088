//! Captures: for each node a pcapng file with every frame that its radios send or receive without error, as monitoring
//! interfaces on that node would see them, and every packet that leaves or arrives on its wires: from the IP header on, or at
//! the wires of real nodes in an emulation as an Ethernet frame. Payload bytes are zeros, except those of real hosts and of FEC.

mod names;
mod spool;

pub use crate::address::{ip_address, mac_address};
pub use names::Names;

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard};

use hopcast_protocols::time::Instant;
use hopcast_radio::aggregate::{Body, MpduSet};
use hopcast_radio::mac::{Frame, Header, StationId};
use hopcast_radio::medium::Link;
use hopcast_wire::pcapng::{self, LinkType};
use hopcast_wire::radiotap::AmpduStatus;

use crate::engine::{Attachment, Port, Ports, Tap};
use crate::host::Sdu;
use crate::layout;
use crate::octets::Encoder;
use crate::results::OutputError;
use crate::results::output::{Part, commit_all};
use crate::scenario::model::{Scenario, WiredLink};
use spool::Spool;

/// The captures of one run. Dropping them before [`Self::commit`] leaves no files behind.
pub struct Capture {
    files: Arc<Mutex<Files>>,
}

impl Capture {
    /// Creates a file for each node of `scenario` in `folder`, which must exist: `<node>.pcapng`, or
    /// `<node>.seed-<seed>.pcapng` for one of several replications. Names are unique, as node names have no dots.
    ///
    /// # Errors
    /// The first file that can't be created.
    pub fn create(folder: &Path, scenario: &Scenario, seed: Option<u64>) -> Result<Self, OutputError> {
        Self::with_ethernet(folder, scenario, seed, vec![false; 2 * scenario.links.len()])
    }

    /// The same for an emulation: packets on the wires of real nodes are Ethernet frames.
    ///
    /// # Errors
    /// The first file that can't be created.
    pub fn emulated(folder: &Path, scenario: &Scenario) -> Result<Self, OutputError> {
        let real: Vec<bool> = layout::groups(scenario).map(|group| group.is_real).collect();
        let ends = |link: &WiredLink| [link.between.iter().any(|&end| real[end.0 as usize]); 2];
        Self::with_ethernet(folder, scenario, None, scenario.links.iter().flat_map(ends).collect())
    }

    fn with_ethernet(
        folder: &Path,
        scenario: &Scenario,
        seed: Option<u64>,
        ethernet: Vec<bool>,
    ) -> Result<Self, OutputError> {
        let names = scenario.groups.iter().flat_map(|group| &group.node_names);
        let ports = layout::ports(scenario);
        let create = |(name, node): (&String, usize)| {
            Node::create(&folder.join(names::of(name, seed)), name, ports.attachments(node), &ethernet)
        };
        let nodes: Result<Vec<Node>, OutputError> = names.zip(0..).map(create).collect();
        let files = Files { encoder: Encoder::new(scenario), nodes: nodes?, ports, ethernet, error: None };
        Ok(Self { files: Arc::new(Mutex::new(files)) })
    }

    /// The tap that writes these files; for [`crate::run::Simulation::set_tap`].
    pub fn tap(&self) -> impl Tap<Rc<Sdu>> + 'static {
        CaptureTap { files: Arc::clone(&self.files) }
    }

    /// Whether all writes have succeeded so far.
    ///
    /// # Errors
    /// The first file that could not be written; capturing has stopped.
    pub fn check(&self) -> Result<(), OutputError> {
        self.lock().error.take().map_or(Ok(()), Err)
    }

    /// Completes all files at the end of the run, then gives them their names.
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

impl Tap<Rc<Sdu>> for CaptureTap {
    fn on_frame(&mut self, station: StationId, frame: &Frame<Rc<Sdu>>, start: Instant, received: Option<&Link>) {
        let mut files = self.files.lock().expect("a panic while a frame is written ends the run");
        files.write(station, frame, start, received);
    }

    fn on_frame_with_body(
        &mut self,
        station: StationId,
        frame: &Header,
        body: (&Body<Rc<Sdu>>, &MpduSet, u64),
        start: Instant,
        received: Option<&Link>,
    ) {
        let mut files = self.files.lock().expect("a panic while a frame is written ends the run");
        files.write_body(station, frame, body, start, received);
    }

    fn on_packet(&mut self, port: Port, sdu: &Rc<Sdu>, wire: u32, now: Instant) {
        let mut files = self.files.lock().expect("a panic while a frame is written ends the run");
        files.write_packet(port, sdu, wire, now);
    }
}

struct Files {
    encoder: Encoder,
    /// Empty once they are complete.
    nodes: Vec<Node>,
    ports: Ports,
    /// By wire: whether its packets are Ethernet frames.
    ethernet: Vec<bool>,
    error: Option<OutputError>,
}

impl Files {
    fn write(&mut self, station: StationId, frame: &Frame<Rc<Sdu>>, start: Instant, received: Option<&Link>) {
        let port = self.ports.of_station(station);
        let Some(node) = self.nodes.get_mut(port.host as usize).filter(|_| self.error.is_none()) else { return };
        let octets = self.encoder.encode(frame, start, received);
        // The instant that the radiotap header tells as well: that of the first octet behind preamble and PLCP header.
        let at = (start + frame.header).as_nanos();
        self.error = node.write(port.interface, at, octets).err();
    }

    /// Each MPDU that has arrived is a frame of the capture.
    fn write_body(
        &mut self,
        station: StationId,
        frame: &Header,
        (body, arrived, number): (&Body<Rc<Sdu>>, &MpduSet, u64),
        start: Instant,
        received: Option<&Link>,
    ) {
        let port = self.ports.of_station(station);
        let Some(node) = self.nodes.get_mut(port.host as usize).filter(|_| self.error.is_none()) else { return };
        let at = (start + frame.header).as_nanos();
        let Body::Mpdus(mpdus) = body else {
            let octets = self.encoder.encode_control(frame, body, start, received);
            self.error = node.write(port.interface, at, octets).err();
            return;
        };
        for (place, mpdu) in mpdus.iter().enumerate().filter(|&(place, _)| arrived.has(place)) {
            // A reference need only differ from those of other A-MPDUs near it.
            let ampdu = AmpduStatus { reference: number as u32, is_last: place + 1 == mpdus.len() };
            let octets = self.encoder.encode_mpdu(frame, mpdu, (mpdus.len() > 1).then_some(ampdu), start, received);
            self.error = node.write(port.interface, at, octets).err();
            if self.error.is_some() {
                return;
            }
        }
    }

    fn write_packet(&mut self, port: Port, sdu: &Sdu, wire: u32, now: Instant) {
        let Some(node) = self.nodes.get_mut(port.host as usize).filter(|_| self.error.is_none()) else { return };
        let octets = match self.ethernet[wire as usize] {
            true => self.encoder.encode_ethernet_on_wire(sdu, wire),
            false => Some(self.encoder.encode_packet(sdu)),
        };
        // What has no form on an Ethernet no real host sends.
        let Some(octets) = octets else { return };
        self.error = node.write(port.interface, now.as_nanos(), octets).err();
    }
}

struct Node {
    writer: pcapng::Writer<Spool>,
    /// What stands in the file before the interfaces of a node without radio: the first one describes a radio.
    skipped: u32,
    path: PathBuf,
}

impl Node {
    /// `ethernet`: by wire, whether its packets are Ethernet frames.
    fn create(path: &Path, name: &str, interfaces: &[Attachment], ethernet: &[bool]) -> Result<Self, OutputError> {
        let spool = Spool::create(path)?;
        let failed = |error| OutputError { path: path.into(), error };
        let mut writer = pcapng::Writer::new(spool, name).map_err(failed)?;
        let is_radio = |attachment: &&Attachment| matches!(attachment, Attachment::Station(_));
        let radios = interfaces.iter().filter(is_radio).count();
        for radio in 1..radios {
            writer.add_interface(&format!("{name}.radio{radio}"), LinkType::Radiotap).map_err(failed)?;
        }
        for (attachment, number) in interfaces[radios..].iter().zip(0..) {
            let is_ethernet = matches!(attachment, Attachment::Wire(wire) if ethernet[*wire as usize]);
            let link_type = if is_ethernet { LinkType::Ethernet } else { LinkType::Ipv4 };
            writer.add_interface(&format!("{name}.wire{number}"), link_type).map_err(failed)?;
        }
        Ok(Self { writer, skipped: u32::from(radios == 0), path: path.into() })
    }

    fn write(&mut self, interface: u32, at: u64, octets: &[u8]) -> Result<(), OutputError> {
        let interface = interface + self.skipped;
        self.writer.write_on(interface, at, octets).map_err(|error| OutputError { path: self.path.clone(), error })
    }

    fn finish(self) -> Result<Part, OutputError> {
        self.writer.into_inner().finish()
    }
}
