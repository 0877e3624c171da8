//! One line about the machine and one about its state during the heats. Unknown values are left out here; the JSON has all
//! of them.

use crate::units;
use model::environment::{Cap, ConditionsRange};
use model::{Environment, Findings, Origin};
use model::{Network, ServersOn};

/// The CPU, the kernel, the hypervisor and the version of drome.
pub fn name(e: &Environment) -> String {
    let names = [e.cpu.clone(), e.kernel.as_ref().map(|k| format!("Linux {k}")), e.virtualization.clone()];
    let names = names.into_iter().flatten().collect::<Vec<_>>().join(", ");
    format!("{}; drome {}", if names.is_empty() { "an unknown machine" } else { &names }, e.drome)
}

/// Where a run comes from that another machine measured; `None`: this machine did.
pub fn origin(f: &Findings) -> Option<String> {
    let Origin { machine, pulled_at } = f.origin.as_ref()?;
    let day = pulled_at.get(..10).unwrap_or(pulled_at);
    Some(format!("measured on another machine, {machine}; pulled on {day}"))
}

/// The other machine that servers ran on, if there was one.
pub fn of_servers(e: &Environment) -> Option<String> {
    e.servers_on.as_deref().map(servers_on)
}

/// The other machine that servers ran on, and what the network to it carries.
pub fn servers_on(on: &ServersOn) -> String {
    let what = if on.is_this_machine { "this machine, too".to_owned() } else { name(&on.environment) };
    let network = on.network.as_ref().map_or_else(|| "network: not measured".to_owned(), network);
    format!("servers on {} ({}): {what}; {network}", on.name, on.address)
}

/// What a network carries.
fn network(n: &Network) -> String {
    let ms = |ns: u64| format!("{:.3} ms", ns as f64 / 1e6);
    let share = |ppm: u64| format!("{:.2} %", ppm as f64 / 1e4);
    let round_trip = n.round_trip_ns.map(|ns| format!("round trip {}", ms(ns)));
    let p99 = n.round_trip_p99_ns.map(|ns| format!("p99 {}", ms(ns)));
    let tcp = n.tcp_to_servers_bytes_per_s.zip(n.tcp_from_servers_bytes_per_s).map(|(to, from)| {
        format!("TCP carries {}/s there and {}/s back", units::bytes(to as f64), units::bytes(from as f64))
    });
    let packets = n.packets_per_s.map(|n| format!("{n} packets/s"));
    let both_ways = n.lost_to_servers_ppm.zip(n.lost_from_servers_ppm);
    let losses = both_ways.map(|(to, from)| format!("{} lost there and {} back", share(to), share(from)));
    let known = joined([round_trip, p99, tcp, packets, losses]);
    format!("network: {}", known.unwrap_or_else(|| "unknown".to_owned()))
}

/// How the machine is configured.
pub fn setup(e: &Environment) -> Option<String> {
    let (machine, policy) = (&e.machine, &e.machine.frequency);
    let governor = policy.governor.as_ref().map(|governor| match &policy.driver {
        Some(driver) => format!("governor {governor} ({driver})"),
        None => format!("governor {governor}"),
    });
    let boost = policy.boost.map(|on| if on { "boost on" } else { "boost off" }.to_owned());
    let cap = |cap: Option<Cap>| cap.and_then(Cap::at);
    let cpu = cap(machine.cgroup_cpu_millicores)
        .map(|n| format!("CPU time limited to {} cores", n as f64 / 1000.0));
    let memory = e.memory_bytes.map(|n| format!("{} of memory", units::bytes(n as f64)));
    let memory_cap =
        cap(machine.cgroup_memory_bytes).map(|n| format!("limited to {}", units::bytes(n as f64)));
    let clock = machine.clock_source.as_ref().map(|clock| format!("clock {clock}"));
    let open = machine.mitigations.as_ref().map(|all| {
        let count = |word: &str| all.values().filter(|state| state.starts_with(word)).count();
        format!("CPU vulnerabilities: {} mitigated, {} open", count("Mitigation"), count("Vulnerable"))
    });
    joined([governor, boost, idle_cores(e), cpu, memory, memory_cap, clock, open])
}

/// What the servers' cores do while they have nothing to do.
fn idle_cores(e: &Environment) -> Option<String> {
    let stay_awake = e.of_servers().machine.cores_stay_awake?;
    let told = if stay_awake {
        "idle cores stay awake"
    } else {
        "idle cores may sleep, and latency includes their waking"
    };
    Some(told.to_owned())
}

/// The state of the machine during the heats.
pub fn conditions(c: &ConditionsRange) -> Option<String> {
    let share = |ppm: u64| units::percent(ppm as f64 / 1e6);
    let steal = c.steal_ppm_max.map(|ppm| format!("up to {} taken by the host", share(ppm)));
    let others = c.others_ppm_max.map(|ppm| format!("up to {} used by other programs", share(ppm)));
    let hz = c.server_hz_min.zip(c.server_hz_max).map(|(low, high)| {
        let ghz = |hz: u64| format!("{:.2}", hz as f64 / 1e9);
        if low == high { format!("{} GHz", ghz(low)) } else { format!("{} to {} GHz", ghz(low), ghz(high)) }
    });
    let heat = c.temperature_c_max.map(|celsius| format!("up to {celsius:.0} °C"));
    let throttled = c.throttled_trials.map(|n| match n {
        0 => "never throttled".to_owned(),
        n => format!("throttled in {} ({})", units::several(n, "measurement"), c.throttled.join(", ")),
    });
    joined([steal, others, hz, heat, throttled]).map(|words| format!("during the measurements: {words}"))
}

fn joined<const N: usize>(parts: [Option<String>; N]) -> Option<String> {
    let known: Vec<String> = parts.into_iter().flatten().collect();
    (!known.is_empty()).then(|| known.join(", "))
}
