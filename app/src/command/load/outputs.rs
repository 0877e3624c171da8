//! The options of `drome load` for its output: what is reported, and where.

use crate::command::format::{Destination, FormatArgs, TextOrJson};
use crate::command::output::Output;
use crate::metrics;
use clap::Args;
use load::{View, Watch};
use model::{Machines, Plan, Tally, Verdict};
use report::{Detail, TextStyle};
use std::io::{IsTerminal, stderr};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::SystemTime;

/// Raw arguments.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    #[command(flatten)]
    shown: FormatArgs<TextOrJson>,
    /// Report the whole latency distribution; with --format json as `latency_spectrum`
    #[arg(long)]
    percentile_spectrum: bool,
    /// Write the measurement second by second to this file, as CSV
    #[arg(long, value_name = "FILE", conflicts_with = "load_from")]
    series: Option<PathBuf>,
    /// Write latency and service time second by second to this file, as a log for the tools of `HdrHistogram`
    #[arg(long, value_name = "FILE", conflicts_with = "load_from")]
    hdr: Option<PathBuf>,
    /// Show the measurement in the terminal while it runs; takes a little CPU time
    #[arg(long, conflicts_with = "load_from")]
    tui: bool,
    /// Serve the measurement while it runs to Prometheus, at /metrics of this address, such as 127.0.0.1:9469
    #[arg(long, value_name = "ADDRESS", value_parser = metrics::address, conflicts_with_all = ["tui", "load_from"])]
    metrics: Option<SocketAddr>,
}

/// The report and the other outputs. Files are tried before anything is measured, so that a wrong path loses no measurement.
#[derive(Debug)]
pub struct Outputs {
    to: Destination<TextOrJson>,
    detail: Detail,
    series: Option<Output>,
    hdr: Option<Output>,
    tui: bool,
    /// The address that serves metrics.
    pub metrics: Option<SocketAddr>,
    opened: OnceLock<SystemTime>,
}

impl OutputArgs {
    /// Whether figures for every second are wanted.
    pub fn per_second(&self) -> bool {
        self.series.is_some() || self.hdr.is_some()
    }

    /// Checks where the report and the other files go.
    pub fn check(&self) -> anyhow::Result<Outputs> {
        if self.tui && !stderr().is_terminal() {
            refuse!(
                "--tui draws on standard error, which is not a terminal here: leave out --tui or the redirection"
            );
        }
        let detail = if self.percentile_spectrum { Detail::Spectrum } else { Detail::Summary };
        let to = self.shown.destination()?;
        let file =
            |option, path: &Option<PathBuf>| path.as_deref().map(|path| Output::to(option, path)).transpose();
        let (series, hdr) = (file("--series", &self.series)?, file("--hdr", &self.hdr)?);
        let (tui, metrics) = (self.tui, self.metrics);
        Ok(Outputs { to, detail, series, hdr, tui, metrics, opened: OnceLock::new() })
    }
}

impl Outputs {
    /// Where workers publish their counts, if they are shown or served.
    pub fn view(&self) -> Option<View> {
        (self.tui || self.metrics.is_some()).then(View::default)
    }

    /// Writes the report, and the files that were asked for. The report is returned as plain text and as JSON.
    pub fn write(
        self,
        plan: &Plan,
        tally: &Tally,
        verdict: &Verdict,
        machines: Option<&Machines>,
    ) -> anyhow::Result<(String, String)> {
        let document = report::load_report::document(plan, tally, verdict, self.detail, machines);
        let json = report::load_json::report(plan, tally, verdict, self.detail, machines);
        match self.to.format {
            TextOrJson::Terminal => self.to.write(document.terminal(&self.to.look()).as_bytes())?,
            TextOrJson::Json => self.to.write(json.as_bytes())?,
        }
        if let Some(file) = self.series {
            file.write(report::series::records(tally).csv().as_bytes())?;
        }
        if let Some(file) = self.hdr {
            let started = self.opened.get().copied().unwrap_or(SystemTime::UNIX_EPOCH);
            file.write(&report::hdr_log::report(plan, tally, started))?;
        }
        Ok((document.terminal(&TextStyle::default()), json))
    }
}

/// Records when the measurement began.
impl Watch for Outputs {
    fn opened(&self) {
        let _ = self.opened.set(SystemTime::now());
    }
}
