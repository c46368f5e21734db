//! The prompt texts and the engine behind them.

use crate::{rows, strings, vector};
use serde_json::{Value, json};
use toolbolt_core::error::ErrorCode;
use toolbolt_core::prompts::{Language, PromptRegistry};

const OTHER_TOOLS: &[&str] = &[".memory", ".rag", ".agent", "conversation", "tool_search", ".mem.", ".conv."];

#[test]
fn every_recorded_key_exists_with_its_variables() {
    let prompts = PromptRegistry::default();
    let vector = vector("prompt_keys");
    let in_scope = |key: &str| key.starts_with("tool.") && !OTHER_TOOLS.iter().any(|part| key.contains(part));
    let keys: Vec<_> = vector.as_object().unwrap().iter().filter(|(key, _)| in_scope(key)).collect();
    assert_eq!(keys.len(), 73);
    for (key, facts) in keys {
        assert_eq!(prompts.variables(key).unwrap(), strings(&facts["variables"]), "{key}");
        assert_eq!(facts["protected"], json!([]), "{key}");
    }
}

#[test]
fn every_text_has_its_variables_in_both_languages() {
    let english = PromptRegistry::default();
    let chinese = PromptRegistry::load(Language::Chinese);
    for key in english.keys() {
        for text in [english.get(&key).unwrap(), chinese.get(&key).unwrap()] {
            assert!(english.with_overrides([(key.as_str(), text.as_str())]).is_ok(), "{key}");
        }
        assert_ne!(english.get(&key).unwrap(), chinese.get(&key).unwrap(), "{key}");
    }
}

fn text(value: &Value) -> String {
    match value {
        // A Rust caller has only text; this is how the original wrote a missing value.
        Value::Null => "None".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[test]
fn templates_are_filled_in_as_recorded() {
    for (index, row) in rows("prompt_templates").iter().enumerate().filter(|(_, row)| row["base"].is_null()) {
        let prompts = PromptRegistry::default();
        let template = row["template"].as_str().unwrap();
        let variables = strings(&row["variables"]);
        prompts.register("app.text", template, &variables, &[]).unwrap();
        let given: Vec<(String, String)> =
            row["kwargs"].as_object().unwrap().iter().map(|(key, value)| (key.clone(), text(value))).collect();
        let given: Vec<(&str, &str)> = given.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        let filled = prompts.render("app.text", &given).unwrap_or_else(|error| error_name(error.code));
        assert_eq!(filled, row["out"].as_str().unwrap(), "row {index}: {row}");
    }
}

#[test]
fn overrides_are_checked_as_recorded() {
    for (index, row) in rows("prompt_templates").iter().enumerate().filter(|(_, row)| !row["base"].is_null()) {
        let prompts = PromptRegistry::default();
        prompts.register("app.text", row["base"].as_str().unwrap(), &strings(&row["variables"]), &strings(&row["protected"])).unwrap();
        let changed = prompts.override_texts([("app.text", row["override"].as_str().unwrap())]);
        let text = changed.and_then(|()| prompts.get("app.text")).unwrap_or_else(|error| error_name(error.code));
        assert_eq!(text, row["out"].as_str().unwrap(), "row {index}: {row}");
    }
}

fn error_name(code: ErrorCode) -> String {
    assert_eq!(code, ErrorCode::PromptInvalid);
    "PromptError".to_owned()
}
