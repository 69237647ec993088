//! Reception of frames: transmit power, thresholds, noise and the interference floor.

use hopcast_radio::errors::{DEFAULT_NOISE_FIGURE, thermal_noise};
use hopcast_radio::phy::{ModulationClass, Phy, Standard, TxVector};
use hopcast_radio::reception::default_detection;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::Resolver;
use super::Radio;
use crate::scenario::model;
use crate::scenario::quantity::{Level, Power};

/// Rule by which a receiver decides whether it decodes a frame.
#[derive(Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Reception {
    /// A frame above `receive_threshold` (or within `receive`) is decoded, unless an overlapping frame is less than
    /// `capture` weaker.
    Threshold,
    /// Ratio of signal to thermal noise and the sum of interference, bit by bit.
    Sinr,
}

/// What reception depends on, besides its own keys.
#[derive(Clone, Copy)]
pub(super) struct Surroundings<'a> {
    pub(super) phy: &'a Phy,
    /// The rates of frames.
    pub(super) used: &'a [TxVector],
    /// Whether the propagation model computes no power.
    pub(super) by_range: bool,
}

/// Distance in dB of the interference floor below a power that could just destroy a frame: a hundred simultaneous
/// transmissions at the floor are as strong.
const FLOOR_MARGIN: f64 = 20.0;

impl Resolver<'_> {
    /// Transmit power in dBm, and the reception.
    pub(super) fn reception(
        &mut self,
        radio: &Radio,
        Surroundings { phy, used, by_range }: Surroundings<'_>,
    ) -> (f64, model::Reception) {
        let standard = phy.standard();
        let by_sinr = self.is_by_sinr(radio, by_range);
        let rules = self.reception_rules(by_sinr);
        let first_row_of_powers = self.ledger.rows.len();
        let Power(tx_power) = self.ledger.read(&["radio", "tx_power"]);
        let receive = self.receive_threshold(radio, standard, by_sinr);
        let carrier_sense = self.carrier_sense(radio, standard, phy.cca_threshold(), receive);
        let capture: Level = self.ledger.read(&["radio", "capture"]);
        let (noise_figure, detection, noise) =
            if by_sinr { self.noise(radio, phy) } else { (DEFAULT_NOISE_FIGURE, None, 0.0) };
        let most_sensitive = |rates: &[TxVector]| {
            rates.iter().map(|rate| rate.framing().minimum_sensitivity).fold(f64::INFINITY, f64::min)
        };
        let weakest = receive.map_or_else(|| phy.cca_threshold(), |power| power.0);
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

    /// Whether the ratio of signal to noise and interference decides, and not thresholds.
    fn is_by_sinr(&mut self, radio: &Radio, by_range: bool) -> bool {
        let path = ["radio", "reception"];
        let has_thresholds = radio.receive_threshold.is_some() || radio.carrier_sense_threshold.is_some();
        let reception = if by_range {
            let source = "default with propagation range, which computes no power";
            self.ledger.pick(&path, radio.reception, || (Reception::Threshold, source.into()))
        } else {
            self.ledger.layered(&path, radio.reception, || match has_thresholds {
                true => (Reception::Threshold, "default where a threshold is given".into()),
                false => (Reception::Sinr, "default with a propagation model that computes power".into()),
            })
        };
        let by_sinr = reception == Reception::Sinr;
        if by_sinr && by_range {
            self.report(&path, "needs received power, which propagation range does not compute", "\"threshold\"");
        }
        for (key, given) in [("noise_figure", radio.noise_figure), ("preamble_detection", radio.preamble_detection)] {
            if given.is_some() && !by_sinr {
                self.report(&["radio", key], "has no effect: thresholds decide", "reception = \"sinr\"");
            }
        }
        by_sinr
    }

    /// Source of the rules of reception, which no key sets.
    fn reception_rules(&mut self, by_sinr: bool) -> model::Rules {
        let (rules, told, source) = match by_sinr {
            true => (
                model::Rules::Sinr,
                "bit errors by signal to noise and the sum of interference, for each part of the frame",
                "reception sinr (not a separate key)",
            ),
            false => self.ledger.layer.threshold_rules,
        };
        self.ledger.note(&["radio", "reception", "rules"], told, source);
        rules
    }

    fn receive_threshold(&mut self, radio: &Radio, standard: Standard, by_sinr: bool) -> Option<Power> {
        let path = ["radio", "receive_threshold"];
        let of_profile = self.ledger.of_profile(&path).filter(|_| !by_sinr);
        if radio.receive_threshold.is_some() || of_profile.is_some() {
            let unused = || unreachable!("one of them is there");
            return Some(self.ledger.pick(&path, radio.receive_threshold, || of_profile.unwrap_or_else(unused)));
        }
        if by_sinr {
            self.ledger.note(&path, "none", "default with reception sinr: noise decides");
        } else {
            let source = format!("default: minimum sensitivity of {standard} at each rate (IEEE 802.11-2020)");
            self.ledger.note(&path, "by rate", &source);
        }
        None
    }

    fn carrier_sense(&mut self, radio: &Radio, standard: Standard, cca: f64, receive: Option<Power>) -> Power {
        let path = ["radio", "carrier_sense_threshold"];
        let of_profile = self.ledger.of_profile(&path);
        self.ledger.pick(&path, radio.carrier_sense_threshold, || {
            let (threshold, source) = of_profile
                .unwrap_or_else(|| (Power(cca), format!("default: sensitivity of the most robust rate of {standard}")));
            match receive {
                Some(receive) if receive.0 < threshold.0 => {
                    (receive, "default: receive_threshold, since a node senses what it decodes".into())
                }
                _ => (threshold, source),
            }
        })
    }

    /// The interference floor, from `noise` in dBm with reception `sinr`, or from `harmful`, the power that just destroys
    /// the weakest frame.
    fn interference_floor(&mut self, radio: &Radio, noise: Option<f64>, harmful: f64, carrier_sense: Power) -> Power {
        let path = ["radio", "interference_floor"];
        let of_profile = self.ledger.of_profile::<String>(&path);
        self.ledger.pick(&path, radio.interference_floor, || match (noise, of_profile) {
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

    /// Noise figure and, if given, least ratio of a preamble, in dB; thermal noise in dBm.
    fn noise(&mut self, radio: &Radio, phy: &Phy) -> (f64, Option<f64>, f64) {
        let figure: Level = self.ledger.read(&["radio", "noise_figure"]);
        let of = |modulation| Level(default_detection(modulation).0);
        let gain = "10.4 dB, the gain of eleven chips";
        let fastest = phy.fastest().framing();
        let (by_default, source) = match fastest.modulation_class {
            class if phy.is_mixed() => (
                format!("{}, {} for DSSS", of(class), of(ModulationClass::Dsss)),
                format!("default: as in ns-3 (ThresholdPreambleDetectionModel), less {gain}"),
            ),
            ModulationClass::Dsss => (of(ModulationClass::Dsss).to_string(), format!("default: 4 dB less {gain}")),
            class => (of(class).to_string(), "default: as in ns-3 (ThresholdPreambleDetectionModel)".into()),
        };
        let path = ["radio", "preamble_detection"];
        match radio.preamble_detection {
            Some(_) => self.ledger.note_given(&path),
            None => self.ledger.note(&path, &by_default, &source),
        }
        let noise = thermal_noise(fastest.noise_bandwidth, figure.0).as_dbm();
        (figure.0, radio.preamble_detection.map(|level| level.0), noise)
    }

    /// The two thresholds. In ns-2, what a node does not sense does not exist for it.
    fn thresholds(&mut self, receive: Option<Power>, carrier_sense: Power) {
        if let Some(receive) = receive.filter(|receive| carrier_sense.0 > receive.0) {
            self.report(
                &["radio", "carrier_sense_threshold"],
                format!("{carrier_sense} is above the receive threshold ({receive}): nodes would decode frames that they cannot sense"),
                format!("at most {receive}"),
            );
        }
    }

    fn floor(&mut self, noticed: Power, floor: Power) {
        if floor.0 > noticed.0 {
            self.report(
                &["radio", "interference_floor"],
                format!("{floor} is above the least power that a receiver reacts to ({noticed})"),
                format!("at most {noticed}"),
            );
        }
    }
}
