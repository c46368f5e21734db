//! What the gate costs without any host: `cargo bench -p toolbolt-core`.

#![expect(clippy::unwrap_used, reason = "a bench that cannot be set up has failed")]

use divan::Bencher;
use serde_json::json;
use std::sync::Arc;
use toolbolt_core::gate::{Begun, Gate, Limits, ToolRef};
use toolbolt_core::prompts::PromptRegistry;
use toolbolt_core::registry::{Body, Definition, Entry, Validation};
use toolbolt_core::response::Status;
use toolbolt_core::tool::PerCall;

fn main() {
    divan::main();
}

fn gate(validation: Validation) -> (Gate, Arc<Entry>) {
    let gate = Gate::new(Arc::new(PromptRegistry::default()), Limits::default(), None, None);
    let row = json!({"type": "object", "properties": {"id": {"type": "integer"}, "name": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}}, "required": ["id"]});
    let definition = Definition {
        name: "t".into(),
        description: "D".into(),
        origin: "builtin".into(),
        input_schema: json!({"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}, "rows": {"type": "array", "items": row}}}),
        validation,
        fill_defaults: true,
        confirmation: PerCall::Never,
        external: PerCall::Never,
        parallel: false,
        timeout: None,
        max_text_chars: None,
        max_data_bytes: None,
        body: Body::Host,
    };
    let entry = gate.register(definition, false).unwrap();
    (gate, entry)
}

fn call(gate: &Gate, entry: &Arc<Entry>, text: Option<&str>) {
    if let Ok(Begun::Open(opened)) = gate.begin(ToolRef::Entry(entry), text, None) {
        let _ = divan::black_box(gate.finish(opened.ticket, Status::Success, |_| String::new(), 0));
    }
}

#[divan::bench]
fn validated_by_the_host(bencher: Bencher) {
    let (gate, entry) = gate(Validation::Host);
    bencher.bench(|| call(&gate, &entry, None));
}

#[divan::bench]
fn small_arguments(bencher: Bencher) {
    let (gate, entry) = gate(Validation::Schema);
    bencher.bench(|| call(&gate, &entry, Some(r#"{"city":"Oslo, the capital of Norway","days":3}"#)));
}

#[divan::bench]
fn two_kilobytes(bencher: Bencher) {
    let (gate, entry) = gate(Validation::Schema);
    let rows: Vec<_> = (0..26).map(|row| json!({"id": row, "name": format!("row number {row}"), "tags": ["a", "b", "c"]})).collect();
    let text = json!({ "rows": rows }).to_string();
    bencher.bench(|| call(&gate, &entry, Some(&text)));
}
