//! Native programs without frame pointers: stacks, inlined functions, threads, children.

use crate::programs::{Program, assert_not_root, descendants, profiled, sampled, share, shown};
use profile::{Options, ProfileError, Sampling, Window, Work};
use std::time::Duration;

/// Two callers of the loop: one takes twice the time of the other, on average. Each turn has a length of its own: turns of one length would
/// beat with the period of the samples, and then one caller has too many of them.
const TWO_TO_ONE: &str = "
static unsigned seed = 1;
static int some(void) { seed = seed * 1103515245u + 12345u; return 50000 + (seed >> 12) % 100000; }
__attribute__((noinline, noclone)) static void twice(void) { spin(2 * some()); __asm__ volatile(\"\"); }
__attribute__((noinline, noclone)) static void once(void) { spin(some()); __asm__ volatile(\"\"); }
int main(void) { for (;;) { twice(); once(); } }
";

const ENOUGH: Duration = Duration::from_millis(1500);

#[test]
fn callers_are_known_without_frame_pointers_and_the_inlined_loop_has_the_time() {
    let program = Program::c(TWO_TO_ONE);
    let Some(profile) = profiled(&program, ENOUGH) else { return };
    assert!(profile.samples >= 300, "{}", shown(&profile));
    assert_eq!(profile.samples, profile.stacks.values().sum::<u64>());
    assert!(
        profile.unrooted_share() <= 0.1,
        "{} of {}: {}",
        profile.unrooted,
        profile.samples,
        shown(&profile)
    );
    assert!(share(&profile, &["main"]) >= 0.9, "{}", shown(&profile));
    let costs = profile.costs(&Work { answers: 1, cpu_ns: None });
    assert_eq!(costs[0].frame, "spin", "{}", shown(&profile));
    let (twice, once) =
        (share(&profile, &["main", "twice", "spin"]), share(&profile, &["main", "once", "spin"]));
    assert!(
        ((twice / (twice + once)) / (2.0 / 3.0) - 1.0).abs() < 0.15,
        "{twice} and {once}: {}",
        shown(&profile)
    );
}

#[test]
fn samples_add_up_to_the_cpu_time() {
    let program = Program::c(TWO_TO_ONE);
    let options = Options::default();
    let before = net::clock::process_cpu_ns(program.pid()).unwrap();
    let Some(sampling) = sampled(program.pid(), &options) else { return };
    let begun = net::clock::process_cpu_ns(program.pid()).unwrap();
    program.wait_for_cpu(ENOUGH);
    let ended = net::clock::process_cpu_ns(program.pid()).unwrap();
    let profile = sampling.end().unwrap().resolve();
    let after = net::clock::process_cpu_ns(program.pid()).unwrap();
    let sampled_ns = (profile.samples + profile.lost) * profile.period_ns;
    // The time of the beginning and of the end is not known exactly; and a virtual machine whose host is busy misses timers.
    let (least, most) = ((ended - begun) as f64 * 0.3, (after - before) as f64 * 1.1);
    assert!((least..=most).contains(&(sampled_ns as f64)), "{sampled_ns} is not within {least} and {most}");
}

#[test]
fn threads_and_children_that_are_started_later_are_sampled() {
    let mut program = Program::c(
        "
        #include <pthread.h>
        __attribute__((noinline, noclone)) static void work_of_thread(void) { spin(100000); __asm__ volatile(\"\"); }
        __attribute__((noinline, noclone)) static void work_of_child(void) { spin(100001); __asm__ volatile(\"\"); }
        static void *begin(void *arg) { for (;;) work_of_thread(); return arg; }
        int main(void) {
            char c;
            pthread_t thread;
            if (read(0, &c, 1) != 1) return 1;
            if (fork() == 0) {
                pid_t parent = getppid();
                while (getppid() == parent) work_of_child();
                return 0;
            }
            if (pthread_create(&thread, 0, begin, 0) != 0) return 1;
            pthread_join(thread, 0);
            return 0;
        }
        ",
    );
    let Some(sampling) = sampled(program.pid(), &Options::default()) else { return };
    program.go();
    program.wait_for_cpu(ENOUGH);
    let profile = sampling.end().unwrap().resolve();
    assert!(share(&profile, &["work_of_thread", "spin"]) > 0.1, "{}", shown(&profile));
    assert!(share(&profile, &["main", "work_of_child", "spin"]) > 0.1, "{}", shown(&profile));
    assert!(profile.unrooted_share() <= 0.1, "{}", shown(&profile));
}

/// The frame pointer is made useless: the C library of some distributions has frame pointers, which would lead around the gap.
#[cfg(target_arch = "x86_64")]
#[test]
fn a_stack_that_is_cut_off_is_counted_as_incomplete() {
    let program = Program::c(
        "
        __attribute__((noinline, noclone)) static void deep(void) {
            volatile char room[100000];
            room[0] = 1;
            __asm__ volatile(\"movl $16, %%ebp\" ::: \"rbp\");
            spin(100000);
            room[99999] = 2;
        }
        int main(void) { for (;;) deep(); }
        ",
    );
    let Some(profile) = profiled(&program, Duration::from_millis(500)) else { return };
    assert!(profile.unrooted_share() >= 0.9, "{}", shown(&profile));
    assert!(share(&profile, &["deep", "spin"]) >= 0.9, "what is known is there: {}", shown(&profile));
}

/// As above, but a larger copy of the stack has it. The kernel copies only pages that are in use.
#[cfg(target_arch = "x86_64")]
#[test]
fn copies_of_stacks_grow_where_they_are_too_small() {
    let program = Program::c(
        "
        __attribute__((noinline, noclone)) static void deep(void) {
            volatile char room[40000];
            for (int i = 0; i < 40000; i += 512) room[i] = 1;
            __asm__ volatile(\"movl $16, %%ebp\" ::: \"rbp\");
            spin(100000);
            room[39999] = 2;
        }
        int main(void) { for (;;) deep(); }
        ",
    );
    let options = Options { window: Window::closed(), ..Options::default() };
    let Some(sampling) = sampled(program.pid(), &options) else { return };
    // Before anything counts: 100 samples of 16 KiB, and 100 of 32 KiB.
    program.wait_for_cpu(ENOUGH);
    options.window.open();
    program.wait_for_cpu(Duration::from_millis(500));
    let profile = sampling.end().unwrap().resolve();
    assert!(profile.samples >= 100, "{}", shown(&profile));
    assert!(profile.unrooted_share() <= 0.1, "{}", shown(&profile));
    assert!(share(&profile, &["main", "deep", "spin"]) >= 0.9, "{}", shown(&profile));
}

#[test]
fn samples_count_within_the_window() {
    let program = Program::c(TWO_TO_ONE);
    let options = Options { window: Window::closed(), ..Options::default() };
    let Some(sampling) = sampled(program.pid(), &options) else { return };
    program.wait_for_cpu(Duration::from_millis(300));
    options.window.open();
    let opened = net::clock::process_cpu_ns(program.pid()).unwrap();
    program.wait_for_cpu(Duration::from_millis(300));
    options.window.close();
    let within_ns = net::clock::process_cpu_ns(program.pid()).unwrap() - opened;
    program.wait_for_cpu(Duration::from_millis(300));
    let recording = sampling.end().unwrap();
    let profile = recording.resolve();
    let sampled_ns = profile.samples * profile.period_ns;
    assert!(sampled_ns > 0 && sampled_ns as f64 <= within_ns as f64 * 1.2, "{sampled_ns} in {within_ns}");
}

#[test]
fn a_program_that_has_ended_still_has_names() {
    let mut program = Program::c(
        "
        __attribute__((noinline, noclone)) static void last_work(void) { spin(500000000); __asm__ volatile(\"\"); }
        int main(void) {
            char c;
            if (read(0, &c, 1) != 1) return 1;
            last_work();
            return 0;
        }
        ",
    );
    let pid = program.pid();
    let Some(sampling) = sampled(pid, &Options::default()) else { return };
    program.go();
    let is_over =
        || std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| stat.contains(") Z "));
    while !is_over() {
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(program);
    let profile = sampling.end().unwrap().resolve();
    assert!(share(&profile, &["main", "last_work", "spin"]) >= 0.8, "{}", shown(&profile));
}

#[test]
fn a_process_that_is_not_there_is_an_error() {
    let none = Sampling::begin(|| vec![i32::MAX], &Options::default());
    assert!(matches!(none, Err(ProfileError::NoProcess)), "{none:?}");
}

#[test]
fn the_processes_below_one_are_sampled_without_it() {
    let program = Program::c(TWO_TO_ONE);
    let own = std::process::id() as i32;
    let sampling = match Sampling::begin(move || descendants(own).split_off(1), &Options::default()) {
        Ok(sampling) => sampling,
        Err(error @ ProfileError::Forbidden { .. }) => return assert_not_root(&error),
        Err(error) => panic!("{error}"),
    };
    program.wait_for_cpu(Duration::from_millis(300));
    let profile = sampling.end().unwrap().resolve();
    assert!(share(&profile, &["main", "twice"]) > 0.0, "{}", shown(&profile));
    let is_own = |frame: &String| frame.contains("wait_for_cpu");
    assert!(!profile.stacks.keys().flatten().any(is_own), "{}", shown(&profile));
}
