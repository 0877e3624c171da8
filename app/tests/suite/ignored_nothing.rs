//! Options that would do nothing in a combination are refused by their names, before anything is measured.

use crate::common::{Home, run};

#[test]
fn an_option_without_an_effect_is_refused_by_its_name() {
    let home = Home::new();
    home.write("urls", "/a\n");
    let list = home.path().join("urls").display().to_string();
    let url = "http://127.0.0.1:1/";
    let start = "true {port}";
    let lines: Vec<(Vec<&str>, &str)> = vec![
        (vec!["load", url, "--insecure"], "--insecure"),
        (vec!["load", url, "--no-resumption"], "--no-resumption"),
        (vec!["load", url, "--cacert", &list], "--cacert"),
        (vec!["load", url, "--cert", &list, "--key", &list], "--cert"),
        (vec!["load", url, "--bursts"], "--bursts"),
        (vec!["load", url, "--verify", "all"], "--verify"),
        (vec!["load", url, "--order", "random"], "--urls"),
        (vec!["load", url, "-c", "2", "--threads", "3"], "--threads 3"),
        (vec!["load", url, "--put"], "--put"),
        (vec!["load", "http://127.0.0.1:1/x", "--urls", &list], "/x of the URL"),
        (vec!["load", "http://u:p@127.0.0.1:1/", "-H", "authorization: x"], "Authorization"),
        (vec!["load", url, "--unix", "/x", "--source", "127.0.0.2"], "--source"),
        (vec!["sweep", url, "--budget", "1min"], "--keep"),
        (vec!["sweep", url, "--common", "50%"], "--common"),
        (vec!["sweep", "--start", start, "--common", "50%"], "--common"),
        (vec!["sweep", url, "--any-body"], "--any-body"),
        (vec!["sweep", "--start", start, "--streams", "4"], "--http2"),
        (vec!["race", start, start, "--streams", "4"], "--http2"),
        (vec!["race", start, start, "--data", "x"], "--data"),
        (
            vec!["race", start, start, "--grpc", "/a.B/C", "--url", "http://127.0.0.1:{port}/x"],
            "/x of the URL",
        ),
        (vec!["race", "http://127.0.0.1:1/x", "http://127.0.0.1:2/x", "--grpc", "/a.B/C"], "/x of the URL"),
        (vec!["race", start, start, "--grpc", "/a.B/C", "--http2"], "--http2"),
        (vec!["race", start, start, "--url", "http://127.0.0.1:8080/"], "{port}"),
        (vec!["race", start, start, "--env", "A=b"], "--env"),
        (vec!["race", start, start, "--container-arg", "x"], "--container-arg"),
        (vec!["race", start, start, "--container-tool", "x"], "--container-tool"),
        (vec!["race", start, start, "--build", "x"], "--build"),
        (vec!["race", start, start, "--start", "x {port}"], "--start"),
        (vec!["race", start, start, "--env", "A=b", "--url", "x"], "--env"),
        (vec!["race", url, url, "--start", "x {port}"], "--start"),
        (vec!["race", start, start, "--put"], "--put"),
        (vec!["race", start, start, "--server-address", "10.0.0.1"], "--server-address"),
        (vec!["race", start, start, "--verdict", "x.json"], "--fail-if-slower"),
        (vec!["race", start, start, "--bisect"], "--fail-if-slower"),
        (vec!["race", start, start, "--cell", "1"], "--cell"),
        (vec!["run", "today", "--yes"], "--install"),
        (vec!["heat", "owed", "x", "--allow-prepare"], "--allow-prepare"),
        (vec!["heat", "owed", "x", "--rounds", "2"], "--rounds"),
    ];
    for (line, named) in lines {
        let done = run(&mut home.drome(&line));
        let code = if line.contains(&"--bisect") { 128 } else { 2 };
        done.assert_err(code, &[named]);
    }
}
