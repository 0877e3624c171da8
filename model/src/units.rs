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
