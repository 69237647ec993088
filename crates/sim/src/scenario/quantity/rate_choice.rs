//! The data rate of a radio, or the algorithm that chooses it.

use core::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::schema::{inline_schema, schema_with_words};
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

inline_schema!(RateChoice, schema_with_words(Dimension::Rate, &RateChoice::WORDS.map(|(word, _)| word)));
