//! The code of one process: which addresses are which file, and the tables to unwind its stacks.

use super::address::Address;
use super::chain::Walk;
use super::images::Images;
use super::record::Mapped;
use super::unwinder::{self, Cache, Tables};
use framehop::Unwinder;

/// The largest number of code mappings that are kept for a process.
const MOST: usize = 65_536;

/// A mapping of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mapping {
    start: u64,
    end: u64,
    offset: u64,
    /// An index of [`Images`]; `None` for memory without a file.
    image: Option<u32>,
}

/// The code of a process. A copy is cheap: a process that was started by another one begins with its code.
#[derive(Clone, Default)]
pub struct Space {
    /// By address; none overlap.
    mappings: Vec<Mapping>,
    tables: Tables,
    /// When `/proc/PID/maps` was read last; 0: never.
    pub read_at_ns: u64,
}

impl Space {
    /// The code that is mapped now.
    pub fn of(pid: u32, mapped: &[Mapped], images: &mut Images, now_ns: u64) -> Self {
        let mut space = Self { read_at_ns: now_ns, ..Self::default() };
        for mapped in mapped {
            space.map(pid, mapped, images);
        }
        space
    }

    /// Adds a mapping. It replaces what was mapped at these addresses.
    pub fn map(&mut self, pid: u32, mapped: &Mapped, images: &mut Images) {
        if mapped.start >= mapped.end || self.mappings.len() >= MOST {
            return;
        }
        let first = self.mappings.partition_point(|mapping| mapping.end <= mapped.start);
        let after = self.mappings.partition_point(|mapping| mapping.start < mapped.end);
        let old: Vec<Mapping> = self.mappings.drain(first..after.max(first)).collect();
        for mapping in old {
            self.tables.remove_module(mapping.start);
            for rest in without(mapping, mapped.start, mapped.end) {
                self.insert(rest, images);
            }
        }
        let image = images.of(pid, mapped);
        self.insert(Mapping { start: mapped.start, end: mapped.end, offset: mapped.offset, image }, images);
    }

    /// Inserts a mapping at addresses where there is none.
    fn insert(&mut self, mapping: Mapping, images: &Images) {
        let at = self.mappings.partition_point(|other| other.start < mapping.start);
        self.mappings.insert(at, mapping);
        let layout =
            mapping.image.and_then(|image| images.get(image)).and_then(|image| image.layout.as_ref());
        if let Some(module) =
            layout.and_then(|layout| layout.module(mapping.start..mapping.end, mapping.offset))
        {
            self.tables.add_module(module);
        }
    }

    /// Whether there is code at this address.
    pub fn is_code(&self, address: u64) -> bool {
        self.mapping(address).is_some()
    }

    /// Where an address of the process is.
    pub fn address(&self, pid: u32, address: u64) -> Address {
        match self.mapping(address) {
            Some(Mapping { start, offset, image: Some(image), .. }) => {
                Address::File { image: *image, offset: offset.saturating_add(address - start) }
            }
            Some(Mapping { image: None, .. }) => Address::Memory { pid, address },
            None => Address::Unknown,
        }
    }

    /// Unwinds a stack of the process.
    pub fn unwind(&self, cache: &mut Cache, registers: &[u64], stack: &[u8]) -> Walk {
        unwinder::unwind(&self.tables, cache, registers, stack, |address| self.is_code(address))
    }

    fn mapping(&self, address: u64) -> Option<&Mapping> {
        let at = self.mappings.partition_point(|mapping| mapping.end <= address);
        self.mappings.get(at).filter(|mapping| mapping.start <= address)
    }
}

/// What is left of a mapping when the addresses from `start` to `end` are taken from it.
fn without(mapping: Mapping, start: u64, end: u64) -> impl Iterator<Item = Mapping> {
    let before = (mapping.start < start).then_some(Mapping { end: start, ..mapping });
    let after = (end < mapping.end).then(|| Mapping {
        start: end,
        offset: mapping.offset.saturating_add(end - mapping.start),
        ..mapping
    });
    before.into_iter().chain(after)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn mapped(start: u64, end: u64, path: &str) -> Mapped {
        Mapped { start, end, offset: 0x100, inode: 1, path: PathBuf::from(path), ..Mapped::default() }
    }

    #[test]
    fn an_address_is_in_the_file_that_is_mapped_there() {
        let mut images = Images::default();
        let maps =
            [mapped(0x1000, 0x2000, "/no/a"), mapped(0x2000, 0x3000, ""), mapped(0x5000, 0x6000, "/no/b")];
        let space = Space::of(7, &maps, &mut images, 1);
        let at = |address| space.address(7, address);
        assert_eq!(at(0x1010), Address::File { image: 0, offset: 0x110 });
        assert_eq!(at(0x2000), Address::Memory { pid: 7, address: 0x2000 });
        assert_eq!(at(0x5fff), Address::File { image: 1, offset: 0x10ff });
        assert_eq!([at(0), at(0xfff), at(0x3000), at(0x6000), at(u64::MAX)], [Address::Unknown; 5]);
        assert!(space.is_code(0x1fff) && !space.is_code(0x4000));
    }

    #[test]
    fn a_new_mapping_takes_the_place_of_what_was_there() {
        let mut images = Images::default();
        let mut space = Space::of(7, &[mapped(0x1000, 0x9000, "/no/a")], &mut images, 1);
        space.map(7, &mapped(0x3000, 0x4000, ""), &mut images);
        space.map(7, &mapped(0x8000, 0xa000, "/no/b"), &mut images);
        let of = |address| space.address(7, address);
        assert_eq!(of(0x2fff), Address::File { image: 0, offset: 0x20ff });
        assert_eq!(of(0x3000), Address::Memory { pid: 7, address: 0x3000 });
        assert_eq!(of(0x4000), Address::File { image: 0, offset: 0x3100 });
        assert_eq!(of(0x8000), Address::File { image: 1, offset: 0x100 });
        space.map(7, &mapped(0, u64::MAX, "/no/c"), &mut images);
        assert_eq!(space.mappings.len(), 1);
        space.map(7, &mapped(9, 9, "/no/d"), &mut images);
        assert_eq!(space.mappings.len(), 1, "an empty one is none");
    }

    #[test]
    fn a_copy_is_independent() {
        let mut images = Images::default();
        let parent = Space::of(7, &[mapped(0x1000, 0x2000, "/no/a")], &mut images, 1);
        let mut child = parent.clone();
        child.map(8, &mapped(0x4000, 0x5000, ""), &mut images);
        assert!(child.is_code(0x4000) && !parent.is_code(0x4000));
    }
}
