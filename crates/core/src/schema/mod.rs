//! Input schemas: what a call's arguments must look like, checked against text that is read once and strictly.

pub mod arguments;
mod cost;
mod defaults;
pub mod parameter;
mod validator;
pub mod violation;

pub use validator::{Trust, Validator};

use crate::error::{ErrorCode, ToolError};
use serde_json::{Map, Value};

/// Gives a schema the keywords that every consumer expects: `type: "object"` and `properties`. Nothing else changes.
///
/// # Errors
/// `INVALID_OPTIONS` when the schema is not an object, or describes something other than an object.
pub fn normalize(schema: Value) -> Result<Value, ToolError> {
    let Value::Object(mut schema) = schema else {
        return Err(ToolError::new(ErrorCode::InvalidOptions, "an input schema must be a JSON Schema object"));
    };
    match schema.get("type") {
        None => {
            schema.insert("type".into(), "object".into());
        }
        Some(Value::String(kind)) if kind == "object" => {}
        Some(other) => {
            let message = format!("an input schema must describe an object, not type {other}; wrap the value in a property");
            return Err(ToolError::new(ErrorCode::InvalidOptions, message));
        }
    }
    if !schema.contains_key("properties") {
        schema.insert("properties".into(), Map::new().into());
    }
    Ok(Value::Object(schema))
}

/// Fills in the defaults that a schema declares for what is absent: through `properties` and `items`, not through
/// references or alternatives. Returns whether anything was added.
pub fn fill_defaults(schema: &Value, arguments: &mut Value) -> bool {
    defaults::fill(schema, arguments, 0)
}

/// Whether a schema declares any default that [`fill_defaults`] could fill in.
pub fn has_defaults(schema: &Value) -> bool {
    defaults::declared(schema, 0)
}
