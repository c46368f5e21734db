//! A schema in a narrower dialect: what the dialect has no word for goes into the description or into the report.

use super::flatten::{Flattener, MAX_DEPTH, TOO_LARGE};
use super::kinds::{concerns, fits, kinds};
use super::report::{Path, Weakening};
use super::union;
use crate::prompts::PromptRegistry;
use serde_json::{Map, Value, json};

/// What a dialect can say.
#[derive(Debug)]
pub(super) struct Rules {
    /// Whether a keyword about values of a type may stay as it is.
    pub(super) keeps: fn(kind: &str, keyword: &str, value: &Value) -> bool,
    /// Every object is closed and all its properties are required; a schema that is more open cannot be said.
    pub(super) closed: bool,
    /// `anyOf` stands alone, and `enum` lists strings that are not empty.
    pub(super) bare: bool,
    /// The key to use in place of one that is not allowed.
    pub(super) key: fn(&str) -> Option<String>,
}

/// Characters of constraints that are said in a description.
const MAX_SAID: usize = 300;

/// One rewriting by the rules of a dialect.
#[derive(Debug)]
pub(super) struct Narrower<'a> {
    pub(super) flattener: Flattener<'a>,
    pub(super) rules: &'static Rules,
    pub(super) prompts: &'a PromptRegistry,
}

impl<'a> Narrower<'a> {
    pub(super) fn new(root: &'a Value, rules: &'static Rules, prompts: &'a PromptRegistry) -> Self {
        Self { flattener: Flattener::new(root), rules, prompts }
    }

    pub(super) fn report(&mut self, path: &Path<'_>, keyword: &str, what: &'static str) {
        self.flattener.report.add(path, keyword, what);
    }

    /// The schema of all arguments, of the keywords of a plain object.
    pub(super) fn root(&mut self, keywords: &Map<String, Value>) -> Result<Value, Weakening> {
        self.one_kind("object", None, keywords, &Path::ROOT, 0).map(|narrowed| described(narrowed, keywords, false))
    }

    /// The schema of a value in the dialect; an error is what the dialect cannot say at all.
    pub(super) fn schema(&mut self, schema: &Value, path: &Path<'_>, depth: usize) -> Result<Value, Weakening> {
        if depth > MAX_DEPTH || !self.flattener.spend(1) {
            return self.anything(path, "type", TOO_LARGE);
        }
        let flat = self.flattener.enter(schema, path);
        let narrowed = self.flat(&flat.keywords, path, depth);
        self.flattener.leave(&flat);
        narrowed.map(|narrowed| described(narrowed, &flat.keywords, self.rules.bare))
    }

    fn flat(&mut self, keywords: &Map<String, Value>, path: &Path<'_>, depth: usize) -> Result<Value, Weakening> {
        if let Some(keyword) = ["anyOf", "oneOf"].into_iter().find(|keyword| keywords.get(*keyword).is_some_and(Value::is_array)) {
            return self.alternatives(keywords, keyword, path, depth);
        }
        let mut kinds = kinds(keywords);
        let listed =
            keywords.get("const").map(std::slice::from_ref).or_else(|| keywords.get("enum").and_then(Value::as_array).map(Vec::as_slice));
        let nullable = kinds.contains(&"null") && listed.is_none_or(|values| values.contains(&Value::Null));
        kinds.retain(|kind| *kind != "null" && listed.is_none_or(|values| values.iter().any(|value| fits(value, kind))));
        match kinds[..] {
            [] if nullable => Ok(json!({ "type": "null" })),
            [] => self.anything(path, "type", "a value of any type is allowed, which cannot be said: lists and null are left out"),
            [kind] => {
                let narrowed = self.one_kind(kind, listed, keywords, path, depth)?;
                Ok(if nullable { union::nullable(narrowed, self.rules.bare) } else { narrowed })
            }
            _ => {
                let mut found =
                    kinds.iter().map(|kind| self.one_kind(kind, listed, keywords, path, depth)).collect::<Result<Vec<_>, _>>()?;
                if nullable {
                    found.push(json!({ "type": "null" }));
                }
                Ok(union::of(found, self.rules.bare))
            }
        }
    }

    /// The rest of the schema holds beside each alternative, so it is said in each.
    fn alternatives(&mut self, keywords: &Map<String, Value>, keyword: &str, path: &Path<'_>, depth: usize) -> Result<Value, Weakening> {
        if keyword == "oneOf" {
            self.report(path, "oneOf", "it became anyOf: that exactly one fits is not said");
        }
        let base: Map<String, Value> = keywords
            .iter()
            .filter(|(key, _)| *key != keyword && !is_annotation(key))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        let base = (!base.is_empty()).then(|| Value::Object(base));
        let cost = base.as_ref().map_or(1, super::flatten::parts);
        let here = path.join(keyword);
        let mut found = Vec::new();
        for (index, alternative) in keywords.get(keyword).and_then(Value::as_array).into_iter().flatten().enumerate() {
            if alternative == &Value::Bool(false) {
                continue;
            }
            if !self.flattener.spend(cost) {
                self.report(path, keyword, TOO_LARGE);
                break;
            }
            let (index, here) = (index.to_string(), &here);
            let place = here.join(&index);
            found.push(match &base {
                Some(base) => self.schema(&json!({ "allOf": [alternative, base] }), &place, depth + 1)?,
                None => self.schema(alternative, &place, depth + 1)?,
            });
        }
        if found.is_empty() {
            return self.anything(path, keyword, "none of its alternatives can be said");
        }
        Ok(union::of(found, self.rules.bare))
    }

    /// Stands for a value of any type, as far as the dialect has a word for that.
    fn anything(&mut self, path: &Path<'_>, keyword: &str, what: &'static str) -> Result<Value, Weakening> {
        if self.rules.closed {
            return Err(path.weakened(keyword, "a value that may be of any type cannot be strict"));
        }
        self.report(path, keyword, what);
        let kinds = [
            json!({"type": "string"}),
            json!({"type": "number"}),
            json!({"type": "boolean"}),
            json!({"type": "object", "additionalProperties": true}),
        ];
        Ok(json!({ "anyOf": kinds }))
    }

    fn one_kind(
        &mut self,
        kind: &str,
        listed: Option<&[Value]>,
        keywords: &Map<String, Value>,
        path: &Path<'_>,
        depth: usize,
    ) -> Result<Value, Weakening> {
        let (mut out, mut said) = (Map::new(), Map::new());
        out.insert("type".into(), kind.into());
        if let Some(values) = listed {
            self.values(kind, values, &mut out, &mut said, path);
        }
        match kind {
            "object" => self.object(keywords, &mut out, path, depth)?,
            "array" => self.array(keywords, &mut out, path, depth)?,
            _ => {}
        }
        for (keyword, value) in keywords {
            if !concerns(keyword, kind) || is_handled(kind, keyword) {
                continue;
            }
            if (self.rules.keeps)(kind, keyword, value) {
                out.insert(keyword.clone(), value.clone());
            } else if value.is_object() || value.is_array() || matches!(keyword.as_str(), "if" | "then" | "else" | "not") {
                self.report(path, keyword, "it was left out");
            } else {
                said.insert(keyword.clone(), value.clone());
            }
        }
        if let Some(default) = keywords.get("default").filter(|default| !default.is_null()) {
            said.insert("default".into(), default.clone());
        }
        self.say(said, &mut out, keywords, path);
        Ok(out.into())
    }

    /// The values that a schema lists, as far as they are of a type.
    fn values(&mut self, kind: &str, values: &[Value], out: &mut Map<String, Value>, said: &mut Map<String, Value>, path: &Path<'_>) {
        let of_kind: Vec<Value> = values.iter().filter(|value| fits(value, kind)).cloned().collect();
        if matches!(kind, "object" | "array") || (self.rules.bare && kind != "string") {
            said.insert("enum".into(), of_kind.into());
            return;
        }
        let mut usable: Vec<Value> = Vec::new();
        for value in of_kind {
            if self.rules.bare && value == "" {
                self.report(path, "enum", "the empty text cannot be one of the values");
            } else if !usable.contains(&value) {
                usable.push(value);
            }
        }
        if !usable.is_empty() {
            out.insert("enum".into(), usable.into());
        }
    }

    fn object(
        &mut self,
        keywords: &Map<String, Value>,
        out: &mut Map<String, Value>,
        path: &Path<'_>,
        depth: usize,
    ) -> Result<(), Weakening> {
        let properties = keywords.get("properties").and_then(Value::as_object);
        let patterns = keywords.get("patternProperties").and_then(Value::as_object);
        let extra = keywords.get("additionalProperties").filter(|extra| *extra != &Value::Bool(false));
        let open = keywords.get("additionalProperties") != Some(&Value::Bool(false)) || patterns.is_some();
        let is_described =
            |name: &Value| name.as_str().is_some_and(|name| properties.is_some_and(|properties| properties.contains_key(name)));
        if keywords.get("required").and_then(Value::as_array).is_some_and(|required| !required.iter().all(is_described)) {
            self.report(path, "required", "a key that is not described was left out");
        }
        if properties.is_none_or(Map::is_empty) {
            if self.rules.closed && open && (depth > 0 || extra.is_some() || patterns.is_some()) {
                return Err(path.weakened("additionalProperties", "an object that may have any keys cannot be strict"));
            }
            if !self.rules.closed && open {
                let of_values = patterns.and_then(|patterns| patterns.values().next()).or(extra);
                if patterns.is_some() {
                    self.report(path, "patternProperties", "what keys must look like is not said");
                }
                let values = match of_values {
                    Some(schema @ Value::Object(fields)) if !fields.is_empty() => {
                        self.schema(schema, &path.join("additionalProperties"), depth + 1)?
                    }
                    _ => true.into(),
                };
                out.insert("additionalProperties".into(), values);
                return Ok(());
            }
        } else if extra.is_some() || patterns.is_some() {
            let keyword = if extra.is_some() { "additionalProperties" } else { "patternProperties" };
            self.report(path, keyword, "that there may be other keys is not said");
        }
        self.properties(properties, keywords, out, path, depth)
    }

    fn properties(
        &mut self,
        properties: Option<&Map<String, Value>>,
        keywords: &Map<String, Value>,
        out: &mut Map<String, Value>,
        path: &Path<'_>,
        depth: usize,
    ) -> Result<(), Weakening> {
        let demanded: Vec<&str> =
            keywords.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        let (here, mut narrowed, mut required) = (path.join("properties"), Map::new(), Vec::new());
        for (name, schema) in properties.into_iter().flatten() {
            let place = here.join(name);
            if schema == &Value::Bool(false) {
                self.report(&place, "false", "nothing fits this key, so it was left out");
                continue;
            }
            let key = (self.rules.key)(name);
            if key.is_some() {
                self.report(&place, "properties", "the key is not allowed there: another stands for it, and a call gets its own back");
            }
            let key = key.unwrap_or_else(|| name.clone());
            let value = self.schema(schema, &place, depth + 1)?;
            let needed = demanded.contains(&name.as_str());
            if needed || self.rules.closed {
                required.push(Value::from(key.clone()));
            }
            narrowed.insert(key, if self.rules.closed && !needed { union::nullable(value, self.rules.bare) } else { value });
        }
        if narrowed.is_empty() && !self.rules.closed {
            out.insert("additionalProperties".into(), false.into());
            return Ok(());
        }
        out.insert("properties".into(), narrowed.into());
        if !required.is_empty() || self.rules.closed {
            out.insert("required".into(), required.into());
        }
        if self.rules.closed || keywords.get("additionalProperties") == Some(&Value::Bool(false)) {
            out.insert("additionalProperties".into(), false.into());
        }
        Ok(())
    }

    fn array(
        &mut self,
        keywords: &Map<String, Value>,
        out: &mut Map<String, Value>,
        path: &Path<'_>,
        depth: usize,
    ) -> Result<(), Weakening> {
        let items = keywords.get("items");
        let tuple = keywords
            .get("prefixItems")
            .and_then(Value::as_array)
            .or_else(|| items.and_then(Value::as_array))
            .filter(|tuple| !tuple.is_empty());
        let narrowed = if let Some(tuple) = tuple {
            self.report(path, "prefixItems", "which item stands where is not said");
            let mut all = tuple.clone();
            let rest = if items.is_some_and(Value::is_array) { keywords.get("additionalItems") } else { items };
            match rest {
                Some(Value::Bool(false)) => {
                    out.insert("maxItems".into(), tuple.len().into());
                }
                Some(rest @ Value::Object(_)) => all.push(rest.clone()),
                _ => {}
            }
            self.schema(&json!({ "anyOf": all }), &path.join("prefixItems"), depth + 1)?
        } else {
            match items {
                Some(items @ Value::Object(_)) => self.schema(items, &path.join("items"), depth + 1)?,
                _ => self.anything(path, "items", "items of any type are allowed, which cannot be said: lists and null are left out")?,
            }
        };
        out.insert("items".into(), narrowed);
        Ok(())
    }

    /// What a schema demands and the dialect has no word for, in words.
    fn say(&mut self, said: Map<String, Value>, out: &mut Map<String, Value>, keywords: &Map<String, Value>, path: &Path<'_>) {
        if said.is_empty() {
            return;
        }
        let names: Vec<String> = said.keys().cloned().collect();
        let constraints = Value::Object(said).to_string();
        let fits = constraints.chars().count() <= MAX_SAID;
        for name in &names {
            self.report(path, name, if fits { "the description says it instead" } else { "it was left out" });
        }
        if fits {
            let sentence = self.prompts.text("tool.export.constraints", &[("constraints", &constraints)]);
            let text = match keywords.get("description").and_then(Value::as_str).filter(|text| !text.is_empty()) {
                Some(text) => format!("{text} {sentence}"),
                None => sentence,
            };
            out.insert("description".into(), text.into());
        }
    }
}

/// Keywords that say nothing about which values fit.
fn is_annotation(keyword: &str) -> bool {
    matches!(
        keyword,
        "description"
            | "title"
            | "default"
            | "examples"
            | "example"
            | "$schema"
            | "$id"
            | "id"
            | "$comment"
            | "$anchor"
            | "$defs"
            | "definitions"
            | "deprecated"
            | "readOnly"
            | "writeOnly"
            | "nullable"
    ) || keyword.starts_with("x-")
}

/// Keywords that have their own part in making an object or a list.
fn is_handled(kind: &str, keyword: &str) -> bool {
    match kind {
        "object" => matches!(keyword, "properties" | "required" | "additionalProperties" | "patternProperties"),
        "array" => matches!(keyword, "items" | "prefixItems" | "additionalItems"),
        _ => false,
    }
}

/// Adds title and description of the original. Where alternatives stand alone, the first one carries them.
fn described(mut narrowed: Value, keywords: &Map<String, Value>, bare: bool) -> Value {
    let target = if bare && narrowed.get("anyOf").is_some() { narrowed.pointer_mut("/anyOf/0") } else { Some(&mut narrowed) };
    let Some(Value::Object(target)) = target else { return narrowed };
    for keyword in ["title", "description"] {
        let Some(text) = keywords.get(keyword).and_then(Value::as_str).filter(|text| !text.is_empty()) else { continue };
        let full = match target.get(keyword).and_then(Value::as_str) {
            Some(present) if keyword == "description" && !present.starts_with(text) => format!("{text} {present}"),
            Some(_) => continue,
            None => text.to_owned(),
        };
        target.insert(keyword.to_owned(), full.into());
    }
    match narrowed {
        // With the text, the first alternative may have become what another is already.
        Value::Object(mut fields) if bare && fields.contains_key("anyOf") => match fields.shift_remove("anyOf") {
            Some(Value::Array(alternatives)) => union::of(alternatives, bare),
            _ => fields.into(),
        },
        other => other,
    }
}
