//! The two custom formats of the GitHub Action `github-action-benchmark`: a list of figures of which more is better, and a list of figures
//! of which less is better. The action takes one of them at a time.

use super::{contenders, measures, name};
use crate::units;
use model::findings::{Figure, Findings};
use serde::Serialize;

#[derive(Serialize)]
struct Entry {
    name: String,
    unit: &'static str,
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<String>,
    extra: String,
}

/// For the tool `customBiggerIsBetter`.
pub fn bigger_is_better(f: &Findings) -> String {
    list(f, true)
}

/// For the tool `customSmallerIsBetter`.
pub fn smaller_is_better(f: &Findings) -> String {
    list(f, false)
}

fn list(f: &Findings, is_better_higher: bool) -> String {
    let mut entries = Vec::new();
    for (cell, c) in contenders(f) {
        let own = measures(c).into_iter().filter(|measure| measure.is_better_higher == is_better_higher);
        entries.extend(own.map(|measure| Entry {
            name: format!("{}: {}", name(f, cell, c), measure.name),
            unit: measure.unit,
            value: measure.figure.median,
            range: range(measure.figure),
            extra: format!("{}, run {}", units::several(c.trials, "start"), f.run),
        }));
    }
    crate::json(&entries)
}

/// Half of the interval's width, as the action shows it.
fn range(figure: Figure) -> Option<String> {
    let half = (figure.high? - figure.low?) / 2.0;
    Some(format!("± {}", if half < 10.0 { format!("{half:.2}") } else { format!("{half:.0}") }))
}
