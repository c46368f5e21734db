//! What waits to be told to JavaScript: everything that came since it last listened goes there at once, in the order it was sent.

use parking_lot::Mutex;
use std::collections::VecDeque;

/// Bytes after which a batch takes no further message, as one text holds them all.
const BATCH_BYTES: usize = 1024 * 1024;
/// Numbers that describe a message.
pub(crate) const HEAD: usize = 3;

/// Messages that go to JavaScript together.
#[derive(Default)]
pub(crate) struct Batch {
    /// What it is about, its token and the UTF-16 units of its text, for each message.
    pub(crate) heads: Vec<u32>,
    /// The texts, one after the other.
    pub(crate) texts: String,
}

impl Batch {
    fn has_room_for(&self, text: &str) -> bool {
        self.texts.len() + text.len() <= BATCH_BYTES
    }
}

/// The queue of one environment.
#[derive(Default)]
pub(crate) struct Delivery {
    waiting: Mutex<VecDeque<Batch>>,
}

impl Delivery {
    /// Adds a message. True if JavaScript has to be woken for it: once for each batch.
    pub(crate) fn push(&self, message: u32, token: u32, text: String) -> bool {
        // Texts that JavaScript cannot hold do not come here: results are bounded far below four billion.
        let length = u32::try_from(utf16_length(&text)).unwrap_or(u32::MAX);
        let head = [message, token, length];
        let mut waiting = self.waiting.lock();
        if let Some(last) = waiting.back_mut().filter(|last| last.has_room_for(&text)) {
            last.heads.extend(head);
            last.texts.push_str(&text);
            return false;
        }
        waiting.push_back(Batch { heads: head.to_vec(), texts: text });
        true
    }

    /// The batch of one wake-up.
    pub(crate) fn take(&self) -> Batch {
        self.waiting.lock().pop_front().unwrap_or_default()
    }
}

fn utf16_length(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().map(char::len_utf16).sum() }
}
