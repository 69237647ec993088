//! Plan of a measurement: flows over paths, and the file that lists them.

use core::fmt;
use std::collections::BTreeMap;

use hopcast_sim::scenario::quantity::{Dimension, Size, Time};
use hopcast_wire::probe::{MAX_LEN, MIN_LEN};
use serde::{Deserialize, Serialize};

use crate::address;

/// Protocol that carries the units of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// Each unit is a datagram.
    Udp,
    /// Units follow each other in a connection for each hop.
    Tcp,
}

impl Protocol {
    /// As results name it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Udp => "udp",
            Self::Tcp => "tcp",
        }
    }

    /// The longest unit, in bytes: what a datagram of IPv4 leaves behind the headers of IP and UDP (RFC 791, RFC 768), or
    /// what a relay holds.
    fn longest_unit(self) -> u32 {
        match self {
            Self::Udp => 65_535 - 20 - 8,
            Self::Tcp => MAX_LEN as u32,
        }
    }

    /// Sees that units over it can have `size` bytes, and that `bytes` bytes are not too many of them.
    ///
    /// # Errors
    ///
    /// The key, `size` or `bytes`, and what is wrong with it.
    pub(crate) fn check(self, size: u32, bytes: u64) -> Result<(), Wrong> {
        let (least, most) = (MIN_LEN as u32, self.longest_unit());
        if !(least..=most).contains(&size) {
            let text = format!("{size} B is no size of a unit over {self}; expected {least} B to {most} B");
            return Err(Wrong::new("size", text));
        }
        let units = bytes.div_ceil(u64::from(size));
        if units > MAX_UNITS {
            return Err(Wrong::new("bytes", format!("it takes {units} units; expected at most {MAX_UNITS}")));
        }
        Ok(())
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// A host on a path.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Host {
    /// Name in results.
    pub name: String,
    /// `HOST[:PORT]`; empty for the host that runs the plan.
    pub address: String,
}

impl Host {
    /// Whether the address is one with a port that can be reached, if it names any.
    fn has_possible_address(&self) -> bool {
        address::split(&self.address).is_some_and(|(_, port)| port != Some(0))
    }
}

/// One flow.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct FlowPlan {
    /// Name in results.
    pub name: String,
    /// Sending host.
    pub source: Host,
    /// The relays, and the receiver last.
    pub path: Vec<Host>,
    /// Protocol that carries it.
    pub protocol: Protocol,
    /// Bytes of a unit; the last may be shorter.
    pub size: u32,
    /// Pause between the return of one write and the start of the next, in nanoseconds.
    pub wait: u64,
    /// Bytes of all units.
    pub bytes: u64,
    /// Size of each socket's buffers in bytes; `None`: the system's default.
    pub socket_buffer: Option<u32>,
}

/// The longest wait between two units, in seconds; a choice of ours.
const MAX_WAIT: f64 = 60.0;
/// The most units of a flow: it is a day of the shortest ones at 10 000 in a second; a choice of ours.
const MAX_UNITS: u64 = 1_000_000_000;
/// The most hosts behind the source. A control connection goes through all of them; a choice of ours.
pub(crate) const MAX_HOPS: usize = 16;
/// The most flows at a time; a choice of ours.
const MAX_FLOWS: usize = 64;
/// The most runs of a plan; a choice of ours.
const MAX_RUNS: usize = 100_000;

impl FlowPlan {
    /// Sees that the flow can be, and cuts a last unit that would be too short for its header.
    ///
    /// # Errors
    ///
    /// The key and what is wrong with it.
    pub(crate) fn checked(mut self) -> Result<Self, Wrong> {
        self.protocol.check(self.size, self.bytes)?;
        waiting(self.wait as f64 / 1e9, "wait")?;
        let last = self.bytes % u64::from(self.size);
        if last < MIN_LEN as u64 {
            self.bytes -= last;
        }
        if self.bytes == 0 {
            return Err(Wrong::new("bytes", format!("it is less than a unit; expected at least {MIN_LEN} B")));
        }
        if self.path.is_empty() || self.path.len() > MAX_HOPS {
            let text = format!("it has {} hosts behind the source; expected 1 to {MAX_HOPS}", self.path.len());
            return Err(Wrong::new("path", text));
        }
        if let Some(host) = self.path.iter().find(|host| !host.has_possible_address()) {
            let text = format!("{:?} is no HOST[:PORT], with a port from 1 to 65535", host.address);
            return Err(Wrong::new("path", text));
        }
        Ok(self)
    }
}

/// An error in a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The key.
    pub key: String,
    /// What is wrong, and what would be right.
    pub problem: String,
}

impl Wrong {
    fn new(key: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { key: key.into(), problem: problem.into() }
    }

    /// The same, of a key below `parent`.
    fn below(self, parent: &str) -> Self {
        Self { key: format!("{parent}.{}", self.key), ..self }
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.key, self.problem)
    }
}

/// Flows that run at the same time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Case {
    /// Name for people, and for the folder.
    pub name: String,
    /// The flows.
    pub flows: Vec<FlowPlan>,
}

/// Cases, each measured several times.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// In the order of the file.
    pub cases: Vec<Case>,
    /// Number of measurements of each case.
    pub repetitions: u32,
    /// Order of the measurements.
    pub order: Order,
}

/// Order of the runs of a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// All cases once, then all of them again, so that slow changes of the channel affect all of them alike.
    #[default]
    Interleaved,
    /// All repetitions of a case, then those of the next.
    CaseByCase,
}

impl Plan {
    /// The runs in their order: a case each.
    pub(crate) fn runs(&self) -> Vec<usize> {
        let (cases, times) = (self.cases.len(), self.repetitions as usize);
        let place = |run: usize| match self.order {
            Order::Interleaved => run % cases,
            Order::CaseByCase => run / times,
        };
        (0..cases * times).map(place).collect()
    }

    /// Reads a plan file, whose name is `file`.
    ///
    /// # Errors
    ///
    /// What is wrong, with the file and the key.
    pub(crate) fn parse(text: &str, file: &str) -> Result<Self, String> {
        let written: File = toml::from_str(text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            format!("{file}:{line}: {}", error.message().replace('\n', ", "))
        })?;
        written.resolve().map_err(|wrong| format!("{file}: {wrong}"))
    }
}

/// A plan as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default = "once")]
    repetitions: u32,
    #[serde(default)]
    order: Order,
    hosts: BTreeMap<String, String>,
    experiments: Vec<Experiment>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Experiment {
    name: String,
    transports: Vec<Protocol>,
    sizes: Vec<Size>,
    #[serde(default = "no_wait")]
    waits: Vec<Time>,
    bytes: Size,
    socket_buffer: Option<Size>,
    flows: Vec<Flow>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Flow {
    name: Option<String>,
    path: Vec<String>,
    transport: Option<Protocol>,
}

/// The address of the host where the plan is run.
const HERE: &str = "here";

fn once() -> u32 {
    1
}

fn no_wait() -> Vec<Time> {
    vec![Time(0.0)]
}

impl File {
    fn resolve(self) -> Result<Plan, Wrong> {
        if self.repetitions == 0 {
            return Err(Wrong::new("repetitions", "0 measures nothing; expected at least 1"));
        }
        for (name, address) in &self.hosts {
            if address.trim().is_empty() {
                return Err(Wrong::new(format!("hosts.{name}"), format!("expected HOST[:PORT], or {HERE:?}")));
            }
        }
        let mut cases: Vec<Case> = Vec::new();
        for (index, experiment) in self.experiments.iter().enumerate() {
            let key = format!("experiments[{index}]");
            let count = [experiment.transports.len(), experiment.sizes.len(), experiment.waits.len()];
            let count = count.into_iter().fold(1, usize::saturating_mul);
            let runs = cases.len().saturating_add(count).saturating_mul(self.repetitions as usize);
            if runs > MAX_RUNS {
                return Err(Wrong::new(key, format!("with it there are {runs} runs; expected at most {MAX_RUNS}")));
            }
            cases.extend(experiment.cases(&self.hosts).map_err(|wrong| wrong.below(&key))?);
        }
        if cases.is_empty() {
            return Err(Wrong::new("experiments", "there is none; expected at least one, with a transport and a size"));
        }
        let mut folders = BTreeMap::new();
        for case in &cases {
            if let Some(other) = folders.insert(case.folder(), &case.name) {
                let problem =
                    format!("{other:?} and {:?} would have the same folder; give them other names", case.name);
                return Err(Wrong::new("experiments", problem));
            }
        }
        Ok(Plan { cases, repetitions: self.repetitions, order: self.order })
    }
}

impl Experiment {
    /// Every transport with every size and every wait.
    fn cases(&self, hosts: &BTreeMap<String, String>) -> Result<Vec<Case>, Wrong> {
        for (key, count) in
            [("transports", self.transports.len()), ("sizes", self.sizes.len()), ("waits", self.waits.len())]
        {
            if count == 0 {
                return Err(Wrong::new(key, "the list is empty; expected at least one"));
            }
        }
        if self.flows.is_empty() || self.flows.len() > MAX_FLOWS {
            let count = self.flows.len();
            return Err(Wrong::new("flows", format!("there are {count} of them; expected 1 to {MAX_FLOWS}")));
        }
        let bytes = whole(self.bytes.0, "bytes", Dimension::Size)?;
        let socket_buffer = self.socket_buffer.map(|size| buffer(size.0)).transpose()?;
        let mut cases = Vec::new();
        for &transport in &self.transports {
            for &size in &self.sizes {
                for &wait in &self.waits {
                    let (octets, nanos) = (unit(size.0, "sizes")?, waiting(wait.0, "waits")?);
                    let mut flows: Vec<FlowPlan> = Vec::new();
                    for (index, flow) in self.flows.iter().enumerate() {
                        let key = format!("flows[{index}]");
                        let name = flow.name.clone().unwrap_or_else(|| format!("stream{index}"));
                        if flows.iter().any(|other| other.name == name) {
                            return Err(Wrong::new(format!("{key}.name"), format!("there are two flows {name:?}")));
                        }
                        let mut path = flow.hosts(hosts).map_err(|wrong| wrong.below(&key))?.into_iter();
                        let Some(source) = path.next() else {
                            return Err(Wrong::new(format!("{key}.path"), "expected at least two hosts"));
                        };
                        let plan = FlowPlan {
                            name,
                            source,
                            path: path.collect(),
                            protocol: flow.transport.unwrap_or(transport),
                            size: octets,
                            wait: nanos,
                            bytes,
                            socket_buffer,
                        };
                        flows.push(plan.checked().map_err(|wrong| wrong.below(&key))?);
                    }
                    let name = format!("{} {transport} {size} {wait}", self.name);
                    cases.push(Case { name, flows });
                }
            }
        }
        Ok(cases)
    }
}

impl Flow {
    /// The hosts of the path, each known and only the first one here.
    fn hosts(&self, known: &BTreeMap<String, String>) -> Result<Vec<Host>, Wrong> {
        let mut hosts = Vec::new();
        for (place, name) in self.path.iter().enumerate() {
            let Some(address) = known.get(name) else {
                let names: Vec<&str> = known.keys().map(String::as_str).collect();
                let problem = format!("there is no host {name:?}; expected one of {}", names.join(", "));
                return Err(Wrong::new("path", problem));
            };
            let is_here = address == HERE;
            if is_here && place > 0 {
                let problem = format!("{name:?} is where the plan is run, which can only send");
                return Err(Wrong::new("path", problem));
            }
            let address = if is_here { String::new() } else { address.clone() };
            hosts.push(Host { name: name.clone(), address });
        }
        Ok(hosts)
    }
}

impl Case {
    /// The name as that of a folder: small letters, digits, dots and dashes.
    pub(crate) fn folder(&self) -> String {
        let plain = |letter: char| if letter.is_ascii_alphanumeric() || letter == '.' { letter } else { '-' };
        let dashed: String = self.name.to_lowercase().chars().map(plain).collect();
        let parts: Vec<&str> = dashed.split('-').filter(|part| !part.is_empty()).collect();
        // What begins with a dot is hidden, or another folder.
        match parts.join("-").trim_start_matches('.') {
            "" => "case".into(),
            name => name.into(),
        }
    }
}

/// A size of units from its value in bytes.
///
/// # Errors
///
/// That it is none, for `key`.
pub(crate) fn unit(octets: f64, key: &str) -> Result<u32, Wrong> {
    let octets = whole(octets, key, Dimension::Size)?;
    u32::try_from(octets).map_err(|_| Wrong::new(key, format!("{octets} B is too large; expected at most {MAX_LEN} B")))
}

/// A wait in nanoseconds from its value in seconds.
///
/// # Errors
///
/// That it is none, for `key`.
pub(crate) fn waiting(seconds: f64, key: &str) -> Result<u64, Wrong> {
    if !(0.0..=MAX_WAIT).contains(&seconds) {
        return Err(Wrong::new(key, format!("{seconds} s is no wait; expected 0 s to {MAX_WAIT} s")));
    }
    whole((seconds * 1e9).round(), key, Dimension::Time)
}

/// An amount in bytes from its value.
///
/// # Errors
///
/// That it is none, for `key`.
pub(crate) fn amount(octets: f64, key: &str) -> Result<u64, Wrong> {
    whole(octets, key, Dimension::Size)
}

/// The size of a buffer from its value in bytes.
///
/// # Errors
///
/// That it is none.
pub(crate) fn buffer(octets: f64) -> Result<u32, Wrong> {
    const MOST: u32 = 1 << 30;
    let octets = whole(octets, "socket_buffer", Dimension::Size)?;
    u32::try_from(octets)
        .ok()
        .filter(|octets| (1..=MOST).contains(octets))
        .ok_or_else(|| Wrong::new("socket_buffer", format!("{octets} B is no buffer; expected 1 B to {MOST} B")))
}

fn whole(value: f64, key: &str, dimension: Dimension) -> Result<u64, Wrong> {
    // Up to 2^53 every whole number is one of floating point.
    const MOST: f64 = 9_007_199_254_740_992.0;
    if value < 0.0 {
        return Err(Wrong::new(key, format!("{} is below zero", dimension.display(value))));
    }
    if value > MOST {
        return Err(Wrong::new(key, format!("{value:e} is too large; expected at most {MOST:e}")));
    }
    if value.fract() != 0.0 {
        return Err(Wrong::new(key, format!("{} is not a whole number", dimension.display(value))));
    }
    Ok(value as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PLAN: &str = r#"
        repetitions = 2
        [hosts]
        n1 = "here"
        n2 = "10.0.0.2"
        n3 = "10.0.0.3:5000"
        [[experiments]]
        name = "1:2-hop"
        transports = ["udp", "tcp"]
        sizes = ["1 KiB", "4 KiB"]
        waits = ["0 s", "1 ms"]
        bytes = "1 MB"
        socket_buffer = "8 KiB"
        [[experiments.flows]]
        path = ["n1", "n2", "n3"]
        [[experiments.flows]]
        name = "back"
        path = ["n3", "n2"]
        transport = "udp"
    "#;

    fn error(from: &str, to: &str) -> String {
        let text = PLAN.replacen(from, to, 1);
        assert_ne!(text, PLAN, "{from}");
        Plan::parse(&text, "p.toml").unwrap_err()
    }

    #[test]
    fn a_port_is_a_number_from_1_to_65535() {
        let is_possible = |address: &str| Host { name: "h".into(), address: address.into() }.has_possible_address();
        for address in ["n1", "n1:9", "10.0.0.1:65535", "::1", "[::1]", "[::1]:9", "fe80::1%wlan0"] {
            assert!(is_possible(address), "{address}");
        }
        for address in ["n1:", "n1:0", "n1:65536", "n1:http", "[::1]9", "[::1]:99999"] {
            assert!(!is_possible(address), "{address}");
        }
    }

    #[test]
    fn every_transport_comes_with_every_size_and_wait() {
        let plan = Plan::parse(PLAN, "p.toml").unwrap();
        assert_eq!(plan.cases.len(), 8);
        let case = &plan.cases[1];
        assert_eq!((case.name.as_str(), case.folder().as_str()), ("1:2-hop udp 1 KiB 1 ms", "1-2-hop-udp-1-kib-1-ms"));
        let [first, back] = &case.flows[..] else { panic!("two flows") };
        assert_eq!((first.name.as_str(), first.size, first.wait, first.bytes), ("stream0", 1024, 1_000_000, 1_000_000));
        assert_eq!((first.source.address.as_str(), first.socket_buffer), ("", Some(8192)));
        let addresses: Vec<&str> = first.path.iter().map(|host| host.address.as_str()).collect();
        assert_eq!(addresses, ["10.0.0.2", "10.0.0.3:5000"]);
        assert_eq!((back.name.as_str(), back.source.address.as_str()), ("back", "10.0.0.3:5000"));
        assert_eq!(
            plan.cases[4].flows.iter().map(|flow| flow.protocol).collect::<Vec<_>>(),
            [Protocol::Tcp, Protocol::Udp]
        );
    }

    #[test]
    fn runs_are_interleaved_unless_they_are_not() {
        let mut plan = Plan::parse(PLAN, "p.toml").unwrap();
        plan.cases.truncate(3);
        assert_eq!(plan.runs(), [0, 1, 2, 0, 1, 2]);
        plan.order = Order::CaseByCase;
        assert_eq!(plan.runs(), [0, 0, 1, 1, 2, 2]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert_eq!(
            error("repetitions = 2", "repetitions = 0"),
            "p.toml: repetitions: 0 measures nothing; expected at least 1"
        );
        assert_eq!(
            error(r#""n1", "n2", "n3""#, r#""n1", "n4""#),
            r#"p.toml: experiments[0].flows[0].path: there is no host "n4"; expected one of n1, n2, n3"#
        );
        assert_eq!(
            error(r#""n3", "n2"]"#, r#""n3", "n1"]"#),
            r#"p.toml: experiments[0].flows[1].path: "n1" is where the plan is run, which can only send"#
        );
        assert_eq!(
            error("1 KiB", "64 KiB"),
            "p.toml: experiments[0].flows[0].size: 65536 B is no size of a unit over udp; expected 32 B to 65507 B"
        );
        assert_eq!(error("1 ms", "-1 ms"), "p.toml: experiments[0].waits: -0.001 s is no wait; expected 0 s to 60 s");
        assert_eq!(
            error(r#"sizes = ["1 KiB", "4 KiB"]"#, "sizes = []"),
            "p.toml: experiments[0].sizes: the list is empty; expected at least one"
        );
        assert!(error("name = \"back\"", "name = \"stream0\"").contains("two flows"));
        assert!(error("sizes", "size").contains("unknown field `size`"));
        assert!(error("\"1 MB\"", "\"1 Mb/s\"").contains("is a rate, not a size"));
        assert!(error("4 KiB", "1024 B").contains("same folder"));
        assert_eq!(
            error("repetitions = 2", "repetitions = 4294967295"),
            "p.toml: experiments[0]: with it there are 34359738360 runs; expected at most 100000"
        );
    }

    #[test]
    fn a_unit_too_short_for_its_header_is_left_out() {
        let flow = |bytes| Plan::parse(PLAN, "p.toml").map(|plan| FlowPlan { bytes, ..plan.cases[0].flows[0].clone() });
        let checked = |bytes| flow(bytes).unwrap().checked().map(|flow| flow.bytes);
        assert_eq!(checked(2 * 1024 + 31), Ok(2048));
        assert_eq!(checked(2 * 1024 + 32), Ok(2080));
        assert_eq!(checked(32), Ok(32));
        let endless = flow(32).map(|flow| FlowPlan { wait: u64::MAX, ..flow }).unwrap();
        assert_eq!(endless.checked().unwrap_err().key, "wait");
        assert_eq!(checked(0).unwrap_err().key, "bytes");
        assert_eq!(checked(31).unwrap_err().key, "bytes");
        assert_eq!(checked(u64::MAX).unwrap_err().key, "bytes");
    }

    #[test]
    fn units_have_a_header_and_fit_into_what_carries_them() {
        let problem = |size, bytes| Protocol::Udp.check(size, bytes).err().map(|wrong| wrong.key);
        assert_eq!([32, 65_507].map(|size| problem(size, 100)), [None, None]);
        assert!([0, 31, 65_508, u32::MAX].into_iter().all(|size| problem(size, 100) == Some("size".into())));
        assert_eq!(problem(32, 32 * MAX_UNITS), None);
        assert_eq!(problem(32, 32 * MAX_UNITS + 1), Some("bytes".into()));
        assert!(
            Protocol::Tcp.check(MAX_LEN as u32, 100).is_ok() && Protocol::Tcp.check(MAX_LEN as u32 + 1, 100).is_err()
        );
    }

    #[test]
    fn absurd_values_are_refused() {
        for octets in [-1.0, 0.5, 1e18, f64::MAX] {
            assert!(unit(octets, "size").is_err(), "{octets}");
        }
        assert!(unit(5e9, "size").is_err());
        assert!(waiting(f64::NAN, "wait").is_err() && waiting(61.0, "wait").is_err() && waiting(60.0, "wait").is_ok());
        assert!(buffer(0.0).is_err() && buffer(2e9).is_err() && buffer(8192.0).is_ok());
    }

    proptest! {
        #[test]
        fn arbitrary_text_never_panics(text in "\\PC{0,200}") {
            let _ = Plan::parse(&text, "p.toml");
        }

        #[test]
        fn folders_have_plain_names(name in "\\PC{0,20}") {
            let folder = Case { name, flows: Vec::new() }.folder();
            prop_assert!(!folder.is_empty() && !folder.starts_with('.'));
            prop_assert!(folder.bytes().all(|octet| octet.is_ascii_alphanumeric() || b".-".contains(&octet)));
        }
    }
}
