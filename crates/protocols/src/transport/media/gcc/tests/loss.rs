//! Observations, likelihood and the states behind them.

use super::super::loss::channel::Channel;
use super::super::loss::observation::Observations;
use super::super::loss::{LossBased, State};
use super::*;

/// A feedback of ten packets of 1000 B in 250 ms, 320 kb/s, of which the first `lost` are lost.
fn feedback(step: u64, lost: u64) -> Vec<PacketResult> {
    let one = |number: u64| {
        let sent = step * 250 + 25 * (number + 1);
        result(packet(step * 10 + number, sent, 1000), (number >= lost).then_some(sent + 50))
    };
    (0..10).map(one).collect()
}

fn observed(lost: &[u64]) -> Observations {
    let mut observations = Observations::default();
    // The first packet sets the start.
    observations.push(&[result(packet(1_000_000, 0, 0), Some(50))]);
    for (step, &lost) in (0..).zip(lost) {
        assert!(observations.push(&feedback(step, lost)));
    }
    observations
}

#[test]
fn a_quarter_of_a_second_is_an_observation() {
    let observations = observed(&[1, 0]);
    let all: Vec<(f64, f64, f64, f64)> =
        observations.weighted().map(|(weight, one)| (weight, one.sent, one.lost, one.rate)).collect();
    assert_eq!(all[0], (0.9, 10_000.0, 1000.0, 320e3));
    assert_eq!(all[1], (1.0, 10_000.0, 0.0, 320e3));
    near(observations.loss(), 0.9 * 1000.0 / (1.9 * 10_000.0));
    let mut short = Observations::default();
    assert!(!short.push(&feedback(0, 0)), "225 ms");
}

#[test]
fn best_and_worst_do_not_count() {
    let observations = observed(&[1, 5, 1, 0]);
    let weights = [0.9 * 0.9 * 0.9, 0.9];
    near(observations.loss(), (weights[0] + 0.9) * 1000.0 / ((weights[0] + weights[1]) * 10_000.0));
}

#[test]
fn a_packet_that_comes_late_was_not_lost() {
    let mut observations = Observations::default();
    observations.push(&[result(packet(1_000_000, 0, 0), Some(50))]);
    observations.push(&[result(packet(0, 100, 1000), None)]);
    observations.push(&[result(packet(0, 100, 1000), Some(400))]);
    assert!(observations.push(&[result(packet(1, 250, 1000), Some(300))]));
    near(observations.loss(), 0.0);
}

#[test]
fn newtons_method_finds_the_most_likely_loss() {
    // A tenth is lost at a rate below the bandwidth: the likelihood is greatest at a tenth.
    let observations = observed(&[1; 10]);
    let mut channel = Channel { bandwidth: 1e6, loss: 0.02 };
    for _ in 0..40 {
        channel = channel.stepped(&observations);
    }
    near((channel.loss * 1e6).round(), 100_000.0);
    let other = Channel { loss: 0.12, ..channel };
    assert!(channel.objective(&observations) > other.objective(&observations));
    // At 10 Mb/s no more than 5 % and a little are taken as inherent.
    near(Channel { bandwidth: 10e6, loss: 0.9 }.feasible().loss, 0.06);
    near(Channel { bandwidth: 10e6, loss: 0.0 }.feasible().loss, 0.001);
}

#[test]
fn loss_above_the_bandwidth_points_to_the_bandwidth() {
    // Half is lost at 320 kb/s: 160 kb/s explain it better than 320 kb/s.
    let observations = observed(&[5; 10]);
    let at = |bandwidth| Channel { bandwidth, loss: 0.001 }.feasible().objective(&observations);
    assert!(at(160e3) > at(320e3) && at(160e3) > at(80e3));
}

fn run(losses: &[u64], delay: f64) -> LossBased {
    let mut loss = LossBased::new(5e3, 1e9);
    loss.on_feedback(&[result(packet(1_000_000, 0, 0), Some(50))], delay, false);
    for (step, &lost) in (0..).zip(losses) {
        loss.set_acknowledged(320e3 * (10 - lost) as f64 / 10.0);
        loss.on_feedback(&feedback(step, lost), delay, false);
    }
    loss
}

#[test]
fn without_loss_delay_rules() {
    let loss = run(&[0; 2], 1e6);
    assert_eq!(loss.estimate(), None, "three observations are needed");
    let loss = run(&[0; 10], 1e6);
    assert_eq!((loss.estimate(), loss.state()), (Some(1e6), State::Delay));
}

#[test]
fn heavy_loss_takes_the_estimate_to_what_arrives() {
    let loss = run(&[5; 4], 1e6);
    near(loss.loss(), 0.5);
    // 160 kb/s arrive, which is the bandwidth that explains the loss best; 100 kb/s over the loss above 5 % would allow 222.
    assert_eq!((loss.estimate(), loss.state()), (Some(160e3), State::Decreasing));
}

#[test]
fn loss_bounds_the_estimate_above_five_percent() {
    // A quarter is lost of which nothing else is known: less than ten packets make no acknowledged rate.
    let mut loss = LossBased::new(5e3, 1e9);
    loss.on_feedback(&[result(packet(1_000_000, 0, 0), Some(50))], 2e6, false);
    for step in 0..4 {
        loss.on_feedback(&feedback(step, 3), 2e6, false);
    }
    assert!(loss.estimate().is_some_and(|estimate| estimate <= 100e3 / 0.25), "{:?}", loss.estimate());
}

#[test]
fn the_estimate_returns_after_loss_and_is_bound_to_what_arrives() {
    let mut losses = vec![5; 4];
    losses.extend([0; 4]);
    let loss = run(&losses, 1e6);
    let held = loss.estimate().expect("an estimate");
    assert!(held <= 1.5 * 320e3, "{held}");
    losses.extend([0; 60]);
    let loss = run(&losses, 400e3);
    assert_eq!((loss.estimate(), loss.state()), (Some(400e3), State::Delay));
}
