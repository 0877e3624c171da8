//! `drome race --rev` where something is wrong or unusual: a build that fails, a server on another port, equal revisions, very many
//! files, no git.

use crate::common::{DROME, process, processes_with, run, wait_for};
use crate::revisions::{Repository, find};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A message in one line: the terminal may break lines.
fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The number of files below a folder.
fn files(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries.map(|entry| if entry.file_type().unwrap().is_dir() { files(&entry.path()) } else { 1 }).sum()
}

#[test]
fn a_failed_build_shows_the_last_lines_of_its_log_and_nothing_of_it_is_kept() {
    let repository = Repository::new();
    // The first commit builds, the second does not.
    let build = "seq 1 30 | sed 's/^/step /'; cp delay built; test $(cat delay) = 1ms";
    let args = ["--rev", "HEAD~1", "--rev", "main"];
    let failed = repository.race_built(build, &args);
    let told = line(&failed.err);
    assert!(failed.code == 1 && told.contains("main does not build (exit status: 1)"), "{}", failed.err);
    assert!(told.contains("step 23 step 24") && told.contains("step 29 step 30"), "{}", failed.err);
    assert!(!told.contains("step 22"), "only the last lines: {}", failed.err);
    let cache = repository.home.path().join("cache");
    let mut half_built = Vec::new();
    find(&cache, "tree", &mut half_built);
    assert_eq!(half_built, Vec::<PathBuf>::new());
    assert_eq!(repository.builds().len(), 1, "that of the first commit");
    let again = repository.race_built(build, &args);
    assert!(!again.err.contains("building HEAD~1"), "it was built before: {}", again.err);
    assert!(again.code == 1 && again.err.contains("building main"), "it is tried again: {}", again.err);
    let gate = [&args[..], &["--fail-if-slower", "2%"]].concat();
    assert_eq!(repository.race_built(build, &gate).code, 4, "there is no judgement");
    assert_eq!(repository.race_built(build, &[&gate[..], &["--bisect"]].concat()).code, 125, "it is skipped");
    let worktrees = Command::new("git").arg("-C").arg(&repository.folder).args(["worktree", "list"]).output();
    assert_eq!(String::from_utf8(worktrees.unwrap().stdout).unwrap().lines().count(), 1);
}

#[test]
fn a_server_that_ignores_its_port_is_told_where_it_listens() {
    let repository = Repository::new();
    let port = control::machine::ports::free_port().unwrap();
    // A listener in a ring is not seen to be any process's.
    let start = format!("{DROME} serve --io epoll --port {port} # not {{port}}");
    let mut command = repository.home.drome(&["race", "--rev", "main", "--rev", "HEAD~1", "--start", &start]);
    let finished = run(command.args(["--ready", "4s"]).current_dir(&repository.folder));
    let told = line(&finished.err);
    assert!(finished.code == 2 && told.contains("it was not ready within 4s"), "{}", finished.err);
    let why = format!("listens on 127.0.0.1:{port}: its command or its files must use {{port}}");
    assert!(told.contains(&why), "{}", finished.err);
    repository.home.assert_clean();
}

#[test]
fn equal_revisions_are_told_before_anything_is_built() {
    let repository = Repository::new();
    let told = |rev: &str, other: &str, args: &[&str]| {
        let finished = repository.race(&[&["--rev", rev, "--rev", other][..], args].concat());
        (finished.code, line(&finished.err))
    };
    let words = "HEAD~1 and main~1 are the same revision (";
    let (code, err) = told("HEAD~1", "main~1", &["--rounds", "1"]);
    assert!(code == 0 && err.contains("so the race can show only noise"), "it runs all the same: {err}");
    let (at, built) = (err.find(words), err.find("building HEAD~1"));
    assert!(at.is_some() && built.is_some() && at < built, "{err}");
    // The command does not start: whether two are the same is told before.
    let not_started = ["--start", "exit 5 # {port}"];
    let (code, err) = told("main", ".", &not_started);
    assert!(code == 2 && err.contains("main and . are the same revision ("), "without changes: {err}");
    repository.write("new file", "of nobody");
    let (code, err) = told("main", ".", &not_started);
    assert!(code == 2 && !err.contains("same revision"), "with a change: {err}");
    let (code, err) = told("main", "HEAD~1", &not_started);
    assert!(code == 2 && !err.contains("same revision"), "two commits: {err}");
    repository.git(&["revert", "--no-edit", "HEAD"]);
    let (code, err) = told("main~2", "main", &not_started);
    assert!(code == 2 && err.contains("have the same files, so the race can show only noise"), "{err}");
}

#[test]
fn a_build_ends_with_drome_and_nothing_of_it_gets_into_a_later_one() {
    let repository = Repository::new();
    let home = repository.home.path().display().to_string();
    // The first one goes on for ever, in a process that has left everything that drome could signal.
    let build = format!(
        "if mkdir {home}/begun; then tree=$PWD; export tree
         setsid sh -c 'while :; do echo > $tree/late; touch {home}/running; done' & wait; fi; cp delay built"
    );
    let start = format!("{DROME} serve --port {{port}} --fault delay=$(cat built)");
    let args = ["race", "--rev", "main", "--rev", "HEAD~1", "--build", &build, "--start", &start];
    let mut command = repository.home.drome(&args);
    let mut child = process::spawn(
        command
            .current_dir(&repository.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null()),
    );
    let running = repository.home.path().join("running");
    wait_for(|| running.exists(), "the build to begin");
    child.kill().unwrap();
    process::wait(&mut child);
    let next = repository.race_built(&build, &["--rev", "main", "--rev", "HEAD~1", "--rounds", "1"]);
    assert_eq!(next.code, 0, "{}{}", next.out, next.err);
    wait_for(|| processes_with(&home).is_empty(), "every process to be gone");
    let builds = repository.builds();
    assert_eq!(builds.len(), 2, "{builds:?}");
    for build in builds {
        assert!(build.join("built").exists() && !build.join("late").exists(), "{}", build.display());
    }
    repository.home.assert_clean();
}

#[test]
fn a_repository_of_ten_thousand_files_is_raced_whole() {
    let repository = Repository::new();
    // All are equal, so that git stores them once.
    for folder in 0..100 {
        fs::create_dir_all(repository.folder.join(format!("many/{folder}"))).unwrap();
        for file in 0..100 {
            repository.write(&format!("many/{folder}/{file}"), "equal\n");
        }
    }
    repository.commit("1ms");
    repository.write("many/7/7", "changed\n");
    fs::remove_file(repository.folder.join("many/8/8")).unwrap();
    repository.write("many/100", "new\n");
    let args = ["--rev", "main", "--rev", ".", "--rounds", "1"];
    let finished = repository.race(&args);
    assert_eq!(finished.code, 0, "{}{}", finished.out, finished.err);
    let builds = repository.builds();
    assert_eq!(builds.len(), 2, "{builds:?}");
    let is_changed = |build: &&PathBuf| build.join("many/100").exists();
    let [changed, plain] = [true, false].map(|wanted| {
        let mut found = builds.iter().filter(|build| is_changed(build) == wanted);
        found.next().unwrap_or_else(|| panic!("{wanted}: {builds:?}"))
    });
    // Besides them, `delay`, and `built` from it. The changed one has one more and one less.
    assert_eq!((files(plain), files(changed)), (10_002, 10_002));
    let read = |build: &Path| fs::read_to_string(build.join("many/7/7")).unwrap();
    assert_eq!((read(plain).as_str(), read(changed).as_str()), ("equal\n", "changed\n"));
    assert!(plain.join("many/8/8").exists() && !changed.join("many/8/8").exists());
}

#[test]
fn without_git_it_says_what_to_install() {
    let repository = Repository::new();
    let nothing = repository.home.path().join("nothing");
    fs::create_dir(&nothing).unwrap();
    let args = ["race", "--rev", "main", "--rev", "HEAD~1", "--start", "./server {port}"];
    let mut command = repository.home.drome(&args);
    let finished = run(command.env("PATH", &nothing).current_dir(&repository.folder));
    finished.assert_err(1, &["can't run git"]);
    assert!(line(&finished.err).contains("apt install git"), "{}", finished.err);
}
