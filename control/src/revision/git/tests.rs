//! Tests with repositories that git makes.

use super::*;
use crate::poll_while::poll_until;
use crate::processes::tree::Tree;
use std::os::unix::fs::symlink;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// A repository with one commit of these files.
struct Made {
    home: tempfile::TempDir,
}

impl Made {
    fn new(files: &[&str]) -> Self {
        let made = Self { home: tempfile::tempdir().unwrap() };
        fs::create_dir(made.root()).unwrap();
        made.git(&["init", "--quiet"]);
        for file in files {
            made.write(file, file);
        }
        made.commit(&[]);
        made
    }

    fn root(&self) -> PathBuf {
        self.home.path().join("repository")
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.root().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Runs git with nothing of the user's own configuration that commits need.
    fn git(&self, args: &[&str]) {
        let settings = ["user.name=A", "user.email=a@localhost", "commit.gpgsign=false"];
        let settings = settings.iter().flat_map(|setting| ["-c", setting]);
        git(&self.root(), &settings.chain(args.iter().copied()).collect::<Vec<_>>()).unwrap();
    }

    /// Commits everything.
    fn commit(&self, args: &[&str]) {
        self.git(&["add", "--all"]);
        self.git(&[&["commit", "--quiet", "--message", "a commit"], args].concat());
    }

    fn repository(&self) -> Repository {
        Repository::of(&self.root()).unwrap()
    }

    /// The files and links of the working tree when it is checked out, by name.
    fn checked_out(&self) -> Vec<String> {
        let (repository, into) = (self.repository(), self.home.path().join("checkout"));
        let lock = Lock::take(&self.home.path().join("lock")).unwrap();
        let revision = repository.revision(WORKING_TREE).unwrap();
        repository.check_out(&revision, &into, &lock, &AtomicBool::new(false)).unwrap();
        repository.forget(&into).unwrap();
        let mut found = Vec::new();
        find(&into, &into, &mut found);
        fs::remove_dir_all(&into).unwrap();
        found.sort();
        found
    }
}

fn find(root: &Path, folder: &Path, found: &mut Vec<String>) {
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if fs::symlink_metadata(&path).unwrap().is_dir() {
            find(root, &path, found);
        } else {
            found.push(path.strip_prefix(root).unwrap().display().to_string());
        }
    }
}

#[test]
fn what_is_gone_from_the_working_tree_is_gone_from_its_checkout_staged_or_not() {
    let made = Made::new(&["deleted", "kept", "moved", "staged", "untracked"]);
    made.write(".gitignore", "untracked\n");
    fs::remove_file(made.root().join("deleted")).unwrap();
    made.git(&["rm", "--quiet", "staged"]);
    made.git(&["mv", "moved", "new"]);
    made.git(&["rm", "--quiet", "--cached", "untracked"]);
    assert_eq!(made.checked_out(), [".gitignore", "kept", "new"]);
}

#[test]
fn a_folder_may_have_become_a_file_and_a_file_a_folder() {
    for is_staged in [false, true] {
        let made = Made::new(&["file", "folder/below/a", "folder/b"]);
        fs::remove_dir_all(made.root().join("folder")).unwrap();
        made.write("folder", "now a file");
        fs::remove_file(made.root().join("file")).unwrap();
        made.write("file/below/c", "now a folder");
        if is_staged {
            made.git(&["add", "--all"]);
        }
        assert_eq!(made.checked_out(), ["file/below/c", "folder"], "staged: {is_staged}");
    }
}

#[test]
fn what_lies_behind_a_link_is_neither_copied_nor_touched() {
    let made = Made::new(&["folder/a", "other/a"]);
    let outside = made.home.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("a"), "the user's").unwrap();
    fs::remove_dir_all(made.root().join("folder")).unwrap();
    symlink(&outside, made.root().join("folder")).unwrap();
    // Git still tracks `folder/a`.
    assert_eq!(made.checked_out(), ["folder", "other/a"]);
    assert_eq!(fs::read_to_string(outside.join("a")).unwrap(), "the user's");
}

#[test]
fn nothing_of_a_submodule_is_gone_that_the_user_has_not_checked_out() {
    let (made, checkout) = (Made::new(&["a"]), tempfile::tempdir().unwrap());
    for folder in [checkout.path(), &made.root()] {
        fs::create_dir_all(folder.join("part/below")).unwrap();
    }
    fs::write(checkout.path().join("part/.git"), "gitdir: elsewhere").unwrap();
    let is_kept = |file: &str| made.repository().is_in_absent_submodule(Path::new(file), checkout.path());
    assert!(is_kept("part/b") && is_kept("part/below/c") && !is_kept("a") && !is_kept("part"));
    fs::create_dir(made.root().join("part/.git")).unwrap();
    assert!(!is_kept("part/b"), "the user has it");
    fs::remove_dir_all(made.root().join("part")).unwrap();
    assert!(!is_kept("part/b"), "the user has removed it");
}

#[test]
fn revisions_are_the_same_if_their_files_are() {
    let made = Made::new(&["a"]);
    made.commit(&["--allow-empty"]);
    made.write("a", "changed");
    made.commit(&[]);
    made.git(&["revert", "--no-edit", "HEAD"]);
    let repository = made.repository();
    let of = |name: &str| repository.revision(name).unwrap();
    let [first, empty, changed, reverted, tree] = ["HEAD~3", "HEAD~2", "HEAD~1", "HEAD", "."].map(of);
    assert!(first.is_same(&empty) && first.is_same(&reverted) && reverted.is_same(&first));
    assert!(first.is_same(&tree) && !first.is_same(&changed) && !changed.is_same(&tree));
    made.write("new", "");
    let tree = repository.revision(".").unwrap();
    assert!(!tree.is_same(&reverted) && !tree.is_same(&first) && tree.is_same(&tree));
}

#[test]
fn git_that_hangs_ends_when_drome_is_asked_to_stop_with_what_it_started() {
    let (made, stop) = (Made::new(&["a"]), AtomicBool::new(false));
    let (file, begun) = (made.home.path().join("pid"), Instant::now());
    let hang = format!("alias.hang=!echo $$ > {0}.new; mv {0}.new {0}; sleep 30; :", file.display());
    let ended = std::thread::scope(|scope| {
        scope.spawn(|| {
            assert!(poll_until(begun + Duration::from_mins(1), || file.exists()));
            stop.store(true, Ordering::Relaxed);
        });
        git_reading(Stdio::null(), &made.root(), &["-c", &hang, "hang"], &stop)
    });
    assert!(matches!(ended, Err(RevisionError::Interrupted)), "{ended:?}");
    let shell = text(line(&fs::read(&file).unwrap()));
    let is_gone = || tree::pids(&Tree::From(shell.parse().unwrap())).is_empty();
    assert!(poll_until(begun + Duration::from_secs(20), is_gone), "process {shell}");
}
