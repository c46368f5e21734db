//! The MCP client over HTTP, with a server on loopback that writes every byte itself.

#![allow(clippy::unwrap_used, clippy::disallowed_types, reason = "a test fails where something is missing, and plays the server")]

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use toolbolt_core::error::ErrorCode;
use toolbolt_core::mcp::{ClientState, ConnectOptions, GivenToken, McpClient, NoToken, RemoteOptions, TokenReason, TokenSource};
use toolbolt_core::response::{Status, ToolResponse};
use toolbolt_core::tool::CallContext;

struct Received {
    verb: String,
    headers: HashMap<String, String>,
    body: Value,
}

impl Received {
    fn method(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }

    fn reply(&self, result: Value) -> String {
        json!({"jsonrpc": "2.0", "id": self.body["id"], "result": result}).to_string()
    }

    fn text(&self, words: &str) -> String {
        self.reply(json!({"content": [{"type": "text", "text": words}]}))
    }
}

/// Pieces that are written one by one, with a pause between them.
type Pieces = Vec<String>;
type Answer = Arc<dyn Fn(&Received) -> Pieces + Send + Sync>;

struct Server {
    url: String,
    connections: Arc<AtomicUsize>,
    seen: Arc<Mutex<Vec<(String, String)>>>,
}

impl Server {
    async fn start(answer: impl Fn(&Received) -> Pieces + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let (connections, seen) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(Vec::new())));
        let answer: Answer = Arc::new(answer);
        let server = Self { url, connections: connections.clone(), seen: seen.clone() };
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                connections.fetch_add(1, Ordering::Relaxed);
                tokio::spawn(talk(stream, answer.clone(), seen.clone()));
            }
        });
        server
    }

    fn count(&self, method: &str) -> usize {
        self.seen.lock().unwrap().iter().filter(|(_, seen)| seen == method).count()
    }

    fn verbs(&self, verb: &str) -> usize {
        self.seen.lock().unwrap().iter().filter(|(seen, _)| seen == verb).count()
    }
}

async fn talk(mut stream: TcpStream, answer: Answer, seen: Arc<Mutex<Vec<(String, String)>>>) {
    stream.set_nodelay(true).unwrap();
    while let Some(request) = read(&mut stream).await {
        seen.lock().unwrap().push((request.verb.clone(), request.method().to_owned()));
        let pieces = answer(&request);
        if pieces.is_empty() {
            return;
        }
        for piece in pieces {
            if stream.write_all(piece.as_bytes()).await.is_err() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
}

async fn read(stream: &mut TcpStream) -> Option<Received> {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end + 4;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let text = String::from_utf8_lossy(&bytes[..head]).into_owned();
    let mut lines = text.lines();
    let verb = lines.next()?.split(' ').next()?.to_owned();
    let headers: HashMap<String, String> =
        lines.filter_map(|line| line.split_once(": ")).map(|(name, value)| (name.to_lowercase(), value.to_owned())).collect();
    let length: usize = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    while bytes.len() < head + length {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    let body = serde_json::from_slice(&bytes[head..head + length]).unwrap_or(Value::Null);
    Some(Received { verb, headers, body })
}

fn http(status: &str, body: &str) -> Pieces {
    vec![format!("HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}", body.len())]
}

fn chunk(text: &str) -> String {
    format!("{:x}\r\n{text}\r\n", text.len())
}

const STREAM: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n";

/// What every server of the older revisions answers, and `call` to calls.
fn legacy(request: &Received, call: impl FnOnce(&Received) -> Pieces) -> Pieces {
    match (request.verb.as_str(), request.method()) {
        ("POST", "initialize") => {
            let body =
                request.reply(json!({"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}}));
            let length = body.len();
            vec![format!(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nMcp-Session-Id: abc\r\nContent-Length: {length}\r\n\r\n{body}"
            )]
        }
        ("POST", "tools/call") => call(request),
        ("POST", "server/discover") => http("404 Not Found", ""),
        ("POST", _) => http("202 Accepted", ""),
        ("DELETE", _) => http("200 OK", ""),
        _ => http("405 Method Not Allowed", ""),
    }
}

async fn connect(url: &str) -> Arc<McpClient> {
    McpClient::connect(ConnectOptions::remote("n", RemoteOptions::new(url))).await.unwrap()
}

fn within(timeout: Duration) -> CallContext {
    CallContext { timeout: Some(timeout), ..context() }
}

fn context() -> CallContext {
    CallContext { call_id: "c".into(), cancelled: CancellationToken::new(), timeout: None, on_progress: None }
}

async fn call(client: &Arc<McpClient>) -> ToolResponse {
    client.call("t", "{}", &within(Duration::from_secs(20))).await
}

#[tokio::test]
async fn one_connection_serves_calls_after_each_other_whatever_form_their_answers_have() {
    let server = Server::start(|request| {
        legacy(request, |request| {
            let event = format!("event: message\r\ndata: {}\r\n\r\n", request.text("streamed"));
            let (one, other) = event.split_at(event.len() / 2);
            vec![STREAM.to_owned(), chunk(": hello\r\n\r\n"), chunk(one), chunk(other), "0\r\n\r\n".to_owned()]
        })
    })
    .await;
    let client = connect(&server.url).await;
    assert_eq!(client.protocol_version(), "2025-06-18");
    for _ in 0..20 {
        assert_eq!(call(&client).await.text, "streamed");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(server.count("tools/call"), 20);
    // The stream of the session may have had one of its own.
    assert!(server.connections.load(Ordering::Relaxed) <= 3, "{}", server.connections.load(Ordering::Relaxed));
    client.close().await;
    assert_eq!(server.verbs("DELETE"), 1);
}

#[tokio::test]
async fn a_dropped_client_ends_its_session() {
    let server = Server::start(|request| legacy(request, |request| http("200 OK", &request.text("x")))).await;
    drop(connect(&server.url).await);
    for _ in 0..200 {
        if server.verbs("DELETE") == 1 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("no DELETE came");
}

#[tokio::test]
async fn a_connection_that_breaks_is_no_reason_to_send_again() {
    let server = Server::start(|request| legacy(request, |_| Vec::new())).await;
    let client = connect(&server.url).await;
    let response = call(&client).await;
    assert_eq!((response.status, response.code, response.executed), (Status::Error, Some(ErrorCode::ConnectionFailed), true));
    assert_eq!(server.count("tools/call"), 1);
    assert_eq!(client.state(), ClientState::Degraded);
}

#[tokio::test]
async fn a_body_that_is_announced_too_long_is_not_read() {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n{";
    let server = Server::start(move |request| legacy(request, |_| vec![head.to_owned()])).await;
    let client = connect(&server.url).await;
    assert_eq!(call(&client).await.code, Some(ErrorCode::ConnectionFailed));
}

#[tokio::test]
async fn failures_in_a_row_are_followed_by_a_pause() {
    let server = Server::start(|request| legacy(request, |_| http("503 Busy", ""))).await;
    let client = connect(&server.url).await;
    let started = std::time::Instant::now();
    for _ in 0..6 {
        call(&client).await;
    }
    assert!(started.elapsed() > Duration::from_millis(300), "{:?}", started.elapsed());
    assert_eq!(server.count("tools/call"), 6);
}

/// Gives `token-1`, `token-2` and so on, slowly.
#[derive(Default)]
struct Counting {
    asked: Arc<Mutex<Vec<TokenReason>>>,
}

impl TokenSource for Counting {
    fn token(&self, _url: &str, reason: TokenReason) -> BoxFuture<'static, Result<GivenToken, NoToken>> {
        let asked = self.asked.clone();
        async move {
            tokio::time::sleep(Duration::from_millis(50)).await;
            let mut asked = asked.lock().unwrap();
            asked.push(reason);
            Ok(GivenToken { text: format!("token-{}", asked.len()), expires: None })
        }
        .boxed()
    }
}

#[tokio::test]
async fn refused_tokens_are_renewed_once_for_all() {
    let valid = Arc::new(AtomicUsize::new(1));
    let expected = valid.clone();
    let server = Server::start(move |request| {
        let token = format!("Bearer token-{}", expected.load(Ordering::Relaxed));
        if request.headers.get("authorization") == Some(&token) {
            legacy(request, |request| http("200 OK", &request.text("in")))
        } else {
            http("401 Unauthorized", "")
        }
    })
    .await;
    let source = Counting::default();
    let asked = source.asked.clone();
    let remote = RemoteOptions { auth: Some(Arc::new(source)), ..RemoteOptions::new(&server.url) };
    let client = McpClient::connect(ConnectOptions::remote("n", remote)).await.unwrap();
    valid.store(2, Ordering::Relaxed);
    let responses = futures_util::future::join_all((0..8).map(|_| call(&client))).await;
    assert!(responses.iter().all(|response| response.text == "in"), "{responses:?}");
    assert_eq!(*asked.lock().unwrap(), [TokenReason::First, TokenReason::Rejected]);
    let shown = format!("{client:?} {:?}", client.options());
    assert!(!shown.contains("token-"), "{shown}");
}

#[tokio::test]
async fn dropping_a_call_ends_its_exchange() {
    let server = Server::start(|request| legacy(request, |_| vec![STREAM.to_owned(), chunk(": wait\n\n")])).await;
    let client = connect(&server.url).await;
    let started = tokio::time::timeout(Duration::from_millis(200), call(&client)).await;
    assert!(started.is_err());
    for _ in 0..200 {
        if server.count("notifications/cancelled") == 1 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the server did not hear of it");
}
