//! Dealing, clocks and sums: nothing is lost, nothing counted twice, and whoever is to blame is named.

use super::divide::{DivideError, divide, own_load};
use super::messages::{Account, AgentPart};
use super::sum::{self, MachinePart as Done};
use super::{loads, skew};
use model::machines::{Clock, Machine, Machines};
use model::{Arrivals, Ask, Bound, Load, Plan, Rate, Tally, Target, Until, Verdict};
use proptest::prelude::*;
use stats::Histogram;
use std::path::PathBuf;

fn plan(load: Load, until: Until) -> Plan {
    let ask = Ask { request: vec![0, 255, 7], last: b"GET".to_vec(), weight: 1.0, ..Ask::default() };
    Plan::new(Target::resolve("http://127.0.0.1:1/").unwrap(), ask, load, until)
}

fn closed(connections: usize) -> Load {
    Load::Closed { connections, per_connection: None }
}

fn open(rate_per_s: Rate, connections: usize) -> Load {
    Load::Open { rate_per_s, connections, arrivals: Arrivals::Poisson, per_connection: Some(3) }
}

proptest! {
    #[test]
    fn connections_and_requests_are_divided_whole_and_evenly(machines in 1..40_usize, more in 0..5000_usize, extra in 0..100_000_u64) {
        let (connections, requests) = (machines + more, machines as u64 + extra);
        let plans = divide(&plan(closed(connections), Until::Answered(requests)), machines).unwrap();
        let own: Vec<usize> = plans.iter().map(|plan| plan.load.connections()).collect();
        prop_assert_eq!(own.iter().sum::<usize>(), connections);
        prop_assert!(own.iter().max().unwrap() - own.iter().min().unwrap() <= 1);
        let answers: Vec<u64> = plans.iter().map(|plan| match plan.until {
            Until::Answered(n) => n,
            _ => 0,
        }).collect();
        prop_assert_eq!(answers.iter().sum::<u64>(), requests);
        prop_assert!(answers.iter().max().unwrap() - answers.iter().min().unwrap() <= 1 && answers.iter().all(|n| *n > 0));
        let seats: Vec<(usize, usize)> = plans.iter().map(|plan| (plan.one_of.index, plan.one_of.machines)).collect();
        prop_assert_eq!(seats, (0..machines).map(|index| (index, machines)).collect::<Vec<_>>());
    }

    #[test]
    fn shares_of_a_rate_are_equal_and_make_the_whole(per_s in 0.01..1e8_f64, machines in 1..200_usize) {
        let plans = divide(&plan(open(per_s.into(), 1000), Until::Answered(9999)), machines).unwrap();
        let sum: f64 = plans.iter().map(|plan| own_load(plan).load.rate_per_s().unwrap().mean_per_s(1)).sum();
        prop_assert!((sum / per_s - 1.0).abs() < 1e-9);
        // What is driven is every n-th request of the whole, and no rounded share.
        prop_assert!(plans.iter().all(|plan| plan.load.rate_per_s() == Some(&Rate::Constant(per_s))));
    }

    /// True starts are within the bound of what is told, whatever the clocks say, if each offset is within its own bound.
    #[test]
    fn the_skew_is_off_by_no_more_than_its_bound(
        machines in prop::collection::vec((-1_000_000_000_000_000..1_000_000_000_000_000_i64, 0..5_000_000_u64, -1.0..1.0_f64, -2_000_000..9_000_000_i64), 2..12),
    ) {
        let agreed_ns = 2_000_000_000_000_000_u64;
        let starts: Vec<(i64, Clock)> = machines.iter().map(|(offset, bound, error, late)| {
            let there = (agreed_ns as i64 + late + offset) as u64;
            let told = offset + (*bound as f64 * error) as i64;
            let clock = Clock { offset_ns: told, bound_ns: *bound, round_trip_ns: 2 * bound };
            (skew::late_ns(clock, there, agreed_ns), clock)
        }).collect();
        let late = || machines.iter().map(|(.., late)| *late);
        let truly = late().max().unwrap().abs_diff(late().min().unwrap());
        let (told, bound) = skew::skew(&starts).unwrap();
        prop_assert!(told.abs_diff(truly) <= bound, "{told} {truly} ± {bound}");
    }

    #[test]
    fn sums_are_those_of_all_single_values(parts in prop::collection::vec(prop::collection::vec(1..10_000_000_000_u64, 0..80), 1..9)) {
        let done: Vec<Done> = parts.iter().enumerate().map(|(nth, ns)| done(&format!("m{nth}"), Ok(account(ns)))).collect();
        // As they arrive: through JSON.
        let done: Vec<Done> = done.into_iter().map(|one| Done {
            ended: one.ended.map(|account| serde_json::from_str(&serde_json::to_string(&account).unwrap()).unwrap()),
            ..one
        }).collect();
        let mut all = Histogram::new();
        parts.iter().flatten().for_each(|ns| all.record(*ns));
        let total = sum::tally(&done, false);
        prop_assert_eq!(&total.latency, &all);
        prop_assert_eq!(total.completed as usize, parts.iter().map(Vec::len).sum::<usize>());
        prop_assert_eq!(sum::raw_ns(&done).len() as u64, total.completed);
        prop_assert_eq!(total.threads, parts.len());
    }
}

fn account(latencies_ns: &[u64]) -> Account {
    let n = latencies_ns.len() as u64;
    let mut tally = Tally {
        duration_ns: 1_000_000_000,
        sent: n,
        completed: n,
        threads: 1,
        interrupted: true,
        ..Tally::default()
    };
    latencies_ns.iter().for_each(|ns| tally.latency.record(*ns));
    let verdict = Verdict { valid: true, ..Verdict::default() };
    Account { tally, verdict, started_ns: Some(7), opened_ns: Some(8), raw_ns: latencies_ns.to_vec() }
}

fn done(name: &str, ended: Result<Account, String>) -> Done {
    let plan = divide(&plan(closed(4), Until::Answered(4)), 1).unwrap().remove(0);
    let clock = Clock { offset_ns: 2, bound_ns: 1, round_trip_ns: 2 };
    Done {
        name: name.to_owned(),
        host: "box".to_owned(),
        cores: 4,
        address: "127.0.0.1:1".to_owned(),
        plan,
        clock,
        ended,
    }
}

#[test]
fn what_can_not_be_divided_says_why() {
    let few = plan(closed(3), Until::Answered(100));
    assert_eq!(divide(&few, 4), Err(DivideError::Connections { connections: 3, machines: 4 }));
    assert!(divide(&few, 0).is_err() && divide(&few, 1001).is_err() && divide(&few, 3).is_ok());
    let none = plan(closed(9), Until::Answered(3));
    assert_eq!(divide(&none, 4), Err(DivideError::Requests { requests: 3, machines: 4 }));
    let mut own = plan(closed(9), Until::Answered(30));
    own.connecting.from = vec!["127.0.0.2".parse().unwrap()];
    assert_eq!(divide(&own, 2), Err(DivideError::Local("a source address")));
    own.connecting.from.clear();
    own.tls.cacert = Some(PathBuf::from("/a"));
    assert!(divide(&own, 2).unwrap_err().to_string().contains("certificate authorities can't be used"));
}

#[test]
fn a_plan_arrives_as_it_was_sent() {
    let mut sent = plan(open("1k..7.3k/90s".parse().unwrap(), 100), Until::Answered(5000));
    sent.asks[0].expect.body = Some(vec![0; 300]);
    sent.asks[0].expect.sha256 = Some([9; 32]);
    sent.think = model::Think::Exponential(std::time::Duration::from_micros(1500));
    let sent = AgentPart {
        plan: divide(&sent, 3).unwrap().remove(1),
        threads: Some(2),
        allow_busy: true,
        raw: false,
    };
    let text = serde_json::to_vec(&sent).unwrap();
    assert_eq!(serde_json::from_slice::<AgentPart>(&text).unwrap(), sent);
}

#[test]
fn a_plan_that_no_command_line_makes_is_refused_there() {
    let good = divide(&plan(closed(5), Until::Answered(10)), 2).unwrap().remove(0);
    assert!(loads::checked(good.clone()).is_ok_and(|plan| (1..=3).contains(&plan.threads)));
    let wrong: [fn(&mut Plan); 7] = [
        |plan| plan.asks.clear(),
        |plan| plan.pipeline = 0,
        |plan| plan.pipeline = usize::MAX,
        |plan| plan.one_of.machines = 0,
        |plan| plan.one_of.index = 2,
        |plan| plan.warmup = std::time::Duration::MAX,
        |plan| plan.tls.cacert = Some(PathBuf::from("/etc/shadow")),
    ];
    for (nth, harm) in wrong.into_iter().enumerate() {
        let mut plan = good.clone();
        harm(&mut plan);
        assert!(loads::checked(plan).is_err(), "{nth}");
    }
}

#[test]
fn the_start_is_far_enough_ahead_and_moments_go_from_clock_to_clock() {
    let lead = |ms: u64| skew::lead(ms * 1_000_000).as_millis();
    assert_eq!([lead(0), lead(40), lead(50), lead(300), lead(100_000)], [500, 500, 500, 3000, 60_000]);
    assert_eq!(skew::lead(u64::MAX).as_secs(), 60);
    let clock = |offset_ns, bound_ns| Clock { offset_ns, bound_ns, round_trip_ns: 2 * bound_ns };
    assert_eq!(skew::there(clock(-30, 1), 100), Some(70));
    assert_eq!(skew::there(clock(-101, 1), 100), None, "before that machine's clock began");
    assert_eq!(skew::late_ns(clock(-30, 1), 75, 100), 5);
    assert_eq!(skew::late_ns(clock(i64::MIN, 1), u64::MAX, 0), i64::MAX);
    assert_eq!(skew::skew(&[(5, clock(0, 3))]), Some((0, 0)));
    assert_eq!(skew::skew(&[(5, clock(0, 3)), (-4, clock(0, 1)), (0, clock(0, 2))]), Some((9, 5)));
    assert_eq!(skew::skew(&[]), None);
}

fn whole() -> Verdict {
    Verdict { valid: true, bound: Bound::Neither, reasons: vec!["a note".to_owned()], ..Verdict::default() }
}

fn machine(name: &str, verdict: Option<Verdict>, failed: Option<&str>) -> Machine {
    Machine { name: name.to_owned(), verdict, failed: failed.map(str::to_owned), ..Machine::default() }
}

#[test]
fn a_machine_that_was_lost_or_at_its_limit_voids_the_window_and_is_named() {
    let sound = || Some(whole());
    let busy = || Some(Verdict { bound: Bound::Client, ..whole() });
    let late = || Some(Verdict { valid: false, reasons: vec!["sent late".to_owned()], ..whole() });
    let judged =
        |each: Vec<Machine>, allow| sum::verdict(whole(), &Machines { each, ..Machines::default() }, allow);
    let good = judged(vec![machine("a", sound(), None), machine("b", sound(), None)], false);
    assert_eq!(good, whole());
    let limit = judged(vec![machine("a", sound(), None), machine("b", busy(), None)], false);
    assert!(!limit.valid && limit.reasons[0].starts_with("`b` was at its limit"), "{limit:?}");
    let allowed = judged(vec![machine("b", busy(), None)], true);
    assert!(allowed.valid && allowed.reasons[1].starts_with("`b` was at its limit"), "{allowed:?}");
    let held_up = judged(vec![machine("a", late(), None)], true);
    assert!(!held_up.valid && held_up.reasons[0] == "`a`: sent late", "{held_up:?}");
    // The other one was told to stop, which is not its fault.
    let lost = judged(vec![machine("a", late(), None), machine("b", None, Some("it is gone"))], true);
    assert_eq!(lost.reasons, ["`b` did not do its part: it is gone", "a note"]);
    assert!(!lost.valid);
}

#[test]
fn a_lost_machine_is_no_interruption_and_leaves_the_skew_unknown() {
    let both = [done("a", Ok(account(&[5, 6]))), done("b", Err("gone".to_owned()))];
    let total = sum::tally(&both, false);
    assert_eq!((total.interrupted, total.completed), (false, 2));
    let machines = sum::machines(&both, 3);
    assert_eq!(
        (machines.skew_ns, machines.each[0].start_late_ns, machines.each[1].start_late_ns),
        (None, Some(2), None)
    );
    assert_eq!(machines.each[1].failed.as_deref(), Some("gone"));
    let both = [done("a", Ok(account(&[5]))), done("b", Ok(account(&[])))];
    assert_eq!(sum::machines(&both, 3).skew_ns, Some(0));
}
