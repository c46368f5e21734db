//! Texts of others: cleaned, shown and guarded without a way around.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toolbolt_core::prompts::PromptRegistry;
use toolbolt_core::{confirm, guard, name, redact, sanitize};

fuzz_target!(|text: &str| {
    assert!(name::is_valid(&name::sanitize(text)));
    assert!(!sanitize::visible(text).chars().any(char::is_control));
    sanitize::clean_text(text, 100);
    confirm::preview("tool", "mcp:x", text.len() % 2 == 0, text);
    redact::redact_text(text);
    let wrapped = guard::wrap(text, "mcp:x", "0123456789abcdef", &PromptRegistry::default());
    assert_eq!(wrapped.matches("</external-content").count(), 1);
});
