//! Keeps the number of test binaries small, because linking one takes longer than running it. So a crate's tests
//! are modules of `tests/suite/main.rs`, and only a test that needs its own process has its own binary.

use crate::files::entries;
use anyhow::Result;
use std::fs;
use std::path::Path;

/// Files and folders in `tests` that are separate test binaries, the reason for each, and whether it takes long.
const OF_THEIR_OWN: &[(&str, &str, bool)] = &[
    ("net/tests/allocations.rs", "has an allocator that counts", false),
    ("stats/tests/queues", "is run by itself, with a page of figures", true),
    ("stats/tests/simulation", "is run by itself, with a page of figures", true),
];

/// The names of the test binaries of all crates but `app` that take long, or that do not.
pub fn binaries(take_long: bool) -> impl Iterator<Item = &'static str> {
    let own = OF_THEIR_OWN.iter().filter(move |(.., is_long)| *is_long == take_long);
    let name = |path: &'static str| path.rsplit('/').next().unwrap_or_default().trim_end_matches(".rs");
    own.map(move |(path, ..)| name(path)).chain((!take_long).then_some("suite"))
}

/// Lists test files that are in no binary, so that they never run, and binaries that should be modules.
pub fn check(root: &Path, wrong: &mut Vec<String>) -> Result<()> {
    for member in entries(root)? {
        let tests = member.join("tests");
        if tests.is_dir() {
            check_binaries(root, &tests, wrong)?;
        }
    }
    Ok(())
}

fn check_binaries(root: &Path, tests: &Path, wrong: &mut Vec<String>) -> Result<()> {
    for path in entries(tests)? {
        let is_binary = path.extension().is_some_and(|e| e == "rs") || path.join("main.rs").is_file();
        let shown = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        if is_binary && !path.ends_with("suite") && !OF_THEIR_OWN.iter().any(|(own, ..)| *own == shown) {
            wrong.push(format!(
                "{shown} is a test binary of its own: make it a module of tests/suite/main.rs"
            ));
        }
        let main = path.join("main.rs");
        if main.is_file() {
            check_modules(root, &main, wrong)?;
        }
    }
    Ok(())
}

/// Checks that every file in the folder of `main.rs` is one of its modules.
fn check_modules(root: &Path, main: &Path, wrong: &mut Vec<String>) -> Result<()> {
    let text = fs::read_to_string(main)?;
    let folder = main.parent().unwrap_or(root);
    for path in entries(folder)? {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let is_module = path.extension().is_some_and(|e| e == "rs") && name != "main";
        if is_module && !names(&text, &name) {
            let shown = path.strip_prefix(root).unwrap_or(&path).display();
            wrong.push(format!("{shown} is never run: main.rs in its folder has no `mod {name};`"));
        }
    }
    Ok(())
}

fn names(main: &str, module: &str) -> bool {
    let wanted = format!("mod {module};");
    main.lines().any(|line| line.trim().trim_start_matches("pub ") == wanted)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    fn complaints(files: &[(&str, &str)]) -> Vec<String> {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let file = root.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let mut wrong = Vec::new();
        check(root.path(), &mut wrong).unwrap();
        wrong
    }

    #[test]
    fn a_suite_whose_files_are_its_modules_is_tidy() {
        let suite = [("a/tests/suite/main.rs", "mod one;\npub mod two;\n"), ("a/tests/suite/one.rs", "")];
        assert_eq!(
            complaints(&[&suite[..], &[("a/tests/suite/two.rs", ""), ("a/tests/data/x.txt", "")]].concat()),
            [""; 0]
        );
    }

    #[test]
    fn a_file_that_no_binary_has_and_a_binary_of_its_own_are_told() {
        let main = ("a/tests/suite/main.rs", "// mod one;\nmod others;\n");
        let wrong = complaints(&[main, ("a/tests/suite/one.rs", ""), ("a/tests/two.rs", "")]);
        assert!(wrong.iter().any(|w| w.contains("suite/one.rs is never run")), "{wrong:?}");
        assert!(wrong.iter().any(|w| w.contains("a/tests/two.rs is a test binary")), "{wrong:?}");
        assert_eq!(wrong.len(), 2, "{wrong:?}");
    }
}
