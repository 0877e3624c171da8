//! The report of one measurement, for people.

use crate::document::{Document, Value};
use crate::table::Table;
use crate::{Detail, load_machines, offered, spectrum, units};
use model::{Bound, Load, Machines, Plan, Protocol, Tally, Verdict};
use stats::Histogram;
use std::fmt::Write;

/// The whole report. `machines`: those that drove the load, if there were several.
pub fn document(
    plan: &Plan,
    tally: &Tally,
    verdict: &Verdict,
    detail: Detail,
    machines: Option<&Machines>,
) -> Document {
    let target = machines.map_or_else(|| plan.target.shown(), |own| plan.target.shown_at(&own.addresses()));
    let document = Document::default()
        .sentence(target)
        .sentence(asked(plan, tally))
        .facts(facts(plan, tally))
        .table(times(plan, tally))
        .sentences(unanswered(tally));
    let latency = tally.answered_latency().filter(|_| detail == Detail::Spectrum);
    let spectrum = latency.map(|latency| spectrum::table(latency_title(plan), latency));
    let document = spectrum.into_iter().fold(document, Document::table);
    let machines = machines.map(load_machines::document);
    let document = machines.into_iter().fold(document, Document::and);
    document.sentence(verdict_words(verdict)).items(&verdict.reasons)
}

fn facts(plan: &Plan, tally: &Tally) -> Vec<(&'static str, Vec<Value>)> {
    let bytes = format!(
        "{} received, of which {} in bodies; {} sent",
        units::bytes(tally.received_bytes as f64),
        units::bytes(tally.body_bytes as f64),
        units::bytes(tally.sent_bytes as f64)
    );
    let facts = [
        ("throughput", vec![throughput(plan, tally)]),
        ("statuses", vec![statuses(tally)]),
        ("bytes", vec![bytes]),
        ("verified", vec![verified(plan, tally)]),
        ("handshakes", handshakes(tally).into_iter().collect()),
        ("errors", errors(tally)),
        ("client", vec![client(tally)]),
    ];
    let known = facts.into_iter().filter(|(_, texts)| !texts.is_empty());
    known.map(|(name, texts)| (name, texts.into_iter().map(Value::Text).collect())).collect()
}

fn asked(plan: &Plan, tally: &Tally) -> String {
    let connections = units::several(plan.load.connections(), "connection");
    let threads = units::several(tally.threads, "thread");
    let load = match &plan.load {
        Load::Closed { .. } => "closed load".to_owned(),
        Load::Open { rate_per_s, arrivals, .. } => {
            format!(
                "open load, {} arrivals {}",
                format!("{arrivals:?}").to_lowercase(),
                offered::words(rate_per_s)
            )
        }
    };
    let reuse = offered::reuse(&plan.load);
    let pipeline = match (plan.pipeline, plan.bursts) {
        (n, _) if matches!(plan.protocol, Protocol::Http2 | Protocol::Grpc) => {
            format!(", {}, {}", plan.protocol.name(), units::several(n, "stream"))
        }
        (n, _) if plan.protocol == Protocol::WebSocket => {
            format!(", WebSocket, {} in flight", units::several(n, "message"))
        }
        (1, _) => String::new(),
        (n, false) => format!(", pipelines of {n} requests"),
        (n, true) => format!(", bursts of {n} requests"),
    };
    let seconds = tally.duration_ns as f64 / 1e9;
    let why = tally.io_fallback.as_deref().map_or_else(String::new, |why| format!(" (io_uring: {why})"));
    let io = tally.io.as_deref().map_or_else(String::new, |io| format!(", {io}{why}"));
    format!("{load}, {connections} ({reuse}{pipeline}), {threads}{io}, {seconds:.2} s")
}

fn throughput(plan: &Plan, tally: &Tally) -> String {
    let rate = units::known(tally.rate_per_s(), units::rate);
    let mut text = format!(
        "{rate} requests/s; {}, {} in flight at the end",
        units::several(tally.completed as usize, "response"),
        tally.in_flight_at_end
    );
    if let Some(mean) = plan.load.rate_per_s().and_then(|rate| offered::mean(rate, tally.duration_ns)) {
        let _ = write!(text, "; {mean} offered on average");
    }
    if let (Some(due), Some(unsent)) = (tally.due, tally.unsent_at_end) {
        let _ = write!(text, "; {} were due, {} still waiting", units::count(due), units::count(unsent));
    }
    if let (Some(jain), Load::Closed { .. }) = (stats::fairness::jain(&tally.served), &plan.load) {
        let _ = write!(text, "; fairness {jain:.3}");
    }
    text
}

fn statuses(tally: &Tally) -> String {
    let each = tally.status.iter().map(|(status, n)| format!("{status}: {}", units::count(*n)));
    Some(each.collect::<Vec<_>>().join(", "))
        .filter(|t| !t.is_empty())
        .unwrap_or_else(|| units::UNKNOWN.to_owned())
}

/// How many of the responses were checked and how, so that nobody mistakes a sample for the whole.
fn verified(plan: &Plan, tally: &Tally) -> String {
    let looks = |ask: &model::Ask| ask.expect.looks_at_body();
    if plan.asks.iter().any(looks) {
        let (seen, all) = (units::count(tally.verified), units::count(tally.completed));
        return format!("{seen} of {all} bodies byte by byte, status and length of all");
    }
    let told = if plan.asks.iter().any(|ask| ask.expect.length.is_some()) {
        "status and length of all; bodies not checked (no --expect-body)"
    } else {
        "status of all; length and body not checked (no --expect-length or --expect-body)"
    };
    told.to_owned()
}

/// The number of TLS handshakes and of resumed ones, which cost far less CPU.
fn handshakes(tally: &Tally) -> Option<String> {
    let all = tally.handshake.count();
    let resumed = units::count(tally.handshakes_resumed);
    (all > 0).then(|| format!("{}, {resumed} of them resumed", units::count(all)))
}

/// The number of errors, then that of each cause.
fn errors(tally: &Tally) -> Vec<String> {
    let total = tally.errors.total();
    if total == 0 {
        return vec!["none".to_owned()];
    }
    let causes = tally.error_causes.iter().map(|(cause, n)| format!("{}× {cause}", units::count(*n)));
    std::iter::once(units::count(total)).chain(causes).collect()
}

fn client(tally: &Tally) -> String {
    format!(
        "{} of its CPU capacity, {} CPU per request, {} resident",
        units::known(tally.client_core_use(), units::percent),
        units::known(tally.client_cpu_ns_per_request(), units::duration),
        units::known(tally.client_rss_max_bytes, |n| units::bytes(n as f64))
    )
}

/// Times of one kind: their name, how they are distributed, and whether they are the latency.
type Times<'t> = (&'static str, &'t Histogram, bool);

fn times(plan: &Plan, tally: &Tally) -> Table {
    let cell = |(.., is_latency): &Times, ns: Option<f64>, share: f64| {
        let least = if *is_latency && tally.is_lower_bound(share) { "≥ " } else { "" };
        Some(format!("{least}{}", units::duration(ns?)))
    };
    let whole = |ns: Option<u64>| ns.map(|ns| ns as f64);
    let latency = tally.answered_latency().map(|latency| (latency_title(plan), latency, true));
    let is_open = matches!(plan.load, Load::Open { .. });
    let service = is_open.then_some(("service time from send", &tally.service, false));
    let others = [
        ("first byte", &tally.first_byte, false),
        ("connect", &tally.connect, false),
        ("TLS handshake", &tally.handshake, false),
        ("schedule lag", &tally.schedule_lag, false),
    ];
    let rows = latency.into_iter().chain(service).chain(others);
    let rows: Vec<Times> = rows.filter(|(_, of, _)| of.count() > 0).collect();
    let table = Table::of(&rows)
        .text("", |t| t.0.to_owned())
        .figure("min", |t| cell(t, whole(t.1.min_ns()), 0.0))
        // Any lower bound makes the mean one, as it does the longest.
        .figure("mean", |t| cell(t, t.1.mean_ns(), 1.0));
    let quantiles = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p999", 0.999), ("p9999", 0.9999)];
    let table = quantiles.into_iter().fold(table, |table, (title, share)| {
        table.figure(title, |t| cell(t, whole(t.1.quantile_ns(share)), share))
    });
    table.figure("max", |t| cell(t, whole(t.1.max_ns()), 1.0)).table()
}

/// Tells apart what was not answered.
fn unanswered(tally: &Tally) -> Option<String> {
    if tally.unanswered == 0 || tally.answered_latency().is_none() {
        return None;
    }
    let requests = units::several(tally.unanswered as usize, "request");
    Some(format!(
        "≥: {requests} without an answer (timed out, or in flight at the end) count in the latency with their age"
    ))
}

fn latency_title(plan: &Plan) -> &'static str {
    match plan.load {
        Load::Closed { .. } => "latency at saturation",
        Load::Open { .. } => "latency from due time",
    }
}

fn verdict_words(verdict: &Verdict) -> String {
    let bound = match verdict.bound {
        Bound::Server => "limited by the server",
        Bound::Client => "limited by the load generator: this is its limit, not the server's",
        Bound::Both => {
            "server and load generator were both at their limit: the server can do at least this rate"
        }
        Bound::Network => "limited by the network: the server can do at least this rate",
        Bound::Neither => "neither side was at its limit",
        Bound::Unknown => "not limited by the load generator",
    };
    let validity = match (verdict.valid, verdict.fell_behind()) {
        (false, _) => "VOID",
        (true, true) => "the server did not keep up",
        (true, false) => "sound",
    };
    format!("verdict: {validity}; {bound}")
}
