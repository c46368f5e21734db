//! Argument text: what is accepted means the same to every other reader.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toolbolt_core::{exact, schema::arguments};

fuzz_target!(|text: &str| {
    if let Ok(value) = arguments::parse(text) {
        if !text.trim_ascii().is_empty() {
            assert_eq!(serde_json::from_str::<serde_json::Value>(text).ok(), Some(value));
        }
        if let Some((marked, _)) = exact::mark_inexact(text) {
            assert!(exact::first_inexact(&marked).is_none());
            assert!(serde_json::from_str::<serde_json::Value>(&marked).is_ok());
        }
    }
});
