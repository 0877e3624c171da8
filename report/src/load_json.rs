//! The documented JSON of `drome load --json` (schema 1): keys stay stable, new ones may be added, a figure
//! that was not measured is null.

use crate::spectrum::{self, Point};
use crate::{Detail, offered};
use model::{Bound, Load, Plan, Tally, Verdict};
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
struct Report<'a> {
    schema: u32,
    plan: PlanPart<'a>,
    duration_s: f64,
    requests: Requests,
    errors: ErrorPart<'a>,
    status: &'a BTreeMap<u16, u64>,
    rate_per_s: Option<f64>,
    bytes: Bytes,
    latency_ns: Option<Summary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    latency_spectrum: Option<Vec<Point>>,
    service_ns: Option<Summary>,
    first_byte_ns: Option<Summary>,
    connect_ns: Option<Summary>,
    handshake_ns: Option<Summary>,
    schedule_lag_ns: Option<Summary>,
    fairness: Fairness,
    client: Client,
    verdict: VerdictPart<'a>,
}

#[derive(Serialize)]
struct PlanPart<'a> {
    url: &'a str,
    http: &'static str,
    connections: usize,
    threads: usize,
    io: Option<&'a str>,
    pipeline: usize,
    mode: &'static str,
    rate_per_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shape: Option<offered::Shape>,
    per_connection: Option<usize>,
    seed: u64,
}

#[derive(Serialize)]
struct Requests {
    sent: u64,
    completed: u64,
    in_flight_at_end: u64,
    verified: u64,
    due: Option<u64>,
    unsent_at_end: Option<u64>,
}

#[derive(Serialize)]
struct ErrorPart<'a> {
    total: u64,
    connect: u64,
    send: u64,
    receive: u64,
    timeout: u64,
    status: u64,
    body: u64,
    protocol: u64,
    unasked: u64,
    local: u64,
    causes: &'a BTreeMap<String, u64>,
}

#[derive(Serialize)]
struct Bytes {
    sent: u64,
    received: u64,
    body: u64,
}

#[derive(Serialize)]
struct Summary {
    min: Option<u64>,
    mean: Option<f64>,
    sd: Option<f64>,
    p50: Option<u64>,
    p90: Option<u64>,
    p95: Option<u64>,
    p99: Option<u64>,
    p999: Option<u64>,
    p9999: Option<u64>,
    max: Option<u64>,
}

#[derive(Serialize)]
struct Fairness {
    jain: Option<f64>,
    served_min: Option<u64>,
    served_max: Option<u64>,
}

#[derive(Serialize)]
struct Client {
    cpu_ns: u64,
    idle_ns: u64,
    cpu_ns_per_request: Option<f64>,
    core_use: Option<f64>,
    rss_max_bytes: Option<u64>,
}

#[derive(Serialize)]
struct VerdictPart<'a> {
    bound: Bound,
    valid: bool,
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
            rss_max_bytes: tally.client_rss_max_bytes,
        },
        verdict: VerdictPart { bound: verdict.bound, valid: verdict.valid, reasons: &verdict.reasons },
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
