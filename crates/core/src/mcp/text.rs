//! Stand-ins for `crate::name` and `crate::sanitize`, and the sentences of this module.
//!
//! Everything here but [`json_string`] and [`quoted`] is to be replaced by the functions of the same purpose in those modules.

use crate::error::{ErrorCode, ToolError};
use serde::de::{Deserialize, Deserializer, Visitor};
use serde_json::value::RawValue;
use std::collections::HashSet;
use std::fmt;

const NAME_LIMIT: usize = 64;

/// `crate::name::check`.
pub(super) fn check_name(name: &str) -> Result<(), ToolError> {
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.len() <= NAME_LIMIT && name.chars().all(legal) {
        return Ok(());
    }
    let message = format!("The name {name:?} is not allowed. Use 1 to 64 of the characters A-Z, a-z, 0-9, `_` and `-`.");
    Err(ToolError::new(ErrorCode::InvalidName, message))
}

/// `crate::name::sanitize`.
pub(super) fn sanitize_name(name: &str) -> String {
    let legal: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' }).take(NAME_LIMIT).collect();
    if legal.is_empty() { "tool".to_owned() } else { legal }
}

/// `crate::name::dedupe`.
pub(super) fn dedupe_names(names: &[String]) -> Vec<String> {
    let mut taken = HashSet::new();
    let mut unique = Vec::with_capacity(names.len());
    for name in names {
        let mut candidate = name.clone();
        let mut number = 2_u32;
        while !taken.insert(candidate.clone()) {
            let tail = format!("_{number}");
            candidate = name.chars().take(NAME_LIMIT - tail.len()).collect::<String>() + &tail;
            number += 1;
        }
        unique.push(candidate);
    }
    unique
}

/// `crate::sanitize::clean_text`.
pub(super) fn clean_text(text: &str, limit: usize) -> String {
    let invisible = |c: char| {
        (c.is_control() && !matches!(c, '\t' | '\n' | '\r'))
            || matches!(c, '\u{200b}' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
    };
    let mut kept = text.chars().filter(|&c| !invisible(c));
    let mut cleaned: String = kept.by_ref().take(limit).collect();
    if kept.next().is_some() {
        cleaned.push_str("…(truncated)");
    }
    cleaned
}

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

/// Text as a JSON string.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
