//! Web search: services are asked one after the other until one has results.

mod answer;
mod found;
mod options;
mod page;
mod reason;
mod request;
mod source;

pub use options::{MAX_RESULTS, SearchOptions};
pub use source::Source;

use crate::builtin::arguments;
use crate::error::{ErrorCode, ToolError};
use crate::http::{Bounds, Client, Redirects, Secrets};
use crate::prompts::PromptRegistry;
use crate::response::ToolResponse;
use crate::sanitize::{clean_text, cut};
use crate::surroundings::Surroundings;
use crate::tool::{Arguments, CallContext, NativeTool};
use found::{Found, Item};
use futures_util::future::BoxFuture;
use options::Place;
use reason::Reason;
use request::Question;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use std::fmt;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OnceCell;
use tokio::time::{Instant, timeout_at};

/// The tool's name.
pub const NAME: &str = "search";
/// The most characters a query may have: more than that is refused by the services.
pub const MAX_QUERY_CHARS: usize = 400;
/// Bytes of an answer, after decompression.
pub const MAX_BODY_BYTES: usize = 2 * 1024 * 1024;

const BOUNDS: Bounds = Bounds { connect_timeout: Duration::from_secs(5), redirects: Redirects::Near(5), body_bytes: MAX_BODY_BYTES };

/// The variables that hold keys.
const KEY_VARIABLES: &[&str] = &["TAVILY_API_KEY", "BRAVE_API_KEY", "SERPAPI_API_KEY"];

/// What the model is told of the tool.
pub fn description(prompts: &PromptRegistry) -> String {
    prompts.text("tool.desc.search", &[])
}

/// The JSON schema of the arguments.
pub fn input_schema(prompts: &PromptRegistry) -> Value {
    arguments::schema::<SearchArguments>(prompts, &[("query", "tool.param.search.query")])
}

/// The results in an answer of a source as JSON, cleaned and bounded as in [`SearchTool`]'s data. `None` for what is no answer.
pub fn read_answer(source: Source, body: &str) -> Option<String> {
    let found = answer::read(source, body).ok()?.cleaned(&Secrets::default());
    serde_json::to_string(&found.items).ok()
}

#[derive(Deserialize, JsonSchema)]
struct SearchArguments {
    query: String,
}

/// What a program reads of a search.
#[derive(Serialize)]
struct SearchData<'a> {
    source: &'static str,
    answer: Option<&'a str>,
    results: &'a [Item],
    #[serde(skip_serializing_if = "Option::is_none")]
    degraded: Option<&'a [String]>,
}

/// The search as a tool: one required string `query`, nobody is asked, results are text from outside.
pub struct SearchTool {
    places: Vec<Place>,
    max_results: usize,
    timeout: Duration,
    deadline: Duration,
    prompts: Arc<PromptRegistry>,
    surroundings: Arc<dyn Surroundings>,
    client: OnceCell<Client>,
}

/// Without keys.
impl fmt::Debug for SearchTool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SearchTool").field("max_results", &self.max_results).finish_non_exhaustive()
    }
}

impl SearchTool {
    /// A search with these options. Keys that they do not have are asked of the surroundings at each call.
    ///
    /// # Errors
    /// `INVALID_OPTIONS` for an option out of range.
    pub fn new(options: SearchOptions, surroundings: Arc<dyn Surroundings>) -> Result<Self, ToolError> {
        let places = options.places()?;
        let SearchOptions { max_results, timeout, deadline, prompts, .. } = options;
        Ok(Self { places, max_results, timeout, deadline, prompts, surroundings, client: OnceCell::new() })
    }

    /// The query of a call as it is sent.
    fn query(&self, arguments: &Arguments) -> Result<String, ToolResponse> {
        let refuse = |text| ToolResponse::failed(ErrorCode::InvalidArguments, text, false);
        let SearchArguments { query } = arguments::read(arguments)?;
        let query = query.trim();
        if cut(query, MAX_QUERY_CHARS).is_some() {
            return Err(refuse(self.prompts.text("tool.msg.search.too_long", &[("max", &MAX_QUERY_CHARS.to_string())])));
        }
        let query = clean_text(query, MAX_QUERY_CHARS).split_whitespace().collect::<Vec<_>>().join(" ");
        if query.is_empty() {
            return Err(refuse(self.prompts.text("tool.msg.search.empty", &[])));
        }
        Ok(query)
    }

    async fn search(&self, query: &str) -> ToolResponse {
        let end = Instant::now() + self.deadline;
        let keys = self.keys().await;
        let secrets = Secrets::new(keys.iter().flatten().map(String::as_str));
        let mut failures = Vec::new();
        for (place, key) in self.places.iter().zip(&keys) {
            match self.ask(query, place, key.as_deref(), end).await.map(|found| found.cleaned(&secrets)) {
                Ok(found) if !found.items.is_empty() => return self.respond(place.source, &found, &failures),
                Ok(_) => failures.push(Reason::Nothing.line(place.source, &self.prompts)),
                Err(reason) => failures.push(reason.line(place.source, &self.prompts)),
            }
        }
        ToolResponse::error(self.prompts.text("tool.msg.search.all_failed", &[("errors", &failures.join("\n"))]))
    }

    async fn ask(&self, query: &str, place: &Place, key: Option<&str>, end: Instant) -> Result<Found, Reason> {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Reason::OutOfTime);
        }
        let until = end.min(Instant::now() + self.timeout);
        let asking = async {
            let client = self.client.get_or_try_init(|| Client::new(BOUNDS, &*self.surroundings)).await?;
            Question { client, query, max_results: self.max_results, until }.ask(place, key).await
        };
        let late = if left < self.timeout { Reason::OutOfTime } else { Reason::TimedOut(self.timeout) };
        timeout_at(until, asking).await.unwrap_or(Err(late))
    }

    /// The key of each place, as it is now.
    async fn keys(&self) -> Vec<Option<String>> {
        let variables = self.surroundings.variables(KEY_VARIABLES).await;
        let from_environment = |source: Source| {
            let place = KEY_VARIABLES.iter().position(|name| source.key_variable() == Some(name))?;
            let key = variables.get(place)?.as_deref()?.trim();
            (!key.is_empty()).then(|| key.to_owned())
        };
        self.places.iter().map(|place| place.key.clone().or_else(|| from_environment(place.source))).collect()
    }

    fn respond(&self, source: Source, found: &Found, failures: &[String]) -> ToolResponse {
        let mut text = self.prompts.text("tool.msg.search.source_label", &[("source", source.label())]);
        if let Some(answer) = found.answer.as_deref().filter(|answer| !answer.is_empty()) {
            text.push('\n');
            text.push_str(&self.prompts.text("tool.msg.search.ai_answer", &[("answer", answer)]));
            text.push('\n');
        }
        for (number, item) in found.items.iter().take(self.max_results).enumerate() {
            let [title, snippet, url] = [&item.title, &item.snippet, &item.url].map(|part| part.as_deref().unwrap_or_default());
            // Writing to a string cannot fail.
            let _ = write!(text, "\n{}. {title}\n   {snippet}\n   {url}", number + 1);
        }
        let data = SearchData {
            source: source.label(),
            answer: found.answer.as_deref(),
            results: &found.items,
            degraded: (!failures.is_empty()).then_some(failures),
        };
        let data = serde_json::to_string(&data).ok().and_then(|data| RawValue::from_string(data).ok());
        ToolResponse { data, ..ToolResponse::ok(text) }
    }
}

impl NativeTool for SearchTool {
    fn needs_confirmation(&self, _arguments: &Arguments) -> bool {
        false
    }

    fn is_external_content(&self, _arguments: &Arguments) -> bool {
        true
    }

    fn check(&self, arguments: &Arguments) -> Result<(), ToolResponse> {
        self.query(arguments).map(drop)
    }

    fn input_schema(&self) -> Option<Value> {
        Some(input_schema(&self.prompts))
    }

    fn schema_revision(&self) -> u64 {
        self.prompts.revision()
    }

    fn uses_network(&self) -> bool {
        true
    }

    fn run(self: Arc<Self>, arguments: Arguments, context: CallContext) -> BoxFuture<'static, ToolResponse> {
        Box::pin(async move {
            let query = match self.query(&arguments) {
                Ok(query) => query,
                Err(refused) => return refused,
            };
            tokio::select! {
                biased;
                () = context.cancelled.cancelled() => {
                    ToolResponse::failed(ErrorCode::Cancelled, self.prompts.text("tool.error.cancelled", &[("name", NAME)]), true)
                }
                response = self.search(&query) => response,
            }
        })
    }
}
