//! The fields of a row that are shared when it is redacted. A field that is not listed here is withheld, whatever it has.

use super::REDACTED;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The kinds of objects in rows, each with its fields that are shared. `field` is shared as it is, if it is a number, a text, or a list of
/// these; of `field~`, texts are shared without the hidden words; of `field!`, only that there is something; `field:Kind` is an object of that
/// kind, or a list of them. `*` is any key, in maps.
const SHARED: &str = "
Row: run:Run ended~ heat:Heat start:Start slice:Slice import:Import replays:Replays
Run: id name study:Study seed started_at workloads:Values quick environment:Environment contenders:Entrants copies race:Raced
     allow_busy fleet:Fleet
Study: title~ source~ contenders tracks cell:Cell design:Design published:Published unequal~
Cell: title~ workload load:Load protocol streams tls
Load: closed:Requests open:Requests
Requests: connections per_connection arrivals rate_per_s
Design: budget decide heat margin measure metric precision rounds slice warmup warmup_limit
Published: metric hardware~ figures:Values cells:Tables details:OfTables without:Texts versions:Values
Entrants: *:Entrant
Entrant: title~ version~ missing! track settings:Settings faults:Faults class alone because~ source_sha256 command! files:Files
         image:Image
Settings: keep_alive~ logging~ workers~ caching~
Faults: fragments~
Files: *!
Image: name! id
Raced: body_bytes prepare! running cells
Fleet: machines
Environment: drome hub~ kernel~ cpu~ cores server_cpus client_cpus idle_cpus core_notes~ memory_bytes virtualization~
             machine:Machine servers_on:ServersOn
Machine: drome_sha256 online_cpus isolated_cpus sibling_cpus physical_cores:Core frequency:Frequency mitigations:Texts sysctls:Texts
         descriptors_soft descriptors_hard cgroup_cpu_millicores cgroup_memory_bytes clock_source~ swap_bytes cores_stay_awake
Core: cpus package node capacity kind
Frequency: driver~ governor~ min_hz max_hz boost
ServersOn: name address host os~ arch~ is_this_machine environment:Environment network:Network
Network: packets_per_s round_trip_ns round_trip_p99_ns tcp_from_servers_bytes_per_s tcp_to_servers_bytes_per_s
         lost_from_servers_ppm lost_to_servers_ppm
Heat: round number members copies hub cells seed started_at machine:HeatMachine
HeatMachine: name attempt environment:Environment
Start: round heat contender copy attempt outcome outcome:Outcome program:Executable conditions:Conditions took_ns memory_bytes
       cells:InCells
Outcome: failed! spoiled! lacked_memory!
Executable: path! sha256
Conditions: steal_ppm others_ppm load_average server_hz:Ends client_hz:Ends temperature_c:Ends throttled~ server:Executable
Ends: before after
InCells: *:InCell
InCell: counts counts:Counts disturbed elsewhere_ns elsewhere_wall_ns measurement:Measurement memory settled turns warmup_ns
Counts: shares_differ~
Measurement: tally:Tally usage:Usage verdict:Verdict
Tally: body_bytes carried_in carried_out client_busiest_ppm client_cpu_ns client_idle_ns client_rss_max_bytes client_system_cpu_ns
       completed connect connections_opened connections_starved due duration_ns error_causes:Values errors:Errors first_byte halted!
       handshake handshakes_resumed heard_ns held_back in_flight_at_end interrupted io~ io_fallback~ latency outage_ns owed_ns received_bytes
       schedule_lag sent sent_bytes served service stalled_ns status:Values streams_allowed threads unanswered
       under_way_at_end_ns under_way_before_ns unsent_at_end verified
Errors: body connect early local protocol receive send status timeout unasked
Usage: busiest_thread_ns cores cpu_ns idle_ns_by_core others_ppm processes_max rss_max_bytes steal_ppm switches_involuntary
       switches_voluntary threads_max virtual_max_bytes wall_ns
Verdict: bound kept_up reasons~ server_idle_ppm valid void_by_loss
Slice: round heat contender copy cell cycle place answers ns turn_ns void ran:Ran
Ran: owner_ns members_ns others_ns others_on_server_ns stolen_ns
Import: id title imported_at drome sources:Source items:Imported
Source: name bytes
Imported: source reading:Reading
Reading: tool version title~ server~ workload~ command url figures:Values below:Values errors:Values status:Values
Replays: id name title~ started_at is_whole environment:Environment replays:Replay
Replay: cell contender title~ version page_version command! published rate_per_s completed errors latency_ns_mean
        virtual_max_bytes rss_max_bytes note! report! page_figures:Values figures:Values without:Texts
Values: *
Texts: *~
Tables: *:Values
OfTables: *:Tables
";

/// In what form a field is shared.
#[derive(Clone, Copy, Debug)]
enum Form {
    AsItIs,
    Scrubbed,
    Redacted,
    Object(&'static str),
}

/// The list, read.
#[derive(Clone, Debug)]
pub struct SharedFields(BTreeMap<&'static str, Vec<(&'static str, Form)>>);

impl SharedFields {
    /// Reads the list.
    pub fn read() -> Self {
        let mut kinds: BTreeMap<&str, Vec<(&str, Form)>> = BTreeMap::new();
        let mut kind = "";
        for word in SHARED.split_whitespace() {
            match word.split_once(':') {
                Some((begun, "")) => kind = begun,
                Some((name, of)) => kinds.entry(kind).or_default().push((name, Form::Object(of))),
                None => kinds.entry(kind).or_default().push(field(word)),
            }
        }
        Self(kinds)
    }

    /// What is shared of an object of this kind; `scrub` takes the hidden words out of a text.
    pub fn of_object(
        &self,
        kind: &str,
        fields: &Map<String, Value>,
        scrub: &dyn Fn(&str) -> String,
    ) -> Map<String, Value> {
        let of_field = |(name, value): (&String, &Value)| {
            let shared = self.forms(kind, name).find_map(|form| self.of_value(form, value, scrub));
            // A row may have to have the list, so that it can be read.
            let shared = shared.or_else(|| value.is_array().then(|| Value::Array(Vec::new())));
            shared.map(|value| (name.clone(), value))
        };
        fields.iter().filter_map(of_field).collect()
    }

    /// The forms in which a field is shared; of an enum, some variants may be words and others objects.
    fn forms(&self, kind: &str, name: &str) -> impl Iterator<Item = Form> {
        let listed = self.0.get(kind).into_iter().flatten();
        listed.filter(move |(listed, _)| *listed == "*" || *listed == name).map(|(_, form)| *form)
    }

    fn of_value(&self, form: Form, value: &Value, scrub: &dyn Fn(&str) -> String) -> Option<Value> {
        match (form, value) {
            (_, Value::Null) => Some(Value::Null),
            (_, Value::Array(all)) => {
                Some(all.iter().filter_map(|value| self.of_value(form, value, scrub)).collect())
            }
            (Form::Object(kind), Value::Object(fields)) => {
                Some(Value::Object(self.of_object(kind, fields, scrub)))
            }
            (Form::Redacted, Value::String(_)) => Some(REDACTED.into()),
            (Form::Object(_) | Form::Redacted, _) | (_, Value::Object(_)) => None,
            (Form::Scrubbed, Value::String(text)) => Some(scrub(text).into()),
            (Form::AsItIs | Form::Scrubbed, value) => Some(value.clone()),
        }
    }
}

/// A field of the list that is no object.
fn field(word: &'static str) -> (&'static str, Form) {
    match (word.strip_suffix('~'), word.strip_suffix('!')) {
        (Some(name), _) => (name, Form::Scrubbed),
        (_, Some(name)) => (name, Form::Redacted),
        (None, None) => (word, Form::AsItIs),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::Row;
    use std::collections::BTreeSet;

    /// Compares the list with the schema of rows.
    struct Comparison {
        shared: SharedFields,
        schema: Value,
        seen: BTreeSet<&'static str>,
        /// The fields that stay.
        stay: BTreeSet<String>,
    }

    impl Comparison {
        fn object(&mut self, kind: &'static str, object: &Value) {
            let any_key = object.get("additionalProperties").filter(|value| value.is_object());
            let patterns = object.get("patternProperties").and_then(Value::as_object).into_iter().flatten();
            for value in any_key.into_iter().chain(patterns.map(|(_, value)| value)) {
                self.field(kind, "any key", value);
            }
            for (name, value) in object.get("properties").and_then(Value::as_object).into_iter().flatten() {
                self.field(kind, name, value);
            }
        }

        fn field(&mut self, kind: &'static str, name: &str, schema: &Value) {
            let forms: Vec<Form> = self.shared.forms(kind, name).collect();
            let mut objects = Vec::new();
            self.objects(schema, &mut objects);
            let kinds: Vec<&str> = forms
                .iter()
                .filter_map(|form| if let Form::Object(kind) = form { Some(*kind) } else { None })
                .collect();
            if forms.is_empty() || (kinds.is_empty() && !objects.is_empty()) {
                self.stay.insert(format!("{kind}.{name}"));
            }
            for kind in kinds {
                assert!(!objects.is_empty(), "{kind}.{name} is no object");
                if self.seen.insert(kind) {
                    objects.iter().for_each(|object| self.object(kind, object));
                }
            }
        }

        /// The objects that a value of this schema may be, or a list of them may have.
        fn objects(&self, schema: &Value, to: &mut Vec<Value>) {
            if let Some(path) = schema.get("$ref").and_then(Value::as_str) {
                self.objects(self.schema.pointer(path.trim_start_matches('#')).unwrap(), to);
            }
            if schema.get("properties").is_some()
                || schema.get("patternProperties").is_some()
                || schema.get("additionalProperties").is_some_and(Value::is_object)
            {
                to.push(schema.clone());
            }
            let variants = ["oneOf", "anyOf", "allOf"].iter().filter_map(|key| schema.get(key)?.as_array());
            for of in variants.flatten().chain(schema.get("items")) {
                self.objects(of, to);
            }
        }
    }

    /// A new field of a run is not shared until it is listed. Whoever adds one decides here that it is withheld, or there how it is shared.
    #[test]
    fn every_field_is_shared_or_withheld_on_purpose() {
        let schema = serde_json::to_value(schemars::schema_for!(Row)).unwrap();
        let mut compared = Comparison {
            shared: SharedFields::read(),
            schema: schema.clone(),
            seen: BTreeSet::from(["Row"]),
            stay: BTreeSet::new(),
        };
        let mut rows = Vec::new();
        compared.objects(&schema, &mut rows);
        rows.iter().for_each(|row| compared.object("Row", row));
        let stay: Vec<&str> = compared.stay.iter().map(String::as_str).collect();
        assert_eq!(
            stay,
            [
                "Image.digest",
                "Imported.notes",
                "Imported.strange",
                "InCell.background",
                "Row.report",
                "Run.command",
                "Source.strange",
                "Source.title",
                "Study.as_published",
                "Study.server-on",
            ]
        );
        let listed: BTreeSet<&str> = compared.shared.0.keys().copied().collect();
        assert_eq!(compared.seen, listed, "every kind of the list is a kind of object in rows");
    }
}
