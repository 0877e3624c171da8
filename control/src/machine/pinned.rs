//! Pins a thread to some CPUs for as long as it measures.

use std::marker::PhantomData;

/// Pins this thread, and all that it starts, to some CPUs until it is dropped. Then the thread may use again what it could before: code
/// that deals CPUs by what the thread may use deals the same for one run as for the next.
#[derive(Debug)]
pub struct Pinned {
    before: Vec<usize>,
    /// Ties the value to this thread: it can't be sent to another one.
    own: PhantomData<*const ()>,
}

impl Pinned {
    /// Pins this thread to these CPUs. If the system refuses, the measurement goes on unpinned.
    pub fn to(cpus: &[usize]) -> Self {
        let before = net::cpu::allowed();
        let _ = net::cpu::pin(cpus);
        Self { before, own: PhantomData }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        let _ = net::cpu::pin(&self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_as_free_after_it_as_before() {
        let seen = std::thread::spawn(|| {
            let before = net::cpu::allowed();
            let pinned = Pinned::to(&before[..1]);
            let meanwhile = net::cpu::allowed();
            drop(pinned);
            (before, meanwhile, net::cpu::allowed())
        });
        let (before, meanwhile, after) = seen.join().unwrap();
        assert_eq!((meanwhile, &after), (before[..1].to_vec(), &before));
    }
}
