//! A measurement under way, as scrapers read it; a real Prometheus is one of them, and asks what the dashboard asks.

use crate::common::http::{self, Answer};
use crate::common::process::LIMIT;
use crate::common::{Home, Server, process, run, serve, start, wait_for};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::Stdio;

const DASHBOARD: &str = include_str!("../../../docs/grafana/drome.json");

/// An open load of 2,000 a second, longer than any test, that tells how it goes.
fn measured(home: &Home, server: &Server) -> Server {
    let (url, longest) = (format!("http://{}/hello", server.address), format!("{}s", LIMIT.as_secs()));
    let args = ["load", &url, "--rate", "2k", "-c", "8", "-d", &longest, "--metrics", "0"];
    let mut child = process::spawn(home.drome(&args).stdout(Stdio::null()).stderr(Stdio::piped()));
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("metrics: http://").and_then(|l| l.strip_suffix("/metrics"));
    Server { address: address.unwrap().parse().unwrap(), child }
}

/// The metrics, for who says that it asks this host.
fn ask(at: SocketAddr, host: &str) -> Answer {
    http::ask(at, format!("GET /metrics HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes())
}

#[test]
fn a_measurement_under_way_is_served_to_scrapers() {
    let (home, server) = (Home::new(), serve(&[]));
    let load = measured(&home, &server);
    let mut first = String::new();
    let answers = |text: &str| {
        let line = text.lines().find(|line| line.starts_with("drome_answers_total "));
        line.and_then(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).unwrap_or(0.0)
    };
    wait_for(
        || {
            first = ask(load.address, &load.address.to_string()).text();
            answers(&first) > 0.0 && first.contains("drome_server_cpu_seconds_total")
        },
        "answers to be counted",
    );
    let refused = ask(load.address, "evil.example");
    let later = ask(load.address, "localhost");
    assert_eq!(later.status, 200);
    let kind = later.field("Content-Type");
    assert_eq!(kind, Some("application/openmetrics-text; version=1.0.0; charset=utf-8"));
    let later = later.text();
    assert!(later.ends_with("# EOF\n") && later.contains("drome_verdict_bound{"), "{later}");
    assert!(later.contains("drome_schedule_lag_seconds_count "), "{later}");
    assert!(later.contains("drome_offered_rate 2000") && answers(&later) >= answers(&first), "{later}");
    assert!(refused.status == 403 && !refused.text().contains("drome_"), "{refused:?}");
}

#[test]
fn addresses_that_others_could_read_are_refused() {
    let home = Home::new();
    for (address, why) in [("0.0.0.0:9469", "other machines could read it"), ("x", "not an address")] {
        let finished = run(&mut home.drome(&["load", "http://127.0.0.1:1/", "--metrics", address]));
        finished.assert_err(2, &[why]);
    }
}

/// A Prometheus of the test's own that reads this measurement every second.
fn prometheus(home: &Home, load: &Server) -> Server {
    let config = format!(
        "global: {{ scrape_interval: 1s }}\n\
         scrape_configs: [{{ job_name: drome, static_configs: [{{ targets: ['{}'] }}] }}]\n",
        load.address
    );
    let config = format!("--config.file={}", home.write("prometheus.yml", &config).display());
    let data = format!("--storage.tsdb.path={}", home.path().join("tsdb").display());
    start("prometheus", &[&config, &data, "--web.listen-address=127.0.0.1:{port}"])
}

/// What it has for an expression: a value for each series.
fn query(prometheus: &Server, expression: &str) -> Vec<Value> {
    let encoded: String = expression.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let answer = http::get(prometheus.address, &format!("/api/v1/query?query={encoded}"));
    let found: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    assert!(answer.status == 503 || found["status"] == "success", "{expression}: {}", answer.text());
    found["data"]["result"].as_array().cloned().unwrap_or_default()
}

/// All expressions of the dashboard, wherever in it they stand.
fn expressions(part: &Value, found: &mut Vec<String>) {
    match part {
        Value::Array(parts) => parts.iter().for_each(|part| expressions(part, found)),
        Value::Object(parts) => {
            found.extend(parts.get("expr").and_then(Value::as_str).map(str::to_owned));
            parts.values().for_each(|part| expressions(part, found));
        }
        _ => {}
    }
}

#[test]
fn a_real_prometheus_has_an_answer_to_all_that_the_dashboard_asks() {
    let (home, server) = (Home::new(), serve(&["--fault", "status=503@0.005"]));
    let load = measured(&home, &server);
    let prometheus = prometheus(&home, &load);
    let mut asked = Vec::new();
    expressions(&serde_json::from_str(DASHBOARD).unwrap(), &mut asked);
    assert!(asked.len() > 20, "{asked:?}");
    let instance = load.address.to_string();
    for expression in asked {
        let filled = expression.replace("$instance", &instance).replace("$__rate_interval", "10s");
        wait_for(|| !query(&prometheus, &filled).is_empty(), &filled);
    }
    let offered = query(&prometheus, "drome_offered_rate");
    assert_eq!(offered[0]["value"][1], "2000", "{offered:?}");
    let measurements = http::get(prometheus.address, "/api/v1/label/instance/values?match[]=drome_run_info");
    assert!(measurements.text().contains(&instance), "{}", measurements.text());
    let targets = http::get(prometheus.address, "/api/v1/targets").text();
    assert!(targets.contains(r#""lastError":"","#) && targets.contains(r#""health":"up""#), "{targets}");
}
