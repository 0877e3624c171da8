//! The dynamic table (RFC 7541 section 2.3.2): fields that the peer may name by their index. Without memory until the first one comes.

use super::{DEFAULT_TABLE_BYTES, FIELD_OVERHEAD_BYTES};
use std::collections::VecDeque;

/// The fields of one direction of one connection.
#[derive(Debug)]
pub struct DynamicTable {
    /// Names and values, one after the other; what was evicted stands in front until room is needed.
    bytes: Vec<u8>,
    /// The newest is the last.
    entries: VecDeque<Entry>,
    /// The number of bytes that were ever taken off the front of `bytes`; it wraps.
    removed: u32,
    /// As the specification counts it.
    size: usize,
    max_size: usize,
    /// What the largest size may be.
    limit: u16,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// The position of the name, counted as `removed` is.
    at: u32,
    name: u16,
    value: u16,
}

impl Entry {
    fn size(self) -> usize {
        usize::from(self.name) + usize::from(self.value) + FIELD_OVERHEAD_BYTES
    }
}

impl Default for DynamicTable {
    fn default() -> Self {
        Self::with_limit(DEFAULT_TABLE_BYTES)
    }
}

impl DynamicTable {
    /// An empty table that can be made no larger than this.
    pub fn with_limit(limit: u16) -> Self {
        let (bytes, entries) = (Vec::new(), VecDeque::new());
        let max_size = usize::from(limit.min(DEFAULT_TABLE_BYTES));
        Self { bytes, entries, removed: 0, size: 0, max_size, limit }
    }

    /// The name and the value at this index, of which 0 is the newest.
    #[inline]
    pub fn get(&self, index: usize) -> Option<(&[u8], &[u8])> {
        let entry = self.entries.get(self.entries.len().checked_sub(index + 1)?)?;
        let (name, value) = (usize::from(entry.name), usize::from(entry.value));
        let both = self.bytes.get(entry.at.wrapping_sub(self.removed) as usize..)?.get(..name + value)?;
        Some(both.split_at(name))
    }

    /// Changes the largest size. False: it is above the limit.
    pub fn resize(&mut self, max_size: usize) -> bool {
        if max_size > usize::from(self.limit) {
            return false;
        }
        self.max_size = max_size;
        self.evict(0);
        true
    }

    /// Adds a field, for which as many of the oldest go as must. One that is larger than the table empties it (RFC 7541 section 4.4).
    pub fn insert(&mut self, name: &[u8], value: &[u8]) {
        let size = name.len() + value.len() + FIELD_OVERHEAD_BYTES;
        self.evict(size);
        if size > self.max_size {
            return;
        }
        self.make_room(name.len() + value.len());
        let at = self.removed.wrapping_add(self.bytes.len() as u32);
        self.bytes.extend_from_slice(name);
        self.bytes.extend_from_slice(value);
        // Both fit: they are within the limit.
        self.entries.push_back(Entry { at, name: name.len() as u16, value: value.len() as u16 });
        self.size += size;
    }

    /// Removes the oldest until there is room for this size.
    fn evict(&mut self, size: usize) {
        while self.size + size > self.max_size
            && let Some(oldest) = self.entries.pop_front()
        {
            self.size -= oldest.size();
        }
    }

    /// Makes room for this number of bytes: by taking off the front what was evicted; where less than half becomes free, by growing.
    fn make_room(&mut self, count: usize) {
        if self.bytes.len() + count <= self.bytes.capacity() {
            return;
        }
        let evicted = self
            .entries
            .front()
            .map_or(self.bytes.len(), |oldest| oldest.at.wrapping_sub(self.removed) as usize);
        self.bytes.drain(..evicted.min(self.bytes.len()));
        self.removed = self.removed.wrapping_add(evicted as u32);
        let wanted = (2 * (self.bytes.len() + count)).next_power_of_two().min(usize::from(self.limit));
        self.bytes.reserve_exact(wanted.saturating_sub(self.bytes.len()).max(count));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against the table as it is defined: a list.
        #[test]
        fn it_is_a_list_of_bounded_size(
            steps in prop::collection::vec((0..3000_usize, 0..300_usize, prop::option::weighted(0.05, 0..4096_usize)), 1..300),
        ) {
            let (mut table, mut list, mut max) = (DynamicTable::default(), VecDeque::new(), 4096);
            let size = |list: &VecDeque<(Vec<u8>, Vec<u8>)>| -> usize {
                list.iter().map(|(name, value)| name.len() + value.len() + 32).sum()
            };
            for (step, (name, value, resized)) in steps.into_iter().enumerate() {
                if let Some(size) = resized {
                    prop_assert!(table.resize(size));
                    max = size;
                }
                let (name, value) = (vec![step as u8; name / 20], vec![!step as u8; value]);
                table.insert(&name, &value);
                list.push_front((name, value));
                while size(&list) > max {
                    list.pop_back();
                }
                for (index, (name, value)) in list.iter().enumerate() {
                    prop_assert_eq!(table.get(index), Some((&name[..], &value[..])));
                }
                prop_assert_eq!(table.get(list.len()), None);
                prop_assert!(table.bytes.capacity() <= 4096);
            }
        }
    }

    #[test]
    fn it_costs_nothing_until_it_is_used_and_positions_may_wrap() {
        let mut table = DynamicTable { removed: u32::MAX - 100, ..DynamicTable::default() };
        assert_eq!((table.bytes.capacity(), table.entries.capacity()), (0, 0));
        for n in 0..1000_u32 {
            table.insert(b"name", n.to_string().as_bytes());
            assert_eq!(table.get(0), Some((&b"name"[..], n.to_string().as_bytes())));
        }
        assert!(!table.resize(4097) && table.resize(0) && table.get(0).is_none());
    }
}
