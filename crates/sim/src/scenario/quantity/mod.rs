//! Quantities: numbers with units, as scenario files spell them.
//!
//! No units library fits: a value here is a string such as `"24.5 dBm"` or `"2 Mb/s"` whose kind its key determines, and
//! messages must describe errors in terms of that key. [`Dimension::units`] is the whole table.

mod count;
mod dimension;
mod or_word;
mod range;
mod rate_choice;
mod rts_threshold;
mod schema;
mod steps;
mod text;

use core::fmt;

use hopcast_protocols::time::Duration;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use count::CountOrOff;
pub use dimension::{Dimension, Unit};
pub use or_word::{LevelOrOff, SizeOrNone, SizeOrOff, TimeOrOff};
pub use range::{LevelRange, SpeedRange, TimeRange};
pub use rate_choice::{RateChoice, RateOrScheme};
pub(super) use rate_choice::{SCHEMES_KEY, is_scheme};
pub use rts_threshold::RtsThreshold;
pub(super) use schema::{DIMENSION_KEY, OTHER_KEY, RANGE_KEY, STEPS_KEY, WORDS_KEY, dimension_of, words_of};
use schema::{inline_schema, schema_of};
pub use steps::{Rates, Shares, Stepped, Steps, Times};

/// Defines the type of one dimension's values in a scenario.
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
            /// Writes the value in the kept unit, so that all spellings of a value give the same text.
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

        inline_schema!($name, schema_of(Dimension::$name));
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
