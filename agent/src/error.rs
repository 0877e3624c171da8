//! The errors of a link. Each message says what happened, and most end with the next step.

use crate::PROTOCOL;

/// Why a link can't be established or was lost, or why a request over it failed. `name` is the machine as the user wrote it.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum LinkError {
    #[error("{name} can't be reached: `{program}` can't be run ({why}); check the words of the command")]
    NotStarted { name: String, program: String, why: String },
    #[error(
        "{name} can't be reached ({said}): check its name, the network between, and sshd there; `ssh` to it must work by hand"
    )]
    Unreachable { name: String, said: String },
    #[error(
        "{name} refuses the key or the user ({said}): make `ssh` log in there with a key, without a password"
    )]
    Denied { name: String, said: String },
    #[error(
        "{name} has a host key that `ssh` does not know or that has changed ({said}): connect once by hand and check the key"
    )]
    UnknownHost { name: String, said: String },
    #[error(
        "{name} has no drome that runs in a non-interactive shell ({said}): install it there in a folder on the PATH of such a shell, for example /usr/local/bin (~/.local/bin usually is not), or add `--put` to this command, which copies this drome there"
    )]
    NoDrome { name: String, said: String },
    #[error(
        "{name} has drome {there}, and this is drome {here}: install the same version on both, or add `--put` to this command, which copies this drome there"
    )]
    OtherVersion { name: String, here: String, there: String },
    #[error(
        "{name} does not answer as drome: its first words are {first:?}; the command must print nothing before drome does"
    )]
    NotDrome { name: String, first: String },
    #[error("the link to {name} is lost: {why}")]
    Lost { name: String, why: String },
    /// A request failed on the other side. The text is the reason that it gave, at most 4 KiB, without escape sequences.
    #[error("{0}")]
    Refused(String),
    #[error("{name} did not answer `{request}` within {seconds} s: see what it does, or give it more time")]
    Late { name: String, request: String, seconds: u64 },
    #[error(
        "{name} answered `{request}` with what this drome can't read ({why}): install the same build on both, or add `--put` to this command, which copies this drome there"
    )]
    Unreadable { name: String, request: String, why: String },
    #[error(
        "`{request}` has {bytes} bytes, more than a request over the link may have ({}): send less at once",
        crate::MOST_REQUEST_BYTES
    )]
    TooLong { request: String, bytes: usize },
    #[error("the link can't be read or written: {0}; start it again")]
    Io(#[from] std::io::Error),
}

/// A version as messages show it: with the protocol's version only if that differs from this side's.
pub(crate) fn shown_version(drome: &str, protocol: u32) -> String {
    if protocol == PROTOCOL { drome.to_owned() } else { format!("{drome} (protocol {protocol})") }
}
