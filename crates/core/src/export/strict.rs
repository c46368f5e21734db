//! OpenAI's strict mode: <https://platform.openai.com/docs/guides/structured-outputs#supported-schemas>.

use super::narrow::{Narrower, Rules};
use super::report::{Path, Report, Weakening};
use super::root;
use crate::prompts::PromptRegistry;
use serde_json::Value;

const FORMATS: [&str; 9] = ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];
/// What one schema may hold.
const MAX_LEVELS: usize = 10;
const MAX_PROPERTIES: usize = 5_000;
const MAX_VALUES: usize = 1_000;
const MAX_CHARS: usize = 120_000;

static RULES: Rules = Rules { keeps, closed: true, bare: false, key: |_| None };

fn keeps(kind: &str, keyword: &str, value: &Value) -> bool {
    match (kind, keyword) {
        ("string", "pattern") => value.is_string(),
        ("string", "format") => value.as_str().is_some_and(|format| FORMATS.contains(&format)),
        ("number" | "integer", "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf")
        | ("array", "minItems" | "maxItems") => value.is_number(),
        _ => false,
    }
}

/// The schema for strict mode, or why there is none, which is told too.
pub(super) fn schema(original: &Value, prompts: &PromptRegistry) -> (Option<Value>, Report) {
    let mut narrower = Narrower::new(original, &RULES, prompts);
    let keywords = root::plain(&mut narrower.flattener, original, &Path::ROOT);
    let narrowed = narrower.root(&keywords).and_then(|narrowed| measured(&narrowed).map(|()| narrowed));
    let mut report = narrower.flattener.report;
    match narrowed {
        Ok(narrowed) => (Some(narrowed), report),
        Err(weakening) => {
            // What would have been given up was not: the tool goes without.
            report.weakened = vec![weakening];
            (None, report)
        }
    }
}

#[derive(Default)]
struct Size {
    properties: usize,
    values: usize,
    chars: usize,
}

fn measured(schema: &Value) -> Result<(), Weakening> {
    let mut size = Size::default();
    let fits = fits(schema, 0, &mut size) && size.properties <= MAX_PROPERTIES && size.values <= MAX_VALUES && size.chars <= MAX_CHARS;
    if fits { Ok(()) } else { Err(Path::ROOT.weakened("properties", "it is too deep or too large for strict mode")) }
}

fn fits(schema: &Value, level: usize, size: &mut Size) -> bool {
    let inner = level + usize::from(schema.get("type").is_some_and(|kind| kind != "string"));
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        size.values += values.len();
        size.chars += values.iter().filter_map(Value::as_str).map(str::len).sum::<usize>();
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        size.properties += 1;
        size.chars += name.len();
        if !fits(property, inner, size) {
            return false;
        }
    }
    let holds = schema.get("properties").is_some() || schema.get("items").is_some();
    (!holds || inner <= MAX_LEVELS)
        && schema.get("items").is_none_or(|items| fits(items, inner, size))
        && schema.get("anyOf").and_then(Value::as_array).into_iter().flatten().all(|one| fits(one, level, size))
}
