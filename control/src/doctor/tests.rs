//! The doctor on machines of every kind.

use super::*;
use crate::machine::environment::fixture::{self, Tree};

fn look(tree: &Tree, cores: &Cores) -> Examination {
    examine(&tree.system(), cores, Duration::ZERO)
}

fn troubles(examination: &Examination) -> Vec<&'static str> {
    examination.checks.iter().filter(|c| c.trouble.is_some()).map(|c| c.what).collect()
}

#[test]
fn a_sound_machine_has_all_points() {
    let found = look(&fixture::sound(), &fixture::four());
    assert_eq!((troubles(&found), found.score), (vec![], 10));
    assert_eq!(found.derivation, "10 = 10");
    assert_eq!(found.unknown, ["steal"], "no time went by in which anything could have been stolen");
}

#[test]
fn a_laptop_that_saves_power_is_found_out() {
    let found = look(&fixture::laptop(), &fixture::four());
    let expected = [
        "frequency governor",
        "throttling",
        "hardware threads",
        "other load",
        "frequency boost",
        "temperature",
    ];
    assert_eq!((troubles(&found), found.score), (expected.to_vec(), 0));
    assert_eq!(
        found.derivation,
        "10 − 3 (frequency governor) − 3 (throttling) − 2 (hardware threads) − 2 (other load) − 1 (frequency boost) \
         − 1 (temperature) = 0, the lowest possible score"
    );
    let boost = found.checks.iter().find(|c| c.what == "frequency boost").unwrap();
    assert!(boost.trouble.as_ref().unwrap().remedy.contains("intel_pstate/no_turbo"), "{boost:?}");
    let apart = fixture::cores(&[0, 2], &[1, 3]);
    assert!(!troubles(&look(&fixture::laptop(), &apart)).contains(&"hardware threads"));
}

#[test]
fn cores_that_may_sleep_cost_a_point() {
    let asleep = Cores { may_sleep: true, ..fixture::four() };
    let found = look(&fixture::sound(), &asleep);
    assert_eq!((troubles(&found), found.score), (vec!["idle cores"], 9));
}

#[test]
fn a_raspberry_pi_on_a_weak_supply_is_told_so() {
    let found = look(&fixture::raspberry_pi(), &fixture::four());
    assert_eq!((troubles(&found), found.score), (vec!["frequency governor", "throttling"], 4));
    let throttling = found.checks.iter().find(|c| c.what == "throttling").unwrap();
    assert_eq!(throttling.found.as_deref(), Some("under-voltage, throttled"));
    assert!(throttling.trouble.as_ref().unwrap().remedy.contains("power supply"), "{throttling:?}");
    assert!(found.unknown.contains(&"CPU limit") && found.unknown.contains(&"descriptor limit"));
}

#[test]
fn guests_and_containers_lose_points_for_what_they_are() {
    let found = look(&fixture::virtual_machine(), &fixture::four());
    assert_eq!((troubles(&found), found.score), (vec!["virtualization", "clock source"], 8));
    assert!(found.unknown.contains(&"frequency governor"), "unknown, and no point is lost for it");
    let found = look(&fixture::container(), &fixture::four());
    assert_eq!((troubles(&found), found.score), (vec!["CPU limit", "available memory"], 6));
    let limit = found.checks.iter().find(|check| check.what == "CPU limit").unwrap();
    assert_eq!(limit.found.as_deref(), Some("1.50 of 4 cores"));
    let one = fixture::cores(&[0], &[0]);
    let found = look(&fixture::laptop(), &one);
    assert!(troubles(&found).contains(&"cores") && !troubles(&found).contains(&"hardware threads"));
}

#[test]
fn where_nothing_can_be_read_nothing_is_claimed() {
    let found = look(&Tree::empty(), &fixture::cores(&[], &[]));
    assert_eq!((troubles(&found), found.score), (vec![], 10));
    assert_eq!(found.unknown.len(), found.checks.len());
    let json = serde_json::to_value(&found).unwrap();
    assert!(
        json["checks"].as_array().unwrap().iter().all(|c| c["found"].is_null() && c["trouble"].is_null())
    );
}

#[test]
fn every_trouble_says_why_and_what_helps() {
    let machines =
        [fixture::laptop(), fixture::raspberry_pi(), fixture::virtual_machine(), fixture::container()];
    for check in machines.iter().flat_map(|tree| look(tree, &fixture::four()).checks) {
        let is_whole = |t: &Trouble| !t.spoils.is_empty() && !t.remedy.is_empty() && check.weight > 0;
        assert!(check.trouble.as_ref().is_none_or(is_whole), "{check:?}");
    }
}

#[test]
fn who_else_runs_is_named() {
    let start = || std::process::Command::new("sleep").arg("100").spawn().unwrap();
    let mut children = [start(), start(), start(), start(), start()];
    let pids = children.each_ref().map(|child| child.id() as i32);
    // A process that was just started has its parent's name for a moment.
    let is_named = |pid: &i32| programs::name(*pid).as_deref() == Some("sleep");
    let are_named = |_| {
        std::thread::sleep(Duration::from_millis(5));
        pids.iter().all(is_named)
    };
    assert!((0..1000).any(are_named));
    let gone = (i32::MAX, 2.0);
    let most = busiest(&[gone, (pids[0], 0.96), (pids[1], 0.5), (pids[2], 0.06), (pids[3], 0.06)]);
    assert_eq!(most, ["sleep (96 %)", "sleep (50 %)", "sleep (6 %)"], "one that is gone has no name");
    assert_eq!(busiest(&[(pids[4], 0.04)]), Vec::<String>::new());
    for child in &mut children {
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
