//! Writing to a server: frames queue up in a bounded buffer, and one task writes whatever is there in one go.

use parking_lot::Mutex;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Bytes that may wait for a server that does not read.
const CAPACITY: usize = 64 * 1024 * 1024;
/// Answers to a server that asks without reading the answers are dropped earlier than calls.
const COURTESY_CAPACITY: usize = 4 * 1024 * 1024;
/// A buffer that grew past this is given back.
const KEPT_CAPACITY: usize = 1024 * 1024;

/// Why a frame was not taken.
#[derive(Debug)]
pub(super) enum Refused {
    /// Nothing can be written any more.
    Closed,
    /// The server does not read.
    Full,
}

/// The queue of frames.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    waiting: Mutex<Vec<u8>>,
    filled: Notify,
    closed: CancellationToken,
    broken: CancellationToken,
}

impl Outbox {
    /// Queues one frame, which must not hold a line feed.
    pub(super) fn push(&self, frame: &str) -> Result<(), Refused> {
        self.push_within(frame, CAPACITY)
    }

    /// Queues an answer or a notification that may be lost.
    pub(super) fn push_courtesy(&self, frame: &str) -> Result<(), Refused> {
        self.push_within(frame, COURTESY_CAPACITY)
    }

    fn push_within(&self, frame: &str, capacity: usize) -> Result<(), Refused> {
        if self.closed.is_cancelled() || self.broken.is_cancelled() {
            return Err(Refused::Closed);
        }
        let mut waiting = self.waiting.lock();
        // One frame alone may be larger than the capacity.
        if !waiting.is_empty() && waiting.len() + frame.len() > capacity {
            return Err(Refused::Full);
        }
        waiting.extend_from_slice(frame.as_bytes());
        waiting.push(b'\n');
        drop(waiting);
        self.filled.notify_one();
        Ok(())
    }

    /// Closes the pipe; what was not written yet is lost.
    pub(super) fn close(&self) {
        self.closed.cancel();
    }

    /// Fires when the server does not take anything any more.
    pub(super) async fn broken(&self) {
        self.broken.cancelled().await;
    }

    /// Writes until the pipe is closed by either side, then lets go of it.
    pub(super) async fn drain(&self, mut pipe: impl AsyncWrite + Unpin) {
        let mut batch = Vec::new();
        let writing = async {
            loop {
                self.filled.notified().await;
                std::mem::swap(&mut batch, &mut *self.waiting.lock());
                if pipe.write_all(&batch).await.is_err() || pipe.flush().await.is_err() {
                    self.broken.cancel();
                    return;
                }
                batch.clear();
                batch.shrink_to(KEPT_CAPACITY);
            }
        };
        tokio::select! {
            () = self.closed.cancelled() => {}
            () = writing => {}
        }
    }
}
