//! The workflows of GitHub Actions: this project's own, and the examples for its users. `cargo xtask ci` checks them with actionlint,
//! and tests keep the rules that it does not know.

use crate::files::files;
use crate::{command, packages, root, run_command};
use anyhow::Result;
use std::path::{Path, PathBuf};

/// The checker, which Go builds.
const ACTIONLINT: &str = "github.com/rhysd/actionlint/cmd/actionlint";

/// Its version.
const VERSION: &str = "v1.7.7";

/// The folders with workflows.
const FOLDERS: &[&str] = &[".github/workflows", EXAMPLES];

/// The workflows that users copy.
const EXAMPLES: &str = "packaging/action/examples";

/// Checks all workflows.
pub fn lint() -> Result<()> {
    let root = root();
    let mut lint = command(&actionlint(&root)?.to_string_lossy());
    // What is found must not depend on the other checkers that a machine has.
    lint.args(["-no-color", "-shellcheck=", "-pyflakes="]).current_dir(&root);
    for folder in FOLDERS {
        lint.args(files(&root.join(folder), "yml")?);
    }
    run_command(&mut lint)
}

/// The checker, built unless this version is there.
pub fn actionlint(root: &Path) -> Result<PathBuf> {
    packages::go_program(root, ACTIONLINT, VERSION)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// The files that run as an action or show how to, with their texts.
    fn action_files() -> Vec<(PathBuf, String)> {
        let root = root();
        let mut all = files(&root.join(EXAMPLES), "yml").unwrap();
        all.extend(["action.yml", "packaging/action/comment/action.yml"].map(|name| root.join(name)));
        let read = |file: PathBuf| (file.clone(), fs::read_to_string(&file).unwrap());
        all.into_iter().map(read).collect()
    }

    #[test]
    fn no_script_has_a_value_in_its_text() {
        for (file, text) in action_files() {
            for line in
                text.lines().filter(|line| line.trim_start().trim_start_matches("- ").starts_with("run:"))
            {
                let is_one_script =
                    line.contains("run: bash \"$GITHUB_ACTION_PATH/") && !line.contains("${{");
                assert!(is_one_script, "{}: {line}", file.display());
            }
        }
        for name in ["comment.sh", "common.sh", "install.sh", "race.sh"] {
            let text = fs::read_to_string(root().join("packaging/action").join(name)).unwrap();
            assert!(!text.contains("${{"), "{name}");
            assert!(name == "common.sh" || text.contains("\nset -euo pipefail\n"), "{name}");
        }
    }

    /// The actions of others that a workflow uses.
    fn used(text: &str) -> impl Iterator<Item = &str> {
        let uses =
            text.lines().filter_map(|line| line.trim().trim_start_matches("- ").strip_prefix("uses: "));
        uses.filter(|used| !used.starts_with("drome-bench/drome"))
    }

    /// Whether it is pinned by its hash, with the version beside it.
    fn is_pinned(used: &str) -> bool {
        let pin = used.split_once('@').and_then(|(_, pin)| pin.split_once(" # v"));
        let is_hash = |hash: &str| hash.len() == 40 && hash.chars().all(|c| c.is_ascii_hexdigit());
        pin.is_some_and(|(hash, version)| is_hash(hash) && version.contains('.'))
    }

    #[test]
    fn actions_of_others_are_pinned_by_their_hash_with_the_version() {
        let mut pinned = 0;
        for (file, text) in action_files() {
            for used in used(&text) {
                assert!(is_pinned(used), "{}: {used}", file.display());
                pinned += 1;
            }
        }
        assert_eq!(pinned, 2);
    }

    #[test]
    fn the_release_pins_its_actions_or_says_how_one_is_renewed() {
        let text = fs::read_to_string(root().join(".github/workflows/release.yml")).unwrap();
        for used in used(&text).filter(|used| !is_pinned(used)) {
            let (name, branch) = used.split_once('@').unwrap();
            let how = format!("`git ls-remote https://github.com/{name} {branch}`");
            assert!(text.contains(&how), "{used}: say {how}, or pin it");
        }
        assert!(
            text.contains("docker run --rm --privileged") && text.contains("debian:bookworm"),
            "needs root"
        );
    }

    #[test]
    fn the_job_that_runs_a_pull_request_may_write_nothing_and_the_one_that_writes_runs_none_of_it() {
        let of = |name: &str| fs::read_to_string(root().join(EXAMPLES).join(name)).unwrap();
        let (measure, comment) = (of("drome-measure.yml"), of("drome-comment.yml"));
        assert!(measure.contains("\non: pull_request\npermissions:\n  contents: read\n"));
        assert!(measure.contains("persist-credentials: false") && measure.contains("core.hooksPath"));
        for word in ["write", "secrets", "actions/cache", "pull_request_target"] {
            assert!(
                !measure.contains(&format!("{word}:")) && !measure.contains(&format!(": {word}")),
                "{word}"
            );
        }
        assert!(comment.contains("\non:\n  workflow_run:\n") && comment.contains("\npermissions: {}\n"));
        assert!(!comment.contains("checkout@") && !comment.contains("head_sha"));
    }

    #[test]
    fn the_guide_shows_the_examples_as_they_are() {
        let guide = fs::read_to_string(root().join("docs/guard-pull-requests.md")).unwrap();
        for file in files(&root().join(EXAMPLES), "yml").unwrap() {
            let text = fs::read_to_string(&file).unwrap();
            assert!(guide.contains(&format!("```yaml\n{text}```\n")), "{}", file.display());
        }
    }
}
