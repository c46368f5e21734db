//! What belongs to one JavaScript environment: its gates by number, and its way to be reached from other threads.
//!
//! An environment lives on one thread, so its state is thread-local: the main thread and each worker have their own.

use crate::dispatch::Dispatcher;
use napi::Env;
use napi::bindgen_prelude::Result;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use toolbolt_core::gate::Gate;
use toolbolt_core::registry::Entry;

/// A gate and its tools, by the numbers that JavaScript knows them by. A tool's number is never used again: whoever still holds
/// one must not reach another tool with it.
struct Slot {
    gate: Arc<Gate>,
    tools: Vec<Option<Arc<Entry>>>,
}

/// What one environment has. The raw functions get its address, as looking it up would cost as much as the call.
#[derive(Default)]
pub(crate) struct Environment {
    slots: RefCell<Vec<Option<Slot>>>,
    free: RefCell<Vec<u32>>,
    dispatcher: RefCell<Option<Arc<Dispatcher>>>,
    /// Text that the raw functions read is copied here: a fresh buffer per call would be the dearest part of the crossing.
    pub(crate) buffer: RefCell<Vec<u8>>,
}

thread_local! {
    static ENVIRONMENT: Rc<Environment> = Rc::default();
}

impl Environment {
    pub(crate) fn with_gate<T>(&self, index: u64, read: impl FnOnce(&Arc<Gate>) -> T) -> Option<T> {
        let slots = self.slots.borrow();
        slots.get(usize::try_from(index).ok()?)?.as_ref().map(|slot| read(&slot.gate))
    }

    pub(crate) fn with_tool<T>(&self, index: u64, tool: u64, read: impl FnOnce(&Arc<Gate>, &Arc<Entry>) -> T) -> Option<T> {
        let slots = self.slots.borrow();
        let slot = slots.get(usize::try_from(index).ok()?)?.as_ref()?;
        slot.tools.get(usize::try_from(tool).ok()?)?.as_ref().map(|entry| read(&slot.gate, entry))
    }
}

/// The environment of this thread.
pub(crate) fn current() -> Rc<Environment> {
    ENVIRONMENT.with(Rc::clone)
}

static NEXT_OWNER: AtomicU64 = AtomicU64::new(1);

/// Sets this environment's dispatcher, once, and what happens when the environment ends.
pub(crate) fn open(env: &Env, make: impl FnOnce(u64) -> Result<Arc<Dispatcher>>) -> Result<()> {
    let owner = NEXT_OWNER.fetch_add(1, Ordering::Relaxed);
    let dispatcher = make(owner)?;
    *current().dispatcher.borrow_mut() = Some(Arc::clone(&dispatcher));
    // Runs on process exit and on the end of a worker, however it comes; nothing may be left to await by then.
    env.add_env_cleanup_hook(dispatcher, |dispatcher| {
        toolbolt_core::process::kill_all(dispatcher.owner());
        dispatcher.close();
        // The thread may be tearing its locals down already.
        let _ = ENVIRONMENT.try_with(|environment| {
            environment.dispatcher.take();
            environment.slots.take();
        });
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
    current().dispatcher.borrow().clone()
}

/// Gives a gate a number.
pub(crate) fn add_gate(gate: Arc<Gate>) -> u32 {
    let environment = current();
    let slot = Some(Slot { gate, tools: Vec::new() });
    let mut slots = environment.slots.borrow_mut();
    if let Some(index) = environment.free.borrow_mut().pop() {
        slots[index as usize] = slot;
        return index;
    }
    slots.push(slot);
    u32::try_from(slots.len() - 1).unwrap_or(u32::MAX)
}

pub(crate) fn remove_gate(index: u32) {
    // A finalizer may run after the environment's end. What is removed is dropped last, as its drop may come back here.
    let removed = ENVIRONMENT.try_with(|environment| {
        let removed = environment.slots.borrow_mut().get_mut(index as usize).and_then(Option::take);
        if removed.is_some() {
            environment.free.borrow_mut().push(index);
        }
        removed
    });
    drop(removed);
}

/// Gives a tool of a gate a number.
pub(crate) fn add_tool(gate: u32, entry: Arc<Entry>) -> Option<u32> {
    let environment = current();
    let mut slots = environment.slots.borrow_mut();
    let tools = &mut slots.get_mut(gate as usize)?.as_mut()?.tools;
    tools.push(Some(entry));
    u32::try_from(tools.len() - 1).ok()
}

pub(crate) fn remove_tool(gate: u32, tool: u32) {
    let environment = current();
    let mut slots = environment.slots.borrow_mut();
    let entry =
        slots.get_mut(gate as usize).and_then(Option::as_mut).and_then(|slot| slot.tools.get_mut(tool as usize)).and_then(Option::take);
    drop(slots);
    drop(entry);
}
