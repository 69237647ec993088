//! The program that the page describes, run as the page says.

use std::process::Command;

#[test]
fn the_scenario_runs_and_its_packets_arrive() {
    let scenario = concat!(env!("CARGO_MANIFEST_DIR"), "/scenario.toml");
    let output = Command::new(env!("CARGO_BIN_EXE_collection-tree")).arg(scenario).output().expect("it was built");
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let counts = |name: &str| {
        let line = told.lines().find_map(|line| line.strip_prefix(name)).expect("each flow has a line");
        let numbers: Vec<u64> = line.split(' ').filter_map(|word| word.parse().ok()).collect();
        (numbers[0], numbers[1])
    };
    let (readings, sent) = counts("readings: ");
    assert!(sent > 100 && readings * 10 > sent * 9, "{told}");
    assert_eq!(counts("picture: "), (100, 100), "{told}");
}

#[test]
fn a_wrong_parameter_is_told() {
    let scenario = include_str!("../scenario.toml").replace("interval = 2.0", "intervall = 2.0");
    let path = std::env::temp_dir().join(format!("collection-tree-{}.toml", std::process::id()));
    std::fs::write(&path, scenario).expect("there is a folder for such files");
    let output = Command::new(env!("CARGO_BIN_EXE_collection-tree")).arg(&path).output().expect("it was built");
    std::fs::remove_file(&path).expect("it was written");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && told.contains("intervall"), "{told}");
}
