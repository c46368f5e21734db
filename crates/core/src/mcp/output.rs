//! What a server promises about the structured content of a tool's results, and whether it keeps the promise.

use super::bounds::SchemaBounds;
use super::diagnostics::Collector;
use super::schema;
use crate::sanitize::clean_text;
use crate::schema::Validator;
use crate::schema::violation::Violation;
use serde_json::Value;
use serde_json::value::RawValue;
use std::sync::OnceLock;

/// Faults that are told.
const SHOWN: usize = 5;

/// An output schema, compiled when the first result is checked.
#[derive(Debug)]
pub(super) struct OutputSchema {
    schema: Value,
    /// `None` for one that cannot be compiled: the results are then not checked.
    compiled: OnceLock<Option<Validator>>,
}

impl OutputSchema {
    /// Reads a schema within the bounds of input schemas. It may describe any kind of value.
    pub(super) fn read(raw: &RawValue, bounds: SchemaBounds) -> Result<Self, String> {
        Ok(Self { schema: schema::prepare_output(raw, bounds)?, compiled: OnceLock::new() })
    }

    pub(super) fn schema(&self) -> &Value {
        &self.schema
    }

    /// The faults of a result, in one line; `None` where there are none, or where it cannot be told.
    pub(super) fn faults(&self, structured: Option<&RawValue>, tool: &str, collector: &Collector) -> Option<String> {
        let compiled = self.compiled.get_or_init(|| match schema::compile(&self.schema) {
            Ok(validator) => Some(validator),
            Err(reason) => {
                collector
                    .note(format!("results of `{}` are not checked, as its output schema cannot be used: {reason}", clean_text(tool, 100)));
                None
            }
        });
        let validator = compiled.as_ref()?;
        let Some(structured) = structured else { return Some("there is no structured content".to_owned()) };
        // Parsers of the host are more lenient: what nobody has checked must not pass for checked.
        let Ok(value) = serde_json::from_str::<Value>(structured.get()) else {
            return Some("it has half of a surrogate pair, or is nested too deep to be checked".to_owned());
        };
        if validator.is_too_much(&value) {
            return Some("it is too large to be checked".to_owned());
        }
        let violations = validator.violations(&value);
        (!violations.is_empty()).then(|| sentence(&violations))
    }
}

fn sentence(violations: &[Violation]) -> String {
    let mut parts: Vec<String> = violations
        .iter()
        .take(SHOWN)
        .map(|Violation { path, message }| if path.is_empty() { message.clone() } else { format!("{path}: {message}") })
        .collect();
    if violations.len() > SHOWN {
        parts.push(format!("and {} more", violations.len() - SHOWN));
    }
    clean_text(&parts.join("; "), 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(json: &str) -> Box<RawValue> {
        RawValue::from_string(json.to_owned()).expect("valid")
    }

    fn faults(schema: &str, value: Option<&str>) -> Option<String> {
        let bounds = SchemaBounds { bytes: 10_000, depth: 32, desc_chars: 100 };
        let schema = OutputSchema::read(&raw(schema), bounds).expect("a schema");
        schema.faults(value.map(raw).as_deref(), "t", &Collector::default())
    }

    #[test]
    fn any_kind_of_value_is_checked() {
        for (schema, good, bad) in [
            (r#"{"type":"integer"}"#, "42", "\"42\""),
            (r#"{"type":"array","items":{"type":"string"}}"#, r#"["a"]"#, "[1]"),
            (r#"{"type":"object","properties":{"n":{"type":"number"}},"required":["n"]}"#, r#"{"n":1.5}"#, "{}"),
            (r#"{"type":"null"}"#, "null", "0"),
            (r##"{"$ref":"#/$defs/a","$defs":{"a":{"const":1}}}"##, "1", "2"),
        ] {
            assert_eq!(faults(schema, Some(good)), None, "{schema}");
            assert!(faults(schema, Some(bad)).is_some(), "{schema}");
            assert!(faults(schema, None).is_some(), "{schema}");
        }
        assert_eq!(faults("true", Some("[]")), None);
        assert!(faults("false", Some("[]")).is_some());
    }

    #[test]
    fn what_cannot_be_checked_does_not_pass() {
        let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
        for value in [r#"["\ud800"]"#, r#"{"\udc00":1}"#, &deep] {
            assert!(faults("true", Some(value)).is_some(), "{value}");
        }
        let wide: Vec<String> = (0..2000).map(|number| format!(r#"{{"const":{number}}}"#)).collect();
        let schema = format!(r#"{{"items":{{"anyOf":[{}]}}}}"#, wide.join(","));
        assert!(OutputSchema::read(&raw(&schema), SchemaBounds { bytes: 1 << 20, depth: 32, desc_chars: 1 }).is_ok_and(|schema| {
            let large = format!("[{}0]", "0,".repeat(50_000));
            schema.faults(Some(&raw(&large)), "t", &Collector::default()).is_some()
        }));
    }

    #[test]
    fn one_that_cannot_be_used_checks_nothing_and_is_noted_once() {
        let bounds = SchemaBounds { bytes: 10_000, depth: 32, desc_chars: 100 };
        let schema = OutputSchema::read(&raw(r#"{"type":"strin"}"#), bounds).expect("read");
        let collector = Collector::default();
        for _ in 0..3 {
            assert_eq!(schema.faults(Some(&raw("1")), "t", &collector), None);
        }
        assert_eq!(collector.report("s", String::new()).notes.len(), 1);
        let far = OutputSchema::read(&raw(r#"{"$ref":"https://example.com/a"}"#), bounds);
        assert!(far.is_err());
    }
}
