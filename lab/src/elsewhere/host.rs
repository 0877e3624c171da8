//! What an agent says of the machine that it runs on.

use super::address;
use super::messages::Machine;
use crate::machine::cores::Cores;
use crate::machine::system::System;
use std::fs;

/// Describes this machine as one for servers, which may use all CPUs there.
pub fn machine() -> Machine {
    let cores = Cores::deal();
    let allowed = cores.allowed();
    let of_servers = Cores { server: allowed, ..Cores::default() };
    Machine {
        environment: System::here().look(&of_servers),
        halves: [cores.client, cores.server],
        boot: boot(),
        address: address::own(),
    }
}

/// Two processes with the same text see the same processes, by the same numbers.
pub fn boot() -> Option<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let pids = fs::read_link("/proc/self/ns/pid").ok()?;
    Some(format!("{} {}", boot.trim(), pids.display()))
}
