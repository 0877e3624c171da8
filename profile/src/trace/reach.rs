//! Whether the copies of stacks reach far enough. Most servers need little, and a larger copy costs a server more time; some have buffers
//! of their own on the stack, such as libuv's 12 KiB of events.

/// The number of stacks that are judged together.
const TOGETHER: u32 = 100;

/// If more of them than this are cut off, the copies are too small.
const MOST_CUT: u32 = 5;

/// What the last stacks have shown.
#[derive(Debug, Default)]
pub struct Reach {
    seen: u32,
    cut: u32,
    was_judged: bool,
    is_short: bool,
}

impl Reach {
    /// Whether nothing is known yet, so that stacks outside of the measured window should be looked at, too.
    pub fn is_unknown(&self) -> bool {
        !self.was_judged
    }

    /// Takes a stack into account. `is_cut`: a larger copy would have shown more of it.
    pub fn note(&mut self, is_cut: bool) {
        self.seen += 1;
        self.cut += u32::from(is_cut);
        if self.seen == TOGETHER {
            *self = Self { was_judged: true, is_short: self.cut > MOST_CUT, ..Self::default() };
        }
    }

    /// Whether larger copies are needed. If so, counting begins anew.
    pub fn take_short(&mut self) -> bool {
        let is_short = self.is_short;
        if is_short {
            *self = Self::default();
        }
        is_short
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_stacks_may_be_cut_off_but_not_many() {
        let mut reach = Reach::default();
        let mut note = |cut: u32, of: u32| {
            (0..of).for_each(|nth| reach.note(nth < cut));
            (reach.is_unknown(), reach.take_short())
        };
        assert_eq!(note(0, TOGETHER - 1), (true, false), "too few to tell");
        assert_eq!(note(1, 1), (false, false));
        assert_eq!(note(MOST_CUT, TOGETHER), (false, false));
        assert_eq!(note(MOST_CUT + 1, TOGETHER), (false, true));
        assert_eq!(note(0, 1), (true, false), "of the larger copies nothing is known");
    }
}
