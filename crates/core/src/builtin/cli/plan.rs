//! From a command line to what is run, or to the reason why nothing is.

use super::CliTool;
use super::policy::Ruling;
use super::program::Program;
use super::split::{MAX_BYTES, MAX_WORDS, SplitError, split};
use crate::error::ErrorCode;
use crate::prompts::PromptRegistry;
use crate::response::ToolResponse;
use crate::sanitize::{cut, visible};

/// Characters of a word of the command that an answer repeats, and words that it lists.
const MAX_WORD_CHARS: usize = 100;
const MAX_LISTED: usize = 10;

/// A command that may run, or that the app has to be asked about.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    pub(super) name: String,
    pub(super) file: &'a str,
    pub(super) program: &'a Program,
    pub(super) arguments: Vec<String>,
    /// Whether the app has to be asked first.
    pub(super) ask: bool,
    pub(super) writes: bool,
    pub(super) network: bool,
}

impl CliTool {
    /// # Errors
    /// The response that says why the command is not run.
    pub(super) fn plan(&self, command: &str) -> Result<Plan<'_>, ToolResponse> {
        let mut words = split(command).map_err(|error| self.unreadable(&error))?.into_iter();
        let Some(name) = words.next() else {
            return Err(invalid(self.prompts.text("tool.msg.shell.empty_cmd", &[])));
        };
        let Some(program) = self.programs.get(&name) else { return Err(self.not_allowed(&name)) };
        let arguments: Vec<String> = words.collect();
        let (ask, writes, network) = match self.policy.judge(&name, &program.real_name, &arguments) {
            Ruling::Allowed { writes, network } => (false, writes, network),
            // What an app allows may do anything.
            Ruling::Ask => (true, true, true),
            Ruling::Refused(bad) => return Err(denied(self.prompts.text("tool.msg.shell.dangerous_arg", &[("bad", &listed(&bad))]))),
            Ruling::RefusedProgram => return Err(denied(self.prompts.text("tool.msg.shell.refused_program", &[("program", &name)]))),
        };
        let Some(file) = program.file.as_deref().and_then(|file| file.to_str()) else {
            let text = self.prompts.text("tool.msg.shell.cmd_not_found", &[("program", &name)]);
            return Err(ToolResponse::failed(ErrorCode::ExecutionFailed, text, false));
        };
        Ok(Plan { name, file, program, arguments, ask, writes, network })
    }

    fn unreadable(&self, error: &SplitError) -> ToolResponse {
        let reason = match error {
            SplitError::Operators(operators) => {
                return invalid(self.prompts.text("tool.msg.shell.operator", &[("bad", &listed(operators))]));
            }
            SplitError::OpenQuote => self.prompts.text("tool.msg.shell.open_quote", &[]),
            SplitError::OpenEscape => self.prompts.text("tool.msg.shell.open_escape", &[]),
            SplitError::SecondLine => self.prompts.text("tool.msg.shell.second_line", &[]),
            SplitError::Nul => self.prompts.text("tool.msg.shell.nul", &[]),
            SplitError::TooLong => {
                self.prompts.text("tool.msg.shell.too_long", &[("bytes", &MAX_BYTES.to_string()), ("words", &MAX_WORDS.to_string())])
            }
        };
        invalid(self.prompts.text("tool.msg.shell.parse_failed", &[("err", &reason)]))
    }

    fn not_allowed(&self, name: &str) -> ToolResponse {
        let text = self.prompts.text("tool.msg.shell.not_allowed", &[("program", &shown(name)), ("allowed", &self.allowed(&self.prompts))]);
        denied(text)
    }

    /// The allowed programs that can run, in order, or the word for none.
    pub(super) fn allowed(&self, prompts: &PromptRegistry) -> String {
        let able: Vec<&str> =
            self.programs.iter().filter(|(_, program)| program.unavailable.is_none()).map(|(name, _)| name.as_str()).collect();
        if able.is_empty() { prompts.text("tool.none", &[]) } else { able.join(", ") }
    }
}

pub(super) fn denied(text: String) -> ToolResponse {
    ToolResponse::failed(ErrorCode::PermissionDenied, text, false)
}

fn invalid(text: String) -> ToolResponse {
    ToolResponse::failed(ErrorCode::InvalidArguments, text, false)
}

fn shown(word: &str) -> String {
    match cut(word, MAX_WORD_CHARS) {
        Some(head) => format!("{}…", visible(head)),
        None => visible(word),
    }
}

fn listed(words: &[String]) -> String {
    let mut quoted: Vec<String> = words.iter().take(MAX_LISTED).map(|word| format!("'{}'", shown(word))).collect();
    if words.len() > MAX_LISTED {
        quoted.push("…".to_owned());
    }
    format!("[{}]", quoted.join(", "))
}
