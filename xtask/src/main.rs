//! All automation. `cargo xtask ci` is what CI runs, and what you run before a commit.

mod circles;
mod dist;
mod docs;
mod english;
mod files;
mod fuzz;
mod links;
mod python;
mod site;
mod suites;
mod testing;
mod tidy;
mod vendor;
mod workflows;

use anyhow::{Context, Result, anyhow};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use xtask::{built_drome, command, packages, printed, root, run, run_command, target};

const HELP: &str = "cargo xtask COMMAND
  ci      everything that CI checks: format, lints, tidiness, workflows (with Go), tests, the Python package, the website
  test    installs the Debian packages that the tests need, and runs all tests, with --fast those of two minutes;
          verifies Monkey and OpenResty if their sources are in ../shared/vendor or DROME_VENDOR
  screenshots  pictures of the local page and of the HTML report, into docs/screenshots
  bench   cost of drome compared with a bare loop and other tools on this machine, as a Markdown table; --help says more
  kills   kills `drome run` at a hundred random moments and resumes it; `kills 1000 7`: a thousand times, with seed 7
  guard     checks the verdicts on commits whose effect on a server is known; --help says more
  profiles  checks profiles of servers in C, Rust, Go, Node.js and Python that know what their answers cost; --overhead: what sampling costs
  selftest  checks drome's findings with servers whose difference or capacity is known; --help says more
  soak    checks that descriptors, threads and memory of drome stay constant for half an hour; --help says more
  fuzz    every fuzz target for 20 seconds; `fuzz 600 request` runs one for ten minutes
  python  checks and tests the Python package, on Ray clusters on this machine; --scale prints figures
  docs    the reference pages in docs/reference, the schemas in docs/schemas, man pages and completions in target/
  site    the documentation as a website in target/site, with all its links checked; uses mdbook from PATH, or
          installs it into target/tools
  dist    everything that a release consists of, in target/downloads: static binaries, packages, crates, licences, checksums
  installs  installs drome from each package in a clean Debian, builds the container image, and runs a race in each
  emulated  unit tests, `drome serve`, `drome load` and a race on an emulated 64-bit ARM
  tidy    lengths of files, directions of dependencies, circles of imports, left-overs
";

/// Commands that would otherwise do for minutes what an argument such as `--help` did not ask for.
const TAKES_NOTHING: [&str; 6] = ["ci", "screenshots", "docs", "site", "emulated", "tidy"];

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned());
    let command = words.next().unwrap_or_default();
    let rest: Vec<String> = words.collect();
    if TAKES_NOTHING.contains(&command.as_str()) && !rest.is_empty() {
        eprint!("xtask: `{command}` takes no arguments\n\n{HELP}");
        return ExitCode::from(2);
    }
    let result = match command.as_str() {
        "ci" => ci(),
        "test" => testing::test(&rest),
        "screenshots" => screenshots(),
        "bench" => bench("table", &rest),
        "kills" => kills(&rest),
        "guard" | "profiles" | "selftest" | "soak" => bench(&command, &rest),
        "fuzz" => fuzz::fuzz(&rest),
        "python" => python::python(&rest),
        "docs" => docs::docs(),
        "site" => site::site(),
        "dist" => dist::dist(&rest),
        "installs" => dist::installs(&rest),
        "emulated" => dist::emulated(),
        "tidy" => tidy::check(&root()).inspect(|()| println!("tidy: nothing to mend")),
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
    // Cargo often compiles a single crate for long, which leaves cores for the tools.
    let tools = std::thread::spawn(|| tools(&root()));
    let linted =
        run("cargo", &["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"]);
    let deny = tools.join().map_err(|_| anyhow!("the thread that installs tools panicked"))?;
    linted?;
    dependencies(&deny?)?;
    workflows::lint()?;
    // Whether each package has all of its files is seen without building it; `dist` builds it as well.
    dist::package(&["--no-verify"])?;
    testing::test_beside(|| python::python(&[]))?;
    site::site()
}

/// Installs what later steps of `ci` use and would otherwise install themselves; returns cargo-deny.
fn tools(root: &Path) -> Result<PathBuf> {
    testing::install_packages()?;
    let deny = dist::cargo_tool(root, "cargo-deny", "cargo-deny@0.20.2", &[])?;
    site::mdbook(root)?;
    workflows::actionlint(root)?;
    python::installed(root)?;
    Ok(deny)
}

/// The licences and the sources of all dependencies. Known vulnerabilities need a database from the network that changes
/// without any commit here, so they are not a part of this.
fn dependencies(deny: &Path) -> Result<()> {
    run(&deny.to_string_lossy(), &["--locked", "check", "licenses", "sources", "bans"])
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
    let variables = [("DROME_TEST_KILLS", kills), ("DROME_TEST_SEED", seed)];
    testing::of_program(variables, &["--nocapture", "kills::"])
}

/// Runs the browser tests that take the pictures. They measure a small study for it, as drome does by default: the load generator polls.
fn screenshots() -> Result<()> {
    packages::ensure(packages::OF_TESTS)?;
    let folder = root().join("docs/screenshots");
    let variables = [("DROME_SCREENSHOTS", folder.as_os_str()), ("DROME_POLL", "1".as_ref())];
    testing::of_program(variables, &["--ignored", "browser::"])
}

/// Replaces this process by a command of the crate `bench`. That crate needs no optimisation itself: it measures a
/// release build of drome.
fn bench(command: &str, args: &[String]) -> Result<()> {
    let cargo = ["run", "--quiet", "--locked", "--package", "drome-bench", "--", command];
    let error = self::command("cargo").args(cargo).args(args).exec();
    Err(error).context("can't run cargo")
}

/// Makes a folder, or empties it, so that no page of a removed command stays.
fn emptied(folder: &Path) -> Result<()> {
    if folder.is_dir() {
        std::fs::remove_dir_all(folder).with_context(|| format!("can't empty {}", folder.display()))?;
    }
    std::fs::create_dir_all(folder).with_context(|| format!("can't make {}", folder.display()))
}
