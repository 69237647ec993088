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
use super::super::nearest;
use super::super::quantity::{
    Frequency, Length, Level, LevelOrOff, Power, Rate, RateChoice, Size, SizeOrNone, SizeOrOff, Time,
};
use super::super::schema;
use super::super::schema::{
    Edca, Errors, FadingName, Fec, FreeSpace, LossLevel, NodeRadio, Polarization, Preamble, Propagation, Protection,
    Queue, Radio, Reception, ShadowingPer, StandardName, TwoRayGround, Variation,
};
use super::{Resolver, exact, instant, show, word};

/// So far below a power that could just destroy a frame, a hundred transmissions at once are needed to do it.
const FLOOR_MARGIN: f64 = 20.0;

/// Why a basic rate is what it is by default.
const BASIC_RATE_SOURCE: &str =
    "default: the highest mandatory rate up to the data rate (IEEE 802.11-2020, 10.6.6.5.2)";

/// Share of data in a coded frame: 60 % (N. Petrovic and M. Aboelaze, study P).
const FEC_EFFICIENCY: f64 = 0.6;

impl Resolver<'_> {
    /// The radio and the MTU.
    pub(super) fn radio(&mut self, radio: &Radio) -> (model::Radio, Option<u32>) {
        let standard = self.standard(radio);
        let short_preamble = self.short_preamble(radio, standard);
        let (data_rate, rate_control, basic_rate) = self.rates(radio, standard);
        let edca = match self.ledger.declared(&["radio", "edca"], radio.edca, word) {
            Edca::Off => None,
            Edca::Ieee2012 => Some(Edition::Ieee2012),
            Edca::Ieee2020 => Some(Edition::Ieee2020),
        };
        let association = self.association(radio, standard);
        let protection = self.protection(radio, standard, basic_rate, association.is_some());
        let rts_threshold = self.rts_threshold(radio, standard);
        let retry_limit = radio.retry_limit.unwrap_or_default();
        let [short_retry_limit, long_retry_limit] = [("short", retry_limit.short), ("long", retry_limit.long)]
            .map(|(key, given)| self.ledger.declared(&["radio", "retry_limit", key], given, show));
        let queue = radio.queue.unwrap_or_default();
        let queue_packets = self.ledger.declared(&["radio", "queue", "packets"], queue.packets, show);
        let mtu: SizeOrNone = self.ledger.declared(&["radio", "mtu"], radio.mtu, show);
        let queue_discipline = self.queue_discipline(queue, mtu.0.map(bytes));
        let (propagation, by_range) = self.propagation(radio, standard);
        let variation = variation(radio.propagation.as_ref());
        let shadowing = variation.and_then(|variation| self.shadowing(variation));
        let fading = variation.and_then(|variation| self.fading(variation));
        let used = match rate_control {
            Algorithm::Fixed(_) => &[data_rate, basic_rate],
            _ => standard.rates(),
        };
        let (tx_power, reception) = self.reception(radio, standard, short_preamble, used, by_range);
        let access_rules = self.access_rules();
        let errors = self.errors(radio.errors.as_ref());
        let channel = radio.channel.and_then(|channel| channel_frequency(channel, standard).ok());
        let path = ["radio", "adjacent_channel_rejection"];
        let rejection: LevelOrOff = self.ledger.declared(&path, radio.adjacent_channel_rejection, show);
        let radio = model::Radio {
            standard,
            channel: channel.unwrap_or_else(|| standard.default_frequency()),
            adjacent_channel_rejection: rejection.0.map(|level| level.0),
            short_preamble,
            data_rate,
            rate_control,
            edca,
            protection,
            association,
            access_rules,
            basic_rate,
            rts_threshold,
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

    fn standard(&mut self, radio: &Radio) -> Standard {
        match self.ledger.declared(&["radio", "standard"], radio.standard, word) {
            StandardName::Dsss => Standard::Dsss,
            StandardName::HrDsss => Standard::HrDsss,
            StandardName::Ofdm => Standard::Ofdm,
            StandardName::Erp => Standard::Erp,
            StandardName::OfdmTurbo => Standard::OfdmTurbo,
            StandardName::Wavelan => Standard::Wavelan,
        }
    }

    fn short_preamble(&mut self, radio: &Radio, standard: Standard) -> bool {
        let preamble = self.ledger.declared(&["radio", "preamble"], radio.preamble, word);
        let is_short = preamble == Preamble::Short;
        if is_short && !matches!(standard, Standard::HrDsss | Standard::Erp) {
            self.report(&["radio", "preamble"], format!("{standard} has no short preamble"), "\"long\", or 802.11b");
        }
        is_short
    }

    /// In bytes; `None`: off.
    fn rts_threshold(&mut self, radio: &Radio, standard: Standard) -> Option<u32> {
        let path = ["radio", "rts_threshold"];
        let threshold: SizeOrOff = if standard.acknowledges() {
            self.ledger.declared(&path, radio.rts_threshold, show)
        } else {
            let source = format!("default: {standard} has no RTS");
            self.ledger.pick(&path, radio.rts_threshold, show, || (SizeOrOff(None), source))
        };
        if threshold.0.is_some() && !standard.acknowledges() {
            self.report(
                &path,
                format!("{standard} has no RTS: its stations answer nobody"),
                "\"off\", or another standard",
            );
        }
        threshold.0.map(bytes)
    }

    /// Whose medium access, which no key sets.
    fn access_rules(&mut self) -> AccessRules {
        let (rules, told) = self.ledger.layer.access_rules;
        let source = format!("profile {} (no key of its own)", self.ledger.layer.name);
        self.ledger.note(&["radio", "access_rules"], told, &source);
        rules
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
    fn queue_discipline(&mut self, queue: Queue, mtu: Option<u32>) -> Discipline {
        let path = |key| ["radio", "queue", key];
        let discipline: schema::Discipline = self.ledger.declared(&path("discipline"), queue.discipline, word);
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
        let target: Time = self.ledger.declared(&path("target"), queue.target, show);
        let interval: Time = self.ledger.declared(&path("interval"), queue.interval, show);
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
        let quantum: Size = self.ledger.declared(&path("quantum"), queue.quantum, exact);
        Discipline::FqCoDel(FqCoDelConfig { codel, quantum: bytes(quantum), ..FqCoDelConfig::default() })
    }

    /// The rate of data frames or the highest of them, what chooses it, and the basic rate.
    fn rates(&mut self, radio: &Radio, standard: Standard) -> (DataRate, Algorithm, DataRate) {
        // Those of the profile hold where the standard has them.
        let [profile_data_rate, profile_basic_rate] = ["data_rate", "basic_rate"].map(|key| {
            let (rate, source) = self.ledger.of_profile(&["radio", key])?;
            Some((rate_of(standard, rate)?, source))
        });
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
                let rate = self.ledger.pick(&["radio", "data_rate"], given, show, || {
                    profile_data_rate.unwrap_or_else(|| {
                        (standard.default_data_rate(), format!("default: the highest rate of {standard}"))
                    })
                });
                (rate, Algorithm::Fixed(rate))
            }
        };
        let given = radio.basic_rate.and_then(|rate| self.rate("basic_rate", rate, standard));
        let protected = matches!(radio.protection, Some(Protection::CtsToSelf | Protection::RtsCts));
        let (fitting, exceeding) = split(given, data_rate);
        let basic_rate = self.ledger.pick(&["radio", "basic_rate"], fitting, show, || {
            let of_profile = profile_basic_rate.filter(|(rate, _)| *rate <= data_rate);
            let (rate, source) = of_profile.unwrap_or_else(|| {
                let source = match protected && standard == Standard::Erp {
                    true => "default with protection: what 802.11b has",
                    false => BASIC_RATE_SOURCE,
                };
                (default_basic_rate(standard, protected, data_rate), source.into())
            });
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
        let found = rate_of(standard, rate);
        if found.is_none() {
            let known: Vec<String> = standard.rates().iter().map(|rate| format!("\"{rate}\"")).collect();
            self.report(path, format!("{standard} has no such rate"), format!("one of {}", known.join(", ")));
        }
        found
    }

    /// The propagation, and whether it knows no power.
    fn propagation(&mut self, radio: &Radio, standard: Standard) -> (model::Propagation, bool) {
        let from_channel = radio.channel.and_then(|channel| self.channel(channel, standard));
        if radio.channel.is_none() {
            let is_default = |channel: &u32| channel_frequency(*channel, standard) == Ok(standard.default_frequency());
            let first = (1..=200).find(is_default).expect("the default frequency is that of a channel");
            let source = format!("default: the first channel of {standard}");
            self.ledger.note(&["radio", "channel"], &first.to_string(), &source);
        }
        let path = ["radio", "propagation", "model"];
        let given = match radio.propagation.clone() {
            Some(given) => {
                self.ledger.note_given(&path);
                given
            }
            None => {
                let model: String = self.ledger.declared(&path, None, String::clone);
                let table = serde_json::json!({ "model": model });
                serde_json::from_value(table).expect("a model by default has defaults alone")
            }
        };
        let by_range = matches!(given, Propagation::Range { .. });
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
                let frequency = self.frequency(frequency, from_channel, standard);
                model::Propagation::FreeSpace { frequency }
            }
            Propagation::TwoRayGround(TwoRayGround { frequency, antenna_height, .. }) => {
                let frequency = self.frequency(frequency, from_channel, standard);
                let antenna_height = self.antenna_height(antenna_height);
                model::Propagation::TwoRayGround { frequency, antenna_height }
            }
            Propagation::TwoRayInterference(model) => {
                let frequency = self.frequency(model.frequency, from_channel, standard);
                let antenna_height = self.antenna_height(model.antenna_height);
                let path = ["radio", "propagation", "permittivity"];
                let permittivity = self.ledger.declared(&path, model.permittivity, show);
                let path = ["radio", "propagation", "polarization"];
                let polarization = self.ledger.declared(&path, model.polarization, word);
                let polarization = match polarization {
                    Polarization::Vertical => propagation::Polarization::Vertical,
                    Polarization::Horizontal => propagation::Polarization::Horizontal,
                };
                model::Propagation::TwoRayInterference { frequency, antenna_height, permittivity, polarization }
            }
            Propagation::LogDistance(model) => {
                let frequency = self.frequency(model.frequency, from_channel, standard);
                self.ledger.note_given(&["radio", "propagation", "exponent"]);
                let path = ["radio", "propagation", "reference_distance"];
                let reference: Length = self.ledger.declared(&path, model.reference_distance, show);
                model::Propagation::LogDistance { frequency, exponent: model.exponent, reference_distance: reference.0 }
            }
            Propagation::Custom(given) => {
                let frequency = self.frequency(given.frequency, from_channel, standard);
                self.custom_propagation(&given.name, given.parameters.unwrap_or_default(), frequency)
            }
        };
        (propagation, by_range)
    }

    /// A model of the user's program; free space where there is none of this name, which is reported.
    fn custom_propagation(
        &mut self,
        name: &str,
        parameters: serde_json::Map<String, serde_json::Value>,
        frequency: f64,
    ) -> model::Propagation {
        let at = |key| ["radio", "propagation", key];
        self.ledger.note_given(&at("name"));
        self.ledger.note_given(&at("parameters"));
        match self.source.registry.propagation(name, parameters) {
            Some(Ok(make)) => {
                let name = name.to_owned();
                return model::Propagation::Custom(model::CustomPropagation { name, frequency, make });
            }
            Some(Err(problem)) => self.report(&at("parameters"), problem, ""),
            None => {
                let known: Vec<&str> = self.source.registry.propagation_names().collect();
                let expected = match known.as_slice() {
                    [] => "a model that this program was built with: it has none".to_owned(),
                    _ => format!("one of {}", known.join(", ")),
                };
                let problem = format!("there is no propagation model of this name{}", nearest::hint(name, &known));
                self.report(&at("name"), problem, expected);
            }
        }
        model::Propagation::FreeSpace { frequency }
    }

    /// In metres.
    fn antenna_height(&mut self, given: Option<Length>) -> f64 {
        let height: Length = self.ledger.declared(&["radio", "propagation", "antenna_height"], given, show);
        height.0
    }

    fn shadowing(&mut self, given: Variation) -> Option<model::Shadowing> {
        let path = |key| ["radio", "propagation", key];
        let Level(deviation) = self.ledger.declared(&path("shadowing"), given.shadowing, show);
        if deviation == 0.0 {
            self.ledger.note_given(&path("shadowing_per"));
            self.ledger.note_given(&path("decorrelation_distance"));
            return None;
        }
        let per = self.ledger.declared(&path("shadowing_per"), given.shadowing_per, word);
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
                let distance: Length = self.ledger.declared(&path("decorrelation_distance"), given, show);
                Some(distance.0)
            }
        };
        Some(model::Shadowing { deviation, decorrelation })
    }

    fn fading(&mut self, given: Variation) -> Option<model::Fading> {
        let path = |key| ["radio", "propagation", key];
        let fading = self.ledger.declared(&path("fading"), given.fading, word);
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
                let k = self.ledger.declared(&path("k"), given.k, show);
                Distribution::Rician { k }
            }
            FadingName::Nakagami => {
                let m = self.ledger.declared(&path("m"), given.m, show);
                Distribution::Nakagami { m }
            }
        };
        match given.doppler {
            Some(_) => self.ledger.note_given(&path("doppler")),
            None => self.ledger.note(&path("doppler"), "a draw for each frame and receiver", "default"),
        }
        Some(model::Fading { distribution, doppler: given.doppler.map(|frequency| frequency.0) })
    }

    fn errors(&mut self, given: Option<&Errors>) -> model::Errors {
        let path = |key| ["radio", "errors", key];
        self.ledger.note_given(&["radio", "errors", "model"]);
        match given {
            None => {
                self.ledger.declared(&path("model"), None, String::clone);
                model::Errors::None
            }
            Some(Errors::None {}) => model::Errors::None,
            Some(Errors::Packet { rate, level }) => {
                self.ledger.pick(&path("rate"), Some(rate), ToString::to_string, || unreachable!());
                let level = self.ledger.declared(&path("level"), *level, word);
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
                let fec = self.ledger.declared(&path("fec"), fec, word);
                let headers = self.ledger.declared(&path("headers"), headers, show);
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

    fn frequency(&mut self, given: Option<Frequency>, channel: Option<f64>, standard: Standard) -> f64 {
        let path = ["radio", "propagation", "frequency"];
        let of_profile = self.ledger.of_profile(&path);
        let default = || match channel {
            Some(frequency) => (Frequency(frequency), "default: that of radio.channel".into()),
            None => of_profile.unwrap_or_else(|| {
                (Frequency(standard.default_frequency()), format!("default: the first channel of {standard}"))
            }),
        };
        self.ledger.pick(&path, given, show, default).0
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
        by_range: bool,
    ) -> (f64, model::Reception) {
        let phy = standard.phy(short_preamble);
        let by_sinr = self.is_by_sinr(radio, by_range);
        let rules = self.reception_rules(by_sinr);
        let first_row_of_powers = self.ledger.rows.len();
        let Power(tx_power) = self.ledger.declared(&["radio", "tx_power"], radio.tx_power, show);
        let receive = self.receive_threshold(radio, standard, by_sinr);
        let carrier_sense = self.carrier_sense(radio, standard, phy.cca_threshold(), receive);
        let capture: Level = self.ledger.declared(&["radio", "capture"], radio.capture, show);
        let (noise_figure, detection, noise) =
            if by_sinr { self.noise(radio, standard) } else { (DEFAULT_NOISE_FIGURE, None, 0.0) };
        let most_sensitive =
            |rates: &[DataRate]| rates.iter().map(|rate| phy.minimum_sensitivity(*rate)).fold(f64::INFINITY, f64::min);
        let weakest = receive.map_or_else(|| most_sensitive(standard.rates()), |power| power.0);
        let noise = by_sinr.then_some(noise);
        let floor = self.interference_floor(radio, noise, weakest - capture.0, carrier_sense);
        if by_range {
            for row in &mut self.ledger.rows[first_row_of_powers..] {
                row.source.push_str("; not used with propagation range");
            }
        } else if by_sinr {
            self.floor(carrier_sense, floor);
        } else if rules == model::Rules::PairwiseFirstCome {
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
        (tx_power, reception)
    }

    /// Whether signal over noise and interference decides, and not thresholds.
    fn is_by_sinr(&mut self, radio: &Radio, by_range: bool) -> bool {
        let path = ["radio", "reception"];
        let has_thresholds = radio.receive_threshold.is_some() || radio.carrier_sense_threshold.is_some();
        let reception = if by_range {
            let source = "default with propagation range, which knows no power";
            self.ledger.pick(&path, radio.reception, word, || (Reception::Threshold, source.into()))
        } else {
            self.ledger.layered(&path, radio.reception, word, || match has_thresholds {
                true => (Reception::Threshold, "default where a threshold is given".into()),
                false => (Reception::Sinr, "default with a propagation that has power".into()),
            })
        };
        let by_sinr = reception == Reception::Sinr;
        if by_sinr && by_range {
            self.report(&path, "needs powers, which propagation range has not", "\"threshold\"");
        }
        for (key, given) in [("noise_figure", radio.noise_figure), ("preamble_detection", radio.preamble_detection)] {
            if given.is_some() && !by_sinr {
                self.report(&["radio", key], "says nothing: thresholds decide", "reception = \"sinr\"");
            }
        }
        by_sinr
    }

    /// Whose rules of reception, which no key sets.
    fn reception_rules(&mut self, by_sinr: bool) -> model::Rules {
        let (rules, told, source) = match by_sinr {
            true => (
                model::Rules::Sinr,
                "errors of bits by signal over noise and the sum of interference, piece by piece",
                "reception sinr (no key of its own)",
            ),
            false => self.ledger.layer.threshold_rules,
        };
        self.ledger.note(&["radio", "reception", "rules"], told, source);
        rules
    }

    fn receive_threshold(&mut self, radio: &Radio, standard: Standard, by_sinr: bool) -> Option<Power> {
        let path = ["radio", "receive_threshold"];
        let by_default = if by_sinr { "none" } else { "by rate" };
        let show_threshold = |threshold: &Option<Power>| threshold.map_or(by_default.into(), |power| power.to_string());
        let given = radio.receive_threshold.map(Some);
        if by_sinr {
            let source = "default with reception sinr: noise decides";
            return self.ledger.pick(&path, given, show_threshold, || (None, source.into()));
        }
        self.ledger.layered(&path, given, show_threshold, || {
            (None, format!("default: minimum sensitivity of {standard} at each rate (IEEE 802.11-2020)"))
        })
    }

    fn carrier_sense(&mut self, radio: &Radio, standard: Standard, cca: f64, receive: Option<Power>) -> Power {
        let path = ["radio", "carrier_sense_threshold"];
        let of_profile = self.ledger.of_profile(&path);
        self.ledger.pick(&path, radio.carrier_sense_threshold, show, || {
            let (threshold, source) = of_profile
                .unwrap_or_else(|| (Power(cca), format!("default: sensitivity of the most robust rate of {standard}")));
            match receive {
                Some(receive) if receive.0 < threshold.0 => {
                    (receive, "default: receive_threshold, since what is decoded is also sensed".into())
                }
                _ => (threshold, source),
            }
        })
    }

    /// `noise` in dBm where that decides, and `harmful`, what just destroys the weakest frame.
    fn interference_floor(&mut self, radio: &Radio, noise: Option<f64>, harmful: f64, carrier_sense: Power) -> Power {
        let path = ["radio", "interference_floor"];
        let of_profile = self.ledger.of_profile::<String>(&path);
        self.ledger.pick(&path, radio.interference_floor, show, || match (noise, of_profile) {
            (Some(noise), _) => {
                let reason = format!(
                    "default: {FLOOR_MARGIN} dB below the thermal noise, so that it takes a hundred such transmissions at \
                     once to double that"
                );
                (Power((noise - FLOOR_MARGIN).min(carrier_sense.0)), reason)
            }
            (None, Some((_, source))) => (carrier_sense, source),
            (None, None) => {
                let reason = format!(
                    "default: {FLOOR_MARGIN} dB below what just destroys the weakest frame, \
                     so that it takes a hundred such transmissions at once"
                );
                (Power((harmful - FLOOR_MARGIN).min(carrier_sense.0)), reason)
            }
        })
    }

    /// Noise figure and least ratio of a preamble in dB, the latter if it is given, and thermal noise in dBm.
    fn noise(&mut self, radio: &Radio, standard: Standard) -> (f64, Option<f64>, f64) {
        let figure: Level = self.ledger.declared(&["radio", "noise_figure"], radio.noise_figure, show);
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

/// The rate of the standard that is `rate`.
fn rate_of(standard: Standard, rate: Rate) -> Option<DataRate> {
    standard.rates().iter().find(|known| f64::from(known.as_kbps()) * 1e3 == rate.0).copied()
}

/// What makes power differ from the mean; `None` where there is no power.
fn variation(propagation: Option<&Propagation>) -> Option<Variation> {
    match propagation {
        Some(Propagation::Range { .. }) => None,
        None => Some(Variation::default()),
        Some(
            Propagation::FreeSpace(FreeSpace { variation, .. })
            | Propagation::TwoRayGround(TwoRayGround { variation, .. })
            | Propagation::TwoRayInterference(schema::TwoRayInterference { variation, .. })
            | Propagation::LogDistance(schema::LogDistance { variation, .. })
            | Propagation::Custom(schema::CustomPropagation { variation, .. }),
        ) => Some(*variation),
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

fn bytes(size: Size) -> u32 {
    // The schema keeps sizes of the radio below 1 MB.
    size.0 as u32
}
