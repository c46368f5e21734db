//! Listens on this machine for the one request with which a browser comes back from elsewhere.
//!
//! Bound to 127.0.0.1, it answers one path and nothing else. What is asked for beside that, such as an icon, and connections that send
//! nothing, neither block the one that counts nor use it up.

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use std::io;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

/// Bytes of the head of a request.
const MAX_HEAD: usize = 16 * 1024;
/// Headers of a request.
const MAX_HEADERS: usize = 64;
/// Connections that are served at the same time; others wait.
const MAX_CONNECTIONS: usize = 32;
/// How long a request may take to come, and its answer to go.
const PATIENCE: Duration = Duration::from_secs(5);
/// Before a connection is accepted again after that failed.
const PAUSE: Duration = Duration::from_millis(100);

/// What becomes of a request to the path.
#[derive(Debug)]
pub enum Judgement<T> {
    /// It is the awaited one. The page is shown, and nothing is listened for any more.
    Taken(T, Page),
    /// It is another one. The page is shown, and the awaited one is still listened for.
    Passed(Page),
}

/// What the browser shows: a title and a sentence. They go into HTML as they are.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// The status of the answer.
    pub status: u16,
    /// Its title.
    pub title: &'static str,
    /// What it says.
    pub text: &'static str,
}

const NOT_HERE: Page = Page { status: 404, title: "Nothing here", text: "There is nothing at this address." };

/// A port of 127.0.0.1 that is listened at.
#[derive(Debug)]
pub struct Loopback {
    listener: TcpListener,
    port: u16,
}

impl Loopback {
    /// Listens at a port; at 0 the system chooses one.
    ///
    /// # Errors
    /// Where the port is taken or not allowed.
    pub async fn bind(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, port)).await?;
        let port = listener.local_addr()?.port();
        Ok(Self { listener, port })
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Waits for the request that `judge` takes, which is given the query of each GET to the path.
    pub async fn wait<T>(self, path: &str, judge: impl Fn(&str) -> Judgement<T>) -> T {
        let (host, judge) = (format!("127.0.0.1:{}", self.port), &judge);
        let mut serving = FuturesUnordered::new();
        loop {
            let free = serving.len() < MAX_CONNECTIONS;
            tokio::select! {
                served = serving.next(), if !serving.is_empty() => {
                    if let Some(Some(taken)) = served {
                        return taken;
                    }
                }
                accepted = self.listener.accept(), if free => match accepted {
                    Ok((stream, _)) => serving.push(serve(stream, &host, path, judge)),
                    Err(_) => sleep(PAUSE).await,
                },
            }
        }
    }
}

async fn serve<T>(mut stream: TcpStream, host: &str, path: &str, judge: &impl Fn(&str) -> Judgement<T>) -> Option<T> {
    let head = timeout(PATIENCE, read_head(&mut stream)).await.ok()??;
    let (taken, page) = match query(&head, host, path).map(judge) {
        Some(Judgement::Taken(taken, page)) => (Some(taken), page),
        Some(Judgement::Passed(page)) => (None, page),
        None => (None, NOT_HERE),
    };
    let answering = async {
        stream.write_all(page.response().as_bytes()).await?;
        stream.shutdown().await
    };
    // Whether the page arrives changes nothing.
    drop(timeout(PATIENCE, answering).await);
    taken
}

/// The head of a request up to its empty line. `None` for one that is too long or ends before.
async fn read_head(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut head = Vec::with_capacity(1024);
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        if head.len() >= MAX_HEAD || stream.read_buf(&mut head).await.ok()? == 0 {
            return None;
        }
    }
    Some(head)
}

/// The query of a GET to the path at this very host. A name that somebody lets lead to this machine is another host.
pub(crate) fn query<'a>(head: &'a [u8], host: &str, path: &str) -> Option<&'a str> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    if !request.parse(head).ok()?.is_complete() || request.method != Some("GET") {
        return None;
    }
    let mut hosts = request.headers.iter().filter(|header| header.name.eq_ignore_ascii_case("host"));
    if hosts.next()?.value != host.as_bytes() || hosts.next().is_some() {
        return None;
    }
    let (found, query) = request.path?.split_once('?').unwrap_or((request.path?, ""));
    (found == path).then_some(query)
}

impl Page {
    fn response(self) -> String {
        let Self { status, title, text } = self;
        let body = format!(
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>{title}</title>\
             <body style=\"font:1.1em sans-serif;max-width:32em;margin:4em auto;padding:0 1em\"><h1>{title}</h1><p>{text}</p></body></html>"
        );
        let reason = if status == 200 { "OK" } else { "Refused" };
        format!(
            "HTTP/1.1 {status} {reason}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
             Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'\r\nReferrer-Policy: no-referrer\r\n\
             X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n{body}",
            body.len()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn asked(line: &str, host: &str) -> Option<String> {
        let head = format!("{line}\r\nHost: {host}\r\nAccept: */*\r\n\r\n");
        query(head.as_bytes(), "127.0.0.1:81", "/callback").map(str::to_owned)
    }

    #[test]
    fn only_a_get_to_the_path_counts() {
        assert_eq!(asked("GET /callback?code=a&state=b HTTP/1.1", "127.0.0.1:81").as_deref(), Some("code=a&state=b"));
        assert_eq!(asked("GET /callback HTTP/1.1", "127.0.0.1:81").as_deref(), Some(""));
        for line in [
            "GET /favicon.ico HTTP/1.1",
            "GET /callback/?code=a HTTP/1.1",
            "GET /callback%2f?code=a HTTP/1.1",
            "GET //callback?code=a HTTP/1.1",
            "GET http://127.0.0.1:81/callback?code=a HTTP/1.1",
            "POST /callback?code=a HTTP/1.1",
            "GET /callback?code=a",
            "",
        ] {
            assert_eq!(asked(line, "127.0.0.1:81"), None, "{line}");
        }
        for host in ["evil.example", "127.0.0.1", "localhost:81", "127.0.0.1:81\r\nHost: 127.0.0.1:81"] {
            assert_eq!(asked("GET /callback?code=a HTTP/1.1", host), None, "{host}");
        }
    }

    proptest! {
        #[test]
        fn no_request_is_too_odd(head in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = query(&head, "127.0.0.1:81", "/callback");
        }
    }
}
