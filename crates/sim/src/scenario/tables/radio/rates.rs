//! Rates of frames, and protection of those that not all stations understand.

use std::sync::Arc;

use hopcast_radio::mac::{self, dsss_rate};
use hopcast_radio::phy::{Capability, ModulationClass, Phy, Shape, Standard, TxVector};
use hopcast_radio::rate::{Algorithm, Candidate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::Resolver;
use super::Radio;
use crate::scenario::model;
use crate::scenario::quantity::{Rate, RateChoice};

/// Protection of OFDM frames.
#[derive(Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Protection {
    /// No protection.
    None,
    /// A CTS to the station itself, at the basic rate.
    CtsToSelf,
    /// RTS and CTS at the basic rate.
    RtsCts,
}

alike!(Protection, mac::Protection: None, CtsToSelf, RtsCts);

/// Source of the default basic rate.
const BASIC_RATE_SOURCE: &str =
    "default: the highest mandatory rate up to the data rate (IEEE 802.11-2020, 10.6.6.5.2)";

impl Resolver<'_> {
    /// The data rate or the highest of several, the algorithm that chooses the rate, and the basic rate.
    /// `phy_among` has the rates that older stations of the scenario share.
    pub(super) fn rates(
        &mut self,
        radio: &Radio,
        (phy, phy_among): (&Phy, &Phy),
        shape: Option<Shape>,
        older: &[Capability],
    ) -> (TxVector, Algorithm, TxVector) {
        // Those of the profile hold where the standard has them.
        let [profile_data_rate, profile_basic_rate] = ["data_rate", "basic_rate"].map(|key| {
            let (rate, source) = self.ledger.of_profile(&["radio", key])?;
            Some((rate_of(phy, rate)?, source))
        });
        let given = match radio.data_rate {
            Some(RateChoice::Fixed(rate)) => self.rate("data_rate", rate, phy),
            Some(RateChoice::Mcs(mcs)) => self.scheme_at(&["radio", "data_rate"], mcs, phy, shape),
            _ => None,
        };
        let adaptive = match radio.data_rate {
            Some(RateChoice::Arf) => Some(Algorithm::Arf),
            Some(RateChoice::Aarf) => Some(Algorithm::Aarf),
            Some(RateChoice::Minstrel) => Some(Algorithm::Minstrel),
            Some(RateChoice::MinstrelHt) => {
                if shape.is_none() {
                    let problem = format!("{} has no streams and aggregates", phy.standard());
                    self.report(
                        &["radio", "data_rate"],
                        problem,
                        "\"minstrel\", or standard = 802.11n, 802.11ac or 802.11ax",
                    );
                }
                Some(Algorithm::MinstrelHt)
            }
            Some(RateChoice::Ideal) => Some(Algorithm::Ideal),
            Some(RateChoice::Fixed(_) | RateChoice::Mcs(_)) | None => None,
        };
        let (data_rate, rate_control) = match adaptive {
            Some(algorithm) => {
                self.ledger.note_given(&["radio", "data_rate"]);
                (phy.fastest(), algorithm)
            }
            None => {
                let rate = self.ledger.pick_shown(&["radio", "data_rate"], given, shown, || {
                    profile_data_rate
                        .unwrap_or_else(|| (phy.fastest(), format!("default: the highest rate of {}", phy.standard())))
                });
                (rate, Algorithm::Fixed(rate))
            }
        };
        let given = radio.basic_rate.and_then(|rate| self.rate("basic_rate", rate, phy_among));
        let has_dsss = has_dsss(older);
        let is_given = matches!(radio.protection, Some(Protection::CtsToSelf | Protection::RtsCts));
        let protected = has_dsss || is_given && phy.is_mixed();
        let (fitting, exceeding) = split(given, data_rate);
        let basic_rate = self.ledger.pick_shown(&["radio", "basic_rate"], fitting, TxVector::to_string, || {
            let of_profile = profile_basic_rate.filter(|(rate, _)| rate.data_rate() <= data_rate.data_rate());
            let (rate, source) = of_profile.unwrap_or_else(|| {
                let source = match protected {
                    true if has_dsss => "default with a station of 802.11b: a rate that all stations understand",
                    true => "default with protection: a rate that 802.11b has",
                    false => BASIC_RATE_SOURCE,
                };
                (default_basic_rate(phy_among, protected, data_rate), source.into())
            });
            (rate, in_place_of(exceeding, source))
        });
        (data_rate, rate_control, basic_rate)
    }

    /// How frames at the rates that rate control chooses from are received, and their answers, where it is to know that.
    pub(super) fn candidates(
        &mut self,
        algorithm: Algorithm,
        rates: &[TxVector],
        (phy, basic_rate): (&Phy, TxVector),
        by_range: bool,
        reception: &model::Reception,
    ) -> Arc<[Candidate]> {
        if algorithm != Algorithm::Ideal {
            return Arc::default();
        }
        if by_range || reception.rules != model::Rules::Sinr {
            let problem = "knows the best rate for a ratio of signal to noise, and thresholds have none";
            let expected = "reception = \"sinr\" and a propagation with power, or \"minstrel\"";
            self.report(&["radio", "data_rate"], problem, expected);
            return Arc::default();
        }
        reception.candidates(rates, phy, basic_rate)
    }

    pub(super) fn protection(
        &mut self,
        radio: &Radio,
        (phy, older): (&Phy, &[Capability]),
        basic_rate: TxVector,
        is_over_the_air: bool,
    ) -> mac::Protection {
        let path = ["radio", "protection"];
        let (has_dsss, has_older) = (has_dsss(older), !older.is_empty());
        let protection = self.ledger.pick(&path, radio.protection, || {
            if is_over_the_air && phy.is_mixed() && basic_rate.modulation_class() == ModulationClass::Dsss {
                let source = "default over the air: while a station of 802.11b belongs to the network";
                return (Protection::CtsToSelf, source.into());
            }
            if has_dsss {
                let source = "default: access points ask for it in a network with a station of 802.11b (10.27.2)";
                return (Protection::CtsToSelf, source.into());
            }
            if has_older {
                return (Protection::None, "default: all stations understand the legacy preamble".into());
            }
            (Protection::None, "default: all stations understand OFDM".into())
        });
        if protection == Protection::None {
            return mac::Protection::None;
        }
        if has_older && !has_dsss {
            return protection.into();
        }
        if !phy.is_mixed() && !has_older {
            self.report(
                &path,
                format!("{} needs no protection: only 802.11g mixes OFDM with older modulations", phy.standard()),
                "\"none\"",
            );
        } else {
            self.check_protects(&path, basic_rate);
        }
        protection.into()
    }

    /// Reports a basic rate at which protection does not work: the stations that it protects from must understand it.
    pub(super) fn check_protects(&mut self, path: &[&str], basic_rate: TxVector) {
        if basic_rate.modulation_class() > ModulationClass::Dsss {
            let problem =
                format!("has no effect at a basic rate of {basic_rate}, which stations of 802.11b do not understand");
            self.report(path, problem, "a basic_rate of 1, 2, 5.5 or 11 Mb/s");
        }
    }

    fn rate(&mut self, key: &str, rate: Rate, phy: &Phy) -> Option<TxVector> {
        self.rate_at(&["radio", key], rate, phy)
    }

    /// The rate of the standard that is equal to `rate`. Reports another.
    pub(super) fn rate_at(&mut self, path: &[&str], rate: Rate, phy: &Phy) -> Option<TxVector> {
        let found = rate_of(phy, rate);
        if found.is_none() {
            let known: Vec<String> = phy.vectors().iter().map(|rate| format!("\"{rate}\"")).collect();
            self.report(path, format!("is not a rate of {}", phy.standard()), format!("one of {}", known.join(", ")));
        }
        found
    }

    /// The basic rate of a radio with separate rates.
    pub(super) fn node_basic_rate(
        &mut self,
        path: &[&str],
        data_rate: Option<TxVector>,
        given: Option<TxVector>,
        (radio, phy): (&model::Radio, &Phy),
    ) -> TxVector {
        let (fitting, exceeding) = split(given, data_rate.unwrap_or(radio.data_rate));
        if let Some(rate) = fitting {
            self.ledger.note_given(path);
            // What protects by default is left to the other radios.
            let is_asked = phy.is_mixed() && self.ledger.is_given(&["radio", "protection"]);
            if is_asked && radio.protection != mac::Protection::None {
                self.check_protects(path, rate);
            }
            return rate;
        }
        let (rate, source) = match data_rate {
            Some(rate) if !has_rate(rate, radio.basic_rate) => {
                let protected = radio.protection != mac::Protection::None && phy.is_mixed();
                (default_basic_rate(phy, protected, rate), BASIC_RATE_SOURCE)
            }
            // The network's, as what goes at it is for all stations.
            _ => (radio.basic_rate, "radio.basic_rate"),
        };
        if rate != radio.basic_rate || exceeding.is_some() {
            self.ledger.note(path, &rate.to_string(), &in_place_of(exceeding, source.into()));
        }
        rate
    }
}

/// Whether one of these is a station of 802.11b.
fn has_dsss(older: &[Capability]) -> bool {
    older.iter().any(|older| older.standard() == Standard::HrDsss)
}

/// A rate, with the index of its scheme if it has one.
pub(super) fn shown(rate: &TxVector) -> String {
    if rate.format().has_shape() { format!("mcs {} ({rate})", rate.mcs()) } else { rate.to_string() }
}

/// The vector of the standard that has this rate.
fn rate_of(phy: &Phy, rate: Rate) -> Option<TxVector> {
    phy.vectors().iter().find(|known| f64::from(known.data_rate().as_kbps()) * 1e3 == rate.0).copied()
}

/// The given basic rate: first if it does not exceed the data rate, second if it does.
fn split(given: Option<TxVector>, data_rate: TxVector) -> (Option<TxVector>, Option<TxVector>) {
    let fits = |rate: &TxVector| rate.data_rate() <= data_rate.data_rate();
    (given.filter(fits), given.filter(|rate| !fits(rate)))
}

/// The source of the value that replaces a basic rate above the data rate, if there is one.
fn in_place_of(exceeding: Option<TxVector>, source: String) -> String {
    match exceeding {
        Some(rate) => format!("{rate} exceeds data_rate; {source}"),
        None => source,
    }
}

/// The highest mandatory rate up to the data rate; with protection, of 802.11b.
fn default_basic_rate(phy: &Phy, protected: bool, data_rate: TxVector) -> TxVector {
    let highest = if protected { dsss_rate(phy, data_rate) } else { data_rate };
    phy.default_basic_rate(highest)
}

/// Whether a radio that sends its data at `highest` has this rate: none above it, and under 802.11b none of OFDM.
fn has_rate(highest: TxVector, rate: TxVector) -> bool {
    rate.data_rate() <= highest.data_rate() && rate.modulation_class() <= highest.modulation_class()
}
