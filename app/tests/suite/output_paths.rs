//! Every option of every command that names a file or a folder to write: a place that can't be written to is found before anything is
//! asked for or started, and what was there stays if nothing was measured. Only a verdict of an earlier time goes at once.

use crate::common::counted::Counted;
use crate::common::{DROME, Home, run};
use std::fs;
use std::path::Path;

/// Places where no file can be written, for a file of this extension. `folder.EXT` is a folder.
const NO_FILES: [&str; 4] = ["none/x.EXT", "folder.EXT", "/proc/x.EXT", "file/x.EXT"];

/// Places where no folder can be.
const NO_FOLDERS: [&str; 3] = ["file", "/proc/x", "file/below"];

/// A folder in which a picture of the same name can't be replaced, because a folder has that name.
const TAKEN: &str = "taken";

/// A home with what the places need, and a command that leaves a mark if it is started.
fn place() -> (Home, String) {
    let home = Home::new();
    for extension in ["json", "csv", "md", "svg", "hdr", "txt"] {
        fs::create_dir(home.path().join(format!("folder.{extension}"))).unwrap();
    }
    fs::create_dir_all(home.path().join(TAKEN).join("heat.svg")).unwrap();
    home.write("file", "");
    let mark = home.path().join("mark");
    let command = format!("sh -c 'touch {}; exec {DROME} serve --port {{port}}'", mark.display());
    (home, command)
}

fn is_marked(home: &Home) -> bool {
    home.path().join("mark").exists()
}

/// Runs it in the home's folder, and checks that it refuses the place by the option's name, with the reason and the next step.
fn refused(home: &Home, args: &[&str], option: &str, place: &str) {
    let ended = run(home.drome(args).current_dir(home.path()));
    let is_named = ended.err.contains(option) && ended.err.contains(place);
    let is_folder = option.starts_with("--") && (place.starts_with("folder.") || place == TAKEN);
    let (why, next): (_, &[&str]) = if is_folder {
        ("can't be written: it is a folder", &["name a file in it"])
    } else {
        (
            "(os error ",
            &[
                "name a file in a folder that",
                "name a writable folder",
                "name one that is there",
                "choose another file",
            ],
        )
    };
    let is_told = ended.err.contains(why) && next.iter().any(|next| ended.err.contains(next));
    assert!(ended.code == 2 && is_named && is_told, "{args:?}: {} {}{}", ended.code, ended.out, ended.err);
}

#[test]
fn load_and_the_older_tools_ask_nothing_before_their_files_are_tried() {
    let (home, _) = place();
    let server = Counted::new(&[]);
    let url = server.url();
    for (option, extension) in
        [("--output", "json"), ("--series", "csv"), ("--hdr", "hdr"), ("--profile", "svg")]
    {
        for place in NO_FILES.map(|place| place.replace("EXT", extension)) {
            refused(&home, &["load", &url, "-n", "5", option, &place], option, &place);
        }
    }
    let tools: [(&str, &[&str]); 8] = [
        ("ab", &["-n5"]),
        ("siege", &["-r1", "-c1"]),
        ("wrk", &["-d1"]),
        ("wrk2", &["-d1", "-R5"]),
        ("http_load", &["-p", "1", "-f", "1"]),
        ("weighttp", &["-n5"]),
        ("h2load", &["-n5"]),
        ("httperf", &["--num-conns=1"]),
    ];
    for place in NO_FILES.map(|place| place.replace("EXT", "json")) {
        for (tool, args) in tools {
            let target: &[&str] = if tool == "httperf" { &[] } else { &[&url] };
            refused(&home, &[&[tool, "--drome-json", &place], args, target].concat(), "--drome-json", &place);
        }
        refused(&home, &["ab", "-n5", "-e", &place, &url], "-e", &place);
        refused(&home, &["ab", "-n5", "-g", &place, &url], "-g", &place);
    }
    assert_eq!(server.answers(), 0);
}

#[test]
fn races_sweeps_and_runs_start_nothing_before_their_files_are_tried() {
    let (home, command) = place();
    let race = ["race", &command, &command, "--budget", "10s"];
    let sweep = ["sweep", "--start", &command, "--keep", "p99<50ms", "--budget", "10s"];
    let contender = home.path().join("mark");
    home.add_contender("marked", &format!("sh -c 'touch {}; sleep 9'", contender.display()));
    let study = ["run", "snap-pong", "--quick", "--contender", "marked"];
    let files: &[(&[&str], &str, &str, &[&str])] = &[
        (&race, "--output", "json", &[]),
        (&race, "--export", "json", &[]),
        (&race, "--verdict", "json", &["--fail-if-slower", "2%"]),
        (&sweep, "--output", "json", &[]),
        (&sweep, "--export", "csv", &[]),
        (&sweep, "--chart", "svg", &[]),
        (&study, "--output", "md", &[]),
        (&["verify", "marked"], "--output", "json", &[]),
        (&["doctor"], "--output", "json", &[]),
    ];
    for (args, option, extension, more) in files {
        for place in NO_FILES.map(|place| place.replace("EXT", extension)) {
            refused(&home, &[args, *more, &[*option, place.as_str()]].concat(), option, &place);
        }
    }
    let folders: &[(&[&str], &str)] = &[
        (&[&race[..], &["--format", "markdown"]].concat(), "--charts"),
        (&race, "--profile"),
        (&[&study[..], &["--format", "markdown"]].concat(), "--charts"),
        (&study, "--profile"),
        (&["heat", "plan", "snap-pong", "--quick", "--contender", "marked"], "--output"),
    ];
    for (args, option) in folders {
        for place in NO_FOLDERS.iter().chain((*option == "--charts").then_some(&TAKEN)) {
            refused(&home, &[args, &[*option, place][..]].concat(), option, place);
        }
    }
    assert!(!is_marked(&home), "nothing is started");
    let stored = run(&mut home.drome(&["list", "runs"]));
    assert!(!stored.out.contains("snap-pong"), "{}", stored.out);
}

#[test]
fn what_was_there_stays_if_nothing_was_measured() {
    let (home, _) = place();
    let names = ["o.json", "s.csv", "h.hdr", "e.csv", "g.txt", "d.json"];
    names.iter().for_each(|name| drop(home.write(name, "kept")));
    let nobody = "http://127.0.0.1:1/";
    let cases: [&[&str]; 3] = [
        &["load", nobody, "-n", "1", "--output", "o.json", "--series", "s.csv", "--hdr", "h.hdr"],
        &["ab", "-n1", "-e", "e.csv", "-g", "g.txt", "--drome-json", "d.json", nobody],
        &["wrk", "-d1", "--drome-json", "d.json", nobody],
    ];
    for args in cases {
        let ended = run(home.drome(args).current_dir(home.path()));
        assert_ne!(ended.code, 0, "{args:?}: {}", ended.out);
    }
    for name in names {
        assert_eq!(fs::read_to_string(home.path().join(name)).unwrap(), "kept", "{name}");
    }
    let left: Vec<_> = fs::read_dir(home.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().starts_with(".drome-")), "{left:?}");
}

#[test]
fn no_verdict_of_an_earlier_time_survives_a_failed_run() {
    let (home, _) = place();
    let file = home.path().join("old.json");
    home.write("drome.toml", "this is no TOML = =");
    let gate = ["--fail-if-slower", "2%", "--verdict", "old.json"];
    let cases: [&[&str]; 7] = [
        &["race", "false", "false"],
        &["race", "only one"],
        &["race", "--rev", "one", "--rev", "two", "--start", "x {port}"],
        &["race"],
        &["race", "false", "false", "--output", "none/x.json"],
        &["race", "http://127.0.0.1:1/", "http://127.0.0.1:2/"],
        &["compare", "no-such-run", "nor-this"],
    ];
    for args in cases {
        fs::write(&file, "stale").unwrap();
        let ended = run(home.drome(args).args(gate).current_dir(home.path()));
        assert_ne!(ended.code, 0, "{args:?}: {}{}", ended.out, ended.err);
        assert!(!Path::new(&file).exists(), "{args:?}: {}", ended.err);
    }
}
