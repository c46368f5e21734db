//! What a schema can cost: references make evaluation exponential in ways that no size shows.

use serde_json::Value;
use std::collections::HashMap;

/// Keywords that apply other schemas to the same value.
const IN_PLACE: [&str; 7] = ["anyOf", "oneOf", "allOf", "not", "if", "then", "else"];
/// Keywords that apply a schema to items.
const ITEMS: [&str; 5] = ["items", "prefixItems", "contains", "additionalItems", "unevaluatedItems"];
/// Keywords that apply a schema to any property.
const ANY_PROPERTY: [&str; 4] = ["additionalProperties", "patternProperties", "unevaluatedProperties", "propertyNames"];
/// Keywords that apply schemas to what others may be applied to as well.
const OVERLAPPING: [&str; 4] = ["dependentSchemas", "dependencies", "patternProperties", "contains"];
/// Evaluations of one value, and of a whole value through recursion, that are still quick.
const MAX_EVALUATIONS: u64 = 10_000;
const MAX_RECURSIVE: f64 = 1e6;
/// More references than this, or deeper nesting, would exhaust the stack of whoever compiles the schema.
const MAX_REFERENCES: usize = 2_000;
const MAX_DEPTH: usize = 128;
/// Levels of a value up to which faults are listed where that takes time in proportion to the alternatives of each level.
const MAX_REPORTED_DEPTH: usize = 7;

/// What a schema asks of the values that it is used on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cost {
    /// Deeper values are refused unread, as judging them may take for ever.
    pub(super) max_depth: Option<usize>,
    /// Of deeper values it is only said that they do not fit.
    pub(super) max_reported_depth: Option<usize>,
    /// Patterns that are compiled.
    pub(super) patterns: usize,
    /// How often one part of a value may be judged, where nothing multiplies from level to level.
    width: u64,
    /// How often each level of a value multiplies that.
    repeats: u64,
}

impl Cost {
    /// How many times a schema may look at some part of a value, at most.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub(super) fn judgements(&self, value: &Value) -> f64 {
        let multiplied = if self.repeats > 1 { (self.repeats as f64).powf(depth(value) as f64) } else { 1.0 };
        parts(value) as f64 * self.width as f64 * multiplied
    }
}

#[derive(Default)]
struct Walk<'a> {
    references: usize,
    alternatives: bool,
    patterns: usize,
    /// Several schemas may look at one part of a value.
    overlaps: bool,
    schemas: Vec<&'a Value>,
}

/// Measures a schema; an error says what makes it unusable.
pub(super) fn measure(root: &Value) -> Result<Cost, String> {
    let mut walk = Walk::default();
    walk.visit(root, 0)?;
    // Without overlaps a property is judged as one and as the name of one.
    let width = if walk.overlaps || walk.references > 0 { walk.schemas.len() as u64 } else { 2 };
    let simple = Cost { patterns: walk.patterns, width, ..Cost::default() };
    if walk.references == 0 {
        return Ok(simple);
    }
    let mut expansion = Expansion { root, known: HashMap::new() };
    let (mut repeats, mut evaluations) = (1, 1);
    for schema in &walk.schemas {
        let reached = expansion.of(schema, 0);
        if reached.evaluations > MAX_EVALUATIONS {
            return Err("its references multiply: one value would be judged over 10,000 times".to_owned());
        }
        repeats = repeats.max(reached.repeats());
        evaluations = evaluations.max(reached.evaluations);
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a small positive number")]
    let max_depth = (repeats > 1).then(|| (MAX_RECURSIVE.ln() / (repeats as f64).ln()) as usize);
    Ok(Cost {
        max_depth,
        max_reported_depth: walk.alternatives.then_some(MAX_REPORTED_DEPTH),
        width: width.max(evaluations),
        repeats,
        ..simple
    })
}

/// Everything that a value is made of, itself included.
fn parts(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(parts).sum::<usize>(),
        Value::Object(fields) => 1 + fields.values().map(parts).sum::<usize>(),
        _ => 1,
    }
}

/// Levels of nesting of a value.
pub(super) fn depth(value: &Value) -> usize {
    // Values come from a reader that allows 128 levels, so this does not go deep.
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

impl<'a> Walk<'a> {
    fn visit(&mut self, value: &'a Value, depth: usize) -> Result<(), String> {
        if depth > MAX_DEPTH {
            return Err(format!("it is nested deeper than {MAX_DEPTH} levels"));
        }
        match value {
            Value::Array(items) => items.iter().try_for_each(|item| self.visit(item, depth + 1)),
            Value::Object(fields) => {
                self.schemas.push(value);
                self.alternatives |= fields.contains_key("anyOf") || fields.contains_key("oneOf");
                self.overlaps |= OVERLAPPING.iter().chain(&IN_PLACE).any(|keyword| fields.contains_key(*keyword));
                self.patterns += usize::from(fields.get("pattern").is_some_and(Value::is_string));
                self.patterns += fields.get("patternProperties").and_then(Value::as_object).map_or(0, serde_json::Map::len);
                self.references += usize::from(target(fields).is_some());
                if self.references > MAX_REFERENCES {
                    return Err(format!("it has more than {MAX_REFERENCES} references"));
                }
                fields.values().try_for_each(|field| self.visit(field, depth + 1))
            }
            _ => Ok(()),
        }
    }
}

fn target(fields: &serde_json::Map<String, Value>) -> Option<&str> {
    ["$ref", "$dynamicRef", "$recursiveRef"].iter().find_map(|keyword| fields.get(*keyword)?.as_str())
}

/// What judging one value sets off: evaluations of the same value, and how often each part of it is judged.
#[derive(Clone, Debug, Default)]
struct Reached {
    evaluations: u64,
    properties: HashMap<String, u64>,
    any_property: u64,
    items: u64,
}

impl Reached {
    fn add(&mut self, other: &Reached) {
        self.evaluations = self.evaluations.saturating_add(other.evaluations);
        self.any_property = self.any_property.saturating_add(other.any_property);
        self.items = self.items.saturating_add(other.items);
        for (name, count) in &other.properties {
            let total = self.properties.entry(name.clone()).or_default();
            *total = total.saturating_add(*count);
        }
    }

    fn repeats(&self) -> u64 {
        let property = self.properties.values().copied().max().unwrap_or(0).saturating_add(self.any_property);
        property.max(self.items)
    }
}

struct Expansion<'a> {
    root: &'a Value,
    known: HashMap<*const Value, Reached>,
}

impl<'a> Expansion<'a> {
    fn of(&mut self, schema: &'a Value, depth: usize) -> Reached {
        let key: *const Value = schema;
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let mut reached = Reached { evaluations: 1, ..Reached::default() };
        let Value::Object(fields) = schema else { return reached };
        if depth > MAX_DEPTH {
            // A chain of references this long is taken for one that multiplies.
            reached.evaluations = MAX_EVALUATIONS + 1;
            return reached;
        }
        // A reference back to here applies to the same value again: the validator stops there, and so does this.
        self.known.insert(key, reached.clone());
        for keyword in IN_PLACE {
            match fields.get(keyword) {
                Some(Value::Array(schemas)) => schemas.iter().for_each(|schema| reached.add(&self.of(schema, depth + 1))),
                Some(schema) => reached.add(&self.of(schema, depth + 1)),
                None => {}
            }
        }
        if let Some(schemas) = fields.get("dependentSchemas").and_then(Value::as_object) {
            schemas.values().for_each(|schema| reached.add(&self.of(schema, depth + 1)));
        }
        if let Some(found) = target(fields).and_then(|target| self.root.pointer(target.strip_prefix('#')?)) {
            reached.add(&self.of(found, depth + 1));
        }
        for name in fields.get("properties").and_then(Value::as_object).into_iter().flat_map(serde_json::Map::keys) {
            *reached.properties.entry(name.clone()).or_default() += 1;
        }
        let has = |keywords: &[&str]| {
            keywords.iter().filter(|keyword| fields.get(**keyword).is_some_and(|schema| !schema.is_boolean())).count() as u64
        };
        reached.items += has(&ITEMS);
        reached.any_property += has(&ANY_PROPERTY);
        self.known.insert(key, reached.clone());
        reached
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_honest_grammar_is_not_limited() {
        let filter = json!({"type": "object", "properties": {"filter": {"$ref": "#/$defs/f"}}, "$defs": {"f": {"anyOf": [
            {"properties": {"and": {"type": "array", "items": {"$ref": "#/$defs/f"}}}, "required": ["and"]},
            {"properties": {"or": {"type": "array", "items": {"$ref": "#/$defs/f"}}}, "required": ["or"]},
            {"properties": {"not": {"$ref": "#/$defs/f"}}, "required": ["not"]},
            {"properties": {"field": {"type": "string"}}, "required": ["field"]},
        ]}}});
        let cost = measure(&filter).unwrap();
        assert_eq!((cost.max_depth, cost.max_reported_depth), (None, Some(MAX_REPORTED_DEPTH)));
    }

    #[test]
    fn what_a_value_costs_grows_with_what_looks_at_it() {
        let value = json!({"a": [1, 2, 3]});
        let judgements = |schema: Value| measure(&schema).unwrap().judgements(&value);
        assert_eq!(judgements(json!({"properties": {"a": {"items": {"type": "integer"}}}})), 10.0);
        let wide: Vec<Value> = (0..98).map(|number| json!({"const": number})).collect();
        assert!(judgements(json!({"properties": {"a": {"anyOf": wide}}})) >= 500.0);
        assert!(judgements(json!({"anyOf": [{"properties": {"a": {"$ref": "#"}}}, {"properties": {"a": {"$ref": "#"}}}]})) >= 100.0);
        let patterns = json!({"pattern": "a", "patternProperties": {"b": {}, "c": {"pattern": "d"}}});
        assert_eq!(measure(&patterns).unwrap().patterns, 4);
    }

    #[test]
    fn alternatives_that_look_at_the_same_part_limit_the_depth() {
        let twice = json!({"anyOf": [{"properties": {"x": {"$ref": "#"}}}, {"properties": {"x": {"$ref": "#"}}}]});
        assert_eq!(measure(&twice).unwrap().max_depth, Some(19));
    }

    #[test]
    fn what_multiplies_or_never_ends_is_refused() {
        let chain = |levels: usize, keyword: &str| {
            let defs: serde_json::Map<String, Value> = (0..levels)
                .map(|level| {
                    let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
                    (format!("d{level}"), json!({keyword: [next.clone(), next]}))
                })
                .chain([(format!("d{levels}"), json!({"type": "string"}))])
                .collect();
            json!({"properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": defs})
        };
        assert!(measure(&chain(30, "allOf")).is_err());
        assert!(measure(&chain(30, "anyOf")).is_err());
        assert!(measure(&chain(5, "anyOf")).is_ok());
        assert!(measure(&chain(3_000, "oneOf")).is_err());
        let deep = (0..200).fold(json!({}), |inner, _| json!({"properties": {"p": inner}}));
        assert!(measure(&deep).is_err());
    }
}
