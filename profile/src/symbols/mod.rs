//! Names for addresses: functions with what was inlined into them, of programs, libraries, the kernel, and code compiled at run time.

pub mod perf_map;

use crate::frame_name::{self, JIT, KERNEL, NOT_KEPT, UNKNOWN};
use crate::trace::address::Address;
use crate::trace::images::Images;
use blazesym::MaybeDefault;
use blazesym::symbolize::source::{Elf, Kernel, Source};
use blazesym::symbolize::{Input, Symbolized, Symbolizer};
use perf_map::PerfMap;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The names of each address: a function, then what is inlined there, outermost first. Never empty.
pub type Names = BTreeMap<Address, Vec<String>>;

/// Finds the names of all addresses.
pub fn names(addresses: BTreeSet<Address>, images: &Images, perf_maps: &BTreeMap<u32, PerfMap>) -> Names {
    // The files are held open, so there is nothing to reload.
    let symbolizer = Symbolizer::builder().enable_auto_reload(false).build();
    let mut names = Names::new();
    let mut in_kernel = Vec::new();
    let mut in_files: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for address in addresses {
        match address {
            Address::Kernel(at) => in_kernel.push(at),
            Address::File { image, offset } => in_files.entry(image).or_default().push(offset),
            Address::Memory { pid, address: at } => {
                let name = perf_maps.get(&pid).and_then(|map| map.name(at));
                names.insert(address, vec![name.map_or_else(|| JIT.to_owned(), |name| marked(name, "_[j]"))]);
            }
            Address::Unknown => {
                names.insert(address, vec![UNKNOWN.to_owned()]);
            }
            Address::NotKept => {
                names.insert(address, vec![NOT_KEPT.to_owned()]);
            }
        }
    }
    for (image, offsets) in in_files {
        let found = of_file(&symbolizer, images, image, &offsets);
        let address = |offset| Address::File { image, offset };
        names.extend(offsets.iter().map(|offset| address(*offset)).zip(found));
    }
    let found = of_kernel(&symbolizer, &in_kernel);
    names.extend(in_kernel.iter().map(|at| Address::Kernel(*at)).zip(found));
    names
}

/// A clean name with a mark at its end.
fn marked(name: &str, mark: &str) -> String {
    format!("{}{mark}", frame_name::clean(name))
}

fn of_file(symbolizer: &Symbolizer, images: &Images, index: u32, offsets: &[u64]) -> Vec<Vec<String>> {
    let image = images.get(index);
    let found = image.and_then(|image| in_elf(symbolizer, &image.path()?, offsets)).unwrap_or_default();
    let label = image.map_or("unknown", |image| image.label.as_str());
    let names = |(at, offset): (usize, &u64)| {
        found.get(at).cloned().flatten().unwrap_or_else(|| vec![unknown(label, *offset)])
    };
    offsets.iter().enumerate().map(names).collect()
}

/// The name of a frame whose function is not known: the file's label and the offset in it, as `[label+0x1f]`. A label in brackets, such as
/// `[vdso]`, is the name by itself.
fn unknown(label: &str, offset: u64) -> String {
    if label.starts_with('[') {
        return frame_name::clean(label);
    }
    frame_name::clean(&format!("[{label}+0x{offset:x}]"))
}

/// The names at offsets of an ELF file; `None` where there are none.
fn in_elf(symbolizer: &Symbolizer, path: &Path, offsets: &[u64]) -> Option<Vec<Option<Vec<String>>>> {
    let mut elf = Elf::new(path);
    let input = Input::FileOffset(offsets);
    let whole = symbolizer.symbolize(&Source::Elf(elf.clone()), input);
    // Debug information that does not fit the program, or is damaged, must not cost the symbols of the program itself.
    elf.debug_syms = false;
    let symbols = whole.or_else(|_| symbolizer.symbolize(&Source::Elf(elf), input)).ok()?;
    Some(symbols.iter().map(function).collect())
}

/// A function, then what is inlined at the address.
fn function(symbol: &Symbolized<'_>) -> Option<Vec<String>> {
    let symbol = symbol.as_sym()?;
    let inlined = symbol.inlined.iter().map(|inlined| frame_name::clean(&inlined.name));
    Some(std::iter::once(frame_name::clean(&symbol.name)).chain(inlined).collect())
}

/// The names at addresses of the kernel, from `/proc/kallsyms`. That file hides addresses from users without rights; then no name is known.
fn of_kernel(symbolizer: &Symbolizer, addresses: &[u64]) -> Vec<Vec<String>> {
    if addresses.is_empty() {
        return Vec::new();
    }
    // The kernel's debug information is hundreds of megabytes, and needs more rights.
    let kernel = Kernel { vmlinux: MaybeDefault::None, ..Kernel::default() };
    let symbols =
        symbolizer.symbolize(&Source::Kernel(kernel), Input::AbsAddr(addresses)).unwrap_or_default();
    let name = |at: usize| {
        let symbol = symbols.get(at).and_then(Symbolized::as_sym);
        symbol.map_or_else(|| KERNEL.to_owned(), |symbol| marked(&symbol.name, "_[k]"))
    };
    (0..addresses.len()).map(|at| vec![name(at)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::maps;

    #[inline(never)]
    fn a_function_of_this_test() -> u64 {
        a_function_of_this_test as fn() -> u64 as usize as u64
    }

    #[test]
    fn every_address_has_a_name() {
        let own = std::process::id();
        let mut images = Images::default();
        let here = a_function_of_this_test();
        let maps = maps::of(own).unwrap();
        let mapped = maps.iter().find(|mapped| (mapped.start..mapped.end).contains(&here)).unwrap();
        let image = images.of(own, mapped).unwrap();
        let offset = here - mapped.start + mapped.offset;
        let addresses = [
            Address::File { image, offset },
            Address::File { image, offset: u64::MAX },
            Address::File { image: 99, offset: 16 },
            Address::Memory { pid: 7, address: 0x1000 },
            Address::Memory { pid: 7, address: 0x5000 },
            Address::Unknown,
            Address::NotKept,
            Address::Kernel(1),
        ];
        let perf_maps = [(7, PerfMap::parse(b"1000 10 handle; a\n"))].into();
        let names = names(addresses.into(), &images, &perf_maps);
        let of = |at: usize| names[&addresses[at]].join(" > ");
        assert!(of(0).contains("a_function_of_this_test"), "{}", of(0));
        assert!(!of(0).contains("::h"), "the hash is left out: {}", of(0));
        assert!(of(1).starts_with('[') && of(1).ends_with("+0xffffffffffffffff]"), "{}", of(1));
        assert_eq!((of(2).as_str(), of(3).as_str()), ("[unknown+0x10]", "handle, a_[j]"));
        assert_eq!((of(4).as_str(), of(5).as_str(), of(6).as_str()), (JIT, UNKNOWN, NOT_KEPT));
        assert!(of(7).ends_with("_[k]"), "{}", of(7));
    }
}
