//! Starts the program that drome itself is running. Its file may be replaced or removed meanwhile, for example by a build; a guard or a
//! reference that was started from the file's name would be another program, or none.

use rustix::process::{DumpableBehavior, dumpable_behavior};
use std::path::PathBuf;
use std::process::Command;

/// A path by which this process and those that it starts can start this very program, for as long as this process lives.
pub fn path() -> PathBuf {
    // The kernel keeps others from looking into a process that has more rights than its user, so they can't follow the link.
    let is_private = dumpable_behavior().is_ok_and(|behaviour| behaviour != DumpableBehavior::Dumpable);
    let link = PathBuf::from(format!("/proc/{}/exe", std::process::id()));
    if is_private { std::env::current_exe().unwrap_or(link) } else { link }
}

/// A command that is this very program.
pub fn command() -> Command {
    let mut command = Command::new("/proc/self/exe");
    std::os::unix::process::CommandExt::arg0(&mut command, "drome");
    command
}

/// Gives the process its name in lists such as `top`, if it was started by one of the paths above and is called `exe`.
pub fn name_process() {
    if rustix::thread::name().is_ok_and(|name| name.as_c_str() == c"exe") {
        let _ = rustix::thread::set_name(c"drome");
    }
}
