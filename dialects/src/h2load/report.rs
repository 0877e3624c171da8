//! h2load's report: its statistics, and how it writes numbers.

use model::{Errors, Tally};
use stats::random;

/// The number of samples that are kept of each kind. Of more, a random choice.
const MOST_SAMPLES: usize = 1_000_000;

/// Samples of one kind: seconds, or requests per second.
#[derive(Debug, Default)]
pub struct Samples {
    kept: Vec<f64>,
    count: u64,
}

impl Samples {
    /// Adds a sample; once there are too many, in the place of one that chance chooses (reservoir sampling).
    pub fn add(&mut self, sample: f64) {
        self.count += 1;
        if self.kept.len() < MOST_SAMPLES {
            self.kept.push(sample);
        } else {
            let at = (random::uniform(0, self.count) * self.count as f64) as usize;
            if let Some(place) = self.kept.get_mut(at) {
                *place = sample;
            }
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The row of the table: smallest, largest, mean and standard deviation as `write` writes them, and the share of the samples that
    /// lie within one standard deviation of the mean. Without samples, h2load's row is of zeros.
    fn row(&self, label: &str, write: fn(f64) -> String) -> String {
        let n = self.kept.len() as f64;
        let mean = self.kept.iter().sum::<f64>() / n.max(1.0);
        let squares: f64 = self.kept.iter().map(|sample| (sample - mean).powi(2)).sum();
        let sd = (squares / (n - 1.0).max(1.0)).sqrt();
        let is_within = |sample: &&f64| (mean - sd..=mean + sd).contains(*sample);
        let within_percent = self.kept.iter().filter(is_within).count() as f64 * 100.0 / n.max(1.0);
        let least = self.kept.iter().copied().reduce(f64::min).unwrap_or(0.0);
        let most = self.kept.iter().copied().reduce(f64::max).unwrap_or(0.0);
        let [least, most, mean, sd] = [least, most, mean, sd].map(write);
        let within = hundredths(within_percent);
        format!("{label}{least:>10}  {most:>10}  {mean:>10}  {sd:>10}{within:>9}%\n")
    }
}

/// The report, from its blank line on. `total`: the number of requests that were to be made, if it is known; `warm_up_ns`: how long the
/// load ran before the measurement; `times`: of requests, and of connections until they were open and until their first answer began. What
/// is not known, the bytes of header fields, has no figure.
pub fn report(tally: &Tally, total: Option<u64>, warm_up_ns: u64, times: &[Samples; 3]) -> String {
    let seconds = tally.duration_ns as f64 / 1e9;
    let per_s = |n: u64| if seconds > 0.0 { n as f64 / seconds } else { 0.0 };
    let class = |low: u16, high: u16| tally.status.range(low..=high).map(|(_, n)| n).sum::<u64>();
    let (done, succeeded) = (class(0, u16::MAX), class(0, 399));
    let Errors { connect, local, send, receive, timeout, protocol, .. } = tally.errors;
    let lost = connect + local + send + receive + timeout + protocol;
    let (received, data) = (tally.received_bytes, tally.body_bytes);
    let mut rates = Samples::default();
    tally.served.iter().for_each(|answers| rates.add(per_s(*answers)));
    let [requests, connects, first_bytes] = times;
    format!(
        "\nfinished in {}, {:.2} req/s, {}B/s\n\
         requests: {} total, {} started, {done} done, {succeeded} succeeded, {} failed, {lost} errored, \
         {timeout} timeout\n\
         status codes: {} 2xx, {} 3xx, {} 4xx, {} 5xx\n\
         traffic: {}B ({received}) total, B () headers (space savings %), {}B ({data}) data\n\
         {:21}min         max         mean         sd        +/- sd\n{}{}{}{}",
        time(((tally.duration_ns + warm_up_ns) / 1000) as f64 / 1e6),
        per_s(done),
        size(per_s(received) as u64),
        total.unwrap_or(done),
        tally.sent,
        done - succeeded + lost,
        class(200, 299),
        succeeded - class(200, 299),
        class(400, 499),
        class(500, 599),
        size(received),
        size(data),
        "",
        requests.row("time for request: ", time),
        connects.row("time for connect: ", time),
        first_bytes.row("time to 1st byte: ", time),
        rates.row("req/s           : ", |rate| format!("{rate:.2}")),
    )
}

/// Seconds with a unit: whole microseconds, or hundredths of milliseconds or of seconds.
fn time(seconds: f64) -> String {
    match seconds {
        1.0.. => hundredths(seconds) + "s",
        0.001..1.0 => hundredths(seconds * 1e3) + "ms",
        _ => format!("{}us", (seconds * 1e6) as u64),
    }
}

/// Bytes with the first letter of their unit, of which each is 1,024 of the one before.
fn size(bytes: u64) -> String {
    match bytes {
        0..0x400 => bytes.to_string(),
        0x400..0x10_0000 => hundredths(bytes as f64 / 1024.0) + "K",
        0x10_0000..0x4000_0000 => hundredths(bytes as f64 / 1_048_576.0) + "M",
        _ => hundredths(bytes as f64 / 1_073_741_824.0) + "G",
    }
}

/// Two decimals, halves rounded up.
fn hundredths(number: f64) -> String {
    let whole = (number * 100.0).round() as u64;
    format!("{}.{:02}", whole / 100, whole % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_units() {
        let times = [0.0, 0.000_301, 0.000_999_9, 0.001, 0.020_364, 0.999, 1.0, 75.125];
        assert_eq!(
            times.map(time),
            ["0us", "301us", "999us", "1.00ms", "20.36ms", "999.00ms", "1.00s", "75.13s"]
        );
        let sizes = [0, 1023, 1024, 30_400, 1_468_210, 1 << 30, 3 << 30];
        assert_eq!(sizes.map(size), ["0", "1023", "1.00K", "29.69K", "1.40M", "1.00G", "3.00G"]);
    }

    /// The deviation is that of a sample. h2load's own figures for these clients, from the report in `h2load_read.rs`.
    #[test]
    fn the_row_is_that_of_the_tool() {
        let mut samples = Samples::default();
        [269.37, 306.50, 269.40, 272.49].into_iter().for_each(|rate| samples.add(rate));
        let row = samples.row("req/s           : ", |rate| format!("{rate:.2}"));
        assert_eq!(row, "req/s           :     269.37      306.50      279.44       18.10    75.00%\n");
        let none = "time to 1st byte:        0us         0us         0us         0us     0.00%\n";
        assert_eq!(Samples::default().row("time to 1st byte: ", time), none);
    }

    #[test]
    fn of_too_many_samples_some_are_kept() {
        let mut samples = Samples::default();
        (0..3 * MOST_SAMPLES).for_each(|n| samples.add(n as f64));
        let mean = samples.kept.iter().sum::<f64>() / MOST_SAMPLES as f64;
        assert_eq!((samples.kept.len(), samples.count), (MOST_SAMPLES, 3 * MOST_SAMPLES as u64));
        assert!((mean / (1.5 * MOST_SAMPLES as f64) - 1.0).abs() < 0.01, "{mean}");
    }
}
