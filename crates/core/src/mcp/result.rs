//! From a server's answer to a tool's response.

use super::connection::{Failure, HttpFacts};
use super::diagnostics::Collector;
use super::frame::present;
use super::lane::NoResult;
use super::output::OutputSchema;
use super::text::{clean_all, json_string, object};
use crate::error::ErrorCode;
use crate::exact;
use crate::prompts::PromptRegistry;
use crate::response::ToolResponse;
use crate::sanitize::clean_text;
use serde::Deserialize;
use serde_json::value::RawValue;

/// The server takes the params of a request for wrong.
const INVALID_PARAMS: i64 = -32602;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Parts<'a> {
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    structured_content: Option<&'a RawValue>,
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'a RawValue>,
    #[serde(borrow)]
    is_error: Option<&'a RawValue>,
    #[serde(borrow)]
    result_type: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Block<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    resource: Option<&'a RawValue>,
    #[serde(borrow)]
    uri: Option<&'a RawValue>,
    #[serde(borrow)]
    mime_type: Option<&'a RawValue>,
}

/// Characters of a kind, an address or a type that stand for what is not text.
const MENTION_CHARS: usize = 200;

/// What the sentences about a call are made of.
pub(super) struct Words<'a> {
    pub(super) server: &'a str,
    pub(super) prompts: &'a PromptRegistry,
    /// Whether the server is about to be started anew.
    pub(super) restarting: bool,
}

/// What a tool's results are to be like.
pub(super) struct Promise<'a> {
    pub(super) schema: &'a OutputSchema,
    pub(super) tool: &'a str,
    pub(super) collector: &'a Collector,
}

impl Words<'_> {
    pub(super) fn about(&self, key: &str) -> String {
        self.prompts.text(key, &[("server", self.server)])
    }
}

/// The response of a call that the server answered with a result. Every part of the result stays as it was written.
pub(super) fn response(result: &RawValue, words: &Words<'_>, promise: Option<&Promise<'_>>) -> ToolResponse {
    let fail = |key: &str| ToolResponse::failed(ErrorCode::ExecutionFailed, words.about(key), true);
    let Some(parts) = parts(result) else { return fail("tool.msg.mcp.bad_result") };
    match parts.result_type.map(RawValue::get) {
        None | Some(r#""complete""#) => {}
        // More input before it runs, a task in the background, or what nobody knows.
        Some(_) => return fail("tool.msg.mcp.unsupported"),
    }
    if let Some(number) = exact::first_overflow(result.get()) {
        let number = number.get(..40).unwrap_or(number);
        let text = words.prompts.text("tool.msg.mcp.bad_number", &[("server", words.server), ("number", number)]);
        return ToolResponse::failed(ErrorCode::ExecutionFailed, text, true);
    }
    let content = parts.content.map_or("[]", RawValue::get);
    let Ok(blocks) = serde_json::from_str::<Vec<&RawValue>>(content) else { return fail("tool.msg.mcp.bad_result") };

    let mut texts: Vec<String> = Vec::with_capacity(blocks.len());
    let mut only_mentions = true;
    for block in blocks.iter().filter_map(|block| object::<Block<'_>>(block)) {
        let text = text_of(&block);
        only_mentions &= text.is_none();
        texts.extend(text.or_else(|| mention(&block, words.prompts)));
    }
    // A server may write down what is absent.
    if let Some(structured) = parts.structured_content.filter(|structured| only_mentions && structured.get() != "null") {
        texts.insert(0, clean_all(structured.get()));
    }
    let text = if texts.is_empty() { words.prompts.text("tool.msg.mcp.no_text", &[]) } else { texts.join("\n") };

    let mut data = format!(r#"{{"content":{content}"#);
    for (name, part) in [("structuredContent", parts.structured_content), ("_meta", parts.meta)] {
        if let Some(part) = part {
            data.push_str(&format!(r#","{name}":{part}"#));
        }
    }
    data.push('}');
    let Ok(data) = RawValue::from_string(data) else { return fail("tool.msg.mcp.bad_result") };

    // Only an explicit no is a no: a server that says anything else here means to report a failure.
    let failed = parts.is_error.is_some_and(|flag| flag.get() != "false");
    // A program that relies on the schema must not take what breaks it for a success; whoever looks still finds everything in the data.
    let broken =
        promise.filter(|_| !failed).and_then(|promise| promise.schema.faults(parts.structured_content, promise.tool, promise.collector));
    if let Some(problems) = broken {
        let text = words.prompts.text("tool.msg.mcp.bad_output", &[("server", words.server), ("problems", &problems), ("text", &text)]);
        return ToolResponse::failed(ErrorCode::ExecutionFailed, text, true).with_data(data);
    }
    match failed {
        true => ToolResponse::error(words.prompts.text("tool.msg.mcp.error", &[("text", &text)])).with_data(data),
        false => ToolResponse::ok(text).with_data(data),
    }
}

/// The state to send along with the same call again, for a result that asks for nothing else.
pub(super) fn to_be_continued(result: &RawValue) -> Option<Box<RawValue>> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Unfinished<'a> {
        result_type: &'a str,
        #[serde(borrow)]
        input_requests: Option<&'a RawValue>,
        #[serde(borrow)]
        request_state: Option<&'a RawValue>,
    }
    // Most results have none of it, and are long.
    if !result.get().contains("input_required") {
        return None;
    }
    let unfinished: Unfinished<'_> = serde_json::from_str(result.get()).ok()?;
    let asks = unfinished.input_requests.is_some_and(|requests| !matches!(requests.get(), "{}" | "null"));
    let state = unfinished.request_state.filter(|state| state.get().starts_with('"'))?;
    (unfinished.result_type == "input_required" && !asks).then(|| state.to_owned())
}

/// `None` unless it is an object. An empty one is the result of a tool that has nothing to say.
fn parts(result: &RawValue) -> Option<Parts<'_>> {
    object(result)
}

/// The text of a block, or of the resource that it holds.
fn text_of(block: &Block<'_>) -> Option<String> {
    let text = match json_string(block.kind?)?.as_str() {
        "text" => block.text.and_then(json_string),
        "resource" => object::<Block<'_>>(block.resource?)?.text.and_then(json_string),
        _ => None,
    };
    text.map(|text| clean_all(&text))
}

/// A line that stands for what a text cannot hold, so that a model knows of it.
fn mention(block: &Block<'_>, prompts: &PromptRegistry) -> Option<String> {
    let kind = json_string(block.kind?)?;
    let holder = block.resource.and_then(object::<Block<'_>>);
    let holder = holder.as_ref().unwrap_or(block);
    let facts: Vec<String> = [Some(kind), holder.mime_type.and_then(json_string), holder.uri.and_then(json_string)]
        .into_iter()
        .flatten()
        .map(|fact| clean_text(&fact, MENTION_CHARS))
        .collect();
    Some(prompts.text("tool.msg.mcp.part", &[("part", &facts.join(", "))]))
}

/// The response of a call on a connection that is over. The server's last words are data: they may hold paths and stack traces.
fn lost(failure: Failure, sent: bool, words: &Words<'_>) -> ToolResponse {
    let reason = failure.brief.as_deref().unwrap_or(&failure.message);
    let text = match failure.code {
        ErrorCode::Closed => words.prompts.text("tool.msg.mcp.no_session", &[]),
        // What was sent may have had its effect: nobody is invited to repeat it.
        _ if sent => words.prompts.text("tool.msg.mcp.lost_midway", &[("reason", reason)]),
        _ if words.restarting => format!("{reason} {}", words.prompts.text("tool.msg.mcp.restarting", &[])),
        _ => words.prompts.text("tool.msg.mcp.lost", &[("reason", reason)]),
    };
    let response = ToolResponse::failed(failure.code, text, sent);
    let stderr = failure.stderr.map(|tail| serde_json::json!({ "stderr": tail }));
    let http = failure.http.map(HttpFacts::to_json);
    let data = stderr.or(http).and_then(|facts| RawValue::from_string(facts.to_string()).ok());
    ToolResponse { data, ..response }
}

/// The response of a call without a result.
pub(super) fn failure(why: NoResult, words: &Words<'_>) -> ToolResponse {
    match why {
        NoResult::Error { code, message } => {
            // Only this code says that the arguments are at fault.
            let key = if code == INVALID_PARAMS { "tool.msg.mcp.error" } else { "tool.msg.mcp.refused" };
            let text = words.prompts.text(key, &[("text", &format!("{message} (code {code})"))]);
            ToolResponse::failed(ErrorCode::ExecutionFailed, text, true)
        }
        NoResult::Gone(gone) => lost(gone, true, words),
        NoResult::NotSent(gone) => lost(gone, false, words),
        NoResult::TimedOut(after) => {
            let seconds = format!("{:.1}", after.as_secs_f64());
            ToolResponse::failed(ErrorCode::Timeout, words.prompts.text("tool.msg.mcp.timeout", &[("timeout", &seconds)]), true)
        }
        NoResult::NoTurn(after) => {
            let seconds = format!("{:.1}", after.as_secs_f64());
            let text = words.prompts.text("tool.msg.mcp.busy", &[("server", words.server), ("timeout", &seconds)]);
            ToolResponse::failed(ErrorCode::Timeout, text, false)
        }
        NoResult::Cancelled { sent } => ToolResponse::failed(ErrorCode::Cancelled, words.about("tool.msg.mcp.cancelled"), sent),
        NoResult::Blocked => ToolResponse::failed(ErrorCode::ConnectionFailed, words.about("tool.msg.mcp.blocked"), false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::response::Status;

    fn of(json: &str) -> ToolResponse {
        response(
            &RawValue::from_string(json.to_owned()).expect("valid"),
            &Words { server: "s", prompts: &PromptRegistry::default(), restarting: false },
            None,
        )
    }

    #[test]
    fn keeps_every_part_as_written() {
        let response = of(
            r#"{"content":[{"type":"text","text":"a\ud800b"},{"type":"new","x":0.70},{"type":"text","text":"c","annotations":{"priority":0.7}}],"structuredContent":{"n":12345678901234567890123,"b":1.0},"_meta":{"k":null},"other":1}"#,
        );
        assert_eq!(response.text, "a\u{fffd}\u{fffd}\u{fffd}b\n[new: not shown here, the program has it]\nc");
        assert_eq!(
            response.data.expect("data").get(),
            r#"{"content":[{"type":"text","text":"a\ud800b"},{"type":"new","x":0.70},{"type":"text","text":"c","annotations":{"priority":0.7}}],"structuredContent":{"n":12345678901234567890123,"b":1.0},"_meta":{"k":null}}"#
        );
        assert_eq!(of("{}").data.expect("data").get(), r#"{"content":[]}"#);
        assert_eq!(of(r#"{"structuredContent":42}"#).text, "42");
        assert_eq!(of(r#"{"structuredContent":null}"#).data.expect("data").get(), r#"{"content":[],"structuredContent":null}"#);
    }

    #[test]
    fn mentions_what_a_text_cannot_hold() {
        let text = |json: &str| of(json).text;
        let file = r#"{"type":"resource","resource":{"uri":"file:///a.md","mimeType":"text/markdown","text":"All"}}"#;
        assert_eq!(text(&format!(r#"{{"content":[{file}]}}"#)), "All");
        let blob = r#"{"type":"resource","resource":{"uri":"file:///a.bin","blob":"AA=="}}"#;
        let image = r#"{"type":"image","mimeType":"image/png","data":"AA=="}"#;
        let all = text(&format!(r#"{{"content":[{{"type":"text","text":"t"}},{image},{blob},{{"type":"re\u0000x"}}]}}"#));
        assert_eq!(
            all,
            "t\n[image, image/png: not shown here, the program has it]\n[resource, file:///a.bin: not shown here, the program has it]\n[rex: not shown here, the program has it]"
        );
        assert_eq!(
            text(&format!(r#"{{"content":[{image}],"structuredContent":1}}"#)),
            "1\n[image, image/png: not shown here, the program has it]"
        );
    }

    #[test]
    fn tells_failures() {
        assert_eq!(of(r#"{"content":[],"isError":true}"#).status, Status::Error);
        assert_eq!(of(r#"{"content":[],"isError":false}"#).status, Status::Success);
        for json in [
            "1",
            "[]",
            r#"{"content":{}}"#,
            r#"{"resultType":"input_required"}"#,
            r#"{"content":[],"resultType":"x"}"#,
            r#"{"content":[1e400]}"#,
        ] {
            assert_eq!(of(json).code, Some(ErrorCode::ExecutionFailed), "{json}");
        }
    }
}
