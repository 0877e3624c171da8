//! The machine and its state during the trials: everything that is known, and a dash for what is not.

use crate::document::Document;
use crate::units;
use model::Findings;
use model::environment::Cap;

type Facts = Vec<(&'static str, String)>;

pub(super) fn document(f: &Findings) -> Document {
    let machine = &f.environment.machine;
    let mut document = Document::default()
        .section("machine", "The machine")
        .texts(hardware(f))
        .heading(3, "During the measurements")
        .texts(conditions(f));
    if !machine.sysctls.is_empty() {
        let value = |value: &Option<String>| units::known(value.as_deref(), str::to_owned);
        let settings = machine.sysctls.iter().map(|(name, own)| (name, value(own)));
        document = document.heading(3, "Kernel settings").texts(settings);
    }
    if let Some(flaws) = &machine.mitigations {
        let flaws = flaws.iter().map(|(name, state)| (name, state.clone()));
        document = document.heading(3, "CPU vulnerabilities").texts(flaws);
    }
    let hash = machine.drome_sha256.iter().map(|hash| format!("The drome binary: SHA-256 `{hash}`"));
    hash.fold(document, Document::remark)
}

fn hardware(f: &Findings) -> Facts {
    let e = &f.environment;
    let (machine, policy) = (&e.machine, &e.machine.frequency);
    let text = |value: &Option<String>| units::known(value.as_deref(), str::to_owned);
    let size = |value: Option<u64>| units::known(value, |n| units::bytes(n as f64));
    let list = |cpus: &Option<Vec<usize>>| {
        units::known(
            cpus.as_deref(),
            |all| if all.is_empty() { "none".to_owned() } else { units::cores(all) },
        )
    };
    let siblings = |all: &Vec<Vec<usize>>| {
        let threads: Vec<String> = all.iter().map(|threads| units::cores(threads)).collect();
        if threads.is_empty() { "none".to_owned() } else { threads.join("; ") }
    };
    let cap = |cap: Option<Cap>, shown: fn(u64) -> String| {
        units::known(cap, |cap| cap.at().map_or_else(|| "unlimited".to_owned(), shown))
    };
    let boost = units::known(policy.boost, |on| if on { "on" } else { "off" }.to_owned());
    let range = policy.min_hz.zip(policy.max_hz);
    let mut facts = vec![
        ("Processor", text(&e.cpu)),
        ("Cores that drome may use", e.cores.to_string()),
        ("Servers on core", servers_on(f)),
        ("Load generator on core", units::cores(&e.client_cpus)),
        ("Cores online", list(&machine.online_cpus)),
        ("Cores isolated", list(&machine.isolated_cpus)),
        ("Threads that share a core", units::known(machine.sibling_cpus.as_ref(), siblings)),
        ("Memory", size(e.memory_bytes)),
        ("Swap", size(machine.swap_bytes)),
        ("Kernel", text(&e.kernel)),
        ("Virtualised by", text(&e.virtualization)),
        ("Frequency driver", text(&policy.driver)),
        ("Governor", text(&policy.governor)),
        ("Frequency allowed", units::known(range, |(low, high)| format!("{} to {}", ghz(low), ghz(high)))),
        ("Boost", boost),
        ("Clock", text(&machine.clock_source)),
        ("Idle cores", text(&crate::machine::idle_cores(e))),
        ("File descriptors, soft limit", units::known(machine.descriptors_soft, units::count)),
        ("File descriptors, hard limit", units::known(machine.descriptors_hard, units::count)),
        ("Limit on CPU time", cap(machine.cgroup_cpu_millicores, |n| format!("{} cores", n as f64 / 1000.0))),
        ("Limit on memory", cap(machine.cgroup_memory_bytes, |n| units::bytes(n as f64))),
    ];
    if let Some(on) = &e.servers_on {
        facts.insert(0, ("Servers", crate::machine::servers_on(on)));
    }
    if !e.idle_cpus.is_empty() {
        facts.push(("CPUs left idle", units::cores(&e.idle_cpus)));
    }
    if !e.core_notes.is_empty() {
        facts.push(("How the cores were divided", e.core_notes.join("; ")));
    }
    facts
}

/// The cores of servers; servers that already ran are not pinned.
fn servers_on(f: &Findings) -> String {
    let are_running = f.race.as_ref().is_some_and(|race| race.running);
    if are_running { "not pinned".to_owned() } else { units::cores(&f.environment.server_cpus) }
}

fn conditions(f: &Findings) -> Facts {
    let c = &f.conditions;
    let share =
        |ppm: Option<u64>| units::known(ppm, |ppm| format!("up to {}", units::percent(ppm as f64 / 1e6)));
    let hz = c.server_hz_min.zip(c.server_hz_max);
    let throttled = units::known(c.throttled_trials, |n| match n {
        0 => "never".to_owned(),
        n => format!("in {} ({})", units::several(n, "start"), c.throttled.join(", ")),
    });
    let finite = |value: Option<f64>| value.filter(|value| value.is_finite());
    vec![
        ("Time taken by the host", share(c.steal_ppm_max)),
        ("Time used by other programs", share(c.others_ppm_max)),
        ("Load average before a heat", units::known(finite(c.load_average_max), |n| format!("up to {n:.2}"))),
        (
            "Frequency of the servers' cores",
            units::known(hz, |(low, high)| format!("{} to {}", ghz(low), ghz(high))),
        ),
        ("Temperature", units::known(finite(c.temperature_c_max), |n| format!("up to {n:.0} °C"))),
        ("Throttled", throttled),
    ]
}

fn ghz(hz: u64) -> String {
    format!("{:.2} GHz", hz as f64 / 1e9)
}
