//! Keeping up with a server whose tools change: listing again when it says so, and telling what is different.

use super::catalog::{self, Listing, Skipped};
use super::client::McpClient;
use super::life::{Life, Phase};
use super::pins::Moment;
use super::tool::McpTool;
use crate::error::{ErrorCode, ToolError};
use parking_lot::Mutex;
use serde_json::Value;
use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::time::{Instant, sleep, sleep_until};

/// Changes that come together are listed together.
const TOGETHER: Duration = Duration::from_millis(50);
/// The shortest time from one listing to the next.
const PAUSE: Duration = Duration::from_secs(1);

/// How a listing differs from the one before.
#[derive(Clone, Debug, Default)]
pub struct ToolsChange {
    /// Tools that were not there before.
    pub added: Vec<Arc<McpTool>>,
    /// Tools whose definition is another one, as they are now.
    pub changed: Vec<Arc<McpTool>>,
    /// The names that models saw of tools that are gone.
    pub removed: Vec<String>,
    /// What the listing left out, all of it, whether it did before or not.
    pub skipped: Vec<Skipped>,
    /// What was noticed beside that, all of it.
    pub warnings: Vec<String>,
}

impl ToolsChange {
    /// Whether the tools are the same.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.changed.is_empty() && self.removed.is_empty()
    }
}

/// What a listener is told: what changed, or why a listing that the server called for was not taken.
pub type ToolsEvent = Result<ToolsChange, ToolError>;

/// Hears of changes, on the task that listed.
pub type OnTools = Arc<dyn Fn(ToolsEvent) + Send + Sync>;

/// A definition of the last listing.
struct Known {
    name: String,
    definition: Box<serde_json::value::RawValue>,
}

/// What is remembered of a listing.
struct Last {
    tools: Vec<Known>,
    skipped: Vec<Skipped>,
    warnings: Vec<String>,
}

/// The last listing, and who hears of the next.
#[derive(Default)]
pub(super) struct Lists {
    /// One listing at a time, so that the newer one is the later one.
    turn: tokio::sync::Mutex<()>,
    last: Mutex<Option<Last>>,
    /// When the last one that was judged was asked for.
    moment: Mutex<Option<Moment>>,
    listener: Mutex<Option<OnTools>>,
}

impl fmt::Debug for Lists {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Lists").finish_non_exhaustive()
    }
}

impl Lists {
    pub(super) fn set_listener(&self, listener: Option<OnTools>) {
        *self.listener.lock() = listener;
    }

    /// Before the first listing there is nothing that could differ.
    fn is_begun(&self) -> bool {
        self.last.lock().is_some()
    }

    fn tell(&self, event: ToolsEvent) {
        let listener = self.listener.lock().clone();
        if let Some(listener) = listener {
            listener(event);
        }
    }

    /// Takes a listing as the newest, and gives how it differs from the one before, if it does. The first one differs from nothing.
    fn take(&self, listing: &Listing) -> Option<ToolsChange> {
        let tools = listing.tools.iter().map(|tool| Known { name: tool.name.clone(), definition: tool.definition.clone() }).collect();
        let (skipped, warnings) = (listing.skipped.clone(), listing.warnings.clone());
        let before = self.last.lock().replace(Last { tools, skipped: skipped.clone(), warnings: warnings.clone() })?;
        let as_before = (&before.skipped, &before.warnings) == (&skipped, &warnings);
        let mut change = ToolsChange { skipped, warnings, ..ToolsChange::default() };
        for tool in &listing.tools {
            match before.tools.iter().find(|known| known.name == tool.name) {
                None => change.added.push(tool.clone()),
                Some(known) if is_same(&known.definition, &tool.definition) => {}
                Some(_) => change.changed.push(tool.clone()),
            }
        }
        let is_gone = |known: &&Known| !listing.tools.iter().any(|tool| tool.name == known.name);
        change.removed = before.tools.iter().filter(is_gone).map(|known| known.name.clone()).collect();
        (!change.is_empty() || !as_before).then_some(change)
    }
}

impl McpClient {
    /// Whether somebody listed since the server last told of a change.
    fn has_listed(&self) -> bool {
        self.lists.moment.lock().as_ref().is_some_and(|moment| moment.is_now(&self.link()))
    }

    fn refused(&self, error: &ToolError) {
        self.life.note(error.clone());
        self.lists.tell(Err(error.clone()));
    }
}

/// The order of members and the blanks between them mean nothing.
fn is_same(one: &serde_json::value::RawValue, other: &serde_json::value::RawValue) -> bool {
    let read = |text: &str| serde_json::from_str::<Value>(text).ok();
    one.get() == other.get() || read(one.get()).is_some_and(|one| read(other.get()) == Some(one))
}

/// Lists the tools. Whoever listens hears of a difference from the last time before this returns.
pub(super) async fn list(client: &Arc<McpClient>) -> Result<Listing, ToolError> {
    let _turn = client.lists.turn.lock().await;
    client.settled().await;
    let moment = client.moment();
    let listing = catalog::list(client).await?;
    let judged = client.judge(listing, moment.clone()).await;
    let listing = match judged {
        Ok(listing) => listing,
        Err(error) => {
            // Whoever asked gets the error; the others hear of it once for each change that the server told of.
            if error.code == ErrorCode::PinMismatch && client.lists.is_begun() && !client.has_listed() {
                *client.lists.moment.lock() = Some(moment);
                client.refused(&error);
            }
            return Err(error);
        }
    };
    *client.lists.moment.lock() = Some(moment);
    if let Some(change) = client.lists.take(&listing) {
        client.lists.tell(Ok(change));
    }
    Ok(listing)
}

/// Runs as long as the client, which it does not hold: lists again whenever the server says that its tools changed, and after it was
/// started anew.
pub(super) async fn follow(client: Weak<McpClient>, life: Arc<Life>) {
    let mut phases = life.phase.subscribe();
    loop {
        let Some(connection) = client.upgrade().map(|client| client.link().server.connection.clone()) else { return };
        tokio::select! {
            biased;
            () = life.closing.cancelled() => return,
            () = life.ended() => return,
            () = connection.tools_changed.notified() => {}
            // The sender lives as long as `life`.
            _ = phases.changed() => if *phases.borrow_and_update() != Phase::Up { continue },
        }
        drop(connection);
        let next = Instant::now() + PAUSE;
        sleep(TOGETHER).await;
        let Some(client) = client.upgrade() else { return };
        // A refusal has been told by then.
        if client.lists.is_begun()
            && !client.has_listed()
            && let Err(error) = list(&client).await
            && error.code != ErrorCode::PinMismatch
            && !life.closing.is_cancelled()
        {
            client.refused(&error);
        }
        drop(client);
        sleep_until(next).await;
    }
}
