//! The only place that makes JavaScript errors. They carry JSON; the TypeScript side throws the class with a JavaScript stack.

use napi::{Error, Status, sys};
use toolbolt_core::error::{ErrorCode, ToolError};

/// An error of the core as the text that TypeScript turns into a `ToolError`.
pub(crate) fn to_json(error: &ToolError) -> String {
    serde_json::json!({ "code": error.code.as_str(), "message": error.message, "data": error.data }).to_string()
}

/// For `map_err` in every exported function.
pub(crate) fn to_js(error: ToolError) -> Error {
    Error::new(Status::GenericFailure, to_json(&error))
}

/// A wrong call of the private binding, which only a bug of ours can make.
pub(crate) fn misuse(message: &str) -> Error {
    to_js(ToolError::new(ErrorCode::InvalidOptions, message))
}

/// Throws an error of the core from a raw function. What the function gives back after that does not matter.
///
/// # Safety
/// `env` must be live, with the call of a raw function under way.
pub(crate) unsafe fn raise(env: sys::napi_env, error: &ToolError) {
    if let Ok(message) = std::ffi::CString::new(to_json(error)) {
        // SAFETY: by the contract above; the message, which JSON keeps free of NUL, outlives the call.
        unsafe { sys::napi_throw_error(env, std::ptr::null(), message.as_ptr()) };
    }
}
