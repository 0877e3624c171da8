//! What a profile says, read from the JSON that drome writes.

use anyhow::{Result, ensure};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The names that the servers' sources give to the loop and its callers.
const LOOP: &str = "busy_work";
const CALLERS: [&str; 2] = ["caller_a", "caller_b"];

/// The parts of drome's JSON that are read.
#[derive(Debug, Deserialize)]
struct Report {
    work: Work,
    profile: Profile,
}

#[derive(Debug, Deserialize)]
struct Work {
    answers: u64,
    cpu_ns: Option<u64>,
}

#[derive(Debug, Deserialize)]
struct Profile {
    unrooted: u64,
    period_ns: u64,
    /// How often each stack was sampled; its functions are joined by `;`, the outermost first.
    stacks: BTreeMap<String, u64>,
}

/// What a profile says about a server.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The number of samples.
    pub samples: u64,
    /// The share of the samples whose stack reaches an outermost function.
    pub whole: f64,
    /// The function that was itself running in most samples.
    pub first: String,
    /// CPU time per answer in the loop and its callers, in nanoseconds; `None`: no stack names any of them.
    pub ns_per_answer: Option<f64>,
    /// The share of A in the samples of both callers; `None`: no stack names a caller.
    pub share_of_a: Option<f64>,
}

impl Found {
    /// Reads a profile. Fails if it has no samples or no answers.
    pub fn of(json: &str) -> Result<Self> {
        let Report { work, profile } = serde_json::from_str(json)?;
        let samples: u64 = profile.stacks.values().sum();
        ensure!(samples > 0 && work.answers > 0, "no samples, or no answers");
        let with = |is_one: &dyn Fn(&str) -> bool| -> u64 {
            profile.stacks.iter().filter(|(stack, _)| is_one(stack)).map(|(_, count)| count).sum()
        };
        let in_work = with(&|stack| names(stack, LOOP) || CALLERS.iter().any(|caller| names(stack, caller)));
        let [of_a, of_b] = CALLERS.map(|caller| with(&|stack| names(stack, caller)) as f64);
        let cpu_ns = work.cpu_ns.unwrap_or(samples * profile.period_ns) as f64;
        let ns_per_answer = cpu_ns / samples as f64 / work.answers as f64 * in_work as f64;
        Ok(Self {
            samples,
            whole: 1.0 - profile.unrooted as f64 / samples as f64,
            first: first(&profile.stacks),
            ns_per_answer: (in_work > 0).then_some(ns_per_answer),
            share_of_a: (of_a + of_b > 0.0).then(|| of_a / (of_a + of_b)),
        })
    }
}

/// Whether a stack has a function of this name. Compilers add to the names: `spins::caller_a`, `main.caller_a`, `JS:*caller_a …`.
fn names(stack: &str, name: &str) -> bool {
    stack.contains(name)
}

/// The function that was running in most samples.
fn first(stacks: &BTreeMap<String, u64>) -> String {
    let mut own: BTreeMap<&str, u64> = BTreeMap::new();
    for (stack, count) in stacks {
        *own.entry(stack.rsplit(';').next().unwrap_or(stack)).or_default() += count;
    }
    own.into_iter().max_by_key(|(_, count)| *count).map_or_else(String::new, |(name, _)| shortened(name))
}

/// The name without the place of its source.
fn shortened(name: &str) -> String {
    let (name, _) = name.split_once(" /").unwrap_or((name, ""));
    name.split_once(":/").map_or(name, |(name, _)| name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(stacks: &str, cpu_ns: &str) -> String {
        format!(
            r#"{{"schema": 1, "work": {{"answers": 10, "cpu_ns": {cpu_ns}}}, "counters": {{}},
                "profile": {{"samples": 100, "lost": 0, "unrooted": 5, "period_ns": 1000000, "stacks": {stacks}}}}}"#
        )
    }

    #[test]
    fn time_and_callers_are_those_of_the_stacks() {
        let stacks = r#"{"main;work;caller_a;busy_work": 50, "main;work;caller_b;busy_work": 25, "main;write_[k]": 25}"#;
        let found = Found::of(&profile(stacks, "200000000")).unwrap();
        assert_eq!((found.samples, found.whole, found.first.as_str()), (100, 0.95, "busy_work"));
        assert_eq!((found.ns_per_answer, found.share_of_a), (Some(15_000_000.0), Some(2.0 / 3.0)));
        let by_samples = Found::of(&profile(stacks, "null")).unwrap();
        assert_eq!(by_samples.ns_per_answer, Some(7_500_000.0), "each sample is a millisecond");
    }

    #[test]
    fn names_may_have_more_than_the_source_has() {
        let stacks = r#"{"node::Start;JS:*caller_a /tmp/spins.js:23:18_[j]": 60, "py::caller_b:/tmp/spins.py": 30, "[jit]_[j]": 10}"#;
        let found = Found::of(&profile(stacks, "null")).unwrap();
        assert_eq!((found.first.as_str(), found.share_of_a), ("JS:*caller_a", Some(2.0 / 3.0)));
        assert_eq!(shortened("py::caller_b:/tmp/spins.py"), "py::caller_b");
    }

    #[test]
    fn without_names_nothing_is_claimed() {
        let found = Found::of(&profile(r#"{"main;_PyEval_EvalFrameDefault": 100}"#, "null")).unwrap();
        assert_eq!((found.ns_per_answer, found.share_of_a), (None, None));
        assert_eq!(found.first, "_PyEval_EvalFrameDefault");
        assert!(Found::of(&profile("{}", "1")).is_err() && Found::of("{}").is_err());
    }
}
