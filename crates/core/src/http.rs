//! The one client for HTTP, and its bounds.
//!
//! - A redirect is followed only within its origin, or from `http` to `https` on the same host: neither a key nor a query reaches
//!   another host, and no answer leads into a private network.
//! - No name leads to the addresses under which clouds hand out the credentials of a machine.
//! - A body is read up to a cap that counts decompressed bytes; what is longer is refused without being read.
//! - Errors are kinds without words of the other side: no address, no header, no part of a body.
//!
//! Proxies are those of `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`; loopback addresses are always reached directly.
//! Certificates are trusted as the system says; see [`tls`].

#![expect(clippy::disallowed_types, reason = "this is the door")]

mod error;
mod events;
mod headers;
mod loopback;
mod proxy;
mod resolve;
mod secrets;
mod tls;

pub use error::HttpError;
#[cfg(any(test, fuzzing))]
pub(crate) use events::EventParser;
pub use events::{Event, Events};
pub use headers::Headers;
#[cfg(any(test, fuzzing))]
pub(crate) use loopback::query;
pub use loopback::{Judgement, Loopback, Page};
pub use reqwest::Url;
pub use resolve::{is_loopback, is_metadata};
pub use secrets::Secrets;

use crate::surroundings::Surroundings;
use reqwest::header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use reqwest::redirect;
use serde::Serialize;
use std::fmt;
use std::time::{Duration, SystemTime};

const USER_AGENT: &str = concat!("Mozilla/5.0 (compatible; toolbolt/", env!("CARGO_PKG_VERSION"), ")");

/// An unused connection is closed after this: many servers close theirs after five seconds, and a request that is just then on its way
/// would be lost.
const IDLE: Duration = Duration::from_secs(4);

/// Room for a body before any of it came.
const RESERVED: usize = 64 * 1024;

/// The longest time for which a server can want to be left alone.
const LONGEST_WAIT: Duration = Duration::from_secs(u32::MAX as u64);

/// What a client is held to.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Time to reach a server, its name and TLS included. The time of a whole request is bounded by whoever awaits it.
    pub connect_timeout: Duration,
    /// Which redirects are followed.
    pub redirects: Redirects,
    /// Bytes of a body, after decompression; of a stream of events those of one event.
    pub body_bytes: usize,
}

/// Which redirects are followed, and how many of them.
#[derive(Clone, Copy, Debug)]
pub enum Redirects {
    /// Those within the origin, or to `https` on the same host. After some of them the request is a GET.
    Near(usize),
    /// Those within the origin that repeat the request as it is: status 307 and 308. Any other is an answer like the rest.
    Repeating(usize),
}

/// A client with its pool of connections. Cloning shares the pool.
#[derive(Clone)]
pub struct Client {
    inner: reqwest::Client,
    body_bytes: usize,
}

/// Without its proxies, whose addresses may hold passwords.
impl fmt::Debug for Client {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Client").field("body_bytes", &self.body_bytes).finish_non_exhaustive()
    }
}

impl Client {
    /// A client, on the tokio runtime of the caller. Root certificates are read once for the process, on a thread of their own.
    ///
    /// # Errors
    /// Where a proxy of the environment is no URL.
    pub async fn new(bounds: Bounds, surroundings: &dyn Surroundings) -> Result<Self, HttpError> {
        let tls = tls::config(surroundings).await?;
        let builder = reqwest::Client::builder()
            .tls_backend_preconfigured(tls)
            .user_agent(USER_AGENT)
            .connect_timeout(bounds.connect_timeout)
            .redirect(redirects(bounds.redirects))
            // A query may hold a key.
            .referer(false)
            .pool_idle_timeout(IDLE)
            .dns_resolver(resolve::Resolver)
            // Those of the environment alone, which are added below: never settings of the desktop.
            .no_proxy();
        let proxies = proxy::of_environment(surroundings).await?;
        let inner = proxies.into_iter().fold(builder, reqwest::ClientBuilder::proxy).build()?;
        Ok(Self { inner, body_bytes: bounds.body_bytes })
    }

    /// A request that has no body.
    pub fn get(&self, url: Url) -> Request {
        self.request(self.inner.get(url))
    }

    /// A request that has one.
    pub fn post(&self, url: Url) -> Request {
        self.request(self.inner.post(url))
    }

    /// A request to remove something.
    pub fn delete(&self, url: Url) -> Request {
        self.request(self.inner.delete(url))
    }

    fn request(&self, inner: reqwest::RequestBuilder) -> Request {
        Request { inner, headers: HeaderMap::new(), body_bytes: self.body_bytes, valid: true }
    }
}

/// A request that is being put together.
pub struct Request {
    inner: reqwest::RequestBuilder,
    headers: HeaderMap,
    body_bytes: usize,
    valid: bool,
}

/// Nothing of it: address, headers and body may hold secrets.
impl fmt::Debug for Request {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Request").finish_non_exhaustive()
    }
}

impl Request {
    /// Adds a header.
    #[must_use]
    pub fn header(self, name: &'static str, value: &str) -> Self {
        self.with_header(name, value, false)
    }

    /// Adds a header that no log shows and no table of a connection keeps.
    #[must_use]
    pub fn secret_header(self, name: &'static str, value: &str) -> Self {
        self.with_header(name, value, true)
    }

    /// Adds headers that were put together before.
    #[must_use]
    pub fn headers(mut self, headers: &Headers) -> Self {
        headers.add_to(&mut self.headers);
        self
    }

    /// Adds a body that is JSON already.
    #[must_use]
    pub fn json_text(mut self, body: String) -> Self {
        self.headers.insert(CONTENT_TYPE, reqwest::header::HeaderValue::from_static("application/json"));
        Self { inner: self.inner.body(body), ..self }
    }

    /// Adds a body of JSON.
    #[must_use]
    pub fn json(self, body: &impl Serialize) -> Self {
        Self { inner: self.inner.json(body), ..self }
    }

    /// Adds the fields of a form as body.
    #[must_use]
    pub fn form(self, fields: &[(&str, &str)]) -> Self {
        Self { inner: self.inner.form(fields), ..self }
    }

    /// Sends it and waits for the head of the answer.
    ///
    /// # Errors
    /// Where no answer comes; an answer of whatever status is none.
    pub async fn send(self) -> Result<Reply, HttpError> {
        if !self.valid {
            return Err(HttpError::Invalid);
        }
        let inner = self.inner.headers(self.headers).send().await?;
        Ok(Reply { inner, body_bytes: self.body_bytes })
    }

    fn with_header(mut self, name: &'static str, value: &str, secret: bool) -> Self {
        match headers::read(name, value, secret) {
            Ok((name, value)) => drop(self.headers.insert(name, value)),
            Err(_) => self.valid = false,
        }
        self
    }
}

/// An answer whose body is still to be read.
pub struct Reply {
    inner: reqwest::Response,
    body_bytes: usize,
}

/// The status alone: its address may hold a key.
impl fmt::Debug for Reply {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Reply").field("status", &self.status()).finish_non_exhaustive()
    }
}

impl Reply {
    /// The status code.
    pub fn status(&self) -> u16 {
        self.inner.status().as_u16()
    }

    /// A header, where it is there once at least and is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.inner.headers().get(name)?.to_str().ok()
    }

    /// All values of a header that are text.
    pub fn header_values(&self, name: &str) -> impl Iterator<Item = &str> {
        self.inner.headers().get_all(name).into_iter().filter_map(|value| value.to_str().ok())
    }

    /// Where a redirect that was not followed leads.
    pub fn location(&self) -> Option<Url> {
        self.inner.url().join(self.header("location")?).ok()
    }

    /// Whether the body is a stream of events.
    pub fn has_events(&self) -> bool {
        let kind = self.header("content-type").unwrap_or_default();
        kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("text/event-stream"))
    }

    /// The body as events, each of which is held to the cap.
    pub fn events(self) -> Events {
        Events::new(self.inner, self.body_bytes)
    }

    /// How long the server wants to be left alone, where it says so.
    pub fn retry_after(&self) -> Option<Duration> {
        let text = self.inner.headers().get(RETRY_AFTER)?.to_str().ok()?.trim();
        match text.parse() {
            Ok(seconds) => Some(Duration::from_secs(seconds)),
            Err(_) => {
                let date = httpdate::parse_http_date(text).ok()?;
                Some(date.duration_since(SystemTime::now()).unwrap_or_default())
            }
        }
        // More is no time that anybody waits, and its milliseconds are beyond what a number of JavaScript can be.
        .map(|wait| wait.min(LONGEST_WAIT))
    }

    /// The body as text; bytes that are no UTF-8 become U+FFFD.
    ///
    /// # Errors
    /// [`HttpError::TooLarge`] beyond the cap; where the connection breaks or the compression is wrong.
    pub async fn text(mut self) -> Result<String, HttpError> {
        let cap = self.body_bytes;
        let announced = self.inner.content_length().and_then(|length| usize::try_from(length).ok()).unwrap_or(0);
        if announced > cap {
            return Err(HttpError::TooLarge);
        }
        // What is only announced costs nothing yet.
        let mut body = Vec::with_capacity(announced.min(RESERVED));
        while let Some(chunk) = self.inner.chunk().await? {
            if body.len() + chunk.len() > cap {
                return Err(HttpError::TooLarge);
            }
            body.extend_from_slice(&chunk);
        }
        Ok(String::from_utf8(body).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }
}

fn redirects(followed: Redirects) -> redirect::Policy {
    redirect::Policy::custom(move |attempt| {
        let from = attempt.previous().last();
        let (most, near) = match followed {
            Redirects::Near(most) => (most, from.is_some_and(|from| stays(from, attempt.url()))),
            Redirects::Repeating(most) => {
                let repeats = matches!(attempt.status().as_u16(), 307 | 308);
                (most, repeats && from.is_some_and(|from| from.origin() == attempt.url().origin()))
            }
        };
        let allowed = attempt.previous().len() <= most && near;
        match followed {
            _ if allowed => attempt.follow(),
            // The answer itself then says where it would have led.
            Redirects::Repeating(_) => attempt.stop(),
            Redirects::Near(_) => attempt.error("a redirect that is not followed"),
        }
    })
}

/// Whether a redirect stays where it was: in its origin, or on its host and then encrypted.
fn stays(from: &Url, to: &Url) -> bool {
    let encrypts = from.scheme() == "http" && to.scheme() == "https" && from.port().is_none() && to.port().is_none();
    from.host() == to.host() && (encrypts || from.origin() == to.origin())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirects_stay_in_their_origin_or_become_encrypted() {
        let follows = |from: &str, to: &str| stays(&Url::parse(from).unwrap(), &Url::parse(to).unwrap());
        assert!(follows("https://a.example/x", "https://a.example/y?z"));
        assert!(follows("http://a.example/x", "https://a.example/x"));
        assert!(follows("http://127.0.0.1:81/x", "http://127.0.0.1:81/y"));
        for (from, to) in [
            ("https://a.example/x", "http://a.example/x"),
            ("https://a.example/x", "https://b.example/x"),
            ("https://a.example/x", "https://www.a.example/x"),
            ("https://a.example/x", "https://a.example:444/x"),
            ("http://a.example:81/x", "https://a.example/x"),
            ("https://a.example/x", "http://169.254.169.254/"),
            ("https://a.example/x", "file:///etc/passwd"),
            ("http://127.0.0.1:81/x", "http://localhost:81/x"),
        ] {
            assert!(!follows(from, to), "{from} {to}");
        }
    }
}
