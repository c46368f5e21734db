//! Listing the tools of a server: page by page, definition by definition, so that one bad definition costs only itself.

use super::bounds::SchemaBounds;
use super::client::McpClient;
use super::lane::{HARD_LIMIT, NoResult, Request, request};
use super::output::OutputSchema;
use super::pins;
use super::remote::{self, Mirrored};
use super::schema;
use super::text::{json_string, object};
use super::tool::McpTool;
use super::unlisted::{self, PastLimit};
use crate::error::{ErrorCode, ToolError};
use crate::name;
use crate::sanitize::{clean_prose, clean_text, cut, visible};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

/// Pages that are asked for at most.
const MAX_PAGES: usize = 100;
/// Bytes of one definition.
const MAX_DEFINITION: usize = 512 * 1024;
/// Bytes of a remote name.
const MAX_NAME: usize = 1024;
/// Bytes of a cursor: each one is kept, to know it again, and goes back.
const MAX_CURSOR: usize = 16 * 1024;
/// Skipped definitions that are reported one by one.
const MAX_SKIPPED: usize = 256;
/// The server has no such method: it has no tools.
const METHOD_NOT_FOUND: i64 = -32601;

/// What a server offers.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// Its tools, in the server's order.
    pub tools: Vec<Arc<McpTool>>,
    /// Definitions that were left out, with the reason.
    pub skipped: Vec<Skipped>,
    /// What else was odd about the listing.
    pub warnings: Vec<String>,
    /// How many were left out beside those in `skipped`.
    pub unlisted: usize,
}

/// A definition that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Its name, cleaned and cut, if it has one.
    pub remote_name: Option<String>,
    /// What is wrong with it.
    pub reason: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page<'a> {
    #[serde(borrow)]
    tools: Vec<&'a RawValue>,
    #[serde(borrow)]
    next_cursor: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Definition<'a> {
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    description: Option<&'a RawValue>,
    #[serde(borrow)]
    input_schema: Option<&'a RawValue>,
    #[serde(borrow)]
    output_schema: Option<&'a RawValue>,
    #[serde(borrow)]
    annotations: Option<&'a RawValue>,
}

/// What a server says about the effects of a tool, as far as anything follows from it.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Annotations {
    read_only_hint: Option<bool>,
    idempotent_hint: Option<bool>,
}

/// Whether a second call with the same arguments changes nothing more. Annotations that cannot be read say nothing.
fn is_repeatable(annotations: Option<&RawValue>) -> bool {
    let said: Annotations = annotations.and_then(object).unwrap_or_default();
    said.read_only_hint == Some(true) || said.idempotent_hint == Some(true)
}

/// A definition that was taken, before it has a name among the others.
struct Taken {
    remote_name: String,
    description: String,
    input_schema: serde_json::Value,
    /// Why it is not used, if it is not.
    output: Result<Option<OutputSchema>, String>,
    definition: Box<RawValue>,
    fingerprint: String,
    repeatable: bool,
}

/// Asks for every page.
pub(super) async fn list(client: &Arc<McpClient>) -> Result<Listing, ToolError> {
    let link = client.link();
    let connection = link.connection();
    let mut listing = Listing::default();
    let mut taken = Vec::new();
    let mut past = PastLimit::default();
    let mut cursors = HashSet::new();
    let mut cursor: Option<String> = None;
    let patience = client.options().timeout;
    let started = Instant::now();
    for page in 1.. {
        let members = cursor.as_ref().map(|cursor| format!(r#""cursor":{cursor}"#)).unwrap_or_default();
        let meta = connection.meta.get().map_or("", String::as_str);
        let answer = request(connection, Request { method: "tools/list", members, meta, patience, ..Request::default() }).await;
        let result = match answer {
            Ok(result) => result,
            Err(NoResult::Error { code: METHOD_NOT_FOUND, .. }) if page == 1 => {
                listing.warnings.push("The server does not offer tools.".to_owned());
                break;
            }
            Err(why) => return Err(unlisted::failed(client, why)),
        };
        cursor = read_page(client, &result, &mut taken, &mut listing, &mut past)?;
        let Some(next) = &cursor else { break };
        if taken.len() >= client.options().max_tools {
            past.more_pages = true;
            break;
        }
        if patience.is_some_and(|patience| started.elapsed() > patience.saturating_mul(HARD_LIMIT)) {
            return Err(unlisted::failed(client, NoResult::TimedOut(started.elapsed())));
        }
        if page == MAX_PAGES {
            listing.warnings.push(format!("The listing was cut after {MAX_PAGES} pages."));
            break;
        }
        if !cursors.insert(next.clone()) {
            listing.warnings.push("The listing was cut: the server gave the same cursor twice.".to_owned());
            break;
        }
    }
    if let Some(remote) = connection.wire.remote().filter(|remote| remote.mirrors()) {
        remote.set_mirrored(take_mirrored(&mut taken, &mut listing));
    }
    listing.skipped.extend(past.told(client.options().max_tools));
    if listing.unlisted > 0 {
        listing.warnings.push(format!("{} more definitions were left out.", listing.unlisted));
    }
    listing.tools = name_all(client, taken);
    Ok(listing)
}

/// Takes what is good of a page. Gives the cursor of the next one, as JSON.
fn read_page(
    client: &McpClient,
    result: &RawValue,
    taken: &mut Vec<Taken>,
    listing: &mut Listing,
    past: &mut PastLimit,
) -> Result<Option<String>, ToolError> {
    let Ok(page) = serde_json::from_str::<Page<'_>>(result.get()) else {
        let message = format!("MCP server `{}` answered tools/list with something that is no list of tools.", client.options().namespace);
        return Err(ToolError::new(ErrorCode::ConnectionFailed, message));
    };
    let format = client.options().pins.as_ref().map(pins::Pins::format).unwrap_or_default();
    for raw in page.tools {
        if taken.len() >= client.options().max_tools {
            past.add(raw);
            continue;
        }
        match read_definition(raw, SchemaBounds::of(client.options()), format) {
            Ok(tool) => {
                if let Err(reason) = &tool.output {
                    let name = clean_text(&tool.remote_name, 100);
                    listing.warnings.push(format!("Results of `{name}` are not checked: {reason}."));
                }
                listing.warnings.extend(odd_property(&tool));
                taken.push(tool);
            }
            Err((remote_name, reason)) if listing.skipped.len() < MAX_SKIPPED => listing.skipped.push(Skipped { remote_name, reason }),
            Err(_) => listing.unlisted += 1,
        }
    }
    match page.next_cursor {
        Some(cursor) if cursor.get().starts_with('"') && cursor.get().len() <= MAX_CURSOR => Ok(Some(cursor.get().to_owned())),
        Some(_) => {
            listing.warnings.push("The listing was cut: the server gave a cursor that is no string, or too long.".to_owned());
            Ok(None)
        }
        None => Ok(None),
    }
}

/// Which arguments travel as headers too. A tool that says so in a way that the protocol forbids is left out.
fn take_mirrored(taken: &mut Vec<Taken>, listing: &mut Listing) -> HashMap<String, Vec<Mirrored>> {
    let mut found = HashMap::new();
    taken.retain(|tool| match remote::mirrored(&tool.input_schema) {
        Ok(mirrored) => {
            found.insert(tool.remote_name.clone(), mirrored);
            true
        }
        Err(reason) => {
            listing.skipped.push(Skipped { remote_name: Some(clean_text(&tool.remote_name, 100)), reason });
            false
        }
    });
    found
}

fn read_definition(raw: &RawValue, bounds: SchemaBounds, format: pins::FingerprintFormat) -> Result<Taken, (Option<String>, String)> {
    let unnamed = |reason: &str| Err((None, reason.to_owned()));
    if raw.get().len() > MAX_DEFINITION {
        return unnamed("its definition is too large");
    }
    if !raw.get().starts_with('{') {
        return unnamed("its definition is no object");
    }
    let Ok(definition) = serde_json::from_str::<Definition<'_>>(raw.get()) else { return unnamed("its definition repeats a member") };
    let remote_name = match definition.name.and_then(json_string) {
        Some(name) if name.len() > MAX_NAME => return unnamed("its name is too long"),
        Some(name) if !name.is_empty() => name,
        _ => return unnamed("it has no name"),
    };
    let description = match definition.description {
        None => String::new(),
        Some(text) => match json_string(text) {
            Some(text) => clean_prose(&text, bounds.desc_chars),
            None => return Err((Some(clean_text(&remote_name, 100)), "its description is no string".to_owned())),
        },
    };
    // A promise that cannot be read is no reason to lose the tool.
    let output = definition.output_schema.map(|raw| OutputSchema::read(raw, bounds)).transpose();
    let fingerprint = format.of(raw, bounds.desc_chars).map_err(|fault| format!("its definition {fault}"));
    match schema::prepare(definition.input_schema, bounds).and_then(|input_schema| Ok((input_schema, fingerprint?))) {
        Ok((input_schema, fingerprint)) => {
            let repeatable = is_repeatable(definition.annotations);
            Ok(Taken { remote_name, description, input_schema, output, definition: raw.to_owned(), fingerprint, repeatable })
        }
        Err(reason) => Err((Some(clean_text(&remote_name, 100)), reason)),
    }
}

/// A tool with such a property makes providers of models refuse the whole request.
fn odd_property(tool: &Taken) -> Option<String> {
    let properties = tool.input_schema.get("properties")?.as_object()?;
    let legal =
        |name: &str| (1..=64).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte));
    let name = properties.keys().find(|name| !legal(name))?;
    let (tool, name) = (clean_text(&tool.remote_name, 100), visible(cut(name, 100).unwrap_or(name)));
    Some(format!(
        "`{tool}` has a property `{name}`, a name that providers of models refuse: letters, digits, `_`, `.` and `-`, at most 64."
    ))
}

/// Names depend on the remote names only, not on the order in which the server lists them.
fn name_all(client: &Arc<McpClient>, taken: Vec<Taken>) -> Vec<Arc<McpTool>> {
    let namespace = &client.options().namespace;
    let mut order: Vec<usize> = (0..taken.len()).collect();
    order.sort_by(|&one, &other| taken.get(one).map(|tool| &tool.remote_name).cmp(&taken.get(other).map(|tool| &tool.remote_name)));
    let wanted: Vec<String> = order
        .iter()
        .filter_map(|&place| taken.get(place))
        .map(|tool| name::sanitize(&format!("{namespace}_{}", tool.remote_name)))
        .collect();
    let mut named: Vec<(usize, String)> = order.into_iter().zip(name::dedupe(&wanted)).collect();
    named.sort_unstable();
    let tool = |(tool, (_, name)): (Taken, (usize, String))| {
        Arc::new(McpTool {
            client: client.clone(),
            name,
            remote_name: tool.remote_name,
            description: tool.description,
            input_schema: tool.input_schema,
            output: tool.output.ok().flatten().map(Arc::new),
            definition: tool.definition,
            fingerprint: Some(tool.fingerprint),
            origin: format!("mcp:{namespace}"),
            requires_confirmation: client.options().requires_confirmation,
            repeatable: tool.repeatable,
        })
    };
    taken.into_iter().zip(named).map(tool).collect()
}
