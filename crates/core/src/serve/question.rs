//! A question to the user of a client.

use super::call::Reply;
use rmcp::model::{ClientCapabilities, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema};
use serde_json::{Value, json};

/// The one thing that is asked for.
pub(super) const CONFIRM: &str = "confirm";

/// Whether a client has forms. An empty capability means that it has.
pub(super) fn can_ask(capabilities: Option<&ClientCapabilities>) -> bool {
    capabilities.and_then(|all| all.elicitation.as_ref()).is_some_and(|one| one.form.is_some() || one.url.is_none())
}

/// The form: what will run, and whether it may.
pub(super) fn form(text: String) -> Result<ElicitRequestParams, serde_json::Error> {
    let schema = json!({
        "type": "object",
        "properties": { CONFIRM: { "type": "boolean", "title": "Run this call", "description": "Yes lets exactly this call run, once." } },
        "required": [CONFIRM],
    });
    let requested_schema: ElicitationSchema = serde_json::from_value(schema)?;
    Ok(ElicitRequestParams::FormElicitationParams { meta: None, message: text, requested_schema })
}

/// Only an accepted form that says true is a yes.
pub(super) fn judge(result: &ElicitResult) -> Reply {
    let said = result.content.as_ref().and_then(|content| content.get(CONFIRM));
    if result.action == ElicitationAction::Accept && said == Some(&Value::Bool(true)) { Reply::Yes } else { Reply::No }
}

/// The same for an answer that comes with a call.
pub(super) fn judge_value(answer: &Value) -> Reply {
    serde_json::from_value::<ElicitResult>(answer.clone()).map_or(Reply::No, |result| judge(&result))
}
