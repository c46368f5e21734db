//! Whether the server can be reached, and a pause before it is tried again and again.

use crate::pause::{chance, doubled};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// Failures in a row before the next attempt has to wait.
const FREE: u32 = 3;
/// The first pause; each further failure doubles it.
const PAUSE: Duration = Duration::from_millis(100);
/// The longest pause.
const LONGEST: Duration = Duration::from_secs(2);

#[derive(Default)]
pub(super) struct Health {
    failures: AtomicU32,
    rest: Mutex<Option<Instant>>,
}

impl Health {
    pub(super) fn is_troubled(&self) -> bool {
        self.failures.load(Ordering::Relaxed) > 0
    }

    pub(super) fn succeeded(&self) {
        if self.is_troubled() {
            self.failures.store(0, Ordering::Relaxed);
            *self.rest.lock() = None;
        }
    }

    pub(super) fn failed(&self) {
        let failures = self.failures.fetch_add(1, Ordering::Relaxed) + 1;
        if failures >= FREE {
            *self.rest.lock() = Instant::now().checked_add(backoff(PAUSE, failures - FREE, LONGEST));
        }
    }

    /// Waits until another attempt may be made.
    pub(super) async fn rest(&self) {
        if self.is_troubled() {
            let until = *self.rest.lock();
            if let Some(until) = until {
                sleep_until(until).await;
            }
        }
    }
}

/// A pause that doubles up to a limit; half of it is left to chance, so that many clients do not come back at once.
pub(super) fn backoff(first: Duration, doublings: u32, longest: Duration) -> Duration {
    doubled(first, doublings, longest).mul_f64(0.5 + chance().unwrap_or(0.5) / 2.0)
}
