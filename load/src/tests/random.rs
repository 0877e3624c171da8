//! Random peers: whatever they do, every request is accounted for, once.

use super::*;
use model::{Arrivals, End, Expect, Gaps, Think};
use net::{Errno, Operation};
use stats::random;
use std::collections::BTreeSet;

/// A stream of numbers that is a function of its seed.
struct Dice {
    seed: u64,
    k: u64,
}

impl Dice {
    fn new(seed: u64) -> Self {
        Self { seed, k: 0 }
    }

    fn roll(&mut self, below: u64) -> u64 {
        self.k += 1;
        (random::uniform(self.seed, self.k) * below as f64) as u64 % below
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.roll(n) == 0
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.roll(all.len() as u64) as usize]
    }
}

const STATUS: &[u8] = b"HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\nno";
const LAST: &[u8] = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok";
const UNTIL_CLOSE: &[u8] = b"HTTP/1.1 200 OK\r\n\r\nok";
const CHUNKED: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n";
const AMBIGUOUS: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n";
const WRONG: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno";
const GARBAGE: &[&[u8]] = &[b"\0\0\0\0", b"\x15\x03\x01\x00\x02\x02\x46", b"HTTP/1.1 101 Up\r\n\r\n"];

/// What happens to a connection.
fn on_connect(dice: &mut Dice, is_tls: bool, mishaps: u64) -> Vec<(u64, What)> {
    let after = dice.roll(20 * MS);
    if dice.one_in(mishaps) {
        let broken = What::Failed(Operation::Connect, dice.of(&[Errno::CONNREFUSED, Errno::TIMEDOUT]));
        return if dice.one_in(3) { vec![] } else { vec![(after, broken)] };
    }
    let mut what = vec![(after, What::Connected)];
    if is_tls && dice.one_in(mishaps) {
        let broken = What::Failed(Operation::Handshake, dice.of(&[Errno::PROTO, Errno::CONNRESET]));
        what.extend((!dice.one_in(3)).then_some((after + MS, broken)));
    } else if is_tls {
        what.push((after + dice.roll(5 * MS), What::Secured));
    }
    what
}

/// What happens to requests.
fn on_send(dice: &mut Dice, is_tls: bool, mishaps: u64, requests: usize) -> Vec<(u64, What)> {
    let mut bytes = Vec::new();
    let mut end = None;
    for _ in 0..requests {
        if !dice.one_in(mishaps) {
            bytes.extend_from_slice(dice.of(&[ANSWER, CHUNKED]));
            continue;
        }
        let cleanly = is_tls.then(|| dice.one_in(2));
        let errno = Errno::CONNRESET;
        match dice.roll(12) {
            0 => bytes.extend_from_slice(STATUS),
            1 => bytes.extend_from_slice(WRONG),
            2 => (bytes, end) = ([&bytes[..], LAST].concat(), Some(What::Ended(cleanly))),
            3 => bytes.extend_from_slice(LAST), // It announces the close and stays.
            4 => (bytes, end) = ([&bytes[..], UNTIL_CLOSE].concat(), Some(What::Ended(cleanly))),
            5 => bytes.extend_from_slice(AMBIGUOUS),
            6 => bytes.extend_from_slice(dice.of(GARBAGE)),
            7 => bytes.extend_from_slice(&ANSWER.repeat(2)), // One too many.
            8 => end = Some(What::Ended(cleanly)),
            9 => end = Some(What::Failed(dice.of(&[Operation::Receive, Operation::Send]), errno)),
            10 if is_tls => end = Some(What::Failed(Operation::Handshake, Errno::PROTO)),
            _ => {} // Never an answer.
        }
        break;
    }
    if dice.one_in(mishaps) {
        bytes.truncate(dice.roll(bytes.len() as u64 + 1) as usize);
    }
    let mut at = dice.roll(8 * MS);
    let mut what = Vec::new();
    while !bytes.is_empty() {
        let rest = bytes.split_off((1 + dice.roll(bytes.len() as u64) as usize).min(bytes.len()));
        what.push((at, What::Bytes(bytes)));
        at += dice.of(&[0, 1, MS]);
        bytes = rest;
    }
    what.extend(end.map(|end| (at, end)));
    what
}

fn random_plan(dice: &mut Dice) -> Plan {
    let connections = 1 + dice.roll(12) as usize;
    let per_connection = dice.one_in(3).then(|| 1 + dice.roll(5) as usize);
    let load = if dice.one_in(2) {
        Load::Closed { connections, per_connection }
    } else {
        let arrivals = dice.of(&[Arrivals::Constant, Arrivals::Poisson]);
        let rate_per_s = dice.of(&[50.0, 500.0, 3000.0]).into();
        Load::Open { rate_per_s, connections, arrivals, per_connection }
    };
    let mut plan = plan(load, Duration::from_millis(700));
    plan.warmup = Duration::from_millis(dice.of(&[0, 1, 250]));
    plan.timeout = Duration::from_millis(dice.of(&[30, 150, 2000]));
    plan.pipeline = dice.of(&[1, 1, 3, 8]);
    plan.bursts = dice.one_in(4);
    plan.burst_latency = plan.bursts && dice.one_in(2);
    plan.seed = dice.roll(1 << 30);
    plan.per_second = dice.one_in(2);
    plan.target.tls = dice.one_in(2);
    plan.connecting.rate_per_s = dice.one_in(4).then_some(300.0);
    plan.connecting.gaps = dice.of(&[Gaps::Even, Gaps::Uniform(1.0), Gaps::Exponential]);
    plan.connecting.ramp = Duration::from_millis(dice.of(&[0, 100]));
    plan.connecting.one_first = dice.one_in(5);
    if dice.one_in(4) {
        plan.think = Think::Exponential(Duration::from_millis(5));
    }
    match dice.roll(6) {
        0 => plan.until = Until::Answered(1 + dice.roll(300)),
        1 => plan.most_requests = Some(1 + dice.roll(300)),
        _ => {}
    }
    plan.asks[0].expect = Expect { body: Some(b"ok".to_vec()), ..Expect::default() };
    plan
}

/// Checks that every exchange is reported once: no two answered ones have the same place on the same connection.
fn assert_told_once(ran: &Ran) {
    let answered = ran.told.iter().filter(|exchange| matches!(exchange.end, End::Answered { .. }));
    let places: Vec<_> = answered.map(|exchange| (exchange.connection, exchange.nth)).collect();
    assert_eq!(places.iter().collect::<BTreeSet<_>>().len(), places.len(), "an answer is told twice");
    for exchange in &ran.told {
        assert!(exchange.sent_ns == 0 || exchange.sent_ns <= exchange.done_ns, "{exchange:?}");
    }
}

fn check(seed: u64) {
    let mut dice = Dice::new(seed);
    let plan = random_plan(&mut dice);
    let (is_tls, mishaps) = (plan.target.tls, dice.of(&[3, 10, 100]));
    let takes_ns = dice.of(&[0, 0, 20_000]);
    let ran = run_with(&plan, takes_ns, |call| match call {
        Call::Connect { .. } => on_connect(&mut dice, is_tls, mishaps),
        Call::Send { requests, .. } => on_send(&mut dice, is_tls, mishaps, requests),
    });
    let tally = &ran.tally;
    assert_accounted(tally);
    assert_told_once(&ran);
    assert!(tally.completed + tally.errors.status + tally.errors.body == tally.served.iter().sum::<u64>());
    if plan.warmup.is_zero() {
        // Whatever was begun is reported, or in flight.
        let begun = ran.told.len() as u64 + tally.in_flight_at_end;
        assert!(begun >= tally.sent + tally.errors.local, "{begun} begun, {} sent", tally.sent);
    }
    match (plan.load.rate_per_s(), tally.due) {
        (None, due) => assert_eq!((due, tally.carried_in, tally.unsent_at_end), (None, None, None)),
        (Some(_), Some(due)) => {
            assert!(tally.completed_of_due() + tally.carried_out.unwrap() <= due, "{due} due");
            assert!(tally.connections_starved.unwrap() <= tally.served.len() as u64);
        }
        (Some(_), None) => assert_eq!(tally.duration_ns, 0, "the window never opened"),
    }
    if plan.per_second {
        let sum: u64 = tally.series.iter().map(|second| second.completed).sum();
        assert_eq!(sum, tally.completed, "the seconds add up");
    }
}

#[test]
fn whatever_peers_do_every_request_is_accounted_for_once() {
    for seed in 0..300 {
        if let Err(panic) = std::panic::catch_unwind(|| check(seed)) {
            println!("seed {seed}");
            std::panic::resume_unwind(panic);
        }
    }
}

/// Several targets in slices, in any order: each request is accounted for once, in a slice of its own target.
fn check_slices(seed: u64) {
    let mut dice = Dice::new(seed);
    let is_open = dice.one_in(3);
    let plans: Vec<Plan> = std::iter::repeat_with(|| random_plan(&mut dice))
        .filter(|plan| plan.load.rate_per_s().is_some() == is_open)
        .map(|plan| Plan {
            until: Until::Elapsed(Duration::MAX),
            most_requests: None,
            per_second: false,
            ..plan
        })
        .take(3)
        .collect();
    let ground = Ground::new(plans);
    let mishaps = dice.of(&[3, 10, 100]);
    let script = |(nth, plan): (usize, &Plan)| -> fake::Script<'_> {
        let mut dice = Dice::new(random::derive(&[seed, nth as u64]));
        let is_tls = plan.target.tls;
        Box::new(move |call| match call {
            Call::Connect { .. } => on_connect(&mut dice, is_tls, mishaps),
            Call::Send { requests, .. } => on_send(&mut dice, is_tls, mishaps, requests),
        })
    };
    let scripts = ground.plans.iter().enumerate().map(script).collect();
    let mut heat = Heat::new(&ground, scripts);
    let (mut answered, mut lost) = (0, 0);
    for nth in 0..12 {
        heat.rest(dice.roll(300 * MS));
        let slice = SlicePlan {
            lead_in: Duration::from_millis(dice.of(&[0, 10])),
            longest_lead_in: Duration::from_millis(dice.of(&[10, 200])),
            length: Duration::from_millis(dice.of(&[1, 30, 100])),
            longest: Duration::from_millis(dice.of(&[100, 400])),
            wait: Duration::from_millis(dice.of(&[0, 50])),
            ..SlicePlan::of(dice.roll(3) as usize).jittered(seed, nth)
        };
        let counts = heat.slice_until(slice, dice.one_in(20));
        let tally = &counts.counted.tally;
        let both = [(tally.completed, tally.errors), (counts.uncounted.completed, counts.uncounted.errors)];
        for (completed, errors) in both {
            let wrong = errors.status + errors.body;
            answered += completed + wrong;
            lost += errors.total() - wrong - errors.unasked;
        }
        let all_ns = counts.ended_ns - counts.began_ns.unwrap_or(counts.ended_ns);
        assert!(all_ns < 1100 * MS, "a slice is bounded: {all_ns} ns");
        if let Some(due) = tally.due {
            assert!(tally.completed_of_due() + tally.carried_out.unwrap() <= due, "{due} due");
        }
    }
    heat.finish();
    let told: Vec<_> = ground.told.try_iter().flatten().collect();
    let told_answered = told.iter().filter(|told| matches!(told.end, End::Answered { .. })).count() as u64;
    assert_eq!((answered, lost), (told_answered, told.len() as u64 - told_answered));
}

#[test]
fn whatever_peers_do_in_slices_every_request_is_accounted_for_once() {
    for seed in 0..100 {
        if let Err(panic) = std::panic::catch_unwind(|| check_slices(seed)) {
            println!("seed {seed}");
            std::panic::resume_unwind(panic);
        }
    }
}
