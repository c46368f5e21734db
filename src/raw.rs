//! The two functions on the hot path, registered without the macro, whose glue costs five times the call itself.
//!
//! `begin(gate, tool, text | undefined, callId | undefined)` gives a number, the ticket times 8 plus flags, or a string, the
//! finished call as JSON; it throws what `begin` of the core does. `finish(gate, ticket, text, status = 0, dataBytes = 0)` gives `undefined`, or
//! what changed as JSON. Both give `null` for a call that only a bug of ours can make.

#![expect(unreachable_pub, reason = "the macro exports what the module system does not see")]

use crate::environment::{self, Environment};
use napi::bindgen_prelude::Result;
use napi::{Env, JsValue, bindgen_prelude::Object, sys};
use napi_derive::napi;
use std::panic::AssertUnwindSafe;
use std::ptr;
use std::rc::Rc;
use toolbolt_core::gate::{Begun, Gate, Ticket, ToolRef, Verdict};
use toolbolt_core::response::Status;
use toolbolt_core::tool::PerCall;

/// Flags beside a ticket: the low two bits say whether to ask, the third that defaults changed the arguments.
const ASK_ALWAYS: u64 = 1;
const ASK_TOOL: u64 = 2;
const CHANGED: u64 = 4;

type Callback = unsafe extern "C" fn(sys::napi_env, sys::napi_callback_info) -> sys::napi_value;

#[napi(module_exports)]
pub fn register(exports: Object<'_>, env: Env) -> Result<()> {
    let data = Rc::as_ptr(&environment::current());
    for (name, callback) in [("begin", begin as Callback), ("finish", finish as Callback)] {
        let mut function = ptr::null_mut();
        // SAFETY: `env` is live, `name` outlives the call and its length is given, `function` is a valid place for the result.
        let created = unsafe {
            sys::napi_create_function(
                env.raw(),
                name.as_ptr().cast(),
                name.len() as isize,
                Some(callback),
                data.cast_mut().cast(),
                &raw mut function,
            )
        };
        napi::check_status!(created)?;
        let key = std::ffi::CString::new(name)?;
        // SAFETY: both values belong to the live `env`; `key` is NUL-terminated and outlives the call.
        napi::check_status!(unsafe { sys::napi_set_named_property(env.raw(), exports.raw(), key.as_ptr(), function) })?;
    }
    Ok(())
}

/// One raw call: its environment and its first `N` arguments.
struct Call<const N: usize> {
    env: sys::napi_env,
    arguments: [sys::napi_value; N],
    /// How many were given.
    count: usize,
    environment: &'static Environment,
}

impl<const N: usize> Call<N> {
    /// # Safety
    /// `env` and `info` must come from Node-API's call of the callback that runs.
    unsafe fn read(env: sys::napi_env, info: sys::napi_callback_info) -> Option<Self> {
        let mut count = N;
        let mut arguments = [ptr::null_mut(); N];
        let mut data = ptr::null_mut();
        // SAFETY: by the contract above; `arguments` has room for `count` values, absent ones become `undefined`.
        let status = unsafe { sys::napi_get_cb_info(env, info, &raw mut count, arguments.as_mut_ptr(), ptr::null_mut(), &raw mut data) };
        // SAFETY: the functions were made with the address of this thread's environment, which the thread holds until it ends; no
        // JavaScript runs on it after that.
        let environment = unsafe { data.cast::<Environment>().as_ref() };
        (status == sys::Status::napi_ok).then(|| environment.map(|environment| Self { env, arguments, count, environment })).flatten()
    }

    /// A whole number that a double holds; `None` for anything else.
    fn number(&self, index: usize) -> Option<u64> {
        let mut value = 0.0f64;
        // SAFETY: the argument belongs to the live `env`; a value that is no number gives a status and leaves `value` alone.
        let status = unsafe { sys::napi_get_value_double(self.env, self.arguments[index], &raw mut value) };
        // The cast saturates, so that only a whole number from 0 on comes back as it was.
        let number = value as i64;
        (status == sys::Status::napi_ok && number >= 0 && number as f64 == value).then_some(number.unsigned_abs())
    }

    /// UTF-16 units of a string; `None` when it is none.
    fn string_length(&self, index: usize) -> Option<usize> {
        let mut length = 0;
        // SAFETY: as above; without a buffer only the length is written.
        let status = unsafe { sys::napi_get_value_string_utf16(self.env, self.arguments[index], ptr::null_mut(), 0, &raw mut length) };
        (status == sys::Status::napi_ok).then_some(length)
    }

    /// A string as UTF-8 in a reused buffer; `None` when it is none.
    fn string<'a>(&self, index: usize, buffer: &'a mut Vec<u8>) -> Option<&'a str> {
        if index >= self.count {
            return None;
        }
        // No UTF-16 unit takes more than three bytes of UTF-8; one more for the NUL that Node-API writes.
        let capacity = self.string_length(index)?.checked_mul(3)?.checked_add(1)?;
        buffer.clear();
        buffer.reserve(capacity);
        let mut written = 0;
        // SAFETY: the buffer has room for `capacity` bytes, of which at most that many are written, the NUL included.
        let status = unsafe {
            sys::napi_get_value_string_utf8(
                self.env,
                self.arguments[index],
                buffer.as_mut_ptr().cast(),
                buffer.capacity(),
                &raw mut written,
            )
        };
        if status != sys::Status::napi_ok || written >= buffer.capacity() {
            return None;
        }
        // SAFETY: Node-API has just written `written` bytes, less than the capacity.
        unsafe { buffer.set_len(written) };
        std::str::from_utf8(buffer).ok()
    }

    /// The first UTF-16 units of a string, with half a surrogate pair replaced.
    fn prefix(&self, index: usize, units: usize) -> Option<String> {
        let mut buffer = vec![0u16; units + 1];
        let mut written = 0;
        // SAFETY: the buffer holds `units + 1` units, the NUL included.
        let status = unsafe {
            sys::napi_get_value_string_utf16(self.env, self.arguments[index], buffer.as_mut_ptr(), buffer.len(), &raw mut written)
        };
        (status == sys::Status::napi_ok).then(|| String::from_utf16_lossy(&buffer[..written.min(units)]))
    }

    fn give_number(&self, value: u64) -> sys::napi_value {
        let mut result = ptr::null_mut();
        // SAFETY: the environment is live; on failure the result stays null, which JavaScript sees as `undefined`.
        unsafe {
            // While few calls are under way the number is small, and costs no allocation.
            match i32::try_from(value) {
                Ok(small) => sys::napi_create_int32(self.env, small, &raw mut result),
                Err(_) => sys::napi_create_double(self.env, value as f64, &raw mut result),
            }
        };
        result
    }

    fn give_string(&self, text: &str) -> sys::napi_value {
        let mut result = ptr::null_mut();
        // SAFETY: `text` is UTF-8 of the given length and outlives the call.
        unsafe { sys::napi_create_string_utf8(self.env, text.as_ptr().cast(), text.len() as isize, &raw mut result) };
        result
    }

    fn give_null(&self) -> sys::napi_value {
        let mut result = ptr::null_mut();
        // SAFETY: the environment is live.
        unsafe { sys::napi_get_null(self.env, &raw mut result) };
        result
    }
}

/// A buffer that a huge argument left behind is not kept.
const MAX_KEPT_BUFFER: usize = 1 << 20;

unsafe extern "C" fn begin(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    // SAFETY: called by Node-API with the values of this call.
    let Some(call) = (unsafe { Call::<4>::read(env, info) }) else { return ptr::null_mut() };
    let result = std::panic::catch_unwind(AssertUnwindSafe(|| {
        let (gate, tool) = (call.number(0)?, call.number(1)?);
        if call.count <= 2 {
            return call.environment.with_tool(gate, tool, |gate, entry| gate.begin(ToolRef::Entry(entry), None, None));
        }
        let mut id_buffer = Vec::new();
        let call_id = call.string(3, &mut id_buffer);
        let mut buffer = call.environment.buffer.borrow_mut();
        let text = call.string(2, &mut buffer);
        let begun = call.environment.with_tool(gate, tool, |gate, entry| gate.begin(ToolRef::Entry(entry), text, call_id));
        if buffer.capacity() > MAX_KEPT_BUFFER {
            *buffer = Vec::new();
        }
        begun
    }));
    match result {
        Ok(Some(Ok(Begun::Open(opened)))) => {
            let ask = match opened.ask {
                PerCall::Never => 0,
                PerCall::Always => ASK_ALWAYS,
                PerCall::Ask => ASK_TOOL,
            };
            let changed = if opened.arguments_changed { CHANGED } else { 0 };
            call.give_number(opened.ticket.to_bits() * 8 + ask + changed)
        }
        Ok(Some(Ok(Begun::Refused(finished)))) => match crate::values::finished_json(&finished) {
            Ok(json) => call.give_string(&json),
            Err(_) => call.give_null(),
        },
        Ok(Some(Err(error))) => {
            // SAFETY: the environment of this call is live.
            unsafe { crate::error::raise(call.env, &error) };
            ptr::null_mut()
        }
        Ok(None) | Err(_) => call.give_null(),
    }
}

unsafe extern "C" fn finish(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    // SAFETY: called by Node-API with the values of this call.
    let Some(call) = (unsafe { Call::<5>::read(env, info) }) else { return ptr::null_mut() };
    let result = std::panic::catch_unwind(AssertUnwindSafe(|| {
        let gate = call.number(0)?;
        let ticket = Ticket::from_bits(call.number(1)?);
        let (status, data_bytes) = if call.count > 3 { (call.number(3)?, call.number(4)?) } else { (0, 0) };
        let (status, data_bytes) = (status_of(status)?, usize::try_from(data_bytes).ok()?);
        call.environment.with_gate(gate, |gate| finish_in(gate, &call, ticket, status, data_bytes)).flatten()
    }));
    match result {
        // A null pointer is `undefined` in JavaScript.
        Ok(Some(Verdict::Unchanged)) => ptr::null_mut(),
        Ok(Some(Verdict::Cut { text, drop_data, status })) => {
            call.give_string(&serde_json::json!({ "text": text, "dropData": drop_data, "status": status }).to_string())
        }
        Ok(None) | Err(_) => call.give_null(),
    }
}

fn finish_in(gate: &Gate, call: &Call<5>, ticket: Ticket, status: Status, data_bytes: usize) -> Option<Verdict> {
    let length = call.string_length(2)?;
    // A text of at most `limit` units has at most as many characters: it need not be read. One character takes at most two
    // units, so twice the limit and a bit shows whether there are too many.
    let read = |limit: usize| {
        if length <= limit { String::new() } else { call.prefix(2, limit.saturating_mul(2).saturating_add(2)).unwrap_or_default() }
    };
    gate.finish(ticket, status, read, data_bytes).ok()
}

fn status_of(number: u64) -> Option<Status> {
    match number {
        0 => Some(Status::Success),
        1 => Some(Status::Partial),
        2 => Some(Status::Error),
        _ => None,
    }
}
