//! Where there is no Landlock, nothing confines a child.

use super::{Child, Command, Starter, io};

/// What a child may do to the world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sandbox {
    /// The only folders beneath which files may be changed.
    pub writable: Vec<String>,
    /// Whether TCP may be used.
    pub network: bool,
    /// Whether nothing is started where the kernel cannot confine it.
    pub required: bool,
}

/// How far the kernel keeps a child within its sandbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Confinement {
    /// Not at all.
    #[default]
    None,
    /// In part: the kernel knows only some of the limits.
    Partial,
    /// As asked.
    Full,
}

/// Whether the kernel can confine a child.
pub fn is_available() -> bool {
    false
}

pub(super) fn spawn(command: Command, name: &str, sandbox: &Sandbox) -> io::Result<(Child, Confinement, Option<Starter>)> {
    if sandbox.required {
        return Err(io::Error::new(io::ErrorKind::Unsupported, "this system has no sandbox"));
    }
    Ok((super::starter::spawn(command, name)?, Confinement::None, None))
}
