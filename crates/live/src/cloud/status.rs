//! Status of a running device: what it knows, what is reserved and refused, and what its users play.

use std::fmt::Write as _;
use std::io;
use std::net::Ipv4Addr;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::SocketAddr;

use hopcast_sim::results::dictionary::described;
use hopcast_wire::cloud::{Offer, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::interfaces::Interface;
use crate::{key, serve};

/// Names of the sockets, in the abstract namespace of unix(7): each network namespace has its own, and they go with their device.
const STATUS_SOCKET: &[u8] = b"hopcast-cloud";
/// See [`STATUS_SOCKET`].
const PLAY_SOCKET: &[u8] = b"hopcast-cloud-play";
/// The longest answer that is read, in bytes: more than that of a device with all the clips and neighbours that it keeps.
const MAX_ANSWER: u64 = 1 << 24;

/// The state of a device.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub(super) struct Status {
    /// Version of hopcast.
    pub(super) version: &'static str,
    /// Address of the device.
    pub(super) address: Ipv4Addr,
    /// Rule of admission: `statistical`, `airtime`, `profile`, `mean`, `hops` or `all`.
    pub(super) admission: &'static str,
    /// Whether messages are sealed with a network key.
    pub(super) sealed: bool,
    /// Public key of this device; `null` without an identity.
    pub(super) identity: Option<String>,
    /// Devices whose messages and media are taken; `null`: all that have the network key.
    #[schemars(extend("x-unit" = "devices"))]
    pub(super) members: Option<usize>,
    /// Time since the start.
    pub(super) uptime_s: f64,
    /// Its interfaces.
    pub(super) interfaces: Vec<Interface>,
    /// Devices that are heard.
    pub(super) neighbours: Vec<Neighbour>,
    /// Clips near by, and those that the device itself stores.
    pub(super) clips: Vec<KnownClip>,
    /// Share of time that is reserved around the device.
    #[schemars(extend("x-unit" = "share of time"))]
    pub(super) reserved_airtime: f64,
    /// Streams that are booked at the device.
    pub(super) bookings: Vec<Booking>,
    /// Streams that the device refused since its start, by reason.
    pub(super) refusals: Refusals,
    /// The last of them.
    pub(super) refused: Vec<Refused>,
    /// What users of the host play, and have played lately.
    pub(super) plays: Vec<PlayRecord>,
    /// Counters since the start.
    pub(super) counters: Counters,
    /// Counters of sealed datagrams since the start; `null` without a key.
    pub(super) seals: Option<key::Counters>,
    /// Senders whose sealed datagrams are known; `null` without a key.
    #[schemars(extend("x-unit" = "senders"))]
    pub(super) senders: Option<usize>,
}

/// A device that is heard.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub(super) struct Neighbour {
    /// Its address.
    pub(super) address: Ipv4Addr,
    /// Name of the interface that leads to it.
    pub(super) interface: String,
    /// Time since its last message.
    pub(super) heard_s: f64,
    /// Whether it hears this device too: streams go over such links only.
    pub(super) mutual: bool,
    /// Mean rate of the link to it while no other host sends; `null` before it was measured.
    #[schemars(extend("x-unit" = "b/s"))]
    pub(super) useful_rate_bps: Option<f64>,
    /// Seconds of which the rate is known. Admission by `statistical` needs ten.
    #[schemars(extend("x-unit" = "samples"))]
    pub(super) samples: usize,
}

/// A clip that can be played.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema, Serialize)]
pub(super) struct KnownClip {
    /// Its name.
    pub(super) name: String,
    /// SHA-256 of its bytes.
    pub(super) digest: String,
    /// Its bytes.
    pub(super) size_bytes: u64,
    /// Its rate.
    #[schemars(extend("x-unit" = "b/s"))]
    pub(super) rate_bps: u64,
    /// Its playing time.
    pub(super) length_s: f64,
    /// Links to the nearest device that stores it; 0 if this one does.
    #[schemars(extend("x-unit" = "links"))]
    pub(super) hops: u8,
    /// Time since a device that stores it said so.
    pub(super) age_s: u8,
}

impl KnownClip {
    pub(super) fn new(offer: &Offer, is_own: bool) -> Self {
        Self {
            name: offer.name.clone(),
            digest: hex(&offer.digest),
            size_bytes: offer.size,
            rate_bps: offer.rate.into(),
            length_s: f64::from(offer.length) / 1e3,
            hops: if is_own { 0 } else { offer.hops },
            age_s: offer.age,
        }
    }
}

/// A stream that is booked at a device.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub(super) struct Booking {
    /// Address of the device that displays it.
    pub(super) display: Ipv4Addr,
    /// Its number there.
    #[schemars(extend("x-unit" = "number"))]
    pub(super) number: u32,
    /// Name of the clip; `null` if this device does not know it.
    pub(super) clip: Option<String>,
    /// Its rate.
    #[schemars(extend("x-unit" = "b/s"))]
    pub(super) rate_bps: u64,
    /// What this device does for it.
    pub(super) role: Role,
    /// Neighbour towards the display; `null` at the display.
    pub(super) towards_display: Option<Ipv4Addr>,
    /// Neighbour towards the source; `null` at the source.
    pub(super) towards_source: Option<Ipv4Addr>,
    /// Links of the path.
    #[schemars(extend("x-unit" = "links"))]
    pub(super) hops: usize,
    /// Whether all devices of the path have agreed.
    pub(super) confirmed: bool,
}

/// What a device does for a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Role {
    /// It displays it.
    Display,
    /// It passes it on.
    Relay,
    /// It sends it.
    Source,
}

/// A stream that a device has refused.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub(super) struct Refused {
    /// Address of the device that asked.
    pub(super) display: Ipv4Addr,
    /// Name of the clip; `null` if this device does not know it.
    pub(super) clip: Option<String>,
    /// Why.
    pub(super) reason: Reason,
    /// Time since then.
    pub(super) ago_s: f64,
}

/// Why a stream was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Reason {
    /// Too little airtime was left around a device.
    Airtime,
    /// The stream would have stalled too often.
    Risk,
    /// Too little was known of a link: fewer than ten seconds of measurements.
    Unknown,
    /// Too many hops of too high a rate.
    Hops,
    /// A link was slower than the clip.
    Rate,
    /// Another reservation came first, or messages were lost.
    Lost,
    /// A device had neither the clip nor the next neighbour.
    Absent,
}

impl From<Refusal> for Reason {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Airtime => Self::Airtime,
            Refusal::Risk => Self::Risk,
            Refusal::Unknown => Self::Unknown,
            Refusal::Hops => Self::Hops,
            Refusal::Rate => Self::Rate,
            Refusal::Lost => Self::Lost,
            Refusal::Absent => Self::Absent,
        }
    }
}

impl Reason {
    /// A sentence for people.
    pub(super) fn sentence(self) -> &'static str {
        match self {
            Self::Airtime => "too little airtime is left on the way",
            Self::Risk => "it would stall too often",
            Self::Unknown => "a link on the way is not known well enough yet",
            Self::Hops => "too many hops for its rate",
            Self::Rate => "a link on the way is slower than the clip",
            Self::Lost => "another stream came first, or messages were lost",
            Self::Absent => "a device on the way no longer has the clip or its neighbour",
        }
    }
}

/// Streams that a device has refused, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub(super) struct Refusals {
    /// Too little airtime was left around it.
    #[schemars(extend("x-unit" = "streams", "x-counted" = "at the device that refuses"))]
    pub(super) airtime: u64,
    /// They would have stalled too often.
    #[schemars(extend("x-unit" = "streams", "x-counted" = "at the device that refuses"))]
    pub(super) risk: u64,
    /// Too little was known of a link.
    #[schemars(extend("x-unit" = "streams", "x-counted" = "at the device that refuses"))]
    pub(super) unknown: u64,
    /// Too many hops of too high a rate.
    #[schemars(extend("x-unit" = "streams", "x-counted" = "at the device that refuses"))]
    pub(super) hops: u64,
    /// A link was slower than the clip.
    #[schemars(extend("x-unit" = "streams", "x-counted" = "at the device that refuses"))]
    pub(super) rate: u64,
    /// Another reservation came first.
    #[schemars(extend("x-unit" = "streams", "x-counted" = "at the device that refuses"))]
    pub(super) lost: u64,
    /// It had neither the clip nor the next neighbour.
    #[schemars(extend("x-unit" = "streams", "x-counted" = "at the device that refuses"))]
    pub(super) absent: u64,
}

impl Refusals {
    /// One more.
    pub(super) fn count(&mut self, reason: Refusal) {
        *match reason {
            Refusal::Airtime => &mut self.airtime,
            Refusal::Risk => &mut self.risk,
            Refusal::Unknown => &mut self.unknown,
            Refusal::Hops => &mut self.hops,
            Refusal::Rate => &mut self.rate,
            Refusal::Lost => &mut self.lost,
            Refusal::Absent => &mut self.absent,
        } += 1;
    }
}

/// A clip that a user plays, or has played.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema, Serialize)]
pub(super) struct PlayRecord {
    /// Name of the clip.
    pub(super) clip: String,
    /// SHA-256 of its bytes, as it was offered.
    pub(super) digest: String,
    /// Its bytes.
    pub(super) size_bytes: u64,
    /// Its rate.
    #[schemars(extend("x-unit" = "b/s"))]
    pub(super) rate_bps: u64,
    /// Its playing time.
    pub(super) length_s: f64,
    /// What became of the request.
    pub(super) outcome: OutcomeName,
    /// Why the last path was refused; `null` if `outcome` is not `refused`.
    pub(super) reason: Option<Reason>,
    /// Address of the device that sends the clip; that of the display if it stores the clip; `null` before one was found.
    pub(super) source: Option<Ipv4Addr>,
    /// Links of the last path that was reserved; 0 at a device that stores the clip.
    #[schemars(extend("x-unit" = "links"))]
    pub(super) hops: u32,
    /// Media that the display buffers.
    pub(super) prefetch_s: f64,
    /// Probability of a stall that the profiles on the path told at admission; `null` if one could not tell.
    #[schemars(extend("x-unit" = "probability"))]
    pub(super) predicted_stall: Option<f64>,
    /// Paths that were refused.
    #[schemars(extend("x-unit" = "paths"))]
    pub(super) refused_paths: u32,
    /// Paths that were looked for because the one in use was lost.
    #[schemars(extend("x-unit" = "paths"))]
    pub(super) reroutes: u32,
    /// Times that the stream took a shorter path while it was under way.
    #[schemars(extend("x-unit" = "times"))]
    pub(super) shortened: u32,
    /// Times that a shorter path failed.
    #[schemars(extend("x-unit" = "times"))]
    pub(super) returned: u32,
    /// Time for which a second path was reserved.
    pub(super) held_s: f64,
    /// From the request to the start of the display; `null` before it.
    pub(super) start_up_s: Option<f64>,
    /// Times that the display stopped because its buffer was empty.
    #[schemars(extend("x-unit" = "stalls", "x-counted" = "at the display"))]
    pub(super) stalls: u64,
    /// Time that the display stood still after its start.
    pub(super) stalled_s: f64,
    /// Longest such time.
    pub(super) longest_stall_s: f64,
    /// Media shown.
    pub(super) played_s: f64,
    /// Bytes of the clip that have come, in order.
    #[schemars(extend("x-counted" = "at the display"))]
    pub(super) received_bytes: u64,
}

/// What became of a clip that a user has played.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub(super) struct Played {
    /// Where its media went.
    pub(super) output: String,
    /// Whether all of its bytes came, and their SHA-256 is the one that was offered.
    pub(super) verified: bool,
    /// How it went.
    #[serde(flatten)]
    pub(super) record: PlayRecord,
}

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum OutcomeName {
    /// The device looks for the clip, or for a path.
    Searching,
    /// The clip comes, or is being shown.
    Playing,
    /// All of it was shown, or received by a user who did not wait for the rest to be shown.
    Completed,
    /// The user stopped it.
    Stopped,
    /// No device answered.
    NotFound,
    /// All paths were refused.
    Refused,
    /// The path was lost, and no other one was found.
    Broken,
}

/// Counters of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub(super) struct Counters {
    /// Streams that were confirmed here: as their source, or on their way.
    #[schemars(extend("x-unit" = "streams", "x-counted" = "at the device"))]
    pub(super) admitted: u64,
    /// Messages of reservation, searches and hellos that the device has sent.
    #[schemars(extend("x-unit" = "messages", "x-counted" = "at the sender"))]
    pub(super) control_messages: u64,
    /// Packets of clips that the device has sent or passed on.
    #[schemars(extend("x-counted" = "at each hop"))]
    pub(super) media_packets: u64,
    /// Packets of clips that the device has repeated as their source.
    #[schemars(extend("x-counted" = "at the source of a clip"))]
    pub(super) repeated_packets: u64,
    /// Lasting steps that the profiles of links have seen.
    #[schemars(extend("x-unit" = "steps"))]
    pub(super) profile_steps: u64,
    /// Datagrams sent; those to all interfaces count once.
    #[schemars(extend("x-unit" = "datagrams", "x-counted" = "at the sender"))]
    pub(super) datagrams_sent: u64,
    /// Datagrams that the system refused to send.
    #[schemars(extend("x-unit" = "datagrams", "x-counted" = "at the sender"))]
    pub(super) datagrams_unsent: u64,
    /// Datagrams received, whatever was in them.
    #[schemars(extend("x-unit" = "datagrams", "x-counted" = "at the receiver"))]
    pub(super) datagrams_received: u64,
    /// Datagrams that held no message that can be.
    #[schemars(extend("x-unit" = "datagrams", "x-counted" = "at the receiver"))]
    pub(super) malformed: u64,
    /// Searches and reservations that were not weighed because there were too many at once.
    #[schemars(extend("x-unit" = "messages", "x-counted" = "at the receiver"))]
    pub(super) unweighed: u64,
    /// Datagrams that were not taken because 255 other addresses are heard.
    #[schemars(extend("x-unit" = "datagrams", "x-counted" = "at the receiver"))]
    pub(super) crowded: u64,
}

/// The JSON Schemas of a device's state and of a play.
pub(crate) fn schemas() -> [Value; 2] {
    [described::<Status>(), described::<Played>()]
}

/// Bytes as hexadecimal digits.
pub(super) fn hex(octets: &[u8]) -> String {
    octets.iter().fold(String::new(), |mut text, octet| {
        // Writing to a string does not fail.
        let _ = write!(text, "{octet:02x}");
        text
    })
}

/// The digest in hexadecimal digits.
pub(super) fn digest(text: &str) -> Option<[u8; 32]> {
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    let mut digest = [0; 32];
    for (octet, place) in digest.iter_mut().zip((0..64).step_by(2)) {
        *octet = u8::from_str_radix(&text[place..place + 2], 16).ok()?;
    }
    Some(digest)
}

/// The address of the socket for the state.
pub(super) fn socket() -> SocketAddr {
    SocketAddr::from_abstract_name(STATUS_SOCKET).expect("the name is short enough")
}

/// The address of the socket for plays.
pub(super) fn play_socket() -> SocketAddr {
    SocketAddr::from_abstract_name(PLAY_SOCKET).expect("the name is short enough")
}

/// Asks the device of this network namespace; `None` if there is none.
///
/// # Errors
///
/// The platform's; the device does not answer.
pub(super) fn ask() -> io::Result<Option<Value>> {
    serve::ask(&socket(), MAX_ANSWER)
}

fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "-".into(),
        other => other.to_string(),
    }
}

fn list<'a>(status: &'a Value, name: &str) -> &'a [Value] {
    status[name].as_array().map_or(&[], Vec::as_slice)
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(0.0)
}

fn rate(value: &Value) -> String {
    value.as_f64().map_or_else(|| "-".into(), |rate| format!("{:.2} Mb/s", rate / 1e6))
}

/// Seconds as hours, minutes and seconds.
fn time(seconds: f64) -> String {
    // A float to integer cast saturates.
    let seconds = seconds.round() as u64;
    let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

/// Links of a path for people.
pub(super) fn hops_text(hops: &str) -> String {
    format!("{hops} hop{}", if hops == "1" { "" } else { "s" })
}

/// The clips in lines for people.
pub(super) fn clips_text(status: &Value) -> String {
    let mut out = format!("{:<40} {:>8} {:>12} {:>5}  {}\n", "clip", "length", "rate", "hops", "SHA-256");
    for clip in list(status, "clips") {
        let digest = text_of(&clip["digest"]);
        let _ = writeln!(
            out,
            "{:<40} {:>8} {:>12} {:>5}  {}",
            text_of(&clip["name"]),
            time(number(&clip["length_s"])),
            rate(&clip["rate_bps"]),
            if clip["hops"] == 0 { "here".into() } else { text_of(&clip["hops"]) },
            digest.get(..16).unwrap_or(&digest),
        );
    }
    out
}

/// The state in lines for people.
pub(super) fn text(status: &Value) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "device {}, admission by {}, {}, for {:.0} s",
        text_of(&status["address"]),
        text_of(&status["admission"]),
        key::sealing(status),
        number(&status["uptime_s"]),
    );
    for interface in list(status, "interfaces") {
        let _ = writeln!(out, "interface {}: {}", text_of(&interface["name"]), text_of(&interface["state"]));
    }
    let _ = writeln!(
        out,
        "\n{:<16} {:<15} {:>6} {:>12} {:>8}  last heard",
        "neighbour", "interface", "mutual", "rate", "samples"
    );
    for neighbour in list(status, "neighbours") {
        let _ = writeln!(
            out,
            "{:<16} {:<15} {:>6} {:>12} {:>8}  {:.1} s ago",
            text_of(&neighbour["address"]),
            text_of(&neighbour["interface"]),
            if neighbour["mutual"] == true { "yes" } else { "no" },
            rate(&neighbour["useful_rate_bps"]),
            text_of(&neighbour["samples"]),
            number(&neighbour["heard_s"]),
        );
    }
    let _ = writeln!(out, "\n{}", clips_text(status).trim_end());
    let _ = writeln!(out, "\nreserved around here: {:.1} % of the time", number(&status["reserved_airtime"]) * 100.0);
    for booking in list(status, "bookings") {
        let _ = writeln!(
            out,
            "{} for {} number {}: {} over {}, {}{}",
            text_of(&booking["role"]),
            text_of(&booking["display"]),
            text_of(&booking["number"]),
            text_of(&booking["clip"]),
            hops_text(&text_of(&booking["hops"])),
            rate(&booking["rate_bps"]),
            if booking["confirmed"] == true { "" } else { ", not confirmed yet" },
        );
    }
    for refused in list(status, "refused") {
        let _ = writeln!(
            out,
            "refused {:.0} s ago: {} for {}: {}",
            number(&refused["ago_s"]),
            text_of(&refused["clip"]),
            text_of(&refused["display"]),
            text_of(&refused["reason"]),
        );
    }
    for play in list(status, "plays") {
        let _ = writeln!(
            out,
            "play {}: {}{}, {} of {} shown, {} stalls of {:.1} s",
            text_of(&play["clip"]),
            text_of(&play["outcome"]),
            play["reason"].as_str().map(|reason| format!(" ({reason})")).unwrap_or_default(),
            time(number(&play["played_s"])),
            time(number(&play["length_s"])),
            text_of(&play["stalls"]),
            number(&play["stalled_s"]),
        );
    }
    let _ = writeln!(out);
    for (name, value) in ["counters", "seals"].iter().flat_map(|group| status[*group].as_object()).flatten() {
        let _ = writeln!(out, "{}: {}", name.replace('_', " "), text_of(value));
    }
    out
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::interfaces::State;

    /// The state of a device that has just begun.
    pub(in super::super) fn status() -> Status {
        Status {
            version: "1.0.0",
            address: Ipv4Addr::new(10, 0, 0, 1),
            admission: "statistical",
            sealed: false,
            identity: None,
            members: None,
            uptime_s: 0.0,
            interfaces: vec![Interface { name: "wlan0".into(), state: State::NoAddress }],
            neighbours: Vec::new(),
            clips: vec![KnownClip {
                name: "film.ts".into(),
                digest: "0123456789abcdef".repeat(4),
                size_bytes: 1,
                rate_bps: 4_000_000,
                length_s: 3_725.0,
                hops: 0,
                age_s: 0,
            }],
            reserved_airtime: 0.125,
            bookings: Vec::new(),
            refusals: Refusals::default(),
            refused: vec![Refused {
                display: Ipv4Addr::new(10, 0, 0, 2),
                clip: None,
                reason: Reason::Airtime,
                ago_s: 3.0,
            }],
            plays: Vec::new(),
            counters: Counters { admitted: 7, ..Counters::default() },
            seals: None,
            senders: None,
        }
    }

    #[test]
    fn people_read_clips_refusals_and_counters() {
        let text_of = |status| text(&serde_json::to_value(status).expect("plain data"));
        let text = text_of(status());
        for part in [
            "device 10.0.0.1, admission by statistical, without a network key, for 0 s\n",
            "interface wlan0: no-address\n",
            " 1:02:05    4.00 Mb/s  here  0123456789abcdef\n",
            "reserved around here: 12.5 % of the time\n",
            "refused 3 s ago: - for 10.0.0.2: airtime\n",
            "admitted: 7\n",
        ] {
            assert!(text.contains(part), "{part:?} is not in {text}");
        }
        for (identity, members, wanted) in [
            (None, None, ", sealed with a network key, for"),
            (Some("c0ffee"), None, ", sealed with a network key and signed, for"),
            (Some("c0ffee"), Some(1), ", sealed with a network key and signed, 1 member, for"),
            (Some("c0ffee"), Some(20), ", sealed with a network key and signed, 20 members, for"),
        ] {
            let status = Status { sealed: true, identity: identity.map(Into::into), members, ..status() };
            let text = text_of(status);
            assert!(text.contains(wanted), "{wanted:?} is not in {text}");
        }
    }

    #[test]
    fn digests_are_read_as_they_are_written() {
        let octets: [u8; 32] = core::array::from_fn(|n| 7 * n as u8);
        assert_eq!(digest(&hex(&octets)), Some(octets));
        for wrong in ["", "0", &"0".repeat(63), &"0".repeat(65), &"g".repeat(64), &"ä".repeat(32)] {
            assert_eq!(digest(wrong), None);
        }
    }

    #[test]
    fn one_hop_is_one() {
        assert_eq!(["0", "1", "2", "-"].map(hops_text), ["0 hops", "1 hop", "2 hops", "- hops"]);
    }

    proptest! {
        /// Any program can bind the socket's name and answer anything.
        #[test]
        fn what_is_no_state_is_shown_as_far_as_it_can_be(octets in "[\\[\\]{}\",:a-z0-9]{0,60}") {
            if let Ok(value) = serde_json::from_str(&octets) {
                let _ = text(&value);
            }
        }
    }
}
