//! What is counted is the server's rate, however its answers are spread over time: known truths, pooled over slices.

use super::faults::plain;
use super::*;
use model::slice_tally::common_time_ns;
use net::Io;
use stats::random;
use wire::Http1;

/// The rate over this number of slices, in requests/s.
fn pooled(heat: &mut Heat<'_>, slices: u64) -> f64 {
    let (mut answers, mut time_ns) = (0, 0);
    for nth in 0..slices {
        let counts = heat.slice(SlicePlan::of(0).jittered(7, nth));
        let Tally { completed, duration_ns, .. } = counts.counted.tally;
        // Shown where a test fails.
        println!("from {:?}: {completed} in {duration_ns} ns", counts.opened_ns.map(|ns| ns - fake::START));
        answers += completed;
        time_ns += duration_ns;
    }
    answers as f64 * 1e9 / time_ns as f64
}

#[test]
fn a_server_that_answers_in_bursts_gains_nothing_and_loses_nothing() {
    // Every tick it answers all that wait, one 20 µs after the other; ticks go on between slices, or begin with a slice.
    for tick_ms in [7, 10, 25, 50, 64, 130] {
        for is_by_clock in [true, false] {
            let clock = Rc::new(Cell::new(fake::START));
            let period_ns = tick_ms * MS;
            let script = |call| match call {
                Call::Connect { .. } => vec![(MS / 2, What::Connected)],
                Call::Send { nth, requests, .. } => {
                    let now = clock.get();
                    let place_ns = nth as u64 * 20_000;
                    let tick = if is_by_clock { (now - place_ns) / period_ns + 1 } else { 0 };
                    let at = if is_by_clock { tick * period_ns + place_ns } else { now + period_ns };
                    vec![(at - now, answers(requests))]
                }
            };
            let ground = Ground::new(vec![closed(16)]);
            let mut heat = Heat::on(Rc::clone(&clock), &ground, vec![Box::new(script)]);
            let (rate, truth) = (pooled(&mut heat, 32), 16.0 * 1e9 / period_ns as f64);
            let error = rate / truth - 1.0;
            assert!(error.abs() < 0.025, "{tick_ms} ms, {is_by_clock}: {rate} instead of {truth}");
        }
    }
}

#[test]
fn a_server_that_answers_one_connection_ten_times_before_the_next_is_not_waited_for() {
    const CONNECTIONS: usize = 32;
    let clock = Rc::new(Cell::new(fake::START));
    // One answer a millisecond: a connection has the server to itself until `until`, then waits at the end of the queue.
    let (mut until, mut queue_ends) = ([0; CONNECTIONS], 0);
    let now = Rc::clone(&clock);
    let script = |call| match call {
        Call::Connect { .. } => vec![(MS, What::Connected)],
        Call::Send { nth, requests, .. } => {
            let now = now.get();
            let mut begins = now;
            if now + MS > until[nth] {
                begins = now.max(queue_ends);
                queue_ends = begins + 10 * MS;
                until[nth] = queue_ends;
            }
            vec![(begins - now + MS, answers(requests))]
        }
    };
    let ground = Ground::new(vec![closed(CONNECTIONS)]);
    let mut heat = Heat::on(clock, &ground, vec![Box::new(script)]);
    let first = heat.slice(SlicePlan::of(0));
    // Four answers for each take 128 ms; all connections have had one after 311 ms.
    let lead_in_ms = (first.opened_ns.unwrap() - first.began_ns.unwrap()) / MS;
    assert!((128..135).contains(&lead_in_ms), "{lead_in_ms}");
    let rate = pooled(&mut heat, 64);
    assert!((rate / 1000.0 - 1.0).abs() < 0.01, "{rate}");
    // Every connection has had its turn, though most of them in no counted part.
    let mut all = Tally::default();
    for _ in 0..3 {
        all.append(&heat.slice(SlicePlan::of(0)).counted.tally);
        heat.rest(500 * MS);
    }
    assert!(all.served.len() == CONNECTIONS && all.served.iter().all(|n| *n > 0), "{:?}", all.served);
}

#[test]
fn random_times_of_service_are_measured_without_bias() {
    for (connections, mean_ns) in [(1, 3e6), (4, 4e6), (8, 60e6)] {
        let mut k = 0;
        let script = |call| match call {
            Call::Connect { .. } => vec![(MS, What::Connected)],
            Call::Send { requests, .. } => {
                k += 1;
                vec![((-random::uniform(11, k).ln() * mean_ns) as u64, answers(requests))]
            }
        };
        let ground = Ground::new(vec![closed(connections)]);
        let mut heat = Heat::new(&ground, vec![Box::new(script)]);
        let (slices, truth) = (150, connections as f64 * 1e9 / mean_ns);
        let rate = pooled(&mut heat, slices);
        // Four standard errors of a Poisson count.
        let bound = 4.0 / (truth * 0.1 * slices as f64).sqrt();
        assert!((rate / truth - 1.0).abs() < bound, "{connections}: {rate}, {truth} ± {bound}");
    }
}

#[test]
fn a_servers_pauses_are_charged_in_full() {
    // One answer a millisecond, and a pause of 150 ms before every thousandth.
    let mut answered = 500;
    let script = |call| match call {
        Call::Connect { .. } => vec![(MS, What::Connected)],
        Call::Send { requests, .. } => {
            answered += 1;
            let pause_ns = if answered % 1000 == 0 { 150 * MS } else { 0 };
            vec![(MS + pause_ns, answers(requests))]
        }
    };
    let ground = Ground::new(vec![closed(1)]);
    let mut heat = Heat::new(&ground, vec![Box::new(script)]);
    let (rate, truth) = (pooled(&mut heat, 350), 1000.0 / 1.150);
    // Thirty-five pauses, of which most lie in a counted part.
    assert!((rate / truth - 1.0).abs() < 0.03, "{rate}, {truth}");
}

/// Two workers whose connections are served at different speeds begin and end together, and their rates add up.
#[test]
fn workers_count_the_same_time_and_their_rates_add_up() {
    let plan = Plan { threads: 2, ..closed(6) };
    let progress = [Progress::default(), Progress::default()];
    let slow = Fake::new(REQUEST.len(), Box::new(plain(17 * MS)));
    let fast = Fake::new(REQUEST.len(), Box::new(plain(3 * MS)));
    let mut workers: Vec<_> = [slow, fast]
        .into_iter()
        .zip(&progress)
        .enumerate()
        .map(|(index, (io, progress))| {
            Worker::<_, Http1>::new(&plan, share(&plan, index, 2), io, progress).unwrap()
        })
        .collect();
    let edges = SliceEdges::new(2, Arc::default());
    for nth in 0..3 {
        let slice = SlicePlan::of(0).jittered(5, nth);
        edges.renew();
        let mut counts = [SliceCounts::default(), SliceCounts::default()];
        let mut states: Vec<_> =
            workers.iter_mut().map(|worker| worker.begin_slice(&slice, nth, &edges).unwrap()).collect();
        while states.iter().any(|state| !state.is_over()) {
            // The worker whose clock is behind has its turn.
            let behind =
                (0..2).filter(|i| !states[*i].is_over()).min_by_key(|i| workers[*i].io.now_ns()).unwrap();
            workers[behind].step(&mut states[behind], &mut counts[behind]).unwrap();
        }
        let counted =
            counts.iter().map(|counts| (counts.counted.tally.completed, counts.counted.tally.duration_ns));
        let answers: u64 = counted.clone().map(|(answers, _)| answers).sum();
        let rate = answers as f64 * 1e9 / common_time_ns(counted) as f64;
        let truth = 3.0 / 0.017 + 3.0 / 0.003;
        assert!((rate / truth - 1.0).abs() < 2e-3, "{rate}, {truth}");
        let opened = counts.each_ref().map(|counts| counts.opened_ns.unwrap());
        let closed = counts.each_ref().map(|counts| counts.closed_ns.unwrap());
        // Each begins and ends with its own next answer.
        for (one, other) in [(opened[0], opened[1]), (closed[0], closed[1])] {
            assert!(one.abs_diff(other) <= 18 * MS, "{one} {other}");
        }
    }
}
