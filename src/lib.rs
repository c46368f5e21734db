//! Node.js binding of `toolbolt-core`: conversion only. Policy and I/O live in the core.

mod builtin;
mod connector;
mod delivery;
mod dispatch;
mod environment;
mod error;
mod export;
mod host;
mod mcp;
mod policy;
mod raw;
mod registry;
mod surroundings;
mod threads;
mod tokens;
mod tools;
mod values;

use napi_derive::napi;

/// Silence for panics, which reach callers as errors.
#[napi_derive::module_init]
fn init() {
    // A panic is caught at the border and answered as an error; printing it too would only clutter the host's terminal.
    std::panic::set_hook(Box::new(|_| {}));
}

/// Every error code, for the TypeScript side to compare its list with.
#[napi(catch_unwind)]
pub fn error_codes() -> Vec<String> {
    toolbolt_core::error::ErrorCode::ALL.iter().map(|code| code.as_str().to_owned()).collect()
}

/// Makes a foreign name fit the rule for tool names.
#[napi(catch_unwind)]
pub fn sanitize_tool_name(name: String) -> String {
    toolbolt_core::name::sanitize(&name)
}

/// Makes foreign names legal and unique, in order.
#[napi(catch_unwind)]
pub fn unique_tool_names(names: Vec<String>) -> Vec<String> {
    toolbolt_core::name::dedupe(&names)
}

/// Groups one turn's calls: each inner list holds the end of a batch that follows the one before.
#[napi(catch_unwind)]
pub fn batch_ends(overlaps: Vec<bool>) -> Vec<u32> {
    toolbolt_core::schedule::batches(&overlaps).into_iter().map(|range| u32::try_from(range.end).unwrap_or(u32::MAX)).collect()
}

/// The JSON Schema of a list of parameters, both as JSON.
#[napi(catch_unwind)]
pub fn parameters_to_schema(parameters: String) -> napi::Result<String> {
    let parameters: Vec<toolbolt_core::schema::parameter::Parameter> = values::parse(&parameters)?;
    Ok(toolbolt_core::schema::parameter::to_schema(&parameters).map_err(error::to_js)?.to_string())
}
