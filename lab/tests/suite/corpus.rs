//! The seeds of the fuzz targets, as tests. What a fuzzer found is among them.

#[path = "../oracle/messages.rs"]
mod messages;
#[path = "../oracle/mod.rs"]
mod oracle;
#[path = "../oracle/shared.rs"]
mod shared;

use messages::ANSWERS;
use std::path::Path;

/// Runs a check on every file of one target's seeds, and says which file it was that failed.
fn check_all(target: &str, least: usize, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus-seeds").join(target);
    let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= least, "{} has {} files", folder.display(), files.len());
    for file in files {
        println!("{}", file.display());
        check(&std::fs::read(&file).unwrap());
    }
}

#[test]
fn studies() {
    check_all("study", 8, oracle::check_study);
}

#[test]
fn contenders() {
    check_all("contender", 8, oracle::check_contender);
}

#[test]
fn workloads() {
    check_all("workload", 9, oracle::check_workload);
}

#[test]
fn shared_runs() {
    check_all("shared", 15, shared::check);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus-seeds/shared");
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        // Control characters are replaced; everything else that is not as it should be is refused.
        let is_good = name.starts_with("good") || name == "control-characters";
        assert_eq!(shared::is_good(&std::fs::read(&path).unwrap()), is_good, "{name}");
    }
}

#[test]
fn messages_between_machines() {
    check_all("messages", 34, messages::check);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus-seeds/messages");
    let seed = |name: &str| std::fs::read(folder.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    for (name, _) in ANSWERS {
        let name = format!("answer-{name}");
        assert!(messages::is(&name, &seed(&name)), "{name}");
    }
    // Questions are enums, with a seed for each of their requests.
    let requests = messages::requests();
    assert!(requests.len() > 20, "{requests:?}");
    for request in requests {
        let (question, name) = request.split_once('.').unwrap();
        let bytes = seed(&format!("question-{request}"));
        let is_it = String::from_utf8_lossy(&bytes).contains(&format!("\"{name}\""));
        assert!(is_it && messages::is(&format!("question-{question}"), &bytes), "{request}");
    }
    assert!(
        messages::is("part", &seed("question-loads.Prepare")),
        "this seed and `part-*` have no plan any more: add its new fields to them"
    );
    for wrong in ["part-with-a-path-of-another-machine", "part-with-gaps-below-0"] {
        assert!(!messages::is("part", &seed(wrong)), "{wrong}");
    }
}
