//! Reading a call's arguments: strict JSON, so that nobody downstream can read the same text differently.

use super::violation::Violation;
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::fmt;

/// Longest argument text, in bytes. Longer ones are refused unread.
pub const MAX_BYTES: usize = 16 << 20;

/// Parses argument text. Empty text stands for no arguments.
///
/// # Errors
/// One violation of the root: text that is too long, not JSON, nested over 128 levels, or has a duplicate key, a lone
/// surrogate or a number that does not fit a double.
pub fn parse(text: &str) -> Result<Value, Violation> {
    if text.len() > MAX_BYTES {
        return Err(Violation::root(format!("the arguments are longer than {MAX_BYTES} bytes")));
    }
    if text.trim_ascii().is_empty() {
        return Ok(Map::new().into());
    }
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = StrictValue.deserialize(&mut deserializer).and_then(|value| deserializer.end().map(|()| value));
    value.map_err(|error| Violation::root(format!("not valid JSON: {error}")))
}

/// Builds a value and refuses an object that has a key twice: one reader would take the first, another the last.
struct StrictValue;

impl<'de> DeserializeSeed<'de> for StrictValue {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for StrictValue {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = sequence.next_element_seed(StrictValue)? {
            items.push(item);
        }
        Ok(items.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let value = entries.next_value_seed(StrictValue)?;
            if object.contains_key(&key) {
                return Err(A::Error::custom(format_args!("duplicate key {}", serde_json::json!(key))));
            }
            object.insert(key, value);
        }
        Ok(object.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn strict_where_parsers_differ() {
        assert_eq!(parse("").unwrap(), json!({}));
        assert_eq!(parse(" {\"a\": [1, 2.5, null]} ").unwrap(), json!({"a": [1, 2.5, null]}));
        let deep = "[".repeat(200);
        for bad in [
            "{\"a\":1,\"a\":2}",
            "{\"a\":{\"b\":1,\"b\":1}}",
            "{} x",
            "{\"n\":1e400}",
            "{\"s\":\"\\ud800\"}",
            "nul",
            deep.as_str(),
            "{'a':1}",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
