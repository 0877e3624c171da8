//! Servers on another machine, over a link to the drome there. [`RemoteMachine`] is the side that asks, [`Servers`] the side that obeys,
//! which prepares contenders, starts, watches and stops them with the same code as on one machine. Load and verification come from the side
//! that asks.

mod address;
pub mod cpu_sampler;
mod host;
mod lineup;
pub mod messages;
mod probe;
pub mod remote_contender;
mod remote_machine;
pub mod remote_server;
mod servers;
pub mod watch;

pub use lineup::write_sources;
pub use lineup::{describe, install, take};
pub use remote_machine::{RemoteError, RemoteMachine};
pub use servers::Servers;
