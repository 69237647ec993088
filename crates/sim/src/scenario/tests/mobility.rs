//! How nodes move: what loads, what is in force.

use core::f64::consts::FRAC_PI_2;
use std::fs;

use hopcast_protocols::random::{Purpose, Stream};
use hopcast_protocols::time::{Duration, Instant};
use hopcast_radio::propagation::Position;

use super::model::*;
use super::*;
use crate::id::NodeId;
use crate::mobility::{Area, GaussMarkov, RandomWaypoint, gauss_markov, random_waypoint};

const PLACED: &str = r#"nodes.a.placement={ shape = "uniform", width = "800 m", height = "400 m" }"#;
const AREA: Area = Area { x: 0.0, y: 0.0, width: 800.0, height: 400.0 };

/// The model of the first node, with its parameters.
fn mobility(overrides: &[&str]) -> String {
    made(&load(SMALL, overrides))
}

fn made(loaded: &Loaded) -> String {
    format!("{:?}", loaded.scenario.groups[0].mobility)
}

fn moving(model: impl crate::mobility::Mobility + 'static) -> String {
    format!("Some(Moving {{ model: {model:?} }})")
}

fn stream() -> Stream {
    Stream::new(0, Purpose::Mobility, 0, 0)
}

fn waypoints(config: random_waypoint::Config) -> String {
    moving(RandomWaypoint::new(config, Position::default(), stream()))
}

fn gauss_markov(config: gauss_markov::Config) -> String {
    moving(GaussMarkov::new(config, Position::default(), stream()))
}

#[test]
fn nodes_rest_unless_told_otherwise() {
    assert_eq!(mobility(&[]), "None");
    assert_eq!(mobility(&["nodes.a.mobility.model=static"]), "None");
    let loaded = load(SMALL, &[]);
    assert_eq!(in_force(&loaded, "nodes.a.mobility.model"), ("static", "default: nodes keep their positions"));
}

#[test]
fn waypoints_keep_to_the_area_of_the_placement() {
    let set = r#"nodes.a.mobility={ model = "random-waypoint", speed = ["5 m/s", "5 m/s"], pause = "0 s" }"#;
    let config = random_waypoint::Config {
        area: AREA,
        speed: [5.0, 5.0],
        pause: [Duration::ZERO; 2],
        start: random_waypoint::Start::SteadyState,
    };
    assert_eq!(mobility(&[PLACED, set]), waypoints(config));
    let one = r#"nodes.a.mobility={ model = "random-waypoint", speed = 5 }"#;
    assert_eq!(mobility(&[PLACED, one]), waypoints(config));
    assert_eq!(made(&load(SMALL, &[PLACED, one])), waypoints(config));
    let two = r#"nodes.a.mobility={ model = "random-waypoint", speed = ["3.6 km/h", 20], pause = ["5 s", "500 s"], start = "classical" }"#;
    let config = random_waypoint::Config {
        speed: [1.0, 20.0],
        pause: [Duration::from_secs(5), Duration::from_secs(500)],
        start: random_waypoint::Start::Classical,
        ..config
    };
    assert_eq!(mobility(&[PLACED, two]), waypoints(config));
    let loaded = load(SMALL, &[PLACED, two]);
    assert_eq!(in_force(&loaded, "nodes.a.mobility.speed"), ("1 m/s to 20 m/s", "--set"));
    let default = ("800 m by 400 m", "default: area of the placement");
    assert_eq!(in_force(&loaded, "nodes.a.mobility.area"), default);
}

#[test]
fn who_has_no_steady_state_starts_in_the_classical_way() {
    let start = |overrides: &[&str]| {
        let loaded = load(SMALL, overrides);
        let (start, source) = in_force(&loaded, "nodes.a.mobility.start");
        assert!(made(&loaded).contains(if start == "classical" { "Classical" } else { "SteadyState" }));
        (start.to_owned(), source.to_owned())
    };
    let steady = r#"nodes.a.mobility={ model = "random-waypoint", speed = [1, 5] }"#;
    let slow = r#"nodes.a.mobility={ model = "random-waypoint", speed = [0, 5] }"#;
    let placed =
        r#"nodes.a.mobility={ model = "random-waypoint", speed = [1, 5], area = { width = "9 m", height = "9 m" } }"#;
    assert_eq!(start(&[PLACED, steady]), ("steady-state".into(), "default: Navidi and Camp 2004".into()));
    let why = "default: with a lowest speed of 0 there is no steady state";
    assert_eq!(start(&[PLACED, slow]), ("classical".into(), why.into()));
    assert_eq!(start(&[placed]), ("classical".into(), "default: the placement fixes the positions".into()));
}

#[test]
fn an_area_of_its_own_counts() {
    let set = r#"nodes.a.mobility={ model = "random-waypoint", speed = 1, area = { x = "-5 m", y = "-7 m", width = "10 m", height = "20 m" } }"#;
    let area = Area { x: -5.0, y: -7.0, width: 10.0, height: 20.0 };
    assert!(mobility(&[set]).contains(&format!("{area:?}")));
}

#[test]
fn without_an_area_nodes_keep_to_the_rectangle_around_the_placement() {
    let random_waypoint = r#"nodes.a.mobility={ model = "random-waypoint", speed = 1 }"#;
    let camp = r#"nodes.a.mobility={ model = "gauss-markov", speed = 1 }"#;
    for (count, placement, area, told) in [
        (5, r#"shape = "grid", columns = 3, spacing = "50 m""#, [0.0, 0.0, 100.0, 50.0], "100 m by 50 m"),
        (4, r#"shape = "grid", columns = 9, spacing = "50 m""#, [0.0, 0.0, 150.0, 0.0], ""),
        (3, r#"shape = "circle", radius = "10 m""#, [-10.0, -10.0, 20.0, 20.0], "20 m by 20 m from (-10 m, -10 m)"),
        (
            3,
            r#"shape = "points", at = [[30, 40], [-10, 50], [5, 45]]"#,
            [-10.0, 40.0, 40.0, 10.0],
            "40 m by 10 m from (-10 m, 40 m)",
        ),
        // The rectangle's far edge is rounded to less than where a node stands.
        (2, r#"shape = "points", at = [[-0.9, 0], [0.1, 1]]"#, [-0.9, 0.0, 1.0, 1.0], "1 m by 1 m from (-0.9 m, 0 m)"),
        (3, r#"shape = "line", spacing = "50 m""#, [0.0, 0.0, 100.0, 0.0], ""),
    ] {
        let count = format!("nodes.a.count={count}");
        let placement = format!("nodes.a.placement={{ {placement} }}");
        for model in [random_waypoint, camp] {
            let overrides = [count.as_str(), &placement, "flows.f.from=a0", model];
            let [x, y, width, height] = area;
            if height == 0.0 {
                let problem = "nodes.a.mobility.area: is missing: the rectangle around the placement has no height";
                assert!(refused(SMALL, &overrides).contains(problem), "{placement}");
                continue;
            }
            let loaded = load(SMALL, &overrides);
            assert!(made(&loaded).contains(&format!("{:?}", Area { x, y, width, height })), "{placement}");
            assert_eq!(in_force(&loaded, "nodes.a.mobility.area"), (told, "default: area of the placement"));
        }
    }
}

#[test]
fn gauss_markov_has_the_parameters_of_camp_boleng_and_davies() {
    let config = gauss_markov::Config {
        area: AREA,
        alpha: 0.75,
        speed: 10.0,
        speed_deviation: 1.0,
        direction: None,
        direction_deviation: 1.0,
        step: Duration::from_secs(1),
        edge: 40.0,
    };
    let set = r#"nodes.a.mobility={ model = "gauss-markov", speed = "10 m/s" }"#;
    assert_eq!(mobility(&[PLACED, set]), gauss_markov(config));
    let all = r#"nodes.a.mobility={ model = "gauss-markov", speed = 2, speed_deviation = "0.5 m/s", direction = 90, direction_deviation = 0, alpha = 0.5, step = "500 ms", edge = "10 m" }"#;
    let config = gauss_markov::Config {
        alpha: 0.5,
        speed: 2.0,
        speed_deviation: 0.5,
        direction: Some(FRAC_PI_2),
        direction_deviation: 0.0,
        step: Duration::from_millis(500),
        edge: 10.0,
        ..config
    };
    assert_eq!(mobility(&[PLACED, all]), gauss_markov(config));
}

#[test]
fn one_value_and_two_equal_ones_are_one_scenario() {
    let digest = |set: &str| load(SMALL, &[PLACED, set]).scenario.sha256;
    let one = digest(r#"nodes.a.mobility={ model = "random-waypoint", speed = "5 m/s" }"#);
    assert_eq!(one, digest(r#"nodes.a.mobility={ model = "random-waypoint", speed = [5, "18 km/h"] }"#));
    assert_ne!(one, digest(r#"nodes.a.mobility={ model = "random-waypoint", speed = [5, 6] }"#));
}

#[test]
fn movements_are_looked_for_beside_the_scenario_then_in_the_directories() {
    let root = tempfile::tempdir().expect("there is room");
    let (beside, library) = (root.path().join("beside"), root.path().join("library"));
    fs::create_dir_all(&beside).expect("writable");
    fs::create_dir_all(&library).expect("writable");
    // No placement: the file says where the nodes are.
    let text = SMALL.replace(
        "placement = { shape = \"points\", at = [[\"0 m\", \"0 m\"]] }",
        "mobility = { model = \"trace\", file = \"m\" }",
    );
    let mut source = source(&text);
    source.directory = beside.clone();
    source.trace_dirs = vec![root.path().join("missing"), library.clone()];
    let begins = |overrides: &[&str]| {
        let overrides: Vec<String> = overrides.iter().map(|&set| set.into()).collect();
        let loaded = Scenario::parse(&source, &overrides).map_err(|errors| errors.to_string())?;
        let group = &loaded.scenario.groups[0];
        let Some(model) = &group.mobility else { panic!("they move") };
        let begin = |node| (model.make)(node, Position::default(), stream()).next_leg().from.x;
        Ok::<_, String>((0..group.node_names.len()).map(begin).collect::<Vec<_>>())
    };
    let missing = begins(&[]).expect_err("there is none");
    for place in [beside.join("m"), root.path().join("missing"), library.clone()] {
        assert!(missing.contains(&place.display().to_string()), "{missing}");
    }
    fs::write(library.join("m"), "0 1 1\n0 2 2\n").expect("writable");
    assert_eq!(begins(&[]), Ok(vec![1.0]));
    fs::write(beside.join("m"), "0 3 1\n0 4 2\n").expect("writable");
    assert_eq!(begins(&[]), Ok(vec![3.0]));
    assert_eq!(begins(&["nodes.a.count=2", "flows.f.from=a0"]), Ok(vec![3.0, 4.0]));
    // A placement says nothing then.
    assert_eq!(begins(&[PLACED]), Ok(vec![3.0]));
    let few = begins(&["nodes.a.count=3", "flows.f.from=a0"]).expect_err("two nodes are not three");
    assert!(
        few.ends_with(
            "nodes.a.mobility.file = \"m\": moves 2 nodes, but the group has 3; expected a trace of at least 3 nodes"
        ),
        "{few}"
    );
    fs::write(beside.join("m"), "0 3 1\n0 4 2 5 6\n").expect("writable");
    let cut = begins(&[]).expect_err("it is cut short");
    assert!(cut.contains("nodes.a.mobility.file = \"m\"") && cut.contains("line 2: y is missing"), "{cut}");
    fs::write(beside.join("m"), [0xff, 0xfe, 0x00]).expect("writable");
    assert!(begins(&[]).expect_err("it is no text").ends_with("it is not text"));
    let huge = fs::File::create(beside.join("m")).expect("writable");
    huge.set_len((64 << 20) + 1).expect("a file may have holes");
    assert!(begins(&[]).expect_err("it is huge").ends_with("is too large; expected at most 64 MiB"));
}

#[test]
fn a_program_adds_a_mobility_model() {
    use crate::layout;
    use crate::mobility::Leg;

    /// East for ever.
    #[derive(Debug)]
    struct East(Position, f64);

    impl crate::mobility::Mobility for East {
        fn next_leg(&mut self) -> Leg {
            let from = self.0;
            self.0.x += self.1;
            Leg::trip(from, self.0, self.1)
        }
    }

    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Config {
        speed: f64,
    }

    let mut registry = Registry::default();
    registry.add_mobility("east", |place, _, config: &Config| East(place, config.speed));
    let source = Source { registry, ..source(SMALL) };
    let parse = |set: &str| Scenario::parse(&source, &[format!("nodes.b.mobility={{ model = \"custom\", {set} }}")]);
    let loaded = parse("name = \"east\", parameters = { speed = 2.0 }").expect("loads");
    let mut motion = layout::motion(&loaded.scenario, 1);
    let then = Instant::START + Duration::from_secs(5);
    assert!(motion.moves());
    assert_eq!(motion.position(NodeId(0), then), Position::on_ground(0.0, 0.0));
    assert_eq!(motion.position(NodeId(1), then), Position::on_ground(20.0, 0.0));
    assert_eq!(in_force(&loaded, "nodes.b.mobility.parameters.speed"), ("2.0", "--set"));
    let told = parse("name = \"eats\"").expect_err("no such model").to_string();
    assert!(told.contains("nodes.b.mobility.name") && told.contains("did you mean \"east\""), "{told}");
    let told = parse("name = \"east\", parameters = { sped = 2.0 }").expect_err("no such parameter").to_string();
    assert!(told.contains("nodes.b.mobility.parameters") && told.contains("unknown field `sped`"), "{told}");
}
