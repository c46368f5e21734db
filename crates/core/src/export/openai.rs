//! OpenAI Chat Completions: <https://platform.openai.com/docs/guides/function-calling>.

use super::selected;
use crate::gate::Gate;
use serde_json::{Value, json};

/// The `tools` list of a chat request.
pub fn openai_tools(gate: &Gate, names: Option<&[String]>) -> Vec<Value> {
    let function = |entry: &crate::registry::Entry| {
        json!({
            "type": "function",
            "function": {
                "name": entry.definition.name,
                "description": entry.definition.description,
                "parameters": entry.shown_schema(),
            },
        })
    };
    selected(gate, names).iter().map(|entry| function(entry)).collect()
}
