//! `drome race --rev`: real repositories, real builds, real servers.

use crate::common::{DROME, Finished, Home, run};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A repository whose server takes as long for a request as its file `delay` says.
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
        repository.commit("1ms");
        repository.commit("25ms");
        repository
    }

    pub fn git(&self, args: &[&str]) {
        git(&self.folder, args);
    }

    pub fn commit(&self, delay: &str) {
        self.write("delay", delay);
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", delay]);
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.join(name), text).unwrap();
    }

    pub fn race(&self, args: &[&str]) -> Finished {
        self.race_built("cp delay built", args)
    }

    pub fn race_built(&self, build: &str, args: &[&str]) -> Finished {
        run(&mut self.race_command(build, args))
    }

    fn race_command(&self, build: &str, args: &[&str]) -> Command {
        let start = format!("{DROME} serve --port {{port}} --fault delay=$(cat built)");
        let mut command = self.home.drome(&["race", "--build", build, "--start", &start]);
        let load =
            ["--url", "http://127.0.0.1:{port}/hello", "-c", "1", "--warmup", "50ms", "--duration", "100ms"];
        command.args(load).args(["--seed", "1", "--rounds", "8"]).args(args).current_dir(&self.folder);
        command
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
    slower.assert_err(3, &["building HEAD~1 (", "building main (", "main is more than 2 % slower: "]);
    assert!(slower.out.contains("A, HEAD~1") && slower.out.contains("B, main"), "{}", slower.out);
    let builds = repository.builds();
    assert_eq!(builds.len(), 2, "{builds:?}");
    let lengths: Vec<usize> = builds.iter().map(|build| build.as_os_str().len()).collect();
    assert_eq!(lengths[0], lengths[1], "paths of one length");
    let again = repository.race(&["--rev", "main", "--rev", "HEAD~1", "--fail-if-slower", "2%"]);
    again.assert_out(0, &["A, main", "B, HEAD~1"]);
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
    repository.write("delay", "25ms");
    repository.write("new file", "of nobody");
    let raced = repository.race(&["--rev", "HEAD", "--rev", ".", "--rounds", "1"]);
    raced.assert_out(0, &["A, HEAD", "B, working tree"]);
    let built =
        |build: PathBuf| (build.join("new file").exists(), fs::read_to_string(build.join("built")).unwrap());
    let mut builds: Vec<_> = repository.builds().into_iter().map(built).collect();
    builds.sort();
    assert_eq!(builds, [(false, "1ms".to_owned()), (true, "25ms".to_owned())], "only in the working tree");
    assert_eq!(fs::read_to_string(repository.folder.join("delay")).unwrap(), "25ms");
    assert!(!repository.folder.join("built").exists(), "nothing is built in it");
}

#[test]
fn what_can_not_be_raced_is_told_before_anything_is_measured() {
    let repository = Repository::new();
    let unknown = "--rev nowhere: there is no such revision; branches are main";
    for (args, words) in [
        (&["--rev", "main", "--rev", "nowhere"][..], unknown),
        (&["--rev", "main", "--rev=--all"], "--rev --all: there is no such revision"),
        (&["--rev", "main"], "name 2 to 26 revisions"),
    ] {
        repository.race(args).assert_err(2, &[words]);
    }
    let failed = repository
        .race_built("echo half > built; echo the reason; exit 7", &["--rev", "main", "--rev", "HEAD~1"]);
    failed.assert_err(1, &["main does not build", "the reason"]);
    let bisect = ["--rev", "main", "--rev", "HEAD~1", "--fail-if-slower", "2%", "--bisect"];
    assert_eq!(repository.race_built("exit 7", &bisect).code, 128, "the first one is not what is searched");
    assert!(repository.builds().is_empty(), "nothing half-built is kept");
    for (start, folder, words) in [
        ("./server", repository.folder.as_path(), "has no {port}"),
        ("./server {port}", Path::new("/"), "is not in a git repository"),
    ] {
        let race = ["race", "--rev", "main", "--rev", "HEAD~1", "--start", start];
        run(repository.home.drome(&race).current_dir(folder)).assert_err(2, &[words]);
    }
}

#[test]
fn a_revision_has_its_submodules_and_no_hook_runs() {
    let repository = Repository::new();
    let part = repository.home.path().join("part");
    fs::create_dir(&part).unwrap();
    git(&part, &["init", "--quiet"]);
    fs::write(part.join("delay"), "3ms").unwrap();
    git(&part, &["add", "--all"]);
    git(&part, &["commit", "--quiet", "--message", "a part"]);
    repository.git(&["submodule", "--quiet", "add", &part.display().to_string(), "part"]);
    repository.commit("2ms");
    let hook = repository.folder.join(".git/hooks/post-checkout");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, format!("#!/bin/sh\ntouch {}/hooked\n", repository.home.path().display())).unwrap();
    fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let race = ["--rev", "main", "--rev", ".", "--rounds", "1"];
    let mut command = repository.race_command("cp part/delay built", &race);
    let finished = run(command.env("GIT_ALLOW_PROTOCOL", "file"));
    assert!(repository.builds().len() == 2, "{}{}", finished.out, finished.err);
    assert_eq!(finished.code, 0, "{}{}", finished.out, finished.err);
    assert!(!repository.home.path().join("hooked").exists(), "a hook ran");
}

#[test]
fn a_file_in_the_repository_holds_the_options() {
    let repository = Repository::new();
    let (home, here) = (&repository.home, repository.folder.as_path());
    let drome = |folder: &Path, args: &[&str]| run(home.drome(args).current_dir(folder));
    drome(here, &["race"]).assert_err(2, &["`drome new race`"]);
    let new = drome(here, &["new", "race"]);
    assert!(new.code == 0 && here.join("drome.toml").exists(), "{}", new.err);
    let again = drome(here, &["new", "race"]);
    assert!(again.code == 2, "it is not overwritten: {}", again.err);
    let file = format!(
        "[race]\nrev = [\"HEAD~1\", \"main\"]\nbuild = \"cp delay built\"\nfail_if_slower = \"2%\"\nconnections = 1\n\
         start = \"{DROME} serve --port {{port}} --fault delay=$(cat built)\"\nurl = \"http://127.0.0.1:{{port}}/hello\"\n"
    );
    repository.write("drome.toml", &file);
    let below = here.join("below");
    fs::create_dir(&below).unwrap();
    let short = ["race", "--warmup", "50ms", "--duration", "100ms", "--rounds"];
    let race =
        |folder: &Path, rounds: &str, more: &[&str]| drome(folder, &[&short[..], &[rounds], more].concat());
    let bisected = race(&below, "8", &["--bisect"]);
    assert_eq!(bisected.code, 1, "in the file's folder, by its margin: {}{}", bisected.out, bisected.err);
    // The command line's revisions.
    race(here, "8", &["--rev", "main", "--rev", "HEAD~1"]).assert_out(0, &["A, main: ", "B, HEAD~1: "]);
    let elsewhere = file.replace("[\"HEAD~1\", \"main\"]", "[\"main\", \"HEAD~1\"]");
    let elsewhere = home.write("elsewhere/settings.toml", &elsewhere).display().to_string();
    repository.write("drome.toml", "[race]\nrev = []\nstrat = 1\n");
    // The file that is named, in this folder.
    race(here, "8", &["--file", &elsewhere]).assert_out(0, &["A, main: ", "B, HEAD~1: "]);
    let server = "drome serve --port {port}";
    race(here, "1", &["--file", &elsewhere, server, server]).assert_err(2, &["cannot be used with"]);
    drome(&below, &["race"]).assert_err(2, &["drome.toml", "strat"]);
}
