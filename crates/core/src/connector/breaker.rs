//! A circuit breaker: after some failures in a row nothing is tried for a while, then one trial decides.

use parking_lot::Mutex;
use std::time::Duration;
use tokio::time::Instant;

/// When it opens, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakerPolicy {
    /// Failures in a row that open it. Default: 5.
    pub failures: u32,
    /// How long it stays open before a trial. Default: 30 seconds.
    pub reset: Duration,
}

impl Default for BreakerPolicy {
    fn default() -> Self {
        Self { failures: 5, reset: Duration::from_secs(30) }
    }
}

/// Whether calls are let through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BreakerState {
    /// All of them.
    Closed,
    /// None.
    Open,
    /// One, which decides.
    HalfOpen,
}

impl BreakerState {
    /// The state as hosts see it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open => "open",
            Self::HalfOpen => "half-open",
        }
    }
}

#[derive(Debug, Default)]
struct State {
    failures: u32,
    /// Since when it is open.
    opened: Option<Instant>,
    /// A trial is under way.
    trying: bool,
    /// Counts changes between open and closed: what began before one says nothing about the time after it.
    epoch: u64,
}

#[derive(Debug, Default)]
pub(super) struct Breaker {
    policy: BreakerPolicy,
    state: Mutex<State>,
}

/// The right to make one call. Its outcome is to be told; without one, a trial leaves the place to the next. A call that is dropped when its
/// time was over has failed.
#[derive(Debug)]
pub(super) struct Pass<'a> {
    breaker: &'a Breaker,
    is_trial: bool,
    epoch: u64,
    since: Instant,
    limit: Option<Duration>,
    is_told: bool,
}

/// Calls are not let through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Open {
    pub(super) failures: u32,
    /// Until the next trial.
    pub(super) retry_after: Duration,
}

impl Breaker {
    pub(super) fn new(policy: BreakerPolicy) -> Self {
        Self { policy, state: Mutex::default() }
    }

    fn rest(&self, opened: Instant) -> Duration {
        self.policy.reset.saturating_sub(opened.elapsed())
    }

    pub(super) fn state(&self) -> BreakerState {
        let state = self.state.lock();
        match state.opened {
            None => BreakerState::Closed,
            Some(opened) if state.trying || self.rest(opened).is_zero() => BreakerState::HalfOpen,
            Some(_) => BreakerState::Open,
        }
    }

    /// Why a call would not be let through now.
    pub(super) fn refusal(&self) -> Option<Open> {
        let state = self.state.lock();
        let rest = self.rest(state.opened?);
        (state.trying || !rest.is_zero()).then_some(Open { failures: state.failures, retry_after: rest })
    }

    /// Lets a call through that may take as long as `limit`.
    pub(super) fn enter(&self, limit: Option<Duration>) -> Result<Pass<'_>, Open> {
        let mut state = self.state.lock();
        let is_trial = state.opened.is_some();
        if let Some(opened) = state.opened {
            let rest = self.rest(opened);
            if state.trying || !rest.is_zero() {
                return Err(Open { failures: state.failures, retry_after: rest });
            }
            state.trying = true;
        }
        Ok(Pass { breaker: self, is_trial, epoch: state.epoch, since: Instant::now(), limit, is_told: false })
    }

    /// Something else showed that all is well.
    pub(super) fn close(&self) {
        let mut state = self.state.lock();
        let epoch = state.epoch + u64::from(state.opened.is_some());
        *state = State { epoch, ..State::default() };
    }
}

impl Pass<'_> {
    pub(super) fn is_trial(&self) -> bool {
        self.is_trial
    }

    pub(super) fn succeeded(mut self) {
        self.is_told = true;
        if self.epoch == self.breaker.state.lock().epoch {
            self.breaker.close();
        }
    }

    pub(super) fn failed(mut self) {
        self.fail();
    }

    /// The call said nothing about the server.
    pub(super) fn returned(mut self) {
        self.is_told = true;
    }

    fn fail(&mut self) {
        self.is_told = true;
        let mut state = self.breaker.state.lock();
        if self.epoch != state.epoch {
            return;
        }
        state.failures = state.failures.saturating_add(1);
        if self.is_trial {
            state.opened = Some(Instant::now());
        } else if state.failures >= self.breaker.policy.failures {
            state.opened = Some(Instant::now());
            state.epoch += 1;
        }
    }

    /// Whether it is about the limit that ended the call. Whoever holds it to the limit began to count a moment earlier.
    fn is_late(&self) -> bool {
        self.limit.is_some_and(|limit| self.since.elapsed() >= limit.mul_f64(0.9))
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        if !self.is_told && self.is_late() {
            self.fail();
        }
        if self.is_trial {
            let mut state = self.breaker.state.lock();
            if state.epoch == self.epoch {
                state.trying = false;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::advance;

    fn fail(breaker: &Breaker) {
        breaker.enter(None).unwrap().failed();
    }

    #[tokio::test(start_paused = true)]
    async fn opens_after_failures_in_a_row_and_closes_after_one_trial() {
        let breaker = Breaker::new(BreakerPolicy::default());
        (0..4).for_each(|_| fail(&breaker));
        breaker.enter(None).unwrap().succeeded();
        (0..5).for_each(|_| {
            assert_eq!(breaker.state(), BreakerState::Closed);
            fail(&breaker);
        });
        assert_eq!(breaker.state(), BreakerState::Open);
        assert_eq!(breaker.enter(None).unwrap_err(), Open { failures: 5, retry_after: Duration::from_secs(30) });
        advance(Duration::from_secs(30)).await;
        assert_eq!(breaker.state(), BreakerState::HalfOpen);
        assert_eq!(breaker.refusal(), None);
        let trial = breaker.enter(None).unwrap();
        assert!(breaker.enter(None).is_err() && breaker.refusal().is_some(), "one trial");
        trial.succeeded();
        assert_eq!(breaker.state(), BreakerState::Closed);
        drop((breaker.enter(None).unwrap(), breaker.enter(None).unwrap()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_trial_that_fails_opens_it_again_and_one_without_outcome_leaves_its_place() {
        let breaker = Breaker::new(BreakerPolicy { failures: 1, reset: Duration::from_secs(1) });
        fail(&breaker);
        advance(Duration::from_secs(1)).await;
        fail(&breaker);
        assert_eq!(breaker.state(), BreakerState::Open);
        advance(Duration::from_secs(1)).await;
        drop(breaker.enter(None).unwrap());
        assert_eq!(breaker.state(), BreakerState::HalfOpen);
        breaker.enter(None).unwrap().succeeded();
        assert_eq!(breaker.state(), BreakerState::Closed);
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_is_dropped_when_its_time_is_over_has_failed() {
        let breaker = Breaker::new(BreakerPolicy { failures: 1, reset: Duration::from_secs(1) });
        let pass = breaker.enter(Some(Duration::from_secs(10))).unwrap();
        advance(Duration::from_secs(5)).await;
        drop(pass);
        assert_eq!(breaker.state(), BreakerState::Closed);
        let pass = breaker.enter(Some(Duration::from_secs(10))).unwrap();
        advance(Duration::from_secs(10)).await;
        drop(pass);
        assert_eq!(breaker.state(), BreakerState::Open);
    }

    #[tokio::test(start_paused = true)]
    async fn what_began_before_a_change_says_nothing_after_it() {
        let breaker = Breaker::new(BreakerPolicy { failures: 1, reset: Duration::from_secs(1) });
        let (slow, late) = (breaker.enter(None).unwrap(), breaker.enter(None).unwrap());
        fail(&breaker);
        slow.succeeded();
        assert_eq!(breaker.state(), BreakerState::Open);
        breaker.close();
        late.failed();
        assert_eq!(breaker.state(), BreakerState::Closed);
    }
}
