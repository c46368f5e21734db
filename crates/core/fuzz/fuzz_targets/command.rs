//! Command lines.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toolbolt_core::mcp::split_command;

fuzz_target!(|text: &str| {
    if let Ok(words) = split_command(text) {
        assert!(!words.is_empty());
    }
});
