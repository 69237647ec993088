//! The radio: standard, rates, thresholds, propagation.

use hopcast_protocols::time::Duration;
use hopcast_radio::errors::{DEFAULT_NOISE_FIGURE, States, thermal_noise};
use hopcast_radio::fading::Distribution;
use hopcast_radio::mac::edca::Edition;
use hopcast_radio::mac::{self, AccessRules, dsss_rate};
use hopcast_radio::phy::{DataRate, Modulation, ReedSolomon, Standard};
use hopcast_radio::propagation;
use hopcast_radio::queue::{CoDelConfig, Discipline, FqCoDelConfig};
use hopcast_radio::rate::Algorithm;
use hopcast_radio::reception::default_detection;

use super::super::model;
use super::super::quantity::{
    Frequency, Length, Level, LevelOrOff, Power, Rate, RateChoice, Size, SizeOrNone, SizeOrOff, Time,
};
use super::super::schema;
use super::super::schema::{
    Edca, Errors, FadingName, Fec, FreeSpace, LossLevel, NodeRadio, Polarization, Preamble, Profile, Propagation,
    Protection, Queue, Radio, Reception, ShadowingPer, StandardName, TwoRayGround, Variation,
};
use super::{Resolver, exact, instant, show, word};

/// ns-2's `Mac/802_11 bandwidth_`, to which dataRate_ and basicRate_ fall back where they are 0, as in the CMU extension's scenes. The
/// library of ns-2.35 sets both to 1 Mb/s.
const NS_2_BANDWIDTH: DataRate = DataRate::from_kbps(2_000);

/// So far below a power that could just destroy a frame, a hundred transmissions at once are needed to do it.
const FLOOR_MARGIN: f64 = 20.0;

/// Why a basic rate is what it is by default.
const BASIC_RATE_SOURCE: &str =
    "default: the highest mandatory rate up to the data rate (IEEE 802.11-2020, 10.6.6.5.2)";

/// Share of data in a coded frame: 60 % (N. Petrovic and M. Aboelaze, study P).
const FEC_EFFICIENCY: f64 = 0.6;

/// A receiver passes 17.3.10.3 if interference on the adjacent channel at -63 dBm (sensitivity + 3 dB + rejection, the same
/// at each rate) does no more than the noise that 17.3.10.2 allows it, thermal noise and 10 dB: -91 dBm.
const ADJACENT_CHANNEL_REJECTION: f64 = 28.0;
const ADJACENT_CHANNEL_SOURCE: &str = "default: the least that IEEE 802.11-2020, 17.3.10.3, asks of a receiver";

impl Resolver<'_> {
    /// The radio and the MTU.
    pub(super) fn radio(&mut self, radio: &Radio, profile: Profile) -> (model::Radio, Option<u32>) {
        let ns_2 = profile == Profile::Ns2;
        let standard = self.ledger.pick(&["radio", "standard"], radio.standard, word, || match profile {
            Profile::Wavelan => (StandardName::Wavelan, "profile wavelan".into()),
            _ => (StandardName::Dsss, "default: the first physical layer of the standard".into()),
        });
        let standard = match standard {
            StandardName::Dsss => Standard::Dsss,
            StandardName::HrDsss => Standard::HrDsss,
            StandardName::Ofdm => Standard::Ofdm,
            StandardName::Erp => Standard::Erp,
            StandardName::OfdmTurbo => Standard::OfdmTurbo,
            StandardName::Wavelan => Standard::Wavelan,
        };
        let preamble = self.ledger.pick(&["radio", "preamble"], radio.preamble, word, || {
            (Preamble::Long, "default: the one that every station of IEEE 802.11-2020, clause 16, understands".into())
        });
        let short_preamble = preamble == Preamble::Short;
        if short_preamble && !matches!(standard, Standard::HrDsss | Standard::Erp) {
            self.report(&["radio", "preamble"], format!("{standard} has no short preamble"), "\"long\", or 802.11b");
        }
        let (data_rate, rate_control, basic_rate) = self.rates(radio, standard, ns_2);
        let edca = self.ledger.pick(&["radio", "edca"], radio.edca, word, || (Edca::Off, "default: DCF".into()));
        let edca = match edca {
            Edca::Off => None,
            Edca::Ieee2012 => Some(Edition::Ieee2012),
            Edca::Ieee2020 => Some(Edition::Ieee2020),
        };
        let association = self.association(radio, standard);
        let protection = self.protection(radio, standard, basic_rate, association.is_some());

        let path = ["radio", "rts_threshold"];
        let rts_threshold = self.ledger.pick(&path, radio.rts_threshold, show, || match ns_2 {
            _ if !standard.acknowledges() => (SizeOrOff(None), format!("default: {standard} has no RTS")),
            true => (SizeOrOff(Some(Size(0.0))), ns_2_default("RTSThreshold_ 0")),
            false => (SizeOrOff(None), "default: dot11RTSThreshold beyond any frame".into()),
        });
        if rts_threshold.0.is_some() && !standard.acknowledges() {
            self.report(
                &path,
                format!("{standard} has no RTS: its stations answer nobody"),
                "\"off\", or another standard",
            );
        }
        let retry_limit = radio.retry_limit.unwrap_or_default();
        let short_retry_limit = self.ledger.pick(&["radio", "retry_limit", "short"], retry_limit.short, show, || {
            (mac::Config::DEFAULT_SHORT_RETRY_LIMIT, "default: dot11ShortRetryLimit (IEEE 802.11-2020, Annex C)".into())
        });
        let long_retry_limit = self.ledger.pick(&["radio", "retry_limit", "long"], retry_limit.long, show, || {
            (mac::Config::DEFAULT_LONG_RETRY_LIMIT, "default: dot11LongRetryLimit (IEEE 802.11-2020, Annex C)".into())
        });
        let queue = radio.queue.unwrap_or_default();
        let queue_packets = self.ledger.pick(&["radio", "queue", "packets"], queue.packets, show, || {
            let source = "default: as in ns-2 (ifqlen 50), which most published studies kept";
            (mac::Config::DEFAULT_QUEUE_PACKETS, source.into())
        });
        let mtu = self.ledger.pick(&["radio", "mtu"], radio.mtu, show, || match ns_2 {
            true => (SizeOrNone(None), ns_2_default("no fragmentation")),
            false => (SizeOrNone(Some(Size(1500.0))), "default: that of Ethernet, as Linux gives it to 802.11".into()),
        });
        let queue_discipline = self.queue_discipline(queue, mtu.0.map(bytes), ns_2);
        let (propagation, by_range) = self.propagation(radio, standard, ns_2);
        let variation = match radio.propagation {
            Some(Propagation::Range { .. }) => None,
            None => Some(Variation::default()),
            Some(
                Propagation::FreeSpace(FreeSpace { variation, .. })
                | Propagation::TwoRayGround(TwoRayGround { variation, .. })
                | Propagation::TwoRayInterference(schema::TwoRayInterference { variation, .. })
                | Propagation::LogDistance(schema::LogDistance { variation, .. }),
            ) => Some(variation),
        };
        let shadowing = variation.and_then(|variation| self.shadowing(variation, ns_2));
        let fading = variation.and_then(|variation| self.fading(variation));
        let used = match rate_control {
            Algorithm::Fixed(_) => &[data_rate, basic_rate],
            _ => standard.rates(),
        };
        let (tx_power, reception) = self.reception(radio, standard, short_preamble, used, ns_2, by_range);
        let (access_rules, told) = match ns_2 {
            true => (AccessRules::Ns2, "those of ns-2.35's Mac802_11, where they differ from IEEE 802.11-2020"),
            false => (AccessRules::Standard, "those of IEEE 802.11-2020"),
        };
        let source = format!("profile {} (no key of its own)", word(&profile));
        self.ledger.note(&["radio", "access_rules"], told, &source);
        let errors = self.errors(radio.errors.as_ref(), ns_2);
        let channel = radio.channel.and_then(|channel| channel_frequency(channel, standard).ok());
        let adjacent_channel_rejection =
            self.ledger.pick(&["radio", "adjacent_channel_rejection"], radio.adjacent_channel_rejection, show, || {
                match ns_2 {
                    true => (LevelOrOff(None), ns_2_default("each Channel hands frames to its own interfaces alone")),
                    false => (LevelOrOff(Some(Level(ADJACENT_CHANNEL_REJECTION))), ADJACENT_CHANNEL_SOURCE.into()),
                }
            });
        let radio = model::Radio {
            standard,
            channel: channel.unwrap_or_else(|| standard.default_frequency()),
            adjacent_channel_rejection: adjacent_channel_rejection.0.map(|level| level.0),
            short_preamble,
            data_rate,
            rate_control,
            edca,
            protection,
            association,
            access_rules,
            basic_rate,
            rts_threshold: rts_threshold.0.map(bytes),
            short_retry_limit,
            long_retry_limit,
            queue_packets,
            queue_discipline,
            tx_power,
            propagation,
            shadowing,
            fading,
            reception,
            errors,
        };
        (radio, mtu.0.map(bytes))
    }

    /// The radios of a group of nodes, which `given` tells apart from `radio`; `names` are those of networks so far.
    pub(super) fn node_radios(
        &mut self,
        index: &str,
        given: &[NodeRadio],
        radio: &model::Radio,
        names: &mut Vec<String>,
    ) -> Vec<model::NodeRadio> {
        let mut radios = Vec::new();
        for (given, place) in given.iter().zip(0..) {
            let place: u32 = place;
            let place = place.to_string();
            let at = |key| ["nodes", index, "radios", place.as_str(), key];
            for key in ["network", "channel", "data_rate"] {
                self.ledger.note_given(&at(key));
            }
            let standard = radio.standard;
            let frequency = given.channel.map(|channel| channel_frequency(channel, standard));
            if let Some(Err(known)) = frequency {
                self.report(&at("channel"), format!("{standard} has no such channel"), known);
            }
            let mut rate = |key, rate: Option<Rate>| rate.and_then(|rate| self.rate_at(&at(key), rate, standard));
            let data_rate = rate("data_rate", given.data_rate);
            let basic_rate = rate("basic_rate", given.basic_rate);
            let basic_rate = self.node_basic_rate(&at("basic_rate"), data_rate, basic_rate, radio);
            self.ledger.note_given(&at("tx_power"));
            let network = match &given.network {
                None => 0,
                Some(name) => match names.iter().position(|known| known == name) {
                    Some(known) => known as u32 + 1,
                    None => {
                        names.push(name.clone());
                        names.len() as u32
                    }
                },
            };
            radios.push(model::NodeRadio {
                network,
                // Those without a name of their own are one network.
                ssid: given.network.as_deref().unwrap_or("hopcast").into(),
                frequency: frequency.and_then(Result::ok).unwrap_or(radio.channel),
                data_rate: data_rate.unwrap_or(radio.data_rate),
                rate_control: data_rate.map_or(radio.rate_control, Algorithm::Fixed),
                basic_rate,
                tx_power: given.tx_power.map_or(radio.tx_power, |power| power.0),
            });
        }
        radios
    }

    /// The basic rate of a radio, of which these rates are its own.
    fn node_basic_rate(
        &mut self,
        path: &[&str],
        data_rate: Option<DataRate>,
        given: Option<DataRate>,
        radio: &model::Radio,
    ) -> DataRate {
        let standard = radio.standard;
        let (fitting, exceeding) = split(given, data_rate.unwrap_or(radio.data_rate));
        if let Some(rate) = fitting {
            self.ledger.note_given(path);
            // What protects by default is left to the other radios.
            let is_asked = standard == Standard::Erp && self.ledger.is_given(&["radio", "protection"]);
            if is_asked && radio.protection != mac::Protection::None {
                self.check_protects(path, rate);
            }
            return rate;
        }
        let (rate, source) = match data_rate {
            Some(rate) if !has_rate(standard, rate, radio.basic_rate) => {
                (default_basic_rate(standard, radio.protection != mac::Protection::None, rate), BASIC_RATE_SOURCE)
            }
            // The network's, as what goes at it is for all stations.
            _ => (radio.basic_rate, "radio.basic_rate"),
        };
        if rate != radio.basic_rate || exceeding.is_some() {
            self.ledger.note(path, &rate.to_string(), &in_place_of(exceeding, source.into()));
        }
        rate
    }

    /// How the interface queue is managed; `mtu` in bytes, if there is one.
    fn queue_discipline(&mut self, queue: Queue, mtu: Option<u32>, ns_2: bool) -> Discipline {
        let path = |key| ["radio", "queue", key];
        let discipline = self.ledger.pick(&path("discipline"), queue.discipline, word, || match ns_2 {
            true => (schema::Discipline::Priority, ns_2_default("Queue/DropTail/PriQueue")),
            false => (schema::Discipline::DropTail, "default: what most published studies had".into()),
        });
        let (controlled, fair) = match discipline {
            schema::Discipline::DropTail | schema::Discipline::Priority => (false, false),
            schema::Discipline::Codel => (true, false),
            schema::Discipline::FqCodel => (true, true),
        };
        for (key, is_given, in_use, of) in [
            ("target", queue.target.is_some(), controlled, "\"codel\" or \"fq-codel\""),
            ("interval", queue.interval.is_some(), controlled, "\"codel\" or \"fq-codel\""),
            ("quantum", queue.quantum.is_some(), fair, "\"fq-codel\""),
        ] {
            if is_given && !in_use {
                self.report(
                    &path(key),
                    format!("is no parameter of {}", word(&discipline)),
                    format!("discipline = {of}"),
                );
            }
        }
        if !controlled {
            return match discipline {
                schema::Discipline::Priority => Discipline::Priority,
                _ => Discipline::DropTail,
            };
        }
        let target = self.ledger.pick(&path("target"), queue.target, show, || {
            (Time(0.005), "default: TARGET (RFC 8289, section 4)".into())
        });
        let interval = self.ledger.pick(&path("interval"), queue.interval, show, || {
            (Time(0.1), "default: INTERVAL (RFC 8289, section 4)".into())
        });
        if target.0 >= interval.0 {
            let problem = format!("is not less than interval ({interval})");
            self.report(&path("target"), problem, "about a twentieth of it (RFC 8289, section 4)");
        }
        let codel = CoDelConfig {
            target: Duration::from_secs_f64(target.0),
            interval: Duration::from_secs_f64(interval.0),
            mtu: mtu.unwrap_or_else(|| CoDelConfig::default().mtu),
        };
        if !fair {
            return Discipline::CoDel(codel);
        }
        let quantum = self.ledger.pick(&path("quantum"), queue.quantum, exact, || {
            (Size(1514.0), "default: quantum (RFC 8290, section 5.2)".into())
        });
        Discipline::FqCoDel(FqCoDelConfig { codel, quantum: bytes(quantum), ..FqCoDelConfig::default() })
    }

    /// The rate of data frames or the highest of them, what chooses it, and the basic rate.
    fn rates(&mut self, radio: &Radio, standard: Standard, ns_2: bool) -> (DataRate, Algorithm, DataRate) {
        let ns_2_has_it = ns_2 && standard.rates().contains(&NS_2_BANDWIDTH);
        let given = match radio.data_rate {
            Some(RateChoice::Fixed(rate)) => self.rate("data_rate", rate, standard),
            _ => None,
        };
        let adaptive = match radio.data_rate {
            Some(RateChoice::Arf) => Some(Algorithm::Arf),
            Some(RateChoice::Aarf) => Some(Algorithm::Aarf),
            Some(RateChoice::Minstrel) => Some(Algorithm::Minstrel),
            Some(RateChoice::Fixed(_)) | None => None,
        };
        let (data_rate, rate_control) = match adaptive {
            Some(algorithm) => {
                self.ledger.note_given(&["radio", "data_rate"]);
                (standard.default_data_rate(), algorithm)
            }
            None => {
                let rate = self.ledger.pick(&["radio", "data_rate"], given, show, || match ns_2_has_it {
                    true => (NS_2_BANDWIDTH, ns_2_default("bandwidth_ 2Mb, where dataRate_ is 0; its library has 1Mb")),
                    false => (standard.default_data_rate(), format!("default: the highest rate of {standard}")),
                });
                (rate, Algorithm::Fixed(rate))
            }
        };
        let given = radio.basic_rate.and_then(|rate| self.rate("basic_rate", rate, standard));
        let protected = matches!(radio.protection, Some(Protection::CtsToSelf | Protection::RtsCts));
        let (fitting, exceeding) = split(given, data_rate);
        let basic_rate = self.ledger.pick(&["radio", "basic_rate"], fitting, show, || {
            let (rate, source) = if ns_2_has_it && data_rate >= NS_2_BANDWIDTH {
                (NS_2_BANDWIDTH, ns_2_default("bandwidth_ 2Mb, where basicRate_ is 0; its library has 1Mb"))
            } else {
                let source = match protected && standard == Standard::Erp {
                    true => "default with protection: what 802.11b has",
                    false => BASIC_RATE_SOURCE,
                };
                (default_basic_rate(standard, protected, data_rate), source.into())
            };
            (rate, in_place_of(exceeding, source))
        });
        (data_rate, rate_control, basic_rate)
    }

    fn protection(
        &mut self,
        radio: &Radio,
        standard: Standard,
        basic_rate: DataRate,
        is_over_the_air: bool,
    ) -> mac::Protection {
        let path = ["radio", "protection"];
        let protection = self.ledger.pick(&path, radio.protection, word, || {
            if is_over_the_air && standard == Standard::Erp && basic_rate.modulation() == Modulation::Dsss {
                let source = "default over the air: while a station of 802.11b belongs to the network";
                return (Protection::CtsToSelf, source.into());
            }
            (Protection::None, "default: as where all stations understand OFDM".into())
        });
        let protection = match protection {
            Protection::None => return mac::Protection::None,
            Protection::CtsToSelf => mac::Protection::CtsToSelf,
            Protection::RtsCts => mac::Protection::RtsCts,
        };
        if standard != Standard::Erp {
            self.report(
                &path,
                format!("{standard} needs none: only 802.11g mixes OFDM with what came before"),
                "\"none\"",
            );
        } else {
            self.check_protects(&path, basic_rate);
        }
        protection
    }

    /// What protects others is at the basic rate, which these must understand.
    fn check_protects(&mut self, path: &[&str], basic_rate: DataRate) {
        if basic_rate.modulation() == Modulation::Ofdm {
            let problem =
                format!("protects nothing at a basic rate of {basic_rate}, which 802.11b does not understand");
            self.report(path, problem, "a basic_rate of 1, 2, 5.5 or 11 Mb/s");
        }
    }

    fn rate(&mut self, key: &str, rate: Rate, standard: Standard) -> Option<DataRate> {
        self.rate_at(&["radio", key], rate, standard)
    }

    /// The rate of the standard that is `rate`; another is reported.
    fn rate_at(&mut self, path: &[&str], rate: Rate, standard: Standard) -> Option<DataRate> {
        let found = standard.rates().iter().find(|known| f64::from(known.as_kbps()) * 1e3 == rate.0).copied();
        if found.is_none() {
            let known: Vec<String> = standard.rates().iter().map(|rate| format!("\"{rate}\"")).collect();
            self.report(path, format!("{standard} has no such rate"), format!("one of {}", known.join(", ")));
        }
        found
    }

    /// The propagation, and whether it knows no power.
    fn propagation(&mut self, radio: &Radio, standard: Standard, ns_2: bool) -> (model::Propagation, bool) {
        let from_channel = radio.channel.and_then(|channel| self.channel(channel, standard));
        if radio.channel.is_none() {
            let is_default = |channel: &u32| channel_frequency(*channel, standard) == Ok(standard.default_frequency());
            let first = (1..=200).find(is_default).expect("the default frequency is that of a channel");
            let source = format!("default: the first channel of {standard}");
            self.ledger.note(&["radio", "channel"], &first.to_string(), &source);
        }
        let given = radio.propagation;
        if given.is_none() {
            let (model, source) = match ns_2 {
                true => ("two-ray-ground", ns_2_default("Propagation/TwoRayGround, as in its wireless examples")),
                false => ("free-space", "default: the only model without a parameter of its own".into()),
            };
            self.ledger.note(&["radio", "propagation", "model"], model, &source);
        } else {
            self.ledger.note_given(&["radio", "propagation", "model"]);
        }
        let given = given.unwrap_or(match ns_2 {
            true => Propagation::TwoRayGround(TwoRayGround::default()),
            false => Propagation::FreeSpace(FreeSpace::default()),
        });
        let propagation = match given {
            Propagation::Range { receive, carrier_sense } => {
                self.ledger.note_given(&["radio", "propagation", "receive"]);
                self.ledger.note_given(&["radio", "propagation", "carrier_sense"]);
                if carrier_sense.0 < receive.0 {
                    self.report(
                        &["radio", "propagation", "carrier_sense"],
                        format!("is less than receive ({receive}): frames would be decoded that are not sensed"),
                        format!("at least {receive}"),
                    );
                }
                model::Propagation::Range { receive: receive.0, carrier_sense: carrier_sense.0 }
            }
            Propagation::FreeSpace(FreeSpace { frequency, .. }) => {
                let frequency = self.frequency(frequency, from_channel, standard, ns_2);
                model::Propagation::FreeSpace { frequency }
            }
            Propagation::TwoRayGround(TwoRayGround { frequency, antenna_height, .. }) => {
                let frequency = self.frequency(frequency, from_channel, standard, ns_2);
                let antenna_height = self.antenna_height(antenna_height, ns_2);
                model::Propagation::TwoRayGround { frequency, antenna_height }
            }
            Propagation::TwoRayInterference(model) => {
                let frequency = self.frequency(model.frequency, from_channel, standard, ns_2);
                let antenna_height = self.antenna_height(model.antenna_height, ns_2);
                let path = ["radio", "propagation", "permittivity"];
                let permittivity = self.ledger.pick(&path, model.permittivity, show, || {
                    (5.0, "default: dry ground and concrete at some GHz (ITU-R P.2040)".into())
                });
                let path = ["radio", "propagation", "polarization"];
                let polarization = self.ledger.pick(&path, model.polarization, word, || {
                    (Polarization::Vertical, "default: upright antennas".into())
                });
                let polarization = match polarization {
                    Polarization::Vertical => propagation::Polarization::Vertical,
                    Polarization::Horizontal => propagation::Polarization::Horizontal,
                };
                model::Propagation::TwoRayInterference { frequency, antenna_height, permittivity, polarization }
            }
            Propagation::LogDistance(model) => {
                let frequency = self.frequency(model.frequency, from_channel, standard, ns_2);
                self.ledger.note_given(&["radio", "propagation", "exponent"]);
                let path = ["radio", "propagation", "reference_distance"];
                let reference = self.ledger.pick(&path, model.reference_distance, show, || {
                    let source = "default: as in ns-2 (Propagation/Shadowing dist0_ 1.0) and ns-3";
                    (Length(propagation::LogDistance::DEFAULT_REFERENCE_DISTANCE), source.into())
                });
                model::Propagation::LogDistance { frequency, exponent: model.exponent, reference_distance: reference.0 }
            }
        };
        (propagation, matches!(given, Propagation::Range { .. }))
    }

    /// In metres.
    fn antenna_height(&mut self, given: Option<Length>, ns_2: bool) -> f64 {
        let path = ["radio", "propagation", "antenna_height"];
        let height = self.ledger.pick(&path, given, show, || match ns_2 {
            true => (Length(1.5), ns_2_default("Antenna/OmniAntenna Z_ 1.5")),
            false => (Length(1.5), "default: a device carried by a person, and ns-2's Z_ 1.5".into()),
        });
        height.0
    }

    fn shadowing(&mut self, given: Variation, ns_2: bool) -> Option<model::Shadowing> {
        let path = |key| ["radio", "propagation", key];
        let none = || (Level(0.0), "default: none".into());
        let deviation = self.ledger.pick(&path("shadowing"), given.shadowing, show, none).0;
        if deviation == 0.0 {
            self.ledger.note_given(&path("shadowing_per"));
            self.ledger.note_given(&path("decorrelation_distance"));
            return None;
        }
        let per = self.ledger.pick(&path("shadowing_per"), given.shadowing_per, word, || match ns_2 {
            true => (ShadowingPer::Frame, ns_2_default("Propagation/Shadowing draws for each packet and receiver")),
            false => (ShadowingPer::Link, "default: what stands in the way stays there".into()),
        });
        let decorrelation = match per {
            ShadowingPer::Frame => {
                if given.decorrelation_distance.is_some() {
                    let problem = "says nothing: with shadowing_per = \"frame\" no two frames are alike";
                    self.report(&path("decorrelation_distance"), problem, "shadowing_per = \"link\"");
                }
                None
            }
            ShadowingPer::Link => {
                let given = given.decorrelation_distance;
                let distance = self.ledger.pick(&path("decorrelation_distance"), given, show, || {
                    (Length(20.0), "default: measured between low antennas in streets (Wang, Tameh, Nix 2008)".into())
                });
                Some(distance.0)
            }
        };
        Some(model::Shadowing { deviation, decorrelation })
    }

    fn fading(&mut self, given: Variation) -> Option<model::Fading> {
        let path = |key| ["radio", "propagation", key];
        let fading =
            self.ledger.pick(&path("fading"), given.fading, word, || (FadingName::None, "default: none".into()));
        for (key, is_given, of) in
            [("k", given.k.is_some(), FadingName::Rician), ("m", given.m.is_some(), FadingName::Nakagami)]
        {
            if is_given && fading != of {
                let of = word(&of);
                self.report(&path(key), format!("is a parameter of fading = \"{of}\" only"), "");
            }
        }
        let distribution = match fading {
            FadingName::None => {
                self.ledger.note_given(&path("doppler"));
                return None;
            }
            FadingName::Rayleigh => Distribution::Rayleigh,
            FadingName::Rician => {
                let k = self
                    .ledger
                    .pick(&path("k"), given.k, show, || (6.0, "default: 7.8 dB, a clear path among others".into()));
                Distribution::Rician { k }
            }
            FadingName::Nakagami => {
                let m = self.ledger.pick(&path("m"), given.m, show, || (1.0, "default: Rayleigh".into()));
                Distribution::Nakagami { m }
            }
        };
        match given.doppler {
            Some(_) => self.ledger.note_given(&path("doppler")),
            None => self.ledger.note(&path("doppler"), "a draw for each frame and receiver", "default"),
        }
        Some(model::Fading { distribution, doppler: given.doppler.map(|frequency| frequency.0) })
    }

    fn errors(&mut self, given: Option<&Errors>, ns_2: bool) -> model::Errors {
        let path = |key| ["radio", "errors", key];
        self.ledger.note_given(&["radio", "errors", "model"]);
        match given {
            None => {
                self.ledger.note(&path("model"), "none", "default");
                model::Errors::None
            }
            Some(Errors::None {}) => model::Errors::None,
            Some(Errors::Packet { rate, level }) => {
                self.ledger.pick(&path("rate"), Some(rate), ToString::to_string, || unreachable!());
                let level = self.ledger.pick(&path("level"), *level, word, || {
                    (LossLevel::Frame, "default: the radio loses frames, which the MAC repeats".into())
                });
                model::Errors::Packet {
                    steps: rate.0.iter().map(|&(from, share)| (instant(from), share)).collect(),
                    level: match level {
                        LossLevel::Frame => model::LossLevel::Frame,
                        LossLevel::Network => model::LossLevel::Network,
                    },
                }
            }
            Some(&Errors::GilbertElliott { good_ber, bad_ber, good_mean, bad_mean, fec, headers }) => {
                for key in ["good_ber", "bad_ber", "good_mean", "bad_mean"] {
                    self.ledger.note_given(&path(key));
                }
                let fec = self.ledger.pick(&path("fec"), fec, word, || (Fec::None, "default: none".into()));
                let headers = self.ledger.pick(&path("headers"), headers, show, || match ns_2 {
                    true => (true, ns_2_default("a frame's size holds PreambleLength_ and PLCPHeaderLength_")),
                    false => (false, "default: errors are those of the octets that a frame carries".into()),
                });
                model::Errors::GilbertElliott {
                    states: States {
                        good_ber,
                        bad_ber,
                        good_mean: Duration::from_secs_f64(good_mean.0),
                        bad_mean: Duration::from_secs_f64(bad_mean.0),
                    },
                    fec: (fec == Fec::ReedSolomon).then(|| ReedSolomon::with_rate(FEC_EFFICIENCY)),
                    headers,
                }
            }
        }
    }

    fn frequency(&mut self, given: Option<Frequency>, channel: Option<f64>, standard: Standard, ns_2: bool) -> f64 {
        let default = || match channel {
            Some(frequency) => (Frequency(frequency), "default: that of radio.channel".into()),
            None if ns_2 => (Frequency(914e6), ns_2_default("Phy/WirelessPhy freq_ 914e+6")),
            None => (Frequency(standard.default_frequency()), format!("default: the first channel of {standard}")),
        };
        self.ledger.pick(&["radio", "propagation", "frequency"], given, show, default).0
    }

    /// Centre frequency in hertz.
    fn channel(&mut self, channel: u32, standard: Standard) -> Option<f64> {
        self.ledger.note_given(&["radio", "channel"]);
        let frequency = channel_frequency(channel, standard);
        if let Err(known) = frequency {
            self.report(&["radio", "channel"], format!("{standard} has no such channel"), known);
        }
        frequency.ok()
    }

    /// Transmit power in dBm, and reception.
    fn reception(
        &mut self,
        radio: &Radio,
        standard: Standard,
        short_preamble: bool,
        used: &[DataRate],
        ns_2: bool,
        by_range: bool,
    ) -> (f64, model::Reception) {
        let phy = standard.phy(short_preamble);
        let has_thresholds = radio.receive_threshold.is_some() || radio.carrier_sense_threshold.is_some();
        let reception = self.ledger.pick(&["radio", "reception"], radio.reception, word, || match () {
            () if by_range => (Reception::Threshold, "default with propagation range, which knows no power".into()),
            () if ns_2 => (Reception::Threshold, "profile ns-2: Phy/WirelessPhy (ns-2.35)".into()),
            () if has_thresholds => (Reception::Threshold, "default where a threshold is given".into()),
            () => (Reception::Sinr, "default with a propagation that has power".into()),
        });
        let by_sinr = reception == Reception::Sinr;
        if by_sinr && by_range {
            self.report(&["radio", "reception"], "needs powers, which propagation range has not", "\"threshold\"");
        }
        for (key, given) in [("noise_figure", radio.noise_figure), ("preamble_detection", radio.preamble_detection)] {
            if given.is_some() && !by_sinr {
                self.report(&["radio", key], "says nothing: thresholds decide", "reception = \"sinr\"");
            }
        }
        let (rules, told, source) = match ns_2 {
            _ if by_sinr => (
                model::Rules::Sinr,
                "errors of bits by signal over noise and the sum of interference, piece by piece",
                "reception sinr (no key of its own)",
            ),
            true => (
                model::Rules::PairwiseFirstCome,
                "each overlapping transmission by itself; first come, first served",
                "profile ns-2 (no key of its own): Mac/802_11 (ns-2.35)",
            ),
            false => (
                model::Rules::Cumulative,
                "the sum of all interference; a stronger frame is received whenever it comes",
                "profile standard (no key of its own)",
            ),
        };
        self.ledger.note(&["radio", "reception", "rules"], told, source);
        let first_row_of_powers = self.ledger.rows.len();
        let tx_power = self.ledger.pick(&["radio", "tx_power"], radio.tx_power, show, || match ns_2 {
            true => (Power(24.5), ns_2_default("Pt_ 0.28183815")),
            false => (Power(16.0206), "default: 40 mW, as a typical card and as in ns-3 (TxPowerStart)".into()),
        });
        let path = ["radio", "receive_threshold"];
        let by_default = if by_sinr { "none" } else { "by rate" };
        let show_threshold = |threshold: &Option<Power>| threshold.map_or(by_default.into(), |power| power.to_string());
        let receive = self.ledger.pick(&path, radio.receive_threshold.map(Some), show_threshold, || match ns_2 {
            _ if by_sinr => (None, "default with reception sinr: noise decides".into()),
            true => (Some(Power(-64.37)), ns_2_default("RXThresh_ 3.652e-10")),
            false => (None, format!("default: minimum sensitivity of {standard} at each rate (IEEE 802.11-2020)")),
        });
        let most_sensitive =
            |rates: &[DataRate]| rates.iter().map(|rate| phy.minimum_sensitivity(*rate)).fold(f64::INFINITY, f64::min);
        let carrier_sense =
            self.ledger.pick(&["radio", "carrier_sense_threshold"], radio.carrier_sense_threshold, show, || {
                let (threshold, source) = match ns_2 {
                    true => (-78.07, ns_2_default("CSThresh_ 1.559e-11")),
                    false => {
                        (phy.cca_threshold(), format!("default: sensitivity of the most robust rate of {standard}"))
                    }
                };
                match receive {
                    Some(receive) if receive.0 < threshold => {
                        (receive, "default: receive_threshold, since what is decoded is also sensed".into())
                    }
                    _ => (Power(threshold), source),
                }
            });
        let capture = self.ledger.pick(&["radio", "capture"], radio.capture, show, || match ns_2 {
            true => (Level(10.0), ns_2_default("CPThresh_ 10.0")),
            false => (Level(10.0), "default: as in ns-2 (CPThresh_ 10.0)".into()),
        });
        let (noise_figure, detection, noise) =
            if by_sinr { self.noise(radio, standard) } else { (DEFAULT_NOISE_FIGURE, None, 0.0) };
        let weakest = receive.map_or_else(|| most_sensitive(standard.rates()), |power| power.0);
        let floor = self.ledger.pick(&["radio", "interference_floor"], radio.interference_floor, show, || match ns_2 {
            _ if by_sinr => {
                let reason = format!(
                    "default: {FLOOR_MARGIN} dB below the thermal noise, so that it takes a hundred such transmissions at \
                     once to double that"
                );
                (Power((noise - FLOOR_MARGIN).min(carrier_sense.0)), reason)
            }
            true => {
                (carrier_sense, ns_2_default("the carrier-sense threshold, below which a frame is dropped at once"))
            }
            false => {
                let floor = weakest - capture.0 - FLOOR_MARGIN;
                let reason = format!(
                    "default: {FLOOR_MARGIN} dB below what just destroys the weakest frame, \
                     so that it takes a hundred such transmissions at once"
                );
                (Power(floor.min(carrier_sense.0)), reason)
            }
        });
        if by_range {
            for row in &mut self.ledger.rows[first_row_of_powers..] {
                row.source.push_str("; not used with propagation range");
            }
        } else if by_sinr {
            self.floor(carrier_sense, floor);
        } else if ns_2 {
            self.thresholds(receive, carrier_sense);
            self.floor(carrier_sense, floor);
        } else {
            // What is decoded is sensed, whatever its power.
            let decoded = receive.unwrap_or_else(|| Power(most_sensitive(used)));
            self.floor(Power(decoded.0.min(carrier_sense.0)), floor);
        }
        let reception = model::Reception {
            receive_threshold: receive.map(|power| power.0),
            carrier_sense_threshold: carrier_sense.0,
            capture: capture.0,
            noise_figure,
            preamble_detection: detection,
            interference_floor: floor.0,
            rules,
        };
        (tx_power.0, reception)
    }

    /// Noise figure and least ratio of a preamble in dB, the latter if it is given, and thermal noise in dBm.
    fn noise(&mut self, radio: &Radio, standard: Standard) -> (f64, Option<f64>, f64) {
        let figure = self.ledger.pick(&["radio", "noise_figure"], radio.noise_figure, show, || {
            (Level(DEFAULT_NOISE_FIGURE), "default: as in ns-3 (RxNoiseFigure)".into())
        });
        let of = |modulation| Level(default_detection(modulation).0);
        let gain = "10.4 dB, the gain of eleven chips";
        let (by_default, source) = match (standard, standard.default_data_rate().modulation()) {
            (Standard::Erp, _) => (
                format!("{}, {} for DSSS", of(Modulation::Ofdm), of(Modulation::Dsss)),
                format!("default: as in ns-3 (ThresholdPreambleDetectionModel), less {gain}"),
            ),
            (_, Modulation::Ofdm) => {
                (of(Modulation::Ofdm).to_string(), "default: as in ns-3 (ThresholdPreambleDetectionModel)".into())
            }
            (_, Modulation::Dsss) => (of(Modulation::Dsss).to_string(), format!("default: 4 dB less {gain}")),
        };
        let show_detection =
            |given: &Option<Level>| given.map_or_else(|| by_default.clone(), |level| level.to_string());
        let given = radio.preamble_detection.map(Some);
        let detection = self.ledger.pick(&["radio", "preamble_detection"], given, show_detection, || (None, source));
        let bandwidth = standard.phy(false).noise_bandwidth(standard.default_data_rate());
        let noise = thermal_noise(bandwidth, figure.0).as_dbm();
        (figure.0, detection.map(|level| level.0), noise)
    }

    /// What ns-2 does not sense is not there.
    fn thresholds(&mut self, receive: Option<Power>, carrier_sense: Power) {
        if let Some(receive) = receive.filter(|receive| carrier_sense.0 > receive.0) {
            self.report(
                &["radio", "carrier_sense_threshold"],
                format!("{carrier_sense} is above the receive threshold ({receive}): frames would be decoded that are not sensed"),
                format!("at most {receive}"),
            );
        }
    }

    fn floor(&mut self, noticed: Power, floor: Power) {
        if floor.0 > noticed.0 {
            self.report(
                &["radio", "interference_floor"],
                format!("{floor} is above the least power that a receiver heeds ({noticed})"),
                format!("at most {noticed}"),
            );
        }
    }
}

/// A basic rate that is given, if it does not exceed that of data, and if it does.
fn split(given: Option<DataRate>, data_rate: DataRate) -> (Option<DataRate>, Option<DataRate>) {
    (given.filter(|&rate| rate <= data_rate), given.filter(|&rate| rate > data_rate))
}

/// The source of what is in force in place of a basic rate that exceeds that of data, if there is one.
fn in_place_of(exceeding: Option<DataRate>, source: String) -> String {
    match exceeding {
        Some(rate) => format!("{rate} exceeds data_rate; {source}"),
        None => source,
    }
}

/// The highest mandatory rate that does not exceed that of data; where that is protected, of 802.11b.
fn default_basic_rate(standard: Standard, protected: bool, data_rate: DataRate) -> DataRate {
    let highest = if protected && standard == Standard::Erp { dsss_rate(standard, data_rate) } else { data_rate };
    standard.default_basic_rate(highest)
}

/// Whether a radio that sends its data at `highest` has this rate: none above it, and under 802.11b none of OFDM.
fn has_rate(standard: Standard, highest: DataRate, rate: DataRate) -> bool {
    let is_dsss = standard == Standard::Erp && highest.modulation() == Modulation::Dsss;
    rate <= highest && !(is_dsss && rate.modulation() == Modulation::Ofdm)
}

/// Centre frequency in hertz of a channel (IEEE 802.11-2020, Table 15-6 and 17.3.8.4.2), or those that there are.
fn channel_frequency(channel: u32, standard: Standard) -> Result<f64, &'static str> {
    let megahertz = match (standard, channel) {
        (Standard::Ofdm, 36..=64 | 100..=144) if channel.is_multiple_of(4) => 5000 + 5 * channel,
        (Standard::Ofdm, 149..=177) if channel % 4 == 1 => 5000 + 5 * channel,
        (Standard::Ofdm, _) => return Err("36, 40 … 64, 100, 104 … 144, or 149, 153 … 177"),
        (Standard::OfdmTurbo, 42 | 50 | 58 | 152 | 160) => 5000 + 5 * channel,
        (Standard::OfdmTurbo, _) => return Err("42, 50, 58, 152 or 160"),
        (_, 1..=13) => 2407 + 5 * channel,
        (Standard::Dsss | Standard::HrDsss | Standard::Wavelan, 14) => 2484,
        (Standard::Erp, _) => return Err("1 to 13"),
        _ => return Err("1 to 14"),
    };
    Ok(f64::from(megahertz) * 1e6)
}

fn ns_2_default(setting: &str) -> String {
    format!("profile ns-2: {setting} (ns-2.35)")
}

fn bytes(size: Size) -> u32 {
    // The schema keeps sizes of the radio below 1 MB.
    size.0 as u32
}
