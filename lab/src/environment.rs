//! The machine that a run is on, as far as it tells.

use crate::board::Cores;
use model::Environment;
use procfs::Current;

/// Looks at the machine.
pub fn look(cores: &Cores) -> Environment {
    Environment {
        drome: env!("CARGO_PKG_VERSION").to_owned(),
        kernel: rustix::system::uname().release().to_str().ok().map(str::to_owned),
        cpu: cpu_model(),
        cores: net::cpu::allowed().len(),
        server_cpus: cores.server.clone(),
        client_cpus: cores.client.clone(),
        memory_bytes: procfs::Meminfo::current().ok().map(|m| m.mem_total),
        virtualization: virtualization(),
    }
}

/// What the processor calls itself; ARM boards tell their model instead.
fn cpu_model() -> Option<String> {
    let text = read("/proc/cpuinfo")?;
    let field = |name: &str| {
        let line = text.lines().find(|line| line.split(':').next().is_some_and(|key| key.trim() == name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let device_tree = || read("/proc/device-tree/model").map(|s| s.trim_matches('\0').to_owned());
    field("model name").or_else(|| field("Model")).or_else(device_tree)
}

/// The hypervisor, where there is one.
pub fn virtualization() -> Option<String> {
    let hypervisor =
        read("/proc/cpuinfo")?.lines().any(|l| l.starts_with("flags") && l.contains(" hypervisor"));
    let product = read("/sys/class/dmi/id/product_name").or_else(|| read("/sys/hypervisor/type"));
    hypervisor.then(|| product.unwrap_or_else(|| "a hypervisor".to_owned()))
}

/// A small file of the system's, trimmed; `None` where it is not there or says nothing.
pub fn read(path: &str) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}
