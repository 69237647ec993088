//! Access categories against each other in a saturated cell, and against the same cell in ns-3.

use hopcast_protocols::random::{Purpose, Stream};
use hopcast_protocols::time::{Duration, Instant};
use hopcast_radio::mac::edca::{AccessCategory, EdcaParameters, Edition, UserPriority};
use hopcast_radio::mac::{Config, Dcf, Payload, QueueSpace, StationId};
use hopcast_radio::medium::{Link, Medium};
use hopcast_radio::phy::{ModulationClasses, Standard, TxVector};
use hopcast_radio::reception::{Reception, Rules, Threshold};
use hopcast_radio::units::{Power, PowerRatio};
use hopcast_sim::engine::{Engine, Loss, Outgoing, Port, Reaction, Upper};

const MBPS_24: TxVector = TxVector::new(Standard::Ofdm, 4);
const MBPS_54: TxVector = TxVector::new(Standard::Ofdm, 7);
/// UDP payload.
const PAYLOAD: u32 = 1_472;

#[derive(Clone, Copy, Debug)]
struct Packet(UserPriority);

impl Payload for Packet {
    fn octets(&self) -> u32 {
        PAYLOAD + 28
    }

    fn priority(&self) -> UserPriority {
        self.0
    }
}

/// Station 0 is the sink; each of the others always has another packet for it.
struct Hosts {
    priorities: Vec<UserPriority>,
    is_awake: Vec<bool>,
    /// By priority of the packet: 0 best effort, 1 voice.
    delivered: [u64; 2],
}

impl Upper for Hosts {
    type Packet = Packet;
    fn handle_packet(&mut self, _: Port, packet: &Packet, _: Option<StationId>, _: Instant) -> Reaction {
        self.delivered[usize::from(packet.0.get() > 0)] += 1;
        Reaction::Any
    }
    fn handle_sent(&mut self, _: Port, _: Packet, _: Instant) -> bool {
        true
    }
    fn handle_drop(&mut self, _: Port, _: Packet, _: Option<StationId>, _: Loss, _: Instant) {}
    fn handle_timeout(&mut self, host: u32, _: Instant) {
        self.is_awake[host as usize] = true;
    }
    fn poll_timeout(&self, host: u32) -> Option<Instant> {
        let start = Instant::START + Duration::from_micros(731) * u64::from(host);
        (!self.is_awake[host as usize]).then_some(start)
    }
    fn poll_output(
        &mut self,
        host: u32,
        room: impl Fn(u32, UserPriority) -> QueueSpace,
        _: Instant,
    ) -> Option<Outgoing<Packet>> {
        let priority = *self.priorities.get(host.checked_sub(1)? as usize)?;
        let outgoing = Outgoing { interface: 0, receiver: Some(StationId(0)), packet: Packet(priority) };
        (room(0, priority).places > 0 && self.is_awake[host as usize]).then_some(outgoing)
    }
}

/// Goodput of best effort and voice in Mb/s: this number of senders of each around a sink, all within a metre; voice with
/// this limit.
fn goodput(voice: u32, effort: u32, txop_limit: Duration, seconds: u64, seed: u64) -> [f64; 2] {
    let stations = 1 + voice + effort;
    let links = |from: u32| {
        let others = (0..stations).filter(move |&to| to != from);
        others.map(|to| Link {
            receiver: StationId(to),
            delay: Duration::from_nanos(3),
            power: Power::from_attowatts(1_000),
            decodable: ModulationClasses::ALL,
        })
    };
    let decoded = Power::from_attowatts(100);
    let reception = Threshold {
        carrier_sense_threshold: Power::from_attowatts(10),
        capture: PowerRatio::from_ratio(10.0),
        rules: Rules::Cumulative,
        receive_thresholds: vec![(MBPS_54, decoded), (MBPS_24, decoded)],
    };
    let links = (0..stations).map(|from| links(from).collect()).collect();
    let medium = Medium::new(links, Reception::Threshold(reception));
    let phy = Standard::Ofdm.phy(false);
    let mut parameters = EdcaParameters::all_defaults(&phy, Edition::Ieee2012);
    parameters[AccessCategory::Voice as usize].txop_limit = txop_limit;
    let config = Config { edca: Some(parameters), queue_packets: 12, ..Config::new(phy, MBPS_54) };
    let station = |station: u32| {
        Dcf::new(StationId(station), config.clone(), Stream::new(seed, Purpose::Backoff, u64::from(station), 0))
    };
    let priority = |station: u32| UserPriority::new(if station < voice { 6 } else { 0 });
    let hosts = Hosts {
        priorities: (0..voice + effort).map(priority).collect(),
        is_awake: vec![false; stations as usize],
        delivered: [0; 2],
    };
    let mut engine = Engine::new(medium, (0..stations).map(station).collect(), hosts);
    let warm = Instant::START + Duration::from_secs(1);
    engine.run_until(warm);
    let before = engine.upper().delivered;
    engine.run_until(warm + Duration::from_secs(seconds));
    let after = engine.upper().delivered;
    [0, 1].map(|class| (after[class] - before[class]) as f64 * f64::from(8 * PAYLOAD) / seconds as f64 / 1e6)
}

/// Of four seeds, 30 s each.
fn goodputs(voice: u32, effort: u32, txop_limit: Duration) -> [[f64; 2]; 4] {
    [1, 2, 3, 4].map(|seed| goodput(voice, effort, txop_limit, 30, seed))
}

/// Goodput of voice and of best effort in ns-3.37, Mb/s: `benches/peers/ns3/edca_cell.cc`, four seeds of 30 s.
const NS_3: [(u32, u32, u64, f64, f64); 6] = [
    (1, 1, 0, 32.390, 0.983),
    (1, 1, 1_504, 35.062, 0.264),
    (2, 2, 0, 23.456, 4.163),
    (2, 2, 1_504, 31.799, 1.387),
    (5, 5, 0, 21.115, 0.433),
    (5, 5, 1_504, 30.649, 0.151),
];

/// The share of best effort and the goodput of all, within 5 %.
#[test]
#[expect(clippy::print_stdout, reason = "the table and the figure in the documentation come from here")]
fn two_categories_share_the_medium_as_in_ns_3() {
    for (voice, effort, limit, expected_voice, expected_effort) in NS_3 {
        let runs = goodputs(voice, effort, Duration::from_micros(limit));
        println!("{voice} + {effort}, {limit} µs, best effort and voice of each seed: {runs:.3?}");
        let [best_effort, of_voice] =
            [0, 1].map(|class| runs.iter().map(|run| run[class]).sum::<f64>() / runs.len() as f64);
        let all = best_effort + of_voice;
        let expected = expected_voice + expected_effort;
        let figures = format!("{voice} + {effort}, {limit} µs: voice {of_voice:.3}, best effort {best_effort:.3} Mb/s");
        assert!((all / expected - 1.0).abs() < 0.05, "{figures}");
        let shares = (best_effort / all) / (expected_effort / expected);
        assert!((shares - 1.0).abs() < 0.05, "{figures}");
    }
}
