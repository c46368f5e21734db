//! The schema of all arguments as one plain object: providers refuse alternatives there.

use super::flatten::{Flattener, TOO_LARGE};
use super::kinds::kind_of;
use super::report::Path;
use serde_json::{Map, Value, json};

/// Keywords that say at the root what providers do not let be said there.
const REFUSED: [&str; 3] = ["not", "enum", "const"];
/// How deep alternatives of the root may hold others.
const MAX_NESTED: usize = 8;

/// Whether a schema is a plain object already.
pub(super) fn is_plain(schema: &Value) -> bool {
    let Value::Object(keywords) = schema else { return false };
    let is_free = |keyword: &str| !keywords.contains_key(keyword);
    keywords.get("type").is_some_and(|kind| kind == "object")
        && ["$ref", "allOf", "anyOf", "oneOf"].into_iter().all(is_free)
        && REFUSED.into_iter().all(is_free)
}

/// The keywords of the root: one object that takes the keys of all alternatives. References in it stay open.
pub(super) fn plain(flattener: &mut Flattener<'_>, schema: &Value, path: &Path<'_>) -> Map<String, Value> {
    let mut keywords = merged(flattener, schema, path, 0);
    keywords.insert("type".into(), "object".into());
    keywords.entry("properties").or_insert_with(|| Map::new().into());
    keywords
}

fn merged(flattener: &mut Flattener<'_>, schema: &Value, path: &Path<'_>, depth: usize) -> Map<String, Value> {
    if !flattener.spend(super::flatten::parts(schema)) {
        flattener.report.add(path, "type", TOO_LARGE);
        return Map::new();
    }
    // References stay open, so that what contains itself is noticed below.
    let mut root = flattener.enter(schema, path).keywords.into_owned();
    for keyword in REFUSED {
        if root.shift_remove(keyword).is_some() {
            flattener.report.add(path, keyword, "it was left out");
        }
    }
    for keyword in ["anyOf", "oneOf"] {
        let Some(Value::Array(alternatives)) = root.shift_remove(keyword) else { continue };
        flattener.report.add(path, keyword, "the alternatives became one object: which keys go together is not said");
        if depth < MAX_NESTED {
            let here = path.join(keyword);
            let all = alternatives
                .iter()
                .enumerate()
                .map(|(index, alternative)| merged(flattener, alternative, &here.join(&index.to_string()), depth + 1))
                .collect();
            take_in(&mut root, all);
        }
    }
    root
}

/// What all alternatives demand is demanded; a key has the meaning that any of them gives it.
fn take_in(root: &mut Map<String, Value>, alternatives: Vec<Map<String, Value>>) {
    let demanded =
        |keywords: &Map<String, Value>| -> Vec<Value> { keywords.get("required").and_then(Value::as_array).cloned().unwrap_or_default() };
    let mut common = alternatives.first().map(&demanded).unwrap_or_default();
    let mut keys: Map<String, Value> = Map::new();
    let mut open = None;
    for alternative in &alternatives {
        let own = demanded(alternative);
        common.retain(|name| own.contains(name));
        for (name, schema) in alternative.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let Value::Array(schemas) = keys.entry(name.clone()).or_insert_with(|| Value::Array(Vec::new())) else { continue };
            if !schemas.contains(schema) {
                schemas.push(schema.clone());
            }
        }
        let is_open = alternative.get("additionalProperties").filter(|extra| *extra != &Value::Bool(false));
        open = open.or_else(|| is_open.cloned());
    }
    if let Some(extra) = open {
        root.insert("additionalProperties".into(), extra);
    }
    let properties = root.entry("properties").or_insert_with(|| Map::new().into());
    for (name, schemas) in keys {
        let Value::Object(properties) = &mut *properties else { return };
        let any = one_of(schemas);
        let both = match properties.get(&name) {
            None => any,
            Some(present) if *present == any || any == Value::Bool(true) || any == json!({}) => present.clone(),
            Some(present) if present == &Value::Bool(true) || *present == json!({}) => any,
            Some(present) => json!({ "allOf": [present, any] }),
        };
        properties.insert(name, both);
    }
    let required = root.entry("required").or_insert_with(|| Value::Array(Vec::new()));
    if let Value::Array(required) = required {
        for name in common {
            if !required.contains(&name) {
                required.push(name);
            }
        }
    }
    if root.get("required").and_then(Value::as_array).is_some_and(Vec::is_empty) {
        root.shift_remove("required");
    }
}

/// One schema for a key: a list of its values where each alternative names one, as alternatives that are told apart by a key do.
fn one_of(schemas: Value) -> Value {
    let Value::Array(mut schemas) = schemas else { return schemas };
    if schemas.len() == 1 {
        return schemas.remove(0);
    }
    let listed = |schema: &Value| -> Option<Vec<Value>> {
        let fields = schema.as_object()?;
        let told = fields.keys().all(|key| matches!(key.as_str(), "type" | "const" | "enum" | "description" | "title" | "default"));
        let values = fields.get("const").map(|value| vec![value.clone()]).or_else(|| fields.get("enum")?.as_array().cloned());
        values.filter(|_| told)
    };
    let values: Option<Vec<Vec<Value>>> = schemas.iter().map(listed).collect();
    match values.map(|values| values.concat()) {
        Some(values) if values.first().is_some_and(|first| values.iter().all(|value| kind_of(value) == kind_of(first))) => {
            let mut seen: Vec<Value> = Vec::new();
            for value in values {
                if !seen.contains(&value) {
                    seen.push(value);
                }
            }
            json!({ "type": kind_of(&seen[0]), "enum": seen })
        }
        _ => json!({ "anyOf": schemas }),
    }
}
