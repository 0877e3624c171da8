//! siege's report, written and read again: what was counted comes back, to the report's rounding.

use crate::harness::{self, MS, file, one, parse};
use dialects::{Job, Printed};
use model::{End, Exchange, Loss, Tally};
use proptest::prelude::*;

/// A job with a resource file of this test's own, so that nobody's settings matter.
fn job(rc: &str, args: &[&str]) -> Result<Box<dyn Job>, Printed> {
    let (_file, path) = file(rc);
    parse("siege", &[&["-R", path.as_str()], args].concat())
}

/// One on its own connection: status, ticks of 10 ms, bytes. Status 0: none.
fn exchange(status: u16, ticks: u64, body_bytes: u64) -> Exchange {
    let began = 5_000_000_000;
    let end = match status {
        0 => End::Lost(Loss::Connect),
        status => End::Answered { status, keeps_alive: false },
    };
    harness::exchange(0, 0, [began, began, began, began, began + ticks * 10 * MS], body_bytes, end)
}

fn tally(ticks: u64) -> Tally {
    Tally { duration_ns: ticks * 10_000_000 + 9_999_999, ..Tally::default() }
}

fn any_exchanges() -> impl Strategy<Value = Vec<(u16, u64, u64)>> {
    let status =
        prop::sample::select(vec![200_u16, 204, 301, 304, 401, 404, 408, 418, 500, 503, 509, 510, 0]);
    prop::collection::vec((status, 0..3_000_u64, 0..50_000_000_u64), 0..60)
}

proptest! {
    #[test]
    fn what_is_written_is_read(told in any_exchanges(), elapsed in 0..500_000_u64, as_json in any::<bool>()) {
        let text = if as_json { "json_output = true" } else { "" };
        let mut job = job(text, &["-r", "5", "http://127.0.0.1:1/"]).unwrap();
        let exchanges: Vec<_> = told.iter().map(|&(status, ticks, bytes)| exchange(status, ticks, bytes)).collect();
        exchanges.chunks(7).for_each(|chunk| drop(job.hear(chunk)));
        let printed = job.print(&tally(elapsed));
        let reading = &one("siege", if as_json { &printed.out } else { &printed.err }).reading;
        // By siege's rules, counted once more.
        let is_teapot = |s: u16| s == 418;
        let is_late = |s: u16| s == 408 || (500..=509).contains(&s);
        let hits = told.iter().filter(|t| t.0 > 0 && !is_late(t.0)).count() as f64;
        let failed = told.iter().filter(|t| t.0 == 0 || is_late(t.0) || is_teapot(t.0)).count() as f64;
        let good = told.iter().filter(|t| t.0 > 0 && (t.0 < 400 || t.0 == 401)).count() as f64;
        let bytes: u64 = told.iter().filter(|t| t.0 > 0 && !is_teapot(t.0)).map(|t| t.2).sum();
        let ticks: u64 = told.iter().filter(|t| t.0 > 0).map(|t| t.1).sum();
        prop_assert_eq!(reading.get("completed"), Some(hits));
        prop_assert_eq!(reading.get("failed"), Some(failed));
        prop_assert_eq!(reading.get("successful"), Some(good));
        let near = |name: &str, value: f64, step: f64| {
            let below = || reading.below.contains_key(name).then_some(0.0);
            let read = reading.get(name).or_else(below).unwrap_or(f64::NAN);
            (read - value).abs() <= step * 0.501 + value * 1e-9
        };
        prop_assert!(near("duration_ns", elapsed as f64 * 1e7, 1e5));
        prop_assert!(near("body_bytes", bytes as f64, 1_048_576.0 / 100.0));
        if hits > 0.0 && !as_json {
            prop_assert!(near("latency_ns_mean", ticks as f64 * 1e7 / hits, 1e7));
            prop_assert!(near("availability_percent", hits * 100.0 / (hits + failed), 0.01));
        }
        if elapsed > 0 {
            prop_assert!(near("rate_per_s", hits * 100.0 / elapsed as f64, 0.01));
            prop_assert!(near("concurrency", ticks as f64 / elapsed as f64, 0.01));
        }
        let ended: Vec<_> = told.iter().filter(|t| t.0 > 0 && !is_teapot(t.0)).map(|t| t.1).collect();
        if hits > 0.0 && good > 0.0 && !as_json {
            prop_assert!(near("latency_ns_max", *ended.iter().max().unwrap() as f64 * 1e7, 1e5));
            prop_assert!(near("latency_ns_min", *ended.iter().min().unwrap() as f64 * 1e7, 1e5));
        }
    }

    #[test]
    fn no_command_line_panics(args in prop::collection::vec("[-a-zA-Z0-9=:/ .<$]{0,12}", 0..6)) {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let _ = job("", &args);
    }

    #[test]
    fn no_resource_file_panics(text in "(?s)[a-z=:$#{}() \n-]{0,80}") {
        let _ = job(&text, &["http://127.0.0.1:1/"]);
    }
}

#[test]
fn too_many_failures_end_it() {
    let mut job = job("failures = 3", &["-t", "1H", "http://127.0.0.1:1/"]).unwrap();
    assert_eq!(job.hear(&[exchange(0, 1, 0), exchange(500, 1, 5)]).exit, None);
    assert_eq!(job.hear(&[exchange(200, 1, 5), exchange(0, 1, 0), exchange(0, 1, 0)]).exit, Some(0));
    let printed = job.print(&tally(10));
    assert!(printed.err.starts_with("siege aborted due to excessive socket failure"), "{}", printed.err);
    let reading = one("siege", &printed.err).reading;
    assert_eq!((reading.get("completed"), reading.get("failed")), (Some(1.0), Some(3.0)));
}

#[test]
fn lines_of_verbose_mode() {
    let text = "verbose = true\ncolor = off\n";
    let lines = |more: &str, args: &[&str]| {
        let mut job = job(&format!("{text}{more}"), args).unwrap();
        job.hear(&[exchange(200, 123, 264), exchange(404, 0, 5)]).out
    };
    let url = "http://127.0.0.1:1/a?b";
    assert_eq!(
        lines("", &[url]),
        "HTTP/1.1 200     1.23 secs:     264 bytes ==> GET  /a?b\nHTTP/1.1 404     0.00 secs:       5 bytes ==> GET  /a?b\n"
    );
    let post = lines("display-id = true\n", &[&format!("{url} POST x=1")]);
    assert!(
        post.starts_with("   0) HTTP/1.1 200   1.23 secs:     264 bytes ==> POST http://127.0.0.1:1/a?b\n"),
        "{post}"
    );
    let csv = lines("csv = true\nfullurl = true\n", &["-m", "mine", url]);
    assert!(csv.starts_with("mine,HTTP/1.1,200,  1.23,    264,http://127.0.0.1:1/a?b,0,2"), "{csv}");
    let color = lines("color = on\n", &[url]);
    assert!(
        color.starts_with("\u{1b}[0;34mHTTP/1.1 200") && color.contains("\u{1b}[0;35mHTTP/1.1 404"),
        "{color}"
    );
    assert_eq!(lines("quiet = true\n", &[url]), "");
}

#[test]
fn urls_of_a_list_must_be_on_one_server() {
    let (_list, path) = file("# two\nA=127.0.0.1:1\n$(A)/one\nhttp://$A/two\nhttp://127.0.0.1:2/three\n");
    let printed = job("", &["-f", &path]).err().unwrap();
    assert_eq!(printed.exit, Some(2));
    assert!(
        printed.err.contains("127.0.0.1:2") && printed.err.contains("all URLs must be on one server"),
        "{}",
        printed.err
    );
}
