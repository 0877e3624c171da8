//! The kernel's events for sampling, and the buffers into which it writes.
//!
//! An event belongs to one thread. `inherit` passes it on to all threads and processes that this thread starts, but then it must also
//! belong to one CPU, or the kernel gives no buffer. So there is one event for each thread that exists at the beginning and each CPU on
//! which it may run. All events of a CPU write into one buffer, since a buffer each would take too much memory. The buffer is that of an
//! event which never occurs and belongs to drome itself, so that it outlives the server's threads.

use crate::error::ProfileError;
use crate::permission::{self, Refusal};
use crate::processes::{self, Thread};
use crate::trace::unwinder::{MOST_STACK_BYTES, REGISTERS};
use perf_event::events::Software;
use perf_event::{Builder, Clock, Counter, SampleFlag, Sampler};
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// The sizes of a buffer, in bytes: the largest is tried first. A thousand samples per second with a stack of 16 KiB fill 17 MB/s, with the
/// largest stack 65 MB/s.
const BUFFERS: [usize; 4] = [1 << 20, 512 << 10, 256 << 10, 128 << 10];

/// How much of each stack the kernel copies at first, in bytes, a multiple of 8. Code without frame pointers is unwound from this copy.
/// 16 KiB reach the outermost function in most servers: a call takes some hundred bytes, and a path that answers a request is some dozens
/// of calls deep. More costs the server more time per sample and the machine more memory traffic, so the copies are doubled only where
/// more than a twentieth of the stacks turn out to go on beyond them.
const STACK_BYTES: u32 = 16 << 10;

/// Copies of stacks are doubled only while a buffer then holds at least this many samples: those of 16 ms of a busy CPU, several times the
/// interval at which buffers are emptied.
const LEAST_SAMPLES: usize = 16;

/// The largest number of records that are taken from a buffer at once: a busy buffer must not keep the others waiting.
const AT_ONCE: usize = 4_096;

/// The number of descriptors that are left for everything else in drome.
const OTHER_DESCRIPTORS: u64 = 4_096;

/// All events and buffers.
pub struct Events {
    /// Samples per second of CPU time.
    frequency_hz: u64,
    /// The size of the copy of each stack, in bytes, a multiple of 8.
    stack_bytes: u32,
    has_kernel: bool,
    buffers: BTreeMap<usize, Sampler>,
    /// The size of the smallest buffer, in bytes.
    buffer_bytes: usize,
    opened: Vec<Counter>,
    /// Threads with an event: opened here, or inherited.
    known: BTreeSet<i32>,
    unattached: u64,
}

impl Events {
    /// Opens events for all threads of these processes that exist now.
    pub fn open(pids: &[i32], frequency_hz: u64) -> Result<Self, ProfileError> {
        let threads = processes::threads(pids);
        if threads.is_empty() {
            return Err(ProfileError::NoProcess);
        }
        let needed: usize = threads.iter().map(|thread| net::cpu::allowed_to(thread.tid).len()).sum();
        net::limits::raise_descriptors((needed as u64).saturating_add(OTHER_DESCRIPTORS));
        let mut events = Self {
            frequency_hz,
            stack_bytes: STACK_BYTES,
            has_kernel: true,
            buffers: BTreeMap::new(),
            buffer_bytes: BUFFERS[0],
            opened: Vec::new(),
            known: BTreeSet::new(),
            unattached: 0,
        };
        events.attach(&threads)?;
        if events.opened.is_empty() {
            // Every thread has ended meanwhile, or nothing could be opened for any.
            return Err(if events.unattached > 0 {
                ProfileError::NoMemory(io::Error::other(
                    "too many descriptors or too little memory for events",
                ))
            } else {
                ProfileError::NoProcess
            });
        }
        Ok(events)
    }

    /// Whether the kernel's own time is sampled.
    pub fn has_kernel(&self) -> bool {
        self.has_kernel
    }

    /// The number of threads that could not be sampled.
    pub fn unattached(&self) -> u64 {
        self.unattached
    }

    /// Whether a thread is sampled.
    pub fn knows(&self, tid: i32) -> bool {
        self.known.contains(&tid)
    }

    /// Notes that a thread was started by another one, and has inherited its events.
    pub fn started(&mut self, tid: i32, parent_tid: i32) {
        if self.known.contains(&parent_tid) {
            self.known.insert(tid);
        }
    }

    /// Notes that a thread has ended; its ID may be used again.
    pub fn ended(&mut self, tid: i32) {
        self.known.remove(&tid);
    }

    /// Opens events for those of the threads that have none.
    pub fn attach(&mut self, threads: &[Thread]) -> Result<(), ProfileError> {
        for thread in threads {
            if !self.known.contains(&thread.tid) {
                self.attach_thread(*thread)?;
            }
        }
        Ok(())
    }

    /// The same during a measurement: threads whose events are refused are counted as not sampled.
    pub fn attach_late(&mut self, threads: &[Thread]) {
        for thread in threads {
            if !self.known.contains(&thread.tid) && self.attach_thread(*thread).is_err() {
                self.unattached += 1;
            }
        }
    }

    /// Opens all events anew, with copies of stacks of twice the size. `threads`: all threads that exist. False: a record or a buffer has
    /// no room for such copies.
    pub fn enlarge(&mut self, threads: &[Thread]) -> bool {
        let bytes = self.stack_bytes.saturating_mul(2).min(MOST_STACK_BYTES);
        if bytes <= self.stack_bytes || bytes as usize > self.buffer_bytes / LEAST_SAMPLES {
            return false;
        }
        self.stack_bytes = bytes;
        self.opened.clear();
        self.known.clear();
        self.unattached = 0;
        self.attach_late(threads);
        true
    }

    fn attach_thread(&mut self, thread: Thread) -> Result<(), ProfileError> {
        self.known.insert(thread.tid);
        for cpu in net::cpu::allowed_to(thread.tid) {
            self.add_buffer(cpu, thread.pid)?;
            match self.open_event(thread, cpu) {
                Ok(event) => self.opened.push(event),
                Err(error) => match permission::refusal(&error) {
                    Refusal::Gone => {}
                    Refusal::Exhausted => {
                        self.unattached += 1;
                        return Ok(());
                    }
                    Refusal::Forbidden => return Err(permission::forbidden(thread.pid)),
                    Refusal::NoEvent | Refusal::Other => return Err(ProfileError::Unsupported(error)),
                },
            }
        }
        Ok(())
    }

    /// Opens an event for a thread on a CPU. If the kernel's own time may not be sampled, this and all later events do without.
    fn open_event(&mut self, thread: Thread, cpu: usize) -> io::Result<Counter> {
        loop {
            let error = match self.try_event(thread, cpu) {
                Ok(event) => return Ok(event),
                Err(error) => error,
            };
            match permission::refusal(&error) {
                Refusal::Forbidden if self.has_kernel => self.has_kernel = false,
                _ => return Err(error),
            }
        }
    }

    fn try_event(&self, thread: Thread, cpu: usize) -> io::Result<Counter> {
        // A timer of the kernel, which runs while a thread runs. Every machine has it, virtual ones included. It can't interrupt code of
        // the kernel that has interrupts off; such time is counted where they are switched on again.
        let mut builder = Builder::new(Software::CPU_CLOCK);
        let mut sample = SampleFlag::IP | SampleFlag::TID | SampleFlag::TIME | SampleFlag::CALLCHAIN;
        // For unwinding.
        if REGISTERS != 0 {
            sample |= SampleFlag::REGS_USER | SampleFlag::STACK_USER;
            builder.sample_regs_user(REGISTERS).sample_stack_user(self.stack_bytes);
        }
        builder
            .observe_pid(thread.tid)
            .one_cpu(cpu)
            .inherit(true)
            .sample_frequency(self.frequency_hz)
            .sample(sample)
            .exclude_kernel(!self.has_kernel)
            .exclude_callchain_kernel(!self.has_kernel)
            .clockid(Clock::MONOTONIC)
            .mmap(true)
            .mmap2(true)
            .comm(true)
            .comm_exec(true)
            .task(true);
        let mut event = builder.build()?;
        if let Some(buffer) = self.buffers.get(&cpu) {
            net::perf::redirect(&event, buffer)?;
        }
        event.enable()?;
        Ok(event)
    }

    /// Makes the buffer of a CPU, unless there is one.
    fn add_buffer(&mut self, cpu: usize, pid: i32) -> Result<(), ProfileError> {
        if self.buffers.contains_key(&cpu) {
            return Ok(());
        }
        let mut refused = None;
        for bytes in BUFFERS {
            let mut anchor = Builder::new(Software::DUMMY);
            anchor.observe_self().one_cpu(cpu).clockid(Clock::MONOTONIC);
            let anchor = match anchor.build() {
                Ok(anchor) => anchor,
                Err(error) => {
                    return match permission::refusal(&error) {
                        Refusal::Forbidden => Err(permission::forbidden(pid)),
                        // The CPU was switched off meanwhile; no event will be opened for it, either.
                        Refusal::Gone => Ok(()),
                        Refusal::Exhausted => Err(ProfileError::NoMemory(error)),
                        Refusal::NoEvent | Refusal::Other => Err(ProfileError::Unsupported(error)),
                    };
                }
            };
            match anchor.sampled(bytes) {
                Ok(buffer) => {
                    self.buffers.insert(cpu, buffer);
                    self.buffer_bytes = self.buffer_bytes.min(bytes);
                    return Ok(());
                }
                Err(error) => refused = Some(error),
            }
        }
        Err(ProfileError::NoMemory(refused.unwrap_or_else(|| io::Error::other("no size is accepted"))))
    }

    /// Passes all records that are in the buffers to `take`: their kind, their flags and their bytes.
    pub fn drain(&mut self, mut take: impl FnMut(u32, u16, &[u8])) {
        for buffer in self.buffers.values_mut() {
            for _ in 0..AT_ONCE {
                let Some(record) = buffer.next_record() else { break };
                take(record.ty(), record.misc(), &record.to_contiguous());
            }
        }
    }

    /// Stops all events; records that are in the buffers stay there.
    pub fn stop(&mut self) {
        for event in &mut self.opened {
            // One whose thread has ended needs no stopping.
            let _ = event.disable();
        }
    }
}
