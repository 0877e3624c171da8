//! siege's settings as it prints them.

use super::settings::{MAX_REPS, Settings};
use std::fmt::Write;

/// The settings, as `siege -C` prints them.
pub fn config(s: &Settings) -> String {
    let mut text = format!(
        "CURRENT  SIEGE  CONFIGURATION\n{}\nEdit the resource file to change the settings.\n{}\n",
        s.agent,
        "-".repeat(46)
    );
    let or_none = |n: i64| if n > 0 { n.to_string() } else { "n/a".to_owned() };
    let time = if s.seconds > 0 { format!("{} seconds", s.seconds) } else { "n/a".to_owned() };
    let reps = or_none(if s.reps == MAX_REPS { 0 } else { s.reps });
    let plural = if s.delay_s > 1.0 { "s" } else { "" };
    let rows: &[(&str, String)] = &[
        ("version", "4.0.7".to_owned()),
        ("verbose", s.verbose.to_string()),
        ("color", s.color.to_string()),
        ("quiet", s.quiet.to_string()),
        ("debug", "false".to_owned()),
        ("protocol", if s.http11 { "HTTP/1.1" } else { "HTTP/1.0" }.to_owned()),
        ("HTML parser", if s.parser { "enabled" } else { "disabled" }.to_owned()),
        ("get method", if s.head { "HEAD" } else { "GET" }.to_owned()),
        ("connection", if s.keep_alive { "keep-alive" } else { "close" }.to_owned()),
        ("concurrent users", s.users.to_string()),
        ("time to run", time),
        ("repetitions", reps),
        ("socket timeout", "30".to_owned()),
        ("cache enabled", "false".to_owned()),
        ("accept-encoding", s.encoding.clone()),
        ("delay", format!("{:.3} sec{plural}", s.delay_s)),
        ("internet simulation", s.internet.to_string()),
        ("benchmark mode", s.benchmark.to_string()),
        ("failures until abort", s.failures.to_string()),
        ("named URL", s.url.clone().unwrap_or_else(|| "none".to_owned())),
        ("URLs file", s.file.clone()),
        ("thread limit", s.limit.to_string()),
        ("logging", s.logging.to_string()),
        ("log file", s.log_file.clone()),
        ("resource file", s.rc.clone()),
        ("timestamped output", s.timestamp.to_string()),
        ("comma separated output", s.csv.to_string()),
        ("allow redirects", s.follow.to_string()),
        ("allow zero byte data", s.zero_ok.to_string()),
        ("allow chunked encoding", "true".to_owned()),
        ("upload unique files", s.unique.to_string()),
        ("json output", s.json.to_string()),
    ];
    for (name, value) in rows {
        let _ = writeln!(text, "{:<32}{value}", format!("{name}:"));
    }
    if !s.no_follow.is_empty() {
        text.push_str("no-follow:\n");
    }
    for host in &s.no_follow {
        let _ = writeln!(text, " - {host}");
    }
    let _ = writeln!(text, "{:<32}\n{:<32}", "proxy auth:", "www auth:");
    text
}
