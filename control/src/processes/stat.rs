//! Reads the kernel's account of a process, `/proc/PID/stat`, and lists all processes.

use crate::machine::cpu_time::tick_ns;
use std::io::Read;

/// The fields of `/proc/PID/stat` that are needed here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    pub pid: i32,
    /// `Z` and `X`: it has ended.
    pub state: char,
    pub parent: i32,
    pub flags: u32,
    /// Its CPU time, in ticks: the process clock is more exact.
    pub own_ns: u64,
    /// CPU time of its children that ended, and of theirs.
    pub children_ns: u64,
    pub threads: u64,
    /// When it was started, in ticks since boot.
    pub started_ticks: u64,
    pub virtual_bytes: u64,
    pub rss_pages: u64,
    /// The core that it last ran on; unknown of one with several threads.
    pub cpu: Option<usize>,
}

impl Stat {
    /// Parses the fields of `proc_pid_stat(5)`, which are counted from 1. A program's name, the second, is in parentheses and may have
    /// anything in it.
    pub fn of(text: &str) -> Option<Self> {
        let fields: Vec<&str> = text.rsplit_once(')')?.1.split_ascii_whitespace().collect();
        let field = |number: usize| fields.get(number - 3).copied();
        let count = |number| field(number)?.parse::<i64>().ok().map(|count| count.max(0) as u64);
        // The time in user mode and, in the field after it, that in the kernel.
        let ns = |at| Some(count(at)?.saturating_add(count(at + 1)?).saturating_mul(tick_ns()));
        let threads = count(20)?;
        Some(Self {
            pid: text.split_once(' ')?.0.parse().ok()?,
            state: field(3)?.chars().next()?,
            parent: field(4)?.parse().ok()?,
            flags: field(9)?.parse().ok()?,
            own_ns: ns(14)?,
            children_ns: ns(16)?,
            threads,
            started_ticks: count(22)?,
            // May be more than fits into an `i64`.
            virtual_bytes: field(23)?.parse().ok()?,
            rss_pages: count(24)?,
            cpu: field(39).filter(|_| threads == 1).and_then(|cpu| cpu.parse().ok()),
        })
    }

    /// Whether the process has not ended.
    pub fn is_alive(&self) -> bool {
        !matches!(self.state, 'Z' | 'X')
    }
}

/// The account of a process; `None`: it is gone.
pub fn stat(pid: i32) -> Option<Stat> {
    let mut text = [0_u8; 1024];
    let n = std::fs::File::open(format!("/proc/{pid}/stat")).ok()?.read(&mut text).ok()?;
    Stat::of(&String::from_utf8_lossy(text.get(..n)?))
}

/// All processes that can be seen.
pub fn pids() -> Vec<i32> {
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_kernel_s_is_read_whatever_the_program_is_called() {
        let rest =
            "S 7 1 1 0 -1 4194560 9 8 7 6 5 4 3 2 20 0 1 0 99 1000 10 0 0 0 0 0 0 0 0 0 0 0 0 0 17 3 0 0";
        let stat = Stat::of(&format!("42 (a) S 1 (b) {rest}")).unwrap();
        let expected = Stat {
            pid: 42,
            state: 'S',
            parent: 7,
            flags: 4_194_560,
            own_ns: 9 * tick_ns(),
            children_ns: 5 * tick_ns(),
            threads: 1,
            started_ticks: 99,
            virtual_bytes: 1000,
            rss_pages: 10,
            cpu: Some(3),
        };
        assert_eq!(stat, expected);
        let threads = Stat::of(&format!("42 (a) {}", rest.replace(" 20 0 1 0 ", " 20 0 4 0 "))).unwrap();
        assert_eq!((threads.parent, threads.cpu), (7, None), "where its threads ran is not known");
        for odd in ["", "42", "42 (a)", "42 (a) S x", "42 (a) S 7 1 1 0 -1 y"] {
            assert_eq!(Stat::of(odd), None, "{odd}");
        }
    }

    #[test]
    fn this_process_is_among_all_and_its_account_is_its_own() {
        let own = std::process::id() as i32;
        assert!(pids().contains(&own));
        let stat = stat(own).unwrap();
        assert!(stat.pid == own && stat.is_alive() && stat.rss_pages > 0 && stat.threads > 0, "{stat:?}");
    }
}
