//! The machine that servers run on, where it is not the load generator's.

use super::Environment;
use crate::network::Network;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The machine that the servers of a run were on, seen from the one with the load generator.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ServersOn {
    /// How it was reached, as it was given, such as `ssh pi@board`.
    pub name: String,
    /// The address on which its servers listened.
    pub address: String,
    /// Its own name.
    pub host: String,
    /// Its operating system.
    pub os: String,
    /// Its architecture.
    pub arch: String,
    /// Whether it was this very machine.
    pub is_this_machine: bool,
    /// The machine's properties.
    pub environment: Environment,
    /// What the network to it carries, measured before the first heat.
    pub network: Option<Network>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_older_versions_stored_reads_as_one_machine() {
        let old = r#"{"drome":"1","kernel":null,"cpu":null,"cores":2,"server_cpus":[0],"client_cpus":[1],
            "memory_bytes":5,"virtualization":null}"#;
        let old: Environment = serde_json::from_str(old).unwrap();
        assert_eq!((old.servers_on.as_ref(), old.of_servers().memory_bytes), (None, Some(5)));
        assert!(!serde_json::to_string(&old).unwrap().contains("servers_on"));
        let there = Environment { memory_bytes: Some(1), ..Environment::default() };
        let on = ServersOn { environment: there, network: Some(Network::default()), ..ServersOn::default() };
        let both = Environment { servers_on: Some(Box::new(on)), ..old };
        assert_eq!((both.of_servers().memory_bytes, both.network()), (Some(1), Some(&Network::default())));
        let text = serde_json::to_string(&both).unwrap();
        assert_eq!(serde_json::from_str::<Environment>(&text).unwrap(), both);
    }
}
