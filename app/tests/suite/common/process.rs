//! The programs that tests start: none runs for ever. One that takes too long is killed with all that it started, and the
//! test that waits for it fails with what it printed.

use super::Finished;
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, mpsc};
use std::time::{Duration, Instant};

/// No program of a test takes longer, on however slow and busy a machine.
pub const LIMIT: Duration = Duration::from_mins(5);

/// Tests run beside each other, perhaps on a guest of a busy host, and none is of a figure: whatever drome a program starts lets
/// trials count there, unless the test says otherwise.
const ALLOW_BUSY: &str = "DROME_ALLOW_BUSY";

/// They share two cores, perhaps, so that a load generator that polls takes its time from other tests. It sleeps unless the test, or the
/// environment of all tests, says otherwise.
pub const POLL: &str = "DROME_POLL";

/// Starts a program, and ends it where it takes longer than anything may.
pub fn spawn(command: &mut Command) -> Child {
    spawn_for(command, LIMIT)
}

/// The same, and what it prints can be read.
pub fn spawn_heard(command: &mut Command) -> Child {
    spawn(command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()))
}

/// The same, and nobody reads what it prints.
pub fn spawn_unheard(command: &mut Command) -> Child {
    spawn(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()))
}

fn spawn_for(command: &mut Command, limit: Duration) -> Child {
    for (variable, value) in [(ALLOW_BUSY, "1"), (POLL, "0")] {
        let is_given = std::env::var_os(variable).is_some();
        if !is_given && !command.get_envs().any(|(name, _)| name == variable) {
            command.env(variable, value);
        }
    }
    let child = command.spawn();
    let child = child.unwrap_or_else(|e| {
        panic!("can't run {command:?} ({e}): `cargo xtask test` installs what the tests need")
    });
    let watched = Watched { began: began(child.id()), deadline: Instant::now() + limit, is_late: false };
    watched_processes().insert(child.id(), watched);
    child
}

/// Adds a command, with its environment, to the arguments of a program that runs it.
pub fn run_by(mut program: Command, command: &Command) -> Command {
    program.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => program.env(name, value),
            None => program.env_remove(name),
        };
    }
    program
}

/// Runs a program to its end; its standard input is as the command says.
pub fn finish(command: &mut Command) -> Output {
    let child = spawn(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
    output(child, &format!("{command:?}"))
}

/// Waits for the end of what `spawn` started, and gives what it printed where that goes into pipes.
pub fn output(mut child: Child, shown: &str) -> Output {
    let pid = child.id();
    let (out, err) = (Printed::of(child.stdout.take()), Printed::of(child.stderr.take()));
    let status = child.wait().unwrap();
    let is_late = is_late(pid);
    // Something else that it started may still have its pipes.
    let patience = if is_late { Duration::from_secs(1) } else { LIMIT };
    let is_whole = out.wait(patience) && err.wait(patience);
    let output = Output { status, stdout: out.so_far(), stderr: err.so_far() };
    let finished =
        || [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned()).join("\n");
    assert!(!is_late, "{shown} did not end within {LIMIT:?} and was killed; it said:\n{}", finished());
    assert!(
        is_whole,
        "{shown} ended, and something that it started still writes; they said:\n{}",
        finished()
    );
    output
}

/// Waits for the end of what `spawn` started, and gives how it ended and what it printed where that goes into pipes.
pub fn ended(child: Child) -> Finished {
    let id = child.id();
    // Empty, where it has ended.
    let words = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
    let shown = format!("process {id}, {}", String::from_utf8_lossy(&words).replace('\0', " "));
    Finished::new(&output(child, &shown), shown)
}

/// Waits for the end of what `spawn` started.
pub fn wait(child: &mut Child) -> ExitStatus {
    let status = child.wait().unwrap();
    assert!(!is_late(child.id()), "process {} did not end in time and was killed", child.id());
    status
}

/// Interrupts a program as Ctrl-C does, once it is at work: it has done so much, takes the signal, and waits for something.
/// Before that, the signal would end it without a word, or be forgotten.
pub fn interrupt_at_work(child: &Child, mut has_done: impl FnMut() -> bool) {
    let pid = child.id().to_string();
    super::wait_for(|| has_done() && takes_interrupts(&pid), "a program to be at work");
    signal(child, "-INT");
}

/// Sends a signal, such as `-INT`, to a program that runs.
pub fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
}

/// It has a handler for SIGINT, or has blocked it for a thread that waits for it; and its first thread sleeps.
fn takes_interrupts(pid: &str) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_default().trim_start_matches(':').trim()
    };
    let is_in = |name| u64::from_str_radix(field(name), 16).is_ok_and(|mask| mask & 0b10 != 0);
    (is_in("SigCgt") || is_in("SigBlk")) && field("State").starts_with('S')
}

/// What comes out of a pipe, as far as it has come.
struct Printed {
    bytes: Arc<Mutex<Vec<u8>>>,
    is_closed: mpsc::Receiver<()>,
}

impl Printed {
    fn of(pipe: Option<impl Read + Send + 'static>) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let (closed, is_closed) = mpsc::channel::<()>();
        let to = Arc::clone(&bytes);
        std::thread::spawn(move || {
            let _closed = closed;
            let (Some(mut pipe), mut chunk) = (pipe, [0; 8192]) else { return };
            while let Ok(n @ 1..) = pipe.read(&mut chunk) {
                locked(&to).extend_from_slice(&chunk[..n]);
            }
        });
        Self { bytes, is_closed }
    }

    /// Whether all has come.
    fn wait(&self, patience: Duration) -> bool {
        self.is_closed.recv_timeout(patience) == Err(mpsc::RecvTimeoutError::Disconnected)
    }

    fn so_far(&self) -> Vec<u8> {
        locked(&self.bytes).clone()
    }
}

struct Watched {
    /// Tells it from another process that gets its number later.
    began: Option<String>,
    deadline: Instant,
    is_late: bool,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Every process that a test has started. The first one starts the thread that ends those that are late.
fn watched_processes() -> MutexGuard<'static, BTreeMap<u32, Watched>> {
    static ALL: OnceLock<Mutex<BTreeMap<u32, Watched>>> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        std::thread::spawn(|| {
            loop {
                std::thread::sleep(Duration::from_millis(200));
                kill_late(&mut watched_processes());
            }
        });
        Mutex::new(BTreeMap::new())
    });
    locked(all)
}

fn kill_late(all: &mut BTreeMap<u32, Watched>) {
    all.retain(|pid, watched| watched.is_late || began(*pid) == watched.began);
    let now = Instant::now();
    for (pid, watched) in all.iter_mut().filter(|(_, watched)| !watched.is_late && watched.deadline <= now) {
        watched.is_late = true;
        eprintln!("process {pid} is killed with all that it started: it took longer than a test may");
        let tree = tree(*pid);
        let _ = Command::new("kill")
            .arg("-9")
            .args(tree.iter().map(u32::to_string))
            .stderr(Stdio::null())
            .status();
    }
}

fn is_late(pid: u32) -> bool {
    watched_processes().remove(&pid).is_some_and(|watched| watched.is_late)
}

/// The fields of `/proc/PID/stat` from the state on.
fn stat(pid: u32) -> Option<Vec<String>> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    Some(text.rsplit_once(')')?.1.split_whitespace().map(str::to_owned).collect())
}

/// When a process began, in the machine's ticks.
fn began(pid: u32) -> Option<String> {
    stat(pid)?.get(19).cloned()
}

/// A process and all that it started, as far as it is still theirs.
pub fn tree(root: u32) -> Vec<u32> {
    let pids: Vec<u32> = fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|e| e.file_name().to_str()?.parse().ok())
        .collect();
    let parents: Vec<(u32, u32)> =
        pids.into_iter().filter_map(|pid| Some((pid, stat(pid)?.get(1)?.parse().ok()?))).collect();
    let mut tree = vec![root];
    let mut at = 0;
    while at < tree.len() {
        let of = tree[at];
        tree.extend(parents.iter().filter(|(_, parent)| *parent == of).map(|(pid, _)| *pid));
        at += 1;
    }
    tree
}

#[test]
fn what_takes_too_long_is_killed_with_all_that_it_started_and_what_it_said_is_told() {
    let mark = format!("{}.25", 100_000 + std::process::id());
    let mut command = Command::new("sh");
    command.args(["-c", &format!("echo begun; sleep {mark}; true")]).stdout(Stdio::piped());
    let child = spawn_for(&mut command, Duration::from_secs(5));
    let failed = std::panic::catch_unwind(|| output(child, "a shell")).unwrap_err();
    let words = failed.downcast_ref::<String>().unwrap();
    assert!(words.contains("a shell did not end") && words.contains("begun"), "{words}");
    super::wait_for(|| super::processes_with(&mark).is_empty(), "the sleeper to be gone");
}

#[test]
fn what_ends_by_itself_is_left_alone() {
    let output =
        finish(Command::new("sh").args(["-c", "echo out; echo err >&2; exit 3"]).stdin(Stdio::null()));
    assert_eq!(
        (output.status.code(), &output.stdout[..], &output.stderr[..]),
        (Some(3), &b"out\n"[..], &b"err\n"[..])
    );
}
