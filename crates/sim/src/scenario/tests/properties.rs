//! What holds for any scenario.

use proptest::prelude::*;

use super::*;

/// JSON with the same keys and values as a TOML text.
fn as_json(toml: &str) -> String {
    toml::from_str::<Value>(toml).expect("TOML").to_string()
}

fn from_json(text: &str, overrides: &[&str]) -> Result<Loaded, ScenarioErrors> {
    let overrides: Vec<String> = overrides.iter().map(|o| (*o).to_owned()).collect();
    Scenario::from_json(&source(text), &overrides)
}

#[test]
fn toml_and_json_are_two_spellings_of_one_scenario() {
    for (text, overrides) in [(STRING, vec![STATIC]), (HOUSE, vec![]), (ROAMING, vec![]), (SMALL, vec![])] {
        let toml = load(text, &overrides);
        let json = from_json(&as_json(text), &overrides).expect("loads");
        assert_eq!(format!("{:?}", toml.scenario), format!("{:?}", json.scenario));
        assert_eq!(toml.explain(), json.explain());
    }
}

#[test]
fn both_spellings_are_refused_alike() {
    let strip = |errors: &ScenarioErrors| {
        let mut told: Vec<_> = errors.errors().iter().map(|e| (e.field.clone(), e.problem.clone())).collect();
        told.sort();
        told
    };
    let unknown = vec!["flows.stream.transport.protocol=sctp"];
    for (text, overrides) in [(ROAMING, unknown), (STRING, vec!["nodes.n.routing.protocol=dsdw", "duration=-1 s"])] {
        let toml = parse(text, &overrides).expect_err("refused");
        let json = from_json(&as_json(text), &overrides).expect_err("refused");
        assert_eq!(strip(&toml), strip(&json));
    }
}

#[test]
fn a_null_is_no_key() {
    let mut json: Value = serde_json::from_str(&as_json(SMALL)).expect("JSON");
    let without = from_json(&json.to_string(), &[]).expect("loads");
    json["radio"] = serde_json::json!({ "data_rate": null });
    json["flows"][0]["stop"] = Value::Null;
    json["name"] = Value::Null;
    let with = from_json(&json.to_string(), &[]).expect("loads");
    assert_eq!(without.scenario.name, with.scenario.name);
    assert_eq!(without.scenario.radio.data_rate, with.scenario.radio.data_rate);
}

#[test]
fn the_digest_covers_values_but_not_their_spelling() {
    let digest = |overrides: &[&str]| load(SMALL, overrides).scenario.sha256;
    let plain = digest(&[]);
    assert_eq!(plain.len(), 64);
    assert_eq!(plain, digest(&["duration=10000 ms"]));
    assert_eq!(plain, digest(&["duration=10"]));
    let rate = |rate: &str| digest(&[&format!("flows.f.application.rate={rate}")]);
    assert_eq!(rate("4.1 Mb/s"), rate("4100 kb/s"));
    assert_ne!(plain, digest(&["duration=11 s"]));
    assert_eq!(plain, digest(&["seed=5"]), "an overridden seed does not count");
    let seeded = format!("seed = 5\n{SMALL}");
    assert_ne!(plain, load(&seeded, &[]).scenario.sha256, "the scenario's own seed counts");
    assert_eq!(load(&seeded, &[]).scenario.sha256, load(&seeded, &["seed=6"]).scenario.sha256);
}

#[test]
fn the_document_with_its_overrides_reads_back() {
    let overrides = [STATIC, "radio.profile=ns-2", "flows.bulk.transport.delayed_ack=off", "radio.mtu=none"];
    let first = load(STRING, &overrides);
    let again = from_json(&first.document, &[]).expect("loads");
    assert_eq!(first.document, again.document);
    assert_eq!(format!("{:?}", first.scenario), format!("{:?}", again.scenario));
}

/// Keys and values, right and wrong, to be mixed.
fn assignment() -> impl Strategy<Value = String> {
    let key = prop::sample::select(vec![
        "duration",
        "seed",
        "name",
        "radio",
        "radio.standard",
        "radio.data_rate",
        "radio.basic_rate",
        "radio.channel",
        "radio.propagation",
        "radio.propagation.model",
        "radio.propagation.frequency",
        "radio.profile",
        "radio.mtu",
        "radio.tx_power",
        "radio.interference_floor",
        "radio.rts_threshold",
        "nodes",
        "nodes.0",
        "nodes.0.count",
        "nodes.0.name",
        "nodes.0.placement",
        "nodes.0.placement.shape",
        "nodes.0.placement.at",
        "nodes.0.socket_buffer",
        "flows",
        "flows.0.from",
        "flows.0.start",
        "flows.0.stop",
        "flows.0.transport.protocol",
        "flows.0.transport.segment",
        "flows.0.application",
        "flows.0.application.kind",
        "flows.0.application.rate",
        "flows.0.application.packet",
    ]);
    let value = prop_oneof![
        prop::sample::select(vec![
            "0",
            "1",
            "-1",
            "8",
            "1.5",
            "1e300",
            "nan",
            "true",
            "[]",
            "{}",
            "[[1, 2]]",
            "off",
            "none",
            "ns-2",
            "802.11a",
            "802.11g",
            "54 Mb/s",
            "6 Mb/s",
            "1 ns",
            "100 m",
            "1472 B",
            "1 B",
            "-80 dBm",
            "2.4 GHz",
            "range",
            "free-space",
            "two-ray-ground",
            "line",
            "grid",
            "uniform",
            "tcp",
            "bulk",
            "adu",
            "video-trace",
            "a",
            "b",
            "a0",
            "{ model = \"range\", receive = 1, carrier_sense = 2 }",
            "{ kind = \"adu\", size = 65507 }",
            "65507 B",
        ])
        .prop_map(str::to_owned),
        "\\PC{0,12}",
    ];
    (key, value).prop_map(|(key, value)| format!("{key}={value}"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn no_text_panics(text in "\\PC*") {
        let _ = parse(&text, &[]);
        let _ = from_json(&text, &[]);
    }

    #[test]
    fn no_override_panics(overrides in prop::collection::vec(assignment(), 0..5), wild in "\\PC{0,20}") {
        let overrides: Vec<&str> = overrides.iter().map(String::as_str).collect();
        let _ = parse(SMALL, &[&wild]);
        match parse(SMALL, &overrides) {
            Ok(loaded) => {
                let again = from_json(&loaded.document, &[]);
                prop_assert!(again.is_ok(), "{}: {:?}", loaded.document, again.err());
            }
            Err(errors) => {
                prop_assert!(!errors.errors().is_empty());
                for error in errors.errors() {
                    let text = error.to_string();
                    prop_assert!(!text.contains('\n') && text.len() < 2000, "{text}");
                }
            }
        }
    }

    #[test]
    fn a_damaged_file_never_panics(at in 0..STRING.len(), len in 0_usize..20, with in "\\PC{0,4}") {
        let mut text = STRING.as_bytes().to_vec();
        text.splice(at..(at + len).min(STRING.len()), with.bytes());
        let _ = parse(&String::from_utf8_lossy(&text), &[STATIC]);
    }
}
