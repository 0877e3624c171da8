//! Unwinds a stack from the registers and a copy of its top, by the tables that compilers leave in programs (DWARF call frame
//! information). This works without frame pointers. Code without tables is unwound by frame pointers.

use super::chain::Walk;
use framehop::Unwinder;
use std::sync::Arc;

/// The largest number of frames in a stack.
const MOST_FRAMES: usize = 512;

/// The largest copy of a stack, in bytes: a record of the kernel has at most 65,535, and a copy consists of whole words.
pub const MOST_STACK_BYTES: u32 = 65_000;

/// The lowest address that a stack can have: by default the kernel maps nothing below.
const LOWEST: u64 = 4096;

/// The unwinding tables of a process.
pub type Tables = arch::Unwinder<Arc<[u8]>>;

/// What the unwinder remembers of instructions; one for all processes.
pub type Cache = arch::Cache;

/// The registers that are needed, as bits of the kernel's `sample_regs_user`.
pub const REGISTERS: u64 = arch::REGISTERS;

/// 64-bit x86.
#[cfg(target_arch = "x86_64")]
mod arch {
    pub use framehop::x86_64::{
        CacheX86_64 as Cache, UnwindRegsX86_64 as Registers, UnwinderX86_64 as Unwinder,
    };

    /// `PERF_REG_X86_BP`, `_SP` and `_IP`.
    pub const REGISTERS: u64 = 1 << 6 | 1 << 7 | 1 << 8;

    /// Instruction pointer, stack pointer and registers for unwinding, from the values in the order of the bits.
    pub fn of(values: &[u64]) -> Option<(u64, u64, Registers)> {
        let [bp, sp, ip] = *values else { return None };
        Some((ip, sp, Registers::new(ip, sp, bp)))
    }
}

/// 64-bit ARM.
#[cfg(target_arch = "aarch64")]
mod arch {
    use framehop::aarch64::PtrAuthMask;
    pub use framehop::aarch64::{
        CacheAarch64 as Cache, UnwindRegsAarch64 as Registers, UnwinderAarch64 as Unwinder,
    };

    /// `PERF_REG_ARM64_X29`, `_LR`, `_SP` and `_PC`.
    pub const REGISTERS: u64 = 1 << 29 | 1 << 30 | 1 << 31 | 1 << 32;

    /// Addresses of user code have 48 bits; those above may have a signature.
    const CODE: PtrAuthMask = PtrAuthMask(u64::MAX >> 16);

    /// Instruction pointer, stack pointer and registers for unwinding, from the values in the order of the bits.
    pub fn of(values: &[u64]) -> Option<(u64, u64, Registers)> {
        let [fp, lr, sp, pc] = *values else { return None };
        Some((pc, sp, Registers::new_with_ptr_auth_mask(CODE, lr, sp, fp)))
    }
}

/// Elsewhere nothing is unwound by tables; the kernel's frame pointers remain.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod arch {
    pub use framehop::x86_64::{
        CacheX86_64 as Cache, UnwindRegsX86_64 as Registers, UnwinderX86_64 as Unwinder,
    };

    pub const REGISTERS: u64 = 0;

    pub fn of(_values: &[u64]) -> Option<(u64, u64, Registers)> {
        None
    }
}

/// Unwinds a stack. `values`: the registers that [`REGISTERS`] names; `stack`: the memory from the stack pointer on. It stops at an address
/// that is not in code, because everything beyond would be wrong as well.
pub fn unwind(
    tables: &Tables,
    cache: &mut Cache,
    values: &[u64],
    stack: &[u8],
    is_code: impl Fn(u64) -> bool,
) -> Walk {
    let mut walk = Walk::default();
    let Some((ip, sp, registers)) = arch::of(values).filter(|(_, sp, _)| *sp >= LOWEST) else { return walk };
    let mut is_cut = false;
    let mut read = |address: u64| {
        let word = word(stack, sp, address);
        // An address far from the stack pointer is not on this stack.
        is_cut = word.is_none() && address > sp && address - sp < MOST_STACK_BYTES.into();
        word.ok_or(())
    };
    let mut frames = tables.iter_frames(ip, registers, cache, &mut read);
    while walk.addresses.len() < MOST_FRAMES {
        match frames.next() {
            Ok(Some(frame)) if is_code(frame.address_for_lookup()) => {
                walk.addresses.push(frame.address_for_lookup());
            }
            Ok(None) => {
                walk.is_complete = true;
                break;
            }
            Ok(Some(_)) | Err(_) => break,
        }
    }
    walk.is_cut = is_cut && !walk.is_complete;
    walk
}

/// The word at an address of the stack, if the copy goes that far.
fn word(stack: &[u8], sp: u64, address: u64) -> Option<u64> {
    let at = usize::try_from(address.checked_sub(sp)?).ok()?;
    let bytes = stack.get(at..at.checked_add(8)?)?;
    bytes.try_into().ok().map(u64::from_ne_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_stack_are_read_within_the_copy() {
        let stack: Vec<u8> = [1_u64, 2].iter().flat_map(|word| word.to_ne_bytes()).collect();
        let read = |address| word(&stack, 0x1000, address);
        assert_eq!((read(0x1000), read(0x1008), read(0x1009), read(0xfff)), (Some(1), Some(2), None, None));
        assert_eq!((read(u64::MAX), word(&stack, 0, u64::MAX)), (None, None));
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn without_tables_frame_pointers_are_followed_as_far_as_there_is_code() {
        let walk = |frames: [u64; 6]| {
            let stack: Vec<u8> = frames.iter().flat_map(|word| word.to_ne_bytes()).collect();
            let (tables, mut cache) = (Tables::new(), Cache::new());
            unwind(&tables, &mut cache, &[0x1_0010, 0x1_0000, 0x500], &stack, |address| address < 0x900)
        };
        // At 0x10010 are the caller's frame pointer and the return address.
        let of = |addresses: &[u64], is_complete, is_cut| Walk {
            addresses: addresses.to_vec(),
            is_complete,
            is_cut,
        };
        let whole = walk([9, 9, 0x1_0020, 0x600, 0, 0x700]);
        assert_eq!(whole, of(&[0x500, 0x5ff, 0x6ff], true, false));
        let elsewhere = walk([9, 9, 0x1_0020, 0xa000, 0, 0x700]);
        assert_eq!(elsewhere, of(&[0x500], false, false));
        let beyond = walk([9, 9, 0x1_8000, 0x600, 0, 0x700]);
        assert_eq!(beyond, of(&[0x500, 0x5ff], false, true), "a larger copy would have it");
        let far = walk([9, 9, 0x9_0000, 0x600, 0, 0x700]);
        assert_eq!(far, of(&[0x500, 0x5ff], false, false), "no copy can be so large");
    }

    #[test]
    fn hostile_registers_unwind_nothing_and_end() {
        let (tables, mut cache) = (Tables::new(), Cache::new());
        for values in [&[][..], &[0; 3], &[0; 4], &[u64::MAX; 3], &[u64::MAX; 4], &[4096; 3], &[4096; 4]] {
            let walk = unwind(&tables, &mut cache, values, &[0xff; 64], |_| true);
            assert!(walk.addresses.len() <= MOST_FRAMES);
        }
    }
}
