//! The one receive buffer of a back end: memory that the kernel writes and connections share in turn.

/// The size of the buffer: large enough for a body of 50 KB in one call, small enough to stay in a core's own cache.
pub const BUFFER_BYTES: usize = 64 * 1024;

/// A buffer and how much of it the last receive filled.
#[derive(Debug)]
pub struct Buffer {
    memory: Box<[u8]>,
    filled: usize,
}

impl Buffer {
    /// A buffer of [`BUFFER_BYTES`].
    pub fn new() -> Self {
        Self { memory: vec![0; BUFFER_BYTES].into_boxed_slice(), filled: 0 }
    }

    /// All of the memory, for the kernel to write.
    pub fn memory(&mut self) -> &mut [u8] {
        &mut self.memory
    }

    /// Sets how much the kernel wrote.
    pub fn fill(&mut self, n: usize) {
        self.filled = n.min(self.memory.len());
    }

    /// The bytes that the kernel wrote.
    pub fn bytes(&self) -> &[u8] {
        &self.memory[..self.filled]
    }
}
