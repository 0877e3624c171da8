//! What an agent says of the machine that it runs on.

use super::address;
use super::messages::MachineFacts;
use crate::machine::cores::Cores;
use crate::machine::system::System;
use std::fs;

/// Describes this machine for a run in which only servers are here: they may use all of its CPUs, as far as a
/// control group's limit lets them.
pub fn machine() -> MachineFacts {
    let cores = Cores::deal();
    MachineFacts {
        environment: System::here().look(&Cores::of_servers_alone()),
        halves: [cores.client, cores.server],
        boot: boot(),
        address: address::own(),
    }
}

/// Whether an agent runs on this machine or on another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nearness {
    /// On this machine, in the same PID namespace: both sides see the same processes under the same PIDs.
    SameProcesses,
    /// On this machine, but in a container: it sees only some of the processes, under other PIDs.
    Container,
    /// On another machine, as far as is known.
    Elsewhere,
}

/// Where the agent is, by what [`boot`] returned there and here.
pub fn nearness(there: Option<&str>, here: Option<&str>) -> Nearness {
    let machine = |boot: &str| boot.split(' ').next().map(str::to_owned);
    match there.zip(here) {
        Some((there, here)) if there == here => Nearness::SameProcesses,
        Some((there, here)) if machine(there) == machine(here) => Nearness::Container,
        _ => Nearness::Elsewhere,
    }
}

/// Identifies the boot and the PID namespace: two processes that get the same text see the same processes under the same PIDs.
pub fn boot() -> Option<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let pids = fs::read_link("/proc/self/ns/pid").ok()?;
    Some(format!("{} {}", boot.trim(), pids.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_container_on_this_machine_is_no_other_machine() {
        let here = Some("b1 pid:[1]");
        assert_eq!(nearness(here, here), Nearness::SameProcesses);
        assert_eq!(nearness(Some("b1 pid:[2]"), here), Nearness::Container);
        assert_eq!(nearness(Some("b2 pid:[1]"), here), Nearness::Elsewhere);
        assert_eq!((nearness(None, here), nearness(None, None)), (Nearness::Elsewhere, Nearness::Elsewhere));
    }
}
