//! The calculator: arithmetic with Python's grammar and meaning, bounded in everything, and nothing but arithmetic.

mod error;
mod evaluate;
mod format;
mod functions;
mod lex;
mod number;
mod parse;

pub use error::CalcError;

use crate::builtin::arguments;
use crate::error::ErrorCode;
use crate::prompts::PromptRegistry;
use crate::response::ToolResponse;
use crate::tool::{Arguments, CallContext, NativeTool};
use futures_util::future::{BoxFuture, FutureExt, ready};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::sync::Arc;

/// The tool's name.
pub const NAME: &str = "calculator";
/// The most characters an expression may have, blanks around it aside.
pub const MAX_CHARACTERS: usize = 1_000;
/// The most nodes an expression may have, as Python's `ast.walk` counts them.
pub const MAX_NODES: usize = 200;
/// The most levels of parentheses, calls, signs and exponents.
pub const MAX_DEPTH: usize = 100;
/// The most decimal digits an integer may have, also one on the way to the result.
pub const MAX_DIGITS: u32 = 4_000;

/// What the model is told of the tool.
pub fn description(prompts: &PromptRegistry) -> String {
    prompts.text("tool.desc.calculator", &[])
}

/// The JSON schema of the arguments.
pub fn input_schema(prompts: &PromptRegistry) -> Value {
    arguments::schema::<CalculatorArguments>(prompts, &[("expression", "tool.param.calculator.expression")])
}

#[derive(Default, Deserialize, JsonSchema)]
struct CalculatorArguments {
    expression: String,
}

/// Evaluates an expression and gives the result as Python prints it, which is JSON too.
///
/// # Errors
/// Everything that is not the finite, real result of an arithmetic expression within the limits.
pub fn calculate(expression: &str) -> Result<String, CalcError> {
    judged(expression).map_err(|(_, error)| error)
}

/// The same, with the code: `INVALID_ARGUMENTS` for what is no expression that is taken, `EXECUTION_FAILED` for one without a result.
fn judged(expression: &str) -> Result<String, (ErrorCode, CalcError)> {
    let tree = parse::parse(expression).map_err(|error| (ErrorCode::InvalidArguments, error))?;
    let result = tree.evaluate().map_err(|error| (ErrorCode::ExecutionFailed, error))?;
    Ok(format::text(&result))
}

/// The calculator as a tool: one required string `expression`, no side effects, never a wait.
#[derive(Clone, Debug)]
pub struct CalculatorTool {
    prompts: Arc<PromptRegistry>,
}

impl CalculatorTool {
    /// A calculator that words its errors with these prompts.
    pub fn new(prompts: Arc<PromptRegistry>) -> Self {
        Self { prompts }
    }

    fn answer(&self, arguments: &Arguments) -> ToolResponse {
        // Called by itself with anything but a text it has nothing to evaluate, and says so.
        let CalculatorArguments { expression } = arguments::read(arguments).unwrap_or_default();
        match judged(&expression) {
            Ok(text) => {
                let data = RawValue::from_string(text.clone()).ok();
                ToolResponse { data, ..ToolResponse::ok(text) }
            }
            Err((code, error)) => ToolResponse::failed(code, error.text(&self.prompts), true),
        }
    }
}

impl NativeTool for CalculatorTool {
    fn needs_confirmation(&self, _arguments: &Arguments) -> bool {
        false
    }

    fn is_external_content(&self, _arguments: &Arguments) -> bool {
        false
    }

    fn input_schema(&self) -> Option<Value> {
        Some(input_schema(&self.prompts))
    }

    fn schema_revision(&self) -> u64 {
        self.prompts.revision()
    }

    fn run_now(&self, arguments: &Arguments) -> Option<ToolResponse> {
        Some(self.answer(arguments))
    }

    fn run(self: Arc<Self>, arguments: Arguments, _context: CallContext) -> BoxFuture<'static, ToolResponse> {
        ready(self.answer(&arguments)).boxed()
    }
}
