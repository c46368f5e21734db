//! The session of a server of the older revisions, and which revision requests name in their headers.

use super::super::connection::{Connection, Failure};
use super::super::lane::{NoResult, Request, request};
use super::super::revision::{LEGACY, MODERN};
use super::super::wire::{Outgoing, Undelivered};
use super::Remote;
use super::trouble;
use crate::http::Headers;
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use serde::Deserialize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use tokio::sync::Notify;

/// Bytes of the id of a session.
const MAX_ID: usize = 1024;

pub(in super::super) const INITIALIZE: &str = "initialize";
pub(in super::super) const INITIALIZED: &str = "notifications/initialized";
const DISCOVER: &str = "server/discover";

/// The state that all exchanges share.
#[derive(Default)]
pub(super) struct Session {
    seen: Mutex<Seen>,
    lost: Mutex<bool>,
    /// Held by whoever opens a session anew, with what became of the last attempt.
    turn: tokio::sync::Mutex<Option<Failure>>,
    attempts: AtomicU64,
    /// Fires when a session was opened.
    pub(super) opened: Notify,
    handshake: OnceLock<String>,
}

/// What an exchange knows of the session that it is part of.
#[derive(Clone, Default)]
pub(super) struct Seen {
    /// Grows with each session.
    pub(super) epoch: u64,
    pub(super) id: Option<Arc<str>>,
    pub(super) version: Option<Arc<str>>,
}

impl Seen {
    /// What a message of this method carries: those that open a session know nothing yet, and the question for the newest revision names it.
    pub(super) fn of(&self, method: &str) -> Self {
        match method {
            INITIALIZE => Self::default(),
            DISCOVER => Self { version: Some(Arc::from(MODERN)), ..Self::default() },
            _ => self.clone(),
        }
    }

    pub(super) fn is_modern(&self) -> bool {
        self.version.as_deref() == Some(MODERN)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Welcome {
    result: Greeting,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Greeting {
    protocol_version: String,
}

impl Session {
    pub(super) fn seen(&self) -> Seen {
        self.seen.lock().clone()
    }

    pub(super) fn is_modern(&self) -> bool {
        self.seen.lock().is_modern()
    }

    pub(super) fn set_modern(&self) {
        *self.seen.lock() = Seen { version: Some(Arc::from(MODERN)), ..Seen::default() };
    }

    /// The params of `initialize`, as JSON.
    pub(super) fn remember_handshake(&self, params: &str) {
        let members = params.trim().strip_prefix('{').and_then(|params| params.strip_suffix('}'));
        // The first one is as good as any later one.
        drop(self.handshake.set(members.unwrap_or_default().to_owned()));
    }

    /// The id that an answer to `initialize` came with. An odd one counts as none: it could not be sent back.
    pub(super) fn set_id(&self, id: Option<&str>) {
        let fits = |id: &&str| (1..=MAX_ID).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic());
        self.seen.lock().id = id.filter(fits).map(Arc::from);
    }

    /// Takes the version from the answer to `initialize`.
    pub(super) fn note_version(&self, answer: &str) {
        if let Ok(welcome) = serde_json::from_str::<Welcome>(answer) {
            let version = welcome.result.protocol_version;
            if LEGACY.contains(&version.as_str()) || version == MODERN {
                self.seen.lock().version = Some(version.into());
            }
        }
    }

    pub(super) fn is_lost(&self) -> bool {
        *self.lost.lock()
    }

    /// Opens a session anew after that of `epoch` was lost, once for all who noticed.
    pub(super) fn reopen<'a>(
        &'a self,
        remote: &'a Remote,
        connection: &'a Connection,
        epoch: u64,
    ) -> BoxFuture<'a, Result<(), Undelivered>> {
        // Boxed, as it is part of an exchange and has exchanges of its own.
        Box::pin(self.take_turn(remote, connection, epoch))
    }

    async fn take_turn(&self, remote: &Remote, connection: &Connection, epoch: u64) -> Result<(), Undelivered> {
        let before = self.attempts.load(Ordering::Relaxed);
        let mut last = self.turn.lock().await;
        if self.seen.lock().epoch != epoch {
            return Ok(());
        }
        if self.attempts.load(Ordering::Relaxed) != before
            && let Some(failure) = last.clone()
        {
            return Err(Undelivered::Failed { failure, sent: false });
        }
        self.attempts.fetch_add(1, Ordering::Relaxed);
        let opened = self.open(remote, connection).await;
        *last = match &opened {
            Err(Undelivered::Failed { failure, .. }) => Some(failure.clone()),
            _ => None,
        };
        opened
    }

    async fn open(&self, remote: &Remote, connection: &Connection) -> Result<(), Undelivered> {
        *self.lost.lock() = true;
        {
            let mut seen = self.seen.lock();
            (seen.id, seen.version) = (None, None);
        }
        let members = self.handshake.get().cloned().unwrap_or_default();
        let opening = Request { method: INITIALIZE, members, quiet: true, ..Request::default() };
        match request(connection, opening).await {
            Ok(_) if self.seen().version.is_some() => {}
            Ok(_) => return Err(trouble::not_reopened(connection, "it speaks another version of the protocol now")),
            Err(NoResult::Error { code, message }) => return Err(trouble::not_reopened(connection, &format!("{message} (code {code})"))),
            Err(NoResult::Gone(failure) | NoResult::NotSent(failure)) => return Err(Undelivered::Failed { failure, sent: false }),
            Err(_) => return Err(trouble::not_reopened(connection, "it did not answer")),
        }
        let frame = format!(r#"{{"jsonrpc":"2.0","method":"{INITIALIZED}"}}"#);
        let ready = Outgoing { frame, id: None, method: INITIALIZED, name: None, headers: Headers::default() };
        remote.exchange(connection, ready).await?;
        self.seen.lock().epoch += 1;
        *self.lost.lock() = false;
        // What answers now may be another server, with other tools.
        connection.tell_of_change();
        Ok(())
    }
}
