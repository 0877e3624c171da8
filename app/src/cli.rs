//! The command line: raw arguments. Each command's own file resolves them.

use crate::manual::schemas;
use crate::options::Common;
use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use std::path::PathBuf;

/// A racecourse for web servers: drome starts servers, drives load at them, and reports which is faster, by how much,
/// and how certain that is.
#[derive(Debug, Parser)]
#[command(name = "drome", version, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub common: Common,
}

/// Raw arguments.
#[derive(Debug, Args)]
pub struct DialectsArgs {
    #[command(subcommand)]
    action: Option<DialectsAction>,
}

#[derive(Debug, Subcommand)]
enum DialectsAction {
    /// Create links in a folder that run drome under the tools' own names
    Link {
        /// Folder for the links; created if it is missing
        dir: PathBuf,
    },
}

impl DialectsArgs {
    /// The folder for the links, if `link` was given.
    pub fn link(&self) -> Option<&std::path::Path> {
        self.action.as_ref().map(|DialectsAction::Link { dir }| dir.as_path())
    }
}

/// Raw arguments. Defined here, not with the command, because the command needs [`Cli`], of which they are a part.
#[derive(Debug, Subcommand)]
pub enum Generated {
    /// Print a shell's completion script for drome
    Completions {
        /// Shell to print the script for
        shell: Shell,
    },
    /// Print the JSON Schema of a file format, for an editor or a program
    Schema {
        /// Format whose schema is printed [default: a list of all formats]
        #[arg(value_parser = schemas::names())]
        name: Option<String>,
    },
    /// Write the JSON Schemas of all file formats
    Schemas {
        /// Folder to write to
        dir: PathBuf,
    },
    /// Write the man pages
    Man {
        /// Folder to write to
        dir: PathBuf,
    },
    /// Write the reference pages
    Reference {
        /// Folder to write to
        dir: PathBuf,
    },
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Drive load at one URL, and report throughput and latency
    Load(Box<crate::command::load::LoadArgs>),
    /// Race two or more servers, and report which is faster and how certain that is
    Race(Box<crate::command::race::RaceArgs>),
    /// Measure latency at rates from idle to past saturation, and find the highest rate that keeps a latency promise
    Sweep(Box<crate::command::sweep::SweepArgs>),
    /// Run a study: measure its contenders, and report their ranking; or estimate how long that takes
    Run(Box<crate::command::run::RunArgs>),
    /// Measure a study on several machines, heat by heat, with any scheduler
    Heat(Box<crate::command::heat::HeatArgs>),
    /// List studies, contenders, workloads or runs, and show which contenders are installed; or print one as it is declared
    List(crate::command::list::ListArgs),
    /// Install contenders, or everything that a study needs
    Install(crate::command::install::InstallArgs),
    /// Check every contender's answers
    Verify(crate::command::verify::VerifyArgs),
    /// Create a contender of your own
    New(crate::command::new::NewArgs),
    /// Show the findings of a run, or the verdict in a file as a comment on a pull request
    Report(crate::command::report::ReportArgs),
    /// Import reports of other tools from a page, and store their figures beside your own runs
    Import(crate::command::import::ImportArgs),
    /// Write runs to a file, or send them to drome on another machine, where `drome pull` stores them
    Push(crate::command::push::PushArgs),
    /// Store runs of other machines from a file of `drome push`, or from drome on another machine
    Pull(crate::command::pull::PullArgs),
    /// Run the reference server
    Serve(crate::command::serve::ServeArgs),
    /// Compare two runs and report what changed, without the machine's own drift; fail on a regression if asked to
    Compare(crate::command::compare::CompareArgs),
    /// Show all runs of a study over time: what changed, when, and whether the machine caused it
    History(crate::command::history::HistoryArgs),
    /// Serve the web interface: runs, comparisons, contenders, and studies while they are measured
    Ui(crate::command::ui::UiArgs),
    /// List the older tools whose command lines drome accepts: `drome ab …`, `drome wrk …`
    Dialects(DialectsArgs),
    /// Check what on this machine would disturb a measurement: a score out of ten, and remedies
    Doctor(crate::command::doctor::DoctorArgs),
    /// Obey drome on another machine, over standard input and output; with --check, test an agent on another machine
    Agent(crate::command::agent::AgentArgs),
    /// Print or write completions, JSON Schemas, man pages and the reference
    #[command(hide = true, subcommand)]
    Generate(Generated),
}
