//! Allow and deny lists by name and origin.

use crate::error::{ErrorCode, ToolError};
use crate::name;
use std::collections::HashSet;

/// The lists as an app writes them. `None` means not set; an empty allow list allows nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Rules {
    /// Names that may be called.
    pub allow: Option<Vec<String>>,
    /// Names that may not be called, whatever else is allowed.
    pub deny: Option<Vec<String>>,
    /// Origins whose tools may be called.
    pub allow_origins: Option<Vec<String>>,
    /// Origins whose tools may not be called, whatever else is allowed.
    pub deny_origins: Option<Vec<String>>,
}

/// Rules that were checked and can no longer change. The default denies nothing.
#[derive(Clone, Debug, Default)]
pub struct Permissions {
    allow: Option<HashSet<String>>,
    deny: HashSet<String>,
    allow_origins: Option<HashSet<String>>,
    deny_origins: HashSet<String>,
}

/// Why a tool may not be called. A reason is data: its sentence is made where the response is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Denial {
    /// The name is on the deny list.
    NameDenied {
        /// The tool's name.
        name: String,
    },
    /// The origin is on the deny list.
    OriginDenied {
        /// The tool's name.
        name: String,
        /// Where the tool comes from.
        origin: String,
    },
    /// Neither the name nor the origin is allowed, and origins are listed.
    OriginNotAllowed {
        /// The tool's name.
        name: String,
        /// Where the tool comes from.
        origin: String,
    },
    /// The name is not allowed.
    NameNotAllowed {
        /// The tool's name.
        name: String,
    },
}

impl Denial {
    /// The key of the sentence.
    pub const fn key(&self) -> &'static str {
        match self {
            Self::NameDenied { .. } => "tool.permission.in_deny",
            Self::OriginDenied { .. } => "tool.permission.origin_in_deny",
            Self::OriginNotAllowed { .. } => "tool.permission.origin_not_allowed",
            Self::NameNotAllowed { .. } => "tool.permission.not_in_allow",
        }
    }

    /// The variables of the sentence.
    pub fn variables(&self) -> Vec<(&'static str, &str)> {
        match self {
            Self::NameDenied { name } | Self::NameNotAllowed { name } => vec![("name", name)],
            Self::OriginDenied { name, origin } | Self::OriginNotAllowed { name, origin } => vec![("name", name), ("origin", origin)],
        }
    }
}

impl Permissions {
    /// Checks the rules and takes them over.
    ///
    /// # Errors
    /// `INVALID_OPTIONS` for a rule that could never match: a pattern, an empty text, or a name that no tool can have. Such a rule
    /// would protect nothing while its author believes it does.
    pub fn new(rules: Rules) -> Result<Self, ToolError> {
        Ok(Self {
            allow: rules.allow.map(|list| names("allow", list)).transpose()?,
            deny: rules.deny.map(|list| names("deny", list)).transpose()?.unwrap_or_default(),
            allow_origins: rules.allow_origins.map(|list| origins("allowOrigins", list)).transpose()?,
            deny_origins: rules.deny_origins.map(|list| origins("denyOrigins", list)).transpose()?.unwrap_or_default(),
        })
    }

    /// Why the tool may not be called, or `None` where it may. A tool known by its name only has no origin.
    pub fn denial(&self, name: &str, origin: Option<&str>) -> Option<Denial> {
        if self.deny.contains(name) {
            return Some(Denial::NameDenied { name: name.to_owned() });
        }
        if let Some(origin) = origin.filter(|origin| self.deny_origins.contains(*origin)) {
            return Some(Denial::OriginDenied { name: name.to_owned(), origin: origin.to_owned() });
        }
        let unrestricted = self.allow.is_none() && self.allow_origins.is_none();
        let name_allowed = self.allow.as_ref().is_some_and(|list| list.contains(name));
        let origin_allowed = self.allow_origins.as_ref().zip(origin).is_some_and(|(list, origin)| list.contains(origin));
        if unrestricted || name_allowed || origin_allowed {
            return None;
        }
        let name = name.to_owned();
        Some(match origin.filter(|_| self.allow_origins.is_some()) {
            Some(origin) => Denial::OriginNotAllowed { name, origin: origin.to_owned() },
            None => Denial::NameNotAllowed { name },
        })
    }
}

fn names(list: &str, rules: Vec<String>) -> Result<HashSet<String>, ToolError> {
    let rules = origins(list, rules)?;
    match rules.iter().find(|rule| !name::is_valid(rule)) {
        Some(rule) => {
            Err(refused(list, rule, "is not a name that a tool can have: names have 1 to 64 characters out of a-z, A-Z, 0-9, '_' and '-'"))
        }
        None => Ok(rules),
    }
}

fn origins(list: &str, rules: Vec<String>) -> Result<HashSet<String>, ToolError> {
    match rules.iter().find(|rule| rule.is_empty() || is_pattern(rule)) {
        Some(rule) if rule.is_empty() => Err(refused(list, rule, "is empty: leave it out, or pass an empty list to match nothing")),
        Some(rule) => Err(refused(list, rule, "looks like a pattern, and rules match exactly: list every name or origin in full")),
        None => Ok(rules.into_iter().collect()),
    }
}

fn is_pattern(rule: &str) -> bool {
    rule.starts_with('!') || rule.contains(['*', '?', '[', ']', '{', '}', '^', '$'])
}

fn refused(list: &str, rule: &str, problem: &str) -> ToolError {
    let shown: String = rule.chars().take(80).collect();
    ToolError::new(ErrorCode::InvalidOptions, format!("the rule {shown:?} in '{list}' {problem}"))
}
