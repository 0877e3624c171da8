//! The GitHub Action's script `comment.sh` with a `gh` that answers from files and writes down what it was asked.

use crate::action_race::step;
use crate::common::{Finished, Home, run};
use crate::verdict_file::VERDICT;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

/// Answers from the file that is named like the path, and keeps what is sent.
const GH: &str = r#"#!/usr/bin/env bash
set -euo pipefail
printf '%s\n' "$*" >> "$FAKE_GH/log"
[[ $GH_TOKEN == secret ]]
for word; do case $word in repos/*) path=$word ;; esac; done
case " $* " in *" --input "*) exec cat > "$FAKE_GH/posted.json" ;; esac
exec cat "$FAKE_GH/${path//[\/?=&]/_}"
"#;

const PULLS: &str = "repos_o_r_pulls";
const ARTIFACTS: &str = "repos_o_r_actions_runs_7_artifacts";
const ARCHIVE: &str = "repos_o_r_actions_artifacts_11_zip";
const COMMENTS: &str = "repos_o_r_issues_5_comments_per_page_100";

/// The commit that was measured.
const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// A branch's name as a stranger may choose it.
const BRANCH: &str = "x&state=closed$(touch${IFS}evil)`touch evil`";

/// GitHub, as far as the script asks it.
struct GitHub {
    home: Home,
    folder: PathBuf,
}

impl GitHub {
    /// A fork's pull request 5, whose run 7 has uploaded a verdict.
    fn new() -> Self {
        let home = Home::new();
        let folder = home.path().join("github");
        home.write("bin/gh", GH);
        fs::set_permissions(home.path().join("bin/gh"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::create_dir(&folder).unwrap();
        let github = Self { home, folder };
        github.event(&json!({"id": 7, "event": "pull_request", "head_sha": COMMIT, "head_branch": BRANCH,
            "head_repository": {"id": 33, "owner": {"login": "stranger"}}}));
        let pull = |number: u64, sha: &str, repository: Value| json!({"number": number, "head": {"sha": sha, "repo": repository}});
        let own = json!({"id": 33});
        github.answer(
            PULLS,
            &json!([
                pull(3, "ffffffffffffffffffffffffffffffffffffffff", own.clone()),
                pull(4, COMMIT, json!({"id": 34})),
                pull(6, COMMIT, Value::Null),
                pull(5, COMMIT, own),
            ]),
        );
        github.artifact(500);
        github.pack(VERDICT);
        github.answer(COMMENTS, &json!([]));
        github
    }

    fn event(&self, workflow_run: &Value) {
        self.home.write("event.json", &json!({"workflow_run": workflow_run}).to_string());
    }

    fn answer(&self, file: &str, json: &Value) {
        fs::write(self.folder.join(file), json.to_string()).unwrap();
    }

    /// The run's artifacts, of which the one that counts has this size.
    fn artifact(&self, bytes: u64) {
        let of = |id: u64, name: &str, expired: bool, bytes: u64| json!({"id": id, "name": name, "expired": expired, "size_in_bytes": bytes});
        let all = [
            of(9, "drome-verdict", false, 1),
            of(11, "drome-verdict", false, bytes),
            of(12, "drome-verdict", true, 1),
            of(13, "logs", false, 1),
        ];
        self.answer(ARTIFACTS, &json!({"artifacts": all}));
    }

    /// The artifact's archive, with this text as its verdict and another file beside it.
    fn pack(&self, verdict: &str) {
        let text = self.home.write("packed.json", verdict);
        let script = "import sys, zipfile\nwith zipfile.ZipFile(sys.argv[1], 'w', zipfile.ZIP_DEFLATED) as z:\n \
                    z.write(sys.argv[2], 'verdict.json')\n z.writestr('../../evil', 'x')\n";
        let packed =
            run(Command::new("python3").args(["-c", script]).arg(self.folder.join(ARCHIVE)).arg(text));
        assert_eq!(packed.code, 0, "{}", packed.err);
    }

    fn run(&self) -> Finished {
        let _ = fs::remove_file(self.folder.join("log"));
        let _ = fs::remove_file(self.folder.join("posted.json"));
        let path = format!("{}:{}", self.home.path().join("bin").display(), std::env::var("PATH").unwrap());
        let mut command = step(&self.home, "comment.sh");
        command.env("PATH", path).env("FAKE_GH", &self.folder).env("GH_TOKEN", "secret");
        command.env("GITHUB_EVENT_NAME", "workflow_run").env("GITHUB_REPOSITORY", "o/r");
        command.env("GITHUB_SERVER_URL", "https://github.example").current_dir(self.home.path());
        command.env("GITHUB_EVENT_PATH", self.home.path().join("event.json"));
        run(&mut command)
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }

    /// The comment that was sent.
    fn posted(&self) -> Option<String> {
        let text = fs::read_to_string(self.folder.join("posted.json")).ok()?;
        let json: Value = serde_json::from_str(&text).unwrap();
        Some(json["body"].as_str().unwrap().to_owned())
    }
}

fn comment(id: u64, author: Option<&str>, body: &str) -> Value {
    json!({"id": id, "user": author.map(|login| json!({"login": login})), "body": body})
}

#[test]
fn the_pull_request_of_the_run_gets_a_comment() {
    let github = GitHub::new();
    let done = github.run();
    done.assert_out(0, &["commented pull request 5\n"]);
    let log = github.log();
    assert!(log.contains(&format!("-f state=open -f head=stranger:{BRANCH} -f")), "as one word: {log}");
    assert!(log.ends_with("api --method POST repos/o/r/issues/5/comments --input - --silent\n"), "{log}");
    let body = github.posted().unwrap();
    assert!(
        body.starts_with("<!-- drome: race -->\n\n**`change` is more than 2 % slower than `base`.**\n"),
        "{body}"
    );
    let link = format!("\n\nMeasured for {COMMIT} in [run 7](https://github.example/o/r/actions/runs/7).\n");
    assert!(body.ends_with(&format!("</details>\n{}", &link[1..])), "{body}");
    let token = done.out.lines().next().and_then(|line| line.strip_prefix("::stop-commands::")).unwrap();
    assert!(done.out.trim_end().ends_with(&format!("::{token}::")), "{}", done.out);
    for place in [github.home.path().to_owned(), github.home.temporary()] {
        assert!(!place.join("evil").exists(), "{}", place.display());
    }
}

#[test]
fn only_its_own_comment_with_the_marker_in_the_first_line_is_changed() {
    let github = GitHub::new();
    let bot = Some("github-actions[bot]");
    let first = json!([
        comment(1, Some("stranger"), "<!-- drome: race -->\nmine"),
        comment(2, None, "<!-- drome: race -->\n"),
        comment(3, bot, "<!-- drome: other -->\n"),
        comment(4, bot, "text\n<!-- drome: race -->\n"),
        comment(5, bot, ""),
        comment(6, bot, "<!-- drome: race -->x\n"),
    ]);
    let second =
        json!([comment(98, bot, "<!-- drome: race -->\r\nold"), comment(99, bot, "<!-- drome: race -->")]);
    // As gh prints pages, one list after the other.
    fs::write(github.folder.join(COMMENTS), format!("{first}{second}")).unwrap();
    assert_eq!(github.run().code, 0);
    let log = github.log();
    assert!(log.ends_with("api --method PATCH repos/o/r/issues/comments/98 --input - --silent\n"), "{log}");
    github.answer(COMMENTS, &first);
    assert_eq!(github.run().code, 0);
    assert!(github.log().contains("--method POST repos/o/r/issues/5/comments"), "{}", github.log());
}

#[test]
fn a_run_without_its_pull_request_or_its_verdict_leaves_no_comment() {
    let left = |change: &dyn Fn(&GitHub), why: &str| {
        let github = GitHub::new();
        change(&github);
        let done = github.run();
        done.assert_out(0, &[why]);
        assert_eq!(github.posted(), None);
    };
    let run = |event: &str, repository: Value| json!({"id": 7, "event": event, "head_sha": COMMIT, "head_branch": "x", "head_repository": repository});
    let head = |number: u64| json!({"number": number, "head": {"sha": COMMIT, "repo": {"id": 33}}});
    left(&|g| g.answer(PULLS, &json!([])), "there is a newer commit");
    left(&|g| g.answer(PULLS, &json!([head(5), head(6)])), "several open pull requests");
    left(&|g| g.answer(ARTIFACTS, &json!({"artifacts": []})), "no artifact drome-verdict");
    left(&|g| g.event(&run("push", json!({"id": 33}))), "not of a pull request");
    left(&|g| g.event(&run("pull_request", Value::Null)), "is gone");
}

#[test]
fn what_is_no_verdict_is_refused_before_anything_is_written() {
    let github = GitHub::new();
    github.artifact(10_000_000);
    let large = github.run();
    large.assert_err(1, &["more than 1048576 bytes"]);
    assert!(!github.log().contains("/zip"), "it is not downloaded: {}", github.log());
    github.artifact(500);
    let unknown = VERDICT.replacen('{', "{\"more\": 1, ", 1);
    for (verdict, why) in [
        (" ".repeat(5_000_000), "no readable verdict.json"),
        (unknown, "unknown field"),
        ("::set-output name=x::y".to_owned(), "is not a verdict"),
    ] {
        github.pack(&verdict);
        let refused = github.run();
        assert!(refused.code != 0 && refused.err.contains(why), "{}{}", refused.out, refused.err);
        assert_eq!(github.posted(), None);
    }
    fs::write(github.folder.join(ARCHIVE), "no archive").unwrap();
    let refused = github.run();
    refused.assert_err(1, &["no readable verdict.json"]);
}
