//! Counters of real processes.

use crate::programs::{Program, assert_not_root};
use profile::{Counting, ProfileError};
use std::time::Duration;

#[test]
fn what_a_program_does_is_counted() {
    let program = Program::c(
        "
        #include <sys/mman.h>
        int main(void) {
            for (;;) {
                spin(10000);
                char *fresh = mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                if (fresh == MAP_FAILED) return 1;
                for (int i = 0; i < 1 << 20; i += 4096) ((volatile char *)fresh)[i] = 1;
                munmap(fresh, 1 << 20);
            }
        }
        ",
    );
    let mut counting = match Counting::begin(&[program.pid()]) {
        Ok(counting) => counting,
        Err(error @ ProfileError::Forbidden { .. }) => return assert_not_root(&error),
        Err(error) => panic!("{error}"),
    };
    program.wait_for_cpu(Duration::from_millis(200));
    let first = counting.read();
    program.wait_for_cpu(Duration::from_millis(200));
    let second = counting.end();
    let since = second.since(&first);
    assert!(since.page_faults.is_some_and(|faults| faults > 0), "{since:?}");
    // What this machine does not count is unknown; what it counts goes on.
    let counted = [since.instructions, since.cycles, since.system_calls];
    assert!(counted.into_iter().flatten().all(|count| count > 0), "{since:?}");
    if since.is_user_only {
        assert_eq!((since.system_calls, since.context_switches), (None, None));
    } else {
        assert!(since.context_switches.is_some(), "{since:?}");
    }
}

#[test]
fn a_process_that_is_not_there_is_an_error() {
    let none = Counting::begin(&[i32::MAX]);
    assert!(matches!(none, Err(ProfileError::NoProcess)), "{none:?}");
}
