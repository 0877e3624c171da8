//! Memory that grows with every answer, in words.

use model::findings::{ContenderFindings, Figure};

const KIB: f64 = 1024.0;

/// `B's memory grows by 1.02 KiB per answer, 95 % 0.98–1.07`; `None` where that is not certain.
pub(crate) fn sentence(c: &ContenderFindings) -> Option<String> {
    let growth = c.in_heats.memory_growth_bytes_per_answer?;
    let Figure { median, low: Some(low), high: Some(high) } = growth else { return None };
    if low <= 0.0 || !high.is_finite() {
        return None;
    }
    let (unit, bytes) = match median {
        n if n < KIB => ("B", 1.0),
        n if n < KIB * KIB => ("KiB", KIB),
        _ => ("MiB", KIB * KIB),
    };
    let decimals = match median / bytes {
        n if n < 0.1 => 4,
        n if n < 10.0 => 2,
        n if n < 100.0 => 1,
        _ => 0,
    };
    let [by, low, high] = [median, low, high].map(|n| format!("{:.decimals$}", n / bytes));
    Some(format!("{}'s memory grows by {by} {unit} per answer, 95 % {low}–{high}", c.name))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;
    use model::findings::ContenderInHeats;
    use serde_json::{from_value, json};

    fn sentence_of(median: f64, interval: Option<(f64, f64)>) -> Option<String> {
        let known = json!({
            "name": "B", "title": "./b", "trials": 6, "void": 0, "failed": 0, "errors": 0, "notes": [],
            "in_heats": ContenderInHeats::default()
        });
        let c: ContenderFindings = from_value(known).unwrap();
        let (low, high) = interval.unzip();
        let memory_growth_bytes_per_answer = Some(Figure { median, low, high });
        sentence(&ContenderFindings {
            in_heats: ContenderInHeats { memory_growth_bytes_per_answer, ..c.in_heats },
            ..c
        })
    }

    #[test]
    fn only_what_certainly_grows_is_told_with_its_unit() {
        let words = |median, low, high| sentence_of(median, Some((low, high))).unwrap_or_default();
        assert_eq!(
            words(1044.48, 1003.52, 1095.68),
            "B's memory grows by 1.02 KiB per answer, 95 % 0.98–1.07"
        );
        assert_eq!(words(16.04, 15.2, 17.0), "B's memory grows by 16.0 B per answer, 95 % 15.2–17.0");
        assert_eq!(words(0.02, 0.01, 0.03), "B's memory grows by 0.0200 B per answer, 95 % 0.0100–0.0300");
        assert!(words(3e6, 2.9e6, 3.1e6).contains(" 2.86 MiB per answer"));
        assert_eq!(
            [words(5.0, -1.0, 11.0), words(-5.0, -7.0, -3.0), words(5.0, 4.0, f64::NAN)],
            ["", "", ""]
        );
        assert_eq!(sentence_of(5.0, None), None);
    }
}
