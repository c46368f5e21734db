//! Whether a tool may be called: what a client knows of the definitions that its server has now.
//!
//! A call costs a look into a set. Only after the server said that its tools changed, or on a new connection, the tools are listed and
//! judged again before the next call; calls that come together wait for one listing.

use crate::error::{ErrorCode, ToolError};
use crate::mcp::catalog::Listing;
use crate::mcp::client::McpClient;
use crate::mcp::link::Link;
use crate::response::ToolResponse;
use crate::tool::CallContext;
use parking_lot::RwLock;
use serde_json::json;
use serde_json::value::RawValue;
use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

/// What is about to be called.
#[derive(Clone, Copy, Debug)]
pub(in crate::mcp) struct Subject<'a> {
    /// What to call it in a sentence.
    pub(in crate::mcp) name: &'a str,
    pub(in crate::mcp) remote_name: &'a str,
    /// Without one it is held to its remote name, whose definition is approved.
    pub(in crate::mcp) fingerprint: Option<&'a str>,
}

/// The last judgement.
#[derive(Debug, Default)]
pub(in crate::mcp) struct Admission {
    last: RwLock<Option<(Moment, Verdict)>>,
    /// Held while the tools are listed for a call.
    turn: tokio::sync::Mutex<()>,
}

/// When a listing was asked for: on which connection, and after how many changes that the server told of.
#[derive(Clone, Debug)]
pub(in crate::mcp) struct Moment {
    link: Weak<Link>,
    changes: u64,
}

impl Moment {
    pub(in crate::mcp) fn is_now(&self, link: &Arc<Link>) -> bool {
        // The weak handle keeps the address from being given to another connection.
        std::ptr::eq(self.link.as_ptr(), Arc::as_ptr(link)) && self.changes == link.connection().changes.load(Ordering::Acquire)
    }
}

#[derive(Clone, Debug)]
enum Verdict {
    Approved(Arc<Known>),
    Refused(ToolError),
}

#[derive(Debug)]
struct Known {
    fingerprints: HashSet<String>,
    remote_names: HashSet<String>,
}

impl Known {
    fn of(listing: &Listing) -> Self {
        Self {
            fingerprints: listing.tools.iter().filter_map(|tool| tool.fingerprint.clone()).collect(),
            remote_names: listing.tools.iter().map(|tool| tool.remote_name.clone()).collect(),
        }
    }

    fn has(&self, tool: Subject<'_>) -> bool {
        let fits = tool.fingerprint.is_none_or(|fingerprint| self.fingerprints.contains(fingerprint));
        fits && self.remote_names.contains(tool.remote_name)
    }
}

impl McpClient {
    /// Now, for a listing that is about to be asked for.
    pub(in crate::mcp) fn moment(&self) -> Moment {
        let link = self.link();
        Moment { changes: link.connection().changes.load(Ordering::Acquire), link: Arc::downgrade(&link) }
    }

    /// Judges a listing by the pins of the options, and remembers the judgement for the calls to come.
    pub(in crate::mcp) async fn judge(self: &Arc<Self>, listing: Listing, moment: Moment) -> Result<Listing, ToolError> {
        if self.options().pins.is_none() {
            return Ok(listing);
        }
        let client = Arc::clone(self);
        // A lock file is read, and may be waited for.
        let work = tokio::task::spawn_blocking(move || {
            let judged = client.options().pins.as_ref().map_or(Ok(()), |pins| pins.judge(&client.options().namespace, &listing));
            (judged, listing)
        });
        let (judged, listing) =
            work.await.map_err(|error| ToolError::new(ErrorCode::PinMismatch, format!("The pins could not be checked: {error}.")))?;
        let verdict = match &judged {
            Ok(()) => Some(Verdict::Approved(Arc::new(Known::of(&listing)))),
            Err(error) if error.code == ErrorCode::PinMismatch => Some(Verdict::Refused(error.clone())),
            // A lock file that cannot be used today may do tomorrow.
            Err(_) => None,
        };
        self.remember(moment, verdict);
        judged.map(|()| listing)
    }

    /// Of two listings that cross, the one that was asked for later counts.
    fn remember(&self, moment: Moment, verdict: Option<Verdict>) {
        let mut last = self.admission.last.write();
        let newer = |last: &Moment| Weak::ptr_eq(&last.link, &moment.link) && last.changes > moment.changes;
        if !last.as_ref().is_some_and(|(last, _)| newer(last)) {
            *last = verdict.map(|verdict| (moment, verdict));
        }
    }

    /// What is known of a tool at this moment; none if that has to be found out.
    fn standing(&self, tool: Subject<'_>) -> Option<Result<(), ToolResponse>> {
        let verdict = {
            let last = self.admission.last.read();
            let (moment, verdict) = last.as_ref()?;
            moment.is_now(&self.link()).then(|| verdict.clone())?
        };
        Some(match verdict {
            Verdict::Approved(known) if known.has(tool) => Ok(()),
            Verdict::Approved(_) => {
                let reason = format!("`{}` is not among the approved tools as it was loaded. Load the tools again.", tool.name);
                Err(self.refusal(&ToolError::new(ErrorCode::PinMismatch, reason)))
            }
            Verdict::Refused(error) => Err(self.refusal(&error)),
        })
    }

    /// Refuses a tool that is known not to be what was approved, without asking the server.
    pub(in crate::mcp) fn known_refusal(&self, tool: Subject<'_>) -> Result<(), ToolResponse> {
        if self.options().pins.is_none() { Ok(()) } else { self.standing(tool).unwrap_or(Ok(())) }
    }

    /// Refuses a tool that is not what was approved, after asking the server if need be.
    pub(in crate::mcp) async fn admit(self: &Arc<Self>, tool: Subject<'_>, context: &CallContext) -> Result<(), ToolResponse> {
        if self.options().pins.is_none() {
            return Ok(());
        }
        if let Some(standing) = self.standing(tool) {
            return standing;
        }
        let patience = context.timeout.or(self.options().timeout);
        self.within(patience, context, self.find_out(tool)).await?
    }

    async fn find_out(self: &Arc<Self>, tool: Subject<'_>) -> Result<(), ToolResponse> {
        let _turn = self.admission.turn.lock().await;
        // Whoever had the turn before may have found out.
        if let Some(standing) = self.standing(tool) {
            return standing;
        }
        match self.list_tools().await {
            // What was listed was current when the call came, even if the server has told of another change since.
            Ok(listing) if Known::of(&listing).has(tool) => Ok(()),
            Ok(_) => {
                Err(self.refusal(&ToolError::new(ErrorCode::PinMismatch, format!("`{}` is not among the approved tools.", tool.name))))
            }
            Err(error) => Err(self.refusal(&error)),
        }
    }

    /// The response of a call that was not made. What the server wrote is data: no model reads it.
    pub(in crate::mcp) fn refusal(&self, error: &ToolError) -> ToolResponse {
        let (code, key) = match error.code {
            ErrorCode::Closed => (ErrorCode::Closed, "tool.msg.mcp.no_session"),
            code @ (ErrorCode::ConnectionFailed | ErrorCode::Timeout) => (code, "tool.msg.mcp.unchecked"),
            _ => (ErrorCode::PinMismatch, "tool.msg.mcp.pin_mismatch"),
        };
        let mut facts = error.data.clone().unwrap_or_else(|| json!({}));
        if let Some(facts) = facts.as_object_mut() {
            facts.insert("reason".to_owned(), error.message.as_str().into());
        }
        let response = ToolResponse::failed(code, self.words().about(key), false);
        ToolResponse { data: RawValue::from_string(facts.to_string()).ok(), ..response }
    }
}
