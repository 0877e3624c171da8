//! Answers of the reference server that depend on the request: JSON with the query's number, and echoes.

use crate::common::http;
use crate::common::{Home, back_ends, load, run, serve};
use std::io::Write;

#[test]
fn json_has_the_number_of_the_query() {
    let server = serve(&[]);
    for n in [0_u64, 1, 17, u64::MAX] {
        let answer = http::get(server.address, &format!("/json?n={n}"));
        assert_eq!(answer.text(), format!("{{\"message\":\"Hello World\",\"number\":{n}}}"));
        assert_eq!((answer.status, answer.field("content-type")), (200, Some("application/json")));
    }
    for wrong in ["/json", "/json?n=", "/json?n=x", "/json?m=1"] {
        assert_eq!(http::get(server.address, wrong).status, 400, "{wrong}");
    }
}

#[test]
fn an_echo_is_what_was_sent_however_it_arrives() {
    for io in back_ends() {
        let server = serve(&["--io", io]);
        let body: Vec<u8> = (0..300_000_u32).map(|i| (i % 251) as u8).collect();
        let mut stream = http::connect(server.address);
        let head = format!("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: {}\r\n\r\n", body.len());
        // Three requests in a pipeline, cut anywhere: one with a length, one in chunks, one with nothing.
        let chunked = "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
        let empty = "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        let all = [head.as_bytes(), &body, chunked.as_bytes(), empty.as_bytes()].concat();
        let mut reader = stream.try_clone().unwrap();
        let reads = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            std::io::Read::read_to_end(&mut reader, &mut bytes).unwrap();
            bytes
        });
        for piece in all.chunks(7_001) {
            stream.write_all(piece).unwrap();
        }
        let answers = http::parse_all(&reads.join().unwrap());
        assert_eq!(answers.iter().map(|a| a.status).collect::<Vec<_>>(), [200; 3], "{io}");
        assert!(answers[0].body == body && answers[1].body == b"abcde" && answers[2].body.is_empty(), "{io}");
        assert_eq!(answers[0].field("content-type"), Some("application/octet-stream"));
    }
}

#[test]
fn who_sends_too_much_or_the_wrong_way_is_told() {
    let server = serve(&[]);
    let get = http::get(server.address, "/echo");
    assert_eq!((get.status, get.field("allow")), (405, Some("POST")));
    let head = format!("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: {}\r\n\r\n", 64 << 20);
    let answer = http::ask(server.address, &[head.as_bytes(), &vec![b'x'; 5 << 20]].concat());
    assert_eq!(answer.status, 413);
}

#[test]
fn an_echo_under_load_and_with_faults_is_whole() {
    for faults in [&[][..], &["--fault", "chunked"], &["--fault", "delay=1ms"]] {
        let server = serve(faults);
        let args = ["-n", "200", "-c", "4", "-m", "POST", "--body", "a body to be sent back"];
        let (code, json) = load(server.address, "/echo", &args);
        assert_eq!((code, json["requests"]["completed"].as_u64()), (0, Some(200)), "{json}");
    }
}

#[test]
fn a_study_of_json_echo_and_download_measures_the_reference() {
    let home = Home::new();
    let cell = |workload: &str| {
        format!(
            "[[cell]]\ntitle = \"{workload}\"\nworkload = \"{workload}\"\nload = {{ closed = {{ connections = 2 }} }}\n"
        )
    };
    let cells: String = ["json", "echo", "download-1m"].map(cell).concat();
    let design = "[design]\nrounds = [1, 1]\nwarmup = \"20ms\"\nmeasure = \"500ms\"\nprecision = 0.9\nbudget = \"2h\"\n";
    home.write(
        "own/studies/fresh.toml",
        &format!("title = \"Fresh\"\ncontenders = [\"same\"]\n{cells}{design}"),
    );
    let text = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../catalog/contenders/reference/contender.toml"
    ));
    home.write("own/contenders/same/contender.toml", &text.unwrap());
    let finished = run(&mut home.with_catalog(&["run", "fresh", "--format", "json"]));
    // 4: a machine that stood still made a trial void, of which there is one each.
    assert!(matches!(finished.code, 0 | 4), "{}", finished.err);
    let json: serde_json::Value = serde_json::from_str(&finished.out).unwrap();
    for cell in json["cells"].as_array().unwrap() {
        for row in cell["contenders"].as_array().unwrap() {
            assert_eq!((row["failed"].as_u64(), row["errors"].as_u64()), (Some(0), Some(0)), "{row}");
            // Unknown where every trial is void, as on a machine that is busy otherwise.
            assert!(row["wire_bytes_per_answer"].as_f64().is_none_or(|n| n > 36.0), "{row}");
        }
    }
    assert_eq!(json["entrants"]["same"]["settings"]["logging"], "off");
    home.assert_clean();
}
