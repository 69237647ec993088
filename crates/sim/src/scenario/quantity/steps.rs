//! Values that may change in steps.

use core::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::json;

use super::schema::{STEPS_KEY, schema_of};
use super::{Dimension, Rate, Time};

/// Values, each in force from a time on, in any order. A single value is in force from the start.
#[derive(Clone, Debug, PartialEq)]
pub struct Steps<T>(pub Vec<(Time, T)>);

/// Shares of one, 0 to 1.
pub type Shares = Steps<f64>;

/// Rates, in bits per second.
pub type Rates = Steps<Rate>;

/// Times, in seconds.
pub type Times = Steps<Time>;

/// A value that may change in steps.
pub trait Stepped: Copy + fmt::Display + Serialize + DeserializeOwned {
    /// Its dimension; `None`: a plain number.
    const DIMENSION: Option<Dimension>;
    /// The least and the largest value of a step, in SI units.
    const LIMITS: [u64; 2];
    /// Name of the steps in the schema.
    const NAME: &'static str;
}

impl Stepped for f64 {
    const DIMENSION: Option<Dimension> = None;
    const LIMITS: [u64; 2] = [0, 1];
    const NAME: &'static str = "Shares";
}

impl Stepped for Rate {
    const DIMENSION: Option<Dimension> = Some(Dimension::Rate);
    const LIMITS: [u64; 2] = [0, 1_000_000_000_000];
    const NAME: &'static str = "Rates";
}

impl Stepped for Time {
    const DIMENSION: Option<Dimension> = Some(Dimension::Time);
    const LIMITS: [u64; 2] = [0, 86_400];
    const NAME: &'static str = "Times";
}

impl<T: Copy> Steps<T> {
    /// The only value, if it is in force from the start.
    fn alone(&self) -> Option<T> {
        match self.0.as_slice() {
            [(Time(0.0), value)] => Some(*value),
            _ => None,
        }
    }
}

impl<T: Stepped> fmt::Display for Steps<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(value) = self.alone() {
            return write!(f, "{value}");
        }
        let steps: Vec<String> = self.0.iter().map(|(from, value)| format!("{value} from {from}")).collect();
        f.write_str(&steps.join(", "))
    }
}

impl<T: Stepped> Serialize for Steps<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.alone() {
            Some(value) => value.serialize(serializer),
            None => self.0.serialize(serializer),
        }
    }
}

impl<'de, T: Stepped> Deserialize<'de> for Steps<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        let steps = match value.is_array() {
            true => serde_json::from_value(value),
            false => serde_json::from_value(value).map(|value| vec![(Time(0.0), value)]),
        };
        steps.map(Self).map_err(serde::de::Error::custom)
    }
}

impl<T: Stepped> JsonSchema for Steps<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::NAME.into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let [least, most] = T::LIMITS;
        let mut time = schema_of(Dimension::Time);
        time.insert("minimum".into(), 0.into());
        time.insert("maximum".into(), 315_576_000.into());
        let one = || T::DIMENSION.map_or_else(|| json_schema!({ "type": "number" }), schema_of);
        let mut value = one();
        value.insert("minimum".into(), json!(least));
        value.insert("maximum".into(), json!(most));
        let mut steps = value.clone();
        let types: &[&str] = match T::DIMENSION {
            None => &["number", "array"],
            Some(_) => &["string", "number", "array"],
        };
        steps.insert("type".into(), types.into());
        steps.insert("minItems".into(), 1.into());
        steps.insert(
            "items".into(),
            json!({ "type": "array", "prefixItems": [time, value], "minItems": 2, "maxItems": 2 }),
        );
        steps.insert(STEPS_KEY.into(), true.into());
        steps
    }
}
