//! The text for scrapers, read by the letter of the `OpenMetrics` specification.

use crate::made_up::measurement;
use model::*;
use report::open_metrics::{SoFar, text};
use std::collections::{BTreeMap, BTreeSet};

/// A family's name, type and unit, and its samples: name, labels, value.
#[derive(Debug, Default)]
struct Family {
    kind: String,
    unit: String,
    samples: Vec<(String, BTreeMap<String, String>, f64)>,
}

/// Reads it strictly: heads before samples, families in one piece, suffixes by type, units at the end of names, buckets
/// that only grow, and the mark of the end.
fn read(text: &str) -> BTreeMap<String, Family> {
    let body = text.strip_suffix("# EOF\n").expect("the mark of the end");
    let mut families: BTreeMap<String, Family> = BTreeMap::new();
    let mut current = String::new();
    for line in body.split_terminator('\n') {
        assert!(!line.is_empty() && line.trim() == line, "{line:?}");
        if let Some(rest) = line.strip_prefix("# ") {
            let parts: Vec<&str> = rest.splitn(3, ' ').collect();
            let [word, name, value] = parts[..] else { panic!("{line}") };
            if word == "TYPE" {
                assert!(!families.contains_key(name), "{name} comes twice");
                name.clone_into(&mut current);
                families.insert(name.to_owned(), Family { kind: value.to_owned(), ..Family::default() });
            }
            assert_eq!(name, current, "{line}");
            let family = families.get_mut(name).unwrap();
            assert!(family.samples.is_empty(), "{line}: a head after samples");
            if word == "UNIT" {
                assert!(name.ends_with(&format!("_{value}")), "{line}");
                value.clone_into(&mut family.unit);
            }
            assert!(["TYPE", "UNIT", "HELP"].contains(&word), "{line}");
            continue;
        }
        let (name, labels, value) = sample(line);
        let family = families.get_mut(&current).unwrap();
        let suffix = name.strip_prefix(&current).unwrap_or_else(|| panic!("{line} is not of {current}"));
        let allowed: &[&str] = match family.kind.as_str() {
            "counter" => &["_total"],
            "histogram" => &["_bucket", "_count", "_sum"],
            "info" => &["_info"],
            "gauge" | "stateset" => &[""],
            other => panic!("{other} is no type"),
        };
        assert!(allowed.contains(&suffix), "{line}");
        assert!(value.is_finite() && (family.kind == "gauge" || value >= 0.0), "{line}");
        family.samples.push((name, labels, value));
    }
    families.iter().for_each(|(name, family)| check(name, family));
    families
}

fn sample(line: &str) -> (String, BTreeMap<String, String>, f64) {
    let (head, value) = line.rsplit_once(' ').unwrap();
    let (name, labels) = head.split_once('{').map_or((head, ""), |(n, l)| (n, l.strip_suffix('}').unwrap()));
    assert!(name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'), "{line}");
    let mut all = BTreeMap::new();
    let mut rest = labels;
    while !rest.is_empty() {
        let (label, after) = rest.split_once("=\"").unwrap();
        let mut chars = after.char_indices();
        let mut value = String::new();
        let end = loop {
            match chars.next().unwrap() {
                (_, '\\') => match chars.next().unwrap().1 {
                    'n' => value.push('\n'),
                    c @ ('"' | '\\') => value.push(c),
                    c => panic!("\\{c} in {line}"),
                },
                (at, '"') => break at,
                (_, c) => value.push(c),
            }
        };
        assert!(all.insert(label.to_owned(), value).is_none(), "{label} twice");
        rest = after[end + 1..].strip_prefix(',').unwrap_or(&after[end + 1..]);
    }
    (name.to_owned(), all, value.parse().unwrap())
}

fn check(name: &str, family: &Family) {
    assert!(!family.samples.is_empty(), "{name} has no sample");
    let unique: BTreeSet<_> = family.samples.iter().map(|(n, labels, _)| (n, labels)).collect();
    assert_eq!(unique.len(), family.samples.len(), "{name}: the same sample twice");
    if family.kind == "stateset" {
        assert!(
            family.samples.iter().all(|(_, labels, x)| labels.contains_key(name) && [0.0, 1.0].contains(x))
        );
    }
    if family.kind == "histogram" {
        let buckets: Vec<(f64, f64)> = family
            .samples
            .iter()
            .filter_map(|(_, labels, n)| Some((labels.get("le")?.parse().unwrap_or(f64::INFINITY), *n)))
            .collect();
        assert!(buckets.is_sorted() && buckets.windows(2).all(|w| w[0].1 <= w[1].1), "{buckets:?}");
        let last = buckets.last().unwrap();
        let count = family.samples.iter().find(|(n, ..)| n.ends_with("_count")).unwrap().2;
        assert_eq!((last.0, last.1), (f64::INFINITY, count));
    }
}

fn told(plan: &Plan, tally: &Tally, verdict: &Verdict, usage: Option<&Usage>) -> String {
    let server_rss_bytes = usage.map(|usage| usage.rss_max_bytes);
    text(&SoFar {
        plan,
        tally,
        verdict: Some(verdict),
        usage,
        server_rss_bytes,
        connections_open: usage.map(|_| 8),
        version: "0.1.0",
    })
}

fn open() -> Load {
    Load::Open {
        rate_per_s: 10_000.0.into(),
        connections: 8,
        arrivals: Arrivals::Poisson,
        per_connection: None,
    }
}

#[test]
fn all_that_is_known_of_an_open_load() {
    let (plan, tally, verdict) = measurement(open());
    let usage = Usage { cpu_ns: 950_000_000, cores: 1, rss_max_bytes: 4096, ..Usage::default() };
    let text = told(&plan, &tally, &verdict, Some(&usage));
    insta::assert_snapshot!(text);
    let families = read(&text);
    let value = |name: &str| families[name].samples[0].2;
    assert_eq!((value("drome_answers"), value("drome_server_cpu_seconds")), (20_000.0, 0.95));
    // 100 µs to 300 µs, in steps of 10 ns.
    let below: Vec<f64> = families["drome_latency_seconds"].samples.iter().map(|(_, _, n)| *n).collect();
    assert!(below[3] < 100.0 && (below[4] - 10_000.0).abs() < 50.0 && below[5] == 20_000.0, "{below:?}");
}

#[test]
fn what_is_not_known_is_not_there() {
    let (mut plan, _, verdict) = measurement(Load::Closed { connections: 8, per_connection: None });
    plan.target.url = "http://h/\"a\\b\nc".to_owned();
    let families = read(&told(&plan, &Tally::default(), &verdict, None));
    for absent in
        ["drome_schedule_lag_seconds", "drome_offered_rate", "drome_server_cpu_seconds", "drome_connections"]
    {
        assert!(!families.contains_key(absent), "{absent}");
    }
    assert_eq!(families["drome_run"].samples[0].1["url"], plan.target.url);
    assert_eq!(families["drome_latency_seconds"].samples.last().unwrap().2, 0.0);
}
