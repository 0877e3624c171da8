//! Findings, a tally and a run that are made up.

use model::comparison::{Change, ContenderComparison};
use model::contender::{Class, Settings, Track};
use model::environment::{ConditionsRange, Ran};
use model::findings::{
    CellFindings, CellInHeats, ClassFloor, ContenderFindings, ContenderInHeats, Decided, Figure, Findings,
    Front, HeldEqual, Missing, PairFindings, Pairs, RaceFindings, SCHEMA,
};
use model::page::{PageMetric, Published};
use model::run::Entrant;
use model::*;
use report::figures::{Share, ShareBound};
use std::collections::BTreeMap;
use std::time::Duration;

#[expect(clippy::unnecessary_wraps, reason = "every field that it fills may be unknown")]
pub fn figure(median: f64, spread: f64) -> Option<Figure> {
    let half = median.abs() * spread;
    Some(Figure { median, low: Some(median - half), high: Some(median + half) })
}

pub fn contender(
    name: &str,
    title: &str,
    rate: f64,
    reference: f64,
    rank: (usize, usize, usize),
) -> ContenderFindings {
    ContenderFindings {
        name: name.to_owned(),
        title: title.to_owned(),
        version: Some("1.2.3".to_owned()),
        ran: Ran::default(),
        trials: 6,
        void: 0,
        failed: 0,
        rate_per_s: figure(rate, 0.01),
        server_cpu_ns_per_request: figure(0.95e9 / rate, 0.005),
        latency_ns_mean: figure(8.5e9 / rate, 0.02),
        latency_ns_p50: figure(8e9 / rate, 0.02),
        latency_ns_p99: figure(20e9 / rate, 0.05),
        wire_bytes_per_answer: Some(161.0),
        server_core_use: None,
        rss_max_bytes: Some(12_800_000),
        rate_per_s_by_round: [0.99, 1.0, 1.01].map(|x| Some(rate * x)).to_vec(),
        merit_by_round: Vec::new(),
        metric: figure(rate, 0.01),
        metric_of_reference: figure(rate / reference, 0.008),
        of_reference: figure(rate / reference, 0.008),
        differs: None,
        equal: None,
        time_ns_more: figure(1e9 / rate - 1e9 / reference, 0.01),
        server_cpu_ns_more: figure(0.95e9 / rate - 0.95e9 / reference, 0.01),
        tier: Some(rank.0),
        rank_low: Some(rank.1),
        rank_high: Some(rank.2),
        bound: Some("server".to_owned()),
        server_idle_share: None,
        fell_behind: 0,
        errors: 0,
        published: None,
        in_heats: ContenderInHeats {
            class: Some(Class::Native),
            warm: Some(true),
            starts: 6,
            settling_known: 6,
            warmup_s: Some(0.4),
            disturbed_share: Some(0.0),
            ..ContenderInHeats::default()
        },
        notes: Vec::new(),
    }
}

pub fn entrant(name: &str, title: &str, track: Track) -> (String, Entrant) {
    let settings = Settings {
        keep_alive: Some("on, 1000 requests a connection".to_owned()),
        logging: Some("off".to_owned()),
        workers: Some("1 process".to_owned()),
        caching: None,
    };
    let because = (track == Track::Tuned).then(|| "workers = cores: https://example.org/deploy".to_owned());
    let version = Some("1.2.3".to_owned());
    (
        name.to_owned(),
        Entrant {
            title: title.to_owned(),
            version,
            missing: None,
            track,
            settings,
            because,
            source_sha256: None,
            ..Entrant::default()
        },
    )
}

/// One that failed in every trial.
pub fn dead() -> ContenderFindings {
    let mut dead = contender("perl", "Perl", 1.0, 1.0, (0, 0, 0));
    (dead.trials, dead.failed, dead.version) = (0, 3, None);
    (dead.rate_per_s, dead.server_cpu_ns_per_request, dead.latency_ns_p50) = (None, None, None);
    (dead.metric, dead.metric_of_reference, dead.latency_ns_mean) = (None, None, None);
    (dead.latency_ns_p99, dead.of_reference, dead.time_ns_more, dead.server_cpu_ns_more) =
        (None, None, None, None);
    (dead.rss_max_bytes, dead.tier, dead.rank_low, dead.rank_high, dead.bound) =
        (None, None, None, None, None);
    dead.wire_bytes_per_answer = None;
    dead.rate_per_s_by_round = Vec::new();
    dead.notes =
        vec!["failed: it ended (exit status: 1); it wrote nothing to its log (3 of 3 starts)".to_owned()];
    dead
}

pub fn findings() -> Findings {
    let mut reference = contender("reference", "drome serve", 150_000.0, 150_000.0, (1, 1, 1));
    reference.bound = Some("client".to_owned());
    reference.trials = 12;
    let mut nginx = contender("nginx", "nginx", 98_765.0, 150_000.0, (2, 2, 3));
    nginx.published = Some(351.49);
    let mut node = contender("node", "Node.js", 97_900.0, 150_000.0, (2, 2, 3));
    node.published = Some(125.97);
    (node.void, node.errors) = (1, 1234);
    node.notes = vec!["void: the host took 20 % of the measured CPUs' time (1 of 6 starts)".to_owned()];
    Findings {
        schema: SCHEMA,
        run: "20260101-000000-0000".to_owned(),
        study: "example".to_owned(),
        title: "An example".to_owned(),
        source: Some("a page".to_owned()),
        started_at: "2026-01-01T00:00:00Z".to_owned(),
        seed: 7,
        environment: Environment {
            drome: "0.1.0".to_owned(),
            kernel: Some("6.1.0".to_owned()),
            cpu: Some("A processor".to_owned()),
            cores: 2,
            server_cpus: vec![0],
            client_cpus: vec![1],
            ..Environment::default()
        },
        origin: None,
        conditions: ConditionsRange::default(),
        workloads: BTreeMap::from([("hello".to_owned(), "d2a84f4b8b65".to_owned())]),
        quick: false,
        allow_busy: false,
        ended: "every comparison is decided or known within ±3 %, after 6 rounds".to_owned(),
        elapsed_s: 61.5,
        race: None,
        noise_floor: Some(0.011),
        cells: vec![CellFindings {
            title: "keep-alive".to_owned(),
            workload: "hello".to_owned(),
            transport: model::study::Transport::default(),
            load: Load::Closed { connections: 10, per_connection: None },
            metric: Metric::Rate,
            rounds: 6,
            noise_floor: Some(0.011),
            in_heats: CellInHeats {
                rounds: 6,
                heats: 6,
                noise_floors: vec![ClassFloor { class: Class::Native, noise_floor: 0.011 }],
                pairs: Pairs { decided: 2, equal: 0, open: 1 },
                front: Some(Front {
                    leaders: vec!["nginx".to_owned(), "node".to_owned()],
                    next: None,
                    ratio: None,
                }),
                ..CellInHeats::default()
            },
            contenders: vec![reference, nginx, node, dead()],
        }],
        missing: vec![Missing {
            name: "go".to_owned(),
            why: "`go` is not on PATH; get it: https://go.dev/dl".to_owned(),
        }],
        page: Some(page()),
        unequal: vec!["nginx sent 228 bytes, the others fewer".to_owned()],
        entrants: BTreeMap::from([
            entrant("nginx", "nginx", Track::Default),
            entrant("node@tuned", "Node.js (tuned)", Track::Tuned),
        ]),
        profiles: Vec::new(),
    }
}

fn page() -> Published {
    Published {
        metric: PageMetric::RatePerS,
        hardware: "a small board".to_owned(),
        figures: BTreeMap::from([("nginx".to_owned(), 351.49), ("node".to_owned(), 125.97)]),
        cells: BTreeMap::new(),
        details: BTreeMap::from([(
            "keep-alive".to_owned(),
            BTreeMap::from([("nginx".to_owned(), BTreeMap::from([("latency_mean_ms".to_owned(), 28.45)]))]),
        )]),
        without: BTreeMap::new(),
        versions: BTreeMap::from([("nginx".to_owned(), "0.8.1".to_owned())]),
    }
}

pub fn race(a: f64, b: f64, floor: f64) -> Findings {
    let mut f = findings();
    f.study.replace_range(.., "race");
    f.cells[0].noise_floor = Some(floor);
    f.cells[0].contenders =
        vec![contender("A", "./a {port}", a, a, (1, 1, 1)), contender("B", "./b {port}", b, a, (2, 2, 2))];
    let is_decided = (b / a).ln().abs() > floor;
    let faster = is_decided.then(|| if b > a { "B" } else { "A" }.to_owned());
    f.race = Some(raced(faster, figure(b / a, 0.008)));
    f
}

pub fn raced(faster: Option<String>, ratio: Option<Figure>) -> RaceFindings {
    let decided = Some(if faster.is_some() { Decided::Faster } else { Decided::Equal });
    let (contender, against) = ("B".to_owned(), "A".to_owned());
    let pair = PairFindings { contender, against, decided, faster: faster.clone(), ratio, sure: ratio };
    RaceFindings {
        metric: Metric::Rate,
        elapsed_s: 8.94,
        rounds: 6,
        decided,
        faster,
        ratio,
        pairs: vec![pair],
        held_equal: HeldEqual {
            body_bytes: Some(14),
            connections: 10,
            server_cpus: vec![0],
            client_cpus: vec![1],
            warmup_s: 0.2,
            measure_s: 0.5,
            prepare: None,
        },
        running: false,
    }
}

/// The same race decided by another metric, less of which is better.
pub fn race_by(metric: Metric, ratio: f64) -> Findings {
    let mut f = race(80_000.0, 100_000.0, 0.011);
    let faster = if ratio > 1.0 { "A" } else { "B" };
    f.race = Some(RaceFindings { metric, ..raced(Some(faster.to_owned()), figure(ratio, 0.004)) });
    f.cells[0].metric = metric;
    f.cells[0].contenders[1].metric_of_reference = figure(ratio, 0.004);
    f
}

pub fn measurement(load: Load) -> (Plan, Tally, Verdict) {
    let is_open = load.rate_per_s().is_some();
    let target = Target::resolve("http://127.0.0.1:8080/hello").unwrap();
    let plan = Plan {
        cpus: vec![1],
        ..Plan::new(target, model::Ask::default(), load, Until::Elapsed(Duration::from_secs(2)))
    };
    let mut tally = Tally {
        duration_ns: 2_000_000_000,
        sent: 20_010,
        completed: 20_000,
        in_flight_at_end: 8,
        due: is_open.then_some(20_010),
        unsent_at_end: is_open.then_some(0),
        errors: Errors { receive: 2, ..Errors::default() },
        error_causes: BTreeMap::from([("receive: Connection reset by peer (os error 104)".to_owned(), 2)]),
        status: BTreeMap::from([(200, 20_000)]),
        sent_bytes: 920_460,
        received_bytes: 2_000_000,
        body_bytes: 240_000,
        served: vec![2500; 8],
        client_cpu_ns: 120_000_000,
        threads: 1,
        client_rss_max_bytes: Some(8_000_000),
        io: Some("uring".to_owned()),
        ..Tally::default()
    };
    for i in 1..=20_000_u64 {
        tally.latency.record(100_000 + i * 10);
        tally.service.record(100_000 + i * 10);
        tally.first_byte.record(90_000 + i * 10);
        if is_open {
            tally.schedule_lag.record(1_000 + i);
        }
    }
    let verdict = Verdict {
        bound: Bound::Server,
        valid: true,
        reasons: vec!["2 requests failed".to_owned()],
        ..Verdict::default()
    };
    (plan, tally, verdict)
}

/// Makes nginx beat Node.js.
pub fn lead(cell: &mut CellFindings) {
    let front = Front { leaders: vec!["nginx".to_owned()], next: Some("node".to_owned()), ratio: None };
    cell.in_heats.front = Some(front);
}

pub fn undecide(f: &mut Findings) {
    let race = f.race.as_mut().unwrap();
    (race.decided, race.faster) = (None, None);
    (race.pairs[0].decided, race.pairs[0].faster) = (None, None);
}

pub fn run() -> Run {
    let f = findings();
    Run {
        id: f.run,
        name: "race".to_owned(),
        study: Study {
            title: f.title,
            source: None,
            contenders: Vec::new(),
            cells: Vec::new(),
            design: Design {
                rounds: [3, 60],
                heat: Design::HEAT,
                slice: Design::SLICE,
                warmup_limit: Design::WARMUP_LIMIT,
                warmup: Duration::ZERO,
                measure: Duration::from_secs(1),
                decide: true,
                margin: None,
                metric: Metric::Rate,
                precision: 0.02,
                budget: Duration::from_mins(2),
            },
            tracks: vec![Track::Default],
            server_on: None,
            published: None,
            as_published: Vec::new(),
            unequal: Vec::new(),
        },
        seed: 7,
        started_at: f.started_at,
        workloads: BTreeMap::new(),
        quick: false,
        environment: f.environment,
        contenders: BTreeMap::new(),
        copies: 2,
        race: None,
        allow_busy: None,
        command: Vec::new(),
        fleet: None,
    }
}

pub fn compared(
    name: &str,
    change: Change,
    ratio: Option<Figure>,
    note: Option<&str>,
) -> ContenderComparison {
    ContenderComparison {
        name: name.to_lowercase(),
        title: name.to_owned(),
        versions: [
            Some("1.2.3".to_owned()),
            Some(if change == Change::Slower { "1.3.0" } else { "1.2.3" }.to_owned()),
        ],
        ratio,
        change,
        note: note.map(str::to_owned),
    }
}

/// A share of which nothing was held back.
pub fn exact_share(point: report::chart::Point) -> Share {
    let (low, high) = point.interval.unzip();
    Share { figure: Figure { median: point.value, low, high }, bound: ShareBound::Exact }
}
