//! `http_load` as drome speaks it, against real servers. The program itself is in no registry; what its report looks
//! like, and from what, is in the goldens of `dialects/tests/suite/http_load_print.rs`.

use crate::common::tools::{drome, shape, wire};
use crate::common::{Home, serve};
use dialects::read;

const OK: &[u8] = b"HTTP/1.0 200 OK\r\nContent-Length: 12\r\n\r\nhello world\n";

#[test]
fn the_command_of_the_page() {
    let server = serve(&["--fault", "delay=5ms"]);
    let finished = drome("http_load", &["-p", "10", "-s", "1", &format!("http://{}/hello", server.address)]);
    assert_eq!((finished.code, finished.err.as_str()), (Some(0), ""));
    assert_eq!(
        shape(&finished.out).replace("e+# ", " "),
        "# fetches, # max parallel, # bytes, in # seconds\n# mean bytes/connection\n# fetches/sec, # bytes/sec\n\
         msecs/connect: # mean, # max, # min\nmsecs/first-response: # mean, # max, # min\n\
         HTTP response codes:\n  code # -- #\n"
    );
    let reading = &read(&finished.out, "http_load")[0].reading;
    let get = |name| reading.get(name).unwrap();
    assert_eq!((get("connections"), get("mean_body_bytes")), (10.0, 12.0));
    assert_eq!(reading.status["200"] as f64, get("completed"));
    assert!(get("completed") >= 10.0 && get("duration_ns") >= 0.99e9);
}

#[test]
fn so_many_fetches_and_no_more() {
    let server = serve(&[]);
    let home = Home::new();
    let list = home.write("urls", &format!("http://{0}/hello\nhttp://{0}/nowhere\n", server.address));
    let finished = drome("http_load", &["-parallel", "4", "-fetches", "100", list.to_str().unwrap()]);
    let reading = &read(&finished.out, "http_load")[0].reading;
    assert_eq!(
        (finished.code, reading.get("completed"), reading.get("connections")),
        (Some(0), Some(100.0), Some(4.0))
    );
    let codes: Vec<_> = reading.status.keys().cloned().collect();
    assert_eq!(codes, ["200", "404"], "{}", finished.out);
    assert_eq!(reading.status.values().sum::<u64>(), 100);
}

#[test]
fn a_rate_is_kept() {
    let server = serve(&[]);
    let url = format!("http://{}/hello", server.address);
    let finished = drome("http_load", &["-rate", "50", "-seconds", "2", &url]);
    let reading = &read(&finished.out, "http_load")[0].reading;
    let completed = reading.get("completed").unwrap();
    assert!((1.0..=101.0).contains(&completed), "{}", finished.out);
    let finished = drome("http_load", &["-r", "500", "-f", "20", &url]);
    assert_eq!(
        read(&finished.out, "http_load")[0].reading.get("completed"),
        Some(20.0),
        "{}{}",
        finished.out,
        finished.err
    );
}

#[test]
fn a_rate_with_jitter_is_kept_too() {
    let server = serve(&[]);
    let url = format!("http://{}/hello", server.address);
    let finished = drome("http_load", &["-rate", "100", "-jitter", "-fetches", "30", &url]);
    let reading = &read(&finished.out, "http_load")[0].reading;
    assert_eq!((finished.code, reading.get("completed")), (Some(0), Some(30.0)), "{finished:?}");
    // 29 times between two starts, none of them shorter than 9 ms. A slow machine only makes them longer.
    assert!(reading.get("duration_ns").unwrap() >= 29.0 * 9e6, "{}", finished.out);
}

#[test]
fn encrypted_servers_too() {
    let server = serve(&["--tls"]);
    let finished = drome("http_load", &["-p", "2", "-f", "6", &format!("https://{}/hello", server.address)]);
    let reading = &read(&finished.out, "http_load")[0].reading;
    assert_eq!((reading.get("completed"), reading.status.get("200")), (Some(6.0), Some(&6)), "{finished:?}");
}

#[test]
fn what_goes_wrong_is_told() {
    let finished = drome("http_load", &["-p", "2", "-f", "3", "http://127.0.0.1:1/x"]);
    assert_eq!(finished.code, Some(0));
    assert_eq!(finished.err, "http://127.0.0.1:1/x: Connection refused\n".repeat(3));
    assert_eq!(
        finished.out,
        "3 fetches, 2 max parallel, 0 bytes, in 0 seconds\n0 mean bytes/connection\nHTTP response codes:\n"
    );
    let finished = drome("http_load", &["-p", "2", "-f", "3", "-checksum", "http://127.0.0.1:1/x"]);
    assert!(
        finished.code == Some(2) && finished.err.starts_with("drome http_load: -checksum is not supported: ")
    );
    assert_eq!(drome("http_load", &["-p", "2"]).code, Some(1));
}

#[test]
fn the_request_has_no_port_in_its_host() {
    let heard =
        wire(|url| drop(drome("http_load", &["-p", "1", "-f", "1", &format!("{url}/a?b")])), OK, true);
    assert_eq!(heard, "GET /a?b HTTP/1.0\r\nHost: 127.0.0.1\r\nUser-Agent: http_load 12mar2006\r\n\r\n");
    let through = |url: &str| {
        let proxy = url.trim_start_matches("http://");
        drop(drome("http_load", &["-proxy", proxy, "-p", "1", "-f", "1", "http://a.invalid:81/c"]));
    };
    let heard = wire(through, OK, true);
    assert!(heard.starts_with("GET http://a.invalid:81/c HTTP/1.0\r\nHost: a.invalid\r\n"), "{heard}");
}
