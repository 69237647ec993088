//! Quantities: a number with its unit, as scenario files spell them.
//!
//! No units library fits: a value here is text such as `"24.5 dBm"` or `"2 Mb/s"` whose kind is known from its key, and
//! what is wrong with it must be said in terms of that key. [`Dimension::units`] is the whole table.

use core::fmt;

use hopcast_protocols::time::Duration;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What a quantity measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// Frequency, in hertz.
    Frequency,
    /// Length, in metres.
    Length,
    /// Ratio of two powers, in decibels.
    Level,
    /// Power: kept in dBm; a number without unit is in watts.
    Power,
    /// Data rate, in bits per second.
    Rate,
    /// Amount of data, in bytes.
    Size,
    /// Speed, in metres per second.
    Speed,
    /// Time, in seconds.
    Time,
}

/// One spelling of a unit and what a number in it is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    /// As written, case included.
    pub symbol: &'static str,
    scale: Scale,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Scale {
    /// This power of ten of the kept unit.
    Decimal(i32),
    /// So many of the kept unit.
    Times(f64),
    /// The kept unit is so many of this one.
    Over(f64),
    /// This power of ten of a watt, to be turned into dBm.
    Watts(i32),
}

impl Dimension {
    /// Every dimension.
    pub const ALL: [Self; 8] =
        [Self::Frequency, Self::Length, Self::Level, Self::Power, Self::Rate, Self::Size, Self::Speed, Self::Time];

    /// The units of this dimension; the first is the one that values are kept in.
    ///
    /// Prefixes of sizes are decimal (kB, MB, GB); the binary ones are written KiB, MiB, GiB (IEC 80000-13).
    pub const fn units(self) -> &'static [Unit] {
        use Scale::{Decimal, Over, Times, Watts};
        macro_rules! units {
            ($($symbol:literal = $scale:expr),*) => { &[$(Unit { symbol: $symbol, scale: $scale }),*] };
        }
        match self {
            Self::Frequency => units!["Hz" = Decimal(0), "kHz" = Decimal(3), "MHz" = Decimal(6), "GHz" = Decimal(9)],
            Self::Length => units!["m" = Decimal(0), "mm" = Decimal(-3), "cm" = Decimal(-2), "km" = Decimal(3)],
            Self::Level => units!["dB" = Decimal(0)],
            Self::Power => {
                units!["dBm" = Decimal(0), "W" = Watts(0), "mW" = Watts(-3), "uW" = Watts(-6), "µW" = Watts(-6)]
            }
            Self::Rate => units![
                "b/s" = Decimal(0),
                "kb/s" = Decimal(3),
                "Mb/s" = Decimal(6),
                "Gb/s" = Decimal(9),
                "bit/s" = Decimal(0),
                "kbit/s" = Decimal(3),
                "Mbit/s" = Decimal(6),
                "Gbit/s" = Decimal(9),
                "bps" = Decimal(0),
                "kbps" = Decimal(3),
                "Mbps" = Decimal(6),
                "Gbps" = Decimal(9)
            ],
            Self::Size => units![
                "B" = Decimal(0),
                "kB" = Decimal(3),
                "KB" = Decimal(3),
                "MB" = Decimal(6),
                "GB" = Decimal(9),
                "KiB" = Times(1024.0),
                "MiB" = Times(1_048_576.0),
                "GiB" = Times(1_073_741_824.0)
            ],
            Self::Speed => units!["m/s" = Decimal(0), "km/h" = Over(3.6)],
            Self::Time => units![
                "s" = Decimal(0),
                "ns" = Decimal(-9),
                "us" = Decimal(-6),
                "µs" = Decimal(-6),
                "ms" = Decimal(-3),
                "min" = Times(60.0),
                "h" = Times(3600.0)
            ],
        }
    }

    /// The name in schema and messages, with its article.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Frequency => "a frequency",
            Self::Length => "a length",
            Self::Level => "a level",
            Self::Power => "a power",
            Self::Rate => "a rate",
            Self::Size => "a size",
            Self::Speed => "a speed",
            Self::Time => "a time",
        }
    }

    /// The unit of a number that has none.
    pub const fn bare_unit(self) -> &'static str {
        match self {
            Self::Power => "W",
            _ => self.units()[0].symbol,
        }
    }

    /// A well-formed value, for messages.
    pub const fn example(self) -> &'static str {
        match self {
            Self::Frequency => "2.412 GHz",
            Self::Length => "200 m",
            Self::Level => "10 dB",
            Self::Power => "15 dBm",
            Self::Rate => "2 Mb/s",
            Self::Size => "1000 B",
            Self::Speed => "5 m/s",
            Self::Time => "10 ms",
        }
    }

    /// A number without unit, in the unit that values are kept in.
    pub fn from_bare(self, number: f64) -> f64 {
        match self {
            Self::Power => watts_to_dbm(number),
            _ => number,
        }
    }

    /// Reads `text`: a decimal number, optional space, a unit of this dimension. The micro sign may also be the Greek letter.
    ///
    /// # Errors
    /// What is wrong, in a clause that follows the value in a message.
    pub fn parse(self, text: &str) -> Result<f64, String> {
        let text = text.trim();
        let (digits, symbol) = text.split_at(number_len(text));
        let symbol = symbol.trim_start().replace(MICRO[1], MICRO[0]);
        let Ok(number) = digits.parse::<f64>() else {
            return Err(format!("is not {}: it does not begin with a number", self.name()));
        };
        if !number.is_finite() {
            return Err("is too large or too small a number".into());
        }
        if symbol.is_empty() {
            return Err(format!("is not {}: the unit is missing", self.name()));
        }
        let Some(unit) = self.units().iter().find(|u| u.symbol == symbol) else {
            return Err(match Self::ALL.iter().find(|d| d.units().iter().any(|u| u.symbol == symbol)) {
                Some(other) => format!("is {}, not {}", other.name(), self.name()),
                None => {
                    let symbols: Vec<&str> = self.units().iter().map(|u| u.symbol).collect();
                    let hint = super::nearest::hint(&symbol, &symbols);
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
                    return Err("is not above 0 W".into());
                }
                watts_to_dbm(shifted(digits, exponent).unwrap_or(number))
            }
        };
        if value.is_finite() { Ok(value) } else { Err("is too large or too small a number".into()) }
    }

    /// `value`, as kept, in the unit that makes it shortest to read.
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

/// A decimal number times a power of ten, rounded once: 1.001 · 10³ is 1001, where the product of the nearest number to 1.001 is
/// not. `None` for what is no decimal number, or has an exponent that only zero can have.
fn shifted(number: &str, exponent: i32) -> Option<f64> {
    let (digits, own) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let own: i32 = own.parse().ok()?;
    format!("{digits}e{}", i64::from(own) + i64::from(exponent)).parse().ok()
}

/// The micro sign, as units are spelled here, and the Greek letter that looks alike, which keyboards and editors put in its place.
const MICRO: [&str; 2] = ["\u{b5}", "\u{3bc}"];

/// Length of the decimal number that `text` begins with.
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

/// Defines the type of one dimension's values as they stand in a scenario.
macro_rules! quantity {
    ($name:ident, $doc:literal) => {
        #[doc = $doc]
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $name(pub f64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&Dimension::$name.display(self.0))
            }
        }

        impl Serialize for $name {
            /// In the kept unit, so that two spellings of one value are written alike.
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                // Adding zero turns -0 into 0.
                serializer.collect_str(&format_args!("{} {}", self.0 + 0.0, Dimension::$name.units()[0].symbol))
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserialize(Dimension::$name, deserializer).map(Self)
            }
        }

        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schema(Dimension::$name)
            }
        }
    };
}

quantity!(Frequency, "A frequency in hertz.");
quantity!(Length, "A length in metres.");
quantity!(Level, "A ratio of powers in decibels.");
quantity!(Power, "A power in dBm.");
quantity!(Rate, "A data rate in bits per second.");
quantity!(Size, "An amount of data in bytes.");
quantity!(Speed, "A speed in metres per second.");
quantity!(Time, "A time in seconds.");

impl From<Time> for Duration {
    fn from(time: Time) -> Self {
        Self::from_secs_f64(time.0)
    }
}

impl From<Duration> for Time {
    fn from(duration: Duration) -> Self {
        // Divided, so that whole seconds stay whole.
        Self(duration.as_nanos() as f64 / 1e9)
    }
}

impl From<TimeOrOff> for Option<Duration> {
    fn from(time: TimeOrOff) -> Self {
        time.0.map(Duration::from)
    }
}

impl From<Option<Duration>> for TimeOrOff {
    fn from(duration: Option<Duration>) -> Self {
        Self(duration.map(Time::from))
    }
}

impl From<u32> for Size {
    fn from(bytes: u32) -> Self {
        Self(f64::from(bytes))
    }
}

fn deserialize<'de, D: Deserializer<'de>>(dimension: Dimension, deserializer: D) -> Result<f64, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Spelling {
        Number(f64),
        Text(String),
    }
    match Spelling::deserialize(deserializer)? {
        Spelling::Number(number) => Ok(dimension.from_bare(number)),
        Spelling::Text(text) => dimension.parse(&text).map_err(serde::de::Error::custom),
    }
}

/// Key in the JSON Schema that holds the dimension of a quantity.
pub(super) const DIMENSION_KEY: &str = "x-quantity";

fn schema(dimension: Dimension) -> schemars::Schema {
    let either = format!("[{}]", MICRO.concat());
    let symbols: Vec<String> = dimension.units().iter().map(|u| u.symbol.replace(MICRO[0], &either)).collect();
    schemars::json_schema!({
        "type": ["string", "number"],
        "pattern": format!(r"^\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*({})\s*$", symbols.join("|")),
        DIMENSION_KEY: &dimension.name()[2..],
    })
}

/// The dimension named in a schema.
pub(super) fn dimension_of(name: &str) -> Option<Dimension> {
    Dimension::ALL.into_iter().find(|d| &d.name()[2..] == name)
}

/// A quantity, or a word that stands for its absence.
macro_rules! quantity_or {
    ($name:ident, $quantity:ident, $word:literal, $doc:literal) => {
        #[doc = $doc]
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $name(pub Option<$quantity>);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self.0 {
                    Some(quantity) => quantity.fmt(f),
                    None => f.write_str($word),
                }
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self.0 {
                    Some(quantity) => quantity.serialize(serializer),
                    None => serializer.serialize_str($word),
                }
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let value = serde_json::Value::deserialize(deserializer)?;
                if value == $word {
                    return Ok(Self(None));
                }
                $quantity::deserialize(value).map(|q| Self(Some(q))).map_err(serde::de::Error::custom)
            }
        }

        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                with_words(Dimension::$quantity, &[$word])
            }
        }
    };
}

/// Key in the JSON Schema that holds the words which may stand in place of a quantity.
const WORDS_KEY: &str = "x-or";

/// The words which may stand in place of the quantity of a schema.
pub(super) fn words_of(schema: &serde_json::Value) -> Vec<&str> {
    schema[WORDS_KEY].as_array().into_iter().flatten().filter_map(serde_json::Value::as_str).collect()
}

quantity_or!(LevelOrOff, Level, "off", "A ratio of powers in decibels, or `off`.");
quantity_or!(SizeOrOff, Size, "off", "A size in bytes, or `off`.");
quantity_or!(SizeOrNone, Size, "none", "A size in bytes, or `none`.");
quantity_or!(TimeOrOff, Time, "off", "A time in seconds, or `off`.");

/// A data rate, or the name of an algorithm that chooses one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RateChoice {
    /// Always this one.
    Fixed(Rate),
    /// Automatic rate fallback.
    Arf,
    /// Adaptive automatic rate fallback.
    Aarf,
    /// By measured throughput.
    Minstrel,
}

impl RateChoice {
    const WORDS: [(&str, Self); 3] = [("arf", Self::Arf), ("aarf", Self::Aarf), ("minstrel", Self::Minstrel)];

    fn word(self) -> Option<&'static str> {
        Self::WORDS.iter().find(|(_, choice)| *choice == self).map(|(word, _)| *word)
    }
}

impl fmt::Display for RateChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(rate) => rate.fmt(f),
            other => f.write_str(other.word().unwrap_or_default()),
        }
    }
}

impl Serialize for RateChoice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Fixed(rate) => rate.serialize(serializer),
            other => serializer.collect_str(other),
        }
    }
}

impl<'de> Deserialize<'de> for RateChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        match Self::WORDS.iter().find(|(word, _)| value == *word) {
            Some((_, choice)) => Ok(*choice),
            None => Rate::deserialize(value).map(Self::Fixed).map_err(serde::de::Error::custom),
        }
    }
}

impl schemars::JsonSchema for RateChoice {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "RateChoice".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        with_words(Dimension::Rate, &Self::WORDS.map(|(word, _)| word))
    }
}

/// A quantity in whose place words may stand.
fn with_words(dimension: Dimension, words: &[&str]) -> schemars::Schema {
    let mut schema = schema(dimension);
    let pattern = schema.get("pattern").and_then(|p| p.as_str()).unwrap_or_default();
    let pattern = format!("{pattern}|^({})$", words.join("|"));
    schema.insert("pattern".into(), pattern.into());
    schema.insert(WORDS_KEY.into(), words.into());
    schema
}

/// A quantity, or the least and the largest of those that may be drawn.
macro_rules! quantity_range {
    ($name:ident, $quantity:ident, $doc:literal) => {
        #[doc = $doc]
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $name(pub [$quantity; 2]);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let [least, most] = self.0;
                if least == most { least.fmt(f) } else { write!(f, "{least} to {most}") }
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let [least, most] = self.0;
                if least == most { least.serialize(serializer) } else { self.0.serialize(serializer) }
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let value = serde_json::Value::deserialize(deserializer)?;
                let range = match value.is_array() {
                    true => <[$quantity; 2]>::deserialize(value),
                    false => $quantity::deserialize(value).map(|quantity| [quantity; 2]),
                };
                range.map(Self).map_err(serde::de::Error::custom)
            }
        }

        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let mut range = schema(Dimension::$quantity);
                range.insert("type".into(), vec!["string", "number", "array"].into());
                range.insert(RANGE_KEY.into(), true.into());
                range.insert("minItems".into(), 2.into());
                range.insert("maxItems".into(), 2.into());
                range.insert("items".into(), schema(Dimension::$quantity).into());
                range
            }
        }
    };
}

/// Key in the JSON Schema of a quantity in whose place two may stand.
pub(super) const RANGE_KEY: &str = "x-range";

quantity_range!(SpeedRange, Speed, "A speed in metres per second, or the lowest and the highest.");
quantity_range!(TimeRange, Time, "A time in seconds, or the shortest and the longest.");

/// Shares of one, 0 to 1: from each time on, ascending or not. A number holds from the start.
#[derive(Clone, Debug, PartialEq)]
pub struct Shares(pub Vec<(Time, f64)>);

impl fmt::Display for Shares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_slice() {
            [(Time(0.0), share)] => write!(f, "{share}"),
            steps => {
                let steps: Vec<String> = steps.iter().map(|(from, share)| format!("{share} from {from}")).collect();
                f.write_str(&steps.join(", "))
            }
        }
    }
}

impl Serialize for Shares {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_slice() {
            [(Time(0.0), share)] => share.serialize(serializer),
            steps => steps.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Shares {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Spelling {
            Share(f64),
            Steps(Vec<(Time, f64)>),
        }
        Ok(Self(match Spelling::deserialize(deserializer)? {
            Spelling::Share(share) => vec![(Time(0.0), share)],
            Spelling::Steps(steps) => steps,
        }))
    }
}

impl schemars::JsonSchema for Shares {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Shares".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let mut time = schema(Dimension::Time);
        time.insert("minimum".into(), 0.into());
        time.insert("maximum".into(), 315_576_000.into());
        schemars::json_schema!({
            "type": ["number", "array"],
            "minimum": 0,
            "maximum": 1,
            "minItems": 1,
            "items": { "type": "array", "prefixItems": [time, { "type": "number", "minimum": 0, "maximum": 1 }], "minItems": 2, "maxItems": 2 },
            STEPS_KEY: true,
        })
    }
}

/// Key in the JSON Schema of a number that may change in steps.
pub(super) const STEPS_KEY: &str = "x-steps";

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
        assert_eq!(Dimension::Size.parse("1e308 GB"), Err("is too large or too small a number".into()));
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
            (Dimension::Time, "1e999 s", "is too large or too small a number"),
            (Dimension::Power, "-3 W", "is not above 0 W"),
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
