//! Route Discovery over a network.

use super::*;

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn a_packet_crosses_a_line_once_a_route_is_found() {
    for config in [Config::RFC_4728, Config::NS_2, EXACT, PATHS] {
        let mut network = Network::line(6, 1, Checked::new(config));
        assert_eq!(network.path(0, 5, SECOND), Some(vec![0, 1, 2, 3, 4, 5]));
        assert_eq!(known_route(&network, 0, 5), Some(vec![1, 2, 3, 4, 5]));
        let sent: usize = network.sent.iter().map(Vec::len).sum();
        assert_eq!(network.path(5, 0, SECOND), Some(vec![5, 4, 3, 2, 1, 0]));
        assert_eq!(network.sent.iter().map(Vec::len).sum::<usize>(), sent, "the way back is known");
    }
}

#[test]
fn a_partition_heals() {
    for config in [Config::RFC_4728, Config::NS_2] {
        let mut network = Network::line(4, 1, Checked::new(config));
        network.disconnect(1, 2);
        let lost = network.send(0, 3);
        network.run_for(SECOND * 20);
        assert_eq!(*network.fate(lost), Fate::UnderWay);
        network.connect(1, 2);
        network.run_for(SECOND * 11);
        assert_eq!(*network.fate(lost), Fate::Arrived(vec![0, 1, 2, 3]));
    }
}
