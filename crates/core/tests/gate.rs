//! The pipeline as a state machine: what each step lets through, and what a ticket is good for.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use toolbolt_core::confirm::Rejection;
use toolbolt_core::error::{ErrorCode, ToolError};
use toolbolt_core::event::{Event, EventKind, Recorder};
use toolbolt_core::execute::{ConfirmRequest, Host, Request, execute};
use toolbolt_core::gate::{Answer, Begun, Gate, Limits, Opened, Outcome, Ticket, ToolRef, Verdict};
use toolbolt_core::permission::{Permissions, Rules};
use toolbolt_core::prompts::PromptRegistry;
use toolbolt_core::registry::{Body, Definition, Validation};
use toolbolt_core::response::{Status, ToolResponse};
use toolbolt_core::tool::{Arguments, CallContext, NativeTool, PerCall};

fn definition(name: &str, body: Body) -> Definition {
    Definition {
        name: name.into(),
        description: "D".into(),
        origin: "builtin".into(),
        input_schema: json!({"type": "object", "properties": {"n": {"type": "integer", "default": 7}, "s": {"type": "string"}}, "required": ["s"]}),
        validation: Validation::Schema,
        fill_defaults: true,
        confirmation: PerCall::Never,
        external: PerCall::Never,
        parallel: false,
        timeout: None,
        max_text_chars: None,
        max_data_bytes: None,
        body,
    }
}

fn gate_with(tools: Vec<Definition>) -> Arc<Gate> {
    let gate = Gate::new(Arc::new(PromptRegistry::default()), Limits::default(), None, None);
    for tool in tools {
        gate.register(tool, false).unwrap();
    }
    Arc::new(gate)
}

fn open(gate: &Gate, name: &str, text: &str) -> Opened {
    match gate.begin(ToolRef::Name(name), Some(text), None).unwrap() {
        Begun::Open(opened) => opened,
        Begun::Refused(refused) => panic!("{}", refused.response.text),
    }
}

fn refused(gate: &Gate, name: &str, text: &str) -> ErrorCode {
    match gate.begin(ToolRef::Name(name), Some(text), None).unwrap() {
        Begun::Open(_) => panic!("let through"),
        Begun::Refused(refused) => {
            assert!(!refused.response.executed);
            refused.response.code.unwrap()
        }
    }
}

#[test]
fn a_ticket_works_once() {
    let gate = gate_with(vec![definition("t", Body::Host)]);
    let ticket = open(&gate, "t", r#"{"s":"x"}"#).ticket;
    assert_eq!(gate.calls_under_way(), 1);
    assert_eq!(gate.finish(ticket, Status::Success, |_| "done".into(), 0).unwrap(), Verdict::Unchanged);
    assert!(gate.finish(ticket, Status::Success, |_| "again".into(), 0).is_err());
    assert!(gate.fail(ticket, Outcome::Cancelled, true).is_err());
    assert!(gate.confirmed(ticket, Answer::Yes).is_err());
    let next = open(&gate, "t", r#"{"s":"x"}"#).ticket;
    assert_ne!(next, ticket, "the place is used again, the ticket is another");
    assert!(gate.arguments(ticket).is_err());
    assert_eq!(gate.calls_under_way(), 1);
}

#[test]
fn a_call_that_has_to_be_confirmed_cannot_be_finished_before() {
    let asks = Definition { confirmation: PerCall::Always, ..definition("t", Body::Host) };
    let gate = gate_with(vec![asks]);
    let opened = open(&gate, "t", r#"{"s":"x"}"#);
    assert_eq!(opened.ask, PerCall::Always);
    assert!(gate.finish(opened.ticket, Status::Success, |_| "forged".into(), 0).is_err());
    assert!(gate.fail(opened.ticket, Outcome::Threw("forged"), true).is_err());
    // A tool that always asks cannot say that it need not.
    let refused = gate.confirmed(opened.ticket, Answer::NotNeeded).unwrap().unwrap();
    assert_eq!(refused.response.code, Some(ErrorCode::ConfirmationRequired));
    let opened = open(&gate, "t", r#"{"s":"x"}"#);
    assert!(gate.confirmed(opened.ticket, Answer::Yes).unwrap().is_none());
    assert!(gate.confirmed(opened.ticket, Answer::Yes).is_err(), "asked once");
    assert!(gate.finish(opened.ticket, Status::Success, |_| String::new(), 0).is_ok());
}

#[test]
fn every_answer_but_yes_refuses() {
    let gate = gate_with(vec![Definition { confirmation: PerCall::Ask, ..definition("t", Body::Host) }]);
    let no = [
        Rejection::Declined,
        Rejection::NotABoolean,
        Rejection::Threw("x".into()),
        Rejection::TimedOut(5),
        Rejection::Cancelled,
        Rejection::Promise,
    ];
    for rejection in no {
        let ticket = open(&gate, "t", r#"{"s":"x"}"#).ticket;
        let refused = gate.confirmed(ticket, Answer::No(rejection)).unwrap().unwrap();
        assert_eq!((refused.response.code, refused.response.executed), (Some(ErrorCode::ConfirmationRejected), false));
    }
    let ticket = open(&gate, "t", r#"{"s":"x"}"#).ticket;
    assert!(gate.confirmed(ticket, Answer::NotNeeded).unwrap().is_none());
}

#[test]
fn arguments_are_checked_and_completed() {
    let gate = gate_with(vec![
        definition("t", Body::Host),
        Definition { fill_defaults: false, ..definition("bare", Body::Host) },
        definition("none", Body::Missing),
    ]);
    let opened = open(&gate, "t", r#"{"s":"x"}"#);
    assert!(opened.arguments_changed);
    assert_eq!(gate.arguments(opened.ticket).unwrap().value, json!({"s": "x", "n": 7}));
    let opened = open(&gate, "bare", r#"{ "s": "x" }"#);
    assert!(!opened.arguments_changed);
    assert!(gate.arguments(opened.ticket).is_err(), "the host has the text");
    for text in ["{}", "[]", "5", "null", "\"s\"", "{", r#"{"s":1}"#, r#"{"s":"x","s":"y"}"#, r#"{"s":"x","n":9007199254740993}"#] {
        assert_eq!(refused(&gate, "t", text), ErrorCode::InvalidArguments, "{text}");
    }
    assert_eq!(refused(&gate, "none", r#"{"s":"x"}"#), ErrorCode::NoHandler);
    assert_eq!(refused(&gate, "nobody", "{}"), ErrorCode::ToolNotFound);
    gate.close();
    assert_eq!(gate.begin(ToolRef::Name("t"), Some("{}"), None).unwrap_err().code, ErrorCode::Closed);
}

#[test]
fn bounds_cut_and_say_so() {
    let gate = gate_with(vec![Definition { max_text_chars: Some(5), ..definition("t", Body::Host) }]);
    let finish = |status, text: &str, data| gate.finish(open(&gate, "t", r#"{"s":"x"}"#).ticket, status, |_| text.into(), data).unwrap();
    assert_eq!(finish(Status::Success, "12345", 0), Verdict::Unchanged);
    let Verdict::Cut { text: Some(text), drop_data: false, status: Status::Partial } = finish(Status::Success, "😀😀😀😀😀6", 0)
    else {
        panic!()
    };
    assert!(text.starts_with("😀😀😀😀😀") && !text.contains('6'));
    let Verdict::Cut { status: Status::Error, .. } = finish(Status::Error, "123456", 0) else { panic!("an error stays one") };
    let Verdict::Cut { text: None, drop_data: true, status: Status::Partial } = finish(Status::Success, "1", (1 << 20) + 1) else {
        panic!()
    };
    assert_eq!(finish(Status::Success, "1", 1 << 20), Verdict::Unchanged);
}

struct Probe {
    asks: bool,
    /// What it refuses to run, whatever a person says.
    refuses: &'static str,
    behave: fn(Value) -> ToolResponse,
    delay: Duration,
}

impl NativeTool for Probe {
    fn needs_confirmation(&self, _: &Arguments) -> bool {
        self.asks
    }

    fn is_external_content(&self, _: &Arguments) -> bool {
        true
    }

    fn check(&self, arguments: &Arguments) -> Result<(), ToolResponse> {
        if arguments.value["s"] == self.refuses { Err(ToolResponse::error("not that")) } else { Ok(()) }
    }

    fn writes(&self, _: &Arguments) -> bool {
        true
    }

    fn run(self: Arc<Self>, arguments: Arguments, _: CallContext) -> BoxFuture<'static, ToolResponse> {
        async move {
            tokio::time::sleep(self.delay).await;
            (self.behave)(arguments.value)
        }
        .boxed()
    }
}

struct Person {
    answer: Answer,
    asked: Mutex<Vec<ConfirmRequest>>,
}

impl Host for Person {
    fn confirm(&self, request: ConfirmRequest) -> BoxFuture<'static, Answer> {
        self.asked.lock().push(request);
        std::future::ready(self.answer.clone()).boxed()
    }

    fn execute(&self, name: &str, _: &str, _: &CallContext) -> BoxFuture<'static, Result<String, ToolError>> {
        std::future::ready(Ok(format!("host ran {name}"))).boxed()
    }
}

fn probe(asks: bool, delay: u64, behave: fn(Value) -> ToolResponse) -> Definition {
    let body = Body::Native(Arc::new(Probe { asks, refuses: "rm", behave, delay: Duration::from_millis(delay) }));
    let confirmation = if asks { PerCall::Ask } else { PerCall::Never };
    Definition { confirmation, timeout: Some(Duration::from_millis(200)), ..definition("native", body) }
}

async fn call(gate: &Arc<Gate>, person: &Arc<Person>, cancelled: CancellationToken) -> Value {
    call_with(gate, person, cancelled, r#"{"s":"x"}"#).await
}

async fn call_with(gate: &Arc<Gate>, person: &Arc<Person>, cancelled: CancellationToken, arguments: &str) -> Value {
    let host: Arc<dyn Host> = person.clone();
    let context = CallContext { call_id: "c".into(), cancelled, timeout: None, on_progress: None };
    let request = Request { name: "native".into(), arguments: arguments.into(), context };
    serde_json::from_str(&execute(gate, &host, request).await.unwrap()).unwrap()
}

#[tokio::test]
async fn what_a_tool_refuses_is_not_asked_about_and_what_writes_is_marked() {
    let gate = gate_with(vec![probe(true, 0, |_| ToolResponse::ok("ran"))]);
    let yes = person(Answer::Yes);
    let refused = call_with(&gate, &yes, CancellationToken::new(), r#"{"s":"rm"}"#).await;
    assert_eq!((&refused["text"], &refused["status"], &refused["executed"]), (&json!("not that"), &json!("error"), &json!(false)));
    assert!(yes.asked.lock().is_empty() && gate.calls_under_way() == 0);
    assert_eq!(call(&gate, &yes, CancellationToken::new()).await["text"], "ran");
    assert!(yes.asked.lock()[0].preview.starts_with("native (from builtin; writes)\n"));
}

fn person(answer: Answer) -> Arc<Person> {
    Arc::new(Person { answer, asked: Mutex::default() })
}

#[tokio::test]
async fn native_tools_run_through_the_same_steps() {
    let never = CancellationToken::new;
    let gate = gate_with(vec![probe(true, 0, |value| ToolResponse::ok(value.to_string()))]);
    let yes = person(Answer::Yes);
    let done = call(&gate, &yes, never()).await;
    assert_eq!((&done["text"], &done["external"], &done["executed"]), (&json!(r#"{"s":"x","n":7}"#), &json!(true), &json!(true)));
    let shown = yes.asked.lock().pop().unwrap();
    assert_eq!((&*shown.arguments, shown.preview.contains("native")), (r#"{"s":"x","n":7}"#, true));
    let no = call(&gate, &person(Answer::No(Rejection::Declined)), never()).await;
    assert_eq!((&no["code"], &no["executed"]), (&json!("CONFIRMATION_REJECTED"), &json!(false)));

    let slow = gate_with(vec![probe(false, 10_000, |_| ToolResponse::ok("late"))]);
    assert_eq!(call(&slow, &person(Answer::NobodyToAsk), never()).await["code"], "TIMEOUT");
    let cancelled = never();
    cancelled.cancel();
    assert_eq!(call(&slow, &person(Answer::NobodyToAsk), cancelled).await["code"], "CANCELLED");
    assert_eq!(slow.calls_under_way(), 0);

    let panics = gate_with(vec![probe(false, 0, |_| panic!("on purpose"))]);
    let failed = call(&panics, &person(Answer::NobodyToAsk), never()).await;
    assert_eq!((&failed["code"], &failed["executed"]), (&json!("EXECUTION_FAILED"), &json!(true)));
}

#[tokio::test]
async fn tools_of_the_host_are_run_by_the_host() {
    let gate = gate_with(vec![definition("native", Body::Host)]);
    let host: Arc<dyn Host> = person(Answer::Yes);
    let context = CallContext { call_id: "c".into(), cancelled: CancellationToken::new(), timeout: None, on_progress: None };
    let request = Request { name: "native".into(), arguments: "{}".into(), context };
    assert_eq!(execute(&gate, &host, request).await.unwrap(), "host ran native");
}

#[derive(Default)]
struct Log(Mutex<Vec<Event>>);

impl Recorder for Log {
    fn record(&self, event: Event) {
        self.0.lock().push(event);
    }
}

#[test]
fn every_call_is_recorded_once_and_without_secrets() {
    let log = Arc::new(Log::default());
    let denied = Permissions::new(Rules { deny: Some(vec!["denied".into()]), ..Rules::default() }).unwrap();
    let gate = Gate::new(Arc::new(PromptRegistry::default()), Limits::default(), Some(Arc::new(denied)), Some(log.clone()));
    gate.register(Definition { confirmation: PerCall::Always, ..definition("t", Body::Host) }, false).unwrap();
    gate.register(definition("denied", Body::Host), false).unwrap();
    let begin = |name: &str, text: &str| gate.begin(ToolRef::Name(name), Some(text), Some("id")).unwrap();
    let Begun::Open(opened) = begin("t", r#"{"s":"x","password":"hunter2"}"#) else { panic!() };
    gate.confirmed(opened.ticket, Answer::Yes).unwrap();
    gate.finish(opened.ticket, Status::Success, |_| String::new(), 0).unwrap();
    for (name, text) in [("denied", "{}"), ("nobody", "{}"), ("t", "{}")] {
        assert!(matches!(begin(name, text), Begun::Refused(_)));
    }
    use EventKind::{Call, Confirmed, Denied, Executed, Finished};
    let events = std::mem::take(&mut *log.0.lock());
    let kinds: Vec<EventKind> = events.iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [Call, Confirmed, Executed, Finished, Call, Denied, Finished, Call, Denied, Finished, Call, Denied, Finished]);
    let text = serde_json::to_string(&events).unwrap();
    assert!(!text.contains("hunter2") && text.contains("***"), "{text}");
}

proptest! {
    #[test]
    fn no_number_is_a_ticket(bits in any::<u64>()) {
        let gate = gate_with(vec![definition("t", Body::Host)]);
        let real = open(&gate, "t", r#"{"s":"x"}"#).ticket;
        prop_assume!(bits != real.to_bits());
        let forged = Ticket::from_bits(bits);
        prop_assert!(gate.finish(forged, Status::Success, |_| String::new(), 0).is_err());
        prop_assert!(gate.arguments(forged).is_err());
        prop_assert!(gate.confirmed(forged, Answer::Yes).is_err());
        prop_assert_eq!(gate.calls_under_way(), 1);
    }

    #[test]
    fn any_text_is_answered(text in "\\PC{0,200}|[\\[\\]{}\":,0-9a-z\\\\.eE+-]{0,200}") {
        let gate = gate_with(vec![definition("t", Body::Host)]);
        prop_assert!(gate.begin(ToolRef::Name("t"), Some(&text), None).is_ok());
    }
}
