//! Numbers as wrk writes and reads them, with units. From 0.85 of the next larger unit on, that unit is used.

/// The factor from each unit to the next, and the units' names.
struct Units {
    scale: u64,
    base: &'static str,
    /// The last unit is read, but never written.
    above: &'static [&'static str],
}

const TIME_US: Units = Units { scale: 1000, base: "us", above: &["ms", "s"] };
const TIME_S: Units = Units { scale: 60, base: "s", above: &["m", "h"] };
const BINARY: Units = Units { scale: 1024, base: "", above: &["K", "M", "G", "T", "P"] };
const METRIC: Units = Units { scale: 1000, base: "", above: &["k", "M", "G", "T", "P"] };

fn format(value: f64, units: &Units, decimals: usize) -> String {
    let (mut value, mut unit) = (value, units.base);
    for next in &units.above[..units.above.len() - 1] {
        if value < units.scale as f64 * 0.85 {
            break;
        }
        value /= units.scale as f64;
        unit = next;
    }
    format!("{value:.decimals$}{unit}")
}

/// Microseconds.
pub fn time_us(us: f64) -> String {
    if us >= 1e6 { format(us / 1e6, &TIME_S, 2) } else { format(us, &TIME_US, 2) }
}

/// Whole seconds or minutes.
pub fn time_s(seconds: u64) -> String {
    format(seconds as f64, &TIME_S, 0)
}

/// Bytes, without the B.
pub fn binary(bytes: f64) -> String {
    format(bytes, &BINARY, 2)
}

/// A number with steps of 1,000.
pub fn metric(number: f64) -> String {
    format(number, &METRIC, 2)
}

/// A value in a column of this width. Spaces after it stand for missing letters of a two-letter unit.
pub fn column(value: &str, width: usize) -> String {
    let is_letter = |back: usize| {
        value.len().checked_sub(back).is_some_and(|at| value.as_bytes()[at].is_ascii_alphabetic())
    };
    let pad = 2 - usize::from(is_letter(1)) - usize::from(is_letter(2));
    let width = width - pad;
    format!("{:>width$}{:pad$}", &value[..value.len().min(width)], "")
}

/// A whole number with or without a unit, from a command line.
fn scan(text: &str, units: &Units) -> Option<u64> {
    let text = text.trim_start();
    let digits = text.strip_prefix('+').unwrap_or(text);
    let length = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let (number, unit) = digits.split_at(length);
    if number.is_empty() {
        return None;
    }
    // A number that is too large becomes the largest number.
    let number: u64 = number.parse().unwrap_or(u64::MAX);
    let unit: String = unit.trim_start().chars().take_while(|c| !c.is_whitespace()).take(2).collect();
    if unit.is_empty() || unit.eq_ignore_ascii_case(units.base) {
        return Some(number);
    }
    let at = units.above.iter().position(|name| unit.eq_ignore_ascii_case(name))?;
    Some(number.wrapping_mul(units.scale.pow(at as u32 + 1)))
}

/// Reads a time such as `2`, `2s`, `2m` or `2h`, in seconds.
pub fn scan_time(text: &str) -> Option<u64> {
    scan(text, &TIME_S)
}

/// Reads a number such as `2`, `2k` or `2M`.
pub fn scan_metric(text: &str) -> Option<u64> {
    scan(text, &METRIC)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_change_at_85_hundredths_of_the_next() {
        let cases = [
            (0.0, "0.00us"),
            (635.914, "635.91us"),
            (849.99, "849.99us"),
            (850.0, "0.85ms"),
            (999_999.0, "1000.00ms"),
            (1e6, "1.00s"),
            (50.99e6, "50.99s"),
            (51e6, "0.85m"),
            (7.2e9, "120.00m"),
        ];
        assert_eq!(cases.map(|(us, _)| time_us(us)), cases.map(|(_, text)| text));
        assert_eq!([1, 50, 51, 90, 7200].map(time_s), ["1s", "50s", "1m", "2m", "120m"]);
        assert_eq!([0.0, 870.0, 871.0, 1e15].map(binary), ["0.00", "870.00", "0.85K", "909.49T"]);
        assert_eq!([9.33, 849.0, 850.0, 56_200.0].map(metric), ["9.33", "849.00", "0.85k", "56.20k"]);
    }

    #[test]
    fn columns_end_where_units_do() {
        let of = |value: &str| column(value, 8);
        assert_eq!(
            ["635.91us", "1.00s", "56.20k", "9.33"].map(of),
            ["635.91us", "  1.00s ", " 56.20k ", "  9.33  "]
        );
    }

    #[test]
    fn numbers_of_command_lines() {
        let times = ["2", "2s", "2S", "2m", "2h", " 2 m", "+2", "2x", "2ms", "m", "", "-2"];
        let seconds = [
            Some(2),
            Some(2),
            Some(2),
            Some(120),
            Some(7200),
            Some(120),
            Some(2),
            None,
            None,
            None,
            None,
            None,
        ];
        assert_eq!(times.map(scan_time), seconds);
        assert_eq!(
            ["1k", "1K", "3M", "1kb", "1s"].map(scan_metric),
            [Some(1000), Some(1000), Some(3_000_000), None, None]
        );
    }
}
