//! How long to wait: until a limit, and before something is tried again.

use std::time::Duration;

/// Waits until a limit has passed; for ever where there is none.
pub(crate) async fn expired(limit: Option<Duration>) {
    match limit {
        Some(limit) => tokio::time::sleep(limit).await,
        None => std::future::pending().await,
    }
}

/// A time that was doubled so many times, up to the longest.
pub(crate) fn doubled(first: Duration, times: u32, longest: Duration) -> Duration {
    first.saturating_mul(1 << times.min(16)).min(longest)
}

/// A time at random between nothing and the longest, so that many clients of one broken thing do not come back in step.
pub(crate) fn at_random(longest: Duration) -> Duration {
    // Without randomness the longest pause is a fair one.
    longest.mul_f64(chance().unwrap_or(1.0))
}

/// A number from 0 to 1, where the system gives random ones.
pub(crate) fn chance() -> Option<f64> {
    getrandom::u32().ok().map(|random| f64::from(random) / f64::from(u32::MAX))
}
