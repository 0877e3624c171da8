//! The two queues that are shared with the kernel. Requests leave whole or are made again, so that memory that an entry points to is
//! free once [`Ring::hand_over`] or [`Ring::sleep`] has returned. Completions are taken in one go, failed sends first: other
//! completions of a connection may lead to its next send, which must not overtake them.

use super::entries::{self, Op, Token};
use io_uring::types::{CancelBuilder, SubmitArgs, Timespec};
use io_uring::{IoUring, Submitter, cqueue, squeue};
use std::io::{Error, Result};
use std::os::fd::{FromRawFd, OwnedFd};
use std::time::{Duration, Instant};

/// How long a ring that is dropped waits for what it cancels.
const LONGEST_CANCEL: Duration = Duration::from_secs(1);

/// How long the kernel may take no entries, because it lacks memory for a moment.
const LONGEST_REFUSAL: Duration = Duration::from_secs(1);

/// The largest number of times that a ring that is dropped lets the kernel work, whatever it still has to do.
const MOST_LAST_CALLS: usize = 100_000;

/// The ring, and the completions that were taken from it.
pub struct Ring {
    uring: IoUring,
    completed: Vec<cqueue::Entry>,
    /// The index of the next of `completed`.
    at: usize,
    /// Sends that were not taken whole.
    failed_sends: Vec<cqueue::Entry>,
    /// Why an entry was lost.
    lost: Option<Error>,
}

impl Ring {
    /// A ring with this number of entries and completions. An error where the kernel has no such rings, or forbids them.
    pub fn new(entries: u32, completions: u32) -> Result<Self> {
        let uring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_taskrun_flag()
            .setup_submit_all()
            .setup_cqsize(completions)
            .build(entries)?;
        Ok(Self { uring, completed: Vec::with_capacity(64), at: 0, failed_sends: Vec::new(), lost: None })
    }

    /// The handle to register things with the ring.
    pub fn submitter(&self) -> Submitter<'_> {
        self.uring.submitter()
    }

    /// Writes an entry; hands over what waits when there is no room. What it points to must stay until it is handed over.
    #[inline]
    pub fn push(&mut self, entry: &squeue::Entry) {
        if !self.write(entry) {
            self.write_later(entry);
        }
    }

    /// Writes an entry, if there is room.
    #[allow(unsafe_code)]
    #[inline]
    fn write(&mut self, entry: &squeue::Entry) -> bool {
        // SAFETY: callers pass entries whose memory is the pool's, the outbox's or a peer's, none of which
        // moves or goes before the kernel has read it.
        unsafe { self.uring.submission().push(entry) }.is_ok()
    }

    /// Writes an entry when there is room. Where the kernel takes nothing, the entry is lost, and the pass ends with the error.
    #[cold]
    fn write_later(&mut self, entry: &squeue::Entry) {
        if self.lost.is_none() {
            self.lost = self.hand_over_rest().err();
            self.write(entry);
        }
    }

    /// Whether a completion was not taken yet.
    pub fn has_news(&mut self) -> bool {
        self.at < self.completed.len() || !self.failed_sends.is_empty() || !self.uring.completion().is_empty()
    }

    /// Hands over requests; lets the kernel do waiting work, if there is some. Does not sleep.
    #[inline]
    pub fn hand_over(&mut self) -> Result<()> {
        let has_work = self.has_work();
        let is_empty = self.uring.submission().is_empty();
        if has_work {
            self.enter(entries::GET_EVENTS)?;
        }
        if is_empty || has_work { self.finish() } else { self.enter(0).and_then(|()| self.finish()) }
    }

    /// Whether the kernel has put work off until it is called.
    #[inline]
    fn has_work(&mut self) -> bool {
        let submission = self.uring.submission();
        submission.taskrun() || submission.cq_overflow()
    }

    /// Hands over requests, and no more.
    #[inline]
    pub fn push_out(&mut self) -> Result<()> {
        if self.uring.submission().is_empty() { Ok(()) } else { self.enter(0).and_then(|()| self.finish()) }
    }

    /// Hands over requests and sleeps until something has completed, at most for `longest`.
    pub fn sleep(&mut self, longest: Option<Duration>) -> Result<()> {
        let entered = match longest {
            None => self.uring.submit_and_wait(1),
            Some(longest) => {
                let time = Timespec::from(longest);
                self.uring.submitter().submit_with_args(1, &SubmitArgs::new().timespec(&time))
            }
        };
        entries::unless_harmless(entered)?;
        self.finish()
    }

    /// Returns the next completion.
    #[inline]
    pub fn next(&mut self) -> Option<cqueue::Entry> {
        if self.at == self.completed.len() {
            self.drain();
        }
        if let Some(failed) = self.failed_sends.pop() {
            return Some(failed);
        }
        let entry = self.completed.get(self.at)?.clone();
        self.at += 1;
        Some(entry)
    }

    /// Returns a send that was not taken whole.
    #[inline]
    pub fn failed_send(&mut self) -> Option<cqueue::Entry> {
        self.failed_sends.pop()
    }

    /// Takes all completions.
    pub fn drain(&mut self) {
        if self.at == self.completed.len() {
            self.completed.clear();
            self.at = 0;
        }
        for entry in self.uring.completion() {
            let is_send = Token::from(entry.user_data()).op == Op::Send;
            if is_send { &mut self.failed_sends } else { &mut self.completed }.push(entry);
        }
    }

    /// Hands over the rest, if the kernel has taken only a part.
    #[inline]
    fn finish(&mut self) -> Result<()> {
        if !self.uring.submission().is_empty() {
            self.hand_over_rest()?;
        }
        self.lost.take().map_or(Ok(()), Err)
    }

    /// Hands over until nothing waits. An error where the kernel refuses what waits, or takes nothing for long.
    #[cold]
    fn hand_over_rest(&mut self) -> Result<()> {
        let (mut left, mut since) = (usize::MAX, Instant::now());
        loop {
            self.drain(); // Where there is no room for completions, it takes no more entries.
            self.enter(0)?;
            match self.uring.submission().len() {
                0 => return Ok(()),
                fewer if fewer < left => (left, since) = (fewer, Instant::now()),
                _ if since.elapsed() < LONGEST_REFUSAL => std::thread::yield_now(),
                _ => return Err(Error::other("the kernel takes no more requests from the ring")),
            }
        }
    }

    /// Drops all completions, and with them the connections that were accepted and that nobody has taken.
    #[allow(unsafe_code)]
    fn close_accepted(&mut self) {
        self.drain();
        for entry in self.completed.drain(..).skip(std::mem::take(&mut self.at)) {
            if Token::from(entry.user_data()).op == Op::Accept && entry.result() >= 0 {
                // SAFETY: the kernel has given us this descriptor, and nobody else has it, because the completion was not taken.
                drop(unsafe { OwnedFd::from_raw_fd(entry.result()) });
            }
        }
    }

    #[allow(unsafe_code)]
    fn enter(&mut self, flags: u32) -> Result<()> {
        let waiting = self.uring.submission().len() as u32;
        // SAFETY: no argument is passed; the entries' memory stays, see `push`.
        let entered = unsafe { self.uring.submitter().enter::<libc::sigset_t>(waiting, 0, flags, None) };
        entries::unless_harmless(entered)
    }
}

impl Drop for Ring {
    /// Waits for the kernel, which takes a ring down in its own time: what still waits in it would hold ports until then.
    fn drop(&mut self) {
        let longest = Timespec::from(LONGEST_CANCEL);
        let _ = self.uring.submit();
        // Operations that were cancelled one by one must have left the ring's table first: the cancellation below walks over the table for
        // each that is left. The kernel removes a few dozen in each call.
        for _ in 0..MOST_LAST_CALLS {
            if !self.has_work() || self.enter(entries::GET_EVENTS).is_err() {
                break;
            }
            self.close_accepted();
        }
        let _ = self.uring.submitter().register_sync_cancel(Some(longest), CancelBuilder::any());
        let _ = self.enter(entries::GET_EVENTS); // What was cancelled lets go of its socket only now.
        self.close_accepted();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use io_uring::opcode;
    use std::sync::mpsc::channel;

    #[test]
    fn entries_that_the_kernel_never_takes_end_in_an_error() {
        let Ok(mut ring) = Ring::new(1, 8) else { return };
        let (tell, told) = channel();
        // The kernel takes entries only from the thread that made the ring.
        std::thread::spawn(move || {
            (0..3).for_each(|_| ring.push(&opcode::Nop::new().build()));
            tell.send((ring.push_out().is_err(), ring.lost.is_some()))
        });
        let told = told.recv_timeout(Duration::from_mins(1)).expect("no entry is waited for without end");
        assert_eq!(told, (true, true));
    }
}
