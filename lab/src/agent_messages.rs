//! Everything that two dromes on different machines ask and answer, read as either side reads it: for tests with any bytes.

use crate::load_from::{messages as loads, read_part};
use control::cpu_sampler::CpuUsage;
use control::remote::messages as servers;
use control::server::tree::Snapshot;
use model::{Conditions, Usage};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::net::Ipv4Addr;

/// Reads JSON as one of the messages, and writes it again. `None`: it is not that message.
pub type Reader = fn(&Value) -> Option<Value>;

/// What is asked, as an agent reads it, by the name of the request. `servers.stop` stands for all requests that only name a number.
pub const QUESTIONS: &[(&str, Reader)] = &[
    ("servers.write_sources", asked::<servers::WriteSources>),
    ("servers.bodies", asked::<servers::Bodies>),
    ("servers.install", asked::<servers::Install>),
    ("servers.start", asked::<servers::Start>),
    ("servers.prepare", asked::<servers::Prepare>),
    ("servers.answers", asked::<servers::Answers>),
    ("servers.stop", asked::<servers::Number>),
    ("servers.watch", asked::<servers::Watch>),
    ("servers.sample", asked::<servers::Sample>),
    ("servers.probe_open", asked::<Ipv4Addr>),
    ("loads.prepare", asked::<loads::Prepare>),
    ("loads.run", asked::<loads::Run>),
];

/// What is answered, as the side that asks reads it, by the name of the request; and what an installation reports meanwhile.
pub const ANSWERS: &[(&str, Reader)] = &[
    ("servers.machine", answered::<servers::Machine>),
    ("servers.write_sources", answered::<servers::SourcesWritten>),
    ("servers.bodies", answered::<()>),
    ("servers.install", answered::<servers::Installed>),
    ("servers.install.step", answered::<servers::Step>),
    ("servers.start", answered::<servers::ContenderResult<servers::Started>>),
    ("servers.prepare", answered::<servers::ContenderResult<()>>),
    ("servers.answers", answered::<bool>),
    ("servers.ended", answered::<Option<String>>),
    ("servers.snapshot", answered::<Snapshot>),
    ("servers.clocks", answered::<servers::Clocks>),
    ("servers.names", answered::<Vec<String>>),
    ("servers.watch", answered::<servers::Number>),
    ("servers.look", answered::<CpuUsage>),
    ("servers.sample_end", answered::<Option<Usage>>),
    ("servers.conditions_end", answered::<Conditions>),
    ("servers.probe_open", answered::<servers::Opened>),
    ("servers.probe_datagrams", answered::<servers::Datagrams>),
    ("loads.prepare", answered::<loads::Ready>),
    ("loads.run", answered::<loads::Account>),
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
