//! A valid scenario: every value in force, in plain units, for the rest of the simulator.

use std::collections::BTreeMap;
use std::sync::Arc;

use hopcast_protocols::application::{self, JitterBufferConfig, PlayerConfig};
use hopcast_protocols::arp;
use hopcast_protocols::fec;
use hopcast_protocols::random::{Purpose, Stream};
use hopcast_protocols::streaming::device::{self, Blocks};
use hopcast_protocols::streaming::variable_rate::Index;
use hopcast_protocols::streaming::{cache, placement};
use hopcast_protocols::time::{Duration, Instant};
use hopcast_protocols::transport::{dccp, rtp, tcp};
use hopcast_radio::errors;
use hopcast_radio::fading::Distribution;
use hopcast_radio::mac::edca::{Edition, UserPriority};
use hopcast_radio::mac::{self, Protection, control_response_rate};
use hopcast_radio::obstacles::{Interior, Passages, Wall};
use hopcast_radio::phy::{Band, Capability, FrameCode, ModulationClasses, Phy, Shape, Standard, TxVector};
use hopcast_radio::propagation::Range;
use hopcast_radio::rate::{Algorithm, Candidate};
use hopcast_radio::reception::Mode;
use hopcast_radio::units::Decibel;

use crate::host::card::CardConfig;
use crate::id::NodeId;
use crate::mobility::{Moving, Placement};
use crate::registry::{CustomCongestionControl, FlowContext, MakeApplication, MakeRouting, MediaCongestion};

/// One simulation: what to run, and for how long.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Title, for people.
    pub name: String,
    /// Simulated time of the run.
    pub duration: Duration,
    /// Seed of all random numbers.
    pub seed: u64,
    /// The radio of every node.
    pub radio: Radio,
    /// Largest IP datagram on the radio, in bytes; `None` under profile `ns-2`, which never fragments.
    pub mtu: Option<u32>,
    /// Groups in the order of the file. A node's [`NodeId`] is its index in the concatenation of all groups.
    pub groups: Vec<Group>,
    /// Wired links in the order of the file.
    pub links: Vec<WiredLink>,
    /// Flows in the order of the file.
    pub flows: Vec<Flow>,
    /// Devices that store clips and stream them to each other.
    pub cloud: Option<Cloud>,
    /// Settings for real hosts.
    pub emulation: Emulation,
    /// Hexadecimal SHA-256 of the scenario with all overrides except the seed, in a canonical spelling.
    pub sha256: String,
}

/// Devices that store clips and stream them to each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Cloud {
    /// The devices, in the order of nodes.
    pub devices: Vec<NodeId>,
    /// Parameters of all of them.
    pub config: device::Config,
    /// Those that keep what they display.
    pub caches: BTreeMap<NodeId, cache::Config>,
    /// Rule by which clips are placed on the devices; `None`: each clip says where it is.
    pub placement: Option<placement::Policy>,
    /// The clips.
    pub clips: Vec<Clip>,
    /// What users ask for.
    pub requests: Vec<Requests>,
    /// Programs that are killed, in the order of time.
    pub failures: Vec<Failure>,
    /// Rates that devices tell of their links, divided by those that they measure, of devices that lie.
    pub lies: BTreeMap<NodeId, f64>,
}

/// A device whose program is killed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The device.
    pub device: NodeId,
    /// When.
    pub at: Instant,
    /// When it starts again; `None`: never.
    pub until: Option<Instant>,
}

/// A clip.
#[derive(Clone, Debug, PartialEq)]
pub struct Clip {
    /// Its name.
    pub name: String,
    /// Rate in b/s; the mean if it varies.
    pub rate: u32,
    /// How its rate varies; `None`: it is constant.
    pub index: Option<Arc<Index>>,
    /// Lower rates in which it is stored as well, the lowest first.
    pub lower_rates: Vec<u32>,
    /// Playing time.
    pub length: Duration,
    /// In which blocks it is stored; `None`: as a whole.
    pub blocks: Option<Blocks>,
    /// The devices that store it, if no rule places it.
    pub at: Vec<NodeId>,
    /// Exponent of Zipf's law in its group.
    pub popularity: f64,
    /// Share of the requests for its group that ask for it.
    pub share: f64,
}

/// Requests of users.
#[derive(Clone, Debug, PartialEq)]
pub struct Requests {
    /// The devices, each of which asks independently.
    pub from: Vec<NodeId>,
    /// The clips of which each request draws one.
    pub clips: core::ops::Range<usize>,
    /// The request, or the time from which requests arrive.
    pub start: Instant,
    /// Mean time between two requests of a device; `None`: there is one request.
    pub every: Option<Duration>,
    /// Time from which none arrives; `None`: the end of the run.
    pub stop: Option<Instant>,
    /// Time for which a display waits for a device that has the clip, and for a path that admits the stream.
    pub patience: Duration,
}

/// Settings for real hosts in real time.
#[derive(Clone, Debug, PartialEq)]
pub struct Emulation {
    /// Largest delay at which 99 of 100 frames may leave for their real hosts.
    pub lag_limit: Duration,
    /// Programs that hopcast starts at real nodes.
    pub programs: Vec<Program>,
}

/// A program that hopcast starts at a real node.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// The node.
    pub node: NodeId,
    /// Command line for the shell.
    pub command: String,
    /// Time of its start.
    pub start: Instant,
}

/// The radio and its medium access.
#[derive(Clone, Debug)]
pub struct Radio {
    /// Physical layer.
    pub standard: Standard,
    /// Whether HR/DSSS frames have the short preamble (72 bits) instead of the long one.
    pub short_preamble: bool,
    /// Centre of the channel in hertz; the carrier frequency of the propagation may differ.
    pub channel: f64,
    /// Centre of its primary channel in hertz.
    pub primary: f64,
    /// What the frames of 802.11n and later have in common.
    pub shape: Option<Shape>,
    /// TXOP limit of all access categories; `None`: that of each.
    pub txop: Option<Duration>,
    /// Rate of unicast data frames; the highest that rate control may choose.
    pub data_rate: TxVector,
    /// How the rate of each unicast data frame is chosen.
    pub rate_control: Algorithm,
    /// The edition of the access categories' parameters; `None`: DCF.
    pub edca: Option<Edition>,
    /// The same of stations without aggregates among others with them.
    pub legacy_edca: Option<Edition>,
    /// Protection of OFDM frames; the slot is long with it. Over the air both apply while a network asks for protection.
    pub protection: Protection,
    /// How stations find and join their access points; `None`: they belong to an access point from the start.
    pub association: Option<Association>,
    /// Rate of broadcast frames, and the highest rate of RTS, CTS and ACK frames; at most the data rate.
    pub basic_rate: TxVector,
    /// Medium access and the interface queue that all stations share. Rates, protection and EDCA are separate fields,
    /// since they differ between stations, or depend on which stations join. A run adds its seed and what its stations
    /// know of each other.
    pub mac: mac::Config,
    /// Transmit power in dBm.
    pub tx_power: f64,
    /// Level by which a receiver weakens a transmission on another channel; `None`: it receives nothing of it.
    pub adjacent_channel_rejection: Option<f64>,
    /// Path loss.
    pub propagation: Propagation,
    /// Shadowing by what no scenario lists.
    pub shadowing: Option<Shadowing>,
    /// Obstacles that the scenario lists.
    pub obstacles: Obstacles,
    /// Fading over many paths.
    pub fading: Option<Fading>,
    /// Reception of frames.
    pub reception: Reception,
    /// Additional losses.
    pub errors: Errors,
}

impl Radio {
    /// The physical layer of its stations.
    pub fn phy(&self) -> Phy {
        let phy = self.standard.phy(self.short_preamble);
        self.shape.map_or(phy, |shape| phy.with_shape(shape))
    }

    /// What its stations can send and receive, where they give no standard.
    pub fn capability(&self) -> Capability {
        Capability::new(self.standard, self.shape, self.short_preamble)
    }

    /// The edition of the parameters of stations with this capability.
    pub fn edca_of(&self, capability: Capability) -> Option<Edition> {
        if capability.shape().is_some() || !self.standard.has_shape() { self.edca } else { self.legacy_edca }
    }

    /// From one channel to the next that does not overlap it, in hertz.
    pub fn channel_spacing(&self) -> f64 {
        let spacing = self.standard.channels_in(self.shape.map_or(Band::High, |shape| shape.band)).spacing();
        self.shape.map_or(spacing, |shape| spacing.max(shape.width.hertz()))
    }
}

/// Association over the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Association {
    /// Whether stations send probe requests instead of waiting for beacons.
    pub asks: bool,
    /// Time between two beacons, in time units of 1024 µs.
    pub beacon_interval: u16,
}

/// Path loss.
#[derive(Clone, Debug)]
pub enum Propagation {
    /// Reception by distance, without power.
    Range(Range),
    /// Power that falls with distance.
    Path(PathLoss),
}

impl Propagation {
    /// The carrier frequency in hertz, if the model has one.
    pub fn frequency(&self) -> Option<f64> {
        match self {
            Self::Range(_) => None,
            Self::Path(path) => Some(path.frequency),
        }
    }
}

/// A path loss model with its parameters.
#[derive(Clone)]
pub struct PathLoss {
    /// Carrier frequency in hertz.
    pub frequency: f64,
    /// Makes the model for a run.
    pub make: Arc<dyn Fn() -> Box<dyn hopcast_radio::propagation::Propagation> + Send + Sync>,
}

impl core::fmt::Debug for PathLoss {
    /// The name with the parameters of the model.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("PathLoss").field("frequency", &self.frequency).field("model", &(self.make)()).finish()
    }
}

/// Shadowing: a normally distributed deviation of power in dB.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shadowing {
    /// Standard deviation in dB.
    pub deviation: f64,
    /// Distance in metres over which the correlation of a link's shadowing falls to 1/e. `None`: a draw for each frame
    /// and receiver.
    pub decorrelation: Option<f64>,
}

/// Obstacles between nodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Obstacles {
    /// Those that stand still.
    pub walls: Vec<Wall>,
    /// What is between those of buildings.
    pub interiors: Vec<Interior>,
    /// Those that pass through links.
    pub blockage: Option<Passages>,
    /// Slow changes.
    pub drift: Option<Drift>,
}

/// Slow changes of each link's power in time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    /// Standard deviation in dB.
    pub deviation: f64,
    /// Time in seconds over which the correlation falls to 1/e.
    pub decorrelation: f64,
}

/// Fading over many paths.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fading {
    /// Distribution of the power.
    pub distribution: Distribution,
    /// Largest Doppler frequency in hertz; `None`: a draw for each frame and receiver.
    pub doppler: Option<f64>,
}

/// Reception of frames.
#[derive(Clone, Debug, PartialEq)]
pub struct Reception {
    /// Least power to decode a frame, in dBm; `None`: the standard's minimum sensitivity for the frame's rate. Not used
    /// with [`Propagation::Range`] and [`Rules::Sinr`].
    pub receive_threshold: Option<f64>,
    /// Least power that makes the medium busy, in dBm.
    pub carrier_sense_threshold: f64,
    /// Level in dB by which a frame must exceed overlapping frames to survive; under [`Rules::Sinr`], to replace the
    /// frame that a receiver is receiving.
    pub capture: f64,
    /// Level by which a receiver raises thermal noise, in dB. Used under [`Rules::Sinr`].
    pub noise_figure: f64,
    /// Ratio of signal to noise and interference at which a receiver detects a preamble, in dB; `None`: by the frame's
    /// modulation ([`hopcast_radio::reception::default_detection`]). Used under [`Rules::Sinr`].
    pub preamble_detection: Option<f64>,
    /// Power in dBm below which a node ignores a transmission.
    pub interference_floor: f64,
    /// Rules for overlapping frames, and for what a receiver does after them.
    pub rules: Rules,
}

impl Reception {
    /// How frames at these rates are received, and their answers, at the basic rate `basic` of stations with `phy`: ascending, for
    /// [`Algorithm::Ideal`].
    pub fn candidates(&self, rates: &[TxVector], phy: &Phy, basic: TxVector) -> Arc<[Candidate]> {
        let detection = self.preamble_detection.map(Decibel);
        let mode = |vector| Mode::new(vector, self.noise_figure, detection);
        let mut rates = rates.to_vec();
        rates.sort_by_key(|rate| rate.data_rate());
        rates.dedup();
        let candidate = |&rate: &TxVector| {
            let answer = control_response_rate(phy, basic, rate);
            Candidate { data: mode(rate), answer: mode(answer) }
        };
        rates.iter().map(candidate).collect()
    }
}

/// Rules of reception.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// The sum of all interference counts, and a frame that is stronger by `capture` is received even if it comes later.
    Cumulative,
    /// ns-2: the first frame wins, each other transmission counts separately, and frames that are sensed but not decoded
    /// also cause EIFS.
    PairwiseFirstCome,
    /// Ratio of signal to noise and the sum of all interference, bit by bit.
    Sinr,
}

/// Losses in addition to those of reception.
#[derive(Clone, Debug)]
pub enum Errors {
    /// No additional losses.
    None,
    /// Independent losses.
    Packet {
        /// Times, and the share that is lost from each time on.
        steps: Vec<(Instant, f64)>,
        /// What is lost.
        level: LossLevel,
    },
    /// Losses with the probability that a model gives.
    Model(ErrorModel),
}

impl Errors {
    /// Error correction of frames, and the bytes that it adds.
    pub fn code(&self) -> Option<FrameCode> {
        match self {
            Self::Model(model) => model.code,
            Self::None | Self::Packet { .. } => None,
        }
    }
}

/// A model of the probability of loss, with its parameters.
#[derive(Clone)]
pub struct ErrorModel {
    /// Error correction of frames, and the bytes that it adds.
    pub code: Option<FrameCode>,
    /// Makes the model for a run from the run's seed.
    pub make: Arc<dyn Fn(u64) -> Box<dyn errors::ErrorModel> + Send + Sync>,
}

impl core::fmt::Debug for ErrorModel {
    /// The name with the parameters of the model.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("ErrorModel").field("code", &self.code).field("model", &(self.make)(0)).finish()
    }
}

/// What an error model loses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossLevel {
    /// Frames; the MAC does not acknowledge them.
    Frame,
    /// Packets that the MAC has acknowledged and delivers.
    Network,
}

/// Nodes of one kind.
#[derive(Clone, Debug)]
pub struct Group {
    /// Name as in the file.
    pub name: String,
    /// Names of the nodes: the group's name, or numbered names.
    pub node_names: Vec<String>,
    /// Kind of the nodes.
    pub role: Role,
    /// Whether the nodes, of role wired, are hubs.
    pub is_hub: bool,
    /// Their radios: at least one, or none at wired nodes.
    pub radios: Vec<NodeRadio>,
    /// What everything passes that a node sends, and what it receives; `None`: nothing.
    pub access: Option<[crate::wired::Config; 2]>,
    /// Network card between a host and its radios; `None`: copying takes no time.
    pub card: Option<CardConfig>,
    /// Positions at the start, unless the mobility model sets them.
    pub placement: Placement,
    /// Movement; `None`: the nodes keep their positions.
    pub mobility: Option<Moving>,
    /// Routing.
    pub routing: Routing,
    /// Largest number of packets of a node that wait for a route.
    pub route_queue: u32,
    /// Address resolution; `None`: nodes know the hardware addresses of their neighbours' radios.
    pub arp: Option<arp::Config>,
    /// What forwards packets that are for other nodes.
    pub relay: Relay,
    /// Send and receive buffer of each UDP socket, and each direction of a TCP connection without `window`, in bytes.
    pub socket_buffer: u32,
    /// A blocking write of a longer UDP datagram, in bytes of payload, returns when the interface is done with the datagram.
    pub hold_threshold: Option<u32>,
    /// Whether real hosts take these nodes' places in an emulation.
    pub is_real: bool,
}

/// Routing of nodes.
#[derive(Clone, Debug)]
pub enum Routing {
    /// None: the programs of a real host find routes.
    None,
    /// Shortest paths, known from the start.
    Static,
    /// Routes by a protocol.
    Protocol(RoutingProtocol),
}

/// A routing protocol with its parameters.
#[derive(Clone)]
pub struct RoutingProtocol {
    /// Name in the scenario.
    pub name: String,
    /// Makes the state machine of a node.
    pub make: MakeRouting,
}

impl core::fmt::Debug for RoutingProtocol {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("RoutingProtocol").field("name", &self.name).finish_non_exhaustive()
    }
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A wireless node without infrastructure.
    AdHoc,
    /// A wireless node that stations talk to.
    AccessPoint,
    /// A wireless node that talks to its access point only.
    Station,
    /// A node without radio.
    Wired,
}

/// A radio of a node, where it may differ from [`Radio`].
#[derive(Clone, Debug, PartialEq)]
pub struct NodeRadio {
    /// Its network: radios of one network on one channel are neighbours.
    pub network: u32,
    /// The name of the network on the air.
    pub ssid: Arc<str>,
    /// What it can send and receive.
    pub capability: Capability,
    /// Centre of its channel in hertz.
    pub frequency: f64,
    /// What radios on one channel have in common: the centre of the channel, or of the primary channel where the stations of a
    /// scenario have several standards.
    pub channel: f64,
    /// Centre of its primary channel in hertz.
    pub primary: f64,
    /// Rate of unicast data frames; the highest that rate control may choose.
    pub data_rate: TxVector,
    /// How the rate of each unicast data frame is chosen.
    pub rate_control: Algorithm,
    /// Rate of broadcast frames, and the highest one of RTS, CTS and ACK; not above that of data.
    pub basic_rate: TxVector,
    /// Transmit power in dBm.
    pub tx_power: f64,
}

impl NodeRadio {
    /// The physical layer that the radio understands in a network of `phy`. In an 802.11g network, a radio that sends all
    /// its frames at rates of 802.11b is a station of 802.11b.
    pub fn understands(&self, phy: &Phy) -> ModulationClasses {
        if self.capability.standard() != phy.standard() {
            return ModulationClasses::up_to(self.capability.class());
        }
        let class = self.data_rate.modulation_class().max(self.basic_rate.modulation_class());
        let is_older = class < phy.fastest().modulation_class();
        if is_older { ModulationClasses::up_to(class) } else { ModulationClasses::ALL }
    }
}

/// A wire between two nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct WiredLink {
    /// The two nodes.
    pub between: [NodeId; 2],
    /// Properties of the direction from the first node to the second, and of the direction back.
    pub configs: [crate::wired::Config; 2],
    /// Largest IP datagram, in bytes; `None` under profile `ns-2`, which never fragments.
    pub mtu: Option<u32>,
    /// The medium that both ends share, or all ends of the links of a hub; `None`: each direction has its own.
    pub half_duplex: Option<HalfDuplex>,
}

/// The cable of a half-duplex link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HalfDuplex {
    /// Bits per second, framing included.
    pub rate: f64,
    /// Time from end to end.
    pub delay: Duration,
}

/// What forwards packets that are for other nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relay {
    /// IP forwarding.
    Os,
    /// A program with a socket on either side: it receives an ADU, then sends it with a blocking call.
    Application,
}

/// One stream of data.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Name as in the file.
    pub name: String,
    /// Source.
    pub from: NodeId,
    /// Sink.
    pub to: NodeId,
    /// Nodes that the flow passes through in this order, on the shortest paths between them; neither repeated nor an end
    /// of the flow.
    pub via: Vec<NodeId>,
    /// Port of its transport at the sink; `None`: a dynamic one.
    pub port: Option<u16>,
    /// User priority of its packets.
    pub priority: UserPriority,
    /// Start of the application.
    pub start: Instant,
    /// Stop of the application; `None`: it runs to the end.
    pub stop: Option<Instant>,
    /// Transport protocol.
    pub transport: Transport,
    /// The application.
    pub application: Application,
    /// Forward error correction.
    pub fec: Option<fec::Config>,
    /// Media player at the sink.
    pub player: Option<Player>,
    /// Index of the flow of whose arrivals hopcast tells this flow's application. That flow ends where this one starts.
    pub listens_to: Option<usize>,
}

impl Flow {
    /// The nodes that the flow names, from its source to its sink.
    pub fn stops(&self) -> impl Iterator<Item = NodeId> + '_ {
        [self.from].into_iter().chain(self.via.iter().copied()).chain([self.to])
    }
}

/// Media player at the sink of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Player {
    /// One that waits for media when its buffer is empty.
    Waiting(PlayerConfig),
    /// One with a jitter buffer, which waits for nothing.
    Live(JitterBufferConfig),
}

/// Transport protocol of a flow.
#[derive(Clone, Debug, PartialEq)]
pub enum Transport {
    /// UDP (RFC 768).
    Udp,
    /// TCP (RFC 9293).
    Tcp(Tcp),
    /// DCCP (RFC 4340).
    Dccp(Dccp),
    /// RTP (RFC 3550) over UDP.
    Rtp(Rtp),
}

impl Transport {
    /// What it is called, without what else decides about it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Udp | Self::Rtp(_) => "UDP",
            Self::Tcp(_) => "TCP",
            Self::Dccp(_) => "DCCP",
        }
    }

    /// Whether the sink answers, so that a flow needs a way back.
    pub(crate) fn is_two_way(&self) -> bool {
        *self != Self::Udp
    }
}

/// Parameters of a flow over DCCP.
#[derive(Clone, Debug, PartialEq)]
pub struct Dccp {
    /// The congestion control; the packet size in it is that of a full packet.
    pub congestion: dccp::Congestion,
}

/// Parameters of a flow over RTP.
#[derive(Clone, Debug, PartialEq)]
pub struct Rtp {
    /// The congestion control.
    pub congestion: MediaCongestion,
    /// How the receiver reports.
    pub feedback: rtp::Format,
    /// Whether packets can be marked.
    pub ecn: bool,
    /// How the flow's share of a bottleneck compares with that of others.
    pub weight: f64,
    /// For how long after it was sent a packet is sent again if the receiver asks for it; `None`: packets are sent once.
    pub retransmission: Option<Duration>,
}

impl Rtp {
    /// The most bytes in front of the media of a packet, from the RTP header on.
    pub const fn largest_header(&self) -> u32 {
        let original = if self.retransmission.is_some() { rtp::ORIGINAL_SEQUENCE_LEN } else { 0 };
        self.feedback.header_len() + original
    }
}

/// Parameters of a TCP flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Tcp {
    /// Payload of a full segment in bytes.
    pub segment: u32,
    /// Largest amount in flight, in segments; `None`: the socket buffers decide.
    pub window: Option<u32>,
    /// Initial congestion window in segments; `None`: RFC 5681, section 3.1.
    pub initial_window: Option<u32>,
    /// Minimum retransmission timeout.
    pub min_rto: Duration,
    /// Longest time that the receiver delays an acknowledgement; `None`: it does not delay.
    pub delayed_ack: Option<Duration>,
    /// Loss recovery, and the congestion control.
    pub variant: tcp::Variant,
    /// A custom congestion control that replaces it.
    pub congestion: Option<CustomCongestionControl>,
    /// Whether segments carry timestamps.
    pub timestamps: bool,
    /// Whether both ends ask for explicit congestion notification.
    pub ecn: bool,
    /// Whether the sender's routing protocol reports broken routes.
    pub elfn: bool,
    /// After which time a segment that is still on its way is dropped; `None`: never.
    pub deadline: Option<Duration>,
}

/// The application of a flow.
#[derive(Clone)]
pub struct Application {
    /// Makes the application.
    pub make: MakeApplication,
    /// Whether a blocking write to a stream waits until all of it fits; if not, it continues segment by segment.
    pub writes_whole: bool,
}

impl Application {
    /// An application that `make` creates from the start of a flow and a stream of random numbers.
    pub fn new<A: application::Application + 'static>(
        make: impl Fn(Instant, Stream) -> A + Send + Sync + 'static,
    ) -> Self {
        Self::from(Arc::new(move |flow: FlowContext<'_>| -> Box<dyn application::Application> {
            Box::new(make(flow.start, flow.random))
        }) as MakeApplication)
    }

    /// The same, with blocking writes to a stream that wait until all of them fits.
    #[must_use]
    pub(crate) fn with_whole_writes(self) -> Self {
        Self { writes_whole: true, ..self }
    }

    /// An application for inspection, which no run uses.
    pub(crate) fn specimen(&self) -> Box<dyn application::Application> {
        let random = Stream::new(0, Purpose::Application, 0, 0);
        (self.make)(FlowContext { name: "", start: Instant::START, random })
    }
}

impl From<MakeApplication> for Application {
    fn from(make: MakeApplication) -> Self {
        Self { make, writes_whole: false }
    }
}

impl core::fmt::Debug for Application {
    /// The application that a flow from the start of the run gets, with the parameters.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("Application").field(&self.specimen()).finish()
    }
}
