//! Web search.

#![expect(unreachable_pub, reason = "the macro exports what the module system does not see")]

use crate::environment;
use crate::error::{misuse, to_js};
use crate::policy::NativePrompts;
use crate::surroundings::JsSurroundings;
use crate::tools::NativeTool;
use crate::values::duration;
use napi::bindgen_prelude::Result;
use napi_derive::napi;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use toolbolt_core::builtin::search::{SearchOptions, SearchTool, Source, description, input_schema};

/// What can be chosen of a search; the defaults for what is absent.
#[napi(object)]
pub struct NativeSearchOptions {
    /// How many results the text lists.
    pub max_results: Option<u32>,
    /// Which services are asked, in order.
    pub sources: Option<Vec<String>>,
    /// Keys by service.
    pub keys: HashMap<String, String>,
    /// Addresses by service.
    pub base_urls: HashMap<String, String>,
    /// Limit for one service in milliseconds.
    pub timeout_ms: Option<f64>,
    /// Limit for all of them in milliseconds.
    pub deadline_ms: Option<f64>,
}

/// Web search.
#[napi(catch_unwind)]
pub fn search_tool(options: NativeSearchOptions, prompts: &NativePrompts) -> Result<NativeTool> {
    let mut search = SearchOptions { prompts: Arc::clone(&prompts.inner), ..SearchOptions::default() };
    search.max_results = options.max_results.map_or(search.max_results, |results| results as usize);
    search.timeout = limit(options.timeout_ms, search.timeout);
    search.deadline = limit(options.deadline_ms, search.deadline);
    if let Some(sources) = options.sources {
        search.sources = sources.iter().map(|id| source(id)).collect::<Result<_>>()?;
    }
    search.keys = by_source(options.keys)?;
    search.base_urls = by_source(options.base_urls)?;
    let surroundings = Arc::new(JsSurroundings::new(environment::dispatcher().as_ref()));
    let tool = SearchTool::new(search, surroundings).map_err(to_js)?;
    Ok(NativeTool::new(Arc::new(tool), description(&prompts.inner), input_schema(&prompts.inner).to_string()))
}

/// What no duration can hold is longer than any limit that is allowed.
fn limit(milliseconds: Option<f64>, default: Duration) -> Duration {
    milliseconds.map_or(default, |_| duration(milliseconds).unwrap_or(Duration::MAX))
}

fn by_source(values: HashMap<String, String>) -> Result<Vec<(Source, String)>> {
    values.into_iter().map(|(id, value)| Ok((source(&id)?, value))).collect()
}

fn source(id: &str) -> Result<Source> {
    let known = Source::ALL.map(Source::id).join(", ");
    Source::from_id(id).ok_or_else(|| misuse(&format!("there is no search source '{id}'; there are {known}")))
}
