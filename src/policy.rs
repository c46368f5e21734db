//! Prompts and permissions.

use crate::error::{misuse, to_js};
use crate::values::parse;
use napi::bindgen_prelude::Result;
use napi_derive::napi;
use std::collections::HashMap;
use std::sync::Arc;
use toolbolt_core::permission::{Permissions, Rules};
use toolbolt_core::prompts::{Language, PromptRegistry};

/// The texts that a model may read.
#[napi]
pub struct NativePrompts {
    pub(crate) inner: Arc<PromptRegistry>,
}

#[napi]
impl NativePrompts {
    /// The built-in texts of a language: `en` or `zh`.
    #[napi(factory, catch_unwind)]
    pub fn load(language: String) -> Result<Self> {
        let language = match language.as_str() {
            "en" => Language::English,
            "zh" => Language::Chinese,
            other => return Err(misuse(&format!("there is no language '{other}'; use 'en' or 'zh'"))),
        };
        Ok(Self { inner: Arc::new(PromptRegistry::load(language)) })
    }

    /// The template behind a key.
    #[napi(catch_unwind)]
    pub fn get(&self, key: String) -> Result<String> {
        self.inner.get(&key).map_err(to_js)
    }

    /// The variables that a template must keep.
    #[napi(catch_unwind)]
    pub fn variables(&self, key: String) -> Result<Vec<String>> {
        self.inner.variables(&key).map_err(to_js)
    }

    /// Fills a template in.
    #[napi(catch_unwind)]
    pub fn render(&self, key: String, variables: HashMap<String, String>) -> Result<String> {
        let variables: Vec<(&str, &str)> = variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        self.inner.render(&key, &variables).map_err(to_js)
    }

    /// Adds a template.
    #[napi(catch_unwind)]
    pub fn register(&self, key: String, text: String, variables: Vec<String>, protected: Vec<String>) -> Result<()> {
        self.inner.register(&key, &text, &variables, &protected).map_err(to_js)
    }

    /// Replaces texts, all or none.
    #[napi(catch_unwind)]
    pub fn override_texts(&self, texts: HashMap<String, String>) -> Result<()> {
        self.inner.override_texts(texts.iter().map(|(key, text)| (key.as_str(), text.as_str()))).map_err(to_js)
    }

    /// A copy with texts replaced.
    #[napi(catch_unwind)]
    pub fn with_overrides(&self, texts: HashMap<String, String>) -> Result<NativePrompts> {
        let copy = self.inner.with_overrides(texts.iter().map(|(key, text)| (key.as_str(), text.as_str()))).map_err(to_js)?;
        Ok(NativePrompts { inner: Arc::new(copy) })
    }

    /// Every key.
    #[napi(catch_unwind)]
    pub fn keys(&self) -> Vec<String> {
        self.inner.keys()
    }
}

/// Allow and deny lists by name and origin.
#[napi]
pub struct NativePermissions {
    pub(crate) inner: Arc<Permissions>,
}

#[napi]
impl NativePermissions {
    /// From the rules as JSON.
    #[napi(constructor, catch_unwind)]
    pub fn new(rules: String) -> Result<Self> {
        let rules: Rules = parse(&rules)?;
        Ok(Self { inner: Arc::new(Permissions::new(rules).map_err(to_js)?) })
    }

    /// Why a tool may not be called, as a sentence, or nothing.
    #[napi(catch_unwind)]
    pub fn denial_reason(&self, name: String, origin: Option<String>, prompts: &NativePrompts) -> Option<String> {
        let denial = self.inner.denial(&name, origin.as_deref())?;
        Some(prompts.inner.text(denial.key(), &denial.variables()))
    }
}
