//! Decides from one member's turns and pauses whether it is warm. Pure.

use crate::heat::turns::cycles::TurnResult;
use judge::IN_A_ROW;
use model::Cell;
use model::contender::Class;
use model::heat::Start;
use stats::heats::{Sample, Settling, Warmth, relative_to_hub, settling_by_either};
use std::time::Duration;

/// Under which load a start has settled before a cell begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Settled {
    /// Under none.
    Never,
    /// Under that of another cell.
    Elsewhere,
    /// Under the load that warms it up for this cell, too, which had lasted this long.
    AsHere { load_s: f64 },
}

impl Settled {
    /// What is known of a start when it is its turn to be measured in `cell`, one of these cells of the study.
    pub fn before(cell: usize, start: &Start, cells: &[Cell]) -> Self {
        let settled = || start.cells.iter().filter(|(_, of)| of.settled == Some(true));
        let is_alike = |other: usize| {
            cells.get(cell).zip(cells.get(other)).is_some_and(|(one, other)| one.warms_up_like(other))
        };
        let as_here = settled().filter(|(other, _)| is_alike(**other)).map(|(_, of)| of.warmup_ns).max();
        match as_here {
            Some(ns) => Self::AsHere { load_s: ns as f64 / 1e9 },
            None if settled().next().is_some() => Self::Elsewhere,
            None => Self::Never,
        }
    }

    /// When a server of this class is warm for the cell.
    pub fn warmth(self, class: Class) -> Warmth {
        match self {
            Self::Never => class.warmth(),
            Self::Elsewhere => class.warmth().once_more(),
            // Its code for these very requests is compiled, its processes exist: caches and connections are warm after a moment.
            Self::AsHere { .. } => Warmth::NATIVE,
        }
    }
}

/// A turn of a member.
#[derive(Clone, Copy, Debug)]
pub struct TurnRate {
    /// The middle of the turn, in seconds of the monotonic clock.
    pub at_s: f64,
    /// The natural logarithm of its rate.
    pub log: f64,
    /// How long the member has been loaded by the end of the turn, in seconds.
    pub load_s: f64,
    /// Whether nothing disturbed it.
    pub is_quiet: bool,
}

/// The warm-up of one member.
#[derive(Clone, Debug)]
pub struct MemberWarmUp {
    pub class: Class,
    pub is_hub: bool,
    /// What it needs to be warm.
    pub warmth: Warmth,
    /// Whether its start had settled before.
    pub settled_before: Settled,
    /// Its turns so far.
    pub rates: Vec<TurnRate>,
    pub load_s: f64,
    pub pause_s: f64,
    /// Whether it worked through the whole of the last pause.
    pub is_compiling: bool,
    /// The number of pauses in a row in which it rested at once.
    pub rests: usize,
    /// The load before the measurement, in seconds.
    pub warmup_s: f64,
    pub last: Option<Settling>,
    pub is_over: bool,
    pub is_settled: Option<bool>,
}

impl MemberWarmUp {
    /// The state before any load.
    pub fn new(class: Class, is_hub: bool, settled_before: Settled) -> Self {
        Self {
            class,
            is_hub,
            warmth: settled_before.warmth(class),
            settled_before,
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

    /// Decides whether it is warm by now, or at the limit; `hub` has the hub's rates, as (moment in seconds, natural logarithm).
    pub fn decide(&mut self, hub: &[(f64, f64)], least: Duration, limit: Duration) {
        let least_load_s = self.warmth.least_load_s.max(least.as_secs_f64());
        let warmth = Warmth { least_load_s, ..self.warmth };
        let found = settling_by_either(&self.samples(hub), &self.samples(&[]), warmth);
        // One that rested at once in several pauses in a row has nothing left to compile: its slices need not prove that its rate is level, which
        // takes a minute where they scatter.
        let has_compiled = self.rests >= IN_A_ROW && found.is_level;
        let is_warm = (found.is_warm || has_compiled) && !self.is_compiling;
        self.is_over = is_warm || self.is_at(limit);
        self.warmup_s = self.load_s;
        self.last = Some(Settling { is_warm, ..found });
    }

    /// The load after which it was warm, in seconds, with that of an earlier cell under which it had settled, if that is the same.
    pub fn warmed_up_s(&self) -> f64 {
        match self.settled_before {
            Settled::AsHere { load_s } => load_s + self.warmup_s,
            Settled::Elsewhere | Settled::Never => self.warmup_s,
        }
    }

    /// Lets it warm up further, because the turns that count show that it was not warm: what it had settled under before proves nothing any
    /// more. Returns whether it may.
    pub fn go_on(&mut self, limit: Duration) -> bool {
        self.warmth = self.class.warmth();
        self.is_over = self.is_at(limit);
        !self.is_over
    }

    /// Notes that it compiles while it runs, which nothing showed before: it has to be loaded as such a server is. Returns whether that is new.
    pub fn turns_out_to_compile(&mut self, limit: Duration) -> bool {
        let is_new = self.class != Class::Jit;
        self.class = Class::Jit;
        if is_new {
            self.go_on(limit);
        }
        is_new
    }

    /// Whether its load and pauses so far have reached this limit.
    pub fn is_at(&self, limit: Duration) -> bool {
        self.load_s + self.pause_s >= limit.as_secs_f64()
    }

    /// Records whether it still works after this number of naps (parts of a pause); `is_known`: whether its CPU time is known.
    pub fn after_nap(&mut self, naps: usize, works: bool, is_known: bool) {
        self.is_compiling = works && is_known;
        if naps == 1 {
            self.rests = if works { 0 } else { self.rests + 1 };
        }
    }

    pub fn take(&mut self, result: &TurnResult) {
        self.load_s += result.loaded_s;
        let (at_s, load_s, is_quiet) = (result.at_s, self.load_s, result.void.is_none());
        self.rates.extend(result.log_rate.map(|log| TurnRate { at_s, log, load_s, is_quiet }));
    }

    /// The turns that show how warm it is: those that nothing disturbed, or all, where most were disturbed.
    pub fn telling(&self) -> Vec<TurnRate> {
        let quiet: Vec<TurnRate> = self.rates.iter().copied().filter(|rate| rate.is_quiet).collect();
        if quiet.len() * 2 >= self.rates.len() { quiet } else { self.rates.clone() }
    }

    /// Its rates relative to these of the hub at the time; its rates as they are where there are none, and for the hub itself.
    pub fn samples(&self, hub: &[(f64, f64)]) -> Vec<Sample> {
        let telling = self.telling();
        let rates: Vec<(f64, f64)> = telling.iter().map(|rate| (rate.at_s, rate.log)).collect();
        let relative = relative_to_hub(&rates, if self.is_hub { &[] } else { hub });
        let loads = telling.iter().map(|rate| rate.load_s);
        loads.zip(relative).map(|(load_s, log_rate)| Sample { load_s, log_rate }).collect()
    }

    /// Whether it has settled, by the warm-up and, where given, by the turns that count; `None` if neither has enough samples.
    pub fn settled(&self, counted: Option<Settling>) -> Option<bool> {
        let is_known = matches!(self.settled_before, Settled::AsHere { .. })
            || [self.last, counted].iter().flatten().any(|found| found.change.is_some());
        let is_warm = self.last.is_none_or(|last| last.is_warm);
        is_known.then_some(is_warm && counted.is_none_or(|counted| !counted.is_changing))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::processes::cpu_sampler::CpuUsage;
    use judge::example::in_heats::start;

    const LEAST: Duration = Duration::from_millis(200);

    /// A member and the hub's rates, loaded in turns of 100 ms on a machine whose speed changes slowly.
    fn course(
        class: Class,
        turns: u32,
        limit: Duration,
        rate: impl Fn(f64) -> f64,
    ) -> (MemberWarmUp, Vec<(f64, f64)>) {
        let (mut of, mut hub) = (MemberWarmUp::new(class, false, Settled::Never), Vec::new());
        for nth in 0..turns {
            let (at_s, load_s) = (f64::from(nth) * 0.2, f64::from(nth) * 0.1);
            let machine = 1.0 + 0.05 * (at_s / 20.0).sin();
            hub.push((at_s, (50_000.0 * machine).ln()));
            of.take(&TurnResult {
                at_s: at_s + 0.1,
                log_rate: Some((rate(load_s) * machine).ln()),
                ..turn(0.1)
            });
        }
        of.decide(&hub, LEAST, limit);
        (of, hub)
    }

    /// A turn that nothing disturbed.
    fn turn(loaded_s: f64) -> TurnResult {
        TurnResult { used: CpuUsage::default(), void: None, at_s: 0.0, loaded_s, log_rate: Some(0.0) }
    }

    #[test]
    fn a_native_server_is_warm_after_a_moment_and_one_that_compiles_when_it_is_shown() {
        let limit = Duration::from_mins(2);
        let is_over = |class, turns, rate: fn(f64) -> f64| course(class, turns, limit, rate).0.is_over;
        let steady = |_| 80_000.0;
        assert!(is_over(Class::Native, 3, steady) && !is_over(Class::Native, 1, steady));
        assert!(is_over(Class::Jit, 120, steady) && !is_over(Class::Jit, 50, steady));
        assert!(!is_over(Class::Jit, 300, |s| 10_000.0 + 1_000.0 * s), "it still gets faster");
    }

    #[test]
    fn one_that_compiles_is_not_warm_and_one_that_rested_in_three_pauses_needs_only_to_be_level() {
        // Slices that scatter by more than a level could be shown by.
        let scattering = |s: f64| 80_000.0 * (1.0 + 0.1 * (s * 7_919.0).sin());
        let limit = Duration::from_mins(2);
        let decided = |prepare: fn(&mut MemberWarmUp)| {
            let (mut of, hub) = course(Class::Jit, 120, limit, scattering);
            prepare(&mut of);
            of.decide(&hub, LEAST, limit);
            of.is_over
        };
        assert!(!decided(|_| ()));
        assert!(decided(|of| (0..3).for_each(|_| of.after_nap(1, false, true))));
        assert!(!decided(|of| (0..5).for_each(|nth| of.after_nap(1, nth == 3, true))));
        let (mut of, hub) = course(Class::Jit, 120, limit, |_| 80_000.0);
        assert!(of.is_over);
        (1..=10).for_each(|nap| of.after_nap(nap, true, true));
        of.decide(&hub, LEAST, limit);
        assert!(!of.is_over, "it works through a whole pause");
        of.after_nap(1, true, false);
        of.decide(&hub, LEAST, limit);
        assert!(of.is_over, "nobody knows whether it compiles");
    }

    #[test]
    fn one_that_has_settled_under_the_same_load_needs_a_moment_and_under_another_a_part() {
        let cell = |workload: &str, load: &str| -> Cell {
            toml::from_str(&format!("title = ''\nworkload = '{workload}'\nload = {load}")).unwrap()
        };
        let closed = "{ closed = { connections = 64 } }";
        let open = "{ open = { rate_per_s = 500, connections = 64 } }";
        let more = "{ open = { rate_per_s = 500, connections = 65 } }";
        let cells = [cell("hello", closed), cell("hello", open), cell("json", closed), cell("hello", more)];
        let mut start = start(0, 0, "a", &[0]);
        start.cells.get_mut(&0).unwrap().warmup_ns = 12_000_000_000;
        let before = |cell, start: &Start| Settled::before(cell, start, &cells);
        assert_eq!(before(1, &start), Settled::AsHere { load_s: 12.0 });
        assert_eq!([2, 3, 9].map(|cell| before(cell, &start)), [Settled::Elsewhere; 3]);
        let settled = before(1, &start);
        start.cells.get_mut(&0).unwrap().settled = Some(false);
        assert_eq!((before(1, &start), before(2, &start)), (Settled::Never, Settled::Never));

        let mut of = MemberWarmUp::new(Class::Jit, false, settled);
        assert!(!of.warmth.is_shown && of.warmth == Warmth::NATIVE);
        (0..3).for_each(|_| of.take(&turn(0.1)));
        of.decide(&[], LEAST, Duration::from_mins(2));
        assert!(of.is_over && (of.warmed_up_s() - 12.3).abs() < 1e-6 && of.settled(None) == Some(true));
        // If its slices then still change, it needs what any server of its class does.
        assert!(of.go_on(Duration::from_mins(2)) && of.warmth == Class::Jit.warmth());
        of.take(&turn(0.1));
        of.decide(&[], LEAST, Duration::from_mins(2));
        assert!(!of.is_over && !of.go_on(Duration::from_millis(400)));
    }

    #[test]
    fn one_that_turns_out_to_compile_needs_what_such_a_server_does() {
        let limit = Duration::from_mins(2);
        let (mut of, hub) = course(Class::Native, 3, limit, |_| 80_000.0);
        assert!(of.is_over && of.settled(None).is_none(), "three turns show nothing");
        assert!(of.turns_out_to_compile(limit) && !of.is_over && of.warmth == Class::Jit.warmth());
        assert!(!of.turns_out_to_compile(limit), "it is known");
        of.take(&turn(0.1));
        of.decide(&hub, LEAST, limit);
        assert!(!of.is_over && of.settled(None).is_none());
    }

    #[test]
    fn one_that_has_not_settled_at_the_limit_is_measured_and_marked() {
        let rising = |s: f64| 10_000.0 + 1_000.0 * s;
        let (of, _) = course(Class::Jit, 101, Duration::from_secs(10), rising);
        assert!(of.is_over && (of.warmup_s - 10.1).abs() < 1e-6);
        assert_eq!(of.settled(None), Some(false));
        assert_eq!(MemberWarmUp::new(Class::Native, false, Settled::Never).settled(None), None);
    }
}
