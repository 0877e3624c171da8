//! The GitHub Action's scripts `install.sh` and `race.sh`, run as its steps are, in a repository as GitHub's runner has it.

use crate::common::{DROME, Home, assert_as_schema, run};
use crate::revisions::git;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Options that make a race short.
const SHORT: &str = "--warmup=50ms\n\n  --duration=100ms\n--rounds=3\n--seed=1\n";

/// Hooks that git runs when something is checked out or a name is looked for.
const HOOKS: [&str; 3] =
    [".githooks/post-checkout", ".githooks/reference-transaction", ".githooks/post-index-change"];

/// Times of an answer between which every machine sees the difference.
const FAST_AND_SLOW: [&str; 2] = ["1ms", "25ms"];

/// A script of the action.
fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../packaging/action").join(name)
}

/// A script as the step of a job: with the files that the runner gives it, and nothing of the job in which these tests may run.
pub fn step(home: &Home, name: &str) -> Command {
    let mut command = Command::new("bash");
    command.arg(script(name)).env("DROME", DROME).env("RUNNER_TEMP", home.temporary());
    command.env("DROME_HOME", home.path()).env("DROME_CACHE", home.path().join("cache"));
    for (variable, file) in [("GITHUB_OUTPUT", "output"), ("GITHUB_STEP_SUMMARY", "summary")] {
        command.env(variable, home.path().join(file));
    }
    for variable in ["GITHUB_EVENT_NAME", "GITHUB_EVENT_PATH", "GITHUB_SHA", "GITHUB_REPOSITORY", "GH_TOKEN"]
    {
        command.env_remove(variable);
    }
    command
}

/// What a step wrote to one of its files.
fn written(home: &Home, file: &str) -> String {
    fs::read_to_string(home.path().join(file)).unwrap_or_default()
}

/// A repository in which the merge of a pull request into its base is checked out.
struct Checkout {
    home: Home,
    folder: PathBuf,
    commits: [String; 2],
}

impl Checkout {
    /// The server takes so long for a request: before, and with the pull request, whose settings and hooks leave files.
    fn new([before, after]: [&str; 2]) -> Self {
        let home = Home::new();
        let folder = home.path().join("repository");
        fs::create_dir(&folder).unwrap();
        let settings = |start: &str| {
            format!(
                "[race]\nrev = [\"nowhere\"]\nbuild = \"cp delay built\"\nconnections = 1\nfail_if_slower = \"2%\"\n\
                 start = \"{start}{DROME} serve --port {{port}} --fault delay=$(cat built)\"\n\
                 url = \"http://127.0.0.1:{{port}}/hello\"\n"
            )
        };
        let mark = |name: &str| home.path().join(name).display().to_string();
        let (fair, evil) = (settings(""), settings(&format!("touch {}; ", mark("started"))));
        git(&folder, &["init", "--quiet"]);
        commit(&folder, &[("delay", before), ("drome.toml", fair.as_str())]);
        let base = head(&folder);
        git(&folder, &["checkout", "--quiet", "-b", "change"]);
        let hook = format!("#!/bin/sh\ntouch {}\n", mark("hooked"));
        let mut files: Vec<(&str, &str)> = HOOKS.iter().map(|name| (*name, hook.as_str())).collect();
        files.extend([("delay", after), ("drome.toml", evil.as_str())]);
        commit(&folder, &files);
        git(&folder, &["checkout", "--quiet", "--detach", "main"]);
        git(&folder, &["merge", "--quiet", "--no-ff", "--no-edit", "change"]);
        let commits = [base, head(&folder)];
        // As the set-up of many repositories does.
        git(&folder, &["config", "core.hooksPath", ".githooks"]);
        assert_eq!(fs::read_to_string(folder.join("drome.toml")).unwrap(), evil);
        assert!(fs::metadata(folder.join(HOOKS[0])).unwrap().permissions().mode() & 0o100 != 0);
        Self { home, folder, commits }
    }

    /// The step that races, in a pull request.
    fn race(&self) -> Command {
        let mut command = step(&self.home, "race.sh");
        command.current_dir(&self.folder).env("DROME_ACTION_OPTIONS", SHORT);
        command.env("GITHUB_EVENT_NAME", "pull_request").env("GITHUB_SHA", &self.commits[1]);
        command
    }

    /// No command and no hook of the pull request's own choice has run.
    fn assert_clean(&self) {
        for mark in ["started", "hooked"] {
            assert!(!self.home.path().join(mark).exists(), "{mark} by the pull request");
        }
    }
}

/// Writes files, of which hooks can be executed, and commits everything.
fn commit(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        let mode = if HOOKS.contains(name) { 0o755 } else { 0o644 };
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }
    git(folder, &["add", "--all"]);
    git(folder, &["commit", "--quiet", "--message", "a commit"]);
}

fn head(folder: &Path) -> String {
    let output = Command::new("git").arg("-C").arg(folder).args(["rev-parse", "HEAD"]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn a_pull_request_is_raced_as_its_base_says_and_runs_nothing_else() {
    let checkout = Checkout::new(FAST_AND_SLOW);
    let home = &checkout.home;
    let raced = run(checkout.race().env("GH_TOKEN", "secret"));
    assert_eq!(raced.code, 3, "{}{}", raced.out, raced.err);
    checkout.assert_clean();
    let output = written(home, "output");
    let last = |key: &str| output.lines().rev().find_map(|line| line.strip_prefix(key)).unwrap_or_default();
    assert_eq!(last("outcome="), "slower", "{output}");
    let verdict: Value = serde_json::from_str(&fs::read_to_string(last("verdict=")).unwrap()).unwrap();
    assert_as_schema(home, "verdict", &verdict);
    let revisions = verdict["revisions"].as_array().unwrap();
    let commits: Vec<&str> = revisions.iter().map(|revision| revision["commit"].as_str().unwrap()).collect();
    assert_eq!(commits, checkout.commits);
    let summary = written(home, "summary");
    let head = "<!-- drome: race -->\n\n**`change` is more than 2 % slower than `base`.**\n";
    assert!(summary.starts_with(head), "{summary}");
    assert!(summary.contains(&format!("`base`: commit `{}`", &checkout.commits[0][..10])), "{summary}");
    // While foreign programs run, the runner takes no line for a command.
    let token = raced.out.lines().find_map(|line| line.strip_prefix("::stop-commands::")).unwrap();
    assert!(token.len() == 32 && raced.out.trim_end().ends_with(&format!("::{token}::")), "{}", raced.out);
}

#[test]
fn a_pull_request_that_is_not_slower_passes() {
    let [fast, slow] = FAST_AND_SLOW;
    let checkout = Checkout::new([slow, fast]);
    let raced = run(&mut checkout.race());
    assert_eq!(raced.code, 0, "{}{}", raced.out, raced.err);
    assert!(written(&checkout.home, "output").ends_with("\noutcome=passed\n"));
    checkout.assert_clean();
}

#[test]
fn what_can_not_be_raced_safely_is_refused() {
    let checkout = Checkout::new(FAST_AND_SLOW);
    let refused = |command: &mut Command, code: i32, why: &str| {
        let finished = run(command);
        finished.assert_err(code, &[why]);
        assert_eq!(written(&checkout.home, "output").lines().next_back(), Some("outcome=error"));
    };
    let with_secrets = "has the repository's secrets";
    refused(checkout.race().env("GITHUB_EVENT_NAME", "pull_request_target"), 1, with_secrets);
    refused(checkout.race().env("GITHUB_EVENT_NAME", "workflow_run"), 1, with_secrets);
    refused(checkout.race().env("DROME_ACTION_BASE", "nowhere"), 1, "there is no commit nowhere here");
    refused(checkout.race().env("DROME_ACTION_BASE", "--all"), 1, "there is no commit --all here");
    refused(checkout.race().env("DROME_ACTION_MARGIN", "150%"), 2, "must be a share");
    refused(checkout.race().env("GITHUB_SHA", &checkout.commits[0]), 1, "merge is not checked out");
    let no_hooks = ["-c", "core.hooksPath=/dev/null"];
    let git_without_hooks = |args: &[&str]| git(&checkout.folder, &[&no_hooks[..], args].concat());
    git_without_hooks(&["checkout", "--quiet", "change"]);
    refused(checkout.race().env("GITHUB_SHA", head(&checkout.folder)), 1, "merge is not checked out");
    git_without_hooks(&["rm", "--quiet", "drome.toml"]);
    git_without_hooks(&["commit", "--quiet", "--message", "none"]);
    refused(checkout.race().env("DROME_ACTION_BASE", "HEAD"), 1, "has no drome.toml in this folder");
    refused(checkout.race().current_dir("/"), 1, "in no git repository");
    checkout.assert_clean();
}

/// A release of one archive, whose program prints a version.
fn release(home: &Home, sum: &str) -> String {
    let script = "set -e; cd \"$0\"; m=$(uname -m | sed 's/amd64/x86_64/; s/arm64/aarch64/'); n=drome-9.9.9-$m-linux\n\
                mkdir -p $n; printf '#!/bin/sh\\necho drome 9.9.9\\n' > $n/drome; chmod +x $n/drome\n\
                tar -czf $n.tar.gz $n; sha256sum $n.tar.gz | sed \"$1\" > SHA256SUMS";
    let folder = home.path().join("release");
    fs::create_dir_all(&folder).unwrap();
    let packed = run(Command::new("sh").args(["-c", script]).arg(&folder).arg(sum));
    assert_eq!(packed.code, 0, "{}", packed.err);
    format!("file://{}", folder.display())
}

#[test]
fn a_program_or_a_release_with_its_checksum_is_installed() {
    let home = Home::new();
    let install = |settings: &[(&str, &str)]| {
        let _ = fs::remove_file(home.path().join("output"));
        let finished = run(step(&home, "install.sh").envs(settings.iter().copied()));
        (finished, written(&home, "output"))
    };
    let (own, output) = install(&[("DROME_ACTION_BINARY", DROME)]);
    let path = fs::canonicalize(DROME).unwrap();
    assert_eq!((own.code, output), (0, format!("drome={}\n", path.display())), "{}", own.err);
    let from = release(&home, "");
    let (released, output) = install(&[("DROME_ACTION_VERSION", "v9.9.9"), ("DROME_DOWNLOADS", &from)]);
    released.assert_out(0, &["drome 9.9.9\n"]);
    let program = output.trim_end().strip_prefix("drome=").unwrap();
    assert!(Path::new(program).starts_with(home.temporary()), "{output}");
    let from = release(&home, "s/^./x/");
    let wrong = [
        (
            vec![("DROME_ACTION_VERSION", "9.9.9"), ("DROME_DOWNLOADS", from.as_str())],
            "does not have the SHA-256",
        ),
        (vec![("DROME_ACTION_VERSION", "1; touch x")], "is no version"),
        (vec![("DROME_ACTION_BINARY", "/no/such/program")], "names no program"),
    ];
    for (settings, why) in wrong {
        let (finished, output) = install(&settings);
        finished.assert_err(1, &[why]);
        assert_eq!(output, "");
    }
}
