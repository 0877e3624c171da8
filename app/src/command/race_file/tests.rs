//! Tests of the file, and of what it says with a command line.

use super::*;
use clap::{Args, FromArgMatches};

fn race(text: &str) -> RaceFile {
    toml::from_str(text).unwrap()
}

/// What a command line says.
fn given(words: &[&str]) -> RaceSettings {
    let command = RaceSettings::augment_args(clap::Command::new("race").no_binary_name(true));
    RaceSettings::from_arg_matches(&command.try_get_matches_from(words).unwrap()).unwrap()
}

/// The words of the file's only race that a command line lacks.
fn words(text: &str, line: &[&str]) -> Result<Vec<String>, String> {
    let given = given(line);
    let mut races = race(text).races(&given)?;
    assert_eq!(races.len(), 1);
    Ok(races.remove(0).settings.words(&given))
}

#[test]
fn keys_are_options_and_the_command_line_replaces_a_list() {
    let text = "[race]\nrev = [\"main\", \".\"]\nstart = \"./x {port}\"\nfail_if_slower = \"2%\"\n";
    let text = format!("{text}ready = \"1min\"\n");
    let options = ["--rev=main", "--rev=.", "--start=./x {port}", "--ready=1m", "--fail-if-slower=0.02"];
    assert_eq!(words(&text, &["--url=x"]).unwrap(), options);
    assert_eq!(words(&text, &["--rev=v1"]).unwrap(), options[2..]);
    assert_eq!(words(&text, &["--rev", "v1"]).unwrap(), options[2..]);
    assert_eq!(words(&text, &["--ready=2s", "--fail-if-slower=1%"]).unwrap(), options[..3]);
    let line = given(&["--rev=v1", "--start=./y {port}"]);
    let merged = line.clone().or(race(&text).races(&line).unwrap().remove(0).settings);
    assert_eq!((merged.rev, merged.start.as_deref()), (vec!["v1".to_owned()], Some("./y {port}")));
    assert_eq!(merged.fail_if_slower.map(|share| share.0), Some(0.02));
}

#[test]
fn urls_are_arguments_and_stand_alone() {
    let urls = "[race]\nurls = [\"http://a:1/\", \"http://b:2/\"]\nconnections = 8\n";
    assert_eq!(words(urls, &[]).unwrap(), ["http://a:1/", "http://b:2/", "--connections=8"]);
    let why = |text: &str, line: &[&str]| words(text, line).unwrap_err();
    assert!(why(urls, &["--rev=v1"]).contains("--rev needs --start"));
    let started = format!("{urls}build = \"make\"\nstart = \"./x {{port}}\"\n");
    assert!(why(&started, &[]).contains("already run: leave out `build`, `start`"));
    let command = "[race]\nurls = [\"http://a:1/\", \"./x {port}\"]\n";
    assert!(why(command, &[]).contains("`urls` has `./x {port}`, which is no URL of a server"));
    assert_eq!(why("[race]\nconnections = 8\n", &[]), NOTHING);
    assert!(why("[race]\nrev = [\"main\", \".\"]\n", &[]).starts_with("`rev` needs `start`"));
}

#[test]
fn servers_are_named_in_one_way() {
    let why = |keys: &str, line: &[&str]| {
        words(&format!("[race]\n{keys}\n"), line).map_or_else(|why| why, |words| words.join(" "))
    };
    let (revs, images, urls) = ("rev = [\"a\"]", "images = [\"a\"]", "urls = [\"http://a/\"]");
    let started = format!("{revs}\nstart = \"x {{port}}\"");
    for (two, names) in [
        (format!("{started}\n{urls}"), "`rev` and `urls` name different servers"),
        (format!("{started}\n{images}"), "`rev` and `images` name different servers"),
        (format!("{images}\n{urls}"), "`images` and `urls` name different servers"),
    ] {
        assert!(why(&two, &[]).contains(names), "{two}");
    }
    let image = ["--image", "b"];
    assert!(
        why(&started, &image)
            .contains("`rev` in this file and --image on the command line name different servers")
    );
    assert!(why(urls, &image).contains("without this file, --image needs --start or --env"));
    assert!(why(images, &["--rev=b"]).contains("without this file, --rev needs --start"));
    assert!(why(&format!("{images}\nbuild = \"make\""), &[]).contains("already built: leave out `build`"));
    assert!(why(&format!("{started}\nenv = [\"A=1\"]"), &[]).contains("leave out `env`"));
    // The servers are those of the command line, the rest is the file's.
    assert_eq!(why("start = \"x {port}\"", &["--rev", "b"]), "--start=x {port}");
    assert_eq!(why("env = [\"P={port}\"]", &image), "--env=P={port}");
    assert_eq!(why(revs, &["--rev=b", "--start=y {port}"]), "");
}

#[test]
fn a_race_of_images_is_a_list_of_them() {
    let text = "[race]\nimages = [\"a:1\", \"a:2\"]\nenv = [\"PORT={port}\"]\ncontainer_args = [\"--memory=1g\"]\n\
                container_tool = \"podman --runtime runc\"\n";
    let options = [
        "--image=a:1",
        "--image=a:2",
        "--env=PORT={port}",
        "--container-arg=--memory=1g",
        "--container-tool=podman --runtime runc",
    ];
    assert_eq!(words(text, &[]).unwrap(), options);
    assert_eq!(words(text, &["--image=b"]).unwrap(), options[2..]);
}

#[test]
fn an_unknown_key_is_an_error_that_names_it() {
    let error = toml::from_str::<RaceFile>("[race]\nrev = []\nstart = \"\"\nstrat = 1\n").unwrap_err();
    assert!(error.to_string().contains("strat"), "{error}");
}

#[test]
fn a_value_is_read_as_that_of_its_option() {
    for (key, why) in [
        ("fail_if_slower = \"200%\"", "must be a share from 0 to below 1"),
        ("metric = \"p99\"", "needs the rate"),
        ("ready = \"soon\"", "expected number"),
        ("connections = 0", "nonzero"),
    ] {
        let error = toml::from_str::<RaceFile>(&format!("[race]\n{key}\n")).unwrap_err().to_string();
        assert!(error.contains(why) && error.contains("line 2"), "{error}");
    }
}

#[test]
fn what_new_race_writes_is_a_file_of_this_form() {
    let options = words(TEMPLATE, &[]).unwrap();
    assert!(options.contains(&"--rev=main".to_owned()) && options.iter().any(|o| o.contains("{port}")));
}

#[test]
fn each_cell_is_a_race_with_its_own_options() {
    let line = given(&[]);
    let file = |text: &str| race(text).races(&line);
    let race = "[race]\nrev = [\"main\", \".\"]\nstart = \"./x {port}\"\nfail_if_slower = \"2%\"\n";
    let cells = "[[cell]]\ntitle = \"hello\"\n[[cell]]\ntitle = \"p99 of JSON\"\nurl = \"http://127.0.0.1:{port}/json\"\n\
                 metric = \"p99@5k\"\nconnections = 8\nno_keepalive = true\nfail_if_slower = \"10%\"\n\
                 budget = \"5min\"\n";
    let shared = ["--rev=main", "--rev=.", "--start=./x {port}"];
    let all = file(&format!("{race}{cells}")).unwrap();
    assert_eq!((all.len(), all[0].title.as_deref()), (2, Some("hello")));
    assert_eq!(all[0].settings.words(&line), [&shared[..], &["--fail-if-slower=0.02"]].concat());
    let own = [
        "--url=http://127.0.0.1:{port}/json",
        "--connections=8",
        "--metric=p99@5000",
        "--fail-if-slower=0.1",
        "--budget=5m",
        "--no-keepalive",
    ];
    assert_eq!(all[1].settings.words(&line), [&shared[..], &own].concat());
    let kept = format!(
        "{race}no_keepalive = true\n[[cell]]\ntitle = \"kept\"\nno_keepalive = false\n[[cell]]\ntitle = \"new\"\n"
    );
    let kept = file(&kept).unwrap().into_iter().map(|race| race.settings.no_keepalive).collect::<Vec<_>>();
    assert_eq!(kept, [Some(false), Some(true)], "a cell says the last word");
    let twice = format!("{race}[[cell]]\ntitle = \"a\"\n[[cell]]\ntitle = \"a\"\n");
    assert!(file(&twice).unwrap_err().contains("two cells have the title `a`"));
    assert!(file(&format!("{race}[[cell]]\ntitle = \" \"\n")).unwrap_err().contains("a cell has no title"));
    let urls =
        "[race]\nurls = [\"http://a:1/\", \"http://b:2/\"]\n[[cell]]\ntitle = \"a\"\nurl = \"http://c/\"\n";
    assert!(file(urls).unwrap_err().contains("cell `a`: `urls` already say"));
}
