//! From where the credentials of a connection come, and where they go: into the environment of the server that is started, or into
//! headers.

use super::placement::check_free_of;
use super::spec::{ACCESS_TOKEN, AuthField, AuthType, ConnectorSpec, invalid};
use crate::error::{ErrorCode, ToolError};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt;

/// Bytes of one value.
const MAX_VALUE: usize = 32 * 1024;

/// Where values may come from, by the key of their field; an empty one counts as none. Of each the first that has a value decides, field
/// by field.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Sources {
    /// What the caller gave.
    #[serde(default)]
    pub given: BTreeMap<String, String>,
    /// What the store has. Keys that no field has are passed over.
    #[serde(default)]
    pub stored: BTreeMap<String, String>,
    /// What the variables of the host have.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Whether the store has a token, which goes with each request as it is then, and not from here.
    #[serde(default)]
    pub authorized: bool,
    /// Words after those of the command.
    #[serde(default)]
    pub args: Vec<String>,
}

/// Without any value.
impl fmt::Debug for Sources {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Sources").finish_non_exhaustive()
    }
}

/// How a server is started or reached. Holds secrets.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Launch {
    /// A program.
    Command {
        /// Its name.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// The variables it gets beside the harmless ones.
        env: BTreeMap<String, String>,
    },
    /// An address.
    Url {
        /// The address.
        url: String,
        /// What goes with every request.
        headers: BTreeMap<String, String>,
    },
}

/// Without any value.
impl fmt::Debug for Launch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Launch").finish_non_exhaustive()
    }
}

impl Sources {
    fn value(&self, key: &str) -> Option<&str> {
        [&self.given, &self.stored, &self.environment]
            .into_iter()
            .filter_map(|source| source.get(key))
            .map(String::as_str)
            .find(|value| !value.is_empty())
    }
}

impl ConnectorSpec {
    /// How to start or reach the server, with every credential in its place.
    ///
    /// # Errors
    /// `CREDENTIALS_MISSING` names each missing credential by its label. `AUTHORIZATION_REQUIRED` where only OAuth 2 gives the credential.
    /// `INVALID_OPTIONS` for a credential that the connector does not take, that cannot be passed on, or that stands among the arguments.
    /// No error holds a value.
    pub fn launch(&self, sources: &Sources) -> Result<Launch, ToolError> {
        let named = |error: ToolError| ToolError { message: format!("connector '{}': {}", self.name, error.message), ..error };
        self.resolve(sources).and_then(|values| self.place(sources, &values)).map_err(named)
    }

    /// The keys that a caller or a store may give a value for.
    fn takes(&self, key: &str) -> bool {
        self.auth_fields.iter().any(|field| field.key == key) || (self.auth_type == AuthType::OAuth2 && key == ACCESS_TOKEN)
    }

    fn resolve<'a>(&'a self, sources: &'a Sources) -> Result<Vec<(&'a AuthField, &'a str)>, ToolError> {
        if let Some(place) = sources.given.keys().position(|key| !self.takes(key)) {
            let known: Vec<&str> = self.auth_fields.iter().map(|field| field.key.as_str()).collect();
            let which = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return invalid(format!("key {} of credentials is none that it takes; there are: {which}", place + 1));
        }
        let travels = |field: &&AuthField| {
            let is_token = field.key == ACCESS_TOKEN && !sources.authorized;
            self.auth_type != AuthType::OAuth2 || self.mcp_command.is_some() || is_token
        };
        let fields = self.auth_fields.iter().filter(travels);
        let (found, missing): (Vec<_>, Vec<_>) =
            fields.map(|field| (field, sources.value(&field.key))).partition(|(_, value)| value.is_some());
        if self.auth_type == AuthType::OAuth2 {
            self.check_authorized(sources)?;
        }
        if !missing.is_empty() {
            return Err(missing_credentials(&missing.into_iter().map(|(field, _)| field).collect::<Vec<_>>()));
        }
        let values: Vec<(&AuthField, &str)> = found.into_iter().filter_map(|(field, value)| Some((field, value?))).collect();
        for (field, value) in &values {
            check_value(&field.label, value)?;
        }
        Ok(values)
    }

    /// The token is the one credential that no person types in.
    fn check_authorized(&self, sources: &Sources) -> Result<(), ToolError> {
        let placed = self.mcp_url.is_some() || self.auth_fields.iter().any(|field| field.key == ACCESS_TOKEN);
        if placed && (sources.authorized || sources.value(ACCESS_TOKEN).is_some()) {
            return Ok(());
        }
        let message = if placed {
            "nobody has authorized it yet. Call authorize with its name, or give a token as the credential 'access_token'"
        } else {
            "it needs an auth field with the key 'access_token' and an envVar, in which the server gets the token"
        };
        Err(ToolError::new(ErrorCode::AuthorizationRequired, message))
    }

    fn place(&self, sources: &Sources, values: &[(&AuthField, &str)]) -> Result<Launch, ToolError> {
        let labelled = || values.iter().filter(|(field, _)| field.secret).map(|(field, value)| (field.label.as_str(), *value));
        if let Some(url) = &self.mcp_url {
            if !sources.args.is_empty() {
                return invalid("args are for servers that are started");
            }
            let token = sources.value(ACCESS_TOKEN).map(|token| ("access token", token));
            check_free_of("mcpUrl", url, labelled().chain(token))?;
            return Ok(Launch::Url { url: url.clone(), headers: self.headers(sources, values)? });
        }
        let mut words = self.mcp_command.iter().flatten().chain(&sources.args).cloned();
        for (place, word) in words.clone().enumerate() {
            check_free_of(&format!("word {place} of the command"), &word, labelled())?;
        }
        super::placement::check_words(&self.auth_fields, &sources.args)?;
        let command = words.next().unwrap_or_default();
        let variable = |(field, value): &(&AuthField, &str)| Some((field.env_var.clone()?, (*value).to_owned()));
        Ok(Launch::Command { command, args: words.collect(), env: values.iter().filter_map(variable).collect() })
    }

    fn headers(&self, sources: &Sources, values: &[(&AuthField, &str)]) -> Result<BTreeMap<String, String>, ToolError> {
        let mut headers: BTreeMap<String, String> =
            values.iter().map(|(field, value)| (field.header_name().to_owned(), field.header_value(value))).collect();
        if self.auth_type == AuthType::OAuth2
            && let Some(token) = sources.value(ACCESS_TOKEN)
        {
            check_value("access token", token)?;
            headers.entry("Authorization".to_owned()).or_insert_with(|| format!("Bearer {token}"));
        }
        for (label, value) in values.iter().map(|(field, value)| (field.label.as_str(), *value)) {
            if !value.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
                return invalid(format!("the credential '{label}' is no visible ASCII text, which a header has to be"));
            }
        }
        Ok(headers)
    }
}

fn check_value(label: &str, value: &str) -> Result<(), ToolError> {
    if value.len() > MAX_VALUE {
        return invalid(format!("the credential '{label}' is longer than {MAX_VALUE} bytes"));
    }
    if value.contains('\0') {
        return invalid(format!("the credential '{label}' holds a NUL, which cannot be passed on"));
    }
    Ok(())
}

fn missing_credentials(fields: &[&AuthField]) -> ToolError {
    let told = |field: &&AuthField| match &field.env_var {
        Some(variable) => format!("'{}' (key '{}', environment variable {variable})", field.label, field.key),
        None => format!("'{}' (key '{}')", field.label, field.key),
    };
    let list: Vec<String> = fields.iter().map(told).collect();
    let message = format!("credentials are missing: {}. Give them, put them into the store, or set the variable", list.join(", "));
    let facts = |field: &&AuthField| json!({ "key": field.key, "label": field.label, "envVar": field.env_var });
    ToolError::new(ErrorCode::CredentialsMissing, message).with_data(json!({ "missing": fields.iter().map(facts).collect::<Vec<_>>() }))
}
