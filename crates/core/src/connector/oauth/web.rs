//! Requests to authorization servers: bounded in time and size, with no word of the answer in an error.

use super::failure::{Failure, Reason};
use crate::http::{Bounds, Client, HttpError, Redirects, Reply, Request, Url};
use crate::surroundings::Surroundings;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::time::Duration;
use tokio::time::timeout;
use zeroize::Zeroizing;

/// For one request and its answer.
const LIMIT: Duration = Duration::from_secs(30);
const BOUNDS: Bounds = Bounds { connect_timeout: Duration::from_secs(10), redirects: Redirects::Repeating(3), body_bytes: 256 * 1024 };

/// What sends them.
pub(super) struct Web {
    client: Client,
}

/// A status and a body, which may hold secrets and is wiped.
pub(super) struct Answer {
    pub(super) status: u16,
    body: Zeroizing<String>,
}

impl Web {
    pub(super) async fn new(surroundings: &dyn Surroundings) -> Result<Self, Failure> {
        Ok(Self { client: Client::new(BOUNDS, surroundings).await.map_err(unreachable)? })
    }

    pub(super) async fn get(&self, url: &Url) -> Result<Answer, Failure> {
        self.answer(self.client.get(url.clone())).await
    }

    pub(super) async fn post_json(&self, url: &Url, body: &Value) -> Result<Answer, Failure> {
        self.answer(self.client.post(url.clone()).json(body)).await
    }

    /// Posts a form; `basic` is the value of the header `Authorization`.
    pub(super) async fn post_form(&self, url: &Url, form: &[(&str, &str)], basic: Option<&str>) -> Result<Answer, Failure> {
        let request = self.client.post(url.clone()).form(form);
        self.answer(match basic {
            Some(basic) => request.secret_header("authorization", basic),
            None => request,
        })
        .await
    }

    /// The challenges with which a server refuses a request of the protocol that it guards.
    pub(super) async fn challenges(&self, url: &Url) -> Result<Vec<String>, Failure> {
        let ping = r#"{"jsonrpc":"2.0","id":0,"method":"ping"}"#.to_owned();
        let request = self.client.post(url.clone()).header("accept", "application/json, text/event-stream").json_text(ping);
        let reply = in_time(request.send()).await?;
        Ok(if reply.status() == 401 { reply.header_values("www-authenticate").map(str::to_owned).collect() } else { Vec::new() })
    }

    async fn answer(&self, request: Request<'_>) -> Result<Answer, Failure> {
        in_time(async {
            let reply: Reply = request.header("accept", "application/json").send().await?;
            let status = reply.status();
            Ok(Answer { status, body: Zeroizing::new(reply.text().await?) })
        })
        .await
    }
}

impl Answer {
    pub(super) fn is_ok(&self) -> bool {
        matches!(self.status, 200..=299)
    }

    /// A body that is the JSON that it should be.
    pub(super) fn json<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_str(&self.body).ok()
    }

    /// The failure that an answer without a code stands for. `what` says what answered.
    pub(super) fn failure(&self, what: &str) -> Failure {
        match self.status {
            429 | 500.. => Failure::new(Reason::Unreachable, format!("{what} has a fault (status {})", self.status)),
            300..=399 => {
                Failure::new(Reason::Response, format!("{what} redirects to another place (status {}), which is not followed", self.status))
            }
            200..=299 => Failure::new(Reason::Response, format!("{what} gave an answer that cannot be used")),
            _ => Failure::new(Reason::Response, format!("{what} refused (status {})", self.status)),
        }
    }
}

async fn in_time<T>(work: impl Future<Output = Result<T, HttpError>>) -> Result<T, Failure> {
    match timeout(LIMIT, work).await {
        Ok(done) => done.map_err(unreachable),
        Err(_) => Err(Failure::new(Reason::Unreachable, "the server did not answer in time")),
    }
}

fn unreachable(error: HttpError) -> Failure {
    let reason = if error == HttpError::TooLarge { Reason::Response } else { Reason::Unreachable };
    Failure::new(reason, error.to_string())
}
