//! JSON strings and text of a server.

use crate::sanitize::clean_text;
use serde::de::{Deserialize, Deserializer, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// The whole text, cleaned.
pub(super) fn clean_all(text: &str) -> String {
    clean_text(text, text.len())
}

/// A JSON string as text. A lone surrogate, which JSON may hold and text may not, becomes U+FFFD.
pub(super) fn json_string(raw: &RawValue) -> Option<String> {
    struct Lenient(String);

    impl<'de> Deserialize<'de> for Lenient {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Bytes;
            impl Visitor<'_> for Bytes {
                type Value = Lenient;
                fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                    formatter.write_str("a string")
                }
                fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<Lenient, E> {
                    Ok(Lenient(String::from_utf8_lossy(bytes).into_owned()))
                }
            }
            deserializer.deserialize_bytes(Bytes)
        }
    }

    // An array of numbers would pass for bytes.
    if !raw.get().starts_with('"') {
        return None;
    }
    serde_json::from_str::<String>(raw.get()).ok().or_else(|| serde_json::from_str::<Lenient>(raw.get()).ok().map(|text| text.0))
}

/// The members of an object. `None` for anything else: an array would pass for one.
pub(super) fn object<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Option<T> {
    raw.get().starts_with('{').then(|| serde_json::from_str(raw.get()).ok()).flatten()
}

/// Text as a JSON string.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
