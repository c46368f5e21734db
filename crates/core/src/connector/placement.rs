//! Where a credential may not stand: in the words of a command, which every user of a machine can read, and in an address, which ends
//! up in logs.

use super::spec::{AuthField, invalid};
use crate::error::ToolError;
use crate::http::Url;
use crate::redact::{has_known_secret, is_secret_name};

/// What other programs fill in. Nothing is filled in here, and it would be a credential that everybody can read if it were.
const TEMPLATES: &[&str] = &["${", "{{", "$(", "%("];
/// Values shorter than this occur in ordinary words by chance.
pub(super) const SHORTEST: usize = 4;

/// Refuses templates, options that take a credential, and what looks like one.
pub(super) fn check_words(fields: &[AuthField], words: &[String]) -> Result<(), ToolError> {
    const CURE: &str = "Every user of the machine can read the arguments of a program: let the server take it from its environment";
    for (place, word) in words.iter().enumerate() {
        if word.contains('\0') {
            return invalid(format!("word {place} of the command holds a NUL"));
        }
        if TEMPLATES.iter().any(|template| word.contains(template)) || fields.iter().any(|field| names(word, field)) {
            return invalid(format!("word {place} of the command is a template for a credential. {CURE}"));
        }
        if has_known_secret(word) {
            return invalid(format!("word {place} of the command looks like a credential. {CURE}"));
        }
        if let Some(option) = word.strip_prefix("--").or_else(|| word.strip_prefix('-')) {
            let (name, inline) = option.split_once('=').map_or((option, false), |(name, _)| (name, true));
            let followed = words.get(place + 1).is_some_and(|next| !next.starts_with('-'));
            if (inline || followed) && is_secret_name(name) {
                return invalid(format!("word {place} of the command is an option that takes a credential. {CURE}"));
            }
        }
    }
    Ok(())
}

/// Whether a word stands for a credential in one of the usual ways.
fn names(word: &str, field: &AuthField) -> bool {
    let is_variable = |name: &str| [format!("${name}"), format!("%{name}%")].iter().any(|form| word.contains(form.as_str()));
    word.contains(&format!("{{{}}}", field.key)) || field.env_var.as_deref().is_some_and(is_variable)
}

/// Refuses what is no address of a server, and credentials in one.
pub(super) fn check_url(url: &str) -> Result<(), ToolError> {
    if TEMPLATES.iter().chain(&["{"]).any(|template| url.contains(template)) {
        return invalid("mcpUrl is a template. Give the whole address; credentials travel as headers");
    }
    let Ok(parsed) = Url::parse(url) else {
        return invalid("mcpUrl cannot be read. Give a whole address, such as https://example.com/mcp");
    };
    if !matches!(parsed.scheme(), "http" | "https") || parsed.host_str().is_none_or(str::is_empty) {
        return invalid("mcpUrl has to begin with https:// or, on this machine, http://");
    }
    if !parsed.username().is_empty() || parsed.password().is_some() {
        return invalid("mcpUrl holds a user name or password. Credentials travel as headers");
    }
    if parsed.query_pairs().any(|(name, value)| is_secret_name(&name) || has_known_secret(&value)) || has_known_secret(parsed.path()) {
        return invalid("mcpUrl holds what looks like a credential. Credentials travel as headers");
    }
    Ok(())
}

/// Refuses a text in which one of the values stands.
pub(super) fn check_free_of<'a>(what: &str, text: &str, values: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<(), ToolError> {
    for (label, value) in values {
        // Of a value from a file the line break at its end is left out.
        let value = value.trim();
        if value.len() >= SHORTEST && text.contains(value) {
            return invalid(format!(
                "{what} holds the credential '{label}', where others can read it. Take it out: it is passed on by itself"
            ));
        }
    }
    Ok(())
}
