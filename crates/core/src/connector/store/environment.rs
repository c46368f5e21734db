//! Credentials in environment variables. What reads them is given, since a program may have a view of its environment of its own.

use super::credentials::check_field;
use super::{Credentials, check_connector, invalid};
use crate::error::ToolError;
use secrecy::SecretString;
use std::collections::BTreeMap;

/// Which variables hold the fields of which connectors. Nothing can be kept here, only read; it is read anew each time.
#[derive(Debug)]
pub struct EnvironmentStore {
    variables: BTreeMap<String, BTreeMap<String, String>>,
}

impl EnvironmentStore {
    /// Takes the name of a variable by connector and field.
    ///
    /// # Errors
    /// `INVALID_OPTIONS` for a name that no connector, field or variable can have.
    pub fn new(variables: BTreeMap<String, BTreeMap<String, String>>) -> Result<Self, ToolError> {
        for (connector, fields) in &variables {
            check_connector(connector)?;
            for (field, variable) in fields {
                check_field(field)?;
                if !is_variable(variable) {
                    let message =
                        format!("'{field}' of '{connector}' names no environment variable: letters, digits and _, no digit first");
                    return Err(invalid(message));
                }
            }
        }
        Ok(Self { variables })
    }

    /// The fields of a connector whose variables are set and not empty; none if there is no such field.
    ///
    /// # Errors
    /// `INVALID_OPTIONS` for a name that no connector can have, and for a value that no credential can be.
    pub fn get(&self, connector: &str, read: impl Fn(&str) -> Option<String>) -> Result<Option<Credentials>, ToolError> {
        check_connector(connector)?;
        let Some(fields) = self.variables.get(connector) else { return Ok(None) };
        let set: Vec<_> = fields.iter().filter_map(|(field, variable)| Some((field.clone(), present(&read, variable)?))).collect();
        if set.is_empty() { Ok(None) } else { Credentials::new(set).map(Some) }
    }

    /// The connectors of which at least one variable is set and not empty, sorted.
    pub fn list(&self, read: impl Fn(&str) -> Option<String>) -> Vec<String> {
        let is_set = |fields: &BTreeMap<String, String>| fields.values().any(|variable| present(&read, variable).is_some());
        self.variables.iter().filter(|(_, fields)| is_set(fields)).map(|(connector, _)| connector.clone()).collect()
    }
}

fn present(read: &impl Fn(&str) -> Option<String>, variable: &str) -> Option<SecretString> {
    read(variable).filter(|value| !value.is_empty()).map(SecretString::from)
}

fn is_variable(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
}
