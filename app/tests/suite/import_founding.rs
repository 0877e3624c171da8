//! `drome import` reads pages like the five founding ones: the same reports and tables with the same figures, in words of our
//! own. Every figure comes out as it is printed there, and is the one that the studies have.

use crate::common::pages::{assert_figure, import};
use crate::common::{Home, contender, run};
use control::Catalog;
use model::page_figures::counterpart;
use model::study::Study;
use serde_json::Value;
use std::collections::BTreeMap;

fn page(name: &str) -> String {
    format!("{}/tests/pages/founding/{name}.md", env!("CARGO_MANIFEST_DIR"))
}

fn study(name: &str) -> Study {
    Catalog::built_in().unwrap().studies[name].clone()
}

/// What the study says of a contender besides its rate.
fn others<'s>(study: &'s Study, cell: &str, name: &str) -> &'s BTreeMap<String, f64> {
    study.published.as_ref().unwrap().others(cell, name).unwrap()
}

fn rate(study: &Study, cell: &str, name: &str) -> f64 {
    study.published.as_ref().unwrap().figure(cell, name).unwrap()
}

/// Every figure of the study is among those that were read; how many there were.
fn assert_published(row: &Value, published: &BTreeMap<String, f64>) -> usize {
    let mut checked = 0;
    for (figure, value) in published {
        let Some(known) = counterpart(figure) else { continue };
        match known.name.as_str() {
            "timeouts" => assert_eq!(row["errors"]["timeout"].as_f64(), Some(*value), "{row}"),
            "status_200" => assert_eq!(row["status"]["200"].as_f64(), Some(*value), "{row}"),
            name => assert_figure(row, name, value * known.unit),
        }
        checked += 1;
    }
    checked
}

const NEW_CONNECTIONS: &str = "a new connection for every request";

#[test]
fn the_first_page_and_its_chart() {
    let (page, study) = (page("raspberry-pi"), study("raspberry-pi"));
    let json = import(&Home::new(), &[&page]);
    let [cell] = &json["cells"].as_array().unwrap()[..] else { panic!("one table of nine") };
    assert_eq!(cell["contenders"].as_array().unwrap().len(), study.contenders.len());
    for name in &study.contenders {
        let title = match name.as_str() {
            "nginx" => "Nginx",
            "go" => "Go",
            "go-fasthttp" => "Go/fasthttp",
            "node" => "Node.js",
            "perl-http-daemon" => "Perl/HTTP::Daemon",
            "perl-http-server-simple" => "Perl/HTTP::Server::Simple",
            "perl-dancer" => "Perl/Dancer",
            "perl-mojolicious" => "Perl/Mojolicious",
            _ => "Python",
        };
        let row = contender(cell, title);
        assert_figure(row, "rate_per_s", rate(&study, NEW_CONNECTIONS, name));
        // The page's command line is above all reports, not in each; how many answers there were is in each.
        let mut published = others(&study, NEW_CONNECTIONS, name).clone();
        let connections = published.remove("connections").unwrap();
        assert_figure(row, "connections", connections);
        assert!(assert_published(row, &published) >= 37, "{row}");
        assert!(row["command"].as_str().unwrap().starts_with("ab -r -c 10 -n 1000 http://"));
    }
    let text = std::fs::read_to_string(&page).unwrap();
    let bars: String =
        text.lines().filter(|line| line.contains('■')).map(|line| format!("{line}\n")).collect();
    let chart = |args: &[&str]| run(Home::new().drome(&["import", &page, "--chart"]).args(args)).out;
    assert_eq!(chart(&["--format", "markdown"]), bars, "as it stands on the page, indented as code");
    let unindented: String = bars.lines().map(|line| format!("{}\n", &line[2..])).collect();
    assert_eq!(chart(&[]), unindented, "as the page's own command prints it");
}

#[test]
fn the_second_and_the_fourth_page() {
    let of_monkey = study("monkey");
    let json = import(&Home::new(), &[&page("monkey")]);
    for (title, name) in [("siege 1", "monkey"), ("siege 2", "nginx")] {
        let row = contender(&json["cells"][0], title);
        assert_figure(row, "rate_per_s", rate(&of_monkey, NEW_CONNECTIONS, name));
        assert_eq!(assert_published(row, others(&of_monkey, NEW_CONNECTIONS, name)), 11);
        assert_eq!(row["command"], "siege -b -t10S -c200 http://localhost:PORT/linux.jpg");
    }
    let of_openresty = study("openresty");
    let json = import(&Home::new(), &[&page("openresty")]);
    let cell = &json["cells"][0];
    let known = [("http_load 1", "openresty"), ("http_load 2", "nginx-php-fpm"), ("http_load 3", "node")];
    let checked = known.map(|(title, name)| {
        let row = contender(cell, title);
        assert_figure(row, "rate_per_s", rate(&of_openresty, NEW_CONNECTIONS, name));
        assert_published(row, others(&of_openresty, NEW_CONNECTIONS, name))
    });
    assert_eq!(checked, [15, 13, 15]);
    let note = contender(cell, "http_load 1")["notes"].to_string();
    assert!(note.contains("under load: 38.0m VIRT"), "{note}");
}

#[test]
fn the_third_page() {
    let json = import(&Home::new(), &[&page("fly")]);
    let cells = json["cells"].as_array().unwrap();
    let studies = [study("fly-static"), study("fly-app")];
    // The closed cell of each is drome's own.
    let published = studies.iter().flat_map(|study| {
        let of_page = study.cells.iter().filter(|cell| cell.load.rate_per_s().is_some());
        of_page.map(move |cell| (study, cell))
    });
    let published: Vec<_> = published.collect();
    assert_eq!(cells.len(), published.len());
    let mut unknown = 0;
    for (cell, (study, of)) in cells.iter().zip(published) {
        assert_eq!(cell["load"]["connections"].as_f64(), Some(of.load.connections() as f64));
        let load = serde_json::to_value(&of.load).unwrap();
        assert_eq!(cell["load"]["rate_per_s"].as_f64(), load["open"]["rate_per_s"].as_f64());
        for name in &study.contenders {
            let title = match name.as_str() {
                "apache-prefork" => "Apache(prefork)",
                "uvicorn-fastapi" => "uvicorn+FastAPI",
                "gunicorn-flask" => "gunicorn+flask",
                "gunicorn-django" => "gunicorn+Django",
                other => other,
            };
            let row = contender(cell, title);
            let published = others(study, &of.title, name);
            assert_figure(row, "rate_per_s", rate(study, &of.title, name));
            let checked = assert_published(row, published);
            if published.contains_key("transfer_without_unit") {
                assert!(row["figures"]["received_bytes_per_s"].is_null());
                assert!(row["strange"].to_string().contains("138.28"));
                unknown += 1;
            } else {
                assert!(checked >= 3 && checked == published.len(), "{published:?}");
            }
        }
    }
    assert_eq!(unknown, 1);
}

#[test]
fn the_fifth_page() {
    let json = import(&Home::new(), &[&page("snap")]);
    for (cell, name) in json["cells"].as_array().unwrap().iter().zip(["snap-pong", "snap-file"]) {
        let (study, test) = (study(name), name.trim_start_matches("snap-"));
        assert!(cell["title"].as_str().unwrap().to_lowercase().starts_with(test), "{cell}");
        for name in &study.contenders {
            let title = match name.as_str() {
                "rails" => "RoR",
                "grails" => "Grails",
                "happstack" => "Happstack",
                "apache-mod-php" => "Apache+PHP",
                "apache-prefork" => "Apache",
                _ => "Snap",
            };
            assert_figure(contender(cell, title), "rate_per_s", rate(&study, "keep-alive", name));
        }
    }
    assert_eq!(json["cells"].as_array().unwrap().len(), 2);
}
