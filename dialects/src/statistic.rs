//! Names of statistics, as reports and people write them.

/// The name of a statistic: `p99` for `p99`, `99%`, `99th`, `p(99)`; `mean` for `avg`. `None` for others, such as counts.
pub(crate) fn statistic(word: &str) -> Option<String> {
    let word = word.trim().to_ascii_lowercase();
    let known = match word.as_str() {
        "avg" | "average" | "mean" => "mean",
        "med" | "median" => "p50",
        "stdev" | "stddev" | "sd" => "sd",
        "min" | "fastest" => "min",
        "max" | "slowest" | "100" | "100%" | "p100" => "max",
        _ => "",
    };
    if !known.is_empty() {
        return Some(known.to_owned());
    }
    let digits = word.trim_start_matches('p').trim_start_matches('(');
    let digits = digits.trim_end_matches([')', '%']).trim_end_matches("th").replace('_', ".");
    if ["999", "9999", "99999"].contains(&digits.as_str()) {
        return Some(format!("p{digits}"));
    }
    let share: f64 = digits.parse().ok().filter(|share| (1.0..100.0).contains(share))?;
    // As a name, 2.5 % would be 25 %.
    (share >= 90.0 || share.fract() == 0.0).then(|| percentile(share))
}

/// `p99`, `p999` for 99.9, `p9999` for 99.99.
fn percentile(share: f64) -> String {
    format!("p{share}").replace('.', "")
}
