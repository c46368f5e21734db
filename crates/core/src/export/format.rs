//! The lists of tools that providers take, each tool's part kept until it changes.

use super::report::Weakening;
use super::{anthropic, gemini, lax, restore, selected, strict};
use crate::gate::Gate;
use crate::prompts::PromptRegistry;
use crate::registry::Entry;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use std::sync::Arc;

/// Whose shape an export has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// OpenAI Chat Completions: <https://platform.openai.com/docs/guides/function-calling?api-mode=chat>.
    OpenaiChat {
        /// Whether tools whose schema can be strict are.
        strict: bool,
    },
    /// OpenAI Responses: <https://platform.openai.com/docs/guides/function-calling>.
    OpenaiResponses {
        /// Whether tools whose schema can be strict are.
        strict: bool,
    },
    /// Anthropic Messages: <https://docs.claude.com/en/api/messages>.
    Anthropic,
    /// Gemini: <https://ai.google.dev/gemini-api/docs/function-calling>.
    Gemini,
    /// The `tools/list` of MCP: <https://modelcontextprotocol.io/specification/2025-11-25/server/tools>.
    Mcp,
}

/// How a schema is written for a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dialect {
    Lax,
    Strict,
    Anthropic,
    Gemini,
    Verbatim,
}

impl Format {
    /// A format by its name: `openai`, `openai-responses`, `anthropic`, `gemini` or `mcp`.
    pub fn named(name: &str, strict: bool) -> Option<Self> {
        match name {
            "openai" => Some(Format::OpenaiChat { strict }),
            "openai-responses" => Some(Format::OpenaiResponses { strict }),
            "anthropic" => Some(Format::Anthropic),
            "gemini" => Some(Format::Gemini),
            "mcp" => Some(Format::Mcp),
            _ => None,
        }
    }

    const fn dialect(self) -> Dialect {
        match self {
            Format::OpenaiChat { strict: true } | Format::OpenaiResponses { strict: true } => Dialect::Strict,
            Format::OpenaiChat { strict: false } | Format::OpenaiResponses { strict: false } => Dialect::Lax,
            Format::Anthropic => Dialect::Anthropic,
            Format::Gemini => Dialect::Gemini,
            Format::Mcp => Dialect::Verbatim,
        }
    }

    /// The key that stands for one which is refused.
    fn key(self) -> fn(&str) -> Option<String> {
        match self {
            Format::Anthropic => anthropic::key,
            Format::Gemini => gemini::key,
            Format::OpenaiChat { .. } | Format::OpenaiResponses { .. } | Format::Mcp => |_| None,
        }
    }

    /// The name that stands for one which is refused. All others take every name that a registry takes.
    fn name(self, name: &str) -> Option<String> {
        if self == Format::Gemini { gemini::name(name) } else { None }
    }
}

/// A tool's schema as it was exported.
#[derive(Debug)]
pub(crate) struct Exported {
    dialect: Dialect,
    /// Changes with the texts that the schema holds.
    revision: u64,
    schema: Option<Box<RawValue>>,
    is_strict: bool,
    weakened: Vec<Weakening>,
}

impl Exported {
    fn new(original: &Value, dialect: Dialect, revision: u64, prompts: &PromptRegistry) -> Self {
        let (schema, is_strict, report) = match dialect {
            Dialect::Lax => lax_schema(original),
            Dialect::Strict => match strict::schema(original, prompts) {
                (Some(schema), report) => (Some(schema), true, report.weakened),
                (None, mut report) => {
                    let (schema, is_strict, mut lax) = lax_schema(original);
                    report.weakened.append(&mut lax);
                    (schema, is_strict, report.weakened)
                }
            },
            Dialect::Anthropic => {
                let (schema, report) = anthropic::schema(original);
                (Some(schema), false, report.weakened)
            }
            Dialect::Gemini => {
                let (schema, report) = gemini::schema(original, prompts);
                (schema, false, report.weakened)
            }
            Dialect::Verbatim => (Some(original.clone()), false, Vec::new()),
        };
        Self { dialect, revision, schema: schema.and_then(|schema| to_raw_value(&schema).ok()), is_strict, weakened: report }
    }
}

fn lax_schema(original: &Value) -> (Option<Value>, bool, Vec<Weakening>) {
    let (keywords, report) = lax::root(original);
    (Some(keywords.into()), false, report.weakened)
}

/// The export of one tool: the one that was made before, where it still holds.
fn exported(gate: &Gate, entry: &Entry, dialect: Dialect) -> Arc<Exported> {
    let revision = gate.prompts().revision().wrapping_add(entry.schema_revision());
    let mut kept = entry.exports.lock();
    if let Some(found) = kept.iter().find(|kept| kept.dialect == dialect && kept.revision == revision) {
        return Arc::clone(found);
    }
    let made = Arc::new(Exported::new(&entry.shown_schema(), dialect, revision, gate.prompts()));
    kept.retain(|kept| kept.dialect != dialect);
    kept.push(Arc::clone(&made));
    made
}

/// The permitted tools as a JSON array in the shape of a provider: all, or the named ones in the given order, each once, unknown names left out.
pub fn tools(gate: &Gate, format: Format, names: Option<&[String]>) -> String {
    let mut out = String::from("[");
    for entry in selected(gate, names) {
        let exported = exported(gate, &entry, format.dialect());
        if let Ok(text) = written(format, &entry, &exported) {
            if out.len() > 1 {
                out.push(',');
            }
            out.push_str(&text);
        }
    }
    out.push(']');
    out
}

fn written(format: Format, entry: &Entry, exported: &Exported) -> serde_json::Result<String> {
    let (description, schema) = (entry.definition.description.as_str(), exported.schema.as_deref());
    let other = format.name(&entry.definition.name);
    let name = other.as_deref().unwrap_or(&entry.definition.name);
    match format {
        Format::OpenaiChat { strict } => {
            let strict = strict.then_some(exported.is_strict);
            serde_json::to_string(&Chat { kind: "function", function: Function { name, description, parameters: schema, strict } })
        }
        Format::OpenaiResponses { .. } => {
            let strict = exported.is_strict;
            serde_json::to_string(&Responses { kind: "function", name, description, parameters: schema, strict })
        }
        Format::Anthropic => serde_json::to_string(&Anthropic { name, description, input_schema: schema }),
        Format::Gemini => serde_json::to_string(&Gemini { name, description, parameters_json_schema: schema }),
        Format::Mcp => serde_json::to_string(&Mcp { name, description, input_schema: schema }),
    }
}

#[derive(Serialize)]
struct Chat<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    description: &'a str,
    parameters: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    strict: Option<bool>,
}

#[derive(Serialize)]
struct Responses<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    name: &'a str,
    description: &'a str,
    parameters: Option<&'a RawValue>,
    strict: bool,
}

#[derive(Serialize)]
struct Anthropic<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: Option<&'a RawValue>,
}

#[derive(Serialize)]
struct Gemini<'a> {
    name: &'a str,
    description: &'a str,
    #[serde(rename = "parametersJsonSchema", skip_serializing_if = "Option::is_none")]
    parameters_json_schema: Option<&'a RawValue>,
}

#[derive(Serialize)]
struct Mcp<'a> {
    name: &'a str,
    description: &'a str,
    #[serde(rename = "inputSchema")]
    input_schema: Option<&'a RawValue>,
}

/// One line of a report: what an export gave up of which tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReportLine {
    /// The tool's own name.
    pub tool: String,
    /// What of it.
    #[serde(flatten)]
    pub weakening: Weakening,
}

/// What an export of these tools gives up, in order of the tools.
pub fn report(gate: &Gate, format: Format, names: Option<&[String]>) -> Vec<ReportLine> {
    let lines = |entry: Arc<Entry>| {
        let tool = &entry.definition.name;
        let renamed = format.name(tool).map(|_| Weakening {
            path: String::new(),
            keyword: "name".to_owned(),
            what: "the name is not allowed there: another stands for it, and calls of it find the tool",
        });
        let weakened = exported(gate, &entry, format.dialect()).weakened.clone();
        let line = |weakening| ReportLine { tool: tool.clone(), weakening };
        renamed.into_iter().chain(weakened).map(line).collect::<Vec<_>>()
    };
    selected(gate, names).into_iter().flat_map(lines).collect()
}

/// Two numbers that stay the same as long as every export does.
pub fn stamp(gate: &Gate) -> (u64, u64) {
    let of_tools = gate.with_registry(|registry| registry.entries().fold(0, |sum: u64, entry| sum.wrapping_add(entry.schema_revision())));
    (gate.generation(), gate.prompts().revision().wrapping_add(of_tools))
}

/// The tool that a provider's call means; nothing where the name is the tool's own, or nobody's.
pub fn own_name(gate: &Gate, format: Format, name: &str) -> Option<String> {
    gate.with_registry(|registry| {
        if registry.get(name).is_some() {
            return None;
        }
        registry.entries().map(|entry| &entry.definition.name).find(|own| format.name(own).as_deref() == Some(name)).cloned()
    })
}

/// Arguments that a model wrote for an export, in the words of the tool's own schema; nothing where they are that already, or are no JSON object.
pub fn restored_arguments(gate: &Gate, format: Format, name: &str, text: &str) -> Option<String> {
    let entry = gate.with_registry(|registry| registry.get(name).cloned())?;
    restore::arguments(&entry.shown_schema(), format.key(), text)
}
