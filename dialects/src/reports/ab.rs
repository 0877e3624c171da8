//! ab's report, in text and in HTML, from version 1.3 on.

use super::Role::{Often, Opens, Part, Row, Telling};
use super::called::Called;
use super::{Draft, Format};
use crate::failures;
use std::borrow::Cow;

/// The format.
pub const FORMAT: Format = Format {
    tool: "ab",
    lines: &[
        (Opens, "This is ApacheBench, Version {version:word}"),
        (Telling, "Benchmarking {:rest}(be patient)…"),
        // Some servers give themselves no name.
        (
            Telling,
            "Server Software:{server:nothing} Server Hostname: {host:word} ¦ Server Software: {server:word}",
        ),
        (Telling, "Server Hostname: {host:word}"),
        (Part, "Server Port: {port}"),
        (Often, "SSL/TLS Protocol: {:word}"),
        (
            Telling,
            "Document Path: {path:word} Document Length: {document_bytes} bytes \
             ¦ Document Path: {path:word} Document Length: Variable ¦ Document Path: {path:rest}",
        ),
        (Telling, "Document Length: {document_bytes} bytes ¦ Document Length: Variable"),
        (Telling, "Concurrency Level: {connections}"),
        (Telling, "Time taken for tests: {duration_ns:s} seconds"),
        (Telling, "Complete requests: {completed}"),
        (Telling, "Failed requests: {failed}"),
        (
            Part,
            "(Connect: {errors.connect}, Receive: {errors.receive}, Length: {errors.length}, \
             Exceptions: {errors.exceptions})",
        ),
        (Part, "(Connect: {errors.connect}, Length: {errors.length}, Exceptions: {errors.exceptions})"),
        (Part, "Write errors: {errors.write}"),
        (Part, "Broken pipe errors: {errors.write}"),
        (Part, "Non-2xx responses: {status.non-2xx}"),
        (Part, "Keep-Alive requests: {kept_alive}"),
        (Part, "Total transferred: {received_bytes} bytes"),
        (Part, "Total body sent: {sent_bytes}"),
        // Up to version 2.2.
        (Part, "Total POSTed: {sent_bytes}"),
        (Part, "Total PUT: {sent_bytes}"),
        (Part, "HTML transferred: {body_bytes} bytes"),
        (Telling, "Requests per second: {rate_per_s} [#/sec] (mean) ¦ Requests per second: {rate_per_s}"),
        (Part, "Time per request: {time_per_request_ns:ms} [ms] (mean)"),
        (
            Part,
            "Time per request: {time_per_request_over_all_ns:ms} [ms] (mean, across all concurrent requests)",
        ),
        (Part, "Transfer rate: {received_bytes_per_s:kib} [Kbytes/sec] received"),
        (Part, "Transfer rate: {received_bytes_per_s:kib} kb/s received"),
        (Part, "{sent_bytes_per_s:kib} kb/s sent"),
        (Part, "{:} kb/s total"),
        (Part, CONNECT),
        (Part, "Connect: {connect_ns_min:ms} {connect_ns_mean:ms} {connect_ns_max:ms}{:end}"),
        (
            Part,
            "Processing: {service_ns_min:ms} {service_ns_mean:ms} {service_ns_sd:ms} {service_ns_p50:ms} \
             {service_ns_max:ms}{:end}",
        ),
        (Part, "Processing: {service_ns_min:ms} {service_ns_mean:ms} {service_ns_max:ms}{:end}"),
        (
            Part,
            "Waiting: {first_byte_ns_min:ms} {first_byte_ns_mean:ms} {first_byte_ns_sd:ms} {first_byte_ns_p50:ms} \
             {first_byte_ns_max:ms}{:end}",
        ),
        (Part, "Waiting: {first_byte_ns_min:ms} {first_byte_ns_mean:ms} {first_byte_ns_max:ms}{:end}"),
        (
            Part,
            "Total: {latency_ns_min:ms} {latency_ns_mean:ms} {latency_ns_sd:ms} {latency_ns_p50:ms} \
             {latency_ns_max:ms}{:end}",
        ),
        (Part, "Total: {latency_ns_min:ms} {latency_ns_mean:ms} {latency_ns_max:ms}{:end}"),
        (
            Often,
            "WARNING: The median and mean for the initial connection time are not within a normal deviation \
                 These results are probably not that reliable.",
        ),
        (
            Often,
            "WARNING: The median and mean for the {:word} time are not within a normal deviation \
                 These results are probably not that reliable.",
        ),
        (
            Often,
            "ERROR: The median and mean for the initial connection time are more than twice the standard \
                 deviation apart. These results are NOT reliable.",
        ),
        (
            Often,
            "ERROR: The median and mean for the {:word} time are more than twice the standard \
                 deviation apart. These results are NOT reliable.",
        ),
        (Part, "Percentage of the requests served within a certain time (ms)"),
        // The median above is another one: ab averages the two in the middle.
        (Row, "{*:percentile}% {=latency_ns_*:ms} ({:word} request)"),
        (Row, "{*:percentile}% {=latency_ns_*:ms} (total of all requests)"),
        (Row, "{*:percentile}% {=latency_ns_*:ms} (never)"),
        (Row, "{*:percentile}% {=latency_ns_*:ms}"),
        (Often, "apr_socket_recv: {:rest}({:}){errors:line}"),
        (Often, "apr_socket_connect(): {:rest}({:}){errors:line}"),
        (Often, "apr_pollset_poll: {:rest}({:}){errors:line}"),
        (Often, "apr_poll: {:rest}({:}){errors:line}"),
        (Often, "apr_sockaddr_info_get() for {:rest}({:}){errors:line}"),
        (Often, "Test aborted after 10 failures{errors:line}"),
        (Part, "Total of {completed} requests completed"),
    ],
    ignores: &[
        "<$Revision",
        "&lt;$Revision",
        "Copyright ",
        "Licensed to The Apache",
        "Completed ",
        "Finished ",
        "done",
        "Send request failed!",
        "Send request timed out!",
        "SSL handshake failed",
        "LOG: Response code",
        "WARNING: Response code not 2xx",
        "Server Temp Key:",
        "TLS Server Name:",
        "Number of workers:",
        "Concurrency achieved:",
        "Rampup delay:",
        "Number of requests:",
        "Keep-Alive aborts:",
        "Connection Times (ms)",
        // ab 1.3 misspelled it.
        "Connnection Times (ms)",
        "min ",
    ],
    called: Called::Before(&["ab"]),
    complete,
};

const CONNECT: &str = "Connect: {connect_ns_min:ms} {connect_ns_mean:ms} {connect_ns_sd:ms} {connect_ns_p50:ms} {connect_ns_max:ms}{:end}";

/// Puts the URL together. Without figures, failures and the tool's banner, it was no report.
fn complete(draft: &mut Draft) -> bool {
    let is_tls = draft.has("SSL/TLS Protocol");
    let port = draft.reading.figures.remove("port");
    draft.reading.url = None;
    if let (Some(host), Some(path)) = (draft.texts.get("host"), draft.texts.get("path"))
        && path.starts_with('/')
    {
        let (scheme, usual) = if is_tls { ("https", 443.0) } else { ("http", 80.0) };
        let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
        draft.reading.url = port.map(|port| {
            let port = if port == usual { String::new() } else { format!(":{}", port as u64) };
            format!("{scheme}://{host}{port}{path}")
        });
    }
    let reading = &mut draft.reading;
    // An answer with another status mostly has another length, too.
    failures::add_statuses(reading, Some("length"));
    !reading.figures.is_empty() || !reading.errors.is_empty() || reading.version.is_some()
}

/// ab's text with a space in place of each byte of ab's HTML tags, so that positions stay the same.
pub fn without_tags(text: &str) -> Cow<'_, str> {
    let has_tags = |line: &str| ["</t", "<t", "<br>", "<p>", "</p>"].iter().any(|tag| line.contains(tag));
    if !has_tags(text) {
        return Cow::Borrowed(text);
    }
    let mut bare = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        if !has_tags(line) {
            bare.push_str(line);
            continue;
        }
        let mut is_tag = false;
        for c in line.replace("&nbsp;", "      ").chars() {
            is_tag |= c == '<';
            if is_tag && c != '\n' {
                bare.extend(std::iter::repeat_n(' ', c.len_utf8()));
            } else {
                bare.push(c);
            }
            is_tag &= c != '>';
        }
    }
    Cow::Owned(bare)
}

#[cfg(test)]
mod tests {
    use super::without_tags;

    #[test]
    fn tags_leave_blanks_and_places() {
        let line = "<tr ><th >Total:</th><td bgcolor=\"ä\">é  0</td></tr>";
        let bare = without_tags(line);
        assert_eq!((bare.len(), bare.find("é  0")), (line.len(), line.find("é  0")));
        assert_eq!(bare.split_whitespace().collect::<Vec<_>>(), ["Total:", "é", "0"]);
    }
}
