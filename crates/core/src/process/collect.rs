//! Collecting children that were killed and that nobody waits for: left to themselves they stay as zombies where the host takes over the
//! signal that would tell of their end, as hosts with children of their own do.

/// Collects a killed child, soon. Does nothing for none, and where there is no runtime or no handle on processes (not Linux): tokio does
/// it there, as far as it hears of it.
pub(super) fn later(pid: Option<u32>) {
    #[cfg(target_os = "linux")]
    if let (Some(pid), Ok(runtime)) = (pid, tokio::runtime::Handle::try_current()) {
        linux::later(pid, &runtime);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = pid;
}

#[cfg(target_os = "linux")]
mod linux {
    use rustix::process::{Pid, PidfdFlags, WaitId, WaitIdOptions, pidfd_open, waitid};
    use std::os::fd::AsFd;
    use std::time::Duration;

    const PAUSE: Duration = Duration::from_millis(20);
    /// A killed process that takes longer hangs in the kernel.
    const TRIES: u32 = 500;

    pub(super) fn later(pid: u32, runtime: &tokio::runtime::Handle) {
        // The handle stands for this very process: the number may be another's by the time that it is collected.
        let Some(process) = i32::try_from(pid).ok().and_then(Pid::from_raw).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok())
        else {
            return;
        };
        runtime.spawn(async move {
            for _ in 0..TRIES {
                // An error means that somebody else collected it.
                match waitid(WaitId::PidFd(process.as_fd()), WaitIdOptions::EXITED | WaitIdOptions::NOHANG) {
                    Ok(None) => tokio::time::sleep(PAUSE).await,
                    Ok(Some(_)) | Err(_) => return,
                }
            }
        });
    }
}
