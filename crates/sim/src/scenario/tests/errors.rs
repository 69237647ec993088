//! What is refused, word by word.

use core::fmt::Write as _;

use super::reference::is_current;
use super::*;

/// Overrides of the small scenario, each line one attempt; what is separated by `|` is applied together.
const ATTEMPTS: &str = include_str!("fixtures/attempts.txt");

#[test]
fn wrong_values_get_these_messages() {
    let mut messages = String::new();
    for attempt in ATTEMPTS.lines() {
        let overrides: Vec<&str> = attempt.split(" | ").collect();
        let _ = writeln!(messages, "{attempt}\n    {}\n", refused(SMALL, &overrides).replace('\n', "\n    "));
    }
    is_current("crates/sim/src/scenario/tests/fixtures/messages.txt", &messages);
}

#[test]
fn a_file_that_is_not_toml_is_told_with_its_line() {
    for (text, message) in [
        ("duration = 1\nseed == 2\n", "test.toml:2: not TOML: "),
        ("duration = \"1 s\nseed = 2\n", "test.toml:1: not TOML: "),
        ("\n\n[radio]\nqueue = {\n", "test.toml:4: not TOML: "),
        ("seed = 1\nseed = 2\n", "test.toml:2: not TOML: duplicate key"),
    ] {
        let told = refused(text, &[]);
        assert!(told.starts_with(message) && !told.contains('\n'), "{told}");
    }
}

#[test]
fn a_file_that_is_not_json_is_told_with_its_line() {
    let told = |text: &str| Scenario::from_json(&source(text), &[]).expect_err("refused").to_string();
    assert_eq!(told("{\n \"duration\": }"), "test.toml:2: not JSON: expected value");
    assert_eq!(told("{\"duration\": NaN}"), "test.toml:1: not JSON: expected value");
    assert_eq!(told("[1]"), "test.toml: not a table; expected an object with the keys of a scenario");
}

#[test]
fn numbers_that_are_none_are_told_with_their_line() {
    assert_eq!(refused("seed = 1\nduration = nan\n", &[]), "test.toml:2: duration = nan: is not a finite number");
    assert_eq!(refused("duration = -inf\n", &[]), "test.toml:1: duration = -inf: is not a finite number");
    let large = "seed = 99999999999999999999\n";
    assert_eq!(refused(large, &[]), "test.toml:1: seed = 99999999999999999999: is too large for an integer of TOML");
}

#[test]
fn an_empty_file_lacks_what_is_required() {
    assert_eq!(
        refused("", &[]),
        "test.toml: duration: is missing; expected a time such as \"10 ms\"\ntest.toml: nodes: is missing; expected a list"
    );
}

#[test]
fn everything_that_is_wrong_is_told_in_the_order_of_the_file() {
    let text = SMALL
        .replace("10 s", "10 parsecs")
        .replace("[\"10 m\", \"0 m\"]", "[\"10 s\", \"0 m\"]")
        .replace("\"cbr\"", "\"cbrr\"");
    assert_eq!(
        refused(&text, &["seed=x"]),
        r#"test.toml:2: duration = "10 parsecs": is not a time: there is no unit "parsecs"; expected a time such as "10 ms"
test.toml:10: nodes.b.placement.at.0.0 = "10 s": is a time, not a length; expected a length such as "200 m"
test.toml:17: flows.f.application.kind = "cbrr": unknown value; did you mean "cbr"? Expected "bulk", "adu", "cbr", "codec", "audio", "game", "file", "video-trace" or "custom"
--set: seed = "x": is not a whole number; expected a whole number from 0 to 18446744073709551615"#
    );
}

#[test]
fn names_are_unique() {
    let node = r#"
[[nodes]]
name = "a1"
placement = { shape = "points", at = [[0, 5]] }
"#;
    let text = format!("{SMALL}{node}");
    assert_eq!(
        refused(&text, &["nodes.a.count=2", "nodes.a.placement={shape=\"line\",spacing=1}", "flows.f.from=a0"]),
        "test.toml:20: nodes.a1.name = \"a1\": there is already a node \"a1\", from entry 1 of the list of nodes; \
         expected a different name for each node"
    );
    // The nodes are b and b0; `nodes.b` would be either group.
    let group = node.replace("\"a1\"", "\"b\"\ncount = 1");
    assert_eq!(
        refused(&format!("{SMALL}{group}"), &[]),
        "test.toml:20: nodes.2.name = \"b\": is the name of entry 2 of the list of nodes already; \
         expected a different name for each entry"
    );
    let flow = SMALL.split("[[flows]]").nth(1).expect("a flow");
    assert_eq!(
        refused(&format!("{SMALL}[[flows]]{flow}"), &[]),
        "test.toml:19: flows.1.name = \"f\": there is already a flow of this name; expected a different name for each flow"
    );
}

#[test]
fn ports_of_one_node_and_protocol_are_unique() {
    let flow = SMALL.split("[[flows]]").nth(1).expect("a flow");
    let with = |name: &str, protocol: &str| {
        let flow =
            flow.replace("name = \"f\"", &format!("name = \"{name}\"")).replace("\"udp\"", &format!("\"{protocol}\""));
        format!("[[flows]]{flow}port = 5004\n")
    };
    let text = |second: &str| {
        SMALL.split("[[flows]]").next().expect("nodes").to_owned() + &with("f", "udp") + &with("g", second)
    };
    assert_eq!(
        refused(&text("udp"), &[]),
        "test.toml:25: flows.g.port = 5004: flow \"g\" asks for the same UDP port of this node as flow \"f\"; \
         expected another port for one of them"
    );
    for (second, overrides) in [("tcp", ""), ("tfrc", ""), ("udp", "flows.g.port=5006")] {
        let overrides: Vec<&str> = Some(overrides).into_iter().filter(|text| !text.is_empty()).collect();
        assert!(parse(&text(second), &overrides).is_ok(), "{second}");
    }
    assert!(parse(&text("udp"), &["flows.g.from=b", "flows.g.to=a"]).is_ok(), "at another node");
    assert!(refused(&text("adtfrc").replace("\"udp\"", "\"tfrc\""), &[]).contains("the same DCCP port"));
}

#[test]
fn an_error_says_its_parts() {
    let errors = parse(SMALL, &["flows.f.application.rate=0"]).expect_err("refused");
    let [error] = errors.errors() else { panic!("one error") };
    assert_eq!((error.file.as_str(), error.line), ("--set", None));
    assert_eq!((error.field.as_str(), error.value.as_deref()), ("flows.f.application.rate", Some("0")));
    assert_eq!(
        (error.problem.as_str(), error.expected.as_deref()),
        ("is zero", Some("above 0 b/s and at most 1000 Gb/s"))
    );
}
