//! Reads what is directly above a report of siege: its banner, the lines of its verbose mode, the command line.

use crate::scan::{self, Scan};
use model::Reading;
use std::ops::Range;

/// Reads version, users and command line from the lines directly before a report, and returns where those lines
/// begin.
pub fn head(text: &str, before: Range<usize>, reading: &mut Reading) -> usize {
    let mut start = before.end;
    for line in scan::lines_before(text, before.end, before.start) {
        let printed = &text[line.clone()];
        let banner = printed.find("** SIEGE ");
        // If everything is on one line, the banner ends the command.
        if let Some(command) = scan::command(&printed[..banner.unwrap_or(printed.len())], "siege") {
            reading.command = Some(command.trim_end().to_owned());
            reading.url = scan::url(command).map(str::to_owned);
            start = line.start;
        } else if banner.is_none() && !is_own(printed) {
            break;
        }
        if let Some(at) = banner {
            let version = printed[at + "** SIEGE ".len()..].split_whitespace().next();
            reading.version = version.map(str::to_owned);
            start = start.min(line.start + at);
        }
        let users = printed.find("Preparing ").map(|at| Scan::new(printed, at + "Preparing ".len()));
        if let Some(users) = users.and_then(|mut scan| scan.number()) {
            reading.set("connections", users);
            start = start.min(line.start + printed.len() - printed.trim_start().len());
        }
        if reading.command.is_some() {
            break;
        }
    }
    start
}

/// Whether siege writes such a line before its report.
fn is_own(line: &str) -> bool {
    const STARTS: &[&str] = &[
        "** ",
        "The server is now under siege",
        "Lifting the server siege",
        "siege aborted due to",
        "can change the failure",
        "done.",
        "[error]",
        "[alert]",
        "[\u{1b}[",
        "====",
        "WARNING: The number of users",
        "limit, search your",
        "its value. Make sure",
        "^C",
        "```",
    ];
    let line = line.trim().trim_start_matches(['>', ' ']);
    line.is_empty() || STARTS.iter().any(|start| line.starts_with(start)) || is_transaction(line)
}

/// Whether this is a line of verbose mode.
fn is_transaction(line: &str) -> bool {
    line.contains(" secs: ") && line.contains(" bytes ==> ")
}
