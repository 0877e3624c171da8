//! Reads httperf's reports in any text, including those of sessions.

use crate::Found;
use crate::failures;
use crate::template::{self, OFTEN, Report, Sight};
use model::Reading;
use std::ops::Range;

/// A line of the report and its figures, each with a name and its factor to drome's unit.
type Line = (&'static str, &'static [(&'static str, f64)]);

const MS: f64 = 1e6;
const S: f64 = 1e9;

/// The lines, in order. A figure without a name is redundant.
const LINES: &[Line] = &[
    ("\u{1}reply-rate = {}", &[]),
    ("\u{1}session-rate = {}", &[]),
    ("Maximum connect burst length: {}", &[("connect_burst_max", 1.0)]),
    (
        "Total: connections {} requests {} replies {} test-duration {} s",
        &[("connections_opened", 1.0), ("sent", 1.0), ("completed", 1.0), ("duration_ns", S)],
    ),
    (
        "Connection rate: {} conn/s ({} ms/conn, <={} concurrent connections)",
        &[("connections_per_s", 1.0), ("", 1.0), ("connections_max", 1.0)],
    ),
    (
        "Connection time [ms]: min {} avg {} max {} median {} stddev {}",
        &[
            ("connection_ns_min", MS),
            ("connection_ns_mean", MS),
            ("connection_ns_max", MS),
            ("connection_ns_p50", MS),
            ("connection_ns_sd", MS),
        ],
    ),
    ("Connection time [ms]: connect {}", &[("connect_ns_mean", MS)]),
    ("Connection length [replies/conn]: {}", &[("replies_per_connection", 1.0)]),
    ("Request rate: {} req/s ({} ms/req)", &[("sent_per_s", 1.0)]),
    ("Request size [B]: {}", &[("request_bytes", 1.0)]),
    (
        "Reply rate [replies/s]: min {} avg {} max {} stddev {} ({} samples)",
        &[
            ("sampled_rate_per_s_min", 1.0),
            ("sampled_rate_per_s_mean", 1.0),
            ("sampled_rate_per_s_max", 1.0),
            ("sampled_rate_per_s_sd", 1.0),
            ("rate_samples", 1.0),
        ],
    ),
    ("Reply time [ms]: response {} transfer {}", &[("first_byte_ns_mean", MS), ("transfer_ns_mean", MS)]),
    (
        "Reply size [B]: header {} content {} footer {} (total {})",
        &[("header_bytes", 1.0), ("document_bytes", 1.0), ("footer_bytes", 1.0), ("reply_bytes", 1.0)],
    ),
    ("Reply status: 1xx={} 2xx={} 3xx={} 4xx={} 5xx={}", &[]),
    (
        "CPU time [s]: user {} system {} (user {}% system {}% total {}%)",
        &[
            ("client_cpu_user_ns", S),
            ("client_cpu_system_ns", S),
            ("", 1.0),
            ("", 1.0),
            ("client_core_use", 0.01),
        ],
    ),
    ("Net I/O: {} KB/s ({}*10^6 bps)", &[("network_bytes_per_s", 1024.0)]),
    ("Errors: total {} client-timo {} socket-timo {} connrefused {} connreset {}", &[("failed", 1.0)]),
    ("Errors: fd-unavail {} addrunavail {} ftab-full {} other {}", &[]),
    (
        "Session rate [sess/s]: min {} avg {} max {} stddev {} ({}/{})",
        &[
            ("sessions_per_s_min", 1.0),
            ("sessions_per_s_mean", 1.0),
            ("sessions_per_s_max", 1.0),
            ("sessions_per_s_sd", 1.0),
            ("sessions_completed", 1.0),
            ("sessions", 1.0),
        ],
    ),
    ("Session: avg {} connections/session", &[("connections_per_session", 1.0)]),
    ("Session lifetime [s]: {}", &[("session_ns_mean", S)]),
    ("Session failtime [s]: {}", &[("session_failed_ns_mean", S)]),
    ("Session length histogram: {}", &[]),
];

const STATUS: &[&str] = &["1xx", "2xx", "3xx", "4xx", "5xx"];
const ERRORS: [&[&str]; 2] = [
    &["", "client-timo", "socket-timo", "connrefused", "connreset"],
    &["fd-unavail", "addrunavail", "ftab-full", "other"],
];

/// Figures that are printed as 0 if there was no reply.
const OF_REPLIES: &[&str] = &[
    "connection_ns_min",
    "connection_ns_mean",
    "connection_ns_max",
    "connection_ns_p50",
    "connection_ns_sd",
    "replies_per_connection",
    "first_byte_ns_mean",
    "transfer_ns_mean",
    "header_bytes",
    "document_bytes",
    "footer_bytes",
    "reply_bytes",
];

/// What httperf prints besides its report.
const CHATTER: [&str; 2] = ["open file limit > FD_SETSIZE", "maximum number of open descriptors"];

/// The longest command line, in bytes.
const MOST_COMMAND_BYTES: usize = 4096;

/// Within this many bytes, a command line that the tool repeats names the client.
const ECHO_BYTES: usize = 300;

/// The longest prompt, in bytes.
const PROMPT_BYTES: usize = 200;

/// All reports in a text.
pub fn read(text: &str) -> Vec<Found> {
    let list: Vec<&str> = LINES.iter().map(|(template, _)| *template).collect();
    let mut after = 0;
    let mut found = Vec::new();
    for report in template::reports(text, &list) {
        let lines = report.sights.iter().filter(|sight| !list[sight.line].starts_with(OFTEN)).count();
        if lines < 2 {
            // A single quoted line is not a report.
            continue;
        }
        let commands = commands(text, after, report.at.start);
        after = report.at.end;
        found.push(of(text, report, &commands));
    }
    found
}

fn of(text: &str, report: Report, commands: &[Range<usize>]) -> Found {
    let mut reading = Reading::of("httperf");
    report.sights.iter().for_each(|sight| set(&mut reading, sight));
    complete(&mut reading);
    failures::add_statuses(&mut reading, None);
    let start = commands.first().map_or(report.at.start, |command| command.start);
    reading.command = commands.first().map(|command| text[command.clone()].replace("\\\n", ""));
    // The tool repeats the command line with every option, including defaults.
    reading.url = commands.last().and_then(|command| url(&text[command.clone()]));
    let strange = report.strange.into_iter().filter(|line| !is_chatter(line)).collect();
    Found { at: start..report.at.end, reading, strange }
}

fn is_chatter(line: &str) -> bool {
    CHATTER.iter().any(|chatter| line.contains(chatter))
}

fn set(reading: &mut Reading, sight: &Sight) {
    let (template, names) = LINES[sight.line];
    for (nth, (name, unit)) in names.iter().enumerate() {
        if let Some(value) = sight.get(nth).filter(|_| !name.is_empty()) {
            // It prints tenths.
            reading.set_measured(name, value * unit, unit / 10.0);
        }
    }
    let mut count = |names: &[&str], is_status: bool| {
        for (nth, name) in names.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
            if let Some(n) = sight.get(nth).filter(|n| *n > 0.0) {
                let to = if is_status { &mut reading.status } else { &mut reading.errors };
                to.insert((*name).to_owned(), n as u64);
            }
        }
    };
    if template.starts_with("Reply status") {
        count(STATUS, true);
    } else if template.starts_with("Errors: total") {
        count(ERRORS[0], false);
    } else if template.starts_with("Errors:") {
        count(ERRORS[1], false);
    }
}

/// Removes figures that are 0 because they are unknown, and adds the rate of replies, which the report has only
/// indirectly.
fn complete(reading: &mut Reading) {
    let (sent, completed) = (reading.get("sent"), reading.get("completed"));
    if completed == Some(0.0) {
        OF_REPLIES.iter().for_each(|name| {
            reading.figures.remove(*name);
            reading.below.remove(*name);
        });
    }
    if sent == Some(0.0) {
        reading.figures.remove("request_bytes");
    }
    if reading.get("rate_samples") == Some(0.0) {
        reading.figures.retain(|name, _| !name.starts_with("sampled_rate"));
    }
    // The median includes lifetimes up to 100 s; if most are longer, it is printed as 0.
    reading.below.remove("connection_ns_p50");
    let all = reading.get("sent_per_s").filter(|_| sent.is_some() && sent == completed);
    let some = || Some(completed? / reading.get("duration_ns").filter(|ns| *ns > 0.0)? * 1e9);
    if let Some(rate) = all.or_else(some) {
        reading.set("rate_per_s", rate);
    }
}

/// The command line as it was typed and as the tool repeats it, if they are before the report.
fn commands(text: &str, from: usize, to: usize) -> Vec<Range<usize>> {
    let mut commands: Vec<Range<usize>> = Vec::new();
    let mut end = to;
    while commands.len() < 2 {
        let near = (from..end).rev().take(MOST_COMMAND_BYTES).find(|at| is_command(text, *at, end));
        let Some(at) = near else { break };
        let command = at..at + length(&text[at..end]);
        let is_echo = text[command.clone()].contains(" --client=");
        let rest = template::between(&text[command.end..end]);
        let is_near = rest.is_some_and(|rest| rest.iter().all(|line| is_chatter(line)));
        if !is_near || (commands.len() == 1 && is_echo) {
            break;
        }
        commands.insert(0, command);
        if !is_echo {
            break;
        }
        end = at;
    }
    commands
}

/// The length of the command line at the beginning: one line, and the lines that a backslash joins to it.
fn length(text: &str) -> usize {
    let mut length = 0;
    for line in text.split_inclusive('\n') {
        length += line.len();
        if !line.trim_end().ends_with('\\') {
            break;
        }
    }
    // If everything is on one line, httperf's name precedes its next message.
    let line = &text[..length];
    line.split(" httperf: ").next().unwrap_or_default().trim_end().len()
}

/// Whether a command line begins here: at the beginning of a line, after a prompt or a path, or as the tool repeats
/// it.
fn is_command(text: &str, at: usize, end: usize) -> bool {
    let Some(options) = text.as_bytes()[at..end].strip_prefix(b"httperf ") else { return false };
    if !options.trim_ascii_start().starts_with(b"-") {
        return false;
    }
    let low = (at.saturating_sub(PROMPT_BYTES)..=at).find(|low| text.is_char_boundary(*low)).unwrap_or(at);
    let before = text[low..at].trim_end_matches(['.', '/']);
    let line = before.rsplit('\n').next().unwrap_or_default().trim_end_matches([' ', '\t']);
    let is_first = line.trim_matches(['>', '`', ' ', '\t', '*', '|']).is_empty();
    let is_prompted = line.ends_with(['$', '#', '%', '>', '`']);
    is_first || is_prompted || is_echo(&text.as_bytes()[at..end])
}

/// In the tool's order of options, only a few can precede this one.
fn is_echo(command: &[u8]) -> bool {
    command[..command.len().min(ECHO_BYTES)].windows(10).any(|window| window == b" --client=")
}

/// The URL, if the command line has it.
fn url(command: &str) -> Option<String> {
    let value = |name: &str| {
        let rest = command
            .match_indices(name)
            .find_map(|(at, _)| command[at + name.len()..].strip_prefix(['=', ' ']));
        rest?.split_whitespace().next()
    };
    let server = value(" --server")?;
    let is_tls = command.split_whitespace().any(|word| word == "--ssl");
    let (scheme, usual) = if is_tls { ("https", "443") } else { ("http", "80") };
    let port = value(" --port").filter(|port| *port != usual).map(|port| format!(":{port}"));
    Some(format!("{scheme}://{server}{}{}", port.unwrap_or_default(), value(" --uri").unwrap_or("/")))
}
