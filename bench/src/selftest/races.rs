//! Runs races one after the other, and stores each in a file as soon as it is over.

use super::neighbour::Neighbour;
use super::parts::{Part, SERVICE_NS};
use super::server;
use crate::drome::Drome;
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

/// The result of a race.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    pub decision: Decision,
    /// Whether its confidence interval contains the true ratio; `None` if it has no interval.
    pub covers: Option<bool>,
    /// Time until the decision.
    pub elapsed_s: f64,
    /// The number of rounds until the decision.
    pub rounds: u64,
}

/// What a race decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The first server is faster: true wherever there is a difference.
    First,
    /// The second server is faster: never true.
    Second,
    /// They are equal within 2 %.
    Equal,
    /// The race was inconclusive.
    Undecided,
}

/// How races are run on this machine.
#[derive(Clone, Debug)]
struct Calibration {
    /// How long the server takes for a request, in nanoseconds.
    request_ns: f64,
    /// The cores of the servers.
    server_cpus: Vec<usize>,
}

/// Options of a race beside a neighbour (background load), which may take five times as long as one without.
const BESIDE_NEIGHBOUR: [&str; 4] = ["--precision", "3%", "--budget", "5min"];

/// Runs races and stores their reports.
pub struct Races<'d> {
    drome: &'d Drome,
    log: File,
    /// The lines of the file.
    earlier: Vec<Value>,
    /// What is measured once, before the first race.
    calibration: Option<Calibration>,
}

impl<'d> Races<'d> {
    /// With `resume`, races that are in the file are not repeated; otherwise the file is emptied.
    pub fn new(drome: &'d Drome, log: &Path, resume: bool) -> Result<Self> {
        let text = if resume { std::fs::read_to_string(log).unwrap_or_default() } else { String::new() };
        // A line that was cut off does not count.
        let earlier: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let mut options = OpenOptions::new();
        options.create(true).append(resume).write(true).truncate(!resume);
        let log = options.open(log).with_context(|| format!("can't write {}", log.display()))?;
        let calibration = earlier.iter().find_map(Calibration::read);
        Ok(Self { drome, log, earlier, calibration })
    }

    /// The results of this many races of a part.
    pub fn run(&mut self, part: &Part, races: usize) -> Result<Vec<Outcome>> {
        let mut outcomes = Vec::new();
        for index in 0..races {
            let is_this = |line: &&Value| line["part"] == part.name && line["index"] == index;
            let line = match self.earlier.iter().find(is_this) {
                Some(line) => line.clone(),
                None => self.race(part, index)?,
            };
            let outcome = read(&line)?;
            eprintln!(
                "{} {}/{races}: {:?} after {:.0} s",
                part.name,
                index + 1,
                outcome.decision,
                outcome.elapsed_s
            );
            outcomes.push(outcome);
        }
        Ok(outcomes)
    }

    /// Runs a race and returns its line of the file.
    fn race(&mut self, part: &Part, index: usize) -> Result<Value> {
        let Calibration { request_ns, server_cpus } = match &self.calibration {
            Some(calibration) => calibration.clone(),
            None => self.calibrate()?,
        };
        let slower_ns = SERVICE_NS + (request_ns * part.cost).round() as u64;
        let [one, other] = [SERVICE_NS, slower_ns].map(|spin_ns| server(self.drome, spin_ns));
        let neighbour = part.neighbour.then(|| Neighbour::start(&server_cpus, index as u64));
        let rest: &[&str] = if part.neighbour { &BESIDE_NEIGHBOUR } else { &[] };
        let report = self.drome.json(&[&["race", &one, &other, "--format", "json"], rest].concat())?;
        drop(neighbour);
        let more_ns = slower_ns - SERVICE_NS;
        let line = json!({"part": part.name, "index": index, "more_ns": more_ns, "report": report});
        writeln!(self.log, "{line}")?;
        Ok(line)
    }

    /// Measures how long a request takes in a race.
    fn calibrate(&mut self) -> Result<Calibration> {
        let server = server(self.drome, SERVICE_NS);
        let report = self.drome.json(&["race", &server, &server, "--format", "json", "--rounds", "1"])?;
        let rate = report["cells"][0]["contenders"][0]["rate_per_s"]["median"].as_f64();
        let request_ns = 1e9 / rate.context("a race of equals has no rate")?;
        eprintln!("a request takes the server {:.2} µs", request_ns / 1e3);
        let line =
            json!({"request_ns": request_ns, "server_cpus": report["race"]["held_equal"]["server_cpus"]});
        writeln!(self.log, "{line}")?;
        let calibration = Calibration::read(&line).context("a race of equals does not tell its cores")?;
        Ok(self.calibration.insert(calibration).clone())
    }
}

impl Calibration {
    fn read(line: &Value) -> Option<Self> {
        let cpus = line["server_cpus"].as_array()?.iter();
        let server_cpus = cpus.map(|cpu| Some(cpu.as_u64()? as usize)).collect::<Option<_>>()?;
        Some(Self { request_ns: line["request_ns"].as_f64()?, server_cpus })
    }
}

/// Compares a race's report with the truth: the second server takes a known number of nanoseconds more for a request. What share of the
/// first server's time that is depends on the machine's speed during the race, which follows from the first server's rate.
fn read(line: &Value) -> Result<Outcome> {
    let (report, more_ns) = (&line["report"], line["more_ns"].as_f64());
    let race = &report["race"];
    let decision = match (race["decided"].as_str(), race["faster"].as_str()) {
        (Some("faster"), Some("A")) => Decision::First,
        (Some("faster"), Some("B")) => Decision::Second,
        (Some("equal"), _) => Decision::Equal,
        _ => Decision::Undecided,
    };
    let bounds = [race["ratio"]["low"].as_f64(), race["ratio"]["high"].as_f64()];
    let covers = match bounds {
        // The second one's rate as a share of the first's.
        [Some(low), Some(high)] => share(report, more_ns).map(|truth| low <= truth && truth <= high),
        _ => None,
    };
    let elapsed_s = race["elapsed_s"].as_f64().context("a race's report has no elapsed_s")?;
    let rounds = race["blocks"].as_u64().context("a race's report has no rounds")?;
    Ok(Outcome { decision, covers, elapsed_s, rounds })
}

/// The true rate of the second server as a share of the first's.
fn share(report: &Value, more_ns: Option<f64>) -> Option<f64> {
    let contenders = report["cells"][0]["contenders"].as_array()?;
    let first = contenders.iter().find(|contender| contender["name"] == "A")?;
    let request_ns = 1e9 / first["rate_per_s"]["median"].as_f64()?;
    Some(request_ns / (request_ns + more_ns?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A race in which the first server takes 28 µs for a request, and the second one `more_ns` longer.
    fn line(decided: Option<&str>, faster: Option<&str>, ratio: (f64, f64), more_ns: u64) -> Value {
        let (low, high) = ratio;
        let ratio = json!({"median": f64::midpoint(low, high), "low": low, "high": high});
        let race =
            json!({"decided": decided, "faster": faster, "ratio": ratio, "elapsed_s": 12.5, "blocks": 3});
        let first = json!({"name": "A", "rate_per_s": {"median": 1e9 / 28_000.0}});
        let cells = json!([{"contenders": [{"name": "B"}, first]}]);
        json!({"more_ns": more_ns, "report": {"race": race, "cells": cells}})
    }

    #[test]
    fn a_report_is_read_against_the_truth() {
        let faster = read(&line(Some("faster"), Some("A"), (0.89, 0.93), 2_800)).unwrap();
        let expected = Outcome { decision: Decision::First, covers: Some(true), elapsed_s: 12.5, rounds: 3 };
        assert_eq!(faster, expected);
        let slower_machine = read(&line(Some("faster"), Some("A"), (0.89, 0.93), 1_400)).unwrap();
        assert_eq!(slower_machine.covers, Some(false), "half as much more is 0.952");
        let wrong = read(&line(Some("faster"), Some("B"), (1.01, 1.1), 2_800)).unwrap();
        assert_eq!((wrong.decision, wrong.covers), (Decision::Second, Some(false)));
        assert_eq!(read(&line(None, None, (0.99, 1.3), 2_800)).unwrap().decision, Decision::Undecided);
        assert_eq!(read(&line(Some("equal"), None, (0.99, 1.01), 0)).unwrap().decision, Decision::Equal);
    }

    #[test]
    fn a_report_that_says_nothing_is_an_error() {
        assert!(read(&json!({})).is_err());
    }
}
