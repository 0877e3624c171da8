//! `drome race --profile DIR`: what is sampled when the race is over, and how it gets into the verdict.

use crate::command::profile_dir::ProfileDir;
use crate::command::verdict_file::VerdictFile;
use crate::failure;
use lab::Session;
use model::GateVerdict;
use model::gate_verdict::VerdictProfile;

/// Why servers that already run can't be sampled.
const UNKNOWN: &str = "the processes of these servers are not known, so that there is nothing to sample: give the PID of each \
                       server's first process with --pid, in the order of the URLs";

/// Whether the servers of a race are sampled, and for which folder.
#[derive(Debug)]
pub enum Profiling {
    /// It was not asked for.
    Unwanted,
    /// It was asked for, but the servers' processes are not known.
    Impossible,
    /// The servers are sampled when everything else is done.
    Planned(ProfileDir),
}

impl Profiling {
    /// `are_known`: whether the servers' processes are known. If they are not, but a profile was asked for, prints why there is none.
    pub fn of(profile_dir: Option<ProfileDir>, are_known: bool) -> Self {
        match profile_dir {
            None => Self::Unwanted,
            Some(profile_dir) if are_known => Self::Planned(profile_dir),
            Some(_) => {
                alert!("drome: no profile: {UNKNOWN}");
                Self::Impossible
            }
        }
    }

    /// Samples the servers, if that was asked for, and writes the verdict, if there is one, with what was found. A file is there with the
    /// judgement before the servers are sampled, so that whoever stops drome meanwhile has it. Where the exit code is a judgement
    /// (`decides`), a failure to sample is printed and does not change it.
    pub fn explain(
        self,
        session: &Session<'_>,
        verdict: Option<&(&VerdictFile, GateVerdict)>,
        decides: bool,
    ) -> anyhow::Result<()> {
        let write = |profile: Option<VerdictProfile>| match verdict {
            Some((file, judged)) => file.write(&GateVerdict { profile, ..judged.clone() }),
            None => Ok(()),
        };
        match self {
            Self::Unwanted => write(None),
            Self::Impossible => write(Some(VerdictProfile::without(UNKNOWN))),
            Self::Planned(profile_dir) => {
                let is_written = verdict.is_some_and(|(file, _)| file.can_be_written_again());
                if is_written {
                    write(None)?;
                }
                let explained = profile_dir.explain(session);
                let rewritten = write(explained.as_ref().ok().cloned());
                let sampled = if is_written {
                    explained.and(rewritten)
                } else {
                    // The judgement has not been written yet, so failing to write it counts more than failing to sample.
                    rewritten?;
                    explained.map(drop)
                };
                match sampled {
                    Err(error) if decides => {
                        let _ = failure::tell(&error);
                        Ok(())
                    }
                    sampled => sampled,
                }
            }
        }
    }
}
