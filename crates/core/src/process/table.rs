//! The table of live process groups. It is the only state of this crate that is global to the process, because a host that ends has to find
//! every child, whoever started it.
//!
//! An entry goes away once its group cannot hold a process that has to be killed: the leader was collected and the group is empty, or the
//! whole group was sent SIGKILL and the leader was collected. From then on the id may belong to a stranger and is never signalled.

#![expect(clippy::disallowed_methods, reason = "this is the door")]

use parking_lot::Mutex;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, kill_process_group, test_kill_process_group, waitpgid};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

struct Entry {
    group: Pid,
    owner: u64,
    leader_gone: bool,
    killed: bool,
}

/// The groups by the serial number of their start; process ids come back, serial numbers do not.
pub(super) struct Table {
    next: u64,
    entries: BTreeMap<u64, Entry>,
    /// Owners that have ended: a few bytes for each, as they do not come back.
    ended: BTreeSet<u64>,
}

static TABLE: Mutex<Table> = Mutex::new(Table { next: 1, entries: BTreeMap::new(), ended: BTreeSet::new() });

/// Runs something while no other thread can signal or enter a group.
pub(super) fn locked<T>(work: impl FnOnce(&mut Table) -> T) -> T {
    work(&mut TABLE.lock())
}

impl Table {
    /// The leader was collected: its id is free as soon as the group is empty.
    pub(super) fn leader_gone(&mut self, serial: u64) {
        if let Some(entry) = self.entries.get_mut(&serial) {
            entry.leader_gone = true;
            if entry.killed || entry.is_empty() {
                self.entries.remove(&serial);
            }
        }
    }

    fn signal(&mut self, serial: u64, signal: Signal) {
        if let Some(entry) = self.entries.get_mut(&serial) {
            // ESRCH: nothing left. EPERM (macOS): only zombies left.
            let nobody = kill_process_group(entry.group, signal).is_err();
            entry.killed |= signal == Signal::KILL;
            if entry.leader_gone && (nobody || entry.killed) {
                collect_orphans(entry.group);
                self.entries.remove(&serial);
            }
        }
    }
}

impl Entry {
    fn is_empty(&self) -> bool {
        matches!(test_kill_process_group(self.group), Err(Errno::SRCH))
    }
}

/// Where our own process has id 1, or took over the duty to collect orphans, the killed descendants are ours to collect.
fn collect_orphans(group: Pid) {
    while let Ok(Some(_)) = waitpgid(group, WaitOptions::NOHANG) {}
}

/// Enters the group of a child that was just started, and gives its serial number. The child of an owner that has ended is killed.
pub(super) fn enter(pid: u32, owner: u64) -> Option<u64> {
    locked(|table| {
        let serial = table.next;
        table.next += 1;
        if let Some(group) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
            table.entries.insert(serial, Entry { group, owner, leader_gone: false, killed: false });
        }
        if table.ended.contains(&owner) {
            table.signal(serial, Signal::KILL);
            table.entries.remove(&serial);
            return None;
        }
        Some(serial)
    })
}

pub(super) fn kill(serial: u64) {
    locked(|table| table.signal(serial, Signal::KILL));
}

pub(super) fn terminate(serial: u64) {
    locked(|table| table.signal(serial, Signal::TERM));
}

pub(super) fn is_alive(serial: u64) -> bool {
    locked(|table| {
        let Some(entry) = table.entries.get(&serial) else { return false };
        let gone = entry.leader_gone && entry.is_empty();
        if gone {
            table.entries.remove(&serial);
        }
        !gone
    })
}

/// Nobody will report on the leader any more. Only for a group that was killed.
pub(super) fn forget(serial: u64) {
    locked(|table| table.entries.remove(&serial));
}

/// Kills every group that the given owner started, for good: the owner has ended, and starts nothing more. Returns at once; needs no
/// runtime.
pub fn kill_all(owner: u64) {
    locked(|table| table.ended.insert(owner));
    kill_where(|entry| entry.owner == owner);
}

/// Kills every group that this process started. Returns at once; needs no runtime.
pub fn kill_everything() {
    kill_where(|_| true);
}

fn kill_where(chosen: impl Fn(&Entry) -> bool) {
    locked(|table| {
        let serials: Vec<u64> = table.entries.iter().filter(|(_, entry)| chosen(entry)).map(|(serial, _)| *serial).collect();
        for serial in serials {
            table.signal(serial, Signal::KILL);
            // The runtime that would report on the leader may be gone, and a killed group needs no second kill.
            table.entries.remove(&serial);
        }
    });
}

/// Whether tokio learns of exits through pidfd, which no signal handler of the host can break.
#[cfg(target_os = "linux")]
pub(super) fn exits_are_reported() -> bool {
    use std::sync::OnceLock;
    static REPORTED: OnceLock<bool> = OnceLock::new();
    *REPORTED.get_or_init(|| rustix::process::pidfd_open(rustix::process::getpid(), rustix::process::PidfdFlags::empty()).is_ok())
}

/// Whether tokio learns of exits in a way that no signal handler of the host can break.
#[cfg(not(target_os = "linux"))]
pub(super) fn exits_are_reported() -> bool {
    false
}

/// Whether a process of the group is alive: a zombie whose parent does not collect it counts for the kernel, but not here.
/// Where there is no `/proc` the kernel's word stands. Only looks, so that it may be asked after the id went to somebody else.
pub(super) fn has_living_member(group: u32) -> bool {
    let for_kernel = i32::try_from(group).ok().and_then(Pid::from_raw);
    if for_kernel.is_none_or(|group| test_kill_process_group(group).is_err()) {
        return false;
    }
    let Ok(processes) = fs::read_dir("/proc") else { return true };
    let mut seen = false;
    for process in processes.flatten() {
        let Ok(stat) = fs::read(process.path().join("stat")) else { continue };
        seen = true;
        // The second field is a program name in parentheses, which may hold anything; state, parent and group follow the last one.
        let Some(end) = stat.iter().rposition(|&byte| byte == b')') else { continue };
        let rest = String::from_utf8_lossy(stat.get(end + 1..).unwrap_or_default());
        let mut fields = rest.split_ascii_whitespace();
        let state = fields.next();
        let member = fields.nth(1).and_then(|field| field.parse::<u32>().ok()) == Some(group);
        if member && !matches!(state, Some("Z" | "X")) {
            return true;
        }
    }
    !seen
}
