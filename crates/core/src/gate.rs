//! The one pipeline: look up → permit → validate → confirm → run → bound → guard → record.
//!
//! A call is a state machine with three entries, [`Gate::begin`], [`Gate::confirmed`] and [`Gate::finish`]; who awaits in
//! between differs. A ticket stands for the call and works once per step: a forged, stale or repeated one is refused.

mod calls;
mod finish;
mod refuse;

pub use calls::Ticket;
pub use finish::{Finished, Outcome, Verdict};

use crate::confirm::{self, Rejection};
use crate::error::{ErrorCode, ToolError};
use crate::event::{Event, EventKind, Recorder};
use crate::exact;
use crate::permission::Permissions;
use crate::prompts::PromptRegistry;
use crate::registry::{Body, Entry, Registry};
use crate::schema::{self, arguments, violation::Violation};
use crate::tool::{Arguments, PerCall};
use calls::{Call, Calls, Stage};
use parking_lot::{Mutex, RwLock};
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
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
    /// By the id that `register` gave.
    Id(u32),
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

/// A registry with everything that stands between a call and a tool.
pub struct Gate {
    /// What calls are looked up in and judged by: one lock, as every call needs both.
    table: RwLock<Table>,
    prompts: Arc<PromptRegistry>,
    limits: Limits,
    calls: Mutex<Calls>,
    recorder: Option<Arc<dyn Recorder>>,
    closed: AtomicBool,
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

    /// Adds a tool and returns its id.
    ///
    /// # Errors
    /// As [`Registry::register`], and `CLOSED`.
    pub fn register(&self, definition: crate::registry::Definition, overwrite: bool) -> Result<u32, ToolError> {
        self.check_open()?;
        self.table.write().registry.register(definition, overwrite)
    }

    /// Removes a tool; calls that run it go on. Returns whether there was one.
    pub fn unregister(&self, name: &str) -> bool {
        self.table.write().registry.unregister(name)
    }

    /// Replaces the permissions, for every call that begins from now on.
    pub fn set_permissions(&self, permissions: Option<Arc<Permissions>>) {
        self.table.write().permissions = permissions;
    }

    /// The permissions in force.
    pub fn permissions(&self) -> Option<Arc<Permissions>> {
        self.table.read().permissions.clone()
    }

    /// Whether the permissions let a tool be called, and so be shown.
    pub fn permits(&self, entry: &Entry) -> bool {
        self.table
            .read()
            .permissions
            .as_ref()
            .is_none_or(|permissions| permissions.denial(&entry.definition.name, Some(&entry.definition.origin)).is_none())
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
    /// [`Gate::invalid`] if they do not fit. `exact` refuses whole numbers that the body's language would round.
    ///
    /// # Errors
    /// `CLOSED` once the gate is closed.
    pub fn begin(&self, tool: ToolRef<'_>, text: Option<&str>, call_id: Option<&str>) -> Result<Begun, ToolError> {
        self.check_open()?;
        let entry = match self.admit(tool) {
            Ok(entry) => entry,
            Err(NotAdmitted { entry, refused }) => {
                self.record_refused(tool, entry.as_deref(), call_id, &refused);
                return Ok(Begun::Refused(refused));
            }
        };
        let mut call = Call::new(entry, call_id);
        let (arguments, arguments_changed) = match self.check(&call.entry, text) {
            Ok(checked) => checked,
            Err(refused) => {
                self.record(&call, EventKind::Call, None);
                self.record_end(&call, &refused);
                return Ok(Begun::Refused(refused));
            }
        };
        self.record(&call, EventKind::Call, arguments.as_ref().map(|arguments| &arguments.value));
        let ask = self.ask(&call.entry, arguments.as_ref());
        call.arguments = arguments;
        call.stage = if ask == PerCall::Never { Stage::Running } else { Stage::Asking };
        let ticket = self.calls.lock().insert(call)?;
        Ok(Begun::Open(Opened { ticket, ask, arguments_changed }))
    }

    /// Steps 1 and 2. A refusal comes with the tool, where there is one.
    fn admit(&self, tool: ToolRef<'_>) -> Result<Arc<Entry>, NotAdmitted> {
        let table = self.table.read();
        let found = match tool {
            ToolRef::Name(name) => table.registry.get(name),
            ToolRef::Id(id) => table.registry.by_id(id),
        };
        let Some(entry) = found else {
            return Err(NotAdmitted { entry: None, refused: self.not_found(&table.registry, table.permissions.as_deref(), tool) });
        };
        let denial =
            table.permissions.as_ref().and_then(|permissions| permissions.denial(&entry.definition.name, Some(&entry.definition.origin)));
        match denial {
            None => Ok(Arc::clone(entry)),
            Some(denial) => Err(NotAdmitted { entry: Some(Arc::clone(entry)), refused: self.denied(entry, &denial) }),
        }
    }

    /// Step 3, where the core does it.
    fn check(&self, entry: &Entry, text: Option<&str>) -> Result<(Option<Arguments>, bool), Box<Finished>> {
        let Some(text) = text else { return Ok((None, false)) };
        let (arguments, changed) = self.validate(entry, text)?;
        if matches!(entry.definition.body, Body::Missing) {
            return Err(self.no_handler(entry));
        }
        Ok((Some(arguments), changed))
    }

    fn validate(&self, entry: &Entry, text: &str) -> Result<(Arguments, bool), Box<Finished>> {
        let mut value = arguments::parse(text).map_err(|violation| self.invalid_arguments(entry, vec![violation]))?;
        if !value.is_object() {
            return Err(self.invalid_arguments(entry, vec![Violation::root("the arguments must be a JSON object")]));
        }
        if !matches!(entry.definition.body, Body::Native(_))
            && let Some(literal) = exact::first_inexact(text)
        {
            let shown: String = literal.chars().take(40).collect();
            let message = format!("the whole number {shown} is beyond 2^53 - 1 and would be rounded; send it as a string");
            return Err(self.invalid_arguments(entry, vec![Violation::root(message)]));
        }
        let changed = entry.fills_defaults && schema::fill_defaults(&entry.definition.input_schema, &mut value);
        if let Some(validator) = &entry.validator {
            let violations = validator.violations(&value);
            if !violations.is_empty() {
                return Err(self.invalid_arguments(entry, violations));
            }
        }
        let text = if changed { Arc::from(value.to_string()) } else { Arc::from(if text.trim_ascii().is_empty() { "{}" } else { text }) };
        Ok((Arguments { text, value }, changed))
    }

    /// Native tools answer for themselves; host tools are asked by the host.
    fn ask(&self, entry: &Entry, arguments: Option<&Arguments>) -> PerCall {
        match (&entry.definition.body, entry.definition.confirmation, arguments) {
            (Body::Native(tool), PerCall::Ask, Some(arguments)) if !tool.needs_confirmation(arguments) => PerCall::Never,
            (Body::Native(_), PerCall::Ask, _) => PerCall::Always,
            (_, confirmation, _) => confirmation,
        }
    }

    /// Whether a call of this tool would ask a person, as far as the gate can tell without running anything.
    ///
    /// # Errors
    /// The response that the call would get instead.
    pub fn would_ask(&self, tool: ToolRef<'_>, text: Option<&str>) -> Result<PerCall, Box<Finished>> {
        let entry = self.admit(tool).map_err(|not_admitted| not_admitted.refused)?;
        let (arguments, _) = self.check(&entry, text)?;
        Ok(self.ask(&entry, arguments.as_ref()))
    }

    /// The tool of a call, as it was when the call began.
    ///
    /// # Errors
    /// `INVALID_OPTIONS` for a ticket that does not stand for a call.
    pub fn entry(&self, ticket: Ticket) -> Result<Arc<Entry>, ToolError> {
        Ok(Arc::clone(&self.calls.lock().get(ticket)?.entry))
    }

    /// The validated arguments of a call that is under way.
    ///
    /// # Errors
    /// `INVALID_OPTIONS` for a ticket that does not stand for such a call.
    pub fn arguments(&self, ticket: Ticket) -> Result<Arguments, ToolError> {
        let mut calls = self.calls.lock();
        let call = calls.get(ticket)?;
        call.arguments.clone().ok_or_else(|| ToolError::new(ErrorCode::InvalidOptions, "the host holds the arguments of this call"))
    }

    /// What to show the person who decides. `snapshot` is the argument text, where the host checked it.
    ///
    /// # Errors
    /// `INVALID_OPTIONS` for a ticket that does not stand for a call.
    pub fn preview(&self, ticket: Ticket, snapshot: Option<&str>) -> Result<String, ToolError> {
        let (entry, held) = {
            let mut calls = self.calls.lock();
            let call = calls.get(ticket)?;
            (Arc::clone(&call.entry), call.arguments.as_ref().map(|arguments| Arc::clone(&arguments.text)))
        };
        let text = snapshot.or(held.as_deref()).unwrap_or("{}");
        Ok(confirm::preview(&entry.definition.name, &entry.definition.origin, text))
    }

    /// Step 3 of a tool that the host validates: the arguments do not fit, and the call ends.
    ///
    /// # Errors
    /// `INVALID_OPTIONS` for a ticket that does not stand for a call.
    pub fn invalid(&self, ticket: Ticket, violations: Vec<Violation>) -> Result<Box<Finished>, ToolError> {
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
