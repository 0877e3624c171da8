//! A sweep: the capacity first, then open loads from an idle rate to past saturation, in an order that the seed shuffles for
//! each repeat; then all contenders side by side at one rate; then the search for the highest rate that keeps a promise. What
//! is measured and how is up to a [`Measure`], so that the sweep itself can be tested without servers and without waiting
//! for time to pass.

mod findings;
mod schedule;
mod searching;
mod servers;
#[cfg(test)]
mod tests;

pub use findings::findings;
pub use servers::{SweepEntry, SweepServers};

use control::fault::Fault;
use judge::IN_A_ROW;
use model::sweep::{Kept, Part};
use model::{Arrivals, Load, Measurement, Promise, SweepTrial};
use searching::{Searching, unknown};
use stats::random;
use std::time::Duration;

/// The resolved options of a sweep.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The offered rates as shares of the capacity.
    pub shares: Vec<f64>,
    /// How often each rate is measured.
    pub repeats: usize,
    /// How many connections share the requests.
    pub connections: usize,
    /// The number of requests after which a connection is replaced.
    pub per_connection: Option<usize>,
    /// How due times are spaced.
    pub arrivals: Arrivals,
    /// The seed of every order, arrival and search.
    pub seed: u64,
    /// The promise to keep, such as `p99 < 10ms`.
    pub keep: Option<Promise>,
    /// The longest duration of the search.
    pub budget: Duration,
    /// The common rate, as a share of the slowest contender's knee.
    pub common_share: f64,
}

/// Measures a contender under a load.
pub trait Measure {
    /// Puts one contender under a load.
    fn measure(&mut self, contender: usize, load: &Load, seed: u64) -> Result<Measurement, Fault>;
    /// Whether a stop was requested, so that the current measurement does not count.
    fn is_stopped(&self) -> bool;
    /// The time since the sweep began.
    fn elapsed(&self) -> Duration;
}

/// Receives the progress of a sweep.
pub trait ShowSweep {
    /// A measurement begins; `done` of about `about` are finished.
    fn begins(&mut self, contender: usize, what: &str, done: usize, about: usize);
    /// A measurement has ended.
    fn observed(&mut self, contender: usize, trial: &SweepTrial);
}

/// The result of a sweep.
#[derive(Clone, Debug, Default)]
pub struct SweepMeasurements {
    /// The trials by contender, in the order in which they were made.
    pub trials: Vec<Vec<SweepTrial>>,
    /// Why each contender was given up, if it was.
    pub given_up: Vec<Option<String>>,
    /// The common rate of all contenders, and the index of the slowest one.
    pub common: Option<(f64, usize)>,
    /// What the search found for each contender.
    pub kept: Vec<Option<Kept>>,
    /// Whether it was cut off, by a stop or by a failure of the lab.
    pub interrupted: bool,
    /// How the lab failed.
    pub lab_failure: Option<String>,
}

/// Runs a sweep. If it is stopped, the result has what was measured until then.
pub fn run(
    setting: &Setting,
    contenders: usize,
    servers: &mut dyn Measure,
    show: &mut dyn ShowSweep,
) -> SweepMeasurements {
    let swept = SweepMeasurements {
        trials: vec![Vec::new(); contenders],
        given_up: vec![None; contenders],
        kept: vec![None; contenders],
        ..SweepMeasurements::default()
    };
    let about = setting.repeats * contenders * (setting.shares.len() + 1 + usize::from(contenders > 1));
    let mut walk = Walk { setting, servers, show, swept, done: 0, about };
    walk.swept.interrupted = walk.all().is_none();
    walk.swept
}

struct Walk<'a> {
    setting: &'a Setting,
    servers: &'a mut dyn Measure,
    show: &'a mut dyn ShowSweep,
    swept: SweepMeasurements,
    done: usize,
    about: usize,
}

impl Walk<'_> {
    /// Runs all parts; `None` when it was stopped.
    fn all(&mut self) -> Option<()> {
        self.capacity()?;
        self.steps()?;
        self.side_by_side()?;
        self.search()
    }

    fn capacity(&mut self) -> Option<()> {
        let contenders = self.swept.trials.len();
        for (repeat, contender) in schedule::blocks(contenders, self.setting.repeats, self.setting.seed) {
            self.trial(contender, Part::Capacity, repeat, None)?;
        }
        for contender in 0..contenders {
            if self.swept.given_up[contender].is_none() && self.capacity_of(contender).is_none() {
                let trials = &self.swept.trials[contender];
                let why = trials.iter().find_map(|t| {
                    let reasons = || t.verdict.as_ref().map(|v| v.reasons.join("; "));
                    t.failed.clone().or_else(reasons)
                });
                let why = why.unwrap_or_else(|| "it was not measured".to_owned());
                self.swept.given_up[contender] =
                    Some(format!("its capacity is unknown, so no share of it can be offered: {why}"));
            }
        }
        Some(())
    }

    fn steps(&mut self) -> Option<()> {
        let (shares, contenders) = (&self.setting.shares, self.swept.trials.len());
        let cells = shares.len() * contenders;
        for (repeat, cell) in schedule::blocks(cells, self.setting.repeats, self.setting.seed ^ 1) {
            let (contender, share) = (cell / shares.len(), shares[cell % shares.len()]);
            if let Some(capacity) = self.capacity_of(contender) {
                self.trial(contender, Part::Step, repeat, Some((share, share * capacity)))?;
            }
        }
        Some(())
    }

    /// Measures all remaining contenders at one rate.
    fn side_by_side(&mut self) -> Option<()> {
        let holds = |c: usize| {
            let held = findings::knee(&self.swept.trials[c]).map(|k| k.median);
            self.swept.given_up[c].is_none().then(|| held.or_else(|| self.capacity_of(c))).flatten()
        };
        let held: Vec<(f64, usize)> =
            (0..self.swept.trials.len()).filter_map(|c| Some((holds(c)?, c))).collect();
        if held.len() < 2 {
            return Some(());
        }
        let (least, slowest) = held.iter().copied().min_by(|a, b| a.0.total_cmp(&b.0))?;
        let rate = least * self.setting.common_share;
        self.swept.common = Some((rate, slowest));
        for (repeat, i) in schedule::blocks(held.len(), self.setting.repeats, self.setting.seed ^ 2) {
            let contender = held[i].1;
            let share = self.capacity_of(contender).map_or(1.0, |capacity| rate / capacity);
            self.trial(contender, Part::Common, repeat, Some((share, rate)))?;
        }
        Some(())
    }

    /// Searches for all contenders in turn, so that a time in which the machine is faster or slower affects all of them.
    fn search(&mut self) -> Option<()> {
        let Some(promise) = self.setting.keep.clone() else { return Some(()) };
        let deadline = self.servers.elapsed() + self.setting.budget;
        let mut searches: Vec<Option<Searching>> =
            (0..self.swept.trials.len()).map(|c| self.begin_search(c)).collect();
        let mut is_going = true;
        let mut stopped = None;
        while is_going && stopped.is_none() {
            is_going = false;
            for (contender, searching) in searches.iter_mut().enumerate() {
                let Some(searching) = searching.as_mut() else { continue };
                if self.swept.given_up[contender].is_some() {
                    searching.ended.get_or_insert("its server failed".to_owned());
                }
                if self.servers.elapsed() >= deadline {
                    searching.ended.get_or_insert("the budget is spent".to_owned());
                }
                if searching.ended.is_some() {
                    continue;
                }
                is_going = true;
                let rate = searching.search.next_rate();
                let at = (rate / searching.capacity, rate);
                let number = searching.asked;
                if self.trial(contender, Part::Search, number, Some(at)).is_none() {
                    stopped = Some("interrupted".to_owned());
                    break;
                }
                searching.learn(self.swept.trials[contender].last(), &promise);
            }
        }
        for (contender, searching) in searches.into_iter().enumerate() {
            self.swept.kept[contender] = Some(searching.map_or_else(
                || unknown(&promise, self.swept.given_up[contender].as_deref()),
                |searching| searching.answer(&promise, stopped.as_deref()),
            ));
        }
        stopped.is_none().then_some(())
    }

    /// Begins a search that knows what the steps have shown.
    fn begin_search(&self, contender: usize) -> Option<Searching> {
        if self.swept.given_up[contender].is_some() {
            return None;
        }
        let promise = self.setting.keep.as_ref()?;
        let capacity = self.capacity_of(contender)?;
        let lowest = self.setting.shares.iter().copied().fold(1.0, f64::min);
        let mut searching = Searching::new(lowest * capacity, capacity)?;
        for trial in self.swept.trials[contender].iter().filter(|t| t.part != Part::Capacity) {
            searching.take(trial, promise);
        }
        searching.settle();
        Some(searching)
    }

    /// Runs one measurement; `None` when it was stopped. A contender that was given up is not measured.
    fn trial(&mut self, contender: usize, part: Part, repeat: usize, at: Option<(f64, f64)>) -> Option<()> {
        if self.swept.given_up[contender].is_some() {
            return Some(());
        }
        if self.servers.is_stopped() {
            return None;
        }
        let what =
            at.map_or_else(|| "closed load".to_owned(), |(share, _)| format!("{:.0} %", share * 100.0));
        self.show.begins(contender, &what, self.done, self.about.max(self.done + 1));
        let (setting, share) = (self.setting, at.map_or(0.0, |(share, _)| share));
        // All contenders meet the same arrivals.
        let seed = random::derive(&[setting.seed, part as u64, repeat as u64, share.to_bits()]);
        let seed = if part == Part::Common {
            random::derive(&[setting.seed, part as u64, repeat as u64])
        } else {
            seed
        };
        let measured = self.servers.measure(contender, &setting.load(at.map(|(_, rate)| rate)), seed);
        if self.servers.is_stopped() {
            return None;
        }
        let measured = match measured {
            Ok(measured) => Ok(measured),
            Err(Fault::Contender(why)) => Err(why),
            Err(Fault::Lab(why)) => {
                self.swept.lab_failure = Some(why);
                return None;
            }
        };
        let trial = findings::trial(part, repeat, at, seed, measured, setting.keep.as_ref());
        self.show.observed(contender, &trial);
        self.swept.trials[contender].push(trial);
        self.done += 1;
        self.give_up(contender);
        Some(())
    }

    /// Gives a contender up that failed too often in a row.
    fn give_up(&mut self, contender: usize) {
        let last = self.swept.trials[contender].iter().rev().take(IN_A_ROW);
        let why: Vec<&String> = last.filter_map(|t| t.failed.as_ref()).collect();
        if why.len() == IN_A_ROW {
            self.swept.given_up[contender] =
                Some(format!("given up after {IN_A_ROW} failures in a row: {}", why[0]));
        }
    }

    fn capacity_of(&self, contender: usize) -> Option<f64> {
        findings::capacity(&self.swept.trials[contender]).map(|c| c.median).filter(|c| *c > 0.0)
    }
}

impl Setting {
    /// The load at this rate; closed where there is none.
    fn load(&self, rate_per_s: Option<f64>) -> Load {
        let (connections, per_connection) = (self.connections, self.per_connection);
        match rate_per_s {
            None => Load::Closed { connections, per_connection },
            Some(rate) => {
                Load::Open { rate_per_s: rate.into(), connections, arrivals: self.arrivals, per_connection }
            }
        }
    }
}
