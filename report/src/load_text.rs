//! The report of one measurement, for people.

use crate::table::{Side, Table};
use crate::{Detail, load_machines, offered, spectrum, units};
use model::{Bound, Load, Machines, Plan, Tally, Verdict};
use stats::Histogram;
use std::fmt::Write;

/// The whole report.
pub fn report(plan: &Plan, tally: &Tally, verdict: &Verdict, detail: Detail) -> String {
    of_machines(plan, tally, verdict, detail, None)
}

/// The same for a load that several machines may have driven.
pub fn of_machines(
    plan: &Plan,
    tally: &Tally,
    verdict: &Verdict,
    detail: Detail,
    machines: Option<&Machines>,
) -> String {
    let target = machines.map_or_else(|| plan.target.shown(), |own| plan.target.shown_at(&own.addresses()));
    let mut out = format!("{target}\n{}\n\n", asked(plan, tally));
    let _ = writeln!(out, "throughput  {}", throughput(plan, tally));
    let _ = writeln!(out, "statuses    {}", statuses(tally));
    let _ = writeln!(
        out,
        "bytes       {} received, of which {} in bodies; {} sent",
        units::bytes(tally.received_bytes as f64),
        units::bytes(tally.body_bytes as f64),
        units::bytes(tally.sent_bytes as f64)
    );
    let _ = writeln!(out, "verified    {}", verified(plan, tally));
    if let Some(handshakes) = handshakes(tally) {
        let _ = writeln!(out, "handshakes  {handshakes}");
    }
    let _ = writeln!(out, "errors      {}", errors(tally));
    let _ = writeln!(out, "client      {}", client(tally));
    let _ = write!(out, "\n{}{}\n", times(plan, tally).plain(), unanswered(tally));
    if let Some(latency) = tally.answered_latency().filter(|_| detail == Detail::Spectrum) {
        let _ = writeln!(out, "{}", spectrum::table(latency_title(plan), latency).plain());
    }
    if let Some(machines) = machines {
        let _ = writeln!(out, "{}", load_machines::text(machines));
    }
    out + &verdict_words(verdict)
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
    let reuse = match plan.load.per_connection() {
        None => "kept open".to_owned(),
        Some(1) => "a new one for every request".to_owned(),
        Some(n) => format!("a new one after {n} requests"),
    };
    let pipeline = match (plan.pipeline, plan.bursts) {
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

fn errors(tally: &Tally) -> String {
    let total = tally.errors.total();
    if total == 0 {
        return "none".to_owned();
    }
    let causes =
        tally.error_causes.iter().map(|(cause, n)| format!("\n            {}× {cause}", units::count(*n)));
    format!("{}{}", units::count(total), causes.collect::<String>())
}

fn client(tally: &Tally) -> String {
    format!(
        "{} of its CPU capacity, {} CPU per request, {} resident",
        units::known(tally.client_core_use(), units::percent),
        units::known(tally.client_cpu_ns_per_request(), units::duration),
        units::known(tally.client_rss_max_bytes, |n| units::bytes(n as f64))
    )
}

fn times(plan: &Plan, tally: &Tally) -> Table {
    let right = |title| (title, Side::Right);
    let titles = ["min", "mean", "p50", "p90", "p99", "p999", "p9999", "max"].map(right);
    let mut table = Table::new(&[&[("", Side::Left)], &titles[..]].concat());
    let mut row_of = |title: &str, h: &Histogram, is_lower_bound: &dyn Fn(f64) -> bool| {
        if h.count() == 0 {
            return;
        }
        let cell = |ns: Option<f64>, share: f64| {
            let least = if is_lower_bound(share) { "≥ " } else { "" };
            units::known(ns, |ns| format!("{least}{}", units::duration(ns)))
        };
        let whole = |ns: Option<u64>| ns.map(|ns| ns as f64);
        // Any lower bound makes the mean one, as it does the longest.
        let ends = [cell(whole(h.min_ns()), 0.0), cell(h.mean_ns(), 1.0)];
        let quantiles = [0.5, 0.9, 0.99, 0.999, 0.9999].map(|p| cell(whole(h.quantile_ns(p)), p));
        let cells = ends.into_iter().chain(quantiles).chain([cell(whole(h.max_ns()), 1.0)]);
        table.row([title.to_owned()].into_iter().chain(cells).collect());
    };
    if let Some(latency) = tally.answered_latency() {
        row_of(latency_title(plan), latency, &|share| tally.is_lower_bound(share));
    }
    let mut row = |title, h| row_of(title, h, &|_| false);
    if matches!(plan.load, Load::Open { .. }) {
        row("service time from send", &tally.service);
    }
    row("first byte", &tally.first_byte);
    row("connect", &tally.connect);
    row("TLS handshake", &tally.handshake);
    row("schedule lag", &tally.schedule_lag);
    table
}

/// Tells apart what was not answered, in a line below the times.
fn unanswered(tally: &Tally) -> String {
    if tally.unanswered == 0 || tally.answered_latency().is_none() {
        return String::new();
    }
    let requests = units::several(tally.unanswered as usize, "request");
    format!(
        "≥: {requests} without an answer (timed out, or in flight at the end) count in the latency with their age\n"
    )
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
    let reasons: String = verdict.reasons.iter().map(|reason| format!("  - {reason}\n")).collect();
    format!("verdict: {validity}; {bound}\n{reasons}")
}
