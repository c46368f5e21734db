//! A compiled schema.

use super::cost::{self, Cost};
use super::violation::{self, Violation};
use crate::error::{ErrorCode, ToolError};
use jsonschema::PatternOptions;
use serde_json::Value;

/// Longest sentence about one violation, in characters: an `enum` may list a thousand values.
const MAX_MESSAGE: usize = 300;
/// Steps a backtracking pattern of an app's own schema may take before the value counts as not matching.
const BACKTRACK_LIMIT: usize = 100_000;
/// Bytes that the compiled form of one linear-time pattern may take.
const PATTERN_SIZE_LIMIT: usize = 1 << 20;

/// The same for all patterns of a schema together.
const PATTERNS_SIZE_LIMIT: usize = 8 << 20;

/// Violations that are looked for.
const MAX_COUNTED: usize = 1_000;
/// Looks at parts of a value after which it is only said that it does not fit: each can become a fault in memory before one is told.
const MAX_REPORTED: f64 = 200_000.0;
/// Looks at parts of a value of somebody else that take a moment at most.
const MAX_JUDGED: f64 = 5e7;

/// Who wrote a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// The app: patterns may use look-around and back references, within a step limit.
    Own,
    /// A remote server: only patterns that match in linear time.
    Remote,
}

/// A compiled JSON Schema: 2020-12, or the draft that `$schema` names. Never fetches a reference.
#[derive(Debug)]
pub struct Validator {
    compiled: jsonschema::Validator,
    cost: Cost,
}

impl Validator {
    /// Compiles a schema.
    ///
    /// # Errors
    /// `INVALID_OPTIONS`, saying which part of the schema is wrong.
    pub fn compile(schema: &Value, trust: Trust) -> Result<Self, ToolError> {
        let cost = cost::measure(schema).map_err(|problem| {
            ToolError::new(ErrorCode::InvalidOptions, format!("the input schema cannot be used: {problem}; make it simpler"))
        })?;
        let options = jsonschema::options().offline();
        let options = match trust {
            Trust::Own => options.with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(BACKTRACK_LIMIT)),
            Trust::Remote => {
                let size = PATTERN_SIZE_LIMIT.min(PATTERNS_SIZE_LIMIT / cost.patterns.max(1));
                options.with_pattern_options(PatternOptions::regex().size_limit(size))
            }
        };
        options.build(schema).map(|compiled| Self { compiled, cost }).map_err(|error| {
            let place = error.instance_path().to_string();
            let message = format!("the input schema is not valid at '{place}': {}", shorten(error.to_string()));
            ToolError::new(ErrorCode::InvalidOptions, message)
        })
    }

    /// Whether a value takes longer to be judged than its author should be given.
    pub fn is_too_much(&self, value: &Value) -> bool {
        self.cost.judgements(value) > MAX_JUDGED
    }

    /// What is wrong with a value, sorted by path; empty when it fits. Of a value that is nested deeper than the schema can be
    /// used on, or than faults can be found in, it says only that; so of one with so many parts that listing the faults takes much memory.
    pub fn violations(&self, value: &Value) -> Vec<Violation> {
        let Cost { max_depth, max_reported_depth, .. } = self.cost;
        let deeper = |limit: Option<usize>| limit.filter(|limit| cost::depth(value) > *limit);
        if let Some(limit) = deeper(max_depth) {
            return vec![Violation::root(format!("the arguments are nested deeper than the {limit} levels that this schema allows"))];
        }
        if self.compiled.is_valid(value) {
            return Vec::new();
        }
        if let Some(limit) = deeper(max_reported_depth) {
            return vec![Violation::root(format!("the arguments do not fit the schema; deeper than {limit} levels it is not said where"))];
        }
        if self.cost.judgements(value) > MAX_REPORTED {
            return vec![Violation::root("it does not fit the schema; it has so many parts that it is not said where")];
        }
        let describe = |error: jsonschema::ValidationError<'_>| Violation {
            path: error.instance_path().to_string(),
            message: shorten(error.masked().to_string()),
        };
        let mut found: Vec<Violation> = self.compiled.iter_errors(value).take(MAX_COUNTED).map(describe).collect();
        violation::sort(&mut found);
        found
    }
}

fn shorten(text: String) -> String {
    match text.char_indices().nth(MAX_MESSAGE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_never_appear_in_messages() {
        let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"enum": ["x"]}}});
        let validator = Validator::compile(&schema, Trust::Own).unwrap();
        let found = validator.violations(&json!({"a": "hunter2", "b": "hunter2"}));
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|violation| !violation.message.contains("hunter2")), "{found:?}");
    }

    #[test]
    fn a_catastrophic_pattern_ends_soon() {
        let schema = json!({"type": "object", "properties": {"s": {"type": "string", "pattern": "^(a+)+$"}}});
        for trust in [Trust::Own, Trust::Remote] {
            let validator = Validator::compile(&schema, trust).unwrap();
            assert_eq!(validator.violations(&json!({"s": format!("{}!", "a".repeat(64))})).len(), 1);
        }
    }

    #[test]
    fn faults_in_many_parts_are_not_held_in_memory() {
        let branches: Vec<Value> = (0..2_000).map(|number| json!({"const": format!("x{number}")})).collect();
        let items = |count: usize| Value::from((0..count).map(Value::from).collect::<Vec<_>>());
        for schema in [json!({"items": {"anyOf": branches}}), json!({"items": {"type": "string"}})] {
            let validator = Validator::compile(&schema, Trust::Remote).unwrap();
            assert!(validator.violations(&items(20)).len() == 20, "listed");
            assert_eq!(validator.violations(&items(150_000)).len(), 1);
        }
    }

    #[test]
    fn many_patterns_of_others_share_what_one_may_take() {
        let patterns = |count: usize, pattern: &str| {
            let properties = (0..count).map(|number| (format!("p{number}"), json!({"pattern": format!("{pattern}{number}")}))).collect();
            Validator::compile(&json!({"properties": Value::Object(properties)}), Trust::Remote)
        };
        assert!(patterns(1, r"\p{L}{10}").is_ok());
        assert!(patterns(500, "^[a-z][a-zA-Z0-9_.-]{0,63}$").is_ok());
        assert!(patterns(500, r"\p{L}{10}").is_err());
    }

    #[test]
    fn references_are_never_fetched() {
        let schema = json!({"type": "object", "properties": {"s": {"$ref": "http://127.0.0.1:1/x.json"}}});
        assert_eq!(Validator::compile(&schema, Trust::Own).unwrap_err().code, ErrorCode::InvalidOptions);
    }
}
