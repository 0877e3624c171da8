//! Addresses without the process around them, so that the stacks of all processes of a program are counted together.

use std::collections::BTreeMap;

/// Where an instruction is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Address {
    /// In the kernel, at this address.
    Kernel(u64),
    /// In a file.
    File {
        /// Which: an index of [`super::images::Images`].
        image: u32,
        /// The offset in the file.
        offset: u64,
    },
    /// In memory of a process without a file: code that was compiled at run time.
    Memory {
        /// The process.
        pid: u32,
        /// The address in it.
        address: u64,
    },
    /// Nowhere that is known.
    Unknown,
    /// In place of a whole stack, when there are too many.
    NotKept,
}

/// A stack of addresses.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stack {
    /// Innermost first, so that most comparisons end soon.
    pub addresses: Vec<Address>,
    /// Whether it reaches the outermost function.
    pub is_complete: bool,
}

/// How often each stack was sampled, within a limit of memory.
#[derive(Debug)]
pub struct Stacks {
    counts: BTreeMap<Stack, u64>,
    bytes_left: usize,
}

impl Stacks {
    /// An empty collection. Its stacks will take at most about this many bytes of memory.
    pub fn within(bytes: usize) -> Self {
        Self { counts: BTreeMap::new(), bytes_left: bytes }
    }

    /// Counts a stack.
    pub fn add(&mut self, stack: Stack) {
        if let Some(count) = self.counts.get_mut(&stack) {
            *count += 1;
            return;
        }
        let bytes = size_of::<(Stack, u64)>() + size_of::<Address>() * stack.addresses.len();
        let stack = if let Some(left) = self.bytes_left.checked_sub(bytes) {
            self.bytes_left = left;
            stack
        } else {
            Stack { addresses: vec![Address::NotKept], is_complete: true }
        };
        *self.counts.entry(stack).or_default() += 1;
    }

    /// All stacks with their counts.
    pub fn into_counts(self) -> BTreeMap<Stack, u64> {
        self.counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_stacks_are_counted_and_the_rest_is_counted_together() {
        let stack = |address| Stack { addresses: vec![Address::Kernel(address); 10], is_complete: false };
        let mut stacks = Stacks::within(size_of::<(Stack, u64)>() + 10 * size_of::<Address>());
        for address in [1, 1, 2, 3, 1] {
            stacks.add(stack(address));
        }
        let not_kept = Stack { addresses: vec![Address::NotKept], is_complete: true };
        assert_eq!(stacks.into_counts(), [(stack(1), 3), (not_kept, 2)].into());
    }
}
