//! Numbers in words, as far as facts about machines need them: three digits and a fitting unit.

/// The mark for an unknown figure.
pub const UNKNOWN: &str = "–";

/// A value in the unit in which it has at most three digits before the point, as it is rounded.
pub fn in_units(value: f64, units: [&str; 4]) -> String {
    if !value.is_finite() {
        return UNKNOWN.to_owned();
    }
    let (mut value, mut nth) = (value, 0);
    // Below the last unit's 1,000, no rounded value may reach 1,000.
    while value.abs() >= 999.5 && nth + 1 < units.len() {
        value /= 1e3;
        nth += 1;
    }
    let number = if nth == 0 { format!("{value:.0}") } else { figures(value) };
    format!("{number} {}", units[nth])
}

/// Bytes in SI units: `512 B`, `3.20 MB`.
pub fn bytes(n: f64) -> String {
    in_units(n, ["B", "kB", "MB", "GB"])
}

/// A count with commas.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn figures(x: f64) -> String {
    match x {
        x if x < 9.995 => format!("{x:.2}"),
        x if x < 99.95 => format!("{x:.1}"),
        x => format!("{x:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_has_a_comma_before_every_three_digits() {
        let texts = [0, 7, 999, 1_000, 123_456, 1_234_567].map(count);
        assert_eq!(texts, ["0", "7", "999", "1,000", "123,456", "1,234,567"]);
    }

    #[test]
    fn bytes_have_three_digits_and_no_rounded_thousand_but_of_the_last_unit() {
        let texts = [0.0, 512.0, 999.4, 999.6, 3_204_000.0, 99_960.0, 5e12, f64::NAN].map(bytes);
        assert_eq!(texts, ["0 B", "512 B", "999 B", "1.00 kB", "3.20 MB", "100 kB", "5000 GB", "–"]);
    }
}
