//! All automation. `cargo xtask ci` is what CI runs, and what you run before a commit.

mod bench;
mod docs;
mod english;
mod fuzz;
mod packages;
mod selftest;
mod site;
mod soak;
mod suites;
mod testing;
mod tidy;
mod vendor;

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const HELP: &str = "cargo xtask COMMAND
  ci      everything that CI checks: format, lints, tidiness, tests, the website
  test    installs the Debian packages that the tests need, and runs all tests, with --fast those of two minutes;
          verifies Monkey and OpenResty if their sources are in ../shared/vendor or DROME_VENDOR
  screenshots  pictures of the local page and of the HTML report, into docs/screenshots
  bench   cost of drome compared with a bare loop and other tools on this machine, as a Markdown table; --help says more
  kills   kills `drome run` at a hundred random moments and resumes it; `kills 1000 7`: a thousand times, with seed 7
  selftest  checks drome's own verdicts: races and a search between servers whose difference is known
  soak    checks that descriptors, threads and memory of drome stay constant for half an hour; --help says more
  fuzz    every fuzz target for 20 seconds; `fuzz 600 request` runs one for ten minutes
  docs    the reference pages in docs/reference, and man pages and completions in target/
  site    the documentation as a website in target/site, with all its links checked; uses mdbook from PATH, or
          installs it into target/tools
  tidy    lengths of files, directions of dependencies, left-overs
";

fn main() -> ExitCode {
    let command = std::env::args().nth(1).unwrap_or_default();
    let rest: Vec<String> = std::env::args().skip(2).collect();
    let result = match command.as_str() {
        "ci" => ci(),
        "test" => testing::test(&rest),
        "screenshots" => screenshots(),
        "bench" => bench::bench(&rest),
        "kills" => kills(&rest),
        "selftest" => selftest::selftest(&rest),
        "soak" => soak::soak(&rest),
        "fuzz" => fuzz::fuzz(&rest),
        "docs" => docs::docs(),
        "site" => site::site(),
        "tidy" => tidy::check(&root()),
        _ => {
            eprint!("{HELP}");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn ci() -> Result<()> {
    run("cargo", &["fmt", "--all", "--check"])?;
    tidy::check(&root())?;
    run("cargo", &["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"])?;
    testing::test(&[])?;
    site::site()
}

/// Runs the suite's test of kills with more kills.
fn kills(args: &[String]) -> Result<()> {
    let (kills, seed) = match args {
        [] => ("100", "1"),
        [kills] => (kills.as_str(), "1"),
        [kills, seed, ..] => (kills.as_str(), seed.as_str()),
    };
    for number in [kills, seed] {
        number
            .parse::<u64>()
            .with_context(|| format!("kills takes a number of kills and a seed, not `{number}`"))?;
    }
    let (kills, seed) = (format!("DROME_TEST_KILLS={kills}"), format!("DROME_TEST_SEED={seed}"));
    let test = [
        "cargo",
        "test",
        "--locked",
        "--package",
        "drome",
        "--test",
        "suite",
        "--",
        "--nocapture",
        "kills::",
    ];
    run("env", &[&[kills.as_str(), seed.as_str()], &test[..]].concat())
}

/// Runs the browser tests that take the pictures. They measure a small study for it.
fn screenshots() -> Result<()> {
    packages::ensure(packages::OF_TESTS)?;
    let folder = format!("DROME_SCREENSHOTS={}", root().join("docs/screenshots").display());
    let test = [
        "cargo",
        "test",
        "--locked",
        "--package",
        "drome",
        "--test",
        "suite",
        "--",
        "--ignored",
        "browser::",
    ];
    run("env", &[&[folder.as_str()], &test[..]].concat())
}

/// Runs a command in the workspace's folder and shows what it prints, on standard error.
fn run(program: &str, args: &[&str]) -> Result<()> {
    let shown = format!("{program} {}", args.join(" "));
    eprintln!("$ {shown}");
    // Standard output is reserved for the xtask's own output.
    let status = Command::new(program).args(args).current_dir(root()).stdout(std::io::stderr()).status();
    match status.with_context(|| format!("can't run `{shown}`"))? {
        status if status.success() => Ok(()),
        status => bail!("`{shown}` failed ({status})"),
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new(".")).to_owned()
}
