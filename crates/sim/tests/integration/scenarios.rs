//! Scenarios for the other tests.

use std::cell::RefCell;
use std::fs;
use std::path::Path;
use std::rc::Rc;

use hopcast_protocols::time::Instant;
use hopcast_radio::mac::{Frame, StationId};
use hopcast_radio::medium::Link;
use hopcast_sim::engine::Tap;
use hopcast_sim::host::Sdu;
use hopcast_sim::run::Simulation;
use hopcast_sim::scenario::{Scenario, Source};
use tempfile::TempDir;

/// Reads TOML.
pub(crate) fn scenario(text: &str) -> Scenario {
    let source = Source { text: text.into(), name: "test.toml".into(), ..Source::default() };
    Scenario::parse(&source, &[]).unwrap_or_else(|errors| panic!("{errors}\n{text}")).scenario
}

/// When the first bit of a frame leaves, and whose it is.
pub(crate) type Sent = (Instant, StationId, Frame<Rc<Sdu>>);

/// All that is sent.
#[derive(Clone, Default)]
struct Log(Rc<RefCell<Vec<Sent>>>);

impl Tap<Rc<Sdu>> for Log {
    fn on_frame(&mut self, station: StationId, frame: &Frame<Rc<Sdu>>, start: Instant, received: Option<&Link>) {
        if received.is_none() {
            self.0.borrow_mut().push((start, station, frame.clone()));
        }
    }
}

/// Runs to the end, and checks that nothing has vanished. Returns all frames that were sent, too.
pub(crate) fn run_logged(scenario: &Scenario) -> (Simulation, Vec<Sent>) {
    let mut simulation = Simulation::new(scenario, 1).expect("all flows have paths");
    let log = Log::default();
    simulation.set_tap(log.clone());
    simulation.run_until(simulation.end());
    simulation.check().expect("nothing vanishes");
    let frames = log.0.borrow().clone();
    (simulation, frames)
}

/// A line of nodes 200 m apart that hear only their neighbours, with additional `keys`; datagrams from one end to the
/// other, and TCP back.
pub(crate) fn line(nodes: u32, keys: &str, duration: &str, start: u32) -> String {
    let last = nodes - 1;
    format!(
        r#"
duration = "{duration}"
[radio]
standard = "802.11b"
data_rate = "2 Mb/s"
propagation = {{ model = "range", receive = "250 m", carrier_sense = "550 m" }}
[[nodes]]
name = "n"
count = {nodes}
placement = {{ shape = "line", spacing = "200 m" }}
{keys}
[[flows]]
name = "there"
from = "n0"
to = "n{last}"
start = "{start} s"
transport = {{ protocol = "udp" }}
application = {{ kind = "cbr", rate = "32 kb/s", packet = "1000 B" }}
[[flows]]
name = "back"
from = "n{last}"
to = "n0"
start = "{start}.3 s"
transport = {{ protocol = "tcp", segment = "500 B" }}
application = {{ kind = "bulk", bytes = "40000 B" }}
"#
    )
}

/// Three nodes in a row, of which the outer ones don't hear each other: datagrams in fragments one way, TCP the other.
pub(crate) fn string(duration: &str) -> String {
    format!(
        r#"
name = "string"
duration = "{duration}"
[radio]
standard = "802.11b"
rts_threshold = "500 B"
propagation = {{ model = "range", receive = "250 m", carrier_sense = "300 m" }}
[[nodes]]
name = "n"
count = 3
placement = {{ shape = "line", spacing = "200 m" }}
[[flows]]
name = "units"
from = "n0"
to = "n2"
transport = {{ protocol = "udp" }}
application = {{ kind = "adu", size = "4000 B", wait = "3 ms" }}
[[flows]]
name = "file"
from = "n2"
to = "n0"
start = "10 ms"
transport = {{ protocol = "tcp", segment = "1000 B" }}
application = {{ kind = "bulk", bytes = "200000 B" }}
"#
    )
}

/// A folder of a test's own, gone with it.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// What is in it, in alphabetical order.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = entries.map(|name| name.to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}
