//! Keeps a thread on some CPUs for as long as it measures.

use std::marker::PhantomData;

/// This thread, and all that it starts, stays on some CPUs until this is dropped. Then it may use again what it could before: who
/// deals CPUs by what the thread may use deals the same for one run as for the next.
#[derive(Debug)]
pub struct Pinned {
    before: Vec<usize>,
    /// It is this thread's: it can't be given to another one.
    own: PhantomData<*const ()>,
}

impl Pinned {
    /// Keeps this thread on these CPUs. What the system refuses is no reason not to measure.
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
