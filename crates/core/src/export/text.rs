//! Plain text: a catalog for the system prompt, and a description with parameters.

use super::selected;
use crate::gate::Gate;
use crate::registry::Entry;
use serde_json::Value;

/// One line a tool: `- name: description`.
pub fn catalog(gate: &Gate) -> String {
    let lines: Vec<String> = selected(gate, None).iter().map(|entry| headline(entry)).collect();
    or_placeholder(gate, lines)
}

/// One block a tool: its line of the catalog, then a line for each parameter.
pub fn description(gate: &Gate, names: Option<&[String]>) -> String {
    let blocks = selected(gate, names).iter().map(|entry| block(gate, entry)).collect();
    or_placeholder(gate, blocks)
}

fn or_placeholder(gate: &Gate, lines: Vec<String>) -> String {
    if lines.is_empty() { gate.prompts().text("tool.empty_catalog", &[]) } else { lines.join("\n") }
}

fn headline(entry: &Entry) -> String {
    format!("- {}: {}", entry.definition.name, one_line(&entry.definition.description))
}

fn block(gate: &Gate, entry: &Entry) -> String {
    let schema = entry.shown_schema();
    let required: Vec<&str> = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let mut lines = vec![headline(entry)];
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        lines.push(parameter(gate, name, property, required.contains(&name.as_str())));
    }
    lines.join("\n")
}

fn parameter(gate: &Gate, name: &str, property: &Value, required: bool) -> String {
    let kind = match property.get("type") {
        Some(Value::String(kind)) => kind.clone(),
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("|"),
        _ => "any".to_owned(),
    };
    let need = gate.prompts().text(if required { "tool.label.required" } else { "tool.label.optional" }, &[]);
    let default = property.get("default").filter(|_| !required).map(|value| {
        let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        gate.prompts().text("tool.label.default", &[("value", &one_line(&shown))])
    });
    let text = property.get("description").and_then(Value::as_str).unwrap_or_default();
    format!("    - {} ({kind}, {need}{}): {}", one_line(name), default.unwrap_or_default(), one_line(text))
}

/// A line break in a foreign description would let it write lines of its own.
fn one_line(text: &str) -> String {
    if text.contains(['\n', '\r']) {
        text.split(['\n', '\r']).map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
    } else {
        text.to_owned()
    }
}
