//! Servers on another machine, over a link to the drome there: the side that asks. The side that obeys is in `server/remote_controlled`: it
//! prepares contenders, starts, watches and stops them with the same code as on one machine. Load and verification come from the side that
//! asks.

mod address;
pub mod conditions_watch;
pub mod cpu_sampler;
pub(crate) mod host;
pub mod messages;
pub(crate) mod probe;
mod remote_machine;
pub mod remote_server;

pub use remote_machine::{RemoteError, RemoteMachine};
