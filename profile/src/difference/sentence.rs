//! A difference in one sentence.

use super::{Difference, Row};

/// Each server was sampled in one start, and two starts of one program differ by about this share. A smaller difference between exact
/// times is told as what it is, and nothing explains it.
const STARTS_DIFFER: f64 = 0.01;

/// The sentence. It names the function that explains the difference, else the largest part, else says that there is none.
pub fn of(difference: &Difference) -> String {
    let (a, b, overall) = (&difference.a, &difference.b, &difference.overall);
    let how = if overall.difference_ns > 0.0 { "more" } else { "less" };
    if overall.is_exact() && overall.difference_ns.abs() < STARTS_DIFFER * overall.a_ns_per_answer {
        let by = time(overall.difference_ns);
        return format!(
            "{a} and {b} spend the same CPU time per answer, to within 1 % ({b} spends {by} {how})."
        );
    }
    if !overall.is_significant() {
        let margin = time(overall.margin_ns());
        return format!(
            "{a} and {b} spend the same CPU time per answer, within the error of sampling (±{margin})."
        );
    }
    let whole = format!("{b} spends {} {how} CPU time per answer than {a}", time(overall.difference_ns));
    let part = |row: &Row| time(row.change.difference_ns);
    if let Some(row) = difference.explanation() {
        let (frame, other) = (&row.frame, overall.difference_ns - row.change.difference_ns);
        // The rest may go in the other direction; then this part is larger than the whole.
        if other * overall.difference_ns < 0.0 {
            let opposite = if how == "more" { "less" } else { "more" };
            return format!("{whole}: {} {how} in {frame}, {} {opposite} elsewhere.", part(row), time(other));
        }
        return format!("{whole}, {} of it in {frame}.", part(row));
    }
    match difference.largest_part() {
        Some(row) => {
            format!("{whole}, in many functions; the largest part is {} in {}.", part(row), row.frame)
        }
        None => format!("{whole}, in many functions."),
    }
}

/// A time with a unit, without its sign.
fn time(ns: f64) -> String {
    match ns.abs() {
        ns if ns < 999.5 => format!("{ns:.0} ns"),
        ns if ns < 999_950.0 => format!("{:.1} µs", ns / 1e3),
        ns if ns < 999_950_000.0 => format!("{:.1} ms", ns / 1e6),
        ns => format!("{:.1} s", ns / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::time;

    #[test]
    fn times_have_the_unit_that_suits_them() {
        assert_eq!([0.0, -999.0, 999.9, 4_100.0].map(time), ["0 ns", "999 ns", "1.0 µs", "4.1 µs"]);
        let times = [999_949.0, 1_250_000.0, 999_949_000.0, 999_960_000.0].map(time);
        assert_eq!(times, ["999.9 µs", "1.2 ms", "999.9 ms", "1.0 s"]);
    }
}
