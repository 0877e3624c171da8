//! Runs of any size, made up: whole numbers in every place, and any text in every place that has one.

use judge::example::in_heats;
use model::contender::{Settings, Track};
use model::environment::{Executable, Machine, Ran};
use model::findings::{
    CellFindings, CellInHeats, ContenderFindings, ContenderInHeats, Figure, Findings, Missing, SCHEMA,
};
use model::heat::{InCell, StartOutcome};
use model::page::{PageMetric, Published};
use model::run::Entrant;
use model::study::REFERENCE;
use model::*;
use report::RunReport;
use std::collections::BTreeMap;
use std::time::Duration;

/// A run and all that is known of it.
pub struct MadeUp {
    pub run: Run,
    pub measured: Measured,
    pub findings: Findings,
}

impl MadeUp {
    pub fn page(&self) -> String {
        report::html::page(&RunReport { run: &self.run, measured: &self.measured, findings: &self.findings })
    }
}

#[expect(clippy::unnecessary_wraps, reason = "every field that it fills may be unknown")]
pub fn figure(median: f64, half: f64) -> Option<Figure> {
    Some(Figure { median, low: Some(median * (1.0 - half)), high: Some(median * (1.0 + half)) })
}

/// How fast the contender with this number is.
fn rate(nth: usize) -> f64 {
    160_000.0 / (1.0 + nth as f64 * 0.7)
}

/// The reference and so many contenders, all of whose texts end in `text`.
pub fn study(contenders: usize, rounds: usize, cells: usize, text: &str) -> MadeUp {
    let names: Vec<String> = std::iter::once(REFERENCE.to_owned())
        .chain((1..=contenders).map(|n| format!("server-{n}")))
        .collect();
    let entrants: BTreeMap<String, Entrant> =
        names.iter().map(|name| (name.clone(), entrant(name, text))).collect();
    let cells: Vec<Cell> = (1..=cells).map(|n| cell(n, text)).collect();
    let run = run(entrants, cells, rounds, text);
    let mut measured = Measured::default();
    for round in 0..rounds {
        let cells: Vec<usize> = (0..run.study.cells.len()).collect();
        for (nth, name) in names.iter().enumerate() {
            for copy in 0..if nth == 0 { 2 } else { 1 } {
                let rate = rate(nth) * (1.0 + 0.01 * round as f64);
                let start = start(in_heats::start(round, 0, name, &cells), rate, text);
                measured.starts.push(Start { copy, ..start });
            }
        }
        measured.heats.push(Heat { round, cells, ..in_heats::heat(&[]) });
    }
    let findings = findings(&run, &names, rounds, text);
    MadeUp { run, measured, findings }
}

fn entrant(name: &str, text: &str) -> Entrant {
    let some = |what: &str| Some(format!("{what} {text}"));
    Entrant {
        title: format!("{name} {text}"),
        version: some("1.2.3"),
        settings: Settings {
            keep_alive: some("on, 1000 requests a connection"),
            logging: some("off"),
            workers: some("1 process"),
            caching: None,
        },
        because: some("workers = cores"),
        track: Track::Default,
        source_sha256: Some("ab".repeat(32)),
        command: ["sh", "-c", &format!("exec {name} {text}"), "{dir}"].map(str::to_owned).to_vec(),
        files: BTreeMap::from([(format!("{name}.conf"), format!("workers 1;\nlisten {{port}}; # {text}\n"))]),
        ..Entrant::default()
    }
}

fn cell(nth: usize, text: &str) -> Cell {
    let load = Load::Closed { connections: 10, per_connection: (nth == 1).then_some(1) };
    Cell::plain(format!("cell {nth} {text}"), "hello".to_owned(), load)
}

fn run(contenders: BTreeMap<String, Entrant>, cells: Vec<Cell>, rounds: usize, text: &str) -> Run {
    let names = contenders.keys().filter(|name| *name != REFERENCE).cloned().collect();
    Run {
        id: "20260101-000000-0000".to_owned(),
        name: "example".to_owned(),
        study: Study {
            title: format!("An example {text}"),
            source: Some(format!("a page {text}")),
            contenders: names,
            cells,
            design: Design {
                rounds: [6, rounds.max(6)],
                heat: Design::HEAT,
                slice: Design::SLICE,
                warmup_limit: Design::WARMUP_LIMIT,
                warmup: Duration::from_millis(500),
                measure: Duration::from_secs(2),
                decide: false,
                margin: None,
                metric: Metric::Rate,
                precision: 0.03,
                budget: Duration::from_mins(10),
            },
            tracks: vec![Track::Default],
            server_on: None,
            published: None,
            as_published: Vec::new(),
            unequal: Vec::new(),
        },
        seed: 7,
        started_at: "2026-01-01T00:00:00Z".to_owned(),
        workloads: BTreeMap::from([("hello".to_owned(), "cd".repeat(32))]),
        quick: false,
        environment: environment(text),
        contenders,
        copies: 1,
        race: None,
        allow_busy: None,
        command: ["run", "example", text].map(str::to_owned).to_vec(),
        fleet: None,
    }
}

fn environment(text: &str) -> Environment {
    Environment {
        drome: "0.1.0".to_owned(),
        hub: None,
        kernel: Some(format!("6.1.0 {text}")),
        cpu: Some(format!("A processor {text}")),
        cores: 2,
        server_cpus: vec![0],
        client_cpus: vec![1],
        idle_cpus: Vec::new(),
        core_notes: Vec::new(),
        memory_bytes: Some(4_000_000_000),
        virtualization: None,
        servers_on: None,
        machine: Machine {
            mitigations: Some(BTreeMap::from([("spectre_v1".to_owned(), format!("Mitigation: {text}"))])),
            sysctls: BTreeMap::from([("net.core.somaxconn".to_owned(), Some(format!("4096 {text}")))]),
            ..Machine::default()
        },
    }
}

/// The start as it went: at this rate in all of its cells, or failed.
fn start(start: Start, rate: f64, text: &str) -> Start {
    let mut tally = Tally {
        duration_ns: 2_000_000_000,
        sent: (rate * 2.0) as u64,
        completed: (rate * 2.0) as u64,
        threads: 1,
        ..Tally::default()
    };
    for share in 1..=100_u64 {
        tally.latency.record((1e9 / rate) as u64 * share / 10);
    }
    let usage = Some(Usage {
        wall_ns: 2_000_000_000,
        cpu_ns: 1_900_000_000,
        cores: 1,
        rss_max_bytes: 12_800_000,
        ..Usage::default()
    });
    let reasons = if start.round == 1 { vec![format!("the host took 20 % {text}")] } else { Vec::new() };
    let verdict = Verdict { bound: Bound::Server, valid: reasons.is_empty(), reasons, ..Verdict::default() };
    let start = Start { took_ns: 3_123_456_789 * start.cells.len() as u64, ..start };
    if start.round == 2 && start.contender == "server-2" {
        let outcome = StartOutcome::Failed(format!("it ended (exit status: 1) {text}"));
        return Start { outcome, cells: BTreeMap::new(), ..start };
    }
    let measurement = Some(Box::new(Measurement { tally, usage, verdict }));
    let cells =
        start.cells.into_iter().map(|(cell, of)| (cell, InCell { measurement: measurement.clone(), ..of }));
    Start { cells: cells.collect(), ..start }
}

fn findings(run: &Run, names: &[String], rounds: usize, text: &str) -> Findings {
    let cells = run.study.cells.iter().map(|cell| CellFindings {
        title: cell.title.clone(),
        workload: cell.workload.clone(),
        load: cell.load.clone(),
        transport: cell.transport(),
        metric: Metric::Rate,
        rounds,
        noise_floor: Some(0.011),
        in_heats: CellInHeats { rounds, heats: rounds, ..CellInHeats::default() },
        contenders: names
            .iter()
            .enumerate()
            .map(|(nth, name)| contender(run, nth, name, rounds, text))
            .collect(),
    });
    Findings {
        schema: SCHEMA,
        run: run.id.clone(),
        study: run.name.clone(),
        title: run.study.title.clone(),
        source: run.study.source.clone(),
        started_at: run.started_at.clone(),
        seed: run.seed,
        environment: run.environment.clone(),
        origin: None,
        conditions: environment::ConditionsRange { others_ppm_max: Some(12_345), ..Default::default() },
        workloads: run.workloads.clone(),
        quick: false,
        allow_busy: false,
        ended: format!("every interval is within ±3 % {text}"),
        elapsed_s: 61.5,
        race: None,
        noise_floor: Some(0.011),
        cells: cells.collect(),
        missing: vec![Missing { name: "go".to_owned(), why: format!("`go` is not on PATH {text}") }],
        page: Some(Published {
            metric: PageMetric::RatePerS,
            hardware: format!("a small board {text}"),
            figures: BTreeMap::new(),
            cells: BTreeMap::new(),
            details: BTreeMap::from([(
                run.study.cells.first().map(|cell| cell.title.clone()).unwrap_or_default(),
                BTreeMap::from([(
                    "server-1".to_owned(),
                    BTreeMap::from([("latency_mean_ms".to_owned(), 28.45)]),
                )]),
            )]),
            without: BTreeMap::new(),
            versions: BTreeMap::from([("nginx".to_owned(), "0.8.1".to_owned())]),
        }),
        unequal: vec![format!("server-1 sent 228 bytes, the others fewer {text}")],
        entrants: run.contenders.clone(),
        profiles: Vec::new(),
    }
}

fn contender(run: &Run, nth: usize, name: &str, rounds: usize, text: &str) -> ContenderFindings {
    let entrant = &run.contenders[name];
    let (rate, reference) = (rate(nth), rate(0));
    // No significant difference between the second and the third.
    let rank = if nth == 2 || nth == 3 { (3, 3, 4) } else { (nth + 1, nth + 1, nth + 1) };
    let program = Executable { path: format!("/usr/sbin/{name} {text}"), sha256: Some("ef".repeat(32)) };
    ContenderFindings {
        name: name.to_owned(),
        title: entrant.title.clone(),
        version: entrant.version.clone(),
        ran: Ran { source_sha256: entrant.source_sha256.clone(), executables: vec![program] },
        trials: rounds,
        void: usize::from(rounds > 1),
        failed: usize::from(nth == 2),
        rate_per_s: figure(rate, 0.01),
        server_cpu_ns_per_request: figure(0.95e9 / rate, 0.005),
        metric: figure(rate, 0.01),
        metric_of_reference: figure(rate / reference, 0.008),
        latency_ns_mean: figure(8.5e9 / rate, 0.02),
        latency_ns_p50: figure(8e9 / rate, 0.02),
        latency_ns_p99: figure(20e9 / rate, 0.05),
        wire_bytes_per_answer: Some(161.0),
        server_core_use: None,
        rss_max_bytes: Some(12_800_000),
        rate_per_s_by_round: (0..rounds).map(|b| Some(rate * (1.0 + 0.01 * b as f64))).collect(),
        merit_by_round: Vec::new(),
        of_reference: figure(rate / reference, 0.008),
        differs: None,
        equal: None,
        time_ns_more: None,
        server_cpu_ns_more: None,
        tier: Some(rank.0),
        rank_low: Some(rank.1),
        rank_high: Some(rank.2),
        bound: Some(if nth == 0 { "client" } else { "server" }.to_owned()),
        server_idle_share: None,
        fell_behind: 0,
        errors: if nth == 2 { 1234 } else { 0 },
        published: (nth > 0).then(|| 351.49 / nth as f64),
        in_heats: ContenderInHeats::default(),
        notes: vec![format!("void: the host took 20 % {text} (1 of {rounds} starts)")],
    }
}
