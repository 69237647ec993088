//! Quantities as text: reading them, and showing them.

use super::dimension::{Dimension, MICRO, Scale};
use crate::scenario::nearest;

impl Dimension {
    /// A number without unit, in the unit in which hopcast keeps values.
    pub fn from_bare(self, number: f64) -> f64 {
        match self {
            Self::Power => watts_to_dbm(number),
            _ => number,
        }
    }

    /// Reads `text`: a decimal number, an optional space, and a unit of this dimension. The micro sign may also be the
    /// Greek letter.
    ///
    /// # Errors
    /// The problem, as a clause that follows the value in a message.
    pub fn parse(self, text: &str) -> Result<f64, String> {
        let text = text.trim();
        let (digits, symbol) = text.split_at(number_len(text));
        let symbol = symbol.trim_start().replace(MICRO[1], MICRO[0]);
        let Ok(number) = digits.parse::<f64>() else {
            return Err(format!("is not {}: it does not begin with a number", self.name()));
        };
        if !number.is_finite() {
            return Err("is too large or too small".into());
        }
        if symbol.is_empty() {
            return Err(format!("is not {}: the unit is missing", self.name()));
        }
        let Some(unit) = self.units().iter().find(|u| u.symbol == symbol) else {
            return Err(match Self::ALL.iter().find(|d| d.units().iter().any(|u| u.symbol == symbol)) {
                Some(other) => format!("is {}, not {}", other.name(), self.name()),
                None => {
                    let symbols: Vec<&str> = self.units().iter().map(|u| u.symbol).collect();
                    let hint = nearest::hint(&symbol, &symbols);
                    format!("is not {}: there is no unit {symbol:?}{hint}", self.name())
                }
            });
        };
        let value = match unit.scale {
            Scale::Decimal(exponent) => shifted(digits, exponent).unwrap_or(number),
            Scale::Times(factor) => number * factor,
            Scale::Over(divisor) => number / divisor,
            Scale::Watts(exponent) => {
                if number <= 0.0 {
                    return Err("must be above 0 W".into());
                }
                watts_to_dbm(shifted(digits, exponent).unwrap_or(number))
            }
        };
        if value.is_finite() { Ok(value) } else { Err("is too large or too small".into()) }
    }

    /// `value`, in the kept unit, as text in the unit that makes it shortest.
    pub fn display(self, value: f64) -> String {
        let mut best = format!("{value} {}", self.units()[0].symbol);
        for unit in self.units() {
            let scaled = match unit.scale {
                Scale::Decimal(exponent) => shifted(&value.to_string(), -exponent).unwrap_or(value),
                Scale::Times(factor) => value / factor,
                Scale::Over(divisor) => value * divisor,
                Scale::Watts(_) => continue,
            };
            let text = format!("{scaled} {}", unit.symbol);
            if text.len() < best.len() && self.parse(&text) == Ok(value) && !matches!(unit.symbol, "min" | "h" | "KB") {
                best = text;
            }
        }
        best
    }
}

fn watts_to_dbm(watts: f64) -> f64 {
    10.0 * libm::log10(watts) + 30.0
}

/// A decimal number times a power of ten, rounded once: 1.001 · 10³ is 1001, while the product of the nearest number to
/// 1.001 is not. `None` for text that is not a decimal number, or has an exponent that only zero can have.
fn shifted(number: &str, exponent: i32) -> Option<f64> {
    let (digits, own) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let own: i32 = own.parse().ok()?;
    format!("{digits}e{}", i64::from(own) + i64::from(exponent)).parse().ok()
}

/// Length of the decimal number at the start of `text`.
fn number_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut at = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    at += digits(at);
    if bytes.get(at) == Some(&b'.') {
        at += 1 + digits(at + 1);
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let exponent = digits(at + 1 + sign);
        if exponent > 0 {
            at += 1 + sign + exponent;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn values_are_read_in_every_unit() {
        for (dimension, text, value) in [
            (Dimension::Rate, "2 Mb/s", 2e6),
            (Dimension::Rate, "5.5 Mb/s", 5.5e6),
            (Dimension::Rate, "180kbit/s", 180e3),
            (Dimension::Length, "200 m", 200.0),
            (Dimension::Length, "-2.5 km", -2500.0),
            (Dimension::Time, "10 ms", 0.01),
            (Dimension::Time, "20 \u{b5}s", 20e-6),
            (Dimension::Time, "20 \u{3bc}s", 20e-6),
            (Dimension::Power, "1000 \u{3bc}W", 0.0),
            (Dimension::Time, "1.5e3 ns", 1.5e-6),
            (Dimension::Time, "2 h", 7200.0),
            (Dimension::Size, "1 kB", 1000.0),
            (Dimension::Size, "1 KB", 1000.0),
            (Dimension::Size, "1 KiB", 1024.0),
            (Dimension::Power, "24.5 dBm", 24.5),
            (Dimension::Power, "1 mW", 0.0),
            (Dimension::Power, "1W", 30.0),
            (Dimension::Frequency, "914 MHz", 914e6),
            (Dimension::Level, "10 dB", 10.0),
            (Dimension::Speed, "36 km/h", 10.0),
        ] {
            assert_eq!(dimension.parse(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn a_prefix_of_ten_moves_the_point() {
        let parse =
            |dimension: Dimension, text: String| dimension.parse(&text).unwrap_or_else(|e| panic!("{text} {e}"));
        for i in 1_u32..10_000 {
            let (whole, thousandths) = (i / 1_000, i % 1_000);
            assert_eq!(parse(Dimension::Size, format!("{whole}.{thousandths:03} kB")), f64::from(i));
            let (large, small) = (format!("{whole}.{thousandths:03}"), format!("{i}"));
            for (dimension, one, other) in [
                (Dimension::Rate, "Mb/s", "kb/s"),
                (Dimension::Rate, "Gbps", "Mbps"),
                (Dimension::Time, "ms", "us"),
                (Dimension::Time, "us", "ns"),
                (Dimension::Length, "m", "mm"),
                (Dimension::Power, "mW", "uW"),
            ] {
                let both = [(&large, one), (&small, other)].map(|(n, unit)| parse(dimension, format!("{n} {unit}")));
                assert_eq!(both[0], both[1], "{large} {one}");
            }
        }
    }

    #[test]
    fn a_number_of_any_form_takes_a_prefix() {
        for (text, value) in [
            ("1. kB", 1e3),
            (".5 kB", 500.0),
            ("+1.5E-3MB", 1500.0),
            ("1e+2 kB", 1e5),
            ("0e99999999999 kB", 0.0),
            ("1e-99999999999 kB", 0.0),
        ] {
            assert_eq!(Dimension::Size.parse(text), Ok(value), "{text}");
        }
        assert_eq!(Dimension::Size.parse("1e308 GB"), Err("is too large or too small".into()));
    }

    #[test]
    fn the_power_of_ns_2_is_24_5_dbm() {
        let dbm = Dimension::Power.parse("0.28183815 W").expect("a power");
        assert!((dbm - 24.5).abs() < 1e-5, "{dbm}");
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (dimension, text, problem) in [
            (Dimension::Rate, "2 MB/s", "is not a rate: there is no unit \"MB/s\"; did you mean \"Mb/s\"?"),
            (Dimension::Rate, "2 m", "is a length, not a rate"),
            (Dimension::Rate, "fast", "is not a rate: it does not begin with a number"),
            (Dimension::Rate, "", "is not a rate: it does not begin with a number"),
            (Dimension::Time, "10", "is not a time: the unit is missing"),
            (Dimension::Time, "nan s", "is not a time: it does not begin with a number"),
            (Dimension::Time, "1e999 s", "is too large or too small"),
            (Dimension::Power, "-3 W", "must be above 0 W"),
            (Dimension::Length, "3 x", "is not a length: there is no unit \"x\""),
        ] {
            assert_eq!(dimension.parse(text), Err(problem.into()), "{text}");
        }
    }

    #[test]
    fn values_are_shown_in_the_shortest_unit() {
        for (dimension, value, text) in [
            (Dimension::Rate, 54e6, "54 Mb/s"),
            (Dimension::Size, 212_992.0, "208 KiB"),
            (Dimension::Size, 1472.0, "1472 B"),
            (Dimension::Time, 0.2, "0.2 s"),
            (Dimension::Time, 110.0, "110 s"),
            (Dimension::Time, 0.0, "0 s"),
            (Dimension::Power, -64.37, "-64.37 dBm"),
            (Dimension::Frequency, 914e6, "914 MHz"),
        ] {
            assert_eq!(dimension.display(value), text);
        }
    }

    proptest! {
        #[test]
        fn a_displayed_value_reads_back(index in 0..Dimension::ALL.len(), value in prop::num::f64::NORMAL) {
            let dimension = Dimension::ALL[index];
            prop_assert_eq!(dimension.parse(&dimension.display(value)), Ok(value));
        }

        #[test]
        fn no_text_panics(index in 0..Dimension::ALL.len(), text in "\\PC*") {
            let _ = Dimension::ALL[index].parse(&text);
        }

        #[test]
        fn number_like_text_is_finite_or_refused(index in 0..Dimension::ALL.len(), text in "[-+]?[0-9.e+-]{0,12} ?[a-zA-Zµ/]{0,4}") {
            if let Ok(value) = Dimension::ALL[index].parse(&text) {
                prop_assert!(value.is_finite());
            }
        }
    }
}
