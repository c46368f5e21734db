//! The table of tools, by name in order of registration.

use crate::error::{ErrorCode, ToolError};
use crate::export::Exported;
use crate::name;
use crate::schema::{self, Trust, Validator};
use crate::tool::{NativeTool, PerCall};
use indexmap::IndexMap;
use parking_lot::Mutex;
use serde_json::Value;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Characters of text that a tool may give to the model, unless it or the registry says otherwise.
pub const MAX_TEXT_CHARS: usize = 100_000;
/// Bytes of JSON that a result's data may take: 1 MiB.
const MAX_DATA_BYTES: usize = 1 << 20;
/// The same for tools of remote servers.
pub const MAX_REMOTE_TEXT_CHARS: usize = 50_000;

/// Who decides whether arguments fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Validation {
    /// The core, by the input schema.
    Schema,
    /// The host, by a validator of its own; the input schema is only shown.
    Host,
}

/// Where a tool's body is.
#[derive(Clone)]
pub enum Body {
    /// In the host language.
    Host,
    /// In Rust.
    Native(Arc<dyn NativeTool>),
    /// Nowhere: the tool is only declared.
    Missing,
}

impl fmt::Debug for Body {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Body::Host => "Host",
            Body::Native(_) => "Native",
            Body::Missing => "Missing",
        })
    }
}

/// Everything a registry is told about a tool.
#[derive(Clone, Debug)]
pub struct Definition {
    /// Its name, by the rule of [`name::is_valid`].
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// Who vouches for it: `builtin`, an app's word, or `mcp:{namespace}`.
    pub origin: String,
    /// JSON Schema of its arguments.
    pub input_schema: Value,
    /// Who checks the arguments.
    pub validation: Validation,
    /// Whether declared defaults are filled in before the check.
    pub fill_defaults: bool,
    /// Whether a call needs a person's yes.
    pub confirmation: PerCall,
    /// Whether results are text from outside.
    pub external: PerCall,
    /// Whether calls may overlap with others of the same turn.
    pub parallel: bool,
    /// Limit for the body of one call; the registry's when absent.
    pub timeout: Option<Duration>,
    /// Limit for the text of one result in characters; the default of its kind when absent.
    pub max_text_chars: Option<usize>,
    /// Limit for the data of one result in bytes of JSON; 1 MiB when absent.
    pub max_data_bytes: Option<usize>,
    /// Where the body is.
    pub body: Body,
}

/// A registered tool.
#[derive(Debug)]
pub struct Entry {
    /// What was registered.
    pub definition: Definition,
    pub(crate) validator: Option<Validator>,
    pub(crate) fills_defaults: bool,
    /// Registered and permitted: a call may begin without looking anything up. Kept by whoever changes either.
    admitted: AtomicBool,
    /// Its exports, as they were last made.
    pub(crate) exports: Mutex<Vec<Arc<Exported>>>,
}

impl Entry {
    fn new(mut definition: Definition) -> Result<Self, ToolError> {
        name::check(&definition.name)?;
        if definition.origin.is_empty() {
            return Err(ToolError::new(ErrorCode::InvalidOptions, format!("tool '{}' needs an origin that is not empty", definition.name)));
        }
        let named = |mut error: ToolError| {
            error.message = format!("tool '{}': {}", definition.name, error.message);
            error
        };
        definition.input_schema = schema::normalize(std::mem::take(&mut definition.input_schema)).map_err(named)?;
        let trust = if definition.origin.starts_with("mcp:") { Trust::Remote } else { Trust::Own };
        let validator = match definition.validation {
            Validation::Schema => Some(Validator::compile(&definition.input_schema, trust).map_err(named)?),
            Validation::Host => None,
        };
        let fills_defaults = definition.fill_defaults && schema::has_defaults(&definition.input_schema);
        Ok(Self { validator, fills_defaults, admitted: AtomicBool::new(false), exports: Mutex::default(), definition })
    }

    /// Whether the tool is registered and permitted.
    pub(crate) fn is_admitted(&self) -> bool {
        self.admitted.load(Ordering::Acquire)
    }

    /// Notes whether the permissions let it be called.
    pub(crate) fn admit(&self, permitted: bool) {
        self.admitted.store(permitted, Ordering::Release);
    }

    /// The limit for the text of one result, in characters.
    pub fn max_text_chars(&self, registry_limit: Option<usize>) -> usize {
        let default = if self.definition.origin.starts_with("mcp:") { MAX_REMOTE_TEXT_CHARS } else { MAX_TEXT_CHARS };
        self.definition.max_text_chars.or(registry_limit).unwrap_or(default)
    }

    /// The limit for the data of one result, in bytes of JSON.
    pub(crate) fn max_data_bytes(&self) -> usize {
        self.definition.max_data_bytes.unwrap_or(MAX_DATA_BYTES)
    }

    /// Grows whenever the schema to show may have changed.
    pub(crate) fn schema_revision(&self) -> u64 {
        match &self.definition.body {
            Body::Native(tool) => tool.schema_revision(),
            Body::Host | Body::Missing => 0,
        }
    }

    /// The schema to show: a native tool's texts are read anew each time, as its prompts may have changed.
    pub fn shown_schema(&self) -> Value {
        match &self.definition.body {
            Body::Native(tool) => tool.input_schema().unwrap_or_else(|| self.definition.input_schema.clone()),
            Body::Host | Body::Missing => self.definition.input_schema.clone(),
        }
    }
}

/// The tools of one registry.
#[derive(Debug, Default)]
pub struct Registry {
    by_name: IndexMap<String, Arc<Entry>>,
}

impl Registry {
    /// Adds a tool and returns its entry, which is not admitted yet.
    ///
    /// # Errors
    /// `INVALID_NAME`, `DUPLICATE_NAME` unless `overwrite`, `INVALID_OPTIONS` for a bad schema or origin.
    pub fn register(&mut self, definition: Definition, overwrite: bool) -> Result<Arc<Entry>, ToolError> {
        if !overwrite && self.by_name.contains_key(&definition.name) {
            let message = format!("a tool named '{}' is registered already; give it another name or pass overwrite: true", definition.name);
            return Err(ToolError::new(ErrorCode::DuplicateName, message));
        }
        let entry = Arc::new(Entry::new(definition)?);
        if let Some(replaced) = self.by_name.insert(entry.definition.name.clone(), Arc::clone(&entry)) {
            replaced.admit(false);
        }
        Ok(entry)
    }

    /// Removes a tool; calls that run it go on. Returns whether there was one.
    pub fn unregister(&mut self, name: &str) -> bool {
        // Order matters to what the model sees, so the rest keeps its order.
        self.by_name.shift_remove(name).inspect(|entry| entry.admit(false)).is_some()
    }

    /// A tool by name.
    pub fn get(&self, name: &str) -> Option<&Arc<Entry>> {
        self.by_name.get(name)
    }

    /// All tools, in order of registration.
    pub fn entries(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.by_name.values()
    }
}
