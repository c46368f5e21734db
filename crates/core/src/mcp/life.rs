//! The life of a client: which state its connection is in, and starting a server anew that went away by itself.
//!
//! A call that was sent is never sent again. What is started anew is the server alone, after a pause that doubles with every try and is
//! drawn at random below that, so that many clients of one broken thing do not come back in step.

use super::client::{ClientState, McpClient};
use super::link::Link;
use super::options::ConnectOptions;
use super::refresh;
use crate::error::{ErrorCode, ToolError};
use crate::pause::{at_random, doubled};
use futures_util::FutureExt;
use parking_lot::Mutex;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

/// How a server is started anew that went away by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Respawn {
    /// Tries in a row, successful or not. Default: 5. A server that lived for `healthy_after` starts the count anew.
    pub attempts: u32,
    /// The longest pause before the first try; each further one may be twice as long. Default: 0.5 seconds.
    pub first_delay: Duration,
    /// The longest pause of all. Default: 30 seconds.
    pub max_delay: Duration,
    /// How long a server has to live for its next end to count as the first one. Default: 60 seconds.
    pub healthy_after: Duration,
}

impl Default for Respawn {
    fn default() -> Self {
        Self {
            attempts: 5,
            first_delay: Duration::from_millis(500),
            max_delay: Duration::from_secs(30),
            healthy_after: Duration::from_secs(60),
        }
    }
}

impl Respawn {
    /// A pause of random length, up to the longest one for this try. Tries count from 0.
    fn delay(&self, tries: u32) -> Duration {
        at_random(doubled(self.first_delay, tries, self.max_delay))
    }
}

/// What is being done about the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// There is one, or its end has not been noticed yet.
    Up,
    /// It is gone; a try follows.
    Waiting,
    /// A try is under way.
    Starting,
    /// Nothing more is done, unless somebody asks for a try.
    Over,
}

/// What the client, its calls and the task that keeps it share.
#[derive(Debug)]
pub(super) struct Life {
    pub(super) phase: watch::Sender<Phase>,
    /// Somebody closed the client, or nobody holds it any more.
    pub(super) closing: CancellationToken,
    /// The task has ended, and with it whatever it had started.
    ended: CancellationToken,
    last_error: Mutex<Option<ToolError>>,
    /// Somebody wants a try now.
    wanted: Notify,
    /// How many tries have come to an end.
    tried: watch::Sender<u64>,
}

impl Life {
    pub(super) fn new() -> Self {
        Self {
            phase: watch::Sender::new(Phase::Up),
            closing: CancellationToken::new(),
            ended: CancellationToken::new(),
            last_error: Mutex::new(None),
            wanted: Notify::new(),
            tried: watch::Sender::new(0),
        }
    }

    pub(super) fn phase(&self) -> Phase {
        *self.phase.borrow()
    }

    pub(super) fn note(&self, error: ToolError) {
        *self.last_error.lock() = Some(error);
    }

    pub(super) fn last_error(&self) -> Option<ToolError> {
        self.last_error.lock().clone()
    }

    /// Waits while a try is under way.
    pub(super) async fn settled(&self) {
        // An error would mean that the sender is gone, and this is the sender.
        drop(self.phase.subscribe().wait_for(|phase| *phase != Phase::Starting).await);
    }

    /// Waits until the task has ended.
    pub(super) async fn ended(&self) {
        self.ended.cancelled().await;
    }

    /// Waits while there is no connection and something is being done about it.
    async fn recovered(&self) {
        // An error would mean that the sender is gone, and this is the sender.
        drop(self.phase.subscribe().wait_for(|phase| matches!(phase, Phase::Up | Phase::Over)).await);
    }

    /// Waits for something, unless the client is closed first.
    async fn unless_closing<T>(&self, what: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            () = self.closing.cancelled() => None,
            done = what => Some(done),
        }
    }
}

impl McpClient {
    /// Waits while the server is away and being started anew. One that was given up is tried once; one behind an address is tried by every
    /// call, so there is nothing to wait for.
    pub async fn recover(self: &Arc<Self>) {
        if self.options.respawn.is_none() || self.life.closing.is_cancelled() {
            return;
        }
        if self.life.phase() == Phase::Over && self.link().connection().failure().is_some() {
            // Why it failed is told to the calls that come next.
            drop(self.reconnect().await);
            return;
        }
        self.life.recovered().await;
    }
}

/// Nobody waits for a try that a runtime took along.
struct Over(Arc<Life>);

impl Drop for Over {
    fn drop(&mut self) {
        self.0.ended.cancel();
        self.0.phase.send_replace(Phase::Over);
    }
}

/// Runs as long as the client, which it does not hold: starts its server anew each time that it went away.
pub(super) fn keep(client: Weak<McpClient>, life: Arc<Life>, options: Arc<ConnectOptions>) -> impl Future<Output = ()> + Send {
    // Made here, as a runtime that ends may drop the task before it ran at all.
    let over = Over(life.clone());
    async move {
        let _over = over;
        look_after(client, life, options).await;
    }
}

async fn look_after(client: Weak<McpClient>, life: Arc<Life>, options: Arc<ConnectOptions>) {
    let mut tries = 0;
    loop {
        let Some(connection) = client.upgrade().map(|client| client.link().server.connection.clone()) else { return };
        let since = Instant::now();
        let Some(failure) = life.unless_closing(connection.failed()).await else { return };
        if failure.code == ErrorCode::Closed {
            return;
        }
        if options.respawn.is_some_and(|policy| since.elapsed() >= policy.healthy_after) {
            tries = 0;
        }
        let error = ToolError::from(failure);
        life.note(if pause(&options, tries).is_none() { given_up(error, tries) } else { error });
        life.phase.send_replace(pause(&options, tries).map_or(Phase::Over, |_| Phase::Waiting));
        // What is left of the old one may hold a port or a lock that the new one needs.
        let Some(()) = life.unless_closing(connection.finished.cancelled()).await else { return };
        drop(connection);
        if !start_anew(&client, &life, &options, &mut tries).await {
            return;
        }
    }
}

/// The pause before the next try; `None` where there is none by itself.
fn pause(options: &ConnectOptions, tries: u32) -> Option<Duration> {
    options.respawn.filter(|policy| tries < policy.attempts).map(|policy| policy.delay(tries))
}

/// Tries until there is a connection again. False when there will be none.
async fn start_anew(client: &Weak<McpClient>, life: &Life, options: &ConnectOptions, tries: &mut u32) -> bool {
    let Some(era) = client.upgrade().map(|client| client.link().session.era(options.protocol)) else { return false };
    loop {
        let waiting = async {
            match pause(options, *tries) {
                Some(pause) => tokio::select! {
                    () = sleep(pause) => false,
                    () = life.wanted.notified() => true,
                },
                None => {
                    life.wanted.notified().await;
                    true
                }
            }
        };
        let Some(asked) = life.unless_closing(waiting).await else { return false };
        life.phase.send_replace(Phase::Starting);
        *tries = if asked { *tries } else { *tries + 1 };
        // What the server spoke before may not be what it speaks now: the last try asks anew.
        let protocol = if asked || pause(options, *tries).is_none() { options.protocol } else { era };
        let opened = Link::open(options, protocol, &life.closing).await;
        let came = match opened {
            Ok(link) => {
                // Whoever asked for it looked after the cause.
                *tries = if asked { 0 } else { *tries };
                // Of several who asked for the same one.
                let _ = life.wanted.notified().now_or_never();
                Some(take_over(client, life, link).await)
            }
            // Also when the host environment has ended.
            Err(error) if error.code == ErrorCode::Closed => Some(false),
            Err(error) => {
                life.note(if pause(options, *tries).is_none() { given_up(error, *tries) } else { error });
                life.phase.send_replace(pause(options, *tries).map_or(Phase::Over, |_| Phase::Waiting));
                None
            }
        };
        life.tried.send_modify(|tried| *tried += 1);
        if let Some(came) = came {
            return came;
        }
    }
}

/// The last error, with what can be done about it now.
fn given_up(mut error: ToolError, tries: u32) -> ToolError {
    let after = match tries {
        0 => String::new(),
        1 => "After 1 try it is not started again by itself. ".to_owned(),
        tries => format!("After {tries} tries in a row it is not started again by itself. "),
    };
    error.message.push_str(&format!("\n{after}Call client.reconnect() to try once more."));
    error
}

impl McpClient {
    /// Tries once to connect anew, now, where the server went away; also where it was given up. Joins a try that is under way. Where a
    /// server behind an address did not answer its last request it is asked for its tools. Nothing is done while all is well.
    ///
    /// # Errors
    /// `CLOSED` once the client is closed; otherwise why the try failed. Later ones may be made.
    pub async fn reconnect(self: &Arc<Self>) -> Result<(), ToolError> {
        let life = &self.life;
        let closed = || ToolError::new(ErrorCode::Closed, self.link().connection().closed_message());
        if self.state() == ClientState::Closed {
            return Err(closed());
        }
        if self.link().connection().failure().is_none() {
            let listed = match self.state() {
                ClientState::Degraded => refresh::list(self).await.map(drop),
                _ => Ok(()),
            };
            // Pins that refuse the listing are no matter of the connection.
            return listed.or_else(|error| if error.code == ErrorCode::PinMismatch { Ok(()) } else { Err(error) });
        }
        let mut tried = life.tried.subscribe();
        if life.phase() != Phase::Starting {
            life.wanted.notify_one();
        }
        let came = tokio::select! {
            biased;
            () = life.closing.cancelled() => false,
            changed = tried.changed() => changed.is_ok(),
            () = life.ended() => false,
        };
        match (came, self.state()) {
            (_, ClientState::Ready) => Ok(()),
            (true, ClientState::Degraded | ClientState::Connecting) => Err(life.last_error().unwrap_or_else(closed)),
            _ => Err(closed()),
        }
    }
}

async fn take_over(client: &Weak<McpClient>, life: &Life, link: Link) -> bool {
    let link = Arc::new(link);
    let Some(client) = client.upgrade() else { return false };
    client.replace_link(link.clone());
    life.phase.send_replace(Phase::Up);
    // Whoever closed it meanwhile closed the link before this one.
    if life.closing.is_cancelled() {
        link.connection().kill();
        link.connection().finished.cancelled().await;
        return false;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_and_stay_below_the_longest() {
        let policy = Respawn::default();
        for (tries, longest) in [(0, 500), (1, 1000), (5, 16_000), (6, 30_000), (40, 30_000)] {
            let pauses: Vec<Duration> = (0..50).map(|_| policy.delay(tries)).collect();
            assert!(pauses.iter().all(|pause| *pause <= Duration::from_millis(longest)), "{tries}");
            assert!(pauses.iter().any(|pause| *pause != pauses[0]), "random");
        }
    }
}
