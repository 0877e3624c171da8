//! A machine that other programs use: what is measured beside them is void, unless that was allowed.

use crate::common::{Finished, Home, run};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const DROME: &str = env!("CARGO_BIN_EXE_drome");

/// What drome ends with where nothing can be said.
const VOID: i32 = 4;

/// Every core is used for so long, and then not. Beside a server this takes more than the fifth of its core that makes a trial void, and
/// leaves something to the tests beside this one.
const BUSY: Duration = Duration::from_millis(30);
const QUIET: Duration = Duration::from_millis(15);

/// A thread for every core that uses a part of it. For drome, this is another program.
struct Busy {
    stops: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Busy {
    fn on_every_core() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let stops = Arc::new(AtomicBool::new(false));
        let spin = |_| {
            let stops = Arc::clone(&stops);
            std::thread::spawn(move || {
                while !stops.load(Ordering::Relaxed) {
                    let started = Instant::now();
                    while started.elapsed() < BUSY {
                        std::hint::spin_loop();
                    }
                    std::thread::sleep(QUIET);
                }
            })
        };
        let threads = (0..cores).map(spin).collect();
        Self { stops, threads }
    }
}

/// Programs in a container can't use cores that are not theirs, and drome counts the machine's.
fn has_every_core() -> bool {
    let stat = std::fs::read_to_string("/proc/stat").unwrap();
    let all = stat.lines().filter(|line| line.starts_with("cpu")).count() - 1;
    std::thread::available_parallelism().is_ok_and(|own| own.get() == all)
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.stops.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn race(home: &Home, args: &[&str], allowed: &str) -> Finished {
    let server = format!("{DROME} serve --port {{port}}");
    let short = ["--url", "http://127.0.0.1:{port}/hello", "--duration", "200ms", "--rounds", "3"];
    let mut command = home.drome(&["race", &server, &server]);
    run(command.args(short).args(args).env("DROME_ALLOW_BUSY", allowed))
}

#[test]
fn trials_beside_busy_programs_are_void_and_say_so_unless_they_are_allowed() {
    if !has_every_core() {
        assert!(std::env::var_os("CI").is_none(), "this test needs a machine of which it may use every core");
        eprintln!("not checked: this container may not use every core of its machine");
        return;
    }
    let _busy = Busy::on_every_core();
    let home = Home::new();
    let void = race(&home, &["--alone"], "0");
    assert_eq!(void.code, VOID, "{}{}", void.out, void.err);
    // Where the host took time, too, it is told before them.
    let is_void = |line: &str| line.contains("void: ") && line.contains("other programs used ");
    assert!(void.err.lines().any(is_void) && void.err.contains("--allow-busy"), "{}", void.err);
    assert!(!void.out.contains(" × A, 95 %"), "{}", void.out);
    for (args, allowed) in [(&["--alone", "--allow-busy"][..], "0"), (&["--alone"], "1")] {
        let counted = race(&home, args, allowed);
        assert_eq!(counted.code, 0, "{}{}", counted.out, counted.err);
        assert!(counted.out.contains("other programs used "), "{}", counted.out);
    }
    // In turns, everything counts where no moment is quiet, and that is told.
    let in_turns = race(&home, &[], "0");
    assert_eq!(in_turns.code, 0, "{}{}", in_turns.out, in_turns.err);
    assert!(in_turns.out.contains("disturbed turns count in "), "{}", in_turns.out);
}
