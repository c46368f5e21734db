//! The subscription without which a server of revision 2026-07-28 does not say that its tools changed.

use super::connection::Connection;
use super::lane::{NoResult, Request, request};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Subscriptions opened in a row that end soon. More than these a server does not want.
const ATTEMPTS: u32 = 5;
/// The pause before the second; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// A subscription that lasted as long starts the count anew.
const LASTING: Duration = Duration::from_secs(60);

/// Runs as long as the connection, or until the server has refused.
pub(super) async fn listen(connection: Arc<Connection>) {
    let mut attempts = 0;
    loop {
        let since = Instant::now();
        let answer = request(
            &connection,
            Request {
                method: "subscriptions/listen",
                members: r#""notifications":{"toolsListChanged":true}"#.to_owned(),
                meta: connection.meta.get().map_or("", String::as_str),
                standing: true,
                ..Request::default()
            },
        )
        .await;
        match answer {
            // It ended the subscription, which it may: we ask again.
            Ok(_) | Err(NoResult::Blocked | NoResult::TimedOut(_) | NoResult::NoTurn(_)) => {}
            // Over HTTP only this exchange broke off.
            Err(NoResult::Gone(_) | NoResult::NotSent(_)) if connection.failure().is_none() => {}
            Err(NoResult::Error { .. } | NoResult::Gone(_) | NoResult::NotSent(_) | NoResult::Cancelled { .. }) => return,
        }
        attempts = if since.elapsed() >= LASTING { 0 } else { attempts + 1 };
        if attempts == ATTEMPTS {
            return connection
                .collector
                .note("it ended its subscription to changes of its tools again and again; such changes go unnoticed");
        }
        tokio::select! {
            _ = connection.failed() => return,
            () = sleep(FIRST_PAUSE * (1 << attempts)) => {}
        }
        // What changed in between was said to nobody.
        connection.tools_changed.notify_one();
    }
}
