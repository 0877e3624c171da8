//! The real binary in every format: what it says of runs that have nothing to say, where it writes, and how it looks in
//! a narrow terminal, in ASCII, in colour and to a reader that has gone.

use crate::common::example::{MadeStart, example, keep_round, sound};
use crate::common::{Finished, Home, process, run, serve};
use model::Run;
use model::contender::Track;
use model::heat::HUB;
use model::run::Entrant;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use store::Store;

/// All formats that are text in one file. HTML and charts have tests of their own.
const FORMATS: [&str; 9] = [
    "terminal",
    "markdown",
    "json",
    "csv",
    "tsv",
    "bencher",
    "bigger-is-better",
    "smaller-is-better",
    "junit",
];

/// The endings of their files, in the same order.
const ENDINGS: [&str; 9] =
    ["txt", "md", "json", "csv", "tsv", "bencher.json", "bigger.json", "smaller.json", "xml"];

/// A run of a study with one cell.
fn study(contenders: &[&str]) -> Run {
    let entrant = |name: &str| Entrant {
        title: format!("the server {name} of a long name"),
        version: Some("1.2.3".to_owned()),
        track: Track::Default,
        ..Entrant::default()
    };
    let entrants = contenders.iter().map(|name| ((*name).to_owned(), entrant(name))).collect();
    example(entrants, &[("keep-alive", 10)], [6, 30])
}

/// So many answers in a second, each in a hundredth of it.
fn measured(contender: &str, answers: u64, valid: bool) -> MadeStart {
    let mut measurement = sound(answers);
    measurement.tally.latency.record_n(10_000_000, answers);
    if !valid {
        measurement.verdict.valid = false;
        measurement.verdict.reasons = vec!["the host took 20 % of the measured CPUs' time".to_owned()];
    }
    MadeStart::measured(contender, measurement)
}

/// A store with one run of these rounds.
fn kept(run: &Run, rounds: &[Vec<MadeStart>]) -> Home {
    let home = Home::new();
    let store = Store::open(&home.store()).unwrap();
    store.add_run(run).unwrap();
    rounds.iter().enumerate().for_each(|(round, starts)| keep_round(&store, run, round, starts));
    store.end_run(&run.id, "a test has ended it").unwrap();
    home
}

/// Eight rounds of two contenders, the reference and the hub.
fn usual() -> Home {
    let starts = |round: u64| {
        let rates = [("a", 8_000), ("b", 10_000), ("reference", 20_000), (HUB, 20_000)];
        rates.map(|(name, rate)| measured(name, rate + (round * 37) % 100, true)).into()
    };
    let rounds: Vec<Vec<MadeStart>> = (0..8).map(starts).collect();
    kept(&study(&["a", "b", "reference"]), &rounds)
}

fn report(home: &Home, args: &[&str]) -> Finished {
    run(&mut home.drome(&[&["report"], args].concat()))
}

#[test]
fn runs_that_have_nothing_to_say_say_so_in_every_format() {
    let void_and_failed =
        || vec![measured("a", 1_000, false), MadeStart::failed("b", "it ended (exit status: 1)")];
    let cases = [
        ("no valid trial", study(&["a", "b"]), vec![void_and_failed(), void_and_failed()]),
        ("no trial at all", study(&["a", "b"]), Vec::new()),
        ("one contender, one trial", study(&["a"]), vec![vec![measured("a", 1_000, true)]]),
        ("a value of 0", study(&["a", "b"]), (0..7).map(|_| vec![measured("a", 0, true)]).collect()),
    ];
    for (what, run, rounds) in cases {
        let home = kept(&run, &rounds);
        for format in FORMATS {
            let finished = report(&home, &["--format", format]);
            assert!(finished.code == 0 && finished.err.is_empty(), "{what} as {format}: {}", finished.err);
            let words: Vec<&str> = finished.out.split(|c: char| !c.is_alphanumeric()).collect();
            assert!(
                !words.iter().any(|w| ["NaN", "inf", "nan"].contains(w)),
                "{what} as {format}: {}",
                finished.out
            );
            if ["csv", "tsv"].contains(&format) {
                assert_eq!(
                    finished.out.lines().count(),
                    1 + rounds.iter().flatten().count(),
                    "{what}: {}",
                    finished.out
                );
            }
            if format == "json" {
                serde_json::from_str::<serde_json::Value>(&finished.out).unwrap();
            }
        }
    }
}

#[test]
fn an_empty_store_is_told_with_the_next_step() {
    let home = Home::new();
    for format in FORMATS {
        let finished = report(&home, &["--format", format]);
        assert!(
            finished.code == 2 && finished.out.is_empty() && finished.err.contains("drome run"),
            "{}",
            finished.err
        );
    }
    let finished = run(&mut home.drome(&["list", "runs"]));
    finished.assert_out(0, &["no runs yet"]);
}

#[test]
fn a_file_is_whole_and_its_ending_says_how() {
    let home = usual();
    let path = |name: &str| home.path().join(name).display().to_string();
    for (format, ending) in FORMATS.iter().zip(ENDINGS) {
        let file = path(&format!("report.{ending}"));
        let finished = report(&home, &["--output", &file]);
        assert!(finished.code == 0 && finished.out.is_empty(), "{}", finished.err);
        let shown = report(&home, &["--format", format]);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), shown.out, "{format}");
    }
    // The format that is named wins over the ending; permissions and links stay what they were.
    let (file, link) = (path("kept.txt"), path("link.txt"));
    std::fs::write(&file, "before").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    assert_eq!(report(&home, &["--output", &link, "--format", "json"]).code, 0);
    assert!(std::fs::read_to_string(&file).unwrap().starts_with('{'));
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    let left =
        std::fs::read_dir(home.path()).unwrap().flatten().map(|e| e.file_name().into_string().unwrap());
    assert_eq!(left.filter(|name| name.starts_with(".drome-")).count(), 0, "nothing is left beside");
    // A device takes what is written to it.
    assert_eq!(report(&home, &["--output", "/dev/null"]).code, 0);
}

#[test]
fn a_path_that_can_not_be_written_is_refused_before_anything_is_done() {
    let home = usual();
    let folder = home.path().display().to_string();
    let cases = [("/no/such/folder/x.json", "No such file"), (folder.as_str(), "it is a folder")];
    for (path, why) in cases {
        for command in [vec!["report"], vec!["run", "raspberry-pi", "--install", "--yes"]] {
            let finished = run(&mut home.drome(&[command, vec!["--output", path]].concat()));
            assert_eq!((finished.code, finished.out.as_str()), (2, ""), "{}", finished.err);
            let words = format!("--output {path} can't be written: {why}");
            assert!(
                finished.err.contains(&words) && finished.err.contains("name a file in"),
                "{}",
                finished.err
            );
        }
    }
    let both = run(&mut home.drome(&["run", "--all", "--output", "x.json"]));
    both.assert_err(2, &["must be a folder, in which each study gets a file"]);
}

#[test]
fn a_narrow_terminal_ascii_and_colour() {
    let home = usual();
    let finished = |columns: &str, more: &[(&str, &str)]| {
        let mut command = home.drome(&["report"]);
        command.env_remove("LC_ALL").env_remove("LC_CTYPE").env_remove("NO_COLOR").env("LANG", "en_US.UTF-8");
        command.env("COLUMNS", columns).envs(more.iter().copied());
        let finished = run(&mut command);
        assert_eq!(finished.code, 0, "{}", finished.err);
        finished.out
    };
    let wide = report(&home, &[]).out;
    assert!(wide.lines().any(|line| line.chars().count() > 120), "a file is as wide as may be: {wide}");
    for columns in [60, 80, 120] {
        let out = finished(&columns.to_string(), &[]);
        assert!(out.lines().all(|line| line.chars().count() <= columns), "{columns}: {out}");
        assert!(out.contains("8,0") && out.contains("starts"), "{out}");
    }
    assert!(!finished("10", &[]).is_empty());
    let ascii = finished("80", &[("LC_ALL", "C")]);
    assert!(ascii.is_ascii() && !finished("80", &[]).is_ascii(), "{ascii}");
    assert!(run(&mut home.drome(&["report", "--ascii"])).out.is_ascii());
    // Void and failed starts are what has a colour here.
    let home = kept(&study(&["a", "b"]), &[vec![measured("a", 9, false), measured("b", 9, true)]]);
    let coloured = |variables: &[(&str, &str)], color: &[&str]| {
        let mut command = home.drome(&["report"]);
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
            command.env_remove(name);
        }
        run(command.env("TERM", "xterm").envs(variables.iter().copied()).args(color)).out.contains('\x1b')
    };
    let force = ("CLICOLOR_FORCE", "1");
    assert!(coloured(&[force], &[]));
    assert!(!coloured(&[("CLICOLOR", "1")], &[]), "this is no terminal");
    assert!(!coloured(&[force, ("NO_COLOR", "1")], &[]), "https://no-color.org");
    assert!(coloured(&[force, ("NO_COLOR", "")], &[]), "an empty one is none");
    assert!(coloured(&[("NO_COLOR", "1")], &["--color", "always"]), "the command line comes first");
    assert!(!coloured(&[force], &["--color", "never"]));
}

#[test]
fn quiet_leaves_results_and_errors() {
    let home = Home::new();
    let page = home
        .write("page.txt", "| server | requests/s |\n| --- | --- |\n| nginx | 351.49 |\n")
        .display()
        .to_string();
    let lines: [&[&str]; 2] =
        [&["import", "--dry-run", "--chart", &page], &["verify", "reference", "--format", "markdown"]];
    for args in lines {
        let (loud, quiet) = (run(&mut home.drome(args)), run(home.drome(&["--quiet"]).args(args)));
        assert_eq!((loud.code, quiet.code), (0, 0), "{args:?}: {}{}", loud.err, quiet.err);
        assert!(quiet.err.is_empty() && !loud.err.is_empty(), "{args:?}: {}", quiet.err);
        assert_eq!(quiet.out.lines().count(), loud.out.lines().count(), "{args:?}: the result is the same");
    }
    let finished = run(&mut home.drome(&["report", "no-such-run", "-q"]));
    finished.assert_err(2, &["no-such-run"]);
}

#[test]
fn every_result_can_be_written_to_a_file_whose_extension_sets_the_format() {
    let home = usual();
    let server = serve(&[]);
    let url = format!("http://{}/hello", server.address);
    let commands = [
        vec!["report"],
        vec!["history", "example"],
        vec!["compare", "20260101-000000-0000", "20260101-000000-0000"],
        vec!["doctor"],
        vec!["load", &url, "-d", "100ms"],
    ];
    let to = |args: &[&str], file: &str| {
        let path = home.path().join(file);
        let finished = run(home.drome(args).arg("-o").arg(&path));
        assert_eq!(finished.out, "", "{args:?}");
        (finished, std::fs::read_to_string(path).unwrap_or_default())
    };
    for args in commands {
        let (finished, text) = to(&args, &format!("{}.json", args[0]));
        assert!([0, 4].contains(&finished.code), "{args:?}: {}", finished.err);
        let json = serde_json::from_str::<serde_json::Value>(&text);
        assert!(json.is_ok_and(|json| json.is_object()), "{args:?}: {text}");
        let (finished, text) = to(&args, &format!("{}.txt", args[0]));
        assert!([0, 4].contains(&finished.code) && text.ends_with('\n'), "{args:?}: {}", finished.err);
        assert!(!text.starts_with('{'), "{args:?}: {text}");
        let (finished, _) = to(&args, "none/result.json");
        finished.assert_err(2, &["can't be written"]);
        if args[0] != "report" {
            let (finished, _) = to(&args, "result.html");
            finished.assert_err(2, &["has no format html"]);
        }
    }
}

/// Starts it with its standard output, or error, going to a reader that has gone.
fn unread(home: &Home, args: &[&str], is_error: bool) -> Finished {
    let mut command = home.drome(args);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    if is_error {
        command.stderr(writer)
    } else {
        command.stdout(writer).stderr(Stdio::piped())
    };
    process::ended(process::spawn(command.stdin(Stdio::null())))
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let home = usual();
    let server = serve(&[]);
    let url = format!("http://{}/hello", server.address);
    let page = home
        .write("page.txt", "| server | requests/s |\n| --- | --- |\n| nginx | 351.49 |\n")
        .display()
        .to_string();
    let mut commands: Vec<Vec<&str>> =
        FORMATS.iter().map(|format| vec!["report", "--format", format]).collect();
    commands.extend([
        vec!["list"],
        vec!["list", "runs"],
        vec!["list", "nginx"],
        vec!["history", "example"],
        vec!["compare", "20260101-000000-0000", "20260101-000000-0000"],
        vec!["compare", "20260101-000000-0000", "--fail-if-slower", "3%"],
        vec!["dialects"],
        vec!["doctor"],
        vec!["import", "--dry-run", &page],
        vec!["import", "--dry-run", "--chart", &page],
        vec!["load", &url, "-d", "100ms"],
        vec!["load", &url, "-d", "100ms", "--format", "json"],
        vec!["ab", "-n", "10", &url],
        vec!["--help"],
        vec!["--version"],
    ]);
    for args in commands {
        let finished = unread(&home, &args, false);
        assert!(
            !finished.err.contains("panic") && !finished.err.contains("roken pipe"),
            "{args:?}: {}",
            finished.err
        );
        assert!([0, 4].contains(&finished.code), "{args:?}: {} {}", finished.code, finished.err);
    }
    // Nobody reads what went wrong either: the code still says it.
    assert_eq!(unread(&home, &["report", "no-such-run"], true).code, 2);
    assert_eq!(unread(&home, &["import", "--dry-run", &page], true).code, 0);
}
