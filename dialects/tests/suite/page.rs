//! Whatever is thrown at the reader of pages, it comes to an end and says nothing that can't be kept.

use dialects::page;
use proptest::prelude::*;

/// What pages are made of.
const PIECES: &[&str] = &[
    "# A\n",
    "##B\n",
    "```\n",
    "    ",
    "\n",
    "\r\n",
    "| a | req/s |\n",
    "|---|---|\n",
    "| x | 1.5k |\n",
    "<table><tr><td>",
    "</td>",
    "<pre>",
    "</pre>",
    "<h2>",
    "</h2>",
    "<!--",
    "-->",
    "<html>",
    "&lt;",
    "&#x",
    "<",
    "é",
    "\u{1b}[1m",
    "$ ab -n 1 http://h/\n",
    "`wrk -c1 http://h/`",
    "Running 10s test @ http://h/\n",
    "Requests/sec: 12.5\n",
    "Transactions: 3 hits\n",
    "finished in 1.00s, 5.00 req/s, 1B/s\n",
    "requests: 4 total, 4 started\n",
    "Summary:\n  Success rate:\t1.0\n",
    "  Total:\t0.5 secs\n",
    "[200] 4 responses\n",
    "{\"summary\": {\"requestsPerSec\": 1e999}}",
    "Server Software: x\n",
    "Requests per second:    5.00 [#/sec] (mean)\n",
    "38m RES\n",
    "99999999999999999999999999",
    "5 fetches, 1 max parallel, 2 bytes, in 3 seconds\n",
    "Title\n=====\n",
    "A | B |\n1 | 2 |\n",
    "requests per second",
];

proptest! {
    #[test]
    fn any_mixture_of_pieces(picks in prop::collection::vec(0..PIECES.len(), 0..60), cut in 0..2000_usize) {
        let mut text: String = picks.iter().map(|pick| PIECES[*pick]).collect();
        if let Some((at, _)) = text.char_indices().nth(cut) {
            text.truncate(at);
        }
        for item in page::read(&text).items {
            prop_assert!(item.reading.figures.values().all(|value| value.is_finite()), "{item:?}");
        }
    }

    #[test]
    fn any_text(text in "\\PC*") {
        let _ = page::read(&text);
    }
}
