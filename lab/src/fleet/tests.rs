//! A fleet without servers: each heat counts once, and specs and results from anyone are checked.

use super::*;
use crate::setup::RunRules;
use control::catalog::Catalog;
use judge::example::in_heats::{run, start};
use model::heat::{Heat, Start};
use model::run::Raced;
use model::{Fleet, HeatMachine, Measured, Run, Study};
use std::time::Duration;
use store::Store;
use store::shared::{self, SharedEntry};

fn fleet() -> Run {
    Run { fleet: Some(Fleet { machines: 2 }), ..run(&["a", "b", "c"]) }
}

fn starts_of(heat: &Heat) -> Vec<Start> {
    heat.servers().iter().map(|(name, _)| start(heat.round, heat.number, name, &heat.cells)).collect()
}

/// The result of a heat, as a machine would write it.
fn result(spec: &Spec, machine: &str) -> Vec<u8> {
    let own = HeatMachine { name: machine.to_owned(), attempt: spec.attempt, ..HeatMachine::default() };
    let started_at = "2026-01-01T00:00:00Z".to_owned();
    let heat = Heat { started_at, machine: Some(Box::new(own)), ..spec.heat.clone() };
    let measured = Measured { starts: starts_of(&heat), heats: vec![heat], slices: Vec::new() };
    let mut bytes = Vec::new();
    write(&mut bytes, "0.1.0", spec, measured).unwrap();
    bytes
}

fn entry(bytes: &[u8]) -> SharedEntry {
    shared::read(bytes).unwrap().remove(0)
}

fn stored() -> (tempfile::TempDir, Store, Vec<Spec>) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("store.sqlite")).unwrap();
    store.add_run(&fleet()).unwrap();
    let Owed::Specs(specs) = owed(&store, &fleet().id).unwrap() else { panic!("nothing is owed") };
    (folder, store, specs)
}

#[test]
fn a_heat_counts_once_whichever_attempt_comes_first() {
    let (_folder, store, specs) = stored();
    let spec = Spec::read(&specs[3].line().unwrap(), false).unwrap();
    assert_eq!(spec, specs[3]);
    let second = Spec { attempt: 2, ..spec.clone() };
    let done = commit(&store, &entry(&result(&second, "ci-2"))).unwrap();
    assert!(
        done.outcome == CommitOutcome::Committed && (done.attempt, done.machine.as_str()) == (2, "ci-2"),
        "{done:?}"
    );
    let late = commit(&store, &entry(&result(&spec, "ci-1"))).unwrap();
    assert!(
        late.outcome == CommitOutcome::Already && (late.attempt, late.machine.as_str()) == (2, "ci-2"),
        "{late:?}"
    );
    assert_eq!(store.heats(&spec.run.id).unwrap().len(), 1);
    assert_eq!(store.starts(&spec.run.id).unwrap().len(), spec.heat.servers().len());
    let Owed::Specs(left) = owed(&store, &spec.run.id).unwrap() else { panic!("it is not over") };
    assert_eq!(left.len(), specs.len() - 1);
}

#[test]
fn a_result_is_taken_in_although_a_file_of_the_plan_has_control_characters() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("store.sqlite")).unwrap();
    let mut run = fleet();
    let files = &mut run.contenders.get_mut("a").unwrap().files;
    files.insert("nginx.conf".to_owned(), "worker_processes 1;\r\n".to_owned());
    store.add_run(&run).unwrap();
    let Owed::Specs(specs) = owed(&store, &run.id).unwrap() else { panic!("nothing is owed") };
    let done = commit(&store, &entry(&result(&specs[0], "ci-1"))).unwrap();
    assert_eq!(done.outcome, CommitOutcome::Committed);
    let mut other = specs[1].clone();
    other.run.contenders.get_mut("a").unwrap().files.clear();
    let error = commit(&store, &entry(&result(&other, "ci-1"))).unwrap_err();
    assert!(error.to_string().contains("not the one that was planned"), "{error}");
}

#[test]
fn a_study_whose_servers_are_elsewhere_is_not_planned_for_a_fleet() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("store.sqlite")).unwrap();
    let study = Study { server_on: Some("ssh pi@board".to_owned()), ..fleet().study };
    let rules = RunRules { seed: Some(1), quick: false, allow_busy: true };
    let error = plan(&Catalog::default(), &store, ("example", study), rules, 2).unwrap_err();
    assert!(error.to_string().contains("(`server-on`)"), "{error}");
    assert!(store.everything().unwrap().is_empty());
}

#[test]
fn the_budget_of_many_machines_is_no_longer_than_can_be_written() {
    let day = Duration::from_hours(24);
    assert_eq!(plan::budget(day, 4), day * 4);
    for (own, machines) in [(day, 65_535), (day * 366, 2), (Duration::MAX, usize::MAX)] {
        assert_eq!(plan::budget(own, machines), day * 366);
    }
    let mut run = fleet();
    run.study.design.budget = plan::budget(Duration::MAX, 9);
    shared::Row::Run(Box::new(run)).checked().unwrap();
}

#[test]
fn a_result_of_something_else_is_refused() {
    let (_folder, store, specs) = stored();
    let why = |spec: &Spec| match commit(&store, &entry(&result(spec, "ci-1"))) {
        Err(error) => error.to_string(),
        Ok(done) => panic!("{done:?}"),
    };
    let mut other = specs[0].clone();
    other.run.seed += 1;
    assert!(why(&other).contains("not the one that was planned"));
    let mut other = specs[0].clone();
    other.heat.members.swap(0, 1);
    assert!(why(&other).contains("with these members"));
    let mut other = specs[0].clone();
    other.heat.round = 12;
    assert!(why(&other).contains("with these members"));
    let mut cut = Spec { ..specs[0].clone() };
    cut.heat.cells.pop();
    assert!(why(&cut).contains("with these members"));
    assert_eq!(store.heats(&specs[0].run.id).unwrap(), []);
}

#[test]
fn a_spec_that_is_none_says_why() {
    let (_folder, _store, specs) = stored();
    let line = specs[0].line().unwrap();
    for (text, why) in [
        ("{}".to_owned(), "no key `drome_heat`"),
        ("x".to_owned(), "expected value"),
        (line.replace("\"drome_heat\":1", "\"drome_heat\":9"), "version 9 of the form"),
        (line.replace("\"attempt\":1", "\"attempt\":0"), "does not belong to its run"),
        (line.replace("\"attempt\":1", "\"attempt\":1,\"more\":2"), "unknown field `more`"),
    ] {
        let error = Spec::read(&text, false).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}

/// Something that is done to a spec.
type Change<'a> = &'a dyn Fn(&mut Spec);

#[test]
fn a_spec_from_anyone_is_checked_as_a_result_is_before_anything_of_it_is_used() {
    let (_folder, _store, specs) = stored();
    let refused = |change: &dyn Fn(&mut Spec)| {
        let mut spec = specs[0].clone();
        change(&mut spec);
        Spec::read(&spec.line().unwrap(), false).map_or_else(|error| error.to_string(), |_| String::new())
    };
    assert_eq!(refused(&|_| {}), "");
    for id in ["../../outside", "/outside", "", ".", "20260101-000000-1a2b/..", "20260101-000000-1a2b\u{0}"] {
        let why = refused(&|spec| spec.run.id = id.to_owned());
        assert!(why.contains("can't be the name of a run"), "{id:?}: {why}");
    }
    let year = Duration::from_hours(24 * 400);
    let changes: [(Change<'_>, &str); 7] = [
        (&|spec| spec.run.started_at = "yesterday".to_owned(), "yesterday"),
        (&|spec| spec.run.study.design.budget = year, "longer than a year"),
        (&|spec| spec.run.study.contenders.push(String::new()), "can't be a name"),
        (&|spec| spec.run.copies = usize::MAX, "copies"),
        (&|spec| spec.heat.round = 1_000_000, "round"),
        (&|spec| spec.heat.members[0] = "../a".to_owned(), "../a"),
        (&|spec| spec.heat.members = vec!["a".to_owned(), "a".to_owned()], "member of the heat"),
    ];
    for (nth, (change, named)) in changes.into_iter().enumerate() {
        let why = refused(change);
        assert!(why.contains(named), "change {nth}: {why}");
    }
}

#[test]
fn the_shell_of_a_specs_author_runs_only_where_it_was_allowed() {
    let (_folder, _store, specs) = stored();
    let mut spec = specs[0].clone();
    spec.run.race = Some(Raced { prepare: Some("touch /tmp/\u{1b}x".to_owned()), ..Raced::default() });
    let line = spec.line().unwrap();
    let why = Spec::read(&line, false).unwrap_err().to_string();
    assert!(why.contains("`touch /tmp/\u{fffd}x`") && why.contains("--allow-prepare"), "{why}");
    assert_eq!(Spec::read(&line, true).unwrap(), spec);
}
