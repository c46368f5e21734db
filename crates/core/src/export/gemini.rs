//! Gemini: <https://ai.google.dev/gemini-api/docs/function-calling>. Schemas go into `parametersJsonSchema` and keep to what its older
//! dialect could say too, so that models and gateways of either kind take them.

use super::keys::suffixed;
use super::narrow::{Narrower, Rules};
use super::report::{Path, Report};
use super::root;
use crate::prompts::PromptRegistry;
use serde_json::{Map, Value};

const MAX_NAME: usize = 63;
const MAX_KEY: usize = 64;

static RULES: Rules = Rules { keeps, closed: false, bare: true, key };

fn keeps(kind: &str, keyword: &str, value: &Value) -> bool {
    match (kind, keyword) {
        ("string", "format") => value == "date-time",
        ("number", "format") => value == "float" || value == "double",
        ("integer", "format") => value == "int32" || value == "int64",
        ("number" | "integer", "minimum" | "maximum") | ("array", "minItems" | "maxItems") => value.is_number(),
        _ => false,
    }
}

/// The key to use for one that Gemini refuses.
pub(super) fn key(key: &str) -> Option<String> {
    let starts = key.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    let fits = starts && key.len() <= MAX_KEY && key.chars().all(|character| character.is_ascii_alphanumeric() || character == '_');
    (!fits).then(|| suffixed(key, MAX_KEY, |character| character.is_ascii_alphanumeric() || character == '_'))
}

/// The name to use for a tool whose own Gemini refuses.
pub(super) fn name(name: &str) -> Option<String> {
    let fits = name.len() <= MAX_NAME && name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    (!fits).then(|| suffixed(name, MAX_NAME, |character| character.is_ascii_alphanumeric() || matches!(character, '_' | '-')))
}

/// The schema for Gemini; none for a tool without arguments.
pub(super) fn schema(original: &Value, prompts: &PromptRegistry) -> (Option<Value>, Report) {
    let mut narrower = Narrower::new(original, &RULES, prompts);
    let mut keywords = root::plain(&mut narrower.flattener, original, &Path::ROOT);
    if keywords.get("properties").and_then(Value::as_object).is_none_or(Map::is_empty) && !keywords.contains_key("additionalProperties") {
        keywords.insert("additionalProperties".into(), false.into());
    }
    let narrowed = narrower.root(&keywords).ok();
    let takes = |schema: &Value| {
        schema.get("additionalProperties").is_some_and(|extra| extra != &Value::Bool(false))
            || schema.get("properties").and_then(Value::as_object).is_some_and(|keys| !keys.is_empty())
    };
    (narrowed.filter(takes), narrower.flattener.report)
}
