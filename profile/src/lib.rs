//! Where the processes of a server spend their CPU time: samples of their stacks, named, as CPU time per answer.
//!
//! [`Sampling`] asks the kernel (`perf_event_open`) for the stacks of all threads of some processes, about a thousand times per second
//! of CPU time. It unwinds each at once and counts equal ones. [`Recording::resolve`] turns addresses into names afterwards, because
//! that takes CPU time; the result is a [`Profile`]. [`Counting`] counts instructions, cache misses and the like of the same processes.
//!
//! Everything else works on profiles and is pure: the text form ([`Profile::to_folded`]), the cost of each function per answer
//! ([`Profile::costs`]), the difference between two profiles ([`Difference`]), what to do where functions
//! have no names ([`Profile::hints`]), and what a store keeps ([`StoredProfile`], [`CallTree`]).

mod call_tree;
mod cost;
mod counters;
mod difference;
mod error;
#[cfg(any(test, feature = "example"))]
#[allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "tests use it")]
pub mod example;
mod frame_name;
mod hints;
mod permission;
mod processes;
mod recording;
mod report;
mod sampling;
mod stacks;
mod stored;
mod symbols;
mod trace;
mod window;

pub use call_tree::{Call, CallTree};
pub use cost::{FrameCost, Work};
pub use counters::{Counters, Counting};
pub use difference::{Change, Difference, Row, Side};
pub use error::ProfileError;
pub use hints::environment;
pub use recording::Recording;
pub use report::Report;
pub use sampling::{Options, Sampling};
pub use stacks::Profile;
pub use stored::{StoredDifference, StoredProfile};
pub use symbols::perf_map::remove as remove_perf_maps;
pub use window::Window;
