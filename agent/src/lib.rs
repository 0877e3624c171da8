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
pub use heard::Heard;
pub use hello::{Hello, hello};
pub use link::{ClockOffset, Link};
pub use message::{Broken, MOST_FRAME_BYTES, MOST_REQUEST_BYTES, Message};
pub use obey::{Call, Handler, obey};
pub use process::{LONGEST_KILL, RunError, run, wait_for_end};
pub use text::{clean_json, cleaned};

use std::time::Duration;

/// Version of the protocol.
pub const PROTOCOL: u32 = 1;

/// The interval between two heartbeats of a side that has nothing else to send.
pub const BEAT: Duration = Duration::from_secs(1);

/// A side that is silent for longer than this counts as gone. Several heartbeats may be late, and both sides have cleaned up within ten
/// seconds.
pub const SILENCE: Duration = Duration::from_secs(5);

/// The monotonic clock of this machine, in ns; the load engine uses the same one.
pub fn now_ns() -> u64 {
    net::clock::now_ns()
}
