//! The radio: standard, rates, thresholds, propagation.

use hopcast_radio::standard::{DataRate, Standard};

use super::super::model;
use super::super::quantity::{Frequency, Length, Level, Power, Rate, Size, SizeOrNone, SizeOrOff};
use super::super::schema::{Errors, Preamble, Profile, Propagation, Radio, Reception, StandardName};
use super::{Resolver, show, word};

/// The rate of ns-2's MAC, to which dataRate_ and basicRate_ fall back.
const NS_2_BANDWIDTH: DataRate = DataRate::from_kbps(2_000);

/// So far below a power that could just destroy a frame, a hundred transmissions at once are needed to do it.
const FLOOR_MARGIN: f64 = 20.0;

impl Resolver<'_> {
    /// The radio and the MTU.
    pub(super) fn radio(&mut self, radio: &Radio, profile: Profile) -> (model::Radio, Option<u32>) {
        let ns_2 = profile == Profile::Ns2;
        let standard = self.ledger.pick(&["radio", "standard"], radio.standard, word, || {
            (StandardName::Dsss, "default: the first physical layer of the standard".into())
        });
        let standard = match standard {
            StandardName::Dsss => Standard::Dsss,
            StandardName::HrDsss => Standard::HrDsss,
            StandardName::Ofdm => Standard::Ofdm,
            StandardName::Erp => Standard::Erp,
        };
        let preamble = self.ledger.pick(&["radio", "preamble"], radio.preamble, word, || {
            (Preamble::Long, "default: IEEE 802.11-2020, 16.2.2.1, mandatory everywhere".into())
        });
        let short_preamble = preamble == Preamble::Short;
        if short_preamble && !matches!(standard, Standard::HrDsss | Standard::Erp) {
            self.report(&["radio", "preamble"], format!("{standard} has no short preamble"), "\"long\", or 802.11b");
        }
        let (data_rate, basic_rate) = self.rates(radio, standard, ns_2);

        let rts_threshold = self.ledger.pick(&["radio", "rts_threshold"], radio.rts_threshold, show, || match ns_2 {
            true => (SizeOrOff(Some(Size(0.0))), ns_2_default("RTSThreshold_ 0")),
            false => (SizeOrOff(None), "default: dot11RTSThreshold beyond any frame".into()),
        });
        let retry_limit = radio.retry_limit.unwrap_or_default();
        let short_retry_limit = self.ledger.pick(&["radio", "retry_limit", "short"], retry_limit.short, show, || {
            (7, "default: dot11ShortRetryLimit (IEEE 802.11-2020, Annex C)".into())
        });
        let long_retry_limit = self.ledger.pick(&["radio", "retry_limit", "long"], retry_limit.long, show, || {
            (4, "default: dot11LongRetryLimit (IEEE 802.11-2020, Annex C)".into())
        });
        let queue = radio.queue.unwrap_or_default();
        let queue_packets = self.ledger.pick(&["radio", "queue", "packets"], queue.packets, show, || {
            (50, "default: as in ns-2 (ifqlen 50), which most published studies kept".into())
        });
        let mtu = self.ledger.pick(&["radio", "mtu"], radio.mtu, show, || match ns_2 {
            true => (SizeOrNone(None), ns_2_default("no fragmentation")),
            false => (SizeOrNone(Some(Size(1500.0))), "default: that of Ethernet, as Linux gives it to 802.11".into()),
        });
        let (propagation, by_range) = self.propagation(radio, standard, ns_2);
        let (tx_power, reception) =
            self.reception(radio, standard, short_preamble, &[data_rate, basic_rate], ns_2, by_range);
        match radio.errors {
            Some(Errors::None {}) => self.ledger.note_given(&["radio", "errors"]),
            None => self.ledger.note(&["radio", "errors", "model"], "none", "default"),
        }
        let radio = model::Radio {
            standard,
            short_preamble,
            data_rate,
            basic_rate,
            rts_threshold: rts_threshold.0.map(bytes),
            short_retry_limit,
            long_retry_limit,
            queue_packets,
            tx_power,
            propagation,
            reception,
        };
        (radio, mtu.0.map(bytes))
    }

    fn rates(&mut self, radio: &Radio, standard: Standard, ns_2: bool) -> (DataRate, DataRate) {
        let ns_2_has_it = ns_2 && standard.rates().contains(&NS_2_BANDWIDTH);
        let given = radio.data_rate.and_then(|rate| self.rate("data_rate", rate, standard));
        let data_rate = self.ledger.pick(&["radio", "data_rate"], given, show, || match ns_2_has_it {
            true => (NS_2_BANDWIDTH, ns_2_default("dataRate_ falls back to bandwidth_ 2Mb")),
            false => (standard.default_data_rate(), format!("default: the highest rate of {standard}")),
        });
        let given = radio.basic_rate.and_then(|rate| self.rate("basic_rate", rate, standard));
        let basic_rate = self.ledger.pick(&["radio", "basic_rate"], given, show, || {
            if ns_2_has_it && data_rate >= NS_2_BANDWIDTH {
                return (NS_2_BANDWIDTH, ns_2_default("basicRate_ falls back to bandwidth_ 2Mb"));
            }
            let reason = "default: the highest mandatory rate up to the data rate (IEEE 802.11-2020, 10.6.6.5.2)";
            (standard.default_basic_rate(data_rate), reason.into())
        });
        (data_rate, basic_rate)
    }

    /// The rate of the standard that is `rate`; another is reported.
    fn rate(&mut self, key: &str, rate: Rate, standard: Standard) -> Option<DataRate> {
        let found = standard.rates().iter().find(|known| f64::from(known.as_kbps()) * 1e3 == rate.0).copied();
        if found.is_none() {
            let known: Vec<String> = standard.rates().iter().map(|rate| format!("\"{rate}\"")).collect();
            self.report(
                &["radio", key],
                format!("{standard} has no such rate"),
                format!("one of {}", known.join(", ")),
            );
        }
        found
    }

    /// The propagation, and whether it knows no power.
    fn propagation(&mut self, radio: &Radio, standard: Standard, ns_2: bool) -> (model::Propagation, bool) {
        let from_channel = radio.channel.and_then(|channel| self.channel(channel, standard));
        let given = radio.propagation;
        if given.is_none() {
            let (model, source) = match ns_2 {
                true => ("two-ray-ground", ns_2_default("as in the ns-2 manual's wireless examples")),
                false => ("free-space", "default: the only model without a parameter of its own".into()),
            };
            self.ledger.note(&["radio", "propagation", "model"], model, &source);
        } else {
            self.ledger.note_given(&["radio", "propagation", "model"]);
        }
        let given = given.unwrap_or(match ns_2 {
            true => Propagation::TwoRayGround { frequency: None, antenna_height: None },
            false => Propagation::FreeSpace { frequency: None },
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
            Propagation::FreeSpace { frequency } => {
                let frequency = self.frequency(frequency, from_channel, standard, ns_2);
                model::Propagation::FreeSpace { frequency }
            }
            Propagation::TwoRayGround { frequency, antenna_height } => {
                let frequency = self.frequency(frequency, from_channel, standard, ns_2);
                let path = ["radio", "propagation", "antenna_height"];
                let height = self.ledger.pick(&path, antenna_height, show, || match ns_2 {
                    true => (Length(1.5), ns_2_default("Antenna/OmniAntenna Z_ 1.5")),
                    false => (Length(1.5), "default: a device carried by a person, and ns-2's Z_ 1.5".into()),
                });
                model::Propagation::TwoRayGround { frequency, antenna_height: height.0 }
            }
        };
        (propagation, matches!(given, Propagation::Range { .. }))
    }

    fn frequency(&mut self, given: Option<Frequency>, channel: Option<f64>, standard: Standard, ns_2: bool) -> f64 {
        let default = || match channel {
            Some(frequency) => (Frequency(frequency), "default: that of radio.channel".into()),
            None if ns_2 => (Frequency(914e6), ns_2_default("Phy/WirelessPhy freq_ 914e+6")),
            None => (Frequency(standard.default_frequency()), format!("default: the first channel of {standard}")),
        };
        self.ledger.pick(&["radio", "propagation", "frequency"], given, show, default).0
    }

    /// Centre frequency in hertz (IEEE 802.11-2020, Table 15-6 and 17.3.8.4.2).
    fn channel(&mut self, channel: u32, standard: Standard) -> Option<f64> {
        self.ledger.note_given(&["radio", "channel"]);
        let (frequency, known) = match (standard, channel) {
            (Standard::Ofdm, 36..=64 | 100..=144) if channel % 4 == 0 => (Some(5000 + 5 * channel), ""),
            (Standard::Ofdm, 149..=177) if channel % 4 == 1 => (Some(5000 + 5 * channel), ""),
            (Standard::Ofdm, _) => (None, "36, 40 … 64, 100, 104 … 144, or 149, 153 … 177"),
            (_, 1..=13) => (Some(2407 + 5 * channel), ""),
            (Standard::Dsss | Standard::HrDsss, 14) => (Some(2484), ""),
            (Standard::Erp, _) => (None, "1 to 13"),
            _ => (None, "1 to 14"),
        };
        if frequency.is_none() {
            self.report(&["radio", "channel"], format!("{standard} has no such channel"), known);
        }
        frequency.map(|megahertz| f64::from(megahertz) * 1e6)
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
        self.ledger.pick(&["radio", "reception"], radio.reception, word, || {
            (Reception::Threshold, "default: the only one that this version has".into())
        });
        let first_row_of_powers = self.ledger.rows.len();
        let tx_power = self.ledger.pick(&["radio", "tx_power"], radio.tx_power, show, || match ns_2 {
            true => (Power(24.5), ns_2_default("Pt_ 0.28183815")),
            false => (Power(16.0206), "default: 40 mW, as a typical card and as in ns-3 (TxPowerStart)".into()),
        });
        let path = ["radio", "receive_threshold"];
        let show_threshold = |threshold: &Option<Power>| threshold.map_or("by rate".into(), |power| power.to_string());
        let receive = self.ledger.pick(&path, radio.receive_threshold.map(Some), show_threshold, || match ns_2 {
            true => (Some(Power(-64.37)), ns_2_default("RXThresh_ 3.652e-10")),
            false => (None, format!("default: minimum sensitivity of {standard} at each rate (IEEE 802.11-2020)")),
        });
        let most_sensitive =
            |rates: &[DataRate]| rates.iter().map(|rate| phy.minimum_sensitivity(*rate)).fold(f64::INFINITY, f64::min);
        let carrier_sense =
            self.ledger.pick(&["radio", "carrier_sense_threshold"], radio.carrier_sense_threshold, show, || {
                let (threshold, source) = match ns_2 {
                    true => (-78.07, ns_2_default("CSThresh_ 1.559e-11")),
                    false => (
                        phy.cca_threshold(),
                        format!("default: clear channel assessment of {standard} (IEEE 802.11-2020)"),
                    ),
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
        let weakest = receive.map_or_else(|| most_sensitive(standard.rates()), |power| power.0);
        let floor = self.ledger.pick(&["radio", "interference_floor"], radio.interference_floor, show, || match ns_2 {
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
        } else {
            self.thresholds(receive, most_sensitive(used), carrier_sense, floor);
        }
        let rules = match ns_2 {
            true => model::Rules::PairwiseFirstCome,
            false => model::Rules::Cumulative,
        };
        let reception = model::Reception {
            receive_threshold: receive.map(|power| power.0),
            carrier_sense_threshold: carrier_sense.0,
            capture: capture.0,
            interference_floor: floor.0,
            rules,
        };
        (tx_power.0, reception)
    }

    fn thresholds(&mut self, receive: Option<Power>, sensitivity: f64, carrier_sense: Power, floor: Power) {
        let lowest = receive.map_or(sensitivity, |power| power.0);
        if carrier_sense.0 > lowest {
            let what = match receive {
                Some(receive) => format!("the receive threshold ({receive})"),
                None => format!("the minimum sensitivity at the rates in use ({})", Power(lowest)),
            };
            self.report(
                &["radio", "carrier_sense_threshold"],
                format!("{carrier_sense} is above {what}: frames would be decoded that are not sensed"),
                format!("at most {}", Power(lowest)),
            );
        }
        if floor.0 > carrier_sense.0 {
            self.report(
                &["radio", "interference_floor"],
                format!("{floor} is above the carrier-sense threshold ({carrier_sense}), which then has no effect"),
                format!("at most {carrier_sense}"),
            );
        }
    }
}

fn ns_2_default(setting: &str) -> String {
    format!("profile ns-2: {setting} (ns-2.35)")
}

fn bytes(size: Size) -> u32 {
    // The schema keeps sizes of the radio below 64 KiB.
    size.0 as u32
}
