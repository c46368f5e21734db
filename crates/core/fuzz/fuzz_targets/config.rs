//! Files that name servers: comments and trailing commas do not change what the rest says.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use toolbolt_core::mcp::read_config;

fuzz_target!(|text: &str| {
    let read = read_config(text);
    // Strict JSON is read as it is, unless a name comes twice or it is too deep.
    if let (Ok(value), Ok(strict)) = (&read, serde_json::from_str::<Value>(text)) {
        assert_eq!(value, &strict);
    }
    if let Ok(value) = read {
        let again = read_config(&format!("\u{feff}/* {{ */ {value} // }}"));
        assert_eq!(again.ok().as_ref(), Some(&value));
    }
});
