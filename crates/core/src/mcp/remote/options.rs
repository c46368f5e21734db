//! How to reach a server over HTTP.

use super::auth::TokenSource;
use crate::surroundings::{Process, Surroundings};
use std::fmt;
use std::sync::Arc;

/// How messages travel over HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Transport {
    /// Streamable HTTP; where the server knows nothing of it, HTTP+SSE.
    #[default]
    Auto,
    /// Streamable HTTP: each message is a POST, answered by JSON or by a stream of events.
    Http,
    /// HTTP+SSE of revision 2024-11-05: one stream of events brings every answer.
    Sse,
}

/// The address of a server, and what is sent along. Start from [`RemoteOptions::new`] and set what differs.
#[derive(Clone)]
pub struct RemoteOptions {
    /// Where the server is: `https`, or `http` on this machine.
    pub url: String,
    /// How messages travel. Default: found out.
    pub transport: Transport,
    /// Headers of every request. Their values are taken for secrets: they leave for the origin of the address alone and appear nowhere.
    pub headers: Vec<(String, String)>,
    /// Who gives the token of every request, if anybody.
    pub auth: Option<Arc<dyn TokenSource>>,
    /// Whether `http` may leave this machine. Default: no.
    pub allow_insecure_http: bool,
    /// Where proxies and certificates are read from. Default: the process.
    pub surroundings: Arc<dyn Surroundings>,
}

/// Without headers, and without the path of the address, which may hold a key.
impl fmt::Debug for RemoteOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        let mut shown = formatter.debug_struct("RemoteOptions");
        shown.field("transport", &self.transport).field("headers", &names).field("auth", &self.auth.is_some()).finish_non_exhaustive()
    }
}

impl RemoteOptions {
    /// Options with every default.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            transport: Transport::Auto,
            headers: Vec::new(),
            auth: None,
            allow_insecure_http: false,
            surroundings: Arc::new(Process),
        }
    }
}
