//! Container images, raced by name: the tool that runs them, which image exactly, and how it is run. A name is resolved once. Everything
//! after that uses the image's ID, so that a tag that moves meanwhile changes nothing.

mod launch;
mod tool;

pub use launch::{Launch, Variables, new_name};
pub use tool::Tool;

/// The tools that drome looks for, in this order.
pub const TOOLS: [&str; 2] = ["podman", "docker"];

/// Why images can't be raced.
#[derive(Debug, thiserror::Error)]
pub enum ContainerError {
    /// The tool can't be run.
    #[error(
        "can't run `{program}`: {source}; install it (`apt install {package}`), or name another tool with --container-tool"
    )]
    NoTool {
        /// The program.
        program: String,
        /// The Debian package to install.
        package: &'static str,
        /// The system's error.
        source: std::io::Error,
    },
    /// The tool knows no image of this name and can't get one.
    #[error("there is no image {name} on this machine, and it can't be pulled: {why}")]
    NoImage {
        /// The name as given.
        name: String,
        /// What the tool printed.
        why: String,
    },
    /// The tool failed.
    #[error("`{command}` {how}{last}")]
    Failed {
        /// The command line.
        command: String,
        /// How it ended.
        how: String,
        /// The last lines that it printed.
        last: String,
    },
    /// What the tool prints can't be kept.
    #[error(
        "can't keep what `{program}` prints: {source}; free some space in the folder for temporary files"
    )]
    Output {
        /// The program.
        program: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// A user asked to stop.
    #[error("interrupted before anything was measured")]
    Interrupted,
}
