//! Arguments that travel as headers too, because the schema of their tool says so (`x-mcp-header`).

use crate::http::Headers;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use parking_lot::RwLock;
use serde_json::Value;
use std::collections::{HashMap, HashSet};

const KEY: &str = "x-mcp-header";
/// Bytes of the name of a header.
const MAX_NAME: usize = 128;
/// The largest whole number that every reader of JSON keeps.
const MAX_SAFE: i64 = (1 << 53) - 1;
/// Members whose value is no schema.
const DATA: &[&str] = &["const", "default", "enum", "examples"];

/// One argument: where it is, and the name of its header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Mirrored {
    path: Vec<String>,
    header: String,
}

/// The arguments that are mirrored, by the remote name of their tool.
#[derive(Debug, Default)]
pub(super) struct Params {
    tools: RwLock<HashMap<String, Vec<Mirrored>>>,
}

impl Params {
    pub(super) fn replace(&self, tools: HashMap<String, Vec<Mirrored>>) {
        *self.tools.write() = tools;
    }

    /// The headers of a call.
    pub(super) fn of(&self, remote_name: &str, arguments: &str) -> Headers {
        let mut headers = Headers::default();
        let tools = self.tools.read();
        // Most tools have none, and their arguments need not be read.
        let Some(mirrored) = tools.get(remote_name).filter(|mirrored| !mirrored.is_empty()) else { return headers };
        let Ok(arguments) = serde_json::from_str::<Value>(arguments) else { return headers };
        for Mirrored { path, header } in mirrored {
            let value = path.iter().try_fold(&arguments, |value, name| value.get(name)).and_then(text);
            if let Some(value) = value {
                // The name is a token, and what a header cannot carry was encoded.
                let _ = headers.set(&format!("mcp-param-{header}"), &value, false);
            }
        }
        headers
    }
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(encoded(text)),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Number(number) => {
            let whole = number.as_i64().or_else(|| whole(number.as_f64()?))?;
            (-MAX_SAFE..=MAX_SAFE).contains(&whole).then(|| whole.to_string())
        }
        _ => None,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "what is out of range is refused by the caller, and casts saturate")]
fn whole(number: f64) -> Option<i64> {
    (number.fract() == 0.0).then_some(number as i64)
}

/// A value as a header can carry it: as it is, or in base64 where it would be changed on its way or taken for the other form.
pub(super) fn encoded(text: &str) -> String {
    let plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~')) && text.trim_matches(' ') == text;
    let looks_encoded = text.starts_with("=?base64?") && text.ends_with("?=");
    if plain && !looks_encoded { text.to_owned() } else { format!("=?base64?{}?=", BASE64_STANDARD.encode(text)) }
}

/// What a schema says of mirrored arguments.
///
/// # Errors
/// Where it says it in a way that makes the tool unusable.
pub(in super::super) fn mirrored(schema: &Value) -> Result<Vec<Mirrored>, String> {
    let mut walk = Walk::default();
    walk.visit(schema, &mut Vec::new(), true)?;
    Ok(walk.found)
}

#[derive(Default)]
struct Walk {
    found: Vec<Mirrored>,
    names: HashSet<String>,
}

impl Walk {
    /// `reachable` as long as nothing but `properties` led here.
    fn visit(&mut self, schema: &Value, path: &mut Vec<String>, reachable: bool) -> Result<(), String> {
        let members = match schema {
            Value::Object(members) => members,
            Value::Array(items) => return items.iter().try_for_each(|item| self.visit(item, path, false)),
            _ => return Ok(()),
        };
        if let Some(name) = members.get(KEY) {
            self.take(name, members.get("type"), path, reachable)?;
        }
        for (key, member) in members {
            match member {
                Value::Object(properties) if key == "properties" => {
                    for (name, property) in properties {
                        path.push(name.clone());
                        self.visit(property, path, reachable)?;
                        path.pop();
                    }
                }
                _ if DATA.contains(&key.as_str()) => {}
                _ => self.visit(member, path, false)?,
            }
        }
        Ok(())
    }

    fn take(&mut self, name: &Value, kind: Option<&Value>, path: &[String], reachable: bool) -> Result<(), String> {
        if !reachable || path.is_empty() {
            return Err(format!("{KEY} stands where no argument is sure to be"));
        }
        let Some(name) = name.as_str().filter(|name| is_token(name)) else { return Err(format!("{KEY} is no name of a header")) };
        if !kind.and_then(Value::as_str).is_some_and(|kind| matches!(kind, "string" | "integer" | "boolean")) {
            return Err(format!("{KEY} stands at an argument that is no string, integer or boolean"));
        }
        if !self.names.insert(name.to_ascii_lowercase()) {
            return Err(format!("two arguments have the same {KEY}"));
        }
        self.found.push(Mirrored { path: path.to_vec(), header: name.to_owned() });
        Ok(())
    }
}

fn is_token(name: &str) -> bool {
    (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn finds_arguments_behind_properties_and_encodes_them() {
        let schema = json!({"properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "options": {"type": "object", "properties": {"limit": {"type": "integer", "x-mcp-header": "Limit"}}},
            "on": {"type": "boolean", "x-mcp-header": "On", "default": {"x-mcp-header": 1}},
        }});
        let params = Params::default();
        params.replace(HashMap::from([("t".to_owned(), mirrored(&schema).unwrap())]));
        let of = |arguments: &str| {
            let headers = params.of("t", arguments);
            ["mcp-param-region", "mcp-param-limit", "mcp-param-on"]
                .into_iter()
                .filter_map(|name| headers.get(name).map(str::to_owned))
                .collect::<Vec<_>>()
        };
        assert_eq!(of(r#"{"region":"eu west","options":{"limit":-5},"on":true}"#), ["eu west", "-5", "true"]);
        assert_eq!(of(r#"{"region":" a","options":{"limit":5.0},"on":null}"#), ["=?base64?IGE=?=", "5"]);
        assert_eq!(of(r#"{"region":"=?base64?x?=","options":{"limit":9007199254740993}}"#), ["=?base64?PT9iYXNlNjQ/eD89?="]);
        assert_eq!(of(r#"{"region":"日","options":3}"#), ["=?base64?5pel?="]);
        assert_eq!(of(r#"{"region":""}"#), [""]);
        assert!(!params.of("other", r#"{"region":"a"}"#).has("mcp-param-region"));
    }

    #[test]
    fn refuses_what_the_protocol_forbids() {
        let string = |name: Value| json!({"type": "string", "x-mcp-header": name});
        for schema in [
            json!({"properties": {"a": string(json!(""))}}),
            json!({"properties": {"a": string(json!("a b"))}}),
            json!({"properties": {"a": string(json!("a:"))}}),
            json!({"properties": {"a": string(json!("R\u{e9}"))}}),
            json!({"properties": {"a": string(json!("a\t1"))}}),
            json!({"properties": {"a": string(Value::Null)}}),
            json!({"properties": {"a": string(json!("A")), "b": string(json!("a"))}}),
            json!({"properties": {"a": {"type": "number", "x-mcp-header": "A"}}}),
            json!({"properties": {"a": {"type": "array", "x-mcp-header": "A"}}}),
            json!({"properties": {"a": {"x-mcp-header": "A"}}}),
            json!({"properties": {"a": {"items": string(json!("A"))}}}),
            json!({"anyOf": [{"properties": {"a": string(json!("A"))}}]}),
            json!({"x-mcp-header": "A", "type": "string"}),
        ] {
            assert!(mirrored(&schema).is_err(), "{schema}");
        }
        assert_eq!(mirrored(&json!({"properties": {"a": {"enum": [{"x-mcp-header": 1}]}}})), Ok(Vec::new()));
    }
}
