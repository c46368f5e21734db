//! What carries messages to a server: the pipe to its process, or requests over HTTP.

use super::connection::{Connection, Failure};
use super::outbox::{Outbox, Refused};
use super::remote::Remote;
use crate::http::Headers;
use std::sync::Arc;

/// The way to a server.
#[derive(Debug)]
pub(super) enum Wire {
    Pipe(Outbox),
    Remote(Arc<Remote>),
}

/// A message on its way out.
pub(super) struct Outgoing<'a> {
    /// The JSON of it, without line feeds.
    pub(super) frame: String,
    /// The id, if it is a request.
    pub(super) id: Option<u64>,
    pub(super) method: &'a str,
    /// The remote name of the tool that is called.
    pub(super) name: Option<&'a str>,
    /// Arguments that travel as headers too.
    pub(super) headers: Headers,
}

/// Why a message did not get its answer.
#[derive(Debug)]
pub(super) enum Undelivered {
    /// The server does not read what it is sent.
    Blocked,
    /// The exchange failed, before or after the server may have acted.
    Failed { failure: Failure, sent: bool },
}

impl Wire {
    /// Sends an answer or a notification that may be lost.
    pub(super) fn courtesy(&self, frame: &str) -> Result<(), Refused> {
        match self {
            Self::Pipe(outbox) => outbox.push_courtesy(frame),
            Self::Remote(remote) => remote.courtesy(frame),
        }
    }

    /// Nothing goes out any more.
    pub(super) fn close(&self) {
        match self {
            Self::Pipe(outbox) => outbox.close(),
            Self::Remote(remote) => remote.close(),
        }
    }

    pub(super) fn pipe(&self) -> Option<&Outbox> {
        match self {
            Self::Pipe(outbox) => Some(outbox),
            Self::Remote(_) => None,
        }
    }

    pub(super) fn remote(&self) -> Option<&Arc<Remote>> {
        match self {
            Self::Pipe(_) => None,
            Self::Remote(remote) => Some(remote),
        }
    }
}

impl Connection {
    /// Sends a message. Over HTTP this lasts until its answer was taken in, where that comes as the answer to a POST; dropping it
    /// ends the exchange.
    pub(super) async fn deliver(&self, outgoing: Outgoing<'_>) -> Result<(), Undelivered> {
        match &self.wire {
            Wire::Pipe(outbox) => match outbox.push(&outgoing.frame) {
                // The reason why it is closed is about to be told to everybody who waits.
                Ok(()) | Err(Refused::Closed) => Ok(()),
                Err(Refused::Full) => Err(Undelivered::Blocked),
            },
            Wire::Remote(remote) => remote.exchange(self, outgoing).await,
        }
    }
}
