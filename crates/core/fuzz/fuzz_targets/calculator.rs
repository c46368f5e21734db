//! Expressions: an answer or an error, never a panic, and the answer is JSON.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toolbolt_core::builtin::calculator::calculate;

fuzz_target!(|text: &str| {
    if let Ok(text) = calculate(text) {
        assert!(serde_json::from_str::<&serde_json::value::RawValue>(&text).is_ok());
    }
});
