//! What a server says of a tool beside its name, description and schemas. Nobody vouches for it.

use super::tool::McpTool;
use crate::sanitize::clean_text;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// Bytes of annotations that are looked at; the protocol knows five short members.
const MAX_ANNOTATIONS: usize = 16 * 1024;
/// Characters of a title.
const TITLE_CHARS: usize = 200;

/// What a server claims.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Claims {
    /// What a person may be shown in place of the name, cleaned and cut.
    pub title: Option<String>,
    /// Hints such as `readOnlyHint`, with their texts cleaned. Empty where there are none that can be read.
    pub annotations: Map<String, Value>,
}

impl McpTool {
    /// What its definition claims: nothing for a tool that was declared by hand.
    pub fn claims(&self) -> Claims {
        read(&self.definition)
    }
}

fn read(definition: &RawValue) -> Claims {
    #[derive(Deserialize)]
    struct Parts<'a> {
        title: Option<Value>,
        #[serde(borrow)]
        annotations: Option<&'a RawValue>,
    }
    let Ok(parts) = serde_json::from_str::<Parts<'_>>(definition.get()) else { return Claims::default() };
    let annotations = parts.annotations.filter(|raw| raw.get().len() <= MAX_ANNOTATIONS);
    let annotations: Map<String, Value> = annotations.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
    let title = parts.title.as_ref().and_then(Value::as_str).or_else(|| annotations.get("title").and_then(Value::as_str));
    let title = title.map(|title| clean_text(title, TITLE_CHARS)).filter(|title| !title.is_empty());
    Claims { title, annotations: annotations.into_iter().map(|(key, value)| (key, cleaned(value))).collect() }
}

fn cleaned(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(clean_text(&text, text.len())),
        Value::Array(items) => Value::Array(items.into_iter().map(cleaned).collect()),
        Value::Object(members) => Value::Object(members.into_iter().map(|(key, value)| (key, cleaned(value))).collect()),
        plain => plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn reads_what_is_there() {
        let of = |definition: Value| read(&RawValue::from_string(definition.to_string()).expect("valid"));
        let claims = of(json!({"name": "a", "annotations": {"title": "An\u{200b} A", "readOnlyHint": true, "x": ["b\u{202e}"]}}));
        assert_eq!(claims.title.as_deref(), Some("An A"));
        assert_eq!(Value::Object(claims.annotations), json!({"title": "An A", "readOnlyHint": true, "x": ["b"]}));
        assert_eq!(of(json!({"title": "B", "annotations": {"title": "A"}})).title.as_deref(), Some("B"));
        for odd in [json!({"title": 1, "annotations": []}), json!({}), json!({"annotations": {"x": "y".repeat(MAX_ANNOTATIONS)}})] {
            assert_eq!(of(odd.clone()), Claims::default(), "{odd}");
        }
    }
}
