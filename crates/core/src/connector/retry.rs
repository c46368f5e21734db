//! Trying again: pauses that grow, drawn at random, within a budget.

use crate::pause::{at_random, doubled};
use std::time::Duration;
use tokio::time::Instant;

/// How often and how long something is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Tries after the first one. Default: 3.
    pub retries: u32,
    /// The longest pause before the first of them; each further one may be twice as long. Default: 1 second.
    pub first_delay: Duration,
    /// The longest pause of all. Default: 30 seconds.
    pub max_delay: Duration,
    /// No try begins later than this after the first one began. Default: 30 seconds.
    pub budget: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self { retries: 3, first_delay: seconds(1), max_delay: seconds(30), budget: seconds(30) }
    }
}

/// One thing that is tried, from its first try on.
#[derive(Debug)]
pub(super) struct Tries {
    policy: RetryPolicy,
    end: Instant,
    made: u32,
}

impl Tries {
    /// `limit` is the time that somebody waits for all of it together.
    pub(super) fn new(policy: RetryPolicy, limit: Option<Duration>) -> Self {
        let budget = limit.map_or(policy.budget, |limit| limit.min(policy.budget));
        Self { policy, end: Instant::now() + budget, made: 0 }
    }

    /// How often it was tried again.
    pub(super) fn made(&self) -> u32 {
        self.made
    }

    /// The pause before the next try: at random between nothing and the longest one for it, so that many clients of one broken thing do
    /// not come back in step; longer where the other side asked for it. None where nothing more is to be tried.
    pub(super) fn next(&mut self, asked: Option<Duration>) -> Option<Duration> {
        if self.made >= self.policy.retries {
            return None;
        }
        let longest = doubled(self.policy.first_delay, self.made, self.policy.max_delay);
        let pause = at_random(longest).max(asked.unwrap_or_default());
        self.made += 1;
        (Instant::now() + pause < self.end).then_some(pause)
    }

    /// What is left for something else that is tried after this.
    pub(super) fn left(&self) -> RetryPolicy {
        let RetryPolicy { retries, first_delay, max_delay, .. } = self.policy;
        let first_delay = doubled(first_delay, self.made, max_delay);
        RetryPolicy { retries: retries - self.made, first_delay, max_delay, budget: self.rest() }
    }

    /// What is left of the budget.
    pub(super) fn rest(&self) -> Duration {
        self.end.saturating_duration_since(Instant::now())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_are_random_below_a_doubling_bound() {
        let policy = RetryPolicy { retries: 40, budget: Duration::from_secs(3600), ..RetryPolicy::default() };
        let runs: Vec<Vec<Duration>> = (0..50)
            .map(|_| {
                let mut tries = Tries::new(policy, None);
                std::iter::from_fn(|| tries.next(None)).collect()
            })
            .collect();
        for (place, longest) in [(0, 1), (1, 2), (2, 4), (4, 16), (5, 30), (39, 30)] {
            let longest = Duration::from_secs(longest);
            assert!(runs.iter().all(|pauses| pauses[place] <= longest), "{place}");
            assert!(
                runs.iter().any(|pauses| pauses[place] > longest / 2) && runs.iter().any(|pauses| pauses[place] < longest / 2),
                "{place}"
            );
        }
        assert!(runs.iter().all(|pauses| pauses.len() == 40));
    }

    #[tokio::test(start_paused = true)]
    async fn what_comes_after_has_what_is_left() {
        let policy = RetryPolicy::default();
        let mut tries = Tries::new(policy, None);
        assert_eq!(tries.left(), policy);
        assert!(tries.next(None).is_some() && tries.next(None).is_some());
        tokio::time::advance(Duration::from_secs(10)).await;
        let left = RetryPolicy { retries: 1, first_delay: Duration::from_secs(4), budget: Duration::from_secs(20), ..policy };
        assert_eq!(tries.left(), left);
    }

    #[test]
    fn ends_with_the_budget_and_waits_as_long_as_asked() {
        let mut tries = Tries::new(RetryPolicy { retries: 9, ..RetryPolicy::default() }, Some(Duration::from_secs(10)));
        assert!(tries.next(Some(Duration::from_secs(5))).is_some_and(|pause| pause >= Duration::from_secs(5)));
        assert_eq!(tries.next(Some(Duration::from_secs(11))), None);
        assert_eq!(Tries::new(RetryPolicy { retries: 0, ..RetryPolicy::default() }, None).next(None), None);
    }
}
