//! ab's report as text, with its table and warnings.

use super::heard::Heard;
use super::options::Options;
use super::times::{Row, Times, ms};
use crate::message::head_and_body;
use crate::openssl;
use model::{Agreed, Tally};
use std::net::IpAddr;

/// The percentiles that ab shows; 100 % is the longest request.
const PERCENTS: [usize; 8] = [50, 66, 75, 80, 90, 95, 98, 99];

/// The data for a report.
pub struct Facts<'a> {
    pub options: &'a Options,
    pub heard: &'a Heard,
    pub tally: &'a Tally,
}

impl Facts<'_> {
    /// The duration, in seconds.
    pub fn seconds(&self) -> f64 {
        // ab's clock counts microseconds.
        (self.tally.duration_ns / 1000) as f64 / 1e6
    }

    /// The server's name for itself, up to the first space.
    pub fn server(&self) -> String {
        let (head, _) = head_and_body(&self.tally.first_answer);
        let head = String::from_utf8_lossy(head);
        let at = head.to_ascii_lowercase().find("server:");
        // ab assumes a space after the colon.
        let name = at.and_then(|at| head.get(at + "Server: ".len()..)).unwrap_or_default();
        name.split(|c: char| c <= ' ').next().unwrap_or_default().to_owned()
    }

    /// The rows that both forms of the report have, in the four groups between which only one form has something.
    pub fn rows(&self) -> [Vec<(&'static str, String)>; 4] {
        let Self { options, heard, tally } = self;
        let server = vec![
            ("Server Software:", self.server()),
            ("Server Hostname:", options.url.host.clone()),
            ("Server Port:", options.url.port.to_string()),
        ];
        let length = format!("{} bytes", heard.document_bytes.unwrap_or(0));
        let document = vec![
            ("Document Path:", options.url.path.clone()),
            ("Document Length:", if options.any_length { "Variable".to_owned() } else { length }),
        ];
        let requests = vec![
            ("Concurrency Level:", options.connections.to_string()),
            ("Time taken for tests:", format!("{:.3} seconds", self.seconds())),
            ("Complete requests:", heard.done().to_string()),
            ("Failed requests:", heard.bad.to_string()),
        ];
        let answers = [
            (heard.non_2xx > 0).then(|| ("Non-2xx responses:", heard.non_2xx.to_string())),
            options.keeps_alive.then(|| ("Keep-Alive requests:", heard.kept_alive.to_string())),
            Some(("Total transferred:", format!("{} bytes", tally.received_bytes))),
            options.body.is_some().then(|| ("Total body sent:", tally.sent_bytes.to_string())),
            Some(("HTML transferred:", format!("{} bytes", tally.body_bytes))),
        ];
        [server, document, requests, answers.into_iter().flatten().collect()]
    }
}

/// The whole report.
pub fn text(facts: &Facts<'_>) -> String {
    let Facts { options, heard, tally } = facts;
    let lines = |rows: &[(&str, String)]| -> String {
        rows.iter().map(|(label, value)| format!("{label:<24}{value}\n")).collect()
    };
    let [server, document, requests, answers] = facts.rows().map(|rows| lines(&rows));
    let tls = if options.url.is_tls { tls(options, tally.agreed.as_ref()) } else { String::new() };
    let mut text = format!("\n\n{server}{tls}\n{document}\n{requests}");
    let Heard { bad, receive, length, exceptions, write, .. } = heard;
    if *bad > 0 {
        text.push_str(&format!(
            "   (Connect: 0, Receive: {receive}, Length: {length}, Exceptions: {exceptions})\n"
        ));
    }
    if *write > 0 {
        text.push_str(&format!("Write errors:           {write}\n"));
    }
    text.push_str(&answers);
    text.push_str(&rates(facts));
    if let Some(rows) = Rows::of(&heard.times) {
        text.push_str(&if options.confidence { rows.confident() } else { rows.plain() });
        let sorted = sorted(&heard.times);
        if options.percentiles && sorted.len() > 1 {
            text.push_str(&percentiles(&sorted));
        }
    }
    text
}

fn tls(options: &Options, agreed: Option<&Agreed>) -> String {
    let mut text = String::new();
    if let Some(agreed) = agreed {
        let (protocol, suite) = (openssl::version(agreed), openssl::cipher(agreed.cipher_suite));
        let bits = if agreed.cipher_suite.contains("AES_128") { 128 } else { 256 };
        // ab's third field is the size of the key in the server's certificate. drome does not look into certificates.
        text.push_str(&format!("SSL/TLS Protocol:       {protocol},{suite},,{bits}\n"));
        let key = openssl::server_key(agreed);
        text.extend(key.map(|key| format!("Server Temp Key:        {key}\n")));
    }
    let name = options.header("Host").unwrap_or(&options.url.host);
    if !options.no_sni && name.parse::<IpAddr>().is_err() {
        text.push_str(&format!("TLS Server Name:        {name}\n"));
    }
    text
}

fn rates(facts: &Facts<'_>) -> String {
    let Facts { options, heard, tally } = facts;
    let (seconds, done) = (facts.seconds(), heard.done() as f64);
    if seconds == 0.0 || done == 0.0 {
        return String::new();
    }
    let kb_per_s = |bytes: u64| bytes as f64 / 1024.0 / seconds;
    let mut text = format!(
        "Requests per second:    {:.2} [#/sec] (mean)\n\
         Time per request:       {:.3} [ms] (mean)\n\
         Time per request:       {:.3} [ms] (mean, across all concurrent requests)\n\
         Transfer rate:          {:.2} [Kbytes/sec] received\n",
        done / seconds,
        options.connections as f64 * seconds * 1000.0 / done,
        seconds * 1000.0 / done,
        kb_per_s(tally.received_bytes)
    );
    if options.body.is_some() {
        let (sent, total) = (tally.sent_bytes, tally.sent_bytes + tally.received_bytes);
        let blank = " ".repeat(24);
        text.push_str(&format!("{blank}{:.2} kb/s sent\n", kb_per_s(sent)));
        text.push_str(&format!("{blank}{:.2} kb/s total\n", kb_per_s(total)));
    }
    text
}

/// The table of connection times.
struct Rows {
    /// The rows, in the order in which they are printed.
    rows: [(&'static str, Row, &'static str); 4],
}

impl Rows {
    fn of(times: &[Times]) -> Option<Self> {
        let row = |of: fn(&Times) -> u64| Row::of(times.iter().map(of));
        Some(Self {
            rows: [
                ("Connect:    ", row(|t| t.connect)?, "initial connection time"),
                ("Processing: ", row(Times::processing)?, "processing time"),
                ("Waiting:    ", row(|t| t.wait)?, "waiting time"),
                ("Total:      ", row(|t| t.total)?, "total time"),
            ],
        })
    }

    /// The table with deviations, and warnings if mean and median are far apart.
    fn confident(&self) -> String {
        let mut text = "\nConnection Times (ms)\n              min  mean[+/-sd] median   max\n".to_owned();
        for (label, Row { min, mean, sd, median, max }, _) in &self.rows {
            let (min, mean, median, max) = (ms(*min), ms(*mean), ms(*median), ms(*max));
            let sd = sd / 1000.0;
            text.push_str(&format!("{label}{min:>5} {mean:>4} {sd:>5.1} {median:>6} {max:>7}\n"));
        }
        for (_, Row { mean, median, sd, .. }, what) in &self.rows {
            // ab compares values that are already rounded.
            let apart = ms(*mean).abs_diff(ms(*median)) as f64;
            if apart > 2.0 * sd / 1000.0 {
                text.push_str(&format!(
                    "ERROR: The median and mean for the {what} are more than twice the standard\n       \
                     deviation apart. These results are NOT reliable.\n"
                ));
            } else if apart > sd / 1000.0 {
                text.push_str(&format!(
                    "WARNING: The median and mean for the {what} are not within a normal deviation\n        \
                     These results are probably not that reliable.\n"
                ));
            }
        }
        text
    }

    fn plain(&self) -> String {
        let mut text = "\nConnection Times (ms)\n              min   avg   max\n".to_owned();
        for (label, Row { min, mean, max, .. }, _) in &self.rows {
            text.push_str(&format!("{label}{:>5} {:>5}{:>5}\n", ms(*min), ms(*mean), ms(*max)));
        }
        text
    }
}

/// Sorts times, the shortest first.
pub fn sorted(times: &[Times]) -> Vec<Times> {
    let mut sorted = times.to_vec();
    sorted.sort_by_key(|times| times.total);
    sorted
}

fn percentiles(sorted: &[Times]) -> String {
    let mut text = "\nPercentage of the requests served within a certain time (ms)\n".to_owned();
    for percent in PERCENTS {
        text.push_str(&format!("  {percent}%  {:>5}\n", ms(sorted[sorted.len() * percent / 100].total)));
    }
    let longest = sorted.last().map_or(0, |times| times.total);
    text.push_str(&format!(" 100%  {:>5} (longest request)\n", ms(longest)));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Call;

    #[test]
    fn what_a_handshake_agreed_on_is_told_as_openssl_calls_it() {
        // The real ab printed these, with the size of the key, for nginx with this version and curve.
        let cases = [
            (
                "TLS 1.2",
                "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
                "X25519",
                "TLSv1.2,ECDHE-RSA-AES256-GCM-SHA384,,256",
                "X25519 253 bits",
            ),
            (
                "TLS 1.2",
                "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
                "secp256r1",
                "TLSv1.2,ECDHE-ECDSA-AES256-GCM-SHA384,,256",
                "ECDH prime256v1 256 bits",
            ),
            (
                "TLS 1.3",
                "TLS_AES_256_GCM_SHA384",
                "secp384r1",
                "TLSv1.3,TLS_AES_256_GCM_SHA384,,256",
                "ECDH secp384r1 384 bits",
            ),
        ];
        let options = Options::parse(&Call::new("ab", &["https://localhost/"])).unwrap();
        for (protocol, cipher_suite, group, told, key) in cases {
            let agreed = Agreed { protocol, cipher_suite, group: Some(group) };
            let expected = format!(
                "SSL/TLS Protocol:       {told}\nServer Temp Key:        {key}\nTLS Server Name:        localhost\n"
            );
            assert_eq!(tls(&options, Some(&agreed)), expected);
        }
    }

    #[test]
    fn a_mean_far_from_the_median_is_warned_of() {
        let warned = |totals: &[u64]| {
            let times: Vec<_> = totals.iter().map(|&total| Times { total, ..Times::default() }).collect();
            let text = Rows::of(&times).unwrap().confident();
            (text.contains("WARNING: The median and mean for the total"), text.contains("ERROR: The median"))
        };
        assert_eq!(warned(&[5000, 5000, 5000, 5000]), (false, false));
        // Mean 5.4 ms and median 6.0 ms, rounded to 5 and 6, with a deviation of 0.7 ms; then of 0.3 ms.
        assert_eq!(warned(&[4600, 4900, 6000, 6000]), (true, false));
        assert_eq!(warned(&[5600, 5700, 5700, 5700]), (false, false));
        assert_eq!(warned(&[5250, 5250, 5650, 5650]), (false, true));
    }
}
