//! Every sentence that a model may read, by key: overridable templates in English and Chinese.
//!
//! A placeholder is `{identifier}` with single braces; `{{x}}`, `{x}}`, `{ x }` and `{a.b}` stay as they are.
//! Substituted values are not scanned again, so braces in them are safe.

mod en;
mod template;
mod zh;

use crate::error::{ErrorCode, ToolError};
use indexmap::IndexMap;
use parking_lot::RwLock;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use template::Template;

/// A language that ships with the crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// English, the default.
    English,
    /// Chinese.
    Chinese,
}

/// The templates by key. Overrides take effect at once for everything that shares the registry.
#[derive(Debug)]
pub struct PromptRegistry {
    templates: RwLock<IndexMap<String, Arc<Template>>>,
    /// Counts the changes of texts.
    revision: AtomicU64,
}

impl Default for PromptRegistry {
    fn default() -> Self {
        Self::load(Language::English)
    }
}

impl PromptRegistry {
    /// The built-in texts of a language.
    pub fn load(language: Language) -> Self {
        let texts: IndexMap<&str, &str> = match language {
            Language::English => en::TEXTS.iter().map(|entry| (entry.key, entry.text)).collect(),
            Language::Chinese => zh::TEXTS.iter().copied().collect(),
        };
        let templates = en::TEXTS.iter().map(|entry| {
            let text = texts.get(entry.key).copied().unwrap_or(entry.text);
            (entry.key.to_owned(), Arc::new(Template::built_in(text, entry.variables, entry.protected)))
        });
        Self { templates: RwLock::new(templates.collect()), revision: AtomicU64::new(0) }
    }

    /// Every key, built-in ones first.
    pub fn keys(&self) -> Vec<String> {
        self.templates.read().keys().cloned().collect()
    }

    /// The template behind a key, with its placeholders.
    ///
    /// # Errors
    /// `PROMPT_INVALID` for an unknown key.
    pub fn get(&self, key: &str) -> Result<String, ToolError> {
        self.find(key).map(|template| template.text.clone())
    }

    /// The variables that a template must keep.
    ///
    /// # Errors
    /// `PROMPT_INVALID` for an unknown key.
    pub fn variables(&self, key: &str) -> Result<Vec<String>, ToolError> {
        self.find(key).map(|template| template.variables.clone())
    }

    /// Fills a template in. Extra variables are used where the text has them.
    ///
    /// # Errors
    /// `PROMPT_INVALID` for an unknown key or a missing declared variable.
    pub fn render(&self, key: &str, variables: &[(&str, &str)]) -> Result<String, ToolError> {
        self.find(key)?.render(key, variables)
    }

    /// Fills in a built-in template whose variables are all given: cannot fail, and an unknown key shows itself.
    pub fn text(&self, key: &str, variables: &[(&str, &str)]) -> String {
        self.render(key, variables).unwrap_or_else(|_| key.to_owned())
    }

    /// Adds a template of the app's own.
    ///
    /// # Errors
    /// `PROMPT_INVALID` when the key exists. What the text must keep is checked when it is replaced.
    pub fn register(&self, key: &str, text: &str, variables: &[String], protected: &[String]) -> Result<(), ToolError> {
        let template = Template { text: text.to_owned(), variables: variables.to_vec(), protected: protected.to_vec() };
        let mut templates = self.templates.write();
        if templates.contains_key(key) {
            return Err(invalid(format!("prompt '{key}' exists; use override to change it")));
        }
        templates.insert(key.to_owned(), Arc::new(template));
        Ok(())
    }

    /// Replaces texts, all or none. Each must keep its variables and protected tokens and may add placeholders.
    ///
    /// # Errors
    /// `PROMPT_INVALID`, naming the first offending key.
    pub fn override_texts<'a>(&self, texts: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<(), ToolError> {
        let mut changed = Vec::new();
        for (key, text) in texts {
            let template = self.find(key)?;
            template.check(key, text)?;
            changed.push((key.to_owned(), Arc::new(template.with_text(text))));
        }
        let mut templates = self.templates.write();
        templates.extend(changed);
        self.revision.fetch_add(1, Ordering::Release);
        Ok(())
    }

    /// Grows whenever texts change.
    pub fn revision(&self) -> u64 {
        self.revision.load(Ordering::Acquire)
    }

    /// A copy with texts replaced; this one stays as it is.
    ///
    /// # Errors
    /// As [`PromptRegistry::override_texts`].
    pub fn with_overrides<'a>(&self, texts: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, ToolError> {
        let copy = Self { templates: RwLock::new(self.templates.read().clone()), revision: AtomicU64::new(0) };
        copy.override_texts(texts)?;
        Ok(copy)
    }

    fn find(&self, key: &str) -> Result<Arc<Template>, ToolError> {
        self.templates.read().get(key).cloned().ok_or_else(|| invalid(format!("unknown prompt key '{key}'; keys() lists them")))
    }
}

fn invalid(message: String) -> ToolError {
    ToolError::new(ErrorCode::PromptInvalid, message)
}

#[cfg(test)]
mod tests {
    use super::{en, zh};

    #[test]
    fn both_languages_have_the_same_keys_in_the_same_order() {
        let english: Vec<_> = en::TEXTS.iter().map(|entry| entry.key).collect();
        let chinese: Vec<_> = zh::TEXTS.iter().map(|(key, _)| *key).collect();
        assert_eq!(english, chinese);
    }
}
