//! Merging, clearing, and what follows from the counts.

use super::*;

/// All fields by name, so that a new one has to be cleared too.
fn full() -> Tally {
    let mut latency = Histogram::new();
    latency.record(7);
    let agreed = Agreed { protocol: "", cipher_suite: "", group: None, key_bits: None };
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
        unsent_at_end: Some(1),
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
        course: Some(Course::default()),
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
