//! The data rate of a radio, or the algorithm that chooses it.

use core::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::schema::{inline_schema, schema_of, schema_with_words};
use super::{Dimension, Rate};

/// A data rate, or the name of an algorithm that chooses one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RateChoice {
    /// Always this rate.
    Fixed(Rate),
    /// Automatic rate fallback.
    Arf,
    /// Adaptive automatic rate fallback.
    Aarf,
    /// Minstrel: by measured throughput.
    Minstrel,
    /// Minstrel-HT: by measured throughput of aggregates.
    MinstrelHt,
    /// The best rate for the power at the receiver.
    Ideal,
    /// Always the modulation and coding scheme of this index.
    Mcs(u8),
}

impl RateChoice {
    const WORDS: [(&str, Self); 5] = [
        ("arf", Self::Arf),
        ("aarf", Self::Aarf),
        ("minstrel", Self::Minstrel),
        ("minstrel-ht", Self::MinstrelHt),
        ("ideal", Self::Ideal),
    ];

    fn word(self) -> Option<&'static str> {
        Self::WORDS.iter().find(|(_, choice)| *choice == self).map(|(word, _)| *word)
    }
}

impl fmt::Display for RateChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(rate) => rate.fmt(f),
            Self::Mcs(mcs) => write!(f, "mcs {mcs}"),
            other => f.write_str(other.word().unwrap_or_default()),
        }
    }
}

impl Serialize for RateChoice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Fixed(rate) => rate.serialize(serializer),
            Self::Mcs(_) => serializer.collect_str(self),
            other => serializer.collect_str(other),
        }
    }
}

impl<'de> Deserialize<'de> for RateChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        match Self::WORDS.iter().find(|(word, _)| value == *word) {
            Some((_, choice)) => Ok(*choice),
            None => match value.as_str().and_then(mcs_of) {
                Some(mcs) => Ok(Self::Mcs(mcs)),
                None => Rate::deserialize(value).map(Self::Fixed).map_err(serde::de::Error::custom),
            },
        }
    }
}

/// The index in `mcs 7`.
fn mcs_of(text: &str) -> Option<u8> {
    text.strip_prefix("mcs ")?.trim().parse().ok().filter(|&mcs| mcs < SCHEMES)
}

/// Those of HT, which has the most.
const SCHEMES: u8 = 32;

/// Whether a text names a scheme.
pub(in crate::scenario) fn is_scheme(text: &str) -> bool {
    mcs_of(text).is_some()
}

/// Key in the JSON Schema of a rate that the index of a scheme may replace.
pub(in crate::scenario) const SCHEMES_KEY: &str = "x-schemes";

/// A data rate, or the index of a modulation and coding scheme.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RateOrScheme {
    /// This rate.
    Rate(Rate),
    /// The scheme of this index.
    Mcs(u8),
}

impl<'de> Deserialize<'de> for RateOrScheme {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        match value.as_str().and_then(mcs_of) {
            Some(mcs) => Ok(Self::Mcs(mcs)),
            None => Rate::deserialize(value).map(Self::Rate).map_err(serde::de::Error::custom),
        }
    }
}

inline_schema!(RateOrScheme, with_schemes(schema_of(Dimension::Rate)));
inline_schema!(RateChoice, {
    with_schemes(schema_with_words(Dimension::Rate, &RateChoice::WORDS.map(|(word, _)| word)))
});

/// The schema of a rate that the index of a scheme may replace.
fn with_schemes(mut schema: schemars::Schema) -> schemars::Schema {
    let pattern = schema.get("pattern").and_then(|pattern| pattern.as_str()).unwrap_or_default();
    let pattern = format!("{pattern}|^mcs [0-9]+$");
    schema.insert("pattern".into(), pattern.into());
    schema.insert(SCHEMES_KEY.into(), true.into());
    schema
}
