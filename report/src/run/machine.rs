//! The machine and its state during the heats: everything that is known, and a dash for what is not.

use crate::document::Document;
use crate::units;
use model::Findings;
use model::environment::facts::{FACTS, Fact, SERVER_CORES};

pub(super) fn document(f: &Findings) -> Document {
    let machine = &f.environment.machine;
    let mut document = Document::default()
        .section("machine", "The machine")
        .texts(hardware(f))
        .heading(3, "During the measurements")
        .texts(conditions(f));
    if !machine.sysctls.is_empty() {
        let value = |value: &Option<String>| units::known(value.as_deref(), str::to_owned);
        let settings = machine.sysctls.iter().map(|(name, own)| (name, value(own)));
        document = document.heading(3, "Kernel settings").texts(settings);
    }
    if let Some(flaws) = &machine.mitigations {
        let flaws = flaws.iter().map(|(name, state)| (name, state.clone()));
        document = document.heading(3, "CPU vulnerabilities").texts(flaws);
    }
    let hash = machine.drome_sha256.iter().map(|hash| format!("The drome binary: SHA-256 `{hash}`"));
    hash.fold(document, Document::remark)
}

fn hardware(f: &Findings) -> Vec<(String, String)> {
    let e = &f.environment;
    // Servers that already ran are not pinned.
    let are_running = f.race.as_ref().is_some_and(|race| race.running);
    let value = |fact: &Fact| match (fact.value)(e) {
        Some(_) if are_running && fact.name == SERVER_CORES => "not pinned".to_owned(),
        value => units::known(value, |text| text),
    };
    let servers = e.servers_on.iter().map(|on| ("Servers".to_owned(), crate::machine::servers_on(on)));
    let facts = FACTS.iter().map(|fact| (units::capital(fact.name), value(fact)));
    let notes = (!e.core_notes.is_empty())
        .then(|| ("How the cores were divided".to_owned(), e.core_notes.join("; ")));
    servers.chain(facts).chain(notes).collect()
}

fn conditions(f: &Findings) -> Vec<(&'static str, String)> {
    let c = &f.conditions;
    let share =
        |ppm: Option<u64>| units::known(ppm, |ppm| format!("up to {}", units::percent(ppm as f64 / 1e6)));
    let hz = c.server_hz_min.zip(c.server_hz_max);
    let throttled = units::known(c.throttled_trials, |n| match n {
        0 => "never".to_owned(),
        n => format!("in {} ({})", units::several(n, "start"), c.throttled.join(", ")),
    });
    let finite = |value: Option<f64>| value.filter(|value| value.is_finite());
    vec![
        ("Time taken by the host", share(c.steal_ppm_max)),
        ("Time used by other programs", share(c.others_ppm_max)),
        ("Load average before a heat", units::known(finite(c.load_average_max), |n| format!("up to {n:.2}"))),
        (
            "Frequency of the servers' cores",
            units::known(hz, |(low, high)| format!("{} to {}", ghz(low), ghz(high))),
        ),
        ("Temperature", units::known(finite(c.temperature_c_max), |n| format!("up to {n:.0} °C"))),
        ("Throttled", throttled),
    ]
}

fn ghz(hz: u64) -> String {
    format!("{:.2} GHz", hz as f64 / 1e9)
}
