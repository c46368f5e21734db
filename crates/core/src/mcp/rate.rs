//! How many notifications a server may send.

use parking_lot::Mutex;
use std::time::{Duration, Instant};

/// Counts within one second after another.
#[derive(Debug)]
pub(super) struct Rate {
    per_second: u32,
    window: Mutex<(Instant, u32)>,
}

impl Rate {
    pub(super) fn new(per_second: u32) -> Self {
        Self { per_second, window: Mutex::new((Instant::now(), 0)) }
    }

    /// Whether one more is within the limit.
    pub(super) fn admit(&self) -> bool {
        let mut window = self.window.lock();
        if window.1 >= self.per_second {
            if window.0.elapsed() < Duration::from_secs(1) {
                return false;
            }
            *window = (Instant::now(), 0);
        }
        window.1 += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_second_starts_anew() {
        let rate = Rate::new(3);
        assert_eq!((0..5).filter(|_| rate.admit()).count(), 3);
        *rate.window.lock() = (Instant::now() - Duration::from_secs(2), 3);
        assert_eq!((0..5).filter(|_| rate.admit()).count(), 3);
    }
}
