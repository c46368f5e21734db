//! Tools that come, go and change while the connection lasts.

use super::*;
use toolbolt_core::mcp::pins::{PinMode, Pins};

type Events = Arc<Mutex<Vec<ToolsEvent>>>;

fn watch(client: &McpClient) -> Events {
    let events = Events::default();
    let kept = events.clone();
    client.on_tools(Some(Arc::new(move |event| kept.lock().push(event))));
    events
}

async fn event(events: &Events, number: usize) -> ToolsEvent {
    let deadline = Instant::now() + GENEROUS;
    loop {
        if let Some(event) = events.lock().get(number) {
            return event.clone();
        }
        assert!(Instant::now() < deadline, "event {number} never came");
        sleep(Duration::from_millis(10)).await;
    }
}

fn tool(name: &str, description: &str) -> Value {
    json!({"name": name, "description": description, "inputSchema": {"type": "object"}})
}

fn set(tools: &[Value], notices: usize) -> Value {
    json!({"tools": tools, "notices": notices})
}

#[tokio::test]
async fn a_change_is_listed_and_told_in_both_eras() {
    for words in [&["changes"][..], &["changes", "modern"]] {
        let client = connect(words).await;
        call(&client, "set_tools", set(&[tool("a", "A"), tool("b", "B"), tool("c", "C")], 0)).await;
        let events = watch(&client);
        assert_eq!(client.list_tools().await.expect("lists").tools.len(), 3);
        assert!(events.lock().is_empty(), "the first listing differs from nothing");
        call(&client, "set_tools", set(&[tool("b", "other"), tool("c", "C"), tool("d", "D")], 1)).await;
        let change = event(&events, 0).await.expect("a change");
        let names = |tools: &[Arc<McpTool>]| tools.iter().map(|tool| tool.name.clone()).collect::<Vec<_>>();
        assert_eq!((names(&change.added), names(&change.changed)), (vec!["ns_d".to_owned()], vec!["ns_b".to_owned()]), "{words:?}");
        assert_eq!((change.removed, change.changed[0].description.as_str()), (vec!["ns_a".to_owned()], "other"));
        // Blanks and the order of members are no change.
        call(
            &client,
            "set_tools",
            set(&[json!({"inputSchema": {"type": "object"}, "description": "other", "name": "b"}), tool("c", "C"), tool("d", "D")], 1),
        )
        .await;
        sleep(Duration::from_millis(1500)).await;
        assert_eq!(events.lock().len(), 1);
        client.close().await;
    }
}

#[tokio::test]
async fn a_flood_of_changes_costs_one_listing_a_second() {
    let client = connect(&["changes"]).await;
    call(&client, "set_tools", set(&[tool("a", "A")], 0)).await;
    let events = watch(&client);
    client.list_tools().await.expect("lists");
    let started = Instant::now();
    for round in 0..20 {
        call(&client, "set_tools", set(&[tool("a", &round.to_string())], 500)).await;
        sleep(Duration::from_millis(100)).await;
    }
    sleep(Duration::from_millis(1500)).await;
    let methods = text(&client, "methods", json!({})).await;
    let listings = methods.matches("tools/list").count();
    assert!(listings >= 2 && listings <= 3 + usize::try_from(started.elapsed().as_secs()).expect("small"), "{listings}");
    let last = events.lock().last().cloned().expect("events").expect("a change");
    assert_eq!(last.changed[0].description, "19", "the last state is seen");
    client.close().await;
}

#[tokio::test]
async fn after_a_respawn_the_tools_are_compared() {
    let respawn = Some(Respawn { first_delay: Duration::from_millis(20), ..Respawn::default() });
    let client = McpClient::connect(ConnectOptions { respawn, ..options(&[]) }).await.expect("connects");
    call(&client, "set_tools", set(&[tool("liar", "once"), tool("gone", "G")], 0)).await;
    client.list_tools().await.expect("lists");
    let events = watch(&client);
    call(&client, "exit", json!({})).await;
    let change = event(&events, 0).await.expect("a change");
    assert_eq!(change.removed, ["ns_gone"]);
    assert!(change.changed.iter().any(|tool| tool.name == "ns_liar") && !change.added.is_empty());
    client.close().await;
}

#[tokio::test]
async fn a_listing_that_is_refused_is_told_and_not_taken() {
    let file = std::env::temp_dir().join(format!("toolbolt-changes-{}.json", std::process::id()));
    drop(std::fs::remove_file(&file));
    let pins = Pins::file(&file.display().to_string(), PinMode::Record).expect("a path");
    let client = McpClient::connect(ConnectOptions { pins: Some(pins), ..options(&["changes"]) }).await.expect("connects");
    call(&client, "set_tools", set(&[tool("a", "good")], 0)).await;
    let events = watch(&client);
    client.list_tools().await.expect("lists");
    call(&client, "set_tools", set(&[tool("a", "evil")], 1)).await;
    assert_eq!(event(&events, 0).await.expect_err("refused").code, ErrorCode::PinMismatch);
    assert_eq!(client.last_error().map(|error| error.code), Some(ErrorCode::PinMismatch));
    assert_eq!(client.list_tools().await.expect_err("refused").code, ErrorCode::PinMismatch);
    sleep(Duration::from_millis(1100)).await;
    call(&client, "set_tools", set(&[tool("a", "good"), tool("b", "new")], 1)).await;
    let change = event(&events, 1).await.expect("a change");
    assert!(change.changed.is_empty(), "compared with what was taken");
    assert_eq!(change.added.len(), 1);
    client.close().await;
    drop(std::fs::remove_file(&file));
}

#[tokio::test]
async fn a_subscription_that_ends_is_opened_again_a_few_times() {
    let client = connect(&["changes", "modern"]).await;
    let listens = async || text(&client, "methods", json!({})).await.matches("subscriptions/listen").count();
    for number in 1..=2 {
        let deadline = Instant::now() + GENEROUS;
        while listens().await < number {
            assert!(Instant::now() < deadline);
            sleep(Duration::from_millis(50)).await;
        }
        if number == 1 {
            call(&client, "end_listen", json!({})).await;
        }
    }
    // An error without an id is for the call that waits, not for the subscription.
    let failed = call(&client, "anonymous_error", json!({})).await;
    assert!(failed.text.contains("cannot read that"), "{}", failed.text);
    client.close().await;

    let silent = connect(&["modern"]).await;
    assert!(!text(&silent, "methods", json!({})).await.contains("subscriptions/listen"), "it never said that it would tell");
    silent.close().await;
}
