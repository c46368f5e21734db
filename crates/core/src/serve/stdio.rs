//! Standard streams: the one client is whoever started the program.

use super::Server;
use super::handler::Handler;
use crate::error::{ErrorCode, ToolError};
use rmcp::service::serve_server_with_ct;
use rmcp::transport::async_rw::AsyncRwTransport;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

/// Bytes between a thread that waits for a stream and whoever reads or writes here.
const BUFFER: usize = 64 * 1024;
/// How often a thread that waits for input looks whether the server has closed.
const LOOK: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

/// What the program had as its output, which belongs to the protocol now. Dropped, the program has it again.
struct Output {
    kept: OwnedFd,
}

impl Output {
    /// Takes it. What the program writes from now on goes to its standard error: one line of it would end the conversation.
    fn take() -> Result<Self, Errno> {
        let kept = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3)?;
        rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
        Ok(Self { kept })
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        // Where it fails there is nothing left to write to.
        let _ = rustix::stdio::dup2_stdout(&self.kept);
    }
}

impl Server {
    /// Serves the program's own input and output until the input ends or the server closes.
    ///
    /// # Errors
    /// `CONNECTION_FAILED` where the streams cannot be had.
    pub async fn run_stdio(self: Arc<Self>) -> Result<(), ToolError> {
        let failed = |error: Errno| ToolError::new(ErrorCode::ConnectionFailed, format!("the standard streams cannot be had: {error}"));
        let input = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3).map_err(failed)?;
        let output = Output::take().map_err(failed)?;
        let (reader, fill) = duplex(BUFFER);
        let (drain, writer) = duplex(BUFFER);
        let (runtime, closing) = (Handle::current(), self.closing.clone());
        let threads = [
            on_thread("toolbolt-stdin", {
                let runtime = runtime.clone();
                move || read(&input, fill, &runtime, &closing)
            }),
            on_thread("toolbolt-stdout", move || write(&output, drain, &runtime)),
        ];
        if let Some(error) = threads.into_iter().find_map(Result::err) {
            return Err(ToolError::new(ErrorCode::ConnectionFailed, format!("no thread for the standard streams: {error}")));
        }
        let transport = AsyncRwTransport::new_server(reader, writer).with_max_line_length(self.settings.max_message_bytes);
        let closing = self.closing.clone();
        // A client that goes before it has said anything is gone all the same.
        if let Ok(running) = serve_server_with_ct(Handler { server: Arc::clone(&self) }, transport, closing.clone()).await {
            let _ = running.waiting().await;
        }
        closing.cancel();
        Ok(())
    }
}

fn on_thread(name: &str, work: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    std::thread::Builder::new().name(name.to_owned()).spawn(work).map(drop)
}

fn read(input: &OwnedFd, mut to: DuplexStream, runtime: &Handle, closing: &CancellationToken) {
    let mut buffer = vec![0; BUFFER];
    while !closing.is_cancelled() {
        match poll(&mut [PollFd::new(input, PollFlags::IN)], Some(&LOOK)) {
            Ok(0) | Err(Errno::INTR) => continue,
            Ok(_) => {}
            Err(_) => return,
        }
        match rustix::io::read(input, buffer.as_mut_slice()) {
            Ok(0) => return,
            Ok(count) => {
                if runtime.block_on(to.write_all(buffer.get(..count).unwrap_or_default())).is_err() {
                    return;
                }
            }
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(_) => return,
        }
    }
}

fn write(output: &Output, mut from: DuplexStream, runtime: &Handle) {
    let mut buffer = vec![0; BUFFER];
    while let Ok(count @ 1..) = runtime.block_on(from.read(&mut buffer)) {
        let mut rest = buffer.get(..count).unwrap_or_default();
        while !rest.is_empty() {
            match rustix::io::write(output.kept.as_fd(), rest) {
                Ok(written) => rest = rest.get(written..).unwrap_or_default(),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => drop(poll(&mut [PollFd::new(&output.kept, PollFlags::OUT)], Some(&LOOK))),
                Err(_) => return,
            }
        }
    }
}
