//! The queue of outgoing messages. A separate thread writes them, so that nothing else blocks on a pipe that nobody reads. When there is
//! nothing to write, that thread sends heartbeats.

use crate::{BEAT, MOST_REQUEST_BYTES, Message};
use std::collections::VecDeque;
use std::io::Write;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// While more bytes than this are unwritten, a thread that sends a large message waits.
const FULL_BYTES: usize = 4 << 20;

/// With more unwritten bytes than this, the other side counts as not reading at all, and the queue is closed. The largest message may
/// wait behind others, and short ones behind it.
const MOST_BYTES: usize = MOST_REQUEST_BYTES + (64 << 20);

/// Messages that wait to be written. Clones share one queue.
#[derive(Clone)]
pub struct FrameOutbox(Arc<(Mutex<Queue>, Condvar)>);

#[derive(Default)]
struct Queue {
    frames: VecDeque<Vec<u8>>,
    bytes: usize,
    /// No more messages are accepted; those in the queue may still be written.
    is_closed: bool,
    /// The thread that writes has ended.
    is_done: bool,
}

/// The side that writes. When it is gone, even by a panic, nobody waits for room any more.
struct Writer(FrameOutbox);

impl Drop for Writer {
    fn drop(&mut self) {
        self.0.queue().is_done = true;
        self.0.discard();
    }
}

impl FrameOutbox {
    /// Starts the thread that writes. It closes the output and ends once the queue is closed and all of it is written.
    pub fn start(output: impl Write + Send + 'static) -> Self {
        let outbox = Self(Arc::default());
        let of_thread = outbox.clone();
        std::thread::spawn(move || {
            let writer = Writer(of_thread);
            writer.0.write_all(output);
        });
        outbox
    }

    /// Queues a message, and waits for room first. False: the queue is closed.
    pub fn send(&self, message: &Message) -> bool {
        self.send_frame(message.frame())
    }

    /// As [`FrameOutbox::send`], for a message that is a frame already.
    pub fn send_frame(&self, frame: Vec<u8>) -> bool {
        let mut queue = self.queue();
        while queue.bytes > FULL_BYTES && !queue.is_closed {
            queue = self.0.1.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        self.put(queue, frame)
    }

    /// Queues a short message at once. False: the queue is closed.
    pub fn send_now(&self, message: &Message) -> bool {
        self.put(self.queue(), message.frame())
    }

    /// Accepts no more messages; those in the queue are still written.
    pub fn close(&self) {
        self.queue().is_closed = true;
        self.0.1.notify_all();
    }

    /// As [`FrameOutbox::close`], then waits until all is written, but no longer than `patience`, because perhaps nobody reads it.
    pub fn finish(&self, patience: Duration) {
        self.close();
        let queue = self.queue();
        let _ = self.0.1.wait_timeout_while(queue, patience, |queue| !queue.is_done);
    }

    /// Accepts no more messages, and drops those in the queue.
    pub fn discard(&self) {
        let mut queue = self.queue();
        (queue.is_closed, queue.bytes) = (true, 0);
        queue.frames.clear();
        drop(queue);
        self.0.1.notify_all();
    }

    fn put(&self, mut queue: MutexGuard<'_, Queue>, frame: Vec<u8>) -> bool {
        if queue.bytes > MOST_BYTES {
            queue.is_closed = true;
        }
        if !queue.is_closed {
            queue.bytes += frame.len();
            queue.frames.push_back(frame);
        }
        self.0.1.notify_all();
        !queue.is_closed
    }

    fn write_all(&self, mut output: impl Write) {
        while let Some(frame) = self.next() {
            if output.write_all(&frame).and_then(|()| output.flush()).is_err() {
                self.discard();
                return;
            }
        }
    }

    /// The next frame; a heartbeat, if none is queued within [`BEAT`]; `None` once the queue is closed and empty.
    fn next(&self) -> Option<Vec<u8>> {
        let mut queue = self.queue();
        loop {
            if let Some(frame) = queue.frames.pop_front() {
                queue.bytes = queue.bytes.saturating_sub(frame.len());
                self.0.1.notify_all();
                return Some(frame);
            }
            if queue.is_closed {
                return None;
            }
            let (now, waited) = self.0.1.wait_timeout(queue, BEAT).unwrap_or_else(PoisonError::into_inner);
            queue = now;
            if waited.timed_out() && queue.frames.is_empty() && !queue.is_closed {
                return Some(Message::Beat.frame());
            }
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
