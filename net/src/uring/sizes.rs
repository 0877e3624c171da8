//! The sizes of a ring and of what belongs to it, by the number of connections.

/// The number of entries that can wait to be handed over; more of them only cause an earlier system call.
const ENTRIES: u32 = 1024;

/// The number of completions that can wait to be read before the kernel has to keep them elsewhere: two per connection.
const COMPLETIONS: std::ops::RangeInclusive<u32> = 8 * 1024..=128 * 1024;

/// The largest number for a server: several of them share their user's limit of locked memory, which is 8 MiB in most systems, and each
/// completion takes 16 bytes of it.
const MOST_OF_A_SERVER: u32 = 16 * 1024;

/// The number of buffers for what arrives in one turn; with fewer, receives pause until some are given back.
const BUFFERS: std::ops::RangeInclusive<u32> = 256..=4096;

/// The size of a buffer: it holds several small answers; a large body that is not read is dropped by the kernel and needs none. All buffers
/// are used in turn, so that many must be small to stay in the processor's caches.
const BUFFER_BYTES: u16 = 4096;
const SMALL_BUFFER_BYTES: u16 = 1536;

/// The number of bytes of short requests that can be sent in one turn: no more answers arrive in one turn than there are buffers.
const OUTBOX: std::ops::RangeInclusive<u32> = 64 * 1024..=512 * 1024;
const REQUEST_BYTES: u32 = 128;

/// The largest number of places in the table of files; the kernel's own bound is higher (`IORING_MAX_FIXED_FILES`).
const MOST_FILES: u32 = 256 * 1024;

/// The sizes of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// The number of entries that can wait to be handed over.
    pub entries: u32,
    /// The number of completions that can wait to be taken.
    pub completions: u32,
    /// The number of buffers that all connections share; a power of two.
    pub buffers: u16,
    /// The number of buffers that the kernel may fill at first. It fills all of them in turn, so that each of them takes memory.
    pub first_buffers: u16,
    /// The size of each buffer.
    pub buffer_bytes: u16,
    /// The number of bytes that can be sent in one turn without system calls of their own.
    pub outbox_bytes: u32,
    /// The number of connections, by slot, with a place in the ring's own table of files.
    pub files: u32,
}

impl Sizes {
    /// The sizes for a server of this number of connections.
    pub fn of_server(connections: usize) -> Self {
        let sizes = Self::of(connections);
        // A server knows the most connections that it may have, not how many it will.
        let first_buffers = *BUFFERS.start() as u16;
        Self { completions: sizes.completions.min(MOST_OF_A_SERVER), first_buffers, ..sizes }
    }

    /// The sizes for a client of this number of connections.
    pub fn of(connections: usize) -> Self {
        let connections = u32::try_from(connections).unwrap_or(MOST_FILES).clamp(1, MOST_FILES);
        let within = |n: u32, range: std::ops::RangeInclusive<u32>| {
            n.next_power_of_two().clamp(*range.start(), *range.end())
        };
        let buffers = within(connections, BUFFERS) as u16;
        Self {
            entries: ENTRIES,
            completions: within(2 * connections, COMPLETIONS),
            buffers,
            first_buffers: buffers,
            buffer_bytes: if connections < *BUFFERS.end() { BUFFER_BYTES } else { SMALL_BUFFER_BYTES },
            outbox_bytes: within(REQUEST_BYTES * connections, OUTBOX),
            files: connections,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_grows_with_its_connections_up_to_a_bound() {
        let few = Sizes::of(0);
        assert_eq!((few.completions, few.buffers, few.files), (8192, 256, 1));
        assert_eq!((few.outbox_bytes, Sizes::of(18_000).outbox_bytes), (65_536, 524_288));
        let many = Sizes::of(18_000);
        assert_eq!((many.completions, many.buffers, many.files), (65_536, 4096, 18_000));
        let most = Sizes::of(usize::MAX);
        assert_eq!((most.completions, most.buffers, most.files), (131_072, 4096, MOST_FILES));
        let server = Sizes::of_server(18_000);
        assert_eq!(server, Sizes { completions: 16_384, first_buffers: 256, ..many });
        assert_eq!(Sizes::of_server(64), Sizes::of(64));
    }
}
