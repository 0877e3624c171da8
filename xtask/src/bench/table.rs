//! The table, as Markdown: where and how it was measured, then a line per figure.

use super::figure::Outcome;
use super::options::Options;
use super::rows::{Bound, Client, Figure, Over, Quantity, Work};
use super::run::Bench;
use super::{machine, peers, server};
use crate::packages;
use std::process::Command;

/// How each peer is asked for its version.
const VERSIONS: &[(&str, &str)] = &[("wrk", "-v"), ("h2load", "--version"), ("ab", "-V"), ("nginx", "-v")];

/// Where and how it was measured, and the head of the table.
pub fn head(bench: &Bench, options: &Options) -> String {
    let pinned = if bench.server_core == bench.client_core {
        "**One core only: server and client share it, so these figures are unreliable.**".to_owned()
    } else {
        format!("Server on core {}, client on core {}.", bench.server_core, bench.client_core)
    };
    let versions: Vec<String> = VERSIONS.iter().map(|(peer, option)| version(peer, option)).collect();
    format!(
        "{date}, {machine}; {versions}.\n{pinned} Rounds: {rounds}; a run lasts {seconds} s or more; the runs of a \
         row in turns. A figure is the median over rounds, a ratio is taken within each round.\n\n\
         | row | work | what | figure | bound | ok | computed from |\n\
         | --- | --- | --- | --- | --- | --- | --- |",
        date = said("date", &["-u", "+%F"]).unwrap_or_else(|| "date unknown".to_owned()),
        machine = machine::described(),
        versions = versions.join(", "),
        rounds = options.rounds,
        seconds = options.seconds,
    )
}

fn version(peer: &str, option: &str) -> String {
    let text = packages::find(peer).and_then(|program| said(&program.display().to_string(), &[option]));
    match text.as_deref().map(version_in) {
        None => format!("{peer} not installed"),
        Some(None) => format!("{peer} of an unknown version"),
        Some(Some(version)) => format!("{peer} {version}"),
    }
}

/// The first word that looks like one: `nginx/1.22.1`.
fn version_in(text: &str) -> Option<&str> {
    let mut words = text.split_whitespace();
    let word = words.find(|word| word.contains('.') && word.bytes().any(|b| b.is_ascii_digit()))?;
    word.rsplit('/').next()
}

/// What a program says, wherever it says it.
fn said(program: &str, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).output().ok()?;
    let text = [output.stdout, output.stderr].concat();
    Some(String::from_utf8_lossy(&text).trim().to_owned())
}

/// A line of the table.
pub fn row(work: &Work, figure: &Figure, outcome: &Outcome) -> String {
    let over = over(work, figure);
    let shown = match &outcome.value {
        Ok(value) => match figure.over {
            Over::Nothing => in_units(figure.what, *value),
            Over::LeastOf(_) | Over::Truth(_) => format!("{value:.3} × {over}"),
        },
        Err(_) => "unknown".to_owned(),
    };
    let bound = match (figure.bound, figure.over) {
        (Bound::AtMost(most), Over::Nothing) => format!("≤ {}", in_units(figure.what, most)),
        (Bound::AtLeast(least), Over::Nothing) => format!("≥ {}", in_units(figure.what, least)),
        (Bound::AtMost(most), _) => format!("≤ {most:.2} × {over}"),
        (Bound::AtLeast(least), _) => format!("≥ {least:.2} × {over}"),
        (Bound::Within(off), _) => format!("within {:.0} % of {over}", off * 100.0),
    };
    let ok = match outcome.is_ok(figure.bound) {
        Some(true) => "yes",
        Some(false) => "**no**",
        None => "unknown",
    };
    let cells = [
        format!("`{}`", work.name),
        work.title.to_owned(),
        quantity(work, figure),
        shown,
        bound,
        ok.to_owned(),
        computed_from(work, figure, outcome),
    ];
    format!("| {} |", cells.map(|cell| cell.replace('|', "\\|").replace('\n', " ")).join(" | "))
}

/// Two figures of one row may differ only in whether the load generator sleeps or polls.
fn quantity(work: &Work, figure: &Figure) -> String {
    let is_awake = matches!(work.runs[figure.of].client, Client::Drome(args) if args.contains(&"--spin"));
    let how = if is_awake { ", `--spin`" } else { "" };
    format!("{}{how}", what(figure.what))
}

fn what(quantity: Quantity) -> String {
    match quantity {
        Quantity::ClientCpu => "client CPU per request".to_owned(),
        Quantity::ServerCpu => "server CPU per request".to_owned(),
        Quantity::Rss => "resident memory".to_owned(),
        Quantity::Rate => "requests per second".to_owned(),
        Quantity::Quantile(of, which) => format!("{} {which}", of.trim_end_matches("_ns").replace('_', " ")),
    }
}

/// What the quantity is compared with.
fn over(work: &Work, figure: &Figure) -> String {
    match figure.over {
        Over::Nothing => String::new(),
        Over::Truth(truth) => in_units(figure.what, truth),
        Over::LeastOf(others) => {
            let names: Vec<String> = others.iter().map(|at| name(work, figure.what, *at)).collect();
            if names.len() > 1 { format!("the better of {}", names.join(" and ")) } else { names.concat() }
        }
    }
}

/// A run as one side of a figure.
fn name(work: &Work, what: Quantity, at: usize) -> String {
    work.runs.get(at).map_or_else(String::new, |run| match what {
        Quantity::ServerCpu => server::label(run.server),
        _ => peers::label(run.client),
    })
}

fn computed_from(work: &Work, figure: &Figure, outcome: &Outcome) -> String {
    let mut parts: Vec<String> = outcome
        .parts
        .iter()
        .map(|(at, value)| format!("{} {}", name(work, figure.what, *at), in_units(figure.what, *value)))
        .collect();
    if let Some((low, high)) = outcome.range.filter(|_| outcome.rounds.0 > 1) {
        parts.push(match figure.over {
            Over::Nothing => {
                format!("rounds {} to {}", in_units(figure.what, low), in_units(figure.what, high))
            }
            _ => format!("rounds {low:.3} to {high:.3}"),
        });
    }
    match &outcome.value {
        Err(reason) => parts.push(reason.clone()),
        Ok(_) if outcome.rounds.0 < outcome.rounds.1 => {
            parts.push(format!("only {} of {} rounds came about", outcome.rounds.0, outcome.rounds.1));
        }
        Ok(_) => {}
    }
    if let Some(doubt) = &outcome.doubt {
        parts.push(format!("drome calls a run void: {doubt}"));
    }
    if let Some(cores) = outcome.others_cores {
        parts.push(format!("**others kept {cores:.1} cores busy meanwhile**"));
    }
    parts.join("; ")
}

fn in_units(what: Quantity, value: f64) -> String {
    let of = |value: f64, unit: &str| {
        let digits = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
        format!("{value:.digits$} {unit}")
    };
    match what {
        Quantity::Rss => of(value / 1e6, "MB"),
        Quantity::Rate => format!("{value:.0}/s"),
        Quantity::ClientCpu | Quantity::ServerCpu | Quantity::Quantile(..) => match value {
            1e6.. => of(value / 1e6, "ms"),
            1e3.. => of(value / 1e3, "µs"),
            _ => format!("{value:.0} ns"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::rows::WORKS;
    use super::*;

    fn line(work: &str, figure: usize, outcome: &Outcome) -> String {
        let work = WORKS.iter().find(|w| w.name == work).unwrap();
        row(work, &work.figures[figure], outcome)
    }

    fn outcome(value: Result<f64, String>, parts: &[(usize, f64)]) -> Outcome {
        let range = value.as_ref().ok().map(|v| (v * 0.9, v * 1.1));
        Outcome { value, range, rounds: (3, 3), parts: parts.to_vec(), doubt: None, others_cores: None }
    }

    #[test]
    fn a_load_generator_that_polls_is_named() {
        let known = outcome(Ok(700.0), &[]);
        assert!(line("open-5k", 0, &known).contains("| schedule lag p99 |"));
        assert!(line("open-5k", 1, &known).contains("| schedule lag p99, `--spin` |"));
    }

    #[test]
    fn a_ratio() {
        let known = outcome(Ok(0.8), &[(0, 45_100.0), (1, 49_300.0), (2, 56_375.0)]);
        assert_eq!(
            line("no-keepalive", 0, &known),
            "| `no-keepalive` | a new connection per request, 64 at once | client CPU per request \
             | 0.800 × the better of ab and wrk | ≤ 0.90 × the better of ab and wrk | yes \
             | drome --no-keepalive 45.1 µs; ab 49.3 µs; wrk 56.4 µs; rounds 0.720 to 0.880 |"
        );
        let bad =
            Outcome { doubt: Some("late".to_owned()), others_cores: Some(1.04), rounds: (2, 3), ..known };
        let text = line("no-keepalive", 0, &Outcome { value: Ok(1.0), ..bad });
        assert!(text.contains("| **no** |"), "{text}");
        assert!(text.contains("; only 2 of 3 rounds came about; drome calls a run void: late; "), "{text}");
        assert!(text.contains("; **others kept 1.0 cores busy meanwhile** |"), "{text}");
    }

    #[test]
    fn a_figure_of_its_own_has_units() {
        assert_eq!(
            line("connections-10k", 0, &outcome(Ok(10e6), &[(0, 10e6)])),
            "| `connections-10k` | 10,000 keep-alive connections, 12-byte body | resident memory | 10.0 MB \
             | ≤ 20.0 MB | yes | drome 10.0 MB; rounds 9.00 MB to 11.0 MB |"
        );
        assert_eq!(
            line("stall", 0, &outcome(Ok(1.03), &[(0, 51.5e6)])),
            "| `stall` | open load, 1,009/s, at a server that stalls for 100 ms of every second | latency p95 \
             | 1.030 × 50.0 ms | within 2 % of 50.0 ms | **no** \
             | drome --rate 1009 51.5 ms; rounds 0.927 to 1.133 |"
        );
    }

    #[test]
    fn what_is_unknown_says_why_and_keeps_the_table_whole() {
        let text = line("hello", 1, &outcome(Err("no | such\nthing".to_owned()), &[(0, 5560.0)]));
        assert!(
            text.ends_with("| unknown | ≤ 0.40 × nginx | unknown | drome serve 5.56 µs; no \\| such thing |")
        );
    }

    #[test]
    fn versions_are_found_in_what_programs_say() {
        let cases = [
            ("wrk debian/4.1.0-3+b2 [epoll] Copyright (C) 2012", Some("4.1.0-3+b2")),
            ("nginx version: nginx/1.22.1", Some("1.22.1")),
            ("This is ApacheBench, Version 2.3 <$Revision$>", Some("2.3")),
            ("no version", None),
        ];
        for (text, version) in cases {
            assert_eq!(version_in(text), version, "{text}");
        }
    }
}
