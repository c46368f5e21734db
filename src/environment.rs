//! What belongs to one JavaScript environment: its gates by number, and its way to be reached from other threads.
//!
//! An environment lives on one thread, so its state is thread-local: the main thread and each worker have their own.

use crate::dispatch::Dispatcher;
use napi::Env;
use napi::bindgen_prelude::Result;
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use toolbolt_core::gate::Gate;

#[derive(Default)]
struct Environment {
    gates: Vec<Option<Arc<Gate>>>,
    free: Vec<u32>,
    dispatcher: Option<Arc<Dispatcher>>,
}

thread_local! {
    static ENVIRONMENT: RefCell<Environment> = RefCell::default();
}

static NEXT_OWNER: AtomicU64 = AtomicU64::new(1);

/// Sets this environment's dispatcher, once, and what happens when the environment ends.
pub(crate) fn open(env: &Env, make: impl FnOnce(u64) -> Result<Arc<Dispatcher>>) -> Result<()> {
    let owner = NEXT_OWNER.fetch_add(1, Ordering::Relaxed);
    let dispatcher = make(owner)?;
    ENVIRONMENT.with_borrow_mut(|environment| environment.dispatcher = Some(Arc::clone(&dispatcher)));
    // Runs on process exit and on the end of a worker, however it comes; nothing may be left to await by then.
    env.add_env_cleanup_hook(dispatcher, |dispatcher| {
        toolbolt_core::process::kill_all(dispatcher.owner());
        dispatcher.close();
        // The thread may be tearing its locals down already.
        let _ = ENVIRONMENT.try_with(|environment| environment.take());
    })?;
    Ok(())
}

/// Kills every child process of this environment at once.
pub(crate) fn kill_children() {
    if let Some(dispatcher) = dispatcher() {
        toolbolt_core::process::kill_all(dispatcher.owner());
    }
}

pub(crate) fn dispatcher() -> Option<Arc<Dispatcher>> {
    ENVIRONMENT.with_borrow(|environment| environment.dispatcher.clone())
}

/// Gives a gate a number for the raw functions.
pub(crate) fn add_gate(gate: Arc<Gate>) -> u32 {
    ENVIRONMENT.with_borrow_mut(|environment| match environment.free.pop() {
        Some(index) => {
            environment.gates[index as usize] = Some(gate);
            index
        }
        None => {
            environment.gates.push(Some(gate));
            u32::try_from(environment.gates.len() - 1).unwrap_or(u32::MAX)
        }
    })
}

pub(crate) fn remove_gate(index: u32) {
    // A finalizer may run after the environment's end.
    let _ = ENVIRONMENT.try_with(|environment| {
        let mut environment = environment.borrow_mut();
        if environment.gates.get_mut(index as usize).and_then(Option::take).is_some() {
            environment.free.push(index);
        }
    });
}

pub(crate) fn with_gate<T>(index: u32, read: impl FnOnce(&Arc<Gate>) -> T) -> Option<T> {
    ENVIRONMENT.with_borrow(|environment| environment.gates.get(index as usize).and_then(Option::as_ref).map(read))
}
