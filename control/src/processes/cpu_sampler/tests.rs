//! What is charged to whom, by made-up processes and by real ones.

use super::*;
use crate::processes::clocks::{Owner, ProcessClock, used};
use crate::processes::container::Container;
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::{Duration, Instant};

const MS: u64 = 1_000_000;

fn process(owner: Owner, clock_ms: u64, children_ms: u64, cpu: usize) -> ProcessClock {
    ProcessClock { owner, clock_ns: clock_ms * MS, children_ns: children_ms * MS, cpu: Some(cpu) }
}

fn all(used: &UsedTime) -> u64 {
    used.others_perhaps_on(&BTreeSet::new())
}

#[test]
fn each_clock_is_charged_to_whom_it_belongs_and_to_the_core_that_it_ran_on() {
    let member = Owner::Member(1);
    let before = [
        (1, process(Owner::Other, 100, 0, 0)),
        (2, process(member, 50, 0, 1)),
        (3, process(Owner::Kernel, 0, 0, 1)),
        (4, process(Owner::Other, 10, 0, 1)),
    ];
    let after = [
        (1, process(Owner::Other, 104, 0, 0)),
        (2, process(member, 90, 0, 1)),
        (3, process(Owner::Kernel, 9, 0, 1)),
        (4, process(Owner::Other, 10, 0, 1)),
        // Started in between.
        (5, process(Owner::Other, 3, 0, 1)),
        (6, process(member, 2, 0, 1)),
    ];
    let used = used(&before.into(), &after.into()).unwrap();
    assert_eq!(used.members_ns, [(1, 42 * MS)].into());
    let on = |cpus: &[usize]| used.others_on(&cpus.iter().copied().collect());
    assert_eq!((all(&used), on(&[1]), on(&[0, 1]), on(&[2])), (7 * MS, 3 * MS, 7 * MS, 0));
    assert_eq!(used.measured_ns, 42 * MS);
    // Where it is not known, it may have been there.
    let unknown =
        UsedTime { others_ns: [(None, 9), (Some(3), 5), (Some(0), 2)].into(), ..UsedTime::default() };
    assert_eq!((unknown.others_on(&[0].into()), unknown.others_perhaps_on(&[0].into())), (2, 11));
}

#[test]
fn children_that_came_and_went_are_charged_once() {
    // Process 2 used 30 ms before and 8 more, and ended; so did a child that nobody has seen, with 12.
    let before = [(1, process(Owner::Other, 0, 500, 0)), (2, process(Owner::Other, 30, 0, 0))];
    let after = [(1, process(Owner::Other, 0, 550, 0))];
    assert_eq!(all(&used(&before.into(), &after.into()).unwrap()), 20 * MS);
    // The parent's ticks are behind: nothing is charged, and nothing is taken off what others used.
    let after = [(1, process(Owner::Other, 2, 520, 0))];
    assert_eq!(all(&used(&before.into(), &after.into()).unwrap()), 2 * MS);
    // A number that was given anew: the old one's time is with its parent, the new one began at 0.
    let after = [(1, process(Owner::Other, 0, 540, 0)), (2, process(Owner::Other, 4, 0, 0))];
    assert_eq!(all(&used(&before.into(), &after.into()).unwrap()), 14 * MS);
    // A member's children are its own, whatever others' did.
    let worker = |clock| process(Owner::Member(0), clock, 0, 0);
    let before = [(1, process(Owner::Member(0), 0, 0, 0)), (2, worker(10))];
    let after = [(1, process(Owner::Member(0), 0, 20, 0))];
    assert_eq!(used(&before.into(), &after.into()).unwrap().members_ns, [(0, 10 * MS)].into());
}

#[test]
fn what_the_host_took_is_summed_over_the_cores() {
    let stat = "cpu  1 2 3 4 5 6 7 30 0 0\ncpu0 1 1 1 1 1 1 1 10 0 0\ncpu10 1 1 1 1 1 1 1 20 0 0\nintr 1\n";
    let tick_ns = cpu_time::tick_ns();
    let of =
        |cpus: &[usize]| Machine::of(stat, &cpus.iter().copied().collect(), &cpus.iter().copied().collect());
    let stolen = |cpus: &[usize]| of(cpus).stolen_ns.map(|ns| ns / tick_ns);
    assert_eq!((stolen(&[0]), stolen(&[10, 0]), stolen(&[1])), (Some(10), Some(30), None));
}

#[test]
fn turns_of_several_samples_are_one_and_work_elsewhere_is_found() {
    let sample = |members: [u64; 2], others_ns| CpuUsage {
        wall_ns: 100,
        members_ns: members.map(Some).to_vec(),
        others_ns,
        others_on_server_ns: Some(1),
        stolen_ns: Some(0),
        idle_ns: Some(0),
        segments: None,
        programs: Programs::new(),
    };
    let both = sample([90, 3], Some(5)).and(&sample([80, 4], None));
    assert_eq!((both.wall_ns, both.others_ns, both.others_on_server_ns), (200, None, Some(2)));
    assert_eq!(both.owner_and_others(0), (Some(170), Some(7)));
    assert_eq!(both.owner_and_others(9), (None, Some(177)));
    let turns = [(0, sample([90, 3], None)), (1, sample([2, 95], None)), (0, sample([90, 5], None))];
    assert_eq!((elsewhere(1, &turns), elsewhere(0, &turns)), ((Some(8), 200), (Some(2), 100)));
    let unknown = CpuUsage { wall_ns: 9, members_ns: vec![None, None], ..CpuUsage::default() };
    assert_eq!(elsewhere(1, &[(0, unknown)]), (None, 9));
}

fn sh(what: &str) -> Child {
    Command::new("sh").args(["-c", what]).spawn().unwrap()
}

/// Takes samples until this is true of their sum.
fn sample_until(sampler: &mut CpuSampler, is_enough: impl Fn(&CpuUsage) -> bool) -> CpuUsage {
    let begun = Instant::now();
    let mut sum = sampler.sample();
    while !is_enough(&sum) && begun.elapsed() < Duration::from_mins(1) {
        std::thread::sleep(Duration::from_millis(10));
        sum = sum.and(&sampler.sample());
    }
    sum
}

#[test]
fn members_are_told_apart_by_their_guards_and_others_are_seen() {
    let spin = "while :; do :; done";
    // The member works in a child of its guard's child, the other program by itself.
    let (mut guard, mut idle) = (sh(&format!("sh -c '{spin}' & wait")), sh("exec sleep 100"));
    let members = [&guard, &idle].map(|child| Some(Tree::Below(child.id() as i32))).to_vec();
    let mut sampler = CpuSampler::begin(SampledProcesses { members, ..SampledProcesses::default() });
    let seen = sample_until(&mut sampler, |sum| sum.members_ns[0] >= Some(100 * MS));
    assert!(seen.members_ns[0] >= Some(100 * MS) && seen.members_ns[1] < Some(50 * MS), "{seen:?}");
    let spent_ns = || clock::process_cpu_ns(guard.id() as i32);
    assert!(spent_ns().is_some_and(|ns| Some(ns) < seen.members_ns[0]), "its child's time is its own");
    let mut other = sh(spin);
    let seen = sample_until(&mut sampler, |_| clock::process_cpu_ns(other.id() as i32) >= Some(100 * MS));
    let seen = seen.and(&sampler.sample());
    assert!(seen.others_ns >= Some(100 * MS), "{seen:?}");
    let children = processes_below(guard.id() as i32);
    for pid in children.into_iter().filter_map(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
    for child in [&mut guard, &mut idle, &mut other] {
        let _ = child.kill();
        child.wait().unwrap();
    }
}

#[test]
fn where_a_member_is_not_known_it_may_be_among_the_others() {
    let mut known = sh("exec sleep 100");
    let members = vec![None, Some(Tree::From(known.id() as i32))];
    let seen = CpuSampler::begin(SampledProcesses { members, ..SampledProcesses::default() }).sample();
    known.kill().unwrap();
    known.wait().unwrap();
    assert_eq!(
        (seen.members_ns[0], seen.others_ns, seen.others_on_server_ns),
        (None, None, None),
        "{seen:?}"
    );
    assert!(seen.members_ns[1].is_some(), "{seen:?}");
    assert_eq!(seen.owner_and_others(1), (seen.members_ns[1], None));
}

#[test]
fn what_runs_a_container_is_neither_the_member_nor_other_load() {
    let spin = "while :; do :; done";
    // The guard spins for the program that runs the container; under docker, the container's process is not below it.
    let (mut guard, mut inside, mut idle) = (sh(spin), sh("exec sleep 100"), sh("exec sleep 100"));
    let container = |child: &Child, guard: &Child| {
        let (guard, pid) = (guard.id() as i32, child.id() as i32);
        Some(Tree::Container(Arc::new(Container { guard, pid, group: None })))
    };
    let members = vec![container(&inside, &guard), container(&idle, &guard)];
    let mut sampler = CpuSampler::begin(SampledProcesses { members, ..SampledProcesses::default() });
    let is_busy = || clock::process_cpu_ns(guard.id() as i32) >= Some(300 * MS);
    let seen = sample_until(&mut sampler, |_| is_busy()).and(&sampler.sample());
    assert!(is_busy() && seen.members_ns.iter().all(|ns| *ns < Some(50 * MS)), "{seen:?}");
    let owner = |pid: u32| sampler.processes.owner(pid as i32);
    assert_eq!(owner(guard.id()), Some(Owner::Tool));
    assert_eq!((owner(inside.id()), owner(idle.id())), (Some(Owner::Member(0)), Some(Owner::Member(1))));
    for child in [&mut guard, &mut inside, &mut idle] {
        let _ = child.kill();
        child.wait().unwrap();
    }
}

#[test]
fn the_time_of_the_program_that_runs_a_container_is_charged_to_nobody() {
    let tool = |clock| process(Owner::Tool, clock, 0, 0);
    let before = [(1, tool(10)), (2, process(Owner::Member(0), 5, 0, 0)), (3, tool(7))];
    let after = [(1, tool(90)), (2, process(Owner::Member(0), 6, 0, 0))];
    let used = used(&before.into(), &after.into()).unwrap();
    assert_eq!((used.members_ns, used.others_ns), ([(0, MS)].into(), BTreeMap::new()));
    assert_eq!(used.measured_ns, 81 * MS, "it is no other load, either");
}

fn processes_below(pid: i32) -> Vec<i32> {
    crate::processes::tree::living(pid)
}

/// A thousand programs of a millisecond are as much load as one of a second.
#[test]
fn programs_that_come_and_go_between_samples_are_seen() {
    let mut sampler = CpuSampler::begin(SampledProcesses::default());
    let mut many = sh("i=0; while :; do i=$((i+1)); (j=0; while [ $j -lt 2000 ]; do j=$((j+1)); done); done");
    let seen = sample_until(&mut sampler, |sum| {
        // Its own clock without its children's, which do most of the work.
        let own = clock::process_cpu_ns(many.id() as i32);
        sum.others_ns.zip(own).is_some_and(|(seen, own)| seen >= own + 300 * MS)
    });
    let own = clock::process_cpu_ns(many.id() as i32).unwrap();
    many.kill().unwrap();
    many.wait().unwrap();
    assert!(seen.others_ns >= Some(own + 300 * MS), "{seen:?} {own}");
}

#[test]
fn a_thread_of_drome_is_seen_unless_it_is_the_engine_s() {
    let (stop, is_stopped) = std::sync::mpsc::channel::<()>();
    let (tell, told) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        tell.send(rustix::thread::gettid().as_raw_nonzero().get()).unwrap();
        while is_stopped.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {}
    });
    let tid = told.recv().unwrap();
    let spent = || clock::own_thread_cpu_ns(tid).unwrap();
    let all = |engine: &[i32]| {
        other_threads(&SampledProcesses {
            engine: engine.iter().copied().collect(),
            ..SampledProcesses::default()
        })
    };
    let (before, begun) = (spent(), Instant::now());
    while spent() < before + 50 * MS && begun.elapsed() < Duration::from_mins(1) {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(all(&[])[&tid] >= before + 50 * MS && !all(&[tid]).contains_key(&tid));
    drop(stop);
    thread.join().unwrap();
}
