//! The reports of h2load.

use super::Role::{Begins, Often, Part, Telling};
use super::called::Called;
use super::{Draft, Format, Lines};
use crate::failures;

/// The format.
pub const FORMAT: Format =
    Format { tool: "h2load", lines: LINES, ignores: OTHERS, called: Called::Elsewhere, complete };

/// h2load in the form of nghttp2 1.0 and later: times and sizes have units.
const LINES: Lines = &[
    (Begins, "starting benchmark..."),
    (Often, "spawning thread #{:}: {+connections} total client(s). {:} total requests"),
    (Telling, "finished in {duration_ns:time}, {rate_per_s} req/s, {received_bytes_per_s:bytes}/s"),
    (
        Part,
        "requests: {requests} total, {sent} started, {:} done, {completed} succeeded, {failed} failed, {errored} errored, \
         {timeout} timeout",
    ),
    (Part, "status codes: {status.2xx} 2xx, {status.3xx} 3xx, {status.4xx} 4xx, {status.5xx} 5xx"),
    (
        Part,
        "traffic: {:bytes} ({received_bytes}) total, {:bytes} ({head_bytes}) headers (space savings {:}%), \
         {:bytes} ({body_bytes}) data",
    ),
    (
        Part,
        "traffic: {:bytes} ({received_bytes}) total, {:bytes} ({head_bytes}) headers, {:bytes} ({body_bytes}) data",
    ),
    // drome in h2load's place knows no bytes of heads.
    (
        Part,
        "traffic: {:bytes} ({received_bytes}) total, B () headers (space savings %), {:bytes} ({body_bytes}) data",
    ),
    (
        Part,
        "time for request: {latency_ns_min:time} {latency_ns_max:time} {latency_ns_mean:time} {latency_ns_sd:time} {:}%",
    ),
    (
        Part,
        "time for connect: {connect_ns_min:time} {connect_ns_max:time} {connect_ns_mean:time} {connect_ns_sd:time} {:}%",
    ),
    (
        Part,
        "time to 1st byte: {first_byte_ns_min:time} {first_byte_ns_max:time} {first_byte_ns_mean:time} \
         {first_byte_ns_sd:time} {:}%",
    ),
    // Later versions have shorter words and more columns.
    (
        Part,
        "request : {latency_ns_min:time} {latency_ns_max:time} {latency_ns_p50:time} {latency_ns_p95:time} \
         {latency_ns_p99:time} {latency_ns_mean:time} {latency_ns_sd:time} {:}%",
    ),
    (
        Part,
        "connect : {connect_ns_min:time} {connect_ns_max:time} {connect_ns_p50:time} {connect_ns_p95:time} \
         {connect_ns_p99:time} {connect_ns_mean:time} {connect_ns_sd:time} {:}%",
    ),
    (
        Part,
        "TTFB : {first_byte_ns_min:time} {first_byte_ns_max:time} {first_byte_ns_p50:time} {first_byte_ns_p95:time} \
         {first_byte_ns_p99:time} {first_byte_ns_mean:time} {first_byte_ns_sd:time} {:}%",
    ),
    (Often, "req/s : {:} {:} {:} {:} {:}%"),
    (Often, "req/s : {:} {:} {:} {:} {:} {:} {:} {:}%"),
];

const OTHERS: &[&str] = &[
    "Application protocol:",
    "progress:",
    "Warm-up",
    "Main benchmark",
    "Stopped all clients",
    "TLS Protocol:",
    "Cipher:",
    "Server Temp Key:",
    "UDP datagram",
    "Process Request Failure:",
    "min ",
];

fn complete(draft: &mut Draft) -> bool {
    let threads = draft.count("spawning thread");
    let reading = &mut draft.reading;
    if threads > 0 {
        reading.set("threads", threads as f64);
    }
    failures::take_nested(reading, &["failed", "errored", "timeout"]);
    // If the largest time is 0, nothing was timed.
    for times in ["latency_ns", "connect_ns", "first_byte_ns"] {
        if reading.below.contains_key(&format!("{times}_max")) {
            reading.below.retain(|name, _| !name.starts_with(times));
        }
    }
    if reading.get("received_bytes").is_some_and(|total| Some(total) < reading.get("body_bytes")) {
        draft.strange.push("traffic: the total is less than its part, the data".to_owned());
    }
    draft.reading.get("rate_per_s").is_some()
}
