//! Whether a measurement may be believed, and what bounded it. Pure; every reason carries its figure.

use model::{Bound, Conditions, Load, Plan, Tally, Think, Usage, Verdict};

/// Cores busier than this are taken to be the bound.
pub const BUSY: f64 = 0.90;

/// More wrong answers than this share, and it was not the same work any more.
const WRONG_WORK: f64 = 0.01;

/// Little's law must hold to within this share.
const LITTLE: f64 = 0.05;

/// An achieved rate below this share of the offered one is worth a word.
const ACHIEVED: f64 = 0.99;

/// Fewer answers than this share of what was due, and it was not the load that was asked for: what waits grows
/// for as long as the measurement lasts, and so does its latency. A server that halts for a moment stays above.
const KEPT: f64 = 0.90;

/// Sends that lag by less than this do not matter, whatever the latency.
const LAG_NS: u64 = 1_000_000;

/// Above this, sends may lag by no more than this share of the latency at the same percentile.
const LAG_SHARE: f64 = 0.10;

/// More of the machine's time than this share taken by its host, and it was another machine.
const STEAL_PPM: u64 = 100_000;

/// More of the machine's time than this share used by other programs is worth a word.
const OTHERS_PPM: u64 = 100_000;

/// More of it than this, and the race was against them as well: who waits for the processor more often loses more.
const OTHERS_VOID_PPM: u64 = 200_000;

/// What to do about a host that takes time.
const STEAL_REMEDY: &str = ": measure again when it is quieter, or on a machine of your own; or all the same, with --allow-busy, and believe less";

/// What to do about other programs.
const BUSY_REMEDY: &str =
    ": `drome doctor` names them, stop them; or measure all the same, with --allow-busy, and believe less";

/// Fewer answers a connection than this, and one without any may be chance.
const STARVED_MEAN: u64 = 20;

/// Judges one measurement. `usage` is `None` where the server's processes are not known.
pub fn judge(plan: &Plan, tally: &Tally, usage: Option<&Usage>) -> Verdict {
    judge_as(plan, tally, usage, KEPT)
}

/// The same for a step of a sweep, which goes past saturation on purpose: a server that does not keep up is a finding.
pub fn judge_step(plan: &Plan, tally: &Tally, usage: Option<&Usage>) -> Verdict {
    judge_as(plan, tally, usage, 0.0)
}

/// `kept` is the least share of what was due that must have been answered.
fn judge_as(plan: &Plan, tally: &Tally, usage: Option<&Usage>, kept: f64) -> Verdict {
    let mut case = Case { bound: bound(tally, usage), void: Vec::new(), notes: Vec::new() };
    case.work(tally);
    case.client(plan, tally);
    case.lag(tally);
    case.offered(plan, tally, kept);
    case.little(plan, tally);
    case.starved(tally);
    case.void.extend(tally.halted.clone());
    if tally.interrupted {
        case.void.push("interrupted before its time was up".to_owned());
    }
    let valid = case.void.is_empty();
    Verdict { bound: case.bound, valid, reasons: [case.void, case.notes].concat() }
}

/// Adds what slowed the processor meanwhile. It hits all contenders, so that it voids nothing: where it comes and goes,
/// the intervals are wide.
pub fn note(verdict: &mut Verdict, conditions: &Conditions) {
    if let Some(why) = conditions.throttled.as_ref().filter(|why| !why.is_empty()) {
        verdict.reasons.push(format!("the processor was slowed down meanwhile: {}", why.join(", ")));
    }
}

/// Adds what the machine's host took: much of it voids, but not where it was said that the machine may be busy.
pub fn host(verdict: &mut Verdict, usage: &Usage, may_be_busy: bool) {
    let Some(steal) = usage.steal_ppm.filter(|steal| *steal > STEAL_PPM) else { return };
    let words = format!("the host took {:.0} % of this machine's time", steal as f64 / 1e4);
    tell(verdict, words, STEAL_REMEDY, !may_be_busy);
}

/// Adds what other programs used. They do not hit all contenders alike, block after block, so that much of them voids;
/// not where it was said that the machine may be busy.
pub fn beside(verdict: &mut Verdict, usage: &Usage, may_be_busy: bool) {
    let Some(others) = usage.others_ppm.filter(|others| *others > OTHERS_PPM) else { return };
    let words = format!("other programs used {:.0} % of the machine's time", others as f64 / 1e4);
    tell(verdict, words, BUSY_REMEDY, others > OTHERS_VOID_PPM && !may_be_busy);
}

fn tell(verdict: &mut Verdict, words: String, remedy: &str, voids: bool) {
    if voids {
        verdict.valid = false;
        verdict.reasons.insert(0, words + remedy);
    } else {
        verdict.reasons.push(words);
    }
}

fn bound(tally: &Tally, usage: Option<&Usage>) -> Bound {
    let client = tally.client_core_use().is_some_and(|share| share >= BUSY);
    match usage.and_then(Usage::core_use) {
        Some(share) if share >= BUSY && client => Bound::Both,
        Some(share) if share >= BUSY => Bound::Server,
        Some(_) if !client => Bound::Neither,
        None if !client => Bound::Unknown,
        _ => Bound::Client,
    }
}

struct Case {
    bound: Bound,
    void: Vec<String>,
    notes: Vec<String>,
}

impl Case {
    fn work(&mut self, tally: &Tally) {
        if tally.completed == 0 {
            self.void.push("no request was answered as expected".to_owned());
            return;
        }
        let wrong = tally.errors.wrong_work();
        let share = wrong as f64 / (wrong + tally.completed) as f64;
        let words = format!("{wrong} answers ({:.2} %) were not the work that was asked for", share * 100.0);
        match wrong {
            0 => {}
            _ if share > WRONG_WORK => self.void.push(words),
            _ => self.notes.push(words),
        }
        let other = tally.errors.total() - wrong;
        if other > 0 {
            self.notes.push(format!("{other} requests failed ({})", main_cause(tally)));
        }
    }

    /// A closed load that the client bounds is still a floor; an open one was not the load that was asked for.
    fn client(&mut self, plan: &Plan, tally: &Tally) {
        let Some(share) = tally.client_core_use().filter(|share| *share >= BUSY) else {
            return;
        };
        let busy = format!("the load generator used {:.0} % of its {} core(s)", share * 100.0, tally.threads);
        match plan.load {
            Load::Open { .. } => {
                self.void.push(format!("{busy}: latencies may be its own; give it more threads"));
            }
            Load::Closed { .. } if self.bound == Bound::Both => {
                self.notes.push(format!("{busy}, as did the server"));
            }
            Load::Closed { .. } => self.notes.push(format!("{busy}: the rate is a floor for the server")),
        }
    }

    fn lag(&mut self, tally: &Tally) {
        let (Some(lag), Some(latency)) =
            (tally.schedule_lag.quantile_ns(0.99), tally.latency.quantile_ns(0.99))
        else {
            return;
        };
        if lag > LAG_NS && lag as f64 > latency as f64 * LAG_SHARE {
            let (lag, latency) = (lag as f64 / 1e6, latency as f64 / 1e6);
            self.void.push(format!(
                "sends lagged behind their due time: p99 {lag:.2} ms, latency p99 {latency:.2} ms"
            ));
        }
    }

    fn offered(&mut self, plan: &Plan, tally: &Tally, kept: f64) {
        let (Some(rate), Some(achieved)) = (plan.load.rate_per_s(), tally.rate_per_s()) else {
            return;
        };
        let offered = rate.mean_per_s(tally.duration_ns);
        if achieved < offered * ACHIEVED {
            let connections = plan.load.connections();
            let words = format!(
                "{achieved:.0}/s of the offered {offered:.0}/s were answered: the server, or {connections} connections, \
                 did not keep up; offer less, or let it have more connections"
            );
            let is_kept = tally.due.is_none_or(|due| tally.completed as f64 >= due as f64 * kept);
            if is_kept { self.notes.push(words) } else { self.void.push(words) }
        }
    }

    /// Little's law: in closed load every connection has its requests under way, so mean latency × rate is
    /// their number, but for what of the waits lies beyond the window's ends. It can never be more; it is less while
    /// connections are opened, and where some starve or fail.
    fn little(&mut self, plan: &Plan, tally: &Tally) {
        let (Load::Closed { connections, .. }, Some(under_way)) = (&plan.load, tally.under_way()) else {
            return;
        };
        let asked_under_way = connections * plan.pipeline;
        if tally.completed < asked_under_way as u64 * 100 {
            return;
        }
        let all_served = tally.served.iter().all(|n| *n > 0);
        let is_full = plan.think == Think::None && !plan.bursts;
        let is_steady = is_full && tally.connections_opened == 0 && all_served && tally.errors.total() == 0;
        let share = under_way / asked_under_way as f64 - 1.0;
        if share > LITTLE || (is_steady && share < -LITTLE) {
            self.void.push(format!(
                "Little's law does not hold: mean latency × rate is {under_way:.1} requests under way, not {asked_under_way}"
            ));
        }
    }

    fn starved(&mut self, tally: &Tally) {
        let starved = tally.served.iter().filter(|n| **n == 0).count();
        let mean = tally.served.iter().sum::<u64>() / tally.served.len().max(1) as u64;
        if starved > 0 && mean >= STARVED_MEAN {
            self.notes.push(format!("{starved} of {} connections were never answered", tally.served.len()));
        }
    }
}

fn main_cause(tally: &Tally) -> String {
    tally.error_causes.iter().max_by_key(|(_, n)| **n).map_or_else(String::new, |(cause, _)| cause.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Arrivals, Ask, Errors, Target, Until};
    use std::time::Duration;

    fn plan(load: Load) -> Plan {
        let target = Target::resolve("http://127.0.0.1:1/").unwrap();
        Plan::new(target, Ask::default(), load, Until::Elapsed(Duration::from_secs(1)))
    }

    fn closed() -> Plan {
        plan(Load::Closed { connections: 10, per_connection: None })
    }

    fn open() -> Plan {
        plan(Load::Open {
            rate_per_s: 10_000.0.into(),
            connections: 10,
            arrivals: Arrivals::Constant,
            per_connection: None,
        })
    }

    /// 10 connections, 1 ms each, for 1 s: 10,000 answers, as Little's law has it.
    fn tally(client_use: f64) -> Tally {
        let mut tally = Tally {
            duration_ns: 1_000_000_000,
            sent: 10_000,
            completed: 10_000,
            threads: 1,
            ..Tally::default()
        };
        tally.client_cpu_ns = (client_use * 1e9) as u64;
        tally.served = vec![1000; 10];
        for _ in 0..10_000 {
            tally.service.record(1_000_000);
            tally.latency.record(1_000_000);
        }
        tally
    }

    fn usage(share: f64) -> Usage {
        Usage { wall_ns: 1_000_000_000, cpu_ns: (share * 1e9) as u64, cores: 1, ..Usage::default() }
    }

    #[test]
    fn the_bound_is_whose_cores_are_busy() {
        let cases = [
            (0.5, Some(0.95), Bound::Server),
            (0.95, Some(0.5), Bound::Client),
            (0.95, Some(0.95), Bound::Both),
            (0.5, Some(0.5), Bound::Neither),
            (0.5, None, Bound::Unknown),
            (0.95, None, Bound::Client),
        ];
        for (client, server, bound) in cases {
            let verdict = judge(&closed(), &tally(client), server.map(usage).as_ref());
            assert_eq!((verdict.bound, verdict.valid), (bound, true), "{client} {server:?}");
        }
    }

    #[test]
    fn a_busy_client_voids_an_open_load_and_makes_a_closed_one_a_floor() {
        assert!(!judge(&open(), &tally(0.95), None).valid);
        let verdict = judge(&closed(), &tally(0.95), None);
        assert!(verdict.valid && verdict.reasons[0].contains("95 %"), "{verdict:?}");
    }

    #[test]
    fn what_a_ramp_offered_is_its_integral() {
        let reasons = |ramp: &str| {
            let mut plan = open();
            if let Load::Open { rate_per_s, .. } = &mut plan.load {
                *rate_per_s = ramp.parse().unwrap();
            }
            judge(&plan, &tally(0.1), None).reasons
        };
        assert_eq!(reasons("5k..15k/1s"), Vec::<String>::new());
        assert!(reasons("5k..25k/1s")[0].starts_with("10000/s of the offered 15000/s"));
    }

    #[test]
    fn a_rate_that_is_not_kept_by_far_is_void_and_told() {
        let due = |due: u64| judge(&open(), &Tally { due: Some(due), ..tally(0.1) }, None);
        assert!(due(10_000).valid && due(11_000).valid);
        let mut slow = tally(0.1);
        slow.completed = 5_000;
        slow.due = Some(5_300);
        let verdict = judge(&open(), &slow, None);
        assert!(
            verdict.valid && verdict.reasons[0].starts_with("5000/s of the offered 10000/s"),
            "{verdict:?}"
        );
        slow.due = Some(10_000);
        let verdict = judge(&open(), &slow, None);
        assert!(!verdict.valid && verdict.reasons[0].contains("offer less"), "{verdict:?}");
        let step = judge_step(&open(), &slow, None);
        assert!(step.valid && step.reasons == verdict.reasons, "past saturation that is a finding: {step:?}");
    }

    #[test]
    fn lagging_sends_void_an_open_load() {
        let mut late = tally(0.1);
        (0..100).for_each(|_| late.schedule_lag.record(5_000_000));
        assert!(judge(&open(), &late, None).reasons[0].contains("lagged"));
        let mut early = tally(0.1);
        (0..100).for_each(|_| early.schedule_lag.record(50_000));
        assert!(judge(&open(), &early, None).valid);
    }

    #[test]
    fn wrong_work_is_named_and_much_of_it_is_void() {
        let mut some = tally(0.1);
        some.errors = Errors { status: 10, ..Errors::default() };
        let verdict = judge(&closed(), &some, None);
        assert!(verdict.valid && verdict.reasons[0].starts_with("10 answers (0.10 %)"), "{verdict:?}");
        some.errors = Errors { body: 1000, ..Errors::default() };
        assert!(!judge(&closed(), &some, None).valid);
        assert!(!judge(&closed(), &Tally::default(), None).valid);
    }

    #[test]
    fn figures_that_contradict_each_other_are_void() {
        let mut impossible = tally(0.1);
        impossible.completed = 20_000;
        assert!(judge(&closed(), &impossible, None).reasons[0].contains("Little"));
        // A halt of the server over the opening of the window: each of ten waited 200 ms more, most of it before.
        let mut halted = tally(0.1);
        (0..10).for_each(|_| halted.service.record(200_000_000));
        halted.completed += 10;
        assert!(judge(&closed(), &halted, None).reasons[0].contains("12.0 requests under way"));
        halted.under_way_before_ns = 1_900_000_000;
        assert!(judge(&closed(), &halted, None).valid);
        let mut idle = tally(0.1);
        idle.completed = 5_000;
        assert!(judge(&closed(), &idle, None).reasons[0].contains("Little"));
        let half_waited = Tally { under_way_at_end_ns: 5_000_000_000, ..idle.clone() };
        assert!(
            judge(&closed(), &half_waited, None).valid,
            "half of all time was the wait for the last answers"
        );
        idle.served[3] = 0;
        let verdict = judge(&closed(), &idle, None);
        assert!(
            verdict.valid && verdict.reasons == ["1 of 10 connections were never answered"],
            "{verdict:?}"
        );
    }

    #[test]
    fn a_slower_processor_is_told_and_voids_nothing() {
        let mut verdict = judge(&closed(), &tally(0.1), None);
        let well = Conditions { throttled: Some(Vec::new()), ..Conditions::default() };
        note(&mut verdict, &well);
        note(&mut verdict, &Conditions::default());
        assert!(verdict.reasons.is_empty());
        let hot = Conditions { throttled: Some(vec!["throttled".to_owned()]), ..Conditions::default() };
        note(&mut verdict, &hot);
        assert!(verdict.valid && verdict.reasons[0].ends_with("meanwhile: throttled"), "{verdict:?}");
    }

    #[test]
    fn other_programs_are_told_and_many_void_unless_they_are_allowed() {
        let with = |others_ppm, may_be_busy| {
            let mut verdict = judge(&closed(), &tally(0.1), None);
            beside(&mut verdict, &Usage { others_ppm, ..usage(0.5) }, may_be_busy);
            verdict
        };
        assert!(with(None, false).reasons.is_empty() && with(Some(90_000), false).reasons.is_empty());
        let some = with(Some(190_000), false);
        assert!(some.valid && some.reasons[0].ends_with("used 19 % of the machine's time"), "{some:?}");
        let many = with(Some(210_000), false);
        assert!(!many.valid && many.reasons[0].contains("21 % of the machine's time: `"), "{many:?}");
        let allowed = with(Some(210_000), true);
        assert!(allowed.valid && allowed.reasons[0].ends_with("21 % of the machine's time"), "{allowed:?}");
    }

    #[test]
    fn an_interrupted_or_stolen_measurement_is_void() {
        assert!(!judge(&closed(), &Tally { interrupted: true, ..tally(0.1) }, None).valid);
        let stolen = |steal_ppm, may_be_busy| {
            let mut verdict = judge(&closed(), &tally(0.1), None);
            host(&mut verdict, &Usage { steal_ppm, ..usage(0.5) }, may_be_busy);
            verdict
        };
        assert!(stolen(None, false).reasons.is_empty() && stolen(Some(90_000), false).reasons.is_empty());
        let much = stolen(Some(200_000), false);
        assert!(!much.valid && much.reasons[0].contains("took 20 % of this machine's time: m"), "{much:?}");
        let allowed = stolen(Some(200_000), true);
        assert!(allowed.valid && allowed.reasons[0].ends_with("20 % of this machine's time"), "{allowed:?}");
    }
}
