//! Why an expression has no result.

use crate::prompts::PromptRegistry;
use std::borrow::Cow;

/// Why an expression has no result. [`CalcError::key`] names the sentence that tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CalcError {
    /// Nothing was given.
    Empty,
    /// More characters than [`super::MAX_CHARACTERS`].
    TooLong,
    /// More nodes than [`super::MAX_NODES`].
    TooComplex,
    /// A division by zero, also by way of `%`, `//` or a negative power of zero.
    DivisionByZero,
    /// An integer of more than [`super::MAX_DIGITS`] digits.
    TooLarge,
    /// A literal that is no number, such as a string or a truth value.
    BadConstant(String),
    /// A binary operator that is not offered.
    BadOperator,
    /// A unary operator that is not offered.
    BadUnary,
    /// A call of something that is not an offered function.
    BadFunction,
    /// An argument given by name.
    NoKeywords,
    /// A name that is not an offered constant.
    BadName(String),
    /// A construct of Python that is not arithmetic.
    Unparseable,
    /// Anything else, told in English: a syntax error, a wrong argument, a result that is no finite number.
    Failed(Cow<'static, str>),
}

impl CalcError {
    /// The prompt key of the sentence that tells this error.
    pub fn key(&self) -> &'static str {
        match self {
            Self::Empty => "tool.msg.calc.empty",
            Self::TooLong => "tool.msg.calc.too_long",
            Self::TooComplex => "tool.msg.calc.too_complex",
            Self::DivisionByZero => "tool.msg.calc.div_zero",
            Self::TooLarge => "tool.msg.calc.too_large",
            Self::BadConstant(_) => "tool.msg.calc.bad_constant",
            Self::BadOperator => "tool.msg.calc.bad_operator",
            Self::BadUnary => "tool.msg.calc.bad_unary",
            Self::BadFunction => "tool.msg.calc.bad_function",
            Self::NoKeywords => "tool.msg.calc.no_kwargs",
            Self::BadName(_) => "tool.msg.calc.bad_name",
            Self::Unparseable => "tool.msg.calc.unparseable",
            Self::Failed(_) => "tool.msg.calc.eval_failed",
        }
    }

    /// The text for a model. All but the plainest errors are a reason inside `tool.msg.calc.eval_failed`.
    pub fn text(&self, prompts: &PromptRegistry) -> String {
        let reason = match self {
            Self::Empty | Self::DivisionByZero => return prompts.text(self.key(), &[]),
            Self::TooLong => return prompts.text(self.key(), &[("max", &super::MAX_CHARACTERS.to_string())]),
            Self::TooComplex => return prompts.text(self.key(), &[("max", &super::MAX_NODES.to_string())]),
            Self::BadConstant(value) => prompts.text(self.key(), &[("value", value)]),
            Self::BadName(name) => prompts.text(self.key(), &[("name", name)]),
            Self::Failed(reason) => reason.clone().into_owned(),
            _ => prompts.text(self.key(), &[]),
        };
        prompts.text("tool.msg.calc.eval_failed", &[("err", &reason)])
    }

    pub(super) const fn failed(reason: &'static str) -> Self {
        Self::Failed(Cow::Borrowed(reason))
    }
}

pub(super) const INVALID_SYNTAX: CalcError = CalcError::failed("invalid syntax");
pub(super) const DOMAIN: CalcError = CalcError::failed("math domain error");
pub(super) const INTEGER_TOO_LARGE_FOR_FLOAT: CalcError = CalcError::failed("int too large to convert to float");
pub(super) const FLOAT_TOO_LARGE: CalcError = CalcError::failed("the result is too large for a float");
