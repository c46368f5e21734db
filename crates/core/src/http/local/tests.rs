//! Against sockets that say exactly what a test wants.

use super::super::{Bounds, Client, HttpError, Redirects, Url};
use super::MAX_WAITING;
use crate::surroundings::Process;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

const BOUNDS: Bounds = Bounds { connect_timeout: Duration::from_secs(10), redirects: Redirects::Repeating(3), body_bytes: 1_000_000 };
const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

async fn client() -> Client {
    Client::new(BOUNDS, &Process).await.unwrap()
}

/// A server that gives each connection to `serve`, with its number. Its address, and how many there were.
async fn server<F>(serve: impl Fn(TcpStream, usize) -> F + Send + 'static) -> (Url, Arc<AtomicUsize>)
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = Url::parse(&format!("http://{}/mcp?a=b", listener.local_addr().unwrap())).unwrap();
    let (connections, counted) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let count = counted.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            count.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(serve(stream, connections.fetch_add(1, Ordering::SeqCst)));
        }
    });
    (url, counted)
}

/// The head and body of the next request; `None` once the client has closed.
async fn request(stream: &mut TcpStream) -> Option<String> {
    let mut text = Vec::new();
    loop {
        let mut piece = [0; 4096];
        let read = stream.read(&mut piece).await.ok().filter(|read| *read > 0)?;
        text.extend_from_slice(&piece[..read]);
        let shown = String::from_utf8_lossy(&text).into_owned();
        if let Some((head, body)) = shown.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).map_or(0, |length| length.parse().unwrap());
            if body.len() >= length {
                return Some(shown);
            }
        }
    }
}

/// Answers every request of a connection with the same.
async fn always(mut stream: TcpStream, answer: &'static str) {
    while request(&mut stream).await.is_some() {
        stream.write_all(answer.as_bytes()).await.unwrap();
    }
}

#[tokio::test]
async fn one_connection_serves_one_request_after_the_other() {
    let (url, connections) = server(|stream, _| always(stream, OK)).await;
    let client = client().await;
    for _ in 0..20 {
        let reply = client.post(url.clone()).json_text("{}".to_owned()).send().await.unwrap();
        assert_eq!((reply.status(), reply.text().await.unwrap()), (200, "ok".to_owned()));
    }
    assert_eq!(connections.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn the_request_is_as_the_protocol_wants_it() {
    let (url, _) = server(|mut stream, _| async move {
        let text = request(&mut stream).await.unwrap();
        stream.write_all(format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{text}", text.len()).as_bytes()).await.unwrap();
    })
    .await;
    let host = format!("host: {}:{}\r\n", url.host_str().unwrap(), url.port().unwrap());
    let sent = client().await.post(url).header("x-a", "b").json_text("{\"c\":1}".to_owned()).send().await.unwrap().text().await.unwrap();
    assert!(sent.starts_with("POST /mcp?a=b HTTP/1.1\r\n") && sent.ends_with("\r\n\r\n{\"c\":1}"), "{sent}");
    for line in [&*host, "x-a: b\r\n", "content-type: application/json\r\n", "content-length: 7\r\n", "accept: */*\r\n", "user-agent: "] {
        assert!(sent.contains(line), "{line} in {sent}");
    }
}

#[tokio::test]
async fn requests_at_the_same_time_have_connections_of_their_own() {
    let (url, connections) = server(|stream, _| always(stream, OK)).await;
    let client = client().await;
    let all = (0..MAX_WAITING + 20).map(|_| client.get(url.clone()).send());
    let replies = futures_util::future::join_all(all).await;
    for reply in replies {
        assert_eq!(reply.unwrap().text().await.unwrap(), "ok");
    }
    assert!(connections.load(Ordering::SeqCst) > 1);
    assert!(client.local.as_ref().unwrap().waiting.lock().len() <= MAX_WAITING);
}

#[tokio::test]
async fn a_connection_that_the_server_closed_meanwhile_is_not_used() {
    let (url, connections) = server(|mut stream, _| async move {
        request(&mut stream).await;
        stream.write_all(OK.as_bytes()).await.unwrap();
    })
    .await;
    let client = client().await;
    for _ in 0..5 {
        assert_eq!(client.get(url.clone()).send().await.unwrap().text().await.unwrap(), "ok");
        // The end of a connection takes a moment to come.
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(connections.load(Ordering::SeqCst), 5);
}

#[tokio::test]
async fn a_request_that_may_have_been_read_is_not_sent_twice() {
    let (url, connections) = server(|mut stream, number| async move {
        request(&mut stream).await;
        if number == 0 {
            stream.write_all(OK.as_bytes()).await.unwrap();
            request(&mut stream).await;
        }
    })
    .await;
    let client = client().await;
    client.get(url.clone()).send().await.unwrap().text().await.unwrap();
    assert_eq!(client.get(url).send().await.unwrap_err(), HttpError::Broken);
    assert_eq!(connections.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn bodies_come_in_whatever_form() {
    for (answer, text) in [
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n", Ok("abc")),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n0\r\nx-trailer: y\r\n\r\n", Ok("ab")),
        ("HTTP/1.0 200 OK\r\n\r\nto the end", Ok("to the end")),
        ("HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n", Ok("")),
        ("HTTP/1.1 204 No Content\r\n\r\n", Ok("")),
        ("HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx", Ok("x")),
        ("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nshort", Err(HttpError::Broken)),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", Err(HttpError::Broken)),
        ("HTTP/1.1 200 OK\r\ncontent-length: 1000001\r\n\r\n", Err(HttpError::TooLarge)),
    ] {
        let (url, _) = server(move |mut stream, _| async move {
            request(&mut stream).await;
            stream.write_all(answer.as_bytes()).await.unwrap();
        })
        .await;
        let reply = client().await.get(url).send().await.unwrap();
        assert_eq!(reply.text().await, text.map(str::to_owned), "{answer}");
    }
}

#[tokio::test]
async fn what_is_no_answer_is_an_error() {
    for answer in ["", "nonsense\r\n\r\n", "HTTP/1.1 200 OK\r\ncontent-encoding: br\r\ncontent-length: 1\r\n\r\nx", "HTTP/1.1 200 O"] {
        let (url, _) = server(move |mut stream, _| async move {
            request(&mut stream).await;
            stream.write_all(answer.as_bytes()).await.unwrap();
        })
        .await;
        assert_eq!(client().await.get(url).send().await.unwrap_err(), HttpError::Broken, "{answer}");
    }
}

#[tokio::test]
async fn the_end_of_a_body_that_nobody_reads_closes_the_connection() {
    let (closed, told) = tokio::sync::oneshot::channel();
    let closed = std::sync::Mutex::new(Some(closed));
    let (url, _) = server(move |mut stream, _| {
        let closed = closed.lock().unwrap().take();
        async move {
            request(&mut stream).await;
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nbegun").await.unwrap();
            let ended = request(&mut stream).await.is_none();
            let _ = closed.map(|closed| closed.send(ended));
        }
    })
    .await;
    let client = client().await;
    drop(client.get(url).send().await.unwrap());
    assert!(timeout(Duration::from_secs(20), told).await.unwrap().unwrap());
}

#[tokio::test]
async fn only_what_repeats_a_request_within_the_origin_is_followed() {
    let (url, _) = server(|mut stream, _| async move {
        while let Some(text) = request(&mut stream).await {
            let (from, to) = match text.split(' ').nth(1).unwrap() {
                "/mcp?a=b" => ("308 Permanent Redirect", "/second"),
                "/second" => ("307 Temporary Redirect", "third"),
                "/third" => ("302 Found", "/fourth"),
                path => panic!("{path}"),
            };
            let answer = format!("HTTP/1.1 {from}\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n");
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    })
    .await;
    let reply = client().await.post(url.clone()).json_text("{}".to_owned()).send().await.unwrap();
    assert_eq!((reply.status(), reply.location()), (302, Some(url.join("/fourth").unwrap())));

    let (elsewhere, reached) = server(|stream, _| always(stream, OK)).await;
    let answer = format!("HTTP/1.1 307 Temporary Redirect\r\nlocation: {elsewhere}\r\ncontent-length: 0\r\n\r\n");
    let answer: &'static str = Box::leak(answer.into_boxed_str());
    let (url, _) = server(move |stream, _| always(stream, answer)).await;
    assert_eq!(client().await.get(url).send().await.unwrap().status(), 307);
    assert_eq!(reached.load(Ordering::SeqCst), 0);

    let (url, asked) = server(|stream, _| always(stream, "HTTP/1.1 307 Again\r\nlocation: /mcp\r\ncontent-length: 0\r\n\r\n")).await;
    assert_eq!(client().await.get(url).send().await.unwrap().status(), 307);
    assert!(asked.load(Ordering::SeqCst) <= 4);
}

#[tokio::test]
async fn nobody_at_the_port_is_told_apart() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    for host in ["127.0.0.1", "localhost"] {
        let url = Url::parse(&format!("http://{host}:{port}/")).unwrap();
        assert_eq!(client().await.get(url).send().await.unwrap_err(), HttpError::Refused, "{host}");
    }
}

#[tokio::test]
async fn connections_that_wait_are_closed_on_demand() {
    let (closed, told) = tokio::sync::oneshot::channel();
    let closed = std::sync::Mutex::new(Some(closed));
    let (url, _) = server(move |stream, _| {
        let closed = closed.lock().unwrap().take();
        async move {
            always(stream, OK).await;
            let _ = closed.map(|closed| closed.send(()));
        }
    })
    .await;
    let client = client().await;
    client.get(url).send().await.unwrap().text().await.unwrap();
    client.rest();
    timeout(Duration::from_secs(20), told).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_compressed_body_is_unpacked_up_to_the_cap() {
    let packed = |text: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    };
    let (text, half) = (packed(b"unpacked"), packed(b"unpacked"));
    let half = half.split_at(half.len() - 6).0.to_vec();
    let two = [packed(b"un"), packed(b"packed")].concat();
    for (body, wanted) in [
        (text, Ok("unpacked".to_owned())),
        (two, Ok("unpacked".to_owned())),
        (Vec::new(), Ok(String::new())),
        (half, Err(HttpError::Broken)),
        (b"no gzip".to_vec(), Err(HttpError::Broken)),
        (packed(&vec![0; 200_000_000]), Err(HttpError::TooLarge)),
    ] {
        let (url, _) = server(move |mut stream, _| {
            let body = body.clone();
            async move {
                request(&mut stream).await;
                let head = format!("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n", body.len());
                stream.write_all(head.as_bytes()).await.unwrap();
                let _ = stream.write_all(&body).await;
            }
        })
        .await;
        let reply = client().await.get(url).send().await.unwrap();
        assert_eq!(reply.text().await, wanted);
    }
}
