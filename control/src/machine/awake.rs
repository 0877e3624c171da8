//! Keeps the cores awake. A core with nothing to do sleeps, and to wake it can take as long as a fast server takes for an answer, and longer
//! where a host has given the core to somebody else meanwhile (docs/decisions.md has figures). That time is the machine's, not the server's.

use crate::machine::cores::Cores;
use crate::machine::system::System;
use std::fs::File;
use std::io::{ErrorKind, Write};

/// The kernel's file for it. For as long as a process has it open, no core may enter a state that takes longer to leave than the number of
/// microseconds that was written into it (the kernel's documentation, `power/pm_qos_interface`).
const LATENCY: &str = "dev/cpu_dma_latency";

/// Keeps all cores of a machine awake until it is dropped, and no longer than this process lives.
#[derive(Debug)]
pub struct Awake {
    _open: File,
}

impl Cores {
    /// Keeps the cores of this machine awake, unless the user wants them to sleep or the system does not allow it.
    pub fn keep_awake(&self) -> Option<Awake> {
        if self.may_sleep { None } else { System::here().keep_awake() }
    }
}

impl System {
    /// Keeps the cores awake; `None` where the system does not allow it.
    fn keep_awake(&self) -> Option<Awake> {
        let mut file = File::options().write(true).open(self.path(LATENCY)).ok()?;
        file.write_all(&0_i32.to_ne_bytes()).ok()?;
        Some(Awake { _open: file })
    }

    /// Whether drome may keep the cores awake; `None`: unknown, because the system has no such file.
    pub(super) fn may_keep_awake(&self) -> Option<bool> {
        match File::options().write(true).open(self.path(LATENCY)) {
            Ok(_) => Some(true),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(_) => Some(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::machine::environment::fixture::{self, Tree};

    #[test]
    fn a_latency_of_zero_is_asked_for_where_the_system_has_the_file() {
        let tree = fixture::sound();
        assert_eq!(tree.system().may_keep_awake(), Some(true));
        let awake = tree.system().keep_awake().unwrap();
        let asked = std::fs::read(tree.system().path("dev/cpu_dma_latency")).unwrap();
        assert_eq!(asked, 0_i32.to_ne_bytes());
        drop(awake);
        let none = Tree::empty();
        assert!(none.system().keep_awake().is_none() && none.system().may_keep_awake().is_none());
    }

    #[test]
    fn a_file_that_can_t_be_written_is_known_not_to_help() {
        // Not by its permissions, which do not bind root.
        let tree = Tree::empty().with(&[("dev/cpu_dma_latency/folder", "")]);
        assert_eq!(tree.system().may_keep_awake(), Some(false));
        assert!(tree.system().keep_awake().is_none());
    }
}
