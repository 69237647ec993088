//! Shares that may change in steps.

use core::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::schema::{STEPS_KEY, inline_schema, schema_of};
use super::{Dimension, Time};

/// Shares from 0 to 1, each valid from a time on. The times ascend or not; a single number holds from the start.
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

inline_schema!(Shares, {
    let mut time = schema_of(Dimension::Time);
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
});
