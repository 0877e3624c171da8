//! A secret that stands where something private may stand is in no row after the redaction.

use super::*;
use crate::tests::printed;
use judge::example;
use judge::example::in_heats;
use model::background::Background;
use model::environment::{Conditions, Executable};
use model::heat::{Counts, Start, StartOutcome};
use model::import::{Imported, Source};
use model::page::{AsPublished, Quirk, Replay, Replays};
use model::run::{ContainerImage, Raced};
use model::{Measurement, Printed, Reading};
use serde_json::json;

const SECRET: &str = "s3cret";

fn secret() -> String {
    format!("/opt/{SECRET}/app --key {SECRET}")
}

fn ran() -> Executable {
    Executable { path: secret(), sha256: Some("ab".to_owned()) }
}

/// The JSON of a row after the redaction.
fn redacted(mut row: Row, hidden: &[&str]) -> String {
    let hidden = hidden.iter().map(|word| (*word).to_owned()).collect();
    Redaction::new(hidden).apply(&mut row).unwrap();
    row.checked().unwrap().json
}

/// A run of a study with a secret in each place that is taken out.
fn study() -> Run {
    let mut run = example::run(&["a"]);
    run.command = vec!["run".to_owned(), secret()];
    run.study.as_published = vec![AsPublished {
        cell: "keep-alive".to_owned(),
        title: None,
        only: Vec::new(),
        command: vec![secret()],
        contenders: BTreeMap::from([(
            "a".to_owned(),
            Quirk { start: Some(vec![secret()]), ..Quirk::default() },
        )]),
    }];
    let entrant = run.contenders.get_mut("a").unwrap();
    entrant.command = vec!["sh".to_owned(), "-c".to_owned(), secret()];
    entrant.files = BTreeMap::from([(secret(), secret())]);
    entrant.missing = Some(secret());
    entrant.source_sha256 = Some("5ece1".to_owned());
    let digest = Some(format!("{SECRET}@sha256:77"));
    entrant.image = Some(ContainerImage { name: secret(), id: "sha256:77".to_owned(), digest });
    run
}

/// The same as a race, whose titles are parts of commands.
fn race() -> Run {
    let mut run = study();
    run.study.title = secret();
    run.study.cells[0].title = secret();
    run.contenders.get_mut("a").unwrap().title = secret();
    run.race = Some(Raced { prepare: Some(secret()), ..Raced::default() });
    run
}

fn measured() -> Measurement {
    let mut measured = example::measurement(1_000.0);
    measured.tally.error_causes = BTreeMap::from([(secret(), 3), ("late".to_owned(), 1)]);
    measured.tally.halted = Some(format!("{SECRET} ran out"));
    measured.verdict.reasons = vec![
        format!("4 requests failed ({})", secret()),
        format!("{SECRET} ran out"),
        format!("{STOPPING}{SECRET} was left"),
    ];
    measured
}

/// A start with this measurement.
fn started(measured: Measurement) -> Start {
    let mut start = in_heats::start(0, 0, "a", &[0]);
    start.program = Some(ran());
    start.cells.get_mut(&0).unwrap().measurement = Some(Box::new(measured));
    start
}

#[test]
fn a_secret_in_a_command_a_file_or_a_path_is_in_no_row_of_a_run() {
    for run in [study(), race()] {
        let json = redacted(Row::Run(Box::new(run.clone())), &[]);
        assert!(!json.contains(SECRET), "{json}");
        assert!(json.contains("\"command\":[\"redacted\"]") && json.contains("sha256:77"), "{json}");
        assert_eq!(json.contains("5ece1"), run.race.is_none(), "the digest of a command tells it: {json}");
        assert_eq!(json.contains("server a against server reference"), run.race.is_some(), "{json}");
    }
}

#[test]
fn a_secret_that_a_server_wrote_is_in_no_start_and_every_figure_stays() {
    let json = redacted(Row::Start(Box::new(started(measured()))), &[]);
    assert!(!json.contains(SECRET), "{json}");
    assert!(json.contains("\"error_causes\":{\"redacted\":4}"), "{json}");
    assert!(json.contains("4 requests failed (redacted)") && json.contains("\"sha256\":\"ab\""), "{json}");
    assert!(json.contains("\"completed\":1000"), "{json}");
    let lacked = StartOutcome::LackedMemory(secret());
    for outcome in
        [StartOutcome::Failed(secret()), StartOutcome::Spoiled(secret()), lacked, StartOutcome::Ended]
    {
        let mut start = in_heats::start(0, 0, "a", &[0]);
        (start.outcome, start.program) = (outcome, Some(ran()));
        start.conditions = Some(Conditions { server: Some(ran()), ..Conditions::default() });
        let cell = start.cells.get_mut(&0).unwrap();
        cell.counts = Counts::SharesDiffer("in the path /home/jane".to_owned());
        cell.background = vec![Background { program: SECRET.to_owned(), cpu_ns: 1 }];
        cell.measurement = Some(Box::new(measured()));
        let json = redacted(Row::Start(Box::new(start)), &[]);
        assert!(!json.contains(SECRET) && !json.contains("jane"), "{json}");
    }
}

#[test]
fn a_secret_in_another_tools_report_or_a_pages_command_line_is_taken_out() {
    let reading = |command: &str| Reading {
        command: Some(command.to_owned()),
        url: Some(secret()),
        title: Some("nginx".to_owned()),
        ..Reading::of("ab")
    };
    let item = |command: &str| Imported {
        source: 0,
        reading: reading(command),
        notes: vec![secret()],
        strange: vec![secret()],
    };
    let import = Import {
        id: "20260101-000000-0000".to_owned(),
        title: secret(),
        imported_at: "2026-01-01T00:00:00Z".to_owned(),
        drome: "0.1.0".to_owned(),
        sources: vec![Source { name: secret(), title: Some(secret()), bytes: 1, strange: vec![secret()] }],
        items: vec![item(&secret()), item("ab x"), item(&secret())],
    };
    let json = redacted(Row::Import(Box::new(import)), &[]);
    assert!(!json.contains(SECRET) && json.contains("nginx"), "{json}");
    assert_eq!(
        json.matches("\"command\":\"command 1\"").count(),
        2,
        "those of one command stay together: {json}"
    );
    let replay = Replay {
        command: secret(),
        report: secret(),
        note: Some(secret()),
        contender: "a".to_owned(),
        ..Replay::default()
    };
    let replays = Replays {
        id: "20260101-000000-0000".to_owned(),
        name: "x".to_owned(),
        started_at: "2026-01-01T00:00:00Z".to_owned(),
        replays: vec![replay],
        ..Replays::default()
    };
    let json = redacted(Row::Replays(Box::new(replays)), &[]);
    assert!(!json.contains(SECRET) && json.contains("\"report\":\"redacted\""), "{json}");
}

#[test]
fn names_of_the_user_and_the_machine_are_taken_out_of_every_text() {
    let with = |text: &str| format!("{text} of jane on box in /home/ann/x");
    let mut run = example::run(&["a"]);
    run.study.title = with("a study");
    run.study.source = Some(with("a page"));
    run.study.unequal = vec![with("all")];
    run.study.cells[0].title = with("a cell");
    run.environment = Environment {
        kernel: Some(with("6.1")),
        cpu: Some(with("one")),
        hub: Some(with("hub")),
        core_notes: vec![with("cores")],
        ..run.environment
    };
    run.environment.machine.sysctls = BTreeMap::from([("kernel.x".to_owned(), Some(with("x")))]);
    let entrant = run.contenders.get_mut("a").unwrap();
    (entrant.title, entrant.version, entrant.because) = (with("a"), Some(with("1.0")), Some(with("docs")));
    (entrant.settings.logging, entrant.faults.fragments) = (Some(with("log")), Some(with("fragments")));
    let json = redacted(Row::Run(Box::new(run)), &["jane", "box"]);
    assert!(["jane", "box", "ann"].iter().all(|word| !json.contains(word)), "{json}");
    assert!(json.contains("a study of redacted on redacted in /home/redacted/x"), "{json}");
}

#[test]
fn a_report_as_it_was_printed_is_refused() {
    let printed = Printed { title: secret(), ..printed("20260101-000000-0000") };
    let error =
        Redaction::new(Vec::new()).apply(&mut Row::Report(Box::new(printed))).unwrap_err().to_string();
    assert!(error.contains("leave out --redact") && !error.contains(SECRET), "{error}");
}

#[test]
fn machines_of_heats_get_numbers_in_place_of_names() {
    let redaction = Redaction::new(vec![SECRET.to_owned()]);
    let of = |name: &str| {
        let environment = Environment { hub: Some(secret()), ..Environment::default() };
        let machine = model::HeatMachine { name: name.to_owned(), attempt: 2, environment };
        let mut row = Row::Heat(model::Heat { machine: Some(Box::new(machine)), ..in_heats::heat(&["a"]) });
        redaction.apply(&mut row).unwrap();
        row.checked().unwrap().json
    };
    let rows = [SECRET, "other", SECRET].map(of);
    for (row, name) in rows.iter().zip(["machine 1", "machine 2", "machine 1"]) {
        assert!(!row.contains(SECRET) && row.contains(&format!("\"{name}\"")), "{row}");
    }
}

#[test]
fn the_servers_machine_is_named_in_no_reason_and_no_note() {
    let mut run = study();
    let on = model::ServersOn {
        name: "ssh -p 2222 pi@board".to_owned(),
        address: "192.168.7.20".to_owned(),
        host: "raspi-kitchen".to_owned(),
        ..model::ServersOn::default()
    };
    run.environment.servers_on = Some(Box::new(on));
    run.study.title = "Servers on board".to_owned();
    let redaction = Redaction::new(Vec::new());
    let json = |row: Row| {
        let mut row = row;
        redaction.apply(&mut row).unwrap();
        row.checked().unwrap().json
    };
    let mut measured = measured();
    measured.verdict.reasons = vec![
        "a processor was slowed down during the start (ssh -p 2222 pi@board: too hot)".to_owned(),
        "192.168.7.20:80 refused a connection; pi@board and boards".to_owned(),
    ];
    let rows = [
        json(Row::Run(Box::new(run.clone()))),
        json(Row::Start(Box::new(started(measured)))),
        json(Row::Ended("the link to ssh -p 2222 pi@board is lost: raspi-kitchen went down".to_owned())),
    ];
    for row in &rows {
        for secret in ["pi@", "board ", "2222", "192.168", "raspi"] {
            assert!(!row.contains(secret), "{secret}: {row}");
        }
    }
    assert!(rows[0].contains("Servers on another machine"), "{}", rows[0]);
    assert!(rows[1].contains("a processor was slowed down during the start (another machine: too hot)"));
    assert!(rows[1].contains("another machine and boards"), "another word: {}", rows[1]);
    assert!(
        rows[2].contains("the link to another machine is lost: another machine went down"),
        "{}",
        rows[2]
    );
    let mut once = Row::Run(Box::new(run));
    redaction.apply(&mut once).unwrap();
    let again = once.clone();
    redaction.apply(&mut once).unwrap();
    assert_eq!(once, again, "once is enough");
}

/// Adds a field with a secret to every object, and counts them.
fn add_news(value: &mut Value) -> usize {
    match value {
        Value::Object(fields) => {
            let below: usize = fields.values_mut().map(add_news).sum();
            fields.insert("news".to_owned(), json!({ "of": [SECRET, 424_242] }));
            below + 1
        }
        Value::Array(all) => all.iter_mut().map(add_news).sum(),
        _ => 0,
    }
}

#[test]
fn a_field_that_nobody_listed_is_not_shared() {
    let redaction = Redaction::new(Vec::new());
    let run = Row::Run(Box::new(example::run(&["a"])));
    let start = Row::Start(Box::new(started(example::measurement(1_000.0))));
    let (heat, slice) = (Row::Heat(in_heats::heat(&["a"])), Row::Slice(in_heats::slice()));
    for row in [run, start, heat, slice] {
        let plain = to_value(&row).unwrap();
        let mut with_news = plain.clone();
        assert!(add_news(&mut with_news) >= 2, "{with_news}");
        for path in
            ["/run", "/run/study/design", "/run/environment", "/start/cells/0/measurement/tally", "/slice"]
        {
            if let Some(Value::Object(fields)) = with_news.pointer_mut(path) {
                fields.extend([("text".to_owned(), json!(SECRET)), ("number".to_owned(), json!(424_242))]);
            }
        }
        let left = redaction.listed(&with_news).to_string();
        assert!(!left.contains(SECRET) && !left.contains("424242"), "{left}");
        let mut news = json!({});
        news[row.kind()] = json!(SECRET);
        assert_eq!(redaction.listed(&news), json!({}), "a text in place of an object");
    }
    assert_eq!(redaction.listed(&json!({ "news": { "title": SECRET } })), json!({}), "a row of another kind");
}
