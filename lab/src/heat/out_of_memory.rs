//! Decides whether the machine's memory or the contender itself is to blame for the end of a server. When memory is used up, the kernel
//! ends a process, and it chooses which: not necessarily one that took more than it should. So while several contenders are alive, such an
//! end says nothing about the contender, and it is started once more with no other alive. Pure.

/// The number of processes that the kernel has ended since boot because memory was used up, by `/proc/vmstat`; `None` if it has no such
/// count (Linux before 4.13).
pub fn kills(vmstat: &str) -> Option<u64> {
    vmstat.lines().find_map(|line| line.strip_prefix("oom_kill ")?.trim().parse().ok())
}

/// Counts the processes that the kernel ended during a heat because memory was used up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutOfMemory {
    /// The kernel's count when it was last read.
    kills: Option<u64>,
    /// The number of kills, while several contenders were alive, that have not yet been matched to the end of a server.
    among_several: u64,
}

/// The cause of a server's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KillCause {
    /// The kernel ended processes because memory ran out, while other contenders were alive, too.
    SharedMemory,
    /// The kernel ended processes because memory ran out, and no other contender was alive.
    OwnMemory,
    /// Another cause, which is not known here.
    Unknown,
}

impl OutOfMemory {
    /// The state at the beginning of a heat.
    pub fn begin(kills: Option<u64>) -> Self {
        Self { kills, among_several: 0 }
    }

    /// The cause of a server's failure, by the kernel's count. `others`: the number of other contenders that were alive until now,
    /// including those that may have ended at the same moment. `may_be_by_the_kernel`: the server ended, and not by a signal such as SIGSEGV.
    pub fn cause(&mut self, kills: Option<u64>, others: usize, may_be_by_the_kernel: bool) -> KillCause {
        let rise = kills.zip(self.kills).map_or(0, |(now, before)| now.saturating_sub(before));
        self.kills = kills.or(self.kills);
        if others > 0 {
            self.among_several = self.among_several.saturating_add(rise);
        }
        if !may_be_by_the_kernel {
            return KillCause::Unknown;
        }
        match (self.among_several.checked_sub(1), rise) {
            (Some(left), _) => {
                self.among_several = left;
                KillCause::SharedMemory
            }
            (None, 1..) => KillCause::OwnMemory,
            (None, 0) => KillCause::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KILLED: bool = true;
    const FAILED_OTHERWISE: bool = false;

    #[test]
    fn the_kernel_counts_kills_in_one_line_of_many() {
        let vmstat = "pgfault 12\noom_kill_other 7\noom_kill 3\nnuma_hit 1\n";
        assert_eq!(kills(vmstat), Some(3));
        for text in ["", "pgfault 12\n", "oom_kill\n", "oom_kill x\n", "oom_kill -1\n"] {
            assert_eq!(kills(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_kill_beside_others_is_the_machines_fault_and_a_kill_alone_its_own() {
        let mut of = OutOfMemory::begin(Some(5));
        assert_eq!(of.cause(Some(5), 2, KILLED), KillCause::Unknown, "the kernel counted no kill");
        assert_eq!(of.cause(Some(6), 2, KILLED), KillCause::SharedMemory);
        assert_eq!(of.cause(Some(6), 1, KILLED), KillCause::Unknown, "one kill, one end");
        assert_eq!(of.cause(Some(7), 1, KILLED), KillCause::SharedMemory);
        assert_eq!(of.cause(Some(8), 0, KILLED), KillCause::OwnMemory);
        assert_eq!(of.cause(Some(8), 0, KILLED), KillCause::Unknown);
        assert_eq!(of.cause(Some(9), 1, KILLED), KillCause::SharedMemory);
    }

    #[test]
    fn two_killed_at_once_are_both_put_down_to_shared_memory_although_one_is_noticed_later() {
        let mut of = OutOfMemory::begin(Some(0));
        assert_eq!(of.cause(Some(2), 1, KILLED), KillCause::SharedMemory);
        assert_eq!(of.cause(Some(2), 0, KILLED), KillCause::SharedMemory);
        assert_eq!(of.cause(Some(3), 0, KILLED), KillCause::OwnMemory, "no other contender was alive");
    }

    #[test]
    fn a_crash_is_not_put_down_to_memory_and_without_a_count_the_cause_is_unknown() {
        let mut of = OutOfMemory::begin(Some(0));
        assert_eq!(of.cause(Some(1), 3, FAILED_OTHERWISE), KillCause::Unknown);
        assert_eq!(of.cause(Some(1), 3, KILLED), KillCause::SharedMemory, "the kill counted with the crash");
        let mut of = OutOfMemory::begin(None);
        assert_eq!(of.cause(None, 3, KILLED), KillCause::Unknown);
        assert_eq!(
            of.cause(Some(9), 3, KILLED),
            KillCause::Unknown,
            "there is no earlier count to compare with"
        );
        assert_eq!(of.cause(Some(10), 3, KILLED), KillCause::SharedMemory);
    }
}
