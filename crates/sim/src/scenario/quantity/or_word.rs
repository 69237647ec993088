//! Quantities that a word may replace.

use core::fmt;

use hopcast_protocols::time::Duration;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::schema::{inline_schema, schema_with_words};
use super::{Dimension, Level, Size, Time};

/// A quantity, or a word for its absence.
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

        inline_schema!($name, schema_with_words(Dimension::$quantity, &[$word]));
    };
}

quantity_or!(LevelOrOff, Level, "off", "A ratio of powers in decibels, or `off`.");
quantity_or!(SizeOrOff, Size, "off", "A size in bytes, or `off`.");
quantity_or!(SizeOrNone, Size, "none", "A size in bytes, or `none`.");
quantity_or!(TimeOrOff, Time, "off", "A time in seconds, or `off`.");

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
