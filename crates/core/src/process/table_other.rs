//! Stands for the table of groups where the system has none: nothing is entered, and killing reaches only direct children, through their
//! own handles.

/// An empty table.
pub(super) struct Table;

pub(super) fn locked<T>(work: impl FnOnce(&mut Table) -> T) -> T {
    work(&mut Table)
}

impl Table {
    pub(super) fn leader_gone(&mut self, _serial: u64) {}
}

pub(super) fn enter(_pid: u32, _owner: u64) -> Option<u64> {
    Some(0)
}

pub(super) fn kill(_serial: u64) {}

pub(super) fn terminate(_serial: u64) {}

pub(super) fn is_alive(_serial: u64) -> bool {
    false
}

pub(super) fn forget(_serial: u64) {}

/// Does nothing on this system.
pub fn kill_all(_owner: u64) {}

/// Does nothing on this system.
pub fn kill_everything() {}

pub(super) fn exits_are_reported() -> bool {
    true
}

pub(super) fn has_living_member(_group: u32) -> bool {
    false
}
