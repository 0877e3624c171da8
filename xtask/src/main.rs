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
use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, value_parser};
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use xtask::{built_drome, command, packages, printed, root, run, run_command, target};

/// All automation of drome
#[derive(Parser)]
#[command(bin_name = "cargo xtask")]
enum Command {
    /// Everything that CI checks: format, lints, tidiness, workflows (with Go), tests, the Python package, the website
    Ci,
    /// Install the Debian packages that the tests need, and run all tests; verify `monkey` and `openresty` if their sources are in
    /// ../shared/vendor or `DROME_VENDOR`
    Test {
        /// Only tests that take less than two minutes together, once they are built
        #[arg(long)]
        fast: bool,
    },
    /// Take pictures of the local page and of the HTML report, into docs/screenshots
    Screenshots,
    /// Compare the cost of drome with that of a bare loop and of other tools on this machine, as a Markdown table
    #[command(disable_help_flag = true)]
    Bench(Passed),
    /// Kill `drome run` at random moments and resume it
    Kills {
        /// How often
        #[arg(default_value_t = 100)]
        kills: u64,
        /// What the moments are drawn from
        #[arg(default_value_t = 1)]
        seed: u64,
    },
    /// Check the verdicts on commits whose effect on a server is known
    #[command(disable_help_flag = true)]
    Guard(Passed),
    /// Check profiles of servers in C, Rust, Go, Java, Node.js and Python that know what their answers cost
    #[command(disable_help_flag = true)]
    Profiles(Passed),
    /// Check drome's findings with servers whose difference or capacity is known
    #[command(disable_help_flag = true)]
    Selftest(Passed),
    /// Check that descriptors, threads and memory of drome stay constant for half an hour
    #[command(disable_help_flag = true)]
    Soak(Passed),
    /// Run fuzz targets
    Fuzz {
        /// How long each target runs
        #[arg(default_value_t = 20, value_parser = value_parser!(u64).range(1..))]
        seconds: u64,
        /// Which; all without one
        targets: Vec<String>,
    },
    /// Check and test the Python package, on Ray clusters on this machine
    Python {
        /// Instead of testing, print how many heats a minute 1, 2, 4 and 8 workers do and what Ray's daemons cost, kill machines while
        /// two hundred heats are counted, and kill workers in the middle of twenty real heats
        #[arg(long)]
        scale: bool,
    },
    /// The reference pages in docs/reference, the schemas in docs/schemas, man pages and completions in target/
    Docs,
    /// The documentation as a website in target/site, with all its links checked; uses mdbook from PATH, or installs it into
    /// target/tools
    Site,
    /// Everything that a release consists of, in target/downloads: static binaries, packages, crates, licences, checksums
    Dist {
        /// The kinds of machines; all without one
        #[arg(value_parser = PossibleValuesParser::new(dist::triples()))]
        targets: Vec<String>,
    },
    /// Install drome from each package in a clean Debian, build the container image, and run a race in each
    Installs {
        /// The ways to install it; all without one
        #[arg(value_parser = PossibleValuesParser::new(dist::ways_to_install()))]
        ways: Vec<String>,
    },
    /// Unit tests, `drome serve`, `drome load` and a race on an emulated 64-bit ARM
    Emulated,
    /// Lengths of files, directions of dependencies, circles of imports, left-overs
    Tidy,
}

/// What a command of the crate `bench` gets; `--help` says what it takes.
#[derive(Args)]
struct Passed {
    /// Passed on; `--help` says more
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

fn main() -> ExitCode {
    let result = match Command::parse() {
        Command::Ci => ci(),
        Command::Test { fast } => testing::test(fast),
        Command::Screenshots => screenshots(),
        Command::Bench(passed) => bench("table", &passed),
        Command::Kills { kills, seed } => self::kills(kills, seed),
        Command::Guard(passed) => bench("guard", &passed),
        Command::Profiles(passed) => bench("profiles", &passed),
        Command::Selftest(passed) => bench("selftest", &passed),
        Command::Soak(passed) => bench("soak", &passed),
        Command::Fuzz { seconds, targets } => fuzz::fuzz(seconds, &targets),
        Command::Python { scale } => python::python(scale),
        Command::Docs => docs::docs(),
        Command::Site => site::site(),
        Command::Dist { targets } => dist::dist(&targets),
        Command::Installs { ways } => dist::installs(&ways),
        Command::Emulated => dist::emulated(),
        Command::Tidy => tidy::check(&root()).inspect(|()| println!("tidy: nothing to mend")),
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
    testing::test_beside(|| python::python(false))?;
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
fn kills(kills: u64, seed: u64) -> Result<()> {
    let variables = [("DROME_TEST_KILLS", kills.to_string()), ("DROME_TEST_SEED", seed.to_string())];
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
fn bench(command: &str, Passed { args }: &Passed) -> Result<()> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        Command::command().debug_assert();
    }
}
