//! One POST, and what becomes of it.

use super::super::connection::Connection;
use super::super::wire::{Outgoing, Undelivered};
use super::session::{INITIALIZE, INITIALIZED, Seen};
use super::{Remote, stream, trouble};
use crate::http::{HttpError, Reply};
use serde::Deserialize;
use serde_json::value::RawValue;

/// What was done for a request already; each only once.
#[derive(Default)]
struct Tried {
    token: bool,
    session: bool,
}

enum Step {
    Done,
    Again,
}

/// An error as a message, with or without the id of the request that it is about.
#[derive(Deserialize)]
struct Refusal<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    error: &'a RawValue,
}

impl Remote {
    /// Sends a message, and takes in what comes back for it.
    pub(in super::super) async fn exchange(&self, connection: &Connection, outgoing: Outgoing<'_>) -> Result<(), Undelivered> {
        self.health.rest().await;
        let mut tried = Tried::default();
        loop {
            if let Step::Done = self.attempt(connection, &outgoing, &mut tried).await? {
                return Ok(());
            }
        }
    }

    async fn attempt(&self, connection: &Connection, outgoing: &Outgoing<'_>, tried: &mut Tried) -> Result<Step, Undelivered> {
        let opens = matches!(outgoing.method, INITIALIZE | INITIALIZED);
        if let Some(session) = self.session().filter(|session| !opens && session.is_lost()) {
            tried.session = true;
            session.reopen(self, connection, session.seen().epoch).await?;
        }
        let seen = self.seen();
        let token = self.token().await.map_err(|why| trouble::no_token(connection, &why))?;
        if let Some(token) = &token {
            connection.redactor.add_token(&token.text);
        }
        let Some(request) = self.post(outgoing, &seen, token.as_ref()) else { return Err(trouble::ended(connection)) };
        let reply = match request.send().await {
            Ok(reply) => reply,
            Err(error) => return Err(self.unanswered(connection, error)),
        };
        let status = reply.status();
        if status < 500 {
            self.health.succeeded();
        } else {
            self.health.failed();
        }
        if let (401, Some(auth), Some(token)) = (status, &self.auth, &token) {
            auth.refused(token.generation);
            if !std::mem::replace(&mut tried.token, true) {
                return Ok(Step::Again);
            }
        }
        match status {
            200..=299 => self.take(connection, outgoing, reply).await.map(|()| Step::Done),
            _ => self.refused(connection, outgoing, &seen, reply, tried).await,
        }
    }

    pub(super) fn unanswered(&self, connection: &Connection, error: HttpError) -> Undelivered {
        self.health.failed();
        trouble::unanswered(connection, error)
    }

    /// The answer to a message that was accepted.
    async fn take(&self, connection: &Connection, outgoing: &Outgoing<'_>, reply: Reply) -> Result<(), Undelivered> {
        let (Some(id), Some(session)) = (outgoing.id, self.session()) else {
            // Nothing of it counts, but the connection can be used again when it was read.
            tokio::spawn(async move { drop(tokio::time::timeout(super::COURTESY, reply.text()).await) });
            if outgoing.method == INITIALIZED
                && let Some(session) = self.session()
            {
                session.opened.notify_one();
            }
            return Ok(());
        };
        let opening = (outgoing.method == INITIALIZE).then_some(session);
        if let Some(session) = opening {
            session.set_id(reply.header("mcp-session-id"));
        }
        if reply.has_events() {
            return stream::answer(self, connection, id, opening, reply).await;
        }
        let kind = reply.header("content-type").unwrap_or_default().to_owned();
        let text = reply.text().await.map_err(|error| self.unanswered(connection, error))?;
        if let Some(session) = opening {
            session.note_version(&text);
        }
        connection.accept(text.as_bytes(), Some(id));
        if connection.waits_for(id) { Err(trouble::bad_answer(connection, &kind, &text)) } else { Ok(()) }
    }

    /// A message that was not accepted. Whether the session is lost is told by the status, and by whether one was named: never by words.
    async fn refused(
        &self,
        connection: &Connection,
        outgoing: &Outgoing<'_>,
        seen: &Seen,
        reply: Reply,
        tried: &mut Tried,
    ) -> Result<Step, Undelivered> {
        let answer = trouble::Answer::of(&reply);
        let status = answer.status;
        let session = self.session().filter(|_| seen.of(outgoing.method).id.is_some() && outgoing.id.is_some());
        let text = match status {
            401 | 403 | 404 | 429 => String::new(),
            _ => reply.text().await.unwrap_or_default(),
        };
        let refusal = serde_json::from_str::<Refusal<'_>>(&text).ok().filter(|refusal| refusal.error.get() != "null");
        let names_request = refusal.as_ref().is_some_and(|refusal| refusal.id.is_some_and(|id| id.get() != "null"));
        if let Some(session) = session
            && (status == 404 || status == 400 && !names_request)
            && !std::mem::replace(&mut tried.session, true)
        {
            session.reopen(self, connection, seen.epoch).await?;
            return Ok(Step::Again);
        }
        if let (Some(id), Some(_)) = (outgoing.id, refusal) {
            connection.accept(text.as_bytes(), Some(id));
            if !connection.waits_for(id) {
                return Ok(Step::Done);
            }
        }
        Err(trouble::status(connection, self, &answer))
    }
}
