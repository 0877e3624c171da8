//! A running measurement as `OpenMetrics` text (version 1.0 of the format), for Prometheus and compatible scrapers. Names end
//! with their base unit; unknown values are left out.

use model::{Bound, Load, Plan, Tally, Usage, Verdict};
use stats::{Counts, Histogram};
use std::fmt::Write;

/// The content type of the text.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The upper bucket bounds of all histograms, in nanoseconds and as the format writes them in seconds. They are fixed, so that
/// runs can be overlaid.
const EDGES: [(u64, &str); 19] = [
    (10_000, "1e-05"),
    (20_000, "2e-05"),
    (50_000, "5e-05"),
    (100_000, "0.0001"),
    (200_000, "0.0002"),
    (500_000, "0.0005"),
    (1_000_000, "0.001"),
    (2_000_000, "0.002"),
    (5_000_000, "0.005"),
    (10_000_000, "0.01"),
    (20_000_000, "0.02"),
    (50_000_000, "0.05"),
    (100_000_000, "0.1"),
    (200_000_000, "0.2"),
    (500_000_000, "0.5"),
    (1_000_000_000, "1.0"),
    (2_000_000_000, "2.0"),
    (5_000_000_000, "5.0"),
    (10_000_000_000, "10.0"),
];

/// A measurement so far.
#[derive(Clone, Copy, Debug)]
pub struct SoFar<'a> {
    /// The plan of the measurement.
    pub plan: &'a Plan,
    /// The counts of the window so far.
    pub tally: &'a Tally,
    /// The verdict if the measurement ended now; `None` before anything is measured.
    pub verdict: Option<&'a Verdict>,
    /// The resources that the server used in the window so far, if its processes are known.
    pub usage: Option<&'a Usage>,
    /// The server's memory now.
    pub server_rss_bytes: Option<u64>,
    /// The number of open connections.
    pub connections_open: Option<u64>,
    /// The version of drome.
    pub version: &'a str,
}

/// The whole text.
pub fn text(m: &SoFar<'_>) -> String {
    let mut out = Text::default();
    describe(&mut out, m);
    count(&mut out, m.tally);
    out.histogram(
        "latency",
        "from when a request was due (open load) or sent (closed load) to its complete response",
        &m.tally.latency,
    );
    out.histogram("service", "from the actual send of a request to its complete response", &m.tally.service);
    if m.tally.schedule_lag.count() > 0 {
        let help = "how long requests that could have left waited in the load generator until they were sent";
        out.histogram("schedule_lag", help, &m.tally.schedule_lag);
    }
    if let Some(rate) = m.plan.load.rate_per_s() {
        let offered = rate.mean_per_s(m.tally.duration_ns);
        out.gauge("offered_rate", "", "offered requests per second, on average so far", offered);
    }
    usage(&mut out, m);
    m.verdict.into_iter().for_each(|verdict| judge(&mut out, verdict));
    out.0 + "# EOF\n"
}

fn describe(out: &mut Text, m: &SoFar<'_>) {
    let load = match m.plan.load {
        Load::Closed { .. } => "closed",
        Load::Open { .. } => "open",
    };
    let labels = [("url", m.plan.target.url.as_str()), ("load", load), ("version", m.version)];
    let labels = labels.map(|(name, value)| format!("{name}=\"{}\"", escaped(value)));
    out.head("run", "info", "", "what is measured, and by which version of drome");
    let _ = writeln!(out.0, "drome_run_info{{{}}} 1", labels.join(","));
    out.gauge("window", "seconds", "length of the window measured so far", seconds(m.tally.duration_ns));
    let wanted = m.plan.load.connections() as f64;
    out.gauge("connections_wanted", "", "connections that the load may use", wanted);
    if let Some(open) = m.connections_open {
        out.gauge("connections", "", "open connections", open as f64);
    }
}

fn count(out: &mut Text, tally: &Tally) {
    out.counter("requests", "", "requests sent", tally.sent as f64);
    out.counter("answers", "", "complete and correct responses", tally.completed as f64);
    out.head("errors", "counter", "", "errors by kind");
    for (kind, n) in tally.errors.by_kind() {
        let _ = writeln!(out.0, "drome_errors_total{{kind=\"{kind}\"}} {n}");
    }
    let help = "requests without an answer whose age is in the latency";
    out.counter("latency_unanswered", "", help, tally.unanswered as f64);
    out.counter("sent", "bytes", "bytes of requests", tally.sent_bytes as f64);
    out.counter("received", "bytes", "bytes of responses, including headers", tally.received_bytes as f64);
}

fn usage(out: &mut Text, m: &SoFar<'_>) {
    let busy_ns = m.tally.client_cpu_ns.saturating_sub(m.tally.client_idle_ns);
    let help = "CPU time of the load generator, without idle polling";
    out.counter("client_cpu", "seconds", help, seconds(busy_ns));
    let help = "worker threads of the load generator, each on a core";
    out.gauge("client_threads", "", help, m.tally.threads as f64);
    if let Some(usage) = m.usage {
        out.counter("server_cpu", "seconds", "CPU time of the server's processes", seconds(usage.cpu_ns));
        out.gauge("server_cores", "", "cores that the server can use", usage.cores as f64);
    }
    if let Some(rss) = m.server_rss_bytes {
        out.gauge("server_rss", "bytes", "resident memory of the server's processes", rss as f64);
    }
}

fn judge(out: &mut Text, verdict: &Verdict) {
    let help = "1: the measurement so far is valid; 0: it would be void";
    out.gauge("verdict_valid", "", help, f64::from(u8::from(verdict.valid)));
    out.head("verdict_bound", "stateset", "", "what limits the rate");
    for bound in [Bound::Server, Bound::Client, Bound::Both, Bound::Network, Bound::Neither, Bound::Unknown] {
        let is_it = u8::from(bound == verdict.bound);
        let _ = writeln!(out.0, "drome_verdict_bound{{drome_verdict_bound=\"{}\"}} {is_it}", bound.word());
    }
}

/// The lines so far.
#[derive(Default)]
struct Text(String);

impl Text {
    fn head(&mut self, name: &str, kind: &str, unit: &str, help: &str) {
        let name = full(name, unit);
        let _ = writeln!(self.0, "# TYPE {name} {kind}");
        if !unit.is_empty() {
            let _ = writeln!(self.0, "# UNIT {name} {unit}");
        }
        let _ = writeln!(self.0, "# HELP {name} {}", escaped(help));
    }

    fn gauge(&mut self, name: &str, unit: &str, help: &str, value: f64) {
        self.head(name, "gauge", unit, help);
        let _ = writeln!(self.0, "{} {value}", full(name, unit));
    }

    fn counter(&mut self, name: &str, unit: &str, help: &str, value: f64) {
        self.head(name, "counter", unit, help);
        let _ = writeln!(self.0, "{}_total {value}", full(name, unit));
    }

    fn histogram(&mut self, name: &str, help: &str, of: &Histogram) {
        self.head(name, "histogram", "seconds", help);
        let (name, counts) = (full(name, "seconds"), Counts::of(of));
        let pairs = counts.pairs();
        let (mut next, mut below) = (0, 0);
        for (edge_ns, edge) in EDGES {
            while let Some((_, n)) = pairs.get(next).filter(|(ns, _)| *ns <= edge_ns) {
                (next, below) = (next + 1, below + n);
            }
            let _ = writeln!(self.0, "{name}_bucket{{le=\"{edge}\"}} {below}");
        }
        let all = counts.count();
        // As precise as the histogram's resolution.
        let sum: f64 = pairs.iter().map(|(ns, n)| *ns as f64 * *n as f64 / 1e9).sum();
        let _ = writeln!(
            self.0,
            "{name}_bucket{{le=\"+Inf\"}} {all}\n{name}_count {all}\n{name}_sum {}",
            sum + 0.0
        );
    }
}

fn full(name: &str, unit: &str) -> String {
    if unit.is_empty() { format!("drome_{name}") } else { format!("drome_{name}_{unit}") }
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// Escapes a text for a label's quotes or a line of help.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
