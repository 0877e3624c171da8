//! Connections: when they are accepted, what waits to be sent on them, how they end.

pub(crate) mod accept_pause;
pub(crate) mod housekeeping;
pub(crate) mod out;
