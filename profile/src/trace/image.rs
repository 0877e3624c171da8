//! A program or library file: where its code is loaded, and its tables for unwinding.

use framehop::{ExplicitModuleSectionInfo, Module};
use object::read::elf::ElfFile64;
use object::{CompressionFormat, Endianness, Object, ObjectSection, ObjectSegment, ReadRef};
use std::io::Read;
use std::ops::Range;
use std::sync::Arc;

/// The largest section that is read, in bytes.
const MOST_BYTES: u64 = 512 << 20;

/// What is known of a file from its own tables.
#[derive(Debug, Default)]
pub struct Layout {
    /// The parts of the file that are loaded into memory.
    loads: Vec<Load>,
    text: Option<Range<u64>>,
    got: Option<Range<u64>>,
    eh_frame: Option<Section>,
    eh_frame_hdr: Option<Section>,
    debug_frame: Option<Section>,
}

/// A part of a file that is loaded into memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Load {
    address: u64,
    offset: u64,
    bytes: u64,
    is_code: bool,
}

/// A section with its address, as the file states it.
#[derive(Clone, Debug)]
struct Section {
    addresses: Range<u64>,
    data: Arc<[u8]>,
}

impl Layout {
    /// Reads a 64-bit ELF file; `None` if it is not one.
    pub fn read<'data, R: ReadRef<'data>>(data: R) -> Option<Self> {
        let file: ElfFile64<'data, Endianness, R> = ElfFile64::parse(data).ok()?;
        let loads = file.segments().map(|segment| {
            let (offset, bytes) = segment.file_range();
            Load { address: segment.address(), offset, bytes, is_code: segment.permissions().executable() }
        });
        let loads = loads.collect();
        let range = |name: &str| {
            let section = file.section_by_name(name)?;
            Some(section.address()..section.address().checked_add(section.size())?)
        };
        let eh_frame = section(&file, ".eh_frame");
        // Go has its tables in this section only, compressed.
        let debug_frame = if eh_frame.is_none() { section(&file, ".debug_frame") } else { None };
        Some(Self {
            loads,
            text: range(".text"),
            got: range(".got"),
            eh_frame,
            eh_frame_hdr: section(&file, ".eh_frame_hdr"),
            debug_frame,
        })
    }

    /// The difference between addresses in a process and those that the file states, for a mapping that begins at `start` and has the file
    /// from `offset` on. `None` if the file has no code to be loaded there.
    fn bias(&self, start: u64, offset: u64) -> Option<u64> {
        // The kernel maps whole pages.
        let page = procfs::page_size().max(1);
        let holds = |load: &&Load| {
            let first = load.offset - load.offset % page;
            (first..load.offset.saturating_add(load.bytes)).contains(&offset)
        };
        // Two parts may share a page of the file; the mapping is of code.
        let load = self.loads.iter().filter(|load| load.is_code).find(holds);
        let load = load.or_else(|| self.loads.iter().find(holds))?;
        start.checked_add(load.offset)?.checked_sub(offset)?.checked_sub(load.address)
    }

    /// The tables for unwinding, for a mapping of the file at these addresses; `None` if there are none.
    pub fn module(&self, addresses: Range<u64>, offset: u64) -> Option<Module<Arc<[u8]>>> {
        if self.eh_frame.is_none() && self.debug_frame.is_none() {
            return None;
        }
        let bias = self.bias(addresses.start, offset)?;
        let data = |section: &Option<Section>| section.as_ref().map(|section| Arc::clone(&section.data));
        let place = |section: &Option<Section>| section.as_ref().map(|section| section.addresses.clone());
        let info = ExplicitModuleSectionInfo {
            base_svma: 0,
            text_svma: self.text.clone(),
            got_svma: self.got.clone(),
            eh_frame_svma: place(&self.eh_frame),
            eh_frame: data(&self.eh_frame),
            eh_frame_hdr_svma: place(&self.eh_frame_hdr),
            eh_frame_hdr: data(&self.eh_frame_hdr),
            debug_frame: data(&self.debug_frame),
            ..ExplicitModuleSectionInfo::default()
        };
        Some(Module::new(String::new(), addresses, bias, info))
    }
}

/// The bytes of a section, decompressed if need be; `None` if there are none.
fn section<'data, R: ReadRef<'data>>(file: &ElfFile64<'data, Endianness, R>, name: &str) -> Option<Section> {
    let section = file.section_by_name(name)?;
    let range = section.compressed_file_range().ok()?;
    if range.uncompressed_size == 0 || range.uncompressed_size.max(range.compressed_size) > MOST_BYTES {
        return None;
    }
    let stored = section.compressed_data().ok()?;
    let data: Arc<[u8]> = match stored.format {
        CompressionFormat::None => Arc::from(stored.data),
        CompressionFormat::Zlib => Arc::from(inflated(stored.data, stored.uncompressed_size)?),
        _ => return None,
    };
    let address = section.address();
    Some(Section { addresses: address..address.checked_add(data.len() as u64)?, data })
}

/// Decompresses a section that is exactly this number of bytes long when decompressed.
fn inflated(data: &[u8], bytes: u64) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    flate2::read::ZlibDecoder::new(data).take(bytes).read_to_end(&mut out).ok()?;
    (out.len() as u64 == bytes).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(loads: &[(u64, u64, u64, bool)]) -> Layout {
        let load = |(address, offset, bytes, is_code): &(u64, u64, u64, bool)| Load {
            address: *address,
            offset: *offset,
            bytes: *bytes,
            is_code: *is_code,
        };
        Layout { loads: loads.iter().map(load).collect(), ..Layout::default() }
    }

    #[test]
    fn the_bias_is_that_of_the_part_which_is_mapped() {
        // As lld lays files out: the address of the code is not its offset, and two parts share a page.
        let lld =
            layout(&[(0, 0, 0x1500, false), (0x2500, 0x1500, 0x3000, true), (0x6500, 0x4500, 0x100, false)]);
        assert_eq!(lld.bias(0x5555_0000_2000, 0x1000), Some(0x5555_0000_0000));
        let fixed = layout(&[(0x40_0000, 0, 0x1000, false), (0x40_1000, 0x1000, 0x2000, true)]);
        assert_eq!(fixed.bias(0x40_1000, 0x1000), Some(0));
        assert_eq!(fixed.bias(0x1000, 0x1000), None, "below the address that it must have");
        assert_eq!(fixed.bias(0x40_1000, 0x9000), None, "no part of the file");
        assert_eq!(Layout::default().bias(0, 0), None);
        let hostile = layout(&[(u64::MAX, u64::MAX, u64::MAX, true)]);
        assert_eq!(hostile.bias(u64::MAX, u64::MAX - 1), None);
    }

    #[test]
    fn this_program_has_tables_for_unwinding() {
        let data = std::fs::read("/proc/self/exe").unwrap();
        let own = Layout::read(&data[..]).unwrap();
        assert!(own.eh_frame.is_some() && own.loads.iter().any(|load| load.is_code));
        let code = own.loads.iter().find(|load| load.is_code).unwrap();
        let start = 0x5555_0000_0000 + code.address;
        let module = own.module(start..start + 0x1000, code.offset).unwrap();
        assert_eq!(module.base_avma(), 0x5555_0000_0000);
    }

    #[test]
    fn what_is_no_program_has_no_layout() {
        assert!(Layout::read(&b""[..]).is_none());
        assert!(
            Layout::read(&b"#!/bin/sh\necho hello, this is long enough for a header of a file\n"[..])
                .is_none()
        );
        assert!(Layout::default().module(0..1, 0).is_none());
        assert_eq!(inflated(b"junk", 4), None);
    }
}
