//! Describes the machine of a run, as far as the system's files say. What can't be read is unknown.

#[cfg(test)]
mod compared;
mod conditions;
#[cfg(any(test, feature = "example"))]
#[allow(clippy::unwrap_used, reason = "tests use it")]
pub mod fixture;
mod machine;

pub use conditions::ConditionsWatch;

use crate::machine::cores::Cores;
use crate::machine::system::System;
use model::Environment;

impl System {
    /// Describes the machine; `cores` are those that drome divides.
    pub fn look(&self, cores: &Cores) -> Environment {
        let allowed = cores.allowed();
        Environment {
            drome: env!("CARGO_PKG_VERSION").to_owned(),
            hub: Some(model::heat::hub_work()),
            kernel: self.read("proc/sys/kernel/osrelease"),
            cpu: self.cpu_model(),
            cores: allowed.len(),
            server_cpus: cores.server.clone(),
            client_cpus: cores.client.clone(),
            idle_cpus: cores.idle.clone(),
            core_notes: cores.notes.clone(),
            memory_bytes: self.memory("MemTotal"),
            virtualization: self.virtualization(),
            machine: self.machine(&allowed, cores.may_sleep),
            servers_on: None,
        }
    }

    /// The name of the processor. Boards tell their model instead; some ARM kernels name the architecture beside it, which says less.
    fn cpu_model(&self) -> Option<String> {
        let text = self.read("proc/cpuinfo").unwrap_or_default();
        let field = |name: &str| {
            let line =
                text.lines().find(|line| line.split(':').next().is_some_and(|key| key.trim() == name))?;
            Some(line.split_once(':')?.1.trim().to_owned()).filter(|value| !value.is_empty())
        };
        let device_tree = || self.read("proc/device-tree/model");
        let name = field("model name");
        let own_name = name.clone().filter(|name| !name.starts_with("ARMv"));
        field("Model").or(own_name).or_else(device_tree).or(name)
    }

    /// The hypervisor, if there is one: x86 has a flag for it; other machines only tell by their product name.
    fn virtualization(&self) -> Option<String> {
        let cpuinfo = self.read("proc/cpuinfo").unwrap_or_default();
        let is_flagged = cpuinfo.lines().any(|l| l.starts_with("flags") && l.contains(" hypervisor"));
        let product = || self.read("sys/class/dmi/id/product_name");
        let kind = self.read("sys/hypervisor/type");
        if is_flagged {
            return Some(product().or(kind).unwrap_or_else(|| "a hypervisor".to_owned()));
        }
        let vendor = self.read("sys/class/dmi/id/sys_vendor").unwrap_or_default();
        let is_virtual = VIRTUAL_VENDORS.iter().any(|name| vendor.contains(name));
        kind.or_else(|| is_virtual.then(|| product().unwrap_or(vendor)))
    }
}

/// Vendors of virtual machines.
const VIRTUAL_VENDORS: [&str; 5] = ["QEMU", "VMware", "innotek", "Xen", "Parallels"];

#[cfg(test)]
mod boards;
#[cfg(test)]
mod tests;
