//! The 802.11 radio: timing, propagation, reception, the medium and its access.
//!
//! A frame's way through this crate: a station ([`mac::Dcf`]) takes a packet from its queue and contends; the [`medium`]
//! carries its frame along the links that [`propagation`] gave; each receiver decodes it, loses it, or senses its energy,
//! and tells its station. The caller drives both in the right order: nothing here has a clock or a queue of events.
//!
//! Durations and rates come from [`phy`], by clause of IEEE 802.11-2020. Powers are exact integers ([`units`]), so that
//! sums of interference do not depend on order. `docs/models` lists the limits of the models.
//!
//! # A first example
//!
//! Duration of a frame of 802.11a at the highest rate, and its power 20 m away.
//!
//! ```
//! use hopcast_radio::phy::Standard;
//! use hopcast_radio::propagation::{FreeSpace, Position, Propagation};
//! use hopcast_radio::units::Power;
//!
//! let phy = Standard::Ofdm.phy(false);
//! assert_eq!(phy.fastest().to_string(), "54 Mb/s");
//! // 20 µs of preamble and header, and 57 symbols of 4 µs.
//! assert_eq!(phy.airtime(phy.fastest(), 1536).as_nanos(), 248_000);
//!
//! let (here, there) = (Position::on_ground(0.0, 0.0), Position::on_ground(20.0, 0.0));
//! let power = FreeSpace::new(5.18e9).received_power(Power::from_dbm(16.0), here, there);
//! assert!((power.as_dbm() - -56.8).abs() < 0.1);
//! ```
//!
//! # A whole one
//!
//! Two stations each send 20 packets to a third. The program around them does what the simulator does: it keeps the edges
//! of frames and the stations' timers in order of time, and drains each station after each change. At one instant, ends
//! of frames come first, then timers, then starts of frames.
//!
//! ```
//! use std::collections::BTreeMap;
//!
//! use hopcast_protocols::random::{Purpose, Stream};
//! use hopcast_protocols::time::{Duration, Instant};
//! use hopcast_radio::mac::{Config, Dcf, Output, Payload, StationId};
//! use hopcast_radio::medium::{EdgeProgress, Link, Medium, TransmissionId};
//! use hopcast_radio::phy::{ModulationClasses, Standard};
//! use hopcast_radio::propagation::{FreeSpace, Position, Propagation, propagation_delay};
//! use hopcast_radio::reception::{Carrier, LeadingEdge, Reception, ReceptionOutcome, Rules, Threshold};
//! use hopcast_radio::units::{Power, PowerRatio};
//!
//! /// A packet of 1000 bytes, by its number.
//! #[derive(Clone)]
//! struct Packet(u32);
//!
//! impl Payload for Packet {
//!     fn octets(&self) -> u32 {
//!         1000
//!     }
//! }
//!
//! /// What is due, in the order in which it happens at one instant.
//! #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
//! enum Rank {
//!     Trailing,
//!     Timer,
//!     Leading,
//! }
//!
//! struct Run {
//!     medium: Medium<Packet>,
//!     stations: Vec<Dcf<Packet>>,
//!     /// By number of the transmission.
//!     edges: BTreeMap<(Instant, Rank, u64), TransmissionId>,
//!     delivered: Vec<(StationId, u32)>,
//! }
//!
//! impl Run {
//!     /// Carries out what a station wants. `heard` is the transmission that it has just been told of.
//!     fn drain(&mut self, station: StationId, heard: Option<TransmissionId>, now: Instant) {
//!         let station = &mut self.stations[station.0 as usize];
//!         while let Some(output) = station.poll_output() {
//!             match output {
//!                 Output::Transmit(()) => {
//!                     let (frame, packet) = station.on_air();
//!                     if let Some(started) = self.medium.transmit(frame, packet, None, now) {
//!                         self.edges.insert((started.leading, Rank::Leading, started.number), started.id);
//!                         self.edges.insert((started.trailing, Rank::Trailing, started.number), started.id);
//!                     }
//!                 }
//!                 Output::Deliver((), from) => {
//!                     let heard = self.medium.transmission(heard.expect("only a frame delivers"));
//!                     self.delivered.push((from, heard.packet.as_ref().expect("data carry one").0));
//!                 }
//!                 Output::Sent(_) => {}
//!                 _ => panic!("no packet is dropped here"),
//!             }
//!         }
//!     }
//!
//!     /// Does what is due next; `false`: nothing is.
//!     fn step(&mut self) -> bool {
//!         let timers = (0..).zip(&self.stations);
//!         let timer = timers.filter_map(|(station, dcf)| Some((dcf.poll_timeout()?, Rank::Timer, station))).min();
//!         let edge = self.edges.keys().next().copied();
//!         let Some(next @ (now, rank, number)) = timer.into_iter().chain(edge).min() else { return false };
//!         let after = now + Duration::from_nanos(1);
//!         match rank {
//!             Rank::Timer => {
//!                 let (station, medium) = (StationId(number as u32), &mut self.medium);
//!                 let dcf = &mut self.stations[number as usize];
//!                 let is_busy = dcf.is_transmitting() && medium.handle_transmitted(station);
//!                 dcf.handle_timeout(now, || medium.receiving(station, now), is_busy);
//!                 self.drain(station, None, now);
//!             }
//!             Rank::Leading => {
//!                 let id = self.edges.remove(&next).expect("it was just seen");
//!                 let later = self.medium.follow_leading(id, after, |station, now, edge| {
//!                     if edge == LeadingEdge::Busy {
//!                         self.stations[station.0 as usize].handle_busy(now);
//!                     }
//!                 });
//!                 self.edges.extend(later.map(|at| ((at, rank, number), id)));
//!             }
//!             Rank::Trailing => {
//!                 let id = self.edges.remove(&next).expect("it was just seen");
//!                 let mut edge = self.medium.trailing(id);
//!                 loop {
//!                     let progress = self.medium.follow_trailing(id, &mut edge, after, |transmission, link, now, outcome, _, carrier| {
//!                         let (dcf, frame) = (&mut self.stations[link.receiver.0 as usize], &transmission.frame);
//!                         match outcome {
//!                             ReceptionOutcome::Frame(start) => dcf.handle_frame(frame, start, now),
//!                             ReceptionOutcome::Error(start) => dcf.handle_error(frame.vector, start, now),
//!                             ReceptionOutcome::Noise => {}
//!                         }
//!                         match carrier {
//!                             Carrier::Unchanged => {}
//!                             Carrier::Idle => dcf.handle_idle(now),
//!                             Carrier::Busy => _ = dcf.handle_busy(now),
//!                         }
//!                         // Halt: the station may want to act before the edge goes on.
//!                         None
//!                     });
//!                     match progress {
//!                         EdgeProgress::Halted(now, station) => self.drain(station, Some(id), now),
//!                         EdgeProgress::Later(at) => {
//!                             self.medium.suspend(id, edge);
//!                             self.edges.insert((at, rank, number), id);
//!                             break;
//!                         }
//!                         EdgeProgress::Over => {
//!                             self.medium.remove(id);
//!                             break;
//!                         }
//!                     }
//!                 }
//!             }
//!         }
//!         true
//!     }
//! }
//!
//! // Three stations in a line, 20 m apart, each of which hears the others.
//! let phy = Standard::Ofdm.phy(false);
//! let places = [0.0, 20.0, 40.0].map(|x| Position::on_ground(x, 0.0));
//! let loss = FreeSpace::new(5.18e9);
//! let links = (0..3).map(|from| {
//!     let mut links: Vec<Link> = (0..3)
//!         .filter(|&to| to != from)
//!         .map(|to| Link {
//!             receiver: StationId(to as u32),
//!             delay: propagation_delay(places[from].distance(places[to])),
//!             power: loss.received_power(Power::from_dbm(16.0), places[from], places[to]),
//!             decodable: ModulationClasses::ALL,
//!         })
//!         .collect();
//!     links.sort_by_key(|link| (link.delay, link.receiver));
//!     links
//! });
//! // What arrives with -82 dBm is sensed and decoded, whatever its rate.
//! let threshold = Power::from_dbm(-82.0);
//! let reception = Reception::Threshold(Threshold {
//!     carrier_sense_threshold: threshold,
//!     capture: PowerRatio::from_ratio(10.0),
//!     rules: Rules::Cumulative,
//!     receive_thresholds: phy.vectors().iter().map(|&vector| (vector, threshold)).collect(),
//! });
//! let config = Config::new(phy, phy.fastest());
//! let mut run = Run {
//!     medium: Medium::new(links.collect(), reception),
//!     stations: (0..3)
//!         .map(|station| Dcf::new(StationId(station), config.clone(), Stream::new(7, Purpose::Backoff, station.into(), 0)))
//!         .collect(),
//!     edges: BTreeMap::new(),
//!     delivered: Vec::new(),
//! };
//! for station in [0, 2] {
//!     for packet in 0..20 {
//!         run.stations[station].handle_packet(Some(StationId(1)), Packet(packet), Instant::START);
//!     }
//!     run.drain(StationId(station as u32), None, Instant::START);
//! }
//! while run.step() {}
//!
//! // Each packet has arrived once and in its order, in spite of collisions.
//! for station in [0, 2] {
//!     let of_one = run.delivered.iter().filter(|(from, _)| from.0 == station);
//!     assert!(of_one.map(|&(_, packet)| packet).eq(0..20));
//! }
//! let counters = run.stations[0].counters();
//! assert!(counters.data_sent > 20 && counters.data_sent - counters.ack_timeouts == 20);
//! ```

pub mod aggregate;
pub mod errors;
pub mod fading;
pub mod frame;
pub mod mac;
pub mod medium;
pub mod obstacles;
pub mod phy;
pub mod propagation;
pub mod queue;
pub mod rate;
pub mod reception;
#[cfg(any(test, feature = "testkit"))]
pub mod testkit;
pub mod transmission;
pub mod units;
pub mod variate;
