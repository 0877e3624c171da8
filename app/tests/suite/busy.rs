//! A machine that other programs use: what is measured beside them is void, unless that was allowed.

use crate::common::catalog::{SERVES, cell, study};
use crate::common::{DROME, Finished, Home, run};
use model::heat::{Counts, Slice};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use store::Store;

/// What drome ends with where nothing can be said.
const VOID: i32 = 4;

/// Every core is used for so long, and then not. Beside a server this takes more than the fifth of its core that makes a measurement void, and
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

/// Runs a short measurement of drome's own server, with this value of the variable that allows other programs.
fn measure(home: &Home, command: &[&str], allowed: &str) -> Finished {
    let url = ["--url", "http://127.0.0.1:{port}/hello", "--duration", "200ms"];
    run(home.drome(command).args(url).env("DROME_ALLOW_BUSY", allowed))
}

/// Whether a test may go on; without every core it may not, and fails where everything has to be checked.
fn may_be_tested() -> bool {
    let is_possible = has_every_core();
    if !is_possible {
        assert!(std::env::var_os("CI").is_none(), "this test needs a machine of which it may use every core");
        eprintln!("not checked: this container may not use every core of its machine");
    }
    is_possible
}

#[test]
fn what_is_measured_beside_busy_programs_is_void_and_says_so_unless_it_is_allowed() {
    if !may_be_tested() {
        return;
    }
    let _busy = Busy::on_every_core();
    let home = Home::new();
    let server = format!("{DROME} serve --port {{port}}");
    let sweep = ["sweep", "--start", &server, "-c", "4", "--shares", "0.5", "--repeats", "1"];
    let void = measure(&home, &sweep, "0");
    assert_eq!(void.code, VOID, "{}{}", void.out, void.err);
    let all = format!("{}{}", void.out, void.err);
    // Where the host took time, too, it is told before them.
    let is_void = |line: &str| line.contains("void: ") && line.contains("other programs used ");
    assert!(all.lines().any(is_void) && all.contains("--allow-busy"), "{all}");
    for (more, allowed) in [(&["--allow-busy"][..], "0"), (&[], "1")] {
        let counted = measure(&home, &[&sweep[..], &["--format", "json"], more].concat(), allowed);
        assert_eq!(counted.code, 0, "{}{}", counted.out, counted.err);
        let all = format!("{}{}", counted.out, counted.err);
        assert!(all.contains("other programs used "), "{all}");
    }
    // In turns, everything counts where no moment is quiet, and that is told.
    let race = ["race", &server, &server, "--rounds", "3"];
    let in_turns = measure(&home, &race, "0");
    in_turns.assert_out(0, &["disturbed turns count in "]);
}

#[test]
fn a_repeated_window_ends_when_it_is_disturbed_and_only_first_ones_count_where_none_is_quiet() {
    if !may_be_tested() {
        return;
    }
    let home = Home::new();
    // Windows of half a second, four of them for each member.
    let open = cell("open", "hello", "open = { rate_per_s = 200, connections = 2 }");
    home.write_study("open", &study(&["one", "other"], &open, &[("measure", "'1s'"), ("warmup", "'20ms'")]));
    for name in ["one", "other"] {
        home.add_contender(name, SERVES);
    }
    let busy = Busy::on_every_core();
    let mut command = home.with_catalog(&["run", "open"]);
    let done = run(command.env("DROME_ALLOW_BUSY", "0"));
    drop(busy);
    assert_eq!(done.code, 0, "{}{}", done.out, done.err);
    let store = Store::open(&home.store()).unwrap();
    let measured = store.measured(&store.runs().unwrap()[0].id).unwrap();
    assert!(measured.slices.iter().all(|slice| slice.void.is_some()), "no window was quiet");

    let mut seen = BTreeSet::new();
    let (first, repeated): (Vec<&Slice>, Vec<&Slice>) =
        measured.slices.iter().partition(|slice| seen.insert((&slice.contender, slice.cycle)));
    // Of 500 ms, less what a worker without a core comes too late for; one that ends early ends after some 100 ms.
    let is_whole = |slice: &&&Slice| slice.ns >= Duration::from_millis(400).as_nanos() as u64;
    assert_eq!(first.iter().filter(is_whole).count(), first.len(), "{first:?}");
    let ended_early = repeated.len() - repeated.iter().filter(is_whole).count();
    assert!(ended_early > 0 && ended_early * 2 > repeated.len(), "{ended_early} of {}", repeated.len());
    for start in &measured.starts {
        let (in_cell, of) = (&start.cells[&0], |slice: &&&Slice| slice.contender == start.contender);
        assert_eq!(in_cell.counts, Counts::NeverQuiet);
        let answers: u64 = first.iter().filter(of).map(|slice| slice.answers).sum();
        let counted = in_cell.measurement.as_ref().map(|measurement| measurement.tally.completed);
        assert_eq!(counted, Some(answers), "{}", start.contender);
    }
}
