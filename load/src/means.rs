//! The means by which a load is driven: how the back end of a worker and its thread are made. Tests refuse some of them.

use net::{Epoll, Sizes, Uring};
use std::io::Result;
use std::thread::Builder;

/// How back ends and threads are made. A back end is for the worker with this index and for this number of connections.
#[derive(Clone, Copy, Debug)]
pub struct Means<U, E> {
    /// Makes an `io_uring`.
    pub uring: U,
    /// Makes an epoll set.
    pub epoll: E,
    /// Makes the builder of a worker's thread.
    pub thread: fn(usize) -> Builder,
}

/// Makes a back end.
pub type Make<I> = fn(usize, usize) -> Result<I>;

/// The means of this machine.
pub fn real() -> Means<Make<Uring>, Make<Epoll>> {
    Means {
        uring: |_, connections| net::uring(Sizes::of(connections)),
        epoll: |_, _| Epoll::new(),
        thread: |_| Builder::new(),
    }
}
