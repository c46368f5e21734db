//! The command line: one allowed program per call, without a shell.
//!
//! A line is split by quoting rules alone, its program looked up in the allowlist, its arguments judged by the policy, and the program run
//! by its absolute path with an environment of its own. It is no sandbox: an allowed program does what its arguments say, with the rights
//! of the host. Where the kernel has Landlock, one can be added.

mod capture;
mod plan;
pub mod policy;
mod program;
mod report;
mod repository;
mod run;
pub mod split;

use crate::builtin::arguments;
use crate::error::{ErrorCode, ToolError};
use crate::process::{self, Sandbox, SpawnOptions};
use crate::prompts::PromptRegistry;
use crate::response::ToolResponse;
use crate::sanitize::clean_text;
use crate::tool::{Arguments, CallContext, NativeTool};
use futures_util::future::{BoxFuture, FutureExt};
use plan::{Plan, denied};
use policy::Policy;
use program::Program;
pub use program::Unavailable;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The tool's name.
pub const NAME: &str = "shell";
/// Characters of an app's own reason that reach the model.
const MAX_REASON_CHARS: usize = 1_000;
/// So much sooner than the limit of a call the program is stopped, so that its output is kept.
const BEFORE_LIMIT: Duration = Duration::from_millis(400);

/// Whether the kernel is asked to confine programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SandboxMode {
    /// Where it can.
    BestEffort,
    /// Or nothing runs.
    Required,
}

/// How programs are run.
#[derive(Clone, Debug)]
pub struct CliOptions {
    /// Bare names of the programs that may run; none means that nothing may.
    pub allowed: Vec<String>,
    /// The `PATH` in whose absolute folders they are looked up, once.
    pub path: String,
    /// The whole environment of a program.
    pub env: Vec<(String, String)>,
    /// The folder that programs start in; the host's if not given.
    pub cwd: Option<String>,
    /// For one program, from start to end.
    pub timeout: Duration,
    /// Characters shown of each stream.
    pub max_output_chars: usize,
    /// Bytes read of each stream; one more and the program is stopped.
    pub max_output_bytes: usize,
    /// Which arguments are allowed.
    pub policy: Policy,
    /// Whether programs are confined.
    pub sandbox: Option<SandboxMode>,
    /// Which host environment runs them, for [`process::kill_all`].
    pub owner: u64,
}

/// What an app says of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookAnswer {
    /// It may run.
    Allow,
    /// It may not, for this reason.
    Refuse(String),
    /// No answer that could be understood, which is a no.
    Broken,
}

/// An app's own argument policy.
pub trait ArgumentHook: Send + Sync {
    /// Judges a command: the bare name of its program, and its words with the program's absolute path first.
    fn judge(&self, program: &str, words: &[String]) -> BoxFuture<'static, HookAnswer>;
}

/// The command line as a tool: one required string `command`; always confirmed, its results are external content.
pub struct CliTool {
    prompts: Arc<PromptRegistry>,
    programs: BTreeMap<String, Program>,
    policy: Policy,
    hook: Option<Arc<dyn ArgumentHook>>,
    options: CliOptions,
}

#[derive(Default, Deserialize, JsonSchema)]
struct CliArguments {
    command: String,
}

impl CliTool {
    /// Looks up every allowed program.
    ///
    /// # Errors
    /// `INVALID_OPTIONS` for a name that is not bare and a `cwd` that is no folder; `UNSUPPORTED_PLATFORM` where there are no process groups, or no sandbox and one is
    /// required.
    pub fn new(options: CliOptions, hook: Option<Arc<dyn ArgumentHook>>, prompts: Arc<PromptRegistry>) -> Result<Self, ToolError> {
        let unsupported = |what: &str| Err(ToolError::new(ErrorCode::UnsupportedPlatform, what));
        if !cfg!(unix) {
            return unsupported("the command line tool needs a POSIX system: elsewhere a program's descendants cannot be stopped");
        }
        if options.sandbox == Some(SandboxMode::Required) && !process::sandbox_is_available() {
            return unsupported(
                "sandbox: 'required' needs a Linux kernel with Landlock of version 4 or later; use 'best-effort' to run without",
            );
        }
        if let Some(cwd) = options.cwd.as_deref().filter(|cwd| !process::is_folder(cwd)) {
            let message = format!("cwd is not a folder: {cwd:?}; give the path of one that exists");
            return Err(ToolError::new(ErrorCode::InvalidOptions, message));
        }
        let policy = options.policy.clone();
        let programs = program::resolve(&options.allowed, &options.path, &policy)?;
        Ok(Self { prompts, programs, policy, hook, options })
    }

    /// Allowed programs that never run as things are, in order.
    pub fn unavailable(&self) -> impl Iterator<Item = (&str, Unavailable)> {
        self.programs.iter().filter_map(|(name, program)| Some((name.as_str(), program.unavailable?)))
    }

    /// What the model is told of the tool.
    pub fn description(&self) -> String {
        self.prompts.text("tool.desc.shell", &[("allowed", &self.allowed(&self.prompts))])
    }

    /// The program gets `timeout`; `told` is the limit that somebody knows of.
    async fn execute(&self, command: &str, timeout: Duration, told: Duration) -> Result<ToolResponse, ToolResponse> {
        let plan = self.plan(command)?;
        if plan.ask {
            self.ask(&plan).await?;
        }
        let options = self.spawn_options(&plan);
        if let Some(git) = self.policy.git(&plan.name, &plan.program.real_name)
            && plan.arguments.iter().any(|argument| !argument.starts_with('-'))
            && let Some(name) = repository::objection(git, &options).await
        {
            return Err(denied(self.prompts.text("tool.msg.shell.repository", &[("name", &clean_text(&name, 100))])));
        }
        let limits = run::Limits { timeout, max_bytes: self.options.max_output_bytes };
        match run::run(options, limits).await {
            Ok(ran) => Ok(self.report(&ran, told.min(self.options.timeout))),
            Err(error) => Err(self.not_started(&plan, &error)),
        }
    }

    async fn ask(&self, plan: &Plan<'_>) -> Result<(), ToolResponse> {
        let words: Vec<String> = std::iter::once(plan.file.to_owned()).chain(plan.arguments.iter().cloned()).collect();
        let answer = match &self.hook {
            Some(hook) => hook.judge(&plan.name, &words).await,
            None => HookAnswer::Broken,
        };
        match answer {
            HookAnswer::Allow => Ok(()),
            HookAnswer::Refuse(reason) => Err(denied(clean_text(&reason, MAX_REASON_CHARS))),
            HookAnswer::Broken => Err(denied(self.prompts.text("tool.msg.shell.policy_failed", &[]))),
        }
    }

    fn spawn_options(&self, plan: &Plan<'_>) -> SpawnOptions {
        let mut env = self.options.env.clone();
        if let Some(git) = self.policy.git(&plan.name, &plan.program.real_name) {
            let forced = git.environment();
            env.retain(|(name, _)| !forced.iter().any(|(other, _)| other == name));
            env.extend(forced);
        }
        let writable = self.options.cwd.clone().unwrap_or_else(|| ".".to_owned());
        let confined = |mode| Sandbox { writable: vec![writable], network: plan.network, required: mode == SandboxMode::Required };
        SpawnOptions {
            program: plan.file.to_owned(),
            name: Some(plan.name.clone()),
            args: self.policy.arguments(&plan.name, &plan.program.real_name, &plan.arguments),
            env,
            cwd: self.options.cwd.clone(),
            no_stdin: true,
            sandbox: self.options.sandbox.map(confined),
            owner: self.options.owner,
        }
    }

    /// The error's own words may hold paths of this machine, so the model gets others.
    fn not_started(&self, plan: &Plan<'_>, error: &ToolError) -> ToolResponse {
        let key = match error.code {
            ErrorCode::UnsupportedPlatform => "tool.msg.shell.no_sandbox",
            _ if self.options.cwd.as_ref().is_some_and(|folder| !process::is_folder(folder)) => "tool.msg.shell.no_folder",
            _ => "tool.msg.shell.not_started",
        };
        let reason = self.prompts.text(key, &[]);
        let text = self.prompts.text("tool.msg.shell.unrunnable", &[("program", &plan.name), ("err", &reason)]);
        ToolResponse::failed(ErrorCode::ExecutionFailed, text, false)
    }
}

impl NativeTool for CliTool {
    fn needs_confirmation(&self, _arguments: &Arguments) -> bool {
        true
    }

    fn is_external_content(&self, _arguments: &Arguments) -> bool {
        true
    }

    fn check(&self, arguments: &Arguments) -> Result<(), ToolResponse> {
        self.plan(&command(arguments)?).map(|_| ())
    }

    fn writes(&self, arguments: &Arguments) -> bool {
        command(arguments).is_ok_and(|command| self.plan(&command).is_ok_and(|plan| plan.writes))
    }

    fn input_schema(&self) -> Option<Value> {
        Some(input_schema(&self.prompts))
    }

    fn schema_revision(&self) -> u64 {
        self.prompts.revision()
    }

    fn run(self: Arc<Self>, arguments: Arguments, context: CallContext) -> BoxFuture<'static, ToolResponse> {
        async move {
            let limit = context.timeout.map_or(self.options.timeout, |limit| limit.saturating_sub(BEFORE_LIMIT).max(limit / 2));
            let result = match command(&arguments) {
                Ok(command) => self.execute(&command, limit.min(self.options.timeout), context.timeout.unwrap_or(limit)).await,
                Err(response) => Err(response),
            };
            result.unwrap_or_else(|response| response)
        }
        .boxed()
    }
}

/// The JSON schema of the arguments.
pub fn input_schema(prompts: &PromptRegistry) -> Value {
    arguments::schema::<CliArguments>(prompts, &[("command", "tool.param.shell.command")])
}

fn command(arguments: &Arguments) -> Result<String, ToolResponse> {
    arguments::read::<CliArguments>(arguments).map(|arguments| arguments.command)
}
