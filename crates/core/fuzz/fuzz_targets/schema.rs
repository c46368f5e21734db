//! Schemas of others: compiled or refused, and a compiled one judges anything.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toolbolt_core::schema::{Trust, Validator, fill_defaults, normalize};

fuzz_target!(|texts: (&str, &str)| {
    let (Ok(schema), Ok(mut value)) = (serde_json::from_str(texts.0), serde_json::from_str(texts.1)) else { return };
    let Ok(schema) = normalize(schema) else { return };
    if let Ok(validator) = Validator::compile(&schema, Trust::Remote) {
        let _ = validator.violations(&value);
        fill_defaults(&schema, &mut value);
    }
});
