//! The documented JSON of `drome load --format json` (schema 1). Keys stay stable, new keys may be added, and a figure that was not
//! measured is null.

use crate::spectrum::{self, Point};
use crate::{Detail, offered};
use model::{Bound, Load, Machines, Plan, Protocol, Tally, Verdict};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The result of one measurement.
#[derive(Serialize, JsonSchema)]
pub struct Report<'a> {
    /// 1: the version of this JSON.
    schema: u32,
    /// How the measurement was made.
    plan: PlanPart<'a>,
    /// The length of the measured window.
    duration_s: f64,
    /// Requests by outcome: `sent` = `completed` + `in_flight_at_end` + the errors of sent requests.
    requests: Requests,
    /// Errors, in total and by kind.
    errors: ErrorPart<'a>,
    /// Complete responses by status, expected or not.
    status: &'a BTreeMap<u16, u64>,
    /// Complete and correct responses per second.
    rate_per_s: Option<f64>,
    /// Bytes on the wire.
    bytes: Bytes,
    /// From when a request was due (open load) or sent (closed load) to the last byte of its response. Under closed load this is latency at
    /// saturation.
    latency_ns: Option<Summary>,
    /// The number of requests without an answer whose ages are in `latency_ns`: they timed out, or were in flight at the end. `latency_ns` is
    /// null if no request was answered.
    latency_unanswered: u64,
    /// The full distribution of `latency_ns`; present only with `--percentile-spectrum`.
    #[serde(skip_serializing_if = "Option::is_none")]
    latency_spectrum: Option<Vec<Point>>,
    /// From the actual send to the last byte of the response.
    service_ns: Option<Summary>,
    /// From the actual send to the first bytes of the response.
    first_byte_ns: Option<Summary>,
    /// From the start of a connection until it was open.
    connect_ns: Option<Summary>,
    /// From the open connection to the end of its TLS handshake.
    handshake_ns: Option<Summary>,
    /// How long requests that could have left waited in the load generator: since they were due and a connection was free (open load),
    /// or since the answer before them (closed load). Null where none waited: closed load over epoll sends each request at once.
    schedule_lag_ns: Option<Summary>,
    /// How evenly the connections were served.
    fairness: Fairness,
    /// The CPU and memory that the load generator used.
    client: Client,
    /// Load from several machines (`--load-from`): what each did, by its own account, and how closely together they started; otherwise the
    /// key is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    machines: Option<&'a Machines>,
    /// Whether the measurement can be trusted.
    verdict: VerdictPart<'a>,
}

/// How the measurement was made.
#[derive(Serialize, JsonSchema)]
struct PlanPart<'a> {
    /// The URL as given, without its user's name and password.
    url: &'a str,
    /// The address that was asked; null if several machines drove the load, each of which has its own.
    address: Option<String>,
    /// The version of HTTP; `WebSocket` or `gRPC` where that was spoken.
    http: &'static str,
    /// The number of connections.
    connections: usize,
    /// The number of worker threads.
    threads: usize,
    /// The I/O interface: `uring` or `epoll`.
    io: Option<&'a str>,
    /// Why `epoll` was used although `io_uring` is the default; otherwise the key is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    io_fallback: Option<&'a str>,
    /// The number of requests in flight on each connection: pipelined, or as streams.
    pipeline: usize,
    /// `closed` or `open`.
    mode: &'static str,
    /// Open load: the offered rate, as the mean over the window.
    rate_per_s: Option<f64>,
    /// Open load with a rate that changes: how it changes; otherwise the key is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    shape: Option<offered::Shape>,
    /// The number of requests after which a connection is closed and opened again; null: connections stay open as long as the server keeps
    /// them.
    per_connection: Option<usize>,
    /// The seed of all random choices.
    seed: u64,
}

/// Requests by outcome.
#[derive(Serialize, JsonSchema)]
struct Requests {
    /// Sent requests, including those in flight when the window opened.
    sent: u64,
    /// Complete and correct responses.
    completed: u64,
    /// Requests without a complete response when time was up.
    in_flight_at_end: u64,
    /// Complete responses whose body was compared with the expected one, byte by byte.
    verified: u64,
    /// Open load: requests that became due within the window.
    due: Option<u64>,
    /// Open load: due requests that were still waiting for a free connection when time was up.
    unsent_at_end: Option<u64>,
}

/// Errors by kind.
#[derive(Serialize, JsonSchema)]
struct ErrorPart<'a> {
    /// All errors.
    total: u64,
    /// The connection could not be opened.
    connect: u64,
    /// The request could not be sent completely.
    send: u64,
    /// The connection broke before the response was complete.
    receive: u64,
    /// No complete response within the timeout.
    timeout: u64,
    /// A complete response with an unexpected status.
    status: u64,
    /// A complete response with an unexpected body.
    body: u64,
    /// A complete response before the request was sent completely.
    early: u64,
    /// A response that is not valid HTTP.
    protocol: u64,
    /// Bytes that no request had asked for.
    unasked: u64,
    /// Errors of the load generator itself: no free port, no file descriptor.
    local: u64,
    /// The number of errors by cause, in words.
    causes: &'a BTreeMap<String, u64>,
}

/// Bytes on the wire.
#[derive(Serialize, JsonSchema)]
struct Bytes {
    /// Bytes of requests.
    sent: u64,
    /// Bytes of responses, including headers.
    received: u64,
    /// Bytes of response bodies.
    body: u64,
}

/// A distribution in nanoseconds; null if nothing was counted.
#[derive(Serialize, JsonSchema)]
struct Summary {
    /// The shortest.
    min: Option<u64>,
    /// The mean.
    mean: Option<f64>,
    /// The standard deviation.
    sd: Option<f64>,
    /// The median.
    p50: Option<u64>,
    /// The 90th percentile.
    p90: Option<u64>,
    /// The 95th percentile.
    p95: Option<u64>,
    /// The 99th percentile.
    p99: Option<u64>,
    /// The 99.9th percentile.
    p999: Option<u64>,
    /// The 99.99th percentile.
    p9999: Option<u64>,
    /// The longest.
    max: Option<u64>,
}

/// How evenly the connections were served.
#[derive(Serialize, JsonSchema)]
struct Fairness {
    /// Jain's index: 1 if all n connections were served equally, 1/n if one of them got everything.
    jain: Option<f64>,
    /// Complete responses on the connection with the fewest.
    served_min: Option<u64>,
    /// Complete responses on the connection with the most.
    served_max: Option<u64>,
}

/// The CPU and memory that the load generator used.
#[derive(Serialize, JsonSchema)]
struct Client {
    /// CPU time of its worker threads within the window.
    cpu_ns: u64,
    /// The part of it in which they polled without an event.
    idle_ns: u64,
    /// CPU time per completed request, without `idle_ns`.
    cpu_ns_per_request: Option<f64>,
    /// The share of its threads' time in which they were busy.
    core_use: Option<f64>,
    /// The same for its busiest thread, which decides the bound.
    busiest_thread_use: Option<f64>,
    /// Its peak resident memory.
    rss_max_bytes: Option<u64>,
}

/// Whether the measurement can be trusted.
#[derive(Serialize, JsonSchema)]
struct VerdictPart<'a> {
    /// What limited the rate.
    bound: Bound,
    /// False: the measurement is void, and drome ends with exit code 4.
    valid: bool,
    /// Open load: whether the server kept up with the offered rate. False: the rate is a valid result, the latencies are those of
    /// a growing queue, and drome ends with exit code 4. Null under closed load.
    kept_up: Option<bool>,
    /// The share of the window in which the server waited for work; null if its processes are unknown.
    server_idle_share: Option<f64>,
    /// The reasons, each with its figure.
    reasons: &'a [String],
}

/// One measurement as one line of JSON. `machines`: those that drove the load, if there were several.
pub fn report(
    plan: &Plan,
    tally: &Tally,
    verdict: &Verdict,
    detail: Detail,
    machines: Option<&Machines>,
) -> String {
    let report = Report {
        schema: 1,
        plan: plan_part(plan, tally, machines.is_some()),
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
        latency_ns: tally.answered_latency().and_then(summary),
        latency_unanswered: tally.unanswered,
        latency_spectrum: (detail == Detail::Spectrum)
            .then(|| tally.answered_latency().map(spectrum::points).unwrap_or_default()),
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
        machines,
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

/// Whether requests are of HTTP/1.0, as their first line says.
fn is_http10(plan: &Plan) -> bool {
    let first_line = |ask: &model::plan::Ask| ask.request.split(|b| *b == b'\r').next().map(<[u8]>::to_vec);
    plan.asks.first().and_then(first_line).is_some_and(|line| line.ends_with(b" HTTP/1.0"))
}

fn plan_part<'a>(plan: &'a Plan, tally: &'a Tally, is_from_machines: bool) -> PlanPart<'a> {
    let rate = plan.load.rate_per_s();
    PlanPart {
        url: &plan.target.url,
        address: (!is_from_machines).then(|| plan.target.address.to_string()),
        http: match plan.protocol {
            Protocol::Http1 if is_http10(plan) => "1.0",
            Protocol::Http1 => "1.1",
            Protocol::Http2 => "2",
            Protocol::WebSocket => "WebSocket",
            Protocol::Grpc => "gRPC",
        },
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
        early: e.early,
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
