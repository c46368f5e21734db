//! Starting, closing and losing servers.

use super::*;

#[tokio::test]
async fn works_on_a_current_thread_runtime() {
    let client = connect(&[]).await;
    assert_eq!(client.protocol_version(), "2025-11-25");
    assert_eq!(client.instructions().as_deref(), Some("be careful"));
    assert_eq!(client.state(), ClientState::Ready);
    assert_eq!(text(&client, "echo", json!({"text": "hello"})).await, "hello");
    let failed = call(&client, "unheard_of", json!({})).await;
    assert_eq!((failed.status, failed.code, failed.executed), (Status::Error, None, true));
    client.close().await;
    assert_eq!(client.state(), ClientState::Closed);
    assert!(members(client.process_id()).is_empty());
}

#[tokio::test]
async fn a_failed_start_names_the_reason() {
    let error = refusal(ConnectOptions::new("ns", "no-such-program-anywhere")).await;
    assert_eq!(error.code, ErrorCode::ConnectionFailed);
    assert!(error.message.contains("no-such-program-anywhere"), "{error}");
    let error = refusal(ConnectOptions { cwd: Some("/no/such/folder".into()), ..options(&[]) }).await;
    assert!(error.message.contains("/no/such/folder"), "{error}");
    let error = refusal(ConnectOptions { env: vec![("TOKEN".into(), "s3cr3t-value".into())], ..options(&["early_exit"]) }).await;
    assert_eq!(error.code, ErrorCode::ConnectionFailed);
    assert!(error.message.contains("exited with status 2") && error.message.contains("config error near ***"), "{error}");
    assert!(refusal(options(&["refuse"])).await.message.contains("not today"));
    assert!(refusal(options(&["nonsense"])).await.message.contains("no result of `initialize`"));
    for wrong in [
        ConnectOptions::new("not legal", "python3"),
        ConnectOptions::new("", "python3"),
        ConnectOptions::new("ns", ""),
        ConnectOptions::new("ns", "pyt\0hon"),
        ConnectOptions { args: vec!["a\0".into()], ..ConnectOptions::new("ns", "python3") },
        ConnectOptions { env: vec![("A=B".into(), "1".into())], ..ConnectOptions::new("ns", "python3") },
        ConnectOptions { env: vec![("A".into(), "\0".into())], ..ConnectOptions::new("ns", "python3") },
        ConnectOptions { cwd: Some("\0".into()), ..ConnectOptions::new("ns", "python3") },
        ConnectOptions { timeout: Some(Duration::ZERO), ..ConnectOptions::new("ns", "python3") },
    ] {
        let error = refusal(wrong).await;
        assert!(matches!(error.code, ErrorCode::InvalidOptions | ErrorCode::InvalidName), "{error:?}");
    }
}

#[tokio::test]
async fn starts_in_the_given_folder() {
    let client = McpClient::connect(ConnectOptions { cwd: Some("/".into()), ..options(&[]) }).await.expect("connects");
    assert_eq!(text(&client, "cwd", json!({})).await, "/");
}

#[tokio::test]
async fn close_fails_what_waits_at_once() {
    let client = connect(&["stubborn"]).await;
    let waiting = tokio::spawn({
        let client = client.clone();
        async move { call(&client, "never", json!({})).await }
    });
    sleep(Duration::from_millis(100)).await;
    let closing = tokio::spawn({
        let client = client.clone();
        async move { client.close().await }
    });
    let response = timeout(Duration::from_secs(1), waiting).await.expect("at once").expect("runs");
    assert_eq!(response.code, Some(ErrorCode::Closed));
    assert_eq!(call(&client, "echo", json!({})).await.code, Some(ErrorCode::Closed));
    assert_eq!(client.list_tools().await.expect_err("closed").code, ErrorCode::Closed);
    closing.await.expect("closes");
    assert!(members(client.process_id()).is_empty());
}

#[test]
fn dropping_the_last_handle_kills_without_a_runtime() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime");
    let (client, tools) = runtime.block_on(async {
        let client = McpClient::connect(wrapped(&["stubborn"])).await.expect("connects");
        let tools = client.list_tools().await.expect("lists").tools;
        (client, tools)
    });
    let group = client.process_id();
    drop(client);
    assert_eq!(members(group).len(), 2, "tools keep it open");
    drop(tools);
    let deadline = Instant::now() + GENEROUS;
    while !members(group).is_empty() {
        assert!(Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_runtime_that_ends_takes_its_servers_along() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("runtime");
    let client = runtime.block_on(McpClient::connect(wrapped(&["stubborn"]))).expect("connects");
    let group = client.process_id();
    runtime.shutdown_background();
    let deadline = Instant::now() + GENEROUS;
    while !members(group).is_empty() {
        assert!(Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(10));
    }
    let other = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime");
    other.block_on(async {
        let response = call(&client, "echo", json!({})).await;
        assert_eq!((response.code, response.executed), (Some(ErrorCode::ConnectionFailed), false));
        timeout(GENEROUS, client.close()).await.expect("ends");
    });
}

#[tokio::test]
async fn groups_are_killed_by_owner() {
    let ours = McpClient::connect(ConnectOptions { owner: 77, ..wrapped(&["stubborn"]) }).await.expect("connects");
    let others = McpClient::connect(ConnectOptions { owner: 78, ..wrapped(&[]) }).await.expect("connects");
    kill_all(77);
    assert!(gone(ours.process_id()).await);
    assert_eq!(members(others.process_id()).len(), 2);
    let response = call(&ours, "echo", json!({})).await;
    assert!(response.text.contains("signal 9"), "{}", response.text);
    others.close().await;
    // Would end the servers of the tests beside this one; that it compiles and can be named is enough here.
    let _: fn() = kill_everything;
}

#[tokio::test]
async fn a_connection_that_nobody_waits_for_leaves_no_process() {
    let marker = format!("marker-{}", std::process::id());
    let running = || {
        let processes = std::fs::read_dir("/proc").expect("/proc").flatten();
        processes
            .filter_map(|process| std::fs::read(process.path().join("cmdline")).ok())
            .filter(|line| String::from_utf8_lossy(line).contains(&marker))
            .count()
    };
    assert!(timeout(Duration::from_millis(700), McpClient::connect(options(&["mute", &marker]))).await.is_err());
    for _ in 0..200 {
        if running() == 0 {
            return;
        }
        sleep(Duration::from_millis(20)).await;
    }
    panic!("{} left", running());
}
