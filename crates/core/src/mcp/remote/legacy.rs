//! HTTP+SSE of revision 2024-11-05: a stream of events that names where to POST messages, and brings every answer.

use super::super::connection::Connection;
use super::super::wire::Undelivered;
use super::session::Seen;
use super::{Remote, trouble};
use crate::error::{ErrorCode, ToolError};
use crate::http::{Events, HttpError, Url};
use parking_lot::Mutex;
use std::sync::OnceLock;
use tokio::sync::oneshot;

/// Where messages go, once the server has said so.
pub(super) struct Endpoint {
    url: OnceLock<Url>,
    /// The way of the stream from whoever opens it to whoever reads it.
    opened: Mutex<Option<oneshot::Sender<Events>>>,
    reading: Mutex<Option<oneshot::Receiver<Events>>>,
}

impl Default for Endpoint {
    fn default() -> Self {
        let (sender, receiver) = oneshot::channel();
        Self { url: OnceLock::new(), opened: Mutex::new(Some(sender)), reading: Mutex::new(Some(receiver)) }
    }
}

impl Endpoint {
    pub(super) fn url(&self) -> Option<Url> {
        self.url.get().cloned()
    }

    /// Opens the stream and waits for the endpoint.
    pub(super) async fn open(&self, remote: &Remote, connection: &Connection) -> Result<(), ToolError> {
        // Dropped where it fails, which tells the reader.
        let opened = self.opened.lock().take();
        match self.stream(remote, connection).await {
            Ok(events) => {
                // Without a reader the connection is over, and whoever waits for it knows.
                if let Some(opened) = opened {
                    drop(opened.send(events));
                }
                Ok(())
            }
            Err(Undelivered::Failed { failure, .. }) => Err(failure.into()),
            Err(Undelivered::Blocked) => Err(ToolError::new(ErrorCode::ConnectionFailed, "The server takes nothing in.")),
        }
    }

    async fn stream(&self, remote: &Remote, connection: &Connection) -> Result<Events, Undelivered> {
        let mut renewed = false;
        let reply = loop {
            let token = remote.token().await.map_err(|why| trouble::no_token(connection, &why))?;
            if let Some(token) = &token {
                connection.redactor.add_token(&token.text);
            }
            let request = remote.get(&Seen::default(), token.as_ref(), None);
            let reply = request.send().await.map_err(|error| remote.unanswered(connection, error))?;
            match (reply.status(), &remote.auth, &token) {
                (200, _, _) if reply.has_events() => break reply,
                (status @ (200..=299 | 400 | 405 | 406), _, _) => return Err(trouble::no_stream(connection, status)),
                (401, Some(auth), Some(token)) if !renewed => {
                    renewed = true;
                    auth.refused(token.generation);
                }
                _ => return Err(trouble::status(connection, remote, &trouble::Answer::of(&reply))),
            }
        };
        let mut events = reply.events();
        loop {
            let event = match events.next().await {
                Ok(Some(event)) => event,
                Ok(None) => return Err(trouble::ended(connection)),
                Err(error) => return Err(remote.unanswered(connection, error)),
            };
            if event.kind.as_deref() == Some("endpoint") {
                // A user name in it would be sent as credentials of ours.
                let fits = |url: &Url| url.origin() == remote.url.origin() && url.username().is_empty() && url.password().is_none();
                let url = remote.url.join(event.data.trim()).ok().filter(fits);
                let Some(url) = url else {
                    return Err(trouble::failed(connection, "wants messages to go to another origin, which is refused", "", false));
                };
                drop(self.url.set(url));
                return Ok(events);
            }
        }
    }

    /// Takes in what the stream brings. Its end is the end of the connection, for everybody who waits.
    pub(super) async fn read(&self, remote: &Remote, connection: &Connection) {
        let Some(reading) = self.reading.lock().take() else { return };
        let Ok(mut events) = reading.await else { return };
        let what = loop {
            match events.next().await {
                Ok(Some(event)) if event.is_message() => connection.accept(event.data.as_bytes(), None),
                Ok(Some(_)) => {}
                Ok(None) => break "ended its stream of events",
                Err(HttpError::TooLarge) => break "sent a message over the limit: frame too large",
                Err(_) => break "broke its stream of events off",
            }
        };
        remote.health.failed();
        let Undelivered::Failed { failure, .. } = trouble::failed(connection, what, "", true) else { return };
        connection.fail_with(failure);
    }
}
