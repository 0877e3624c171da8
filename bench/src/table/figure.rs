//! Computes a figure from rounds: the ratio within each round, then the median over rounds. Pure.

use super::model::{Baseline, Figure, Quantity, Work};
use super::record::{Part, Row, baseline_name, figure_name, run_name, unit};
use super::sample::{Round, Sample};
use stats::median;

/// Computes a figure.
pub fn evaluate(work: &Work, figure: &Figure, rounds: &[Round]) -> Row {
    let best = best_of_others(figure, rounds);
    let all: Vec<Result<f64, String>> = rounds.iter().map(|round| of_round(figure, round, best)).collect();
    let values: Vec<f64> = all.iter().flatten().copied().collect();
    let reason = all.iter().find_map(|value| value.as_ref().err().cloned());
    let others = figure.baseline.runs();
    let concerned: Vec<usize> = [figure.run].iter().chain(others).copied().collect();
    let part = |at: usize| {
        let known = rounds.iter().filter_map(|round| of_run(figure.quantity, round, at).ok());
        let median = median(&known.collect::<Vec<_>>())?;
        Some(Part { of: run_name(work, figure.quantity, at), median })
    };
    let median = median(&values);
    Row {
        work: work.name.to_owned(),
        title: work.title.to_owned(),
        figure: figure_name(work, figure),
        unit: unit(figure.quantity),
        over: baseline_name(work, figure),
        bound: figure.bound,
        unknown: if median.is_none() { reason.or_else(|| Some("no round".to_owned())) } else { None },
        median,
        by_round: all.iter().map(|value| value.as_ref().ok().copied()).collect(),
        parts: concerned.iter().filter_map(|at| part(*at)).collect(),
        others_cores: rounds
            .iter()
            .flat_map(|round| concerned.iter().filter_map(|at| round.get(*at)?.as_ref().ok()?.others_cores))
            .reduce(f64::max),
        doubt: rounds.iter().find_map(|round| doubt(round.get(figure.run)?.as_ref().ok()?)),
    }
}

fn of_round(figure: &Figure, round: &Round, best: Option<usize>) -> Result<f64, String> {
    let of = |at: usize| of_run(figure.quantity, round, at);
    let own = of(figure.run)?;
    Ok(match figure.baseline {
        Baseline::Nothing => own,
        Baseline::Expected(value) => own / value,
        Baseline::LowestOf(others) | Baseline::HighestOf(others) => {
            let all = others.iter().map(|at| of(*at)).collect::<Result<Vec<f64>, _>>()?;
            let best = others.iter().zip(all).find(|(at, _)| Some(**at) == best);
            own / best.ok_or("none of the others is known")?.1
        }
        Baseline::PerExtraConnection(&[other]) => {
            let connections =
                |at: usize| round.get(at).and_then(|sample| Some(sample.as_ref().ok()?.connections));
            let both = connections(figure.run).zip(connections(other));
            let extra = both.and_then(|(many, few)| many.checked_sub(few)).filter(|extra| *extra > 0);
            (own - of(other)?) / extra.ok_or("no more connections than in the other run")? as f64
        }
    })
}

fn of_run(what: Quantity, round: &Round, at: usize) -> Result<f64, String> {
    match round.get(at) {
        Some(Ok(sample)) => quantity(what, sample),
        Some(Err(reason)) => Err(reason.clone()),
        None => Err("no such run".to_owned()),
    }
}

/// The best of the runs that a figure is compared with, by its median over all rounds. The best of each round would be
/// the luckiest of several noisy figures, better than any of them really is.
fn best_of_others(figure: &Figure, rounds: &[Round]) -> Option<usize> {
    let (others, sign) = match figure.baseline {
        Baseline::LowestOf(others) => (others, 1.0),
        Baseline::HighestOf(others) => (others, -1.0),
        Baseline::Nothing | Baseline::Expected(_) | Baseline::PerExtraConnection(_) => return None,
    };
    let median_of = |at: usize| {
        let known = rounds.iter().filter_map(|round| of_run(figure.quantity, round, at).ok());
        Some((at, sign * median(&known.collect::<Vec<_>>())?))
    };
    let known = others.iter().filter_map(|at| median_of(*at));
    known.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(at, _)| at)
}

fn quantity(what: Quantity, sample: &Sample) -> Result<f64, String> {
    let requests: u64 = sample.reports.iter().map(|report| report.requests).sum();
    let per_request = |ns: u64| ns as f64 / requests as f64;
    match what {
        Quantity::ClientCpu => Ok(per_request(sample.client_cpu_ns)),
        Quantity::ServerCpu => Ok(per_request(sample.server_cpu_ns)),
        Quantity::Rate => {
            let rates = sample.reports.iter().map(|report| report.rate_per_s);
            rates.sum::<Option<f64>>().ok_or_else(|| "no rate was reported".to_owned())
        }
        Quantity::ServerIdle => {
            let durations = sample.reports.iter().filter_map(|report| report.json["duration_s"].as_f64());
            let longest = durations.reduce(f64::max);
            let seconds = longest.ok_or("`drome load --format json` has no duration_s")?;
            Ok(1.0 - sample.server_cpu_ns as f64 / 1e9 / seconds)
        }
        Quantity::Rss => sample.reports.iter().map(|r| number(&r.json, "client", "rss_max_bytes")).sum(),
        Quantity::ClientAnonymous => known_memory(sample.client_anonymous_bytes),
        Quantity::ServerAnonymous => known_memory(sample.server_anonymous_bytes),
        Quantity::Quantile(distribution, quantile) => match sample.reports.as_slice() {
            [report] => number(&report.json, distribution, quantile),
            _ => Err(format!("the {quantile} of several clients can't be added up")),
        },
    }
}

/// The memory of a process in bytes, or why it is not known.
fn known_memory(bytes: Option<u64>) -> Result<f64, String> {
    bytes.map(|bytes| bytes as f64).ok_or_else(|| "/proc does not tell the memory".to_owned())
}

fn number(json: &serde_json::Value, group: &str, key: &str) -> Result<f64, String> {
    json[group][key].as_f64().ok_or_else(|| format!("`drome load --format json` has no {group}.{key}"))
}

/// Why drome calls this measurement invalid, if it does.
fn doubt(sample: &Sample) -> Option<String> {
    sample.reports.iter().find_map(|report| {
        let verdict = &report.json["verdict"];
        let reason = verdict["reasons"].as_array().and_then(|reasons| reasons.first()?.as_str());
        (verdict["valid"].as_bool() == Some(false)).then(|| reason.unwrap_or("no reason given").to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::super::clients::ClientReport;
    use super::super::model::Bound;
    use super::super::works::works;
    use super::*;
    use serde_json::{Value, json};

    #[expect(clippy::unnecessary_wraps, reason = "as a round has it")]
    fn sample(requests: u64, cpu_ns: u64, json: Value) -> Result<Sample, String> {
        Ok(Sample {
            reports: vec![ClientReport { requests, rate_per_s: None, json }],
            client_cpu_ns: cpu_ns,
            server_cpu_ns: 2 * cpu_ns,
            server_anonymous_bytes: Some(cpu_ns),
            client_anonymous_bytes: Some(cpu_ns),
            connections: 5,
            others_cores: None,
        })
    }

    /// The work whose runs these are taken for.
    fn work() -> &'static Work {
        works().next().unwrap()
    }

    fn medians(row: &Row) -> Vec<f64> {
        row.parts.iter().map(|part| part.median).collect()
    }

    fn figure(quantity: Quantity, baseline: Baseline) -> Figure {
        Figure { quantity, run: 0, baseline, bound: Bound::AtMost(0.5) }
    }

    #[test]
    fn a_ratio_is_taken_within_a_round_and_the_median_over_rounds() {
        // Per request: 100 ns of 200 or 400, 300 of 300 or 1000, 900 of 1000 or 900.
        let rounds = vec![
            vec![sample(10, 1000, json!(null)), sample(10, 2000, json!(null)), sample(1, 400, json!(null))],
            vec![sample(1, 300, json!(null)), sample(1, 300, json!(null)), sample(1, 1000, json!(null))],
            vec![sample(1, 900, json!(null)), sample(1, 1000, json!(null)), sample(1, 900, json!(null))],
        ];
        let outcome = evaluate(work(), &figure(Quantity::ClientCpu, Baseline::LowestOf(&[1])), &rounds);
        assert_eq!(medians(&outcome), [300.0, 300.0]);
        assert_eq!((outcome.median, outcome.by_round), (Some(0.9), vec![Some(0.5), Some(1.0), Some(0.9)]));
        let outcome = evaluate(work(), &figure(Quantity::ServerCpu, Baseline::LowestOf(&[1, 2])), &rounds);
        // The other run with the lower median, 600 ns, in all rounds: not the luckiest of each round.
        assert_eq!(medians(&outcome), [600.0, 600.0, 1800.0]);
        assert_eq!((outcome.median, outcome.by_round), (Some(0.9), vec![Some(0.5), Some(1.0), Some(0.9)]));
    }

    #[test]
    fn the_best_of_others_is_the_most_where_more_is_better() {
        let rounds =
            [vec![sample(1, 50, json!(null)), sample(1, 100, json!(null)), sample(1, 80, json!(null))]];
        let outcome = evaluate(work(), &figure(Quantity::ClientCpu, Baseline::HighestOf(&[1, 2])), &rounds);
        assert_eq!(outcome.median, Some(0.5));
        let half_a_second = [vec![sample(1, 125_000_000, json!({"duration_s": 0.5}))]];
        assert_eq!(
            evaluate(work(), &figure(Quantity::ServerIdle, Baseline::Nothing), &half_a_second).median,
            Some(0.5)
        );
        let with = |connections, bytes: u64| {
            let report = json!({"client": {"rss_max_bytes": bytes}});
            Ok(Sample { connections, ..sample(1, 1, report).unwrap() })
        };
        let rounds = [vec![with(1100, 170_000), with(100, 20_000)]];
        let outcome = evaluate(work(), &figure(Quantity::Rss, Baseline::PerExtraConnection(&[1])), &rounds);
        assert_eq!(outcome.median, Some(150.0));
    }

    #[test]
    fn a_run_that_failed_makes_its_figure_unknown_and_its_round_does_not_count() {
        let failed = || Err("wrk is not installed".to_owned());
        let over_wrk = figure(Quantity::ClientCpu, Baseline::LowestOf(&[1]));
        let outcome = evaluate(work(), &over_wrk, &[vec![sample(1, 5, json!(null)), failed()]]);
        assert_eq!((outcome.median, outcome.unknown.as_deref()), (None, Some("wrk is not installed")));
        assert_eq!((medians(&outcome), outcome.parts[0].of.as_str()), (vec![5.0], "drome"));
        let rounds = [
            vec![sample(1, 5, json!(null)), failed()],
            vec![sample(1, 5, json!(null)), sample(1, 10, json!(null))],
        ];
        let outcome = evaluate(work(), &over_wrk, &rounds);
        assert_eq!((outcome.median, outcome.by_round), (Some(0.5), vec![None, Some(0.5)]));
        let missing = evaluate(work(), &figure(Quantity::Rss, Baseline::Nothing), &rounds);
        let why = "`drome load --format json` has no client.rss_max_bytes";
        assert_eq!(missing.unknown.as_deref(), Some(why));
    }

    #[test]
    fn quantiles_come_from_the_report_and_so_do_doubts() {
        let report = json!({"latency_ns": {"p95": 51.0}, "verdict": {"valid": false, "reasons": ["late"]}});
        let p95 = figure(Quantity::Quantile("latency_ns", "p95"), Baseline::Expected(50.0));
        let outcome = evaluate(work(), &p95, &[vec![sample(1, 1, report)]]);
        assert_eq!((outcome.median, outcome.doubt.as_deref()), (Some(1.02), Some("late")));
        let bounds = [Bound::Within(0.021), Bound::Within(0.01), Bound::AtLeast(1.03), Bound::AtMost(1.02)];
        assert_eq!(bounds.map(|bound| bound.holds(1.02)), [true, false, false, true]);
    }

    #[test]
    fn every_figure_of_the_table_refers_to_runs_of_its_work() {
        for work in works() {
            for figure in work.figures {
                let others = figure.baseline.runs();
                assert!(others.iter().chain([&figure.run]).all(|at| *at < work.runs.len()), "{}", work.name);
                assert!(others.iter().all(|at| *at != figure.run), "{}", work.name);
            }
        }
    }
}
