//! `drome import`: what pages say comes out as it stands there, and what is broken is said to be.

use crate::common::pages::{assert_figure, import};
use crate::common::{DROME, Finished, Home, contender, run, run_with_input};
use serde_json::Value;
use std::path::Path;
use std::process::Stdio;

/// A page of ours.
fn page(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pages").join(name).display().to_string()
}

fn of_page(name: &str) -> Value {
    import(&Home::new(), &[&page(name)])
}

/// A page of this text.
fn of_text(text: &str) -> Value {
    let home = Home::new();
    let file = home.write("page", text).display().to_string();
    import(&home, &[&file])
}

fn names(cell: &Value) -> Vec<&str> {
    cell["contenders"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect()
}

#[test]
fn reports_of_ab_are_one_table_named_by_the_headings_that_change() {
    let json = of_page("apache.md");
    assert_eq!((json["imported"].as_bool(), json["schema"].as_u64()), (Some(true), Some(1)));
    let [cell] = &json["cells"].as_array().unwrap()[..] else { panic!("{json}") };
    assert_eq!(names(cell), ["Beta", "Alpha", "Gamma"], "from the fastest, what is not known last");
    assert_eq!(cell["command"], "ab -n 100 -c 5 http://pi.example:8080/");
    let alpha = contender(cell, "Alpha");
    for (name, value) in [
        ("rate_per_s", 200.0),
        ("connections", 5.0),
        ("duration_ns", 500e6),
        ("received_bytes", 20_000.0),
        ("body_bytes", 1000.0),
        ("document_bytes", 10.0),
        ("latency_ns_p99", 41e6),
        ("latency_ns_mean", 24e6),
        ("connect_ns_sd", 0.5e6),
        ("first_byte_ns_max", 40e6),
    ] {
        assert_figure(alpha, name, value);
    }
    assert_eq!((alpha["version"].as_str(), alpha["tool"].as_str()), (Some("alpha/1.0"), Some("ab")));
    assert_eq!(contender(cell, "Beta")["version"], "", "the report shows that it said nothing");
    assert_figure(contender(cell, "Beta"), "failed", 3.0);
    let note = "the page's command line has 5 connections, the report 1";
    assert_eq!(contender(cell, "Beta")["notes"][0], note);
    let gamma = contender(cell, "Gamma");
    assert!(gamma["rate_per_s"].is_null() && gamma["figures"]["completed"].is_null(), "{gamma}");
    assert_figure(gamma, "duration_ns", 2e9);
}

#[test]
fn what_only_a_measurement_has_is_null() {
    let json = of_page("apache.md");
    let row = &json["cells"][0]["contenders"][0];
    assert_eq!(row["rate_per_s"]["median"], 400.0);
    for key in ["low", "high"] {
        assert!(row["rate_per_s"][key].is_null(), "{key}");
    }
    for key in [
        "server_cpu_ns_per_request",
        "rss_max_bytes",
        "of_reference",
        "tier",
        "rank_low",
        "rank_high",
        "bound",
        "void",
        "published",
        "latency_ns_p99",
    ] {
        assert!(row.get(key).is_some_and(Value::is_null), "{key}: {row}");
    }
    assert!(json["noise_floor"].is_null() && json["environment"].is_null() && json["seed"].is_null());
}

#[test]
fn a_page_without_line_breaks_headings_or_names() {
    let json = of_page("flat.txt");
    let cell = &json["cells"][0];
    assert_eq!(names(cell), ["siege 1", "siege 2"]);
    assert_eq!(cell["command"], "siege -b -t5S -c20 http://localhost:PORT/photo.jpg");
    let second = contender(cell, "siege 2");
    assert!(second["title"].is_null(), "nobody said which is which");
    assert_figure(second, "rate_per_s", 52.08);
    assert_figure(second, "latency_ns_max", 1.4e9);
    assert_figure(second, "failed", 2.0);
}

#[test]
fn tables_become_readings_and_what_has_no_unit_is_not_guessed() {
    let home = Home::new();
    let json = import(&home, &[&page("tables.md")]);
    let cells = json["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 3, "the table of options is none of figures");
    let files = &cells[0];
    assert_eq!(files["title"], "Files", "what is above recurs");
    assert_eq!(
        (files["load"]["connections"].as_f64(), files["load"]["rate_per_s"].as_f64()),
        (Some(100.0), Some(1000.0))
    );
    let (mine, other) = (contender(files, "mine"), contender(files, "other"));
    assert_figure(mine, "received_bytes_per_s", 300.0 * 1024.0);
    assert_figure(mine, "duration_ns", 60e9);
    assert_figure(other, "rate_per_s", 1040.0);
    assert_figure(other, "latency_ns_mean", 1.98e9);
    assert_eq!(
        (other["errors"]["timeout"].as_u64(), mine["errors"]["timeout"].as_u64()),
        (Some(12), Some(0))
    );
    assert!(other["figures"]["received_bytes_per_s"].is_null());
    assert_eq!(other["strange"][0], "Transfer/Sec(avg): 138.28 (no unit)");
    assert!(json["sources"][0]["strange"][0].as_str().unwrap().contains("Mood"), "{json}");
    assert!(contender(&cells[1], "theirs")["rate_per_s"].is_null());
    assert_figure(contender(&cells[2], "one"), "rate_per_s", 12_000.0);
    assert_figure(contender(&cells[2], "one"), "latency_ns_p99", 3e6);

    let finished = run(&mut home.drome(&["report"]));
    for words in
        ["imported", "not measured by drome", "open load at 1,000 requests/s", "–", "138.28 (no unit)", "■"]
    {
        assert!(finished.out.contains(words), "{words} is not in\n{}", finished.out);
    }
    for words in ["tier", "rank  ", "95 %"] {
        assert!(!finished.out.contains(words), "{words} is in\n{}", finished.out);
    }
    let finished = run(&mut home.drome(&["report", "--format", "markdown"]));
    assert!(
        finished.out.contains("(imported)") && finished.out.contains("| contender | requests/s |"),
        "{}",
        finished.out
    );
}

#[test]
fn names_over_numbers_are_what_the_page_speaks_of() {
    let json = of_page("loose.txt");
    let titles: Vec<&str> =
        json["cells"].as_array().unwrap().iter().map(|cell| cell["title"].as_str().unwrap()).collect();
    assert_eq!(titles, ["Ping Benchmark", "Picture Benchmark"]);
    assert_eq!(names(&json["cells"][0]), ["Right", "Up+Down", "Left"]);
    assert_figure(contender(&json["cells"][0], "Right"), "rate_per_s", 7500.0);
    assert_figure(contender(&json["cells"][1], "Up"), "rate_per_s", 41.0);
    let json = of_text("One | Two |\n12 | 13 |\n");
    let row = contender(&json["cells"][0], "One");
    assert!(row["rate_per_s"].is_null(), "nobody said what it is: {row}");
    assert!(json["sources"][0]["strange"][0].as_str().unwrap().contains("does not say"), "{json}");
}

#[test]
fn a_pages_words_are_kept() {
    let json = of_page("fetches.md");
    let [cell] = &json["cells"].as_array().unwrap()[..] else { panic!("{json}") };
    let (first, second) = (contender(cell, "http_load 1"), contender(cell, "http_load 2"));
    assert_figure(first, "rss_bytes", 2.5 * 1_048_576.0);
    assert_figure(first, "virtual_bytes", 38.0 * 1_048_576.0);
    assert!(first["notes"][1].as_str().unwrap().contains("The first process takes 38.0m VIRT"), "{first}");
    assert!(second["notes"][0].as_str().unwrap().contains("The second one, which is older"), "{second}");
    assert!(second["figures"]["rss_bytes"].is_null());
    assert_eq!(second["status"]["500"], 100);
    assert_eq!(second["command"], "http_load -p 4 -s 2 url");
}

#[test]
fn html_with_reports_and_tables() {
    let json = of_page("page.html");
    assert_eq!(json["title"], "Races & results");
    let [wrk, table] = &json["cells"].as_array().unwrap()[..] else { panic!("{json}") };
    assert_eq!(names(wrk), ["Server one", "Server two"]);
    assert_eq!(wrk["command"], "wrk -t2 -c10 -d10s http://localhost/");
    assert_figure(contender(wrk, "Server one"), "rate_per_s", 100_000.0);
    assert_figure(contender(wrk, "Server two"), "latency_ns_mean", 700e3);
    assert_figure(contender(table, "three"), "latency_ns_p99", 4e6);
    assert!(contender(table, "four")["figures"]["latency_ns_p99"].is_null());
}

#[test]
fn several_files_standard_input_and_a_dry_run() {
    let home = Home::new();
    let finished = run(home
        .drome(&["import", "--dry-run", "--format", "json"])
        .args([page("flat.txt"), page("loose.txt")]));
    finished.assert_err(0, &["flat.txt: 2 reports of siege", "loose.txt: 6 rows of tables"]);
    let json: Value = serde_json::from_str(&finished.out).unwrap();
    assert_eq!(json["cells"].as_array().unwrap().len(), 3);
    let listed = run(&mut home.drome(&["list", "runs"]));
    assert!(listed.out.contains("no runs yet"), "{}", listed.out);

    let text = std::fs::File::open(page("flat.txt")).unwrap();
    let finished = run_with_input(home.drome(&["import", "-"]).stdin(Stdio::from(text)));
    finished.assert_err(0, &["standard input: 2 reports of siege"]);
    let listed = run(&mut home.drome(&["list", "runs"]));
    assert!(listed.out.contains("imported: 2 readings"), "{}", listed.out);
    let id = listed.out.split_whitespace().next().unwrap();
    assert!(run(&mut home.drome(&["report", id])).out.contains("siege 1"));
    let finished = run(&mut home.drome(&["compare", id, id]));
    finished.assert_err(2, &["was imported"]);
}

#[test]
fn a_store_of_before_is_refused_and_left_as_it_is() {
    let home = Home::new();
    import(&home, &[&page("flat.txt")]);
    let script = "import sqlite3,sys; db=sqlite3.connect(sys.argv[1]); db.execute('pragma user_version = 8'); db.commit()";
    let older = run(std::process::Command::new("python3").args(["-c", script]).arg(home.store()));
    assert_eq!(older.code, 0, "{}", older.err);
    let before = std::fs::read(home.store()).unwrap();
    for words in [&["list", "runs"][..], &["report"], &["import", &page("flat.txt")]] {
        let refused = run(&mut home.drome(words));
        assert!(refused.code == 1 && refused.out.is_empty(), "{words:?}: {} {}", refused.code, refused.out);
        assert!(refused.err.contains("which drome no longer reads"), "{words:?}: {}", refused.err);
    }
    assert_eq!(std::fs::read(home.store()).unwrap(), before);
}

#[test]
fn a_chart_as_on_the_first_page() {
    let home = Home::new();
    let finished = run(home.drome(&["import", "--chart"]).arg(page("apache.md")));
    let line = |name: &str, rate: f64, n: usize| format!("{name:>27}: {rate:.1} {}\n", "■".repeat(n));
    let scale = "one ■ = 10 requests/s\n";
    assert_eq!(finished.out, scale.to_owned() + &line("Beta", 400.0, 40) + &line("Alpha", 200.0, 20));
    let slower = std::fs::read_to_string(page("apache.md")).unwrap().replace("400.00", "350.00");
    let file = home.write("slower.md", &slower).display().to_string();
    let finished = run(&mut home.drome(&["import", "--chart", &file]));
    assert_eq!(
        finished.out,
        line("Beta", 350.0, 70) + &line("Alpha", 200.0, 40),
        "one ■ for 5, and nothing else"
    );
    let finished = run(&mut home.drome(&["import", "--chart", "--format", "markdown", &file]));
    assert_eq!(finished.out, line("Beta", 350.0, 70) + &line("Alpha", 200.0, 40), "it needs no indentation");
    let finished = run(home.drome(&["import", "--chart"]).arg(page("tables.md")));
    assert!(finished.out.contains("Applications, 1Thread"), "{}", finished.out);
}

#[test]
fn a_chart_can_be_in_a_file_of_its_own_beside_the_tables() {
    let home = Home::new();
    let page = page("apache.md");
    let bars = run(&mut home.drome(&["import", "--dry-run", "--chart", &page])).out;
    let at = |name: &str| home.path().join(name).display().to_string();
    let to_file = format!("--chart={}", at("bars.md"));
    let tables = run(&mut home.drome(&["import", "--dry-run", &to_file, &page]));
    tables.assert_out(0, &["Gamma"]);
    let indented: String = bars.lines().map(|line| format!("    {line}\n")).collect();
    let written = std::fs::read_to_string(at("bars.md")).unwrap();
    assert_eq!(written, indented, "Markdown takes it for code");
    // Without a file of its own it goes where the tables would go.
    let finished =
        run(&mut home.drome(&["import", "--dry-run", "--chart", "--output", &at("bars.txt"), &page]));
    assert_eq!((finished.code, finished.out.as_str()), (0, ""), "{}", finished.err);
    assert_eq!(std::fs::read_to_string(at("bars.txt")).unwrap(), bars);
    for args in [&["--chart=none/bars.md"][..], &["--chart=bars.svg"], &["--chart", "--format=csv"]] {
        let finished = run(home.drome(&["import", &page]).args(args));
        finished.assert_err(2, &["--chart"]);
    }
    assert!(!home.store().exists(), "what is refused is not kept");
}

#[test]
fn readings_are_rows_of_the_same_columns_as_csv_and_as_tsv() {
    let (home, page) = (Home::new(), page("apache.md"));
    let [csv, tsv] = ["csv", "tsv"].map(|format| {
        let finished = run(&mut home.drome(&["import", "--dry-run", "--format", format, &page]));
        assert_eq!(finished.code, 0, "{}", finished.err);
        finished.out
    });
    let rows: Vec<Vec<&str>> = tsv.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(rows.len(), 1 + 3, "{tsv}");
    assert_eq!(rows[0].join(","), csv.lines().next().unwrap());
    assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{tsv}");
}

#[test]
fn where_there_is_nothing_it_says_so() {
    let home = Home::new();
    let nothing = home.write("nothing.md", "# A page\n\nNo report, no table.\n").display().to_string();
    let finished = run(&mut home.drome(&["import", &nothing]));
    assert_eq!((finished.code, finished.out.as_str()), (2, ""), "{}", finished.err);
    assert!(
        finished.err.contains("no report and no table") && finished.err.contains("nothing"),
        "{}",
        finished.err
    );
    let csv = home.write("figures.csv", "server,req/s\na,12\n").display().to_string();
    let finished = run(&mut home.drome(&["import", &csv]));
    finished.assert_err(2, &["tables in Markdown or HTML"]);
    let rateless =
        home.write("rateless.md", "| server | p99 |\n|---|---|\n| a | 3ms |\n").display().to_string();
    let finished = run(&mut home.drome(&["import", "--chart", &rateless]));
    finished.assert_err(2, &["nothing to draw"]);
    assert!(!home.store().exists(), "nothing was kept");
}

fn refused(home: &Home, file: &str) -> Finished {
    let finished = run(&mut home.drome(&["import", &page("flat.txt"), file]));
    assert_eq!((finished.code, finished.out.as_str()), (2, ""), "{}", finished.err);
    assert!(finished.err.contains(file), "{}", finished.err);
    assert!(!home.store().exists(), "all files or none");
    finished
}

#[test]
fn files_that_are_no_pages() {
    let home = Home::new();
    assert!(refused(&home, "/no/such/page").err.contains("can't be read"));
    assert!(refused(&home, &home.path().display().to_string()).err.contains("is a folder"));
    assert!(refused(&home, DROME).err.contains("is not text"));
    let empty = home.write("empty", "").display().to_string();
    let finished = run(&mut home.drome(&["import", &empty]));
    assert_eq!(finished.code, 2, "{}", finished.err);
    assert_eq!(run(&mut home.drome(&["import"])).code, 2);
}

/// One of the reports of the page, without the indentation.
fn report_of_ab() -> String {
    let text = std::fs::read_to_string(page("apache.md")).unwrap();
    let from = text.find("    Server Software:").unwrap();
    let report = &text[from..text.find("##Beta").unwrap()];
    report.lines().map(|line| format!("{}\n", line.strip_prefix("    ").unwrap_or(line))).collect()
}

const REPORT_OF_WRK: &str = "Running 10s test @ http://localhost/
  2 threads and 10 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   635.00us    0.89ms  12.92ms   93.69%
    Req/Sec    56.20k     8.07k   62.00k    86.54%
  1000000 requests in 10.00s, 100.00MB read
Requests/sec: 100000.00
Transfer/sec:     10.00MB
";

#[test]
fn a_report_cut_off_anywhere_says_no_more_than_stands_there() {
    let report = report_of_ab();
    let whole = of_text(&report);
    let whole = &whole["cells"][0]["contenders"][0]["figures"];
    let home = Home::new();
    let mut files = Vec::new();
    for (i, (at, _)) in report.match_indices('\n').enumerate().filter(|(i, _)| i % 4 == 3) {
        files.push(home.write(&format!("cut{i}"), &report[..=at]).display().to_string());
    }
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let json = import(&home, &files);
    let mut most = 0;
    for row in
        json["cells"].as_array().unwrap().iter().flat_map(|cell| cell["contenders"].as_array().unwrap())
    {
        let figures = row["figures"].as_object().unwrap();
        most = most.max(figures.len());
        for (name, value) in figures {
            assert_eq!(value, &whole[name], "{name} of {}", row["source"]);
        }
    }
    assert!(most > 10, "{json}");
}

#[test]
fn mixed_up_and_unknown_lines_are_named() {
    let mut mixed = String::new();
    let (ab, wrk) = (report_of_ab(), REPORT_OF_WRK);
    let mut wrk = wrk.lines();
    for line in ab.lines() {
        mixed += &format!("{line}\n{}\n", wrk.next().unwrap_or_default());
    }
    let json = of_text(&mixed);
    let rows: Vec<&Value> = json["cells"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|cell| cell["contenders"].as_array().unwrap())
        .collect();
    assert!(!rows.is_empty());
    for row in &rows {
        let rate = row["rate_per_s"]["median"].as_f64();
        let expected = if row["tool"] == "ab" { 200.0 } else { 100_000.0 };
        assert!(rate.is_none_or(|rate| rate == expected), "{row}");
    }
    let strange = rows.iter().any(|row| !row["strange"].as_array().unwrap().is_empty());
    assert!(strange, "that they are mixed up is said: {json}");

    let odd =
        report_of_ab().replace("Complete requests", "Quantum flux:            7 [q]\nComplete requests");
    let json = of_text(&odd);
    let row = &json["cells"][0]["contenders"][0];
    assert_figure(row, "rate_per_s", 200.0);
    assert_eq!(row["strange"][0].as_str().unwrap().split(':').next(), Some("Quantum flux"), "{row}");
}

#[test]
fn what_is_not_utf_8_is_read_as_latin_1_and_said() {
    let home = Home::new();
    let mut bytes = b"# caf\xe9\n\n".to_vec();
    bytes.extend(report_of_ab().replace('\n', "\r\n").bytes());
    bytes.extend(b"\xff\xfe");
    std::fs::write(home.path().join("latin"), &bytes).unwrap();
    let file = home.path().join("latin").display().to_string();
    let finished = run(&mut home.drome(&["import", &file, "--format", "json"]));
    finished.assert_err(0, &["not all of it is UTF-8"]);
    let json: Value = serde_json::from_str(&finished.out).unwrap();
    assert_eq!(json["cells"][0]["contenders"][0]["name"], "café");
}

#[test]
fn a_log_in_utf_16_with_prefixes_is_read_and_what_can_not_be_right_is_said() {
    let home = Home::new();
    let log = |text: &str| text.lines().map(|line| format!("bench-1  | {line}\r\n")).collect::<String>();
    let text = format!("\u{feff}{}", log(&REPORT_OF_WRK.replace("100000.00", "648000000.00")));
    let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    std::fs::write(home.path().join("log"), bytes).unwrap();
    let file = home.path().join("log").display().to_string();
    let finished = run(&mut home.drome(&["import", &file, "--chart"]));
    finished.assert_err(0, &["1 report of wrk", "more than any server answers"]);
    let finished = run(&mut home.drome(&["report"]));
    assert!(finished.out.contains("more than any server answers"), "{}", finished.out);
}

#[test]
fn a_time_that_a_tool_can_not_show_is_below_it_in_every_format() {
    let home = Home::new();
    let zero =
        |line: &str| line.starts_with("Total:").then_some("Total:          0    0   0.0      0       1");
    let text: String =
        report_of_ab().lines().map(|line| format!("{}\n", zero(line).unwrap_or(line))).collect();
    let file = home.write("ab.txt", &text).display().to_string();
    let of = |format: &str| run(&mut home.drome(&["import", "--dry-run", "--format", format, &file])).out;
    assert!(of("terminal").contains("< 1 ms"), "{}", of("terminal"));
    assert!(of("csv").contains("latency_ns_mean_below") && of("json").contains("\"below\""), "{}", of("csv"));
}

/// Time is bounded by the patience of the tests, memory by a limit on the process: the text itself, what is left of
/// it without tags, and what was read.
#[test]
fn twenty_megabytes() {
    let home = Home::new();
    let prose = "The quick brown fox; it jumps over <b>the</b> lazy dog, 12 times.\n# a\n| a | b |\n";
    let text = format!("{}\n# End\n{REPORT_OF_WRK}", prose.repeat((20 << 20) / prose.len()));
    let file = home.write("large.md", &text).display().to_string();
    let script = format!("ulimit -v 250000; exec {DROME} import --format json {file}");
    let mut shell = std::process::Command::new("sh");
    let finished = run(shell.args(["-c", &script]).env("DROME_HOME", home.path()));
    assert_eq!(finished.code, 0, "{}", finished.err);
    let json: Value = serde_json::from_str(&finished.out).unwrap();
    assert_eq!(json["cells"][0]["contenders"][0]["rate_per_s"]["median"], 100_000.0);
}
