//! The reports of wrk and wrk2.
//!
//! Besides drome's own names: `thread_rate_per_s_…` is the rate of one thread, `…_within_sd_share` the share within one standard
//! deviation of the mean, `planned_duration_ns` the requested duration.

use super::Role::{Follows, Often, Opens, Part, Row};
use super::called::Called;
use super::{Draft, Format};
use crate::text::command::option;
use crate::wrk::scan_metric;
use model::Reading;

/// The format of both, which only figures and the command line tell apart.
pub const FORMAT: Format = Format {
    tool: "wrk",
    lines: &[
        (Opens, "Running {planned_duration_ns:time} test @ {url:url}"),
        // The oldest versions have this.
        (Opens, "Making {planned_requests} requests to {url:url}"),
        (Part, "{threads} threads and {connections} connections"),
        (Often, "Thread calibration: mean lat.: {:time}, rate sampling interval: {:time}"),
        (Part, "Thread Stats Avg Stdev Max +/- Stdev"),
        // Only wrk2 prints unknown means and deviations.
        (Part, "Latency -nanus -nanus {:time} {:}%"),
        (Part, "Latency {latency_ns_mean:time} {latency_ns_sd:time} {latency_ns_max:time} -nan%"),
        (
            Part,
            "Latency {latency_ns_mean:time} {latency_ns_sd:time} {latency_ns_max:time} \
             {latency_ns_within_sd_share:percent}%",
        ),
        (Part, "Req/Sec -nan -nan {:} {:}%"),
        (
            Part,
            "Req/Sec {thread_rate_per_s_mean:many} {thread_rate_per_s_sd:many} {thread_rate_per_s_max:many} -nan%",
        ),
        (
            Part,
            "Req/Sec {thread_rate_per_s_mean:many} {thread_rate_per_s_sd:many} {thread_rate_per_s_max:many} \
             {thread_rate_per_s_within_sd_share:percent}%",
        ),
        (
            Part,
            "Req/sec {thread_rate_per_s_mean:many} {thread_rate_per_s_sd:many} {thread_rate_per_s_max:many} \
             {thread_rate_per_s_within_sd_share:percent}%",
        ),
        (Part, "Latency Distribution (HdrHistogram - Recorded Latency){latency_ns:section}"),
        (
            Part,
            "Latency Distribution (HdrHistogram - Uncorrected Latency (measured without taking delayed starts into \
             account)){service_ns:section}",
        ),
        (Part, "Latency Distribution{latency_ns:section}"),
        (Row, "{*:percentile}% {&_*:time}"),
        (Part, "{completed} requests in {duration_ns:time}, {received_bytes:bytes} read"),
        (Follows, "Requests/sec: {rate_per_s:.2}"),
        (Follows, "Transfer/sec: {received_bytes_per_s:bytes}"),
        (
            Part,
            "Socket errors: connect {errors.connect}, read {errors.read}, write {errors.write}, timeout {errors.timeout}",
        ),
        (Part, "Non-2xx or 3xx responses: {errors.status}"),
    ],
    // The last row of the spectrum is at infinity.
    ignores: &["#[", "Detailed Percentile spectrum:", "Value ", "… inf"],
    called: Called::Before(&["wrk", "wrk2"]),
    complete,
};

/// Tells wrk2 from wrk. Without `-L`, and shorter than its calibration, its report is like wrk's; then only its command tells.
fn complete(draft: &mut Draft) -> bool {
    let mut is_wrk2 = draft.has("Thread calibration") || draft.has("Latency Distribution (Hdr");
    for label in ["Latency", "Req/Sec"] {
        if draft.has(&format!("{label} -nan")) {
            is_wrk2 = true;
            draft.strange.push(format!("{label}: nan (no figure)"));
        }
    }
    if is_wrk2 {
        "wrk2".clone_into(&mut draft.reading.tool);
    }
    complete_by_command(&mut draft.reading);
    draft.reading.url.is_some()
}

/// Adds what only the command line says: that it was wrk2, by the program's name or because it has a rate, and the rate.
pub(crate) fn complete_by_command(reading: &mut Reading) {
    let Some(command) = &reading.command else { return };
    let is_named = command.split(' ').next().is_some_and(|program| program.ends_with("wrk2"));
    let rate = option(command, &["--rate", "-R"]).map(scan_metric);
    if is_named || rate.is_some() {
        "wrk2".clone_into(&mut reading.tool);
    }
    if let Some(rate) = rate.flatten() {
        reading.set("offered_rate_per_s", rate as f64);
    }
}
