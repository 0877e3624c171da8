//! A contender whose sources are on another machine, and the number by which the agent there knows it.

pub use super::messages::Lacks;
use super::remote_machine::RemoteMachine;

/// A contender whose sources are in the cache folder of another machine.
#[derive(Clone, Debug)]
pub struct RemoteContender {
    /// The machine.
    pub machine: RemoteMachine,
    /// The number by which the agent there knows it.
    pub id: u64,
    /// Its version there, or what it lacks.
    pub version: Result<String, Lacks>,
}
