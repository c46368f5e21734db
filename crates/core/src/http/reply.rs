//! An answer: its head, and its body as text or as events.

use super::local::Answer;
use super::{Events, HttpError, Url};
use hyper::body::Bytes;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use std::fmt;
use std::time::{Duration, SystemTime};

/// Room for a body before any of it came.
const RESERVED: usize = 64 * 1024;

/// The longest time for which a server can want to be left alone.
const LONGEST_WAIT: Duration = Duration::from_secs(u32::MAX as u64);

/// An answer whose body is still to be read.
pub struct Reply {
    body: Body,
    body_bytes: usize,
}

/// The way that it comes.
pub(super) enum Body {
    Web(Box<reqwest::Response>),
    Local(Box<Answer>),
}

/// The status alone: its address may hold a key.
impl fmt::Debug for Reply {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Reply").field("status", &self.status()).finish_non_exhaustive()
    }
}

impl Body {
    /// The next piece; `None` at the end.
    pub(super) async fn chunk(&mut self) -> Result<Option<Bytes>, HttpError> {
        match self {
            Self::Web(response) => Ok(response.chunk().await?),
            Self::Local(answer) => answer.chunk().await,
        }
    }

    fn announced(&self) -> Option<u64> {
        match self {
            Self::Web(response) => response.content_length(),
            Self::Local(answer) => answer.announced(),
        }
    }
}

impl Reply {
    pub(super) fn web(response: reqwest::Response, body_bytes: usize) -> Self {
        Self { body: Body::Web(Box::new(response)), body_bytes }
    }

    pub(super) fn local(answer: Answer, body_bytes: usize) -> Self {
        Self { body: Body::Local(Box::new(answer)), body_bytes }
    }

    fn headers(&self) -> &HeaderMap {
        match &self.body {
            Body::Web(response) => response.headers(),
            Body::Local(answer) => &answer.headers,
        }
    }

    fn url(&self) -> &Url {
        match &self.body {
            Body::Web(response) => response.url(),
            Body::Local(answer) => &answer.url,
        }
    }

    /// The status code.
    pub fn status(&self) -> u16 {
        match &self.body {
            Body::Web(response) => response.status().as_u16(),
            Body::Local(answer) => answer.status,
        }
    }

    /// A header, where it is there once at least and is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers().get(name)?.to_str().ok()
    }

    /// All values of a header that are text.
    pub fn header_values(&self, name: &str) -> impl Iterator<Item = &str> {
        self.headers().get_all(name).into_iter().filter_map(|value| value.to_str().ok())
    }

    /// Where a redirect that was not followed leads.
    pub fn location(&self) -> Option<Url> {
        self.url().join(self.header("location")?).ok()
    }

    /// Whether the body is a stream of events.
    pub fn has_events(&self) -> bool {
        let kind = self.header("content-type").unwrap_or_default();
        kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("text/event-stream"))
    }

    /// The body as events, each of which is held to the cap.
    pub fn events(self) -> Events {
        Events::new(self.body, self.body_bytes)
    }

    /// How long the server wants to be left alone, where it says so.
    pub fn retry_after(&self) -> Option<Duration> {
        let text = self.headers().get(RETRY_AFTER)?.to_str().ok()?.trim();
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
        let announced = self.body.announced().and_then(|length| usize::try_from(length).ok()).unwrap_or(0);
        if announced > cap {
            return Err(HttpError::TooLarge);
        }
        // What is only announced costs nothing yet.
        let mut body = Vec::with_capacity(announced.min(RESERVED));
        while let Some(chunk) = self.body.chunk().await? {
            if body.len() + chunk.len() > cap {
                return Err(HttpError::TooLarge);
            }
            body.extend_from_slice(&chunk);
        }
        Ok(String::from_utf8(body).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }
}
