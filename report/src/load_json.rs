//! The documented JSON of `drome load --json` (schema 1): keys stay stable, new ones may be added, a figure
//! that was not measured is null.

use crate::spectrum::{self, Point};
use crate::{Detail, offered};
use model::{Bound, Load, Plan, Tally, Verdict};
use serde::Serialize;
use std::collections::BTreeMap;

/// One measurement.
#[derive(Serialize)]
struct Report<'a> {
    /// 1: the version of this JSON.
    schema: u32,
    /// What was done.
    plan: PlanPart<'a>,
    /// The measured window.
    duration_s: f64,
    /// Requests by what became of them: `sent` = `completed` + `in_flight_at_end` + the errors of sent requests.
    requests: Requests,
    /// All that went wrong.
    errors: ErrorPart<'a>,
    /// Whole answers by status, expected or not.
    status: &'a BTreeMap<u16, u64>,
    /// Answers per second that came whole and as expected.
    rate_per_s: Option<f64>,
    /// What went over the wire.
    bytes: Bytes,
    /// From when a request was due (open load) or sent (closed) to the last byte of its answer. Under closed load this is latency at saturation.
    latency_ns: Option<Summary>,
    /// The whole distribution of `latency_ns`; there with `--percentile-spectrum` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    latency_spectrum: Option<Vec<Point>>,
    /// From the actual send to the last byte of the answer.
    service_ns: Option<Summary>,
    /// From the actual send to the first bytes of the answer.
    first_byte_ns: Option<Summary>,
    /// From the start of a connection until it was open.
    connect_ns: Option<Summary>,
    /// From an open connection to the end of its TLS handshake.
    handshake_ns: Option<Summary>,
    /// Open load: how far the send lagged behind the due time while a connection stood free.
    schedule_lag_ns: Option<Summary>,
    /// How evenly connections were served.
    fairness: Fairness,
    /// What the load generator used.
    client: Client,
    /// Whether to believe it.
    verdict: VerdictPart<'a>,
}

/// What was done.
#[derive(Serialize)]
struct PlanPart<'a> {
    /// As it was given.
    url: &'a str,
    /// The version of HTTP.
    http: &'static str,
    /// Connections.
    connections: usize,
    /// Worker threads.
    threads: usize,
    /// What drove the sockets: `uring` or `epoll`.
    io: Option<&'a str>,
    /// Why it was `epoll` though `io_uring` is the default; else the key is not there.
    #[serde(skip_serializing_if = "Option::is_none")]
    io_fallback: Option<&'a str>,
    /// Requests on their way on each connection at the same time.
    pipeline: usize,
    /// `closed` or `open`.
    mode: &'static str,
    /// Open load: what was offered, the mean over the window.
    rate_per_s: Option<f64>,
    /// Open load whose rate changes: how; else the key is not there.
    #[serde(skip_serializing_if = "Option::is_none")]
    shape: Option<offered::Shape>,
    /// Requests before a connection is closed and opened anew; null: as long as the server keeps it.
    per_connection: Option<usize>,
    /// Decides all that is random.
    seed: u64,
}

/// Requests by what became of them.
#[derive(Serialize)]
struct Requests {
    /// Sent, those in flight when the window opened included.
    sent: u64,
    /// Answers that came whole and as expected.
    completed: u64,
    /// Not yet answered when time was up.
    in_flight_at_end: u64,
    /// Whole answers whose body was compared with what was expected, byte by byte.
    verified: u64,
    /// Open load: requests that became due within the window.
    due: Option<u64>,
    /// Open load: requests due that still waited for a free connection when time was up.
    unsent_at_end: Option<u64>,
}

/// What went wrong, by kind.
#[derive(Serialize)]
struct ErrorPart<'a> {
    /// All of them.
    total: u64,
    /// No connection came about.
    connect: u64,
    /// The request could not be sent whole.
    send: u64,
    /// The connection broke before the answer was whole.
    receive: u64,
    /// No whole answer within the timeout.
    timeout: u64,
    /// A whole answer with a status that was not expected.
    status: u64,
    /// A whole answer with a body that was not expected.
    body: u64,
    /// An answer that is not HTTP.
    protocol: u64,
    /// Bytes that no request had asked for.
    unasked: u64,
    /// The load generator's own: no port, no descriptor.
    local: u64,
    /// How often, by what went wrong in words.
    causes: &'a BTreeMap<String, u64>,
}

/// What went over the wire.
#[derive(Serialize)]
struct Bytes {
    /// Bytes of requests.
    sent: u64,
    /// Bytes of answers, heads included.
    received: u64,
    /// Bytes of answers' bodies.
    body: u64,
}

/// A distribution, in nanoseconds; null where nothing was counted.
#[derive(Serialize)]
struct Summary {
    /// The shortest.
    min: Option<u64>,
    /// The mean.
    mean: Option<f64>,
    /// The standard deviation.
    sd: Option<f64>,
    /// The median.
    p50: Option<u64>,
    /// 90 % are at most so long.
    p90: Option<u64>,
    /// 95 %.
    p95: Option<u64>,
    /// 99 %.
    p99: Option<u64>,
    /// 99.9 %.
    p999: Option<u64>,
    /// 99.99 %.
    p9999: Option<u64>,
    /// The longest.
    max: Option<u64>,
}

/// How evenly connections were served.
#[derive(Serialize)]
struct Fairness {
    /// Jain's index: 1 where all were served alike, 1/n where one of n had all.
    jain: Option<f64>,
    /// Whole answers of the connection that had fewest.
    served_min: Option<u64>,
    /// Of the one that had most.
    served_max: Option<u64>,
}

/// What the load generator used.
#[derive(Serialize)]
struct Client {
    /// CPU time of its worker threads within the window.
    cpu_ns: u64,
    /// Of that, time in which they polled and nothing had happened.
    idle_ns: u64,
    /// CPU time for a completed request, without `idle_ns`.
    cpu_ns_per_request: Option<f64>,
    /// The share of its threads' time that it was busy.
    core_use: Option<f64>,
    /// The same of its busiest thread alone, by which the bound is decided.
    busiest_thread_use: Option<f64>,
    /// Its largest resident memory.
    rss_max_bytes: Option<u64>,
}

/// Whether to believe it.
#[derive(Serialize)]
struct VerdictPart<'a> {
    /// What bounded it.
    bound: Bound,
    /// False: the measurement is void, and drome ends with exit code 4.
    valid: bool,
    /// Open load: whether the server answered what was due. False: the rate is a finding, the latencies are those of a queue that
    /// grew, and drome ends with exit code 4. Null of closed load.
    kept_up: Option<bool>,
    /// How long the server waited for work, as a share of the window; null where its processes are not known.
    server_idle_share: Option<f64>,
    /// Why, each with its figure.
    reasons: &'a [String],
}

/// One measurement as JSON on one line.
pub fn report(plan: &Plan, tally: &Tally, verdict: &Verdict, detail: Detail) -> String {
    let report = Report {
        schema: 1,
        plan: plan_part(plan, tally),
        duration_s: tally.duration_ns as f64 / 1e9,
        requests: Requests {
            sent: tally.sent,
            completed: tally.completed,
            in_flight_at_end: tally.in_flight_at_end,
            verified: tally.verified,
            due: tally.due,
            unsent_at_end: tally.unsent_at_end,
        },
        errors: error_part(tally),
        status: &tally.status,
        rate_per_s: tally.rate_per_s(),
        bytes: Bytes { sent: tally.sent_bytes, received: tally.received_bytes, body: tally.body_bytes },
        latency_ns: summary(&tally.latency),
        latency_spectrum: (detail == Detail::Spectrum).then(|| spectrum::points(&tally.latency)),
        service_ns: summary(&tally.service),
        first_byte_ns: summary(&tally.first_byte),
        connect_ns: summary(&tally.connect),
        handshake_ns: summary(&tally.handshake),
        schedule_lag_ns: summary(&tally.schedule_lag),
        fairness: Fairness {
            jain: stats::fairness::jain(&tally.served),
            served_min: tally.served.iter().min().copied(),
            served_max: tally.served.iter().max().copied(),
        },
        client: Client {
            cpu_ns: tally.client_cpu_ns,
            idle_ns: tally.client_idle_ns,
            cpu_ns_per_request: tally.client_cpu_ns_per_request(),
            core_use: tally.client_core_use(),
            busiest_thread_use: tally.client_busiest_use(),
            rss_max_bytes: tally.client_rss_max_bytes,
        },
        verdict: VerdictPart {
            bound: verdict.bound,
            valid: verdict.valid,
            kept_up: verdict.kept_up,
            server_idle_share: verdict.server_idle_ppm.map(|ppm| ppm as f64 / 1e6),
            reasons: &verdict.reasons,
        },
    };
    serde_json::to_string(&report).unwrap_or_else(|e| format!("{{\"error\":\"{e}\"}}")) + "\n"
}

fn plan_part<'a>(plan: &'a Plan, tally: &'a Tally) -> PlanPart<'a> {
    let rate = plan.load.rate_per_s();
    PlanPart {
        url: &plan.target.url,
        http: "1.1",
        connections: plan.load.connections(),
        threads: tally.threads,
        io: tally.io.as_deref(),
        io_fallback: tally.io_fallback.as_deref(),
        pipeline: plan.pipeline,
        mode: match plan.load {
            Load::Closed { .. } => "closed",
            Load::Open { .. } => "open",
        },
        rate_per_s: rate.map(|rate| rate.mean_per_s(tally.duration_ns)),
        shape: rate.and_then(offered::shape),
        per_connection: plan.load.per_connection(),
        seed: plan.seed,
    }
}

fn error_part(tally: &Tally) -> ErrorPart<'_> {
    let e = &tally.errors;
    ErrorPart {
        total: e.total(),
        connect: e.connect,
        send: e.send,
        receive: e.receive,
        timeout: e.timeout,
        status: e.status,
        body: e.body,
        protocol: e.protocol,
        unasked: e.unasked,
        local: e.local,
        causes: &tally.error_causes,
    }
}

fn summary(h: &stats::Histogram) -> Option<Summary> {
    (h.count() > 0).then(|| Summary {
        min: h.min_ns(),
        mean: h.mean_ns(),
        sd: h.sd_ns(),
        p50: h.quantile_ns(0.5),
        p90: h.quantile_ns(0.9),
        p95: h.quantile_ns(0.95),
        p99: h.quantile_ns(0.99),
        p999: h.quantile_ns(0.999),
        p9999: h.quantile_ns(0.9999),
        max: h.max_ns(),
    })
}
