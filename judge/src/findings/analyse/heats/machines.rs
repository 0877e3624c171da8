//! The machines of a fleet in one cell: how fast each is, and whether contenders compare differently on it.

use super::starts;
use super::{FittedCell, start_figures, starts_of};
use model::findings::{MachineFindings, MachinesCompared, StartFigure};
use model::heat::Heat;
use model::{Environment, HeatMachine, Metric};
use stats::estimate::CHANCE;
use stats::heats::{FitStart, MachinesAsked, OfMachine, machines};
use stats::random;
use std::collections::{BTreeMap, BTreeSet};

/// Keeps the seed of the test distinct from those of dealing and of cycles.
const COMPARING: u64 = 0x6d61_6368;

/// The environment of the machine that measured all heats, if a single one did; the run's own environment is that of the machine that
/// planned it.
pub(super) fn only(heats: &[Heat]) -> Option<&Environment> {
    let first = heats.first()?.machine.as_deref()?;
    let is_same = |heat: &Heat| heat.machine.as_deref().is_some_and(|other| other.name == first.name);
    heats.iter().all(is_same).then_some(&first.environment)
}

/// Compares the machines; `None` where one machine measured all heats.
pub(super) fn compared(of: &FittedCell<'_>) -> Option<MachinesCompared> {
    let mut all = start_figures(of.metric, &of.measured);
    // A contender that is held back has a lower bound, which is the load generator's figure on each machine and not its own.
    let floors: BTreeSet<&str> = held_back(of);
    all.retain(|start| !floors.contains(start.contender.as_str()));
    let machine = |start: &StartFigure| of.turns.heat(start.round, start.heat)?.machine.as_deref();
    let known: BTreeMap<&str, &HeatMachine> =
        all.iter().filter_map(machine).map(|m| (m.name.as_str(), m)).collect();
    if known.len() < 2 {
        return None;
    }
    let all: Vec<(&StartFigure, &str)> =
        all.iter().filter_map(|start| Some((start, machine(start)?.name.as_str()))).collect();
    let contenders: Vec<&str> = distinct(all.iter().map(|(start, _)| start.contender.as_str()));
    let heats: Vec<(usize, usize)> = distinct(all.iter().map(|(start, _)| (start.round, start.heat)));
    let names: Vec<&str> = known.keys().copied().collect();
    let mut machine_of = vec![0; heats.len()];
    let mut figures = Vec::with_capacity(all.len());
    for (start, name) in &all {
        let heat = heats.binary_search(&(start.round, start.heat)).ok()?;
        machine_of[heat] = names.binary_search(name).ok()?;
        let contender = contenders.binary_search(&start.contender.as_str()).ok()?;
        figures.push(FitStart { contender, heat, log_figure: start.figure.ln() });
    }
    // Of naming a machine in any cell of a run although none differs.
    let chance = CHANCE / of.run.study.cells.len().max(1) as f64;
    let seed = random::derive(&[of.run.seed, COMPARING, of.cell as u64]);
    let told = machines(&MachinesAsked { starts: &figures, machine_of: &machine_of, chance, seed })?;
    // By some metrics less is better, but a higher speed always means faster.
    let faster = |ratio: f64| if of.metric.is_better_higher() { ratio } else { 1.0 / ratio };
    let row = |(known, told): (&HeatMachine, &OfMachine)| MachineFindings {
        machine: known.name.clone(),
        cpu: known.environment.cpu.clone(),
        cores: known.environment.cores,
        heats: told.heats,
        speed: faster(told.speed),
        probability: told.probability,
        differs: told.probability.map(|probability| probability <= chance),
        contender: told.most.and_then(|(at, _)| contenders.get(at)).map(|name| (*name).to_owned()),
        ratio: told.most.map(|(_, ratio)| ratio),
    };
    let machines: Vec<MachineFindings> = known.into_values().zip(&told).map(row).collect();
    let differ = machines.iter().map(|machine| machine.differs).try_fold(false, |any, one| Some(any || one?));
    Some(MachinesCompared { differ, machines })
}

/// The contenders whose figures are lower bounds.
fn held_back<'a>(of: &FittedCell<'a>) -> BTreeSet<&'a str> {
    if of.metric != Metric::Rate {
        return BTreeSet::new();
    }
    let names: BTreeSet<&str> = of.measured.iter().map(|m| m.start.contender.as_str()).collect();
    names.into_iter().filter(|name| starts::is_held_back(&starts_of(name, &of.measured))).collect()
}

fn distinct<T: Ord>(all: impl Iterator<Item = T>) -> Vec<T> {
    all.collect::<BTreeSet<T>>().into_iter().collect()
}
