//! Pins: which definitions of a server's tools were approved. With pins given, a tool that is new, missing or changed makes the whole
//! listing a refusal, so that no server can change what was looked at without somebody noticing.

mod admission;
mod agentmaker;
mod canonical;
mod changes;
mod difference;
mod fingerprint;
mod lockfile;

pub(super) use admission::{Admission, Moment, Subject};
pub use canonical::{Fault, canonical, pretty};
pub use difference::Offer;
pub(super) use fingerprint::parse as parse_fingerprint;
pub use fingerprint::{Definition, PARTS};
pub use lockfile::LockFile;

use super::catalog::Listing;
use super::tool::McpTool;
use crate::error::{ErrorCode, ToolError};
use crate::files::{self, FileError};
use crate::name;
use crate::sanitize::visible;
use difference::{Difference, compare};
use lockfile::{MAX_BYTES, Pin};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What becomes of a tool that the lock file does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PinMode {
    /// It is refused.
    Enforce,
    /// It is trusted and added to the file. What the file knows is held to it all the same.
    Record,
}

/// Which fingerprint is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum FingerprintFormat {
    /// Ours: [`Definition::fingerprint`].
    #[default]
    Toolbolt,
    /// That of agentmaker 0.2.0, which covers less.
    Agentmaker,
}

impl FingerprintFormat {
    /// The fingerprint of a definition. `desc_chars` is how many code points are kept of a description.
    pub(in crate::mcp) fn of(self, definition: &RawValue, desc_chars: usize) -> Result<String, Fault> {
        // It is read in each case: what readers read differently has no fingerprint.
        let ours = Definition::read(definition)?;
        match self {
            Self::Toolbolt => Ok(ours.fingerprint()),
            Self::Agentmaker => agentmaker::fingerprint(definition, desc_chars),
        }
    }
}

/// Where the pins of a server are.
#[derive(Clone, Debug)]
pub struct Pins(Source);

#[derive(Clone, Debug)]
enum Source {
    Given { pins: BTreeMap<String, Pin>, format: FingerprintFormat },
    File { path: PathBuf, mode: PinMode },
}

/// Why a file did not do.
enum Trouble {
    File(FileError),
    Broken(String),
    /// There is no file, and it may not be made.
    Missing(Difference),
    Mismatch(Difference),
}

impl From<FileError> for Trouble {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}

impl Pins {
    /// Fingerprints by the names that models see. None at all means that no tool is approved.
    ///
    /// # Errors
    /// `INVALID_OPTIONS` for a fingerprint that is not 64 hexadecimal digits, `INVALID_NAME` for a name that no tool can have.
    pub fn given(fingerprints: impl IntoIterator<Item = (String, String)>, format: FingerprintFormat) -> Result<Self, ToolError> {
        let mut pins = BTreeMap::new();
        for (tool, fingerprint) in fingerprints {
            name::check(&tool)?;
            let Some(fingerprint) = fingerprint::parse(&fingerprint) else {
                let message = format!(
                    "the fingerprint of `{tool}` is not a SHA-256 in 64 hexadecimal digits. Take it from `fingerprint` of the loaded tool."
                );
                return Err(ToolError::new(ErrorCode::InvalidOptions, message));
            };
            pins.insert(tool, Pin::bare(fingerprint));
        }
        Ok(Self(Source::Given { pins, format }))
    }

    /// Which fingerprint is compared.
    pub(in crate::mcp) fn format(&self) -> FingerprintFormat {
        match &self.0 {
            Source::Given { format, .. } => *format,
            Source::File { .. } => FingerprintFormat::default(),
        }
    }

    /// A lock file, which several servers may share. A relative path counts from the working folder of now.
    ///
    /// # Errors
    /// `INVALID_OPTIONS` for a path that cannot be one.
    pub fn file(path: &str, mode: PinMode) -> Result<Self, ToolError> {
        let invalid = |reason: &str| ToolError::new(ErrorCode::InvalidOptions, format!("the lock file of pins cannot be used: {reason}"));
        if path.is_empty() || path.contains('\0') {
            return Err(invalid("its path is empty or holds NUL"));
        }
        let path = std::path::absolute(path).map_err(|error| invalid(&error.to_string()))?;
        Ok(Self(Source::File { path, mode }))
    }

    /// Whether a listing is what was approved. In a lock file with [`PinMode::Record`] new tools are added. Reads and writes a file, so it
    /// is not for a thread that must not wait.
    ///
    /// # Errors
    /// `PIN_MISMATCH` with what differs, in words and as facts; `INVALID_OPTIONS` for a lock file that cannot be used.
    pub fn judge(&self, namespace: &str, listing: &Listing) -> Result<(), ToolError> {
        let offer = |tool: &Arc<McpTool>| {
            let definition = Definition::read(&tool.definition)?;
            let fingerprint = tool.fingerprint.clone().unwrap_or_else(|| definition.fingerprint());
            Ok(Offer { name: tool.name.clone(), definition, fingerprint })
        };
        let offers: Result<Vec<Offer>, Fault> = listing.tools.iter().map(offer).collect();
        // The listing has left out what has no one spelling.
        let offers =
            offers.map_err(|fault| ToolError::new(ErrorCode::PinMismatch, format!("MCP server `{namespace}`: a definition {fault}.")))?;
        self.judge_offers(namespace, &offers).map_err(|error| with_skipped(error, listing))
    }

    /// The same for tools that came another way.
    ///
    /// # Errors
    /// As for [`Pins::judge`].
    pub fn judge_offers(&self, namespace: &str, offers: &[Offer]) -> Result<(), ToolError> {
        match &self.0 {
            Source::Given { pins, .. } => match compare(pins, offers) {
                difference if difference.is_empty() => Ok(()),
                difference => {
                    let advice =
                        "To approve it, put the fingerprints found into expectedFingerprints, and take out those of tools that are gone.";
                    Err(mismatch(namespace, None, &difference, advice))
                }
            },
            Source::File { path, mode } => judge_file(path, *mode, namespace, offers).map_err(|trouble| explain(trouble, path, namespace)),
        }
    }
}

fn judge_file(path: &Path, mode: PinMode, namespace: &str, offers: &[Offer]) -> Result<(), Trouble> {
    let text = files::read(path, MAX_BYTES)?;
    let lock = parse(text.as_deref())?;
    let difference = compare(&lock.of(namespace), offers);
    if difference.is_empty() {
        return Ok(());
    }
    if mode == PinMode::Enforce || !difference.has_no_loss() {
        return Err(if text.is_some() { Trouble::Mismatch(difference) } else { Trouble::Missing(difference) });
    }
    files::update(path, MAX_BYTES, |text| {
        // Another process may have added to it meanwhile.
        let mut lock = parse(text)?;
        let difference = compare(&lock.of(namespace), offers);
        if !difference.has_no_loss() {
            return Err(Trouble::Mismatch(difference));
        }
        for offer in offers.iter().filter(|offer| difference.is_added(&offer.name)) {
            lock.add(namespace, offer);
        }
        Ok((!difference.is_empty()).then(|| lock.render()))
    })
}

fn parse(text: Option<&str>) -> Result<LockFile, Trouble> {
    text.map_or_else(|| Ok(LockFile::default()), LockFile::read).map_err(Trouble::Broken)
}

fn explain(trouble: Trouble, path: &Path, namespace: &str) -> ToolError {
    let shown = visible(&path.to_string_lossy());
    match trouble {
        Trouble::File(error) => {
            ToolError::new(ErrorCode::InvalidOptions, format!("The lock file of pins {shown} cannot be used: {error}."))
        }
        Trouble::Broken(reason) => {
            let message = format!(
                "{shown} is no lock file of pins: {reason}. It was left as it is. Correct it or take it back from version control, or name another file."
            );
            ToolError::new(ErrorCode::InvalidOptions, message)
        }
        Trouble::Missing(difference) => {
            let advice = format!(
                "There is no lock file yet, so nothing is approved. To approve what the server offers, load the tools once with mode 'record', which makes {shown}."
            );
            mismatch(namespace, Some(path), &difference, &advice)
        }
        Trouble::Mismatch(difference) if difference.has_no_loss() => {
            let advice = format!("To approve what is new, load the tools once with mode 'record', which adds it to {shown}.");
            mismatch(namespace, Some(path), &difference, &advice)
        }
        Trouble::Mismatch(difference) => {
            let advice = format!(
                "To approve it, remove the entries of what changed or is gone from `servers.{namespace}` in {shown}, and load the tools once with mode 'record'."
            );
            mismatch(namespace, Some(path), &difference, &advice)
        }
    }
}

fn mismatch(namespace: &str, file: Option<&Path>, difference: &Difference, advice: &str) -> ToolError {
    let message = format!(
        "MCP server `{namespace}` offers other tools than those that were approved. None was loaded.\n{}\nLook at what changed: a server can use it to mislead a model. {advice}",
        difference.summary()
    );
    let mut facts = difference.facts();
    if let Some(facts) = facts.as_object_mut() {
        facts.insert("server".to_owned(), namespace.into());
        facts.insert("file".to_owned(), file.map(Path::to_string_lossy).into());
    }
    ToolError::new(ErrorCode::PinMismatch, message).with_data(facts)
}

/// A definition that could not be used may be why a tool is missing.
fn with_skipped(mut error: ToolError, listing: &Listing) -> ToolError {
    let name = |skipped: &super::catalog::Skipped| skipped.remote_name.as_deref().map_or_else(|| "one without a name".to_owned(), visible);
    let skipped: Vec<String> = listing.skipped.iter().take(5).map(|skipped| format!("{}: {}", name(skipped), skipped.reason)).collect();
    if error.code == ErrorCode::PinMismatch && !skipped.is_empty() {
        error.message.push_str(&format!("\nThe server also offers what cannot be used: {}.", skipped.join("; ")));
    }
    error
}
