//! Alternatives: one schema out of several that may fit.

use serde_json::{Value, json};

/// A schema that each of some schemas fits, and no less.
pub(super) fn of(alternatives: Vec<Value>, bare: bool) -> Value {
    let (mut found, mut with_null): (Vec<Value>, bool) = (Vec::new(), false);
    for alternative in alternatives {
        let nested = match alternative.as_object() {
            Some(fields) if fields.len() == 1 => fields.get("anyOf").and_then(Value::as_array).cloned(),
            _ => None,
        };
        for one in nested.unwrap_or_else(|| vec![alternative]) {
            if is_null(&one) {
                with_null = true;
            } else if !found.contains(&one) {
                found.push(one);
            }
        }
    }
    let one = match found.len() {
        0 => return json!({ "type": "null" }),
        1 => found.remove(0),
        _ => json!({ "anyOf": found }),
    };
    if with_null { nullable(one, bare) } else { one }
}

/// A schema that null fits too.
pub(super) fn nullable(mut schema: Value, bare: bool) -> Value {
    let Value::Object(fields) = &mut schema else { return schema };
    if let Some(Value::Array(alternatives)) = fields.get_mut("anyOf") {
        if !alternatives.iter().any(allows_null) {
            alternatives.push(json!({ "type": "null" }));
        }
        return schema;
    }
    if bare && fields.contains_key("enum") && fields.get("type").is_some_and(Value::is_string) {
        return json!({ "anyOf": [schema, { "type": "null" }] });
    }
    if let Some(Value::String(kind)) = fields.get("type")
        && kind != "null"
    {
        let both = json!([kind, "null"]);
        fields.insert("type".into(), both);
        if let Some(Value::Array(values)) = fields.get_mut("enum") {
            values.push(Value::Null);
        }
    }
    schema
}

fn is_null(schema: &Value) -> bool {
    schema.as_object().is_some_and(|fields| fields.get("type").is_some_and(|kind| kind == "null"))
}

fn allows_null(schema: &Value) -> bool {
    match schema.get("type") {
        Some(Value::String(kind)) => kind == "null",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "null"),
        _ => false,
    }
}
