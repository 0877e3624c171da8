//! The command line: raw arguments. What they come to is resolved in each command's own file.

use clap::builder::FalseyValueParser;
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// A racecourse for web servers: which is faster, by how much, how surely, and how far from what this machine can do.
#[derive(Debug, Parser)]
#[command(name = "drome", version, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub common: Common,
}

/// What several commands share.
#[derive(Debug, Args)]
pub struct Common {
    // Not a doc comment: those want variables in backticks, which a terminal would show.
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        help = "The file of results [default: drome.sqlite in $DROME_HOME, else in the XDG data folder]"
    )]
    pub store: Option<PathBuf>,
    /// A folder with contenders/, workloads/ and studies/ of your own; adds to those built in, or overrides
    #[arg(long, global = true, value_name = "DIR")]
    pub catalog: Vec<PathBuf>,
    /// Say everything in ASCII [default: as the locale is]
    #[arg(long, global = true)]
    pub ascii: bool,
}

/// What the machine may be like meanwhile.
#[derive(Clone, Copy, Debug, Args)]
pub struct MachineArgs {
    /// Let trials count although other programs use more than a fifth of the measured CPUs' time, or its host takes more than a
    /// tenth; they are noted all the same
    #[arg(long, env = "DROME_ALLOW_BUSY", value_parser = FalseyValueParser::new(), hide_env_values = true)]
    pub allow_busy: bool,
}

/// Raw arguments.
#[derive(Debug, Args)]
pub struct DialectsArgs {
    #[command(subcommand)]
    action: Option<DialectsAction>,
}

#[derive(Debug, Subcommand)]
enum DialectsAction {
    /// Make links in a folder by which drome answers to the tools' own names
    Link {
        /// The folder
        dir: PathBuf,
    },
}

impl DialectsArgs {
    /// The folder for links, where they are wanted.
    pub fn link(&self) -> Option<&std::path::Path> {
        self.action.as_ref().map(|DialectsAction::Link { dir }| dir.as_path())
    }
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Drive load at one URL and say what came of it
    Load(Box<crate::command::load::LoadArgs>),
    /// Race two or more commands that start servers: which is faster, how surely
    Race(Box<crate::command::race::RaceArgs>),
    /// Offer one rate after another, from idle to past saturation: latency, the knee, the highest rate that keeps a promise
    Sweep(Box<crate::command::sweep::SweepArgs>),
    /// Run a study
    Run(crate::command::run::RunArgs),
    /// How long a study takes to a wanted precision, told from a few blocks or from its latest run
    Plan(crate::command::plan::PlanArgs),
    /// Studies, contenders, workloads and runs; what this machine has and lacks
    List(crate::command::list::ListArgs),
    /// One study, contender or workload
    Show(crate::command::show::ShowArgs),
    /// Get contenders, or all that a study needs
    Install(crate::command::install::InstallArgs),
    /// Is every contender what its folder says?
    Catalog(crate::command::catalog::CatalogArgs),
    /// Begin a contender of your own
    New(crate::command::new::NewArgs),
    /// The findings of a run
    Report(crate::command::report::ReportArgs),
    /// Read pages with reports of other tools, and keep their figures beside one's own
    Import(crate::command::import::ImportArgs),
    /// Draw the bar chart of a page with reports of other tools
    Chart(crate::command::chart::ChartArgs),
    /// The reference server
    Serve(crate::command::serve::ServeArgs),
    /// What changed from one run to another, the machine's own drift taken out
    Compare(crate::command::compare::CompareArgs),
    /// Fail (exit code 3) where a contender is surely slower than in an earlier run, by more than a margin
    Gate(crate::command::compare::GateArgs),
    /// All runs of a study over time: what changed, when, and whether it was the machine
    History(crate::command::history::HistoryArgs),
    /// The local page: runs, comparisons, contenders, a study as it is measured
    Ui(crate::command::ui::UiArgs),
    /// The older tools whose command lines drome speaks: `drome ab …`, `drome wrk …`
    Dialects(DialectsArgs),
    /// What on this machine would spoil a measurement, as a score of ten, and the remedy
    Doctor(crate::command::doctor::DoctorArgs),
    /// What a shell needs to complete drome's command lines
    Completions(crate::command::completions::CompletionsArgs),
    /// Write the man pages
    #[command(hide = true)]
    Man(crate::command::pages::PagesArgs),
    /// Write the reference pages
    #[command(hide = true)]
    Reference(crate::command::pages::PagesArgs),
}
