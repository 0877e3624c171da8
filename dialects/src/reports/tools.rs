//! The reports of tools whose command lines drome does not take, as data.

use super::Role::{Begins, Details, Often, Once, Repeats, Telling};
use super::called::Called;
use super::{Draft, Format, Lines};
use crate::failures;
use model::Reading;

/// The formats in text.
pub const FORMATS: &[Format] = &[
    format("oha", SUMMARY, &[], of_oha),
    format("hey", SUMMARY, &[], of_hey),
    format("bombardier", BOMBARDIER, &["[=", "Done!"], of_bombardier),
    format("autocannon", AUTOCANNON, &["Req/Bytes counts"], of_autocannon),
    format("vegeta", VEGETA, &[], of_vegeta),
    format("k6", K6, K6_OTHERS, all),
    format("zrk", ZRK, &[], all),
    format("gcannon", GCANNON, GCANNON_OTHERS, all),
];

const fn format(
    tool: &'static str,
    lines: Lines,
    ignores: &'static [&'static str],
    complete: fn(&mut Draft) -> bool,
) -> Format {
    Format { tool, lines, ignores, called: Called::Elsewhere, complete }
}

/// hey's and oha's reports have the same ancestor.
const SUMMARY: Lines = &[
    (Begins, "Summary:"),
    (Once, "Success rate: {:}%"),
    (Once, "Success rate: {:}"),
    (Once, "Total: {duration_ns:time}"),
    (Telling, "Slowest: {latency_ns_max:time}"),
    (Telling, "Fastest: {latency_ns_min:time}"),
    (Once, "Average: {latency_ns_mean:time}"),
    (Once, "Requests/sec: {rate_per_s}"),
    (Once, "Total data: {body_bytes:bytes}"),
    (Once, "Size/request: {mean_body_bytes:bytes}"),
    (Once, "Size/sec: {body_bytes_per_s:bytes}"),
    (Often, "Response time histogram{:rest}"),
    (Often, "Response time distribution{:rest}"),
    (Often, "Latency distribution:"),
    (Often, "{*:percentile}% in {latency_ns_*:time}"),
    // hey 0.1.5 writes the sign twice.
    (Often, "{*:percentile}%% in {latency_ns_*:time}"),
    // Bars.
    (Often, "{:time} [{:}]"),
    (Often, "{:} [{:}]"),
    (Once, "Details (average, fastest, slowest){:rest}"),
    (Once, "DNS+dialup: {connect_ns_mean:time}, {connect_ns_min:time}, {connect_ns_max:time}"),
    (Once, "DNS+dialup {connect_ns_mean:time}, {connect_ns_min:time}, {connect_ns_max:time}"),
    (Often, "DNS-lookup: {:time}, {:time}, {:time}"),
    (Often, "DNS-lookup {:time}, {:time}, {:time}"),
    (Often, "req write: {:time}, {:time}, {:time}"),
    (Once, "resp wait: {first_byte_ns_mean:time}, {first_byte_ns_min:time}, {first_byte_ns_max:time}"),
    (Once, "resp read: {transfer_ns_mean:time}, {transfer_ns_min:time}, {transfer_ns_max:time}"),
    (Often, "Status code distribution:"),
    (Often, "[{*:key}] {status.*} responses"),
    (Often, "Error distribution:"),
    (Often, "[{errors.*}] {*:rest}"),
];

const BOMBARDIER: Lines = &[
    (Begins, "Bombarding {url:word} for {planned_duration_ns:go} using {connections} connection(s)"),
    (Begins, "Bombarding {url:word} with {planned_requests} request(s) using {connections} connection(s)"),
    // What is left of a bar that was drawn again and again.
    (Often, "{:} / {:} {:}%{:rest}"),
    (Often, "{:} / {:} [{:rest}"),
    (Once, "Statistics {:columns}"),
    (Telling, "Reqs/sec {sampled_rate_per_s:row}"),
    (Once, "Latency {latency_ns:times}"),
    (Once, "Latency Distribution"),
    (Often, "{*:percentile}% {latency_ns_*:time}"),
    (Once, "HTTP codes:"),
    (
        Once,
        "1xx - {status.1xx}, 2xx - {status.2xx}, 3xx - {status.3xx}, 4xx - {status.4xx}, 5xx - {status.5xx}",
    ),
    (Once, "others - {errors.others}"),
    (Details, "Errors:"),
    // Both directions together.
    (Once, "Throughput: {network_bytes_per_s:bytes}/s"),
];

const AUTOCANNON: Lines = &[
    (Begins, "Running {planned_duration_ns:go} test @ {url:word}"),
    (Begins, "Running {planned_requests} requests test @ {url:word}"),
    (Often, "{connections} connections with {:} pipelining factor"),
    (Often, "{connections} connections"),
    (Often, "{threads} workers"),
    (Repeats, "Stat {:columns}"),
    (Once, "Latency (ms) {latency_ns:row-ms}"),
    (Once, "Latency {latency_ns:times}"),
    (Once, "Req/Sec {sampled_rate_per_s:row}"),
    (Once, "Bytes/Sec {sampled_received_bytes_per_s:sizes}"),
    (Often, "# of samples: {:}"),
    (Often, "Percentile Latency (ms)"),
    (Often, "{status.2xx} 2xx responses, {status.non-2xx} non 2xx responses"),
    (Often, "{sent:many} requests in {duration_ns:go}, {received_bytes:si} read"),
    (Often, "{failed:many} errors ({errors.timeout:many} timeouts)"),
    (Often, "{*:percentile} {latency_ns_*:ms}"),
];

const VEGETA: Lines = &[
    (Begins, "Requests [total, rate, throughput] {requests}, {sent_per_s}, {rate_per_s}"),
    (Begins, "Requests [total, rate] {requests}, {sent_per_s}"),
    (Begins, "Requests [total] {requests}"),
    (Telling, "Duration [total, attack, wait] {duration_ns:go}, {:go}, {:go}"),
    (
        Telling,
        "Latencies [min, mean, 50, 90, 95, 99, max] {latency_ns_min:go}, {latency_ns_mean:go}, {latency_ns_p50:go}, \
         {latency_ns_p90:go}, {latency_ns_p95:go}, {latency_ns_p99:go}, {latency_ns_max:go}",
    ),
    (
        Telling,
        "Latencies [mean, 50, 95, 99, max] {latency_ns_mean:go}, {latency_ns_p50:go}, {latency_ns_p95:go}, \
         {latency_ns_p99:go}, {latency_ns_max:go}",
    ),
    (Once, "Bytes In [total, mean] {body_bytes}, {mean_body_bytes}"),
    (Once, "Bytes Out [total, mean] {sent_bytes}, {:}"),
    (Once, "Success [ratio] {success_percent}%"),
    (Once, "Status Codes [code:count]"),
    (Often, "{*:key}:{status.*}"),
    (Details, "Error Set:"),
];

const K6: Lines = &[
    (Telling, "http_req_duration…: {latency_ns:pairs}"),
    (Telling, "http_reqs…: {completed} {rate_per_s}/s"),
    (Once, "http_req_waiting…: {first_byte_ns:pairs}"),
    (Once, "http_req_connecting…: {connect_ns:pairs}"),
    (Once, "http_req_failed…: {:}% ✓ {failed} ✗ {:}"),
    (Once, "http_req_failed…: {:}% {failed} out of {:}"),
    (Once, "data_received…: {received_bytes:si} {received_bytes_per_s:si}/s"),
    (Once, "data_sent…: {sent_bytes:si} {sent_bytes_per_s:si}/s"),
    (Once, "vus_max…: {virtual_users}{:rest}"),
];

/// Lines of k6 with other figures, and its headings.
const K6_OTHERS: &[&str] = &[
    "{ ",
    "✓",
    "✗",
    "↳",
    "█",
    "HTTP",
    "EXECUTION",
    "NETWORK",
    "CUSTOM",
    "running (",
    "default",
    "checks",
    "iteration",
    "http_req_",
    "data_",
    "vus",
    "group_duration",
    "dropped_",
];

const ZRK: Lines = &[
    (Begins, "Running {planned_duration_ns:go} test @ {url:word}"),
    (Once, "{connections} connections, target rate {offered_rate_per_s} req/s"),
    (Once, "{connections} connections, {:rest}"),
    (Telling, "Latency (corrected for coordinated omission)"),
    (Often, "{*:percentile}% {latency_ns_*:time}"),
    (Once, "max {latency_ns_max:time}"),
    (Once, "Detailed Percentile spectrum:"),
    (Once, "{completed} requests in {duration_ns:time}, {received_bytes:bytes} read"),
    (Once, "Non-2xx or 3xx responses: {errors.status}"),
    (Once, "3xx (redirect) responses: {:}{:rest}"),
    (
        Once,
        "Socket errors: connect {errors.connect}, read {errors.read}, write {errors.write}, timeout {errors.timeout}",
    ),
    (Once, "Requests/sec: {rate_per_s}"),
    (Once, "Transfer/sec: {received_bytes_per_s:bytes}"),
];

const GCANNON: Lines = &[
    (Begins, "gcannon — io_uring{:rest}"),
    (Begins, "Glass Cannon Results"),
    (Often, "Target: {url:word}"),
    (Often, "Threads: {threads}"),
    (Often, "Conns: {connections} ({:}/thread)"),
    (Often, "Duration: {planned_duration_ns:time}"),
    (Once, "Thread Stats {:columns}"),
    (Once, "Latency {latency_ns:times}"),
    (
        Once,
        "Avg p50 p90 p99 p99.9 {latency_ns_mean:time} {latency_ns_p50:time} {latency_ns_p90:time} {latency_ns_p99:time} \
         {latency_ns_p999:time}",
    ),
    (Often, "{sent} requests in {duration_ns:time}, {completed} responses"),
    (Telling, "Throughput: {rate_per_s:many} req/s"),
    (Telling, "Throughput Req/s {rate_per_s:many}"),
    (Once, "Bandwidth: {received_bytes_per_s:bytes}/s"),
    (Once, "Bandwidth {received_bytes_per_s:bytes}/s"),
    (Once, "Total {sent:many} req / {completed:many} resp in {duration_ns:time}"),
    (Once, "Status codes: 2xx={status.2xx}, 3xx={status.3xx}, 4xx={status.4xx}, 5xx={status.5xx}"),
    (Once, "Status Codes 2xx 3xx 4xx 5xx {status.2xx} {status.3xx} {status.4xx} {status.5xx}"),
    (Often, "Reconnects: {reconnects}"),
    (Once, "Errors: connect {errors.connect}, read {errors.read}, timeout {errors.timeout}"),
];

const GCANNON_OTHERS: &[&str] = &[
    "Pipeline:",
    "Req/conn:",
    "Expected:",
    "Templates:",
    "Latency samples:",
    "Latency overflow",
    "Per-template",
    ", other=",
];

fn all(draft: &mut Draft) -> bool {
    failures::add_statuses(&mut draft.reading, None);
    true
}

/// oha's summary begins with the success rate.
fn of_oha(draft: &mut Draft) -> bool {
    counts(&mut draft.reading);
    all(draft) && draft.has("Success rate")
}

fn of_hey(draft: &mut Draft) -> bool {
    !of_oha(draft)
}

/// The counts of answers and errors, from the parts of a summary.
pub(super) fn counts(reading: &mut Reading) {
    if !reading.status.is_empty() {
        reading.set("completed", reading.status.values().sum::<u64>() as f64);
    }
    if !reading.errors.is_empty() {
        reading.set("failed", reading.errors.values().sum::<u64>() as f64);
    }
}

fn of_bombardier(draft: &mut Draft) -> bool {
    counts(&mut draft.reading);
    rate_from_samples(&mut draft.reading);
    all(draft)
}

/// The report's rate is the mean of rates that were sampled.
fn rate_from_samples(reading: &mut Reading) {
    if let Some(rate) = reading.get("sampled_rate_per_s_mean") {
        reading.set("rate_per_s", rate);
    }
}

fn of_autocannon(draft: &mut Draft) -> bool {
    let reading = &mut draft.reading;
    rate_from_samples(reading);
    if let Some(received) = reading.get("sampled_received_bytes_per_s_mean") {
        reading.set("received_bytes_per_s", received);
    }
    if !reading.status.is_empty() {
        reading.set("completed", reading.status.values().sum::<u64>() as f64);
    }
    all(draft)
}

fn of_vegeta(draft: &mut Draft) -> bool {
    vegeta(&mut draft.reading);
    all(draft)
}

/// Before vegeta 12.6, a report has the successful requests per second only indirectly. Its code 0 is no answer.
pub(super) fn vegeta(reading: &mut Reading) {
    if let Some(none) = reading.status.remove("0") {
        reading.errors.insert("no answer".to_owned(), none);
        reading.set("failed", none as f64);
    }
    if !reading.status.is_empty() {
        reading.set("completed", reading.status.values().sum::<u64>() as f64);
    }
    let successful = |reading: &Reading| {
        let duration_ns = reading.get("duration_ns").filter(|ns| *ns > 0.0)?;
        Some(reading.get("requests")? * reading.get("success_percent")? / 100.0 / duration_ns * 1e9)
    };
    if let Some(rate) = successful(reading).filter(|_| reading.get("rate_per_s").is_none()) {
        reading.set("rate_per_s", rate);
    }
}
