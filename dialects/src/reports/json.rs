//! Reports in JSON: which keys show whose report it is, and which figure each key is.

use super::set;
use super::tools::{counts, vegeta};
use crate::Found;
use crate::failures::{self, STATUS};
use crate::statistic::statistic;
use model::Reading;
use serde_json::Value;

/// The report of one tool in JSON. Keys of a path are separated by `/`; `*` is any key, which becomes part of the figure's name.
struct Json {
    tool: &'static str,
    /// Keys that only this tool's report has together.
    needs: &'static [&'static str],
    /// Paths, the figures that they are, and their factors to drome's units.
    fields: &'static [(&'static str, &'static str, f64)],
    /// The smallest time that the tool shows, in nanoseconds.
    resolution_ns: f64,
    complete: fn(&mut Reading),
}

/// Factors to nanoseconds.
const S: f64 = 1e9;
const MS: f64 = 1e6;
const US: f64 = 1e3;

const FORMATS: &[Json] = &[
    Json {
        tool: "oha",
        needs: &["summary/requestsPerSec", "summary/total"],
        fields: &[
            ("summary/total", "duration_ns", S),
            ("summary/slowest", "latency_ns_max", S),
            ("summary/fastest", "latency_ns_min", S),
            ("summary/average", "latency_ns_mean", S),
            ("summary/requestsPerSec", "rate_per_s", 1.0),
            ("summary/totalData", "body_bytes", 1.0),
            ("summary/sizePerRequest", "mean_body_bytes", 1.0),
            ("summary/sizePerSec", "body_bytes_per_s", 1.0),
            ("latencyPercentiles/*", "latency_ns_*", S),
            ("firstBytePercentiles/*", "first_byte_ns_*", S),
            ("details/DNSDialup/*", "connect_ns_*", S),
            ("details/firstByte/*", "first_byte_ns_*", S),
            ("statusCodeDistribution/*", "status.*", 1.0),
            ("errorDistribution/*", "errors.*", 1.0),
        ],
        resolution_ns: 1.0,
        complete: counts,
    },
    Json {
        tool: "autocannon",
        needs: &["requests/average", "latency/p97_5", "throughput/average", "non2xx"],
        fields: &[
            ("url", "url", 1.0),
            ("connections", "connections", 1.0),
            ("duration", "duration_ns", S),
            ("requests/average", "rate_per_s", 1.0),
            ("requests/*", "sampled_rate_per_s_*", 1.0),
            ("requests/total", "completed", 1.0),
            ("requests/sent", "sent", 1.0),
            ("latency/*", "latency_ns_*", MS),
            ("throughput/average", "received_bytes_per_s", 1.0),
            ("throughput/total", "received_bytes", 1.0),
            ("errors", "failed", 1.0),
            ("timeouts", "errors.timeout", 1.0),
            ("1xx", "status.1xx", 1.0),
            ("2xx", "status.2xx", 1.0),
            ("3xx", "status.3xx", 1.0),
            ("4xx", "status.4xx", 1.0),
            ("5xx", "status.5xx", 1.0),
        ],
        resolution_ns: MS,
        complete: no_more,
    },
    Json {
        tool: "bombardier",
        needs: &["spec/numberOfConnections", "result/rps/mean"],
        fields: &[
            ("spec/url", "url", 1.0),
            ("spec/numberOfConnections", "connections", 1.0),
            ("result/timeTakenSeconds", "duration_ns", S),
            ("result/rps/mean", "rate_per_s", 1.0),
            ("result/rps/*", "sampled_rate_per_s_*", 1.0),
            ("result/latency/*", "latency_ns_*", US),
            ("result/latency/percentiles/*", "latency_ns_*", US),
            ("result/bytesRead", "received_bytes", 1.0),
            ("result/bytesWritten", "sent_bytes", 1.0),
            ("result/req1xx", "status.1xx", 1.0),
            ("result/req2xx", "status.2xx", 1.0),
            ("result/req3xx", "status.3xx", 1.0),
            ("result/req4xx", "status.4xx", 1.0),
            ("result/req5xx", "status.5xx", 1.0),
            ("result/others", "errors.others", 1.0),
        ],
        resolution_ns: US,
        complete: counts,
    },
    Json {
        tool: "vegeta",
        needs: &["latencies/mean", "latencies/max", "status_codes", "success"],
        fields: &[
            ("duration", "duration_ns", 1.0),
            ("requests", "requests", 1.0),
            ("rate", "sent_per_s", 1.0),
            ("throughput", "rate_per_s", 1.0),
            ("success", "success_percent", 100.0),
            ("latencies/*", "latency_ns_*", 1.0),
            ("bytes_in/total", "body_bytes", 1.0),
            ("bytes_in/mean", "mean_body_bytes", 1.0),
            ("bytes_out/total", "sent_bytes", 1.0),
            ("status_codes/*", "status.*", 1.0),
        ],
        resolution_ns: 1.0,
        complete: vegeta,
    },
    Json {
        tool: "k6",
        needs: &["metrics/http_req_duration", "metrics/http_reqs"],
        fields: &[
            ("state/testRunDurationMs", "duration_ns", MS),
            ("metrics/http_reqs/count", "completed", 1.0),
            ("metrics/http_reqs/rate", "rate_per_s", 1.0),
            ("metrics/http_reqs/values/count", "completed", 1.0),
            ("metrics/http_reqs/values/rate", "rate_per_s", 1.0),
            ("metrics/http_req_duration/*", "latency_ns_*", MS),
            ("metrics/http_req_duration/values/*", "latency_ns_*", MS),
            ("metrics/http_req_waiting/*", "first_byte_ns_*", MS),
            ("metrics/http_req_waiting/values/*", "first_byte_ns_*", MS),
            ("metrics/http_req_connecting/*", "connect_ns_*", MS),
            ("metrics/http_req_connecting/values/*", "connect_ns_*", MS),
            // What passes this metric has failed.
            ("metrics/http_req_failed/passes", "failed", 1.0),
            ("metrics/http_req_failed/values/passes", "failed", 1.0),
            ("metrics/data_received/count", "received_bytes", 1.0),
            ("metrics/data_received/rate", "received_bytes_per_s", 1.0),
            ("metrics/data_received/values/count", "received_bytes", 1.0),
            ("metrics/data_received/values/rate", "received_bytes_per_s", 1.0),
            ("metrics/vus_max/value", "virtual_users", 1.0),
            ("metrics/vus_max/values/value", "virtual_users", 1.0),
        ],
        resolution_ns: 1.0,
        complete: no_more,
    },
    Json {
        tool: "zrk",
        needs: &["zrk_version", "achieved_rate"],
        fields: &[
            ("zrk_version", "version", 1.0),
            ("target/url", "url", 1.0),
            ("config/connections", "connections", 1.0),
            ("config/target_rate", "offered_rate_per_s", 1.0),
            ("duration_s", "duration_ns", S),
            ("requests", "completed", 1.0),
            ("bytes", "received_bytes", 1.0),
            ("achieved_rate", "rate_per_s", 1.0),
            ("bytes_per_sec", "received_bytes_per_s", 1.0),
            ("latency_us/*", "latency_ns_*", US),
            ("status_codes/*", "status.*", 1.0),
            ("errors/*", "errors.*", 1.0),
        ],
        resolution_ns: US,
        complete: of_zrk,
    },
    Json {
        tool: "gcannon",
        needs: &["pipeline_depth", "rps", "latency_us/p50"],
        fields: &[
            ("target", "url", 1.0),
            ("connections", "connections", 1.0),
            ("threads", "threads", 1.0),
            ("elapsed_sec", "duration_ns", S),
            ("requests", "sent", 1.0),
            ("responses", "completed", 1.0),
            ("rps", "rate_per_s", 1.0),
            ("bandwidth_bps", "received_bytes_per_s", 1.0),
            ("bytes_read", "received_bytes", 1.0),
            ("latency_us/*", "latency_ns_*", US),
            ("status/*", "status.*", 1.0),
            ("errors/*", "errors.*", 1.0),
            ("reconnects", "reconnects", 1.0),
        ],
        resolution_ns: US,
        complete: no_more,
    },
];

fn no_more(_: &mut Reading) {}

/// Its errors include the answers with a status of failure.
fn of_zrk(reading: &mut Reading) {
    if let Some(count) = reading.errors.remove("non_2xx_3xx") {
        reading.errors.insert(STATUS.to_owned(), count);
    }
}

/// The tool's reports in JSON in a text.
pub fn read(text: &str, tool: &str) -> Vec<Found> {
    let Some(format) = FORMATS.iter().find(|format| format.tool == tool) else { return Vec::new() };
    // A search for keys costs less than parsing every object.
    let mut keys = format.needs.iter().filter_map(|path| path.rsplit('/').next());
    if !keys.all(|key| text.contains(&format!("\"{key}\""))) {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find('{').map(|next| at + next) {
        at = start + 1;
        if !text[at..].trim_start().starts_with('"') {
            continue;
        }
        let mut stream = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
        if let Some(Ok(value)) = stream.next()
            && format.needs.iter().all(|path| value.pointer(&format!("/{path}")).is_some())
        {
            let end = start + stream.byte_offset();
            found.push(Found { at: start..end, reading: format.reading(&value), strange: Vec::new() });
            at = end;
        }
    }
    found
}

impl Json {
    fn reading(&self, value: &Value) -> Reading {
        let mut reading = Reading::of(self.tool);
        for (path, name, factor) in self.fields {
            match path.strip_suffix("/*") {
                None => self.put(&mut reading, name, value.pointer(&format!("/{path}")), *factor),
                Some(of) => {
                    let all = value.pointer(&format!("/{of}")).and_then(Value::as_object);
                    for (key, value) in all.into_iter().flatten() {
                        let is_count = name.starts_with("status.") || name.starts_with("errors.");
                        let key = if is_count { Some(key.clone()) } else { statistic(key) };
                        let Some(key) = key else { continue };
                        self.put(&mut reading, &name.replace('*', &key), Some(value), *factor);
                    }
                }
            }
        }
        (self.complete)(&mut reading);
        failures::add_statuses(&mut reading, None);
        reading
    }

    fn put(&self, reading: &mut Reading, name: &str, value: Option<&Value>, factor: f64) {
        match (name, value) {
            ("url", Some(Value::String(words))) => reading.url = Some(words.clone()),
            ("version", Some(Value::String(words))) => reading.version = Some(words.clone()),
            (_, Some(Value::Number(number))) => {
                if let Some(number) = number.as_f64().filter(|number| *number >= 0.0) {
                    set(reading, name, number * factor, self.resolution_ns);
                }
            }
            _ => {}
        }
    }
}
