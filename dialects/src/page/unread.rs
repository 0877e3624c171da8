//! Names what is not read: reports of tools that drome does not know, and what tools print in place of a report.

use crate::text::command::FoundCommand;
use crate::text::lines;
use std::ops::Range;

/// Words that only these tools' reports have, in order; between them is any white space.
const SIGNS: &[(&str, &str)] = &[
    ("Gatling", "---- Global Information"),
    ("JMeter", "summary ="),
    ("JMeter", "timeStamp,elapsed,"),
    ("Locust", "Response time percentiles (approximated)"),
    ("Locust", "reqs # fails"),
    ("Locust", "Failure Count,Median Response Time"),
    ("Artillery", "Summary report @"),
    ("Fortio", "Fortio "),
    ("Nighthawk", "Nighthawk - A layer 7 protocol benchmarking tool"),
    ("rewrk", "Beginning round 1..."),
    ("plow", "Latency Percentile: P50"),
    ("TechEmpower (its results.json)", "\"queryIntervals\""),
    ("vegeta (its histogram)", "Bucket # % Histogram"),
    ("vegeta (its hdrplot)", "Value(ms) Percentile TotalCount"),
    ("hey (its CSV)", "response-time,DNS+dialup,"),
    ("k6 (its CSV)", "metric_name,timestamp,metric_value"),
];

/// The longest text of a sign, in bytes, with the white space in it.
const LONGEST_SIGN: usize = 300;

/// What a tool prints in place of a report.
const FAILURES: &[&str] = &[
    "unable to connect to ",
    "unable to resolve ",
    "apr_socket_recv: ",
    "apr_socket_connect(): ",
    "apr_pollset_poll: ",
];

/// What is not read, by name. What is in a report or table that was read, in `taken`, is not named again.
pub fn all(text: &str, commands: &[FoundCommand], taken: &[Range<usize>]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for (tool, sign) in SIGNS {
        let line = format!("what looks like a report of {tool}, which drome does not read");
        if has(text, sign) && !all.contains(&line) {
            all.push(line);
        }
    }
    for line in lines::lines(text) {
        let bare = line.text.trim();
        let is_failure = FAILURES.iter().any(|failure| bare.starts_with(failure));
        let above = taken[..taken.partition_point(|range| range.start <= line.at)].last();
        if is_failure && above.is_none_or(|range| range.end <= line.at) {
            let before = &commands[..commands.partition_point(|command| command.at <= line.at)];
            let whose = before.last().map_or_else(String::new, |command| format!("{}: ", command.line));
            all.push(format!("{whose}{}", bare.chars().take(200).collect::<String>()));
        }
    }
    all
}

/// Whether a text has these words in succession.
fn has(text: &str, sign: &str) -> bool {
    let mut words = sign.split_whitespace();
    let Some(first) = words.next() else { return false };
    if words.clone().next().is_none() {
        return text.contains(sign);
    }
    text.match_indices(first).any(|(at, _)| {
        let from = at + first.len();
        let mut rest = &text[from..text.floor_char_boundary(from + LONGEST_SIGN)];
        words.clone().all(|word| {
            let after =
                rest.trim_start().strip_prefix(word).filter(|_| rest.starts_with(char::is_whitespace));
            rest = after.unwrap_or("");
            after.is_some()
        })
    })
}

#[cfg(test)]
mod tests {
    use super::all;

    #[test]
    fn other_tools_are_named() {
        let cases = [
            ("Type Name  # reqs   # fails |  Avg  Min\n", "Locust"),
            ("Type,Name,Request Count,Failure Count,Median Response Time,Average\n", "Locust"),
            ("Latency Percentile:\n  P50   P75\n", "plow"),
            ("{\"duration\":15,\"queryIntervals\":[1,5]}", "TechEmpower (its results.json)"),
            ("Bucket         #     %       Histogram\n", "vegeta (its histogram)"),
            ("Value(ms)  Percentile  TotalCount  1/(1-Percentile)\n", "vegeta (its hdrplot)"),
            ("response-time,DNS+dialup,DNS,Request-write\n", "hey (its CSV)"),
        ];
        for (text, tool) in cases {
            let named = format!("what looks like a report of {tool}, which drome does not read");
            assert_eq!(all(text, &[], &[]), [named], "{text}");
        }
        assert_eq!(
            all("# fails\nValue Percentile TotalCount 1/(1-Percentile)\nsummary\n", &[], &[]),
            [""; 0]
        );
        let failed = "apr_socket_recv: Connection refused (111)\n";
        assert_eq!(all(failed, &[], &[]), [failed.trim()]);
        let (table, report) = (0..5, 5..5 + failed.len());
        assert_eq!(all(&format!("a\nb\n\n{failed}"), &[], &[table, report]), [""; 0], "the report says it");
    }
}
