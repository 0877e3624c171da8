//! The files that ab writes: percentiles for a spreadsheet (`-e`), every request for gnuplot (`-g`).

use super::times::{Times, ms};
use crate::moment::Moment;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The percentiles 0 to 100, one per line; `sorted` has the shortest time first.
pub fn csv(sorted: &[Times]) -> String {
    let mut text = "Percentage served,Time in ms\n".to_owned();
    let last = sorted.len().saturating_sub(1);
    for percent in 0..=100 {
        let at = match percent {
            0 => 0,
            100 => last,
            // With few requests, ab reads past the end of its array here.
            _ => ((0.5 + sorted.len() as f64 * f64::from(percent) / 100.0) as usize).min(last),
        };
        let total = sorted.get(at).map_or(0, |times| times.total);
        text.push_str(&format!("{percent},{:.3}\n", total as f64 / 1000.0));
    }
    text
}

/// One line per request. `begun` is when the first of them began.
pub fn gnuplot(sorted: &[Times], begun: SystemTime) -> String {
    let mut text = "starttime\tseconds\tctime\tdtime\tttime\twait\n".to_owned();
    let first_ns = sorted.iter().map(|times| times.start_ns).min().unwrap_or(0);
    for times in sorted {
        let start = begun + Duration::from_nanos(times.start_ns - first_ns);
        let seconds = start.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let row = [seconds, ms(times.connect), ms(times.processing()), ms(times.total), ms(times.wait)];
        text.push_str(&Moment::at(seconds).as_ctime());
        row.iter().for_each(|number| text.push_str(&format!("\t{number}")));
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_a_hundred_and_one() {
        let times = |total| Times { total, ..Times::default() };
        let text = csv(&(1..=200).map(|n| times(n * 1000)).collect::<Vec<_>>());
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 102);
        assert_eq!(
            [lines[1], lines[2], lines[51], lines[101]],
            ["0,1.000", "1,3.000", "50,101.000", "100,200.000"]
        );
        assert_eq!(csv(&[times(7)]).lines().last(), Some("100,0.007"));
    }

    #[test]
    fn requests_begin_when_they_began() {
        let times = [
            Times { start_ns: 5_000_000_000, connect: 1500, total: 4000, wait: 600 },
            Times { start_ns: 3_000_000_000, connect: 0, total: 9000, wait: 0 },
        ];
        let text = gnuplot(&times, UNIX_EPOCH + Duration::from_secs(1_795_269_223));
        let expected = "starttime\tseconds\tctime\tdtime\tttime\twait\n\
                        Sat Nov 21 13:53:45 2026\t1795269225\t2\t3\t4\t1\n\
                        Sat Nov 21 13:53:43 2026\t1795269223\t0\t9\t9\t0\n";
        assert_eq!(text, expected);
    }
}
