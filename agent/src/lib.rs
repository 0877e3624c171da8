//! The link between drome here and drome on another machine: frames over standard input and output. No port, no password, no
//! shell. [`Link`] is the side that asks, [`obey`] the side that obeys. Either side notices within [`SILENCE`] that the other one is gone.

mod error;
mod heard;
mod hello;
mod link;
mod message;
mod obey;
mod outbox;
mod process;
mod text;

pub use error::LinkError;
pub use hello::{Hello, hello};
pub use link::{ClockOffset, Link};
pub use message::{Broken, MOST_FRAME_BYTES, Message};
pub use obey::{Call, Handler, obey};
pub use process::run;
pub use text::{clean_json, cleaned};

use std::time::Duration;

/// Version of the protocol.
pub const PROTOCOL: u32 = 1;

/// How often a side that has nothing to say says so.
pub const BEAT: Duration = Duration::from_secs(1);

/// A side that is silent for so long is gone: several heartbeats may be late, and both sides are clean within ten seconds.
pub const SILENCE: Duration = Duration::from_secs(5);

/// The monotonic clock of this machine, in ns: the one by which load is driven.
pub fn now_ns() -> u64 {
    net::clock::now_ns()
}
