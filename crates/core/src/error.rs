//! Error codes and the one error type of the crate.

use serde_json::Value;
use std::fmt;

macro_rules! error_codes {
    ($($(#[$doc:meta])* $variant:ident = $text:literal,)*) => {
        /// Why a call was refused or failed, or what a caller did wrong. The list is complete: hosts build their own from [`ErrorCode::ALL`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ErrorCode { $($(#[$doc])* $variant,)* }

        impl ErrorCode {
            /// Every code, in the order of declaration.
            pub const ALL: &'static [ErrorCode] = &[$(ErrorCode::$variant,)*];

            /// The code as hosts see it, such as `TOOL_NOT_FOUND`.
            pub const fn as_str(self) -> &'static str {
                match self { $(ErrorCode::$variant => $text,)* }
            }
        }
    };
}

error_codes! {
    /// No tool of that name is registered.
    ToolNotFound = "TOOL_NOT_FOUND",
    /// The permissions deny the tool by name or by origin.
    PermissionDenied = "PERMISSION_DENIED",
    /// The arguments are not JSON, not an object, or break the tool's schema.
    InvalidArguments = "INVALID_ARGUMENTS",
    /// The call needs a person's yes and nobody can be asked.
    ConfirmationRequired = "CONFIRMATION_REQUIRED",
    /// Nobody said yes: a no, a failing callback, a time limit.
    ConfirmationRejected = "CONFIRMATION_REJECTED",
    /// The tool's body failed.
    ExecutionFailed = "EXECUTION_FAILED",
    /// The tool's body ran into its time limit.
    Timeout = "TIMEOUT",
    /// The caller cancelled the call.
    Cancelled = "CANCELLED",
    /// The tool was declared without a body.
    NoHandler = "NO_HANDLER",
    /// An option has a wrong type or value.
    InvalidOptions = "INVALID_OPTIONS",
    /// A name breaks the rule for tool names.
    InvalidName = "INVALID_NAME",
    /// A tool of that name is registered already.
    DuplicateName = "DUPLICATE_NAME",
    /// The registry or client is closed.
    Closed = "CLOSED",
    /// A remote tool's definition is not the one that was recorded.
    PinMismatch = "PIN_MISMATCH",
    /// A server could not be reached, broke the protocol or went away.
    ConnectionFailed = "CONNECTION_FAILED",
    /// No connector of that name is registered.
    ConnectorNotFound = "CONNECTOR_NOT_FOUND",
    /// A connector lacks credentials.
    CredentialsMissing = "CREDENTIALS_MISSING",
    /// A store of credentials cannot be read or changed.
    CredentialStoreFailed = "CREDENTIAL_STORE_FAILED",
    /// A connector needs an authorization that nobody has given yet.
    AuthorizationRequired = "AUTHORIZATION_REQUIRED",
    /// An authorization that was asked for did not come about.
    AuthorizationFailed = "AUTHORIZATION_FAILED",
    /// The platform lacks what the feature needs.
    UnsupportedPlatform = "UNSUPPORTED_PLATFORM",
    /// A prompt key is unknown, or a template lost a variable.
    PromptInvalid = "PROMPT_INVALID",
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// What a caller did wrong, or what stopped a connection: a code, a sentence that names the fix, and optional facts.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    /// The stable code.
    pub code: ErrorCode,
    /// A sentence for a person: what is wrong, then what to do.
    pub message: String,
    /// Facts for a program, if there are any.
    pub data: Option<Value>,
}

impl ToolError {
    /// An error without further facts.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// Adds facts for a program.
    #[must_use]
    pub fn with_data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }
}
