//! Connections: when they are accepted, and what waits to be sent on them.

pub(crate) mod accept_pause;
pub(crate) mod out;
pub(crate) mod protocol;
pub(crate) mod streams;
