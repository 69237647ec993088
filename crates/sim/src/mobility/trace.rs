//! Movements that were recorded, or made by another program.
//!
//! Two formats, told apart by their first line:
//!
//! * **ns-2** (`setdest`, and what BonnMotion, SUMO and others write for ns-2): `$node_(7) set X_ 12.5` places a node,
//!   `$ns_ at 3.5 "$node_(7) setdest 40.0 50.0 2.5"` sends it from where it is then straight to (40, 50) at 2.5 m/s; a speed of
//!   0 stops it. Lines of `$god_`, which tell ns-2 the lengths of paths, are passed over, and so are heights (`Z_`). The ns
//!   manual, "Mobile Networking in ns".
//! * **BonnMotion** (`.movements`, unpacked): a line is a node, a row of triples of time, x and y; between two of them
//!   the node goes straight and evenly, after the last it rests (N. Aschenbruck et al., "BonnMotion: a mobility scenario
//!   generation and analysis tool", SIMUTools 2010).
//!
//! Empty lines and lines that begin with `#` say nothing. Times are in seconds, places in metres, speeds in m/s.

use std::collections::BTreeMap;
use std::str::SplitWhitespace;
use std::sync::Arc;

use hopcast_protocols::time::{Duration, Instant};
use hopcast_radio::propagation::Position;

use super::{Leg, Mobility};

/// A node that passes given legs and then rests.
#[derive(Clone, Debug)]
pub struct Movement {
    legs: Arc<[Leg]>,
    next: usize,
}

impl Movement {
    /// Along these, of which there is at least one.
    pub fn new(legs: Arc<[Leg]>) -> Self {
        Self { legs, next: 0 }
    }
}

impl Mobility for Movement {
    fn next_leg(&mut self) -> Leg {
        self.next += 1;
        match (self.legs.get(self.next - 1), self.legs.last()) {
            (Some(&leg), _) => leg,
            (None, Some(last)) => Leg::rest(last.to, Duration::MAX),
            (None, None) => Leg::rest(Position::default(), Duration::MAX),
        }
    }
}

/// Why a text is no trace of movements. `name` is the file as the caller named it; lines count from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// A line is of neither format.
    #[error("{name}, line {line}: {value:?} is no line of a movement trace; expected {expected}")]
    Line {
        /// The file.
        name: String,
        /// The line.
        line: usize,
        /// The line's text, at most 60 characters of it.
        value: String,
        /// What would be right.
        expected: &'static str,
    },
    /// A line ends too early.
    #[error("{name}, line {line}: {field} is missing at the end; expected {expected}")]
    Missing {
        /// The file.
        name: String,
        /// The line.
        line: usize,
        /// What is missing.
        field: &'static str,
        /// What would be right.
        expected: &'static str,
    },
    /// A number is none, or is out of its bounds.
    #[error("{name}, line {line}: {field} is {value:?}, expected {expected}")]
    Value {
        /// The file.
        name: String,
        /// The line.
        line: usize,
        /// What the number means.
        field: &'static str,
        /// The text found, at most 60 characters of it.
        value: String,
        /// What would be right.
        expected: &'static str,
    },
    /// A node's times go back, or it is at two places at once.
    #[error("{name}, line {line}: {time} s comes after {before} s; expected a later time")]
    Order {
        /// The file.
        name: String,
        /// The line.
        line: usize,
        /// The time that is too early.
        time: String,
        /// The one before it.
        before: String,
    },
    /// A node moves, but nothing places it.
    #[error("{name}: nothing says where node {node} begins; expected \"$node_({node}) set X_ …\" and \"… set Y_ …\"")]
    NoPlace {
        /// The file.
        name: String,
        /// Its number in the file.
        node: u32,
    },
    /// There is no node in the file.
    #[error("{name}: no nodes; expected lines of ns-2's setdest or of BonnMotion")]
    Empty {
        /// The file.
        name: String,
    },
}

/// The largest coordinate that is believed, in metres, in any direction.
const MAX_PLACE: f64 = 1e7;
/// The latest time that is believed, in seconds: ten years, the longest run.
const MAX_TIME: f64 = 315_576_000.0;
/// The highest speed that is believed, in m/s.
const MAX_SPEED: f64 = 1e5;
/// The highest number of a node.
const MAX_NODE: u32 = 9_999;

const NS_2: &str =
    "\"$node_(N) set X_ METRES\", \"$ns_ at SECONDS \"$node_(N) setdest X Y SPEED\"\", or a line of $god_ or #";
const BONN_MOTION: &str = "a row of times, x and y, such as \"0.0 10.0 20.0 5.5 30.0 20.0\"";

/// The legs of each node of a trace, in the order of the file's node numbers (ns-2) or of its lines (BonnMotion). `name` is what
/// errors call it.
///
/// # Errors
/// The first line that is wrong.
pub fn parse(text: &str, name: &str) -> Result<Vec<Arc<[Leg]>>, TraceError> {
    let lines = || {
        let lines = text.lines().zip(1..).map(|(content, line)| Line { name, line, content: content.trim() });
        lines.filter(|line| !line.content.is_empty() && !line.content.starts_with('#'))
    };
    let Some(first) = lines().next() else { return Err(TraceError::Empty { name: name.into() }) };
    if !first.content.starts_with('$') {
        return lines().map(|line| waypoints(&line)).collect();
    }
    let mut nodes: BTreeMap<u32, Node> = BTreeMap::new();
    for line in lines() {
        match command(&line)? {
            Command::Nothing => {}
            Command::Place(node, axis, place) => nodes.entry(node).or_default().place[axis] = Some(place),
            Command::Destination(node, destination) => nodes.entry(node).or_default().destinations.push(destination),
        }
    }
    if nodes.is_empty() {
        return Err(TraceError::Empty { name: name.into() });
    }
    nodes.into_iter().map(|(number, node)| node.legs(name, number)).collect()
}

/// A line that says something.
#[derive(Clone, Copy)]
struct Line<'a> {
    name: &'a str,
    line: usize,
    content: &'a str,
}

impl Line<'_> {
    fn refuse(&self, expected: &'static str) -> TraceError {
        TraceError::Line { name: self.name.into(), line: self.line, value: clip(self.content), expected }
    }

    /// The next word as a number within bounds.
    fn number(
        &self,
        words: &mut SplitWhitespace<'_>,
        field: &'static str,
        bounds: (f64, f64),
        expected: &'static str,
    ) -> Result<f64, TraceError> {
        let Some(word) = words.next() else {
            return Err(TraceError::Missing { name: self.name.into(), line: self.line, field, expected });
        };
        let value = word.parse::<f64>().ok().filter(|value| (bounds.0..=bounds.1).contains(value));
        value.ok_or_else(|| TraceError::Value {
            name: self.name.into(),
            line: self.line,
            field,
            value: clip(word),
            expected,
        })
    }

    fn time(&self, words: &mut SplitWhitespace<'_>) -> Result<f64, TraceError> {
        self.number(words, "the time", (0.0, MAX_TIME), "seconds from 0 to 315576000")
    }

    fn coordinate(&self, words: &mut SplitWhitespace<'_>, field: &'static str) -> Result<f64, TraceError> {
        self.number(words, field, (-MAX_PLACE, MAX_PLACE), "metres from -10000000 to 10000000")
    }

    fn place(&self, words: &mut SplitWhitespace<'_>) -> Result<Position, TraceError> {
        Ok(Position::on_ground(self.coordinate(words, "x")?, self.coordinate(words, "y")?))
    }
}

/// What a line of ns-2 says.
enum Command {
    Nothing,
    /// A coordinate, by its axis, of a node with this number.
    Place(u32, usize, f64),
    Destination(u32, Destination),
}

/// Where a node is sent.
#[derive(Clone, Copy)]
struct Destination {
    /// In seconds.
    at: f64,
    to: Position,
    /// In m/s.
    speed: f64,
}

fn command(line: &Line<'_>) -> Result<Command, TraceError> {
    let content = line.content;
    if content.starts_with("$god_ ") {
        return Ok(Command::Nothing);
    }
    if let Some(rest) = content.strip_prefix("$node_(") {
        let (node, mut words) = node(line, rest)?;
        let axis = match (words.next(), words.next()) {
            (Some("set"), Some("X_")) => 0,
            (Some("set"), Some("Y_")) => 1,
            (Some("set"), Some("Z_")) => 2,
            _ => return Err(line.refuse(NS_2)),
        };
        let place = line.coordinate(&mut words, "the coordinate")?;
        return ended(line, &mut words).map(|()| Command::Place(node, axis, place));
    }
    let scheduled = content.strip_prefix("$ns_ at ").and_then(|rest| {
        let (time, script) = rest.split_once('"')?;
        Some((time, script.strip_suffix('"')?.trim()))
    });
    let Some((time, script)) = scheduled else { return Err(line.refuse(NS_2)) };
    let mut words = time.split_whitespace();
    let at = line.time(&mut words)?;
    ended(line, &mut words)?;
    if script.starts_with("$god_ ") {
        return Ok(Command::Nothing);
    }
    let Some(rest) = script.strip_prefix("$node_(") else { return Err(line.refuse(NS_2)) };
    let (node, mut words) = self::node(line, rest)?;
    if words.next() != Some("setdest") {
        return Err(line.refuse(NS_2));
    }
    let to = line.place(&mut words)?;
    let speed = line.number(&mut words, "the speed", (0.0, MAX_SPEED), "metres a second from 0 to 100000")?;
    ended(line, &mut words).map(|()| Command::Destination(node, Destination { at, to, speed }))
}

/// The number before a closing bracket, and the words after it.
fn node<'a>(line: &Line<'_>, rest: &'a str) -> Result<(u32, SplitWhitespace<'a>), TraceError> {
    let Some((number, rest)) = rest.split_once(')') else { return Err(line.refuse(NS_2)) };
    match number.parse::<u32>() {
        Ok(node) if node <= MAX_NODE => Ok((node, rest.split_whitespace())),
        _ => Err(TraceError::Value {
            name: line.name.into(),
            line: line.line,
            field: "the number of the node",
            value: clip(number),
            expected: "a whole number from 0 to 9999",
        }),
    }
}

fn ended(line: &Line<'_>, words: &mut SplitWhitespace<'_>) -> Result<(), TraceError> {
    if words.next().is_none() { Ok(()) } else { Err(line.refuse(NS_2)) }
}

/// What an ns-2 trace says of a node.
#[derive(Default)]
struct Node {
    /// Its x, y and z.
    place: [Option<f64>; 3],
    destinations: Vec<Destination>,
}

impl Node {
    fn legs(mut self, name: &str, number: u32) -> Result<Arc<[Leg]>, TraceError> {
        let [Some(x), Some(y), _] = self.place else {
            return Err(TraceError::NoPlace { name: name.into(), node: number });
        };
        // Stable: of two at one instant, the later line holds.
        self.destinations.sort_by(|one, other| one.at.total_cmp(&other.at));
        let mut way = Way { legs: Vec::new(), since: Instant::START, here: Position::on_ground(x, y) };
        let mut trip = Leg::rest(way.here, Duration::MAX);
        for Destination { at, to, speed } in self.destinations {
            way.follow(trip, Instant::START + Duration::from_secs_f64(at));
            trip = Leg::trip(way.here, to, speed);
        }
        way.legs.push(trip);
        Ok(way.legs.into())
    }
}

/// A way while it is put together.
struct Way {
    legs: Vec<Leg>,
    /// When the last leg ended, and where.
    since: Instant,
    here: Position,
}

impl Way {
    /// Goes along a trip up to an instant, and waits there if it ends before.
    fn follow(&mut self, trip: Leg, until: Instant) {
        let time = until.saturating_since(self.since);
        if trip.duration > time {
            let share = time.as_nanos() as f64 / trip.duration.as_nanos() as f64;
            let along = |from: f64, to: f64| from + (to - from) * share;
            let to = Position::on_ground(along(trip.from.x, trip.to.x), along(trip.from.y, trip.to.y));
            self.push(Leg { to, duration: time, ..trip });
        } else {
            self.push(trip);
            self.push(Leg::rest(trip.to, time.saturating_sub(trip.duration)));
        }
    }

    fn push(&mut self, leg: Leg) {
        if leg.duration > Duration::ZERO {
            self.legs.push(leg);
            self.since += leg.duration;
        }
        self.here = leg.to;
    }
}

/// A line of BonnMotion.
fn waypoints(line: &Line<'_>) -> Result<Arc<[Leg]>, TraceError> {
    if !line.content.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '.' | '+' | '-')) {
        return Err(line.refuse(BONN_MOTION));
    }
    let mut words = line.content.split_whitespace();
    let mut before = line.time(&mut words)?;
    let mut here = line.place(&mut words)?;
    let mut since = Instant::START;
    // Before its first time a node waits at its first place.
    let mut legs = vec![Leg::rest(here, Duration::from_secs_f64(before))];
    since += legs[0].duration;
    while words.clone().next().is_some() {
        let time = line.time(&mut words)?;
        let to = line.place(&mut words)?;
        if time < before || (time == before && to != here) {
            let (time, before) = (time.to_string(), before.to_string());
            return Err(TraceError::Order { name: line.name.into(), line: line.line, time, before });
        }
        let until = Instant::START + Duration::from_secs_f64(time);
        legs.push(Leg { from: here, to, duration: until.saturating_since(since) });
        (before, here, since) = (time, to, until);
    }
    // What takes no time is nowhere to be seen, but a nanosecond each would add up.
    legs.retain(|leg| leg.duration > Duration::ZERO);
    legs.push(Leg::rest(here, Duration::MAX));
    Ok(legs.into())
}

/// The beginning of `text`, for a message.
fn clip(text: &str) -> String {
    const LONGEST: usize = 60;
    text.chars().take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Mobility, Motion};
    use super::*;
    use crate::id::NodeId;

    fn motion(text: &str) -> Motion {
        let movements = parse(text, "m").expect("a trace");
        Motion::of(movements.into_iter().map(|legs| Box::new(Movement::new(legs)) as Box<dyn Mobility>).collect())
    }

    #[track_caller]
    fn check(motion: &mut Motion, node: u32, way: &[(f64, f64, f64)]) {
        for &(at, x, y) in way {
            let place = motion.position(NodeId(node), Instant::START + Duration::from_secs_f64(at));
            assert!(place.distance(Position::on_ground(x, y)) < 1e-6, "node {node} is at {place:?} after {at} s");
        }
    }

    /// As `setdest` writes it: places, lengths of paths, destinations, one of them changed on the way, and stops.
    const NS_2_TRACE: &str = r#"
#
# nodes: 2, pause: 2.00, max speed: 5.00, max x: 300.00, max y: 300.00
#
$node_(0) set X_ 100.000000000000
$node_(0) set Y_ 50.000000000000
$node_(0) set Z_ 0.000000000000
$node_(1) set X_ 0.0
$node_(1) set Y_ 0.0
$node_(1) set Z_ 0.000000000000
$god_ set-dist 0 1 1
$ns_ at 2.000000000000 "$node_(0) setdest 130.000000000000 90.000000000000 5.000000000000"
$ns_ at 2.000000000000 "$node_(1) setdest 100.000000000000 0.000000000000 4.000000000000"
$ns_ at 7.300000000000 "$god_ set-dist 0 1 2"
$ns_ at 12.000000000000 "$node_(1) setdest 40.000000000000 30.000000000000 3.000000000000"
$ns_ at 17.000000000000 "$node_(1) setdest 40.000000000000 30.000000000000 0.000000000000"
$ns_ at 20.000000000000 "$node_(0) setdest 130.000000000000 0.000000000000 9.000000000000"
#
# Destination Unreachables: 0
#
"#;

    /// By hand: node 0 rests, goes 50 m in 10 s, rests, goes 90 m in 10 s. Node 1 is at (40, 0) when it turns north, and half of
    /// the way later it is stopped.
    #[test]
    fn nodes_of_ns_2_go_where_they_are_sent() {
        let mut motion = motion(NS_2_TRACE);
        check(
            &mut motion,
            0,
            &[
                (0.0, 100.0, 50.0),
                (2.0, 100.0, 50.0),
                (7.0, 115.0, 70.0),
                (12.0, 130.0, 90.0),
                (20.0, 130.0, 90.0),
                (25.0, 130.0, 45.0),
                (30.0, 130.0, 0.0),
                (1e6, 130.0, 0.0),
            ],
        );
        check(
            &mut motion,
            1,
            &[(2.0, 0.0, 0.0), (12.0, 40.0, 0.0), (15.0, 40.0, 9.0), (17.0, 40.0, 15.0), (99.0, 40.0, 15.0)],
        );
    }

    #[test]
    fn numbers_of_nodes_need_no_order_and_may_leave_gaps() {
        let text = "$node_(7) set X_ 7\n$node_(3) set X_ 3\n$node_(7) set Y_ 70\n$node_(3) set Y_ 30\n";
        let mut motion = motion(text);
        check(&mut motion, 0, &[(0.0, 3.0, 30.0)]);
        check(&mut motion, 1, &[(0.0, 7.0, 70.0)]);
    }

    /// Not all programs write events in the order of time.
    #[test]
    fn events_of_ns_2_happen_in_the_order_of_time() {
        let text = r#"
            $node_(0) set X_ 0
            $node_(0) set Y_ 0
            $ns_ at 10 "$node_(0) setdest 10 100 1"
            $ns_ at 0 "$node_(0) setdest 10 0 1"
            $ns_ at 10 "$node_(0) setdest 10 50 10"
        "#;
        check(&mut motion(text), 0, &[(5.0, 5.0, 0.0), (10.0, 10.0, 0.0), (15.0, 10.0, 50.0), (20.0, 10.0, 50.0)]);
    }

    #[test]
    fn nodes_of_bonnmotion_pass_their_waypoints_in_time() {
        let text = "# made by hand\n0.0 10.0 20.0 5.0 30.0 20.0 7.5 30.0 20.0 17.5 30.0 -20.0\r\n3 1e2 5.\n";
        let mut motion = motion(text);
        let way = [(0.0, 10.0, 20.0), (2.5, 20.0, 20.0), (6.0, 30.0, 20.0), (12.5, 30.0, 0.0), (99.0, 30.0, -20.0)];
        check(&mut motion, 0, &way);
        check(&mut motion, 1, &[(0.0, 100.0, 5.0), (50.0, 100.0, 5.0)]);
    }

    #[test]
    fn before_its_first_time_a_node_waits_there() {
        check(
            &mut motion("2 10 0 4 20 0"),
            0,
            &[(0.0, 10.0, 0.0), (2.0, 10.0, 0.0), (3.0, 15.0, 0.0), (4.0, 20.0, 0.0)],
        );
    }

    #[test]
    fn a_waypoint_may_be_said_twice() {
        check(&mut motion("0 0 0 4 8 0 4 8 0 8 0 0"), 0, &[(2.0, 4.0, 0.0), (4.0, 8.0, 0.0), (6.0, 4.0, 0.0)]);
    }

    #[test]
    fn what_is_wrong_is_said() {
        let placed = "$node_(0) set X_ 1\n$node_(0) set Y_ 1\n";
        for (text, problem) in [
            ("", "m: no nodes; expected lines of ns-2's setdest or of BonnMotion"),
            ("# a comment\n\n", "m: no nodes; expected lines of ns-2's setdest or of BonnMotion"),
            ("$god_ set-dist 0 1 1", "m: no nodes; expected lines of ns-2's setdest or of BonnMotion"),
            (
                "$node_(0) set X_ 1\n",
                "m: nothing says where node 0 begins; expected \"$node_(0) set X_ …\" and \"… set Y_ …\"",
            ),
            ("0 0 0\n1 2", "m, line 2: y is missing at the end; expected metres from -10000000 to 10000000"),
            ("0 0 0 5", "m, line 1: x is missing at the end; expected metres from -10000000 to 10000000"),
            ("0 0 0 5 x 5", "m, line 1: x is \"x\", expected metres from -10000000 to 10000000"),
            ("0 0 0 -5 1 5", "m, line 1: the time is \"-5\", expected seconds from 0 to 315576000"),
            ("0 nan 0", "m, line 1: x is \"nan\", expected metres from -10000000 to 10000000"),
            ("0 0 0 1e300 0 0", "m, line 1: the time is \"1e300\", expected seconds from 0 to 315576000"),
            ("0 0 0 5 1 1 4 1 1", "m, line 1: 4 s comes after 5 s; expected a later time"),
            ("0 0 0 5 1 1 5 2 1", "m, line 1: 5 s comes after 5 s; expected a later time"),
        ] {
            assert_eq!(parse(text, "m").expect_err(text).to_string(), problem);
        }
        for (line, problem) in [
            (
                "$ns_ at 1 \"$node_(0) setdest 1 2\"",
                "m, line 3: the speed is missing at the end; expected metres a second from 0 to 100000",
            ),
            (
                "$ns_ at 1 \"$node_(0) setdest 1 2 -3\"",
                "m, line 3: the speed is \"-3\", expected metres a second from 0 to 100000",
            ),
            (
                "$ns_ at 1 \"$node_(99999) setdest 1 2 3\"",
                "m, line 3: the number of the node is \"99999\", expected a whole number from 0 to 9999",
            ),
            (
                "$ns_ at soon \"$node_(0) setdest 1 2 3\"",
                "m, line 3: the time is \"soon\", expected seconds from 0 to 315576000",
            ),
            (
                "$node_(0) set Y_ 1e9",
                "m, line 3: the coordinate is \"1e9\", expected metres from -10000000 to 10000000",
            ),
        ] {
            assert_eq!(parse(&format!("{placed}{line}"), "m").expect_err(line).to_string(), problem);
        }
        // Cut short, or something else altogether.
        for line in [
            "$ns_ at 1 \"$node_(0) setdest 1 2 3",
            "$ns_ at 1 \"$node_(0) setd",
            "$node_(0",
            "$node_(0) label here",
            "$ns_ at 1 \"$node_(0) setdest 1 2 3 4\"",
            "0 1 1",
        ] {
            let error = parse(&format!("{placed}{line}"), "m").expect_err(line).to_string();
            assert_eq!(error, format!("m, line 3: {line:?} is no line of a movement trace; expected {NS_2}"));
        }
        let error = parse("time x y\n0 0 0", "m").expect_err("a header").to_string();
        assert!(error.starts_with("m, line 1: \"time x y\" is no line"), "{error}");
    }

    fn word() -> impl Strategy<Value = String> {
        prop_oneof![
            prop::sample::select(vec![
                "$ns_",
                "at",
                "$node_(0)",
                "$node_(1)",
                "set",
                "X_",
                "Y_",
                "setdest",
                "\"$node_(0)",
                "\"$god_",
                "$god_",
                "\"",
                "0",
                "1",
                "2.5",
                "-3",
                "1e7",
                "nan",
                "inf",
                "1e-320",
                "#",
                "\n",
                "\n",
                "\r\n",
                "7\"",
                "$node_(",
            ])
            .prop_map(str::to_owned),
            "\\PC{0,6}",
        ]
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC*", words in prop::collection::vec(word(), 0..40)) {
            let _ = parse(&text, "m");
            if let Ok(movements) = parse(&words.join(" "), "m") {
                for legs in movements {
                    let mut motion = Motion::of(vec![Box::new(Movement::new(legs))]);
                    let place = motion.position(NodeId(0), Instant::START + Duration::from_secs(1_000));
                    prop_assert!(place.x.is_finite() && place.y.is_finite());
                }
            }
        }

        #[test]
        fn a_damaged_trace_never_panics(at in 0..NS_2_TRACE.len(), len in 0_usize..20, with in "\\PC{0,4}") {
            let mut text = NS_2_TRACE.as_bytes().to_vec();
            text.splice(at..(at + len).min(NS_2_TRACE.len()), with.bytes());
            let _ = parse(&String::from_utf8_lossy(&text), "m");
        }

        /// One way in both formats.
        #[test]
        fn both_formats_say_the_same(steps in prop::collection::vec((1u32..50, -500i32..500, -500i32..500), 1..8)) {
            let (mut bonn_motion, mut ns_2) = ("0 0 0".to_owned(), "$node_(0) set X_ 0\n$node_(0) set Y_ 0\n".to_owned());
            let (mut time, mut here) = (0, (0, 0));
            for &(seconds, x, y) in &steps {
                let length = Position::on_ground(f64::from(here.0), f64::from(here.1)).distance(Position::on_ground(f64::from(x), f64::from(y)));
                let speed = length / f64::from(seconds);
                ns_2 += &format!("$ns_ at {time} \"$node_(0) setdest {x} {y} {speed}\"\n");
                time += seconds;
                here = (x, y);
                bonn_motion += &format!(" {time} {x} {y}");
            }
            let (mut one, mut other) = (motion(&bonn_motion), motion(&ns_2));
            for tenth in 0..u64::from(time) * 10 {
                let now = Instant::START + Duration::from_millis(100 * tenth);
                let [one, other] = [one.position(NodeId(0), now), other.position(NodeId(0), now)];
                prop_assert!(one.distance(other) < 1e-4, "{one:?} and {other:?} after {now}");
            }
        }
    }
}
