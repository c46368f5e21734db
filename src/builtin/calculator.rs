//! The calculator.

#![expect(unreachable_pub, reason = "the macro exports what the module system does not see")]

use crate::policy::NativePrompts;
use crate::tools::NativeTool;
use napi_derive::napi;
use std::sync::Arc;
use toolbolt_core::builtin::calculator::{CalculatorTool, description, input_schema};

/// The calculator.
#[napi(catch_unwind)]
pub fn calculator_tool(prompts: &NativePrompts) -> NativeTool {
    let body = Arc::new(CalculatorTool::new(Arc::clone(&prompts.inner)));
    NativeTool::new(body, description(&prompts.inner), input_schema(&prompts.inner).to_string())
}
