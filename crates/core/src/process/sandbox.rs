//! Landlock, the kernel's way to confine a process without privileges (<https://docs.kernel.org/userspace-api/landlock.html>).
//!
//! A thread of its own confines itself and starts the child, which inherits the confinement, as does all that the child starts. The thread
//! then waits until the child is of no interest any more, as a child ends with the thread that started it; no other thread of the host is
//! confined.

use super::starter::Starter;
use super::{Child, Command, Confinement, Sandbox, io};
use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError,
    RulesetStatus, Scope,
};

/// What may be written to wherever it is: it keeps nothing.
const SINKS: [&str; 3] = ["/dev/null", "/dev/zero", "/dev/full"];
/// The first version that knows truncation and TCP: without them a sandbox has holes.
const LIMITS: ABI = ABI::V4;

/// Whether the kernel can confine a child as asked.
pub fn is_available() -> bool {
    let sandbox = Sandbox { writable: Vec::new(), network: false, required: true };
    // Creating a set of rules confines nobody.
    ruleset(&sandbox).and_then(Ruleset::create).is_ok()
}

pub(super) fn spawn(command: Command, name: &str, sandbox: &Sandbox) -> io::Result<(Child, Confinement, Option<Starter>)> {
    let sandbox = sandbox.clone();
    let (child, confinement, starter) = Starter::spawn(command, name, move || match confine(&sandbox) {
        Ok(confinement) => Ok(confinement),
        Err(_) if !sandbox.required => Ok(Confinement::None),
        Err(error) => Err(io::Error::new(io::ErrorKind::Unsupported, error)),
    })?;
    Ok((child, confinement, Some(starter)))
}

/// Confines this thread, for good.
fn confine(sandbox: &Sandbox) -> Result<Confinement, RulesetError> {
    let changes = AccessFs::from_write(LIMITS);
    let sinks = changes & AccessFs::from_file(LIMITS);
    let writable = sandbox
        .writable
        .iter()
        .filter_map(|folder| PathFd::new(folder).ok())
        .map(|folder| Ok::<_, RulesetError>(PathBeneath::new(folder, changes)));
    let sinks = SINKS.iter().filter_map(|sink| PathFd::new(sink).ok()).map(|sink| Ok(PathBeneath::new(sink, sinks)));
    let status = ruleset(sandbox)?.create()?.add_rules(writable.chain(sinks))?.restrict_self()?;
    Ok(match status.ruleset {
        RulesetStatus::FullyEnforced => Confinement::Full,
        RulesetStatus::PartiallyEnforced => Confinement::Partial,
        _ => Confinement::None,
    })
}

fn ruleset(sandbox: &Sandbox) -> Result<Ruleset, RulesetError> {
    let level = if sandbox.required { CompatLevel::HardRequirement } else { CompatLevel::BestEffort };
    let mut rules = Ruleset::default().set_compatibility(level).handle_access(AccessFs::from_write(LIMITS))?;
    if !sandbox.network {
        rules = rules.handle_access(AccessNet::from_all(LIMITS))?;
    }
    // Signals and abstract sockets to processes outside: newer than the rest, so taken where it is there.
    rules.set_compatibility(CompatLevel::BestEffort).scope(Scope::from_all(ABI::V6))
}
