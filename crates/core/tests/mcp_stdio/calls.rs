//! Listing and calling tools.

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn works_on_a_multi_thread_runtime_with_many_calls_at_once() {
    let client = connect(&[]).await;
    let calls: Vec<_> = (0..200)
        .map(|number| {
            let client = client.clone();
            tokio::spawn(async move { text(&client, "echo", json!({"text": number.to_string()})).await })
        })
        .collect();
    for (number, call) in calls.into_iter().enumerate() {
        assert_eq!(call.await.expect("runs"), number.to_string());
    }
    client.close().await;
}

#[tokio::test]
async fn lists_what_is_good_and_reports_the_rest() {
    let client = connect(&[]).await;
    let listing = client.list_tools().await.expect("lists");
    let long = format!("ns_{}", "x".repeat(61));
    let names: Vec<(&str, &str)> = listing.tools.iter().map(|tool| (tool.name.as_str(), tool.remote_name.as_str())).collect();
    let long_remote = "x".repeat(100);
    assert_eq!(
        names,
        [("ns_a_b_2", "a.b"), ("ns_a_b", "a b"), ("ns_no_schema", "no_schema"), (long.as_str(), long_remote.as_str()), ("ns_liar", "liar")]
    );
    assert_eq!(listing.skipped.len(), 7, "{:?}", listing.skipped);
    let liar = listing.tools.last().expect("five");
    assert_eq!((liar.origin.as_str(), liar.requires_confirmation, liar.description.as_str()), ("mcp:ns", true, "spoken backwards"));
    let properties = liar.input_schema["properties"].as_object().expect("object");
    assert_eq!(properties.keys().collect::<Vec<_>>(), ["b", "a"], "the order is the server's");
    assert!(properties["b"]["description"].as_str().expect("text").chars().count() < 4200);
    assert!(liar.definition.get().contains(r#""vendor": {"number": 0.7}"#));

    let arguments = Arguments { text: "{}".into(), value: json!({}) };
    assert!(liar.needs_confirmation(&arguments) && liar.is_external_content(&arguments));
    let response = liar.clone().run(arguments, context()).await;
    assert_eq!(response.text, "The tool reports an error: no tool liar\nCorrect the arguments, or take another way.");
    client.close().await;
}

#[tokio::test]
async fn listing_has_bounds() {
    let client = connect(&["pages"]).await;
    let listing = client.list_tools().await.expect("lists");
    assert_eq!((listing.tools.len(), listing.warnings.len()), (5, 0));
    client.close().await;
    for words in [["same_cursor"], ["new_cursors"]] {
        let client = connect(&words).await;
        let listing = timeout(GENEROUS, client.list_tools()).await.expect("ends").expect("lists");
        assert_eq!(listing.warnings.len(), 1, "{listing:?}");
        client.close().await;
    }
    let client = McpClient::connect(ConnectOptions { max_tools: 2, ..options(&[]) }).await.expect("connects");
    let listing = client.list_tools().await.expect("lists");
    assert_eq!((listing.tools.len(), listing.skipped.len()), (2, 1));
    let client = connect(&["no_list"]).await;
    assert_eq!(client.list_tools().await.expect_err("no list").code, ErrorCode::ConnectionFailed);
    let client = connect(&["no_tools"]).await;
    assert!(client.list_tools().await.expect("empty").tools.is_empty());
}

#[tokio::test]
async fn arguments_and_results_cross_as_written() {
    let client = connect(&[]).await;
    let arguments = "{\"n\": 12345678901234567890123, \"f\":1.0,\r\n\"s\":\"\\u2028\\n\", \"z\":1, \"a\":2}";
    let response = client.call("raw", arguments, &context()).await;
    let sent = r#"{"n": 12345678901234567890123, "f":1.0,  "s":"\u2028\n", "z":1, "a":2}"#;
    assert!(response.text.contains(sent), "{}", response.text);
    for wrong in ["", "[]", "1", "{", "{}{}", "{}\n{}", "{\"a\":1},\"x\":{}"] {
        let response = client.call("raw", wrong, &context()).await;
        assert_eq!((response.code, response.executed), (Some(ErrorCode::InvalidArguments), false), "{wrong}");
    }
    let verbatim = r#"{"content":[{"type":"image","data":"AA==","mimeType":"x/y"},{"type":"text","text":"t","annotations":{"priority":0.7,"audience":["martian"]}},{"type":"resource_link","uri":"u:"}],"structuredContent":{"b":12345678901234567890123,"a":1.50},"_meta":{"k":[]}}"#;
    let response = call(&client, "verbatim", json!({"result": verbatim})).await;
    assert_eq!(data(&response), verbatim);
    assert!(response.text.lines().any(|line| line == "t") && response.text.contains("image, x/y"), "{}", response.text);
    let response =
        call(&client, "verbatim", json!({"result": r#"{"content":[{"type":"text","text":"t"}],"structuredContent":1e400}"#})).await;
    assert_eq!((response.code, response.executed), (Some(ErrorCode::ExecutionFailed), true));
    assert!(response.text.contains("1e400"), "{}", response.text);
    assert_eq!(text(&client, "echo", json!({"text": "still here"})).await, "still here");
    let deep = format!(r#"{{"content":[],"structuredContent":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(call(&client, "verbatim", json!({"result": deep})).await.status, Status::Success);
    client.close().await;
}

#[tokio::test]
async fn odd_replies_reach_the_right_call_or_none() {
    let client = connect(&[]).await;
    assert_eq!(text(&client, "twice", json!({})).await, "first");
    assert_eq!(text(&client, "string_id", json!({})).await, "string id");
    let response = call(&client, "anonymous_error", json!({})).await;
    assert!(response.text.contains("cannot read that"), "{}", response.text);
    let response = call(&client, "protocol_error", json!({})).await;
    assert_eq!((response.status, response.code), (Status::Error, Some(ErrorCode::ExecutionFailed)));
    assert!(response.text.contains("unknown tool (code -32602)"), "{}", response.text);
    assert_eq!(client.diagnostics().unexpected_replies, 3);
    client.close().await;
}

#[tokio::test]
async fn progress_is_in_order_before_the_result_and_restarts_the_time() {
    let client = connect(&[]).await;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let recorder = seen.clone();
    let context = CallContext {
        on_progress: Some(Arc::new(move |progress| recorder.lock().push((progress.progress, progress.message)))),
        ..context()
    };
    let response = client.call("burst", r#"{"count":300}"#, &context).await;
    let numbers: Vec<f64> = std::mem::take(&mut *seen.lock()).into_iter().map(|(number, _)| number).collect();
    assert_eq!((response.text.as_str(), numbers), ("done", (0..300).map(f64::from).collect()));

    let patient = CallContext { timeout: Some(Duration::from_millis(1500)), ..context.clone() };
    let response = client.call("slow", r#"{"steps":4,"pause":0.6}"#, &patient).await;
    assert_eq!(response.text, "done", "2.4 s in all, never 1.5 s without progress");
    assert_eq!(seen.lock().last(), Some(&(4.0, Some("step 4".to_owned()))));

    let started = Instant::now();
    let response =
        client.call("slow", r#"{"steps":600,"pause":0.1}"#, &CallContext { timeout: Some(Duration::from_millis(300)), ..context }).await;
    assert_eq!(response.code, Some(ErrorCode::Timeout), "{}", response.text);
    assert!(started.elapsed() >= Duration::from_secs(3) && started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());

    let panics = CallContext { on_progress: Some(Arc::new(|_| panic!("callback"))), ..self::context() };
    assert_eq!(client.call("burst", r#"{"count":2}"#, &panics).await.text, "done");
    client.close().await;
}

#[tokio::test]
async fn calls_end_when_nobody_waits_and_the_server_is_told() {
    let client = connect(&[]).await;
    let response = client.call("never", "{}", &within(Duration::from_millis(100))).await;
    assert_eq!((response.code, response.executed), (Some(ErrorCode::Timeout), true));

    let cancelled = context();
    let token = cancelled.cancelled.clone();
    let (response, ()) = tokio::join!(client.call("slow", r#"{"steps":100,"pause":0.1,"ignore":true}"#, &cancelled), async {
        sleep(Duration::from_millis(100)).await;
        token.cancel();
    });
    assert_eq!(response.code, Some(ErrorCode::Cancelled));

    assert!(timeout(Duration::from_millis(100), call(&client, "never", json!({}))).await.is_err());
    let told: Vec<u64> = serde_json::from_str(&text(&client, "cancelled", json!({})).await).expect("JSON");
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told.iter().all(|&id| id >= 1 << 30));
    client.close().await;
}

#[tokio::test]
async fn a_call_that_is_cancelled_already_is_not_sent() {
    let client = connect(&[]).await;
    let context = context();
    context.cancelled.cancel();
    let response = client.call("echo", "{}", &context).await;
    assert_eq!((response.code, response.executed), (Some(ErrorCode::Cancelled), false));
    assert_eq!(text(&client, "cancelled", json!({})).await, "[]");
    client.close().await;
}

#[tokio::test]
async fn a_server_that_does_not_read_blocks_nobody() {
    let client = connect(&[]).await;
    let context = within(Duration::from_millis(500));
    let large = json!({"text": "x".repeat(8 * 1024 * 1024)}).to_string();
    let calls = std::iter::once(("deaf", "{}")).chain(std::iter::repeat_n(("echo", large.as_str()), 12));
    let responses = futures_util::future::join_all(calls.map(|(name, arguments)| client.call(name, arguments, &context))).await;
    let count = |code: ErrorCode| responses.iter().filter(|response| response.code == Some(code)).count();
    assert_eq!(count(ErrorCode::Timeout) + count(ErrorCode::ConnectionFailed), 13);
    assert!(count(ErrorCode::ConnectionFailed) >= 3, "64 MiB may wait");
    timeout(Duration::from_secs(10), client.close()).await.expect("ends");
    assert!(members(client.process_id()).is_empty());
}
