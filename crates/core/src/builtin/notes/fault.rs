//! What can stop a call at the disk, and how a model is told. No path of the host is ever part of it.

use super::path::{MAX_DEPTH, MAX_NAME_BYTES, MAX_PATH_BYTES, PathFault};
use crate::error::ErrorCode;
use crate::prompts::PromptRegistry;
use crate::sanitize::{is_hidden, visible};
use std::io::{Error, ErrorKind};

/// What stopped a call.
#[derive(Debug)]
pub(super) enum Fault {
    /// A symbolic link stands somewhere on the way.
    Link,
    /// A folder stands where a note should.
    Folder,
    /// A note stands where a folder should.
    Note,
    /// A part of the path before the last is no folder.
    NotFolder,
    /// A device, a pipe, a socket.
    NotFile,
    /// The file has a second name somewhere.
    HardLink,
    /// The file is no UTF-8 text.
    NotText,
    /// Another program kept the file locked for this many seconds.
    Locked(u64),
    /// What was opened was moved away again and again.
    Moved,
    /// The note would outgrow its limit.
    TooLarge,
    /// The system refuses the access.
    Denied,
    /// No space is left.
    Full,
    /// The disk cannot be written to.
    ReadOnly,
    /// It was written, and may not have reached the disk.
    Unsynced,
    /// The caller gave up before anything was written.
    Cancelled,
    /// The root cannot be used at all.
    Root(Box<Fault>),
    /// The root, or a part of the way to it, is no folder.
    NoFolder,
    /// The root is a link that somebody else made.
    ForeignLink,
    /// The root belongs to another user.
    ForeignRoot,
    /// Everybody may write to the root.
    OpenRoot,
    /// Anything else, in the system's words.
    System(String),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        match error.kind() {
            ErrorKind::PermissionDenied => Fault::Denied,
            ErrorKind::NotADirectory => Fault::NotFolder,
            ErrorKind::IsADirectory => Fault::Folder,
            ErrorKind::NotFound => Fault::Moved,
            ErrorKind::ReadOnlyFilesystem => Fault::ReadOnly,
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Fault::Full,
            _ => Fault::System(error.to_string()),
        }
    }
}

impl Fault {
    /// The code for programs.
    pub(super) fn code(&self) -> ErrorCode {
        match self {
            Fault::Link | Fault::NotFile | Fault::HardLink | Fault::Denied | Fault::ForeignLink | Fault::ForeignRoot | Fault::OpenRoot => {
                ErrorCode::PermissionDenied
            }
            Fault::Locked(_) => ErrorCode::Timeout,
            Fault::Cancelled => ErrorCode::Cancelled,
            Fault::Root(inner) => inner.code(),
            _ => ErrorCode::ExecutionFailed,
        }
    }

    /// The reason as it stands inside a sentence.
    pub(super) fn text(&self, prompts: &PromptRegistry) -> String {
        let key = match self {
            Fault::Link => "tool.msg.notes.is_link",
            Fault::Folder => "tool.msg.notes.is_folder",
            Fault::Note => "tool.msg.notes.is_note",
            Fault::NotFolder => "tool.msg.notes.not_folder",
            Fault::NotFile => "tool.msg.notes.not_file",
            Fault::HardLink => "tool.msg.notes.hard_link",
            Fault::NotText => "tool.msg.notes.not_text",
            Fault::Locked(seconds) => return prompts.text("tool.msg.notes.locked", &[("seconds", &seconds.to_string())]),
            Fault::Moved => "tool.msg.notes.moved",
            Fault::Denied => "tool.msg.notes.no_access",
            Fault::Full => "tool.msg.notes.disk_full",
            Fault::ReadOnly => "tool.msg.notes.read_only",
            Fault::Unsynced => "tool.msg.notes.unsynced",
            Fault::NoFolder => "tool.msg.notes.no_directory",
            Fault::ForeignLink => "tool.msg.notes.foreign_link",
            Fault::ForeignRoot => "tool.msg.notes.foreign_root",
            Fault::OpenRoot => "tool.msg.notes.open_root",
            Fault::Root(inner) => return inner.text(prompts),
            Fault::System(error) => return prompts.text("tool.msg.notes.system_error", &[("err", error)]),
            // These two have sentences of their own.
            Fault::TooLarge | Fault::Cancelled => return String::new(),
        };
        prompts.text(key, &[])
    }
}

impl PathFault {
    /// The reason as it stands inside a sentence; none for what has a sentence of its own.
    pub(super) fn text(&self, prompts: &PromptRegistry) -> Option<String> {
        let limited = |key: &str, max: usize| prompts.text(key, &[("max", &max.to_string())]);
        Some(match self {
            PathFault::Empty | PathFault::Escape => return None,
            PathFault::TooLong => limited("tool.msg.notes.path_too_long", MAX_PATH_BYTES),
            PathFault::TooDeep => limited("tool.msg.notes.path_too_deep", MAX_DEPTH),
            PathFault::NameTooLong => limited("tool.msg.notes.name_too_long", MAX_NAME_BYTES),
            PathFault::Character(character) => prompts.text("tool.msg.notes.bad_character", &[("character", &shown(*character))]),
            PathFault::Ending => prompts.text("tool.msg.notes.bad_ending", &[]),
            PathFault::Reserved(name) => prompts.text("tool.msg.notes.reserved_name", &[("name", &visible(name))]),
        })
    }
}

fn shown(character: char) -> String {
    if is_hidden(character) { format!("U+{:04X}", u32::from(character)) } else { format!("'{character}'") }
}
