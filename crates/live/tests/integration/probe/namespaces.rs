//! Tests between network namespaces, over wires that lose and delay packets. They need root.

use std::io::ErrorKind;

use hopcast_protocols::time::Duration;
use serde_json::Value;

use super::wire::{Quality, Wire};
use crate::processes::{Line, Missing, usable};

/// Namespaces with such wires between them, or a word on why not.
fn wired(wires: &[Quality]) -> Option<(Line, Vec<Wire>)> {
    let line = usable(Line::apart(wires.len() + 1))?;
    let mut laid = Vec::new();
    for (place, &quality) in wires.iter().enumerate() {
        let wire = Wire::lay(line.ends(place), ["right", "left"], quality).map_err(|error| {
            assert_ne!(error.kind(), ErrorKind::InvalidInput, "{error}");
            Missing { is_program: false, what: format!("a TUN device: {error}") }
        });
        laid.push(usable(wire)?);
        line.address(place);
    }
    Some((line, laid))
}

fn number(flow: &Value, field: &str) -> f64 {
    flow[field].as_f64().unwrap_or_else(|| panic!("{field} was measured: {flow}"))
}

#[test]
fn losses_are_those_of_the_wire() {
    let Some((line, wires)) = wired(&[Quality { loss: 0.05, ..Quality::default() }]) else { return };
    let _receiver = line.place(1).daemon(&["receive"]);
    let flow = ["--to", "10.88.0.2", "--size", "500 B", "--wait", "100us", "--bytes", "5 MB"];
    let document = line.place(0).measure(&flow);
    let flow = &document["flows"][0];
    assert_eq!((&flow["sent_packets"], &flow["lost_packets"]), (&10_000.into(), &wires[0].lost().into()));
    // Five standard deviations of a binomial share: 5 sqrt(0.05 · 0.95 / 10 000) = 0.0109.
    let loss = number(flow, "loss_ratio");
    assert!((loss - 0.05).abs() < 0.0109, "{loss}");
}

#[test]
fn delays_are_those_of_the_wire() {
    let quality = Quality { delay: Duration::from_millis(40), ..Quality::default() };
    let Some((line, _wires)) = wired(&[quality]) else { return };
    let _receiver = line.place(1).daemon(&["receive"]);
    for transport in ["udp", "tcp"] {
        let flow = ["--to", "10.88.0.2", "--size", "500 B", "--wait", "10 ms", "--bytes", "50 kB"];
        let document = line.place(0).measure(&[&flow[..], &["--transport", transport]].concat());
        let flow = &document["flows"][0];
        assert_eq!(flow["received_packets"], 100);
        // The machine may be busy: what a packet waits for a processor comes on top, and the clocks are known to half of that.
        let [delay, uncertainty] = ["delay_mean_s", "clock_uncertainty_s"].map(|field| number(flow, field));
        assert!((0.035..0.070).contains(&delay), "{transport}: {delay}");
        // Half of the round trip: nobody can tell how the two ways share it.
        assert!((0.040..0.070).contains(&uncertainty), "{transport}: {uncertainty}");
    }
}

#[test]
fn a_path_goes_where_its_ends_do_not_hear_each_other() {
    let Some(line) = usable(Line::new(4)) else { return };
    let _relays = [1, 2].map(|place| line.place(place).daemon(&["relay"]));
    let _receiver = line.place(3).daemon(&["receive"]);
    for (transport, wait) in [("udp", "300us"), ("tcp", "0 s")] {
        let path = ["--via", "10.88.0.2,10.88.1.2", "--to", "10.88.2.2", "--transport", transport, "--wait", wait];
        let document = line.place(0).measure(&[&path[..], &["--size", "4 kB", "--bytes", "1 MB"]].concat());
        assert_eq!(document["flows"][0]["received_packets"], 250, "{transport}: {document}");
        assert_eq!(document["totals"]["packets_forwarded"], 500);
    }
}

/// Addresses without anybody who assigns them; each holds on one interface (RFC 4291, section 2.5.6).
#[test]
fn link_local_addresses_of_ipv6_will_do() {
    let Some(line) = usable(Line::new(3)) else { return };
    for place in 0..2 {
        for (side, device, host) in [(place, "right", 1), (place + 1, "left", 2)] {
            let address = format!("fe80::{place}:{host}/64");
            let added = line.run(side, &["ip", "address", "add", &address, "dev", device, "nodad"]);
            let added = added.map_err(|what| Missing { is_program: false, what: format!("IPv6: {what}") });
            if usable(added).is_none() {
                return;
            }
        }
    }
    let _relay = line.place(1).daemon(&["relay", "--listen", "[::]:47300"]);
    let _receiver = line.place(2).daemon(&["receive", "--listen", "[::]:47300"]);
    for transport in ["udp", "tcp"] {
        let path = ["--via", "fe80::2%right", "--to", "fe80::1:2%right", "--transport", transport, "--wait", "300us"];
        let document = line.place(0).measure(&[&path[..], &["--size", "1 kB", "--bytes", "100 kB"]].concat());
        assert_eq!(document["flows"][0]["received_packets"], 100, "{transport}: {document}");
    }
}

#[test]
fn units_lost_on_one_hop_are_missing_behind_it() {
    let wires = [Quality::default(), Quality { loss: 0.3, ..Quality::default() }];
    let Some((line, wires)) = wired(&wires) else { return };
    let _relay = line.place(1).daemon(&["relay"]);
    let _receiver = line.place(2).daemon(&["receive"]);
    let path = ["--via", "10.88.0.2", "--to", "10.88.1.2", "--size", "500 B", "--wait", "300us", "--bytes", "1 MB"];
    let document = line.place(0).measure(&path);
    let relay = &document["nodes"].as_array().expect("a list")[0];
    assert_eq!((&relay["name"], &relay["forwarded"]), (&"10.88.0.2".into(), &2_000.into()));
    assert_eq!(document["flows"][0]["lost_packets"], wires[1].lost());
    // Five standard deviations: 5 sqrt(0.3 · 0.7 / 2000) = 0.0512.
    let loss = number(&document["flows"][0], "loss_ratio");
    assert!((loss - 0.3).abs() < 0.0512, "{loss}");
}
