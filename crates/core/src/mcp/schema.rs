//! Bounds on the schemas of remote tools, and the cleaning of what a model reads in them.

use super::bounds::SchemaBounds;
use crate::sanitize::{clean_prose, clean_text};
use crate::schema::{Trust, Validator};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

const MAX_NODES: usize = 4096;
const MAX_PROPERTIES: usize = 512;

/// Parts of the names of the dialects whose metaschemas are at hand.
const DIALECTS: [&str; 5] = [
    "json-schema.org/draft-04/schema",
    "json-schema.org/draft-06/schema",
    "json-schema.org/draft-07/schema",
    "json-schema.org/draft/2019-09/schema",
    "json-schema.org/draft/2020-12/schema",
];
/// Keywords whose value maps names of the server's choice to schemas.
const MAPS: [&str; 6] = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"];
/// Keywords whose value is data, which is compared with arguments and must stay as it is.
const DATA: [&str; 2] = ["const", "enum"];
/// Keywords whose value is data that no argument is compared with: models alone read it.
const SHOWN: [&str; 2] = ["default", "examples"];
/// Keywords that name another schema.
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];
/// Keywords whose value a model reads as prose.
const PROSE: [&str; 3] = ["description", "title", "$comment"];

const INPUT: &str = "input schema";
const OUTPUT: &str = "output schema";

/// Checks a schema and gives it back with `type` and `properties` at its root and its prose cleaned. An absent schema allows any object.
pub(super) fn prepare(raw: Option<&RawValue>, bounds: SchemaBounds) -> Result<Value, String> {
    let mut root = match raw {
        None => Map::new(),
        Some(raw) if raw.get().len() > bounds.bytes => return Err(format!("its input schema is larger than {} bytes", bounds.bytes)),
        Some(raw) => match serde_json::from_str(raw.get()) {
            Ok(Value::Object(root)) => root,
            Ok(_) => return Err("its input schema is no object".to_owned()),
            Err(error) => return Err(format!("its input schema cannot be read: {error}")),
        },
    };
    match root.get("type") {
        None => drop(root.insert("type".to_owned(), json!("object"))),
        Some(kind) if kind == "object" => {}
        Some(_) => return Err("its input schema describes no object".to_owned()),
    }
    match root.get("properties") {
        None => drop(root.insert("properties".to_owned(), json!({}))),
        Some(Value::Object(_)) => {}
        Some(_) => return Err("the properties of its input schema are no object".to_owned()),
    }
    let strings = |value: &Value| value.as_array().is_some_and(|names| names.iter().all(Value::is_string));
    if root.get("required").is_some_and(|required| !strings(required)) {
        return Err("the required properties of its input schema are no list of names".to_owned());
    }
    let schema = bounded(root.into(), INPUT, bounds)?;
    // As the gate will, so that a schema that cannot be used costs its own tool only.
    compile(&schema).map_err(|error| format!("its input schema cannot be used: {error}"))?;
    Ok(schema)
}

/// Checks the bounds of an output schema and cleans its prose. It is not compiled yet.
pub(super) fn prepare_output(raw: &RawValue, bounds: SchemaBounds) -> Result<Value, String> {
    if raw.get().len() > bounds.bytes {
        return Err(format!("its output schema is larger than {} bytes", bounds.bytes));
    }
    match serde_json::from_str(raw.get()) {
        Ok(schema @ (Value::Object(_) | Value::Bool(_))) => bounded(schema, OUTPUT, bounds),
        Ok(_) => Err("its output schema is no object".to_owned()),
        Err(error) => Err(format!("its output schema cannot be read: {error}")),
    }
}

fn bounded(mut schema: Value, what: &'static str, bounds: SchemaBounds) -> Result<Value, String> {
    if let Value::Object(root) = &mut schema {
        // A dialect nobody knows is read as the newest one.
        if root.get("$schema").is_some_and(|uri| !uri.as_str().is_some_and(|uri| DIALECTS.iter().any(|dialect| uri.contains(dialect)))) {
            root.remove("$schema");
        }
    }
    Walk { what, nodes: 0, properties: 0, bounds }.visit(&mut schema, Place::Schema, 1)?;
    Ok(schema)
}

/// Compiles a schema that is within its bounds.
pub(super) fn compile(schema: &Value) -> Result<Validator, String> {
    let compiled = std::panic::catch_unwind(|| Validator::compile(schema, Trust::Remote));
    compiled.map_err(|_| "it cannot be compiled".to_owned())?.map_err(|error| clean_text(&error.message, 200))
}

#[derive(Clone, Copy, PartialEq)]
enum Place {
    Schema,
    Map,
    Data,
    /// Data that may be cleaned.
    Shown,
}

struct Walk {
    what: &'static str,
    nodes: usize,
    properties: usize,
    bounds: SchemaBounds,
}

impl Walk {
    fn visit(&mut self, value: &mut Value, place: Place, depth: usize) -> Result<(), String> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(format!("its {} has more than {MAX_NODES} parts", self.what));
        }
        if depth > self.bounds.depth {
            return Err(format!("its {} is nested deeper than {} levels", self.what, self.bounds.depth));
        }
        match value {
            Value::Object(members) => {
                for (key, member) in members {
                    self.check_hidden(key)?;
                    self.visit_member(key, member, place, depth)?;
                }
            }
            Value::Array(items) => {
                // The list of `allOf` and its like holds schemas; a list in a map (draft 7 `dependencies`) holds names.
                let place = if place == Place::Map { Place::Data } else { place };
                for item in items {
                    self.visit(item, place, depth + 1)?;
                }
            }
            Value::String(text) if place == Place::Shown => *text = clean_prose(text, usize::MAX),
            Value::String(text) => self.check_hidden(text)?,
            _ => {}
        }
        Ok(())
    }

    /// A model reads names and values too. They mean what they are, so they cannot be cleaned.
    fn check_hidden(&self, text: &str) -> Result<(), String> {
        match clean_text(text, usize::MAX) == text {
            true => Ok(()),
            false => Err(format!("its {} hides characters in a name or a value", self.what)),
        }
    }

    fn visit_member(&mut self, key: &str, member: &mut Value, place: Place, depth: usize) -> Result<(), String> {
        if place != Place::Schema {
            // In a map the key is a name, and what it names is a schema.
            let place = if place == Place::Map { Place::Schema } else { place };
            return self.visit(member, place, depth + 1);
        }
        if REFERENCES.contains(&key) && member.as_str().is_some_and(|target| !target.starts_with('#')) {
            return Err(format!("its {} has a {key} that leads outside", self.what));
        }
        if PROSE.contains(&key)
            && let Value::String(text) = member
        {
            *text = clean_prose(text, self.bounds.desc_chars);
            return Ok(());
        }
        if key == "properties"
            && let Value::Object(properties) = &*member
        {
            self.properties += properties.len();
            if self.properties > MAX_PROPERTIES {
                return Err(format!("its {} has more than {MAX_PROPERTIES} properties", self.what));
            }
        }
        let place = if MAPS.contains(&key) {
            Place::Map
        } else if SHOWN.contains(&key) {
            Place::Shown
        } else if DATA.contains(&key) {
            Place::Data
        } else {
            Place::Schema
        };
        self.visit(member, place, depth + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: SchemaBounds = SchemaBounds { bytes: 128 * 1024, depth: 32, desc_chars: 10 };

    fn of(json: &str) -> Result<Value, String> {
        prepare(Some(&RawValue::from_string(json.to_owned()).expect("valid")), BOUNDS)
    }

    fn nested(levels: usize) -> String {
        (0..levels).fold(r#"{"type":"object","properties":{}}"#.to_owned(), |inner, _| {
            format!(r#"{{"type":"object","properties":{{"p":{inner}}}}}"#)
        })
    }

    #[test]
    fn accepts_and_completes() {
        assert_eq!(prepare(None, BOUNDS), Ok(json!({"type":"object","properties":{}})));
        for json in [
            r##"{"properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"type":"string"}}}"##,
            r#"{"properties":{"$ref":{"type":"string"},"b":true}}"#,
            r#"{"properties":{"a":{"const":{"$ref":"http://x"}}}}"#,
            r#"{"$schema":"http://json-schema.org/draft-07/schema#"}"#,
            r#"{"$schema":"https://example.com/own"}"#,
            r#"{"$id":"https://example.com/own"}"#,
            r#"{"$schema":"https://json-schema.org/draft/next/schema"}"#,
            r#"{"$schema":"http://json-schema.org/draft-04/schema#"}"#,
            r#"{"enum":[]}"#,
            &nested(14),
        ] {
            assert!(of(json).is_ok(), "{json} {:?}", of(json));
        }
    }

    #[test]
    fn refuses() {
        let wide: Vec<String> = (0..513).map(|n| format!(r#""p{n}":{{}}"#)).collect();
        for json in [
            "[]",
            "0",
            r#"{"type":"string"}"#,
            r#"{"type":["object"]}"#,
            r#"{"properties":[]}"#,
            r#"{"required":"a"}"#,
            r#"{"required":[1]}"#,
            r#"{"properties":{"a":{"$ref":"https://example.com/a"}}}"#,
            r#"{"properties":{"a":{"$ref":"a.json"}}}"#,
            r##"{"properties":{"a":{"$ref":"#/$defs/absent"}}}"##,
            r#"{"properties":{"a":{"pattern":"("}}}"#,
            r#"{"properties":{"a":{"pattern":"(a)\\1"}}}"#,
            r#"{"properties":{"a":{"type":"strin"}}}"#,
            r#"{"properties":{"a":{"minimum":"1"}}}"#,
            r#"{"properties":{"a":{"maximum":1e400}}}"#,
            r#"{"properties":{"a":{"enum":["x\u202ey"]}}}"#,
            r#"{"properties":{"a":{"const":{"x\u001b[8m":1}}}}"#,
            r#"{"properties":{"a\u200b":{}}}"#,
            r#"{"required":["a\u0000"]}"#,
            r#"{"properties":{"a":{"pattern":"\u0007"}}}"#,
            r#"{"properties":{"a":{"default":{"\u0007":1}}}}"#,
            &nested(16),
            &format!(r#"{{"properties":{{{}}}}}"#, wide.join(",")),
            &format!(r#"{{"enum":[{}1]}}"#, "1,".repeat(5000)),
            &format!(r#"{{"x":"{}"}}"#, "y".repeat(BOUNDS.bytes)),
            &format!("{}1{}", r#"{"a":"#.repeat(500), "}".repeat(500)),
        ] {
            assert!(of(json).is_err(), "{}", json.get(..60).unwrap_or(json));
        }
    }

    #[test]
    fn cleans_prose_at_every_depth_and_what_is_only_shown() {
        let schema = of(
            "{\"description\":\"a\\u202eb\",\"properties\":{\"description\":{\"description\":\"xxxxxxxxxxxxxxx\",\"items\":{\"anyOf\":[{\"title\":\"\\u0007t\"}]},\"default\":{\"description\":\"a\\u202eb\"}}}}",
        );
        assert_eq!(
            schema,
            Ok(json!({
                "description": "ab",
                "properties": {"description": {"description": "xxxxxxxxxx…(truncated)", "items": {"anyOf": [{"title": "t"}]}, "default": {"description": "ab"}}},
                "type": "object",
            }))
        );
    }
}
