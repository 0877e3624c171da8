//! What is written is read as it was, and anything else is refused with its line.

use super::*;
use crate::tests::printed;
use judge::example;
use judge::example::in_heats;
use model::heat::{HUB, Heat, Slice};
use model::{HeatMachine, Printed, Run};
use serde_json::{Value, json};

/// A run that has ended.
fn whole() -> Vec<Row> {
    let run = Run { id: "20260101-000000-0000".to_owned(), ..in_heats::run(&["a", "b"]) };
    let mut rows = heats();
    rows[0] = Row::Run(Box::new(run));
    rows.insert(1, Row::Ended("enough".to_owned()));
    rows
}

/// A run in heats, which has not ended.
fn heats() -> Vec<Row> {
    let run = Run { id: "20260101-000000-000a".to_owned(), ..in_heats::run(&["a", "b"]) };
    let machine = HeatMachine { name: "ci-1".to_owned(), attempt: 1, ..HeatMachine::default() };
    let heat = Heat { machine: Some(Box::new(machine)), ..in_heats::heat(&["a", "b"]) };
    let slice = Slice { cycle: 3, place: 1, contender: HUB.to_owned(), ..in_heats::slice() };
    let start = |contender| Row::Start(Box::new(in_heats::start(0, 0, contender, &[0])));
    vec![Row::Run(Box::new(run)), Row::Heat(heat), start(HUB), start("a"), Row::Slice(slice)]
}

/// A file of these entries.
fn file(entries: &[Vec<Row>]) -> String {
    let mut bytes = Vec::new();
    let mut writer = Writer::begin(&mut bytes, "0.1.0").unwrap();
    for rows in entries {
        writer.entry(Some("ci-1")).unwrap();
        rows.iter().for_each(|row| writer.row(row).unwrap());
    }
    writer.end().unwrap();
    String::from_utf8(bytes).unwrap()
}

fn refused(text: &str) -> String {
    read(text.as_bytes()).unwrap_err().to_string()
}

/// A file with another line in place of the `nth`, counted from 0, and an end that fits.
fn with_line(text: &str, nth: usize, line: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.pop();
    lines[nth] = line;
    ended(&lines)
}

/// These lines and an end that fits.
fn ended(lines: &[&str]) -> String {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let entries = lines.iter().filter(|line| line.starts_with("{\"from\"")).count();
    let digest = model::hex(<sha2::Sha256 as sha2::Digest>::digest(&text));
    let end = json!({"end": {"entries": entries, "lines": lines.len(), "sha256": digest}});
    format!("{text}{end}\n")
}

/// A line of a file, changed.
fn changed(text: &str, nth: usize, pointer: &str, value: Value) -> String {
    let line = text.lines().nth(nth).unwrap();
    let mut json: Value = serde_json::from_str(line).unwrap();
    *json.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer} in {line}")) = value;
    with_line(text, nth, &json.to_string())
}

#[test]
fn what_is_written_is_read_as_it_was() {
    let entries = [whole(), heats()];
    let text = file(&entries);
    let found = read(text.as_bytes()).unwrap();
    assert_eq!(found.len(), 2);
    for (entry, rows) in found.iter().zip(&entries) {
        let expected: Vec<String> = rows.iter().map(|row| row.checked().unwrap().json).collect();
        assert_eq!(entry.rows, expected);
        assert_eq!((entry.machine.as_str(), entry.title.as_str()), ("ci-1", "example"));
    }
    assert_eq!(found[1].id, "20260101-000000-000a");
    assert_ne!(found[0].digest, found[1].digest);
    assert_eq!(file(&entries), text, "the same runs are the same file");
    assert_eq!(read(text.trim_end().as_bytes()).unwrap().len(), 2, "without the last line feed");
}

#[test]
fn the_digest_is_that_of_the_rows_in_whatever_order() {
    let digest = |rows: Vec<Row>| read(file(&[rows]).as_bytes()).unwrap().remove(0).digest;
    let mut swapped = whole();
    swapped.swap(3, 4);
    assert_eq!(digest(whole()), digest(swapped));
    let mut fewer = whole();
    fewer.pop();
    assert_ne!(digest(whole()), digest(fewer));
    let text = file(&[whole()]).replacen("ci-1", "ci-2", 1);
    let lines: Vec<&str> = text.lines().collect();
    let elsewhere = read(ended(&lines[..lines.len() - 1]).as_bytes()).unwrap().remove(0);
    assert_eq!((elsewhere.machine.as_str(), elsewhere.digest), ("ci-2", digest(whole())));
}

#[test]
fn what_is_no_such_file_is_told_what_it_is() {
    for (text, why) in [
        ("", "it is empty"),
        ("hello\n", "`drome push RUN FILE` writes one"),
        ("{\"drome_runs\":[]}\n", "line 1"),
        ("SQLite format 3\0 and more", "never opened"),
        ("{\"drome_runs\":{\"version\":0,\"drome\":\"x\"}}\n", "no version 0"),
        ("{\"drome_runs\":{\"version\":2,\"news\":[]}}\n", "use a newer drome"),
    ] {
        assert!(refused(text).contains(why), "{text:?}: {}", refused(text));
    }
    let packed = read(&[0x1f, 0x8b, 8, 0, b'\n'][..]).unwrap_err().to_string();
    assert!(packed.contains("gunzip"), "{packed}");
    assert!(refused(&"x".repeat(100_000)).contains("writes one"));
}

#[test]
fn a_file_that_was_cut_or_changed_is_refused() {
    let text = file(&[whole(), heats()]);
    let lines: Vec<&str> = text.lines().collect();
    for end in 0..lines.len() - 1 {
        let cut = lines[..end].iter().map(|line| format!("{line}\n")).collect::<String>();
        let why = refused(&cut);
        assert!(why.contains("incomplete") || end == 0, "{end}: {why}");
        let half = format!("{cut}{}", &lines[end][..lines[end].len() / 2]);
        assert!(end == 0 || refused(&half).contains("incomplete"), "{end}: {}", refused(&half));
    }
    assert!(refused(&text.replace("enough", "Enough")).contains("was changed"));
    assert!(refused(&text.replace("\"entries\":2", "\"entries\":3")).contains("was changed"));
    assert!(refused(&format!("{text}x")).contains("goes on after"));
}

#[test]
fn a_row_that_refers_to_nothing_is_there_twice_or_is_out_of_range_is_refused() {
    let text = file(&[heats()]);
    // Line 2 is the run, 3 the heat, 4 the hub's start, 5 that of `a`, 6 a turn of the hub.
    for (nth, pointer, value, why) in [
        (2, "/run/id", json!("../../x"), "can't be the name of a run"),
        (2, "/run/study/cell", json!([]), "cells: 0"),
        (2, "/run/started_at", json!("now"), "not a time"),
        (2, "/run/copies", json!(5_000), "copies: 5000"),
        (2, "/run/name", json!("a\nb"), "can't be a name"),
        (3, "/heat/members/0", json!("nobody"), "no contender `nobody`"),
        (3, "/heat/members/0", json!("b"), "the same member"),
        (3, "/heat/cells/0", json!(7), "not number 7"),
        (3, "/heat/machine/attempt", json!(0), "attempt: 0"),
        (3, "/heat/machine/name", json!("here"), "can't be the name of a machine"),
        (4, "/start/round", json!(1), "its heat is not there"),
        (4, "/start/contender", json!("a"), "the same start"),
        (5, "/start/copy", json!(1), "not one of its heat's servers"),
        (5, "/start/cells", json!({"9": in_heats::in_cell()}), "not number 9"),
        (6, "/slice/contender", json!("b"), "its start is not there"),
        (6, "/slice/cycle", json!(5_000_000), "out of range"),
        (6, "/slice/answers", json!(u64::MAX), "larger than any measurement's"),
        (6, "/slice/answers", json!(-1), "invalid value"),
    ] {
        let why_not = refused(&changed(&text, nth, pointer, value));
        // A start whose name is taken is found at the next line.
        assert!(why_not.contains(why) && why_not.contains("line "), "{pointer}: {why_not}");
    }
    let mut measurement = json!(example::measurement(1.0));
    measurement["tally"]["latency"] = json!("AAAA");
    let text = file(&[whole()]);
    for (nth, pointer, value, why) in [
        (6, "/start/cells/0/measurement", measurement, "not a histogram"),
        (1, "/from/machine", json!("here"), "can't be the name of a machine"),
        (1, "/from/machine", json!("\u{1b}[2J"), "can't be the name of a machine"),
    ] {
        let why_not = refused(&changed(&text, nth, pointer, value));
        assert!(why_not.contains(why) && !why_not.contains('\u{1b}'), "{pointer}: {why_not}");
    }
}

#[test]
fn lines_of_no_known_kind_and_unknown_keys_are_refused() {
    let text = file(&[whole()]);
    for (line, why) in [
        ("{\"password\":1}", "does not know the word `password`: use the drome that wrote it"),
        ("{\"trial\":1,\"heat\":2}", "one key"),
        ("[]", "not an object"),
        ("nothing", "not JSON"),
        ("{\"ended\":\"again\"}", "ended already"),
        ("{\"heat\":{}}", "missing field"),
        ("{\"\u{202e}\":1}", "the word `\u{fffd}`"),
        ("{\"trial\":1e999}", "not JSON"),
        ("{\"drome_runs\":{\"version\":1,\"drome\":\"x\"}}", "the word `drome_runs`"),
    ] {
        let why_not = refused(&with_line(&text, 4, line));
        assert!(why_not.contains(why) && why_not.contains("line 5"), "{line}: {why_not}");
    }
    let mut run: Value = serde_json::from_str(text.lines().nth(2).unwrap()).unwrap();
    run["run"]["environment"]["news"] = json!({"from": "the future"});
    assert!(refused(&with_line(&text, 2, &run.to_string())).contains("the key `news`"));
    let deep = format!("{{\"start\":{}", "[".repeat(100_000));
    assert!(refused(&with_line(&text, 4, &deep)).contains("not JSON"));
    let mut lines: Vec<&str> = text.lines().collect();
    lines.pop();
    assert!(refused(&ended(&[&lines[..], &lines[1..]].concat())).contains("is there twice"));
    assert!(refused(&ended(&[lines[0], lines[1], lines[1], lines[2]])).contains("has no rows"));
    assert!(refused(&ended(&[lines[0], lines[2]])).contains("before any entry"));
    assert!(refused(&ended(&[lines[0], lines[1], lines[3]])).contains("can't be here"));
}

#[test]
fn control_characters_are_gone_after_the_first_reading() {
    let mut rows = whole();
    if let Row::Run(run) = &mut rows[0] {
        run.study.title = "a\u{1b}[2Jb".to_owned();
    }
    let text = file(&[rows]);
    assert!(!text.contains("\\u001b") && text.contains("a\u{fffd}[2Jb"), "the writer replaces them too");
    let hostile = changed(&text, 2, "/run/study/title", json!("a\u{1b}[2Jb"));
    assert!(hostile.contains("\\u001b"));
    let found = read(hostile.as_bytes()).unwrap().remove(0);
    assert!(!found.rows[0].contains("\\u001b"));
    assert_eq!(found.digest, read(text.as_bytes()).unwrap()[0].digest);
}

#[test]
fn a_machine_that_is_not_named_is_described() {
    let mut bytes = Vec::new();
    let mut writer = Writer::begin(&mut bytes, "0.1.0").unwrap();
    let mut run = in_heats::run(&["a"]);
    run.environment.cpu = Some("A processor".to_owned());
    writer.entry(None).unwrap();
    writer.row(&Row::Run(Box::new(run))).unwrap();
    let printed = printed("20260101-000000-000b");
    writer.entry(None).unwrap();
    writer.row(&Row::Report(Box::new(printed.clone()))).unwrap();
    writer.end().unwrap();
    let machines: Vec<String> = read(&bytes[..]).unwrap().into_iter().map(|entry| entry.machine).collect();
    assert_eq!(machines, ["A processor, 2 cores", "another machine"]);
    let mut writer = Writer::begin(Vec::<u8>::new(), "0.1.0").unwrap();
    writer.entry(None).unwrap();
    let error = writer.row(&Row::Report(Box::new(Printed { json: "no".to_owned(), ..printed }))).unwrap_err();
    assert!(error.to_string().contains("its JSON is not valid"), "{error}");
}
