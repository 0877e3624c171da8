//! Records of the kernel's ring buffer as plain data. Every length is checked: no record makes this panic.
//!
//! The layout is that of `perf_event_open(2)` for the `sample_type` that [`crate::sampling`] asks for: IP, TID, TIME, CALLCHAIN,
//! `REGS_USER` and `STACK_USER`; the last two only where registers are asked for. The library's own parser is not used because it expects
//! registers also where a thread has none.

use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

// Kinds of records: `enum perf_event_type` of include/uapi/linux/perf_event.h.
const LOST: u32 = 2;
const COMM: u32 = 3;
const EXIT: u32 = 4;
const FORK: u32 = 7;
const SAMPLE: u32 = 9;
const MMAP2: u32 = 10;
const LOST_SAMPLES: u32 = 13;

/// `PERF_RECORD_MISC_COMM_EXEC`: the name changed because the process became another program.
const MISC_EXEC: u16 = 1 << 13;

/// `PERF_RECORD_MISC_MMAP_BUILD_ID`: the record has a build id in place of device and inode.
const MISC_BUILD_ID: u16 = 1 << 14;

/// `PERF_SAMPLE_REGS_ABI_64`: the registers are those of a 64-bit program.
const ABI_64: u64 = 2;

/// A record that matters here.
#[derive(Debug, PartialEq, Eq)]
pub enum Record<'a> {
    /// A thread was running.
    Sample(Sample<'a>),
    /// A process has mapped code.
    Mapped {
        /// The process.
        pid: u32,
        /// What it mapped.
        mapped: Mapped,
    },
    /// A thread or a process was started.
    Forked {
        /// The process of the new thread.
        pid: u32,
        /// The process of the old one.
        parent_pid: u32,
        /// The new thread.
        tid: u32,
        /// The old thread.
        parent_tid: u32,
    },
    /// A process executed another program (`execve`).
    Replaced {
        /// The process.
        pid: u32,
    },
    /// A thread has ended.
    Ended {
        /// The thread.
        tid: u32,
    },
    /// This number of records was lost.
    Lost(u64),
    /// Something else.
    Other,
}

/// A sample.
#[derive(Debug, PartialEq, Eq)]
pub struct Sample<'a> {
    /// The process.
    pub pid: u32,
    /// When: nanoseconds of the monotonic clock.
    pub time_ns: u64,
    /// Return addresses by frame pointers, as the kernel walked them, with marks between kernel and user.
    pub chain: Vec<u64>,
    /// The registers of user code that were asked for, in the order of their numbers; empty if the thread has none.
    pub registers: Vec<u64>,
    /// The top of the stack of user code, from the stack pointer on.
    pub stack: &'a [u8],
    /// Whether the stack may go on beyond that: the copy is as large as it may be.
    pub has_more: bool,
}

/// A mapping of code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mapped {
    /// The first address.
    pub start: u64,
    /// The address after the last one.
    pub end: u64,
    /// The offset in the file.
    pub offset: u64,
    /// Major and minor number of the file's device.
    pub device: (u32, u32),
    /// The file's inode; 0 if there is no file.
    pub inode: u64,
    /// The path of the file, as the process sees it, or a word such as `[vdso]`.
    pub path: PathBuf,
}

/// Parses the bytes of a record after its header. `registers`: the number of registers that a sample has. `None`: the record is cut short.
pub fn parse(kind: u32, misc: u16, bytes: &[u8], registers: u32) -> Option<Record<'_>> {
    let mut from = Reader(bytes);
    Some(match kind {
        SAMPLE => Record::Sample(sample(&mut from, registers)?),
        MMAP2 => Record::Mapped { pid: from.u32()?, mapped: mapped(&mut from, misc)? },
        FORK => Record::Forked {
            pid: from.u32()?,
            parent_pid: from.u32()?,
            tid: from.u32()?,
            parent_tid: from.u32()?,
        },
        EXIT => {
            let (_pid, _parent) = (from.u32()?, from.u32()?);
            Record::Ended { tid: from.u32()? }
        }
        COMM if misc & MISC_EXEC != 0 => Record::Replaced { pid: from.u32()? },
        LOST => {
            let _id = from.u64()?;
            Record::Lost(from.u64()?)
        }
        LOST_SAMPLES => Record::Lost(from.u64()?),
        _ => Record::Other,
    })
}

fn sample<'a>(from: &mut Reader<'a>, registers: u32) -> Option<Sample<'a>> {
    let _ip = from.u64()?;
    let (pid, _tid) = (from.u32()?, from.u32()?);
    let time_ns = from.u64()?;
    let frames = from.u64()?;
    let chain = from.u64s(frames)?;
    if registers == 0 {
        return Some(Sample { pid, time_ns, chain, registers: Vec::new(), stack: &[], has_more: false });
    }
    // Without an ABI there are no registers: threads of the kernel, and those that are about to end.
    let abi = from.u64()?;
    let registers = if abi == 0 { Vec::new() } else { from.u64s(registers.into())? };
    let registers = if abi == ABI_64 { registers } else { Vec::new() };
    let room = usize::try_from(from.u64()?).ok()?;
    let stack = from.bytes(room)?;
    // The number of bytes of the copy that the kernel has filled in; absent if the copy has no bytes.
    let filled = if room == 0 { 0 } else { usize::try_from(from.u64()?).ok()? };
    let has_more = room > 0 && filled == room;
    Some(Sample { pid, time_ns, chain, registers, stack: stack.get(..filled)?, has_more })
}

fn mapped(from: &mut Reader<'_>, misc: u16) -> Option<Mapped> {
    let _tid = from.u32()?;
    let (start, length, offset) = (from.u64()?, from.u64()?, from.u64()?);
    let device = (from.u32()?, from.u32()?);
    let inode = from.u64()?;
    let _generation = from.u64()?;
    let (_protection, _flags) = (from.u32()?, from.u32()?);
    let path = from.0.split(|byte| *byte == 0).next().unwrap_or_default();
    let path = PathBuf::from(std::ffi::OsString::from_vec(path.to_vec()));
    let (device, inode) = if misc & MISC_BUILD_ID == 0 { (device, inode) } else { ((0, 0), 0) };
    Some(Mapped { start, end: start.checked_add(length)?, offset, device, inode, path })
}

/// Takes values from the front of bytes.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (front, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(front)
    }

    fn u32(&mut self) -> Option<u32> {
        self.bytes(4)?.try_into().ok().map(u32::from_ne_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.bytes(8)?.try_into().ok().map(u64::from_ne_bytes)
    }

    fn u64s(&mut self, count: u64) -> Option<Vec<u64>> {
        let bytes = self.bytes(usize::try_from(count).ok()?.checked_mul(8)?)?;
        Some(
            bytes.chunks_exact(8).filter_map(|eight| eight.try_into().ok()).map(u64::from_ne_bytes).collect(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes(values: &[u64]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_ne_bytes()).collect()
    }

    /// Two 32-bit values in the place of one 64-bit value.
    fn pair(a: u32, b: u32) -> u64 {
        let [a, b] = [a, b].map(u32::to_ne_bytes);
        u64::from_ne_bytes([a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3]])
    }

    #[test]
    fn a_sample_has_its_chain_registers_and_stack() {
        let record = bytes(&[0x10, pair(7, 8), 99, 2, 0x10, 0x20, ABI_64, 1, 2, 3, 16, 0xaa, 0xbb, 8]);
        let expected = Sample {
            pid: 7,
            time_ns: 99,
            chain: vec![0x10, 0x20],
            registers: vec![1, 2, 3],
            stack: &0xaa_u64.to_ne_bytes(),
            has_more: false,
        };
        assert_eq!(parse(SAMPLE, 0, &record, 3), Some(Record::Sample(expected)));
        let full = bytes(&[0x10, pair(7, 8), 99, 0, ABI_64, 1, 2, 3, 8, 0xaa, 8]);
        let Some(Record::Sample(full)) = parse(SAMPLE, 0, &full, 3) else { panic!("a sample") };
        assert!(full.has_more && full.stack.len() == 8, "the copy is full");
    }

    #[test]
    fn a_thread_without_registers_has_neither_these_nor_a_stack() {
        let record = bytes(&[0x10, pair(7, 8), 99, 1, 0x10, 0, 0]);
        let Some(Record::Sample(sample)) = parse(SAMPLE, 0, &record, 3) else { panic!("a sample") };
        assert_eq!((sample.registers, sample.stack), (Vec::new(), &[][..]));
        let of_32_bit = bytes(&[0x10, pair(7, 8), 99, 1, 0x10, 1, 4, 5, 6, 0]);
        let Some(Record::Sample(sample)) = parse(SAMPLE, 0, &of_32_bit, 3) else { panic!("a sample") };
        assert_eq!(sample.registers, Vec::<u64>::new());
    }

    #[test]
    fn without_registers_that_are_asked_for_there_is_the_chain() {
        let record = bytes(&[0x10, pair(7, 8), 99, 1, 0x10]);
        let chain = vec![0x10];
        let expected =
            Sample { pid: 7, time_ns: 99, chain, registers: Vec::new(), stack: &[], has_more: false };
        assert_eq!(parse(SAMPLE, 0, &record, 0), Some(Record::Sample(expected)));
    }

    #[test]
    fn a_mapping_has_its_file() {
        let mut record = bytes(&[pair(7, 7), 0x1000, 0x200, 0x40, pair(8, 1), 1234, 0, pair(5, 2)]);
        record.extend(b"/usr/bin/a\0\0\0\0\0\0");
        let mapped = Mapped {
            start: 0x1000,
            end: 0x1200,
            offset: 0x40,
            device: (8, 1),
            inode: 1234,
            path: PathBuf::from("/usr/bin/a"),
        };
        assert_eq!(parse(MMAP2, 0, &record, 0), Some(Record::Mapped { pid: 7, mapped }));
        let huge = bytes(&[pair(7, 7), u64::MAX, 2, 0, 0, 0, 0, 0]);
        assert_eq!(parse(MMAP2, 0, &huge, 0), None);
    }

    #[test]
    fn the_other_records_are_read() {
        let fork = bytes(&[pair(7, 6), pair(9, 8), 0]);
        let forked = Record::Forked { pid: 7, parent_pid: 6, tid: 9, parent_tid: 8 };
        assert_eq!(parse(FORK, 0, &fork, 0), Some(forked));
        assert_eq!(parse(EXIT, 0, &fork, 0), Some(Record::Ended { tid: 9 }));
        assert_eq!(parse(COMM, MISC_EXEC, &bytes(&[pair(7, 7)]), 0), Some(Record::Replaced { pid: 7 }));
        assert_eq!(parse(COMM, 0, &bytes(&[pair(7, 7)]), 0), Some(Record::Other));
        assert_eq!(parse(LOST, 0, &bytes(&[1, 5]), 0), Some(Record::Lost(5)));
        assert_eq!(parse(LOST_SAMPLES, 0, &bytes(&[6]), 0), Some(Record::Lost(6)));
        assert_eq!(parse(LOST, 0, &bytes(&[1]), 0), None);
        assert_eq!(parse(99, 0, &[], 0), Some(Record::Other));
    }

    proptest! {
        #[test]
        fn no_record_makes_it_panic(
            kind in 0_u32..20,
            misc in any::<u16>(),
            bytes in proptest::collection::vec(any::<u8>(), 0..400),
        ) {
            let _ = parse(kind, misc, &bytes, 3);
        }
    }
}
