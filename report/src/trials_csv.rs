//! Every trial of a run as CSV (RFC 4180), one a row: a cell is empty where the figure is not known.

use model::metric::Percentile;
use model::{Measurement, Metric, Observation, Outcome, Run};

const HEAD: &str = "run,cell,block,contender,copy,title,started_at,elapsed_s,outcome,why,rate_per_s,\
                    server_cpu_ns_per_request,latency_ns_p50,latency_ns_p90,latency_ns_p99,latency_ns_p999,\
                    rss_max_bytes,completed,errors,bound\n";

/// A head and a row a trial, in the order in which they were.
pub fn report(run: &Run, observations: &[Observation]) -> String {
    let rows: String = observations.iter().map(|o| row(run, o)).collect();
    format!("{HEAD}{rows}")
}

fn row(run: &Run, o: &Observation) -> String {
    let (outcome, why, measured) = match &o.outcome {
        Outcome::Failed(why) => ("failed", why.clone(), None),
        Outcome::Measured(m) if m.verdict.valid => {
            ("measured", m.verdict.reasons.join("; "), Some(m.as_ref()))
        }
        Outcome::Measured(m) => ("void", m.verdict.reasons.join("; "), Some(m.as_ref())),
    };
    let title = run.contenders.get(&o.trial.contender).map_or("", |entrant| entrant.title.as_str());
    let mut cells = vec![
        run.id.clone(),
        o.trial.cell.to_string(),
        (o.trial.block + 1).to_string(),
        o.trial.contender.clone(),
        (o.trial.copy + 1).to_string(),
        title.to_owned(),
        o.started_at.clone(),
        format!("{:.3}", o.elapsed_ns as f64 / 1e9),
        outcome.to_owned(),
        why,
    ];
    cells.extend(figures(measured));
    let quoted: Vec<String> = cells.iter().map(|cell| quote(cell)).collect();
    quoted.join(",") + "\n"
}

fn figures(measured: Option<&Measurement>) -> Vec<String> {
    let latency = |p| (Metric::Latency(p), 0);
    let metrics = [
        (Metric::Rate, 3),
        (Metric::ServerCpu, 1),
        latency(Percentile::P50),
        latency(Percentile::P90),
        latency(Percentile::P99),
        latency(Percentile::P999),
        (Metric::Rss, 0),
    ];
    let shown = |(metric, decimals): (Metric, usize)| {
        let value = measured.and_then(|m| metric.of(m));
        value.map_or_else(String::new, |value| format!("{value:.decimals$}"))
    };
    let known = |text: fn(&Measurement) -> String| measured.map_or_else(String::new, text);
    let mut cells: Vec<String> = metrics.into_iter().map(shown).collect();
    cells.push(known(|m| m.tally.completed.to_string()));
    cells.push(known(|m| m.tally.errors.total().to_string()));
    cells.push(known(|m| m.verdict.bound.word().to_owned()));
    cells
}

/// Quoted where it must be.
fn quote(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}
