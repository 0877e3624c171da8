//! Tests that processes are found, and their clocks read, in real trees.

use super::*;
use std::process::Command;

#[test]
fn the_busiest_thread_is_the_one_that_used_most_in_between() {
    let clocks = |all: &[(i32, u64)]| all.iter().map(|(tid, ns)| ((1, *tid), *ns)).collect::<ThreadClocks>();
    let before = clocks(&[(1, 900), (2, 100), (3, 50)]);
    let busiest = |after: &[(i32, u64)], cpu_ns| busiest_thread_ns(&before, &clocks(after), cpu_ns);
    assert_eq!(busiest(&[(1, 950), (2, 1_100), (3, 60)], 1_060), Some(1_000));
    assert_eq!(busiest(&[(1, 900), (2, 100), (4, 700)], 700), Some(700), "one that began in between");
    assert_eq!(busiest(&[(1, 930), (2, 20)], 50), Some(30), "a number that was given anew");
    assert_eq!(busiest(&[(1, 910), (2, 200)], 150), Some(100), "one that ended used 40 at most");
    assert_eq!(busiest(&[(1, 910), (2, 200)], 900), None, "one that ended may have used 790");
    assert_eq!((busiest(&[], 900), busiest(&[], 0)), (None, None));
    assert_eq!(busiest(&[(1, u64::MAX), (2, u64::MAX), (7, u64::MAX)], 0), Some(u64::MAX));
}

#[test]
fn the_clock_of_a_thread_is_its_own() {
    let (own, tree) = (std::process::id() as i32, Tree::From(std::process::id() as i32));
    let before = thread_clocks(&tree);
    let spun = std::thread::spawn(|| {
        let before_ns = clock::thread_cpu_ns();
        while clock::thread_cpu_ns() - before_ns < 40_000_000 {}
        let tid = rustix::thread::gettid().as_raw_nonzero().get();
        (tid, clocks_of(std::process::id() as i32))
    });
    let (tid, after) = spun.join().unwrap();
    let after: ThreadClocks = after.into_iter().map(|(tid, ns)| ((own, tid), ns)).collect();
    // What it has run since the kernel's last tick is not in it.
    assert!(after[&(own, tid)] >= 20_000_000, "{after:?}");
    assert!(busiest_thread_ns(&before, &after, 0).is_some_and(|ns| ns >= 20_000_000));
}

fn pids_of(processes: &[Stat]) -> Vec<i32> {
    processes.iter().map(|stat| stat.pid).collect()
}

#[test]
fn both_ways_find_the_children_and_their_children() {
    let mut child = Command::new("sh").args(["-c", "sleep 100 & sleep 100; true"]).spawn().unwrap();
    let own = std::process::id() as i32;
    let of_child = |pid: i32| stat(pid).is_some_and(|s| s.parent == child.id() as i32);
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    let mut pids = Vec::new();
    while pids.iter().filter(|pid| of_child(**pid)).count() < 2 && std::time::Instant::now() < deadline {
        pids = processes(&Tree::Below(own)).iter().map(|s| s.pid).collect();
    }
    let scanned: Vec<i32> = descendants_by_scan(own).iter().map(|s| s.pid).collect();
    let sleeps: Vec<i32> = pids.iter().copied().filter(|pid| of_child(*pid)).collect();
    assert_eq!(sleeps.len(), 2);
    assert!(
        sleeps.iter().chain([&(child.id() as i32)]).all(|pid| scanned.contains(pid) && pids.contains(pid))
    );
    let of_child = processes(&Tree::From(child.id() as i32));
    assert!(of_child.len() == 3 && snapshot(&Tree::Below(own)).processes >= 3);
    let container = Arc::new(Container { guard: own, pid: child.id() as i32, group: None });
    let in_container = processes(&Tree::Container(container));
    assert_eq!(in_container.len(), 3, "not the guard and its other children");
    assert_eq!(pids_of(&in_container), pids_of(&of_child));
    for pid in sleeps.iter().filter_map(|pid| rustix::process::Pid::from_raw(*pid)) {
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
    let _ = child.wait();
}
