//! Profiles that the kernel really refuses: a user without rights looks at the servers of root. The message names the remedy, and nothing
//! else fails. Only root can run drome as somebody else.

use crate::common::{DROME, Finished, Home, assert_as_schema, run, serve};
use serde_json::Value;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::Command;

/// The user and the group `nobody` and `nogroup`.
const NOBODY: &str = "65534";

const REMEDY: &str =
    "set `sysctl kernel.perf_event_paranoid=1`, give drome the capability CAP_PERFMON, or run it as root";

/// A load that is soon over.
const LOAD: [&str; 8] = ["-c", "1", "--warmup", "50ms", "--duration", "100ms", "--seed", "1"];

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

/// Folders in which anybody may write.
fn home() -> Home {
    let home = Home::new();
    for folder in [home.path().to_owned(), home.temporary()] {
        std::fs::set_permissions(folder, PermissionsExt::from_mode(0o777)).unwrap();
    }
    home
}

/// Runs drome as a user without any rights.
fn as_nobody(home: &Home, args: &[&str]) -> Finished {
    let own = home.drome(args);
    let mut command = Command::new("setpriv");
    command.args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"]).arg(DROME).args(own.get_args());
    for (name, value) in own.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    run(&mut command)
}

#[test]
fn a_load_of_a_server_of_another_user_is_measured_without_a_profile() {
    if !is_root() {
        return;
    }
    let (home, server) = (home(), serve(&[]));
    let (url, pid) = (format!("http://{}/hello", server.address), server.child.id().to_string());
    let file = home.path().join("server.svg");
    let path = file.display().to_string();
    let load = as_nobody(&home, &["load", &url, "-d", "300ms", "--pid", &pid, "--profile", &path]);
    load.assert_out(0, &["requests"]);
    assert!(
        load.err.contains("no profile: the kernel does not let this user profile process "),
        "{}",
        load.err
    );
    assert!(load.err.contains(REMEDY) && load.err.contains("another user always needs root"), "{}", load.err);
    assert_eq!(load.err.matches("drome: ").count(), 1, "nothing else is wrong: {}", load.err);
    assert!(!file.exists());
}

#[test]
fn a_race_of_servers_of_another_user_has_its_verdict_with_the_reason() {
    if !is_root() {
        return;
    }
    let (home, a, b) = (home(), serve(&["--fault", "delay=1ms"]), serve(&["--fault", "delay=20ms"]));
    let urls = [&a, &b].map(|server| format!("http://{}/hello", server.address));
    let pids = [&a, &b].map(|server| server.child.id().to_string());
    let (folder, verdict) = (home.path().join("why"), home.path().join("verdict.json"));
    let [folder_path, verdict_path] = [&folder, &verdict].map(|path| path.display().to_string());
    let race = ["race", &urls[0], &urls[1], "--pid", &pids[0], "--pid", &pids[1], "--profile", &folder_path];
    let gate = ["--fail-if-slower", "2%", "--budget", "3min", "--verdict", &verdict_path];
    let race = as_nobody(&home, &[&race[..], &LOAD, &gate].concat());
    assert_eq!(race.code, 3, "as without: {}{}", race.out, race.err);
    assert_eq!(race.err.matches("no profile: the kernel does not let this user").count(), 1, "{}", race.err);
    assert!(race.err.contains(REMEDY), "{}", race.err);
    let json: Value = serde_json::from_str(&std::fs::read_to_string(&verdict).unwrap()).unwrap();
    assert_as_schema(&home, "verdict", &json);
    assert!(json["profile"]["why_not"].as_str().unwrap().contains(REMEDY), "{}", json["profile"]);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
}

#[test]
fn ones_own_servers_can_be_sampled_as_far_as_the_kernels_setting_allows_it() {
    if !is_root() {
        return;
    }
    let home = home();
    let fast = format!("{DROME} serve --port {{port}}");
    let slow = format!("{fast} --spin 200us");
    let folder = home.path().join("why");
    let path = folder.display().to_string();
    let race = ["race", &fast, &slow, "--profile", &path, "--url", "http://127.0.0.1:{port}/hello"];
    let race = as_nobody(&home, &[&race[..], &LOAD, &["--rounds", "1"]].concat());
    assert!(matches!(race.code, 0 | 4), "{}{}", race.out, race.err);
    home.assert_clean();
    let level = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap_or_default();
    let allows_all = level.trim().parse::<i32>().is_ok_and(|level| level <= 1);
    if race.err.contains("no profile:") {
        assert!(!allows_all && race.err.contains(REMEDY), "{level}: {}", race.err);
        return;
    }
    let lacks_kernel = "without time in the kernel, for which sysctl kernel.perf_event_paranoid=1 is needed";
    assert_eq!(race.err.contains(lacks_kernel), !allows_all, "{level}: {}", race.err);
    assert!(folder.join("A.svg").exists() && folder.join("B-against-A.svg").exists(), "{}", race.err);
}
