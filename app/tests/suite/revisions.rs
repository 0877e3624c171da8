//! `drome race --rev`: real repositories, real builds, real servers.

use crate::common::{Finished, Home, run};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const DROME: &str = env!("CARGO_BIN_EXE_drome");

/// A repository whose server takes as long for a request as its file `spin` says.
pub struct Repository {
    pub home: Home,
    pub folder: PathBuf,
}

impl Repository {
    /// Two commits, of which the second is slower by so much that every machine sees it.
    pub fn new() -> Self {
        let home = Home::new();
        let folder = home.path().join("repository");
        fs::create_dir(&folder).unwrap();
        let repository = Self { home, folder };
        repository.git(&["init", "--quiet"]);
        repository.commit("0s");
        repository.commit("20ms");
        repository
    }

    pub fn git(&self, args: &[&str]) {
        git(&self.folder, args);
    }

    pub fn commit(&self, spin: &str) {
        self.write("spin", spin);
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", spin]);
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.join(name), text).unwrap();
    }

    pub fn race(&self, args: &[&str]) -> Finished {
        self.race_built("cp spin built", args)
    }

    pub fn race_built(&self, build: &str, args: &[&str]) -> Finished {
        let start = format!("{DROME} serve --port {{port}} --spin $(cat built)");
        let mut command = self.home.drome(&["race", "--build", build, "--start", &start]);
        let load =
            ["--url", "http://127.0.0.1:{port}/hello", "-c", "1", "--warmup", "50ms", "--duration", "100ms"];
        run(command.args(load).args(["--seed", "1", "--rounds", "8"]).args(args).current_dir(&self.folder))
    }

    /// The folders of finished builds.
    pub fn builds(&self) -> Vec<PathBuf> {
        let all = self.home.path().join("cache");
        let mut found = Vec::new();
        find(&all, "builds", &mut found);
        found
            .iter()
            .flat_map(|builds| fs::read_dir(builds).unwrap())
            .map(|entry| entry.unwrap().path())
            .collect()
    }
}

/// The folders of this name below a folder.
pub fn find(folder: &Path, name: &str, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten().filter(|entry| entry.path().is_dir()) {
        if entry.file_name() == name {
            found.push(entry.path());
        } else {
            find(&entry.path(), name, found);
        }
    }
}

/// Runs git in a folder, with nothing of the user's own configuration that commits need.
pub fn git(folder: &Path, args: &[&str]) {
    let settings =
        ["user.name=A", "user.email=a@localhost", "init.defaultBranch=main", "commit.gpgsign=false"];
    let settings =
        settings.iter().flat_map(|setting| ["-c", setting]).chain(["-c", "protocol.file.allow=always"]);
    let output = Command::new("git").arg("-C").arg(folder).args(settings).args(args).output().unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_commit_that_is_slower_fails_and_what_is_built_is_kept() {
    let repository = Repository::new();
    let slower = repository.race(&["--rev", "HEAD~1", "--rev", "main", "--fail-if-slower", "2%"]);
    assert_eq!(slower.code, 3, "{}{}", slower.out, slower.err);
    assert!(
        slower.err.contains("building HEAD~1 (") && slower.err.contains("building main ("),
        "{}",
        slower.err
    );
    assert!(slower.err.contains("main is more than 2 % slower: "), "{}", slower.err);
    assert!(slower.out.contains("A, HEAD~1") && slower.out.contains("B, main"), "{}", slower.out);
    let builds = repository.builds();
    assert_eq!(builds.len(), 2, "{builds:?}");
    let lengths: Vec<usize> = builds.iter().map(|build| build.as_os_str().len()).collect();
    assert_eq!(lengths[0], lengths[1], "paths of one length");
    let again = repository.race(&["--rev", "main", "--rev", "HEAD~1", "--fail-if-slower", "2%"]);
    assert_eq!(again.code, 0, "{}{}", again.out, again.err);
    assert!(!again.err.contains("building"), "built once: {}", again.err);
    let worktrees = Command::new("git").arg("-C").arg(&repository.folder).args(["worktree", "list"]).output();
    assert_eq!(
        String::from_utf8(worktrees.unwrap().stdout).unwrap().lines().count(),
        1,
        "nothing is left in git"
    );
}

#[test]
fn the_working_tree_takes_part_as_it_is_and_stays_as_it_is() {
    let repository = Repository::new();
    repository.git(&["checkout", "--quiet", "HEAD~1"]);
    repository.write("spin", "20ms");
    repository.write("new file", "of nobody");
    let slower = repository.race(&["--rev", "HEAD", "--rev", ".", "--fail-if-slower", "2%"]);
    assert_eq!(slower.code, 3, "{}{}", slower.out, slower.err);
    assert!(slower.err.contains("working tree is more than 2 % slower"), "{}", slower.err);
    let has_new = |build: &PathBuf| build.join("new file").exists();
    assert_eq!(
        repository.builds().iter().filter(|build| has_new(build)).count(),
        1,
        "only in the working tree"
    );
    assert_eq!(fs::read_to_string(repository.folder.join("spin")).unwrap(), "20ms");
    assert!(!repository.folder.join("built").exists(), "nothing is built in it");
}

#[test]
fn what_can_not_be_raced_is_told_before_anything_is_measured() {
    let repository = Repository::new();
    let unknown = repository.race(&["--rev", "main", "--rev", "nowhere"]);
    assert!(
        unknown.code == 2
            && unknown.err.contains("--rev nowhere: there is no such revision; branches are main"),
        "{}",
        unknown.err
    );
    let option = repository.race(&["--rev", "main", "--rev=--all"]);
    assert!(
        option.code == 2 && option.err.contains("--rev --all: there is no such revision"),
        "{}",
        option.err
    );
    let one = repository.race(&["--rev", "main"]);
    assert!(one.code == 2 && one.err.contains("name 2 to 26 revisions"), "{}", one.err);
    let failed = repository
        .race_built("echo half > built; echo the reason; exit 7", &["--rev", "main", "--rev", "HEAD~1"]);
    assert!(
        failed.code == 1 && failed.err.contains("main does not build") && failed.err.contains("the reason"),
        "{}",
        failed.err
    );
    let bisect = ["--rev", "main", "--rev", "HEAD~1", "--fail-if-slower", "2%", "--bisect"];
    assert_eq!(repository.race_built("exit 7", &bisect).code, 128, "the first one is not what is searched");
    assert!(repository.builds().is_empty(), "nothing half-built is kept");
    let start = ["race", "--rev", "main", "--rev", "HEAD~1", "--start", "./server"];
    let no_port = run(repository.home.drome(&start).current_dir(&repository.folder));
    assert!(no_port.code == 2 && no_port.err.contains("has no {port}"), "{}", no_port.err);
    let start = ["race", "--rev", "main", "--rev", "HEAD~1", "--start", "./server {port}"];
    let nowhere = run(repository.home.drome(&start).current_dir("/"));
    assert!(nowhere.code == 2 && nowhere.err.contains("is not in a git repository"), "{}", nowhere.err);
}

#[test]
fn a_revision_has_its_submodules_and_no_hook_runs() {
    let repository = Repository::new();
    let part = repository.home.path().join("part");
    fs::create_dir(&part).unwrap();
    git(&part, &["init", "--quiet"]);
    fs::write(part.join("spin"), "0s").unwrap();
    git(&part, &["add", "--all"]);
    git(&part, &["commit", "--quiet", "--message", "a part"]);
    repository.git(&["submodule", "--quiet", "add", &part.display().to_string(), "part"]);
    repository.commit("1ns");
    let hook = repository.folder.join(".git/hooks/post-checkout");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, format!("#!/bin/sh\ntouch {}/hooked\n", repository.home.path().display())).unwrap();
    fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let start = format!("{DROME} serve --port {{port}} --spin $(cat built)");
    let mut command = repository.home.drome(&["race", "--build", "cp part/spin built", "--start", &start]);
    command.args([
        "--rev",
        "main",
        "--rev",
        ".",
        "--rounds",
        "2",
        "--warmup",
        "50ms",
        "--duration",
        "100ms",
        "--url",
        "http://127.0.0.1:{port}/hello",
        "-c",
        "1",
    ]);
    command.env("GIT_ALLOW_PROTOCOL", "file").current_dir(&repository.folder);
    let finished = run(&mut command);
    assert!(repository.builds().len() == 2, "{}{}", finished.out, finished.err);
    assert_eq!(finished.code, 0, "{}{}", finished.out, finished.err);
    assert!(!repository.home.path().join("hooked").exists(), "a hook ran");
}

#[test]
fn a_file_in_the_repository_holds_the_options() {
    let repository = Repository::new();
    let nothing = run(repository.home.drome(&["race"]).current_dir(&repository.folder));
    assert!(nothing.code == 2 && nothing.err.contains("`drome new race`"), "{}", nothing.err);
    let new = run(repository.home.drome(&["new", "race"]).current_dir(&repository.folder));
    assert!(new.code == 0 && repository.folder.join("drome.toml").exists(), "{}", new.err);
    let again = run(repository.home.drome(&["new", "race"]).current_dir(&repository.folder));
    assert!(again.code == 2, "it is not overwritten: {}", again.err);
    let file = format!(
        "[race]\nrev = [\"HEAD~1\", \"main\"]\nbuild = \"cp spin built\"\nfail_if_slower = \"2%\"\nconnections = 1\n\
         start = \"{DROME} serve --port {{port}} --spin $(cat built)\"\nurl = \"http://127.0.0.1:{{port}}/hello\"\n"
    );
    repository.write("drome.toml", &file);
    let short = ["race", "--warmup", "50ms", "--duration", "100ms", "--rounds", "8"];
    let below = repository.folder.join("below");
    fs::create_dir(&below).unwrap();
    let slower = run(repository.home.drome(&short).current_dir(&below));
    assert_eq!(slower.code, 3, "in the file's folder: {}{}", slower.out, slower.err);
    let bisect = [&short[..], &["--bisect"]].concat();
    let bisected = run(repository.home.drome(&bisect).current_dir(&repository.folder));
    assert_eq!(bisected.code, 1, "the margin is the file's: {}{}", bisected.out, bisected.err);
    let revs = ["--rev", "main", "--rev", "HEAD~1"];
    let turned = run(repository.home.drome(&[&short[..], &revs].concat()).current_dir(&repository.folder));
    assert_eq!(turned.code, 0, "the command line's revisions: {}{}", turned.out, turned.err);
    let elsewhere = repository
        .home
        .write("elsewhere/settings.toml", &file.replace("[\"HEAD~1\", \"main\"]", "[\"main\", \"HEAD~1\"]"));
    repository.write("drome.toml", "[race]\nrev = []\nstrat = 1\n");
    let named = [&short[..], &["--file", elsewhere.to_str().unwrap()]].concat();
    let passed = run(repository.home.drome(&named).current_dir(&repository.folder));
    assert_eq!(passed.code, 0, "the file that is named, in this folder: {}{}", passed.out, passed.err);
    let both = [&named[..], &["drome serve --port {port}", "drome serve --port {port}"]].concat();
    let both = run(repository.home.drome(&both).current_dir(&repository.folder));
    assert!(both.code == 2 && both.err.contains("cannot be used with"), "{}", both.err);
    let wrong = run(repository.home.drome(&["race"]).current_dir(&below));
    assert!(
        wrong.code == 2 && wrong.err.contains("drome.toml") && wrong.err.contains("strat"),
        "{}",
        wrong.err
    );
}
