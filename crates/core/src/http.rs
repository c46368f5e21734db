//! The one client for HTTP, and its bounds.
//!
//! - A redirect is followed only within its origin, or from `http` to `https` on the same host: neither a key nor a query reaches
//!   another host, and no answer leads into a private network.
//! - No name leads to the addresses under which clouds hand out the credentials of a machine.
//! - A body is read up to a cap that counts decompressed bytes; what is longer is refused without being read.
//! - Errors are kinds without words of the other side: no address, no header, no part of a body.
//!
//! Proxies are those of `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`; loopback addresses are always reached directly, those
//! without TLS over a way of their own: see [`local`].
//! Certificates are trusted as the system says; see [`tls`].

#![expect(clippy::disallowed_types, reason = "this is the door")]

mod error;
mod events;
mod headers;
mod local;
mod loopback;
mod proxy;
mod reply;
mod request;
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
pub use reply::Reply;
pub use request::Request;
pub use reqwest::Url;
pub use resolve::{is_loopback, is_metadata, leads_here};
pub use secrets::Secrets;

use crate::surroundings::Surroundings;
use reqwest::{Method, redirect};
use std::fmt;
use std::time::Duration;

const USER_AGENT: &str = concat!("Mozilla/5.0 (compatible; toolbolt/", env!("CARGO_PKG_VERSION"), ")");

/// An unused connection is closed after this: many servers close theirs after five seconds, and a request that is just then on its way
/// would be lost.
const IDLE: Duration = Duration::from_secs(4);

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
    web: reqwest::Client,
    /// None where redirects change requests.
    local: Option<local::Pool>,
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
        let web = proxies.into_iter().fold(builder, reqwest::ClientBuilder::proxy).build()?;
        Ok(Self { web, local: local::Pool::new(bounds), body_bytes: bounds.body_bytes })
    }

    /// Closes connections to this machine that wait for a request; others close by themselves after some seconds.
    pub fn rest(&self) {
        if let Some(local) = &self.local {
            local.clear();
        }
    }

    /// A request that has no body.
    pub fn get(&self, url: Url) -> Request<'_> {
        Request::new(self, Method::GET, url)
    }

    /// A request that has one.
    pub fn post(&self, url: Url) -> Request<'_> {
        Request::new(self, Method::POST, url)
    }

    /// A request to remove something.
    pub fn delete(&self, url: Url) -> Request<'_> {
        Request::new(self, Method::DELETE, url)
    }
}

impl Redirects {
    /// Whether the next one is followed, after `before` others. `None` where the answer itself is wanted instead.
    fn follows(self, before: usize, status: u16, from: &Url, to: &Url) -> Option<bool> {
        match self {
            Self::Near(most) => Some(before < most && stays(from, to)),
            Self::Repeating(most) => {
                let repeats = matches!(status, 307 | 308) && from.origin() == to.origin();
                (before < most && repeats).then_some(true)
            }
        }
    }
}

fn redirects(followed: Redirects) -> redirect::Policy {
    redirect::Policy::custom(move |attempt| {
        // The first of them is no redirect.
        let before = attempt.previous().len().saturating_sub(1);
        let follows = attempt.previous().last().map(|from| followed.follows(before, attempt.status().as_u16(), from, attempt.url()));
        match follows {
            Some(Some(true)) => attempt.follow(),
            // The answer itself then says where it would have led.
            Some(None) => attempt.stop(),
            _ => attempt.error("a redirect that is not followed"),
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
