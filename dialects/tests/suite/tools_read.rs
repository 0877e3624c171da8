//! Reports of many tools, most printed by the tools themselves, and whatever logs, mails and pages put around them.

use dialects::page::{self, Item, decode};
use model::Reading;
use std::path::Path;

fn report(name: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reports").join(name);
    std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// The one report of a text.
fn one(text: &str) -> Item {
    let page = page::read(text);
    assert_eq!((page.items.len(), &page.strange[..]), (1, &[][..]), "{:?}\nof\n{text}", page.items);
    page.items.into_iter().next().unwrap()
}

/// A report, its tool, and some of its figures.
type Case = (&'static str, &'static str, &'static str);

const CASES: &[Case] = &[
    ("hey.txt", "hey", "rate_per_s 4997.8342 completed 2000 latency_ns_p99 19.2e6 body_bytes 24000"),
    ("hey-errors.txt", "hey", "rate_per_s 3616.415 completed 383 failed 17"),
    (
        "bombardier.txt",
        "bombardier",
        "rate_per_s 14913.36 connections 20 latency_ns_p95 5.57e6 completed 3000",
    ),
    ("bombardier-errors.txt", "bombardier", "rate_per_s 8330.56 failed 4"),
    (
        "bombardier.json",
        "bombardier",
        "rate_per_s 22740.1357554 latency_ns_p99 5.297e6 received_bytes 490293",
    ),
    (
        "autocannon-8.txt",
        "autocannon",
        "rate_per_s 15098 latency_ns_p99 3e6 latency_ns_mean 0.2e6 connections 10",
    ),
    ("autocannon-7-percentiles.txt", "autocannon", "rate_per_s 20624 latency_ns_p999 7e6"),
    ("autocannon-8-errors.txt", "autocannon", "rate_per_s 496 failed 22 threads 2"),
    ("autocannon.json", "autocannon", "rate_per_s 6590 latency_ns_p50 167e6 completed 13178"),
    (
        "vegeta.txt",
        "vegeta",
        "rate_per_s 172.71 sent_per_s 200.93 latency_ns_mean 533807 latency_ns_p99 2.967e6",
    ),
    ("vegeta.json", "vegeta", "rate_per_s 172.708075823 latency_ns_p99 2966696"),
    ("k6.txt", "k6", "rate_per_s 4000.120311 latency_ns_max 62.5e9 failed 20 received_bytes 6.1e6"),
    ("k6-1.txt", "k6", "rate_per_s 4000.120311 latency_ns_p99 7.5e6 failed 20"),
    ("k6.json", "k6", "rate_per_s 4000.120311 latency_ns_p50 0.9901e6 failed 20"),
    ("zrk.txt", "zrk", "rate_per_s 999.8 offered_rate_per_s 1000 latency_ns_p999 13.36e6 connections 50"),
    ("zrk.json", "zrk", "rate_per_s 999.8 offered_rate_per_s 1000 latency_ns_p9999 13.988e6"),
    ("gcannon.txt", "gcannon", "rate_per_s 148180 latency_ns_mean 431e3 completed 740938 connections 64"),
    ("gcannon-tui.txt", "gcannon", "rate_per_s 148180 latency_ns_p999 4.11e6"),
    ("gcannon.json", "gcannon", "rate_per_s 148157.97 latency_ns_p999 4.11e6"),
    ("wrk.txt", "wrk", "rate_per_s 52100.4 latency_ns_p99 3.9e6 connections 64"),
    ("ab.txt", "ab", "rate_per_s 19960.08 latency_ns_p99 2e6 connections 10"),
    ("siege.json", "siege", "rate_per_s 9092.91 latency_ns_max 210e6"),
];

/// Checks that a reading has the figures of a text such as `completed 2000 failed 3`.
#[track_caller]
fn assert_has(reading: &Reading, figures: &str, file: &str) {
    let words: Vec<&str> = figures.split_whitespace().collect();
    for figure in words.chunks(2) {
        let value: f64 = figure[1].parse().unwrap();
        assert_eq!(reading.get(figure[0]), Some(value), "{file}: {} of {reading:?}", figure[0]);
    }
}

#[test]
fn every_tool_is_read() {
    for (file, tool, figures) in CASES {
        let item = one(&report(file));
        assert_eq!(item.reading.tool, *tool, "{file}");
        assert_has(&item.reading, figures, file);
    }
}

#[test]
fn nothing_around_a_report_changes_it() {
    let each =
        |text: &str, before: &str| text.lines().map(|line| format!("{before}{line}\n")).collect::<String>();
    for (file, ..) in CASES {
        let bare = report(file);
        let reading = one(&bare).reading;
        let mut ways: Vec<String> = [
            "bench-1  | ",
            "2026-01-02T03:04:05.678Z ",
            "2026-01-02T03:04:05.678901234Z stdout F ",
            "build\trun it\t2026-01-02T03:04:05.678Z ",
            "Jan  2 03:04:05 host bench[123]: ",
            "[pod/bench/x] ",
            "[03:04:05] ",
            "> ",
            ">> ",
            "    ",
            "\u{a0}",
            "\t",
        ]
        .map(|before| each(&bare, before))
        .to_vec();
        ways.push(bare.replace('\n', "\r\n"));
        ways.push(format!("\u{feff}{bare}"));
        ways.push(format!("Some words:\n\n```text\n{bare}```\n\nand more words.\n"));
        ways.push(each(&bare, "\x1b[90m").replace('\n', "\x1b[39m\n"));
        let escaped = bare.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        ways.push(format!("<!DOCTYPE html><html><body><p>Words:</p><pre>{escaped}</pre></body></html>"));
        let units: Vec<u8> = bare.encode_utf16().flat_map(u16::to_le_bytes).collect();
        ways.push(decode([&[0xff, 0xfe], &units[..]].concat()).unwrap().0);
        for text in ways {
            let page = page::read(&text);
            let [item] = &page.items[..] else { panic!("{file}: {:?}\nof\n{text}", page.items) };
            assert_eq!(item.reading.figures, reading.figures, "{file}:\n{text}");
            assert_eq!(item.reading.below, reading.below, "{file}:\n{text}");
            assert_eq!(item.reading.status, reading.status, "{file}:\n{text}");
        }
    }
}

#[test]
fn several_reports_in_one_text_are_all_read_and_keep_their_headings() {
    let text: String =
        CASES.iter().map(|(file, ..)| format!("# Of {file}\n\n```\n{}\n```\n\n", report(file))).collect();
    let page = page::read(&text);
    assert_eq!(page.items.len(), CASES.len(), "{:?}", page.items);
    for ((file, tool, figures), item) in CASES.iter().zip(&page.items) {
        assert_eq!(item.reading.tool, *tool, "{file}");
        assert_eq!(item.reading.title.as_deref(), Some(&format!("Of {file}")[..]));
        assert_has(&item.reading, figures, file);
    }
}

#[test]
fn a_report_that_breaks_off_has_no_wrong_figure() {
    for (file, ..) in CASES {
        let whole = report(file);
        let figures = one(&whole).reading.figures;
        // Every place would take long; these are in lines, figures and units alike.
        for (end, _) in whole.char_indices().skip(file.len() % 11).step_by(11) {
            for item in page::read(&whole[..end]).items {
                // Sums of what was counted so far are less.
                let is_sum = |name: &str| ["completed", "failed", "rate_per_s"].contains(&name);
                for (name, value) in item.reading.figures.iter().filter(|(name, _)| !is_sum(name)) {
                    assert_eq!(figures.get(name), Some(value), "{file}: {name} of\n{}", &whole[..end]);
                }
            }
        }
    }
}

#[test]
fn a_time_of_0_is_below_what_the_tool_can_show() {
    let cases = [
        ("autocannon-8.txt", "latency_ns_p50", 1e6),
        ("ab.txt", "latency_ns_p50", 1e6),
        ("ab.txt", "connect_ns_sd", 1e5),
        ("siege.json", "latency_ns_mean", 1e7),
        ("hey.txt", "connect_ns_min", 1e5),
        ("k6.txt", "connect_ns_min", 1.0),
    ];
    for (file, name, below) in cases {
        let reading = one(&report(file)).reading;
        assert_eq!((reading.get(name), reading.below.get(name)), (None, Some(&below)), "{file}: {name}");
    }
    for (file, ..) in CASES {
        let reading = one(&report(file)).reading;
        let zeros: Vec<_> =
            reading.figures.iter().filter(|(name, v)| name.contains("_ns_") && **v == 0.0).collect();
        assert!(zeros.is_empty(), "{file}: {zeros:?}");
    }
}

#[test]
fn without_an_answer_there_is_no_latency() {
    for file in ["hey-none.txt", "bombardier-none.txt", "vegeta-none.txt", "autocannon-none.txt"] {
        let item = one(&report(file));
        let latencies = item.reading.figures.keys().chain(item.reading.below.keys());
        let latencies: Vec<&String> = latencies.filter(|name| name.starts_with("latency_ns")).collect();
        assert!(latencies.is_empty(), "{file}: {latencies:?}");
        assert!(item.notes.iter().any(|note| note.contains("failed")), "{file}: {:?}", item.notes);
    }
}

#[test]
fn answers_with_a_status_of_failure_are_errors() {
    let httperf = "Total: connections 100 requests 100 replies 95 test-duration 1.000 s\n\
        Reply status: 1xx=0 2xx=90 3xx=0 4xx=2 5xx=3\n\n\
        Errors: total 5 client-timo 5 socket-timo 0 connrefused 0 connreset 0\n\
        Errors: fd-unavail 0 addrunavail 0 ftab-full 0 other 0\n";
    let http_load = "100 fetches, 1 max parallel, 900 bytes, in 1 seconds\n100 fetches/sec, 900 bytes/sec\n2 bad byte counts\n\
        HTTP response codes:\n  code 200 -- 90\n  code 503 -- 10\n";
    let cases: &[(String, u64, &str)] = &[
        (report("hey.txt"), 285, "285 of 2000"),
        (report("hey-errors.txt").replace("[200]", "[500]"), 400, "400 of 400"),
        (report("bombardier-errors.txt").replace("5xx - 0", "5xx - 350"), 354, "354 of 8704"),
        (
            report("autocannon-8-errors.txt")
                .replace("22 errors", "460 2xx responses, 40 non 2xx responses\n22 errors"),
            62,
            "62 of 522",
        ),
        (report("autocannon.json").replace("\"5xx\":0", "\"5xx\":1000"), 1000, "1000 of 13178"),
        (report("vegeta.txt"), 28, "28 of 200"),
        (report("vegeta.json"), 28, "28 of 200"),
        (report("zrk.json"), 11, ""),
        (report("gcannon.txt").replace("5xx=38", "5xx=100038"), 100_041, "100041 of 740941"),
        (
            report("ab.txt").replace(
                "Failed requests:        0",
                "Failed requests:        0\nNon-2xx responses:      900",
            ),
            900,
            "900 of",
        ),
        (
            report("wrk.txt").replace("Requests/sec", "  Non-2xx or 3xx responses: 521004\nRequests/sec"),
            521_004,
            "521004 of 521004",
        ),
        (httperf.to_owned(), 10, "10 of 100"),
        (http_load.to_owned(), 10, "10 of 100"),
        (
            report("siege.json").replace(
                "91020,\n\t\"failed_transactions\":\t\t           0",
                "90000,\n\t\"failed_transactions\":\t\t 80",
            ),
            1100,
            "1100 of 91100",
        ),
    ];
    for (text, errors, words) in cases {
        let item = one(text);
        assert_eq!(item.reading.errors.values().sum::<u64>(), *errors, "{:?}\nof\n{text}", item.reading);
        let notes = item.notes.join("; ");
        assert!(
            notes.contains(words) && notes.contains("requests failed") != words.is_empty(),
            "{notes}\nof\n{text}"
        );
    }
}

#[test]
fn what_a_tool_always_prints_is_understood() {
    let bar = "\n 3000 / 3000 [=======] 100.00% 8123/s 12s\nDone!";
    let calibrated =
        "Thread calibration: mean lat.: 9747 usec, rate sampling interval: 21 msec\n  Thread Stats";
    for text in [
        report("bombardier-errors.txt"),
        report("bombardier.txt").replace("\nDone!", bar),
        report("wrk.txt").replace("Thread Stats", calibrated),
    ] {
        assert_eq!(one(&text).strange, [""; 0], "{text}");
    }
}

#[test]
fn what_can_not_be_right_is_said() {
    let wrk = report("wrk.txt");
    let cases = [
        (wrk.replace("52100.40", "648000000.00"), "more than any server answers"),
        (wrk.replace("requests in 10.00s", "requests in 1.25ms"), "it ran for 0.001 s, not for 10 s"),
        (wrk.replace("52100.40", "5.21"), "contradict"),
        (wrk.replace("99%    3.90ms", "99%    0.90ms"), "the latency's p90 is above its p99"),
        (
            report("ab.txt").lines().take(25).map(|line| format!("{line}\n")).collect(),
            "no latency: it may be cut off",
        ),
        (wrk.lines().take(5).map(|line| format!("{line}\n")).collect(), "it may be cut off"),
    ];
    for (text, words) in cases {
        let notes = one(&text).notes;
        assert!(notes.iter().any(|note| note.contains(words)), "{words} is not in {notes:?}");
    }
    assert_eq!(one(&wrk).notes, Vec::<String>::new());
    let nan =
        one(&wrk
            .replace("Req/Sec    13.10k     1.01k   15.20k    70.25%", "Req/Sec  -nan  -nan  0.00  0.00%"));
    assert_eq!(nan.strange, ["Req/Sec: nan (no figure)"]);
    let page = page::read("Running 10s test @ http://h/\n");
    assert!(page.items.is_empty() && page.strange[0].contains("a report of wrk without figures"), "{page:?}");
    let page = page::read(&report("ab.txt")[..300]);
    assert!(page.items.is_empty() && page.strange[0].contains("a report of ab without figures"), "{page:?}");
    let page = page::read("---- Global Information ------\n> request count 5\n");
    assert!(page.strange[0].contains("Gatling"), "{page:?}");
}

#[test]
fn command_lines_with_quotes_tell_reports_apart() {
    let rule = "-".repeat(57);
    let wrk = report("wrk.txt");
    let of = |connections: &str| {
        let command = format!(
            "wrk -H 'Host: tfb-server' -H \"Connection: keep-alive\" --latency -d 10 -c {connections} -t 4 http://h:1/p -s pipeline.lua -- 16"
        );
        (format!("{rule}\n Concurrency: {connections} for p\n {command}\n{rule}\n"), command)
    };
    let mut text = String::new();
    for connections in ["16", "64", "256"] {
        text += &(of(connections).0 + &wrk.replace("64 connections", &format!("{connections} connections")));
        text += "STARTTIME 1\nENDTIME 2\n";
    }
    text += &(of("1024").0 + "unable to connect to h:1 Cannot assign requested address\n");
    let page = page::read(&text);
    let commands: Vec<_> = page.items.iter().map(|item| item.reading.command.clone().unwrap()).collect();
    assert_eq!(commands, ["16", "64", "256"].map(|connections| of(connections).1));
    assert!(page.items.iter().all(|item| item.notes.is_empty() && item.reading.title.is_none()), "{page:?}");
    let failed = format!("{}: unable to connect to h:1 Cannot assign requested address", of("1024").1);
    assert_eq!(page.strange, [failed]);
}

#[test]
fn connections_come_from_the_command_line_where_the_report_has_none() {
    for (command, connections) in [
        ("oha -c 50 -z 5s --no-tui http://h/", 50.0),
        ("$ hey -z 5s -c 20 http://h/", 20.0),
        ("hey -c=20 http://h/", 20.0),
    ] {
        let text = report("hey.txt");
        let text = if command.starts_with("oha") {
            text.replace("Summary:", "Summary:\n  Success rate: 100.00%")
        } else {
            text
        };
        let reading = one(&format!("{command}\n{text}")).reading;
        assert_eq!(reading.get("connections"), Some(connections), "{command}");
    }
}

#[test]
fn two_clients_in_one_log_are_two_reports() {
    let text = report("wrk.txt");
    let lines = text.lines().zip(text.lines());
    let log: String = lines
        .map(|(a, b)| {
            format!(
                "one-1  | {a}\ntwo-1  | {}\n",
                b.replace("52100.40", "41000.00").replace("521004", "410000")
            )
        })
        .collect();
    let page = page::read(&log);
    let rates: Vec<_> = page
        .items
        .iter()
        .map(|item| (item.reading.title.clone().unwrap(), item.reading.get("rate_per_s")))
        .collect();
    assert_eq!(rates, [("one-1".to_owned(), Some(52_100.4)), ("two-1".to_owned(), Some(41_000.0))]);
}

#[test]
fn no_character_that_acts_comes_out_of_a_page() {
    let page = page::read(
        "<html><h1>A&#27;[31m&#x9b;B&#7;&#x202e;</h1><table><tr><th>name</th><th>req/s</th></tr><tr><td>x&#27;]0;y&#7;</td><td>5</td></tr></table></html>",
    );
    let json = "{\"zrk_version\": \"1\\u001b[2J\", \"achieved_rate\": 5, \"target\": {\"url\": \"http://h/\\u0007\"}}";
    for text in [format!("{page:?}"), format!("{:?}", page::read(json))] {
        for character in ["\\u{1b}", "\\u{7}", "\\u{9b}", "\\u{202e}"] {
            assert!(!text.contains(character), "{text}");
        }
    }
    assert_eq!(page.items.len(), 1);
}
