//! Merging, clearing, and what follows from the counts.

use super::*;

/// All fields by name, so that a new one has to be cleared too.
fn full() -> Tally {
    let mut latency = Histogram::new();
    latency.record(7);
    let agreed = Agreed { protocol: "", cipher_suite: "", group: None };
    Tally {
        duration_ns: 1,
        sent: 1,
        completed: 1,
        in_flight_at_end: 1,
        under_way_before_ns: 1,
        under_way_at_end_ns: 1,
        due: Some(1),
        carried_in: Some(1),
        carried_out: Some(1),
        connections_starved: Some(1),
        unanswered: 1,
        unsent_at_end: Some(1),
        heard_ns: Some(1),
        owed_ns: Some(1),
        stalled_ns: Some(1),
        outage_ns: Some(1),
        errors: Errors { connect: 1, ..Errors::default() },
        error_causes: BTreeMap::from([(String::new(), 1)]),
        status: BTreeMap::from([(200, 1)]),
        sent_bytes: 1,
        received_bytes: 1,
        body_bytes: 1,
        service: latency.clone(),
        first_byte: latency.clone(),
        connect: latency.clone(),
        handshake: latency.clone(),
        schedule_lag: latency.clone(),
        latency,
        handshakes_resumed: 1,
        agreed: Some(agreed),
        streams_allowed: Some(1),
        held_back: 1,
        served: vec![1],
        connections_opened: 1,
        verified: 1,
        io: Some(String::new()),
        io_fallback: Some(String::new()),
        halted: Some(String::new()),
        client_cpu_ns: 1,
        client_system_cpu_ns: Some(1),
        client_idle_ns: 1,
        threads: 1,
        client_busiest_ppm: Some(1),
        client_rss_max_bytes: Some(1),
        interrupted: true,
        series: vec![Interval::default()],
        pulse: vec![Beat::default()],
        first_answer: vec![1],
    }
}

#[test]
fn what_is_cleared_is_as_new() {
    let mut tally = full();
    tally.clear();
    assert_eq!(tally, Tally::default());
}

#[test]
fn nothing_is_lost_in_a_sum() {
    let mut sum = Tally::default();
    sum.merge(&full());
    assert_eq!(sum, full());
}

#[test]
fn the_busiest_worker_is_known_of_the_sum_of_sums() {
    let worker = |busy_ns: u64| Tally {
        duration_ns: 1_000,
        client_cpu_ns: busy_ns + 100,
        client_idle_ns: 100,
        threads: 1,
        ..Tally::default()
    };
    let sum = |workers: &[Tally]| {
        workers.iter().fold(Tally::default(), |mut sum, one| {
            sum.merge(one);
            sum
        })
    };
    let process = sum(&[worker(600), worker(1_000), worker(600)]);
    assert_eq!(process.client_busiest_use(), Some(1.0));
    assert!(process.client_core_use().is_some_and(|mean| (0.73..0.74).contains(&mean)));
    let both = sum(&[sum(&[worker(200)]), process]);
    assert_eq!((both.threads, both.client_busiest_use()), (4, Some(1.0)));
    assert_eq!(worker(600).client_busiest_use(), Some(0.6));
    assert_eq!(Tally::default().client_busiest_use(), None);
}

#[test]
fn a_later_window_of_the_same_workers_adds_time_and_no_threads() {
    let window = |duration_ns, completed, busy: u64, served: &[u64]| Tally {
        duration_ns,
        completed,
        threads: 1,
        client_cpu_ns: duration_ns,
        client_idle_ns: duration_ns - busy,
        served: served.to_vec(),
        ..Tally::default()
    };
    let mut all = Tally::default();
    all.append(&window(100, 10, 90, &[4, 6]));
    assert_eq!((all.duration_ns, all.threads, all.client_busiest_ppm), (100, 1, Some(900_000)));
    all.append(&window(300, 60, 150, &[20, 30, 10]));
    assert_eq!((all.duration_ns, all.completed, all.threads), (400, 70, 1));
    assert_eq!(all.served, [24, 36, 10]);
    assert_eq!(all.client_busiest_ppm, Some(600_000), "240 of 400");
    assert_eq!(all.client_core_use(), Some(0.6));
    assert_eq!(all.rate_per_s(), Some(70.0 * 1e9 / 400.0));
    all.append(&Tally::default());
    assert_eq!((all.duration_ns, all.served.len()), (400, 3));
}

#[test]
fn a_connection_that_starves_in_every_window_is_one() {
    let window = |served: [u64; 4]| Tally {
        duration_ns: 1_000,
        threads: 1,
        connections_starved: Some(served.iter().filter(|n| **n == 0).count() as u64),
        served: served.to_vec(),
        ..Tally::default()
    };
    let mut all = Tally::default();
    for served in [[5, 0, 0, 0], [5, 0, 0, 3], [5, 0, 0, 0]] {
        all.append(&window(served));
    }
    assert_eq!((all.served, all.connections_starved), (vec![15, 0, 0, 3], Some(2)));
}

#[test]
fn counts_of_another_machine_add_up_and_never_overflow() {
    let one = |n: u64| Tally {
        sent: n,
        completed: n,
        due: Some(n),
        carried_out: Some(n),
        errors: Errors { timeout: n, ..Errors::default() },
        error_causes: BTreeMap::from([("refused".to_owned(), n)]),
        status: BTreeMap::from([(200, n)]),
        client_cpu_ns: n,
        threads: 1,
        duration_ns: 10,
        ..Tally::default()
    };
    let mut sum = one(4);
    sum.merge(&one(5));
    assert_eq!((sum.sent, sum.due, sum.status[&200], sum.threads), (9, Some(9), 9, 2));
    sum.merge(&Tally { threads: usize::MAX, ..one(u64::MAX) });
    assert_eq!((sum.sent, sum.completed, sum.due), (u64::MAX, u64::MAX, Some(u64::MAX)));
    assert_eq!(
        (sum.error_causes["refused"], sum.status[&200], sum.client_cpu_ns),
        (u64::MAX, u64::MAX, u64::MAX)
    );
    assert_eq!((sum.errors.timeout, sum.threads), (u64::MAX, usize::MAX));
    assert!(sum.failed_share().is_some() && sum.rate_per_s().is_some());
}

#[test]
fn a_server_is_silent_since_any_worker_last_heard_it_though_it_owes_an_answer() {
    let worker =
        |heard_ns, owed_ns| Tally { duration_ns: 100, threads: 1, heard_ns, owed_ns, ..Tally::default() };
    let mut sum = worker(Some(30), Some(40));
    assert_eq!(sum.silent_ns(), Some(60), "nothing was owed before");
    sum.merge(&worker(Some(70), None));
    assert_eq!(sum.silent_ns(), Some(30), "another worker heard it later");
    sum.merge(&worker(None, Some(20)));
    assert_eq!((sum.silent_ns(), worker(Some(99), None).silent_ns()), (Some(30), None));
    assert_eq!(worker(None, Some(20)).silent_ns(), Some(80), "it was never heard");
    sum.append(&worker(Some(1), Some(1)));
    assert_eq!(sum.silent_ns(), None, "of several windows it is not known");
}
