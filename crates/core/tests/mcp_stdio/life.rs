//! Servers that go away by themselves, and come back.

use super::*;
use std::path::PathBuf;

/// A file that counts the starts of a server.
struct Starts(PathBuf);

impl Starts {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("toolbolt-starts-{}-{name}", std::process::id()));
        drop(std::fs::remove_file(&path));
        Self(path)
    }

    fn count(&self) -> usize {
        std::fs::read_to_string(&self.0).map_or(0, |text| text.lines().count())
    }
}

impl Drop for Starts {
    fn drop(&mut self) {
        drop(std::fs::remove_file(&self.0));
    }
}

fn quick(attempts: u32) -> Respawn {
    Respawn {
        attempts,
        first_delay: Duration::from_millis(20),
        max_delay: Duration::from_millis(50),
        healthy_after: Duration::from_secs(600),
    }
}

fn reviving(words: &[&str], starts: &Starts, attempts: u32) -> ConnectOptions {
    let env = vec![("STARTS".to_owned(), starts.0.display().to_string())];
    ConnectOptions { env, respawn: Some(quick(attempts)), ..options(words) }
}

async fn becomes(client: &McpClient, state: ClientState) {
    let deadline = Instant::now() + GENEROUS;
    while client.state() != state {
        assert!(Instant::now() < deadline, "{:?}, wanted {state:?}", client.state());
        sleep(Duration::from_millis(5)).await;
    }
}

async fn next_life(client: &McpClient, before: Option<u32>) {
    let deadline = Instant::now() + GENEROUS;
    while client.process_id() == before || client.state() != ClientState::Ready {
        assert!(Instant::now() < deadline, "{:?}", client.state());
        sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_server_that_died_is_started_anew_and_its_tools_work_again() {
    let starts = Starts::new("anew");
    let client = McpClient::connect(reviving(&[], &starts, 5)).await.expect("connects");
    let tools = client.list_tools().await.expect("lists").tools;
    assert!(client.last_error().is_none());
    let first = client.process_id();
    let lost = call(&client, "exit", json!({})).await;
    assert_eq!((lost.code, lost.executed), (Some(ErrorCode::ConnectionFailed), true));
    assert!(!lost.text.contains("restarted"), "nobody is invited to repeat what may have happened: {}", lost.text);
    next_life(&client, first).await;
    assert!(members(first).is_empty());
    let error = client.last_error().expect("the reason stays");
    assert_eq!(error.code, ErrorCode::ConnectionFailed);
    assert!(error.message.contains("exited with status 3"), "{error}");
    let tool = tools.iter().find(|tool| tool.remote_name == "a.b").expect("listed");
    let arguments = Arguments { text: "{}".into(), value: json!({}) };
    assert!(tool.clone().run(arguments, context()).await.text.contains("no tool a.b"), "the same object reaches the new server");
    let methods = text(&client, "methods", json!({})).await;
    assert!(!methods.contains("server/discover"), "the verdict is remembered: {methods}");
    assert_eq!(methods.matches("tools/call").count(), 2, "what was sent is not sent again: {methods}");
    assert_eq!(starts.count(), 2);
    client.close().await;
    assert!(members(client.process_id()).is_empty());
}

#[tokio::test]
async fn a_call_waits_for_an_attempt_in_progress_within_its_own_time() {
    let starts = Starts::new("waits");
    let client = McpClient::connect(reviving(&["slow_restart"], &starts, 5)).await.expect("connects");
    call(&client, "exit", json!({})).await;
    becomes(&client, ClientState::Connecting).await;
    let short = client.call("echo", "{}", &within(Duration::from_millis(100))).await;
    assert_eq!((short.code, short.executed), (Some(ErrorCode::ConnectionFailed), false));
    assert!(short.text.contains("being restarted"), "{}", short.text);
    let abandoned = CallContext { cancelled: CancellationToken::new(), ..context() };
    abandoned.cancelled.cancel();
    assert_eq!(client.call("echo", "{}", &abandoned).await.code, Some(ErrorCode::Cancelled));
    assert_eq!(client.state(), ClientState::Connecting);
    assert_eq!(text(&client, "echo", json!({"text": "patient"})).await, "patient");
    client.close().await;
}

#[tokio::test]
async fn a_call_between_attempts_fails_fast_and_says_why() {
    let starts = Starts::new("fast");
    let slow = Respawn { first_delay: Duration::from_secs(600), max_delay: Duration::from_secs(600), ..quick(5) };
    let client = McpClient::connect(ConnectOptions { respawn: Some(slow), ..reviving(&[], &starts, 5) }).await.expect("connects");
    call(&client, "exit", json!({})).await;
    becomes(&client, ClientState::Degraded).await;
    let started = Instant::now();
    let response = call(&client, "echo", json!({})).await;
    assert_eq!((response.code, response.executed), (Some(ErrorCode::ConnectionFailed), false));
    assert!(response.text.contains("exited with status 3") && response.text.contains("being restarted"), "{}", response.text);
    assert!(client.list_tools().await.is_err());
    assert!(started.elapsed() < Duration::from_secs(5));
    timeout(Duration::from_secs(5), client.close()).await.expect("a pause does not hold it up");
    assert_eq!((client.state(), starts.count()), (ClientState::Closed, 1));
}

#[tokio::test]
async fn tries_are_counted_and_end() {
    let starts = Starts::new("end");
    let client = McpClient::connect(reviving(&["fails_restart"], &starts, 3)).await.expect("connects");
    call(&client, "exit", json!({})).await;
    let deadline = Instant::now() + GENEROUS;
    while !client.last_error().is_some_and(|error| error.message.contains("client.reconnect()")) {
        assert!(Instant::now() < deadline);
        sleep(Duration::from_millis(10)).await;
    }
    sleep(Duration::from_millis(300)).await;
    // The last try asks for the revision again, and a server that ends over the question is started once more without it.
    assert_eq!((client.state(), starts.count()), (ClientState::Degraded, 5));
    let response = call(&client, "echo", json!({})).await;
    assert!(!response.text.contains("restarted"), "{}", response.text);
    client.close().await;
    assert_eq!(client.state(), ClientState::Closed);
}

#[tokio::test]
async fn a_server_that_dies_after_every_start_is_given_up() {
    let starts = Starts::new("every");
    let client = McpClient::connect(reviving(&[], &starts, 2)).await.expect("connects");
    for lives in 1..=3 {
        let before = client.process_id();
        assert_eq!(starts.count(), lives);
        call(&client, "exit", json!({})).await;
        if lives < 3 {
            next_life(&client, before).await;
        }
    }
    sleep(Duration::from_millis(500)).await;
    assert_eq!((client.state(), starts.count()), (ClientState::Degraded, 3));
    client.close().await;

    let starts = Starts::new("healthy");
    let healthy = Respawn { healthy_after: Duration::ZERO, ..quick(2) };
    let client = McpClient::connect(ConnectOptions { respawn: Some(healthy), ..reviving(&[], &starts, 2) }).await.expect("connects");
    for _ in 0..4 {
        let before = client.process_id();
        call(&client, "exit", json!({})).await;
        next_life(&client, before).await;
    }
    assert_eq!(starts.count(), 5, "a time of health resets the count");
    client.close().await;
}

#[tokio::test]
async fn closing_or_dropping_during_an_attempt_leaves_nothing() {
    for close in [true, false] {
        let marker = format!("attempt-{}-{close}", std::process::id());
        let starts = Starts::new(&marker);
        let client = McpClient::connect(reviving(&["slow_restart", &marker], &starts, 5)).await.expect("connects");
        call(&client, "exit", json!({})).await;
        while starts.count() < 2 {
            sleep(Duration::from_millis(5)).await;
        }
        let running = || {
            let processes = std::fs::read_dir("/proc").expect("/proc").flatten();
            let lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
            lines.filter(|line| String::from_utf8_lossy(line).contains(&marker)).count()
        };
        assert_eq!(running(), 1);
        if close {
            timeout(GENEROUS, client.close()).await.expect("closes");
            assert_eq!(running(), 0, "gone when close returns");
            assert_eq!(client.state(), ClientState::Closed);
        }
        drop(client);
        let deadline = Instant::now() + GENEROUS;
        while running() > 0 {
            assert!(Instant::now() < deadline);
            sleep(Duration::from_millis(10)).await;
        }
        sleep(Duration::from_millis(300)).await;
        assert_eq!((running(), starts.count()), (0, 2), "and nothing follows");
    }
}

#[tokio::test]
async fn nothing_is_started_anew_once_the_host_environment_has_ended() {
    let starts = Starts::new("owner");
    let client = McpClient::connect(ConnectOptions { owner: 4_711, ..reviving(&[], &starts, 5) }).await.expect("connects");
    kill_all(4_711);
    becomes(&client, ClientState::Degraded).await;
    sleep(Duration::from_millis(500)).await;
    assert_eq!((client.state(), starts.count()), (ClientState::Degraded, 1));
    timeout(GENEROUS, client.close()).await.expect("closes");
    let error = McpClient::connect(ConnectOptions { owner: 4_711, ..options(&[]) }).await.expect_err("refused");
    assert_eq!(error.code, ErrorCode::Closed);
}

#[tokio::test]
async fn without_respawn_a_dead_server_stays_dead() {
    let client = connect(&[]).await;
    call(&client, "exit", json!({})).await;
    becomes(&client, ClientState::Degraded).await;
    sleep(Duration::from_millis(300)).await;
    let response = call(&client, "echo", json!({})).await;
    assert_eq!((client.state(), response.executed), (ClientState::Degraded, false));
    assert!(!response.text.contains("restarted"), "{}", response.text);
    client.close().await;
}

#[tokio::test]
async fn the_start_has_a_time_of_its_own() {
    let limit = Some(Duration::from_millis(300));
    let error = refusal(ConnectOptions { connect_timeout: limit, ..options(&["mute"]) }).await;
    assert_eq!(error.code, ErrorCode::Timeout);
    let client = McpClient::connect(ConnectOptions { connect_timeout: Some(GENEROUS), timeout: limit, ..options(&["late"]) });
    let client = client.await.expect("a late server is waited for");
    assert_eq!(call(&client, "never", json!({})).await.code, Some(ErrorCode::Timeout));
    client.close().await;
}
