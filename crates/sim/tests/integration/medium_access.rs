//! Stations, medium and engine together: properties that one station alone can't show.

use std::sync::{Arc, Mutex};

use hopcast_protocols::random::{Purpose, Stream};
use hopcast_protocols::time::{Duration, Instant};
use hopcast_radio::mac::edca::UserPriority;
use hopcast_radio::mac::{Config, Dcf, Frame, FrameKind, Payload, QueueSpace, StationId};
use hopcast_radio::medium::{Link, Medium};
use hopcast_radio::phy::{ModulationClasses, Standard, TxVector};
use hopcast_radio::reception::{Reception, Rules, Threshold};
use hopcast_radio::units::{Power, PowerRatio};
use hopcast_sim::engine::{Engine, Loss, Outgoing, Port, Reaction, Tap, Upper};

const MBPS_1: TxVector = TxVector::new(Standard::Dsss, 0);
const MBPS_2: TxVector = TxVector::new(Standard::Dsss, 1);

/// A packet of this number of bytes.
#[derive(Clone, Copy, Debug)]
struct Packet(u32);

impl Payload for Packet {
    fn octets(&self) -> u32 {
        self.0
    }
}

/// What one host sends.
#[derive(Clone, Debug, Default)]
struct Source {
    /// Packets still to come, latest first: when, to whom, bytes.
    packets: Vec<(Instant, Option<StationId>, u32)>,
    /// Always has one more for this station.
    saturated: Option<(StationId, u32)>,
    started: bool,
    sent: u64,
    dropped: u64,
    delivered: u64,
}

struct Hosts(Vec<Source>);

impl Upper for Hosts {
    type Packet = Packet;
    fn handle_packet(&mut self, port: Port, _: &Packet, _: Option<StationId>, _: Instant) -> Reaction {
        self.0[port.host as usize].delivered += 1;
        Reaction::Any
    }
    fn handle_sent(&mut self, port: Port, _: Packet, _: Instant) -> bool {
        self.0[port.host as usize].sent += 1;
        true
    }
    fn handle_drop(&mut self, port: Port, _: Packet, _: Option<StationId>, _: Loss, _: Instant) {
        self.0[port.host as usize].dropped += 1;
    }
    fn handle_timeout(&mut self, host: u32, _: Instant) {
        self.0[host as usize].started = true;
    }
    fn poll_timeout(&self, host: u32) -> Option<Instant> {
        let source = &self.0[host as usize];
        let first = source.packets.last().map(|&(at, ..)| at);
        first.or_else(|| (source.saturated.is_some() && !source.started).then_some(Instant::START))
    }
    fn poll_output(
        &mut self,
        host: u32,
        room: impl Fn(u32, UserPriority) -> QueueSpace,
        now: Instant,
    ) -> Option<Outgoing<Packet>> {
        let outgoing = |receiver, octets| Outgoing { interface: 0, receiver, packet: Packet(octets) };
        let source = &mut self.0[host as usize];
        if let Some((to, octets)) = source.saturated {
            return (room(0, UserPriority::BEST_EFFORT).places > 0).then(|| outgoing(Some(to), octets));
        }
        let &(at, to, octets) = source.packets.last()?;
        (at <= now).then(|| {
            source.packets.pop();
            outgoing(to, octets)
        })
    }
}

/// A frame that is sent: when, by whom, its kind and end.
type Sent = (Instant, u32, FrameKind, Instant);

/// Notes each frame that is sent.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<Sent>>>);

impl Tap<Packet> for Log {
    fn on_frame(&mut self, station: StationId, frame: &Frame<Packet>, start: Instant, received: Option<&Link>) {
        if received.is_none() {
            let entry = (start, station.0, frame.kind, start + frame.airtime);
            self.0.lock().expect("no other thread").push(entry);
        }
    }
}

fn us(micros: u64) -> Instant {
    Instant::START + Duration::from_micros(micros)
}

/// 802.11 at 2 Mb/s; `powers[from][to]` in units of which 100 are decoded and 10 sensed; zero is no link.
/// No two links between a station and others have the same delay, so neither have their slot boundaries.
fn engine(powers: &[Vec<u64>], sources: Vec<Source>, seed: u64) -> (Engine<Hosts>, Log) {
    let links = powers.iter().zip(0_u32..).map(|(row, from)| {
        let link = |(to, &power): (u32, &u64)| {
            let (delay, power) =
                (Duration::from_nanos(u64::from(100 + 37 * (from + to))), Power::from_attowatts(power));
            (power > Power::ZERO).then_some(Link {
                receiver: StationId(to),
                delay,
                power,
                decodable: ModulationClasses::ALL,
            })
        };
        (0..).zip(row).filter_map(link).collect()
    });
    let decoded = Power::from_attowatts(100);
    let reception = Threshold {
        carrier_sense_threshold: Power::from_attowatts(10),
        capture: PowerRatio::from_ratio(10.0),
        rules: Rules::Cumulative,
        receive_thresholds: vec![(MBPS_2, decoded), (MBPS_1, decoded)],
    };
    let medium = Medium::new(links.collect(), Reception::Threshold(reception));
    let config = Config {
        basic_rate: MBPS_1,
        short_retry_limit: 1_000,
        queue_packets: 2,
        ..Config::new(Standard::Dsss.phy(false), MBPS_2)
    };
    let station = |station: u32| {
        let random = Stream::new(seed, Purpose::Backoff, u64::from(station), 0);
        Dcf::new(StationId(station), config.clone(), random)
    };
    let stations = (0..powers.len() as u32).map(station).collect();
    let mut engine = Engine::new(medium, stations, Hosts(sources));
    let log = Log::default();
    engine.set_tap(log.clone());
    (engine, log)
}

fn starts_of(log: &Log, station: u32) -> Vec<Instant> {
    log.0.lock().expect("no other thread").iter().filter(|frame| frame.1 == station).map(|frame| frame.0).collect()
}

/// Broadcast packets, each as soon as the one before is gone.
fn broadcasts(instants: &[u64], octets: u32) -> Source {
    let packets = instants.iter().rev().map(|&at| (us(at), None, octets)).collect();
    Source { packets, ..Source::default() }
}

/// Frames too weak to be sensed, which come and go while a station counts its backoff, do not touch it.
///
/// ```text
///   station 0   D    ┬─┬─┬─┬─┬─┬─ …  D          sends at the same instants with station 1 or without it
///   station 1      ▄▄▄▄   ▄▄▄▄   ▄▄▄▄           below carrier sense at station 0
/// ```
#[test]
fn frames_below_carrier_sense_do_not_disturb_a_backoff() {
    let starts = |seed, weak: Source| {
        // Nobody hears station 0.
        let (mut engine, log) = engine(&[vec![0, 0], vec![5, 0]], vec![broadcasts(&[1_000; 3], 64), weak], seed);
        engine.run_until(us(200_000));
        starts_of(&log, 0)
    };
    for seed in 1..20 {
        let alone = starts(seed, Source::default());
        assert_eq!(alone.len(), 3);
        // Back to back: frames of 488 µs with a backoff between them.
        let beside: Vec<u64> = (0..60).map(|frame| 900 + frame * 100).collect();
        assert_eq!(starts(seed, broadcasts(&beside, 1)), alone, "seed {seed}");
    }
}

/// A frame that ends while the station itself sends does not make the medium idle, and one that begins then is sensed
/// when the station has ended.
///
/// ```text
///   0    D▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄┐ its own long frame              next D only after the end of station 2's frame
///   1  ▄▄▄▄▄▄              │ ends within it
///   2          ▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄ begins within it, outlasts it
/// ```
#[test]
fn a_medium_that_turned_busy_during_an_own_frame_is_busy_after_it() {
    let powers = [vec![0, 0, 0], vec![500, 0, 0], vec![500, 0, 0]];
    for seed in 1..20 {
        // Station 0: 1000 bytes from 1000 on, 192 + 8288 µs. Station 1 begins at the same instant, unheard till then.
        let sources = vec![broadcasts(&[1_000, 1_010], 1_000), broadcasts(&[1_000], 64), broadcasts(&[5_000], 1_400)];
        let (mut engine, log) = engine(&powers, sources, seed);
        engine.run_until(us(100_000));
        let log = log.0.lock().expect("no other thread");
        let other_end = log.iter().find(|frame| frame.1 == 2).expect("station 2 sends").3;
        let own: Vec<_> = log.iter().filter(|frame| frame.1 == 0).collect();
        assert_eq!((own.len(), own[0].0), (2, us(1_000)));
        assert!(own[0].3 < other_end, "station 2 outlasts it");
        let difs = Duration::from_micros(50);
        assert!(own[1].0 >= other_end + difs, "seed {seed}: {} starts before {other_end} + DIFS", own[1].0);
    }
}

/// In a cell where all hear all and always have something to send, the throughput is that of Bianchi's model (IEEE JSAC
/// 18(3), 2000, equations 7, 9 and 13) with DIFS after a collision: equal frames destroy each other's headers, so nothing
/// is reported as an error.
#[test]
fn a_saturated_cell_agrees_with_bianchi() {
    const OCTETS: u32 = 1_000;
    const SECONDS: u64 = 10;
    for senders in [2_usize, 5, 10] {
        let powers: Vec<Vec<u64>> =
            (0..=senders).map(|from| (0..=senders).map(|to| if from == to { 0 } else { 1_000 }).collect()).collect();
        let mut sources = vec![Source { saturated: Some((StationId(0), OCTETS)), ..Source::default() }; senders + 1];
        sources[0] = Source::default();
        let (mut engine, _) = engine(&powers, sources, 7);
        engine.run_until(Instant::START + Duration::from_secs(SECONDS));
        let packets = engine.upper().0[0].delivered;
        let measured = packets as f64 * f64::from(OCTETS) * 8.0 / SECONDS as f64;
        let expected = bianchi(senders as i32, OCTETS);
        let error = measured / expected - 1.0;
        assert!(
            error.abs() < 0.03,
            "{senders} senders: {measured:.0} bit/s, not {expected:.0}: {:.1} %",
            error * 100.0
        );
        let sent: u64 = engine.upper().0.iter().map(|source| source.sent).sum();
        assert_eq!(sent, packets, "what is acknowledged has arrived once");
    }
}

/// `base` to a whole power.
fn power(base: f64, exponent: i32) -> f64 {
    (0..exponent).map(|_| base).product()
}

/// Saturation throughput in bit/s: 802.11, W = 32, m = 5.
fn bianchi(senders: i32, octets: u32) -> f64 {
    let tau_at = |p: f64| 2.0 * (1.0 - 2.0 * p) / ((1.0 - 2.0 * p) * 33.0 + p * 32.0 * (1.0 - power(2.0 * p, 5)));
    let (mut low, mut high) = (0.0, 0.49999);
    for _ in 0..100 {
        let p = (low + high) / 2.0;
        match 1.0 - power(1.0 - tau_at(p), senders - 1) > p {
            true => low = p,
            false => high = p,
        }
    }
    let tau = tau_at(low);
    let busy = 1.0 - power(1.0 - tau, senders);
    let success = f64::from(senders) * tau * power(1.0 - tau, senders - 1);
    // Slot 20, SIFS 10, DIFS 50, ACK 304 µs.
    let data = 192.0 + f64::from(octets + 36) * 8.0 / 2.0;
    let time = (1.0 - busy) * 20.0 + success * (data + 10.0 + 304.0 + 50.0) + (busy - success) * (data + 50.0);
    success * f64::from(octets) * 8.0 / (time * 1e-6)
}
