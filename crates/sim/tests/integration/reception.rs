//! Reception by signal to noise, over whole paths.

use hopcast_protocols::time::{Duration, Instant};

use crate::scenarios::{run_logged, scenario};

/// The share that arrives of 4000 datagrams, 40 a second, from the first to the last of nodes on a line, at these metres.
fn received(radio: &str, places: &[f64], keys: &str) -> f64 {
    let places: Vec<[f64; 2]> = places.iter().map(|&x| [x, 0.0]).collect();
    let text = format!(
        r#"
        duration = "100 s"
        radio = {{ {radio} }}
        nodes = [{{ name = "n", count = {}, placement = {{ shape = "points", at = {places:?} }} }}]
        flows = [{{ name = "f", from = "n0", to = "n{}", transport = {{ protocol = "udp" }}, {keys}
                   application = {{ kind = "cbr", rate = "320 kb/s", packet = "1000 B" }} }}]
        "#,
        places.len(),
        places.len() - 1,
    );
    let (simulation, _) = run_logged(&scenario(&text));
    let summary = simulation.flows().iter().next().expect("one flow").summary(simulation.end());
    summary.received_packets as f64 / summary.sent_packets as f64
}

/// Over 1200 m there are 2.6 dB, enough for bits at 6 Mb/s and not for a preamble.
#[test]
fn a_path_takes_no_link_over_which_no_preamble_is_found() {
    for rate in ["6 Mb/s", "minstrel"] {
        let radio = |detection| format!(r#"standard = "802.11a", data_rate = "{rate}"{detection}"#);
        let places = [0.0, 600.0, 1200.0];
        assert!(received(&radio(""), &places, "") > 0.99, "{rate}");
        let direct = r#"via = ["n1"], "#;
        assert!(received(&radio(""), &places, direct) > 0.99, "{rate}");
        assert!(received(&radio(r#", preamble_detection = "0 dB""#), &[0.0, 1200.0], "") > 0.9, "{rate}");
    }
}

/// Over 100 m with an exponent of 3 there are 4.1 dB, enough for 6 Mb/s: what goes before the data must not stay faster.
#[test]
fn rate_control_finds_its_rate_behind_rts() {
    for rate in ["arf", "aarf", "minstrel"] {
        let radio = format!(
            r#"standard = "802.11a", data_rate = "{rate}", rts_threshold = "500 B",
               propagation = {{ model = "log-distance", exponent = 3.0 }}"#
        );
        assert!(received(&radio, &[0.0, 100.0], "") > 0.95, "{rate}");
    }
}

/// Over 2500 m there are 2.8 dB, of which eleven chips make 13.2.
#[test]
fn a_preamble_of_dsss_is_found_alike_by_all_standards() {
    for standard in ["802.11b", "802.11g"] {
        let radio = format!(r#"standard = "{standard}", data_rate = "1 Mb/s", basic_rate = "1 Mb/s""#);
        assert!(received(&radio, &[0.0, 2500.0], "") > 0.99, "{standard}");
    }
}

/// 54 Mb/s at an edge where noise alone loses near half, and an error model that loses half: both together lose what two
/// independent causes do.
#[test]
fn errors_of_the_channel_are_independent_of_those_by_noise() {
    let radio = |errors: &str| {
        format!(r#"standard = "802.11a", data_rate = "54 Mb/s", retry_limit = {{ short = 1, long = 1 }}{errors}"#)
    };
    let errors = r#", errors = { model = "gilbert-elliott", good_ber = 8e-5, bad_ber = 8e-5, good_mean = "1 s", bad_mean = "1 s" }"#;
    let of = |errors, metres| received(&radio(errors), &[0.0, metres], "");
    let (by_noise, by_errors, by_both) = (of("", 215.0), of(errors, 100.0), of(errors, 215.0));
    assert!((0.3..0.7).contains(&by_noise) && (0.3..0.7).contains(&by_errors), "{by_noise}, {by_errors}");
    // The share of so many datagrams has a standard deviation below 0.008.
    assert!((by_both - by_noise * by_errors).abs() < 0.04, "{by_both}: {by_noise}, {by_errors}");
}

/// A packet that finds the medium idle goes at once by the standard, and waits for DIFS at least by ns-2.
#[test]
fn medium_access_is_that_of_the_profile_however_frames_are_received() {
    for reception in ["threshold", "sinr"] {
        let waits = |profile: &str| {
            let text = format!(
                r#"
                duration = "2 s"
                radio = {{ profile = "{profile}", reception = "{reception}" }}
                nodes = [{{ name = "n", count = 2, placement = {{ shape = "line", spacing = "50 m" }} }}]
                flows = [{{ name = "f", from = "n0", to = "n1", start = "1 s", transport = {{ protocol = "udp" }},
                           application = {{ kind = "cbr", rate = "80 kb/s", packet = "1000 B" }} }}]
                "#
            );
            let (_, frames) = run_logged(&scenario(&text));
            frames[0].0.saturating_since(Instant::START + Duration::from_secs(1))
        };
        assert_eq!(waits("standard"), Duration::ZERO, "{reception}");
        assert!(waits("ns-2") >= Duration::from_micros(50), "{reception}");
    }
}

/// Two senders that hear each other, and a third node that hears both: −50 dBm of energy never comes together, but what is decoded keeps
/// the medium busy all the same.
#[test]
fn what_is_decoded_is_sensed_below_the_threshold_of_energy() {
    let collisions = |threshold: &str| {
        let text = format!(
            r#"
            duration = "2 s"
            radio = {{ standard = "802.11b", data_rate = "11 Mb/s", reception = "threshold"{threshold} }}
            nodes = [{{ name = "n", count = 3, placement = {{ shape = "line", spacing = "20 m" }} }}]
            flows = [
                {{ name = "a", from = "n0", to = "n1", transport = {{ protocol = "udp" }}, application = {{ kind = "bulk" }} }},
                {{ name = "b", from = "n2", to = "n1", transport = {{ protocol = "udp" }}, application = {{ kind = "bulk" }} }},
            ]
            "#
        );
        let (simulation, frames) = run_logged(&scenario(&text));
        (frames.len(), simulation.totals().collisions)
    };
    let (frames, usual) = collisions("");
    assert_eq!(collisions(r#", carrier_sense_threshold = "-50 dBm""#), (frames, usual));
    assert!(frames > 1000 && usual > 0, "{frames} {usual}");
}
