//! Conventions of both ends of a stream, which they do not negotiate.

use hopcast_protocols::time::Duration;
use hopcast_protocols::transport::adtfrc;
use hopcast_protocols::transport::dccp::{CloseReason, Config, Congestion, ResetCode};
use hopcast_protocols::transport::tfrc;
use hopcast_wire::mpegts;
use hopcast_wire::rtp;

/// The UDP port that carries DCCP unless another is named (RFC 6773, 3.8).
pub(crate) const UDP_PORT: u16 = 6511;
/// The DCCP port of the receiver, within the UDP port: that of RTP (RFC 5762, 5.1).
pub(crate) const DCCP_PORT: u16 = 5004;
/// The service code of RTP with forward error correction: RTP packets with a source payload ID behind them, and repair
/// packets of RTP (RFC 6363, 5.3 and 5.4.1; RFC 6865). Codes that begin with `?` are for private use (RFC 4340, 8.1.2).
pub(crate) const SERVICE_CODE_FEC: u32 = u32::from_be_bytes(*b"?FEC");
/// The RTP payload type of repair packets, dynamic (RFC 3551, 6).
pub(crate) const REPAIR_TYPE: u8 = 127;
/// The RTP payload type of MPEG transport streams (RFC 3551, 5.7; RFC 2250).
pub(crate) const TRANSPORT_STREAM_TYPE: u8 = 33;
/// MPEG-TS packets in an RTP packet: as many as an Ethernet frame carries.
pub(crate) const TRANSPORT_PACKETS: usize = 7;
/// Length of the RTP packets of a transport stream, in bytes.
pub const TRANSPORT_LEN: usize = rtp::HEADER_LEN + TRANSPORT_PACKETS * mpegts::PACKET_LEN;
/// The longest RTP packet that is carried, in bytes: what leaves room for the headers of DCCP, FEC and key in a UDP datagram
/// of 65507.
pub(crate) const MAX_PACKET: usize = 64_000;
/// Five times the packets of a round trip (RFC 4340, 7.5.2), for 1 Gb/s in packets of [`TRANSPORT_LEN`] over 20 ms.
const SEQUENCE_WINDOW: u64 = 10_000;
/// How late a process may be woken on a busy host: the tick of the usual Unix clock (RFC 5348, 8.3), which also is a time slice of
/// Linux's schedulers within a factor of three.
const GRANULARITY: Duration = Duration::from_millis(10);
/// Packets that a connection holds: what a host that wakes up 1 ms late makes up for at 1 Gb/s, in half.
pub(super) const QUEUE: usize = 64;

/// Protocol of the media.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Variant {
    /// DCCP at the rate of ADTFRC, made for wireless ad hoc networks.
    #[default]
    Adtfrc,
    /// DCCP at the rate of TFRC (RFC 5348).
    Tfrc,
    /// RTP in UDP, at the rate of the media.
    Udp,
    /// RTP and RTCP in UDP, at the rate of a congestion control of media.
    Rtp,
}

impl Variant {
    /// The congestion control of its connections; none without connections.
    pub(super) fn congestion(self) -> Option<Congestion> {
        let live = |config| tfrc::Config { segment: TRANSPORT_LEN as u32, granularity: GRANULARITY, ..config };
        match self {
            Self::Adtfrc => {
                let config = adtfrc::Config::default();
                Some(Congestion::Adtfrc(adtfrc::Config { tfrc: live(config.tfrc), ..config }))
            }
            Self::Tfrc => Some(Congestion::Tfrc(live(tfrc::Config::default()))),
            Self::Udp | Self::Rtp => None,
        }
    }

    /// Whether media goes over connections of DCCP.
    pub(super) fn has_connections(self) -> bool {
        matches!(self, Self::Adtfrc | Self::Tfrc)
    }

    /// Its name, as options have it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Adtfrc => "adtfrc",
            Self::Tfrc => "tfrc",
            Self::Udp => "udp",
            Self::Rtp => "rtp",
        }
    }

    /// The variant of this name.
    pub fn named(name: &str) -> Option<Self> {
        <Self as clap::ValueEnum>::from_str(name, false).ok()
    }
}

/// The parameters of a connection.
pub(super) fn connection(congestion: Congestion, service_code: u32, ports: [u16; 2]) -> Config {
    let [local_port, remote_port] = ports;
    Config {
        local_port,
        remote_port,
        service_code,
        congestion,
        queue: QUEUE,
        sequence_window: SEQUENCE_WINDOW,
        // Nobody waits for a port: each connection of a sender has one of its own, drawn anew.
        time_wait: Duration::ZERO,
    }
}

/// The service codes that a receiver serves: RTP of any kind, and RTP with forward error correction.
pub(super) fn is_served(service_code: u32) -> bool {
    use rtp::service_code::{AUDIO, OTHER, TEXT, VIDEO};
    [AUDIO, OTHER, TEXT, VIDEO, SERVICE_CODE_FEC].contains(&service_code)
}

/// Why a connection ended, as words that follow a colon.
pub fn describe(reason: CloseReason) -> String {
    match reason {
        CloseReason::Aborted => "given up".into(),
        CloseReason::Finished => "closed by both ends".into(),
        CloseReason::Reset(ResetCode::NoConnection) => "the other end does not know it any more".into(),
        CloseReason::Reset(ResetCode::TooBusy) => "the receiver serves another sender".into(),
        CloseReason::Reset(ResetCode::BadServiceCode) => "the receiver does not serve RTP".into(),
        CloseReason::Reset(code) => format!("reset by the other end ({code:?})"),
        CloseReason::Refused(code) => format!("the other end makes no sense ({code:?})"),
        CloseReason::TimedOut => "the other end does not answer".into(),
    }
}
