//! Declared defaults.

use serde_json::Value;

/// Deep enough for any real schema; deeper ones are left alone rather than followed.
const MAX_DEPTH: usize = 64;

pub(super) fn declared(schema: &Value, depth: usize) -> bool {
    if depth > MAX_DEPTH {
        return false;
    }
    let in_properties = schema.get("properties").and_then(Value::as_object);
    in_properties
        .is_some_and(|properties| properties.values().any(|property| property.get("default").is_some() || declared(property, depth + 1)))
        || schema.get("items").is_some_and(|items| declared(items, depth + 1))
}

pub(super) fn fill(schema: &Value, value: &mut Value, depth: usize) -> bool {
    if depth > MAX_DEPTH {
        return false;
    }
    match value {
        Value::Object(object) => {
            let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return false };
            let mut filled = false;
            for (name, property) in properties {
                match (object.get_mut(name), property.get("default")) {
                    (Some(present), _) => filled |= fill(property, present, depth + 1),
                    (None, Some(default)) => {
                        object.insert(name.clone(), default.clone());
                        filled = true;
                    }
                    (None, None) => {}
                }
            }
            filled
        }
        Value::Array(items) => match schema.get("items") {
            Some(item_schema) => {
                let mut filled = false;
                for item in items {
                    filled |= fill(item_schema, item, depth + 1);
                }
                filled
            }
            None => false,
        },
        _ => false,
    }
}
