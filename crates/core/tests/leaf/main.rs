//! Names, cleaning, permissions, guard, preview, redaction and prompts, mostly against the recorded vectors.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "the helpers of tests fail by panicking, as tests do")]

mod guarding;
mod names;
mod permissions;
mod previews;
mod prompts;
mod redaction;
mod texts;

use serde_json::Value;
use toolbolt_core::prompts::PromptRegistry;

fn vector_text(name: &str) -> String {
    let path = format!("{}/../../__test__/vectors/{name}.json", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

fn vector(name: &str) -> Value {
    serde_json::from_str(&vector_text(name)).unwrap()
}

fn rows(name: &str) -> Vec<Value> {
    vector(name).as_array().unwrap().clone()
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|item| item.as_str().unwrap().to_owned()).collect()
}

/// Every prompt as `<key|variable=value>`, as the vectors were recorded.
fn tracing_prompts() -> PromptRegistry {
    let prompts = PromptRegistry::default();
    let texts: Vec<(String, String)> = prompts
        .keys()
        .into_iter()
        .map(|key| {
            let variables = prompts.variables(&key).unwrap();
            let fields: String = variables.iter().map(|name| format!("|{name}={{{name}}}")).collect();
            (key.clone(), format!("<{key}{fields}>"))
        })
        .collect();
    prompts.override_texts(texts.iter().map(|(key, text)| (key.as_str(), text.as_str()))).unwrap();
    prompts
}
