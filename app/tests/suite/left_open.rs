//! A server that says `Connection: close` and leaves the closing to its clients: drome in the place of every older tool goes on at
//! once with a new connection.

use crate::common::tools::{Ears, drome, real};

const LAST: &[u8] = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok";

fn expand(line: &str, port: u16, list: &str) -> Vec<String> {
    let word = |word: &str| {
        word.replace("PORT", &port.to_string())
            .replace("URL", &format!("http://127.0.0.1:{port}/"))
            .replace("LIST", list)
    };
    line.split(' ').map(word).collect()
}

/// Beside the real tools where they go on, too: ab (2.3) waits for the server's close instead, for as long as that takes. Debian has no
/// `http_load` and no `weighttp`.
#[test]
fn every_tool_completes_all_requests_without_an_error() {
    let rows: [(&str, &str, &[&str], bool); 7] = [
        ("ab", "-q -n 40 -c 4 URL", &["Complete requests:      40", "Failed requests:        0"], false),
        ("ab", "-q -k -n 40 -c 4 URL", &["Complete requests:      40", "Failed requests:        0"], false),
        ("siege", "-b -c 4 -r 10 -q -j URL", &["\"successful_transactions\":", "40,", "100.00"], true),
        ("httperf", "--port PORT --num-conns 40", &["replies 40", "Errors: total 0"], true),
        ("httperf", "--port PORT --num-conns 40 --rate 400", &["replies 40", "Errors: total 0"], true),
        ("http_load", "-parallel 4 -fetches 40 LIST", &["40 fetches, 4 max parallel, 80 bytes"], false),
        ("weighttp", "-n 40 -c 4 URL", &["40 done, 40 succeeded, 0 failed, 0 errored"], false),
    ];
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("list");
    for (tool, line, wanted, is_beside_real) in rows {
        let server = Ears::new(LAST, false);
        std::fs::write(&list, format!("http://127.0.0.1:{}/\n", server.port)).unwrap();
        let args = expand(line, server.port, list.to_str().unwrap());
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let ours = drome(tool, &args);
        for ended in std::iter::once(ours).chain(is_beside_real.then(|| real(tool, &args))) {
            let told = format!("{}{}", ended.out, ended.err);
            assert!(wanted.iter().all(|words| told.contains(words)), "{tool} {line}: {told}");
        }
    }
}

/// Much less than it could be on however busy a machine; a client that waits a second for each close has a few in all.
#[test]
fn as_many_as_wrk_completes_within_an_order_of_magnitude() {
    let requests = |run: fn(&str, &[&str]) -> crate::common::tools::Ended| {
        let server = Ears::new(LAST, false);
        let ended = run("wrk", &["-t1", "-c4", "-d2s", &format!("http://127.0.0.1:{}/", server.port)]);
        let line = ended.out.lines().find(|line| line.contains(" requests in ")).unwrap_or_default();
        assert!(!ended.out.contains("Socket errors"), "{}", ended.out);
        line.split_whitespace()
            .next()
            .and_then(|n| n.parse::<u64>().ok())
            .unwrap_or_else(|| panic!("{ended:?}"))
    };
    let (ours, theirs) = (requests(drome), requests(real));
    assert!(ours * 10 >= theirs, "{ours} of {theirs}");
}
