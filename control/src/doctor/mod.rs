//! Examines what on this machine would spoil a measurement, how much, and the remedy: a score of ten, with its derivation.

mod checks;
#[cfg(test)]
mod tests;

use crate::machine::cores::Cores;
use crate::machine::environment::ConditionsWatch;
use crate::machine::system::System;
use crate::processes::other_load::OtherLoad;
use crate::processes::programs;
use crate::processes::tree::Tree;
use model::{Conditions, Environment};
use schemars::JsonSchema;
use serde::Serialize;
use std::time::Duration;

/// The score of a machine without any trouble.
pub const BEST: u8 = 10;

/// The version of the JSON.
const SCHEMA: u32 = 1;

/// For how long steal and other programs are watched.
pub const LOOK: Duration = Duration::from_millis(500);

/// How many processes are named.
const NAMED: usize = 3;

/// A process that used less than this share of a core is not named.
const WORTH: f64 = 0.05;

/// One check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Check {
    /// What was checked.
    pub what: &'static str,
    /// What was found; null: this system does not tell.
    pub found: Option<String>,
    /// How many of the ten points it costs if it is trouble.
    pub weight: u8,
    /// Why this spoils measurements, and what helps; null: nothing is wrong here, or the system does not tell.
    pub trouble: Option<Trouble>,
}

/// Something that spoils measurements.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Trouble {
    /// Why it spoils a measurement.
    pub spoils: &'static str,
    /// What helps, as a command where there is one.
    pub remedy: String,
}

/// The result of all checks.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Examination {
    /// The version of this JSON.
    pub schema: u32,
    /// The points that are left of ten.
    pub score: u8,
    /// How the score was calculated.
    pub derivation: String,
    /// The checks that this system gives no answer to; they cost no point.
    pub unknown: Vec<&'static str>,
    /// All checks.
    pub checks: Vec<Check>,
    /// The machine.
    pub environment: Environment,
    /// The conditions during the examination.
    pub conditions: Conditions,
}

/// Examines the machine; steal and other programs are watched for `look`.
pub fn examine(system: &System, cores: &Cores, look: Duration) -> Examination {
    let environment = system.look(cores);
    // No server is measured.
    let own = Tree::From(std::process::id() as i32);
    let others = || OtherLoad::now(&own, &cores.used());
    let (watch, before) = (ConditionsWatch::begin(system, cores), others());
    std::thread::sleep(look);
    let after = others();
    let conditions = Conditions { others_ppm: after.others_ppm_since(&before), ..watch.end() };
    let busy = busiest(&after.busiest_since(&before));
    let checks = checks::all(system, cores, &environment, &conditions, &busy);
    let (score, derivation) = score(&checks);
    Examination {
        schema: SCHEMA,
        score,
        derivation,
        unknown: checks.iter().filter(|check| check.found.is_none()).map(|check| check.what).collect(),
        checks,
        environment,
        conditions,
    }
}

/// The processes that used the most, given in this order, each with its share of a core.
fn busiest(others: &[(i32, f64)]) -> Vec<String> {
    let worth = others.iter().take_while(|(_, share)| *share >= WORTH);
    let named = worth.filter_map(|(pid, share)| Some((programs::name(*pid)?, share)));
    named.take(NAMED).map(|(name, share)| format!("{name} ({:.0} %)", share * 100.0)).collect()
}

/// Ten, less the weight of each trouble, and not below 0.
fn score(checks: &[Check]) -> (u8, String) {
    let troubles: Vec<&Check> = checks.iter().filter(|check| check.trouble.is_some()).collect();
    let lost = troubles.iter().fold(0, |sum: u8, check| sum.saturating_add(check.weight));
    let score = BEST.saturating_sub(lost);
    let mut words = BEST.to_string();
    for check in troubles {
        words.push_str(&format!(" − {} ({})", check.weight, check.what));
    }
    words.push_str(&format!(" = {score}"));
    if lost > BEST {
        words.push_str(", the lowest possible score");
    }
    (score, words)
}
