//! The result of a race in a few words that a program can read. Pure: from the findings of its only cell.

use model::Run;
use model::findings::{CellFindings, Decided, HeldEqual, PairFindings, RaceFindings};
use model::run::Raced;
use model::study::RACE;

/// The findings of a race, from the comparisons of all pairs, by letter; `None` for a study.
pub fn findings(
    run: &Run,
    cells: &[CellFindings],
    pairs: Vec<PairFindings>,
    elapsed_s: f64,
) -> Option<RaceFindings> {
    let cell = cells.first()?;
    let (decided, faster) = over_all_pairs(&pairs);
    // Races of older versions say so by their name only.
    let raced = run.race.clone().or_else(|| (run.name == RACE).then(Raced::default))?;
    let ratio = if let [pair] = pairs.as_slice() { pair.ratio } else { None };
    let design = &run.study.design;
    Some(RaceFindings {
        metric: cell.metric,
        elapsed_s,
        rounds: cell.rounds,
        decided,
        faster,
        ratio,
        pairs,
        held_equal: HeldEqual {
            body_bytes: raced.body_bytes,
            connections: cell.load.connections(),
            server_cpus: if raced.running { Vec::new() } else { run.environment.server_cpus.clone() },
            client_cpus: run.environment.client_cpus.clone(),
            warmup_s: design.warmup.as_secs_f64(),
            measure_s: design.measure.as_secs_f64(),
            prepare: raced.prepare,
        },
        running: raced.running,
    })
}

/// What holds for all contenders: all are equal, or one is better than every other.
fn over_all_pairs(pairs: &[PairFindings]) -> (Option<Decided>, Option<String>) {
    if !pairs.is_empty() && pairs.iter().all(|pair| pair.decided == Some(Decided::Equal)) {
        return (Some(Decided::Equal), None);
    }
    let beats_all = |name: &&String| {
        let mut own = pairs.iter().filter(|pair| [&pair.contender, &pair.against].contains(name));
        own.all(|pair| pair.faster.as_ref() == Some(*name))
    };
    let best = pairs.iter().filter_map(|pair| pair.faster.as_ref()).find(beats_all).cloned();
    (best.as_ref().map(|_| Decided::Faster), best)
}
