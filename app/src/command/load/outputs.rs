//! The options of `drome load` that say what is told of a measurement, and where.

use clap::Args;
use report::Detail;

/// Raw arguments.
#[derive(Debug, Args)]
#[command(next_help_heading = "What is told")]
pub struct OutputArgs {
    /// The whole distribution of latency in the report; with --json as `latency_spectrum`
    #[arg(long)]
    percentile_spectrum: bool,
}

impl OutputArgs {
    /// How much the report says.
    pub fn detail(&self) -> Detail {
        if self.percentile_spectrum { Detail::Spectrum } else { Detail::Summary }
    }
}
