//! The one pipeline: look up → permit → validate → confirm → run → bound → guard → record.
//!
//! A call is a state machine with three entries, [`Gate::begin`], [`Gate::confirmed`] and [`Gate::finish`]; who awaits in
//! between differs. A ticket stands for the call and works once per step: a forged, stale or repeated one is refused.

mod calls;
mod finish;
mod read;
mod refuse;

pub use calls::Ticket;
pub use finish::{Finished, Outcome, Verdict};

use crate::confirm::{self, Rejection};
use crate::error::{ErrorCode, ToolError};
use crate::event::{Event, EventKind, Recorder};
use crate::find::Index;
use crate::permission::{Denial, Permissions};
use crate::prompts::PromptRegistry;
use crate::registry::{Body, Entry, Registry};
use crate::response::ToolResponse;
use crate::schema::arguments;
use crate::schema::violation::{self, Violation};
use crate::tool::{Arguments, PerCall};
use calls::{Call, Calls, Stage};
use parking_lot::{Mutex, RwLock};
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// What holds for all calls of a gate unless a tool says otherwise.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Limit for one body; none when absent.
    pub timeout: Option<Duration>,
    /// Limit for the text of one result, in characters.
    pub max_text_chars: Option<usize>,
}

/// A call that may go on.
#[derive(Clone, Copy, Debug)]
pub struct Opened {
    /// Stands for the call from here on.
    pub ticket: Ticket,
    /// Whether to ask a person: the confirmation, or the tool itself, has to answer before the body runs.
    pub ask: PerCall,
    /// Whether defaults were filled in, so that the arguments differ from the given text.
    pub arguments_changed: bool,
}

/// What [`Gate::begin`] decided.
#[derive(Debug)]
pub enum Begun {
    /// The call may go on.
    Open(Opened),
    /// The call ends here, with the response.
    Refused(Box<Finished>),
}

/// A call that ends before its arguments are looked at, with the tool where there is one.
struct NotAdmitted {
    entry: Option<Arc<Entry>>,
    refused: Box<Finished>,
}

/// How a tool is named by whoever calls it.
#[derive(Clone, Copy, Debug)]
pub enum ToolRef<'a> {
    /// By name, as a model does.
    Name(&'a str),
    /// By the entry that `register` gave, which spares the look-up.
    Entry(&'a Arc<Entry>),
}

/// A person's answer, or what came instead of one.
#[derive(Clone, Debug)]
pub enum Answer {
    /// Strictly yes.
    Yes,
    /// The tool said that this call needs no yes.
    NotNeeded,
    /// There is nobody to ask.
    NobodyToAsk,
    /// Anything else.
    No(Rejection),
}

#[derive(Default)]
struct Table {
    registry: Registry,
    permissions: Option<Arc<Permissions>>,
}

impl Table {
    fn denial(&self, entry: &Entry) -> Option<Denial> {
        self.permissions.as_ref()?.denial(&entry.definition.name, Some(&entry.definition.origin))
    }
}

/// A registry with everything that stands between a call and a tool.
pub struct Gate {
    /// What calls are looked up in and judged by: one lock, as every call needs both.
    table: RwLock<Table>,
    prompts: Arc<PromptRegistry>,
    limits: Limits,
    calls: Mutex<Calls>,
    recorder: Option<Arc<dyn Recorder>>,
    closed: AtomicBool,
    /// Counts the changes of the table.
    generation: AtomicU64,
    /// Made when somebody searches.
    pub(crate) index: Mutex<Option<Arc<Index>>>,
}

impl Gate {
    /// A gate without tools.
    pub fn new(
        prompts: Arc<PromptRegistry>,
        limits: Limits,
        permissions: Option<Arc<Permissions>>,
        recorder: Option<Arc<dyn Recorder>>,
    ) -> Self {
        Self {
            table: RwLock::new(Table { registry: Registry::default(), permissions }),
            prompts,
            limits,
            calls: Mutex::default(),
            recorder,
            closed: AtomicBool::new(false),
            generation: AtomicU64::new(0),
            index: Mutex::default(),
        }
    }

    /// The texts this gate speaks with.
    pub fn prompts(&self) -> &Arc<PromptRegistry> {
        &self.prompts
    }

    /// Runs a closure with the table locked for reading. The closure must not call back into the gate.
    pub fn with_registry<T>(&self, read: impl FnOnce(&Registry) -> T) -> T {
        read(&self.table.read().registry)
    }

    /// Adds a tool and returns its entry.
    ///
    /// # Errors
    /// As [`Registry::register`], and `CLOSED`.
    pub fn register(&self, definition: crate::registry::Definition, overwrite: bool) -> Result<Arc<Entry>, ToolError> {
        self.check_open()?;
        let mut table = self.table.write();
        let entry = table.registry.register(definition, overwrite)?;
        self.changed();
        entry.admit(table.denial(&entry).is_none());
        Ok(entry)
    }

    /// Removes a tool; calls that run it go on. Returns whether there was one.
    pub fn unregister(&self, name: &str) -> bool {
        let mut table = self.table.write();
        self.changed();
        table.registry.unregister(name)
    }

    /// Replaces the permissions, for every call that begins from now on.
    pub fn set_permissions(&self, permissions: Option<Arc<Permissions>>) {
        let mut table = self.table.write();
        self.changed();
        table.permissions = permissions;
        for entry in table.registry.entries() {
            entry.admit(table.denial(entry).is_none());
        }
    }

    fn changed(&self) {
        self.generation.fetch_add(1, Ordering::Release);
    }

    /// Grows whenever tools or permissions change.
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Whether a tool is registered and the permissions let it be called, and so be shown.
    pub fn permits(&self, entry: &Entry) -> bool {
        entry.is_admitted()
    }

    /// The limit for the body of one call of this tool, unless the call brings its own.
    pub fn timeout(&self, entry: &Entry) -> Option<Duration> {
        entry.definition.timeout.or(self.limits.timeout)
    }

    /// No call begins any more.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Release);
    }

    /// # Errors
    /// `CLOSED` once the gate is closed.
    pub fn check_open(&self) -> Result<(), ToolError> {
        if self.closed.load(Ordering::Acquire) {
            return Err(ToolError::new(ErrorCode::Closed, "the registry is closed; make a new one"));
        }
        Ok(())
    }

    /// Steps 1 to 3, and the question whether to ask. Without `text` the host checks the arguments itself and says so with
    /// [`Gate::invalid`] if they do not fit. Whole numbers that the host would round are refused for its bodies.
    ///
    /// # Errors
    /// `CLOSED` once the gate is closed.
    pub fn begin(&self, tool: ToolRef<'_>, text: Option<&str>, call_id: Option<&str>) -> Result<Begun, ToolError> {
        self.check_open()?;
        // Recorded as they were sent, whatever becomes of the call.
        let sent = text.filter(|_| self.recorder.is_some()).and_then(|text| arguments::parse(text).ok());
        let entry = match self.admit(tool) {
            Ok(entry) => entry,
            Err(NotAdmitted { entry, refused }) => {
                self.record_refused(tool, entry.as_deref(), call_id, sent.as_ref(), &refused);
                return Ok(Begun::Refused(refused));
            }
        };
        let mut call = Call::new(entry, call_id);
        let read = match self.read(&call.entry, text) {
            Ok(read) => read,
            Err(refused) => {
                self.record(&call, EventKind::Call, sent.as_ref());
                self.record_end(&call, &refused);
                return Ok(Begun::Refused(refused));
            }
        };
        self.record(&call, EventKind::Call, sent.as_ref());
        let arguments_changed = read.as_ref().is_some_and(|read| read.changed);
        call.arguments = read.and_then(|read| read.keep(&call.entry));
        if let Some(refused) = self.refused_by_tool(&call) {
            self.record_end(&call, &refused);
            return Ok(Begun::Refused(refused));
        }
        let ask = self.ask(&call.entry, call.arguments.as_deref());
        call.stage = if ask == PerCall::Never { Stage::Running } else { Stage::Asking };
        let ticket = self.calls.lock().insert(call)?;
        Ok(Begun::Open(Opened { ticket, ask, arguments_changed }))
    }

    /// Steps 1 and 2. A refusal comes with the tool, where there is one.
    fn admit(&self, tool: ToolRef<'_>) -> Result<Arc<Entry>, NotAdmitted> {
        if let ToolRef::Entry(entry) = tool
            && entry.is_admitted()
        {
            return Ok(Arc::clone(entry));
        }
        self.look_up(tool)
    }

    #[cold]
    fn look_up(&self, tool: ToolRef<'_>) -> Result<Arc<Entry>, NotAdmitted> {
        let table = self.table.read();
        let name = match tool {
            ToolRef::Name(name) => name,
            ToolRef::Entry(entry) => entry.definition.name.as_str(),
        };
        // An entry that was replaced stays what it was: its successor may be another tool.
        let current = table.registry.get(name).filter(|current| !matches!(tool, ToolRef::Entry(entry) if !Arc::ptr_eq(entry, current)));
        let Some(entry) = current else {
            return Err(NotAdmitted { entry: None, refused: self.not_found(&table.registry, name) });
        };
        match table.denial(entry) {
            None => Ok(Arc::clone(entry)),
            Some(denial) => Err(NotAdmitted { entry: Some(Arc::clone(entry)), refused: self.denied(entry, &denial) }),
        }
    }

    /// What a native tool refuses whatever a person would say.
    fn refused_by_tool(&self, call: &Call) -> Option<Box<Finished>> {
        match (&call.entry.definition.body, &call.arguments) {
            (Body::Native(tool), Some(arguments)) => {
                tool.check(arguments).err().map(|response| self.finished(&call.entry, ToolResponse { executed: false, ..response }))
            }
            _ => None,
        }
    }

    /// Native tools answer for themselves; host tools are asked by the host.
    fn ask(&self, entry: &Entry, arguments: Option<&Arguments>) -> PerCall {
        match (&entry.definition.body, entry.definition.confirmation, arguments) {
            (Body::Native(tool), PerCall::Ask, Some(arguments)) if !tool.needs_confirmation(arguments) => PerCall::Never,
            (Body::Native(_), PerCall::Ask, _) => PerCall::Always,
            (_, confirmation, _) => confirmation,
        }
    }

    /// Whether a call of this tool would ask a person, as far as the gate can tell without running anything, and the arguments that
    /// a tool of the host would decide by.
    ///
    /// # Errors
    /// The response that the call would get instead.
    pub fn would_ask(&self, tool: ToolRef<'_>, text: &str) -> Result<(PerCall, String), Box<Finished>> {
        let entry = self.admit(tool).map_err(|not_admitted| not_admitted.refused)?;
        let Some(read) = self.read(&entry, Some(text))? else { return Ok((entry.definition.confirmation, String::new())) };
        let shown = if read.changed { read.value.to_string() } else { read.text.to_owned() };
        let kept = read.keep(&entry);
        Ok((self.ask(&entry, kept.as_deref()), shown))
    }

    /// The tool of a call, as it was when the call began.
    ///
    /// # Errors
    /// `INVALID_OPTIONS` for a ticket that does not stand for a call.
    pub fn entry(&self, ticket: Ticket) -> Result<Arc<Entry>, ToolError> {
        Ok(Arc::clone(&self.calls.lock().get(ticket)?.entry))
    }

    /// The validated arguments of a call that is under way: of a native tool, or where defaults changed them.
    ///
    /// # Errors
    /// `INVALID_OPTIONS` for a ticket that does not stand for such a call.
    pub fn arguments(&self, ticket: Ticket) -> Result<Arguments, ToolError> {
        let mut calls = self.calls.lock();
        let call = calls.get(ticket)?;
        call.arguments
            .as_deref()
            .cloned()
            .ok_or_else(|| ToolError::new(ErrorCode::InvalidOptions, "the host holds the arguments of this call"))
    }

    /// What to show the person who decides. `snapshot` is the argument text, where the host checked it.
    ///
    /// # Errors
    /// `INVALID_OPTIONS` for a ticket that does not stand for a call.
    pub fn preview(&self, ticket: Ticket, snapshot: Option<&str>) -> Result<String, ToolError> {
        let (entry, held) = {
            let mut calls = self.calls.lock();
            let call = calls.get(ticket)?;
            (Arc::clone(&call.entry), call.arguments.as_deref().cloned())
        };
        let writes = matches!((&entry.definition.body, &held), (Body::Native(tool), Some(arguments)) if tool.writes(arguments));
        let text = snapshot.or(held.as_ref().map(|arguments| &*arguments.text)).unwrap_or("{}");
        Ok(confirm::preview(&entry.definition.name, &entry.definition.origin, writes, text))
    }

    /// Step 3 of a tool that the host validates: the arguments do not fit, and the call ends.
    ///
    /// # Errors
    /// `INVALID_OPTIONS` for a ticket that does not stand for a call.
    pub fn invalid(&self, ticket: Ticket, mut violations: Vec<Violation>) -> Result<Box<Finished>, ToolError> {
        violation::shorten(&mut violations);
        let call = self.calls.lock().take(ticket)?;
        let refused = self.invalid_arguments(&call.entry, violations);
        self.record_end(&call, &refused);
        Ok(refused)
    }

    /// Step 4: the answer. `None` lets the body run; otherwise the call has ended with the response.
    ///
    /// # Errors
    /// `INVALID_OPTIONS` for a ticket that does not stand for a call that waits for an answer.
    pub fn confirmed(&self, ticket: Ticket, answer: Answer) -> Result<Option<Box<Finished>>, ToolError> {
        let mut calls = self.calls.lock();
        let call = calls.get(ticket)?;
        if call.stage != Stage::Asking {
            return Err(calls::bad_ticket());
        }
        let agreed = match answer {
            Answer::Yes => true,
            Answer::NotNeeded => call.entry.definition.confirmation == PerCall::Ask,
            Answer::NobodyToAsk | Answer::No(_) => false,
        };
        if agreed {
            call.stage = Stage::Running;
            if matches!(answer, Answer::Yes) {
                self.record(call, EventKind::Confirmed, None);
            }
            return Ok(None);
        }
        let call = calls.take(ticket)?;
        drop(calls);
        let refused = match answer {
            Answer::No(rejection) => self.rejected(&call.entry, &rejection),
            Answer::Yes | Answer::NotNeeded | Answer::NobodyToAsk => self.unconfirmed(&call.entry),
        };
        self.record_end(&call, &refused);
        Ok(Some(refused))
    }

    /// How many calls are under way.
    pub fn calls_under_way(&self) -> usize {
        self.calls.lock().len()
    }

    fn record(&self, call: &Call, kind: EventKind, arguments: Option<&Value>) {
        if let Some(recorder) = &self.recorder {
            recorder.record(Event::of_call(kind, call.id(), &call.entry.definition, arguments));
        }
    }
}
