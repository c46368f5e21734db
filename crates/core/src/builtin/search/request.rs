//! Asking one source: its request, a second attempt, its answer.

use super::answer;
use super::found::Found;
use super::options::{Place, is_usable};
use super::reason::Reason;
use super::source::Source;
use crate::http::{Client, HttpError, Reply, Request};
use serde_json::json;
use std::time::Duration;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep};

/// Before a second attempt, where the source does not say how long to wait.
const PAUSE: Duration = Duration::from_millis(500);
/// A source that wants to be left alone for longer is: another one is asked instead.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// What one search asks for.
pub(super) struct Question<'a> {
    pub(super) client: &'a Client,
    pub(super) query: &'a str,
    pub(super) max_results: usize,
    /// When nobody waits for this source any more.
    pub(super) until: Instant,
}

impl Question<'_> {
    /// Asks a source. `key` is the one to use, if there is one.
    pub(super) async fn ask(&self, place: &Place, key: Option<&str>) -> Result<Found, Reason> {
        let key = match (place.source.key_variable(), key) {
            (Some(_), None) => return Err(Reason::NoKey),
            (Some(_), Some(key)) if !is_usable(place.source, key) => return Err(Reason::BadKey),
            (_, key) => key.unwrap_or_default(),
        };
        let reply = self.reply(place, key).await?;
        match (reply.status(), place.source) {
            // An answer to come later, which never comes: what suspected robots get.
            (202, Source::DuckDuckGo) => Err(Reason::Challenge),
            (200..=299, source) => {
                let body = reply.text().await?;
                // On a thread where no connection waits for it.
                spawn_blocking(move || answer::read(source, &body)).await.unwrap_or(Err(Reason::Unreadable))
            }
            (status, _) => Err(Reason::Status(status)),
        }
    }

    /// The first answer, or the second where the first says that another attempt may help.
    async fn reply(&self, place: &Place, key: &str) -> Result<Reply, HttpError> {
        let reply = self.request(place, key).send().await?;
        let pause = reply.retry_after().unwrap_or(PAUSE);
        let is_worth_it = matches!(reply.status(), 429 | 500..=599) && pause <= LONGEST_PAUSE && Instant::now() + pause < self.until;
        if !is_worth_it {
            return Ok(reply);
        }
        drop(reply);
        sleep(pause).await;
        self.request(place, key).send().await
    }

    fn request(&self, place: &Place, key: &str) -> Request<'_> {
        let (client, query, count) = (self.client, self.query, self.max_results.to_string());
        let mut url = place.endpoint.clone();
        match place.source {
            Source::Tavily => client
                .post(url)
                .secret_header("authorization", &format!("Bearer {key}"))
                .json(&json!({ "query": query, "max_results": self.max_results, "include_answer": true })),
            Source::DuckDuckGo => client.post(url).header("accept", "text/html").form(&[("q", query), ("b", ""), ("l", "us-en")]),
            Source::Brave => {
                url.query_pairs_mut().append_pair("q", query).append_pair("count", &count);
                client.get(url).secret_header("x-subscription-token", key).header("accept", "application/json")
            }
            Source::SerpApi => {
                let pairs = [("engine", "google"), ("q", query), ("num", &count), ("api_key", key)];
                url.query_pairs_mut().extend_pairs(pairs);
                client.get(url).header("accept", "application/json")
            }
        }
    }
}
