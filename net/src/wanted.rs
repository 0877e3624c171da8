//! How a connection's next bytes are best received, depending on how many of them the caller reads. Chosen anew for every answer: one body
//! that is not read says little about the next.

/// The number of bytes with which a head is received after a dropped body: enough for the head, and little of the next body, which
/// may be dropped as well.
pub const HEAD_BYTES: usize = 1024;

/// The largest number of bytes that one receive drops.
pub const MAX_DROP_BYTES: u64 = 1 << 30;

/// How the next bytes are received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wanted {
    /// As many as there are.
    #[default]
    All,
    /// A head, after a body that was dropped.
    Head,
    /// This number of bytes, at least one, is dropped by the kernel.
    Drop(u64),
}

impl Wanted {
    /// Announces that the next `bytes` will not be read.
    pub fn skip(&mut self, bytes: u64) {
        *self = if bytes > 0 { Self::Drop(bytes) } else { Self::Head };
    }

    /// Counts bytes that have come to be read. They come even while bytes are to be dropped, if they were requested before; then they
    /// count as dropped.
    #[inline]
    pub fn received(&mut self, bytes: u64) {
        *self = match *self {
            Self::Drop(left) if left > bytes => Self::Drop(left - bytes),
            // What was to be dropped is over, and what follows it may have come already.
            Self::Drop(_) => Self::Head,
            // More came than a head, and the caller has not skipped it: it is read.
            Self::Head if bytes >= HEAD_BYTES as u64 => Self::All,
            other => other,
        };
    }

    /// Counts bytes that have been dropped.
    pub fn dropped(&mut self, bytes: u64) {
        if let Self::Drop(left) = *self {
            self.skip(left.saturating_sub(bytes));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_that_is_looked_at_behind_one_that_was_dropped_comes_whole() {
        let mut wanted = Wanted::default();
        wanted.received(1_000);
        assert_eq!(wanted, Wanted::All);
        wanted.skip(99_000);
        wanted.dropped(60_000);
        assert_eq!(wanted, Wanted::Drop(39_000));
        wanted.dropped(39_000);
        assert_eq!(wanted, Wanted::Head);
        // The head of the next answer, whose body is looked at: nobody says `skip`.
        wanted.received(1_024);
        assert_eq!(wanted, Wanted::All);
        wanted.received(64_000);
        assert_eq!(wanted, Wanted::All);
        // And one more that is dropped, with a little behind it.
        wanted.skip(10);
        assert_eq!(wanted, Wanted::Drop(10));
        wanted.dropped(10);
        wanted.received(7);
        assert_eq!(wanted, Wanted::Head);
    }

    #[test]
    fn what_was_on_its_way_counts_as_dropped() {
        let mut wanted = Wanted::Drop(5_000);
        wanted.received(4_096);
        assert_eq!(wanted, Wanted::Drop(904));
        wanted.received(4_096);
        assert_eq!(wanted, Wanted::Head);
        wanted.skip(0);
        assert_eq!(wanted, Wanted::Head);
    }
}
