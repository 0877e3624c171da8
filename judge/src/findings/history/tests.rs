//! Histories whose truth is known.

use super::*;
use crate::example;
use crate::example::in_heats;
use model::environment::ServersOn;
use model::{Environment, Run};
use stats::random::uniform;

/// What a made-up history does: per run, the machine's speed and each contender's rate on a machine of speed 1.
struct Truth<'t> {
    machine: &'t dyn Fn(usize) -> f64,
    contenders: &'t [(&'t str, &'t dyn Fn(usize) -> f64)],
    change: &'t dyn Fn(usize, &mut Run),
}

const STEADY: &dyn Fn(usize) -> f64 = &|_| 1.0;
const SAME: &dyn Fn(usize, &mut Run) = &|_, _| {};

/// `n` runs of three rounds, with 1 % of noise from trial to trial.
fn runs(n: usize, truth: &Truth<'_>) -> Vec<Findings> {
    let names: Vec<&str> = truth.contenders.iter().map(|(name, _)| *name).collect();
    let one = |i: usize| {
        let id = format!("202601{:02}-000000-0000", i + 1);
        let started_at = format!("2026-01-{:02}T00:00:00Z", i + 1);
        let mut run = Run { id, started_at, ..example::run(&names) };
        (truth.change)(i, &mut run);
        let mut starts = Vec::new();
        for round in 0..3 {
            let everyone = truth.contenders.iter().map(|(name, rate)| (*name, rate(i)));
            for (nth, (name, rate)) in everyone.chain([(REFERENCE, 2.0)]).enumerate() {
                let jitter = 0.02 * (uniform(i as u64 + 100, (round * 10 + nth) as u64) - 0.5);
                let rate = 50_000.0 * rate * (truth.machine)(i) * (1.0 + jitter);
                starts.push(example::start(round, name, Some(rate)));
            }
        }
        in_heats::findings(&run, &starts, Some("enough"))
    };
    (0..n).map(one).collect()
}

fn steps(history: &History, name: &str) -> Vec<(usize, Cause)> {
    let cell = &history.cells[0];
    let found = cell.contenders.iter().chain([&cell.reference]).find(|c| c.name == name).unwrap();
    found.steps.iter().map(|step| (step.at, step.cause)).collect()
}

fn falls_at(at: usize, to: f64) -> impl Fn(usize) -> f64 {
    move |i| if i < at { 1.0 } else { to }
}

#[test]
fn a_servers_step_is_found_with_its_size_and_its_version() {
    let falls = falls_at(12, 0.9);
    let change = |i: usize, run: &mut Run| {
        let version = if i < 12 { "1.0" } else { "1.1" };
        run.contenders.get_mut("worse").unwrap().version = Some(version.to_owned());
    };
    let truth =
        Truth { machine: STEADY, contenders: &[("same", STEADY), ("worse", &falls)], change: &change };
    let all = runs(20, &truth);
    let history = history("example", &all, 0);
    assert_eq!(steps(&history, "worse"), [(12, Cause::Contender)]);
    assert_eq!((steps(&history, "same"), steps(&history, REFERENCE)), (vec![], vec![]));
    let step = &history.cells[0].contenders[1].steps[0];
    assert_eq!(step.versions, Some([Some("1.0".to_owned()), Some("1.1".to_owned())]));
    assert_eq!((step.before.as_str(), step.after.as_str()), ("20260112-000000-0000", "20260113-000000-0000"));
    assert!((step.ratio.median - 0.9).abs() < 0.01 && step.ratio.high.unwrap() < 0.93, "{step:?}");
    assert_eq!((&step.drome, &step.kernel), (&None, &None), "neither changed");
    assert_eq!(history, super::history("example", &all, 0));
}

#[test]
fn a_machines_step_is_the_references_and_no_servers() {
    let slower = falls_at(10, 0.7);
    let change = |i: usize, run: &mut Run| {
        run.environment.kernel = Some(if i < 10 { "6.1" } else { "6.12" }.to_owned());
    };
    let truth = Truth { machine: &slower, contenders: &[("a", STEADY), ("b", STEADY)], change: &change };
    let history = history("example", &runs(20, &truth), 0);
    assert_eq!(steps(&history, REFERENCE), [(10, Cause::Machine)]);
    let kernels = [Some("6.1".to_owned()), Some("6.12".to_owned())];
    assert_eq!(history.cells[0].reference.steps[0].kernel, Some(kernels));
    assert_eq!((steps(&history, "a"), steps(&history, "b")), (vec![], vec![]));
}

#[test]
fn who_feels_a_slower_machine_less_than_the_reference_did_not_become_faster() {
    let (slower, less) = (falls_at(10, 0.7), falls_at(10, 1.1));
    let truth = Truth { machine: &slower, contenders: &[("a", STEADY), ("less", &less)], change: SAME };
    let history = history("example", &runs(20, &truth), 0);
    assert_eq!(steps(&history, "less"), [(10, Cause::Machine)]);
}

#[test]
fn another_drome_is_named_where_all_ratios_step() {
    // The reference became a tenth faster on a machine of the same speed: beside it, all others are slower.
    let (faster, less) = (falls_at(10, 1.1), falls_at(10, 1.0 / 1.1));
    let change = |i: usize, run: &mut Run| {
        run.environment.drome = if i < 10 { "0.1.0" } else { "0.2.0" }.to_owned();
    };
    let truth = Truth { machine: &faster, contenders: &[("a", &less), ("b", &less)], change: &change };
    let history = history("example", &runs(20, &truth), 0);
    for name in ["a", "b", REFERENCE] {
        assert_eq!(steps(&history, name), [(10, Cause::Drome)], "{name}");
    }
    let step = &history.cells[0].reference.steps[0];
    assert_eq!(step.drome, Some(["0.1.0".to_owned(), "0.2.0".to_owned()]));
}

#[test]
fn what_most_share_is_no_single_servers() {
    let falls = falls_at(10, 0.9);
    let truth =
        Truth { machine: STEADY, contenders: &[("a", &falls), ("b", &falls), ("c", STEADY)], change: SAME };
    let history = history("example", &runs(20, &truth), 0);
    assert_eq!(steps(&history, "a"), [(10, Cause::Shared)]);
    assert_eq!(steps(&history, "c"), []);
}

#[test]
fn runs_of_another_machine_or_with_other_bytes_are_counted_not_mixed() {
    let falls = falls_at(15, 0.5);
    let change = |i: usize, run: &mut Run| {
        run.environment.cpu = Some(if i < 15 { "one" } else { "another" }.to_owned());
        if i == 0 {
            run.workloads.insert("hello".to_owned(), "0123456789abcdef".to_owned());
        }
    };
    let truth = Truth { machine: STEADY, contenders: &[("a", &falls)], change: &change };
    let history = history("example", &runs(20, &truth), 2);
    let cell = &history.cells[0];
    assert_eq!((cell.runs.len(), steps(&history, "a"), history.unended), (14, vec![], 2));
    let left: Vec<_> = cell.left_out.iter().map(|l| (l.runs.len(), l.why.as_str())).collect();
    assert_eq!(
        left,
        [
            (1, "different body (0123456789ab; shown: unknown)"),
            (5, "different processor (another; shown: one)")
        ]
    );
}

#[test]
fn servers_on_another_machine_and_a_hub_of_other_work_are_no_part_of_the_history() {
    let change = |i: usize, run: &mut Run| {
        let cpu = Some(if i < 15 { "one" } else { "another" }.to_owned());
        let environment = Environment { cpu, kernel: Some(format!("6.{i}")), ..Environment::default() };
        let servers = ServersOn { host: "10.0.0.2".to_owned(), environment, ..ServersOn::default() };
        run.environment.servers_on = Some(Box::new(servers));
        run.environment.hub = Some(if i == 0 { "4 messages" } else { "8 messages" }.to_owned());
    };
    let history = history(
        "example",
        &runs(20, &Truth { machine: STEADY, contenders: &[("a", STEADY)], change: &change }),
        0,
    );
    let left: Vec<_> = history.cells[0].left_out.iter().map(|l| (l.runs.len(), l.why.as_str())).collect();
    assert_eq!(
        left,
        [
            (1, "different work of the hub (4 messages; shown: 8 messages)"),
            (5, "different processor of the servers' machine (another; shown: one)"),
        ]
    );
    assert_eq!(history.cells[0].runs[0].kernel.as_deref(), Some("6.1"), "the kernel under the servers");
}

#[test]
fn runs_of_another_machine_are_no_part_of_the_history_even_if_it_is_of_the_same_kind() {
    let truth = Truth { machine: STEADY, contenders: &[("a", STEADY)], change: SAME };
    let mut all = runs(20, &truth);
    for run in &mut all[..8] {
        let (machine, pulled_at) = ("ci-1".to_owned(), "2026-02-01T00:00:00Z".to_owned());
        run.origin = Some(model::Origin { machine, pulled_at });
    }
    let own = history("example", &all, 0);
    let cell = &own.cells[0];
    assert_eq!((cell.runs.len(), cell.left_out[0].runs.len()), (12, 8));
    assert_eq!(cell.left_out[0].why, "different machine (ci-1; shown: here)");
    assert!(cell.runs.iter().all(|run| run.machine.is_none()));
    let pulled = history("example", &all[..8], 0);
    assert!(pulled.cells[0].runs.iter().all(|run| run.machine.as_deref() == Some("ci-1")));
}

#[test]
fn too_few_runs_and_missing_figures_are_said_and_not_guessed() {
    let falls = falls_at(3, 0.5);
    let truth = Truth { machine: STEADY, contenders: &[("a", &falls)], change: SAME };
    let few = history("example", &runs(6, &truth), 0);
    let note = "6 comparable runs: telling a step from chance takes 9 (2 series)";
    assert_eq!((few.fewest_runs, few.cells[0].note.as_deref()), (9, Some(note)));
    assert_eq!(steps(&few, "a"), []);
    assert!(history("example", &[], 0).cells.is_empty());

    let falls = falls_at(12, 0.9);
    let truth = Truth { machine: STEADY, contenders: &[("a", &falls)], change: SAME };
    let mut all = runs(20, &truth);
    let a = |run: &mut Findings| run.cells[0].contenders.iter().position(|c| c.name == "a").unwrap();
    let nth = a(&mut all[4]);
    all[4].cells[0].contenders[nth].rate_per_s = None;
    let nth = a(&mut all[11]);
    all[11].cells[0].contenders[nth].bound = Some("client".to_owned());
    let gaps = history("example", &all, 0);
    let points = &gaps.cells[0].contenders[0].points;
    assert_eq!((points[4].is_none(), points[11].is_none(), points.len()), (true, true, 20));
    let step = &gaps.cells[0].contenders[0].steps[0];
    assert_eq!((step.at, step.before.as_str()), (12, "20260111-000000-0000"));
}

/// Runs in heats; the reference is the same server in each, and the load generator asks it for more in every second one.
#[test]
fn runs_in_heats_are_followed_beside_the_hub() {
    use crate::findings::analyse::heats::world::World;
    let run = |i: usize| {
        let worse = if i < 10 { 80_000.0 } else { 68_000.0 };
        let mut world = World::of(&[("same", 100_000.0), ("worse", worse)]);
        (world.rounds, world.seed) = (2, i as u64 + 1);
        let most: [fn(&str) -> f64; 2] = [
            |name| if name == REFERENCE { 50_000.0 } else { f64::INFINITY },
            |name| if name == REFERENCE { 90_000.0 } else { f64::INFINITY },
        ];
        world.most = most[i % 2];
        world.run.started_at = format!("2026-01-{:02}T00:00:00Z", i + 1);
        world.findings()
    };
    let all: Vec<Findings> = (0..20).map(run).collect();
    let told = history("example", &all, 0);
    assert_eq!((steps(&told, "same"), steps(&told, "worse")), (vec![], vec![(10, Cause::Contender)]));
    let cell = &told.cells[0];
    let worse = cell.contenders.iter().find(|c| c.name == "worse").unwrap();
    let share = worse.points[0].as_ref().unwrap().of_reference.unwrap();
    assert!((share / (80.0 / 30.0) - 1.0).abs() < 0.03, "{share}");
}

#[test]
fn a_run_of_a_fleet_is_not_shown_with_those_of_another_kind_of_machines() {
    use model::findings::{CellInHeats, MachineFindings, MachinesCompared};
    let mut all = runs(5, &Truth { machine: STEADY, contenders: &[("a", STEADY)], change: SAME });
    for (run, cpu) in
        all.iter_mut().zip(["Xeon", "Xeon", "Pi", "Xeon", ""]).filter(|(_, cpu)| !cpu.is_empty())
    {
        let machine = MachineFindings { cpu: Some(cpu.to_owned()), cores: 4, ..MachineFindings::default() };
        let machines = Some(MachinesCompared { differ: None, machines: vec![machine.clone(), machine] });
        run.cells[0].in_heats = CellInHeats { machines, ..CellInHeats::default() };
    }
    let cell = &history("example", &all, 0).cells[0];
    let why: Vec<&str> = cell.left_out.iter().map(|left_out| left_out.why.as_str()).collect();
    assert_eq!((cell.runs.len(), why.len()), (3, 2));
    assert_eq!(why[0], "different kinds of machines (Pi, 4 cores; shown: Xeon, 4 cores)");
    assert!(
        why[1]
            .contains("different way of measuring (heats on one machine; shown: heats on several machines)"),
        "{}",
        why[1]
    );
}
