//! Simulated fleets whose truth is known.

use super::*;

const CHANCE: f64 = 0.05;

/// What is true of a fleet.
struct Truth {
    machines: usize,
    heats: usize,
    /// What contender 0 gains on machine 0 only, as a logarithm.
    gain: f64,
    /// By how much contenders' starts spread, one each.
    spread: &'static [f64],
}

/// A standard normal number of a stream.
fn normal(seed: u64, k: &mut u64) -> f64 {
    *k += 2;
    let (a, b) = (random::uniform(seed, *k), random::uniform(seed, *k + 1));
    (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
}

fn fleet(truth: &Truth, seed: u64) -> (Vec<FitStart>, Vec<usize>) {
    let (mut starts, mut k) = (Vec::new(), 0);
    let order = random::shuffled(truth.heats, random::derive(&[seed, 1]));
    let machine_of: Vec<usize> = order.into_iter().map(|nth| nth % truth.machines).collect();
    for (heat, machine) in machine_of.iter().enumerate() {
        // Machines differ in speed by a factor, and heats by a few percent.
        let level = 10.0 + 0.4 * *machine as f64 + 0.05 * normal(seed, &mut k);
        for (contender, spread) in truth.spread.iter().enumerate() {
            let gain = if contender == 0 && *machine == 0 { truth.gain } else { 0.0 };
            let log_figure = level + 0.3 * contender as f64 + gain + spread * normal(seed, &mut k);
            starts.push(FitStart { contender, heat, log_figure });
        }
    }
    (starts, machine_of)
}

/// The share of fleets in which a machine differs, and in which machine 0 does.
fn found(truth: &Truth, fleets: u64) -> (f64, f64) {
    let (mut any, mut first) = (0, 0);
    for seed in 0..fleets {
        let (starts, machine_of) = fleet(truth, seed);
        let asked = MachinesAsked { starts: &starts, machine_of: &machine_of, chance: CHANCE, seed };
        let all = machines(&asked).unwrap();
        let differs = |of: &OfMachine| of.probability.unwrap() <= CHANCE;
        any += u32::from(all.iter().any(differs));
        first += u32::from(differs(&all[0]));
    }
    (f64::from(any) / fleets as f64, f64::from(first) / fleets as f64)
}

#[test]
fn machines_that_are_only_faster_do_not_differ() {
    // Contenders whose starts spread unequally, as those of different classes do.
    let truth = Truth { machines: 3, heats: 12, gain: 0.0, spread: &[0.005, 0.01, 0.02, 0.06] };
    let (any, _) = found(&truth, 300);
    assert!(any <= 0.09, "one in twenty, and chance: {any}");
}

#[test]
fn a_machine_on_which_one_contender_gains_is_named() {
    let truth = Truth { machines: 3, heats: 18, gain: 0.06, spread: &[0.01, 0.01, 0.02, 0.03] };
    let (_, first) = found(&truth, 60);
    assert!(first >= 0.9, "{first}");
    let (starts, machine_of) = fleet(&truth, 7);
    let asked = MachinesAsked { starts: &starts, machine_of: &machine_of, chance: CHANCE, seed: 7 };
    let all = machines(&asked).unwrap();
    let (contender, ratio) = all[0].most.unwrap();
    assert!(contender == 0 && (1.01..1.06).contains(&ratio), "{all:?}");
    assert_eq!(all.iter().map(|of| of.heats).collect::<Vec<_>>(), [6, 6, 6]);
    assert!(all[0].speed < all[1].speed && all[1].speed < all[2].speed, "{all:?}");
}

#[test]
fn two_machines_differ_from_each_other() {
    let truth = Truth { machines: 2, heats: 12, gain: 0.08, spread: &[0.01, 0.01, 0.02] };
    let (starts, machine_of) = fleet(&truth, 3);
    let asked = MachinesAsked { starts: &starts, machine_of: &machine_of, chance: CHANCE, seed: 3 };
    let all = machines(&asked).unwrap();
    assert!(all.iter().all(|of| of.probability.unwrap() <= CHANCE), "{all:?}");
}

#[test]
fn few_heats_can_not_tell() {
    let truth = Truth { machines: 2, heats: 4, gain: 0.5, spread: &[0.01, 0.01] };
    let (starts, machine_of) = fleet(&truth, 1);
    let asked = MachinesAsked { starts: &starts, machine_of: &machine_of, chance: CHANCE, seed: 1 };
    assert!(machines(&asked).unwrap().iter().all(|of| of.probability.is_none()));
    let one = MachinesAsked { machine_of: &[0; 4], ..asked };
    assert_eq!(machines(&one), None, "one machine is compared with none");
    assert_eq!(machines(&MachinesAsked { starts: &[], ..asked }), None);
    assert_eq!(machines(&MachinesAsked { starts: &[], machine_of: &[], ..asked }), None);
}

#[test]
fn a_chance_below_what_shuffles_tell_is_not_told() {
    let truth = Truth { machines: 2, heats: 40, gain: 1.0, spread: &[0.01, 0.01, 0.01] };
    let (starts, machine_of) = fleet(&truth, 1);
    let told = |cells: f64| {
        let chance = CHANCE / cells;
        let asked = MachinesAsked { starts: &starts, machine_of: &machine_of, chance, seed: 1 };
        machines(&asked).unwrap()[0].probability.map(|probability| probability <= chance)
    };
    assert_eq!([told(1.0), told(99.0), told(101.0)], [Some(true), Some(true), None]);
}
