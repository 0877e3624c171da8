//! Single measurements are kept in the store and can be shown again.

use crate::common::{Home, run, serve};

#[test]
fn a_load_is_kept_and_shown_again_as_it_was_printed() {
    let (home, server) = (Home::new(), serve(&[]));
    let url = format!("http://{}/hello", server.address);
    let load = ["load", &url, "-c", "2", "-n", "100", "--allow-busy"];
    let printed = run(&mut home.drome(&load));
    assert_eq!(printed.code, 0, "{}", printed.err);
    let again = run(&mut home.drome(&["report"]));
    assert_eq!((again.code, again.out), (0, printed.out), "{}", again.err);
    let json = run(home.drome(&load).args(["--format", "json"]));
    let again = run(&mut home.drome(&["report", "--format", "json"]));
    assert_eq!((again.code, again.out), (0, json.out), "{}", again.err);
    let listed = run(&mut home.drome(&["list", "runs"])).out;
    let is_load = |line: &&str| line.ends_with(&format!("load {url}  complete"));
    assert_eq!(listed.lines().filter(is_load).count(), 2, "{listed}");
}

#[test]
fn what_a_single_measurement_does_not_have_is_refused_with_the_next_step() {
    let (home, server) = (Home::new(), serve(&[]));
    let url = format!("http://{}/hello", server.address);
    assert_eq!(run(&mut home.drome(&["load", &url, "-c", "2", "-n", "100", "--allow-busy"])).code, 0);
    let id = run(&mut home.drome(&["list", "runs"])).out.split("  ").next().unwrap().to_owned();
    let chart = run(&mut home.drome(&["report", &id, "--format", "svg"]));
    chart.assert_err(2, &["its formats are terminal and json"]);
    let compared = run(&mut home.drome(&["compare", &id, &id]));
    compared.assert_err(2, &["`drome race` compares two servers"]);
}

#[test]
fn a_sweep_is_kept_and_has_the_formats_that_the_command_prints() {
    let (home, server) = (Home::new(), serve(&[]));
    let url = format!("http://{}/hello", server.address);
    let csv = home.path().join("sweep.csv").display().to_string();
    let sweep = ["sweep", &url, "--shares", "0.2", "--repeats", "1", "-d", "200ms", "--warmup", "0s"];
    let printed =
        run(home.drome(&sweep).args(["--allow-busy", "--format", "markdown", "--export", csv.as_str()]));
    assert!([0, 4].contains(&printed.code), "{}", printed.err);
    let again = |format: &str| run(&mut home.drome(&["report", "--format", format]));
    assert_eq!(again("markdown").out, printed.out);
    assert_eq!(again("csv").out, std::fs::read_to_string(&csv).unwrap());
    assert!(again("json").out.contains("\"capacity_per_s\""));
    let html = again("html");
    let formats = "its formats are terminal, markdown, json and csv";
    html.assert_err(2, &[formats]);
    let listed = run(&mut home.drome(&["list", "runs"])).out;
    assert!(listed.contains(&format!("sweep {url}")), "{listed}");
}

#[test]
fn a_store_that_cannot_be_written_costs_no_measurement() {
    let (home, server) = (Home::new(), serve(&[]));
    let store = home.write("notes.txt", "not a database, and longer than a header of one would be\n");
    let url = format!("http://{}/hello", server.address);
    let load =
        ["load", &url, "-c", "2", "-n", "100", "--allow-busy", "--store", &store.display().to_string()];
    let finished = run(&mut home.drome(&load));
    finished.assert_out(0, &["requests"]);
    assert!(
        finished.err.contains("the report is not kept") && finished.err.contains("is not a drome store"),
        "{}",
        finished.err
    );
}
