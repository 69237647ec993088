//! A scenario after validation: every value in force, in plain units. What the rest of the simulator reads.

use std::sync::Arc;

use hopcast_protocols::application::{self, PlayerConfig};
use hopcast_protocols::arp;
use hopcast_protocols::fec;
use hopcast_protocols::random::{Purpose, Stream};
use hopcast_protocols::time::{Duration, Instant};
use hopcast_protocols::transport::{dccp, tcp};
use hopcast_radio::errors;
use hopcast_radio::fading::Distribution;
use hopcast_radio::mac::edca::{Edition, UserPriority};
use hopcast_radio::mac::{self, Protection};
use hopcast_radio::phy::{ModulationClasses, Phy, ReedSolomon, Standard, TxVector};
use hopcast_radio::propagation::Range;
use hopcast_radio::rate::Algorithm;

use crate::host::card::CardConfig;
use crate::id::NodeId;
use crate::mobility::{Moving, Placement};
use crate::registry::{CustomCongestionControl, FlowContext, MakeApplication, MakeRouting};

/// One simulation: what to run, for how long.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// For people.
    pub name: String,
    /// Simulated time of the run.
    pub duration: Duration,
    /// Seed of every draw.
    pub seed: u64,
    /// The radio of every node.
    pub radio: Radio,
    /// Largest IP datagram on the radio, in bytes; `None` under profile `ns-2`, which never fragments.
    pub mtu: Option<u32>,
    /// Groups in the order of the file; a node's [`NodeId`] is its place in the concatenation.
    pub groups: Vec<Group>,
    /// Wired links in the order of the file.
    pub links: Vec<WiredLink>,
    /// Flows in the order of the file.
    pub flows: Vec<Flow>,
    /// What holds where real hosts take part.
    pub emulation: Emulation,
    /// Hexadecimal SHA-256 of the scenario with all overrides but the seed applied, in a canonical spelling.
    pub sha256: String,
}

/// Real hosts in real time.
#[derive(Clone, Debug, PartialEq)]
pub struct Emulation {
    /// 99 of 100 frames must leave at most so long after their instants.
    pub lag_limit: Duration,
    /// What runs at real nodes.
    pub programs: Vec<Program>,
}

/// A program at a real node.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// Where.
    pub node: NodeId,
    /// What the shell is told.
    pub command: String,
    /// When it starts.
    pub start: Instant,
}

/// The radio and its medium access.
#[derive(Clone, Debug)]
pub struct Radio {
    /// Physical layer.
    pub standard: Standard,
    /// HR/DSSS short preamble (72 bits) instead of the long one.
    pub short_preamble: bool,
    /// Centre of the channel in hertz; the carrier of the propagation may be another.
    pub channel: f64,
    /// Rate of unicast data frames; the highest that rate control may choose.
    pub data_rate: TxVector,
    /// How the rate of each unicast data frame is chosen.
    pub rate_control: Algorithm,
    /// The access categories' parameters; `None`: DCF.
    pub edca: Option<Edition>,
    /// What goes before OFDM frames; if anything, the slot is long. Over the air both hold while a network asks for it.
    pub protection: Protection,
    /// How stations find and join their access points; `None`: they belong to them from the start.
    pub association: Option<Association>,
    /// Rate of broadcast frames, and the highest one of RTS, CTS and ACK; not above that of data.
    pub basic_rate: TxVector,
    /// Medium access and the interface queue, as every station has them. Rates, protection and EDCA are above, since they differ between
    /// stations, or follow from who joins; a run adds its seed and what its stations know of each other.
    pub mac: mac::Config,
    /// Transmit power in dBm.
    pub tx_power: f64,
    /// What is lost of a transmission on another channel; `None`: everything.
    pub adjacent_channel_rejection: Option<f64>,
    /// How power falls with distance.
    pub propagation: Propagation,
    /// What obstacles do to it.
    pub shadowing: Option<Shadowing>,
    /// What many paths do to it.
    pub fading: Option<Fading>,
    /// When a frame is received.
    pub reception: Reception,
    /// Losses beside.
    pub errors: Errors,
}

impl Radio {
    /// The physical layer of its stations.
    pub fn phy(&self) -> Phy {
        self.standard.phy(self.short_preamble)
    }
}

/// Association over the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Association {
    /// Stations ask for access points instead of waiting for beacons.
    pub asks: bool,
    /// Between two beacons, in time units of 1024 µs.
    pub beacon_interval: u16,
}

/// How power falls with distance.
#[derive(Clone, Debug)]
pub enum Propagation {
    /// No power: frames are heard up to a distance.
    Range(Range),
    /// Power falls with distance.
    Path(PathLoss),
}

impl Propagation {
    /// The carrier frequency in hertz, where it has a meaning.
    pub fn frequency(&self) -> Option<f64> {
        match self {
            Self::Range(_) => None,
            Self::Path(path) => Some(path.frequency),
        }
    }
}

/// A model of how power falls with distance, with its parameters.
#[derive(Clone)]
pub struct PathLoss {
    /// Carrier frequency in hertz.
    pub frequency: f64,
    /// Makes the model of a run.
    pub make: Arc<dyn Fn() -> Box<dyn hopcast_radio::propagation::Propagation> + Send + Sync>,
}

impl core::fmt::Debug for PathLoss {
    /// With the parameters of the model.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("PathLoss").field("frequency", &self.frequency).field("model", &(self.make)()).finish()
    }
}

/// Shadowing: powers that differ from the mean by a normal deviate in dB.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shadowing {
    /// Standard deviation in dB.
    pub deviation: f64,
    /// In metres: over so far the correlation of a link's shadowing falls to 1/e. `None`: a draw for each frame and receiver.
    pub decorrelation: Option<f64>,
}

/// Fading over many paths.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fading {
    /// Of the power.
    pub distribution: Distribution,
    /// Largest Doppler frequency in hertz; `None`: a draw for each frame and receiver.
    pub doppler: Option<f64>,
}

/// When a frame is received.
#[derive(Clone, Debug, PartialEq)]
pub struct Reception {
    /// Least power to decode a frame, in dBm; `None`: the standard's minimum sensitivity for the frame's rate.
    /// Not used with [`Propagation::Range`] and [`Rules::Sinr`].
    pub receive_threshold: Option<f64>,
    /// Least power that makes the medium busy, in dBm.
    pub carrier_sense_threshold: f64,
    /// How much stronger than what overlaps it a frame must be to survive, in dB; under [`Rules::Sinr`], to be received
    /// in place of another.
    pub capture: f64,
    /// What a receiver adds to thermal noise, in dB. Used under [`Rules::Sinr`].
    pub noise_figure: f64,
    /// Signal over noise and interference at which a preamble is found, in dB; `None`: by the frame's modulation
    /// ([`hopcast_radio::reception::default_detection`]). Used under [`Rules::Sinr`].
    pub preamble_detection: Option<f64>,
    /// Power below which a transmission is not delivered to a node at all, in dBm.
    pub interference_floor: f64,
    /// What overlaps, and what a receiver does afterwards.
    pub rules: Rules,
}

/// Whose rules of reception.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// The sum of all interference counts, and a frame that is stronger by `capture` is received whenever it came.
    Cumulative,
    /// ns-2: first come, each other transmission by itself; sensed but undecodable frames cause EIFS too.
    PairwiseFirstCome,
    /// Signal over noise and the sum of all interference, bit by bit.
    Sinr,
}

/// Losses on top of what reception decides.
#[derive(Clone, Debug)]
pub enum Errors {
    /// None.
    None,
    /// Independent losses.
    Packet {
        /// From when on, and which share is lost.
        steps: Vec<(Instant, f64)>,
        /// What is lost.
        level: LossLevel,
    },
    /// As likely as a model says.
    Model(ErrorModel),
}

impl Errors {
    /// What corrects errors in all frames, which are longer by that.
    pub fn code(&self) -> Option<ReedSolomon> {
        match self {
            Self::Model(model) => model.code,
            Self::None | Self::Packet { .. } => None,
        }
    }
}

/// A model of how likely frames are lost, with its parameters.
#[derive(Clone)]
pub struct ErrorModel {
    /// What corrects errors in all frames, which are longer by that.
    pub code: Option<ReedSolomon>,
    /// Makes the model of a run from the run's seed.
    pub make: Arc<dyn Fn(u64) -> Box<dyn errors::ErrorModel> + Send + Sync>,
}

impl core::fmt::Debug for ErrorModel {
    /// With the parameters of the model.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("ErrorModel").field("code", &self.code).field("model", &(self.make)(0)).finish()
    }
}

/// What an error model loses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossLevel {
    /// Frames, below the MAC's acknowledgement.
    Frame,
    /// Packets that the MAC hands up.
    Network,
}

/// Nodes of one kind.
#[derive(Clone, Debug)]
pub struct Group {
    /// Name as in the file.
    pub name: String,
    /// Names of the nodes: the group's own, or numbered.
    pub node_names: Vec<String>,
    /// What they are.
    pub role: Role,
    /// Their radios: at least one, or none at wired nodes.
    pub radios: Vec<NodeRadio>,
    /// What stands between a host and its radios; `None`: nothing that takes time.
    pub card: Option<CardConfig>,
    /// Where they stand at the start, unless their mobility says where they are.
    pub placement: Placement,
    /// How they move; `None`: not at all.
    pub mobility: Option<Moving>,
    /// How they find routes.
    pub routing: Routing,
    /// Packets of a node that may wait for a route.
    pub route_queue: u32,
    /// How they find the hardware addresses of their neighbours' radios; `None`: they know them.
    pub arp: Option<arp::Config>,
    /// Who passes on what is for others.
    pub relay: Relay,
    /// Send and receive buffer of each UDP socket, and each direction of a TCP connection without `window`, in bytes.
    pub socket_buffer: u32,
    /// Whether real hosts stand there in an emulation.
    pub is_real: bool,
}

/// How nodes find routes.
#[derive(Clone, Debug)]
pub enum Routing {
    /// Not at all: the programs of a real host do.
    None,
    /// Shortest paths, known from the start.
    Static,
    /// A protocol finds them.
    Protocol(RoutingProtocol),
}

/// A routing protocol with its parameters.
#[derive(Clone)]
pub struct RoutingProtocol {
    /// As the scenario calls it.
    pub name: String,
    /// Makes the machine of a node.
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
    /// Centre of its channel in hertz.
    pub frequency: f64,
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
    /// What it understands, in a network of `phy`. One that sends all its frames at rates of 802.11b is of 802.11b in an 802.11g
    /// network.
    pub fn understands(&self, phy: &Phy) -> ModulationClasses {
        let class = self.data_rate.modulation_class().max(self.basic_rate.modulation_class());
        let is_older = class < phy.fastest().modulation_class();
        if is_older { ModulationClasses::up_to(class) } else { ModulationClasses::ALL }
    }
}

/// A wire between two nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct WiredLink {
    /// Its ends.
    pub between: [NodeId; 2],
    /// Of either direction.
    pub config: crate::wired::Config,
    /// Largest IP datagram, in bytes; `None` under profile `ns-2`, which never fragments.
    pub mtu: Option<u32>,
}

/// Who passes on what is for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relay {
    /// IP forwarding.
    Os,
    /// A program with a socket on either side: it receives an ADU, then sends it on with a blocking call.
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
    /// Passed through in this order, on the shortest paths between them; no node stands here twice, nor an end.
    pub via: Vec<NodeId>,
    /// User priority of its packets.
    pub priority: UserPriority,
    /// The application starts here.
    pub start: Instant,
    /// The application stops here, or with the run.
    pub stop: Option<Instant>,
    /// How it is carried.
    pub transport: Transport,
    /// What it sends.
    pub application: Application,
    /// How it is protected.
    pub fec: Option<fec::Config>,
    /// What shows it at the sink, if it is media.
    pub player: Option<PlayerConfig>,
    /// The flow, by its place among all, of whose arrivals its application is told. It ends where this one starts.
    pub listens_to: Option<usize>,
}

impl Flow {
    /// The nodes that the flow names, from its source to its sink.
    pub fn stops(&self) -> impl Iterator<Item = NodeId> + '_ {
        [self.from].into_iter().chain(self.via.iter().copied()).chain([self.to])
    }
}

/// How a flow is carried.
#[derive(Clone, Debug, PartialEq)]
pub enum Transport {
    /// RFC 768.
    Udp,
    /// RFC 9293.
    Tcp(Tcp),
    /// DCCP (RFC 4340).
    Dccp(Dccp),
}

impl Transport {
    /// Whether the sink answers, so that a flow needs a way back.
    pub fn is_two_way(&self) -> bool {
        *self != Self::Udp
    }
}

/// Parameters of a flow over DCCP.
#[derive(Clone, Debug, PartialEq)]
pub struct Dccp {
    /// How its rate is found; the size of a packet in it is that of a full one.
    pub congestion: dccp::Congestion,
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
    /// Least retransmission timeout.
    pub min_rto: Duration,
    /// Longest time that an acknowledgement is held back; `None`: never.
    pub delayed_ack: Option<Duration>,
    /// How losses are repaired, and the congestion control.
    pub variant: tcp::Variant,
    /// That congestion control, if a user has added it.
    pub congestion: Option<CustomCongestionControl>,
    /// Whether segments carry timestamps.
    pub timestamps: bool,
    /// Whether the routing protocol of the sender tells of broken routes.
    pub elfn: bool,
}

/// What a flow sends.
#[derive(Clone)]
pub struct Application {
    /// Makes it.
    pub make: MakeApplication,
    /// Whether a blocking write to a stream waits until there is room for all of it; if not, it goes on segment by segment.
    pub writes_whole: bool,
}

impl Application {
    /// The application that `make` makes from the start of a flow and a stream of random numbers for it.
    pub fn new<A: application::Application + 'static>(
        make: impl Fn(Instant, Stream) -> A + Send + Sync + 'static,
    ) -> Self {
        Self::from(Arc::new(move |flow: FlowContext<'_>| -> Box<dyn application::Application> {
            Box::new(make(flow.start, flow.random))
        }) as MakeApplication)
    }

    /// The same, whose blocking writes to a stream wait until there is room for all of them.
    #[must_use]
    pub fn with_whole_writes(self) -> Self {
        Self { writes_whole: true, ..self }
    }

    /// One to look at, which no run uses.
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
    /// As a flow from the start of the run gets it, with the parameters.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("Application").field(&self.specimen()).finish()
    }
}
