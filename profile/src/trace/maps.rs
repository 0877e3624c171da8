//! The code that a process has mapped, from `/proc/PID/maps`.

use super::record::Mapped;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// The executable mappings of a process; `None` if it has ended or may not be looked at.
pub fn of(pid: u32) -> Option<Vec<Mapped>> {
    std::fs::read(format!("/proc/{pid}/maps")).ok().map(|text| parse(&text))
}

/// Parses the executable mappings; a line that can't be read is left out.
pub fn parse(text: &[u8]) -> Vec<Mapped> {
    text.split(|byte| *byte == b'\n').filter_map(line).collect()
}

/// For example `7f5c1000-7f5c2000 r-xp 00001000 08:01 1234       /usr/lib/libc.so.6`.
fn line(line: &[u8]) -> Option<Mapped> {
    let mut rest = line;
    let (range, permissions, offset) = (word(&mut rest)?, word(&mut rest)?, word(&mut rest)?);
    let (device, inode) = (word(&mut rest)?, word(&mut rest)?);
    if !permissions.contains('x') {
        return None;
    }
    let (start, end) = range.split_once('-')?;
    let (major, minor) = device.split_once(':')?;
    let hex = |digits: &str| u64::from_str_radix(digits, 16).ok();
    let number = |digits: &str| u32::from_str_radix(digits, 16).ok();
    Some(Mapped {
        start: hex(start)?,
        end: hex(end)?,
        offset: hex(offset)?,
        device: (number(major)?, number(minor)?),
        inode: inode.parse().ok()?,
        path: PathBuf::from(OsStr::from_bytes(rest.trim_ascii_start())),
    })
    .filter(|mapped| mapped.start < mapped.end)
}

/// Takes the word at the front.
fn word<'a>(rest: &mut &'a [u8]) -> Option<&'a str> {
    let text = rest.trim_ascii_start();
    let end = text.iter().position(|byte| *byte == b' ').unwrap_or(text.len());
    let (word, after) = text.split_at(end);
    *rest = after;
    std::str::from_utf8(word).ok().filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executable_mappings_are_read() {
        let text = b"55d0c000-55d0d000 r--p 00000000 08:01 12 /usr/bin/a b\n\
                     55d0d000-55d0e000 r-xp 00001000 08:1f 12                 /usr/bin/a b (deleted)\n\
                     7f000000-7f001000 rwxp 00000000 00:00 0 \n\
                     7ffd1000-7ffd3000 r-xp 00000000 00:00 0                  [vdso]\n\
                     junk\n\
                     2-1 r-xp 0 00:00 0\n\
                     \xff-2 r-xp 0 00:00 0\n";
        let maps = parse(text);
        let paths: Vec<&str> = maps.iter().filter_map(|mapped| mapped.path.to_str()).collect();
        assert_eq!(paths, ["/usr/bin/a b (deleted)", "", "[vdso]"]);
        let first = &maps[0];
        assert_eq!((first.start, first.end, first.offset), (0x55d0_d000, 0x55d0_e000, 0x1000));
        assert_eq!((first.device, first.inode), ((8, 0x1f), 12));
    }

    #[test]
    fn this_process_has_code() {
        let own = of(std::process::id()).unwrap();
        let here = this_process_has_code as fn() as usize as u64;
        assert!(own.iter().any(|mapped| (mapped.start..mapped.end).contains(&here)), "{own:?}");
        assert_eq!(of(u32::MAX), None);
    }
}
