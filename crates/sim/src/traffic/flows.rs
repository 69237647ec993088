//! The programs of a flow at the nodes on its path, and the sockets between them.

use super::TrafficError;
use crate::host::packet::{IPV4_HEADER, MAX_UDP_PAYLOAD, UDP_HEADER};
use crate::host::{
    DccpOptions, Endpoint, FEC_HEADER, FEC_SOURCE_TRAILER, Host, ListenOptions, Listener, RtpOptions, SocketOptions,
    SourceOptions, TcpOptions,
};
use crate::id::{FlowId, NodeId};
use crate::registry::{FlowContext, MediaCongestion};
use crate::scenario::model::{Dccp, Flow, Rtp, Tcp, Transport};
use hopcast_protocols::application::{Application, Encoder};
use hopcast_protocols::random::{Purpose, Stream};
use hopcast_protocols::time::Duration;
use hopcast_protocols::transport::media;
use hopcast_protocols::transport::{dccp, rtp, tcp};
use hopcast_wire::ipv4::Protocol;

/// One flow to be set up.
pub(super) struct FlowSetup<'a> {
    pub(super) id: FlowId,
    pub(super) flow: &'a Flow,
    pub(super) seed: u64,
    /// The nodes whose programs handle the flow, source and sink included.
    pub(super) stops: &'a [u32],
    /// By stop: the socket buffers there.
    pub(super) buffers: Vec<u32>,
}

impl FlowSetup<'_> {
    /// Adds the programs. Returns where the flow is listened to between a real host and another one.
    pub(super) fn add(&self, hosts: &mut [Host]) -> Result<Vec<Listener>, TrafficError> {
        let Self { id, flow, seed, .. } = *self;
        let application = application(flow, id, seed);
        self.check(&*application)?;
        let transports: Vec<SocketOptions> =
            (0..2 * self.stops.len() - 2).map(|end| self.transport(end, &*application, hosts)).collect();
        let mut listeners = Vec::new();
        // From the sink back, so that each knows the port of the next.
        let last = self.stops.len() - 1;
        let listen = ListenOptions { socket: transports[2 * last - 1].clone(), port: flow.port };
        let port = hosts[self.stops[last] as usize].add_sink(id, listen, flow.fec.as_ref());
        let mut remote = Endpoint { node: NodeId(self.stops[last]), port };
        for hop in (1..last).rev() {
            listeners.extend(self.listener(hosts, hop, remote));
            let ends = [&transports[2 * hop - 1], &transports[2 * hop]].map(Clone::clone);
            let port = hosts[self.stops[hop] as usize].add_relay(id, flow.start, ends, remote);
            remote = Endpoint { node: NodeId(self.stops[hop]), port };
        }
        listeners.extend(self.listener(hosts, 0, remote));
        let host = &mut hosts[self.stops[0] as usize];
        if !host.is_real() {
            let quantum = self.quantum(&*application);
            let options =
                SourceOptions { application, start: flow.start, stop: flow.stop, quantum, fec: flow.fec.clone() };
            host.add_source(id, options, transports[0].clone(), remote);
        }
        Ok(listeners)
    }

    /// Refuses datagrams that UDP does not carry.
    fn check(&self, application: &dyn Application) -> Result<(), TrafficError> {
        let octets = application.largest_write() + if self.flow.fec.is_some() { FEC_HEADER } else { 0 };
        let header = match &self.flow.transport {
            Transport::Udp => 0,
            Transport::Rtp(rtp) => rtp.largest_header(),
            Transport::Tcp(_) | Transport::Dccp(_) => return Ok(()),
        };
        if octets.saturating_add(header) > MAX_UDP_PAYLOAD {
            return Err(TrafficError::DatagramTooLarge { flow: self.flow.name.clone(), octets });
        }
        Ok(())
    }

    /// The ends of leg k, from stop k to stop k + 1, are 2k and 2k + 1.
    fn transport(&self, end: usize, application: &dyn Application, hosts: &[Host]) -> SocketOptions {
        let buffer = self.buffers[end.div_ceil(2)];
        let mut sequences = Stream::new(self.seed, Purpose::InitialSequence, u64::from(self.id.0), end as u64);
        match &self.flow.transport {
            Transport::Udp => SocketOptions::Udp,
            Transport::Tcp(tcp) => {
                let other = self.stops[if end.is_multiple_of(2) { end / 2 + 1 } else { end / 2 }];
                SocketOptions::Tcp(TcpOptions {
                    config: connection_config(tcp, buffer),
                    initial_sequence: sequences.next_u64() as u32,
                    congestion: tcp.congestion.clone(),
                    real: hosts[other as usize].is_real().then_some(NodeId(other)),
                    deadline: tcp.deadline,
                })
            }
            Transport::Rtp(rtp) => {
                // Of the leg, so that both ends have the same.
                let mut random = Stream::new(self.seed, Purpose::InitialSequence, self.id.0.into(), (end & !1) as u64);
                let reports = Stream::new(self.seed, Purpose::SessionReports, self.id.0.into(), end as u64);
                SocketOptions::Rtp(rtp_options(rtp, application, random.next_u64(), reports))
            }
            Transport::Dccp(dccp) => SocketOptions::Dccp(DccpOptions {
                config: dccp_config(dccp, application, self.flow.fec.is_some(), buffer),
                // Far from where 48 bits end, so that numbers of one run compare without wrapping.
                initial_sequence: sequences.next_u64() >> 17,
            }),
        }
    }

    /// A blocking write to a stream goes on when there is room for so much.
    fn quantum(&self, application: &dyn Application) -> u32 {
        let Transport::Tcp(tcp) = &self.flow.transport else { return 1 };
        let quantum = match self.flow.application.writes_whole {
            true => application.largest_write(),
            false => tcp.segment,
        };
        quantum.min(connection_config(tcp, self.buffers[0]).send_buffer).max(1)
    }

    /// Where the program behind leg `hop` listens, if there is a real host at one end of the leg.
    fn listener(&self, hosts: &[Host], hop: usize, to: Endpoint) -> Option<Listener> {
        let protocol = match self.flow.transport {
            Transport::Udp => Protocol::Udp,
            Transport::Tcp(_) => Protocol::Tcp,
            Transport::Dccp(_) | Transport::Rtp(_) => return None,
        };
        let from = self.stops[hop];
        let Endpoint { node, port } = to;
        let is_between = hosts[from as usize].is_real() || hosts[node.0 as usize].is_real();
        is_between.then_some(Listener { flow: self.id, from: NodeId(from), to: node, protocol, port })
    }
}

/// Buffers of a connection: with a window twice that, so that the window alone limits what is in flight; without one the
/// socket's.
fn connection_config(tcp: &Tcp, socket_buffer: u32) -> tcp::Config {
    let buffer = match tcp.window {
        Some(segments) => segments.saturating_mul(tcp.segment).saturating_mul(2),
        None => socket_buffer,
    };
    tcp::Config {
        segment: tcp.segment,
        send_buffer: buffer,
        receive_buffer: buffer,
        window: tcp.window,
        initial_window: tcp.initial_window,
        min_rto: tcp.min_rto,
        delayed_ack: tcp.delayed_ack,
        variant: tcp.variant,
        timestamps: tcp.timestamps,
        ecn: tcp.ecn,
        elfn: tcp.elfn.then(tcp::Elfn::default),
        ..tcp::Config::default()
    }
}

/// The packet size that the congestion control begins with is that of the application, payload ID of FEC included. Who blocks waits
/// with Linux's queue of five packets; who does not needs one that takes a whole picture, the socket's buffer.
fn dccp_config(dccp: &Dccp, application: &dyn Application, is_protected: bool, socket_buffer: u32) -> dccp::Config {
    let default = dccp::Config::default();
    let largest = application.largest_write() + if is_protected { FEC_SOURCE_TRAILER } else { 0 };
    let mut congestion = dccp.congestion;
    congestion.tfrc_mut().segment = largest;
    let queue = match application.is_blocking() {
        true => default.queue,
        false => default.queue.max((socket_buffer / largest.max(1)) as usize),
    };
    dccp::Config { congestion, queue, sequence_window: SEQUENCE_WINDOW, ..default }
}

/// One end of a session with sources and numbers of these random bits. An application without an encoder may produce anything: from the least
/// rate of RFC 8867 (section 4.1) to 100 Mb/s, in a packet each 20 ms.
fn rtp_options(rtp: &Rtp, application: &dyn Application, random: u64, reports: Stream) -> RtpOptions {
    let encoder = application.encoder();
    let encoder = encoder.unwrap_or(Encoder { min_rate: 150e3, max_rate: 100e6, frame_rate: 50.0 });
    let schedule = match &rtp.congestion {
        MediaCongestion::BuiltIn(media::Congestion::Gcc) => rtp::Schedule::Share,
        MediaCongestion::BuiltIn(media::Congestion::Scream | media::Congestion::Tfrc | media::Congestion::Adtfrc) => {
            rtp::Schedule::Frames
        }
        MediaCongestion::BuiltIn(media::Congestion::Nada | media::Congestion::None) | MediaCongestion::Custom(_) => {
            rtp::Config::default().schedule
        }
    };
    let headers = IPV4_HEADER + UDP_HEADER + rtp.feedback.header_len();
    RtpOptions {
        config: rtp::Config {
            source: random as u32,
            first_sequence: (random >> 32) as u16,
            format: rtp.feedback,
            schedule,
            retransmission: rtp.retransmission,
        },
        congestion: rtp.congestion.clone(),
        source: media::Source {
            min_rate: encoder.min_rate as u64,
            max_rate: encoder.max_rate as u64,
            frame_period: Duration::from_secs_f64(1.0 / encoder.frame_rate),
            headers,
            is_markable: rtp.ecn,
            packet: headers + application.largest_write(),
            weight: rtp.weight,
        },
        reports,
    }
}

/// Window of sequence numbers in packets: five times those of a round trip (RFC 4340, section 7.5.2) on any path of a
/// scenario. It takes no memory, and a simulated network has no attackers that guess numbers.
const SEQUENCE_WINDOW: u64 = 1 << 20;

/// What writes a flow.
pub(super) fn application(flow: &Flow, id: FlowId, seed: u64) -> Box<dyn Application> {
    let random = Stream::new(seed, Purpose::Application, u64::from(id.0), u64::from(flow.from.0));
    (flow.application.make)(FlowContext { name: &flow.name, start: flow.start, random })
}
