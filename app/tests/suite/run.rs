//! `drome run`: the whole walk with real servers, and everything that can go wrong on it.

use crate::common::catalog::{SERVES, cell, keep_alive, study};
use crate::common::{DROME, Finished, Home, assert_as_schema, contender, process, run};

const PUBLISHED: &str = r#"
[published]
metric = "rate_per_s"
hardware = "paper"
figures = { node = 125.97 }
"#;

fn drome(home: &Home, args: &[&str]) -> Finished {
    run(&mut home.with_catalog(args))
}

#[test]
fn a_study_ranks_real_servers_and_its_report_has_the_documented_form() {
    let home = Home::new();
    let open = cell("an open load", "pong", "open = { rate_per_s = 200, connections = 4 }");
    // The contender that compiles while it runs is not waited for until it has settled: in `steady.rs`, one is.
    let design =
        [("rounds", "[4, 4]"), ("warmup", "'50ms'"), ("warmup_limit", "'3s'"), ("measure", "'160ms'")];
    let small = study(&["python-http-server", "node"], &(keep_alive(4) + &open), &design);
    home.write_study("small", &format!("source = \"nowhere\"\n{small}{PUBLISHED}"));
    // As it is by default: the load generator polls.
    let mut command = home.with_catalog(&["run", "small", "--seed", "5"]);
    let finished = run(command.env(process::POLL, "1"));
    finished.assert_out(
        0,
        &[
            "drome serve",
            "Node.js",
            "Python http.server",
            "p99 at saturation",
            "noise floor",
            "■",
            "of reference",
            "126.0",
        ],
    );
    let json = home.findings();
    assert_as_schema(&home, "report", &json);
    let node = contender(&json["cells"][0], "node");
    assert_eq!(
        (node["trials"].as_u64(), node["failed"].as_u64(), node["published"].as_f64()),
        (Some(4), Some(0), Some(125.97))
    );
    assert!(
        node["rate_per_s"]["median"].as_f64().unwrap() > 0.0
            && node["rss_max_bytes"].as_u64().unwrap() > 1_000_000
    );
    assert!(node["server_cpu_ns_per_request"]["median"].as_f64().unwrap() > 0.0);
    assert_eq!(contender(&json["cells"][0], "reference")["trials"], 4);
    let floor = &json["noise_floor"]; // Unknown where too few trials were sound, as on a machine that is busy otherwise.
    assert!(floor.is_null() || floor.as_f64().unwrap() >= 0.0);
    let markdown = drome(&home, &["report", "--format", "markdown"]).out;
    assert!(
        markdown.contains("| rank | letters | contender |") && markdown.contains("## an open load"),
        "{markdown}"
    );
    let listed = drome(&home, &["list", "runs"]).out;
    assert!(listed.contains("small") && listed.contains("12 starts"), "{listed}");
    assert_eq!(
        drome(&home, &["report", "--format", "json"]).out,
        drome(&home, &["report", "--format", "json"]).out
    );
}

#[test]
fn a_name_that_is_unknown_gets_the_nearest_one() {
    let home = Home::new();
    let finished = run(&mut home.drome(&["run", "rasberry-pi"]));
    finished.assert_err(2, &["did you mean `raspberry-pi`?"]);
    let finished = run(&mut home.drome(&["list", "ngnix"]));
    finished.assert_err(2, &["did you mean `nginx`?"]);
    let finished = run(&mut home.drome(&["report", "no-such-run"]));
    finished.assert_err(2, &["no run `no-such-run`"]);
    home.add_study("small", &["nginks"], 1);
    let finished = drome(&home, &["list"]);
    finished.assert_err(2, &["studies/small.toml:", "did you mean `nginx`?"]);
    let finished = run(&mut home.drome(&["list", "--catalog", "/no/such/folder"]));
    finished.assert_err(2, &["/no/such/folder"]);
}

#[test]
fn a_store_that_is_not_understood_is_never_written_to() {
    let home = Home::new();
    run(&mut home.drome(&["list", "runs"]));
    let sound = std::fs::read(home.store()).unwrap();
    let mut newer = sound.clone();
    newer[60..64].copy_from_slice(&99_u32.to_be_bytes()); // SQLite's user_version
    let mut foreign = sound.clone();
    foreign[68..72].copy_from_slice(&7_u32.to_be_bytes()); // SQLite's application_id
    let mut corrupt = sound;
    corrupt[4000..].fill(0x5a);
    let cases = [
        (newer, "version 99"),
        (foreign, "not a drome store"),
        (b"just some text, and no database at all".repeat(99), "not a drome store"),
        (corrupt, "store"),
    ];
    for (bytes, words) in cases {
        std::fs::write(home.store(), &bytes).unwrap();
        let finished = run(&mut home.drome(&["report"]));
        assert!(
            finished.code != 0 && finished.err.contains(words) && finished.err.contains("--store"),
            "{}: {}",
            finished.code,
            finished.err
        );
        assert_eq!(std::fs::read(home.store()).unwrap(), bytes, "{words}: it was written to");
    }
    let finished = run(&mut home.drome(&["report", "--store", "/proc/no/store"]));
    finished.assert_err(1, &["/proc/no/store"]);
}

#[test]
fn a_full_disk_ends_the_run_with_a_reason_and_keeps_what_was_stored() {
    let home = Home::new();
    home.write_study(
        "small",
        &study(&["one"], &keep_alive(2), &[("rounds", "[99, 99]"), ("measure", "'200ms'")]),
    );
    home.add_contender("one", SERVES);
    run(&mut home.drome(&["list", "runs"]));
    // The workloads' files are there already: one of them is larger than the limit.
    run(&mut home.drome(&["verify", "reference"]));
    let (path, own) = (home.path().display(), home.path().join("own"));
    // A limit on the size of files stands for a disk that is full.
    let script = format!(
        "trap '' XFSZ; ulimit -f 500; DROME_HOME={path} DROME_CACHE={path}/cache TMPDIR={path}/tmp exec {} run small --catalog {}",
        DROME,
        own.display()
    );
    let finished = run(std::process::Command::new("sh").args(["-c", &script]));
    finished.assert_err(1, &["free some space"]);
    assert!(home.findings()["cells"][0]["blocks"].as_u64().unwrap() >= 1);
    home.assert_clean();
}
