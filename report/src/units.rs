//! Numbers for people: three or four significant digits, a fitting unit, a dash for unknown values.

use model::findings::Figure;
use model::units::in_units;
pub use model::units::{UNKNOWN, bytes, count};

/// A duration in nanoseconds: `870 ns`, `12.3 µs`, `4.56 ms`, `1.20 s`.
pub fn duration(ns: f64) -> String {
    in_units(ns, ["ns", "µs", "ms", "s"])
}

/// A difference of durations in nanoseconds: `+2.61 µs`, `−312 ns`.
pub fn signed(ns: f64) -> String {
    format!("{}{}", if ns < 0.0 { "−" } else { "+" }, duration(ns.abs()))
}

/// The smallest time that a report can show, for a figure that is below it: `< 1 ms`.
pub fn below(ns: f64) -> String {
    format!("< {}", without_zeros(&duration(ns)))
}

/// A number, which may have a unit, without trailing zeros: `5 ms` for `5.00 ms`.
pub(crate) fn without_zeros(text: &str) -> String {
    let (number, unit) = text.split_at(text.find(' ').unwrap_or(text.len()));
    let number =
        if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number };
    format!("{number}{unit}")
}

/// A rate: whole numbers with commas, one decimal below a hundred.
pub fn rate(per_s: f64) -> String {
    match per_s {
        n if !n.is_finite() => UNKNOWN.to_owned(),
        n if n < 99.95 => format!("{n:.1}"),
        n => count(n.round() as u64),
    }
}

/// A rate of requests with its unit: `1,500 requests/s`.
pub fn requests_per_s(per_s: f64) -> String {
    format!("{} requests/s", rate(per_s))
}

/// A count with its noun: `1 block`, `1,000 blocks`.
pub fn several(n: usize, one: &str) -> String {
    format!("{} {one}{}", count(n as u64), if n == 1 { "" } else { "s" })
}

/// `a, b and c`
pub(crate) fn listed(names: &[&str]) -> String {
    joined(names, "and")
}

/// `a, b and 3 others`: at most `most` entries.
pub(crate) fn listed_up_to(names: &[&str], most: usize) -> String {
    match names.get(..most - 1) {
        Some(first) if names.len() > most => {
            format!("{} and {} others", first.join(", "), names.len() - first.len())
        }
        _ => listed(names),
    }
}

/// `a, b or c`, with this word before the last.
pub fn joined(names: &[impl AsRef<str>], word: &str) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match names[..] {
        [] => String::new(),
        [one] => one.to_owned(),
        [ref most @ .., last] => format!("{} {word} {last}", most.join(", ")),
    }
}

/// CPUs by number: `0-3,8`.
pub fn cores(cpus: &[usize]) -> String {
    if cpus.is_empty() { "unknown".to_owned() } else { model::environment::cpu_ranges(cpus) }
}

/// A share that someone chose, as a percentage: `2 %`, `0.5 %`.
pub fn share(share: f64) -> String {
    format!("{} %", (share * 1e6).round() / 1e4)
}

/// A share as a percentage with one decimal.
pub fn percent(share: f64) -> String {
    if share.is_finite() { format!("{:.1} %", share * 100.0) } else { UNKNOWN.to_owned() }
}

/// A noise floor: the share below which differences cannot be detected. With few starts it is shown as a factor, and a very
/// large one without a number, which would be a mere guess.
pub fn noise_floor(share: f64) -> String {
    match share {
        x if x < 1.0 || !x.is_finite() => percent(x),
        x if x < 9.0 => format!("a factor of {:.1}", 1.0 + x),
        _ => "more than a factor of 10".to_owned(),
    }
}

/// A ratio, with about three significant digits: `0.000046`, `0.0580`, `1.040`, `138`, `14,000`.
pub fn ratio(x: f64) -> String {
    match x {
        x if !x.is_finite() => UNKNOWN.to_owned(),
        x if x < 0.001 => small(x),
        x if x < 0.09995 => format!("{x:.4}"),
        x if x < 9.9995 => format!("{x:.3}"),
        x if x < 99.95 => format!("{x:.1}"),
        x => {
            let last = 10_f64.powf((x.log10().floor() - 2.0).max(0.0));
            count(((x / last).round() * last) as u64)
        }
    }
}

/// A ratio below 1 with two significant digits, however small it is.
fn small(x: f64) -> String {
    let decimals = if x > 0.0 { (1.0 - x.log10().floor()).min(17.0) as usize } else { 1 };
    format!("{x:.decimals$}")
}

/// A measured figure as a multiple of the published one: `0.0031 ×`, `0.052 ×`, `1.25 ×`, `118 ×`.
pub fn times(times: f64) -> String {
    match times {
        x if !x.is_finite() => UNKNOWN.to_owned(),
        x if x < 0.1 => format!("{} ×", small(x)),
        x if x < 9.995 => format!("{x:.2} ×"),
        x if x < 99.95 => format!("{x:.1} ×"),
        x => format!("{} ×", ratio(x)),
    }
}

/// A figure's interval, or a dash.
pub fn interval(figure: Option<Figure>, shown: impl Fn(f64) -> String) -> String {
    match figure.map(|f| (f.low, f.high)) {
        Some((Some(low), Some(high))) if low.is_finite() && high.is_finite() => {
            format!("{}–{}", shown(low), shown(high))
        }
        _ => UNKNOWN.to_owned(),
    }
}

/// A value, or a dash.
pub fn known<T>(value: Option<T>, shown: impl Fn(T) -> String) -> String {
    value.map_or_else(|| UNKNOWN.to_owned(), shown)
}

/// The text with a capital letter at its beginning.
pub fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_noise_floor_of_two_starts_is_no_number_of_eleven_digits() {
        let shown = [0.092, 1.218, 8.99, 291_890_949.7, f64::NAN].map(noise_floor);
        assert_eq!(shown, ["9.2 %", "a factor of 2.2", "a factor of 10.0", "more than a factor of 10", "–"]);
    }

    #[test]
    fn what_is_rounded_up_to_the_next_unit_is_in_it() {
        let durations =
            [999.4, 999.6, 9995.0, 99_950.0, 999_499.0, 999_600.0, 999.6e6, 999_600e9].map(duration);
        let expected = ["999 ns", "1.00 µs", "10.0 µs", "100 µs", "999 µs", "1.00 ms", "1.00 s", "999600 s"];
        assert_eq!(durations, expected);
        let sizes = [999.6, 999_600.0, 999.6e6, 9.996e6, 99.96e3].map(bytes);
        assert_eq!(sizes, ["1.00 kB", "1.00 MB", "1.00 GB", "10.0 MB", "100 kB"]);
        assert_eq!([99.94, 99.96, 999.6].map(rate), ["99.9", "100", "1,000"]);
        assert_eq!([0.099_96, 9.9996, 99.96, 999.6].map(ratio), ["0.100", "10.0", "100", "1,000"]);
        assert_eq!([9.996, 99.96].map(times), ["10.0 ×", "100 ×"]);
        assert_eq!(
            [1e6, 1e5, 1e4, 1.0, 1e7].map(below),
            ["< 1 ms", "< 100 µs", "< 10 µs", "< 1 ns", "< 10 ms"]
        );
        // However a value is rounded, it never has four digits before its unit.
        for exponent in -1..120 {
            let value = 10_f64.powf(f64::from(exponent) / 10.0) * 0.99999;
            for shown in [duration(value), bytes(value)] {
                let digits =
                    shown.split(' ').next().unwrap_or_default().split('.').next().unwrap_or_default().len();
                assert!(digits <= 3 || value > 9e11, "{value}: {shown}");
            }
        }
    }

    #[test]
    fn numbers_read_well() {
        let durations = [0.4, 870.0, 12_345.0, 999_999.0, 4_560_000.0, 1.2e9].map(duration);
        assert_eq!(durations, ["0 ns", "870 ns", "12.3 µs", "1.00 ms", "4.56 ms", "1.20 s"]);
        assert_eq!([0, 12, 999, 1000, 1_234_567].map(count), ["0", "12", "999", "1,000", "1,234,567"]);
        assert_eq!([17.63, 99.96, 351.49, 34_210.4].map(rate), ["17.6", "100", "351", "34,210"]);
        assert_eq!(
            [0.000_42, 0.0421, 0.421, 1.0, 12.5].map(ratio),
            ["0.00042", "0.0421", "0.421", "1.000", "12.5"]
        );
        assert_eq!([several(1, "block"), several(1200, "block")], ["1 block", "1,200 blocks"]);
        assert_eq!([cores(&[]), cores(&[0, 2])], ["unknown", "0,2"]);
        assert_eq!(bytes(3_200_000.0), "3.20 MB");
        for x in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!([duration(x), bytes(x), rate(x), percent(x), ratio(x)], [UNKNOWN; 5]);
            assert_eq!(interval(Some(Figure { median: x, low: Some(x), high: Some(x) }), rate), UNKNOWN);
        }
        assert_eq!(interval(Some(Figure { median: 1.0, low: None, high: None }), rate), "–");
    }
}
