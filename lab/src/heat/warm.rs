//! Warm-up: every member is loaded in turns until its rate has settled, relative to the hub's at the time, or as it is, whichever is
//! better known. One that compiles while it runs is loaded for a second at a time and has a pause after it, because its compiler shares
//! the servers' cores with the work that it compiles: Spring Boot came to 28,000/s after 34 s of steady load, and to 37,000/s after 21 s
//! half of which were pauses. A pause lasts as long as the load before it, or until the server rests: one that works through a whole
//! pause is still being compiled.

use super::cell::Bout;
use super::cycled::{Cycled, Turned};
use super::members::Trouble;
use super::pieces;
use model::contender::Class;
use model::heat::{Counts, Step};
use stats::heats::{Sample, Settling, Warmth, relative_to_hub, settling, settling_by_either};
use std::time::{Duration, Instant};

/// Of a server that compiles while it runs: load in a row, and the pause after it, in seconds.
const AT_A_TIME_S: f64 = 1.0;

/// A pause is taken in parts, so that a request to stop is soon heard, and a server that rests is not waited for.
const NAP: Duration = Duration::from_millis(100);

/// A server that uses no more than this share of a core in such a part rests.
const RESTING: f64 = 0.02;

/// A server that rested at once in so many pauses in a row has nothing left to compile: that its rate is level need not be shown by
/// slices alone, which takes a minute where they scatter.
const RESTS: usize = 3;

/// A turn of a member.
#[derive(Clone, Copy, Debug)]
struct Rate {
    /// Its middle, in seconds of the monotonic clock.
    at_s: f64,
    /// The natural logarithm of its rate.
    log: f64,
    /// How long the member has been loaded by its end, in seconds.
    load_s: f64,
    /// Nobody disturbed it.
    is_quiet: bool,
}

/// One member's course.
#[derive(Clone, Debug)]
struct OfMember {
    class: Class,
    is_hub: bool,
    /// Its start has settled in another cell.
    has_settled: bool,
    /// Its turns so far.
    rates: Vec<Rate>,
    load_s: f64,
    pause_s: f64,
    /// It worked through the whole of the last pause.
    is_compiling: bool,
    /// So many pauses in a row in which it rested at once.
    rests: usize,
    /// Load before the measurement.
    warmup_s: f64,
    last: Option<Settling>,
    is_over: bool,
    is_settled: Option<bool>,
}

/// The courses of all members of a cell, each by its place among them.
pub struct Course {
    members: Vec<OfMember>,
    least: Duration,
    limit: Duration,
}

impl Course {
    /// Nothing was loaded yet.
    pub fn new(bout: &Bout<'_, '_>) -> Self {
        let run = bout.field.run;
        let of = |member: usize| OfMember {
            // What is not known to be quicker is not expected to be; the hub is native.
            class: match run.contenders.get(&bout.start(member).contender) {
                Some(entrant) => entrant.class.unwrap_or(Class::Managed),
                None => Class::Native,
            },
            is_hub: bout.is_hub(member),
            has_settled: bout.start(member).cells.values().any(|cell| cell.settled == Some(true)),
            rates: Vec::new(),
            load_s: 0.0,
            pause_s: 0.0,
            is_compiling: false,
            rests: 0,
            warmup_s: 0.0,
            last: None,
            is_over: false,
            is_settled: None,
        };
        let design = &run.study.design;
        let limit = design.heats.map_or(Duration::MAX, |heats| heats.warmup_limit);
        Self { members: (0..bout.who.len()).map(of).collect(), least: design.warmup, limit }
    }

    /// Loads all members until each has settled, or has reached the limit.
    pub fn warm_up(&mut self, bout: &mut Bout<'_, '_>) -> Result<(), Trouble> {
        loop {
            let open = self.open(bout);
            if open.is_empty() {
                return Ok(());
            }
            let waits_for = open.last().map(|member| bout.start(*member).contender.clone());
            let of = self.members.len();
            bout.tell(&Step::Warming { cell: bout.cell, done: of - open.len(), of, waits_for });
            if let Some(hub) = (0..of).find(|member| self.members[*member].is_hub && !open.contains(member)) {
                self.load(bout, hub)?;
            }
            let mut pause_s: f64 = 0.0;
            for member in &open {
                let before_s = self.members[*member].load_s;
                let at_a_time_s = if self.members[*member].class == Class::Jit { AT_A_TIME_S } else { 0.0 };
                loop {
                    self.load(bout, *member)?;
                    let loaded_s = self.members[*member].load_s - before_s;
                    if loaded_s >= at_a_time_s || !bout.is_alive(*member) {
                        pause_s = pause_s.max(at_a_time_s.min(loaded_s));
                        break;
                    }
                }
            }
            for member in open {
                self.decide(member);
            }
            self.pause(bout, pause_s)?;
        }
    }

    /// The members that are alive and are not warm yet.
    fn open(&self, bout: &Bout<'_, '_>) -> Vec<usize> {
        (0..self.members.len()).filter(|m| !self.members[*m].is_over && bout.is_alive(*m)).collect()
    }

    /// One turn.
    fn load(&mut self, bout: &mut Bout<'_, '_>, member: usize) -> Result<(), Trouble> {
        if let Some(turned) = bout.turn(member)? {
            self.members[member].take(&turned);
        }
        Ok(())
    }

    /// Whether a member is warm by now.
    fn decide(&mut self, member: usize) {
        let hub = self.hub();
        let (least, limit) = (self.least.as_secs_f64(), self.limit.as_secs_f64());
        let of = &mut self.members[member];
        let warmth = if of.has_settled { of.class.warmth().once_more() } else { of.class.warmth() };
        let warmth = Warmth { least_load_s: warmth.least_load_s.max(least), ..warmth };
        let found = settling_by_either(&of.samples(&hub), &of.samples(&[]), warmth);
        let has_compiled = of.rests >= RESTS && found.is_level;
        let is_warm = (found.is_warm || has_compiled) && !of.is_compiling;
        of.is_over = is_warm || of.load_s + of.pause_s >= limit;
        of.warmup_s = of.load_s;
        of.last = Some(Settling { is_warm, ..found });
    }

    /// A compiler has the servers' cores to itself, until it has nothing to do, or for so long at the most.
    fn pause(&mut self, bout: &mut Bout<'_, '_>, most_s: f64) -> Result<(), Trouble> {
        let waiting: Vec<usize> =
            self.open(bout).into_iter().filter(|m| self.members[*m].class == Class::Jit).collect();
        let (began, mut working, mut naps) = (Instant::now(), waiting.clone(), 0);
        while !working.is_empty() && began.elapsed().as_secs_f64() < most_s {
            let shares = bout.nap(NAP)?;
            naps += 1;
            working.retain(|member| shares[*member].is_none_or(|share| share > RESTING));
            for member in &waiting {
                let works = working.contains(member);
                // Of one whose processes can't be watched nobody knows.
                self.members[*member].after_nap(naps, works, shares[*member].is_some());
            }
        }
        for member in waiting {
            self.members[member].pause_s += began.elapsed().as_secs_f64();
        }
        bout.field.charge_all();
        Ok(())
    }

    /// Looks at the cycles that count: which members still got faster or slower in them. Of cycles that others disturbed nothing is said:
    /// it could be theirs.
    pub fn judge(&mut self, bout: &Bout<'_, '_>, cycled: &Cycled) -> Vec<usize> {
        let names: Vec<String> = (0..self.members.len()).map(|m| bout.start(m).contender.clone()).collect();
        let counts = pieces::counts(&names, bout.shape.cycles, &cycled.turns);
        let counted = pieces::counted(&counts, &cycled.turns);
        let is_counted =
            |(cycle, _, turned): &&(usize, usize, Turned)| counted.contains(cycle) && counts.has(turned.void);
        for (_, member, turned) in cycled.rates.iter().filter(is_counted) {
            self.members[*member].take(turned);
        }
        let hub = self.hub();
        let mut changing = Vec::new();
        for (member, of) in self.members.iter_mut().enumerate() {
            let counted: Vec<Sample> =
                of.samples(&hub).into_iter().filter(|s| s.load_s > of.warmup_s).collect();
            // Under open load the rate is what was offered.
            let found = (!bout.shape.is_window).then(|| settling(&counted, of.class.warmth().checked()));
            let is_changing = found.is_some_and(|found| found.is_changing);
            of.is_settled = found.and_then(|found| of.settled(found));
            if is_changing && counts == Counts::Quiet && !of.is_hub && bout.is_alive(member) {
                changing.push(member);
            }
        }
        changing
    }

    /// Has these members warmed up further, where they may be; whether any may.
    pub fn goes_on(&mut self, changing: &[usize]) -> bool {
        let limit = self.limit.as_secs_f64();
        let mut goes_on = false;
        for member in changing {
            let of = &mut self.members[*member];
            of.is_over = of.load_s + of.pause_s >= limit;
            goes_on |= !of.is_over;
        }
        goes_on
    }

    /// Load before the measurement, and whether the rate had settled by then.
    pub fn came_to(&self, member: usize) -> (u64, Option<bool>) {
        let of = &self.members[member];
        ((of.warmup_s * 1e9) as u64, of.is_settled)
    }

    /// The hub's rates: (moment, natural logarithm).
    fn hub(&self) -> Vec<(f64, f64)> {
        let hub = self.members.iter().find(|member| member.is_hub);
        hub.map(|hub| hub.telling().iter().map(|rate| (rate.at_s, rate.log)).collect()).unwrap_or_default()
    }
}

impl OfMember {
    /// After so many parts of a pause: whether it works still.
    fn after_nap(&mut self, naps: usize, works: bool, is_known: bool) {
        self.is_compiling = works && is_known;
        if naps == 1 {
            self.rests = if works { 0 } else { self.rests + 1 };
        }
    }

    fn take(&mut self, turned: &Turned) {
        self.load_s += turned.loaded_s;
        let (at_s, load_s, is_quiet) = (turned.at_s, self.load_s, turned.void.is_none());
        self.rates.extend(turned.log_rate.map(|log| Rate { at_s, log, load_s, is_quiet }));
    }

    /// The turns that tell how warm it is: those that nobody disturbed, or all, where most were.
    fn telling(&self) -> Vec<Rate> {
        let quiet: Vec<Rate> = self.rates.iter().copied().filter(|rate| rate.is_quiet).collect();
        if quiet.len() * 2 >= self.rates.len() { quiet } else { self.rates.clone() }
    }

    /// Its rates relative to these of the hub at the time; as they are where there are none, and the hub's own.
    fn samples(&self, hub: &[(f64, f64)]) -> Vec<Sample> {
        let telling = self.telling();
        let rates: Vec<(f64, f64)> = telling.iter().map(|rate| (rate.at_s, rate.log)).collect();
        let relative = relative_to_hub(&rates, if self.is_hub { &[] } else { hub });
        let loads = telling.iter().map(|rate| rate.load_s);
        loads.zip(relative).filter_map(|(load_s, log)| Some(Sample { load_s, log_rate: log? })).collect()
    }

    /// By the warm-up, and by what counts; unknown where neither has enough samples.
    fn settled(&self, counted: Settling) -> Option<bool> {
        let before = self.last.and_then(|last| last.change);
        let is_known = before.is_some() || counted.change.is_some();
        let is_warm = self.last.is_none_or(|last| last.is_warm);
        is_known.then_some(is_warm && !counted.is_changing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heat::snapshot::Between;

    fn member(class: Class, is_hub: bool) -> OfMember {
        OfMember {
            class,
            is_hub,
            has_settled: false,
            rates: Vec::new(),
            load_s: 0.0,
            pause_s: 0.0,
            is_compiling: false,
            rests: 0,
            warmup_s: 0.0,
            last: None,
            is_over: false,
            is_settled: None,
        }
    }

    /// A member and the hub, loaded in turns of 100 ms on a machine whose speed changes slowly.
    fn course(class: Class, turns: u32, limit: Duration, rate: impl Fn(f64) -> f64) -> Course {
        let members = vec![member(Class::Native, true), member(class, false)];
        let mut course = Course { members, least: Duration::from_millis(200), limit };
        let turned = |at_s: f64, per_s: f64| Turned {
            used: Between::default(),
            void: None,
            at_s,
            loaded_s: 0.1,
            log_rate: Some(per_s.ln()),
        };
        for nth in 0..turns {
            let (at_s, load_s) = (f64::from(nth) * 0.2, f64::from(nth) * 0.1);
            let machine = 1.0 + 0.05 * (at_s / 20.0).sin();
            course.members[0].take(&turned(at_s, 50_000.0 * machine));
            course.members[1].take(&turned(at_s + 0.1, rate(load_s) * machine));
        }
        course.decide(1);
        course
    }

    #[test]
    fn a_native_server_is_warm_after_a_moment_and_one_that_compiles_when_it_is_shown() {
        let limit = Duration::from_mins(2);
        let is_over =
            |class, turns, rate: fn(f64) -> f64| course(class, turns, limit, rate).members[1].is_over;
        let steady = |_| 80_000.0;
        assert!(is_over(Class::Native, 3, steady) && !is_over(Class::Native, 1, steady));
        assert!(is_over(Class::Jit, 120, steady) && !is_over(Class::Jit, 50, steady));
        assert!(!is_over(Class::Jit, 300, |s| 10_000.0 + 1_000.0 * s), "it still gets faster");
    }

    #[test]
    fn one_that_compiles_is_not_warm_and_one_that_rested_in_three_pauses_need_only_be_level() {
        // Slices that scatter by more than a level could be shown by.
        let scattering = |s: f64| 80_000.0 * (1.0 + 0.1 * (s * 7_919.0).sin());
        let decided = |prepare: fn(&mut OfMember)| {
            let mut course = course(Class::Jit, 120, Duration::from_mins(2), scattering);
            prepare(&mut course.members[1]);
            course.decide(1);
            course.members[1].is_over
        };
        assert!(!decided(|_| ()));
        assert!(decided(|of| (0..3).for_each(|_| of.after_nap(1, false, true))));
        assert!(!decided(|of| (0..5).for_each(|nth| of.after_nap(1, nth == 3, true))));
        let mut course = course(Class::Jit, 120, Duration::from_mins(2), |_| 80_000.0);
        assert!(course.members[1].is_over);
        (1..=10).for_each(|nap| course.members[1].after_nap(nap, true, true));
        course.decide(1);
        assert!(!course.members[1].is_over, "it works through a whole pause");
        course.members[1].after_nap(1, true, false);
        course.decide(1);
        assert!(course.members[1].is_over, "nobody knows whether it compiles");
    }

    #[test]
    fn one_that_has_not_settled_at_the_limit_is_measured_and_marked() {
        let rising = |s: f64| 10_000.0 + 1_000.0 * s;
        let course = course(Class::Jit, 101, Duration::from_secs(10), rising);
        let of = &course.members[1];
        assert!(of.is_over && (of.warmup_s - 10.1).abs() < 1e-6);
        assert_eq!(
            of.settled(Settling {
                is_warm: false,
                is_level: false,
                is_changing: false,
                change: None,
                load_s: 0.0
            }),
            Some(false)
        );
        assert_eq!(
            member(Class::Native, false).settled(Settling {
                is_warm: true,
                is_level: false,
                is_changing: false,
                change: None,
                load_s: 0.0
            }),
            None
        );
    }
}
