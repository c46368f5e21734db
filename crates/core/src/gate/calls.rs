//! The calls under way, by ticket.

use crate::error::{ErrorCode, ToolError};
use crate::registry::Entry;
use crate::tool::Arguments;
use std::sync::Arc;

const EPOCH_BITS: u32 = 20;
/// Calls that may be under way at once in one gate.
const MAX_CALLS: usize = 1 << 20;

/// Stands for one call. Fits 40 bits, so a double holds it exactly with room for flags; while few calls are under way it is a
/// small integer, which hosts pass at less cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket(u64);

impl Ticket {
    fn new(index: usize, epoch: u32) -> Self {
        Self((index as u64) << EPOCH_BITS | u64::from(epoch))
    }

    /// The ticket as a number for the host.
    pub fn to_bits(self) -> u64 {
        self.0
    }

    /// The ticket that the host gave back; any number is safe, only real ones work.
    pub fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    fn index(self) -> usize {
        (self.0 >> EPOCH_BITS) as usize
    }

    fn epoch(self) -> u64 {
        self.0 & ((1 << EPOCH_BITS) - 1)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Waits for the answer of a person, or of the tool whether to ask one.
    Asking,
    /// The body may run.
    Running,
}

#[derive(Debug)]
pub(super) struct Call {
    /// The tool as it was when the call began: what is registered under the name later does not matter.
    pub(super) entry: Arc<Entry>,
    pub(super) stage: Stage,
    pub(super) arguments: Option<Box<Arguments>>,
    id: Option<Box<str>>,
}

impl Call {
    pub(super) fn new(entry: Arc<Entry>, id: Option<&str>) -> Self {
        Self { entry, stage: Stage::Asking, arguments: None, id: id.map(Box::from) }
    }

    pub(super) fn id(&self) -> &str {
        self.id.as_deref().unwrap_or_default()
    }
}

#[derive(Debug, Default)]
struct Slot {
    epoch: u32,
    call: Option<Call>,
}

/// A slab whose slots count how often they were used, so that a ticket works for one call only.
#[derive(Debug, Default)]
pub(super) struct Calls {
    slots: Vec<Slot>,
    free: Vec<usize>,
}

impl Calls {
    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    pub(super) fn insert(&mut self, call: Call) -> Result<Ticket, ToolError> {
        let index = match self.free.pop() {
            Some(index) => index,
            None if self.slots.len() < MAX_CALLS => {
                self.slots.push(Slot::default());
                self.slots.len() - 1
            }
            None => {
                return Err(ToolError::new(
                    ErrorCode::InvalidOptions,
                    format!("more than {MAX_CALLS} calls are under way; await some first"),
                ));
            }
        };
        let slot = &mut self.slots[index];
        slot.call = Some(call);
        Ok(Ticket::new(index, slot.epoch))
    }

    pub(super) fn get(&mut self, ticket: Ticket) -> Result<&mut Call, ToolError> {
        self.slot(ticket)?.call.as_mut().ok_or_else(bad_ticket)
    }

    /// Ends a call: its ticket no longer works.
    pub(super) fn take(&mut self, ticket: Ticket) -> Result<Call, ToolError> {
        let slot = self.slot(ticket)?;
        let call = slot.call.take().ok_or_else(bad_ticket)?;
        slot.epoch = (slot.epoch + 1) & ((1 << EPOCH_BITS) - 1);
        self.free.push(ticket.index());
        Ok(call)
    }

    fn slot(&mut self, ticket: Ticket) -> Result<&mut Slot, ToolError> {
        self.slots.get_mut(ticket.index()).filter(|slot| u64::from(slot.epoch) == ticket.epoch()).ok_or_else(bad_ticket)
    }
}

pub(super) fn bad_ticket() -> ToolError {
    ToolError::new(ErrorCode::InvalidOptions, "this ticket does not stand for a call at this step")
}
