//! `drome push` and `drome pull`: runs go from store to store, once, whole and checked, and lists name their machines.

use crate::common::catalog::SERVES;
use crate::common::example::{MadeStart, example, keep_round, sound};
use crate::common::{DROME, Finished, Home, run, run_with_input};
use control::lock::Lock;
use model::heat::HUB;
use model::run::Entrant;
use model::*;
use serde_json::Value;
use std::path::Path;
use store::Store;

/// A word that no machine, path or name has.
const SECRET: &str = "zq7secretqz";

/// The name of the earlier run.
pub const FIRST: &str = "20260101-000000-00a1";
const SECOND: &str = "20260102-000000-00a2";

/// A run of the study `example` on a machine with this processor.
fn a_run(id: &str, cpu: &str) -> Run {
    let entrant = |title: &str| Entrant {
        title: title.to_owned(),
        version: Some("1.0".to_owned()),
        command: vec!["sh".to_owned(), "-c".to_owned(), format!("./app --key {SECRET}")],
        ..Entrant::default()
    };
    let names = ["a", study::REFERENCE].map(|name| (name.to_owned(), entrant(name)));
    let mut run = example(names.into(), &[("keep-alive", 10)], [3, 3]);
    run.environment.cpu = Some(cpu.to_owned());
    run.command = vec!["run".to_owned(), "example".to_owned(), SECRET.to_owned()];
    let day = &id[6..8];
    Run { id: id.to_owned(), started_at: format!("2026-01-{day}T00:00:00Z"), ..run }
}

/// Adds a run of three rounds that has ended.
fn add(home: &Home, id: &str, cpu: &str) {
    begin(home, id, cpu);
    Store::open(&home.store()).unwrap().end_run(id, "enough").unwrap();
}

/// Adds a run of three rounds that has not ended.
fn begin(home: &Home, id: &str, cpu: &str) {
    let store = Store::open(&home.store()).unwrap();
    let run = a_run(id, cpu);
    store.add_run(&run).unwrap();
    for round in 0..3 {
        let made = |contender| MadeStart::measured(contender, sound(50_000 + round as u64));
        keep_round(&store, &run, round, &["a", study::REFERENCE, HUB].map(made));
    }
}

/// A home with both runs.
pub fn filled() -> Home {
    let home = Home::new();
    add(&home, FIRST, "A processor");
    add(&home, SECOND, "A processor");
    home
}

fn path(path: &Path) -> String {
    path.display().to_string()
}

/// Writes runs of a home to a file of it.
fn pushed(home: &Home, args: &[&str]) -> String {
    let file = path(&home.path().join("runs.jsonl"));
    let finished = run(home.drome(&["push"]).args(args).arg(&file));
    assert_eq!((finished.code, finished.out.as_str()), (0, ""), "{}", finished.err);
    file
}

fn list(home: &Home) -> String {
    run(&mut home.drome(&["list", "runs"])).out
}

/// What a run reports.
pub fn json(home: &Home, id: &str) -> Value {
    let finished = run(&mut home.drome(&["report", id, "--format", "json"]));
    serde_json::from_str(&finished.out).unwrap_or_else(|e| panic!("{e}: {}", finished.err))
}

/// The words by which drome of another home is reached, as ssh reaches that of another machine.
fn transport(home: &Home) -> String {
    let folder = path(Path::new(DROME).parent().unwrap());
    format!("env DROME_HOME={} PATH={folder}:/usr/bin:/bin", path(home.path()))
}

/// It ended with this code, and said why.
pub fn refused(finished: &Finished, code: i32, why: &str) {
    finished.assert_err(code, &[why]);
}

#[test]
fn runs_go_by_file_and_only_once() {
    let (one, two) = (filled(), Home::new());
    let file = pushed(&one, &["--all", "--machine", "ci-1"]);
    let first = run(&mut two.drome(&["pull", &file]));
    assert_eq!(first.code, 0, "{}", first.err);
    let lines: Vec<&str> = first.out.lines().collect();
    let expected = [FIRST, SECOND].map(|id| format!("{id}  example  pulled from ci-1"));
    assert_eq!(lines, expected, "the earliest first");
    let again = run(&mut two.drome(&["pull", &file]));
    assert_eq!(
        (again.code, again.out),
        (0, first.out.replace("pulled from ci-1", "already here")),
        "{}",
        again.err
    );
    let (own, mut pulled) = (json(&one, SECOND), json(&two, SECOND));
    assert_eq!(pulled["origin"]["machine"], "ci-1");
    pulled.as_object_mut().unwrap().remove("origin");
    assert_eq!(own, pulled, "the same figures");
    // The latest run without any name, by standard output and input.
    let third = Home::new();
    let whole = run(&mut one.drome(&["push", "-"])).out;
    let input = third.write("input", &whole);
    let stdin = std::fs::File::open(input).unwrap();
    let told = run_with_input(third.drome(&["pull", "-", "--machine", "box"]).stdin(stdin));
    assert_eq!(told.out, format!("{SECOND}  example  pulled from box\n"), "{}", told.err);
    // And back: there it is still its own.
    let back = pushed(&two, &[FIRST]);
    assert_eq!(run(&mut one.drome(&["pull", &back])).out, format!("{FIRST}  example  already here\n"));
    assert!(!list(&one).contains("ci-1"), "{}", list(&one));
}

#[test]
fn machines_are_told_apart_in_lists_reports_and_histories() {
    let (one, two) = (filled(), Home::new());
    add(&two, "20260103-000000-00a3", "A processor");
    assert!(!list(&two).contains("here"), "one machine needs no name");
    let file = pushed(&one, &["--all", "--machine", "ci-1"]);
    assert_eq!(run(&mut two.drome(&["pull", &file])).code, 0);
    let listed = list(&two);
    assert!(
        listed.contains(&format!("{FIRST}  ci-1  example")) && listed.contains("  here  example"),
        "{listed}"
    );
    for (machine, runs) in [("ci-1", 2), ("here", 1)] {
        let listed = run(&mut two.drome(&["list", "runs", "--machine", machine])).out;
        assert_eq!(listed.lines().count(), runs, "{listed}");
    }
    refused(&run(&mut two.drome(&["list", "runs", "--machine", "x"])), 2, "there are runs of ci-1, here");
    refused(&run(&mut two.drome(&["list", "--machine", "x"])), 2, "`drome list runs`");
    let report = run(&mut two.drome(&["report", FIRST])).out;
    assert!(report.contains("measured on another machine, ci-1; pulled on "), "{report}");
    // Of the two machines, the one with more runs is followed.
    let history = run(&mut two.drome(&["history", "example"])).out;
    assert!(
        history.contains("2 runs on ci-1") && history.contains("different machine (here; shown: ci-1)"),
        "{history}"
    );
    let own = run(&mut two.drome(&["history", "example", "--machine", "here"])).out;
    assert!(own.contains("1 run, 2026-01-03") && !own.contains("ci-1"), "{own}");
    let csv = run(&mut two.drome(&["history", "example", "--format", "csv"])).out;
    assert!(csv.lines().skip(1).all(|line| line.ends_with(",ci-1")), "{csv}");
}

#[test]
fn another_run_of_the_same_name_is_refused_and_the_others_come() {
    let (one, two) = (filled(), Home::new());
    add(&two, FIRST, "Another processor");
    let before = json(&two, FIRST);
    let file = pushed(&one, &["--all"]);
    let finished = run(&mut two.drome(&["pull", &file]));
    refused(&finished, 3, &format!("run {FIRST} is here with other content"));
    assert!(finished.out.starts_with(&format!("{SECOND}  example  pulled from ")), "{}", finished.out);
    let digest = |home: &Home| Store::open(&home.store()).unwrap().digest(FIRST).unwrap().unwrap();
    for home in [&one, &two] {
        assert!(finished.err.contains(&digest(home)[..12]), "{}", finished.err);
    }
    assert_eq!(json(&two, FIRST), before);
}

#[test]
fn a_secret_goes_nowhere_if_it_is_redacted() {
    let home = filled();
    let plain = std::fs::read_to_string(pushed(&home, &["--all"])).unwrap();
    assert!(plain.contains(SECRET), "the test would prove nothing");
    let redacted = std::fs::read_to_string(pushed(&home, &["--all", "--redact"])).unwrap();
    assert!(!redacted.contains(SECRET), "{redacted}");
    let host = host_name();
    assert!(!redacted.contains(&format!("\"machine\":\"{host}\"")) && redacted.contains("\"machine\":null"));
    let two = Home::new();
    let file = two.write("redacted", &redacted);
    let pulled = run(&mut two.drome(&["pull", &path(&file)]));
    assert!(pulled.out.contains("pulled from A processor, 2 cores"), "{}{}", pulled.out, pulled.err);
    let figures = |home: &Home| json(home, FIRST)["cells"][0]["contenders"][0]["rate_per_s"].clone();
    assert_eq!(figures(&home), figures(&two));
}

fn host_name() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap().trim().to_owned()
}

#[test]
fn runs_go_to_and_from_another_machine_by_any_command() {
    let (one, two) = (filled(), Home::new());
    let to = transport(&two);
    let sent = run(&mut one.drome(&["push", "--to", &to, FIRST, "--machine", "ci-1"]));
    assert_eq!((sent.code, sent.out), (0, format!("{FIRST}  example  pulled from ci-1\n")), "{}", sent.err);
    assert_eq!(list(&two).lines().count(), 1);
    let by_shell = format!("sh -c 'exec \"$@\"' sh {}", transport(&one));
    let fetched = run(&mut two.drome(&["pull", "--from", &by_shell, "--study", "example", "--redact"]));
    // The first one is there with its command lines, so it is not the same.
    refused(&fetched, 3, "with other content");
    assert!(fetched.out.starts_with(&format!("{SECOND}  example  pulled from")), "{}", fetched.out);
    let stored = Store::open(&two.store()).unwrap();
    let commands = |id: &str| stored.run(id).unwrap().0.contenders["a"].command.clone();
    assert!(commands(FIRST).join(" ").contains(SECRET) && commands(SECOND) == ["redacted"]);
    // What the other machine refuses ends with its code.
    let again = run(&mut one.drome(&["push", "--to", &to, "--all"]));
    refused(&again, 3, "with other content");
}

#[test]
fn another_machine_that_can_not_be_reached_is_told() {
    let home = filled();
    for args in [["push", "--to"], ["pull", "--from"]] {
        let failed = run(home.drome(&args).arg("sh -c 'echo no such host >&2; exit 255'"));
        refused(&failed, 1, "what it printed says why");
        assert!(failed.err.contains("no such host"), "{}", failed.err);
        refused(
            &run(home.drome(&args).arg("no-such-program-at-all")),
            1,
            "can't run `no-such-program-at-all drome",
        );
        refused(&run(home.drome(&args).arg("ssh -oProxyCommand=touch")), 2, "can't begin with `-`");
        refused(&run(home.drome(&args).arg("ssh box; ls")), 2, "`;`");
        refused(&run(home.drome(&args).arg("")), 2, "`ssh HOST`");
    }
    let escapes = "sh -c 'printf \"a\\033[31mb\\n\"; printf \"c\\033]0;title\\007d\\n\" >&2; exit 1'";
    let told = run(&mut home.drome(&["push", "--to", escapes]));
    assert_eq!((told.code, told.out.as_str()), (1, "ab\n"), "{}", told.err);
    assert!(told.err.contains("cd\n"), "{}", told.err);
    let told = run(&mut home.drome(&["pull", "--from", escapes]));
    told.assert_err(1, &["cd\n"]);
    let hostile = "sh -c 'echo hello'";
    refused(&run(&mut home.drome(&["pull", "--from", hostile])), 2, "is not a file of shared runs");
    refused(
        &run(&mut home.drome(&["pull", "--from", "ssh box", "$(ls)"])),
        2,
        "can't be asked of another machine",
    );
    refused(&run(&mut home.drome(&["pull", "--from", "ssh box", "--all", FIRST])), 2, "exclude each other");
    refused(&run(&mut home.drome(&["push", "--study", "example", FIRST, "file"])), 2, "exclude each other");
    refused(&run(&mut home.drome(&["push"])), 2, "required");
    refused(&run(&mut home.drome(&["push", FIRST])), 2, "names a run, and after the runs comes the file");
    assert!(!Path::new(FIRST).exists());
    refused(&run(&mut home.drome(&["pull", "--all", "file"])), 2, "--from");
    refused(&run(&mut home.drome(&["push", "--machine", "here", "-"])), 2, "which is this machine");
    refused(&run(&mut home.drome(&["push", "20260101-000000-ffff", "-"])), 2, "there is no run");
    refused(&run(&mut home.drome(&["push", "--study", "none", "-"])), 2, "there is no run of none");
    refused(&run(&mut Home::new().drome(&["push", "-"])), 2, "there are no runs yet");
}

#[test]
fn what_is_not_whole_or_no_file_of_runs_is_refused_and_nothing_of_it_is_stored() {
    let (one, two) = (filled(), Home::new());
    let file = pushed(&one, &["--all"]);
    let text = std::fs::read_to_string(&file).unwrap();
    let half: String = text.lines().take(5).map(|line| format!("{line}\n")).collect();
    let cases = [
        ("half", half, "is incomplete"),
        ("changed", text.replace("\"enough\"", "\"plenty\""), "was changed"),
        ("longer", format!("{text}{text}"), "goes on after"),
        ("empty", String::new(), "it is empty"),
        ("json", "{\"a\": 1}\n".to_owned(), "`drome push RUN FILE` writes one"),
        ("newer", text.replacen("\"version\":1", "\"version\":9", 1), "use a newer drome"),
        ("evil", text.replace("\"round\":0", "\"round\":18446744073709551615"), "line "),
    ];
    for (name, text, why) in cases {
        let file = two.write(name, &text);
        refused(&run(&mut two.drome(&["pull", &path(&file)])), 2, why);
    }
    let database = path(&one.store());
    refused(&run(&mut two.drome(&["pull", &database])), 2, "those of others are never opened");
    refused(&run(&mut two.drome(&["pull", "no-such-file"])), 2, "can't be read");
    refused(
        &run(&mut two.drome(&["pull", &file, "20260101-000000-ffff"])),
        2,
        "it has 20260101-000000-00a1, 2026",
    );
    assert_eq!(list(&two), "no runs yet: `drome run raspberry-pi` makes one\n");
    let some = run(&mut two.drome(&["pull", &file, SECOND]));
    assert_eq!((some.code, some.out.lines().count()), (0, 1), "{}", some.err);
}

#[test]
fn a_run_that_was_pulled_is_not_resumed_and_one_of_its_own_is() {
    let (one, two) = (Home::new(), Home::new());
    begin(&one, FIRST, "A processor");
    let file = pushed(&one, &["--machine", "ci-1"]);
    assert_eq!(run(&mut two.drome(&["pull", &file])).code, 0);
    assert!(!list(&two).contains("--resume"), "{}", list(&two));
    two.add_study("example", &["a"], 1);
    two.add_contender("a", SERVES);
    let own = path(&two.path().join("own"));
    for more in [&[][..], &["--budget", "2h"][..]] {
        let finished = run(two.drome(&["run", "example", "--resume", "--catalog", &own]).args(more));
        refused(&finished, 2, &format!("run {FIRST} was pulled from ci-1 and can't be resumed here"));
    }
    // An own run of the study is the one that is meant, although it is older.
    begin(&two, "20250101-000000-00a0", "A processor");
    let finished = run(&mut two.drome(&["run", "example", "--resume", "--catalog", &own]));
    refused(&finished, 2, "run 20250101-000000-00a0 can't be resumed: ");
}

#[test]
fn what_can_not_be_compared_is_not_because_it_was_pulled() {
    let (one, two) = (filled(), Home::new());
    let own = ["20260103-000000-00b1", "20260104-000000-00b2"];
    add(&two, own[0], "Another processor");
    add(&two, own[1], "A processor");
    let file = pushed(&one, &["--all", "--machine", "ci-1"]);
    assert_eq!(run(&mut two.drome(&["pull", &file])).code, 0);
    let compare = |old: &str, new: &str| run(&mut two.drome(&["compare", old, new]));
    refused(&compare(FIRST, own[0]), 2, "different processor (A processor then, Another processor now)");
    let same = compare(FIRST, SECOND);
    assert!(same.code == 0 && !same.out.contains("different machine"), "{}{}", same.out, same.err);
    let alike = compare(SECOND, own[1]);
    alike.assert_out(0, &["different machine (ci-1 then, here now)"]);
}

#[test]
fn a_run_that_is_being_measured_is_not_written() {
    let home = filled();
    let open = "20260105-000000-00c1";
    begin(&home, open, "A processor");
    let store = Store::open(&home.store()).unwrap();
    let lock = Lock::try_take(&store.lock(open)).unwrap().unwrap();
    let file = path(&home.path().join("runs.jsonl"));
    refused(&run(&mut home.drome(&["push", &file])), 1, "is being measured");
    refused(&run(&mut home.drome(&["push", open, &file])), 1, "is being measured");
    assert!(!Path::new(&file).exists());
    let all = run(&mut home.drome(&["push", "--all", &file]));
    all.assert_err(0, &["left out: run 20260105-000000-00c1"]);
    assert!(!std::fs::read_to_string(&file).unwrap().contains(open));
    drop(lock);
    assert_eq!(run(&mut home.drome(&["push", &file])).code, 0, "one that was interrupted is");
}
