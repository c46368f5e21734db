//! Anthropic: <https://docs.claude.com/en/docs/agents-and-tools/tool-use/implement-tool-use>.

use super::keys::suffixed;
use super::report::{Path, Report};
use serde_json::{Map, Value};

const MAX_KEY: usize = 64;
/// Deeper than any schema that a reader takes.
const MAX_DEPTH: usize = 128;

const fn is_allowed(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '.' | '-')
}

/// The key to use for one that Anthropic refuses.
pub(super) fn key(key: &str) -> Option<String> {
    let fits = (1..=MAX_KEY).contains(&key.len()) && key.chars().all(is_allowed);
    (!fits).then(|| suffixed(key, MAX_KEY, is_allowed))
}

/// The schema for Anthropic: an object at the root, in the words of JSON Schema 2020-12.
pub(super) fn schema(original: &Value) -> (Value, Report) {
    let (mut keywords, mut report) = super::lax::root(original);
    keywords.shift_remove("$schema");
    let mut schema = Value::Object(keywords);
    renew(&mut schema, &Path::ROOT, &mut report, 0);
    (schema, report)
}

/// Words of older drafts become those of 2020-12, and keys that are refused become others.
fn renew(schema: &mut Value, path: &Path<'_>, report: &mut Report, depth: usize) {
    let Value::Object(keywords) = schema else { return };
    if depth > MAX_DEPTH {
        return;
    }
    tuples(keywords);
    bounds(keywords, "exclusiveMinimum", "minimum");
    bounds(keywords, "exclusiveMaximum", "maximum");
    if let Some(Value::String(reference)) = keywords.get_mut("$ref") {
        *reference = renamed_pointer(reference);
    }
    rename(keywords, path, report);
    for (keyword, value) in keywords.iter_mut() {
        let here = path.join(keyword);
        match (keyword.as_str(), value) {
            ("properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas", Value::Object(schemas)) => {
                schemas.iter_mut().for_each(|(name, schema)| renew(schema, &here.join(name), report, depth + 1));
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(schemas)) => {
                for (index, schema) in schemas.iter_mut().enumerate() {
                    renew(schema, &here.join(&index.to_string()), report, depth + 1);
                }
            }
            (
                "items"
                | "additionalProperties"
                | "contains"
                | "not"
                | "if"
                | "then"
                | "else"
                | "propertyNames"
                | "unevaluatedItems"
                | "unevaluatedProperties",
                schema,
            ) => renew(schema, &here, report, depth + 1),
            _ => {}
        }
    }
}

fn tuples(keywords: &mut Map<String, Value>) {
    if keywords.get("items").is_some_and(Value::is_array) {
        let items = keywords.shift_remove("items").unwrap_or_default();
        if let Some(rest) = keywords.shift_remove("additionalItems") {
            keywords.insert("items".into(), rest);
        }
        if items.as_array().is_some_and(|items| !items.is_empty()) {
            keywords.insert("prefixItems".into(), items);
        }
    }
}

/// Draft 4 says with true or false whether a bound is among the values.
fn bounds(keywords: &mut Map<String, Value>, exclusive: &str, inclusive: &str) {
    if let Some(Value::Bool(excludes)) = keywords.get(exclusive) {
        let excludes = *excludes;
        keywords.shift_remove(exclusive);
        if let (true, Some(bound)) = (excludes, keywords.shift_remove(inclusive)) {
            keywords.insert(exclusive.to_owned(), bound);
        }
    }
}

fn rename(keywords: &mut Map<String, Value>, path: &Path<'_>, report: &mut Report) {
    let is_refused = |name: &String| key(name).is_some();
    let Some(Value::Object(properties)) = keywords.get_mut("properties") else { return };
    if !properties.keys().any(is_refused) {
        return;
    }
    let here = path.join("properties");
    let renamed = std::mem::take(properties).into_iter().map(|(name, schema)| match key(&name) {
        Some(other) => {
            report.add(
                &here.join(&name),
                "properties",
                "the key is not allowed there: another stands for it, and a call gets its own back",
            );
            (other, schema)
        }
        None => (name, schema),
    });
    *properties = renamed.collect();
    if let Some(Value::Array(required)) = keywords.get_mut("required") {
        for name in required {
            if let Some(other) = name.as_str().and_then(key) {
                *name = other.into();
            }
        }
    }
}

/// A reference through a key that was renamed.
fn renamed_pointer(reference: &str) -> String {
    let mut in_properties = false;
    let segments = reference.split('/').map(|segment| {
        let name = segment.replace("~1", "/").replace("~0", "~");
        let renamed = if in_properties { key(&name) } else { None };
        in_properties = segment == "properties" && !in_properties;
        renamed.unwrap_or_else(|| segment.to_owned())
    });
    segments.collect::<Vec<_>>().join("/")
}
