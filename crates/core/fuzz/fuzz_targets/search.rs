//! Answers of search services: read or refused, and what is read can be shown.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toolbolt_core::builtin::search::{Source, read_answer};

fuzz_target!(|body: &str| {
    for json in Source::ALL.into_iter().filter_map(|source| read_answer(source, body)) {
        let Ok(serde_json::Value::Array(results)) = serde_json::from_str(&json) else { panic!("no list: {json}") };
        assert!(results.len() <= 50);
        for result in &results {
            for text in ["title", "snippet", "url"].into_iter().filter_map(|part| result[part].as_str()) {
                assert!(!text.chars().any(char::is_control), "{text:?}");
            }
            assert!(result["url"].as_str().is_none_or(|url| url.starts_with("http://") || url.starts_with("https://")));
        }
    }
});
