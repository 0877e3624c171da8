//! The command line: raw arguments. Each command's own file resolves them.

use clap::builder::FalseyValueParser;
use clap::{Args, ColorChoice, Parser, Subcommand, ValueEnum};
use model::Arrivals;
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

/// Options of every command.
#[derive(Debug, Args)]
pub struct Common {
    // Not a doc comment: those want variables in backticks, which a terminal would show.
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        help = "Results database [default: drome.sqlite in $DROME_HOME, else in the XDG data folder]"
    )]
    pub store: Option<PathBuf>,
    /// Folder with your own contenders/, workloads/ and studies/; an entry replaces the built-in one of the same
    /// name; may be repeated
    #[arg(long, global = true, value_name = "DIR")]
    pub catalog: Vec<PathBuf>,
    /// Print ASCII only [default: by the locale]
    #[arg(long, global = true)]
    pub ascii: bool,
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "WHEN",
        default_value_t = ColorChoice::Auto,
        help = "When to use colours (auto: on a terminal, unless NO_COLOR is set)"
    )]
    pub color: ColorChoice,
    /// Print only results and errors: no progress and no hints
    #[arg(long, short, global = true)]
    pub quiet: bool,
}

/// How much background load is accepted.
#[derive(Clone, Copy, Debug, Args)]
pub struct MachineArgs {
    /// Accept measurements even if other programs use more than 20 % of the measured CPUs' time, or the host of a
    /// virtual machine takes more than 10 %; the report still shows both
    #[arg(long, env = "DROME_ALLOW_BUSY", value_parser = FalseyValueParser::new(), hide_env_values = true)]
    pub allow_busy: bool,
}

/// What drives sockets.
#[derive(Clone, Copy, Debug, Args)]
pub struct IoArgs {
    // Not a doc comment: those want io_uring in backticks, which a terminal would show.
    #[arg(
        long,
        value_enum,
        help = "Kernel interface for socket I/O [default: io_uring if the kernel allows it, else epoll]"
    )]
    pub io: Option<Io>,
}

/// A kernel interface for socket I/O.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Io {
    Epoll,
    Uring,
}

/// The spacing of the requests of open load.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Spacing {
    Constant,
    Poisson,
}

impl From<Spacing> for Arrivals {
    fn from(spacing: Spacing) -> Self {
        match spacing {
            Spacing::Constant => Self::Constant,
            Spacing::Poisson => Self::Poisson,
        }
    }
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

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Drive load at one URL, and report throughput and latency
    Load(Box<crate::command::load::LoadArgs>),
    /// Race two or more servers, and report which is faster and how certain that is
    Race(Box<crate::command::race::RaceArgs>),
    /// Measure latency at rates from idle to past saturation, and find the highest rate that keeps a latency promise
    Sweep(Box<crate::command::sweep::SweepArgs>),
    /// Run a study: measure its contenders, and report their ranking
    Run(crate::command::run::RunArgs),
    /// Estimate how long a study takes
    Plan(crate::command::plan::PlanArgs),
    /// List studies, contenders, workloads or runs, and show which contenders are installed
    List(crate::command::list::ListArgs),
    /// Print a study, contender or workload as it is declared
    Show(crate::command::show::ShowArgs),
    /// Install contenders, or everything that a study needs
    Install(crate::command::install::InstallArgs),
    /// Check every contender's answers
    Verify(crate::command::verify::VerifyArgs),
    /// Create a contender of your own
    New(crate::command::new::NewArgs),
    /// Show the findings of a run
    Report(crate::command::report::ReportArgs),
    /// Import reports of other tools from a page, and store their figures beside your own runs
    Import(crate::command::import::ImportArgs),
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
    /// Print a shell's completion script for drome
    Completions(crate::command::completions::CompletionsArgs),
    /// Write the man pages
    #[command(hide = true)]
    Man(crate::command::pages::PagesArgs),
    /// Write the reference pages
    #[command(hide = true)]
    Reference(crate::command::pages::PagesArgs),
}
