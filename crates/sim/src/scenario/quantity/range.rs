//! Quantities that may be drawn from a range.

use core::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::schema::{inline_schema, schema_of_range};
use super::{Dimension, Level, Speed, Time};

/// A quantity, or the least and the largest value of a range to draw from.
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

        inline_schema!($name, schema_of_range(Dimension::$quantity));
    };
}

quantity_range!(LevelRange, Level, "A ratio of powers in decibels, or a list [least, greatest].");
quantity_range!(SpeedRange, Speed, "A speed in metres per second, or a list [lowest, highest].");
quantity_range!(TimeRange, Time, "A time in seconds, or a list [shortest, longest].");
