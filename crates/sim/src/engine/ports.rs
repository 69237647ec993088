//! Assignment of interfaces of hosts to stations and wires.

use hopcast_radio::mac::StationId;

/// An interface of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Port {
    /// Index of the host.
    pub host: u32,
    /// Index of the interface at the host.
    pub interface: u32,
}

/// The other side of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attachment {
    /// The medium.
    Station(StationId),
    /// The wire with this index, which begins here.
    Wire(u32),
}

/// The interfaces of all hosts.
#[derive(Clone, Debug)]
pub struct Ports {
    of_station: Vec<Port>,
    /// By wire: where it comes from, where it leads to.
    of_wire: Vec<[Port; 2]>,
    /// All interfaces, host by host.
    attachments: Vec<Attachment>,
    /// By host: where its interfaces begin.
    first: Vec<u32>,
}

const NOWHERE: Port = Port { host: u32::MAX, interface: u32::MAX };

impl Ports {
    /// `interfaces[host]` are those of a host. Wires 2 n and 2 n + 1 are the two directions of a link.
    pub fn new(interfaces: &[Vec<Attachment>]) -> Self {
        let attachments: Vec<Attachment> = interfaces.iter().flatten().copied().collect();
        let stations = attachments.iter().filter(|a| matches!(a, Attachment::Station(_))).count();
        let mut ports = Self {
            of_station: vec![NOWHERE; stations],
            of_wire: vec![[NOWHERE; 2]; attachments.len() - stations],
            attachments,
            first: Vec::with_capacity(interfaces.len()),
        };
        let mut first = 0;
        for (own, host) in interfaces.iter().zip(0..) {
            ports.first.push(first);
            first += own.len() as u32;
            for (attachment, interface) in own.iter().zip(0..) {
                let port = Port { host, interface };
                match *attachment {
                    Attachment::Station(station) => ports.of_station[station.0 as usize] = port,
                    Attachment::Wire(wire) => {
                        ports.of_wire[wire as usize][0] = port;
                        ports.of_wire[wire as usize ^ 1][1] = port;
                    }
                }
            }
        }
        ports
    }

    /// Each host has one interface, the station with the same index.
    pub(crate) fn one_each(hosts: u32) -> Self {
        let interfaces: Vec<_> = (0..hosts).map(|host| vec![Attachment::Station(StationId(host))]).collect();
        Self::new(&interfaces)
    }

    /// Number of hosts.
    pub fn hosts(&self) -> usize {
        self.first.len()
    }

    /// Number of stations.
    pub fn stations(&self) -> usize {
        self.of_station.len()
    }

    /// The interface to which a station belongs.
    pub(crate) fn of_station(&self, station: StationId) -> Port {
        self.of_station[station.0 as usize]
    }

    /// The two ends of a wire.
    pub(crate) fn of_wire(&self, wire: usize) -> [Port; 2] {
        self.of_wire[wire]
    }

    /// The station or wire of an interface.
    pub(crate) fn attachment(&self, host: usize, interface: u32) -> Attachment {
        self.attachments[self.first[host] as usize + interface as usize]
    }

    /// The stations and wires of a host's interfaces, in order.
    pub(crate) fn attachments(&self, host: usize) -> &[Attachment] {
        let end = self.first.get(host + 1).map_or(self.attachments.len(), |&end| end as usize);
        &self.attachments[self.first[host] as usize..end]
    }
}
