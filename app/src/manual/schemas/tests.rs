//! Tests that the schemas allow what drome accepts and prints, and nothing else that a file may get wrong.

use super::{FORMATS, SITE, named};
use control::doctor;
use control::machine::cores::Cores;
use control::machine::system::System;
use jsonschema::Validator;
use model::comparison::{CellComparison, Change, ContenderComparison, DriftOf};
use model::findings::{CellInHeats, ContenderInHeats, Figure, Front};
use model::forecast::Look;
use model::import::{Imported, Source};
use model::inspection::Inspection;
use model::page::Replay;
use model::{Comparison, Contender, Findings, Forecast, Import, Load, Metric, Reading, Study};
use profile::{Counters, Profile, Work, example};
use report::imported;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Duration;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn schema(name: &str) -> Value {
    serde_json::from_str(&named(name).unwrap().text().unwrap()).unwrap()
}

fn validator(name: &str) -> Validator {
    jsonschema::validator_for(&schema(name)).unwrap()
}

#[track_caller]
fn assert_valid(name: &str, document: &Value) {
    let validator = validator(name);
    let wrong: Vec<String> = validator.iter_errors(document).map(|error| error.to_string()).collect();
    assert!(wrong.is_empty(), "{name}: {}", wrong.join("\n"));
}

/// TOML as an editor reads it.
fn document(text: &str) -> Value {
    toml::from_str(text).unwrap()
}

/// The text of every file of a folder, or of the file of this name in every folder of it.
fn files(folder: &str, file: Option<&str>) -> Vec<(PathBuf, String)> {
    let entries = std::fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
    let files = entries.map(|path| file.map_or_else(|| path.clone(), |file| path.join(file)));
    files.map(|path| (path.clone(), std::fs::read_to_string(&path).unwrap())).collect()
}

#[test]
fn the_schemas_are_as_the_types_say() {
    for format in FORMATS {
        let file = format!("docs/schemas/{}.json", format.name);
        let written = std::fs::read_to_string(root().join(&file)).unwrap_or_default();
        assert!(written == format.text().unwrap(), "{file} is out of date: run `cargo xtask docs`");
    }
}

#[test]
fn every_file_of_the_catalogue_is_as_its_schema_says() {
    let contender = Some("contender.toml");
    let all = [
        ("contender", files("catalog/contenders", contender)),
        ("contender", files("app/templates", contender)),
        ("workload", files("catalog/workloads", None)),
        ("study", files("catalog/studies", None)),
    ];
    for (name, files) in all {
        let validator = validator(name);
        assert!(!files.is_empty(), "no file for the schema {name}");
        for (path, text) in files {
            let read = document(&text);
            let wrong = validator.iter_errors(&read).map(|error| error.to_string());
            assert_eq!(wrong.collect::<Vec<_>>(), [""; 0], "{}", path.display());
        }
    }
}

#[test]
fn a_new_contender_names_its_schema() {
    for (path, text) in files("app/templates", Some("contender.toml")) {
        let named = text.starts_with(&format!("#:schema {SITE}/contender.json\n"));
        assert!(named, "{}", path.display());
    }
}

/// A contender with values of every kind.
const CONTENDER: &str = "title = 'x'\nlanguage = 'C'\nkind = 'server'\nhomepage = 'x'\n\
                         [install]\napt = ['x']\n[version]\ncommand = ['x']\n\
                         [run]\ncommand = ['x']\nworkers = 'cores'\nstop = 'SIGTERM'\nready = '30s'\n\
                         [settings]\nlogging = 'off'\n[serves]\nhello = '/'\n";

const STUDY: &str = "title = 'x'\ncontenders = ['nginx']\n[[cell]]\ntitle = 'x'\nworkload = 'hello'\n\
                     load = { open = { rate_per_s = 500, connections = 1 } }\n\
                     [design]\nrounds = [4, 13]\nbudget = '1h'\n";

#[test]
fn what_a_file_gets_wrong_is_wrong_by_its_schema_too() {
    let contender = validator("contender");
    for (from, to, is_right) in [
        ("title", "title", true),
        ("language", "langauge", false),
        ("'C'", "3", false),
        ("'server'", "'sever'", false),
        ("apt = ['x']", "apt = 'x'", false),
        ("apt", "atp", false),
        ("logging", "loging", false),
        ("SIGTERM", "SIGHUP", false),
        ("'30s'", "'1min 30s'", true),
        ("'30s'", "'1.5s'", true),
        ("'30s'", "'2 parsecs'", false),
        ("'30s'", "'30'", false),
        ("'30s'", "30", false),
        ("'cores'", "'2 x cores + 1'", true),
        ("'cores'", "'cores + 1'", true),
        ("'cores'", "4", true),
        ("'cores'", "0", false),
        ("'cores'", "'0 x cores'", false),
        ("'cores'", "'2xcores'", false),
        ("hello = '/'", "hello = 1", false),
        ("[run]\ncommand = ['x']", "[run]", false),
    ] {
        let text = CONTENDER.replace(from, to);
        assert_eq!(contender.is_valid(&document(&text)), is_right, "{to}");
        assert_eq!(toml::from_str::<Contender>(&text).is_ok(), is_right, "{to}");
    }
    let study = validator("study");
    for (from, to, is_right) in [
        ("500", "'2.5k'", true),
        ("500", "'1k..20k/30s'", true),
        ("500", "'1k,5k,20k/10s'", true),
        ("500", "0", false),
        ("500", "'fast'", false),
        ("500", "'5 k'", false),
        ("500", "'1k..2k'", false),
        ("500", "'1k,,5k/10s'", false),
        ("500", "true", false),
        ("connections = 1", "connections = 0", false),
        ("connections = 1", "conections = 1", false),
        ("open", "opened", false),
        ("[4, 13]", "[0, 13]", false),
        ("[4, 13]", "[4]", false),
        ("budget", "metric = 'p99'\nbudget", true),
        ("budget", "metric = 'p98'\nbudget", false),
        ("budget", "heat = 13\nbudget", false),
        ("budget", "precision = 3\nbudget", false),
        ("budget = '1h'", "", false),
        ("rounds", "blocks", false),
        ("rounds", "warmup = '1s'\nmeasure = '2s'\nprecision = 0.03\nrounds", true),
        ("[[cell]]", "tracks = ['default', 'tuned']\n[[cell]]", true),
        ("[[cell]]", "tracks = ['tunde']\n[[cell]]", false),
    ] {
        let text = STUDY.replace(from, to);
        assert_eq!(study.is_valid(&document(&text)), is_right, "{to}");
        assert_eq!(toml::from_str::<Study>(&text).is_ok(), is_right, "{to}");
    }
}

#[test]
fn what_an_editor_shows_is_plain() {
    for format in FORMATS {
        let text = format.text().unwrap();
        for rust in ["[`", "\\n", "\"format\""] {
            assert!(!text.contains(rust), "{}: {rust}", format.name);
        }
    }
    let contender = schema("contender");
    assert_eq!(contender["additionalProperties"], false);
    assert_eq!(contender["properties"]["alone"]["type"], "boolean");
    let class = contender["properties"]["class"]["description"].as_str().unwrap();
    assert!(class.starts_with("How much its starts differ and how long it takes to get warm."), "{class}");
    assert!(!contender.to_string().contains("\"null\""), "TOML has no null");
}

/// The JSON of a golden of the crate `report`.
fn golden(name: &str) -> Value {
    let file = root().join("report/tests/suite/snapshots").join(format!("suite__{name}.snap"));
    let text = std::fs::read_to_string(file).unwrap();
    let (_, json) = text.split_once("\n---\n").unwrap();
    serde_json::from_str(json).unwrap()
}

#[test]
fn every_golden_is_as_its_schema_says() {
    for (name, file) in [
        ("load", "goldens__a_load_as_json"),
        ("load", "goldens__spectrum_as_json"),
        ("report", "goldens__findings_as_json"),
        ("report", "goldens__environment_as_json"),
        ("history", "history__a_history_as_json"),
        ("sweep", "sweep__sweep_as_json"),
    ] {
        assert_valid(name, &golden(file));
    }
    let mut json = golden("goldens__findings_as_json");
    json["cells"][0]["contenders"][0]["errors"] = "none".into();
    assert!(!validator("report").is_valid(&json));
    json = golden("goldens__findings_as_json");
    json["of_a_later_version"] = 1.into();
    assert!(validator("report").is_valid(&json));
    json.as_object_mut().unwrap().remove("seed");
    assert!(!validator("report").is_valid(&json));
}

const FIGURE: Figure = Figure { median: 1.5, low: Some(1.0), high: None };

#[test]
fn a_run_in_heats_is_as_the_schema_says() {
    let mut findings: Findings = serde_json::from_value(golden("goldens__findings_as_json")).unwrap();
    let cell = &mut findings.cells[0];
    let front = Front { leaders: vec!["a".to_owned()], next: None, ratio: Some(FIGURE) };
    cell.in_heats = CellInHeats { front: Some(front), ..CellInHeats::default() };
    cell.contenders[0].in_heats = ContenderInHeats::default();
    assert_valid("report", &serde_json::to_value(&findings).unwrap());
}

#[test]
fn what_other_commands_print_is_as_their_schemas_say() {
    let contender = ContenderComparison {
        name: "a".to_owned(),
        title: "A".to_owned(),
        versions: [None, Some("1.0".to_owned())],
        ratio: Some(FIGURE),
        change: Change::NoneSeen,
        note: None,
    };
    let cell = CellComparison {
        title: "x".to_owned(),
        transport: model::study::Transport::default(),
        workload: "hello".to_owned(),
        load: Load::Closed { connections: 10, per_connection: None },
        metric: Metric::Rate,
        drift: None,
        drift_of: DriftOf::Reference,
        movement: None,
        contenders: vec![contender],
    };
    let comparison = Comparison {
        schema: 1,
        old: "a".to_owned(),
        new: "b".to_owned(),
        notes: Vec::new(),
        confidence: 0.95,
        cells: vec![cell],
        gone: Vec::new(),
        added: Vec::new(),
        failed: Vec::new(),
    };
    assert_valid("compare", &serde_json::to_value(comparison).unwrap());
    assert_valid("verify", &serde_json::to_value(vec![Inspection::default()]).unwrap());
    assert_valid("as-published", &serde_json::to_value(vec![Replay::default()]).unwrap());
    let examination = doctor::examine(&System::here(), &Cores::deal(), Duration::from_millis(10));
    assert_valid("doctor", &serde_json::to_value(examination).unwrap());
}

#[test]
fn a_profile_is_as_its_schema_says() {
    let folded = "# period_ns=1003009 has_kernel=true\nmain;operator new(unsigned long) 12\nmain 3\n";
    let profile = Profile { lost: 2, ..example::folded(folded) };
    let counters = Counters { instructions: Some(1), ..Counters::default() };
    let work = Work { answers: 10, cpu_ns: None };
    let report = profile::Report { schema: profile::Report::SCHEMA, work, counters, profile };
    let unnamed = Profile { unnamed: [("node".to_owned(), 9)].into(), ..report.profile.clone() };
    let mut json = serde_json::to_value(&report).unwrap();
    assert_valid("profile", &json);
    assert_valid("profile", &serde_json::to_value(profile::Report { profile: unnamed, ..report }).unwrap());
    assert!(json["profile"]["stacks"]["main;operator new(unsigned long)"] == 12, "{json}");
    let text = schema("profile").to_string();
    assert!(text.contains("in nanoseconds") && text.contains("joined by `;`"), "units and forms: {text}");
    json["profile"]["stacks"]["main"] = "often".into();
    assert!(!validator("profile").is_valid(&json));
}

#[test]
fn an_import_is_as_its_schema_says() {
    let read = |tool: &str, title: Option<&str>| Imported {
        source: 0,
        reading: Reading {
            title: title.map(str::to_owned),
            figures: [("rate_per_s".to_owned(), 1000.0)].into(),
            ..Reading::of(tool)
        },
        notes: vec!["a remark".to_owned()],
        strange: Vec::new(),
    };
    let source = Source { name: "page.md".to_owned(), title: None, bytes: 9, strange: vec!["?".to_owned()] };
    let import = Import {
        id: "import-1".to_owned(),
        title: "A page".to_owned(),
        imported_at: "2026-11-23T12:00:00Z".to_owned(),
        drome: "0.1.0".to_owned(),
        sources: vec![source],
        items: vec![read("ab", Some("nginx")), read("wrk", None)],
    };
    assert_valid("import", &serde_json::from_str(&imported::json(&import)).unwrap());
}

#[test]
fn a_forecast_is_as_its_schema_says() {
    let s = Duration::from_secs;
    let forecast = Forecast {
        study: "x".to_owned(),
        contenders: 3,
        not_installed: vec!["go".to_owned()],
        cells: 2,
        heats: 1,
        heat: s(60),
        round: s(60),
        starting: s(10),
        warming: s(20),
        turns: s(30),
        round_most: s(600),
        round_measured: None,
        looks: vec![Look { rounds: 4, time: s(240) }],
        budget: s(3600),
        too_small: None,
    };
    assert_valid("plan", &serde_json::to_value(forecast).unwrap());
}
