//! Warms up every member in turns until its rate has settled, relative to the hub's at the time, or as it is, whichever is better known. A
//! member that compiles while it runs is loaded for a second at a time and has a pause after it, because its compiler shares the servers'
//! cores with the work that it compiles: Spring Boot reached 28,000/s after 34 s of steady load, and 37,000/s after 21 s half of which were
//! pauses. A pause lasts as long as the load before it, or until the server rests: a server that works through a whole pause is still being
//! compiled.

use crate::heat::active_cell::ActiveCell;
use crate::heat::member_warm_up::{MemberWarmUp, Settled};
use crate::heat::members::HeatError;
use crate::heat::turns::cycles::Cycles;
use model::contender::Class;
use model::heat::{Counts, RESTING, Step};
use stats::heats::{Sample, settling_by_either};
use std::time::{Duration, Instant};

/// For a server that compiles while it runs: the time of load in a row, and of the pause after it, in seconds.
const AT_A_TIME_S: f64 = 1.0;

/// A pause is taken in parts of this length, so that a request to stop is soon heard, and a server that rests is not waited for.
const NAP: Duration = Duration::from_millis(100);

/// The warm-up of all members of a cell, each by its place among them.
pub struct WarmUp {
    members: Vec<MemberWarmUp>,
    least: Duration,
    limit: Duration,
}

impl WarmUp {
    /// The state before any load.
    pub fn new(active: &ActiveCell<'_, '_>) -> Self {
        let run = active.servers.run;
        let of = |member: usize| {
            let start = active.start(member);
            // What is not known to be quicker is not expected to be; the hub is native.
            let class = match run.contenders.get(&start.contender) {
                Some(entrant) => Class::assumed(entrant.class),
                None => Class::Native,
            };
            let settled = Settled::before(active.cell, start, &run.study.cells);
            MemberWarmUp::new(class, active.is_hub(member), settled)
        };
        let design = &run.study.design;
        let (least, limit) = (design.warmup, design.warmup_limit);
        Self { members: (0..active.who.len()).map(of).collect(), least, limit }
    }

    /// Loads all members until each has settled, or has reached the limit.
    pub fn run(&mut self, active: &mut ActiveCell<'_, '_>) -> Result<(), HeatError> {
        loop {
            let open = self.open(active);
            if open.is_empty() {
                return Ok(());
            }
            let waits_for = open.last().map(|member| active.start(*member).contender.clone());
            let of = self.members.len();
            active.tell(&Step::Warming { cell: active.cell, done: of - open.len(), of, waits_for });
            if let Some(hub) = (0..of).find(|member| self.members[*member].is_hub && !open.contains(member)) {
                self.load(active, hub)?;
            }
            let mut pause_s: f64 = 0.0;
            for member in &open {
                let before_s = self.members[*member].load_s;
                let at_a_time_s = if self.members[*member].warmth.is_shown { AT_A_TIME_S } else { 0.0 };
                loop {
                    self.load(active, *member)?;
                    let loaded_s = self.members[*member].load_s - before_s;
                    if loaded_s >= at_a_time_s || !active.is_alive(*member) {
                        pause_s = pause_s.max(at_a_time_s.min(loaded_s));
                        break;
                    }
                }
            }
            let hub = self.hub();
            for member in open {
                self.members[member].decide(&hub, self.least, self.limit);
                if self.members[member].is_over {
                    self.compiles(active, member);
                }
            }
            self.pause(active, pause_s)?;
        }
    }

    /// Looks again, now that a member was loaded, whether it compiles while it runs; returns whether that is new.
    fn compiles(&mut self, active: &ActiveCell<'_, '_>, member: usize) -> bool {
        let of = &mut self.members[member];
        of.class != Class::Jit && active.compiles(member) && of.turns_out_to_compile(self.limit)
    }

    /// The living members that are not warm yet.
    fn open(&self, active: &ActiveCell<'_, '_>) -> Vec<usize> {
        (0..self.members.len()).filter(|m| !self.members[*m].is_over && active.is_alive(*m)).collect()
    }

    /// Loads a member for one turn.
    fn load(&mut self, active: &mut ActiveCell<'_, '_>, member: usize) -> Result<(), HeatError> {
        if let Some(result) = active.turn(member, false)? {
            self.members[member].take(&result);
        }
        Ok(())
    }

    /// Pauses the load, so that a compiler has the servers' cores to itself, until it has nothing to do, or for `most_s` seconds at most.
    fn pause(&mut self, active: &mut ActiveCell<'_, '_>, most_s: f64) -> Result<(), HeatError> {
        let waiting: Vec<usize> =
            self.open(active).into_iter().filter(|m| self.members[*m].warmth.is_shown).collect();
        let (began, mut working, mut naps) = (Instant::now(), waiting.clone(), 0);
        while !working.is_empty() && began.elapsed().as_secs_f64() < most_s {
            let shares = active.nap(NAP)?;
            naps += 1;
            working.retain(|member| shares[*member].is_none_or(|share| share > RESTING));
            for member in &waiting {
                let works = working.contains(member);
                // This is unknown for a member whose processes can't be watched.
                self.members[*member].after_nap(naps, works, shares[*member].is_some());
            }
        }
        for member in waiting {
            self.members[member].pause_s += began.elapsed().as_secs_f64();
        }
        active.servers.charge_all();
        Ok(())
    }

    /// Finds the members that were still getting faster or slower in the cycles that count, or have begun to compile. Cycles that others
    /// disturbed say nothing: the change could be theirs.
    pub fn judge(&mut self, active: &ActiveCell<'_, '_>, cycles: &Cycles) -> Vec<usize> {
        let counts = active.counts(cycles);
        for ((member, result), counts) in cycles.results.iter().zip(cycles.counted(&counts)) {
            if counts {
                self.members[*member].take(result);
            }
        }
        // Under open load the rate is what was offered: the warm-up alone tells.
        let tells = counts == Counts::Quiet && !active.shape.is_window;
        let hub = self.hub();
        let begun: Vec<bool> = (0..self.members.len()).map(|member| self.compiles(active, member)).collect();
        let mut changing = Vec::new();
        for (member, of) in self.members.iter_mut().enumerate() {
            let counted = |hub: &[(f64, f64)]| -> Vec<Sample> {
                of.samples(hub).into_iter().filter(|s| s.load_s > of.warmup_s).collect()
            };
            let checked = of.class.warmth().checked();
            let found = tells.then(|| settling_by_either(&counted(&hub), &counted(&[]), checked));
            of.is_settled = if begun[member] { Some(false) } else { of.settled(found) };
            let is_changing = begun[member] || found.is_some_and(|found| found.is_changing);
            if is_changing && !of.is_hub && active.is_alive(member) {
                changing.push(member);
            }
        }
        changing
    }

    /// Lets these members warm up further, where they may; returns whether any may.
    pub fn goes_on(&mut self, changing: &[usize]) -> bool {
        let mut goes_on = false;
        for member in changing {
            goes_on |= self.members[*member].go_on(self.limit);
        }
        goes_on
    }

    /// The load before the measurement, in nanoseconds, and whether the rate had settled by then.
    pub fn came_to(&self, member: usize) -> (u64, Option<bool>) {
        let of = &self.members[member];
        ((of.warmed_up_s() * 1e9) as u64, of.is_settled)
    }

    /// The hub's rates: (moment, natural logarithm).
    fn hub(&self) -> Vec<(f64, f64)> {
        let hub = self.members.iter().find(|member| member.is_hub);
        hub.map(|hub| hub.telling().iter().map(|rate| (rate.at_s, rate.log)).collect()).unwrap_or_default()
    }
}
