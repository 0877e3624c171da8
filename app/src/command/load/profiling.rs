//! The options of `drome load` for the server's processes: which they are, and where they spend their CPU time.

use crate::command::format;
use crate::command::output::Output;
use crate::command::profiler::Profiler;
use crate::failure::WrongInput;
use crate::flame::file;
use clap::{Args, ValueEnum};
use control::processes::tree::Tree;
use model::{Plan, Tally};
use profile::ProfileError;
use std::path::{Path, PathBuf};

/// Raw arguments.
#[derive(Debug, Args)]
#[command(next_help_heading = "Server")]
pub struct ServerArgs {
    /// Process ID of the server; its descendants are included [default: the process on this machine that listens on the URL's port]
    #[arg(long, value_name = "PID", value_parser = clap::value_parser!(i32).range(1..))]
    pid: Option<i32>,
    /// Write a profile of the server's CPU time to this file: .svg for a flame graph, .folded or .json for its data
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,
}

/// The format of a profile, by the extension of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    Svg,
    Folded,
    Json,
}

/// A profile that was asked for, and its file, which is known to be writable.
#[derive(Debug)]
pub struct WantedProfile {
    form: Form,
    path: PathBuf,
    output: Output,
}

impl ServerArgs {
    /// The server's process, if it is on this machine and can be seen.
    pub fn server(&self, plan: &Plan) -> Result<Option<i32>, WrongInput> {
        let Some(pid) = self.pid else {
            return Ok(plan.target.address.tcp().and_then(control::processes::local::listener));
        };
        if !Path::new(&format!("/proc/{pid}")).exists() {
            refuse!("--pid {pid}: there is no such process on this machine");
        }
        Ok(Some(pid))
    }

    /// Checks that the profile's file can be written, if one is wanted.
    pub fn wanted(&self) -> Result<Option<WantedProfile>, WrongInput> {
        let Some(path) = self.profile.clone() else { return Ok(None) };
        let (form, output) = format::export("--profile", &path)?;
        Ok(Some(WantedProfile { form, path, output }))
    }
}

/// A server that is being profiled for a file.
#[derive(Debug)]
pub struct FileProfiler {
    wanted: WantedProfile,
    pid: i32,
    /// Samples between the edges of the window.
    pub profiler: Profiler,
}

impl WantedProfile {
    /// Begins to profile. Where that is not allowed or not possible, prints why, and the measurement goes on without a profile.
    pub fn begin(self, server: Option<i32>, plan: &Plan) -> Result<Option<FileProfiler>, WrongInput> {
        let Some(pid) = server else {
            refuse!(
                "--profile: no process of this machine is seen to listen on the URL's port; name the server's process with --pid, \
                 and run drome as root if it is another user's"
            );
        };
        // The sampler runs on the load generator's CPUs, so it takes no time from the server's.
        match Profiler::begin(&Tree::From(pid), &plan.cpus) {
            Ok(profiler) => Ok(Some(FileProfiler { wanted: self, pid, profiler })),
            Err(error) => {
                print_why_not(&error);
                Ok(None)
            }
        }
    }
}

/// Says why there is no profile.
fn print_why_not(error: &ProfileError) {
    alert!("drome: no profile: {error}; the measurement is not affected");
}

impl FileProfiler {
    /// Looks up names, and writes the file. `cpu_ns`: the exact CPU time of the server for the answers of this load.
    pub fn finish(self, tally: &Tally, cpu_ns: Option<u64>) -> anyhow::Result<()> {
        let report = match self.profiler.end() {
            Ok(sampled) => sampled.report(tally.completed, cpu_ns, tally.received_bytes),
            Err(error) => {
                print_why_not(&error);
                return Ok(());
            }
        };
        let text = match self.wanted.form {
            Form::Folded => report.profile.to_folded(),
            Form::Json => format!("{}\n", serde_json::to_string_pretty(&report)?),
            Form::Svg => {
                let title = format!("CPU time of process {} under load", self.pid);
                match file::picture_alone(&report, &title) {
                    Ok(svg) => svg,
                    Err(error) => {
                        print_why_not(&error);
                        return Ok(());
                    }
                }
            }
        };
        self.wanted.output.write(text.as_bytes())?;
        note!("profile: {}: {}", self.wanted.path.display(), report.summary());
        for hint in report.profile.hints() {
            alert!("drome: profile: {hint}");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_of_the_file_is_the_form() {
        let of = |path: &str| format::of::<Form>(Path::new(path));
        assert_eq!(of("a/b.svg"), Some(Form::Svg));
        assert_eq!(of("b.tar.folded"), Some(Form::Folded));
        assert_eq!(of("b.json"), Some(Form::Json));
        assert_eq!([of("svg"), of("b.html"), of(".svg"), of("")], [None; 4]);
    }
}
