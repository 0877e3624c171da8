//! Makes contenders of servers that already run, for a race of their URLs.

use super::commands::{contender, raced};
use super::{Lineup, SetupError};
use control::prepare::running::RunningServer;
use control::processes::local;
use control::processes::tree;
use control::verify::origin::Origin;
use model::Target;
use model::run::Entrant;
use std::collections::BTreeMap;

/// Makes contenders of servers that already run. `pids` has the first process of each, in their order, or nothing: then nothing is
/// known of any server's processes. They are named by letters, and their titles are what tells their hosts apart.
pub fn running(targets: &[Target], pids: &[i32]) -> Result<(Lineup, BTreeMap<String, Entrant>), SetupError> {
    ensure_distinct(targets, pids)?;
    let servers: Vec<_> = targets.iter().enumerate().map(|(nth, target)| (target, pids.get(nth))).collect();
    raced(
        &servers,
        |(target, _)| &target.host,
        |letter, (target, pid)| {
            let unusable = |why: String| SetupError::Race(format!("{}: {why}", target.url));
            let origin = Origin::of(target).ok_or_else(|| unusable("it has no TCP port".to_owned()))?;
            let server = RunningServer::new(origin, pid.copied());
            let server = server.map_err(|why| unusable(format!("--pid: {why}")))?;
            // There is nothing to start.
            let mut own = contender(letter, &target.url, Vec::new(), &target.path)?;
            own.running = Some(server);
            Ok((own, Entrant { command: vec![target.shown()], ..Entrant::default() }))
        },
    )
}

/// A sentence for each URL on whose port a process listens that is neither the URL's process of `pids` nor below it: the figures are then
/// perhaps not the server's.
pub fn not_above_listeners(targets: &[Target], pids: &[i32]) -> Vec<String> {
    let doubt = |(target, pid): (&Target, &i32)| {
        let listener = listener(target).filter(|listener| !is_of(*listener, *pid))?;
        Some(format!(
            "process {listener} listens for {}, and it is not below process {pid} of --pid: CPU time and memory are those of {pid}",
            target.url
        ))
    };
    targets.iter().zip(pids).filter_map(doubt).collect()
}

/// Fails unless there is a process for each URL, or for none, and none of them belongs to another URL's server.
fn ensure_distinct(targets: &[Target], pids: &[i32]) -> Result<(), SetupError> {
    if pids.is_empty() {
        return Ok(());
    }
    let refused = |why: String| Err(SetupError::Race(format!("--pid: {why}")));
    if pids.len() != targets.len() {
        return refused(format!(
            "{} for {} URLs: give the first process of each server, in the order of the URLs, or none",
            pids.len(),
            targets.len()
        ));
    }
    for (i, pid) in pids.iter().enumerate() {
        if let Some(other) = pids[..i].iter().find(|other| is_of(**other, *pid) || is_of(*pid, **other)) {
            return refused(format!(
                "{other} and {pid} are the same process, or one is below the other, so their CPU time and memory can't be \
                 distinguished: race these URLs without --pid"
            ));
        }
    }
    for (i, target) in targets.iter().enumerate() {
        let Some(listener) = listener(target) else { continue };
        let given = pids.iter().position(|pid| is_of(listener, *pid));
        if let Some(given) = given.filter(|given| *given != i && targets[*given] != *target) {
            return refused(format!(
                "{} is given for {}, but it listens for {}: give the processes in the order of the URLs",
                pids[given], targets[given].url, target.url
            ));
        }
    }
    Ok(())
}

/// The process that listens for a URL, where it is seen.
fn listener(target: &Target) -> Option<i32> {
    target.address.tcp().and_then(local::listener)
}

/// Whether a process is this one or below it.
fn is_of(pid: i32, root: i32) -> bool {
    pid == root || tree::living(root).contains(&pid)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::process::{Child, Command};

    fn target(url: &str) -> Target {
        Target::resolve(url).unwrap()
    }

    fn why(targets: &[Target], pids: &[i32]) -> String {
        ensure_distinct(targets, pids).map_or_else(|error| error.to_string(), |()| String::new())
    }

    fn sleeping(then: impl Fn(i32)) {
        let mut child: Child = Command::new("sleep").arg("1000").spawn().unwrap();
        then(child.id() as i32);
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn each_url_has_a_process_of_its_own_or_none_has_one() {
        let urls = [target("http://127.0.0.1:1/"), target("http://127.0.0.1:2/")];
        let own = std::process::id() as i32;
        sleeping(|child| {
            assert_eq!(why(&urls, &[]), "");
            assert!(why(&urls, &[own]).contains("1 for 2 URLs"), "{}", why(&urls, &[own]));
            assert!(why(&urls, &[child, child]).contains("can't be distinguished"));
            assert!(why(&urls, &[child, own]).contains("can't be distinguished"), "one is below the other");
        });
    }

    #[test]
    fn processes_in_another_order_than_the_urls_are_refused_and_strangers_are_told() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let own = target(&format!("http://{}/", listener.local_addr().unwrap()));
        let (urls, me) = ([target("http://127.0.0.1:1/"), own.clone()], std::process::id() as i32);
        // A number that no process has.
        let stranger = i32::MAX;
        let swapped = why(&urls, &[me, stranger]);
        assert!(swapped.contains("in the order of the URLs") && swapped.contains(&own.url), "{swapped}");
        assert_eq!(why(&urls, &[stranger, me]), "");
        let told = not_above_listeners(&urls, &[me, stranger]);
        assert!(told.len() == 1 && told[0].contains(&format!("not below process {stranger}")), "{told:?}");
        assert_eq!(not_above_listeners(&urls, &[stranger, me]), Vec::<String>::new());
    }
}
