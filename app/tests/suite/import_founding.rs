//! `drome import` reads the five founding pages: every published figure comes out as it stands there.

use crate::common::pages::{assert_figure, contender, import};
use crate::common::{Home, run};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The five founding pages and their figures, where they are: they are not ours to keep here.
fn founding() -> Option<(PathBuf, toml::Value)> {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    let facts = std::fs::read_to_string(shared.join("facts/published.toml")).ok()?;
    Some((shared.join("seeds"), toml::from_str(&facts).unwrap()))
}

fn founding_page(seeds: &Path, number: &str) -> String {
    let all = std::fs::read_dir(seeds).unwrap().flatten();
    let page =
        all.map(|entry| entry.path()).find(|p| p.file_name().unwrap().to_string_lossy().starts_with(number));
    page.unwrap().display().to_string()
}

/// What `published.toml` calls a figure, and what drome does, and in which unit.
const FIGURES: &[(&str, &str, f64)] = &[
    ("document_bytes", "document_bytes", 1.0),
    ("concurrency", "connections", 1.0),
    ("duration_s", "duration_ns", 1e9),
    ("total_bytes", "received_bytes", 1.0),
    ("html_bytes", "body_bytes", 1.0),
    ("rate_per_s", "rate_per_s", 1.0),
    ("transfer_kib_per_s", "received_bytes_per_s", 1024.0),
    ("hits", "completed", 1.0),
    ("elapsed_s", "duration_ns", 1e9),
    ("data_mb", "body_bytes", 1_048_576.0),
    ("response_time_s", "latency_ns_mean", 1e9),
    ("throughput_mb_per_s", "body_bytes_per_s", 1_048_576.0),
    ("failed", "failed", 1.0),
    ("longest_s", "latency_ns_max", 1e9),
    ("shortest_s", "latency_ns_min", 1e9),
    ("availability_percent", "availability_percent", 1.0),
    ("successful", "successful", 1.0),
    ("fetches", "completed", 1.0),
    ("bytes", "body_bytes", 1.0),
    ("seconds", "duration_ns", 1e9),
    ("virt_mb", "virtual_bytes", 1_048_576.0),
    ("res_mb", "rss_bytes", 1_048_576.0),
    ("requests", "completed", 1.0),
    ("latency_mean_ms", "latency_ns_mean", 1e6),
];

/// Tables of times in milliseconds.
const TIMES: &[(&str, &str)] = &[
    ("connect_ms", "connect_ns"),
    ("waiting_ms", "first_byte_ns"),
    ("first_response_ms", "first_byte_ns"),
    ("processing_ms", "service_ns"),
    ("total_ms", "latency_ns"),
    ("percentiles_ms", "latency_ns"),
];

fn number(value: &toml::Value) -> f64 {
    value.as_float().or_else(|| value.as_integer().map(|n| n as f64)).unwrap()
}

/// Every published figure is among those that were read; how many there were.
fn assert_published(row: &Value, published: &toml::Value) -> usize {
    let mut checked = 0;
    for (key, value) in published.as_table().unwrap() {
        if let Some((_, name, unit)) = FIGURES.iter().find(|(theirs, _, _)| theirs == key) {
            // Siege's own mean of in-flight requests is no number of connections.
            let name = if key == "concurrency" && row["tool"] == "siege" { "concurrency" } else { name };
            assert_figure(row, name, number(value) * unit);
            checked += 1;
        } else if let Some((_, of)) = TIMES.iter().find(|(theirs, _)| theirs == key) {
            for (stat, ms) in value.as_table().unwrap() {
                let stat = match stat.as_str() {
                    "median" => "p50",
                    "p100" => "max",
                    other => other,
                };
                assert_figure(row, &format!("{of}_{stat}"), number(ms) * 1e6);
                checked += 1;
            }
        } else if key == "server_software" {
            assert_eq!(row["version"].as_str(), value.as_str());
            checked += 1;
        } else if key == "timeouts" {
            assert_eq!(row["errors"]["timeout"].as_u64().map(|n| n as i64), value.as_integer());
            checked += 1;
        }
    }
    checked
}

#[test]
fn the_first_page_and_its_chart() {
    let Some((seeds, facts)) = founding() else { return };
    let page = founding_page(&seeds, "000");
    let json = import(&Home::new(), &[&page]);
    let [cell] = &json["cells"].as_array().unwrap()[..] else { panic!("one table of nine") };
    let figures = facts["raspberry-pi"]["figures"].as_table().unwrap();
    assert_eq!(cell["contenders"].as_array().unwrap().len(), figures.len());
    for published in figures.values() {
        let row = contender(cell, published["title"].as_str().unwrap());
        assert!(assert_published(row, published) >= 35, "{row}");
        assert!(row["command"].as_str().unwrap().starts_with("ab -r -c 10 -n 1000 http://"));
    }
    let text = std::fs::read_to_string(&page).unwrap();
    let bars: String =
        text.lines().filter(|line| line.contains('■')).map(|line| format!("{line}\n")).collect();
    let chart = |args: &[&str]| run(Home::new().drome(&["chart", &page]).args(args)).out;
    assert_eq!(chart(&[]), bars, "as it stands on the page, indented as code");
    let unindented: String = bars.lines().map(|line| format!("{}\n", &line[2..])).collect();
    assert_eq!(chart(&["--bare"]), unindented, "as the page's own command prints it");
}

#[test]
fn the_second_and_the_fourth_page() {
    let Some((seeds, facts)) = founding() else { return };
    let json = import(&Home::new(), &[&founding_page(&seeds, "001")]);
    for (name, published) in [("siege 1", "monkey"), ("siege 2", "nginx")] {
        let row = contender(&json["cells"][0], name);
        assert_eq!(assert_published(row, &facts["monkey"]["figures"][published]), 12);
        assert_eq!(row["command"], "siege -b -t10S -c200 http://localhost:PORT/linux.jpg");
    }
    let json = import(&Home::new(), &[&founding_page(&seeds, "003")]);
    let cell = &json["cells"][0];
    let known = [("http_load 1", "openresty"), ("http_load 2", "nginx-php-fpm"), ("http_load 3", "node")];
    let checked = known.map(|(name, published)| {
        assert_published(contender(cell, name), &facts["openresty"]["figures"][published])
    });
    assert_eq!(checked, [12, 10, 12]);
    let note = contender(cell, "http_load 1")["notes"].to_string();
    assert!(note.contains("The memory footprint of the node process under load is 38.0m VIRT"), "{note}");
}

#[test]
fn the_third_page() {
    let Some((seeds, facts)) = founding() else { return };
    let json = import(&Home::new(), &[&founding_page(&seeds, "002")]);
    let tables = facts["fly"]["tables"].as_array().unwrap();
    let cells = json["cells"].as_array().unwrap();
    assert_eq!(cells.len(), tables.len());
    let mut unknown = 0;
    for (cell, table) in cells.iter().zip(tables) {
        assert_eq!(cell["load"]["connections"].as_f64(), Some(number(&table["connections"])));
        assert_eq!(cell["load"]["rate_per_s"].as_f64(), Some(number(&table["offered_rate_per_s"])));
        for (theirs, published) in table.as_table().unwrap().iter().filter(|(_, value)| value.is_table()) {
            let name = match theirs.as_str() {
                "apache-prefork" => "Apache(prefork)",
                "uvicorn-fastapi" => "uvicorn+FastAPI",
                "gunicorn-flask" => "gunicorn+flask",
                "gunicorn-django" => "gunicorn+Django",
                other => other,
            };
            let row = contender(cell, name);
            assert!(assert_published(row, published) >= 3);
            let transfer = published["transfer"].as_str().unwrap();
            let digits = transfer.trim_end_matches(['K', 'M', 'B']);
            match &transfer[digits.len()..] {
                "KB" => assert_figure(row, "received_bytes_per_s", digits.parse::<f64>().unwrap() * 1024.0),
                "MB" => {
                    assert_figure(row, "received_bytes_per_s", digits.parse::<f64>().unwrap() * 1_048_576.0);
                }
                _ => {
                    assert!(row["figures"]["received_bytes_per_s"].is_null());
                    assert!(row["strange"].to_string().contains("138.28"));
                    unknown += 1;
                }
            }
        }
    }
    assert_eq!(unknown, 1);
}

#[test]
fn the_fifth_page() {
    let Some((seeds, facts)) = founding() else { return };
    let json = import(&Home::new(), &[&founding_page(&seeds, "004")]);
    for (cell, test) in json["cells"].as_array().unwrap().iter().zip(["pong", "file"]) {
        assert!(cell["title"].as_str().unwrap().to_lowercase().starts_with(test), "{cell}");
        for (theirs, rate) in facts["snap"]["figures"][test].as_table().unwrap() {
            let name = match theirs.as_str() {
                "rails" => "RoR",
                "grails" => "Grails",
                "happstack" => "Happstack",
                "apache-php" => "Apache+PHP",
                "apache" => "Apache",
                _ => "Snap",
            };
            assert_figure(contender(cell, name), "rate_per_s", number(rate));
        }
    }
    assert_eq!(json["cells"].as_array().unwrap().len(), 2);
}
