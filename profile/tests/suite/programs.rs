//! C programs that are compiled and run by tests, and how they are profiled.

use profile::{Options, Profile, ProfileError, Sampling};
use std::fs;
use std::io::Write;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

/// No program of a test takes longer, on however slow a machine.
const PATIENCE: Duration = Duration::from_mins(2);

/// The beginning of every program: a loop whose time is known by its count, always inlined; and an end after five minutes, should the test
/// itself be killed.
pub const SPIN: &str = "
#include <stdlib.h>
#include <unistd.h>
static __attribute__((constructor)) void limit(void) { alarm(300); }
static volatile unsigned long sink;
static inline __attribute__((always_inline)) void spin(unsigned long n) {
    for (unsigned long i = 0; i < n; i++) sink += i;
}
";

/// A program that is running, and is killed at the end of the test.
pub struct Program {
    child: Child,
    _folder: tempfile::TempDir,
}

impl Program {
    /// Compiles and starts a program. It has no frame pointers, so that its stacks can only be unwound by its tables.
    pub fn c(source: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (file, program) = (folder.path().join("a.c"), folder.path().join("a"));
        fs::write(&file, format!("{SPIN}{source}")).unwrap();
        let mut compile = Command::new("cc");
        compile.args(["-O2", "-g", "-fomit-frame-pointer", "-pthread", "-o"]).arg(&program).arg(&file);
        let compiled = compile.output();
        let compiled =
            compiled.unwrap_or_else(|e| panic!("can't run cc ({e}): `cargo xtask test` installs it"));
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
        Self::start(Command::new(&program), folder)
    }

    /// Starts another program in this folder, in which it may leave files.
    pub fn start(mut command: Command, folder: tempfile::TempDir) -> Self {
        let child = command.current_dir(folder.path()).stdin(Stdio::piped()).stdout(Stdio::null()).spawn();
        let child = child.unwrap_or_else(|e| {
            panic!("can't run {command:?} ({e}): `cargo xtask test` installs what the tests need")
        });
        Self { child, _folder: folder }
    }

    /// Its number.
    pub fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    /// Writes a byte to its standard input, for which it waits.
    pub fn go(&mut self) {
        let stdin: &mut ChildStdin = self.child.stdin.as_mut().unwrap();
        stdin.write_all(b"x").unwrap();
        stdin.flush().unwrap();
    }

    /// Waits until it has used so much CPU time more, whatever else the machine does.
    pub fn wait_for_cpu(&self, time: Duration) {
        let used = || net_cpu(self.pid());
        let (until, deadline) = (used() + time, Instant::now() + PATIENCE);
        while used() < until {
            assert!(Instant::now() < deadline, "the program does not run");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The CPU time of a process and of all below it.
fn net_cpu(pid: i32) -> Duration {
    let pids = descendants(pid);
    pids.into_iter().filter_map(net::clock::process_cpu_ns).map(Duration::from_nanos).sum()
}

/// The living processes from this one on.
pub fn descendants(root: i32) -> Vec<i32> {
    let mut found = vec![root];
    let mut at = 0;
    while let Some(pid) = found.get(at).copied() {
        at += 1;
        let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
        for task in tasks {
            let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
            found.extend(children.split_whitespace().filter_map(|child| child.parse::<i32>().ok()));
        }
    }
    found
}

/// Begins to sample a program and all below it. `None` where the kernel does not allow that to this user: then the error has to be the one
/// that says so, with the remedy, and the kernel's setting the reason for it.
pub fn sampled(pid: i32, options: &Options) -> Option<Sampling> {
    match Sampling::begin(move || descendants(pid), options) {
        Ok(sampling) => Some(sampling),
        Err(error @ ProfileError::Forbidden { .. }) => {
            assert_not_root(&error);
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// The profile of a program over this much CPU time; `None` as of [`sampled`].
pub fn profiled(program: &Program, time: Duration) -> Option<Profile> {
    let sampling = sampled(program.pid(), &Options::default())?;
    program.wait_for_cpu(time);
    Some(sampling.end().unwrap().resolve())
}

/// The beginning of a profile, for messages.
pub fn shown(profile: &Profile) -> String {
    profile.to_folded().chars().take(4_000).collect()
}

/// This user may be refused: it is not root with all rights, and the message says the remedy.
pub fn assert_not_root(error: &ProfileError) {
    let why = error.to_string();
    assert!(why.contains("sysctl kernel.perf_event_paranoid=1") && why.contains("CAP_PERFMON"), "{why}");
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let rights = status.lines().find_map(|line| line.strip_prefix("CapEff:")).unwrap().trim();
    // CAP_SYS_ADMIN is bit 21.
    let has_all = u64::from_str_radix(rights, 16).unwrap() & (1 << 21) != 0;
    let is_contained = fs::read_to_string("/proc/self/status").unwrap().contains("Seccomp:\t2");
    assert!(!has_all || is_contained, "refused, although this user may do everything: {why}");
}

/// The share of samples in whose stack the functions are called by each other in this order, others between them allowed.
pub fn share(profile: &Profile, functions: &[&str]) -> f64 {
    let has_all = |stack: &[String]| {
        let mut frames = stack.iter();
        functions.iter().all(|function| frames.any(|frame| frame == function))
    };
    let of = profile.stacks.iter().filter(|(stack, _)| has_all(stack)).map(|(_, count)| count).sum::<u64>();
    of as f64 / profile.samples.max(1) as f64
}
