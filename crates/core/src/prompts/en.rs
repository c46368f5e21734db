//! English texts, and for every key the variables and tokens that overrides must keep.

use super::template::Entry;

const fn entry(key: &'static str, variables: &'static [&'static str], text: &'static str) -> Entry {
    Entry { key, variables, protected: &[], text }
}

pub(super) const TEXTS: &[Entry] = &[
    entry("tool.error.not_found", &["name", "available"], "There is no tool named '{name}'. Available tools: {available}."),
];
