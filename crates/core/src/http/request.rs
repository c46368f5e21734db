//! A request that is being put together.

use super::{Client, Headers, HttpError, Reply, Url, headers};
use hyper::body::Bytes;
use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use serde::Serialize;
use std::fmt;

/// A request that is being put together.
pub struct Request<'a> {
    client: &'a Client,
    method: Method,
    url: Url,
    headers: HeaderMap,
    body: Option<Bytes>,
    valid: bool,
}

/// Nothing of it: address, headers and body may hold secrets.
impl fmt::Debug for Request<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Request").finish_non_exhaustive()
    }
}

impl<'a> Request<'a> {
    pub(super) fn new(client: &'a Client, method: Method, url: Url) -> Self {
        Self { client, method, url, headers: HeaderMap::new(), body: None, valid: true }
    }

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
    pub fn json_text(self, body: String) -> Self {
        self.with_body("application/json", body)
    }

    /// Adds a body of JSON.
    #[must_use]
    pub fn json(self, body: &impl Serialize) -> Self {
        match serde_json::to_string(body) {
            Ok(text) => self.json_text(text),
            Err(_) => Self { valid: false, ..self },
        }
    }

    /// Adds the fields of a form as body.
    #[must_use]
    pub fn form(self, fields: &[(&str, &str)]) -> Self {
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        self.with_body("application/x-www-form-urlencoded", body)
    }

    /// Sends it and waits for the head of the answer.
    ///
    /// # Errors
    /// Where no answer comes; an answer of whatever status is none.
    pub async fn send(self) -> Result<Reply, HttpError> {
        if !self.valid {
            return Err(HttpError::Invalid);
        }
        let Self { client, method, url, headers, body, .. } = self;
        if let Some(local) = client.local.as_ref().filter(|local| local.serves(&url)) {
            let answer = local.send(method, url, headers, body.unwrap_or_default()).await?;
            return Ok(Reply::local(answer, client.body_bytes));
        }
        let request = client.web.request(method, url).headers(headers);
        let request = match body {
            Some(body) => request.body(body),
            None => request,
        };
        Ok(Reply::web(request.send().await?, client.body_bytes))
    }

    fn with_body(mut self, kind: &'static str, body: String) -> Self {
        self.headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        Self { body: Some(body.into()), ..self }
    }

    fn with_header(mut self, name: &'static str, value: &str, secret: bool) -> Self {
        match headers::read(name, value, secret) {
            Ok((name, value)) => drop(self.headers.insert(name, value)),
            Err(_) => self.valid = false,
        }
        self
    }
}
