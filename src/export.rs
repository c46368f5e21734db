//! Exports of the registry, and what finds its tools.

use crate::error::misuse;
use crate::registry::NativeRegistry;
use crate::values::to_text;
use napi::bindgen_prelude::Result;
use napi_derive::napi;
use toolbolt_core::export::{self, Format};
use toolbolt_core::find;

#[napi]
impl NativeRegistry {
    /// The tools in the shape of a provider, as JSON.
    #[napi(catch_unwind)]
    pub fn export_tools(&self, format: String, strict: bool, names: Option<Vec<String>>) -> Result<String> {
        Ok(export::tools(self.gate(), named(&format, strict)?, names.as_deref()))
    }

    /// What that gives up, as JSON.
    #[napi(catch_unwind)]
    pub fn export_report(&self, format: String, strict: bool, names: Option<Vec<String>>) -> Result<String> {
        to_text(&export::report(self.gate(), named(&format, strict)?, names.as_deref()))
    }

    /// Stays the same as long as every export does.
    #[napi(catch_unwind)]
    pub fn export_stamp(&self) -> String {
        let (generation, revision) = export::stamp(self.gate());
        format!("{generation}.{revision}")
    }

    /// The tools that fit a query best, as JSON.
    #[napi(catch_unwind)]
    pub fn search(&self, query: String, top: u32) -> Result<String> {
        to_text(&find::search(self.gate(), &query, top as usize))
    }

    /// The tool that a provider's call means, where the name is not the tool's own.
    #[napi(catch_unwind)]
    pub fn own_name(&self, format: String, name: String) -> Result<Option<String>> {
        Ok(export::own_name(self.gate(), named(&format, false)?, &name))
    }

    /// Arguments in the words of the tool's own schema, where they are not that already.
    #[napi(catch_unwind)]
    pub fn restored_arguments(&self, format: String, name: String, text: String) -> Result<Option<String>> {
        Ok(export::restored_arguments(self.gate(), named(&format, false)?, &name, &text))
    }
}

fn named(format: &str, strict: bool) -> Result<Format> {
    Format::named(format, strict).ok_or_else(|| misuse("there is no format of that name"))
}
