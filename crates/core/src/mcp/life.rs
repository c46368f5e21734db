//! The life of a client: which state its connection is in, and starting a server anew that went away by itself.
//!
//! A call that was sent is never sent again. What is started anew is the server alone, after a pause that doubles with every try and is
//! drawn at random below that, so that many clients of one broken thing do not come back in step.

use super::client::McpClient;
use super::link::Link;
use super::options::ConnectOptions;
use super::refresh::follow;
use crate::error::{ErrorCode, ToolError};
use parking_lot::Mutex;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::watch;
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
        let longest = self.first_delay.saturating_mul(1 << tries.min(16)).min(self.max_delay);
        // Without randomness the longest pause is a fair one.
        let part = getrandom::u32().map_or(1.0, |random| f64::from(random) / f64::from(u32::MAX));
        longest.mul_f64(part)
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
    /// Nothing more is done.
    Over,
}

/// What the client, its calls and the task that keeps it share.
#[derive(Debug)]
pub(super) struct Life {
    pub(super) phase: watch::Sender<Phase>,
    /// Somebody closed the client, or nobody holds it any more.
    pub(super) closing: CancellationToken,
    /// The task has ended, and with it whatever it had started. Another one for each task.
    ended: Mutex<CancellationToken>,
    last_error: Mutex<Option<ToolError>>,
}

impl Life {
    pub(super) fn new() -> Self {
        Self {
            phase: watch::Sender::new(Phase::Up),
            closing: CancellationToken::new(),
            ended: Mutex::default(),
            last_error: Mutex::new(None),
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
        self.end().cancelled().await;
    }

    /// What fires when the task of now has ended.
    pub(super) fn end(&self) -> CancellationToken {
        self.ended.lock().clone()
    }

    /// Waits while there is no connection and something is being done about it.
    async fn recovered(&self) {
        // An error would mean that the sender is gone, and this is the sender.
        drop(self.phase.subscribe().wait_for(|phase| matches!(phase, Phase::Up | Phase::Over)).await);
    }

    /// Takes it on to start the server again that was given up. False where that is not so, or somebody else does.
    fn begin_again(&self) -> bool {
        self.phase.send_if_modified(|phase| {
            let begins = *phase == Phase::Over;
            if begins {
                *phase = Phase::Waiting;
                *self.ended.lock() = CancellationToken::new();
            }
            begins
        })
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
    /// Waits while the server is away and being started anew. One that was given up is begun with again, with all its tries; one behind an
    /// address is tried by every call, so there is nothing to wait for.
    pub async fn recover(self: &Arc<Self>) {
        if self.options.respawn.is_none() || self.life.closing.is_cancelled() {
            return;
        }
        if self.life.phase() == Phase::Over && self.link().connection().failure().is_some() && self.life.begin_again() {
            tokio::spawn(keep(Arc::downgrade(self), self.life.clone(), self.options.clone()));
            tokio::spawn(follow(Arc::downgrade(self), self.life.clone()));
        }
        self.life.recovered().await;
    }
}

/// Nobody waits for a try that a runtime took along.
struct Over(Arc<Life>);

impl Drop for Over {
    fn drop(&mut self) {
        self.0.ended.lock().cancel();
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
        life.note(failure.into());
        let Some(policy) = options.respawn else { return };
        life.phase.send_replace(Phase::Waiting);
        if since.elapsed() >= policy.healthy_after {
            tries = 0;
        }
        // What is left of the old one may hold a port or a lock that the new one needs.
        let Some(()) = life.unless_closing(connection.finished.cancelled()).await else { return };
        drop(connection);
        if !start_anew(&client, &life, &options, &policy, &mut tries).await {
            return;
        }
    }
}

/// Tries until there is a connection again. False when there will be none.
async fn start_anew(client: &Weak<McpClient>, life: &Life, options: &ConnectOptions, policy: &Respawn, tries: &mut u32) -> bool {
    let Some(era) = client.upgrade().map(|client| client.link().session.era(options.protocol)) else { return false };
    while *tries < policy.attempts {
        let Some(()) = life.unless_closing(sleep(policy.delay(*tries))).await else { return false };
        *tries += 1;
        life.phase.send_replace(Phase::Starting);
        // What the server spoke before may not be what it speaks now: the last try asks anew.
        let protocol = if *tries == policy.attempts { options.protocol } else { era };
        match Link::open(options, protocol, &life.closing).await {
            Ok(link) => return take_over(client, life, link).await,
            // Also when the host environment has ended.
            Err(error) if error.code == ErrorCode::Closed => return false,
            Err(error) => life.note(error),
        }
        life.phase.send_replace(Phase::Waiting);
    }
    if let Some(mut last) = life.last_error() {
        last.message.push_str(&format!("\nAfter {} tries in a row it is not started again. Connect anew.", policy.attempts));
        life.note(last);
    }
    false
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
