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
        Client::H2load(more) => installed("h2load", &[more, &["-t1", "-c", &c, "-D", &s, &url]].concat())?,
        Client::Ab(more) => {
            let most = (seconds * AB_REQUESTS_PER_S).to_string();
            installed("ab", &[more, &["-q", "-c", &c, "-t", &s, "-n", &most, &url]].concat())?
        }
        Client::Epoll => example("epoll_client", 1),
        Client::FloorConnector => example("floor_connector", 1),
    })
}

/// Reads a client's report.
pub fn read_report(fixtures: &Fixtures, client: Client, ended: &Ended) -> Result<ClientReport> {
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
        Client::Wrk(_) | Client::H2load(_) | Client::Ab(_) => imported(fixtures, client, text),
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

/// Reads the report of another tool as `drome import` understands it.
fn imported(fixtures: &Fixtures, client: Client, text: &str) -> Result<ClientReport> {
    let file = fixtures.drome.home().join("report.txt");
    std::fs::write(&file, text)?;
    let json = fixtures.drome.json(&["import", "--dry-run", "--format", "json", &file.to_string_lossy()])?;
    reading(client, &json["cells"][0]["contenders"][0])
}

fn reading(client: Client, reading: &Value) -> Result<ClientReport> {
    let counts = reading["errors"].as_object().into_iter().flatten();
    let is_failure = |kind: &str| match client {
        Client::Ab(_) => true,
        Client::Wrk(_) => kind == "status",
        // It counts those that succeeded.
        _ => false,
    };
    let failed: u64 =
        counts.filter(|(kind, _)| is_failure(kind)).filter_map(|(_, count)| count.as_u64()).sum();
    if failed > 0 {
        bail!("{failed} answers failed");
    }
    let completed = reading["figures"]["completed"].as_f64().context("no count of requests")?;
    let rate_per_s = reading["rate_per_s"]["median"].as_f64();
    Ok(ClientReport { requests: completed as u64, rate_per_s, json: Value::Null })
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
    use serde_json::json;

    fn figures(report: Result<ClientReport>) -> (u64, Option<f64>) {
        let report = report.unwrap();
        (report.requests, report.rate_per_s)
    }

    #[test]
    fn reports_are_read() {
        let wrk = json!({"figures": {"completed": 134_426.0}, "errors": {"timeout": 3}, "rate_per_s": {"median": 134_120.07}});
        assert_eq!(figures(reading(Client::Wrk(&[]), &wrk)), (134_426, Some(134_120.07)));
        let h2load =
            json!({"figures": {"completed": 1_188_810.0}, "errors": {"failed": 6}, "rate_per_s": null});
        assert_eq!(figures(reading(Client::H2load(&[]), &h2load)), (1_188_810, None));
        let report = r#"{"requests":{"completed":7},"errors":{"total":0},"rate_per_s":3.5}"#;
        assert_eq!(figures(drome(report)), (7, Some(3.5)));
    }

    #[test]
    fn answers_that_failed_are_no_requests_per_second() {
        let bad = |client, errors| {
            reading(client, &json!({"figures": {"completed": 7.0}, "errors": errors}))
                .unwrap_err()
                .to_string()
        };
        assert_eq!(bad(Client::Wrk(&[]), json!({"status": 140_302})), "140302 answers failed");
        assert_eq!(bad(Client::Ab(&[]), json!({"status": 19_573})), "19573 answers failed");
        assert_eq!(bad(Client::Ab(&["-k"]), json!({"failed": 3})), "3 answers failed");
        let bad = r#"{"requests":{"completed":7},"errors":{"total":2,"causes":{"connect: refused":2}}}"#;
        assert_eq!(drome(bad).unwrap_err().to_string(), "2 errors, among them connect: refused");
    }

    #[test]
    fn a_report_that_makes_no_sense_is_an_error() {
        assert!(["", "{}", "[]", "\n\n"].iter().all(|text| drome(text).is_err()));
        assert!(
            [json!({}), json!([]), Value::Null]
                .iter()
                .all(|json| reading(Client::H2load(&[]), json).is_err())
        );
    }
}
