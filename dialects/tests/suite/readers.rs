//! What holds for the reader of each older tool: whatever is around a report, however it was copied, and wherever it breaks off.

use crate::harness::{one, read};
use crate::{ab_read, h2load_read, http_load_read, httperf_read, siege_read, weighttp_read, wrk_read};
use dialects::page;
use dialects::readers;
use model::Reading;
use proptest::prelude::*;

/// Tools, each with a command line and what it printed.
fn sessions() -> Vec<(&'static str, String)> {
    let httperf = format!("$ {}\n{}\n{}", httperf_read::TYPED, httperf_read::ECHO, httperf_read::REPORT);
    vec![
        ("ab", ab_read::OLD.to_owned()),
        ("ab", ab_read::FAILED.to_owned()),
        ("siege", siege_read::TERMINAL.to_owned()),
        ("wrk", format!("$ wrk -t2 -c10 http://a/\n{}", wrk_read::WHOLE)),
        ("wrk2", format!("# wrk2 -R2k http://b/\n{}", wrk_read::WRK2)),
        ("http_load", format!("$ {}", http_load_read::SESSION)),
        (
            "weighttp",
            format!("$ weighttp -n 10000 -c 11 -t 2 -k localhost/index.html\n{}", weighttp_read::REPORT),
        ),
        ("httperf", httperf),
        ("h2load", h2load_read::REPORT.to_owned()),
    ]
}

#[test]
fn however_it_was_copied() {
    for (tool, session) in sessions() {
        let plain = one(tool, &session).reading;
        let each = |before: &str| session.lines().map(|line| format!("{before}{line}\n")).collect::<String>();
        let one_line = session.split_whitespace().collect::<Vec<_>>().join(" ");
        for text in [
            session.replace('\n', "\r\n"),
            session.replace('\n', " "),
            session.replace('\n', "\r\n    "),
            each("    "),
            each("> "),
            each("\u{a0}"),
            session.replace('<', "&lt;"),
            format!("# Results\n\nOn a laptop:\n\n```\n{session}```\n\nThat is all.\n"),
            format!("Text. {one_line} More text. $ curl http://b/"),
            one_line + "\n",
        ] {
            let found = one(tool, &text);
            assert_eq!(found.reading, plain, "{tool} of\n{text}");
            assert_eq!(found.strange, [""; 0], "{tool} of\n{text}");
            assert!(text.get(found.at).is_some(), "{tool} of\n{text}");
        }
    }
}

#[test]
fn several_in_one_text_are_told_apart() {
    let sessions = [sessions(), sessions()].concat();
    let all: String = sessions
        .iter()
        .map(|(tool, text)| format!("## With {tool}\n\nIt: took\n\n{text}\nwords\n"))
        .collect();
    let one_line = all.split_whitespace().collect::<Vec<_>>().join(" ");
    // A page's headings name its reports, and one without a command has that of the report before.
    let readings = |text: &str| -> Vec<Reading> {
        let bare = |reading| Reading { title: None, command: None, ..reading };
        page::read(text).items.into_iter().map(|item| bare(item.reading)).collect()
    };
    let alone: Vec<_> = sessions.iter().flat_map(|(_, session)| readings(session)).collect();
    assert_eq!(alone.len(), sessions.len(), "each is one report");
    for text in [all, one_line] {
        assert_eq!(readings(&text), alone, "{text}");
        for (tool, session) in &sessions {
            let whole = one(tool, session).reading;
            assert!(read(tool, &text).iter().any(|found| found.reading == whole), "{tool} in\n{text}");
        }
    }
}

/// Every beginning of a report says a part of what the whole says, and nothing else.
#[test]
fn what_is_cut_is_not_guessed() {
    for (tool, session) in sessions() {
        let whole = one(tool, &session).reading;
        for (end, _) in session.char_indices() {
            for found in read(tool, &session[..end]) {
                // httperf's rate is reckoned from another line where one is missing.
                let figures = found
                    .reading
                    .figures
                    .iter()
                    .filter(|(name, _)| tool != "httperf" || *name != "rate_per_s");
                for (name, value) in figures {
                    assert_eq!(whole.get(name), Some(*value), "{tool}: {name} in {:?}", &session[..end]);
                }
                assert!(found.strange.is_empty() && found.at.end <= end, "{tool}: {found:?}");
            }
        }
    }
}

/// Texts that look like reports of a tool, and are none.
const OTHERS: &[(&str, &str)] = &[
    ("ab", "Requests per second: more"),
    ("ab", "Benchmarking web servers is fun. Total: 5"),
    ("ab", "ab prints Server Software: and Document Path: and then its table."),
    ("ab", "Percentage of the requests served within a certain time (ms)\n  50% 28\n"),
    ("ab", "Connect: 1 2 3 4 5"),
    ("siege", "Transactions:"),
    ("siege", "Transactions: 12"),
    ("siege", "Transactions: many hits"),
    ("siege", "transactions:                        12345  (1234.50 per sec.)"),
    ("siege", "{\"transactions\": 12}"),
    ("siege", "{\"transactions\": \"12\", \"availability\": 1}"),
    ("siege", "Availability: 100 %"),
    ("wrk", "Running"),
    ("wrk", "Running 1s test @"),
    ("wrk", "Running 1s test @ nowhere"),
    ("wrk", "Running late test @ http://a/"),
    ("wrk", "Making 1 requests"),
    ("httperf", "httperf --hog --client=0/1"),
    ("httperf", "The line `Reply time [ms]: response 72.1 transfer 1.9` says it."),
    ("httperf", "Total: connections are made"),
    ("httperf", "Errors: total"),
    ("httperf", "we ran httperf --hog and it said Connection rate: fast"),
    ("http_load", "5 fetches"),
    ("http_load", " fetches, "),
    ("http_load", "git fetches, 1 max parallel"),
    ("http_load", "5 fetches, 1 max parallel, 9"),
    ("weighttp", "weighttp -n 5 x"),
    ("weighttp", "starting benchmark..."),
    ("weighttp", "finished in 1 sec"),
    ("weighttp", "status codes: many"),
    ("h2load", "finished in 1 sec, 2 millisec and 3 microsec, 100 req/s, 5 kbyte/s\n"),
    ("h2load", "finished in "),
    ("h2load", "finished in 5s"),
    ("h2load", "finished in 5s, x"),
    ("h2load", "finished in 1.2.3s, 4 req/s"),
];

#[test]
fn other_texts_are_no_reports() {
    for (tool, text) in OTHERS {
        assert_eq!(read(tool, text), [], "{tool}: {text}");
    }
    for tool in readers() {
        assert_eq!(read(tool, ""), [], "{tool}");
    }
    assert_eq!(read("weighttp", &weighttp_read::REPORT[..200]), []);
}

/// Not a test of speed: what takes time that grows with the square of the length would take hours.
#[test]
fn long_texts_take_no_longer_than_they_are_long() {
    let flat = |text: &str| text.replace('\n', " ");
    let httperf = flat(&format!("{}\n{}", httperf_read::ECHO, httperf_read::REPORT));
    let cases: Vec<(&str, String, usize, usize)> = vec![
        ("ab", flat(ab_read::OLD), 8_000, 8_000),
        ("ab", "Benchmarking Total: ( ab ".to_owned(), 400_000, 0),
        ("siege", siege_read::TERMINAL.to_owned(), 3000, 3000),
        ("siege", "Transactions: 1 x ".to_owned(), 100_000, 0),
        ("siege", "Transactions: ".to_owned(), 150_000, 0),
        ("siege", "\"transactions\":1,\"".to_owned(), 100_000, 0),
        ("siege", "> ".to_owned(), 1_000_000, 0),
        ("siege", "\u{a0}".to_owned(), 1_000_000, 0),
        ("siege", "** SIEGE ".to_owned(), 200_000, 0),
        ("siege", "\n".to_owned(), 2_000_000, 0),
        ("wrk", "Running ".to_owned(), 1_000_000, 0),
        ("wrk", "Running 1s test @ http://a/ ".to_owned(), 300_000, 300_000),
        ("wrk", "Running 1s test @ http://a/ 1 1 1 1 1 ".to_owned(), 200_000, 200_000),
        ("wrk", "ing ".to_owned(), 2_000_000, 0),
        ("wrk", wrk_read::WHOLE.to_owned(), 10_000, 10_000),
        ("http_load", "1 fetches, ".to_owned(), 200_000, 0),
        ("http_load", "1 fetches, 1 max parallel, 1 bytes, in 1 seconds ".to_owned(), 40_000, 40_000),
        ("http_load", "1".to_owned(), 2_000_000, 0),
        ("http_load", " ".to_owned(), 2_000_000, 0),
        ("http_load", "a b\n".to_owned(), 500_000, 0),
        ("weighttp", "finished in 1 sec, ".to_owned(), 300_000, 0),
        ("weighttp", "weighttp - ".to_owned(), 300_000, 0),
        ("httperf", httperf, 6_000, 6_000),
        ("httperf", "httperf -".to_owned(), 500_000, 0),
        ("httperf", "Total: connections 1 ".to_owned(), 200_000, 0),
        ("httperf", "Errors: total 1\n".to_owned(), 300_000, 0),
        ("httperf", "httperf --client=0/1 ".to_owned(), 200_000, 0),
        ("httperf", "# ".to_owned(), 2_000_000, 0),
    ];
    for (tool, piece, times, reports) in cases {
        let text = piece.repeat(times);
        assert_eq!(read(tool, &text).len(), reports, "{tool}: {piece}");
        if tool == "siege" {
            let last = read(tool, &(text + "Transactions: 5 hits")).pop();
            assert_eq!(last.and_then(|found| found.reading.get("completed")), Some(5.0), "{piece}");
        }
    }
    for tail in ["Latency ".repeat(1_000_000), "1 requests in Latency ".repeat(300_000)] {
        assert_eq!(read("wrk", &format!("Running 1s test @ http://a/ {tail}")).len(), 1);
    }
}

proptest! {
    #[test]
    fn no_text_is_too_strange(text in "(?s).{0,200}", pieces in prop::collection::vec((0..9_usize, 0..2000_usize), 1..8)) {
        let sessions = sessions();
        let piece = |(session, at): &(usize, usize)| {
            let text = &sessions[*session].1;
            text.get(at % text.len()..).map_or_else(String::new, |rest| rest.chars().take(30).collect())
        };
        let pieces: String = pieces.iter().map(piece).collect();
        for text in [text, pieces] {
            for tool in readers() {
                for found in read(tool, &text) {
                    prop_assert!(text.get(found.at.clone()).is_some(), "{tool}: {found:?}");
                }
            }
        }
    }
}
