//! From a scenario to its hosts, and flows that can't be set up.

use super::net::{Fate, Net};
use super::streams::{PER_OCTET, bulk, scenario, tcp};
use super::*;
use crate::network::Network;
use crate::scenario::model::{Application, Relay, Transport};
use crate::traffic::{Hosting, TrafficError, machines};

fn transfer(packet: u32) -> Application {
    bulk(Some(200_000), packet)
}

fn network(neighbours: &[Vec<u32>]) -> Network {
    Network::of_neighbours(neighbours, Interface { mtu: Some(1500), queue_packets: 50 })
}

fn error(transport: Transport, application: Application, neighbours: &[Vec<u32>]) -> String {
    let scenario = scenario(neighbours.len() as u32, Relay::Application, transport, application);
    machines(&scenario, &network(neighbours), 1, Hosting::Simulated).expect_err("can't be set up").to_string()
}

#[test]
fn a_sink_out_of_reach_is_named() {
    let text = error(Transport::Udp, transfer(1000), &[vec![1], vec![0], vec![]]);
    assert_eq!(text, "flow \"flow\": no path leads from n0 to n2");
}

#[test]
fn acknowledgements_need_a_way_back() {
    let one_way = [vec![1], vec![2], vec![1]];
    let text = error(tcp(None), transfer(1000), &one_way);
    assert_eq!(text, "flow \"flow\": no path leads from n1 to n0");
    let scenario = scenario(3, Relay::Application, Transport::Udp, transfer(1000));
    assert!(machines(&scenario, &network(&one_way), 1, Hosting::Simulated).is_ok(), "datagrams need none");
}

#[test]
fn a_datagram_that_no_header_can_describe_is_refused_but_not_a_write_to_a_stream() {
    let line = [vec![1], vec![0]];
    let text = error(Transport::Udp, transfer(65_508), &line);
    assert_eq!(text, "flow \"flow\": a datagram of 65508 B; UDP over IPv4 carries up to 65507 B");
    for (transport, packet) in [(Transport::Udp, 65_507), (tcp(None), 65_508)] {
        let scenario = scenario(2, Relay::Os, transport, transfer(packet));
        let mut net = Net::new(&scenario, PER_OCTET, |_| Fate::Arrives);
        net.run(at(60_000_000));
        assert_eq!(net.audit()[0].received_bytes, 200_000);
    }
}

#[test]
fn a_flow_to_its_own_node_has_no_path() {
    let mut scenario = scenario(2, Relay::Os, Transport::Udp, transfer(1000));
    scenario.flows[0].to = scenario.flows[0].from;
    let refused = machines(&scenario, &network(&[vec![1], vec![0]]), 1, Hosting::Simulated);
    assert!(matches!(refused, Err(TrafficError::Unreachable { .. })));
}

#[test]
fn sockets_run_out_with_a_message() {
    let mut scenario = scenario(2, Relay::Os, Transport::Udp, transfer(1000));
    scenario.flows = vec![scenario.flows[0].clone(); MAX_SOCKETS + 1];
    let refused = machines(&scenario, &network(&[vec![1], vec![0]]), 1, Hosting::Simulated);
    assert_eq!(refused.err(), Some(TrafficError::TooManySockets { node: "n0".to_owned() }));
}

#[test]
fn who_relays_decides_whose_datagrams_pass_a_node() {
    for (relay, forwarded, originated) in [(Relay::Os, 200, 0), (Relay::Application, 0, 200)] {
        let mut net = Net::new(&scenario(3, relay, Transport::Udp, transfer(1000)), PER_OCTET, |_| Fate::Arrives);
        net.run(at(60_000_000));
        assert_eq!(net.audit()[0].received_packets, 200);
        assert_eq!((net.counters[1].forwarded, net.counters[1].originated), (forwarded, originated));
    }
}
