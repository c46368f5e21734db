//! The arguments of a built-in tool: one struct gives their schema and reads them.

use crate::error::ErrorCode;
use crate::prompts::PromptRegistry;
use crate::response::ToolResponse;
use crate::tool::Arguments;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The JSON schema of `T`, each property with the text of its prompt. `names` says which prompt belongs to which property.
pub(crate) fn schema<T: JsonSchema>(prompts: &PromptRegistry, names: &[(&str, &str)]) -> Value {
    let mut schema = schemars::SchemaGenerator::default().into_root_schema_for::<T>().to_value();
    if let Some(root) = schema.as_object_mut() {
        // The dialect is the default one, and a type's name tells a model nothing.
        root.retain(|keyword, _| !matches!(keyword.as_str(), "$schema" | "title"));
    }
    for (property, key) in names {
        if let Some(property) = schema.pointer_mut(&format!("/properties/{property}")).and_then(Value::as_object_mut) {
            property.insert("description".to_owned(), Value::String(prompts.text(key, &[])));
        }
    }
    schema
}

/// Reads arguments. Within a registry the schema has checked them already; outside of one they may be anything.
///
/// # Errors
/// The response to give: `INVALID_ARGUMENTS`.
pub(crate) fn read<T: DeserializeOwned>(arguments: &Arguments) -> Result<T, ToolResponse> {
    T::deserialize(&arguments.value)
        .map_err(|error| ToolResponse::failed(ErrorCode::InvalidArguments, format!("the arguments do not fit: {error}"), false))
}
