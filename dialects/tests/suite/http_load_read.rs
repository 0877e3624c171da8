//! `http_load`'s reports, read from texts as they are found.

use crate::harness::{assert_figures, one, read};

/// As page 003 has it, the command line included.
pub const SESSION: &str = "\
http_load -p 10 -s 5 url
29703 fetches, 10 max parallel, 326733 bytes, in 5 seconds
11 mean bytes/connection
5940.6 fetches/sec, 65346.6 bytes/sec
msecs/connect: 0.0394686 mean, 1.172 max, 0.02 min
msecs/first-response: 1.62616 mean, 6.744 max, 0.719 min
HTTP response codes:
  code 200 -- 29703
";

#[test]
fn every_figure_of_the_page() {
    let text = format!("```\n{SESSION}```\n\nAnd [node.js](http://nodejs.org/) v0.6.1 yields 10k r/s:\n");
    let found = one("http_load", &text);
    let reading = &found.reading;
    assert_eq!(reading.command.as_deref(), Some("http_load -p 10 -s 5 url"), "{text}");
    let figures = [
        ("completed", 29703.0),
        ("connections", 10.0),
        ("body_bytes", 326_733.0),
        ("duration_ns", 5e9),
        ("mean_body_bytes", 11.0),
        ("rate_per_s", 5940.6),
        ("body_bytes_per_s", 65346.6),
        ("connect_ns_mean", 39_468.6),
        ("connect_ns_max", 1_172_000.0),
        ("connect_ns_min", 20_000.0),
        ("first_byte_ns_mean", 1_626_160.0),
        ("first_byte_ns_max", 6_744_000.0),
        ("first_byte_ns_min", 719_000.0),
    ];
    assert_figures(reading, &figures);
    assert_eq!(reading.status.get("200"), Some(&29703));
    assert!(found.strange.is_empty() && text[found.at].ends_with("-- 29703"));
}

#[test]
fn what_went_wrong_is_told() {
    let text = "http://a/: byte count wrong\n100 fetches, 7 max parallel, 1.67544e+06 bytes, in 5.00001 seconds\n3 timeouts\n12 bad byte counts\nHTTP response codes:\n  code 200 -- 80\n  code 404 -- 17\n99 fetches, 7 max parallel, 0 bytes, in 1 seconds\n2 bad checksums\n";
    let found = read("http_load", text);
    assert_eq!(found.len(), 2);
    let reading = &found[0].reading;
    assert_eq!(reading.get("body_bytes"), Some(1_675_440.0));
    assert_eq!((reading.errors["timeouts"], reading.errors["bad byte counts"]), (3, 12));
    assert_eq!((reading.status["200"], reading.status["404"]), (80, 17));
    assert_eq!(found[1].reading.errors["bad checksums"], 2);
    assert_eq!(found[1].reading.get("rate_per_s"), None);
}

#[test]
fn strange_lines_are_kept_and_others_are_left() {
    let found = one(
        "http_load",
        "5 fetches, 1 max parallel, 9 bytes, in 1 seconds\nwell, well\n1.8 mean bytes/connection\nThe end.\n",
    );
    assert_eq!(found.strange, ["well, well"]);
}
