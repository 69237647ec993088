//! Whole networks.

use super::{exact, line};
use crate::time::Duration;

#[test]
fn a_line_discovers_forwards_breaks_and_repairs() {
    let mut network = line(5, &exact());
    let second = Duration::from_secs(1);
    assert_eq!(network.path(0, 4, second), Some(vec![0, 1, 2, 3, 4]));
    assert_eq!(network.path(4, 0, second), Some(vec![4, 3, 2, 1, 0]), "the way back is known");
    network.disconnect(2, 3);
    network.connect(2, 4);
    assert_eq!(network.path(0, 4, second), Some(vec![0, 1, 2, 4]), "repaired on the way");
    assert_eq!(network.find_loop(), None);
}
