//! Providers that take any JSON Schema whose root is a plain object.

use super::flatten::{Flattener, parts};
use super::report::{Path, Report};
use super::root;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// Parts of schemas that are copied so that references to what moved still lead there.
const MAX_COPIED: usize = 10_000;

/// No honest schema has as many.
const MAX_MOVED: usize = 200;

/// The schema as it is, but for its root. References stay.
pub(super) fn root(original: &Value) -> (Map<String, Value>, Report) {
    if let (true, Value::Object(keywords)) = (root::is_plain(original), original) {
        return (keywords.clone(), Report::default());
    }
    let mut flattener = Flattener::new(original);
    let mut keywords = root::plain(&mut flattener, original, &Path::ROOT);
    for keyword in ["$defs", "definitions"] {
        if let Some(definitions) = original.get(keyword) {
            keywords.insert(keyword.to_owned(), definitions.clone());
        }
    }
    (reachable(keywords, original, &mut flattener.report), flattener.report)
}

/// What references lead to that is no longer there, as with the alternatives of a root, becomes a definition.
fn reachable(keywords: Map<String, Value>, original: &Value, report: &mut Report) -> Map<String, Value> {
    let (mut schema, mut copied, mut number) = (Value::Object(keywords), 0, 0);
    let mut known: HashMap<String, String> = HashMap::new();
    while number < MAX_MOVED {
        let Some(lost) = lost_reference(&schema, &schema).map(str::to_owned) else { break };
        if let Some(moved) = known.get(&lost) {
            redirect(&mut schema, &lost, moved);
            continue;
        }
        let target = lost.strip_prefix('#').and_then(|pointer| original.pointer(pointer));
        copied += target.map_or(1, parts);
        let target = target.filter(|_| copied <= MAX_COPIED).cloned().unwrap_or_else(|| {
            report.add(&Path::ROOT, "$ref", "a reference leads nowhere that can be written out; anything was put in its place");
            Value::Bool(true)
        });
        let key = loop {
            number += 1;
            let key = format!("moved_{number}");
            if schema.pointer(&format!("/$defs/{key}")).is_none() {
                break key;
            }
        };
        let moved = format!("#/$defs/{key}");
        define(&mut schema, key, target);
        // Also in what was copied just now, which may hold itself.
        redirect(&mut schema, &lost, &moved);
        known.insert(lost, moved);
    }
    match schema {
        Value::Object(keywords) => keywords,
        _ => Map::new(),
    }
}

fn define(schema: &mut Value, key: String, target: Value) {
    let Value::Object(keywords) = schema else { return };
    let definitions = keywords.entry("$defs").or_insert_with(|| Map::new().into());
    if !definitions.is_object() {
        *definitions = Map::new().into();
    }
    if let Value::Object(definitions) = definitions {
        definitions.insert(key, target);
    }
}

/// The first local reference that leads nowhere.
fn lost_reference<'a>(schema: &'a Value, root: &Value) -> Option<&'a str> {
    match schema {
        Value::Array(items) => items.iter().find_map(|item| lost_reference(item, root)),
        Value::Object(fields) => {
            let own = fields.get("$ref").and_then(Value::as_str).filter(|reference| {
                reference.strip_prefix('#').is_some_and(|pointer| pointer.starts_with('/') && root.pointer(pointer).is_none())
            });
            own.or_else(|| fields.values().find_map(|field| lost_reference(field, root)))
        }
        _ => None,
    }
}

fn redirect(schema: &mut Value, from: &str, to: &str) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(|item| redirect(item, from, to)),
        Value::Object(fields) => {
            if let Some(Value::String(reference)) = fields.get_mut("$ref")
                && reference == from
            {
                to.clone_into(reference);
            }
            fields.values_mut().for_each(|field| redirect(field, from, to));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::root;
    use serde_json::json;

    #[test]
    fn references_to_what_moved_still_lead_there() {
        let item = json!({"type": "object", "properties": {"n": {"$ref": "#/anyOf/0/properties/size"}}});
        let (keywords, _) = root(&json!({"type": "object", "anyOf": [
            {"properties": {"size": {"type": "integer"}, "first": item}},
            {"properties": {"second": {"$ref": "#/anyOf/0/properties/first"}, "third": {"$ref": "#/nowhere"}}},
        ]}));
        let schema = serde_json::Value::Object(keywords);
        assert_eq!(schema.pointer("/properties/second/$ref").unwrap(), "#/$defs/moved_2");
        assert_eq!(schema.pointer("/$defs/moved_2/properties/n/$ref").unwrap(), "#/$defs/moved_1");
        assert_eq!(schema.pointer("/$defs/moved_1/type").unwrap(), "integer");
        assert_eq!(schema.pointer("/$defs/moved_3").unwrap(), &json!(true));
    }
}
