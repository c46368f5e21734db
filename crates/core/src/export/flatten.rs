//! One schema out of several that apply to the same value: through `$ref` and `allOf`.

use super::report::{Path, Report};
use serde_json::{Map, Value};
use std::borrow::Cow;

pub(super) const TOO_LARGE: &str = "the schema is too large once it is written out; a part was left out";

/// Schemas that the export of one tool may visit, and parts of schemas that it may copy. No honest one comes near.
const BUDGET: usize = 50_000;
/// How often a reference may be followed below itself.
const MAX_UNROLLED: usize = 2;
/// How deep a schema may be once its references are written out.
pub(super) const MAX_DEPTH: usize = 32;

/// The state of one rewriting.
#[derive(Debug)]
pub(super) struct Flattener<'a> {
    root: &'a Value,
    budget: usize,
    /// The references that the present place is reached through.
    open: Vec<String>,
    pub(super) report: Report,
}

/// The keywords of a schema without `$ref` and `allOf`, and of no definitions.
#[derive(Debug)]
pub(super) struct Flat<'s> {
    pub(super) keywords: Cow<'s, Map<String, Value>>,
    /// How many references it was reached through.
    opened: usize,
}

impl<'a> Flattener<'a> {
    pub(super) fn new(root: &'a Value) -> Self {
        Self { root, budget: BUDGET, open: Vec::new(), report: Report::default() }
    }

    /// Takes from the budget; false once there is nothing left.
    pub(super) const fn spend(&mut self, units: usize) -> bool {
        self.budget = self.budget.saturating_sub(units);
        self.budget > 0
    }

    /// References stay open while what is inside is visited: [`Flattener::leave`] ends that.
    pub(super) fn enter<'s>(&mut self, schema: &'s Value, path: &Path<'_>) -> Flat<'s>
    where
        'a: 's,
    {
        if let Value::Object(keywords) = schema
            && !keywords.contains_key("$ref")
            && !keywords.contains_key("allOf")
        {
            self.budget = self.budget.saturating_sub(1);
            return Flat { keywords: Cow::Borrowed(keywords), opened: 0 };
        }
        let (before, mut keywords) = (self.open.len(), Map::new());
        self.absorb(schema, path, &mut keywords, 0);
        Flat { keywords: Cow::Owned(keywords), opened: self.open.len() - before }
    }

    pub(super) fn leave(&mut self, flat: &Flat<'_>) {
        self.open.truncate(self.open.len().saturating_sub(flat.opened));
    }

    fn absorb(&mut self, schema: &Value, path: &Path<'_>, into: &mut Map<String, Value>, depth: usize) {
        let Value::Object(keywords) = schema else {
            if schema == &Value::Bool(false) {
                self.report.add(path, "false", "a schema that nothing fits was left out");
            }
            return;
        };
        if depth > MAX_DEPTH || !self.spend(1) {
            self.report.add(path, "allOf", TOO_LARGE);
            return;
        }
        for (keyword, value) in keywords {
            match (keyword.as_str(), value) {
                ("$ref", Value::String(_)) | ("$defs" | "definitions", _) => {}
                ("allOf", Value::Array(branches)) => branches.iter().for_each(|branch| self.absorb(branch, path, into, depth + 1)),
                _ if !self.spend(parts(value)) => self.report.add(path, keyword, TOO_LARGE),
                _ => self.merge(into, keyword, value, path),
            }
        }
        if let Some(Value::String(reference)) = keywords.get("$ref") {
            self.follow(reference, path, into, depth);
        }
    }

    fn follow(&mut self, reference: &str, path: &Path<'_>, into: &mut Map<String, Value>, depth: usize) {
        let Some(target) = reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer)) else {
            self.report.add(path, "$ref", "the reference leads nowhere that can be written out; anything was put in its place");
            return;
        };
        if self.open.iter().filter(|open| *open == reference).count() >= MAX_UNROLLED {
            self.report.add(path, "$ref", "the schema contains itself; after two levels anything fits");
            if let Some(kind) = target.get("type") {
                into.entry("type").or_insert_with(|| kind.clone());
            }
            return;
        }
        self.open.push(reference.to_owned());
        self.absorb(target, path, into, depth + 1);
    }

    /// Adds a keyword to others that apply to the same value.
    fn merge(&mut self, into: &mut Map<String, Value>, keyword: &str, value: &Value, path: &Path<'_>) {
        let Some(present) = into.get_mut(keyword) else {
            into.insert(keyword.to_owned(), value.clone());
            return;
        };
        if present == value {
            return;
        }
        match keyword {
            "properties" | "patternProperties" => {
                if let (Value::Object(present), Value::Object(value)) = (present, value) {
                    for (name, schema) in value {
                        both(present, name, schema);
                    }
                }
            }
            "items" | "additionalProperties" => both(into, keyword, value),
            "required" => {
                if let (Value::Array(present), Value::Array(value)) = (present, value) {
                    let missing: Vec<Value> = value.iter().filter(|name| !present.contains(name)).cloned().collect();
                    present.extend(missing);
                }
            }
            "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => keep(present, value, |old, new| new > old),
            "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => keep(present, value, |old, new| new < old),
            "enum" => self.intersect(present, value, path, "enum"),
            "type" => {
                let list = |kind: &Value| if let Value::Array(kinds) = kind { kinds.clone() } else { vec![kind.clone()] };
                let mut common = Value::Array(list(present));
                self.intersect(&mut common, &Value::Array(list(value)), path, "type");
                *present = match common.as_array().map(Vec::as_slice) {
                    Some([one]) => one.clone(),
                    _ => common,
                };
            }
            // The outer text describes the use, the inner one the kind.
            "description" | "title" | "default" | "examples" | "$schema" | "$id" | "$comment" | "deprecated" | "readOnly" | "writeOnly" => {
            }
            // Both must hold: the second list of alternatives is distributed over the first.
            "anyOf" | "oneOf" => {
                let first = Value::Object([(keyword.to_owned(), present.clone())].into_iter().collect());
                let both: Vec<Value> = value
                    .as_array()
                    .into_iter()
                    .flatten()
                    .map(|alternative| {
                        Value::Object([("allOf".to_owned(), Value::Array(vec![alternative.clone(), first.clone()]))].into_iter().collect())
                    })
                    .collect();
                *present = Value::Array(both);
            }
            _ => self.report.add(path, keyword, "it is there twice with different values; the first was kept"),
        }
    }

    fn intersect(&mut self, present: &mut Value, value: &Value, path: &Path<'_>, keyword: &str) {
        let (Value::Array(present), Value::Array(value)) = (present, value) else { return };
        let fits =
            |one: &Value| value.contains(one) || (keyword == "type" && one == "integer" && value.iter().any(|kind| kind == "number"));
        if present.iter().any(fits) {
            present.retain(fits);
        } else if keyword == "type" && present.iter().any(|kind| kind == "number") && value.iter().any(|kind| kind == "integer") {
            *present = vec!["integer".into()];
        } else {
            self.report.add(path, keyword, "nothing fits all of its parts; the first was kept");
        }
    }
}

/// Both schemas apply; they are made one when they are visited.
fn both(into: &mut Map<String, Value>, name: &str, schema: &Value) {
    match into.get_mut(name) {
        None => {
            into.insert(name.to_owned(), schema.clone());
        }
        Some(present) if present == schema || schema == &Value::Bool(true) => {}
        Some(present) if present == &Value::Bool(true) => *present = schema.clone(),
        Some(present) if present == &Value::Bool(false) || schema == &Value::Bool(false) => *present = Value::Bool(false),
        Some(present) => *present = serde_json::json!({ "allOf": [present.clone(), schema] }),
    }
}

fn keep(present: &mut Value, value: &Value, is_tighter: fn(f64, f64) -> bool) {
    match (present.as_f64(), value.as_f64()) {
        (Some(old), Some(new)) if !is_tighter(old, new) => {}
        (_, Some(_)) => *present = value.clone(),
        _ => {}
    }
}

/// Everything that a value is made of, itself included. Values come from a reader that allows 128 levels.
pub(super) fn parts(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(parts).sum::<usize>(),
        Value::Object(fields) => 1 + fields.values().map(parts).sum::<usize>(),
        _ => 1,
    }
}
