//! The stream on which a server of the older revisions sends what belongs to no request. Servers need not have one.

use super::super::connection::Connection;
use super::Remote;
use super::session::Session;
use super::stream::{Asked, Ended, Place, stream};

/// Listens in each session, until it is dropped.
pub(super) async fn listen(remote: &Remote, session: &Session, connection: &Connection) {
    session.opened.notified().await;
    loop {
        tokio::select! {
            // A new session has a stream of its own.
            () = session.opened.notified() => {}
            () = follow(remote, connection) => session.opened.notified().await,
        }
    }
}

/// Reads the stream, and asks for it again when it breaks off, as long as that leads anywhere.
async fn follow(remote: &Remote, connection: &Connection) {
    let mut place = Place::default();
    loop {
        match stream(remote, &place).await {
            Asked::Refused => return,
            Asked::Failed => {}
            Asked::Stream(reply) => match place.read(connection, reply, None, None).await {
                Ended::TooLarge => return connection.collector.dropped(),
                // A server may end it at any time. Only ends without any event are counted.
                Ended::Early | Ended::Answered => place.begin_anew(),
            },
        }
        if !place.pause().await {
            return;
        }
    }
}
