//! Servers on another machine, over a link to the drome there. [`There`] is the side that asks, [`Servers`] the side that obeys, which
//! lays contenders out, starts, watches and stops them with the same code as at home. Load and verification come from the side that asks.

mod address;
pub(crate) mod far;
mod host;
pub(crate) mod laid;
mod lineup;
pub(crate) mod looks;
pub(crate) mod messages;
mod probe;
mod servers;
mod there;
pub(crate) mod watch;

pub(crate) use lineup::lay_out;
pub use lineup::{describe, install, take};
pub use servers::Servers;
pub use there::{ElsewhereError, There};
