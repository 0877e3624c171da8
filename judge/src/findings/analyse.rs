//! Computes the findings of a run from what was measured. Pure: the same starts and seed give the same findings.

mod conditions;
pub mod heats;

use model::environment::ConditionsRange;
use model::findings::{CellFindings, Findings, Missing, RaceFindings, SCHEMA};
use model::notes::VOID;
use model::study::RACE;
use model::{Measurement, Run};
use std::collections::BTreeMap;

/// Assembles the findings of a run from those of its cells.
fn whole(
    run: &Run,
    cells: Vec<CellFindings>,
    race: Option<RaceFindings>,
    conditions: ConditionsRange,
    elapsed_s: f64,
    ended: Option<&str>,
) -> Findings {
    let missing = run
        .contenders
        .iter()
        .filter_map(|(name, entrant)| Some(Missing { name: name.clone(), why: entrant.missing.clone()? }));
    Findings {
        schema: SCHEMA,
        run: run.id.clone(),
        study: run.name.clone(),
        title: run.study.title.clone(),
        source: run.study.source.clone(),
        started_at: run.started_at.clone(),
        seed: run.seed,
        environment: run.environment.clone(),
        origin: None,
        conditions,
        workloads: run.workloads.clone(),
        quick: run.quick,
        allow_busy: run.allow_busy == Some(true),
        ended: ended.unwrap_or(cut_off(run)).to_owned(),
        elapsed_s,
        race,
        noise_floor: cells.iter().filter_map(|c| c.noise_floor).reduce(f64::max),
        cells,
        missing: missing.collect(),
        page: run.study.published.clone(),
        unequal: run.study.unequal.clone(),
        entrants: run.contenders.clone(),
        profiles: Vec::new(),
    }
}

/// The words for a run that has not ended. A race can't be resumed.
fn cut_off(run: &Run) -> &'static str {
    if run.name == RACE {
        "the race was interrupted; the results cover what was measured until then"
    } else if run.fleet.is_some() {
        "the run has not ended; `drome heat owed` prints the heats that it still needs, and `drome.fleet.run(resume=...)` measures \
         them"
    } else {
        "the run has not ended; --resume continues it"
    }
}

/// Bytes per answer, head and body. Failed answers are included, and weigh little where errors are few.
fn wire_bytes(m: &Measurement) -> Option<f64> {
    let (bytes, answers) = (m.tally.received_bytes, m.tally.completed);
    (bytes > 0 && answers > 0).then(|| bytes as f64 / answers as f64)
}

/// The reasons of a measurement's verdict, marked where they void it.
fn reasons(m: &Measurement) -> Vec<String> {
    let kind = if m.verdict.valid { "" } else { VOID };
    m.verdict.reasons.iter().map(|reason| format!("{kind}{reason}")).collect()
}

/// Counts equal notes, the most frequent first. Notes that differ only in their figures count as one, with the range of each
/// figure.
fn counted(words: impl Iterator<Item = String>, of: &str) -> Vec<String> {
    let mut told: BTreeMap<Vec<String>, Vec<String>> = BTreeMap::new();
    for words in words {
        told.entry(model::notes::kind(&words)).or_default().push(words);
    }
    let mut told: Vec<Vec<String>> = told.into_values().collect();
    told.sort_by_key(|alike| std::cmp::Reverse(alike.len()));
    let shown = |alike: &Vec<String>| {
        let words = model::notes::together(alike.iter().map(String::as_str));
        format!("{words} ({} of {of})", alike.len())
    };
    told.iter().map(shown).collect()
}
