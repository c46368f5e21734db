//! What is said of a connector, and the rules it is held to when it is made.

use super::oauth::OAuthSettings;
use super::placement;
use crate::error::{ErrorCode, ToolError};
use crate::sanitize::visible;
use serde::{Deserialize, Serialize};

/// The most characters of a name, a key and a category.
const MAX_NAME: usize = 64;
/// The most characters of a text for people or models.
const MAX_TEXT: usize = 4_096;
/// Credentials of one connector.
const MAX_FIELDS: usize = 32;
/// Words of a command.
const MAX_WORDS: usize = 256;

/// The credential that stands for an OAuth 2 authorization.
pub(super) const ACCESS_TOKEN: &str = "access_token";

/// Variables that say how programs are run. Setting one of them is more than handing over a credential.
const RESERVED_VARIABLES: &[&str] = &[
    "BASH_ENV",
    "CLASSPATH",
    "ENV",
    "GCONV_PATH",
    "HOME",
    "IFS",
    "LANG",
    "LOGNAME",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PATH",
    "PERL5LIB",
    "PERL5OPT",
    "PYTHONHOME",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "RUBYLIB",
    "RUBYOPT",
    "SHELL",
    "TERM",
    "TMPDIR",
    "USER",
];
/// The same, by how they begin: those of dynamic loaders.
const RESERVED_PREFIXES: &[&str] = &["LD_", "DYLD_"];

/// How a service knows who is asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum AuthType {
    /// With what the server reads from its environment.
    EnvKey,
    /// With a key or token that somebody made for this purpose.
    ApiKey,
    /// With a token that OAuth 2 gives.
    #[serde(rename = "OAUTH2")]
    OAuth2,
    /// Not at all.
    None,
}

/// One credential.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AuthField {
    /// Its name in stores and in what a caller gives.
    pub key: String,
    /// What people call it: a missing credential is reported by this.
    pub label: String,
    /// The environment variable it is looked up in, and the one that a started server gets it in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env_var: Option<String>,
    /// The header that a server behind an address gets it in. Default: `Authorization`, for the one secret field without a header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// What stands before it in the header. Default: `Bearer ` in `Authorization`, otherwise nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    /// Whether it is to be hidden where it is typed. No value is ever shown, whatever this says. Default: true.
    #[serde(default = "yes")]
    pub secret: bool,
    /// Where people find it.
    #[serde(default)]
    pub hint: String,
}

const fn yes() -> bool {
    true
}

/// A described way to reach a service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConnectorSpec {
    /// Unique in a registry, and the namespace of its tools: 1 to 64 of `A-Z a-z 0-9 _ -`, the first a letter or digit.
    pub name: String,
    /// What people call it.
    pub display_name: String,
    /// For sorting, such as `productivity`.
    pub category: String,
    /// What it is, for people.
    pub description: String,
    /// How the service knows who is asking.
    pub auth_type: AuthType,
    /// The credentials it takes.
    #[serde(default)]
    pub auth_fields: Vec<AuthField>,
    /// What is known of its OAuth 2. What is not said is asked of its servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oauth: Option<OAuthSettings>,
    /// The program that is the MCP server, and its arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp_command: Option<Vec<String>>,
    /// The address of the MCP server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp_url: Option<String>,
    /// Where the service is documented.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub docs_url: Option<String>,
    /// What it is good for, for a model that chooses tools.
    #[serde(default)]
    pub agent_description: String,
    /// Whether a connection of it is part of the tests of this package. Default: false.
    #[serde(default)]
    pub verified: bool,
}

pub(super) fn invalid<T>(what: impl Into<String>) -> Result<T, ToolError> {
    Err(ToolError::new(ErrorCode::InvalidOptions, what))
}

/// Whether a text is a word of `A-Z a-z 0-9 _ -` that begins with a letter or digit: none of the names that objects have by themselves.
fn is_word(text: &str) -> bool {
    text.len() <= MAX_NAME
        && text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.chars().all(|character| character.is_ascii_alphanumeric() || matches!(character, '_' | '-'))
}

fn shown(text: &str) -> String {
    visible(&text.chars().take(MAX_NAME).collect::<String>())
}

impl ConnectorSpec {
    /// A specification from JSON.
    ///
    /// # Errors
    /// `INVALID_NAME` for the name, `INVALID_OPTIONS` for anything else that breaks a rule.
    pub fn read(json: &str) -> Result<Self, ToolError> {
        let spec: Self = serde_json::from_str(json)
            .map_err(|error| ToolError::new(ErrorCode::InvalidOptions, format!("the specification of a connector: {error}")))?;
        spec.check()?;
        Ok(spec)
    }

    fn check(&self) -> Result<(), ToolError> {
        if !is_word(&self.name) {
            let message = format!(
                "connector name '{}' is not allowed: a name has 1 to {MAX_NAME} characters out of a-z, A-Z, 0-9, '_' and '-', the first a letter or digit",
                shown(&self.name)
            );
            return Err(ToolError::new(ErrorCode::InvalidName, message));
        }
        let named = |error: ToolError| ToolError { message: format!("connector '{}': {}", self.name, error.message), ..error };
        let oauth = || self.oauth.as_ref().map_or(Ok(()), |oauth| oauth.check(self.auth_type));
        self.check_texts().and_then(|()| self.check_fields()).and_then(|()| self.check_target()).and_then(|()| oauth()).map_err(named)
    }

    fn check_texts(&self) -> Result<(), ToolError> {
        for (name, text) in [("displayName", &self.display_name), ("category", &self.category), ("description", &self.description)] {
            if text.trim().is_empty() {
                return invalid(format!("{name} is empty. Say what people read there"));
            }
        }
        for (name, text) in [
            ("displayName", Some(&self.display_name)),
            ("category", Some(&self.category)),
            ("description", Some(&self.description)),
            ("agentDescription", Some(&self.agent_description)),
            ("docsUrl", self.docs_url.as_ref()),
        ] {
            if text.is_some_and(|text| text.chars().nth(MAX_TEXT).is_some()) {
                return invalid(format!("{name} is longer than {MAX_TEXT} characters. Shorten it"));
            }
        }
        match &self.docs_url {
            Some(url) if !url.starts_with("https://") && !url.starts_with("http://") => invalid("docsUrl is no web address"),
            _ => Ok(()),
        }
    }

    fn check_fields(&self) -> Result<(), ToolError> {
        if self.auth_type == AuthType::None && !self.auth_fields.is_empty() {
            return invalid("authType NONE takes no authFields. Remove them, or say how they are used");
        }
        if matches!(self.auth_type, AuthType::EnvKey | AuthType::ApiKey) && self.auth_fields.is_empty() {
            return invalid("authFields is empty. List the credentials, or use authType NONE");
        }
        if self.auth_fields.len() > MAX_FIELDS {
            return invalid(format!("there are more than {MAX_FIELDS} authFields"));
        }
        for (place, field) in self.auth_fields.iter().enumerate() {
            self.check_field(field)?;
            let before = self.auth_fields.iter().take(place);
            for other in before {
                if other.key == field.key {
                    return invalid(format!("the key '{}' comes twice among authFields", field.key));
                }
                if field.env_var.is_some() && other.env_var == field.env_var {
                    return invalid(format!("'{}' and '{}' share an envVar. Give each its own", other.key, field.key));
                }
            }
        }
        Ok(())
    }

    fn check_field(&self, field: &AuthField) -> Result<(), ToolError> {
        let key = shown(&field.key);
        if !is_word(&field.key) {
            return invalid(format!("the key '{key}' of an auth field is no word of letters, digits, '_' and '-'"));
        }
        if field.label.trim().is_empty() || field.label.chars().nth(MAX_TEXT).is_some() {
            return invalid(format!("the auth field '{key}' needs a label that says what it is"));
        }
        if let Some(variable) = &field.env_var {
            check_variable(&key, variable)?;
        } else if self.mcp_url.is_none() || self.auth_type == AuthType::EnvKey {
            return invalid(format!("the auth field '{key}' needs an envVar: that is how the server gets it"));
        }
        if self.mcp_url.is_none() && (field.header.is_some() || field.prefix.is_some()) {
            return invalid(format!("the auth field '{key}' has a header, which is for servers with an mcpUrl"));
        }
        if let Some(header) = &field.header
            && (header.is_empty()
                || header.len() > MAX_NAME
                || !header.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_')))
        {
            return invalid(format!("the header of the auth field '{key}' is no name of a header"));
        }
        match &field.prefix {
            Some(prefix) if prefix.len() > MAX_NAME || !prefix.chars().all(|letter| letter == ' ' || letter.is_ascii_graphic()) => {
                invalid(format!("the prefix of the auth field '{key}' is no short visible text"))
            }
            _ => Ok(()),
        }
    }

    fn check_target(&self) -> Result<(), ToolError> {
        match (&self.mcp_command, &self.mcp_url) {
            (Some(words), None) => {
                if words.first().is_none_or(|program| program.trim().is_empty()) {
                    return invalid("mcpCommand is empty; its first word is the program");
                }
                if words.len() > MAX_WORDS {
                    return invalid(format!("mcpCommand has more than {MAX_WORDS} words"));
                }
                placement::check_words(&self.auth_fields, words)
            }
            (None, Some(url)) => {
                placement::check_url(url)?;
                self.check_headers()
            }
            (Some(_), Some(_)) => invalid("there are both mcpCommand and mcpUrl. Keep the one that is used"),
            (None, None) => invalid("there is neither mcpCommand nor mcpUrl. Say how to start or reach the MCP server"),
        }
    }

    /// Each credential has to have a header of its own.
    fn check_headers(&self) -> Result<(), ToolError> {
        if self.auth_type == AuthType::EnvKey {
            return invalid("authType ENV_KEY is for servers that are started. Use API_KEY with an mcpUrl");
        }
        if self.auth_type == AuthType::OAuth2 {
            return Ok(());
        }
        let names: Vec<String> = self.auth_fields.iter().map(|field| field.header_name().to_ascii_lowercase()).collect();
        match names.iter().enumerate().find(|(place, name)| names.iter().take(*place).any(|other| other == *name)) {
            Some((_, name)) => invalid(format!("two auth fields travel in the header '{name}'. Give each a header of its own")),
            None => Ok(()),
        }
    }
}

impl AuthField {
    /// The header it travels in.
    pub(super) fn header_name(&self) -> &str {
        self.header.as_deref().unwrap_or("Authorization")
    }

    /// What it is in that header.
    pub(super) fn header_value(&self, value: &str) -> String {
        let usual = if self.header_name().eq_ignore_ascii_case("authorization") { "Bearer " } else { "" };
        format!("{}{value}", self.prefix.as_deref().unwrap_or(usual))
    }
}

fn check_variable(key: &str, variable: &str) -> Result<(), ToolError> {
    let legal = variable.len() <= 256
        && variable.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && variable.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    if !legal {
        return invalid(format!("the envVar '{}' of the auth field '{key}' is no name of an environment variable", shown(variable)));
    }
    let upper = variable.to_ascii_uppercase();
    if RESERVED_VARIABLES.contains(&upper.as_str()) || RESERVED_PREFIXES.iter().any(|prefix| upper.starts_with(prefix)) {
        return invalid(format!("the envVar '{variable}' of the auth field '{key}' says how programs run. Use another one"));
    }
    Ok(())
}
