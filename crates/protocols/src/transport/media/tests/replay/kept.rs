//! hopcast over the kept logs, and what str0m answered to them. The line stood before the first run: target rates within 5 % after
//! each feedback, or the rule that differs.

use std::path::Path;

use super::{Answer, Comparison, compare, read, replay};

const SCENES: [&str; 4] = ["steady", "step", "loss", "cell"];
/// Detectors that give the same verdict after at least this share of feedbacks.
const DETECTORS: f64 = 98.0;

fn kept(name: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/gcc").join(name);
    std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn comparison(scene: &str) -> (usize, Comparison) {
    let events = read(&kept(&format!("{scene}.log")));
    let (ours, theirs) = (replay(&events), Answer::read(&kept(&format!("{scene}.str0m"))));
    (ours.len(), compare(&events, &ours, &theirs))
}

/// Without the rules that differ, both give the same rates after each feedback.
#[test]
fn rules_tell_all_that_differs_from_str0m() {
    for scene in SCENES {
        let (_, found) = comparison(scene);
        assert!(found.detectors >= DETECTORS, "{scene}: {found:?}");
        let all = [found.own, found.theirs, found.whole, found.own_loss, found.target];
        assert_eq!(all, [100.0; 5], "{scene}: {found:?}");
    }
}

#[test]
fn the_page_shows_what_differs_from_str0m() {
    let page = include_str!("../../../../../../../docs/models/gcc.md");
    let rows = SCENES.into_iter().flat_map(|scene| {
        let (feedbacks, found) = comparison(scene);
        let [capacity, addition, hold, margins, probes, start] = found.without;
        let Comparison { targets, detectors, controls, target_without, .. } = found;
        let cells = |shares: &[f64]| shares.iter().map(|share| format!("{share:.1} |")).collect::<Vec<_>>().join(" ");
        let by_delay = cells(&[targets, detectors, controls, capacity, hold, probes, addition, margins, start]);
        [format!("| `{scene}` | {feedbacks} | {by_delay}"), format!("| `{scene}` by loss | {}", cells(&target_without))]
    });
    let missing: Vec<String> = rows.filter(|row| !page.contains(row)).collect();
    assert!(missing.is_empty(), "the page lacks\n{}", missing.join("\n"));
}
