//! Everything that two dromes on different machines ask and answer, read as either side reads it: for tests with any bytes.

use crate::load_from::{messages as loads, read_part};
use control::processes::cpu_sampler::CpuUsage;
use control::processes::tree::{ListedClocks, Snapshot};
use control::processes::usage::Look;
use control::remote::messages as servers;
use model::Conditions;
use model::contender::Class;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Reads JSON as one of the messages, and writes it again. `None`: it is not that message.
pub type Reader = fn(&Value) -> Option<Value>;

/// What is asked, as an agent reads it, by the name of the request: those about servers are one enum, those about loads another.
pub const QUESTIONS: &[(&str, Reader)] =
    &[("servers", asked::<servers::Request>), ("loads", asked::<loads::Request>)];

/// What is answered, as the side that asks reads it, by the name of the request; and what an installation reports meanwhile.
pub const ANSWERS: &[(&str, Reader)] = &[
    ("servers.Describe", answered::<servers::Machine>),
    ("servers.WriteSources", answered::<servers::SourcesWritten>),
    ("servers.MakeBodies", answered::<()>),
    ("servers.Install", answered::<servers::Installed>),
    ("servers.Install.step", answered::<servers::Step>),
    ("servers.Prepare", answered::<Result<(), String>>),
    ("servers.Start", answered::<Result<servers::Started, String>>),
    ("servers.Ended", answered::<Option<String>>),
    ("servers.Answers", answered::<bool>),
    ("servers.Snapshot", answered::<Snapshot>),
    ("servers.ThreadClocks", answered::<ListedClocks>),
    ("servers.LikelyClass", answered::<Option<Class>>),
    ("servers.BeginTurns", answered::<u64>),
    ("servers.EndTurn", answered::<CpuUsage>),
    ("servers.Look", answered::<Look>),
    ("servers.EndWatch", answered::<Option<u64>>),
    ("servers.EndConditions", answered::<Option<Conditions>>),
    ("servers.OpenProbe", answered::<servers::Opened>),
    ("servers.Datagrams", answered::<servers::Datagrams>),
    ("loads.Prepare", answered::<loads::Ready>),
    ("loads.Run", answered::<loads::Account>),
];

/// Reads the bytes of a blob as an agent reads its part of a load, and writes it again. The error says why they are not a part.
pub fn part(bytes: &[u8]) -> Result<Value, String> {
    serde_json::to_value(read_part(bytes)?).map_err(|error| error.to_string())
}

fn asked<T: Serialize + DeserializeOwned>(json: &Value) -> Option<Value> {
    T::deserialize(json).ok().and_then(written)
}

fn answered<T: Serialize + DeserializeOwned>(json: &Value) -> Option<Value> {
    serde_json::from_value(json.clone()).ok().and_then(written::<T>)
}

fn written<T: Serialize>(message: T) -> Option<Value> {
    serde_json::to_value(message).ok()
}
