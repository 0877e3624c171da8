//! The progress of a run in one line: the current heat, the time left, and the results so far.

use crate::{figures, units};
use model::findings::{CellFindings, ContenderFindings, Figure, Findings, Pairs};
use model::heat::{Heat, Step};
use model::study::REFERENCE;
use model::{Metric, Run, Study};
use std::time::Duration;

/// The current heat, its round and its members.
pub fn heat(run: &Run, heat: &Heat) -> String {
    let [least, most] = run.study.design.rounds;
    let round = match heat.round + 1 {
        n if n <= least && least == most => format!("round {n} of {least}"),
        n if n <= least => format!("round {n} of at least {least}"),
        n => format!("round {n} of at most {most}"),
    };
    format!("{round}, heat {} ({})", heat.number + 1, heat.members.join(", "))
}

/// The current step of a heat.
pub fn step(study: &Study, step: &Step) -> String {
    let of = |cell: &usize| match &study.cells[..] {
        [] | [_] => String::new(),
        cells => cells.get(*cell).map(|cell| format!("{}: ", cell.title)).unwrap_or_default(),
    };
    match step {
        Step::Starting { name, nth, of } => format!("starting {name}, {nth} of {of}"),
        Step::Warming { cell, done, of: all, waits_for } => {
            let waits_for = waits_for.as_ref().map(|name| format!(", {name} has not")).unwrap_or_default();
            format!("{}warming up, {done} of {all} have settled{waits_for}", of(cell))
        }
        Step::Measuring { cell, quiet, wanted, disturbed, turns } => {
            let disturbed = match disturbed {
                0 => String::new(),
                n => format!(", {n} of {turns} turns were disturbed"),
            };
            format!("{}cycle {} of {wanted}{disturbed}", of(cell), (quiet + 1).min(*wanted))
        }
        Step::Stopping => "stopping its servers".to_owned(),
    }
}

/// `about 2 min left`. For a run that goes on until the result is decided, only an upper bound is known: `at most 2 min left`.
pub fn left(about: Option<Duration>, most: Duration) -> String {
    match about {
        Some(about) => format!("about {} left", long(about)),
        None => format!("at most {} left", long(most)),
    }
}

/// A time in seconds up to a minute and a half, then in minutes, then in hours.
pub fn long(time: Duration) -> String {
    match time.as_secs_f64() {
        s if s < 90.0 => format!("{} s", s.ceil()),
        s if s < 5400.0 => format!("{} min", (s / 60.0).ceil()),
        s => format!("{:.1} h", s / 3600.0),
    }
}

/// The ratio that leads a cell so far: in a race the ratio of the first pair, in a study that of the best contender to the reference.
pub fn leading(f: &Findings, cell: usize) -> Option<String> {
    if let Some(pair) = f.race.as_ref().and_then(|race| race.pairs.first()) {
        return Some(format!("{} is {} {} so far", pair.contender, times(pair.ratio?), pair.against));
    }
    let cell = f.cells.get(cell)?;
    let leader = best_so_far(cell)?;
    let ratio = times(leader.metric_of_reference?);
    let reference = cell.contender(REFERENCE);
    let Some(share) = figures::share(cell, leader) else {
        let by = leader.both_held_back_by(reference?)?;
        let title = &leader.title;
        return Some(format!(
            "{title} leads so far; {by} limits both it and the reference, so their ratio is unknown"
        ));
    };
    let figure = match cell.metric {
        Metric::Rate => format!("{}{ratio} the reference", share.bound.words()),
        Metric::ServerCpu => format!("{ratio} the reference's CPU time per request"),
        Metric::Latency(p) => format!("{ratio} the reference's {}", p.word()),
        Metric::Rss => format!("{ratio} the reference's memory"),
    };
    Some(format!("{} leads with {figure} so far", leader.title))
}

/// How many comparisons of a run are decided and how many are still open, over all cells. `None` before the first comparison.
pub fn undecided(f: &Findings) -> Option<String> {
    comparisons(&f.cells.iter().map(|cell| cell.in_heats.pairs).collect::<Vec<_>>())
}

fn comparisons(pairs: &[Pairs]) -> Option<String> {
    let sum = |of: fn(Pairs) -> usize| pairs.iter().copied().map(of).sum::<usize>();
    let (decided, equal, open) = (sum(|p| p.decided), sum(|p| p.equal), sum(|p| p.open));
    let all = decided + equal + open;
    let equal = if equal > 0 { format!(", {equal} within 2 %") } else { String::new() };
    (all > 0).then(|| {
        format!("{decided} of {} decided{equal}, {open} undecided", units::several(all, "comparison"))
    })
}

/// The best estimate, certain or not.
fn best_so_far(cell: &CellFindings) -> Option<&ContenderFindings> {
    let ratio = |c: &&ContenderFindings| c.metric_of_reference.map(|f| f.median);
    let known = cell.contenders.iter().filter(|c| c.name != REFERENCE && ratio(c).is_some());
    let by_ratio = |a: &&ContenderFindings, b: &&ContenderFindings| {
        ratio(a).unwrap_or(0.0).total_cmp(&ratio(b).unwrap_or(0.0))
    };
    if cell.metric.is_better_higher() { known.max_by(by_ratio) } else { known.min_by(by_ratio) }
}

fn times(ratio: Figure) -> String {
    let median = units::ratio(ratio.median);
    match units::interval(Some(ratio), units::ratio) {
        none if none == units::UNKNOWN => format!("{median}×"),
        interval => format!("{median}× (95 % {interval})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_told_in_the_unit_that_fits() {
        let s = Duration::from_secs;
        assert_eq!(left(Some(s(0)), s(9)), "about 0 s left");
        assert_eq!(left(Some(Duration::from_millis(41_200)), s(99)), "about 42 s left");
        assert_eq!(left(Some(s(91)), s(99)), "about 2 min left");
        assert_eq!(left(None, s(7200)), "at most 2.0 h left");
    }

    #[test]
    fn turns_that_were_disturbed_are_told() {
        let study = |cells: usize| -> Study {
            let load = serde_json::json!({ "closed": { "connections": 1 } });
            let cell = serde_json::json!({ "title": "small", "workload": "hello", "load": load });
            let design = serde_json::json!({ "rounds": [4, 13], "budget": "1h" });
            let cells = vec![cell; cells];
            let study = serde_json::json!({ "title": "", "contenders": [], "cell": cells, "design": design });
            serde_json::from_value(study).unwrap()
        };
        let told = |study: &Study, quiet, disturbed| {
            step(study, &Step::Measuring { cell: 0, quiet, wanted: 20, disturbed, turns: 40 })
        };
        assert_eq!(told(&study(1), 0, 0), "cycle 1 of 20");
        let more = "2 of 40 turns were disturbed";
        assert_eq!(told(&study(2), 6, 2), format!("small: cycle 7 of 20, {more}"));
        assert_eq!(told(&study(1), 20, 2), format!("cycle 20 of 20, {more}"));
    }

    #[test]
    fn what_is_undecided_is_counted_over_all_cells() {
        let told = |cells: &[[usize; 3]]| {
            let of =
                |[decided, equal, open]: &[usize; 3]| Pairs { decided: *decided, equal: *equal, open: *open };
            comparisons(&cells.iter().map(of).collect::<Vec<_>>())
        };
        assert_eq!((told(&[]), told(&[[0, 0, 0]])), (None, None), "nothing is compared yet");
        assert_eq!(told(&[[1, 0, 0]]).unwrap(), "1 of 1 comparison decided, 0 undecided");
        let words = "39 of 45 comparisons decided, 1 within 2 %, 5 undecided";
        assert_eq!(told(&[[30, 1, 5], [9, 0, 0]]).unwrap(), words);
    }

    #[test]
    fn a_ratio_has_its_interval_where_there_is_one() {
        let figure = |low, high| Figure { median: 1.25, low, high };
        assert_eq!(times(figure(None, None)), "1.250×");
        assert_eq!(times(figure(Some(1.2), Some(1.3))), "1.250× (95 % 1.200–1.300)");
    }
}
