//! Whatever a schema is: its exports keep the rules of the provider, are the same again when exported again, and take bounded time.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

#[path = "export/rules.rs"]
mod rules;

use proptest::prelude::*;
use rules::{anthropic, gemini, openai, references, strict};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};
use toolbolt_core::export::{self, Format};
use toolbolt_core::gate::{Gate, Limits};
use toolbolt_core::prompts::PromptRegistry;
use toolbolt_core::registry::{Body, Definition, Validation};
use toolbolt_core::tool::PerCall;

const STRICT: Format = Format::OpenaiResponses { strict: true };
const LAX: Format = Format::OpenaiResponses { strict: false };

fn gate(schema: Value) -> Option<Gate> {
    let gate = Gate::new(Arc::new(PromptRegistry::default()), Limits::default(), None, None);
    let definition = Definition {
        name: "t".into(),
        description: "d".into(),
        origin: "app".into(),
        input_schema: schema,
        validation: Validation::Host,
        fill_defaults: false,
        confirmation: PerCall::Never,
        external: PerCall::Never,
        parallel: false,
        timeout: None,
        max_text_chars: None,
        max_data_bytes: None,
        body: Body::Host,
    };
    gate.register(definition, false).ok().map(|_| gate)
}

fn exported(gate: &Gate, format: Format) -> Value {
    let tools: Value = serde_json::from_str(&export::tools(gate, format, None)).unwrap();
    tools.get(0).unwrap().clone()
}

/// The schema of the only tool, if the format has one for it.
fn schema_of(gate: &Gate, format: Format) -> Option<Value> {
    let tool = exported(gate, format);
    ["parameters", "input_schema", "parametersJsonSchema", "inputSchema"].iter().find_map(|key| tool.get(*key).cloned())
}

fn check(schema: &Value) -> Result<(), String> {
    let Some(gate) = gate(schema.clone()) else { return Ok(()) };
    let is_strict = exported(&gate, STRICT)["strict"] == true;
    let found = schema_of(&gate, STRICT).ok_or("no schema")?;
    if is_strict {
        strict(&found)?
    } else {
        openai(&found)?
    }
    if !is_strict && export::report(&gate, STRICT, None).is_empty() {
        return Err("that a tool is not strict is not reported".to_owned());
    }
    openai(&schema_of(&gate, LAX).ok_or("no schema")?)?;
    anthropic(&schema_of(&gate, Format::Anthropic).ok_or("no schema")?)?;
    if references(schema, schema).is_ok() {
        for format in [LAX, Format::Anthropic] {
            let found = schema_of(&gate, format).ok_or("no schema")?;
            references(&found, &found)?;
        }
    }
    if let Some(found) = schema_of(&gate, Format::Gemini) {
        gemini(&found)?;
    }
    for format in [STRICT, LAX, Format::Anthropic, Format::Gemini] {
        let Some(once) = schema_of(&gate, format) else { continue };
        if format == STRICT && !is_strict {
            continue;
        }
        let again = self::gate(once.clone()).ok_or("an export that cannot be registered")?;
        let twice = schema_of(&again, format).ok_or("no schema")?;
        if twice != once {
            return Err(format!("{format:?} twice\n{once:#}\nbecame\n{twice:#}"));
        }
        if format == STRICT && exported(&again, STRICT)["strict"] != true {
            return Err("strict no more".to_owned());
        }
    }
    Ok(())
}

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!({})),
        Just(json!(true)),
        Just(json!(false)),
        Just(json!({"type": "string", "minLength": 2, "pattern": "^a"})),
        Just(json!({"type": "string", "format": "uri", "description": "where"})),
        Just(json!({"type": ["string", "null"], "default": "x"})),
        Just(json!({"type": ["integer", "number", "object"]})),
        Just(json!({"type": "integer", "minimum": 1, "exclusiveMaximum": 9})),
        Just(json!({"enum": ["a", "", 1, null, [1], {"k": 1}, "a"]})),
        Just(json!({"type": "string", "enum": ["a", "b", null]})),
        Just(json!({"const": 5})),
        Just(json!({"const": "five", "title": "Five"})),
        Just(json!({"type": "null"})),
        Just(json!({"type": "array"})),
        Just(json!({"type": "object"})),
        Just(json!({"type": "object", "additionalProperties": {"type": "string"}})),
        Just(json!({"$ref": "#/$defs/a"})),
        Just(json!({"$ref": "#/$defs/b", "description": "b"})),
        Just(json!({"$ref": "#/$defs/a", "minimum": 3})),
        Just(json!({"$ref": "#/anyOf/0"})),
        Just(json!({"$ref": "#/oneOf/0/properties/a"})),
        Just(json!({"$ref": "#/allOf/0/properties/$filter"})),
        Just(json!({"$ref": "#"})),
        Just(json!({"not": {"type": "string"}})),
        Just(json!({"type": "boolean", "examples": [true], "x-y": 1})),
    ]
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![4 => "[a-e]", 1 => "\\PC{0,6}", 1 => Just("$filter".to_owned()), 1 => Just("9".repeat(80))]
}

fn any_schema() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(4, 40, 4, |inner| {
        let list = prop::collection::vec(inner.clone(), 0..4).boxed();
        let object =
            (prop::collection::vec((key(), inner.clone()), 0..4), prop::collection::vec(key(), 0..3), prop::option::of(inner.clone()));
        let object = object
            .prop_map(|(properties, required, extra)| {
                let properties: Map<String, Value> = properties.into_iter().collect();
                let mut schema = json!({"type": "object", "properties": properties, "required": required});
                if let Some(extra) = extra {
                    schema["additionalProperties"] = extra;
                }
                schema
            })
            .boxed();
        let joined = (object.clone(), list.clone(), prop::sample::select(vec!["anyOf", "oneOf", "allOf"])).prop_map(
            |(mut schema, list, keyword)| {
                schema[keyword] = list.into();
                schema
            },
        );
        prop_oneof![
            3 => object,
            1 => list.clone().prop_map(|list| json!({"anyOf": list, "description": "either"})),
            1 => list.clone().prop_map(|list| json!({"oneOf": list, "title": "One"})),
            1 => list.clone().prop_map(|list| json!({"allOf": list, "description": "all"})),
            1 => list.prop_map(|list| json!({"type": "array", "items": list, "minItems": 1})),
            1 => inner.prop_map(|items| json!({"type": ["array", "null"], "items": items, "uniqueItems": true})),
            1 => joined,
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 800, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_export_keeps_the_rules(mut root in any_schema(), a in any_schema(), b in any_schema()) {
        if let Value::Object(root) = &mut root {
            root.insert("$defs".into(), json!({"a": a, "b": b}));
            if root.get("type").is_some_and(|kind| kind != "object") {
                root.shift_remove("type");
            }
        }
        if let Err(problem) = check(&root) {
            prop_assert!(false, "{problem}\nof {root:#}");
        }
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        Just(json!(true)),
        Just(json!("a")),
        Just(json!("five")),
        Just(json!("")),
        Just(json!(5)),
        Just(json!(1.5)),
        Just(json!([])),
        Just(json!({})),
    ];
    let key = "[a-e]".prop_map(String::from);
    leaf.prop_recursive(3, 12, 3, move |inner| {
        let object =
            prop::collection::vec((key.clone(), inner.clone()), 0..4).prop_map(|members| Value::Object(members.into_iter().collect()));
        prop_oneof![2 => object, 1 => prop::collection::vec(inner, 0..3).prop_map(Value::from)]
    })
}

/// Where a report is empty, the export means what the tool's schema means; strict mode may only ask for more.
fn same_meaning(schema: &Value, values: &[Value]) -> Result<(), String> {
    let Some(gate) = gate(schema.clone()) else { return Ok(()) };
    let Some(original) = schema_of(&gate, Format::Mcp).and_then(|schema| jsonschema::validator_for(&schema).ok()) else { return Ok(()) };
    for format in [STRICT, LAX, Format::Anthropic, Format::Gemini] {
        let Some(exported) = schema_of(&gate, format) else { continue };
        if !export::report(&gate, format, None).is_empty() {
            continue;
        }
        let validator = jsonschema::validator_for(&exported).map_err(|error| format!("{error} in {exported:#}"))?;
        for value in values.iter().filter(|value| value.is_object()) {
            let text = value.to_string();
            let restored = export::restored_arguments(&gate, format, "t", &text)
                .map_or_else(|| value.clone(), |text| serde_json::from_str(&text).unwrap());
            let (before, after) = (original.is_valid(&restored), validator.is_valid(value));
            if (after && !before) || (format != STRICT && !after && original.is_valid(value)) {
                return Err(format!("{format:?} of {value} (restored {restored}): {before} became {after}\n{exported:#}"));
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_not_reported_means_the_same(mut root in any_schema(), values in prop::collection::vec(any_value(), 12)) {
        if let Value::Object(root) = &mut root {
            root.insert("$defs".into(), json!({"a": {"type": "integer"}, "b": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}}));
            if root.get("type").is_some_and(|kind| kind != "object") {
                root.shift_remove("type");
            }
        }
        if let Err(problem) = same_meaning(&root, &values) {
            prop_assert!(false, "{problem}\nof {root:#}");
        }
    }
}

#[test]
fn bombs_take_a_moment() {
    let chain = |keyword: &str| {
        let defs: Map<String, Value> = (0..40)
            .map(|level| {
                let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
                (format!("d{level}"), json!({keyword: [next.clone(), {"type": "object", "properties": {"x": next}}, next]}))
            })
            .chain([("d40".to_owned(), json!({"type": "string"}))])
            .collect();
        json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/d0"}}, "$ref": "#/$defs/d0", "$defs": defs})
    };
    let wide: Vec<Value> = (0..2_000).map(|number| json!({"required": [format!("k{number}")]})).collect();
    let many: Map<String, Value> = (0..2_000).map(|number| (format!("k{number}"), json!({"type": "string"}))).collect();
    let product =
        json!({"type": "object", "properties": {"p": {"type": "object", "properties": many, "anyOf": wide.clone(), "oneOf": wide}}});
    let itself = json!({"type": "object", "properties": {"a": {"$ref": "#"}, "b": {"$ref": "#"}, "c": {"anyOf": [{"$ref": "#"}, {"$ref": "#/properties/c"}]}}});
    for schema in [chain("allOf"), chain("anyOf"), chain("oneOf"), product, itself] {
        let began = Instant::now();
        check(&schema).unwrap();
        assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    }
}
