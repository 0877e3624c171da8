//! The reports of the tools whose command lines drome takes, as data; those of ab, h2load and wrk are in files of their own.

use super::Role::{Begins, Leads, Often, Once, Part, Telling};
use super::called::Called;
use super::{Draft, Format, ab, h2load, wrk};
use crate::failures;
use crate::text::command::option;
use model::Reading;

/// The formats.
pub const FORMATS: &[Format] =
    &[ab::FORMAT, SIEGE, SIEGE_JSON, wrk::FORMAT, HTTP_LOAD, WEIGHTTP, HTTPERF, h2load::FORMAT];

/// `http_load`'s clock has microseconds.
const HTTP_LOAD: Format = Format {
    tool: "http_load",
    lines: &[
        (
            Telling,
            "{completed} fetches, {connections} max parallel, {body_bytes} bytes, in {duration_ns:s} seconds",
        ),
        (Part, "{mean_body_bytes} mean bytes/connection"),
        (Part, "{rate_per_s} fetches/sec, {body_bytes_per_s} bytes/sec"),
        (
            Part,
            "msecs/connect: {connect_ns_mean:ms-to-us} mean, {connect_ns_max:ms-to-us} max, {connect_ns_min:ms-to-us} min",
        ),
        (
            Part,
            "msecs/first-response: {first_byte_ns_mean:ms-to-us} mean, {first_byte_ns_max:ms-to-us} max, \
             {first_byte_ns_min:ms-to-us} min",
        ),
        (Part, "{errors.timeouts} timeouts"),
        (Part, "{errors.bad byte counts} bad byte counts"),
        (Part, "{errors.bad checksums} bad checksums"),
        (Part, "HTTP response codes:"),
        (Often, "code {*:key} -- {status.*}"),
    ],
    ignores: &["…: timed out", "…: byte count wrong", "…: checksum wrong", "… current"],
    called: Called::First(&["http_load"]),
    complete: |draft| {
        // An answer with another status mostly has another length, too.
        failures::add_statuses(&mut draft.reading, Some("bad byte counts"));
        draft.reading.get("duration_ns").is_some()
    },
};

const WEIGHTTP: Format = Format {
    tool: "weighttp",
    lines: &[
        (Begins, "weighttp - a lightweight and simple webserver benchmarking tool"),
        // Later versions tell their number.
        (Begins, "weighttp {version:word} - a lightweight and simple webserver benchmarking tool"),
        (Once, "starting benchmark..."),
        (Often, "spawning thread #{:}: {+connections} concurrent requests, {:} total requests"),
        (Often, "progress: {:}% done"),
        (
            Telling,
            "finished in {s} sec, {millisec} millisec and {microsec} microsec, {rate_per_s} req/s, \
             {received_bytes_per_s:kib} kbyte/s",
        ),
        (
            Telling,
            "requests: {requests} total, {sent} started, {:} done, {completed} succeeded, {failed} failed, {errored} errored",
        ),
        (Telling, "status codes: {status.2xx} 2xx, {status.3xx} 3xx, {status.4xx} 4xx, {status.5xx} 5xx"),
        (Telling, "traffic: {received_bytes} bytes total, {head_bytes} bytes http, {body_bytes} bytes data"),
    ],
    ignores: &[],
    called: Called::First(&["weighttp"]),
    complete: of_weighttp,
};

fn of_weighttp(draft: &mut Draft) -> bool {
    let threads = draft.count("spawning thread");
    let reading = &mut draft.reading;
    let time = ["s", "millisec", "microsec"].map(|unit| reading.figures.remove(unit));
    if let [Some(s), Some(ms), Some(us)] = time {
        reading.set("duration_ns", s * 1e9 + ms * 1e6 + us * 1e3);
    }
    failures::take_nested(reading, &["failed", "errored"]);
    let has_figures = reading.figures.keys().any(|name| name != "connections") || !reading.status.is_empty();
    if threads > 0 {
        reading.set("threads", threads as f64);
    }
    // The URL may have no scheme.
    let last = draft.called.as_deref().and_then(|line| line.split(' ').next_back());
    let last =
        last.map(|word| word.trim_matches(['\'', '"', '`'])).filter(|word| word.contains(['/', ':', '.']));
    reading.url = reading.url.take().or(last.map(str::to_owned));
    has_figures
}

const HTTPERF: Format = Format {
    tool: "httperf",
    lines: &[
        (Leads, "reply-rate = {:}"),
        (Leads, "session-rate = {:}"),
        (Telling, "Maximum connect burst length: {connect_burst_max}"),
        (
            Telling,
            "Total: connections {connections_opened} requests {sent} replies {completed} test-duration {duration_ns:s} s",
        ),
        (
            Telling,
            "Connection rate: {connections_per_s} conn/s ({:} ms/conn, <={connections_max} concurrent connections)",
        ),
        (
            Telling,
            "Connection time [ms]: min {connection_ns_min:ms} avg {connection_ns_mean:ms} max {connection_ns_max:ms} \
             median {connection_ns_p50:ms} stddev {connection_ns_sd:ms}",
        ),
        (Telling, "Connection time [ms]: connect {connect_ns_mean:ms}"),
        (Telling, "Connection length [replies/conn]: {replies_per_connection}"),
        (Telling, "Request rate: {sent_per_s} req/s ({:} ms/req)"),
        (Telling, "Request size [B]: {request_bytes}"),
        (
            Telling,
            "Reply rate [replies/s]: min {sampled_rate_per_s_min} avg {sampled_rate_per_s_mean} \
             max {sampled_rate_per_s_max} stddev {sampled_rate_per_s_sd} ({rate_samples} samples)",
        ),
        (Telling, "Reply time [ms]: response {first_byte_ns_mean:ms} transfer {transfer_ns_mean:ms}"),
        (
            Telling,
            "Reply size [B]: header {header_bytes} content {document_bytes} footer {footer_bytes} (total {reply_bytes})",
        ),
        (
            Telling,
            "Reply status: 1xx={status.1xx} 2xx={status.2xx} 3xx={status.3xx} 4xx={status.4xx} 5xx={status.5xx}",
        ),
        (
            Telling,
            "CPU time [s]: user {client_cpu_user_ns:s} system {client_cpu_system_ns:s} (user {:}% system {:}% \
             total {client_core_use:percent}%)",
        ),
        (Telling, "Net I/O: {network_bytes_per_s:kib} KB/s ({:}*10^6 bps)"),
        (
            Telling,
            "Errors: total {failed} client-timo {errors.client-timo} socket-timo {errors.socket-timo} \
             connrefused {errors.connrefused} connreset {errors.connreset}",
        ),
        (
            Telling,
            "Errors: fd-unavail {errors.fd-unavail} addrunavail {errors.addrunavail} ftab-full {errors.ftab-full} \
             other {errors.other}",
        ),
        (
            Telling,
            "Session rate [sess/s]: min {sessions_per_s_min} avg {sessions_per_s_mean} max {sessions_per_s_max} \
             stddev {sessions_per_s_sd} ({sessions_completed}/{sessions})",
        ),
        (Telling, "Session: avg {connections_per_session} connections/session"),
        (Telling, "Session lifetime [s]: {session_ns_mean:s}"),
        (Telling, "Session failtime [s]: {session_failed_ns_mean:s}"),
        (Telling, "Session length histogram: {:}"),
    ],
    ignores: &["…open file limit > FD_SETSIZE", "…maximum number of open descriptors"],
    called: Called::First(&["httperf"]),
    complete: of_httperf,
};

/// Figures that are printed as 0 if there was no reply.
const OF_REPLIES: &[&str] = &[
    "connection_ns_",
    "replies_per_connection",
    "first_byte_ns_mean",
    "transfer_ns_mean",
    "header_bytes",
    "document_bytes",
    "footer_bytes",
    "reply_bytes",
];

/// Removes figures that are 0 because they are unknown, and adds the rate of replies, which the report has only indirectly.
fn of_httperf(draft: &mut Draft) -> bool {
    // A single quoted line is not a report.
    let is_report =
        draft.different() - usize::from(draft.has("reply-rate")) - usize::from(draft.has("session-rate")) > 1;
    let reading = &mut draft.reading;
    let (sent, completed) = (reading.get("sent"), reading.get("completed"));
    if completed == Some(0.0) {
        let is_of_replies = |name: &str| OF_REPLIES.iter().any(|begin| name.starts_with(begin));
        reading.figures.retain(|name, _| !is_of_replies(name));
        reading.below.retain(|name, _| !is_of_replies(name));
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
    failures::add_statuses(reading, None);
    // The tool repeats the command line with every option, including defaults.
    reading.url = draft.called.as_deref().and_then(httperf_url);
    is_report
}

/// The URL, if the command line has it.
fn httperf_url(command: &str) -> Option<String> {
    let value = |name: &str| option(command, &[name]);
    let server = value("--server")?;
    let is_tls = command.split_whitespace().any(|word| word == "--ssl");
    let (scheme, usual) = if is_tls { ("https", "443") } else { ("http", "80") };
    let port = value("--port").filter(|port| *port != usual).map(|port| format!(":{port}"));
    Some(format!("{scheme}://{server}{}{}", port.unwrap_or_default(), value("--uri").unwrap_or("/")))
}

/// siege's report as text. siege writes times in seconds up to its version 4.1.3 and in milliseconds in 4.1.7.
const SIEGE: Format = Format {
    tool: "siege",
    lines: &[
        (Begins, "** SIEGE {version:word}"),
        (Part, "** Preparing {connections} concurrent users for battle."),
        (Part, "The server is now under siege..."),
        (Part, "Lifting the server siege..."),
        (Telling, "Transactions: {completed} hits"),
        (Part, "Availability: {availability_percent} % ¦ Availability: {availability_percent}"),
        (Part, "Elapsed time: {duration_ns:s?}"),
        (Part, "Data transferred: {body_bytes:bytes?}"),
        (Part, "Response time: {latency_ns_mean:time?}"),
        (Part, "Transaction rate: {rate_per_s} trans/sec ¦ Transaction rate: {rate_per_s}"),
        (Part, "Throughput: {body_bytes_per_s:bytes?}/sec ¦ Throughput: {body_bytes_per_s:bytes?}"),
        (Part, "Concurrency: {concurrency}"),
        (Part, "Successful transactions: {successful}"),
        // In old versions, and in debug mode.
        (
            Part,
            "HTTP OK received: {status.200} ¦ Status code 200: {status.200} ¦ Code 200 (okays): {status.200}",
        ),
        (Part, "Failed transactions: {failed}"),
        (Part, "Longest transaction: {latency_ns_max:time?}"),
        (Part, "Shortest transaction: {latency_ns_min:time?}"),
    ],
    ignores: SIEGE_OTHERS,
    called: Called::First(&["siege"]),
    complete: of_siege,
};

/// siege's report as JSON; the keys may be in any order.
const SIEGE_JSON: Format = Format {
    tool: "siege",
    lines: &[
        (Begins, "** SIEGE {version:word}"),
        (Part, "** Preparing {connections} concurrent users for battle."),
        (Part, "The server is now under siege..."),
        (Part, "Lifting the server siege..."),
        (Telling, "{ \"transactions\": {completed} ¦ \"transactions\": {completed}"),
        (Part, "\"availability\": {availability_percent}"),
        (Part, "\"elapsed_time\": {duration_ns:s?}"),
        (Part, "\"data_transferred\": {body_bytes:bytes?}"),
        (Part, "\"response_time\": {latency_ns_mean:time?}"),
        (Part, "\"transaction_rate\": {rate_per_s}"),
        (Part, "\"throughput\": {body_bytes_per_s:bytes?}"),
        (Part, "\"concurrency\": {concurrency}"),
        (Part, "\"successful_transactions\": {successful}"),
        (Part, "\"failed_transactions\": {failed}"),
        (Part, "\"http_ok_received\": {status.200}"),
        (Part, "\"longest_transaction\": {latency_ns_max:time?}"),
        (
            Part,
            "\"shortest_transaction\": {latency_ns_min:time?} } ¦ \"shortest_transaction\": {latency_ns_min:time?}",
        ),
    ],
    ignores: SIEGE_OTHERS,
    called: Called::First(&["siege"]),
    // Another tool may count transactions too.
    complete: |draft| of_siege(draft) && draft.has("\"availability"),
};

const SIEGE_OTHERS: &[&str] = &[
    "HTTP/1.",
    "siege aborted due to",
    "can change the failure",
    "done.",
    "[error]",
    "[alert]",
    "[\u{1b}[",
    "\u{1b}[",
    "WARNING: The number of users",
    "limit, search your",
    "its value. Make sure",
    "^C",
    // Lines of verbose mode, also as values between commas.
    "… bytes ==> ",
];

/// Figures without a unit get it, and what siege could not measure and writes as 0 is left out.
fn of_siege(draft: &mut Draft) -> bool {
    let reading = &mut draft.reading;
    let unit = reading.figures.remove("unit").or_else(|| time_unit(reading));
    for name in ["latency_ns_mean", "latency_ns_max", "latency_ns_min"] {
        if let (Some(number), Some(unit)) = (reading.figures.remove(&name.replace("_ns", "")), unit) {
            // It prints hundredths.
            reading.set_measured(name, number * unit, unit / 100.0);
        }
    }
    if reading.get("completed") == Some(0.0) {
        reading.figures.retain(|name, _| !name.starts_with("latency"));
        reading.below.retain(|name, _| !name.starts_with("latency"));
    }
    if reading.get("duration_ns") == Some(0.0) {
        let rates = ["rate_per_s", "concurrency", "body_bytes_per_s"];
        reading.figures.retain(|name, _| !rates.contains(&name.as_str()));
    }
    if let (Some(ended), Some(successful)) = (reading.get("completed"), reading.get("successful")) {
        failures::add_status(reading, (ended - successful) as u64);
    }
    true
}

/// The unit of times that have none. Longest and shortest have no unit up to 4.1.3, and in JSON none of the three has. A unit at one of
/// them applies to all. Otherwise concurrency = response time × rate shows whether times are in seconds. If the figures are too coarse
/// for that, the unit is unknown.
fn time_unit(reading: &Reading) -> Option<f64> {
    let rate = reading.get("rate_per_s")?;
    let concurrency = reading.get("concurrency")?;
    let response = reading.get("latency_mean")?;
    // Each figure was rounded to hundredths.
    let fits = |per_s: f64| {
        let slack = (0.005 * rate + 0.005 * response) / per_s + 0.005;
        (response * rate / per_s - concurrency).abs() <= slack
    };
    match (fits(1.0), fits(1000.0)) {
        (true, false) => Some(1e9),
        (false, true) => Some(1e6),
        _ => None,
    }
}
