//! Streams of events: the answer to a request, read to its end, and taken up again where it breaks off.

use super::super::connection::Connection;
use super::super::wire::Undelivered;
use super::health::backoff;
use super::session::Session;
use super::{Remote, trouble};
use crate::http::{Events, HttpError, Reply};
use futures_util::FutureExt;
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// Times a stream is asked for again without an event, and in all.
pub(super) const ATTEMPTS: u32 = 5;
const RESUMED: u32 = 100;
/// Before a stream is asked for again, where the server does not say.
const PAUSE: Duration = Duration::from_secs(1);
/// The shortest one, whatever the server says: a stream that ends at once with an event would be asked for without a pause, for ever.
const SHORTEST: Duration = Duration::from_millis(100);
/// What a server may ask for, and where the growth of pauses ends.
const LONGEST: Duration = Duration::from_secs(30);
/// Bytes of the id of an event.
const MAX_ID: usize = 1024;
/// For the rest of a stream after the answer.
const REST: Duration = Duration::from_secs(1);

/// How far a stream was read.
#[derive(Default)]
pub(super) struct Place {
    pub(super) last: Option<String>,
    retry: Option<Duration>,
    /// Ends without an event in a row.
    pub(super) barren: u32,
    total: u32,
}

/// How reading a stream ended.
pub(super) enum Ended {
    Answered,
    /// By the server, or by the network.
    Early,
    TooLarge,
}

impl Place {
    /// Reads to the end of a stream, or to the reply that `carried` waits for.
    pub(super) async fn read(&mut self, connection: &Connection, reply: Reply, carried: Option<u64>, opening: Option<&Session>) -> Ended {
        let mut events = reply.events();
        loop {
            let event = match events.next().await {
                Ok(Some(event)) => event,
                Err(HttpError::TooLarge) => return Ended::TooLarge,
                Ok(None) | Err(_) => return Ended::Early,
            };
            self.barren = 0;
            if let Some(id) = &event.id {
                // An id that cannot be sent back is as good as none, and an empty one says so.
                self.last =
                    Some(id.clone()).filter(|id| (1..=MAX_ID).contains(&id.len()) && id.bytes().all(|byte| matches!(byte, b' '..=b'~')));
            }
            self.retry = event.retry.or(self.retry);
            if !event.is_message() {
                continue;
            }
            if let Some(session) = opening {
                session.note_version(&event.data);
            }
            connection.accept(event.data.as_bytes(), carried);
            if carried.is_some_and(|id| !connection.waits_for(id)) {
                finish(events);
                return Ended::Answered;
            }
        }
    }

    /// Waits before the stream is asked for again. False when that was done often enough.
    pub(super) async fn pause(&mut self) -> bool {
        if self.barren >= ATTEMPTS || self.total >= RESUMED {
            return false;
        }
        let pause = match self.retry {
            // What the server wants holds as it is, at first.
            Some(retry) if self.barren == 0 => retry.clamp(SHORTEST, LONGEST),
            retry => backoff(retry.unwrap_or(PAUSE).max(SHORTEST), self.barren, LONGEST),
        };
        self.barren += 1;
        self.total += 1;
        sleep(pause).await;
        true
    }

    pub(super) fn begin_anew(&mut self) {
        self.total = 0;
    }
}

/// Reads the rest of a stream, which is its end, so that the connection can be used again.
fn finish(mut events: Events) {
    match events.next().now_or_never() {
        Some(Ok(None) | Err(_)) => {}
        _ => {
            tokio::spawn(async move {
                let rest = async { while let Ok(Some(_)) = events.next().await {} };
                drop(timeout(REST, rest).await);
            });
        }
    }
}

/// Takes in the answer to a request that comes as a stream.
pub(super) async fn answer(
    remote: &Remote,
    connection: &Connection,
    id: u64,
    opening: Option<&Session>,
    reply: Reply,
) -> Result<(), Undelivered> {
    let mut place = Place::default();
    let mut reply = reply;
    loop {
        match place.read(connection, reply, Some(id), opening).await {
            Ended::Answered => return Ok(()),
            Ended::TooLarge => return Err(trouble::unanswered(connection, HttpError::TooLarge)),
            Ended::Early => reply = resume(remote, connection, &mut place).await?,
        }
    }
}

/// Asks for the rest of a stream, where the server gave a place to take it up at. The newest revision has no such places.
async fn resume(remote: &Remote, connection: &Connection, place: &mut Place) -> Result<Reply, Undelivered> {
    if place.last.is_none() || remote.cancels_by_closing() {
        return Err(trouble::ended(connection));
    }
    while place.pause().await {
        match stream(remote, place).await {
            Asked::Stream(reply) => return Ok(reply),
            Asked::Refused => break,
            Asked::Failed => {}
        }
    }
    Err(trouble::ended(connection))
}

/// What a server says when it is asked for a stream.
pub(super) enum Asked {
    Stream(Reply),
    /// It has none to give.
    Refused,
    /// It might have one later.
    Failed,
}

/// Asks for a stream from a place on.
pub(super) async fn stream(remote: &Remote, place: &Place) -> Asked {
    for _ in 0..2 {
        let Ok(token) = remote.token().await else { return Asked::Refused };
        let request = remote.get(&remote.seen(), token.as_ref(), place.last.as_deref());
        let Ok(reply) = request.send().await else { return Asked::Failed };
        match (reply.status(), &remote.auth, &token) {
            (200, _, _) if reply.has_events() => return Asked::Stream(reply),
            (401, Some(auth), Some(token)) => auth.refused(token.generation),
            (429 | 500.., _, _) => return Asked::Failed,
            _ => return Asked::Refused,
        }
    }
    Asked::Refused
}
