//! Step 3: a call's arguments, read from text and checked.

use super::{Finished, Gate};
use crate::exact;
use crate::registry::{Body, Entry};
use crate::schema::{self, arguments, violation::Violation};
use crate::tool::Arguments;
use serde_json::Value;
use std::sync::Arc;

/// Arguments that were read and fit.
pub(super) struct Read<'a> {
    pub(super) text: &'a str,
    pub(super) value: Value,
    pub(super) changed: bool,
}

impl Read<'_> {
    /// What the call has to hold: the host has the text already, unless defaults changed it.
    pub(super) fn keep(self, entry: &Entry) -> Option<Box<Arguments>> {
        let kept = self.changed || matches!(entry.definition.body, Body::Native(_));
        kept.then(|| {
            let text = if self.changed { Arc::from(self.value.to_string()) } else { Arc::from(self.text) };
            Box::new(Arguments { text, value: self.value })
        })
    }
}

impl Gate {
    /// Step 3, where the core does it.
    pub(super) fn read<'a>(&self, entry: &Entry, text: Option<&'a str>) -> Result<Option<Read<'a>>, Box<Finished>> {
        let Some(text) = text else { return Ok(None) };
        let text = if text.trim_ascii().is_empty() { "{}" } else { text };
        let mut value = arguments::parse(text).map_err(|violation| self.invalid_arguments(entry, vec![violation]))?;
        if !value.is_object() {
            return Err(self.invalid_arguments(entry, vec![Violation::root("the arguments must be a JSON object")]));
        }
        if !matches!(entry.definition.body, Body::Native(_))
            && let Some(literal) = exact::first_inexact(text)
        {
            let shown: String = literal.chars().take(40).collect();
            let message = format!("the whole number {shown} is beyond 2^53 - 1 and would be rounded; send it as a string");
            return Err(self.invalid_arguments(entry, vec![Violation::root(message)]));
        }
        let changed = entry.fills_defaults && schema::fill_defaults(&entry.definition.input_schema, &mut value);
        if let Some(validator) = &entry.validator {
            let violations = validator.violations(&value);
            if !violations.is_empty() {
                return Err(self.invalid_arguments(entry, violations));
            }
        }
        if matches!(entry.definition.body, Body::Missing) {
            return Err(self.no_handler(entry));
        }
        Ok(Some(Read { text, value, changed }))
    }
}
