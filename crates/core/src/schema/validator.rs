//! A compiled schema.

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
pub struct Validator(jsonschema::Validator);

impl Validator {
    /// Compiles a schema.
    ///
    /// # Errors
    /// `INVALID_OPTIONS`, saying which part of the schema is wrong.
    pub fn compile(schema: &Value, trust: Trust) -> Result<Self, ToolError> {
        let options = jsonschema::options().offline();
        let options = match trust {
            Trust::Own => options.with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(BACKTRACK_LIMIT)),
            Trust::Remote => options.with_pattern_options(PatternOptions::regex().size_limit(PATTERN_SIZE_LIMIT)),
        };
        options.build(schema).map(Self).map_err(|error| {
            let place = error.instance_path().to_string();
            let message = format!("the input schema is not valid at '{place}': {}", shorten(error.to_string()));
            ToolError::new(ErrorCode::InvalidOptions, message)
        })
    }

    /// Everything that is wrong with a value, sorted by path; empty when it fits.
    pub fn violations(&self, value: &Value) -> Vec<Violation> {
        if self.0.is_valid(value) {
            return Vec::new();
        }
        let describe = |error: jsonschema::ValidationError<'_>| Violation {
            path: error.instance_path().to_string(),
            message: shorten(error.masked().to_string()),
        };
        let mut found: Vec<Violation> = self.0.iter_errors(value).map(describe).collect();
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
    fn references_are_never_fetched() {
        let schema = json!({"type": "object", "properties": {"s": {"$ref": "http://127.0.0.1:1/x.json"}}});
        assert_eq!(Validator::compile(&schema, Trust::Own).unwrap_err().code, ErrorCode::InvalidOptions);
    }
}
