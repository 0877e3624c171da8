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

/// Gives back to the kernel what was freed (`malloc_trim`(3), where the C library is glibc). To be called by a program that needed much
/// memory to begin and lives on with little.
#[allow(unsafe_code)]
pub fn give_back() {
    #[cfg(target_env = "gnu")]
    // SAFETY: it has no precondition; it locks each of the allocator's heaps in turn.
    unsafe {
        libc::malloc_trim(0);
    }
}
