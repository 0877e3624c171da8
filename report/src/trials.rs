//! Every start of a run in each cell as rows, including void and failed ones, in the order of measurement. A field is empty if it is
//! unknown. The tables below have one entry for each column; they also make the header.

use crate::RunReport;
use crate::records::{Field, Records, decimals, text};
use model::contender::Track;
use model::findings::CellFindings;
use model::heat::HUB;
use model::run::Entrant;
use model::study::Handshake;
use model::{Cell, Conditions, Load, Measurement, Run, StartInCell, Usage};
use stats::Histogram;

/// A trial with everything that is known of it.
struct Row<'a> {
    run: &'a Run,
    of: StartInCell<'a>,
    /// The number of the trial in the run, from 1.
    order: usize,
    cell: Option<&'a Cell>,
    entrant: Option<&'a Entrant>,
    measured: Option<&'a Measurement>,
    /// The findings of its cell.
    found: Option<&'a CellFindings>,
    figure: Option<f64>,
}

/// The trial and its parameters.
fn asked<'a>() -> [Field<Row<'a>>; 22] {
    [
        ("run", |r| Some(r.run.id.clone())),
        ("study", |r| Some(r.run.name.clone())),
        ("cell", |r| text(r.of.cell + 1)),
        ("cell_title", |r| Some(r.cell?.title.clone())),
        ("workload", |r| Some(r.cell?.workload.clone())),
        ("load", |r| {
            text(match r.cell?.load {
                Load::Closed { .. } => "closed",
                Load::Open { .. } => "open",
            })
        }),
        ("connections", |r| text(r.cell?.load.connections())),
        ("per_connection", |r| text(r.cell?.load.per_connection()?)),
        ("offered_rate_per_s", |r| decimals(r.cell?.load.rate_per_s()?.mean_per_s(window_ns(r)), 3)),
        ("protocol", |r| text(r.cell?.protocol.name())),
        ("streams", |r| text(r.cell?.streams?)),
        ("tls", |r| text(if r.cell?.tls? == Handshake::Full { "full" } else { "resumed" })),
        ("contender", |r| Some(r.of.start.contender.clone())),
        ("title", |r| if is_hub(r) { text("the hub of the heat") } else { Some(r.entrant?.title.clone()) }),
        (
            "track",
            |r| if is_hub(r) { None } else { text(r.entrant.map_or(Track::Default, |e| e.track).word()) },
        ),
        ("version", |r| r.entrant?.version.clone()),
        ("copy", |r| text(r.of.start.copy + 1)),
        ("block", |r| text(r.of.start.round + 1)),
        ("heat", |r| text(r.of.start.heat + 1)),
        ("order", |r| text(r.order)),
        ("started_at", |r| Some(r.of.heat.started_at.clone())),
        ("elapsed_s", |r| decimals(r.of.took_ns as f64 / 1e9, 3)),
    ]
}

/// The outcome and the figures.
fn found<'a>() -> [Field<Row<'a>>; 26] {
    [
        ("outcome", |r| {
            text(match r.measured {
                None => "failed",
                Some(m) if m.verdict.valid => "measured",
                Some(_) => "void",
            })
        }),
        ("reasons", |r| Some(r.of.reasons())),
        ("kept_up", |r| text(r.measured?.verdict.kept_up?)),
        ("bound", |r| text(r.measured?.verdict.bound.word())),
        ("duration_s", |r| decimals(r.measured?.tally.duration_ns as f64 / 1e9, 6)),
        ("rate_per_s", |r| decimals(r.measured?.tally.rate_per_s()?, 3)),
        ("sent", |r| text(r.measured?.tally.sent)),
        ("completed", |r| text(r.measured?.tally.completed)),
        ("errors", |r| text(r.measured?.tally.errors.total())),
        ("received_bytes", |r| text(r.measured?.tally.received_bytes)),
        ("latency_ns_min", |r| text(latency(r)?.min_ns()?)),
        ("latency_ns_mean", |r| decimals(latency(r)?.mean_ns()?, 1)),
        ("latency_ns_p50", |r| quantile(latency(r)?, 0.5)),
        ("latency_ns_p90", |r| quantile(latency(r)?, 0.9)),
        ("latency_ns_p99", |r| quantile(latency(r)?, 0.99)),
        ("latency_ns_p999", |r| quantile(latency(r)?, 0.999)),
        ("latency_ns_p9999", |r| quantile(latency(r)?, 0.9999)),
        ("latency_ns_max", |r| text(latency(r)?.max_ns()?)),
        ("latency_unanswered", |r| text(r.measured?.tally.unanswered)),
        ("schedule_lag_ns_p99", |r| quantile(&r.measured?.tally.schedule_lag, 0.99)),
        ("warmup_s", |r| decimals(r.of.in_cell?.warmup_ns as f64 / 1e9, 3)),
        ("settled", |r| text(r.of.in_cell?.settled?)),
        ("turns", |r| text(r.of.in_cell?.turns)),
        ("turns_disturbed", |r| text(r.of.in_cell?.disturbed)),
        ("metric", |r| text(r.found?.metric.word())),
        ("figure", |r| decimals(r.figure?, 3)),
    ]
}

/// The resources of the server and of the load generator, and the state of the machine.
fn used<'a>() -> [Field<Row<'a>>; 17] {
    [
        ("server_cpu_ns_per_request", |r| decimals(model::Metric::ServerCpu.of(r.measured?)?, 1)),
        ("server_idle_share", |r| decimals(r.measured?.verdict.server_idle_ppm? as f64 / 1e6, 4)),
        ("server_busiest_thread_use", |r| decimals(usage(r)?.busiest_thread_use()?, 4)),
        ("server_core_use", |r| decimals(usage(r)?.core_use()?, 4)),
        ("rss_max_bytes", |r| decimals(model::Metric::Rss.of(r.measured?)?, 0)),
        ("threads_max", |r| text(seen(usage(r)?.threads_max)?)),
        ("processes_max", |r| text(seen(usage(r)?.processes_max)?)),
        ("switches_voluntary", |r| text(usage(r)?.switches_voluntary?)),
        ("switches_involuntary", |r| text(usage(r)?.switches_involuntary?)),
        ("client_core_use", |r| decimals(r.measured?.tally.client_core_use()?, 4)),
        ("client_busiest_use", |r| decimals(r.measured?.tally.client_busiest_use()?, 4)),
        ("client_cpu_ns_per_request", |r| decimals(r.measured?.tally.client_cpu_ns_per_request()?, 1)),
        ("steal_ppm", |r| text(usage(r).and_then(|u| u.steal_ppm).or_else(|| conditions(r)?.steal_ppm)?)),
        ("others_ppm", |r| text(usage(r).and_then(|u| u.others_ppm).or_else(|| conditions(r)?.others_ppm)?)),
        ("load_average", |r| decimals(conditions(r)?.load_average?, 2)),
        ("server_hz_after", |r| text(conditions(r)?.server_hz.after?)),
        ("temperature_c_after", |r| decimals(conditions(r)?.temperature_c.after?, 1)),
    ]
}

/// One row per start and cell, in the order of measurement.
pub fn records(told: &RunReport<'_>) -> Records {
    let all = told.measured.starts_in_cells();
    let rows = all.into_iter().enumerate().map(|(i, of)| Row::new(told, of, i + 1));
    Records::of(rows, asked().into_iter().chain(found()).chain(used()))
}

impl<'a> Row<'a> {
    fn new(told: &RunReport<'a>, of: StartInCell<'a>, order: usize) -> Self {
        let run = told.run;
        let (cell, entrant) = (run.study.cells.get(of.cell), run.contenders.get(&of.start.contender));
        let (found, figure) = (told.findings.cells.get(of.cell), told.figure(&of));
        Self { run, of, order, cell, entrant, measured: of.measured(), found, figure }
    }
}

fn is_hub(row: &Row<'_>) -> bool {
    row.of.start.contender == HUB
}

/// What the server used; `None` where its processes are not known.
fn usage<'a>(row: &Row<'a>) -> Option<&'a Usage> {
    row.measured?.usage.as_ref()
}

/// The conditions of its heat; unknown for one that was cut off.
fn conditions<'a>(row: &Row<'a>) -> Option<&'a Conditions> {
    row.of.start.conditions.as_ref()
}

fn latency<'a>(row: &Row<'a>) -> Option<&'a Histogram> {
    row.measured?.tally.answered_latency()
}

fn quantile(of: &Histogram, share: f64) -> Option<String> {
    of.quantile_ns(share).and_then(text)
}

/// Turns 0 into `None`: a running server has at least one process, so 0 means that it was never observed.
fn seen(most: u64) -> Option<u64> {
    (most > 0).then_some(most)
}

/// The window over which a changing rate is averaged; for a trial without a measurement, the planned one.
fn window_ns(row: &Row<'_>) -> u64 {
    let meant = row.run.study.design.measure.as_nanos() as u64;
    row.measured.map_or(meant, |m| m.tally.duration_ns)
}
