//! Decides whether an interrupted run can be continued: only with the same contenders, on the same machine and with the same drome. Starts
//! of two builds, on two kernels or on different cores do not measure the same thing. Pure.

use judge::findings::compare::machine;
use model::Run;
use model::run::Entrant;
use std::collections::BTreeMap;

/// How a run would begin differently now, a sentence each.
pub fn changes_since(then: &Run, now: &Run) -> Vec<String> {
    let mut changes = work_changes(then, now);
    changes.extend(machine::changes(&then.environment, &now.environment));
    changes.extend(match (then.allow_busy, now.allow_busy) {
        (Some(true), Some(false)) => Some("it began with --allow-busy: use that option again".to_owned()),
        (Some(false), Some(true)) => Some("it began without --allow-busy: leave that option out".to_owned()),
        _ => None,
    });
    changes
}

/// How the work would differ on the machine of `now`, a sentence each: contenders, bodies, and the build of drome. The machine itself may
/// differ.
pub fn work_changes_elsewhere(then: &Run, now: &Run) -> Vec<String> {
    let mut changes = work_changes(then, now);
    changes.extend(machine::drome(&then.environment, &now.environment));
    changes
}

fn work_changes(then: &Run, now: &Run) -> Vec<String> {
    let mut changes: Vec<String> = now
        .contenders
        .iter()
        .filter_map(|(name, now)| change_of(name, then.contenders.get(name)?, now))
        .collect();
    changes.extend(bodies(&then.workloads, &now.workloads));
    changes
}

fn change_of(name: &str, then: &Entrant, now: &Entrant) -> Option<String> {
    let known = then.source_sha256.is_some();
    match (&then.version, &now.version, &now.missing) {
        _ if then.missing.is_some() => None,
        (_, _, Some(why)) => Some(format!("{name} took part but can't run now: {why}")),
        (Some(then), Some(now), _) if then != now => Some(format!("{name} was {then} and is {now}")),
        _ if known && then.source_sha256 != now.source_sha256 => {
            Some(format!("the folder of {name} has changed"))
        }
        _ => None,
    }
}

/// The workloads whose body has changed. Older versions did not record the bodies.
fn bodies(then: &BTreeMap<String, String>, now: &BTreeMap<String, String>) -> Vec<String> {
    let differs = |name: &&String| now.get(*name).is_some_and(|digest| *digest != then[*name]);
    then.keys().filter(differs).map(|name| format!("the workload {name} has a different body")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::machine::environment::fixture;
    use judge::example;

    fn begun() -> Run {
        let mut run = example::run(&["a"]);
        run.environment = fixture::sound().system().look(&fixture::four());
        run.environment.machine.drome_sha256 = Some("aaaaaaaaaaaaaaaa".to_owned());
        run.workloads = BTreeMap::from([("hello".to_owned(), "11".to_owned())]);
        run.allow_busy = Some(false);
        run
    }

    #[test]
    fn a_run_goes_on_where_nothing_is_different() {
        assert_eq!(changes_since(&begun(), &begun()), Vec::<String>::new());
        // What an older version did not write down can't be held against it.
        let mut old = begun();
        (old.allow_busy, old.environment.machine.drome_sha256) = (None, None);
        old.workloads.clear();
        assert_eq!(changes_since(&old, &begun()), Vec::<String>::new());
    }

    #[test]
    fn another_machine_build_or_rule_is_told() {
        let changed = |change: &dyn Fn(&mut Run)| {
            let mut now = begun();
            change(&mut now);
            changes_since(&begun(), &now).join("; ")
        };
        for (change, words) in [
            (
                &(|run: &mut Run| run.environment.client_cpus = vec![7]) as &dyn Fn(&mut Run),
                "different cores of the load generator",
            ),
            (&|run| run.environment.server_cpus = vec![7], "different cores of the servers"),
            (
                &|run| run.environment.kernel = Some("6.1.0-19-amd64".to_owned()),
                "different kernel (6.1.0-18-amd64 then, 6.1.0-19-amd64 now)",
            ),
            (&|run| run.environment.drome = "9.9".to_owned(), "different version of drome"),
            (&|run| run.environment.machine.drome_sha256 = Some("bb".to_owned()), "different build of drome"),
            (&|run| run.allow_busy = Some(true), "without --allow-busy: leave that option out"),
            (
                &|run| drop(run.workloads.insert("hello".to_owned(), "22".to_owned())),
                "the workload hello has a different body",
            ),
            (
                &|run| run.contenders.get_mut("a").unwrap().version = Some("2".to_owned()),
                "a was 1.0 and is 2",
            ),
        ] {
            let told = changed(change);
            assert!(told.contains(words), "{words}: {told}");
        }
    }
}
