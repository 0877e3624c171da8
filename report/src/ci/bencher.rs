//! The metric format of <https://bencher.dev>: `{benchmark: {measure: {value, lower_value, upper_value}}}`.

use super::{contenders, measures, name};
use model::findings::Findings;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
struct Metric {
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lower_value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upper_value: Option<f64>,
}

/// Every known figure of every contender, with its interval.
pub fn bencher(f: &Findings) -> String {
    let mut all: BTreeMap<String, BTreeMap<&str, Metric>> = BTreeMap::new();
    for (cell, c) in contenders(f) {
        for measure in measures(c) {
            let figure = measure.figure;
            let metric = Metric { value: figure.median, lower_value: figure.low, upper_value: figure.high };
            all.entry(name(f, cell, c)).or_default().insert(measure.name, metric);
        }
    }
    crate::json(&all)
}
