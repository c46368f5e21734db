//! Where a program cannot be tied to the life of its parent, it is started like any other.

use super::{Child, Command, io};

/// Nothing has to live as long as a program.
#[derive(Debug)]
pub(super) struct Starter;

/// Starts a program, which was told its name already.
pub(super) fn spawn(mut command: Command, _name: &str) -> io::Result<Child> {
    command.spawn()
}
