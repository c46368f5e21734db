//! Servers on this machine that speak HTTP/1.1 without TLS.
//!
//! They answer within microseconds, so what a client for the whole web does for each request would take longer than the rest: there is no
//! proxy and no TLS here, and no compression is asked for. Whoever awaits an answer drives its connection too: no task stands beside it that would have
//! to be woken in between. A connection that waits for its next request is driven by nobody, and looked at before it is used.

mod gunzip;

use super::{Bounds, HttpError, IDLE, Redirects, USER_AGENT, Url, is_loopback};
use gunzip::Gunzip;
use http_body_util::Full;
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::client::conn::http1::{self, Connection, SendRequest};
use hyper::header::{ACCEPT, CONTENT_ENCODING, HOST, HeaderMap, HeaderValue, LOCATION};
use hyper::{Method, Response, Uri};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use std::time::{Duration, Instant};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;

/// Connections that wait for their next request; more are closed.
const MAX_WAITING: usize = 64;

/// Connections to one or more servers on this machine. Cloning shares them.
#[derive(Clone)]
pub(super) struct Pool {
    waiting: Arc<Mutex<Vec<Link>>>,
    connect_timeout: Duration,
    redirects: usize,
}

/// One connection.
struct Link {
    /// Host and port.
    authority: String,
    sender: SendRequest<Full<Bytes>>,
    connection: Connection<TokioIo<TcpStream>, Full<Bytes>>,
    used: Instant,
}

impl Link {
    /// Lets what lies ready on the connection happen. False once it has ended.
    fn drive(&mut self, context: &mut Context<'_>) -> bool {
        Pin::new(&mut self.connection).poll(context).is_pending()
    }

    /// Whether it can be used for another request now.
    fn is_ready(&mut self) -> bool {
        self.drive(&mut Context::from_waker(Waker::noop())) && self.sender.is_ready()
    }
}

impl Pool {
    /// None for redirects that change a request: those are the other client's.
    pub(super) fn new(bounds: Bounds) -> Option<Self> {
        match bounds.redirects {
            Redirects::Repeating(redirects) => Some(Self { waiting: Arc::default(), connect_timeout: bounds.connect_timeout, redirects }),
            Redirects::Near(_) => None,
        }
    }

    /// Whether a URL leads to a server that is reached this way.
    pub(super) fn serves(&self, url: &Url) -> bool {
        url.scheme() == "http" && url.username().is_empty() && url.password().is_none() && is_loopback(url)
    }

    /// Sends a request, again where it is to be repeated at another path, and waits for the head of the answer.
    pub(super) async fn send(&self, method: Method, mut url: Url, headers: HeaderMap, body: Bytes) -> Result<Answer, HttpError> {
        let mut redirected = 0;
        loop {
            let answer = self.exchange(&method, url, headers.clone(), body.clone()).await?;
            let target = answer.headers.get(LOCATION).and_then(|place| answer.url.join(place.to_str().ok()?).ok());
            let again = |to: &Url| Redirects::Repeating(self.redirects).follows(redirected, answer.status, &answer.url, to) == Some(true);
            match target.filter(again) {
                Some(target) => url = target,
                None => return answer.decoded(),
            }
            redirected += 1;
        }
    }

    async fn exchange(&self, method: &Method, url: Url, headers: HeaderMap, body: Bytes) -> Result<Answer, HttpError> {
        let authority = url.authority().to_owned();
        let mut request = Some(request(method, &url, headers, body)?);
        loop {
            let (mut link, is_fresh) = match self.take(&authority) {
                Some(link) => (link, false),
                None => (self.connect(&url, authority.clone()).await?, true),
            };
            let Some(sent) = request.take() else { return Err(HttpError::Broken) };
            match head(&mut link, sent).await {
                Ok(response) => {
                    let (parts, incoming) = response.into_parts();
                    return Ok(Answer {
                        status: parts.status.as_u16(),
                        headers: parts.headers,
                        url,
                        incoming,
                        link: Some(link),
                        pool: self.clone(),
                        gunzip: None,
                    });
                }
                // The server had closed it before any of the request was written.
                Err(Some(unsent)) if !is_fresh => request = Some(unsent),
                Err(_) => return Err(HttpError::Broken),
            }
        }
    }

    /// A connection that was used before. Those that ended or waited for too long are closed.
    fn take(&self, authority: &str) -> Option<Link> {
        let mut waiting = self.waiting.lock();
        waiting.retain(|link| link.used.elapsed() < IDLE);
        while let Some(place) = waiting.iter().rposition(|link| link.authority == authority) {
            let mut link = waiting.remove(place);
            if link.is_ready() {
                return Some(link);
            }
        }
        None
    }

    /// Closes those that wait.
    pub(super) fn clear(&self) {
        self.waiting.lock().clear();
    }

    fn keep(&self, mut link: Link) {
        link.used = Instant::now();
        let mut waiting = self.waiting.lock();
        waiting.retain(|link| link.used.elapsed() < IDLE);
        if waiting.len() < MAX_WAITING {
            waiting.push(link);
        }
    }

    async fn connect(&self, url: &Url, authority: String) -> Result<Link, HttpError> {
        let connecting = async {
            let stream = TcpStream::connect(&*addresses(url).await?).await.map_err(|error| match error.kind() {
                std::io::ErrorKind::ConnectionRefused => HttpError::Refused,
                _ => HttpError::Unreachable,
            })?;
            // Small requests are not to wait for more.
            stream.set_nodelay(true).map_err(|_| HttpError::Unreachable)?;
            let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(|_| HttpError::Broken)?;
            Ok(Link { authority, sender, connection, used: Instant::now() })
        };
        timeout(self.connect_timeout, connecting).await.map_err(|_| HttpError::Late)?
    }
}

/// Those of this machine alone, whatever a name means to the system.
async fn addresses(url: &Url) -> Result<Vec<SocketAddr>, HttpError> {
    let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    let found = lookup_host((host, url.port_or_known_default().unwrap_or(80))).await.map_err(|_| HttpError::Unresolved)?;
    let local: Vec<SocketAddr> = found.filter(|address| address.ip().is_loopback()).collect();
    if local.is_empty() { Err(HttpError::Unresolved) } else { Ok(local) }
}

fn request(method: &Method, url: &Url, headers: HeaderMap, body: Bytes) -> Result<hyper::Request<Full<Bytes>>, HttpError> {
    let target = match url.query() {
        Some(query) => Uri::try_from(format!("{}?{query}", url.path())),
        None => Uri::try_from(url.path()),
    };
    let mut request = hyper::Request::new(Full::new(body));
    *request.method_mut() = method.clone();
    *request.uri_mut() = target.map_err(|_| HttpError::Invalid)?;
    *request.headers_mut() = headers;
    let headers = request.headers_mut();
    headers.insert(HOST, HeaderValue::from_str(url.authority()).map_err(|_| HttpError::Invalid)?);
    headers.entry(hyper::header::USER_AGENT).or_insert(HeaderValue::from_static(USER_AGENT));
    headers.entry(ACCEPT).or_insert(HeaderValue::from_static("*/*"));
    Ok(request)
}

/// Sends a request and waits for the head of the answer. The error is the request, where nothing of it was sent.
async fn head(link: &mut Link, request: hyper::Request<Full<Bytes>>) -> Result<Response<Incoming>, Option<hyper::Request<Full<Bytes>>>> {
    let mut response = pin!(link.sender.try_send_request(request));
    poll_fn(|context| {
        let goes_on = Pin::new(&mut link.connection).poll(context).is_pending();
        match response.as_mut().poll(context) {
            Poll::Ready(result) => Poll::Ready(result.map_err(|mut error| error.take_message())),
            Poll::Pending if goes_on => Poll::Pending,
            Poll::Pending => Poll::Ready(Err(None)),
        }
    })
    .await
}

/// An answer whose body is still to be read. Dropped before its end, it closes the connection.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) url: Url,
    incoming: Incoming,
    /// Until the body has ended.
    link: Option<Link>,
    pool: Pool,
    /// For a server that compresses although nobody asked it to.
    gunzip: Option<Gunzip>,
}

impl Answer {
    fn decoded(mut self) -> Result<Self, HttpError> {
        match self.headers.get(CONTENT_ENCODING).map(HeaderValue::as_bytes) {
            None | Some(b"identity") => Ok(self),
            Some(b"gzip" | b"x-gzip") => {
                self.gunzip = Some(Gunzip::default());
                Ok(self)
            }
            Some(_) => Err(HttpError::Broken),
        }
    }

    /// The length of the body, where it was announced.
    pub(super) fn announced(&self) -> Option<u64> {
        if self.gunzip.is_some() { None } else { self.incoming.size_hint().exact() }
    }

    /// The next piece; `None` at the end.
    pub(super) async fn chunk(&mut self) -> Result<Option<Bytes>, HttpError> {
        loop {
            if let Some(piece) = self.gunzip.as_mut().and_then(Gunzip::next) {
                return piece.map(Some);
            }
            let raw = self.raw_chunk().await?;
            match (&mut self.gunzip, raw) {
                (Some(gunzip), Some(raw)) => gunzip.feed(raw),
                (Some(gunzip), None) => return gunzip.finish(),
                (None, raw) => return Ok(raw),
            }
        }
    }

    /// The next piece as it came.
    async fn raw_chunk(&mut self) -> Result<Option<Bytes>, HttpError> {
        let piece = poll_fn(|context| self.poll_chunk(context)).await?;
        if piece.is_none()
            && let Some(mut link) = self.link.take()
            && link.is_ready()
        {
            self.pool.keep(link);
        }
        Ok(piece)
    }

    fn poll_chunk(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Bytes>, HttpError>> {
        loop {
            // What is asked for here is what the connection then reads.
            if let Poll::Ready(piece) = self.poll_piece(context) {
                return Poll::Ready(piece);
            }
            let Some(link) = &mut self.link else { return Poll::Ready(Err(HttpError::Broken)) };
            if link.drive(context) {
                return self.poll_piece(context);
            }
            self.link = None;
        }
    }

    fn poll_piece(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Bytes>, HttpError>> {
        loop {
            match ready!(Pin::new(&mut self.incoming).poll_frame(context)) {
                None => return Poll::Ready(Ok(None)),
                Some(Err(_)) => return Poll::Ready(Err(HttpError::Broken)),
                Some(Ok(frame)) => {
                    if let Ok(piece) = frame.into_data() {
                        return Poll::Ready(Ok(Some(piece)));
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
