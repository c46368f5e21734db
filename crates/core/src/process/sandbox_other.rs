//! Where there is no Landlock, nothing confines a child.

use super::starter::Starter;
use super::{Child, Command, Confinement, Sandbox, io};

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
