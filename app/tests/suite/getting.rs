//! Failures while contenders are installed and built: registries that don't answer, full disks, builds that change the pinned
//! versions. Each is reported with its log and the next step, and holds up no other contender.

use crate::common::{Finished, Home, assert_has, catalog, process, run, trials, wait_for};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Nothing listens there.
const NOWHERE: &str = "http://127.0.0.1:1";

/// A contender that `build` makes, in the version that the file `version` has; drome's own server does its work.
fn contender(home: &Home, name: &str, build: &str) {
    let version = home.write("version", "1.0").display().to_string();
    let own = format!(
        "[build]\ncommand = [\"sh\", \"-c\", \"{build}\"]\n[version]\ncommand = [\"cat\", \"{version}\"]"
    );
    let text = catalog::contender(name, catalog::SERVES);
    home.write_contender(name, &text.replace("[version]\ncommand = [\"echo\", \"1.0\"]", &own));
    home.write(&format!("own/contenders/{name}/src/lock.txt"), "dependency 1.0\n");
}

fn drome(home: &Home, args: &[&str]) -> Finished {
    run(&mut home.with_catalog(args))
}

fn is_there(program: &str, args: &[&str]) -> bool {
    Command::new(program).args(args).output().is_ok_and(|output| output.status.success())
}

/// A contender of each registry whose tool this machine has.
fn of_registries() -> Vec<&'static str> {
    let all = [
        ("gunicorn-flask", is_there("python3", &["-c", "import venv, ensurepip"])),
        ("express", is_there("node", &["--version"]) && is_there("npm", &["--version"])),
        ("rust-hyper", is_there("cargo", &["--version"])),
        ("go-fasthttp", is_there("go", &["version"])),
        ("jetty", is_there("mvn", &["--version"]) && is_there("javac", &["--version"])),
    ];
    all.into_iter().filter(|(_, is_there)| *is_there).map(|(name, _)| name).collect()
}

/// No registry is reached, and no cache of theirs is used; each tool tries once.
fn cut_off(home: &Home, command: &mut Command) {
    let empty = home.path().join("empty");
    let user = home.path().join("user");
    home.write(
        "user/.m2/settings.xml",
        &format!(
            "<settings><mirrors><mirror><id>nowhere</id><mirrorOf>*</mirrorOf><url>{NOWHERE}</url></mirror></mirrors></settings>"
        ),
    );
    command
        .envs([
            ("HTTP_PROXY", NOWHERE),
            ("HTTPS_PROXY", NOWHERE),
            ("http_proxy", NOWHERE),
            ("https_proxy", NOWHERE),
        ])
        .envs([("PIP_INDEX_URL", NOWHERE), ("PIP_RETRIES", "0"), ("PIP_CONFIG_FILE", "/dev/null")])
        .envs([("npm_config_registry", NOWHERE), ("npm_config_fetch_retries", "0")])
        .env("npm_config_cache", empty.join("npm"))
        .envs([("CARGO_HTTP_PROXY", NOWHERE), ("CARGO_NET_RETRY", "0")])
        .env("CARGO_HOME", empty.join("cargo"))
        .envs([("GOPROXY", NOWHERE), ("GOFLAGS", "-modcacherw"), ("GONOSUMDB", "*")])
        .env("GOMODCACHE", empty.join("go"))
        .env("MAVEN_OPTS", format!("-Duser.home={}", user.display()));
}

#[test]
fn a_registry_that_is_not_reached_is_said_with_the_log_and_the_next_step_and_the_others_are_got() {
    let home = Home::new();
    contender(&home, "fine", "true");
    let names = of_registries();
    assert!(names.contains(&"rust-hyper"), "cargo is there, or this test would not be");
    let mut install = home.with_catalog(&[&["install", "--yes", "fine"], &names[..]].concat());
    cut_off(&home, &mut install);
    let finished = run(&mut install);
    assert_eq!(finished.code, 1, "{}{}", finished.out, finished.err);
    assert!(
        finished.out.lines().any(|line| line.starts_with("fine") && line.ends_with("1.0")),
        "{}",
        finished.out
    );
    for name in names {
        let of_it = finished
            .err
            .split("drome: ")
            .find(|part| part.starts_with(&format!("{name}: its build failed (")));
        let of_it = of_it.unwrap_or_else(|| panic!("{name} is not told of:\n{}", finished.err));
        let next = format!(
            "it could not reach the registry: check the network or the proxy (HTTPS_PROXY), then `drome install {name}`"
        );
        assert_has(of_it, &["the last lines of its log, ", "build.log:\n", &next]);
        assert!(
            finished.out.lines().any(|line| line.starts_with(name) && line.contains("it is not built yet"))
        );
    }
}

#[test]
fn a_run_goes_on_without_those_that_could_not_be_got() {
    let home = Home::new();
    contender(&home, "fine", "true");
    contender(&home, "offline", "echo curl: Could not resolve host: example.org >&2; exit 6");
    contender(&home, "full", "echo ld: No space left on device >&2; exit 1");
    home.add_study("one", &["offline", "full", "fine"], 3);
    let finished = drome(&home, &["run", "one", "--install", "--yes", "--format", "markdown"]);
    let full = "the disk is full: free some space, or set DROME_CACHE to a folder on another disk, then `drome install full`";
    let absent = "offline does not take part: it is not built yet; get it: run the study with --install";
    finished.assert_err(
        0,
        &[
            "offline: its build failed (exit status: 6)",
            "Could not resolve host: example.org",
            "then `drome install offline`",
            full,
            absent,
            "1 contender and the reference",
        ],
    );
    assert!(
        finished.out.contains("| fine 1.0 |") && finished.out.contains("- full: it is not built yet"),
        "{}",
        finished.out
    );
    home.assert_clean();
}

#[test]
fn a_cache_that_can_not_be_written_is_said_with_the_remedy() {
    let home = Home::new();
    contender(&home, "fine", "true");
    let own = home.path().join("own").display().to_string();
    // A limit on the size of files stands for a disk that is full.
    let script = "trap '' XFSZ; ulimit -f 0; exec \"$@\"";
    let mut full = Command::new("sh");
    full.args(["-c", script, "sh", env!("CARGO_BIN_EXE_drome"), "verify", "fine", "--catalog", &own]);
    let finished = run(full.env("DROME_CACHE", home.path().join("cache")));
    finished.assert_err(1, &["can't write the cache folder", "free some space"]);
    // Once there is room again, nothing is in the way.
    let finished = drome(&home, &["verify", "fine", "--install", "--yes"]);
    assert_eq!(finished.code, 0, "{}{}", finished.out, finished.err);
    for store in ["/dev/full", "/proc/self/store"] {
        let finished = drome(&home, &["run", "raspberry-pi", "--contender", "node", "--store", store]);
        finished.assert_err(1, &[store, "--store FILE"]);
    }
}

/// The contender's folder in the cache.
fn cached(home: &Home, name: &str) -> PathBuf {
    let all = fs::read_dir(home.path().join("cache/contenders")).unwrap().flatten().map(|entry| entry.path());
    let is_it = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with(name);
    all.into_iter().find(is_it).unwrap()
}

#[test]
fn a_build_of_another_version_is_made_anew() {
    let home = Home::new();
    contender(&home, "pinned", "cat lock.txt >> {build}/made");
    assert_eq!(drome(&home, &["install", "pinned", "--yes"]).code, 0);
    home.write("version", "2.0");
    let finished = drome(&home, &["verify", "pinned"]);
    let words =
        "it was built as 1.0 and is 2.0 now, so it must be built again; get it: run the study with --install";
    finished.assert_out(1, &[words]);
    let finished = drome(&home, &["verify", "pinned", "--install", "--yes"]);
    finished.assert_out(0, &["2.0"]);
    let folder = cached(&home, "pinned");
    assert_eq!(
        fs::read_to_string(folder.join("build/made")).unwrap(),
        "dependency 1.0\n",
        "what was made before is gone"
    );

    // Somebody has changed the lock in the cache folder: it is written again, and what was built is not trusted.
    fs::write(folder.join("src/lock.txt"), "dependency 6.6\n").unwrap();
    let finished = drome(&home, &["verify", "pinned"]);
    finished.assert_out(1, &["it is not built yet"]);
    assert_eq!(drome(&home, &["install", "pinned", "--yes"]).code, 0);
    assert!(fs::read_to_string(folder.join("build/made")).unwrap().ends_with("dependency 1.0\n"));
}

#[test]
fn a_build_that_changes_its_own_lock_is_refused() {
    let home = Home::new();
    contender(&home, "loose", "echo dependency 2.0 > lock.txt");
    for _ in 0..2 {
        let finished = drome(&home, &["install", "loose", "--yes"]);
        finished.assert_err(1, &["loose: its build changed its own `lock.txt`", "cargo --locked"]);
    }
    assert!(drome(&home, &["install", "loose", "--yes"]).out.contains("missing: it is not built yet"));
}

#[test]
fn a_run_does_not_go_on_with_another_version() {
    let home = Home::new();
    contender(&home, "pinned", "true");
    assert_eq!(drome(&home, &["install", "pinned", "--yes"]).code, 0);
    home.add_study("one", &["pinned"], 30);
    let mut child = process::spawn_unheard(&mut home.with_catalog(&["run", "one"]));
    wait_for(|| trials(&home) >= 2, "two trials");
    child.kill().unwrap();
    process::wait(&mut child);
    home.write("version", "2.0");
    let finished = drome(&home, &["run", "one", "--resume", "--install", "--yes"]);
    finished
        .assert_err(2, &["can't be resumed: pinned was 1.0 and is 2.0", "start a new run without --resume"]);
}
