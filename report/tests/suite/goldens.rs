//! One golden for every output format, from findings and a tally that are made up.

use crate::made_up::*;
use model::comparison::{CellComparison, Change, DriftOf};
use model::environment::{Cap, ConditionsRange, Executable, FrequencyPolicy, Machine};
use model::findings::{ContenderFindings, Figure};
use model::*;
use report::{Detail, TextStyle};
use std::collections::BTreeMap;

#[test]
fn a_ranking_in_the_terminal() {
    insta::assert_snapshot!(report::run::document(&findings()).terminal(&TextStyle::default()));
}

/// The slower one, B, uses less CPU per request.
#[test]
fn a_difference_is_told_so_that_its_figure_is_positive() {
    let mut f = race(100_000.0, 80_000.0, 0.011);
    f.cells[0].contenders[1].server_cpu_ns_more = figure(-94_500.0, 0.01);
    let words = report::run::document(&f).terminal(&TextStyle::default());
    assert!(
        words.contains("a request to B costs the server 94.5 µs less CPU, 95 % 93.6 µs to 95.4 µs"),
        "{words}"
    );
}

#[test]
fn a_ranking_in_markdown() {
    insta::assert_snapshot!(report::run::document(&findings()).markdown());
}

/// A Raspberry Pi that has told all that it knows.
#[test]
fn a_ranking_with_all_of_its_environment() {
    let mut f = findings();
    f.environment.memory_bytes = Some(4_000_000_000);
    f.environment.machine = Machine {
        drome_sha256: Some("aa".repeat(32)),
        online_cpus: Some(vec![0, 1]),
        isolated_cpus: Some(Vec::new()),
        frequency: FrequencyPolicy {
            driver: Some("cpufreq-dt".to_owned()),
            governor: Some("ondemand".to_owned()),
            min_hz: Some(600_000_000),
            max_hz: Some(1_800_000_000),
            boost: None,
        },
        mitigations: Some(BTreeMap::from([("spectre_v1".to_owned(), "Mitigation: some".to_owned())])),
        sysctls: BTreeMap::from([("net.core.somaxconn".to_owned(), Some("4096".to_owned()))]),
        descriptors_soft: Some(1024),
        cgroup_cpu_millicores: Some(Cap::At(1500)),
        cgroup_memory_bytes: Some(Cap::NONE),
        clock_source: Some("arch_sys_counter".to_owned()),
        swap_bytes: Some(0),
        cores_stay_awake: Some(false),
        ..Machine::default()
    };
    f.conditions = ConditionsRange {
        others_ppm_max: Some(12_345),
        server_hz_min: Some(600_000_000),
        server_hz_max: Some(1_800_000_000),
        temperature_c_max: Some(82.6),
        throttled_trials: Some(3),
        throttled: vec!["under-voltage".to_owned()],
        ..ConditionsRange::default()
    };
    f.cells[0].contenders.truncate(1);
    f.cells[0].contenders[0].ran.executables =
        vec![Executable { path: "/usr/sbin/nginx".to_owned(), sha256: None }];
    insta::assert_snapshot!("environment_in_markdown", report::run::document(&f).markdown());
    insta::assert_snapshot!("environment_as_json", report::json(&f));
}

#[test]
fn findings_as_json() {
    insta::assert_snapshot!(report::json(&findings()));
}

#[test]
fn a_race_by_another_metric() {
    insta::assert_snapshot!(
        "less_cpu",
        report::run::document(&race_by(Metric::ServerCpu, 1.17)).terminal(&TextStyle::default())
    );
    let mut p90 = race_by(Metric::Latency(model::metric::Percentile::P90), 0.5);
    p90.cells[0].load = Load::Open {
        rate_per_s: 5_000.0.into(),
        connections: 10,
        arrivals: Arrivals::Poisson,
        per_connection: None,
    };
    insta::assert_snapshot!("shorter_p90", report::run::document(&p90).terminal(&TextStyle::default()));
    let less = report::run::document(&race_by(Metric::Rss, 0.97)).terminal(&TextStyle::default());
    assert!(less.contains("B uses 1.031× less memory than A, 95 % 1.027–1.035"), "{less}");
}

#[test]
fn a_race_in_which_some_or_all_trials_failed() {
    let mut some = race(80_000.0, 100_000.0, 0.011);
    some.cells[0].contenders[1].failed = 6;
    let race = some.race.as_mut().unwrap();
    (race.held_equal.body_bytes, race.held_equal.prepare) = (None, Some("make clean".to_owned()));
    insta::assert_snapshot!("half_failed_in_markdown", report::run::document(&some).markdown());
    let mut none = some.clone();
    none.cells[0].contenders[1] =
        ContenderFindings { name: "B".to_owned(), title: "./b {port}".to_owned(), failed: 3, ..dead() };
    none.cells[0].noise_floor = None;
    undecide(&mut none);
    insta::assert_snapshot!(
        "one_never_started",
        report::run::document(&none).terminal(&TextStyle::default())
    );
}

#[test]
fn a_race_of_servers_that_already_ran_says_what_it_can_not_tell_and_claims_no_cores() {
    let mut f = race(100_000.0, 80_000.0, 0.011);
    let race = f.race.as_mut().unwrap();
    (race.running, race.held_equal.server_cpus) = (true, Vec::new());
    for text in
        [report::run::document(&f).terminal(&TextStyle::default()), report::run::document(&f).markdown()]
    {
        assert!(text.contains("drome did not start these servers: "), "{text}");
        assert!(text.contains("kept open; load generator on core 1; "), "{text}");
        assert!(!text.contains("servers on core"), "{text}");
    }
}

#[test]
fn a_race_in_words() {
    insta::assert_snapshot!(
        "slower",
        report::run::document(&race(100_000.0, 80_000.0, 0.011)).terminal(&TextStyle::default())
    );
    insta::assert_snapshot!(
        "faster",
        report::run::document(&race(80_000.0, 100_000.0, 0.011)).terminal(&TextStyle::default())
    );
    insta::assert_snapshot!(
        "equal",
        report::run::document(&race(100_000.0, 100_400.0, 0.011)).terminal(&TextStyle::default())
    );
    let mut floor = race(80_000.0, 100_000.0, 0.011);
    floor.cells[0].contenders[1].bound = Some("client".to_owned());
    insta::assert_snapshot!("a_floor", report::run::document(&floor).terminal(&TextStyle::default()));
    undecide(&mut floor);
    floor.cells[0].contenders[0].bound = Some("client".to_owned());
    insta::assert_snapshot!("two_floors", report::run::document(&floor).terminal(&TextStyle::default()));
}

#[test]
fn a_load_as_text() {
    let (plan, tally, verdict) = measurement(Load::Closed { connections: 8, per_connection: None });
    insta::assert_snapshot!(
        "closed",
        report::load_report::document(&plan, &tally, &verdict, Detail::Summary, None)
            .terminal(&TextStyle::default())
    );
    let open = Load::Open {
        rate_per_s: 10_000.0.into(),
        connections: 8,
        arrivals: Arrivals::Poisson,
        per_connection: Some(1),
    };
    let (plan, tally, mut verdict) = measurement(open);
    (verdict.valid, verdict.bound) = (false, Bound::Client);
    insta::assert_snapshot!(
        "open",
        report::load_report::document(&plan, &tally, &verdict, Detail::Summary, None)
            .terminal(&TextStyle::default())
    );
}

#[test]
fn a_load_as_json() {
    let (plan, tally, verdict) = measurement(Load::Closed { connections: 8, per_connection: None });
    insta::assert_snapshot!(report::load_json::report(&plan, &tally, &verdict, Detail::Summary, None));
}

#[test]
fn a_load_with_its_percentile_spectrum() {
    let load = Load::Open {
        rate_per_s: "5k..15k/2s".parse().unwrap(),
        connections: 8,
        arrivals: Arrivals::Constant,
        per_connection: None,
    };
    let (plan, tally, verdict) = measurement(load);
    insta::assert_snapshot!(
        "spectrum",
        report::load_report::document(&plan, &tally, &verdict, Detail::Spectrum, None)
            .terminal(&TextStyle::default())
    );
    let json = report::load_json::report(&plan, &tally, &verdict, Detail::Spectrum, None);
    for (first_line, version) in [("GET / HTTP/1.0", "1.0"), ("GET /?a=HTTP/1.0 HTTP/1.1", "1.1")] {
        let mut plan = plan.clone();
        plan.asks[0].request = format!("{first_line}\r\nHost: HTTP/1.0\r\n\r\n").into_bytes();
        let json = report::load_json::report(&plan, &tally, &verdict, Detail::Summary, None);
        assert!(json.contains(&format!("\"http\":\"{version}\"")), "{json}");
    }
    insta::assert_snapshot!("spectrum_as_json", json);
}

#[test]
fn two_runs() {
    let few = Some(Figure { median: 1.02, low: None, high: None });
    let comparison = Comparison {
        schema: 1,
        old: "20260101-000000-0000".to_owned(),
        new: "20260201-000000-0000".to_owned(),
        notes: vec![
            "different kernel (6.1.0 then, 6.2.0 now); the correction for the machine's speed removes most of its effect".to_owned(),
        ],
        confidence: 0.95,
        cells: vec![CellComparison {
            title: "keep-alive".to_owned(),
            transport: model::study::Transport::default(),
            workload: "hello".to_owned(),
            load: Load::Closed { connections: 10, per_connection: None },
            metric: model::Metric::Rate,
            drift: figure(0.97, 0.01),
            drift_of: DriftOf::Reference,
            movement: Some(0.031),
            contenders: vec![
                compared("Node.js", Change::Slower, figure(0.902, 0.02), None),
                compared("nginx", Change::NoneSeen, figure(1.001, 0.012), None),
                compared("Go", Change::Unknown, few, Some("3 and 3 blocks are too few to be sure")),
                compared("Perl", Change::Unknown, None, Some("no trial of one of the runs is valid")),
            ],
        }],
        gone: vec!["python (keep-alive)".to_owned()],
        added: Vec::new(),
        failed: Vec::new(),
    };
    insta::assert_snapshot!(
        "two_runs_in_the_terminal",
        report::compare::document(&comparison).terminal(&report::TextStyle::default())
    );
    insta::assert_snapshot!("two_runs_in_markdown", report::compare::document(&comparison).markdown());
}

#[test]
fn no_chart_names_a_leader_where_nothing_is_decided() {
    let mut f = findings();
    let words = |f: &model::Findings| {
        let cell = &f.cells[0];
        let of = report::chart::ranked::of_cell(f, cell).caption.finding;
        (of, report::chart::slope::of_cell(f, cell).caption.finding)
    };
    let (ranked, slope) = words(&f);
    assert!(ranked.starts_with("There is no clear leader. nginx has the best figure, "), "{ranked}");
    assert!(slope.starts_with("nginx was the best on the page; here there is no clear leader, "), "{slope}");
    let front = f.cells[0].in_heats.front.as_mut().unwrap();
    front.leaders.truncate(1);
    let (ranked, _) = words(&f);
    assert!(ranked.starts_with("There is no clear leader. "), "one alone leads nobody: {ranked}");
    lead(&mut f.cells[0]);
    let (ranked, slope) = words(&f);
    assert!(ranked.starts_with("nginx leads with "), "{ranked}");
    assert!(slope.starts_with("nginx was the best on the page and leads here. "), "{slope}");
    (f.cells[0].contenders[2].rank_low, f.cells[0].contenders[2].rank_high) = (None, None);
    let (ranked, slope) = words(&f);
    assert!(ranked.starts_with("Of those with a rank, nginx leads with "), "one may be better: {ranked}");
    assert!(slope.contains(" leads here, of those with a rank. "), "{slope}");
    let mut race = race(100_000.0, 80_000.0, 0.011);
    assert!(words(&race).0.contains(" leads with "), "{}", words(&race).0);
    undecide(&mut race);
    assert!(words(&race).0.starts_with("There is no clear leader. "), "{}", words(&race).0);
}

#[test]
fn one_that_beats_all_others_leads_whether_or_not_the_reference_may_be_better() {
    // The load generator held the reference back, so nobody can be certainly better than it: nginx has rank 1 or 2.
    for rate in [149_000.0, 151_000.0] {
        let mut f = findings();
        let cell = &mut f.cells[0];
        lead(cell);
        let nginx = contender("nginx", "nginx", rate, 150_000.0, (1, 1, 2));
        cell.contenders[0].rank_high = Some(2);
        let place = usize::from(rate < 150_000.0);
        cell.contenders.remove(1);
        cell.contenders.insert(place, nginx);
        f.cells.push(f.cells[0].clone());
        assert!(report::answer::of(&f, &f.cells[0])[0].starts_with("nginx is the fastest"));
        let chart = report::chart::ranked::of_cell(&f, &f.cells[0]).caption.finding;
        assert!(chart.starts_with("nginx leads with "), "{chart}");
        assert_eq!(report::verdict::in_one_line(&f), "nginx is the best in 2 of 2 cells");
        let node = f.cells[1].contenders.iter_mut().find(|c| c.name == "node").unwrap();
        node.rank_low = None;
        let one_line = report::verdict::in_one_line(&f);
        let ranked =
            "nginx is the best in 1 of 2 cells; nginx is the best of those with a rank in 1 of 2 cells";
        assert_eq!(one_line, ranked);
    }
}

#[test]
fn both_at_their_limit_is_a_floor_and_idle_servers_are_told() {
    let mut f = findings();
    f.cells[0].contenders[1].bound = Some("both".to_owned());
    f.cells[0].contenders[2].bound = Some("neither".to_owned());
    f.cells[0].contenders[2].server_idle_share = Some(0.053);
    let told = report::run::document(&f).terminal(&TextStyle::default());
    let line = |name: &str| told.lines().find(|line| line.contains(name)).unwrap_or_default().to_owned();
    assert!(line("nginx 1.2.3").contains("≥ 98,765") && line("nginx 1.2.3").contains("both"), "{told}");
    assert!(line("Node.js 1.2.3").contains("neither, idle 5.3 %"), "{told}");
}

#[test]
fn what_did_not_keep_up_is_told_with_what_that_means() {
    let mut f = findings();
    f.cells[0].metric = model::Metric::Latency(model::metric::Percentile::P99);
    let node = &mut f.cells[0].contenders[2];
    (node.fell_behind, node.void) = (2, 0);
    let told = |f: &model::Findings| report::run::document(f).markdown().replace('\n', " ");
    assert!(
        told(&f).contains("its latency comes from the 4 of 6 sound starts in which it kept up"),
        "{}",
        told(&f)
    );
    f.cells[0].contenders[2].latency_ns_p99 = None;
    let text = told(&f);
    assert!(text.contains("no latency and no rank: it did not keep up in 2 of 6 sound starts"), "{text}");
}

#[test]
fn a_run_that_was_pulled_says_from_where() {
    let from = |mut f: Findings| {
        let (machine, pulled_at) = ("ci-1".to_owned(), "2026-02-01T09:00:00Z".to_owned());
        f.origin = Some(Origin { machine, pulled_at });
        f
    };
    let (study, race) = (from(findings()), from(race(100_000.0, 80_000.0, 0.011)));
    let words = "measured on another machine, ci-1; pulled on 2026-02-01";
    for text in [
        report::run::document(&study).terminal(&TextStyle::default()),
        report::run::document(&study).markdown(),
        report::run::document(&race).terminal(&TextStyle::default()),
        report::run::document(&race).markdown(),
    ] {
        assert!(text.contains(words), "{text}");
    }
    assert!(!report::run::document(&findings()).terminal(&TextStyle::default()).contains("another machine"));
}
