//! The back ends that tests run over.

use net::{Epoll, Io, Sizes, Uring};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// Any port of the loopback.
pub const ANY: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// A back end that can be made.
pub trait BackEnd: Io + Sized {
    fn make() -> Self;

    /// With as little of everything as it can have.
    fn make_small() -> Self {
        Self::make()
    }
}

impl BackEnd for Epoll {
    fn make() -> Self {
        Self::new().unwrap()
    }
}

impl BackEnd for Uring {
    fn make() -> Self {
        Self::of(Sizes::of(64)).unwrap()
    }

    fn make_small() -> Self {
        let (buffer_bytes, outbox_bytes) = (4096, 64 * 1024);
        Self::of(Sizes {
            entries: 4,
            completions: 8,
            buffers: 4,
            first_buffers: 1,
            buffer_bytes,
            outbox_bytes,
            files: 3,
        })
        .unwrap()
    }
}

/// Runs each test with each back end.
macro_rules! with_every_back_end {
    ($($name:ident),* $(,)?) => {
        mod epoll { $(#[test] fn $name() { super::$name::<net::Epoll>(); })* }
        mod uring {
            $(#[test] fn $name() { if crate::uring::is_usable() { super::$name::<net::Uring>(); } })*
        }
    };
}
pub(crate) use with_every_back_end;
