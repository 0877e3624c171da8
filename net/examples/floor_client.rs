//! The least work that a closed-loop HTTP client on one core can do, as a baseline for the load engine: one system call a
//! turn, multishot receives that last as long as the connection, no parsing beyond the first answer's `Content-Length`, and
//! no clock call for a request. It only counts bytes and checks no answer, so it is no tool for measuring servers.
//!
//! usage: `floor_client PORT PATH CONNECTIONS SECONDS [PIPELINE]`; prints JSON with `requests` and `rate_per_s`

mod common;
#[path = "common/connected.rs"]
mod connected;

use common::{Options, Result};
use connected::{answer_bytes, connect};
use io_uring::types::{BufRingEntry, Fixed, SubmitArgs, Timespec};
use io_uring::{CompletionQueue, IoUring, SubmissionQueue, Submitter, cqueue, opcode, squeue};
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
use std::os::fd::AsRawFd;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

/// The number of entries in the submission queue.
const ENTRIES: u32 = 4096;
/// The least number of entries in the completion queue, which has two or more for each connection.
const COMPLETIONS: u32 = 16 * 1024;

/// The receive buffers are many and small: an answer seldom needs two, and they never run out in a turn. There is at least one for
/// each connection.
const BUFFERS: usize = 4096;
const MOST_BUFFERS: usize = 32 * 1024;
const BUFFER_BYTES: usize = 4096;
const GROUP: u16 = 0;

/// Marks the completion of a send, which is silent unless it failed; the rest of the number is the connection's.
const SEND: u64 = 1 << 32;

/// The longest time to wait for completions, so that the client ends in time even if the server sends nothing.
const LONGEST_WAIT: Duration = Duration::from_millis(100);

fn main() -> ExitCode {
    common::main("floor_client", run)
}

fn run(options: &Options) -> Result<(usize, f64)> {
    let mut ring = IoUring::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .setup_cqsize(COMPLETIONS.max((2 * options.connections).next_power_of_two() as u32))
        .build(ENTRIES)
        .map_err(|e| {
            format!("can't set up io_uring with the features of Linux 6.1 ({e}): is the kernel older, or is io_uring forbidden here?")
        })?;
    let pool = Pool::new(&ring, options.connections)?;
    let sockets = connect(options)?;
    let numbers: Vec<i32> = sockets.iter().map(AsRawFd::as_raw_fd).collect();
    ring.submitter().register_files(&numbers)?;
    let request = format!("GET {} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", options.path);
    let (submitter, submission, completion) = ring.split();
    let mut client = Client {
        submitter,
        submission,
        pool,
        requests: request.repeat(options.pipeline),
        pipeline: options.pipeline,
        due: 0,
        pending: vec![0; options.connections],
        done: 0,
    };
    client.run(completion, options.time)
}

struct Client<'r> {
    submitter: Submitter<'r>,
    submission: SubmissionQueue<'r>,
    pool: Pool,
    /// The bytes that are sent at once on a connection: all requests of a pipeline.
    requests: String,
    pipeline: usize,
    /// The length of the answers to all of them; 0 until the first answer has come.
    due: usize,
    /// Bytes that have come on each connection since its last requests.
    pending: Vec<usize>,
    done: usize,
}

impl Client<'_> {
    fn run(&mut self, mut completion: CompletionQueue<'_>, time: Duration) -> Result<(usize, f64)> {
        let wait = Timespec::from(LONGEST_WAIT);
        let args = SubmitArgs::new().timespec(&wait);
        for connection in 0..self.pending.len() {
            self.receive(connection)?;
            self.ask(connection)?;
        }
        let start = Instant::now();
        let mut elapsed = Duration::ZERO;
        while elapsed < time {
            self.submission.sync();
            match self.submitter.submit_with_args(1, &args) {
                Err(e) if !matches!(e.raw_os_error(), Some(libc::ETIME | libc::EINTR | libc::EBUSY)) => {
                    return Err(e.into());
                }
                _ => {}
            }
            completion.sync();
            for entry in &mut completion {
                self.take(&entry)?;
            }
            self.pool.publish();
            elapsed = start.elapsed();
        }
        Ok((self.done, self.done as f64 / elapsed.as_secs_f64()))
    }

    #[inline]
    fn take(&mut self, entry: &cqueue::Entry) -> Result<()> {
        if entry.user_data() & SEND != 0 {
            return Err(format!("can't send (error {})", -entry.result()).into());
        }
        let connection = entry.user_data() as usize;
        match (entry.result(), cqueue::buffer_select(entry.flags())) {
            (1.., Some(id)) => {
                let bytes = entry.result() as usize;
                if self.due == 0 {
                    let one = answer_bytes(self.pool.bytes(id, bytes))?;
                    self.due = self.pipeline * one.ok_or("the first answer's head came in pieces")?;
                }
                self.pool.give_back(id);
                self.pending[connection] += bytes;
                if self.pending[connection] >= self.due {
                    self.pending[connection] -= self.due;
                    self.done += self.pipeline;
                    self.ask(connection)?;
                }
            }
            (0, _) => return Err("the server closed a connection".into()),
            // All buffers are filled and wait for this turn's end.
            (result, _) if -result == libc::ENOBUFS => {}
            (result, _) => return Err(format!("can't receive (error {})", -result).into()),
        }
        if cqueue::more(entry.flags()) { Ok(()) } else { self.receive(connection) }
    }

    fn receive(&mut self, connection: usize) -> Result<()> {
        let entry = opcode::RecvMulti::new(Fixed(connection as u32), GROUP).build();
        self.push(&entry.user_data(connection as u64))
    }

    #[inline]
    fn ask(&mut self, connection: usize) -> Result<()> {
        let (start, length) = (self.requests.as_ptr(), self.requests.len() as u32);
        let entry = opcode::Send::new(Fixed(connection as u32), start, length).flags(libc::MSG_NOSIGNAL);
        let entry = entry.build().flags(squeue::Flags::SKIP_SUCCESS);
        self.push(&entry.user_data(SEND | connection as u64))
    }

    #[inline]
    #[allow(unsafe_code)]
    fn push(&mut self, entry: &squeue::Entry) -> Result<()> {
        // SAFETY: what an entry points to is the requests, which live and stay unchanged as long as the client.
        while unsafe { self.submission.push(entry) }.is_err() {
            self.submission.sync();
            self.submitter.submit()?;
            self.submission.sync();
        }
        Ok(())
    }
}

/// Buffers that the kernel picks from, one pool for all connections, mapped until the process ends.
struct Pool {
    entries: *mut BufRingEntry,
    memory: *mut u8,
    buffers: u16,
    tail: u16,
}

impl Pool {
    #[allow(unsafe_code)]
    fn new(ring: &IoUring, connections: usize) -> Result<Self> {
        let buffers = connections.next_power_of_two().clamp(BUFFERS, MOST_BUFFERS);
        let entries = pages(buffers * size_of::<BufRingEntry>())?.cast();
        let memory = pages(buffers * BUFFER_BYTES)?;
        let buffers = buffers as u16;
        // SAFETY: the pages are of the size that `buffers` says and stay mapped until the process ends.
        unsafe { ring.submitter().register_buf_ring_with_flags(entries as u64, buffers, GROUP, 0)? };
        let mut pool = Self { entries, memory, buffers, tail: 0 };
        (0..buffers).for_each(|id| pool.give_back(id));
        pool.publish();
        Ok(pool)
    }

    /// The first bytes of a buffer that the kernel has filled.
    #[allow(unsafe_code)]
    fn bytes(&self, id: u16, bytes: usize) -> &[u8] {
        let at = usize::from(id % self.buffers) * BUFFER_BYTES;
        // SAFETY: within the mapping; the kernel writes nothing here until the buffer is given back, which
        // takes `&mut self`.
        unsafe { std::slice::from_raw_parts(self.memory.add(at), bytes.min(BUFFER_BYTES)) }
    }

    /// The kernel may fill this buffer again, once it is told.
    #[inline]
    #[allow(unsafe_code)]
    fn give_back(&mut self, id: u16) {
        let at = usize::from(self.tail % self.buffers);
        // SAFETY: within both mappings; an entry at or past the tail that was told is not the kernel's.
        unsafe {
            let entry = &mut *self.entries.add(at);
            entry.set_addr(self.memory.add(usize::from(id % self.buffers) * BUFFER_BYTES) as u64);
            entry.set_len(BUFFER_BYTES as u32);
            entry.set_bid(id);
        }
        self.tail = self.tail.wrapping_add(1);
    }

    /// Tells the kernel of all that was given back.
    #[inline]
    #[allow(unsafe_code)]
    fn publish(&self) {
        // SAFETY: the tail is part of the first entry, aligned, mapped, and written by nobody else.
        unsafe {
            let tail = BufRingEntry::tail(self.entries).cast_mut().cast::<AtomicU16>();
            (*tail).store(self.tail, Ordering::Release);
        }
    }
}

#[allow(unsafe_code)]
fn pages(bytes: usize) -> Result<*mut u8> {
    // SAFETY: a new mapping at an address of the kernel's choice overlaps nothing.
    let start = unsafe {
        mmap_anonymous(
            std::ptr::null_mut(),
            bytes,
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::PRIVATE | MapFlags::POPULATE,
        )?
    };
    Ok(start.cast())
}
