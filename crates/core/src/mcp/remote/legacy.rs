//! HTTP+SSE of revision 2024-11-05: a stream of events that names where to POST messages, and brings every answer.

use super::super::connection::Connection;
use super::super::wire::Undelivered;
use super::session::Seen;
use super::{Mode, Remote, trouble};
use crate::error::{ErrorCode, ToolError};
use crate::http::{Events, HttpError, Url};
use std::sync::OnceLock;

/// Where messages go, once the server has said so.
#[derive(Default)]
pub(super) struct Endpoint {
    url: OnceLock<Url>,
}

impl Endpoint {
    pub(super) fn url(&self) -> Option<Url> {
        self.url.get().cloned()
    }
}

/// The stream, after the endpoint.
pub(super) struct Reading {
    events: Events,
}

impl Remote {
    /// Opens the stream and waits for the endpoint.
    pub(super) async fn open_stream(&self, connection: &Connection) -> Result<Reading, ToolError> {
        let Undelivered::Failed { failure, .. } = (match self.try_stream(connection).await {
            Ok(reading) => return Ok(reading),
            Err(undelivered) => undelivered,
        }) else {
            return Err(ToolError::new(ErrorCode::ConnectionFailed, "the server does not answer"));
        };
        Err(failure.into())
    }

    async fn try_stream(&self, connection: &Connection) -> Result<Reading, Undelivered> {
        let Mode::Events(endpoint) = &self.mode else { return Err(trouble::ended(connection)) };
        let mut renewed = false;
        let reply = loop {
            let token = self.token().await.map_err(|why| trouble::no_token(connection, &why))?;
            if let Some(token) = &token {
                connection.redactor.add(&token.text);
            }
            let request = self.get(&Seen::default(), token.as_ref(), None);
            let reply = request.send().await.map_err(|error| self.unanswered(connection, error))?;
            match (reply.status(), &self.auth, &token) {
                (200, _, _) if reply.has_events() => break reply,
                (200..=299, _, _) => {
                    return Err(trouble::failed(connection, "has no stream of events at this address. Use transport 'http'.", false));
                }
                (401, Some(auth), Some(token)) if !renewed => {
                    renewed = true;
                    auth.refused(token.generation);
                }
                (status, _, _) => return Err(trouble::status(connection, status, reply.retry_after(), self.auth.is_some())),
            }
        };
        let mut events = reply.events();
        loop {
            let event = match events.next().await {
                Ok(Some(event)) => event,
                Ok(None) => return Err(trouble::ended(connection)),
                Err(error) => return Err(self.unanswered(connection, error)),
            };
            if event.kind.as_deref() == Some("endpoint") {
                let url = self.url.join(event.data.trim()).ok().filter(|url| url.origin() == self.url.origin());
                let Some(url) = url else {
                    return Err(trouble::failed(connection, "wants messages to go to another origin, which is refused.", false));
                };
                drop(endpoint.url.set(url));
                return Ok(Reading { events });
            }
        }
    }
}

/// Takes in what the stream brings. Its end is the end of the connection, for everybody who waits.
pub(super) async fn read(remote: &Remote, connection: &Connection, mut reading: Reading) {
    let what = loop {
        match reading.events.next().await {
            Ok(Some(event)) if event.is_message() => connection.accept(event.data.as_bytes(), None),
            Ok(Some(_)) => {}
            Ok(None) => break "ended its stream of events.",
            Err(HttpError::TooLarge) => break "sent a message over the limit: frame too large.",
            Err(_) => break "broke its stream of events off.",
        }
    };
    remote.health.failed();
    let Undelivered::Failed { failure, .. } = trouble::failed(connection, what, true) else { return };
    connection.fail_with(failure);
}
