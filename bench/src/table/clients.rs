//! The clients: the command line of each, and how its report is read.

use super::model::{Client, Run};
use super::server::{Fixtures, installed};
use crate::process::{Ended, first_line};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::process::Command;

/// `ab` ends after its time or its number of requests, and allocates memory for the number. So the number is set just
/// high enough that it is never reached.
const AB_REQUESTS_PER_S: u64 = 500_000;

/// What a client reports.
#[derive(Debug, PartialEq)]
pub struct ClientReport {
    /// Completed requests.
    pub requests: u64,
    pub rate_per_s: Option<f64>,
    /// drome's whole report; null for other clients.
    pub json: Value,
}

/// The command of a run.
pub fn command(
    fixtures: &Fixtures,
    run: &Run,
    port: u16,
    connections: usize,
    seconds: u64,
) -> Result<Command> {
    let scheme = if run.server.is_tls() { "https" } else { "http" };
    let url = format!("{scheme}://127.0.0.1:{port}{}", run.path);
    let (c, s) = (connections.to_string(), seconds.to_string());
    let time = format!("{s}s");
    let example = |name: &str, pipeline: u16| {
        let mut command = Command::new(fixtures.examples.join(name));
        command.args([&port.to_string(), run.path, &c, &s, &pipeline.to_string()]);
        command
    };
    Ok(match run.client {
        Client::Drome(more) => {
            let load = ["load", &url, "--format", "json", "-t", "1", "-c", &c, "-d", &time];
            let mut command = fixtures.drome.command(&load);
            command.args(more.iter().map(|arg| fixtures.expand(arg)));
            command
        }
        Client::Floor(pipeline) => example("floor_client", pipeline),
        Client::Wrk(more) => installed("wrk", &[more, &["-t1", "-c", &c, "-d", &time, &url]].concat())?,
        Client::H2load(pipeline) => {
            let pipeline = pipeline.to_string();
            installed("h2load", &["--h1", "-t1", "-c", &c, "-D", &s, "-m", &pipeline, &url])?
        }
        Client::Ab(more) => {
            let most = (seconds * AB_REQUESTS_PER_S).to_string();
            installed("ab", &[more, &["-q", "-c", &c, "-t", &s, "-n", &most, &url]].concat())?
        }
        Client::Epoll => example("epoll_client", 1),
        Client::FloorConnector => example("floor_connector", 1),
    })
}

/// Reads a client's report.
pub fn read_report(client: Client, ended: &Ended) -> Result<ClientReport> {
    let text = ended.output.as_str();
    let report = match client {
        Client::Drome(_) => drome(text),
        Client::Floor(_) | Client::FloorConnector | Client::Epoll => {
            serde_json::from_str(text).context("no report").map(|json: Value| ClientReport {
                requests: json["requests"].as_u64().unwrap_or(0),
                rate_per_s: json["rate_per_s"].as_f64(),
                json: Value::Null,
            })
        }
        Client::Wrk(_) => wrk(text),
        Client::H2load(_) => h2load(text),
        Client::Ab(_) => ab(text),
    };
    match report {
        Ok(report) if report.requests == 0 => bail!("{}: no request was completed", label(client)),
        // A program that failed has usually said why.
        Err(error) if ended.status.success() => Err(error.context(label(client))),
        Err(_) => bail!("{}: {}", label(client), first_line(&ended.errors)),
        ok => ok,
    }
}

fn drome(text: &str) -> Result<ClientReport> {
    let json: Value = serde_json::from_str(text).context("no JSON")?;
    let errors = json["errors"]["total"].as_u64().context("no errors.total")?;
    if errors > 0 {
        let cause = json["errors"]["causes"].as_object().and_then(|causes| causes.keys().next());
        bail!("{errors} errors, among them {}", cause.map_or("unknown ones", String::as_str));
    }
    Ok(ClientReport {
        requests: json["requests"]["completed"].as_u64().context("no requests.completed")?,
        rate_per_s: json["rate_per_s"].as_f64(),
        json,
    })
}

fn wrk(text: &str) -> Result<ClientReport> {
    if let Some(line) = text.lines().find(|line| line.contains("Non-2xx or 3xx responses")) {
        bail!("{}", line.trim());
    }
    let line = text.lines().find(|line| line.contains(" requests in ")).context("no line of requests")?;
    let requests = first_number(line).context("no count of requests")?;
    Ok(ClientReport { requests, rate_per_s: after(text, "Requests/sec:"), json: Value::Null })
}

fn h2load(text: &str) -> Result<ClientReport> {
    let line = text.lines().find(|line| line.starts_with("requests:")).context("no line of requests")?;
    let succeeded = line.split(',').find(|part| part.contains("succeeded")).and_then(first_number);
    let rate = text.lines().find(|line| line.starts_with("finished in"));
    let rate = rate.and_then(|line| line.split(',').find_map(|part| part.trim().strip_suffix(" req/s")));
    Ok(ClientReport {
        requests: succeeded.context("no count of requests that succeeded")?,
        rate_per_s: rate.and_then(|rate| rate.parse().ok()),
        json: Value::Null,
    })
}

fn ab(text: &str) -> Result<ClientReport> {
    let number = |key| after(text, key).map(|n| n as u64);
    if let Some(n) = number("Failed requests:").filter(|n| *n > 0).or(number("Non-2xx responses:")) {
        bail!("{n} answers failed");
    }
    let requests = number("Complete requests:").context("no count of requests")?;
    Ok(ClientReport { requests, rate_per_s: after(text, "Requests per second:"), json: Value::Null })
}

fn first_number(text: &str) -> Option<u64> {
    text.split_whitespace().find_map(|word| word.parse().ok())
}

/// The number behind `key`.
fn after(text: &str, key: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix(key))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Arguments as they are shown, without the folder of the files.
pub fn words(args: &[&str]) -> String {
    args.join(" ").replace("{files}/", "")
}

/// Its name in the table.
pub fn label(client: Client) -> String {
    match client {
        Client::Drome([]) => "drome".to_owned(),
        Client::Drome(args) => format!("drome {}", words(args)),
        Client::Floor(_) | Client::FloorConnector => "the bare loop".to_owned(),
        Client::Wrk(_) => "wrk".to_owned(),
        Client::H2load(_) => "h2load".to_owned(),
        Client::Ab(_) => "ab".to_owned(),
        Client::Epoll => "a plain epoll client".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRK: &str = "Running 1s test @ http://127.0.0.1:19400/hello
  1 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   292.01us  192.82us   4.43ms   96.83%
    Req/Sec   135.22k    13.97k  141.66k    90.00%
  134426 requests in 1.00s, 11.79MB read
Requests/sec: 134120.07
Transfer/sec:     11.77MB
";
    const H2LOAD: &str = "starting benchmark...
finished in 1.00s, 1188816.00 req/s, 104.30MB/s
requests: 1188816 total, 1189840 started, 1188816 done, 1188810 succeeded, 6 failed, 0 errored, 0 timeout
status codes: 1188810 2xx, 0 3xx, 6 4xx, 0 5xx
req/s           :   18474.90    18580.55    18557.55       24.25    87.50%
";
    const AB: &str = "This is ApacheBench, Version 2.3 <$Revision$>
Concurrency Level:      64
Time taken for tests:   1.000 seconds
Complete requests:      18950
Failed requests:        0
Requests per second:    18946.84 [#/sec] (mean)
";

    fn figures(report: Result<ClientReport>) -> (u64, Option<f64>) {
        let report = report.unwrap();
        (report.requests, report.rate_per_s)
    }

    #[test]
    fn reports_are_read() {
        assert_eq!(figures(wrk(WRK)), (134_426, Some(134_120.07)));
        assert_eq!(figures(h2load(H2LOAD)), (1_188_810, Some(1_188_816.0)));
        assert_eq!(figures(ab(AB)), (18_950, Some(18_946.84)));
        let report = r#"{"requests":{"completed":7},"errors":{"total":0},"rate_per_s":3.5}"#;
        assert_eq!(figures(drome(report)), (7, Some(3.5)));
    }

    #[test]
    fn answers_that_failed_are_no_requests_per_second() {
        let bad = WRK.replace("Requests/sec", "  Non-2xx or 3xx responses: 140302\nRequests/sec");
        assert_eq!(wrk(&bad).unwrap_err().to_string(), "Non-2xx or 3xx responses: 140302");
        let bad = AB.replace("Requests per", "Non-2xx responses:      19573\nRequests per");
        assert_eq!(ab(&bad).unwrap_err().to_string(), "19573 answers failed");
        let bad = AB.replace("Failed requests:        0", "Failed requests:        3");
        assert_eq!(ab(&bad).unwrap_err().to_string(), "3 answers failed");
        let bad = r#"{"requests":{"completed":7},"errors":{"total":2,"causes":{"connect: refused":2}}}"#;
        assert_eq!(drome(bad).unwrap_err().to_string(), "2 errors, among them connect: refused");
    }

    #[test]
    fn a_report_that_makes_no_sense_is_an_error() {
        for text in ["", "requests:", " requests in ", "Complete requests:", "{}", "[]", "\n\n"] {
            assert!(drome(text).is_err() && wrk(text).is_err() && h2load(text).is_err() && ab(text).is_err());
        }
    }
}
