//! A contender that is laid out on another machine: its number there.

pub use super::messages::Lacks;
use super::remote_machine::RemoteMachine;

/// A contender that is laid out on another machine.
#[derive(Clone, Debug)]
pub struct RemoteContender {
    /// The machine.
    pub machine: RemoteMachine,
    /// Its number there.
    pub id: u64,
    /// Its version there, or what it lacks.
    pub version: Result<String, Lacks>,
}
