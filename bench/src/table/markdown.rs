//! A record as Markdown: where and how it was measured, then a table with a line per figure. Pure.

use super::model::Bound;
use super::record::{Record, Row, Setting};

/// Where and how it was measured, and the header of the table.
pub fn head(record: &Record) -> String {
    let setting = record.setting.as_ref().map_or_else(String::new, setting);
    format!(
        "{}, {}; {}.\n{setting}A figure is the median over rounds, a ratio is taken within each round.\n\n\
         | row | work | what | figure | bound | ok | computed from |\n\
         | --- | --- | --- | --- | --- | --- | --- |",
        record.date,
        record.machine,
        versions(record),
    )
}

fn setting(setting: &Setting) -> String {
    let Setting { server_core, client_core, rounds, seconds } = setting;
    let pinned = if server_core == client_core {
        "**One core only: server and client share it, so these figures are unreliable.**".to_owned()
    } else {
        format!("Server on core {server_core}, client on core {client_core}.")
    };
    format!(
        "{pinned} At least {rounds} rounds; each run lasts {seconds} s or more; in each round, the programs that a row compares run \
         one after the other. "
    )
}

/// All versions, such as "ab 2.3, nginx 1.22.1".
pub fn versions(record: &Record) -> String {
    let all = record.versions.iter().map(|(program, version)| match version {
        Some(version) => format!("{program} {version}"),
        None => format!("{program} of an unknown version"),
    });
    all.collect::<Vec<_>>().join(", ")
}

/// A figure as a line of the table.
pub fn row(row: &Row) -> String {
    let ok = match row.is_ok() {
        Some(true) => "yes",
        Some(false) => "**no**",
        None => "unknown",
    };
    line(&[
        format!("`{}`", row.work),
        row.title.clone(),
        row.figure.clone(),
        shown(row),
        bound(row),
        ok.to_owned(),
        computed_from(row),
    ])
}

/// Cells as a line of a Markdown table.
pub fn line(cells: &[String]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|").replace('\n', " ")).collect();
    format!("| {} |", cells.join(" | "))
}

/// The median of a figure.
pub fn shown(row: &Row) -> String {
    match (row.median, &row.over) {
        (None, _) => "unknown".to_owned(),
        (Some(median), None) => row.unit.shown(median),
        (Some(median), Some(over)) => format!("{median:.3} × {over}"),
    }
}

/// The bound of a figure.
pub fn bound(row: &Row) -> String {
    let value = |bound: f64| match &row.over {
        None => row.unit.shown(bound),
        Some(over) => format!("{bound:.2} × {over}"),
    };
    match row.bound {
        Bound::AtMost(most) => format!("≤ {}", value(most)),
        Bound::AtLeast(least) => format!("≥ {}", value(least)),
        Bound::Within(off) => {
            format!("within {:.0} % of {}", off * 100.0, row.over.as_deref().unwrap_or("1"))
        }
    }
}

fn computed_from(row: &Row) -> String {
    let mut parts: Vec<String> =
        row.parts.iter().map(|part| format!("{} {}", part.of, row.unit.shown(part.median))).collect();
    let known: Vec<f64> = row.by_round.iter().flatten().copied().collect();
    if known.len() > 1 {
        let (low, high) =
            known.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (v.min(low), v.max(high)));
        parts.push(match row.over {
            None => format!("rounds {} to {}", row.unit.shown(low), row.unit.shown(high)),
            Some(_) => format!("rounds {low:.3} to {high:.3}"),
        });
    }
    match &row.unknown {
        Some(reason) => parts.push(reason.clone()),
        None if known.len() < row.by_round.len() => {
            parts.push(format!("only {} of {} rounds succeeded", known.len(), row.by_round.len()));
        }
        None => {}
    }
    if let Some(doubt) = &row.doubt {
        parts.push(format!("drome calls a run invalid: {doubt}"));
    }
    if let Some(cores) = row.others_cores {
        parts.push(format!("**other programs kept {cores:.1} cores busy meanwhile**"));
    }
    parts.join("; ")
}

#[cfg(test)]
mod tests {
    use super::super::figure::evaluate;
    use super::super::record::{Part, run_name};
    use super::super::works::works;
    use super::*;

    /// A row with this median, or the reason why there is none; parts are runs of the work, by index.
    fn outcome(work: &str, figure: usize, value: Result<f64, &str>, parts: &[(usize, f64)]) -> Row {
        let work = works().find(|w| w.name == work).unwrap();
        let figure = &work.figures[figure];
        let part = |(run, median): &(usize, f64)| Part {
            of: run_name(work, figure.quantity, *run),
            median: *median,
        };
        Row {
            by_round: value.map_or(vec![None; 3], |v| vec![Some(v * 0.9), Some(v), Some(v * 1.1)]),
            median: value.ok(),
            unknown: value.err().map(str::to_owned),
            parts: parts.iter().map(part).collect(),
            ..evaluate(work, figure, &[])
        }
    }

    #[test]
    fn a_ratio() {
        let known = outcome("no-keepalive", 0, Ok(0.7), &[(0, 45_100.0), (1, 49_300.0), (2, 56_375.0)]);
        assert_eq!(
            row(&known),
            "| `no-keepalive` | a new connection per request, 64 at once | client CPU per request \
             | 0.700 × the best of ab, wrk | ≤ 0.70 × the best of ab, wrk | yes \
             | drome --no-keepalive 45.1 µs; ab 49.3 µs; wrk 56.4 µs; rounds 0.630 to 0.770 |"
        );
        let (by_round, median) = (vec![Some(1.0), None, Some(1.0)], Some(1.0));
        let doubt = Some("late".to_owned());
        let text = row(&Row { doubt, others_cores: Some(1.04), by_round, median, ..known });
        assert!(text.contains("| **no** |"), "{text}");
        assert!(text.contains("; only 2 of 3 rounds succeeded; drome calls a run invalid: late; "), "{text}");
        assert!(text.contains("; **other programs kept 1.0 cores busy meanwhile** |"), "{text}");
    }

    #[test]
    fn a_figure_without_a_baseline_has_units() {
        assert_eq!(
            row(&outcome("connections-10k", 3, Ok(1200.0), &[(0, 19.3e6), (3, 8.5e6)])),
            "| `connections-10k` | 10,000 keep-alive connections, 12-byte body | resident memory of a further connection \
             | 1.20 KB | ≤ 1.50 KB | yes \
             | drome --source 127.0.0.2,127.0.0.3 19.3 MB; drome --source 127.0.0.2,127.0.0.3 with 1000 connections 8.50 MB; \
             rounds 1.08 KB to 1.32 KB |"
        );
        assert_eq!(
            row(&outcome("stall", 0, Ok(1.03), &[(0, 51.5e6)])),
            "| `stall` | open load, 1,009/s, at a server that stalls for 100 ms of every second | latency p95 \
             | 1.030 × 50.0 ms | within 2 % of 50.0 ms | **no** \
             | drome --rate 1009 51.5 ms; rounds 0.927 to 1.133 |"
        );
    }

    #[test]
    fn an_unknown_figure_says_why_and_keeps_the_table_whole() {
        let text = row(&outcome("hello", 1, Err("no | such\nthing"), &[(0, 5560.0)]));
        assert!(
            text.ends_with("| unknown | ≤ 0.40 × nginx | unknown | drome serve 5.56 µs; no \\| such thing |"),
            "{text}"
        );
    }

    #[test]
    fn a_figure_of_another_run_than_the_first_names_the_arguments_that_differ() {
        let text = row(&outcome("open-1k", 1, Ok(16_700.0), &[]));
        assert!(text.contains("| schedule lag p99, `--spin 200us` | 16.7 µs | ≤ 20.0 µs |"), "{text}");
    }
}
