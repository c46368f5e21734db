//! Bounds that can be set, and the schema of results.

use super::*;
use serde_json::value::RawValue;

async fn bounded(words: &[&str], bounds: Bounds) -> Arc<McpClient> {
    McpClient::connect(ConnectOptions { bounds, ..options(words) }).await.expect("connects")
}

#[tokio::test]
async fn impossible_bounds_are_refused() {
    for bounds in [
        Bounds { max_in_flight: 0, ..Bounds::default() },
        Bounds { max_schema_bytes: 0, ..Bounds::default() },
        Bounds { max_schema_depth: 101, ..Bounds::default() },
        Bounds { max_notifications_per_second: 0, ..Bounds::default() },
        Bounds { max_result_chars: Some(0), ..Bounds::default() },
    ] {
        assert_eq!(refusal(ConnectOptions { bounds, ..options(&[]) }).await.code, ErrorCode::InvalidOptions, "{bounds:?}");
    }
}

#[tokio::test]
async fn more_calls_wait_in_order_within_their_time() {
    let client = bounded(&[], Bounds { max_in_flight: 2, ..Bounds::default() }).await;
    let held: Vec<_> = (0..2)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { call(&client, "slow", json!({"steps": 2, "pause": 0.4})).await })
        })
        .collect();
    sleep(Duration::from_millis(100)).await;
    let short = client.call("echo", "{}", &within(Duration::from_millis(100))).await;
    assert_eq!((short.code, short.executed), (Some(ErrorCode::Timeout), false));
    let done = Arc::new(Mutex::new(Vec::new()));
    let mut waiting = Vec::new();
    for number in 0..5 {
        let (client, done) = (client.clone(), done.clone());
        waiting.push(tokio::spawn(async move {
            text(&client, "echo", json!({"text": "x"})).await;
            done.lock().push(number);
        }));
        sleep(Duration::from_millis(10)).await;
    }
    assert!(done.lock().is_empty());
    for call in held.into_iter().map(|call| async move { drop(call.await) }) {
        call.await;
    }
    for call in waiting {
        call.await.expect("runs");
    }
    assert_eq!(*done.lock(), [0, 1, 2, 3, 4]);
    client.close().await;
}

#[tokio::test]
async fn notifications_beyond_the_limit_are_counted_and_dropped() {
    let client = bounded(&[], Bounds { max_notifications_per_second: 50, ..Bounds::default() }).await;
    let seen = Arc::new(Mutex::new(0_u64));
    let counter = seen.clone();
    let context = CallContext { on_progress: Some(Arc::new(move |_| *counter.lock() += 1)), ..context() };
    let response = client.call("burst", r#"{"count":1000}"#, &context).await;
    assert_eq!(response.text, "done", "the result comes whatever was dropped");
    let seen = *seen.lock();
    // The burst may last into further seconds on a busy machine.
    assert!((50..1000).contains(&seen), "{seen}");
    assert_eq!(client.diagnostics().dropped_messages, 1000 - seen);
    client.close().await;
}

#[tokio::test]
async fn results_and_schemas_have_bounds_of_choice() {
    let bounds = Bounds { max_result_chars: Some(10), max_result_bytes: Some(200), max_schema_bytes: 60, ..Bounds::default() };
    let client = bounded(&[], bounds).await;
    let response = call(&client, "echo", json!({"text": "é".repeat(300)})).await;
    assert_eq!((response.status, data(&response)), (Status::Partial, r#"{"truncated":true}"#));
    assert!(response.text.starts_with(&"é".repeat(10)) && !response.text.contains(&"é".repeat(11)), "{}", response.text);
    assert_eq!(call(&client, "echo", json!({"text": "short"})).await.status, Status::Success);
    let listing = client.list_tools().await.expect("lists");
    assert!(listing.skipped.iter().any(|skipped| skipped.remote_name.as_deref() == Some("liar")), "{:?}", listing.skipped);
    client.close().await;
}

fn raw(value: &Value) -> Box<RawValue> {
    RawValue::from_string(value.to_string()).expect("valid")
}

fn checked(client: &Arc<McpClient>, output: &Value) -> Arc<McpTool> {
    let (input, output) = (raw(&json!({"type": "object"})), raw(output));
    let declared = Declaration {
        repeatable: false,
        name: "t".to_owned(),
        remote_name: "verbatim".to_owned(),
        description: "",
        input_schema: &input,
        output_schema: Some(&output),
        requires_confirmation: false,
        max_desc_chars: None,
    };
    Arc::new(McpTool::declared(client.clone(), declared).expect("declared"))
}

async fn run(tool: &Arc<McpTool>, result: Value) -> ToolResponse {
    let value = json!({"result": result.to_string()});
    tool.clone().run(Arguments { text: value.to_string().into(), value }, context()).await
}

#[tokio::test]
async fn structured_content_of_any_type_is_held_to_the_output_schema() {
    let client = connect(&[]).await;
    let number = checked(&client, &json!({"type": "integer"}));
    let good = run(&number, json!({"content": [], "structuredContent": 42})).await;
    assert_eq!((good.status, good.text.as_str()), (Status::Success, "42"));
    let bad = run(&number, json!({"content": [{"type": "text", "text": "forty-two"}], "structuredContent": "42", "_meta": {"a": 1}})).await;
    assert_eq!((bad.status, bad.code, bad.executed), (Status::Error, Some(ErrorCode::ExecutionFailed), true));
    assert!(bad.text.contains("forty-two"), "{}", bad.text);
    assert_eq!(data(&bad), r#"{"content":[{"type":"text","text":"forty-two"}],"structuredContent":"42","_meta":{"a":1}}"#);
    assert_eq!(run(&number, json!({"content": []})).await.status, Status::Error, "a promise of structured content is one");
    let failed = run(&number, json!({"content": [{"type": "text", "text": "no"}], "isError": true})).await;
    assert_eq!((failed.status, failed.code), (Status::Error, None), "a failure has no result to check");
    let list = checked(&client, &json!({"type": "array", "items": {"type": "string"}}));
    assert_eq!(run(&list, json!({"structuredContent": ["a"]})).await.status, Status::Success);
    assert_eq!(run(&list, json!({"structuredContent": {}})).await.status, Status::Error);
    client.close().await;
}

#[tokio::test]
async fn a_broken_output_schema_costs_the_check_and_not_the_tool() {
    let client = connect(&[]).await;
    let tools = [
        json!({"name": "verbatim", "inputSchema": {"type": "object"}, "outputSchema": {"type": "strin"}}),
        json!({"name": "far", "inputSchema": {"type": "object"}, "outputSchema": {"$ref": "https://example.com/a"}}),
        json!({"name": "list", "inputSchema": {"type": "object"}, "outputSchema": []}),
        json!({"name": "good", "inputSchema": {"type": "object"}, "outputSchema": {"type": "object", "properties": {"a": {"description": "\u{202e}x"}}}}),
    ];
    call(&client, "set_tools", json!({"tools": tools})).await;
    let listing = client.list_tools().await.expect("lists");
    assert_eq!((listing.tools.len(), listing.warnings.len()), (4, 2), "{:?}", listing.warnings);
    let schemas: Vec<bool> = listing.tools.iter().map(|tool| tool.output_schema().is_some()).collect();
    assert_eq!(schemas, [true, false, false, true]);
    assert_eq!(listing.tools[3].output_schema().expect("one")["properties"]["a"]["description"], "x");
    let verbatim = listing.tools[0].clone();
    assert_eq!(run(&verbatim, json!({"structuredContent": 1})).await.status, Status::Success);
    assert_eq!(run(&verbatim, json!({"structuredContent": 1})).await.status, Status::Success);
    let notes = client.diagnostics().notes;
    assert!(notes.len() == 1 && notes[0].contains("verbatim"), "{notes:?}");
    client.close().await;
}
