//! Buffers from which the kernel chooses when bytes arrive: a few for all connections together, so that an idle connection has
//! none of its own.

use io_uring::Submitter;
use io_uring::types::BufRingEntry;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use std::ffi::c_void;
use std::sync::atomic::{AtomicU16, Ordering};

/// The group from which receives choose their buffers.
pub const GROUP: u16 = 0;

/// A ring of buffers that is shared with the kernel.
pub struct Pool {
    ring: Pages,
    memory: Pages,
    buffers: u16,
    /// The number of buffers that are in use: those with lower numbers.
    offered: u16,
    /// The size of each buffer.
    bytes: usize,
    tail: u16,
}

impl Pool {
    /// A pool of up to `buffers` buffers (a power of two) of `bytes` bytes each, of which the kernel may fill the `first` ones.
    #[allow(unsafe_code)]
    pub fn new(submitter: &Submitter<'_>, buffers: u16, first: u16, bytes: u16) -> std::io::Result<Self> {
        let bytes = usize::from(bytes);
        let ring = Pages::new(usize::from(buffers) * size_of::<BufRingEntry>())?;
        let memory = Pages::new(usize::from(buffers) * bytes)?;
        let mut pool = Self { ring, memory, buffers, offered: 0, bytes, tail: 0 };
        // SAFETY: the ring's pages are mapped, page-aligned, large enough for this number of entries, and live as long as the pool, which
        // the back end drops after the ring.
        unsafe {
            submitter.register_buf_ring_with_flags(pool.ring.start as u64, buffers, GROUP, 0)?;
        }
        pool.offer(first);
        Ok(pool)
    }

    /// Lets the kernel fill twice as many buffers as before, if there are more: those that it had were too few.
    #[cold]
    pub fn grow(&mut self) {
        self.offer(self.offered.saturating_mul(2));
    }

    /// Lets the kernel fill this number of buffers.
    fn offer(&mut self, buffers: u16) {
        let buffers = buffers.clamp(1, self.buffers);
        (self.offered..buffers).for_each(|id| self.give_back(id));
        self.offered = self.offered.max(buffers);
    }

    /// The first `n` bytes of a buffer that the kernel has filled and that was not given back since.
    #[allow(unsafe_code)]
    pub fn bytes(&self, id: u16, n: usize) -> &[u8] {
        let (id, n) = (usize::from(id % self.buffers), n.min(self.bytes));
        // SAFETY: within the mapping, and the kernel writes to a buffer only after it was given back.
        unsafe { std::slice::from_raw_parts(self.memory.start.cast::<u8>().add(id * self.bytes), n) }
    }

    /// Lets the kernel fill this buffer again.
    #[allow(unsafe_code)]
    #[inline]
    pub fn give_back(&mut self, id: u16) {
        let at = self.tail & (self.buffers - 1);
        let entries = self.ring.start.cast::<BufRingEntry>();
        // SAFETY: `at` and `id` are within the ring and the memory; entries between the kernel's head and our
        // tail are ours to write, and there are never more of them than buffers.
        unsafe {
            let entry = &mut *entries.add(usize::from(at));
            entry.set_addr(self.memory.start.cast::<u8>().add(usize::from(id) * self.bytes) as u64);
            entry.set_len(self.bytes as u32);
            entry.set_bid(id);
            self.tail = self.tail.wrapping_add(1);
            // The kernel reads the tail with acquire: what was written before must be seen with it.
            let tail = &*BufRingEntry::tail(entries).cast::<AtomicU16>();
            tail.store(self.tail, Ordering::Release);
        }
    }
}

/// Zeroed whole pages; only those that are touched count as memory.
struct Pages {
    start: *mut c_void,
    bytes: usize,
}

impl Pages {
    #[allow(unsafe_code)]
    fn new(bytes: usize) -> std::io::Result<Self> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a fresh anonymous mapping that overlaps nothing.
        let start = unsafe { mmap_anonymous(std::ptr::null_mut(), bytes, protection, MapFlags::PRIVATE)? };
        Ok(Self { start, bytes })
    }
}

impl Drop for Pages {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, whole, and nothing refers to it any more.
        let _ = unsafe { munmap(self.start, self.bytes) };
    }
}
