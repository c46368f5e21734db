//! The rules of providers, as their documentation and their refusals tell them.

use serde_json::{Map, Value};
use std::collections::HashSet;

type Checked = Result<(), String>;

fn ensure(holds: bool, what: &str, schema: &Value) -> Checked {
    if holds { Ok(()) } else { Err(format!("{what}: {schema}")) }
}

fn keys(schema: &Value) -> impl Iterator<Item = &String> {
    schema.as_object().into_iter().flat_map(Map::keys)
}

fn properties(schema: &Value) -> Option<&Map<String, Value>> {
    schema.get("properties").and_then(Value::as_object)
}

fn required(schema: &Value) -> HashSet<&str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

fn list<'a>(schema: &'a Value, keyword: &str) -> impl Iterator<Item = &'a Value> {
    schema.get(keyword).and_then(Value::as_array).into_iter().flatten()
}

fn kinds(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// OpenAI without strict: a plain object at the root.
pub(crate) fn openai(schema: &Value) -> Checked {
    ensure(schema.get("type").is_some_and(|kind| kind == "object"), "the root is no object", schema)?;
    ensure(properties(schema).is_some(), "the root has no properties", schema)?;
    let refused = ["anyOf", "oneOf", "allOf", "enum", "const", "not", "$ref"];
    ensure(!keys(schema).any(|key| refused.contains(&key.as_str())), "the root has alternatives", schema)
}

/// Every local reference leads somewhere.
pub(crate) fn references(schema: &Value, root: &Value) -> Checked {
    if let Some(pointer) = schema.get("$ref").and_then(Value::as_str).and_then(|reference| reference.strip_prefix('#')) {
        ensure(root.pointer(pointer).is_some(), "a reference that leads nowhere", schema)?;
    }
    match schema {
        Value::Array(items) => items.iter().try_for_each(|item| references(item, root)),
        Value::Object(fields) => fields.values().try_for_each(|field| references(field, root)),
        _ => Ok(()),
    }
}

/// OpenAI's strict mode.
pub(crate) fn strict(schema: &Value) -> Checked {
    openai(schema)?;
    strict_within(schema, 0)
}

fn strict_within(schema: &Value, level: usize) -> Checked {
    const KNOWN: [&str; 19] = [
        "type",
        "title",
        "description",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "anyOf",
        "enum",
        "const",
        "pattern",
        "format",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minItems",
        "maxItems",
    ];
    ensure(schema.is_object(), "no schema", schema)?;
    ensure(keys(schema).all(|key| KNOWN.contains(&key.as_str())), "an unknown keyword", schema)?;
    let kinds = kinds(schema);
    ensure(!kinds.is_empty() || schema.get("anyOf").is_some(), "any type", schema)?;
    ensure(level <= 10, "too deep", schema)?;
    if kinds.contains(&"object") {
        let properties = properties(schema).ok_or("an object without properties")?;
        ensure(schema.get("additionalProperties") == Some(&Value::Bool(false)), "an open object", schema)?;
        let all: HashSet<&str> = properties.keys().map(String::as_str).collect();
        ensure(required(schema) == all, "an optional property", schema)?;
        properties.values().try_for_each(|property| strict_within(property, level + 1))?;
    }
    if kinds.contains(&"array") {
        strict_within(schema.get("items").ok_or("a list without items")?, level + 1)?;
    }
    ensure(schema.get("anyOf").is_none_or(|any| any.as_array().is_some_and(|any| !any.is_empty())), "no alternatives", schema)?;
    list(schema, "anyOf").try_for_each(|one| strict_within(one, level))
}

/// Anthropic: as OpenAI at the root, keys of few characters everywhere.
pub(crate) fn anthropic(schema: &Value) -> Checked {
    openai(schema)?;
    anthropic_within(schema)
}

fn anthropic_within(schema: &Value) -> Checked {
    let is_fine = |key: &String| {
        (1..=64).contains(&key.len())
            && key.chars().all(|character| character.is_ascii_alphanumeric() || matches!(character, '_' | '.' | '-'))
    };
    ensure(properties(schema).is_none_or(|properties| properties.keys().all(is_fine)), "a key that is not allowed", schema)?;
    ensure(!schema.get("items").is_some_and(Value::is_array), "items of an old draft", schema)?;
    properties(schema).into_iter().flat_map(Map::values).try_for_each(anthropic_within)?;
    schema.get("items").map_or(Ok(()), anthropic_within)?;
    ["anyOf", "oneOf", "allOf"].into_iter().try_for_each(|keyword| list(schema, keyword).try_for_each(anthropic_within))
}

/// Gemini: what `parametersJsonSchema` documents and its older dialect could say too.
pub(crate) fn gemini(schema: &Value) -> Checked {
    ensure(schema.get("type").is_some_and(|kind| kind == "object"), "the root is no object", schema)?;
    let takes = properties(schema).is_some_and(|keys| !keys.is_empty()) || schema.get("additionalProperties").is_some();
    ensure(takes, "no properties", schema)?;
    gemini_within(schema)
}

fn gemini_within(schema: &Value) -> Checked {
    const KNOWN: [&str; 14] = [
        "type",
        "title",
        "description",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "anyOf",
        "enum",
        "format",
        "minimum",
        "maximum",
        "minItems",
        "maxItems",
    ];
    ensure(schema.is_object(), "no schema", schema)?;
    ensure(keys(schema).all(|key| KNOWN.contains(&key.as_str())), "an unknown keyword", schema)?;
    if let Some(alternatives) = schema.get("anyOf") {
        ensure(keys(schema).count() == 1, "something beside anyOf", schema)?;
        ensure(alternatives.as_array().is_some_and(|alternatives| alternatives.len() > 1), "no alternatives", schema)?;
        return list(schema, "anyOf").try_for_each(gemini_within);
    }
    let named: Vec<&str> = kinds(schema).into_iter().filter(|kind| *kind != "null").collect();
    ensure(named.len() <= 1 && !kinds(schema).is_empty(), "not one type", schema)?;
    let is_text = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
    ensure(list(schema, "enum").all(is_text), "a value that is no text", schema)?;
    ensure(schema.get("enum").is_none_or(|_| named == ["string"]), "values of another type", schema)?;
    if named == ["array"] {
        gemini_within(schema.get("items").ok_or("a list without items")?)?;
    }
    let is_key = |key: &String| {
        key.len() <= 64
            && key.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && key.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
    };
    let properties = properties(schema);
    ensure(properties.is_none_or(|properties| properties.keys().all(is_key)), "a key that is not allowed", schema)?;
    let known = |name: &&str| properties.is_some_and(|properties| properties.contains_key(*name));
    ensure(required(schema).iter().all(known), "a required key that is not there", schema)?;
    if let Some(extra) = schema.get("additionalProperties").filter(|extra| extra.is_object()) {
        gemini_within(extra)?;
    }
    properties.into_iter().flat_map(Map::values).try_for_each(gemini_within)
}
