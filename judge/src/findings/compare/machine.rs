//! The differences of machine and work between two runs: those that decide the figures, so that the runs are compared only on
//! request, and those that are only reported, because the correction for the machine's speed removes most of their effect.

use model::Environment;
use model::environment::facts::{self, Difference, KERNEL, Weight};
use model::findings::{ContenderFindings, Findings};
use model::origin::HERE;
use std::collections::{BTreeMap, BTreeSet};

/// What is said of a difference that does not keep two runs from being compared.
const CORRECTED: &str = "the correction for the machine's speed removes most of its effect";

/// The differences for which a comparison is refused, and those that are only reported.
pub fn differences(old: &Findings, new: &Findings) -> (Vec<String>, Vec<String>) {
    let (a, b) = (&old.environment, &new.environment);
    let on_several = [old, new].iter().any(|run| several(run).is_some());
    let refuses = |fact: &Difference| fact.weight >= Weight::Refusal;
    let mut unequal = if on_several { kinds_differ(old, new) } else { hardware(a, b, refuses) };
    unequal.extend(other_machine(a, b, refuses));
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
pub fn way(findings: &Findings) -> &'static str {
    if several(findings).is_some() { "heats on several machines" } else { "heats on one machine" }
}

/// The kinds of the machines of a run that several measured, each kind once; `None`: one machine measured all of it. The environment of
/// a run on several machines is that of the machine that planned it, and says nothing about them.
pub fn several(findings: &Findings) -> Option<String> {
    let compared = findings.cells.iter().filter_map(|cell| cell.in_heats.machines.as_ref());
    let machines = compared.flat_map(|all| &all.machines);
    let kinds: BTreeSet<String> = machines.map(|one| kind(one.cpu.as_deref(), one.cores)).collect();
    (!kinds.is_empty()).then(|| kinds.into_iter().collect::<Vec<_>>().join(" and "))
}

/// The kinds of the machines of a run, also where it is one machine.
pub fn kinds(findings: &Findings) -> String {
    let own = || {
        let servers = findings.environment.of_servers();
        kind(servers.cpu.as_deref(), servers.cores)
    };
    several(findings).unwrap_or_else(own)
}

/// One kind of machine, in words.
fn kind(cpu: Option<&str>, cores: usize) -> String {
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
pub fn changes(then: &Environment, now: &Environment) -> Vec<String> {
    let counts = |fact: &Difference| fact.weight >= Weight::Refusal || fact.name == KERNEL;
    let mut changes = hardware(then, now, counts);
    changes.extend(other_machine(then, now, counts));
    changes.extend(drome(then, now));
    changes
}

/// The differences of where the servers were: on the same machine as the load generator or on another one, and on which.
fn other_machine(a: &Environment, b: &Environment, counts: impl Fn(&Difference) -> bool) -> Vec<String> {
    let [old, new] = [a, b].map(of_servers);
    let mut unequal = Vec::new();
    if old != new {
        unequal.push(another("machine of the servers", &old, &new));
    }
    if let (Some(old), Some(new)) = (&a.servers_on, &b.servers_on) {
        let of_servers = |why: String| format!("the servers' machine: {why}");
        unequal.extend(hardware(&old.environment, &new.environment, counts).into_iter().map(of_servers));
    }
    unequal
}

/// Which machine the servers were on, in words.
pub fn of_servers(environment: &Environment) -> String {
    let other = environment.servers_on.as_ref().map(|on| format!("{}, {}", on.host, on.arch));
    other.unwrap_or_else(|| "the load generator's own".to_owned())
}

/// The differences that count, among those that both machines tell.
fn hardware(a: &Environment, b: &Environment, counts: impl Fn(&Difference) -> bool) -> Vec<String> {
    let both = facts::differences(a, b).into_iter().filter(counts);
    both.filter_map(|fact| Some(another(&fact.name, &fact.old?, &fact.new?))).collect()
}

/// The difference of the builds of drome. The reference and the load generator are parts of drome and of every figure, and they affect
/// each server differently. What an older version did not record is listed among the settings.
pub fn drome(a: &Environment, b: &Environment) -> Option<String> {
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
    for fact in facts::differences(old, new).into_iter().filter(|fact| fact.weight >= Weight::Remark) {
        match (fact.old, fact.new) {
            (Some(old), Some(new)) if fact.weight == Weight::Remark => {
                notes.push(format!("{}; {CORRECTED}", another(&fact.name, &old, &new)));
            }
            (Some(_), Some(_)) => {}
            _ => unknown.push(fact.name),
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

fn another(what: &str, old: &str, new: &str) -> String {
    format!("different {what} ({old} then, {new} now)")
}

/// The beginning of a digest, which is enough to tell it from another one.
pub fn short(digest: &str) -> String {
    digest.chars().take(12).collect()
}
