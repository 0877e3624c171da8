//! What two machines differ in, as `drome compare` judges it, from machines as they are found.

use super::fixture::{self, Tree};
use crate::machine::cores::Cores;
use judge::example::{self, in_heats};
use judge::findings::compare::compare;
use judge::findings::compare::machine::differences;
use model::Findings;
use model::environment::SLEEPS;

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
    let all =
        [fixture::sound(), fixture::laptop(), fixture::raspberry_pi(), fixture::container(), Tree::empty()];
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
    assert!(refused(&four(&fixture::virtual_machine()))[0].contains("hypervisor (none found then, KVM now)"));
    assert_eq!(
        refused(&four(&fixture::container())),
        ["different CPU limit (unlimited then, 1.5 cores now)"]
    );
    let fewer = on(&fixture::sound(), &fixture::cores(&[0], &[1]));
    assert!(refused(&fewer)[0].contains("number of cores that drome may use (4 then, 2 now)"));
    let mut asleep = fixture::four();
    asleep.notes.push(SLEEPS.to_owned());
    let waits = "different way in which the load generator waits (polling then, sleeping now)";
    assert_eq!(refused(&on(&fixture::sound(), &asleep)), [waits]);
    let asleep = Cores { may_sleep: true, ..fixture::four() };
    let idles = "different state of idle cores (awake then, may sleep now)";
    assert_eq!(refused(&on(&fixture::sound(), &asleep)), [idles]);
    let meminfo = |kb: u64| four(&fixture::sound().with(&[("proc/meminfo", &format!("MemTotal: {kb} kB"))]));
    assert_eq!(refused(&meminfo(8_000_000)), ["different amount of memory (16.4 GB then, 8.19 GB now)"]);
    assert!(refused(&meminfo(15_900_000)).is_empty(), "as another kernel keeps it back");
    let kernel = |release: &str| four(&fixture::sound().with(&[("proc/sys/kernel/osrelease", release)]));
    assert_eq!(refused(&kernel("7.0.1")), ["different kernel (6.1.0-18-amd64 then, 7.0.1 now)"]);
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
    let machine =
        |cpu: &&str| MachineFindings { cpu: Some((*cpu).to_owned()), cores: 4, ..MachineFindings::default() };
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
    let (one, same) = (built("0.1.0", Some("aaaaaaaaaaaaaaaa")), built("0.1.0", Some("bbbbbbbbbbbbbbbb")));
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
