//! Which JSON types a schema is about.

use serde_json::{Map, Value};

const OF_OBJECTS: &[&str] = &["properties", "required", "additionalProperties", "patternProperties", "minProperties", "maxProperties"];
const OF_ARRAYS: &[&str] = &["items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"];
const OF_STRINGS: &[&str] = &["minLength", "maxLength", "pattern", "format", "contentEncoding", "contentMediaType"];
const OF_NUMBERS: &[&str] = &["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];

/// The type of a value, as `type` names it.
pub(super) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Whether a value is of a type.
pub(super) fn fits(value: &Value, kind: &str) -> bool {
    kind_of(value) == kind
        || (kind == "number" && value.is_number())
        || (kind == "integer" && value.as_f64().is_some_and(|number| number.fract() == 0.0))
}

/// The types that `type` names, or that the rest of the schema lets one guess; empty for a schema of anything.
pub(super) fn kinds(keywords: &Map<String, Value>) -> Vec<&str> {
    let mut found: Vec<&str> = match keywords.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).collect(),
        _ => guessed(keywords),
    };
    if found.contains(&"number") {
        found.retain(|kind| *kind != "integer");
    }
    let mut seen = Vec::new();
    found.retain(|kind| {
        !seen.contains(kind) && {
            seen.push(*kind);
            true
        }
    });
    found
}

fn guessed(keywords: &Map<String, Value>) -> Vec<&'static str> {
    if let Some(value) = keywords.get("const") {
        return vec![kind_of(value)];
    }
    if let Some(Value::Array(values)) = keywords.get("enum") {
        return values.iter().map(kind_of).collect();
    }
    let has = |list: &[&str]| list.iter().any(|keyword| keywords.contains_key(*keyword));
    [(OF_OBJECTS, "object"), (OF_ARRAYS, "array"), (OF_STRINGS, "string"), (OF_NUMBERS, "number")]
        .iter()
        .find(|(list, _)| has(list))
        .map(|(_, kind)| vec![*kind])
        .unwrap_or_default()
}

/// Whether a keyword says something about values of a type.
pub(super) fn concerns(keyword: &str, kind: &str) -> bool {
    let of = match kind {
        "object" => OF_OBJECTS,
        "array" => OF_ARRAYS,
        "string" => OF_STRINGS,
        _ => OF_NUMBERS,
    };
    let more = match kind {
        "object" => {
            matches!(keyword, "propertyNames" | "dependentRequired" | "dependentSchemas" | "dependencies" | "unevaluatedProperties")
        }
        "array" => matches!(keyword, "additionalItems" | "minContains" | "maxContains" | "unevaluatedItems"),
        "string" => keyword == "contentSchema",
        "integer" | "number" => keyword == "format",
        _ => false,
    };
    let applies = !matches!(kind, "boolean" | "null") && of.contains(&keyword);
    applies || more || matches!(keyword, "not" | "if" | "then" | "else" | "$dynamicRef" | "$recursiveRef")
}
