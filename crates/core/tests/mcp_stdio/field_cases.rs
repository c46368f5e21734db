//! The field cases STD-01 to STD-10, each in the name of its tests.

use super::*;

#[tokio::test]
async fn std_01_banner_lines_are_skipped_counted_and_shown() {
    let client = connect(&["banner"]).await;
    assert_eq!(text(&client, "echo", json!({"text": "a"})).await, "a");
    let diagnostics = client.diagnostics();
    assert_eq!(diagnostics.server, "ns");
    assert!(diagnostics.skipped_lines >= 3, "{diagnostics:?}");
    assert_eq!(diagnostics.recent_lines.first().map(String::as_str), Some("[db] Connected"));
    client.close().await;
}

#[tokio::test]
async fn std_02_stderr_is_drained_and_its_end_is_kept() {
    let client = connect(&["stderr"]).await;
    for _ in 0..100 {
        assert_eq!(text(&client, "echo", json!({"text": "a"})).await, "a");
    }
    let stderr = client.diagnostics().stderr;
    assert!(stderr.ends_with("yyy") && stderr.len() < 17 * 1024, "{}", stderr.len());
    client.close().await;
}

#[tokio::test]
async fn std_03_an_endless_line_closes_the_connection_in_bounded_memory() {
    let client = McpClient::connect(ConnectOptions { max_frame_bytes: 1024 * 1024, ..options(&[]) }).await.expect("connects");
    let waiting = tokio::spawn({
        let client = client.clone();
        async move { call(&client, "never", json!({})).await }
    });
    sleep(Duration::from_millis(100)).await;
    let response = call(&client, "endless", json!({})).await;
    assert_eq!(response.code, Some(ErrorCode::ConnectionFailed));
    assert!(response.text.contains("frame too large"), "{}", response.text);
    let waited = timeout(Duration::from_secs(1), waiting).await.expect("at once").expect("runs");
    assert_eq!((waited.code, waited.text == response.text), (Some(ErrorCode::ConnectionFailed), true));
    assert_eq!(client.state(), ClientState::Degraded);
    assert!(gone(client.process_id()).await);
}

#[tokio::test]
async fn std_04_a_large_frame_and_a_small_one_in_one_write() {
    let client = connect(&[]).await;
    let size = 9_900 * 1024;
    let held = tokio::spawn({
        let client = client.clone();
        async move { call(&client, "hold", json!({})).await }
    });
    sleep(Duration::from_millis(200)).await;
    assert_eq!(text(&client, "release", json!({"size": size})).await, "small");
    let held = held.await.expect("runs");
    assert_eq!((held.status, held.text.len()), (Status::Success, size));
    client.close().await;
}

#[tokio::test]
async fn std_05_a_server_that_exits_fails_the_call_with_status_and_stderr() {
    let client =
        McpClient::connect(ConnectOptions { env: vec![("TOKEN".into(), "s3cr3t-value".into())], ..options(&[]) }).await.expect("connects");
    let started = Instant::now();
    let response = call(&client, "exit", json!({})).await;
    assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
    assert_eq!((response.code, response.executed), (Some(ErrorCode::ConnectionFailed), true));
    assert!(response.text.contains("exited with status 3"), "{}", response.text);
    let last_words = response.data.expect("the server's last words").to_string();
    assert!(last_words.contains("fatal: lost the database, token ***"), "{last_words}");
    assert!(!response.text.contains("database"), "no model reads them");
    assert!(!last_words.contains("s3cr3t"));
    assert!(!format!("{client:?}").contains("s3cr3t"), "also not in a log of the client");
    let next = call(&client, "echo", json!({})).await;
    assert!(!next.executed);
    assert!(next.text.contains("exited with status 3"), "{}", next.text);
    assert_eq!(client.state(), ClientState::Degraded);
    client.close().await;
}

#[tokio::test]
async fn std_05_a_server_that_dies_while_something_holds_its_pipes() {
    let client = connect(&[]).await;
    let started = Instant::now();
    let response = call(&client, "daemon", json!({})).await;
    assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
    assert!(response.text.contains("exited with status 4"), "{}", response.text);
    client.close().await;
    assert!(members(client.process_id()).is_empty());
}

#[tokio::test]
async fn std_05_a_server_that_closes_its_output_and_lives_on() {
    let client = connect(&[]).await;
    let response = call(&client, "close_stdout", json!({})).await;
    assert!(response.text.contains("closed its output"), "{}", response.text);
    client.close().await;
    assert!(members(client.process_id()).is_empty());
}

#[tokio::test]
async fn std_06_close_ends_the_whole_group_of_a_wrapper() {
    for words in [&[][..], &["lingers"], &["stubborn"]] {
        let client = McpClient::connect(wrapped(words)).await.expect("connects");
        assert_eq!(text(&client, "echo", json!({"text": "a"})).await, "a");
        assert_eq!(members(client.process_id()).len(), 2, "the shell and the server");
        client.close().await;
        client.close().await;
        assert_eq!(members(client.process_id()), [] as [u32; 0], "{words:?}");
    }
}

#[tokio::test]
async fn std_06_close_ends_the_group_whose_leader_died_first() {
    let client = McpClient::connect(wrapped(&["stubborn"])).await.expect("connects");
    let group = client.process_id().expect("pid");
    let leader = rustix::process::Pid::from_raw(i32::try_from(group).expect("pid")).expect("pid");
    rustix::process::kill_process(leader, rustix::process::Signal::KILL).expect("alive");
    client.close().await;
    assert_eq!(members(group), [] as [u32; 0]);
}

#[tokio::test]
async fn std_07_only_line_feeds_split_and_bad_lines_are_skipped() {
    let client = connect(&["messy"]).await;
    assert_eq!(text(&client, "echo", json!({"text": "a\u{2028}b\r\n\u{feff}✓"})).await, "a\nb\r\n✓");
    assert_eq!(text(&client, "separators", json!({})).await.chars().filter(char::is_ascii_alphabetic).count(), 4);
    let diagnostics = client.diagnostics();
    assert!(diagnostics.skipped_lines >= 6, "{diagnostics:?}");
    assert!(diagnostics.recent_lines.iter().any(|line| line == "\\0"), "{diagnostics:?}");
    client.close().await;
}

#[tokio::test]
async fn std_08_the_environment_is_a_base_list_and_the_given_variables() {
    for given in [vec![], vec![("X".to_owned(), "1".to_owned()), ("TERM".to_owned(), "mine".to_owned())]] {
        let client = McpClient::connect(ConnectOptions { env: given.clone(), ..options(&[]) }).await.expect("connects");
        let seen: serde_json::Map<String, Value> = serde_json::from_str(&text(&client, "env", json!({})).await).expect("JSON");
        let allowed = ["PATH", "HOME", "LANG", "LOGNAME", "SHELL", "TERM", "USER", "TMPDIR", "X"];
        // Python adds this one itself.
        let foreign: Vec<&String> = seen.keys().filter(|name| !allowed.contains(&name.as_str()) && *name != "LC_CTYPE").collect();
        assert!(foreign.is_empty(), "{foreign:?}");
        assert!(std::env::vars().any(|(name, _)| !allowed.contains(&name.as_str())), "there is something to leak");
        assert!(seen.contains_key("PATH"));
        for (name, value) in given {
            assert_eq!(seen.get(&name), Some(&json!(value)));
        }
        client.close().await;
    }
}

#[tokio::test]
async fn std_09_requests_of_the_server_are_answered() {
    let client = connect(&[]).await;
    let answers: Value = serde_json::from_str(&text(&client, "ask", json!({})).await).expect("JSON");
    assert_eq!(answers, json!({"ask-0": "result", "ask-1": -32601, "ask-2": -32601, "ask-3": -32601, "ask-4": -32601}));
    client.close().await;
}

#[tokio::test]
async fn std_09_calls_are_served_during_a_flood() {
    let client = connect(&[]).await;
    text(&client, "flood", json!({"seconds": 3})).await;
    for number in 0..20 {
        assert_eq!(text(&client, "echo", json!({"text": number.to_string()})).await, number.to_string());
        sleep(Duration::from_millis(50)).await;
    }
    assert!(client.diagnostics().dropped_messages > 1000, "{:?}", client.diagnostics());
    client.close().await;
}

#[tokio::test]
async fn std_10_a_handshake_that_is_never_answered() {
    for words in [["mute"], ["no_input"]] {
        let started = Instant::now();
        let error = refusal(ConnectOptions { timeout: Some(Duration::from_secs(1)), ..options(&words) }).await;
        assert!(started.elapsed() < Duration::from_secs(3));
        assert_eq!(error.code, ErrorCode::Timeout);
        assert!(error.message.contains("within 1.0 s"), "{error}");
    }
}

#[tokio::test]
async fn std_10_a_version_that_nobody_knows() {
    for words in [&["future"][..], &["future", "discovered"]] {
        let error = refusal(options(words)).await;
        assert_eq!(error.code, ErrorCode::ConnectionFailed);
        assert!(error.message.contains("2099-01-01") && error.message.contains("2025-11-25"), "{error}");
    }
}

#[tokio::test]
async fn std_10_both_eras_work() {
    for (words, version) in [
        (&["modern"][..], "2026-07-28"),
        (&["modern", "late"], "2026-07-28"),
        (&["silent"], "2025-11-25"),
        (&["dies"], "2025-11-25"),
        (&["late"], "2025-11-25"),
        (&["strays"], "2025-11-25"),
    ] {
        let client = connect(words).await;
        assert_eq!(client.protocol_version(), version, "{words:?}");
        assert_eq!(text(&client, "echo", json!({"text": "a"})).await, "a");
        assert!(!client.list_tools().await.expect("lists").tools.is_empty());
        client.close().await;
    }
    let legacy = McpClient::connect(ConnectOptions { protocol: Protocol::Legacy, ..options(&["dies"]) }).await.expect("connects");
    assert_eq!(legacy.protocol_version(), "2025-11-25");
    let error = refusal(ConnectOptions { protocol: Protocol::Modern, ..options(&[]) }).await;
    assert!(error.message.contains("2026-07-28"), "{error}");
}
