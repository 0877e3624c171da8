//! The figures of a tool's report under drome's own names, which a page's figures are compared with.

use dialects::Dialect;
use model::{Exchange, Usage};
use stats::Histogram;
use std::collections::BTreeMap;

/// The percentiles in a report's tables of times.
const PERCENTILES: [u8; 9] = [50, 66, 75, 80, 90, 95, 98, 99, 100];

/// Times of single requests, finer than a report prints them: ab rounds to 1 ms, siege to 10 ms.
#[derive(Debug, Default)]
pub struct Exact {
    latency: Histogram,
    connect: Histogram,
    service: Histogram,
    first_byte: Histogram,
}

impl Exact {
    /// Adds the times of a request.
    pub fn hear(&mut self, exchange: &Exchange) {
        // No tool's table includes the times of a failed request.
        if exchange.status().is_none() {
            return;
        }
        self.latency.record(exchange.done_ns.saturating_sub(exchange.began_ns()));
        let connect = exchange.connect_time_ns().filter(|_| exchange.nth == 0);
        self.connect.record(connect.unwrap_or(0));
        exchange.service_ns().into_iter().for_each(|ns| self.service.record(ns));
        exchange.waiting_ns().into_iter().for_each(|ns| self.first_byte.record(ns));
    }

    /// Each statistic by its name.
    fn figures(&self) -> BTreeMap<String, f64> {
        let all = [
            ("latency_ns", &self.latency),
            ("connect_ns", &self.connect),
            ("service_ns", &self.service),
            ("first_byte_ns", &self.first_byte),
        ];
        all.into_iter().flat_map(|(name, times)| moments(name, times)).collect()
    }
}

fn moments(name: &str, times: &Histogram) -> Vec<(String, f64)> {
    let whole = |ns: Option<u64>| ns.map(|ns| ns as f64);
    let mut all = vec![
        ("min".to_owned(), whole(times.min_ns())),
        ("mean".to_owned(), times.mean_ns()),
        ("sd".to_owned(), times.sd_ns()),
        ("max".to_owned(), whole(times.max_ns())),
    ];
    let percentile = |p: u8| (format!("p{p}"), whole(times.quantile_ns(f64::from(p) / 100.0)));
    all.extend(PERCENTILES.map(percentile));
    all.into_iter().filter_map(|(moment, ns)| Some((format!("{name}_{moment}"), ns?))).collect()
}

/// The figures of the tool's report, with times as exact as they are known, and the server's usage.
pub fn of(dialect: &Dialect, report: &str, exact: &Exact, usage: Option<&Usage>) -> BTreeMap<String, f64> {
    let Some(found) = dialects::read(report, dialect.name).into_iter().next() else { return BTreeMap::new() };
    let mut figures = found.reading.figures;
    let finer = exact.figures();
    // What a report shows as 0 is known all the same.
    let shown: Vec<String> = figures.keys().chain(found.reading.below.keys()).cloned().collect();
    figures.extend(shown.into_iter().filter_map(|name| finer.get(&name).map(|value| (name, *value))));
    // wrk and wrk2 print timeouts only if there were any.
    if dialect.name.starts_with("wrk") {
        let timeouts = found.reading.errors.get("timeout").copied().unwrap_or(0);
        figures.insert("timeouts".to_owned(), timeouts as f64);
    }
    for (status, n) in &found.reading.status {
        figures.insert(format!("status_{status}"), *n as f64);
    }
    if let Some(usage) = usage {
        figures.insert("virtual_bytes".to_owned(), usage.virtual_max_bytes as f64);
        figures.insert("rss_bytes".to_owned(), usage.rss_max_bytes as f64);
    }
    figures
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::Catalog;
    use dialects::Call;
    use model::page::AsPublished;
    use model::page_figures::counterpart;
    use model::study::Published;
    use model::{End, Errors, Tally};

    /// A measurement that is made up: a hundred requests, each on a connection of its own.
    fn exchange(n: u64) -> Exchange {
        let start_ns = 1_000_000_000 + n * 1_000_000;
        Exchange {
            connection: n,
            nth: 0,
            ask: 0,
            connect_ns: start_ns,
            connected_ns: start_ns + 200_000,
            due_ns: start_ns + 200_000,
            sent_ns: start_ns + 210_000,
            first_byte_ns: start_ns + 500_000 + n,
            done_ns: start_ns + 40_000_000,
            body_bytes: 12,
            end: End::Answered { status: 200, keeps_alive: false },
        }
    }

    fn tally() -> Tally {
        let mut tally = Tally {
            duration_ns: 1_000_000_000,
            sent: 100,
            completed: 100,
            received_bytes: 20_000,
            body_bytes: 1_200,
            status: [(200, 100)].into(),
            errors: Errors::default(),
            connections_opened: 100,
            served: vec![1; 100],
            threads: 1,
            ..Tally::default()
        };
        for times in [&mut tally.latency, &mut tally.service, &mut tally.first_byte, &mut tally.connect] {
            times.record_n(1_000_000, 100);
        }
        tally
    }

    /// The names of what is known after a command line of a page was run.
    fn known(command: &[String]) -> BTreeMap<String, f64> {
        // wrk first checks whether anything listens there.
        let somebody = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = somebody.local_addr().unwrap().port();
        let urls = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(urls.path(), format!("http://127.0.0.1:{port}/x\n")).unwrap();
        let places = [
            ("url", format!("http://127.0.0.1:{port}/x")),
            ("urls", urls.path().display().to_string()),
            ("host", "127.0.0.1".to_owned()),
            ("port", port.to_string()),
            ("path", "/x".to_owned()),
        ];
        let words = control::prepare::fill_all(command, &places);
        let dialect = dialects::named(&words[0]).unwrap();
        let call = Call { program: words[0].clone(), args: words[1..].to_vec(), descriptors: 20_000 };
        let mut job = (dialect.parse)(&call).map_err(|printed| printed.err).unwrap();
        let mut exact = Exact::default();
        let mut report = job.begin().out;
        let exchanges: Vec<Exchange> = (0..100).map(exchange).collect();
        exchanges.iter().for_each(|exchange| exact.hear(exchange));
        report += &job.hear(&exchanges).out;
        report += &job.print(&tally()).out;
        of(dialect, &report, &exact, Some(&Usage::default()))
    }

    /// The page's figures that have neither a counterpart nor a reason for its absence.
    fn lacking(page: &AsPublished, published: &Published, contender: &str) -> Vec<String> {
        let Some(command) = page.command(contender) else { return Vec::new() };
        let Some(others) = page.others(published, contender) else { return Vec::new() };
        let known = known(command);
        let has = |figure: &&String| {
            let counterpart = counterpart(figure);
            let is_measured = counterpart.is_some_and(|counterpart| known.contains_key(&counterpart.name));
            is_measured || published.without.contains_key(*figure)
        };
        let lacking = others.keys().filter(|figure| !has(figure));
        lacking.map(|figure| format!("{}, {contender}: {figure}", page.heading())).collect()
    }

    #[test]
    fn every_figure_of_every_page_has_its_counterpart_or_a_reason() {
        let catalog = Catalog::built_in().unwrap();
        let mut figures = 0;
        let mut without = Vec::new();
        for (name, study) in &catalog.studies {
            let Some(published) = &study.published else { continue };
            for page in &study.as_published {
                for contender in &study.contenders {
                    figures += usize::from(page.rate_per_s(published, contender).is_some());
                    figures += page.others(published, contender).map_or(0, BTreeMap::len);
                    let lacking = lacking(page, published, contender);
                    without.extend(lacking.into_iter().map(|figure| format!("{name}: {figure}")));
                }
            }
            // A figure in the file is of use only if a command line is run in its cell: otherwise there is nothing to compare it with.
            let asked = |cell: &str, contender: &str| {
                let is_its = |page: &&AsPublished| page.cell == cell && page.title.is_none();
                study.as_published.iter().filter(is_its).any(|page| page.command(contender).is_some())
            };
            let of_rates = published.cells.iter().flat_map(|(cell, of)| of.keys().map(move |c| (cell, c)));
            let of_details =
                published.details.iter().flat_map(|(cell, of)| of.keys().map(move |c| (cell, c)));
            for (cell, contender) in of_rates.chain(of_details).filter(|(cell, c)| !asked(cell, c)) {
                without.push(format!("{name}: {cell}, {contender}: no command line is run"));
            }
        }
        assert_eq!(without, Vec::<String>::new());
        assert_eq!(figures, FIGURES, "figures of all pages");
    }

    /// The number of figures on the five pages.
    const FIGURES: usize = 582;

    #[test]
    fn times_are_as_exact_as_they_are_known_where_a_report_rounds_them() {
        let command = ["ab", "-r", "-c", "10", "-n", "100", "{url}"].map(str::to_owned);
        let known = known(&command);
        assert!((known["connect_ns_p50"] / 1e3 - 200.0).abs() < 0.5, "ab prints 0 ms: {known:?}");
        assert!((known["latency_ns_mean"] / 1e6 - 40.0).abs() < 0.1, "{known:?}");
        assert_eq!(known["completed"], 100.0);
    }
}
