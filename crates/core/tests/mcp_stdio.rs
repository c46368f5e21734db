//! The client for MCP servers over standard streams, against real processes: `fixtures/hostile_server.py` misbehaves on command.
//!
//! A test named after a field case (`std_05…`) covers it. STD-11, Python's code page on Windows, needs Windows: there the client sets
//! PYTHONUTF8 and PYTHONIOENCODING, see `ConnectOptions::environment`.
#![cfg(unix)]
#![expect(clippy::expect_used, reason = "helpers of tests may give up")]

use parking_lot::Mutex;
use serde_json::{Value, json};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use toolbolt_core::error::{ErrorCode, ToolError};
use toolbolt_core::mcp::{ClientState, ConnectOptions, McpClient, Protocol};
use toolbolt_core::process::{kill_all, kill_everything};
use toolbolt_core::response::{Status, ToolResponse};
use toolbolt_core::tool::{Arguments, CallContext, NativeTool};

const SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/hostile_server.py");
/// More than any of this takes on a busy machine.
const GENEROUS: Duration = Duration::from_secs(60);

/// The interpreter itself, where `python3` is a script that looks for one and adds to the environment.
fn python() -> &'static str {
    static PYTHON: OnceLock<String> = OnceLock::new();
    PYTHON.get_or_init(|| {
        let asked =
            std::process::Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output().expect("python3 is installed");
        String::from_utf8(asked.stdout).expect("a path").trim().to_owned()
    })
}

fn options(words: &[&str]) -> ConnectOptions {
    let args = std::iter::once(SERVER).chain(words.iter().copied()).map(str::to_owned).collect();
    ConnectOptions { args, timeout: Some(GENEROUS), owner: 1, ..ConnectOptions::new("ns", python()) }
}

/// The same server below a shell that waits for it.
fn wrapped(words: &[&str]) -> ConnectOptions {
    let script = format!("exec 3<&0; '{}' '{SERVER}' {} <&3 3<&- & wait", python(), words.join(" "));
    ConnectOptions { command: "sh".to_owned(), args: vec!["-c".to_owned(), script], ..options(&[]) }
}

async fn connect(words: &[&str]) -> Arc<McpClient> {
    McpClient::connect(options(words)).await.expect("connects")
}

async fn refusal(options: ConnectOptions) -> ToolError {
    McpClient::connect(options).await.expect_err("does not connect")
}

fn context() -> CallContext {
    CallContext { call_id: "call".into(), cancelled: CancellationToken::new(), on_progress: None }
}

async fn call(client: &McpClient, name: &str, arguments: Value) -> ToolResponse {
    timeout(GENEROUS, client.call(name, &arguments.to_string(), &context(), None)).await.expect("ends")
}

/// The text of a call that works.
async fn text(client: &McpClient, name: &str, arguments: Value) -> String {
    let response = call(client, name, arguments).await;
    assert_eq!(response.status, Status::Success, "{}", response.text);
    response.text
}

fn data(response: &ToolResponse) -> &str {
    response.data.as_ref().expect("data").get()
}

/// Living processes of a group. A zombie is dead.
fn members(group: u32) -> Vec<u32> {
    let mut members = Vec::new();
    for process in std::fs::read_dir("/proc").expect("/proc").flatten() {
        let Ok(stat) = std::fs::read_to_string(process.path().join("stat")) else { continue };
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_ascii_whitespace().collect();
        if fields.get(2) == Some(&group.to_string().as_str()) && !matches!(fields.first(), Some(&("Z" | "X"))) {
            members.extend(stat.split(' ').next().and_then(|pid| pid.parse::<u32>().ok()));
        }
    }
    members
}

async fn gone(group: u32) -> bool {
    for _ in 0..200 {
        if members(group).is_empty() {
            return true;
        }
        sleep(Duration::from_millis(20)).await;
    }
    false
}

#[tokio::test]
async fn works_on_a_current_thread_runtime() {
    let client = connect(&[]).await;
    assert_eq!(client.protocol_version(), "2025-11-25");
    assert_eq!(client.instructions(), Some("be careful"));
    assert_eq!(client.state(), ClientState::Ready);
    assert_eq!(text(&client, "echo", json!({"text": "hello"})).await, "hello");
    let failed = call(&client, "unheard_of", json!({})).await;
    assert_eq!((failed.status, failed.code, failed.executed), (Status::Error, None, true));
    client.close().await;
    assert_eq!(client.state(), ClientState::Closed);
    assert!(members(client.process_id()).is_empty());
}

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
    assert_eq!(client.state(), ClientState::Lost);
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
    assert!(response.text.contains("fatal: lost the database, token ***"), "{}", response.text);
    assert!(!response.text.contains("s3cr3t"));
    let next = call(&client, "echo", json!({})).await;
    assert!(next.text.contains("exited with status 3"), "{}", next.text);
    assert_eq!(client.state(), ClientState::Lost);
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
    let group = client.process_id();
    let leader = rustix::process::Pid::from_raw(i32::try_from(group).expect("pid")).expect("pid");
    rustix::process::kill_process(leader, rustix::process::Signal::KILL).expect("alive");
    client.close().await;
    assert_eq!(members(group), [] as [u32; 0]);
}

#[tokio::test]
async fn std_07_only_line_feeds_split_and_bad_lines_are_skipped() {
    let client = connect(&["messy"]).await;
    assert_eq!(text(&client, "echo", json!({"text": "a\u{2028}b\r\n\u{feff}✓"})).await, "a\u{2028}b\r\n✓");
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
        assert!(std::env::var("CARGO_MANIFEST_DIR").is_ok(), "there is something to leak");
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
    assert_eq!(response.text, "no tool liar");
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
    assert_eq!((listing.tools.len(), listing.skipped.len()), (2, 10));
    let client = connect(&["no_list"]).await;
    assert_eq!(client.list_tools().await.expect_err("no list").code, ErrorCode::ConnectionFailed);
    let client = connect(&["no_tools"]).await;
    assert!(client.list_tools().await.expect("empty").tools.is_empty());
}

#[tokio::test]
async fn arguments_and_results_cross_as_written() {
    let client = connect(&[]).await;
    let arguments = "{\"n\": 12345678901234567890123, \"f\":1.0,\r\n\"s\":\"\\u2028\\n\", \"z\":1, \"a\":2}";
    let response = client.call("raw", arguments, &context(), None).await;
    let sent = r#"{"n": 12345678901234567890123, "f":1.0,  "s":"\u2028\n", "z":1, "a":2}"#;
    assert!(response.text.contains(sent), "{}", response.text);
    for wrong in ["", "[]", "1", "{", "{}{}", "{}\n{}", "{\"a\":1},\"x\":{}"] {
        let response = client.call("raw", wrong, &context(), None).await;
        assert_eq!((response.code, response.executed), (Some(ErrorCode::InvalidArguments), false), "{wrong}");
    }
    let verbatim = r#"{"content":[{"type":"image","data":"AA==","mimeType":"x/y"},{"type":"text","text":"t","annotations":{"priority":0.7,"audience":["martian"]}},{"type":"resource_link","uri":"u:"}],"structuredContent":{"b":12345678901234567890123,"a":1.50},"_meta":{"k":[]}}"#;
    let response = call(&client, "verbatim", json!({"result": verbatim})).await;
    assert_eq!((response.text.as_str(), data(&response)), ("t", verbatim));
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
    let response = client.call("burst", r#"{"count":300}"#, &context, None).await;
    let numbers: Vec<f64> = std::mem::take(&mut *seen.lock()).into_iter().map(|(number, _)| number).collect();
    assert_eq!((response.text.as_str(), numbers), ("done", (0..300).map(f64::from).collect()));

    let patience = Some(Duration::from_millis(1500));
    let response = client.call("slow", r#"{"steps":4,"pause":0.6}"#, &context, patience).await;
    assert_eq!(response.text, "done", "2.4 s in all, never 1.5 s without progress");
    assert_eq!(seen.lock().last(), Some(&(4.0, Some("step 4".to_owned()))));

    let started = Instant::now();
    let response = client.call("slow", r#"{"steps":600,"pause":0.1}"#, &context, Some(Duration::from_millis(300))).await;
    assert_eq!(response.code, Some(ErrorCode::Timeout), "{}", response.text);
    assert!(started.elapsed() >= Duration::from_secs(3) && started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());

    let panics = CallContext { on_progress: Some(Arc::new(|_| panic!("callback"))), ..self::context() };
    assert_eq!(client.call("burst", r#"{"count":2}"#, &panics, None).await.text, "done");
    client.close().await;
}

#[tokio::test]
async fn calls_end_when_nobody_waits_and_the_server_is_told() {
    let client = connect(&[]).await;
    let response = client.call("never", "{}", &context(), Some(Duration::from_millis(100))).await;
    assert_eq!((response.code, response.executed), (Some(ErrorCode::Timeout), true));

    let cancelled = context();
    let token = cancelled.cancelled.clone();
    let (response, ()) = tokio::join!(client.call("slow", r#"{"steps":100,"pause":0.1,"ignore":true}"#, &cancelled, None), async {
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
    other.block_on(async { timeout(GENEROUS, client.close()).await.expect("ends") });
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
