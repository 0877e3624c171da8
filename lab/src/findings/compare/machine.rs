//! The differences of machine and work between two runs: those that decide the figures, so that the runs are compared only on
//! request, and those that are only reported, because the correction for the machine's speed removes most of their effect.

use crate::machine::cores::SLEEPS;
use model::Environment;
use model::environment::Cap;
use model::findings::{ContenderFindings, Findings};
use model::origin::HERE;
use std::collections::{BTreeMap, BTreeSet};

/// Two kernels of one machine reserve different parts of its memory, but no more than this share.
const SAME_MEMORY: f64 = 0.05;

/// What is said of a difference that does not keep two runs from being compared.
const CORRECTED: &str = "the correction for the machine's speed removes most of its effect";

/// The differences for which a comparison is refused, and those that are only reported.
pub(super) fn differences(old: &Findings, new: &Findings) -> (Vec<String>, Vec<String>) {
    let (a, b) = (&old.environment, &new.environment);
    let on_several = [old, new].iter().any(|run| several(run).is_some());
    let mut unequal = if on_several { kinds_differ(old, new) } else { hardware(a, b) };
    unequal.extend(other_machine(a, b));
    unequal.extend(drome(a, b));
    let (before, now) = (way(old), way(new));
    if before != now {
        unequal.push(another("way of measuring", before, now));
    }
    for (name, digest) in &new.workloads {
        if let Some(before) = old.workloads.get(name).filter(|before| *before != digest) {
            unequal.push(another(&format!("body for the workload {name}"), &short(before), &short(digest)));
        }
    }
    let mut notes: Vec<String> = machines(old, new).into_iter().collect();
    if !on_several {
        notes.extend(settings(a, b));
    }
    notes.extend(programs(old, new));
    (unequal, notes)
}

/// Says that two runs are from machines of different names. This is only reported: machines of one kind differ less than a machine does
/// from day to day, and for a difference of kind the comparison is refused.
fn machines(old: &Findings, new: &Findings) -> Option<String> {
    let [before, now] =
        [old, new].map(|run| run.origin.as_ref().map_or(HERE, |origin| origin.machine.as_str()));
    (before != now).then(|| format!("{}; {CORRECTED}", another("machine", before, now)))
}

/// How a run was measured.
fn way(findings: &Findings) -> &'static str {
    if several(findings).is_some() { "heats on several machines" } else { "heats" }
}

/// The kinds of the machines of a run that several measured, each kind once; `None`: one machine measured all of it. The environment of
/// a run on several machines is that of the machine that planned it, and says nothing about them.
pub(crate) fn several(findings: &Findings) -> Option<String> {
    let compared = findings.cells.iter().filter_map(|cell| cell.in_heats.machines.as_ref());
    let machines = compared.flat_map(|all| &all.machines);
    let kinds: BTreeSet<String> = machines.map(|one| kind(one.cpu.as_deref(), one.cores)).collect();
    (!kinds.is_empty()).then(|| kinds.into_iter().collect::<Vec<_>>().join(" and "))
}

/// The kinds of the machines of a run, also where it is one machine.
pub(crate) fn kinds(findings: &Findings) -> String {
    let own = || {
        let servers = findings.environment.of_servers();
        kind(servers.cpu.as_deref(), servers.cores)
    };
    several(findings).unwrap_or_else(own)
}

/// One kind of machine, in words.
pub(crate) fn kind(cpu: Option<&str>, cores: usize) -> String {
    let plural = if cores == 1 { "" } else { "s" };
    format!("{}, {cores} core{plural}", cpu.unwrap_or("unknown processor"))
}

/// Says that the machines of two runs, of which several measured at least one, are of different kinds.
fn kinds_differ(old: &Findings, new: &Findings) -> Vec<String> {
    let (before, now) = (kinds(old), kinds(new));
    if before == now { Vec::new() } else { vec![another("kinds of machines", &before, &now)] }
}

/// The differences that make trials of one run unequal. Between two runs ([`differences`]) the correction for the machine's speed covers
/// another release of the kernel; within a run nothing does.
pub(crate) fn changes(then: &Environment, now: &Environment) -> Vec<String> {
    let mut changes = hardware(then, now);
    changes.extend(other_machine(then, now));
    if let (Some(then), Some(now)) = (&then.servers_on, &now.servers_on) {
        changes.extend(kernel_of_servers(&then.environment, &now.environment));
    }
    changes.extend(drome(then, now));
    if let (Some(old), Some(new)) = (&then.kernel, &now.kernel)
        && old != new
        && major(then) == major(now)
    {
        changes.push(another("kernel", old, new));
    }
    changes
}

/// The differences of where the servers were: on the same machine as the load generator or on another one, and on which.
fn other_machine(a: &Environment, b: &Environment) -> Vec<String> {
    match (&a.servers_on, &b.servers_on) {
        (None, None) => Vec::new(),
        (Some(old), Some(new)) => {
            let mut unequal = Vec::new();
            if (&old.host, &old.arch) != (&new.host, &new.arch) {
                unequal.push(another("machine of the servers", &old.host, &new.host));
            }
            let of_servers = |why: String| format!("the servers' machine: {why}");
            unequal.extend(hardware(&old.environment, &new.environment).into_iter().map(of_servers));
            unequal
        }
        (Some(old), None) => vec![another("machine of the servers", &old.host, "the load generator's own")],
        (None, Some(new)) => vec![another("machine of the servers", "the load generator's own", &new.host)],
    }
}

/// Says that the servers' machine has another kernel now.
fn kernel_of_servers(then: &Environment, now: &Environment) -> Option<String> {
    let (old, new) = (then.kernel.as_deref()?, now.kernel.as_deref()?);
    (old != new).then(|| another("kernel of the servers' machine", old, new))
}

/// The differences that make it another machine, where the reference is not slower by the same share as every server.
fn hardware(a: &Environment, b: &Environment) -> Vec<String> {
    let mut unequal = Vec::new();
    let mut differ = |what: &str, old: String, new: String| {
        if old != new {
            unequal.push(another(what, &old, &new));
        }
    };
    let known = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".to_owned());
    differ("processor", known(&a.cpu), known(&b.cpu));
    differ("number of cores", a.cores.to_string(), b.cores.to_string());
    differ("hypervisor", known(&a.virtualization), known(&b.virtualization));
    differ("set of server cores", list(&a.server_cpus), list(&b.server_cpus));
    differ("set of client cores", list(&a.client_cpus), list(&b.client_cpus));
    let waits = |e: &Environment| {
        let sleeps = e.core_notes.iter().any(|note| note == SLEEPS);
        if sleeps { "sleeping" } else { "polling" }.to_owned()
    };
    differ("way in which the load generator waits", waits(a), waits(b));
    if let (Some(old), Some(new)) = (a.machine.cores_stay_awake, b.machine.cores_stay_awake) {
        let state = |awake| if awake { "awake" } else { "asleep" }.to_owned();
        differ("state of idle cores", state(old), state(new));
    }
    if let (Some(old), Some(new)) = (a.machine.cgroup_cpu_millicores, b.machine.cgroup_cpu_millicores) {
        differ("CPU limit", cap(old), cap(new));
    }
    if let (Some(old), Some(new)) = (a.memory_bytes, b.memory_bytes)
        && old.abs_diff(new) as f64 > SAME_MEMORY * old.max(new) as f64
    {
        differ("amount of memory", format!("{} MiB", old >> 20), format!("{} MiB", new >> 20));
    }
    if let (Some(old), Some(new)) = (major(a), major(b)) {
        differ("major kernel version", old.to_owned(), new.to_owned());
    }
    unequal
}

/// The difference of the builds of drome. The reference and the load generator are parts of drome and of every figure, and they affect
/// each server differently. What an older version did not record is listed among the settings.
pub(crate) fn drome(a: &Environment, b: &Environment) -> Option<String> {
    if a.drome != b.drome {
        return Some(another("version of drome", &a.drome, &b.drome));
    }
    let (old, new) = (a.machine.drome_sha256.as_deref()?, b.machine.drome_sha256.as_deref()?);
    (old != new).then(|| another("build of drome", &short(old), &short(new)))
}

/// The differences in how the same machine was set up.
fn settings(old: &Environment, new: &Environment) -> Vec<String> {
    let (before, now) = (&old.machine, &new.machine);
    let (mut notes, mut unknown) = (Vec::new(), Vec::new());
    if before.drome_sha256.is_some() != now.drome_sha256.is_some() {
        unknown.push("build of drome".to_owned());
    }
    if before.cores_stay_awake.is_some() != now.cores_stay_awake.is_some() {
        unknown.push("state of idle cores".to_owned());
    }
    let mut tell = |what: &str, old: Option<String>, new: Option<String>| match (old, new) {
        (Some(old), Some(new)) if old != new => {
            notes.push(format!("{}; {CORRECTED}", another(what, &old, &new)));
        }
        (None, Some(_)) | (Some(_), None) => unknown.push(what.to_owned()),
        _ => {}
    };
    if major(old) == major(new) {
        tell("kernel", old.kernel.clone(), new.kernel.clone());
    }
    let (was, is) = (&before.frequency, &now.frequency);
    let number = |n: Option<u64>| n.map(|n| n.to_string());
    let on = |flag: Option<bool>| flag.map(|on| if on { "on" } else { "off" }.to_owned());
    tell("frequency governor", was.governor.clone(), is.governor.clone());
    tell("frequency driver", was.driver.clone(), is.driver.clone());
    tell("lowest frequency (Hz)", number(was.min_hz), number(is.min_hz));
    tell("highest frequency (Hz)", number(was.max_hz), number(is.max_hz));
    tell("frequency boost", on(was.boost), on(is.boost));
    tell("clock source", before.clock_source.clone(), now.clock_source.clone());
    tell("memory limit", before.cgroup_memory_bytes.map(cap), now.cgroup_memory_bytes.map(cap));
    tell("descriptor limit", number(before.descriptors_hard), number(now.descriptors_hard));
    tell(
        "set of isolated cores",
        before.isolated_cpus.as_deref().map(list),
        now.isolated_cpus.as_deref().map(list),
    );
    let threads = |all: &Vec<Vec<usize>>| all.iter().map(|core| list(core)).collect::<Vec<_>>().join(" ");
    tell(
        "pairing of hardware threads",
        before.sibling_cpus.as_ref().map(threads),
        now.sibling_cpus.as_ref().map(threads),
    );
    for (name, old, new) in both(before.mitigations.as_ref(), now.mitigations.as_ref()) {
        tell(&format!("mitigation of {name}"), Some(old), Some(new));
    }
    for (name, new) in &now.sysctls {
        if let Some(old) = before.sysctls.get(name) {
            tell(name, old.clone(), new.clone());
        }
    }
    if before.mitigations.is_some() != now.mitigations.is_some() {
        unknown.push("mitigations".to_owned());
    }
    if before.sysctls.is_empty() != now.sysctls.is_empty() {
        unknown.push("kernel settings".to_owned());
    }
    if !unknown.is_empty() {
        notes.push(format!(
            "known for one of the runs only, so they can't be compared: {}",
            unknown.join(", ")
        ));
    }
    notes
}

/// The contenders whose sources differ, or whose program differs although the version is the same.
fn programs(old: &Findings, new: &Findings) -> Vec<String> {
    let all = |findings: &Findings| -> BTreeMap<String, ContenderFindings> {
        let contenders = findings.cells.iter().flat_map(|cell| &cell.contenders);
        contenders.map(|c| (c.name.clone(), c.clone())).collect()
    };
    let (before, now) = (all(old), all(new));
    let mut notes = Vec::new();
    for (name, new) in &now {
        let Some(old) = before.get(name) else { continue };
        if let (Some(a), Some(b)) = (&old.ran.source_sha256, &new.ran.source_sha256)
            && a != b
        {
            notes.push(format!("{}: its sources, declaration or command have changed", new.title));
        }
        let digests = |c: &ContenderFindings| -> Vec<String> {
            c.ran.executables.iter().filter_map(|e| e.sha256.clone()).collect()
        };
        let (a, b) = (digests(old), digests(new));
        if !a.is_empty() && !b.is_empty() && a != b && old.version == new.version {
            let although = new.version.as_ref().map_or("", |_| ", although its version is the same");
            notes.push(format!("{}: its program has changed{although}", new.title));
        }
    }
    notes
}

/// The entries that both have, with both values.
fn both(
    old: Option<&BTreeMap<String, String>>,
    new: Option<&BTreeMap<String, String>>,
) -> Vec<(String, String, String)> {
    let (Some(old), Some(new)) = (old, new) else { return Vec::new() };
    old.iter().filter_map(|(name, a)| Some((name.clone(), a.clone(), new.get(name)?.clone()))).collect()
}

fn another(what: &str, old: &str, new: &str) -> String {
    format!("different {what} ({old} then, {new} now)")
}

fn major(environment: &Environment) -> Option<&str> {
    environment.kernel.as_deref()?.split('.').next()
}

fn cap(cap: Cap) -> String {
    cap.at().map_or("unlimited".to_owned(), |n| n.to_string())
}

fn list(cpus: &[usize]) -> String {
    cpus.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

fn short(digest: &str) -> String {
    digest.chars().take(12).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;
    use crate::findings::compare::compare;
    use crate::heat::example as in_heats;
    use crate::machine::cores::Cores;
    use crate::machine::environment::fixture::{self, Tree};

    fn on(tree: &Tree, cores: &Cores) -> Findings {
        let mut run = example::run(&["a"]);
        run.environment = tree.system().look(cores);
        run.contenders.get_mut("a").unwrap().source_sha256 = Some("aa".to_owned());
        in_heats::findings(&run, &[], None)
    }

    fn four(tree: &Tree) -> Findings {
        on(tree, &fixture::four())
    }

    #[test]
    fn the_same_machine_differs_in_nothing() {
        let all = [
            fixture::sound(),
            fixture::laptop(),
            fixture::raspberry_pi(),
            fixture::container(),
            Tree::empty(),
        ];
        for tree in all {
            assert_eq!(differences(&four(&tree), &four(&tree)), (vec![], vec![]));
        }
    }

    #[test]
    fn another_machine_refuses() {
        let old = four(&fixture::sound());
        let refused = |new: &Findings| differences(&old, new).0;
        assert!(
            refused(&four(&fixture::raspberry_pi()))[0]
                .starts_with("different processor (A processor then, Rasp")
        );
        assert!(
            refused(&four(&fixture::virtual_machine()))[0].contains("hypervisor (unknown then, KVM now)")
        );
        assert_eq!(refused(&four(&fixture::container())), ["different CPU limit (unlimited then, 1500 now)"]);
        let fewer = on(&fixture::sound(), &fixture::cores(&[0], &[1]));
        assert!(refused(&fewer)[0].contains("number of cores (4 then, 2 now)"));
        let mut asleep = fixture::four();
        asleep.notes.push(SLEEPS.to_owned());
        let waits = "different way in which the load generator waits (polling then, sleeping now)";
        assert_eq!(refused(&on(&fixture::sound(), &asleep)), [waits]);
        let asleep = Cores { may_sleep: true, ..fixture::four() };
        let idles = "different state of idle cores (awake then, asleep now)";
        assert_eq!(refused(&on(&fixture::sound(), &asleep)), [idles]);
        let meminfo =
            |kb: u64| four(&fixture::sound().with(&[("proc/meminfo", &format!("MemTotal: {kb} kB"))]));
        assert_eq!(
            refused(&meminfo(8_000_000)),
            ["different amount of memory (15625 MiB then, 7812 MiB now)"]
        );
        assert!(refused(&meminfo(15_900_000)).is_empty(), "as another kernel keeps it back");
        let kernel = |release: &str| four(&fixture::sound().with(&[("proc/sys/kernel/osrelease", release)]));
        assert_eq!(refused(&kernel("7.0.1")), ["different major kernel version (6 then, 7 now)"]);
        assert!(refused(&kernel("6.12.9")).is_empty());
    }

    #[test]
    fn a_run_that_was_pulled_is_compared_by_what_its_machine_is() {
        let pulled = |tree: &Tree, machine: &str| {
            let mut findings = four(tree);
            let pulled_at = "2026-02-01T00:00:00Z".to_owned();
            findings.origin = Some(model::Origin { machine: machine.to_owned(), pulled_at });
            findings
        };
        let own = four(&fixture::sound());
        let (refused, told) = differences(&own, &pulled(&fixture::sound(), "ci-1"));
        assert_eq!(refused, Vec::<String>::new());
        let drift = "the correction for the machine's speed removes most of its effect";
        assert_eq!(told, [format!("different machine (here then, ci-1 now); {drift}")]);
        let same = [pulled(&fixture::sound(), "ci-1"), pulled(&fixture::sound(), "ci-1")];
        assert_eq!(differences(&same[0], &same[1]), (vec![], vec![]));
        let error = compare(&own, &pulled(&fixture::raspberry_pi(), "pi"), false).unwrap_err();
        assert!(error.to_string().contains("different processor"), "{error}");
    }

    /// The same run as if machines with these processors had measured it, each with four cores.
    fn by(run: &Findings, cpus: &[&str]) -> Findings {
        use model::findings::{MachineFindings, MachinesCompared};
        let machine = |cpu: &&str| MachineFindings {
            cpu: Some((*cpu).to_owned()),
            cores: 4,
            ..MachineFindings::default()
        };
        let machines = cpus.iter().map(machine).collect();
        let mut findings = run.clone();
        findings.cells[0].in_heats.machines = Some(MachinesCompared { differ: None, machines });
        findings
    }

    #[test]
    fn runs_of_fleets_are_compared_by_the_machines_that_measured_them() {
        let planner = four(&fixture::sound());
        let elsewhere = four(&fixture::raspberry_pi());
        let (xeons, boards) = (by(&planner, &["Xeon", "Xeon"]), by(&planner, &["Pi", "Xeon"]));
        let kinds = "different kinds of machines (Xeon, 4 cores then, Pi, 4 cores and Xeon, 4 cores now)";
        assert_eq!(differences(&xeons, &boards).0, [kinds], "one planner for both");
        assert_eq!(differences(&xeons, &by(&elsewhere, &["Xeon", "Xeon", "Xeon"])), (vec![], vec![]));
        let local = differences(&planner, &xeons).0;
        assert!(local[0].starts_with("different kinds of machines (A processor, 4 cores then"), "{local:?}");
    }

    #[test]
    fn another_build_of_drome_refuses() {
        let old = four(&fixture::sound());
        let built = |version: &str, digest: Option<&str>| {
            let mut findings = old.clone();
            findings.environment.drome = version.to_owned();
            findings.environment.machine.drome_sha256 = digest.map(str::to_owned);
            findings
        };
        let (one, same) =
            (built("0.1.0", Some("aaaaaaaaaaaaaaaa")), built("0.1.0", Some("bbbbbbbbbbbbbbbb")));
        let refused = ["different build of drome (aaaaaaaaaaaa then, bbbbbbbbbbbb now)"];
        assert_eq!(differences(&one, &same).0, refused);
        assert_eq!(
            differences(&one, &built("0.2.0", None)).0,
            ["different version of drome (0.1.0 then, 0.2.0 now)"]
        );
        assert_eq!(differences(&one, &built("0.1.0", None)).0, Vec::<String>::new());
    }

    #[test]
    fn another_setting_is_told() {
        let mut old = four(&fixture::sound());
        let new = fixture::sound().with(&[
            ("proc/sys/kernel/osrelease", "6.12.9"),
            ("proc/sys/net/core/somaxconn", "128"),
            ("sys/devices/system/cpu/cpufreq/boost", "1"),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave"),
            ("sys/devices/system/cpu/vulnerabilities/meltdown", "Vulnerable"),
        ]);
        let mut new = four(&new);
        new.cells[0].contenders[0].ran.source_sha256 = Some("bb".to_owned());
        old.environment.machine.drome_sha256 = Some("0123456789abcdef".to_owned());
        new.environment.machine.drome_sha256 = None;
        let (refused, told) = differences(&old, &new);
        assert_eq!(refused, Vec::<String>::new());
        let drift = "; the correction for the machine's speed removes most of its effect";
        let expected = [
            format!("different kernel (6.1.0-18-amd64 then, 6.12.9 now){drift}"),
            format!("different frequency governor (performance then, performance,powersave now){drift}"),
            format!("different frequency boost (off then, on now){drift}"),
            format!("different mitigation of meltdown (Not affected then, Vulnerable now){drift}"),
            format!("different net.core.somaxconn (4096 then, 128 now){drift}"),
            "known for one of the runs only, so they can't be compared: build of drome".to_owned(),
            "A: its sources, declaration or command have changed".to_owned(),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn a_run_of_an_older_version_is_compared_by_what_it_knows() {
        let new = four(&fixture::sound());
        let mut old = new.clone();
        old.environment.machine = model::environment::Machine::default();
        old.cells[0].contenders[0].ran = model::environment::Ran::default();
        let (refused, told) = differences(&old, &new);
        assert_eq!((refused.len(), told.len()), (0, 1), "{told:?}");
        assert!(
            told[0].contains("can't be compared: build of drome, state of idle cores, frequency governor"),
            "{told:?}"
        );
        assert!(told[0].ends_with("mitigations, kernel settings"), "{told:?}");
    }

    #[test]
    fn another_program_of_the_same_version_is_told() {
        let new = four(&fixture::sound());
        let with = |digest: &str| {
            let mut findings = new.clone();
            let executable =
                model::environment::Executable { path: "/bin/a".to_owned(), sha256: Some(digest.to_owned()) };
            findings.cells[0].contenders.iter_mut().filter(|c| c.name == "a").for_each(|c| {
                c.ran.executables = vec![executable.clone()];
            });
            findings
        };
        let told = differences(&with("aa"), &with("bb")).1;
        assert_eq!(told, ["A: its program has changed, although its version is the same"]);
        assert_eq!(differences(&with("aa"), &new).1, Vec::<String>::new());
        let unversioned = |digest| {
            let mut findings = with(digest);
            findings.cells[0].contenders.iter_mut().for_each(|c| c.version = None);
            findings
        };
        assert_eq!(differences(&unversioned("aa"), &unversioned("bb")).1, ["A: its program has changed"]);
    }
}
