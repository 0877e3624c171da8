//! The memory allocator of the C library.

/// Uses one heap for all threads, where the C library is glibc (mallopt(3), `M_ARENA_MAX`). By default glibc makes a heap for each of many
/// threads, and keeps what a thread has freed for that thread's successors: a program whose threads come and go grows by what the largest
/// of them ever held, again and again. To be called before there are threads; a program that allocates on a hot path in several of them
/// should not call it.
#[allow(unsafe_code)]
pub fn share_one() {
    #[cfg(target_env = "gnu")]
    // SAFETY: it only sets a number that the allocator looks at when a thread allocates for the first time.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}
