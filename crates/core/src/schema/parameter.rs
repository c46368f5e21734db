//! Parameter lists: the short way to declare an input schema.

use crate::error::{ErrorCode, ToolError};
use serde::Deserialize;
use serde_json::{Map, Value, json};

const TYPES: [&str; 6] = ["string", "integer", "number", "boolean", "array", "object"];

/// One parameter of a tool.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    /// Its name, as the model writes it.
    pub name: String,
    /// A JSON Schema type: `string`, `integer`, `number`, `boolean`, `array` or `object`.
    #[serde(rename = "type")]
    pub kind: String,
    /// What it means.
    #[serde(default)]
    pub description: String,
    /// Whether a call must give it; true unless said otherwise.
    #[serde(default = "required")]
    pub required: bool,
    /// What an optional parameter is when absent.
    #[serde(default)]
    pub default: Value,
    /// The whole schema of the parameter; when given it stands as it is, and `type`, `description` and `default` add nothing.
    #[serde(default)]
    pub schema: Option<Value>,
}

fn required() -> bool {
    true
}

/// The JSON Schema of a parameter list, in its order.
///
/// # Errors
/// `INVALID_OPTIONS` for an unknown type, an empty name or a name given twice.
pub fn to_schema(parameters: &[Parameter]) -> Result<Value, ToolError> {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for parameter in parameters {
        check(parameter)?;
        if properties.insert(parameter.name.clone(), property(parameter)).is_some() {
            return Err(invalid(parameter, "is declared twice"));
        }
        if parameter.required {
            required.push(Value::from(parameter.name.clone()));
        }
    }
    Ok(json!({ "type": "object", "properties": properties, "required": required }))
}

fn check(parameter: &Parameter) -> Result<(), ToolError> {
    if parameter.name.is_empty() {
        return Err(invalid(parameter, "needs a name"));
    }
    if !TYPES.contains(&parameter.kind.as_str()) {
        return Err(invalid(parameter, &format!("has the unknown type '{}'; use one of {}", parameter.kind, TYPES.join(", "))));
    }
    Ok(())
}

fn invalid(parameter: &Parameter, problem: &str) -> ToolError {
    ToolError::new(ErrorCode::InvalidOptions, format!("parameter '{}' {problem}", parameter.name))
}

fn property(parameter: &Parameter) -> Value {
    if let Some(schema) = &parameter.schema {
        return schema.clone();
    }
    let mut property = Map::new();
    property.insert("type".into(), parameter.kind.clone().into());
    property.insert("description".into(), parameter.description.clone().into());
    if !parameter.required && !parameter.default.is_null() {
        property.insert("default".into(), parameter.default.clone());
    }
    property.into()
}
