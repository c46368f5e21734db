//! One template: its text, and what every version of the text must keep.

use super::invalid;
use crate::error::ToolError;

#[derive(Clone, Debug)]
pub(super) struct Template {
    pub(super) text: String,
    pub(super) variables: Vec<String>,
    pub(super) protected: Vec<String>,
}

/// A built-in entry as the language files write it.
pub(super) struct Entry {
    pub(super) key: &'static str,
    pub(super) variables: &'static [&'static str],
    pub(super) protected: &'static [&'static str],
    pub(super) text: &'static str,
}

impl Template {
    pub(super) fn built_in(text: &str, variables: &[&str], protected: &[&str]) -> Self {
        let owned = |list: &[&str]| list.iter().map(|&item| item.to_owned()).collect();
        Self { text: text.to_owned(), variables: owned(variables), protected: owned(protected) }
    }

    pub(super) fn with_text(&self, text: &str) -> Self {
        Self { text: text.to_owned(), ..self.clone() }
    }

    /// Whether a new text keeps every variable and protected token.
    pub(super) fn check(&self, key: &str, text: &str) -> Result<(), ToolError> {
        let lost = self.variables.iter().find(|variable| !placeholders(text).any(|found| found.name == variable.as_str()));
        if let Some(variable) = lost {
            return Err(invalid(format!("prompt '{key}' must keep the variable {{{variable}}}")));
        }
        match self.protected.iter().find(|token| !text.contains(token.as_str())) {
            Some(token) => Err(invalid(format!("prompt '{key}' must keep the token '{token}'"))),
            None => Ok(()),
        }
    }

    pub(super) fn render(&self, key: &str, variables: &[(&str, &str)]) -> Result<String, ToolError> {
        let value = |name: &str| variables.iter().find(|(given, _)| *given == name).map(|(_, value)| *value);
        if let Some(missing) = self.variables.iter().find(|name| value(name).is_none()) {
            return Err(invalid(format!("prompt '{key}' needs the variable '{missing}'")));
        }
        let mut filled = String::with_capacity(self.text.len());
        let mut rest = 0;
        for found in placeholders(&self.text) {
            if let Some(value) = value(found.name) {
                filled.push_str(&self.text[rest..found.start]);
                filled.push_str(value);
                rest = found.end;
            }
        }
        filled.push_str(&self.text[rest..]);
        Ok(filled)
    }
}

struct Placeholder<'a> {
    name: &'a str,
    start: usize,
    end: usize,
}

/// The `{identifier}`s without a second brace on either side. All bytes looked at are ASCII, so every slice is on a boundary.
fn placeholders(text: &str) -> impl Iterator<Item = Placeholder<'_>> {
    let bytes = text.as_bytes();
    let identifier_start = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    text.match_indices('{').filter_map(move |(start, _)| {
        let length = bytes[start + 1..].iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        let end = start + 1 + length;
        let closed = length > 0 && identifier_start(bytes[start + 1]) && bytes.get(end) == Some(&b'}');
        let touches = (start > 0 && bytes[start - 1] == b'{') || bytes.get(end + 1) == Some(&b'}');
        (closed && !touches).then(|| Placeholder { name: &text[start + 1..end], start, end: end + 1 })
    })
}
