//! The names of a page's figures: a page uses its tool's names (`response_time_s`), drome its own (`latency_ns_mean`). A name that this
//! file does not know has no measured counterpart, and its study must say why.

/// The name of a page's figure in drome, and the factor from the page's unit to drome's.
#[derive(Clone, Debug, PartialEq)]
pub struct Counterpart {
    /// The name as in a reading ([`crate::Reading::figures`]).
    pub name: String,
    /// The factor: one of the page's units in drome's unit.
    pub unit: f64,
}

const KIB: f64 = 1024.0;
const MIB: f64 = 1_048_576.0;

/// Figures that consist of one number.
const SINGLE: [(&str, &str, f64); 32] = [
    ("document_bytes", "document_bytes", 1.0),
    ("connections", "connections", 1.0),
    ("concurrency", "concurrency", 1.0),
    ("duration_s", "duration_ns", 1e9),
    ("elapsed_s", "duration_ns", 1e9),
    ("seconds", "duration_ns", 1e9),
    ("total_bytes", "received_bytes", 1.0),
    ("html_bytes", "body_bytes", 1.0),
    ("bytes", "body_bytes", 1.0),
    ("data_mb", "body_bytes", MIB),
    ("rate_per_s", "rate_per_s", 1.0),
    ("time_per_request_ms", "time_per_request_ns", 1e6),
    ("time_per_request_over_all_ms", "time_per_request_over_all_ns", 1e6),
    ("transfer_kib_per_s", "received_bytes_per_s", KIB),
    ("transfer_mib_per_s", "received_bytes_per_s", MIB),
    ("throughput_mb_per_s", "body_bytes_per_s", MIB),
    ("bytes_per_s", "body_bytes_per_s", 1.0),
    ("mean_bytes", "mean_body_bytes", 1.0),
    ("status_200", "status_200", 1.0),
    ("hits", "completed", 1.0),
    ("fetches", "completed", 1.0),
    ("requests", "completed", 1.0),
    ("successful", "successful", 1.0),
    ("failed", "failed", 1.0),
    ("timeouts", "timeouts", 1.0),
    ("availability_percent", "availability_percent", 1.0),
    ("response_time_s", "latency_ns_mean", 1e9),
    ("latency_mean_ms", "latency_ns_mean", 1e6),
    ("longest_s", "latency_ns_max", 1e9),
    ("shortest_s", "latency_ns_min", 1e9),
    ("virt_mb", "virtual_bytes", MIB),
    ("res_mb", "rss_bytes", MIB),
];

/// Tables of times in milliseconds: `connect_ms_min` and the like.
const TIMES: [(&str, &str); 6] = [
    ("connect_ms_", "connect_ns_"),
    ("waiting_ms_", "first_byte_ns_"),
    ("first_response_ms_", "first_byte_ns_"),
    ("processing_ms_", "service_ns_"),
    ("total_ms_", "latency_ns_"),
    ("percentiles_ms_", "latency_ns_"),
];

/// Finds drome's name of a page's figure; `None`: nothing that is measured here is the same.
pub fn counterpart(figure: &str) -> Option<Counterpart> {
    if let Some((_, name, unit)) = SINGLE.iter().find(|(theirs, _, _)| *theirs == figure) {
        return Some(Counterpart { name: (*name).to_owned(), unit: *unit });
    }
    let (of, moment) = TIMES.iter().find_map(|(theirs, ours)| Some((ours, figure.strip_prefix(theirs)?)))?;
    let moment = match moment {
        "median" => "p50",
        "p100" => "max",
        "min" | "mean" | "sd" | "max" => moment,
        percentile => percentile.strip_prefix('p')?.parse::<u8>().ok().map(|_| percentile)?,
    };
    Some(Counterpart { name: format!("{of}{moment}"), unit: 1e6 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pages_name_is_a_figure_of_drome_and_its_unit() {
        let cases = [
            ("response_time_s", Some(("latency_ns_mean", 1e9))),
            ("connect_ms_median", Some(("connect_ns_p50", 1e6))),
            ("percentiles_ms_p100", Some(("latency_ns_max", 1e6))),
            ("percentiles_ms_p66", Some(("latency_ns_p66", 1e6))),
            ("transfer_mib_per_s", Some(("received_bytes_per_s", 1_048_576.0))),
            ("total_ms_most", None),
            ("total_ms_px", None),
            ("horsepower", None),
        ];
        for (figure, expected) in cases {
            let found = counterpart(figure);
            assert_eq!(found.as_ref().map(|c| (c.name.as_str(), c.unit)), expected, "{figure}");
        }
    }
}
