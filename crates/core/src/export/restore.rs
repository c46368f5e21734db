//! Arguments as a model wrote them for an export, made those that the tool's own schema means: keys get their names back, and null goes
//! where an optional key does not take it, as strict modes have models write it for "not given". Everything else stays as it was written.

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::fmt;

/// Longer texts are left alone, in bytes.
const MAX_BYTES: usize = 4 << 20;
const MAX_DEPTH: usize = 64;
/// Schemas that one text may be held against.
const BUDGET: usize = 20_000;

/// The arguments in the words of the tool's own schema; nothing where they are that already. `key` gives the key that the export used
/// in place of one.
pub(super) fn arguments(schema: &Value, key: fn(&str) -> Option<String>, text: &str) -> Option<String> {
    if text.len() > MAX_BYTES {
        return None;
    }
    Restorer { root: schema, key, budget: BUDGET }.value(text, &[schema], 0)
}

struct Restorer<'a> {
    root: &'a Value,
    key: fn(&str) -> Option<String>,
    budget: usize,
}

impl<'a> Restorer<'a> {
    fn value(&mut self, text: &str, schemas: &[&'a Value], depth: usize) -> Option<String> {
        if depth > MAX_DEPTH || schemas.is_empty() {
            return None;
        }
        match text.trim_ascii_start().as_bytes().first() {
            Some(b'{') => self.object(text, schemas, depth),
            Some(b'[') => self.array(text, schemas, depth),
            _ => None,
        }
    }

    fn object(&mut self, text: &str, schemas: &[&'a Value], depth: usize) -> Option<String> {
        let Members(members) = serde_json::from_str(text).ok()?;
        let mut parts = Vec::new();
        for schema in schemas {
            self.collect(schema, &members, &mut parts, 0);
        }
        let mut changed = false;
        let mut out = String::from("{");
        for (name, value) in &members {
            let own = self.own_key(&parts, name);
            let name = own.as_deref().unwrap_or(name);
            let declared: Vec<&'a Value> = parts.iter().filter_map(|part| property(part, name)).collect();
            if value.get() == "null" && self.stands_for_nothing(&parts, &declared, name) {
                changed = true;
                continue;
            }
            let inner = if declared.is_empty() { extra(&parts) } else { declared };
            let restored = self.value(value.get(), &inner, depth + 1);
            changed |= own.is_some() || restored.is_some();
            if out.len() > 1 {
                out.push(',');
            }
            out.push_str(&serde_json::to_string(name).ok()?);
            out.push(':');
            out.push_str(restored.as_deref().unwrap_or(value.get()));
        }
        out.push('}');
        changed.then_some(out)
    }

    fn array(&mut self, text: &str, schemas: &[&'a Value], depth: usize) -> Option<String> {
        let values: Vec<&RawValue> = serde_json::from_str(text).ok()?;
        let mut parts = Vec::new();
        for schema in schemas {
            self.collect(schema, &[], &mut parts, 0);
        }
        let mut changed = false;
        let mut out = Vec::with_capacity(values.len());
        for (index, value) in values.iter().enumerate() {
            let inner: Vec<&'a Value> = parts.iter().filter_map(|part| item(part, index)).collect();
            let restored = self.value(value.get(), &inner, depth + 1);
            changed |= restored.is_some();
            out.push(restored.unwrap_or_else(|| value.get().to_owned()));
        }
        changed.then(|| format!("[{}]", out.join(",")))
    }

    /// The schemas that say something about an object: all that apply, and those alternatives that it may be.
    fn collect(&mut self, schema: &'a Value, members: &[(String, &RawValue)], parts: &mut Vec<&'a Map<String, Value>>, depth: usize) {
        let Value::Object(keywords) = schema else { return };
        if depth > MAX_DEPTH || self.budget == 0 {
            return;
        }
        self.budget -= 1;
        parts.push(keywords);
        if let Some(target) = self.target(keywords) {
            self.collect(target, members, parts, depth + 1);
        }
        for all in keywords.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.collect(all, members, parts, depth + 1);
        }
        for keyword in ["anyOf", "oneOf"] {
            for alternative in keywords.get(keyword).and_then(Value::as_array).into_iter().flatten() {
                if self.may_be(alternative, members) {
                    self.collect(alternative, members, parts, depth + 1);
                }
            }
        }
    }

    fn target(&self, keywords: &'a Map<String, Value>) -> Option<&'a Value> {
        self.root.pointer(keywords.get("$ref")?.as_str()?.strip_prefix('#')?)
    }

    /// Whether the keys that tell alternatives apart do not speak against one.
    fn may_be(&self, alternative: &'a Value, members: &[(String, &RawValue)]) -> bool {
        let Value::Object(keywords) = alternative else { return false };
        let keywords = self.target(keywords).and_then(Value::as_object).unwrap_or(keywords);
        members.iter().all(|(name, value)| {
            let Some(schema) = property(keywords, name) else { return true };
            let parsed = || serde_json::from_str::<Value>(value.get()).ok();
            match (schema.get("const"), schema.get("enum").and_then(Value::as_array)) {
                (Some(only), _) => parsed().as_ref() == Some(only),
                (None, Some(values)) => parsed().is_none_or(|value| value.is_null() || values.contains(&value)),
                (None, None) => true,
            }
        })
    }

    /// The declared key that an export wrote as `name`.
    fn own_key(&self, parts: &[&'a Map<String, Value>], name: &str) -> Option<String> {
        if parts.iter().any(|part| property(part, name).is_some()) {
            return None;
        }
        let keys = parts.iter().filter_map(|part| part.get("properties")?.as_object()).flat_map(Map::keys);
        keys.into_iter().find(|own| (self.key)(own).as_deref() == Some(name)).cloned()
    }

    fn stands_for_nothing(&mut self, parts: &[&'a Map<String, Value>], declared: &[&'a Value], name: &str) -> bool {
        let is_required = |part: &&Map<String, Value>| {
            part.get("required").and_then(Value::as_array).is_some_and(|required| required.iter().any(|required| required == name))
        };
        !declared.is_empty() && !parts.iter().any(is_required) && !declared.iter().any(|schema| self.takes_null(schema, 0))
    }

    fn takes_null(&mut self, schema: &'a Value, depth: usize) -> bool {
        let Value::Object(keywords) = schema else { return schema != &Value::Bool(false) };
        if depth > MAX_DEPTH || self.budget == 0 {
            return true;
        }
        self.budget -= 1;
        let typed = match keywords.get("type") {
            Some(Value::String(kind)) => kind == "null",
            Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "null"),
            _ => true,
        };
        let listed = keywords.get("enum").and_then(Value::as_array).is_none_or(|values| values.contains(&Value::Null));
        let constant = keywords.get("const").is_none_or(Value::is_null);
        if !(typed && listed && constant) {
            return false;
        }
        let list = |keyword: &str| keywords.get(keyword).and_then(Value::as_array);
        self.target(keywords).is_none_or(|target| self.takes_null(target, depth + 1))
            && list("allOf").is_none_or(|all| all.iter().all(|one| self.takes_null(one, depth + 1)))
            && list("anyOf").is_none_or(|any| any.iter().any(|one| self.takes_null(one, depth + 1)))
            && list("oneOf").is_none_or(|any| any.iter().any(|one| self.takes_null(one, depth + 1)))
    }
}

fn property<'a>(keywords: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    keywords.get("properties")?.as_object()?.get(name)
}

fn extra<'a>(parts: &[&'a Map<String, Value>]) -> Vec<&'a Value> {
    parts.iter().filter_map(|part| part.get("additionalProperties")).collect()
}

fn item(keywords: &Map<String, Value>, index: usize) -> Option<&Value> {
    let items = keywords.get("items");
    let tuple = keywords.get("prefixItems").or(items).and_then(Value::as_array);
    tuple.and_then(|tuple| tuple.get(index)).or(items.filter(|items| items.is_object()))
}

/// The members of an object as they were written, also those that are there twice: the gate refuses them.
struct Members<'t>(Vec<(String, &'t RawValue)>);

impl<'de: 't, 't> Deserialize<'de> for Members<'t> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = entries.next_entry::<String, &'de RawValue>()? {
                    members.push(member);
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(Reader).map(Members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn restored(schema: &Value, text: &str) -> Option<String> {
        arguments(schema, super::super::gemini::key, text)
    }

    #[test]
    fn null_goes_only_where_it_means_not_given() {
        let schema = json!({"type": "object", "required": ["must"], "properties": {
            "must": {"type": "string"}, "may": {"type": "integer"}, "nil": {"type": ["string", "null"]}, "any": {},
            "list": {"type": "array", "items": {"$ref": "#/$defs/item"}},
        }, "$defs": {"item": {"type": "object", "properties": {"x": {"type": "number"}}}}});
        let text = r#"{"must":null,"may":null,"nil":null,"any":null,"other":null,"list":[{"x":null},{"x":1e2}]}"#;
        assert_eq!(restored(&schema, text).unwrap(), r#"{"must":null,"nil":null,"any":null,"other":null,"list":[{},{"x":1e2}]}"#);
        assert_eq!(restored(&schema, r#"{"must":"a","may":1}"#), None);
        assert_eq!(restored(&schema, r#"{"may":null,"may":null"#), None);
    }

    #[test]
    fn alternatives_are_told_apart_and_keys_get_their_names_back() {
        let schema = json!({"type": "object", "properties": {"shape": {"oneOf": [
            {"properties": {"kind": {"const": "circle"}, "$r": {"type": "number"}}, "required": ["kind"]},
            {"properties": {"kind": {"const": "line"}, "$r": {"type": ["number", "null"]}}, "required": ["kind"]},
        ]}}});
        let key = super::super::gemini::key("$r").unwrap();
        let text = |kind: &str, value: &str| format!(r#"{{"shape":{{"kind":"{kind}","{key}":{value}}}}}"#);
        assert_eq!(restored(&schema, &text("circle", "null")).unwrap(), r#"{"shape":{"kind":"circle"}}"#);
        assert_eq!(restored(&schema, &text("line", "null")).unwrap(), r#"{"shape":{"kind":"line","$r":null}}"#);
        assert_eq!(restored(&schema, &text("line", "1.50")).unwrap(), r#"{"shape":{"kind":"line","$r":1.50}}"#);
    }
}
