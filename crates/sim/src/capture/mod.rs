//! Captures: for each node a pcapng file with every frame that its radios send or receive without error, as monitoring
//! interfaces on that node would see them, and every packet that leaves or arrives on its wires: from the IP header on, or at
//! the wires of real nodes in an emulation as an Ethernet frame. Payload bytes are zeros, except those of real hosts and of FEC.
//! A [`Selection`] leaves out nodes, or what they merely overheard, or asks for one file with all frames of the medium.

mod names;
mod selection;
mod spool;

pub use crate::address::{ip_address, mac_address};
pub use names::Names;
pub use selection::{Selection, SelectionError};

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
use selection::MEDIUM;
use spool::Spool;

/// The captures of one run. Dropping them before [`Self::commit`] leaves no files behind.
pub struct Capture {
    files: Arc<Mutex<Files>>,
}

impl Capture {
    /// Creates the files of `selection` in `folder`, which must exist: `<node>.pcapng`, or `<node>.seed-<seed>.pcapng` for one
    /// of several replications; that of the medium is `medium.pcapng`. Names are unique, as node names have no dots.
    ///
    /// # Errors
    /// The first file that can't be created.
    pub fn create(
        folder: &Path,
        scenario: &Scenario,
        selection: &Selection,
        seed: Option<u64>,
    ) -> Result<Self, OutputError> {
        Self::with_sinks(scenario, selection, vec![false; 2 * scenario.links.len()], file_in(folder, seed))
    }

    /// The same for an emulation: packets on the wires of real nodes are Ethernet frames.
    ///
    /// # Errors
    /// The first file that can't be created.
    pub fn emulated(folder: &Path, scenario: &Scenario, selection: &Selection) -> Result<Self, OutputError> {
        let real: Vec<bool> = layout::groups(scenario).map(|group| group.is_real).collect();
        let ends = |link: &WiredLink| [link.between.iter().any(|&end| real[end.0 as usize]); 2];
        let ethernet = scenario.links.iter().flat_map(ends).collect();
        Self::with_sinks(scenario, selection, ethernet, file_in(folder, None))
    }

    /// Files of which only the sizes are kept.
    pub(crate) fn counting(scenario: &Scenario, selection: &Selection) -> Result<Self, OutputError> {
        let ethernet = vec![false; 2 * scenario.links.len()];
        Self::with_sinks(scenario, selection, ethernet, |_| Ok((Spool::counting(), PathBuf::new())))
    }

    /// `sink` makes the file with this name, which has no ending yet.
    fn with_sinks(
        scenario: &Scenario,
        selection: &Selection,
        ethernet: Vec<bool>,
        sink: impl Fn(&str) -> Result<(Spool, PathBuf), OutputError>,
    ) -> Result<Self, OutputError> {
        let names: Vec<&String> = scenario.groups.iter().flat_map(|group| &group.node_names).collect();
        let ports = layout::ports(scenario);
        let create = |(node, &is_selected): (usize, &bool)| match is_selected {
            true => Output::of_node(sink(names[node])?, names[node], ports.attachments(node), &ethernet).map(Some),
            false => Ok(None),
        };
        let nodes: Result<Vec<Option<Output>>, OutputError> = selection.nodes.iter().enumerate().map(create).collect();
        let nodes = nodes?;
        let medium = selection.has_medium.then(|| Output::of_medium(sink(MEDIUM)?, &names, &ports)).transpose()?;
        let outputs = Outputs { nodes, medium, is_addressed: selection.is_addressed, ports };
        let files = Files { encoder: Encoder::new(scenario), outputs, ethernet, error: None };
        Ok(Self { files: Arc::new(Mutex::new(files)) })
    }

    /// Size of all files so far, in bytes.
    pub(crate) fn size(&self) -> u64 {
        self.meter().size()
    }

    /// Tells the size of the files while they grow.
    pub fn meter(&self) -> Meter {
        Meter { files: Arc::clone(&self.files) }
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
        let parts: Result<Vec<_>, OutputError> = self.lock().outputs.take().map(Output::finish).collect();
        commit_all(parts?.into_iter().flatten().collect())
    }

    fn lock(&self) -> MutexGuard<'_, Files> {
        self.files.lock().expect("a panic while a frame is written ends the run")
    }
}

/// Tells the size of captures while they grow.
pub struct Meter {
    files: Arc<Mutex<Files>>,
}

impl Meter {
    /// Size of all files so far, in bytes. Once they are complete, it is 0.
    pub fn size(&self) -> u64 {
        let files = self.files.lock().expect("a panic while a frame is written ends the run");
        files.outputs.iter().map(|output| output.writer.sink().written()).sum()
    }
}

impl core::fmt::Debug for Meter {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.debug_struct("Meter").field("size", &self.size()).finish()
    }
}

/// Makes a file of this name, which has no ending yet, in `folder`.
fn file_in(folder: &Path, seed: Option<u64>) -> impl Fn(&str) -> Result<(Spool, PathBuf), OutputError> {
    move |name| {
        let path = folder.join(names::of(name, seed));
        Ok((Spool::create(&path)?, path))
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
    outputs: Outputs,
    /// By wire: whether its packets are Ethernet frames.
    ethernet: Vec<bool>,
    error: Option<OutputError>,
}

impl Files {
    fn write(&mut self, station: StationId, frame: &Frame<Rc<Sdu>>, start: Instant, received: Option<&Link>) {
        let places = self.outputs.places(station, frame.receiver, received);
        if self.error.is_some() || places == Places::NONE {
            return;
        }
        let octets = self.encoder.encode(frame, start, received);
        // The instant that the radiotap header tells as well: that of the first octet behind preamble and PLCP header.
        let at = (start + frame.header).as_nanos();
        self.error = self.outputs.write(places, station, at, octets).err();
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
        let places = self.outputs.places(station, frame.receiver, received);
        if self.error.is_some() || places == Places::NONE {
            return;
        }
        let at = (start + frame.header).as_nanos();
        let Body::Mpdus(mpdus) = body else {
            let octets = self.encoder.encode_control(frame, body, start, received);
            self.error = self.outputs.write(places, station, at, octets).err();
            return;
        };
        for (place, mpdu) in mpdus.iter().enumerate().filter(|&(place, _)| arrived.has(place)) {
            // A reference need only differ from those of other A-MPDUs near it.
            let ampdu = AmpduStatus { reference: number as u32, is_last: place + 1 == mpdus.len() };
            let octets = self.encoder.encode_mpdu(frame, mpdu, (mpdus.len() > 1).then_some(ampdu), start, received);
            self.error = self.outputs.write(places, station, at, octets).err();
            if self.error.is_some() {
                return;
            }
        }
    }

    fn write_packet(&mut self, port: Port, sdu: &Sdu, wire: u32, now: Instant) {
        let node = self.outputs.nodes.get_mut(port.host as usize).and_then(Option::as_mut);
        let Some(node) = node.filter(|_| self.error.is_none()) else { return };
        let octets = match self.ethernet[wire as usize] {
            true => self.encoder.encode_ethernet_on_wire(sdu, wire),
            false => Some(self.encoder.encode_packet(sdu)),
        };
        // What has no form on an Ethernet no real host sends.
        let Some(octets) = octets else { return };
        self.error = node.write(port.interface, now.as_nanos(), octets).err();
    }
}

/// All files of a run.
struct Outputs {
    /// By node; `None` for those that are not selected. Empty once the files are complete.
    nodes: Vec<Option<Output>>,
    medium: Option<Output>,
    /// Whether nodes leave out what they heard though it was sent to another station.
    is_addressed: bool,
    ports: Ports,
}

/// The files that take a frame.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Places {
    node: bool,
    medium: bool,
}

impl Places {
    const NONE: Self = Self { node: false, medium: false };
}

impl Outputs {
    /// The files that take a frame which `station` sent to `receiver` (`None`: to a group), or `received`.
    fn places(&self, station: StationId, receiver: Option<StationId>, received: Option<&Link>) -> Places {
        let is_addressed = received.is_none() || receiver.is_none_or(|receiver| receiver == station);
        let host = self.ports.of_station(station).host as usize;
        let has_file = self.nodes.get(host).is_some_and(Option::is_some);
        Places {
            node: has_file && (is_addressed || !self.is_addressed),
            medium: received.is_none() && self.medium.is_some(),
        }
    }

    fn write(&mut self, places: Places, station: StationId, at: u64, octets: &[u8]) -> Result<(), OutputError> {
        let port = self.ports.of_station(station);
        if let Some(Some(node)) = self.nodes.get_mut(port.host as usize).filter(|_| places.node) {
            node.write(port.interface, at, octets)?;
        }
        match self.medium.as_mut().filter(|_| places.medium) {
            Some(medium) => medium.write(station.0, at, octets),
            None => Ok(()),
        }
    }

    fn iter(&self) -> impl Iterator<Item = &Output> {
        self.nodes.iter().flatten().chain(&self.medium)
    }

    fn take(&mut self) -> impl Iterator<Item = Output> + use<> {
        core::mem::take(&mut self.nodes).into_iter().flatten().chain(self.medium.take())
    }
}

/// A file in the making.
struct Output {
    writer: pcapng::Writer<Spool>,
    /// Interfaces that stand in the file before the first one that is used: the first one always describes a radio.
    skipped: u32,
    path: PathBuf,
}

impl Output {
    /// That of a node. `ethernet`: by wire, whether its packets are Ethernet frames.
    fn of_node(
        (spool, path): (Spool, PathBuf),
        name: &str,
        interfaces: &[Attachment],
        ethernet: &[bool],
    ) -> Result<Self, OutputError> {
        let failed = |error| OutputError { path: path.clone(), error };
        let mut writer = pcapng::Writer::new(spool, name).map_err(failed)?;
        let is_radio = |attachment: &&Attachment| matches!(attachment, Attachment::Station(_));
        let radios = interfaces.iter().filter(is_radio).count() as u32;
        for radio in 1..radios {
            writer.add_interface(&name_of_radio(name, radio), LinkType::Radiotap).map_err(failed)?;
        }
        for (attachment, number) in interfaces[radios as usize..].iter().zip(0..) {
            let is_ethernet = matches!(attachment, Attachment::Wire(wire) if ethernet[*wire as usize]);
            let link_type = if is_ethernet { LinkType::Ethernet } else { LinkType::Ipv4 };
            writer.add_interface(&format!("{name}.wire{number}"), link_type).map_err(failed)?;
        }
        Ok(Self { writer, skipped: u32::from(radios == 0), path })
    }

    /// That of the medium: an interface for each station, behind one with the name of the file.
    fn of_medium((spool, path): (Spool, PathBuf), names: &[&String], ports: &Ports) -> Result<Self, OutputError> {
        let failed = |error| OutputError { path: path.clone(), error };
        let mut writer = pcapng::Writer::new(spool, MEDIUM).map_err(failed)?;
        for station in 0..ports.stations() as u32 {
            let Port { host, interface } = ports.of_station(StationId(station));
            let name = name_of_radio(names[host as usize], interface);
            writer.add_interface(&name, LinkType::Radiotap).map_err(failed)?;
        }
        Ok(Self { writer, skipped: 1, path })
    }

    fn write(&mut self, interface: u32, at: u64, octets: &[u8]) -> Result<(), OutputError> {
        let interface = interface + self.skipped;
        self.writer.write_on(interface, at, octets).map_err(|error| OutputError { path: self.path.clone(), error })
    }

    fn finish(self) -> Result<Option<Part>, OutputError> {
        self.writer.into_inner().finish()
    }
}

/// The name of a node's radio with this number.
fn name_of_radio(node: &str, radio: u32) -> String {
    match radio {
        0 => node.into(),
        radio => format!("{node}.radio{radio}"),
    }
}
